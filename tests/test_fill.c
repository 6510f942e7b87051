/* test_fill.c - replicas.resample: fill, from the order of the jobs to what is given out in the end: handlers/arrivals,
 * policy/expected_mix, cluster/request and the whole run on small inventories worked by hand. */
#include "handlers/arrivals.h"

#include "policy/expected_mix.h"

#include "fixture.h"
#include "tests/near.h"
#include "tests/rows.h"

#include <inttypes.h>

/* ---- the order of jobs ------------------------------------------------------------------------ */

enum { ROWS = 50 };

/* Jobs of 1 to 8 GPUs, and some without. */
static struct jobs jobs_of(struct arena *arena, uint64_t *milli)
{
    struct jobs jobs = { .count = ROWS, .gpus = ARENA_ARRAY(arena, uint32_t, ROWS) };
    for (uint32_t row = 0; row < ROWS; row++) {
        jobs.gpus[row] = row % 9;
        *milli += 1000 * jobs.gpus[row];
    }
    return jobs;
}

/* Each job once, then drawn ones; one a second; the next one would pass the target. */
static void each_once_then_again(void **state)
{
    const uint32_t replica = (uint32_t)rows_number(state);
    struct arena *arena = arena_create(1u << 20);
    uint64_t all = 0, milli = 0;
    const struct jobs jobs = jobs_of(arena, &all);
    const uint64_t target = all * 2 + 500;
    const struct arrivals_options options = { .seed = 5,
                                              .replica = replica,
                                              .until_ns = TIME_NEVER };
    struct arrivals arrivals, twin;
    assert_true(arrivals_fill(&arrivals, &jobs, target, options, arena));
    assert_true(arrivals_fill(&twin, &jobs, target, options, arena));
    uint32_t seen[ROWS] = { 0 }, count = 0;
    for (; arrivals.at_ns != TIME_NEVER; count++) {
        assert_int_equal(arrivals.at_ns, count * NS_PER_S);
        const uint32_t row = arrivals_take(&arrivals);
        assert_int_equal(row, arrivals_take(&twin));
        milli += jobs_gpu_milli(&jobs, row);
        seen[row]++;
        for (uint32_t i = 0; count + 1 == ROWS && i < ROWS; i++) assert_int_equal(seen[i], 1);
    }
    assert_true(count > ROWS);
    assert_true(milli <= target && milli + 8000 > target);
    arena_destroy(arena);
}

/* A trace that asks for more than the target: its jobs once at most, in random order. */
static void part_of_a_large_trace(void **state)
{
    const uint32_t replica = (uint32_t)rows_number(state);
    struct arena *arena = arena_create(1u << 20);
    uint64_t all = 0, milli = 0;
    const struct jobs jobs = jobs_of(arena, &all);
    struct arrivals arrivals;
    assert_true(arrivals_fill(
        &arrivals, &jobs, all / 2,
        (struct arrivals_options){ .seed = 5, .replica = replica, .until_ns = TIME_NEVER }, arena));
    bool seen[ROWS] = { false };
    while (arrivals.at_ns != TIME_NEVER) {
        const uint32_t row = arrivals_take(&arrivals);
        assert_false(seen[row]);
        seen[row] = true;
        milli += jobs_gpu_milli(&jobs, row);
    }
    assert_true(milli <= all / 2 && milli + 8000 > all / 2);
    arena_destroy(arena);
}

/* First and drawn rows are spread evenly: chi-squared over replicas, 99.9 % quantiles for 49 degrees of freedom. */
static void order_is_even(void **state)
{
    (void)state;
    enum { REPLICAS = 2000 };
    double first[ROWS] = { 0 }, drawn[ROWS] = { 0 }, chi2_first = 0, chi2_drawn = 0;
    for (uint32_t replica = 0; replica < REPLICAS; replica++) {
        struct arena *arena = arena_create(1u << 20);
        uint64_t all = 0;
        const struct jobs jobs = jobs_of(arena, &all);
        struct arrivals arrivals;
        assert_true(arrivals_fill(
            &arrivals, &jobs, all + 9000,
            (struct arrivals_options){ .seed = 5, .replica = replica, .until_ns = TIME_NEVER },
            arena));
        first[arrivals_take(&arrivals)]++;
        for (uint32_t i = 1; i < ROWS; i++) arrivals_take(&arrivals);
        drawn[arrivals_take(&arrivals)]++; /* of at most 8 GPUs: it always fits the target */
        arena_destroy(arena);
    }
    for (int row = 0; row < ROWS; row++) {
        chi2_first += pow(first[row] - REPLICAS / ROWS, 2) / (REPLICAS / ROWS);
        chi2_drawn += pow(drawn[row] - REPLICAS / ROWS, 2) / (REPLICAS / ROWS);
    }
    CHECK(chi2_first < 85.4, "first: chi2 %g", chi2_first);
    CHECK(chi2_drawn < 85.4, "drawn: chi2 %g", chi2_drawn);
}

