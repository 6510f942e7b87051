/* trace_clock.c - reading date texts, and applying a zone. trace_zone.c opens zones. */
#include "io/trace_clock.h"

#include "base/clock.h"
#include "io/trace_number.h"
#include "io/trace_zone.h"

#include <string.h>

enum { YEAR_FIRST = 1970, YEAR_LAST = 2199, S_PER_MIN = 60, S_PER_HOUR = 3600, S_PER_DAY = 86400 };

/* What is left to read; every step takes something off its front. */
struct rest {
    const char *at, *end;
};

static bool take_char(struct rest *rest, char want)
{
    if (rest->at == rest->end || *rest->at != want) return false;
    rest->at++;
    return true;
}

static bool take_digits(struct rest *rest, int digits, int most, int *out)
{
    int value = 0;
    for (; digits > 0; digits--) {
        if (rest->at == rest->end || *rest->at < '0' || *rest->at > '9') return false;
        value = value * 10 + (*rest->at++ - '0');
    }
    *out = value;
    return value <= most;
}

bool zone_take_offset(const char *text, size_t bytes, int32_t *offset_s)
{
    struct rest rest = { text, text + bytes };
    *offset_s = 0;
    if (take_char(&rest, 'Z')) return rest.at == rest.end;
    const int sign = take_char(&rest, '-') ? -1 : take_char(&rest, '+') ? 1 : 0;
    int hours, minutes = 0;
    if (sign == 0 || !take_digits(&rest, 2, 14, &hours)) return false;
    if (rest.at < rest.end) {
        take_char(&rest, ':');
        if (!take_digits(&rest, 2, 59, &minutes)) return false;
    }
    *offset_s = sign * (hours * S_PER_HOUR + minutes * S_PER_MIN);
    return rest.at == rest.end;
}

/* Days from 1970-01-01. Years are taken from March on, so that the leap day is a year's last. */
int64_t days_of_date(int year, int month, int day)
{
    const int64_t y = month >= 3 ? year : year - 1;
    const int64_t month_from_march = month >= 3 ? month - 3 : month + 9;
    const int64_t leap_days = y / 4 - y / 100 + y / 400;
    /* Months from March run 31 30 31 30 31 | 31 30 31 30 31 | 31 29: (153 m + 2) / 5 days precede month m. */
    const int64_t since_year_0 = y * 365 + leap_days + (153 * month_from_march + 2) / 5 + day - 1;
    return since_year_0 - 719468; /* from 0000-03-01 to 1970-01-01 */
}

static int days_in_month(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && is_leap);
}

static bool take_date(struct rest *rest, int64_t *days)
{
    int year, month, day;
    if (!take_digits(rest, 4, YEAR_LAST, &year) || year < YEAR_FIRST || !take_char(rest, '-'))
        return false;
    if (!take_digits(rest, 2, 12, &month) || month < 1 || !take_char(rest, '-')) return false;
    if (!take_digits(rest, 2, 31, &day) || day < 1 || day > days_in_month(year, month))
        return false;
    *days = days_of_date(year, month, day);
    return true;
}

/* Time of day: seconds, and the fraction of a second in ns. */
static bool take_time(struct rest *rest, int64_t *day_s, int64_t *fraction_ns, bool *is_leap)
{
    int hour, minute, second = 0;
    *fraction_ns = 0;
    if (!take_digits(rest, 2, 24, &hour) || !take_char(rest, ':')) return false;
    if (!take_digits(rest, 2, 59, &minute)) return false;
    if (take_char(rest, ':')) {
        if (!take_digits(rest, 2, 60, &second)) return false;
        const char *const point = rest->at;
        if (take_char(rest, '.')) {
            while (rest->at < rest->end && *rest->at >= '0' && *rest->at <= '9') rest->at++;
            if (rest->at - point < 2) return false;
            if (number_scaled(point, (size_t)(rest->at - point), NUMBER_NS_DECIMALS, fraction_ns) !=
                NUMBER_OK)
                return false;
        }
    }
    *is_leap = second == 60;
    if (*is_leap) second = 59;
    if (hour == 24 && (minute != 0 || second != 0 || *fraction_ns != 0)) return false;
    *day_s = hour * S_PER_HOUR + minute * S_PER_MIN + second;
    return true;
}

/* The offsets a day before and a day behind are the only ones that can hold; each is tried. */
static enum clock_result local_to_utc(const struct zone *zone, int64_t local_s, int64_t *utc_s)
{
    int32_t offset_s[2];
    int found = 0;
    if (!zone_offset_at(zone, local_s - S_PER_DAY, &offset_s[0]) ||
        !zone_offset_at(zone, local_s + S_PER_DAY, &offset_s[1]))
        return CLOCK_OUTSIDE;
    for (int i = 0; i < 2; i++) {
        int32_t there_s;
        if (i == 1 && offset_s[1] == offset_s[0]) break;
        if (!zone_offset_at(zone, local_s - offset_s[i], &there_s) || there_s != offset_s[i])
            continue;
        *utc_s = local_s - offset_s[i];
        found++;
    }
    return found == 1 ? CLOCK_OK : found == 0 ? CLOCK_SKIPPED : CLOCK_TWICE;
}

enum clock_result clock_read(const char *text, size_t bytes, const struct zone *zone, int64_t *ns)
{
    struct rest rest = { text, text + bytes };
    int64_t days, day_s, fraction_ns, utc_s, unused;
    bool is_leap;
    if (number_scaled(text, bytes, NUMBER_NS_DECIMALS, &unused) == NUMBER_MISSING)
        return CLOCK_MISSING;
    if (!take_date(&rest, &days)) return CLOCK_BAD;
    if (!take_char(&rest, 'T') && !take_char(&rest, ' ')) return CLOCK_BAD;
    if (!take_time(&rest, &day_s, &fraction_ns, &is_leap)) return CLOCK_BAD;
    const int64_t local_s = days * S_PER_DAY + day_s;
    if (rest.at < rest.end) {
        int32_t offset_s;
        if (!zone_take_offset(rest.at, (size_t)(rest.end - rest.at), &offset_s)) return CLOCK_BAD;
        utc_s = local_s - offset_s;
    } else {
        if (zone->kind == ZONE_NONE) return CLOCK_NO_ZONE;
        const enum clock_result result = local_to_utc(zone, local_s, &utc_s);
        if (result != CLOCK_OK) return result;
    }
    *ns = utc_s * NS_PER_S + fraction_ns;
    return is_leap ? CLOCK_LEAP : CLOCK_OK;
}
