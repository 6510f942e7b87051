/* yaml.c - libyaml's events -> a tree of nodes, under caps of our own.
 *
 * libyaml 0.2.5 has no depth limit and takes quadratic time in depth (P27), does not notice
 * duplicate keys, undefined aliases or a second document, and counts its marks in characters from
 * 0. Each is handled here; the file looks at events one by one and stops early. */
#include "io/yaml.h"

#include "io/yaml_text.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum {
    ARENA_BYTES = 268435456, /* nodes at their cap with texts of a file at its cap fit four times */
    KEY_BYTES = 1024,        /* libyaml's own limit, with a puzzling message (P28)               */
    VALUE_BYTES = 1048576,   /* 1 MiB (P28)                                                      */
    ANCHORS = 1000,          /* searched one by one                                              */
    KEY_SLOTS = 262144,      /* power of two, over twice LIMIT_YAML_NODES                        */
};

/* An open list or map. */
struct frame {
    struct yaml_node *node, *last;
    const char *key; /* read, its value is still to come */
    size_t key_offset, key_width;
};

struct anchor {
    const char *name;
    struct yaml_node *node;
};

struct builder {
    yaml_parser_t parser;
    struct yaml_document *document;
    struct diag *diag;
    struct yaml_cursor cursor;
    struct frame frames[LIMIT_YAML_DEPTH];
    uint32_t depth, node_count, anchor_count;
    struct anchor anchors[ANCHORS];
    struct yaml_node **keys; /* [KEY_SLOTS] nodes of maps by hash of map and key */
};

/* ---- places ---- */

static struct place place_of_marks(struct builder *builder, yaml_mark_t from, yaml_mark_t to)
{
    const struct yaml_document *document = builder->document;
    const size_t start = yaml_cursor_byte(&builder->cursor, document, from.index);
    const size_t stop = yaml_cursor_byte(&builder->cursor, document, to.index);
    return place_in_text(document->file, document->text, document->text_bytes, start, stop - start);
}

static struct place place_of(struct builder *builder, const yaml_event_t *event)
{
    return place_of_marks(builder, event->start_mark, event->end_mark);
}

/* A line that starts like a key: libyaml points behind it, people look for the line itself. */
static enum status key_without_colon(struct builder *builder)
{
    const yaml_mark_t mark = builder->parser.context_mark;
    struct place at = place_of_marks(builder, mark, mark);
    size_t offset = 0;
    const uint32_t code = yaml_text_look_alike(at.text, at.text_bytes, &offset);
    if (code != 0) {
        at.column = (uint32_t)offset + 1;
        return diag_error(builder->diag, at,
                          "U+%04X only looks like a plain character; retype it, or quote the text",
                          (unsigned)code);
    }
    at.width = (uint32_t)(at.text_bytes - at.column + 1);
    if (at.width > KEY_BYTES)
        return diag_error(builder->diag, at, "key longer than %d characters", KEY_BYTES);
    return diag_error(builder->diag, at, "no key with its ':'; is the blank missing after ':'?");
}

/* What libyaml says, with a hint where its words would puzzle (P14, P22, P23, P28). */
static enum status parser_problem(struct builder *builder)
{
    const yaml_parser_t *parser = &builder->parser;
    struct yaml_document *document = builder->document;
    if (parser->error == YAML_MEMORY_ERROR)
        return diag_world(builder->diag, "%s: out of memory", document->file);
    const struct place at = place_of_marks(builder, parser->problem_mark, parser->problem_mark);
    const size_t offset = builder->cursor.byte;
    const char next = offset < document->text_bytes ? document->text[offset] : '\0';
    const char *problem = parser->problem ? parser->problem : "not YAML";
    if (next == '\t' && strstr(problem, "cannot start any token"))
        return diag_error(builder->diag, at, "tab used for indentation; use blanks");
    if (strstr(problem, "cannot start any token"))
        return diag_error(builder->diag, at, "'%c' cannot start a value; put the value in quotes",
                          next);
    if (at.column > KEY_BYTES && strstr(problem, "mapping values"))
        return diag_error(builder->diag, at, "key longer than %d characters", KEY_BYTES);
    if (strstr(problem, "could not find expected ':'")) return key_without_colon(builder);
    return diag_error(builder->diag, at, "%s%s%s", problem, parser->context ? " " : "",
                      parser->context ? parser->context : "");
}

