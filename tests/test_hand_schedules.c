/* test_hand_schedules.c - small schedules worked by hand, start by start (CASES 5.5 and our own). */
#include "fixture.h"

#include "tests/near.h"
#include "tests/rows.h"

enum { JOBS_MAX = 8, REFUSED = -1 };

struct hand_job {
    int submit_s, gpus, run_s, limit_s; /* limit 0: none, the estimate is the run time     */
    int start_s, end_s;                 /* wanted; start REFUSED: rejected or dropped      */
};

static const struct {
    const char *name;
    uint32_t servers, gpus;
    enum order order;
    enum shape shape;
    enum placement placement;
    uint32_t slack;
    bool cut, loss;
    struct hand_job jobs[JOBS_MAX];
} cases[] = {
    { "six jobs on four nodes, first come first served",
      4,
      1,
      ORDER_FCFS,
      SHAPE_FREE,
      PLACE_PACK,
      0,
      false,
      false,
      { { 2, 2, 2, 0, 2, 4 },
        { 3, 2, 2, 0, 3, 5 },
        { 4, 3, 3, 0, 5, 8 },
        { 5, 2, 2, 0, 8, 10 },
        { 5, 2, 2, 0, 8, 10 },
        { 6, 1, 3, 0, 10, 13 } } },
    { "the same six, EASY: starts 2, 3, 5, 8, 9, 6",
      4,
      1,
      ORDER_EASY,
      SHAPE_FREE,
      PLACE_PACK,
      0,
      false,
      false,
      { { 2, 2, 2, 0, 2, 4 },
        { 3, 2, 2, 0, 3, 5 },
        { 4, 3, 3, 0, 5, 8 },
        { 5, 2, 2, 0, 8, 10 },
        { 5, 2, 2, 0, 9, 11 },
        { 6, 1, 3, 0, 6, 9 } } },
    { "one that ends by the shadow passes, a longer one does not",
      4,
      1,
      ORDER_EASY,
      SHAPE_FREE,
      PLACE_PACK,
      0,
      false,
      false,
      { { 0, 3, 10, 0, 0, 10 },
        { 1, 4, 5, 0, 10, 15 },
        { 2, 1, 20, 0, 15, 35 },
        { 3, 1, 7, 0, 3, 10 } } },
    { "a long one passes on what the head leaves",
      4,
      1,
      ORDER_EASY,
      SHAPE_FREE,
      PLACE_PACK,
      0,
      false,
      false,
      { { 0, 3, 10, 0, 0, 10 },
        { 1, 3, 5, 0, 10, 15 },
        { 2, 1, 20, 0, 2, 22 },
        { 3, 1, 2, 0, 15, 17 } } },
    { "only estimates count: a passing job may make the head late",
      4,
      1,
      ORDER_EASY,
      SHAPE_FREE,
      PLACE_PACK,
      0,
      false,
      false,
      /* Job 0 says 20 and runs 10: the shadow is 20 and job 2 passes up to it, so the head cannot
       * start at 10. */
      { { 0, 3, 10, 20, 0, 10 }, { 1, 4, 5, 5, 18, 23 }, { 2, 1, 16, 17, 2, 18 } } },
    { "cut at the limit",
      2,
      1,
      ORDER_FCFS,
      SHAPE_FREE,
      PLACE_PACK,
      0,
      true,
      false,
      { { 0, 2, 5, 3, 0, 3 }, { 1, 1, 4, 4, 3, 7 }, { 1, 1, 4, 9, 3, 7 } } },
    { "not cut: it runs past its estimate",
      2,
      1,
      ORDER_FCFS,
      SHAPE_FREE,
      PLACE_PACK,
      0,
      false,
      false,
      { { 0, 2, 5, 3, 0, 5 }, { 1, 1, 4, 4, 5, 9 } } },
    { "behind an overdue job nobody passes, however short",
      2,
      1,
      ORDER_EASY,
      SHAPE_FREE,
      PLACE_PACK,
      0,
      false,
      false,
      { { 0, 1, 9, 3, 0, 9 }, { 1, 2, 2, 2, 9, 11 }, { 5, 1, 1, 1, 11, 12 } } },
    { "two servers of four: the head needs a whole one",
      2,
      4,
      ORDER_EASY,
      SHAPE_MODEL,
      PLACE_PACK,
      0,
      false,
      false,
      { { 0, 4, 10, 0, 0, 10 },
        { 0, 2, 4, 0, 0, 4 },
        { 1, 8, 5, 0, 10, 15 },
        { 2, 2, 9, 0, 15, 24 },
        { 3, 1, 7, 0, 3, 10 } } },
    { "two free GPUs on two servers are no pair",
      2,
      4,
      ORDER_FCFS,
      SHAPE_MODEL,
      PLACE_PACK,
      0,
      false,
      false,
      { { 0, 3, 10, 0, 0, 10 }, { 0, 3, 10, 0, 0, 10 }, { 1, 2, 5, 0, 10, 15 } } },
    { "with slack they are",
      2,
      4,
      ORDER_FCFS,
      SHAPE_MODEL,
      PLACE_PACK,
      SLACK_ANY,
      false,
      false,
      { { 0, 3, 10, 0, 0, 10 }, { 0, 3, 10, 0, 0, 10 }, { 1, 2, 5, 0, 1, 6 } } },
    { "shape free takes them too",
      2,
      4,
      ORDER_FCFS,
      SHAPE_FREE,
      PLACE_PACK,
      0,
      false,
      false,
      { { 0, 3, 10, 0, 0, 10 }, { 0, 3, 10, 0, 0, 10 }, { 1, 2, 5, 0, 1, 6 } } },
    { "pack leaves a whole server, spread does not: pack",
      2,
      4,
      ORDER_FCFS,
      SHAPE_MODEL,
      PLACE_PACK,
      0,
      false,
      false,
      { { 0, 1, 10, 0, 0, 10 }, { 0, 1, 10, 0, 0, 10 }, { 1, 4, 5, 0, 1, 6 } } },
    { "pack leaves a whole server, spread does not: spread",
      2,
      4,
      ORDER_FCFS,
      SHAPE_MODEL,
      PLACE_SPREAD,
      0,
      false,
      false,
      { { 0, 1, 10, 0, 0, 10 }, { 0, 1, 10, 0, 0, 10 }, { 1, 4, 5, 0, 10, 15 } } },
    { "twelve GPUs take two whole servers of eight",
      3,
      8,
      ORDER_FCFS,
      SHAPE_MODEL,
      PLACE_PACK,
      0,
      false,
      false,
      { { 0, 12, 10, 0, 0, 10 }, { 0, 4, 6, 0, 0, 6 }, { 0, 5, 2, 0, 6, 8 } } },
    { "what never fits is refused and blocks nobody",
      3,
      8,
      ORDER_FCFS,
      SHAPE_MODEL,
      PLACE_PACK,
      0,
      false,
      false,
      { { 0, 25, 10, 0, REFUSED, 0 }, { 0, 24, 6, 0, 0, 6 } } },
    { "jobs of no length",
      1,
      1,
      ORDER_FCFS,
      SHAPE_MODEL,
      PLACE_PACK,
      0,
      false,
      false,
      { { 0, 1, 0, 0, 0, 0 }, { 0, 1, 3, 0, 0, 3 }, { 0, 1, 0, 0, 3, 3 }, { 3, 1, 0, 0, 3, 3 } } },
    { "an end frees its GPU for a submission of the same instant",
      1,
      1,
      ORDER_FCFS,
      SHAPE_MODEL,
      PLACE_PACK,
      0,
      false,
      true,
      { { 0, 1, 5, 0, 0, 5 }, { 5, 1, 2, 0, 5, 7 } } },
    { "loss: who does not fit at once is gone, smaller ones of the instant are not",
      4,
      1,
      ORDER_EASY,
      SHAPE_FREE,
      PLACE_PACK,
      0,
      false,
      true,
      { { 0, 3, 5, 0, 0, 5 },
        { 1, 2, 1, 0, REFUSED, 0 },
        { 2, 1, 9, 0, 2, 11 },
        { 5, 3, 1, 0, 5, 6 } } },
};

