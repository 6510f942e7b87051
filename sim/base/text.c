/* text.c - text that came from a file, made safe and comparable. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { WORD_BYTES = 64 }; /* longer words get no suggestion: nobody mistypes those by two letters */

size_t text_utf8(const char *text, size_t bytes, uint32_t *code)
{
    static const uint32_t smallest[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char lead = (unsigned char)text[0];
    const size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (length == 1) {
        *code = lead;
        return 1;
    }
    if (lead < 0xc2 || lead > 0xf4 || length > bytes) return 0;
    uint32_t value = lead & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        const unsigned char next = (unsigned char)text[i];
        if ((next & 0xc0) != 0x80) return 0;
        value = value << 6 | (next & 0x3fu);
    }
    if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *code = value;
    return length;
}

/* Marks that reorder, hide or break what stands around them on a screen. */
static bool is_treacherous(uint32_t code)
{
    return code == 0x061c || (code >= 0x200b && code <= 0x200f) || code == 0x2028 ||
           code == 0x2029 || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x2069) || code == 0xfeff;
}

/* Writes what stands for the first character of text to `shown`; returns the bytes it covers. */
static size_t escape_one(const char *text, size_t bytes, char shown[16])
{
    uint32_t code = 0;
    const size_t length = text_utf8(text, bytes, &code);
    if (length == 0) {
        snprintf(shown, 16, "\\x%02x", (unsigned char)text[0]);
        return 1;
    }
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) {
        snprintf(shown, 16, "\\x%02x", (unsigned)code);
    } else if (is_treacherous(code)) {
        snprintf(shown, 16, "\\u%04x", (unsigned)code);
    } else {
        memcpy(shown, text, length);
        shown[length] = '\0';
    }
    return length;
}

char *text_escape(const char *text, size_t text_bytes, char *out, size_t out_bytes)
{
    if (out_bytes == 0) return out;
    size_t used = 0,
           room_for_dots = 0; /* length of the longest prefix that leaves room for "..." */
    char shown[16];
    for (size_t at = 0; at < text_bytes;) {
        at += escape_one(text + at, text_bytes - at, shown);
        const size_t length = strlen(shown);
        if (used + length >= out_bytes) {
            used = room_for_dots;
            for (int dot = 0; dot < 3 && used + 1 < out_bytes; dot++) out[used++] = '.';
            break;
        }
        memcpy(out + used, shown, length);
        used += length;
        if (used + 4 <= out_bytes) room_for_dots = used;
    }
    out[used] = '\0';
    return out;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edit distance with swaps of neighbours counted as one (optimal string alignment). */
static size_t edit_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    size_t rows[3][WORD_BYTES + 1];
    for (size_t j = 0; j <= b_bytes; j++) rows[0][j] = j;
    for (size_t i = 1; i <= a_bytes; i++) {
        size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_bytes; j++) {
            const size_t replace = before[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = least(replace, least(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], two_before[j - 2] + 1);
        }
    }
    return rows[a_bytes % 3][b_bytes];
}

const char *text_nearest(const char *word, const char *const *names, size_t count)
{
    const size_t bytes = strlen(word);
    if (bytes == 0 || bytes > WORD_BYTES) return NULL;
    size_t most = bytes / 3 > 2 ? bytes / 3 : 2;
    if (most >= bytes) most = bytes - 1; /* something of the word must remain */
    size_t best = 2 * most;              /* in half edits: the rest of a name is half an edit */
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        const size_t name_bytes = strlen(names[i]);
        if (name_bytes == 0 || name_bytes > WORD_BYTES) continue;
        const bool begins = bytes >= 3 && strncmp(names[i], word, bytes) == 0;
        const size_t distance = begins ? 1 : 2 * edit_distance(word, bytes, names[i], name_bytes);
        if (distance >= 2 * name_bytes) continue;
        if (distance < best || (distance == best && nearest == NULL)) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

bool text_copy(char *out, size_t out_bytes, const char *text, size_t text_bytes)
{
    if (out_bytes == 0) return false;
    const bool fits = text_bytes < out_bytes;
    const size_t bytes = fits ? text_bytes : out_bytes - 1;
    memcpy(out, text, bytes);
    out[bytes] = '\0';
    return fits;
}
