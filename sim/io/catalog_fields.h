/* catalog_fields.h - an entry of the catalog field by field: value, unit, how well it is known, where from.
 *
 * A row of the catalog has a mark and a source; `notes: {marks: {...}, sources: {...}}` says where a field differs.
 * Components of failure rates and entries of mixes are rows within a row. */
#ifndef GPUPLAN_IO_CATALOG_FIELDS_H
#define GPUPLAN_IO_CATALOG_FIELDS_H

#include "io/catalog.h"

struct catalog_field {
    char name[96];                /* "nic", "notes.typical", "train.model", "gpu.rate", "entries[0].weight" */
    const struct key_row *row;    /* its meaning and type                                             */
    const struct yaml_node *node; /* its value as written                                             */
    bool is_number;
    double value;                 /* numbers: in `unit`                                               */
    const char *unit;             /* "B/s", "W", ...; "" = a text, a count or a ratio                 */
    const char *mark, *source;    /* of this field; "" when nothing says                              */
};

typedef void catalog_visit(const struct catalog_field *field, void *context);

/* Calls visit for each field that the entry writes, in the order of the file; id, mark, source and
 * the maps of marks and sources are not fields. The entry has passed catalog_check. */
void catalog_each_field(enum catalog_kind kind, const struct yaml_node *entry, catalog_visit *visit,
                        void *context);

/* The next word of a text by blanks, copied to out; false behind the last. */
bool catalog_word(const char **text, char *out, size_t out_bytes);

/* An entry against the table of keys: unknown keys, ranges, marks and sources of fields that it does not have, ids that
 * name no GPU. Refused entries may leave out what a simulation needs. Problems go to diag. */
enum status catalog_check(struct catalog *catalog, enum catalog_kind kind,
                          const struct yaml_node *entry, struct diag *diag);

#endif
