/* slurm_text.c - see slurm_text.h. */
#include "io/slurm_text.h"

#include "base/clock.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WORD_BYTES = 64, NUMBER_DIGITS = 15 };

static const char minutes_form[] = "write minutes, D-HH:MM:SS, 90s, 1h30m or UNLIMITED";
static const char seconds_form[] = "write seconds, 90s, 1h30m or INFINITE";
static const char memory_form[] = "write MiB, 64000M, 64G or 64 GB";

__attribute__((format(printf, 2, 3))) static bool refuse(struct why *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    return false;
}

static bool is_word(const char *text, size_t bytes, const char *word)
{
    return strlen(word) == bytes && strncasecmp(text, word, bytes) == 0;
}

/* Digits at *at; moves *at behind them. */
static bool digits(const char *text, size_t bytes, size_t *at, int64_t *out)
{
    const size_t first = *at;
    *out = 0;
    for (; *at < bytes && text[*at] >= '0' && text[*at] <= '9' && *at - first < NUMBER_DIGITS;
         ++*at)
        *out = *out * 10 + (text[*at] - '0');
    return *at > first;
}

/* Up to three numbers between colons: they must be the whole text. */
static size_t clock_parts(const char *text, size_t bytes, int64_t part[3])
{
    size_t at = 0, count = 0;
    while (count < 3 && digits(text, bytes, &at, &part[count])) {
        count++;
        if (at == bytes) return count;
        if (text[at++] != ':') return 0;
    }
    return 0;
}

static bool days_hours(int64_t days, const int64_t part[3], size_t count, int64_t *out_ns)
{
    if (days > 99999 || part[0] > 23 || (count > 1 && part[1] > 59) || (count > 2 && part[2] > 59))
        return false;
    *out_ns = days * NS_PER_DAY + part[0] * NS_PER_HOUR +
              (count > 1 ? part[1] * 60 * NS_PER_S : 0) + (count > 2 ? part[2] * NS_PER_S : 0);
    return true;
}

/* parse_time.c of Slurm: with a dash hours come first, without one minutes, but hours before two colons. */
static bool slurm_clock(const char *text, size_t bytes, int64_t *out_ns)
{
    int64_t part[3] = { 0 }, days = 0;
    const char *dash = memchr(text, '-', bytes);
    if (dash != NULL) {
        const size_t behind = (size_t)(dash - text) + 1;
        size_t at = 0;
        if (!digits(text, bytes, &at, &days) || at + 1 != behind) return false;
        const size_t count = clock_parts(text + behind, bytes - behind, part);
        return count > 0 && days_hours(days, part, count, out_ns);
    }
    const size_t count = clock_parts(text, bytes, part);
    if (count == 0 || part[0] > 100000000) return false;
    if ((count > 1 && part[1] > 59) || (count > 2 && part[2] > 59)) return false;
    *out_ns = count == 3 ? part[0] * NS_PER_HOUR + (part[1] * 60 + part[2]) * NS_PER_S
                         : (part[0] * 60 + part[1]) * NS_PER_S;
    return true;
}

bool slurm_minutes(const char *text, size_t bytes, int64_t *out_ns, struct why *why)
{
    if (is_word(text, bytes, "UNLIMITED") || is_word(text, bytes, "INFINITE")) {
        *out_ns = TIME_NEVER;
        return true;
    }
    if (slurm_clock(text, bytes, out_ns)) return true;
    if (memchr(text, ':', bytes) == NULL && quantity_duration(text, bytes, out_ns, why))
        return true;
    return refuse(why, "not a time; %s", minutes_form);
}

bool slurm_seconds(const char *text, size_t bytes, int64_t *out_ns, struct why *why)
{
    int64_t seconds = 0;
    size_t at = 0;
    if (is_word(text, bytes, "INFINITE") || is_word(text, bytes, "UNLIMITED") ||
        is_word(text, bytes, "-1")) {
        *out_ns = TIME_NEVER;
        return true;
    }
    if (digits(text, bytes, &at, &seconds) && at == bytes && seconds < TIME_NEVER / NS_PER_S) {
        *out_ns = seconds * NS_PER_S;
        return true;
    }
    if (quantity_duration(text, bytes, out_ns, why)) return true;
    return refuse(why, "not a time; %s", seconds_form);
}

/* Powers of 1024 in MiB. */
static bool mib_of_suffix(char suffix, double *mib)
{
    static const char letters[] = "KMGTP";
    const char *at = suffix ? strchr(letters, suffix & ~0x20) : NULL;
    if (at == NULL) return false;
    *mib = 1.0 / 1024;
    for (; at > letters; at--) *mib *= 1024;
    return true;
}

static int64_t ceil_mib(double mib)
{
    const int64_t whole = (int64_t)mib;
    return whole + ((double)whole < mib);
}

