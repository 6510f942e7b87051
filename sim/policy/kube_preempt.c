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

static void change_amounts(struct kube_amounts *sum, const struct kube_amounts *by, int64_t sign)
{
    for (uint32_t r = 0; r < KUBE_AMOUNTS; r++) sum->of[r] += sign * by->of[r];
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

struct kube_loss kube_victims(const struct kube_amounts *allocatable,
                              const struct kube_running *pods, uint32_t count,
                              const struct kube_amounts *request, int32_t priority,
                              const int32_t *allowed, uint32_t *victims, uint32_t *spare)
{
    struct kube_loss loss = { 0 };
    struct kube_amounts used = { { 0 } };
    uint32_t *lower = spare, lower_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (pods[i].priority < priority)
            insert_row(pods, lower, lower_count++, i);
        else
            change_amounts(&used, &pods[i].request, 1);
    }
    if (lower_count == 0 || kube_short_amounts(allocatable, &used, request)) return loss;
    loss.possible = true;
    const uint32_t breaking = split_by_budget(pods, lower, lower_count, allowed, spare + count,
                                              spare + 2 * (size_t)count);
    for (uint32_t i = 0; i < lower_count; i++) {
        const struct kube_running *pod = &pods[lower[i]];
        change_amounts(&used, &pod->request, 1);
        if (!kube_short_amounts(allocatable, &used, request)) continue;
        change_amounts(&used, &pod->request, -1);
        note_victim(&loss, pod);
        insert_row(pods, victims, loss.victim_count++, lower[i]);
        loss.violations += i < breaking;
    }
    return loss;
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
