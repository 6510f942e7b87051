/* trace_zone.c - opens a zone: fixed offset, the US Pacific rule, or a TZif file. */
#include "io/trace_zone.h"

#include "io/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZONE_FOLDER "/usr/share/zoneinfo/"

enum { S_PER_HOUR = 3600, S_PER_DAY = 86400, ZONE_NAME_BYTES = 64 };

/* ---- US Pacific ---------------------------------------------------------------------------- */

/* Energy Policy Act of 2005, in force from 2007: daylight time from the second Sunday of March, 2:00, to the first Sunday of
 * November, 2:00 local. */
enum {
    PACIFIC_STANDARD_S = -8 * S_PER_HOUR,
    PACIFIC_DAYLIGHT_S = -7 * S_PER_HOUR,
    PACIFIC_FIRST_YEAR = 2007
};

/* Day number of the n-th Sunday of a month. 1970-01-01 was a Thursday. */
static int64_t nth_sunday(int year, int month, int n)
{
    const int64_t first = days_of_date(year, month, 1);
    const int64_t weekday = (first + 4) % 7; /* 0 = Sunday */
    return first + (7 - weekday) % 7 + 7 * (n - 1);
}

static bool pacific_offset_at(int64_t utc_s, int32_t *offset_s)
{
    const int64_t first_s = days_of_date(PACIFIC_FIRST_YEAR, 1, 1) * S_PER_DAY - PACIFIC_STANDARD_S;
    if (utc_s < first_s) return false;
    /* Changes lie far from New Year, so the year of UTC serves. It is at least this one. */
    int year = PACIFIC_FIRST_YEAR + (int)((utc_s - first_s) / (366 * S_PER_DAY));
    while (days_of_date(year + 1, 1, 1) * S_PER_DAY <= utc_s) year++;
    const int64_t begin_s =
        nth_sunday(year, 3, 2) * S_PER_DAY + 2 * S_PER_HOUR - PACIFIC_STANDARD_S;
    const int64_t end_s = nth_sunday(year, 11, 1) * S_PER_DAY + 2 * S_PER_HOUR - PACIFIC_DAYLIGHT_S;
    *offset_s = utc_s >= begin_s && utc_s < end_s ? PACIFIC_DAYLIGHT_S : PACIFIC_STANDARD_S;
    return true;
}

/* ---- offsets ------------------------------------------------------------------------------- */

static bool file_offset_at(const struct zone *zone, int64_t utc_s, int32_t *offset_s)
{
    if (utc_s >= zone->until_s) return false;
    uint32_t low = 0, high = zone->change_count; /* from_s[low] <= utc_s < from_s[high] */
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (zone->from_s[middle] <= utc_s)
            low = middle;
        else
            high = middle;
    }
    *offset_s = zone->change_offset_s[low];
    return true;
}

bool zone_offset_at(const struct zone *zone, int64_t utc_s, int32_t *offset_s)
{
    switch (zone->kind) {
    case ZONE_NONE:
        return false;
    case ZONE_FIXED:
        *offset_s = zone->offset_s;
        return true;
    case ZONE_PACIFIC:
        return pacific_offset_at(utc_s, offset_s);
    case ZONE_FILE:
        return file_offset_at(zone, utc_s, offset_s);
    }
    return false;
}

/* ---- TZif (RFC 8536, section 3) ------------------------------------------------------------ */

enum { HEADER_BYTES = 44, TYPE_BYTES = 6 };

struct tzif_counts {
    uint32_t utc, std, leap, time, type, chars;
};

static int64_t big_endian(const unsigned char *bytes, int count)
{
    uint64_t value = (bytes[0] & 0x80) ? UINT64_MAX : 0; /* signed */
    for (int i = 0; i < count; i++) value = value << 8 | bytes[i];
    return (int64_t)value;
}

static bool read_header(const unsigned char *at, size_t left, struct tzif_counts *counts)
{
    if (left < HEADER_BYTES || memcmp(at, "TZif", 4) != 0 || at[4] < '2') return false;
    uint32_t *const out[] = { &counts->utc,  &counts->std,  &counts->leap,
                              &counts->time, &counts->type, &counts->chars };
    for (int i = 0; i < 6; i++) {
        const int64_t count = big_endian(at + 20 + 4 * i, 4);
        if (count < 0 || count > 100000) return false;
        *out[i] = (uint32_t)count;
    }
    return counts->type > 0;
}

static size_t block_bytes(const struct tzif_counts *counts, size_t time_bytes)
{
    return counts->time * (time_bytes + 1) + (size_t)counts->type * TYPE_BYTES + counts->chars +
           counts->leap * (time_bytes + 4) + counts->std + counts->utc;
}

