/* test_store_nodes.c - the tables of servers, nodes and GPUs of layouts whose nodes are not their servers, or not alike. */
#include "scenario_run.h"

#define JOB "- {id: j, gpus: 2, run: 1h}\n"

static int64_t ask(const struct stored_run *run, const char *sql)
{
    return number_of(run, sql, -1);
}

/* Three servers of eight GPUs and 128 cores, each cut into two machines: six nodes of four and 64. */
static void machines_are_nodes(void **state)
{
    (void)state;
    struct stored_run run;
    run_lab(&run, "",
            "  - {type: hgx-h100-8, cores: 128, memory: 2 TB, count: 3, nodes_per_server: 2}\n",
            JOB);
    assert_int_equal(ask(&run, "SELECT count(*) FROM server"), 3);
    assert_int_equal(ask(&run, "SELECT count(*) FROM node WHERE gpus = 4 AND cores = 64"), 6);
    assert_int_equal(ask(&run, "SELECT server FROM node WHERE node = 5"), 2);
    assert_int_equal(ask(&run, "SELECT sum(memory_bytes) FROM node"), INT64_C(6000000000000));
    assert_int_equal(ask(&run, "SELECT count(*) FROM gpu"), 24);
    assert_int_equal(ask(&run, "SELECT node FROM gpu WHERE gpu = 11"), 2);
    scenario_forget(&run);
}

/* Two servers of four GPUs, then one of eight, one without. GPUs have eight numbers a node, as incidents name them. */
static void groups_are_told_as_they_are(void **state)
{
    (void)state;
    struct stored_run run;
    run_lab(&run, "",
            "  - {type: {like: hgx-h100-8, gpus: 4, nics: 4}, cores: 32, memory: 1 TB, count: 2}\n"
            "  - {type: hgx-h100-8, cores: 128, memory: 2 TB, count: 1}\n"
            "  - {type: {gpus: 0}, cores: 16, memory: 100 GB, count: 1}\n",
            JOB);
    assert_int_equal(ask(&run, "SELECT CAST(group_concat(gpus, '') AS INTEGER) FROM (SELECT * FROM "
                               "node ORDER BY node)"),
                     4480);
    assert_int_equal(ask(&run, "SELECT CAST(group_concat(cores, '') AS INTEGER) FROM (SELECT * "
                               "FROM node ORDER BY node)"),
                     323212816);
    assert_int_equal(ask(&run, "SELECT count(*) FROM gpu"), 16);
    assert_int_equal(ask(&run, "SELECT max(gpu) FROM gpu WHERE node = 0"), 3);
    assert_int_equal(ask(&run, "SELECT min(gpu) FROM gpu WHERE node = 1"), 8);
    assert_int_equal(ask(&run, "SELECT max(gpu) FROM gpu WHERE node = 2"), 23);
    scenario_forget(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_are_nodes),
        cmocka_unit_test(groups_are_told_as_they_are),
    };
    return cmocka_run_group_tests_name("store_nodes", tests, NULL, NULL);
}
