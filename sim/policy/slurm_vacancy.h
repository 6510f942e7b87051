/* slurm_vacancy.h - from when on each node could hold what a job needs of one node, when those who run there have gone.
 *
 * Step 5 of the backfill pass asks the selector again after each window of ends, for each of 500 jobs. Most of these questions
 * can be answered without it: when fewer nodes are ready than the job needs, it does not fit. A node is ready when its
 * free GPUs and cores reach the least that the job takes of one node; that is necessary, not sufficient, so the
 * selector still decides whenever enough are ready.
 *
 * Jobs that need the same of a node share one table. A row is computed again only when the node has changed; nodes in order of
 * their time answer "the k-th of these candidates" by a short walk. At 64 marks along this order stands the set of all nodes
 * before it: how many of some candidates are ready by a time is one count of common bits and a walk to the next mark. The
 * first table of all is that of "any job has gone".
 * Times are seconds of the wall clock; 0 = now. Tests: tests/test_slurm_twin.c (against asking every time) */
#ifndef GPUPLAN_POLICY_SLURM_VACANCY_H
#define GPUPLAN_POLICY_SLURM_VACANCY_H

#include "policy/slurm_need.h"

#include <stdbool.h>
#include <stdint.h>

#define VACANT_NEVER INT64_MAX

enum { VACANCY_MARKS = 64, VACANCY_RECENT = 256 };

struct slurm_vacancy_table {
    uint32_t gpus, cores; /* least of one node; cores UINT32_MAX = the node must be empty              */
    uint64_t kinds;
    int64_t *ready_s;     /* [nodes]                                                             */
    uint32_t *version;    /* [nodes] of the node when its row was computed                          */
    uint32_t *order;      /* [nodes] by (ready_s, row)                                             */
    int64_t mark_s[VACANCY_MARKS]; /* ready_s of the node at the mark; behind the last node: never            */
    uint64_t *before;     /* [VACANCY_MARKS * words] nodes that stand before the mark                      */
    uint32_t changes;     /* of the nodes when order was made                                       */
};

struct slurm_vacancy {
    struct slurm_vacancy_table *tables; /* [table_count]                                            */
    uint32_t table_count, table_capacity, nodes, words;
    uint32_t stride; /* nodes from mark to mark                                                   */
    uint32_t *node_version; /* [nodes] one more with each change of the node                           */
    uint32_t changes;       /* one more with each change of any node                                  */
    uint32_t recent[VACANCY_RECENT]; /* node of change c at c % VACANCY_RECENT                            */
    uint64_t *keys;         /* [nodes]                                                            */
    uint32_t *spare;        /* [nodes]                                                            */
};

bool slurm_vacancy_init(struct slurm_vacancy *ready, uint32_t nodes);
void slurm_vacancy_clear(struct slurm_vacancy *ready);

static inline void slurm_vacancy_changed(struct slurm_vacancy *ready, uint32_t node)
{
    ready->node_version[node]++;
    ready->recent[ready->changes++ % VACANCY_RECENT] = node;
}

/* The row of the table for a need, or VACANT_NONE when memory is out. */
#define VACANT_NONE UINT32_MAX
uint32_t slurm_vacancy_table_of(struct slurm_vacancy *ready, const struct slurm_need *need);

struct slurm;
struct policy_view;

/* When the count-th of the nodes of a set is ready; VACANT_NEVER = never. */
int64_t slurm_vacancy_at(struct slurm *slurm, const struct policy_view *view, uint32_t table,
                       const uint64_t *nodes, uint32_t count);

/* How many of the nodes of a set are ready by until_s, which is not VACANT_NEVER; `most` or more when there are so many. */
uint32_t slurm_vacancy_count(struct slurm *slurm, const struct policy_view *view, uint32_t table,
                             const uint64_t *nodes, int64_t until_s, uint32_t most);

/* Whether every node of the set is ready one day. */
bool slurm_vacancy_all(struct slurm *slurm, const struct policy_view *view, uint32_t table,
                       const uint64_t *nodes);

/* Which of them; ready[words] may not be the same set. */
void slurm_vacancy_ready(struct slurm *slurm, const struct policy_view *view, uint32_t table,
                         const uint64_t *nodes, int64_t until_s, uint64_t *ready);

/* When the first job on a node of the set ends; VACANT_NEVER = none runs there. */
int64_t slurm_vacancy_first_end(struct slurm *slurm, const struct policy_view *view,
                                const uint64_t *nodes);

#endif
