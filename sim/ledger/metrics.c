/* metrics.c - the named numbers of one replica, from its closed ledger, incidents and jobs. */
#include "ledger/jobstats.h"

#include "base/clock.h"
#include "base/sort.h"
#include "models/statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Units * ns to GPU-hours. */
static double gpu_h(int128 unit_ns)
{
    return (double)unit_ns / ((double)UNITS_PER_GPU * (double)NS_PER_HOUR);
}

static double gpu_ns_to_h(int128 gpu_ns)
{
    return (double)gpu_ns / (double)NS_PER_HOUR;
}

static bool put(struct replica_result *result, const char *name, const char *unit,
                enum size_class size_class, double value)
{
    struct metric_row row = { .class_ = (uint8_t)size_class, .value = value };
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.unit, sizeof row.unit, "%s", unit);
    return log_append(&result->metrics, &row);
}

/* Sums of accounts over a class; CLASS_NONE = over all. */
static int128 sum_accounts(const struct replica_result *result, enum account from, enum account end,
                           enum size_class size_class)
{
    int128 sum = 0;
    for (uint32_t account = from; account < (uint32_t)end; account++)
        for (uint32_t c = 0; c < CLASSES; c++)
            if (size_class == CLASS_NONE || c == (uint32_t)size_class)
                sum += result->ledger[account][c];
    return sum;
}

static bool put_ledger(struct replica_result *result)
{
    bool ok = true;
    int128 capacity = 0;
    for (uint32_t account = 0; account < ACCOUNTS; account++)
        for (uint32_t c = 0; c < CLASSES; c++) capacity += result->ledger[account][c];
    if (capacity == 0) return true;
    for (uint32_t c = 0; c < CLASSES; c++) {
        const int128 held = sum_accounts(result, 0, ACC_HELD_END, c);
        if (held == 0) continue;
        const int128 compute = sum_accounts(result, ACC_COMPUTE, ACC_COMPUTE + 1, c);
        const int128 lost = sum_accounts(result, ACC_LOST, ACC_LOST + 1, c);
        ok &= put(result, "yield", "1", c, (double)compute / (double)held);
        ok &= put(result, "lost_frac", "1", c, (double)lost / (double)held);
        ok &= put(result, "held_gpu_h", "gpu_h", c, gpu_h(held));
    }
    const int128 held = sum_accounts(result, 0, ACC_HELD_END, CLASS_NONE);
    const int128 compute = sum_accounts(result, ACC_COMPUTE, ACC_COMPUTE + 1, CLASS_NONE);
    ok &= put(result, "utilization", "1", CLASS_NONE, (double)held / (double)capacity);
    ok &= put(result, "goodput", "1", CLASS_NONE, (double)compute / (double)capacity);
    for (uint32_t account = 0; account < ACCOUNTS; account++) {
        char name[40];
        snprintf(name, sizeof name, "share_%s", account_names[account]);
        const int128 sum = sum_accounts(result, account, account + 1, CLASS_NONE);
        ok &= put(result, name, "1", CLASS_NONE, (double)sum / (double)capacity);
    }
    const int128 lost = sum_accounts(result, ACC_LOST, ACC_LOST + 1, CLASS_NONE);
    ok &= put(result, "lost_gpu_h", "gpu_h", CLASS_NONE, gpu_h(lost));
    ok &= put(result, "at_risk_gpu_h", "gpu_h", CLASS_NONE, gpu_h(result->at_risk));
    return ok;
}

