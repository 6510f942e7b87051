/* wire.c - see wire.h. */
#include "models/wire.h"

#include "base/assert.h"

static struct wire flat_wire(const struct collective_place *place, double size_bytes)
{
    const double n = place->gpus;
    const double bytes = 2.0 * (n - 1.0) / n * size_bytes;
    double bandwidth = place->network_bytes_per_s;
    if (place->gpus > place->servers && place->intra_bytes_per_s < bandwidth)
        bandwidth = place->intra_bytes_per_s;
    return (struct wire){ .bytes = bytes, .alone_s = bytes / bandwidth };
}

static struct wire hierarchical_wire(const struct collective_place *place, double size_bytes,
                                     bool tree)
{
    const double servers = place->servers;
    const double coefficient =
        tree ? tree_coefficient(place->servers) : 2.0 * (servers - 1.0) / servers;
    const struct hierarchical_time time =
        hierarchical_allreduce(place, size_bytes, tree ? INTER_TREE : INTER_RING);
    return (struct wire){ .bytes = coefficient * size_bytes,
                          .alone_s = time.intra_s > time.inter_s ? time.intra_s : time.inter_s };
}

struct wire allreduce_wire(const struct collective_place *place, double size_bytes,
                           enum allreduce_algorithm algorithm)
{
    ASSERT(place->servers >= 1 && place->gpus >= place->servers);
    if (place->servers == 1) return (struct wire){ 0 };
    if (algorithm == ALLREDUCE_FLAT_RING) return flat_wire(place, size_bytes);
    return hierarchical_wire(place, size_bytes, algorithm == ALLREDUCE_HIER_TREE);
}
