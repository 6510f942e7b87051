/* stat_rows.h - rows of kind `stat`: whole runs against a closed form (MODELS 0.6, 10.7).
 *
 * A function answers one replicate: it reads the inputs of the row and puts every output it has. Twenty
 * replicates are run, then more until the standard error of their mean is at most half of the row's tolerance, or
 * REPLICATES_MOST. The row is met when the mean is within its tolerance or within four standard errors. Rows that
 * ask for other outputs of the same run share it. */
#ifndef TESTS_STAT_ROWS_H
#define TESTS_STAT_ROWS_H

#include "failure_runs.h"
#include "queue_runs.h"

#include "models/straggler.h"
#include "tests/model_rows.h"

enum { REPLICATES_LEAST = 20, REPLICATES_MOST = 100, STAT_OUTPUTS = 12 };

/* ---- one replicate -------------------------------------------------------------------------------- */

struct replicate {
    uint64_t number;
    struct query *query; /* the inputs */
    struct {
        char name[16];
        double value;
    } outputs[STAT_OUTPUTS];
    unsigned count;
};

__attribute__((format(printf, 3, 4))) static inline void
stat_put(struct replicate *replicate, double value, const char *format, ...)
{
    ASSERT(replicate->count < STAT_OUTPUTS);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(replicate->outputs[replicate->count].name, sizeof replicate->outputs[0].name, format,
              arguments);
    va_end(arguments);
    replicate->outputs[replicate->count++].value = value;
}

/* Time is counted in hours of which one is the mean service. `memory` services are what a queue takes to forget
 * its start: 20 of them are the warm-up, 480 are counted. */
static inline void time_of_queue(struct queue *queue, double service, double memory)
{
    queue->unit_s = 3600 / service;
    queue->warmup_h = (int64_t)ceil(20 * memory);
    queue->horizon_h = queue->warmup_h + (int64_t)ceil(480 * memory);
}

/* The slowest mode of M/M/c decays with (sqrt(c mu) - sqrt(lambda))^2, here in units of mu. */
static inline double queue_memory(double erlang, double servers)
{
    const double gap = sqrt(servers) - sqrt(erlang);
    return gap > 0 ? fmax(1, 1 / (gap * gap)) : 1;
}

static inline void stat_queue(struct replicate *replicate, const struct queue *queue)
{
    const struct outcome outcome = run_queue(queue, replicate->number);
    stat_put(replicate, outcome.wait, "Wq");
    stat_put(replicate, outcome.response, "W");
    stat_put(replicate, outcome.system, "L");
    stat_put(replicate, outcome.system - outcome.busy, "Lq"); /* of jobs of one GPU */
    stat_put(replicate, outcome.busy / (queue->servers * queue->gpus_per_server), "rho");
}

static inline void stat_mmc(struct replicate *replicate, double lambda, double mu, uint32_t servers)
{
    const double erlang = lambda / mu;
    if (!(erlang > 0 && erlang < servers)) {
        input_problem(replicate->query, "lam: no steady state");
        return;
    }
    struct queue queue = { .servers = servers,
                           .gpus_per_server = 1,
                           .service = { 1 / mu, 1 },
                           .loads = { { 1, lambda } },
                           .load_count = 1 };
    time_of_queue(&queue, 1 / mu, queue_memory(erlang, servers));
    stat_queue(replicate, &queue);
}

static inline void s_mm1(struct replicate *replicate)
{
    stat_mmc(replicate, in(replicate->query, "lam"), in(replicate->query, "mu"), 1);
}

static inline void s_mmc(struct replicate *replicate)
{
    stat_mmc(replicate, in(replicate->query, "lam"), in(replicate->query, "mu"),
             in_u32(replicate->query, "c"));
}

static inline void s_mg1(struct replicate *replicate)
{
    struct query *q = replicate->query;
    const double lambda = in(q, "lam"), service = in(q, "ES"), cv2 = in(q, "cs2");
    if (!(lambda * service > 0 && lambda * service < 1)) {
        input_problem(q, "lam: no steady state");
        return;
    }
    struct queue queue = { .servers = 1,
                           .gpus_per_server = 1,
                           .service = { service, cv2 },
                           .loads = { { 1, lambda } },
                           .load_count = 1 };
    time_of_queue(&queue, service, fmax(100, queue_memory(lambda * service, 1) * (1 + cv2)));
    stat_queue(replicate, &queue);
}

