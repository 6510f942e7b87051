/* cmd_flows.c - gpuplan flows FILE: when each transfer of a small network begins and ends at max-min fair rates. */
#include "cli/commands.h"

#include "base/text.h"
#include "io/flows_text.h"
#include "network/transfers.h"

#include <jansson.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row options[] = {
    { .name = "--weights",
      .value = "RULE",
      .fallback = "latency",
      .help = "share of a flow: by 1/latency of its path, or equal" },
    { .name = "--json", .help = "as one JSON object; null = never" },
    { .name = NULL },
};

enum weights { WEIGHTS_LATENCY, WEIGHTS_EQUAL };

static enum status read_weights(const struct cli *cli, enum weights *weights)
{
    static const char *const names[] = { "latency", "equal" };
    const char *word = cli_value(cli, "--weights");
    *weights = WEIGHTS_LATENCY;
    if (word == NULL || strcmp(word, names[WEIGHTS_LATENCY]) == 0) return STATUS_OK;
    *weights = WEIGHTS_EQUAL;
    if (strcmp(word, names[WEIGHTS_EQUAL]) == 0) return STATUS_OK;
    const char *nearest = text_nearest(word, names, 2);
    return diag_usage(cli->diag, "flows: --weights must be latency or equal, got '%s'%s%s%s", word,
                      nearest ? "; did you mean '" : "", nearest ? nearest : "",
                      nearest ? "'?" : "");
}

/* ---- the network of the text -------------------------------------------------------------------- */

static bool add_flow(struct transfers *transfers, const struct flows_text *text, uint32_t row,
                     enum weights weights, struct flow_use *uses)
{
    const struct flows_flow *flow = &text->flows[row];
    double latency_s = 0;
    for (uint32_t i = 0; i < flow->link_count; i++) {
        const uint32_t link = text->path[flow->first_link + i];
        uses[i] = (struct flow_use){ link, 1 };
        latency_s += text->links[link].latency_s;
    }
    const bool weighted = weights == WEIGHTS_LATENCY && latency_s > 0;
    const struct transfer transfer = { .start_s = flow->start_s,
                                       .latency_s = latency_s,
                                       .size = flow->size_bytes,
                                       .weight = weighted ? 1 / latency_s : 1,
                                       .cap = INFINITY,
                                       .uses = uses,
                                       .use_count = flow->link_count };
    return transfers_add(transfers, &transfer) != FLOW_NONE;
}

static bool run_flows(const struct flows_text *text, enum weights weights, struct flow_net *net,
                      struct transfers *transfers)
{
    struct flow_use *uses = malloc((text->link_count + 1) * sizeof *uses);
    bool ok = uses != NULL;
    for (uint32_t l = 0; ok && l < text->link_count; l++)
        ok = flow_net_link(net, text->links[l].bytes_per_s) != FLOW_NONE;
    for (uint32_t f = 0; ok && f < text->flow_count; f++)
        ok = add_flow(transfers, text, f, weights, uses);
    for (uint32_t f = 0; ok && f < text->flow_count; f++)
        for (uint32_t i = 0; ok && i < text->flows[f].after_count; i++)
            ok = transfers_after(transfers, f, text->after[text->flows[f].first_after + i]);
    free(uses);
    return ok && transfers_run(transfers);
}

/* ---- what people read --------------------------------------------------------------------------- */

enum { TIME_BYTES = 32 };

static const char *show_time(double time_s, char out[TIME_BYTES])
{
    if (!(time_s < INFINITY)) return "never";
    snprintf(out, TIME_BYTES, "%.15g", time_s);
    return out;
}

static void print_table(const struct flows_text *text, const struct transfers *transfers)
{
    char begin[TIME_BYTES], finish[TIME_BYTES];
    puts("flow,start,size,finish");
    for (uint32_t f = 0; f < text->flow_count; f++)
        printf("%.*s,%s,%.15g,%s\n", (int)text->flows[f].name_bytes, text->flows[f].name,
               show_time(transfers_begin_s(transfers, f), begin), text->flows[f].size_bytes,
               show_time(transfers_finish_s(transfers, f), finish));
}

static json_t *json_time(double time_s)
{
    return time_s < INFINITY ? json_real(time_s) : json_null();
}

/* Functions of jansson return failure when memory is out; json_pack then gives NULL. */
static enum status print_json(const struct flows_text *text, const struct transfers *transfers,
                              struct diag *diag)
{
    json_t *rows = json_array();
    bool ok = rows != NULL;
    double last_s = 0;
    for (uint32_t f = 0; ok && f < text->flow_count; f++) {
        const struct flows_flow *flow = &text->flows[f];
        const double finish_s = transfers_finish_s(transfers, f);
        if (finish_s > last_s) last_s = finish_s;
        ok = json_array_append_new(rows, json_pack("{s:s%, s:o, s:f, s:o}", "flow", flow->name,
                                                   (size_t)flow->name_bytes, "start_s",
                                                   json_time(transfers_begin_s(transfers, f)),
                                                   "size_bytes", flow->size_bytes, "finish_s",
                                                   json_time(finish_s))) == 0;
    }
    json_t *root =
        ok ? json_pack("{s:o, s:o}", "flows", rows, "finish_s", json_time(last_s)) : NULL;
    if (!ok) json_decref(rows);
    ok = root != NULL && json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) == 0;
    json_decref(root);
    if (!ok) return diag_world(diag, "memory is out, a name is not UTF-8, or stdout is gone");
    putchar('\n');
    return STATUS_OK;
}

/* ---- the command -------------------------------------------------------------------------------- */

static enum status answer(const struct cli *cli, const struct flows_text *text,
                          enum weights weights)
{
    struct flow_net *net = flow_net_create();
    struct transfers *transfers = net ? transfers_create(net) : NULL;
    enum status status = STATUS_OK;
    if (transfers == NULL || !run_flows(text, weights, net, transfers))
        status = diag_world(cli->diag, "%s: memory is out", text->input.name);
    else if (cli_has(cli, "--json"))
        status = print_json(text, transfers, cli->diag);
    else
        print_table(text, transfers);
    transfers_destroy(transfers);
    flow_net_destroy(net);
    return status;
}

static enum status run(struct cli *cli)
{
    enum weights weights;
    struct flows_text text;
    TRY(read_weights(cli, &weights));
    enum status status = flows_text_read(cli->operands[0], &text, cli->diag);
    if (status == STATUS_OK) status = answer(cli, &text, weights);
    flows_text_clear(&text);
    return status;
}

const struct command command_flows = {
    .name = "flows",
    .operands = "FILE",
    .summary = "transfers over a small network: when each ends",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .examples = { "gpuplan flows scenarios/ring.flows",
                  "gpuplan flows --json --weights equal scenarios/ring.flows" },
    .run = run,
};
