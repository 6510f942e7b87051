/* yaml.c - libyaml's events -> a tree of nodes, under caps of our own.
 *
 * libyaml 0.2.5 has no depth limit and takes quadratic time in depth (P27), does not notice
 * duplicate keys, undefined aliases or a second document, and counts its marks in characters from
 * 0. Each is handled here; the file looks at events one by one and stops early. */
#include "io/yaml.h"

#include "io/yaml_grow.h"
#include "io/yaml_text.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { ANCHORS = 1000 /* searched one by one */ };

struct anchor {
    const char *name;
    struct yaml_node *node;
};

struct builder {
    struct yaml_grow grow;
    yaml_parser_t parser;
    struct yaml_cursor cursor;
    struct anchor anchors[ANCHORS];
    uint32_t anchor_count;
};

/* ---- places ---- */

static struct yaml_span span_of_marks(struct builder *builder, yaml_mark_t from, yaml_mark_t to)
{
    const struct yaml_document *document = builder->grow.document;
    const size_t start = yaml_cursor_byte(&builder->cursor, document, from.index);
    const size_t stop = yaml_cursor_byte(&builder->cursor, document, to.index);
    return (struct yaml_span){ start, stop - start };
}

static struct yaml_span span_of(struct builder *builder, const yaml_event_t *event)
{
    return span_of_marks(builder, event->start_mark, event->end_mark);
}

static struct place place_of(struct builder *builder, const yaml_event_t *event)
{
    return yaml_grow_place(&builder->grow, span_of(builder, event));
}

/* A line that starts like a key: libyaml points behind it, people look for the line itself. */
static enum status key_without_colon(struct builder *builder)
{
    const yaml_mark_t mark = builder->parser.context_mark;
    struct place at = yaml_grow_place(&builder->grow, span_of_marks(builder, mark, mark));
    size_t offset = 0;
    const uint32_t code = yaml_text_look_alike(at.text, at.text_bytes, &offset);
    if (code != 0) {
        at.column = (uint32_t)offset + 1;
        return diag_error(builder->grow.diag, at,
                          "U+%04X only looks like a plain character; retype it, or quote the text",
                          (unsigned)code);
    }
    at.width = (uint32_t)(at.text_bytes - at.column + 1);
    if (at.width > YAML_KEY_BYTES)
        return diag_error(builder->grow.diag, at, "key longer than %d characters", YAML_KEY_BYTES);
    return diag_error(builder->grow.diag, at,
                      "no key with its ':'; is the blank missing after ':'?");
}

/* What libyaml says, with a hint where its words would puzzle (P14, P22, P23, P28). */
static enum status parser_problem(struct builder *builder)
{
    const yaml_parser_t *parser = &builder->parser;
    struct yaml_document *document = builder->grow.document;
    if (parser->error == YAML_MEMORY_ERROR)
        return diag_world(builder->grow.diag, "%s: out of memory", document->file);
    const struct place at = yaml_grow_place(
        &builder->grow, span_of_marks(builder, parser->problem_mark, parser->problem_mark));
    const size_t offset = builder->cursor.byte;
    const char next = offset < document->text_bytes ? document->text[offset] : '\0';
    const char *problem = parser->problem ? parser->problem : "not YAML";
    if (next == '\t' && strstr(problem, "cannot start any token"))
        return diag_error(builder->grow.diag, at, "tab used for indentation; use blanks");
    if (strstr(problem, "cannot start any token"))
        return diag_error(builder->grow.diag, at,
                          "'%c' cannot start a value; put the value in quotes", next);
    if (at.column > YAML_KEY_BYTES && strstr(problem, "mapping values"))
        return diag_error(builder->grow.diag, at, "key longer than %d characters", YAML_KEY_BYTES);
    if (strstr(problem, "could not find expected ':'")) return key_without_colon(builder);
    return diag_error(builder->grow.diag, at, "%s%s%s", problem, parser->context ? " " : "",
                      parser->context ? parser->context : "");
}

/* ---- scalars ---- */

static enum status add_anchor(struct builder *builder, const yaml_event_t *event,
                              const yaml_char_t *name, struct yaml_node *node)
{
    if (name == NULL) return STATUS_OK;
    if (builder->anchor_count == ANCHORS)
        return diag_error(builder->grow.diag, place_of(builder, event), "more than %d anchors",
                          ANCHORS);
    const char *kept = yaml_grow_text(&builder->grow, name, strlen((const char *)name));
    if (kept == NULL) return yaml_grow_out_of_memory(&builder->grow);
    builder->anchors[builder->anchor_count++] = (struct anchor){ kept, node };
    return STATUS_OK;
}

/* Problems of a text that do not hide later ones. */
static void check_scalar(struct builder *builder, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    const size_t bytes = event->data.scalar.length;
    if (bytes > YAML_VALUE_BYTES)
        diag_error(builder->grow.diag, place_of(builder, event), "a value of more than 1 MiB");
    if (memchr(text, '\0', bytes))
        diag_error(builder->grow.diag, place_of(builder, event), "a text with a NUL byte in it");
    if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return;
    size_t offset = 0;
    const uint32_t code = yaml_text_look_alike(text, bytes, &offset);
    if (code == 0) return;
    struct place at = place_of(builder, event);
    at.column += (uint32_t)offset;
    at.width = 1;
    diag_error(builder->grow.diag, at,
               "U+%04X only looks like a plain character; retype it, or quote the text",
               (unsigned)code);
}

static const char *key_problem(const yaml_event_t *event)
{
    if (event->data.scalar.anchor) return "anchors stand on values, not on keys";
    if (strcmp((const char *)event->data.scalar.value, "<<") == 0)
        return "merge keys '<<' are not read; write the keys out";
    return NULL;
}

