/* test_speed.c - what a placement does to a job's speed, by hand: uplinks of a leaf, the recording,
 * the job's own mean time to failure. */
#include "fixture.h"

#include "tests/near.h"
#include "tests/rows.h"

static const double NIC = 48.5e9, NVLINK = 370.8e9, HOP_IN = 3.4e-6, HOP_OUT = 14e-6, S = 1e9;

/* Flat ring of MODELS 2.4 over N servers of eight. */
static double ring_s(double N, double network)
{
    const double n = 8 * N, wire = network < NVLINK ? network : NVLINK;
    return 2 * (n - N) * HOP_IN + 2 * (N - 1) * HOP_OUT + 2 * (n - 1) / n * S / wire;
}

static void talks(struct scenario *scenario)
{
    scenario->communication.kind = COMM_PROFILE;
    scenario->communication.mix_count = 1;
    scenario->communication.mix[0] =
        (struct mix_entry){ .profile = { .kappa_one = 0.5, .kappa_many = 0.5, .size_bytes = S },
                            .weight = 1,
                            .gpus_min = 1,
                            .gpus_max = UINT32_MAX };
}

/* 18-port switches, eight down for one up: 2 uplinks, 16 ports down, two servers of eight NICs a
 * leaf. 32 GPUs span both leaves, 16 GPUs fit below one. */
