/* results.h - what one replica of one layout leaves behind. Plain data: io stores it. */
#ifndef GPUPLAN_LEDGER_RESULTS_H
#define GPUPLAN_LEDGER_RESULTS_H

#include "base/int128.h"
#include "base/log.h"
#include "ledger/accounts.h"
#include "spec/scenario.h"

#include <stdbool.h>
#include <stdint.h>

#define REPLICA_BLAST UINT32_MAX /* number of the pooled failure-only run of a layout */
#define ROW_NONE      UINT32_MAX

/* One fault with everything it took. GPU-time is in whole GPU-nanoseconds, 128 bits: 64 hold only 292
 * GPU-years, and a job of 16,384 GPUs that saves nothing loses them in a week. */
struct incident {
    int64_t at_ns, repaired_ns; /* TIME_NEVER when the run ended first                         */
    uint8_t component;          /* enum component                                              */
    uint32_t element;           /* row of the GPU, server, link, leaf or job                   */
    uint32_t gpus_broken;       /* by the fault itself: 1, g, ...; 0 for leaf and job          */
    uint32_t gpus_removed; /* left the schedulable set, healthy ones of a drained server included */
    uint32_t gpus_stopped,
        jobs_hit;           /* sizes of the jobs that it killed                            */
    int128 lost_gpu_ns;     /* work rolled back, with the stalls inside it, and detection  */
    int128 restart_gpu_ns; /* from the kill to new progress, at most to the next fault of the job
                             * or the end of the run, times the job's GPUs                 */
    int128 down_gpu_ns;     /* GPUs out, from the fault to the repair, within the run      */
};

/* Names of enum component in an incident: "gpu", "server", "link", "leaf", "job". */
extern const char *const incident_component_names[COMPONENTS];

/* How a job of the replica ended. */
enum job_end { END_FINISHED, END_KILLED, END_REJECTED, END_RUNNING, END_QUEUED, JOB_ENDS };
extern const char *const job_end_names[JOB_ENDS];

/* Detail of jobs, kept when `detail` asks for it. */
struct job_row {
    uint32_t serial;    /* number of the arrival in this replica, from 0               */
    uint32_t trace_row; /* row in jobs                                                 */
    int64_t submit_ns, first_start_ns,
        end_ns; /* TIME_NEVER when it did not happen                 */
    uint32_t gpus, attempts;
    uint8_t end;       /* enum job_end                                                */
    uint8_t in_cohort; /* submitted inside the window                                 */
    uint32_t request;  /* row in the table of requests                                */
    const char *reason; /* why it was rejected, a constant text; NULL unless END_REJECTED */
};

/* Why the waiting jobs of a request do not start: the first that holds. */
enum wait_cause {
    WAIT_RESOURCES,   /* it asks for more GPUs than are free                            */
    WAIT_DOWN,        /* it would start if the nodes were there that are out or drained  */
    WAIT_FRAGMENTED,  /* enough GPUs are free, not in its shape                          */
    WAIT_CORES,       /* the shape is free, on too few nodes with the cores beside it    */
    WAIT_MEMORY,      /* or with the memory                                              */
    WAIT_HOST,        /* the shape is free; cores and memory lack, or no node has both   */
    WAIT_PRIORITY,    /* it fits; the order of the queue lets nobody pass                */
    WAIT_RESERVATION, /* it fits; starting it would delay the head of the queue          */
    WAIT_POLICY,      /* it fits; the policy keeps it and has no word for it             */
    WAIT_CAUSES
};
/* "resources", "down nodes", "fragmentation", "cores", "memory", "host", "priority", "reservation", "policy". */
extern const char *const wait_cause_names[WAIT_CAUSES];

/* A request of which some job has waited, as this layout serves it. */
struct request_row {
    uint32_t request, gpus, held; /* asked for, and allocated in the plain shape               */
    uint32_t share_units;         /* parts of one GPU, 0 = none; 1 GPU = UNITS_PER_GPU         */
    uint32_t nodes, per_node;     /* it fits on `nodes` nodes with per_node GPUs free each     */
    uint32_t nodes_max, cores;    /* with slack; cores of the whole job, 0 = none asked        */
    uint64_t memory_bytes;        /* of the whole job, 0 = none asked                          */
};

/* From from_ns on, for the jobs of the request that wait, up to its next row. No row while none of
 * them waits, so what holds between the last wait and the next row says nothing. */
struct cause_row {
    int64_t from_ns;
    uint32_t request;
    uint32_t free_gpus, out_gpus; /* of the layout at from_ns; out: down or draining, held by nobody */
    uint8_t cause;                /* enum wait_cause                                           */
};

/* From from_ns on the job waits for a reason of its own, which stands before that of its request; NULL:
 * no more. */
struct word_row {
    int64_t from_ns;
    uint32_t serial;
    const char *word; /* "restart", or the policy's own; constant text                         */
};

