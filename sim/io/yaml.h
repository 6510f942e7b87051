/* yaml.h - one YAML document as a tree of nodes that remember their places.
 *
 * Scalars keep the text as written; the schema decides their type (PITFALLS rule 1). Aliases are
 * expanded under caps, duplicate keys, tags, several documents, tabs, bad UTF-8 and look-alike
 * blanks are refused with their place (P13-P31). yaml.h of libyaml is included by yaml.c only. */
#ifndef GPUPLAN_IO_YAML_H
#define GPUPLAN_IO_YAML_H

#include "base/arena.h"
#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_document;

struct yaml_node {
    enum yaml_kind kind;
    bool quoted;                /* a quoted scalar: "null" is text                          */
    const char *text;           /* scalar; NUL-ended, text_bytes long                       */
    size_t text_bytes;
    const char *key;            /* name under which a map holds this node; NULL in lists    */
    size_t offset, width;       /* of the value in the document                             */
    size_t key_offset, key_width;
    struct yaml_node *first;    /* children in document order                               */
    struct yaml_node *next;     /* next sibling                                             */
    uint32_t child_count;
    const struct yaml_document *document; /* whose text offset and key_offset count in      */
    struct yaml_node *parent;   /* the list or map that holds it; NULL at the root          */
};

struct yaml_document {
    const char *file;           /* as the user wrote it; borrowed                           */
    char *text;                 /* whole text, owned by the arena                           */
    size_t text_bytes;
    struct yaml_node *root;
    struct arena *arena;        /* owns all nodes; NULL before a read                       */
};

/* Reads a file (JSON when its name ends in .json), or a YAML text already in memory. On failure the problems are in diag. */
enum status yaml_read_file(const char *path, struct yaml_document *document, struct diag *diag);
enum status yaml_read_text(const char *name, const char *text, size_t text_bytes,
                           struct yaml_document *document, struct diag *diag);
void yaml_clear(struct yaml_document *document);

/* STATUS_INPUT with a message unless the document's root is a mapping (P22). */
enum status yaml_require_map(const struct yaml_document *document, struct diag *diag);

/* True for a value left out: nothing, ~ or null, not quoted (P07). */
bool yaml_is_null(const struct yaml_node *node);

/* The child of a map named key, or NULL. */
struct yaml_node *yaml_child(const struct yaml_node *map, const char *key);

/* Places for messages: the value, or the key of a node. */
struct place yaml_place(const struct yaml_node *node);
struct place yaml_key_place(const struct yaml_node *node);

#endif