static void uplinks_bound_a_job_that_spans_leaves(void **state)
{
    const bool spans = rows_number(state);
    struct fixture fixture;
    fixture_init(&fixture, 1);
    talks(&fixture.scenario);
    struct layout *layout = fixture_layout(&fixture, "two leaves", 4, 8);
    layout->fabric.link.switch_ports = 18;
    layout->fabric.oversubscription = 8;
    const double servers = spans ? 4 : 2, duration_s = 10000;
    fixture_job(&fixture, 0, 0, duration_s, 0, (uint32_t)servers * 8);
    fixture_ready(&fixture);
    assert_int_equal(fixture.plan.variants[0].fabric.servers_per_leaf, 2);
    assert_int_equal(fixture.plan.variants[0].fabric.leaves, 2);
    assert_int_equal(fixture.plan.variants[0].fabric.uplinks_per_leaf, 2);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const double ratio = ring_s(servers, spans ? 2 * NIC : 8 * NIC) / ring_s(servers, 8 * NIC);
    CHECK_NEAR(s_from_ns(result.run_end_ns), duration_s * (1 + 0.5 * ratio) / 1.5, 1e-8);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* What bounds a job's ring on other networks: rate 1.5 / (1 + 0.5 ratio) with the ratio of ring times.
 *   a dragonfly of two groups with two cables: 4 servers, one a leaf, two leaves a group: 2 NICs' worth.
 *   rails, 6 ports, 5:1, 6 servers: one leaf of each of 8 rails holds 5 servers and has 1 port up: 8 NICs' worth, no bound.
 *   two rails: a leaf has 4 NICs of one server and 1 port up, so 2 NICs' worth.
 *   three tiers, 18 ports, 8:1: 2 ports up of 16 NICs; above the leaf nothing is narrower. */
static const struct network_row {
    const char *name;
    struct fabric fabric;
    uint32_t servers, pods;
    double nics;
    uint32_t switches; /* of the longest path (1.5) */
} networks[] = {
    { "a dragonfly's groups",
      { .kind = FABRIC_DRAGONFLY,
        .link.switch_ports = 16,
        .oversubscription = 1,
        .groups = 2,
        .global_links = 2 },
      4,
      2,
      2,
      4 },
    { "rails", { .kind = FABRIC_RAIL, .link.switch_ports = 6, .oversubscription = 5 }, 6, 1, 8, 1 },
    { "two rails",
      { .kind = FABRIC_RAIL, .link.switch_ports = 6, .oversubscription = 5, .rails = 2 },
      6,
      1,
      2,
      3 },
    { "three tiers",
      { .kind = FABRIC_THREE_TIER, .link.switch_ports = 18, .oversubscription = 8 },
      40,
      3,
      2,
      5 },
};

static void other_networks(void **state)
{
    const struct network_row *row = *state;
    const double servers = row->servers;
    struct fixture fixture;
    fixture_init(&fixture, 1);
    talks(&fixture.scenario);
    struct layout *layout = fixture_layout(&fixture, "network", row->servers, 8);
    struct fabric fabric = row->fabric;
    fabric.link.bytes_per_s = NIC;
    fabric.link.hop_s = HOP_OUT;
    fabric.nics_per_server = 8;
    fabric.nics_per_gpu = 1;
    layout->fabric = fabric;
    fixture_job(&fixture, 0, 0, 10000, 0, row->servers * 8);
    fixture_ready(&fixture);
    assert_int_equal(fixture.plan.variants[0].fabric.pods, row->pods);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const double ratio = ring_s(servers, row->nics * NIC) / ring_s(servers, 8 * NIC);
    CHECK_NEAR(s_from_ns(result.run_end_ns), 10000 * (1 + 0.5 * ratio) / 1.5, 1e-8);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Small messages are steps alone: 14 us over one switch, and 2 us for each further one of the longest path. The recorded
 * cluster has two tiers, its servers a leaf each: three switches. On one switch nothing is added. */
static void every_switch_takes_its_time(void **state)
{
    const struct network_row *row = *state;
    const double N = row->servers, n = 8 * N, SWITCH = 2e-6;
    for (int one = 0; one < 2; one++) {
        struct fixture fixture;
        fixture_init(&fixture, 1);
        talks(&fixture.scenario);
        fixture.scenario.communication.mix[0].profile.size_bytes = 1e-3;
        fixture.scenario.recorded_count = one ? 1 : row->servers; /* fewer than the job has */
        fixture_layout(&fixture, "network", row->servers, 8)->fabric.link.switch_s = SWITCH;
        if (one == 0) {
            struct fabric *fabric = &fixture.scenario.layouts[0].fabric;
            struct fabric wired = row->fabric;
            wired.link.bytes_per_s = NIC;
            wired.link.hop_s = HOP_OUT;
            wired.link.switch_s = SWITCH;
            wired.nics_per_server = 8;
            wired.nics_per_gpu = 1;
            *fabric = wired;
        }
        fixture_job(&fixture, 0, 0, 10000, 0, row->servers * 8);
        fixture_ready(&fixture);
        struct replica_result result;
        assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
        const double steps_s = 2 * (n - N) * HOP_IN + 2 * (N - 1) * HOP_OUT;
        const double here = steps_s + 2 * (N - 1) * (row->switches - 1) * SWITCH,
                     recorded = steps_s + 2 * (N - 1) * (3 - 1) * SWITCH;
        CHECK_NEAR(s_from_ns(result.run_end_ns),
                   one ? 10000 : 10000 * (1 + 0.5 * here / recorded) / 1.5, 1e-7);
        replica_result_clear(&result);
        fixture_clear(&fixture);
    }
}

/* 12-port switches hold one tray of four NICs and have 6 ports up: 12 leaves. A job of 16 GPUs behind one of 4 takes a free domain,
 * not the trays next to it. */
static void placement_keeps_domains(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 2);
    talks(&fixture.scenario);
    struct layout *layout = fixture_layout(&fixture, "trays", 12, 4);
    layout->server.domain_servers = 4;
    layout->fabric.link.switch_ports = 12;
    fixture_job(&fixture, 0, 0, 1e6, 0, 4);
    fixture_job(&fixture, 1, 0, 10000, 0, 16);
    fixture_ready(&fixture);
    assert_int_equal(fixture.plan.variants[0].fabric.leaves, 12);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const double inside = 2 * 15 * HOP_IN + 2 * 15 / 16.0 * S / NVLINK;
    const double want = 10000 * (1 + 0.5 * inside / ring_s(2, 8 * NIC)) / 1.5;
    const struct job_row *rows = LOG_ITEMS(&result.jobs, struct job_row);
    double end_s = 0;
    for (uint64_t i = 0; i < result.jobs.count; i++)
        if (rows[i].trace_row == 1) end_s = s_from_ns(rows[i].end_ns);
    CHECK_NEAR(end_s, want, 1e-8);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Trays of four GPUs, four of them one NVLink domain. A job of 16 is inside one: a ring over NVLink alone. One of 32 spans two:
 * two parts of 16 GPUs, whose 16 NICs carry more than NVLink does. */
static void trays_of_a_domain(void **state)
{
    const double domains = (double)rows_number(state), n = 16 * domains;
    struct fixture fixture;
    fixture_init(&fixture, 1);
    talks(&fixture.scenario);
    struct layout *layout = fixture_layout(&fixture, "trays", 8, 4);
    layout->server.domain_servers = 4;
    fixture_job(&fixture, 0, 0, 10000, 0, (uint32_t)n);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const double ring =
        2 * (n - domains) * HOP_IN + 2 * (domains - 1) * HOP_OUT + 2 * (n - 1) / n * S / NVLINK;
    const double inside = domains == 1 ? 2 * (n - 1) * HOP_IN + 2 * (n - 1) / n * S / NVLINK : ring;
    const double ratio = inside / ring_s(n / 8, 8 * NIC);
    CHECK_NEAR(s_from_ns(result.run_end_ns), 10000 * (1 + 0.5 * ratio) / 1.5, 1e-8);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Domains of four trays of four GPUs, one NIC a tray. What crosses between domains takes the NICs of the emptiest: of 6 trays that
 * fill one domain and half of another, 2; of 6 in the free trays of three, 1 beside jobs of 3 trays in two of these, 1. */
static const struct uneven_row {
    const char *name;
    uint32_t others; /* jobs of three trays before it */
    double domains, nics;
} unevens[] = { { "4 + 2 trays", 0, 2, 2 }, { "4 + 1 + 1 trays", 2, 3, 1 } };

static void domains_filled_unevenly(void **state)
{
    const struct uneven_row *row = *state;
    const double n = 24;
    struct fixture fixture;
    fixture_init(&fixture, 3);
    talks(&fixture.scenario);
    struct layout *layout = fixture_layout(&fixture, "trays", 12, 4);
    layout->server.domain_servers = 4;
    layout->fabric.nics_per_server = 1;
    layout->fabric.nics_per_gpu = 0.25;
    for (uint32_t job = 0; job < row->others; job++) fixture_job(&fixture, job, 0, 1e6, 0, 12);
    fixture_job(&fixture, 2, 0, 10000, 0, (uint32_t)n);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const double ring = 2 * (n - row->domains) * HOP_IN + 2 * (row->domains - 1) * HOP_OUT +
                        2 * (n - 1) / n * S / (row->nics * NIC);
    const double want = 10000 * (1 + 0.5 * ring / ring_s(3, 8 * NIC)) / 1.5;
    const struct job_row *rows = LOG_ITEMS(&result.jobs, struct job_row);
    for (uint64_t i = 0; i < result.jobs.count; i++)
        if (rows[i].trace_row == 2) CHECK_NEAR(s_from_ns(rows[i].end_ns), want, 1e-8);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* The recording is the same whatever the layout: another link generation changes the new run only. */
static void the_recording_does_not_follow_the_layout(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 1);
    talks(&fixture.scenario);
    fixture_layout(&fixture, "as recorded", 2, 8);
    struct layout *slow = fixture_layout(&fixture, "slow steps", 2, 8);
    slow->fabric.link.hop_s = 100 * HOP_OUT;
    fixture_job(&fixture, 0, 0, 10000, 0, 16);
    fixture_ready(&fixture);
    struct replica_result result[2];
    for (uint32_t v = 0; v < 2; v++)
        assert_int_equal(fixture_run(&fixture, v, 0, &result[v]), STATUS_OK);
    assert_int_equal(result[0].run_end_ns, 10000 * NS_PER_S);
    const double ratio = (ring_s(2, 8 * NIC) + 2 * 99 * HOP_OUT) / ring_s(2, 8 * NIC);
    CHECK_NEAR(s_from_ns(result[1].run_end_ns), 10000 * (1 + 0.5 * ratio) / 1.5, 1e-8);
    for (uint32_t v = 0; v < 2; v++) replica_result_clear(&result[v]);
    fixture_clear(&fixture);
}

/* One switch of the layout holds its two servers, so that 100:1 is wired; the 32 recorded ones hang on leaves of one port up. */
static void the_recording_is_larger_than_a_switch(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 1);
    talks(&fixture.scenario);
    struct layout *layout = fixture_layout(&fixture, "one switch", 2, 8);
    layout->fabric.link.switch_ports = 18;
    layout->fabric.oversubscription = 100;
    fixture.scenario.recorded_count = 32;
    fixture_job(&fixture, 0, 0, 10000, 0, 16);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_int_equal(result.run_end_ns, 10000 * NS_PER_S);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* A network of one byte a second: the job needs longer than time goes, and its layout more GPUs than it has, not fewer than 0. */
static void a_job_that_never_ends_needs_much(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 1);
    talks(&fixture.scenario);
    fixture.scenario.startup_ns = 60 * NS_PER_S;
    struct layout *layout = fixture_layout(&fixture, "a byte a second", 2, 8);
    layout->fabric.link.bytes_per_s = 1;
    fixture.scenario.horizon_ns = 10 * NS_PER_DAY;
    fixture_job(&fixture, 0, 0, 10000, 0, 16);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const struct metric_row *metrics = LOG_ITEMS(&result.metrics, struct metric_row);
    double needs = 0;
    for (uint64_t i = 0; i < result.metrics.count; i++)
        if (strcmp(metrics[i].name, "effective_load") == 0) needs = metrics[i].value;
    CHECK(needs > 1, "needs %g", needs);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* --nodes=2-3 with eight GPUs a node, recorded on two: on three the ring is one of 24 GPUs. */
static void a_job_given_more_rings_over_all_of_it(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 1);
    talks(&fixture.scenario);
    fixture_layout(&fixture, "three", 3, 8);
    fixture_job(&fixture, 0, 0, 10000, 0, 16);
    fixture_ready(&fixture);
    struct speed *speed = speed_create(&fixture.scenario, &fixture.plan.variants[0], fixture.arena);
    assert_non_null(speed);
    const struct speed_query query = { .gpus = 16,
                                       .recorded_nodes = 2,
                                       .kappa_luck = 1,
                                       .place = { .servers = 3, .gpus = 24, .gpus_min = 8 } };
    const double ratio = ring_s(3, 8 * NIC) / ring_s(2, 8 * NIC);
    CHECK_NEAR((double)speed_of(speed, &query).tempo.rate_q30 / RATE_ONE, 1.5 / (1 + 0.5 * ratio),
               1e-8);
    fixture_clear(&fixture);
}

/* MODELS 5.11: of 16 GPUs eight are left, half as many at once, and a ring within one server. */
static void a_job_that_lost_a_server_is_as_much_slower(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 1);
    talks(&fixture.scenario);
    fixture_layout(&fixture, "two", 2, 8);
    fixture_job(&fixture, 0, 0, 10000, 0, 16);
    fixture_ready(&fixture);
    struct speed *speed = speed_create(&fixture.scenario, &fixture.plan.variants[0], fixture.arena);
    assert_non_null(speed);
    const struct speed_query query = { .gpus = 16,
                                       .recorded_nodes = 2,
                                       .kappa_luck = 1,
                                       .left_q30 = RATE_ONE / 2,
                                       .place = { .servers = 1, .gpus = 8, .gpus_min = 8 } };
    const double ratio = ring_s(1, NVLINK) / ring_s(2, 8 * NIC);
    CHECK_NEAR((double)speed_of(speed, &query).tempo.rate_q30 / RATE_ONE,
               0.5 * 1.5 / (1 + 0.5 * ratio), 1e-8);
    fixture_clear(&fixture);
}

/* MODELS 12: without the software class a 1,024-GPU job on servers of 8, 4, 2 and 1 GPUs has these
 * hours to its next failure: 3.03e-4 a day per GPU, 4.79e-4 per host, 3.16e-4/8 per link. */
static const struct {
    uint32_t gpus;
    double mttf_h;
} published[] = { { 8, 58.2 }, { 4, 50.7 }, { 2, 40.3 }, { 1, 28.5 } };

static void a_job_lives_as_published(void **state)
{
    const uint64_t row = rows_number(state);
    const uint32_t g = published[row].gpus;
    struct scenario *scenario = calloc(1, sizeof *scenario);
    assert_non_null(scenario);
    scenario->failures.scale = 1;
    const double per_day[COMPONENTS] = {
        [COMPONENT_GPU] = 3.03e-4, [COMPONENT_SERVER] = 4.79e-4, [COMPONENT_LINK] = 3.16e-4 / 8
    };
    for (int kind = 0; kind < COMPONENTS; kind++)
        if (per_day[kind] > 0)
            scenario->failures.component[kind] =
                (struct component_failures){ .law = LAW_EXPONENTIAL,
                                             .mean_s = 86400 / per_day[kind] };
    const double hours = speed_job_mttf_s(scenario, 1024, 1024 / g, g, g, 32, 1) / 3600;
    CHECK(fabs(hours - published[row].mttf_h) < 0.05, "%g h, want %g", hours,
          published[row].mttf_h);
    free(scenario);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, uplinks_bound_a_job_that_spans_leaves, (void *)1, "two uplinks bound 32 GPUs");
    rows_add(&rows, uplinks_bound_a_job_that_spans_leaves, (void *)0, "16 GPUs below one leaf");
    rows_add(&rows, the_recording_does_not_follow_the_layout, NULL,
             "the recording does not follow the layout");
    rows_add(&rows, the_recording_is_larger_than_a_switch, NULL,
             "the recording is larger than a switch");
    rows_add(&rows, a_job_that_never_ends_needs_much, NULL, "a network of one byte a second");
    rows_add(&rows, a_job_given_more_rings_over_all_of_it, NULL,
             "a job given more than it asked for");
    rows_add(&rows, a_job_that_lost_a_server_is_as_much_slower, NULL,
             "a job that goes on without one of its two servers");
    for (uintptr_t row = 0; row < sizeof published / sizeof *published; row++)
        rows_add(&rows, a_job_lives_as_published, (void *)row, "1,024 GPUs on servers of %u",
                 published[row].gpus);
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        rows_add(&rows, other_networks, &networks[i], "bounded by %s", networks[i].name);
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        rows_add(&rows, every_switch_takes_its_time, &networks[i], "switches of %s",
                 networks[i].name);
    rows_add(&rows, placement_keeps_domains, NULL, "placement keeps domains");
    rows_add(&rows, trays_of_a_domain, (void *)1, "trays of one NVLink domain");
    rows_add(&rows, trays_of_a_domain, (void *)2, "trays of two NVLink domains");
    for (size_t i = 0; i < sizeof unevens / sizeof *unevens; i++)
        rows_add(&rows, domains_filled_unevenly, &unevens[i], "domains hold %s", unevens[i].name);
    return rows_run("speed", &rows);
}
