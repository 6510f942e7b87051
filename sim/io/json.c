/* json.c - a JSON text, character by character, into a tree that is grown without recursion. */
#include "io/json.h"

#include "base/text.h"
#include "io/yaml_grow.h"
#include "io/yaml_text.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_SHOWN = 24 /* characters of a word that is none, in a message */ };

struct json {
    struct yaml_grow grow;
    const char *text; /* of the document */
    size_t bytes, at;
};

/* What may come next. */
enum expect { EXPECT_VALUE, EXPECT_FIRST, EXPECT_KEY, EXPECT_COMMA };

/* ---- characters ---- */

static enum status problem_at(struct json *json, size_t offset, size_t width, const char *what)
{
    const struct yaml_span span = { offset, width };
    return diag_error(json->grow.diag, yaml_grow_place(&json->grow, span), "%s", what);
}

/* The next byte, or NUL at the end: the text itself holds none. */
static char peek(const struct json *json)
{
    return json->at < json->bytes ? json->text[json->at] : '\0';
}

static void skip_blanks(struct json *json)
{
    while (json->at < json->bytes && strchr(" \t\r\n", json->text[json->at])) json->at++;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '+' || c == '-';
}

/* Something that no rule allows here: say what people usually meant by it. */
static enum status unexpected(struct json *json, const char *wanted)
{
    const char next = peek(json);
    const struct yaml_span span = { json->at, 1 };
    const struct place at = yaml_grow_place(&json->grow, span);
    struct diag *diag = json->grow.diag;
    if (next == '\0') return diag_error(diag, at, "the text ends where %s should stand", wanted);
    if (next == '/' || next == '#')
        return diag_error(diag, at, "comments are not JSON; leave them out or write YAML");
    if (next == '\'') return diag_error(diag, at, "JSON texts stand in double quotes");
    uint32_t code = 0;
    const size_t length = text_utf8(json->text + json->at, json->bytes - json->at, &code);
    if (code >= 0x80)
        return diag_error(diag, at, "U+%04X where %s should stand", (unsigned)code, wanted);
    return diag_error(diag, at, "'%.*s' where %s should stand", (int)length, json->text + json->at,
                      wanted);
}

/* ---- texts ---- */

