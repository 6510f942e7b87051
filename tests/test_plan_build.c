/* test_plan_build.c - campaign/plan_build: sizes, loads, times worked by hand, and what is refused. */
#include "fixture.h"

#include "tests/near.h"
#include "tests/rows.h"

/* Three jobs on two days: 4 GPUs x 43,200 s, 1 x 86,400 s, 40 x 8,640 s = 604,800 GPU-seconds,
 * 3.5 GPUs of two days. */
static void three_jobs(struct fixture *fixture)
{
    fixture_init(fixture, 3);
    fixture_job(fixture, 0, 0, 43200, 0, 4);
    fixture_job(fixture, 1, 50000, 86400, 0, 1);
    fixture_job(fixture, 2, 90000, 8640, 0, 40);
}

static enum status build(struct fixture *fixture, const char *const *only, size_t only_count)
{
    return plan_build(&fixture->scenario, &fixture->jobs, &fixture->import, only, only_count, 1,
                      &fixture->plan, fixture->diag);
}

static void sizes_and_load(void **state)
{
    (void)state;
    struct fixture fixture;
    three_jobs(&fixture);
    fixture.scenario.slack_count = 2;
    fixture.scenario.slack[1] = SLACK_ANY;
    fixture_layout(&fixture, "eights", 4, 8);
    fixture_layout(&fixture, "twos", 20, 2)->fabric.link.switch_ports = 16;
    assert_int_equal(build(&fixture, NULL, 0), STATUS_OK);
    const struct plan *plan = &fixture.plan;
    assert_int_equal(plan->trace_days, 2);
    assert_int_equal(plan->variant_count, 4); /* layout by layout, slack by slack */
    for (uint32_t v = 0; v < 4; v++) {
        assert_int_equal(plan->variants[v].layout, v / 2);
        assert_int_equal(plan->variants[v].slack, v % 2 ? SLACK_ANY : 0);
    }
    CHECK_NEAR(plan->variants[0].offered_load, 3.5 / 32, 1e-12);
    CHECK_NEAR(plan->variants[2].offered_load, 3.5 / 40, 1e-12);
    /* 40 GPUs do not fit 32; they are all of the twos */
    assert_int_equal(plan->variants[0].jobs_never_fit, 1);
    CHECK_NEAR(plan->variants[0].unserved_gpu_s, 345600, 1e-12);
    assert_int_equal(plan->variants[2].jobs_never_fit, 0);
    /* 40 ports, radix 16: 8 down, 8 up, 5 leaves of 4 servers, 40 trunks over ceil(40/16) = 3 spines */
    assert_int_equal(plan->variants[2].fabric.servers_per_leaf, 4);
    assert_int_equal(plan->variants[2].fabric.leaves, 5);
    assert_int_equal(plan->variants[2].fabric.trunks, 40);
    assert_int_equal(plan->variants[2].fabric.spines, 3);
    assert_int_equal(plan->variants[0].fabric.leaves, 1);
    fixture_clear(&fixture);
}

/* Equal GPUs on all layouts, a multiple of every server, the fewest at or below the load. */
static const struct {
    double load;
    uint32_t gpus;
} scales[] = { { 0.5, 24 },  { 0.14, 48 },     { 0.1458334, 24 },
               { 0.07, 72 }, { 3.5 / 24, 24 }, { 9, 24 } };

static void scale_to_load(void **state)
{
    const uint64_t i = rows_number(state);
    struct fixture fixture;
    three_jobs(&fixture);
    fixture.scenario.scale_to_load = scales[i].load;
    fixture_layout(&fixture, "eights", 1, 8);
    fixture_layout(&fixture, "threes", 1, 3);
    fixture_layout(&fixture, "twos", 1, 2);
    assert_int_equal(build(&fixture, NULL, 0), STATUS_OK);
    static const uint32_t per_server[] = { 8, 3, 2 };
    for (uint32_t v = 0; v < 3; v++) {
        assert_int_equal(fixture.plan.variants[v].gpus, scales[i].gpus);
        assert_int_equal(fixture.plan.variants[v].servers, scales[i].gpus / per_server[v]);
        assert_true(fixture.plan.variants[v].offered_load <= scales[i].load * (1 + 1e-12));
    }
    fixture_clear(&fixture);
}

