/* trace_synth.c - gpuplan trace synth: parameters from the command line, jobs from models/synth. */
#include "cli/trace_command.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/quantity.h"
#include "base/sort.h"
#include "models/synth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 3, WORD_BYTES = 32, HEADER_BYTES = 4096, DAYS_MOST = 36500 };

/* ---- parameters ---------------------------------------------------------------------------- */

static enum status bad_value(const struct cli *cli, const char *option, const char *text,
                             const char *form)
{
    return diag_usage(cli->diag, "trace synth: cannot read %s '%s'; the form is %s", option, text,
                      form);
}

/* Splits text[bytes] at ':' into exactly `parts` pieces that begin at at[i] and hold count[i] bytes. */
static bool split(const char *text, size_t bytes, size_t parts, const char *at[PARTS],
                  size_t count[PARTS])
{
    for (size_t i = 0; i < parts; i++) {
        const char *const colon = memchr(text, ':', bytes);
        const size_t here = colon ? (size_t)(colon - text) : bytes;
        if ((colon == NULL) != (i + 1 == parts)) return false;
        at[i] = text;
        count[i] = here;
        if (colon == NULL) break;
        text += here + 1;
        bytes -= here + 1;
    }
    return true;
}

static bool read_positive(const char *text, size_t bytes, double *out)
{
    struct why why;
    return quantity_number(text, bytes, out, &why) && *out > 0;
}

static bool read_size(const char *text, size_t bytes, struct synth_size *size)
{
    const char *at[PARTS];
    size_t count[PARTS];
    struct why why;
    int64_t gpus;
    if (!split(text, bytes, 3, at, count)) return false;
    if (!quantity_count(at[0], count[0], &gpus, &why) || gpus < 1 || gpus > LIMIT_GPUS)
        return false;
    size->gpus = (uint32_t)gpus;
    return read_positive(at[1], count[1], &size->share) &&
           quantity_duration_s(at[2], count[2], &size->median_s, &why) && size->median_s > 0;
}

static enum status read_sizes(const struct cli *cli, struct synth *synth)
{
    const char *const list = cli_value(cli, "--sizes");
    if (list == NULL) return STATUS_OK;
    synth->size_count = 0;
    for (const char *at = list;;) {
        const size_t bytes = strcspn(at, ",");
        if (synth->size_count == SYNTH_SIZES)
            return diag_usage(cli->diag, "trace synth: --sizes has more than %d sizes",
                              SYNTH_SIZES);
        if (!read_size(at, bytes, &synth->sizes[synth->size_count++]))
            return bad_value(cli, "--sizes", list, "gpus:share:median[,...], as 1:0.7:1h,8:0.3:8h");
        if (at[bytes] == '\0') return STATUS_OK;
        at += bytes + 1;
    }
}

static enum status read_short(const struct cli *cli, struct synth *synth)
{
    const char *const text = cli_value(cli, "--short"), *at[PARTS];
    size_t count[PARTS];
    struct why why;
    if (text == NULL) return STATUS_OK;
    if (!split(text, strlen(text), 3, at, count) ||
        !quantity_share(at[0], count[0], &synth->short_share, &why) ||
        !quantity_duration_s(at[1], count[1], &synth->short_median_s, &why) ||
        !(synth->short_median_s > 0) || !read_positive(at[2], count[2], &synth->short_sigma))
        return bad_value(cli, "--short", text, "share:median:log-sd, as 0.45:2m:1.2");
    return STATUS_OK;
}

static enum status read_rhythm(const struct cli *cli, struct synth *synth)
{
    const char *const text = cli_value(cli, "--rhythm"), *at[PARTS];
    size_t count[PARTS];
    if (text == NULL) return STATUS_OK;
    if (!split(text, strlen(text), 2, at, count) ||
        !read_positive(at[0], count[0], &synth->night) ||
        !read_positive(at[1], count[1], &synth->weekend))
        return bad_value(cli, "--rhythm", text, "night:weekend, both above 0, as 0.4:0.6");
    return STATUS_OK;
}

static enum status read_users(const struct cli *cli, struct synth *synth)
{
    const char *const text = cli_value(cli, "--users"), *at[PARTS];
    size_t count[PARTS];
    struct why why;
    int64_t users;
    if (text == NULL) return STATUS_OK;
    if (!split(text, strlen(text), 2, at, count) ||
        !quantity_count(at[0], count[0], &users, &why) || users < 1 || users > SYNTH_USERS ||
        !quantity_number(at[1], count[1], &synth->user_skew, &why) || synth->user_skew < 0 ||
        synth->user_skew > 10)
        return bad_value(cli, "--users", text,
                         "number:skew, at most 1024 users and a skew of 0 to 10, as 60:1");
    synth->users = (uint32_t)users;
    return STATUS_OK;
}

