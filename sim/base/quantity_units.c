/* quantity_units.c - sizes, bandwidths, rates and powers: a number, then a unit by its own table. */
#include "base/quantity.h"

#include <stdio.h>
#include <string.h>

static const char size_form[] = "write 80GB or 80GiB";
static const char bandwidth_form[] = "write 400Gb/s or 50GB/s (b is bit, B is byte)";
static const char rate_form[] = "write 3/day, 0.02/h or 0.09/year";
static const char power_form[] = "write 700W or 10.2kW";

static bool refuse(struct why *why, const char *problem, const char *form)
{
    snprintf(why->text, sizeof why->text, "%s; %s", problem, form);
    return false;
}

static bool is_unit_start(char byte)
{
    return byte == '/' || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

/* Splits "48.5 GB/s" into 48.5 and "GB/s". 'e' belongs to the number only before an exponent. */
static bool split(const char *text, size_t bytes, double *number, const char **unit,
                  size_t *unit_bytes, const char *form, struct why *why)
{
    size_t at = 0;
    while (at < bytes &&
           (!is_unit_start(text[at]) || ((text[at] | 0x20) == 'e' && at + 1 < bytes && at > 0 &&
                                         strchr("+-0123456789", text[at + 1]) != NULL)))
        at++;
    size_t number_bytes = at;
    if (number_bytes > 1 && at < bytes && text[at - 1] == ' ') number_bytes--;
    if (!quantity_number(text, number_bytes, number, why)) {
        if (number_bytes == 0) return refuse(why, "the number is missing", form);
        return false;
    }
    *unit = text + at;
    *unit_bytes = bytes - at;
    return true;
}

/* A prefix at *unit as its factor; moves *unit behind it. 0 with a reason for the wrong case. */
static double prefix_read(const char **unit, size_t *bytes, const char *form, struct why *why)
{
    static const char letters[] = "kMGTPE";
    static const double decimal[] = { 1e3, 1e6, 1e9, 1e12, 1e15, 1e18 };
    if (*bytes < 2) return 1;
    if (**unit == 'm') {
        refuse(why, "'m' is milli; mega is M", form);
        return 0;
    }
    const bool binary = (*unit)[1] == 'i';
    const char letter = **unit == 'K' && binary ? 'k' : **unit;
    if (letter == 'K' || (letter == 'k' && binary && **unit == 'k')) {
        refuse(why, "kilo is k (1000) and kibi is Ki (1024)", form);
        return 0;
    }
    const char *found = strchr(letters, letter);
    if (found == NULL || letter == '\0') return 1;
    const size_t power = (size_t)(found - letters);
    *unit += binary ? 2 : 1;
    *bytes -= binary ? 2 : 1;
    return binary ? (double)(UINT64_C(1) << (10 * (power + 1))) : decimal[power];
}

static bool is(const char *text, size_t bytes, const char *word)
{
    return bytes == strlen(word) && memcmp(text, word, bytes) == 0;
}

bool quantity_size(const char *text, size_t bytes, double *out_bytes, struct why *why)
{
    double number = 0;
    const char *unit;
    size_t unit_bytes;
    if (!split(text, bytes, &number, &unit, &unit_bytes, size_form, why)) return false;
    if (number < 0) return refuse(why, "a size cannot be negative", size_form);
    if (unit_bytes == 0) return refuse(why, "a size needs a unit", size_form);
    const double factor = prefix_read(&unit, &unit_bytes, size_form, why);
    if (factor == 0) return false;
    if (is(unit, unit_bytes, "b"))
        return refuse(why, "sizes are in bytes (B); b is bit", size_form);
    if (!is(unit, unit_bytes, "B")) return refuse(why, "not a unit of size", size_form);
    *out_bytes = number * factor;
    return true;
}

bool quantity_bandwidth(const char *text, size_t bytes, double *out_bytes_per_s, struct why *why)
{
    double number = 0;
    const char *unit;
    size_t unit_bytes;
    if (!split(text, bytes, &number, &unit, &unit_bytes, bandwidth_form, why)) return false;
    if (number < 0) return refuse(why, "a bandwidth cannot be negative", bandwidth_form);
    if (unit_bytes == 0)
        return refuse(why, "a bandwidth needs a unit, bits and bytes differ by 8", bandwidth_form);
    const double factor = prefix_read(&unit, &unit_bytes, bandwidth_form, why);
    if (factor == 0) return false;
    const bool bits = is(unit, unit_bytes, "b/s") || is(unit, unit_bytes, "bps");
    if (!bits && !is(unit, unit_bytes, "B/s") && !is(unit, unit_bytes, "Bps"))
        return refuse(why, "not a unit of bandwidth", bandwidth_form);
    *out_bytes_per_s = bits ? number * factor / 8 : number * factor;
    return true;
}

bool quantity_rate(const char *text, size_t bytes, double *out_per_s, struct why *why)
{
    static const struct {
        const char *name;
        double s;
    } units[] = {
        { "/s", 1 },     { "/min", 60 },      { "/h", 3600 },        { "/day", 86400 },
        { "/d", 86400 }, { "/week", 604800 }, { "/year", 31536000 }, { "/y", 31536000 },
    };
    double number = 0;
    const char *unit;
    size_t unit_bytes;
    if (!split(text, bytes, &number, &unit, &unit_bytes, rate_form, why)) return false;
    if (number < 0) return refuse(why, "a rate cannot be negative", rate_form);
    if (unit_bytes == 0) return refuse(why, "a rate needs a unit", rate_form);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!is(unit, unit_bytes, units[i].name)) continue;
        *out_per_s = number / units[i].s;
        return true;
    }
    if (is(unit, unit_bytes, "/m") || is(unit, unit_bytes, "/M"))
        return refuse(why, "per minute is /min, per month is not known", rate_form);
    return refuse(why, "not a unit of rate (/s /min /h /day /week /year)", rate_form);
}

bool quantity_power(const char *text, size_t bytes, double *out_w, struct why *why)
{
    double number = 0;
    const char *unit;
    size_t unit_bytes;
    if (!split(text, bytes, &number, &unit, &unit_bytes, power_form, why)) return false;
    if (number < 0) return refuse(why, "a power cannot be negative", power_form);
    if (unit_bytes == 0) return refuse(why, "a power needs a unit", power_form);
    const double factor = is(unit, unit_bytes, "W")    ? 1
                          : is(unit, unit_bytes, "kW") ? 1e3
                          : is(unit, unit_bytes, "MW") ? 1e6
                                                       : 0;
    if (unit_bytes > 1 && memcmp(unit + unit_bytes - 2, "Wh", 2) == 0)
        return refuse(why, "Wh is a unit of energy, not of power", power_form);
    if (factor == 0) return refuse(why, "not a unit of power", power_form);
    *out_w = number * factor;
    return true;
}
