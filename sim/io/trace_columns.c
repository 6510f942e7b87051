/* trace_columns.c - rows in file order become columns in submit order. */
#include "io/trace_rows.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/int128.h"
#include "base/sort.h"

#include <inttypes.h>
#define XXH_INLINE_ALL
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Order of rows by a key, and the keys themselves: 16 bytes a row, gone after the import. */
struct ranking {
    uint64_t *key;
    uint32_t *order, *spare;
    uint32_t count;
};

static enum status out_of_memory(const struct trace_rows *rows)
{
    return diag_world(rows->diag, "%s: not enough memory for its %" PRIu64 " jobs",
                      rows->input->name, rows->rows.count);
}

static enum status ranking_init(struct ranking *ranking, const struct trace_rows *rows)
{
    const uint32_t count = (uint32_t)rows->rows.count;
    *ranking = (struct ranking){ .count = count };
    ranking->key = malloc(((size_t)count + 1) * sizeof *ranking->key);
    ranking->order = malloc(((size_t)count + 1) * sizeof *ranking->order);
    ranking->spare = malloc(((size_t)count + 1) * sizeof *ranking->spare);
    if (!ranking->key || !ranking->order || !ranking->spare) return out_of_memory(rows);
    for (uint32_t i = 0; i < count; i++) ranking->order[i] = i;
    return STATUS_OK;
}

static void ranking_clear(struct ranking *ranking)
{
    free(ranking->key);
    free(ranking->order);
    free(ranking->spare);
}

static void ranking_sort(struct ranking *ranking)
{
    sort_rows(ranking->order, ranking->spare, ranking->count, ranking->key);
}

static struct place place_of(const struct trace_rows *rows, const struct trace_row *row)
{
    return place_in_text(rows->input->name, rows->input->bytes, rows->input->byte_count,
                         row->offset, 1);
}

/* ---- ids ----------------------------------------------------------------------------------- */

/* Whether ids are whole numbers that ascend, as most logs have them: then none is repeated. */
static bool ids_ascend(const struct trace_rows *rows)
{
    const struct trace_row *const row = rows->rows.items;
    uint64_t last = 0;
    for (uint64_t i = 0; i < rows->rows.count; i++) {
        const char *const id = rows->text + row[i].id;
        uint64_t number = 0;
        size_t digits = 0;
        for (; id[digits] >= '0' && id[digits] <= '9' && digits < 18; digits++)
            number = number * 10 + (uint64_t)(id[digits] - '0');
        if (digits == 0 || id[digits] != '\0' || id[0] == '0' || (i > 0 && number <= last))
            return false;
        last = number;
    }
    return true;
}

/* Equal ids have equal hashes and so stand together; rows with one hash are compared with the first of them. */
static enum status refuse_repeated(const struct trace_rows *rows, const struct ranking *by_hash)
{
    const struct trace_row *const row = rows->rows.items;
    const uint32_t *const order = by_hash->order;
    uint32_t first = 0;
    for (uint32_t i = 1; i < by_hash->count; i++) {
        if (by_hash->key[order[i]] != by_hash->key[order[first]]) first = i;
        const char *const id = rows->text + row[order[i]].id;
        if (first == i || strcmp(id, rows->text + row[order[first]].id) != 0) continue;
        const bool is_shown = diag_error_count(rows->diag) < LIMIT_DIAG_PROBLEMS;
        diag_error(rows->diag,
                   is_shown ? place_of(rows, &row[order[i]])
                            : (struct place){ .file = rows->input->name },
                   "job id '%s' stands in the log twice; --renumber numbers the jobs anew", id);
    }
    return diag_status(rows->diag);
}

static enum status check_ids(const struct trace_rows *rows)
{
    if (ids_ascend(rows)) return STATUS_OK;
    const struct trace_row *const row = rows->rows.items;
    struct ranking by_hash;
    enum status status = ranking_init(&by_hash, rows);
    if (status == STATUS_OK) {
        for (uint32_t i = 0; i < by_hash.count; i++) {
            const char *const id = rows->text + row[i].id;
            by_hash.key[i] = XXH3_64bits(id, strlen(id));
        }
        ranking_sort(&by_hash);
        status = refuse_repeated(rows, &by_hash);
    }
    ranking_clear(&by_hash);
    return status;
}

/* ---- duplicates ---------------------------------------------------------------------------- */

static bool is_same_job(const struct trace_row *a, const struct trace_row *b)
{
    return a->submit_ns == b->submit_ns && a->duration_ns == b->duration_ns && a->gpus == b->gpus &&
           a->user == b->user;
}

