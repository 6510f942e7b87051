/* kube_numa.c - see kube_numa.h. */
#include "policy/kube_numa.h"

#include "base/assert.h"
#include "base/bits.h"

static uint32_t sum_of(const uint32_t *counts, uint32_t sockets)
{
    uint32_t sum = 0;
    for (; sockets; sockets &= sockets - 1) sum += counts[__builtin_ctz(sockets)];
    return sum;
}

struct kube_hint kube_best_hint(const struct kube_socket_counts *counts, uint32_t sockets,
                                uint32_t size)
{
    ASSERT(sockets >= 1 && sockets <= KUBE_SOCKETS);
    uint32_t least = sockets;
    struct kube_hint best = { 0 };
    for (uint32_t set = 1; set < 1u << sockets; set++) {
        const uint32_t width = (uint32_t)bits_count(set);
        if (width < least && sum_of(counts->all, set) >= size) least = width;
        if (sum_of(counts->free, set) < size) continue;
        if (best.sockets == 0 || width < (uint32_t)bits_count(best.sockets)) best.sockets = set;
    }
    best.preferred = best.sockets && (uint32_t)bits_count(best.sockets) == least;
    return best;
}

bool kube_hint_admits(enum topology_manager policy, struct kube_hint hint)
{
    switch (policy) {
    case TM_NONE:
    case TM_BEST_EFFORT:
        return true;
    case TM_RESTRICTED:
        return hint.preferred;
    case TM_SINGLE_NUMA_NODE:
        return hint.preferred && bits_count(hint.sockets) == 1;
    }
    return false;
}
