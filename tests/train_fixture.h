/* train_fixture.h - a model, a plan and a machine with round numbers, for the tests of training plans. */
#ifndef TESTS_TRAIN_FIXTURE_H
#define TESTS_TRAIN_FIXTURE_H

#include "models/train_step.h"
#include "tests/near.h"

/* 1e9 parameters, 8 layers of 2,048 wide, 16 heads, 1,024 tokens a sample. */
static inline struct train_model small_model(void)
{
    return (struct train_model){ .parameters = 1e9,
                                 .active_parameters = 1e9,
                                 .layers = 8,
                                 .hidden = 2048,
                                 .heads = 16,
                                 .sequence = 1024 };
}

/* Servers of 4 GPUs of 100 TFLOP/s at half of it; 100 GB/s inside, 4 NICs of 10 GB/s. */
static inline struct train_machine small_machine(uint32_t gpus)
{
    return (struct train_machine){ .gpus = gpus,
                                   .peak_flops_per_s = 100e12,
                                   .efficiency = 0.5,
                                   .memory_bytes = INFINITY,
                                   .memory_bytes_per_s = INFINITY,
                                   .fabric = { .gpus = 4,
                                               .scaleup_bytes_per_s = 100e9,
                                               .domain_servers = 1,
                                               .nics = 4,
                                               .nic_bytes_per_s = 10e9,
                                               .gpu_pcie_bytes_per_s = INFINITY,
                                               .host_memory_bytes_per_s = INFINITY,
                                               .gpudirect = true,
                                               .uplinks_bytes_per_s = INFINITY },
                                   .allowed = ALLOW(ALGORITHM_RING) | ALLOW(ALGORITHM_DIRECT) };
}

static inline double parts_of(const struct train_time *time)
{
    return time->compute_s + time->stall_intra_s + time->stall_inter_s + time->bubble_s +
           time->data_s + time->optimizer_s + time->fixed_s + time->straggler_s;
}

#endif
