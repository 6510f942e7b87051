/* prose.c - see prose.h. */
#include "report/prose.h"

#include <math.h>
#include <string.h>

static unsigned columns_of(const char *text, size_t bytes)
{
    unsigned columns = 0;
    for (size_t i = 0; i < bytes; i++) columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

unsigned prose_columns(const char *text)
{
    return columns_of(text, strlen(text));
}

/* Bytes of the word at the text's beginning; a lone % belongs to its number. */
static size_t word_bytes(const char *text, size_t bytes)
{
    size_t word = 0;
    while (word < bytes && text[word] != ' ') word++;
    if (word > 0 && word + 1 < bytes && text[word + 1] == '%') {
        word += 2;
        while (word < bytes && text[word] != ' ') word++;
    }
    return word;
}

static void wrap_line(FILE *out, const char *line, size_t bytes, unsigned columns)
{
    unsigned used = 0;
    for (size_t at = 0; at < bytes;) {
        const size_t word = word_bytes(line + at, bytes - at);
        const unsigned width = columns_of(line + at, word);
        if (word > 0 && used > 0) {
            const int fits = used + 1 + width <= columns;
            fputc(fits ? ' ' : '\n', out);
            used = fits ? used + 1 : 0;
        }
        fwrite(line + at, 1, word, out);
        used += width;
        at += word + 1;
    }
    fputc('\n', out);
}

void prose_wrap(FILE *out, const char *text, unsigned columns)
{
    while (*text != '\0') {
        const size_t bytes = strcspn(text, "\n");
        wrap_line(out, text, bytes, columns);
        text += bytes + (text[bytes] == '\n');
    }
}

/* Bytes of the first `columns` characters. */
static size_t bytes_of(const char *text, unsigned columns)
{
    size_t bytes = 0;
    while (text[bytes] != '\0' && (((unsigned char)text[bytes] & 0xc0) == 0x80 || columns > 0)) {
        columns -= ((unsigned char)text[bytes] & 0xc0) != 0x80;
        bytes++;
    }
    return bytes;
}

void prose_shorten(const char *text, unsigned columns, unsigned tail, char *out, size_t out_bytes)
{
    const unsigned all = prose_columns(text);
    if (all <= columns) {
        snprintf(out, out_bytes, "%s", text);
        return;
    }
    const size_t head = bytes_of(text, columns - 3 - tail);
    snprintf(out, out_bytes, "%.*s...%s", (int)head, text, text + bytes_of(text, all - tail));
}

void prose_cut(FILE *out, const char *text, unsigned columns)
{
    if (prose_columns(text) <= columns || columns < 4) {
        fputs(text, out);
        return;
    }
    fwrite(text, 1, bytes_of(text, columns - 3), out);
    fputs("...", out);
}

void prose_pad(FILE *out, const char *text, unsigned columns)
{
    prose_cut(out, text, columns);
    for (unsigned i = prose_columns(text); i < columns; i++) fputc(' ', out);
}

const char *prose_join(uint32_t i, uint32_t n)
{
    return i == 0 ? "" : i + 1 == n ? " and " : ", ";
}

int prose_decimals(double half, int least)
{
    if (!(half > 0.5e-6)) return least; /* 0, NAN, or the rounding of equal numbers */
    int decimals = least;
    while (decimals < 6 && half * pow(10, decimals) < 1) decimals++;
    return decimals;
}

int prose_decimals_apart(double a, double b, int least)
{
    char text_a[64], text_b[64];
    for (int decimals = least; decimals < 6; decimals++) {
        snprintf(text_a, sizeof text_a, "%.*f", decimals, a);
        snprintf(text_b, sizeof text_b, "%.*f", decimals, b);
        if (strcmp(text_a, text_b) != 0) return decimals;
    }
    return 6;
}
