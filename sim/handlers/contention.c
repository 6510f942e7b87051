/* contention.c - see contention.h. */
#include "handlers/contention.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/philox.h"
#include "base/sort.h"
#include "cluster/speed_site.h"
#include "handlers/books.h"
#include "handlers/contention_parts.h"
#include "handlers/timing.h"
#include "handlers/transition.h"

#include <math.h>
#include <stdlib.h>

static uint32_t servers_of(const struct run *run)
{
    return run->variant->servers;
}

static bool fill_links(struct contention *contention)
{
    for (uint32_t link = 0; link < contention->fabric.links; link++)
        if (!periodic_link(contention->net, fabric_net_capacity(&contention->fabric, link)))
            return false;
    contention->links = contention->fabric.links;
    return true;
}

/* Whether one NIC of a server may be slower than the others. */
static bool slow_nics(const struct scenario *scenario)
{
    for (uint32_t i = 0; i < scenario->event_count; i++)
        if (scenario->events[i].action == ACTION_NIC_DEGRADE) return true;
    return scenario->failures.slow_link.share > 0 &&
           scenario->failures.component[COMPONENT_LINK].law != LAW_NONE;
}

/* Storage traffic goes over the NICs: over all of them, collectives over those of their GPUs. */
static bool stores_on_nics(const struct run *run)
{
    const struct storage *storage = &run->variant->storage;
    return storage->server_bytes_per_s <= 0 &&
           (storage->read_bytes_per_s > 0 || storage->write_bytes_per_s > 0);
}

static bool init(struct contention *contention, const struct run *run)
{
    static const enum estimate estimates[] = { [NETWORK_NONE] = ESTIMATES,
                                               [NETWORK_ESTIMATE] = ESTIMATE_MEAN,
                                               [NETWORK_UPPER] = ESTIMATE_UPPER,
                                               [NETWORK_LOWER] = ESTIMATE_LOWER };
    contention->key_ecmp = stream_key(run->scenario->seed, run->replica, "ecmp");
    contention->estimate = estimates[run->scenario->contention];
    const uint32_t servers = servers_of(run);
    contention->servers = calloc(servers, sizeof *contention->servers);
    contention->order = calloc(servers, sizeof *contention->order);
    contention->spare = calloc(servers, sizeof *contention->spare);
    contention->keys = calloc(servers, sizeof *contention->keys);
    contention->mask_of = calloc(servers, sizeof *contention->mask_of);
    contention->masks = calloc(servers, sizeof *contention->masks);
    const size_t nics = (size_t)servers * run->variant->fabric.nics_per_server;
    contention->nic_factor = calloc(nics, sizeof *contention->nic_factor);
    for (size_t i = 0; contention->nic_factor && i < nics; i++) contention->nic_factor[i] = 1;
    contention->net = periodic_create();
    if (!agenda_init(&contention->joins, run->live.capacity)) return false;
    if (!contention->mask_of || !contention->masks || !contention->nic_factor ||
        !contention->servers || !contention->order || !contention->spare || !contention->keys ||
        !contention->net ||
        !fabric_net_init_nics(&contention->fabric, &run->variant->fabric,
                              &run->scenario->layouts[run->variant->layout].fabric,
                              speed_server_bytes_per_s(run->speed), &run->nics,
                              run->nics.nics > 1 && (run->nics.shared || stores_on_nics(run) ||
                                                     slow_nics(run->scenario))))
        return false;
    contention->uses =
        calloc(fabric_net_most_uses(&contention->fabric, servers), sizeof *contention->uses);
    return contention->uses && fill_links(contention);
}

/* Without contention a link that is slow still slows those who use it, and so do hashes that meet. */
static bool slow_links(const struct run *run)
{
    const struct scenario *scenario = run->scenario;
    for (uint32_t i = 0; i < scenario->event_count; i++)
        if (scenario->events[i].action == ACTION_UPLINK_DEGRADE) return true;
    return scenario->layouts[run->variant->layout].fabric.routing != ROUTING_EVEN ||
           slow_nics(scenario);
}

bool contention_init(struct run *run)
{
    const struct scenario *scenario = run->scenario;
    const struct storage *storage = &run->variant->storage;
    const bool stores = storage->read_bytes_per_s > 0 || storage->write_bytes_per_s > 0 ||
                        storage->server_bytes_per_s > 0;
    const bool network =
        (scenario->contention != NETWORK_NONE || slow_links(run) || stores_on_nics(run)) &&
        scenario->communication.kind != COMM_NONE && run->variant->nodes > 1;
    if (run->replica == REPLICA_BLAST || (!network && !stores)) return true;
    run->contention = calloc(1, sizeof *run->contention);
    struct contention *contention = run->contention;
    if (!contention || !init(contention, run) || !contention_crossings_init(run)) return false;
    contention->network = network;
    if (stores && !contention_storage_init(run)) return false;
    if (!stores && (!run->keep_detail || contention->estimate == ESTIMATES)) return true;
    contention->told = calloc(contention->links, sizeof *contention->told);
    return contention->told != NULL;
}

