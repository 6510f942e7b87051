/* kube_yaml.h - pods and nodes of the Kubernetes oracles: YAML -> the structs of kube_filter.h.
 *
 * Reads the short words of the oracles (cpu_m, gpu, nodeSelector) and those of a pod's own spec (nvidia.com/gpu,
 * nodeAffinity with nodeSelectorTerms), so that other examples of the same kinds can be tried. Memory comes from the
 * document's arena. */
#ifndef GPUPLAN_TESTS_KUBE_YAML_H
#define GPUPLAN_TESTS_KUBE_YAML_H

#include "io/yaml.h"
#include "policy/kube_score.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of the extended resources of one example. */
struct kube_names {
    const char *of[KUBE_AMOUNTS];
    uint32_t count;
};

static inline bool key_is(const struct yaml_node *node, const char *a, const char *b)
{
    return node->key && (!strcmp(node->key, a) || !strcmp(node->key, b));
}

static inline bool node_integer(const struct yaml_node *node, int64_t *value)
{
    if (!node || node->kind != YAML_SCALAR || !node->text_bytes) return false;
    char *end;
    errno = 0;
    *value = strtoll(node->text, &end, 10);
    return !*end && !errno;
}

static inline int64_t child_integer(const struct yaml_node *map, const char *key, int64_t missing)
{
    int64_t value;
    return node_integer(yaml_child(map, key), &value) ? value : missing;
}

static inline const char *child_text(const struct yaml_node *map, const char *key,
                                     const char *missing)
{
    const struct yaml_node *node = yaml_child(map, key);
    return node && node->kind == YAML_SCALAR && !yaml_is_null(node) ? node->text : missing;
}

static inline void *take_rows(const struct yaml_node *node, size_t count, size_t bytes)
{
    return arena_take(node->document->arena, count + 1, bytes);
}

/* Resources: every integer that is not one of the other words of a pod. */
static inline int resource_of(struct kube_names *names, const char *key)
{
    static const char *const other[] = { "priority", "start_s", "count", "weight", "budget", NULL };
    for (int i = 0; other[i]; i++)
        if (!strcmp(key, other[i])) return -1;
    if (!strcmp(key, "cpu_m") || !strcmp(key, "cpu")) return KUBE_CPU;
    if (!strcmp(key, "memory")) return KUBE_MEMORY;
    if (!strcmp(key, "gpu") || !strcmp(key, "nvidia.com/gpu")) return KUBE_GPU;
    if (!strcmp(key, "pods")) return KUBE_PODS;
    for (uint32_t i = 0; i < names->count; i++)
        if (!strcmp(names->of[i], key)) return (int)(KUBE_EXTENDED + i);
    if (KUBE_EXTENDED + names->count >= KUBE_AMOUNTS) abort();
    names->of[names->count++] = key;
    return (int)(KUBE_EXTENDED + names->count - 1);
}

static inline const char *resource_name(const struct kube_names *names, uint32_t resource)
{
    static const char *const known[KUBE_EXTENDED] = { "cpu", "memory", "gpu", "pods" };
    return resource < KUBE_EXTENDED ? known[resource] : names->of[resource - KUBE_EXTENDED];
}

static inline struct kube_amounts read_amounts(const struct yaml_node *map, struct kube_names *names)
{
    struct kube_amounts amounts = { { 0 } };
    for (const struct yaml_node *child = map ? map->first : NULL; child; child = child->next) {
        if (key_is(child, "resources", "requests") && child->kind == YAML_MAP) {
            const struct kube_amounts inner = read_amounts(child, names);
            for (uint32_t r = 0; r < KUBE_AMOUNTS; r++) amounts.of[r] += inner.of[r];
        }
        int64_t value;
        const int resource = node_integer(child, &value) ? resource_of(names, child->key) : -1;
        if (resource >= 0) amounts.of[resource] += value;
    }
    return amounts;
}

static inline const struct kube_label *read_labels(const struct yaml_node *map, uint32_t *count)
{
    *count = 0;
    if (!map || map->kind != YAML_MAP) return NULL;
    struct kube_label *labels = take_rows(map, map->child_count, sizeof *labels);
    for (const struct yaml_node *child = map->first; child; child = child->next)
        labels[(*count)++] = (struct kube_label){ child->key, child->text ? child->text : "" };
    return labels;
}

static inline enum taint_effect read_effect(const struct yaml_node *map)
{
    const char *text = child_text(map, "effect", "");
    if (!strcmp(text, "NoSchedule")) return TAINT_NO_SCHEDULE;
    if (!strcmp(text, "PreferNoSchedule")) return TAINT_PREFER_NO_SCHEDULE;
    return !strcmp(text, "NoExecute") ? TAINT_NO_EXECUTE : TAINT_ANY;
}

static inline struct kube_facts read_facts(const struct yaml_node *node)
{
    struct kube_facts facts = { 0 };
    facts.labels = read_labels(yaml_child(node, "labels"), &facts.label_count);
    facts.unschedulable = !strcmp(child_text(node, "unschedulable", "false"), "true");
    const struct yaml_node *list = yaml_child(node, "taints");
    if (!list) return facts;
    struct kube_taint *taints = take_rows(list, list->child_count, sizeof *taints);
    for (const struct yaml_node *taint = list->first; taint; taint = taint->next)
        taints[facts.taint_count++] = (struct kube_taint){ child_text(taint, "key", ""),
                                                           child_text(taint, "value", ""),
                                                           read_effect(taint) };
    facts.taints = taints;
    return facts;
}

