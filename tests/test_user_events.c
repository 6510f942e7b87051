/* test_user_events.c - what users and administrators do at awkward moments: to a job whose node has failed, to one that
 * still waits, to GPUs that broke by themselves. Times are worked out by hand in each test. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "books_probe.h"

static struct fixture fixture;
static struct replica_result result;

/* Jobs are called j0, j1, ... */
static void begin(uint32_t jobs, uint32_t servers, uint32_t gpus)
{
    fixture_init(&fixture, jobs);
    fixture_layout(&fixture, "hall", servers, gpus);
    struct jobs *columns = &fixture.jobs;
    columns->text = ARENA_ARRAY(columns->arena, char, 16 * (jobs + 1));
    for (uint32_t row = 0; row < jobs; row++) {
        columns->id[row] = (uint32_t)columns->text_bytes;
        columns->text_bytes +=
            1 + (uint64_t)sprintf(columns->text + columns->text_bytes, "j%u", row);
    }
    fixture.scenario.events = calloc(8, sizeof *fixture.scenario.events);
}

static void event(double at_s, enum user_action action, const char *target)
{
    struct user_event *row = &fixture.scenario.events[fixture.scenario.event_count++];
    row->at_ns = ns_from_s(at_s);
    row->action = action;
    snprintf(row->target, sizeof row->target, "%s", target);
}

static void run(void)
{
    fixture_ready(&fixture);
    run_probe = books_probe;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    run_probe = NULL;
}

static void end(void)
{
    replica_result_clear(&result);
    free(fixture.scenario.events);
    fixture_clear(&fixture);
}

static const struct job_row *job(uint32_t row)
{
    const struct job_row *rows = LOG_ITEMS(&result.jobs, const struct job_row);
    for (uint64_t i = 0; i < result.jobs.count; i++)
        if (rows[i].serial == row) return &rows[i];
    fail_msg("no job of serial %u", row);
    return NULL;
}

static const struct incident *incident(uint64_t row)
{
    assert_true(row < result.incidents.count);
    return &LOG_ITEMS(&result.incidents, const struct incident)[row];
}

/* One server breaks somewhere in the ten days that the job would run; repairs take an hour. */
static void one_long_job(void)
{
    begin(1, 1, 8);
    fixture.scenario.horizon_ns = 20 * NS_PER_DAY;
    fixture_job(&fixture, 0, 0, 10 * 86400.0, 0, 8);
    fixture.scenario.failures.component[COMPONENT_SERVER] = (struct component_failures){
        .law = LAW_EXPONENTIAL, .mean_s = 86400, .repair_median_s = 3600, .repair_p95_s = 3600
    };
}

/* The fault is noticed 60 s after it happened; the user cancels 30 s after it happened. */
static void a_cancelled_job_that_hangs_does_not_run_again(void **state)
{
    (void)state;
    one_long_job();
    run();
    const int64_t fault_ns = incident(0)->at_ns;
    end();
    one_long_job();
    event(s_from_ns(fault_ns) + 30, ACTION_SCANCEL, "j0");
    run();
    assert_int_equal(job(0)->end, END_KILLED);
    assert_int_equal(job(0)->attempts, 1);
    assert_true(job(0)->end_ns == fault_ns + 60 * NS_PER_S);
    end();
}

/* j0 holds all GPUs for 10 h; j1 is cancelled after an hour in the queue, j2 after it ran for 1 h from 10 h on. Neither
 * was completed, and j1 waited for an hour at least. */
static void cancelled_jobs_are_not_completed(void **state)
{
    (void)state;
    begin(3, 1, 8);
    fixture_job(&fixture, 0, 0, 36000, 0, 8);
    fixture_job(&fixture, 1, 0, 3600, 0, 8);
    fixture_job(&fixture, 2, 0, 7200, 0, 8);
    event(3600, ACTION_SCANCEL, "j1");
    event(39600, ACTION_SCANCEL, "j2");
    run();
    assert_true(fixture_metric(&result, "jobs_done", CLASS_NONE, -1) == 1);
    /* The mean takes what was cut off as it is: (0 + 3600 + 36000) / 3 and (36000 + 3600 + 39600) / 3. */
    assert_true(fixture_metric(&result, "wait_s_mean", CLASS_NONE, -1) == 13200);
    assert_true(fixture_metric(&result, "completion_s_mean", CLASS_NONE, -1) == 26400);
    /* Kaplan-Meier: of the two that had not been cut off at 36000 s one ends there, 1/2 are left. */
    assert_true(fixture_metric(&result, "completion_s_p50", CLASS_NONE, -1) == 36000);
    assert_true(fixture_metric(&result, "completion_s_p95", CLASS_NONE, -1) == -1);
    end();
}

