/* test_usage.c - options of the program that say too much: given twice, or where they change nothing; and
 * files that cannot be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char shown[1 << 16];

/* Runs the program in a shell; its exit code, and both streams in `shown`. */
static int gpuplan(const char *words)
{
    char line[1024];
    const char *build = getenv("BUILD");
    snprintf(line, sizeof line, "PATH=%s:$PATH; %s 2>&1", build ? build : "build", words);
    FILE *out = popen(line, "r");
    assert_non_null(out);
    const size_t bytes = fread(shown, 1, sizeof shown - 1, out);
    shown[bytes] = '\0';
    return pclose(out) >> 8;
}

#define STEP       "gpuplan step --server dgx-h100 --gpus 8 --model 7b --batch 8 "
#define COLLECTIVE "gpuplan collective all_reduce --server dgx-h100 --size 1G "

/* A log of four jobs of eight GPUs, one a day. */
#define SWF(failed)                                                                                \
    "f=${TMPDIR:-/tmp}/usage.$$; i=0; trap 'rm -f $f $f.db' EXIT; for status in 1 0 5 -1; do "     \
    "i=$((i+1)); echo $i $((i*86400)) 0 3600 8 -1 -1 8 7200 -1 $status 1 1 1 1 1 -1 -1; done "     \
    ">$f; "                                                                                        \
    "gpuplan run scenarios/tiny.yaml --set workload.trace.file=$f --set "                          \
    "workload.trace.format=swf "                                                                   \
    "--set workload.trace.failed=" failed " --set time.horizon=all -o $f.db"

/* want: a part of what is printed; has_not: what must not be; NULL: anything. */
struct usage_case {
    const char *name, *words;
    int want_exit;
    const char *want, *has_not;
};
static const struct usage_case cases[] = {
    { "a job that can never end",
      "gpuplan run tests/cases/dead_nic.yaml -o /tmp/gpuplan-usage-$$.db 2>&1; "
      "code=$?; rm /tmp/gpuplan-usage-$$.db; exit $code",
      0, "layout 'lab', replica 0: 1 job can never end, first 'j': after 620 s ",
      "its waits grow" },
    { "the verdict on it",
      "gpuplan run tests/cases/dead_nic.yaml -o /tmp/gpuplan-usage-$$.db 2>&1; "
      "code=$?; rm /tmp/gpuplan-usage-$$.db; exit $code",
      0, "On lab 1 job can never end", "grow with the horizon" },
    { "an option twice", COLLECTIVE "--server dgx-a100", 2,
      "gpuplan: collective: --server is given twice, as 'dgx-h100' and 'dgx-a100'\n", "algbw" },
    { "an option twice, the same", STEP "--tp 2 --tp=2", 2,
      "gpuplan: step: --tp is given twice, as '2' and '2'\n", NULL },
    { "a letter and its name", "gpuplan run scenarios/tiny.yaml -o a.db --output b.db", 2,
      "given twice, as 'a.db' and 'b.db'\n", NULL },
    { "a switch twice says the same", STEP "--zero 3 --json --json", 0, "\"step_s\"", "gpuplan:" },
    { "options that have several values",
      "gpuplan check scenarios/tiny.yaml --set seed=5 --set seed=6", 0, "\nseed: 6", NULL },
    { "overlaps of two groups", STEP "--zero 1 --tp 2 --overlap tp=0.5 --overlap 0.9", 0,
      "dp 0.9, tp 0.5, pp 0", NULL },
    { "uplinks of one server", COLLECTIVE "--uplinks 4", 0,
      "gpuplan: warning: collective: --uplinks changes nothing: --nodes is 1, and nothing crosses "
      "a network\n",
      NULL },
    { "a link of one server", COLLECTIVE "--link ib-ndr400", 0,
      "--link changes nothing: --nodes is 1", NULL },
    { "a link inside one NVLink domain",
      "gpuplan collective all_reduce --server gb200-nvl72 --nodes 18 --size 1G --link ib-ndr400", 0,
      "--link changes nothing: the servers share one NVLink domain", NULL },
    { "a link between servers", COLLECTIVE "--nodes 2 --link ib-ndr400 --uplinks 4", 0, "algbw",
      "changes nothing" },
    /* of the layout with seven servers on each leaf, of 64 */
    { "the last server of a leaf by itself", "gpuplan topology scenarios/oversubscription.yaml", 0,
      "\n  leaf 9: server 63\n", "63-63" },
    { "a model where none is looked up",
      "gpuplan check tests/bad/jobs_model_unknown.yaml --set workload.communication=by_size", 2,
      "tests/bad/jobs_model_unknown.yaml:6:49: error: jobs[1].model: '7b-shard' is not looked up: "
      "workload.communication is 'by_size' for all jobs; with by_model_mix",
      "did you mean" },
    { "which job fits no layout",
      "gpuplan check tests/bad/jobs_model_unknown.yaml --set workload.communication=none --set "
      "layouts.a.servers.count=1 --set layouts.a.servers.type=h100-sxm-1",
      2, "no job of this log fits any layout: the smallest, 'first', asks for 8 GPUs\n", NULL },
    /* Three links from each GPU to each of seven: 21 are more than an NVIDIA GPU has, but no GPU has three on a switch. */
    { "a mesh of many links stays one", "gpuplan topology gaudi2-8 | gpuplan topology -", 0,
      "NVLink: 28 of 28 pairs of GPUs, at most 3 links between two", "NVLink: switches" },
    { "a switch stays one", "gpuplan topology dgx-h100 | gpuplan topology -", 0,
      "NVLink: switches, 18 links of each GPU", NULL },
    /* status, the eleventh field: completed, failed, cancelled, not said */
    { "failed jobs are kept", SWF("keep"), 0, "4 rows read = 4 imported;", "(status" },
    { "failed jobs are left out", SWF("drop"), 0,
      "4 rows read = 2 imported + 2 skipped (failed or cancelled (status 0 or 5));", NULL },
    { "what became of them is told",
      SWF("drop") " >/dev/null; gpuplan compare $f.db | tr '\\n' ' '", 0,
      "Jobs that the log marks failed or cancelled are left out (trace.failed).", NULL },
    { "a log without states", "gpuplan check scenarios/tiny.yaml --set workload.trace.failed=drop",
      2, "workload.trace.failed: drop: no column that is read says which jobs failed; SWF has one",
      NULL },
    { "rates of a matrix", "gpuplan topology dgx-1-v100 | gpuplan topology - --bandwidth", 2,
      "gpuplan: topology: --bandwidth: a link matrix has no rates", "GPU0" },
};

