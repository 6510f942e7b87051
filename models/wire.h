/* wire.h - what an all-reduce puts on the network (MODELS 2.11), and how long its bandwidth terms take alone (2.4, 2.5).
 *
 * Pure functions. Tests: tests/test_wire.c */
#ifndef GPUPLAN_MODELS_WIRE_H
#define GPUPLAN_MODELS_WIRE_H

#include "models/collective.h"

struct wire {
    double bytes;   /* that leave each server, and enter it, over all its NICs together: 2(n-1)/n S of a flat ring,
                     * 2(N-1)/N S of a hierarchical one, c(N) S of a tree. As many leave a leaf that holds some of the
                     * servers and not all, when the ring goes from server to server in the order of the leaves; 0 on one server */
    double alone_s; /* the larger of the bandwidth terms: bytes / network, and what goes on inside the servers. The rest
                     * of the collective's time is latency and what the phases of a hierarchical form do not overlap */
};

/* place, size_bytes: as of models/collective; algorithm: the one that was chosen there. */
struct wire allreduce_wire(const struct collective_place *place, double size_bytes,
                           enum allreduce_algorithm algorithm);

#endif
