/* server_tree.c - see server_tree.h. */
#include "spec/server_tree.h"

#include <string.h>

const char *const link_class_names[LINK_CLASSES] = { "LOC", "NVL", "C2C", "PIX",
                                                     "PXB", "PHB", "SYS", "NET" };
const char *const nvlink_kind_names[NVLINK_KINDS] = { "none", "switch", "mesh", "pairs",
                                                      "cube-mesh" };

/* ---- the plain tree ---- */

static struct tree_spot plain_spot(uint32_t i, uint32_t count, uint32_t sockets, uint32_t switches,
                                   uint32_t own)
{
    const uint32_t port = switches ? i * switches / count : own;
    const uint32_t socket = switches ? port * sockets / switches : i * sockets / count;
    return (struct tree_spot){ .lower = (uint8_t)port,
                               .upper = (uint8_t)port,
                               .bridge = (uint8_t)socket,
                               .socket = (uint8_t)socket };
}

void tree_plain(struct server_tree *tree, uint32_t gpus, uint32_t nics, uint32_t sockets,
                uint32_t switches)
{
    if (nics > LIMIT_TREE_NICS) nics = LIMIT_TREE_NICS;
    *tree = (struct server_tree){ .gpus = gpus, .nics = nics, .sockets = sockets };
    for (uint32_t i = 0; i < gpus; i++) tree->gpu[i] = plain_spot(i, gpus, sockets, switches, i);
    for (uint32_t i = 0; i < nics; i++)
        tree->nic[i] = plain_spot(i, nics, sockets, switches, gpus + i);
}

/* ---- NVLinks ---- */

/* The six links of each GPU of a DGX-1 with V100: two quads, each fully joined, and GPU i to GPU i + 4. */
static const uint8_t cube_mesh[8][8] = {
    { 0, 1, 1, 2, 2, 0, 0, 0 }, { 1, 0, 2, 1, 0, 2, 0, 0 }, { 1, 2, 0, 2, 0, 0, 1, 0 },
    { 2, 1, 2, 0, 0, 0, 0, 1 }, { 2, 0, 0, 0, 0, 1, 1, 2 }, { 0, 2, 0, 0, 1, 0, 2, 1 },
    { 0, 0, 1, 0, 1, 2, 0, 2 }, { 0, 0, 0, 1, 2, 1, 2, 0 },
};

static uint32_t links_between(enum nvlink_kind kind, uint32_t gpus, uint32_t links, uint32_t a,
                              uint32_t b)
{
    switch (kind) {
    case NVLINK_SWITCH:
        return links;
    case NVLINK_MESH:
        return links / (gpus - 1);
    case NVLINK_PAIRS:
        return a / 2 == b / 2 ? links : 0;
    case NVLINK_CUBE_MESH:
        return cube_mesh[a][b];
    default:
        return 0;
    }
}

bool tree_nvlinks(struct server_tree *tree, enum nvlink_kind kind, uint32_t links, const char **why)
{
    const uint32_t gpus = tree->gpus;
    *why = NULL;
    if (kind == NVLINK_MESH && gpus > 1 && links % (gpus - 1))
        *why = "a mesh needs as many links of a GPU as can be shared evenly by all other GPUs";
    if (kind == NVLINK_PAIRS && gpus % 2) *why = "pairs need an even number of GPUs";
    if (kind == NVLINK_CUBE_MESH && (gpus != 8 || links != 6))
        *why = "the cube mesh is of 8 GPUs with nvlink_links: 6";
    if (*why) return false;
    tree->nvswitch = kind == NVLINK_SWITCH;
    for (uint32_t a = 0; a < gpus; a++)
        for (uint32_t b = 0; b < gpus; b++)
            tree->nvlinks[a][b] = a == b ? 0 : (uint8_t)links_between(kind, gpus, links, a, b);
    return true;
}

/* ---- paths ---- */

static enum link_class spots_path(const struct server_tree *tree, struct tree_spot a,
                                  struct tree_spot b)
{
    if (tree->c2c && a.socket == b.socket) return LINK_C2C;
    if (a.lower == b.lower) return LINK_PIX;
    if (a.upper == b.upper) return LINK_PXB;
    return a.socket == b.socket ? LINK_PHB : LINK_SYS;
}

enum link_class tree_gpu_path(const struct server_tree *tree, uint32_t gpu_a, uint32_t gpu_b)
{
    if (gpu_a == gpu_b) return LINK_LOC;
    if (tree->nvlinks[gpu_a][gpu_b] > 0) return LINK_NVL;
    return spots_path(tree, tree->gpu[gpu_a], tree->gpu[gpu_b]);
}

enum link_class tree_nic_path(const struct server_tree *tree, uint32_t gpu, uint32_t nic)
{
    return spots_path(tree, tree->gpu[gpu], tree->nic[tree->nics ? nic % tree->nics : 0]);
}

uint32_t tree_nearest_nic(const struct server_tree *tree, uint32_t gpu, uint32_t nics)
{
    enum link_class best = LINK_CLASSES;
    uint32_t near = 0;
    for (uint32_t nic = 0; nic < nics; nic++) {
        const enum link_class path = tree_nic_path(tree, gpu, nic);
        if (path < best) near = 0;
        if (path <= best) {
            best = path;
            near++;
        }
    }
    uint32_t skip = gpu % near;
    for (uint32_t nic = 0; nic < nics; nic++)
        if (tree_nic_path(tree, gpu, nic) == best && skip-- == 0) return nic;
    return 0;
}
