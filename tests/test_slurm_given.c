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

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, a_job_that_talks_uses_all_that_it_is_given, NULL,
             "jobs that talk among more GPUs than they asked for");
    return rows_run("slurm_given", &rows);
}