static bool put_incidents(struct replica_result *result)
{
    const struct incident *incidents = LOG_ITEMS(&result->incidents, struct incident);
    int128 restart = 0, down = 0;
    uint64_t counted = 0, stopped = 0, jobs_hit = 0;
    for (uint64_t i = 0; i < result->incidents.count; i++) {
        if (incidents[i].at_ns < result->window_start_ns ||
            incidents[i].at_ns >= result->window_end_ns)
            continue;
        counted++;
        stopped += incidents[i].gpus_stopped;
        jobs_hit += incidents[i].jobs_hit;
        restart += incidents[i].restart_gpu_ns;
        down += incidents[i].down_gpu_ns;
    }
    bool ok = put(result, "incidents", "1", CLASS_NONE, (double)counted);
    ok &= put(result, "jobs_hit", "1", CLASS_NONE, (double)jobs_hit);
    ok &= put(result, "restart_gpu_h", "gpu_h", CLASS_NONE, gpu_ns_to_h(restart));
    ok &= put(result, "down_gpu_h", "gpu_h", CLASS_NONE, gpu_ns_to_h(down));
    if (counted)
        ok &= put(result, "gpus_stopped_mean", "1", CLASS_NONE, (double)stopped / (double)counted);
    return ok;
}

/* Sorted columns of times: what kaplan_meier_quantile reads. */
struct columns {
    double *s;
    bool *censored;
    size_t count;
    int128 sum_ns;
    uint64_t seen;
};

static bool columns_of(const struct log *logs, enum size_class size_class, struct columns *columns)
{
    *columns = (struct columns){ 0 };
    for (int c = 0; c < CLASSES; c++)
        if (size_class == CLASS_NONE || c == (int)size_class) columns->count += logs[c].count;
    const size_t n = columns->count;
    uint64_t *key = malloc((n + 1) * sizeof *key);
    uint32_t *order = malloc((n + 1) * sizeof *order), *spare = malloc((n + 1) * sizeof *spare);
    columns->s = malloc((n + 1) * sizeof *columns->s);
    columns->censored = malloc((n + 1) * sizeof *columns->censored);
    const bool ok = key && order && spare && columns->s && columns->censored;
    size_t at = 0;
    for (int c = 0; ok && c < CLASSES; c++) {
        if (size_class != CLASS_NONE && c != (int)size_class) continue;
        const struct job_time *times = LOG_ITEMS(&logs[c], struct job_time);
        for (uint64_t i = 0; i < logs[c].count; i++, at++) {
            order[at] = (uint32_t)at;
            key[at] =
                (uint64_t)times[i].ns << 1 | times[i].censored; /* ends first, then censored */
            columns->sum_ns += times[i].ns;
            columns->seen += !times[i].censored;
        }
    }
    if (ok) sort_rows(order, spare, (uint32_t)n, key);
    for (size_t i = 0; ok && i < n; i++) {
        columns->s[i] = (double)(key[order[i]] >> 1) / 1e9;
        columns->censored[i] = key[order[i]] & 1;
    }
    free(key);
    free(order);
    free(spare);
    return ok;
}

/* Mean and quantiles of one quantity and class. A quantile that lies among the censored times is
 * left out; a mean takes censored times as they are, a lower bound, and is left out when none was seen. */
static bool put_times(struct replica_result *result, const char *stem, const struct log *logs,
                      enum size_class size_class)
{
    static const struct {
        const char *suffix;
        double q;
    } quantiles[] = { { "p50", 0.50 }, { "p95", 0.95 }, { "p99", 0.99 } };
    struct columns columns;
    bool ok = columns_of(logs, size_class, &columns);
    char name[40];
    if (ok && columns.seen > 0) {
        snprintf(name, sizeof name, "%s_mean", stem);
        ok &= put(result, name, "s", size_class,
                  (double)columns.sum_ns / 1e9 / (double)columns.count);
        for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
            const double s =
                kaplan_meier_quantile(columns.s, columns.censored, columns.count, quantiles[i].q);
            if (!(s < 1e300)) continue; /* not reached: the run ended first */
            snprintf(name, sizeof name, "%s_%s", stem, quantiles[i].suffix);
            ok &= put(result, name, "s", size_class, s);
        }
    }
    free(columns.s);
    free(columns.censored);
    return ok;
}

