/* fixture_plot.h - a small result database for the tests of the plots, in a fresh folder. */
#ifndef GPUPLAN_TESTS_FIXTURE_PLOT_H
#define GPUPLAN_TESTS_FIXTURE_PLOT_H

#include "io/db.h"
#include "io/schema.h"
#include "report/plot.h"

#include <gsl/gsl_errno.h>

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char work[256];     /* a fresh folder, also TMPDIR                       */
static char small_db[300]; /* the small database in it                          */

/* ---- a small database: two layouts, two slack rules, two replicas ---- */

static inline void put_layout(struct db *db, int64_t id, const char *name, int64_t slack)
{
    struct db_query *query;
    assert_int_equal(db_prepare(db,
                                "INSERT INTO layout VALUES(?,?,?,0,'hgx-h100-8',0,2,8,16,'h100',"
                                "'ib','two-tier',8,1.0,8,1,1,1,NULL,0.5,0,0.0)",
                                &query),
                     STATUS_OK);
    db_put_int(query, id);
    db_put_name(query, name);
    db_put_int(query, slack);
    assert_int_equal(db_run(query), STATUS_OK);
    db_finish(query);
}

/* 16 GPUs, window 3600 .. 7200 s, bins of 1800 s: 16 * 3600 = 57600 GPU-s in the window. Layout 0
 * (slack 0) computes 0.5 and 0.7 of it, loses 0.1; layout 2 computes 0.4 and 0.6. */
static const char rows[] =
    "INSERT INTO meta VALUES('name','tiny'),('complete','1'),('curve_bin_ns','1800000000000');"
    "INSERT INTO replica SELECT layout_id, 0, 'replay', 3600000000000, 7200000000000, "
    "9000000000000,"
    " 0,0,0,0,0,0,0,0.0 FROM layout;"
    "INSERT INTO replica SELECT layout_id, 1, 'replay', 3600000000000, 7200000000000, "
    "9000000000000,"
    " 0,0,0,0,0,0,0,0.0 FROM layout;"
    "INSERT INTO replica SELECT layout_id, -1, 'blast', 0, 31557600000000000, 31557600000000000,"
    " 0,0,0,0,0,0,0,0.0 FROM layout;"
    "INSERT INTO ledger VALUES"
    " (0,0,'compute','8-15',28800,0),(0,0,'lost','8-15',5760,0),(0,0,'no_demand','none',23040,0),"
    " (0,1,'compute','8-15',40320,0),(0,1,'lost','8-15',5760,0),(0,1,'no_demand','none',11520,0),"
    " (2,0,'compute','8-15',23040,0),(2,0,'stall_inter','1',11520,0),(2,0,'down','none',23039,"
    "  1008000000000000),"
    " (2,1,'compute','8-15',34560,0),(2,1,'stall_contention','8-15',11520,0),"
    " (2,1,'fragmented','none',11520,0);"
    "INSERT INTO curve VALUES"
    " (0,0,0.0,1800.0,'compute',14400.0),(0,1,0.0,1800.0,'compute',28800.0),"
    " (0,0,1800.0,3600.0,'compute',7200.0),(0,1,1800.0,3600.0,'down',7200.0),"
    " (0,0,7200.0,9000.0,'compute',28800.0);"
    "INSERT INTO metric "
    "VALUES(0,0,'wait_s_p95','none','s',100.0),(0,1,'wait_s_p95','none','s',300.0),"
    " (0,0,'wait_s_p50','8-15','s',7.0),(2,0,'wait_s_p95','none','s',50.0),"
    " (0,0,'effective_load','none','1',0.75),(0,1,'effective_load','none','1',0.5);"
    /* As written "one" yields 0.125 more in both replicas; communication takes it to 0.0625 and 0.375; with half of
     * the NICs nothing is left. */
    "INSERT INTO metric VALUES(0,0,'yield','none','1',0.75),(0,1,'yield','none','1',0.75),"
    " (2,0,'yield','none','1',0.625),(2,1,'yield','none','1',0.625),(0,0,'yield','1','1',0.1);"
    "INSERT INTO setting VALUES(0,'none',1.0),(1,'communication',0.5),(2,'communication',2.0),"
    " (3,'nics',0.5);"
    "INSERT INTO tornado VALUES(1,0,0,'yield','none','1',0.75),(1,2,0,'yield','none','1',0.6875),"
    " (1,0,1,'yield','none','1',0.75),(1,2,1,'yield','none','1',0.6875),(1,0,0,'yield','1','1',0.5),"
    " (2,0,0,'yield','none','1',0.75),(2,2,0,'yield','none','1',0.375),"
    " (2,0,1,'yield','none','1',0.75),(2,2,1,'yield','none','1',0.375),"
    " (3,0,0,'yield','none','1',0.75),(3,2,0,'yield','none','1',0.75),"
    " (3,0,1,'yield','none','1',0.75),(3,2,1,'yield','none','1',0.75);"
    "INSERT INTO incident VALUES(0,-1,0,1.0,2.0,'server',0,8,8,0,0,0.0,0.0,8.0),"
    " (0,-1,1,5.0,6.0,'gpu',0,1,1,0,0,0.0,0.0,1.0),(0,-1,2,7.0,8.0,'server',1,8,8,0,0,0.0,0.0,8.0),"
    " (0,0,0,1.0,2.0,'gpu',0,1,1,0,0,0.0,0.0,1.0);";

static inline void make_database(const char *name)
{
    struct diag *diag = diag_create();
    struct db *db = NULL;
    unlink(small_db);
    assert_int_equal(db_open(small_db, DB_CREATE, &db, diag), STATUS_OK);
    assert_int_equal(db_exec(db, store_schema), STATUS_OK);
    put_layout(db, 0, name, 0);
    put_layout(db, 1, name, -1);
    put_layout(db, 2, "other", 0);
    put_layout(db, 3, "other", -1);
    assert_int_equal(db_exec(db, rows), STATUS_OK);
    assert_int_equal(db_exec(db, "PRAGMA application_id = 1735422000; PRAGMA user_version = 2"),
                     STATUS_OK);
    assert_int_equal(db_close(db), STATUS_OK);
    diag_destroy(diag);
}

/* Number of files in the work folder but the database and its journal. */
static inline size_t files_left(void)
{
    size_t count = 0;
    DIR *entries = opendir(work);
    assert_non_null(entries);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "small.db") != 0) count++;
    closedir(entries);
    return count;
}

static inline bool start_tests(void)
{
    gsl_set_error_handler_off();
    snprintf(work, sizeof work, "%s/test-plot-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(work)) return false;
    setenv("TMPDIR", work, 1);
    snprintf(small_db, sizeof small_db, "%s/small.db", work);
    return true;
}

/* Group teardown: fails when anything is left behind. */
static inline int end_tests(void **state)
{
    (void)state;
    unlink(small_db);
    return rmdir(work);
}

/* gnuplot where Debian puts it; without it the calling test is skipped, loudly. */
static inline void need_gnuplot(void)
{
    if (access("/usr/bin/gnuplot", X_OK) == 0) return;
    print_message("skipped: gnuplot is not installed\n");
    skip();
}

#endif
