/* flow_net.c - the rows of the net: links with their members, flows with their uses. */
#include "network/flow_net.h"

#include "base/assert.h"
#include "network/flow_net_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ------------------------------------------------------------------------------------- */

struct flow_net *flow_net_create(void)
{
    struct flow_net *net = calloc(1, sizeof *net);
    if (net == NULL) return NULL;
    net->free_flow = FLOW_NONE;
    for (uint32_t c = 0; c < ROOM_CLASSES; c++) net->free_block[c] = FLOW_NONE;
    return net;
}

void flow_net_destroy(struct flow_net *net)
{
    if (net == NULL) return;
    for (uint32_t l = 0; l < net->link_count; l++) free(net->links[l].weight);
    free(net->links);
    free(net->state);
    free(net->level);
    free(net->slack);
    free(net->flow_level);
    free(net->limit);
    free(net->moved);
    agenda_clear(&net->work);
    free(net->flows);
    free(net->uses);
    free(net->place);
    free(net->dirty);
    free(net->list);
    free(net->roots);
    free(net->walk);
    row_set_clear(&net->touched);
    row_set_clear(&net->reached);
    free(net);
}

static bool links_have_room(struct flow_net *net)
{
    if (net->link_count < net->link_room) return true;
    const uint32_t room = net->link_room ? net->link_room * 2 : 16;
    bool ok = agenda_grow(&net->work, room);
    net->links = column_resize(net->links, room, sizeof *net->links, &ok);
    net->state = column_resize(net->state, room, sizeof *net->state, &ok);
    net->slack = column_resize(net->slack, room, sizeof *net->slack, &ok);
    net->level = column_resize(net->level, room, sizeof *net->level, &ok);
    net->dirty = column_resize(net->dirty, room, sizeof *net->dirty, &ok);
    net->roots = column_resize(net->roots, room, sizeof *net->roots, &ok);
    net->walk = column_resize(net->walk, room, sizeof *net->walk, &ok);
    if (ok) net->link_room = room;
    return ok;
}

static bool flows_have_room(struct flow_net *net)
{
    if (net->free_flow != FLOW_NONE || net->flow_rows < net->flow_room) return true;
    const uint32_t room = net->flow_room ? net->flow_room * 2 : 16;
    bool ok = row_set_grow(&net->touched, room) && row_set_grow(&net->reached, room);
    net->flows = column_resize(net->flows, room, sizeof *net->flows, &ok);
    net->flow_level = column_resize(net->flow_level, room, sizeof *net->flow_level, &ok);
    net->list = column_resize(net->list, room, sizeof *net->list, &ok);
    if (ok) net->flow_room = room;
    return ok;
}

/* The columns of a link's members move to a block twice as large. */
static bool members_have_room(struct flow_net *net, struct net_link *link)
{
    if (link->count < link->room) return true;
    const uint32_t room = link->room ? link->room * 2 : 2, count = link->count;
    bool ok = true;
    if (room > net->limit_room) {
        net->limit = column_resize(net->limit, room + 1, sizeof *net->limit, &ok);
        net->moved = column_resize(net->moved, room, sizeof *net->moved, &ok);
        if (ok) net->limit_room = room;
    }
    double *weight =
        ok ? calloc(room, 2 * sizeof(double) + sizeof(struct net_peers) + sizeof(uint32_t)) : NULL;
    if (weight == NULL) return false;
    double *most = weight + room;
    void *rest = most + room;
    struct net_peers *peers = rest;
    rest = peers + room;
    uint32_t *flows = rest;
    if (count > 0) {
        memcpy(weight, link->weight, count * sizeof *weight);
        memcpy(most, link->member_most, count * sizeof *most);
        memcpy(peers, link->peers, count * sizeof *peers);
        memcpy(flows, link->flows, count * sizeof *flows);
    }
    free(link->weight);
    link->weight = weight;
    link->member_most = most;
    link->flows = flows;
    link->peers = peers;
    link->room = room;
    return true;
}

static uint32_t room_class(uint32_t count)
{
    return count <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(count - 1);
}

/* A block for `count` uses; FLOW_NONE when memory is out. */
static uint32_t take_block(struct flow_net *net, uint32_t count)
{
    const uint32_t class = room_class(count), rows = UINT32_C(1) << class;
    const uint32_t first = net->free_block[class];
    if (first != FLOW_NONE) {
        net->free_block[class] = net->place[first];
        return first;
    }
    if (net->use_room - net->use_rows < rows) {
        const uint32_t room = net->use_room * 2 + rows + 64;
        bool ok = true;
        net->uses = column_resize(net->uses, room, sizeof *net->uses, &ok);
        net->place = column_resize(net->place, room, sizeof *net->place, &ok);
        if (!ok) return FLOW_NONE;
        net->use_room = room;
    }
    net->use_rows += rows;
    return net->use_rows - rows;
}