/* Jobs without GPUs never fill anything: each comes once. */
static void nothing_to_fill_with(void **state)
{
    (void)state;
    struct arena *arena = arena_create(1u << 20);
    uint32_t gpus[3] = { 0 };
    const struct jobs jobs = { .count = 3, .gpus = gpus };
    struct arrivals arrivals;
    uint32_t count = 0;
    assert_true(arrivals_fill(&arrivals, &jobs, 1000,
                              (struct arrivals_options){ .until_ns = TIME_NEVER }, arena));
    for (; arrivals.at_ns != TIME_NEVER; count++) arrivals_take(&arrivals);
    assert_int_equal(count, 3);
    arena_destroy(arena);
}

/* ---- the expected jobs ------------------------------------------------------------------------ */

/* 100 jobs: 60 of one GPU in two classes that differ in memory only, 30 without GPUs, 6 shares, 4 of eight GPUs. The most
 * frequent that reach 95 are the first three kinds, 96 jobs; those without GPUs count, but are no task. */
static void the_usual_jobs(void **state)
{
    (void)state;
    static const struct demand demands[] = {
        { .per_node = 8, .groups = UINT64_MAX },
        { .per_node = 1, .part_memory_bytes = 5, .groups = UINT64_MAX },
        { .share_milli = 250, .part_cores_milli = 1500, .groups = 2 },
        { .part_cores_milli = 500, .groups = UINT64_MAX },
        { .per_node = 1, .part_memory_bytes = 6, .groups = UINT64_MAX },
    };
    static const uint32_t jobs_of_class[] = { 4, 35, 6, 30, 25 };
    uint32_t class_of_row[100], row = 0;
    for (uint32_t c = 0; c < 5; c++)
        for (uint32_t i = 0; i < jobs_of_class[c]; i++) class_of_row[row++] = c;
    const struct request_table requests = { .class_count = 5, .class_of_row = class_of_row };
    struct expected_mix mix;
    assert_true(expected_mix_init(&mix, demands, &requests, 100));
    assert_int_equal(mix.mix.weight, 96);
    assert_int_equal(mix.mix.task_count, 2);
    assert_int_equal(mix.tasks[0].count, 60);
    assert_int_equal(mix.tasks[0].ask.gpus, 1);
    assert_int_equal(mix.tasks[1].count, 6);
    assert_int_equal(mix.tasks[1].ask.share_milli, 250);
    assert_int_equal(mix.tasks[1].ask.cores_milli, 1500);
    assert_int_equal(mix.tasks[1].groups, 2);
    expected_mix_clear(&mix);
}

/* ---- whole runs on small inventories ----------------------------------------------------------- */

/* A job of the list, and the list. */
struct pod {
    uint32_t gpus, milli, cores_milli;
    const char *types;
};
struct kind {
    uint32_t nodes, gpus, cores;
    const char *type;
};

/* Runs the list once (target = what it asks for) with loss; returns the metric `utilization` and the jobs that were dropped. */
struct filled {
    double utilization;
    uint64_t rejected, never_fit;
};

static struct filled run_fill(const struct pod *pods, uint32_t pod_count, const struct kind *kinds,
                              uint32_t kind_count, enum placement placement)
{
    struct fixture fixture;
    struct replica_result result;
    uint32_t gpus = 0;
    uint64_t milli = 0;
    fixture_init(&fixture, pod_count);
    struct jobs *const jobs = &fixture.jobs;
    jobs->text = ARENA_ARRAY(jobs->arena, char, 256);
    jobs->text_bytes = 1;
    jobs->asks = ARENA_ARRAY(jobs->arena, struct ask, pod_count);
    jobs->ask = ARENA_ARRAY(jobs->arena, uint32_t, pod_count);
    jobs->ask_count = pod_count;
    for (uint32_t i = 0; i < pod_count; i++) {
        fixture_job(&fixture, i, i, 3600, 0, pods[i].gpus);
        jobs->ask[i] = i;
        jobs->asks[i] = (struct ask){ .pods = 1,
                                      .pod_gpus = pods[i].gpus,
                                      .gpu_milli = pods[i].milli,
                                      .pod_cpu_milli = pods[i].cores_milli };
        if (pods[i].types) {
            jobs->asks[i].gpu_type = (uint32_t)jobs->text_bytes;
            strcpy(jobs->text + jobs->text_bytes, pods[i].types);
            jobs->text_bytes += strlen(pods[i].types) + 1;
        }
        milli += jobs_gpu_milli(jobs, i);
    }
    struct layout *const layout = fixture_layout(&fixture, "list", 0, 8);
    layout->groups = calloc(kind_count, sizeof *layout->groups);
    layout->group_count = kind_count;
    for (uint32_t k = 0; k < kind_count; k++) {
        struct server_group *const group = &layout->groups[k];
        *group = (struct server_group){ .server = fixture_server(kinds[k].gpus),
                                        .count = kinds[k].nodes,
                                        .nodes_per_server = 1 };
        group->server.cores = kinds[k].cores;
        snprintf(group->gpu_type, sizeof group->gpu_type, "%s", kinds[k].type);
        gpus += kinds[k].nodes * kinds[k].gpus;
        layout->server_count += kinds[k].nodes;
    }
    layout->server = layout->groups[0].server;
    struct scenario *const scenario = &fixture.scenario;
    scenario->placement = placement;
    scenario->loss = true;
    scenario->resample = RESAMPLE_FILL;
    scenario->fill_frac = (double)milli / 1000.0 / gpus;
    scenario->horizon_ns = 3 * NS_PER_HOUR;
    scenario->warmup_ns = NS_PER_HOUR;
    scenario->curve_bin_ns = NS_PER_HOUR;
    fixture_ready(&fixture);
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const struct filled filled = { .utilization =
                                       fixture_metric(&result, "utilization", CLASS_NONE, -1),
                                   .rejected = result.jobs_end[END_REJECTED],
                                   .never_fit = fixture.plan.variants[0].jobs_never_fit };
    replica_result_clear(&result);
    free(layout->groups);
    layout->groups = NULL;
    layout->group_count = 0;
    fixture_clear(&fixture);
    return filled;
}

