/* slurm_nodes.c - see slurm_nodes.h. */
#include "policy/slurm_nodes.h"

#include "base/assert.h"
#include "spec/hostlist.h"

#include <string.h>

enum { WORD_BITS = 64 };

static void set_bit(uint64_t *set, uint32_t node)
{
    set[node / WORD_BITS] |= UINT64_C(1) << (node % WORD_BITS);
}

void slurm_set_add(const struct slurm_nodes *nodes, const char *list, uint64_t *set)
{
    uint32_t count;
    char name[LIMIT_NAME_BYTES];
    if (strcmp(list, "ALL") == 0) { /* also where the layout is scaled */
        for (uint32_t n = 0; n < nodes->nodes; n++) set_bit(set, n);
        return;
    }
    const char *const why = node_list_check(nodes->layout, list, &count, name);
    ASSERT(!why);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t node = node_list_at(nodes->layout, list, i);
        if (node < nodes->nodes)
            set_bit(set, node); /* a scaled layout may be smaller than written */
    }
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* Which GPUs belong to which socket, by the first core of their Cores=. */
static void divide_gpus(struct slurm_kind *kind, const struct server_group *group)
{
    const uint32_t per_socket = kind->cores / kind->sockets ? kind->cores / kind->sockets : 1;
    for (uint32_t g = 0; g < kind->gpus; g++) {
        kind->near_cores |= group->core_first[g] || group->core_last[g];
        uint32_t socket = group->core_first[g] / per_socket;
        if (socket >= kind->sockets) socket = kind->sockets - 1;
        kind->gpus_of_socket[socket] |= UINT32_C(1) << g;
        for (uint32_t h = 0; h < kind->gpus; h++) kind->linked |= group->link_score[g][h] > 0;
    }
}

/* A server that is cut into virtual nodes gives each an equal part. */
static void kind_init(struct slurm_kind *kind, const struct server_type *server,
                      const struct server_group *group)
{
    const uint32_t parts = group && group->nodes_per_server ? group->nodes_per_server : 1;
    kind->cores = server->cores / parts;
    kind->gpus = kind->cards = server->gpus / parts;
    if (group && kind->cards && group->cut_count && kind->cards * group->cut_count <= SLURM_GPUS) {
        kind->cuts = group->cuts;
        kind->cut_count = group->cut_count;
        kind->gpus = kind->cards * group->cut_count;
    }
    kind->gpu_mask = kind->gpus ? UINT64_MAX >> (SLURM_GPUS - kind->gpus) : 0;
    kind->memory_mib = (server->memory_bytes / parts) >> 20;
    kind->gpu_type = server->gpu;
    kind->features = "";
    kind->weight = 1;
    kind->sockets = 1;
    if (!group) return;
    kind->features = group->features;
    kind->weight = group->weight;
    if (group->gpu_type[0]) kind->gpu_type = group->gpu_type;
    if (group->sharing == SHARING_SHARD) kind->shards_per_gpu = group->shares_per_gpu;
    kind->link_score = group->link_score;
    kind->sockets = group->sockets ? group->sockets : 1;
    if (kind->sockets > SLURM_SOCKETS) kind->sockets = SLURM_SOCKETS;
    if (!kind->cut_count) divide_gpus(kind, group);
    kind->listed =
        kind->near_cores || kind->cut_count || group->gpu_type[0] || kind->shards_per_gpu;
}

