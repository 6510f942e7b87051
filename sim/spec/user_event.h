/* user_event.h - what an administrator or user does at a stated time: `events[]` of a scenario. */
#ifndef GPUPLAN_SPEC_USER_EVENT_H
#define GPUPLAN_SPEC_USER_EVENT_H

#include "base/limits.h"

#include <stdbool.h>
#include <stdint.h>

enum user_action {
    ACTION_NODE_DOWN,  /* broken now: its jobs end on all their nodes                            */
    ACTION_NODE_UP,    /* the opposite of NODE_DOWN                                              */
    ACTION_DRAIN,      /* no new jobs; those that run go on. `cordon` is the same                */
    ACTION_RESUME,     /* the opposite of DRAIN, and of NODE_DOWN. `uncordon` is the same        */
    ACTION_NIC_DEGRADE, /* target NODE:INDEX: it carries `factor` of what it did, its jobs go on  */
    ACTION_NIC_DEAD,   /* not written: it has carried nothing for NIC_RETRY_NS. Its users die     */
    ACTION_NIC_REPAIR, /* target NODE:INDEX                                                      */
    ACTION_UPLINK_DEGRADE, /* target LAYOUT-leafN: all cables up of one leaf carry `factor` of what they did */
    ACTION_UPLINK_REPAIR, /* target LAYOUT-leafN                                                   */
    ACTION_GPU_FAIL,   /* target NODE:INDEX                                                      */
    ACTION_GPU_REPAIR, /* target NODE:INDEX                                                      */
    ACTION_SCANCEL,    /* target: a job's id or name                                             */
    ACTION_REQUEUE,
    ACTION_REQUEUE_HOLD,
    ACTION_HOLD,
    ACTION_RELEASE,
    ACTIONS
};
extern const char *const user_action_names[ACTIONS]; /* "node_down", ... */

/* How long what is sent over a dead link is tried again before its job dies (MODELS 5.1, t_retry of a link flap; seven
 * retries of InfiniBand at NCCL's time-out). */
#define NIC_RETRY_NS INT64_C(20000000000)

struct user_event {
    int64_t at_ns;
    enum user_action action;
    double factor; /* of ACTION_NIC_DEGRADE and ACTION_UPLINK_DEGRADE, 0 to 1                   */
    char target[LIMIT_TARGET_BYTES]; /* host list, NODE:INDEX, or a job's id                      */
};

static inline bool is_of_uplinks(enum user_action action)
{
    return action == ACTION_UPLINK_DEGRADE || action == ACTION_UPLINK_REPAIR;
}

/* LAYOUT-leafN -> N, when the layout is called so; LEAF_NONE otherwise. */
#define LEAF_NONE UINT32_MAX
uint32_t leaf_of_target(const char *target, const char *layout);

#endif
