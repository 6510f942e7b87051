/* test_scenario.c - scenarios are read as written, and refused with messages that are fixed here.
 *
 * tests/bad holds one wrong scenario a file, named by its item of the list of pitfalls where it has
 * one, with the whole message beside it (.expected). */
#include "io/scenario_read.h"

#include "base/clock.h"
#include "io/catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define TINY         "scenarios/tiny.yaml"

enum { BAD_MOST = 200, TEXT_BYTES = 65536 };

static struct scenario scenario;
static char shown[TEXT_BYTES];

/* Reads into the static scenario; the printed problems are left in `shown`. */
static enum status read_with(const char *path, const char *const *sets, size_t set_count)
{
    scenario_clear(&scenario);
    struct diag *diag = diag_create();
    const enum status status = scenario_read(path, sets, set_count, &scenario, diag);
    memset(shown, 0, sizeof shown);
    FILE *out = fmemopen(shown, sizeof shown - 1, "w");
    diag_print(diag, out);
    fclose(out);
    diag_destroy(diag);
    return status;
}

static void read_file(const char *path, char *out, size_t out_bytes)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s is missing", path);
    else {
        out[fread(out, 1, out_bytes - 1, file)] = '\0';
        fclose(file);
    }
}

/* ---- tests/bad ---- */

static char bad_names[BAD_MOST][256];

static void check_bad(void **state)
{
    const char *name = *state;
    static char want[TEXT_BYTES];
    char path[512];
    snprintf(path, sizeof path, "tests/bad/%s.expected", name);
    read_file(path, want, sizeof want);
    snprintf(path, sizeof path, "tests/bad/%s.yaml", name);
    const clock_t start = clock();
    const bool no_file =
        strstr(want, ": No such file or directory\n") != NULL; /* the world's fault */
    assert_int_equal(read_with(path, NULL, 0), no_file ? STATUS_WORLD : STATUS_INPUT);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 1.0); /* P27, P46 */
    assert_string_equal(shown, want);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static size_t list_bad(void)
{
    size_t count = 0;
    DIR *folder = opendir("tests/bad");
    for (struct dirent *entry; folder && (entry = readdir(folder)) && count < BAD_MOST;) {
        char *dot = strstr(entry->d_name, ".yaml");
        if (dot == NULL) continue;
        snprintf(bad_names[count++], sizeof bad_names[0], "%.*s", (int)(dot - entry->d_name),
                 entry->d_name);
    }
    if (folder) closedir(folder);
    qsort(bad_names, count, sizeof bad_names[0], by_name);
    return count;
}

/* ---- overrides ---- */

struct set_case {
    const char *name, *sets[3], *want;
};

/* want: a line of the resolved scenario. */
static struct set_case good_sets[] = {
    { "set a key", { "seed=9" }, "seed: 9  # --set\n" },
    { "set by short key, then beside it",
      { "replicas=5", "replicas.resample=days" },
      "replicas.count: 5  # --set\nreplicas.resample: days  # --set\n" },
    { "set beside a word of the file",
      { "workload.communication.scale=3" },
      "workload.communication.scale: 3  # --set\n" },
    { "set by name of a layout",
      { "layouts.four4.servers.count=40" },
      "layouts.four4.servers.count: 40  # --set\n" },
    { "set by index of a layout",
      { "layouts[1].servers.count=40" },
      "layouts.four4.servers.count: 40  # --set\n" },
    { "set a load beside a list of layouts",
      { "layouts.scale_to_load=0.8" },
      "layouts.scale_to_load: 0.8  # --set\n" },
    { "set below the list after the load",
      { "layouts.scale_to_load=0.8", "layouts.two8.servers.count=7", "layouts.list[1].name=x" },
      "layouts.two8.servers.count: 7  # --set\n" },
    { "set a flow map", { "failures.gpu={mtbf: 50000h}" }, "failures.gpu.mtbf: 50000h  # --set\n" },
    { "set an mtbf over the catalog's rate",
      { "failures.gpu.mtbf=50000h" },
      "failures.gpu.mtbf: 50000h  # --set\nfailures.gpu.repair_median: 4h  # failures.yaml:" },
    { "set a component to none", { "failures.gpu=none" }, "failures.gpu: none  # --set\n" },
    { "set one field of a server type",
      { "layouts.two8.servers.type.nics=4" },
      "layouts.two8.servers.type.nics: 4  # --set\n" },
    { "set null takes the default", { "seed=null" }, "seed: 1  # default\n" },
    { "set a whole map by its short key",
      { "checkpoint=none" },
      "checkpoint.policy: none  # --set\n" },
    { "set the horizon to all",
      { "time.horizon=all", "time.warmup=null" },
      "time.horizon: all  # --set\ntime.warmup: 0s  # default\n" },
    { "P08 quoted words",
      { "checkpoint.size=\"by_class\"" },
      "checkpoint.size: by_class  # --set\n" },
    { "P08 quoted numbers", { "seed=\"8\"" }, "seed: 8  # --set\n" },
    { "P09 integers as floats", { "replicas=8.0" }, "replicas.count: 8.0  # --set\n" },
    { "P10 a share in percent",
      { "workload.communication={kappa_one: .1, kappa_many: .2, hidden: 50%}" },
      "workload.communication.hidden: 50%  # --set\n" },
    { "P01 no is a text", { "name=no" }, "name: no  # --set\n" },
    { "P11 number-like names",
      { "layouts[0].name=1.10", "baseline=1.10", "layouts.1.10.servers.count=3" },
      "layouts.1.10.servers.count: 3  # --set\n" },
    { "P91 hostile names are names",
      { "name=x'); DROP TABLE jobs;--" },
      "name: x'); DROP TABLE jobs;--  # --set\n" },
    { "the trace may be named from here",
      { "workload.trace.file=" TINY },
      "workload.trace.file: " TINY "  # --set\n" },
};

