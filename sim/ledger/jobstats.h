/* jobstats.h - what becomes of the jobs of the cohort: those submitted inside the window. */
#ifndef GPUPLAN_LEDGER_JOBSTATS_H
#define GPUPLAN_LEDGER_JOBSTATS_H

#include "base/log.h"
#include "ledger/accounts.h"
#include "ledger/results.h"

#include <stdbool.h>
#include <stdint.h>

/* A time that was seen to its end, or at least that long (censored). */
struct job_time {
    int64_t ns;
    bool censored;
};

struct jobstats {
    struct log waits[CLASSES];       /* struct job_time: first start - submit                */
    struct log completions[CLASSES]; /* struct job_time: end - submit                        */
    /* The same over the jobs that every layout of the plan can hold: what layouts are compared by. Kept
     * only when some layout cannot hold some job; the two are equal otherwise. */
    bool keeps_common;
    struct log common_waits[CLASSES], common_completions[CLASSES];
    uint64_t cohort[CLASSES], rejected[CLASSES];
    uint64_t done[CLASSES]; /* finished, or killed at their limit; not those cancelled or given up */
    int128 offered_gpu_ns; /* gpus * recorded duration, jobs it cannot hold included        */
    int128 asked_gpu_ns;   /* GPUs held * how long, in the plain shape on this layout        */
    int128 unserved_gpu_ns; /* gpus * duration of cohort jobs this layout cannot hold */
    bool out_of_memory;
};

void jobstats_init(struct jobstats *stats, bool keeps_common);
void jobstats_clear(struct jobstats *stats);

/* One job of the cohort. is_common: every layout can hold it. */
struct job_time_of {
    enum size_class size_class;
    bool is_common;
    struct job_time time;
};

void jobstats_wait(struct jobstats *stats, struct job_time_of job);
void jobstats_completion(struct jobstats *stats, struct job_time_of job);

/* Fills result->metrics from the ledger, the incidents and the statistics of jobs. The names are
 * those that report reads: yield, utilization, goodput, share_ACCOUNT, wait_s_*, completion_s_*, ... */
bool metrics_fill(const struct jobstats *stats, struct replica_result *result);

#endif
