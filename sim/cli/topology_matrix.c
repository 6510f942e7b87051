/* topology_matrix.c - the inside of a server as text; see topology_show.h. */
#include "cli/topology_show.h"

#include "base/text.h"
#include "cluster/paths.h"
#include "cluster/vm.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const legend[][2] = {
    { "X", "the device itself" },
    { "SYS", "over the link between sockets" },
    { "NODE", "over several PCIe host bridges of one socket" },
    { "PHB", "over one PCIe host bridge, the root complex" },
    { "PXB", "over several PCIe switches and no host bridge" },
    { "PIX", "over one PCIe switch" },
    { "NV#", "over # NVLinks" },
};

static const char *shown_name(const struct topo_matrix *matrix, uint32_t device,
                              char safe[4 * TOPO_NAME_BYTES])
{
    return text_escape(matrix->name[device], strlen(matrix->name[device]), safe,
                       4 * TOPO_NAME_BYTES);
}

static void print_row(const struct topo_matrix *matrix, uint32_t row, FILE *out)
{
    char safe[4 * TOPO_AFFINITY_BYTES];
    fprintf(out, "%s", shown_name(matrix, row, safe));
    for (uint32_t column = 0; column < matrix->gpus + matrix->nics; column++) {
        const uint8_t cell = matrix->cell[row][column];
        if (cell == TOPO_NVLINK)
            fprintf(out, "\tNV%u", matrix->nvlinks[row][column]);
        else
            fprintf(out, cell == TOPO_SELF ? "\t %s " : "\t%s", topo_cell_names[cell]);
    }
    if (row < matrix->gpus) {
        const char *cpu = matrix->cpu_affinity[row], *numa = matrix->numa_affinity[row];
        fprintf(out, "\t%s", text_escape(cpu, strlen(cpu), safe, sizeof safe));
        fprintf(out, "\t%s\t\tN/A", text_escape(numa, strlen(numa), safe, sizeof safe));
    }
    fputc('\n', out);
}

void topology_print_matrix(const struct topo_matrix *matrix, FILE *out)
{
    char safe[4 * TOPO_NAME_BYTES];
    for (uint32_t i = 0; i < matrix->gpus + matrix->nics; i++)
        fprintf(out, "\t%s", shown_name(matrix, i, safe));
    fputs("\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n", out);
    for (uint32_t i = 0; i < matrix->gpus + matrix->nics; i++) print_row(matrix, i, out);
    fputs("\nLegend:\n\n", out);
    for (size_t i = 0; i < sizeof legend / sizeof *legend; i++)
        fprintf(out, "  %-4s = %s\n", legend[i][0], legend[i][1]);
}

/* ---- what follows from it ---- */

static void print_nvlinks(const struct topology_server *at, FILE *out)
{
    const struct server_tree *tree = &at->tree;
    uint32_t pairs = 0, most = 0;
    for (uint32_t a = 0; a < tree->gpus; a++)
        for (uint32_t b = 0; b < a; b++) {
            pairs += tree->nvlinks[a][b] > 0;
            if (tree->nvlinks[a][b] > most) most = tree->nvlinks[a][b];
        }
    if (pairs == 0)
        fputs("NVLink: none\n", out);
    else if (tree->nvswitch)
        fprintf(out, "NVLink: switches, %" PRIu32 " link%s of each GPU, any two GPUs at full rate",
                most, most == 1 ? "" : "s");
    else
        fprintf(out,
                "NVLink: %" PRIu32 " of %" PRIu32 " pairs of GPUs, at most %" PRIu32
                " links between two\n",
                pairs, tree->gpus * (tree->gpus - 1) / 2, most);
    if (pairs > 0 && tree->nvswitch)
        fputs(at->server && at->server->domain_servers > 1 ? ", " : "\n", out);
    if (pairs > 0 && tree->nvswitch && at->server && at->server->domain_servers > 1)
        fprintf(out, "one domain of %" PRIu32 " servers and %" PRIu32 " GPUs\n",
                at->server->domain_servers, at->server->domain_servers * tree->gpus);
}

/* Names of the NICs of a set; the number of a NIC that the table does not name. */
static void print_nics(const struct topology_server *at, const struct nic_set *set, FILE *out)
{
    char safe[4 * TOPO_NAME_BYTES];
    for (uint32_t nic = 0; nic < at->nics; nic++) {
        if (!nic_set_has(set, nic)) continue;
        if (nic < at->matrix.nics)
            fprintf(out, " %s", shown_name(&at->matrix, at->matrix.gpus + nic, safe));
        else
            fprintf(out, " NIC%" PRIu32, nic);
    }
}

void topology_print_inside(const struct topology_server *at, FILE *out)
{
    const struct server_tree *tree = &at->tree;
    print_nvlinks(at, out);
    if (at->nics == 0) {
        fputs("NICs: none listed\n", out);
        return;
    }
    struct nic_map map;
    nic_map_init(&map, tree, tree->gpus, at->nics);
    fputs("NICs of each GPU:", out);
    for (uint32_t gpu = 0; gpu < tree->gpus; gpu++) {
        const uint32_t nic = tree_nearest_nic(tree, gpu, at->nics);
        char safe[4 * TOPO_NAME_BYTES];
        fprintf(out, "%s %s", gpu ? "," : "", shown_name(&at->matrix, gpu, safe));
        print_nics(at, &map.of_gpu[gpu], out);
        fprintf(out, " %s", link_class_names[tree_nic_path(tree, gpu, nic)]);
        if (at->server && !path_gpudirect(at->server, gpu, at->nics)) fputs(" by the host", out);
    }
    fputc('\n', out);
    if (at->vm != NULL && !at->vm->shared_nvlink)
        fprintf(out,
                "Nodes: %" PRIu32 " of %" PRIu32
                " GPUs in order; two of them meet over NICs (NET)\n",
                at->parts, tree->gpus / at->parts);
    if (at->sliced)
        fprintf(out, "MIG slices of one GPU: %.4g GB/s through host memory\n",
                path_slices_bytes_per_s(at->server) / 1e9);
}

static void print_rate(double bytes_per_s, FILE *out)
{
    if (isinf(bytes_per_s))
        fputs("\t X ", out);
    else
        fprintf(out, "\t%.4g", bytes_per_s / 1e9);
}

void topology_print_bandwidth(const struct topology_server *at, FILE *out)
{
    const struct server_type *server = at->server;
    fputs("GB/s, one direction\n", out);
    for (uint32_t gpu = 0; gpu < at->tree.gpus; gpu++) fprintf(out, "\tGPU%" PRIu32, gpu);
    fputs("\tnetwork, all sending\n", out);
    for (uint32_t a = 0; a < at->tree.gpus; a++) {
        fprintf(out, "GPU%" PRIu32, a);
        const double network =
            path_network_bytes_per_s(server, at->nics, at->nic_bytes_per_s, server->gpus);
        for (uint32_t b = 0; b < at->tree.gpus; b++)
            print_rate(at->vm && vm_apart(server, at->vm, at->parts, a, b)
                           ? network
                           : path_gpus_bytes_per_s(server, a, b),
                       out);
        print_rate(network, out);
        fputc('\n', out);
    }
}
