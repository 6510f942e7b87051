/* store_write.h - the result database of one run (DESIGN 9; schema.h).
 *
 * The file grows as PATH.partial, a transaction per replica, and gets its name when it is complete:
 * a file under PATH is always whole. All calls come from one thread. */
#ifndef GPUPLAN_IO_STORE_WRITE_H
#define GPUPLAN_IO_STORE_WRITE_H

#include "base/diag.h"
#include "ledger/results.h"
#include "spec/plan.h"

#include <stdbool.h>

struct store;

/* Where `gpuplan run` writes unless told otherwise: results/STEM.db, STEM being the scenario's file
 * name without folder and ending, other characters than letters, digits, '.', '-' and '_' replaced
 * by '_' (P98). */
void store_default_path(const struct scenario *scenario, char out[LIMIT_PATH_BYTES]);

/* Starts PATH.partial and writes all that is known before the first replica. plan, its scenario,
 * jobs and report are borrowed until the store is finished or abandoned; diag too. The folder
 * results/ is made when it is missing, for the default path only. A PATH.partial that was left
 * behind is replaced; one that another run holds open is refused, and so is a PATH that exists and
 * is not a result database, or is that of a scenario of another name and not the default path. On
 * failure *store is NULL and no file is left. */
enum status store_open(const char *path, const struct plan *plan, struct store **store,
                       struct diag *diag);

/* Goes on with the PATH.partial of a killed run, or starts anew when there is none. Refused
 * (STATUS_INPUT) when it was written for another plan: scenario, overrides, seed, trace, catalog or
 * version differ. Without PATH.partial, a PATH that is finished for the same plan leaves nothing to
 * do: STATUS_OK and *store NULL; one of another plan is refused. */
enum status store_resume(const char *path, const struct plan *plan, struct store **store,
                         struct diag *diag);

/* Whether the replica of the layout row under a setting of the plan (0 = the scenario as written)
 * is stored already (after store_resume). */
bool store_has(const struct store *store, uint32_t layout_row, uint32_t replica, uint32_t setting);

/* A metric of all jobs of a replica that is stored already; NAN when it has none. */
double store_metric(const struct store *store, uint32_t layout_row, uint32_t replica,
                    const char *name);

/* Says how many replicas of each layout were run under scenario->until, and why no more: meta
 * replicas_run, and replicas_stop = half_width | max. Before store_finish. */
enum status store_replicas(struct store *store, uint32_t replicas_run, bool enough);

/* Stores one replica, all or nothing. Replicas may come in any order; the content does not depend
 * on it. Not called for a replica that store_has. A result with a closure error is stored as it is:
 * the campaign refuses it. */
enum status store_replica(struct store *store, const struct replica_result *result,
                          struct diag *diag);

/* Marks the database complete, puts it under PATH and frees the store, also after a failure: then
 * PATH is as it was before. */
enum status store_finish(struct store *store, struct diag *diag);

/* Closes an unfinished database and frees the store. PATH.partial stays for --resume when it holds
 * a replica, else it is removed. NULL is allowed. */
void store_abandon(struct store *store);

#endif
