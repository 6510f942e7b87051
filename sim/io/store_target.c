/* store_target.c - what lies under the name that a run is to write: nothing, a result that may be replaced, the
 * finished result of the very same plan, or something that must stay. */
#include "io/store_internal.h"

#include "io/digest.h"
#include "io/schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The header of a SQLite file holds the application id at byte 68. */
static bool is_result(const unsigned char head[72])
{
    const uint32_t id =
        (uint32_t)head[68] << 24 | (uint32_t)head[69] << 16 | (uint32_t)head[70] << 8 | head[71];
    return memcmp(head, "SQLite format 3", 16) == 0 && id == STORE_APPLICATION_ID;
}

/* An existing file is replaced at the end, so it must be one of ours: `-o trace.csv` is a slip. */
static enum status look(const char *path, bool *exists, struct diag *diag)
{
    struct stat info;
    *exists = false;
    if (stat(path, &info) != 0) {
        if (errno == ENOENT) return STATUS_OK;
        return diag_world(diag, "%s: %s", path, strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) return diag_world(diag, "%s: exists and is not a file", path);
    unsigned char head[72] = { 0 };
    FILE *file = fopen(path, "rb");
    if (file == NULL) return diag_world(diag, "%s: %s", path, strerror(errno));
    const size_t got = fread(head, 1, sizeof head, file);
    fclose(file);
    *exists = got > 0;
    if (got == 0 || (got == sizeof head && is_result(head))) return STATUS_OK;
    return diag_world(diag, "%s: exists and is not a result database; choose another name", path);
}

/* Value of a key of meta, "" without it. */
static enum status read_meta(struct db *db, const char *key, char *out, size_t out_bytes)
{
    struct db_query *query;
    bool has_row;
    out[0] = '\0';
    TRY(db_prepare(db, "SELECT value FROM meta WHERE key = ?", &query));
    db_put_name(query, key);
    const enum status status = db_next(query, &has_row);
    if (status == STATUS_OK && has_row) snprintf(out, out_bytes, "%s", db_take_text(query, NULL));
    db_finish(query);
    return status;
}

/* ---- the same plan? ---- */

/* "the scenario, the seed": what of two plans differs, as far as meta says. */
static enum status differences(struct db *want, struct db *have, char *out, size_t out_bytes)
{
    static const struct {
        const char *key, *word;
    } rows[] = {
        { "scenario_text", "the scenario" },
        { "overrides", "--set" },
        { "seed", "the seed" },
        { "replicas", "the replicas" },
        { "trace_digest", "the trace" },
        { "version", "the program" },
    };
    static char wanted[1 << 16],
        found[1 << 16]; /* a scenario's text is compared by its beginning */
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TRY(read_meta(want, rows[i].key, wanted, sizeof wanted));
        TRY(read_meta(have, rows[i].key, found, sizeof found));
        if (strcmp(wanted, found) != 0)
            used += (size_t)snprintf(out + used, out_bytes - used, "%s%s", used > 0 ? ", " : "",
                                     rows[i].word);
    }
    if (used == 0) snprintf(out, out_bytes, "the catalog or the layouts chosen");
    return STATUS_OK;
}

/* What a run says when it ends, over what it said at its beginning: the plan stays comparable. */
static enum status copy_end(struct db *from, struct db *to)
{
    static const char *const keys[] = { "complete", "replicas_run", "replicas_stop" };
    char value[64];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        TRY(read_meta(from, keys[i], value, sizeof value));
        if (value[0] != '\0') TRY(store_meta(to, keys[i], value));
    }
    return STATUS_OK;
}

static enum status compare_plans(struct db *fresh, struct db *have, struct diag *diag)
{
    char wanted[DIGEST_TEXT_BYTES] = "", found[DIGEST_TEXT_BYTES] = "", what[160];
    TRY(copy_end(have, fresh));
    TRY(digest_plan_tables(fresh, wanted));
    TRY(digest_plan_tables(have, found));
    if (strcmp(wanted, found) == 0) return STATUS_OK;
    TRY(differences(fresh, have, what, sizeof what));
    return diag_usage(diag,
                      "%s was made by another run (it differs in %s); run without --resume to "
                      "start anew, or choose another name with -o",
                      db_path(have), what);
}

enum status store_same_plan(struct db *have, const struct plan *plan, struct diag *diag)
{
    struct db *fresh;
    TRY(db_open("a copy of the plan in memory", DB_MEMORY, &fresh, diag));
    enum status status = store_fill(fresh, plan);
    if (status == STATUS_OK) status = compare_plans(fresh, have, diag);
    db_close(fresh);
    return status;
}

/* ---- all of it ---- */

/* The default name belongs to the scenario's file; any other may hold somebody's result. */
static enum status check_name(struct db *db, const struct plan *plan, struct diag *diag)
{
    char usual[LIMIT_PATH_BYTES], name[LIMIT_NAME_BYTES];
    store_default_path(plan->scenario, usual);
    if (strcmp(db_path(db), usual) == 0) return STATUS_OK;
    TRY(read_meta(db, "name", name, sizeof name));
    if (strcmp(name, plan->scenario->name) == 0) return STATUS_OK;
    return diag_usage(diag,
                      "%s holds the result of another scenario, '%s'; choose another name with "
                      "-o, or remove it",
                      db_path(db), name);
}

enum status store_check_target(const char *path, const struct plan *plan, bool resume,
                               bool *finished, struct diag *diag)
{
    bool exists;
    struct db *db;
    *finished = false;
    TRY(look(path, &exists, diag));
    if (!exists) return STATUS_OK;
    TRY(db_open(path, DB_READ, &db, diag));
    const enum status status =
        resume ? store_same_plan(db, plan, diag) : check_name(db, plan, diag);
    const enum status closed = db_close(db);
    *finished = resume && status == STATUS_OK;
    return status == STATUS_OK ? closed : status;
}
