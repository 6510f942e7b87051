/* json.h - one JSON text as the same tree of nodes that YAML gives, places included.
 *
 * RFC 8259, strictly: no comments, no trailing commas, no NaN, no key twice, nothing behind the value (P74). Numbers keep the
 * text as written, so that 64-bit integers are exact; \u pairs become one character (P30). The caps
 * are those of YAML. jansson does not remember where a value stood, so it is not used here; the
 * test compares both over random texts.
 * Tests: tests/test_json.c */
#ifndef GPUPLAN_IO_JSON_H
#define GPUPLAN_IO_JSON_H

#include "io/yaml.h"

/* As yaml_read_text; cleared by yaml_clear. Strings are quoted scalars, all else is plain. */
enum status json_read_text(const char *name, const char *text, size_t text_bytes,
                           struct yaml_document *document, struct diag *diag);

/* Whether a file of this name is read as JSON: it ends in .json. */
bool json_is_name(const char *path);

#endif
