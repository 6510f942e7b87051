/* test_cli.c - command lines, read by the library and answered by the program itself. */
#include "cli/commands.h"
#include "report/plot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

extern char **environ;

enum { WORDS = 12 };

/* A run of the program: exit code, and a part of what it must print. NULL = prints nothing. */
struct run_case {
    const char *name, *words[WORDS];
    int want_exit;
    const char *want_out, *want_err;
};
static struct run_case runs[] = {
    { "version", { "version" }, 0, "gpuplan " GPUPLAN_VERSION "\n", NULL },
    { "--version", { "--version" }, 0, "gpuplan " GPUPLAN_VERSION "\n", NULL },
    { "--help", { "--help" }, 0, "usage: gpuplan COMMAND", NULL },
    { "help of a command", { "version", "--help" }, 0, "usage: gpuplan version", NULL },
    { "no command", { NULL }, 2, NULL, "gpuplan: a command is missing" },
    { "a typo in a command", { "vresion" }, 2, NULL, "did you mean 'version'?\n" },
    { "a word like no command",
      { "frobnicate" },
      2,
      NULL,
      "unknown command 'frobnicate'; gpuplan" },
    { "a command of the plan", { "blast", "x.yaml" }, 2, NULL, "'blast' is not built yet" },
    { "an operand too many", { "version", "x" }, 2, NULL, "'x' is one operand too many" },
    { "a typo in an option", { "version", "--hepl" }, 2, NULL, "did you mean '--help'?\n" },
    { "a value for a switch", { "version", "--help=1" }, 2, NULL, "--help takes no value" },
    { "an option before the command", { "-j", "4", "run" }, 2, NULL, "options follow a command" },
    { "flows", { "flows", "scenarios/ring.flows" }, 0, "\nb4,0.24,400000000,0.32\n", NULL },
    { "flows as JSON",
      { "flows", "--json", "scenarios/ring.flows" },
      0,
      "\"flow\": \"a2\",\n   \"start_s\": 0.04,\n   \"size_bytes\": 400000000.0,\n   \"finish_s\": "
      "0.08",
      NULL },
    { "flows by a rule that is none",
      { "flows", "--weights", "latncy", "scenarios/ring.flows" },
      2,
      NULL,
      "--weights must be latency or equal, got 'latncy'; did you mean 'latency'?" },
    { "flows of something else",
      { "flows", "scenarios/tiny.yaml" },
      2,
      NULL,
      "scenarios/tiny.yaml:" },
    { "check", { "check", "scenarios/tiny.yaml" }, 0, "\n# memory: about ", NULL },
    { "check reads the trace",
      { "check", "scenarios/tiny.yaml" },
      0,
      "\n# scenarios/traces/tiny.csv: 40 rows read = 40 imported; 1 days\n",
      NULL },
    /* 36 hours of a trace of 40 jobs a day: 60; 2 layouts x 3 replicas and, moved, 8 x 3 x 2 */
    { "check counts the runs",
      { "check", "scenarios/tiny.yaml" },
      0,
      "\n# runs: 54 of 60 jobs",
      NULL },
    { "check states the load of a layout",
      { "check", "scenarios/tiny.yaml" },
      0,
      " 2 x 8 = 16 GPUs, 8 NICs a server, offered load 0.57\n",
      NULL },
    { "check on one worker takes the sum",
      { "check", "scenarios/dense_vs_sparse.yaml", "-j", "1", "--set", "failures=none", "--set",
        "verdict.tornado=false" },
      0,
      "\n# time: about 4 s on 1 workers", /* 160 x 11,394 jobs at 500,000 a second */
      NULL },
    { "check reports what is wrong in the trace",
      { "check", "scenarios/tiny.yaml", "--set", "workload.trace.file=README.md" },
      2,
      NULL,
      "column 'gpus' is missing from this header" },
    { "check with overrides",
      { "check", "scenarios/tiny.yaml", "--set", "seed=5", "--set=name=x" },
      0,
      "name: x  # --set\n",
      NULL },
    { "check without its operand", { "check" }, 2, NULL, "check: SCENARIO is missing" },
    { "check a file that is not there",
      { "check", "no-such.yaml" },
      1,
      NULL,
      "gpuplan: no-such.yaml: No such file" },
    { "completion for bash", { "completion", "bash" }, 0, "complete -F _gpuplan gpuplan\n", NULL },
    { "completion for zsh", { "completion", "zsh" }, 0, "#compdef gpuplan\n", NULL },
    { "man page", { "completion", "man" }, 0, ".TH GPUPLAN 1 ", NULL },
    { "completion of a shell that is not known",
      { "completion", "fish" },
      2,
      NULL,
      "known are bash" },
    { "catalog", { "catalog" }, 0, "\n  dgx-h100                 gpu h100-sxm, gpus 8,", NULL },
    { "catalog of an entry",
      { "catalog", "hgx-a100-4" },
      0,
      "\n  price_usd            78000 USD                assumed      [1]",
      NULL },
    { "catalog of a field with a source of its own",
      { "catalog", "hgx-a100-4" },
      0,
      "\n  [2] 12 NVLinks x 20.0 GB/s, four to each peer: NVIDIA/nccl-tests#331, NCCL topo.h\n",
      NULL },
    { "catalog of rates by part", { "catalog", "rsc1" }, 0, "\n  server.per_server_of 8 ", NULL },
    { "catalog of what is not simulated",
      { "catalog", "pcie3-x16" },
      0,
      "\nnot simulated: a slot inside a server, not a network",
      NULL },
    { "catalog as JSON",
      { "catalog", "tcp-10", "--json" },
      0,
      "\"text\": \"1.125 GB/s\",\n   \"value\": 1125000000.0,\n   \"unit\": \"B/s\",\n   \"mark\": "
      "\"memory\"",
      NULL },
    { "topology of a server",
      { "topology", "hgx-a100-4" },
      0,
      "\nGPU0\t X \tNV4\tNV4\tNV4\tPIX\t",
      NULL },
    { "topology with rates", /* 4 links of 20.0 GB/s to each peer; 24 GB/s of PCIe, 23.5 of a NIC */
      { "topology", "hgx-a100-4", "--bandwidth" },
      0,
      "\nGPU0\t X \t80\t80\t80\t23.5\n",
      NULL },
    { "topology of the DGX-1",
      { "topology", "dgx-1-v100" },
      0,
      "\nGPU0\t X \tNV1\tNV1\tNV2\tNV2\tSYS\tSYS\tSYS\tPIX\t",
      NULL },
    { "topology of a scenario counts its switches",
      { "topology", "scenarios/dense_vs_sparse.yaml", "--layout", "dense8" },
      0,
      "  12 switches of 64 ports: 8 leaves, 4 spines\n",
      NULL },
    { "topology as JSON",
      { "topology", "scenarios/dense_vs_sparse.yaml", "--json" },
      0,
      "\"trunks\": 256,",
      NULL },
    { "a fabric that cannot be wired, at its key", /* 2,400 ports, 32 down a leaf: 75 leaves */
      { "topology", "tests/cases/fabrics_too_large.yaml" },
      2,
      NULL,
      "tests/cases/fabrics_too_large.yaml:6:20: error: layouts.wide.fabric.type: two tiers need 75 "
      "leaves for 2400 NIC "
      "ports, and a spine of 64 ports reaches only 64" },
    { "topology of a typo",
      { "topology", "dgx-h10" },
      2,
      NULL,
      "no file and no server 'dgx-h10'; did you mean 'dgx-h100'?\n" },
    { "topology of a file that is no table",
      { "topology", "Makefile" },
      2,
      NULL,
      "Makefile: error: no table of nvidia-smi topo -m" },
    { "a picture of one server",
      { "topology", "dgx-h100", "--picture", "x.svg" },
      2,
      NULL,
      "--picture draws the layouts of a scenario" },
    { "a picture of no kind",
      { "topology", "scenarios/tiny.yaml", "--picture", "x.gif" },
      2,
      NULL,
      "'x.gif': a picture ends in .svg, .png or .pdf" },
    { "catalog of a typo", { "catalog", "dgx-h10" }, 2, NULL, "did you mean 'dgx-h100'?\n" },
    { "catalog of nothing known",
      { "catalog", "cray-1-of-1976" },
      2,
      NULL,
      "no 'cray-1-of-1976' in the catalog; gpuplan catalog lists what is" },
    /* 2 x 31/32 x 4 GiB over four servers at 370.8 GB/s, 56 steps of 3.4 us and 6 of 14: MODELS 2.4 */
    { "collective of a ring",
      { "collective", "all_reduce", "--server", "dgx-h100", "--nodes", "4", "--algo", "ring",
        "--size", "4G" },
      0,
      "\n    4294967296    1073741824   float     22716.41    189.07    366.32  ring      simple  "
      "  nvlink\n",
      NULL },
    { "C112: collective says how large the group is",
      { "collective", "all_reduce", "--server", "dgx-h100", "--nodes", "8", "--size", "1G" },
      0,
      "# all_reduce of 64 GPUs: 8 x dgx-h100, 8 of 8 GPUs each,",
      NULL },
    /* 2 x 31/32 x 16 GiB over four uplinks of 48.5 GB/s; the tree starts sooner: 97 + 4 x 35 us */
    { "collective over the uplinks of leaves",
      { "collective", "all_reduce", "--server", "dgx-h100", "--nodes", "4", "--uplinks", "4",
        "--size=16G" },
      0,
      "    193.73  tree      simple    leaf\n",
      NULL },
    { "collective takes several sizes",
      { "collective", "alltoall", "--server", "dgx-a100", "--begin", "1M", "--end", "5M",
        "--factor", "2" },
      0,
      "\n       4194304        131072   float ", /* elements of each of eight parts */
      NULL },
    { "collective as JSON",
      { "collective", "all_gather", "--server", "dgx-h200", "--size", "16G", "--json" },
      0,
      "\"gpus\": 8,",
      NULL },
    { "collective of one GPU takes no time",
      { "collective", "all_reduce", "--server", "dgx-h100", "--gpus-per-node", "1", "--size",
        "1M" },
      0,
      "       1048576        262144   float         0.00 ",
      NULL },
    { "collective of a typo",
      { "collective", "allreduce", "--server", "dgx-h100" },
      2,
      NULL,
      "unknown operation 'allreduce'; did you mean 'all_reduce'?\n" },
    { "collective without a server", { "collective", "reduce" }, 2, NULL, "--server is missing" },
    { "collective on a typo",
      { "collective", "reduce", "--server", "dgx-h10" },
      2,
      NULL,
      "did you mean 'dgx-h100'?\n" },
    { "collective of a group that cannot be",
      { "collective", "reduce", "--server", "dgx-h100", "--gpus-per-node", "9" },
      2,
      NULL,
      "a dgx-h100 has 1 to 8 GPUs to use\n" },
    { "collective of servers that are not counted",
      { "collective", "reduce", "--server", "dgx-h100", "--nodes", "3", "--gpus-per-node", "8,4" },
      2,
      NULL,
      "--gpus-per-node names 2 servers, --nodes 3\n" },
    { "collective with sums that the switch lacks",
      { "collective", "all_reduce", "--server", "dgx-a100", "--algo", "nvls" },
      2,
      NULL,
      "no NVSwitch of this server type sums\n" },
    { "collective with sums across the domain",
      { "collective", "all_reduce", "--server", "dgx-h100", "--nodes", "2", "--algo", "nvls" },
      2,
      NULL,
      "the NVSwitch sums inside one NVLink domain\n" },
    { "collective with sums that the link lacks",
      { "collective", "all_reduce", "--server", "dgx-h100", "--nodes", "2", "--algo", "sharp",
        "--link", "roce-400" },
      2,
      NULL,
      "the switches of this link do not sum\n" },
    { "collective with an algorithm where there is none",
      { "collective", "alltoall", "--server", "dgx-h100", "--algo", "ring" },
      2,
      NULL,
      "has no algorithm to choose\n" },
    { "collective of uneven servers in a hierarchy",
      { "collective", "all_reduce", "--server", "dgx-h100", "--nodes", "2", "--gpus-per-node",
        "8,4", "--algo", "hier" },
      2,
      NULL,
      "the hierarchical forms need as many GPUs on each server\n" },
    { "collective of pairs over the uplinks of leaves",
      { "collective", "alltoall", "--server", "dgx-h100", "--nodes", "4", "--uplinks", "4" },
      2,
      NULL,
      "how many messages of alltoall do is not known here\n" },
    { "collective of no size",
      { "collective", "reduce", "--server", "dgx-h100", "--size", "big" },
      2,
      NULL,
      "cannot read --size 'big'" },
    { "collective of one size and several",
      { "collective", "reduce", "--server", "dgx-h100", "--size", "1M", "--end", "1G" },
      2,
      NULL,
      "--size is one size" },
    { "collective on trays of one NVLink domain",
      { "collective", "reduce", "--server", "gb200-nvl72", "--nodes", "18", "--size", "1G" },
      0,
      "# one NVLink domain holds 18 servers\n",
      NULL },
    { "P95 hostile command name", { "\x1b[2J" }, 2, NULL, "unknown command '\\x1b[2J'" },
};

