/* slurm_select.h - select/cons_tres: where a job goes, as a function of a picture of what is free.
 *
 * The node choice of Slurm (SCHEDULING 2.1, 2.4 to 2.6, 2.10): one-node rule, consecutive sets, least loaded, spread,
 * busy nodes first, serial jobs at the end, switches, blocks; then how the tasks, cores and GPUs are spread over the
 * chosen nodes and which GPUs they are. Three releases differ, slurm.compat says which. Nothing is changed; the same
 * arguments give the same answer.
 *
 * Two things that are not in the manual and that recordings show. A node's rank is its weight, then whether a job is
 * still ending there, then how many of the wanted GPUs it has free, more first: with --gpus=g this is what makes the
 * fewest nodes. And the `avail` that the algorithms compare is what the job could use of the node: its tasks' cores
 * where tasks are said and GPUs asked for, else all free ones.
 *
 * Leaves out: hyperthreads, --contiguous, --ntasks-per-socket, feature counts, dragonfly, licences. */
#ifndef GPUPLAN_POLICY_SLURM_SELECT_H
#define GPUPLAN_POLICY_SLURM_SELECT_H

#include "policy/slurm_need.h"
#include "policy/slurm_nodes.h"
#include "policy/slurm_picture.h"

enum slurm_answer {
    SLURM_PLACED,
    SLURM_NOT_NOW,
    SLURM_TOPOLOGY, /* enough nodes, but not under one switch or in one block                      */
    SLURM_SWITCHES, /* --switches: the best place uses more of them, and the wait is not over       */
    SLURM_NEVER,
};

struct slurm_how {
    const uint64_t *candidates; /* [words] nodes that the caller allows, of the partition or fewer    */
    int64_t waited_ns;          /* for --switches                                                 */
    bool backfill;              /* nodes where a job is ending may be used, after others; bf_busy_nodes */
    bool future;                /* when running jobs will have gone: no job is ending anywhere      */
    bool nodes_only;            /* slurm_chosen is enough; only where their cores and GPUs always come out     */
};

/* Memory of the selector, and its answer. */
struct slurm_chooser;
struct slurm_chooser *slurm_chooser_create(const struct slurm_nodes *nodes); /* NULL: memory is out */
void slurm_chooser_destroy(struct slurm_chooser *chooser);

/* The place of the last SLURM_PLACED, in order of nodes; whole GPUs by mask, shards by share_units, cores and
 * memory in full. Borrowed until the next call. */
const struct part *slurm_parts(const struct slurm_chooser *chooser, uint32_t *count);

/* The same as a set of nodes. */
const uint64_t *slurm_chosen(const struct slurm_chooser *chooser);

enum slurm_answer slurm_select(struct slurm_chooser *chooser, const struct slurm_picture *picture,
                               const struct slurm_need *need, const struct slurm_how *how);

/* Whether the nodes of the partition, all up and empty, could hold it: false is "Requested node configuration is
 * not available". Nodes that are down count as up. */
bool slurm_feasible_ever(struct slurm_chooser *chooser, const struct slurm_need *need);

#endif
