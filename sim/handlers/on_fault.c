/* on_fault.c - see on_fault.h. */
#include "handlers/on_fault.h"

#include "base/assert.h"
#include "base/bits.h"
#include "handlers/books.h"
#include "handlers/contention.h"
#include "handlers/on_event.h"
#include "handlers/transition.h"

static uint32_t links_per_server(const struct run *run)
{
    return run->scenario->layouts[run->variant->layout].fabric.nics_per_server;
}

static uint32_t nodes_per_server(const struct run *run)
{
    return run->variant->nodes / run->variant->servers;
}

/* Nodes that share a server own its NICs in equal parts, as they own its GPUs. */
static uint32_t links_per_node(const struct run *run)
{
    const uint32_t links = links_per_server(run) / nodes_per_server(run);
    return links > 0 ? links : 1;
}

/* First node that a component concerns; a leaf concerns several. */
static uint32_t node_of(const struct run *run, enum component kind, uint32_t element)
{
    switch (kind) {
    case COMPONENT_GPU:
        return element / run->cluster.gpus_per_node;
    case COMPONENT_LINK:
        return element / links_per_node(run);
    case COMPONENT_LEAF:
        return element / run->variant->fabric.rails * run->nodes_per_leaf;
    default:
        return element;
    }
}

/* GPUs of the node that use this NIC (spec/nic_map); nodes that share a server have NICs of their own. */
static uint32_t link_mask(const struct run *run, uint32_t link)
{
    const uint32_t links = links_per_node(run), nic = link % links;
    const bool whole = nodes_per_server(run) == 1;
    uint32_t mask = 0;
    for (uint32_t bit = 0; bit < run->cluster.gpus_per_node; bit++)
        if (whole ? nic_set_has(nic_map_of(&run->nics, bit), nic) : bit % links == nic)
            mask |= 1u << bit;
    return mask;
}

static struct incident *incident_at(struct run *run, uint32_t row)
{
    return &LOG_ITEMS(&run->result->incidents, struct incident)[row];
}

static uint32_t incident_open(struct run *run, enum component kind, uint32_t element,
                              uint32_t gpus_broken)
{
    const struct incident incident = { .at_ns = run->now_ns,
                                       .repaired_ns = TIME_NEVER,
                                       .component = (uint8_t)kind,
                                       .element = element,
                                       .gpus_broken = gpus_broken };
    if (!log_append(&run->result->incidents, &incident)) run->out_of_memory = true;
    return (uint32_t)run->result->incidents.count - 1;
}

/* Whether a job is on the network: in more than one NVLink domain, which is a node where nodes have none in common. */
static bool spans_domains(const struct run *run, uint32_t live)
{
    const struct grant *grants = run->cluster.grants;
    const uint32_t first = run->live.attempts[live].first_grant, nodes = run->nodes_per_domain;
    for (uint32_t row = grants[first].next; row != GRANT_NONE; row = grants[row].next)
        if (grants[row].node / nodes != grants[first].node / nodes) return true;
    return false;
}

static int64_t detection_ns(const struct run *run, enum component kind)
{
    return run->policy->detection_ns
               ? run->policy->detection_ns(run->policy_memory, &run->view, kind)
               : run->scenario->failures.detection_ns;
}

/* What stops. */
struct blow {
    uint32_t mask; /* jobs on these GPUs of the node; those without GPUs when it is all of them */
    bool
        spanning_only; /* only jobs that are on the network                                        */
    uint32_t incident;
    int64_t detection_ns;
};

static void strike(struct run *run, uint32_t live, const struct blow *blow)
{
    if (run->live.attempts[live].first_grant == GRANT_NONE) return;
    if (blow->spanning_only && !spans_domains(run, live)) return;
    transition_hang(run, live, blow->incident, blow->detection_ns);
}

/* By the grants of the node. A job that only holds GPUs gives them back at once, which changes the list: it
 * is walked again then. */
static void strike_grants(struct run *run, uint32_t node, const struct blow *blow)
{
    const struct cluster *cluster = &run->cluster;
    for (uint32_t row = cluster->first_on_node[node]; row != GRANT_NONE;) {
        const struct grant grant = cluster->grants[row];
        const bool hit =
            grant.mask & blow->mask || (grant.mask == 0 && blow->mask == cluster->full_mask[node]);
        const bool was_waiting = run->live.jobs[grant.live].state == LIVE_WAITING;
        if (hit) strike(run, grant.live, blow);
        const bool gone = was_waiting && run->live.attempts[grant.live].first_grant == GRANT_NONE;
        row = hit && gone ? cluster->first_on_node[node] : grant.next_on_node;
    }
}

