/* test_train_step.c - models/train_step: parts by hand, the worked rows of MODELS 3.6, what must grow and what must not. */
#include "tests/train_fixture.h"

#include "models/jobstep.h"

/* The five layouts of JS-052 to JS-071: 7e9 parameters, 524,288 tokens, 16 H100, ten buckets. */
struct worked_row {
    const char *name;
    uint32_t g, nics;
    double nic_bytes_per_s, want_exposed, want_step, want_mfu;
};
static const struct worked_row worked[] = {
    { "two servers of 8", 8, 8, 48.5e9, 0.00720249, 2.79033, 0.498709 },
    { "four servers of 4", 4, 4, 48.5e9, 0.0136965, 2.79682, 0.497551 },
    { "four servers of 4, one NIC", 4, 1, 23.5e9, 0.111868, 2.89499, 0.480679 },
    { "sixteen servers", 1, 1, 23.5e9, 0.112122, 2.89525, 0.480637 },
    { "sixteen servers, 3 GB/s", 1, 1, 3e9, 7.08432, 9.86745, 0.141026 },
};

static void worked_rows_agree(void **state)
{
    const struct worked_row *row = *state;
    const struct train_model model = {
        .parameters = 7e9, .active_parameters = 7e9, .layers = 1, .sequence = 1
    };
    struct train_plan plan = train_plan_plain();
    plan.data = 16;
    plan.batch = 524288;
    plan.microbatch = 524288 / 16;
    plan.buckets = 10;
    plan.overlap_data = 1;
    struct train_machine machine = small_machine(16);
    machine.peak_flops_per_s = 989e12;
    machine.fabric.gpus = row->g;
    machine.fabric.scaleup_bytes_per_s = 370.8e9;
    machine.fabric.scaleup_hop_s = 3.4e-6;
    machine.fabric.nics = row->nics;
    machine.fabric.nic_bytes_per_s = row->nic_bytes_per_s;
    machine.fabric.network_hop_s = 14e-6;
    const struct train_time time = train_step(&model, &plan, &machine);
    CHECK_NEAR(time.compute_s, 2.78313, 2e-6);
    CHECK_NEAR(time.gradient_s, row->want_exposed, 5e-6);
    CHECK_NEAR(time.step_s, row->want_step, 5e-6);
    CHECK_NEAR(time.mfu, row->want_mfu, 5e-6);
}

/* tp 2, pp 2, dp 4 on 16 GPUs in fours; 32 samples of 1,024 tokens: 8 microbatches.
 *   FLOPs      6 1e9 32768 + 12 8 2048 1024 32768 = 1.966080e14 + 6.597069766656e12 = 2.03205069766656e14; full recomputation 4/3 of
 *              that over 16 x 50 TFLOP/s: 0.33867511627776 s
 *   tensor     S = 1024 2048 2 = 4,194,304 B over 2 GPUs at 100 GB/s: 41.94304 us; 6 a layer, 4 layers, 8 microbatches: 8.05306368 ms
 *   pipeline   scattered 2,097,152 B at 10 GB/s: 209.7152 us; 2 a microbatch, 8 of them: 3.3554432 ms
 *   bubble     1/8 of the sum of the three
 *   data       2 B x 1e9/4 = 0.5 GB over 4, at 20 GB/s: 1.5 x 0.5/20 = 37.5 ms, not hidden */
