/* kube_shares.h - what each queue deserves of a cluster: Volcano's proportion, KAI's fair share (SCHEDULING 3.5).
 *
 * Pure functions in doubles, by + - * / only. Tests: tests/test_kube_shares.c */
#ifndef GPUPLAN_POLICY_KUBE_SHARES_H
#define GPUPLAN_POLICY_KUBE_SHARES_H

#include "spec/kube.h"

#include <stdbool.h>
#include <stdint.h>

struct kube_share {
    double weight;        /* Volcano: of its share; KAI: of what is left after the quotas          */
    int32_t priority;     /* KAI: higher gets of what is left before the others                    */
    int64_t quota;        /* KAI: GPUs; INT64_MAX = as many as it wants                            */
    int64_t most;         /* GPUs: capability, or limit; INT64_MAX = none                          */
    int64_t requested[KUBE_RESOURCES]; /* of its jobs, waiting and running                         */
    double deserved[KUBE_RESOURCES];   /* out                                                     */
};

/* Proportion: what remains is divided by weight among the queues that want more, each capped by what it requests and may have;
 * what a capped one leaves is divided again. Each resource by itself. */
void kube_deserved_volcano(struct kube_share *shares, uint32_t count,
                           const int64_t total[KUBE_RESOURCES]);

/* KAI: the quota first, up to the request; the rest by priority, and by weight among equals. GPUs; of cores and memory
 * a queue deserves what it requests. */
void kube_deserved_kai(struct kube_share *shares, uint32_t count,
                       const int64_t total[KUBE_RESOURCES]);

/* The largest part of what the queue deserves that it has: who has least goes first. 0 when it deserves nothing
 * and has nothing, beyond all others when it has something. */
double kube_share_used(const struct kube_share *share, const int64_t allocated[KUBE_RESOURCES]);

#endif
