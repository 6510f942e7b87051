/* trace_formats.h - the readers behind trace_read.h: one that knows all CSV logs, one for SWF.
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

#endif