void contention_destroy(struct contention *contention)
{
    if (!contention) return;
    agenda_clear(&contention->joins);
    fabric_net_clear(&contention->fabric);
    periodic_destroy(contention->net);
    free(contention->members);
    free(contention->live_of);
    free(contention->servers);
    free(contention->order);
    free(contention->spare);
    free(contention->keys);
    free(contention->mask_of);
    free(contention->masks);
    free(contention->nic_factor);
    free(contention->crossings);
    free(contention->of_server);
    free(contention->node_seen);
    free(contention->uses);
    free(contention->told);
    contention_storage_destroy(contention->storing);
    free(contention);
}

/* ---- who waits, by estimate ------------------------------------------------------------------ */

void contention_wait_until_now(struct run *run)
{
    struct contention *contention = run->contention;
    const struct replica_result *result = run->result;
    const int64_t from_ns = contention->since_ns > result->window_start_ns
                                ? contention->since_ns
                                : result->window_start_ns;
    const int64_t to_ns = run->now_ns < result->window_end_ns ? run->now_ns : result->window_end_ns;
    for (int e = 0; e < ESTIMATES && to_ns > from_ns; e++)
        contention->waited[e] += (int128)contention->waiting[e] * (to_ns - from_ns);
    contention->since_ns = run->now_ns;
}

static void set_waiting(struct contention *contention, struct member *member,
                        const int64_t waiting[ESTIMATES])
{
    for (int e = 0; e < ESTIMATES; e++) {
        contention->waiting[e] += waiting[e] - member->waiting[e];
        member->waiting[e] = waiting[e];
    }
}

/* ---- coming and going ------------------------------------------------------------------------ */

static bool grow_members(struct contention *contention, uint32_t room)
{
    if (room <= contention->member_room) return true;
    struct member *members = realloc(contention->members, room * sizeof *members);
    if (!members) return false;
    for (uint32_t live = contention->member_room; live < room; live++) {
        members[live] = (struct member){ .alone_s = 0 };
        for (int kind = 0; kind < TRAFFICS; kind++) members[live].traffic[kind].row = PERIODIC_NONE;
    }
    contention->members = members;
    contention->member_room = room;
    return agenda_grow(&contention->joins, room);
}

bool contention_set_live_of(struct contention *contention, uint32_t row, uint32_t live)
{
    if (row >= contention->live_room) {
        const uint32_t room = 2 * row + 64;
        uint32_t *live_of = realloc(contention->live_of, room * sizeof *live_of);
        if (!live_of) return false;
        contention->live_of = live_of;
        contention->live_room = room;
    }
    contention->live_of[row] = live;
    return true;
}

uint32_t contention_servers(const struct run *run, uint32_t live)
{
    struct contention *contention = run->contention;
    const struct cluster *cluster = &run->cluster;
    const uint32_t parts = run->variant->nodes / run->variant->servers;
    /* As transition_start has it: where a node is one part, a job that holds more than it asked for uses its first GPUs. */
    const bool idle =
        !run->node_gpus && run->live.attempts[live].held > demand_of_live(run, live)->gpus;
    const uint32_t used = idle ? contention->members[live].query.place.gpus_min : UINT32_MAX;
    uint32_t count = 0;
    bool ascending = true;
    for (uint32_t row = run->live.attempts[live].first_grant; row != GRANT_NONE;
         row = cluster->grants[row].next) {
        const uint32_t node = cluster->grants[row].node, server = node / parts;
        const uint32_t mask = bits_lowest(cluster->grants[row].mask, used);
        if (mask != 0 && contention->mask_of[server] == 0) {
            ascending = ascending && (count == 0 || server > contention->servers[count - 1]);
            contention->servers[count++] = server;
        }
        contention->mask_of[server] |= mask << node % parts * cluster->gpus_per_node;
    }
    if (!ascending) {
        for (uint32_t i = 0; i < count; i++) {
            contention->keys[i] = contention->servers[i];
            contention->order[i] = i;
        }
        sort_rows(contention->order, contention->spare, count, contention->keys);
        for (uint32_t i = 0; i < count; i++)
            contention->servers[i] = (uint32_t)contention->keys[contention->order[i]];
    }
    for (uint32_t i = 0; i < count; i++) {
        contention->masks[i] = contention->mask_of[contention->servers[i]];
        contention->mask_of[contention->servers[i]] = 0;
    }
    return count;
}

static double at_most(double value, double most)
{
    return value < most ? value : most;
}