static bool put_class_times(const struct jobstats *stats, struct replica_result *result,
                            enum size_class size_class)
{
    bool ok = put_times(result, "wait_s", stats->waits, size_class) &&
              put_times(result, "completion_s", stats->completions, size_class);
    if (!stats->keeps_common) return ok;
    uint64_t common = 0;
    for (int c = 0; c < CLASSES; c++)
        if (size_class == CLASS_NONE || c == (int)size_class)
            common += stats->common_completions[c].count;
    ok = ok && put(result, "common_jobs", "1", size_class, (double)common);
    return ok && put_times(result, "common_wait_s", stats->common_waits, size_class) &&
           put_times(result, "common_completion_s", stats->common_completions, size_class);
}

static bool put_jobs(const struct jobstats *stats, struct replica_result *result)
{
    bool ok = true;
    /* Of the same jobs: what they ask for as they were recorded, and what they ask of this layout at
     * its own speed and rounding, against what it has. */
    const int128 capacity = (int128)(result->capacity_units / UNITS_PER_GPU) *
                            (result->window_end_ns - result->window_start_ns);
    if (capacity > 0) {
        ok &= put(result, "offered_load", "1", CLASS_NONE,
                  (double)stats->offered_gpu_ns / (double)capacity);
        ok &= put(result, "effective_load", "1", CLASS_NONE,
                  (double)stats->asked_gpu_ns / (double)capacity);
    }
    uint64_t cohort = 0, done = 0, rejected = 0;
    for (int c = CLASS_1; c < CLASSES; c++) {
        cohort += stats->cohort[c];
        done += stats->done[c];
        rejected += stats->rejected[c];
        if (!stats->cohort[c]) continue;
        ok &= put(result, "jobs_cohort", "1", c, (double)stats->cohort[c]);
        ok &= put(result, "jobs_done", "1", c, (double)stats->done[c]);
        ok &= put_class_times(stats, result, c);
    }
    ok &= put(result, "jobs_cohort", "1", CLASS_NONE, (double)cohort);
    ok &= put(result, "jobs_done", "1", CLASS_NONE, (double)done);
    ok &= put(result, "jobs_rejected", "1", CLASS_NONE, (double)rejected);
    if (result->to_the_end)
        ok &= put(result, "jobs_stuck", "1", CLASS_NONE, (double)result->jobs_stuck);
    ok &= put(result, "unserved_gpu_h", "gpu_h", CLASS_NONE, gpu_ns_to_h(stats->unserved_gpu_ns));
    return ok && put_class_times(stats, result, CLASS_NONE);
}

/* The band of stall_contention: what of it the extreme estimates would make. */
static bool put_contention(struct replica_result *result)
{
    const double used = (double)result->contention_used;
    int128 capacity = sum_accounts(result, 0, ACCOUNTS, CLASS_NONE);
    if (!result->has_contention || capacity == 0) return true;
    const int128 is =
        sum_accounts(result, ACC_STALL_CONTENTION, ACC_STALL_CONTENTION + 1, CLASS_NONE);
    const double share = (double)is / (double)capacity;
    const double lower = used > 0 ? (double)result->contention_lower / used : 0;
    const double upper = used > 0 ? (double)result->contention_upper / used : 0;
    return put(result, "share_stall_contention_lower", "1", CLASS_NONE, share * lower) &&
           put(result, "share_stall_contention_upper", "1", CLASS_NONE, share * upper);
}

bool metrics_fill(const struct jobstats *stats, struct replica_result *result)
{
    bool ok = put_ledger(result);
    ok &= put_contention(result);
    ok &= put_incidents(result);
    ok &= put_jobs(stats, result);
    const int64_t window_ns = result->window_end_ns - result->window_start_ns;
    if (window_ns > 0)
        ok &= put(result, "whole_node_free_frac", "1", CLASS_NONE,
                  (double)result->whole_node_ns / (double)window_ns);
    if (result->has_moves) ok &= put(result, "moves", "1", CLASS_NONE, (double)result->moves);
    if (result->has_refusals)
        ok &= put(result, "pods_refused", "1", CLASS_NONE, (double)result->refusals);
    return ok && !stats->out_of_memory;
}
