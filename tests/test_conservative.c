/* test_conservative.c - conservative backfilling: schedules worked by hand, and the engine against a
 * naive program that places every waiting job again whenever a job has ended.
 *
 * The twin keeps no slices, no counts and no memory of what changed: the free GPUs of a node at an
 * instant are its GPUs less those of every job whose time holds the instant, and a job may start now
 * or where some job's time ends. It is written from the rule at the top of policy/conservative.c; that
 * rule's agreement with another simulator is tests/oracle_sched.c. */
#include "fixture.h"

#include "tests/naive_place.h"
#include "tests/near.h"
#include "tests/rows.h"

enum { JOBS = 60, PARTS_MOST = 64, SEEDS = 400 };

struct twin_job {
    int64_t submit, run, length, estimate, start, end;
    int64_t from, until; /* its time in the plan; of a running job: until it is expected to end */
    uint32_t gpus;
    struct naive_part parts[PARTS_MOST];
    uint32_t part_count;
    bool placed;
    enum { NOT_YET, QUEUED, STARTED, ENDED } state;
};

struct twin {
    struct twin_job jobs[JOBS];
    uint32_t nodes, gpus_per_node, nodes_per_leaf;
    bool pool, pack, planned, ended;
    uint32_t slack;
    int64_t now;
};

/* ---- what is free ------------------------------------------------------------------------------- */

static bool holds_at(const struct twin_job *job, int64_t at)
{
    return (job->state == STARTED || (job->state == QUEUED && job->placed)) && job->from <= at &&
           at < job->until;
}

/* Fewest free GPUs of each node over [from, until): they only fall where some job's time begins. */
static struct naive_cluster throughout(const struct twin *twin, int64_t from, int64_t until)
{
    struct naive_cluster least = { .nodes = twin->nodes,
                                   .gpus_per_node = twin->gpus_per_node,
                                   .nodes_per_leaf = twin->nodes_per_leaf };
    for (uint32_t node = 0; node < twin->nodes; node++)
        least.free_gpus[node] = (int)twin->gpus_per_node;
    for (uint32_t i = 0; i <= JOBS; i++) {
        const int64_t at = i == JOBS ? from : twin->jobs[i].from;
        if (i < JOBS && !(holds_at(&twin->jobs[i], at) && at > from && at < until)) continue;
        int is[NAIVE_NODES];
        for (uint32_t node = 0; node < twin->nodes; node++) is[node] = (int)twin->gpus_per_node;
        for (uint32_t j = 0; j < JOBS; j++)
            for (uint32_t p = 0; holds_at(&twin->jobs[j], at) && p < twin->jobs[j].part_count; p++)
                is[twin->jobs[j].parts[p].node] -= (int)twin->jobs[j].parts[p].gpus;
        for (uint32_t node = 0; node < twin->nodes; node++)
            if (is[node] < least.free_gpus[node]) least.free_gpus[node] = is[node];
    }
    return least;
}

static struct naive_shape shape_of(const struct twin *twin, const struct naive_cluster *cluster,
                                   const struct twin_job *job)
{
    return naive_shape(cluster, job->gpus, twin->pool, twin->slack);
}

/* Most GPUs on `most` nodes behind `node`. */
static uint32_t most_behind(const struct naive_cluster *cluster, uint32_t node, uint32_t most)
{
    bool used[NAIVE_NODES] = { false };
    uint32_t gpus = 0;
    for (; most > 0; most--) {
        int best = -1;
        for (uint32_t n = node + 1; n < cluster->nodes; n++)
            if (!used[n] && (best < 0 || cluster->free_gpus[n] > cluster->free_gpus[best]))
                best = (int)n;
        if (best < 0) break;
        used[best] = true;
        gpus += (uint32_t)cluster->free_gpus[best];
    }
    return gpus;
}

/* The lowest-numbered nodes: of the plain shape, else pieces on few enough nodes. */
static uint32_t lowest(const struct twin *twin, const struct naive_cluster *cluster,
                       const struct twin_job *job, struct naive_part *parts)
{
    const struct naive_shape shape = shape_of(twin, cluster, job);
    uint32_t count = 0;
    for (uint32_t node = 0; node < cluster->nodes && count < shape.nodes; node++)
        if (cluster->free_gpus[node] >= (int)shape.per_node)
            parts[count++] = (struct naive_part){ node, shape.per_node };
    if (count == shape.nodes && (shape.nodes == 1 || shape.whole)) return count;
    count = 0;
    uint32_t left = shape.gpus;
    for (uint32_t node = 0; node < cluster->nodes && left > 0; node++) {
        const uint32_t has = (uint32_t)cluster->free_gpus[node], gpus = left < has ? left : has;
        if (gpus == 0 || count == shape.most_nodes) continue;
        if (most_behind(cluster, node, shape.most_nodes - count - 1) < left - gpus) continue;
        parts[count++] = (struct naive_part){ node, gpus };
        left -= gpus;
    }
    assert_int_equal(left, 0);
    return count;
}

