/* depend.c - see depend.h. */
#include "spec/depend.h"

#include "base/clock.h"

#include <string.h>

static const struct {
    const char *word;
    enum depend_type type;
} types[] = {
    { "after", DEPEND_AFTER },
    { "afterok", DEPEND_AFTER_OK },
    { "afternotok", DEPEND_AFTER_NOT_OK },
    { "afterany", DEPEND_AFTER_ANY },
    { "aftercorr", DEPEND_AFTER_CORR },
    { "afterburstbuffer", DEPEND_AFTER_ANY },
    { "singleton", DEPEND_SINGLETON },
};

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter + 32) : letter;
}

static bool same_word(const char *text, size_t bytes, const char *word)
{
    if (strlen(word) != bytes) return false;
    for (size_t i = 0; i < bytes; i++)
        if (lower(text[i]) != word[i]) return false;
    return true;
}

static bool wrong(struct depend_reader *reader, const char *why)
{
    reader->wrong = why;
    return false;
}

bool depend_is_any(const char *text)
{
    return text[strcspn(text, ",?")] == '?';
}

/* The separator in front of a term that is not the first. */
static bool read_separator(struct depend_reader *reader)
{
    if (reader->separator && *reader->text != reader->separator)
        return wrong(reader, "mixes ',' and '?'");
    reader->separator = *reader->text++;
    return true;
}

/* The type in front of a term's first id, with its colon. */
static bool read_type(struct depend_reader *reader)
{
    const size_t bytes = strcspn(reader->text, ":,?");
    reader->type = DEPEND_AFTER_ANY;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!same_word(reader->text, bytes, types[i].word)) continue;
        reader->type = types[i].type;
        reader->text += bytes;
        if (reader->type == DEPEND_SINGLETON)
            return *reader->text == ':' ? wrong(reader, "names a job behind singleton") : true;
        if (*reader->text != ':') return wrong(reader, "names no job behind a type");
        reader->text++;
        return true;
    }
    return reader->text[bytes] == ':' ? wrong(reader, "has an unknown type") : true;
}

/* "+MINUTES" at the end of an id. */
static bool read_delay(struct depend_reader *reader, struct depend_term *term)
{
    const char *plus = memchr(term->id, '+', term->id_bytes);
    if (!plus) return true;
    const char *end = term->id + term->id_bytes;
    int64_t minutes = 0;
    for (const char *at = plus + 1; at < end; at++) {
        if (*at < '0' || *at > '9' || minutes > INT64_C(100000000))
            return true; /* a part of the id */
        minutes = 10 * minutes + (*at - '0');
    }
    if (plus + 1 == end) return true;
    /* "2+1" names a component of a heterogeneous job for every type but `after`. */
    if (reader->type != DEPEND_AFTER) return true;
    if (minutes == 0) return wrong(reader, "waits for 0 minutes");
    term->delay_ns = minutes * 60 * NS_PER_S;
    term->id_bytes = (uint32_t)(plus - term->id);
    return true;
}

bool depend_next(struct depend_reader *reader, struct depend_term *term)
{
    if (reader->wrong || !*reader->text) return false;
    if (reader->inside && *reader->text != ':') {
        if (!read_separator(reader)) return false;
        reader->inside = false;
    } else if (reader->inside)
        reader->text++;
    if (!reader->inside && !read_type(reader)) return false;
    reader->inside = true;
    *term = (struct depend_term){ .type = reader->type, .id = reader->text };
    if (reader->type == DEPEND_SINGLETON) return true;
    term->id_bytes = (uint32_t)strcspn(reader->text, ":,?");
    reader->text += term->id_bytes;
    if (term->id_bytes > 0 && !read_delay(reader, term)) return false;
    if (term->id_bytes == 0) return wrong(reader, "has an empty id");
    return true;
}
