/* kube_quota.h - quota of Kueue's ClusterQueues: what fits, what it borrows, and who must go (SCHEDULING 3.5).
 *
 * Pure functions over the queues' books. A cohort is one level: the queues that name it share what they do not use.
 * Borrowing and lending limits are of GPUs. Source: Kueue's scheduler and its classical preemption.
 * Tests: tests/test_kube_quota.c */
#ifndef GPUPLAN_POLICY_KUBE_QUOTA_H
#define GPUPLAN_POLICY_KUBE_QUOTA_H

#include "spec/kube.h"

#include <stdbool.h>
#include <stdint.h>

#define KUBE_NO_COHORT UINT32_MAX

struct kube_bill {
    int64_t of[KUBE_RESOURCES]; /* of all pods of a job                                          */
};

/* The books of one ClusterQueue. */
struct kube_account {
    struct kube_bill nominal; /* INT64_MAX = no limit                                           */
    struct kube_bill used;
    int64_t borrowing_gpus, lending_gpus; /* INT64_MAX = no limit                               */
    uint32_t cohort;
    enum kueue_preempt within, reclaim, borrow_within;
};

enum kube_fit_mode { QUOTA_FITS, QUOTA_BORROWS, QUOTA_EXCEEDED };

/* Whether the queue can take the bill now: from its own quota, by borrowing, or not. */
enum kube_fit_mode kube_quota_fit(const struct kube_account *accounts, uint32_t count,
                                  uint32_t queue, const struct kube_bill *bill);

/* Whether the queue could take it if nobody used anything: its own quota and all that it may borrow. */
bool kube_quota_ever(const struct kube_account *accounts, uint32_t count, uint32_t queue,
                     const struct kube_bill *bill);

/* An admitted job. */
struct kube_admitted {
    struct kube_bill bill;
    uint32_t queue, row;  /* row is the caller's                                               */
    int32_t priority;
    uint64_t admitted_no; /* larger is later                                                   */
    int64_t submit_ns;
};

/* The job that asks. */
struct kube_asking {
    struct kube_bill bill;
    uint32_t queue;
    int32_t priority;
    int64_t submit_ns;
};

/* Admitted jobs that must go so that the asking one fits: rows of jobs[count] in targets[], which is as long; 0 = no
 * set of them would do. Those of borrowing queues go first, then lower priority, then the latest admitted; at the end
 * those that are not needed are taken back, the last chosen first. The books are as they were afterwards.
 * order, spare: scratch [count]; key: scratch [count]. */
uint32_t kube_quota_targets(struct kube_account *accounts, uint32_t account_count,
                            const struct kube_asking *asking, const struct kube_admitted *jobs,
                            uint32_t count, uint32_t *targets, uint32_t *order, uint32_t *spare,
                            uint64_t *key);

void kube_quota_change(struct kube_account *account, const struct kube_bill *bill, int sign);

#endif
