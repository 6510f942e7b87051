/* store_internal.h - what the files of the store share. */
#ifndef GPUPLAN_IO_STORE_INTERNAL_H
#define GPUPLAN_IO_STORE_INTERNAL_H

#include "io/db.h"
#include "io/store_write.h"

enum insert {
    INSERT_REPLICA,
    INSERT_LEDGER,
    INSERT_LEDGER_RUN,
    INSERT_CURVE,
    INSERT_METRIC,
    INSERT_INCIDENT,
    INSERT_JOB,
    INSERT_ATTEMPT,
    INSERT_KEPT,
    INSERT_LINK,
    INSERT_ALLOCATION,
    INSERT_REQUEST,
    INSERT_CAUSE,
    INSERT_WORD,
    INSERT_TORNADO, /* a moved assumption's run: this table only */
    INSERTS
};

extern const char *const store_insert_sql[INSERTS];

struct store {
    struct db *db;
    struct db_query *insert[INSERTS];
    struct db_query *find_replica, *find_tornado, *find_metric;
    const struct plan *plan;
    bool made; /* PATH.partial is new, and of our making                         */
    uint64_t replica_count;      /* stored, blast runs included                          */
    char path[LIMIT_PATH_BYTES]; /* final name                                           */
    char partial[LIMIT_PATH_BYTES];
};

/* -1 for REPLICA_BLAST. */
int64_t stored_replica(uint32_t replica);

/* Fills meta, import_report, assumption, gate, layout, server, node and gpu from the plan, in the
 * transaction of the caller. */
enum status store_plan(struct db *db, const struct plan *plan);

/* Fills assumption by a query of subject, name, value, mark, source. */
enum status store_assumptions(struct db_query *query, const struct plan *plan);

/* Schema and plan in one transaction: a killed run leaves all of it or an empty file. */
enum status store_fill(struct db *db, const struct plan *plan);

/* STATUS_OK when the file was begun, or finished, for this plan; else STATUS_INPUT, with what differs. */
enum status store_same_plan(struct db *have, const struct plan *plan, struct diag *diag);

/* Whether a run may write PATH. What is no result database stays (STATUS_WORLD), and so does, under another name than
 * the default one, the result of a scenario of another name (STATUS_INPUT). With `resume`, for a run that has nothing
 * to go on with: a result under PATH must be that of the same plan, and then *finished says that nothing is left to do. */
enum status store_check_target(const char *path, const struct plan *plan, bool resume,
                               bool *finished, struct diag *diag);

/* Replaces one key of meta. */
enum status store_meta(struct db *db, const char *key, const char *text);

#endif
