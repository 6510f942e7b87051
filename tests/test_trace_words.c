/* test_trace_words.c - the words of schedulers in our own form of a log, and whether a scenario knows them. */
#include "tests/scenario_texts.h"

#include "io/trace_read.h"
#include "spec/jobs.h"

#define HEAD "job_id,submit_s,duration_s,gpus,user,partition,qos,account,team,priority\n"
#define LAYOUT                                                                                     \
    "layouts:\n  - {name: lab, servers: {type: hgx-h100-8, count: 4}, fabric: {link: "             \
    "ib-ndr400}}\n"
#define SLURM(keys) "gpuplan: 1\nname: t\nscheduler: {kind: slurm, slurm: {" keys "}}\n" LAYOUT

static struct jobs jobs;

static enum status read_log(const char *text, struct diag *diag)
{
    char path[FILE_PATH_BYTES];
    static struct import_report report;
    const struct trace_options options = { .format = TRACE_AUTO };
    jobs_clear(&jobs);
    const enum status status =
        trace_read(file_with(path, text, strlen(text)), &options, &jobs, &report, diag);
    unlink(path);
    return status;
}

static const char *text_at(uint32_t offset)
{
    return jobs.text + offset;
}

static void columns_become_words(void **state)
{
    (void)state;
    struct diag *diag = diag_create();
    assert_int_equal(
        read_log(HEAD "late,9,60,8,ada,\"batch,gpu\",high,lab,,-5\nb,0,60,4,ben,,,,vision,\n",
                 diag),
        STATUS_OK);
    assert_non_null(jobs.words);
    assert_string_equal(text_at(jobs.words[0].team), "vision");
    assert_int_equal(jobs.words[0].priority, 0);
    assert_true(jobs.words[0].partition == TEXT_NONE && jobs.words[0].requeue == -1);
    assert_true(jobs.words[0].array_first_row == JOB_NONE &&
                jobs.words[0].het_first_row == JOB_NONE);
    const struct job_words *late = &jobs.words[1];
    assert_string_equal(text_at(late->partition), "batch,gpu");
    assert_string_equal(text_at(late->qos), "high");
    assert_string_equal(text_at(late->account), "lab");
    assert_string_equal(text_at(late->user), "ada");
    assert_string_equal(text_at(late->team), "ada"); /* where none is written: the user */
    assert_int_equal(late->priority, -5);
    diag_destroy(diag);
}

static void a_log_without_them_has_no_words(void **state)
{
    (void)state;
    struct diag *diag = diag_create();
    assert_int_equal(read_log("job_id,submit_s,duration_s,gpus\na,0,1,1\n", diag), STATUS_OK);
    assert_null(jobs.words);
    diag_destroy(diag);
}

static void wrong_priorities_are_skipped(void **state)
{
    (void)state;
    struct diag *diag = diag_create();
    assert_int_equal(
        read_log("job_id,submit_s,duration_s,gpus,priority\na,0,1,1,high\nb,0,1,1,7.5\n"
                 "c,0,1,1,3000000000\nd,0,1,1,-7\n",
                 diag),
        STATUS_OK);
    assert_int_equal(jobs.count, 1);
    assert_int_equal(jobs.words[0].priority, -7);
    diag_destroy(diag);
}