static inline enum label_operator read_operator(const struct yaml_node *map)
{
    static const char *const words[] = { "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt" };
    const char *text = child_text(map, "operator", "In");
    for (int i = 0; i < 6; i++)
        if (!strcmp(words[i], text)) return (enum label_operator)i;
    abort();
}

/* values: a list, or one value. */
static inline void read_values(struct kube_expression *expression, const struct yaml_node *values)
{
    if (!values) return;
    const char **rows = take_rows(values, values->child_count + 1, sizeof *rows);
    if (values->kind == YAML_SCALAR) rows[expression->value_count++] = values->text;
    for (const struct yaml_node *value = values->first; value; value = value->next)
        rows[expression->value_count++] = value->text;
    expression->values = rows;
}

static inline struct kube_expression read_expression(const struct yaml_node *map)
{
    struct kube_expression expression = { .key = child_text(map, "key", ""),
                                          .what = read_operator(map) };
    const struct yaml_node *values = yaml_child(map, "values");
    read_values(&expression, values ? values : yaml_child(map, "value"));
    return expression;
}

static inline void read_into_term(struct kube_term *term, struct kube_expression *rows,
                                  const struct yaml_node *map)
{
    const struct yaml_node *list = yaml_child(map, "matchExpressions");
    if (yaml_child(map, "key")) {
        rows[term->count++] = read_expression(map);
        return;
    }
    if (list) {
        for (const struct yaml_node *one = list->first; one; one = one->next)
            rows[term->count++] = read_expression(one);
        return;
    }
    for (const struct yaml_node *child = map->first; child; child = child->next) {
        if (!strcmp(child->key, "weight")) continue;
        if (child->kind == YAML_MAP) {
            read_into_term(term, rows, child); /* preference:, labels:, matchLabels: */
            continue;
        }
        rows[term->count] = (struct kube_expression){ .key = child->key, .what = LABEL_IN };
        read_values(&rows[term->count++], child);
    }
}

static inline struct kube_term read_term(const struct yaml_node *map)
{
    enum { EXPRESSIONS_MOST = 32 };
    struct kube_expression *rows = take_rows(map, EXPRESSIONS_MOST, sizeof *rows);
    struct kube_term term = { .expressions = rows, .weight = child_integer(map, "weight", 1) };
    read_into_term(&term, rows, map);
    return term;
}

static inline const struct kube_term *read_terms(const struct yaml_node *node, uint32_t *count)
{
    const struct yaml_node *list = yaml_child(node, "nodeSelectorTerms");
    if (list) node = list;
    struct kube_term *terms = take_rows(node, node->child_count + 1, sizeof *terms);
    if (node->kind == YAML_MAP) terms[(*count)++] = read_term(node);
    if (node->kind == YAML_LIST)
        for (const struct yaml_node *one = node->first; one; one = one->next)
            terms[(*count)++] = read_term(one);
    return terms;
}

static inline void read_affinity(const struct yaml_node *map, struct kube_wish *wish)
{
    for (const struct yaml_node *child = map->first; child; child = child->next) {
        if (!child->key || child->kind == YAML_SCALAR) continue;
        if (!strncmp(child->key, "required", 8))
            wish->required = read_terms(child, &wish->required_count);
        else if (!strncmp(child->key, "preferred", 9))
            wish->preferred = read_terms(child, &wish->preferred_count);
        else if (key_is(child, "affinity", "nodeAffinity") && child->kind == YAML_MAP)
            read_affinity(child, wish);
    }
}

static inline struct kube_wish read_wish(const struct yaml_node *pod)
{
    struct kube_wish wish = { 0 };
    wish.selector = read_labels(yaml_child(pod, "nodeSelector"), &wish.selector_count);
    read_affinity(pod, &wish);
    const struct yaml_node *list = yaml_child(pod, "tolerations");
    if (!list) return wish;
    struct kube_toleration *rows = take_rows(list, list->child_count, sizeof *rows);
    for (const struct yaml_node *one = list->first; one; one = one->next)
        rows[wish.toleration_count++] =
            (struct kube_toleration){ child_text(one, "key", ""), child_text(one, "value", ""),
                                      !strcmp(child_text(one, "operator", "Equal"), "Exists"),
                                      read_effect(one) };
    wish.tolerations = rows;
    return wish;
}

/* Every pod takes one of the node's places for pods, when the node says how many it has. */
static inline struct kube_amounts read_request(const struct yaml_node *pod, struct kube_names *names)
{
    struct kube_amounts request = read_amounts(pod, names);
    request.of[KUBE_PODS] = 1;
    return request;
}

static inline struct kube_amounts read_allocatable(const struct yaml_node *map,
                                                   struct kube_names *names)
{
    struct kube_amounts amounts = read_amounts(map, names);
    if (!map || !yaml_child(map, "pods") || yaml_child(map, "pods")->kind != YAML_SCALAR)
        amounts.of[KUBE_PODS] = INT32_MAX;
    return amounts;
}

#endif
