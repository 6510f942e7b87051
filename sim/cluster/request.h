/* request.h - what jobs ask for, as classes, and what each class means on one layout.
 *
 * Jobs that ask for the same form one class; the waiting jobs, the memo of what does not fit and
 * the causes of free GPUs are kept by class, so their cost follows the number of classes. */
#ifndef GPUPLAN_CLUSTER_REQUEST_H
#define GPUPLAN_CLUSTER_REQUEST_H

#include "base/arena.h"
#include "spec/jobs.h"
#include "spec/plan.h"
#include "spec/scenario.h"

#include <stdbool.h>
#include <stdint.h>

#define ASK_NONE UINT32_MAX

/* One request. All fields decide the class. */
struct request {
    uint32_t gpus;         /* whole GPUs asked for; 0 = cores only, or a part of one GPU         */
    uint32_t nodes;        /* nodes of the recording for shape recorded; 0 = not said           */
    uint32_t cores;        /* CPU cores of the whole job; 0 = none asked                        */
    uint8_t shape;         /* enum shape                                                        */
    uint32_t ask;          /* row in jobs->asks, or ASK_NONE                                    */
    uint32_t share_units;  /* parts of GPUs asked for, all together                             */
    uint64_t memory_bytes; /* host memory of the whole job; 0 = none asked                      */
};

struct request_table {
    struct request *classes; /* [class_count] in order of first appearance in the trace        */
    uint32_t class_count;
    uint32_t *class_of_row; /* [jobs->count]                                                  */
};

/* Builds the classes of a trace in the arena. False: memory is out. */
bool request_table_build(struct request_table *table, const struct jobs *jobs, enum shape shape,
                         struct arena *arena);

/* A request on nodes of g GPUs. It fits when `nodes` nodes have `per_node` GPUs free each (the
 * last ones may take fewer), or, with slack, when the nodes_max emptiest nodes hold `gpus`. */
struct demand {
    uint32_t gpus;  /* asked for: what works                                             */
    uint32_t share_units; /* beside them: parts of GPUs                                   */
    uint32_t held;  /* allocated in the plain shape: whole servers when several           */
    uint32_t nodes; /* in the plain shape                                                */
    uint32_t per_node;
    uint32_t nodes_max; /* with slack, >= nodes                                              */
    bool ever;          /* false: this layout can never hold it                              */
    bool even;          /* as recorded: on `nodes` nodes exactly, as evenly as can be        */
    bool flexible; /* what it is given is what it asked for: --nodes=1-3, --gpus-per-node */
    bool ruled;         /* the policy says itself what its parts take of their hosts        */
    bool hosted;        /* asks for cores or memory: candidates are checked                  */
    uint32_t cores_milli_per_gpu; /* rounded up                                             */
    uint64_t memory_bytes_per_gpu;
    /* What the free index does not know of; plain placement looks at nodes one by one for it (by_part). */
    bool by_part;
    uint32_t share_milli;        /* of one GPU: the job is one part, gpus is 0                        */
    uint32_t part_cores_milli;   /* of each part, beside those per GPU                               */
    uint64_t part_memory_bytes;
    uint64_t groups;             /* bit g: nodes of group g of the layout may take it                */
};

struct demand demand_of(const struct request *request, uint32_t gpus_per_node, uint32_t nodes,
                        uint32_t cores_per_node, uint64_t memory_bytes_per_node, uint32_t slack);

/* What a request means on a layout of a plan. Schedulers that place by their own rules (Slurm, Kubernetes)
 * look at hosts themselves, and judge themselves what can never run when it is asked for in their words. */
struct demand demand_on(const struct scenario *scenario, const struct variant *variant,
                        const struct jobs *jobs, const struct request *request);

/* The request of a row of the trace. */
struct request request_of_row(const struct jobs *jobs, uint32_t row, enum shape shape);

/* Whether pieces will do when the plain shape does not fit: with slack, and where it is not rounded up, as
 * its last node may have fewer GPUs free than the others. */
static inline bool demand_may_scatter(const struct demand *demand)
{
    return demand->nodes_max > demand->nodes ||
           (!demand->even && demand->held < demand->nodes * demand->per_node);
}

/* Whether nodes of which with_free[f] have exactly f GPUs free hold the demand, hosts left aside.
 * with_free[gpus_per_node + 1]. */
bool demand_fits(const struct demand *demand, const uint32_t *with_free, uint32_t gpus_per_node);

#endif
