/* prose.h - small tools for text that people read in a terminal of 100 columns. */
#ifndef GPUPLAN_REPORT_PROSE_H
#define GPUPLAN_REPORT_PROSE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PROSE_COLUMNS = 100 };

/* Prints the words of a UTF-8 text in lines of at most `columns` characters; a longer word stands alone, and
 * a % stays with its number. Line ends in the text stay. */
void prose_wrap(FILE *out, const char *text, unsigned columns);

/* Characters of a UTF-8 text: what a terminal needs for it, wide characters aside. */
unsigned prose_columns(const char *text);

/* Prints the text and blanks up to `columns`; a longer text is cut, with "..." at its end. */
void prose_pad(FILE *out, const char *text, unsigned columns);

/* The text in at most `columns` characters (8 and more): what is longer has "..." in front of its last `tail` characters. */
void prose_shorten(const char *text, unsigned columns, unsigned tail, char *out, size_t out_bytes);

/* Prints at most `columns` characters of the text. */
void prose_cut(FILE *out, const char *text, unsigned columns);

/* "", ", " or " and " in front of item i of a list of n. */
const char *prose_join(uint32_t i, uint32_t n);

/* Decimals that show the first digit of `half`, at least `least` and at most 6; `least` when half is NAN or rounds to 0
 * there. */
int prose_decimals(double half, int least);

/* Decimals with which two numbers read differently, at least `least` and at most 6. */
int prose_decimals_apart(double a, double b, int least);

#endif
