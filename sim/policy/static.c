/* static.c - each team has servers of its own, and nobody else starts there: life before a scheduler.
 *
 * A team is a cluster and a queue of its own, under an unchanged FCFS or EASY policy: its nodes alone stand in its free
 * index, its jobs alone wait and run there. The servers are cut in their order (teams.h). GPUs of one team that are free
 * while another waits are `withheld`, since by shape and host they would do. A job that its team could never hold, or that
 * is no team's, is refused.
 *
 *     notes --> queue, running and index of the team --> fcfs or easy on that --> decision
 *
 * Leaves out: starved GPUs count as withheld, as the searches of a team say nothing about the nodes of others. */
#include "policy/place_scored.h"
#include "policy/policy.h"
#include "policy/teams.h"

#include "base/assert.h"
#include "base/bits.h"

#include <stdlib.h>
#include <string.h>

/* Where a live job stands here. */
enum stand {
    STAND_NOWHERE,
    STAND_WAITING,
    STAND_OUT /* runs, is held or delayed */,
    STAND_REFUSED
};

struct team {
    uint32_t first_node, end_node;
    uint32_t *with_all; /* [gpus_per_node + 1] its nodes by all GPUs they have                    */
    struct free_index index;
    struct waiting waiting;
    struct running running;
    struct policy_view view;
    void *memory; /* of the inner policy                                                  */
    bool stirred; /* something of its own changed since its last pass                     */
};

struct statics {
    const struct policy *inner;
    struct team *teams; /* [team_count] those without servers are empty                       */
    uint32_t team_count;
    uint16_t *team_of_row, *team_of_node;
    int8_t *was;   /* [nodes] free GPUs that the team's index knows of                      */
    uint64_t seen; /* touches of the cluster that the indexes know of                     */
    struct cluster cluster; /* the real one with the index of the team that is asked             */
    struct live_table
        mirror;        /* jobs only: what the teams' queues say of them                     */
    uint8_t *stand;    /* [mirror.capacity]                                                 */
    uint32_t *refused; /* [refused_count] lives to be refused                               */
    uint32_t refused_count, refused_capacity;
    uint32_t at; /* the team that is asked                                               */
};

/* ---- set-up ------------------------------------------------------------------------------------ */

/* Nodes of the first `servers` servers of the layout. */
static uint32_t nodes_of_servers(const struct policy_view *view, uint32_t servers)
{
    const struct layout *layout = view->layout;
    uint32_t nodes = 0;
    if (layout->group_count == 0 || view->scenario->scale_to_load > 0)
        return servers * (view->variant->nodes / view->variant->servers);
    for (uint32_t g = 0; g < layout->group_count && servers > 0; g++) {
        const struct server_group *group = &layout->groups[g];
        const uint32_t here = servers < group->count ? servers : group->count;
        nodes += here * (group->nodes_per_server ? group->nodes_per_server : 1);
        servers -= here;
    }
    return nodes;
}

static bool team_init(struct statics *statics, struct team *team, const struct policy_view *view,
                      struct arena *arena)
{
    const struct cluster *cluster = view->cluster;
    team->with_all = ARENA_ARRAY(arena, uint32_t, (size_t)cluster->gpus_per_node + 1);
    team->memory = arena_take(arena, 1, statics->inner->memory_bytes);
    team->view = *view;
    team->view.cluster = &statics->cluster;
    team->view.waiting = &team->waiting;
    team->view.running = &team->running;
    team->view.blocked_at = ARENA_ARRAY(arena, uint64_t, view->requests->class_count);
    running_init(&team->running);
    if (!team->with_all || !team->memory || !team->view.blocked_at ||
        !waiting_init(&team->waiting, view->requests->class_count, &statics->mirror) ||
        !free_index_init(&team->index, arena, cluster->nodes, cluster->gpus_per_node,
                         cluster->nodes_per_leaf))
        return false;
    for (uint32_t node = team->first_node; node < team->end_node; node++)
        team->with_all[bits_count(cluster->full_mask[node])]++;
    if (view->scorer) {
        team->view.scorer = scorer_create(view);
        if (!team->view.scorer) return false;
        scorer_limit(team->view.scorer, team->first_node, team->end_node);
    }
    return statics->inner->init(team->memory, &team->view, arena);
}

