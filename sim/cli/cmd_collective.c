/* cmd_collective.c - gpuplan collective OP --server ID ...: time of one collective, in the columns of nccl-tests. */
#include "cli/collective_ask.h"
#include "cli/commands.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Elements of four bytes, as nccl-tests counts them by default: of each rank's part where a rank holds a part. */
static double count_of(const struct collective_ask *ask, double size_bytes)
{
    const bool is_part =
        ask->op == OP_ALL_GATHER || ask->op == OP_REDUCE_SCATTER || ask->op == OP_ALL_TO_ALL;
    return size_bytes / 4 / (is_part ? ask->group.gpus : 1);
}

/* Algorithm bandwidth; 0 for one GPU, which takes no time. */
static double algorithm_bytes_per_s(double size_bytes, double time_s)
{
    return time_s > 0 ? size_bytes / time_s : 0.0;
}

static void print_head(const struct collective_ask *ask)
{
    const struct collective_hardware *hardware = &ask->hardware;
    printf("# %s of %" PRIu32 " GPU%s: %" PRIu32 " x %s, %s of %" PRIu32 " GPUs each, %" PRIu32
           " of %" PRIu32 " NIC%s of %.4g GB/s, %s; algorithm %s\n",
           collective_op_names[ask->op], ask->group.gpus, ask->group.gpus == 1 ? "" : "s",
           ask->group.servers, ask->server.id, ask->gpus_per_node, ask->server.gpus,
           hardware->nics_used[ask->group.gpus_min], hardware->nics, hardware->nics == 1 ? "" : "s",
           hardware->nic_bytes_per_s / 1e9, ask->has_link ? ask->link.id : "its own network",
           ask->algorithm);
    if (hardware->domain_servers > 1)
        printf("# one NVLink domain holds %" PRIu32 " servers\n", hardware->domain_servers);
    printf("#%13s %13s %7s %12s %9s %9s  %-10s%-10s%s\n", "size", "count", "type", "time", "algbw",
           "busbw", "algorithm", "protocol", "bottleneck");
    printf("#%13s %13s %7s %12s %9s %9s\n", "(B)", "(elements)", "", "(us)", "(GB/s)", "(GB/s)");
}

static void print_row(const struct collective_ask *ask, double size_bytes,
                      const struct collective_result *result)
{
    const double rate = algorithm_bytes_per_s(size_bytes, result->total_s);
    printf("%14.0f %13.0f %7s %12.2f %9.2f %9.2f  %-10s%-10s%s\n", size_bytes,
           count_of(ask, size_bytes), "float", result->total_s * 1e6, rate / 1e9,
           rate * collective_bus_factor(ask->op, ask->group.gpus) / 1e9,
           collective_algorithm_names[result->algorithm],
           collective_protocol_names[result->protocol],
           collective_bottleneck_names[result->bottleneck]);
}

static json_t *row_of(const struct collective_ask *ask, double size_bytes,
                      const struct collective_result *result)
{
    const double rate = algorithm_bytes_per_s(size_bytes, result->total_s);
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:s, s:s}", "size_bytes", size_bytes,
                     "count", count_of(ask, size_bytes), "time_s", result->total_s, "intra_s",
                     result->intra_s, "algbw_bytes_per_s", rate, "busbw_bytes_per_s",
                     rate * collective_bus_factor(ask->op, ask->group.gpus), "algorithm",
                     collective_algorithm_names[result->algorithm], "protocol",
                     collective_protocol_names[result->protocol], "bottleneck",
                     collective_bottleneck_names[result->bottleneck]);
}

static json_t *head_of(const struct collective_ask *ask)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:I, s:I, s:f, s:s?, s:s, s:[]}", "op",
                     collective_op_names[ask->op], "server", ask->server.id, "servers",
                     (json_int_t)ask->group.servers, "gpus", (json_int_t)ask->group.gpus,
                     "gpus_min", (json_int_t)ask->group.gpus_min, "gpus_per_node",
                     ask->gpus_per_node, "nics", (json_int_t)ask->hardware.nics, "nics_used",
                     (json_int_t)ask->hardware.nics_used[ask->group.gpus_min], "nic_bytes_per_s",
                     ask->hardware.nic_bytes_per_s, "link", ask->has_link ? ask->link.id : NULL,
                     "algorithm", ask->algorithm, "rows");
}

static enum status answer(const struct cli *cli, const struct collective_ask *ask)
{
    json_t *root = cli_has(cli, "--json") ? head_of(ask) : NULL;
    if (!root) print_head(ask);
    /* A little above the end: 1K times 4 six times is 4M, whatever the rounding of a factor like 1.1. */
    for (double size = ask->begin_bytes; size <= ask->end_bytes * (1 + 1e-9); size *= ask->factor) {
        const struct collective_result result =
            collective_time(&ask->hardware, ask->op, &ask->group, size, ask->allowed);
        if (root)
            json_array_append_new(json_object_get(root, "rows"), row_of(ask, size, &result));
        else
            print_row(ask, size, &result);
    }
    if (!root) return STATUS_OK;
    const bool written = json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) == 0;
    json_decref(root);
    if (!written) return diag_world(cli->diag, "memory is out, or stdout is gone");
    putchar('\n');
    return STATUS_OK;
}

static enum status run(struct cli *cli)
{
    static struct catalog catalog;
    static struct collective_ask ask;
    TRY(catalog_open(&catalog, cli->diag));
    enum status status = collective_read(cli, &catalog, &ask);
    if (status == STATUS_OK) status = answer(cli, &ask);
    catalog_close(&catalog);
    return status;
}

const struct command command_collective = {
    .name = "collective",
    .operands = "OPERATION",
    .words = "all_reduce|all_gather|reduce_scatter|alltoall|broadcast|reduce|sendrecv",
    .summary = "time of one collective on servers of the catalog, as nccl-tests prints it",
    .options = collective_options,
    .operands_min = 1,
    .operands_max = 1,
    .examples = { "gpuplan collective all_reduce --server dgx-h100 --nodes 4 --size 1G",
                  "gpuplan collective alltoall --server dgx-a100 --nodes 4 --begin 1M --end 1G" },
    .run = run,
};
