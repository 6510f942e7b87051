/* yaml_text.h - what a YAML text is made of, looked at before and beside the parser. */
#ifndef GPUPLAN_IO_YAML_TEXT_H
#define GPUPLAN_IO_YAML_TEXT_H

#include "base/diag.h"
#include "io/yaml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies bytes[count] into the document as UTF-8: a byte order mark is taken off, UTF-16 with one
 * is converted (P24). Refuses bad UTF-8, control characters, line separators and marks inside the
 * text, each at its place (P26). */
enum status yaml_text_take(struct yaml_document *document, const unsigned char *bytes, size_t count,
                           struct diag *diag);

/* Writes a character as UTF-8, at most four bytes; returns how many. */
size_t yaml_text_put(uint32_t code, char *out);

/* The first character of a plain scalar that only looks like ASCII, or 0 (P16). */
uint32_t yaml_text_look_alike(const char *text, size_t bytes, size_t *offset);

/* Walks from character to byte offsets, both ways: libyaml's marks count characters. */
struct yaml_cursor {
    size_t character, byte;
};
size_t yaml_cursor_byte(struct yaml_cursor *cursor, const struct yaml_document *document,
                        size_t character);

#endif
