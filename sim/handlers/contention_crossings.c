/* contention_crossings.c - how often what leaves a node of a job leaves its server (MODELS 1.3d, 1.8, 2.11).
 *
 * A collective leaves each NVLink domain once; a virtual machine that shares no NVLinks is one by itself. So `bytes` leave a
 * server once for each machine of the job on it, and a tray with the part that it is of its domain, in means: the emptiest
 * domain has the most to send from each of its trays. */
#include "cluster/speed_site.h"
#include "handlers/contention_parts.h"
#include "handlers/span.h"

#include <stdlib.h>

bool contention_crossings_init(struct run *run)
{
    struct contention *contention = run->contention;
    const uint32_t nodes = run->variant->nodes, servers = run->variant->servers;
    if (nodes == servers && run->nodes_per_domain == 1) return true;
    contention->crossings = calloc(servers, sizeof *contention->crossings);
    contention->of_server = calloc(servers, sizeof *contention->of_server);
    contention->node_seen = calloc(nodes, sizeof *contention->node_seen);
    return contention->crossings && contention->of_server && contention->node_seen;
}

/* Of each domain; they stay marked. */
static void count_nodes(struct run *run, uint32_t live)
{
    const struct cluster *cluster = &run->cluster;
    uint8_t *seen = run->contention->node_seen;
    struct span span = span_begin(run);
    for (uint32_t row = run->live.attempts[live].first_grant; row != GRANT_NONE;
         row = cluster->grants[row].next) {
        const uint32_t node = cluster->grants[row].node;
        if (cluster->grants[row].mask == 0 || seen[node]) continue;
        seen[node] = 1;
        span_add(run, &span, node, 0);
    }
}

const double *contention_crossings(struct run *run, uint32_t live, uint32_t count)
{
    struct contention *contention = run->contention;
    const struct cluster *cluster = &run->cluster;
    const struct speed_place *place = &contention->members[live].query.place;
    const uint32_t parts = run->variant->nodes / run->variant->servers;
    const double nodes_per_island = (double)place->servers / site_islands(*place);
    if (!contention->crossings) return NULL;
    count_nodes(run, live);
    for (uint32_t row = run->live.attempts[live].first_grant; row != GRANT_NONE;
         row = cluster->grants[row].next) {
        const uint32_t node = cluster->grants[row].node;
        if (!contention->node_seen[node]) continue;
        contention->node_seen[node] = 0;
        contention->of_server[node / parts] +=
            run->nodes_per_domain > 1
                ? nodes_per_island / run->domains[node / run->nodes_per_domain].nodes
                : 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        contention->crossings[i] = contention->of_server[contention->servers[i]];
        contention->of_server[contention->servers[i]] = 0;
    }
    return contention->crossings;
}
