/* quantity.c - texts to numbers: the grammar is checked first, then the C library converts.
 *
 * strtod is called in this file only, on a text that the grammar below has accepted. The program
 * never calls setlocale, so its decimal point is always the point (P43). */
#include "base/quantity.h"

#include "base/clock.h"
#include "base/int128.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_BYTES = 100 }; /* longest number: 17 digits say everything a double can hold */

__attribute__((format(printf, 2, 3))) static bool refuse(struct why *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static size_t digits_at(const char *text, size_t bytes, size_t at)
{
    size_t count = 0;
    while (at + count < bytes && is_digit(text[at + count])) count++;
    return count;
}

static bool text_is(const char *text, size_t bytes, const char *word)
{
    return bytes == strlen(word) && memcmp(text, word, bytes) == 0;
}

static bool text_is_any_case(const char *text, size_t bytes, const char *word)
{
    return bytes == strlen(word) && strncasecmp(text, word, bytes) == 0;
}

/* ---- numbers ---- */

/* The parts of a decimal number: offsets into the text. */
struct decimal {
    bool negative;
    size_t whole_at, whole_digits, fraction_at, fraction_digits;
    bool has_exponent;
    size_t bytes; /* of the number; 0 when the text does not start with one */
};

static struct decimal decimal_scan(const char *text, size_t bytes)
{
    struct decimal number = { 0 };
    size_t at = 0;
    if (at < bytes && (text[at] == '-' || text[at] == '+')) number.negative = text[at++] == '-';
    number.whole_at = at;
    number.whole_digits = digits_at(text, bytes, at);
    at += number.whole_digits;
    if (at < bytes && text[at] == '.') {
        number.fraction_at = at + 1;
        number.fraction_digits = digits_at(text, bytes, at + 1);
        if (number.whole_digits + number.fraction_digits > 0) at += 1 + number.fraction_digits;
    }
    if (number.whole_digits + number.fraction_digits == 0) return (struct decimal){ 0 };
    if (at < bytes && (text[at] == 'e' || text[at] == 'E')) {
        size_t behind = at + 1;
        if (behind < bytes && (text[behind] == '-' || text[behind] == '+')) behind++;
        const size_t digits = digits_at(text, bytes, behind);
        if (digits > 0) {
            number.has_exponent = true;
            at = behind + digits;
        }
    }
    number.bytes = at;
    return number;
}

/* The words that other readers take for numbers. */
static bool refuse_word(const char *text, size_t bytes, struct why *why)
{
    if (bytes > 0 && (text[0] == '-' || text[0] == '+')) text++, bytes--;
    static const char *const words[] = { "nan", ".nan", "inf", ".inf", "infinity" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (text_is_any_case(text, bytes, words[i]))
            return refuse(why, "not a finite number; write decimal digits such as 8 or 0.5");
    return refuse(why, "not a number; write decimal digits such as 8, 0.5 or 1e3");
}

/* Why the bytes behind a number spoil it. */
static bool refuse_rest(const char *text, size_t bytes, size_t at, struct why *why)
{
    const char next = text[at];
    const bool digit_follows = at + 1 < bytes && is_digit(text[at + 1]);
    if (memchr(text + at, '#', bytes - at))
        return refuse(why, "a comment needs a blank before its '#'; write 8 # spare");
    if (digit_follows && strchr("_,' ", next) != NULL)
        return refuse(why, "digits must not be grouped; write 1000");
    if (at >= 1 && text[at - 1] == '0' && strchr("xXoObB", next) != NULL && at <= 2)
        return refuse(why, "numbers are decimal, without a base prefix; write 8 or 10");
    return refuse(why, "'%.*s' follows the number; write the number alone, such as 8",
                  (int)(bytes - at > 24 ? 24 : bytes - at), text + at);
}

/* Scans a number with its common rules; the caller looks at what follows it. */
static bool decimal_read(const char *text, size_t bytes, struct decimal *number, struct why *why)
{
    *number = decimal_scan(text, bytes);
    if (bytes == 0) return refuse(why, "the value is missing; write decimal digits such as 8");
    if (number->bytes == 0) return refuse_word(text, bytes, why);
    if (number->bytes > NUMBER_BYTES)
        return refuse(why, "a number of more than %d characters; 17 digits are enough",
                      NUMBER_BYTES);
    if (number->whole_digits > 1 && text[number->whole_at] == '0')
        return refuse(why, "a leading zero means octal to some readers; write 8 or 10, without it");
    return true;
}

/* The double of a scanned number. */
static bool decimal_double(const char *text, const struct decimal *number, double *out,
                           struct why *why)
{
    char copy[NUMBER_BYTES + 1];
    memcpy(copy, text, number->bytes);
    copy[number->bytes] = '\0';
    errno = 0;
    *out = strtod(copy, NULL);
    if (errno == ERANGE && fabs(*out) > 1)
        return refuse(why, "too large for a number; the largest is about 1e308");
    if (errno == ERANGE) return refuse(why, "too small for a number; write 0 or at least 1e-307");
    return true;
}

bool quantity_number(const char *text, size_t bytes, double *out, struct why *why)
{
    struct decimal number;
    if (!decimal_read(text, bytes, &number, why)) return false;
    if (number.bytes < bytes) return refuse_rest(text, bytes, number.bytes, why);
    return decimal_double(text, &number, out, why);
}

bool quantity_count(const char *text, size_t bytes, int64_t *out, struct why *why)
{
    struct decimal number;
    if (!decimal_read(text, bytes, &number, why)) return false;
    if (number.bytes < bytes) return refuse_rest(text, bytes, number.bytes, why);
    if (number.whole_digits == bytes - number.whole_at) {
        int64_t value = 0;
        for (size_t i = number.whole_at; i < bytes; i++)
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, text[i] - '0', &value))
                return refuse(why, "too large for a whole number; the largest is 2^63 - 1");
        *out = number.negative ? -value : value;
        return true;
    }
    double value = 0;
    if (!decimal_double(text, &number, &value, why)) return false;
    if (fabs(value) > 9007199254740992.0) /* 2^53: above it not every integer is a double */
        return refuse(why, "too large for this form; write all digits of the whole number");
    if (value != floor(value))
        return refuse(why, "not a whole number; write %.0f or %.0f", floor(value), ceil(value));
    *out = (int64_t)value;
    return true;
}

