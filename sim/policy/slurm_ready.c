/* slurm_ready.c - see slurm_ready.h. */
#include "policy/slurm_ready.h"

#include "base/assert.h"
#include "base/clock.h"
#include "cluster/live.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ---------------------------------------------------------------------------------- */

static uint32_t *column(uint32_t count)
{
    uint32_t *rows = malloc((count + 1u) * sizeof *rows);
    if (rows) memset(rows, 0xff, (count + 1u) * sizeof *rows);
    return rows;
}

bool slurm_ready_init(struct slurm_ready *ready, const struct slurm_spec *spec,
                      const struct jobs *jobs)
{
    *ready = (struct slurm_ready){ .spec = spec, .jobs = jobs };
    if (!slurm_depend_init(&ready->depend, jobs)) return false;
    bool throttled = false, together = ready->depend.job_count > 0;
    for (uint32_t row = 0; jobs->words && row < jobs->count; row++) {
        throttled |= jobs->words[row].array_limit > 0 && jobs->words[row].array_first_row <= row;
        together |= jobs->words[row].het_first_row != JOB_NONE;
    }
    if (together && !(ready->live_of = column(jobs->count))) return false;
    return !throttled || (ready->array_of = column(jobs->count));
}

void slurm_ready_clear(struct slurm_ready *ready)
{
    slurm_depend_clear(&ready->depend);
    free(ready->lives);
    free(ready->live_of);
    free(ready->array_of);
    free(ready->arrays);
    free(ready->timers);
    free(ready->changed);
    *ready = (struct slurm_ready){ 0 };
}

/* The array with room for row `at`; a failure is remembered and gives NULL. */
static void *grown(struct slurm_ready *ready, void *rows, uint32_t at, uint32_t *capacity,
                   size_t row_bytes)
{
    if (at < *capacity) return rows;
    uint32_t larger = *capacity ? *capacity : 64;
    while (larger <= at) larger *= 2;
    char *more = realloc(rows, larger * row_bytes);
    if (!more) {
        ready->out_of_memory = true;
        return NULL;
    }
    memset(more + *capacity * row_bytes, 0, (larger - *capacity) * row_bytes);
    *capacity = larger;
    return more;
}

/* ---- timers: a binary heap; one whose job has moved on is harmless ------------------------------ */

static bool earlier(const struct slurm_timer *a, const struct slurm_timer *b)
{
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->live < b->live);
}

static void timer_set(struct slurm_ready *ready, uint32_t live, int64_t at_ns)
{
    struct slurm_timer *timers =
        grown(ready, ready->timers, ready->timer_count, &ready->timer_capacity, sizeof *timers);
    if (!timers) return;
    ready->timers = timers;
    uint32_t at = ready->timer_count++;
    const struct slurm_timer timer = { .at_ns = at_ns, .live = live };
    for (; at > 0 && earlier(&timer, &timers[(at - 1) / 2]); at = (at - 1) / 2)
        timers[at] = timers[(at - 1) / 2];
    timers[at] = timer;
}

static struct slurm_timer timer_take(struct slurm_ready *ready)
{
    struct slurm_timer *timers = ready->timers;
    const struct slurm_timer first = timers[0], last = timers[--ready->timer_count];
    uint32_t at = 0;
    for (uint32_t below; (below = 2 * at + 1) < ready->timer_count; at = below) {
        if (below + 1 < ready->timer_count && earlier(&timers[below + 1], &timers[below])) below++;
        if (!earlier(&timers[below], &last)) break;
        timers[at] = timers[below];
    }
    timers[at] = last;
    return first;
}

/* ---- one job --------------------------------------------------------------------------------- */

/* It is to be told when its state differs from what was told. */
static void touch(struct slurm_ready *ready, uint32_t live)
{
    if (ready->lives[live].in_changed) return;
    uint32_t *changed = grown(ready, ready->changed, ready->changed_count, &ready->changed_capacity,
                              sizeof *changed);
    if (!changed) return;
    ready->changed = changed;
    ready->lives[live].in_changed = true;
    changed[ready->changed_count++] = live;
}

