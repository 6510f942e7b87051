/* kube_kueue.h - Kueue: jobs are admitted by quota before their pods exist; Kueue may choose the nodes too (SCHEDULING 3.5).
 *
 * Each ClusterQueue has a queue of its own; a cycle looks at the heads of all of them. Those that need not borrow go
 * first, then higher priority, then older. A job admitted with a topology request is placed at once on the nodes that it
 * was assigned; any other goes on to the scheduler, which places its pods one at a time. A job belongs to the queue that
 * it names, else to the one that is called as its user, else to "default", else to the first. Quota is held from the
 * admission to the end or eviction, also over restarts that the job's own failures cause. */
#ifndef GPUPLAN_POLICY_KUBE_KUEUE_H
#define GPUPLAN_POLICY_KUBE_KUEUE_H

#include "policy/kube_assign.h"
#include "policy/kube_quota.h"
#include "policy/kubernetes.h"

/* A job, by live row. */
struct kueue_job {
    struct kube_bill bill;
    uint32_t queue;
    uint32_t admitted; /* row in the list of admitted jobs; LIVE_NONE = waits                       */
};

/* What the admitted jobs of one queue and priority use. */
struct kueue_level {
    int32_t priority;
    struct kube_bill used;
};

enum { KUEUE_LEVELS = 16 }; /* priorities of a queue that are summed up; more are searched job by job */

/* The sums of one queue. */
struct kueue_levels {
    struct kueue_level rows[KUEUE_LEVELS];
    uint32_t count;
    bool is_full; /* some priority has no row                                                   */
};

struct kube_kueue {
    uint32_t count;
    struct kube_account *accounts;  /* [count]                                                   */
    struct kube_queue *waiting;     /* [count]                                                   */
    struct kueue_levels *levels;    /* [count]                                                   */
    struct kube_account *scratch;   /* [count]                                                   */
    bool *blocked;                  /* [count] for the rest of this pass                            */
    struct kueue_job *jobs;         /* [job_capacity]                                            */
    uint32_t job_capacity;
    struct kube_admitted *admitted; /* [admitted_count]; `row` is the live row                       */
    uint32_t admitted_count, admitted_capacity;
    uint64_t admissions;
    /* scratch of preemption, as long as admitted */
    struct kube_admitted *candidates;
    uint32_t *targets, *order, *spare;
    uint64_t *key;
    struct kube_assign assign;
};

bool kube_kueue_init(struct kube_kueue *kueue, const struct policy_view *view, struct arena *arena);
void kube_kueue_clear(struct kube_kueue *kueue);

/* Why the job can never be admitted, a constant text; NULL = it is known now and can be. */
const char *kube_kueue_submit(struct kubernetes *kube, const struct policy_view *view,
                              uint32_t live);

/* The job waits for admission, or, when it is admitted still, for its pods. */
void kube_kueue_enqueue(struct kubernetes *kube, const struct policy_view *view, uint32_t live);

/* Its pods have ended; `evicted`: its quota goes too. */
void kube_kueue_end(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                    bool evicted);

/* It leaves for good. */
void kube_kueue_leave(struct kubernetes *kube, uint32_t live);

void kube_kueue_begin(struct kube_kueue *kueue); /* a pass begins */

/* Admits what can be; true: one of them starts by the decision. */
bool kube_kueue_next(struct kubernetes *kube, const struct policy_view *view,
                     struct decision *decision);

#endif
