/* store_detail.h - one layout and replica of a result database whose detail was kept, asked job by job.
 *
 * The caller has read the file with store_read, which made sure of its kind. Texts live until store_detail_close. Logs are
 * initialised by the call and the caller's to clear, also after a failure. */
#ifndef GPUPLAN_IO_STORE_DETAIL_H
#define GPUPLAN_IO_STORE_DETAIL_H

#include "base/diag.h"
#include "base/log.h"
#include "ledger/accounts.h"

#include <stdbool.h>
#include <stdint.h>

struct store_detail;

enum status store_detail_open(const char *path, uint32_t layout, uint32_t replica,
                              struct store_detail **out, struct diag *diag);
void store_detail_close(struct store_detail *detail); /* NULL is allowed */

struct detail_job {
    uint32_t serial, gpus, attempts, request;
    const char *id, *outcome;                /* outcome: "finished", "killed", "rejected", "running", "queued"    */
    const char *reason;                      /* of a rejection, or NULL                                         */
    int64_t submit_ns, first_start_ns, end_ns; /* INT64_MAX when it did not happen                              */
};

/* The jobs of this id, the job of this serial, the `count` jobs that waited longest for their first start (ties:
 * lower serial), and how many jobs there are. struct detail_job. */
enum status store_detail_by_id(struct store_detail *detail, const char *id, struct log *jobs);
enum status store_detail_by_serial(struct store_detail *detail, uint32_t serial, struct log *jobs);
enum status store_detail_longest(struct store_detail *detail, uint32_t count, struct log *jobs);
enum status store_detail_count(struct store_detail *detail, uint64_t *jobs);

struct detail_attempt {
    uint32_t attempt, servers, gpus_held, gpus_asked, broken_gpus;
    int64_t start_ns, startup_ns, durable_ns, end_ns;
    int64_t fault_ns;             /* INT64_MAX unless it failed                                */
    const char *outcome;          /* "finished", "killed_limit", "failed", "cut", ...           */
    const char *algorithm, *bottleneck; /* of its all-reduce; NULL: it has none                   */
    int64_t units[ACC_HELD_END];  /* level of each held account while it works                 */
    __int128 checkpoint_fix;      /* units * ns that a normal end moved from checkpoint to compute */
};
/* Of one job, in order. */
enum status store_detail_attempts(struct store_detail *detail, uint32_t serial,
                                  struct log *attempts);

/* An attempt whose levels changed while it worked: the GPU-time that was kept behind its start-up, units * ns by account; several
 * rows add up. Of one job. */
struct detail_kept {
    uint32_t attempt;
    __int128 unit_ns[ACC_HELD_END];
};
enum status store_detail_kept(struct store_detail *detail, uint32_t serial, struct log *kept);

/* What a request needs of this layout. */
struct detail_request {
    uint32_t gpus, held, nodes, gpus_per_node, nodes_max, cores;
    int64_t share_units, memory_bytes;
    bool known; /* false: nobody ever waited with it                                          */
};
enum status store_detail_request(struct store_detail *detail, uint32_t request,
                                 struct detail_request *out);

/* What held a request, or a job alone, from from_ns on. Causes: those that bear on [from_ns, to_ns). */
struct detail_told {
    int64_t from_ns;
    const char *text; /* NULL: no word any more                                              */
};
enum status store_detail_causes(struct store_detail *detail, uint32_t request, int64_t from_ns,
                                int64_t to_ns, struct log *told);
enum status store_detail_words(struct store_detail *detail, uint32_t serial, struct log *told);

/* GPUs held over an interval, of every attempt that bears on [from_ns, to_ns); a suspended one holds on until it is
 * resumed. What an incomplete gang holds before its start is in no row. No order. */
struct detail_held {
    int64_t from_ns, to_ns;
    uint32_t gpus;
};
enum status store_detail_held(struct store_detail *detail, int64_t from_ns, int64_t to_ns,
                              struct log *held);

/* One row of allocation that holds at at_ns, by server and serial. */
struct detail_holding {
    uint32_t serial, server, gpu_mask;
    int64_t until_ns; /* when the attempt gave it back                                          */
    const char *id;
};
enum status store_detail_holdings(struct store_detail *detail, int64_t at_ns,
                                  struct log *holdings);

/* The nodes, in order: GPUs of each (uint32_t). */
enum status store_detail_nodes(struct store_detail *detail, struct log *gpus);

/* A node with a fault of a GPU or of its server that was not repaired at at_ns. */
struct detail_fault {
    uint32_t node;
    double at_s, repaired_s; /* repaired_s: INFINITY when the run ended first                    */
    const char *component;
};
enum status store_detail_faults(struct store_detail *detail, int64_t at_ns, struct log *faults);

/* The first job in order of submission that waited at at_ns and was free to start; *found = false without one. */
enum status store_detail_head(struct store_detail *detail, int64_t at_ns, struct detail_job *job,
                              bool *found);

#endif