static void whole_plan_by_hand(void **state)
{
    (void)state;
    const struct train_model model = small_model();
    const struct train_machine machine = small_machine(16);
    struct train_plan plan = train_plan_plain();
    plan.tensor = plan.pipeline = 2;
    plan.data = 4;
    plan.batch = 32;
    plan.recompute = RECOMPUTE_FULL;
    plan.scatter = true;
    const struct train_time time = train_step(&model, &plan, &machine);
    CHECK_NEAR(time.flops, 2.03205069766656e14, 1e-12);
    CHECK_NEAR(time.compute_s, 0.33867511627776, 1e-11);
    CHECK_NEAR(time.tensor_s, 8.05306368e-3, 1e-12);
    CHECK_NEAR(time.pipeline_s, 3.3554432e-3, 1e-12);
    CHECK_NEAR(time.bubble_s, (0.33867511627776 + 8.05306368e-3 + 3.3554432e-3) / 8, 1e-11);
    CHECK_NEAR(time.gradient_s, 37.5e-3, 1e-12);
    /* On an infinitely fast network the data ring would run at 100 GB/s: 7.5 ms of its time are the servers'. */
    CHECK_NEAR(time.stall_intra_s, 8.05306368e-3 + 7.5e-3, 1e-12);
    CHECK_NEAR(time.stall_inter_s, 3.3554432e-3 + 30e-3, 1e-12);
    CHECK_NEAR(time.network_s, 37.5e-3 + 3.3554432e-3, 1e-12);
    CHECK_NEAR(time.wire_s, 37.5e-3 + 3.3554432e-3, 1e-12); /* hops cost nothing here */
    /* Two rings of 2 x 3/4 x 0.5 GB on each server; four ranks with 16 sends of 2,097,152 B. */
    CHECK_NEAR(time.network_bytes, 1.5e9 + 4 * 16 * 2097152.0, 1e-12);
    CHECK_NEAR(time.tokens_per_s, 32768 / time.step_s, 1e-14);
    CHECK_NEAR(time.mfu, 2.03205069766656e14 / 16 / time.step_s / 100e12, 1e-14);
}

/* The same plan below two leaves of two servers each, 5 GB/s up: the rings of gradients stay below their leaf. Of each stage eight
 * ranks send 2,097,152 B at once to the other one, 3.3554432 ms, and wait as long for an answer, 8 times. Parts are 3 GB of two rings and
 * stages half a block apart. As rings, all of it would go up. */
static void stages_cross_leaves(void **state)
{
    (void)state;
    const struct train_model model = small_model();
    struct train_machine machine = small_machine(16);
    struct train_plan plan = train_plan_plain();
    plan.tensor = plan.pipeline = 2;
    plan.data = 4;
    plan.batch = 32;
    plan.scatter = true;
    machine.spans_leaves = true;
    machine.fabric.uplinks_bytes_per_s = 5e9;
    CHECK_NEAR(train_step(&model, &plan, &machine).gradient_s, 2 * 0.75e9 / 5e9, 1e-12);
    machine.leaf_servers = 2;
    const struct train_time time = train_step(&model, &plan, &machine);
    CHECK_NEAR(time.gradient_s, 37.5e-3, 1e-12);
    CHECK_NEAR(time.pipeline_s, 16 * 3.3554432e-3, 1e-12);
    /* Each way a server sends half of that, a leaf twice as much; gradients leave no leaf. */
    CHECK_NEAR(time.server_bytes, 1.5e9 + 4 * 8 * 2097152.0, 1e-12);
    CHECK_NEAR(time.leaf_bytes, 2 * 4 * 8 * 2097152.0, 1e-12);
    assert_int_equal(time.traffic_count, 2);
    const struct traffic_part *stages = &time.traffic[0], *gradients = &time.traffic[1];
    assert_int_equal(stages->pattern, TRAFFIC_STAGES);
    assert_true(stages->members == 2 && stages->stride == 8 && stages->back == 0);
    CHECK_NEAR(stages->bytes, 4 * 16 * 2097152.0, 1e-12);
    assert_int_equal(gradients->pattern, TRAFFIC_RING);
    assert_true(gradients->members == 4 && gradients->stride == 2);
    CHECK_NEAR(gradients->bytes, 1.5e9, 1e-12);
}

/* 8 experts over 4 GPUs of one server, two a token, 8 layers, one sample each: S = 2 x 4,194,304 B; all-to-all inside
 * 3 x 0.5 us + 3/4 S/100 GB/s = 64.41456 us; four a layer. Gradients: 0.2e9 dense parameters over 4, 1.5 x 0.4/100 = 6 ms;
 * experts are alone. Halving what could be hidden behind 76.20190 ms of compute halves each. */
