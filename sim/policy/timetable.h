/* timetable.h - the free GPUs of every node from now on: the plan of conservative backfilling.
 *
 * Time is cut into slices [begin, next begin), the last one without end. A slice begins where a job of
 * the plan starts or ends; each has the free GPUs of all nodes. A node with f of its GPUs free is a field of
 * f ones, so the GPUs that are free all through several slices are the AND of their rows:
 *
 *     node          0        1        2      fields of 4 bits
 *     slice 0     0011     1111     0000     2, 4, 0 GPUs free
 *     slice 1     0001     1111     0111     1, 4, 3
 *     both        0001     1111     0000     1, 4, 0 throughout
 *
 * GPUs of a node are interchangeable in the plan, which is exact: jobs on one node are intervals of
 * time, and such intervals can always be coloured with as many GPUs as overlap at most.
 *
 * The plan is cut only as far as somebody has looked: ends behind the begin of the last slice are not
 * in it yet, and the GPUs of those jobs are taken in all slices. Behind the last start of a job GPUs
 * only become free, so nothing is missed.
 *
 * Beside its row each slice keeps how many nodes have at least f GPUs free, which refuses most
 * candidates without a look at the row. What is free in a slice can be taken in a later one only where a
 * job starts, so only those rows are looked at, and of these only the words that the starts touch.
 *
 * A row is nodes * (GPUs per node, rounded up to a power of two) bits; R jobs that end and Q planned
 * ones, before the last start, make up to R + 2 Q + 1 rows.
 *
 * Leaves out: cores and memory of the hosts. Tests: tests/test_timetable.c, test_conservative.c */
#ifndef GPUPLAN_POLICY_TIMETABLE_H
#define GPUPLAN_POLICY_TIMETABLE_H

#include "base/arena.h"
#include "base/limits.h"
#include "cluster/cluster.h"
#include "cluster/request.h"

#include <stdbool.h>
#include <stdint.h>

struct timetable {
    uint32_t nodes, gpus_per_node;
    uint32_t field_bits;    /* of a node in a row: 1, 2, 4 .. 32                                  */
    uint32_t row_words, touched_words;
    uint32_t count, capacity; /* slices                                                           */
    int64_t *begin_ns;      /* [capacity] ascending                                               */
    uint32_t *starts;       /* [capacity] parts of jobs that start at begin_ns                    */
    uint32_t *ends;         /* [capacity] jobs that end then                                      */
    uint64_t **row;         /* [capacity] -> [row_words], then [touched_words]: a bit for each word in
                             * which a job that starts with the slice takes GPUs                  */
    uint32_t *at_least[LIMIT_GPUS_PER_SERVER + 1]; /* [capacity] each: nodes with f or more GPUs free;
                                                    * [0] = free GPUs of all nodes                */
    uint64_t *common;       /* [row_words] free throughout the last find                          */
    uint64_t *spare;        /* rows that are not in use, a chain                                  */
    struct arena *arena;    /* all of the above                                                   */
    bool out_of_memory;     /* the plan is worth nothing then                                     */
};

bool timetable_init(struct timetable *timetable, uint32_t nodes, uint32_t gpus_per_node,
                  struct arena *arena);

/* One slice from now_ns on, with what is free in the cluster. */
void timetable_reset(struct timetable *timetable, const struct cluster *cluster, int64_t now_ns);

/* The next end: these parts come back at end_ns, at or behind the begin of the last slice. */
void timetable_append_end(struct timetable *timetable, int64_t end_ns, const struct part *parts,
                          uint32_t part_count);

/* Whether a time lies behind the begin of the last slice. */
static inline bool timetable_is_beyond(const struct timetable *timetable, int64_t at_ns)
{
    return at_ns > timetable->begin_ns[timetable->count - 1];
}

/* Now is now_ns: what was before is forgotten. */
void timetable_advance(struct timetable *timetable, int64_t now_ns);

/* A job holds the parts in [from_ns, to_ns), or no longer does. from_ns may lie before the first
 * slice (a job that runs); to_ns may be beyond the last one, and the caller knows that end then. Nodes
 * of the parts are distinct; what is taken must be free. */
void timetable_hold(struct timetable *timetable, int64_t from_ns, int64_t to_ns, const struct part *parts,
                  uint32_t part_count);
void timetable_give(struct timetable *timetable, int64_t from_ns, int64_t to_ns, const struct part *parts,
                  uint32_t part_count);

/* First fit: the first slice at or behind `from`, beginning before before_ns, at whose begin the
 * demand can start and hold the same GPUs for length_ns (> 0). Leaves what is free throughout in
 * timetable->common. False: there is none. */
bool timetable_find(struct timetable *timetable, const struct demand *demand, int64_t length_ns,
                  uint32_t from, int64_t before_ns, uint32_t *slice);

/* Whether some slice beginning before before_ns could be the start by the counts alone, when the
 * slices from open_ns on are known to have room: false = timetable_find would find nothing there. */
bool timetable_may_start(const struct timetable *timetable, const struct demand *demand,
                       int64_t length_ns, int64_t before_ns, int64_t open_ns);

/* What to reserve for the demand: the lowest-numbered nodes of timetable->common, which must hold it. The
 * choice stays the same when GPUs that it does not name are taken. parts[] has demand->nodes_max
 * entries. Returns their number. */
uint32_t timetable_choose(const struct timetable *timetable, const struct demand *demand,
                        struct part *parts);

/* Free GPUs of a node in a row. */
uint32_t timetable_free(const struct timetable *timetable, const uint64_t *row, uint32_t node);

#endif
