/* transfers.c - transfers begin, move and end. */
#include "network/transfers.h"

#include "base/assert.h"
#include "engine/agenda.h"
#include "network/columns.h"
#include "network/soonest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ONE_INSTANT 1e-12 /* times this close, relative, are one */

struct row {
    double start_s, latency_s, size, weight, cap;
    double begin_s, finish_s;
    uint32_t first_use, use_count;
    uint32_t waits;  /* for so many others */
    uint32_t follow; /* first of the edges to those that wait for it, FLOW_NONE = none */
};

struct edge {
    uint32_t later, next;
};

/* What the flow row of a moving transfer carries. */
struct cargo {
    double left, since_s, rate;
    uint32_t transfer;
};

struct transfers {
    struct flow_net *net;
    struct row *rows; /* [room] */
    uint32_t count, room;
    struct flow_use *uses; /* [use_room] */
    uint32_t use_count, use_room;
    struct edge *edges; /* [edge_room] */
    uint32_t edge_count, edge_room;

    double now_s;
    struct agenda first_byte; /* a slot for each transfer whose first byte is due later */
    struct cargo *cargo;      /* [flow_room], by flow row */
    struct soonest end_s;     /* by flow row */
    uint32_t *list;           /* [flow_room] flow rows that end  */
    uint32_t flow_room;
    uint32_t *
        ended; /* [room] transfers that ended at this instant; those that follow are still to be told */
    uint32_t ended_count;
    struct transfers_cost cost;
};

/* ---- what there is to do ------------------------------------------------------------------------ */

struct transfers *transfers_create(struct flow_net *net)
{
    struct transfers *transfers = calloc(1, sizeof *transfers);
    if (transfers != NULL) transfers->net = net;
    return transfers;
}

void transfers_destroy(struct transfers *transfers)
{
    if (transfers == NULL) return;
    free(transfers->rows);
    free(transfers->uses);
    free(transfers->edges);
    free(transfers->cargo);
    free(transfers->list);
    free(transfers->ended);
    agenda_clear(&transfers->first_byte);
    soonest_clear(&transfers->end_s);
    free(transfers);
}

/* Room for `more` behind count. */
static void *with_room(void *column, uint32_t count, uint32_t more, uint32_t *room,
                       size_t item_bytes, bool *ok)
{
    if (*room - count >= more) return column;
    const uint32_t wanted = *room * 2 + more + 16;
    column = column_resize(column, wanted, item_bytes, ok);
    if (*ok) *room = wanted;
    return column;
}

uint32_t transfers_add(struct transfers *transfers, const struct transfer *transfer)
{
    ASSERT(transfer->start_s >= 0 && transfer->latency_s >= 0 && transfer->size >= 0);
    bool ok = true;
    transfers->rows = with_room(transfers->rows, transfers->count, 1, &transfers->room,
                                sizeof *transfers->rows, &ok);
    transfers->uses = with_room(transfers->uses, transfers->use_count, transfer->use_count,
                                &transfers->use_room, sizeof *transfers->uses, &ok);
    if (!ok) return FLOW_NONE;
    memcpy(transfers->uses + transfers->use_count, transfer->uses,
           transfer->use_count * sizeof *transfer->uses);
    transfers->rows[transfers->count] = (struct row){ .start_s = transfer->start_s,
                                                      .latency_s = transfer->latency_s,
                                                      .size = transfer->size,
                                                      .weight = transfer->weight,
                                                      .cap = transfer->cap,
                                                      .begin_s = INFINITY,
                                                      .finish_s = INFINITY,
                                                      .first_use = transfers->use_count,
                                                      .use_count = transfer->use_count,
                                                      .follow = FLOW_NONE };
    transfers->use_count += transfer->use_count;
    return transfers->count++;
}

bool transfers_after(struct transfers *transfers, uint32_t later, uint32_t earlier)
{
    ASSERT(later < transfers->count && earlier < transfers->count);
    bool ok = true;
    transfers->edges = with_room(transfers->edges, transfers->edge_count, 1, &transfers->edge_room,
                                 sizeof *transfers->edges, &ok);
    if (!ok) return false;
    struct row *row = &transfers->rows[earlier];
    transfers->edges[transfers->edge_count] = (struct edge){ later, row->follow };
    row->follow = transfers->edge_count++;
    transfers->rows[later].waits++;
    return true;
}

/* ---- one transfer ------------------------------------------------------------------------------- */

static bool is_now(const struct transfers *transfers, double time_s)
{
    return time_s <= transfers->now_s * (1 + ONE_INSTANT);
}

static void end(struct transfers *transfers, uint32_t transfer)
{
    transfers->rows[transfer].finish_s = transfers->now_s;
    transfers->ended[transfers->ended_count++] = transfer;
}

static bool flow_has_columns(struct transfers *transfers, uint32_t flow)
{
    if (flow < transfers->flow_room) return true;
    const uint32_t room = flow * 2 + 64;
    bool ok = soonest_grow(&transfers->end_s, room);
    transfers->cargo = column_resize(transfers->cargo, room, sizeof *transfers->cargo, &ok);
    transfers->list = column_resize(transfers->list, room, sizeof *transfers->list, &ok);
    if (ok) transfers->flow_room = room;
    return ok;
}

