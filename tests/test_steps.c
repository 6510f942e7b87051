/* test_steps.c - the estimates of network/periodic against jobs that are stepped one by one: each computes for a time that varies,
 * then sends its bytes over links that it shares with those who send at that moment (MODELS 4.2, 4.4). */
#include "tests/near.h"
#include "tests/rows.h"

#include "base/exactmath.h"
#include "network/flow_net.h"
#include "network/periodic.h"

enum { JOBS_MOST = 3, LINKS = 3, STEPS = 20000 };

/* b: bytes of a step on each link of `links` (bits). */
struct stepper {
    double compute_s, hidden_s, bytes, flows;
    uint32_t links;
};

static const double CAPACITY = 50e9;

/* within: how far the mean may be off. Of jobs with unequal numbers of flows it waits too long for those with more: these
 * are gone again the sooner. */
static const struct {
    const char *name;
    double within;
    uint32_t count;
    struct stepper jobs[JOBS_MOST];
} cases[] = {
    { "two alike", 0.06, 2, { { 0.4, 0, 5e9, 1, 1 }, { 0.4, 0, 5e9, 1, 1 } } },
    { "two that talk a lot", 0.06, 2, { { 0.1, 0, 5e9, 1, 1 }, { 0.1, 0, 5e9, 1, 1 } } },
    { "two that hide a part", 0.06, 2, { { 0.3, 0.1, 10e9, 2, 1 }, { 0.6, 0.15, 10e9, 2, 1 } } },
    { "two that hide a part, with unequal flows",
      0.15,
      2,
      { { 0.3, 0.1, 10e9, 2, 1 }, { 0.6, 0.15, 10e9, 1, 1 } } },
    { "one long, one short", 0.06, 2, { { 2.0, 0, 25e9, 8, 1 }, { 0.13, 0, 2.5e9, 8, 1 } } },
    { "three alike",
      0.06,
      3,
      { { 0.6, 0, 5e9, 8, 1 }, { 0.6, 0, 5e9, 8, 1 }, { 0.6, 0, 5e9, 8, 1 } } },
    { "three unlike",
      0.06,
      3,
      { { 0.5, 0, 5e9, 8, 1 }, { 0.7, 0.1, 10e9, 8, 1 }, { 1.3, 0, 15e9, 8, 1 } } },
    { "three unlike, with unequal flows",
      0.15,
      3,
      { { 0.5, 0, 5e9, 8, 1 }, { 0.7, 0.1, 10e9, 4, 1 }, { 1.3, 0, 15e9, 8, 1 } } },
    { "a leaf that two others meet on different links",
      0.06,
      3,
      { { 0.5, 0, 8e9, 8, 3 }, { 0.4, 0, 6e9, 8, 1 }, { 0.9, 0, 9e9, 8, 2 } } },
};
static const double jitters[] = { 0.05, 0.30 };

/* A job computes until next_s, or sends what is left. */
struct state {
    double began_s, next_s, left, computed_s;
    bool sends;
    uint32_t flow, steps;
};

static uint32_t uses_of(const struct stepper *job, struct flow_use *uses)
{
    uint32_t count = 0;
    for (uint32_t link = 0; link < LINKS; link++)
        if (job->links >> link & 1) uses[count++] = (struct flow_use){ link, 1 };
    return count;
}

/* Lognormal of mean 1. */
static double varied(uint64_t seed, uint32_t job, uint32_t step, double jitter)
{
    const double sigma = sqrt(log1p(jitter * jitter));
    return inv_lognormal(stream_uniform(seed, job, step), -sigma * sigma / 2, sigma);
}

/* A step begins: bytes go out hidden_s before its compute ends; it is over when both are. */
static void begin_step(struct state *state, const struct stepper *job, uint64_t seed,
                       uint32_t number, double jitter, double now_s)
{
    const double compute_s = job->compute_s * varied(seed, number, state->steps, jitter);
    const double before_s = compute_s - job->hidden_s;
    state->computed_s = now_s + compute_s;
    state->next_s = now_s + (before_s > 0 ? before_s : 0);
    state->sends = false;
}

