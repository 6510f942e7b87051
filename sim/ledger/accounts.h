/* accounts.h - the accounts of the GPU-second ledger (DESIGN 3) and the size classes of jobs. */
#ifndef GPUPLAN_LEDGER_ACCOUNTS_H
#define GPUPLAN_LEDGER_ACCOUNTS_H

#include <stdint.h>

enum account {
    /* held by a job */
    ACC_COMPUTE,
    ACC_STALL_INTRA,
    ACC_STALL_INTER,
    ACC_STALL_CONTENTION,
    ACC_STALL_DATA,
    ACC_STRAGGLER,
    ACC_THROTTLE,
    ACC_BUBBLE,
    ACC_CHECKPOINT,
    ACC_STARTUP,
    ACC_LOST,
    ACC_HELD,
    ACC_UNUSED,
    ACC_SERVING_IDLE,
    ACC_OVERHEAD,
    /* free */
    ACC_NO_DEMAND,
    ACC_SHORT,
    ACC_FRAGMENTED,
    ACC_STARVED,
    ACC_WITHHELD,
    /* gone */
    ACC_DRAINING,
    ACC_DOWN,
    ACCOUNTS,
    ACC_HELD_END = ACC_NO_DEMAND, /* [0, ACC_HELD_END) are held by a job      */
    ACC_FREE_END = ACC_DRAINING,  /* [ACC_NO_DEMAND, ACC_FREE_END) are free   */
};

/* Names as stored and printed: "compute", "stall_intra", ... */
extern const char *const account_names[ACCOUNTS];

/* One unit is 1/UNITS_PER_GPU of a GPU: 2^7 * 3^2 * 5^3 * 7 holds sevenths and eighths (MIG),
 * thousandths (shares) and parts per million rounded once (splits). */
#define UNITS_PER_GPU INT64_C(1008000)

/* Classes of jobs by GPUs; class 0 is for what no job holds. */
enum size_class { CLASS_NONE, CLASS_1, CLASS_2_7, CLASS_8_15, CLASS_16_63, CLASS_64_UP, CLASSES };
extern const char *const class_names[CLASSES]; /* "none", "1", "2-7", "8-15", "16-63", "64+" */

static inline enum size_class class_of_gpus(uint32_t gpus)
{
    return gpus <= 1   ? CLASS_1
           : gpus < 8  ? CLASS_2_7
           : gpus < 16 ? CLASS_8_15
           : gpus < 64 ? CLASS_16_63
                       : CLASS_64_UP;
}

#endif
