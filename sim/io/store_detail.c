/* store_detail.c - see store_detail.h. Every query is bound to one layout and replica. */
#include "io/store_detail.h"

#include "base/arena.h"
#include "base/limits.h"
#include "io/db.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t TEXTS_BUDGET_BYTES = UINT64_C(1) << 36;

struct store_detail {
    struct db *db;
    struct arena *texts;
    uint32_t layout, replica;
};

enum status store_detail_open(const char *path, uint32_t layout, uint32_t replica,
                              struct store_detail **out, struct diag *diag)
{
    *out = NULL;
    struct store_detail *detail = calloc(1, sizeof *detail);
    if (detail == NULL) return diag_world(diag, "%s: out of memory", path);
    detail->layout = layout;
    detail->replica = replica;
    detail->texts = arena_create(TEXTS_BUDGET_BYTES);
    enum status status = detail->texts ? STATUS_OK : diag_world(diag, "%s: out of memory", path);
    if (status == STATUS_OK) status = db_open(path, DB_READ, &detail->db, diag);
    if (status == STATUS_OK)
        *out = detail;
    else
        store_detail_close(detail);
    return status;
}

void store_detail_close(struct store_detail *detail)
{
    if (detail == NULL) return;
    if (detail->db != NULL) db_close(detail->db);
    arena_destroy(detail->texts);
    free(detail);
}

/* ---- tools ---- */

static enum status no_memory(const struct store_detail *detail)
{
    return diag_world(db_diag(detail->db), "%s: out of memory", db_path(detail->db));
}

static enum status bad_row(const struct store_detail *detail, const char *table)
{
    return diag_error(db_diag(detail->db), (struct place){ .file = db_path(detail->db) },
                      "table '%s' holds a row that gpuplan does not write", table);
}

static int64_t take_time(struct db_query *query)
{
    if (db_peek(query) != DB_NULL) return db_take_int(query);
    db_skip(query);
    return INT64_MAX;
}

/* A copy that outlives the row; NULL for a NULL. */
static enum status take_copy(struct store_detail *detail, struct db_query *query, const char **out)
{
    *out = NULL;
    if (db_peek(query) == DB_NULL) {
        db_skip(query);
        return STATUS_OK;
    }
    size_t bytes;
    const char *text = db_take_text(query, &bytes);
    char *copy = ARENA_ARRAY(detail->texts, char, bytes + 1);
    if (copy == NULL) return no_memory(detail);
    memcpy(copy, text, bytes);
    *out = copy;
    return STATUS_OK;
}

/* A row of the table: takes its columns. */
typedef enum status take_row(struct store_detail *detail, struct db_query *query, void *row);

/* Numbers bound behind layout and replica. */
struct bound {
    int count;
    int64_t value[4];
};

static enum status each_row(struct store_detail *detail, struct db_query *query, take_row *take,
                            struct log *rows)
{
    char row[512] __attribute__((aligned(16)));
    for (bool has_row;;) {
        TRY(db_next(query, &has_row));
        if (!has_row) return STATUS_OK;
        memset(row, 0, rows->item_bytes);
        TRY(take(detail, query, row));
        if (!log_append(rows, row)) return no_memory(detail);
    }
}

static enum status read_rows(struct store_detail *detail, const char *sql, struct bound bound,
                             take_row *take, struct log *rows)
{
    struct db_query *query;
    TRY(db_prepare(detail->db, sql, &query));
    db_put_int(query, detail->layout);
    db_put_int(query, detail->replica);
    for (int i = 0; i < bound.count; i++) db_put_int(query, bound.value[i]);
    const enum status status = each_row(detail, query, take, rows);
    db_finish(query);
    return status;
}

/* ---- jobs ---- */

#define JOB_COLUMNS                                                                                \
    "serial, gpus, attempts, request, id, outcome, reason, submit_ns, first_start_ns, end_ns"
#define OF_REPLICA " layout_id = ?1 AND replica = ?2"

