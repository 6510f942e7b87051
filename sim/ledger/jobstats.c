/* jobstats.c - see jobstats.h. */
#include "ledger/jobstats.h"

#include <string.h>

void jobstats_init(struct jobstats *stats)
{
    memset(stats, 0, sizeof *stats);
    for (int c = 0; c < CLASSES; c++) {
        log_init(&stats->waits[c], sizeof(struct job_time), 0);
        log_init(&stats->completions[c], sizeof(struct job_time), 0);
    }
}

void jobstats_clear(struct jobstats *stats)
{
    for (int c = 0; c < CLASSES; c++) {
        log_clear(&stats->waits[c]);
        log_clear(&stats->completions[c]);
    }
}

static void note(struct jobstats *stats, struct log *log, int64_t ns, bool censored)
{
    const struct job_time time = { .ns = ns, .censored = censored };
    if (!log_append(log, &time)) stats->out_of_memory = true;
}

void jobstats_wait(struct jobstats *stats, enum size_class size_class, int64_t ns, bool censored)
{
    note(stats, &stats->waits[size_class], ns, censored);
}

void jobstats_completion(struct jobstats *stats, enum size_class size_class, int64_t ns,
                         bool censored)
{
    note(stats, &stats->completions[size_class], ns, censored);
}
