/* input.h - a whole file, or standard input, in memory; gzip and zstd are unpacked by content (P85).
 *
 * "-" is standard input. Regular files and pipes are read; folders, devices and sockets are refused, and so is a regular
 * file that changes its length while it is read (P86). Of compressed data at most LIMIT_EXPANSION bytes come out of each one
 * that goes in (results below LIMIT_EXPANSION_FREE_BYTES are not judged), counted while it unpacks, and never more than
 * LIMIT_INPUT_BYTES; unpacking ends at the first NUL byte. Concatenated gzip members and zstd frames
 * are one file, as their tools write.
 * Tests: tests/test_input.c */
#ifndef GPUPLAN_IO_INPUT_H
#define GPUPLAN_IO_INPUT_H

#include "base/diag.h"

#include <stddef.h>
#include <stdint.h>

struct input {
    const char *name; /* as messages show it: the path, or "standard input"; borrowed           */
    char *bytes;      /* unpacked, owned until input_clear; bytes[byte_count] is NUL             */
    size_t byte_count;
    uint64_t digest; /* XXH3 of bytes                                                          */
};

/* Refuses with STATUS_INPUT what is not such a file or does not unpack, with STATUS_WORLD what
 * cannot be opened, read or held in memory. `path` must outlive the input. */
enum status input_read(const char *path, struct input *input, struct diag *diag);

void input_clear(struct input *input); /* zeroed input is allowed */

#endif
