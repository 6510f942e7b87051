/* store_jobs.h - the jobs of a result database, row by row: those of the replica that is stored in detail.
 *
 * Nothing is kept. Rows are checked like those of store_read. */
#ifndef GPUPLAN_IO_STORE_JOBS_H
#define GPUPLAN_IO_STORE_JOBS_H

#include "base/diag.h"

#include <stdint.h>

struct stored_job {
    uint32_t layout;    /* layout_id                                                            */
    uint32_t row;       /* its place among the jobs of that layout, by submission; from 0       */
    const char *id;     /* of the visit only                                                    */
    uint32_t gpus;
    double submit_s;    /* after the first submission of the replica                            */
    double end_s;       /* infinite when it was killed or turned away, or has not ended         */
};

typedef void store_job_visit(const struct stored_job *job, void *with);

/* Jobs of replica 0, by layout and submission; at most `most` of each layout are visited. STATUS_INPUT when the file
 * is not such a database, STATUS_WORLD when it cannot be read. */
enum status store_each_job(const char *path, uint32_t most, store_job_visit *visit, void *with,
                           struct diag *diag);

#endif
