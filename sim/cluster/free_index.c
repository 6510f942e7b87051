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

/* Moves a node between the sets; returns by how much its leaf's wholly free nodes change. */
static int move_node(struct free_index *index, uint32_t node, int was, int is)
{
    const int g = (int)index->gpus_per_node;
    if (was == is) return 0;
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
    return (is == g) - (was == g);
}

void free_index_change(struct free_index *index, uint32_t node, int was, int is)
{
    const int by = move_node(index, node, was, is);
    if (by != 0) leaf_change(index, node / index->nodes_per_leaf, by);
}

void free_index_change_many(struct free_index *index, uint32_t node, int was, int is,
                            struct leaf_sum *sum)
{
    const int by = move_node(index, node, was, is);
    if (by == 0) return;
    const uint32_t leaf = node / index->nodes_per_leaf;
    if (sum->leaf != leaf) free_index_flush(index, sum);
    sum->leaf = leaf;
    sum->by += by;
}

void free_index_flush(struct free_index *index, struct leaf_sum *sum)
{
    if (sum->by != 0) leaf_change(index, sum->leaf, sum->by);
    sum->by = 0;
}
