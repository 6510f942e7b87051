/* compare_load.c - what a layout is offered, what it needs, and whether it keeps up. */
#include "report/compare_parts.h"

#include <math.h>

static double value_of(const struct comparison *c, const char *name, uint32_t layout,
                       uint32_t replica, double missing)
{
    const struct quantity *quantity = comparison_find(c, name, CLASS_NONE);
    if (quantity == NULL) return missing;
    const double value = comparison_values(c, quantity, layout)[replica];
    return isnan(value) ? missing : value;
}

double comparison_needs(const struct comparison *c, uint32_t layout, uint32_t replica)
{
    const double asked = value_of(c, "effective_load", layout, replica, NAN);
    const double there = 1 - value_of(c, "share_down", layout, replica, 0) -
                         value_of(c, "share_draining", layout, replica, 0);
    return there > 0 ? asked / there : asked > 0 ? INFINITY : asked;
}

static double mean_needs(const struct comparison *c, uint32_t layout)
{
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t replica = 0; replica < c->replica_count; replica++) {
        const double needs = comparison_needs(c, layout, replica);
        if (isnan(needs)) continue;
        sum += needs;
        n++;
    }
    return n > 0 ? sum / n : NAN;
}

double comparison_stuck(const struct comparison *c, uint32_t layout)
{
    const struct quantity *quantity = comparison_find(c, "jobs_stuck", CLASS_NONE);
    const double jobs = quantity != NULL ? quantity->cells[layout].value.mean : 0;
    return jobs > 0 ? jobs : 0;
}

void comparison_fill_loads(struct comparison *c)
{
    const struct quantity *measured = comparison_find(c, "offered_load", CLASS_NONE);
    for (uint32_t i = 0; i < c->layout_count; i++) {
        const double seen = measured != NULL ? measured->cells[i].value.mean : NAN;
        c->load[i] = c->stored->layouts[i].offered_load;
        if (seen > c->load[i] || (c->to_the_end && !isnan(seen))) c->load[i] = seen;
        c->needs[i] = mean_needs(c, i);
        /* Its window ended before its jobs: a quotient of both says nothing. */
        if (comparison_stuck(c, i) > 0) c->load[i] = c->needs[i] = NAN;
    }
}

bool comparison_saturated(const struct comparison *c, uint32_t layout)
{
    if (comparison_stuck(c, layout) > 0) return true;
    if (!isnan(c->needs[layout])) return c->needs[layout] > 1;
    return c->load[layout] >= 1;
}
