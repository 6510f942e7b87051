/* test_decisions.c - a policy without sense takes every decision there is at random, on mixed nodes, while parts
 * break, somebody interferes by hand and jobs change their tempo: after every instant all books agree, no GPU-second
 * is lost, and each job has done the work that its tempos add up to. */
#include "base/philox.h"
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attempt_accounts.h"
#include "books_probe.h"
#include "job_spans.h"
#include "tempo_probe.h"

enum { SEEDS = 200, JOBS = 120, DECISIONS_MOST = 6 };

static uint64_t taken[DECIDE_NODE_BACK + 1];

struct chaos {
    uint64_t key, draws;
    uint32_t left; /* decisions in this pass */
    struct part parts[16];
    uint8_t *out; /* [nodes] nodes that it took out itself */
};

static double draw(struct chaos *chaos)
{
    return stream_uniform(chaos->key, 1, chaos->draws++);
}

static uint32_t any_of(struct chaos *chaos, uint32_t count)
{
    const uint32_t drawn = (uint32_t)(draw(chaos) * count);
    return drawn < count ? drawn : count - 1;
}

static bool chaos_init(void *memory, const struct policy_view *view, struct arena *arena)
{
    struct chaos *chaos = memory;
    chaos->key = view->key;
    chaos->out = ARENA_ARRAY(arena, uint8_t, view->cluster->nodes);
    return chaos->out != NULL;
}

static void chaos_note(void *memory, const struct policy_view *view, struct note note)
{
    (void)memory;
    (void)view;
    (void)note;
}

static void chaos_begin(void *memory)
{
    ((struct chaos *)memory)->left = DECISIONS_MOST;
}

static int64_t chaos_wake(void *memory, const struct policy_view *view, int64_t now_ns)
{
    (void)view;
    return now_ns + 1 + (int64_t)(draw(memory) * 3600e9);
}

static struct sequel chaos_sequel(void *memory, const struct policy_view *view, uint32_t live,
                                  enum attempt_close how)
{
    (void)view;
    (void)live;
    const double u = draw(memory);
    return (struct sequel){ .again = how == CLOSE_FINISHED ? u < 0.1 : u < 0.8,
                            .delay_ns = u < 0.5 ? 0 : 100 * NS_PER_S };
}

/* A share of a GPU that is free or given out in shares already; 0 parts when there is none. */
static uint32_t find_share(struct chaos *chaos, const struct policy_view *view, uint32_t units)
{
    const struct cluster *cluster = view->cluster;
    const uint32_t first = any_of(chaos, cluster->nodes);
    for (uint32_t i = 0; i < cluster->nodes; i++) {
        const uint32_t node = (first + i) % cluster->nodes;
        if (cluster->outs[node]) continue;
        for (uint32_t bit = 0; bit < cluster->gpus_per_node; bit++) {
            const uint64_t gpu = (uint64_t)node * cluster->gpus_per_node + bit;
            const uint32_t mask = 1u << bit;
            if (cluster->broken_mask[node] & mask) continue;
            if (!(cluster->free_mask[node] & mask) && cluster->share_free[gpu] < units) continue;
            chaos->parts[0] = (struct part){ .node = node, .mask = mask, .share_units = units };
            return 1;
        }
    }
    return 0;
}

/* `wanted` GPUs, or a core each where none is wanted, spread over random nodes in random pieces. */
static uint32_t find_gpus(struct chaos *chaos, const struct policy_view *view, uint32_t wanted)
{
    const struct cluster *cluster = view->cluster;
    const uint32_t first = any_of(chaos, cluster->nodes);
    uint32_t count = 0, left = wanted;
    for (uint32_t i = 0; i < cluster->nodes && count < 16; i++) {
        const uint32_t node = (first + i) % cluster->nodes;
        const int is = cluster_node_free(cluster, node);
        if (is < 0 || cluster->cores_milli_free[node] < 1000) continue;
        if (wanted == 0) {
            chaos->parts[0] = (struct part){ .node = node, .cores_milli = 1000 };
            return 1;
        }
        if (is == 0 || left == 0) continue;
        const uint32_t most = (uint32_t)is < left ? (uint32_t)is : left;
        const uint32_t gpus = 1 + any_of(chaos, most);
        chaos->parts[count++] = (struct part){ .node = node, .gpus = gpus, .cores_milli = 1000 };
        left -= gpus;
    }
    return left == 0 ? count : 0;
}

