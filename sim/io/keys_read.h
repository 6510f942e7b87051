/* keys_read.h - a map of a YAML document -> the fields of a struct, by the table of spec/keys.h.
 *
 * The reader goes through the table's rows, not through the document, so that every key ends up with a value, and writes
 * down each value with its origin. Problems are collected in diag; the caller asks diag_error_count. */
#ifndef GPUPLAN_IO_KEYS_READ_H
#define GPUPLAN_IO_KEYS_READ_H

#include "base/diag.h"
#include "io/yaml.h"
#include "spec/keys.h"

#include <stdio.h>

struct key_reader;

/* What the reader of a KEY_CUSTOM row gets. */
struct key_found {
    const struct key_row *row;
    const struct yaml_node *node;  /* the value; NULL when it is left out             */
    const struct yaml_node *map;   /* the map that holds it, or NULL                  */
    const struct yaml_node *below; /* as in keys_read                                 */
    void *target;                  /* as in keys_read                                 */
};

/* Readers of KEY_CUSTOM rows, and of computed defaults ("=...") of any other row: those are called
 * with node NULL when the value is left out. */
struct key_custom {
    const char *path;
    void (*read)(struct key_reader *reader, const struct key_found *found);
};

/* The scheduler's word is none: keys of all are read, and none of them is missing. */
#define KINDS_UNKNOWN UINT32_MAX

struct key_reader {
    struct diag *diag;
    FILE *resolved;                    /* lines "path: value  # origin"; NULL = not wanted           */
    char path[256];                    /* shown in front of keys: "" or "layouts.dense8.servers."    */
    const char *hidden;                /* a key that key_show leaves out, or NULL                    */
    const struct key_custom *customs;  /* ends with a NULL path                                      */
    uint32_t kinds;                    /* bit of the chosen scheduler; 0: rows of all are read       */
    void *context;                     /* of the custom readers                                      */
};

/* Reads all keys below `prefix` from `node` (NULL: left out) into the struct at `target`. What node leaves out is taken from
 * `below` (a catalog entry, or NULL), then from the table's defaults. */
void keys_read(struct key_reader *reader, const char *prefix, const struct yaml_node *node,
               const struct yaml_node *below, void *target);

/* One scalar by the type of its row into its field of the struct at target; false after a problem. */
bool key_scalar(struct key_reader *reader, const struct key_row *row, const struct yaml_node *node,
                void *target);

/* The range of a row in its unit, "1 to 10000"; "" when it has none. */
enum { KEY_RANGE_BYTES = 144 };
void key_range_text(const struct key_row *row, char out[KEY_RANGE_BYTES]);

/* Puts "name." or "name" behind the shown path; pass what it returns to key_leave. */
size_t key_enter(struct key_reader *reader, const char *name);
void key_leave(struct key_reader *reader, size_t length);

/* Writes a line of the resolved scenario. node: where the value was written, NULL = `origin` says it. */
void key_show(struct key_reader *reader, const char *name, const char *value,
              const struct yaml_node *node, const char *origin);

/* Problems in the reader's words. */
void key_missing(struct key_reader *reader, const struct key_row *row, const struct yaml_node *map);
void key_wrong_kind(struct key_reader *reader, const char *name, const struct yaml_node *node,
                    const char *wanted);
void key_unknown_word(struct key_reader *reader, const char *name, const struct yaml_node *node,
                      const char *const *words, size_t count);

/* "a list", "a mapping", "a value". */
const char *yaml_kind_name(const struct yaml_node *node);

#endif
