/* test_topo_text.c - io/topo_text: tables as real machines print them, and as nobody should. */
#include "io/topo_text.h"

#include "tests/near.h"
#include "tests/rows.h"
#include "trace_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct topo_matrix matrix;
static struct server_tree tree;
static char said[4096];

/* Reads a text as a file; what is refused is in `said`. */
static enum status read_text(const char *text, size_t bytes)
{
    char path[] = "/tmp/gpuplan-topo-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, bytes) == (ssize_t)bytes);
    close(file);
    struct diag *diag = diag_create();
    const enum status status = topo_read(path, &matrix, &tree, diag);
    memset(said, 0, sizeof said);
    FILE *out = fmemopen(said, sizeof said - 1, "w");
    diag_print(diag, out);
    fclose(out);
    diag_destroy(diag);
    unlink(path);
    return status;
}

/* One table of two GPUs with 4 NVLinks and a NIC next to GPU0, written in several ways. */
static const struct {
    const char *name, *text;
} ways[] = {
    { "tabs", "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
              "GPU0\t X \tNV4\tPIX\t0-31,64-95\t0\t\tN/A\nGPU1\tNV4\t X \tSYS\t32-63\t1\t\tN/A\n"
              "NIC0\tPIX\tSYS\t X \n\nLegend:\n\n  X    = Self\n" },
    { "blanks", "     GPU0 GPU1 NIC0 CPU Affinity NUMA Affinity\n"
                "GPU0  X   NV4  PIX  0-31,64-95 0\nGPU1 NV4   X   SYS  32-63 1\nNIC0 PIX SYS X\n" },
    { "ends of lines of Windows", "\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\r\n"
                                  "GPU0\t X \tNV4\tPIX\t0-31,64-95\t0\r\n"
                                  "GPU1\tNV4\t X \tSYS\t32-63\t1\r\nNIC0\tPIX\tSYS\t X \r\n" },
    { "underlined, behind a prompt, no line end",
      "$ nvidia-smi topo -m\n\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\x1b[0m\n"
      "GPU0\t X \tNV4\tPIX\t0-31,64-95\t0\nGPU1\tNV4\t X \tSYS\t32-63\t1\nNIC0\tPIX\tSYS\t X " },
    { "a blank line between rows", "GPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\n"
                                   "GPU0\t X \tNV4\tPIX\t0-31,64-95\t0\n\n"
                                   "GPU1\tNV4\t X \tSYS\t32-63\t1\nNIC0\tPIX\tSYS\t X\n" },
};

static void is_read(void **state)
{
    const uint64_t i = rows_number(state);
    CHECK(read_text(ways[i].text, strlen(ways[i].text)) == STATUS_OK, "%s", said);
    assert_true(matrix.gpus == 2 && matrix.nics == 1);
    assert_string_equal(matrix.cpu_affinity[0], "0-31,64-95");
    assert_string_equal(matrix.cpu_affinity[1], "32-63");
    assert_string_equal(matrix.numa_affinity[0], "0");
    assert_string_equal(matrix.numa_affinity[1], "1");
    assert_int_equal(tree.nvlinks[0][1], 4);
    assert_int_equal(tree.sockets, 2);
    assert_int_equal(tree_gpu_path(&tree, 0, 1), LINK_NVL);
    assert_int_equal(tree_nic_path(&tree, 0, 0), LINK_PIX);
    assert_int_equal(tree_nic_path(&tree, 1, 0), LINK_SYS);
    assert_false(tree.nvswitch);
}

