/* key_grammar.h - the texts that each type of key takes, for editors and people.
 *
 * base/quantity reads the same texts with reasons for what is wrong; a pattern can only say yes or
 * no. scripts/schema_agree.py holds the two against each other. */
#ifndef GPUPLAN_IO_KEY_GRAMMAR_H
#define GPUPLAN_IO_KEY_GRAMMAR_H

#include "spec/keys.h"

struct key_grammar {
    const char *name;    /* "duration"                                                          */
    const char *pattern; /* ECMA 262 regular expression of a text; NULL = a type of JSON's own  */
    const char *form;    /* for people: "90s, 1h30m, 2d or H:MM:SS"                             */
};

/* Whether a whole number without a unit is taken beside the pattern: slurm.conf says what it means. */
bool key_takes_bare(enum key_type type);

/* The grammar of a type, or NULL for KEY_MAP, KEY_CUSTOM, KEY_NOT_BUILT, KEY_WORD, KEY_CHOICE. */
const struct key_grammar *key_grammar_of(enum key_type type);

#endif
