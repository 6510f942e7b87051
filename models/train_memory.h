/* train_memory.h - bytes that a training plan keeps on each GPU (MODELS 3.1).
 *
 * Weights, gradients and optimizer are those of mixed-precision Adam, 2 + 2 + 12 bytes a parameter: stage 1 splits the
 * optimizer over the data group, stage 2 the gradients, stage 3 the weights (Rajbhandari, ZeRO, 2020, [P]). Expert
 * parameters lie split over the expert group first, and their data group is dp/ep. Stage 3 gathers one layer and the
 * next at a time: two layers of whole weights.
 *
 * Activations of one layer and microbatch, s tokens, b samples, h hidden, a heads, t tensor parallel (Korthikanti
 * 2022, [P]):
 *     none       s b h (10 + 24/t + 5 a s/(h t))      with scatter   s b h (34 + 5 a s/h)/t
 *     selective  s b h (10 + 24/t)                                   s b h 34/t
 *     full       2 s b h, and one layer as selective while it is recomputed     2 s b h/t
 * The first stage of 1F1B holds min(m, p) microbatches of L/p layers, interleaved (1 + (p - 1)/(p v)) of that when
 * m >= p. Experts: the two wide layers of a block, 19 of the 34 (Korthikanti's share of the MLP), once per expert
 * visited.
 *
 * Leaves out: embeddings and logits (an even split over the stages is assumed), buffers of libraries, fragmentation.
 * Pure function. Tests: tests/test_train_memory.c */
#ifndef GPUPLAN_MODELS_TRAIN_MEMORY_H
#define GPUPLAN_MODELS_TRAIN_MEMORY_H

#include "models/train_plan.h"

struct train_memory {
    double weights_bytes, gradients_bytes, optimizer_bytes, activations_bytes, total_bytes;
};

/* The plan has passed train_plan_check. */
struct train_memory train_memory(const struct train_model *model, const struct train_plan *plan);

/* Parameters on one GPU before any sharding over the data group: P/(tp pp), experts over ep too. */
double train_local_parameters(const struct train_model *model, const struct train_plan *plan);

#endif
