/* flows_resolve.c - the links that flows cross and the flows they wait for, found by name. */
#include "io/flows_text.h"

#include "base/text.h"
#include "io/flows_text_parts.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NAMES_MOST = 256, SHOWN_BYTES = LIMIT_NAME_BYTES * 4 };

/* A list being read: what it names, and where its rows go. */
struct list {
    const char *what;         /* "link" */
    struct flows_name *names; /* hash */
    uint32_t **rows;
    uint32_t *count, *room;
};

/* Names that stand nearest are looked for among the first NAMES_MOST. */
static enum status unknown_name(const struct flows_reader *reader, const struct list *list,
                                struct word word)
{
    static char copies[NAMES_MOST][LIMIT_NAME_BYTES];
    const char *known[NAMES_MOST];
    size_t count = 0;
    char shown[SHOWN_BYTES];
    text_escape(word.text, word.bytes, shown, sizeof shown);
    for (struct flows_name *name = list->names; name && count < NAMES_MOST; name = name->hh.next) {
        text_copy(copies[count], LIMIT_NAME_BYTES, name->hh.key, name->hh.keylen);
        known[count] = copies[count];
        count++;
    }
    const char *nearest = text_nearest(shown, known, count);
    return diag_error(reader->diag, flows_place(reader, word), "no %s is named '%s'%s%s%s",
                      list->what, shown, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                      nearest ? "'?" : "");
}

static enum status add_row(const struct flows_reader *reader, const struct list *list, uint32_t row)
{
    if (*list->count == *list->room) {
        const uint32_t room = *list->room * 2 + 64;
        uint32_t *rows = realloc(*list->rows, room * sizeof *rows);
        if (rows == NULL)
            return diag_world(reader->diag, "%s: memory is out", reader->out->input.name);
        *list->rows = rows;
        *list->room = room;
    }
    (*list->rows)[(*list->count)++] = row;
    return STATUS_OK;
}

static enum status read_name(struct flows_reader *reader, const struct list *list, struct word word,
                             uint32_t flow)
{
    struct flows_name *name = NULL;
    if (word.bytes == 0) {
        const struct word comma = { word.text, 1 };
        return diag_error(reader->diag, flows_place(reader, comma),
                          "a name is missing; write names with one comma between them");
    }
    HASH_FIND(hh, list->names, word.text, word.bytes, name);
    if (name == NULL) return unknown_name(reader, list, word);
    if (reader->mark[name->row] == flow + 1)
        return diag_error(reader->diag, flows_place(reader, word), "%s '%.*s' twice in one list",
                          list->what, (int)word.bytes, word.text);
    reader->mark[name->row] = flow + 1;
    return add_row(reader, list, name->row);
}

/* NAME[,NAME...] of a flow; returns the number of names in *count. */
static enum status read_list(struct flows_reader *reader, const struct list *list,
                             struct word words, uint32_t flow, uint32_t *count)
{
    const uint32_t first = *list->count;
    const char *at = words.text, *end = words.text + words.bytes;
    for (bool more = words.bytes > 0; more;) {
        const char *stop = at;
        while (stop < end && *stop != ',') stop++;
        TRY(read_name(reader, list, (struct word){ at, (size_t)(stop - at) }, flow));
        more = stop < end;
        at = stop + more;
    }
    *count = *list->count - first;
    return STATUS_OK;
}

/* Every list of one kind; the marks of the other kind are gone. */
static enum status read_lists(struct flows_reader *reader, const struct list *list, bool of_links)
{
    for (uint32_t f = 0; f < reader->out->flow_count; f++) {
        struct flows_flow *flow = &reader->out->flows[f];
        const struct word words = of_links ? reader->lists[f].links : reader->lists[f].after;
        *(of_links ? &flow->first_link : &flow->first_after) = *list->count;
        const enum status status =
            read_list(reader, list, words, f, of_links ? &flow->link_count : &flow->after_count);
        if (status == STATUS_WORLD || diag_error_count(reader->diag) >= LIMIT_DIAG_PROBLEMS)
            return status;
    }
    return diag_status(reader->diag);
}

/* ---- flows that wait for themselves --------------------------------------------------------------- */

