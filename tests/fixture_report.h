/* fixture_report.h - from hand-made replicas to a comparison. */
#ifndef GPUPLAN_TESTS_FIXTURE_REPORT_H
#define GPUPLAN_TESTS_FIXTURE_REPORT_H

#include "fixture_store.h"

#include "io/store_read.h"
#include "report/moves.h"
#include "report/prose.h"
#include "report/report.h"
#include "report/verdict.h"

struct report {
    struct stored stored;
    struct comparison c; /* points into stored: a report stays where it is */
    struct moves moves;
};

/* Finishes the store, reads it back and compares. */
static inline void report_finish(struct fixture *f, struct store *store, struct report *report)
{
    assert_int_equal(store_finish(store, f->diag), STATUS_OK);
    assert_int_equal(store_read(f->path, &report->stored, f->diag), STATUS_OK);
    assert_int_equal(comparison_build(&report->stored, NULL, &report->c, f->diag), STATUS_OK);
    assert_int_equal(moves_build(&report->c, &report->moves, f->diag), STATUS_OK);
}

static inline void report_clear(struct report *report)
{
    moves_clear(&report->moves);
    comparison_clear(&report->c);
    stored_clear(&report->stored);
}

/* What `gpuplan compare` prints for the stored file; the text is the caller's to free. */
static inline enum status print_all(struct fixture *f, const struct report_options *options, char **text)
{
    size_t bytes;
    FILE *out = open_memstream(text, &bytes);
    assert_non_null(out);
    const enum status status = report_print(f->path, out, options, f->diag);
    fclose(out);
    return status;
}

/* Layouts 0 and 1 with these yields, one replica each. */
static inline void report_of(struct fixture *f, const double *dense, const double *sparse,
                             uint32_t count, struct report *report)
{
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++)
        for (uint32_t replica = 0; replica < count; replica++) {
            struct replica_result r = fixture_result(layout, replica);
            fixture_metric(&r, "yield", "1", CLASS_NONE, (layout == 0 ? dense : sparse)[replica]);
            fixture_store(store, &r, f->diag);
        }
    report_finish(f, store, report);
}

/* Every metric of the engine, times `factor`. */
static inline void report_metrics(struct replica_result *r, double factor)
{
    static const char *const by_class[] = { "wait_s_mean", "wait_s_p50", "wait_s_p95",
                                            "completion_s_mean", "completion_s_p50",
                                            "completion_s_p95" };
    static const char *const hours[] = { "lost_gpu_h", "restart_gpu_h", "down_gpu_h",
                                         "unserved_gpu_h", "at_risk_gpu_h" };
    char name[40];
    for (size_t i = 0; i < sizeof by_class / sizeof *by_class; i++)
        for (int class = 0; class < CLASSES; class ++)
            fixture_metric(r, by_class[i], "s", (enum size_class)class,
                           1234567.8 * factor * (class + 1));
    for (int class = 0; class < CLASSES; class ++)
        fixture_metric(r, "jobs_done", "1", (enum size_class)class, 100 + class);
    for (size_t i = 0; i < sizeof hours / sizeof *hours; i++)
        fixture_metric(r, hours[i], "gpu_h", CLASS_NONE, 7654321.2 * factor);
    for (int account = 0; account < ACCOUNTS; account++) {
        snprintf(name, sizeof name, "share_%s", account_names[account]);
        fixture_metric(r, name, "1", CLASS_NONE, factor / 30);
    }
    fixture_metric(r, "yield", "1", CLASS_NONE, 0.73 * factor);
    fixture_metric(r, "utilization", "1", CLASS_NONE, 0.71 * factor);
    fixture_metric(r, "goodput", "1", CLASS_NONE, 0.61 * factor);
    fixture_metric(r, "lost_frac", "1", CLASS_NONE, 0.01 * factor);
    fixture_metric(r, "incidents", "1", CLASS_NONE, 1234 * factor);
    fixture_metric(r, "gpus_stopped_mean", "1", CLASS_NONE, 17.3 * factor);
}

/* Finishes the store and writes its verdict; the text is the caller's to free. GPUPLAN_SHOW=1 prints it. */
static inline char *finish_verdict(struct fixture *f, struct store *store)
{
    struct report report;
    report_finish(f, store, &report);
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    verdict_write(&report.c, &report.moves, out);
    fclose(out);
    report_clear(&report);
    if (getenv("GPUPLAN_SHOW") != NULL) prose_wrap(stdout, text, PROSE_COLUMNS);
    return text;
}

#endif
