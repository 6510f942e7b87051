/* test_server_tree.c - spec/server_tree and spec/topo_matrix: paths, nearest NICs and NVLinks by hand (MODELS 1.3, 1.4). */
#include "spec/topo_matrix.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <string.h>

/* The table of a server as `nvidia-smi topo -m` has it: PCIe classes and NVLinks of GPUs 0 to 7. The DGX-1 with V100 as its vendor
 * draws it: NVLinks between GPUs of one quad, two to the neighbours and the twin. */
static void cube_mesh_of_a_dgx1(void **state)
{
    (void)state;
    static const char *const want[8] = {
        "0 1 1 2 2 0 0 0", "1 0 2 1 0 2 0 0", "1 2 0 2 0 0 1 0", "2 1 2 0 0 0 0 1",
        "2 0 0 0 0 1 1 2", "0 2 0 0 1 0 2 1", "0 0 1 0 1 2 0 2", "0 0 0 1 2 1 2 0",
    };
    struct server_tree tree;
    const char *why;
    tree_plain(&tree, 8, 4, 2, 4);
    assert_true(tree_nvlinks(&tree, NVLINK_CUBE_MESH, 6, &why));
    for (uint32_t a = 0; a < 8; a++) {
        uint32_t links = 0;
        for (uint32_t b = 0; b < 8; b++) {
            assert_int_equal(tree.nvlinks[a][b], want[a][2 * b] - '0');
            assert_int_equal(tree.nvlinks[a][b], tree.nvlinks[b][a]);
            links += tree.nvlinks[a][b];
        }
        assert_int_equal(links, 6);
    }
    /* 2 GPUs and a NIC on each of 4 switches, 2 switches a socket. GPU 0 and 5: no link, across sockets. */
    assert_int_equal(tree_gpu_path(&tree, 0, 3), LINK_NVL);
    assert_int_equal(tree_gpu_path(&tree, 0, 5), LINK_SYS);
    assert_int_equal(tree_gpu_path(&tree, 4, 4), LINK_LOC);
    for (uint32_t gpu = 0; gpu < 8; gpu++) {
        assert_int_equal(tree_nearest_nic(&tree, gpu, 4), gpu / 2);
        assert_int_equal(tree_nic_path(&tree, gpu, gpu / 2), LINK_PIX);
    }
    assert_int_equal(tree_nic_path(&tree, 0, 1), LINK_PHB);
    assert_int_equal(tree_nic_path(&tree, 0, 2), LINK_SYS);
}

/* Plain trees of 8 GPUs, 8 NICs, 2 sockets; the path of GPU 0 to GPU 1, 2 and 4. */
static const struct plain_row {
    const char *name;
    uint32_t switches;
    enum link_class to1, to2, to4;
} plains[] = {
    { "a switch for each GPU", 8, LINK_PHB, LINK_PHB, LINK_SYS },
    { "a switch for two", 4, LINK_PIX, LINK_PHB, LINK_SYS },
    { "a switch a socket", 2, LINK_PIX, LINK_PIX, LINK_SYS },
    { "root ports", 0, LINK_PHB, LINK_PHB, LINK_SYS },
    { "one switch for all", 1, LINK_PIX, LINK_PIX, LINK_PIX },
};

static void plain_trees(void **state)
{
    const struct plain_row *row = *state;
    struct server_tree tree;
    tree_plain(&tree, 8, 8, 2, row->switches);
    assert_int_equal(tree_gpu_path(&tree, 0, 1), row->to1);
    assert_int_equal(tree_gpu_path(&tree, 0, 2), row->to2);
    assert_int_equal(tree_gpu_path(&tree, 0, 4), row->to4);
    for (uint32_t gpu = 0; gpu < 8; gpu++)
        if (row->switches != 1) assert_int_equal(tree_nearest_nic(&tree, gpu, 8) / 4, gpu / 4);
}