static void give_block(struct flow_net *net, uint32_t first, uint32_t count)
{
    const uint32_t class = room_class(count);
    net->place[first] = net->free_block[class];
    net->free_block[class] = first;
}

/* ---- links -------------------------------------------------------------------------------------- */

void flow_net_touch(struct flow_net *net, uint32_t link)
{
    if (net->links[link].dirty) return;
    net->links[link].dirty = true;
    net->dirty[net->dirty_count++] = link;
}

/* Counts a member's most in, or with sign -1 out. */
static void count_most(struct net_link *link, uint32_t member, int sign)
{
    const double most = link->member_most[member];
    if (most < link->capacity)
        link->most += sign * most;
    else
        link->wide += (uint32_t)sign;
}

uint32_t flow_net_link(struct flow_net *net, double capacity)
{
    ASSERT(capacity >= 0);
    if (!links_have_room(net)) return FLOW_NONE;
    net->links[net->link_count] = (struct net_link){ .capacity = capacity };
    net->state[net->link_count] = LINK_SPARE | LINK_LOOSE;
    net->level[net->link_count] = INFINITY;
    return net->link_count++;
}

/* The least of what the flow's cap and its links, each alone, allow, and the least without `bound`, the link that sets
 * it: as levels. */
struct bounds {
    double least, next;
    uint32_t bound;
};

static struct bounds flow_bounds(const struct flow_net *net, const struct net_flow *flow)
{
    struct bounds bounds = { flow->cap_level, flow->cap_level, FLOW_NONE };
    for (uint32_t use = flow->first; use < flow->first + flow->count; use++) {
        const uint32_t link = net->uses[use].link;
        const double level = net->links[link].capacity / (net->uses[use].per_unit * flow->weight);
        if (level < bounds.least) {
            bounds.next = bounds.least;
            bounds.least = level;
            bounds.bound = link;
        } else if (level < bounds.next) {
            bounds.next = level;
        }
    }
    return bounds;
}

/* What the flow could ever carry on each of its links, now that a link of it, or all, are new. */
static void set_mosts(struct flow_net *net, uint32_t row, bool all_new)
{
    const struct net_flow *flow = &net->flows[row];
    const struct bounds bounds = flow_bounds(net, flow);
    for (uint32_t use = flow->first; use < flow->first + flow->count; use++) {
        struct net_link *link = &net->links[net->uses[use].link];
        const uint32_t member = net->place[use];
        if (!all_new) count_most(link, member, -1);
        link->member_most[member] =
            link->weight[member] *
            (net->uses[use].link == bounds.bound ? bounds.next : bounds.least);
        count_most(link, member, +1);
        flow_net_touch(net, net->uses[use].link);
    }
}

void flow_net_set_capacity(struct flow_net *net, uint32_t link, double capacity)
{
    ASSERT(link < net->link_count);
    ASSERT(capacity >= 0);
    struct net_link *changed = &net->links[link];
    if (changed->capacity == capacity) return;
    changed->capacity = capacity;
    changed->most = 0;
    changed->wide = 0;
    for (uint32_t m = 0; m < changed->count; m++) count_most(changed, m, +1);
    for (uint32_t m = 0; m < changed->count; m++) set_mosts(net, changed->flows[m], false);
    flow_net_touch(net, link);
}

double flow_net_capacity(const struct flow_net *net, uint32_t link)
{
    ASSERT(link < net->link_count);
    return net->links[link].capacity;
}

/* ---- flows -------------------------------------------------------------------------------------- */

/* Copies the uses, each link once; returns how many. */
static uint32_t copy_uses(struct flow_use *to, const struct flow_use *from, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!(from[i].per_unit > 0)) continue;
        uint32_t at = kept;
        while (at > 0 && to[at - 1].link > from[i].link) at--;
        if (at > 0 && to[at - 1].link == from[i].link) {
            to[at - 1].per_unit += from[i].per_unit;
            continue;
        }
        for (uint32_t j = kept; j > at; j--) to[j] = to[j - 1];
        to[at] = from[i];
        kept++;
    }
    return kept;
}

static void swap_uses(struct flow_net *net, uint32_t a, uint32_t b)
{
    const struct flow_use use = net->uses[a];
    const uint32_t place = net->place[a];
    net->uses[a] = net->uses[b];
    net->place[a] = net->place[b];
    net->uses[b] = use;
    net->place[b] = place;
}

void flow_net_loosen(struct flow_net *net, uint32_t row, bool loose)
{
    const struct net_link *link = &net->links[row];
    if (loose == !!(net->state[row] & LINK_LOOSE)) return;
    net->state[row] ^= LINK_LOOSE;
    for (uint32_t m = 0; m < link->count; m++) {
        struct net_flow *flow = &net->flows[link->flows[m]];
        uint32_t use = loose ? flow->first : flow->first + flow->tight;
        while (net->uses[use].link != row) use++;
        swap_uses(net, use, loose ? flow->first + --flow->tight : flow->first + flow->tight++);
    }
}

