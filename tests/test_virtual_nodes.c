/* test_virtual_nodes.c - servers that host several nodes: GPUs and NICs belong to one node each, and fail as its own. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "books_probe.h"

enum { SERVERS = 4, PARTS = 2, NODES = SERVERS * PARTS };

static uint32_t outs_seen[NODES];

static void probe(const struct run *run)
{
    books_probe(run);
    for (uint32_t node = 0; node < NODES; node++) outs_seen[node] += run->cluster.outs[node] > 0;
}

/* Four servers of eight GPUs and eight NICs, each cut into two nodes; nothing but links breaks: 32 of them, each every
 * 100 h in the mean, so that in 100 days each node loses one about 100 times. */
static void links_break_in_every_node(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    fixture_init(&fixture, 1);
    struct layout *layout = fixture_layout(&fixture, "hall", SERVERS, 8);
    layout->groups = calloc(1, sizeof *layout->groups);
    layout->group_count = 1;
    layout->groups[0].server = layout->server;
    layout->groups[0].count = SERVERS;
    layout->groups[0].nodes_per_server = PARTS;
    fixture_job(&fixture, 0, 0, 3600, 0, 8);
    fixture.scenario.horizon_ns = 100 * NS_PER_DAY;
    fixture.scenario.failures.component[COMPONENT_LINK] = (struct component_failures){
        .law = LAW_EXPONENTIAL, .mean_s = 100 * 3600, .repair_median_s = 3600, .repair_p95_s = 3600
    };
    fixture_ready(&fixture);
    run_probe = probe;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    run_probe = NULL;
    for (uint32_t node = 0; node < NODES; node++) assert_true(outs_seen[node] > 20);
    replica_result_clear(&result);
    scenario_clear(&fixture.scenario);
    fixture_clear(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(links_break_in_every_node) };
    return cmocka_run_group_tests_name("virtual nodes", tests, NULL, NULL);
}
