/* store_jobs.c - see store_jobs.h. store_read has made sure of the kind of database. */
#include "io/store_jobs.h"

#include "base/clock.h"
#include "base/limits.h"
#include "io/db.h"

#include <math.h>

static enum status job_rows(struct db *db, struct db_query *query, uint32_t most,
                            store_job_visit *visit, void *with)
{
    struct stored_job job = { .layout = UINT32_MAX };
    for (bool has_row;;) {
        TRY(db_next(query, &has_row));
        if (!has_row) return STATUS_OK;
        const int64_t layout = db_take_int(query), gpus = db_take_int(query);
        job.id = db_take_text(query, NULL);
        const int64_t submit_ns = db_take_int(query), end_ns = db_take_int(query);
        job.submit_s = s_from_ns(submit_ns);
        job.end_s = end_ns == TIME_NEVER ? HUGE_VAL : s_from_ns(end_ns);
        if (layout < 0 || layout >= LIMIT_LAYOUTS * LIMIT_SLACKS || gpus < 0 || gpus > LIMIT_GPUS)
            return diag_error(db_diag(db), (struct place){ .file = db_path(db) },
                              "table 'job' holds a row that gpuplan does not write");
        job.row = (uint32_t)layout == job.layout ? job.row + 1 : 0;
        job.layout = (uint32_t)layout;
        job.gpus = (uint32_t)gpus;
        if (job.row < most) visit(&job, with);
    }
}

enum status store_each_job(const char *path, uint32_t most, store_job_visit *visit, void *with,
                           struct diag *diag)
{
    struct db *db = NULL;
    struct db_query *query = NULL;
    TRY(db_open(path, DB_READ, &db, diag));
    enum status status =
        db_prepare(db,
                   "SELECT layout_id, gpus, id, submit_ns,"
                   " CASE outcome WHEN 'finished' THEN end_ns ELSE 9223372036854775807 END"
                   " FROM job WHERE replica = 0 ORDER BY layout_id, serial",
                   &query);
    if (status == STATUS_OK) status = job_rows(db, query, most, visit, with);
    db_finish(query);
    const enum status closed = db_close(db);
    return status != STATUS_OK ? status : closed;
}
