/* periodic_parts.h - what the files of the net of periodic jobs share. Not for others. */
#ifndef GPUPLAN_NETWORK_PERIODIC_PARTS_H
#define GPUPLAN_NETWORK_PERIODIC_PARTS_H

#include "base/int128.h"
#include "network/columns.h"
#include "network/flow_net.h"
#include "network/periodic.h"

#define PERIODIC_FINE 1048576.0 /* of struct link_sum.asked */
/* What a link must be asked for, over its capacity, to slow anybody. */
#define PERIODIC_FULL (1 + 1e-9)

struct periodic_entry {
    struct periodic_job job;
    struct periodic_wait wait;
    double pause_s; /* of each step, its links idle */
    struct link_use *uses; /* [use_room] owned, kept for the row's next job */
    uint32_t count, use_room;
    struct step_point *points; /* [point_room] owned, likewise; of its curve */
    uint32_t point_count, point_room;
    uint32_t full;       /* the first so many uses are of links with link_sum.full */
    double mean_s, duty; /* of the rounds of `mean` */
    uint32_t fullest;    /* link that made mean_s; PERIODIC_NONE: its own */
    uint32_t walk;       /* the last one that came by                     */
    uint32_t next;       /* row of the same job that never meets this one: a ring; itself when there is none */
    double *streams;     /* [use_room] of its own job, in the order of uses; NULL = none */
};

struct link_sum {
    /* By its jobs when each communicates alone, of rows that exclude each other the larger part, in 1/PERIODIC_FINE B/s: whole,
     * so that no order matters. */
    int128 asked;
    double meeting; /* sum of duty times flows                                      */
    double s_per_byte; /* of what streams leave of it                               */
    double load;    /* by `mean`, bytes a second                                    */
    uint32_t walk;  /* the last one that came by                                    */
    bool full;      /* it can be; as of the last solve                              */
    bool touched;   /* something on it changed since                                */
    bool streamed;  /* there are streams on it                                      */
};

/* What solving seldom asks for. */
struct link_rest {
    double capacity, stream; /* bytes a second; of streams on it                          */
    int64_t crowd;           /* its jobs' flows, in 1/PERIODIC_FINE                       */
    double own;              /* scratch: of the rows that an entry never meets; else 0    */
    int128 asked_once;       /* scratch: by one row; else 0                               */
};

/* Two nets with the same links and jobs, in the same rows: of collectives and of steps. */
struct periodic {
    struct flow_net *upper, *lower;
    struct periodic_entry *entries; /* [entry_room] by row             */
    struct link_sum *sums;          /* [link_room]                     */
    struct link_rest *rest;         /* [link_room]                     */
    uint32_t *touched, *path;       /* [link_room] links; of a walk    */
    struct flow_use *scratch;       /* [scratch_room]                  */
    uint32_t *rows;                 /* [entry_room] what solve returns */
    struct row_set reached;         /* rows to be looked at            */
    uint32_t entry_room, links, link_room, scratch_room, touched_count, walks;
};

/* A step of a job whose bandwidth terms take so long, without its pause and with it. */
static inline double periodic_busy_of(const struct periodic_entry *entry, double wire_s)
{
    const struct periodic_job *job = &entry->job;
    if (entry->point_count > 0) return step_curve_at(entry->points, entry->point_count, wire_s);
    const double exposed = job->alone_s - job->wire_s + wire_s - job->hidden_s;
    return job->compute_s + (exposed > 0 ? exposed : 0);
}

static inline double periodic_step_of(const struct periodic_entry *entry, double wire_s)
{
    return entry->pause_s + periodic_busy_of(entry, wire_s);
}

/* The shortest bandwidth terms that make the step so long, where any of them is exposed. */
static inline double periodic_wire_of(const struct periodic_entry *entry, double step_s)
{
    const struct periodic_job *job = &entry->job;
    if (entry->point_count > 0)
        return step_curve_wire_s(entry->points, entry->point_count, step_s - entry->pause_s);
    return step_s - entry->pause_s - job->compute_s + job->hidden_s + job->wire_s - job->alone_s;
}

/* How fast a job communicates when it is alone on healthy links. */
static inline double periodic_least_s(const struct periodic_job *job)
{
    return job->routed_s > job->wire_s ? job->routed_s : job->wire_s;
}

/* Puts a use of one of the two parts of an entry, by whether its link can be full, into the other one. */
static inline void periodic_swap_part(struct periodic_entry *entry, uint32_t i)
{
    const bool was_full = i < entry->full;
    const uint32_t at = was_full ? --entry->full : entry->full++;
    const struct link_use use = entry->uses[i];
    entry->uses[i] = entry->uses[at];
    entry->uses[at] = use;
    if (!entry->streams) return;
    const double stream = entry->streams[i];
    entry->streams[i] = entry->streams[at];
    entry->streams[at] = stream;
}

#endif
