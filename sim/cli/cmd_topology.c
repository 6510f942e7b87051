/* cmd_topology.c - gpuplan topology SCENARIO|SERVER|FILE: what hangs where in a server, and how switches join servers. */
#include "cli/commands.h"

#include "base/text.h"
#include "campaign/plan_build.h"
#include "cli/inputs.h"
#include "cli/topology_show.h"
#include "cluster/vm.h"
#include "io/catalog.h"
#include "io/scenario_read.h"
#include "io/topo_text.h"
#include "report/plot_topology.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SERVERS_MOST = LIMIT_LAYOUTS * 4 };

static const struct option_row options[] = {
    { "--bandwidth", 0, NULL, NULL, "the rates between GPUs as well", false },
    { "--layout", 0, "NAME", NULL, "of a scenario: only this layout", true },
    { "--picture", 0, "FILE", NULL, "draws the switches into FILE.svg, .png or .pdf", false },
    { "--set", 0, "PATH=VALUE", NULL, "override a key, as layouts.dense8.servers.count=40", true },
    { "--json", 0, NULL, NULL, "as one JSON object, rates in bytes per second", false },
    { 0 },
};

/* All that is to be shown. */
struct shown {
    struct topology_server servers[SERVERS_MOST];
    uint32_t server_count;
    struct topology_layout layouts[LIMIT_LAYOUTS];
    uint32_t layout_count;
};

/* ---- gathering ---- */

static void add_name(struct topology_server *at, const char *name)
{
    const size_t used = strlen(at->used_by);
    snprintf(at->used_by + used, sizeof at->used_by - used, "%s%s", used ? ", " : "", name);
}

static bool same_server(const struct topology_server *a, const struct topology_server *b)
{
    return strcmp(a->type.id, b->type.id) == 0 && a->nics == b->nics && a->parts == b->parts &&
           a->sliced == b->sliced && memcmp(&a->tree, &b->tree, sizeof a->tree) == 0;
}

/* Equal servers are shown once. group: NULL where all servers of a layout are nodes of one kind. */
static void add_server(struct shown *shown, const struct server_type *server,
                       const struct server_group *group, uint32_t nics, double nic_bytes_per_s,
                       const char *layout)
{
    if (server->tree.gpus == 0 || shown->server_count == SERVERS_MOST) return; /* nothing known */
    struct topology_server *at = &shown->servers[shown->server_count];
    *at = (struct topology_server){
        .type = *server, .nics = nics, .nic_bytes_per_s = nic_bytes_per_s, .parts = 1
    };
    if (group != NULL) {
        at->parts = group->nodes_per_server;
        at->sliced = group->sharing == SHARING_MIG_SINGLE || group->sharing == SHARING_MIG_MIXED;
    }
    if (at->parts > 1) {
        at->vm = &group->vm;
        at->type = vm_inside(server, at->vm);
    }
    at->server = &at->type;
    at->tree = at->type.tree;
    for (uint32_t i = 0; i < shown->server_count; i++)
        if (same_server(&shown->servers[i], at)) {
            if (strstr(shown->servers[i].used_by, layout) == NULL)
                add_name(&shown->servers[i], layout);
            return;
        }
    shown->server_count++;
    matrix_of_tree(&at->tree, server->cores, &at->matrix);
    add_name(at, layout);
}

