/* slurm_ready.h - which waiting jobs may be looked at: no hold, no dependency, no begin time, no full array in the way.
 *
 * Each waiting job is ready or blocked; slurm_ready_next tells who changed, so that passes only ever see ready jobs. A
 * task of an array with a throttle (%k) is ready only while fewer than k tasks are ready or run: tasks become ready in
 * order of their index. Slurm itself looks at no more pending tasks than may start.
 *
 * A job that is held, released, requeued or started twice in a row is a bug of the caller.
 * Source: SCHEDULING.md 2.2, 2.9; job states and reasons of recordings s21, s22, s23. Tests: tests/test_slurm_ready.c */
#ifndef GPUPLAN_POLICY_SLURM_READY_H
#define GPUPLAN_POLICY_SLURM_READY_H

#include "policy/slurm_depend.h"

/* What stands in the way of a waiting job, as bits. */
enum {
    BLOCKED_HELD = 1,
    BLOCKED_DEPENDENCY = 2,
    BLOCKED_BEGIN = 4,
    BLOCKED_ARRAY = 8,
};

enum slurm_ready_state {
    READY_GONE, /* no such job waits                                                           */
    READY_WAITS,
    READY_RUNS,
};

enum slurm_ready_told { TOLD_NOTHING, TOLD_BLOCKED, TOLD_READY };

struct slurm_ready_job {
    int64_t begin_ns; /* of BLOCKED_BEGIN and of dependencies with minutes                         */
    int64_t since_ns; /* ready since                                                            */
    uint32_t row;
    uint32_t next_parked; /* in the list of its array                                            */
    uint8_t blocked;
    uint8_t state;   /* enum slurm_ready_state                                                   */
    bool admitted;   /* counts for its array                                                     */
    bool stopped;    /* its attempt has ended                                                    */
    uint8_t told;    /* enum slurm_ready_told: what the caller knows                               */
    bool in_changed;
    bool never, invalid;
};

/* An array with a throttle. */
struct slurm_array {
    uint32_t limit, admitted;
    uint32_t first_parked, last_parked; /* live rows by row of the trace                          */
};

struct slurm_timer {
    int64_t at_ns;
    uint32_t live;
};

struct slurm_ready {
    const struct slurm_spec *spec; /* borrowed, like jobs                                        */
    const struct jobs *jobs;
    struct slurm_depend depend;
    struct slurm_ready_job *lives; /* [live_capacity] by live row                                */
    uint32_t live_capacity;
    uint32_t *live_of;   /* [jobs->count] NULL when nobody depends on anything or is heterogeneous   */
    uint32_t *array_of;  /* [jobs->count] by row of the first task; NULL without any throttle      */
    struct slurm_array *arrays;
    uint32_t array_count, array_capacity;
    struct slurm_timer *timers; /* a heap by time                                               */
    uint32_t timer_count, timer_capacity;
    uint32_t *changed;   /* [changed_capacity] live rows whose state is to be told                  */
    uint32_t changed_count, changed_given, changed_capacity;
    bool out_of_memory;
};

bool slurm_ready_init(struct slurm_ready *ready, const struct slurm_spec *spec,
                      const struct jobs *jobs);
void slurm_ready_clear(struct slurm_ready *ready);

/* What happens to jobs; times never go back. out_of_memory is to be looked at after each. */
void slurm_ready_submit(struct slurm_ready *ready, uint32_t live, uint32_t row, int64_t now_ns);
void slurm_ready_hold(struct slurm_ready *ready, uint32_t live, bool on, int64_t now_ns);
/* It has its nodes; and it runs on them, at once or when they are up. */
void slurm_ready_holds(struct slurm_ready *ready, uint32_t live);
void slurm_ready_start(struct slurm_ready *ready, uint32_t live, int64_t now_ns);
/* The attempt has ended, for good or not: its place in an array is free. May be left out when it waits again at once. */
void slurm_ready_stop(struct slurm_ready *ready, uint32_t live, int64_t now_ns);
/* It ended by an exit code of RequeueExitHold, which afternotok takes for a failure. */
void slurm_ready_special(struct slurm_ready *ready, uint32_t live, int64_t now_ns);
/* And now it waits again, held or not. */
void slurm_ready_again(struct slurm_ready *ready, uint32_t live, bool held, int64_t now_ns);
/* It is over, whether it ran or not. ok: it ended with exit code 0. */
void slurm_ready_over(struct slurm_ready *ready, uint32_t live, bool ok, int64_t now_ns);

enum slurm_ready_change {
    CHANGE_READY,
    CHANGE_BLOCKED,
    CHANGE_REFUSE, /* it is to leave: an impossible dependency with kill_invalid_depend, or one that names no job */
};

/* The next waiting job whose readiness differs from what was told last, in the order of the events; false: no more. A
 * job that is new or waits again is told once in any case. *reason: of a refusal. */
bool slurm_ready_next(struct slurm_ready *ready, int64_t now_ns, uint32_t *live,
                      enum slurm_ready_change *change, const char **reason);

/* Whether slurm_ready_next has something to tell without that time passes. */
static inline bool slurm_ready_open(const struct slurm_ready *ready)
{
    return ready->changed_given < ready->changed_count;
}

/* The live row of a row of the trace, where some job depends on another or is heterogeneous; LIVE_NONE = it does not
 * wait or run. */
static inline uint32_t slurm_ready_live(const struct slurm_ready *ready, uint32_t row)
{
    return ready->live_of[row];
}

/* When the next job becomes ready by time alone; TIME_NEVER = none. */
int64_t slurm_ready_wake_ns(const struct slurm_ready *ready);

/* Why a blocked job waits, in squeue's words; NULL for a ready one. */
const char *slurm_ready_reason(const struct slurm_ready *ready, uint32_t live);

/* Since when it is ready: its age for priority/multifactor starts there. */
static inline int64_t slurm_ready_since_ns(const struct slurm_ready *ready, uint32_t live)
{
    return ready->lives[live].since_ns;
}

#endif
