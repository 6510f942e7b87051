/* fuzz_targets.h - what a fuzzer does with some bytes: reads them as a file of one kind and gives all back.
 *
 * The fuzzers (fuzz_*.c, under clang's libFuzzer) and the replay of what they found (test_fuzz_cases.c, under any compiler) share
 * these. A reader may accept or refuse; a crash, a leak, an assertion or a sanitizer's report is a find. */
#ifndef TESTS_FUZZ_TARGETS_H
#define TESTS_FUZZ_TARGETS_H

#include "io/flows_text.h"
#include "io/topo_text.h"
#include "io/scenario_read.h"
#include "io/trace_read.h"
#include "cli/trace_summary.h"
#include "io/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FUZZ_PATH_BYTES = 64 };

/* The bytes as a file in memory; its path goes to `path`. Close the descriptor afterwards. */
static inline int fuzz_file(const uint8_t *bytes, size_t count, char path[FUZZ_PATH_BYTES])
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, count) != (ssize_t)count) abort();
    snprintf(path, FUZZ_PATH_BYTES, "/proc/self/fd/%d", fd);
    return fd;
}

/* Problems are printed too: rendering them walks the hostile text. */
static inline void fuzz_print(struct diag *diag)
{
    static char shown[65536];
    FILE *out = fmemopen(shown, sizeof shown, "w");
    if (out == NULL) abort();
    diag_print(diag, out);
    fclose(out);
    diag_destroy(diag);
}

static inline void fuzz_scenario(const uint8_t *bytes, size_t count)
{
    static struct scenario scenario; /* large */
    char path[FUZZ_PATH_BYTES];
    const int fd = fuzz_file(bytes, count, path);
    struct diag *diag = diag_create();
    scenario_read(path, NULL, 0, &scenario, diag);
    scenario_clear(&scenario);
    fuzz_print(diag);
    close(fd);
}

/* The tree only: its keys are read by the code behind fuzz_scenario. */
static inline void fuzz_json(const uint8_t *bytes, size_t count)
{
    struct yaml_document document;
    struct diag *diag = diag_create();
    json_read_text("fuzz", (const char *)bytes, count, &document, diag);
    yaml_clear(&document);
    fuzz_print(diag);
}

/* What is read gives its own table again. */
static inline void fuzz_topo(const uint8_t *bytes, size_t count)
{
    static struct topo_matrix matrix, again;
    struct server_tree tree;
    char path[FUZZ_PATH_BYTES];
    const int fd = fuzz_file(bytes, count, path);
    struct diag *diag = diag_create();
    if (diag == NULL) abort();
    if (topo_read(path, &matrix, &tree, diag) == STATUS_OK) {
        matrix_of_tree(&tree, 0, &again);
        if (memcmp(matrix.cell, again.cell, sizeof matrix.cell) != 0) abort();
    }
    fuzz_print(diag);
    close(fd);
}

static inline void fuzz_flows(const uint8_t *bytes, size_t count)
{
    char path[FUZZ_PATH_BYTES];
    const int fd = fuzz_file(bytes, count, path);
    struct diag *diag = diag_create();
    struct flows_text text;
    const enum status status = flows_text_read(path, &text, diag);
    for (uint32_t f = 0; status == STATUS_OK && f < text.flow_count; f++)
        for (uint32_t i = 0; i < text.flows[f].link_count; i++)
            if (text.path[text.flows[f].first_link + i] >= text.link_count) abort();
    flows_text_clear(&text);
    fuzz_print(diag);
    close(fd);
}

static inline void fuzz_trace(const uint8_t *bytes, size_t count, enum trace_format format, bool strict)
{
    char path[FUZZ_PATH_BYTES];
    const int fd = fuzz_file(bytes, count, path);
    struct diag *diag = diag_create();
    const struct trace_options options = { .format = format, .zone = "Europe/Berlin", .strict = strict };
    struct jobs jobs;
    static struct import_report report;
    const enum status status = trace_read(path, &options, &jobs, &report, diag);
    uint64_t skipped = 0;
    for (uint32_t i = 0; i < report.skipped_count; i++) skipped += report.skipped[i].rows;
    /* Rows read = imported + skipped, always (rule 4 of the pitfalls). */
    if (status == STATUS_OK && (report.rows_read != report.imported + skipped || jobs.count != report.imported))
        abort();
    struct trace_summary summary = { 0 };
    if (status == STATUS_OK) trace_summarize(&jobs, &summary, diag);
    trace_summary_clear(&summary);
    jobs_clear(&jobs);
    fuzz_print(diag);
    close(fd);
}

/* All CSV formats, by what the header says; forced formats refuse in ways of their own. */
static inline void fuzz_csv(const uint8_t *bytes, size_t count)
{
    static const enum trace_format formats[] = { TRACE_AUTO, TRACE_GPUPLAN, TRACE_ITP, TRACE_PHILLY,
                                                 TRACE_OPENB };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        fuzz_trace(bytes, count, formats[i], i == 1);
}

static inline void fuzz_swf(const uint8_t *bytes, size_t count)
{
    fuzz_trace(bytes, count, TRACE_SWF, false);
    fuzz_trace(bytes, count, TRACE_SWF, true);
}

#endif
