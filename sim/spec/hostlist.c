/* hostlist.c - see hostlist.h. */
#include "spec/hostlist.h"

#include "base/assert.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER_DIGITS = 9 }; /* more would leave uint32_t */

/* A piece of an item: text, or the numbers of one pair of brackets (bytes without the brackets). */
struct piece {
    const char *text;
    uint32_t bytes;
    bool numbers;
    uint32_t hosts; /* numbers in the brackets; 1 for text */
};

struct item {
    struct piece pieces[2 * HOSTLIST_BRACKETS + 1];
    uint32_t piece_count;
    uint64_t hosts;   /* product over the pieces */
    uint32_t longest; /* bytes of its longest name at most */
};

/* "lo-hi" or "lo" between commas of a pair of brackets. */
struct range {
    uint32_t low, high, width;
};

/* Digits at text, into *value; 0 when there are none or too many. */
static uint32_t read_number(const char *text, const char *end, uint32_t *value)
{
    uint32_t digits = 0;
    *value = 0;
    while (text + digits < end && text[digits] >= '0' && text[digits] <= '9') {
        if (digits == NUMBER_DIGITS) return 0;
        *value = 10 * *value + (uint32_t)(text[digits++] - '0');
    }
    return digits;
}

/* The range at *at, which moves behind it and its comma. False: malformed. */
static bool read_range(const char **at, const char *end, struct range *range)
{
    const uint32_t digits = read_number(*at, end, &range->low);
    if (digits == 0) return false;
    *at += digits;
    range->width = digits;
    range->high = range->low;
    if (*at < end && **at == '-') {
        const uint32_t more = read_number(*at + 1, end, &range->high);
        if (more == 0 || range->high < range->low) return false;
        *at += 1 + more;
    }
    if (*at == end) return true;
    if (**at != ',' || *at + 1 == end) return false;
    ++*at;
    return true;
}

static uint32_t digits_of(uint32_t value)
{
    uint32_t digits = 1;
    while (value >= 10) value /= 10, digits++;
    return digits;
}

/* Counts the numbers of a piece; 0 when malformed. */
static uint64_t count_numbers(const struct piece *piece, uint32_t *longest)
{
    const char *at = piece->text, *const end = piece->text + piece->bytes;
    uint64_t count = 0;
    *longest = 0;
    while (at < end) {
        struct range range;
        if (!read_range(&at, end, &range)) return 0;
        count += (uint64_t)range.high - range.low + 1;
        const uint32_t digits = digits_of(range.high);
        const uint32_t bytes = digits > range.width ? digits : range.width;
        if (bytes > *longest) *longest = bytes;
    }
    return count;
}

static const char *add_numbers(const char **text, struct item *item)
{
    const char *const close = strchr(*text, ']');
    if (!close) return "lacks a ']'";
    if (item->piece_count + 2 > sizeof item->pieces / sizeof *item->pieces)
        return "has too many brackets in one name";
    struct piece *piece = &item->pieces[item->piece_count++];
    *piece = (struct piece){ *text + 1, (uint32_t)(close - *text - 1), true, 0 };
    uint32_t longest;
    const uint64_t hosts = count_numbers(piece, &longest);
    if (hosts == 0) return "needs numbers or ranges as 0-3 between [ and ]";
    if (hosts > LIMIT_GPUS || item->hosts * hosts > LIMIT_GPUS) return "holds too many hosts";
    piece->hosts = (uint32_t)hosts;
    item->hosts *= hosts;
    item->longest += longest;
    *text = close + 1;
    return NULL;
}

/* Reads the item at *text up to its comma and moves behind it. */
static const char *read_item(const char **text, struct item *item)
{
    *item = (struct item){ .hosts = 1 };
    while (**text && **text != ',') {
        if (**text == ']') return "has a ']' without a '['";
        if (**text == '[') {
            const char *const why = add_numbers(text, item);
            if (why) return why;
            continue;
        }
        const uint32_t bytes = (uint32_t)strcspn(*text, ",[]");
        if (strcspn(*text, " \t") < bytes) return "holds a blank";
        item->pieces[item->piece_count++] = (struct piece){ *text, bytes, false, 1 };
        item->longest += bytes;
        *text += bytes;
        if (item->piece_count == sizeof item->pieces / sizeof *item->pieces && **text == '[')
            return "has too many brackets in one name";
    }
    if (item->piece_count == 0) return "has an empty name";
    if (item->longest >= LIMIT_NAME_BYTES) return "holds a name that is too long";
    if (**text == ',') {
        ++*text;
        if (!**text) return "ends with a comma";
    }
    return NULL;
}

