/* yaml_text.c - encodings, forbidden characters and look-alikes of a YAML text. */
#include "io/yaml_text.h"

#include "base/text.h"

#include <string.h>

/* ---- decoding ---- */

size_t yaml_text_put(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    const size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = length; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(leads[length] | code);
    return length;
}

static uint32_t utf16_unit(const unsigned char *at, bool big)
{
    return big ? (uint32_t)at[0] << 8 | at[1] : (uint32_t)at[1] << 8 | at[0];
}

static enum status take_utf16(struct yaml_document *document, const unsigned char *bytes,
                              size_t count, struct diag *diag)
{
    const bool big = bytes[0] == 0xfe;
    const struct place whole = { .file = document->file };
    for (size_t at = 2; at < count;) {
        if (count - at < 2) return diag_error(diag, whole, "UTF-16 text ends inside a character");
        uint32_t code = utf16_unit(bytes + at, big);
        at += 2;
        if (code >= 0xd800 && code < 0xe000) {
            const uint32_t low = count - at >= 2 ? utf16_unit(bytes + at, big) : 0;
            if (code >= 0xdc00 || low < 0xdc00 || low >= 0xe000)
                return diag_error(diag, whole, "byte %zu: half of a UTF-16 surrogate pair", at - 2);
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            at += 2;
        }
        document->text_bytes += yaml_text_put(code, document->text + document->text_bytes);
    }
    return STATUS_OK;
}

/* ---- checking ---- */

static const char *forbidden(uint32_t code)
{
    if (code == 0xfeff) return "a byte order mark inside the text (are two files joined here?)";
    if (code == 0x2028 || code == 0x2029 || code == 0x85)
        return "a line separator that YAML readers disagree about; use a line feed";
    if (code == 0x7f || (code < 0x20 && code != '\t' && code != '\n' && code != '\r') ||
        (code >= 0x80 && code < 0xa0))
        return "a control character";
    if (code == 0xfffe || code == 0xffff) return "not a character";
    return NULL;
}

static enum status check_text(const struct yaml_document *document, struct diag *diag)
{
    for (size_t at = 0; at < document->text_bytes;) {
        uint32_t code = 0;
        const size_t length = text_utf8(document->text + at, document->text_bytes - at, &code);
        const struct place here =
            length == 0 || forbidden(code)
                ? place_in_text(document->file, document->text, document->text_bytes, at, length)
                : (struct place){ 0 };
        if (length == 0) return diag_error(diag, here, "byte %zu is not UTF-8", at);
        if (forbidden(code))
            return diag_error(diag, here, "byte %zu is U+%04X, %s", at, (unsigned)code,
                              forbidden(code));
        at += length;
    }
    return STATUS_OK;
}

enum status yaml_text_take(struct yaml_document *document, const unsigned char *bytes, size_t count,
                           struct diag *diag)
{
    /* A UTF-16 unit of two bytes becomes at most three of UTF-8. */
    document->text = arena_take(document->arena, count / 2 * 3 + 4, 1);
    document->text_bytes = 0;
    if (document->text == NULL) return diag_world(diag, "%s: out of memory", document->file);
    const bool utf16 = count >= 2 && ((bytes[0] == 0xff && bytes[1] == 0xfe) ||
                                      (bytes[0] == 0xfe && bytes[1] == 0xff));
    if (utf16) {
        TRY(take_utf16(document, bytes, count, diag));
        return check_text(document, diag);
    }
    const size_t mark = count >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    document->text_bytes = count - mark;
    memcpy(document->text, bytes + mark, document->text_bytes);
    return check_text(document, diag);
}

static bool looks_alike(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        { 0x00a0, 0x00a0 }, { 0x00ad, 0x00ad }, /* no-break space, soft hyphen       */
        { 0x061c, 0x061c }, { 0x2000, 0x200f }, /* spaces of all widths, marks       */
        { 0x2018, 0x201f },                     /* curly quotes                      */
        { 0x202a, 0x202f }, { 0x205f, 0x2069 }, /* bidirectional controls, joiners   */
        { 0x2212, 0x2212 }, { 0x3000, 0x3000 }, /* minus sign, wide space            */
        { 0xff01, 0xff5e },                     /* wide forms of ASCII, colon too    */
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i].first && code <= ranges[i].last) return true;
    return false;
}

uint32_t yaml_text_look_alike(const char *text, size_t bytes, size_t *offset)
{
    for (size_t at = 0; at < bytes;) {
        uint32_t code = 0;
        const size_t length = text_utf8(text + at, bytes - at, &code);
        if (length == 0) return 0;
        if (looks_alike(code)) {
            *offset = at;
            return code;
        }
        at += length;
    }
    return 0;
}

size_t yaml_cursor_byte(struct yaml_cursor *cursor, const struct yaml_document *document,
                        size_t character)
{
    const char *text = document->text;
    while (cursor->character < character && cursor->byte < document->text_bytes) {
        cursor->byte++;
        while (cursor->byte < document->text_bytes && (text[cursor->byte] & 0xc0) == 0x80)
            cursor->byte++;
        cursor->character++;
    }
    while (cursor->character > character) {
        cursor->byte--;
        while ((text[cursor->byte] & 0xc0) == 0x80) cursor->byte--;
        cursor->character--;
    }
    return cursor->byte;
}