static enum status read_number(const struct cli *cli, const char *option, double *out)
{
    const char *const text = cli_value(cli, option);
    if (text == NULL || read_positive(text, strlen(text), out)) return STATUS_OK;
    return bad_value(cli, option, text, "a number above 0");
}

static enum status read_longest(const struct cli *cli, struct synth *synth)
{
    const char *const text = cli_value(cli, "--longest");
    struct why why;
    int64_t ns;
    if (text == NULL) return STATUS_OK;
    if (!quantity_duration(text, strlen(text), &ns, &why) || ns < NS_PER_S)
        return bad_value(cli, "--longest", text, "a time of 1s and more, as 7d");
    synth->longest_s = ns / NS_PER_S;
    return STATUS_OK;
}

static enum status read_parameters(const struct cli *cli, struct synth *synth)
{
    long long seed, days, gpus;
    synth_defaults(synth);
    TRY(cli_count(cli, "--seed", 0, INT64_MAX, (long long)synth->seed, &seed));
    TRY(cli_count(cli, "--days", 1, DAYS_MOST, synth->days, &days));
    TRY(cli_count(cli, "--gpus", 1, LIMIT_GPUS, synth->gpus, &gpus));
    synth->seed = (uint64_t)seed;
    synth->days = (uint32_t)days;
    synth->gpus = (uint32_t)gpus;
    TRY(read_number(cli, "--load", &synth->load));
    TRY(read_number(cli, "--sigma", &synth->long_sigma));
    TRY(read_longest(cli, synth));
    TRY(read_sizes(cli, synth));
    TRY(read_short(cli, synth));
    TRY(read_rhythm(cli, synth));
    return read_users(cli, synth);
}

/* ---- header -------------------------------------------------------------------------------- */

/* Every parameter spelled out, so that other defaults of a later version change nothing. */
static void describe(const struct synth *synth, uint32_t jobs, double gpu_s, char out[HEADER_BYTES])
{
    char a[SHOW_BYTES], b[SHOW_BYTES], c[SHOW_BYTES], d[SHOW_BYTES];
    FILE *const to = fmemopen(out, HEADER_BYTES, "w");
    if (to == NULL) {
        out[0] = '\0';
        return;
    }
    fprintf(to, "synthetic job log, no real job is in it; law and sources: models/synth.h of "
                "gpuplan " GPUPLAN_VERSION "\n");
    fprintf(to,
            "gpuplan trace synth --seed %" PRIu64 " --days %" PRIu32 " --gpus %" PRIu32
            " --load %s --sizes ",
            synth->seed, synth->days, synth->gpus, show_number(synth->load, a));
    for (uint32_t i = 0; i < synth->size_count; i++)
        fprintf(to, "%s%" PRIu32 ":%s:%s", i ? "," : "", synth->sizes[i].gpus,
                show_number(synth->sizes[i].share, a),
                show_duration_s(synth->sizes[i].median_s, b));
    fprintf(to, " --sigma %s --short %s:%s:%s", show_number(synth->long_sigma, a),
            show_number(synth->short_share, b), show_duration_s(synth->short_median_s, c),
            show_number(synth->short_sigma, d));
    fprintf(to, " --longest %s", show_duration(synth->longest_s * NS_PER_S, a));
    fprintf(to, " --rhythm %s:%s --users %" PRIu32 ":%s\n", show_number(synth->night, a),
            show_number(synth->weekend, b), synth->users, show_number(synth->user_skew, c));
    fprintf(to, "%" PRIu32 " jobs ask for %.6g GPU-hours\n", jobs, gpu_s / 3600);
    fclose(to);
}

/* ---- jobs ---------------------------------------------------------------------------------- */

/* Draws jobs 0, 1, 2, ... until together they ask for what the load says. */
static enum status draw_jobs(const struct cli *cli, const struct synth *synth, struct log *drawn,
                             double *gpu_s)
{
    static struct synth_law law;
    synth_law_init(&law, synth);
    const double target_gpu_s = synth_target_gpu_s(synth);
    *gpu_s = 0;
    while (*gpu_s < target_gpu_s) {
        const struct synth_job job = synth_job_at(&law, (uint32_t)drawn->count);
        if (drawn->count == LIMIT_JOBS)
            return diag_usage(cli->diag, "trace synth: that load needs more than %d jobs",
                              LIMIT_JOBS);
        if (!log_append(drawn, &job))
            return diag_world(cli->diag, "trace synth: not enough memory for the jobs");
        *gpu_s += (double)job.gpus * (double)job.duration_s; /* whole numbers: exact below 2^53 */
    }
    return STATUS_OK;
}