static enum status take_job(struct store_detail *detail, struct db_query *query, void *row)
{
    struct detail_job *job = row;
    job->serial = (uint32_t)db_take_int(query);
    job->gpus = (uint32_t)db_take_int(query);
    job->attempts = (uint32_t)db_take_int(query);
    job->request = (uint32_t)db_take_int(query);
    TRY(take_copy(detail, query, &job->id));
    TRY(take_copy(detail, query, &job->outcome));
    TRY(take_copy(detail, query, &job->reason));
    job->submit_ns = take_time(query);
    job->first_start_ns = take_time(query);
    job->end_ns = take_time(query);
    const bool in_order = job->submit_ns >= 0 && job->submit_ns < INT64_MAX &&
                          job->first_start_ns >= job->submit_ns && job->end_ns >= job->submit_ns;
    return job->id && job->outcome && in_order ? STATUS_OK : bad_row(detail, "job");
}

enum status store_detail_by_id(struct store_detail *detail, const char *id, struct log *jobs)
{
    log_init(jobs, sizeof(struct detail_job), 0);
    struct db_query *query;
    TRY(db_prepare(detail->db,
                   "SELECT " JOB_COLUMNS " FROM job WHERE" OF_REPLICA " AND id = ?3"
                   " ORDER BY serial",
                   &query));
    db_put_int(query, detail->layout);
    db_put_int(query, detail->replica);
    db_put_name(query, id);
    const enum status status = each_row(detail, query, take_job, jobs);
    db_finish(query);
    return status;
}

enum status store_detail_by_serial(struct store_detail *detail, uint32_t serial, struct log *jobs)
{
    log_init(jobs, sizeof(struct detail_job), 0);
    return read_rows(detail, "SELECT " JOB_COLUMNS " FROM job WHERE" OF_REPLICA " AND serial = ?3",
                     (struct bound){ 1, { serial } }, take_job, jobs);
}

enum status store_detail_longest(struct store_detail *detail, uint32_t count, struct log *jobs)
{
    log_init(jobs, sizeof(struct detail_job), 0);
    return read_rows(detail,
                     "SELECT " JOB_COLUMNS " FROM job WHERE" OF_REPLICA
                     " ORDER BY coalesce(first_start_ns, end_ns, (SELECT run_end_ns FROM replica"
                     "  WHERE" OF_REPLICA ")) - submit_ns DESC, serial LIMIT ?3",
                     (struct bound){ 1, { count } }, take_job, jobs);
}

static enum status take_int(struct store_detail *detail, struct db_query *query, void *row)
{
    (void)detail;
    *(int64_t *)row = db_take_int(query);
    return STATUS_OK;
}

enum status store_detail_count(struct store_detail *detail, uint64_t *jobs)
{
    struct log rows;
    log_init(&rows, sizeof(int64_t), 0);
    const enum status status = read_rows(detail, "SELECT count(*) FROM job WHERE" OF_REPLICA,
                                         (struct bound){ 0 }, take_int, &rows);
    *jobs = rows.count > 0 ? (uint64_t)LOG_ITEMS(&rows, int64_t)[0] : 0;
    log_clear(&rows);
    return status;
}

enum status store_detail_head(struct store_detail *detail, int64_t at_ns, struct detail_job *job,
                              bool *found)
{
    struct log rows;
    log_init(&rows, sizeof(struct detail_job), 0);
    const enum status status = read_rows(
        detail,
        "SELECT " JOB_COLUMNS " FROM job j WHERE" OF_REPLICA " AND submit_ns <= ?3"
        " AND coalesce(end_ns, ?3 + 1) > ?3 AND NOT EXISTS (SELECT 1 FROM attempt a WHERE"
        "  a.layout_id = ?1 AND a.replica = ?2 AND a.serial = j.serial AND a.start_ns <= ?3"
        "  AND a.end_ns > ?3)"
        " AND (SELECT w.word FROM wait_word w WHERE w.layout_id = ?1 AND w.replica = ?2 AND"
        "  w.serial = j.serial AND w.from_ns <= ?3 ORDER BY w.from_ns DESC LIMIT 1) IS NULL"
        " ORDER BY serial LIMIT 1",
        (struct bound){ 1, { at_ns } }, take_job, &rows);
    *found = status == STATUS_OK && rows.count > 0;
    if (*found) *job = LOG_ITEMS(&rows, struct detail_job)[0];
    log_clear(&rows);
    return status;
}

/* ---- attempts ---- */