/* Parts that complete what the job asks for. */
static uint32_t find_parts(struct chaos *chaos, const struct policy_view *view, uint32_t live)
{
    const struct demand *demand = &view->demands[view->live->jobs[live].request_class];
    const struct holding held = cluster_held(view->cluster, view->live->attempts[live].first_grant);
    if (demand->share_units) return find_share(chaos, view, demand->share_units);
    return find_gpus(chaos, view, demand->gpus - held.gpus);
}

/* Whether the cores of a suspended job are still there. */
static bool can_resume(const struct policy_view *view, uint32_t live)
{
    const struct cluster *cluster = view->cluster;
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = cluster->grants[row].next)
        if (cluster->cores_milli_free[cluster->grants[row].node] < 16 * 1000) return false;
    return true;
}

static bool decide_waiting(struct chaos *chaos, const struct policy_view *view, uint32_t live,
                           struct decision *decision)
{
    const double u = draw(chaos);
    const bool holds = view->live->attempts[live].first_grant != GRANT_NONE;
    const struct demand *demand = &view->demands[view->live->jobs[live].request_class];
    decision->live = live;
    if (u < (holds ? 0.2 : 0.1)) {
        decision->what = u < 0.04 ? DECIDE_REFUSE : holds ? DECIDE_GIVE_BACK : DECIDE_BLOCK;
        return true;
    }
    if (u >= 0.2 && u < 0.22) {
        chaos->parts[0] = (struct part){ .node = any_of(chaos, view->cluster->nodes) };
        decision->what = DECIDE_FAIL_POD;
        decision->part_count = 1;
        return true;
    }
    if (u < 0.35 && demand->gpus > 1 && !holds) {
        decision->what = DECIDE_CLAIM;
        decision->part_count = find_gpus(chaos, view, 1 + any_of(chaos, demand->gpus - 1));
        return decision->part_count > 0;
    }
    decision->what = DECIDE_START;
    decision->part_count = find_parts(chaos, view, live);
    const struct holding held = cluster_held(view->cluster, view->live->attempts[live].first_grant);
    return decision->part_count > 0 || (demand->gpus > 0 && held.gpus == demand->gpus);
}

static bool decide_running(struct chaos *chaos, const struct policy_view *view, uint32_t live,
                           struct decision *decision)
{
    const double u = draw(chaos);
    decision->live = live;
    decision->what = u < 0.3    ? DECIDE_PREEMPT
                     : u < 0.35 ? DECIDE_CANCEL
                     : u < 0.7  ? DECIDE_SUSPEND
                                : DECIDE_MOVE;
    decision->keeps_work = draw(chaos) < 0.5;
    decision->cost_ns = draw(chaos) < 0.5 ? 0 : 60 * NS_PER_S;
    decision->delay_ns = draw(chaos) < 0.5 ? 0 : 30 * NS_PER_S;
    if (decision->what != DECIDE_MOVE) return draw(chaos) < 0.2;
    const struct demand *demand = &view->demands[view->live->jobs[live].request_class];
    if (demand->share_units) return false;
    decision->part_count = find_gpus(chaos, view, demand->gpus);
    return decision->part_count > 0;
}

static bool decide_node(struct chaos *chaos, const struct policy_view *view,
                        struct decision *decision)
{
    const uint32_t node = any_of(chaos, view->cluster->nodes);
    chaos->parts[0] = (struct part){ .node = node };
    chaos->out[node] ^= 1;
    decision->what = chaos->out[node] ? DECIDE_NODE_OUT : DECIDE_NODE_BACK;
    return true;
}

static bool chaos_next(void *memory, const struct policy_view *view, int64_t now_ns,
                       uint32_t fresh_serial, struct decision *decision)
{
    (void)now_ns;
    (void)fresh_serial;
    struct chaos *chaos = memory;
    while (chaos->left > 0) {
        chaos->left--;
        *decision = (struct decision){ .parts = chaos->parts, .reason = "chaos" };
        bool found = false;
        if (draw(chaos) < 0.03)
            found = decide_node(chaos, view, decision);
        else if (view->live->count > 0) {
            const uint32_t live = any_of(chaos, view->live->count);
            switch (view->live->jobs[live].state) {
            case LIVE_WAITING:
                found = decide_waiting(chaos, view, live, decision);
                break;
            case LIVE_BLOCKED:
                decision->what = DECIDE_ELIGIBLE;
                decision->live = live;
                found = true;
                break;
            case LIVE_RUNNING:
                found = decide_running(chaos, view, live, decision);
                break;
            case LIVE_SUSPENDED:
                decision->what = draw(chaos) < 0.8 ? DECIDE_RESUME : DECIDE_PREEMPT;
                decision->live = live;
                found = decision->what == DECIDE_PREEMPT || can_resume(view, live);
                break;
            default:
                break;
            }
        }
        if (!found) continue;
        taken[decision->what]++;
        return true;
    }
    return false;
}

