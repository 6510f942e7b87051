/* test_easy_twin.c - FCFS and EASY of the engine start every job when a naive textbook program does.
 *
 * Two twins, written from the rules alone, with arrays and scans:
 *
 *   pool    P one-GPU nodes, shape free. Shadow: running jobs by expected end, their GPUs added to
 *           the free ones until the head fits; spare: what is left beside the head then.
 *   nodes   nodes of several GPUs, shape model, pack. The twin keeps free GPUs per node, places by
 *           naive_place.h, finds the shadow by copying the nodes and giving back running jobs in
 *           order of expected end; a candidate that ends later may start when the head still fits
 *           the copied nodes after its own have been taken from them.
 *
 * Both decide once per instant: ends, then submissions, then one pass. Starts and ends of each job
 * must be equal to the nanosecond. */
#include "fixture.h"

#include "tests/naive_place.h"
#include "tests/near.h"
#include "tests/rows.h"

enum { JOBS = 120, SEEDS_EASY = 1000, SEEDS_FCFS = 250 };

struct twin_job {
    int64_t submit, run, length, estimate, start, end;
    uint32_t gpus;
    struct naive_part parts[NAIVE_NODES / 8];
    uint32_t part_count;
    enum { NOT_YET, QUEUED, STARTED, ENDED } state;
};

struct twin {
    struct twin_job jobs[JOBS];
    struct naive_cluster cluster;
    bool easy, pool, pack;
    uint32_t slack;
    uint32_t free_gpus; /* pool only */
    int64_t now;
};

/* ---- what fits, in both worlds ------------------------------------------------------------------ */

static uint32_t parts_of(const struct twin *twin, const struct naive_cluster *cluster,
                         uint32_t gpus, struct naive_part *parts)
{
    const struct naive_shape shape = naive_shape(cluster, gpus, false, twin->slack);
    struct naive_part all[NAIVE_NODES];
    const uint32_t count = naive_place(cluster, &shape, twin->pack, all);
    for (uint32_t p = 0; p < count; p++) parts[p] = all[p];
    return count;
}

static bool find_place(struct twin *twin, struct twin_job *job)
{
    if (twin->pool) return job->gpus <= twin->free_gpus;
    job->part_count = parts_of(twin, &twin->cluster, job->gpus, job->parts);
    return job->part_count > 0;
}

static void nodes_change(struct naive_cluster *cluster, const struct twin_job *job, int sign)
{
    for (uint32_t p = 0; p < job->part_count; p++)
        cluster->free_gpus[job->parts[p].node] += sign * (int)job->parts[p].gpus;
}

static void start(struct twin *twin, struct twin_job *job)
{
    job->state = STARTED;
    job->start = twin->now;
    job->end = twin->now + job->length;
    if (twin->pool)
        twin->free_gpus -= job->gpus;
    else
        nodes_change(&twin->cluster, job, -1);
}

static void end(struct twin *twin, struct twin_job *job)
{
    job->state = ENDED;
    if (twin->pool)
        twin->free_gpus += job->gpus;
    else
        nodes_change(&twin->cluster, job, +1);
}

/* ---- the reservation of the head ---------------------------------------------------------------- */

/* The earliest expected end after `after` of a running job, or INT64_MAX. */
static int64_t next_expected(const struct twin *twin, int64_t after)
{
    int64_t next = INT64_MAX;
    for (uint32_t j = 0; j < JOBS; j++) {
        const struct twin_job *job = &twin->jobs[j];
        const int64_t expected = job->start + job->estimate;
        if (job->state == STARTED && expected > after && expected < next) next = expected;
    }
    return next;
}

struct shadow_copy {
    int64_t at;
    uint32_t free_gpus;           /* pool: beside the head */
    struct naive_cluster cluster; /* nodes: all that is free then */
};

static void give_back(const struct twin *twin, int64_t expected, struct shadow_copy *shadow)
{
    for (uint32_t j = 0; j < JOBS; j++) {
        const struct twin_job *job = &twin->jobs[j];
        if (job->state != STARTED || job->start + job->estimate != expected) continue;
        shadow->free_gpus += job->gpus;
        nodes_change(&shadow->cluster, job, +1);
    }
}

