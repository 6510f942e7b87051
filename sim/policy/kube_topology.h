/* kube_topology.h - how Kueue spreads the pods of one request over domains (SCHEDULING 3.5).
 *
 * A tree of levels, outermost first (block, rack, host); the leaves have free places for pods, the sums go
 * upwards. Domains of a level are numbered in the order of their names, so the lowest number is the first by
 * name. Source: Kueue's topology-aware scheduling, best fit; `unconstrained` fills the fullest hosts first.
 * Tests: tests/test_kube_topology.c */
#ifndef GPUPLAN_POLICY_KUBE_TOPOLOGY_H
#define GPUPLAN_POLICY_KUBE_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

enum { TOPOLOGY_LEVELS = 8 };
enum topology_mode { TOPOLOGY_REQUIRED, TOPOLOGY_PREFERRED, TOPOLOGY_UNCONSTRAINED };

struct topology_tree {
    uint32_t level_count;
    uint32_t domains[TOPOLOGY_LEVELS];       /* of each level; the last are hosts               */
    const uint32_t *parent[TOPOLOGY_LEVELS]; /* [domains] of each level but the first            */
    uint32_t *free[TOPOLOGY_LEVELS];         /* [domains] places; topology_sum fills all but the last */
    uint32_t *rows, *chosen, *spare;         /* scratch, [domains of the last level] each         */
    uint64_t *key;                           /* scratch, the same                               */
};

/* Adds the leaves' free places up. */
void topology_sum(struct topology_tree *tree);

/* Places `count` pods; assigned[hosts] gets how many go where. level is where one domain is asked for; it is not read
 * for unconstrained. False: not admitted, assigned[] is all 0. */
bool topology_assign(struct topology_tree *tree, uint32_t count, enum topology_mode mode,
                     uint32_t level, uint32_t *assigned);

#endif