/* The real cluster, as the team sees it. */
static void show(struct statics *statics, const struct team *team, const struct cluster *cluster)
{
    statics->cluster = *cluster;
    statics->cluster.index = team->index;
}

static bool static_init(void *memory, const struct policy_view *view, struct arena *arena)
{
    struct statics *statics = memory;
    struct team_table table;
    const uint32_t nodes = view->cluster->nodes;
    if (!team_table_build(&table, view->scenario, view->jobs, view->variant->servers, arena))
        return false;
    statics->inner = view->scenario->order == ORDER_FCFS ? &policy_fcfs : &policy_easy;
    statics->team_count = table.count;
    statics->team_of_row = table.team_of_row;
    statics->teams = ARENA_ARRAY(arena, struct team, table.count);
    statics->team_of_node = ARENA_ARRAY(arena, uint16_t, nodes);
    statics->was = ARENA_ARRAY(arena, int8_t, nodes);
    if (!statics->teams || !statics->team_of_node || !statics->was) return false;
    statics->cluster = *view->cluster;
    for (uint32_t node = 0; node < nodes; node++) {
        statics->team_of_node[node] = TEAM_NONE;
        statics->was[node] = FREE_OUT;
    }
    uint32_t servers = 0;
    for (uint32_t t = 0; t < table.count; t++) {
        struct team *const team = &statics->teams[t];
        team->first_node = nodes_of_servers(view, servers);
        team->end_node = nodes_of_servers(view, servers += table.servers[t]);
        if (team->end_node == team->first_node) continue;
        if (!team_init(statics, team, view, arena)) return false;
        for (uint32_t node = team->first_node; node < team->end_node; node++)
            statics->team_of_node[node] = (uint16_t)t;
    }
    ASSERT(view->cluster->touched != NULL);
    statics->seen = view->cluster->touches - (uint64_t)view->cluster->touched_capacity - 1;
    return true;
}

static void static_clear(void *memory)
{
    struct statics *statics = memory;
    for (uint32_t t = 0; statics->teams && t < statics->team_count; t++) {
        struct team *const team = &statics->teams[t];
        if (!team->memory) continue;
        if (statics->inner->clear) statics->inner->clear(team->memory);
        if (team->view.scorer) scorer_destroy(team->view.scorer);
        waiting_clear(&team->waiting);
        running_clear(&team->running);
    }
    free(statics->mirror.jobs);
    free(statics->stand);
    free(statics->refused);
}

/* ---- what a team knows ------------------------------------------------------------------------- */

static void look_at(struct statics *statics, const struct cluster *cluster, uint32_t node)
{
    const uint16_t t = statics->team_of_node[node];
    if (t == TEAM_NONE) return;
    const int is = cluster_node_free(cluster, node);
    statics->teams[t].stirred = true;
    if (is == statics->was[node]) return;
    free_index_change(&statics->teams[t].index, node, statics->was[node], is);
    statics->was[node] = (int8_t)is;
}

/* Brings the teams' free indexes up to date. */
static void look(struct statics *statics, const struct cluster *cluster)
{
    if (cluster->touches - statics->seen > cluster->touched_capacity) {
        for (uint32_t node = 0; node < cluster->nodes; node++) look_at(statics, cluster, node);
    } else {
        for (; statics->seen != cluster->touches; statics->seen++)
            look_at(statics, cluster, cluster->touched[statics->seen % cluster->touched_capacity]);
    }
    statics->seen = cluster->touches;
}

/* The team of a live job, or NULL when it owns nothing. */
static struct team *team_of(const struct statics *statics, const struct policy_view *view,
                            uint32_t live)
{
    const uint16_t t = statics->team_of_row[view->live->jobs[live].row];
    if (t == TEAM_NONE) return NULL;
    struct team *const team = &statics->teams[t];
    return team->memory ? team : NULL;
}

