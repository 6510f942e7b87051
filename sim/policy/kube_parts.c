/* kube_parts.c - see kube_parts.h. */
#include "policy/kube_parts.h"

#include "base/assert.h"

static uint32_t count_of(const struct kube_open *open)
{
    uint32_t count = 0;
    while (count < KUBE_NODE_GPUS && open->left[count]) count++;
    return count;
}

void kube_open_add(struct kube_open *open, uint32_t left)
{
    if (left == 0) return;
    uint32_t at = count_of(open);
    ASSERT(at < KUBE_NODE_GPUS && left <= KUBE_GPU_MILLI);
    for (; at > 0 && open->left[at - 1] > left; at--) open->left[at] = open->left[at - 1];
    open->left[at] = (uint16_t)left;
}

bool kube_open_take(struct kube_open *open, uint16_t *whole, uint32_t milli)
{
    const uint32_t count = count_of(open);
    uint32_t at = 0, left = KUBE_GPU_MILLI;
    while (at < count && open->left[at] < milli) at++;
    if (at == count) {
        if (*whole == 0) return false;
        --*whole;
    } else {
        left = open->left[at];
        for (; at + 1 < count; at++) open->left[at] = open->left[at + 1];
        open->left[at] = 0;
    }
    kube_open_add(open, left - milli);
    return true;
}

uint32_t kube_open_largest(const struct kube_open *open, uint32_t whole)
{
    const uint32_t count = count_of(open);
    return whole ? KUBE_GPU_MILLI : count ? open->left[count - 1] : 0;
}

uint32_t kube_open_places(const struct kube_open *open, uint32_t whole, uint32_t milli)
{
    uint32_t places = whole * (KUBE_GPU_MILLI / milli);
    for (uint32_t i = 0, count = count_of(open); i < count; i++) places += open->left[i] / milli;
    return places;
}

void kube_gpus_change(struct kube_gpus *gpus, uint32_t mask, uint32_t milli, int sign)
{
    for (; mask; mask &= mask - 1) {
        uint16_t *used = &gpus->used[__builtin_ctz(mask)];
        *used = (uint16_t)(*used + sign * (int)milli);
        ASSERT(*used <= KUBE_GPU_MILLI);
    }
}

bool kube_gpus_fit(const struct kube_gpus *gpus, uint32_t whole, uint32_t milli)
{
    uint32_t idle = 0, places = 0;
    for (uint32_t left = gpus->in_service; left; left &= left - 1) {
        const uint32_t used = gpus->used[__builtin_ctz(left)];
        idle += used == 0;
        if (milli) places += (KUBE_GPU_MILLI - used) / milli;
    }
    if (idle < whole + gpus->reserved) return false;
    return milli == 0 || places > gpus->own + gpus->reserved * (KUBE_GPU_MILLI / milli);
}