static void usage_is_answered(void **state)
{
    const struct usage_case *row = *state;
    assert_int_equal(gpuplan(row->words), row->want_exit);
    if (strstr(shown, row->want) == NULL) fail_msg("lacks '%s': %s", row->want, shown);
    if (row->has_not && strstr(shown, row->has_not)) fail_msg("has '%s': %s", row->has_not, shown);
}

/* ---- files that are not there, and folders: the world fails, exit code 1, whatever reads them ---- */

static const char *const readers[] = {
    "run %s",
    "check %s",
    "plot %s",
    "compare %s",
    "why %s 1",
    "digest %s",
    "flows %s",
    "topology %s",
    "trace info %s",
    "trace convert %s",
    "check scenarios/tiny.yaml --set workload.trace.file=%s",
    "check scenarios/tiny.yaml --set layouts.two8.servers.type='{like: dgx-h100, matrix: %s}'",
};
static const char *const unreadable[] = { "tests", "no/such.file" };

static void unreadable_files_are_the_worlds(void **state)
{
    const char *reader = *state;
    for (size_t i = 0; i < sizeof unreadable / sizeof *unreadable; i++) {
        char words[512] = "gpuplan ";
        const char *at = strchr(reader, '%');
        snprintf(words + 8, sizeof words - 8, "%.*s%s%s", (int)(at - reader), reader, unreadable[i],
                 at + 2);
        const int code = gpuplan(words);
        if (code != 1 || strstr(shown, unreadable[i]) == NULL)
            fail_msg("%s: exit code %d: %s", words, code, shown);
    }
}

int main(void)
{
    enum { CASES = sizeof cases / sizeof *cases, READERS = sizeof readers / sizeof *readers };
    struct CMUnitTest tests[CASES + READERS];
    for (size_t i = 0; i < READERS; i++)
        tests[CASES + i] = (struct CMUnitTest){ readers[i], unreadable_files_are_the_worlds, NULL,
                                                NULL, (void *)(uintptr_t)readers[i] };
    for (size_t i = 0; i < CASES; i++)
        tests[i] = (struct CMUnitTest){ cases[i].name, usage_is_answered, NULL, NULL,
                                        (void *)(uintptr_t)&cases[i] };
    return cmocka_run_group_tests_name("usage", tests, NULL, NULL);
}
