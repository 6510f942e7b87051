/* slurm_parts.c - the chosen nodes become parts: tasks, cores, memory and GPUs on each (see slurm_choose.h).
 *
 * Tasks and GPUs of the whole job fill the nodes from the left, leaving one for each node still to come. */
#include "policy/slurm_choose.h"

#include <stdlib.h>

enum { MILLI = 1000, MIB_SHIFT = 20 };

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}
static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* What is left of the job for the nodes still to come, and how many these are. */
struct rest {
    uint32_t nodes, tasks, gpus;
};

static uint32_t take_share(uint32_t *rest, uint32_t nodes, uint32_t cap)
{
    const uint32_t later = nodes - 1;
    uint32_t share = least(cap, *rest > later ? *rest - later : 0);
    share = most(share, least(1, *rest));
    *rest -= share;
    return share;
}

/* GPUs of a job-wide sum on one node. Where Slurm keeps a list of a node's GPUs, newer releases give what was
 * counted when the node was chosen; else whatever is free. Memory per GPU is never exceeded. */
static uint32_t summed_gpus(const struct choice *choice, uint32_t node, struct rest *rest)
{
    const struct offer *offer = offer_of(choice, node);
    const bool counted =
        slurm_kind_of(choice->nodes, node)->listed && choice->nodes->slurm->compat != COMPAT_22_05;
    return take_share(&rest->gpus, rest->nodes, counted ? offer->gpus : offer->gpus_free);
}

static uint32_t gpus_here(const struct choice *choice, uint32_t node, uint32_t tasks,
                          struct rest *rest)
{
    const struct slurm_need *need = choice->need;
    if (need->whole_nodes) return (uint32_t)bits_count_64(choice->picture->free_mask[node]);
    if (need->gpus_per_node) return need->gpus_per_node;
    if (need->gpus_per_task) return tasks * need->gpus_per_task;
    return need->gpus_per_job ? summed_gpus(choice, node, rest) : 0;
}

static uint32_t tasks_here(const struct choice *choice, uint32_t node, struct rest *rest)
{
    const struct slurm_need *need = choice->need;
    uint32_t cap = offer_of(choice, node)->used / need->cores_per_task;
    if (need->tasks_per_node) cap = least(cap, need->tasks_per_node);
    if (need->gpus_per_task || need->tasks_per_gpu) cap = least(cap, offer_of(choice, node)->tasks);
    return take_share(&rest->tasks, rest->nodes, cap);
}

static uint32_t cores_here(const struct choice *choice, uint32_t node, uint32_t tasks,
                           uint32_t gpus)
{
    const struct slurm_need *need = choice->need;
    if (need->whole_nodes) return slurm_kind_of(choice->nodes, node)->cores;
    const uint32_t cores = most(most(tasks * need->cores_per_task, gpus * need->cores_per_gpu),
                                offer_of(choice, node)->cores_least);
    return least(cores, choice->picture->cores[node]);
}

static uint64_t memory_here(const struct choice *choice, uint32_t node, uint32_t cores,
                            uint32_t gpus)
{
    const struct slurm_need *need = choice->need;
    switch (need->memory) {
    case MEMORY_WHOLE_NODE:
        return slurm_kind_of(choice->nodes, node)->memory_mib;
    case MEMORY_PER_NODE:
        return need->memory_mib;
    case MEMORY_PER_CORE:
        return need->memory_mib * cores;
    case MEMORY_PER_GPU:
        return need->memory_mib * gpus;
    case MEMORY_IGNORED:
        break;
    }
    return 0;
}

/* One more part; NULL when memory is out. */
static struct part *add_part(struct slurm_chooser *chooser)
{
    if (chooser->part_count == chooser->part_capacity) {
        const uint32_t capacity = chooser->part_capacity ? 2 * chooser->part_capacity : 64;
        struct part *parts = realloc(chooser->parts, capacity * sizeof *parts);
        if (!parts) return NULL;
        chooser->parts = parts;
        chooser->part_capacity = capacity;
    }
    struct part *part = &chooser->parts[chooser->part_count++];
    *part = (struct part){ 0 };
    return part;
}

