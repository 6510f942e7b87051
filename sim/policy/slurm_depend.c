/* slurm_depend.c - what happens to jobs, and what that means for others; slurm_depend_init.c makes the tables. */
#include "policy/slurm_depend.h"

#include "base/assert.h"
#include "base/clock.h"
#include "policy/slurm_depend_tables.h"

#include <stdlib.h>

/* Tells the dependent's state anew after one of its terms is decided. */
static void decide(struct slurm_depend *depend, uint32_t d)
{
    struct slurm_dependent *dependent = &depend->dependents[d];
    if (dependent->state != DEPENDS_WAITS) return;
    if (dependent->any ? dependent->met > 0 : dependent->met == dependent->terms)
        dependent->state = DEPENDS_MET;
    else if (dependent->any ? dependent->failed == dependent->terms : dependent->failed > 0)
        dependent->state = DEPENDS_NEVER;
    if (dependent->state == DEPENDS_WAITS || !dependent->submitted) return;
    ASSERT(depend->changed_count < depend->changed_capacity);
    depend->changed[depend->changed_count++] = d;
}

/* One term is met, to be used from ready_ns on, or can never be met. */
static void term_met(struct slurm_depend *depend, uint32_t d, int64_t ready_ns)
{
    struct slurm_dependent *dependent = &depend->dependents[d];
    const bool earlier = ready_ns < dependent->ready_ns;
    if (dependent->met == 0 || earlier == dependent->any) dependent->ready_ns = ready_ns;
    dependent->met++;
    decide(depend, d);
}

static void term_failed(struct slurm_depend *depend, uint32_t d)
{
    depend->dependents[d].failed++;
    decide(depend, d);
}

/* The edges of a target that wait for its start. */
static void fire_started(struct slurm_depend *depend, const struct slurm_depend_target *target,
                         int64_t now_ns)
{
    for (uint32_t e = target->first_edge; e != DEPEND_NONE; e = depend->edges[e].next) {
        const struct slurm_depend_edge *edge = &depend->edges[e];
        if (edge->type == DEPEND_AFTER)
            term_met(depend, edge->dependent, time_add(now_ns, edge->delay_ns));
    }
}

/* The edges that wait for its end. `special` met those of afternotok before. */
static void fire_ended(struct slurm_depend *depend, const struct slurm_depend_target *target,
                       bool special, int64_t now_ns)
{
    for (uint32_t e = target->first_edge; e != DEPEND_NONE; e = depend->edges[e].next) {
        const struct slurm_depend_edge *edge = &depend->edges[e];
        if (edge->type == DEPEND_AFTER) continue;
        if (edge->type == DEPEND_AFTER_NOT_OK && special) continue;
        const bool ok = target->failed == 0;
        const bool met =
            edge->type == DEPEND_AFTER_ANY || ok == (edge->type != DEPEND_AFTER_NOT_OK);
        if (met)
            term_met(depend, edge->dependent, now_ns);
        else
            term_failed(depend, edge->dependent);
    }
}

/* The first of a group that has not ended may go when none runs and it is a singleton. */
static void group_look(struct slurm_depend *depend, uint32_t g, int64_t now_ns)
{
    struct slurm_singletons *group = &depend->groups[g];
    if (group->running > 0) return;
    while (group->open < group->end &&
           depend->phase[depend->singleton_rows[group->open]] & PHASE_OVER)
        group->open++;
    if (group->open == group->end) return;
    const uint32_t row = depend->singleton_rows[group->open], d = depend->dependent_of[row];
    if (!(depend->phase[row] & PHASE_SUBMITTED) || d == DEPEND_NONE) return;
    if (!depend->dependents[d].singleton) return;
    depend->dependents[d].singleton = false;
    term_met(depend, d, now_ns);
}

static void group_run(struct slurm_depend *depend, uint32_t row, bool runs, int64_t now_ns)
{
    uint8_t *phase = &depend->phase[row];
    const bool ran = *phase & PHASE_RUNNING;
    *phase = (uint8_t)(runs ? *phase | PHASE_RUNNING : *phase & ~PHASE_RUNNING);
    const uint32_t g = depend->group_of[row];
    if (g == DEPEND_NONE) return;
    if (runs && !ran) depend->groups[g].running++;
    if (!runs && ran) depend->groups[g].running--;
    group_look(depend, g, now_ns);
}