bool slurm_mib(const char *text, size_t bytes, int64_t *out_mib, struct why *why)
{
    double number = 0, unit_mib = 1;
    const bool has_suffix = bytes > 0 && mib_of_suffix(text[bytes - 1], &unit_mib);
    if (quantity_number(text, bytes - has_suffix, &number, why) && number >= 0 && number < 1e12) {
        *out_mib = ceil_mib(number * unit_mib);
        return true;
    }
    if (quantity_size(text, bytes, &number, why) && number < 1e18) {
        *out_mib = ceil_mib(number / 1048576);
        return true;
    }
    return refuse(why, "not an amount of memory; %s", memory_form);
}

/* ---- TRES ---- */

enum tres { TRES_CPU, TRES_MEM, TRES_NODE, TRES_GPU, TRES_NAMES };
static const char *const tres_names[TRES_NAMES] = { "cpu", "mem", "node", "gres/gpu" };

/* Takes "name=value" off the front of the list. */
struct item {
    enum tres tres;
    const char *value;
    size_t bytes;
};

static bool refuse_tres(const char *name, struct why *why)
{
    static const char *const known[] = { "billing",  "energy", "fs/disk", "bb/",
                                         "license/", "pages",  "vmem",    "gres/" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncasecmp(name, known[i], strlen(known[i])) == 0)
            return refuse(why, "'%s' is not built: cpu, mem, node and gres/gpu are", name);
    const char *nearest =
        strncasecmp(name, "gpu", 3) == 0 ? "gres/gpu" : text_nearest(name, tres_names, TRES_NAMES);
    return refuse(why, "unknown resource '%s'%s%s%s; write gres/gpu=8,cpu=64,mem=100G,node=2", name,
                  nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static bool next_item(const char *text, size_t bytes, size_t *at, struct item *item,
                      struct why *why)
{
    char name[WORD_BYTES];
    const char *end = memchr(text + *at, ',', bytes - *at);
    const size_t item_bytes = end ? (size_t)(end - (text + *at)) : bytes - *at;
    const char *equals = memchr(text + *at, '=', item_bytes);
    if (equals == NULL)
        return refuse(why, "a resource without '='; write gres/gpu=8,cpu=64,mem=100G,node=2");
    text_copy(name, sizeof name, text + *at, (size_t)(equals - (text + *at)));
    item->tres = TRES_CPU;
    while (item->tres < TRES_NAMES && strcasecmp(name, tres_names[item->tres]) != 0) item->tres++;
    if (item->tres == TRES_NAMES) return refuse_tres(name, why);
    item->value = equals + 1;
    item->bytes = item_bytes - (size_t)(equals + 1 - (text + *at));
    *at += item_bytes + (end != NULL);
    return true;
}

bool slurm_tres(const char *text, size_t bytes, struct tres_limit *out, struct why *why)
{
    *out = (struct tres_limit){ LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET };
    int64_t *const fields[TRES_NAMES] = { [TRES_CPU] = &out->cores,
                                          [TRES_MEM] = &out->memory_mib,
                                          [TRES_NODE] = &out->nodes,
                                          [TRES_GPU] = &out->gpus };
    for (size_t at = 0; at < bytes;) {
        struct item item;
        int64_t value = 0;
        if (!next_item(text, bytes, &at, &item, why)) return false;
        if (is_word(item.value, item.bytes, "-1")) continue;
        if (item.tres == TRES_MEM ? !slurm_mib(item.value, item.bytes, &value, why)
                                  : !quantity_count(item.value, item.bytes, &value, why))
            return false;
        if (value < 0) return refuse(why, "a limit below 0; -1 means none");
        *fields[item.tres] = value;
    }
    return true;
}

bool slurm_weights(const char *text, size_t bytes, struct tres_weight *out, struct why *why)
{
    *out = (struct tres_weight){ 0 };
    double *const fields[TRES_NAMES] = { [TRES_CPU] = &out->cpu,
                                         [TRES_MEM] = &out->mem_gib,
                                         [TRES_NODE] = &out->node,
                                         [TRES_GPU] = &out->gpu };
    for (size_t at = 0; at < bytes;) {
        struct item item;
        double value = 0, unit_mib = 1;
        if (!next_item(text, bytes, &at, &item, why)) return false;
        const bool has_suffix = item.tres == TRES_MEM && item.bytes > 0 &&
                                mib_of_suffix(item.value[item.bytes - 1], &unit_mib);
        if (!quantity_number(item.value, item.bytes - has_suffix, &value, why)) return false;
        if (value < 0) return refuse(why, "a weight below 0");
        *fields[item.tres] = item.tres == TRES_MEM ? value / unit_mib * 1024 : value;
    }
    return true;
}