static struct slurm_array *array_of(struct slurm_ready *ready, uint32_t row)
{
    if (!ready->array_of) return NULL;
    const struct job_words *words = &ready->jobs->words[row];
    if (words->array_limit == 0 || words->array_first_row > row) return NULL;
    uint32_t *at = &ready->array_of[words->array_first_row];
    if (*at == UINT32_MAX) {
        struct slurm_array *arrays =
            grown(ready, ready->arrays, ready->array_count, &ready->array_capacity, sizeof *arrays);
        if (!arrays) return NULL;
        ready->arrays = arrays;
        *at = ready->array_count++;
        arrays[*at] = (struct slurm_array){ .limit = words->array_limit,
                                            .first_parked = LIVE_NONE,
                                            .last_parked = LIVE_NONE };
    }
    return &ready->arrays[*at];
}

/* Into the list of its array, by row: nearly always at the end, or at the front after a requeue. */
static void park(struct slurm_ready *ready, struct slurm_array *array, uint32_t live)
{
    struct slurm_ready_job *job = &ready->lives[live];
    const uint32_t last = array->last_parked;
    if (last != LIVE_NONE && ready->lives[last].row < job->row) {
        ready->lives[last].next_parked = live;
        array->last_parked = live;
        job->next_parked = LIVE_NONE;
        return;
    }
    uint32_t *link = &array->first_parked;
    while (*link != LIVE_NONE && ready->lives[*link].row < job->row)
        link = &ready->lives[*link].next_parked;
    job->next_parked = *link;
    *link = live;
    if (job->next_parked == LIVE_NONE) array->last_parked = live;
}

static void unpark(struct slurm_ready *ready, struct slurm_array *array, uint32_t live)
{
    uint32_t before = LIVE_NONE, *link = &array->first_parked;
    while (*link != live) {
        ASSERT(*link != LIVE_NONE);
        before = *link;
        link = &ready->lives[*link].next_parked;
    }
    *link = ready->lives[live].next_parked;
    if (array->last_parked == live) array->last_parked = before;
    ready->lives[live].blocked &= (uint8_t)~BLOCKED_ARRAY;
}

/* Nothing but its array can still block it. */
static void admit(struct slurm_ready *ready, uint32_t live, int64_t now_ns)
{
    struct slurm_ready_job *job = &ready->lives[live];
    struct slurm_array *array = array_of(ready, job->row);
    touch(ready, live);
    if (array && array->admitted >= array->limit) {
        job->blocked |= BLOCKED_ARRAY;
        park(ready, array, live);
        return;
    }
    if (array) array->admitted++;
    job->admitted = array != NULL;
    job->since_ns = now_ns;
}

/* It no longer counts for its array: the first parked task takes the place. */
static void leave_array(struct slurm_ready *ready, uint32_t live, int64_t now_ns)
{
    struct slurm_ready_job *job = &ready->lives[live];
    struct slurm_array *array = array_of(ready, job->row);
    if (!array) return;
    if (job->blocked & BLOCKED_ARRAY) unpark(ready, array, live);
    if (!job->admitted) return;
    job->admitted = false;
    array->admitted--;
    const uint32_t next = array->first_parked;
    if (next == LIVE_NONE || array->admitted >= array->limit) return;
    unpark(ready, array, next);
    admit(ready, next, now_ns);
}

/* Sets or lifts one reason of a waiting job. */
static void block(struct slurm_ready *ready, uint32_t live, uint8_t reason, bool on, int64_t now_ns)
{
    struct slurm_ready_job *job = &ready->lives[live];
    const uint8_t before = job->blocked & (uint8_t)~BLOCKED_ARRAY;
    const uint8_t after = on ? before | reason : before & (uint8_t)~reason;
    job->blocked = (uint8_t)(after | (job->blocked & BLOCKED_ARRAY));
    touch(ready, live);
    if (before == 0 && after != 0) leave_array(ready, live, now_ns);
    if (before != 0 && after == 0) admit(ready, live, now_ns);
}