/* A scalar where the open map waits for a key. */
static enum status read_key(struct builder *builder, const yaml_event_t *event)
{
    const char *problem = key_problem(event);
    if (problem) return diag_error(builder->grow.diag, place_of(builder, event), "%s", problem);
    return yaml_grow_key(&builder->grow, (const char *)event->data.scalar.value,
                         event->data.scalar.length, span_of(builder, event));
}

static enum status read_scalar(struct builder *builder, const yaml_event_t *event)
{
    struct yaml_node *node;
    TRY(yaml_grow_node(&builder->grow, YAML_SCALAR, span_of(builder, event), &node));
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text_bytes = event->data.scalar.length;
    node->text = yaml_grow_text(&builder->grow, event->data.scalar.value, node->text_bytes);
    if (node->text == NULL) return yaml_grow_out_of_memory(&builder->grow);
    TRY(add_anchor(builder, event, event->data.scalar.anchor, node));
    yaml_grow_attach(&builder->grow, node);
    return STATUS_OK;
}

/* ---- lists, maps, aliases ---- */

static enum status open_node(struct builder *builder, const yaml_event_t *event,
                             enum yaml_kind kind, const yaml_char_t *anchor)
{
    struct yaml_node *node;
    TRY(yaml_grow_node(&builder->grow, kind, span_of(builder, event), &node));
    TRY(add_anchor(builder, event, anchor, node));
    yaml_grow_attach(&builder->grow, node);
    return yaml_grow_open(&builder->grow, node);
}

static bool is_open(const struct builder *builder, const struct yaml_node *node)
{
    for (uint32_t i = 0; i < builder->grow.depth; i++)
        if (builder->grow.frames[i].node == node) return true;
    return false;
}

/* A copy of the tree below `from`: its texts are shared, its nodes count (P19). */
static enum status copy_tree(struct builder *builder, const yaml_event_t *event,
                             const struct yaml_node *from, uint32_t depth, struct yaml_node **out)
{
    if (depth > LIMIT_YAML_DEPTH)
        return diag_error(builder->grow.diag, place_of(builder, event),
                          "nested deeper than %d levels", LIMIT_YAML_DEPTH);
    TRY(yaml_grow_node(&builder->grow, from->kind, span_of(builder, event), out));
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
            return diag_error(builder->grow.diag, place_of(builder, event),
                              "alias '*%s' stands inside its own anchor", name);
        struct yaml_node *copy;
        TRY(copy_tree(builder, event, builder->anchors[i].node, builder->grow.depth, &copy));
        copy->key = NULL;
        yaml_grow_attach(&builder->grow, copy);
        return STATUS_OK;
    }
    return diag_error(builder->grow.diag, place_of(builder, event),
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

static enum status take_event(struct builder *builder, const yaml_event_t *event)
{
    const yaml_char_t *tag = tag_of(event);
    if (tag != NULL) /* P13 */
        diag_error(builder->grow.diag, place_of(builder, event),
                   "tag '%s' is not read; the key decides the type", (const char *)tag);
    switch (event->type) {
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        yaml_grow_close(&builder->grow);
        return STATUS_OK;
    case YAML_SCALAR_EVENT:
        check_scalar(builder, event);
        return yaml_grow_waits_for_key(&builder->grow) ? read_key(builder, event)
                                                       : read_scalar(builder, event);
    default:
        break;
    }
    if (yaml_grow_waits_for_key(&builder->grow)) /* P29 */
        return diag_error(builder->grow.diag, place_of(builder, event), "keys are plain names");
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
    else if (event.type == YAML_DOCUMENT_START_EVENT && builder->grow.document->root != NULL)
        status = diag_error(builder->grow.diag, place_of(builder, &event), "one document per file");
    else if (event.type != YAML_STREAM_START_EVENT && event.type != YAML_DOCUMENT_START_EVENT &&
             event.type != YAML_DOCUMENT_END_EVENT)
        status = take_event(builder, &event);
    yaml_event_delete(&event);
    /* Later problems would not be shown, and each one costs a walk through the text. */
    if (diag_error_count(builder->grow.diag) >= LIMIT_DIAG_PROBLEMS) return STATUS_INPUT;
    return status;
}

static enum status build(struct builder *builder)
{
    struct yaml_document *document = builder->grow.document;
    const uint64_t errors = diag_error_count(builder->grow.diag);
    if (!yaml_parser_initialize(&builder->parser)) return yaml_grow_out_of_memory(&builder->grow);
    yaml_parser_set_input_string(&builder->parser, (const unsigned char *)document->text,
                                 document->text_bytes);
    yaml_parser_set_encoding(&builder->parser, YAML_UTF8_ENCODING);
    enum status status = STATUS_OK;
    for (bool done = false; !done && status == STATUS_OK;) status = step(builder, &done);
    yaml_parser_delete(&builder->parser);
    if (status == STATUS_OK && document->root == NULL) /* P21 */
        status = diag_error(builder->grow.diag, (struct place){ .file = document->file },
                            "no document in %s", document->file);
    if (status == STATUS_OK && diag_error_count(builder->grow.diag) > errors) status = STATUS_INPUT;
    return status;
}

enum status yaml_read_text(const char *name, const char *text, size_t text_bytes,
                           struct yaml_document *document, struct diag *diag)
{
    TRY(yaml_document_begin(name, document, diag));
    struct builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL) return diag_world(diag, "%s: out of memory", name);
    enum status status = yaml_text_take(document, (const unsigned char *)text, text_bytes, diag);
    if (status == STATUS_OK) status = yaml_grow_begin(&builder->grow, document, diag);
    if (status == STATUS_OK) status = build(builder);
    free(builder);
    return status;
}
