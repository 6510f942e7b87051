/* hardware.h - what a layout is built of, in SI units, resolved from the catalog. */
#ifndef GPUPLAN_SPEC_HARDWARE_H
#define GPUPLAN_SPEC_HARDWARE_H

#include "base/limits.h"
#include "spec/fabric.h"
#include "spec/server_tree.h"

#include <stdbool.h>
#include <stdint.h>

/* How well a number is known; the catalog says it for each. */
enum mark { MARK_CONFIRMED, MARK_DERIVED, MARK_MEMORY, MARK_ASSUMED, MARK_HYPOTHETICAL };

/* t = latency + bytes/rate, of one protocol; rate 0 = none. */
struct fit_line {
    double latency_s, bytes_per_s;
};

/* Collectives measured on a server type, beyond what its scaleup and hop say; all 0 = none were. */
struct server_fit {
    char id[LIMIT_NAME_BYTES];
    uint32_t gpus;                   /* of the group that the lines were measured on; 0 = no fit        */
    double scaleup_bytes_per_s, scaleup_hop_s; /* of the server measured: others are scaled           */
    double nics_bytes_per_s;         /* of all its NICs together                                       */
    struct fit_line all_reduce[3], all_gather[3], all_to_all[3], nvls[3]; /* slowest protocol first    */
    double ring_bytes_per_s[LIMIT_GPUS_PER_SERVER + 1]; /* [g] of a ring through g GPUs; 0 = scaleup    */
    uint32_t domain_servers;         /* servers of one NVLink domain; 0 or 1 = each its own            */
    double domain_bytes_per_s;       /* between domains; 0 = what the NICs carry                       */
    char over[LIMIT_NAME_BYTES];     /* link that was measured between servers; "" = none of the catalog */
    double over_hop_s, over_tree_hop_s; /* of that link, as the catalog has it                          */
    double network_hop_s, tree_hop_s; /* of the network measured; 0 = the default, no trees             */
    struct fit_line tree_small, two_servers;
    bool sharp;
    double staged_bytes_per_s;       /* a GPU alone on its server, without GPUDirect; 0 = not measured  */
};

/* A chassis: sockets, memory, GPUs, NICs. What fails, draws power and costs money. */
struct server_type {
    char id[LIMIT_NAME_BYTES];
    char gpu[LIMIT_NAME_BYTES];      /* id of its GPU model                                            */
    uint32_t gpus;                   /* 1 .. LIMIT_GPUS_PER_SERVER                                     */
    uint32_t nics;                   /* compute NICs; >= 1                                             */
    double nic_bytes_per_s;          /* effective, one direction, each NIC                             */
    double scaleup_bytes_per_s;      /* bus bandwidth of a ring inside the server, per GPU and direction */
    double gpu_pcie_bytes_per_s;     /* effective, one direction, per GPU: caps what a GPU can send    */
    double host_memory_bytes_per_s;  /* crossed twice by traffic without GPUDirect                     */
    double scaleup_hop_s;            /* a_i: start-up cost of one step inside the server               */
    bool gpudirect;
    uint32_t cores;                  /* CPU cores a job can ask for                                    */
    uint64_t memory_bytes;
    double idle_w, max_w;            /* at the wall; 0 = not stated                                    */
    double price_usd;                /* 0 = not stated                                                 */
    enum mark mark;                  /* MARK_HYPOTHETICAL: nobody sells it, a re-cut of one that exists */
    char source[256];
    struct server_fit fit;           /* its collectives as measured                                    */
    bool ring_from_links;            /* scaleup_bytes_per_s is not stated: what its links give a ring   */

    /* ---- inside: what hangs where, and rates of the parts, effective, one direction (MODELS 1.3) ---- */
    struct server_tree tree;
    uint32_t sockets, pcie_switches; /* of the plain tree; the tree itself says what is                  */
    uint32_t nvlinks;                /* of one GPU; 1 where only their sum is known                      */
    double nvlink_bytes_per_s;       /* one of them                                                    */
    double uplink_bytes_per_s;       /* a PCIe switch to its socket                                     */
    double socket_link_bytes_per_s;  /* between sockets                                                */
    double c2c_bytes_per_s;          /* GPU to CPU, chip to chip; 0 = there is none                       */
    enum link_class p2p_max, gdr_max; /* farthest class with peer access of GPUs, with GPUDirect of NICs  */
    uint32_t domain_servers;         /* servers in a row whose GPUs are one NVLink domain; 1 = each alone */
};

/* What of a GPU model a training step is calculated with. */
struct gpu_type {
    double memory_bytes, memory_bytes_per_s;
    double peak_tflops;              /* dense, bf16, else fp16                                         */
};

/* How the GPUs of a group are shared out. */
enum sharing {
    SHARING_NONE,
    SHARING_SHARD,      /* Slurm: so many shards a GPU                                              */
    SHARING_TIME_SLICE, /* Kubernetes: so many replicas a GPU, nothing reserved                      */
    SHARING_MPS,        /* the same with memory split evenly                                        */
    SHARING_MIG_SINGLE, /* one profile on all GPUs, still called nvidia.com/gpu                      */
    SHARING_MIG_MIXED,  /* instances by name, made where they fit                                    */
    SHARING_SHARE,      /* thousandths of a GPU, as in Alibaba's openb                               */
};

