/* flow_fill.c - the rates of the net. */
#include "network/flow_net.h"

#include "base/assert.h"
#include "models/maxmin.h"
#include "network/flow_net_parts.h"

#include <math.h>
#include <stdlib.h>

#define MOVED 1e-10 /* a rate that moves less is not told */

static void solve_all(const struct flow_net *net, double *rate)
{
    const uint32_t rows = net->flow_rows, links = net->link_count;
    struct maxmin_flow *flows = calloc(rows + 1, sizeof *flows);
    struct maxmin_use *uses = calloc(net->use_rows + 1, sizeof *uses);
    double *capacity = calloc(3 * links + 1, sizeof *capacity);
    uint8_t *state = calloc(rows + 1, 1);
    ASSERT(flows && uses && capacity && state);
    uint32_t count = 0;
    for (uint32_t l = 0; l < links; l++) capacity[l] = net->links[l].capacity;
    for (uint32_t f = 0; f < rows; f++) {
        const struct net_flow *flow = &net->flows[f];
        flows[f] = (struct maxmin_flow){ 1, 0 };
        if (flow->count == FLOW_NONE) continue;
        flows[f] = (struct maxmin_flow){ flow->weight, flow->cap_level * flow->weight };
        for (uint32_t use = flow->first; use < flow->first + flow->count; use++)
            uses[count++] = (struct maxmin_use){ f, net->uses[use].link, net->uses[use].per_unit };
    }
    const struct maxmin_net all = { capacity, links, flows, rows, uses, count };
    struct maxmin_scratch scratch = { capacity + links, capacity + 2 * links, state, NULL, NULL };
    maxmin_rates(&all, &scratch, rate);
    free(flows);
    free(uses);
    free(capacity);
    free(state);
}

uint32_t flow_net_solve(struct flow_net *net, const uint32_t **changed)
{
    uint32_t count = 0;
    double *rate = calloc(net->flow_rows + 1, sizeof *rate);
    ASSERT(rate);
    solve_all(net, rate);
    row_set_take(&net->touched, net->list);
    net->root_count = net->dirty_count;
    for (uint32_t i = 0; i < net->dirty_count; i++) {
        net->roots[i] = net->dirty[i];
        net->links[net->roots[i]].dirty = false;
    }
    net->dirty_count = 0;
    for (uint32_t f = 0; f < net->flow_rows; f++) {
        struct net_flow *flow = &net->flows[f];
        if (flow->count == FLOW_NONE || rate[f] == flow->rate ||
            fabs(rate[f] - flow->rate) <= MOVED * rate[f])
            continue;
        flow->rate = rate[f];
        net->list[count++] = f;
    }
    free(rate);
    *changed = net->list;
    return count;
}