static void experts_by_hand(void **state)
{
    (void)state;
    struct train_model model = small_model();
    model.expert_parameters = 0.8e9;
    model.experts = model.expert_layers = 8;
    model.experts_per_token = 2;
    model.active_parameters = 0.4e9;
    const struct train_machine machine = small_machine(4);
    struct train_plan plan = train_plan_plain();
    plan.data = plan.expert = 4;
    plan.batch = 4;
    struct train_time time = train_step(&model, &plan, &machine);
    CHECK_NEAR(time.expert_s, 32 * 64.41456e-6, 1e-12);
    CHECK_NEAR(time.gradient_s, 6e-3, 1e-12);
    CHECK_NEAR(time.stall_inter_s, 0, 0);
    plan.overlap_expert = 0.5;
    plan.overlap_data = 0.5;
    plan.buckets = 2; /* 3 ms a bucket: the last one cannot be hidden, half of the other is */
    time = train_step(&model, &plan, &machine);
    CHECK_NEAR(time.expert_s, 16 * 64.41456e-6, 1e-12);
    CHECK_NEAR(time.gradient_s, 4.5e-3, 1e-12);
}

/* Stage 3 of 4 layers over 4 GPUs of one server, 25 MB of parameters a layer: gather and scatter 0.75 x 50 MB/100 GB/s =
 * 375 us each; forward and backward of a layer 1 and 2 ms. With prefetch only the first gather and the last scatter
 * stay: (375 + 375 + 375) us; without overlap 4 x 3 x 375 us. Two microbatches: twice that. */
static void shards_by_hand(void **state)
{
    (void)state;
    struct train_model model = small_model();
    model.parameters = model.active_parameters = 100e6;
    model.layers = 4;
    model.hidden = 0;
    model.sample_s = 12e-3;
    struct train_machine machine = small_machine(4);
    struct train_plan plan = train_plan_plain();
    plan.data = 4;
    plan.batch = 8;
    plan.zero = 3;
    CHECK_NEAR(train_step(&model, &plan, &machine).gradient_s, 2 * 12 * 375e-6, 1e-12);
    plan.overlap_data = 1;
    CHECK_NEAR(train_step(&model, &plan, &machine).gradient_s, 2 * 3 * 375e-6, 1e-12);
    CHECK_NEAR(train_step(&model, &plan, &machine).compute_s, 24e-3, 1e-12);
    /* Two stages on two servers: as many bytes and compute for half of the layers, twice the microbatches. */
    machine = small_machine(8);
    plan.pipeline = 2;
    plan.batch = 16;
    CHECK_NEAR(train_step(&model, &plan, &machine).gradient_s, 4 * 3 * 375e-6, 1e-12);
    plan.overlap_data = 0;
    CHECK_NEAR(train_step(&model, &plan, &machine).gradient_s, 4 * 6 * 375e-6, 1e-12);
}

/* One GPU gives back the time that was measured on it (C119: aliyun/SimAI 166), and GPUs share it out; twice the peak
 * halves what is calculated (C113: astra-sim 73, 139). Nothing communicates. */
static void one_gpu_gives_back_its_time(void **state)
{
    (void)state;
    struct train_model model = small_model();
    struct train_machine machine = small_machine(1);
    struct train_plan plan = train_plan_plain();
    plan.batch = plan.microbatch = 7;
    const double calculated = train_step(&model, &plan, &machine).step_s;
    machine.peak_flops_per_s *= 2;
    CHECK_NEAR(train_step(&model, &plan, &machine).step_s, calculated / 2, 1e-14);
    model.sample_s = 0.1;
    const struct train_time one = train_step(&model, &plan, &machine);
    CHECK_NEAR(one.step_s, 0.7, 1e-14);
    CHECK_NEAR(one.samples_per_s, 10, 1e-14);
    CHECK_NEAR(one.stall_intra_s + one.stall_inter_s, 0, 0);
    machine = small_machine(4);
    plan.data = 4;
    plan.batch = 28;
    CHECK_NEAR(train_step(&model, &plan, &machine).compute_s, 0.7, 1e-14);
}

/* 20 ms fixed, 5 ms for each of 3 more servers, Adam on 1e9 parameters at 1 TB/s 28 ms, 16 samples of 1 GB at 10 GB/s:
 * waiting fills 1.6 s; a host a tenth slower makes it 1.76 s. */
