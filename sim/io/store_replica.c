/* store_replica.c - one replica -> the rows of its tables, in one transaction. */
#include "io/store_internal.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/sort.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_NS_PER_GPU_S ((int128)UNITS_PER_GPU * 1000000000)

/* One text per enum insert. */
const char *const store_insert_sql[INSERTS] = {
    [INSERT_REPLICA] =
        "INSERT INTO replica(layout_id, replica, kind, window_start_ns, window_end_ns,"
        " run_end_ns, jobs_submitted, jobs_finished, jobs_killed, jobs_rejected,"
        " jobs_running, jobs_queued, events, seconds)"
        " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_LEDGER] = "INSERT INTO ledger(layout_id, replica, account, class, gpu_s, gpu_rest)"
                      " VALUES(?,?,?,?,?,?)",
    [INSERT_LEDGER_RUN] =
        "INSERT INTO ledger_run(layout_id, replica, account, class, gpu_s, gpu_rest)"
        " VALUES(?,?,?,?,?,?)",
    [INSERT_CURVE] = "INSERT INTO curve(layout_id, replica, bin_start_s, bin_end_s, account, gpu_s)"
                     " VALUES(?,?,?,?,?,?)",
    [INSERT_METRIC] = "INSERT INTO metric(layout_id, replica, name, class, unit, value)"
                      " VALUES(?,?,?,?,?,?)",
    [INSERT_INCIDENT] =
        "INSERT INTO incident(layout_id, replica, incident, at_s, repaired_s,"
        " component, element, gpus_broken, gpus_removed, gpus_stopped, jobs_hit,"
        " lost_gpu_s, restart_gpu_s, down_gpu_s) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_JOB] = "INSERT INTO job(layout_id, replica, serial, id, trace_row, submit_ns,"
                   " first_start_ns, end_ns, gpus, attempts, outcome, in_cohort, request, reason)"
                   " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_ATTEMPT] =
        "INSERT INTO attempt(layout_id, replica, serial, attempt, start_ns, startup_ns,"
        " durable_ns, fault_ns, end_ns, outcome, class, gpus_held, gpus_asked, servers,"
        " broken_gpus, units, checkpoint_fix, algorithm, bottleneck)"
        " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_KEPT] = "INSERT INTO kept(layout_id, replica, serial, attempt, part, unit_ns)"
                    " VALUES(?,?,?,?,?,?)",
    [INSERT_LINK] = "INSERT INTO link(layout_id, replica, link, capacity_bytes_per_s, load,"
                    " contention_gpu_s) VALUES(?,?,?,?,?,?)",
    [INSERT_ALLOCATION] =
        /* Parts of several GPUs of one server are rows of their own in the engine. */
    "INSERT INTO allocation(layout_id, replica, serial, attempt, server, gpu_mask)"
    " VALUES(?,?,?,?,?,?) ON CONFLICT DO UPDATE SET gpu_mask = gpu_mask | excluded.gpu_mask",
    [INSERT_REQUEST] =
        "INSERT INTO request(layout_id, replica, request, gpus, share_units, held, nodes,"
        " gpus_per_node, nodes_max, cores, memory_bytes) VALUES(?,?,?,?,?,?,?,?,?,?,?)",
    [INSERT_CAUSE] =
        "INSERT INTO wait_cause(layout_id, replica, request, from_ns, cause, free_gpus,"
        " out_gpus) VALUES(?,?,?,?,?,?,?)",
    /* What a job is told last at an instant holds. */
    [INSERT_WORD] = "INSERT OR REPLACE INTO wait_word(layout_id, replica, serial, from_ns, word)"
                    " VALUES(?,?,?,?,?)",
    [INSERT_TORNADO] = "INSERT INTO tornado(setting, layout_id, replica, name, class, unit, value)"
                       " VALUES(?,?,?,?,?,?,?)",
};

int64_t stored_replica(uint32_t replica)
{
    return replica == REPLICA_BLAST ? -1 : (int64_t)replica;
}

struct writer { /* one replica on its way                                    */
    struct store *store;
    const struct replica_result *result;
    struct db_query *query;
};

static void put_key(const struct writer *writer)
{
    db_put_int(writer->query, writer->result->layout_row);
    db_put_int(writer->query, stored_replica(writer->result->replica));
}

static void put_time(struct db_query *query, int64_t at_ns)
{
    if (at_ns == TIME_NEVER)
        db_put_null(query);
    else
        db_put_int(query, at_ns);
}

static void put_word(struct db_query *query, const char *word)
{
    if (word == NULL)
        db_put_null(query);
    else
        db_put_name(query, word);
}

static enum status write_replica(struct writer *writer)
{
    const struct replica_result *result = writer->result;
    put_key(writer);
    db_put_name(writer->query, result->replica == REPLICA_BLAST ? "blast" : "replay");
    db_put_int(writer->query, result->window_start_ns);
    db_put_int(writer->query, result->window_end_ns);
    db_put_int(writer->query, result->run_end_ns);
    db_put_int(writer->query, (int64_t)result->jobs_submitted);
    for (int end = 0; end < JOB_ENDS; end++)
        db_put_int(writer->query, (int64_t)result->jobs_end[end]);
    db_put_int(writer->query, (int64_t)result->events);
    db_put_double(writer->query, result->seconds);
    return db_run(writer->query);
}

static enum status write_accounts(struct writer *writer, const int128 (*units_ns)[CLASSES])
{
    for (int account = 0; account < ACCOUNTS; account++)
        for (int class = 0; class < CLASSES; class ++) {
            const int128 whole = int128_floor_div(units_ns[account][class], UNIT_NS_PER_GPU_S);
            const int128 rest = units_ns[account][class] - whole * UNIT_NS_PER_GPU_S;
            put_key(writer);
            db_put_name(writer->query, account_names[account]);
            db_put_name(writer->query, class_names[class]);
            db_put_int(writer->query, (int64_t)whole);
            db_put_int(writer->query, (int64_t)rest);
            TRY(db_run(writer->query));
        }
    return STATUS_OK;
}

static enum status write_ledger(struct writer *writer)
{
    return write_accounts(writer, writer->result->ledger);
}

static enum status write_ledger_run(struct writer *writer)
{
    return write_accounts(writer, writer->result->ledger_all);
}

static enum status write_curve(struct writer *writer)
{
    const struct replica_result *result = writer->result;
    for (uint32_t bin = 0; bin < result->bin_count; bin++)
        for (int account = 0; account < ACCOUNTS; account++) {
            const int128 units_ns = result->bins[(size_t)bin * ACCOUNTS + account];
            if (units_ns == 0) continue;
            put_key(writer);
            db_put_double(writer->query, s_from_ns(result->bin_start_ns[bin]));
            db_put_double(writer->query, s_from_ns(result->bin_start_ns[bin + 1]));
            db_put_name(writer->query, account_names[account]);
            db_put_double(writer->query, (double)units_ns / (double)UNIT_NS_PER_GPU_S);
            TRY(db_run(writer->query));
        }
    return STATUS_OK;
}

/* Into metric, or into tornado when the result is of a moved assumption. */
static enum status write_metrics(struct writer *writer)
{
    const struct metric_row *rows = LOG_ITEMS(&writer->result->metrics, const struct metric_row);
    for (uint64_t i = 0; i < writer->result->metrics.count; i++) {
        ASSERT(rows[i].class_ < CLASSES);
        if (writer->result->setting > 0) db_put_int(writer->query, writer->result->setting);
        put_key(writer);
        db_put_text(writer->query, rows[i].name, strnlen(rows[i].name, sizeof rows[i].name));
        db_put_name(writer->query, class_names[rows[i].class_]);
        db_put_text(writer->query, rows[i].unit, strnlen(rows[i].unit, sizeof rows[i].unit));
        db_put_double(writer->query, rows[i].value);
        TRY(db_run(writer->query));
    }
    return STATUS_OK;
}

static enum status write_incidents(struct writer *writer)
{
    const struct incident *rows = LOG_ITEMS(&writer->result->incidents, const struct incident);
    for (uint64_t i = 0; i < writer->result->incidents.count; i++) {
        const struct incident *row = &rows[i];
        ASSERT(row->component < COMPONENTS);
        put_key(writer);
        db_put_int(writer->query, (int64_t)i);
        db_put_double(writer->query, s_from_ns(row->at_ns));
        if (row->repaired_ns == TIME_NEVER)
            db_put_null(writer->query);
        else
            db_put_double(writer->query, s_from_ns(row->repaired_ns));
        db_put_name(writer->query, incident_component_names[row->component]);
        db_put_int(writer->query, row->element);
        db_put_int(writer->query, row->gpus_broken);
        db_put_int(writer->query, row->gpus_removed);
        db_put_int(writer->query, row->gpus_stopped);
        db_put_int(writer->query, row->jobs_hit);
        db_put_double(writer->query, (double)row->lost_gpu_ns / 1e9);
        db_put_double(writer->query, (double)row->restart_gpu_ns / 1e9);
        db_put_double(writer->query, (double)row->down_gpu_ns / 1e9);
        TRY(db_run(writer->query));
    }
    return STATUS_OK;
}

/* Rows stand in the log as they ended; the tables are trees in order of (serial, attempt), and rows that come
 * in that order are appended, which is the cheapest insert there is. */
struct in_order {
    uint32_t *order, *spare; /* [count] one block, owned                                      */
    uint64_t *key;
};

static enum status in_order_take(const struct writer *writer, const struct log *log,
                                 struct in_order *rows)
{
    const size_t count = log->count > 0 ? log->count : 1;
    rows->key = malloc(count * (sizeof *rows->key + 2 * sizeof *rows->order));
    if (rows->key == NULL || log->count > UINT32_MAX)
        return diag_world(db_diag(writer->store->db), "%s: out of memory", writer->store->path);
    rows->order = (uint32_t *)(rows->key + count);
    rows->spare = rows->order + count;
    for (uint32_t i = 0; i < log->count; i++) rows->order[i] = i;
    return STATUS_OK;
}

static enum status write_job_rows(struct writer *writer, const struct in_order *sorted)
{
    const struct jobs *jobs = writer->store->plan->jobs;
    const struct job_row *rows = LOG_ITEMS(&writer->result->jobs, const struct job_row);
    for (uint64_t i = 0; i < writer->result->jobs.count; i++) {
        const struct job_row *row = &rows[sorted->order[i]];
        ASSERT(row->trace_row < jobs->count && row->end < JOB_ENDS);
        put_key(writer);
        db_put_int(writer->query, row->serial);
        db_put_name(writer->query, jobs->text + jobs->id[row->trace_row]);
        db_put_int(writer->query, row->trace_row);
        db_put_int(writer->query, row->submit_ns);
        put_time(writer->query, row->first_start_ns);
        put_time(writer->query, row->end_ns);
        db_put_int(writer->query, row->gpus);
        db_put_int(writer->query, row->attempts);
        db_put_name(writer->query, job_end_names[row->end]);
        db_put_int(writer->query, row->in_cohort);
        db_put_int(writer->query, row->request);
        put_word(writer->query, row->reason);
        TRY(db_run(writer->query));
    }
    return STATUS_OK;
}

static enum status write_jobs(struct writer *writer)
{
    const struct log *log = &writer->result->jobs;
    struct in_order sorted = { 0 };
    enum status status = in_order_take(writer, log, &sorted);
    for (uint32_t i = 0; status == STATUS_OK && i < log->count; i++)
        sorted.key[i] = LOG_ITEMS(log, struct job_row)[i].serial;
    if (status == STATUS_OK) {
        sort_rows(sorted.order, sorted.spare, (uint32_t)log->count, sorted.key);
        status = write_job_rows(writer, &sorted);
    }
    free(sorted.key);
    return status;
}

/* "compute=4032000 startup=12": the accounts that are not zero. */
static void format_units(const int64_t *units, char *out, size_t out_bytes)
{
    size_t used = 0;
    out[0] = '\0';
    for (int account = 0; account < ACC_HELD_END; account++) {
        if (units[account] == 0) continue;
        const int bytes = snprintf(out + used, out_bytes - used, "%s%s=%" PRId64,
                                   used > 0 ? " " : "", account_names[account], units[account]);
        ASSERT(bytes > 0 && (size_t)bytes < out_bytes - used);
        used += (size_t)bytes;
    }
}

/* A signed 128-bit number, given as its high and low halves, in decimal. */
static void format_int128(const int64_t halves[2], char out[48])
{
    const int128 value = (int128)((uint128)(uint64_t)halves[0] << 64 | (uint64_t)halves[1]);
    uint128 left = value < 0 ? -(uint128)value : (uint128)value;
    char digits[48];
    int count = 0;
    do {
        digits[count++] = (char)('0' + (int)(left % 10));
        left /= 10;
    } while (left > 0);
    char *next = out;
    if (value < 0) *next++ = '-';
    while (count > 0) *next++ = digits[--count];
    *next = '\0';
}

static enum status write_attempt(struct writer *writer, const struct attempt_row *row)
{
    char units[ACC_HELD_END * 40], fix[48];
    format_units(row->units, units, sizeof units);
    format_int128(row->checkpoint_fix_unit_ns, fix);
    ASSERT(row->end < ATTEMPT_ENDS && row->class_ < CLASSES);
    put_key(writer);
    db_put_int(writer->query, row->serial);
    db_put_int(writer->query, row->attempt);
    db_put_int(writer->query, row->start_ns);
    db_put_int(writer->query, row->startup_ns);
    db_put_int(writer->query, row->durable_ns);
    put_time(writer->query, row->fault_ns);
    db_put_int(writer->query, row->end_ns);
    db_put_name(writer->query, attempt_end_names[row->end]);
    db_put_name(writer->query, class_names[row->class_]);
    db_put_int(writer->query, row->gpus_held);
    db_put_int(writer->query, row->gpus_asked);
    db_put_int(writer->query, row->servers);
    db_put_int(writer->query, row->broken_gpus);
    db_put_name(writer->query, units);
    db_put_name(writer->query, fix);
    put_word(writer->query, row->algorithm);
    put_word(writer->query, row->bottleneck);
    return db_run(writer->query);
}

static enum status write_attempts(struct writer *writer)
{
    const struct log *log = &writer->result->attempts;
    const struct attempt_row *rows = LOG_ITEMS(log, const struct attempt_row);
    struct in_order sorted = { 0 };
    enum status status = in_order_take(writer, log, &sorted);
    for (uint32_t i = 0; status == STATUS_OK && i < log->count; i++)
        sorted.key[i] = (uint64_t)rows[i].serial << 32 | rows[i].attempt;
    if (status == STATUS_OK)
        sort_rows(sorted.order, sorted.spare, (uint32_t)log->count, sorted.key);
    for (uint32_t i = 0; status == STATUS_OK && i < log->count; i++)
        status = write_attempt(writer, &rows[sorted.order[i]]);
    free(sorted.key);
    return status;
}

static enum status write_kept(struct writer *writer)
{
    const struct kept_row *rows = LOG_ITEMS(&writer->result->kept, const struct kept_row);
    for (uint64_t i = 0; i < writer->result->kept.count; i++) {
        char text[ACC_HELD_END * 64] = "";
        size_t used = 0;
        for (int account = 0; account < ACC_HELD_END; account++) {
            const int128 unit_ns = rows[i].unit_ns[account];
            if (unit_ns == 0) continue;
            char number[48];
            format_int128((const int64_t[2]){ (int64_t)(unit_ns >> 64), (int64_t)unit_ns }, number);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s=%s", used ? " " : "",
                                     account_names[account], number);
            ASSERT(used < sizeof text);
        }
        put_key(writer);
        db_put_int(writer->query, rows[i].serial);
        db_put_int(writer->query, rows[i].attempt);
        db_put_int(writer->query, rows[i].part);
        db_put_name(writer->query, text);
        TRY(db_run(writer->query));
    }
    return STATUS_OK;
}

