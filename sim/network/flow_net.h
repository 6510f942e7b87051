/* flow_net.h - max-min fair rates of flows on links, kept while flows come and go (MODELS 4.1, 4.6).
 *
 * Units are the caller's: a link carries so much load a second (bytes), a flow so many units a second (bytes, or operations
 * of a collective), and each unit puts per_unit of load on every link the flow uses (4.3). The rates are those of
 * models/maxmin to 1e-9, whatever the order of the calls, and the same calls give the same bits.
 *
 * Calls change the net; flow_net_solve brings the rates up to date, once an instant. Links and flows are rows numbered from
 * 0; a removed flow's row is given to the next flow added, the one removed last first. Links stay.
 * Tests: tests/test_flow_net.c */
#ifndef GPUPLAN_NETWORK_FLOW_NET_H
#define GPUPLAN_NETWORK_FLOW_NET_H

#include <stdbool.h>
#include <stdint.h>

#define FLOW_NONE UINT32_MAX

struct flow_net;

struct flow_use {
    uint32_t link;
    double per_unit; /* load on the link for each unit of the flow, >= 0; 0 is no use */
};

/* create/destroy: the net grows as needed. NULL when memory is out; destroy takes NULL. */
struct flow_net *flow_net_create(void);
void flow_net_destroy(struct flow_net *net);

/* A new link. capacity >= 0 load a second, INFINITY allowed; at 0 its flows stand still. FLOW_NONE when memory is out. */
uint32_t flow_net_link(struct flow_net *net, double capacity);
void flow_net_set_capacity(struct flow_net *net, uint32_t link, double capacity);
double flow_net_capacity(const struct flow_net *net, uint32_t link);

/* A new flow. weight > 0: at equal fill, rates are as the weights; cap >= 0 units a second, INFINITY for none. uses[count]
 * are copied; a link that is named twice counts twice. Its rate is 0 until the next solve. FLOW_NONE when memory is out. */
uint32_t flow_net_add(struct flow_net *net, double weight, double cap, const struct flow_use *uses,
                      uint32_t count);
void flow_net_remove(struct flow_net *net, uint32_t flow);

/* Brings the rates up to date. Returns the number of flows whose rate moved by more than 1e-10 relative since they were told last,
 * new ones with a rate included, and their rows in *changed, ascending, borrowed until the next call that changes the
 * net. The others keep their rate to the bit. */
uint32_t flow_net_solve(struct flow_net *net, const uint32_t **changed);

/* The next solve starts from nothing instead of from the last rates: the same result, at the cost of all flows. */
void flow_net_forget(struct flow_net *net);

/* Units per second as of the last solve; INFINITY when neither a link nor a cap limits the flow. */
double flow_net_rate(const struct flow_net *net, uint32_t flow);

/* ---- looking around ---- */

bool flow_net_has(const struct flow_net *net, uint32_t flow);

/* The uses of a flow, each link once, in no order that means anything; borrowed until the next call that changes the net. */
uint32_t flow_net_uses(const struct flow_net *net, uint32_t flow, const struct flow_use **uses);

/* The flows of a link, in no order that means anything, but the same for the same calls; borrowed until the next add or
 * remove. */
uint32_t flow_net_flows_of(const struct flow_net *net, uint32_t link, const uint32_t **flows);

/* All flows that the last solve could have reached over links: those in a connected part of the net that held a changed
 * link, a link of a new flow or of a removed one. Links that cannot bind, whatever happens on them, neither count nor
 * connect: a flow that nothing but its cap can stop is not among them. Ascending, borrowed until the next call that changes
 * the net. */
uint32_t flow_net_reached(struct flow_net *net, const uint32_t **flows);

#endif