static const struct policy chaos_policy = {
    .name = "chaos",
    .help = "every decision there is, at random",
    .memory_bytes = sizeof(struct chaos),
    .init = chaos_init,
    .note = chaos_note,
    .begin = chaos_begin,
    .next = chaos_next,
    .next_wake_ns = chaos_wake,
    .sequel = chaos_sequel,
};

/* ---- the scenario ---------------------------------------------------------------------------- */

static double any(uint64_t seed, uint64_t number)
{
    return stream_uniform(stream_key(seed, 0, "test.decisions"), 0, number);
}

/* Four nodes of 8, four of 2, two without a GPU. */
static void mixed_layout(struct fixture *fixture)
{
    static const struct {
        uint32_t gpus, count;
    } kinds[] = { { 8, 4 }, { 2, 4 }, { 0, 2 } };
    struct layout *layout = fixture_layout(fixture, "mixed", 10, 8);
    layout->groups = calloc(3, sizeof *layout->groups);
    layout->group_count = 3;
    for (int i = 0; i < 3; i++) {
        struct server_group *group = &layout->groups[i];
        group->server = fixture_server(kinds[i].gpus ? kinds[i].gpus : 1);
        group->server.gpus = kinds[i].gpus;
        group->server.cores = 64;
        group->count = kinds[i].count;
        group->sharing = SHARING_SHARE;
    }
    snprintf(layout->groups[0].names, sizeof layout->groups[0].names, "a[0-3]");
    snprintf(layout->groups[1].names, sizeof layout->groups[1].names, "b[0-3]");
    snprintf(layout->groups[2].names, sizeof layout->groups[2].names, "c[0-1]");
}

static void events_by_hand(struct scenario *scenario, uint64_t seed)
{
    static const char *const nodes[] = { "a0", "a[0-3]", "b2,c1", "b[1-3]" };
    static const char *const gpus[] = { "a0:3", "a2:7", "b1:1", "b3:0" };
    scenario->event_count = 40;
    scenario->events = calloc(scenario->event_count, sizeof *scenario->events);
    for (uint32_t i = 0; i < scenario->event_count; i++) {
        struct user_event *event = &scenario->events[i];
        event->at_ns = (int64_t)(i * 3600e9 * (1 + any(seed, 500)));
        event->action = (enum user_action)(any(seed, 600 + i) * ACTIONS);
        const uint32_t pick = (uint32_t)(any(seed, 700 + i) * 4);
        if (event->action <= ACTION_RESUME)
            snprintf(event->target, sizeof event->target, "%s", nodes[pick]);
        else if (event->action <= ACTION_GPU_REPAIR)
            snprintf(event->target, sizeof event->target, "%s", gpus[pick]);
        else
            snprintf(event->target, sizeof event->target, "j%u",
                     (uint32_t)(any(seed, 800 + i) * JOBS));
    }
}

static void name_jobs(struct jobs *jobs)
{
    jobs->text = arena_take(jobs->arena, 1, 16 * JOBS);
    jobs->text_bytes = 1;
    for (uint32_t row = 0; row < JOBS; row++) {
        jobs->id[row] = (uint32_t)jobs->text_bytes;
        jobs->text_bytes += 1 + (uint64_t)sprintf(jobs->text + jobs->text_bytes, "j%u", row);
    }
}

/* One NIC a node, jobs that talk and read a lot, and a storage that is too slow. */
static void share_network(struct scenario *scenario)
{
    scenario->contention = NETWORK_ESTIMATE;
    scenario->storage = (struct storage){ .read_bytes_per_s = 15e9, .write_bytes_per_s = 1e9 };
    scenario->layouts[0].fabric.nics_per_server = 1;
    scenario->communication.kind = COMM_PROFILE;
    scenario->communication.mix_count = 1;
    scenario->communication.mix[0] = (struct mix_entry){ .profile = { .kappa_one = 0.5,
                                                                      .kappa_many = 0.5,
                                                                      .hidden_frac = 0.1,
                                                                      .size_bytes = 1e9,
                                                                      .input_bytes_per_s = 1e9,
                                                                      .prefetch = true },
                                                         .weight = 1,
                                                         .gpus_min = 1,
                                                         .gpus_max = UINT32_MAX };
}

