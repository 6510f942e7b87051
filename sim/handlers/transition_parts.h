/* transition_parts.h - what the files of transitions share; nothing else includes it. */
#ifndef GPUPLAN_HANDLERS_TRANSITION_PARTS_H
#define GPUPLAN_HANDLERS_TRANSITION_PARTS_H

#include "handlers/books.h"
#include "handlers/run.h"

void transition_note(struct run *run, enum note_kind kind, uint32_t live);

/* What a kill cost until now goes to its incident, once. */
void transition_settle_restart(struct run *run, uint32_t live);

/* The next thing that happens to a running attempt: its end, its limit, or its software fails. */
void transition_schedule(struct run *run, uint32_t live);

/* Gives what a job holds back to the cluster and says where it went; the books are the caller's. */
struct returned transition_give_back(struct run *run, uint32_t live);

/* Gives a list of grants of a job back to the cluster; the same. */
struct returned transition_release(struct run *run, uint32_t live, uint32_t first_grant);

/* A job that lost nodes goes on with what it holds now, this part of its allocation, until the limit that it has had. */
void transition_go_on(struct run *run, uint32_t live, uint32_t left_q30);

/* What the hang of a hung attempt has cost until now, added to its incident or taken off (sign). */
void transition_charge_hang(struct run *run, uint32_t live, int sign);

/* The job waits again: now, or after a delay. */
void transition_wait_again(struct run *run, uint32_t live, int64_t delay_ns);

/* What becomes of a job whose attempt is over: asks the policy, or applies the rule of plain ones. True: it
 * waits again; false: its row is gone. */
bool transition_sequel(struct run *run, uint32_t live, enum attempt_close how, enum job_end end);

/* The job has ended for good; its row is given back. completed: it finished its work, or ran to its limit. */
void transition_over(struct run *run, uint32_t live, enum job_end end, bool completed);
void transition_reject(struct run *run, uint32_t live, const char *reason);

#endif