static const char *program_path(void)
{
    static char path[4096];
    const char *build = getenv("BUILD");
    snprintf(path, sizeof path, "%s/gpuplan", build ? build : "build");
    return path;
}

/* Reads what a file holds from its start. */
static void slurp(FILE *file, char *out, size_t out_bytes)
{
    rewind(file);
    out[fread(out, 1, out_bytes - 1, file)] = '\0';
    fclose(file);
}

static void check_text(const char *what, const char *got, const char *want)
{
    if (want == NULL && got[0] != '\0') fail_msg("%s should be empty: %s", what, got);
    if (want != NULL && strstr(got, want) == NULL) fail_msg("%s lacks '%s': %s", what, want, got);
}

/* Runs the program with stdout at a file of its own; returns its exit code. */
static int run_into(int out_fd, int err_fd, const char *const *words)
{
    char *argv[WORDS + 2] = { strdup(program_path()) };
    for (size_t i = 0; i < WORDS && words[i]; i++) argv[i + 1] = strdup(words[i]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err_fd, STDERR_FILENO);
    pid_t child = 0;
    assert_int_equal(posix_spawn(&child, argv[0], &actions, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    int state_of_child = 0;
    assert_int_equal(waitpid(child, &state_of_child, 0), child);
    for (size_t i = 0; argv[i]; i++) free(argv[i]);
    assert_true(WIFEXITED(state_of_child));
    return WEXITSTATUS(state_of_child);
}

static void check_run(void **state)
{
    const struct run_case *row = *state;
    FILE *out = tmpfile(), *err = tmpfile();
    const int code = run_into(fileno(out), fileno(err), row->words);
    char out_text[65536], err_text[16384];
    slurp(out, out_text, sizeof out_text);
    slurp(err, err_text, sizeof err_text);
    check_text("stdout", out_text, row->want_out);
    check_text("stderr", err_text, row->want_err);
    assert_int_equal(code, row->want_exit);
}

static const char *const check_tiny[WORDS] = { "check", "scenarios/tiny.yaml" };

static void P99_a_closed_pipe_ends_quietly(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    FILE *err = tmpfile();
    assert_int_equal(run_into(ends[1], fileno(err), check_tiny), 0);
    close(ends[1]);
    char text[4096];
    slurp(err, text, sizeof text);
    assert_string_equal(text, "");
}

static void P99_a_full_disk_is_said(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w"), *err = tmpfile();
    if (full == NULL) skip();
    assert_int_equal(run_into(fileno(full), fileno(err), check_tiny), 1);
    fclose(full);
    char text[4096];
    slurp(err, text, sizeof text);
    assert_string_equal(text,
                        "gpuplan: cannot write to standard output: No space left on device\n");
}

static void P43_the_locale_changes_nothing(void **state)
{
    (void)state;
    static char plain[65536], german[65536];
    FILE *out = tmpfile(), *again = tmpfile(), *err = tmpfile();
    assert_int_equal(run_into(fileno(out), fileno(err), check_tiny), 0);
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    assert_int_equal(run_into(fileno(again), fileno(err), check_tiny), 0);
    unsetenv("LC_ALL");
    slurp(out, plain, sizeof plain);
    slurp(again, german, sizeof german);
    fclose(err);
    assert_string_equal(plain, german);
}

/* ---- the reader alone, with a command of its own ---- */

static const struct option_row options[] = {
    { "--out", 'o', "DB", "results/NAME.db", "file to write", false },
    { "--replicas", 0, "N", "as in the scenario", "replicas", false },
    { "--set", 0, "PATH=VALUE", NULL, "override", true },
    { "--resume", 0, NULL, NULL, "go on", false },
    { 0 },
};
static const struct command sample = { .name = "run",
                                       .operands = "SCENARIO",
                                       .summary = "sample",
                                       .options = options,
                                       .operands_min = 1,
                                       .operands_max = 1 };

static struct cli cli_of(const char *const *words, size_t count, enum status *status)
{
    struct cli cli = { .command = &sample, .diag = diag_create() };
    *status = cli_read_words(&cli, (int)count, (char *const *)(uintptr_t)words);
    return cli;
}

static void options_of_all_forms(void **state)
{
    (void)state;
    const char *words[] = { "a.yaml",   "-oa.db",    "--set",      "x=1",
                            "--resume", "--set=y=2", "--replicas", "7.0" };
    enum status status;
    struct cli cli = cli_of(words, COUNT(words), &status);
    assert_int_equal(status, STATUS_OK);
    assert_string_equal(cli.operands[0], "a.yaml");
    assert_string_equal(cli_value(&cli, "--out"), "a.db");
    assert_string_equal(cli_nth(&cli, "--set", 0), "x=1");
    assert_string_equal(cli_nth(&cli, "--set", 1), "y=2");
    assert_null(cli_nth(&cli, "--set", 2));
    assert_true(cli_has(&cli, "--resume"));
    long long replicas = 0;
    assert_int_equal(cli_count(&cli, "--replicas", 1, 100, 3, &replicas), STATUS_OK);
    assert_int_equal(replicas, 7);
    assert_int_equal(cli_count(&cli, "--replicas", 10, 100, 3, &replicas), STATUS_INPUT);
    diag_destroy(cli.diag);
}

/* What a shell offers behind plot is what plot knows. */
static void words_of_plot_are_its_kinds(void **state)
{
    (void)state;
    char words[256] = "";
    for (size_t i = 0; i < PLOT_KINDS; i++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", i ? "|" : "",
                 plot_kind_names[i]);
    assert_string_equal(command_plot.words, words);
}

static void operands_behind_two_dashes(void **state)
{
    (void)state;
    const char *words[] = { "--", "--out" };
    enum status status;
    struct cli cli = cli_of(words, COUNT(words), &status);
    assert_int_equal(status, STATUS_OK);
    assert_string_equal(cli.operands[0], "--out");
    assert_null(cli_value(&cli, "--out"));
    diag_destroy(cli.diag);
}

static void a_value_is_needed(void **state)
{
    (void)state;
    const char *words[] = { "a.yaml", "--out" };
    enum status status;
    struct cli cli = cli_of(words, COUNT(words), &status);
    assert_int_equal(status, STATUS_INPUT);
    diag_destroy(cli.diag);
}

int main(void)
{
    struct CMUnitTest tests[COUNT(runs) + 7];
    size_t count = 0;
    for (size_t i = 0; i < COUNT(runs); i++)
        tests[count++] = (struct CMUnitTest){ runs[i].name, check_run, NULL, NULL, &runs[i] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(options_of_all_forms);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(words_of_plot_are_its_kinds);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(operands_behind_two_dashes);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(a_value_is_needed);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(P99_a_closed_pipe_ends_quietly);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(P99_a_full_disk_is_said);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(P43_the_locale_changes_nothing);
    return _cmocka_run_group_tests("cli", tests, count, NULL, NULL);
}
