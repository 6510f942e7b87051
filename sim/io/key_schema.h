/* key_schema.h - the table of keys as a JSON Schema for editors, and as a table for people. */
#ifndef GPUPLAN_IO_KEY_SCHEMA_H
#define GPUPLAN_IO_KEY_SCHEMA_H

#include "base/diag.h"

#include <stdio.h>

/* Writes the JSON Schema (draft-07) of a scenario. It sees what stands at one key: names, types,
 * units, ranges of plain numbers, words, what is missing. It does not see what belongs together,
 * names of the catalog, ranges of quantities with a unit, what an included file gives below the
 * first level, or how a number was spelled in YAML (08, 0x10, "8" in quotes, which it refuses). STATUS_WORLD when memory is out or `out` fails. */
enum status key_schema_write(FILE *out, struct diag *diag);

/* Writes the reference: a Markdown table of every key of a scenario. */
enum status key_reference_write(FILE *out, struct diag *diag);

/* The lines around the reference in scenarios/README.md. */
#define KEY_REFERENCE_BEGIN "<!-- keys: gpuplan schema --reference -->"
#define KEY_REFERENCE_END   "<!-- end of keys -->"

#endif