static enum status write_links(struct writer *writer)
{
    const struct link_row *rows = LOG_ITEMS(&writer->result->links, const struct link_row);
    for (uint64_t i = 0; i < writer->result->links.count; i++) {
        put_key(writer);
        db_put_name(writer->query, rows[i].name);
        db_put_double(writer->query, rows[i].capacity_bytes_per_s);
        db_put_double(writer->query, rows[i].load);
        db_put_double(writer->query, rows[i].contention_gpu_s);
        TRY(db_run(writer->query));
    }
    return STATUS_OK;
}

static enum status write_allocations(struct writer *writer)
{
    const struct allocation_row *rows =
        LOG_ITEMS(&writer->result->allocations, const struct allocation_row);
    for (uint64_t i = 0; i < writer->result->allocations.count; i++) {
        put_key(writer);
        db_put_int(writer->query, rows[i].serial);
        db_put_int(writer->query, rows[i].attempt);
        db_put_int(writer->query, rows[i].server);
        db_put_int(writer->query, rows[i].gpu_mask);
        TRY(db_run(writer->query));
    }
    return STATUS_OK;
}

static enum status write_requests(struct writer *writer)
{
    const struct request_row *rows = LOG_ITEMS(&writer->result->requests, const struct request_row);
    for (uint64_t i = 0; i < writer->result->requests.count; i++) {
        put_key(writer);
        db_put_int(writer->query, rows[i].request);
        db_put_int(writer->query, rows[i].gpus);
        db_put_int(writer->query, rows[i].share_units);
        db_put_int(writer->query, rows[i].held);
        db_put_int(writer->query, rows[i].nodes);
        db_put_int(writer->query, rows[i].per_node);
        db_put_int(writer->query, rows[i].nodes_max);
        db_put_int(writer->query, rows[i].cores);
        db_put_int(writer->query, (int64_t)rows[i].memory_bytes);
        TRY(db_run(writer->query));
    }
    return STATUS_OK;
}

