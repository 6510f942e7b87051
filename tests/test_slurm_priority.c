/* test_slurm_priority.c - policy/slurm_priority against sprio of a real Slurm and hand calculations. */
#include "policy/slurm_priority.h"

#include "base/clock.h"

#include "tests/near.h"
#include "tests/rows.h"
#include "tests/slurm_jobs.h"

static struct slurm_partition partitions[2] = { { .priority_job_factor = 10 },
                                                { .priority_job_factor = 100 } };
static struct slurm_qos qos[3] = { { .priority = 0 }, { .priority = 100 }, { .priority = 10 } };
enum { NORMAL, HIGH, LOW };

/* slurm.conf of recording s16: 4 nodes of 16 cores, partitions batch (10) and urgent (100). */
static struct slurm_spec spec_s16(void)
{
    return (struct slurm_spec){ .multifactor = true,
                                .max_age_ns = NS_PER_DAY,
                                .weight_job_size = 10000,
                                .weight_partition = 2000,
                                .weight_qos = 5000,
                                .partitions = partitions,
                                .partition_count = 2,
                                .qos = qos,
                                .qos_count = 3 };
}

/* Jobs of s16 and what `sprio -l` said of them 4 s after the start, alike under both releases. */
static const struct {
    const char *name;
    uint32_t nodes, cores, partition, qos;
    int32_t nice;
    uint32_t priority;
    double size; /* sprio -n */
} s16[] = {
    { "a", 1, 1, 0, NORMAL, 0, 1528, 0.1328125 }, { "b", 2, 2, 0, NORMAL, 0, 2856, 0.2656250 },
    { "c", 1, 1, 0, HIGH, 0, 6528, 0.1328125 },   { "d", 1, 1, 1, LOW, 0, 3828, 0.1328125 },
    { "e", 4, 4, 0, NORMAL, 0, 5512, 0.5312500 }, { "f", 1, 1, 0, HIGH, 3000, 3528, 0.1328125 },
    { "g", 3, 3, 0, LOW, 0, 4684, 0.3984375 },    { "h", 1, 1, 1, NORMAL, 0, 3328, 0.1328125 },
};

static void recording_s16(void **state)
{
    const size_t row = (size_t)rows_number(state);
    const struct slurm_spec spec = spec_s16();
    const struct slurm_tres asked = { .nodes = s16[row].nodes, .cores = s16[row].cores };
    const struct slurm_tres cluster = { .nodes = 4, .cores = 64 };
    const struct slurm_factors factors = {
        .size = slurm_size_factor(&spec, asked, cluster),
        .partition = slurm_partition_factor(&spec, s16[row].partition),
        .qos = slurm_qos_factor(&spec, s16[row].qos),
    };
    CHECK_NEAR(factors.size, s16[row].size, 1e-12);
    assert_int_equal(slurm_priority(&spec, &factors, s16[row].nice), s16[row].priority);
}

/* sprio captures of s17: PriorityWeightFairshare=100000 and factors 0.25, 0.5, 0.75, 1. */
static void recording_s17(void **state)
{
    (void)state;
    const struct slurm_spec spec = { .multifactor = true, .weight_fairshare = 100000 };
    for (uint32_t quarter = 1; quarter <= 4; quarter++) {
        const struct slurm_factors factors = { .fairshare = quarter / 4.0 };
        assert_int_equal(slurm_priority(&spec, &factors, 0), 25000 * quarter);
    }
}

static void age(void **state)
{
    (void)state;
    struct slurm_spec spec = { .max_age_ns = 7 * NS_PER_DAY, .weight_age = 1000 };
    CHECK_NEAR(slurm_age_factor(&spec, 0, 7 * NS_PER_DAY / 2), 0.5, 1e-15);
    CHECK_NEAR(slurm_age_factor(&spec, NS_PER_DAY, 8 * NS_PER_DAY), 1, 0);
    CHECK_NEAR(slurm_age_factor(&spec, NS_PER_DAY, 80 * NS_PER_DAY), 1, 0);
    CHECK_NEAR(slurm_age_factor(&spec, 10, 5), 0, 0); /* not eligible yet */
    /* 1 h 25 min of 7 days: 1000 * 5100 / 604800 = 8.43 */
    const struct slurm_factors factors = { .age = slurm_age_factor(&spec, 0, 5100 * NS_PER_S) };
    assert_int_equal(slurm_priority(&spec, &factors, 0), 8);
}

