/* test_collective_of.c - measured collectives of the catalog: what a layout takes from them, the mesh of a DGX-1, and
 * that a run and `gpuplan collective` say the same. */
#include "cluster/collective_of.h"
#include "fixture.h"
#include "io/catalog.h"
#include "tests/near.h"
#include "tests/rows.h"

static struct catalog catalog;

static struct server_type server_called(const char *id)
{
    struct server_type server = { 0 };
    struct diag *diag = diag_create();
    struct key_reader reader = { .diag = diag };
    const struct yaml_node *entry = catalog_find(&catalog, CATALOG_SERVERS, id, diag);
    assert_non_null(entry);
    catalog_read_server(&reader, entry, NULL, &server);
    catalog_read_fit(&catalog, id, &server, diag);
    assert_int_equal(diag_status(diag), STATUS_OK);
    diag_destroy(diag);
    return server;
}

static struct link_type link_called(const char *id)
{
    struct link_type link = { 0 };
    struct diag *diag = diag_create();
    struct key_reader reader = { .diag = diag };
    catalog_read_link(&reader, catalog_find(&catalog, CATALOG_LINKS, id, diag), NULL, &link);
    assert_int_equal(diag_status(diag), STATUS_OK);
    diag_destroy(diag);
    return link;
}

static double reduce_s(const struct collective_hardware *hardware, uint32_t servers, uint32_t g,
                       double size, uint32_t allowed)
{
    const struct collective_group group = { .servers = servers,
                                            .gpus = servers * g,
                                            .gpus_min = g };
    return collective_time(hardware, OP_ALL_REDUCE, &group, size, allowed).total_s;
}

/* ---- C118: the hybrid cube mesh of a DGX-1, and rings in it ---- */

enum { MESH = 8 };
static const uint8_t cube_mesh[MESH][MESH] = {
    { 0, 1, 1, 2, 2, 0, 0, 0 }, { 1, 0, 2, 1, 0, 2, 0, 0 }, { 1, 2, 0, 2, 0, 0, 1, 0 },
    { 2, 1, 2, 0, 0, 0, 0, 1 }, { 2, 0, 0, 0, 0, 1, 1, 2 }, { 0, 2, 0, 0, 1, 0, 2, 1 },
    { 0, 0, 1, 0, 1, 2, 0, 2 }, { 0, 0, 0, 1, 2, 1, 2, 0 },
};

/* Most rings that fit into the links left at once; a ring takes one link of each pair it crosses, both ways. The ring grows
 * from `path`; rings are taken in the order they are found. */
static uint32_t rings_in(uint8_t left[MESH][MESH], const uint8_t *members, uint32_t count,
                         uint32_t most)
{
    uint8_t path[MESH];
    uint32_t best = 0, depth = 1, next[MESH] = { 0 };
    path[0] = members[0];
    while (depth > 0) {
        if (depth == count) {
            if (left[path[count - 1]][path[0]] > 0) {
                for (uint32_t i = 0; i < count; i++) {
                    left[path[i]][path[(i + 1) % count]]--;
                    left[path[(i + 1) % count]][path[i]]--;
                }
                const uint32_t more = most > 1 ? 1 + rings_in(left, members, count, most - 1) : 1;
                for (uint32_t i = 0; i < count; i++) {
                    left[path[i]][path[(i + 1) % count]]++;
                    left[path[(i + 1) % count]][path[i]]++;
                }
                if (more > best) best = more;
                if (best == most) return best;
            }
            depth--;
            continue;
        }
        uint32_t i = next[depth];
        for (; i < count; i++) {
            bool used = left[path[depth - 1]][members[i]] == 0;
            for (uint32_t j = 0; j < depth; j++) used = used || path[j] == members[i];
            if (!used) break;
        }
        if (i == count) {
            next[depth--] = 0;
            continue;
        }
        next[depth] = i + 1;
        path[depth++] = members[i];
        if (depth < count) next[depth] = 0;
    }
    return best;
}

