/* periodic.h - jobs that compute and communicate in turn, on links that they share (MODELS 4.3, 4.4).
 *
 * A step of a job is compute_s, then communication of alone_s of which hidden_s can overlap:
 *
 *     T = compute + max(0, communication - hidden)
 *
 * or, with a training plan, what its curve says of the time that its bandwidth terms take.
 *
 * The communication is one collective in lock step: one variable, operations a second, that puts use.bytes on each of its
 * links. Alone it takes alone_s, of which wire_s are its bandwidth terms; with others on its links they take longer:
 *
 *     upper   all jobs always communicate: rates are max-min fair (network/flow_net), weighted by parallel flows
 *     lower   perfect interleaving: step rates as high as alone, unless a link cannot carry what all bring together
 *     mean    random phases: on each link that can be full, a job meets each other one in the share of its step in which
 *             that one communicates; the fullest link counts; at most as long as `upper`, and where a link would then
 *             carry more than it can, at least as long as `lower`. Against jobs stepped one by one (tests/test_steps) 2 %
 *             short to 5 % long where jobs have equally many flows, to 14 % long where one has twice as many
 *
 * Rows of one job that never communicate at once, as its collective and the checkpoint that blocks it, do not meet: a job
 * alone waits for nobody. Beside the jobs streams may flow over a link at all times (input read ahead): jobs share what is left
 * of it, at least half. What of them is the job's own counts as its own wait.
 *
 * A link that cannot be full, whatever the others do (the sum of what its jobs bring when they communicate alone is within its
 * capacity), is left out: it slows nobody, exactly. What a job waits because its own links are slower than wire_s says (a
 * cable lost lanes) is told apart from what it waits for others.
 * Tests: tests/test_periodic.c; models/contention is the same on one link */
#ifndef GPUPLAN_NETWORK_PERIODIC_H
#define GPUPLAN_NETWORK_PERIODIC_H

#include "models/step_curve.h"
#include "network/fabric.h"

#include <stdbool.h>
#include <stdint.h>

#define PERIODIC_NONE UINT32_MAX
#define PERIODIC_STREAM_MOST 0.5 /* of a link, before its jobs take their share [A] */

enum estimate { ESTIMATE_LOWER, ESTIMATE_MEAN, ESTIMATE_UPPER, ESTIMATES };

struct periodic_job {
    double compute_s; /* > 0 */
    double hidden_s;  /* >= 0 */
    double alone_s;   /* >= wire_s */
    double wire_s;    /* > 0 */
    double routed_s;  /* what its own flows take at least, where they meet on a cable; 0 = wire_s */
    const struct step_curve *curve; /* copied; NULL: compute_s and hidden_s say its step */
};

/* What a job waits, in seconds of communication an operation, beyond alone_s. */
struct periodic_wait {
    double own_s;                /* alone on its links as they are now, with its own streams    */
    double others_s[ESTIMATES];  /* and what others add to it                                   */
};

struct periodic;

/* create/destroy; NULL when memory is out; destroy takes NULL. Links are rows from 0, added in order; false: no memory. */
struct periodic *periodic_create(void);
void periodic_destroy(struct periodic *net);
bool periodic_link(struct periodic *net, double bytes_per_s);
void periodic_set_capacity(struct periodic *net, uint32_t link, double bytes_per_s);
double periodic_capacity(const struct periodic *net, uint32_t link);

/* What jobs and streams leave each other of a link: its rest, at least half of it. */
static inline double periodic_left(double capacity, double taken)
{
    const double least = (1 - PERIODIC_STREAM_MOST) * capacity;
    return capacity - taken > least ? capacity - taken : least;
}

/* A job; its uses are copied, each link once. Its row, or PERIODIC_NONE when memory is out. A row is given again when its
 * job has left. */
uint32_t periodic_add(struct periodic *net, const struct periodic_job *job,
                      const struct link_use *uses, uint32_t count);
void periodic_remove(struct periodic *net, uint32_t row);

/* Each step also waits so long for something else, its links idle: T + pause_s; 0 at first. False: no memory. */
bool periodic_set_pause(struct periodic *net, uint32_t row, double pause_s);

/* A row that excludes none yet and one of the same job, with all that this one excludes, never communicate at once; until it
 * leaves. No link is used by more than two of them. */
void periodic_exclude(struct periodic *net, uint32_t row, uint32_t other);

/* All that streams take of a link, bytes a second; and what of it is of the job of a row, by link; false: no memory. */
void periodic_set_stream(struct periodic *net, uint32_t link, double bytes_per_s);
bool periodic_set_own_streams(struct periodic *net, uint32_t row, const double *by_link);

/* Brings the waits up to date. Returns how many jobs were looked at, and their rows in *rows, ascending, borrowed until the
 * next call. The waits of the others are what they were, to the bit. */
uint32_t periodic_solve(struct periodic *net, const uint32_t **rows);

const struct periodic_wait *periodic_wait(const struct periodic *net, uint32_t row);

/* Share of its step that a job waits for others, under an estimate. */
double periodic_share(const struct periodic *net, uint32_t row, enum estimate estimate);

/* Operations a second of a job, averaged over its steps; ESTIMATES: it waits for no others. */
double periodic_rate(const struct periodic *net, uint32_t row, enum estimate estimate);

/* How long a step is without its pause. */
double periodic_busy_s(const struct periodic *net, uint32_t row, enum estimate estimate);

/* The link that a job waits for most by `mean`, PERIODIC_NONE when it waits for none; and its uses, in no order, borrowed
 * until the next call that changes the net. */
uint32_t periodic_fullest(const struct periodic *net, uint32_t row);
uint32_t periodic_uses(const struct periodic *net, uint32_t row, const struct link_use **uses);

#endif
