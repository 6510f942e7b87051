/* test_train_memory.c - models/train_memory: states by ZeRO's formula, activations by Korthikanti's, by hand. */
#include "models/train_memory.h"

#include "models/jobstep.h"
#include "tests/train_fixture.h"

/* 7.5e9 parameters over 64: the worked rows of MODELS 3.1, 120, 31.4, 16.6 and 1.875 GB; stage 3 keeps two
 * gathered layers of 7.5e9/36 parameters as well: 2 x 2 x 7.5e9/36 = 0.8333 GB. */
static void states_as_worked_rows(void **state)
{
    (void)state;
    struct train_model model = small_model();
    model.parameters = model.active_parameters = 7.5e9;
    model.layers = 36;
    model.hidden = 0; /* no activations */
    struct train_plan plan = train_plan_plain();
    plan.data = 64;
    plan.batch = 64;
    static const double gathered[] = { 0, 0, 0, 2 * 2 * 7.5e9 / 36 };
    for (plan.zero = 0; plan.zero <= 3; plan.zero++) {
        const struct train_memory memory = train_memory(&model, &plan);
        CHECK_NEAR(memory.total_bytes, zero_bytes(7.5e9, 64, plan.zero) + gathered[plan.zero],
                   1e-14);
        CHECK_NEAR(memory.activations_bytes, 0, 0);
    }
}

struct activation_case {
    const char *name;
    enum recompute recompute;
    bool scatter;
    uint32_t tensor, pipeline, interleave;
    double microbatches, want_units; /* in s b h */
};
/* 8 layers, s 1,024, h 2,048, 16 heads: 5 a s/h = 40. Per layer: none 10 + 64/t, selective 10 + 24/t, full 2. */
static const struct activation_case activations[] = {
    { "all kept", RECOMPUTE_NONE, false, 1, 1, 1, 4, 8 * 74 },
    { "all kept, split over 4", RECOMPUTE_NONE, false, 4, 1, 1, 4, 8 * 26 },
    { "all kept, scattered over 4", RECOMPUTE_NONE, true, 4, 1, 1, 4, 8 * 74.0 / 4 },
    { "scores dropped", RECOMPUTE_SELECTIVE, false, 1, 1, 1, 4, 8 * 34 },
    { "scores dropped, scattered over 4", RECOMPUTE_SELECTIVE, true, 4, 1, 1, 4, 8 * 8.5 },
    /* Inputs of 8 layers, and one layer that is being redone. */
    { "inputs alone", RECOMPUTE_FULL, false, 1, 1, 1, 4, 8 * 2 + 34 },
    /* Two layers a stage, four microbatches in flight: as much as without stages. */
    { "four stages", RECOMPUTE_SELECTIVE, false, 1, 4, 1, 8, 8 * 34 },
    { "four stages, two microbatches", RECOMPUTE_SELECTIVE, false, 1, 4, 1, 2, 4 * 34 },
    /* 1 + 3/(4 2) of that. */
    { "four stages of two chunks", RECOMPUTE_SELECTIVE, false, 1, 4, 2, 8, 8 * 34 * 1.375 },
};

static void activations_by_hand(void **state)
{
    const struct activation_case *row = *state;
    const struct train_model model = small_model();
    struct train_plan plan = train_plan_plain();
    plan.recompute = row->recompute;
    plan.scatter = row->scatter;
    plan.tensor = row->tensor;
    plan.pipeline = row->pipeline;
    plan.interleave = row->interleave;
    plan.microbatch = 3;
    plan.batch = 3 * row->microbatches;
    CHECK_NEAR(train_memory(&model, &plan).activations_bytes, row->want_units * 1024 * 3 * 2048,
               1e-14);
}

/* 1e9 of which 0.8e9 are experts over ep 4, dp 8, stage 1: weights and gradients 4 B x (0.2e9 + 0.2e9); optimizer
 * 12 B x (0.2e9/8 + 0.2e9/2). Two experts a token keep the 19 of the wide layers twice: 34 + 19 = 53. */
static void experts_lie_split(void **state)
{
    (void)state;
    struct train_model model = small_model();
    model.expert_parameters = 0.8e9;
    model.expert_layers = 8;
    model.experts = 8;
    model.experts_per_token = 2;
    struct train_plan plan = train_plan_plain();
    plan.data = plan.batch = 8;
    plan.expert = 4;
    plan.zero = 1;
    plan.recompute = RECOMPUTE_SELECTIVE;
    const struct train_memory memory = train_memory(&model, &plan);
    CHECK_NEAR(memory.weights_bytes, 0.8e9, 1e-14);
    CHECK_NEAR(memory.gradients_bytes, 0.8e9, 1e-14);
    CHECK_NEAR(memory.optimizer_bytes, 12 * (0.025e9 + 0.1e9), 1e-14);
    CHECK_NEAR(memory.activations_bytes, 8.0 * 53 * 1024 * 2048, 1e-14);
    CHECK_NEAR(train_local_parameters(&model, &plan), 0.4e9, 1e-14);
}

int main(void)
{
    enum { CASES = sizeof activations / sizeof *activations };
    struct CMUnitTest tests[CASES + 2] = { cmocka_unit_test(states_as_worked_rows),
                                           cmocka_unit_test(experts_lie_split) };
    for (size_t i = 0; i < CASES; i++)
        tests[i + 2] = (struct CMUnitTest){ activations[i].name, activations_by_hand, NULL, NULL,
                                            (void *)(uintptr_t)&activations[i] };
    return cmocka_run_group_tests_name("train_memory", tests, NULL, NULL);
}
