/* trace_clock.h - wall-clock texts of job logs to seconds UTC, through a stated zone.
 *
 * The process's own time zone never matters (TZ is not read). A zone is one of
 *   a fixed offset      UTC, Z, -07:00, +0530, +08
 *   US Pacific          America/Los_Angeles or US/Pacific: the rule of 2007 and later is built in, since the Philly log needs it
 *   any other name      /usr/share/zoneinfo/NAME (TZif, RFC 8536), when that file exists
 * A wall-clock time that a zone skips or has twice is not guessed at (P48).
 * Tests: tests/test_trace_clock.c */
#ifndef GPUPLAN_IO_TRACE_CLOCK_H
#define GPUPLAN_IO_TRACE_CLOCK_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum zone_kind { ZONE_NONE, ZONE_FIXED, ZONE_PACIFIC, ZONE_FILE };

struct zone {
    enum zone_kind kind;
    int32_t offset_s; /* ZONE_FIXED: local - UTC                                            */
    int64_t *from_s;  /* ZONE_FILE: [change_count] ascending, owned until zone_clear        */
    int32_t
        *change_offset_s;  /* [change_count] local - UTC from from_s on                          */
    uint32_t change_count; /* the first change is at INT64_MIN                                   */
    int64_t until_s;       /* the table says nothing from here on; INT64_MAX = it always does    */
};

/* name NULL or "" gives ZONE_NONE: then only times with an offset of their own can be read. */
enum status zone_open(const char *name, struct zone *zone, struct diag *diag);
void zone_clear(struct zone *zone);

enum clock_result {
    CLOCK_OK,
    CLOCK_LEAP,    /* read as :59, worth a repair (P51)          */
    CLOCK_MISSING, /* empty or a word for missing (P81)          */
    CLOCK_BAD,     /* not YYYY-MM-DD HH:MM[:SS[.fraction]][zone] */
    CLOCK_NO_ZONE, /* no offset in the text and no zone given    */
    CLOCK_SKIPPED, /* this local time does not exist             */
    CLOCK_TWICE,   /* this local time exists twice               */
    CLOCK_OUTSIDE, /* the zone's rules are not known for it      */
};

/* ISO 8601 date and time, T or one blank between, 1970 to 2199, `24:00:00` allowed. Result: ns since 1970-01-01 UTC.
 * An offset in the text goes before the zone. */
enum clock_result clock_read(const char *text, size_t bytes, const struct zone *zone, int64_t *ns);

#endif
