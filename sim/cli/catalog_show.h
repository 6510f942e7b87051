/* catalog_show.h - the catalog as text and as JSON on stdout. */
#ifndef GPUPLAN_CLI_CATALOG_SHOW_H
#define GPUPLAN_CLI_CATALOG_SHOW_H

#include "io/catalog_fields.h"

/* All kinds and ids, a line each. */
enum status catalog_show_list(struct catalog *catalog, struct diag *diag);

/* One entry: a line per field with its mark, then the sources that the lines number. */
void catalog_show_entry(const struct yaml_node *entry, enum catalog_kind kind);

/* {"servers": [{"id", "file", "line", "mark", "source", "refused"?,
 *               "fields": [{"name", "text", "value"?, "unit"?, "mark", "source"}]}], ...}: all kinds, or `entry` alone
 * as {"kind", "id", ...}. value: SI; a rate of faults is the mean time between two, in s. */
enum status catalog_show_json(struct catalog *catalog, const struct yaml_node *entry,
                              enum catalog_kind kind, struct diag *diag);

#endif
