/* test_invariants.c - after every instant of random runs with faults, all books agree.
 *
 * Each seed draws a cluster, a trace, policies and failure rates high enough that parts break while
 * jobs run, hang, restart and wait. The probe restates what must hold (MODELS 11.1, 11.3). */
#include "base/philox.h"
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "books_probe.h"

enum { SEEDS = 300 };

static uint64_t probes;

static void probe(const struct run *run)
{
    books_probe(run);
    probes++;
}

static double draw(uint64_t seed, uint64_t number)
{
    return stream_uniform(stream_key(seed, 0, "test.invariants"), 0, number);
}

/* One component law with a mean of some hours, so that a run of days sees many faults. */
static struct component_failures law(double mean_h, double repair_h)
{
    return (struct component_failures){ .law = LAW_EXPONENTIAL,
                                        .mean_s = mean_h * 3600,
                                        .repair_median_s = repair_h * 3600,
                                        .repair_p95_s = repair_h * 3600 * 5 };
}

static void build(struct fixture *fixture, uint64_t seed)
{
    const uint32_t jobs = 200;
    fixture_init(fixture, jobs);
    struct scenario *scenario = &fixture->scenario;
    static const uint32_t sizes[] = { 1, 2, 4, 8 };
    const uint32_t g = sizes[(int)(draw(seed, 1) * 4)];
    struct layout *layout = fixture_layout(fixture, "random", 32 / g, g);
    layout->fabric.link.switch_ports = 16;
    scenario->order = (enum order)(seed % ORDERS);
    scenario->placement = draw(seed, 3) < 0.5 ? PLACE_PACK : PLACE_SPREAD;
    scenario->shape = draw(seed, 4) < 0.6 ? SHAPE_MODEL : SHAPE_FREE;
    scenario->slack[0] = draw(seed, 5) < 0.5 ? 0 : draw(seed, 5) < 0.75 ? 1 : SLACK_ANY;
    scenario->seed = seed;
    scenario->horizon_ns = 6 * NS_PER_DAY;
    scenario->follow_ns = 3 * NS_PER_DAY;
    scenario->warmup_ns = NS_PER_DAY;
    scenario->resample = draw(seed, 6) < 0.5 ? RESAMPLE_NONE : RESAMPLE_DAYS;
    scenario->startup_ns = draw(seed, 7) < 0.5 ? 0 : 60 * NS_PER_S;
    scenario->contains_startup = draw(seed, 8) < 0.5;
    struct failures *failures = &scenario->failures;
    failures->component[COMPONENT_GPU] = law(400, 2);
    failures->component[COMPONENT_SERVER] = law(300, 3);
    failures->component[COMPONENT_LINK] = law(900, 1);
    failures->component[COMPONENT_LEAF] = law(500, 1);
    failures->component[COMPONENT_JOB] = law(60, 1);
    failures->drain = draw(seed, 9) < 0.4   ? DRAIN_FINISH
                      : draw(seed, 9) < 0.7 ? DRAIN_NOW
                                            : DRAIN_GPU;
    failures->detection_ns = draw(seed, 10) < 0.3   ? 0
                             : draw(seed, 10) < 0.6 ? 60 * NS_PER_S
                                                    : 2 * NS_PER_HOUR;
    failures->requeue_delay_ns = draw(seed, 11) < 0.5 ? 0 : 120 * NS_PER_S;
    scenario->checkpoint =
        (struct checkpoint){ .policy = draw(seed, 12) < 0.8 ? CHECKPOINT_FIXED : CHECKPOINT_DALY,
                             .interval_ns = NS_PER_HOUR,
                             .store_bytes_per_s = 1e9,
                             .bytes_per_gpu = 1e10 };
    scenario->communication.kind = COMM_BY_SIZE;
    scenario->communication.mix_count = 1;
    scenario->communication.mix[0] = (struct mix_entry){ .profile = { .kappa_one = 0.4,
                                                                      .kappa_many = 0.5,
                                                                      .hidden_frac = 0.2,
                                                                      .size_bytes = 1e9,
                                                                      .spread = 0.3 },
                                                         .weight = 1,
                                                         .gpus_min = 1,
                                                         .gpus_max = UINT32_MAX };
    for (uint32_t row = 0; row < jobs; row++) {
        const double u = draw(seed, 100 + 3 * row);
        const uint32_t gpus =
            u < 0.4 ? 1 : 1 + (uint32_t)(draw(seed, 101 + 3 * row) * (u < 0.9 ? 8 : 32));
        const double hours = 0.05 + 20 * draw(seed, 102 + 3 * row) * draw(seed, 101 + 3 * row);
        fixture_job(fixture, row, row * 5 * 86400.0 / jobs, hours * 3600, 0, gpus);
    }
    fixture_ready(fixture);
}

/* What incidents are charged with is what the ledger says is lost, to the unit: nothing else loses
 * work here. */
static void check_lost(const struct replica_result *result)
{
    int128 charged = 0, lost = 0;
    const struct incident *incidents = LOG_ITEMS(&result->incidents, struct incident);
    for (uint64_t i = 0; i < result->incidents.count; i++) charged += incidents[i].lost_gpu_ns;
    for (uint32_t class = 0; class < CLASSES; class ++) lost += result->ledger_all[ACC_LOST][class];
    assert_true(charged > 0);
    assert_true(charged * UNITS_PER_GPU == lost);
}

static void seed_keeps_its_books(void **state)
{
    const uint64_t seed = (uint64_t)(uintptr_t)*state;
    struct fixture fixture;
    build(&fixture, seed);
    struct replica_result result;
    run_probe = probe;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    run_probe = NULL;
    assert_true(result.closure_error == 0);
    assert_true(result.incidents.count > 0);
    assert_true(result.events > 200);
    check_lost(&result);
    for (uint32_t account = 0; account < ACCOUNTS; account++)
        for (uint32_t class = 0; class < CLASSES; class ++)
            assert_true(result.ledger_all[account][class] >= 0);
    for (uint64_t i = 0; i < (uint64_t)result.bin_count * ACCOUNTS; i++)
        assert_true(result.bins[i] >= 0);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    static struct CMUnitTest tests[SEEDS];
    static char names[SEEDS][32];
    for (uintptr_t seed = 0; seed < SEEDS; seed++) {
        snprintf(names[seed], sizeof names[seed], "random run, seed %u", (unsigned)seed + 1);
        tests[seed] = (struct CMUnitTest){ .name = names[seed],
                                           .test_func = seed_keeps_its_books,
                                           .initial_state = (void *)(seed + 1) };
    }
    const int failed = cmocka_run_group_tests_name("invariants", tests, NULL, NULL);
    printf("%llu instants checked\n", (unsigned long long)probes);
    return failed;
}
