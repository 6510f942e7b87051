/* speed.h - placement -> speed of a job and where its time goes: the one bridge to the models.
 *
 * Real numbers end here: what comes out is a fixed-point rate and integer shares. With s(p) the
 * time a unit of compute takes on placement p,
 *
 *     s(p) = (1 + v + max(0, kappa r(p) - w)) * (1 + C/tau)        (MODELS 3.9, 5.7; v of virtual machines: 1.7)
 *
 * or, with a training plan, a step over its compute (MODELS 3.6, models/train_step), with the pipeline's bubbles;
 * a recorded duration D was measured at s(recorded), so the job runs D * s(new)/s(recorded)
 * (MODELS 3.10), times N/(N - d) when it goes on without d of its N GPUs (5.11). On the recorded
 * layout s(new) and s(recorded) are the same number and the rate is exactly 2^30.
 * What a job waits for others on its links comes from outside (network/periodic), in seconds that its collective takes
 * longer; a training plan then has the step of a layout whose NICs and uplinks are so much slower. So does how long the
 * storage takes: x for the input of a unit of compute (MODELS 3.7),
 *
 *     max(T, x) with prefetch, else T + x      in place of T = 1 + max(0, kappa r(p) - w)
 *
 * All of it is as long as its slowest member's (MODELS 3.8): times noise, times the work of the fullest member, times what the
 * slowest server takes. A server that takes s of the mean makes its own work s times as long; what faster ones wait for it is the
 * account straggler. Recorded servers are not known and count as as many on average.
 * Leaves out: clocks (their share is 0), GPUs of one server that differ for good. */
#ifndef GPUPLAN_CLUSTER_SPEED_H
#define GPUPLAN_CLUSTER_SPEED_H

#include "base/arena.h"
#include "cluster/live.h"
#include "models/collective_time.h"
#include "models/step_curve.h"
#include "models/train_step.h"
#include "spec/plan.h"
#include "spec/scenario.h"

#include <stdbool.h>
#include <stdint.h>

#define RATE_ONE (1u << 30)

/* Where a job would run, as far as its speed depends on it. */
struct speed_place {
    uint32_t servers;
    uint32_t gpus;      /* of all servers; 0 = as many as it asked for                 */
    uint32_t gpus_min;  /* on the server that holds fewest of its GPUs                 */
    uint32_t domains;   /* NVLink domains that hold it; 0 = each server is one of its own */
    uint32_t domain_servers; /* on the domain that holds fewest; 0 = all domains but the last are full */
    uint32_t domain_gpus;    /* on the domain that holds fewest GPUs; unread when that is 0    */
    uint32_t nics;      /* in use on the server that uses fewest (spec/nic_map); 0 = those of its first gpus_min GPUs */
    uint32_t rail_nics; /* of these, on the rail that has most; unread when that is 0          */
    uint32_t slice_units; /* its GPUs are MIG instances of so much of one, in 1,008,000ths, in the mean; 0 = whole */
    uint32_t leaf_servers; /* of it on the leaf that holds most; 0: all that it sends loads uplinks as a ring does */
    uint32_t pair_servers; /* and in one group of a dragonfly at most                            */
    bool spans_leaves;  /* its servers hang on more than one leaf                      */
    bool spans_pods;    /* and these on more than one pod, or group of a dragonfly       */
    /* What its servers take for the same work, over the mean of all servers: the slowest, and the mean of its GPUs. 0 = not
     * known: as much as so many servers give on average (stragglers.servers). */
    double server_time_most, server_time_mean;
};

struct speed_query {
    uint32_t gpus;           /* asked for                                             */
    uint32_t recorded_nodes; /* of the trace; 0 = compact on the recorded server type */
    uint8_t profile;         /* row in the mix; ignored for one GPU                   */
    double kappa_luck;       /* kappa of this job / mean of its profile; 1 = the mean */
    uint32_t left_q30;       /* part of its allocation that it goes on with; 0 = all  */
    struct speed_place place;
    double own_wait_s, others_wait_s; /* its collective takes longer: by its own links as they are now, and
                                       * because others use them too                   */
    double read_s;           /* the input of a second of compute takes; 0 = nothing waits for it */
    double write_wait_s;     /* a checkpoint takes longer, as others write too               */
};

