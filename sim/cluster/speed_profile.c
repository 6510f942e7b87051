/* speed_profile.c - which profile of the mix a job has (speed.h). */
#include "cluster/speed.h"

#include "cluster/train_of.h"

#include <string.h>

bool speed_profile_admits(const struct mix_entry *entry, uint32_t gpus)
{
    const struct train_job *train = &entry->profile.train;
    if (gpus < entry->gpus_min || gpus > entry->gpus_max) return false;
    return train->model.id[0] == '\0' || gpus < 2 || gpus % train_job_multiple(train) == 0;
}

uint8_t speed_profile(const struct scenario *scenario, uint32_t gpus, double u)
{
    const struct communication *communication = &scenario->communication;
    double total = 0;
    for (uint32_t i = 0; i < communication->mix_count; i++) {
        const struct mix_entry *entry = &communication->mix[i];
        if (speed_profile_admits(entry, gpus)) total += entry->weight;
    }
    double left = u * total;
    uint8_t last = 0;
    for (uint32_t i = 0; i < communication->mix_count; i++) {
        const struct mix_entry *entry = &communication->mix[i];
        if (!speed_profile_admits(entry, gpus)) continue;
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

double speed_profile_uneven(const struct scenario *scenario, uint8_t profile, uint32_t gpus)
{
    const struct communication *communication = &scenario->communication;
    if (gpus < 2 || profile >= communication->mix_count) return 1;
    const double uneven = communication->mix[profile].profile.uneven;
    return uneven > 1 ? uneven : 1;
}
