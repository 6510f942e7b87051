/* span.c - see span.h. */
#include "handlers/span.h"

#include "base/bits.h"
#include "base/exactmath.h"
#include "base/philox.h"
#include "cluster/vm.h"

/* Whether the number of GPUs that a job holds of a server does not say how many NICs and rails they use. */
static bool nics_vary(const struct run *run)
{
    const struct fabric_shape *shape = &run->variant->fabric;
    if (run->nics.nics == 1) return false;
    return !run->nics.even ||
           (shape->uplinks_per_leaf > 0 && shape->rails > 1 && shape->rails < run->nics.nics);
}

static bool draw_server_times(struct run *run)
{
    const double spread = run->scenario->stragglers.server_spread;
    if (spread <= 0 || run->replica == REPLICA_BLAST) return true;
    const uint64_t key = stream_key(run->scenario->seed, run->replica, "speed.server");
    run->server_time = ARENA_ARRAY(run->arena, double, run->variant->servers);
    if (run->server_time == NULL) return false;
    for (uint32_t s = 0; s < run->variant->servers; s++)
        run->server_time[s] =
            inv_lognormal(stream_uniform(key, (uint64_t)s * run->variant->gpus_per_server, 0),
                          -0.5 * spread * spread, spread);
    return true;
}

/* Whether what a training plan sends up depends on how many of its servers share a leaf. */
static bool leaves_fill(const struct run *run)
{
    const struct communication *communication = &run->scenario->communication;
    const struct fabric_shape *shape = &run->variant->fabric;
    if (shape->oversubscription <= 1 && shape->global_links == 0) return false;
    for (uint32_t i = 0; i < communication->mix_count; i++)
        if (communication->mix[i].profile.train.model.id[0] != '\0') return true;
    return false;
}

bool span_init(struct run *run)
{
    const struct layout *layout = &run->scenario->layouts[run->variant->layout];
    const uint32_t per_server = run->variant->nodes / run->variant->servers;
    const uint32_t servers = layout->server.domain_servers > 1 ? layout->server.domain_servers : 1;
    nic_map_init(&run->nics, &layout->server.tree, layout->server.gpus ? layout->server.gpus : 1,
                 run->variant->fabric.nics_per_server);
    if (nics_vary(run) &&
        !(run->node_masks = ARENA_ARRAY(run->arena, uint32_t, run->variant->nodes)))
        return false;
    const uint32_t units = run->variant->fabric.units + 1;
    const uint32_t pods = run->variant->fabric.pods + 1;
    if (leaves_fill(run) && (!(run->leaves = ARENA_ARRAY(run->arena, struct domain_held, units)) ||
                             !(run->pods = ARENA_ARRAY(run->arena, struct domain_held, pods))))
        return false;
    run->overhead_of_rest = vm_overhead_units(vm_of(run->scenario, run->variant));
    run->nodes_per_leaf = run->variant->fabric.servers_per_leaf * per_server;
    run->nodes_per_place = servers > 1 ? servers * per_server : run->nodes_per_leaf;
    if (!draw_server_times(run)) return false;
    /* Machines that share a server are no domain unless they share its NVLinks. */
    const bool apart = per_server > 1 && !layout->groups[0].vm.shared_nvlink;
    run->nodes_per_domain = apart ? 1 : servers * per_server;
    if (run->nodes_per_domain == 1) return true;
    const uint32_t domains = run->variant->nodes / run->nodes_per_domain + 1;
    run->domains = ARENA_ARRAY(run->arena, struct domain_held, domains);
    run->domain_list = ARENA_ARRAY(run->arena, uint32_t, domains);
    return run->domains != NULL && run->domain_list != NULL;
}

struct span span_begin(struct run *run)
{
    run->domain_stamp++;
    return (struct span){ .any = false };
}

/* A job of cores alone, or of a part of a GPU, counts as one GPU. */
static void add_server_time(const struct run *run, struct span *span, uint32_t node, uint32_t gpus)
{
    const double time = run->server_time[node / (run->variant->nodes / run->variant->servers)];
    const uint32_t weight = gpus > 0 ? gpus : 1;
    if (time > span->time_most) span->time_most = time;
    span->time_sum += weight * time;
    span->gpus += weight;
}

/* A node more of the placement; how many it has there by now. */
static uint32_t one_more(const struct run *run, struct domain_held *held)
{
    if (held->stamp != run->domain_stamp)
        *held = (struct domain_held){ .stamp = run->domain_stamp };
    return ++held->nodes;
}

