/* speed_mttf.c - how long a job lives on a layout; see speed.h. */
#include "cluster/speed.h"

#include <math.h>

double speed_job_mttf_s(const struct scenario *scenario, uint32_t gpus, uint32_t servers,
                        uint32_t gpus_per_server, uint32_t links_per_server,
                        uint32_t servers_per_leaf, uint32_t rails)
{
    const struct failures here = failures_of_servers(&scenario->failures, gpus_per_server);
    const struct failures *failures = &here;
    const double units[COMPONENTS] = {
        [COMPONENT_GPU] = failures->drain == DRAIN_NOW ? (double)servers * gpus_per_server : gpus,
        [COMPONENT_SERVER] = servers,
        [COMPONENT_LINK] =
            servers > 1 ? (1 - failures->slow_link.share) * servers * links_per_server : 0,
        [COMPONENT_LEAF] = servers > 1 ? ceil((double)servers / servers_per_leaf) * rails : 0,
        [COMPONENT_JOB] = 1,
    };
    double rate = 0;
    for (int c = 0; c < COMPONENTS; c++)
        if (failures->component[c].law != LAW_NONE)
            rate += units[c] / failures->component[c].mean_s;
    rate *= failures->scale;
    return rate > 0 ? 1 / rate : HUGE_VAL;
}
