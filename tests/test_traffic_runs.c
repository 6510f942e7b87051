/* test_traffic_runs.c - training plans between leaves: what their parts put on the links of a layout takes as long as the closed
 * form says (MODELS 0.3), whatever the plan, and a job alone is as long with the network shared as without. */
#include "fixture.h"
#include "network/fabric.h"

#include "tests/near.h"
#include "tests/rows.h"

/* 0.05 s a sample and GPU; four layers, 2,048 wide, of 1,024 tokens, with eight experts or dense. */
static struct train_job job_of(uint32_t tensor, uint32_t pipeline, uint32_t expert,
                               uint32_t interleave)
{
    struct train_job job = {
        .model = { .id = "m",
                   .parameters = 1e9,
                   .active_parameters = 1e9,
                   .layers = 8,
                   .hidden = 2048,
                   .sequence = 1024,
                   .sample_s = 0.05 },
        .stack = { .efficiency = 0.5, .gradient_bytes = 4, .overlap = 0.5, .ep_overlap = 0.25 },
        .gpu = { .memory_bytes = 80e9, .memory_bytes_per_s = HUGE_VAL, .peak_tflops = 989 },
        .tensor = tensor,
        .pipeline = pipeline,
        .expert = expert,
        .interleave = interleave,
        .samples_per_gpu = 8,
        .microbatch = 1,
    };
    if (expert > 1) {
        job.model.expert_parameters = 8e8;
        job.model.experts = job.model.expert_layers = 8;
        job.model.experts_per_token = 2;
        job.model.active_parameters = 4e8;
    }
    return job;
}

static const struct {
    const char *name;
    uint32_t tensor, pipeline, expert, interleave;
} plans[] = {
    { "data", 1, 1, 1, 1 },
    { "data and tensor", 8, 1, 1, 1 },
    { "two stages", 8, 2, 1, 1 },
    { "four stages", 4, 4, 1, 1 },
    { "four, interleaved", 8, 4, 1, 2 },
    { "stages inside servers", 2, 8, 1, 1 },
    { "experts over all", 8, 1, 8, 1 },
    { "experts by fours", 8, 1, 4, 1 },
    { "experts and stages", 4, 2, 8, 1 },
    { "tensor over servers", 16, 1, 1, 1 },
};

static const struct {
    const char *name;
    enum fabric_kind kind;
    uint32_t servers, ports;
    double oversubscription;
} fabrics[] = {
    { "one switch", FABRIC_TWO_TIER, 8, 64, 1 },
    { "4 servers a leaf", FABRIC_TWO_TIER, 8, 36, 8 },
    { "2 servers a leaf", FABRIC_TWO_TIER, 8, 18, 8 },
    { "rails", FABRIC_RAIL, 8, 6, 2 },
    { "a dragonfly", FABRIC_DRAGONFLY, 32, 32, 1 },
};

static void init(struct fixture *fixture, uint32_t plan, uint32_t fabric, uint32_t job_count)
{
    fixture_init(fixture, job_count);
    const struct train_job job = job_of(plans[plan].tensor, plans[plan].pipeline,
                                        plans[plan].expert, plans[plan].interleave);
    fixture->scenario.communication.kind = COMM_PROFILE;
    fixture->scenario.communication.mix_count = 1;
    fixture->scenario.communication.mix[0] = (struct mix_entry){
        .profile = { .train = job }, .weight = 1, .gpus_min = 1, .gpus_max = UINT32_MAX
    };
    struct layout *layout = fixture_layout(fixture, "hall", fabrics[fabric].servers, 8);
    layout->fabric.kind = fabrics[fabric].kind;
    layout->fabric.link.switch_ports = fabrics[fabric].ports;
    layout->fabric.oversubscription = fabrics[fabric].oversubscription;
}

enum { FABRICS = sizeof fabrics / sizeof *fabrics, PLANS = sizeof plans / sizeof *plans };

