/* digest.c - see digest.h. The SQL is constant: tables and columns are listed here, and a test
 * holds the list against the schema. */
#include "io/digest.h"

#include "base/assert.h"
#include "base/text.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KEY "layout_id, replica, "

const char *const digest_volatile_meta[] = {
    "created",       /* the wall clock                                                  */
    "scenario_path", /* where the files lay; their contents are digested                */
    "trace_path",
    NULL,
};

/* columns: in the order of the SELECT, which they also name. order: the primary key. */
struct table {
    const char *name, *columns, *query;
    bool of_plan;
};

// clang-format off
#define TABLE(name, columns, order, of_plan)                                                       \
    { #name, columns, "SELECT " columns " FROM " #name " ORDER BY " order, of_plan }
// clang-format on

static const struct table tables[] = {
    TABLE(meta, "key, value", "key", true),
    TABLE(import_report, "source, outcome, reason, rows", "source, outcome, reason, rows", true),
    TABLE(assumption, "subject, name, value, mark, source", "subject, name", true),
    TABLE(gate, "gate, metric, layout, below, bound", "gate", true),
    TABLE(layout,
          "layout_id, name, slack, is_baseline, server_type, hypothetical, servers,"
          " gpus_per_server, gpus, gpu_type, link_type, fabric_type, nics_per_server, "
          "oversubscription,"
          " servers_per_leaf, leaves, spines, trunks, server_price_usd, offered_load,"
          " jobs_never_fit, unserved_gpu_s",
          "layout_id", true),
    TABLE(server, "layout_id, server, leaf", "layout_id, server", true),
    TABLE(node, "layout_id, node, server, gpus, cores, memory_bytes", "layout_id, node", true),
    TABLE(gpu, "layout_id, gpu, node", "layout_id, gpu", true),
    TABLE(replica,
          KEY "kind, window_start_ns, window_end_ns, run_end_ns, jobs_submitted, jobs_finished,"
              " jobs_killed, jobs_rejected, jobs_running, jobs_queued, events",
          "layout_id, replica", false),
    TABLE(ledger, KEY "account, class, gpu_s, gpu_rest", KEY "account, class", false),
    TABLE(ledger_run, KEY "account, class, gpu_s, gpu_rest", KEY "account, class", false),
    TABLE(curve, KEY "bin_start_s, bin_end_s, account, gpu_s", KEY "bin_start_s, account", false),
    TABLE(metric, KEY "name, class, unit, value", KEY "name, class", false),
    TABLE(setting, "setting, axis, factor", "setting", true),
    TABLE(tornado, "setting, layout_id, replica, name, class, unit, value",
          "setting, layout_id, replica, name, class", false),
    TABLE(incident,
          KEY "incident, at_s, repaired_s, component, element, gpus_broken, gpus_removed,"
              " gpus_stopped, jobs_hit, lost_gpu_s, restart_gpu_s, down_gpu_s",
          KEY "incident", false),
    TABLE(job,
          KEY "serial, id, trace_row, submit_ns, first_start_ns, end_ns, gpus, attempts, outcome,"
              " in_cohort, request, reason",
          KEY "serial", false),
    TABLE(attempt,
          KEY "serial, attempt, start_ns, startup_ns, durable_ns, fault_ns, end_ns, outcome, class,"
              " gpus_held, gpus_asked, servers, broken_gpus, units, checkpoint_fix, algorithm, "
              "bottleneck",
          KEY "serial, attempt", false),
    TABLE(kept, KEY "serial, attempt, part, unit_ns", KEY "serial, attempt, part", false),
    TABLE(link, KEY "link, capacity_bytes_per_s, load, contention_gpu_s", KEY "link", false),
    TABLE(allocation, KEY "serial, attempt, server, gpu_mask", KEY "serial, attempt, server",
          false),
    TABLE(request,
          KEY
          "request, gpus, share_units, held, nodes, gpus_per_node, nodes_max, cores, memory_bytes",
          KEY "request", false),
    TABLE(wait_cause, KEY "request, from_ns, cause, free_gpus, out_gpus", KEY "request, from_ns",
          false),
    TABLE(wait_word, KEY "serial, from_ns, word", KEY "serial, from_ns", false),
};

enum { TABLES = sizeof tables / sizeof *tables };

const char *const digest_tables[] = {
    "meta",    "import_report", "assumption", "gate",       "layout", "server", "node",
    "gpu",     "replica",       "ledger",     "ledger_run", "curve",  "metric", "setting",
    "tornado", "incident",      "job",        "attempt",    "kept",   "link",   "allocation",
    "request", "wait_cause",    "wait_word",  NULL,
};

const char *digest_columns(const char *table)
{
    for (int i = 0; i < TABLES; i++)
        if (strcmp(table, tables[i].name) == 0) return tables[i].columns;
    return NULL;
}

static void add(XXH3_state_t *state, const void *bytes, size_t count)
{
    XXH3_128bits_update(state, bytes, count);
}

static void add_text(XXH3_state_t *state, const char *text, size_t text_bytes)
{
    const uint64_t length = text_bytes;
    add(state, "T", 1);
    add(state, &length, sizeof length);
    add(state, text, text_bytes);
}

static void add_value(XXH3_state_t *state, struct db_query *query)
{
    size_t bytes;
    switch (db_peek(query)) {
    case DB_NULL:
        add(state, "N", 1);
        db_skip(query);
        break;
    case DB_INT: {
        const int64_t value = db_take_int(query);
        add(state, "I", 1);
        add(state, &value, sizeof value);
        break;
    }
    case DB_DOUBLE: {
        const double value = db_take_double(query);
        add(state, "D", 1);
        add(state, &value, sizeof value);
        break;
    }
    case DB_TEXT: {
        const char *text = db_take_text(query, &bytes);
        add_text(state, text, bytes);
        break;
    }
    case DB_BLOB: {
        const void *blob = db_take_blob(query, &bytes);
        const uint64_t length = bytes;
        add(state, "B", 1);
        add(state, &length, sizeof length);
        add(state, blob, bytes);
        break;
    }
    }
}

static int count_columns(const char *columns)
{
    int count = 1;
    for (const char *c = columns; *c != '\0'; c++) count += *c == ',';
    return count;
}

static bool is_volatile(const char *key)
{
    int i = 0;
    while (digest_volatile_meta[i] != NULL && strcmp(key, digest_volatile_meta[i]) != 0) i++;
    return digest_volatile_meta[i] != NULL;
}

/* meta alone has rows that are left out. */
static void add_meta_row(XXH3_state_t *state, struct db_query *query)
{
    size_t bytes;
    const char *key = db_take_text(query, &bytes);
    if (is_volatile(key)) return;
    add(state, "R", 1);
    add_text(state, key, bytes);
    add_value(state, query);
}

static void add_row(XXH3_state_t *state, struct db_query *query, int columns)
{
    add(state, "R", 1);
    for (int i = 0; i < columns; i++) add_value(state, query);
}

static enum status add_table(XXH3_state_t *state, struct db *db, const struct table *table)
{
    struct db_query *query;
    TRY(db_prepare(db, table->query, &query));
    const int columns = count_columns(table->columns);
    const bool is_meta = strcmp(table->name, "meta") == 0;
    add_text(state, table->name, strlen(table->name));
    add_text(state, table->columns, strlen(table->columns));
    bool has_row;
    enum status status;
    while ((status = db_next(query, &has_row)) == STATUS_OK && has_row)
        if (is_meta)
            add_meta_row(state, query);
        else
            add_row(state, query, columns);
    db_finish(query);
    return status;
}

static void print_digest(XXH3_state_t *state, char out[DIGEST_TEXT_BYTES])
{
    const XXH128_hash_t hash = XXH3_128bits_digest(state);
    snprintf(out, DIGEST_TEXT_BYTES, "%016" PRIx64 "%016" PRIx64, (uint64_t)hash.high64,
             (uint64_t)hash.low64);
}

enum status digest_database(struct db *db, const char *table, char out[DIGEST_TEXT_BYTES])
{
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    bool found = table == NULL;
    for (int i = 0; i < TABLES; i++) {
        ASSERT(strcmp(tables[i].name, digest_tables[i]) == 0);
        if (table != NULL && strcmp(table, tables[i].name) != 0) continue;
        found = true;
        TRY(add_table(&state, db, &tables[i]));
    }
    if (!found) {
        const char *near = text_nearest(table, digest_tables, TABLES);
        return diag_usage(db_diag(db), "no table '%s'%s%s%s", table, near ? "; did you mean '" : "",
                          near ? near : "", near ? "'?" : "");
    }
    print_digest(&state, out);
    return STATUS_OK;
}

enum status digest_plan_tables(struct db *db, char out[DIGEST_TEXT_BYTES])
{
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    for (int i = 0; i < TABLES; i++)
        if (tables[i].of_plan) TRY(add_table(&state, db, &tables[i]));
    print_digest(&state, out);
    return STATUS_OK;
}