static void add_layout(struct shown *shown, const struct plan *plan, const struct variant *variant)
{
    const struct layout *layout = &plan->scenario->layouts[variant->layout];
    const struct fabric *fabric = &layout->fabric;
    struct topology_layout *at = &shown->layouts[shown->layout_count++];
    *at = (struct topology_layout){ .name = layout->name,
                                    .fabric = fabric,
                                    .shape = &variant->fabric,
                                    .gpus_per_server = layout->server.gpus,
                                    .nodes_per_server = variant->nodes / variant->servers };
    const struct vm_rules *vm = vm_of(plan->scenario, variant);
    if (vm != NULL) {
        at->node_scaleup_bytes_per_s =
            vm_scaleup_bytes_per_s(&layout->server, vm, at->nodes_per_server);
        at->nodes_share_nvlink = vm->shared_nvlink;
    }
    if (layout->group_count == 0)
        add_server(shown, &layout->server, NULL, fabric->nics_per_server, fabric->link.bytes_per_s,
                   layout->name);
    for (uint32_t g = 0; g < layout->group_count; g++)
        add_server(shown, &layout->groups[g].server, &layout->groups[g],
                   layout->groups[g].server.nics, fabric->link.bytes_per_s, layout->name);
}

/* ---- showing ---- */

static void print_server(const struct topology_server *at, bool bandwidth)
{
    char safe[4 * LIMIT_NAME_BYTES];
    if (at->server)
        printf("%s%s%s\n\n", text_escape(at->server->id, strlen(at->server->id), safe, sizeof safe),
               at->used_by[0] ? ", of " : "", at->used_by);
    topology_print_matrix(&at->matrix, stdout);
    putchar('\n');
    topology_print_inside(at, stdout);
    if (bandwidth && at->server) {
        putchar('\n');
        topology_print_bandwidth(at, stdout);
    }
}

static enum status print_json(const struct shown *shown, struct diag *diag)
{
    json_t *servers = json_array(), *layouts = json_array();
    for (uint32_t i = 0; i < shown->server_count; i++)
        json_array_append_new(servers, topology_server_json(&shown->servers[i]));
    for (uint32_t i = 0; i < shown->layout_count; i++)
        json_array_append_new(layouts, topology_layout_json(&shown->layouts[i]));
    json_t *root = json_pack("{s:o, s:o}", "servers", servers, "layouts", layouts);
    const bool written =
        root != NULL && json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) == 0;
    json_decref(root);
    if (!written) return diag_world(diag, "memory is out, or stdout is gone");
    putchar('\n');
    return STATUS_OK;
}

static enum status draw(struct cli *cli, const struct shown *shown, const char *title)
{
    struct topology_panel panels[LIMIT_LAYOUTS];
    for (uint32_t i = 0; i < shown->layout_count; i++)
        panels[i] = (struct topology_panel){ .name = shown->layouts[i].name,
                                             .link = shown->layouts[i].fabric->link.id,
                                             .gpus_per_server = shown->layouts[i].gpus_per_server,
                                             .shape = shown->layouts[i].shape };
    const struct topology_picture picture = { title, panels, shown->layout_count };
    return plot_topology_write(&picture, cli_value(cli, "--picture"), cli->diag);
}

static enum status show(struct cli *cli, const struct shown *shown, const char *title)
{
    if (cli_has(cli, "--picture")) {
        if (shown->layout_count == 0)
            return diag_usage(cli->diag, "topology: --picture draws the layouts of a scenario");
        TRY(draw(cli, shown, title));
    }
    if (cli_has(cli, "--json")) return print_json(shown, cli->diag);
    for (uint32_t i = 0; i < shown->server_count; i++) {
        if (i > 0) putchar('\n');
        print_server(&shown->servers[i], cli_has(cli, "--bandwidth"));
    }
    for (uint32_t i = 0; i < shown->layout_count; i++) {
        putchar('\n');
        topology_print_fabric(&shown->layouts[i], stdout);
    }
    return STATUS_OK;
}

/* ---- the three kinds of operand ---- */