/* What a job wants of the storage, at the speed that the query says. */
struct speed_storage {
    double read_bytes; /* its input for a second of compute; 0 = none                               */
    bool prefetch;
    double step_s; /* a second of compute without waits for input and checkpoints               */
    double wall_s; /* and with both                                                             */
    double checkpoint_frac;     /* of the wall time                                            */
    double write_bytes;         /* of one checkpoint                                             */
    double interval_s, write_s; /* between two, and how long one takes alone; interval 0 = none */
};

/* What a job does over and over, between its servers: one collective a step. */
struct speed_operation {
    double compute_s, hidden_s; /* of a step; what of the compute can overlap                  */
    double unit_s;              /* what of the step is compute, without any wait               */
    const struct step_curve *curve; /* of a training plan: its step, in place of hidden_s; until the next question */
    double alone_s;             /* the collective, alone on the network                        */
    double wire_s;              /* of these its bandwidth terms; with a plan its bytes on the links */
    double bytes;               /* that leave each server (models/collective_time.h)                    */
    struct traffic_part parts[TRAIN_PARTS]; /* of them, when they are not one ring of all servers    */
    uint32_t part_count;
    uint32_t gpus, islands;     /* of the job; NVLink domains that hold it, servers without           */
};

struct speed_answer {
    struct tempo tempo; /* rate_q30: recorded ns of work per ns; shares: 1,008,000 = all of a GPU */
    int64_t cycle_ns; /* wall time from one durable point to the next, C included; 0 = never  */
};

/* Prepared for one layout; holds a memo of collective times by (profile, gpus, placement). */
struct speed;

/* Owned by the arena; NULL when memory is out. */
struct speed *speed_create(const struct scenario *scenario, const struct variant *variant,
                           struct arena *arena);

struct speed_answer speed_of(struct speed *speed, const struct speed_query *query);

/* The all-reduce that a job runs at its placement, alone, and what more of would shorten it most. */
struct speed_choice {
    enum collective_algorithm algorithm;
    enum collective_bottleneck bottleneck;
};

/* False for a job that has none, and for a training plan, each of whose groups has its own (`gpuplan step`). */
bool speed_choice(struct speed *speed, const struct speed_query *query,
                  struct speed_choice *choice);

/* False when the job puts nothing on the network. */
bool speed_operation(struct speed *speed, const struct speed_query *query,
                     struct speed_operation *operation);

/* False when it wants nothing; the times are told all the same. */
bool speed_storage(struct speed *speed, const struct speed_query *query,
                   struct speed_storage *storage);

/* All NICs of one server, one direction. */
double speed_server_bytes_per_s(const struct speed *speed);

/* Whether the mix draws the entry for a job of this size: within its range, and its training plan, if any, divides. */
bool speed_profile_admits(const struct mix_entry *entry, uint32_t gpus);

/* The row of the mix that a uniform u in (0, 1) draws for a job of this size. */
uint8_t speed_profile(const struct scenario *scenario, uint32_t gpus, double u);

/* Work of the fullest member over the mean, >= 1, of a job with this row of the mix. */
double speed_profile_uneven(const struct scenario *scenario, uint8_t profile, uint32_t gpus);

/* The row of the mix whose profile has this id, or PROFILE_UNKNOWN. */
#define PROFILE_UNKNOWN UINT8_MAX
uint8_t speed_profile_named(const struct scenario *scenario, const char *id);

/* Mean time between failures of a job's own parts on this layout, in seconds; infinite without
 * failures (MODELS 5.4: GPUs, servers, links, leaves, software). */
double speed_job_mttf_s(const struct scenario *scenario, uint32_t gpus, uint32_t servers,
                        uint32_t gpus_per_server, uint32_t links_per_server,
                        uint32_t servers_per_leaf, uint32_t rails);

#endif
