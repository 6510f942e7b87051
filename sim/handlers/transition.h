/* transition.h - the only changes of state there are. Each applies in one order: policy note, cluster,
 * ledger, agenda, statistics. Handlers of events call these and nothing else that writes. */
#ifndef GPUPLAN_HANDLERS_TRANSITION_H
#define GPUPLAN_HANDLERS_TRANSITION_H

#include "handlers/run.h"

/* A trace row is submitted: it waits, or is rejected when the layout can never hold it. */
void transition_submit(struct run *run, uint32_t trace_row);

/* A waiting job starts where the policy said. */
void transition_start(struct run *run, const struct decision *decision);

/* Any decision of the policy. A suspension counts as a durable point: what a job did before it is not lost by a later
 * fault, though the process was in memory only. */
void transition_apply(struct run *run, const struct decision *decision);

/* A waiting job takes GPUs and does not start; and gives all of them back. */
void transition_claim(struct run *run, const struct decision *decision);
void transition_drop_claims(struct run *run, uint32_t live);

/* A waiting, blocked, delayed, running or suspended job is cancelled; it is over. */
void transition_cancel(struct run *run, uint32_t live);

/* A running or suspended job stops and waits again after delay_ns; keeps_work: nothing is lost, and its next
 * start-up takes cost_ns. */
struct stop {
    int64_t delay_ns, cost_ns;
    bool keeps_work;
};
void transition_preempt(struct run *run, uint32_t live, struct stop stop);

/* A user puts a running job back into the queue: what happens then is the policy's sequel. */
void transition_user_requeue(struct run *run, uint32_t live);

/* A running job works at another tempo from now on, or from the end of its start-up. */
void transition_tempo(struct run *run, uint32_t live, const struct tempo *tempo);

/* A running job ends: finished, or killed at its limit. */
void transition_finish(struct run *run, uint32_t live);
void transition_kill_at_limit(struct run *run, uint32_t live);

/* A waiting job is dropped (loss). */
void transition_drop(struct run *run, uint32_t live);

/* A part of a running job failed now: work since the last durable point is lost, its GPUs are
 * kept until the fault is detected. Nothing happens to a job that hangs already. */
void transition_hang(struct run *run, uint32_t live, uint32_t incident, int64_t detection_ns);

/* The fault is detected: GPUs are given back, the job waits again; or those on nodes that are down are, and the job goes on
 * with the others, restarted from its last durable point, if the policy says that it does. */
void transition_detect(struct run *run, uint32_t live);

/* A delayed job is eligible again. */
void transition_requeue(struct run *run, uint32_t live);

/* The broken GPUs of a hung job changed: moves the difference between lost and down. */
void transition_refresh_broken(struct run *run, uint32_t live);

/* A node changed by `change` (one of the cluster's node calls): idle GPUs move between free,
 * draining and down. */
void transition_node(struct run *run, uint32_t node,
                     void (*change)(struct cluster *cluster, uint32_t node));

/* The same for GPUs of a node that break or are whole again. */
void transition_gpus(struct run *run, uint32_t node, uint32_t mask,
                     void (*change)(struct cluster *cluster, uint32_t node, uint32_t mask));

/* After the planning pass: tells free GPUs apart by cause. */
void transition_causes(struct run *run);

/* The run is over: settles attempts that still run and counts who is left. */
void transition_cut(struct run *run);

#endif
