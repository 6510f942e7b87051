/* text.h - small text tools: escaping for people, nearest names, bounded copies. */
#ifndef GPUPLAN_BASE_TEXT_H
#define GPUPLAN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the well-formed UTF-8 sequence that text[bytes] begins with, and its code point; 0 for
 * anything else: overlong forms, surrogates, values past U+10FFFF, cut sequences. bytes >= 1. */
size_t text_utf8(const char *text, size_t bytes, uint32_t *code);

/* Copies `text` so that any terminal can show it: C0, C1 and DEL as \x1b, bidirectional controls
 * as \u202e, bytes that are not UTF-8 as \xff (P95). Always ends in NUL; cuts with "..." when `out_bytes` is short.
 * Returns `out`. */
char *text_escape(const char *text, size_t text_bytes, char *out, size_t out_bytes);

/* The entry of names[count] nearest to `word`: one that begins with it (3 letters and more), else by
 * edit distance (insert, delete, replace, swap of neighbours); NULL when none is within a third of
 * the word's length, at least 2, or nothing of it would remain. Ties: the first. */
const char *text_nearest(const char *word, const char *const *names, size_t count);

/* Copies at most out_bytes - 1 bytes and ends in NUL; false when it did not fit. */
bool text_copy(char *out, size_t out_bytes, const char *text, size_t text_bytes);

#endif
