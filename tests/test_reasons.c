/* test_reasons.c - why jobs wait: what the engine notes, cut into spans, against what the allocations say at every
 * instant; each reason once by hand. */
#include "fixture.h"

#include "tests/near.h"
#include "tests/rows.h"

#include "job_spans.h"

enum { JOBS = 60, INSTANTS_MAX = 4 * JOBS, SPANS_MAX = 16 };

/* ---- the naive twin: what the allocations say -------------------------------------------------------- */

static const struct {
    uint32_t nodes, gpus;
} machines[] = { { 16, 8 }, { 12, 4 }, { 20, 8 }, { 9, 2 }, { 30, 4 }, { 6, 8 } };

struct twin {
    const struct replica_result *result;
    uint32_t nodes, gpus_per_node;
    enum order order;
};

static uint32_t free_on(const struct twin *twin, uint32_t node, int64_t at_ns)
{
    const struct attempt_row *attempts =
        LOG_ITEMS(&twin->result->attempts, const struct attempt_row);
    const struct allocation_row *rows =
        LOG_ITEMS(&twin->result->allocations, const struct allocation_row);
    uint32_t held = 0;
    for (uint64_t i = 0; i < twin->result->allocations.count; i++) {
        if (rows[i].server != node) continue;
        for (uint64_t a = 0; a < twin->result->attempts.count; a++)
            if (attempts[a].serial == rows[i].serial && attempts[a].attempt == rows[i].attempt &&
                attempts[a].start_ns <= at_ns && at_ns < attempts[a].end_ns)
                held += (uint32_t)__builtin_popcount(rows[i].gpu_mask);
    }
    return twin->gpus_per_node - held;
}

/* Shape model: one node when it fits on one, else whole nodes. */
static const char *naive_cause(const struct twin *twin, uint32_t gpus, int64_t at_ns)
{
    const uint32_t g = twin->gpus_per_node;
    const uint32_t nodes = gpus <= g ? 1 : (gpus + g - 1) / g, each = gpus <= g ? gpus : g;
    uint32_t free_gpus = 0, enough = 0;
    for (uint32_t node = 0; node < twin->nodes; node++) {
        const uint32_t here = free_on(twin, node, at_ns);
        free_gpus += here;
        enough += here >= each;
    }
    if (gpus > free_gpus) return "resources";
    if (enough < nodes) return "fragmentation";
    return twin->order == ORDER_EASY ? "reservation" : "priority";
}

/* Instants at which anything happened. */
static uint32_t instants_of(const struct replica_result *result, int64_t *at_ns)
{
    const struct job_row *jobs = LOG_ITEMS(&result->jobs, const struct job_row);
    uint32_t count = 0;
    for (uint64_t i = 0; i < result->jobs.count; i++) {
        at_ns[count++] = jobs[i].submit_ns;
        at_ns[count++] = jobs[i].first_start_ns;
        at_ns[count++] = jobs[i].end_ns;
    }
    return count;
}

static void same_at_every_instant(const struct twin *twin, const struct job_row *job)
{
    int64_t at_ns[INSTANTS_MAX];
    const uint32_t instants = instants_of(twin->result, at_ns);
    struct log waits, spans;
    spans_of_job(twin->result, job, &waits, &spans);
    const struct wait_span *span = LOG_ITEMS(&spans, const struct wait_span);
    for (uint64_t s = 0; s < spans.count; s++)
        for (uint32_t i = 0; i < instants; i++) {
            if (at_ns[i] < span[s].from_ns || at_ns[i] >= span[s].to_ns) continue;
            const char *want = naive_cause(twin, job->gpus, at_ns[i]);
            CHECK(!strcmp(wait_kind(&span[s]), want), "job %u at %.9f: told '%s', want '%s'",
                  job->trace_row, s_from_ns(at_ns[i]), wait_kind(&span[s]), want);
        }
    log_clear(&waits);
    log_clear(&spans);
}

/* Sizes from one GPU to half of the cluster, in whole seconds from a small range, so that ends and submissions often
 * fall together. */