static void waiting_by_hand(void **state)
{
    (void)state;
    struct train_model model = small_model();
    model.sample_s = 0.1;
    struct train_machine machine = small_machine(16);
    machine.memory_bytes_per_s = 1e12;
    struct train_plan plan = train_plan_plain();
    plan.data = plan.batch = 16;
    plan.fixed_s = 0.02;
    plan.server_s = 0.005;
    plan.input_bytes = 1e9;
    plan.input_bytes_per_s = 10e9;
    plan.slowest_factor = 1.1;
    const struct train_time time = train_step(&model, &plan, &machine);
    CHECK_NEAR(time.fixed_s, 0.035, 1e-14);
    CHECK_NEAR(time.optimizer_s, 0.028, 1e-14);
    CHECK_NEAR(time.step_s, 1.76, 1e-14);
    CHECK_NEAR(time.straggler_s, 0.16, 1e-12);
    CHECK_NEAR(time.data_s + time.stall_intra_s + time.stall_inter_s, 1.6 - 0.1 - 0.063, 1e-12);
}

/* (p - 1)/(m v) of the work between, whatever the plan (validation case T07). */
static struct train_plan any_plan(uint64_t seed, struct train_model *model,
                                  struct train_machine *machine)
{
    struct train_plan plan = train_plan_plain();
    plan.tensor = 1u << any_count(seed, 0, 0, 3);
    plan.pipeline = 1u << any_count(seed, 1, 0, 3);
    plan.data = 1u << any_count(seed, 2, 0, 4);
    plan.expert = 1u << any_count(seed, 3, 0, 4);
    if (plan.expert > plan.data) plan.expert = plan.data;
    plan.interleave = plan.pipeline > 1 ? any_count(seed, 4, 1, 3) : 1;
    plan.zero = any_count(seed, 5, 0, 3);
    plan.recompute = (enum recompute)any_count(seed, 6, 0, 2);
    plan.scatter = any(seed, 7) < 0.5;
    plan.microbatch = any_count(seed, 8, 1, 4);
    plan.batch = plan.microbatch * plan.data * plan.pipeline * any_count(seed, 9, 1, 8);
    plan.buckets = any_count(seed, 10, 1, 32);
    plan.overlap_data = any(seed, 11);
    plan.overlap_tensor = any(seed, 12);
    plan.overlap_pipeline = any(seed, 13);
    plan.overlap_expert = any(seed, 14);
    *model = small_model();
    model->layers = 48;
    model->expert_parameters = 0.5e9;
    model->experts = 16;
    model->expert_layers = 24;
    model->experts_per_token = 2;
    *machine = small_machine(plan.tensor * plan.pipeline * plan.data);
    machine->fabric.scaleup_hop_s = 3e-6;
    machine->fabric.network_hop_s = 14e-6;
    return plan;
}

static void parts_add_up(void **state)
{
    (void)state;
    struct train_model model;
    struct train_machine machine;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        const struct train_plan plan = any_plan(seed, &model, &machine);
        assert_int_equal(train_plan_check(&model, &plan, &machine).fault, TRAIN_FITS);
        const struct train_time time = train_step(&model, &plan, &machine);
        const double exposed = time.tensor_s + time.expert_s + time.pipeline_s + time.gradient_s;
        CHECK_NEAR(parts_of(&time), time.step_s, 1e-13);
        CHECK_NEAR(time.stall_intra_s + time.stall_inter_s, exposed, 1e-12);
        CHECK(time.stall_intra_s >= 0 && time.stall_inter_s >= -1e-15, "seed %lu", seed);
        CHECK_NEAR(time.bubble_s,
                   (plan.pipeline - 1.0) / (train_microbatches(&plan) * plan.interleave) *
                       (time.compute_s + time.tensor_s + time.expert_s + time.pipeline_s),
                   1e-13);
    }
}