/* The dependency as it stands now. */
static void look_at_dependency(struct slurm_ready *ready, uint32_t live, int64_t now_ns)
{
    struct slurm_ready_job *job = &ready->lives[live];
    int64_t ready_ns;
    const enum slurm_depend_state state = slurm_depend_state(&ready->depend, job->row, &ready_ns);
    const bool later = state == DEPENDS_MET && ready_ns > now_ns;
    job->never = state == DEPENDS_NEVER;
    job->invalid = state == DEPENDS_INVALID;
    if (later) timer_set(ready, live, ready_ns);
    block(ready, live, BLOCKED_DEPENDENCY,
          later || (state != DEPENDS_ON_NOTHING && state != DEPENDS_MET), now_ns);
}

/* Events of others may have decided dependencies. */
static void pass_on(struct slurm_ready *ready, int64_t now_ns)
{
    if (ready->depend.job_count == 0) return;
    for (uint32_t row; (row = slurm_depend_changed(&ready->depend)) != JOB_NONE;) {
        const uint32_t live = ready->live_of[row];
        if (live != LIVE_NONE && ready->lives[live].state == READY_WAITS)
            look_at_dependency(ready, live, now_ns);
    }
}

/* ---- what happens to jobs ----------------------------------------------------------------------- */

void slurm_ready_submit(struct slurm_ready *ready, uint32_t live, uint32_t row, int64_t now_ns)
{
    struct slurm_ready_job *lives =
        grown(ready, ready->lives, live, &ready->live_capacity, sizeof *lives);
    if (!lives) return;
    ready->lives = lives;
    struct slurm_ready_job *job = &lives[live];
    ASSERT(job->state == READY_GONE);
    const bool in_changed = job->in_changed; /* of the job that had this row before */
    *job = (struct slurm_ready_job){ .row = row,
                                     .state = READY_WAITS,
                                     .next_parked = LIVE_NONE,
                                     .since_ns = now_ns,
                                     .in_changed = in_changed };
    if (ready->live_of) ready->live_of[row] = live;
    slurm_depend_submitted(&ready->depend, row, now_ns);
    const struct job_words *words = ready->jobs->words ? &ready->jobs->words[row] : NULL;
    /* First blocked by a reason that is lifted at the end, so that an array is asked once. */
    job->blocked = BLOCKED_BEGIN;
    if (words && words->hold) block(ready, live, BLOCKED_HELD, true, now_ns);
    look_at_dependency(ready, live, now_ns);
    job->begin_ns = words ? time_add(now_ns, words->begin_ns) : now_ns;
    if (job->begin_ns > now_ns)
        timer_set(ready, live, job->begin_ns);
    else
        block(ready, live, BLOCKED_BEGIN, false, now_ns);
    pass_on(ready, now_ns);
}

void slurm_ready_hold(struct slurm_ready *ready, uint32_t live, bool on, int64_t now_ns)
{
    ASSERT(ready->lives[live].state == READY_WAITS);
    block(ready, live, BLOCKED_HELD, on, now_ns);
}

void slurm_ready_holds(struct slurm_ready *ready, uint32_t live)
{
    struct slurm_ready_job *job = &ready->lives[live];
    ASSERT(job->state == READY_WAITS && job->blocked == 0);
    job->state = READY_RUNS;
    job->stopped = false;
}

void slurm_ready_start(struct slurm_ready *ready, uint32_t live, int64_t now_ns)
{
    if (ready->lives[live].state == READY_WAITS) slurm_ready_holds(ready, live);
    slurm_depend_started(&ready->depend, ready->lives[live].row, now_ns);
    pass_on(ready, now_ns);
}

void slurm_ready_stop(struct slurm_ready *ready, uint32_t live, int64_t now_ns)
{
    struct slurm_ready_job *job = &ready->lives[live];
    ASSERT(job->state == READY_RUNS && !job->stopped);
    job->stopped = true;
    leave_array(ready, live, now_ns);
    slurm_depend_requeued(&ready->depend, job->row, false, now_ns);
    pass_on(ready, now_ns);
}