static void build(struct fixture *fixture, uint64_t seed)
{
    fixture_init(fixture, JOBS);
    struct scenario *scenario = &fixture->scenario;
    scenario->seed = seed;
    scenario->horizon_ns = 3 * NS_PER_DAY;
    scenario->startup_ns = any(seed, 1) < 0.5 ? 0 : 300 * NS_PER_S;
    scenario->contains_startup = any(seed, 2) < 0.5;
    mixed_layout(fixture);
    events_by_hand(scenario, seed);
    scenario->failures.component[COMPONENT_JOB] =
        (struct component_failures){ .law = LAW_EXPONENTIAL, .mean_s = 30 * 3600 };
    scenario->checkpoint = (struct checkpoint){ .policy = CHECKPOINT_FIXED,
                                                .interval_ns = NS_PER_HOUR,
                                                .store_bytes_per_s = 1e9,
                                                .bytes_per_gpu = 1e10 };
    if (seed % 2) share_network(scenario);
    struct jobs *jobs = &fixture->jobs;
    name_jobs(jobs);
    jobs->asks = ARENA_ARRAY(jobs->arena, struct ask, 2);
    jobs->ask = ARENA_ARRAY(jobs->arena, uint32_t, JOBS);
    jobs->ask_count = 2;
    jobs->asks[1].gpu_milli = 300;
    for (uint32_t row = 0; row < JOBS; row++) {
        const double u = any(seed, 1000 + 3 * row);
        jobs->ask[row] = u < 0.2;
        const uint32_t gpus =
            u < 0.3 ? 0 : 1 + (uint32_t)(any(seed, 1001 + 3 * row) * (u < 0.9 ? 4 : 16));
        fixture_job(fixture, row, row * 3 * 86400.0 / JOBS, 3600 * 12 * any(seed, 1002 + 3 * row),
                    0, gpus);
    }
    fixture_ready(fixture);
    scenario->kind = KIND_SLURM; /* hosts, and several parts on a node */
}

/* The rows of the attempts tell where their GPU-time went, to the last unit; `held` has no attempt. */
static void attempts_sum_to_the_ledger(const struct replica_result *result)
{
    static const enum account known[] = {
        ACC_COMPUTE,    ACC_STALL_INTRA, ACC_STALL_INTER, ACC_STALL_DATA, ACC_STALL_CONTENTION,
        ACC_CHECKPOINT, ACC_STARTUP,     ACC_LOST,        ACC_UNUSED
    };
    int128 sum[ACCOUNTS] = { 0 };
    for (uint64_t i = 0; i < result->attempts.count; i++) attempt_accounts(result, i, sum);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int128 all = 0;
        for (uint32_t class = 0; class < CLASSES; class ++)
            all += result->ledger_all[known[i]][class];
        assert_true(sum[known[i]] == all);
    }
}

static void books_hold(void **state)
{
    const uint64_t seed = (uint64_t)(uintptr_t)*state;
    struct fixture fixture;
    build(&fixture, seed);
    struct replica_result result;
    const struct run_request request = { .shared = &fixture.shared, .policy = &chaos_policy };
    memset(told, 0, sizeof told);
    told_ns = 0;
    run_probe = change_tempos;
    assert_int_equal(run_replica(&request, &result), STATUS_OK);
    run_probe = NULL;
    assert_true(result.closure_error == 0);
    for (uint32_t account = 0; account < ACCOUNTS; account++)
        for (uint32_t class = 0; class < CLASSES; class ++)
            assert_true(result.ledger_all[account][class] >= 0);
    const struct job_row *jobs = LOG_ITEMS(&result.jobs, const struct job_row);
    for (uint64_t i = 0; i < result.jobs.count; i++) spans_fill_the_wait(&result, &jobs[i]);
    attempts_sum_to_the_ledger(&result);
    replica_result_clear(&result);
    scenario_clear(&fixture.scenario);
    fixture_clear(&fixture);
}

/* The runs above have taken each decision often enough to mean something. */
static void all_decisions_were_taken(void **state)
{
    (void)state;
    for (int what = 0; what <= DECIDE_NODE_BACK; what++) assert_true(taken[what] > 200);
    assert_true(tempos_set > 200 && settled > 200 && by_network > 200);
}

int main(void)
{
    static struct CMUnitTest tests[SEEDS + 1];
    static char names[SEEDS][32];
    for (uintptr_t seed = 0; seed < SEEDS; seed++) {
        snprintf(names[seed], sizeof names[seed], "chaos, seed %u", (unsigned)seed + 1);
        tests[seed] = (struct CMUnitTest){ .name = names[seed],
                                           .test_func = books_hold,
                                           .initial_state = (void *)(seed + 1) };
    }
    tests[SEEDS] = (struct CMUnitTest)cmocka_unit_test(all_decisions_were_taken);
    return cmocka_run_group_tests_name("decisions", tests, NULL, NULL);
}
