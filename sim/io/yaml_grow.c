/* yaml_grow.c - nodes, keys and nesting of a tree that is being read. */
#include "io/yaml_grow.h"

#include <string.h>

enum {
    ARENA_BYTES = 268435456, /* nodes at their cap with texts of a file at its cap fit four times */
    KEY_SLOTS = 262144,      /* power of two, over twice LIMIT_YAML_NODES                        */
    KEY_SLOTS_LEAST = 64,
};

enum status yaml_document_begin(const char *name, struct yaml_document *document, struct diag *diag)
{
    *document = (struct yaml_document){ .file = name, .arena = arena_create(ARENA_BYTES) };
    return document->arena ? STATUS_OK : diag_world(diag, "%s: out of memory", name);
}

enum status yaml_grow_begin(struct yaml_grow *grow, struct yaml_document *document,
                            struct diag *diag)
{
    grow->document = document;
    grow->diag = diag;
    /* A key and what ends it are two bytes at least, so that half of the slots stay free. */
    grow->key_slots = KEY_SLOTS_LEAST;
    while (grow->key_slots < KEY_SLOTS && grow->key_slots < document->text_bytes + 1)
        grow->key_slots *= 2;
    grow->keys = ARENA_ARRAY(document->arena, struct yaml_node *, grow->key_slots);
    return grow->keys ? STATUS_OK : yaml_grow_out_of_memory(grow);
}

struct place yaml_grow_place(const struct yaml_grow *grow, struct yaml_span span)
{
    const struct yaml_document *document = grow->document;
    return place_in_text(document->file, document->text, document->text_bytes, span.offset,
                         span.width);
}

enum status yaml_grow_out_of_memory(const struct yaml_grow *grow)
{
    return diag_world(grow->diag, "%s: out of memory", grow->document->file);
}

char *yaml_grow_text(struct yaml_grow *grow, const void *text, size_t bytes)
{
    char *copy = arena_take(grow->document->arena, bytes + 1, 1);
    if (copy != NULL) memcpy(copy, text, bytes);
    return copy;
}

enum status yaml_grow_node(struct yaml_grow *grow, enum yaml_kind kind, struct yaml_span span,
                           struct yaml_node **out)
{
    if (++grow->node_count > LIMIT_YAML_NODES)
        return diag_error(grow->diag, yaml_grow_place(grow, span),
                          "more than %d values, aliases expanded", LIMIT_YAML_NODES);
    struct yaml_node *node = ARENA_ARRAY(grow->document->arena, struct yaml_node, 1);
    if (node == NULL) return yaml_grow_out_of_memory(grow);
    *node = (struct yaml_node){ .kind = kind,
                                .text = "",
                                .offset = span.offset,
                                .width = span.width,
                                .document = grow->document };
    *out = node;
    return STATUS_OK;
}

bool yaml_grow_waits_for_key(const struct yaml_grow *grow)
{
    if (grow->depth == 0) return false;
    const struct yaml_frame *frame = &grow->frames[grow->depth - 1];
    return frame->node->kind == YAML_MAP && frame->key == NULL;
}

enum status yaml_grow_key(struct yaml_grow *grow, const char *text, size_t bytes,
                          struct yaml_span span)
{
    const char *problem = NULL;
    if (bytes == 0) problem = "a key without a name";
    if (bytes > YAML_KEY_BYTES) problem = "key longer than 1024 characters";
    if (problem) return diag_error(grow->diag, yaml_grow_place(grow, span), "%s", problem);
    struct yaml_frame *frame = &grow->frames[grow->depth - 1];
    frame->key = yaml_grow_text(grow, text, bytes);
    frame->key_span = span;
    return frame->key ? STATUS_OK : yaml_grow_out_of_memory(grow);
}

/* The slot where a map holds `key`, or the free one where it would. */
static struct yaml_node **key_slot(struct yaml_grow *grow, const struct yaml_node *map,
                                   const char *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)map * UINT64_C(0x9e3779b97f4a7c15);
    for (const char *at = key; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    hash ^= hash >> 29;
    for (;; hash++) {
        struct yaml_node **slot = &grow->keys[hash & (grow->key_slots - 1)];
        if (*slot == NULL) return slot;
        /* A node of a map remembers its map in `parent` while the tree grows. */
        if ((*slot)->parent == map && strcmp((*slot)->key, key) == 0) return slot;
    }
}

void yaml_grow_attach(struct yaml_grow *grow, struct yaml_node *node)
{
    if (grow->depth == 0) {
        grow->document->root = node;
        return;
    }
    struct yaml_frame *frame = &grow->frames[grow->depth - 1];
    node->parent = frame->node;
    if (frame->node->kind == YAML_MAP) {
        node->key = frame->key;
        node->key_offset = frame->key_span.offset;
        node->key_width = frame->key_span.width;
        frame->key = NULL;
        struct yaml_node **slot = key_slot(grow, frame->node, node->key);
        if (*slot != NULL) {
            diag_error(grow->diag, yaml_key_place(node),
                       "key '%s' stands twice; it is also in line %llu", node->key,
                       (unsigned long long)yaml_key_place(*slot).line);
            return;
        }
        *slot = node;
    }
    if (frame->last)
        frame->last->next = node;
    else
        frame->node->first = node;
    frame->last = node;
    frame->node->child_count++;
}

enum status yaml_grow_open(struct yaml_grow *grow, struct yaml_node *node)
{
    if (grow->depth == LIMIT_YAML_DEPTH)
        return diag_error(grow->diag, yaml_place(node), "nested deeper than %d levels",
                          LIMIT_YAML_DEPTH);
    grow->frames[grow->depth++] = (struct yaml_frame){ .node = node };
    return STATUS_OK;
}

void yaml_grow_close(struct yaml_grow *grow)
{
    grow->depth--;
}
