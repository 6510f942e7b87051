/* defragment.c - rounds of moves of running jobs, around any plain policy (scheduler.defragmentation).
 *
 * At each multiple of `every` a round: the fewest moves (moves_to_free.h) that let the first waiting job start; when it needs none,
 * or cannot be helped, moves that free whole nodes, one more at a time, as long as there is a list within what is left of
 * `moves_most`. Nothing is moved for less than that. A moved job goes on where it was after `cost`, on all its GPUs. Only jobs on
 * one node with whole GPUs move, of at most `gpus_most`, and none that says may_not_move.
 *
 * Of more than LOOKED_AT partly filled nodes those with the fewest GPUs in use are looked at, and the first so many jobs. */
#include "policy/moves_to_free.h"
#include "policy/policy.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/clock.h"

#include <stdlib.h>

enum { LOOKED_AT = 512, JOBS_LOOKED_AT = 4096, MOVES_A_ROUND = 1024 };

struct defragmentation {
    const struct policy *inner;
    void *memory;
    int64_t next_round_ns;
    uint32_t *node_of;        /* [LOOKED_AT] node of the cluster                                 */
    uint32_t *live_of;        /* [JOBS_LOOKED_AT]                                                */
    uint32_t *slot_of;        /* [nodes] row in node_of, or LOOKED_AT                            */
    struct defrag defrag;     /* what a round looks at                                           */
    struct defrag_move *list; /* [list_count] moves of the round                                 */
    uint32_t list_count, list_at;
    struct part part;
    bool moved; /* in this pass                                                    */
};

/* ---- set-up ------------------------------------------------------------------------------------ */

static bool wrapped_init(void *memory, const struct policy_view *view, struct arena *arena)
{
    struct defragmentation *d = memory;
    d->inner = policy_plain(view->scenario->order);
    d->memory = arena_take(arena, 1, d->inner->memory_bytes);
    d->next_round_ns = view->scenario->moves.every_ns;
    d->node_of = ARENA_ARRAY(arena, uint32_t, LOOKED_AT);
    d->live_of = ARENA_ARRAY(arena, uint32_t, JOBS_LOOKED_AT);
    d->slot_of = ARENA_ARRAY(arena, uint32_t, view->cluster->nodes);
    d->defrag.nodes = ARENA_ARRAY(arena, struct defrag_node, LOOKED_AT);
    d->defrag.jobs = ARENA_ARRAY(arena, struct defrag_job, JOBS_LOOKED_AT);
    d->list = ARENA_ARRAY(arena, struct defrag_move, 2 * MOVES_A_ROUND);
    ASSERT(!d->inner->sequel && !d->inner->detection_ns && !d->inner->reason);
    return d->memory && d->node_of && d->live_of && d->slot_of && d->defrag.nodes &&
           d->defrag.jobs && d->list && d->inner->init(d->memory, view, arena);
}

static void wrapped_clear(void *memory)
{
    struct defragmentation *d = memory;
    if (d->inner && d->inner->clear && d->memory) d->inner->clear(d->memory);
}

static void wrapped_note(void *memory, const struct policy_view *view, struct note note)
{
    struct defragmentation *d = memory;
    d->inner->note(d->memory, view, note);
}

static void wrapped_begin(void *memory)
{
    struct defragmentation *d = memory;
    d->moved = false;
    d->inner->begin(d->memory);
}

/* ---- what a round looks at --------------------------------------------------------------------- */

static struct defrag_node node_is(const struct cluster *cluster, uint32_t node)
{
    return (struct defrag_node){
        .gpus = (uint32_t)bits_count(cluster->full_mask[node] & ~cluster->broken_mask[node]),
        .gpus_free = (uint32_t)bits_count(cluster->free_mask[node]),
        .cores_milli_free = cluster->cores_milli_free ? cluster->cores_milli_free[node] : 0,
        .memory_free = cluster->memory_free ? cluster->memory_free[node] : 0,
        .groups = UINT64_C(1) << cluster->group_of[node],
        .usable = !cluster->outs[node],
    };
}

/* The largest nodes that are wholly free have what can be wanted, and are no place to move to. */
static bool is_whole(const struct cluster *cluster, const struct defrag_node *node)
{
    return node->gpus == cluster->gpus_per_node && node->gpus_free == node->gpus;
}

/* The other nodes by GPUs in use, the fewest first. */
static void look_at_nodes(struct defragmentation *d, const struct cluster *cluster)
{
    uint32_t count = 0;
    for (uint32_t node = 0; node < cluster->nodes; node++) d->slot_of[node] = LOOKED_AT;
    for (uint32_t used = 0; used <= cluster->gpus_per_node && count < LOOKED_AT; used++)
        for (uint32_t node = 0; node < cluster->nodes && count < LOOKED_AT; node++) {
            const struct defrag_node is = node_is(cluster, node);
            if (!is.usable || is.gpus == 0 || is.gpus - is.gpus_free != used ||
                is_whole(cluster, &is))
                continue;
            d->slot_of[node] = count;
            d->node_of[count] = node;
            d->defrag.nodes[count++] = is;
        }
    d->defrag.node_count = count;
}