/* So many servers that nobody ever waits. */
static inline void s_mginf(struct replicate *replicate)
{
    struct query *q = replicate->query;
    const double lambda = in(q, "lam"), service = in(q, "ES"), jobs = lambda * service;
    const uint32_t gpus = in_u32(q, "g");
    if (gpus < 1 || !(jobs > 0 && jobs < 1e5)) {
        input_problem(q, "g or lam * ES");
        return;
    }
    struct queue queue = { .servers = (uint32_t)(jobs + 10 * sqrt(jobs) + 20),
                           .gpus_per_server = gpus,
                           .service = { service, 1.5 },
                           .loads = { { gpus, lambda } },
                           .load_count = 1 };
    time_of_queue(&queue, service, 1);
    const struct outcome outcome = run_queue(&queue, replicate->number);
    stat_put(replicate, outcome.busy, "gpus");
    stat_put(replicate, outcome.system, "jobs");
}

/* One pool: the engine's servers hold at most 32 GPUs, so it is servers of one GPU and jobs of any shape. */
static inline void s_loss(struct replicate *replicate)
{
    struct query *q = replicate->query;
    double gpus[LIST_MAX], erlang[LIST_MAX];
    const size_t count = in_parts(q, "classes", ":", 0, gpus);
    const size_t loads = in_parts(q, "classes", ":", 1, erlang);
    struct queue queue = {
        .servers = in_u32(q, "C"), .gpus_per_server = 1, .service = { 1, 1 }, .loss = true
    };
    if (count != loads || count > LOADS_MOST || queue.servers == 0) {
        input_problem(q, "classes");
        return;
    }
    queue.load_count = (uint32_t)count;
    for (size_t l = 0; l < count; l++)
        queue.loads[l] = (struct load){ (uint32_t)gpus[l], erlang[l] };
    time_of_queue(&queue, 1, 2);
    const struct outcome outcome = run_queue(&queue, replicate->number);
    for (size_t l = 0; l < count; l++)
        stat_put(replicate, outcome.refused[l], "B_%u", queue.loads[l].gpus);
    stat_put(replicate, outcome.busy, "busy");
}

static inline void s_straggler(struct replicate *replicate)
{
    enum { STEPS = 1000 };
    const uint32_t count = in_u32(replicate->query, "n");
    const double sigma = in(replicate->query, "sigma");
    const uint64_t key = stream_key(1, replicate->number, "noise.step");
    double sum = 0;
    if (count < 1) {
        input_problem(replicate->query, "n");
        return;
    }
    for (uint64_t step = 0; step < STEPS; step++) sum += straggler_sample(key, step, count, sigma);
    stat_put(replicate, sum / STEPS, "factor");
}

static inline void s_ckpt(struct replicate *replicate)
{
    struct query *q = replicate->query;
    const struct checkpoint_plan plan = { in(q, "tau"), in(q, "C"), in(q, "R"), in(q, "D"),
                                          in(q, "M") };
    struct mean wall = { 0 }, lost = { 0 };
    run_checkpoints(&plan, in(q, "W"), (uint32_t)replicate->number, &wall, &lost);
    stat_put(replicate, value(&wall), "T");
}

/* Two causes: one strikes the GPU of a server, one the server. */
static inline void s_avail(struct replicate *replicate)
{
    struct query *q = replicate->query;
    double rates[LIST_MAX], repairs[LIST_MAX];
    const size_t count = in_list(q, "rates", rates);
    if (in_list(q, "repairs", repairs) != count || count < 1 || count > 2) {
        input_problem(q, "rates: one or two causes");
        return;
    }
    const bool two = count == 2;
    const struct down_layout layout = {
        1, 1, rates[0], two ? rates[1] : 0, repairs[0], two ? repairs[1] : 0, 2e4 / rates[0]
    };
    stat_put(replicate, 1 - run_down(&layout, replicate->number + 1).mean, "A");
}

static inline void s_layout(struct replicate *replicate)
{
    struct query *q = replicate->query;
    const uint32_t gpus = in_u32(q, "g");
    if (gpus < 1 || in_u32(q, "G") % gpus != 0) {
        input_problem(q, "g");
        return;
    }
    const struct down_layout layout = {
        in_u32(q, "G") / gpus, gpus,       in(q, "lam_gpu"), in(q, "lam_srv"), in(q, "rep_gpu"),
        in(q, "rep_srv"),      20 * 8766.0
    };
    const struct down_outcome outcome = run_down(&layout, replicate->number + 1);
    stat_put(replicate, outcome.mean, "down_mean");
    stat_put(replicate, sqrt(outcome.square - outcome.mean * outcome.mean), "down_sd");
}

static inline void s_renewals(struct replicate *replicate)
{
    struct query *q = replicate->query;
    stat_put(replicate,
             run_renewals(400, in(q, "k"), in(q, "eta"), in(q, "T"), replicate->number + 1),
             "count");
}

