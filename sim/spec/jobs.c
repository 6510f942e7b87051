/* jobs.c - one arena owns all columns. */
#include "spec/jobs.h"

uint64_t jobs_gpu_milli(const struct jobs *jobs, uint32_t row)
{
    const uint64_t whole = UINT64_C(1000) * jobs->gpus[row];
    if (jobs->ask == NULL || jobs->ask[row] == ASK_NONE) return whole;
    const struct ask *const ask = &jobs->asks[jobs->ask[row]];
    return whole + (uint64_t)ask->gpu_milli * (ask->pods ? ask->pods : 1);
}

void jobs_clear(struct jobs *jobs)
{
    arena_destroy(jobs->arena);
    *jobs = (struct jobs){ 0 };
}
