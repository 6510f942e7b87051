/* test_collective_time.c - models/collective_time: the closed forms where nothing was measured, by hand where a fit
 * stands, and what must hold for any hardware. */
#include "models/collective_time.h"

#include "models/collective.h"
#include "tests/near.h"

/* Eight H100 and eight NDR NICs by the constants of MODELS 12. */
static struct collective_hardware plain_hardware(void)
{
    return (struct collective_hardware){ .gpus = 8,
                                         .scaleup_bytes_per_s = 370.8e9,
                                         .scaleup_hop_s = 3.4e-6,
                                         .domain_servers = 1,
                                         .nics = 8,
                                         .nic_bytes_per_s = 48.5e9,
                                         .gpu_pcie_bytes_per_s = 55e9,
                                         .host_memory_bytes_per_s = 300e9,
                                         .gpudirect = true,
                                         .network_hop_s = 14e-6,
                                         .uplinks_bytes_per_s = INFINITY };
}

/* The rows of MODELS 2.4: the same eight GPUs as 1x8, 2x4, 4x2, 8x1. */
static void rings_are_those_of_the_model(void **state)
{
    (void)state;
    static const double busbw_gb[] = { 367.349, 192.632, 96.4464, 48.2559 };
    const double size = 1073741824;
    for (uint32_t i = 0; i < 4; i++) {
        struct collective_hardware hardware = plain_hardware();
        const uint32_t servers = 1u << i, g = 8 / servers;
        hardware.gpus = hardware.nics = g;
        const struct collective_group group = { servers, 8, g, false };
        const struct collective_result result =
            collective_time(&hardware, OP_ALL_REDUCE, &group, size, ALLOW(ALGORITHM_RING));
        CHECK_NEAR(collective_bus_factor(OP_ALL_REDUCE, 8) * size / result.total_s / 1e9,
                   busbw_gb[i], 1e-5);
        assert_int_equal(result.bottleneck, i ? BOTTLENECK_NIC : BOTTLENECK_NVLINK);
    }
}

/* Without GPUDirect each GPU stages for itself: of 3 + 1 GPUs behind one NIC the three set the pace, 1.5 x 1 GB at a third of
 * 6 GB/s; 2 + 2 take half of it; 1 + 1 + 1 + 1 all of it, and are faster. */
static void staged_by_the_fullest_server(void **state)
{
    (void)state;
    struct collective_hardware hardware = plain_hardware();
    hardware.gpus = 4;
    hardware.nics = 1;
    hardware.nic_bytes_per_s = 6e9;
    hardware.gpudirect = false;
    hardware.scaleup_hop_s = hardware.network_hop_s = 0;
    static const struct {
        struct collective_group group;
        double share;
    } cases[] = { { { 2, 4, 1, false }, 3 }, { { 2, 4, 2, false }, 2 }, { { 4, 4, 1, false }, 1 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_NEAR(
            collective_time(&hardware, OP_ALL_REDUCE, &cases[i].group, 1e9, ALLOW(ALGORITHM_RING))
                .total_s,
            1.5 * 1e9 / (6e9 / cases[i].share), 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_are_those_of_the_model),
        cmocka_unit_test(staged_by_the_fullest_server),
    };
    return cmocka_run_group_tests_name("collective_time", tests, NULL, NULL);
}