static void small_is_favoured(void **state)
{
    (void)state;
    struct slurm_spec spec = spec_s16();
    spec.favor_small = true;
    const struct slurm_tres cluster = { .nodes = 4, .cores = 64 };
    const struct slurm_tres one = { .nodes = 1, .cores = 1 }, all = { .nodes = 4, .cores = 64 };
    CHECK_NEAR(slurm_size_factor(&spec, one, cluster), (3.0 / 4 + 63.0 / 64) / 2, 1e-15);
    CHECK_NEAR(slurm_size_factor(&spec, all, cluster), 0, 0);
}

/* GPUs count by PriorityWeightTRES: 6 of 48 of the partition at weight 4000, 10 of 320 cores at 160. */
static void tres(void **state)
{
    (void)state;
    const struct slurm_spec spec = { .weight_tres_gpu = 4000, .weight_tres_cpu = 160 };
    struct slurm_factors factors = { 0 };
    slurm_tres_factors(&factors, (struct slurm_tres){ .gpus = 6, .cores = 10, .nodes = 1 },
                       (struct slurm_tres){ .gpus = 48, .cores = 320 });
    assert_int_equal(slurm_priority(&spec, &factors, 0), 500 + 5);
    CHECK_NEAR(factors.tres_node, 0, 0); /* a partition without nodes: no factor, no infinity */
}

static const struct {
    const char *name;
    double weight;
    int32_t nice;
    uint32_t want;
} ends[] = {
    { "no weights at all", 0, 0, 1 },
    { "below one", 0.99, 0, 1 },
    { "nice takes it below zero", 100, 500, 1 },
    { "negative nice raises", 100, -90000, 90100 },
    { "nothing beyond 32 bits", 1e12, 0, UINT32_MAX },
};

static void ends_of_the_range(void **state)
{
    const size_t row = (size_t)rows_number(state);
    const struct slurm_spec spec = { .weight_qos = ends[row].weight };
    const struct slurm_factors factors = { .qos = 1 };
    assert_int_equal(slurm_priority(&spec, &factors, ends[row].nice), ends[row].want);
}

/* priority/basic: 4294901759 for the first job of a new cluster, one less for each; nice moves one job only. */
static void basic(void **state)
{
    (void)state;
    uint32_t lowest = SLURM_BASIC_TOP;
    assert_int_equal(slurm_priority_basic(&lowest, 0), UINT32_C(4294901759));
    assert_int_equal(slurm_priority_basic(&lowest, 0), UINT32_C(4294901758));
    assert_int_equal(slurm_priority_basic(&lowest, 100), UINT32_C(4294901657));
    assert_int_equal(slurm_priority_basic(&lowest, -7), UINT32_C(4294901763));
    assert_int_equal(slurm_priority_basic(&lowest, 0), UINT32_C(4294901755));
    assert_int_equal(slurm_priority_basic(&lowest, -2147483647), UINT32_MAX);
    lowest = 2;
    assert_int_equal(slurm_priority_basic(&lowest, 0), 1);
    assert_int_equal(slurm_priority_basic(&lowest, 0), 1);
}

static void calc_period(void **state)
{
    (void)state;
    struct slurm_spec spec = { .multifactor = true,
                               .weight_age = 1,
                               .calc_period_ns = 300 * NS_PER_S };
    assert_true(slurm_calc_next_ns(&spec, 0) == 300 * NS_PER_S);
    assert_true(slurm_calc_next_ns(&spec, 299 * NS_PER_S) == 300 * NS_PER_S);
    assert_true(slurm_calc_next_ns(&spec, 300 * NS_PER_S) == 600 * NS_PER_S);
    spec.weight_age = 0;
    spec.weight_qos = 1000;
    assert_true(slurm_calc_next_ns(&spec, 0) == TIME_NEVER);
    spec.weight_fairshare = 1;
    assert_true(slurm_calc_next_ns(&spec, 0) == 300 * NS_PER_S);
    spec.multifactor = false;
    assert_true(slurm_calc_next_ns(&spec, 0) == TIME_NEVER);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof s16 / sizeof *s16; i++)
        rows_add(&rows, recording_s16, (void *)(uintptr_t)i, "sprio of s16: job %s", s16[i].name);
    rows_add(&rows, recording_s17, NULL, "sprio of s17");
    rows_add(&rows, age, NULL, "age");
    rows_add(&rows, small_is_favoured, NULL, "PriorityFavorSmall");
    rows_add(&rows, tres, NULL, "PriorityWeightTRES");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        rows_add(&rows, ends_of_the_range, (void *)(uintptr_t)i, "%s", ends[i].name);
    rows_add(&rows, basic, NULL, "priority/basic");
    rows_add(&rows, calc_period, NULL, "PriorityCalcPeriod");
    return rows_run("slurm_priority", &rows);
}
