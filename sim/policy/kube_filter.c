/* kube_filter.c - see kube_filter.h. */
#include "policy/kube_filter.h"

#include "base/assert.h"

#include <string.h>

/* What a cordoned node carries, for pods that tolerate it. */
static const struct kube_taint cordon_taint = { "node.kubernetes.io/unschedulable", "",
                                                TAINT_NO_SCHEDULE };

bool kube_tolerates(const struct kube_wish *wish, const struct kube_taint *taint)
{
    for (uint32_t i = 0; i < wish->toleration_count; i++) {
        const struct kube_toleration *toleration = &wish->tolerations[i];
        if (toleration->effect != TAINT_ANY && toleration->effect != taint->effect) continue;
        if (toleration->exists && !toleration->key[0]) return true;
        if (strcmp(toleration->key, taint->key) != 0) continue;
        if (toleration->exists || !strcmp(toleration->value, taint->value)) return true;
    }
    return false;
}

static const char *label_value(const struct kube_facts *facts, const char *key)
{
    for (uint32_t i = 0; i < facts->label_count; i++)
        if (!strcmp(facts->labels[i].key, key)) return facts->labels[i].value;
    return NULL;
}

static bool is_one_of(const char *value, const struct kube_expression *expression)
{
    for (uint32_t i = 0; i < expression->value_count; i++)
        if (!strcmp(value, expression->values[i])) return true;
    return false;
}

/* The whole text as an integer. */
static bool integer_of(const char *text, int64_t *number)
{
    const bool minus = *text == '-';
    text += minus;
    int64_t sum = 0;
    if (!*text) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, *text - '0', &sum))
            return false;
    }
    *number = minus ? -sum : sum;
    return true;
}

/* A missing label is in no list, so NotIn holds; Gt and Lt do not. */
static bool expression_holds(const struct kube_expression *expression,
                             const struct kube_facts *facts)
{
    const char *value = label_value(facts, expression->key);
    int64_t have, limit;
    switch (expression->what) {
    case LABEL_IN:
        return value && is_one_of(value, expression);
    case LABEL_NOT_IN:
        return !value || !is_one_of(value, expression);
    case LABEL_EXISTS:
        return value != NULL;
    case LABEL_NOT_EXISTS:
        return value == NULL;
    case LABEL_GT:
    case LABEL_LT:
        if (!value || expression->value_count != 1 || !integer_of(value, &have) ||
            !integer_of(expression->values[0], &limit))
            return false;
        return expression->what == LABEL_GT ? have > limit : have < limit;
    }
    return false;
}

bool kube_term_matches(const struct kube_term *term, const struct kube_facts *facts)
{
    for (uint32_t i = 0; i < term->count; i++)
        if (!expression_holds(&term->expressions[i], facts)) return false;
    return term->count > 0;
}

static bool some_required_matches(const struct kube_facts *facts, const struct kube_wish *wish)
{
    for (uint32_t i = 0; i < wish->required_count; i++)
        if (kube_term_matches(&wish->required[i], facts)) return true;
    return wish->required_count == 0;
}

/* A key to name when no required term matched: the first expression that does not hold. */
static const char *failing_key(const struct kube_facts *facts, const struct kube_wish *wish)
{
    for (uint32_t i = 0; i < wish->required_count; i++)
        for (uint32_t e = 0; e < wish->required[i].count; e++)
            if (!expression_holds(&wish->required[i].expressions[e], facts))
                return wish->required[i].expressions[e].key;
    return "";
}

struct kube_verdict kube_filter_facts(const struct kube_facts *facts, const struct kube_wish *wish)
{
    if (facts->unschedulable && !kube_tolerates(wish, &cordon_taint))
        return (struct kube_verdict){ .why = REJECT_CORDONED };
    for (uint32_t i = 0; i < facts->taint_count; i++) {
        const struct kube_taint *taint = &facts->taints[i];
        if (taint->effect != TAINT_PREFER_NO_SCHEDULE && !kube_tolerates(wish, taint))
            return (struct kube_verdict){ .why = REJECT_TAINT, .key = taint->key };
    }
    for (uint32_t i = 0; i < wish->selector_count; i++) {
        const char *value = label_value(facts, wish->selector[i].key);
        if (!value || strcmp(value, wish->selector[i].value) != 0)
            return (struct kube_verdict){ .why = REJECT_SELECTOR, .key = wish->selector[i].key };
    }
    if (!some_required_matches(facts, wish))
        return (struct kube_verdict){ .why = REJECT_AFFINITY, .key = failing_key(facts, wish) };
    return (struct kube_verdict){ .why = REJECT_NONE };
}

uint32_t kube_short_amounts(const struct kube_amounts *allocatable, const struct kube_amounts *used,
                            const struct kube_amounts *request)
{
    uint32_t too_little = 0;
    for (uint32_t r = 0; r < KUBE_AMOUNTS; r++)
        if (request->of[r] > 0 && request->of[r] > allocatable->of[r] - used->of[r])
            too_little |= 1u << r;
    return too_little;
}

struct kube_verdict kube_filter(const struct kube_facts *facts, const struct kube_wish *wish,
                                const struct kube_amounts *allocatable,
                                const struct kube_amounts *used, const struct kube_amounts *request)
{
    struct kube_verdict verdict = kube_filter_facts(facts, wish);
    if (verdict.why != REJECT_NONE) return verdict;
    verdict.short_amounts = kube_short_amounts(allocatable, used, request);
    if (verdict.short_amounts) verdict.why = REJECT_RESOURCE;
    return verdict;
}

uint32_t kube_nodes_to_find(uint32_t nodes, uint32_t percentage)
{
    enum { FEW = 100, HIGHEST_PERCENT = 50, NODES_PER_PERCENT = 125, LEAST_PERCENT = 5 };
    if (nodes <= FEW || percentage >= 100) return nodes;
    if (percentage == 0) {
        const uint32_t less = nodes / NODES_PER_PERCENT;
        percentage =
            less + LEAST_PERCENT > HIGHEST_PERCENT ? LEAST_PERCENT : HIGHEST_PERCENT - less;
    }
    const uint32_t wanted = (uint32_t)((uint64_t)nodes * percentage / 100);
    return wanted > FEW ? wanted : FEW;
}
