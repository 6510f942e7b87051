/* job_line.h - a job as `jobs[]` of a scenario writes it, before it becomes rows of struct jobs.
 *
 * Texts are as written; sim/io/scenario_jobs.c takes them apart and interns them. An array becomes a row for each task,
 * a heterogeneous job one for each component. */
#ifndef GPUPLAN_SPEC_JOB_LINE_H
#define GPUPLAN_SPEC_JOB_LINE_H

#include "base/limits.h"
#include "spec/ask.h"

struct job_line {
    char id[LIMIT_NAME_BYTES]; /* "" = the job's place in the list, from 1                            */
    char name[LIMIT_NAME_BYTES], user[LIMIT_NAME_BYTES], account[LIMIT_NAME_BYTES];
    char qos[LIMIT_NAME_BYTES], queue[LIMIT_NAME_BYTES], team[LIMIT_NAME_BYTES];
    char reservation[LIMIT_NAME_BYTES], model[LIMIT_NAME_BYTES];
    char partition[LIMIT_TARGET_BYTES], dependency[LIMIT_TARGET_BYTES], array[LIMIT_TARGET_BYTES];
    char nodes[LIMIT_NAME_BYTES];         /* N or N-M                                                 */
    char gpus[LIMIT_NAME_BYTES], gpus_per_node[LIMIT_NAME_BYTES], gpus_per_task[LIMIT_NAME_BYTES]; /* N or TYPE:N */
    char gres[LIMIT_NAME_BYTES], switches[LIMIT_NAME_BYTES];
    char constraint[LIMIT_TARGET_BYTES], nodelist[LIMIT_TARGET_BYTES], exclude[LIMIT_TARGET_BYTES];
    char gpu_type[LIMIT_TARGET_BYTES], instance[LIMIT_NAME_BYTES];
    char node_selector[LIMIT_TARGET_BYTES], tolerations[LIMIT_TARGET_BYTES];
    char topology_required[LIMIT_NAME_BYTES], topology_preferred[LIMIT_NAME_BYTES];
    int64_t at_ns, run_ns, limit_ns, begin_ns;
    int64_t nice, priority, exit_code, exit_code_again;
    uint32_t min_member;
    int8_t requeue; /* -1 not said                                                                  */
    bool hold, no_kill, movable, may_not_preempt;
    bool is_component; /* of a heterogeneous job                                                    */
    struct ask ask;    /* its numbers; texts stay TEXT_NONE                                         */
};

#endif
