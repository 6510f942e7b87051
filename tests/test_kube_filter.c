/* test_kube_filter.c - policy/kube_filter: taints, labels, resources, and how many nodes a cycle looks at. */
#include "policy/kube_filter.h"

#include "tests/near.h"

static const struct kube_taint gpu_taint = { "nvidia.com/gpu", "present", TAINT_NO_SCHEDULE };

static bool tolerated(struct kube_toleration toleration)
{
    const struct kube_wish wish = { .tolerations = &toleration, .toleration_count = 1 };
    return kube_tolerates(&wish, &gpu_taint);
}

static void tolerations(void **state)
{
    (void)state;
    assert_true(tolerated(
        (struct kube_toleration){ "nvidia.com/gpu", "present", false, TAINT_NO_SCHEDULE }));
    assert_true(
        tolerated((struct kube_toleration){ "nvidia.com/gpu", "present", false, TAINT_ANY }));
    assert_true(
        tolerated((struct kube_toleration){ "nvidia.com/gpu", "", true, TAINT_NO_SCHEDULE }));
    assert_true(tolerated((struct kube_toleration){ "", "", true, TAINT_ANY }));
    assert_false(tolerated((struct kube_toleration){ "nvidia.com/gpu", "", false, TAINT_ANY }));
    assert_false(
        tolerated((struct kube_toleration){ "nvidia.com/gpu", "absent", false, TAINT_ANY }));
    assert_false(
        tolerated((struct kube_toleration){ "nvidia.com/gp", "present", false, TAINT_ANY }));
    assert_false(tolerated(
        (struct kube_toleration){ "nvidia.com/gpu", "present", false, TAINT_NO_EXECUTE }));
    assert_false(tolerated((struct kube_toleration){ "", "", true, TAINT_NO_EXECUTE }));
}

/* The first that objects speaks: cordon, taint, selector, affinity, resources. */
static void the_first_objection_speaks(void **state)
{
    (void)state;
    const struct kube_label labels[] = { { "gpu", "h100" }, { "rank", "12" } };
    struct kube_facts facts = { .labels = labels,
                                .label_count = 2,
                                .taints = &gpu_taint,
                                .taint_count = 1,
                                .unschedulable = true };
    const struct kube_label selector = { "gpu", "a100" };
    const char *const twenty[] = { "20" };
    const struct kube_expression rank = { "rank", LABEL_GT, twenty, 1 };
    const struct kube_term term = { .expressions = &rank, .count = 1 };
    const struct kube_toleration toleration = { "nvidia.com/gpu", "", true, TAINT_ANY };
    struct kube_wish wish = {
        .selector = &selector, .selector_count = 1, .required = &term, .required_count = 1
    };
    const struct kube_amounts allocatable = { { [KUBE_CPU] = 8000, [KUBE_GPU] = 8 } };
    const struct kube_amounts used = { { [KUBE_CPU] = 5000, [KUBE_GPU] = 4 } };
    const struct kube_amounts request = { { [KUBE_CPU] = 3001, [KUBE_GPU] = 5 } };
    struct kube_verdict verdict = kube_filter(&facts, &wish, &allocatable, &used, &request);
    assert_int_equal(verdict.why, REJECT_CORDONED);
    facts.unschedulable = false;
    verdict = kube_filter(&facts, &wish, &allocatable, &used, &request);
    assert_int_equal(verdict.why, REJECT_TAINT);
    assert_string_equal(verdict.key, "nvidia.com/gpu");
    wish.tolerations = &toleration;
    wish.toleration_count = 1;
    verdict = kube_filter(&facts, &wish, &allocatable, &used, &request);
    assert_int_equal(verdict.why, REJECT_SELECTOR);
    wish.selector_count = 0;
    verdict = kube_filter(&facts, &wish, &allocatable, &used, &request);
    assert_int_equal(verdict.why, REJECT_AFFINITY);
    assert_string_equal(verdict.key, "rank");
    wish.required_count = 0;
    verdict = kube_filter(&facts, &wish, &allocatable, &used, &request);
    assert_int_equal(verdict.why, REJECT_RESOURCE);
    assert_int_equal(verdict.short_amounts, 1u << KUBE_CPU | 1u << KUBE_GPU);
}

static bool holds(const char *key, enum label_operator what, const char *value)
{
    const struct kube_label labels[] = { { "zone", "b" }, { "rank", "-7" } };
    const struct kube_facts facts = { .labels = labels, .label_count = 2 };
    const struct kube_expression expression = { key, what, &value, value ? 1 : 0 };
    const struct kube_term term = { .expressions = &expression, .count = 1 };
    return kube_term_matches(&term, &facts);
}

static void operators(void **state)
{
    (void)state;
    assert_true(holds("zone", LABEL_IN, "b") && !holds("zone", LABEL_IN, "a"));
    assert_true(holds("zone", LABEL_NOT_IN, "a") && !holds("zone", LABEL_NOT_IN, "b"));
    assert_true(holds("none", LABEL_NOT_IN, "a") && !holds("none", LABEL_IN, "a"));
    assert_true(holds("zone", LABEL_EXISTS, NULL) && !holds("none", LABEL_EXISTS, NULL));
    assert_true(holds("none", LABEL_NOT_EXISTS, NULL) && !holds("zone", LABEL_NOT_EXISTS, NULL));
    assert_true(holds("rank", LABEL_GT, "-8") && !holds("rank", LABEL_GT, "-7"));
    assert_true(holds("rank", LABEL_LT, "-6") && !holds("rank", LABEL_LT, "-7"));
    assert_false(holds("zone", LABEL_GT, "1"));
    assert_false(holds("none", LABEL_LT, "1"));
}

/* 5,000 nodes: 10 percent; 10,000: the floor of 5. */
static void nodes_looked_at(void **state)
{
    (void)state;
    assert_int_equal(kube_nodes_to_find(99, 0), 99);
    assert_int_equal(kube_nodes_to_find(100, 30), 100);
    assert_int_equal(kube_nodes_to_find(101, 0), 100);
    assert_int_equal(kube_nodes_to_find(1000, 0), 420);
    assert_int_equal(kube_nodes_to_find(5000, 0), 500);
    assert_int_equal(kube_nodes_to_find(10000, 0), 500);
    assert_int_equal(kube_nodes_to_find(10000, 70), 7000);
    assert_int_equal(kube_nodes_to_find(10000, 100), 10000);
    assert_int_equal(kube_nodes_to_find(1000, 5), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tolerations),
        cmocka_unit_test(the_first_objection_speaks),
        cmocka_unit_test(operators),
        cmocka_unit_test(nodes_looked_at),
    };
    return cmocka_run_group_tests_name("kube_filter", tests, NULL, NULL);
}
