/* model_funcs_failure.h - queries of the sections on failures, checkpoints and random numbers.
 *
 * Rows give rates per hour and times in hours where the section does; the functions keep whatever
 * unit goes in. */
#ifndef TESTS_MODEL_FUNCS_FAILURE_H
#define TESTS_MODEL_FUNCS_FAILURE_H

#include "base/exactmath.h"
#include "base/philox.h"
#include "models/binomial.h"
#include "models/blast.h"
#include "models/checkpoint.h"
#include "models/failure.h"
#include "tests/model_rows.h"

#define HOURS_PER_YEAR 8760.0
#define DAY_S          86400.0

/* --- failures ------------------------------------------------------------------------------------
 */

static inline void q_weibull_mean(struct query *q)
{
    put(q, "mean", weibull_mean_s(in(q, "k"), in(q, "eta")));
}

static inline void q_weibull_min(struct query *q)
{
    const double k = in(q, "k"), eta = weibull_min_scale_s(k, in(q, "eta"), in(q, "n"));
    put(q, "eta", eta);
    put(q, "mean", weibull_mean_s(k, eta));
}

static inline void q_weibull_renewals(struct query *q)
{
    put(q, "count", weibull_renewals(in(q, "k"), in(q, "eta"), in(q, "T")));
    put(q, "cv2", weibull_cv2(in(q, "k")));
}

static inline void put_lognormal(struct query *q, struct lognormal law)
{
    put(q, "mu", law.mu);
    put(q, "sigma", law.sigma);
    put(q, "mean", lognormal_mean_s(law));
}

static inline void q_lognorm_mean_cv(struct query *q)
{
    put_lognormal(q, lognormal_from_mean_cv(in(q, "mean"), in(q, "cv")));
}

static inline void q_lognorm_median_p95(struct query *q)
{
    put_lognormal(q, lognormal_from_median_p95(in(q, "median"), in(q, "p95")));
}

static inline void q_infant_count(struct query *q)
{
    put(q, "count", infant_failures(in(q, "lam"), in(q, "a"), in(q, "tau"), in(q, "T")));
}

static inline void q_hazard_time(struct query *q)
{
    double since[LIST_MAX], speed[LIST_MAX];
    const size_t count = in_parts(q, "points", ":", 0, since);
    if (count == 0 || in_parts(q, "points", ":", 1, speed) != count) return;
    put(q, "t", hazard_time_s(since, speed, (uint32_t)count, in(q, "lam"), in(q, "E")));
}

static inline void q_lemon_mix(struct query *q)
{
    const struct lemon_mix mix = lemon_mix(in(q, "n"), in(q, "frac"), in(q, "mult"), in(q, "rate"));
    put(q, "total_rate", mix.total_rate_per_s);
    put(q, "lemon_share", mix.lemon_share);
    put(q, "mtbf", mix.mtbf_s);
}

static inline void q_common_cause(struct query *q)
{
    const double lam = in(q, "lam"), beta = in(q, "beta");
    put(q, "any_rate", common_cause_rate_per_s(in(q, "n"), lam, beta));
    put(q, "per_comp_rate", lam * (1 - beta) + lam * beta);
}

static inline void q_job_mttf(struct query *q)
{
    const struct job_hazard job = {
        .gpus = in_u32(q, "gpus"),
        .gpus_per_server = in_u32(q, "g"),
        .servers_per_leaf = in_u32(q, "servers_per_leaf"),
        .gpu_rate_per_s = in(q, "lam_gpu"),
        .server_rate_per_s = in(q, "lam_srv"),
        .leaf_rate_per_s = in(q, "lam_leaf"),
        .drain = in(q, "drain") != 0,
    };
    const double rate = job_failure_rate_per_s(&job);
    put(q, "rate_per_h", rate);
    put(q, "mttf_h", 1 / rate);
}

static inline void q_avail(struct query *q)
{
    double rate[LIST_MAX], repair[LIST_MAX];
    const size_t count = in_list(q, "rates", rate);
    if (in_list(q, "repairs", repair) != count) return;
    put(q, "A", availability(rate, repair, (uint32_t)count));
}

