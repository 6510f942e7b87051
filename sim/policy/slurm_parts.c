/* slurm_parts.c - the chosen nodes become parts: tasks, cores, memory and GPUs on each (see slurm_choose.h).
 *
 * Tasks and GPUs of the whole job fill the nodes from the left, leaving one for each node still to come. */
#include "policy/slurm_choose.h"

#include <string.h>

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
    if (need->whole_nodes) return (uint32_t)bits_count(choice->picture->free_mask[node]);
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
    const uint32_t cores = most(tasks * need->cores_per_task, gpus * need->cores_per_gpu);
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

/* Fills the part's GPUs; false: they are not there. */
static bool fill_gpus(const struct choice *choice, struct part *part, uint32_t gpus, uint32_t cores)
{
    const struct slurm_need *need = choice->need;
    const struct slurm_kind *kind = slurm_kind_of(choice->nodes, part->node);
    if (need->shards_per_node) {
        const uint32_t gpu = shard_pick(choice, part->node);
        if (gpu == NODE_NONE) return false;
        part->mask = UINT32_C(1) << gpu;
        part->share_units = SLURM_GPU_UNITS / kind->shards_per_gpu * need->shards_per_node;
        return true;
    }
    if (gpus == 0) return true;
    uint16_t of_sockets[SLURM_SOCKETS] = { 0 };
    if (kind->near_cores) offer_sockets(choice, part->node, gpus, cores, of_sockets);
    part->mask = gpus_pick(choice, part->node, gpus, of_sockets);
    part->gpus = (uint32_t)bits_count(part->mask);
    return part->gpus == gpus;
}

static bool fill_part(struct choice *choice, uint32_t node, struct rest *rest, struct part *part)
{
    const uint32_t tasks = tasks_here(choice, node, rest);
    const uint32_t gpus = gpus_here(choice, node, tasks, rest);
    const uint32_t cores = cores_here(choice, node, tasks, gpus);
    const uint64_t memory_mib = memory_here(choice, node, cores, gpus);
    *part = (struct part){ .node = node,
                           .cores_milli = cores * MILLI,
                           .memory_bytes = memory_mib << MIB_SHIFT };
    return memory_mib <= choice->picture->memory_mib[node] && fill_gpus(choice, part, gpus, cores);
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
        if (!fill_part(choice, node, &rest, &chooser->parts[chooser->part_count])) return false;
        chooser->part_count++;
        rest.nodes--;
    }
    return need->gpus_per_task || need->gpus_per_node || need->whole_nodes || rest.gpus == 0;
}
