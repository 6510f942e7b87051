/* binomial.c - sums outwards from the mode. */
#include "models/binomial.h"

#include "base/assert.h"

#include <math.h>

/* Sums of the weights (mode = 1) over k in [from, to], all inside [0, n]. */
static double weights_from_to(uint32_t n, double p, uint32_t from, uint32_t to)
{
    const double odds = p / (1.0 - p);
    uint32_t mode = (uint32_t)floor((n + 1.0) * p);
    if (mode > n) mode = n;
    double sum = from <= mode && mode <= to ? 1.0 : 0.0;
    double weight = 1.0;
    for (uint32_t k = mode; k < to && weight > 0.0; k++) {
        weight *= (double)(n - k) / (k + 1.0) * odds;
        if (k + 1 >= from) sum += weight;
    }
    weight = 1.0;
    for (uint32_t k = mode; k > from && weight > 0.0; k--) {
        weight *= (double)k / ((n - k + 1.0) * odds);
        if (k - 1 <= to) sum += weight;
    }
    return sum;
}

static double probability(uint32_t n, double p, uint32_t from, uint32_t to)
{
    return weights_from_to(n, p, from, to) / weights_from_to(n, p, 0, n);
}

double binomial_at_least(uint32_t n, double p, uint32_t m)
{
    ASSERT(p >= 0 && p <= 1);
    if (m == 0) return 1.0;
    if (m > n || p == 0.0) return 0.0;
    if (p == 1.0) return 1.0;
    return probability(n, p, m, n);
}

double binomial_at_most(uint32_t n, double p, uint32_t m)
{
    ASSERT(p >= 0 && p <= 1);
    if (m >= n || p == 0.0) return 1.0;
    if (p == 1.0) return 0.0;
    return probability(n, p, 0, m);
}

uint32_t binomial_quantile(uint32_t n, double p, double q)
{
    ASSERT(q >= 0 && q <= 1);
    uint32_t low = 0, high = n; /* the answer lies in [low, high] */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (binomial_at_most(n, p, middle) >= q)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
