/* train_plan.h - a model, the plan that trains it in parallel and the machine it runs on (MODELS 3).
 *
 * Ranks are laid out as Megatron-LM and torch do: tensor innermost, then data (experts are a part of the data
 * group), pipeline outermost; rank = t + tp (d + dp p). Servers take g ranks each in that order, so that a tensor
 * group lies inside a server while tp <= g, and pipeline neighbours are as far apart as they can be.
 *
 * Pure functions. Tests: tests/test_train_plan.c */
#ifndef GPUPLAN_MODELS_TRAIN_PLAN_H
#define GPUPLAN_MODELS_TRAIN_PLAN_H

#include "models/collective_time.h"

#include <stdbool.h>
#include <stdint.h>

/* A transformer, or (sample_s > 0) any model whose compute time was measured. */
struct train_model {
    double parameters;        /* P that are held, all experts together; > 0                          */
    double active_parameters; /* that one token visits; = parameters without experts                 */
    double expert_parameters; /* of P, those of experts: they lie split over the expert group        */
    double layers, hidden, heads; /* layers >= 1; hidden 0: activations are neither sent nor counted */
    double sequence;          /* tokens of a sample, >= 1                                            */
    double expert_layers;     /* layers with experts; 0: dense                                       */
    double experts, experts_per_token;
    bool causal;              /* FLOPs count half of the attention products                          */
    double sample_s;          /* > 0: compute of one sample on one GPU, in place of FLOPs/(peak eff) */
};

enum recompute {
    RECOMPUTE_NONE,
    RECOMPUTE_SELECTIVE, /* attention scores only, as flash attention does */
    RECOMPUTE_FULL,      /* each layer from its input                      */
    RECOMPUTES
};
extern const char *const recompute_names[RECOMPUTES]; /* "none", "selective", "full" */

struct train_plan {
    uint32_t tensor, pipeline, data, expert; /* group sizes, each >= 1                              */
    uint32_t interleave;  /* v >= 1 model chunks a GPU; above 1 with pipeline > 1 only               */
    double batch;         /* samples a step, all GPUs                                                */
    double microbatch;    /* samples of a pass                                                       */
    uint32_t zero;        /* stage 0 to 3; 3 = FSDP                                                  */
    enum recompute recompute;
    bool scatter;         /* sequence parallel: activations between tensor blocks lie split over tp, and
                             a GPU sends its part alone to the next stage                            */
    double element_bytes;  /* of an activation; 2 */
    double gradient_bytes; /* of a gradient; 2, or 4 in single precision */
    double buckets;        /* pieces in which gradients go out, >= 1 */
    /* Part of what could be hidden behind compute that is hidden: 0 none, 1 all. */
    double overlap_data, overlap_tensor, overlap_pipeline, overlap_expert;
    double traffic;       /* multiplies the time of every collective, and its bytes; 1               */
    double fixed_s;       /* of a step, whatever its batch: host, launches, loss                     */
    double server_s;      /* more for each server beyond the first                                   */
    double input_bytes, input_bytes_per_s; /* of a sample, read ahead; of the whole job; bytes 0: none */
    double slowest_factor, noise_factor, uneven_factor; /* each >= 1 (3.8)                           */
};

/* A plan that changes nothing: groups, factors and buckets of 1, two bytes, no overlap. */
struct train_plan train_plan_plain(void);

struct train_machine {
    uint32_t gpus;
    uint32_t gpus_per_server; /* in use of each; 0: all of fabric.gpus                */
    bool spans_leaves;    /* the servers hang on more than one leaf                   */
    uint32_t domains, domain_servers; /* NVLink domains that hold all of them, and servers on the domain that holds fewest;
                             domains 0: all but the last one full                     */
    uint32_t leaf_servers, pair_servers; /* most of them on one leaf, and in one group of a dragonfly; 0: every collective
                             loads uplinks as a ring does                             */
    double peak_flops_per_s, efficiency; /* of kernels without exposed communication */
    double memory_bytes;                 /* of a GPU; INFINITY: not checked          */
    double memory_bytes_per_s;           /* INFINITY: the optimizer takes no time    */
    struct collective_hardware fabric;   /* fabric.gpus: of a server                 */
    uint32_t allowed;                    /* algorithms of its collectives            */
};

/* What is wrong with a plan, first fault only; value must be a multiple of (or equal to) of. */
enum train_fault {
    TRAIN_FITS,
    TRAIN_GPUS,       /* tp pp dp = value, the GPUs are `of`                                         */
    TRAIN_SERVERS,    /* GPUs fill servers of `of`, or part of one                                   */
    TRAIN_TENSOR,     /* tp divides the GPUs of a server or is a multiple of them                    */
    TRAIN_BATCH,      /* batch by dp microbatch                                                      */
    TRAIN_LAYERS,     /* layers by pp v                                                              */
    TRAIN_CHUNKS,     /* v > 1 needs pp > 1                                                          */
    TRAIN_ROUNDS,     /* microbatches by pp when v > 1                                               */
    TRAIN_DENSE,      /* ep > 1 of a model without experts                                           */
    TRAIN_EXPERTS,    /* experts by ep                                                               */
    TRAIN_EXPERT_GROUP,  /* dp by ep                                                                 */
    TRAIN_EXPERT_SPREAD, /* ep against the ranks of a data group on one server, as tp against a server */
    TRAIN_MEMORY,     /* value bytes of `of`                                                         */
    TRAIN_FAULTS
};
struct train_fault_at {
    enum train_fault fault;
    double value, of;
};

/* Divisibility alone: train_memory says whether it fits. */
struct train_fault_at train_plan_check(const struct train_model *model, const struct train_plan *plan,
                                       const struct train_machine *machine);

/* Parameters that a token visits over the 12 layers hidden^2 of a plain block: attention 4 h^2, two wide layers 8 h^2. Above 1 by
 * embeddings, gated wide layers and several experts a token. hidden > 0. */
double train_shape_ratio(const struct train_model *model);

double train_microbatches(const struct train_plan *plan); /* batch/(dp microbatch) */

/* Where `members` ranks, `stride` apart, sit, and their share of the server: groups that lie on the same servers share its
 * NICs and memory evenly. stride >= 1; it divides the GPUs of a server or is a multiple of them. */
struct train_group {
    struct collective_hardware hardware;
    struct collective_group members;
    uint32_t sharing; /* such groups on one server */
};
struct train_group train_group_of(const struct train_machine *machine, uint32_t members,
                                  uint32_t stride);

#endif