const char *hostlist_check(const char *text, uint32_t *count)
{
    uint64_t hosts = 0;
    if (!*text) return "is empty";
    while (*text) {
        struct item item;
        const char *const why = read_item(&text, &item);
        if (why) return why;
        hosts += item.hosts;
        if (hosts > LIMIT_GPUS) return "holds too many hosts";
    }
    *count = (uint32_t)hosts;
    return NULL;
}

/* Writes the number at place `index` of a piece; returns its bytes. */
static uint32_t write_number(const struct piece *piece, uint32_t index, char *out, size_t out_bytes)
{
    const char *at = piece->text, *const end = piece->text + piece->bytes;
    struct range range = { 0 };
    while (read_range(&at, end, &range) && index > range.high - range.low)
        index -= range.high - range.low + 1;
    const int bytes = snprintf(out, out_bytes, "%0*u", (int)range.width, range.low + index);
    ASSERT(bytes > 0 && (size_t)bytes < out_bytes);
    return (uint32_t)bytes;
}

static void write_name(const struct item *item, uint32_t index, char name[LIMIT_NAME_BYTES])
{
    uint64_t hosts_behind = item->hosts;
    size_t used = 0;
    for (uint32_t i = 0; i < item->piece_count; i++) {
        const struct piece *piece = &item->pieces[i];
        if (!piece->numbers) {
            memcpy(name + used, piece->text, piece->bytes);
            used += piece->bytes;
            continue;
        }
        hosts_behind /= piece->hosts;
        used += write_number(piece, (uint32_t)(index / hosts_behind), name + used,
                             LIMIT_NAME_BYTES - used);
        index = (uint32_t)(index % hosts_behind);
    }
    name[used] = '\0';
}

bool hostlist_name(const char *text, uint32_t index, char name[LIMIT_NAME_BYTES])
{
    while (*text) {
        struct item item;
        if (read_item(&text, &item)) return false;
        if (index < item.hosts) {
            write_name(&item, index, name);
            return true;
        }
        index -= (uint32_t)item.hosts;
    }
    return false;
}

/* The place of the number that digits[count] write in a piece; false when it is not there. */
static bool find_number(const struct piece *piece, const char *digits, uint32_t count,
                        uint32_t *place)
{
    const char *at = piece->text, *const end = piece->text + piece->bytes;
    uint32_t value;
    if (read_number(digits, digits + count, &value) != count) return false;
    struct range range;
    for (*place = 0; at < end && read_range(&at, end, &range);
         *place += range.high - range.low + 1) {
        const uint32_t natural = digits_of(value);
        if (value < range.low || value > range.high) continue;
        if (count != (natural > range.width ? natural : range.width)) continue;
        *place += value - range.low;
        return true;
    }
    return false;
}

/* The place among the hosts of pieces[from..] whose name is `name`. Digits behind a bracket may belong to the text
 * that follows it, so each length is tried. */
static bool match(const struct item *item, uint32_t from, const char *name, uint64_t *place)
{
    if (from == item->piece_count) {
        *place = 0;
        return *name == '\0';
    }
    const struct piece *piece = &item->pieces[from];
    if (!piece->numbers)
        return strncmp(name, piece->text, piece->bytes) == 0 &&
               match(item, from + 1, name + piece->bytes, place);
    uint64_t behind = 1;
    for (uint32_t i = from + 1; i < item->piece_count; i++) behind *= item->pieces[i].hosts;
    for (uint32_t digits = 1; name[digits - 1] >= '0' && name[digits - 1] <= '9'; digits++) {
        uint32_t number;
        if (!find_number(piece, name, digits, &number)) continue;
        if (!match(item, from + 1, name + digits, place)) continue;
        *place += number * behind;
        return true;
    }
    return false;
}

bool hostlist_find(const char *text, const char *name, uint32_t *index)
{
    uint64_t before = 0;
    while (*text) {
        struct item item;
        uint64_t place;
        if (read_item(&text, &item)) return false;
        if (match(&item, 0, name, &place)) {
            *index = (uint32_t)(before + place);
            return true;
        }
        before += item.hosts;
    }
    return false;
}
