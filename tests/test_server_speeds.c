/* test_server_speeds.c - servers that take longer than others for the same work, and members with more work (MODELS 3.8): whole runs
 * against the draws, made by hand, and against the law of the largest. */
#include "fixture.h"

#include "base/philox.h"
#include "tests/near.h"
#include "tests/rows.h"

#include <gsl/gsl_cdf.h>

static const double SPREAD = 0.3, DURATION_S = 10000;

/* What a server takes for the same work: lognormal of mean 1, drawn for its first GPU (MODELS 9.3, 9.4). */
static double server_time(uint64_t seed, uint32_t replica, uint32_t first_gpu)
{
    const uint64_t key = stream_key(seed, replica, "speed.server");
    const double z = gsl_cdf_ugaussian_Pinv(stream_uniform(key, first_gpu, 0));
    return exp(SPREAD * z - SPREAD * SPREAD / 2);
}

static double end_s(const struct replica_result *result, uint32_t trace_row)
{
    const struct job_row *rows = LOG_ITEMS(&result->jobs, struct job_row);
    for (uint64_t i = 0; i < result->jobs.count; i++)
        if (rows[i].trace_row == trace_row) return s_from_ns(rows[i].end_ns);
    return NAN;
}

/* Of what all jobs hold. */
static double share(const struct replica_result *result, enum account account)
{
    double part = 0, all = 0;
    for (int a = 0; a < ACC_HELD_END; a++)
        for (int class = 0; class < CLASSES; class ++) {
            const double units = (double)result->ledger_all[a][class];
            all += units;
            if (a == (int)account) part += units;
        }
    return part / all;
}

/* A job on both servers, recorded on two: of two servers the slower takes 2 Phi(0.3/sqrt 2) = 1.16799 on average (JS-037), here the
 * larger of two draws; what the faster one waits is the larger less their mean. */
static void two_servers_by_hand(void **state)
{
    const uint32_t replica = (uint32_t)rows_number(state);
    struct fixture fixture;
    fixture_init(&fixture, 1);
    fixture.scenario.stragglers.server_spread = SPREAD;
    fixture.scenario.recorded_count = 2;
    fixture_layout(&fixture, "two", 2, 8);
    fixture_job(&fixture, 0, 0, DURATION_S, 0, 16);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, replica, &result), STATUS_OK);
    const double a = server_time(42, replica, 0), b = server_time(42, replica, 8);
    const double recorded = 2 * gsl_cdf_ugaussian_P(SPREAD / sqrt(2));
    CHECK_NEAR(recorded, 1.168, 5e-6);
    CHECK_NEAR(s_from_ns(result.run_end_ns), DURATION_S * fmax(a, b) / recorded, 2e-6);
    CHECK(fabs(share(&result, ACC_STRAGGLER) - (fmax(a, b) - (a + b) / 2) / fmax(a, b)) < 2e-6,
          "straggler %g", share(&result, ACC_STRAGGLER));
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* One GPU of the first server is taken, so that 15 are seven there and eight on the other: their mean is by GPU. */
static void an_uneven_split_waits_by_gpu(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 2);
    fixture.scenario.stragglers.server_spread = SPREAD;
    fixture.scenario.shape = SHAPE_FREE;
    fixture.scenario.recorded_count = 2;
    fixture_layout(&fixture, "two", 2, 8);
    fixture_job(&fixture, 0, 0, 2 * DURATION_S, 0, 1);
    fixture_job(&fixture, 1, 0, DURATION_S, 0, 15);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const double a = server_time(42, 0, 0), b = server_time(42, 0, 8), most = fmax(a, b);
    const double mean = (7 * a + 8 * b) / 15, recorded = 2 * gsl_cdf_ugaussian_P(SPREAD / sqrt(2));
    const double alone_s = 2 * DURATION_S * a, together_s = DURATION_S * most / recorded;
    CHECK_NEAR(end_s(&result, 0), alone_s, 2e-6);
    CHECK_NEAR(end_s(&result, 1), together_s, 2e-6);
    const double want = 15 * together_s * (most - mean) / most / (15 * together_s + alone_s);
    CHECK(fabs(share(&result, ACC_STRAGGLER) - want) < 2e-6, "%g, want %g",
          share(&result, ACC_STRAGGLER), want);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* The first server of layouts of eights and of fours is as fast: its first GPU is the same. So is the second of eights and the third
 * of fours. */
