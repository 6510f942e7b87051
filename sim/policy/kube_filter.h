/* kube_filter.h - whether a pod may go to a node: taints, labels and resources (SCHEDULING 3.2, step 1).
 *
 * Pure functions. Text is borrowed. Resources are integers in their own units: milli-CPU, bytes, GPUs, counts. */
#ifndef GPUPLAN_POLICY_KUBE_FILTER_H
#define GPUPLAN_POLICY_KUBE_FILTER_H

#include "spec/kube.h"

#include <stdbool.h>
#include <stdint.h>

/* A vector of resources: enum kube_resource first, then pods, then extended resources by name; last the thousandths of one
 * GPU, of which a node has as many as the largest free part of one of its GPUs. */
enum { KUBE_PODS = KUBE_RESOURCES, KUBE_EXTENDED, KUBE_FRACTION = 15, KUBE_AMOUNTS };
struct kube_amounts {
    int64_t of[KUBE_AMOUNTS];
};

enum taint_effect { TAINT_NO_SCHEDULE, TAINT_PREFER_NO_SCHEDULE, TAINT_NO_EXECUTE, TAINT_ANY };

struct kube_label {
    const char *key, *value;
};
struct kube_taint {
    const char *key, *value;
    enum taint_effect effect;
};
/* Equal: key, value and effect agree. Exists: the value does not matter, and an empty key is any key.
 * TAINT_ANY is any effect. */
struct kube_toleration {
    const char *key, *value;
    bool exists;
    enum taint_effect effect;
};

enum label_operator { LABEL_IN, LABEL_NOT_IN, LABEL_EXISTS, LABEL_NOT_EXISTS, LABEL_GT, LABEL_LT };
struct kube_expression {
    const char *key;
    enum label_operator what;
    const char *const *values; /* [value_count]; Gt and Lt: one integer                           */
    uint32_t value_count;
};
/* All its expressions must hold; a term of none matches nothing. */
struct kube_term {
    const struct kube_expression *expressions; /* [count]                                        */
    uint32_t count;
    int64_t weight; /* of a preferred term                                                     */
};

/* What a node is, beside its resources. */
struct kube_facts {
    const struct kube_label *labels; /* [label_count]                                            */
    const struct kube_taint *taints; /* [taint_count]                                            */
    uint32_t label_count, taint_count;
    bool unschedulable; /* cordoned                                                            */
};

/* What a pod wants, beside its resources. */
struct kube_wish {
    const struct kube_label *selector; /* [selector_count] all must match                         */
    const struct kube_toleration *tolerations;  /* [toleration_count]                            */
    const struct kube_term *required;  /* [required_count] one must match; none = no condition     */
    const struct kube_term *preferred; /* [preferred_count]                                      */
    uint32_t selector_count, toleration_count, required_count, preferred_count;
};

/* Why not, in the order in which the plugins look; the first that objects speaks. */
enum kube_reject {
    REJECT_NONE,
    REJECT_CORDONED,
    REJECT_TAINT,
    REJECT_SELECTOR,
    REJECT_AFFINITY,
    REJECT_RESOURCE,
};
struct kube_verdict {
    enum kube_reject why;
    const char *key;      /* of the taint, label or expression                                     */
    uint32_t short_amounts; /* REJECT_RESOURCE: bit r set = too little of resource r                 */
};

/* Taints, selector and affinity. */
struct kube_verdict kube_filter_facts(const struct kube_facts *facts, const struct kube_wish *wish);

/* Bit r set: used + request > allocatable of resource r. A resource that is not requested never counts. */
uint32_t kube_short_amounts(const struct kube_amounts *allocatable, const struct kube_amounts *used,
                            const struct kube_amounts *request);

/* Both. */
struct kube_verdict kube_filter(const struct kube_facts *facts, const struct kube_wish *wish,
                                const struct kube_amounts *allocatable,
                                const struct kube_amounts *used,
                                const struct kube_amounts *request);

bool kube_tolerates(const struct kube_wish *wish, const struct kube_taint *taint);
bool kube_term_matches(const struct kube_term *term, const struct kube_facts *facts);

/* Nodes after which a cycle stops looking for feasible ones: all up to 100; else `percentage` percent, or
 * when that is 0, max(5, 50 - nodes/125) percent, and at least 100. */
uint32_t kube_nodes_to_find(uint32_t nodes, uint32_t percentage);

#endif
