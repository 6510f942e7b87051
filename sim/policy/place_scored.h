/* place_scored.h - where a job that fits would go, by scores of all nodes: best_fit, dot_product, clustering, packing,
 * fgd, random; and, under any placement, jobs that ask for what the free index does not know (a part of a GPU, cores
 * without GPUs, a type of GPU, thousandths of a core).
 *
 *   one node       the best score of score.h; random: any node that fits, all alike likely
 *   several nodes  the best node for each part in turn, the largest part first; no node twice
 *   pack, spread   the node with the fewest, the most free GPU thousandths
 *
 * Equal scores: the first in an order of the nodes drawn once a replica, as in the published comparison; with pack and
 * spread the lowest node. The GPU for a share: the tightest that has room; spread: the emptiest; random: any; fgd: the
 * one that its score was best on. For fgd the expected jobs are the trace's own: the most frequent kinds that
 * make up 95 % of its jobs.
 *
 * Nodes are kept by equal state (node_states.h), so a search costs the number of states, not of nodes. */
#ifndef GPUPLAN_POLICY_PLACE_SCORED_H
#define GPUPLAN_POLICY_PLACE_SCORED_H

#include "cluster/cluster.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stdint.h>

struct scorer;

/* Whether jobs of these classes are placed by scores; the cluster must be watched then. */
bool scorer_wanted(enum placement placement, const struct demand *demands, uint32_t class_count);

/* Looks at the view's cluster, demands, requests, jobs, placement and key; NULL when memory is out. */
struct scorer *scorer_create(const struct policy_view *view);
/* From now on only nodes first_node to end_node - 1 are looked at: those of one team. */
void scorer_limit(struct scorer *scorer, uint32_t first_node, uint32_t end_node);
void scorer_destroy(struct scorer *scorer); /* NULL is allowed */

/* Fills parts[] (at least demand->nodes long) and returns their number; 0: no place now. */
uint32_t scorer_place(struct scorer *scorer, const struct cluster *cluster,
                      const struct demand *demand, struct part *parts);

/* Memory was out: what scorer_place said since then is not to be trusted. */
bool scorer_failed(const struct scorer *scorer);

#endif
