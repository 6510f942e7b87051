/* test_periodic.c - jobs on common links against models/contention on one link, and against themselves: the same jobs
 * told in another way, at once or one after the other. */
#include "base/philox.h"
#include "tests/near.h"
#include "tests/rows.h"

#include "models/contention.h"
#include "network/periodic.h"

#include <math.h>
#include <string.h>

enum { SEEDS = 200 };

static double step_s(const struct periodic_job *job, double wait_s)
{
    const double exposed = job->alone_s + wait_s - job->hidden_s;
    return job->compute_s + (exposed > 0 ? exposed : 0);
}

/* One link, two to five jobs that can each fill it: the three estimates of MODELS 4.4. */
static void one_link_as_the_model(void **state)
{
    const uint64_t seed = rows_number(state);
    const double capacity = 1e9 * (1 + 40 * any(seed, 0));
    const uint32_t count = 2 + (uint32_t)(any(seed, 1) * 4);
    struct link_job model[5];
    struct periodic *net = periodic_create();
    assert_true(net && periodic_link(net, capacity));
    struct periodic_job jobs[5];
    for (uint32_t i = 0; i < count; i++) {
        const double *const u = (double[]){ any(seed, 10 + i), any(seed, 20 + i), any(seed, 30 + i),
                                            any(seed, 40 + i) };
        model[i] = (struct link_job){ .compute_s = 0.1 + u[0],
                                      .hidden_s = seed % 2 ? 0 : u[1] * (0.1 + u[0]),
                                      .step_bytes = 1e8 + 2e10 * u[2],
                                      .flows = 1 + floor(8 * u[3]) };
        const double alone_s = model[i].step_bytes / capacity;
        jobs[i] = (struct periodic_job){
            model[i].compute_s, model[i].hidden_s, alone_s, alone_s, 0, NULL
        };
        const struct link_use use = { 0, model[i].step_bytes, model[i].flows };
        assert_int_equal(periodic_add(net, &jobs[i], &use, 1), i);
    }
    const uint32_t *rows;
    assert_int_equal(periodic_solve(net, &rows), count);
    static const enum contention_model models[ESTIMATES] = { [ESTIMATE_LOWER] = CONTENTION_LOWER,
                                                             [ESTIMATE_MEAN] = CONTENTION_MEAN,
                                                             [ESTIMATE_UPPER] = CONTENTION_UPPER };
    for (int e = 0; e < ESTIMATES; e++) {
        double want[5];
        contended_steps(models[e], capacity, model, count, want);
        for (uint32_t i = 0; i < count; i++) {
            const struct periodic_wait *wait = periodic_wait(net, i);
            CHECK_NEAR(step_s(&jobs[i], wait->others_s[e]), want[i], 2e-9);
            CHECK_NEAR(periodic_share(net, i, e), 1 - step_s(&jobs[i], 0) / want[i], 1e-7);
            assert_true(wait->own_s == 0);
        }
    }
    periodic_destroy(net);
}

/* ---- many links ------------------------------------------------------------------------------ */

enum { LINKS = 12, JOBS = 24, CHANGES = 150 };

struct held {
    bool in;
    uint32_t row, count;
    struct periodic_job job;
    struct link_use uses[4];
};

static void draw_job(struct held *held, uint64_t seed, uint64_t number, const double *capacity)
{
    const double u = any(seed, number), bytes = 1e8 + 2e10 * any(seed, number + 1);
    held->count = 0;
    double wire_s = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t link = (uint32_t)(any(seed, number + 2 + i) * LINKS);
        bool twice = false;
        for (uint32_t k = 0; k < held->count; k++) twice |= held->uses[k].link == link;
        if (twice) continue;
        const double part = 0.2 + any(seed, number + 6 + i);
        held->uses[held->count++] =
            (struct link_use){ link, bytes * part, 1 + floor(4 * any(seed, number + 10 + i)) };
        wire_s = fmax(wire_s, bytes * part / capacity[link]);
    }
    wire_s *= 1 + any(seed, number + 14); /* bound inside its servers */
    held->job = (struct periodic_job){ 0.1 + u,
                                       (0.1 + u) * any(seed, number + 15),
                                       wire_s + 0.01 * any(seed, number + 16),
                                       wire_s,
                                       any(seed, number + 17) < 0.2 ? 1.3 * wire_s : 0,
                                       NULL };
    held->in = true;
}