static void stop_holders(struct run *run, uint32_t node, struct blow blow)
{
    if (run->cluster.first_on_node) {
        strike_grants(run, node, &blow);
        return;
    }
    const uint32_t *holder = &run->cluster.holder[(uint64_t)node * run->cluster.gpus_per_node];
    for (uint32_t mask = blow.mask; mask; mask &= mask - 1)
        if (holder[__builtin_ctz(mask)] != LIVE_NONE)
            strike(run, holder[__builtin_ctz(mask)], &blow);
}

static void refresh_holders(struct run *run, uint32_t node)
{
    const struct cluster *cluster = &run->cluster;
    if (cluster->first_on_node) {
        for (uint32_t row = cluster->first_on_node[node]; row != GRANT_NONE;
             row = cluster->grants[row].next_on_node)
            transition_refresh_broken(run, cluster->grants[row].live);
        return;
    }
    const uint32_t *holder = &cluster->holder[(uint64_t)node * cluster->gpus_per_node];
    for (uint32_t bit = 0; bit < cluster->gpus_per_node; bit++)
        if (holder[bit] != LIVE_NONE) transition_refresh_broken(run, holder[bit]);
}

static void begin_repair(struct run *run, uint32_t row)
{
    run->faults.state[row] = PART_WAITS;
    faults_start_repair(&run->faults, row, run->now_ns);
}

void on_node_emptied(struct run *run, uint32_t node)
{
    const struct faults *faults = &run->faults;
    const uint32_t spans[][2] = { { COMPONENT_GPU, run->cluster.gpus_per_node },
                                  { COMPONENT_LINK, links_per_node(run) } };
    for (size_t s = 0; s < sizeof spans / sizeof *spans; s++)
        for (uint32_t i = 0; i < spans[s][1]; i++) {
            const uint32_t element = node * spans[s][1] + i;
            if (element >= faults->count[spans[s][0]]) continue;
            const uint32_t row = faults->first[spans[s][0]] + element;
            if (faults->state[row] != PART_WAITS) continue;
            transition_node(run, node, cluster_node_down);
            begin_repair(run, row);
        }
}

/* A server that is to be emptied: no new jobs; repaired at once when nobody is on it. */
static void drain(struct run *run, uint32_t row, uint32_t node, uint32_t incident)
{
    const enum component kind = faults_kind(&run->faults, row);
    incident_at(run, incident)->gpus_removed =
        run->cluster.outs[node] ? 0 : run->cluster.gpus_per_node;
    run->faults.state[row] = PART_WAITS;
    transition_node(run, node, cluster_node_out);
    if (run->scenario->failures.drain == DRAIN_NOW)
        stop_holders(run, node,
                     (struct blow){ .mask = run->cluster.full_mask[node],
                                    .incident = incident,
                                    .detection_ns = detection_ns(run, kind) });
    if (cluster_node_empty(&run->cluster, node)) on_node_emptied(run, node);
}

static void fault_gpu(struct run *run, uint32_t row, uint32_t element)
{
    const uint32_t node = node_of(run, COMPONENT_GPU, element);
    const uint32_t mask = 1u << element % run->cluster.gpus_per_node;
    const uint32_t incident = incident_open(run, COMPONENT_GPU, element, 1);
    run->faults.incident[row] = incident;
    transition_gpus(run, node, mask, cluster_gpu_broken);
    stop_holders(run, node,
                 (struct blow){ .mask = mask,
                                .incident = incident,
                                .detection_ns = detection_ns(run, COMPONENT_GPU) });
    refresh_holders(run, node);
    if (run->scenario->failures.drain != DRAIN_GPU) {
        drain(run, row, node, incident);
        return;
    }
    incident_at(run, incident)->gpus_removed = run->cluster.outs[node] ? 0 : 1;
    begin_repair(run, row);
}

/* All nodes of a server fail together. */
static void fault_server(struct run *run, uint32_t row, uint32_t server)
{
    const uint32_t g = run->cluster.gpus_per_node, parts = nodes_per_server(run);
    const uint32_t incident = incident_open(run, COMPONENT_SERVER, server, g * parts);
    run->faults.incident[row] = incident;
    for (uint32_t node = server * parts; node < (server + 1) * parts; node++) {
        if (!run->cluster.outs[node]) incident_at(run, incident)->gpus_removed += g;
        transition_node(run, node, cluster_node_dead);
        stop_holders(run, node,
                     (struct blow){ .mask = run->cluster.full_mask[node],
                                    .incident = incident,
                                    .detection_ns = detection_ns(run, COMPONENT_SERVER) });
        refresh_holders(run, node);
    }
    begin_repair(run, row);
}