/* ---- the plan ------------------------------------------------------------------------------------ */

static void start(struct twin *twin, struct twin_job *job)
{
    job->state = STARTED;
    job->placed = false;
    job->start = job->from = twin->now;
    job->end = twin->now + job->length;
    job->until = twin->now + job->estimate;
}

/* Starts the job now with the scenario's placement, if it holds the nodes throughout. */
static bool starts_now(struct twin *twin, struct twin_job *job)
{
    const struct naive_cluster cluster = throughout(twin, twin->now, twin->now + job->estimate);
    const struct naive_shape shape = shape_of(twin, &cluster, job);
    struct naive_part parts[NAIVE_NODES];
    job->part_count = naive_place(&cluster, &shape, twin->pack, parts);
    if (job->part_count == 0) return false;
    memcpy(job->parts, parts, job->part_count * sizeof *parts);
    start(twin, job);
    return true;
}

/* First fit: now, or at the earliest end of some job's time at which it fits. */
static void place(struct twin *twin, struct twin_job *job)
{
    job->placed = false;
    if (starts_now(twin, job)) return;
    int64_t at = twin->now;
    for (;;) {
        int64_t next = INT64_MAX;
        for (uint32_t j = 0; j < JOBS; j++) {
            const struct twin_job *other = &twin->jobs[j];
            if ((other->state == STARTED || other->placed) && other->until > at &&
                other->until < next)
                next = other->until;
        }
        assert_true(next < INT64_MAX);
        at = next;
        const struct naive_cluster cluster = throughout(twin, at, at + job->estimate);
        const struct naive_shape shape = shape_of(twin, &cluster, job);
        struct naive_part parts[NAIVE_NODES];
        if (naive_place(&cluster, &shape, twin->pack, parts) == 0) continue;
        job->part_count = lowest(twin, &cluster, job, parts);
        memcpy(job->parts, parts, job->part_count * sizeof *parts);
        break;
    }
    job->from = at;
    job->until = at + job->estimate;
    job->placed = true;
}

static bool overran(const struct twin *twin)
{
    for (uint32_t j = 0; j < JOBS; j++)
        if (twin->jobs[j].state == STARTED && twin->jobs[j].until <= twin->now) return true;
    return false;
}

/* A job past its estimate is expected to run as long again. */
static void extend_overrun(struct twin *twin)
{
    for (uint32_t j = 0; j < JOBS; j++) {
        struct twin_job *job = &twin->jobs[j];
        if (job->state != STARTED || job->until > twin->now) continue;
        const int64_t ran = twin->now - job->start;
        job->until = twin->now + (ran > 1 ? ran : 1);
    }
}

static void pass(struct twin *twin)
{
    bool from_new = twin->planned && !twin->ended;
    if (twin->planned && overran(twin)) { /* all places are taken anew */
        for (uint32_t j = 0; j < JOBS; j++) twin->jobs[j].placed = false;
        twin->planned = from_new = false;
    }
    for (uint32_t j = 0; j < JOBS; j++) {
        struct twin_job *job = &twin->jobs[j];
        if (job->state != QUEUED || (from_new && job->placed)) continue;
        if (!twin->planned) {
            struct twin now = *twin; /* without a plan running jobs only give back */
            for (uint32_t i = 0; i < JOBS; i++)
                if (now.jobs[i].state == STARTED) now.jobs[i].until = INT64_MAX;
            if (starts_now(&now, &now.jobs[j])) {
                *job = now.jobs[j];
                continue;
            }
            extend_overrun(twin);
            twin->planned = true;
        }
        place(twin, job);
    }
    bool waits = false;
    for (uint32_t j = 0; j < JOBS; j++) waits |= twin->jobs[j].state == QUEUED;
    twin->planned = waits;
    twin->ended = false;
}

static void simulate(struct twin *twin)
{
    for (;;) {
        int64_t next = INT64_MAX;
        for (uint32_t j = 0; j < JOBS; j++) {
            const struct twin_job *job = &twin->jobs[j];
            if (job->state == STARTED && job->end < next) next = job->end;
            if (job->state == NOT_YET && job->submit < next) next = job->submit;
        }
        if (next == INT64_MAX) break;
        twin->now = next;
        for (uint32_t j = 0; j < JOBS; j++) {
            struct twin_job *job = &twin->jobs[j];
            if (job->state == STARTED && job->end == next) {
                job->state = ENDED;
                twin->ended = true;
            }
            if (job->state == NOT_YET && job->submit == next) job->state = QUEUED;
        }
        pass(twin);
    }
    for (uint32_t j = 0; j < JOBS; j++) assert_int_equal(twin->jobs[j].state, ENDED);
}