/* Links that rings through the best `count` GPUs use in each direction. */
static uint32_t best_links(uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t set = 0; set < 1u << MESH; set++) {
        uint8_t members[MESH], left[MESH][MESH];
        uint32_t size = 0, links;
        for (uint32_t gpu = 0; gpu < MESH; gpu++)
            if (set >> gpu & 1) members[size++ % MESH] = (uint8_t)gpu;
        if (size != count) continue;
        memcpy(left, cube_mesh, sizeof left);
        links = count == 2 ? left[members[0]][members[1]] : 2 * rings_in(left, members, count, 3);
        if (links > best) best = links;
    }
    return best;
}

static void c118_rings_of_a_cube_mesh(void **state)
{
    (void)state;
    const struct server_type server = server_called("dgx-1-v100");
    const struct collective_hardware hardware = collective_of(&server, server.nics, NULL);
    assert_int_equal(best_links(8), 6); /* 122 GB/s measured: 20.33 a link */
    for (uint32_t g = 2; g <= MESH; g++) {
        const double time_s = reduce_s(&hardware, 1, g, 1e14, ALLOW_AUTO);
        CHECK_NEAR(2.0 * (g - 1) / g * 1e14 / time_s, best_links(g) * 122e9 / 6, 0.002);
    }
}

/* ---- what a layout takes from a fit ---- */

static void changed_servers_scale_the_lines(void **state)
{
    (void)state;
    struct server_type server = server_called("dgx-a100");
    const struct collective_hardware as_measured = collective_of(&server, 8, NULL);
    CHECK_NEAR(reduce_s(&as_measured, 1, 8, 1e14, ALLOW(ALGORITHM_RING)), 105e-6 + 1.75e14 / 232e9,
               1e-12);
    server.scaleup_bytes_per_s /= 2;
    server.scaleup_hop_s *= 3;
    const struct collective_hardware changed = collective_of(&server, 8, NULL);
    CHECK_NEAR(reduce_s(&changed, 1, 8, 1e14, ALLOW(ALGORITHM_RING)), 3 * 105e-6 + 1.75e14 / 116e9,
               1e-12);
}

/* Between servers a fit holds on its own network; a link named instead brings its own numbers. */
static void a_named_link_replaces_the_network_measured(void **state)
{
    (void)state;
    const struct server_type server = server_called("dgx-b200");
    const struct link_type link = link_called("ib-ndr400");
    const struct collective_hardware own = collective_of(&server, 8, NULL),
                                     named = collective_of(&server, 8, &link);
    CHECK_NEAR(own.network_hop_s, 74e-6, 1e-12);
    CHECK_NEAR(named.network_hop_s, link.hop_s, 1e-12);
    CHECK_NEAR(named.tree_hop_s, link.tree_hop_s, 1e-12);
    assert_true(named.tree_small.bytes_per_s == 0 && named.sharp && !own.sharp);
    assert_true(named.nvls.line[0].bytes_per_s == own.nvls.line[0].bytes_per_s);
}

/* On the link that was measured a layout has what was measured: two H100 servers 340 us and 478 GB/s (1.875 S on the bus), two
 * A100 servers of EFA 1,071 us and S over 4 NICs of 10.6 GB/s, a ring
 * there 14 steps inside and one of 80 us, twice. */
static void a_link_that_was_measured_keeps_the_numbers(void **state)
{
    (void)state;
    const struct server_type h100 = server_called("dgx-h100"), p4d = server_called("aws-p4d");
    const struct link_type ndr = link_called("ib-ndr400"), efa = link_called("efa-100");
    const struct collective_hardware two = collective_of(&h100, 8, &ndr),
                                     aws = collective_of(&p4d, 4, &efa);
    const double size = 16.0 * (1u << 30);
    CHECK_NEAR(reduce_s(&two, 2, 8, size, ALLOW_AUTO), 340e-6 + 1.875 * size / 478e9, 1e-12);
    CHECK_NEAR(reduce_s(&aws, 2, 8, size, ALLOW_AUTO), 1071e-6 + size / 42.4e9, 1e-12);
    CHECK_NEAR(reduce_s(&aws, 2, 8, 0, ALLOW(ALGORITHM_RING)), 2 * (14 * 3.4e-6 + 80e-6), 1e-12);
    assert_true(two.sharp && !aws.sharp);
    assert_int_equal(two.domain_servers, 1);
}