/* Four hexadecimal digits, or -1. */
static int32_t hex4(const struct json *json, size_t at)
{
    int32_t value = 0;
    for (size_t i = 0; i < 4; i++) {
        const char c = at + i < json->bytes ? json->text[at + i] : '\0';
        const int digit = is_digit(c)              ? c - '0'
                          : (c >= 'a' && c <= 'f') ? c - 'a' + 10
                          : (c >= 'A' && c <= 'F') ? c - 'A' + 10
                                                   : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* \uXXXX, or two of them that make one character (P30). json->at stands on the backslash. */
static enum status read_unicode(struct json *json, uint32_t *code)
{
    const size_t start = json->at;
    const int32_t first = hex4(json, start + 2);
    if (first < 0) return problem_at(json, start, 2, "\\u needs four hexadecimal digits behind it");
    json->at += 6;
    *code = (uint32_t)first;
    if (first == 0) return problem_at(json, start, 6, "a text with a NUL byte in it");
    if (first < 0xd800 || first > 0xdfff) return STATUS_OK;
    const bool has_second = json->at + 1 < json->bytes && json->text[json->at] == '\\' &&
                            json->text[json->at + 1] == 'u';
    const int32_t second = has_second ? hex4(json, json->at + 2) : -1;
    if (first > 0xdbff || second < 0xdc00 || second > 0xdfff)
        return problem_at(json, start, 6, "half of a surrogate pair; write both halves");
    json->at += 6;
    *code = 0x10000 + (((uint32_t)first - 0xd800) << 10) + ((uint32_t)second - 0xdc00);
    return STATUS_OK;
}

/* One escape into out, which has room for the six bytes that it takes at least in the text. */
static enum status read_escape(struct json *json, char *out, size_t *count)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char kind = json->at + 1 < json->bytes ? json->text[json->at + 1] : '\0';
    uint32_t code = 0;
    if (kind == 'u') {
        TRY(read_unicode(json, &code));
    } else {
        const char *found = kind ? strchr(from, kind) : NULL;
        if (found == NULL)
            return problem_at(json, json->at, 2,
                              "an escape that JSON does not know; a backslash itself is \\\\");
        code = (unsigned char)to[found - from];
        json->at += 2;
    }
    *count += yaml_text_put(code, out + *count);
    return STATUS_OK;
}

/* From quote to quote; the text is the arena's. */
static enum status read_string(struct json *json, char **text, size_t *text_bytes,
                               struct yaml_span *span)
{
    const size_t start = json->at++;
    size_t end = json->at;
    while (end < json->bytes && json->text[end] != '"') end += json->text[end] == '\\' ? 2 : 1;
    if (end >= json->bytes)
        return problem_at(json, start, 1, "a text without its closing double quote");
    if (end - start > YAML_VALUE_BYTES)
        return problem_at(json, start, 1, "a value of more than 1 MiB");
    /* No escape is shorter than what it stands for. */
    *text = yaml_grow_text(&json->grow, json->text + start, end - start);
    if (*text == NULL) return yaml_grow_out_of_memory(&json->grow);
    size_t count = 0;
    while (json->at < end) {
        const char c = json->text[json->at];
        if (c == '\\') {
            TRY(read_escape(json, *text, &count));
            continue;
        }
        if ((unsigned char)c < 0x20)
            return problem_at(json, json->at, 1,
                              "a line end or control character inside a text; write \\n or \\t");
        (*text)[count++] = c;
        json->at++;
    }
    (*text)[count] = '\0';
    *text_bytes = count;
    json->at = end + 1;
    *span = (struct yaml_span){ start, json->at - start };
    return STATUS_OK;
}

/* ---- numbers and words ---- */

static size_t digits(const char *text, size_t bytes, size_t at)
{
    size_t count = 0;
    while (at + count < bytes && is_digit(text[at + count])) count++;
    return count;
}

/* Why text[bytes] is no JSON number, or NULL. */
static const char *number_problem(const char *text, size_t bytes)
{
    size_t at = text[0] == '-' ? 1 : 0;
    const size_t whole = digits(text, bytes, at);
    if (whole == 0) return "a JSON number begins with a digit or '-' and a digit";
    if (whole > 1 && text[at] == '0') return "a JSON number has no leading zero";
    at += whole;
    if (at < bytes && text[at] == '.') {
        const size_t part = digits(text, bytes, ++at);
        if (part == 0) return "digits are missing behind the point";
        at += part;
    }
    if (at < bytes && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        if (at < bytes && (text[at] == '+' || text[at] == '-')) at++;
        const size_t part = digits(text, bytes, at);
        if (part == 0) return "digits are missing in the exponent";
        at += part;
    }
    return at == bytes ? NULL : "text behind a number; values with a unit stand in double quotes";
}

static enum status read_word(struct json *json)
{
    const size_t start = json->at;
    const char *text = json->text + start;
    size_t bytes = 0;
    while (start + bytes < json->bytes && is_word(text[bytes])) bytes++;
    static const char *const words[] = { "true", "false", "null" };
    bool known = false;
    for (size_t i = 0; i < 3; i++)
        known |= strlen(words[i]) == bytes && memcmp(words[i], text, bytes) == 0;
    struct yaml_span span = { start, bytes };
    if (bytes == 0) return unexpected(json, "a value");
    if (!known && (is_digit(text[0]) || text[0] == '-' || text[0] == '.' || text[0] == '+')) {
        const char *problem = number_problem(text, bytes);
        if (problem) return problem_at(json, start, bytes, problem);
    } else if (!known) {
        return diag_error(json->grow.diag, yaml_grow_place(&json->grow, span),
                          "'%.*s' is no JSON value; texts stand in double quotes%s",
                          (int)(bytes < WORD_SHOWN ? bytes : WORD_SHOWN), text,
                          bytes == 3 && strncmp(text, "NaN", 3) == 0
                              ? ", and NaN is no number; leave the key out"
                              : "");
    }
    struct yaml_node *node;
    TRY(yaml_grow_node(&json->grow, YAML_SCALAR, span, &node));
    node->text = yaml_grow_text(&json->grow, text, bytes);
    if (node->text == NULL) return yaml_grow_out_of_memory(&json->grow);
    node->text_bytes = bytes;
    yaml_grow_attach(&json->grow, node);
    json->at += bytes;
    return STATUS_OK;
}

/* ---- values ---- */

static enum status read_text_value(struct json *json)
{
    char *text = NULL;
    size_t bytes = 0;
    struct yaml_span span = { 0 };
    struct yaml_node *node;
    TRY(read_string(json, &text, &bytes, &span));
    TRY(yaml_grow_node(&json->grow, YAML_SCALAR, span, &node));
    node->quoted = true;
    node->text = text;
    node->text_bytes = bytes;
    yaml_grow_attach(&json->grow, node);
    return STATUS_OK;
}

static enum status open_value(struct json *json, enum yaml_kind kind)
{
    struct yaml_node *node;
    const struct yaml_span span = { json->at++, 1 };
    TRY(yaml_grow_node(&json->grow, kind, span, &node));
    yaml_grow_attach(&json->grow, node);
    return yaml_grow_open(&json->grow, node);
}

static enum status read_value(struct json *json, enum expect *expect)
{
    const char next = peek(json);
    *expect = next == '{' || next == '[' ? EXPECT_FIRST : EXPECT_COMMA;
    if (next == '{') return open_value(json, YAML_MAP);
    if (next == '[') return open_value(json, YAML_LIST);
    return next == '"' ? read_text_value(json) : read_word(json);
}

static enum status read_key(struct json *json)
{
    char *text = NULL;
    size_t bytes = 0;
    struct yaml_span span = { 0 };
    if (peek(json) == '}') return problem_at(json, json->at, 1, "a comma too many before '}'");
    if (peek(json) != '"') return unexpected(json, "a key in double quotes");
    TRY(read_string(json, &text, &bytes, &span));
    TRY(yaml_grow_key(&json->grow, text, bytes, span));
    skip_blanks(json);
    if (peek(json) != ':') return unexpected(json, "the ':' of a key");
    json->at++;
    return STATUS_OK;
}

/* Behind a value: a comma, or the end of the list or map. */
static enum status read_comma(struct json *json, bool in_map, enum expect *expect)
{
    if (peek(json) == (in_map ? '}' : ']')) {
        json->at++;
        yaml_grow_close(&json->grow);
        return STATUS_OK;
    }
    if (peek(json) != ',') return unexpected(json, in_map ? "',' or '}'" : "',' or ']'");
    json->at++;
    *expect = in_map ? EXPECT_KEY : EXPECT_VALUE;
    return STATUS_OK;
}

/* One step: a value, a key with its colon, a comma, an end. */
static enum status step(struct json *json, enum expect *expect)
{
    const struct yaml_grow *grow = &json->grow;
    const bool in_map = grow->depth > 0 && grow->frames[grow->depth - 1].node->kind == YAML_MAP;
    const bool closes = peek(json) == (in_map ? '}' : ']');
    if (*expect == EXPECT_COMMA || (*expect == EXPECT_FIRST && closes)) {
        *expect = EXPECT_COMMA;
        return read_comma(json, in_map, expect);
    }
    if (*expect == EXPECT_KEY || (*expect == EXPECT_FIRST && in_map)) {
        TRY(read_key(json));
        *expect = EXPECT_VALUE;
        return STATUS_OK;
    }
    if (closes && grow->depth > 0 && !in_map)
        return problem_at(json, json->at, 1, "a comma too many before ']'");
    return read_value(json, expect);
}

static enum status build(struct json *json)
{
    const uint64_t errors = diag_error_count(json->grow.diag);
    struct yaml_document *document = json->grow.document;
    enum expect expect = EXPECT_VALUE;
    skip_blanks(json);
    if (json->at == json->bytes) /* P21 */
        return diag_error(json->grow.diag, (struct place){ .file = document->file },
                          "no document in %s", document->file);
    do {
        TRY(step(json, &expect));
        skip_blanks(json);
        /* Later problems would not be shown, and each one costs a walk through the text. */
        if (diag_error_count(json->grow.diag) >= LIMIT_DIAG_PROBLEMS) return STATUS_INPUT;
    } while (json->grow.depth > 0 || expect != EXPECT_COMMA);
    if (json->at < json->bytes) return problem_at(json, json->at, 1, "one document per file");
    return diag_error_count(json->grow.diag) > errors ? STATUS_INPUT : STATUS_OK;
}

enum status json_read_text(const char *name, const char *text, size_t text_bytes,
                           struct yaml_document *document, struct diag *diag)
{
    TRY(yaml_document_begin(name, document, diag));
    struct json *json = calloc(1, sizeof *json);
    if (json == NULL) return diag_world(diag, "%s: out of memory", name);
    enum status status = yaml_text_take(document, (const unsigned char *)text, text_bytes, diag);
    if (status == STATUS_OK) status = yaml_grow_begin(&json->grow, document, diag);
    json->text = document->text;
    json->bytes = document->text_bytes;
    if (status == STATUS_OK) status = build(json);
    free(json);
    return status;
}

bool json_is_name(const char *path)
{
    const size_t bytes = strlen(path);
    return bytes > 5 && strcmp(path + bytes - 5, ".json") == 0;
}
