/* free_index.c - see free_index.h. */
#include "cluster/free_index.h"

#include "base/assert.h"

bool free_index_init(struct free_index *index, struct arena *arena, uint32_t nodes,
                     uint32_t gpus_per_node, uint32_t nodes_per_leaf)
{
    ASSERT(gpus_per_node >= 1 && gpus_per_node <= LIMIT_GPUS_PER_SERVER && nodes_per_leaf >= 1);
    *index = (struct free_index){ .nodes = nodes,
                                  .gpus_per_node = gpus_per_node,
                                  .nodes_per_leaf = nodes_per_leaf,
                                  .leaves = (nodes + nodes_per_leaf - 1) / nodes_per_leaf };
    for (uint32_t f = 0; f <= gpus_per_node; f++)
        if (!bitset_init(&index->by_free[f], arena, nodes)) return false;
    index->leaves_by_whole = ARENA_ARRAY(arena, struct bitset, nodes_per_leaf + 1);
    index->whole_of_leaf = ARENA_ARRAY(arena, uint32_t, index->leaves);
    if (!index->leaves_by_whole || !index->whole_of_leaf ||
        !bitset_init(&index->whole_counts, arena, nodes_per_leaf + 1))
        return false;
    for (uint32_t whole = 0; whole <= nodes_per_leaf; whole++)
        if (!bitset_init(&index->leaves_by_whole[whole], arena, index->leaves)) return false;
    for (uint32_t leaf = 0; leaf < index->leaves; leaf++)
        bitset_add(&index->leaves_by_whole[0], leaf);
    bitset_add(&index->whole_counts, 0);
    return true;
}

static void leaf_change(struct free_index *index, uint32_t leaf, int by)
{
    const uint32_t was = index->whole_of_leaf[leaf], is = was + (uint32_t)by;
    bitset_remove(&index->leaves_by_whole[was], leaf);
    if (index->leaves_by_whole[was].count == 0) bitset_remove(&index->whole_counts, was);
    bitset_add(&index->leaves_by_whole[is], leaf);
    if (index->leaves_by_whole[is].count == 1) bitset_add(&index->whole_counts, is);
    index->whole_of_leaf[leaf] = is;
}

void free_index_change(struct free_index *index, uint32_t node, int was, int is)
{
    if (was == is) return;
    const int g = (int)index->gpus_per_node;
    if (was >= 0) {
        bitset_remove(&index->by_free[was], node);
        index->with_free[was]--;
        index->free_gpus -= (uint64_t)was;
    }
    if (is >= 0) {
        bitset_add(&index->by_free[is], node);
        index->with_free[is]++;
        index->free_gpus += (uint64_t)is;
    }
    if (was == g) leaf_change(index, node / index->nodes_per_leaf, -1);
    if (is == g) leaf_change(index, node / index->nodes_per_leaf, +1);
}
