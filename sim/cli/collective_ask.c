/* collective_ask.c - see collective_ask.h. */
#include "cli/collective_ask.h"

#include "base/quantity.h"
#include "base/text.h"
#include "cluster/collective_of.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { IDS_MOST = 256, NODES_MOST = 1 << 20 };

const struct option_row collective_options[] = {
    { "--server", 0, "ID", NULL, "server type of the catalog; needed", false },
    { "--nodes", 0, "N", "1", "servers", false },
    { "--gpus-per-node", 0, "G", "as the server type has",
      "GPUs used of each server; 4,6: of each in turn", false },
    { "--nics", 0, "K", "as the server type has", "NICs of each server", false },
    { "--link", 0, "ID", "the NICs and network of the server type", "link of the catalog", false },
    { "--uplinks", 0, "U", "no limit",
      "the servers hang on several leaves with U uplinks each, as fast as a NIC", false },
    { "--size", 0, "S", NULL, "one size: 64M, 1G (powers of two, as nccl-tests), or 1 GB", false },
    { "--begin", 0, "S", "1K", "first size of several", false },
    { "--end", 0, "S", "16G", "last size of several", false },
    { "--factor", 0, "X", "4", "from size to size", false },
    { "--algo", 0, "A", "auto",
      "auto, ring, tree, hier, nvls or sharp; auto: the fastest that NCCL chooses from", false },
    { "--two-servers", 0, "W", "measured", "measured, or none: no gain of trees over two servers",
      false },
    { "--json", 0, NULL, NULL, "as one JSON object, numbers in SI units", false },
    { NULL, 0, NULL, NULL, NULL, false },
};

static const struct algorithm_word {
    const char *word;
    uint32_t allowed;
} algorithm_words[] = {
    { "auto", ALLOW_AUTO },
    { "ring", ALLOW(ALGORITHM_RING) },
    { "tree", ALLOW(ALGORITHM_TREE) },
    { "hier", ALLOW(ALGORITHM_HIER_RING) | ALLOW(ALGORITHM_HIER_TREE) },
    { "nvls", ALLOW(ALGORITHM_NVLS) },
    { "sharp", ALLOW(ALGORITHM_SHARP) },
};
enum { ALGORITHM_WORDS = sizeof algorithm_words / sizeof *algorithm_words };

/* ---- words ---- */