static void by_hand(void **state)
{
    const uint64_t c = rows_number(state);
    uint32_t count = 0;
    while (count < JOBS_MAX && cases[c].jobs[count].gpus) count++;
    struct fixture fixture;
    fixture_init(&fixture, count);
    fixture.scenario.order = cases[c].order;
    fixture.scenario.shape = cases[c].shape;
    fixture.scenario.placement = cases[c].placement;
    fixture.scenario.slack[0] = cases[c].slack;
    fixture.scenario.kill_at_limit = cases[c].cut;
    fixture.scenario.loss = cases[c].loss;
    fixture_layout(&fixture, "hand", cases[c].servers, cases[c].gpus);
    const int origin_s = cases[c].jobs[0].submit_s; /* a trace begins with its first submission */
    for (uint32_t j = 0; j < count; j++) {
        const struct hand_job *job = &cases[c].jobs[j];
        fixture_job(&fixture, j, job->submit_s - origin_s, job->run_s, job->limit_s,
                    (uint32_t)job->gpus);
    }
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_int_equal(result.jobs.count, count);
    const struct job_row *rows = LOG_ITEMS(&result.jobs, struct job_row);
    for (uint64_t i = 0; i < count; i++) {
        const struct hand_job *job = &cases[c].jobs[rows[i].trace_row];
        if (job->start_s == REFUSED) {
            assert_int_equal(rows[i].end, END_REJECTED);
            assert_int_equal(rows[i].first_start_ns, TIME_NEVER);
            continue;
        }
        CHECK(rows[i].first_start_ns == (job->start_s - origin_s) * NS_PER_S &&
                  rows[i].end_ns == (job->end_s - origin_s) * NS_PER_S,
              "job %u runs %.9f to %.9f, want %d to %d", rows[i].trace_row,
              s_from_ns(rows[i].first_start_ns) + origin_s, s_from_ns(rows[i].end_ns) + origin_s,
              job->start_s, job->end_s);
        const bool cut = cases[c].cut && job->limit_s && job->limit_s < job->run_s;
        assert_int_equal(rows[i].end, cut ? END_KILLED : END_FINISHED);
    }
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t c = 0; c < sizeof cases / sizeof *cases; c++)
        rows_add(&rows, by_hand, (void *)c, "%s", cases[c].name);
    return rows_run("hand_schedules", &rows);
}
