/* links_ring.c - see links_ring.h. */
#include "cluster/links_ring.h"

#include "base/assert.h"
#include "cluster/paths.h"
#include "models/collective.h"
#include "models/hardware.h"

#include <math.h>
#include <stddef.h>

enum { SEARCHED_MOST = 8 }; /* 7! orders */

struct ring {
    uint32_t gpus;
    double hop[LIMIT_GPUS_PER_SERVER][LIMIT_GPUS_PER_SERVER];
    uint32_t order[LIMIT_GPUS_PER_SERVER];
    double best;
    bool best_staged; /* its ring has a hop without peer access */
    bool staged[LIMIT_GPUS_PER_SERVER][LIMIT_GPUS_PER_SERVER];
};

static void close_ring(struct ring *ring, double least)
{
    const uint32_t last = ring->order[ring->gpus - 1];
    bool staged = ring->staged[last][ring->order[0]];
    if (ring->hop[last][ring->order[0]] < least) least = ring->hop[last][ring->order[0]];
    if (least <= ring->best) return;
    for (uint32_t i = 0; i + 1 < ring->gpus; i++)
        staged |= ring->staged[ring->order[i]][ring->order[i + 1]];
    ring->best = least;
    ring->best_staged = staged;
}

/* Goes on from order[at - 1]; the least of the hops so far. */
static void search(struct ring *ring, uint32_t at, uint32_t taken, double least)
{
    if (at == ring->gpus) {
        close_ring(ring, least);
        return;
    }
    for (uint32_t gpu = 1; gpu < ring->gpus; gpu++) {
        const double hop = ring->hop[ring->order[at - 1]][gpu];
        if (taken >> gpu & 1 || hop <= ring->best) continue;
        ring->order[at] = gpu;
        search(ring, at + 1, taken | 1u << gpu, hop < least ? hop : least);
    }
}

static void fill(struct ring *ring, const struct server_type *server)
{
    for (uint32_t a = 0; a < ring->gpus; a++)
        for (uint32_t b = 0; b < ring->gpus; b++) {
            ring->hop[a][b] = path_gpus_bytes_per_s(server, a, b);
            ring->staged[a][b] = tree_gpu_path(&server->tree, a, b) > server->p2p_max;
        }
}

/* Every two of them by NVLink. */
static bool is_mesh(const struct server_tree *tree, uint32_t gpus)
{
    for (uint32_t a = 0; a < gpus; a++)
        for (uint32_t b = 0; b < a; b++)
            if (tree->nvlinks[a][b] == 0) return false;
    return true;
}

static double mesh_bytes_per_s(const struct server_type *server, uint32_t gpus)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t a = 0; a < gpus; a++) {
        uint32_t links = 0;
        for (uint32_t b = 0; b < gpus; b++) links += a != b ? server->tree.nvlinks[a][b] : 0;
        if (links < least) least = links;
    }
    return least * server->nvlink_bytes_per_s;
}

/* All of them send through the host at once (2.8). */
static double staged_bytes_per_s(const struct server_type *server, uint32_t gpus)
{
    const uint32_t switches = server->pcie_switches;
    const uint32_t sharing = switches > 0 && gpus > switches ? (gpus + switches - 1) / switches : 1;
    bool crosses = false;
    for (uint32_t gpu = 1; gpu < gpus; gpu++)
        crosses |= server->tree.gpu[gpu].socket != server->tree.gpu[0].socket;
    const struct host_ring host = { .gpus = gpus,
                                    .gpus_per_uplink = sharing,
                                    .sockets = crosses ? server->sockets : 1,
                                    .pcie_bytes_per_s = server->gpu_pcie_bytes_per_s,
                                    .uplink_bytes_per_s = server->uplink_bytes_per_s,
                                    .socket_link_bytes_per_s = server->socket_link_bytes_per_s,
                                    .memory_bytes_per_s = server->host_memory_bytes_per_s,
                                    .efficiency = STAGING_EFFICIENCY };
    return host_ring_bytes_per_s(&host);
}

double links_ring_bytes_per_s(const struct server_type *server, uint32_t gpus, bool *staged)
{
    bool unread;
    if (staged == NULL) staged = &unread;
    *staged = false;
    ASSERT(gpus >= 2 && gpus <= server->tree.gpus);
    if (server->tree.nvswitch) return path_gpus_bytes_per_s(server, 0, 1);
    if (is_mesh(&server->tree, gpus)) return mesh_bytes_per_s(server, gpus);
    struct ring ring = { .gpus = gpus, .best = 0 };
    fill(&ring, server);
    if (gpus <= SEARCHED_MOST) {
        search(&ring, 1, 1, INFINITY);
    } else {
        double least = INFINITY;
        for (uint32_t i = 0; i < gpus; i++) ring.order[i] = i;
        for (uint32_t i = 0; i + 1 < gpus; i++)
            if (ring.hop[i][i + 1] < least) least = ring.hop[i][i + 1];
        close_ring(&ring, least);
    }
    *staged = ring.best_staged;
    if (!*staged) return ring.best;
    const double host = staged_bytes_per_s(server, gpus);
    return host < ring.best ? host : ring.best;
}