/* Each incident by hand ends with its own repair: GPU 0 is out from 1 h to 3 h, GPU 1 from 2 h to 4 h. */
static void repairs_by_hand_end_their_own_incident(void **state)
{
    (void)state;
    begin(1, 1, 8);
    fixture_job(&fixture, 0, 0, 6 * 3600.0, 0, 1);
    event(3600, ACTION_GPU_FAIL, "hall-0:6");
    event(7200, ACTION_GPU_FAIL, "hall-0:7");
    event(3 * 3600, ACTION_GPU_REPAIR, "hall-0:6");
    event(4 * 3600, ACTION_GPU_REPAIR, "hall-0:7");
    run();
    assert_int_equal(result.incidents.count, 2);
    for (uint64_t i = 0; i < 2; i++) {
        assert_true(incident(i)->repaired_ns == (int64_t)(3 + i) * NS_PER_HOUR);
        assert_true(incident(i)->down_gpu_ns == 2 * NS_PER_HOUR);
    }
    end();
}

/* j1 waits behind j0 when it is held, for ever: with j0's end after an hour nothing is left that could start it, however
 * long parts go on breaking. */
static void who_is_held_for_ever_does_not_keep_the_run(void **state)
{
    (void)state;
    begin(2, 1, 8);
    fixture.scenario.kind = KIND_KUBERNETES;
    kube_defaults(&fixture.scenario.kube);
    fixture.scenario.failures.component[COMPONENT_GPU] = (struct component_failures){
        .law = LAW_EXPONENTIAL, .mean_s = 3600 * 100, .repair_median_s = 3600, .repair_p95_s = 3600
    };
    fixture_job(&fixture, 0, 0, 3600, 0, 8);
    fixture_job(&fixture, 1, 0, 3600, 0, 8);
    event(60, ACTION_HOLD, "j1");
    run();
    assert_int_equal(job(0)->end, END_FINISHED);
    assert_int_equal(job(1)->end, END_QUEUED);
    assert_true(result.run_end_ns == NS_PER_HOUR);
    end();
}

/* j1 wants both servers, of which one is drained for ever: with j0's end after an hour nothing is left that could start it,
 * when all parts are whole then, though they go on breaking, and priorities change every 5 minutes. Slurm's backfill
 * looks half a second later for the last time. */
static void check_drained(enum scheduler_kind kind, int64_t end_ns)
{
    begin(2, 2, 8);
    fixture.scenario.kind = kind;
    if (kind == KIND_SLURM) {
        static struct slurm_partition all = { .name = "batch",
                                              .nodes = "ALL",
                                              .max_time_ns = TIME_NEVER,
                                              .is_default = true,
                                              .up = true };
        slurm_defaults(&fixture.scenario.slurm);
        fixture.scenario.slurm.partitions = &all;
        fixture.scenario.slurm.partition_count = 1;
        fixture.scenario.slurm.multifactor = true;
    }
    fixture.scenario.failures.component[COMPONENT_GPU] = (struct component_failures){
        .law = LAW_EXPONENTIAL, .mean_s = 3600 * 1000, .repair_median_s = 3600, .repair_p95_s = 3600
    };
    fixture_job(&fixture, 0, 0, 3600, 0, 8);
    fixture_job(&fixture, 1, 100, 3600, 0, 16);
    event(60, ACTION_DRAIN, "hall-0");
    run();
    assert_int_equal(job(0)->end, END_FINISHED);
    assert_int_equal(job(1)->end, END_QUEUED);
    assert_int_equal(result.run_end_ns, end_ns);
    end();
}

static void who_waits_for_a_drained_node_does_not_keep_the_run(void **state)
{
    (void)state;
    check_drained(KIND_PLAIN, NS_PER_HOUR);
    check_drained(KIND_SLURM, NS_PER_HOUR + NS_PER_S / 2);
}

/* j0 has no server while its only one is in repair, and ends after days without checkpoints. */
static void who_waits_for_a_repair_is_waited_for(void **state)
{
    (void)state;
    begin(1, 1, 8);
    fixture.scenario.failures.component[COMPONENT_SERVER] = (struct component_failures){
        .law = LAW_EXPONENTIAL, .mean_s = 86400, .repair_median_s = 3600, .repair_p95_s = 3600
    };
    fixture_job(&fixture, 0, 0, 5 * 86400.0, 0, 8);
    run();
    assert_int_equal(job(0)->end, END_FINISHED);
    assert_true(job(0)->attempts > 1);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancelled_job_that_hangs_does_not_run_again),
        cmocka_unit_test(cancelled_jobs_are_not_completed),
        cmocka_unit_test(repairs_by_hand_end_their_own_incident),
        cmocka_unit_test(who_is_held_for_ever_does_not_keep_the_run),
        cmocka_unit_test(who_waits_for_a_drained_node_does_not_keep_the_run),
        cmocka_unit_test(who_waits_for_a_repair_is_waited_for),
    };
    return cmocka_run_group_tests_name("user events", tests, NULL, NULL);
}
