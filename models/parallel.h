/* parallel.h - what the members of a parallel plan exchange in one training step (MODELS 3.2).
 *
 * Sizes are S of the collective that moves them (collective.h). Activations are mb s h b: jobstep.h's
 * activation_bytes. Pure functions of SI quantities; arguments outside the ranges are caller bugs
 * (asserted). Leaves out: sequence and context parallelism, tied embeddings.
 * Tests: tests/test_parallel.c, tests/cases/models/parallel.csv. */
#ifndef GPUPLAN_MODELS_PARALLEL_H
#define GPUPLAN_MODELS_PARALLEL_H

#include "models/collective.h"

#include <stdbool.h>
#include <stdint.h>

/* S of the all-reduce of gradients over the data-parallel group: b P/(tp pp). Both groups >= 1. */
double gradient_bytes(double parameters, double element_bytes, double tensor_parallel,
                      double pipeline_parallel);

/* Bytes that each GPU sends per step for S over a group of n >= 1 with ring collectives: stages 0 to 2
 * reduce-scatter and gather once, 2 (n - 1)/n S; stage 3 (FSDP) gathers again for the backward pass:
 * 3 (n - 1)/n S. */
double zero_traffic_bytes(double size_bytes, double data_parallel, uint32_t stage);

/* Time of the all-reduces inside a tensor-parallel group: two forward and two backward, per layer of a
 * stage and microbatch, over a ring: 4 layers microbatches ring_allreduce_s. */
struct tensor_group {
    uint32_t gpus; /* tp >= 1 */
    double layers, microbatches;
    double size_bytes; /* activations of one microbatch */
    double hop_s, bandwidth_bytes_per_s;
};
double tensor_parallel_s(const struct tensor_group *group);

/* Bytes over one boundary between pipeline stages, one way, per step: microbatches times the
 * activations; over tp when each member sends its part alone. */
double boundary_bytes(double activation_bytes, double microbatches, double tensor_parallel,
                      bool scattered);

/* S of one all-to-all among experts: activations times the experts that each token visits. */
double expert_bytes(double activation_bytes, double experts_per_token);

/* Time of the all-to-alls of a step: two forward and two backward, per expert layer and microbatch. */
double expert_parallel_s(const struct collective_place *place, double layers, double microbatches,
                         double size_bytes, double message_s);

#endif