static inline void q_binom_up(struct query *q)
{
    put(q, "p", binomial_at_least(in_u32(q, "N"), in(q, "A"), in_u32(q, "m")));
}

static inline void q_repairman(struct query *q)
{
    const struct repairman chain =
        repairman(in_u32(q, "N"), in_u32(q, "crews"), in(q, "mtbf"), in(q, "mttr"), in_u32(q, "m"));
    put(q, "down_mean", chain.down_mean);
    put(q, "p_up_ge", chain.up_at_least);
}

static inline void q_flap_stall(struct query *q)
{
    put(q, "frac_up", flap_up_frac(in(q, "links"), in(q, "flaps_per_day") / DAY_S, in(q, "dur_s")));
}

static inline void q_blast_mix(struct query *q)
{
    double number[LIST_MAX], rate[LIST_MAX], size[LIST_MAX];
    struct blast_class classes[LIST_MAX];
    const size_t count = in_parts(q, "classes", ":", 1, number);
    if (in_parts(q, "classes", ":", 2, rate) != count ||
        in_parts(q, "classes", ":", 3, size) != count || q->problem[0])
        return;
    for (size_t i = 0; i < count; i++)
        classes[i] = (struct blast_class){number[i], rate[i], size[i]};
    const uint32_t n = (uint32_t)count;
    put(q, "rate_per_h", blast_rate_per_s(classes, n));
    put(q, "mean", blast_mean_gpus(classes, n));
    put(q, "p50", blast_quantile_gpus(classes, n, 0.5));
    put(q, "p95", blast_quantile_gpus(classes, n, 0.95));
    put(q, "p99", blast_quantile_gpus(classes, n, 0.99));
    put(q, "max", blast_quantile_gpus(classes, n, 1.0));
}

static inline void q_layout_blast(struct query *q)
{
    const struct blast_layout layout = {
        .gpus = in_u32(q, "G"),
        .gpus_per_server = in_u32(q, "g"),
        .gpu_rate_per_s = in(q, "lam_gpu"),
        .server_rate_per_s = in(q, "lam_srv"),
        .gpu_repair_s = in(q, "rep_gpu"),
        .server_repair_s = in(q, "rep_srv"),
    };
    const struct layout_blast blast = layout_blast(&layout);
    put(q, "servers", blast.servers);
    put(q, "events_per_year", blast.events_per_s * HOURS_PER_YEAR);
    put(q, "unavail", blast.unavailable);
    put(q, "down_mean", blast.down_mean);
    put(q, "down_sd", blast.down_sd);
    put(q, "down_q95", blast.down_q95);
    put(q, "p_all_up", blast.all_up);
}

/* Not in the shared rows. */
static inline void q_server_rate(struct query *q)
{
    put(q, "rate", server_rate_per_s(in(q, "lam0"), in(q, "lam1"), in_u32(q, "g")));
}

static inline void q_amplification(struct query *q)
{
    put(q, "factor", blast_amplification(in(q, "stopped"), in(q, "broken")));
}

/* --- checkpoints
 * ----------------------------------------------------------------------------------- */

static inline void q_ckpt_write(struct query *q)
{
    const double bytes = checkpoint_bytes(in(q, "N"), in(q, "bytes_per_param"));
    put(q, "bytes", bytes);
    put(q, "C_s",
        checkpoint_write_s(bytes, in(q, "servers"), in(q, "srv_GBps") * 1e9,
                           in(q, "store_GBps") * 1e9));
}

static inline void q_young(struct query *q)
{
    put(q, "tau", young_interval_s(in(q, "C"), in(q, "M")));
}
static inline void q_daly(struct query *q)
{
    put(q, "tau", daly_interval_s(in(q, "C"), in(q, "M")));
}
static inline void q_ckpt_opt(struct query *q)
{
    put(q, "tau", optimal_interval_s(in(q, "C"), in(q, "M")));
}

