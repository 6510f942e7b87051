/* catalog_collectives.c - collectives.yaml: lines of measured collectives, and which server types they hold for. */
#include "io/catalog_fields.h"

#include "base/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIT_LINES = 3 };

bool catalog_word(const char **text, char *out, size_t out_bytes)
{
    const char *begin = *text + strspn(*text, " ");
    const size_t bytes = strcspn(begin, " ");
    if (bytes == 0) return false;
    snprintf(out, out_bytes, "%.*s", (int)bytes, begin);
    *text = begin + bytes;
    return true;
}

static const struct yaml_node *text_of(const struct yaml_node *entry, const char *key)
{
    const struct yaml_node *node = yaml_child(entry, key);
    return node != NULL && node->kind == YAML_SCALAR && node->text[0] ? node : NULL;
}

/* The part of a list up to its next comma, without blanks around; false behind the last. */
static bool next_part(const char **rest, const char **part, size_t *bytes)
{
    const char *begin = *rest + strspn(*rest, " ");
    if (*begin == '\0') return false;
    const size_t length = strcspn(begin, ",");
    *rest = begin + length + (begin[length] == ',');
    *part = begin;
    for (*bytes = length; *bytes > 0 && begin[*bytes - 1] == ' ';) --*bytes;
    return true;
}

/* "35us 38 GB/s": a duration, a blank, a bandwidth. */
static bool read_line(const char *part, size_t bytes, struct fit_line *line, struct why *why)
{
    const char *blank = memchr(part, ' ', bytes);
    const size_t first = blank ? (size_t)(blank - part) : bytes;
    if (!quantity_duration_s(part, first, &line->latency_s, why)) return false;
    if (blank == NULL) {
        snprintf(why->text, sizeof why->text,
                 "a latency and a bus bandwidth are expected, as 35us 38 GB/s");
        return false;
    }
    return quantity_bandwidth(blank + 1, bytes - first - 1, &line->bytes_per_s, why);
}

static void cannot_read(struct key_reader *reader, const struct yaml_node *node, const char *part,
                        size_t bytes, const struct why *why)
{
    diag_error(reader->diag, yaml_place(node), "%s%s: cannot read '%.*s': %s", reader->path,
               node->key, (int)bytes, part, why->text);
}

/* Slower protocols start sooner: both numbers rise along the list. */
static void read_lines(struct key_reader *reader, const struct yaml_node *entry, const char *key,
                       struct fit_line *lines, size_t most)
{
    const struct yaml_node *node = text_of(entry, key);
    if (node == NULL) return;
    struct why why;
    const char *part;
    size_t bytes, count = 0;
    for (const char *rest = node->text; next_part(&rest, &part, &bytes); count++) {
        if (count == most) {
            diag_error(reader->diag, yaml_place(node), "%s%s: at most %zu lines", reader->path, key,
                       most);
            return;
        }
        if (!read_line(part, bytes, &lines[count], &why)) {
            cannot_read(reader, node, part, bytes, &why);
            return;
        }
        if (count > 0 && (lines[count].latency_s <= lines[count - 1].latency_s ||
                          lines[count].bytes_per_s <= lines[count - 1].bytes_per_s))
            diag_error(reader->diag, yaml_place(node),
                       "%s%s: latency and bandwidth must rise from line to line, '%.*s' does not",
                       reader->path, key, (int)bytes, part);
    }
}

/* "2:208 GB/s, 3:20 GB/s". */
static void read_ring(struct key_reader *reader, const struct yaml_node *entry,
                      struct server_fit *fit)
{
    const struct yaml_node *node = text_of(entry, "ring");
    if (node == NULL) return;
    struct why why;
    const char *part;
    size_t bytes;
    for (const char *rest = node->text; next_part(&rest, &part, &bytes);) {
        char *colon;
        const unsigned long gpus = strtoul(part, &colon, 10);
        if (*colon != ':' || gpus < 2 || gpus > LIMIT_GPUS_PER_SERVER) {
            diag_error(reader->diag, yaml_place(node),
                       "%sring: '%.*s' is not GPUs:bandwidth, as 2:208 GB/s, with 2 to %d GPUs",
                       reader->path, (int)bytes, part, LIMIT_GPUS_PER_SERVER);
            return;
        }
        const size_t used = (size_t)(colon + 1 - part);
        if (!quantity_bandwidth(colon + 1, bytes - used, &fit->ring_bytes_per_s[gpus], &why)) {
            cannot_read(reader, node, part, bytes, &why);
            return;
        }
    }
}

void catalog_read_collective(struct key_reader *reader, const struct yaml_node *entry,
                             struct server_fit *fit)
{
    *fit = (struct server_fit){ 0 };
    keys_read(reader, "collective.", entry, NULL, fit);
    read_lines(reader, entry, "all_reduce", fit->all_reduce, FIT_LINES);
    read_lines(reader, entry, "all_gather", fit->all_gather, FIT_LINES);
    read_lines(reader, entry, "alltoall", fit->all_to_all, FIT_LINES);
    read_lines(reader, entry, "nvls", fit->nvls, FIT_LINES);
    read_lines(reader, entry, "tree_small", &fit->tree_small, 1);
    read_lines(reader, entry, "two_servers", &fit->two_servers, 1);
    read_ring(reader, entry, fit);
}

static bool holds_for(const struct yaml_node *entry, const char *id)
{
    const struct yaml_node *servers = text_of(entry, "servers");
    char word[LIMIT_NAME_BYTES];
    if (servers == NULL) return false;
    for (const char *text = servers->text; catalog_word(&text, word, sizeof word);)
        if (strcmp(word, id) == 0) return true;
    return false;
}

/* The link that was measured, as the catalog has it. */
static void read_network(struct catalog *catalog, const struct yaml_node *entry,
                         struct server_fit *fit, struct diag *diag)
{
    if (fit->over[0] == '\0' || diag_error_count(diag) > 0) return;
    const struct yaml_node *node = catalog_find(catalog, CATALOG_LINKS, fit->over, diag);
    struct key_reader reader = { .diag = diag };
    struct link_type link = { 0 };
    if (node == NULL) {
        const struct yaml_node *over = yaml_child(entry, "over");
        diag_error(diag, yaml_place(over ? over : entry), "over: no link '%s' in the catalog",
                   fit->over);
        return;
    }
    catalog_read_link(&reader, node, NULL, &link);
    fit->over_hop_s = link.hop_s;
    fit->over_tree_hop_s = link.tree_hop_s;
}

void catalog_read_fit(struct catalog *catalog, const char *id, struct server_type *server,
                      struct diag *diag)
{
    server->fit = (struct server_fit){ 0 };
    if (id[0] == '\0' || diag_error_count(diag) > 0) return;
    const struct yaml_node *entry = catalog_first(catalog, CATALOG_COLLECTIVES, diag);
    while (entry != NULL && !holds_for(entry, id)) entry = entry->next;
    const struct yaml_node *measured = catalog_find(catalog, CATALOG_SERVERS, id, diag);
    if (entry == NULL || measured == NULL) return;
    struct key_reader reader = { .diag = diag };
    struct server_type type = { 0 };
    catalog_read_server(&reader, measured, NULL, &type);
    catalog_read_collective(&reader, entry, &server->fit);
    server->fit.scaleup_bytes_per_s = type.scaleup_bytes_per_s;
    server->fit.scaleup_hop_s = type.scaleup_hop_s;
    server->fit.nics_bytes_per_s = type.nics * type.nic_bytes_per_s;
    read_network(catalog, entry, &server->fit, diag);
}