/* ---- nodes ---- */

static const char *keep_text(struct builder *builder, const void *text, size_t bytes)
{
    char *copy = arena_take(builder->document->arena, bytes + 1, 1);
    if (copy != NULL) memcpy(copy, text, bytes);
    return copy;
}

static enum status out_of_memory(struct builder *builder)
{
    return diag_world(builder->diag, "%s: out of memory", builder->document->file);
}

/* Takes a node for an event, counted under the cap. */
static enum status node_take(struct builder *builder, const yaml_event_t *event,
                             struct yaml_node **out)
{
    if (++builder->node_count > LIMIT_YAML_NODES)
        return diag_error(builder->diag, place_of(builder, event),
                          "more than %d values, aliases expanded", LIMIT_YAML_NODES);
    *out = ARENA_ARRAY(builder->document->arena, struct yaml_node, 1);
    if (*out == NULL) return out_of_memory(builder);
    (*out)->document = builder->document;
    return STATUS_OK;
}

/* The slot where a map holds `key`, or the free one where it would. */
static struct yaml_node **key_slot(struct builder *builder, const struct yaml_node *map,
                                   const char *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)map * UINT64_C(0x9e3779b97f4a7c15);
    for (const char *at = key; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    hash ^= hash >> 29;
    for (;; hash++) {
        struct yaml_node **slot = &builder->keys[hash & (KEY_SLOTS - 1)];
        if (*slot == NULL) return slot;
        /* A node of a map remembers its map in `parent` while the tree grows. */
        if ((*slot)->parent == map && strcmp((*slot)->key, key) == 0) return slot;
    }
}

