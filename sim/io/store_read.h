/* store_read.h - a result database -> plain rows, for the report. Nothing of the database stays
 * open. */
#ifndef GPUPLAN_IO_STORE_READ_H
#define GPUPLAN_IO_STORE_READ_H

#include "base/diag.h"
#include "base/limits.h"
#include "base/log.h"
#include "ledger/accounts.h"

#include <stdbool.h>
#include <stdint.h>

struct stored_layout {
    char name[LIMIT_NAME_BYTES], server_type[LIMIT_NAME_BYTES];
    char gpu_type[LIMIT_NAME_BYTES], link_type[LIMIT_NAME_BYTES];
    char fabric_type[LIMIT_NAME_BYTES]; /* "two-tier" */
    int32_t slack; /* -1 = any                                            */
    bool is_baseline, hypothetical;
    uint32_t servers, gpus_per_server, gpus, nics_per_server;
    double oversubscription;
    double offered_load;
    uint64_t jobs_never_fit;
    double unserved_gpu_s;
};

struct stored_replica {
    uint32_t layout;
    int32_t replica; /* -1 = the pooled failure-only run                    */
    int64_t window_start_ns, window_end_ns, run_end_ns;
};

struct stored_metric {
    uint32_t setting; /* row in settings; 0 = the scenario as written           */
    uint32_t layout, replica;
    uint8_t class_; /* enum size_class                                     */
    char name[40], unit[8];
    double value;
};

/* An incident of the pooled failure-only run. */
struct stored_blast {
    uint32_t layout, gpus_removed;
    uint8_t component; /* row in stored_component_name                        */
};

/* An assumption and what moves it; row 0 is the scenario as written. */
struct stored_setting {
    char axis[16]; /* name of enum axis                                      */
    double factor;
};

/* Rows of the log by what became of them. */
struct stored_import {
    char outcome[16]; /* "read", "imported", "skipped", "repaired"              */
    char reason[128]; /* of skipped and repaired rows                           */
    uint64_t rows;
};

struct stored_gate {
    char metric[LIMIT_NAME_BYTES], layout[LIMIT_NAME_BYTES];
    bool below;
    double bound;
};

struct stored_assumption {
    char subject[16], name[LIMIT_NAME_BYTES], mark[16], source[256];
};

struct stored_key {
    char *key, *value; /* owned                                               */
};

struct stored {
    struct stored_layout *layouts; /* [layout_count], layout_id = row                   */
    uint32_t layout_count;
    struct log meta;     /* struct stored_key                                   */
    struct log replicas; /* struct stored_replica, by layout and replica        */
    struct log metrics;  /* struct stored_metric, by layout, replica, name, class; replica >= 0 */
    struct log blasts;   /* struct stored_blast, by layout and component        */
    struct log settings; /* struct stored_setting, setting = row                        */
    struct log moved;    /* struct stored_metric of settings 1 and up: what verdicts need of them */
    struct log imports;  /* struct stored_import; the commonest reason of an outcome first */
    struct log gates, assumptions;
};

/* Reads the file. STATUS_INPUT when it is no result database of this version. An incomplete one
 * (meta complete = 0) is read as far as it goes: the caller says so. stored_clear also after a
 * failure. */
enum status store_read(const char *path, struct stored *stored, struct diag *diag);
void stored_clear(struct stored *stored);

/* Value of a meta key, or NULL. Borrowed. */
const char *stored_meta(const struct stored *stored, const char *key);

/* "gpu", "server", "link", "leaf", "job"; NULL behind the last. */
const char *stored_component_name(uint32_t component);

/* Canonical digest of the file (digest.h), of one table when `table` is not NULL. */
enum status store_digest(const char *path, const char *table, char out[33], struct diag *diag);

#endif
