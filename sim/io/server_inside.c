/* server_inside.c - see server_inside.h. */
#include "io/server_inside.h"

#include "base/quantity.h"
#include "io/topo_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t NOT_WRITTEN = UINT32_MAX; /* 0 is a number of switches */

void server_inside_init(struct server_type *server)
{
    server->sockets = 0;
    server->pcie_switches = NOT_WRITTEN;
    server->nvlink_bytes_per_s = server->uplink_bytes_per_s = 0;
    server->domain_servers = 1;
    memset(&server->tree, 0, sizeof server->tree);
}

static const struct yaml_node *value_of(const struct yaml_node *entry,
                                        const struct yaml_node *below, const char *key)
{
    const struct yaml_node *node = yaml_child(entry, key);
    if (node == NULL && below != NULL) node = yaml_child(below, key);
    return node != NULL && yaml_is_null(node) ? NULL : node;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* ---- PCIe ---- */

/* Texts of a list; 0 after a problem. */
static uint32_t texts_of(struct key_reader *reader, const char *name, const struct yaml_node *list,
                         uint32_t most, const char **texts, const struct yaml_node **items)
{
    uint32_t count = 0;
    if (list->kind != YAML_LIST || list->child_count == 0 || list->child_count > most) {
        key_wrong_kind(reader, name, list, "a list of texts");
        return 0;
    }
    for (const struct yaml_node *item = list->first; item; item = item->next) {
        if (item->kind != YAML_SCALAR) {
            key_wrong_kind(reader, name, item, "a text");
            return 0;
        }
        items[count] = item;
        texts[count++] = item->text;
    }
    return count;
}

enum { SOCKETS_MOST = 16 };

static void read_pcie(struct key_reader *reader, const struct yaml_node *node,
                      struct server_type *server)
{
    const char *texts[SOCKETS_MOST];
    const struct yaml_node *items[SOCKETS_MOST];
    struct server_tree tree;
    uint32_t text, at;
    char why[96], shown[32];
    const uint32_t count = texts_of(reader, "pcie", node, SOCKETS_MOST, texts, items);
    if (count == 0) return;
    if (server->sockets != 0 && server->sockets != count)
        diag_error(reader->diag, yaml_place(node), "%spcie: %u texts for %u sockets", reader->path,
                   count, server->sockets);
    if (!tree_parse(&tree, server->gpus, smaller(server->nics, LIMIT_TREE_NICS), texts, count,
                    &text, &at, why, sizeof why)) {
        struct place place = yaml_place(items[text]);
        diag_error(reader->diag, place, "%spcie: '%s', character %u: %s", reader->path, texts[text],
                   at + 1, why);
        return;
    }
    server->tree = tree;
    server->sockets = count;
    snprintf(shown, sizeof shown, "for %u sockets", count);
    key_show(reader, "pcie", shown, node, NULL);
}

static void plain(struct key_reader *reader, struct server_type *server)
{
    char shown[24];
    if (server->sockets == 0) {
        server->sockets = server->gpus <= 2 ? 1 : 2;
        snprintf(shown, sizeof shown, "%u", server->sockets);
        key_show(reader, "sockets", shown, NULL, "default: 1 with at most two GPUs, else 2");
    }
    if (server->pcie_switches == NOT_WRITTEN) {
        server->pcie_switches = smaller(smaller(server->nics, server->gpus), LIMIT_TREE_NICS);
        snprintf(shown, sizeof shown, "%u", server->pcie_switches);
        key_show(reader, "pcie_switches", shown, NULL, "default: as many as NICs, at most as GPUs");
    }
    tree_plain(&server->tree, server->gpus, server->nics, server->sockets, server->pcie_switches);
}

/* ---- NVLink ---- */

static void read_links(struct key_reader *reader, const struct yaml_node *node,
                       struct server_type *server)
{
    const char *texts[LIMIT_GPUS_PER_SERVER];
    const struct yaml_node *items[LIMIT_GPUS_PER_SERVER];
    struct server_tree *tree = &server->tree;
    const uint32_t count = texts_of(reader, "nvlink", node, LIMIT_GPUS_PER_SERVER, texts, items);
    if (count == 0) return;
    if (count != tree->gpus) {
        diag_error(reader->diag, yaml_place(node), "%snvlink: %u texts for %u GPUs", reader->path,
                   count, tree->gpus);
        return;
    }
    for (uint32_t a = 0; a < count; a++) {
        const char *at = texts[a];
        uint32_t b = 0;
        bool good = true;
        for (; good && *at; b++) {
            const size_t bytes = strcspn(at, ",");
            int64_t links = 0;
            struct why why;
            good = b < count && quantity_count(at, bytes, &links, &why) && links >= 0 &&
                   links <= 64 && (a != b || links == 0);
            if (good) tree->nvlinks[a][b] = (uint8_t)links;
            at += bytes + (at[bytes] == ',');
        }
        if (!good || b != count)
            diag_error(reader->diag, yaml_place(items[a]),
                       "%snvlink: '%s' must be %u numbers of links by commas, 0 to 64, 0 at GPU %u "
                       "itself",
                       reader->path, texts[a], count, a);
    }
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < a; b++)
            if (tree->nvlinks[a][b] != tree->nvlinks[b][a]) {
                diag_error(reader->diag, yaml_place(items[a]),
                           "%snvlink: %u links of GPU %u to GPU %u, but %u back", reader->path,
                           tree->nvlinks[a][b], a, b, tree->nvlinks[b][a]);
                return;
            }
    key_show(reader, "nvlink", "links of each pair", node, NULL);
}