/* More bandwidth, shorter hops, more overlap and a higher efficiency never slow a step; infinite rates leave no exposed communication. */
static void better_is_never_slower(void **state)
{
    (void)state;
    struct train_model model;
    struct train_machine machine;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        const struct train_plan plan = any_plan(seed, &model, &machine);
        const double before = train_step(&model, &plan, &machine).step_s * (1 + 1e-12);
        struct train_machine better = machine;
        better.fabric.scaleup_bytes_per_s *= 1 + any(seed, 20);
        CHECK(train_step(&model, &plan, &better).step_s <= before, "seed %lu: NVLink", seed);
        better.fabric.nic_bytes_per_s *= 1 + any(seed, 21);
        CHECK(train_step(&model, &plan, &better).step_s <= before, "seed %lu: NICs", seed);
        better.fabric.network_hop_s /= 2;
        CHECK(train_step(&model, &plan, &better).step_s <= before, "seed %lu: hops", seed);
        struct train_plan hidden = plan;
        hidden.overlap_data = hidden.overlap_tensor = hidden.overlap_pipeline = 1;
        CHECK(train_step(&model, &hidden, &machine).step_s <= before, "seed %lu: overlap", seed);
        better.fabric.scaleup_bytes_per_s = better.fabric.nic_bytes_per_s = INFINITY;
        better.fabric.scaleup_hop_s = better.fabric.network_hop_s = 0;
        const struct train_time free_time = train_step(&model, &plan, &better);
        CHECK(free_time.tensor_s + free_time.pipeline_s + free_time.gradient_s <
                  1e-14 * free_time.step_s,
              "seed %lu: free communication takes time", seed);
    }
}

/* Eight GPUs, two of each server: its four NICs serve the two, 2 x 7/8 x 2 GB over 40 GB/s = 87.5 ms. Ten buckets beside a
 * backward pass: 16 samples of 1,024 tokens are 6 1e9 16384 + 12 8 2048 1024 16384 = 1.01602534883328e14 FLOPs, over
 * 8 x 50 TFLOP/s 0.2540063372 s, two thirds of it backward: nine tenths of that hide all but one bucket, 8.75 ms. Twice the
 * traffic, 175 ms, is more than 0.1693 s x 0.9 hide: 175 - 152.4038 = 22.596 ms. */
static void part_of_each_server(void **state)
{
    (void)state;
    const struct train_model model = small_model();
    struct train_machine machine = small_machine(8);
    struct train_plan plan = train_plan_plain();
    machine.gpus_per_server = 2;
    plan.microbatch = 2; /* one pass */
    plan.data = 8;
    plan.batch = 16;
    struct train_time time = train_step(&model, &plan, &machine);
    CHECK_NEAR(time.gradient_s, 87.5e-3, 1e-12);
    CHECK_NEAR(time.network_bytes, 3.5e9, 1e-12);
    plan.buckets = 10;
    plan.overlap_data = 1;
    time = train_step(&model, &plan, &machine);
    CHECK_NEAR(time.gradient_s, 8.75e-3, 1e-12);
    plan.traffic = 2;
    time = train_step(&model, &plan, &machine);
    const double backward_s = 1.01602534883328e14 / (8 * 50e12) * 2 / 3;
    CHECK_NEAR(time.gradient_s, 175e-3 - 0.9 * backward_s, 1e-11);
    CHECK_NEAR(time.network_bytes, 7e9, 1e-12);
}

int main(void)
{
    enum { ROWS = sizeof worked / sizeof *worked };
    struct CMUnitTest tests[ROWS + 9] = {
        cmocka_unit_test(whole_plan_by_hand),
        cmocka_unit_test(stages_cross_leaves),
        cmocka_unit_test(experts_by_hand),
        cmocka_unit_test(shards_by_hand),
        cmocka_unit_test(one_gpu_gives_back_its_time),
        cmocka_unit_test(waiting_by_hand),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(better_is_never_slower),
        cmocka_unit_test(part_of_each_server),
    };
    for (size_t i = 0; i < ROWS; i++)
        tests[i + 9] = (struct CMUnitTest){ worked[i].name, worked_rows_agree, NULL, NULL,
                                            (void *)(uintptr_t)&worked[i] };
    return cmocka_run_group_tests_name("train_step", tests, NULL, NULL);
}
