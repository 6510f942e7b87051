/* diag.h - problems of the input and of the world, each with its place.
 *
 * A reader collects problems instead of stopping at the first; the caller prints them once. Text
 * from files is shown with control characters escaped (text_escape), so a message can never
 * repaint a terminal (P95). Used by the main thread only. */
#ifndef GPUPLAN_BASE_DIAG_H
#define GPUPLAN_BASE_DIAG_H

#include "base/limits.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Where a problem is. Borrowed pointers need to live only until the call returns. */
struct place {
    const char *file;   /* as the user wrote it                                        */
    uint64_t line;      /* from 1; 0 = the file as a whole                             */
    uint32_t column;    /* from 1, in bytes; 0 = the line as a whole                   */
    uint32_t width;     /* bytes to underline; 0 and 1 give one caret                  */
    const char *text;   /* the line itself, no line end; NULL when it cannot be shown  */
    size_t text_bytes;
};

struct diag;

/* create/destroy own the collected messages. create returns NULL when memory is out. */
struct diag *diag_create(void);
void diag_destroy(struct diag *diag);

/* The place of the byte at `offset` in a whole text held in memory. */
struct place place_in_text(const char *file, const char *text, size_t text_bytes, size_t offset,
                           size_t width);

/* Adds an error and returns STATUS_INPUT, so that `return diag_error(...)` reads as it acts.
 * At most LIMIT_DIAG_PROBLEMS are kept; later ones are counted. The format holds no line end. */
enum status diag_error(struct diag *diag, struct place at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for usage errors and others without a place. */
enum status diag_usage(struct diag *diag, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The world failed: returns STATUS_WORLD. Name the file and the reason. */
enum status diag_world(struct diag *diag, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same where a place of the input asks for it: a file that is named there and cannot be read. */
enum status diag_world_at(struct diag *diag, struct place at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A repaired or skipped thing worth saying; does not count as an error. */
void diag_warn(struct diag *diag, struct place at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Errors collected so far, counted ones included. */
uint64_t diag_error_count(const struct diag *diag);

/* STATUS_OK when no error was collected, else the status of the first. */
enum status diag_status(const struct diag *diag);

/* Prints all problems in the order they were found:
 *
 *     scenarios/tiny.yaml:14:16: error: gpus must be 1 or more, got -8
 *        14 |     gpus: -8
 *           |           ^~                                                                     */
void diag_print(const struct diag *diag, FILE *out);

#endif
