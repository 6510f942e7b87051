/* kube_parts.h - thousandths of GPUs on a node, as KAI gives them out for the annotation gpu-fraction (SCHEDULING 3.5).
 *
 * A part lies on one GPU, whose parts sum to 1000 at most. It goes to the GPU in parts with the least left that has room, a
 * whole GPU is opened only when none has. Pure functions. Leaves out: gpu-memory, parts of several GPUs for one pod, KAI's
 * spread placement, and that the pod which reserves an opened GPU would be aligned by the topology manager.
 * Source: KAI's plugins gpupack and gpusharingorder.
 * Tests: tests/test_kube_parts.c */
#ifndef GPUPLAN_POLICY_KUBE_PARTS_H
#define GPUPLAN_POLICY_KUBE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

enum { KUBE_GPU_MILLI = 1000, KUBE_NODE_GPUS = 32 };

/* What is left of the GPUs of a node that are given out in parts: ascending, behind the last one 0. */
struct kube_open {
    uint16_t left[KUBE_NODE_GPUS];
};

/* One more such GPU, of which so much is left; 0 changes nothing. */
void kube_open_add(struct kube_open *open, uint32_t left);

/* Gives out a part; *whole are the free whole GPUs. False, and nothing changes: it fits nowhere. */
bool kube_open_take(struct kube_open *open, uint16_t *whole, uint32_t milli);

/* The largest part that fits now, 0 .. 1000. */
uint32_t kube_open_largest(const struct kube_open *open, uint32_t whole);

/* How many parts of this size fit, milli >= 1. */
uint32_t kube_open_places(const struct kube_open *open, uint32_t whole, uint32_t milli);

/* The GPUs of a node one by one, for whoever asks what fits when some of their pods are gone. */
struct kube_gpus {
    uint32_t in_service;           /* mask                                                      */
    uint32_t reserved;             /* whole GPUs that are kept for somebody                      */
    uint32_t own;                  /* parts kept for earlier pods of the job that asks             */
    uint16_t used[KUBE_NODE_GPUS]; /* thousandths of each                                       */
};

/* Pods that have `milli` of each GPU of the mask come (sign +1) or go (-1). */
void kube_gpus_change(struct kube_gpus *gpus, uint32_t mask, uint32_t milli, int sign);

/* Whether `whole` GPUs, or one part of `milli`, are free beside what is kept. */
bool kube_gpus_fit(const struct kube_gpus *gpus, uint32_t whole, uint32_t milli);

#endif
