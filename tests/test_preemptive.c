/* test_preemptive.c - sjf, srtf and las: schedules worked by hand, and srtf against a naive program.
 *
 * Preempted jobs keep their work and pay nothing, so a job's end is its start plus its run time plus
 * the time it stood still: restart time of failures is 300 s in the fixture and must never show.
 * las is compared with its authors' simulator in tests/oracle_gpu.c. */
#include "fixture.h"

#include "tests/near.h"
#include "tests/rows.h"

/* ---- by hand -------------------------------------------------------------------------------------- */

struct hand_job {
    double submit_s, run_s;
    uint32_t gpus;
    double start_s, end_s;
    uint32_t attempts;
};

struct hand {
    enum order order;
    uint32_t nodes, gpus_per_node;
    uint32_t count;
    struct hand_job jobs[5];
};

static void by_hand(void **state)
{
    const struct hand *hand = *state;
    struct fixture fixture;
    fixture_init(&fixture, hand->count);
    fixture.scenario.order = hand->order;
    fixture.scenario.shape = hand->gpus_per_node == 1 ? SHAPE_FREE : SHAPE_MODEL;
    fixture.scenario.las_thresholds_gpu_s[0] = 10;
    fixture.scenario.las_thresholds_gpu_s[1] = 100;
    fixture_layout(&fixture, "hand", hand->nodes, hand->gpus_per_node);
    for (uint32_t j = 0; j < hand->count; j++)
        fixture_job(&fixture, j, hand->jobs[j].submit_s, hand->jobs[j].run_s, hand->jobs[j].run_s,
                    hand->jobs[j].gpus);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_int_equal(result.jobs.count, hand->count);
    const struct job_row *rows = LOG_ITEMS(&result.jobs, struct job_row);
    for (uint64_t i = 0; i < result.jobs.count; i++) {
        const struct hand_job *job = &hand->jobs[rows[i].trace_row];
        CHECK(rows[i].first_start_ns == ns_from_s(job->start_s), "job %u: start %g s, want %g",
              rows[i].trace_row, s_from_ns(rows[i].first_start_ns), job->start_s);
        CHECK(rows[i].end_ns == ns_from_s(job->end_s), "job %u: end %g s, want %g",
              rows[i].trace_row, s_from_ns(rows[i].end_ns), job->end_s);
        assert_int_equal(rows[i].attempts, job->attempts);
    }
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* 4 GPUs: 2 until 20 and 2 until 10. Job 2 (4 GPUs, 5 s) is the shortest that waits: at 10 it does not
 * fit and job 3 (1 GPU, 6 s) does not pass it. Job 4 (4 GPUs, 4 s), submitted at 12, is shorter and goes
 * first at 20, job 2 at 24, job 3 at 29. */
static const struct hand sjf = { ORDER_SJF,
                                 4,
                                 1,
                                 5,
                                 { { 0, 20, 2, 0, 20, 1 },
                                   { 0, 10, 2, 0, 10, 1 },
                                   { 1, 5, 4, 24, 29, 1 },
                                   { 2, 6, 1, 29, 35, 1 },
                                   { 12, 4, 4, 20, 24, 1 } } };

/* 4 GPUs. Job 0 holds all, 95 s left at 5: job 1 (2 GPUs, 10 s) is shorter, job 0 does not fit beside it and
 * stands still until 15. Job 2 (1 GPU, 200 s) fills in from 6 to 15, then waits for job 0 to end at 110
 * with 191 s left. */
static const struct hand srtf = {
    ORDER_SRTF,
    4,
    1,
    3,
    { { 0, 100, 4, 0, 110, 2 }, { 5, 10, 2, 5, 15, 1 }, { 6, 200, 1, 6, 301, 2 } }
};

/* Two nodes of 8. Job 0 (100 s) and job 1 (50 s) hold one each. At 5 job 2 (4 GPUs, 10 s) comes: the
 * longest gives way, job 1 does not notice. Job 3 (4 GPUs, 300 s) takes the other half at 6. At 15 job 0,
 * with 95 s left, takes its node back from job 3, which goes on at 50 on the node of job 1. */
static const struct hand srtf_nodes = { ORDER_SRTF,
                                        2,
                                        8,
                                        4,
                                        { { 0, 100, 8, 0, 110, 2 },
                                          { 0, 50, 8, 0, 50, 1 },
                                          { 5, 10, 4, 5, 15, 1 },
                                          { 6, 300, 4, 6, 341, 2 } } };

/* 4 GPUs, thresholds 10 and 100 GPU-seconds. Job 0 (4 GPUs) reaches 10 after 2.5 s, noticed at
 * ceil(10 / 4) = 3 s. So job 1, new at 10, goes before it; job 2, new at 11, goes behind job 1 in the
 * same queue and before job 0 too. Job 0 has 40 s left at 13. */
static const struct hand las = {
    ORDER_LAS, 4, 1, 3, { { 0, 50, 4, 0, 53, 2 }, { 10, 2, 4, 10, 12, 1 }, { 11, 1, 4, 12, 13, 1 } }
};

/* The quirk of the next jump. Job 0 has 2 GPUs: 10 GPU-seconds at 5 s, and ceil(10 / 2) = 5: in queue 1
 * from 5 on; 100 at 50 s, but looked for at 5 + ceil((100 - 5) / 2) = 53. Job 1 (4 GPUs, 6 s), new at 20,
 * takes all until 23 = 20 + ceil(10 / 4), when it has 12 and moves behind job 0 in queue 1: job 0, first
 * there, goes on, and job 1, which needs all 4, waits until it is done: 30 s left at 23. */
static const struct hand las_behind = {
    ORDER_LAS, 4, 1, 2, { { 0, 50, 2, 0, 53, 2 }, { 20, 6, 4, 20, 56, 2 } }
};

/* ---- srtf on a pool, naively ------------------------------------------------------------------------ */

enum { JOBS = 80, SEEDS = 200 };

struct twin_job {
    int64_t submit, left, estimate_left, start, end, stops_at, expected_end;
    uint32_t gpus, attempts;
    enum { NOT_YET, QUEUED, RUNNING, ENDED } state;
};

/* What the estimate leaves of a job at `now`. */
static int64_t left_of(const struct twin_job *job, int64_t now)
{
    return job->state == RUNNING ? job->expected_end - now : job->estimate_left;
}

static bool is_before(const struct twin_job *a, const struct twin_job *b, int64_t now)
{
    const int64_t left_a = left_of(a, now), left_b = left_of(b, now);
    if (left_a != left_b) return left_a < left_b;
    if (a->state != b->state) return a->state == RUNNING;
    return a < b; /* they stand in submit order */
}

static void hand_out(struct twin_job *jobs, uint32_t gpus, int64_t now)
{
    bool done[JOBS] = { false }, runs[JOBS] = { false };
    for (;;) {
        int best = -1;
        for (int j = 0; j < JOBS; j++)
            if (!done[j] && (jobs[j].state == QUEUED || jobs[j].state == RUNNING) &&
                (best < 0 || is_before(&jobs[j], &jobs[best], now)))
                best = j;
        if (best < 0) break;
        done[best] = true;
        runs[best] = jobs[best].gpus <= gpus;
        if (runs[best]) gpus -= jobs[best].gpus;
    }
    for (int j = 0; j < JOBS; j++) {
        struct twin_job *job = &jobs[j];
        if (job->state == RUNNING && !runs[j]) {
            job->left = job->stops_at - now;
            job->estimate_left = job->expected_end > now ? job->expected_end - now : 0;
            job->state = QUEUED;
        } else if (job->state == QUEUED && runs[j]) {
            if (job->attempts++ == 0) job->start = now;
            job->stops_at = now + job->left;
            job->expected_end = now + job->estimate_left;
            job->state = RUNNING;
        }
    }
}

static void simulate(struct twin_job *jobs, uint32_t gpus)
{
    for (;;) {
        int64_t now = INT64_MAX;
        for (int j = 0; j < JOBS; j++) {
            if (jobs[j].state == RUNNING && jobs[j].stops_at < now) now = jobs[j].stops_at;
            if (jobs[j].state == NOT_YET && jobs[j].submit < now) now = jobs[j].submit;
        }
        if (now == INT64_MAX) return;
        for (int j = 0; j < JOBS; j++) {
            if (jobs[j].state == RUNNING && jobs[j].stops_at == now) {
                jobs[j].state = ENDED;
                jobs[j].end = now;
            }
            if (jobs[j].state == NOT_YET && jobs[j].submit == now) jobs[j].state = QUEUED;
        }
        hand_out(jobs, gpus, now);
    }
}

static void same_as_naive(void **state)
{
    const uint64_t seed = rows_number(state) * 1000003;
    struct twin_job jobs[JOBS] = { 0 };
    struct fixture fixture;
    fixture_init(&fixture, JOBS);
    fixture.scenario.order = ORDER_SRTF;
    fixture.scenario.shape = SHAPE_FREE;
    const uint32_t gpus = any_count(seed, 0, 4, 40);
    fixture_layout(&fixture, "pool", gpus, 1);
    int64_t submit = 0;
    for (uint32_t j = 0; j < JOBS; j++) {
        const uint64_t draw = 10 + 10 * j;
        if (j > 0 && any(seed, draw) < 0.7) submit += any_count(seed, draw + 1, 0, 12);
        const int64_t run = any_count(seed, draw + 2, 1, 60);
        int64_t estimate = run; /* exact, too long, or too short: then it runs on */
        if (any(seed, draw + 3) < 0.5) estimate = run * any_count(seed, draw + 4, 1, 5);
        if (any(seed, draw + 5) < 0.1) estimate = (run + 1) / 2;
        jobs[j] = (struct twin_job){ .submit = submit,
                                     .left = run,
                                     .estimate_left = estimate,
                                     .gpus = any_count(seed, draw + 6, 1, gpus) };
        if (any(seed, draw + 7) < 0.6) jobs[j].gpus = any_count(seed, draw + 8, 1, 3);
        fixture_job(&fixture, j, (double)submit, (double)run, (double)estimate, jobs[j].gpus);
    }
    simulate(jobs, gpus);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_int_equal(result.jobs.count, JOBS);
    const struct job_row *rows = LOG_ITEMS(&result.jobs, struct job_row);
    for (uint64_t i = 0; i < result.jobs.count; i++) {
        const struct twin_job *job = &jobs[rows[i].trace_row];
        CHECK(rows[i].first_start_ns == job->start * NS_PER_S &&
                  rows[i].end_ns == job->end * NS_PER_S && rows[i].attempts == job->attempts,
              "job %u (%u GPUs): %.9f to %.9f in %u, want %lld to %lld in %u", rows[i].trace_row,
              job->gpus, s_from_ns(rows[i].first_start_ns), s_from_ns(rows[i].end_ns),
              rows[i].attempts, (long long)job->start, (long long)job->end, job->attempts);
    }
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, by_hand, &sjf, "sjf: the shortest is next, and nobody passes it");
    rows_add(&rows, by_hand, &srtf, "srtf: shorter jobs go first, longer ones fill in");
    rows_add(&rows, by_hand, &srtf_nodes, "srtf: on nodes the longest gives way");
    rows_add(&rows, by_hand, &las, "las: new jobs go before those that had service");
    rows_add(&rows, by_hand, &las_behind, "las: a job that moves down goes behind");
    for (uintptr_t seed = 1; seed <= SEEDS; seed++)
        rows_add(&rows, same_as_naive, (void *)seed, "srtf on a pool, trace %u", (unsigned)seed);
    return rows_run("preemptive", &rows);
}
