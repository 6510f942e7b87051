/* topo_matrix.h - the paths between all devices of a server, as `nvidia-smi topo -m` tabulates them, and the way from a
 * tree to them and back. */
#ifndef GPUPLAN_SPEC_TOPO_MATRIX_H
#define GPUPLAN_SPEC_TOPO_MATRIX_H

#include "spec/server_tree.h"

/* Cells, near to far. */
enum topo_cell {
    TOPO_SELF,
    TOPO_NVLINK,
    TOPO_PIX,
    TOPO_PXB,
    TOPO_PHB,
    TOPO_NODE,
    TOPO_SYS,
    TOPO_CELLS
};
extern const char *const topo_cell_names[TOPO_CELLS]; /* "X", "NV", "PIX", ... */

enum { TOPO_NAME_BYTES = 32, TOPO_AFFINITY_BYTES = 96 };

/* Devices are numbered GPUs first; [gpus + nics] of each array. */
struct topo_matrix {
    uint32_t gpus, nics;
    char name[LIMIT_TREE_DEVICES][TOPO_NAME_BYTES];      /* as the head calls them: GPU0, NIC0, mlx5_0 */
    uint8_t cell[LIMIT_TREE_DEVICES][LIMIT_TREE_DEVICES]; /* enum topo_cell; symmetric                */
    uint8_t nvlinks[LIMIT_GPUS_PER_SERVER][LIMIT_GPUS_PER_SERVER];
    char cpu_affinity[LIMIT_GPUS_PER_SERVER][TOPO_AFFINITY_BYTES];  /* "0-31,64-95"; "" = not said    */
    char numa_affinity[LIMIT_GPUS_PER_SERVER][TOPO_AFFINITY_BYTES]; /* "0"; "" = not said             */
};

/* A tree's matrix. cores: of the server, spread evenly over its sockets; 0 = not said. */
void matrix_of_tree(const struct server_tree *tree, uint32_t cores, struct topo_matrix *matrix);

/* A matrix's tree. A cell of NVLinks hides how two GPUs are joined by PCIe; that follows from their paths to others, and
 * where these say nothing, from the NUMA columns. NVLinks that are more than one GPU has to give each of the others, six or more to
 * each, are taken for NVSwitches; fewer, as the three of Gaudi, for a mesh.
 *
 * False when there is no such tree: *a and *b are the devices of the cell that contradicts others, *via the device over
 * which they are nearer than the cell says. */
bool tree_of_matrix(const struct topo_matrix *matrix, struct server_tree *tree, uint32_t *a,
                    uint32_t *b, uint32_t *via);

#endif
