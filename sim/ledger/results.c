/* results.c - names of outcomes, and giving a replica's memory back. */
#include "ledger/results.h"

#include <stdlib.h>
#include <string.h>

const char *const job_end_names[JOB_ENDS] = {
    [END_FINISHED] = "finished", [END_KILLED] = "killed", [END_REJECTED] = "rejected",
    [END_RUNNING] = "running",   [END_QUEUED] = "queued",
};

const char *const attempt_end_names[ATTEMPT_ENDS] = {
    [ATTEMPT_FINISHED] = "finished",   [ATTEMPT_KILLED_LIMIT] = "killed_limit",
    [ATTEMPT_FAILED] = "failed",       [ATTEMPT_CUT] = "cut",
    [ATTEMPT_PREEMPTED] = "preempted", [ATTEMPT_SUSPENDED] = "suspended",
    [ATTEMPT_CANCELLED] = "cancelled", [ATTEMPT_REFUSED] = "refused",
};

const char *const wait_cause_names[WAIT_CAUSES] = {
    [WAIT_RESOURCES] = "resources",
    [WAIT_DOWN] = "down nodes",
    [WAIT_FRAGMENTED] = "fragmentation",
    [WAIT_CORES] = "cores",
    [WAIT_MEMORY] = "memory",
    [WAIT_HOST] = "host",
    [WAIT_PRIORITY] = "priority",
    [WAIT_RESERVATION] = "reservation",
    [WAIT_POLICY] = "policy",
};

const char *const incident_component_names[COMPONENTS] = {
    [COMPONENT_GPU] = "gpu",   [COMPONENT_SERVER] = "server", [COMPONENT_LINK] = "link",
    [COMPONENT_LEAF] = "leaf", [COMPONENT_JOB] = "job",
};

void replica_result_clear(struct replica_result *result)
{
    free(result->bin_start_ns);
    free(result->bins);
    log_clear(&result->metrics);
    log_clear(&result->incidents);
    log_clear(&result->jobs);
    log_clear(&result->attempts);
    log_clear(&result->allocations);
    log_clear(&result->kept);
    log_clear(&result->links);
    log_clear(&result->requests);
    log_clear(&result->causes);
    log_clear(&result->words);
    memset(result, 0, sizeof *result);
}