enum attempt_end {
    ATTEMPT_FINISHED,
    ATTEMPT_KILLED_LIMIT,
    ATTEMPT_FAILED,
    ATTEMPT_CUT, /* run over */
    ATTEMPT_PREEMPTED,
    ATTEMPT_SUSPENDED, /* what follows is an attempt of its own */
    ATTEMPT_CANCELLED,
    ATTEMPT_REFUSED, /* by its node: of no length, held nothing (Kubernetes: TopologyAffinityError) */
    ATTEMPT_ENDS
};
extern const char *const attempt_end_names[ATTEMPT_ENDS];

struct attempt_row {
    uint32_t serial, attempt; /* job and number of the attempt, from 0                       */
    int64_t start_ns, fault_ns,
        end_ns;         /* fault_ns: TIME_NEVER unless it failed                    */
    int64_t durable_ns; /* wall time of the last durable point: what follows was lost  */
    int64_t startup_ns; /* start-up at its beginning                                   */
    uint32_t gpus_held, gpus_asked, servers;
    uint32_t broken_gpus; /* of its GPUs broken by the fault                             */
    int64_t
        units[ACC_OVERHEAD +
              1]; /* level of each held account while it works, those of its end where they
                   * changed (struct kept_row); sums to gpus_held * UNITS_PER_GPU */
    int64_t checkpoint_fix_unit_ns
        [2];     /* high, low 64 bits of what one move corrected at a normal end (signed) */
    uint8_t end; /* enum attempt_end                                            */
    uint8_t class_;
    const char *algorithm, *bottleneck; /* of its all-reduce, constant words; NULL: it has none */
};

/* Of an attempt whose levels changed while it worked: the GPU-time that was kept, from the end of its start-up on, in one
 * part of the run. */
enum run_part { PART_BEFORE, PART_WINDOW, PART_BEHIND, RUN_PARTS };
struct kept_row {
    uint32_t serial, attempt;
    uint8_t part;                    /* enum run_part                                    */
    int128 unit_ns[ACC_OVERHEAD + 1]; /* by held account, units * ns                      */
};

/* One direction of the cables between two places of the network, over the window. */
struct link_row {
    char name[48]; /* "leaf 3 out" */
    double capacity_bytes_per_s;
    double load;             /* mean over the window, of the capacity                            */
    double contention_gpu_s; /* GPU-time of running jobs that waited for others here more than elsewhere */
};

struct allocation_row {
    uint32_t serial, attempt, server;
    uint32_t gpu_mask;
};

struct metric_row {
    char name[40];  /* "wait_s_p95"; one quantity, its unit in the name            */
    char unit[8];   /* "s", "1", "gpu_h"                                           */
    uint8_t class_; /* enum size_class; CLASS_NONE = all jobs                      */
    double value;   /* finite                                                      */
};

struct replica_result {
    uint32_t layout_row; /* row in plan's layout variants                               */
    uint32_t replica;    /* from 0, or REPLICA_BLAST                                    */
    uint32_t setting;    /* row in plan's settings; 0 = the scenario as written */
    uint64_t events;
    double seconds; /* wall time: volatile, not digested                           */
    int64_t window_start_ns,
        window_end_ns;      /* the ledger's window: warm-up to horizon              */
    int64_t run_end_ns;     /* last instant simulated                                      */
    int64_t capacity_units; /* GPUs * UNITS_PER_GPU                                        */

    int128 ledger[ACCOUNTS]
                 [CLASSES]; /* units * ns inside the window                                */
    int128 ledger_all[ACCOUNTS]
                     [CLASSES]; /* units * ns from 0 to run_end_ns                        */
    int128 at_risk;             /* compute inside the window that no checkpoint had made durable */
    uint32_t bin_count;
    int64_t *bin_start_ns; /* [bin_count + 1], the last is the end; from malloc           */
    int128 *bins;          /* [bin_count][ACCOUNTS] units * ns; from malloc               */

    uint64_t jobs_submitted,
        jobs_end[JOB_ENDS]; /* over the whole run: submitted = sum              */
    int64_t whole_node_ns;  /* of the window, with one and more of the largest nodes wholly free */
    bool to_the_end;        /* played until all jobs have ended (time.horizon: all)       */
    uint32_t jobs_stuck;    /* of it: jobs left that nothing to come lets end             */
    uint32_t stuck_row;     /* of the trace: the first of them                            */
    bool has_moves;         /* the scheduler moves running jobs                         */
    uint64_t moves;         /* of running jobs to other nodes, inside the window        */
    bool has_refusals;      /* nodes may refuse pods                                    */
    uint64_t refusals;      /* of pods by their nodes, inside the window                */
    struct log metrics;     /* struct metric_row                                           */
    struct log incidents;   /* struct incident, in order of time                           */
    struct log jobs, attempts, allocations, kept, links; /* detail; empty unless asked for        */
    struct log requests, causes, words; /* struct request_row, cause_row, word_row: detail too   */
    bool has_contention;  /* jobs shared the network                                      */
    /* GPU-time of running jobs inside the window that waits for others, units * ns: by the estimate that was used, and
     * what the two extreme ones would make of the same jobs at the same places and times. */
    int128 contention_used, contention_lower, contention_upper;
    int128 closure_error; /* capacity * time - sum of accounts: must be 0                */
};

/* Gives everything back and zeroes the result; a zeroed result is allowed. */
void replica_result_clear(struct replica_result *result);

#endif