/* ---- a random trace ------------------------------------------------------------------------------ */

static const struct {
    uint32_t nodes, gpus, leaf;
} machines[] = { { 40, 1, 40 }, { 12, 8, 12 }, { 10, 4, 10 },
                 { 12, 8, 4 },  { 9, 2, 9 },   { 12, 5, 3 } };

static void draw_trace(struct twin *twin, uint64_t seed, bool cut)
{
    const uint32_t g = twin->gpus_per_node, all = twin->nodes * g;
    const double overrun = any(seed, 1) < 0.5 ? 0.2 : 0;
    const double exact = any(seed, 2) < 0.3 ? 1 : 0.3;
    int64_t submit = 0;
    for (uint32_t j = 0; j < JOBS; j++) {
        const uint64_t draw = 100 + 10 * j;
        struct twin_job *job = &twin->jobs[j];
        if (j > 0 && any(seed, draw) < 0.7)
            submit += any_count(seed, draw + 1, 0, any(seed, 3) < 0.5 ? 6 : 25);
        job->submit = submit;
        job->run = any_count(seed, draw + 2, any(seed, 4) < 0.2 ? 0 : 1, 60);
        const double u = any(seed, draw + 3);
        job->gpus = u < 0.35   ? 1
                    : u < 0.75 ? any_count(seed, draw + 4, 1, g > 1 ? g : 8)
                               : any_count(seed, draw + 4, 1, all > PARTS_MOST ? PARTS_MOST : all);
        job->estimate = job->run;
        if (any(seed, draw + 5) > exact)
            job->estimate = (int64_t)ceil((double)job->run * any_between(seed, draw + 6, 1, 5));
        if (any(seed, draw + 7) < overrun) job->estimate = (job->run + 1) / 2;
        if (job->estimate < 1) job->estimate = 1;
        job->length = cut && job->estimate < job->run ? job->estimate : job->run;
    }
}

