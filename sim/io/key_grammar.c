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

/* What slurm.conf reads as a time limit, and durations. */
#define CLOCK_OF_SLURM                                                                             \
    "[0-9]{1,9}|[0-9]{1,9}:[0-5]?[0-9]|[0-9]{1,9}:[0-5]?[0-9]:[0-5]?[0-9]|"                        \
    "[0-9]{1,5}-(?:[01]?[0-9]|2[0-3])(?::[0-5]?[0-9]){0,2}"
#define UNLIMITED "[Uu][Nn][Ll][Ii][Mm][Ii][Tt][Ee][Dd]|[Ii][Nn][Ff][Ii][Nn][Ii][Tt][Ee]"
#define PARTS                                                                                      \
    "(?=.*[a-z]$)" PART("d") PART("h") PART("m") PART("s") PART("ms") PART("us") PART("ns")
#define TRES_ITEM "[A-Za-z/]+=-?[0-9]+(?:\\.[0-9]*)?[KMGTPkmgtp]?"

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
    [KEY_CONF_MINUTES] = { "slurm_minutes", "^(?:" CLOCK_OF_SLURM "|" UNLIMITED "|" PARTS ")$",
                           "as slurm.conf: minutes, D-HH:MM:SS, UNLIMITED; or a duration" },
    [KEY_CONF_SECONDS] = { "slurm_seconds", "^(?:[0-9]{1,9}|-1|" UNLIMITED "|" PARTS ")$",
                           "as slurm.conf: seconds, INFINITE; or a duration" },
    [KEY_CONF_MIB] = { "slurm_memory", "^" NUMBER "(?:[KMGTPkmgtp]| ?" PREFIX "B)?$",
                       "as slurm.conf: MiB, 64000M, 64G; or a size" },
    [KEY_TRES] = { "tres", "^" TRES_ITEM "(?:," TRES_ITEM ")*$",
                   "resources: gres/gpu=8,cpu=64,mem=100G,node=2" },
};

const struct key_grammar *key_grammar_of(enum key_type type)
{
    if ((size_t)type >= sizeof grammars / sizeof *grammars) return NULL;
    return grammars[type].name ? &grammars[type] : NULL;
}

bool key_takes_bare(enum key_type type)
{
    return type == KEY_CONF_MINUTES || type == KEY_CONF_SECONDS || type == KEY_CONF_MIB;
}
