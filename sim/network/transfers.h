/* transfers.h - transfers of finite size over a flow net, each when it may begin (MODELS 4.2).
 *
 * A transfer begins at start_s or when the last of those it comes after has finished, whichever is later; then its latency
 * passes, in which it uses nothing; then its size is carried at the fair rate of the moment. What happens at one instant
 * (to 1e-12 relative) happens together: ends, then beginnings, then the rates are solved once.
 * Times are seconds, sizes are in the units of the net's rates. Exact to 1e-9 relative.
 * Tests: tests/test_transfers.c, tests/oracle_net.c */
#ifndef GPUPLAN_NETWORK_TRANSFERS_H
#define GPUPLAN_NETWORK_TRANSFERS_H

#include "network/flow_net.h"

struct transfers;

struct transfer {
    double start_s, latency_s, size; /* each >= 0, finite       */
    double weight, cap;              /* as of flow_net_add       */
    const struct flow_use *uses;     /* [use_count], copied      */
    uint32_t use_count;
};

/* create/destroy: the net is borrowed, and its flows are ours while this lives. NULL when memory is out. */
struct transfers *transfers_create(struct flow_net *net);
void transfers_destroy(struct transfers *transfers);

/* A new one, numbered from 0; FLOW_NONE when memory is out. */
uint32_t transfers_add(struct transfers *transfers, const struct transfer *transfer);

/* `later` waits for the end of `earlier`. What waits for itself, over others, never begins. False when memory is out. */
bool transfers_after(struct transfers *transfers, uint32_t later, uint32_t earlier);

/* Runs until nothing moves that could end. False when memory is out. Once only. */
bool transfers_run(struct transfers *transfers);

/* After the run: begin is before the latency; INFINITY for what never came about. */
double transfers_begin_s(const struct transfers *transfers, uint32_t transfer);
double transfers_finish_s(const struct transfers *transfers, uint32_t transfer);

/* Instants at which something began or ended, and rates that changed: what the run cost. */
struct transfers_cost {
    uint64_t instants, rates;
};
struct transfers_cost transfers_cost(const struct transfers *transfers);

#endif
