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
    bool special = false;
    switch (how) {
    case CLOSE_FINISHED:
        if (!words || words->exit_code == 0) return sequel;
        special = code_in(spec->requeue_exit_hold, words->exit_code);
        sequel.again = special || code_in(spec->requeue_exit, words->exit_code);
        break;
    case CLOSE_REQUEUED:
        sequel.again = true;
        sequel.delay_ns = time_add(sequel.delay_ns, spec->kill_wait_ns);
        break;
    case CLOSE_NODE_FAIL:
    case CLOSE_CRASH:
        sequel.again = may_requeue(slurm, words);
        break;
    case CLOSE_LIMIT:
        break;
    }
    if (special) slurm->jobs[live].held = true;
    if (sequel.again && slurm->live_of_row)
        slurm_depend_requeued(&slurm->depend, row, special, slurm->last_ns);
    return sequel;
}

/* A server that is silent is noticed after SlurmdTimeout; what breaks a job without silencing its node, as soon as
 * the scenario says. */
int64_t slurm_detection_ns(const struct slurm *slurm, const struct policy_view *view,
                           enum component component)
{
    return component == COMPONENT_SERVER || component == COMPONENT_LEAF
               ? slurm->spec->slurmd_timeout_ns
               : view->scenario->failures.detection_ns;
}