bool quantity_share(const char *text, size_t bytes, double *out, struct why *why)
{
    struct decimal number;
    if (!decimal_read(text, bytes, &number, why)) return false;
    const bool percent = bytes == number.bytes + 1 && text[bytes - 1] == '%';
    if (number.bytes < bytes && !percent) return refuse_rest(text, bytes, number.bytes, why);
    double value = 0;
    if (!decimal_double(text, &number, &value, why)) return false;
    if (percent && value >= 0 && value <= 100) {
        *out = value / 100;
        return true;
    }
    if (percent) return refuse(why, "outside 0%% to 100%%; write 50%% or 0.5");
    if (value > 1 && value <= 100)
        return refuse(why, "a share is 0 to 1; write %g%% or %g", value, value / 100);
    if (!(value >= 0 && value <= 1)) return refuse(why, "a share is 0 to 1; write 50%% or 0.5");
    *out = value;
    return true;
}

bool quantity_bool(const char *text, size_t bytes, bool *out, struct why *why)
{
    static const char *const yes[] = { "true", "True", "TRUE" };
    static const char *const no[] = { "false", "False", "FALSE" };
    for (size_t i = 0; i < 3; i++) {
        *out = text_is(text, bytes, yes[i]);
        if (*out || text_is(text, bytes, no[i])) return true;
    }
    return refuse(why, "not a truth value; write true or false");
}

/* ---- durations ---- */