/* "compute=4032000 startup=12" */
static bool parse_units(const char *text, int64_t units[ACC_HELD_END])
{
    while (*text != '\0') {
        const size_t name_bytes = strcspn(text, "=");
        if (text[name_bytes] != '=') return false;
        int account = 0;
        while (account < ACC_HELD_END && (strlen(account_names[account]) != name_bytes ||
                                          memcmp(account_names[account], text, name_bytes) != 0))
            account++;
        if (account == ACC_HELD_END) return false;
        char *end;
        units[account] = strtoll(text + name_bytes + 1, &end, 10);
        if (end == text + name_bytes + 1 || (*end != ' ' && *end != '\0')) return false;
        text = *end == ' ' ? end + 1 : end;
    }
    return true;
}

static bool parse_int128(const char *text, __int128 *out)
{
    const bool negative = *text == '-';
    __int128 value = 0;
    text += negative;
    if (*text == '\0') return false;
    for (int digits = 0; *text != '\0'; text++, digits++) {
        if (*text < '0' || *text > '9' || digits == 38) return false;
        value = value * 10 + (*text - '0');
    }
    *out = negative ? -value : value;
    return true;
}

static enum status take_attempt(struct store_detail *detail, struct db_query *query, void *row)
{
    struct detail_attempt *attempt = row;
    attempt->attempt = (uint32_t)db_take_int(query);
    attempt->servers = (uint32_t)db_take_int(query);
    attempt->gpus_held = (uint32_t)db_take_int(query);
    attempt->gpus_asked = (uint32_t)db_take_int(query);
    attempt->broken_gpus = (uint32_t)db_take_int(query);
    attempt->start_ns = db_take_int(query);
    attempt->startup_ns = db_take_int(query);
    attempt->durable_ns = db_take_int(query);
    attempt->end_ns = db_take_int(query);
    attempt->fault_ns = take_time(query);
    TRY(take_copy(detail, query, &attempt->outcome));
    TRY(take_copy(detail, query, &attempt->algorithm));
    TRY(take_copy(detail, query, &attempt->bottleneck));
    const bool has_units = parse_units(db_take_text(query, NULL), attempt->units);
    const bool has_fix = parse_int128(db_take_text(query, NULL), &attempt->checkpoint_fix);
    const bool in_order = attempt->start_ns >= 0 && attempt->end_ns >= attempt->start_ns &&
                          attempt->startup_ns >= 0 &&
                          attempt->startup_ns <= INT64_MAX - attempt->start_ns &&
                          attempt->durable_ns >= 0 && attempt->fault_ns >= attempt->start_ns;
    return attempt->outcome && has_units && has_fix && in_order ? STATUS_OK
                                                                : bad_row(detail, "attempt");
}

enum status store_detail_attempts(struct store_detail *detail, uint32_t serial,
                                  struct log *attempts)
{
    log_init(attempts, sizeof(struct detail_attempt), 0);
    TRY(read_rows(
        detail,
        "SELECT attempt, servers, gpus_held, gpus_asked, broken_gpus, start_ns,"
        " startup_ns, durable_ns, end_ns, fault_ns, outcome, algorithm, bottleneck, units,"
        " checkpoint_fix"
        " FROM attempt WHERE" OF_REPLICA " AND serial = ?3 ORDER BY attempt",
        (struct bound){ 1, { serial } }, take_attempt, attempts));
    const struct detail_attempt *rows = LOG_ITEMS(attempts, const struct detail_attempt);
    for (uint64_t i = 1; i < attempts->count; i++)
        if (rows[i].start_ns < rows[i - 1].end_ns) return bad_row(detail, "attempt");
    return STATUS_OK;
}

/* "compute=4032000000 stall_inter=-12" */
static bool parse_unit_ns(const char *text, __int128 unit_ns[ACC_HELD_END])
{
    while (*text != '\0') {
        const size_t name_bytes = strcspn(text, "=");
        int account = 0;
        while (account < ACC_HELD_END && (strlen(account_names[account]) != name_bytes ||
                                          memcmp(account_names[account], text, name_bytes) != 0))
            account++;
        if (text[name_bytes] != '=' || account == ACC_HELD_END) return false;
        text += name_bytes + 1;
        const size_t bytes = strcspn(text, " ");
        char number[48];
        if (bytes >= sizeof number) return false;
        memcpy(number, text, bytes);
        number[bytes] = '\0';
        if (!parse_int128(number, &unit_ns[account])) return false;
        text += bytes + (text[bytes] == ' ');
    }
    return true;
}

