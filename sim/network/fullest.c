/* fullest.c - see fullest.h. */
#include "network/fullest.h"

#include "base/assert.h"

#include <math.h>
#include <stdlib.h>

static const double CERTAIN = 1e-15; /* of the complement of a probability */

struct fullest_law {
    uint32_t first, count; /* at_most[i]: P(max <= first + i); 0 below, 1 behind */
    double at_most[];
};

void fullest_clear(struct fullest *fullest)
{
    for (uint32_t flows = 0; flows <= ECMP_FLOWS_MAX; flows++) free(fullest->of[flows]);
    *fullest = (struct fullest){ 0 };
}

/* Below an even spread one cable always holds more. */
static struct fullest_law *law_of(uint32_t flows, uint32_t cables)
{
    const uint32_t even = (flows + cables - 1) / cables;
    double at_most[ECMP_FLOWS_MAX + 1];
    uint32_t count = 0;
    for (uint32_t load = even; load < flows; load++) {
        const double odds = ecmp_at_most(flows, cables, load);
        if (1 - odds < CERTAIN) break;
        at_most[count++] = odds;
    }
    struct fullest_law *law = malloc(sizeof *law + count * sizeof *law->at_most);
    if (!law) return NULL;
    law->first = even;
    law->count = count;
    for (uint32_t i = 0; i < count; i++) law->at_most[i] = at_most[i];
    return law;
}

static double power(double base, uint32_t exponent)
{
    double result = 1;
    for (; exponent > 0; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

/* P(all cables hold at most `load`). */
static double within(const struct fullest_law *const *laws, const uint32_t *leaves, uint32_t count,
                     uint32_t load)
{
    double odds = 1;
    for (uint32_t k = 0; k < count; k++) {
        const struct fullest_law *law = laws[k];
        if (load >= law->first + law->count) continue;
        if (load < law->first) return 0;
        odds *= power(law->at_most[load - law->first], leaves[k]);
    }
    return odds;
}

bool fullest_mean(struct fullest *fullest, const struct fullest_leaves *kinds, uint32_t count,
                  double least, double *mean)
{
    const struct fullest_law *laws[FULLEST_KINDS];
    uint32_t leaves[FULLEST_KINDS], found = 0, most = 1, last = 0;
    ASSERT(count <= FULLEST_KINDS);
    for (uint32_t k = 0; k < count; k++)
        if (kinds[k].leaves > 0 && kinds[k].flows > most) most = kinds[k].flows;
    const double beyond = most > ECMP_FLOWS_MAX ? (double)most / ECMP_FLOWS_MAX : 1;
    for (uint32_t k = 0; k < count; k++) {
        if (kinds[k].leaves == 0 || kinds[k].flows == 0) continue;
        const uint32_t flows = (uint32_t)ceil(kinds[k].flows / beyond);
        if (!fullest->of[flows]) fullest->of[flows] = law_of(flows, fullest->cables);
        const struct fullest_law *law = fullest->of[flows];
        if (!law) return false;
        laws[found] = law;
        leaves[found++] = kinds[k].leaves;
        if (law->first + law->count > last) last = law->first + law->count;
    }
    least /= beyond;
    /* E max(least, M) = least + integral of P(M > x) from there on; P changes at whole numbers. */
    uint32_t load = least < last ? (uint32_t)least : last;
    double sum = least > load ? least : load, part = load + 1 - sum;
    for (; load < last; load++, part = 1) sum += part * (1 - within(laws, leaves, found, load));
    *mean = beyond * sum;
    return true;
}