static void links_are_the_closed_form(void **state)
{
    const uint64_t row = rows_number(state);
    struct fixture fixture;
    init(&fixture, (uint32_t)row / FABRICS, row % FABRICS, 1);
    const uint32_t servers = fabrics[row % FABRICS].servers, gpus = 8 * servers;
    fixture_job(&fixture, 0, 0, 100, 0, gpus);
    fixture_ready(&fixture);
    const struct variant *variant = &fixture.plan.variants[0];
    struct speed *speed = speed_create(&fixture.scenario, variant, fixture.arena);
    struct fabric_net net;
    assert_true(speed &&
                fabric_net_init(&net, &variant->fabric, &fixture.scenario.layouts[0].fabric,
                                speed_server_bytes_per_s(speed)));
    const uint32_t per_leaf = variant->fabric.servers_per_leaf;
    const uint32_t per_pod = per_leaf * variant->fabric.units_per_pod;
    const struct speed_query query = {
        .gpus = gpus,
        .kappa_luck = 1,
        .place = { .servers = servers,
                   .gpus_min = 8,
                   .leaf_servers = servers < per_leaf ? servers : per_leaf,
                   .pair_servers = servers > per_pod ? per_pod : 0,
                   .spans_leaves = servers > per_leaf,
                   .spans_pods = servers > per_pod },
    };
    struct speed_operation operation;
    if (speed_operation(speed, &query, &operation)) {
        uint32_t all[64];
        for (uint32_t s = 0; s < servers; s++) all[s] = s;
        const struct fabric_job job = { .bytes = operation.bytes,
                                        .nics = 8,
                                        .parts = operation.parts,
                                        .part_count = operation.part_count,
                                        .gpus = operation.gpus,
                                        .domains = operation.islands };
        static struct link_use uses[4096];
        assert_true(fabric_net_most_uses(&net, servers) <= 4096);
        const uint32_t count = fabric_net_uses(&net, all, servers, &job, uses);
        double fullest_s = 0;
        for (uint32_t i = 0; i < count; i++)
            fullest_s = fmax(fullest_s, uses[i].bytes / fabric_net_capacity(&net, uses[i].link));
        CHECK_NEAR(fullest_s, operation.wire_s, 1e-6);
        assert_true(operation.wire_s <= operation.alone_s * (1 + 1e-12));
    }
    fabric_net_clear(&net);
    fixture_clear(&fixture);
}

/* A job on all servers; or on those that another one leaves, with fewer servers on one leaf than on others. */
static void alone_is_as_without_a_network(void **state)
{
    const uint64_t row = rows_number(state);
    const uint32_t fabric = row % FABRICS, servers = fabrics[fabric].servers;
    const uint32_t plan = (uint32_t)row / FABRICS;
    const uint32_t groups = plans[plan].tensor * plans[plan].pipeline * plans[plan].expert;
    const uint32_t least = groups < 8 ? 8 : groups;
    for (int beside = 0; beside < 2 && (!beside || least < 8 * servers); beside++) {
        int64_t end_ns[2];
        for (int shares = 0; shares < 2; shares++) {
            struct fixture fixture;
            init(&fixture, plan, fabric, 2);
            fixture.scenario.contention = shares ? NETWORK_ESTIMATE : NETWORK_NONE;
            fixture_job(&fixture, 0, 0, 20000, 0, least);
            fixture_job(&fixture, 1, beside ? 1 : 100000, 9999, 0,
                        beside ? 8 * servers - least : 8 * servers);
            fixture_ready(&fixture);
            struct replica_result result;
            assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
            const struct job_row *jobs = LOG_ITEMS(&result.jobs, const struct job_row);
            end_ns[shares] = jobs[1].end_ns;
            replica_result_clear(&result);
            fixture_clear(&fixture);
        }
        CHECK(llabs(end_ns[0] - end_ns[1]) <= (beside ? end_ns[0] / 1000000 : 0),
              "%s: %.9f h with others, %.9f alone", beside ? "beside" : "all", end_ns[1] / 3.6e12,
              end_ns[0] / 3.6e12);
    }
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t row = 0; row < PLANS * FABRICS; row++)
        rows_add(&rows, links_are_the_closed_form, (void *)row, "%s, %s", plans[row / FABRICS].name,
                 fabrics[row % FABRICS].name);
    for (uintptr_t row = 0; row < PLANS * FABRICS; row++)
        rows_add(&rows, alone_is_as_without_a_network, (void *)row, "alone: %s, %s",
                 plans[row / FABRICS].name, fabrics[row % FABRICS].name);
    return rows_run("traffic_runs", &rows);
}