static void run_engine(const struct twin *twin, bool cut)
{
    struct fixture fixture;
    fixture_init(&fixture, JOBS);
    fixture.scenario.order = ORDER_CONSERVATIVE;
    fixture.scenario.shape = twin->pool ? SHAPE_FREE : SHAPE_MODEL;
    fixture.scenario.placement = twin->pack ? PLACE_PACK : PLACE_SPREAD;
    fixture.scenario.slack[0] = twin->slack;
    fixture.scenario.kill_at_limit = cut;
    struct layout *layout = fixture_layout(&fixture, "twin", twin->nodes, twin->gpus_per_node);
    if (twin->nodes_per_leaf < twin->nodes)
        layout->fabric.link.switch_ports = 2 * twin->nodes_per_leaf * twin->gpus_per_node;
    for (uint32_t j = 0; j < JOBS; j++)
        fixture_job(&fixture, j, (double)twin->jobs[j].submit, (double)twin->jobs[j].run,
                    (double)twin->jobs[j].estimate, twin->jobs[j].gpus);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_int_equal(result.jobs.count, JOBS);
    const struct job_row *rows = LOG_ITEMS(&result.jobs, struct job_row);
    for (uint64_t i = 0; i < result.jobs.count; i++) {
        const struct twin_job *job = &twin->jobs[rows[i].trace_row];
        CHECK(rows[i].first_start_ns == job->start * NS_PER_S,
              "job %u (%u GPUs, submitted %lld): start %.9f, want %lld", rows[i].trace_row,
              job->gpus, (long long)job->submit, s_from_ns(rows[i].first_start_ns),
              (long long)job->start);
        CHECK(rows[i].end_ns == job->end * NS_PER_S, "job %u: end %.9f, want %lld",
              rows[i].trace_row, s_from_ns(rows[i].end_ns), (long long)job->end);
    }
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

static void same_starts(void **state)
{
    const uint64_t seed = rows_number(state), draws = seed * 1000003;
    static struct twin twin;
    const size_t m = seed % (sizeof machines / sizeof *machines);
    twin = (struct twin){ .nodes = machines[m].nodes,
                          .gpus_per_node = machines[m].gpus,
                          .nodes_per_leaf = machines[m].leaf,
                          .pool = machines[m].gpus == 1 || seed % 13 == 0,
                          .pack = seed % 5 != 0,
                          .slack = seed % 7 == 0    ? 1
                                   : seed % 11 == 0 ? SLACK_ANY
                                                    : 0 };
    const bool cut = seed % 3 != 0;
    draw_trace(&twin, draws, cut);
    simulate(&twin);
    run_engine(&twin, cut);
}

/* ---- by hand -------------------------------------------------------------------------------------- */

struct hand_job {
    double submit_s, run_s, limit_s;
    uint32_t gpus;
    double start_s;
};

static void by_hand(uint32_t nodes, const struct hand_job *jobs, uint32_t count)
{
    struct fixture fixture;
    fixture_init(&fixture, count);
    fixture.scenario.order = ORDER_CONSERVATIVE;
    fixture.scenario.shape = SHAPE_FREE;
    fixture_layout(&fixture, "hand", nodes, 1);
    for (uint32_t j = 0; j < count; j++)
        fixture_job(&fixture, j, jobs[j].submit_s, jobs[j].run_s, jobs[j].limit_s, jobs[j].gpus);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const struct job_row *rows = LOG_ITEMS(&result.jobs, struct job_row);
    for (uint64_t i = 0; i < result.jobs.count; i++)
        CHECK(rows[i].first_start_ns == ns_from_s(jobs[rows[i].trace_row].start_s),
              "job %u: start %g s, want %g", rows[i].trace_row, s_from_ns(rows[i].first_start_ns),
              jobs[rows[i].trace_row].start_s);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* 4 GPUs. Job 0 holds 2 until 10; job 1 wants 4: planned at 10. Job 2 (2 GPUs, 10 s) fits beside job 0
 * until 10 exactly: starts. Job 3 (2 GPUs, 11 s) would delay job 1: planned behind it, at 20. Job 4
 * (2 GPUs, 5 s) finds none free before 20 either, and goes beside job 3. EASY would agree here. */
static void nobody_delays_the_plan(void **state)
{
    (void)state;
    static const struct hand_job jobs[] = {
        { 0, 10, 10, 2, 0 },  { 0, 10, 10, 4, 10 }, { 0, 10, 10, 2, 0 },
        { 1, 11, 11, 2, 20 }, { 1, 5, 5, 2, 20 },
    };
    by_hand(4, jobs, 5);
}

/* 4 GPUs. Where EASY and conservative part: job 0 (3 GPUs) until 10, job 1 (4 GPUs, 10 s) planned
 * 10 to 20, job 2 (3 GPUs, 10 s) planned 20 to 30. Job 3 (1 GPU, 25 s) submitted at 1: EASY refuses it
 * too as it would delay job 1; job 4 (1 GPU, 9 s) ends at 10: starts at 1. Job 3 goes to 20, beside
 * job 2 on the fourth GPU. Job 0 ends at 5 already, job 4 runs to 10: job 1 stays at 10, for it
 * needs all; nothing else fits in front but nothing is short enough: job 5 (2 GPUs, 5 s), submitted at
 * 2 and planned beside nothing until 30, moves to 5 when job 0 ends. */
static void an_early_end_compresses(void **state)
{
    (void)state;
    static const struct hand_job jobs[] = {
        { 0, 5, 10, 3, 0 },   { 0, 10, 10, 4, 10 }, { 0, 10, 10, 3, 20 },
        { 1, 25, 25, 1, 20 }, { 1, 9, 9, 1, 1 },    { 2, 5, 5, 2, 5 },
    };
    by_hand(4, jobs, 6);
}

/* Two places on fixed GPUs (2 GPUs, numbered): job 0 on GPU 0 until 10, job 1 on GPU 1 until 20. Job 2
 * (1 GPU, 20 s) takes GPU 0 from 10 to 30; job 3 (2 GPUs) waits until 30; job 4 (1 GPU, 10 s) takes
 * GPU 1 from 20. All as planned. */
static void places_are_gpus(void **state)
{
    (void)state;
    static const struct hand_job jobs[] = {
        { 0, 10, 10, 1, 0 }, { 0, 20, 20, 1, 0 },  { 0, 20, 20, 1, 10 },
        { 0, 5, 5, 2, 30 },  { 0, 10, 10, 1, 20 },
    };
    by_hand(2, jobs, 5);
}

/* Job 0 says 10 s and runs 100: the places behind it slip, and nobody starts on its GPU. */
static void running_past_the_estimate(void **state)
{
    (void)state;
    static const struct hand_job jobs[] = {
        { 0, 100, 10, 1, 0 },
        { 0, 30, 30, 1, 0 },
        { 1, 10, 10, 2, 100 },
        { 2, 5, 5, 1, 30 },
    };
    by_hand(2, jobs, 4);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, nobody_delays_the_plan, NULL, "nobody delays the plan");
    rows_add(&rows, an_early_end_compresses, NULL, "an early end compresses the plan");
    rows_add(&rows, places_are_gpus, NULL, "places are GPUs");
    rows_add(&rows, running_past_the_estimate, NULL, "running past the estimate");
    for (uintptr_t seed = 1; seed <= SEEDS; seed++)
        rows_add(&rows, same_starts, (void *)seed, "conservative, trace %u", (unsigned)seed);
    return rows_run("conservative", &rows);
}
