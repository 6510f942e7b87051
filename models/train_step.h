/* train_step.h - one step of a parallel training plan, part by part (MODELS 3).
 *
 * A GPU works through m microbatches of its stage; all times below are of the whole step on it:
 *
 *     compute   FLOPs (with recomputation) / (n peak efficiency), or measured: sample_s batch/n
 *     tensor    4 all-reduces of mb s h b a layer and microbatch over tp; 6 with full recomputation
 *     expert    as many all-to-alls of mb s h b topk over ep, layers with experts alone
 *     pipeline  2 v sends of mb s h b a microbatch, over tp when scattered; v model chunks a GPU
 *     data      gradients once a step, over dp: all-reduce; from stage 1 reduce-scatter against the backward pass of the last
 *               microbatch and gather against the forward pass of the first, K buckets each; stage 3: each layer
 *               gathered twice and scattered once a microbatch (3.5)
 *     bubble    (p - 1)/(m v) of compute + tensor + expert + pipeline (3.4)
 *
 * Of each communication, overlap w hides w times what could be hidden: all of it up to the compute it runs beside;
 * for gradients up to exposed_reduce_s, for stage 3 up to sharded_step_s. What stays exposed stalls inside a server by
 * what it would be on an infinitely fast network, the rest is the network's.
 *
 * All of them take what collective_time says, among the algorithms that the machine allows.
 * Leaves out: gradients that travel while the pipeline drains, kernels that slow each other, communication that waits
 * for other jobs, attention split over servers.
 * Pure function. Tests: tests/test_train_step.c */
#ifndef GPUPLAN_MODELS_TRAIN_STEP_H
#define GPUPLAN_MODELS_TRAIN_STEP_H

#include "models/traffic.h"
#include "models/train_plan.h"

enum { TRAIN_PARTS = 5 }; /* tensor, expert, pipeline, gradients, gradients of experts */

/* The first eight add up to step_s. */
struct train_time {
    double compute_s;
    double stall_intra_s, stall_inter_s; /* exposed communication */
    double bubble_s;
    double data_s;      /* waiting for input: reading is ahead by a step                          */
    double optimizer_s; /* Adam: 28 bytes a parameter kept here, at the speed of memory           */
    double fixed_s;     /* fixed_s + server_s (servers - 1)                                       */
    double straggler_s; /* (slowest noise uneven - 1) times all of the above                      */
    double step_s;
    /* Exposed communication by group; they add up to both stalls. */
    double tensor_s, expert_s, pipeline_s, gradient_s;
    /* Communication between servers: before hiding, and its bandwidth terms alone; bytes that leave each server in a step, of a
     * stage in the middle, and by group. */
    double network_s, wire_s, network_bytes;
    struct traffic_part traffic[TRAIN_PARTS];
    uint32_t traffic_count; /* those that put bytes on the network */
    /* Of all of them on the fullest link: out of one server; over the uplinks of a leaf, and from one group of a dragonfly to another, as
     * many as a ring would put there to take as long (machine.leaf_servers, pair_servers). */
    double server_bytes, leaf_bytes, pair_bytes;
    double flops;             /* of the model, without recomputation; 0 when compute was measured */
    double flops_per_s_gpu;   /* flops/(n step) */
    double mfu;               /* that over peak */
    double samples_per_s, tokens_per_s;
};

/* The plan has passed train_plan_check; efficiency in (0, 1] is unread when compute was measured. */
struct train_time train_step(const struct train_model *model, const struct train_plan *plan,
                             const struct train_machine *machine);

#endif
