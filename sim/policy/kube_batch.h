/* kube_batch.h - schedulers that replace the default one: Volcano and KAI (SCHEDULING 3.5).
 *
 * One cycle a second, on whole seconds, and only after something has changed. In a cycle the queue that has the least
 * of what it deserves goes first; in a queue higher priority, then older. A job gets places for all its pods, or for
 * minAvailable of them, or none.
 *
 *   Volcano  a queue may not have more than it deserves; points are those of the profile plus binpack. Reclaim: a queue
 *            that has less than it deserves evicts pods of queues that stay at what they deserve, only of jobs of one
 *            pod, as its gang plugin has it.
 *   KAI      a queue may have more than its fair share, up to its limit. The fullest node, or the fullest topology domain that
 *            holds the job. Reclaim: a queue within its fair share evicts whole jobs of queues above theirs.
 *
 * Shares and books count GPUs in thousandths, which a pod of KAI may ask for.
 *
 * Reclaim chooses the node that loses least; Volcano itself takes the first that does. Leaves out: the actions preempt
 * (inside a queue) and consolidation. */
#ifndef GPUPLAN_POLICY_KUBE_BATCH_H
#define GPUPLAN_POLICY_KUBE_BATCH_H

#include "policy/kube_assign.h"
#include "policy/kube_shares.h"
#include "policy/kubernetes.h"

struct batch_queue {
    struct kube_queue waiting;
    struct kube_share share;
    int64_t allocated[KUBE_RESOURCES];
    int64_t ending[KUBE_RESOURCES]; /* of it, what belongs to jobs that were told to end             */
    bool is_over;                   /* it has more than it deserves without what ends               */
    int64_t tally[KUBE_RESOURCES];  /* scratch: what the node at hand would lose of this queue        */
};

/* A job, by live row. */
struct batch_job {
    uint32_t queue;
    struct kube_bill bill, taken; /* of all its pods; of those that have a place                     */
    bool counted;                 /* its bill is among the requested                               */
};

struct kube_batch {
    uint32_t count;
    struct batch_queue *queues; /* [count]                                                       */
    struct kube_share *shares;  /* [count] scratch: the queues' shares side by side                 */
    struct batch_job *jobs;     /* [job_capacity]                                                */
    uint32_t job_capacity;
    int64_t cycle_ns;           /* the cycle that goes on or was the last                           */
    bool dirty;                 /* something changed since the last cycle                           */
    struct kube_assign assign;
};

bool kube_batch_init(struct kube_batch *batch, const struct policy_view *view, struct arena *arena);
void kube_batch_clear(struct kube_batch *batch);

/* Why the job can never run, a constant text; NULL = it is known now. */
const char *kube_batch_submit(struct kubernetes *kube, const struct policy_view *view,
                              uint32_t live);
void kube_batch_leave(struct kubernetes *kube, uint32_t live);
void kube_batch_end(struct kubernetes *kube, uint32_t live);
/* What one pod counts. */
struct kube_bill kube_batch_pod_bill(const struct kube_amounts *pod);

/* Pods of the job have places now. */
void kube_batch_took(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                     struct kube_admitted_pods pods);

bool kube_batch_next(struct kubernetes *kube, const struct policy_view *view,
                     struct decision *decision);
int64_t kube_batch_due_ns(const struct kube_batch *batch, int64_t now_ns);

/* Reclaim: how important a running job is to whoever reclaims now; INT32_MAX = it may not be evicted. `first`: the first
 * pod of a node. kube_batch_may_lose: a first look that lets nobody through whom the rank would not. */
void kube_batch_count_ending(struct kubernetes *kube, const struct policy_view *view);
bool kube_batch_may_lose(const struct kubernetes *kube, const struct policy_view *view,
                         uint32_t live, uint32_t reclaimer);
int32_t kube_batch_rank(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                        uint32_t reclaimer, const struct kube_bill *pod, bool first);

#endif
