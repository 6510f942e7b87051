/* blast.c - closed forms of MODELS 5.6. */
#include "models/blast.h"

#include "base/assert.h"
#include "base/exactmath.h"
#include "models/binomial.h"

#include <math.h>

double blast_rate_per_s(const struct blast_class *classes, uint32_t count)
{
    double rate = 0.0;
    for (uint32_t i = 0; i < count; i++) rate += classes[i].count * classes[i].rate_per_s;
    return rate;
}

double blast_mean_gpus(const struct blast_class *classes, uint32_t count)
{
    const double rate = blast_rate_per_s(classes, count);
    ASSERT(rate > 0);
    double taken = 0.0;
    for (uint32_t i = 0; i < count; i++)
        taken += classes[i].count * classes[i].rate_per_s * classes[i].gpus;
    return taken / rate;
}

/* Rate of the events that take at most `gpus`. */
static double rate_up_to(const struct blast_class *classes, uint32_t count, double gpus)
{
    double rate = 0.0;
    for (uint32_t i = 0; i < count; i++)
        if (classes[i].gpus <= gpus) rate += classes[i].count * classes[i].rate_per_s;
    return rate;
}

double blast_quantile_gpus(const struct blast_class *classes, uint32_t count, double q)
{
    ASSERT(q >= 0 && q <= 1);
    /* The margin forgives the rounding of the sums: a share that is q on paper counts. */
    const double wanted = q * blast_rate_per_s(classes, count) * (1.0 - 1e-12);
    ASSERT(wanted >= 0);
    double smallest = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        if (!(classes[i].count * classes[i].rate_per_s > 0)) continue;
        if (classes[i].gpus < smallest && rate_up_to(classes, count, classes[i].gpus) >= wanted)
            smallest = classes[i].gpus;
    }
    ASSERT(smallest < INFINITY);
    return smallest;
}

double server_rate_per_s(double fixed_per_s, double per_gpu_per_s, uint32_t gpus_per_server)
{
    return fixed_per_s + per_gpu_per_s * gpus_per_server;
}

double blast_amplification(double stopped_gpus, double broken_gpus)
{
    ASSERT(stopped_gpus >= 0 && broken_gpus > 0);
    return stopped_gpus / broken_gpus;
}

struct layout_blast layout_blast(const struct blast_layout *layout)
{
    const uint32_t g = layout->gpus_per_server;
    ASSERT(g >= 1 && layout->gpus % g == 0);
    const double rate = g * layout->gpu_rate_per_s + layout->server_rate_per_s;
    const double down_per_up = g * layout->gpu_rate_per_s * layout->gpu_repair_s +
                               layout->server_rate_per_s * layout->server_repair_s;
    const double u = down_per_up / (1.0 + down_per_up);

    struct layout_blast blast = { .servers = layout->gpus / g, .unavailable = u };
    blast.events_per_s = blast.servers * rate * (1.0 - u);
    blast.down_mean = layout->gpus * u;
    blast.down_sd = g * sqrt(blast.servers * u * (1.0 - u));
    blast.down_q95 = (double)g * binomial_quantile(blast.servers, u, 0.95);
    blast.all_up = exact_exp(blast.servers * exact_log1p(-u));
    return blast;
}
