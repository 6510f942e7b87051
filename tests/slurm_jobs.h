/* slurm_jobs.h - small tables of jobs in the words of Slurm, for the tests of its rules. */
#ifndef TESTS_SLURM_JOBS_H
#define TESTS_SLURM_JOBS_H

#include "spec/jobs.h"
#include "spec/slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One job; NULL = not said. */
struct job_line {
    const char *id, *name, *account, *user, *dependency;
    uint32_t array; /* 1 + row of its array's first task; 0 = none                            */
    uint32_t array_index, array_limit;
    uint32_t het; /* 1 + row of its first component; 0 = none                                   */
    bool hold;
    int64_t begin_s;
};

static inline uint32_t text_put(struct jobs *jobs, const char *text)
{
    if (!text || !*text) return TEXT_NONE;
    const uint32_t at = (uint32_t)jobs->text_bytes;
    memcpy(&jobs->text[at], text, strlen(text) + 1);
    jobs->text_bytes += strlen(text) + 1;
    return at;
}

/* Rows in the order of the lines. Give it back with jobs_free. */
static inline struct jobs jobs_of_lines(const struct job_line *lines, uint32_t count)
{
    struct jobs jobs = { .count = count, .text_bytes = 1 };
    size_t bytes = 1;
    for (uint32_t i = 0; i < count; i++) {
        const char *texts[] = { lines[i].id, lines[i].name, lines[i].account, lines[i].user,
                                lines[i].dependency };
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            bytes += texts[t] ? strlen(texts[t]) + 1 : 0;
    }
    jobs.text = calloc(bytes, 1);
    jobs.id = calloc(count + 1u, sizeof *jobs.id);
    jobs.submit_ns = calloc(count + 1u, sizeof *jobs.submit_ns);
    jobs.words = calloc(count + 1u, sizeof *jobs.words);
    if (!jobs.text || !jobs.id || !jobs.submit_ns || !jobs.words) abort();
    for (uint32_t i = 0; i < count; i++) {
        jobs.id[i] = text_put(&jobs, lines[i].id);
        jobs.words[i] = (struct job_words){
            .name = text_put(&jobs, lines[i].name),
            .account = text_put(&jobs, lines[i].account),
            .user = text_put(&jobs, lines[i].user),
            .dependency = text_put(&jobs, lines[i].dependency),
            .array_first_row = lines[i].array ? lines[i].array - 1 : JOB_NONE,
            .array_index = lines[i].array_index,
            .array_limit = lines[i].array_limit,
            .het_first_row = lines[i].het ? lines[i].het - 1 : JOB_NONE,
            .requeue = -1,
            .hold = lines[i].hold,
            .begin_ns = lines[i].begin_s * INT64_C(1000000000),
        };
    }
    return jobs;
}

static inline void jobs_free(struct jobs *jobs)
{
    free(jobs->text);
    free(jobs->id);
    free(jobs->submit_ns);
    free(jobs->words);
}

static inline void name_set(char *to, const char *from) { snprintf(to, LIMIT_NAME_BYTES, "%s", from); }

/* An account (user "") or a user, for the tree of associations. */
static inline struct slurm_association association(const char *account, const char *parent,
                                                   const char *user, uint32_t shares)
{
    const struct tres_limit none = { LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET };
    struct slurm_association assoc = { .fairshare = shares,
                                       .grp = none,
                                       .max_per_job = none,
                                       .grp_run_mins = none,
                                       .grp_jobs = LIMIT_UNSET,
                                       .max_jobs = LIMIT_UNSET };
    name_set(assoc.account, account);
    name_set(assoc.parent, parent);
    name_set(assoc.user, user);
    return assoc;
}

#endif