/* A layout that gives such a link hops of its own has these; faster or slower ports change nothing but what they carry. */
static void hops_of_ones_own_replace_those_measured(void **state)
{
    (void)state;
    const struct server_type server = server_called("dgx-h100");
    struct link_type link = link_called("ib-ndr400");
    snprintf(link.id, sizeof link.id, "ib-ndr400-changed");
    link.bytes_per_s = 12.5e9;
    const struct collective_hardware slower = collective_of(&server, 8, &link);
    CHECK_NEAR(reduce_s(&slower, 2, 8, 1e12, ALLOW_AUTO), 340e-6 + 1e12 / 100e9, 1e-12);
    link.tree_hop_s = 50e-6;
    const struct collective_hardware farther = collective_of(&server, 8, &link);
    assert_true(farther.two_servers.bytes_per_s == 0 && farther.tree_small.bytes_per_s == 0);
    CHECK_NEAR(farther.tree_hop_s, 50e-6, 1e-12);
}

/* Two racks of 18 trays: 427 GB/s between NVLink domains on the link measured, and no more on one of twice its rate. */
static void the_rate_between_domains_bounds_other_links(void **state)
{
    (void)state;
    static const char *const links[] = { "ib-ndr400", "ib-xdr800" };
    const struct server_type server = server_called("gb200-nvl72");
    for (size_t i = 0; i < 2; i++) {
        const struct link_type link = link_called(links[i]);
        struct collective_hardware hardware = collective_of(&server, 4, &link);
        hardware.domain_servers = 18;
        CHECK_NEAR(2 * 143 / 144.0 * 1e14 / reduce_s(&hardware, 36, 4, 1e14, ALLOW_AUTO), 427e9,
                   1e-4);
    }
}

/* What a tree waits between servers is the network's: on one without limits 13.7 us are left, the start in one server. */
static void levels_of_a_tree_are_between_servers(void **state)
{
    (void)state;
    const struct server_type server = server_called("dgx-h100");
    const struct collective_hardware hardware = collective_of(&server, 8, NULL);
    const struct collective_group group = { .servers = 16, .gpus = 128, .gpus_min = 8 };
    const struct collective_result small =
        collective_time(&hardware, OP_ALL_REDUCE, &group, 1e-3, ALLOW_AUTO);
    CHECK_NEAR(small.total_s, 13.7e-6 + 2 * 4 * 27.7e-6, 1e-7);
    CHECK_NEAR(small.intra_s, 13.7e-6, 1e-7);
}

/* The line of four B200 servers carries 282 of 388 GB/s: more than LL can. */
static void the_protocol_of_a_small_line_follows_from_its_rate(void **state)
{
    (void)state;
    const struct server_type b200 = server_called("dgx-b200"), h100 = server_called("dgx-h100");
    assert_int_equal(collective_of(&b200, 8, NULL).tree_small_protocol, PROTOCOL_LL128);
    assert_int_equal(collective_of(&h100, 8, NULL).tree_small_protocol, PROTOCOL_LL);
}

/* S bytes leave and enter each of two servers (c(2) = 1), so they take S/W: with one NIC of 48.5 GB/s 22.1 ms for 1 GiB, and
 * the 478 GB/s that the NVSwitch sums from 5.26 NICs on. More NICs never take longer. */
static void two_servers_are_bounded_by_their_nics(void **state)
{
    (void)state;
    const struct server_type server = server_called("dgx-h100");
    const double size = 1u << 30;
    double before_s = INFINITY;
    for (uint32_t nics = 1; nics <= 16; nics *= 2) {
        const struct collective_hardware hardware = collective_of(&server, nics, NULL);
        const double carried = 1.875 * nics * 48.5e9,
                     time_s = reduce_s(&hardware, 2, 8, size, ALLOW_AUTO);
        const double bus_bytes_per_s = carried < 478e9 ? carried : 478e9;
        CHECK_NEAR(time_s, 340e-6 + 1.875 * size / bus_bytes_per_s, 1e-12);
        CHECK(time_s <= before_s, "%u NICs", nics);
        before_s = time_s;
    }
}