/* One of the parts that a GPU is cut into: a MIG instance, a replica of a time-sliced one, a shard. */
struct gpu_cut {
    char profile[24];                /* "2g.10gb"; "" where all parts are alike                        */
    uint32_t units;                  /* of 1,008,000                                                   */
    uint8_t slice_first, slice_count; /* memory slices; count 0 = any part is as good as another        */
};

/* What virtual machines that share a server lose of it (MODELS 1.7). */
enum vm_nvlink {
    VM_NVLINK_KEPT,  /* as the server has it                                      */
    VM_NVLINK_SPLIT, /* links between GPUs of one machine only                     */
    VM_NVLINK_OFF,
};
struct vm_rules {
    enum vm_nvlink nvlink;
    bool shared_nvlink;      /* the machines of a server are one NVLink domain; else they talk over NICs   */
    enum link_class p2p_max; /* of PCIe: farther paths are copied through host memory                     */
    double compute_overhead_frac; /* more time for the same computation                                */
    double staged_overhead_frac;  /* more time for what crosses host memory                            */
};

/* Servers of one kind in a layout, and what a scheduler knows about their nodes. */
struct server_group {
    char name[LIMIT_NAME_BYTES];     /* what an autoscaler calls it; "" = none                          */
    struct server_type server;       /* gpus may be 0 here: nodes with cores only                       */
    uint32_t count;                  /* servers                                                        */
    uint32_t nodes_per_server;       /* passthrough VMs; 1 = the server is the node                     */
    struct vm_rules vm;              /* of these; unused with one                                       */
    char names[LIMIT_TARGET_BYTES];  /* host list, as n[00-15]; "" = NAME-0, NAME-1, ... of the layout   */
    char features[LIMIT_TARGET_BYTES]; /* by commas                                                    */
    char labels[LIMIT_TARGET_BYTES]; /* key=value, by commas                                           */
    char taints[LIMIT_TARGET_BYTES]; /* key=value:effect, by commas                                    */
    char gpu_type[LIMIT_NAME_BYTES]; /* as Slurm's Gres type or openb's model; "" = server.gpu          */
    uint32_t weight;                 /* Slurm: lower first; 1                                          */
    uint32_t sockets;                /* cores are split evenly over them; 2                            */
    enum sharing sharing;
    uint32_t shares_per_gpu;         /* shards or replicas                                             */
    char mig[LIMIT_TARGET_BYTES];    /* profile of SHARING_MIG_SINGLE; those of one GPU of SHARING_MIG_MIXED, by commas */
    struct gpu_cut cuts[LIMIT_GPU_CUTS]; /* [cut_count] of each GPU, of the MIG kinds                  */
    uint32_t cut_count;
    int16_t link_score[32][32];      /* pair scores of GPUs; all 0 = not said (Links= of gres.conf)     */
    uint32_t core_first[32], core_last[32]; /* Cores= of each GPU; both 0 = not said                    */
};

/* A link generation and the switch it is built with. */
struct link_type {
    char id[LIMIT_NAME_BYTES];
    char like[LIMIT_NAME_BYTES];     /* entry of the catalog that it is, or is like; "" = none          */
    double bytes_per_s;              /* effective payload, one direction, per port                     */
    double hop_s;                    /* a_e: start-up cost of one collective step across the network   */
    double tree_hop_s;               /* of one level of a tree of servers; 0 = no trees                */
    bool sharp;                      /* its switches sum                                               */
    double switch_s;                 /* t_sw: through one switch; hop_s and tree_hop_s are over one     */
    uint32_t switch_ports;           /* radix                                                          */
    enum mark mark;
    char source[256];
};

/* The keys of a fabric that a plan may have to refuse, and where they stand in the scenario's text; width 0: not written
 * there. */
enum fabric_key {
    FABRIC_KEY_TYPE,
    FABRIC_KEY_LINK,
    FABRIC_KEY_NICS,
    FABRIC_KEY_OVERSUBSCRIPTION,
    FABRIC_KEY_RAILS,
    FABRIC_KEY_GROUPS,
    FABRIC_KEY_GLOBAL_LINKS,
    FABRIC_KEYS
};
extern const char *const fabric_key_names[FABRIC_KEYS];

struct text_span {
    uint64_t offset, width;
};

struct fabric {
    enum fabric_kind kind;
    struct link_type link;
    bool sharp;                      /* written in the layout: jobs let the switches of its link sum       */
    uint32_t nics_per_server;        /* nics_per_gpu * gpus, whole                                     */
    double nics_per_gpu;
    double oversubscription;         /* down : up at the leaf; 1 = non-blocking                        */
    uint32_t rails;                  /* of rail kinds; 0 = one for each NIC of a server                */
    uint32_t groups, global_links;   /* of a dragonfly; 0 = as few as hold the leaves, as many as fit  */
    enum routing routing;
    uint32_t queue_pairs;            /* of each NIC of a job: flows that are hashed by themselves; >= 1 */
    struct text_span at[FABRIC_KEYS];
};

#endif
