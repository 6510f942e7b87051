/* contention.h - running jobs on several servers share the network: who comes and goes changes the tempo of others.
 *
 * A job is on the network from the end of its start-up until it ends, fails or is suspended. Once an instant, behind
 * all decisions, the waits are solved again over what the changes can reach (network/periodic), and jobs whose
 * communication takes more than 1e-9 longer or shorter get a new tempo. Jobs of one server never enter. What the scheduler
 * believes of a job's end, and its limit, stay as they were at its start: who is slowed by others may reach its limit. */
#ifndef GPUPLAN_HANDLERS_CONTENTION_H
#define GPUPLAN_HANDLERS_CONTENTION_H

#include "handlers/run.h"

struct contention;

/* Sets run->contention, to NULL when the scenario or its jobs leave the network out. False when memory is out.
 * destroy takes NULL. */
bool contention_init(struct run *run);
void contention_destroy(struct contention *contention);

/* The next job whose start-up is over (EV_JOIN), NULL without contention; and it joins. */
const struct agenda *contention_joins(const struct run *run);
void contention_join(struct run *run, uint32_t live);

/* The job starts now on what it holds, asked for its speed by `query`; or goes on after a suspension. */
void contention_start(struct run *run, uint32_t live, const struct speed_query *query);
void contention_resume(struct run *run, uint32_t live);

/* It no longer communicates; nothing happens when it did not. */
void contention_leave(struct run *run, uint32_t live);

/* A NIC carries this part of what it should, 0 to 1. A collective in lock step puts as much on each NIC that it uses of a
 * server (spec/nic_map), so all of these are as slow as the slowest; who does not use it does not notice. */
void contention_set_nic(struct run *run, uint32_t server, uint32_t nic, double factor);

/* The cables up of a leaf carry this part of what they should, 0 to 1. */
void contention_set_leaf(struct run *run, uint32_t leaf, double factor);

/* The end of an instant. */
void contention_settle(struct run *run);

/* The end of the run: how far the estimates are apart, into the result. */
void contention_finish(struct run *run);

#endif
