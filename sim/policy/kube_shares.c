/* kube_shares.c - see kube_shares.h. */
#include "policy/kube_shares.h"

#define BEYOND_ALL 1e18 /* more than any quotient of resources */

static double wanted(const struct kube_share *share, int resource)
{
    const int64_t requested = share->requested[resource];
    const bool capped = resource == KUBE_GPU && share->most < requested;
    return (double)(capped ? share->most : requested);
}

/* Divides what is left of a resource by weight among the queues from `priority` on that want more, until nothing is left or
 * nobody wants more; each round fills at least one queue or gives all away. */
static double fill_by_weight(struct kube_share *shares, uint32_t count, int resource, double left,
                             bool by_priority, int32_t priority)
{
    for (uint32_t round = 0; round <= count && left > 0; round++) {
        double weights = 0;
        for (uint32_t q = 0; q < count; q++)
            if ((!by_priority || shares[q].priority == priority) &&
                shares[q].deserved[resource] < wanted(&shares[q], resource))
                weights += shares[q].weight;
        if (!(weights > 0)) return left;
        double given = 0;
        for (uint32_t q = 0; q < count; q++) {
            struct kube_share *share = &shares[q];
            const double more = wanted(share, resource) - share->deserved[resource];
            if ((by_priority && share->priority != priority) || !(more > 0)) continue;
            const double part = left * (share->weight / weights);
            share->deserved[resource] += part < more ? part : more;
            given += part < more ? part : more;
        }
        left = given < left ? left - given : 0;
    }
    return left;
}

void kube_deserved_volcano(struct kube_share *shares, uint32_t count,
                           const int64_t total[KUBE_RESOURCES])
{
    for (int r = 0; r < KUBE_RESOURCES; r++) {
        for (uint32_t q = 0; q < count; q++) shares[q].deserved[r] = 0;
        fill_by_weight(shares, count, r, (double)total[r], false, 0);
    }
}

/* The highest priority below `below`; false when there is none. */
static bool next_priority(const struct kube_share *shares, uint32_t count, int64_t below,
                          int32_t *priority)
{
    bool found = false;
    for (uint32_t q = 0; q < count; q++) {
        if (shares[q].priority >= below || (found && shares[q].priority <= *priority)) continue;
        *priority = shares[q].priority;
        found = true;
    }
    return found;
}

void kube_deserved_kai(struct kube_share *shares, uint32_t count,
                       const int64_t total[KUBE_RESOURCES])
{
    double left = (double)total[KUBE_GPU];
    for (uint32_t q = 0; q < count; q++) {
        struct kube_share *share = &shares[q];
        for (int r = 0; r < KUBE_RESOURCES; r++) share->deserved[r] = (double)share->requested[r];
        const double want = wanted(share, KUBE_GPU), quota = (double)share->quota;
        share->deserved[KUBE_GPU] = quota < want ? quota : want;
        left -= share->deserved[KUBE_GPU];
    }
    int64_t below = INT64_MAX;
    for (int32_t priority = 0; left > 0 && next_priority(shares, count, below, &priority);) {
        left = fill_by_weight(shares, count, KUBE_GPU, left, true, priority);
        below = priority;
    }
}

double kube_share_used(const struct kube_share *share, const int64_t allocated[KUBE_RESOURCES])
{
    double most = 0;
    for (int r = 0; r < KUBE_RESOURCES; r++) {
        if (allocated[r] == 0) continue;
        const double part =
            share->deserved[r] > 0 ? (double)allocated[r] / share->deserved[r] : BEYOND_ALL;
        if (part > most) most = part;
    }
    return most;
}