/* Ties go to NIC (GPU mod k): on root ports the 4 NICs of a socket are equally near; of one NIC all GPUs take it. */
static void ties_of_nics(void **state)
{
    (void)state;
    struct server_tree tree;
    tree_plain(&tree, 8, 8, 2, 0);
    static const uint32_t want[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    for (uint32_t gpu = 0; gpu < 8; gpu++)
        assert_int_equal(tree_nearest_nic(&tree, gpu, 8), want[gpu]);
    tree_plain(&tree, 8, 4, 2, 0);
    static const uint32_t two[8] = { 0, 1, 0, 1, 2, 3, 2, 3 };
    for (uint32_t gpu = 0; gpu < 8; gpu++)
        assert_int_equal(tree_nearest_nic(&tree, gpu, 4), two[gpu]);
    for (uint32_t gpu = 0; gpu < 8; gpu++) assert_int_equal(tree_nearest_nic(&tree, gpu, 1), 0);
    /* more NICs than the tree knows hang where the first ones do */
    assert_int_equal(tree_nic_path(&tree, 0, 4), tree_nic_path(&tree, 0, 0));
}

/* C115: servers of 4 and of 6 GPUs that are not symmetric inside. */
static void asymmetric(void **state)
{
    (void)state;
    static const char *const four[] = { "(GPU0 GPU1 NIC0) GPU2", "GPU3" };
    static const char *const six[] = { "((GPU0 NIC0) (GPU1 GPU2)) (GPU3)", "(GPU5 GPU4 NIC1)" };
    struct server_tree tree;
    uint32_t text, at;
    char why[96];
    assert_true(tree_parse(&tree, 4, 1, four, 2, &text, &at, why, sizeof why));
    assert_int_equal(tree_gpu_path(&tree, 0, 1), LINK_PIX);
    assert_int_equal(tree_gpu_path(&tree, 0, 2), LINK_PHB);
    assert_int_equal(tree_gpu_path(&tree, 2, 3), LINK_SYS);
    assert_int_equal(tree_nic_path(&tree, 3, 0), LINK_SYS);
    assert_true(tree_parse(&tree, 6, 2, six, 2, &text, &at, why, sizeof why));
    assert_int_equal(tree_gpu_path(&tree, 0, 1), LINK_PXB);
    assert_int_equal(tree_gpu_path(&tree, 1, 2), LINK_PIX);
    assert_int_equal(tree_gpu_path(&tree, 0, 3), LINK_PHB);
    assert_int_equal(tree_gpu_path(&tree, 4, 5), LINK_PIX);
    static const uint32_t nearest[6] = { 0, 0, 0, 0, 1, 1 };
    for (uint32_t gpu = 0; gpu < 6; gpu++)
        assert_int_equal(tree_nearest_nic(&tree, gpu, 2), nearest[gpu]);
}

static const struct bad_text {
    const char *text;
    uint32_t at;
    const char *says;
} bad_texts[] = {
    { "(GPU0 GPU1 NIC0", 15, "'(' without its ')'" },
    { "GPU0 GPU1) NIC0", 9, "')' without its '('" },
    { "(((GPU0))) GPU1 NIC0", 2, "at most two deep" },
    { "GPU0 GPU1 GPU0 NIC0", 10, "device 0 stands twice" },
    { "GPU0 GPU2 NIC0", 5, "the server has 2 of these" },
    { "GPU0 GPU1", 9, "NIC0 is missing" },
    { "GPU0 NIC0", 9, "GPU1 is missing" },
    { "GPU0 GPU NIC0", 5, "need a number" },
    { "GPU0 CPU1", 5, "expected GPU0, NIC0" },
    { "GPU0 GPU10000000000 NIC0", 5, "at most four digits" },
};

static void is_refused(void **state)
{
    const struct bad_text *row = *state;
    struct server_tree tree;
    uint32_t text, at;
    char why[96];
    assert_false(tree_parse(&tree, 2, 1, &row->text, 1, &text, &at, why, sizeof why));
    assert_int_equal(at, row->at);
    CHECK(strstr(why, row->says), "'%s' lacks '%s'", why, row->says);
}

/* A random tree of three levels, written down as a matrix and read back, gives the matrix again. */
static void there_and_back(void **state)
{
    const uint64_t seed = rows_number(state);
    struct server_tree tree, back;
    static struct topo_matrix matrix, again;
    uint32_t a, b, via, roll = (uint32_t)seed;
    const uint32_t gpus = 1 + (uint32_t)(seed * 7 % 16), nics = (uint32_t)(seed * 5 % 9);
    memset(&tree, 0, sizeof tree);
    tree.gpus = gpus;
    tree.nics = nics;
    tree.sockets = 2;
    for (uint32_t i = 0; i < gpus + nics; i++) {
        roll = roll * 1664525u + 1013904223u;
        const uint8_t lower =
            (uint8_t)(roll >> 27); /* 32 switches, 2 of a tree, 4 of a bridge, 8 of a socket */
        *(i < gpus ? &tree.gpu[i] : &tree.nic[i - gpus]) =
            (struct tree_spot){ lower, (uint8_t)(lower / 2), (uint8_t)(lower / 4),
                                (uint8_t)(lower / 16) };
    }
    matrix_of_tree(&tree, 64, &matrix);
    assert_true(tree_of_matrix(&matrix, &back, &a, &b, &via));
    matrix_of_tree(&back, 64, &again);
    assert_memory_equal(matrix.cell, again.cell, sizeof matrix.cell);
}

/* Two GPUs of one switch with a NIC cannot be sockets apart. */
static void no_tree(void **state)
{
    (void)state;
    static struct topo_matrix matrix;
    struct server_tree tree;
    uint32_t a, b, via;
    tree_plain(&tree, 2, 1, 1, 1);
    matrix_of_tree(&tree, 0, &matrix);
    matrix.cell[0][1] = matrix.cell[1][0] = TOPO_SYS;
    assert_false(tree_of_matrix(&matrix, &tree, &a, &b, &via));
    assert_true(a == 0 && b == 1 && via == 2);
}

/* Switched where the links to all others together are more than a GPU has: NV12 of 8 GPUs are, NV6 of 4 are not. */
static void switched_or_meshed(void **state)
{
    (void)state;
    static struct topo_matrix matrix;
    struct server_tree tree;
    uint32_t a, b, via;
    const char *why;
    tree_plain(&tree, 8, 8, 2, 8);
    assert_true(tree_nvlinks(&tree, NVLINK_SWITCH, 12, &why));
    matrix_of_tree(&tree, 0, &matrix);
    assert_true(tree_of_matrix(&matrix, &tree, &a, &b, &via));
    assert_true(tree.nvswitch && tree.nvlinks[3][5] == 12);
    tree_plain(&tree, 4, 4, 2, 4);
    assert_true(tree_nvlinks(&tree, NVLINK_MESH, 18, &why));
    assert_int_equal(tree.nvlinks[0][3], 6);
    matrix_of_tree(&tree, 0, &matrix);
    assert_true(tree_of_matrix(&matrix, &tree, &a, &b, &via));
    assert_false(tree.nvswitch);
    assert_false(tree_nvlinks(&tree, NVLINK_MESH, 17, &why));
    assert_false(tree_nvlinks(&tree, NVLINK_CUBE_MESH, 6, &why));
    assert_true(tree_nvlinks(&tree, NVLINK_PAIRS, 3, &why));
    assert_true(tree.nvlinks[2][3] == 3 && tree.nvlinks[1][2] == 0);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, cube_mesh_of_a_dgx1, NULL, "the cube mesh of a DGX-1 (C118)");
    for (size_t i = 0; i < sizeof plains / sizeof *plains; i++)
        rows_add(&rows, plain_trees, &plains[i], "plain: %s", plains[i].name);
    rows_add(&rows, ties_of_nics, NULL, "nearest NICs and ties");
    rows_add(&rows, asymmetric, NULL, "asymmetric servers of 4 and 6 GPUs (C115)");
    for (size_t i = 0; i < sizeof bad_texts / sizeof *bad_texts; i++)
        rows_add(&rows, is_refused, &bad_texts[i], "refused: %s", bad_texts[i].text);
    for (uintptr_t seed = 1; seed <= 300; seed++)
        rows_add(&rows, there_and_back, (void *)seed, "tree, matrix, tree: seed %lu",
                 (unsigned long)seed);
    rows_add(&rows, no_tree, NULL, "a matrix of no tree");
    rows_add(&rows, switched_or_meshed, NULL, "switches, meshes, pairs");
    return rows_run("server_tree", &rows);
}