/* Mean time of a step of each job, by stepping. */
static void step_all(uint64_t row, double jitter, double *mean_s)
{
    const uint64_t seed = 11 + row;
    const uint32_t count = cases[row].count;
    struct flow_net *net = flow_net_create();
    for (uint32_t link = 0; link < LINKS; link++) flow_net_link(net, CAPACITY);
    struct state states[JOBS_MOST] = { 0 };
    const struct stepper *jobs = cases[row].jobs;
    for (uint32_t j = 0; j < count; j++) begin_step(&states[j], &jobs[j], seed, j, jitter, 0);
    double now_s = 0;
    while (states[0].steps < STEPS) {
        const uint32_t *ignored;
        flow_net_solve(net, &ignored);
        double at_s = INFINITY;
        for (uint32_t j = 0; j < count; j++) {
            const double rate =
                states[j].sends && states[j].left > 0 ? flow_net_rate(net, states[j].flow) : 0;
            if (rate > 0) states[j].next_s = now_s + states[j].left / rate;
            if (states[j].next_s < at_s) at_s = states[j].next_s;
        }
        for (uint32_t j = 0; j < count; j++)
            if (states[j].sends && states[j].left > 0)
                states[j].left -= flow_net_rate(net, states[j].flow) * (at_s - now_s);
        now_s = at_s;
        for (uint32_t j = 0; j < count; j++) {
            struct state *state = &states[j];
            if (state->next_s > now_s) continue;
            if (!state->sends) {
                struct flow_use uses[LINKS];
                const uint32_t links = uses_of(&jobs[j], uses);
                state->sends = true;
                state->left = jobs[j].bytes;
                state->flow = flow_net_add(net, jobs[j].flows, INFINITY, uses, links);
                state->next_s = INFINITY;
                continue;
            }
            if (state->left > 0 || state->flow != FLOW_NONE) flow_net_remove(net, state->flow);
            state->left = 0;
            state->flow = FLOW_NONE;
            if (state->computed_s > now_s) {
                state->next_s = state->computed_s;
                continue;
            }
            state->steps++;
            begin_step(state, &jobs[j], seed, j, jitter, now_s);
        }
    }
    for (uint32_t j = 0; j < count; j++) mean_s[j] = now_s / states[j].steps;
    flow_net_destroy(net);
}

static void estimate_all(uint64_t row, double step_s[JOBS_MOST][ESTIMATES])
{
    struct periodic *net = periodic_create();
    for (uint32_t link = 0; link < LINKS; link++) assert_true(periodic_link(net, CAPACITY));
    for (uint32_t j = 0; j < cases[row].count; j++) {
        const struct stepper *job = &cases[row].jobs[j];
        const double alone_s = job->bytes / CAPACITY;
        struct link_use uses[LINKS];
        uint32_t links = 0;
        for (uint32_t link = 0; link < LINKS; link++)
            if (job->links >> link & 1)
                uses[links++] = (struct link_use){ link, job->bytes, job->flows };
        periodic_add(
            net, &(struct periodic_job){ job->compute_s, job->hidden_s, alone_s, alone_s, 0, NULL },
            uses, links);
    }
    const uint32_t *ignored;
    periodic_solve(net, &ignored);
    for (uint32_t j = 0; j < cases[row].count; j++)
        for (int e = 0; e < ESTIMATES; e++) {
            const struct stepper *job = &cases[row].jobs[j];
            const double exposed =
                job->bytes / CAPACITY + periodic_wait(net, j)->others_s[e] - job->hidden_s;
            step_s[j][e] = job->compute_s + (exposed > 0 ? exposed : 0);
        }
    periodic_destroy(net);
}

static void the_mean_is_near_the_steps(void **state)
{
    const uint64_t number = rows_number(state), row = number / 2;
    double is[JOBS_MOST], estimate[JOBS_MOST][ESTIMATES];
    step_all(row, jitters[number % 2], is);
    estimate_all(row, estimate);
    for (uint32_t j = 0; j < cases[row].count; j++) {
        const double mean = estimate[j][ESTIMATE_MEAN];
        CHECK(mean >= estimate[j][ESTIMATE_LOWER] && mean <= estimate[j][ESTIMATE_UPPER],
              "job %u: mean %g outside %g .. %g", j, mean, estimate[j][ESTIMATE_LOWER],
              estimate[j][ESTIMATE_UPPER]);
        CHECK(fabs(mean / is[j] - 1) < cases[row].within, "job %u: %g s, stepped %g s", j, mean,
              is[j]);
    }
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t number = 0; number < 2 * sizeof cases / sizeof *cases; number++)
        rows_add(&rows, the_mean_is_near_the_steps, (void *)number, "%s, %g %%",
                 cases[number / 2].name, 100 * jitters[number % 2]);
    return rows_run("steps", &rows);
}
