/* jobstats.c - see jobstats.h. */
#include "ledger/jobstats.h"

#include <string.h>

void jobstats_init(struct jobstats *stats, bool keeps_common)
{
    memset(stats, 0, sizeof *stats);
    stats->keeps_common = keeps_common;
    for (int c = 0; c < CLASSES; c++) {
        log_init(&stats->waits[c], sizeof(struct job_time), 0);
        log_init(&stats->completions[c], sizeof(struct job_time), 0);
        log_init(&stats->common_waits[c], sizeof(struct job_time), 0);
        log_init(&stats->common_completions[c], sizeof(struct job_time), 0);
    }
}

void jobstats_clear(struct jobstats *stats)
{
    for (int c = 0; c < CLASSES; c++) {
        log_clear(&stats->waits[c]);
        log_clear(&stats->completions[c]);
        log_clear(&stats->common_waits[c]);
        log_clear(&stats->common_completions[c]);
    }
}

static void note(struct jobstats *stats, struct log *own, struct log *common,
                 struct job_time_of job)
{
    if (!log_append(&own[job.size_class], &job.time)) stats->out_of_memory = true;
    if (stats->keeps_common && job.is_common && !log_append(&common[job.size_class], &job.time))
        stats->out_of_memory = true;
}

void jobstats_wait(struct jobstats *stats, struct job_time_of job)
{
    note(stats, stats->waits, stats->common_waits, job);
}

void jobstats_completion(struct jobstats *stats, struct job_time_of job)
{
    note(stats, stats->completions, stats->common_completions, job);
}