static void find_shadow(const struct twin *twin, const struct twin_job *head,
                        struct shadow_copy *shadow)
{
    struct naive_part parts[NAIVE_NODES / 8];
    *shadow = (struct shadow_copy){ INT64_MIN, twin->free_gpus, twin->cluster };
    for (;;) {
        shadow->at = next_expected(twin, shadow->at);
        assert_true(shadow->at < INT64_MAX); /* nothing runs: the head would have started */
        give_back(twin, shadow->at, shadow);
        if (twin->pool ? head->gpus <= shadow->free_gpus
                       : parts_of(twin, &shadow->cluster, head->gpus, parts) > 0)
            break;
    }
    shadow->free_gpus -= head->gpus;
}

/* Whether a job that stays beyond the shadow leaves the head its place. */
static bool spares(const struct twin *twin, const struct twin_job *job, const struct twin_job *head,
                   const struct shadow_copy *shadow)
{
    if (twin->pool) return job->gpus <= shadow->free_gpus;
    struct naive_part parts[NAIVE_NODES / 8];
    struct naive_cluster then = shadow->cluster;
    nodes_change(&then, job, -1);
    return parts_of(twin, &then, head->gpus, parts) > 0;
}

/* ---- the pass and the clock --------------------------------------------------------------------- */

static void pass(struct twin *twin)
{
    uint32_t j = 0;
    for (; j < JOBS; j++) { /* jobs stand in submit order */
        if (twin->jobs[j].state != QUEUED) continue;
        if (!find_place(twin, &twin->jobs[j])) break;
        start(twin, &twin->jobs[j]);
    }
    const uint32_t head = j;
    if (!twin->easy || head == JOBS) return;
    for (j++; j < JOBS; j++) {
        struct twin_job *job = &twin->jobs[j];
        if (job->state != QUEUED || !find_place(twin, job)) continue;
        struct shadow_copy shadow;
        find_shadow(twin, &twin->jobs[head], &shadow);
        if (twin->now + job->estimate <= shadow.at || spares(twin, job, &twin->jobs[head], &shadow))
            start(twin, job);
    }
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
        for (uint32_t j = 0; j < JOBS; j++)
            if (twin->jobs[j].state == STARTED && twin->jobs[j].end == next)
                end(twin, &twin->jobs[j]);
        for (uint32_t j = 0; j < JOBS; j++)
            if (twin->jobs[j].state == NOT_YET && twin->jobs[j].submit == next)
                twin->jobs[j].state = QUEUED;
        pass(twin);
    }
    for (uint32_t j = 0; j < JOBS; j++) assert_int_equal(twin->jobs[j].state, ENDED);
}

/* ---- a random trace ------------------------------------------------------------------------------ */

static const struct {
    uint32_t nodes, gpus, leaf;
} machines[] = {
    { 16, 8, 16 }, { 12, 4, 12 }, { 20, 8, 4 }, { 9, 2, 9 }, { 30, 4, 5 }, { 6, 8, 6 }
};

/* Times in whole seconds from a small range, so that submissions and ends often fall together.
 * Estimates: exact, or up to five times too long; jobs that run past them are cut there or not. */
static void draw_trace(struct twin *twin, uint64_t seed, bool cut)
{
    const uint32_t g = twin->pool ? 1 : twin->cluster.gpus_per_node;
    const uint32_t all = twin->cluster.nodes * g;
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
                               : any_count(seed, draw + 4, 1, all);
        if (job->gpus > all) job->gpus = all;
        job->estimate = job->run;
        if (any(seed, draw + 5) > exact)
            job->estimate = (int64_t)ceil((double)job->run * any_between(seed, draw + 6, 1, 5));
        if (any(seed, draw + 7) < overrun) job->estimate = (job->run + 1) / 2;
        if (job->estimate < 1) job->estimate = 1;
        job->length = cut && job->estimate < job->run ? job->estimate : job->run;
    }
}

