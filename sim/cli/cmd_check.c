/* cmd_check.c - gpuplan check SCENARIO: every key with its value and origin, and the memory. */
#include "cli/commands.h"

#include "io/scenario_read.h"

#include <inttypes.h>
#include <math.h>

static const struct option_row options[] = {
    { "--set", 0, "PATH=VALUE", NULL, "override a key, as layouts.dense8.servers.count=40", true },
    { 0 },
};

/* Memory of one replica of a layout, by the sizes of its parts:
 *
 *     256 bytes a GPU      its server's rows, its fault clock, its slot of the free index
 *   1,024 bytes a running job, at most one for each GPU
 *     352 bytes a bin      22 accounts as 128-bit integers
 *
 * The trace is shared by all replicas and costs about 80 bytes a job; it is not read here. */
static double replica_bytes(const struct scenario *scenario, const struct layout *layout)
{
    const double gpus = (double)layout->server_count * layout->server.gpus;
    const double bins = scenario->horizon_ns == HORIZON_ALL
                            ? 0
                            : (double)(scenario->horizon_ns / scenario->curve_bin_ns);
    return gpus * (256 + 1024) + bins * 352;
}

static void print_layouts(const struct scenario *scenario)
{
    double most = 0;
    for (uint32_t i = 0; i < scenario->layout_count; i++) {
        const struct layout *layout = &scenario->layouts[i];
        printf("# %s: %u x %u GPUs = %" PRIu64 " GPUs, %u NICs a server\n", layout->name,
               layout->server_count, layout->server.gpus,
               (uint64_t)layout->server_count * layout->server.gpus,
               layout->fabric.nics_per_server);
        if (replica_bytes(scenario, layout) > most) most = replica_bytes(scenario, layout);
    }
    printf("# memory: about %.0f MB for each worker, and the trace\n", ceil(most / 1e6));
}

static enum status run(struct cli *cli)
{
    static struct scenario scenario;
    const char *sets[CLI_VALUES];
    const size_t set_count = cli_sets(cli, sets);
    const enum status status =
        scenario_read(cli->operands[0], sets, set_count, &scenario, cli->diag);
    if (status == STATUS_OK) {
        fputs(scenario.resolved, stdout);
        print_layouts(&scenario);
    }
    scenario_clear(&scenario);
    return status;
}

const struct command command_check = {
    .name = "check",
    .operands = "SCENARIO",
    .summary = "validate a scenario; print every key with its value and origin",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .examples = { "gpuplan check scenarios/tiny.yaml",
                  "gpuplan check scenarios/tiny.yaml --set replicas=10" },
    .run = run,
};