void span_add(struct run *run, struct span *span, uint32_t node, uint32_t gpus)
{
    if (run->server_time) add_server_time(run, span, node, gpus);
    const uint32_t leaf = node / run->nodes_per_leaf;
    const uint32_t per_pod = run->variant->fabric.units_per_pod;
    if (!span->any) span->leaf = leaf;
    span->any = true;
    span->leaves |= leaf != span->leaf;
    span->pods |= leaf / per_pod != span->leaf / per_pod;
    if (run->leaves) {
        const uint32_t on_leaf = one_more(run, &run->leaves[leaf]);
        const uint32_t in_pod = one_more(run, &run->pods[leaf / per_pod]);
        if (on_leaf > span->leaf_nodes) span->leaf_nodes = on_leaf;
        if (in_pod > span->pod_nodes) span->pod_nodes = in_pod;
    }
    if (run->nodes_per_domain == 1) return;
    const uint32_t row = node / run->nodes_per_domain;
    struct domain_held *domain = &run->domains[row];
    if (domain->stamp != run->domain_stamp) {
        *domain = (struct domain_held){ .stamp = run->domain_stamp };
        run->domain_list[span->domains++] = row;
    }
    domain->nodes++;
    domain->gpus += gpus;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t nodes_of_pod(const struct run *run)
{
    return run->nodes_per_leaf * run->variant->fabric.units_per_pod;
}

void span_into(const struct run *run, const struct span *span, struct speed_place *place)
{
    place->spans_leaves = span->leaves;
    place->spans_pods = span->pods;
    place->domains = span->domains;
    if (span->gpus > 0) {
        place->server_time_most = span->time_most;
        place->server_time_mean = span->time_sum / span->gpus;
    }
    place->leaf_servers = span->leaf_nodes;
    if (run->leaves && span->pods) place->pair_servers = span->pod_nodes;
    if (span->domains == 0) return;
    place->domain_servers = place->domain_gpus = UINT32_MAX;
    for (uint32_t i = 0; i < span->domains; i++) {
        const struct domain_held *domain = &run->domains[run->domain_list[i]];
        place->domain_servers = smaller(place->domain_servers, domain->nodes);
        place->domain_gpus = smaller(place->domain_gpus, domain->gpus);
    }
    if (place->domain_gpus < place->domain_servers) place->domain_gpus = place->domain_servers;
}

void span_nics(struct run *run, uint32_t first_grant, uint32_t used, struct speed_place *place)
{
    const struct cluster *cluster = &run->cluster;
    const uint32_t parts = run->variant->nodes / run->variant->servers;
    if (!run->node_masks) return;
    for (uint32_t row = first_grant; row != GRANT_NONE; row = cluster->grants[row].next)
        run->node_masks[cluster->grants[row].node] |= cluster->grants[row].mask;
    place->nics = place->rail_nics = 0;
    for (uint32_t row = first_grant; row != GRANT_NONE; row = cluster->grants[row].next) {
        const uint32_t node = cluster->grants[row].node;
        const uint32_t mask = bits_lowest(run->node_masks[node], used);
        run->node_masks[node] = 0;
        if (mask == 0) continue; /* seen already, or cores only */
        struct nic_set set = { { 0 } };
        nic_map_add(&run->nics, mask << node % parts * cluster->gpus_per_node, &set);
        const uint32_t nics = nic_set_count(&run->nics, &set);
        const uint32_t rail = nic_set_rail_most(&run->nics, &set, run->variant->fabric.rails);
        if (place->nics == 0 || nics < place->nics) place->nics = nics;
        if (rail > place->rail_nics) place->rail_nics = rail;
    }
}

void span_plain(const struct run *run, uint32_t nodes, struct speed_place *place)
{
    const uint64_t per_leaf = run->nodes_per_leaf;
    place->spans_leaves = nodes > per_leaf;
    place->spans_pods = nodes > per_leaf * run->variant->fabric.units_per_pod;
    if (run->leaves) place->leaf_servers = nodes < per_leaf ? nodes : run->nodes_per_leaf;
    if (run->leaves && place->spans_pods) place->pair_servers = nodes_of_pod(run);
    if (run->nodes_per_domain > 1)
        place->domains = (nodes + run->nodes_per_domain - 1) / run->nodes_per_domain;
}
