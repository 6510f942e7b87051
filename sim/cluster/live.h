/* live.h - jobs that have been submitted and have not ended: waiting, running or hung.
 *
 * One row per live job, recycled when the job ends; the same row number names its slot in the
 * agenda. What the event path touches at random is one struct of 64 bytes for the job and one for
 * its attempt. */
#ifndef GPUPLAN_CLUSTER_LIVE_H
#define GPUPLAN_CLUSTER_LIVE_H

#include "base/clock.h"
#include "base/int128.h"
#include "cluster/cluster.h"

#include <stdbool.h>
#include <stdint.h>

enum live_state {
    LIVE_FREE, /* row is not in use                                             */
    LIVE_WAITING,
    LIVE_RUNNING,
    LIVE_HUNG,    /* its part failed; GPUs are held until the fault is detected    */
    LIVE_DELAYED, /* killed, not yet eligible again                                */
    LIVE_BLOCKED, /* not eligible by word of the policy: dependency, hold, begin   */
    LIVE_SUSPENDED, /* stands still; keeps its GPUs                                */
};

struct live_job {
    int64_t submit_ns;
    int64_t work_ns;        /* left at rate 1, as of the last durable point                     */
    int64_t first_start_ns; /* TIME_NEVER before                                                */
    int64_t stopped_ns;     /* last kill, for the cost of the restart                           */
    uint32_t row;           /* in the trace                                                     */
    uint32_t serial;        /* number of the arrival                                            */
    uint32_t request_class;
    uint32_t
        place; /* its entry in the waiting structure of its class; free row: the next free one */
    uint32_t incident; /* that stopped it last, or ROW_NONE                                */
    uint32_t attempts;
    uint16_t kappa_row; /* its row in the table of kappa                                    */
    uint8_t profile;    /* row in the mix                                                   */
    uint8_t state;      /* enum live_state                                                  */
    uint8_t size_class;
    uint8_t in_cohort;
    uint8_t cancelled; /* while it hung: it is over when its fault is noticed                */
};

/* How fast an attempt works and where its GPU-time goes, between two changes. */
struct tempo {
    uint32_t rate_q30; /* work ns per ns, 2^30 = reference speed                                 */
    uint32_t straggler; /* this and what follows: units per asked GPU; 1,008,000 need 20 bits   */
    uint64_t intra : 21, inter : 21, contention : 21;
    uint64_t data : 21, bubble : 21, checkpoint : 21;
};

/* Field by field: the bits between them are whatever the compiler left there. */
static inline bool tempo_equal(const struct tempo *a, const struct tempo *b)
{
    return a->rate_q30 == b->rate_q30 && a->intra == b->intra && a->inter == b->inter &&
           a->contention == b->contention && a->data == b->data && a->bubble == b->bubble &&
           a->checkpoint == b->checkpoint;
}

struct attempt {
    int64_t start_ns;
    int64_t work_start_ns;   /* start-up ends, work begins                                       */
    int64_t expected_end_ns; /* what the scheduler believes                                      */
    struct tempo tempo;      /* since cycle.tempo_ns                                             */
    uint32_t first_grant;  /* GRANT_NONE while it holds nothing                                */
    uint32_t held, broken; /* whole GPUs held; of these, broken ones of a hung attempt         */
    uint32_t share_units;  /* parts of GPUs held beside them                                   */
};

/* An earlier tempo of an attempt: it ended when the next one began. */
struct past_tempo {
    int128 done_q30; /* of live_job.work_ns when it began, in ns * 2^30                          */
    int64_t from_ns;
    struct tempo tempo;
    uint32_t next; /* PAST_NONE: what followed is the attempt's own                              */
};
#define PAST_NONE UINT32_MAX

/* Checkpoints of an attempt, and what is seldom needed. */
struct cycle {
    int64_t fault_ns;   /* TIME_NEVER while it works                                        */
    int64_t tempo_ns;   /* since when it works at its tempo; work_start_ns at first          */
    int64_t cycle_ns;   /* wall time from one durable point to the next; 0 = none written   */
    int64_t durable_ns; /* of a hung attempt: when its last durable point was               */
    int64_t next_startup_ns; /* start-up of the next attempt; NEXT_STARTUP_USUAL = as timing.h says */
    uint32_t broken_share_units; /* parts of broken GPUs of a hung attempt                 */
    uint32_t first_past, last_past; /* earlier tempos since the last durable point, oldest first;
                                     * PAST_NONE = there are none. What was before is no longer
                                     * in live_job.work_ns                                  */
    uint32_t done_q30;  /* less than one ns of live_job.work_ns, done before the oldest of these */
    uint32_t left_q30; /* part of its allocation that is left, 2^30 = all; 0 = it lost no node       */
    uint8_t algorithm, bottleneck; /* of its all-reduce: 1 + enum collective_..., with detail; else 0   */
};

_Static_assert(sizeof(struct attempt) <= 64, "an attempt is one cache line");
_Static_assert(sizeof(struct cycle) <= 64, "and its cycle another");
_Static_assert(sizeof(struct live_job) <= 64, "a live job stays small");

#define NEXT_STARTUP_USUAL (-1)

struct live_table {
    struct live_job *jobs;    /* [capacity] */
    struct attempt *attempts; /* [capacity] */
    struct cycle *cycles;     /* [capacity] */
    uint32_t count, capacity, first_free, in_use;
    struct past_tempo *past; /* [past_capacity] of all attempts, recycled                   */
    uint32_t past_count, past_capacity, past_free;
};

bool live_init(struct live_table *live, uint32_t capacity);
void live_clear(struct live_table *live);

/* A zeroed row in state LIVE_WAITING, or LIVE_NONE when memory is out. Addresses may change. */
uint32_t live_take(struct live_table *live);
void live_give(struct live_table *live, uint32_t row);

/* Work of live_job.work_ns that an attempt had done when its tempo of now began, in ns * 2^30. */
int128 live_done_q30(const struct live_table *live, uint32_t row);

/* The tempo of an attempt becomes its youngest past one; false when memory is out. live_forget_first takes the
 * oldest off, live_forget_past all. */
bool live_keep_tempo(struct live_table *live, uint32_t row);
void live_forget_first(struct live_table *live, uint32_t row);
void live_forget_past(struct live_table *live, uint32_t row);

#endif