static enum status unknown_word(struct diag *diag, const char *what, const char *word,
                                const char *const *names, size_t count)
{
    const char *nearest = text_nearest(word, names, count);
    if (nearest)
        return diag_usage(diag, "collective: unknown %s '%s'; did you mean '%s'?", what, word,
                          nearest);
    char list[256] = "";
    for (size_t i = 0, used = 0; i < count && used < sizeof list - LIMIT_NAME_BYTES; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    return diag_usage(diag, "collective: unknown %s '%s'; known are %s", what, word, list);
}

static enum status read_op(const struct cli *cli, struct collective_ask *ask)
{
    for (int op = 0; op < COLLECTIVE_OPS; op++)
        if (strcmp(collective_op_names[op], cli->operands[0]) == 0) {
            ask->op = (enum collective_op)op;
            return STATUS_OK;
        }
    return unknown_word(cli->diag, "operation", cli->operands[0], collective_op_names,
                        COLLECTIVE_OPS);
}

static enum status read_algorithm(const struct cli *cli, struct collective_ask *ask)
{
    const char *word = cli_value(cli, "--algo");
    const char *names[ALGORITHM_WORDS];
    for (size_t i = 0; i < ALGORITHM_WORDS; i++) {
        names[i] = algorithm_words[i].word;
        if (strcmp(word ? word : "auto", names[i]) != 0) continue;
        ask->algorithm = names[i];
        ask->allowed = algorithm_words[i].allowed;
        return STATUS_OK;
    }
    return unknown_word(cli->diag, "algorithm", word, names, ALGORITHM_WORDS);
}

/* ---- sizes ---- */

/* Digits with K, M, G or T count in powers of two, as nccl-tests does; with a unit, as everywhere. */
static bool read_size(const char *text, double *bytes, struct why *why)
{
    static const char units[] = "KMGT";
    const size_t digits = strspn(text, "0123456789");
    const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
    const bool is_bare = digits > 0 && text[digits] == '\0';
    if (!is_bare && (digits == 0 || unit == NULL || text[digits + 1] != '\0'))
        return quantity_size(text, strlen(text), bytes, why);
    int64_t count;
    if (!quantity_count(text, digits, &count, why)) return false;
    *bytes = (double)count;
    for (const char *u = units; unit != NULL && u <= unit; u++) *bytes *= 1024.0;
    return true;
}

static enum status size_option(const struct cli *cli, const char *name, const char *fallback,
                               double *bytes)
{
    const char *text = cli_has(cli, name) ? cli_value(cli, name) : fallback;
    struct why why;
    if (!read_size(text, bytes, &why))
        return diag_usage(cli->diag, "collective: cannot read %s '%s': %s", name, text, why.text);
    if (*bytes < 1 || *bytes > 1e15)
        return diag_usage(cli->diag, "collective: %s must be 1 B to 1 PB, got %s", name, text);
    return STATUS_OK;
}

static enum status read_sizes(const struct cli *cli, struct collective_ask *ask)
{
    struct why why;
    const bool several =
        cli_has(cli, "--begin") || cli_has(cli, "--end") || cli_has(cli, "--factor");
    if (cli_has(cli, "--size")) {
        if (several)
            return diag_usage(cli->diag,
                              "collective: --size is one size; take it out, or --begin, --end and "
                              "--factor");
        ask->factor = 2;
        TRY(size_option(cli, "--size", "", &ask->begin_bytes));
        ask->end_bytes = ask->begin_bytes;
        return STATUS_OK;
    }
    TRY(size_option(cli, "--begin", "1K", &ask->begin_bytes));
    TRY(size_option(cli, "--end", "16G", &ask->end_bytes));
    if (ask->begin_bytes > ask->end_bytes)
        return diag_usage(cli->diag, "collective: --begin must not be above --end");
    const char *factor = cli_has(cli, "--factor") ? cli_value(cli, "--factor") : "4";
    if (!quantity_number(factor, strlen(factor), &ask->factor, &why))
        return diag_usage(cli->diag, "collective: cannot read --factor '%s': %s", factor, why.text);
    if (ask->factor < 1.01 || ask->factor > 1e6)
        return diag_usage(cli->diag, "collective: --factor must be 1.01 to 1e6, got %s", factor);
    return STATUS_OK;
}

/* ---- hardware ---- */

static enum status find_entry(const struct cli *cli, struct catalog *catalog,
                              enum catalog_kind kind, const char *option, const char *id,
                              const struct yaml_node **entry)
{
    const char *names[IDS_MOST];
    size_t count = 0;
    *entry = catalog_find(catalog, kind, id, cli->diag);
    if (*entry != NULL || diag_error_count(cli->diag) > 0) return diag_status(cli->diag);
    for (const struct yaml_node *node = catalog_first(catalog, kind, cli->diag);
         node != NULL && count < IDS_MOST; node = node->next)
        names[count++] = catalog_id(node);
    const char *nearest = text_nearest(id, names, count);
    return nearest
               ? diag_usage(cli->diag, "collective: %s: no '%s' in the catalog; did you mean '%s'?",
                            option, id, nearest)
               : diag_usage(cli->diag,
                            "collective: %s: no '%s' in the catalog; gpuplan catalog lists them",
                            option, id);
}

static enum status read_hardware(const struct cli *cli, struct catalog *catalog,
                                 struct collective_ask *ask)
{
    const char *server = cli_value(cli, "--server"), *link = cli_value(cli, "--link");
    const struct yaml_node *entry;
    struct key_reader reader = { .diag = cli->diag };
    long long nics;
    if (server == NULL)
        return diag_usage(cli->diag, "collective: --server is missing: a server type of the "
                                     "catalog, as --server dgx-h100");
    TRY(find_entry(cli, catalog, CATALOG_SERVERS, "--server", server, &entry));
    catalog_read_server(&reader, entry, NULL, &ask->server);
    TRY(diag_status(cli->diag));
    catalog_read_fit(catalog, server, &ask->server, cli->diag);
    ask->has_link = link != NULL;
    if (ask->has_link) {
        TRY(find_entry(cli, catalog, CATALOG_LINKS, "--link", link, &entry));
        catalog_read_link(&reader, entry, NULL, &ask->link);
    }
    TRY(diag_status(cli->diag));
    TRY(cli_count(cli, "--nics", 1, 512, ask->server.nics, &nics));
    ask->hardware = collective_of(&ask->server, (uint32_t)nics, ask->has_link ? &ask->link : NULL);
    const char *gain = cli_value(cli, "--two-servers");
    if (gain == NULL || strcmp(gain, "measured") == 0) return STATUS_OK;
    ask->hardware.two_servers = (struct collective_line){ 0, 0 };
    return strcmp(gain, "none") == 0
               ? STATUS_OK
               : diag_usage(cli->diag, "collective: --two-servers is measured or none, not '%s'",
                            gain);
}

/* ---- group ---- */

static enum status group_problem(const struct cli *cli, const struct collective_ask *ask,
                                 const char *part, size_t bytes)
{
    return diag_usage(cli->diag,
                      "collective: --gpus-per-node '%.*s': a %s has 1 to %" PRIu32 " GPUs to use",
                      (int)bytes, part, ask->server.id, ask->server.gpus);
}

/* G for all servers, or one number each by commas. */
static enum status read_group(const struct cli *cli, struct collective_ask *ask)
{
    long long nodes;
    TRY(cli_count(cli, "--nodes", 1, NODES_MOST, 1, &nodes));
    struct collective_group *group = &ask->group;
    *group = (struct collective_group){ .servers = (uint32_t)nodes, .gpus_min = UINT32_MAX };
    const char *text = cli_value(cli, "--gpus-per-node");
    if (text != NULL)
        snprintf(ask->gpus_per_node, sizeof ask->gpus_per_node, "%s", text);
    else
        snprintf(ask->gpus_per_node, sizeof ask->gpus_per_node, "%" PRIu32, ask->server.gpus);
    uint32_t parts = 0;
    for (const char *part = ask->gpus_per_node; part != NULL;) {
        const char *comma = strchr(part, ',');
        const size_t bytes = comma ? (size_t)(comma - part) : strlen(part);
        int64_t gpus;
        struct why why;
        if (!quantity_count(part, bytes, &gpus, &why))
            return diag_usage(cli->diag, "collective: cannot read --gpus-per-node '%.*s': %s",
                              (int)bytes, part, why.text);
        if (gpus < 1 || gpus > ask->server.gpus) return group_problem(cli, ask, part, bytes);
        parts++;
        group->gpus += (uint32_t)gpus;
        if (gpus < group->gpus_min) group->gpus_min = (uint32_t)gpus;
        part = comma ? comma + 1 : NULL;
    }
    if (parts == 1) group->gpus *= group->servers;
    long long uplinks;
    TRY(cli_count(cli, "--uplinks", 1, 1 << 20, 0, &uplinks));
    if (uplinks > 0 && (ask->op == OP_ALL_TO_ALL || ask->op == OP_SEND_RECV))
        return diag_usage(cli->diag,
                          "collective: --uplinks: a ring leaves a leaf once, but how many "
                          "messages of %s do is not known here",
                          collective_op_names[ask->op]);
    group->spans_leaves = uplinks > 0;
    if (uplinks > 0)
        ask->hardware.uplinks_bytes_per_s = (double)uplinks * ask->hardware.nic_bytes_per_s;
    if (parts > 1 && parts != group->servers)
        return diag_usage(cli->diag,
                          "collective: --gpus-per-node names %" PRIu32 " servers, --nodes %" PRIu32,
                          parts, group->servers);
    if (ask->op == OP_SEND_RECV && group->gpus < 2)
        return diag_usage(cli->diag, "collective: sendrecv needs two GPUs, the group has one");
    return STATUS_OK;
}

/* Why the hardware cannot do what --algo asks. */
static const char *lack_of(const struct collective_ask *ask)
{
    const struct collective_hardware *hardware = &ask->hardware;
    const uint32_t joined = hardware->domain_servers;
    const bool between = ask->group.servers > joined;
    if (ask->op == OP_ALL_TO_ALL || ask->op == OP_SEND_RECV)
        return "the operation is messages between pairs and has no algorithm to choose";
    if (ask->op != OP_ALL_REDUCE) return "of this operation only the ring is modelled";
    if (ask->allowed & ALLOW(ALGORITHM_NVLS))
        return hardware->nvls.line[0].bytes_per_s > 0 ? "the NVSwitch sums inside one NVLink domain"
                                                      : "no NVSwitch of this server type sums";
    if (ask->allowed & ALLOW(ALGORITHM_HIER_RING))
        return "the hierarchical forms need as many GPUs on each server";
    if (!between) return "the servers share one NVLink domain; there is no network to cross";
    if (ask->allowed & ALLOW(ALGORITHM_SHARP)) return "the switches of this link do not sum";
    return "no tree is known on this link (tree_hop)";
}

static enum status check_algorithm(const struct cli *cli, const struct collective_ask *ask)
{
    if (strcmp(ask->algorithm, "auto") == 0) return STATUS_OK;
    for (int a = 0; a < COLLECTIVE_ALGORITHMS; a++)
        if ((ask->allowed & ALLOW(a)) &&
            collective_can(&ask->hardware, ask->op, &ask->group, (enum collective_algorithm)a))
            return STATUS_OK;
    return diag_usage(cli->diag, "collective: --algo %s: %s with %s on %" PRIu32 " x %s: %s",
                      ask->algorithm, collective_op_names[ask->op],
                      ask->has_link ? ask->link.id : "its own network", ask->group.servers,
                      ask->server.id, lack_of(ask));
}

/* Where nothing crosses a network, what is said about it changes no number. */
static void tell_unused(const struct cli *cli, const struct collective_ask *ask)
{
    static const char *const names[] = { "--link", "--uplinks", "--nics", "--two-servers" };
    const bool one = ask->group.servers == 1;
    if (!one && ask->group.servers > ask->hardware.domain_servers) return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (cli_has(cli, names[i]))
            diag_warn(cli->diag, (struct place){ 0 },
                      "collective: %s changes nothing: %s, and nothing crosses a network", names[i],
                      one ? "--nodes is 1" : "the servers share one NVLink domain");
}

enum status collective_read(const struct cli *cli, struct catalog *catalog,
                            struct collective_ask *ask)
{
    *ask = (struct collective_ask){ 0 };
    TRY(read_op(cli, ask));
    TRY(read_algorithm(cli, ask));
    TRY(read_sizes(cli, ask));
    TRY(read_hardware(cli, catalog, ask));
    TRY(read_group(cli, ask));
    TRY(check_algorithm(cli, ask));
    tell_unused(cli, ask);
    return STATUS_OK;
}
