/* maxmin.h - fair shares of links by progressive filling, and transfers of finite size that live on them (MODELS 4.1, 4.2).
 *
 * The plain algorithm, each round over all flows and links: what the incremental solver in sim/network must agree with.
 * Pure functions; the caller brings the scratch space.
 * Source: Bertsekas and Gallager, Data Networks (1992), 6.5.2.
 * Tests:  tests/test_maxmin.c, tests/cases/models/maxmin.csv */
#ifndef GPUPLAN_MODELS_MAXMIN_H
#define GPUPLAN_MODELS_MAXMIN_H

#include <stdint.h>

struct maxmin_flow {
    double weight; /* > 0: at equal fill, rates are as the weights             */
    double cap;    /* >= 0 units per second of its own; INFINITY for none      */
};

/* A flow puts per_unit of load on the link for each unit it carries. */
struct maxmin_use {
    uint32_t flow, link;
    double per_unit; /* >= 0 */
};

/* All borrowed. Several uses of one link by one flow add up. */
struct maxmin_net {
    const double *capacity; /* [link_count] >= 0, load units per second */
    uint32_t link_count;
    const struct maxmin_flow *flows; /* [flow_count] */
    uint32_t flow_count;
    const struct maxmin_use *uses; /* [use_count] */
    uint32_t use_count;
};

/* Scratch space of the caller; nothing in it needs a value. */
struct maxmin_scratch {
    double *left, *load; /* [link_count] */
    uint8_t *state;      /* [flow_count] */
    double *bytes;       /* [flow_count], of transfers only */
    double *rate;        /* [flow_count], of transfers only */
};

/* Rates of the flows, rate[flow_count]: all fill at one level (rate = level times weight) until a cap or a full link stops
 * them; INFINITY for a flow that nothing limits, 0 on a link of capacity 0. */
void maxmin_rates(const struct maxmin_net *net, struct maxmin_scratch *scratch, double *rate);

/* How far rate[flow_count] is from max-min shares, relative; 0 when each flow is at its cap or crosses a full link on which
 * no other flow has a larger rate / weight, and no link carries more than its capacity: the certificate of 4.1, which only
 * the max-min shares meet. */
double maxmin_error(const struct maxmin_net *net, struct maxmin_scratch *scratch,
                    const double *rate);

/* A transfer on flow i of a net: from start_s on, after latency_s, its size in the units of the rates. */
struct fluid {
    double start_s, latency_s, size; /* each >= 0, finite */
};

/* Instants at which the transfers are done, finish_s[flow_count]; INFINITY for one that stands still for ever. Rates change
 * only when one begins or ends. */
void fluid_finish(const struct maxmin_net *net, const struct fluid *fluids,
                      struct maxmin_scratch *scratch, double *finish_s);

#endif
