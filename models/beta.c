/* beta.c - see beta.h. */
#include "models/beta.h"

#include "base/assert.h"
#include "base/exactmath.h"

#include <math.h>

enum { GRID = 4096 };

void beta_ratio_table(double mean, double spread, double ratio[BETA_ROWS])
{
    ASSERT(mean > 0 && mean < 1 && spread >= 0);
    for (int i = 0; i < BETA_ROWS; i++) ratio[i] = 1;
    const double sd = spread * mean;
    if (sd <= 0) return;
    const double total = mean * (1 - mean) / (sd * sd) - 1; /* alpha + beta */
    ASSERT(total > 0);
    const double alpha = mean * total, beta = (1 - mean) * total;
    const double top = mean + 12 * sd < 1 ? mean + 12 * sd : 1;
    /* The density relative to its value at the mean keeps the exponentials in range. */
    const double log_mean = exact_log(mean), log_rest = exact_log1p(-mean);
    double cumulative[GRID + 1], last = 0;
    cumulative[0] = 0;
    for (int i = 1; i <= GRID; i++) {
        const double x = top * (i / (double)GRID);
        if (x >= 1) { /* the last cell up to 1: its density is a power of 1 - x, integrated */
            cumulative[i] = cumulative[i - 1] + last / beta;
            break;
        }
        const double density = exact_exp((alpha - 1) * (exact_log(x) - log_mean) +
                                         (beta - 1) * (exact_log1p(-x) - log_rest));
        /* the first cell: a power of x */
        cumulative[i] = i == 1 ? density / alpha : cumulative[i - 1] + 0.5 * (density + last);
        last = density;
    }
    double sum = 0;
    for (int i = 0, at = 1; i < BETA_ROWS; i++) {
        const double wanted = cumulative[GRID] * (i + 0.5) / BETA_ROWS;
        while (cumulative[at] < wanted) at++;
        double within = (wanted - cumulative[at - 1]) / (cumulative[at] - cumulative[at - 1]);
        if (at == 1) within = exact_pow(within, 1 / alpha);
        if (at == GRID && top >= 1) within = 1 - exact_pow(1 - within, 1 / beta);
        ratio[i] = top * (at - 1 + within) / GRID;
        sum += ratio[i];
    }
    for (int i = 0; i < BETA_ROWS; i++) ratio[i] *= BETA_ROWS / sum;
}
