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
                                   .gpus_per_server = 4,
                                   .peak_flops_per_s = 100e12,
                                   .efficiency = 0.5,
                                   .memory_bytes = INFINITY,
                                   .memory_bytes_per_s = INFINITY,
                                   .intra_bytes_per_s = 100e9,
                                   .network_bytes_per_s = 40e9 };
}

static inline double parts_of(const struct train_time *time)
{
    return time->compute_s + time->stall_intra_s + time->stall_inter_s + time->bubble_s +
           time->data_s + time->optimizer_s + time->fixed_s + time->straggler_s;
}

#endif
