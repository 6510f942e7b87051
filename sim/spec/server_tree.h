/* server_tree.h - what hangs where inside a server: sockets, PCIe switches, GPUs, NICs, NVLinks (MODELS 1.1 to 1.4).
 *
 * A device's spot is four numbers, from near to far. Two devices with the same `lower` hang on one PCIe switch, with the
 * same `upper` on one tree of switches, with the same `bridge` on one host bridge, with the same `socket` on one socket.
 * What hangs alone on a root port has switches of its own. */
#ifndef GPUPLAN_SPEC_SERVER_TREE_H
#define GPUPLAN_SPEC_SERVER_TREE_H

#include "base/limits.h"

#include <stdbool.h>
#include <stdint.h>

enum { LIMIT_TREE_NICS = 64, LIMIT_TREE_DEVICES = LIMIT_GPUS_PER_SERVER + LIMIT_TREE_NICS };

/* Best first (MODELS 1.3). What nvidia-smi calls NODE, two host bridges of one socket, is PHB here. */
enum link_class {
    LINK_LOC, /* the same GPU                                */
    LINK_NVL, /* NVLink                                      */
    LINK_C2C, /* the chip-to-chip link of GPU and CPU         */
    LINK_PIX, /* one PCIe switch                             */
    LINK_PXB, /* several PCIe switches, no root complex       */
    LINK_PHB, /* the root complex of a socket                */
    LINK_SYS, /* the link between sockets                    */
    LINK_NET, /* NICs                                        */
    LINK_CLASSES
};
extern const char *const link_class_names[LINK_CLASSES];

struct tree_spot {
    uint8_t lower, upper, bridge, socket; /* numbers of the server, each from 0                          */
};

struct server_tree {
    uint32_t gpus, nics, sockets; /* nics: at most LIMIT_TREE_NICS; NIC n beyond is where NIC n mod nics is */
    bool c2c;                     /* GPUs and NICs of a socket meet over the chip-to-chip link          */
    bool nvswitch;                /* any two GPUs by NVLink switches: `nvlinks` are of the GPU           */
    struct tree_spot gpu[LIMIT_GPUS_PER_SERVER], nic[LIMIT_TREE_NICS];
    uint8_t nvlinks[LIMIT_GPUS_PER_SERVER][LIMIT_GPUS_PER_SERVER]; /* between two GPUs; symmetric        */
};

/* The plain tree: `switches` PCIe switches spread evenly over the sockets, GPUs and NICs in order evenly over the
 * switches; 0 switches: evenly over the sockets, each device on a root port of its own. No NVLink. All >= 1 but
 * switches and gpus. */
void tree_plain(struct server_tree *tree, uint32_t gpus, uint32_t nics, uint32_t sockets,
                uint32_t switches);

/* A tree as text, one for each socket: "(GPU0 GPU1 NIC0) ((GPU2 NIC1) (GPU3 NIC2)) GPU4". Round brackets are a PCIe
 * switch, which may hold further ones; what stands outside hangs on a root port. Every GPU and NIC stands once. False with
 * *at, an offset into texts[*text], and *why (at most why_bytes) after a problem. */
bool tree_parse(struct server_tree *tree, uint32_t gpus, uint32_t nics, const char *const *texts,
                uint32_t text_count, uint32_t *text, uint32_t *at, char *why, uint32_t why_bytes);

/* What joins the GPUs; `links` of each GPU. False, and nothing set, when it cannot be: *why says it. */
enum nvlink_kind {
    NVLINK_NONE,
    NVLINK_SWITCH,    /* NVSwitches: any two at full rate                           */
    NVLINK_MESH,      /* the links of a GPU shared evenly by all others             */
    NVLINK_PAIRS,     /* bridges: GPU 2i and 2i+1                                   */
    NVLINK_CUBE_MESH, /* eight GPUs of six links, as in a DGX-1                      */
    NVLINK_KINDS
};
extern const char *const nvlink_kind_names[NVLINK_KINDS];
bool tree_nvlinks(struct server_tree *tree, enum nvlink_kind kind, uint32_t links,
                  const char **why);

/* The class of the best path between two GPUs, and between a GPU and a NIC (1.3). */
enum link_class tree_gpu_path(const struct server_tree *tree, uint32_t gpu_a, uint32_t gpu_b);
enum link_class tree_nic_path(const struct server_tree *tree, uint32_t gpu, uint32_t nic);

/* The NIC that a GPU uses (1.4): of the lowest class among the first `nics`, >= 1; of k equally near ones, in order, number
 * (GPU mod k). */
uint32_t tree_nearest_nic(const struct server_tree *tree, uint32_t gpu, uint32_t nics);

#endif