/* LL sends a flag with every four bytes: of one NIC half is left to the data; LL128 sends 120 of 128. */
static void small_trees_leave_room_for_flags(void **state)
{
    (void)state;
    const struct server_type server = server_called("dgx-h100");
    struct collective_hardware hardware = collective_of(&server, 1, NULL);
    hardware.tree_hop_s = 1; /* the line of small messages alone is left */
    const double size = 1u << 30, start_s = 13.7e-6 + 2 * 2 * 27.7e-6, bus = 2 * 31 / 32.0 * size;
    CHECK_NEAR(reduce_s(&hardware, 4, 8, size, ALLOW(ALGORITHM_TREE)), start_s + bus / 24.25e9,
               1e-12);
    hardware.tree_small.bytes_per_s = 282e9;
    hardware.tree_small_protocol = PROTOCOL_LL128;
    CHECK_NEAR(reduce_s(&hardware, 4, 8, size, ALLOW(ALGORITHM_TREE)),
               start_s + bus / (48.5e9 * 120 / 128), 1e-12);
}

/* Without GPUDirect and with one NIC of 50 Gb/s, 2 + 2 GPUs are slower than 1 + 1 + 1 + 1 (MODELS 2.10), as measured (models/staging):
 * 1.5 S over 0.6 GB/s, 1.06 x 1.4 times that; start-up is left out. Another network, or a layout with GPUDirect: as it says. */
static void t4_servers_stage_as_measured(void **state)
{
    (void)state;
    struct server_type server = server_called("aws-g4dn-12xlarge");
    const struct link_type link = link_called("roce-100");
    const struct collective_hardware own = collective_of(&server, server.nics, NULL),
                                     named = collective_of(&server, server.nics, &link);
    const struct collective_hardware *const both[] = { &own, &named };
    for (size_t i = 0; i < 2; i++) {
        const double dense_s = reduce_s(both[i], 2, 2, 1e9, ALLOW_AUTO),
                     sparse_s = reduce_s(both[i], 4, 1, 1e9, ALLOW_AUTO);
        CHECK_NEAR(sparse_s, 1.5 / 0.6, 1e-3);
        CHECK_NEAR(dense_s, 1.06 * 1.4 * 1.5 / 0.6, 1e-3);
    }
    server.gpudirect = true;
    server.gdr_max = LINK_SYS;
    const struct collective_hardware direct = collective_of(&server, server.nics, NULL);
    CHECK_NEAR(reduce_s(&direct, 2, 2, 1e9, ALLOW_AUTO), 1.5 / 5.8, 1e-3);
}

/* ---- NICs in use (MODELS 1.4, spec/nic_map): bandwidth terms of g GPUs on each of four servers ---- */

static const struct in_use {
    const char *name, *server, *link;
    uint32_t gpus;
    double ring_bytes_per_s, pair_bytes_per_s; /* W; of one GPU that sends to the next */
} in_use[] = {
    { "one of eight GPUs, its own NIC", "gcp-a3-mega", NULL, 1, 23.5e9, 23.5e9 },
    { "on NDR, not what its PCIe could do", "dgx-h100", "ib-ndr400", 1, 48.5e9, 48.5e9 },
    { "four of eight", "dgx-h100", "ib-ndr400", 4, 4 * 48.5e9, 48.5e9 },
    { "all eight, as k nic of 2.4", "hgx-h800-8", "ib-ndr400", 8, 164.8e9, 48.5e9 },
    { "two NICs a GPU", "aws-p5en", NULL, 1, 2 * 24.2e9, 2 * 24.2e9 },
    { "a NIC of two GPUs, one alone", "aws-p4d", NULL, 1, 10.6e9, 10.6e9 },
    { "both", "aws-p4d", NULL, 2, 10.6e9, 10.6e9 },
    { "and one on the next", "aws-p4d", NULL, 3, 2 * 10.6e9, 10.6e9 },
};