static void check_good_set(void **state)
{
    const struct set_case *row = *state;
    size_t count = 0;
    while (count < COUNT(row->sets) && row->sets[count]) count++;
    if (read_with(TINY, row->sets, count) != STATUS_OK) fail_msg("refused:\n%s", shown);
    if (strstr(scenario.resolved, row->want) == NULL)
        fail_msg("'%s' is not in:\n%s", row->want, scenario.resolved);
    assert_non_null(strstr(scenario.overrides, row->sets[0]));
}

/* want: the whole message. */
static struct set_case bad_sets[] = {
    { "set out of range",
      { "replicas=0" },
      "--set:1:10: error: replicas.count must be 1 to 10000, got 0\n"
      "    1 | replicas=0\n"
      "      |          ^\n" },
    { "P18 set an unknown key",
      { "replcas=3" },
      "--set:1:1: error: unknown key 'replcas'; did you mean 'replicas'?\n"
      "    1 | replcas=3\n"
      "      | ^~~~~~~\n" },
    { "P18 set below an unknown layout",
      { "layouts.two9.servers.count=3" },
      "--set:1:9: error: no element named 'two9' in 'layouts'; did you mean 'two8'?\n"
      "    1 | layouts.two9.servers.count=3\n"
      "      |         ^~~~\n" },
    { "set beyond the list",
      { "layouts[2].servers.count=3" },
      "--set:1:8: error: 'layouts' has 2 elements, counted from 0\n"
      "    1 | layouts[2].servers.count=3\n"
      "      |        ^~~\n" },
    { "set without '='", { "seed" }, "gpuplan: --set 'seed': write it as path=value\n" },
    { "set without a value",
      { "seed= " },
      "--set:1:5: error: a value is missing behind '='\n"
      "    1 | seed= \n"
      "      |     ^\n" },
    { "set without a path",
      { "=3" },
      "--set:1:1: error: a name is missing here\n    1 | =3\n      | ^\n" },
    { "set with two dots",
      { "time..x=1" },
      "--set:1:6: error: a name is missing here\n    1 | time..x=1\n      |      ^\n" },
    { "set below a number",
      { "seed.x=1" },
      "--set:1:6: error: seed: expected one value, got a mapping\n"
      "    1 | seed.x=1\n"
      "      |      ^\n" },
    { "set two values at once",
      { "replicas=0", "seed=-1" },
      "--set:1:6: error: seed must be 0 to 9.2e+18, got -1\n"
      "    1 | seed=-1\n"
      "      |      ^~\n"
      "--set:1:10: error: replicas.count must be 1 to 10000, got 0\n"
      "    1 | replicas=0\n"
      "      |          ^\n" },
    { "P95 set control characters",
      { "name=\x1b[2J" },
      "--set:1:6: error: byte 5 is U+001B, a control character\n"
      "    1 |      \\x1b[2J\n"
      "      |      ^~~~\n" },
};

