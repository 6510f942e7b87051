/* model_funcs_queue.h - queries of the sections on job metrics, statistics, locality and queueing.
 */
#ifndef TESTS_MODEL_FUNCS_QUEUE_H
#define TESTS_MODEL_FUNCS_QUEUE_H

#include "models/fragmentation.h"
#include "models/locality.h"
#include "models/queueing.h"
#include "models/statistics.h"
#include "report/statistics.h"
#include "tests/model_rows.h"

/* --- metrics
 * ---------------------------------------------------------------------------------------- */

enum { NODE_GPUS = 16 };

static inline void q_fgd(struct query *q)
{
    static double shares[LIST_MAX][NODE_GPUS];
    struct frag_node nodes[LIST_MAX];
    struct frag_task tasks[LIST_MAX];
    double cores[LIST_MAX], weight[LIST_MAX], task_cores[LIST_MAX], gpus[LIST_MAX];
    const size_t node_count = in_parts(q, "nodes", ":", 0, cores);
    const size_t task_count = in_parts(q, "tasks", ":", 0, weight);
    in_parts(q, "tasks", ":", 1, task_cores);
    in_parts(q, "tasks", ":", 2, gpus);
    if (q->problem[0]) return;
    for (size_t m = 0; m < task_count; m++)
        tasks[m] = (struct frag_task){weight[m], task_cores[m], gpus[m]};

    const char *at = in_text(q, "nodes");
    for (size_t n = 0; n < node_count; n++) {
        uint32_t count = 0;
        at += strcspn(at, ":");
        while ((*at == ':' || *at == '+') && count < NODE_GPUS)
            shares[n][count++] = strtod(at + 1, (char **)&at);
        nodes[n] = (struct frag_node){cores[n], shares[n], count};
    }
    const struct fragments sum =
        fragments(nodes, (uint32_t)node_count, tasks, (uint32_t)task_count);
    put(q, "F", sum.gpus);
    put(q, "ratio", sum.ratio);
}

static inline void q_eff_free(struct query *q)
{
    double listed[LIST_MAX];
    uint32_t free_gpus[LIST_MAX];
    const size_t count = in_list(q, "free", listed);
    for (size_t i = 0; i < count; i++) free_gpus[i] = (uint32_t)listed[i];
    const struct usable_free sum = usable_free(free_gpus, (uint32_t)count, in_u32(q, "g"));
    put(q, "free", (double)sum.free);
    put(q, "usable", (double)sum.usable);
    put(q, "stranded", (double)sum.stranded);
}

static inline void q_bounded_slowdown(struct query *q)
{
    put(q, "bsd", bounded_slowdown(in(q, "wait"), in(q, "run"), in_or(q, "tau", 10)));
}

static inline void q_time_mean(struct query *q)
{
    double at[LIST_MAX], value[LIST_MAX];
    const size_t count = in_parts(q, "points", ":", 0, at);
    in_parts(q, "points", ":", 1, value);
    if (q->problem[0]) return;
    put(q, "integral", step_integral(at, value, count, in(q, "t0"), in(q, "t1")));
    put(q, "mean", time_mean(at, value, count, in(q, "t0"), in(q, "t1")));
}

static inline size_t in_sorted(struct query *q, const char *key, double out[LIST_MAX])
{
    const size_t count = in_list(q, key, out);
    for (size_t i = 1; i < count; i++) {
        const double value = out[i];
        size_t to = i;
        for (; to > 0 && out[to - 1] > value; to--) out[to] = out[to - 1];
        out[to] = value;
    }
    return count;
}

static inline void q_quantile7(struct query *q)
{
    double xs[LIST_MAX];
    const size_t count = in_sorted(q, "xs", xs);
    if (count > 0) put(q, "q", quantile7(xs, count, in(q, "q")));
}

