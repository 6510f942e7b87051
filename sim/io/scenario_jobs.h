/* scenario_jobs.h - `jobs[]` of a scenario: from lines to rows. What its two files share; scenario_parts.h has the rest. */
#ifndef GPUPLAN_IO_SCENARIO_JOBS_H
#define GPUPLAN_IO_SCENARIO_JOBS_H

#include "io/scenario_parts.h"
#include "io/trace_rows.h"
#include "spec/job_line.h"

/* One job, or component of a job, while it is read. */
struct job_reading {
    struct key_reader *reader;
    struct trace_rows *rows;
    const struct yaml_node *node;  /* its map                                                      */
    const struct yaml_node *below; /* of a component: the map of the whole job; else NULL          */
    struct job_line line;
    const char *id; /* for messages and rows                                                       */
};

/* An error at one of its keys, or at the job where the key is not written. */
void refuse_job(struct job_reading *job, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What the whole job asks for, as plain columns know it. */
struct job_columns {
    uint32_t gpus, nodes, cores;
    uint64_t memory_bytes;
};

/* scenario_job_ask.c: texts of the line -> its ask, and the columns. Problems are said. */
void job_ask(struct job_reading *job, struct job_columns *columns);

/* The texts of the ask that the rows know: interned. False: memory is out. */
bool job_ask_texts(struct job_reading *job);

/* scenario_job_words.c */
void read_job_requeue(struct key_reader *reader, const struct key_found *found);
void read_job_resources(struct key_reader *reader, const struct key_found *found);
void read_job_topology(struct key_reader *reader, const struct key_found *found);
void read_job_het(struct key_reader *reader, const struct key_found *found);
void read_job_tolerations(struct key_reader *reader, const struct key_found *found);

/* The tasks of "0-5%2": their indexes, ascending; *limit is the number behind '%', 0 = none. NULL after a problem
 * (said), else owned by the caller. */
uint32_t *job_array(struct job_reading *job, uint32_t *count, uint32_t *limit);

/* The names that a job uses: partitions, QOS, account, reservation, queue, level, nodes. */
void check_job_names(struct job_reading *job);

/* scenario_jobs.c */
void read_jobs(struct key_reader *reader, const struct key_found *found);

/* jobs[].model names a profile of workload.communication; after all keys are read. */
void check_job_models(struct reading *reading);

#endif