static void check_bad_set(void **state)
{
    const struct set_case *row = *state;
    size_t count = 0;
    while (count < COUNT(row->sets) && row->sets[count]) count++;
    assert_int_equal(read_with(TINY, row->sets, count), STATUS_INPUT);
    assert_string_equal(shown, row->want);
}

/* ---- what is stored ---- */

static void tiny_is_read_as_written(void **state)
{
    (void)state;
    if (read_with(TINY, NULL, 0) != STATUS_OK) fail_msg("refused:\n%s", shown);
    assert_string_equal(scenario.name, "tiny");
    assert_int_equal(scenario.seed, 7);
    assert_true(scenario.horizon_ns == 24 * NS_PER_HOUR && scenario.warmup_ns == 0);
    assert_true(scenario.curve_bin_ns == NS_PER_HOUR && scenario.follow_ns == 12 * NS_PER_HOUR);
    assert_int_equal(scenario.replicas, 3);
    assert_int_equal(scenario.resample, RESAMPLE_NONE);
    assert_string_equal(scenario.trace_path, "scenarios/traces/tiny.csv");
    assert_int_equal(scenario.trace_format, TRACE_GPUPLAN);
    assert_string_equal(scenario.recorded_server.id, "dgx-h100");
    assert_int_equal(scenario.recorded_count, 2);
    assert_false(scenario.recorded_none);
    assert_true(scenario.contains_startup && scenario.contains_checkpoint &&
                scenario.contains_stalls);
    assert_int_equal(scenario.slack_count, 1);
    assert_int_equal(scenario.slack[0], 0);
    assert_int_equal(scenario.communication.kind, COMM_BY_MODEL_MIX);
    assert_true(scenario.communication.scale == 1 && scenario.communication.mix_count >= 2);
    assert_int_equal(scenario.order, ORDER_EASY);
    assert_true(scenario.limit_factor == 1.5 && scenario.startup_ns == 60 * NS_PER_S);
    assert_string_equal(scenario.detail, "first");
    assert_null(strstr(scenario.resolved, "models/catalog")); /* no folder of this machine */
}

static void tiny_failures_and_layouts(void **state)
{
    (void)state;
    if (read_with(TINY, NULL, 0) != STATUS_OK) fail_msg("refused:\n%s", shown);
    const struct component_failures *gpu = &scenario.failures.component[COMPONENT_GPU];
    assert_int_equal(gpu->law, LAW_EXPONENTIAL);
    assert_true(gpu->mean_s > 86400 / 3.03e-4 * 0.999 && gpu->mean_s < 86400 / 3.03e-4 * 1.001);
    assert_true(gpu->repair_median_s == 4 * 3600.0 && gpu->repair_p95_s == 48 * 3600.0);
    assert_int_equal(scenario.failures.component[COMPONENT_JOB].law, LAW_NONE);
    assert_true(scenario.failures.detection_ns == 60 * NS_PER_S && scenario.failures.scale == 200);
    assert_int_equal(scenario.checkpoint.policy, CHECKPOINT_FIXED);
    assert_true(scenario.checkpoint.interval_ns == 1800 * NS_PER_S);
    assert_true(scenario.checkpoint.store_bytes_per_s == 1e10);
    assert_true(scenario.checkpoint.bytes_per_gpu == 0);
    assert_int_equal(scenario.layout_count, 2);
    assert_int_equal(scenario.baseline, 0);
    const struct layout *four4 = &scenario.layouts[1];
    assert_string_equal(four4->name, "four4");
    assert_int_equal(four4->server_count, 4);
    assert_int_equal(four4->server.gpus, 4);
    assert_int_equal(four4->fabric.nics_per_server, 4);
    assert_true(four4->server.nic_bytes_per_s == 4.85e10 && four4->server.scaleup_hop_s == 3.4e-6);
    assert_true(four4->server.memory_bytes == UINT64_C(1000000000000));
    assert_true(four4->fabric.oversubscription == 1 && four4->fabric.link.hop_s == 14e-6);
}

