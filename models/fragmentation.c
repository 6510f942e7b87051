/* fragmentation.c - MODELS 6.2. */
#include "models/fragmentation.h"

#include "base/assert.h"

static double free_of(const struct frag_node *node)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < node->gpu_count; i++) sum += node->gpu_free[i];
    return sum;
}

/* How many of the node's GPUs have at least `share` free. */
static uint32_t gpus_with(const struct frag_node *node, double share)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->gpu_count; i++) count += node->gpu_free[i] >= share;
    return count;
}

static bool task_fits(const struct frag_node *node, const struct frag_task *task)
{
    if (node->cores_free < task->cores) return false;
    if (task->gpus < 1.0) return gpus_with(node, task->gpus) >= 1;
    return gpus_with(node, 1.0) >= task->gpus;
}

double fragment_of_node(const struct frag_node *node, const struct frag_task *tasks,
                        uint32_t task_count)
{
    double fragment = 0.0;
    for (uint32_t m = 0; m < task_count; m++) {
        if (!(tasks[m].gpus > 0.0)) continue;
        double useless = 0.0;
        if (task_fits(node, &tasks[m])) {
            const double share = tasks[m].gpus < 1.0 ? tasks[m].gpus : 1.0;
            for (uint32_t i = 0; i < node->gpu_count; i++)
                if (node->gpu_free[i] < share) useless += node->gpu_free[i];
        } else {
            useless = free_of(node);
        }
        fragment += tasks[m].weight * useless;
    }
    return fragment;
}

struct fragments fragments(const struct frag_node *nodes, uint32_t node_count,
                           const struct frag_task *tasks, uint32_t task_count)
{
    double free = 0.0, fragment = 0.0;
    for (uint32_t n = 0; n < node_count; n++) {
        free += free_of(&nodes[n]);
        fragment += fragment_of_node(&nodes[n], tasks, task_count);
    }
    return (struct fragments){ fragment, free > 0.0 ? fragment / free : 0.0 };
}

struct usable_free usable_free(const uint32_t *free, uint32_t count, uint32_t gpus_per_job)
{
    ASSERT(gpus_per_job >= 1);
    struct usable_free sum = { 0, 0, 0 };
    for (uint32_t i = 0; i < count; i++) {
        sum.free += free[i];
        sum.usable += free[i] - free[i] % gpus_per_job;
    }
    sum.stranded = sum.free - sum.usable;
    return sum;
}
