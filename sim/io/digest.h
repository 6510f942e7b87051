/* digest.h - one number for the content of a result database.
 *
 * XXH3-128 over every table: its name, its columns' names, and its rows in primary-key order; each
 * value as a type byte and then 8 bytes of the integer, 8 bytes of the double, or length and bytes
 * of the text, all little-endian. Left out is what two equal runs may differ in: the column
 * replica.seconds and the meta keys of digest_volatile_meta. Pages, row order and the version of
 * SQLite do not matter (DESIGN 9). */
#ifndef GPUPLAN_IO_DIGEST_H
#define GPUPLAN_IO_DIGEST_H

#include "base/status.h"
#include "io/db.h"

enum { DIGEST_TEXT_BYTES = 33 }; /* 32 hex digits and NUL */

extern const char *const digest_volatile_meta[]; /* ends with NULL */
extern const char *const digest_tables[];        /* names in digest order; ends with NULL */

/* Columns that are digested, "a, b, c", or NULL for an unknown table. */
const char *digest_columns(const char *table);

/* Digest of one table, or of all when `table` is NULL. An unknown name is a usage error. */
enum status digest_database(struct db *db, const char *table, char out[DIGEST_TEXT_BYTES]);

/* Digest of the tables that the plan alone determines (store_plan). */
enum status digest_plan_tables(struct db *db, char out[DIGEST_TEXT_BYTES]);

#endif