/* The GPUs of a node as parts: whole ones are one part by its mask; each MIG instance is a part. `first` is the
 * node's first part, which has its cores and memory. */
static bool add_gpus(struct slurm_chooser *chooser, const struct slurm_kind *kind, uint32_t first,
                     uint64_t gpus)
{
    const uint32_t node = chooser->parts[first].node;
    if (!kind->cut_count) {
        chooser->parts[first].mask = (uint32_t)gpus;
        chooser->parts[first].gpus = (uint32_t)bits_count_64(gpus);
        return true;
    }
    for (bool more = false; gpus; gpus &= gpus - 1, more = true) {
        const uint32_t bit = (uint32_t)__builtin_ctzll(gpus);
        const struct gpu_cut *cut = &kind->cuts[bit % kind->cut_count];
        struct part *part = more ? add_part(chooser) : &chooser->parts[first];
        if (!part) return false;
        part->node = node;
        part->mask = UINT32_C(1) << (bit / kind->cut_count);
        part->share_units = cut->units;
        part->slice_first = cut->slice_first;
        part->slice_count = cut->slice_count;
    }
    return true;
}

/* False: the GPUs are not there. */
static bool fill_gpus(const struct choice *choice, uint32_t node, uint32_t gpus, uint32_t cores)
{
    const struct slurm_need *need = choice->need;
    const struct slurm_kind *kind = slurm_kind_of(choice->nodes, node);
    struct slurm_chooser *chooser = choice->chooser;
    const uint32_t first = chooser->part_count - 1;
    if (need->shards_per_node) {
        const uint32_t gpu = shard_pick(choice, node);
        if (gpu == NODE_NONE) return false;
        chooser->parts[first].mask = UINT32_C(1) << gpu;
        chooser->parts[first].share_units =
            SLURM_GPU_UNITS / kind->shards_per_gpu * need->shards_per_node;
        return true;
    }
    if (gpus == 0) return true;
    uint16_t of_sockets[SLURM_SOCKETS] = { 0 };
    if (kind->near_cores) offer_sockets(choice, node, gpus, cores, of_sockets);
    const uint64_t picked = gpus_pick(choice, node, gpus, of_sockets);
    return (uint32_t)bits_count_64(picked) == gpus && add_gpus(chooser, kind, first, picked);
}

static bool fill_node(struct choice *choice, uint32_t node, struct rest *rest)
{
    const uint32_t tasks = tasks_here(choice, node, rest);
    const uint32_t gpus = gpus_here(choice, node, tasks, rest);
    const uint32_t cores = cores_here(choice, node, tasks, gpus);
    const uint64_t memory_mib = memory_here(choice, node, cores, gpus);
    struct part *part = add_part(choice->chooser);
    if (!part || memory_mib > choice->picture->memory_mib[node]) return false;
    part->node = node;
    part->cores_milli = cores * MILLI;
    part->memory_bytes = memory_mib << MIB_SHIFT;
    return fill_gpus(choice, node, gpus, cores);
}

bool parts_fill(struct choice *choice)
{
    const struct slurm_need *need = choice->need;
    struct slurm_chooser *chooser = choice->chooser;
    struct rest rest = { .nodes = slurm_set_count(choice->chosen, choice->nodes->words),
                         .tasks = need->tasks,
                         .gpus = need->gpus_per_job };
    if (rest.tasks == 0)
        rest.tasks = need->tasks_per_node ? need->tasks_per_node * rest.nodes : rest.nodes;
    rest.tasks = most(rest.tasks, rest.nodes);
    chooser->part_count = 0;
    FOR_NODES(node, choice->chosen, choice->nodes->words)
    {
        if (!fill_node(choice, node, &rest)) return false;
        rest.nodes--;
    }
    return need->gpus_per_task || need->gpus_per_node || need->whole_nodes || rest.gpus == 0;
}
