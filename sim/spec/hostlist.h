/* hostlist.h - lists of hosts as Slurm writes them: "n[0-3,7],c[00-15],login".
 *
 * Items stand between commas; an item is text with up to HOSTLIST_BRACKETS lists of numbers in square brackets, the
 * last of which runs fastest. A first number with leading zeros sets the width: [08-11] is 08 09 10 11. The text is
 * short (LIMIT_TARGET_BYTES) and never expanded: a host is found, and named, by its place in the list, so that a
 * list of 100,000 hosts takes no memory. Leaves out: blanks inside, steps, letters as ranges. */
#ifndef GPUPLAN_SPEC_HOSTLIST_H
#define GPUPLAN_SPEC_HOSTLIST_H

#include "base/limits.h"

#include <stdbool.h>
#include <stdint.h>

enum { HOSTLIST_BRACKETS = 4 };

/* NULL when the list is well formed, of 1 to LIMIT_GPUS hosts, each name shorter than LIMIT_NAME_BYTES; then their
 * number is in *count. Else why it is not, as a constant text behind "a host list". */
const char *hostlist_check(const char *text, uint32_t *count);

/* The name of the host at place `index`, counted from 0; false when the list is shorter. */
bool hostlist_name(const char *text, uint32_t index, char name[LIMIT_NAME_BYTES]);

/* The first place of a name in the list; false when it is not there. */
bool hostlist_find(const char *text, const char *name, uint32_t *index);

#endif