static enum status of_scenario(struct cli *cli, struct scenario *scenario, struct jobs *jobs)
{
    static struct import_report import;
    static struct plan plan;
    static struct shown shown;
    const char *sets[CLI_VALUES], *only[LIMIT_LAYOUTS];
    size_t only_count = 0;
    const size_t set_count = cli_sets(cli, sets);
    for (const char *name;
         only_count < LIMIT_LAYOUTS && (name = cli_nth(cli, "--layout", only_count));)
        only[only_count++] = name;
    TRY(scenario_read(cli->operands[0], sets, set_count, scenario, cli->diag));
    if (scenario->scale_to_load > 0 && inputs_has_jobs(scenario)) /* else no job matters here */
        TRY(inputs_read_jobs(scenario, jobs, &import, cli->diag));
    TRY(plan_build(scenario, jobs, &import, only, only_count, 1, &plan, cli->diag));
    for (uint32_t v = 0; v < plan.variant_count; v++)
        if (v == 0 || plan.variants[v].layout != plan.variants[v - 1].layout)
            add_layout(&shown, &plan, &plan.variants[v]);
    return show(cli, &shown, scenario->name);
}

static enum status of_catalog(struct cli *cli, struct catalog *catalog)
{
    static struct shown shown;
    static struct server_type server;
    const char *names[512];
    size_t count = 0;
    const struct yaml_node *entry =
        catalog_find(catalog, CATALOG_SERVERS, cli->operands[0], cli->diag);
    if (entry == NULL) {
        for (entry = catalog_first(catalog, CATALOG_SERVERS, cli->diag); entry && count < 512;
             entry = entry->next)
            names[count++] = catalog_id(entry);
        const char *nearest = text_nearest(cli->operands[0], names, count);
        char safe[LIMIT_NAME_BYTES];
        text_escape(cli->operands[0], strlen(cli->operands[0]), safe, sizeof safe);
        if (nearest)
            return diag_usage(cli->diag, "no file and no server '%s'; did you mean '%s'?", safe,
                              nearest);
        return diag_world(cli->diag, "no file and no server '%s'; gpuplan catalog lists servers",
                          safe);
    }
    struct key_reader reader = { .diag = cli->diag };
    catalog_read_server(&reader, entry, NULL, &server);
    TRY(diag_status(cli->diag));
    add_server(&shown, &server, NULL, server.nics, server.nic_bytes_per_s, "");
    return show(cli, &shown, server.id);
}

static enum status of_matrix(struct cli *cli)
{
    static struct shown shown;
    struct topology_server *at = &shown.servers[0];
    if (cli_has(cli, "--bandwidth"))
        return diag_usage(cli->diag,
                          "topology: --bandwidth: a link matrix has no rates; a server type of the "
                          "catalog and a scenario have");
    TRY(topo_read(cli->operands[0], &at->matrix, &at->tree, cli->diag));
    at->nics = at->tree.nics;
    shown.server_count = 1;
    return show(cli, &shown, cli->operands[0]);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t bytes = strlen(text), end_bytes = strlen(end);
    return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

static enum status run(struct cli *cli)
{
    static struct scenario scenario;
    static struct jobs jobs;
    static struct catalog catalog;
    const char *operand = cli->operands[0];
    enum status status;
    if (ends_with(operand, ".yaml") || ends_with(operand, ".yml") || ends_with(operand, ".json")) {
        status = of_scenario(cli, &scenario, &jobs);
        jobs_clear(&jobs);
        scenario_clear(&scenario);
        return status;
    }
    if (cli_has(cli, "--layout") || cli_has(cli, "--set"))
        return diag_usage(cli->diag, "topology: --layout and --set are for a scenario, FILE.yaml");
    if (strcmp(operand, "-") == 0 || access(operand, F_OK) == 0) return of_matrix(cli);
    TRY(catalog_open(&catalog, cli->diag));
    status = of_catalog(cli, &catalog);
    catalog_close(&catalog);
    return status;
}

const struct command command_topology = {
    .name = "topology",
    .operands = "SCENARIO|SERVER|FILE",
    .summary =
        "the inside of a server as nvidia-smi topo -m has it, and the switches of each layout",
    .options = options,
    .operands_min = 1,
    .operands_max = 1,
    .examples = { "gpuplan topology scenarios/ten_servers.yaml --picture switches.svg",
                  "nvidia-smi topo -m | gpuplan topology -" },
    .run = run,
};
