/* test_layouts.c - what must not change a result: the name of a layout, its company, how much detail
 * is kept, how fine the curve is drawn, rates of nothing. Results are compared to the last bit. */
#include "fixture.h"

#include "tests/near.h"
#include "tests/rows.h"

enum { JOBS = 300, LAYOUTS_MAX = 4 };

/* What is different from the base; zero fields are as there. */
struct variation {
    const char *name;
    uint32_t layouts[LAYOUTS_MAX]; /* GPUs a server, 32 GPUs in all; base: one layout of eights */
    uint32_t row;                  /* the one whose result is compared                          */
    const char *layout_name, *detail;
    int64_t curve_bin_ns;
    bool no_faults, zero_scale;
    double scale; /* of the failure rates                                      */
    uint64_t seed;
    uint32_t replica;
};

static const struct variation base = { .name = "base" };
static const struct variation quiet = { .name = "quiet", .no_faults = true };

static struct component_failures law(double mean_h)
{
    return (struct component_failures){ .law = LAW_EXPONENTIAL,
                                        .mean_s = mean_h * 3600,
                                        .repair_median_s = 7200,
                                        .repair_p95_s = 36000 };
}

static void set_scenario(struct scenario *scenario, const struct variation *variation)
{
    scenario->order = ORDER_EASY;
    if (variation->seed) scenario->seed = variation->seed;
    scenario->horizon_ns = 6 * NS_PER_DAY;
    scenario->warmup_ns = NS_PER_DAY;
    scenario->follow_ns = 30 * NS_PER_DAY;
    scenario->curve_bin_ns = variation->curve_bin_ns ? variation->curve_bin_ns : 6 * NS_PER_HOUR;
    scenario->resample = RESAMPLE_DAYS;
    scenario->startup_ns = 45 * NS_PER_S;
    scenario->recorded_count = 4;
    if (variation->detail)
        snprintf(scenario->detail, sizeof scenario->detail, "%s", variation->detail);
    scenario->communication.kind = COMM_PROFILE;
    scenario->communication.mix_count = 1;
    scenario->communication.mix[0] = (struct mix_entry){ .profile = { .kappa_one = 0.2,
                                                                      .kappa_many = 0.4,
                                                                      .hidden_frac = 0.1,
                                                                      .size_bytes = 1e8,
                                                                      .spread = 0.3 },
                                                         .weight = 1,
                                                         .gpus_min = 1,
                                                         .gpus_max = UINT32_MAX };
    scenario->checkpoint = (struct checkpoint){ .policy = CHECKPOINT_FIXED,
                                                .interval_ns = 3600 * NS_PER_S,
                                                .store_bytes_per_s = 2e9,
                                                .bytes_per_gpu = 2e10 };
    struct failures *failures = &scenario->failures;
    if (variation->scale > 0) failures->scale = variation->scale;
    if (variation->zero_scale) failures->scale = 0;
    if (variation->no_faults) return;
    failures->component[COMPONENT_GPU] = law(180);
    failures->component[COMPONENT_SERVER] = law(99);
    failures->component[COMPONENT_LINK] = law(400);
    failures->component[COMPONENT_LEAF] = law(200);
    failures->component[COMPONENT_JOB] = law(100);
}

static void run(const struct variation *variation, struct replica_result *result)
{
    struct fixture fixture;
    fixture_init(&fixture, JOBS);
    set_scenario(&fixture.scenario, variation);
    static const char *const names[LAYOUTS_MAX] = { "b", "c", "d", "e" };
    const char *name = variation->layout_name ? variation->layout_name : "a";
    if (!variation->layouts[0]) fixture_layout(&fixture, name, 4, 8);
    for (uint32_t l = 0; l < LAYOUTS_MAX && variation->layouts[l]; l++)
        fixture_layout(&fixture, l == variation->row ? name : names[l], 32 / variation->layouts[l],
                       variation->layouts[l]);
    for (uint32_t row = 0; row < JOBS; row++) {
        const double u = any(5, 3 * row);
        const uint32_t gpus = u < 0.5 ? 1 : any_count(5, 3 * row + 1, 1, u < 0.9 ? 8 : 32);
        fixture_job(&fixture, row, row * 5 * 86400.0 / JOBS, any_scale(5, 3 * row + 2, 60, 60000),
                    0, gpus);
    }
    fixture_ready(&fixture);
    assert_int_equal(fixture_run(&fixture, variation->row, variation->replica, result), STATUS_OK);
    fixture_clear(&fixture);
}

