/* span.c - see span.h. */
#include "handlers/span.h"

#include "cluster/vm.h"

bool span_init(struct run *run)
{
    const struct layout *layout = &run->scenario->layouts[run->variant->layout];
    const uint32_t per_server = run->variant->nodes / run->variant->servers;
    const uint32_t servers = layout->server.domain_servers > 1 ? layout->server.domain_servers : 1;
    nic_map_init(&run->nics, &layout->server.tree, layout->server.gpus ? layout->server.gpus : 1,
                 run->variant->fabric.nics_per_server);
    run->overhead_of_rest = vm_overhead_units(vm_of(run->scenario, run->variant));
    run->nodes_per_leaf = run->variant->fabric.servers_per_leaf * per_server;
    run->nodes_per_place = servers > 1 ? servers * per_server : run->nodes_per_leaf;
    /* Machines that share a server are no domain unless they share its NVLinks. */
    const bool apart = per_server > 1 && !layout->groups[0].vm.shared_nvlink;
    run->nodes_per_domain = apart ? 1 : servers * per_server;
    if (run->nodes_per_domain == 1) return true;
    run->domain_seen =
        ARENA_ARRAY(run->arena, uint32_t, run->variant->nodes / run->nodes_per_domain + 1);
    return run->domain_seen != NULL;
}

struct span span_begin(struct run *run)
{
    run->domain_stamp++;
    return (struct span){ .any = false };
}

void span_add(struct run *run, struct span *span, uint32_t node)
{
    const uint32_t leaf = node / run->nodes_per_leaf;
    const uint32_t per_pod = run->variant->fabric.units_per_pod;
    if (!span->any) span->leaf = leaf;
    span->any = true;
    span->leaves |= leaf != span->leaf;
    span->pods |= leaf / per_pod != span->leaf / per_pod;
    if (run->nodes_per_domain == 1) return;
    uint32_t *seen = &run->domain_seen[node / run->nodes_per_domain];
    span->domains += *seen != run->domain_stamp;
    *seen = run->domain_stamp;
}

void span_into(const struct span *span, struct speed_place *place)
{
    place->spans_leaves = span->leaves;
    place->spans_pods = span->pods;
    place->domains = span->domains;
}

void span_plain(const struct run *run, uint32_t nodes, struct speed_place *place)
{
    const uint64_t per_leaf = run->nodes_per_leaf;
    place->spans_leaves = nodes > per_leaf;
    place->spans_pods = nodes > per_leaf * run->variant->fabric.units_per_pod;
    if (run->nodes_per_domain > 1)
        place->domains = (nodes + run->nodes_per_domain - 1) / run->nodes_per_domain;
}