#define HEAD "\tGPU0\tGPU1\tNIC0\n"
static const struct refusal {
    const char *name, *text, *says;
} refusals[] = {
    { "nothing", "", "no table of nvidia-smi topo -m" },
    { "another text", "hello\nGPU0 is fine\n", "the file ends where the row of GPU0 should be" },
    { "not symmetric", HEAD "GPU0\tX\tPIX\tPIX\nGPU1\tSYS\tX\tPIX\nNIC0\tPIX\tPIX\tX\n",
      ":3:6: error: GPU1 to GPU0 is another path than GPU0 to GPU1" },
    { "other numbers of links", HEAD "GPU0\tX\tNV4\tPIX\nGPU1\tNV2\tX\tPIX\nNIC0\tPIX\tPIX\tX\n",
      ":3:6: error: GPU1 to GPU0 is another path" },
    { "no X at itself", HEAD "GPU0\tPIX\tPIX\tPIX\n",
      ":2:6: error: the cell of GPU0 and itself must be X" },
    { "X elsewhere", HEAD "GPU0\tX\tX\tPIX\n",
      ":2:8: error: X stands in the row of GPU0, but not at itself" },
    { "an unknown word", HEAD "GPU0\tX\tPIB\tPIX\n",
      ":2:8: error: 'PIB' is no path; known: X, NV1" },
    { "no links", HEAD "GPU0\tX\tNV0\tPIX\n", ":2:8: error: 'NV0' is no path" },
    { "too many links", HEAD "GPU0\tX\tNV99\tPIX\n", ":2:8: error: 'NV99' is no path" },
    { "NVLinks to a NIC", HEAD "GPU0\tX\tPIX\tNV2\n", ":2:12: error: NVLinks join GPUs, not NICs" },
    { "a short row", HEAD "GPU0\tX\tPIX\n",
      ":2:1: error: the row of GPU0 ends after 2 of 3 cells" },
    { "a row missing", HEAD "GPU0\tX\tPIX\tPIX\nNIC0\tPIX\tPIX\tX\n",
      ":3:1: error: expected the row of GPU1, got 'NIC0'" },
    { "cut off", HEAD "GPU0\tX\tPIX\tPIX\n", "the file ends where the row of GPU1 should be" },
    { "a name twice", "\tGPU0\tGPU0\n", ":1:7: error: the head names 'GPU0' twice" },
    { "GPUs behind NICs", "\tGPU0\tNIC0\tGPU1\n", ":1:12: error: GPUs stand in front of NICs" },
    { "33 GPUs",
      "GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7 GPU8 GPU9 GPU10 GPU11 GPU12 GPU13 GPU14 GPU15 GPU16 "
      "GPU17 GPU18 GPU19 GPU20 GPU21 GPU22 GPU23 GPU24 GPU25 GPU26 GPU27 GPU28 GPU29 GPU30 GPU31 "
      "GPU32\n",
      "more than 32 GPUs in one server" },
    { "a long name", "GPU0 a_name_that_goes_on_and_on_and_on_and_on\n", "longer than 31 bytes" },
    { "escapes are shown", HEAD "GPU0\tX\tPI\x07X\tPIX\n", "'PI\\x07X' is no path" },
    { "no server is wired so", HEAD "GPU0\tX\tSYS\tPIX\nGPU1\tSYS\tX\tPIX\nNIC0\tPIX\tPIX\tX\n",
      ":2:8: error: no server is wired so: GPU0 and GPU1 are SYS apart, but over NIC0 they are "
      "nearer" },
};

static void is_refused(void **state)
{
    const struct refusal *row = *state;
    assert_int_equal(read_text(row->text, strlen(row->text)), STATUS_INPUT);
    CHECK(strstr(said, row->says), "'%s' lacks '%s'", said, row->says);
}

static void nul_bytes(void **state)
{
    (void)state;
    assert_int_equal(read_text("\tGPU0\nGPU0\tX\0\n", 15), STATUS_INPUT);
    assert_non_null(strstr(said, ":2:7: error: a NUL byte"));
}

/* Every start of a table is read or refused, never more. */
static void cut_anywhere(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < strlen(ways[0].text); bytes += 3) {
        const enum status status = read_text(ways[0].text, bytes);
        assert_true(status == STATUS_OK || status == STATUS_INPUT);
    }
}

