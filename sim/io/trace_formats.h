/* trace_formats.h - the readers behind trace_read.h: one that knows all plain CSV logs, one for SWF, one for openb.
 *
 * Each fills rows from rows->input. Rows that cannot be used are skipped and counted; STATUS_INPUT means that the file as a
 * whole is refused. */
#ifndef GPUPLAN_IO_TRACE_FORMATS_H
#define GPUPLAN_IO_TRACE_FORMATS_H

#include "io/trace_rows.h"

/* Whether the text looks like SWF: it begins with ';' or with a line of 18 numbers and blanks. */
bool trace_is_swf(const struct input *input);

/* Standard Workload Format (P69-P72). GPUs = requested processors, else allocated ones. Parts of checkpointed jobs (status 2,
 * 3, 4) are skipped: the whole job has a row of its own. The limit is the requested time when above 0. */
enum status trace_read_swf(struct trace_rows *rows);

/* The CSV logs: `format` says which, TRACE_AUTO goes by the names in the header.
 *
 *   gpuplan  job_id,submit_s,duration_s,gpus[,limit_s][,nodes][,cores][,memory_gib][,user][,model]
 *            '#' lines on top; other columns are named in a warning and not read
 *   itp      job_id,submission_time,duration,num_gpu            seconds; no limits
 *   philly   timestamp,duration,num_gpus,gpu_time,cluster       wall clock of US Pacific unless a zone is given; no ids:
 *            jobs are numbered by row; the virtual cluster is taken as the user; rows that say the
 *            same twice are kept and counted
 *
 * Columns may stand in any order. Text columns are missing when empty, number columns by the words
 * of trace_number.h. */
enum status trace_read_csv(struct trace_rows *rows, enum trace_format format);

/* Whether the first line has the columns of openb. */
bool trace_is_openb(const struct input *input);

/* Pods of Alibaba's openb trace (cluster-trace-gpu-v2023), in CSV:
 *
 *   name,cpu_milli,memory_mib,num_gpu,gpu_milli[,gpu_spec][,creation_time][,deletion_time][,scheduled_time]
 *
 * A pod is one job on one node: whole GPUs, or gpu_milli thousandths of one (num_gpu 1), or none; cores in thousandths; gpu_spec
 * "A|B" is any of these GPU types. It runs from scheduled_time to deletion_time; a pod that never got a node is kept with its
 * lifetime as its duration (a repair). A list without times is kept too, one pod a second without a
 * duration: it can fill a cluster (replicas.resample: fill), not be replayed. Times in seconds.
 * qos and pod_phase are not read. */
enum status trace_read_openb(struct trace_rows *rows);

#endif
