/* trace_number.c - the decimal point is moved instead of multiplying by powers of ten: no step
 * rounds but the last one. */
#include "io/trace_number.h"

#include <string.h>

enum { EXPONENT_MOST = 1000000 };

/* A number taken apart: the digits of its mantissa stand in [from, to), one point may be inside. */
struct decimal {
    const char *from, *to;
    long point; /* digits before the decimal point, exponent included */
    bool is_negative;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_missing(const char *text, size_t bytes)
{
    static const char *const words[] = { "NA", "NaN", "nan", "null", "None", "\\N", "-" };
    if (bytes == 0) return true;
    if (bytes > 4 || is_digit(text[0])) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == bytes && memcmp(words[i], text, bytes) == 0) return true;
    return false;
}

/* [+-] digits up to `end`, clamped: beyond a million the value is 0 or out of range anyway. */
static bool read_exponent(const char *at, const char *end, long *out)
{
    const bool is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end) return false;
    long exponent = 0;
    for (; at < end; at++) {
        if (!is_digit(*at)) return false;
        if (exponent < EXPONENT_MOST) exponent = exponent * 10 + (*at - '0');
    }
    *out = is_negative ? -exponent : exponent;
    return true;
}

static bool take_apart(const char *text, size_t bytes, struct decimal *out)
{
    const char *at = text, *const end = text + bytes;
    out->is_negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    out->from = at;
    while (at < end && is_digit(*at)) at++;
    out->point = (long)(at - out->from);
    if (out->point > 1 && *out->from == '0') return false; /* 010 is 8 to some (P03) */
    long digits = out->point;
    if (at < end && *at == '.') {
        const char *const fraction = ++at;
        while (at < end && is_digit(*at)) at++;
        digits += (long)(at - fraction);
    }
    out->to = at;
    if (digits == 0) return false;
    if (at == end) return true;
    long exponent;
    if ((*at != 'e' && *at != 'E') || !read_exponent(at + 1, end, &exponent)) return false;
    out->point += exponent;
    return true;
}

/* The integer formed by the first `whole` digits, rounded by the next one. is_exact is false when a digit other than 0 was cut.
 * False when it does not fit. */
static bool compose(const struct decimal *decimal, long whole, int64_t *out, bool *is_exact)
{
    int64_t value = 0;
    long place = 0; /* of the digit, from 0 */
    bool round_up = false;
    *is_exact = true;
    for (const char *at = decimal->from; at < decimal->to; at++) {
        if (*at == '.') continue;
        if (place < whole) {
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, *at - '0', &value))
                return false;
        } else {
            if (place == whole) round_up = *at >= '5';
            if (*at != '0') *is_exact = false;
        }
        place++;
    }
    for (; place < whole && value != 0; place++)
        if (__builtin_mul_overflow(value, 10, &value)) return false;
    if (round_up && __builtin_add_overflow(value, 1, &value)) return false;
    *out = decimal->is_negative ? -value : value;
    return true;
}

enum number_result number_scaled(const char *text, size_t bytes, int decimals, int64_t *out)
{
    struct decimal decimal;
    bool is_exact;
    if (!take_apart(text, bytes, &decimal))
        return is_missing(text, bytes) ? NUMBER_MISSING : NUMBER_BAD;
    return compose(&decimal, decimal.point + decimals, out, &is_exact) ? NUMBER_OK : NUMBER_RANGE;
}

enum number_result number_count(const char *text, size_t bytes, int64_t *out)
{
    struct decimal decimal;
    bool is_exact;
    if (!take_apart(text, bytes, &decimal))
        return is_missing(text, bytes) ? NUMBER_MISSING : NUMBER_BAD;
    if (!compose(&decimal, decimal.point, out, &is_exact)) return NUMBER_RANGE;
    return is_exact ? NUMBER_OK : NUMBER_FRACTION;
}

size_t number_write(int64_t value, int decimals, char *out)
{
    char reversed[NUMBER_TEXT_BYTES]; /* 19 digits at most, a point, and zeros up to the point */
    size_t count = 0;
    uint64_t left = (uint64_t)value;
    for (int place = 0; place <= decimals || left != 0; place++, left /= 10) {
        if (place == decimals && count > 0) reversed[count++] = '.';
        if (place >= decimals || count > 0 || left % 10 != 0)
            reversed[count++] = (char)('0' + left % 10);
    }
    for (size_t i = 0; i < count; i++) out[i] = reversed[count - 1 - i];
    return count;
}
