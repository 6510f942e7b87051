/* cmd_run.c - gpuplan run SCENARIO: the path of the data, from a scenario file to a verdict.
 *
 *     scenario -> trace -> plan -> replicas -> database -> what people read */
#include "cli/commands.h"

#include "campaign/campaign.h"
#include "campaign/plan_build.h"
#include "cli/interrupt.h"
#include "cli/inputs.h"
#include "cli/until.h"
#include "io/scenario_read.h"
#include "io/store_write.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct option_row options[] = {
    { "--output", 'o', "DB", "results/NAME.db", "where the result database goes", false },
    { "--jobs", 'j', "N", "processors", "worker threads; the result does not depend on it", false },
    { "--replicas", 0, "N", "the scenario's", "replicas of each layout", false },
    { "--seed", 0, "N", "the scenario's", "seed of all random streams", false },
    { "--layout", 0, "NAME", "all", "run this layout only", true },
    { "--set", 0, "PATH=VALUE", NULL, "override a key, as failures.scale=3", true },
    { "--resume", 0, NULL, NULL, "go on with the database of a killed run", false },
    { "--brief", 0, NULL, NULL, "verdict and one line per layout, without the tables", false },
    { "--json", 0, NULL, NULL, "all numbers as one JSON object", false },
    { "--quiet", 'q', NULL, NULL, "no progress, no import verdict", false },
    { 0 },
};

enum { OVERRIDES = 2 }; /* --seed and --replicas become --set lines */

/* Everything a run owns; cleared in one place. */
struct whole {
    struct scenario scenario;
    struct jobs jobs;
    struct import_report import;
    struct plan plan;
    struct store *store;
    struct until_watch until;
};

static void whole_clear(struct whole *whole)
{
    store_abandon(whole->store);
    until_clear(&whole->until);
    jobs_clear(&whole->jobs);
    scenario_clear(&whole->scenario);
}

static enum status read_scenario(const struct cli *cli, struct scenario *scenario)
{
    const char *sets[CLI_VALUES + OVERRIDES];
    size_t count = cli_sets(cli, sets);
    char seed[64], replicas[64];
    if (cli_has(cli, "--seed")) {
        snprintf(seed, sizeof seed, "seed=%s", cli_value(cli, "--seed"));
        sets[count++] = seed;
    }
    if (cli_has(cli, "--replicas")) {
        snprintf(replicas, sizeof replicas, "replicas.count=%s", cli_value(cli, "--replicas"));
        sets[count++] = replicas;
    }
    return scenario_read(cli->operands[0], sets, count, scenario, cli->diag);
}

static enum status read_jobs(const struct cli *cli, struct whole *whole)
{
    struct scenario *scenario = &whole->scenario;
    if (!inputs_has_jobs(scenario))
        return diag_error(
            cli->diag, (struct place){ .file = scenario->path },
            "workload.trace.file is missing: a run replays a trace, or a list of jobs");
    return inputs_read_jobs(scenario, &whole->jobs, &whole->import, cli->diag);
}

static enum status build_plan(const struct cli *cli, struct whole *whole, uint32_t workers)
{
    const char *only[CLI_VALUES];
    size_t only_count = 0;
    while (only_count < CLI_VALUES && cli_nth(cli, "--layout", only_count))
        only_count++, only[only_count - 1] = cli_nth(cli, "--layout", only_count - 1);
    return plan_build(&whole->scenario, &whole->jobs, &whole->import, only, only_count, workers,
                      &whole->plan, cli->diag);
}

static enum status take_result(void *context, const struct replica_result *result,
                               struct diag *diag)
{
    struct whole *whole = context;
    until_take(&whole->until, result);
    TRY(store_replica(whole->store, result, diag));
    interrupt_resumable();
    return STATUS_OK;
}

static bool has_result(void *context, uint32_t variant, uint32_t replica, uint32_t setting)
{
    struct whole *whole = context;
    if (!store_has(whole->store, variant, replica, setting)) return false;
    interrupt_resumable();
    const struct until *until = &whole->scenario.until;
    if (until->given && setting == 0)
        until_note(&whole->until, variant, replica,
                   store_metric(whole->store, variant, replica, until_metric_names[until->metric]));
    return true;
}

static bool is_enough(void *context, uint32_t replicas)
{
    return until_enough(&((struct whole *)context)->until, replicas);
}

static enum status simulate(const struct cli *cli, struct whole *whole, uint32_t workers,
                            const char *path)
{
    const bool resume = cli_has(cli, "--resume");
    TRY(resume ? store_resume(path, &whole->plan, &whole->store, cli->diag)
               : store_open(path, &whole->plan, &whole->store, cli->diag));
    if (whole->store == NULL)
        return STATUS_OK; /* finished already: the report says what it holds */
    interrupt_watch();
    const struct campaign_sink sink = { .context = whole,
                                        .take = take_result,
                                        .has = resume ? has_result : NULL,
                                        .enough = is_enough };
    if (!until_init(&whole->until, &whole->plan)) return diag_world(cli->diag, "memory is out");
    const bool progress = !cli_has(cli, "--quiet") && isatty(STDERR_FILENO);
    struct campaign_totals totals;
    const enum status status =
        campaign_run(&whole->plan, workers, progress, &sink, &totals, cli->diag);
    if (status != STATUS_OK && status != STATUS_LIMIT) return status;
    struct store *store = whole->store;
    if (whole->scenario.until.given)
        TRY(store_replicas(store, totals.replicas_each, totals.enough));
    whole->store = NULL;
    interrupt_over();
    TRY(store_finish(store, cli->diag));
    return status;
}

static enum status run_whole(struct cli *cli, struct whole *whole)
{
    long long workers;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    TRY(cli_count(cli, "--jobs", 1, LIMIT_WORKERS, processors > 0 ? processors : 1, &workers));
    const char *named = cli_value(cli, "--output");
    if (named != NULL && (named[0] == '\0' || strcmp(named, "-") == 0))
        return diag_usage(cli->diag,
                          "--output '%s' names no file: the result is a database, which "
                          "needs one",
                          named);
    TRY(read_scenario(cli, &whole->scenario));
    TRY(read_jobs(cli, whole));
    TRY(build_plan(cli, whole, (uint32_t)workers));
    if (!cli_has(cli, "--quiet")) inputs_print(stderr, "", &whole->plan);
    char path[LIMIT_PATH_BYTES];
    store_default_path(&whole->scenario, path);
    const char *out = named != NULL ? named : path;
    const enum status run_status = simulate(cli, whole, (uint32_t)workers, out);
    if (run_status != STATUS_OK && run_status != STATUS_LIMIT) return run_status;
    const struct report_options report = { .brief = cli_has(cli, "--brief"),
                                           .json = cli_has(cli, "--json") };
    const enum status status = report_print(out, stdout, &report, cli->diag);
    if (!report.json) printf("\nDatabase: %s\nPlots:    gpuplan plot %s\n", out, out);
    return status == STATUS_OK ? run_status : status;
}

static enum status run(struct cli *cli)
{
    static struct whole whole; /* large, and there is one */
    const enum status status = run_whole(cli, &whole);
    whole_clear(&whole);
    return status;
}

const struct command command_run = {
    .name = "run",
    .operands = "SCENARIO",
    .summary = "run all layouts and replicas; print the verdict",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .examples = { "gpuplan run scenarios/dense_vs_sparse.yaml",
                  "gpuplan run scenarios/tiny.yaml --replicas 5 --set failures.scale=3" },
    .run = run,
};
