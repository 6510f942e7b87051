/* jobstep.h - time of one training step from a model and a plan (MODELS 3.1 to 3.7).
 *
 * Pure functions of SI quantities. Arguments outside the ranges are caller bugs (asserted).
 * Leaves out: kernels (an efficiency stands for them), memory of activations.
 * Tests: tests/test_jobstep.c, tests/cases/models/jobstep.csv. */
#ifndef GPUPLAN_MODELS_JOBSTEP_H
#define GPUPLAN_MODELS_JOBSTEP_H

#include "models/collective.h"

#include <stdbool.h>
#include <stdint.h>

/* A dense transformer and what one step feeds it. */
struct transformer {
    double parameters;  /* P active per token                                    */
    double tokens;      /* per step, all GPUs together                           */
    double layers, hidden, sequence;
    bool causal;        /* attention looks back only: half of its products       */
    bool recompute;     /* all activations are computed twice: times 4/3         */
};

/* 6 P tok + (causal ? 6 : 12) L h s tok (3.1; Kaplan 2020, Narayanan 2021). */
double step_flops(const struct transformer *model);

/* FLOPs/(n peak efficiency). All > 0. */
double compute_s(double flops, double gpus, double peak_flops_per_s, double efficiency);

/* Bytes per GPU of weights, gradients and Adam's state in mixed precision (3.1; ZeRO): stage 0 16 P, 1 4 P + 12 P/dp,
 * 2 2 P + 14 P/dp, 3 16 P/dp. */
double zero_bytes(double parameters, double data_parallel, uint32_t stage);

/* Activations of one layer that tensor parallel GPUs exchange: mb s h b (3.2). */
double activation_bytes(double sequences, double sequence, double hidden, double element_bytes);

/* Exposed time of gradient reduction in K equal buckets that go out one by one while the backward pass runs (3.3):
 * max(c, K c - t_bwd (K - 1)/K), c = the all-reduce of one bucket. K >= 1. */
double exposed_reduce_s(double backward_s, double buckets, double bucket_reduce_s);

/* Compute time when hidden communication slows the part it overlaps with (3.3): t + theta * hidden; theta
 * >= 0, default 0. */
double slowed_compute_s(double compute_s, double hidden_s, double theta);

/* 1F1B pipeline of p stages, m microbatches, v interleaved chunks (3.4): T = (m + (p - 1)/v)(tf + tb). */
struct pipeline {
    double microbatches, stages, chunks;
    double forward_s, backward_s; /* per stage and microbatch */
};
double pipeline_s(const struct pipeline *pipeline);
double bubble_ratio(const struct pipeline *pipeline); /* (p - 1)/(v m): idle over working time */

/* Sharded data parallel with prefetch of one layer (3.5); per layer: forward, backward, all-gather, reduce-scatter. */
struct sharded_step {
    double layers; /* >= 1 */
    double forward_s, backward_s, gather_s, scatter_s;
};
double sharded_step_s(const struct sharded_step *step);

/* Data-parallel training on one placement: flat ring, K buckets, backward two thirds of the compute (3.6). */
struct data_parallel_job {
    struct transformer model;
    struct collective_place place;
    double peak_flops_per_s, efficiency;
    double gradient_bytes; /* per parameter */
    double buckets;
};
struct step_time {
    double compute_s, exposed_s, total_s;
    double mfu; /* model FLOPs over peak of the whole step */
};
struct step_time data_parallel_step(const struct data_parallel_job *job);

/* (tc^gamma + tn^gamma)^(1/gamma): overlap fitted from measurements, gamma in [1, 10] (Pollux 2021). */
double overlapped_s(double compute_s, double network_s, double gamma);

/* Step time with input: prefetched max(T, bytes/rate), else T + bytes/rate (3.7). */
double input_bound_s(double step_s, double size_bytes, double rate_bytes_per_s, bool prefetch);

/* The whole step (3.6): (pipeline or single stage + exposed reduction + optimizer + input stall) times
 * the factor of the slowest server, of noise and of uneven data (3.8; each >= 1). */
struct whole_step {
    double stage_s, exposed_s, optimizer_s, input_stall_s;
    double slowest_factor, noise_factor, data_factor;
};
double whole_step_s(const struct whole_step *step);

/* Model FLOPs over what the GPUs could have done: flops/(gpus peak t). All > 0. */
double flops_use_frac(double flops, double gpus, double peak_flops_per_s, double step_s);

#endif