enum status trace_rows_count_duplicates(struct trace_rows *rows)
{
    const struct trace_row *const row = rows->rows.items;
    struct ranking by_hash;
    const enum status status = ranking_init(&by_hash, rows);
    if (status == STATUS_OK) {
        for (uint32_t i = 0; i < by_hash.count; i++) {
            const int64_t said[] = { row[i].submit_ns, row[i].duration_ns, row[i].gpus,
                                     row[i].user };
            by_hash.key[i] = XXH3_64bits(said, sizeof said);
        }
        ranking_sort(&by_hash);
        for (uint32_t i = 1; i < by_hash.count; i++) {
            const struct trace_row *const this_row = &row[by_hash.order[i]];
            if (is_same_job(&row[by_hash.order[i - 1]], this_row))
                trace_rows_repair(rows, "says exactly the same as an earlier row", this_row->offset,
                                  1);
        }
    }
    ranking_clear(&by_hash);
    return status;
}

/* ---- columns ------------------------------------------------------------------------------- */

/* The optional columns that some row has. */
struct optional {
    bool nodes, cores, memory, user, model, ask, words;
};

static struct optional optional_columns(const struct trace_rows *rows)
{
    const struct trace_row *const row = rows->rows.items;
    struct optional has = { 0 };
    for (uint64_t i = 0; i < rows->rows.count; i++) {
        has.nodes |= row[i].nodes != 0;
        has.cores |= row[i].cores != 0;
        has.memory |= row[i].memory_bytes != 0;
        has.user |= row[i].user != TEXT_NONE;
        has.model |= row[i].model != TEXT_NONE;
        has.ask |= row[i].ask != 0;
        has.words |= row[i].words != 0;
    }
    return has;
}

/* An upper bound of what the columns take; the arena rounds each to 64 bytes. */
static uint64_t columns_bytes(const struct trace_rows *rows)
{
    return rows->rows.count * sizeof(struct trace_row) + rows->asks.count * sizeof(struct ask) +
           rows->words.count * sizeof(struct job_words) + rows->text_bytes + 19 * 64;
}

static enum status columns_take(const struct trace_rows *rows, struct optional has,
                                struct jobs *jobs)
{
    const size_t count = (size_t)rows->rows.count;
    struct arena *arena = jobs->arena = arena_create(columns_bytes(rows));
    if (arena == NULL) return out_of_memory(rows);
    jobs->submit_ns = ARENA_ARRAY(arena, int64_t, count);
    jobs->duration_ns = ARENA_ARRAY(arena, int64_t, count);
    jobs->limit_ns = ARENA_ARRAY(arena, int64_t, count);
    jobs->gpus = ARENA_ARRAY(arena, uint32_t, count);
    jobs->id = ARENA_ARRAY(arena, uint32_t, count);
    jobs->text = ARENA_ARRAY(arena, char, rows->text_bytes);
    if (!jobs->submit_ns || !jobs->duration_ns || !jobs->limit_ns || !jobs->gpus || !jobs->id ||
        !jobs->text)
        return out_of_memory(rows);
    if (has.nodes && !(jobs->nodes = ARENA_ARRAY(arena, uint32_t, count)))
        return out_of_memory(rows);
    if (has.cores && !(jobs->cores = ARENA_ARRAY(arena, uint32_t, count)))
        return out_of_memory(rows);
    if (has.memory && !(jobs->memory_bytes = ARENA_ARRAY(arena, uint64_t, count)))
        return out_of_memory(rows);
    if (has.user && !(jobs->user = ARENA_ARRAY(arena, uint32_t, count))) return out_of_memory(rows);
    if (has.model && !(jobs->model = ARENA_ARRAY(arena, uint32_t, count)))
        return out_of_memory(rows);
    if (has.words && !(jobs->words = ARENA_ARRAY(arena, struct job_words, count)))
        return out_of_memory(rows);
    if (!has.ask) return STATUS_OK;
    jobs->ask_count = (uint32_t)rows->asks.count;
    jobs->asks = ARENA_ARRAY(arena, struct ask, jobs->ask_count);
    jobs->ask = ARENA_ARRAY(arena, uint32_t, count);
    if (!jobs->asks || !jobs->ask) return out_of_memory(rows);
    memcpy(jobs->asks, rows->asks.items, jobs->ask_count * sizeof *jobs->asks);
    return STATUS_OK;
}

/* order NULL: the rows stand in submit order already. */
static void columns_fill(const struct trace_rows *rows, const uint32_t *order, struct jobs *jobs)
{
    const struct trace_row *const row = rows->rows.items;
    const int64_t origin_ns = rows->keeps_clock ? 0 : row[order ? order[0] : 0].submit_ns;
    jobs->count = (uint32_t)rows->rows.count;
    jobs->text_bytes = rows->text_bytes;
    memcpy(jobs->text, rows->text, rows->text_bytes);
    for (uint32_t i = 0; i < jobs->count; i++) {
        const struct trace_row *const from = &row[order ? order[i] : i];
        jobs->submit_ns[i] = from->submit_ns - origin_ns;
        jobs->duration_ns[i] = from->duration_ns;
        jobs->limit_ns[i] = from->limit_ns;
        jobs->gpus[i] = from->gpus;
        jobs->id[i] = from->id;
        if (jobs->nodes) jobs->nodes[i] = from->nodes;
        if (jobs->cores) jobs->cores[i] = from->cores;
        if (jobs->memory_bytes) jobs->memory_bytes[i] = from->memory_bytes;
        if (jobs->user) jobs->user[i] = from->user;
        if (jobs->model) jobs->model[i] = from->model;
        if (jobs->ask) jobs->ask[i] = from->ask ? from->ask - 1 : ASK_NONE;
    }
}