/* Hangs a node under the open list or map; a key that stands twice is refused (P17). */
static void attach(struct builder *builder, struct yaml_node *node)
{
    if (builder->depth == 0) {
        builder->document->root = node;
        return;
    }
    struct frame *frame = &builder->frames[builder->depth - 1];
    node->parent = frame->node;
    if (frame->node->kind == YAML_MAP) {
        node->key = frame->key;
        node->key_offset = frame->key_offset;
        node->key_width = frame->key_width;
        frame->key = NULL;
        struct yaml_node **slot = key_slot(builder, frame->node, node->key);
        if (*slot != NULL) {
            diag_error(builder->diag, yaml_key_place(node),
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

static enum status add_anchor(struct builder *builder, const yaml_event_t *event,
                              const yaml_char_t *name, struct yaml_node *node)
{
    if (name == NULL) return STATUS_OK;
    if (builder->anchor_count == ANCHORS)
        return diag_error(builder->diag, place_of(builder, event), "more than %d anchors", ANCHORS);
    const char *kept = keep_text(builder, name, strlen((const char *)name));
    if (kept == NULL) return out_of_memory(builder);
    builder->anchors[builder->anchor_count++] = (struct anchor){ kept, node };
    return STATUS_OK;
}

/* ---- scalars ---- */

/* Problems of a text that do not hide later ones. */
static void check_scalar(struct builder *builder, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    const size_t bytes = event->data.scalar.length;
    if (bytes > VALUE_BYTES)
        diag_error(builder->diag, place_of(builder, event), "a value of more than 1 MiB");
    if (memchr(text, '\0', bytes))
        diag_error(builder->diag, place_of(builder, event), "a text with a NUL byte in it");
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return;
    size_t offset = 0;
    const uint32_t code = yaml_text_look_alike(text, bytes, &offset);
    if (code == 0) return;
    struct place at = place_of(builder, event);
    at.column += (uint32_t)offset;
    at.width = 1;
    diag_error(builder->diag, at,
               "U+%04X only looks like a plain character; retype it, or quote the text",
               (unsigned)code);
}

/* Where an event lies in the text. */
static void set_span(struct builder *builder, const yaml_event_t *event, size_t *offset,
                     size_t *width)
{
    *offset = yaml_cursor_byte(&builder->cursor, builder->document, event->start_mark.index);
    *width = yaml_cursor_byte(&builder->cursor, builder->document, event->end_mark.index) - *offset;
}

static const char *key_problem(const yaml_event_t *event)
{
    if (event->data.scalar.anchor) return "anchors stand on values, not on keys";
    if (event->data.scalar.length == 0) return "a key without a name";
    if (event->data.scalar.length > KEY_BYTES) return "key longer than 1024 characters";
    if (strcmp((const char *)event->data.scalar.value, "<<") == 0)
        return "merge keys '<<' are not read; write the keys out";
    return NULL;
}

/* A scalar where the open map waits for a key. */
static enum status read_key(struct builder *builder, const yaml_event_t *event)
{
    const char *problem = key_problem(event);
    if (problem) return diag_error(builder->diag, place_of(builder, event), "%s", problem);
    struct frame *frame = &builder->frames[builder->depth - 1];
    frame->key = keep_text(builder, event->data.scalar.value, event->data.scalar.length);
    set_span(builder, event, &frame->key_offset, &frame->key_width);
    return frame->key ? STATUS_OK : out_of_memory(builder);
}

static enum status read_scalar(struct builder *builder, const yaml_event_t *event)
{
    struct yaml_node *node;
    TRY(node_take(builder, event, &node));
    node->kind = YAML_SCALAR;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text_bytes = event->data.scalar.length;
    node->text = keep_text(builder, event->data.scalar.value, node->text_bytes);
    if (node->text == NULL) return out_of_memory(builder);
    set_span(builder, event, &node->offset, &node->width);
    TRY(add_anchor(builder, event, event->data.scalar.anchor, node));
    attach(builder, node);
    return STATUS_OK;
}

/* ---- lists, maps, aliases ---- */

static enum status open_node(struct builder *builder, const yaml_event_t *event,
                             enum yaml_kind kind, const yaml_char_t *anchor)
{
    if (builder->depth == LIMIT_YAML_DEPTH)
        return diag_error(builder->diag, place_of(builder, event), "nested deeper than %d levels",
                          LIMIT_YAML_DEPTH);
    struct yaml_node *node;
    TRY(node_take(builder, event, &node));
    node->kind = kind;
    node->text = "";
    set_span(builder, event, &node->offset, &node->width);
    TRY(add_anchor(builder, event, anchor, node));
    attach(builder, node);
    builder->frames[builder->depth++] = (struct frame){ .node = node };
    return STATUS_OK;
}

static bool is_open(const struct builder *builder, const struct yaml_node *node)
{
    for (uint32_t i = 0; i < builder->depth; i++)
        if (builder->frames[i].node == node) return true;
    return false;
}

/* A copy of the tree below `from`: its texts are shared, its nodes count (P19). */
static enum status copy_tree(struct builder *builder, const yaml_event_t *event,
                             const struct yaml_node *from, uint32_t depth, struct yaml_node **out)
{
    if (depth > LIMIT_YAML_DEPTH)
        return diag_error(builder->diag, place_of(builder, event), "nested deeper than %d levels",
                          LIMIT_YAML_DEPTH);
    TRY(node_take(builder, event, out));
    **out = *from;
    (*out)->first = (*out)->next = NULL;
    struct yaml_node **tail = &(*out)->first;
    for (const struct yaml_node *child = from->first; child != NULL; child = child->next) {
        TRY(copy_tree(builder, event, child, depth + 1, tail));
        (*tail)->parent = *out;
        tail = &(*tail)->next;
    }
    return STATUS_OK;
}

static enum status read_alias(struct builder *builder, const yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;
    for (uint32_t i = builder->anchor_count; i-- > 0;) {
        if (strcmp(builder->anchors[i].name, name) != 0) continue;
        if (is_open(builder, builder->anchors[i].node))
            return diag_error(builder->diag, place_of(builder, event),
                              "alias '*%s' stands inside its own anchor", name);
        struct yaml_node *copy;
        TRY(copy_tree(builder, event, builder->anchors[i].node, builder->depth, &copy));
        copy->key = NULL;
        attach(builder, copy);
        return STATUS_OK;
    }
    return diag_error(builder->diag, place_of(builder, event),
                      "alias '*%s' has no anchor '&%s' before it", name, name);
}

/* ---- events ---- */

static const yaml_char_t *tag_of(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.tag;
    default:
        return NULL;
    }
}

static bool waits_for_key(const struct builder *builder)
{
    if (builder->depth == 0) return false;
    const struct frame *frame = &builder->frames[builder->depth - 1];
    return frame->node->kind == YAML_MAP && frame->key == NULL;
}

static enum status take_event(struct builder *builder, const yaml_event_t *event)
{
    const yaml_char_t *tag = tag_of(event);
    if (tag != NULL) /* P13 */
        diag_error(builder->diag, place_of(builder, event),
                   "tag '%s' is not read; the key decides the type", (const char *)tag);
    switch (event->type) {
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        builder->depth--;
        return STATUS_OK;
    case YAML_SCALAR_EVENT:
        check_scalar(builder, event);
        return waits_for_key(builder) ? read_key(builder, event) : read_scalar(builder, event);
    default:
        break;
    }
    if (waits_for_key(builder)) /* P29 */
        return diag_error(builder->diag, place_of(builder, event), "keys are plain names");
    if (event->type == YAML_ALIAS_EVENT) return read_alias(builder, event);
    return event->type == YAML_SEQUENCE_START_EVENT
               ? open_node(builder, event, YAML_LIST, event->data.sequence_start.anchor)
               : open_node(builder, event, YAML_MAP, event->data.mapping_start.anchor);
}

/* One event of the stream; *done at its end. */
static enum status step(struct builder *builder, bool *done)
{
    yaml_event_t event;
    if (!yaml_parser_parse(&builder->parser, &event)) return parser_problem(builder);
    enum status status = STATUS_OK;
    if (event.type == YAML_STREAM_END_EVENT)
        *done = true;
    else if (event.type == YAML_DOCUMENT_START_EVENT && builder->document->root != NULL)
        status = diag_error(builder->diag, place_of(builder, &event), "one document per file");
    else if (event.type != YAML_STREAM_START_EVENT && event.type != YAML_DOCUMENT_START_EVENT &&
             event.type != YAML_DOCUMENT_END_EVENT)
        status = take_event(builder, &event);
    yaml_event_delete(&event);
    /* Later problems would not be shown, and each one costs a walk through the text. */
    if (diag_error_count(builder->diag) >= LIMIT_DIAG_PROBLEMS) return STATUS_INPUT;
    return status;
}

static enum status build(struct builder *builder)
{
    struct yaml_document *document = builder->document;
    const uint64_t errors = diag_error_count(builder->diag);
    builder->keys = ARENA_ARRAY(document->arena, struct yaml_node *, KEY_SLOTS);
    if (builder->keys == NULL || !yaml_parser_initialize(&builder->parser))
        return out_of_memory(builder);
    yaml_parser_set_input_string(&builder->parser, (const unsigned char *)document->text,
                                 document->text_bytes);
    yaml_parser_set_encoding(&builder->parser, YAML_UTF8_ENCODING);
    enum status status = STATUS_OK;
    for (bool done = false; !done && status == STATUS_OK;) status = step(builder, &done);
    yaml_parser_delete(&builder->parser);
    if (status == STATUS_OK && document->root == NULL) /* P21 */
        status = diag_error(builder->diag, (struct place){ .file = document->file },
                            "no document in %s", document->file);
    if (status == STATUS_OK && diag_error_count(builder->diag) > errors) status = STATUS_INPUT;
    return status;
}

enum status yaml_read_text(const char *name, const char *text, size_t text_bytes,
                           struct yaml_document *document, struct diag *diag)
{
    *document = (struct yaml_document){ .file = name, .arena = arena_create(ARENA_BYTES) };
    struct builder *builder = calloc(1, sizeof *builder);
    if (document->arena == NULL || builder == NULL) {
        free(builder);
        return diag_world(diag, "%s: out of memory", name);
    }
    builder->document = document;
    builder->diag = diag;
    enum status status = yaml_text_take(document, (const unsigned char *)text, text_bytes, diag);
    if (status == STATUS_OK) status = build(builder);
    free(builder);
    return status;
}
