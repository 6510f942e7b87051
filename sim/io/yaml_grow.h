/* yaml_grow.h - a tree of nodes while a reader (YAML or JSON) fills it, under the caps of limits.h.
 *
 * Shared by yaml.c and json.c only. Spans are bytes of the document's text. */
#ifndef GPUPLAN_IO_YAML_GROW_H
#define GPUPLAN_IO_YAML_GROW_H

#include "io/yaml.h"

enum {
    YAML_KEY_BYTES = 1024,      /* libyaml's own limit, with a puzzling message (P28) */
    YAML_VALUE_BYTES = 1048576, /* 1 MiB (P28)                                        */
};

struct yaml_span {
    size_t offset, width;
};

/* An open list or map. */
struct yaml_frame {
    struct yaml_node *node, *last;
    const char *key; /* read, its value is still to come */
    struct yaml_span key_span;
};

struct yaml_grow {
    struct yaml_document *document; /* borrowed, like diag */
    struct diag *diag;
    struct yaml_frame frames[LIMIT_YAML_DEPTH];
    uint32_t depth, node_count;
    struct yaml_node **keys; /* [key_slots] nodes of maps by hash of map and key */
    size_t key_slots;        /* power of two */
};

/* Fills a document from its bytes; each reader takes one of these. */
enum status yaml_document_begin(const char *name, struct yaml_document *document, struct diag *diag);
enum status yaml_grow_begin(struct yaml_grow *grow, struct yaml_document *document,
                            struct diag *diag);

struct place yaml_grow_place(const struct yaml_grow *grow, struct yaml_span span);
enum status yaml_grow_out_of_memory(const struct yaml_grow *grow);

/* A copy of text[bytes] that ends in NUL and lives as long as the document, or NULL. */
char *yaml_grow_text(struct yaml_grow *grow, const void *text, size_t bytes);

/* A new node, counted under the cap, that hangs nowhere yet; its text is "". */
enum status yaml_grow_node(struct yaml_grow *grow, enum yaml_kind kind, struct yaml_span span,
                           struct yaml_node **out);

/* Whether the open node is a map that waits for a key; then yaml_grow_key gives it one. */
bool yaml_grow_waits_for_key(const struct yaml_grow *grow);
enum status yaml_grow_key(struct yaml_grow *grow, const char *text, size_t bytes,
                          struct yaml_span span);

/* Hangs a node under the open list or map; a key that stands twice is a problem (P17). */
void yaml_grow_attach(struct yaml_grow *grow, struct yaml_node *node);

/* Opens a list or map, already attached, for what follows, up to LIMIT_YAML_DEPTH; closes it. */
enum status yaml_grow_open(struct yaml_grow *grow, struct yaml_node *node);
void yaml_grow_close(struct yaml_grow *grow);

#endif
