/* fragmentation.h - free GPUs that are free in the wrong shape (MODELS 6.2).
 *
 * Pure functions. Tests: tests/test_fragmentation.c, tests/cases/models/fragmentation.csv. */
#ifndef GPUPLAN_MODELS_FRAGMENTATION_H
#define GPUPLAN_MODELS_FRAGMENTATION_H

#include <stdbool.h>
#include <stdint.h>

/* Free resources of one node. gpu_free[gpu_count] are shares in [0, 1], borrowed. */
struct frag_node {
    double cores_free;
    const double *gpu_free;
    uint32_t gpu_count;
};

/* One kind of task: its share of the arriving tasks and what it asks for. gpus: below 1 a share of
 * one GPU, else whole GPUs; 0 = CPU only, left out. */
struct frag_task {
    double weight, cores, gpus;
};

/* Expected free GPU share of a node that a task of the mix cannot use (FGD; Weng et al., ATC 2023):
 *     F_n = sum_m p_m (task m does not fit ? sum R : sum of the R_i < min(1, gpus_m)) */
double fragment_of_node(const struct frag_node *node, const struct frag_task *tasks,
                        uint32_t task_count);

/* Sum of F_n over nodes, and that over all that is free (0 when nothing is). */
struct fragments {
    double gpus, ratio;
};
struct fragments fragments(const struct frag_node *nodes, uint32_t node_count,
                           const struct frag_task *tasks, uint32_t task_count);

/* Free GPUs that jobs needing `gpus_per_job` in one server can use: sum floor(free/g) g.
 * free[count], g >= 1. */
struct usable_free {
    uint64_t free, usable, stranded;
};
struct usable_free usable_free(const uint32_t *free, uint32_t count, uint32_t gpus_per_job);

#endif
