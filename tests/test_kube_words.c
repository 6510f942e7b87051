/* test_kube_words.c - policy/kube_words: labels, taints and tolerations as people write them. */
#include "policy/kube_words.h"

#include "tests/near.h"

static void facts_and_wishes(void **state)
{
    struct arena *arena = *state;
    struct kube_facts facts;
    assert_true(kube_read_facts("gpu=h100, zone=b,bare",
                                "nvidia.com/gpu=present:NoSchedule,spot:PreferNoSchedule", arena,
                                &facts));
    assert_int_equal(facts.label_count, 3);
    assert_string_equal(facts.labels[1].key, "zone");
    assert_string_equal(facts.labels[1].value, "b");
    assert_string_equal(facts.labels[2].value, "");
    assert_int_equal(facts.taint_count, 2);
    assert_string_equal(facts.taints[0].key, "nvidia.com/gpu");
    assert_string_equal(facts.taints[0].value, "present");
    assert_int_equal(facts.taints[1].effect, TAINT_PREFER_NO_SCHEDULE);

    struct kube_wish wish;
    assert_true(kube_read_wish("gpu=h100", "nvidia.com/gpu:NoSchedule,team=red,*", arena, &wish));
    assert_int_equal(wish.selector_count, 1);
    assert_int_equal(wish.toleration_count, 3);
    assert_true(wish.tolerations[0].exists);
    assert_int_equal(wish.tolerations[0].effect, TAINT_NO_SCHEDULE);
    assert_false(wish.tolerations[1].exists);
    assert_string_equal(wish.tolerations[1].value, "red");
    assert_int_equal(wish.tolerations[1].effect, TAINT_ANY);
    assert_string_equal(wish.tolerations[2].key, "");
    assert_true(wish.tolerations[2].exists);
    assert_int_equal(kube_filter_facts(&facts, &wish).why, REJECT_NONE);
}

static void nothing_written(void **state)
{
    struct arena *arena = *state;
    struct kube_facts facts;
    struct kube_wish wish;
    assert_true(kube_read_facts("", "", arena, &facts) && kube_read_wish("", "", arena, &wish));
    assert_int_equal(
        facts.label_count + facts.taint_count + wish.selector_count + wish.toleration_count, 0);
    assert_int_equal(kube_filter_facts(&facts, &wish).why, REJECT_NONE);
}

static int make_arena(void **state)
{
    *state = arena_create(1 << 20);
    return *state == NULL;
}
static int drop_arena(void **state)
{
    arena_destroy(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_and_wishes),
        cmocka_unit_test(nothing_written),
    };
    return cmocka_run_group_tests_name("kube_words", tests, make_arena, drop_arena);
}