static bool kinds_init(struct slurm_nodes *nodes, struct arena *arena)
{
    const struct layout *layout = nodes->layout;
    const uint32_t groups = nodes->scaled && layout->group_count ? 1 : layout->group_count;
    nodes->kind_count = groups ? groups : 1;
    nodes->kinds = ARENA_ARRAY(arena, struct slurm_kind, nodes->kind_count);
    nodes->kind_of = ARENA_ARRAY(arena, uint8_t, nodes->nodes);
    if (!nodes->kinds || !nodes->kind_of) return false;
    nodes->one_weight = true;
    uint32_t row = 0;
    for (uint32_t k = 0; k < nodes->kind_count; k++) {
        struct slurm_kind *kind = &nodes->kinds[k];
        const struct server_group *group = groups ? &layout->groups[k] : NULL;
        kind_init(kind, group ? &group->server : &layout->server, group);
        kind->first_node = row;
        kind->nodes = group && !nodes->scaled ? group_nodes(group) : nodes->nodes;
        memset(nodes->kind_of + row, (int)k, kind->nodes);
        row += kind->nodes;
        nodes->one_weight &= kind->weight == nodes->kinds[0].weight;
        nodes->sharded |= kind->shards_per_gpu > 0;
        if (kind->gpus > nodes->gpus_most) nodes->gpus_most = kind->gpus;
        if (kind->near_cores && kind->sockets > nodes->sockets_most)
            nodes->sockets_most = kind->sockets;
    }
    return true;
}

static bool partitions_init(struct slurm_nodes *nodes, struct arena *arena)
{
    const struct slurm_spec *slurm = nodes->slurm;
    nodes->all = ARENA_ARRAY(arena, uint64_t, nodes->words);
    nodes->partitions = ARENA_ARRAY(arena, uint64_t, (size_t)slurm->partition_count * nodes->words);
    if (!nodes->all || !nodes->partitions) return false;
    for (uint32_t n = 0; n < nodes->nodes; n++) set_bit(nodes->all, n);
    for (uint32_t p = 0; p < slurm->partition_count; p++)
        slurm_set_add(nodes, slurm->partitions[p].nodes,
                      nodes->partitions + (size_t)p * nodes->words);
    return true;
}

/* ---- switches -------------------------------------------------------------------------------- */

static uint64_t *below_of(const struct slurm_nodes *nodes, uint32_t row)
{
    return nodes->switches.below + (size_t)row * nodes->words;
}

static bool switches_take(struct slurm_nodes *nodes, uint32_t count, struct arena *arena)
{
    nodes->switches.count = count;
    nodes->switches.parent = ARENA_ARRAY(arena, uint32_t, count);
    nodes->switches.level = ARENA_ARRAY(arena, uint32_t, count);
    nodes->switches.below = ARENA_ARRAY(arena, uint64_t, (size_t)count * nodes->words);
    return nodes->switches.parent && nodes->switches.level && nodes->switches.below;
}

/* Leaves of the fabric under one spine. */
static bool switches_of_fabric(struct slurm_nodes *nodes, uint32_t nodes_per_leaf,
                               struct arena *arena)
{
    const uint32_t leaves = (nodes->nodes + nodes_per_leaf - 1) / nodes_per_leaf;
    if (!switches_take(nodes, leaves + 1, arena)) return false;
    for (uint32_t n = 0; n < nodes->nodes; n++) {
        set_bit(below_of(nodes, n / nodes_per_leaf), n);
        set_bit(below_of(nodes, leaves), n);
    }
    for (uint32_t s = 0; s <= leaves; s++) nodes->switches.parent[s] = leaves;
    nodes->switches.level[leaves] = 1;
    return true;
}

static void adopt(struct slurm_nodes *nodes, uint32_t parent, uint32_t child)
{
    struct slurm_switches *switches = &nodes->switches;
    switches->parent[child] = parent;
    uint64_t *above = below_of(nodes, parent);
    const uint64_t *of_child = below_of(nodes, child);
    for (uint32_t w = 0; w < nodes->words; w++) above[w] |= of_child[w];
    if (switches->level[parent] <= switches->level[child])
        switches->level[parent] = switches->level[child] + 1;
}

/* Lines of topology.conf in their order; a line over switches may stand before theirs, so levels and nodes are
 * carried upwards until nothing changes: at most once a level. */
