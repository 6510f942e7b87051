/* test_contention_runs.c - whole runs of jobs that share a network, by hand: who waits for whom, how long, and where it is
 * written. MODELS 4.4 estimates A, B, C of two equal jobs in closed form. */
#include "fixture.h"
#include "network/fabric.h"

#include "tests/near.h"
#include "tests/rows.h"

static const double NIC = 48.5e9, HOP_IN = 3.4e-6, HOP_OUT = 14e-6, S = 1e9, KAPPA = 0.5;
static const double UNITS_S = 1008000.0 * 1e9; /* of a GPU-second */

static void talks(struct scenario *scenario, double hidden)
{
    scenario->communication.kind = COMM_PROFILE;
    scenario->communication.mix_count = 1;
    scenario->communication.mix[0] = (struct mix_entry){ .profile = { .kappa_one = KAPPA,
                                                                      .kappa_many = KAPPA,
                                                                      .hidden_frac = hidden,
                                                                      .size_bytes = S },
                                                         .weight = 1,
                                                         .gpus_min = 1,
                                                         .gpus_max = UINT32_MAX };
}

/* Three leaves of two servers of eight, two cables up each: jobs of three servers span leaves 0 and 1, and 2 and 1. */
static void three_leaves(struct fixture *fixture, enum network_rule rule)
{
    fixture_init(fixture, 2);
    talks(&fixture->scenario, 0);
    fixture->scenario.contention = rule;
    struct layout *layout = fixture_layout(fixture, "three leaves", 6, 8);
    layout->fabric.link.switch_ports = 18;
    layout->fabric.oversubscription = 8;
}

static void run_it(struct fixture *fixture, struct replica_result *result)
{
    fixture_ready(fixture);
    assert_int_equal(fixture_run(fixture, 0, 0, result), STATUS_OK);
    assert_true(result->closure_error == 0);
}

static double account_s(const struct replica_result *result, enum account account)
{
    int128 sum = 0;
    for (int class = 0; class < CLASSES; class ++) sum += result->ledger_all[account][class];
    return (double)sum / UNITS_S;
}

/* The step of a job on 24 GPUs over two leaves, and its parts. */
struct step {
    double latency_s, alone_s; /* bandwidth term alone: two cables   */
    double compute_s;
};

static struct step step_alone(void)
{
    const double n = 24, servers = 3, bytes = 2 * (n - 1) / n * S;
    const double latency_s = 2 * (n - servers) * HOP_IN + 2 * (servers - 1) * HOP_OUT;
    const double recorded_s = latency_s + bytes / 370.8e9; /* 8 NICs are faster than NVLink */
    return (struct step){ latency_s, bytes / (2 * NIC), recorded_s / KAPPA };
}

/* Bandwidth term of each of two equal jobs on one full link. */
static double shared_s(const struct step *step, enum network_rule rule)
{
    const double b = step->alone_s, rest = step->compute_s + step->latency_s;
    if (rule == NETWORK_UPPER) return 2 * b;
    /* Perfect interleaving: all of it as long as two of b fit into a step. */
    if (rule == NETWORK_LOWER) return 2 * b > rest + b ? 2 * b - rest : b;
    /* t = b (1 + t/(rest + t)) */
    const double half = (rest - 2 * b) / 2;
    return -half + sqrt(half * half + b * rest);
}

