/* test_collective_domains.c - models/collective_time where servers share an NVLink domain (MODELS 1.8), by hand. */
#include "models/collective_time.h"

#include "tests/near.h"
#include "tests/rows.h"

static const double GIB = 1073741824, NIC = 48.5e9;

/* Trays of four GPUs and four NICs, eighteen of them a domain. */
static struct collective_hardware trays(void)
{
    return (struct collective_hardware){ .gpus = 4,
                                         .scaleup_bytes_per_s = 370.8e9,
                                         .scaleup_hop_s = 3.4e-6,
                                         .domain_servers = 18,
                                         .nics = 4,
                                         .nic_bytes_per_s = NIC,
                                         .gpu_pcie_bytes_per_s = 55e9,
                                         .host_memory_bytes_per_s = 300e9,
                                         .gpudirect = true,
                                         .network_hop_s = 14e-6,
                                         .uplinks_bytes_per_s = INFINITY };
}

static struct collective_result reduce(const struct collective_hardware *hardware, uint32_t servers,
                                       uint32_t allowed)
{
    const struct collective_group group = { .servers = servers,
                                            .gpus = 4 * servers,
                                            .gpus_min = 4 };
    return collective_time(hardware, OP_ALL_REDUCE, &group, GIB, allowed);
}

/* 72 GPUs are one server, 1,440 are twenty. */
static void a_domain_is_one_server(void **state)
{
    (void)state;
    struct collective_hardware hardware = trays();
    hardware.lines_gpus = 72;
    hardware.nvls = (struct collective_lines){ { { 13.7e-6, 134e9 }, { 97e-6, 480e9 } } };
    hardware.tree_hop_s = 35e-6;
    hardware.domain_bytes_per_s = 427e9;
    CHECK_NEAR(reduce(&hardware, 18, ALLOW_AUTO).total_s, 97e-6 + 2 * 71 / 72.0 * GIB / 480e9,
               1e-12);
    CHECK_NEAR(reduce(&hardware, 360, ALLOW(ALGORITHM_TREE)).total_s,
               97e-6 + 10 * 35e-6 + 2 * 1439 / 1440.0 * GIB / 370.8e9, 1e-12);
}

/* 19 trays are a domain of 18 and one of a single tray, whose 4 NICs carry the ring. Of 20 trays with one NIC each the second
 * domain has two. */
static void the_last_domain_is_the_emptiest(void **state)
{
    (void)state;
    struct collective_hardware hardware = trays();
    CHECK_NEAR(reduce(&hardware, 19, ALLOW_AUTO).total_s,
               2 * 74 * 3.4e-6 + 2 * 14e-6 + 2 * 75 / 76.0 * GIB / (4 * NIC), 1e-12);
    assert_int_equal(reduce(&hardware, 19, ALLOW_AUTO).bottleneck, BOTTLENECK_NIC);
    hardware.nics = 1;
    CHECK_NEAR(reduce(&hardware, 20, ALLOW_AUTO).total_s,
               2 * 78 * 3.4e-6 + 2 * 14e-6 + 2 * 79 / 80.0 * GIB / (2 * NIC), 1e-12);
}

/* 8 trays in domains of 6, 1 and 1. All-to-all: 28 of 32 parts leave the smallest, over a NIC a GPU at the 88 % that three
 * servers reach. */
static void a_placement_says_how_domains_are_filled(void **state)
{
    (void)state;
    const struct collective_hardware hardware = trays();
    const struct collective_group group = {
        .servers = 8, .gpus = 32, .gpus_min = 4, .domains = 3, .domain_servers = 1, .domain_gpus = 4
    };
    CHECK_NEAR(collective_time(&hardware, OP_ALL_REDUCE, &group, GIB, ALLOW_AUTO).total_s,
               2 * 29 * 3.4e-6 + 4 * 14e-6 + 2 * 31 / 32.0 * GIB / (4 * NIC), 1e-12);
    CHECK_NEAR(collective_time(&hardware, OP_ALL_TO_ALL, &group, GIB, ALLOW_AUTO).total_s,
               14e-6 + 28 * 0.5e-6 + 28 / 32.0 * GIB / (NIC * 0.88), 1e-12);
}

/* What rings were measured to pass between domains says nothing of pairs: 36 trays in two domains send half of what each GPU
 * holds to the other one, over a NIC a GPU: 4 * 18 of them. */
static void pairs_between_domains_take_their_nics(void **state)
{
    (void)state;
    struct collective_hardware hardware = trays();
    hardware.domain_bytes_per_s = 200e9; /* less than NVLink */
    assert_int_equal(reduce(&hardware, 36, ALLOW_AUTO).bottleneck, BOTTLENECK_DOMAIN);
    const struct collective_group group = { .servers = 36, .gpus = 144, .gpus_min = 4 };
    const struct collective_result result =
        collective_time(&hardware, OP_ALL_TO_ALL, &group, GIB, ALLOW_AUTO);
    assert_int_equal(result.bottleneck, BOTTLENECK_NIC);
    hardware.domain_bytes_per_s = 0;
    CHECK_NEAR(result.total_s,
               collective_time(&hardware, OP_ALL_TO_ALL, &group, GIB, ALLOW_AUTO).total_s, 1e-12);
    assert_true(result.total_s < 14e-6 + 72 * 0.5e-6 + GIB / 2 / NIC / 0.8);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, a_domain_is_one_server, NULL, "a domain is one server");
    rows_add(&rows, the_last_domain_is_the_emptiest, NULL, "the last domain is the emptiest");
    rows_add(&rows, a_placement_says_how_domains_are_filled, NULL, "domains of 6, 1 and 1 trays");
    rows_add(&rows, pairs_between_domains_take_their_nics, NULL, "pairs between domains");
    return rows_run("collective_domains", &rows);
}