static void draw_jobs(struct fixture *fixture, uint64_t seed, uint32_t all_gpus, uint32_t g)
{
    int64_t submit_s = 0;
    for (uint32_t j = 0; j < JOBS; j++) {
        const uint64_t draw = 100 + 10 * j;
        if (j > 0 && any(seed, draw) < 0.7) submit_s += any_count(seed, draw + 1, 0, 12);
        const double u = any(seed, draw + 3);
        const uint32_t gpus = u < 0.35   ? 1
                              : u < 0.75 ? (uint32_t)any_count(seed, draw + 4, 1, g)
                                         : (uint32_t)any_count(seed, draw + 4, 1, all_gpus / 2);
        const int64_t run_s = any_count(seed, draw + 2, 1, 60);
        const int64_t limit_s = any(seed, draw + 5) < 0.5 ? run_s : 3 * run_s;
        fixture_job(fixture, j, (double)submit_s, (double)run_s, (double)limit_s, gpus);
    }
}

static void told_as_the_allocations_say(void **state)
{
    const uint64_t seed = rows_number(state);
    const uint32_t m = (uint32_t)any_count(seed, 1, 0, sizeof machines / sizeof *machines - 1);
    struct fixture fixture;
    fixture_init(&fixture, JOBS);
    fixture.scenario.order = seed % 2 ? ORDER_EASY : ORDER_FCFS;
    fixture.scenario.placement = any(seed, 2) < 0.5 ? PLACE_PACK : PLACE_SPREAD;
    fixture_layout(&fixture, "twin", machines[m].nodes, machines[m].gpus);
    draw_jobs(&fixture, seed, machines[m].nodes * machines[m].gpus, machines[m].gpus);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_int_equal(result.jobs.count, JOBS);
    const struct twin twin = { &result, machines[m].nodes, machines[m].gpus,
                               fixture.scenario.order };
    const struct job_row *jobs = LOG_ITEMS(&result.jobs, const struct job_row);
    for (uint32_t j = 0; j < JOBS; j++) {
        spans_fill_the_wait(&result, &jobs[j]);
        same_at_every_instant(&twin, &jobs[j]);
    }
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* ---- with faults --------------------------------------------------------------------------------- */

static struct component_failures law(double mean_s, double repair_s)
{
    return (struct component_failures){ .law = LAW_EXPONENTIAL,
                                        .mean_s = mean_s,
                                        .repair_median_s = repair_s,
                                        .repair_p95_s = repair_s };
}

static bool is_open(const struct replica_result *result, int64_t at_ns)
{
    const struct incident *rows = LOG_ITEMS(&result->incidents, const struct incident);
    for (uint64_t i = 0; i < result->incidents.count; i++)
        if (rows[i].at_ns <= at_ns && at_ns < rows[i].repaired_ns) return true;
    return false;
}

/* Every span of "restart" is the delay after a kill, and only those; "down nodes" needs an open incident. */
static void restarts_and_faults(const struct replica_result *result, const struct job_row *job,
                                int64_t delay_ns, uint32_t seen[2])
{
    struct log waits, spans;
    spans_of_job(result, job, &waits, &spans);
    const struct wait_span *span = LOG_ITEMS(&spans, const struct wait_span);
    for (uint64_t s = 0; s < spans.count; s++) {
        const bool begins = s == 0 || span[s].behind != span[s - 1].behind;
        const bool restarts = span[s].behind > 0 && begins && delay_ns > 0;
        assert_int_equal(!strcmp(wait_kind(&span[s]), "restart"), restarts);
        if (restarts && span[s].to_ns < result->run_end_ns)
            assert_int_equal(span[s].to_ns - span[s].from_ns, delay_ns);
        if (!strcmp(wait_kind(&span[s]), "down nodes"))
            assert_true(is_open(result, span[s].from_ns));
        seen[0] += restarts;
        seen[1] += !strcmp(wait_kind(&span[s]), "down nodes");
    }
    log_clear(&waits);
    log_clear(&spans);
}

static void told_through_faults(void **state)
{
    const uint64_t seed = rows_number(state);
    struct fixture fixture;
    fixture_init(&fixture, JOBS);
    struct scenario *scenario = &fixture.scenario;
    scenario->order = seed % 2 ? ORDER_EASY : ORDER_FCFS;
    scenario->seed = seed;
    scenario->failures.component[COMPONENT_SERVER] = law(900, 30);
    scenario->failures.component[COMPONENT_GPU] = law(4000, 50);
    scenario->failures.component[COMPONENT_JOB] = law(2000, 0);
    scenario->failures.drain = seed % 3 == 0 ? DRAIN_FINISH : seed % 3 == 1 ? DRAIN_NOW : DRAIN_GPU;
    scenario->failures.requeue_delay_ns =
        seed % 4 == 3 ? 0 : (int64_t)(seed % 4 + 1) * 7 * NS_PER_S;
    scenario->failures.detection_ns = 3 * NS_PER_S;
    scenario->failures.restart_ns = 5 * NS_PER_S;
    fixture_layout(&fixture, "sick", 12, 4);
    draw_jobs(&fixture, seed, 48, 4);
    fixture_ready(&fixture);
    struct replica_result result;
    const enum status status = fixture_run(&fixture, 0, 0, &result);
    assert_true(status == STATUS_OK || status == STATUS_LIMIT);
    const struct job_row *jobs = LOG_ITEMS(&result.jobs, const struct job_row);
    uint32_t seen[2] = { 0 };
    for (uint64_t j = 0; j < result.jobs.count; j++) {
        spans_fill_the_wait(&result, &jobs[j]);
        restarts_and_faults(&result, &jobs[j], scenario->failures.requeue_delay_ns, seen);
    }
    if (scenario->failures.requeue_delay_ns > 0) assert_true(seen[0] > 0);
    assert_true(seen[1] > 0);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* ---- by hand --------------------------------------------------------------------------------------- */

struct hand_job {
    int submit_s, gpus, run_s, cores;
};
struct hand_span {
    int from_s, to_s;
    const char *kind;
};

static const struct hand {
    const char *name;
    uint32_t servers, gpus;
    enum order order;
    enum placement placement;
    int asked; /* row of the job whose spans are wanted                    */
    struct hand_job jobs[5];
    struct hand_span spans[3];
} hands[] = {
    /* clang-format off */
    { "resources: another holds the only GPUs", 1, 2, ORDER_FCFS, PLACE_PACK, 1,
      { { 0, 2, 100, 0 }, { 10, 1, 5, 0 } },
      { { 10, 100, "resources" } } },
    { "fragmentation: two are free, one on each node", 2, 2, ORDER_FCFS, PLACE_SPREAD, 2,
      { { 0, 1, 100, 0 }, { 0, 1, 90, 0 }, { 10, 2, 5, 0 } },
      { { 10, 90, "fragmentation" } } },
    { "resources, then fragmentation, then it starts", 2, 2, ORDER_FCFS, PLACE_SPREAD, 4,
      { { 0, 1, 100, 0 }, { 0, 1, 60, 0 }, { 0, 1, 20, 0 }, { 0, 1, 30, 0 }, { 10, 2, 5, 0 } },
      { { 10, 30, "resources" }, { 30, 60, "fragmentation" } } },
    { "priority: first come, first served lets nobody pass", 1, 2, ORDER_FCFS, PLACE_PACK, 2,
      { { 0, 1, 100, 0 }, { 1, 2, 50, 0 }, { 2, 1, 5, 0 } },
      { { 2, 100, "priority" }, { 100, 150, "resources" } } },
    { "reservation: it would delay the head", 1, 2, ORDER_EASY, PLACE_PACK, 2,
      { { 0, 1, 100, 0 }, { 1, 2, 50, 0 }, { 2, 1, 500, 0 } },
      { { 2, 100, "reservation" }, { 100, 150, "resources" } } },
    { "cores: a GPU is free, its cores are not", 1, 2, ORDER_FCFS, PLACE_PACK, 1,
      { { 0, 1, 100, 32 }, { 10, 1, 5, 1 } },
      { { 10, 100, "cores" } } },
    /* clang-format on */
};

static void spans_by_hand(void **state)
{
    const struct hand *hand = *state;
    uint32_t count = 0;
    while (count < 5 && hand->jobs[count].gpus) count++;
    struct fixture fixture;
    fixture_init(&fixture, count);
    fixture.scenario.order = hand->order;
    fixture.scenario.placement = hand->placement;
    fixture.jobs.cores = ARENA_ARRAY(fixture.jobs.arena, uint32_t, count);
    for (uint32_t j = 0; j < count; j++) {
        const struct hand_job *job = &hand->jobs[j];
        fixture_job(&fixture, j, job->submit_s, job->run_s, 0, (uint32_t)job->gpus);
        fixture.jobs.cores[j] = (uint32_t)job->cores;
    }
    fixture_layout(&fixture, "hand", hand->servers, hand->gpus);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const struct job_row *jobs = LOG_ITEMS(&result.jobs, const struct job_row);
    for (uint64_t j = 0; j < result.jobs.count; j++) {
        if ((int)jobs[j].trace_row != hand->asked) continue;
        struct log waits, spans;
        spans_of_job(&result, &jobs[j], &waits, &spans);
        const struct wait_span *span = LOG_ITEMS(&spans, const struct wait_span);
        for (uint64_t s = 0; s < spans.count; s++) {
            assert_string_equal(wait_kind(&span[s]), hand->spans[s].kind);
            assert_int_equal(span[s].from_ns, hand->spans[s].from_s * NS_PER_S);
            assert_int_equal(span[s].to_ns, hand->spans[s].to_s * NS_PER_S);
        }
        assert_true(spans.count == 3 || hand->spans[spans.count].kind == NULL);
        log_clear(&waits);
        log_clear(&spans);
    }
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* ---- rejected -------------------------------------------------------------------------------------- */

static void rejected_jobs_say_why(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 5);
    fixture.jobs.cores = ARENA_ARRAY(fixture.jobs.arena, uint32_t, 5);
    fixture.jobs.nodes = ARENA_ARRAY(fixture.jobs.arena, uint32_t, 5);
    fixture.scenario.shape = SHAPE_RECORDED;
    fixture_job(&fixture, 0, 0, 10, 0, 9);
    fixture_job(&fixture, 1, 0, 10, 0, 4);
    fixture.jobs.nodes[1] = 1;
    fixture_job(&fixture, 2, 0, 10, 0, 4);
    fixture.jobs.nodes[2] = 4;
    fixture_job(&fixture, 3, 0, 10, 0, 1);
    fixture.jobs.cores[3] = 33;
    fixture_job(&fixture, 4, 0, 10, 0, 1); /* a log of which nothing fits is refused as a whole */
    fixture_layout(&fixture, "small", 3, 2);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    static const char *const want[] = {
        "more GPUs than the layout has", "more GPUs in one node than any has",
        "more nodes than the layout has",
        "no node has these GPUs with the cores and memory beside them"
    };
    const struct job_row *jobs = LOG_ITEMS(&result.jobs, const struct job_row);
    assert_int_equal(result.jobs.count, 5);
    for (uint64_t j = 0; j < 5; j++) {
        if (jobs[j].trace_row == 4) continue;
        assert_int_equal(jobs[j].end, END_REJECTED);
        assert_string_equal(jobs[j].reason, want[jobs[j].trace_row]);
    }
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Two passes at one instant: a job of no length starts at 10 s on all that is free and is gone at 10 s. What the pair of
 * GPUs behind the large job waits for is told once for that instant, as it was at its end: order again. */
static void once_an_instant(void **state)
{
    (void)state;
    static const struct {
        double submit_s, duration_s;
        uint32_t gpus;
    } jobs[] = { { 0, 100, 8 }, { 0, 10, 4 }, { 1, 0, 8 }, { 2, 50, 16 }, { 3, 50, 2 } };
    struct fixture fixture;
    fixture_init(&fixture, 5);
    fixture_layout(&fixture, "two", 2, 8);
    for (uint32_t row = 0; row < 5; row++)
        fixture_job(&fixture, row, jobs[row].submit_s, jobs[row].duration_s, 0, jobs[row].gpus);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const struct cause_row *rows = LOG_ITEMS(&result.causes, struct cause_row);
    uint32_t at_ten = 0;
    for (uint64_t a = 0; a < result.causes.count; a++) {
        for (uint64_t b = a + 1; b < result.causes.count; b++)
            assert_false(rows[a].request == rows[b].request && rows[a].from_ns == rows[b].from_ns);
        if (rows[a].from_ns != 10 * NS_PER_S || rows[a].free_gpus != 8) continue;
        at_ten += rows[a].cause == WAIT_PRIORITY;
    }
    assert_int_equal(at_ten, 1);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof hands / sizeof *hands; i++)
        rows_add(&rows, spans_by_hand, &hands[i], "%s", hands[i].name);
    rows_add(&rows, rejected_jobs_say_why, NULL, "rejected jobs say why");
    rows_add(&rows, once_an_instant, NULL,
             "told once an instant, though a job of no length makes two passes");
    for (uint64_t seed = 1; seed <= 200; seed++)
        rows_add(&rows, told_as_the_allocations_say, (const void *)(uintptr_t)seed,
                 "told as the allocations say, seed %d", (int)seed);
    for (uint64_t seed = 1; seed <= 40; seed++)
        rows_add(&rows, told_through_faults, (const void *)(uintptr_t)seed,
                 "told through faults, seed %d", (int)seed);
    return rows_run("reasons", &rows);
}