static struct periodic *net_of(const double *capacity)
{
    struct periodic *net = periodic_create();
    assert_non_null(net);
    for (uint32_t link = 0; link < LINKS; link++) assert_true(periodic_link(net, capacity[link]));
    return net;
}

/* After each change: the waits of all jobs are those of a net that is told the jobs of now only, to 1e-9 of the
 * communication; no link carries more than it can. */
static void compare(const struct periodic *net, const struct held *held, const double *capacity)
{
    struct periodic *fresh = net_of(capacity);
    uint32_t rows[JOBS];
    const uint32_t *ignored;
    for (uint32_t j = 0; j < JOBS; j++)
        if (held[j].in) rows[j] = periodic_add(fresh, &held[j].job, held[j].uses, held[j].count);
    periodic_solve(fresh, &ignored);
    for (uint32_t j = 0; j < JOBS; j++) {
        if (!held[j].in) continue;
        const struct periodic_wait *is = periodic_wait(net, held[j].row);
        const struct periodic_wait *want = periodic_wait(fresh, rows[j]);
        const double t = held[j].job.alone_s;
        CHECK(fabs(is->own_s - want->own_s) <= 1e-9 * t, "own %g, want %g", is->own_s, want->own_s);
        for (int e = 0; e < ESTIMATES; e++)
            CHECK(fabs(is->others_s[e] - want->others_s[e]) <= 3e-9 * (t + want->others_s[e]),
                  "estimate %d: %.12g, want %.12g", e, is->others_s[e], want->others_s[e]);
        assert_true(is->others_s[ESTIMATE_MEAN] <=
                    fmax(is->others_s[ESTIMATE_UPPER], is->others_s[ESTIMATE_LOWER]));
    }
    /* No estimate has more on a link than it carries (MODELS 11.3). */
    for (int e = 0; e < ESTIMATES; e++) {
        double load[LINKS] = { 0 };
        for (uint32_t j = 0; j < JOBS; j++)
            for (uint32_t i = 0; held[j].in && i < held[j].count; i++)
                load[held[j].uses[i].link] +=
                    held[j].uses[i].bytes * periodic_rate(net, held[j].row, (enum estimate)e);
        for (uint32_t link = 0; link < LINKS; link++)
            CHECK(load[link] <= (1 + 3e-9) * capacity[link], "estimate %d: %g on %g", e, load[link],
                  capacity[link]);
    }
    periodic_destroy(fresh);
}

static void changes_one_by_one(void **state)
{
    const uint64_t seed = rows_number(state);
    double capacity[LINKS], now[LINKS];
    for (uint32_t link = 0; link < LINKS; link++)
        now[link] = capacity[link] = 1e9 * (5 + 40 * any(seed, 100 + link));
    struct periodic *net = net_of(capacity);
    static struct held held[JOBS];
    memset(held, 0, sizeof held);
    for (uint64_t change = 0; change < CHANGES; change++) {
        const uint64_t number = 1000 + 40 * change;
        struct held *one = &held[(uint32_t)(any(seed, number) * JOBS)];
        if (any(seed, number + 30) < 0.1) { /* a cable loses lanes, or gets them back */
            const uint32_t link = (uint32_t)(any(seed, number + 31) * LINKS);
            now[link] = capacity[link] * (any(seed, number + 32) < 0.5 ? 0.5 : 1);
            periodic_set_capacity(net, link, now[link]);
        } else if (one->in) {
            periodic_remove(net, one->row);
            one->in = false;
        } else {
            draw_job(one, seed, number + 1, capacity);
            one->row = periodic_add(net, &one->job, one->uses, one->count);
        }
        const uint32_t *rows;
        if (any(seed, number + 33) < 0.7) {
            periodic_solve(net, &rows);
            compare(net, held, now);
        }
    }
    periodic_destroy(net);
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* Three jobs of 4 B/s at most on a link of 12: full, and nobody waits. A fourth slows all, and is forgotten when it leaves. */
static void a_link_that_cannot_be_over_asked_slows_nobody(void **state)
{
    (void)state;
    struct periodic *net = periodic_create();
    assert_true(net && periodic_link(net, 12));
    const struct periodic_job job = { 1, 0, 1, 1, 0, NULL };
    const struct link_use use = { 0, 4, 1 };
    const uint32_t *rows;
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(periodic_add(net, &job, &use, 1), i);
    periodic_solve(net, &rows);
    for (uint32_t i = 0; i < 3; i++)
        for (int e = 0; e < ESTIMATES; e++) assert_true(periodic_wait(net, i)->others_s[e] == 0);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_NEAR(periodic_rate(net, i, ESTIMATE_MEAN), 1 / 2.0, 1e-12);
        assert_int_equal(periodic_fullest(net, i), PERIODIC_NONE);
    }
    assert_int_equal(periodic_add(net, &job, &use, 1), 3);
    periodic_solve(net, &rows);
    /* Each gets 3 of its 4 B/s: 4/3 s. At random times 1 + 3 d of a third of a second, d = t/(1 + t): below 1. */
    CHECK_NEAR(periodic_wait(net, 0)->others_s[ESTIMATE_UPPER], 1 / 3.0, 1e-9);
    assert_true(periodic_wait(net, 0)->others_s[ESTIMATE_MEAN] == 0);
    assert_int_equal(periodic_fullest(net, 0), PERIODIC_NONE);
    periodic_remove(net, 3);
    periodic_solve(net, &rows);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(periodic_wait(net, i)->others_s[ESTIMATE_MEAN] == 0);
    periodic_destroy(net);
}

