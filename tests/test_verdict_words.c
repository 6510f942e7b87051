/* test_verdict_words.c - a verdict says what its numbers hide: ties, equal digits, the rare large fault. */
#include "verdict_runs.h"

#include <gsl/gsl_errno.h>

static void three_layouts(struct fixture *f)
{
    fixture_layout(&f->scenario, 2, "sparse1", 16, 1);
    f->scenario.layout_count = 3;
    fixture_plan(f);
}

/* Three servers of 8 and a leaf: 8, 8, 8, 32 are 14 on average, beside a leaf of 416 they are 110. In 11 days: 56 and
 * 440 GPUs, times 365 / 11 in a year 1858.2 and 14600. */
static void a_median_does_not_hide_the_leaf(void **state)
{
    const struct luck luck = { .yield = { 0.87, 0.79 },
                               .blast_gpus = { 8, 8 },
                               .leaf_gpus = { 32, 416 } };
    char *text = verdict_of(*state, &luck, REPLICAS);
    holds(text, "On dense8 and sparse4 a hardware fault takes 8 GPUs (median), on average 14 and "
                "110 and at most 32 "
                "and 416; all faults of a year take 1858 and 14600; lost work");
    free(text);
}

/* 16 GPUs, half of them held for ten days: 1,920 GPU-hours. MIG instances are apart. */
static void shared_gpus_are_shown_too_well(void **state)
{
    struct fixture *f = *state;
    three_layouts(f);
    const enum sharing kinds[] = { SHARING_MIG_SINGLE, SHARING_TIME_SLICE, SHARING_NONE };
    for (uint32_t i = 0; i < 3; i++) {
        struct layout *layout = &f->scenario.layouts[i];
        layout->groups = calloc(1, sizeof *layout->groups);
        assert_non_null(layout->groups);
        layout->groups[0].sharing = kinds[i];
        layout->group_count = 1;
    }
    const struct luck luck = { .yield = { 0.75, 0.5, 0.75 }, .held = { 1, 0.5, 1 } };
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text,
          "Jobs that share a GPU on sparse4 do not slow each other here, which they do: it is "
          "shown too well, for at most 1920 GPU-hours of what they held.");
    lacks(text, "Jobs that share a GPU on dense8");
    free(text);
    for (uint32_t i = 0; i < 3; i++) {
        free(f->scenario.layouts[i].groups);
        f->scenario.layouts[i].groups = NULL;
        f->scenario.layouts[i].group_count = 0;
    }
}

static void ties_yield_the_most_together(void **state)
{
    struct fixture *f = *state;
    three_layouts(f);
    const struct luck luck = { .yield = { 0.75, 0.5, 0.75 }, .completion_s = { 100, 110, 100 } };
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, "dense8 and sparse1 yield the most, alike: 0.750 useful hours per held GPU-hour "
                "and 0.500 on sparse4 "
                "[0.250 to 0.250 less].");
    holds(text, "finish at the same time on sparse1, and 10 % later on sparse4 [10, 10].");
    free(text);
}

/* 0.7501 and 0.7499 both read 0.750. */
static void equal_digits_are_not_printed_twice(void **state)
{
    struct fixture *f = *state;
    three_layouts(f);
    const struct luck luck = { .yield = { 0.7501, 0.5, 0.7499 } };
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, "dense8 yields the most: 0.750 useful hours per held GPU-hour, about as much on "
                "sparse1 [0.0002 to "
                "0.0002 less], and 0.500 on sparse4 [0.250 to 0.250 less].");
    free(text);
}

static void name_profile(struct fixture *f, uint32_t row, const char *id, const char *stack)
{
    struct profile *profile = &f->scenario.communication.mix[row].profile;
    snprintf(profile->id, LIMIT_NAME_BYTES, "%s", id);
    profile->mark = MARK_ASSUMED;
    f->plan.profile_used[row] = true;
    if (*stack == '\0') return;
    snprintf(profile->train.model.id, LIMIT_NAME_BYTES, "7b");
    snprintf(profile->train.stack.id, LIMIT_NAME_BYTES, "%s", stack);
    profile->train.stack.mark = MARK_DERIVED;
}

/* Where each job names its profile no mix is drawn, and the profiles are known by name. */
static void profiles_in_use_are_named(void **state)
{
    struct fixture *f = *state;
    const struct luck luck = { .yield = { 0.87, 0.79 } };
    f->scenario.communication.kind = COMM_BY_MODEL_MIX;
    f->scenario.communication.mix_count = 2;
    f->plan.profiles_drawn = false;
    name_profile(f, 0, "7b-sharded", "fsdp-h100");
    name_profile(f, 1, "lora", "");
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, "It rests on communication of profiles 7b-sharded and lora (assumed; steps of "
                "framework fsdp-h100, "
                "derived from published runs) and failure rates");
    lacks(text, "mix");
    free(text);
    f->plan.profiles_drawn = true;
    text = verdict_of(f, &luck, REPLICAS);
    holds(text, "communication by_model_mix (profiles assumed; steps of framework fsdp-h100, "
                "derived from published "
                "runs; mix assumed)");
    free(text);
}

/* MODELS 3.10: which rule made work of the durations, and what was in them. Of jobs of 1, 8 and 16 GPUs only the second
 * and third can be on several servers. */
static void rules_of_durations_are_told(void **state)
{
    struct fixture *f = *state;
    const struct luck luck = { .yield = { 0.87, 0.79 } };
    static uint32_t nodes[] = { 0, 1, 4 };
    struct jobs jobs = *f->plan.jobs;
    jobs.nodes = nodes;
    f->plan.jobs = &jobs;
    f->scenario.contains_checkpoint = false;
    char *text = verdict_of(f, &luck, REPLICAS);
    holds(text, "Durations are as recorded on 2 dgx-h100, with start-up and stalls, without "
                "checkpoints, each job on the "
                "nodes of the log (recorded).");
    free(text);
    nodes[1] = 0;
    text = verdict_of(f, &luck, REPLICAS);
    holds(text,
          "each job on the nodes of the log or, without any, on the fewest (recorded, compact).");
    free(text);
    f->scenario.recorded_none = true;
    text = verdict_of(f, &luck, REPLICAS);
    holds(text, "Durations are taken as work that nothing slowed (recorded_on none), with start-up "
                "in it: an upper bound "
                "of what a layout costs.");
    lacks(text, "dgx-h100");
    free(text);
}

int main(void)
{
    gsl_set_error_handler_off();
#define ROW(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        ROW(shared_gpus_are_shown_too_well), ROW(a_median_does_not_hide_the_leaf),
        ROW(ties_yield_the_most_together),   ROW(equal_digits_are_not_printed_twice),
        ROW(profiles_in_use_are_named),      ROW(rules_of_durations_are_told),
    };
    return cmocka_run_group_tests_name("verdict_words", tests, NULL, NULL);
}