/* Twice the GPU-time-weighted mean length, in whole bins, at most a third of the horizon. Here:
 * (4 x 43,200^2 + 86,400^2 + 40 x 8,640^2)/604,800 = 29,622.857 s. */
static void auto_warmup(void **state)
{
    const uint64_t days = rows_number(state);
    struct fixture fixture;
    three_jobs(&fixture);
    fixture.scenario.warmup_ns = WARMUP_AUTO;
    fixture.scenario.horizon_ns = (int64_t)days * NS_PER_DAY;
    fixture.scenario.curve_bin_ns = NS_PER_HOUR;
    fixture_layout(&fixture, "eights", 4, 8);
    assert_int_equal(build(&fixture, NULL, 0), STATUS_OK);
    /* 59,246 s are 16.46 h; a third of a day is 8 h */
    assert_int_equal(fixture.plan.warmup_ns, (days == 1 ? 8 : 17) * NS_PER_HOUR);
    fixture_clear(&fixture);
}

/* 20,000 faults: 32 GPUs and 4 servers at 1/4,000 and 1/10,000 h fail 0.0084 times an hour. */
static void failure_only_run(void **state)
{
    const uint64_t which = rows_number(state);
    struct fixture fixture;
    three_jobs(&fixture);
    struct failures *failures = &fixture.scenario.failures;
    if (which > 0) {
        failures->component[COMPONENT_GPU] =
            (struct component_failures){ .law = LAW_EXPONENTIAL, .mean_s = 4000 * 3600.0 };
        failures->component[COMPONENT_SERVER] =
            (struct component_failures){ .law = LAW_EXPONENTIAL, .mean_s = 10000 * 3600.0 };
        failures->component[COMPONENT_JOB] = /* software is no part */
            (struct component_failures){ .law = LAW_EXPONENTIAL, .mean_s = 3600 };
    }
    if (which == 2) failures->scale = 2;
    if (which == 3) failures->scale = 0.01; /* 27,000 years: the clock ends before */
    if (which == 4) failures->blast_horizon_ns = 77 * NS_PER_DAY;
    fixture_layout(&fixture, "eights", 4, 8);
    assert_int_equal(build(&fixture, NULL, 0), STATUS_OK);
    const double hours = s_from_ns(fixture.plan.variants[0].blast_horizon_ns) / 3600;
    static const double want[] = { 0, 20000 / 0.0084, 10000 / 0.0084 };
    if (which == 0) assert_true(hours == 0);
    if (which == 1) CHECK_NEAR(hours, 200 * 8766.0, 1e-9); /* 271 years, cut at 200 */
    if (which == 2) CHECK_NEAR(hours, want[2], 1e-9);
    if (which == 3) CHECK_NEAR(hours, 200 * 8766.0, 1e-9);
    if (which == 4) CHECK_NEAR(hours, 77 * 24, 1e-12);
    fixture_clear(&fixture);
}

static void only_some_layouts(void **state)
{
    (void)state;
    struct fixture fixture;
    three_jobs(&fixture);
    fixture_layout(&fixture, "eights", 4, 8);
    fixture_layout(&fixture, "fours", 8, 4);
    fixture_layout(&fixture, "twos", 16, 2);
    static const char *const only[] = { "twos", "eights" };
    assert_int_equal(build(&fixture, only, 2), STATUS_OK);
    assert_int_equal(fixture.plan.variant_count, 2);
    assert_int_equal(fixture.plan.variants[0].layout, 0);
    assert_int_equal(fixture.plan.variants[1].layout, 2);
    fixture_clear(&fixture);
}

/* ---- refused ------------------------------------------------------------------------------------------ */

