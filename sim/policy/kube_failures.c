/* kube_failures.c - what becomes of jobs that stop, and why jobs wait (SCHEDULING 5). */
#include "policy/kube_kueue.h"
#include "policy/kubernetes.h"

static struct sequel crash_sequel(struct kubernetes *kube, const struct policy_view *view,
                                  uint32_t live)
{
    struct kube_job *job = &kube->jobs[live];
    if (++job->crashes > view->scenario->kube.backoff_limit)
        return (struct sequel){ .again = false };
    return (struct sequel){ .again = true, .delay_ns = kube_restart_delay_ns(job->crashes) };
}

/* A job whose pods were evicted is replaced at once, or when its pods are gone; one that failed by itself after a delay, so
 * often as backoffLimit says; one that exceeds its deadline is over. */
struct sequel kube_sequel(void *memory, const struct policy_view *view, uint32_t live,
                          enum attempt_close how)
{
    struct kubernetes *kube = memory;
    const struct job_words *words = kube_words_of(view, live);
    switch (how) {
    case CLOSE_FINISHED:
        if (words && words->exit_code) return crash_sequel(kube, view, live);
        return (struct sequel){ .again = false };
    case CLOSE_LIMIT:
        return (struct sequel){ .again = false };
    case CLOSE_CRASH:
        return crash_sequel(kube, view, live);
    case CLOSE_NODE_FAIL:
    case CLOSE_REQUEUED:
        break;
    }
    return (struct sequel){ .again = true };
}

/* A silent node: its taint after the grace period, the eviction after the toleration. A broken GPU or link stops the
 * process, which its own watchdog sees. */
int64_t kube_detection_ns(void *memory, const struct policy_view *view, enum component component)
{
    (void)memory;
    const struct kube_spec *spec = &view->scenario->kube;
    if (component == COMPONENT_SERVER || component == COMPONENT_LEAF)
        return time_add(spec->node_monitor_grace_ns, spec->toleration_ns);
    return view->scenario->failures.detection_ns;
}

const char *kube_reason(void *memory, const struct policy_view *view, uint32_t live)
{
    const struct kubernetes *kube = memory;
    if (live >= kube->job_capacity) return NULL;
    const struct kube_job *job = &kube->jobs[live];
    if (job->held) return "Suspended";
    if (job->lost_node != KUBE_NO_PLACE) return "Terminating";
    if (job->refused > 0) return kube_refused_word(job);
    if (job->holds) return "WaitingForPods";
    if (job->kept) return "Preempting";
    (void)view;
    if (kube->kueue && kube->kueue->jobs[live].admitted == LIVE_NONE) return "QuotaReserved";
    return "Unschedulable";
}
