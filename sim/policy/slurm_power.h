/* slurm_power.h - power saving: which nodes are up, which go down for want of work, and when a node is up again.
 *
 *     UP --idle for SuspendTime--> GOING_DOWN --SuspendTimeout--> DOWN --a job wants it--> COMING_UP --resume--> UP
 *
 * A node that goes down cannot be had before it is down. A job that is given nodes which are down is CONFIGURING until
 * the last of them is up: slurm_power_raise says when. Idle nodes stand in a list by the time since which they are
 * idle, so nothing here costs more than the nodes that change.
 *
 * Left out: SuspendExcNodes, SuspendRate and ResumeRate; a node that needs longer than ResumeTimeout to come up (the
 * reader refuses such a scenario).
 * Source: SCHEDULING.md 2.10, power save page of Slurm. Tests: tests/test_slurm_power.c */
#ifndef GPUPLAN_POLICY_SLURM_POWER_H
#define GPUPLAN_POLICY_SLURM_POWER_H

#include "base/arena.h"
#include "spec/slurm.h"

#include <stdbool.h>
#include <stdint.h>

#define POWER_NONE UINT32_MAX

enum slurm_power_state { POWER_UP, POWER_GOING_DOWN, POWER_DOWN, POWER_COMING_UP };

/* Both in order of time: of its beginning to idle, of its being down. */
enum slurm_power_list { LIST_IDLE, LIST_GOING, LISTS, LIST_NONE = LISTS };

struct slurm_power_node {
    int64_t until_ns;          /* GOING_DOWN, COMING_UP: when it is there                           */
    int64_t idle_ns;           /* since when, while it stands in the list of idle nodes                */
    uint32_t previous, next;   /* in its list; POWER_NONE = an end                                  */
    uint8_t state;             /* enum slurm_power_state                                           */
    uint8_t list;              /* enum slurm_power_list                                            */
};

struct slurm_power {
    const struct slurm_spec *spec;  /* borrowed                                                 */
    struct slurm_power_node *nodes; /* [node_count]; NULL = SuspendTime is never: all nodes are up     */
    uint32_t node_count, first[LISTS], last[LISTS];
};

/* All nodes are up and idle since time 0. Memory in the arena. */
bool slurm_power_init(struct slurm_power *power, const struct slurm_spec *spec, uint32_t node_count,
                      struct arena *arena);

/* A node has work, or is out of service, from now on; or has none. Twice in a row is allowed, and so is either for a
 * node that goes down or is down: it changes nothing. */
void slurm_power_busy(struct slurm_power *power, uint32_t node);
void slurm_power_idle(struct slurm_power *power, uint32_t node, int64_t now_ns);

/* The next node that has been idle for SuspendTime: it goes down now. POWER_NONE = none. */
uint32_t slurm_power_next_down(struct slurm_power *power, int64_t now_ns);

/* When slurm_power_next_down will have one; TIME_NEVER = none without further events. */
int64_t slurm_power_wake_ns(const struct slurm_power *power);

enum slurm_power_state slurm_power_state(const struct slurm_power *power, uint32_t node,
                                         int64_t now_ns);

/* From when on a job that is given this node now could use it: now for a node that is up. A node that goes down counts
 * as not to be had (TIME_NEVER). */
int64_t slurm_power_ready_ns(const struct slurm_power *power, uint32_t node, int64_t now_ns);

/* A job is given the node, which starts to come up if it is down. Returns when it is up. */
int64_t slurm_power_raise(struct slurm_power *power, uint32_t node, int64_t now_ns);

/* The next node that was going down and is down now: it can be had again. POWER_NONE = none. */
uint32_t slurm_power_next_asleep(struct slurm_power *power, int64_t now_ns);

/* When slurm_power_next_asleep will have one; TIME_NEVER = none. */
int64_t slurm_power_asleep_ns(const struct slurm_power *power);

#endif