static void nics_in_use(void **state)
{
    const struct in_use *row = &in_use[rows_number(state)];
    const struct server_type server = server_called(row->server);
    const struct link_type link = row->link ? link_called(row->link) : (struct link_type){ 0 };
    const struct collective_hardware hardware =
        collective_of(&server, server.nics, row->link ? &link : NULL);
    const uint32_t n = 4 * row->gpus;
    const struct collective_group group = { .servers = 4, .gpus = n, .gpus_min = row->gpus };
    const struct collective_result ring =
        collective_time(&hardware, OP_ALL_REDUCE, &group, 1e9, ALLOW(ALGORITHM_RING));
    CHECK_NEAR(ring.wire_s, 2.0 * (n - 1) / n * 1e9 / row->ring_bytes_per_s, 1e-12);
    const struct collective_result pair =
        collective_time(&hardware, OP_SEND_RECV, &group, 1e9, ALLOW_AUTO);
    CHECK_NEAR(pair.wire_s, 1e9 / row->pair_bytes_per_s, 1e-12);
}

/* ---- a run and the command ---- */

static const struct agreement {
    const char *name, *recorded, *server, *link;
    enum allreduce_rule rule;
    uint32_t allowed, servers, gpus;
    double size;
    bool sharp; /* the layout says that its fabric sums */
} agreements[] = {
    { "rings, two halves of a DGX A100", "dgx-a100", "hgx-a100-4", "ib-hdr200", RULE_FLAT_RING,
      ALLOW(ALGORITHM_RING), 2, 4, 1e9, false },
    { "sums in the switch", "hgx-h100-4", "dgx-h100", "ib-ndr400", RULE_AUTO, ALLOW_AUTO, 1, 8, 3e8,
      false },
    { "small messages over trees", "dgx-h100", "h100-sxm-1", "ib-ndr400", RULE_AUTO, ALLOW_AUTO, 8,
      1, 1e5, false },
    { "staged through the host", "pcie-8xrtx4090", "pcie-8xrtx4090", "roce-100", RULE_FLAT_RING,
      ALLOW(ALGORITHM_RING), 2, 8, 1e8, false },
    { "staged, 2 + 2 GPUs", "aws-g4dn-12xlarge", "aws-g4dn-12xlarge", "roce-100", RULE_AUTO,
      ALLOW_AUTO, 2, 2, 1e8, false },
    { "staged, 1 + 1 + 1 + 1 GPUs", "aws-g4dn-12xlarge", "aws-g4dn-12xlarge", "roce-100", RULE_AUTO,
      ALLOW_AUTO, 4, 1, 1e8, false },
    { "bridged pairs", "pcie4-8", "pcie-4xa100", "ib-hdr200", RULE_AUTO, ALLOW_AUTO, 2, 4, 1e8,
      false },
    { "sums in the fabric, asked for", "dgx-h100", "hgx-h100-4", "ib-ndr400", RULE_SHARP,
      ALLOW(ALGORITHM_SHARP), 8, 4, 4e9, false },
    { "sums in a fabric that has them", "dgx-h100", "h100-sxm-2", "ib-ndr400", RULE_AUTO,
      ALLOW_AUTO | ALLOW(ALGORITHM_SHARP), 16, 2, 4e9, true },
    { "sums in a fabric, best", "hgx-h100-4", "dgx-h100", "ib-ndr400", RULE_BEST, ALLOW_ALL, 4, 8,
      4e9, true },
    { "best without sums", "hgx-h100-4", "dgx-h100", "ib-ndr400", RULE_BEST,
      ALLOW_ALL & ~ALLOW(ALGORITHM_SHARP), 4, 8, 4e9, false },
};

/* Recorded on one server or the fewest of a type; kappa 0.5, nothing hidden: D (1 + 0.5 r)/1.5, r the ratio of the times
 * that the command prints. */