static void same_as_engine(struct twin *twin, bool cut)
{
    struct fixture fixture;
    fixture_init(&fixture, JOBS);
    fixture.scenario.order = twin->easy ? ORDER_EASY : ORDER_FCFS;
    fixture.scenario.shape = twin->pool ? SHAPE_FREE : SHAPE_MODEL;
    fixture.scenario.placement = twin->pack ? PLACE_PACK : PLACE_SPREAD;
    fixture.scenario.slack[0] = twin->slack;
    fixture.scenario.kill_at_limit = cut;
    struct layout *layout =
        fixture_layout(&fixture, "twin", twin->cluster.nodes, twin->cluster.gpus_per_node);
    /* A leaf of L servers: a non-blocking switch of 2 L g ports has L g down. */
    if (twin->cluster.nodes_per_leaf < twin->cluster.nodes)
        layout->fabric.link.switch_ports =
            2 * twin->cluster.nodes_per_leaf * twin->cluster.gpus_per_node;
    for (uint32_t j = 0; j < JOBS; j++) {
        const struct twin_job *job = &twin->jobs[j];
        fixture_job(&fixture, j, (double)job->submit, (double)job->run, (double)job->estimate,
                    job->gpus);
    }
    fixture_ready(&fixture);
    assert_int_equal(fixture.plan.variants[0].fabric.servers_per_leaf,
                     twin->cluster.nodes_per_leaf);
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
        assert_int_equal(rows[i].end, job->length < job->run ? END_KILLED : END_FINISHED);
    }
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* The number of the test: seed, and in the bits above it which twin and order. */
enum { POOL = 1 << 16, FCFS = 1 << 17 };

static void same_starts(void **state)
{
    const uint64_t number = rows_number(state), seed = number & 0xFFFF;
    const uint64_t draws = number * 1000003;
    static struct twin twin;
    twin = (struct twin){ .easy = !(number & FCFS), .pool = number & POOL, .pack = true };
    if (twin.pool) {
        const uint32_t gpus = any_count(draws, 0, 4, 64);
        twin.cluster =
            (struct naive_cluster){ .nodes = gpus, .gpus_per_node = 1, .nodes_per_leaf = gpus };
        twin.free_gpus = gpus;
    } else {
        const size_t m = seed % (sizeof machines / sizeof *machines);
        twin.cluster = (struct naive_cluster){ .nodes = machines[m].nodes,
                                               .gpus_per_node = machines[m].gpus,
                                               .nodes_per_leaf = machines[m].leaf };
        twin.pack = seed % 5 != 0;
        twin.slack = seed % 7 == 0 ? 1 : seed % 11 == 0 ? SLACK_ANY : 0;
        for (uint32_t node = 0; node < twin.cluster.nodes; node++)
            twin.cluster.free_gpus[node] = (int)twin.cluster.gpus_per_node;
    }
    const bool cut = seed % 3 != 0;
    draw_trace(&twin, draws, cut);
    simulate(&twin);
    same_as_engine(&twin, cut);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t seed = 1; seed <= SEEDS_EASY; seed++)
        rows_add(&rows, same_starts, (void *)(seed | POOL), "EASY on a pool, trace %u",
                 (unsigned)seed);
    for (uintptr_t seed = 1; seed <= SEEDS_EASY; seed++)
        rows_add(&rows, same_starts, (void *)seed, "EASY on nodes, trace %u", (unsigned)seed);
    for (uintptr_t seed = 1; seed <= SEEDS_FCFS; seed++)
        rows_add(&rows, same_starts, (void *)(seed | POOL | FCFS), "FCFS on a pool, trace %u",
                 (unsigned)seed);
    for (uintptr_t seed = 1; seed <= SEEDS_FCFS; seed++)
        rows_add(&rows, same_starts, (void *)(seed | FCFS), "FCFS on nodes, trace %u",
                 (unsigned)seed);
    return rows_run("easy_twin", &rows);
}
