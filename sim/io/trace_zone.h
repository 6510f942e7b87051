/* trace_zone.h - what trace_clock.c and trace_zone.c share: offsets of a zone. */
#ifndef GPUPLAN_IO_TRACE_ZONE_H
#define GPUPLAN_IO_TRACE_ZONE_H

#include "io/trace_clock.h"

/* local - UTC at an instant, in seconds; false where the zone's rules are not known. */
bool zone_offset_at(const struct zone *zone, int64_t utc_s, int32_t *offset_s);

/* The whole text as a fixed offset: Z, +HH, +HH:MM, +HHMM (at most 14 h). */
bool zone_take_offset(const char *text, size_t bytes, int32_t *offset_s);

/* Days from 1970-01-01 of a date of the Gregorian calendar; month and day from 1, year >= 1. */
int64_t days_of_date(int year, int month, int day);

#endif
