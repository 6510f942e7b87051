/* jobs.h - the trace as columns: read once, shared read-only by all layouts and replicas.
 *
 * Rows are in submit order (ties in file order). Optional columns are NULL when no row has them. */
#ifndef GPUPLAN_SPEC_JOBS_H
#define GPUPLAN_SPEC_JOBS_H

#include "base/arena.h"
#include "base/limits.h"
#include "spec/ask.h"

#include <stdbool.h>
#include <stdint.h>

#define JOB_NONE     UINT32_MAX
#define JOB_NO_LIMIT INT64_MAX
#define TEXT_NONE    0u /* offset of the empty text */

struct jobs {
    uint32_t count;
    int64_t *submit_ns;    /* [count] ascending; the first is 0                              */
    int64_t *duration_ns;  /* [count] recorded run time, >= 0                                */
    int64_t *limit_ns;     /* [count] requested time, > 0; JOB_NO_LIMIT when the trace has none */
    uint32_t *gpus;        /* [count] whole GPUs of all its parts; 0: cores only, or a part of one */
    uint32_t *nodes;       /* [count] or NULL: recorded nodes, 0 = unknown                   */
    uint32_t *cores;       /* [count] or NULL: CPU cores of the whole job, 0 = not asked     */
    uint64_t *memory_bytes;/* [count] or NULL: memory of the whole job, 0 = not asked        */
    uint32_t *id;          /* [count] offset of the job's id in text                         */
    uint32_t *user;        /* [count] or NULL: offset of the user's name                     */
    uint32_t *model;       /* [count] or NULL: offset of the name of its communication profile */
    struct ask *asks;      /* [ask_count] or NULL: requests in a scheduler's words           */
    uint32_t ask_count;
    uint32_t *ask;         /* [count] or NULL: row in asks                                   */
    struct job_words *words; /* [count] or NULL                                              */
    bool once;             /* written in the scenario: played once, whatever the horizon            */
    bool timeless;         /* the list has no times: jobs come one a second and have no duration */
    char *text;            /* NUL-separated texts; text[0] is the empty one                  */
    uint64_t text_bytes;
    struct arena *arena;   /* owns all of the above                                          */
};

enum { IMPORT_REASONS = 24 };

struct import_reason {
    char reason[96];
    uint64_t rows;
};

/* Rows read = imported + the sum of skipped, always. */
struct import_report {
    char source[LIMIT_PATH_BYTES];
    char format[16];
    uint64_t rows_read, imported;
    struct import_reason skipped[IMPORT_REASONS];  /* rows left out, by reason */
    uint32_t skipped_count;
    struct import_reason repaired[IMPORT_REASONS]; /* rows kept with a repair  */
    uint32_t repaired_count;
    char origin[64];       /* submit time of the first job as the file writes it            */
    char zone[64];         /* time zone applied; "" when the file's times are relative       */
    uint64_t digest;       /* XXH3 of the uncompressed bytes                                 */
    double span_s;         /* from the first submission to the last                          */
    double gpu_s;          /* sum of gpus * duration                                         */
};

/* GPUs that a job asks for in thousandths: whole ones and parts. */
uint64_t jobs_gpu_milli(const struct jobs *jobs, uint32_t row);

void jobs_clear(struct jobs *jobs); /* gives everything back; zeroed jobs are allowed */

#endif
