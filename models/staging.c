/* staging.c - see staging.h. */
#include "models/staging.h"

#include "base/assert.h"

double staged_share(uint32_t servers, uint32_t gpus)
{
    ASSERT(servers >= 2 && gpus >= servers);
    const double ranks = (double)gpus / servers;
    const double pair = servers == 2 ? STAGING_TWO_SERVERS : 1.0;
    return 1.0 / ((1.0 + STAGING_RANK_COST * (ranks - 1.0)) * pair);
}
