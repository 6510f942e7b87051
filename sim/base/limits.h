/* limits.h - every limit of the program, each with its reason. */
#ifndef GPUPLAN_BASE_LIMITS_H
#define GPUPLAN_BASE_LIMITS_H

#include <stdint.h>

enum {
    LIMIT_NAME_BYTES      = 64,        /* names and ids: they head table columns and plot keys     */
    LIMIT_PATH_BYTES      = 4096,      /* PATH_MAX of Linux                                        */
    LIMIT_TARGET_BYTES    = 256,       /* one host list or list of names in a scheduler's words      */
    LIMIT_GPU_CUTS        = 8,         /* MIG instances of one GPU: memory slices                  */
    LIMIT_SERVER_GROUPS   = 64,        /* kinds of servers in one layout; real inventories have 10 */
    LIMIT_LAYOUTS         = 32,        /* a comparison of more is a sweep                          */
    LIMIT_SLACKS          = 4,         /* slack variants of one comparison                         */
    LIMIT_LAS_THRESHOLDS  = 8,         /* queues of least attained service, less one               */
    LIMIT_REPLICAS        = 10000,     /* far beyond what any interval needs                       */
    LIMIT_PROFILES        = 64,        /* profiles of one mix                                      */
    LIMIT_GATES           = 32,
    LIMIT_GPUS            = 4194304,   /* five times the largest cluster planned for               */
    LIMIT_GPUS_PER_SERVER = 32,        /* one bit each in a 32-bit mask of a node                  */
    LIMIT_JOBS            = 100000000, /* job rows are numbered by uint32_t                        */
    LIMIT_ATTEMPTS        = 10000,     /* of one job: whoever fails more often never ends          */
    LIMIT_WORKERS         = 256,
    LIMIT_DIAG_PROBLEMS   = 20,        /* a reader of a longer list starts at the top anyway       */
    LIMIT_YAML_DEPTH      = 64,        /* libyaml 0.2.5 has none and is quadratic in depth (P27)   */
    LIMIT_YAML_NODES      = 100000,    /* after aliases are expanded: a billion laughs stops (P19) */
    LIMIT_YAML_BYTES      = 16777216,  /* 16 MiB (P28)                                             */
    LIMIT_INCLUDE_LEVELS  = 16,        /* files that include files (P97)                           */
    LIMIT_INCLUDE_FILES   = 64,        /* of one scenario: two includes a level would be 65,536    */
    LIMIT_FIELD_BYTES     = 1048576,   /* one CSV field: an unclosed quote swallows a file (P80)   */
    LIMIT_RECORD_LINES    = 10000,     /* one CSV record, for the same reason (P80)                */
    LIMIT_CSV_COLUMNS     = 1024,      /* the widest published accounting tables have a hundred    */
    LIMIT_FLOWS           = 20000000,  /* of one file: a ring all-reduce of 3,000 hosts, flow by flow    */
    LIMIT_FLOW_LINKS      = 4000000,   /* links of one file: five for each of LIMIT_GPUS / 5             */
    LIMIT_EXPANSION       = 1000,      /* unpacked : packed; real logs stay below 30 (P85)         */
};

/* Unpacked data this short is not judged by its ratio: it can do no harm. */
#define LIMIT_EXPANSION_FREE_BYTES UINT64_C(1048576)
/* A file read as a whole: 100 million rows of a job log fit (P85). */
#define LIMIT_INPUT_BYTES (UINT64_C(16) << 30)
/* From the first to the last submission of a log; more means milliseconds taken for seconds (P50). */
#define LIMIT_SPAN_S INT64_C(1577880000) /* 50 years */

#endif