/* The first job is alone for 1,000 s, then both run, then the second is alone. */
static void two_jobs_by_hand(void **state)
{
    const enum network_rule rule = (enum network_rule)rows_number(state);
    struct fixture fixture;
    three_leaves(&fixture, rule);
    const double work_s = 10000, later_s = 1000; /* recorded, on servers of eight without a limit */
    fixture_job(&fixture, 0, 0, work_s, 0, 24);
    fixture_job(&fixture, 1, later_s, work_s, 0, 24);
    struct replica_result result;
    run_it(&fixture, &result);
    const struct step step = step_alone();
    const double t = shared_s(&step, rule), recorded_s = step.compute_s * (1 + KAPPA);
    const double alone = step.compute_s + step.latency_s + step.alone_s;
    const double both = step.compute_s + step.latency_s + t;
    const double first_s = later_s + (work_s - later_s * recorded_s / alone) * both / recorded_s;
    const double left_s = work_s - (first_s - later_s) * recorded_s / both;
    const struct job_row *jobs = LOG_ITEMS(&result.jobs, const struct job_row);
    CHECK_NEAR(s_from_ns(jobs[0].end_ns), first_s, 1e-8);
    CHECK_NEAR(s_from_ns(jobs[1].end_ns), first_s + left_s * alone / recorded_s, 1e-8);
    const double waits_s = 2 * 24 * (first_s - later_s) * (t - step.alone_s) / both;
    if (waits_s == 0)
        assert_true(account_s(&result, ACC_STALL_CONTENTION) == 0);
    else
        CHECK_NEAR(account_s(&result, ACC_STALL_CONTENTION), waits_s, 1e-5);
    /* All of it at the uplinks of leaf 1, which they share; servers that are free carry nothing. */
    const struct link_row *links = LOG_ITEMS(&result.links, const struct link_row);
    double told_s = 0;
    for (uint64_t i = 0; i < result.links.count; i++) {
        told_s += links[i].contention_gpu_s;
        assert_true(links[i].contention_gpu_s == 0 || !strncmp(links[i].name, "leaf 1 ", 7));
        assert_true(links[i].load > 0 && links[i].load < 1);
        if (strcmp(links[i].name, "server 0 out")) continue;
        /* The first job's: its bytes are a step's, alone and together, over all of the run. */
        const double bytes = 2 * 23 / 24.0 * S;
        const double steps = later_s / alone + (first_s - later_s) / both;
        CHECK_NEAR(links[i].load, steps * bytes / s_from_ns(result.run_end_ns) / (8 * NIC), 1e-6);
    }
    CHECK(fabs(told_s - waits_s) <= 1e-5 * waits_s, "links tell %g s, want %g", told_s, waits_s);
    /* Both attempts are told by sums. */
    assert_int_equal(result.kept.count, waits_s == 0 ? 0 : 2);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* With a start-up of 100 s each: the second job communicates from 1,100 s on, though it holds its GPUs from 1,000. */
static void a_start_up_is_quiet(void **state)
{
    (void)state;
    struct fixture fixture;
    three_leaves(&fixture, NETWORK_ESTIMATE);
    fixture.scenario.startup_ns = 100 * NS_PER_S;
    fixture.scenario.contains_startup = false;
    const double work_s = 10000, alone_s = 1000; /* that the first one works alone */
    fixture_job(&fixture, 0, 0, work_s, 0, 24);
    fixture_job(&fixture, 1, 1000, work_s, 0, 24);
    struct replica_result result;
    run_it(&fixture, &result);
    const struct step step = step_alone();
    const double t = shared_s(&step, NETWORK_ESTIMATE), recorded_s = step.compute_s * (1 + KAPPA);
    const double alone = step.compute_s + step.latency_s + step.alone_s;
    const double both = step.compute_s + step.latency_s + t;
    const double together_s = (work_s - alone_s * recorded_s / alone) * both / recorded_s;
    const struct job_row *jobs = LOG_ITEMS(&result.jobs, const struct job_row);
    CHECK_NEAR(s_from_ns(jobs[0].end_ns), 100 + alone_s + together_s, 1e-8);
    CHECK_NEAR(account_s(&result, ACC_STALL_CONTENTION),
               2 * 24 * together_s * (t - step.alone_s) / both, 1e-5);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* The band of the metrics is the estimates' ratio at the same places: here exactly that of one instant. */
static void the_band_is_told(void **state)
{
    (void)state;
    struct fixture fixture;
    three_leaves(&fixture, NETWORK_ESTIMATE);
    fixture_job(&fixture, 0, 0, 10000, 0, 24);
    fixture_job(&fixture, 1, 1000, 10000, 0, 24);
    struct replica_result result;
    run_it(&fixture, &result);
    const struct step step = step_alone();
    double share[3];
    static const enum network_rule rules[] = { NETWORK_LOWER, NETWORK_ESTIMATE, NETWORK_UPPER };
    for (int r = 0; r < 3; r++) {
        const double t = shared_s(&step, rules[r]);
        share[r] = (t - step.alone_s) / (step.compute_s + step.latency_s + t);
    }
    const double is = fixture_metric(&result, "share_stall_contention", CLASS_NONE, -1);
    CHECK_NEAR(fixture_metric(&result, "share_stall_contention_lower", CLASS_NONE, -1),
               is * share[0] / share[1], 1e-5);
    CHECK_NEAR(fixture_metric(&result, "share_stall_contention_upper", CLASS_NONE, -1),
               is * share[2] / share[1], 1e-5);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* One job alone, whatever its collective and wherever its network binds, is at F1's time to the bit. */
static void alone_is_as_without_a_network(void **state)
{
    const uint64_t row = rows_number(state);
    static const enum allreduce_rule rules[] = { RULE_FLAT_RING, RULE_HIER_RING, RULE_HIER_TREE,
                                                 RULE_BEST };
    int64_t end_ns[2];
    for (int shares = 0; shares < 2; shares++) {
        struct fixture fixture;
        three_leaves(&fixture, shares ? NETWORK_ESTIMATE : NETWORK_NONE);
        fixture.scenario.communication.allreduce = rules[row % 4];
        fixture.scenario.layouts[0].fabric.oversubscription = row / 4 % 2 ? 8 : 1;
        fixture.scenario.layouts[0].fabric.nics_per_server = row / 8 % 2 ? 1 : 8;
        fixture_job(&fixture, 0, 0, 9999, 0, 24);
        fixture_job(&fixture, 1, 200000, 777, 0, 40);
        struct replica_result result;
        run_it(&fixture, &result);
        end_ns[shares] = result.run_end_ns;
        assert_int_equal(result.kept.count, 0);
        replica_result_clear(&result);
        fixture_clear(&fixture);
    }
    assert_true(end_ns[0] == end_ns[1]);
}

/* Sets the bits of all tempos that belong to no field: who compares tempos must not see them. */
static void dirty_tempos(const struct run *seen)
{
    struct run *run = (struct run *)(uintptr_t)seen;
    for (uint32_t live = 0; live < run->live.count; live++) {
        const struct tempo is = run->live.attempts[live].tempo;
        struct tempo dirty;
        memset(&dirty, 0xff, sizeof dirty);
        dirty.rate_q30 = is.rate_q30;
        dirty.intra = is.intra;
        dirty.inter = is.inter;
        dirty.contention = is.contention;
        dirty.data = is.data;
        dirty.bubble = is.bubble;
        dirty.checkpoint = is.checkpoint;
        memcpy(&run->live.attempts[live].tempo, &dirty, sizeof dirty);
    }
}

/* Communication that fits behind the compute waits for others without slowing its job: nothing to tell, though the first
 * job is looked at again when the second comes. */
static void what_is_hidden_costs_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    three_leaves(&fixture, NETWORK_UPPER);
    talks(&fixture.scenario, 1);
    fixture.scenario.communication.scale = 0.05; /* alone 3.8 of 40, twice 7.6 */
    fixture_job(&fixture, 0, 0, 10000, 0, 24);
    fixture_job(&fixture, 1, 1, 10000, 0, 24);
    struct replica_result result;
    run_probe = dirty_tempos;
    run_it(&fixture, &result);
    run_probe = NULL;
    assert_int_equal(result.run_end_ns, 10001 * NS_PER_S);
    assert_int_equal(result.kept.count, 0);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Two jobs of 4 + 4 GPUs behind one NIC of each of two servers share it from the start. */
static void jobs_share_the_nics_of_a_server(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 2);
    talks(&fixture.scenario, 0);
    fixture.scenario.contention = NETWORK_UPPER;
    fixture.scenario.recorded_server = fixture_server(4); /* so that eight GPUs are two servers */
    fixture.scenario.recorded_server.nics = 1;
    fixture.scenario.shape = SHAPE_RECORDED;
    struct layout *layout = fixture_layout(&fixture, "one NIC", 2, 8);
    layout->fabric.nics_per_server = 1;
    fixture.jobs.nodes = ARENA_ARRAY(fixture.jobs.arena, uint32_t, 2);
    for (uint32_t row = 0; row < 2; row++) {
        fixture_job(&fixture, row, 0, 10000, 0, 8);
        fixture.jobs.nodes[row] = 2;
    }
    struct replica_result result;
    run_it(&fixture, &result);
    const double n = 8, bytes = 2 * (n - 1) / n * S, latency_s = 2 * 6 * HOP_IN + 2 * HOP_OUT;
    const double alone_s = latency_s + bytes / NIC, compute_s = alone_s / KAPPA;
    const double want_s = 10000 * (compute_s + alone_s + bytes / NIC) / (compute_s + alone_s);
    CHECK_NEAR(s_from_ns(result.run_end_ns), want_s, 1e-8);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* 256 GPUs on 32 servers; one of 256 NICs is at half speed between 1,000 and 5,000 s: all wait for it, and nobody else is to
 * blame. Its server sends over eight NICs as if all were at half speed. */
static void one_slow_nic_slows_all(void **state)
{
    struct fixture fixture;
    fixture_init(&fixture, 1);
    talks(&fixture.scenario, 0);
    fixture.scenario.contention = (enum network_rule)rows_number(state);
    fixture_layout(&fixture, "hall", 32, 8);
    static struct user_event events[] = {
        { .at_ns = 1000 * NS_PER_S, .action = ACTION_NIC_DEGRADE, .factor = 0.5 },
        { .at_ns = 5000 * NS_PER_S, .action = ACTION_NIC_REPAIR },
    };
    for (int i = 0; i < 2; i++) snprintf(events[i].target, sizeof events[i].target, "hall-3:5");
    fixture.scenario.events = events;
    fixture.scenario.event_count = 2;
    const double work_s = 10000;
    fixture_job(&fixture, 0, 0, work_s, 0, 256);
    struct replica_result result;
    run_it(&fixture, &result);
    const double n = 256, bytes = 2 * (n - 1) / n * S;
    const double latency_s = 2 * (n - 32) * HOP_IN + 2 * 31 * HOP_OUT;
    const double alone_s = latency_s + bytes / 370.8e9, compute_s = alone_s / KAPPA;
    const double whole_s = compute_s + alone_s;
    const double slow_s = compute_s + latency_s + bytes / (8 * NIC / 2);
    const double done_s = 1000 + 4000 * whole_s / slow_s; /* by 5,000 s */
    CHECK_NEAR(s_from_ns(result.run_end_ns), 5000 + work_s - done_s, 1e-8);
    const double inter_s = 256 * 4000 * (slow_s - whole_s) / slow_s;
    const double network_s = 2 * 31 * HOP_OUT / whole_s; /* latency, at all times */
    CHECK_NEAR(account_s(&result, ACC_STALL_INTER),
               inter_s + 256 * network_s * (work_s - done_s + 1000 + 4000 * whole_s / slow_s),
               1e-5);
    assert_true(account_s(&result, ACC_STALL_CONTENTION) == 0);
    replica_result_clear(&result);
    fixture.scenario.events = NULL;
    fixture_clear(&fixture);
}

/* A link that is down for 4,000 s and kills nobody: its job stands still that long. */
static void a_dead_link_stops_its_job(void **state)
{
    struct fixture fixture;
    fixture_init(&fixture, 1);
    talks(&fixture.scenario, 0);
    fixture.scenario.contention = (enum network_rule)rows_number(state);
    fixture_layout(&fixture, "hall", 4, 8);
    static struct user_event events[] = {
        { .at_ns = 1000 * NS_PER_S, .action = ACTION_NIC_DEGRADE, .target = "hall-0:7" },
        { .at_ns = 5000 * NS_PER_S, .action = ACTION_NIC_REPAIR, .target = "hall-0:7" },
    };
    fixture.scenario.events = events;
    fixture.scenario.event_count = 2;
    fixture_job(&fixture, 0, 0, 10000, 0, 32);
    struct replica_result result;
    run_it(&fixture, &result);
    CHECK_NEAR(s_from_ns(result.run_end_ns), 14000, 1e-8);
    replica_result_clear(&result);
    fixture.scenario.events = NULL;
    fixture_clear(&fixture);
}

/* ---- the closed form and the links ----------------------------------------------------------- */

static const struct {
    const char *name;
    enum fabric_kind kind;
    uint32_t servers, gpus, nics, ports, job_servers;
    double oversubscription;
    enum allreduce_rule rule;
} fabrics[] = {
    { "one switch, NICs bind", FABRIC_TWO_TIER, 8, 8, 2, 64, 4, 1, RULE_FLAT_RING },
    { "one switch, NVLink binds", FABRIC_TWO_TIER, 8, 8, 8, 64, 4, 1, RULE_FLAT_RING },
    { "uplinks bind", FABRIC_TWO_TIER, 8, 8, 8, 36, 8, 8, RULE_FLAT_RING },
    { "uplinks bind a hierarchical ring", FABRIC_TWO_TIER, 8, 8, 8, 36, 8, 8, RULE_HIER_RING },
    { "uplinks bind a tree", FABRIC_TWO_TIER, 8, 8, 8, 36, 8, 8, RULE_HIER_TREE },
    { "one GPU a server", FABRIC_TWO_TIER, 64, 1, 1, 16, 48, 3, RULE_FLAT_RING },
    { "rails bind", FABRIC_RAIL, 32, 8, 8, 16, 32, 7, RULE_FLAT_RING },
    { "three tiers", FABRIC_THREE_TIER, 32, 8, 8, 16, 32, 1, RULE_FLAT_RING },
    { "three tiers, uplinks bind", FABRIC_THREE_TIER, 32, 4, 4, 8, 32, 3, RULE_HIER_RING },
    { "a dragonfly", FABRIC_DRAGONFLY, 32, 4, 4, 16, 32, 1, RULE_FLAT_RING },
};

/* MODELS 0.3: the fullest link of a job alone takes as long as the bandwidth term of the closed form, to 1e-6, unless what
 * goes on inside its servers takes longer. */
static void links_are_the_closed_form(void **state)
{
    const uint64_t row = rows_number(state);
    struct fixture fixture;
    fixture_init(&fixture, 1);
    talks(&fixture.scenario, 0);
    fixture.scenario.communication.allreduce = fabrics[row].rule;
    struct layout *layout =
        fixture_layout(&fixture, "hall", fabrics[row].servers, fabrics[row].gpus);
    layout->fabric.kind = fabrics[row].kind;
    layout->fabric.nics_per_server = fabrics[row].nics;
    layout->fabric.link.switch_ports = fabrics[row].ports;
    layout->fabric.oversubscription = fabrics[row].oversubscription;
    const uint32_t gpus = fabrics[row].job_servers * fabrics[row].gpus;
    fixture_job(&fixture, 0, 0, 100, 0, gpus);
    fixture_ready(&fixture);
    const struct variant *variant = &fixture.plan.variants[0];
    struct speed *speed = speed_create(&fixture.scenario, variant, fixture.arena);
    struct fabric_net net;
    assert_true(speed && fabric_net_init(&net, &variant->fabric, &layout->fabric,
                                         speed_server_bytes_per_s(speed)));
    uint32_t servers[64];
    for (uint32_t s = 0; s < fabrics[row].job_servers; s++) servers[s] = s;
    const uint32_t per_leaf = variant->fabric.servers_per_leaf;
    const uint32_t per_pod = per_leaf * variant->fabric.units_per_pod;
    const struct speed_query query = {
        .gpus = gpus,
        .kappa_luck = 1,
        .place = { .servers = fabrics[row].job_servers,
                   .gpus_min = fabrics[row].gpus,
                   .spans_leaves = fabrics[row].job_servers > per_leaf,
                   .spans_pods = fabrics[row].job_servers > per_pod },
    };
    struct speed_operation operation;
    assert_true(speed_operation(speed, &query, &operation));
    const struct fabric_job job = { .bytes = operation.bytes, .nics = fabrics[row].nics };
    static struct link_use uses[1024];
    assert_true(fabric_net_most_uses(&net, fabrics[row].job_servers) <= 1024);
    const uint32_t count = fabric_net_uses(&net, servers, fabrics[row].job_servers, &job, uses);
    double fullest_s = 0;
    for (uint32_t i = 0; i < count; i++)
        fullest_s = fmax(fullest_s, uses[i].bytes / fabric_net_capacity(&net, uses[i].link));
    const double inside_s = operation.bytes / 370.8e9;
    if (fullest_s > inside_s || fabrics[row].gpus == 1 || fabrics[row].rule != RULE_FLAT_RING)
        CHECK_NEAR(fullest_s, operation.wire_s, 1e-6);
    else
        CHECK_NEAR(operation.wire_s, inside_s, 1e-6);
    fabric_net_clear(&net);
    fixture_clear(&fixture);
}

/* Links that become slow by themselves: faults of links as often as ever, but nothing stops and nothing is drained. */
static void slow_links_stop_nobody(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 1);
    talks(&fixture.scenario, 0);
    fixture.scenario.contention = NETWORK_ESTIMATE;
    fixture.scenario.failures.component[COMPONENT_LINK] = (struct component_failures){
        .law = LAW_EXPONENTIAL, .mean_s = 100 * 3600, .repair_median_s = 3600, .repair_p95_s = 7200
    };
    fixture.scenario.failures.slow_link =
        (struct slow_link){ .share = 1, .factor = 0.5, .found_ns = 12 * NS_PER_HOUR };
    fixture_layout(&fixture, "hall", 4, 8);
    fixture_job(&fixture, 0, 0, 30 * 86400, 0, 32);
    struct replica_result result;
    run_it(&fixture, &result);
    assert_int_equal(result.jobs_end[END_FINISHED], 1);
    assert_true(account_s(&result, ACC_LOST) == 0 && account_s(&result, ACC_DOWN) == 0);
    const struct incident *incidents = LOG_ITEMS(&result.incidents, struct incident);
    /* 32 links, each whole for 100 h and slow for 13 h and 10 min on average: about 190 in the month or so. */
    const double expected = 32 * s_from_ns(result.run_end_ns) / ((100 + 12 + 1 + 10 / 60.0) * 3600);
    CHECK(fabs((double)result.incidents.count - expected) < 4 * sqrt(expected),
          "%u faults, want %g", (unsigned)result.incidents.count, expected);
    for (uint64_t i = 0; i < result.incidents.count; i++)
        assert_true(incidents[i].gpus_removed == 0 && incidents[i].jobs_hit == 0);
    assert_true(account_s(&result, ACC_STALL_INTER) > 1000);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Eight flows over two cables: with even routing each cable has half of the bytes, by hash the fuller one has more, and its
 * job waits for that alone. */
static void hashes_that_meet_slow_a_job_alone(void **state)
{
    const uint64_t seed = rows_number(state);
    struct fixture fixture;
    three_leaves(&fixture, NETWORK_NONE);
    fixture.scenario.seed = seed;
    fixture.scenario.layouts[0].fabric.routing = ROUTING_SAMPLED;
    fixture_job(&fixture, 0, 0, 10000, 0, 24);
    fixture_job(&fixture, 1, 1, 1, 0, 1);
    struct replica_result result;
    run_it(&fixture, &result);
    uint32_t most = 0;
    for (int way = 0; way < 2; way++) { /* from leaf 0 to leaf 1, and back */
        uint32_t on[2] = { 0 };
        for (uint64_t flow = 0; flow < 8; flow++) {
            const double u = stream_uniform(stream_key(seed, 0, "ecmp"), 0,
                                            (UINT64_C(1) << 40) + ((uint64_t)way << 16) + flow);
            on[u >= 0.5]++;
        }
        for (int cable = 0; cable < 2; cable++)
            if (on[cable] > most) most = on[cable];
    }
    const struct step step = step_alone();
    const double one_s = step.alone_s * 2 / 8; /* a flow, alone on a cable */
    const double step_s = step.compute_s + step.latency_s + most * one_s;
    CHECK_NEAR(s_from_ns(result.run_end_ns), 10000 * step_s / (step.compute_s * (1 + KAPPA)), 1e-8);
    assert_true(account_s(&result, ACC_STALL_CONTENTION) == 0);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t seed = 1; seed <= 5; seed++)
        rows_add(&rows, hashes_that_meet_slow_a_job_alone, (void *)seed, "hashes, seed %u",
                 (unsigned)seed);
    rows_add(&rows, one_slow_nic_slows_all, (void *)NETWORK_NONE, "a slow NIC, no contention");
    rows_add(&rows, one_slow_nic_slows_all, (void *)NETWORK_ESTIMATE, "a slow NIC");
    rows_add(&rows, slow_links_stop_nobody, NULL, "slow links");
    rows_add(&rows, a_dead_link_stops_its_job, (void *)NETWORK_NONE, "a dead link, no contention");
    rows_add(&rows, a_dead_link_stops_its_job, (void *)NETWORK_ESTIMATE, "a dead link");
    rows_add(&rows, a_dead_link_stops_its_job, (void *)NETWORK_LOWER, "a dead link, lower");
    for (uintptr_t row = 0; row < sizeof fabrics / sizeof *fabrics; row++)
        rows_add(&rows, links_are_the_closed_form, (void *)row, "%s", fabrics[row].name);
    static const char *const names[] = {
        [NETWORK_ESTIMATE] = "estimate", [NETWORK_UPPER] = "upper", [NETWORK_LOWER] = "lower"
    };
    for (uintptr_t rule = NETWORK_ESTIMATE; rule <= NETWORK_LOWER; rule++)
        rows_add(&rows, two_jobs_by_hand, (void *)rule, "two jobs by hand, %s", names[rule]);
    rows_add(&rows, a_start_up_is_quiet, NULL, "start-up");
    rows_add(&rows, the_band_is_told, NULL, "the band");
    for (uintptr_t row = 0; row < 16; row++)
        rows_add(&rows, alone_is_as_without_a_network, (void *)row, "alone, form %u",
                 (unsigned)row);
    rows_add(&rows, what_is_hidden_costs_nothing, NULL, "hidden");
    rows_add(&rows, jobs_share_the_nics_of_a_server, NULL, "NICs of a server");
    return rows_run("contention_runs", &rows);
}
