/* user_event.c - see user_event.h. */
#include "spec/user_event.h"

const char *const user_action_names[ACTIONS] = {
    [ACTION_NODE_DOWN] = "node_down",
    [ACTION_NODE_UP] = "node_up",
    [ACTION_DRAIN] = "drain",
    [ACTION_RESUME] = "resume",
    [ACTION_NIC_DEGRADE] = "nic_degrade",
    [ACTION_NIC_DEAD] = "nic dead",
    [ACTION_NIC_REPAIR] = "nic_repair",
    [ACTION_GPU_FAIL] = "gpu_fail",
    [ACTION_GPU_REPAIR] = "gpu_repair",
    [ACTION_SCANCEL] = "scancel",
    [ACTION_REQUEUE] = "requeue",
    [ACTION_REQUEUE_HOLD] = "requeue_hold",
    [ACTION_HOLD] = "hold",
    [ACTION_RELEASE] = "release",
};