static void set_link(struct run *run, uint32_t element, double factor)
{
    const uint32_t links = links_per_server(run);
    contention_set_nic(run, element / links, element % links, factor);
}

static void fault_link(struct run *run, uint32_t row, uint32_t element)
{
    const uint32_t node = node_of(run, COMPONENT_LINK, element);
    const uint32_t incident = incident_open(run, COMPONENT_LINK, element, 0);
    run->faults.incident[row] = incident;
    if (faults_is_slow(&run->faults, row, run->now_ns)) {
        set_link(run, element, run->faults.slow_link.factor);
        return;
    }
    stop_holders(run, node,
                 (struct blow){ .mask = link_mask(run, element),
                                .spanning_only = true,
                                .incident = incident,
                                .detection_ns = detection_ns(run, COMPONENT_LINK) });
    drain(run, row, node, incident);
}

static void fault_leaf(struct run *run, uint32_t row, uint32_t leaf)
{
    const uint32_t incident = incident_open(run, COMPONENT_LEAF, leaf, 0);
    run->faults.incident[row] = incident;
    const uint32_t first = node_of(run, COMPONENT_LEAF, leaf);
    for (uint32_t node = first; node < first + run->nodes_per_leaf && node < run->cluster.nodes;
         node++) {
        if (!run->cluster.outs[node])
            incident_at(run, incident)->gpus_removed += run->cluster.gpus_per_node;
        transition_node(run, node, cluster_node_dark);
        stop_holders(run, node,
                     (struct blow){ .mask = run->cluster.full_mask[node],
                                    .spanning_only = true,
                                    .incident = incident,
                                    .detection_ns = detection_ns(run, COMPONENT_LEAF) });
    }
    begin_repair(run, row);
}

void on_fault(struct run *run, uint32_t row)
{
    const enum component kind = faults_kind(&run->faults, row);
    const uint32_t element = row - run->faults.first[kind];
    agenda_unset(&run->faults.agenda, row);
    switch (kind) {
    case COMPONENT_GPU:
        fault_gpu(run, row, element);
        break;
    case COMPONENT_SERVER:
        fault_server(run, row, element);
        break;
    case COMPONENT_LINK:
        fault_link(run, row, element);
        break;
    default:
        fault_leaf(run, row, element);
        break;
    }
}

void on_repair(struct run *run, uint32_t row)
{
    const enum component kind = faults_kind(&run->faults, row);
    const uint32_t element = row - run->faults.first[kind];
    const uint32_t node = node_of(run, kind, element);
    struct incident *incident = incident_at(run, run->faults.incident[row]);
    incident->repaired_ns = run->now_ns;
    incident->down_gpu_ns = (int128)incident->gpus_removed * (run->now_ns - incident->at_ns);
    agenda_unset(&run->faults.agenda, row);
    if (run->faults.state[row] == PART_SLOW) {
        set_link(run, element, 1);
        faults_renew(&run->faults, row, run->now_ns);
        return;
    }
    const bool drained = run->scenario->failures.drain != DRAIN_GPU || kind == COMPONENT_LINK;
    if (kind == COMPONENT_GPU)
        transition_gpus(run, node, 1u << element % run->cluster.gpus_per_node, cluster_gpu_whole);
    const uint32_t parts = nodes_per_server(run);
    if (kind == COMPONENT_SERVER)
        for (uint32_t n = element * parts; n < (element + 1) * parts; n++) {
            transition_node(run, n, cluster_node_alive);
            refresh_holders(run, n);
        }
    else if (kind == COMPONENT_LEAF)
        for (uint32_t n = node; n < node + run->nodes_per_leaf && n < run->cluster.nodes; n++)
            transition_node(run, n, cluster_node_lit);
    else if (drained)
        transition_node(run, node, cluster_node_lit);
    if (kind == COMPONENT_GPU) refresh_holders(run, node);
    faults_renew(&run->faults, row, run->now_ns);
}

