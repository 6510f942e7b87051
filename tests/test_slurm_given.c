/* test_slurm_given.c - Slurm jobs that work on more than they asked for. */
#include "rows.h"
#include "scenario_run.h"

/* With --nodes=1-3 all three nodes that are free, with --exclusive whole nodes: jobs that talk, as by default, talk among all
 * GPUs that they hold. */
static void a_job_that_talks_uses_all_that_it_is_given(void **state)
{
    (void)state;
    struct stored_run run;
    run_with(&run, "", "scheduler: {kind: slurm}\n", "  - {count: 5, type: dgx-h100}\n",
             "- {id: range, run: 1000s, nodes: 1-3, gpus_per_node: 8}\n"
             "- {id: whole, run: 1000s, nodes: 2, gpus_per_node: 6, exclusive: true}\n");
    static const struct {
        const char *job;
        int64_t gpus;
    } wants[] = { { "range", 24 }, { "whole", 16 } };
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        char sql[256];
        snprintf(sql, sizeof sql,
                 "SELECT gpus_held FROM attempt JOIN job USING(layout_id, replica, serial)"
                 " WHERE id = '%s' AND attempt.outcome = 'finished'",
                 wants[i].job);
        assert_int_equal(number_of(&run, sql, -1), wants[i].gpus);
    }
    scenario_forget(&run);
}

/* A column of the only incident of replica 0, in whole units. */
static int64_t incident_number(const struct stored_run *run, const char *column)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT CAST(%s AS INTEGER) FROM incident WHERE replica = 0", column);
    return number_of(run, sql, -1);
}

/* --exclusive with 6 of 8 GPUs on each of two nodes, all 16 held and billed; node 0 goes down at 600 s by hand, which is
 * noticed at once: the fault stops 16 GPUs, which have worked for 540 s behind a start-up of 60 s. The job waits 121 s
 * (requeue_delay), holds 16 GPUs again, and takes 300 s to restart: 421 s of 16 GPUs. */
static void a_fault_costs_all_that_a_job_was_given(void **state)
{
    (void)state;
    struct stored_run run;
    run_lab(&run, "scheduler: {kind: slurm}\nevents:\n- {at: 600s, node_down: lab-0}\n",
            "  - {count: 3, type: dgx-h100}\n",
            "- {id: a, run: 1000s, nodes: 2, gpus_per_node: 6, exclusive: true}\n");
    assert_int_equal(incident_number(&run, "gpus_stopped"), 16);
    assert_int_equal(incident_number(&run, "lost_gpu_s"), 540 * 16);
    assert_int_equal(incident_number(&run, "restart_gpu_s"), 421 * 16);
    assert_int_equal(account_s(&run, "lost"), 540 * 16);
    assert_int_equal(number_of(&run, "SELECT min(gpus_asked) FROM attempt", -1), 16);
    scenario_forget(&run);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, a_job_that_talks_uses_all_that_it_is_given, NULL,
             "jobs that talk among more GPUs than they asked for");
    rows_add(&rows, a_fault_costs_all_that_a_job_was_given, NULL,
             "a fault costs all that a job was given");
    return rows_run("slurm_given", &rows);
}
