/* keys.h - the one table of all keys that a scenario or the catalog may hold.
 *
 * A row says what a key is called, what it means, its range, its default, and where its value goes.
 * The table drives the reader, the suggestions for unknown keys, the ranges in messages and the
 * reference in scenarios/README.md.
 *
 * Paths: "time.horizon" stands in a scenario; "layouts[]." in each layout, "gates[]." in each gate.
 * Some maps stand in several places and have a path of their own: "server." (catalog
 * servers.yaml, and wherever a server type may be written inline), "link.", "component." (below
 * failures.gpu, .server, .link, .leaf, .job, and catalog failures.yaml), "profile.", "mix.". The
 * catalog alone holds "failure.", "collective.", "gpu.", "model.", "stack.", "mig.", "price." and "figure."; these rows, and the
 * "notes." of the others, have no field (bytes 0) unless `gpuplan step` reads them: they are checked and shown, never simulated. */
#ifndef GPUPLAN_SPEC_KEYS_H
#define GPUPLAN_SPEC_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum key_type {
    KEY_MAP,        /* holds further keys of this table                                        */
    KEY_CUSTOM,     /* read by a function of the reader: several forms, or a list              */
    KEY_NOT_BUILT,  /* known to the design, refused                                            */
    KEY_TEXT,       /* char[bytes]                                                             */
    KEY_NAME,       /* char[bytes]; no control characters, not empty (P32)                     */
    KEY_WORD,       /* char[bytes], one of `words`                                             */
    KEY_CHOICE,     /* enum: the position in `words`; bool: whether it is not the first       */
    KEY_BOOL,       /* bool                                                                    */
    KEY_COUNT,      /* uint32_t or uint64_t, by `bytes`                                        */
    KEY_NUMBER,     /* double                                                                  */
    KEY_SHARE,      /* double in [0, 1]; 50% or 0.5                                            */
    KEY_DURATION,   /* int64_t ns                                                              */
    KEY_SECONDS,    /* double s; the text is a duration                                        */
    KEY_SIZE,       /* double bytes                                                            */
    KEY_BYTES,      /* uint64_t bytes                                                          */
    KEY_BANDWIDTH,  /* double bytes per second                                                 */
    KEY_PER_TIME,   /* double s: one over the rate that is written                             */
    KEY_POWER,      /* double W                                                                */
    KEY_CONF_MINUTES, /* int64_t ns; as slurm.conf writes limits: a bare number is minutes     */
    KEY_CONF_SECONDS, /* int64_t ns; as slurm.conf writes timeouts: a bare number is seconds   */
    KEY_CONF_MIB,   /* uint64_t MiB; as slurm.conf writes memory                               */
    KEY_TRES,       /* struct tres_limit: "gres/gpu=8,cpu=64,mem=100G"                         */
};

struct key_row {
    const char *path;
    enum key_type type;
    double min, max;      /* of the stored value; both 0 = no limit beyond the type's            */
    const char *fallback; /* default as it would be written; NULL = required; "=..." = computed,
                             with what is said about it                                          */
    const char *words;    /* KEY_CHOICE, KEY_WORD: "fcfs|easy|!sjf"; '!' = known but not built    */
    const char *word;     /* a word allowed instead of a value ("all"), stored as word_value     */
    int64_t word_value;
    const char *short_key;/* KEY_MAP: the key that a value in the map's place stands for          */
    const char *twin;     /* another form of the same value; only one of them may be written     */
    bool twin_needed;     /* one of the two must be written                                      */
    const char *needed_with; /* must be written when this neighbour is                            */
    const char *unless_zero; /* a required one may be left out where this neighbour is written as 0  */
    uint32_t kinds;       /* schedulers that know it, bits of enum scheduler_kind; 0 = all        */
    const char *form;     /* KEY_CUSTOM: what may stand here, in the language below; NULL = only
                             the catalog writes it                                               */
    uint32_t items_most;  /* length of a list in `form`; 0 = any                                 */
    size_t offset, bytes; /* of the field in its struct                                          */
    const char *help;     /* one line: meaning, unit or form                                     */
};

/* Forms. The readers of custom rows are functions; this says the same for people and editors.
 *
 *     form    = choice { " | " choice }
 *     choice  = name | path | bool | count | number | share | duration    count: within min and max
 *             | map (its keys are the user's) | 'word' | {group} | {group + group - key} | "[" form "]" ["+"] ["!"]
 *             | "<" form ">"                           a map whose keys are the user's and whose values are of that form
 *
 * {server}: a map with the keys "server."; - key leaves one out. [..]+ at least one, ! none twice. */
extern const struct key_row keys[];
extern const size_t key_count;

/* The row of a path, or NULL. */
const struct key_row *key_find(const char *path);

/* The name of a row directly below `prefix` ("" or ending in '.'), or NULL when it is elsewhere. */
const char *key_below(const struct key_row *row, const char *prefix);

/* The n-th of "a|b|!c" without its '!', copied to out; false behind the last. */
bool key_word(const char *words, size_t n, char *out, size_t out_bytes, bool *built);

#endif