/* Flows thrown on trunks: the fullest, mean of a thousand throws. */
static inline void s_ecmp(struct replicate *replicate)
{
    enum { THROWS = 1000, TRUNKS_MOST = 4096 };
    const uint32_t flows = in_u32(replicate->query, "n"), trunks = in_u32(replicate->query, "k");
    if (flows < 1 || trunks < 1 || trunks > TRUNKS_MOST) {
        input_problem(replicate->query, "n or k");
        return;
    }
    const uint64_t key = stream_key(1, replicate->number, "ecmp");
    double sum = 0;
    for (uint64_t throw = 0; throw < THROWS; throw ++) {
        uint32_t load[TRUNKS_MOST] = { 0 }, fullest = 0;
        for (uint32_t flow = 0; flow < flows; flow++) {
            const uint32_t trunk = (uint32_t)(stream_draw(key, throw, flow).x1 % trunks);
            if (++load[trunk] > fullest) fullest = load[trunk];
        }
        sum += fullest;
    }
    stat_put(replicate, sum / THROWS, "emax");
    const uint32_t even = (flows + trunks - 1) / trunks;
    stat_put(replicate, even / (sum / THROWS), "eff");
}

static const struct stat_func {
    const char *name;
    void (*ask)(struct replicate *replicate);
} stat_funcs[] = {
    { "sim_mm1", s_mm1 },           { "sim_mmc", s_mmc },     { "sim_mg1", s_mg1 },
    { "sim_mginf", s_mginf },       { "sim_loss", s_loss },   { "sim_straggler", s_straggler },
    { "sim_ckpt", s_ckpt },         { "sim_avail", s_avail }, { "sim_layout", s_layout },
    { "sim_renewals", s_renewals },
    { "sim_ecmp", s_ecmp },
};

/* NULL when no run of that name is built. */
static inline const struct stat_func *stat_func_find(const char *name)
{
    for (size_t i = 0; i < sizeof stat_funcs / sizeof *stat_funcs; i++)
        if (strcmp(stat_funcs[i].name, name) == 0) return &stat_funcs[i];
    return NULL;
}

/* ---- all replicates of a row ---------------------------------------------------------------------- */

/* Replicates of the last function and inputs: the rows of one run stand together. */
struct stat_runs {
    char func[32], inputs[256];
    struct replicate replicates[REPLICATES_MOST];
    unsigned count;
};

struct stat_answer {
    double mean, error; /* standard error of the mean */
    unsigned replicates;
};

static inline bool stat_value(const struct replicate *replicate, const char *output,
                              double *value_out)
{
    for (unsigned i = 0; i < replicate->count; i++) {
        if (strcmp(replicate->outputs[i].name, output) != 0) continue;
        *value_out = replicate->outputs[i].value;
        return true;
    }
    return false;
}

/* False with a problem noted when the run has no such output or cannot read its inputs. */
static inline bool stat_answer(const struct stat_func *func, struct query *query,
                               struct stat_answer *answer)
{
    static struct stat_runs runs;
    const struct row *row = query->row;
    if (strcmp(runs.func, row->func) != 0 || strcmp(runs.inputs, row->inputs) != 0) runs.count = 0;
    snprintf(runs.func, sizeof runs.func, "%s", row->func);
    snprintf(runs.inputs, sizeof runs.inputs, "%s", row->inputs);
    double want = NAN;
    struct mean mean = { 0 };
    number_of(row->expected, strlen(row->expected), &want);
    for (unsigned r = 0; r < REPLICATES_MOST; r++) {
        if (r >= REPLICATES_LEAST && error(&mean) <= row->rtol / 2 * fabs(want)) break;
        struct replicate *replicate = &runs.replicates[r];
        if (r >= runs.count) {
            *replicate = (struct replicate){ .number = r, .query = query };
            func->ask(replicate);
            runs.count = r + 1;
        }
        double one = NAN;
        if (query->problem[0] || !stat_value(replicate, row->output, &one) || isnan(one)) {
            runs.count = 0;
            if (!query->problem[0])
                snprintf(query->problem, sizeof query->problem, "no such output");
            return false;
        }
        add(&mean, one);
    }
    *answer = (struct stat_answer){ value(&mean), error(&mean), (unsigned)mean.count };
    return true;
}

/* Within the tolerance or four standard errors. */
static inline bool stat_is_right(const struct row *row, const struct stat_answer *answer)
{
    double want;
    if (!number_of(row->expected, strlen(row->expected), &want)) return false;
    const double apart = fabs(answer->mean - want);
    return apart <= row->rtol * fabs(want) + row->atol || apart <= 4 * answer->error;
}

#endif
