/* on_fault.h - parts break and are repaired (MODELS 5.1).
 *
 *   gpu     its job stops; its server takes no new jobs, lets the others finish (drain: finish) or
 *           stops them (now), and is repaired once it is empty; drain: gpu takes out only the GPU
 *   server  all its jobs stop; repair begins at once
 *   link    jobs on several servers that use a GPU of this NIC stop; the server is then treated as
 *           after a gpu fault. NIC failover is off
 *   leaf    jobs on several servers with one below it stop; its servers take no new jobs until it
 *           is repaired; jobs inside one server go on
 *   job     software: this job stops, at once */
#ifndef GPUPLAN_HANDLERS_ON_FAULT_H
#define GPUPLAN_HANDLERS_ON_FAULT_H

#include "handlers/run.h"

void on_fault(struct run *run, uint32_t row);
void on_repair(struct run *run, uint32_t row);
void on_crash(struct run *run, uint32_t live);

/* A fault that somebody caused, and its end: of these GPUs of the node, or of the node as a whole. Its jobs
 * end at once, and it lasts until it is repaired by hand. */
void fault_by_hand(struct run *run, uint32_t node, uint32_t mask, bool whole);
void repair_by_hand(struct run *run, uint32_t node, uint32_t mask, bool whole);

/* A NIC that an event left without bandwidth for NIC_RETRY_NS: the jobs that cannot do without it end, and its node takes no new
 * ones, until it carries again. Of machines that share it, all. Nothing happens twice. */
void link_dead_by_hand(struct run *run, uint32_t server, uint32_t nic);
void link_alive_by_hand(struct run *run, uint32_t server, uint32_t nic);

#endif
