/* cmd_check.c - gpuplan check SCENARIO: every key with its value and origin, and what a run would
 * take. Reads the scenario and its trace; writes no file. */
#include "cli/commands.h"

#include "base/clock.h"
#include "campaign/plan_build.h"
#include "cli/inputs.h"
#include "io/scenario_read.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

static const struct option_row options[] = {
    { "--jobs", 'j', "N", "processors", "worker threads that the estimates are for", false },
    { "--set", 0, "PATH=VALUE", NULL, "override a key, as layouts.dense8.servers.count=40", true },
    { 0 },
};

/* Speed of one worker, from file to database: dense_vs_sparse.yaml, 3.6 million jobs in 5.4 s and
 * 86,000 faults in 0.6 s on a shared core of 2026. Other machines differ by a factor of two or
 * three, and so do queues that are very long. */
static const double JOBS_PER_S = 500000, FAULTS_PER_S = 150000;

/* What a run consists of. */
struct effort {
    double runs, jobs_each, blast_runs, faults;
};

static struct effort effort_of(const struct plan *plan)
{
    struct effort effort = { 0 };
    double first_slack = 0; /* the tornado runs under the first slack rule alone */
    for (uint32_t v = 0; v < plan->variant_count; v++) {
        const struct variant *variant = &plan->variants[v];
        first_slack += variant->slack == plan->variants[0].slack;
        effort.blast_runs += variant->blast_horizon_ns > 0;
        effort.faults +=
            plan_fault_rate(plan->scenario, variant) * s_from_ns(variant->blast_horizon_ns);
    }
    effort.runs = (double)plan->variant_count * plan->replicas +
                  first_slack * (plan->setting_count - 1) * plan->setting_replicas;
    effort.jobs_each = plan->jobs->count;
    if (plan->horizon_ns != HORIZON_ALL && !plan->jobs->once &&
        plan->trace_days > 0) /* days of it, over and over */
        effort.jobs_each *=
            s_from_ns(plan->horizon_ns + plan->follow_ns) / (86400.0 * plan->trace_days);
    return effort;
}

static void print_estimates(const struct plan *plan, uint32_t workers)
{
    const struct effort effort = effort_of(plan);
    const double jobs = effort.runs * effort.jobs_each;
    const double seconds = (jobs / JOBS_PER_S + effort.faults / FAULTS_PER_S) / workers;
    printf("# runs: %.0f of %.0f jobs each (%" PRIu32 " variants x %s%" PRIu32
           " replicas, and %" PRIu32 " moved assumptions x %" PRIu32 ")\n",
           effort.runs, effort.jobs_each, plan->variant_count,
           plan->scenario->until.given ? "at most " : "", plan->replicas, plan->setting_count - 1,
           plan->setting_replicas);
    if (effort.blast_runs > 0)
        printf("# failure-only runs: %.0f with %.0f faults together\n", effort.blast_runs,
               effort.faults);
    printf("# time: about %.0f s on %" PRIu32 " workers, at %.0f jobs and %.0f faults a second on "
           "each\n",
           ceil(seconds), workers, JOBS_PER_S, FAULTS_PER_S);
    printf("# memory: about %.0f MB for trace, tables and curves\n",
           ceil((double)plan->memory_bytes / 1e6));
}

static enum status check(struct cli *cli, struct scenario *scenario, struct jobs *jobs)
{
    static struct import_report import;
    static struct plan plan;
    const char *sets[CLI_VALUES];
    const size_t set_count = cli_sets(cli, sets);
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long long workers;
    TRY(cli_count(cli, "--jobs", 1, LIMIT_WORKERS, processors > 0 ? processors : 1, &workers));
    TRY(scenario_read(cli->operands[0], sets, set_count, scenario, cli->diag));
    if (inputs_has_jobs(scenario)) TRY(inputs_read_jobs(scenario, jobs, &import, cli->diag));
    TRY(plan_build(scenario, jobs, &import, NULL, 0, (uint32_t)workers, &plan, cli->diag));
    fputs(scenario->resolved, stdout);
    inputs_print(stdout, "# ", &plan);
    if (jobs->count > 0)
        print_estimates(&plan, (uint32_t)workers);
    else
        puts("# no jobs: a run needs workload.trace.file, or jobs");
    return STATUS_OK;
}

static enum status run(struct cli *cli)
{
    static struct scenario scenario;
    static struct jobs jobs;
    const enum status status = check(cli, &scenario, &jobs);
    jobs_clear(&jobs);
    scenario_clear(&scenario);
    return status;
}

const struct command command_check = {
    .name = "check",
    .operands = "SCENARIO",
    .summary = "check scenario and trace: keys, origins, time, memory",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .examples = { "gpuplan check scenarios/tiny.yaml",
                  "gpuplan check scenarios/tiny.yaml --set replicas=10" },
    .run = run,
};