static void bins_do_not_divide(struct fixture *f)
{
    f->scenario.horizon_ns = 5 * NS_PER_HOUR;
}
static void warmup_too_long(struct fixture *f)
{
    f->scenario.horizon_ns = f->scenario.warmup_ns = NS_PER_DAY;
}
static void resampled_all(struct fixture *f)
{
    f->scenario.resample = RESAMPLE_DAYS;
}
static void days_of_a_list(struct fixture *f)
{
    f->scenario.horizon_ns = NS_PER_DAY;
    f->scenario.resample = RESAMPLE_DAYS;
    f->jobs.once = true;
}
static void too_many_gpus(struct fixture *f)
{
    f->scenario.layouts[0].server_count = 1 << 20;
}
static void no_gpus(struct fixture *f)
{
    f->scenario.layouts[0].server_count = 0;
}
static void small_switch(struct fixture *f)
{
    f->scenario.layouts[0].fabric.link.switch_ports = 16;
    f->scenario.layouts[0].server_count = 1000;
}
static void tiny_switch(struct fixture *f)
{
    f->scenario.layouts[0].fabric.link.switch_ports = 8;
}
/* floor(64 / (1 + 64)) = 0 ports up. */
static void nothing_up(struct fixture *f)
{
    f->scenario.layouts[0].server_count = 100;
    f->scenario.layouts[0].fabric.link.switch_ports = 64;
    f->scenario.layouts[0].fabric.oversubscription = 64;
}
static void too_fine_a_curve(struct fixture *f)
{
    f->scenario.horizon_ns = 149 * 365 * NS_PER_DAY;
    f->scenario.curve_bin_ns = NS_PER_S;
}
static void beyond_all_clocks(struct fixture *f)
{
    f->scenario.horizon_ns = INT64_MAX / NS_PER_DAY * NS_PER_DAY;
}
static void nothing_to_scale(struct fixture *f)
{
    f->jobs.count = 0;
    f->scenario.scale_to_load = 0.8;
}
static void ceaseless_faults(struct fixture *f)
{
    f->scenario.failures.component[COMPONENT_GPU] =
        (struct component_failures){ .law = LAW_EXPONENTIAL, .mean_s = 3600 };
    f->scenario.failures.scale = 100;
}

static void teams_of_nobody(struct fixture *f)
{
    f->scenario.kind = KIND_STATIC;
}
static void teams_of_others(struct fixture *f)
{
    static struct static_team others = { .name = "others", .share = 1 };
    f->scenario.kind = KIND_STATIC;
    f->scenario.teams = &others;
    f->scenario.team_count = 1;
}

static struct kube_cluster_queue queue = { .name = "q",
                                           .nominal_gpus = 8,
                                           .capability_gpus = INT64_MAX,
                                           .limit_gpus = INT64_MAX,
                                           .weight = 1,
                                           .over_quota_weight = 1 };
static void queues_of(struct fixture *f, enum kube_gang gang)
{
    f->scenario.kind = KIND_KUBERNETES;
    kube_defaults(&f->scenario.kube);
    f->scenario.kube.gang = gang;
    f->scenario.kube.queues = &queue;
    f->scenario.kube.queue_count = 1;
}
static void queues_without_gangs(struct fixture *f)
{
    queues_of(f, GANG_COSCHEDULING);
}
static void quota_of_volcano(struct fixture *f)
{
    queues_of(f, GANG_VOLCANO);
}
static void binpack_of_kai(struct fixture *f)
{
    queues_of(f, GANG_KAI);
    f->scenario.kube.binpack_weight = 5;
}
static void thousandths_of(struct fixture *f, enum kube_gang gang)
{
    static struct ask half;
    static uint32_t rows[3];
    half = (struct ask){ .pods = 1, .gpu_milli = 500 };
    queues_of(f, gang);
    f->scenario.kube.queue_count = 0;
    f->jobs.asks = &half;
    f->jobs.ask_count = 1;
    f->jobs.ask = rows;
}
static void thousandths_without_kai(struct fixture *f)
{
    thousandths_of(f, GANG_VOLCANO);
}
static void thousandths_that_grow(struct fixture *f)
{
    thousandths_of(f, GANG_KAI);
    f->scenario.kube.autoscaler = true;
}
static void many_sockets(struct fixture *f)
{
    static struct server_group group;
    group = (struct server_group){
        .server = fixture_server(8), .count = 4, .nodes_per_server = 1, .sockets = 16
    };
    queues_of(f, GANG_NONE);
    f->scenario.kube.queue_count = 0;
    f->scenario.kube.topology_manager = TM_RESTRICTED;
    f->scenario.layouts[0].groups = &group;
    f->scenario.layouts[0].group_count = 1;
}
static void levels_of_nobody(struct fixture *f)
{
    queues_of(f, GANG_NONE);
    f->scenario.kube.queue_count = 0;
    f->scenario.kube.level_count = 1;
}