static void layouts_share_their_luck(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 4);
    fixture.scenario.stragglers.server_spread = SPREAD;
    fixture_layout(&fixture, "fours", 4, 4);
    fixture_layout(&fixture, "eights", 2, 8);
    for (uint32_t i = 0; i < 4; i++) fixture_job(&fixture, i, i, DURATION_S, 0, 4);
    fixture_ready(&fixture);
    struct replica_result fours, eights;
    assert_int_equal(fixture_run(&fixture, 0, 0, &fours), STATUS_OK);
    assert_int_equal(fixture_run(&fixture, 1, 0, &eights), STATUS_OK);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_NEAR(end_s(&fours, i) - i, DURATION_S * server_time(42, 0, 4 * i), 2e-6);
        CHECK_NEAR(end_s(&eights, i) - i, DURATION_S * server_time(42, 0, 8 * (i / 2)), 2e-6);
    }
    CHECK_NEAR(share(&fours, ACC_STRAGGLER), 0, 0); /* nobody to wait for */
    replica_result_clear(&fours);
    replica_result_clear(&eights);
    fixture_clear(&fixture);
}

/* 500 jobs of two servers each, recorded so: on average they take what was recorded; the sd of the larger of two is 0.29 of its
 * mean, so that 4 of its standard errors are 0.052. On one server each, recorded on two, they gain the wait: 1/1.168. */
static void many_servers_are_as_fast_as_recorded(void **state)
{
    const uint32_t servers = (uint32_t)rows_number(state);
    enum { JOBS = 500 };
    struct fixture fixture;
    fixture_init(&fixture, JOBS);
    fixture.scenario.stragglers.server_spread = SPREAD;
    fixture.scenario.recorded_count = 2 * JOBS;
    fixture_layout(&fixture, "many", servers * JOBS, servers == 2 ? 8 : 16);
    for (uint32_t i = 0; i < JOBS; i++) fixture_job(&fixture, i, 0, DURATION_S, 0, 16);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    double sum = 0;
    for (uint32_t i = 0; i < JOBS; i++) sum += end_s(&result, i) / DURATION_S;
    const double want = servers == 2 ? 1 : 1 / 1.168;
    CHECK(fabs(sum / JOBS - want) < 0.052 * want, "%g, want %g", sum / JOBS, want);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* A member with a quarter more work than the mean: recorded so, the duration stays and a fifth of it is waiting; a job of one GPU has
 * no other member. */
static void uneven_work_waits(void **state)
{
    const uint32_t gpus = (uint32_t)rows_number(state);
    struct fixture fixture;
    fixture_init(&fixture, 1);
    fixture.scenario.communication.kind = COMM_PROFILE;
    fixture.scenario.communication.mix_count = 1;
    fixture.scenario.communication.mix[0] =
        (struct mix_entry){ .profile = { .size_bytes = 1e9, .uneven = 1.25 },
                            .weight = 1,
                            .gpus_min = 1,
                            .gpus_max = UINT32_MAX };
    fixture_layout(&fixture, "two", 2, 8);
    fixture_job(&fixture, 0, 0, DURATION_S, 0, gpus);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_int_equal(result.run_end_ns, ns_from_s(DURATION_S));
    CHECK(fabs(share(&result, ACC_STRAGGLER) - (gpus > 1 ? 0.2 : 0)) < 2e-6, "straggler %g",
          share(&result, ACC_STRAGGLER));
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t replica = 0; replica < 4; replica++)
        rows_add(&rows, two_servers_by_hand, (void *)replica, "two servers by hand, replica %u",
                 (unsigned)replica);
    rows_add(&rows, an_uneven_split_waits_by_gpu, NULL,
             "seven GPUs of one server and eight of another");
    rows_add(&rows, layouts_share_their_luck, NULL, "layouts share their luck");
    rows_add(&rows, many_servers_are_as_fast_as_recorded, (void *)2, "recorded on as many servers");
    rows_add(&rows, many_servers_are_as_fast_as_recorded, (void *)1, "on one in place of two");
    rows_add(&rows, uneven_work_waits, (void *)16, "uneven work of 16 GPUs");
    rows_add(&rows, uneven_work_waits, (void *)1, "work of one GPU is even");
    return rows_run("server_speeds", &rows);
}