/* Takes away what can finish: those that wait for nothing that is left. waits[flow] is what remains. */
static bool finish_all(const struct flows_text *text, uint32_t edges, uint32_t *waits)
{
    uint32_t *ready = malloc(text->flow_count * sizeof *ready), ready_count = 0;
    uint32_t *head = malloc(text->flow_count * sizeof *head); /* first edge to a follower */
    uint32_t *next = malloc((edges + 1) * sizeof *next);
    uint32_t *later = malloc((edges + 1) * sizeof *later);
    const bool ok = ready != NULL && head != NULL && next != NULL && later != NULL;
    for (uint32_t f = 0; ok && f < text->flow_count; f++) {
        head[f] = UINT32_MAX;
        waits[f] = text->flows[f].after_count;
        if (waits[f] == 0) ready[ready_count++] = f;
    }
    for (uint32_t f = 0; ok && f < text->flow_count; f++) {
        const uint32_t first = text->flows[f].first_after;
        for (uint32_t e = first; e < first + text->flows[f].after_count; e++) {
            later[e] = f;
            next[e] = head[text->after[e]];
            head[text->after[e]] = e;
        }
    }
    while (ok && ready_count > 0)
        for (uint32_t e = head[ready[--ready_count]]; e != UINT32_MAX; e = next[e])
            if (--waits[later[e]] == 0) ready[ready_count++] = later[e];
    free(ready);
    free(head);
    free(next);
    free(later);
    return ok;
}

/* One it waits for that cannot finish either. */
static uint32_t stuck_before(const struct flows_text *text, const uint32_t *waits, uint32_t flow)
{
    const uint32_t *after = text->after + text->flows[flow].first_after;
    while (waits[*after] == 0) after++;
    return *after;
}

static enum status refuse_cycle(const struct flows_reader *reader, const uint32_t *waits,
                                uint32_t flow)
{
    const struct flows_text *text = reader->out;
    memset(reader->mark, 0, text->flow_count * sizeof *reader->mark);
    while (!reader->mark[flow]) { /* until one is met again: it is on a ring */
        reader->mark[flow] = 1;
        flow = stuck_before(text, waits, flow);
    }
    const struct flows_flow *one = &text->flows[flow];
    const struct flows_flow *before = &text->flows[stuck_before(text, waits, flow)];
    const struct word at = reader->lists[flow].after;
    if (one == before)
        return diag_error(reader->diag, flows_place(reader, at), "flow '%.*s' waits for itself",
                          (int)one->name_bytes, one->name);
    return diag_error(reader->diag, flows_place(reader, at),
                      "flow '%.*s' waits for itself: '%.*s', which it waits for, waits for it",
                      (int)one->name_bytes, one->name, (int)before->name_bytes, before->name);
}

static enum status check_cycles(const struct flows_reader *reader)
{
    uint32_t *waits = calloc(reader->out->flow_count, sizeof *waits);
    if (waits == NULL || !finish_all(reader->out, reader->after_count, waits)) {
        free(waits);
        return diag_world(reader->diag, "%s: memory is out", reader->out->input.name);
    }
    enum status status = STATUS_OK;
    for (uint32_t f = 0; f < reader->out->flow_count && status == STATUS_OK; f++)
        if (waits[f] > 0) status = refuse_cycle(reader, waits, f);
    free(waits);
    return status;
}

enum status flows_resolve(struct flows_reader *reader)
{
    struct flows_text *out = reader->out;
    const struct list links = { "link", reader->link_names, &out->path, &reader->path_count,
                                &reader->path_room };
    const struct list flows = { "flow", reader->flow_names, &out->after, &reader->after_count,
                                &reader->after_room };
    const uint32_t rows = out->link_count > out->flow_count ? out->link_count : out->flow_count;
    reader->mark = calloc(rows + 1, sizeof *reader->mark);
    if (reader->mark == NULL) return diag_world(reader->diag, "%s: memory is out", out->input.name);
    TRY(read_lists(reader, &links, true));
    memset(reader->mark, 0, (rows + 1) * sizeof *reader->mark);
    TRY(read_lists(reader, &flows, false));
    return check_cycles(reader);
}