static const struct refusal {
    const char *name, *message;
    void (*change)(struct fixture *fixture);
} refusals[] = {
    { "bins that do not divide the horizon", "multiple of time.curve_bin", bins_do_not_divide },
    { "a warm-up as long as the horizon", "time.warmup must end before", warmup_too_long },
    { "days drawn for a trace that is played once", "replicas.resample must be 'none'",
      resampled_all },
    { "days drawn for a list of the scenario", "a list of jobs is played once", days_of_a_list },
    { "more GPUs than the limit", "8388608 GPUs; legal are 1 to 4194304", too_many_gpus },
    { "no GPUs", "0 GPUs; legal are", no_gpus },
    { "a fabric of more than two tiers",
      "two tiers need 1000 leaves for 8000 NIC ports, and a spine of 16 ports reaches only 16",
      small_switch },
    { "a leaf too small for a server", "a leaf has only 4 of its 8 ports down", tiny_switch },
    { "a leaf without a port up", "leaves none of the 64 ports of a leaf to go up; at most 63",
      nothing_up },
    { "a curve finer than anyone draws", "legal are 200000: use a longer bin", too_fine_a_curve },
    { "later than any clock", "must not exceed 150 years", beyond_all_clocks },
    { "a load to scale to without jobs", "needs a trace with at least one job", nothing_to_scale },
    { "servers by users of a log without users", "no job names its team or user", teams_of_nobody },
    { "teams of which no job is", "no job belongs to one of scheduler.static.teams",
      teams_of_others },
    { "queues where no gang rule has any", "clusterQueues are for gang kueue, volcano and kai",
      queues_without_gangs },
    { "KAI's quota in Volcano", "'q': quota is no word of 'volcano'", quota_of_volcano },
    { "Volcano's binpack in KAI", "binpack is Volcano's; gang is 'kai'", binpack_of_kai },
    { "thousandths outside of KAI", "only KAI places thousandths of a GPU",
      thousandths_without_kai },
    { "thousandths and an autoscaler", "autoscaler knows whole GPUs only", thousandths_that_grow },
    { "more sockets than a kubelet knows", "'eights': 16 sockets; ", many_sockets },
    { "levels that nobody looks at", "topology is for gang kueue, volcano and kai",
      levels_of_nobody },
    { "faults that never stop", "legal is a minute and more", ceaseless_faults },
};

static void is_refused(void **state)
{
    const struct refusal *refusal = *state;
    struct fixture fixture;
    three_jobs(&fixture);
    fixture_layout(&fixture, "eights", 4, 8);
    refusal->change(&fixture);
    assert_int_equal(build(&fixture, NULL, 0), STATUS_INPUT);
    assert_int_equal(diag_error_count(fixture.diag), 1);
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    diag_print(fixture.diag, out);
    fclose(out);
    CHECK(strstr(text, refusal->message) != NULL, "'%s' lacks '%s'", text, refusal->message);
    free(text);
    fixture_clear(&fixture);
}

static void unknown_layout(void **state)
{
    (void)state;
    struct fixture fixture;
    three_jobs(&fixture);
    fixture_layout(&fixture, "eights", 4, 8);
    static const char *const only[] = { "eigths" };
    assert_int_equal(build(&fixture, only, 1), STATUS_INPUT);
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    diag_print(fixture.diag, out);
    fclose(out);
    assert_non_null(strstr(text, "did you mean 'eights'?"));
    free(text);
    fixture_clear(&fixture);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, sizes_and_load, NULL, "sizes, load, leaves and what never fits");
    for (uintptr_t i = 0; i < sizeof scales / sizeof *scales; i++)
        rows_add(&rows, scale_to_load, (void *)i, "scaled to a load of %g: %u GPUs", scales[i].load,
                 scales[i].gpus);
    rows_add(&rows, auto_warmup, (void *)1, "warm-up of a day's run");
    rows_add(&rows, auto_warmup, (void *)30, "warm-up of a month's run");
    static const char *const blasts[] = { "nothing fails", "cut at 200 years", "twice the rates",
                                          "rare faults", "as told" };
    for (uintptr_t i = 0; i < sizeof blasts / sizeof *blasts; i++)
        rows_add(&rows, failure_only_run, (void *)i, "failure-only run: %s", blasts[i]);
    rows_add(&rows, only_some_layouts, NULL, "only some layouts, in the scenario's order");
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        rows_add(&rows, is_refused, &refusals[i], "refused: %s", refusals[i].name);
    rows_add(&rows, unknown_layout, NULL, "an unknown layout, with a suggestion");
    return rows_run("plan_build", &rows);
}