void on_crash(struct run *run, uint32_t live)
{
    const uint32_t incident = incident_open(run, COMPONENT_JOB, run->live.jobs[live].serial, 0);
    incident_at(run, incident)->repaired_ns = run->now_ns;
    transition_hang(run, live, incident, 0);
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* Where the incident of a GPU, or of the whole node, stands. */
static uint32_t *hand_incident(const struct run *run, uint32_t node, uint32_t mask, bool whole)
{
    const uint32_t g = run->cluster.gpus_per_node;
    return &run->hand_incident[(uint64_t)node * (g + 1) +
                               (whole ? g : (uint32_t)__builtin_ctz(mask))];
}

void fault_by_hand(struct run *run, uint32_t node, uint32_t mask, bool whole)
{
    const uint32_t gpus = (uint32_t)bits_count(mask);
    const enum component kind = whole ? COMPONENT_SERVER : COMPONENT_GPU;
    const uint32_t element =
        whole ? node : node * run->cluster.gpus_per_node + (uint32_t)__builtin_ctz(mask);
    const uint32_t incident = incident_open(run, kind, element, gpus);
    if (!run->cluster.outs[node]) incident_at(run, incident)->gpus_removed = gpus;
    *hand_incident(run, node, mask, whole) = incident;
    if (whole)
        transition_node(run, node, cluster_node_dead);
    else
        transition_gpus(run, node, mask, cluster_gpu_broken);
    stop_holders(run, node, (struct blow){ .mask = mask, .incident = incident });
    refresh_holders(run, node);
}

void repair_by_hand(struct run *run, uint32_t node, uint32_t mask, bool whole)
{
    uint32_t *row = hand_incident(run, node, mask, whole);
    if (*row != ROW_NONE) { /* else it broke by itself, and its own repair is to come */
        struct incident *incident = incident_at(run, *row);
        incident->repaired_ns = run->now_ns;
        incident->down_gpu_ns = (int128)incident->gpus_removed * (run->now_ns - incident->at_ns);
        *row = ROW_NONE;
    }
    if (whole)
        transition_node(run, node, cluster_node_alive);
    else
        transition_gpus(run, node, mask, cluster_gpu_whole);
    refresh_holders(run, node);
}

/* Nodes that a NIC belongs to: one, or all that share its server where it has fewer NICs than nodes. */
struct nodes {
    uint32_t first, end;
};

static struct nodes nodes_of_link(const struct run *run, uint32_t server, uint32_t nic)
{
    const uint32_t parts = nodes_per_server(run), links = links_per_server(run);
    if (links < parts) return (struct nodes){ server * parts, (server + 1) * parts };
    const uint32_t node = node_of(run, COMPONENT_LINK, server * links + nic);
    return (struct nodes){ node, node + 1 };
}

void link_dead_by_hand(struct run *run, uint32_t server, uint32_t nic)
{
    const uint32_t links = links_per_server(run), element = server * links + nic;
    if (nic >= links || run->hand_link[element] != ROW_NONE) return;
    const struct nodes nodes = nodes_of_link(run, server, nic);
    const uint32_t incident = incident_open(run, COMPONENT_LINK, element, 0);
    run->hand_link[element] = incident;
    for (uint32_t node = nodes.first; node < nodes.end && !run->out_of_memory; node++) {
        const uint32_t all = run->cluster.full_mask[node];
        if (!run->cluster.outs[node])
            incident_at(run, incident)->gpus_removed += run->cluster.gpus_per_node;
        stop_holders(
            run, node,
            (struct blow){ .mask = links < nodes_per_server(run) ? all : link_mask(run, element),
                           .spanning_only = true,
                           .incident = incident });
        transition_node(run, node, cluster_node_out);
        if (run->scenario->failures.drain == DRAIN_NOW)
            stop_holders(run, node, (struct blow){ .mask = all, .incident = incident });
    }
}

void link_alive_by_hand(struct run *run, uint32_t server, uint32_t nic)
{
    const uint32_t links = links_per_server(run), element = server * links + nic;
    if (nic >= links || run->hand_link[element] == ROW_NONE) return;
    const struct nodes nodes = nodes_of_link(run, server, nic);
    struct incident *incident = incident_at(run, run->hand_link[element]);
    incident->repaired_ns = run->now_ns;
    incident->down_gpu_ns = (int128)incident->gpus_removed * (run->now_ns - incident->at_ns);
    run->hand_link[element] = ROW_NONE;
    for (uint32_t node = nodes.first; node < nodes.end; node++)
        transition_node(run, node, cluster_node_back);
}