static inline void q_ckpt_time(struct query *q)
{
    const struct checkpoint_plan plan = {in(q, "tau"), in(q, "C"), in(q, "R"), in(q, "D"),
                                         in(q, "M")};
    const double wall = checkpoint_wall_s(in(q, "W"), &plan);
    put(q, "T", wall);
    put(q, "eff", checkpoint_efficiency(&plan));
}

static inline void q_lost_mean(struct query *q)
{
    put(q, "lost", lost_mean_s(in(q, "L"), in(q, "M")));
}
static inline void q_lost_quantile(struct query *q)
{
    put(q, "lost", lost_quantile_s(in(q, "L"), in(q, "M"), in(q, "q")));
}

static inline void q_two_level(struct query *q)
{
    const struct checkpoint_level levels[] = {
        {in(q, "lam1"), in(q, "C1"), in(q, "R1")}, /* peer memory */
        {in(q, "lam2"), in(q, "C2"), in(q, "R2")}, /* storage     */
    };
    put(q, "tau1", level_interval_s(&levels[0]));
    put(q, "tau2", level_interval_s(&levels[1]));
    put(q, "waste", levels_waste_frac(levels, 2));
}

static inline void q_ettr_meta(struct query *q)
{
    const struct ettr_terms terms = {in(q, "nodes"), in(q, "rf_day") / DAY_S, in(q, "u0_s"),
                                     in(q, "dt_s"), in(q, "w_s")};
    put(q, "ettr", ettr_expected(&terms));
    put(q, "mttf_h", nodes_mttf_s(&terms) / 3600);
}

/* --- random numbers
 * ---------------------------------------------------------------------------------- */

static inline uint64_t hex_of(const char *text)
{
    return strtoull(text, NULL, 16);
}

static inline void q_philox(struct query *q)
{
    uint32_t ctr[4] = {0}, key[2] = {0}, out[4];
    const char *at = in_text(q, "ctr");
    for (int i = 0; i < 4; i++, at += strcspn(at, "|") + 1) ctr[i] = (uint32_t)hex_of(at);
    at = in_text(q, "key");
    for (int i = 0; i < 2; i++, at += strcspn(at, "|") + 1) key[i] = (uint32_t)hex_of(at);
    philox4x32_10(ctr, key, out);
    char text[40];
    snprintf(text, sizeof text, "%08x|%08x|%08x|%08x", out[0], out[1], out[2], out[3]);
    put_text(q, "out", text);
}

static inline void q_fnv1a64(struct query *q)
{
    put_hex64(q, "h", fnv1a64(in_text(q, "text")));
}
static inline void q_mix64(struct query *q)
{
    put_hex64(q, "h", mix64(hex_of(in_text(q, "x"))));
}

static inline uint64_t in_u64(struct query *q, const char *key)
{
    return strtoull(in_text(q, key), NULL, 10);
}

static inline uint64_t in_stream_key(struct query *q)
{
    const uint64_t seed = in_u64(q, "seed"), replicate = in_u64(q, "replicate");
    return stream_key(seed, replicate, in_text(q, "purpose"));
}

static inline void q_stream_key(struct query *q)
{
    put_hex64(q, "key", in_stream_key(q));
}

static inline void q_stream_draw(struct query *q)
{
    const uint64_t key = in_stream_key(q);
    const struct draw draw = stream_draw(key, in_u64(q, "entity"), in_u64(q, "draw_no"));
    put_hex64(q, "x1", draw.x1);
    put_hex64(q, "x2", draw.x2);
    put(q, "u1", draw.u1);
    put(q, "u2", draw.u2);
}

static inline void q_inv_exp(struct query *q)
{
    put(q, "x", inv_exponential(in(q, "u"), in(q, "mean")));
}
static inline void q_inv_weibull(struct query *q)
{
    put(q, "x", inv_weibull(in(q, "u"), in(q, "k"), in(q, "eta")));
}
static inline void q_inv_lognormal(struct query *q)
{
    put(q, "x", inv_lognormal(in(q, "u"), in(q, "mu"), in(q, "sigma")));
}

#endif