static void enter(struct run *run, uint32_t live)
{
    struct contention *contention = run->contention;
    struct member *member = &contention->members[live];
    ASSERT(member->traffic[TRAFFIC_COLLECTIVE].row == PERIODIC_NONE);
    struct speed_operation operation;
    if (!contention->network || !speed_operation(run->speed, &member->query, &operation)) return;
    const uint32_t servers = contention_servers(run, live);
    const double *crossings = contention_crossings(run, live, servers);
    if ((servers < 2 && !crossings) || operation.compute_s <= 0) return;
    const struct speed_place *place = &member->query.place;
    const struct fabric_job sends = {
        .bytes = operation.bytes,
        .nics = place->nics > 0 ? place->nics : nic_map_first(&run->nics, place->gpus_min),
        .masks = contention->masks,
        .parts = operation.parts,
        .part_count = operation.part_count,
        .gpus = operation.gpus,
        .domains = operation.islands < servers ? operation.islands : servers,
        .key = contention->key_ecmp,
        .serial = run->live.jobs[live].serial,
        .epoch = member->epoch,
        .crossings = crossings,
        .island_servers = (double)place->servers / site_islands(*place)
    };
    const uint32_t count = fabric_net_uses(&contention->fabric, contention->servers, servers,
                                           &sends, contention->uses);
    double routed_s;
    if (!fabric_net_routed_s(&contention->fabric, contention->servers, servers, &sends,
                             operation.wire_s, &routed_s))
        run->out_of_memory = true;
    const struct periodic_job job = {
        .routed_s = routed_s,
        .compute_s = operation.compute_s,
        .hidden_s = operation.hidden_s,
        .curve = operation.curve,
        .alone_s = operation.alone_s,
        .wire_s = at_most(operation.wire_s, operation.alone_s),
    };
    member->alone_s = operation.alone_s;
    member->unit_s = operation.unit_s;
    const uint32_t row = periodic_add(contention->net, &job, contention->uses, count);
    member->traffic[TRAFFIC_COLLECTIVE].row = row;
    contention->changed = true;
    if (row == PERIODIC_NONE || !contention_set_live_of(contention, row, live))
        run->out_of_memory = true;
}

void contention_start(struct run *run, uint32_t live, const struct speed_query *query)
{
    struct contention *contention = run->contention;
    if (!contention) return;
    if (!grow_members(contention, run->live.capacity)) {
        run->out_of_memory = true;
        return;
    }
    contention->members[live].query = *query;
    contention->members[live].epoch = run->live.jobs[live].attempts;
    const int64_t work_start_ns = run->live.attempts[live].work_start_ns;
    if (work_start_ns > run->now_ns)
        agenda_set(&contention->joins, live, work_start_ns, agenda_rank(EV_JOIN, live));
    else
        contention_resume(run, live);
}

const struct agenda *contention_joins(const struct run *run)
{
    return run->contention ? &run->contention->joins : NULL;
}

void contention_join(struct run *run, uint32_t live)
{
    agenda_unset(&run->contention->joins, live);
    contention_resume(run, live);
}

void contention_resume(struct run *run, uint32_t live)
{
    struct contention *contention = run->contention;
    if (!contention) return;
    enter(run, live);
    contention_storage_enter(run, live);
}

void contention_leave(struct run *run, uint32_t live)
{
    struct contention *contention = run->contention;
    if (!contention || live >= contention->member_room) return;
    struct member *member = &contention->members[live];
    agenda_unset(&contention->joins, live);
    contention_storage_leave(run, live);
    struct traffic *collective = &member->traffic[TRAFFIC_COLLECTIVE];
    if (collective->row == PERIODIC_NONE) return;
    static const int64_t none[ESTIMATES];
    contention_wait_until_now(run);
    contention_links_drop(run, live, TRAFFIC_COLLECTIVE);
    set_waiting(contention, member, none);
    periodic_remove(contention->net, collective->row);
    collective->row = PERIODIC_NONE;
    contention->changed = true;
}

static void set_server(struct contention *contention, uint32_t server)
{
    const uint32_t nics = contention->fabric.shape.nics_per_server;
    const uint32_t links =
        contention->fabric.nic_links; /* one for all: no NIC is slow, or there is one */
    const double *factors = &contention->nic_factor[(size_t)server * nics];
    for (uint32_t nic = 0; nic < links; nic++)
        for (uint32_t way = 0; way < 2; way++) {
            const uint32_t link = fabric_net_nic(&contention->fabric, server, nic) + way;
            periodic_set_capacity(contention->net, link,
                                  factors[nic] * fabric_net_capacity(&contention->fabric, link));
            contention_storage_moved(contention, link);
        }
    contention->changed = true;
}

