/* kubernetes.h - what the files of the Kubernetes policy share; only they and their tests include it.
 *
 * A job is so many pods, each a part of a placement. Pods are placed one at a time; a job starts when all of its pods
 * have a place, and what it holds until then is claimed. With a gang rule a job takes places for all its pods at once or none.
 * A running job that loses a pod is stopped whole and waits again with all its pods.
 *
 * Leaves out: the plugins PodTopologySpread, InterPodAffinity and ImageLocality; disruption budgets of jobs (the rule is in
 * kube_preempt.h); the limit of 0.1 nodes/s on evictions; Volcano's preempt and KAI's consolidation; that a pod made anew for
 * a job that Kueue placed by topology goes to the domain of the one before it; scheduleTimeoutSeconds, which cannot pass: a gang is tried as a whole and holds nothing meanwhile. */
#ifndef GPUPLAN_POLICY_KUBERNETES_H
#define GPUPLAN_POLICY_KUBERNETES_H

#include "base/log.h"
#include "policy/kube_cycle.h"
#include "policy/kube_queue.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stdint.h>

/* A live job, as the scheduler knows it. */
struct kube_job {
    int32_t priority;
    uint32_t placed, placed_big; /* pods that have a place; of them, big ones                      */
    uint32_t refused;  /* pods that kubelets refused and that the Job controller has not made anew ... */
    int64_t replaced_ns; /* ... before                                                          */
    uint32_t draws;    /* of random numbers                                                    */
    uint32_t crashes;  /* failures that count against backoffLimit                              */
    uint32_t lost_node; /* the dead node that its terminating pods are on; KUBE_NO_PLACE         */
    uint32_t kept;     /* places that are kept for it ...                                       */
    int64_t kept_until_ns; /* ... and when their last pod is told to be gone                       */
    uint32_t start_no; /* counts its starts: names one of them in the list of terminations         */
    bool holds;        /* it is among the counted priorities                                    */
    bool terminating;  /* its pods were told to end                                             */
    bool held;         /* suspended by a user                                                   */
    bool blocked;
    bool never_preempts;
};

/* A running job whose pods end when their grace period is over. */
struct kube_termination {
    int64_t at_ns;
    uint32_t live, serial, start_no;
};

/* What is to be told to the handlers before anything else. */
struct kube_todo {
    enum decide what;
    uint32_t live, serial;
    const char *reason;
};

/* How many jobs of one priority hold something. */
struct kube_level {
    int32_t priority;
    uint32_t jobs;
};

struct kube_kueue;
struct kube_batch;
struct kube_autoscaler;
struct kube_operator;

struct kubernetes {
    struct kube_shapes shapes;
    struct kube_nodes nodes;
    struct kube_cycle cycle;
    struct kube_queue queue;
    struct kube_job *jobs;     /* [job_capacity] by live row                                     */
    uint32_t job_capacity;
    struct part *parts;        /* [part_capacity] of the decision at hand                        */
    uint32_t part_capacity;
    struct log terminations;   /* struct kube_termination, in order of time                       */
    uint64_t next_termination;
    struct log todo;           /* struct kube_todo                                              */
    uint64_t next_todo;
    struct log levels;         /* struct kube_level                                             */
    struct log refusals;       /* pods that kubelets refused, not told yet                         */
    uint64_t next_refusal;
    struct log replacements;   /* pods that Job controllers will make                              */
    int64_t replacement_ns;    /* the first of them; TIME_NEVER                                     */
    uint64_t own_releases;     /* places given up that the cluster does not count                 */
    struct kube_kueue *kueue;       /* NULL without it                                          */
    struct kube_batch *batch;       /* Volcano or KAI instead of the default scheduler             */
    struct kube_autoscaler *autoscaler; /* NULL without it                                       */
    struct kube_operator *gpu_operator; /* NULL when it does nothing                             */
    int64_t now_ns;
    bool out_of_memory;
    /* scratch of preemption */
    struct kube_running *pods;
    uint32_t *pod_lives, *victims, *spare;
    uint32_t pod_capacity;
    struct log marked;         /* uint32_t: jobs told to end by the try at hand                   */
};

const struct kube_pods *kube_pods_of(const struct kubernetes *kube, const struct policy_view *view,
                                     uint32_t live);

/* The words of the job, NULL when the trace has none. */
static inline const struct job_words *kube_words_of(const struct policy_view *view, uint32_t live)
{
    return view->jobs->words ? &view->jobs->words[view->live->jobs[live].row] : (void *)0;
}