static void a_run_takes_the_command_s_time(void **state)
{
    const struct agreement *row = &agreements[rows_number(state)];
    const struct server_type recorded = server_called(row->recorded);
    struct server_type server = server_called(row->server);
    server.gpus = row->gpus; /* half a T4 server, or all */
    const struct link_type link = link_called(row->link);
    struct fixture fixture;
    fixture_init(&fixture, 1);
    fixture.scenario.communication.kind = COMM_PROFILE;
    fixture.scenario.communication.allreduce = row->rule;
    fixture.scenario.communication.mix_count = 1;
    fixture.scenario.communication.mix[0] = (struct mix_entry){
        .profile = { .kappa_one = 0.5, .kappa_many = 0.5, .size_bytes = row->size },
        .weight = 1,
        .gpus_min = 1,
        .gpus_max = UINT32_MAX
    };
    struct layout *layout = fixture_layout(&fixture, "here", row->servers, row->gpus);
    layout->server = server;
    layout->fabric.link = link;
    layout->fabric.link.switch_ports = 1u << 20;
    layout->fabric.sharp = row->sharp;
    layout->fabric.nics_per_server = server.nics;
    fixture.scenario.recorded_server = recorded;
    fixture.scenario.recorded_count = 1000; /* on one switch */
    const uint32_t gpus = row->servers * row->gpus;
    fixture_job(&fixture, 0, 0, 10000, 0, gpus);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);

    struct link_type before = link; /* of the recorded network nothing is known but its NICs */
    before.bytes_per_s = recorded.nic_bytes_per_s;
    const struct collective_hardware here = collective_of(&server, server.nics, &link),
                                     there = collective_of(&recorded, recorded.nics, &before);
    const uint32_t fewest = (gpus + recorded.gpus - 1) / recorded.gpus;
    const double r = reduce_s(&here, row->servers, row->gpus, row->size, row->allowed) /
                     reduce_s(&there, fewest, gpus / fewest, row->size, row->allowed);
    CHECK_NEAR(s_from_ns(result.run_end_ns), 10000 * (1 + 0.5 * r) / 1.5, 1e-7);
    const struct collective_group group = { .servers = row->servers,
                                            .gpus = gpus,
                                            .gpus_min = row->gpus };
    const struct collective_result time =
        collective_time(&here, OP_ALL_REDUCE, &group, row->size, row->allowed);
    const struct attempt_row *attempt = LOG_ITEMS(&result.attempts, const struct attempt_row);
    assert_int_equal(result.attempts.count, 1); /* the row says which it was */
    assert_string_equal(attempt->algorithm, collective_algorithm_names[time.algorithm]);
    assert_string_equal(attempt->bottleneck, collective_bottleneck_names[time.bottleneck]);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    struct diag *diag = diag_create();
    if (catalog_open(&catalog, diag) != STATUS_OK) {
        diag_print(diag, stderr);
        return 1;
    }
    diag_destroy(diag);
    struct rows rows = { 0 };
    rows_add(&rows, c118_rings_of_a_cube_mesh, NULL, "C118: rings of a cube mesh");
    rows_add(&rows, changed_servers_scale_the_lines, NULL, "changed servers scale the lines");
    rows_add(&rows, a_named_link_replaces_the_network_measured, NULL,
             "a named link replaces the network measured");
    rows_add(&rows, a_link_that_was_measured_keeps_the_numbers, NULL,
             "a link that was measured keeps the numbers");
    rows_add(&rows, hops_of_ones_own_replace_those_measured, NULL,
             "hops of one's own replace those measured");
    rows_add(&rows, the_rate_between_domains_bounds_other_links, NULL,
             "the rate between domains bounds other links");
    rows_add(&rows, the_protocol_of_a_small_line_follows_from_its_rate, NULL,
             "the protocol of a small line follows from its rate");
    rows_add(&rows, levels_of_a_tree_are_between_servers, NULL,
             "levels of a tree are between servers");
    rows_add(&rows, two_servers_are_bounded_by_their_nics, NULL,
             "two servers are bounded by their NICs");
    rows_add(&rows, small_trees_leave_room_for_flags, NULL, "small trees leave room for flags");
    rows_add(&rows, t4_servers_stage_as_measured, NULL, "T4 servers stage as measured");
    for (uintptr_t row = 0; row < sizeof in_use / sizeof *in_use; row++)
        rows_add(&rows, nics_in_use, (void *)row, "NICs in use: %s", in_use[row].name);
    for (uintptr_t row = 0; row < sizeof agreements / sizeof *agreements; row++)
        rows_add(&rows, a_run_takes_the_command_s_time, (void *)row,
                 "a run takes the command's time: %s", agreements[row].name);
    const int failed = rows_run("collective_of", &rows);
    catalog_close(&catalog);
    return failed;
}