static const struct {
    const char *name;
    int64_t ns;
} time_units[] = {
    { "d", NS_PER_DAY }, { "h", NS_PER_HOUR }, { "m", 60 * NS_PER_S },
    { "s", NS_PER_S },   { "ms", 1000000 },    { "us", 1000 },
    { "ns", 1 },
};
enum { TIME_UNITS = sizeof time_units / sizeof *time_units };

static const char duration_form[] = "write 90s, 1h30m, 2d, 500ms or H:MM:SS";

static bool add_ns(int64_t *sum_ns, int64_t ns, struct why *why)
{
    if (__builtin_add_overflow(*sum_ns, ns, sum_ns) || *sum_ns == TIME_NEVER)
        return refuse(why, "longer than 292 years; %s", duration_form);
    return true;
}

/* number * unit, exact in integers unless an exponent is written. */
static bool decimal_ns(const char *text, const struct decimal *number, int64_t unit_ns,
                       int64_t *out_ns, struct why *why)
{
    if (number->has_exponent) {
        double value = 0;
        if (!decimal_double(text, number, &value, why)) return false;
        value *= (double)unit_ns;
        if (value >= 9.2e18) return refuse(why, "longer than 292 years; %s", duration_form);
        *out_ns = (int64_t)(value + 0.5);
        return true;
    }
    int64_t whole = 0;
    for (size_t i = 0; i < number->whole_digits; i++)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, text[number->whole_at + i] - '0', &whole))
            return refuse(why, "longer than 292 years; %s", duration_form);
    if (__builtin_mul_overflow(whole, unit_ns, &whole))
        return refuse(why, "longer than 292 years; %s", duration_form);
    int64_t fraction = 0, scale = 1; /* 18 digits of a day are far below a nanosecond */
    for (size_t i = 0; i < number->fraction_digits && i < 18; i++) {
        fraction = fraction * 10 + (text[number->fraction_at + i] - '0');
        scale *= 10;
    }
    const int128 rounded = ((int128)fraction * unit_ns + scale / 2) / scale;
    return add_ns(&whole, (int64_t)rounded, why) ? (*out_ns = whole, true) : false;
}

/* A run of letters at `at`, and which unit it names; TIME_UNITS when none. */
static size_t time_unit_at(const char *text, size_t bytes, size_t at, size_t *letters)
{
    *letters = 0;
    while (at + *letters < bytes && ((text[at + *letters] | 0x20) >= 'a') &&
           ((text[at + *letters] | 0x20) <= 'z'))
        ++*letters;
    size_t unit = 0;
    while (unit < TIME_UNITS && !text_is(text + at, *letters, time_units[unit].name)) unit++;
    return unit;
}

static bool refuse_time_unit(const char *unit, size_t letters, struct why *why)
{
    if (letters == 0) return refuse(why, "a duration needs a unit; %s", duration_form);
    if (text_is(unit, letters, "M"))
        return refuse(why, "'M' is no unit of time (minutes are m); %s", duration_form);
    return refuse(why, "'%.*s' is no unit of time (d h m s ms us ns); %s",
                  (int)(letters > 16 ? 16 : letters), unit, duration_form);
}

/* Parts with units, largest first. Single blanks may stand between. */
static bool read_parts(const char *text, size_t bytes, int64_t *out_ns, struct why *why)
{
    size_t at = 0, last_unit = TIME_UNITS;
    *out_ns = 0;
    while (at < bytes) {
        struct decimal number;
        if (!decimal_read(text + at, bytes - at, &number, why))
            return refuse(why, "not a duration; %s", duration_form);
        if (number.negative) return refuse(why, "a duration cannot be negative; %s", duration_form);
        size_t unit_at = at + number.bytes, letters;
        if (unit_at < bytes && text[unit_at] == ' ') unit_at++;
        const size_t unit = time_unit_at(text, bytes, unit_at, &letters);
        if (unit == TIME_UNITS) return refuse_time_unit(text + unit_at, letters, why);
        if (last_unit != TIME_UNITS && unit <= last_unit)
            return refuse(why, "units go from large to small, each once; %s", duration_form);
        int64_t part_ns = 0;
        if (!decimal_ns(text + at, &number, time_units[unit].ns, &part_ns, why)) return false;
        if (!add_ns(out_ns, part_ns, why)) return false;
        last_unit = unit;
        at = unit_at + letters;
        if (at + 1 < bytes && text[at] == ' ') at++;
    }
    return true;
}

