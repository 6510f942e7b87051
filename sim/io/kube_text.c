/* kube_text.c - see kube_text.h. */
#include "io/kube_text.h"

#include <stdio.h>
#include <string.h>

static bool refuse(struct why *why, const char *reason, const char *form)
{
    snprintf(why->text, sizeof why->text, "%s; %s", reason, form);
    return false;
}

/* The number before the suffix, and the factor that the suffix means; 0 = not a suffix. */
static double factor_of(const char *text, size_t bytes, size_t *number_bytes)
{
    static const struct {
        const char *suffix;
        double factor;
    } suffixes[] = {
        { "Ki", 1024.0 },
        { "Mi", 1048576.0 },
        { "Gi", 1073741824.0 },
        { "Ti", 1099511627776.0 },
        { "Pi", 1125899906842624.0 },
        { "Ei", 1152921504606846976.0 },
        { "m", 1e-3 },
        { "k", 1e3 },
        { "M", 1e6 },
        { "G", 1e9 },
        { "T", 1e12 },
        { "P", 1e15 },
    };
    *number_bytes = bytes;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const size_t length = strlen(suffixes[i].suffix);
        if (bytes <= length || memcmp(text + bytes - length, suffixes[i].suffix, length) != 0)
            continue;
        *number_bytes = bytes - length;
        return suffixes[i].factor;
    }
    if (bytes > 1 && text[bytes - 1] == 'E') { /* 1E is 10^18, 1E3 an exponent */
        *number_bytes = bytes - 1;
        return 1e18;
    }
    return 1;
}

static bool quantity(const char *text, size_t bytes, double *out, bool *is_milli, const char *form,
                     struct why *why)
{
    size_t number_bytes;
    double number = 0;
    const double factor = factor_of(text, bytes, &number_bytes);
    if (!quantity_number(text, number_bytes, &number, why))
        return refuse(why, "not a quantity of Kubernetes", form);
    if (number < 0) return refuse(why, "below 0", form);
    *out = number * factor;
    *is_milli = factor == 1e-3;
    return true;
}

static int64_t ceil_of(double value)
{
    const int64_t whole = (int64_t)value;
    return whole + ((double)whole < value);
}

bool kube_cpu(const char *text, size_t bytes, int64_t *out_milli, struct why *why)
{
    static const char form[] = "write cores: 4, 0.5 or 500m";
    double cores = 0;
    bool is_milli;
    if (!quantity(text, bytes, &cores, &is_milli, form, why)) return false;
    if (cores > 1e6) return refuse(why, "more than a million cores", form);
    /* 0.7 * 1000 is a hair above 700: the next whole number would be one too many. */
    *out_milli = ceil_of(cores * 1000 - 1e-6);
    return true;
}

bool kube_bytes(const char *text, size_t bytes, int64_t *out_bytes, struct why *why)
{
    static const char form[] = "write 8Gi, 512Mi, 8G or bytes";
    double value = 0;
    bool is_milli;
    if (!quantity(text, bytes, &value, &is_milli, form, why)) return false;
    if (is_milli) return refuse(why, "m are thousandths of a byte", form);
    if (value > 1e18) return refuse(why, "more than 10^18 bytes", form);
    *out_bytes = ceil_of(value);
    return true;
}
