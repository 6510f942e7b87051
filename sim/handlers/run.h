/* run.h - one replica of one layout: from the first submission to the last end.
 *
 * Everything that a replica changes hangs on struct run and is given back by it; what replicas
 * share (jobs, classes, tables of luck) is const. One run belongs to one thread. */
#ifndef GPUPLAN_HANDLERS_RUN_H
#define GPUPLAN_HANDLERS_RUN_H

#include "base/diag.h"
#include "cluster/cluster.h"
#include "cluster/live.h"
#include "cluster/request.h"
#include "cluster/running.h"
#include "cluster/speed.h"
#include "cluster/waiting.h"
#include "engine/agenda.h"
#include "handlers/arrivals.h"
#include "handlers/faults.h"
#include "handlers/reasons.h"
#include "ledger/jobstats.h"
#include "ledger/ledger.h"
#include "ledger/results.h"
#include "models/beta.h"
#include "policy/policy.h"
#include "spec/nic_map.h"
#include "spec/plan.h"

#include <stdbool.h>
#include <stdint.h>

/* Quantiles of kappa / mean of one profile: reference on one server, on several. */
struct kappa_table {
    double ratio[2][BETA_ROWS];
};

/* What all runs of a plan share. */
struct run_shared {
    const struct plan *plan;
    struct request_table requests;
    struct day_table days;
    uint8_t *is_common; /* [class_count] 1: every variant of the plan can hold it              */
    bool all_common;
    uint8_t *profile_of_row; /* [jobs] row of the mix that the trace names, PROFILE_UNKNOWN: drawn;
                              * NULL when no row names one                                      */
    struct kappa_table *kappa; /* [mix_count], NULL when no profile spreads                     */
};

/* In the order in which they act within one instant; resources return before they are claimed. */
enum event_kind {
    EV_FINISH,
    EV_LIMIT, /* a job reaches its limit: an end like any other */
    EV_REPAIR,
    EV_CRASH, /* a job's own software fails */
    EV_FAULT,
    EV_DETECT,
    EV_SUBMIT,
    EV_REQUEUE,
    EV_USER, /* `events:` of the scenario */
    EV_WAKE, /* the policy asked for a pass */
    EV_JOIN, /* the start-up of a job is over: it communicates from now on */
    EV_KINDS
};
_Static_assert(EV_LIMIT < EV_SUBMIT && EV_DETECT < EV_SUBMIT && EV_SUBMIT < EV_USER,
               "ends and faults, then submissions, then hands (SCHEDULING 1)");

/* What a span has met of an NVLink domain. */
struct domain_held {
    uint32_t stamp; /* of the span */
    uint32_t nodes, gpus;
};

struct run {
    const struct run_shared *shared;
    const struct plan *plan;
    const struct scenario *scenario;
    const struct variant *variant;
    uint32_t replica; /* or REPLICA_BLAST: faults only                             */
    bool keep_detail;
    struct kept *kept;  /* [kept_room] by live row; see handlers/kept.h                    */
    uint32_t kept_room;

    struct arena *arena;
    struct cluster cluster;
    struct live_table live;
    struct waiting waiting;
    struct running running;
    struct agenda agenda; /* a slot per live row                                       */
    struct faults faults; /* component clocks with their own agenda                    */
    struct arrivals arrivals;
    struct ledger ledger;
    struct jobstats stats;
    struct speed *speed;
    struct contention *contention; /* NULL when jobs do not share the network                  */
    struct demand *demands; /* [class_count] of this layout                              */
    const struct policy *policy;
    void *policy_memory;
    struct policy_view view;
    struct reasons reasons; /* empty unless keep_detail                                      */
    uint32_t overhead_of_rest; /* of virtual machines, in units per GPU of compute and overhead    */
    uint32_t nodes_per_leaf;  /* below one leaf, or the leaves of a unit                     */
    uint32_t nodes_per_place; /* that placement keeps together: a leaf's, or an NVLink domain's */
    uint32_t nodes_per_domain, domain_stamp; /* NVLink domains over nodes (span.h); 1 = none         */
    double *server_time;             /* [servers] of the same work, over the mean; NULL: all are alike */
    struct nic_map nics;             /* of the GPUs of a server                                      */
    uint32_t *node_masks;            /* [nodes] all 0: GPUs of a job; NULL where their number says how many NICs and
                                      * rails they use                                              */
    struct domain_held *leaves, *pods; /* [leaves], [pods] NULL where what leaves them always finds room */
    struct domain_held *domains;     /* [domains] NULL without                                        */
    uint32_t *domain_list;           /* [domains] those that the span has seen                        */
    uint32_t *scratch_nodes;         /* [nodes] of a job that gives back GPUs on sick nodes      */
    uint8_t *hand_down, *hand_drain; /* [nodes] by hand; NULL without events                   */
    uint32_t *hand_link; /* [servers][nics] incident of a NIC that died by an event; ROW_NONE */
    uint32_t *hand_incident; /* [nodes][gpus_per_node + 1] of the last fault of a GPU by hand, and of the
                              * whole node; ROW_NONE: there is none that is not repaired      */
    uint16_t *node_gpus; /* [nodes] all 0: to add up a job's parts by node; NULL: one part a node   */
    struct part *scratch_parts;      /* [nodes] NULL when no job asks for cores or memory        */
    uint64_t key_profile, key_crash; /* streams                                                 */

    int64_t now_ns;
    int64_t end_ns;  /* nothing happens behind it                                 */
    uint64_t serial; /* ties of equal times                                       */
    uint64_t events;
    uint64_t cohort_open;  /* jobs of the cohort that have not ended                    */
    int64_t wake_ns;       /* when the policy wants a pass; TIME_NEVER = not            */
    uint32_t next_user_event; /* row in scenario->events                               */
    int64_t whole_since_ns; /* since when a node is wholly free; TIME_NEVER = none is            */
    bool stuck;            /* nothing will happen any more: who waits then waits for ever  */
    bool plan_needed;      /* something changed that could let a job start              */
    uint32_t fresh_serial; /* first arrival since the last pass                         */
    bool causes_set;       /* free GPUs stand in other accounts than no_demand          */
    bool out_of_memory;
    struct replica_result *result;
};

struct run_request {
    const struct run_shared *shared;
    uint32_t variant; /* row in the plan                                           */
    uint32_t replica; /* or REPLICA_BLAST                                          */
    const struct policy *policy; /* NULL = the scenario's; tests give their own      */
};

/* Prepares the tables that runs share, in the arena. */
enum status run_shared_init(struct run_shared *shared, const struct plan *plan,
                            struct arena *arena);

/* Runs one replica and fills *result, which the caller clears. Returns STATUS_WORLD when memory is out and
 * STATUS_LEDGER when the books do not close (closure_error says by how much). */
enum status run_replica(const struct run_request *request, struct replica_result *result);

/* Called by tests after each instant when set: states every invariant again. */
extern void (*run_probe)(const struct run *run);

#endif