/* The first byte is on its way. */
static bool move(struct transfers *transfers, uint32_t transfer)
{
    const struct row *row = &transfers->rows[transfer];
    if (!(row->size > 0)) {
        end(transfers, transfer);
        return true;
    }
    const uint32_t flow = flow_net_add(transfers->net, row->weight, row->cap,
                                       transfers->uses + row->first_use, row->use_count);
    if (flow == FLOW_NONE || !flow_has_columns(transfers, flow)) return false;
    transfers->cargo[flow] = (struct cargo){ row->size, transfers->now_s, 0, transfer };
    return true;
}

/* Nothing is waited for any more, but for the start and the latency. */
static bool ready(struct transfers *transfers, uint32_t transfer)
{
    struct row *row = &transfers->rows[transfer];
    row->begin_s = row->start_s > transfers->now_s ? row->start_s : transfers->now_s;
    const double first_byte_s = row->begin_s + row->latency_s;
    if (is_now(transfers, first_byte_s)) return move(transfers, transfer);
    int64_t order; /* times are >= 0: their bits are in their order */
    memcpy(&order, &first_byte_s, sizeof order);
    agenda_set(&transfers->first_byte, transfer, order, transfer);
    return true;
}

/* ---- one instant -------------------------------------------------------------------------------- */

static double first_byte_s(const struct transfers *transfers)
{
    const struct agenda_entry *first = agenda_first(&transfers->first_byte);
    double time_s = INFINITY;
    if (first != NULL) memcpy(&time_s, &first->at_ns, sizeof time_s);
    return time_s;
}

static void end_flows(struct transfers *transfers)
{
    const uint32_t count =
        soonest_until(&transfers->end_s, transfers->now_s * (1 + ONE_INSTANT), transfers->list);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t flow = transfers->list[i];
        soonest_set(&transfers->end_s, flow, INFINITY);
        flow_net_remove(transfers->net, flow);
        end(transfers, transfers->cargo[flow].transfer);
    }
}

/* Those that waited for what has ended; one that has nothing to carry ends at once. */
static bool tell_followers(struct transfers *transfers)
{
    while (transfers->ended_count > 0) {
        const uint32_t ended = transfers->ended[--transfers->ended_count];
        for (uint32_t e = transfers->rows[ended].follow; e != FLOW_NONE;
             e = transfers->edges[e].next) {
            const uint32_t later = transfers->edges[e].later;
            if (--transfers->rows[later].waits == 0 && !ready(transfers, later)) return false;
        }
    }
    return true;
}

static bool first_bytes(struct transfers *transfers)
{
    while (is_now(transfers, first_byte_s(transfers)) && transfers->first_byte.count > 0) {
        const uint32_t transfer = agenda_first(&transfers->first_byte)->slot;
        agenda_unset(&transfers->first_byte, transfer);
        if (!move(transfers, transfer)) return false;
    }
    return tell_followers(transfers);
}

/* Flows whose rate changed: what they carried at the old one, and when they end at the new one. */
static void change_rates(struct transfers *transfers)
{
    const uint32_t *changed;
    const uint32_t count = flow_net_solve(transfers->net, &changed);
    for (uint32_t i = 0; i < count; i++) {
        struct cargo *cargo = &transfers->cargo[changed[i]];
        const double elapsed_s = transfers->now_s - cargo->since_s;
        if (elapsed_s > 0) cargo->left -= cargo->rate * elapsed_s;
        if (!(cargo->left > 0)) cargo->left = 0;
        cargo->since_s = transfers->now_s;
        cargo->rate = flow_net_rate(transfers->net, changed[i]);
        soonest_set(&transfers->end_s, changed[i],
                    cargo->rate > 0 ? transfers->now_s + cargo->left / cargo->rate : INFINITY);
    }
    transfers->cost.instants++;
    transfers->cost.rates += count;
}

bool transfers_run(struct transfers *transfers)
{
    bool ok = agenda_init(&transfers->first_byte, transfers->count);
    transfers->ended = column_resize(NULL, transfers->count + 1, sizeof *transfers->ended, &ok);
    for (uint32_t t = 0; ok && t < transfers->count; t++)
        if (transfers->rows[t].waits == 0) ok = ready(transfers, t);
    while (ok && tell_followers(transfers) && first_bytes(transfers)) {
        change_rates(transfers);
        const double end_s = soonest_time(&transfers->end_s);
        const double begin_s = first_byte_s(transfers);
        const double next_s = end_s < begin_s ? end_s : begin_s;
        if (!(next_s < INFINITY)) return true;
        if (next_s > transfers->now_s) transfers->now_s = next_s;
        end_flows(transfers);
    }
    return false;
}

/* ---- answers ------------------------------------------------------------------------------------ */

double transfers_begin_s(const struct transfers *transfers, uint32_t transfer)
{
    ASSERT(transfer < transfers->count);
    return transfers->rows[transfer].begin_s;
}

double transfers_finish_s(const struct transfers *transfers, uint32_t transfer)
{
    ASSERT(transfer < transfers->count);
    return transfers->rows[transfer].finish_s;
}

struct transfers_cost transfers_cost(const struct transfers *transfers)
{
    return transfers->cost;
}
