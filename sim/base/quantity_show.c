/* quantity_show.c - numbers as people write them; the readers of quantity.h take the texts back. */
#include "base/quantity.h"

#include "base/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

char *show_number(double value, char out[SHOW_BYTES])
{
    if (value == floor(value) && fabs(value) < 1e15) {
        snprintf(out, SHOW_BYTES, "%.0f", value);
        return out;
    }
    struct why why;
    for (int digits = 6; digits <= 17; digits++) {
        double back = 0;
        snprintf(out, SHOW_BYTES, "%.*g", digits, value);
        if (quantity_number(out, strlen(out), &back, &why) && back == value) break;
    }
    return out;
}

char *show_duration(int64_t ns, char out[SHOW_BYTES])
{
    static const struct {
        const char *unit;
        int64_t ns;
    } units[] = {
        { "d", NS_PER_DAY }, { "h", NS_PER_HOUR }, { "m", 60 * NS_PER_S },
        { "s", NS_PER_S },   { "ms", 1000000 },    { "us", 1000 },
        { "ns", 1 },
    };
    size_t used = 0;
    snprintf(out, SHOW_BYTES, "0s");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (ns < units[i].ns) continue;
        used += (size_t)snprintf(out + used, SHOW_BYTES - used, "%" PRId64 "%s", ns / units[i].ns,
                                 units[i].unit);
        ns %= units[i].ns;
    }
    return out;
}

/* Twelve digits: what a conversion by a power of ten can blur lies behind them. */
static char *show_scaled(double value, const char *unit, char out[SHOW_BYTES])
{
    snprintf(out, SHOW_BYTES, "%.12g%s", value, unit);
    return out;
}

char *show_duration_s(double seconds, char out[SHOW_BYTES])
{
    if (seconds >= 1e-3 && seconds < 9e9) return show_duration((int64_t)(seconds * 1e9 + 0.5), out);
    if (seconds >= 9e9) return show_scaled(seconds / 86400, "d", out);
    if (seconds >= 1e-6) return show_scaled(seconds * 1e6, "us", out);
    return seconds == 0 ? show_duration(0, out) : show_scaled(seconds * 1e9, "ns", out);
}

/* By powers of 1000 into k .. E. */
static char *show_prefixed(double value, const char *unit, char out[SHOW_BYTES])
{
    static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
    size_t power = 0;
    while (power < 6 && value >= 1000) value /= 1000, power++;
    snprintf(out, SHOW_BYTES, "%.12g %s%s", value, prefixes[power], unit);
    return out;
}

char *show_size(double size_bytes, char out[SHOW_BYTES])
{
    return show_prefixed(size_bytes, "B", out);
}

char *show_bandwidth(double bytes_per_s, char out[SHOW_BYTES])
{
    return show_prefixed(bytes_per_s, "B/s", out);
}

char *show_rate(double per_s, char out[SHOW_BYTES])
{
    return show_scaled(per_s * 3600, "/h", out);
}

char *show_power(double w, char out[SHOW_BYTES])
{
    return w >= 1000 ? show_scaled(w / 1000, " kW", out) : show_scaled(w, " W", out);
}
