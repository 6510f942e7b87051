/* train.h - models and training frameworks as the catalog states them, in SI units. */
#ifndef GPUPLAN_SPEC_TRAIN_H
#define GPUPLAN_SPEC_TRAIN_H

#include "base/limits.h"

#include "spec/hardware.h"

#include <stdbool.h>
#include <stdint.h>

/* What is trained: catalog models.yaml, "models". */
struct model_shape {
    char id[LIMIT_NAME_BYTES];
    double parameters;
    double active_parameters; /* that one token visits; 0 = all                                     */
    double expert_parameters; /* of `parameters`                                                     */
    double layers, hidden;
    double heads;             /* 0 = hidden/128                                                      */
    double sequence;          /* tokens of a sample                                                  */
    double experts, experts_per_token;
    double expert_layers;     /* 0 = all, when there are experts                                     */
    double gradient_bytes;    /* of one; 0 = as the framework                                        */
    double bucket_bytes;      /* of gradients; 0 = as the framework                                  */
    double sample_s;          /* compute of one sample on one `sample_gpu`; 0 = by FLOPs             */
    char sample_gpu[LIMIT_NAME_BYTES];
    double fixed_s, server_s; /* of a step; more for each further server                             */
};

/* How a framework trains on one generation of GPUs: catalog models.yaml, "stacks". */
struct train_stack {
    char id[LIMIT_NAME_BYTES];
    char gpu[LIMIT_NAME_BYTES]; /* ids of GPUs begin with it                                         */
    double efficiency;          /* of kernels, of peak, on layers of any width                       */
    double half_width;          /* hidden size at which half of it is reached                        */
    double overlap, tp_overlap, pp_overlap, ep_overlap; /* 0 to 1 */
    double bucket_bytes;        /* of gradients; 0 = all in one                                      */
    double gradient_bytes;
    uint32_t zero;
    uint32_t recompute;         /* none, selective, full                                             */
    bool scatter;
    enum mark mark;
    char source[256];
};

/* How the jobs of a profile are trained, whatever their number of GPUs: data parallel groups take what tensor and pipeline
 * leave. A job has a multiple of tensor x pipeline x expert GPUs; how many of them share a server is its placement's. */
struct train_job {
    struct model_shape model;   /* id "": the profile has numbers of its own, and none of this      */
    struct train_stack stack;
    struct gpu_type gpu;        /* computes as fast as this one does, on all layouts                */
    char model_id[LIMIT_NAME_BYTES], stack_id[LIMIT_NAME_BYTES], gpu_id[LIMIT_NAME_BYTES];
    uint32_t tensor, pipeline, expert, interleave;
    double samples_per_gpu;     /* of a step, over all GPUs of the job                              */
    double microbatch;          /* samples of a pass                                                */
};

#endif