/* Half the capacity doubles the wire time of a job alone, and that is its own wait. */
static void a_slow_link_is_the_jobs_own_wait(void **state)
{
    (void)state;
    struct periodic *net = periodic_create();
    assert_true(net && periodic_link(net, 10) && periodic_link(net, 10));
    const struct periodic_job job = { 1, 0.5, 0.75, 0.6, 0, NULL };
    const struct link_use uses[] = { { 0, 6, 1 }, { 1, 6, 1 } };
    const uint32_t *rows;
    assert_int_equal(periodic_add(net, &job, uses, 2), 0);
    periodic_solve(net, &rows);
    assert_true(periodic_wait(net, 0)->own_s == 0);
    periodic_set_capacity(net, 1, 5);
    assert_int_equal(periodic_solve(net, &rows), 1);
    CHECK_NEAR(periodic_wait(net, 0)->own_s, 0.6, 1e-12);
    for (int e = 0; e < ESTIMATES; e++) assert_true(periodic_wait(net, 0)->others_s[e] == 0);
    periodic_set_capacity(net, 1, 10);
    periodic_solve(net, &rows);
    assert_true(periodic_wait(net, 0)->own_s == 0);
    periodic_destroy(net);
}

/* A collective of 6 bytes and a checkpoint of 20 over a link of 10 B/s, each of which can fill it: the job alone waits for
 * neither. Another job's collective meets both; at random times with duties by hand. */
static void rows_of_one_job_do_not_meet(void **state)
{
    (void)state;
    struct periodic *net = periodic_create();
    assert_true(net && periodic_link(net, 10));
    const uint32_t *rows;
    const struct periodic_job steps = { 1, 0, 0.6, 0.6, 0, NULL }, saves = { 18, 0, 2, 2, 0, NULL };
    const struct link_use collective = { 0, 6, 1 }, checkpoint = { 0, 20, 1 };
    assert_int_equal(periodic_add(net, &steps, &collective, 1), 0);
    assert_int_equal(periodic_add(net, &saves, &checkpoint, 1), 1);
    periodic_exclude(net, 0, 1);
    periodic_solve(net, &rows);
    for (uint32_t i = 0; i < 2; i++)
        for (int e = 0; e < ESTIMATES; e++) assert_true(periodic_wait(net, i)->others_s[e] == 0);
    assert_int_equal(periodic_add(net, &steps, &collective, 1), 2);
    periodic_solve(net, &rows);
    double t = 0.6, save = 2, other = 0.6; /* the three by their equations, until they stand */
    for (int round = 0; round < 1000; round++) {
        t = 0.6 * (1 + other / (1 + other));
        save = 2 * (1 + other / (1 + other));
        other = 0.6 * (1 + t / (1 + t) + save / (18 + save));
    }
    CHECK_NEAR(periodic_wait(net, 0)->others_s[ESTIMATE_MEAN], t - 0.6, 1e-9);
    CHECK_NEAR(periodic_wait(net, 1)->others_s[ESTIMATE_MEAN], save - 2, 1e-9);
    CHECK_NEAR(periodic_wait(net, 2)->others_s[ESTIMATE_MEAN], other - 0.6, 1e-9);
    /* The first one shares with the other job only: half of the link. */
    CHECK_NEAR(periodic_wait(net, 0)->others_s[ESTIMATE_UPPER], 0.6, 1e-9);
    periodic_remove(net, 1);
    periodic_remove(net, 2);
    periodic_solve(net, &rows);
    assert_true(periodic_wait(net, 0)->others_s[ESTIMATE_MEAN] == 0);
    periodic_destroy(net);
}