/* Not in the shared rows. xs ascending; censored=0|1|... beside them. */
static inline void q_kaplan_meier(struct query *q)
{
    double xs[LIST_MAX], flags[LIST_MAX];
    bool censored[LIST_MAX];
    const size_t count = in_list(q, "xs", xs);
    if (in_list(q, "censored", flags) != count) return;
    for (size_t i = 0; i < count; i++) censored[i] = flags[i] != 0;
    put(q, "q", kaplan_meier_quantile(xs, censored, count, in(q, "q")));
}

static inline void q_quantile_ci(struct query *q)
{
    const struct rank_interval ranks = quantile_ranks(in_u32(q, "n"), in(q, "q"), in(q, "conf"));
    put(q, "lo_rank", ranks.low);
    put(q, "hi_rank", ranks.high);
}

/* --- statistics over replicas: sim/report ------------------------------------------------------------- */

static inline void q_t_ci(struct query *q)
{
    double xs[LIST_MAX];
    const size_t count = in_list(q, "xs", xs);
    const struct interval interval = t_ci(xs, (uint32_t)count, in(q, "conf"));
    put(q, "mean", interval.mean);
    put(q, "half", interval.half);
}

static inline void q_paired_ci(struct query *q)
{
    double xs[LIST_MAX], ys[LIST_MAX];
    const size_t count = in_list(q, "xs", xs);
    if (in_list(q, "ys", ys) != count) return;
    const struct paired paired = paired_ci(xs, ys, (uint32_t)count, in(q, "conf"));
    put(q, "mean", paired.difference.mean);
    put(q, "half", paired.difference.half);
    put(q, "var_ratio", paired.var_ratio);
}

static inline void q_batch_means(struct query *q)
{
    double xs[LIST_MAX];
    const size_t count = in_list(q, "xs", xs);
    const struct batches batches =
        batch_means(xs, (uint32_t)count, in_u32(q, "batches"), in(q, "conf"));
    put(q, "mean", batches.interval.mean);
    put(q, "half", batches.interval.half);
}

static inline void q_stop_rule(struct query *q)
{
    double xs[LIST_MAX];
    const size_t count = in_list(q, "xs", xs);
    const struct stop rule =
        stop_rule(xs, (uint32_t)count, in(q, "conf"), in(q, "gamma"), in_u32(q, "n_min"));
    put(q, "rel", rule.rel);
    put(q, "limit", rule.limit);
    put(q, "stop", rule.stop);
}

static inline void q_mser5(struct query *q)
{
    double xs[LIST_MAX];
    const size_t count = in_list(q, "xs", xs);
    put(q, "drop", (double)mser5(xs, count));
}

static inline void q_gpu_accounts(struct query *q)
{
    const struct gpu_states states = {
        .capacity = in(q, "cap"),
        .down = in(q, "down"),
        .idle = in(q, "idle"),
        .startup = in(q, "startup"),
        .input = in(q, "input"),
        .communication = in(q, "comm"),
        .checkpoint = in(q, "ckpt"),
        .lost = in(q, "lost"),
        .productive = in(q, "prod"),
    };
    const struct gpu_shares shares = gpu_shares(&states);
    put(q, "U_alloc", shares.allocated);
    put(q, "U_alloc_avail", shares.allocated_available);
    put(q, "U_busy", shares.busy);
    put(q, "goodput", shares.goodput);
    put(q, "job_eff", shares.job_efficiency);
    /* Not in the shared rows: */
    put(q, "goodput_avail", shares.goodput_available);
    put(q, "comm_stall", shares.communication_stall);
}

/* Not in the shared rows. */
static inline void q_excess(struct query *q)
{
    put(q, "excess", slowed_excess(in(q, "prod"), in(q, "slowdown")));
}

static inline void q_ettr(struct query *q)
{
    put(q, "ettr", ettr_measured(in(q, "prod"), in(q, "wall")));
}

/* --- locality
 * ---------------------------------------------------------------------------------------- */