static void forms_are_stored(void **state)
{
    (void)state;
    const char *sets[] = { "workload.slack=[0, 2, any]",
                           "workload.communication=bert",
                           "time.horizon=all",
                           "checkpoint={policy: daly, store: 400Gb/s, size: 3 GB}",
                           "workload.trace.contains=[]",
                           "workload.trace.recorded_on=none",
                           "gates=[{metric: wait_s_p95, layout: four4, below: 4h}]",
                           "baseline=four4",
                           "layouts.two8.fabric.nics_per_gpu=0.5" };
    if (read_with(TINY, sets, COUNT(sets)) != STATUS_OK) fail_msg("refused:\n%s", shown);
    assert_int_equal(scenario.slack_count, 3);
    assert_int_equal(scenario.slack[1], 2);
    assert_true(scenario.slack[2] == SLACK_ANY);
    assert_int_equal(scenario.communication.kind, COMM_PROFILE);
    assert_int_equal(scenario.communication.mix_count, 1);
    assert_string_equal(scenario.communication.mix[0].profile.id, "bert");
    assert_true(scenario.horizon_ns == HORIZON_ALL && scenario.follow_ns == 0);
    assert_int_equal(scenario.checkpoint.policy, CHECKPOINT_DALY);
    assert_true(scenario.checkpoint.store_bytes_per_s == 5e10);
    assert_true(scenario.checkpoint.bytes_per_gpu == 3e9);
    assert_false(scenario.contains_startup || scenario.contains_checkpoint ||
                 scenario.contains_stalls);
    assert_true(scenario.recorded_none);
    /* communication still needs a reference: the baseline's server */
    assert_string_equal(scenario.recorded_server.id, scenario.layouts[scenario.baseline].server.id);
    assert_int_equal(scenario.gate_count, 1);
    assert_true(scenario.gates[0].below && scenario.gates[0].limit == 14400);
    assert_int_equal(scenario.baseline, 1);
    assert_int_equal(scenario.layouts[0].fabric.nics_per_server, 4);
}

static void P46_a_layout_at_the_limit_is_accepted(void **state)
{
    (void)state;
    const char *sets[] = { "layouts.two8.servers.count=524288" }; /* * 8 = 4194304 */
    assert_int_equal(read_with(TINY, sets, 1), STATUS_OK);
    const char *more[] = { "layouts.two8.servers.count=524289" };
    assert_int_equal(read_with(TINY, more, 1), STATUS_INPUT);
    assert_non_null(strstr(shown, "layouts.two8: 4194312 GPUs would need about 2 GiB"));
}

static void a_missing_file_is_the_world(void **state)
{
    (void)state;
    assert_int_equal(read_with("scenarios/no-such.yaml", NULL, 0), STATUS_WORLD);
    assert_string_equal(shown, "gpuplan: scenarios/no-such.yaml: No such file or directory\n");
}

int main(void)
{
    const size_t bad_count = list_bad();
    struct CMUnitTest tests[BAD_MOST + COUNT(good_sets) + COUNT(bad_sets)];
    size_t count = 0;
    for (size_t i = 0; i < bad_count; i++)
        tests[count++] = (struct CMUnitTest){ bad_names[i], check_bad, NULL, NULL, bad_names[i] };
    for (size_t i = 0; i < COUNT(good_sets); i++)
        tests[count++] =
            (struct CMUnitTest){ good_sets[i].name, check_good_set, NULL, NULL, &good_sets[i] };
    for (size_t i = 0; i < COUNT(bad_sets); i++)
        tests[count++] =
            (struct CMUnitTest){ bad_sets[i].name, check_bad_set, NULL, NULL, &bad_sets[i] };
    const struct CMUnitTest more[] = {
        cmocka_unit_test(tiny_is_read_as_written),
        cmocka_unit_test(tiny_failures_and_layouts),
        cmocka_unit_test(forms_are_stored),
        cmocka_unit_test(P46_a_layout_at_the_limit_is_accepted),
        cmocka_unit_test(a_missing_file_is_the_world),
    };
    int failed = _cmocka_run_group_tests("scenario", tests, count, NULL, NULL);
    failed += cmocka_run_group_tests_name("scenario, stored", more, NULL, NULL);
    scenario_clear(&scenario);
    return failed + (bad_count < 60); /* run from another folder it would test nothing */
}
