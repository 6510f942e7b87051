/* trace_write.c - jobs in the project's own CSV. Written beside and renamed, so that no half of a
 * file ever stands under the final name (P99). */
#include "io/trace_read.h"

#include "base/int128.h"
#include "io/trace_number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void put_number(FILE *out, int64_t value, int decimals)
{
    char text[NUMBER_TEXT_BYTES] = { 0 };
    fwrite(text, 1, number_write(value, decimals, text), out);
}

/* RFC 4180: quoted when it holds a comma, a quote or a line end; '#' in front would be a comment.
 * csv_safe: what spreadsheets take for a formula gets a ' in front (P94). */
static void put_text(FILE *out, const char *text, bool csv_safe)
{
    const char *mark = csv_safe && text[0] && strchr("=+-@\t\r\n", text[0]) ? "'" : "";
    if (text[0] != '#' && text[strcspn(text, ",\"\r\n")] == '\0') {
        fprintf(out, "%s%s", mark, text);
        return;
    }
    fprintf(out, "\"%s", mark);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_header(FILE *out, const char *header)
{
    while (header != NULL && *header != '\0') {
        const size_t bytes = strcspn(header, "\n");
        fprintf(out, "# %.*s\n", (int)bytes, header);
        header += bytes + (header[bytes] == '\n');
    }
}

static bool has_limits(const struct jobs *jobs)
{
    for (uint32_t i = 0; i < jobs->count; i++)
        if (jobs->limit_ns[i] != JOB_NO_LIMIT) return true;
    return false;
}

/* The number of an optional column: empty where the row has none. */
static void put_optional(FILE *out, int64_t value, bool is_there, int decimals)
{
    fputc(',', out);
    if (is_there) put_number(out, value, decimals);
}

/* The words that a log of our form has columns for. */
static void put_words(FILE *out, const struct jobs *jobs, uint32_t i, bool csv_safe)
{
    const struct job_words *const words = &jobs->words[i];
    const uint32_t texts[] = { words->partition, words->qos, words->account, words->team };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        fputc(',', out);
        put_text(out, jobs->text + texts[t], csv_safe);
    }
    fprintf(out, ",%" PRId32, words->priority);
}

static void put_job(FILE *out, const struct jobs *jobs, uint32_t i, bool limits, bool csv_safe)
{
    put_text(out, jobs->text + jobs->id[i], csv_safe);
    put_optional(out, jobs->submit_ns[i], true, NUMBER_NS_DECIMALS);
    put_optional(out, jobs->duration_ns[i], true, NUMBER_NS_DECIMALS);
    put_optional(out, jobs->gpus[i], true, 0);
    if (limits)
        put_optional(out, jobs->limit_ns[i], jobs->limit_ns[i] != JOB_NO_LIMIT, NUMBER_NS_DECIMALS);
    if (jobs->nodes) put_optional(out, jobs->nodes[i], jobs->nodes[i] != 0, 0);
    if (jobs->cores) put_optional(out, jobs->cores[i], jobs->cores[i] != 0, 0);
    if (jobs->memory_bytes) {
        const uint128 scaled = (uint128)jobs->memory_bytes[i] * NUMBER_GIB_SCALE + (1u << 29);
        put_optional(out, (int64_t)(scaled >> 30), jobs->memory_bytes[i] != 0, NUMBER_GIB_DECIMALS);
    }
    if (jobs->user) {
        fputc(',', out);
        put_text(out, jobs->text + jobs->user[i], csv_safe);
    }
    if (jobs->model) {
        fputc(',', out);
        put_text(out, jobs->text + jobs->model[i], csv_safe);
    }
    if (jobs->words) put_words(out, jobs, i, csv_safe);
    fputc('\n', out);
}

/* False when a write failed; errno says why. */
static bool put_all(FILE *out, const struct jobs *jobs, const struct trace_form *form)
{
    const bool limits = has_limits(jobs);
    put_header(out, form->header);
    fprintf(out, "job_id,submit_s,duration_s,gpus%s%s%s%s%s%s%s\n", limits ? ",limit_s" : "",
            jobs->nodes ? ",nodes" : "", jobs->cores ? ",cores" : "",
            jobs->memory_bytes ? ",memory_gib" : "", jobs->user ? ",user" : "",
            jobs->model ? ",model" : "", jobs->words ? ",partition,qos,account,team,priority" : "");
    for (uint32_t i = 0; i < jobs->count && !ferror(out); i++)
        put_job(out, jobs, i, limits, form->csv_safe);
    return fflush(out) == 0 && !ferror(out);
}

static enum status cannot_write(const char *path, struct diag *diag)
{
    return diag_world(diag, "%s: cannot be written: %s", path, strerror(errno));
}

/* Pipes and devices cannot be renamed onto: they are written as they are. */
static enum status write_direct(const char *path, const struct jobs *jobs,
                                const struct trace_form *form, struct diag *diag)
{
    FILE *out = fopen(path, "we");
    if (out == NULL) return cannot_write(path, diag);
    const bool is_written = put_all(out, jobs, form);
    return fclose(out) == 0 && is_written ? STATUS_OK : cannot_write(path, diag);
}

static enum status write_beside(const char *path, const struct jobs *jobs,
                                const struct trace_form *form, struct diag *diag)
{
    char beside[LIMIT_PATH_BYTES + 32];
    if (strlen(path) >= LIMIT_PATH_BYTES) {
        errno = ENAMETOOLONG;
        return cannot_write(path, diag);
    }
    snprintf(beside, sizeof beside, "%s.partial-%ld", path, (long)getpid());
    FILE *out = fopen(beside, "wxe");
    if (out == NULL) return cannot_write(path, diag);
    const bool is_written = put_all(out, jobs, form);
    if (fclose(out) == 0 && is_written && rename(beside, path) == 0) return STATUS_OK;
    const enum status status = cannot_write(path, diag);
    unlink(beside);
    return status;
}

enum status trace_write(const char *path, const struct jobs *jobs, const struct trace_form *form,
                        struct diag *diag)
{
    struct stat info;
    if (jobs->asks != NULL)
        return diag_error(
            diag, (struct place){ .file = path },
            "is not written: the form has no columns for parts of a GPU, GPU types and "
            "thousandths of a core, which these jobs ask for");
    if (strcmp(path, "-") == 0) {
        put_all(stdout, jobs, form); /* main judges standard output: a closed pipe is no failure */
        return STATUS_OK;
    }
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return write_direct(path, jobs, form, diag);
    return write_beside(path, jobs, form, diag);
}
