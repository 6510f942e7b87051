/* test_train_plan.c - models/train_plan: what divides, and where groups sit. */
#include "tests/train_fixture.h"

/* 4 GPUs a server, tp 2, dp 4, pp 2 on 16 GPUs: a server holds two tensor groups, so a data group of 4 has two
 * members on each of two servers and half of its NICs; stages are 8 ranks apart: a server of its own each. */
static void groups_by_hand(void **state)
{
    (void)state;
    const struct train_machine machine = small_machine(16);
    const struct train_group tensor = train_group_of(&machine, 2, 1);
    assert_int_equal(tensor.members.servers, 1);
    const struct train_group data = train_group_of(&machine, 4, 2);
    assert_int_equal(data.members.servers, 2);
    assert_int_equal(data.members.gpus, 4);
    assert_int_equal(data.members.gpus_min, 2);
    assert_int_equal(data.hardware.nics, 2);
    const struct train_group stages = train_group_of(&machine, 2, 8);
    assert_int_equal(stages.members.servers, 2);
    assert_int_equal(stages.members.gpus_min, 1);
    assert_int_equal(stages.hardware.nics, 1); /* four boundaries share the server */
    /* A tensor group wider than a server takes whole servers and all their NICs. */
    const struct train_group wide = train_group_of(&machine, 8, 1);
    assert_int_equal(wide.members.servers, 2);
    assert_int_equal(wide.hardware.nics, 4);
    /* Six data ranks on servers of four: the second server holds two. */
    const struct train_group uneven = train_group_of(&machine, 6, 1);
    assert_int_equal(uneven.members.servers, 2);
    assert_int_equal(uneven.members.gpus_min, 2);
    /* Two groups on one NIC of 10 GB/s. */
    struct train_machine narrow = machine;
    narrow.fabric.nics = 1;
    const struct train_group half = train_group_of(&narrow, 4, 2);
    assert_int_equal(half.hardware.nics, 1);
    CHECK_NEAR(half.hardware.nic_bytes_per_s, 5e9, 1e-15);
}

struct fault_case {
    const char *name;
    uint32_t gpus, tensor, pipeline, data, expert, interleave, zero;
    double batch, layers, experts;
    enum train_fault want;
    double value, of;
};
static const struct fault_case faults[] = {
    { "a plan that divides", 16, 2, 2, 4, 2, 2, 1, 32, 8, 8, TRAIN_FITS, 0, 0 },
    { "groups that miss a GPU", 16, 2, 2, 3, 1, 1, 0, 12, 8, 0, TRAIN_GPUS, 12, 16 },
    { "half a server too many", 6, 1, 1, 6, 1, 1, 0, 12, 8, 0, TRAIN_SERVERS, 6, 4 },
    { "three tensor ranks on four", 12, 3, 1, 4, 1, 1, 0, 12, 8, 0, TRAIN_TENSOR, 3, 4 },
    { "a batch that leaves a rest", 4, 1, 1, 4, 1, 1, 0, 10, 8, 0, TRAIN_BATCH, 10, 4 },
    { "less than a sample each", 4, 1, 1, 4, 1, 1, 0, 2, 8, 0, TRAIN_BATCH, 2, 4 },
    { "chunks without stages", 4, 1, 1, 4, 1, 2, 0, 4, 8, 0, TRAIN_CHUNKS, 2, 1 },
    { "nine layers on four stages", 4, 1, 4, 1, 1, 1, 0, 4, 9, 0, TRAIN_LAYERS, 9, 4 },
    { "eight layers on sixteen chunks", 4, 1, 4, 1, 1, 4, 0, 4, 8, 0, TRAIN_LAYERS, 8, 16 },
    { "rounds that are not full", 4, 1, 4, 1, 1, 2, 0, 6, 8, 0, TRAIN_ROUNDS, 6, 4 },
    { "experts of a dense model", 4, 1, 1, 4, 2, 1, 0, 4, 8, 0, TRAIN_DENSE, 2, 1 },
    { "six experts over four", 4, 1, 1, 4, 4, 1, 0, 4, 8, 6, TRAIN_EXPERTS, 6, 4 },
    { "a data group of four in eights", 4, 1, 1, 4, 8, 1, 0, 4, 8, 8, TRAIN_EXPERT_GROUP, 4, 8 },
    { "six expert ranks on servers of four", 12, 1, 1, 12, 6, 1, 0, 12, 8, 6, TRAIN_EXPERT_SPREAD,
      6, 4 },
};

static void fault_is_found(void **state)
{
    const struct fault_case *row = *state;
    struct train_model model = small_model();
    struct train_plan plan = train_plan_plain();
    const struct train_machine machine = small_machine(row->gpus);
    model.layers = row->layers;
    model.experts = row->experts;
    model.expert_layers = row->experts > 0 ? row->layers : 0;
    plan.tensor = row->tensor;
    plan.pipeline = row->pipeline;
    plan.data = row->data;
    plan.expert = row->expert;
    plan.interleave = row->interleave;
    plan.zero = row->zero;
    plan.batch = row->batch;
    const struct train_fault_at at = train_plan_check(&model, &plan, &machine);
    assert_int_equal(at.fault, row->want);
    CHECK_NEAR(at.value, row->value, 1e-15);
    CHECK_NEAR(at.of, row->of, 1e-15);
}

int main(void)
{
    enum { FAULTS = sizeof faults / sizeof *faults };
    struct CMUnitTest tests[FAULTS + 1] = { cmocka_unit_test(groups_by_hand) };
    for (size_t i = 0; i < FAULTS; i++)
        tests[i + 1] = (struct CMUnitTest){ faults[i].name, fault_is_found, NULL, NULL,
                                            (void *)(uintptr_t)&faults[i] };
    return cmocka_run_group_tests_name("train_plan", tests, NULL, NULL);
}