static bool switches_of_lines(struct slurm_nodes *nodes, struct arena *arena)
{
    const struct slurm_spec *slurm = nodes->slurm;
    if (!switches_take(nodes, slurm->switch_count, arena)) return false;
    struct slurm_switches *switches = &nodes->switches;
    for (uint32_t s = 0; s < switches->count; s++) {
        switches->parent[s] = s;
        if (slurm->switches[s].nodes[0])
            slurm_set_add(nodes, slurm->switches[s].nodes, below_of(nodes, s));
    }
    for (uint32_t round = 0; round < switches->count; round++) {
        bool moved = false;
        for (uint32_t s = 0; s < switches->count; s++) {
            const char *const list = slurm->switches[s].switches;
            uint32_t place;
            if (!list[0]) continue;
            const uint32_t level = switches->level[s];
            for (uint32_t c = 0; c < switches->count; c++)
                if (c != s && hostlist_find(list, slurm->switches[c].name, &place))
                    adopt(nodes, s, c);
            moved |= switches->level[s] != level;
        }
        if (!moved) break;
    }
    return true;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static uint32_t log2_up(uint32_t value)
{
    uint32_t power = 0;
    while (power < 31 && UINT32_C(1) << power < value) power++;
    return power;
}

static bool blocks_init(struct slurm_nodes *nodes, uint32_t nodes_per_leaf, struct arena *arena)
{
    const struct slurm_spec *slurm = nodes->slurm;
    struct slurm_blocks *blocks = &nodes->blocks;
    const bool lines = slurm->switch_count > 0;
    blocks->count =
        lines ? slurm->switch_count : (nodes->nodes + nodes_per_leaf - 1) / nodes_per_leaf;
    blocks->of_block = ARENA_ARRAY(arena, uint64_t, (size_t)blocks->count * nodes->words);
    if (!blocks->of_block) return false;
    blocks->size_nodes = lines ? UINT32_MAX : nodes_per_leaf;
    for (uint32_t b = 0; lines && b < blocks->count; b++) {
        uint64_t *of_block = blocks->of_block + (size_t)b * nodes->words;
        slurm_set_add(nodes, slurm->switches[b].nodes, of_block);
        const uint32_t size = slurm_set_count(of_block, nodes->words);
        if (size < blocks->size_nodes) blocks->size_nodes = size;
    }
    for (uint32_t n = 0; !lines && n < nodes->nodes; n++)
        set_bit(blocks->of_block + (size_t)(n / nodes_per_leaf) * nodes->words, n);
    if (slurm->block_size_count) blocks->size_nodes = slurm->block_sizes[0];
    if (blocks->size_nodes == 0) blocks->size_nodes = 1;
    blocks->levels = slurm->block_size_count ? 0 : 1;
    for (uint32_t i = 0; i < slurm->block_size_count; i++)
        blocks->levels |= UINT32_C(1) << log2_up(slurm->block_sizes[i] / blocks->size_nodes);
    return true;
}

bool slurm_nodes_init(struct slurm_nodes *nodes, const struct scenario *scenario,
                      const struct variant *variant, struct arena *arena)
{
    const struct layout *layout = &scenario->layouts[variant->layout];
    const uint32_t per_server = variant->servers ? variant->nodes / variant->servers : 1;
    *nodes = (struct slurm_nodes){ .nodes = variant->nodes,
                                   .scaled = scenario->scale_to_load > 0,
                                   .topology = scenario->slurm.topology,
                                   .layout = layout,
                                   .slurm = &scenario->slurm };
    nodes->words = (nodes->nodes + WORD_BITS - 1) / WORD_BITS;
    uint32_t nodes_per_leaf = variant->fabric.servers_per_leaf * (per_server ? per_server : 1);
    if (nodes_per_leaf == 0) nodes_per_leaf = nodes->nodes;
    const uint32_t domain = layout->server.domain_servers; /* a block, where nothing else is said */
    if (nodes->topology == TOPOLOGY_BLOCK && domain > 1) nodes_per_leaf = domain * per_server;
    if (!kinds_init(nodes, arena) || !partitions_init(nodes, arena)) return false;
    if (nodes->topology == TOPOLOGY_BLOCK) return blocks_init(nodes, nodes_per_leaf, arena);
    if (nodes->topology != TOPOLOGY_TREE) return true;
    return nodes->slurm->switch_count ? switches_of_lines(nodes, arena)
                                      : switches_of_fabric(nodes, nodes_per_leaf, arena);
}
