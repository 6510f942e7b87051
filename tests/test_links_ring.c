/* test_links_ring.c - what a ring inside a server carries by its links, by hand. */
#include "cluster/links_ring.h"
#include "cluster/collective_of.h"

#include "tests/near.h"

/* Eight GPUs on two sockets, two PCIe switches each. PCIe 24 GB/s, also from a switch to its socket; 22 GB/s between sockets, host
 * memory 300 GB/s. */
static struct server_type pcie_server(enum nvlink_kind kind, uint32_t links,
                                      double link_bytes_per_s)
{
    const char *why = NULL;
    struct server_type server = { .gpus = 8,
                                  .nics = 1,
                                  .nic_bytes_per_s = 25e9,
                                  .gpu_pcie_bytes_per_s = 24e9,
                                  .uplink_bytes_per_s = 24e9,
                                  .socket_link_bytes_per_s = 22e9,
                                  .host_memory_bytes_per_s = 300e9,
                                  .gpudirect = true,
                                  .sockets = 2,
                                  .pcie_switches = 4,
                                  .nvlinks = links,
                                  .nvlink_bytes_per_s = link_bytes_per_s,
                                  .p2p_max = LINK_SYS,
                                  .gdr_max = LINK_PXB,
                                  .domain_servers = 1,
                                  .ring_from_links = true };
    tree_plain(&server.tree, 8, 1, 2, 4);
    assert_true(tree_nvlinks(&server.tree, kind, links, &why));
    return server;
}

/* 18 links of 20.6 GB/s behind switches: 370.8 GB/s for any number; shared evenly by seven others (14 of 20 GB/s, two to each) a
 * pair has 40, four GPUs 3 x 40, all 7 x 40. */
static void nvlink_carries_all_its_links(void **state)
{
    (void)state;
    const struct server_type switched = pcie_server(NVLINK_SWITCH, 18, 20.6e9);
    const struct server_type mesh = pcie_server(NVLINK_MESH, 14, 20e9);
    CHECK_NEAR(links_ring_bytes_per_s(&switched, 2, NULL), 370.8e9, 1e-12);
    CHECK_NEAR(links_ring_bytes_per_s(&switched, 8, NULL), 370.8e9, 1e-12);
    CHECK_NEAR(links_ring_bytes_per_s(&mesh, 2, NULL), 40e9, 1e-12);
    CHECK_NEAR(links_ring_bytes_per_s(&mesh, 4, NULL), 120e9, 1e-12);
    CHECK_NEAR(links_ring_bytes_per_s(&mesh, 8, NULL), 280e9, 1e-12);
}

/* Two GPUs below one switch: 24. Four of one socket meet at its root complex: 24/1.2 = 20. Eight cross sockets:
 * min(24/1.2, 22) = 20. Bridges help the pair alone: 200, then 20. */
static void pcie_rings_are_as_fast_as_their_worst_hop(void **state)
{
    (void)state;
    const struct server_type plain = pcie_server(NVLINK_NONE, 1, 0);
    const struct server_type bridged = pcie_server(NVLINK_PAIRS, 1, 200e9);
    CHECK_NEAR(links_ring_bytes_per_s(&plain, 2, NULL), 24e9, 1e-12);
    CHECK_NEAR(links_ring_bytes_per_s(&plain, 4, NULL), 20e9, 1e-12);
    CHECK_NEAR(links_ring_bytes_per_s(&plain, 8, NULL), 20e9, 1e-12);
    CHECK_NEAR(links_ring_bytes_per_s(&bridged, 2, NULL), 200e9, 1e-12);
    CHECK_NEAR(links_ring_bytes_per_s(&bridged, 3, NULL), 20e9, 1e-12);
    CHECK_NEAR(links_ring_bytes_per_s(&bridged, 8, NULL), 20e9, 1e-12);
}

/* Without peer access (2.8): eight GPUs, two on each uplink, two sockets: 0.8 min(24, 24/2, 300/16, 22) = 9.6, as row CO-051; four of
 * one socket: 0.8 min(24, 24/1, 300/8) = 19.2; slower memory of 48 GB/s: 0.8 x 48/16 = 2.4. */
static void without_peers_all_go_through_the_host(void **state)
{
    (void)state;
    struct server_type host = pcie_server(NVLINK_NONE, 1, 0);
    host.p2p_max = LINK_LOC;
    CHECK_NEAR(links_ring_bytes_per_s(&host, 8, NULL), 9.6e9, 1e-12);
    CHECK_NEAR(links_ring_bytes_per_s(&host, 4, NULL), 19.2e9, 1e-12);
    host.host_memory_bytes_per_s = 48e9;
    CHECK_NEAR(links_ring_bytes_per_s(&host, 8, NULL), 2.4e9, 1e-12);
}

/* A DGX-1: pairs of one, two or no links; its double links close a ring through all eight. */
static void a_partial_mesh_finds_its_ring(void **state)
{
    (void)state;
    const struct server_type cube = pcie_server(NVLINK_CUBE_MESH, 6, 20e9);
    CHECK_NEAR(links_ring_bytes_per_s(&cube, 8, NULL), 40e9, 1e-12);
}

static void collectives_use_them(void **state)
{
    (void)state;
    const struct server_type bridged = pcie_server(NVLINK_PAIRS, 1, 200e9);
    const struct collective_hardware hardware = collective_of(&bridged, 1, NULL);
    CHECK_NEAR(hardware.scaleup_bytes_per_s, 20e9, 1e-12);
    CHECK_NEAR(hardware.ring_bytes_per_s[2], 200e9, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nvlink_carries_all_its_links),
        cmocka_unit_test(pcie_rings_are_as_fast_as_their_worst_hop),
        cmocka_unit_test(without_peers_all_go_through_the_host),
        cmocka_unit_test(a_partial_mesh_finds_its_ring),
        cmocka_unit_test(collectives_use_them),
    };
    return cmocka_run_group_tests_name("links_ring", tests, NULL, NULL);
}