/* Digits at *at as a number below `below`; moves *at behind them. */
static bool clock_field(const char *text, size_t bytes, size_t *at, size_t digits_min,
                        size_t digits_max, int64_t below, int64_t *out)
{
    const size_t digits = digits_at(text, bytes, *at);
    if (digits < digits_min || digits > digits_max) return false;
    *out = 0;
    for (size_t i = 0; i < digits; i++) *out = *out * 10 + (text[*at + i] - '0');
    *at += digits;
    return *out < below;
}

static bool skip(const char *text, size_t bytes, size_t *at, char byte)
{
    if (*at >= bytes || text[*at] != byte) return false;
    ++*at;
    return true;
}

/* H:MM:SS and D-HH:MM:SS. A text of two parts has two readings, both are named (P04). */
static bool read_clock(const char *text, size_t bytes, int64_t *out_ns, struct why *why)
{
    int64_t days = 0, hours, minutes, seconds, second_part;
    size_t at = 0;
    const bool has_days = memchr(text, '-', bytes) != NULL;
    if (has_days &&
        !(clock_field(text, bytes, &at, 1, 5, 99999, &days) && skip(text, bytes, &at, '-')))
        return refuse(why, "not a duration; write D-HH:MM:SS");
    const size_t hours_at = at;
    if (clock_field(text, bytes, &at, 1, 6, has_days ? 24 : 1000000, &hours) &&
        skip(text, bytes, &at, ':') && clock_field(text, bytes, &at, 2, 2, 60, &minutes) &&
        skip(text, bytes, &at, ':') && clock_field(text, bytes, &at, 2, 2, 60, &seconds) &&
        at == bytes) {
        *out_ns = days * NS_PER_DAY + hours * NS_PER_HOUR + (minutes * 60 + seconds) * NS_PER_S;
        return true;
    }
    at = hours_at;
    if (!has_days && clock_field(text, bytes, &at, 1, 6, 1000000, &hours) &&
        skip(text, bytes, &at, ':') && clock_field(text, bytes, &at, 1, 2, 100, &second_part) &&
        at == bytes)
        return refuse(why, "two readings; write %dh%dm or %dm%ds", (int)hours, (int)second_part,
                      (int)hours, (int)second_part);
    return refuse(why, "not a duration; write H:MM:SS or D-HH:MM:SS");
}

bool quantity_duration(const char *text, size_t bytes, int64_t *out_ns, struct why *why)
{
    if (bytes == 0) return refuse(why, "the value is missing; %s", duration_form);
    if (memchr(text, ':', bytes)) return read_clock(text, bytes, out_ns, why);
    return read_parts(text, bytes, out_ns, why);
}

bool quantity_duration_s(const char *text, size_t bytes, double *out_s, struct why *why)
{
    struct decimal number;
    size_t letters = 0;
    if (decimal_read(text, bytes, &number, why) && !number.negative) {
        size_t unit_at = number.bytes;
        if (unit_at < bytes && text[unit_at] == ' ') unit_at++;
        const size_t unit = time_unit_at(text, bytes, unit_at, &letters);
        if (unit < TIME_UNITS && unit_at + letters == bytes) { /* one part: finer than 1 ns stays */
            double value = 0;
            if (!decimal_double(text, &number, &value, why)) return false;
            const double ns = (double)time_units[unit].ns;
            *out_s = time_units[unit].ns >= NS_PER_S ? value * (ns / 1e9) : value / (1e9 / ns);
            return true;
        }
    }
    int64_t ns = 0;
    if (!quantity_duration(text, bytes, &ns, why)) return false;
    *out_s = s_from_ns(ns);
    return true;
}
