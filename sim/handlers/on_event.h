/* on_event.h - one short function per kind of event, and the planning pass. */
#ifndef GPUPLAN_HANDLERS_ON_EVENT_H
#define GPUPLAN_HANDLERS_ON_EVENT_H

#include "handlers/run.h"

/* Applies one event; `slot` is a live row, a component row or a trace row, by kind. */
void on_event(struct run *run, enum event_kind kind, uint32_t slot);

/* Asks the policy for starts until it has none, then tells free GPUs apart. */
void on_plan(struct run *run);

/* The last job has left a node that waits to be repaired. */
void on_node_emptied(struct run *run, uint32_t node);

extern const char *const event_names[EV_KINDS];

#endif
