/* teams.h - who owns which servers under scheduler.kind static, and whose each job is.
 *
 * Teams are those of the scenario, in the order of the servers: so many servers each, or by share. Without any they are the
 * names in the trace, its users, by the GPU time that they ask for. A job's team is the one that it names, else its user.
 * Tests: tests/test_teams.c */
#ifndef GPUPLAN_POLICY_TEAMS_H
#define GPUPLAN_POLICY_TEAMS_H

#include "base/arena.h"
#include "spec/jobs.h"
#include "spec/plan.h"
#include "spec/scenario.h"

#include <stdbool.h>
#include <stdint.h>

#define TEAM_NONE UINT16_MAX

/* out[count]: servers in proportion to weight[count], whole, all of them given out when any weight is above 0: each its
 * quotient rounded down, what is left by the largest remainders, ties to the first. */
void apportion(const uint64_t *weight, uint32_t count, uint32_t servers, uint32_t *out);

struct team_table {
    uint32_t count;
    uint32_t *servers;      /* [count] of each, in the order of the servers                         */
    uint16_t *team_of_row;  /* [jobs->count] TEAM_NONE: no team of that name, or no name             */
};

/* Whether any job belongs to a team: a log without users has none. */
bool team_owns_any(const struct scenario *scenario, const struct jobs *jobs);

/* In the arena. False: memory is out, or there are 65,535 names and more. */
bool team_table_build(struct team_table *table, const struct scenario *scenario, const struct jobs *jobs,
                      uint32_t servers, struct arena *arena);

#endif