/* Nodes of the team that have what one part asks for when they are empty. */
static uint32_t nodes_that_hold(const struct team *team, const struct cluster *cluster,
                                const struct demand *demand)
{
    const uint64_t cores_milli =
        demand->part_cores_milli + (uint64_t)demand->per_node * demand->cores_milli_per_gpu;
    const uint64_t memory_bytes =
        demand->part_memory_bytes + demand->per_node * demand->memory_bytes_per_gpu;
    const uint32_t least_gpus = demand->share_milli ? 1 : demand->per_node;
    uint32_t nodes = 0;
    for (uint32_t node = team->first_node; node < team->end_node && nodes < demand->nodes; node++) {
        const struct cluster_group *group = &cluster->groups[cluster->group_of[node]];
        nodes += (demand->groups >> cluster->group_of[node] & 1) && group->gpus >= least_gpus &&
                 (!cluster->cores_milli_free ||
                  (group->cores_milli >= cores_milli && group->memory_bytes >= memory_bytes));
    }
    return nodes;
}

/* Whether the team's nodes could hold the job if they were all free. */
static bool team_holds(const struct team *team, const struct policy_view *view, uint32_t live)
{
    const struct demand *demand = &view->demands[view->live->jobs[live].request_class];
    if (nodes_that_hold(team, view->cluster, demand) >= demand->nodes) return true;
    return demand->nodes_max > demand->nodes && !demand->by_part &&
           demand_fits(demand, team->with_all, view->cluster->gpus_per_node);
}

/* What the scheduler believes that the waiting job takes, as the real queue has it. */
static int64_t limit_of(const struct policy_view *view, uint32_t live)
{
    const struct live_job *job = &view->live->jobs[live];
    const struct waiting_class *class = &view->waiting->classes[job->request_class];
    return class->tree[class->capacity + job->place];
}

/* ---- notes ------------------------------------------------------------------------------------- */

static bool make_room(struct statics *statics, uint32_t capacity)
{
    if (statics->mirror.capacity >= capacity) return true;
    struct live_job *jobs = realloc(statics->mirror.jobs, capacity * sizeof *jobs);
    if (jobs) statics->mirror.jobs = jobs;
    uint8_t *stand = realloc(statics->stand, capacity);
    if (stand) statics->stand = stand;
    if (!jobs || !stand) return false;
    memset(stand + statics->mirror.capacity, STAND_NOWHERE, capacity - statics->mirror.capacity);
    statics->mirror.capacity = capacity;
    return true;
}

static bool refuse_later(struct statics *statics, uint32_t live)
{
    if (statics->refused_count == statics->refused_capacity) {
        const uint32_t capacity = statics->refused_capacity ? 2 * statics->refused_capacity : 64;
        uint32_t *grown = realloc(statics->refused, capacity * sizeof *grown);
        if (!grown) return false;
        statics->refused = grown;
        statics->refused_capacity = capacity;
    }
    statics->refused[statics->refused_count++] = live;
    statics->stand[live] = STAND_REFUSED;
    return true;
}

static bool submit(struct statics *statics, const struct policy_view *view, uint32_t live)
{
    struct team *const team = team_of(statics, view, live);
    if (!make_room(statics, view->live->capacity)) return false;
    statics->mirror.jobs[live] = view->live->jobs[live];
    if (!team || !team_holds(team, view, live)) return refuse_later(statics, live);
    statics->stand[live] = STAND_WAITING;
    return waiting_add(&team->waiting, live, view->jobs->gpus[view->live->jobs[live].row],
                       limit_of(view, live));
}

/* The job no longer waits in its team. */
static void leave(struct statics *statics, const struct policy_view *view, struct team *team,
                  uint32_t live)
{
    if (statics->stand[live] != STAND_WAITING) return;
    waiting_start(&team->waiting, live, view->jobs->gpus[view->live->jobs[live].row]);
    statics->stand[live] = STAND_OUT;
}

static void over(struct statics *statics, const struct policy_view *view, struct team *team,
                 uint32_t live)
{
    if (statics->stand[live] == STAND_REFUSED || statics->stand[live] == STAND_NOWHERE) {
        for (uint32_t i = 0; i < statics->refused_count; i++) /* cancelled before it was refused */
            if (statics->refused[i] == live) statics->refused[i] = LIVE_NONE;
    } else {
        leave(statics, view, team, live);
        waiting_end(&team->waiting, live);
    }
    statics->stand[live] = STAND_NOWHERE;
}