static inline void q_locality(struct query *q)
{
    const double kappa = in(q, "kappa"), hidden = in_or(q, "w", 0), ratio = in(q, "r");
    put(q, "slowdown", locality_slowdown(kappa, hidden, ratio));
    /* Not in the shared rows: where the step's time goes. */
    if (!has(q, "r_intra")) return;
    const struct locality_split split = locality_split(kappa, hidden, ratio, in(q, "r_intra"));
    put(q, "compute", split.compute_frac);
    put(q, "intra", split.intra_frac);
    put(q, "inter", split.inter_frac);
}

static inline void q_rescale(struct query *q)
{
    put(q, "D_new", rescale_s(in(q, "D"), in(q, "s_old"), in(q, "s_new")));
}

/* --- queueing
 * ------------------------------------------------------------------------------------------ */

static inline void put_queue(struct query *q, struct queue_means means)
{
    put(q, "rho", means.load);
    put(q, "Pwait", means.wait_prob);
    put(q, "Wq", means.wait_s);
    put(q, "W", means.response_s);
    put(q, "Lq", means.queue_length);
    put(q, "L", means.system_length);
}

static inline void q_mm1(struct query *q)
{
    put_queue(q, queue_mm1(in(q, "lam"), in(q, "mu")));
}

static inline void q_mmc(struct query *q)
{
    put_queue(q, queue_mmc(in(q, "lam"), in(q, "mu"), in_u32(q, "c")));
}

static inline void q_mg1(struct query *q)
{
    put_queue(q, queue_mg1(in(q, "lam"), in(q, "ES"), in(q, "cs2")));
}

static inline void q_mgc(struct query *q)
{
    put_queue(q, queue_mgc(in(q, "lam"), in(q, "ES"), in(q, "ca2"), in(q, "cs2"), in_u32(q, "c")));
}

static inline void q_mmc_tail(struct query *q)
{
    const struct queue_tail tail =
        queue_mmc_tail(in(q, "lam"), in(q, "mu"), in_u32(q, "c"), in(q, "t"));
    put(q, "P_wait_gt", tail.wait);
    put(q, "P_resp_gt", tail.response);
}

static inline void q_erlang_b(struct query *q)
{
    put(q, "B", erlang_b(in(q, "a"), in_u32(q, "c")));
}
static inline void q_erlang_c(struct query *q)
{
    put(q, "C", erlang_c(in(q, "a"), in_u32(q, "c")));
}

static inline void q_mginf(struct query *q)
{
    const struct queue_busy busy = queue_mginf(in(q, "lam"), in(q, "ES"), in(q, "g"));
    put(q, "jobs", busy.jobs);
    put(q, "gpus", busy.gpus);
    put(q, "var_jobs", busy.jobs_variance);
}

static inline void q_mmck(struct query *q)
{
    const struct queue_finite queue =
        queue_mmck(in(q, "lam"), in(q, "mu"), in_u32(q, "c"), in_u32(q, "K"));
    put(q, "P_block", queue.refused);
    put(q, "L", queue.system_length);
    put(q, "W", queue.response_s);
}

static inline void q_kaufman_roberts(struct query *q)
{
    static double occupancy[100001];
    double size[LIST_MAX], load[LIST_MAX], refused[LIST_MAX];
    struct loss_class classes[LIST_MAX];
    const uint32_t capacity = in_u32(q, "C");
    const size_t count = in_parts(q, "classes", ":", 0, size);
    in_parts(q, "classes", ":", 1, load);
    if (q->problem[0] || capacity > 100000) return;
    for (size_t i = 0; i < count; i++) classes[i] = (struct loss_class){(uint32_t)size[i], load[i]};
    put(q, "busy", kaufman_roberts(capacity, classes, (uint32_t)count, occupancy, refused));
    for (size_t i = 0; i < count; i++) {
        char name[24];
        snprintf(name, sizeof name, "B_%u", classes[i].gpus);
        put(q, name, refused[i]);
    }
}

#endif
