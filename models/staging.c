/* staging.c - see staging.h. */
#include "models/staging.h"

#include "base/assert.h"

double staged_allreduce_s(const struct staged_group *group, double size_bytes,
                          double rank_bytes_per_s)
{
    ASSERT(group->servers >= 1 && group->gpus >= group->servers);
    ASSERT(group->gpus_most >= 1 && size_bytes >= 0 && rank_bytes_per_s > 0);
    if (group->servers == 1) return 0.0;
    const double n = group->gpus, factor = 2.0 * (n - 1.0) / n;
    const double shared = 1.0 + STAGING_RANK_COST * (group->gpus_most - 1.0);
    const double pair = group->servers == 2 ? STAGING_TWO_SERVERS : 1.0;
    return factor * size_bytes / rank_bytes_per_s * shared * pair;
}
