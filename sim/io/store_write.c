/* store_write.c - see store_write.h. */
#include "io/store_write.h"

#include "io/digest.h"
#include "io/schema.h"
#include "io/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_FOLDER "results"

/* ---- paths ---- */

void store_default_path(const struct scenario *scenario, char out[LIMIT_PATH_BYTES])
{
    const char *slash = strrchr(scenario->path, '/');
    const char *name = slash != NULL ? slash + 1 : scenario->path;
    const char *dot = strrchr(name, '.');
    const size_t bytes = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    char stem[128];
    size_t used = 0;
    for (size_t i = 0; i < bytes && used + 1 < sizeof stem; i++) {
        const char c = name[i];
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || (c == '.' && used > 0);
        stem[used++] = plain ? c : '_';
    }
    stem[used] = '\0';
    snprintf(out, LIMIT_PATH_BYTES, DEFAULT_FOLDER "/%s.db", used > 0 ? stem : "run");
}

static enum status make_default_folder(const char *path, const struct plan *plan, struct diag *diag)
{
    char usual[LIMIT_PATH_BYTES];
    store_default_path(plan->scenario, usual);
    if (strcmp(path, usual) != 0 || mkdir(DEFAULT_FOLDER, 0777) == 0 || errno == EEXIST)
        return STATUS_OK;
    return diag_world(diag, "cannot make the folder %s: %s", DEFAULT_FOLDER, strerror(errno));
}

/* ---- opening ---- */

static void store_free(struct store *store)
{
    for (int i = 0; i < INSERTS; i++) db_finish(store->insert[i]);
    db_finish(store->find_replica);
    db_finish(store->find_tornado);
    db_finish(store->find_metric);
    free(store);
}

static enum status prepare_all(struct store *store)
{
    for (int i = 0; i < INSERTS; i++)
        TRY(db_prepare(store->db, store_insert_sql[i], &store->insert[i]));
    TRY(db_prepare(store->db, "SELECT 1 FROM replica WHERE layout_id = ? AND replica = ?",
                   &store->find_replica));
    TRY(db_prepare(store->db,
                   "SELECT value FROM metric WHERE layout_id = ? AND replica = ? AND name = ?"
                   " AND class = ?",
                   &store->find_metric));
    return db_prepare(
        store->db,
        "SELECT 1 FROM tornado WHERE layout_id = ? AND replica = ? AND setting = ? LIMIT 1",
        &store->find_tornado);
}

enum status store_fill(struct db *db, const struct plan *plan)
{
    char ids[96];
    snprintf(ids, sizeof ids,
             "PRAGMA application_id = %d; PRAGMA user_version = %d; BEGIN IMMEDIATE;",
             STORE_APPLICATION_ID, STORE_VERSION);
    TRY(db_exec(db, ids));
    TRY(db_exec(db, store_schema));
    TRY(store_plan(db, plan));
    return db_exec(db, "COMMIT");
}

/* Removes a PATH.partial that nobody holds. Opening it for writing rolls its journal back and
 * fails when another run still writes. */
static enum status remove_leftover(const char *partial, struct diag *diag)
{
    if (access(partial, F_OK) != 0) return STATUS_OK;
    struct db *db;
    TRY(db_open(partial, DB_APPEND, &db, diag));
    const enum status status = db_exec(db, "BEGIN EXCLUSIVE; COMMIT");
    db_close(db);
    TRY(status);
    if (unlink(partial) != 0)
        return diag_world(diag, "%s: cannot be removed: %s", partial, strerror(errno));
    return STATUS_OK;
}

/* SQLite tries again read-only where it may not write, and then reports that no such file exists: the file is made here,
 * where the reason is known. */
