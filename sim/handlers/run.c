/* run.c - see run.h. */
#include "handlers/run.h"

#include "base/assert.h"
#include "base/philox.h"
#include "handlers/contention.h"
#include "handlers/kept.h"
#include "handlers/on_event.h"
#include "handlers/run_over.h"
#include "handlers/span.h"
#include "handlers/transition.h"
#include "policy/place_scored.h"

#include <stdlib.h>
#include <string.h>

void (*run_probe)(const struct run *run);

enum { FIRST_LIVE_ROWS = 1024 };
static const int64_t BLAST_BIN_NS = 365 * NS_PER_DAY; /* nobody draws its curve */
static const uint64_t ARENA_BUDGET_BYTES = UINT64_C(1)
                                           << 36; /* plan_build has checked the estimate */

static bool kappa_tables(struct run_shared *shared, struct arena *arena)
{
    const struct communication *communication = &shared->plan->scenario->communication;
    bool spread = false;
    for (uint32_t i = 0; i < communication->mix_count; i++)
        spread |= communication->mix[i].profile.spread > 0;
    shared->kappa = NULL;
    if (!spread) return true;
    shared->kappa = ARENA_ARRAY(arena, struct kappa_table, communication->mix_count);
    if (!shared->kappa) return false;
    for (uint32_t i = 0; i < communication->mix_count; i++) {
        const struct profile *profile = &communication->mix[i].profile;
        const double kappa[2] = { profile->kappa_one, profile->kappa_many };
        for (int many = 0; many < 2; many++) {
            if (kappa[many] > 0 && kappa[many] < 1)
                beta_ratio_table(kappa[many], profile->spread, shared->kappa[i].ratio[many]);
            else
                for (int row = 0; row < BETA_ROWS; row++) shared->kappa[i].ratio[many][row] = 1;
        }
    }
    return true;
}

/* Which classes every variant can hold: layouts are compared by these. */
static bool common_classes(struct run_shared *shared, struct arena *arena)
{
    const struct request_table *requests = &shared->requests;
    shared->is_common = ARENA_ARRAY(arena, uint8_t, requests->class_count);
    if (!shared->is_common) return false;
    shared->all_common = true;
    for (uint32_t c = 0; c < requests->class_count; c++) {
        shared->is_common[c] = 1;
        for (uint32_t v = 0; v < shared->plan->variant_count; v++)
            if (!demand_on(shared->plan->scenario, &shared->plan->variants[v], shared->plan->jobs,
                           &requests->classes[c])
                     .ever)
                shared->is_common[c] = 0;
        if (!shared->is_common[c]) shared->all_common = false;
    }
    return true;
}

/* Profiles that the trace names; models repeat, so the last one is remembered. */
static bool named_profiles(struct run_shared *shared, struct arena *arena)
{
    const struct jobs *jobs = shared->plan->jobs;
    shared->profile_of_row = NULL;
    if (!jobs->model || shared->plan->scenario->communication.kind == COMM_NONE) return true;
    shared->profile_of_row = ARENA_ARRAY(arena, uint8_t, jobs->count);
    if (!shared->profile_of_row) return false;
    uint32_t last_text = TEXT_NONE;
    uint8_t last = PROFILE_UNKNOWN;
    for (uint32_t row = 0; row < jobs->count; row++) {
        if (jobs->model[row] != last_text) {
            last_text = jobs->model[row];
            last = speed_profile_named(shared->plan->scenario, jobs->text + last_text);
        }
        shared->profile_of_row[row] = last;
    }
    return true;
}