#define A(...)                                                                                     \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define ANY UINT64_MAX
static const struct {
    const char *name;
    struct pod pods[8];
    struct kind kinds[2];
    uint32_t pod_count, kind_count;
    double utilization;
    uint64_t rejected /* ANY: jobs without GPUs go on being drawn */, never_fit;
} lists[] = {
    /* Three shares of 0.6 on two GPUs: one on each, whatever the order; 1.2 of 2. */
    { "three of 0.6 on two GPUs", A({ 0, 600, 0, 0 }, { 0, 600, 0, 0 }, { 0, 600, 0, 0 }),
      A({ 2, 1, 8, "T4" }), 3, 1, 0.6, 1, 0 },
    /* Ten cores a node: two pods of 4.5 each leave 1, the third has no host though its GPU would do. */
    { "cores run out first", A({ 0, 100, 4500, 0 }, { 0, 100, 4500, 0 }, { 0, 100, 4500, 0 }),
      A({ 1, 4, 10, "T4" }), 3, 1, 0.05, 1, 0 },
    /* Only the node of type G2 may take the two that ask for it; the types of the third are a list. */
    { "types of GPUs", A({ 1, 0, 0, "G2" }, { 1, 0, 0, "G2" }, { 1, 0, 0, "T4|V100" }),
      A({ 1, 1, 8, "T4" }, { 1, 1, 8, "G2" }), 3, 2, 1.0, 1, 0 },
    /* A prefix is another type, and nobody has it: never, on any order. */
    { "a type that nobody has", A({ 1, 0, 0, "G" }, { 1, 0, 0, 0 }), A({ 2, 1, 8, "G2" }), 2, 1,
      0.5, 1, 1 },
    /* Jobs without GPUs take cores only and stand in nobody's way. */
    { "cores alone", A({ 0, 0, 4000, 0 }, { 0, 0, 4000, 0 }, { 2, 0, 0, 0 }), A({ 1, 2, 8, "T4" }),
      3, 1, 1.0, ANY, 0 },
    { "more cores than any node has", A({ 0, 0, 9000, 0 }, { 2, 0, 0, 0 }), A({ 1, 2, 8, "T4" }), 2,
      1, 1.0, ANY, 1 },
    /* Four halves share two GPUs, then no room is left: 2 of 2. */
    { "halves pair", A({ 0, 500, 0, 0 }, { 0, 500, 0, 0 }, { 0, 500, 0, 0 }, { 0, 500, 0, 0 }),
      A({ 1, 2, 8, "T4" }), 4, 1, 1.0, 0, 0 },
};

static void by_hand(void **state)
{
    const uint64_t c = rows_number(state) / PLACEMENTS;
    const struct filled filled =
        run_fill(lists[c].pods, lists[c].pod_count, lists[c].kinds, lists[c].kind_count,
                 (enum placement)(rows_number(state) % PLACEMENTS));
    CHECK_NEAR(filled.utilization, lists[c].utilization, 1e-12);
    if (lists[c].rejected != ANY) assert_int_equal(filled.rejected, lists[c].rejected);
    assert_int_equal(filled.never_fit, lists[c].never_fit);
}

int main(void)
{
    static const struct CMUnitTest alone[] = { cmocka_unit_test(order_is_even),
                                               cmocka_unit_test(nothing_to_fill_with),
                                               cmocka_unit_test(the_usual_jobs) };
    struct rows rows = { 0 };
    for (uintptr_t replica = 0; replica < 20; replica++) {
        rows_add(&rows, each_once_then_again, (void *)replica, "each once, then again, replica %zu",
                 (size_t)replica);
        rows_add(&rows, part_of_a_large_trace, (void *)replica,
                 "part of a large trace, replica %zu", (size_t)replica);
    }
    for (uintptr_t c = 0; c < sizeof lists / sizeof *lists; c++)
        for (uintptr_t p = 0; p < PLACEMENTS; p++)
            rows_add(&rows, by_hand, (void *)(c * PLACEMENTS + p), "%s, placement %zu",
                     lists[c].name, (size_t)p);
    return cmocka_run_group_tests_name("fill", alone, NULL, NULL) +
           rows_run("fill over seeds", &rows);
}
