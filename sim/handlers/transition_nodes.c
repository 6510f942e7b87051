/* transition_nodes.c - nodes and GPUs that go out and come back, and why free GPUs are free. */
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

void transition_gpus(struct run *run, uint32_t node, uint32_t mask,
                     void (*change)(struct cluster *cluster, uint32_t node, uint32_t mask))
{
    const struct idle was = cluster_node_idle(&run->cluster, node);
    change(&run->cluster, node, mask);
    books_idle(run, was, cluster_node_idle(&run->cluster, node));
    transition_note(run, NOTE_NODES_CHANGED, LIVE_NONE);
    run->plan_needed = true;
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