enum status run_shared_init(struct run_shared *shared, const struct plan *plan, struct arena *arena)
{
    *shared = (struct run_shared){ .plan = plan };
    if (!request_table_build(&shared->requests, plan->jobs, plan->scenario->shape, arena) ||
        !day_table_build(&shared->days, plan->jobs, arena) || !kappa_tables(shared, arena) ||
        !common_classes(shared, arena) || !named_profiles(shared, arena))
        return STATUS_WORLD;
    return STATUS_OK;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static bool init_demands(struct run *run)
{
    const struct request_table *requests = &run->shared->requests;
    run->demands = ARENA_ARRAY(run->arena, struct demand, requests->class_count);
    if (!run->demands) return false;
    for (uint32_t c = 0; c < requests->class_count; c++)
        run->demands[c] =
            demand_on(run->scenario, run->variant, run->plan->jobs, &requests->classes[c]);
    return true;
}

/* Groups of nodes as the cluster sees them: servers that host several nodes are cut evenly. */
static struct cluster_group *cluster_groups(struct run *run, const struct layout *layout)
{
    struct cluster_group *groups =
        ARENA_ARRAY(run->arena, struct cluster_group, layout->group_count);
    for (uint32_t g = 0; groups && g < layout->group_count; g++) {
        const struct server_group *group = &layout->groups[g];
        const uint32_t parts = group->nodes_per_server ? group->nodes_per_server : 1;
        groups[g] = (struct cluster_group){ .nodes = group->count * parts,
                                            .gpus = group->server.gpus / parts,
                                            .cores_milli = group->server.cores * 1000 / parts,
                                            .memory_bytes = group->server.memory_bytes / parts };
    }
    return groups;
}

/* What the trace asks for beside whole GPUs. */
static void init_hosting(const struct run *run, struct cluster_size *size)
{
    const struct jobs *jobs = run->plan->jobs;
    const enum scheduler_kind kind = run->scenario->kind;
    size->hosted = jobs->cores || jobs->memory_bytes || jobs->asks || kind == KIND_SLURM ||
                   kind == KIND_KUBERNETES;
    const struct layout *layout = &run->scenario->layouts[run->variant->layout];
    for (uint32_t g = 0; g < layout->group_count; g++)
        size->shared |= layout->groups[g].sharing != SHARING_NONE;
    for (uint32_t a = 0; a < jobs->ask_count; a++)
        size->shared |= jobs->asks[a].gpu_milli || jobs->asks[a].shards_per_node;
}

/* What users did to nodes and have not undone. */
static bool init_hands(struct run *run, struct cluster_size size)
{
    const uint64_t faults = (uint64_t)size.nodes * (size.gpus_per_node + 1);
    run->hand_down = ARENA_ARRAY(run->arena, uint8_t, size.nodes);
    run->hand_drain = ARENA_ARRAY(run->arena, uint8_t, size.nodes);
    run->hand_incident = ARENA_ARRAY(run->arena, uint32_t, faults);
    const uint32_t nics = run->scenario->layouts[run->variant->layout].fabric.nics_per_server;
    const uint64_t links = (uint64_t)run->variant->servers * nics;
    run->hand_link = ARENA_ARRAY(run->arena, uint32_t, links);
    if (!run->hand_down || !run->hand_drain || !run->hand_incident || !run->hand_link) return false;
    for (uint64_t i = 0; i < faults; i++) run->hand_incident[i] = ROW_NONE;
    for (uint64_t i = 0; i < links; i++) run->hand_link[i] = ROW_NONE;
    return true;
}

static bool init_cluster(struct run *run)
{
    if (!span_init(run)) return false;
    const struct layout *layout = &run->scenario->layouts[run->variant->layout];
    const bool one_kind = layout->group_count == 0 || run->scenario->scale_to_load > 0;
    const bool ruled = run->scenario->kind == KIND_SLURM || run->scenario->kind == KIND_KUBERNETES;
    struct cluster_size size = {
        .nodes = run->variant->nodes,
        .gpus_per_node = run->variant->gpus_per_node,
        .nodes_per_leaf = run->nodes_per_place,
        .cores_per_node = layout->server.cores,
        .memory_bytes_per_node = layout->server.memory_bytes,
        .groups = one_kind ? NULL : cluster_groups(run, layout),
        .group_count = layout->group_count,
    };
    init_hosting(run, &size);
    const bool scored =
        scorer_wanted(run->scenario->placement, run->demands, run->shared->requests.class_count);
    size.watched =
        run->replica != REPLICA_BLAST && !ruled && (scored || run->scenario->kind == KIND_STATIC);
    run->scratch_nodes = ARENA_ARRAY(run->arena, uint32_t, size.nodes);
    if (size.hosted && !(run->scratch_parts = ARENA_ARRAY(run->arena, struct part, size.nodes)))
        return false;
    if (ruled && !(run->node_gpus = ARENA_ARRAY(run->arena, uint16_t, size.nodes))) return false;
    if (!one_kind && !size.groups) return false;
    if (run->scenario->event_count && !init_hands(run, size)) return false;
    return run->scratch_nodes && cluster_init(&run->cluster, run->arena, size);
}

static bool init_policy(struct run *run)
{
    if (!run->policy)
        run->policy = run->replica == REPLICA_BLAST ? &policy_fcfs : policy_of(run->scenario);
    run->policy_memory = arena_take(run->arena, 1, run->policy->memory_bytes);
    const uint32_t classes = run->shared->requests.class_count;
    run->view = (struct policy_view){
        .cluster = &run->cluster,
        .waiting = &run->waiting,
        .running = &run->running,
        .live = &run->live,
        .demands = run->demands,
        .scenario = run->scenario,
        .layout = &run->scenario->layouts[run->variant->layout],
        .variant = run->variant,
        .jobs = run->plan->jobs,
        .requests = &run->shared->requests,
        .key = stream_key(run->scenario->seed, run->replica, "policy"),
        .placement = run->scenario->placement,
        .blocked_at = ARENA_ARRAY(run->arena, uint64_t, classes),
        .out_of_memory = &run->out_of_memory,
    };
    if (run->cluster.touched && scorer_wanted(run->view.placement, run->demands, classes) &&
        !(run->view.scorer = scorer_create(&run->view)))
        return false;
    return run->policy_memory && run->view.blocked_at &&
           run->policy->init(run->policy_memory, &run->view, run->arena);
}

static bool init_faults(struct run *run)
{
    const struct fabric *fabric = &run->scenario->layouts[run->variant->layout].fabric;
    struct failures failures =
        failures_of_servers(&run->scenario->failures, run->variant->gpus_per_server);
    if (failures.scale <= 0)
        for (int kind = 0; kind < COMPONENTS; kind++) failures.component[kind].law = LAW_NONE;
    const struct faults_size size = {
        .gpus = run->variant->gpus,
        .servers = run->variant->servers,
        .gpus_per_server = run->variant->gpus_per_server,
        .links = run->variant->servers * fabric->nics_per_server,
        .leaves = run->variant->fabric.leaves,
        .seed = run->scenario->seed,
        .replica = run->replica,
        .until_ns = run->end_ns,
    };
    return faults_init(&run->faults, &failures, size, run->arena);
}

/* When the run and its window end. */
static void init_times(struct run *run)
{
    const struct plan *plan = run->plan;
    struct replica_result *result = run->result;
    const bool all = plan->horizon_ns == HORIZON_ALL;
    if (run->replica == REPLICA_BLAST) {
        result->window_start_ns = 0;
        result->window_end_ns = run->end_ns = run->variant->blast_horizon_ns;
        return;
    }
    result->window_start_ns = plan->warmup_ns;
    result->window_end_ns = plan->horizon_ns;
    run->end_ns = all ? plan->all_end_ns : plan->horizon_ns + plan->follow_ns;
}

/* GPUs that jobs ask for in all when they fill the layout, in thousandths. */
static uint64_t fill_milli(const struct run *run)
{
    return (uint64_t)(run->scenario->fill_frac * run->variant->gpus * 1000.0 + 0.5);
}

static bool run_init(struct run *run)
{
    const struct scenario *scenario = run->scenario;
    const bool blast = run->replica == REPLICA_BLAST;
    init_times(run);
    run->arena = arena_create(ARENA_BUDGET_BYTES);
    if (!run->arena) return false;
    running_init(&run->running);
    jobstats_init(&run->stats, !run->shared->all_common);
    const struct arrivals_options options = { .resample = scenario->resample,
                                              .seed = scenario->seed,
                                              .replica = run->replica,
                                              .until_ns = run->end_ns,
                                              .once = run->plan->horizon_ns == HORIZON_ALL ||
                                                      run->plan->jobs->once };
    const struct jobs *const jobs = blast ? NULL : run->plan->jobs;
    if (scenario->resample != RESAMPLE_FILL)
        arrivals_init(&run->arrivals, jobs, &run->shared->days, options);
    else if (!arrivals_fill(&run->arrivals, jobs, fill_milli(run), options, run->arena))
        return false;
    run->key_profile = stream_key(scenario->seed, run->replica, "job.profile");
    run->key_crash = stream_key(scenario->seed, run->replica, "fail.job");
    run->fresh_serial = SERIAL_NONE;
    run->wake_ns = TIME_NEVER;
    const int64_t capacity_units = run->variant->gpus * UNITS_PER_GPU;
    const int64_t bin_ns = blast ? BLAST_BIN_NS : scenario->curve_bin_ns;
    run->result->capacity_units = capacity_units;
    run->result->has_moves = scenario->moves.every_ns > 0;
    run->result->has_refusals = scenario->kind == KIND_KUBERNETES &&
                                (scenario->kube.topology_manager == TM_RESTRICTED ||
                                 scenario->kube.topology_manager == TM_SINGLE_NUMA_NODE);
    run->speed = speed_create(scenario, run->variant, run->arena);
    return run->speed && live_init(&run->live, FIRST_LIVE_ROWS) &&
           agenda_init(&run->agenda, FIRST_LIVE_ROWS) && init_demands(run) && init_cluster(run) &&
           waiting_init(&run->waiting, run->shared->requests.class_count, &run->live) &&
           ledger_init(&run->ledger, capacity_units, bin_ns) && init_faults(run) &&
           contention_init(run) && init_policy(run) && reasons_init(run);
}

static void run_clear(struct run *run)
{
    if (run->policy && run->policy->clear && run->policy_memory)
        run->policy->clear(run->policy_memory);
    scorer_destroy(run->view.scorer);
    contention_destroy(run->contention);
    faults_clear(&run->faults);
    ledger_clear(&run->ledger);
    waiting_clear(&run->waiting);
    running_clear(&run->running);
    agenda_clear(&run->agenda);
    live_clear(&run->live);
    cluster_clear(&run->cluster);
    jobstats_clear(&run->stats);
    kept_clear(run);
    reasons_clear(&run->reasons);
    arena_destroy(run->arena);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* The next event over all sources: arrivals, attempts, components. */
struct next_event {
    int64_t at_ns;
    uint64_t rank;
    enum event_kind kind;
    uint32_t slot;
};

/* What is not in an agenda and acts behind the others of its instant: events by hand, then wake-ups. */
static struct next_event earlier_by_hand(const struct run *run, struct next_event next)
{
    const uint32_t row = run->next_user_event;
    if (row < run->scenario->event_count && run->replica != REPLICA_BLAST) {
        const int64_t at_ns = run->scenario->events[row].at_ns;
        const uint64_t rank = agenda_rank(EV_USER, 0);
        if (at_ns < next.at_ns || (at_ns == next.at_ns && rank < next.rank))
            next = (struct next_event){ at_ns, rank, EV_USER, row };
    }
    const uint64_t rank = agenda_rank(EV_WAKE, 0);
    if (run->wake_ns < next.at_ns || (run->wake_ns == next.at_ns && rank < next.rank))
        next = (struct next_event){ run->wake_ns, rank, EV_WAKE, 0 };
    return next;
}

static struct next_event next_of(const struct run *run)
{
    struct next_event next = { .at_ns = TIME_NEVER, .rank = UINT64_MAX };
    const struct agenda *sources[] = { &run->agenda, &run->faults.agenda, contention_joins(run) };
    for (size_t s = 0; s < sizeof sources / sizeof *sources; s++) {
        const struct agenda_entry *first = sources[s] ? agenda_first(sources[s]) : NULL;
        if (!first || first->at_ns > next.at_ns) continue;
        const uint64_t rank = agenda_first_rank(sources[s]);
        if (first->at_ns == next.at_ns && rank > next.rank) continue;
        next = (struct next_event){ first->at_ns, rank, agenda_kind(rank), first->slot };
    }
    const uint64_t submit = agenda_rank(EV_SUBMIT, 0);
    if (run->arrivals.at_ns < next.at_ns ||
        (run->arrivals.at_ns == next.at_ns && submit < next.rank && next.at_ns < TIME_NEVER))
        next = (struct next_event){ run->arrivals.at_ns, submit, EV_SUBMIT, 0 };
    return earlier_by_hand(run, next);
}

/* Adds up the time of the window in which a large job would have found a node. */
static void look_for_whole_nodes(struct run *run, bool is_free)
{
    struct replica_result *result = run->result;
    const bool was_free = run->whole_since_ns != TIME_NEVER;
    if (was_free && !is_free) {
        const int64_t from_ns = run->whole_since_ns > result->window_start_ns
                                    ? run->whole_since_ns
                                    : result->window_start_ns;
        const int64_t to_ns =
            run->now_ns < result->window_end_ns ? run->now_ns : result->window_end_ns;
        if (to_ns > from_ns) result->whole_node_ns += to_ns - from_ns;
    }
    if (was_free != is_free) run->whole_since_ns = is_free ? run->now_ns : TIME_NEVER;
}

static void play(struct run *run)
{
    struct next_event next = next_of(run);
    while (!run_is_over(run, next.at_ns)) {
        run->now_ns = next.at_ns;
        do {
            on_event(run, next.kind,
                     next.kind == EV_SUBMIT ? arrivals_take(&run->arrivals) : next.slot);
            if (run->policy->after_each_event) on_plan(run);
            next = next_of(run);
        } while (next.at_ns == run->now_ns && !run->out_of_memory);
        on_plan(run);
        contention_settle(run);
        transition_causes(run);
        reasons_after_pass(run);
        look_for_whole_nodes(run, run->cluster.index.with_free[run->cluster.gpus_per_node] > 0);
        if (run_probe) run_probe(run);
        next = next_of(run);
    }
    run->stuck = next.at_ns == TIME_NEVER || run_is_stuck(run);
}

/* Where the books are closed. */
static int64_t closing_time(const struct run *run)
{
    if (run->plan->horizon_ns == HORIZON_ALL && run->replica != REPLICA_BLAST)
        return run->live.in_use == 0 || run->stuck ? run->now_ns : run->end_ns;
    if (run->cohort_open > 0 || run->replica == REPLICA_BLAST) return run->end_ns;
    return run->now_ns > run->result->window_end_ns ? run->now_ns : run->result->window_end_ns;
}

/* Incidents whose repair the run did not see. */
static void cut_incidents(struct run *run)
{
    struct incident *incidents = LOG_ITEMS(&run->result->incidents, struct incident);
    for (uint64_t i = 0; i < run->result->incidents.count; i++)
        if (incidents[i].repaired_ns == TIME_NEVER)
            incidents[i].down_gpu_ns =
                (int128)incidents[i].gpus_removed * (run->now_ns - incidents[i].at_ns);
}

static enum status finish(struct run *run)
{
    struct replica_result *result = run->result;
    run->now_ns = closing_time(run);
    result->run_end_ns = run->now_ns;
    if (result->window_end_ns > run->now_ns) result->window_end_ns = run->now_ns;
    look_for_whole_nodes(run, false);
    result->to_the_end = run->plan->horizon_ns == HORIZON_ALL && run->replica != REPLICA_BLAST;
    if (result->to_the_end && run->stuck) run_tell_stuck(run);
    contention_finish(run);
    transition_cut(run);
    cut_incidents(run);
    if (run->out_of_memory || !ledger_close(&run->ledger, run->now_ns, result) ||
        !metrics_fill(&run->stats, result))
        return STATUS_WORLD;
    uint64_t ended = 0;
    for (int end = 0; end < JOB_ENDS; end++) ended += result->jobs_end[end];
    ASSERT(ended == result->jobs_submitted);
    if (result->closure_error != 0) return STATUS_LEDGER;
    const bool unfinished = run->plan->horizon_ns == HORIZON_ALL && run->live.in_use > 0;
    return unfinished && !run->stuck ? STATUS_LIMIT : STATUS_OK;
}

static void init_result(struct replica_result *result, const struct run_request *request)
{
    memset(result, 0, sizeof *result);
    result->layout_row = request->variant;
    result->replica = request->replica;
    log_init(&result->metrics, sizeof(struct metric_row), 0);
    log_init(&result->incidents, sizeof(struct incident), UINT32_MAX - 1);
    log_init(&result->jobs, sizeof(struct job_row), 0);
    log_init(&result->attempts, sizeof(struct attempt_row), 0);
    log_init(&result->allocations, sizeof(struct allocation_row), 0);
    log_init(&result->kept, sizeof(struct kept_row), 0);
    log_init(&result->links, sizeof(struct link_row), 0);
    log_init(&result->requests, sizeof(struct request_row), 0);
    log_init(&result->causes, sizeof(struct cause_row), 0);
    log_init(&result->words, sizeof(struct word_row), 0);
}

static bool keeps_detail(const struct scenario *scenario, uint32_t replica)
{
    if (replica == REPLICA_BLAST) return false;
    return !strcmp(scenario->detail, "all") || (!strcmp(scenario->detail, "first") && replica == 0);
}

enum status run_replica(const struct run_request *request, struct replica_result *result)
{
    init_result(result, request);
    const struct plan *plan = request->shared->plan;
    const struct variant *variant = &plan->variants[request->variant];
    struct scenario *under = malloc(sizeof *under); /* too large for a thread's stack */
    if (!under) return STATUS_WORLD;
    scenario_under(plan->scenario, &plan->scenario->layouts[variant->layout], under);
    struct run run = { .shared = request->shared,
                       .plan = plan,
                       .scenario = under,
                       .variant = variant,
                       .replica = request->replica,
                       .policy = request->policy,
                       .keep_detail = keeps_detail(plan->scenario, request->replica),
                       .result = result };
    enum status status = STATUS_WORLD;
    if (run_init(&run)) {
        play(&run);
        status = finish(&run);
        result->events = run.events;
    }
    run_clear(&run);
    free(under);
    return status;
}