/* own: written for this server, not for the one it is like, whose GPUs may be more or fewer. */
static void read_nvlink(struct key_reader *reader, const struct yaml_node *node, bool own,
                        struct server_type *server)
{
    const char *why;
    enum nvlink_kind kind = server->gpus > 1 ? NVLINK_SWITCH : NVLINK_NONE;
    if (node != NULL && node->kind != YAML_SCALAR && !own && node->child_count != server->gpus)
        node = NULL;
    if (node != NULL && node->kind != YAML_SCALAR) {
        read_links(reader, node, server);
        return;
    }
    if (node != NULL) {
        for (kind = 0; kind < NVLINK_KINDS; kind++)
            if (strcmp(node->text, nvlink_kind_names[kind]) == 0) break;
        if (kind == NVLINK_KINDS) {
            key_unknown_word(reader, "nvlink", node, nvlink_kind_names, NVLINK_KINDS);
            return;
        }
    }
    if (!tree_nvlinks(&server->tree, kind, server->nvlinks, &why) && own)
        diag_error(reader->diag, yaml_place(node),
                   "%snvlink: %s; this server has %u GPUs of %u links", reader->path, why,
                   server->gpus, server->nvlinks);
    else if (why != NULL) {
        kind = NVLINK_SWITCH;
        node = NULL;
        tree_nvlinks(&server->tree, kind, server->nvlinks, &why);
    }
    key_show(reader, "nvlink", nvlink_kind_names[kind], node, "default");
}

/* ---- all of it ---- */

static void derive_rates(struct key_reader *reader, struct server_type *server)
{
    char shown[SHOW_BYTES];
    if (server->uplink_bytes_per_s == 0) {
        server->uplink_bytes_per_s = server->gpu_pcie_bytes_per_s;
        key_show(reader, "pcie_uplink", show_bandwidth(server->uplink_bytes_per_s, shown), NULL,
                 "default: as gpu_pcie");
    }
    if (server->nvlink_bytes_per_s == 0 && server->nvlinks > 0) {
        server->nvlink_bytes_per_s = server->scaleup_bytes_per_s / server->nvlinks;
        key_show(reader, "nvlink_rate", show_bandwidth(server->nvlink_bytes_per_s, shown), NULL,
                 "default: scaleup over nvlink_links");
    }
}

void server_inside_read(struct key_reader *reader, const struct yaml_node *entry,
                        const struct yaml_node *below, struct server_type *server)
{
    if (server->gpus == 0) return; /* cores and memory only */
    const struct yaml_node *pcie = value_of(entry, below, "pcie");
    /* Of other devices than the type it is like, a server has a plain tree unless it says its own. */
    if (below && !yaml_child(entry, "pcie") &&
        (yaml_child(entry, "gpus") || yaml_child(entry, "nics")))
        pcie = NULL;
    if (pcie != NULL && yaml_child(entry, "pcie_switches") != NULL)
        diag_error(reader->diag, yaml_key_place(yaml_child(entry, "pcie_switches")),
                   "%spcie_switches: pcie says what hangs where; give either", reader->path);
    if (pcie != NULL && yaml_child(entry, "pcie_switches") == NULL)
        read_pcie(reader, pcie, server);
    else
        plain(reader, server);
    if (server->tree.gpus != server->gpus) return; /* a problem was told */
    server->tree.c2c = server->c2c_bytes_per_s > 0;
    read_nvlink(reader, value_of(entry, below, "nvlink"), yaml_child(entry, "nvlink") != NULL,
                server);
    derive_rates(reader, server);
}

void server_inside_matrix(struct key_reader *reader, const struct yaml_node *node, const char *path,
                          struct server_type *server)
{
    static struct topo_matrix matrix; /* 30 kB; readers run in the main thread only */
    struct server_tree tree;
    if (topo_read(path, &matrix, &tree, reader->diag) != STATUS_OK) return;
    if (tree.gpus != server->gpus || (tree.nics > 0 && tree.nics != server->nics)) {
        diag_error(reader->diag, yaml_place(node),
                   "%smatrix: the table has %u GPUs and %u NICs, the server %u and %u",
                   reader->path, tree.gpus, tree.nics, server->gpus, server->nics);
        return;
    }
    if (tree.nics == 0) { /* the table lists none: NICs are spread over the sockets */
        struct server_tree nics;
        tree_plain(&nics, server->gpus, server->nics, tree.sockets, 0);
        tree.nics = nics.nics;
        for (uint32_t i = 0; i < nics.nics; i++) {
            tree.nic[i] = nics.nic[i];
            tree.nic[i].lower = tree.nic[i].upper = (uint8_t)(LIMIT_GPUS_PER_SERVER + i);
            tree.nic[i].bridge = (uint8_t)(LIMIT_GPUS_PER_SERVER + nics.nic[i].socket);
        }
    }
    tree.c2c = server->tree.c2c;
    server->tree = tree;
    server->sockets = tree.sockets;
    key_show(reader, "matrix", node->text, node, NULL);
}