/* Words count first rows in file order; place[] says where those went. NULL: they stayed. */
static void words_fill(const struct trace_rows *rows, const uint32_t *order, const uint32_t *place,
                       struct jobs *jobs)
{
    static const struct job_words none = { .array_first_row = JOB_NONE,
                                           .het_first_row = JOB_NONE,
                                           .requeue = -1 };
    const struct trace_row *const row = rows->rows.items;
    const struct job_words *const words = rows->words.items;
    for (uint32_t i = 0; i < jobs->count; i++) {
        const uint32_t from = row[order ? order[i] : i].words;
        jobs->words[i] = from ? words[from - 1] : none;
        struct job_words *const to = &jobs->words[i];
        if (place && to->array_first_row != JOB_NONE)
            to->array_first_row = place[to->array_first_row];
        if (place && to->het_first_row != JOB_NONE) to->het_first_row = place[to->het_first_row];
    }
}

static enum status words_make(const struct trace_rows *rows, const uint32_t *order,
                              struct jobs *jobs)
{
    uint32_t *place = NULL;
    if (jobs->words == NULL) return STATUS_OK;
    if (order != NULL) {
        place = malloc((size_t)jobs->count * sizeof *place);
        if (place == NULL) return out_of_memory(rows);
        for (uint32_t i = 0; i < jobs->count; i++) place[order[i]] = i;
    }
    words_fill(rows, order, place, jobs);
    free(place);
    return STATUS_OK;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Submit times may differ by more than int64 holds, so the difference is taken in 128 bits. */
static enum status check_span(const struct trace_rows *rows, const struct trace_row *first,
                              const struct trace_row *last)
{
    const int128 span_ns = (int128)last->submit_ns - first->submit_ns;
    if (span_ns <= (int128)LIMIT_SPAN_S * NS_PER_S) return STATUS_OK;
    return diag_error(rows->diag, place_of(rows, last),
                      "this submission is %.0f years after the first one; are these milliseconds? "
                      "A log covers at most 50 years",
                      (double)span_ns / (365.25 * NS_PER_DAY));
}

static void report_fill(const struct jobs *jobs, struct import_report *report)
{
    int128 gpu_milli_ns = 0;
    for (uint32_t i = 0; i < jobs->count; i++)
        gpu_milli_ns += (int128)jobs_gpu_milli(jobs, i) * jobs->duration_ns[i];
    report->gpu_s = (double)gpu_milli_ns / 1e12;
    report->span_s = s_from_ns(jobs->submit_ns[jobs->count - 1]);
}

/* Most logs are in submit order: then nothing has to be ranked. */
static bool is_in_submit_order(const struct trace_rows *rows)
{
    const struct trace_row *const row = rows->rows.items;
    for (uint64_t i = 1; i < rows->rows.count; i++)
        if (row[i].submit_ns < row[i - 1].submit_ns) return false;
    return true;
}

static enum status rank_by_submit(const struct trace_rows *rows, struct ranking *by_submit)
{
    const struct trace_row *const row = rows->rows.items;
    TRY(ranking_init(by_submit, rows));
    for (uint32_t i = 0; i < by_submit->count; i++)
        by_submit->key[i] = sort_key_int64(row[i].submit_ns);
    ranking_sort(by_submit);
    return STATUS_OK;
}

/* order[count] or NULL, as in columns_fill. */
static enum status columns_make(struct trace_rows *rows, const uint32_t *order, struct jobs *jobs)
{
    const struct trace_row *const row = rows->rows.items;
    const uint64_t last = rows->rows.count - 1;
    TRY(check_span(rows, &row[order ? order[0] : 0], &row[order ? order[last] : last]));
    TRY(columns_take(rows, optional_columns(rows), jobs));
    columns_fill(rows, order, jobs);
    TRY(words_make(rows, order, jobs));
    report_fill(jobs, rows->report);
    return STATUS_OK;
}

enum status trace_rows_finish(struct trace_rows *rows, struct jobs *jobs)
{
    ASSERT(rows->rows.count == rows->report->imported);
    jobs->timeless = rows->timeless;
    if (rows->rows.count == 0) return columns_take(rows, (struct optional){ 0 }, jobs);
    if (!rows->options->renumber) TRY(check_ids(rows));
    if (is_in_submit_order(rows)) return columns_make(rows, NULL, jobs);
    struct ranking by_submit;
    enum status status = rank_by_submit(rows, &by_submit);
    if (status == STATUS_OK) status = columns_make(rows, by_submit.order, jobs);
    ranking_clear(&by_submit);
    return status;
}