/* The running job as one that could move; false: it cannot, or is not looked at. */
static bool job_is(const struct defragmentation *d, const struct policy_view *view, uint32_t live,
                   struct defrag_job *job)
{
    const struct cluster *cluster = view->cluster;
    const struct live_job *is = &view->live->jobs[live];
    const struct demand *demand = &view->demands[is->request_class];
    const uint32_t first = view->live->attempts[live].first_grant;
    const uint32_t most = view->scenario->moves.gpus_most;
    if (is->state != LIVE_RUNNING || first == GRANT_NONE) return false;
    const struct grant *grant = &cluster->grants[first];
    const uint32_t gpus = (uint32_t)bits_count(grant->mask);
    if (grant->next != GRANT_NONE || grant->share_units || gpus == 0 || (most && gpus > most) ||
        (view->jobs->words && view->jobs->words[is->row].may_not_move) ||
        d->slot_of[grant->node] == LOOKED_AT)
        return false;
    *job = (struct defrag_job){ .node = d->slot_of[grant->node],
                                .gpus = gpus,
                                .cores_milli = grant->cores_milli,
                                .memory_bytes = grant->memory_bytes,
                                .groups = demand->groups,
                                .may_move = true };
    return true;
}

/* Small jobs first: of lists that are equally short the one that begins with them is found. */
static void look_at_jobs(struct defragmentation *d, const struct policy_view *view)
{
    uint32_t count = 0;
    for (uint32_t gpus = 1; gpus <= view->cluster->gpus_per_node; gpus++) {
        struct running_place place = { 0 };
        const struct running_entry *entry;
        for (; count < JOBS_LOOKED_AT && (entry = running_at(view->running, place));
             place = running_next(view->running, place)) {
            if (entry->gpus != gpus || !job_is(d, view, entry->live, &d->defrag.jobs[count]))
                continue;
            d->live_of[count++] = entry->live;
        }
    }
    d->defrag.job_count = count;
}

/* ---- a round ----------------------------------------------------------------------------------- */

/* Does the moves of the list from `first` on in the tables of the round. */
static void carry_out(struct defragmentation *d, uint32_t first)
{
    for (uint32_t m = first; m < d->list_count; m++) {
        struct defrag_job *const job = &d->defrag.jobs[d->list[m].job];
        struct defrag_node *const from = &d->defrag.nodes[job->node];
        struct defrag_node *const to = &d->defrag.nodes[d->list[m].node];
        from->gpus_free += job->gpus;
        from->cores_milli_free += job->cores_milli;
        from->memory_free += job->memory_bytes;
        to->gpus_free -= job->gpus;
        to->cores_milli_free -= job->cores_milli;
        to->memory_free -= job->memory_bytes;
        job->node = d->list[m].node;
    }
}

/* Whether a node has room for a part of the demand, hosts included. */
static bool is_ready(const struct defrag_node *node, const struct demand *demand)
{
    const uint64_t cores_milli = (uint64_t)demand->per_node * demand->cores_milli_per_gpu;
    const uint64_t memory_bytes = demand->per_node * demand->memory_bytes_per_gpu;
    return node->gpus_free >= demand->per_node &&
           (!demand->hosted ||
            (node->cores_milli_free >= cores_milli && node->memory_free >= memory_bytes));
}

/* Nodes that are ready: wholly free ones of the cluster, and those of the round. */
static uint32_t whole_ready(const struct cluster *cluster, const struct demand *demand)
{
    uint32_t ready = 0;
    for (uint32_t node = 0; node < cluster->nodes; node++) {
        const struct defrag_node is = node_is(cluster, node);
        ready += is.usable && is_whole(cluster, &is) && is_ready(&is, demand);
    }
    return ready;
}

static uint32_t round_ready(const struct defragmentation *d, const struct demand *demand)
{
    uint32_t ready = 0;
    for (uint32_t n = 0; n < d->defrag.node_count; n++)
        ready += is_ready(&d->defrag.nodes[n], demand);
    return ready;
}

/* The moves that let the first waiting job start; false: it needs none, or none help. */
static bool help_first(struct defragmentation *d, const struct policy_view *view, uint32_t most)
{
    const struct waiting_head *head = waiting_first(view->waiting);
    bool exact;
    if (!head) return false;
    const struct demand *demand = &view->demands[head->request_class];
    if (demand->gpus == 0 || demand->by_part || !demand->ever ||
        demand->gpus > view->cluster->index.free_gpus)
        return false;
    const uint32_t whole = whole_ready(view->cluster, demand);
    if (whole + round_ready(d, demand) >= demand->nodes) return false;
    const struct defrag_goal goal = { demand->nodes - whole, demand->per_node, most };
    const uint32_t count = moves_to_free(&d->defrag, goal, d->list, &exact);
    if (count == MOVES_NONE) return false;
    d->list_count = count;
    carry_out(d, 0);
    if (whole + round_ready(d, demand) >= demand->nodes) return true;
    d->list_count = 0; /* cores or memory are still missing: the tables are made anew */
    look_at_nodes(d, view->cluster);
    look_at_jobs(d, view);
    return false;
}