void contention_set_nic(struct run *run, uint32_t server, uint32_t nic, double factor)
{
    struct contention *contention = run->contention;
    const uint32_t nics = run->variant->fabric.nics_per_server;
    if (!contention || nic >= nics) return;
    contention->nic_factor[(size_t)server * nics + nic] = factor;
    set_server(contention, server);
}

void contention_set_leaf(struct run *run, uint32_t leaf, double factor)
{
    struct contention *contention = run->contention;
    if (!contention) return;
    const struct fabric_net *fabric = &contention->fabric;
    for (uint32_t cable = 0; cable < fabric_net_leaf_cables(fabric); cable++)
        for (uint32_t way = 0; way < 2; way++) {
            const uint32_t link = fabric_net_leaf(fabric, leaf, cable) + way;
            periodic_set_capacity(contention->net, link,
                                  factor * fabric_net_capacity(fabric, link));
            contention_storage_moved(contention, link);
        }
    contention->changed = true;
}

/* ---- the end of an instant ------------------------------------------------------------------- */

/* The band holds what is used: interleaving takes the same part of all jobs of a full link, also of one that would wait less at
 * random. */
static void hold_used(int64_t waiting[ESTIMATES], enum estimate used)
{
    if (used == ESTIMATES) return;
    if (waiting[ESTIMATE_LOWER] > waiting[used]) waiting[ESTIMATE_LOWER] = waiting[used];
    if (waiting[ESTIMATE_UPPER] < waiting[used]) waiting[ESTIMATE_UPPER] = waiting[used];
}

static void count_waiting(struct run *run, uint32_t live)
{
    struct contention *contention = run->contention;
    struct member *member = &contention->members[live];
    const uint32_t row = member->traffic[TRAFFIC_COLLECTIVE].row;
    const enum estimate used = contention->estimate;
    const double asked = (double)books_asked_units(run, live);
    int64_t waiting[ESTIMATES];
    for (int e = 0; e < ESTIMATES; e++)
        waiting[e] = (int64_t)(asked * periodic_share(contention->net, row, e));
    hold_used(waiting, used);
    set_waiting(contention, member, waiting);
    if (!contention->told) return;
    contention_links_set(run, live, TRAFFIC_COLLECTIVE,
                         &(struct traffic){ .row = row,
                                            .rate = periodic_rate(contention->net, row, used),
                                            .fullest = periodic_fullest(contention->net, row),
                                            .waiting = used == ESTIMATES ? 0 : waiting[used] });
}

void contention_retune(struct run *run, uint32_t live)
{
    const struct tempo tempo = speed_of(run->speed, &run->contention->members[live].query).tempo;
    /* What overlaps with compute slows nothing. */
    if (!tempo_equal(&tempo, &run->live.attempts[live].tempo)) transition_tempo(run, live, &tempo);
}

bool contention_take_wait(struct run *run, uint32_t live)
{
    struct contention *contention = run->contention;
    struct member *member = &contention->members[live];
    struct speed_query *query = &member->query;
    const struct periodic_wait *wait =
        periodic_wait(contention->net, member->traffic[TRAFFIC_COLLECTIVE].row);
    const double own_s = at_most(wait->own_s, CONTENTION_WAIT_MOST_S);
    const double others_s =
        contention->estimate == ESTIMATES
            ? 0
            : at_most(wait->others_s[contention->estimate], CONTENTION_WAIT_MOST_S);
    const double most_s = CONTENTION_MOVED * (member->alone_s + own_s + others_s);
    count_waiting(run, live);
    if (fabs(own_s - query->own_wait_s) <= most_s &&
        fabs(others_s - query->others_wait_s) <= most_s)
        return false;
    query->own_wait_s = own_s;
    query->others_wait_s = others_s;
    return true;
}

void contention_settle(struct run *run)
{
    struct contention *contention = run->contention;
    if (!contention || !contention->changed) return;
    contention->changed = false;
    contention_wait_until_now(run);
    if (contention->storing) {
        contention_storage_settle(run);
        return;
    }
    const uint32_t *rows;
    const uint32_t count = periodic_solve(contention->net, &rows);
    for (uint32_t r = 0; r < count; r++) {
        const uint32_t live = contention->live_of[rows[r]];
        if (contention_take_wait(run, live)) contention_retune(run, live);
    }
}

void contention_finish(struct run *run)
{
    struct contention *contention = run->contention;
    if (!contention) return;
    contention_wait_until_now(run);
    contention_links_finish(run);
    if (!contention->network || contention->estimate == ESTIMATES) return;
    run->result->has_contention = true;
    run->result->contention_lower = contention->waited[ESTIMATE_LOWER];
    run->result->contention_used = contention->waited[contention->estimate];
    run->result->contention_upper = contention->waited[ESTIMATE_UPPER];
}
