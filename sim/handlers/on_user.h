/* on_user.h - what an administrator or a user does by hand (`events:` of a scenario, spec/user_event.h).
 *
 *   node_down   its jobs end at once, on all their nodes; back by node_up or resume
 *   drain       no new jobs, those that run go on; back by resume
 *   gpu_fail    the job on it ends at once; back by gpu_repair
 *   scancel     a job is over, whatever it does
 *   requeue     a running job stops and waits again, as the policy's sequel says; requeue_hold: and is held
 *   hold, release  of a waiting job: told to the policy, which keeps it or lets it go
 *
 * A target that is not there, or is so already, is left alone: the same list is played on several layouts. */
#ifndef GPUPLAN_HANDLERS_ON_USER_H
#define GPUPLAN_HANDLERS_ON_USER_H

#include "handlers/run.h"

/* Applies scenario->events[row]. */
void on_user(struct run *run, uint32_t row);

#endif
