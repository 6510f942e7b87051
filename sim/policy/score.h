/* score.h - how well a node suits a job that fits it: best fit, dot product, GPU clustering, GPU packing and the
 * descent of fragmentation (FGD), and which GPU of the node takes a share of one.
 *
 * Pure functions of the free resources of one node. A score is a whole number, 0 to 100, higher is better, as
 * schedulers of Kubernetes count them: the rounding makes ties, and the ties are part of the policies' results.
 * GPUs and cores are counted in thousandths.
 * Source: Weng et al., Beware of Fragmentation (USENIX ATC 2023), and what its simulator does where the paper is
 * silent. Dot product: Grandl et al. (Tetris, SIGCOMM 2014). Packing: MLaaS in the wild (NSDI 2022). Clustering:
 * Gandiva (OSDI 2018). Tests: tests/test_score.c */
#ifndef GPUPLAN_POLICY_SCORE_H
#define GPUPLAN_POLICY_SCORE_H

#include "base/limits.h"

#include <stdbool.h>
#include <stdint.h>

enum { SCORE_MILLI = 1000, SCORE_MOST = 100 };

/* What is free on a node. */
struct score_node {
    uint32_t gpus;             /* of the node, free or not                                          */
    uint32_t cores_milli_free;
    uint64_t memory_free;      /* bytes                                                            */
    uint32_t kinds;            /* score_kind of each job that holds GPUs here, as bits               */
    uint32_t group;            /* of the layout: decides which tasks of a mix may use it             */
    uint16_t milli_free[LIMIT_GPUS_PER_SERVER]; /* [gpus] of each GPU; 0 when held whole or broken */
};

/* What a job asks of one node: whole GPUs, or a share of one, or neither. */
struct score_ask {
    uint32_t gpus;        /* whole                                                                 */
    uint32_t share_milli; /* 1 .. 999 of one GPU, gpus is 0 then; 0 = no share                      */
    uint32_t cores_milli;
    uint64_t memory_bytes;
};

/* The largest node of the layout, which scores are relative to. */
struct score_scale {
    uint32_t gpus, cores_milli;
};

/* The jobs that are expected, for the fragmentation of a node (MODELS 6.2). */
struct score_task {
    struct score_ask ask; /* memory is not looked at                                                */
    uint64_t groups;      /* bit g: nodes of group g may hold it                                    */
    uint32_t count;       /* how many of the jobs are like this                                     */
};
struct score_mix {
    const struct score_task *tasks; /* [task_count] borrowed                                        */
    uint32_t task_count;
    uint64_t weight; /* sum of the counts of all jobs, those without GPUs too                        */
    int64_t least_fall[SCORE_MOST]; /* [s]: least fall of score_fragment that gives score s, for s >= 1 */
};

/* Fills weight and least_fall for tasks that stand for `weight` jobs, > 0. */
void score_mix_init(struct score_mix *mix, const struct score_task *tasks, uint32_t task_count,
                    uint64_t weight);

/* The kind of a job as one bit: a share of a GPU, one GPU, two GPUs, ...; 0 without GPUs. */
uint32_t score_kind(const struct score_ask *ask);

/* GPUs, cores and memory are enough. */
bool score_fits(const struct score_node *node, const struct score_ask *ask);

/* Little is left: 100 (1 - ((free - asked) cores / largest + the same of GPUs) / 2). */
uint32_t score_best_fit(const struct score_node *node, const struct score_ask *ask,
                        struct score_scale scale);

/* What is free points away from what is asked: 100 (1 - (free . asked) / 2), vectors of cores and GPUs over the
 * largest node's. */
uint32_t score_dot_product(const struct score_node *node, const struct score_ask *ask,
                           struct score_scale scale);

/* Jobs of one kind together: only this kind on the node, 75; this and others, 50; nobody, 25; only others, 0; plus up
 * to 25 for few free GPUs. 0 without GPUs. */
uint32_t score_clustering(const struct score_node *node, const struct score_ask *ask,
                          struct score_scale scale);

/* GPUs in use before untouched ones (50 to 100), nodes in use before empty ones (33 to 50, up to 33). 0 without GPUs. */
uint32_t score_packing(const struct score_node *node, const struct score_ask *ask);

/* Free GPU thousandths that a job of the mix cannot use, times the counts: weight * 1000 * F_n of MODELS 6.2. */
int64_t score_fragment(const struct score_node *node, const struct score_mix *mix);

/* FGD: 100 / (1 + exp(-fall)) where fall is by how many GPUs the fragment of the node shrinks. A share tries each
 * GPU that has room; *gpu is the first of the best ones (untouched when the ask is no share). `fragment` is
 * score_fragment(node, mix). */
uint32_t score_fgd(const struct score_node *node, const struct score_ask *ask,
                   const struct score_mix *mix, int64_t fragment, uint32_t *gpu);

/* The GPU for a share: the one with the least room that is enough, the first of them. */
uint32_t score_tightest_gpu(const struct score_node *node, uint32_t share_milli);

/* The GPU for a share: the `nth` (from 0, modulo their number) of those with room. */
uint32_t score_any_gpu(const struct score_node *node, uint32_t share_milli, uint64_t nth);

#endif
