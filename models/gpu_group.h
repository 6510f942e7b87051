/* gpu_group.h - which GPUs of a node a container gets, by how well they are linked (SCHEDULING 4).
 *
 * The free GPUs are divided into groups of the wanted size so that the sum of the groups' scores is
 * largest; of that division the best group is taken. A group's score is the sum over its pairs.
 * Looking only for the best single group would break up what the next container needs.
 *
 * Pure functions. Source: best-effort policy of NVIDIA's device plugin (go-gpuallocator).
 * Tests: tests/test_gpu_group.c */
#ifndef GPUPLAN_MODELS_GPU_GROUP_H
#define GPUPLAN_MODELS_GPU_GROUP_H

#include <stdint.h>

enum {
    GPU_GROUP_WIDTH = 32, /* GPUs in a node, one bit each                                       */
    GPU_GROUP_MOST = 16,  /* free GPUs that are divided exactly: 16 give two million divisions    */
};

/* Pair scores, in the words of the device plugin: 100 for each NVLink, plus how close they are on PCIe. */
enum {
    PAIR_NVLINK = 100,
    PAIR_FAR_SOCKET = 10,
    PAIR_SAME_SOCKET = 20,
    PAIR_HOST_BRIDGE = 30,
    PAIR_MANY_SWITCHES = 40,
    PAIR_ONE_SWITCH = 50,
    PAIR_ONE_BOARD = 60,
};

/* Sum of the pair scores of a set of GPUs. score: symmetric, its diagonal is not read. */
int32_t gpu_group_score(const int16_t score[GPU_GROUP_WIDTH][GPU_GROUP_WIDTH], uint32_t group);

/* The group of `size` of the GPUs in `available`, with all of `must`; 0 when there is none. First on
 * ties, in the order of lowest GPUs. GPUs that do not fill a group form one of their own, which counts in
 * the sum and is never taken. Behind GPU_GROUP_MOST available GPUs only the lowest of them (after those of
 * `must`) are divided. */
uint32_t gpu_group_preferred(const int16_t score[GPU_GROUP_WIDTH][GPU_GROUP_WIDTH],
                             uint32_t available, uint32_t must, uint32_t size);

#endif
