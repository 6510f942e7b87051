/* collective_words.c - what collective_time calls things, and the bus bandwidth of nccl-tests; see collective_time.h. */
#include "models/collective_time.h"

const char *const collective_op_names[COLLECTIVE_OPS] = {
    [OP_ALL_REDUCE] = "all_reduce",
    [OP_ALL_GATHER] = "all_gather",
    [OP_REDUCE_SCATTER] = "reduce_scatter",
    [OP_ALL_TO_ALL] = "alltoall",
    [OP_BROADCAST] = "broadcast",
    [OP_REDUCE] = "reduce",
    [OP_SEND_RECV] = "sendrecv",
};
const char *const collective_algorithm_names[COLLECTIVE_ALGORITHMS] = {
    [ALGORITHM_RING] = "ring",           [ALGORITHM_TREE] = "tree",
    [ALGORITHM_HIER_RING] = "hier_ring", [ALGORITHM_HIER_TREE] = "hier_tree",
    [ALGORITHM_NVLS] = "nvls",           [ALGORITHM_SHARP] = "sharp",
    [ALGORITHM_DIRECT] = "direct",
};
const char *const collective_protocol_names[COLLECTIVE_PROTOCOLS] = { "ll", "ll128", "simple" };
const char *const collective_bottleneck_names[COLLECTIVE_BOTTLENECKS] = {
    [BOTTLENECK_LATENCY] = "latency",
    [BOTTLENECK_NVLINK] = "nvlink",
    [BOTTLENECK_PCIE] = "pcie",
    [BOTTLENECK_NIC] = "nic",
    [BOTTLENECK_HOST_MEMORY] = "host memory",
    [BOTTLENECK_LEAF] = "leaf",
    [BOTTLENECK_DOMAIN] = "domain",
};

double collective_bus_factor(enum collective_op op, uint32_t gpus)
{
    const double share = (gpus - 1.0) / gpus;
    switch (op) {
    case OP_ALL_REDUCE:
        return 2.0 * share;
    case OP_ALL_GATHER:
    case OP_REDUCE_SCATTER:
    case OP_ALL_TO_ALL:
        return share;
    default:
        return 1.0;
    }
}