void slurm_depend_submitted(struct slurm_depend *depend, uint32_t row, int64_t now_ns)
{
    if (depend->job_count == 0) return;
    depend->phase[row] |= PHASE_SUBMITTED;
    const uint32_t d = depend->dependent_of[row];
    if (d != DEPEND_NONE) depend->dependents[d].submitted = true;
    if (depend->group_of[row] != DEPEND_NONE) group_look(depend, depend->group_of[row], now_ns);
}

/* A task started: its own edges, and those of its array or heterogeneous job with the last part. */
static void started(struct slurm_depend *depend, uint32_t row, int64_t now_ns)
{
    if (depend->phase[row] & PHASE_STARTED) return;
    depend->phase[row] |= PHASE_STARTED;
    const uint32_t targets[2] = { depend->target_of[row], slurm_depend_whole(depend, row) };
    for (int i = 0; i < 2; i++) {
        if (targets[i] == DEPEND_NONE) continue;
        struct slurm_depend_target *target = &depend->targets[targets[i]];
        if (++target->started == target->tasks) fire_started(depend, target, now_ns);
    }
}

void slurm_depend_started(struct slurm_depend *depend, uint32_t row, int64_t now_ns)
{
    if (depend->job_count == 0) return;
    started(depend, row, now_ns);
    group_run(depend, row, true, now_ns);
}

void slurm_depend_requeued(struct slurm_depend *depend, uint32_t row, bool special, int64_t now_ns)
{
    if (depend->job_count == 0) return;
    group_run(depend, row, false, now_ns);
    const uint32_t t = depend->target_of[row];
    if (!special || t == DEPEND_NONE || depend->phase[row] & PHASE_SPECIAL) return;
    depend->phase[row] |= PHASE_SPECIAL;
    for (uint32_t e = depend->targets[t].first_edge; e != DEPEND_NONE; e = depend->edges[e].next)
        if (depend->edges[e].type == DEPEND_AFTER_NOT_OK)
            term_met(depend, depend->edges[e].dependent, now_ns);
}

void slurm_depend_over(struct slurm_depend *depend, uint32_t row, bool ok, int64_t now_ns)
{
    if (depend->job_count == 0 || depend->phase[row] & PHASE_OVER) return;
    started(depend, row, now_ns); /* one that is cancelled before it ran counts as started */
    depend->phase[row] |= PHASE_OVER;
    if (depend->dependent_of[row] != DEPEND_NONE)
        depend->dependents[depend->dependent_of[row]].submitted = false; /* nobody to be told */
    const uint32_t targets[2] = { depend->target_of[row], slurm_depend_whole(depend, row) };
    for (int i = 0; i < 2; i++) {
        if (targets[i] == DEPEND_NONE) continue;
        struct slurm_depend_target *target = &depend->targets[targets[i]];
        if (!ok) target->failed++;
        if (++target->ended < target->tasks) continue;
        fire_ended(depend, target, i == 0 && depend->phase[row] & PHASE_SPECIAL, now_ns);
    }
    group_run(depend, row, false, now_ns);
}

enum slurm_depend_state slurm_depend_state(const struct slurm_depend *depend, uint32_t row,
                                           int64_t *ready_ns)
{
    *ready_ns = 0;
    if (depend->job_count == 0 || depend->dependent_of[row] == DEPEND_NONE)
        return DEPENDS_ON_NOTHING;
    const struct slurm_dependent *dependent = &depend->dependents[depend->dependent_of[row]];
    *ready_ns = dependent->ready_ns;
    return (enum slurm_depend_state)dependent->state;
}

uint32_t slurm_depend_changed(struct slurm_depend *depend)
{
    if (depend->changed_given == depend->changed_count) {
        depend->changed_given = depend->changed_count = 0;
        return JOB_NONE;
    }
    return depend->dependents[depend->changed[depend->changed_given++]].row;
}