/* Copies the table of 64-bit changes; `at` is behind the second header. */
static bool read_changes(const unsigned char *at, const struct tzif_counts *counts,
                         struct zone *zone)
{
    const unsigned char *const type_of = at + 8 * (size_t)counts->time;
    const unsigned char *const types = type_of + counts->time;
    zone->from_s = calloc(counts->time + 1u, sizeof *zone->from_s);
    zone->change_offset_s = calloc(counts->time + 1u, sizeof *zone->change_offset_s);
    if (!zone->from_s || !zone->change_offset_s) return false;
    zone->from_s[0] = INT64_MIN;
    zone->change_offset_s[0] = (int32_t)big_endian(types, 4);
    for (uint32_t i = 0; i < counts->time; i++) {
        if (type_of[i] >= counts->type) return false;
        zone->from_s[i + 1] = big_endian(at + 8 * (size_t)i, 8);
        if (zone->from_s[i + 1] < zone->from_s[i]) return false;
        zone->change_offset_s[i + 1] =
            (int32_t)big_endian(types + TYPE_BYTES * (size_t)type_of[i], 4);
    }
    zone->change_count = counts->time + 1;
    return true;
}

/* The footer says what holds behind the last change; a rule with daylight time (it has a comma) is
 * not followed: Debian's tables reach 2037. */
static int64_t end_of_table_s(const unsigned char *footer, size_t left, const struct zone *zone)
{
    const bool has_rule = left > 0 && memchr(footer, ',', left) != NULL;
    return has_rule ? zone->from_s[zone->change_count - 1] : INT64_MAX;
}

static bool read_tzif(const struct input *file, struct zone *zone)
{
    const unsigned char *at = (const unsigned char *)file->bytes;
    const unsigned char *const end = at + file->byte_count;
    struct tzif_counts counts;
    for (int version = 1; version <= 2; version++) {
        if (!read_header(at, (size_t)(end - at), &counts)) return false;
        const size_t bytes = block_bytes(&counts, version == 1 ? 4 : 8);
        at += HEADER_BYTES;
        if ((size_t)(end - at) < bytes) return false;
        if (version == 2 && !read_changes(at, &counts, zone)) return false;
        at += bytes;
    }
    zone->until_s = end_of_table_s(at, (size_t)(end - at), zone);
    return true;
}

/* ---- public -------------------------------------------------------------------------------- */

/* Only names inside the folder: letters, digits, _ + - and single slashes between them. */
static bool is_zone_name(const char *name)
{
    static const char legal[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
    const size_t bytes = strlen(name);
    return bytes < ZONE_NAME_BYTES && strspn(name, legal) == bytes && name[0] != '/';
}

static enum status open_file(const char *name, struct zone *zone, struct diag *diag)
{
    char path[sizeof ZONE_FOLDER + ZONE_NAME_BYTES];
    snprintf(path, sizeof path, "%s%s", ZONE_FOLDER, name);
    struct stat about;
    if (!is_zone_name(name) || access(path, R_OK) != 0 || stat(path, &about) != 0 ||
        !S_ISREG(about.st_mode))
        return diag_usage(diag,
                          "time zone '%s' is not known here; give an offset such as -07:00, or "
                          "UTC, or a name that stands in " ZONE_FOLDER,
                          name);
    struct input file;
    enum status status = input_read(path, &file, diag);
    zone->kind = ZONE_FILE;
    if (status == STATUS_OK && !read_tzif(&file, zone))
        status = diag_usage(
            diag, "%s is not a zone table of version 2 or later; give an offset such as -07:00",
            path);
    input_clear(&file);
    return status;
}

enum status zone_open(const char *name, struct zone *zone, struct diag *diag)
{
    *zone = (struct zone){ .kind = ZONE_FIXED };
    if (name == NULL || name[0] == '\0') {
        zone->kind = ZONE_NONE;
        return STATUS_OK;
    }
    if (strcmp(name, "UTC") == 0 || zone_take_offset(name, strlen(name), &zone->offset_s))
        return STATUS_OK;
    if (strcmp(name, "America/Los_Angeles") == 0 || strcmp(name, "US/Pacific") == 0) {
        zone->kind = ZONE_PACIFIC;
        return STATUS_OK;
    }
    return open_file(name, zone, diag);
}

void zone_clear(struct zone *zone)
{
    free(zone->from_s);
    free(zone->change_offset_s);
    *zone = (struct zone){ 0 };
}
