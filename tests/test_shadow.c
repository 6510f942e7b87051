/* test_shadow.c - the reservation of EASY's head, kept up to date by steps, is after every instant
 * what a count from nothing gives; with faults, drained nodes, restarts and early ends.
 *
 * The policy's memory begins with its struct shadow. */
#include "fixture.h"

#include "policy/shadow.h"
#include "tests/near.h"
#include "tests/rows.h"

static uint64_t compared;

/* GPUs of each node that jobs give back by the shadow time; nodes that take no jobs do not count. */
static void count_freed(const struct run *run, const struct shadow *shadow, uint32_t *freed)
{
    for (uint32_t b = 0; b < run->running.block_count; b++)
        for (uint32_t e = 0; e < run->running.blocks[b]->count; e++) {
            const struct running_entry *entry = &run->running.blocks[b]->entries[e];
            if (entry->expected_end_ns > shadow->end_ns) continue;
            for (uint32_t row = run->live.attempts[entry->live].first_grant; row != GRANT_NONE;
                 row = run->cluster.grants[row].next) {
                const struct grant *grant = &run->cluster.grants[row];
                if (!run->cluster.outs[grant->node])
                    freed[grant->node] += (uint32_t)__builtin_popcount(grant->mask);
            }
        }
}

/* With the jobs of one expected end fewer the head would not fit. */
static void is_the_first(const struct run *run, const struct shadow *shadow)
{
    struct shadow earlier = { .end_ns = INT64_MIN };
    for (uint32_t b = 0; b < run->running.block_count; b++)
        for (uint32_t e = 0; e < run->running.blocks[b]->count; e++) {
            const int64_t end_ns = run->running.blocks[b]->entries[e].expected_end_ns;
            if (end_ns <= shadow->end_ns) earlier.end_ns = end_ns - 1; /* entries ascend */
        }
    uint32_t freed[64] = { 0 }, with_then[LIMIT_GPUS_PER_SERVER + 1] = { 0 };
    count_freed(run, &earlier, freed);
    for (uint32_t node = 0; node < run->cluster.nodes; node++) {
        const int is = cluster_node_free(&run->cluster, node);
        if (is >= 0) with_then[(uint32_t)is + freed[node]]++;
    }
    assert_false(
        demand_fits(&run->demands[shadow->head_class], with_then, run->cluster.gpus_per_node));
}

static void probe(const struct run *run)
{
    const struct shadow *shadow = run->policy_memory;
    if (shadow->head == LIVE_NONE) return;
    uint32_t freed[64] = { 0 }, with_then[LIMIT_GPUS_PER_SERVER + 1] = { 0 };
    assert_true(run->cluster.nodes <= 64);
    count_freed(run, shadow, freed);
    for (uint32_t node = 0; node < run->cluster.nodes; node++) {
        assert_int_equal(shadow->freed[node], freed[node]);
        const int is = cluster_node_free(&run->cluster, node);
        if (is >= 0) with_then[(uint32_t)is + freed[node]]++;
    }
    for (uint32_t f = 0; f <= run->cluster.gpus_per_node; f++)
        assert_int_equal(shadow->with_then[f], with_then[f]);
    if (shadow->reachable)
        assert_true(
            demand_fits(&run->demands[shadow->head_class], with_then, run->cluster.gpus_per_node));
    if (!shadow->may_be_nearer) is_the_first(run, shadow);
    compared++;
}

static struct component_failures law(double mean_h)
{
    return (struct component_failures){ .law = LAW_EXPONENTIAL,
                                        .mean_s = mean_h * 3600,
                                        .repair_median_s = 3600,
                                        .repair_p95_s = 6 * 3600 };
}

static void like_a_count(void **state)
{
    const uint64_t seed = rows_number(state);
    static const uint32_t cuts[] = { 8, 4, 2, 1 };
    const uint32_t g = cuts[seed % 4], jobs = 300;
    struct fixture fixture;
    fixture_init(&fixture, jobs);
    struct scenario *scenario = &fixture.scenario;
    scenario->seed = seed;
    scenario->order = ORDER_EASY;
    scenario->kill_at_limit = seed % 3 == 0;
    scenario->slack[0] = seed % 5 == 0 ? SLACK_ANY : 0;
    scenario->checkpoint = (struct checkpoint){ .policy = CHECKPOINT_FIXED,
                                                .interval_ns = 1200 * NS_PER_S,
                                                .store_bytes_per_s = 1e9,
                                                .bytes_per_gpu = 1e9 };
    if (seed % 7) {
        struct failures *failures = &scenario->failures;
        failures->component[COMPONENT_GPU] = law(300);
        failures->component[COMPONENT_SERVER] = law(300);
        failures->component[COMPONENT_LINK] = law(600);
        failures->component[COMPONENT_LEAF] = law(900);
        failures->component[COMPONENT_JOB] = law(200);
        failures->drain = (enum drain)(seed % 3);
        failures->requeue_delay_ns = seed % 2 ? 0 : 300 * NS_PER_S;
    }
    fixture_layout(&fixture, "shadow", 48 / g, g)->fabric.link.switch_ports = 32;
    for (uint32_t row = 0; row < jobs; row++) {
        const double u = any(seed, 4 * row), run_s = any_scale(seed, 4 * row + 1, 100, 40000);
        /* estimates: too long, exact, or too short, so that jobs end early, in time and late */
        fixture_job(&fixture, row, row * 900.0, run_s,
                    run_s * any_between(seed, 4 * row + 2, 0.8, 4),
                    u < 0.4 ? 1 : any_count(seed, 4 * row + 3, 1, u < 0.8 ? 8 : 40));
    }
    fixture_ready(&fixture);
    struct replica_result result;
    const uint64_t before = compared;
    run_probe = probe;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    run_probe = NULL;
    assert_true(compared - before > 50);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t seed = 1; seed <= 200; seed++)
        rows_add(&rows, like_a_count, (void *)seed, "like a count from nothing, seed %u",
                 (unsigned)seed);
    const int failed = rows_run("shadow", &rows);
    printf("%llu reservations compared\n", (unsigned long long)compared);
    return failed;
}