/* Releases of the cluster and of places kept. */
static inline uint64_t kube_releases(const struct kubernetes *kube, const struct policy_view *view)
{
    return view->cluster->releases + kube->own_releases;
}

/* The job wants to run: it asks for admission first where that is needed. */
void kube_enqueue(struct kubernetes *kube, const struct policy_view *view, uint32_t live);

/* The handlers are told this before anything else. */
void kube_tell(struct kubernetes *kube, const struct policy_view *view, enum decide what,
               uint32_t live, const char *reason);

/* The scheduler's queue: the job's pods want nodes. */
void kube_enqueue_pods(struct kubernetes *kube, const struct policy_view *view, uint32_t live);

/* A waiting job's pods are deleted: it leaves the scheduler's queue and gives back what it holds. */
void kube_take_pods_back(struct kubernetes *kube, const struct policy_view *view, uint32_t live);

/* The queue in which the pods of the job wait for nodes. */
struct kube_queue *kube_queue_of(struct kubernetes *kube, uint32_t live);

/* How many of the job's next pods find places together, or none. */
uint32_t kube_pods_at_once(const struct kubernetes *kube, const struct policy_view *view,
                           uint32_t live);

/* Pods of the job that are there and have no place. */
uint32_t kube_pods_waiting(const struct kubernetes *kube, const struct policy_view *view,
                           uint32_t live);

/* The index, for kube_pod, of the job's next pod. */
static inline uint32_t kube_next_pod(const struct kube_job *job)
{
    return job->placed_big;
}

/* Places for the next `count` pods of the job become a decision; false: some find none. */
bool kube_place_pods(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                     uint32_t count, struct decision *decision);

/* The job starts with pods_on[nodes] of its pods on each node; they fit. */
void kube_start_on(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                   const uint32_t *pods_on, struct decision *decision);

/* ---- kube_notes.c ---- */

void kube_note(void *memory, const struct policy_view *view, struct note note);

/* ---- kube_failures.c: what becomes of jobs that stop, see policy.h ---- */

struct sequel kube_sequel(void *memory, const struct policy_view *view, uint32_t live,
                          enum attempt_close how);
int64_t kube_detection_ns(void *memory, const struct policy_view *view, enum component component);
const char *kube_reason(void *memory, const struct policy_view *view, uint32_t live);

/* ---- kube_kubelet.c ---- */

void kube_kubelet_init(struct kubernetes *kube);
void kube_kubelet_clear(struct kubernetes *kube);

/* The kubelets get `count` pods of the job, from index `first` on, on the nodes of kube->parts: the parts of those that they
 * take are left there, in order. The others have failed. */
struct kube_admitted_pods {
    uint32_t count, big_count;
};
struct kube_admitted_pods kube_admit_pods(struct kubernetes *kube, const struct policy_view *view,
                                          uint32_t live, uint32_t first, uint32_t count);

/* The next pod that was refused, as a decision. */
bool kube_next_refusal(struct kubernetes *kube, struct decision *decision);

/* Pods whose time has come are made anew. */
void kube_replace_pods(struct kubernetes *kube, const struct policy_view *view);

/* From the last of so many failures of a Job to its next pod: 10 s, doubled up to 360 s. */
int64_t kube_restart_delay_ns(uint32_t failures);

/* The word of a job that waits for a pod to be made anew, NULL of any other. */
const char *kube_refused_word(const struct kube_job *job);

/* ---- kube_evict.c ---- */

bool kube_evict_init(struct kubernetes *kube);
void kube_evict_clear(struct kubernetes *kube);

/* Finds places for `count` pods of a waiting job by ending jobs of lower priority, and keeps them: all or, unless
 * `together`, as many as can be. Returns how many places are kept for it now. */
uint32_t kube_evict_for(struct kubernetes *kube, const struct policy_view *view, uint32_t live,
                        uint32_t count, bool together);

/* A kept place where the pod fits now, or KUBE_NO_PLACE. */
uint32_t kube_kept_node(const struct kubernetes *kube, const struct kube_candidate *candidate);

/* All places kept for the job are given up. */
void kube_unkeep(struct kubernetes *kube, uint32_t live);

/* A job holds something, or no longer. */
void kube_count_priority(struct kubernetes *kube, int32_t priority, int by);

/* Its pods end after the grace period. */
void kube_terminate(struct kubernetes *kube, const struct policy_view *view, uint32_t live);

/* The next job whose grace period is over, as a decision. */
bool kube_next_termination(struct kubernetes *kube, const struct policy_view *view,
                           struct decision *decision);
int64_t kube_termination_due_ns(const struct kubernetes *kube);

extern const struct policy policy_kubernetes;

#endif