/* Streams take 4 of 10 B/s, 1 of them the job's own: 6 bytes take 6/9 s alone and 1 s in all; never more than half is taken. */
static void a_stream_is_waited_for(void **state)
{
    (void)state;
    struct periodic *net = periodic_create();
    assert_true(net && periodic_link(net, 10));
    const uint32_t *rows;
    const struct periodic_job job = { 1, 0, 0.6, 0.6, 0, NULL };
    const struct link_use use = { 0, 6, 1 };
    assert_int_equal(periodic_add(net, &job, &use, 1), 0);
    periodic_set_stream(net, 0, 4);
    assert_true(periodic_set_own_streams(net, 0, (const double[]){ 1 }));
    assert_int_equal(periodic_solve(net, &rows), 1);
    const struct periodic_wait *wait = periodic_wait(net, 0);
    CHECK_NEAR(wait->own_s, 6 / 9.0 - 0.6, 1e-9);
    CHECK_NEAR(wait->others_s[ESTIMATE_MEAN], 1 - 6 / 9.0, 1e-9);
    CHECK_NEAR(wait->others_s[ESTIMATE_UPPER], 1 - 6 / 9.0, 1e-9);
    /* On average 6 B in 1.67 s and the stream fit: perfectly interleaved nothing is lost. */
    assert_true(wait->others_s[ESTIMATE_LOWER] == 0);
    assert_int_equal(periodic_fullest(net, 0), 0);
    periodic_set_stream(net, 0, 8);
    periodic_solve(net, &rows);
    CHECK_NEAR(wait->own_s + wait->others_s[ESTIMATE_MEAN], 1.2 - 0.6, 1e-9);
    periodic_set_stream(net, 0, 0);
    assert_true(periodic_set_own_streams(net, 0, (const double[]){ 0 }));
    periodic_solve(net, &rows);
    assert_true(wait->own_s == 0 && wait->others_s[ESTIMATE_MEAN] == 0);
    periodic_destroy(net);
}

/* A job that pauses in each step waits, and makes others wait, as one that computes for so much longer. */
static void a_pause_is_as_a_longer_step(void **state)
{
    (void)state;
    struct periodic *told = periodic_create(), *anew = periodic_create();
    assert_true(told && anew && periodic_link(told, 10) && periodic_link(anew, 10));
    const struct periodic_job job = { 1, 0, 0.6, 0.6, 0, NULL },
                              slow = { 30, 0, 0.6, 0.6, 0, NULL };
    const struct link_use use = { 0, 6, 1 };
    const uint32_t *rows;
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(periodic_add(told, &job, &use, 1), i);
        assert_int_equal(periodic_add(anew, i ? &slow : &job, &use, 1), i);
    }
    periodic_solve(told, &rows);
    assert_true(periodic_set_pause(told, 1, 29));
    assert_int_equal(periodic_solve(told, &rows), 2);
    periodic_solve(anew, &rows);
    for (uint32_t i = 0; i < 2; i++)
        for (int e = 0; e < ESTIMATES; e++)
            CHECK_NEAR(periodic_wait(told, i)->others_s[e], periodic_wait(anew, i)->others_s[e],
                       1e-9);
    assert_true(periodic_wait(told, 0)->others_s[ESTIMATE_MEAN] < 0.6 * 0.05);
    periodic_destroy(told);
    periodic_destroy(anew);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t seed = 1; seed <= SEEDS; seed++)
        rows_add(&rows, one_link_as_the_model, (void *)seed, "one link, seed %u", (unsigned)seed);
    for (uintptr_t seed = 1; seed <= SEEDS; seed++)
        rows_add(&rows, changes_one_by_one, (void *)seed, "changes, seed %u", (unsigned)seed);
    rows_add(&rows, a_link_that_cannot_be_over_asked_slows_nobody, NULL, "pruned");
    rows_add(&rows, a_slow_link_is_the_jobs_own_wait, NULL, "slow link");
    rows_add(&rows, rows_of_one_job_do_not_meet, NULL, "rows of one job");
    rows_add(&rows, a_stream_is_waited_for, NULL, "streams");
    rows_add(&rows, a_pause_is_as_a_longer_step, NULL, "pause");
    return rows_run("periodic", &rows);
}