/* Real machines: NVLinks of GPU 0 and 1, switched or not, and the nearest NICs of the first and the last GPU, read off the
 * tables by eye. */
static const struct sample {
    const char *file;
    uint32_t gpus, nics, links01;
    bool nvswitch;
    int first_nic, last_nic; /* -1 = none listed */
    enum link_class first_path, last_path;
} samples[] = {
    { "h200_sxm_8gpu_8nic.txt", 8, 8, 18, true, 4, 2, LINK_PIX, LINK_PIX },
    { "a100_sxm_8gpu_4nic_one_socket.txt", 8, 4, 12, true, 0, 3, LINK_PXB, LINK_SYS },
    { "a100_aws_p4_8gpu_no_nic.txt", 8, 0, 12, true, -1, -1, 0, 0 },
    { "a100_4gpu_polaris.txt", 4, 2, 4, false, 0, 0, LINK_SYS, LINK_PHB },
    { "a100_4gpu_3nic_odd_affinity.txt", 4, 3, 4, false, 0, 0, LINK_PHB, LINK_PHB },
    { "juwels_booster_a100_4gpu_4nic_mp.txt", 4, 4, 0, false, 0, 3, LINK_PIX, LINK_PIX },
    { "v100_sxm2_8gpu_cloud_cubemesh.txt", 8, 0, 1, false, -1, -1, 0, 0 },
    { "v100_8gpu_4nic_one_socket.txt", 8, 4, 2, false, 0, 2, LINK_PIX, LINK_PIX },
    { "v100_4gpu_nv3_pairs_4nic.txt", 4, 4, 3, false, 0, 3, LINK_PHB, LINK_PHB },
    { "titanv_pcie_8gpu.txt", 8, 0, 0, false, -1, -1, 0, 0 },
    { "rtx5090_pcie_2gpu.txt", 2, 0, 0, false, -1, -1, 0, 0 },
};

static void real_machine(void **state)
{
    const struct sample *row = *state;
    char path[FILE_PATH_BYTES], name[128];
    snprintf(name, sizeof name, "samples/nvidia-smi-topo/%s", row->file);
    if (shared_file(path, name) == NULL) skip();
    struct diag *diag = diag_create();
    assert_int_equal(topo_read(path, &matrix, &tree, diag), STATUS_OK);
    diag_destroy(diag);
    assert_true(tree.gpus == row->gpus && tree.nics == row->nics);
    assert_int_equal(tree.nvlinks[0][1], row->links01);
    assert_int_equal(tree.nvswitch, row->nvswitch);
    /* The tree gives every path of the table again. */
    static struct topo_matrix again;
    matrix_of_tree(&tree, 0, &again);
    assert_memory_equal(matrix.cell, again.cell, sizeof matrix.cell);
    if (row->first_nic < 0) return;
    const uint32_t last = row->gpus - 1;
    assert_int_equal(tree_nearest_nic(&tree, 0, row->nics), row->first_nic);
    assert_int_equal(tree_nearest_nic(&tree, last, row->nics), row->last_nic);
    assert_int_equal(tree_nic_path(&tree, 0, (uint32_t)row->first_nic), row->first_path);
    assert_int_equal(tree_nic_path(&tree, last, (uint32_t)row->last_nic), row->last_path);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t i = 0; i < sizeof ways / sizeof *ways; i++)
        rows_add(&rows, is_read, (void *)i, "read: %s", ways[i].name);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        rows_add(&rows, is_refused, &refusals[i], "refused: %s", refusals[i].name);
    rows_add(&rows, nul_bytes, NULL, "refused: a NUL byte");
    rows_add(&rows, cut_anywhere, NULL, "cut anywhere");
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        rows_add(&rows, real_machine, &samples[i], "real: %s", samples[i].file);
    return rows_run("topo_text", &rows);
}