static struct running_entry entry_of(const struct policy_view *view, uint32_t live)
{
    const struct attempt *attempt = &view->live->attempts[live];
    return (struct running_entry){ attempt->expected_end_ns, live, attempt->held };
}

static void tell_inner(struct statics *statics, struct team *team, const struct policy_view *view,
                       struct note note)
{
    look(statics, view->cluster);
    show(statics, team, view->cluster);
    team->stirred = true;
    statics->inner->note(team->memory, &team->view, note);
}

static void tell_team(struct statics *statics, struct team *team, const struct policy_view *view,
                      struct note note)
{
    bool ok = true;
    const uint32_t live = note.live;
    if (note.kind == NOTE_START) {
        leave(statics, view, team, live);
        ok = running_add(&team->running, entry_of(view, live));
    }
    if (note.kind == NOTE_REQUEUE && statics->stand[live] == STAND_OUT) {
        waiting_return(&team->waiting, live, view->jobs->gpus[view->live->jobs[live].row],
                       limit_of(view, live));
        statics->stand[live] = STAND_WAITING;
    }
    if (note.kind == NOTE_DROP) leave(statics, view, team, live);
    tell_inner(statics, team, view, note);
    if (note.kind == NOTE_END && view->live->jobs[live].state != LIVE_WAITING)
        running_remove(&team->running, entry_of(view, live));
    if (note.kind == NOTE_OVER) over(statics, view, team, live);
    if (!ok) *view->out_of_memory = true;
}

static void static_note(void *memory, const struct policy_view *view, struct note note)
{
    struct statics *statics = memory;
    if (note.live == LIVE_NONE || note.kind == NOTE_NODES_CHANGED) {
        for (uint32_t t = 0; t < statics->team_count; t++)
            if (statics->teams[t].memory) tell_inner(statics, &statics->teams[t], view, note);
        return;
    }
    if (note.kind == NOTE_SUBMIT && !submit(statics, view, note.live)) *view->out_of_memory = true;
    struct team *const team = team_of(statics, view, note.live);
    if (note.live >= statics->mirror.capacity) return; /* it was never submitted here */
    if (team && statics->stand[note.live] != STAND_REFUSED &&
        statics->stand[note.live] != STAND_NOWHERE)
        tell_team(statics, team, view, note);
    else if (note.kind == NOTE_OVER)
        over(statics, view, team, note.live);
}

/* ---- decisions --------------------------------------------------------------------------------- */

static void static_begin(void *memory)
{
    struct statics *statics = memory;
    statics->at = 0;
    for (uint32_t t = 0; t < statics->team_count; t++)
        if (statics->teams[t].memory) statics->inner->begin(statics->teams[t].memory);
}

static bool next_refusal(struct statics *statics, struct decision *decision)
{
    while (statics->refused_count > 0) {
        const uint32_t live = statics->refused[--statics->refused_count];
        if (live == LIVE_NONE) continue;
        *decision = (struct decision){ .what = DECIDE_REFUSE,
                                       .live = live,
                                       .reason = "its team owns too few servers for it" };
        return true;
    }
    return false;
}

static bool static_next(void *memory, const struct policy_view *view, int64_t now_ns,
                        uint32_t fresh_serial, struct decision *decision)
{
    struct statics *statics = memory;
    if (next_refusal(statics, decision)) return true;
    look(statics, view->cluster);
    for (; statics->at < statics->team_count; statics->at++) {
        struct team *const team = &statics->teams[statics->at];
        if (!team->memory || !team->stirred) continue;
        show(statics, team, view->cluster);
        if (statics->inner->next(team->memory, &team->view, now_ns, fresh_serial, decision))
            return true;
        if (team->view.scorer && scorer_failed(team->view.scorer)) *view->out_of_memory = true;
        team->stirred = false;
    }
    return false;
}

const struct policy policy_static = {
    .name = "static",
    .help = "each team has servers of its own; nobody else starts there",
    .memory_bytes = sizeof(struct statics),
    .init = static_init,
    .note = static_note,
    .begin = static_begin,
    .next = static_next,
    .clear = static_clear,
    .kept_by = KEPT_BY_POLICY,
};