static struct net_peers peers_of(const struct flow_net *net, const struct net_flow *flow,
                                 uint32_t link)
{
    struct net_peers peers = { .count = 0 };
    const struct flow_use *uses = net->uses + flow->first;
    if (flow->count < 2 || flow->count > PEERS_MOST + 1 || flow->cap_level < INFINITY) return peers;
    for (uint32_t use = 0; use < flow->count; use++) {
        if (uses[use].per_unit != uses[0].per_unit) return (struct net_peers){ .count = 0 };
        if (uses[use].link != link) peers.link[peers.count++] = uses[use].link;
    }
    for (uint32_t p = peers.count; p < PEERS_MOST; p++) peers.link[p] = peers.link[p - 1];
    return peers;
}

static void join_link(struct flow_net *net, uint32_t row, uint32_t use)
{
    const struct net_flow *flow = &net->flows[row];
    struct net_link *link = &net->links[net->uses[use].link];
    net->place[use] = link->count;
    link->flows[link->count] = row;
    link->weight[link->count] = net->uses[use].per_unit * flow->weight;
    link->weights += link->weight[link->count];
    link->peers[link->count++] = peers_of(net, flow, net->uses[use].link);
}

/* The last member takes the place of the one that leaves. */
static void leave_link(struct flow_net *net, uint32_t use)
{
    const uint32_t row = net->uses[use].link, at = net->place[use];
    struct net_link *link = &net->links[row];
    count_most(link, at, -1);
    link->weights -= link->weight[at];
    const uint32_t last = --link->count, moved = link->flows[last];
    link->weight[at] = link->weight[last];
    link->member_most[at] = link->member_most[last];
    link->peers[at] = link->peers[last];
    link->flows[at] = moved;
    uint32_t theirs = net->flows[moved].first;
    while (net->uses[theirs].link != row) theirs++;
    net->place[theirs] = at;
    flow_net_touch(net, row);
}

uint32_t flow_net_add(struct flow_net *net, double weight, double cap, const struct flow_use *uses,
                      uint32_t count)
{
    ASSERT(weight > 0 && weight < INFINITY);
    ASSERT(cap >= 0);
    for (uint32_t i = 0; i < count; i++) {
        ASSERT(uses[i].link < net->link_count);
        ASSERT(uses[i].per_unit >= 0 && uses[i].per_unit * weight < INFINITY);
        if (!members_have_room(net, &net->links[uses[i].link])) return FLOW_NONE;
    }
    const uint32_t first = flows_have_room(net) ? take_block(net, count) : FLOW_NONE;
    if (first == FLOW_NONE) return FLOW_NONE;
    uint32_t flow = net->free_flow;
    if (flow == FLOW_NONE)
        flow = net->flow_rows++;
    else
        net->free_flow = net->flows[flow].next_free;
    const uint32_t kept = copy_uses(net->uses + first, uses, count);
    net->flows[flow] = (struct net_flow){
        .weight = weight, .cap_level = cap / weight, .first = first, .count = kept, .room = count
    };
    net->flow_level[flow] = -1;
    uint32_t *tight = &net->flows[flow].tight;
    for (uint32_t use = first; use < first + kept; use++)
        if (!(net->state[net->uses[use].link] & LINK_LOOSE))
            swap_uses(net, use, first + (*tight)++);
    for (uint32_t use = first; use < first + kept; use++) join_link(net, flow, use);
    set_mosts(net, flow, true);
    row_set_add(&net->touched, flow);
    return flow;
}

void flow_net_remove(struct flow_net *net, uint32_t flow)
{
    ASSERT(flow_net_has(net, flow));
    struct net_flow *gone = &net->flows[flow];
    for (uint32_t use = gone->first; use < gone->first + gone->count; use++) leave_link(net, use);
    give_block(net, gone->first, gone->room);
    gone->count = FLOW_NONE;
    gone->next_free = net->free_flow;
    net->free_flow = flow;
}

/* ---- looking around ----------------------------------------------------------------------------- */

double flow_net_rate(const struct flow_net *net, uint32_t flow)
{
    ASSERT(flow_net_has(net, flow));
    return net->flows[flow].rate;
}

bool flow_net_has(const struct flow_net *net, uint32_t flow)
{
    return flow < net->flow_rows && net->flows[flow].count != FLOW_NONE;
}

uint32_t flow_net_uses(const struct flow_net *net, uint32_t flow, const struct flow_use **uses)
{
    ASSERT(flow_net_has(net, flow));
    *uses = net->uses + net->flows[flow].first;
    return net->flows[flow].count;
}

uint32_t flow_net_flows_of(const struct flow_net *net, uint32_t link, const uint32_t **flows)
{
    ASSERT(link < net->link_count);
    *flows = net->links[link].flows;
    return net->links[link].count;
}
