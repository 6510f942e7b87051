/* plan.h - what will run: the scenario's layouts, sized and multiplied by their slack variants. */
#ifndef GPUPLAN_SPEC_PLAN_H
#define GPUPLAN_SPEC_PLAN_H

#include "spec/jobs.h"
#include "spec/scenario.h"

#define LIMIT_VARIANTS (LIMIT_LAYOUTS * LIMIT_SLACKS)

/* One layout under one slack rule: a column of the comparison. */
struct variant {
    uint32_t layout; /* row in scenario->layouts                                 */
    uint32_t slack;  /* servers more than needed, or SLACK_ANY                   */
    uint32_t servers, gpus_per_server; /* of the largest kind, in layouts of several            */
    uint32_t nodes, gpus_per_node; /* servers, unless they host several nodes each               */
    uint32_t gpus; /* of all servers                                           */
    struct fabric_shape fabric; /* how its switches are wired                               */
    struct storage storage;     /* of the layout, else of the scenario                      */
    int64_t blast_horizon_ns; /* length of its pooled failure-only run; 0 = nothing fails  */
    double offered_load;     /* GPU-seconds asked for per GPU-second of capacity         */
    uint64_t jobs_never_fit; /* trace rows that it can never hold                        */
    double unserved_gpu_s;   /* their gpus * duration                                    */
};

/* An assumption that carries the verdict, moved: the same runs under another value (DESIGN 1). */
enum axis {
    AXIS_NONE,
    AXIS_COMMUNICATION, /* kappa of every job, times value                                       */
    AXIS_FAILURES,      /* every failure rate, times value                                       */
    AXIS_SERVER_GROWTH, /* failures.server_growth = value                                        */
    AXIS_NICS,          /* NICs of each server that has two and more, times value                */
    AXIS_LOAD,          /* duration of every job, times value                                    */
    AXES
};
extern const char *const axis_names[AXES];

struct setting {
    enum axis axis;
    double value;
};

enum { LIMIT_SETTINGS = 16 };

struct plan {
    const struct scenario *scenario;
    const struct jobs *jobs;
    const struct import_report *import;
    struct variant
        variants[LIMIT_VARIANTS]; /* layout-major: layout 0 slack 0, layout 0 slack 1, ... */
    uint32_t variant_count;
    uint32_t replicas; /* of each layout; with scenario->until: at most                        */
    struct setting settings[LIMIT_SETTINGS]; /* row 0 is the scenario as written                */
    uint32_t setting_count;
    uint32_t setting_replicas; /* of each setting but row 0                                */
    int64_t horizon_ns, warmup_ns, follow_ns; /* resolved                                       */
    int64_t all_end_ns;  /* horizon `all`: a run that has not ended by then is stopped (exit 6)  */
    uint32_t trace_days;   /* whole days that the trace covers                         */
    bool profile_used[LIMIT_PROFILES]; /* rows of the mix that some job may have                */
    bool profiles_drawn;   /* some job of several GPUs names none                       */
    uint64_t memory_bytes; /* estimate for the whole run                               */
};

#endif