static enum status take_kept(struct store_detail *detail, struct db_query *query, void *row)
{
    struct detail_kept *kept = row;
    kept->attempt = (uint32_t)db_take_int(query);
    return parse_unit_ns(db_take_text(query, NULL), kept->unit_ns) ? STATUS_OK
                                                                   : bad_row(detail, "kept");
}

enum status store_detail_kept(struct store_detail *detail, uint32_t serial, struct log *kept)
{
    log_init(kept, sizeof(struct detail_kept), 0);
    return read_rows(detail,
                     "SELECT attempt, unit_ns FROM kept WHERE" OF_REPLICA
                     " AND serial = ?3 ORDER BY attempt, part",
                     (struct bound){ 1, { serial } }, take_kept, kept);
}

/* ---- what held it ---- */

static enum status take_request(struct store_detail *detail, struct db_query *query, void *row)
{
    (void)detail;
    struct detail_request *request = row;
    request->gpus = (uint32_t)db_take_int(query);
    request->share_units = db_take_int(query);
    request->held = (uint32_t)db_take_int(query);
    request->nodes = (uint32_t)db_take_int(query);
    request->gpus_per_node = (uint32_t)db_take_int(query);
    request->nodes_max = (uint32_t)db_take_int(query);
    request->cores = (uint32_t)db_take_int(query);
    request->memory_bytes = db_take_int(query);
    request->known = true;
    return STATUS_OK;
}

enum status store_detail_request(struct store_detail *detail, uint32_t request,
                                 struct detail_request *out)
{
    struct log rows;
    log_init(&rows, sizeof *out, 0);
    const enum status status =
        read_rows(detail,
                  "SELECT gpus, share_units, held, nodes, gpus_per_node, nodes_max, cores,"
                  " memory_bytes FROM request WHERE" OF_REPLICA " AND request = ?3",
                  (struct bound){ 1, { request } }, take_request, &rows);
    *out =
        rows.count > 0 ? LOG_ITEMS(&rows, struct detail_request)[0] : (struct detail_request){ 0 };
    log_clear(&rows);
    return status;
}

static enum status take_told(struct store_detail *detail, struct db_query *query, void *row)
{
    struct detail_told *told = row;
    told->from_ns = db_take_int(query);
    return take_copy(detail, query, &told->text);
}

enum status store_detail_causes(struct store_detail *detail, uint32_t request, int64_t from_ns,
                                int64_t to_ns, struct log *told)
{
    log_init(told, sizeof(struct detail_told), 0);
    return read_rows(detail,
                     "SELECT from_ns, cause FROM wait_cause WHERE" OF_REPLICA " AND request = ?3"
                     " AND from_ns < ?5 AND from_ns >= ifnull((SELECT max(from_ns) FROM wait_cause"
                     "  WHERE" OF_REPLICA " AND request = ?3 AND from_ns <= ?4), ?4)"
                     " ORDER BY from_ns",
                     (struct bound){ 3, { request, from_ns, to_ns } }, take_told, told);
}

enum status store_detail_words(struct store_detail *detail, uint32_t serial, struct log *told)
{
    log_init(told, sizeof(struct detail_told), 0);
    return read_rows(detail,
                     "SELECT from_ns, word FROM wait_word WHERE" OF_REPLICA " AND serial = ?3"
                     " ORDER BY from_ns",
                     (struct bound){ 1, { serial } }, take_told, told);
}

/* ---- who held GPUs ---- */

/* When an attempt gave its GPUs back: a suspended one keeps them until the next begins, or the job is over. */
#define UNTIL                                                                                      \
    " CASE a.outcome WHEN 'suspended' THEN coalesce((SELECT b.start_ns FROM attempt b"             \
    "  WHERE b.layout_id = a.layout_id AND b.replica = a.replica AND b.serial = a.serial"          \
    "  AND b.attempt = a.attempt + 1), (SELECT j.end_ns FROM job j WHERE"                          \
    "  j.layout_id = a.layout_id AND j.replica = a.replica AND j.serial = a.serial),"              \
    "  9223372036854775807) ELSE a.end_ns END"