/* ---- equal to the last bit ----------------------------------------------------------------------- */

static void same_metrics(const struct replica_result *a, const struct replica_result *b)
{
    assert_int_equal(a->metrics.count, b->metrics.count);
    assert_true(a->metrics.count > 50);
    const struct metric_row *left = LOG_ITEMS(&a->metrics, struct metric_row);
    const struct metric_row *right = LOG_ITEMS(&b->metrics, struct metric_row);
    for (uint64_t i = 0; i < a->metrics.count; i++) {
        assert_string_equal(left[i].name, right[i].name);
        assert_int_equal(left[i].class_, right[i].class_);
        CHECK(left[i].value == right[i].value, "%s of %s: %.17g and %.17g", left[i].name,
              class_names[left[i].class_], left[i].value, right[i].value);
    }
}

static void same_books(const struct replica_result *a, const struct replica_result *b)
{
    assert_int_equal(a->run_end_ns, b->run_end_ns);
    assert_int_equal(a->events, b->events);
    assert_memory_equal(a->ledger, b->ledger, sizeof a->ledger);
    assert_memory_equal(a->ledger_all, b->ledger_all, sizeof a->ledger_all);
    assert_true(a->at_risk == b->at_risk);
    assert_int_equal(a->incidents.count, b->incidents.count);
    const struct incident *left = LOG_ITEMS(&a->incidents, struct incident);
    const struct incident *right = LOG_ITEMS(&b->incidents, struct incident);
    for (uint64_t i = 0; i < a->incidents.count; i++) {
        assert_int_equal(left[i].at_ns, right[i].at_ns);
        assert_int_equal(left[i].repaired_ns, right[i].repaired_ns);
        assert_int_equal(left[i].component, right[i].component);
        assert_int_equal(left[i].element, right[i].element);
        assert_int_equal(left[i].gpus_stopped, right[i].gpus_stopped);
        assert_int_equal(left[i].lost_gpu_ns, right[i].lost_gpu_ns);
        assert_int_equal(left[i].restart_gpu_ns, right[i].restart_gpu_ns);
        assert_int_equal(left[i].down_gpu_ns, right[i].down_gpu_ns);
    }
}

static const struct variation variations[] = {
    { .name = "again" },
    { .name = "another name", .layout_name = "zz" },
    { .name = "among others", .layouts = { 4, 8, 1, 2 }, .row = 1 },
    { .name = "the last of others", .layouts = { 1, 2, 4, 8 }, .row = 3 },
    { .name = "beside its twin", .layouts = { 8, 8 }, .row = 1 },
    { .name = "no detail", .detail = "none" },
    { .name = "all detail", .detail = "all" },
    { .name = "curve by the hour", .curve_bin_ns = NS_PER_HOUR },
    { .name = "curve by 20 minutes", .curve_bin_ns = 1200 * NS_PER_S },
    { .name = "curve by the day", .curve_bin_ns = NS_PER_DAY },
};

static void changes_nothing(void **state)
{
    struct replica_result want, got;
    run(&base, &want);
    assert_true(want.incidents.count > 20);
    run(*state, &got);
    same_metrics(&want, &got);
    same_books(&want, &got);
    replica_result_clear(&want);
    replica_result_clear(&got);
}