static enum status make_file(struct store *store, struct diag *diag)
{
    const int file = open(store->partial, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (file < 0)
        return diag_world(diag, "%s: cannot be written: %s", store->path, strerror(errno));
    close(file);
    store->made = true;
    return STATUS_OK;
}

static enum status create_partial(struct store *store, struct diag *diag)
{
    TRY(remove_leftover(store->partial, diag));
    TRY(make_file(store, diag));
    enum status status = db_open(store->partial, DB_CREATE, &store->db, diag);
    if (status == STATUS_OK) status = store_fill(store->db, store->plan);
    return status;
}

static enum status reopen_partial(struct store *store, struct diag *diag)
{
    TRY(db_open(store->partial, DB_APPEND, &store->db, diag));
    TRY(db_exec(store->db, "BEGIN EXCLUSIVE; COMMIT"));
    int64_t id = 0, version = 0, tables = 0, count = 0;
    TRY(db_read_int(store->db, "PRAGMA application_id", &id));
    TRY(db_read_int(store->db, "PRAGMA user_version", &version));
    TRY(db_read_int(store->db, "SELECT count(*) FROM sqlite_schema WHERE name = 'meta'", &tables));
    if (tables == 0) /* killed before its first commit */
        return store_fill(store->db, store->plan);
    if (id != STORE_APPLICATION_ID || version != STORE_VERSION)
        return diag_usage(diag, "%s is not a result database of this version", store->partial);
    /* A run that was killed after its last replica has said more than its plan. */
    TRY(db_exec(store->db, "DELETE FROM meta WHERE key IN ('replicas_run', 'replicas_stop');"
                           "UPDATE meta SET value = '0' WHERE key = 'complete'"));
    TRY(store_same_plan(store->db, store->plan, diag));
    TRY(db_read_int(store->db, "SELECT count(*) FROM replica", &count));
    store->replica_count = (uint64_t)count;
    return STATUS_OK;
}

/* Closes what a failed opening left; a file of our own making goes. */
static void drop(struct store *store, bool remove)
{
    struct db *db = store->db;
    char partial[LIMIT_PATH_BYTES];
    snprintf(partial, sizeof partial, "%s", store->partial);
    const bool is_ours = db != NULL || store->made;
    store_free(store);
    if (db != NULL) db_close(db);
    if (remove && is_ours) unlink(partial);
}

static enum status store_new(const char *path, const struct plan *plan, struct store **out,
                             struct diag *diag)
{
    TRY(make_default_folder(path, plan, diag));
    struct store *store = calloc(1, sizeof *store);
    if (store == NULL) return diag_world(diag, "%s: out of memory", path);
    store->plan = plan;
    const int bytes = snprintf(store->partial, sizeof store->partial, "%s.partial", path);
    if (bytes < 0 || (size_t)bytes >= sizeof store->partial) {
        free(store);
        return diag_usage(diag, "the database's path is longer than %d bytes",
                          LIMIT_PATH_BYTES - 9);
    }
    snprintf(store->path, sizeof store->path, "%s", path);
    *out = store;
    return STATUS_OK;
}

enum status store_open(const char *path, const struct plan *plan, struct store **out,
                       struct diag *diag)
{
    *out = NULL;
    struct store *store = NULL;
    bool finished;
    TRY(store_check_target(path, plan, false, &finished, diag));
    TRY(store_new(path, plan, &store, diag));
    enum status status = create_partial(store, diag);
    if (status == STATUS_OK) status = prepare_all(store);
    if (status != STATUS_OK) {
        drop(store, true);
        return status;
    }
    *out = store;
    return STATUS_OK;
}

enum status store_resume(const char *path, const struct plan *plan, struct store **out,
                         struct diag *diag)
{
    *out = NULL;
    struct store *store = NULL;
    TRY(store_new(path, plan, &store, diag));
    const bool exists = access(store->partial, F_OK) == 0;
    bool finished;
    const enum status target = store_check_target(path, plan, !exists, &finished, diag);
    if (target != STATUS_OK || finished) {
        store_free(store);
        return target;
    }
    enum status status = exists ? reopen_partial(store, diag) : create_partial(store, diag);
    if (status == STATUS_OK) status = prepare_all(store);
    if (status != STATUS_OK) {
        drop(store, !exists);
        return status;
    }
    *out = store;
    return STATUS_OK;
}

/* ---- replicas and the end ---- */

bool store_has(const struct store *store, uint32_t layout_row, uint32_t replica, uint32_t setting)
{
    struct db_query *query = setting == 0 ? store->find_replica : store->find_tornado;
    bool found = false, more = false;
    db_put_int(query, layout_row);
    db_put_int(query, stored_replica(replica));
    if (setting > 0) db_put_int(query, setting);
    if (db_next(query, &found) != STATUS_OK || !found) return false;
    (void)db_next(query, &more);
    return true;
}

double store_metric(const struct store *store, uint32_t layout_row, uint32_t replica,
                    const char *name)
{
    struct db_query *query = store->find_metric;
    bool found = false, more = false;
    db_put_int(query, layout_row);
    db_put_int(query, stored_replica(replica));
    db_put_name(query, name);
    db_put_name(query, class_names[CLASS_NONE]);
    if (db_next(query, &found) != STATUS_OK || !found) return NAN;
    const double value = db_take_double(query);
    (void)db_next(query, &more);
    return value;
}

enum status store_replicas(struct store *store, uint32_t replicas_run, bool enough)
{
    char text[16];
    snprintf(text, sizeof text, "%" PRIu32, replicas_run);
    TRY(store_meta(store->db, "replicas_run", text));
    return store_meta(store->db, "replicas_stop", enough ? "half_width" : "max");
}

/* To the disk before the name is given, so that not even a power cut leaves half a file under it.
 */
static enum status sync_path(const char *path, int flags, struct diag *diag)
{
    const int file = open(path, flags | O_CLOEXEC);
    if (file < 0) return diag_world(diag, "%s: %s", path, strerror(errno));
    const int result = fsync(file);
    const int why = errno;
    close(file);
    if (result != 0 && why != EINVAL) /* some file systems cannot sync a folder */
        return diag_world(diag, "%s: %s", path, strerror(why));
    return STATUS_OK;
}

static enum status publish(const char *partial, const char *path, struct diag *diag)
{
    TRY(sync_path(partial, O_RDONLY, diag));
    if (rename(partial, path) != 0)
        return diag_world(diag, "%s: cannot be renamed to %s: %s", partial, path, strerror(errno));
    char folder[LIMIT_PATH_BYTES];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) return sync_path(".", O_RDONLY | O_DIRECTORY, diag);
    slash[slash == folder] = '\0';
    return sync_path(folder, O_RDONLY | O_DIRECTORY, diag);
}

enum status store_finish(struct store *store, struct diag *diag)
{
    struct db *db = store->db;
    db_report_to(db, diag);
    char path[LIMIT_PATH_BYTES], partial[LIMIT_PATH_BYTES];
    snprintf(path, sizeof path, "%s", store->path);
    snprintf(partial, sizeof partial, "%s", store->partial);
    enum status status = store_meta(db, "complete", "1");
    store_free(store);
    const enum status closed = db_close(db);
    if (status == STATUS_OK) status = closed;
    return status == STATUS_OK ? publish(partial, path, diag) : status;
}

void store_abandon(struct store *store)
{
    if (store != NULL) drop(store, store->replica_count == 0);
}
