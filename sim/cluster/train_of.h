/* train_of.h - what a scenario or the catalog says of training -> the structs of models/train_plan. */
#ifndef GPUPLAN_CLUSTER_TRAIN_OF_H
#define GPUPLAN_CLUSTER_TRAIN_OF_H

#include "cluster/collective_of.h"
#include "models/train_memory.h"
#include "models/train_step.h"
#include "spec/train.h"

/* Attention heads of a usual width, 128; 0 for no width. */
double train_heads(double hidden);

struct train_model train_model_of(const struct model_shape *shape);

/* How a framework trains: overlaps, stage, recomputation, bytes of a gradient. */
void train_take_stack(const struct train_stack *stack, struct train_plan *plan);

/* Buckets of the gradients of one GPU; bucket_bytes 0: all in one. The plan's groups are set. */
double train_buckets(const struct train_model *model, const struct train_plan *plan,
                     double bucket_bytes);

/* Kernels on layers of this width reach so much of what wide ones do: h/(h + half). */
double train_width_factor(double hidden, double half_width);

/* GPUs of which a job has a multiple: tensor x pipeline x expert. */
uint64_t train_job_multiple(const struct train_job *job);

/* A step of a job whose GPUs sit as `site` says. Jobs have as many GPUs as their groups need; one that goes on with fewer, as
 * some were lost, has groups of the largest divisor. An uneven split counts as the even one over more servers that fits it,
 * with as many NICs in all. traffic:
 * multiplies the time of communication. */
struct train_time train_job_step(const struct train_job *job,
                                 const struct collective_hardware *fabric, uint32_t allowed,
                                 const struct collective_group *site, double traffic);

/* What such a job keeps on each of so many GPUs. */
struct train_memory train_job_memory(const struct train_job *job, uint32_t gpus);

#endif
