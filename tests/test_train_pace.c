/* test_train_pace.c - jobs with a training plan: how long they take on a placement and where their time goes, by hand, through
 * a whole run. */
#include "cluster/train_of.h"
#include "fixture.h"

#include "models/straggler.h"
#include "tests/near.h"
#include "tests/rows.h"

static const double NIC = 48.5e9, NVLINK = 370.8e9, HOP_IN = 3.4e-6, HOP_OUT = 14e-6;

/* Measured: 0.5 s a sample and GPU, 1e9 parameters, 4 B a gradient, one bucket, nothing hidden; 4 samples a GPU: 2 s of
 * compute. */
static const struct train_job measured = {
    .model = { .id = "m",
               .parameters = 1e9,
               .active_parameters = 1e9,
               .layers = 4,
               .sequence = 1,
               .sample_s = 0.5 },
    .stack = { .efficiency = 0.5, .gradient_bytes = 4 },
    .gpu = { .memory_bytes = 80e9, .memory_bytes_per_s = HUGE_VAL, .peak_tflops = 989 },
    .tensor = 1,
    .pipeline = 1,
    .expert = 1,
    .interleave = 1,
    .samples_per_gpu = 4,
    .microbatch = 1,
};

static void trains(struct scenario *scenario, const struct train_job *train)
{
    scenario->communication.kind = COMM_PROFILE;
    scenario->communication.mix_count = 1;
    scenario->communication.mix[0] = (struct mix_entry){
        .profile = { .train = *train }, .weight = 1, .gpus_min = 1, .gpus_max = UINT32_MAX
    };
}

static double share(const struct replica_result *result, enum account account)
{
    double all = 0, one = 0;
    for (int a = 0; a < ACC_HELD_END; a++)
        for (int class = 0; class < CLASSES; class ++) {
            const double units = (double)result->ledger_all[a][class];
            all += units;
            if (a == (int)account) one += units;
        }
    return one / all;
}

/* Recorded on one server of eight: 2 s and a ring of 2 x 7/8 x 4 GB at 370.8 GB/s with 14 hops. Now on 8/g servers of g with g
 * NICs, where the ring is as fast as these or as NVLink. */