static enum status write_causes(struct writer *writer)
{
    const struct cause_row *rows = LOG_ITEMS(&writer->result->causes, const struct cause_row);
    for (uint64_t i = 0; i < writer->result->causes.count; i++) {
        ASSERT(rows[i].cause < WAIT_CAUSES);
        put_key(writer);
        db_put_int(writer->query, rows[i].request);
        db_put_int(writer->query, rows[i].from_ns);
        db_put_name(writer->query, wait_cause_names[rows[i].cause]);
        db_put_int(writer->query, rows[i].free_gpus);
        db_put_int(writer->query, rows[i].out_gpus);
        TRY(db_run(writer->query));
    }
    return STATUS_OK;
}

static enum status write_words(struct writer *writer)
{
    const struct word_row *rows = LOG_ITEMS(&writer->result->words, const struct word_row);
    for (uint64_t i = 0; i < writer->result->words.count; i++) {
        put_key(writer);
        db_put_int(writer->query, rows[i].serial);
        db_put_int(writer->query, rows[i].from_ns);
        put_word(writer->query, rows[i].word);
        TRY(db_run(writer->query));
    }
    return STATUS_OK;
}

/* ---- all of it ---- */

static enum status (*const write_table[INSERTS])(struct writer *writer) = {
    [INSERT_REPLICA] = write_replica,
    [INSERT_LEDGER] = write_ledger,
    [INSERT_LEDGER_RUN] = write_ledger_run,
    [INSERT_CURVE] = write_curve,
    [INSERT_METRIC] = write_metrics,
    [INSERT_INCIDENT] = write_incidents,
    [INSERT_JOB] = write_jobs,
    [INSERT_ATTEMPT] = write_attempts,
    [INSERT_KEPT] = write_kept,
    [INSERT_LINK] = write_links,
    [INSERT_ALLOCATION] = write_allocations,
    [INSERT_REQUEST] = write_requests,
    [INSERT_CAUSE] = write_causes,
    [INSERT_WORD] = write_words,
    [INSERT_TORNADO] = write_metrics,
};

static enum status write_all(struct store *store, const struct replica_result *result)
{
    struct writer writer = { .store = store, .result = result };
    for (int i = 0; i < INSERTS; i++) {
        if ((result->setting > 0) != (i == INSERT_TORNADO)) continue;
        writer.query = store->insert[i];
        TRY(write_table[i](&writer));
    }
    return db_exec(store->db, "COMMIT");
}

enum status store_replica(struct store *store, const struct replica_result *result,
                          struct diag *diag)
{
    db_report_to(store->db, diag);
    ASSERT(result->layout_row < store->plan->variant_count);
    TRY(db_exec(store->db, "BEGIN IMMEDIATE"));
    const enum status status = write_all(store, result);
    if (status != STATUS_OK) {
        db_rollback(store->db);
        return status;
    }
    store->replica_count++;
    return STATUS_OK;
}
