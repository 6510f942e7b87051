/* inputs.c - see inputs.h. */
#include "cli/inputs.h"

#include "base/clock.h"
#include "io/trace_read.h"

#include <inttypes.h>
#define XXH_INLINE_ALL
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

bool inputs_has_jobs(const struct scenario *scenario)
{
    return scenario->trace_path[0] != '\0' || scenario->jobs != NULL;
}

/* What a log would be told about; the digest is that of the scenario, whose text holds the jobs. */
static void report_written(const struct scenario *scenario, const struct jobs *jobs,
                           struct import_report *import)
{
    double gpu_milli_s = 0;
    for (uint32_t row = 0; row < jobs->count; row++)
        gpu_milli_s += (double)jobs_gpu_milli(jobs, row) * s_from_ns(jobs->duration_ns[row]);
    *import = (struct import_report){ .rows_read = jobs->count,
                                      .imported = jobs->count,
                                      .digest = XXH3_64bits(scenario->text, scenario->text_bytes),
                                      .span_s = s_from_ns(jobs->submit_ns[jobs->count - 1]),
                                      .gpu_s = gpu_milli_s / 1000 };
    snprintf(import->source, sizeof import->source, "%s", scenario->path);
    snprintf(import->format, sizeof import->format, "scenario");
    snprintf(import->origin, sizeof import->origin, "0");
}

enum status inputs_read_jobs(struct scenario *scenario, struct jobs *jobs,
                             struct import_report *import, struct diag *diag)
{
    if (scenario->jobs != NULL) {
        *jobs = *scenario->jobs;
        free(scenario->jobs);
        scenario->jobs = NULL;
        report_written(scenario, jobs, import);
        return STATUS_OK;
    }
    const struct trace_options trace = { .format = scenario->trace_format,
                                         .zone = scenario->trace_zone,
                                         .kill_at_limit = scenario->kill_at_limit,
                                         .drop_failed = scenario->drop_failed };
    TRY(trace_read(scenario->trace_path, &trace, jobs, import, diag));
    if (jobs->count > 0) return trace_check_words(scenario, jobs, diag);
    return diag_error(diag, (struct place){ .file = scenario->trace_path },
                      "the trace holds no job that can be replayed");
}

static void print_trace(FILE *out, const char *prefix, const struct plan *plan)
{
    const struct import_report *import = plan->import;
    fprintf(out, "%s%s: %" PRIu64 " rows read = %" PRIu64 " imported", prefix, import->source,
            import->rows_read, import->imported);
    for (uint32_t i = 0; i < import->skipped_count; i++)
        fprintf(out, " + %" PRIu64 " skipped (%s)", import->skipped[i].rows,
                import->skipped[i].reason);
    fprintf(out, "; %" PRIu32 " days\n", plan->trace_days);
}

static void print_layout(FILE *out, const char *prefix, const struct plan *plan,
                         const struct variant *variant)
{
    const struct layout *layout = &plan->scenario->layouts[variant->layout];
    int columns = 16;
    for (uint32_t i = 0; i < plan->scenario->layout_count; i++) {
        const int bytes = (int)strlen(plan->scenario->layouts[i].name);
        if (bytes > columns) columns = bytes;
    }
    fprintf(out, "%s  %-*s %6u %s %u = %u GPUs, %u NIC%s a server", prefix, columns, layout->name,
            variant->servers,
            (uint64_t)variant->servers * variant->gpus_per_server == variant->gpus ? "x"
                                                                                   : "of up to",
            variant->gpus_per_server, variant->gpus, layout->fabric.nics_per_server,
            layout->fabric.nics_per_server == 1 ? "" : "s");
    if (plan->jobs->count > 0 && !plan->jobs->once)
        fprintf(out, ", offered load %.2f", variant->offered_load);
    if (variant->jobs_never_fit)
        fprintf(out, "; %" PRIu64 " jobs it can never hold, %.0f GPU-hours unserved",
                variant->jobs_never_fit, variant->unserved_gpu_s / 3600);
    fputc('\n', out);
}

void inputs_print(FILE *out, const char *prefix, const struct plan *plan)
{
    if (plan->jobs->count > 0) print_trace(out, prefix, plan);
    for (uint32_t v = 0; v < plan->variant_count; v++)
        if (v == 0 || plan->variants[v].layout != plan->variants[v - 1].layout)
            print_layout(out, prefix, plan, &plan->variants[v]);
}
