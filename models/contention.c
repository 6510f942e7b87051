/* contention.c - MODELS 4.4 on one link, and 4.5. */
#include "models/contention.h"

#include "base/assert.h"
#include "base/exactmath.h"

#include <math.h>

static double step_of(const struct link_job *job, double communicate_s)
{
    const double exposed = communicate_s - job->hidden_s;
    return job->compute_s + (exposed > 0 ? exposed : 0.0);
}

/* A: bandwidth in proportion to the flows, all the time. */
static void upper_times(double link_bytes_per_s, const struct link_job *jobs, uint32_t count,
                        double *communicate_s)
{
    double flows = 0;
    for (uint32_t i = 0; i < count; i++) flows += jobs[i].flows;
    for (uint32_t i = 0; i < count; i++)
        communicate_s[i] = jobs[i].step_bytes * flows / (link_bytes_per_s * jobs[i].flows);
}

/* B: every job keeps its own pace, or all slow by the same factor when the link cannot carry that. */
static void lower_steps(double link_bytes_per_s, const struct link_job *jobs, uint32_t count,
                        double *step_s)
{
    double load_bytes_per_s = 0;
    for (uint32_t i = 0; i < count; i++) {
        step_s[i] = step_of(&jobs[i], jobs[i].step_bytes / link_bytes_per_s);
        if (step_s[i] > 0) load_bytes_per_s += jobs[i].step_bytes / step_s[i];
    }
    const double factor = load_bytes_per_s / link_bytes_per_s;
    for (uint32_t i = 0; i < count && factor > 1; i++) step_s[i] *= factor;
}

/* C: a job meets each other one in the share of time that the other communicates. Monotone, so it converges. */
static void mean_times(double link_bytes_per_s, const struct link_job *jobs, uint32_t count,
                       double *communicate_s)
{
    enum { ROUNDS_MAX = 10000 };
    double next[CONTENTION_JOBS_MAX];
    for (uint32_t i = 0; i < count; i++) communicate_s[i] = jobs[i].step_bytes / link_bytes_per_s;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        double change = 0;
        for (uint32_t j = 0; j < count; j++) {
            double met = 1;
            for (uint32_t i = 0; i < count; i++) {
                if (i == j) continue;
                const double step = step_of(&jobs[i], communicate_s[i]);
                const double duty = step > communicate_s[i] ? communicate_s[i] / step : 1.0;
                met += duty * jobs[i].flows / jobs[j].flows;
            }
            next[j] = jobs[j].step_bytes / link_bytes_per_s * met;
            const double moved = fabs(next[j] - communicate_s[j]);
            if (moved > change * next[j]) change = moved / next[j];
        }
        for (uint32_t j = 0; j < count; j++) communicate_s[j] = next[j];
        if (change < 1e-12) return;
    }
}

void contended_steps(enum contention_model model, double link_bytes_per_s,
                     const struct link_job *jobs, uint32_t count, double *step_s)
{
    ASSERT(count >= 1 && count <= CONTENTION_JOBS_MAX);
    ASSERT(link_bytes_per_s > 0);
    if (model == CONTENTION_LOWER) {
        lower_steps(link_bytes_per_s, jobs, count, step_s);
        return;
    }
    double upper[CONTENTION_JOBS_MAX], mean[CONTENTION_JOBS_MAX];
    upper_times(link_bytes_per_s, jobs, count, upper);
    if (model == CONTENTION_MEAN) mean_times(link_bytes_per_s, jobs, count, mean);
    for (uint32_t i = 0; i < count; i++) {
        const double clamped = model == CONTENTION_MEAN && mean[i] < upper[i] ? mean[i] : upper[i];
        step_s[i] = step_of(&jobs[i], clamped);
    }
}

double ecmp_no_collision(uint32_t flows, uint32_t trunks)
{
    ASSERT(flows >= 1 && trunks >= 1);
    double p = 1;
    for (uint32_t i = 1; i < flows && p > 0; i++)
        p *= i < trunks ? (double)(trunks - i) / trunks : 0.0;
    return p;
}

double ecmp_trunks_used(uint32_t flows, uint32_t trunks)
{
    ASSERT(flows >= 1 && trunks >= 1);
    if (trunks == 1) return 1;
    return -(double)trunks * exact_expm1(flows * exact_log1p(-1.0 / trunks));
}

/* P(no trunk holds more than `load` flows): trunk after trunk, the next takes a binomial share of the flows that are left.
 * left[r] is the probability that r flows are left and no trunk so far is over. */
double ecmp_at_most(uint32_t flows, uint32_t trunks, uint32_t load)
{
    ASSERT(flows <= ECMP_FLOWS_MAX && trunks >= 1);
    double left[ECMP_FLOWS_MAX + 1] = { 0 };
    left[flows] = 1;
    for (uint32_t rest = trunks; rest > 1; rest--) {
        const double odds = 1.0 / (rest - 1.0); /* p/(1 - p) at p = 1/rest */
        const double log_miss = exact_log1p(-1.0 / rest);
        /* Ascending: left[r - taken] with taken > 0 is final before left[r] is spread. */
        for (uint32_t r = 0; r <= flows; r++) {
            const double here = left[r];
            if (here == 0) continue;
            double share = exact_exp(r * log_miss);
            left[r] = here * share;
            for (uint32_t taken = 1; taken <= load && taken <= r; taken++) {
                share *= (r - taken + 1.0) / taken * odds;
                left[r - taken] += here * share;
            }
        }
    }
    double sum = 0;
    for (uint32_t r = 0; r <= load && r <= flows; r++) sum += left[r];
    return sum;
}

double ecmp_max_load(uint32_t flows, uint32_t trunks)
{
    ASSERT(flows >= 1 && flows <= ECMP_FLOWS_MAX && trunks >= 1);
    /* Below an even spread one trunk always holds more; far above it none does. */
    const uint32_t even = (flows + trunks - 1) / trunks;
    double mean = even;
    for (uint32_t load = even; load < flows; load++) {
        const double more = 1 - ecmp_at_most(flows, trunks, load);
        mean += more;
        if (more < 1e-15) break;
    }
    return mean;
}

double ecmp_efficiency(uint32_t flows, uint32_t trunks)
{
    return ceil((double)flows / trunks) / ecmp_max_load(flows, trunks);
}
