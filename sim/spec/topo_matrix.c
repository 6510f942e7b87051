/* topo_matrix.c - see topo_matrix.h.
 *
 * In a tree the distance of two devices is the level of their lowest common part, and of any three devices the two that
 * are farthest apart are equally far. So a matrix is a tree's when no cell is farther than the worst step of a way over
 * other devices, and where a cell says nothing of PCIe, that worst step is the distance. */
#include "spec/topo_matrix.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const topo_cell_names[TOPO_CELLS] = { "X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS" };

/* NVLinks that one GPU has at most: 18 of generations 4 and 5; and at least where it hangs on switches: 6 of a V100 in a DGX-2. */
enum { LINKS_OF_A_GPU = 18, LINKS_TO_SWITCHES = 6, UNKNOWN = TOPO_CELLS };

/* ---- tree -> matrix ---- */

static struct tree_spot spot_of(const struct server_tree *tree, uint32_t device)
{
    return device < tree->gpus ? tree->gpu[device] : tree->nic[device - tree->gpus];
}

static enum topo_cell cell_of(struct tree_spot a, struct tree_spot b)
{
    if (a.lower == b.lower) return TOPO_PIX;
    if (a.upper == b.upper) return TOPO_PXB;
    if (a.bridge == b.bridge) return TOPO_PHB;
    return a.socket == b.socket ? TOPO_NODE : TOPO_SYS;
}

static void name_devices(struct topo_matrix *matrix)
{
    for (uint32_t i = 0; i < matrix->gpus + matrix->nics; i++)
        snprintf(matrix->name[i], TOPO_NAME_BYTES, "%s%" PRIu32, i < matrix->gpus ? "GPU" : "NIC",
                 i < matrix->gpus ? i : i - matrix->gpus);
}

void matrix_of_tree(const struct server_tree *tree, uint32_t cores, struct topo_matrix *matrix)
{
    memset(matrix, 0, sizeof *matrix);
    matrix->gpus = tree->gpus;
    matrix->nics = tree->nics;
    name_devices(matrix);
    const uint32_t devices = tree->gpus + tree->nics;
    for (uint32_t a = 0; a < devices; a++)
        for (uint32_t b = 0; b < devices; b++) {
            const bool gpus = a < tree->gpus && b < tree->gpus;
            if (a == b)
                matrix->cell[a][b] = TOPO_SELF;
            else if (gpus && tree->nvlinks[a][b] > 0)
                matrix->cell[a][b] = TOPO_NVLINK;
            else
                matrix->cell[a][b] = (uint8_t)cell_of(spot_of(tree, a), spot_of(tree, b));
        }
    for (uint32_t gpu = 0; gpu < tree->gpus; gpu++) {
        const uint32_t socket = tree->gpu[gpu].socket, per_socket = cores / tree->sockets;
        memcpy(matrix->nvlinks[gpu], tree->nvlinks[gpu], sizeof matrix->nvlinks[gpu]);
        snprintf(matrix->numa_affinity[gpu], TOPO_AFFINITY_BYTES, "%" PRIu32, socket);
        if (per_socket > 0)
            snprintf(matrix->cpu_affinity[gpu], TOPO_AFFINITY_BYTES, "%" PRIu32 "-%" PRIu32,
                     socket * per_socket, (socket + 1) * per_socket - 1);
    }
}

/* ---- matrix -> tree ---- */

typedef uint8_t levels[LIMIT_TREE_DEVICES][LIMIT_TREE_DEVICES];

/* Each distance becomes the worst step of the best way. */
static void close_ways(uint32_t devices, levels level)
{
    for (uint32_t via = 0; via < devices; via++)
        for (uint32_t a = 0; a < devices; a++)
            for (uint32_t b = 0; b < devices; b++) {
                const uint8_t worst = level[a][via] > level[via][b] ? level[a][via] : level[via][b];
                if (worst < level[a][b]) level[a][b] = worst;
            }
}

static uint8_t known_level(const struct topo_matrix *matrix, uint32_t a, uint32_t b)
{
    return matrix->cell[a][b] == TOPO_NVLINK ? UNKNOWN : matrix->cell[a][b];
}

/* The first known cell that the closed distances differ from. */
static bool agrees(const struct topo_matrix *matrix, levels level, uint32_t *a, uint32_t *b)
{
    const uint32_t devices = matrix->gpus + matrix->nics;
    for (*a = 0; *a < devices; ++*a)
        for (*b = 0; *b < devices; ++*b)
            if (known_level(matrix, *a, *b) != UNKNOWN &&
                level[*a][*b] != known_level(matrix, *a, *b))
                return false;
    return true;
}

