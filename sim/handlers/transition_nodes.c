/* transition_nodes.c - nodes and GPUs that go out and come back, also from jobs, and why free GPUs are free. */
#include "base/bits.h"
#include "handlers/on_event.h"
#include "handlers/transition.h"
#include "handlers/transition_parts.h"
#include "policy/place.h"

void transition_node(struct run *run, uint32_t node,
                     void (*change)(struct cluster *cluster, uint32_t node))
{
    const struct idle was = cluster_node_idle(&run->cluster, node);
    change(&run->cluster, node);
    books_idle(run, was, cluster_node_idle(&run->cluster, node));
    transition_note(run, NOTE_NODES_CHANGED, LIVE_NONE);
    run->plan_needed = true;
}

void transition_gpus(struct run *run, uint32_t node, uint32_t mask,
                     void (*change)(struct cluster *cluster, uint32_t node, uint32_t mask))
{
    const struct idle was = cluster_node_idle(&run->cluster, node);
    change(&run->cluster, node, mask);
    books_idle(run, was, cluster_node_idle(&run->cluster, node));
    transition_note(run, NOTE_NODES_CHANGED, LIVE_NONE);
    run->plan_needed = true;
}

/* Units that a job holds by this grant. */
static int64_t units_of(const struct grant *grant)
{
    return grant->share_units ? grant->share_units : bits_count(grant->mask) * UNITS_PER_GPU;
}

static bool is_in(const uint32_t *nodes, uint32_t count, uint32_t node)
{
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i] == node) return true;
    return false;
}

static bool is_sick(const struct cluster *cluster, uint32_t node)
{
    return cluster->outs[node] || cluster->broken_mask[node];
}

/* Where a node is broken or being emptied its GPUs do not all become free. */
static struct returned release_sick(struct run *run, uint32_t live, uint32_t first_grant)
{
    struct cluster *cluster = &run->cluster;
    struct returned returned = { 0 };
    uint32_t sick = 0;
    for (uint32_t row = first_grant; row != GRANT_NONE; row = cluster->grants[row].next) {
        const struct grant *grant = &cluster->grants[row];
        if (!is_sick(cluster, grant->node)) {
            returned.free += units_of(grant);
            continue;
        }
        if (is_in(run->scratch_nodes, sick, grant->node)) continue;
        const struct idle was = cluster_node_idle(cluster, grant->node);
        returned.free -= was.free;
        returned.draining -= was.draining;
        returned.down -= was.down;
        run->scratch_nodes[sick++] = grant->node;
    }
    cluster_release(cluster, first_grant);
    for (uint32_t i = 0; i < sick; i++) {
        const struct idle is = cluster_node_idle(cluster, run->scratch_nodes[i]);
        returned.free += is.free;
        returned.draining += is.draining;
        returned.down += is.down;
    }
    for (uint32_t i = 0; i < sick; i++)
        if (cluster_node_empty(cluster, run->scratch_nodes[i]))
            on_node_emptied(run, run->scratch_nodes[i]);
    transition_note(run, NOTE_NODES_CHANGED, live);
    return returned;
}

struct returned transition_release(struct run *run, uint32_t live, uint32_t first_grant)
{
    struct cluster *cluster = &run->cluster;
    struct returned returned = { 0 };
    bool sick = false;
    for (uint32_t row = first_grant; row != GRANT_NONE; row = cluster->grants[row].next) {
        sick |= is_sick(cluster, cluster->grants[row].node);
        returned.free += units_of(&cluster->grants[row]);
    }
    if (sick) return release_sick(run, live, first_grant);
    cluster_release(cluster, first_grant);
    return returned;
}

/* Looks for hosts of the classes that the policy passed over, so that the memo knows all that is
 * starved. Only traces with cores or memory need it. */
static void look_for_hosts(struct run *run)
{
    if (!run->scratch_parts) return;
    for (uint32_t h = 0; h < run->waiting.head_count; h++) {
        const struct waiting_head *head = &run->waiting.heads[h];
        if (head->gpus > run->cluster.index.free_gpus) break; /* heads stand in order of GPUs */
        if (run->demands[head->request_class].hosted)
            place_class(&run->view, head->request_class, run->scratch_parts);
    }
}

void transition_causes(struct run *run)
{
    if (run->waiting.jobs == 0 && !run->causes_set) return;
    look_for_hosts(run);
    const struct causes causes =
        causes_of(&run->cluster, &run->waiting, run->demands, run->view.blocked_at);
    books_causes(run, &causes);
    run->causes_set =
        causes.units[ACC_NO_DEMAND] !=
        run->cluster.index.free_gpus * (uint64_t)UNITS_PER_GPU + run->cluster.share_free_units;
}
