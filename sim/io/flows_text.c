/* flows_text.c - statements of flows line by line; flows_resolve.c finds what they name. */
#include "io/flows_text.h"

#include "base/quantity.h"
#include "base/text.h"
#include "io/flows_text_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MOST = 7 };

static const char link_form[] = "link NAME BANDWIDTH LATENCY";
static const char flow_form[] = "flow NAME START BYTES LINK[,LINK...] [FLOW[,FLOW...]]";

struct place flows_place(const struct flows_reader *reader, struct word word)
{
    const struct input *input = &reader->out->input;
    return place_in_text(input->name, input->bytes, input->byte_count,
                         (size_t)(word.text - input->bytes), word.bytes);
}

static enum status out_of_memory(const struct flows_reader *reader)
{
    return diag_world(reader->diag, "%s: memory is out", reader->out->input.name);
}

/* ---- words -------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Words of a line; one more than fit means too many. */
static size_t split(const char *line, const char *end, struct word words[WORDS_MOST])
{
    size_t count = 0;
    while (count < WORDS_MOST) {
        while (line < end && is_blank(*line)) line++;
        if (line == end || *line == '#') return count;
        const char *first = line;
        while (line < end && !is_blank(*line)) line++;
        words[count++] = (struct word){ first, (size_t)(line - first) };
    }
    return count;
}

static bool word_is(struct word word, const char *text)
{
    return strlen(text) == word.bytes && memcmp(word.text, text, word.bytes) == 0;
}