/* Rates of nothing, whatever they are multiplied by, and all rates times zero, are no faults. */
static const struct variation nothings[] = {
    { .name = "no rates, doubled", .no_faults = true, .scale = 2 },
    { .name = "no rates, times zero", .no_faults = true, .zero_scale = true },
    { .name = "all rates times zero", .zero_scale = true },
};

static void is_quiet(void **state)
{
    struct replica_result want, got;
    run(&quiet, &want);
    run(*state, &got);
    assert_int_equal(want.incidents.count, 0);
    same_metrics(&want, &got);
    same_books(&want, &got);
    static const enum account none[] = { ACC_LOST, ACC_DOWN, ACC_DRAINING };
    for (size_t i = 0; i < 3; i++)
        for (int class = 0; class < CLASSES; class ++)
            assert_true(got.ledger_all[none[i]][class] == 0);
    replica_result_clear(&want);
    replica_result_clear(&got);
}

/* The tests above could pass on results that never change: these must. */
static const struct variation others[] = {
    { .name = "another seed", .seed = 43 },
    { .name = "another replica", .replica = 1, .detail = "all" },
    { .name = "twice the rates", .scale = 2 },
    { .name = "other servers", .layouts = { 4 } },
};

static void changes_something(void **state)
{
    struct replica_result want, got;
    run(&base, &want);
    run(*state, &got);
    assert_memory_not_equal(want.ledger, got.ledger, sizeof want.ledger);
    replica_result_clear(&want);
    replica_result_clear(&got);
}

/* One-GPU jobs without communication and faults see one pool, however it is cut (MODELS 11.6). */
static void one_pool(void **state)
{
    const uint32_t gpus_per_server = (uint32_t)rows_number(state);
    const uint32_t servers = 48 / gpus_per_server;
    struct replica_result result[2];
    for (int i = 0; i < 2; i++) {
        struct fixture fixture;
        fixture_init(&fixture, 2000);
        fixture.scenario.order = ORDER_EASY;
        fixture_layout(&fixture, "pool", i ? servers : 6, i ? gpus_per_server : 8);
        for (uint32_t row = 0; row < 2000; row++)
            fixture_job(&fixture, row, row * 60.0, any_scale(9, row, 30, 30000), 0, 1);
        fixture_ready(&fixture);
        assert_int_equal(fixture_run(&fixture, 0, 0, &result[i]), STATUS_OK);
        fixture_clear(&fixture);
    }
    const struct job_row *a = LOG_ITEMS(&result[0].jobs, struct job_row);
    const struct job_row *b = LOG_ITEMS(&result[1].jobs, struct job_row);
    assert_int_equal(result[0].jobs.count, 2000);
    bool waited = false;
    for (uint32_t i = 0; i < 2000; i++) {
        assert_int_equal(a[i].serial, b[i].serial);
        assert_int_equal(a[i].first_start_ns, b[i].first_start_ns);
        assert_int_equal(a[i].end_ns, b[i].end_ns);
        waited |= a[i].first_start_ns > a[i].submit_ns;
    }
    assert_true(waited);
    assert_memory_equal(result[0].ledger_all, result[1].ledger_all, sizeof result[0].ledger_all);
    replica_result_clear(&result[0]);
    replica_result_clear(&result[1]);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof variations / sizeof *variations; i++)
        rows_add(&rows, changes_nothing, &variations[i], "nothing changes: %s", variations[i].name);
    for (size_t i = 0; i < sizeof nothings / sizeof *nothings; i++)
        rows_add(&rows, is_quiet, &nothings[i], "no faults: %s", nothings[i].name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        rows_add(&rows, changes_something, &others[i], "something changes: %s", others[i].name);
    static const uintptr_t cuts[] = { 1, 2, 3, 4, 6, 12, 16, 24 };
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        rows_add(&rows, one_pool, (void *)cuts[i], "48 GPUs in servers of %u are one pool",
                 (unsigned)cuts[i]);
    return rows_run("layouts", &rows);
}
