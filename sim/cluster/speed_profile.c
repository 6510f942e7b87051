/* speed_profile.c - which profile of the mix a job has (speed.h). */
#include "cluster/speed.h"

#include <string.h>

uint8_t speed_profile(const struct scenario *scenario, uint32_t gpus, double u)
{
    const struct communication *communication = &scenario->communication;
    double total = 0;
    for (uint32_t i = 0; i < communication->mix_count; i++) {
        const struct mix_entry *entry = &communication->mix[i];
        if (gpus >= entry->gpus_min && gpus <= entry->gpus_max) total += entry->weight;
    }
    double left = u * total;
    uint8_t last = 0;
    for (uint32_t i = 0; i < communication->mix_count; i++) {
        const struct mix_entry *entry = &communication->mix[i];
        if (gpus < entry->gpus_min || gpus > entry->gpus_max) continue;
        last = (uint8_t)i;
        left -= entry->weight;
        if (left < 0) break;
    }
    return last;
}

uint8_t speed_profile_named(const struct scenario *scenario, const char *id)
{
    for (uint32_t i = 0; i < scenario->communication.mix_count; i++)
        if (!strcmp(scenario->communication.mix[i].profile.id, id)) return (uint8_t)i;
    return PROFILE_UNKNOWN;
}