static enum status check_name(const struct flows_reader *reader, struct word word)
{
    if (word.bytes >= LIMIT_NAME_BYTES)
        return diag_error(reader->diag, flows_place(reader, word),
                          "a name of %zu bytes; it must be 1 to %d", word.bytes,
                          LIMIT_NAME_BYTES - 1);
    char shown[LIMIT_NAME_BYTES * 8];
    text_escape(word.text, word.bytes, shown, sizeof shown);
    if (strlen(shown) == word.bytes && memcmp(shown, word.text, word.bytes) == 0 &&
        memchr(word.text, ',', word.bytes) == NULL)
        return STATUS_OK;
    return diag_error(reader->diag, flows_place(reader, word),
                      "the name '%s' must not hold commas or what cannot be shown", shown);
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* What a number is and may be; 0 is always allowed. */
struct range {
    const char *what, *unit, *legal;
    double least, most;
    bool (*read)(const char *text, size_t bytes, double *out, struct why *why);
};

static const struct range bandwidth = { "BANDWIDTH", "bytes per second", "0 to 1e18", 0,
                                        1e18,        quantity_bandwidth };
static const struct range latency = { "LATENCY", "seconds", "0, or 1e-12 to 1e9",
                                      1e-12,     1e9,       quantity_duration_s };
static const struct range start = { "START", "seconds", "0 to 1e12", 0, 1e12, quantity_duration_s };
static const struct range size = { "BYTES", "bytes", "0 to 1e24", 0, 1e24, quantity_size };

/* A bare number in the unit of the form, or one with its own unit. */
static enum status read_number(const struct flows_reader *reader, struct word word,
                               const struct range *range, double *out)
{
    struct why why;
    char shown[LIMIT_NAME_BYTES];
    text_escape(word.text, word.bytes, shown, sizeof shown);
    *out = 0;
    if (!quantity_number(word.text, word.bytes, out, &why) &&
        !range->read(word.text, word.bytes, out, &why))
        return diag_error(reader->diag, flows_place(reader, word),
                          "cannot read %s '%s': %s, or a bare number of %s", range->what, shown,
                          why.text, range->unit);
    if (*out == 0) *out = 0; /* not -0 */
    if (*out == 0 || (*out >= range->least && *out <= range->most)) return STATUS_OK;
    return diag_error(reader->diag, flows_place(reader, word), "%s must be %s %s, got %s",
                      range->what, range->legal, range->unit, shown);
}

/* ---- statements --------------------------------------------------------------------------------- */

/* Enters the name; refuses it when it is there. */
static enum status enter_name(struct flows_reader *reader, struct flows_name **names,
                              struct word word, uint32_t row, const char *what)
{
    struct flows_name *name = NULL;
    HASH_FIND(hh, *names, word.text, word.bytes, name);
    if (name != NULL) {
        const struct word first = { name->hh.key, word.bytes };
        return diag_error(reader->diag, flows_place(reader, word),
                          "%s '%.*s' is given twice; the first is in line %" PRIu64, what,
                          (int)word.bytes, word.text, flows_place(reader, first).line);
    }
    name = malloc(sizeof *name);
    if (name == NULL) return out_of_memory(reader);
    name->row = row;
    HASH_ADD_KEYPTR(hh, *names, word.text, word.bytes, name);
    return STATUS_OK;
}

static enum status too_many(const struct flows_reader *reader, struct word word, const char *what,
                            uint32_t most)
{
    return diag_error(reader->diag, flows_place(reader, word), "more than %" PRIu32 " %s", most,
                      what);
}

static enum status read_link(struct flows_reader *reader, const struct word *words)
{
    struct flows_text *out = reader->out;
    struct flows_link link = { .name = words[1].text, .name_bytes = (uint32_t)words[1].bytes };
    TRY(check_name(reader, words[1]));
    TRY(read_number(reader, words[2], &bandwidth, &link.bytes_per_s));
    TRY(read_number(reader, words[3], &latency, &link.latency_s));
    if (out->link_count == LIMIT_FLOW_LINKS)
        return too_many(reader, words[1], "links", LIMIT_FLOW_LINKS);
    if (out->link_count == reader->link_room) {
        const uint32_t room = reader->link_room * 2 + 64;
        struct flows_link *links = realloc(out->links, room * sizeof *links);
        if (links == NULL) return out_of_memory(reader);
        out->links = links;
        reader->link_room = room;
    }
    TRY(enter_name(reader, &reader->link_names, words[1], out->link_count, "link"));
    out->links[out->link_count++] = link;
    return STATUS_OK;
}

static bool flows_have_room(struct flows_reader *reader)
{
    if (reader->out->flow_count < reader->flow_room) return true;
    const uint32_t room = reader->flow_room * 2 + 64;
    struct flows_flow *flows = realloc(reader->out->flows, room * sizeof *flows);
    if (flows == NULL) return false;
    reader->out->flows = flows;
    struct flows_lists *lists = realloc(reader->lists, room * sizeof *lists);
    if (lists == NULL) return false;
    reader->lists = lists;
    reader->flow_room = room;
    return true;
}

static enum status read_flow(struct flows_reader *reader, const struct word *words, size_t count)
{
    struct flows_text *out = reader->out;
    struct flows_flow flow = { .name = words[1].text, .name_bytes = (uint32_t)words[1].bytes };
    TRY(check_name(reader, words[1]));
    TRY(read_number(reader, words[2], &start, &flow.start_s));
    TRY(read_number(reader, words[3], &size, &flow.size_bytes));
    if (out->flow_count == LIMIT_FLOWS) return too_many(reader, words[1], "flows", LIMIT_FLOWS);
    if (!flows_have_room(reader)) return out_of_memory(reader);
    TRY(enter_name(reader, &reader->flow_names, words[1], out->flow_count, "flow"));
    reader->lists[out->flow_count] =
        (struct flows_lists){ words[4], count > 5 ? words[5] : (struct word){ words[4].text, 0 } };
    out->flows[out->flow_count++] = flow;
    return STATUS_OK;
}

static enum status wrong_form(const struct flows_reader *reader, const struct word *words,
                              size_t count, size_t most, const char *form)
{
    const struct word at = words[count > most ? most : count - 1];
    return diag_error(reader->diag, flows_place(reader, at), "%s; write: %s",
                      count > most ? "one word too many" : "a word is missing behind this one",
                      form);
}

static enum status read_line(struct flows_reader *reader, const char *line, const char *end)
{
    struct word words[WORDS_MOST];
    const size_t count = split(line, end, words);
    if (count == 0) return STATUS_OK;
    if (word_is(words[0], "link"))
        return count == 4 ? read_link(reader, words)
                          : wrong_form(reader, words, count, 4, link_form);
    if (word_is(words[0], "flow"))
        return count == 5 || count == 6 ? read_flow(reader, words, count)
                                        : wrong_form(reader, words, count, 6, flow_form);
    static const char *const statements[] = { "link", "flow" };
    char shown[LIMIT_NAME_BYTES];
    text_escape(words[0].text, words[0].bytes, shown, sizeof shown);
    const char *nearest = text_nearest(shown, statements, 2);
    return diag_error(reader->diag, flows_place(reader, words[0]),
                      "unknown statement '%s'%s%s%s; a line is a link or a flow", shown,
                      nearest ? ", did you mean '" : "", nearest ? nearest : "",
                      nearest ? "'?" : "");
}

/* All lines; the problems of up to LIMIT_DIAG_PROBLEMS are told. */
static enum status read_lines(struct flows_reader *reader)
{
    const struct input *input = &reader->out->input;
    const char *line = input->bytes, *end = line + input->byte_count;
    while (line < end && diag_error_count(reader->diag) < LIMIT_DIAG_PROBLEMS) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL) stop = end;
        if (read_line(reader, line, stop) == STATUS_WORLD) return STATUS_WORLD;
        line = stop + (stop < end);
    }
    TRY(diag_status(reader->diag));
    if (reader->out->flow_count > 0) return STATUS_OK;
    return diag_error(reader->diag, (struct place){ .file = input->name },
                      "no flow in it; write: %s", flow_form);
}

/* ---- the file ----------------------------------------------------------------------------------- */

static void clear_names(struct flows_name **names)
{
    struct flows_name *name, *next;
    HASH_ITER(hh, *names, name, next)
    {
        HASH_DEL(*names, name);
        free(name);
    }
}

enum status flows_text_read(const char *path, struct flows_text *text, struct diag *diag)
{
    *text = (struct flows_text){ 0 };
    struct flows_reader reader = { .out = text, .diag = diag };
    enum status status = input_read(path, &text->input, diag);
    if (status == STATUS_OK) status = read_lines(&reader);
    if (status == STATUS_OK) status = flows_resolve(&reader);
    clear_names(&reader.link_names);
    clear_names(&reader.flow_names);
    free(reader.lists);
    free(reader.mark);
    return status;
}

void flows_text_clear(struct flows_text *text)
{
    free(text->links);
    free(text->flows);
    free(text->path);
    free(text->after);
    input_clear(&text->input);
    *text = (struct flows_text){ 0 };
}