/* Frees whole nodes one by one. */
static void free_whole_nodes(struct defragmentation *d, const struct policy_view *view,
                             uint32_t most)
{
    for (uint32_t whole = 1; d->list_count < most; whole++) {
        bool exact;
        const struct defrag_goal goal = { whole, view->cluster->gpus_per_node,
                                          most - d->list_count };
        const uint32_t count = moves_to_free(&d->defrag, goal, d->list + d->list_count, &exact);
        if (count == MOVES_NONE) return;
        d->list_count += count;
        carry_out(d, d->list_count - count);
    }
}

static void plan_round(struct defragmentation *d, const struct policy_view *view)
{
    const uint32_t said = view->scenario->moves.moves_most;
    const uint32_t most = said && said < MOVES_A_ROUND ? said : MOVES_A_ROUND;
    d->list_count = d->list_at = 0;
    look_at_nodes(d, view->cluster);
    look_at_jobs(d, view);
    if (!help_first(d, view, most)) free_whole_nodes(d, view, most);
}

/* The next move of the round. */
static bool next_move(struct defragmentation *d, const struct policy_view *view,
                      struct decision *decision)
{
    if (d->list_at == d->list_count) return false;
    const struct defrag_move *const move = &d->list[d->list_at++];
    const uint32_t live = d->live_of[move->job];
    const struct demand *demand = &view->demands[view->live->jobs[live].request_class];
    d->part = (struct part){ .node = d->node_of[move->node],
                             .gpus = d->defrag.jobs[move->job].gpus,
                             .cores_milli = demand->part_cores_milli,
                             .memory_bytes = demand->part_memory_bytes };
    *decision = (struct decision){ .what = DECIDE_MOVE,
                                   .live = live,
                                   .parts = &d->part,
                                   .part_count = 1,
                                   .cost_ns = view->scenario->moves.cost_ns };
    return true;
}

static bool wrapped_next(void *memory, const struct policy_view *view, int64_t now_ns,
                         uint32_t fresh_serial, struct decision *decision)
{
    struct defragmentation *d = memory;
    if (now_ns >= d->next_round_ns) {
        const int64_t every_ns = view->scenario->moves.every_ns;
        d->next_round_ns = time_add(now_ns / every_ns * every_ns, every_ns);
        plan_round(d, view);
    }
    if (next_move(d, view, decision)) {
        d->moved = true;
        return true;
    }
    /* Behind moves more has changed than that jobs arrived. */
    return d->inner->next(d->memory, view, now_ns, d->moved ? SERIAL_NONE : fresh_serial, decision);
}

static int64_t wrapped_wake_ns(void *memory, const struct policy_view *view, int64_t now_ns)
{
    struct defragmentation *d = memory;
    const int64_t inner_ns =
        d->inner->next_wake_ns ? d->inner->next_wake_ns(d->memory, view, now_ns) : TIME_NEVER;
    /* Where nothing runs nothing can be moved, and a run that waits in vain may end. */
    if (view->running->block_count == 0) return inner_ns;
    return inner_ns < d->next_round_ns ? inner_ns : d->next_round_ns;
}

#define WRAPPED(word, kept, each)                                                                  \
    {                                                                                              \
        .name = word, .help = "with rounds of moves",                                              \
        .memory_bytes = sizeof(struct defragmentation), .init = wrapped_init,                      \
        .note = wrapped_note, .next = wrapped_next, .begin = wrapped_begin,                        \
        .clear = wrapped_clear, .next_wake_ns = wrapped_wake_ns, .after_each_event = each,         \
        .kept_by = kept                                                                            \
    }

static const struct policy wrapped[ORDERS] = {
    [ORDER_FCFS] = WRAPPED("fcfs", KEPT_BY_ORDER, false),
    [ORDER_EASY] = WRAPPED("easy", KEPT_BY_RESERVATION, false),
    [ORDER_EASY_EVENT] = WRAPPED("easy_event", KEPT_BY_RESERVATION, true),
    [ORDER_SJF] = WRAPPED("sjf", KEPT_BY_ORDER, false),
    [ORDER_CONSERVATIVE] = WRAPPED("conservative", KEPT_BY_RESERVATION, false),
};

const struct policy *policy_defragmenting(enum order order)
{
    return wrapped[order].name ? &wrapped[order] : NULL;
}
