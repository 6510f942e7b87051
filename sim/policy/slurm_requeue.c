/* slurm_requeue.c - what becomes of a job whose run is over (SCHEDULING 5, Slurm; 2.9), and how long a fault stays
 * unseen. See slurm_state.h. */
#include "policy/slurm_state.h"

#include <stdlib.h>
#include <string.h>

/* Whether a code stands in a list as "42,50-60". */
static bool code_in(const char *list, int32_t code)
{
    while (*list) {
        char *end;
        const long first = strtol(list, &end, 10);
        long last = first;
        if (end == list) return false;
        if (*end == '-') last = strtol(end + 1, &end, 10);
        if (code >= first && code <= last) return true;
        list = end + (*end == ',');
    }
    return false;
}

int32_t slurm_exit_code(const struct slurm *slurm, const struct policy_view *view, uint32_t live)
{
    if (!view->jobs->words) return 0;
    const struct job_words *words = &view->jobs->words[view->live->jobs[live].row];
    return slurm->jobs[live].again ? words->exit_code_again : words->exit_code;
}

static bool silences_node(enum component component)
{
    return component == COMPONENT_SERVER || component == COMPONENT_LEAF;
}

static bool may_requeue(const struct slurm *slurm, const struct job_words *words)
{
    return words && words->requeue >= 0 ? words->requeue == 1 : slurm->spec->job_requeue;
}

struct sequel slurm_sequel(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                           enum attempt_close how)
{
    const struct slurm_spec *spec = slurm->spec;
    const uint32_t row = view->live->jobs[live].row;
    const struct job_words *words = view->jobs->words ? &view->jobs->words[row] : NULL;
    struct sequel sequel = { .delay_ns = spec->requeue_delay_ns };
    const int32_t code = slurm_exit_code(slurm, view, live);
    bool special = false;
    switch (how) {
    case CLOSE_FINISHED:
        special = code_in(spec->requeue_exit_hold, code);
        sequel.again = special || code_in(spec->requeue_exit, code);
        break;
    case CLOSE_REQUEUED:
        sequel.again = true;
        sequel.delay_ns = time_add(sequel.delay_ns, spec->kill_wait_ns);
        slurm_ending_keep(slurm, live, time_add(slurm->last_ns, spec->kill_wait_ns));
        break;
    case CLOSE_NODE_FAIL:
    case CLOSE_CRASH:
        sequel.again = may_requeue(slurm, words);
        break;
    case CLOSE_LIMIT:
        break;
    }
    slurm_ending_drop(slurm);
    slurm->jobs[live].held |= special;
    if (special) slurm_ready_special(&slurm->ready, live, slurm->last_ns);
    return sequel;
}

/* --no-kill: the allocation shrinks by the nodes that went down. Whatever else breaks ends the job as any other, and so does
 * a node of a job that stands still. */
bool slurm_goes_on(const struct slurm *slurm, const struct policy_view *view, uint32_t live,
                   enum component component)
{
    const struct job_words *words = view->jobs->words;
    return silences_node(component) && words && words[view->live->jobs[live].row].no_kill &&
           !slurm->jobs[live].suspended;
}

/* A server that is silent is noticed after SlurmdTimeout; what breaks a job without silencing its node, as soon as
 * the scenario says. */
int64_t slurm_detection_ns(const struct slurm *slurm, const struct policy_view *view,
                           enum component component)
{
    return silences_node(component) ? slurm->spec->slurmd_timeout_ns
                                    : view->scenario->failures.detection_ns;
}
