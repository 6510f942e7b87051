/* policy.h - a scheduling policy: proposes one start at a time and changes nothing.
 *
 * The cluster and the queue are const to it; it keeps a private memory. The handlers tell it what
 * happened (note), ask for one decision (next), apply it and ask again until there is none. */
#ifndef GPUPLAN_POLICY_POLICY_H
#define GPUPLAN_POLICY_POLICY_H

#include "cluster/cluster.h"
#include "cluster/running.h"
#include "cluster/waiting.h"
#include "spec/jobs.h"
#include "spec/plan.h"
#include "spec/scenario.h"

#include <stdbool.h>
#include <stdint.h>

/* How an attempt came to its end. */
enum attempt_close {
    CLOSE_FINISHED,
    CLOSE_LIMIT,     /* killed at its limit                                                      */
    CLOSE_NODE_FAIL, /* a part of it failed                                                      */
    CLOSE_CRASH,     /* its own software failed                                                  */
    CLOSE_REQUEUED,  /* by a user                                                                */
};

/* What every policy sees. */
struct policy_view {
    const struct cluster *cluster;
    const struct waiting *waiting;
    const struct running *running;
    const struct live_table *live;
    const struct demand *demands; /* [class_count]                                            */
    const struct scenario *scenario;
    const struct layout *layout;
    const struct variant *variant;
    const struct jobs *jobs;
    const struct request_table *requests;
    uint64_t key; /* of the random stream "policy", for stream_uniform                        */
    enum placement placement;
    struct scorer *scorer; /* place_scored.h; NULL = no job is placed by scores                 */
    uint64_t *blocked_at; /* [class_count] cluster->releases + 1 when the shape of the class
                           * fitted but no host did: holds until something is released     */
    bool *out_of_memory;  /* set by a policy whose memory is out: the run ends             */
};

/* Something happened. */
enum note_kind {
    NOTE_SUBMIT,        /* a new job waits                                                        */
    NOTE_START,         /* after the claim                                                        */
    NOTE_END,           /* a job is about to give its GPUs back, for good or not                    */
    NOTE_DROP,          /* a waiting job leaves the queue without a start                          */
    NOTE_REQUEUE,       /* a job that ran waits again                                              */
    NOTE_OVER,          /* a job has ended for good; `end` says how; its row is about to be recycled */
    NOTE_NODES_CHANGED, /* a node or GPU went out or came back                                     */
    NOTE_LOST_NODES,    /* a running job has lost nodes and goes on with what it holds now            */
    NOTE_HOLD,          /* a user held (`on`) or released a waiting job                            */
};
struct note {
    enum note_kind kind;
    int64_t at_ns;
    uint32_t live; /* LIVE_NONE for nodes                                                         */
    uint8_t end;   /* enum job_end of NOTE_OVER; a failed job (exit code, node failure) is END_KILLED */
    bool on;
};

enum decide {
    DECIDE_START,     /* the waiting job starts on these parts, with what it holds already            */
    DECIDE_CLAIM,     /* the waiting job takes these parts and does not start: a gang that is incomplete */
    DECIDE_GIVE_BACK, /* the waiting job gives back all that it holds                                */
    DECIDE_FAIL_POD,  /* a node refused the part that the waiting job was to have on it: it holds nothing there, its
                       * attempts are one more; `reason` is its word until it is asked again          */
    DECIDE_BLOCK,     /* the waiting job is no demand: a dependency, a hold, a begin time            */
    DECIDE_ELIGIBLE,  /* and is again                                                             */
    DECIDE_REFUSE,    /* the waiting or blocked job ends without a run; `reason` says why             */
    DECIDE_PREEMPT,   /* the running job stops and waits again, eligible after delay_ns; work since its
                       * last durable point is lost unless keeps_work                             */
    DECIDE_CANCEL,    /* the running job is stopped for good                                        */
    DECIDE_SUSPEND,   /* the running job stands still: GPUs are kept, cores are free                  */
    DECIDE_RESUME,    /* and goes on                                                              */
    DECIDE_MOVE,      /* the running job goes on elsewhere after cost_ns                             */
    DECIDE_NODE_OUT,  /* part->node takes no new jobs (power saving, upgrades); its idle GPUs are draining */
    DECIDE_NODE_BACK,
};
struct decision {
    enum decide what;          /* 0 = start                                                        */
    uint32_t live;
    const struct part *parts;  /* borrowed until the next call                                     */
    uint32_t part_count;
    int64_t delay_ns, cost_ns;
    bool keeps_work;
    const char *reason;        /* a constant text                                                  */
};

/* What becomes of an attempt that ended otherwise than by finishing its work, or whose job asked for it by
 * its exit code. */
struct sequel {
    bool again;        /* the job waits again after delay_ns; false: it is over                      */
    int64_t delay_ns;
};

/* What keeps a waiting job whose request fits now, when the policy has no word for it. */
enum kept_by { KEPT_BY_POLICY, KEPT_BY_ORDER, KEPT_BY_RESERVATION };

struct policy {
    const char *name, *help;
    size_t memory_bytes; /* of its private memory, zeroed before init                     */
    bool (*init)(void *memory, const struct policy_view *view, struct arena *arena);
    void (*note)(void *memory, const struct policy_view *view, struct note note);
    /* One decision, or false: nothing more can start now. `fresh_serial`: when not SERIAL_NONE,
     * nothing changed since the last pass but the arrival of jobs from this serial on. */
    bool (*next)(void *memory, const struct policy_view *view, int64_t now_ns,
                 uint32_t fresh_serial, struct decision *decision);
    /* A pass begins. */
    void (*begin)(void *memory);

    /* All below may be NULL. */
    void (*clear)(void *memory); /* gives back what init took outside the arena                      */
    /* When it wants a pass although nothing happens; TIME_NEVER = not. Asked after every pass. */
    int64_t (*next_wake_ns)(void *memory, const struct policy_view *view, int64_t now_ns);
    /* Whether a wake-up that it wants may let a job start though nothing happens. NULL: any may. */
    bool (*time_helps)(void *memory, const struct policy_view *view);
    /* The attempt of this job is over. NULL: a failed job waits again, any other is over. */
    struct sequel (*sequel)(void *memory, const struct policy_view *view, uint32_t live,
                            enum attempt_close how);
    /* Whether a job that a fault of this component stopped goes on with those of its nodes that are up; NULL: none does. */
    bool (*goes_on)(void *memory, const struct policy_view *view, uint32_t live,
                    enum component component);
    /* From a fault of this component to its detection; NULL: failures.detection. */
    int64_t (*detection_ns)(void *memory, const struct policy_view *view, enum component component);
    /* Why the waiting job does not start, as a constant word in the system's own terms ("Priority"), or
     * NULL: the policy has nothing to add to what the free GPUs say. */
    const char *(*reason)(void *memory, const struct policy_view *view, uint32_t live);
    bool after_each_event; /* a pass after every event instead of one an instant                    */
    enum kept_by kept_by;
};

extern const struct policy policy_fcfs, policy_easy, policy_easy_event, policy_conservative,
    policy_sjf, policy_srtf, policy_las;
extern const struct policy policy_slurm;
extern const struct policy policy_static;

/* The policy of an order under scheduler.kind plain; the same with rounds of moves (scheduler.defragmentation), NULL
 * where that is not built. */
const struct policy *policy_plain(enum order order);
const struct policy *policy_defragmenting(enum order order);

/* The policy of a scenario. */
const struct policy *policy_of(const struct scenario *scenario);

#endif
