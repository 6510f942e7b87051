/* kube_preempt.c - see kube_preempt.h.
 *
 * Pods of one node are few, so they are put in order by insertion. */
#include "policy/kube_preempt.h"

#include "base/assert.h"

#include <stddef.h>

bool kube_more_important(const struct kube_running *a, const struct kube_running *b)
{
    if (a->priority != b->priority) return a->priority > b->priority;
    return a->start_ns < b->start_ns;
}

/* Inserts a row behind all that are at least as important. */
static void insert_row(const struct kube_running *pods, uint32_t *rows, uint32_t count,
                       uint32_t row)
{
    uint32_t at = count;
    for (; at > 0 && kube_more_important(&pods[row], &pods[rows[at - 1]]); at--)
        rows[at] = rows[at - 1];
    rows[at] = row;
}

/* A node with some of its pods. */
struct load {
    const struct kube_amounts *allocatable;
    struct kube_amounts used;
    struct kube_gpus gpus;
    bool by_gpu;
};

static struct load load_of(const struct kube_amounts *allocatable, const struct kube_gpus *gpus)
{
    struct load load = { .allocatable = allocatable, .by_gpu = gpus != NULL };
    if (gpus) load.gpus = *gpus;
    return load;
}

static void change_load(struct load *load, const struct kube_running *pod, int sign)
{
    for (uint32_t r = 0; r < KUBE_AMOUNTS; r++) load->used.of[r] += sign * pod->request.of[r];
    if (load->by_gpu) kube_gpus_change(&load->gpus, pod->gpus, pod->milli, sign);
}

static bool load_takes(const struct load *load, const struct kube_amounts *request)
{
    uint32_t too_little = kube_short_amounts(load->allocatable, &load->used, request);
    if (!load->by_gpu) return too_little == 0;
    too_little &= ~(1u << KUBE_GPU | 1u << KUBE_FRACTION);
    return too_little == 0 && kube_gpus_fit(&load->gpus, (uint32_t)request->of[KUBE_GPU],
                                            (uint32_t)request->of[KUBE_FRACTION]);
}

/* The lower pods by importance, those whose budget breaks first. A budget is spent on the more important ones.
 * lower[count] in order; breaking and others are scratch. Returns how many break. */
static uint32_t split_by_budget(const struct kube_running *pods, uint32_t *lower, uint32_t count,
                                const int32_t *allowed, uint32_t *breaking, uint32_t *others)
{
    uint32_t breaking_count = 0, other_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t budget = pods[lower[i]].budget;
        int32_t used = 0;
        if (budget != KUBE_NO_BUDGET)
            for (uint32_t k = 0; k <= i; k++) used += pods[lower[k]].budget == budget;
        if (budget != KUBE_NO_BUDGET && used > allowed[budget])
            breaking[breaking_count++] = lower[i];
        else
            others[other_count++] = lower[i];
    }
    for (uint32_t i = 0; i < breaking_count; i++) lower[i] = breaking[i];
    for (uint32_t i = 0; i < other_count; i++) lower[breaking_count + i] = others[i];
    return breaking_count;
}

static void note_victim(struct kube_loss *loss, const struct kube_running *pod)
{
    const bool first = loss->victim_count == 0;
    if (first || pod->priority > loss->top_priority) {
        loss->top_priority = pod->priority;
        loss->top_start_ns = pod->start_ns;
    } else if (pod->priority == loss->top_priority && pod->start_ns < loss->top_start_ns)
        loss->top_start_ns = pod->start_ns;
    loss->priority_sum += pod->priority + (INT64_C(1) << 31);
}

struct kube_loss kube_victims(const struct kube_amounts *allocatable, const struct kube_gpus *gpus,
                              const struct kube_running *pods, uint32_t count,
                              const struct kube_amounts *request, int32_t priority,
                              const int32_t *allowed, uint32_t *victims, uint32_t *spare)
{
    struct kube_loss loss = { 0 };
    struct load load = load_of(allocatable, gpus);
    uint32_t *lower = spare, lower_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (pods[i].priority < priority)
            insert_row(pods, lower, lower_count++, i);
        else
            change_load(&load, &pods[i], 1);
    }
    if (lower_count == 0 || !load_takes(&load, request)) return loss;
    loss.possible = true;
    const uint32_t breaking = split_by_budget(pods, lower, lower_count, allowed, spare + count,
                                              spare + 2 * (size_t)count);
    for (uint32_t i = 0; i < lower_count; i++) {
        const struct kube_running *pod = &pods[lower[i]];
        change_load(&load, pod, 1);
        if (load_takes(&load, request)) continue;
        change_load(&load, pod, -1);
        note_victim(&loss, pod);
        insert_row(pods, victims, loss.victim_count++, lower[i]);
        loss.violations += i < breaking;
    }
    return loss;
}

bool kube_fits_beside(const struct kube_amounts *allocatable, const struct kube_gpus *gpus,
                      const struct kube_running *pods, uint32_t count,
                      const struct kube_amounts *request)
{
    struct load load = load_of(allocatable, gpus);
    for (uint32_t i = 0; i < count; i++) change_load(&load, &pods[i], 1);
    return load_takes(&load, request);
}

bool kube_loss_is_less(const struct kube_loss *a, const struct kube_loss *b)
{
    if (a->violations != b->violations) return a->violations < b->violations;
    if (!a->victim_count || !b->victim_count) return a->victim_count < b->victim_count;
    if (a->top_priority != b->top_priority) return a->top_priority < b->top_priority;
    if (a->priority_sum != b->priority_sum) return a->priority_sum < b->priority_sum;
    if (a->victim_count != b->victim_count) return a->victim_count < b->victim_count;
    return a->top_start_ns > b->top_start_ns;
}
