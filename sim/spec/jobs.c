/* jobs.c - one arena owns all columns. */
#include "spec/jobs.h"

void jobs_clear(struct jobs *jobs)
{
    arena_destroy(jobs->arena);
    *jobs = (struct jobs){ 0 };
}