static enum status take_held(struct store_detail *detail, struct db_query *query, void *row)
{
    (void)detail;
    struct detail_held *held = row;
    held->from_ns = db_take_int(query);
    held->to_ns = db_take_int(query);
    held->gpus = (uint32_t)db_take_int(query);
    return STATUS_OK;
}

enum status store_detail_held(struct store_detail *detail, int64_t from_ns, int64_t to_ns,
                              struct log *held)
{
    log_init(held, sizeof(struct detail_held), 0);
    return read_rows(detail,
                     "SELECT * FROM (SELECT start_ns," UNTIL
                     " AS until_ns, gpus_held FROM attempt a"
                     " WHERE" OF_REPLICA " AND start_ns < ?4) WHERE until_ns > ?3",
                     (struct bound){ 2, { from_ns, to_ns } }, take_held, held);
}

static enum status take_holding(struct store_detail *detail, struct db_query *query, void *row)
{
    struct detail_holding *holding = row;
    holding->serial = (uint32_t)db_take_int(query);
    holding->server = (uint32_t)db_take_int(query);
    holding->gpu_mask = (uint32_t)db_take_int(query);
    holding->until_ns = db_take_int(query);
    TRY(take_copy(detail, query, &holding->id));
    return holding->id ? STATUS_OK : bad_row(detail, "job");
}

enum status store_detail_holdings(struct store_detail *detail, int64_t at_ns, struct log *holdings)
{
    log_init(holdings, sizeof(struct detail_holding), 0);
    return read_rows(
        detail,
        "SELECT h.serial, l.server, l.gpu_mask, h.until_ns, j.id FROM"
        " (SELECT serial, attempt," UNTIL " AS until_ns FROM attempt a WHERE" OF_REPLICA
        "  AND start_ns <= ?3) h"
        " JOIN allocation l ON l.layout_id = ?1 AND l.replica = ?2 AND l.serial = h.serial"
        "  AND l.attempt = h.attempt"
        " JOIN job j ON j.layout_id = ?1 AND j.replica = ?2 AND j.serial = h.serial"
        " WHERE h.until_ns > ?3 ORDER BY l.server, h.serial",
        (struct bound){ 1, { at_ns } }, take_holding, holdings);
}

static enum status take_gpus(struct store_detail *detail, struct db_query *query, void *row)
{
    const int64_t gpus = db_take_int(query);
    *(uint32_t *)row = (uint32_t)gpus;
    return gpus >= 0 && gpus <= LIMIT_GPUS_PER_SERVER ? STATUS_OK : bad_row(detail, "node");
}

enum status store_detail_nodes(struct store_detail *detail, struct log *gpus)
{
    log_init(gpus, sizeof(uint32_t), 0);
    struct db_query *query;
    TRY(db_prepare(detail->db, "SELECT gpus FROM node WHERE layout_id = ?1 ORDER BY node", &query));
    db_put_int(query, detail->layout);
    const enum status status = each_row(detail, query, take_gpus, gpus);
    db_finish(query);
    return status;
}

static enum status take_fault(struct store_detail *detail, struct db_query *query, void *row)
{
    struct detail_fault *fault = row;
    fault->node = (uint32_t)db_take_int(query);
    fault->at_s = db_take_double(query);
    fault->repaired_s = INFINITY;
    if (db_peek(query) == DB_NULL)
        db_skip(query);
    else
        fault->repaired_s = db_take_double(query);
    TRY(take_copy(detail, query, &fault->component));
    return fault->component ? STATUS_OK : bad_row(detail, "incident");
}

enum status store_detail_faults(struct store_detail *detail, int64_t at_ns, struct log *faults)
{
    log_init(faults, sizeof(struct detail_fault), 0);
    return read_rows(
        detail,
        "SELECT node, at_s, repaired_s, component FROM incident i JOIN"
        " (SELECT 'gpu' AS component, gpu AS element, node FROM gpu WHERE layout_id = ?1"
        "  UNION ALL SELECT 'server', server, node FROM node WHERE layout_id = ?1) n"
        " USING(component, element) WHERE" OF_REPLICA " AND at_s <= ?3 / 1e9"
        " AND ifnull(repaired_s, 1e300) > ?3 / 1e9 ORDER BY at_s, incident, node",
        (struct bound){ 1, { at_ns } }, take_fault, faults);
}