/* A device over which two are nearer than their own cell says. */
static uint32_t nearer_over(uint32_t devices, levels level, uint32_t a, uint32_t b, uint8_t said)
{
    for (uint32_t via = 0; via < devices; via++)
        if (via != a && via != b && level[a][via] < said && level[via][b] < said) return via;
    return a;
}

/* GPUs that nothing else joins: by their NUMA columns, when that contradicts no cell; else sockets apart. */
static void guess_rest(const struct topo_matrix *matrix, levels level)
{
    const uint32_t devices = matrix->gpus + matrix->nics;
    levels guessed;
    uint32_t a, b;
    memcpy(guessed, level, sizeof guessed);
    for (a = 0; a < devices; a++)
        for (b = 0; b < devices; b++) {
            if (guessed[a][b] != UNKNOWN) continue;
            const bool same = a < matrix->gpus && b < matrix->gpus && matrix->numa_affinity[a][0] &&
                              strcmp(matrix->numa_affinity[a], matrix->numa_affinity[b]) == 0;
            guessed[a][b] = same ? TOPO_NODE : TOPO_SYS;
        }
    close_ways(devices, guessed);
    if (agrees(matrix, guessed, &a, &b)) {
        memcpy(level, guessed, sizeof guessed);
        return;
    }
    for (a = 0; a < devices; a++)
        for (b = 0; b < devices; b++)
            if (level[a][b] == UNKNOWN) level[a][b] = TOPO_SYS;
}

/* Numbers the parts that devices of a distance of at most `most` share. */
static void number_parts(uint32_t devices, levels level, uint8_t most,
                         uint8_t part[LIMIT_TREE_DEVICES], uint32_t *count)
{
    *count = 0;
    for (uint32_t a = 0; a < devices; a++) {
        uint32_t first = 0;
        while (level[first][a] > most) first++; /* a itself at the latest */
        part[a] = first < a ? part[first] : (uint8_t)(*count)++;
    }
}

static void take_spots(const struct topo_matrix *matrix, levels level, struct server_tree *tree)
{
    static const uint8_t most[] = { TOPO_PIX, TOPO_PXB, TOPO_PHB, TOPO_NODE };
    uint8_t part[4][LIMIT_TREE_DEVICES];
    const uint32_t devices = matrix->gpus + matrix->nics;
    for (int i = 0; i < 4; i++) number_parts(devices, level, most[i], part[i], &tree->sockets);
    for (uint32_t a = 0; a < devices; a++)
        *(a < tree->gpus ? &tree->gpu[a] : &tree->nic[a - tree->gpus]) =
            (struct tree_spot){ part[0][a], part[1][a], part[2][a], part[3][a] };
}

static bool is_switched(const struct topo_matrix *matrix)
{
    for (uint32_t a = 0; a < matrix->gpus; a++) {
        uint32_t links = 0;
        for (uint32_t b = 0; b < matrix->gpus; b++) {
            if (a != b && matrix->nvlinks[a][b] != matrix->nvlinks[0][1]) return false;
            links += matrix->nvlinks[a][b];
        }
        if (links <= LINKS_OF_A_GPU) return false;
    }
    return matrix->gpus > 1 && matrix->nvlinks[0][1] >= LINKS_TO_SWITCHES;
}

bool tree_of_matrix(const struct topo_matrix *matrix, struct server_tree *tree, uint32_t *a,
                    uint32_t *b, uint32_t *via)
{
    const uint32_t devices = matrix->gpus + matrix->nics;
    levels level;
    memset(tree, 0, sizeof *tree);
    memset(level, UNKNOWN, sizeof level);
    for (uint32_t i = 0; i < devices; i++)
        for (uint32_t j = 0; j < devices; j++) level[i][j] = known_level(matrix, i, j);
    close_ways(devices, level);
    if (!agrees(matrix, level, a, b)) {
        *via = nearer_over(devices, level, *a, *b, matrix->cell[*a][*b]);
        return false;
    }
    guess_rest(matrix, level);
    tree->gpus = matrix->gpus;
    tree->nics = matrix->nics;
    take_spots(matrix, level, tree);
    tree->nvswitch = is_switched(matrix);
    for (uint32_t gpu = 0; gpu < matrix->gpus; gpu++)
        memcpy(tree->nvlinks[gpu], matrix->nvlinks[gpu], sizeof tree->nvlinks[gpu]);
    return true;
}