static void gradients_by_hand(void **state)
{
    const uint32_t g = (uint32_t)rows_number(state), servers = 8 / g;
    struct fixture fixture;
    fixture_init(&fixture, 1);
    trains(&fixture.scenario, &measured);
    fixture_layout(&fixture, "part", servers, g);
    fixture_job(&fixture, 0, 0, 10000, 0, 8);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const double bytes = 2 * 7.0 / 8 * 4e9, wire = g * NIC < NVLINK ? g * NIC : NVLINK;
    const double before_s = bytes / NVLINK + 14 * HOP_IN;
    const double intra_s = g == 1 ? 0 : bytes / NVLINK + 2 * (8 - servers) * HOP_IN;
    const double now_s =
        servers == 1 ? before_s
                     : bytes / wire + 2 * (8 - servers) * HOP_IN + 2 * (servers - 1) * HOP_OUT;
    CHECK_NEAR(s_from_ns(result.run_end_ns), 10000 * (2 + now_s) / (2 + before_s), 1e-8);
    CHECK_NEAR(share(&result, ACC_COMPUTE), 2 / (2 + now_s), 3e-6);
    CHECK_NEAR(share(&result, ACC_STALL_INTRA), intra_s / (2 + now_s), 3e-4);
    CHECK_NEAR(share(&result, ACC_STALL_INTER), (now_s - intra_s) / (2 + now_s), 3e-4);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Two stages on 2 servers of 4, data parallel over 4 in each: a group of two GPUs has 4 x 2 samples, 8 passes. A server is a stage:
 * activations are not counted (hidden 0), gradients of half of the model stay inside: 1.5 x 2 GB at 370.8 GB/s. The
 * bubble is 1/8 of 2 s. */
static void a_pipeline_has_a_bubble(void **state)
{
    (void)state;
    struct train_job two = measured;
    two.pipeline = 2;
    struct fixture fixture;
    fixture_init(&fixture, 1);
    trains(&fixture.scenario, &two);
    fixture_layout(&fixture, "two", 2, 4);
    fixture_job(&fixture, 0, 0, 10000, 0, 8);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const double intra_s = 1.5 * 2e9 / NVLINK + 6 * HOP_IN;
    const double sends_s = 8 * 2 * HOP_OUT; /* of nothing: their start-up, which has a bubble too */
    const double step_s = (2 + sends_s) * (1 + 1.0 / 8) + intra_s;
    CHECK_NEAR(share(&result, ACC_COMPUTE), 2 / step_s, 3e-6);
    CHECK_NEAR(share(&result, ACC_BUBBLE), (2 + sends_s) / 8 / step_s, 1e-5);
    CHECK_NEAR(share(&result, ACC_STALL_INTRA), intra_s / step_s, 1e-3);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Four GPUs without GPUDirect, of which one alone sends 0.6 GB/s: gradients of 1.5 x 4 GB. 2 + 2 and 3 + 1 get 0.6/(1.06 x 1.4), 1 + 1 +
 * 1 + 1 all of it (models/staging). A ring inside never limits. */
static void staged_gradients_by_hand(void **state)
{
    (void)state;
    const struct collective_hardware fabric = { .gpus = 4,
                                                .scaleup_bytes_per_s = 6e9,
                                                .nics = 1,
                                                .nic_bytes_per_s = 5.8e9,
                                                .gpu_pcie_bytes_per_s = 12e9,
                                                .host_memory_bytes_per_s = 80e9,
                                                .staged_bytes_per_s = 0.6e9,
                                                .uplinks_bytes_per_s = INFINITY };
    const struct collective_group dense = { .servers = 2, .gpus = 4, .gpus_min = 2 },
                                  uneven = { .servers = 2, .gpus = 4, .gpus_min = 1 },
                                  sparse = { .servers = 4, .gpus = 4, .gpus_min = 1 };
    const uint32_t ring = ALLOW(ALGORITHM_RING);
    const double sparse_s = 2 + 1.5 * 4 / 0.6, dense_s = 2 + 1.06 * 1.4 * 1.5 * 4 / 0.6;
    CHECK_NEAR(train_job_step(&measured, &fabric, ring, &dense, 1).step_s, dense_s, 1e-12);
    CHECK_NEAR(train_job_step(&measured, &fabric, ring, &uneven, 1).step_s, dense_s, 1e-12);
    CHECK_NEAR(train_job_step(&measured, &fabric, ring, &sparse, 1).step_s, sparse_s, 1e-12);
}

/* Any multiple of the groups, any even or uneven split; the books close. */
static void odd_jobs_run(void **state)
{
    (void)state;
    struct train_job odd = measured;
    odd.tensor = 4;
    odd.pipeline = 2;
    odd.samples_per_gpu = 1;
    struct fixture fixture;
    fixture_init(&fixture, 24);
    trains(&fixture.scenario, &odd);
    fixture.scenario.shape = SHAPE_FREE;
    fixture_layout(&fixture, "odd", 6, 5);
    for (uint32_t i = 0; i < 24; i++)
        fixture_job(&fixture, i, 100 * i, 5000, 0, i % 4 == 3 ? 1 : 8 + 8 * (i % 3));
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_int_equal(result.jobs_end[END_FINISHED], 24);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Noise of 0.05 on 64 GPUs: factor 1.12321 (JS-039), whatever the servers; where servers differ, 16 of four wait longer than the 8
 * of the recording did (models/straggler has its own rows). */
static void the_slowest_member_is_told(void **state)
{
    const bool servers = rows_number(state);
    struct fixture fixture;
    fixture_init(&fixture, 1);
    fixture.scenario.stragglers.noise = 0.05;
    fixture.scenario.stragglers.units = servers ? UNITS_SERVERS : UNITS_GPUS;
    fixture.scenario.recorded_count = 8;
    fixture_layout(&fixture, "as recorded", 8, 8);
    fixture_layout(&fixture, "servers of four", 16, 4);
    fixture_job(&fixture, 0, 0, 10000, 0, 64);
    fixture_ready(&fixture);
    const double factor[] = { servers ? straggler_factor(8, 0.05) : 1.12321,
                              servers ? straggler_factor(16, 0.05) : 1.12321 };
    for (uint32_t layout = 0; layout < 2; layout++) {
        struct replica_result result;
        assert_int_equal(fixture_run(&fixture, layout, 0, &result), STATUS_OK);
        CHECK_NEAR(s_from_ns(result.run_end_ns), 10000 * factor[layout] / factor[0], 1e-5);
        CHECK_NEAR(share(&result, ACC_STRAGGLER), 1 - 1 / factor[layout], 1e-4);
        replica_result_clear(&result);
    }
    fixture_clear(&fixture);
}

/* 1e9 parameters of mixed-precision Adam are 16 GB (3.1); of width 0 no activations are counted. 15 GB are too few, 100 are not. */
static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    for (int row = 0; row < 2; row++) {
        struct train_job large = measured;
        large.gpu.memory_bytes = row == 0 ? 15e9 : 100e9;
        struct fixture fixture;
        fixture_init(&fixture, 1);
        trains(&fixture.scenario, &large);
        snprintf(fixture.scenario.communication.mix[0].profile.id, 6, "large");
        fixture_layout(&fixture, "any", 1, 8);
        fixture_job(&fixture, 0, 0, 100, 0, 8);
        fixture.jobs.model = ARENA_ARRAY(fixture.jobs.arena, uint32_t, 1);
        fixture.jobs.text = ARENA_ARRAY(fixture.jobs.arena, char, 8);
        snprintf(fixture.jobs.text, 8, "large");
        assert_int_equal(plan_build(&fixture.scenario, &fixture.jobs, &fixture.import, NULL, 0, 1,
                                    &fixture.plan, fixture.diag),
                         row == 0 ? STATUS_INPUT : STATUS_OK);
        fixture_clear(&fixture);
    }
}

/* As `gpuplan step` has it: tensor 4 x pipeline 2 x expert 1. One GPU that draws its profile has no communication. */
static const struct {
    bool named;
    uint32_t gpus;
    bool fits;
} sizes[] = {
    { true, 8, true },   { true, 24, true },   { true, 12, false },  { true, 23, false },
    { true, 4, false },  { true, 1, false },   { false, 1, true },   { false, 2, false },
    { false, 16, true }, { false, 63, false }, { false, 60, false }, { false, 64, true },
};

static void groups_divide_a_job_or_it_is_refused(void **state)
{
    const uint64_t row = rows_number(state);
    struct train_job grouped = measured;
    grouped.tensor = 4;
    grouped.pipeline = 2;
    struct fixture fixture;
    fixture_init(&fixture, 1);
    trains(&fixture.scenario, &grouped);
    snprintf(fixture.scenario.communication.mix[0].profile.id, 8, "grouped");
    fixture_layout(&fixture, "any", 8, 8);
    fixture_job(&fixture, 0, 0, 100, 0, sizes[row].gpus);
    fixture.jobs.text = ARENA_ARRAY(fixture.jobs.arena, char, 8);
    snprintf(fixture.jobs.text + 1, 7, "job1");
    fixture.jobs.id[0] = 1;
    if (sizes[row].named) {
        fixture.jobs.model = ARENA_ARRAY(fixture.jobs.arena, uint32_t, 1);
        fixture.jobs.text = ARENA_ARRAY(fixture.jobs.arena, char, 16);
        snprintf(fixture.jobs.text, 16, "grouped");
        fixture.jobs.id[0] = 8;
        snprintf(fixture.jobs.text + 8, 8, "job1");
    }
    assert_int_equal(plan_build(&fixture.scenario, &fixture.jobs, &fixture.import, NULL, 0, 1,
                                &fixture.plan, fixture.diag),
                     sizes[row].fits ? STATUS_OK : STATUS_INPUT);
    char *text = NULL, want[64];
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    diag_print(fixture.diag, out);
    assert_int_equal(fclose(out), 0);
    snprintf(want, sizeof want, "job 'job1': its %u GPUs are no multiple of the 8",
             sizes[row].gpus);
    assert_true(sizes[row].fits == (strstr(text, want) == NULL));
    free(text);
    fixture_clear(&fixture);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t g = 8; g >= 1; g /= 2)
        rows_add(&rows, gradients_by_hand, (void *)g, "eight GPUs on servers of %u", (unsigned)g);
    rows_add(&rows, a_pipeline_has_a_bubble, NULL, "a pipeline has a bubble");
    rows_add(&rows, staged_gradients_by_hand, NULL, "staged gradients by hand");
    rows_add(&rows, odd_jobs_run, NULL, "jobs of 8 to 24 GPUs on servers of 5");
    for (uintptr_t row = 0; row < sizeof sizes / sizeof *sizes; row++)
        rows_add(&rows, groups_divide_a_job_or_it_is_refused, (void *)row, "%s: %u GPUs",
                 sizes[row].named ? "named" : "drawn", sizes[row].gpus);
    rows_add(&rows, the_slowest_member_is_told, (void *)0, "stragglers among GPUs");
    rows_add(&rows, the_slowest_member_is_told, (void *)1, "stragglers among servers");
    rows_add(&rows, what_does_not_fit_is_refused, NULL, "what does not fit is refused");
    return rows_run("train_pace", &rows);
}