/* Ids are the numbers in submit order; users are u1, u2, ... by weight. */
static uint32_t put_word(struct jobs *jobs, char letter, uint32_t number)
{
    const uint32_t offset = (uint32_t)jobs->text_bytes;
    const int bytes = letter
                          ? snprintf(jobs->text + offset, WORD_BYTES, "%c%" PRIu32, letter, number)
                          : snprintf(jobs->text + offset, WORD_BYTES, "%" PRIu32, number);
    jobs->text_bytes += (uint64_t)bytes + 1;
    return offset;
}

static void fill_jobs(const struct synth *synth, const struct synth_job *drawn,
                      const uint32_t *order, struct jobs *jobs)
{
    uint32_t user_at[SYNTH_USERS] = { 0 };
    jobs->text_bytes = 1;
    for (uint32_t i = 0; i < synth->users; i++) user_at[i] = put_word(jobs, 'u', i + 1);
    for (uint32_t i = 0; i < jobs->count; i++) {
        const struct synth_job *const job = &drawn[order[i]];
        jobs->submit_ns[i] = job->submit_s * NS_PER_S;
        jobs->duration_ns[i] = job->duration_s * NS_PER_S;
        jobs->limit_ns[i] = JOB_NO_LIMIT;
        jobs->gpus[i] = job->gpus;
        jobs->user[i] = user_at[job->user];
        jobs->id[i] = put_word(jobs, 0, i + 1);
    }
}

/* The drawn jobs as columns in submit order, ties by number. */
static enum status order_jobs(const struct cli *cli, const struct synth *synth,
                              const struct log *log, struct jobs *jobs)
{
    const struct synth_job *const drawn = log->items;
    const uint32_t count = jobs->count = (uint32_t)log->count;
    struct arena *const arena = jobs->arena = arena_create(UINT64_MAX);
    if (arena == NULL) return diag_world(cli->diag, "trace synth: not enough memory");
    uint64_t *const key = ARENA_ARRAY(arena, uint64_t, count);
    uint32_t *const order = ARENA_ARRAY(arena, uint32_t, count), *const spare = ARENA_ARRAY(
                                                                     arena, uint32_t, count);
    jobs->submit_ns = ARENA_ARRAY(arena, int64_t, count);
    jobs->duration_ns = ARENA_ARRAY(arena, int64_t, count);
    jobs->limit_ns = ARENA_ARRAY(arena, int64_t, count);
    jobs->gpus = ARENA_ARRAY(arena, uint32_t, count);
    jobs->user = ARENA_ARRAY(arena, uint32_t, count);
    jobs->id = ARENA_ARRAY(arena, uint32_t, count);
    jobs->text = ARENA_ARRAY(arena, char, (size_t)(count + SYNTH_USERS) * 12 + WORD_BYTES);
    if (!key || !order || !spare || !jobs->submit_ns || !jobs->duration_ns || !jobs->limit_ns ||
        !jobs->gpus || !jobs->user || !jobs->id || !jobs->text)
        return diag_world(cli->diag, "trace synth: not enough memory for %" PRIu32 " jobs", count);
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
        key[i] = (uint64_t)drawn[i].submit_s;
    }
    sort_rows(order, spare, count, key);
    fill_jobs(synth, drawn, order, jobs);
    return STATUS_OK;
}

enum status trace_synth(const struct cli *cli)
{
    static struct synth synth;
    struct jobs jobs = { 0 };
    struct log drawn;
    double gpu_s;
    TRY(read_parameters(cli, &synth));
    log_init(&drawn, sizeof(struct synth_job), LIMIT_JOBS);
    enum status status = draw_jobs(cli, &synth, &drawn, &gpu_s);
    if (status == STATUS_OK) status = order_jobs(cli, &synth, &drawn, &jobs);
    if (status == STATUS_OK) {
        char header[HEADER_BYTES];
        describe(&synth, jobs.count, gpu_s, header);
        status = trace_write(cli_has(cli, "--output") ? cli_value(cli, "--output") : "-", &jobs,
                             &(struct trace_form){ .header = header }, cli->diag);
    }
    log_clear(&drawn);
    jobs_clear(&jobs);
    return status;
}
