/* reasons.h - why jobs wait, as it changes; kept for the replicas whose detail is kept (detail.h).
 *
 * Jobs that ask for the same wait for the same GPUs, so what the cluster lacks is told once for each
 * request that somebody waits with, and only when it changes: the cost follows changes and requests,
 * not waiting jobs. What holds one job alone (a requeue delay, a word of its policy) is a row of that
 * job. Nothing reads any of it back during a run.
 *
 * A policy is asked for its words a few jobs a pass: those that began to wait since the last one, and others in turn. With
 * more than WORDS_A_PASS jobs waiting, a word that changes may be noticed waiting / WORDS_A_PASS passes late. */
#ifndef GPUPLAN_HANDLERS_REASONS_H
#define GPUPLAN_HANDLERS_REASONS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct run;

enum { WORDS_A_PASS = 16 };

struct job_word {
    uint32_t serial; /* of the job that the row is about; rows are recycled with live rows    */
    const char *word;
};

struct reasons {
    uint8_t *cause;         /* [class_count] last told, CAUSE_NONE = never                    */
    uint64_t *told;         /* [class_count] row in result->causes of what was told last        */
    uint64_t *judged_at;    /* [class_count] blocked_at when it was last said what its hosts lack */
    uint32_t *sick;         /* [nodes] nodes with GPUs that are out or draining               */
    uint32_t sick_count;
    bool sick_stale;        /* a node has changed since the list was made                     */
    struct job_word *words; /* [word_capacity] by live row; from malloc                       */
    uint32_t word_capacity;
    uint32_t next_asked; /* live row whose word is asked for next                            */
    uint32_t fresh[WORDS_A_PASS]; /* live rows that began to wait since the last pass        */
    uint32_t fresh_count;
};

bool reasons_init(struct run *run);
void reasons_clear(struct reasons *reasons);

/* After the planning pass, with the causes of free GPUs told: notes what changed for whom waits. */
void reasons_after_pass(struct run *run);

/* The job waits for `word` from now on, NULL: for what its request waits for. */
void reasons_word(struct run *run, uint32_t live, const char *word);

/* The job begins to wait. */
void reasons_waits(struct run *run, uint32_t live);

/* Why the layout can never hold the job, a constant text. */
const char *reasons_never_fits(const struct run *run, uint32_t live);

/* The word of a job between a kill and the time from which it may start again. */
extern const char reasons_restart[]; /* "restart" */
/* Of one that its policy keeps out of the queue without a word, and of one that is suspended. */
extern const char reasons_blocked[], reasons_suspended[]; /* "blocked", "suspended" */

#endif
