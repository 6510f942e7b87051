/* nccl.h - the all-reduce time that NCCL itself predicts, and the algorithm it would pick (MODELS 2.9).
 *
 * NCCL runs the algorithm and protocol of the smallest predicted time, so these numbers say what a
 * cluster will choose; as times they are NCCL's own estimates, tuned for choosing, not for accuracy.
 * With b = channels * bandwidth of a channel, r ranks, m nodes, ppn = r/m:
 *
 *     ring  bus: LL min(llmax, b/2);  LL128 min(0.92 b, channels R128);  Simple b
 *           algbw = bus r/(2 (r - 1))
 *           latency = base + (2 (r - 1) - 2 (m - 1)) l_i + 2 (m - 1) l_e
 *     tree  c = min(0.92 b, channels T)
 *           bus: LL min(c/3.8, llmax);  LL128 min(c (m = 1 ? 7/9 : 120/128), channels T128);  Simple c
 *           algbw = bus/2, times a correction by protocol and size
 *           latency = base + 2 ((ppn - 1) l_i + floor(log2 m) l_e)
 *     t = latency + S/algbw
 *
 * l_e = network + nic_latency_s, once more for Simple. A ring between nodes waits at least for the
 * network's start-up on each inner step; its latency under Simple grows by 1.4 once each rank and
 * channel has 64 bytes.
 *
 * Leaves out: collectives other than all-reduce, CollNet and NVLS, GPUs before Ampere, mixed nodes.
 * Constants: NCCL tuning.cc (Apache-2.0), as MODELS 2.9 lists them.
 * Pure functions of SI quantities; arguments outside the ranges are caller bugs (asserted).
 * Tests: tests/test_nccl.c, tests/cases/models/nccl.csv. */
#ifndef GPUPLAN_MODELS_NCCL_H
#define GPUPLAN_MODELS_NCCL_H

#include <stdint.h>

enum nccl_algorithm { NCCL_TREE, NCCL_RING, NCCL_ALGORITHMS };
enum nccl_protocol { NCCL_LL, NCCL_LL128, NCCL_SIMPLE, NCCL_PROTOCOLS };
enum nccl_arch { NCCL_AMPERE, NCCL_HOPPER, NCCL_ARCHS };
enum nccl_cpu { NCCL_INTEL, NCCL_AMD, NCCL_CPUS };
enum nccl_link { NCCL_NVLINK, NCCL_PCIE, NCCL_LINKS };

extern const char *const nccl_algorithm_names[NCCL_ALGORITHMS]; /* "tree", "ring"           */
extern const char *const nccl_protocol_names[NCCL_PROTOCOLS];   /* "ll", "ll128", "simple"  */

/* What NCCL sees of the GPUs of one job. */
struct nccl_group {
    enum nccl_arch arch;
    enum nccl_cpu cpu;          /* vendor of the hosts                                     */
    enum nccl_link intra;       /* between the GPUs of a node                              */
    uint32_t nodes;             /* m >= 1                                                  */
    uint32_t ranks;             /* r >= 2, a multiple of m                                 */
    uint32_t channels;          /* >= 1                                                    */
    double intra_bytes_per_s;   /* of a channel inside a node: read for m <= 2; > 0 then   */
    double network_bytes_per_s; /* of a channel between nodes: read for m > 2; > 0 then    */
    double nic_latency_s;       /* that the network's search reports; >= 0, often 0        */
};

struct nccl_time {
    double total_s, latency_s;
    double algorithm_bytes_per_s; /* S/(total - latency) */
};

/* Predicted time of one algorithm and protocol; 0 <= size_bytes < 2^63. */
struct nccl_time nccl_allreduce(const struct nccl_group *group, enum nccl_algorithm algorithm,
                                enum nccl_protocol protocol, double size_bytes);

/* The pair of the smallest time. Ties go to the first of: tree LL, LL128, Simple, ring LL, ... */
struct nccl_choice {
    enum nccl_algorithm algorithm;
    enum nccl_protocol protocol;
    struct nccl_time time;
};
struct nccl_choice nccl_best(const struct nccl_group *group, double size_bytes);

#endif
