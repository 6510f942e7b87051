/* queueing.c - closed forms and recursions of MODELS 8.1 and 10. */
#include "models/queueing.h"

#include "base/assert.h"
#include "base/exactmath.h"

#include <math.h>

/* Little's law fills in the rest. */
static struct queue_means from_wait(double lambda, double service_s, double load, double wait_prob,
                                    double wait_s)
{
    return (struct queue_means){
        .load = load,
        .wait_prob = wait_prob,
        .wait_s = wait_s,
        .response_s = wait_s + service_s,
        .queue_length = lambda * wait_s,
        .system_length = lambda * (wait_s + service_s),
    };
}

struct queue_means queue_mm1(double lambda, double mu)
{
    ASSERT(lambda > 0 && lambda < mu);
    const double load = lambda / mu;
    return from_wait(lambda, 1.0 / mu, load, load, load / (mu - lambda));
}

struct queue_means queue_mmc(double lambda, double mu, uint32_t servers)
{
    ASSERT(lambda > 0 && lambda < servers * mu);
    const double wait_prob = erlang_c(lambda / mu, servers);
    return from_wait(lambda, 1.0 / mu, lambda / (servers * mu), wait_prob,
                     wait_prob / (servers * mu - lambda));
}

struct queue_means queue_mg1(double lambda, double service_s, double service_cv2)
{
    const double load = lambda * service_s;
    ASSERT(load > 0 && load < 1 && service_cv2 >= 0);
    return from_wait(lambda, service_s, load, load,
                     load * service_s * (1.0 + service_cv2) / (2.0 * (1.0 - load)));
}

struct queue_means queue_mgc(double lambda, double service_s, double arrival_cv2,
                             double service_cv2, uint32_t servers)
{
    const struct queue_means mmc = queue_mmc(lambda, 1.0 / service_s, servers);
    return from_wait(lambda, service_s, mmc.load, mmc.wait_prob,
                     mmc.wait_s * (arrival_cv2 + service_cv2) / 2.0);
}

struct queue_busy queue_mginf(double lambda, double service_s, double gpus_per_job)
{
    ASSERT(lambda >= 0 && service_s >= 0 && gpus_per_job >= 0);
    const double jobs = lambda * service_s;
    return (struct queue_busy){ jobs, jobs, jobs * gpus_per_job };
}

struct queue_tail queue_mmc_tail(double lambda, double mu, uint32_t servers, double t_s)
{
    ASSERT(t_s >= 0);
    ASSERT(lambda > 0 && lambda < servers * mu);
    const double offered = lambda / mu;
    const double wait_prob = erlang_c(offered, servers);
    /* exp(-mu t)(1 + C (1 - exp(-mu t d))/d) with d = c - 1 - a; the fraction tends to mu t as d
     * does to 0. */
    const double d = servers - 1.0 - offered;
    const double fraction = fabs(d) < 1e-12 ? mu * t_s : -exact_expm1(-mu * t_s * d) / d;
    return (struct queue_tail){
        .wait = wait_prob * exact_exp(-(servers * mu - lambda) * t_s),
        .response = exact_exp(-mu * t_s) * (1.0 + wait_prob * fraction),
    };
}

double erlang_b(double offered, uint32_t servers)
{
    ASSERT(offered >= 0);
    double blocked = 1.0;
    for (uint32_t i = 1; i <= servers; i++) blocked = offered * blocked / (i + offered * blocked);
    return blocked;
}

double erlang_c(double offered, uint32_t servers)
{
    ASSERT(offered >= 0 && offered < servers);
    const double blocked = erlang_b(offered, servers);
    return blocked / (1.0 - offered / servers * (1.0 - blocked));
}

struct queue_finite queue_mmck(double lambda, double mu, uint32_t servers, uint32_t places)
{
    ASSERT(lambda > 0 && mu > 0);
    ASSERT(servers >= 1 && places >= servers);
    double weight = 1.0, sum = 1.0, length = 0.0;
    for (uint32_t n = 1; n <= places; n++) {
        weight *= lambda / (mu * (n < servers ? n : servers));
        sum += weight;
        length += n * weight;
        if (sum > 1e200) { /* only ratios count: keep far from overflow */
            weight *= 1e-200;
            sum *= 1e-200;
            length *= 1e-200;
        }
    }
    struct queue_finite queue = { .refused = weight / sum, .system_length = length / sum };
    queue.response_s = queue.system_length / (lambda * (1.0 - queue.refused));
    return queue;
}

double kaufman_roberts(uint32_t capacity, const struct loss_class *classes, uint32_t count,
                       double *occupancy, double *refused)
{
    double sum = 1.0;
    occupancy[0] = 1.0;
    for (uint32_t n = 1; n <= capacity; n++) {
        double next = 0.0;
        for (uint32_t i = 0; i < count; i++) {
            ASSERT(classes[i].gpus >= 1 && classes[i].offered >= 0);
            if (classes[i].gpus <= n)
                next += classes[i].offered * classes[i].gpus * occupancy[n - classes[i].gpus];
        }
        occupancy[n] = next / n;
        sum += occupancy[n];
        if (sum > 1e200) { /* only ratios count: keep far from overflow */
            for (uint32_t k = 0; k <= n; k++) occupancy[k] *= 1e-200;
            sum *= 1e-200;
        }
    }
    double busy = 0.0;
    for (uint32_t n = 0; n <= capacity; n++) {
        occupancy[n] /= sum;
        busy += n * occupancy[n];
    }
    for (uint32_t i = 0; i < count; i++) {
        refused[i] = 0.0;
        const uint32_t free_needed = classes[i].gpus <= capacity ? classes[i].gpus : capacity + 1;
        for (uint32_t n = capacity + 1 - free_needed; n <= capacity; n++)
            refused[i] += occupancy[n];
    }
    return busy;
}