void slurm_ready_special(struct slurm_ready *ready, uint32_t live, int64_t now_ns)
{
    slurm_depend_requeued(&ready->depend, ready->lives[live].row, true, now_ns);
    pass_on(ready, now_ns);
}

void slurm_ready_again(struct slurm_ready *ready, uint32_t live, bool held, int64_t now_ns)
{
    struct slurm_ready_job *job = &ready->lives[live];
    ASSERT(job->state == READY_RUNS);
    if (!job->stopped) slurm_ready_stop(ready, live, now_ns);
    job->state = READY_WAITS;
    job->told = TOLD_NOTHING;
    job->blocked = BLOCKED_BEGIN;
    job->begin_ns = now_ns;
    if (held) block(ready, live, BLOCKED_HELD, true, now_ns);
    block(ready, live, BLOCKED_BEGIN, false, now_ns);
}

void slurm_ready_over(struct slurm_ready *ready, uint32_t live, bool ok, int64_t now_ns)
{
    if (live >= ready->live_capacity || ready->lives[live].state == READY_GONE) return;
    struct slurm_ready_job *job = &ready->lives[live];
    leave_array(ready, live, now_ns);
    job->state = READY_GONE;
    if (ready->live_of) ready->live_of[job->row] = LIVE_NONE;
    slurm_depend_over(&ready->depend, job->row, ok, now_ns);
    pass_on(ready, now_ns);
}

/* ---- what the scheduler asks ---------------------------------------------------------------------- */

/* Time alone lifts begin times and dependencies with minutes. */
static void run_timers(struct slurm_ready *ready, int64_t now_ns)
{
    while (ready->timer_count > 0 && ready->timers[0].at_ns <= now_ns) {
        const uint32_t live = timer_take(ready).live;
        struct slurm_ready_job *job = &ready->lives[live];
        if (job->state != READY_WAITS) continue;
        if (job->blocked & BLOCKED_BEGIN && job->begin_ns <= now_ns)
            block(ready, live, BLOCKED_BEGIN, false, now_ns);
        if (job->blocked & BLOCKED_DEPENDENCY) look_at_dependency(ready, live, now_ns);
    }
}

/* Whether a job that cannot run is to leave, and why. */
static const char *refusal(const struct slurm_ready *ready, const struct slurm_ready_job *job)
{
    if (job->invalid) return "Job dependency problem";
    return job->never && ready->spec->kill_invalid_depend ? "DependencyNeverSatisfied" : NULL;
}

bool slurm_ready_next(struct slurm_ready *ready, int64_t now_ns, uint32_t *live,
                      enum slurm_ready_change *change, const char **reason)
{
    run_timers(ready, now_ns);
    while (ready->changed_given < ready->changed_count) {
        *live = ready->changed[ready->changed_given++];
        struct slurm_ready_job *job = &ready->lives[*live];
        job->in_changed = false;
        if (job->state != READY_WAITS) continue;
        *reason = refusal(ready, job);
        if (*reason) {
            *change = CHANGE_REFUSE;
            return true;
        }
        const uint8_t tell = job->blocked == 0 ? TOLD_READY : TOLD_BLOCKED;
        if (job->told == tell) continue;
        job->told = tell;
        *change = tell == TOLD_READY ? CHANGE_READY : CHANGE_BLOCKED;
        return true;
    }
    ready->changed_given = ready->changed_count = 0;
    return false;
}

int64_t slurm_ready_wake_ns(const struct slurm_ready *ready)
{
    return ready->timer_count > 0 ? ready->timers[0].at_ns : TIME_NEVER;
}

const char *slurm_ready_reason(const struct slurm_ready *ready, uint32_t live)
{
    const struct slurm_ready_job *job = &ready->lives[live];
    if (job->blocked & BLOCKED_HELD) return "JobHeldUser";
    if (job->blocked & BLOCKED_DEPENDENCY)
        return job->never ? "DependencyNeverSatisfied" : "Dependency";
    if (job->blocked & BLOCKED_BEGIN) return "BeginTime";
    return job->blocked & BLOCKED_ARRAY ? "JobArrayTaskLimit" : NULL;
}