/* Written and read again they are the same. */
static void they_survive_a_conversion(void **state)
{
    (void)state;
    struct diag *diag = diag_create();
    static char again[4096];
    char path[FILE_PATH_BYTES];
    assert_int_equal(
        read_log(HEAD "a,0,60,8,ada,\"batch,gpu\",high,lab,vision,-5\nb,1,60,4,,,,,,\n", diag),
        STATUS_OK);
    file_with(path, "", 0);
    const struct trace_form form = { NULL, false };
    assert_int_equal(trace_write(path, &jobs, &form, diag), STATUS_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    again[fread(again, 1, sizeof again - 1, file)] = '\0';
    fclose(file);
    unlink(path);
    assert_string_equal(again,
                        HEAD "a,0,60,8,ada,\"batch,gpu\",high,lab,vision,-5\nb,1,60,4,,,,,,0\n");
    diag_destroy(diag);
}

struct word_case {
    const char *name, *scenario, *log,
        *want; /* want "" = accepted and nothing said               */
};

static const struct word_case cases[] = {
    { "all are known", SLURM("partitions: [{name: batch}, {name: gpu}], qos: [{name: high}]"),
      "job_id,submit_s,duration_s,gpus,cores,partition,qos,account\na,0,1,1,4,\"gpu,batch\",high,"
      "any\n",
      "" },
    { "an unknown partition", SLURM("partitions: [{name: batch}, {name: gpus}]"),
      "job_id,submit_s,duration_s,gpus,partition\na,0,1,1,\"batch,gpu\"\n",
      "column 'partition' names the partition 'gpu', which the scenario does not have; did you "
      "mean 'gpus'?" },
    { "an unknown QOS", SLURM("qos: [{name: low}]"),
      "job_id,submit_s,duration_s,gpus,qos\na,0,1,1,normal\nb,0,1,1,hi\n", "names the QOS 'hi'" },
    { "an unknown account", SLURM("associations: [{account: lab}]"),
      "job_id,submit_s,duration_s,gpus,account\na,0,1,1,lab\nb,0,1,1,bio\n",
      "names the account 'bio'" },
    { "no default partition", SLURM("partitions: [{name: a}, {name: b}]"),
      "job_id,submit_s,duration_s,gpus\nx7,0,1,1\n", "job 'x7' names no partition" },
    { "no cores", SLURM("SelectTypeParameters: CR_Core"),
      "job_id,submit_s,duration_s,gpus\na,0,1,1\n", "has no column 'cores'" },
    { "no memory", SLURM("SelectTypeParameters: CR_Core_Memory"),
      "job_id,submit_s,duration_s,gpus,cores\na,0,1,1,4\n", "has no column 'memory_gib'" },
    { "memory that does not count", SLURM("SelectTypeParameters: CR_Core"),
      "job_id,submit_s,duration_s,gpus,cores\na,0,1,1,4\n", "" },
    { "an unknown team",
      "gpuplan: 1\nname: t\nscheduler: {kind: static, static: {teams: [{name: vision}]}}\n" LAYOUT,
      "job_id,submit_s,duration_s,gpus,team\na,0,1,1,vison\n", "did you mean 'vision'?" },
    { "whose are they",
      "gpuplan: 1\nname: t\nscheduler: {kind: static, static: {teams: [{name: vision}]}}\n" LAYOUT,
      "job_id,submit_s,duration_s,gpus\na,0,1,1\n", "neither a column 'team' nor a column 'user'" },
};

static void check_case(void **state)
{
    const struct word_case *row = *state;
    read_good(row->scenario);
    struct diag *diag = diag_create();
    assert_int_equal(read_log(row->log, diag), STATUS_OK);
    trace_check_words(&scenario, &jobs, diag);
    memset(said, 0, sizeof said);
    FILE *out = fmemopen(said, sizeof said - 1, "w");
    assert_non_null(out);
    diag_print(diag, out);
    fclose(out);
    diag_destroy(diag);
    if (row->want[0] ? strstr(said, row->want) == NULL : said[0] != '\0')
        fail_msg("wanted '%s', it said '%s'", row->want, said);
}

int main(void)
{
    struct CMUnitTest tests[4 + sizeof cases / sizeof *cases] = {
        cmocka_unit_test(columns_become_words),
        cmocka_unit_test(a_log_without_them_has_no_words),
        cmocka_unit_test(wrong_priorities_are_skipped),
        cmocka_unit_test(they_survive_a_conversion),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        tests[4 + i] = (struct CMUnitTest){ cases[i].name, check_case, NULL, NULL,
                                            (void *)(uintptr_t)&cases[i] };
    const int failed =
        _cmocka_run_group_tests("words of logs", tests, sizeof tests / sizeof *tests, NULL, NULL);
    scenario_clear(&scenario);
    jobs_clear(&jobs);
    return failed;
}
