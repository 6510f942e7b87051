/* key_grammar.c - regular expressions of the quantities, after the grammar in base/quantity.h. */
#include "io/key_grammar.h"

#include <stddef.h>

/* A decimal number that is not negative, without a leading zero. */
#define NUMBER "\\+?(?:(?:0|[1-9][0-9]*)(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?"

/* One part of a duration; a blank may stand before its unit and before the next part. */
#define PART(unit) "(?:" NUMBER " ?" unit " ?)?"

/* The second alternative: H:MM:SS and D-HH:MM:SS. */
#define DURATION                                                                                   \
    "^(?:(?=.*[a-z]$)" PART("d") PART("h") PART("m") PART("s") PART("ms") PART("us")               \
        PART("ns") "|[0-9]{1,6}:[0-5][0-9]:[0-5][0-9]"                                             \
                   "|[0-9]{1,5}-(?:[01]?[0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])$"

/* Decimal prefixes k M G T P E, binary ones Ki to Ei. */
#define PREFIX "(?:[kMGTPE]|[KMGTPE]i)?"

static const struct key_grammar grammars[] = {
    [KEY_TEXT] = { "text", NULL, "text" },
    [KEY_NAME] = { "name", NULL, "text of one line" },
    [KEY_BOOL] = { "bool", NULL, "true or false" },
    [KEY_COUNT] = { "count", NULL, "whole number" },
    [KEY_NUMBER] = { "number", NULL, "number" },
    [KEY_SHARE] = { "share", "^\\+?(?:100(?:\\.0*)?|[1-9]?[0-9](?:\\.[0-9]*)?|\\.[0-9]+)%$",
                    "share: 0.5 or 50%" },
    [KEY_DURATION] = { "duration", DURATION, "duration: 90s, 1h30m, 2d, 500ms or H:MM:SS" },
    [KEY_SECONDS] = { "duration", DURATION, "duration: 90s, 1h30m, 2d, 500ms or H:MM:SS" },
    [KEY_SIZE] = { "size", "^" NUMBER " ?" PREFIX "B$", "size: 80 GB or 80 GiB" },
    [KEY_BYTES] = { "size", "^" NUMBER " ?" PREFIX "B$", "size: 80 GB or 80 GiB" },
    [KEY_BANDWIDTH] = { "bandwidth", "^" NUMBER " ?" PREFIX "(?:[bB]/s|[bB]ps)$",
                        "bandwidth: 400 Gb/s or 50 GB/s" },
    [KEY_PER_TIME] = { "rate", "^" NUMBER " ?/(?:s|min|h|day|d|week|year|y)$",
                       "rate: 3/day, 0.02/h or 0.09/year" },
    [KEY_POWER] = { "power", "^" NUMBER " ?[kM]?W$", "power: 700 W or 10.2 kW" },
};

const struct key_grammar *key_grammar_of(enum key_type type)
{
    if ((size_t)type >= sizeof grammars / sizeof *grammars) return NULL;
    return grammars[type].name ? &grammars[type] : NULL;
}
