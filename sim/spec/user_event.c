/* user_event.c - see user_event.h. */
#include "spec/user_event.h"

#include <string.h>

const char *const user_action_names[ACTIONS] = {
    [ACTION_NODE_DOWN] = "node_down",
    [ACTION_NODE_UP] = "node_up",
    [ACTION_DRAIN] = "drain",
    [ACTION_RESUME] = "resume",
    [ACTION_NIC_DEGRADE] = "nic_degrade",
    [ACTION_NIC_DEAD] = "nic dead",
    [ACTION_NIC_REPAIR] = "nic_repair",
    [ACTION_UPLINK_DEGRADE] = "uplink_degrade",
    [ACTION_UPLINK_REPAIR] = "uplink_repair",
    [ACTION_GPU_FAIL] = "gpu_fail",
    [ACTION_GPU_REPAIR] = "gpu_repair",
    [ACTION_SCANCEL] = "scancel",
    [ACTION_REQUEUE] = "requeue",
    [ACTION_REQUEUE_HOLD] = "requeue_hold",
    [ACTION_HOLD] = "hold",
    [ACTION_RELEASE] = "release",
};

uint32_t leaf_of_target(const char *target, const char *layout)
{
    static const char word[] = "-leaf";
    const size_t bytes = strlen(layout);
    if (strncmp(target, layout, bytes) != 0) return LEAF_NONE;
    if (strncmp(target + bytes, word, sizeof word - 1) != 0) return LEAF_NONE;
    const char *digit = target + bytes + sizeof word - 1;
    uint32_t leaf = 0;
    if (*digit == '\0' || (*digit == '0' && digit[1] != '\0')) return LEAF_NONE;
    for (; *digit >= '0' && *digit <= '9' && leaf < 100000000; digit++)
        leaf = 10 * leaf + (uint32_t)(*digit - '0');
    return *digit == '\0' ? leaf : LEAF_NONE;
}
