/* train_pace.h - steps of jobs with a training plan, by placement: each is worked out once. */
#ifndef GPUPLAN_CLUSTER_TRAIN_PACE_H
#define GPUPLAN_CLUSTER_TRAIN_PACE_H

#include "base/arena.h"
#include "cluster/train_of.h"
#include "models/step_curve.h"

/* Seconds of one step; the first four add up to it when the network is as in models/train_step. */
struct train_pace {
    double compute_s; /* with optimizer and what is fixed             */
    double intra_s, inter_s, bubble_s;
    /* Communication between servers, hidden or not: all of it, its bandwidth terms; bytes that leave each server. */
    double network_s, wire_s, network_bytes;
    double server_bytes, leaf_bytes, pair_bytes; /* on the fullest links (models/train_step) */
    struct traffic_part traffic[TRAIN_PARTS];
    uint32_t traffic_count;
};

/* What a step depends on. */
struct train_case {
    const struct train_job *job;
    uint32_t allowed;   /* algorithms                                      */
    double traffic;     /* multiplies the time of communication            */
    struct collective_group site;
    uint32_t islands, kind; /* of the hardware: what differs between calls with equal sites */
};

struct train_paces;

/* Owned by the arena; NULL when memory is out. */
struct train_paces *train_paces_create(struct arena *arena);

/* slower >= 1: NICs, and uplinks where the job spans leaves, carry so much less than the hardware says; the step is what it
 * would be on a layout with these. */
struct train_pace train_pace_of(struct train_paces *paces, const struct train_case *at,
                                const struct collective_hardware *hardware, double slower);

/* The step by the time that its bytes take on the links: least_s on healthy ones, and `slower` times line_s on slower ones.
 * 0 < line_s <= least_s, the same in all calls with equal cases. Borrowed until the next call. */
const struct step_curve *train_pace_curve(struct train_paces *paces, const struct train_case *at,
                                          const struct collective_hardware *hardware,
                                          double line_s, double least_s);

#endif
