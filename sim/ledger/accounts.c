/* accounts.c - names of the ledger's accounts and of the size classes. */
#include "ledger/accounts.h"

const char *const account_names[ACCOUNTS] = {
    [ACC_COMPUTE] = "compute",
    [ACC_STALL_INTRA] = "stall_intra",
    [ACC_STALL_INTER] = "stall_inter",
    [ACC_STALL_CONTENTION] = "stall_contention",
    [ACC_STALL_DATA] = "stall_data",
    [ACC_STRAGGLER] = "straggler",
    [ACC_THROTTLE] = "throttle",
    [ACC_BUBBLE] = "bubble",
    [ACC_CHECKPOINT] = "checkpoint",
    [ACC_STARTUP] = "startup",
    [ACC_LOST] = "lost",
    [ACC_HELD] = "held",
    [ACC_UNUSED] = "unused",
    [ACC_SERVING_IDLE] = "serving_idle",
    [ACC_OVERHEAD] = "overhead",
    [ACC_NO_DEMAND] = "no_demand",
    [ACC_SHORT] = "short",
    [ACC_FRAGMENTED] = "fragmented",
    [ACC_STARVED] = "starved",
    [ACC_WITHHELD] = "withheld",
    [ACC_DRAINING] = "draining",
    [ACC_DOWN] = "down",
};

const char *const class_names[CLASSES] = {
    [CLASS_NONE] = "none", [CLASS_1] = "1",         [CLASS_2_7] = "2-7",
    [CLASS_8_15] = "8-15", [CLASS_16_63] = "16-63", [CLASS_64_UP] = "64+",
};
