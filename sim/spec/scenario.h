/* scenario.h - the plain description of what is asked for: every key resolved, SI units, no pointers into the catalog.
 *
 * scenario_read (io) fills it and checks it; nothing past plan_build checks user input again. */
#ifndef GPUPLAN_SPEC_SCENARIO_H
#define GPUPLAN_SPEC_SCENARIO_H

#include "base/limits.h"
#include "spec/hardware.h"
#include "spec/kube.h"
#include "spec/slurm.h"
#include "spec/train.h"
#include "spec/user_event.h"

#include <stdbool.h>
#include <stdint.h>

#define HORIZON_ALL INT64_MAX /* until every job of the trace has ended; the trace is played once */
#define WARMUP_AUTO (-1)
#define SLACK_ANY   UINT32_MAX

enum trace_format {
    TRACE_AUTO,
    TRACE_GPUPLAN,
    TRACE_SWF,
    TRACE_ITP,
    TRACE_PHILLY,
    TRACE_OPENB
};
enum shape { SHAPE_MODEL, SHAPE_RECORDED, SHAPE_FREE };
/* RESAMPLE_FILL: not when, but whether it fits. Every job of the trace once in random order, then jobs drawn again with
 * replacement until they ask for fill_frac of the layout's GPUs; one a second, and none ever ends. */
enum resample { RESAMPLE_NONE, RESAMPLE_DAYS, RESAMPLE_FILL };
enum scheduler_kind { KIND_PLAIN, KIND_SLURM, KIND_KUBERNETES, KIND_STATIC };
/* EASY_EVENT decides after each single event instead of once an instant. */
enum order {
    ORDER_FCFS,
    ORDER_EASY,
    ORDER_EASY_EVENT,
    ORDER_SJF,
    ORDER_CONSERVATIVE,
    ORDER_LAS,
    ORDER_SRTF,
    ORDERS
};
extern const char *const order_names[ORDERS]; /* as a scenario writes them */
enum placement {
    PLACE_PACK,
    PLACE_SPREAD,
    PLACE_BEST_FIT,
    PLACE_RANDOM,
    PLACE_DOT_PRODUCT,
    PLACE_CLUSTERING,
    PLACE_PACKING,
    PLACE_FGD,
    PLACEMENTS
};
enum comm_kind { COMM_NONE, COMM_BY_SIZE, COMM_BY_MODEL_MIX, COMM_PROFILE };
/* Which all-reduce a job runs: one form, or the fastest of those that the hardware allows (MODELS 2.10). Auto, the default, are
 * those that NCCL chooses from; best also the hierarchical ones, which it lacks. Sums in the switches of a fabric are among
 * both where the fabric says so. Inside one server sharp sums in its NVSwitch. */
enum allreduce_rule {
    RULE_FLAT_RING,
    RULE_BEST,
    RULE_HIER_RING,
    RULE_HIER_TREE,
    RULE_AUTO,
    RULE_SHARP
};
/* How jobs that share links slow each other (network/periodic): not at all, by the mean of random phases, or by its bounds. */
enum network_rule { NETWORK_NONE, NETWORK_ESTIMATE, NETWORK_UPPER, NETWORK_LOWER };
enum drain { DRAIN_FINISH, DRAIN_NOW, DRAIN_GPU };
enum law { LAW_NONE, LAW_EXPONENTIAL, LAW_WEIBULL, LAW_LOGNORMAL };
enum checkpoint_policy { CHECKPOINT_NONE, CHECKPOINT_FIXED, CHECKPOINT_YOUNG, CHECKPOINT_DALY };
enum component {
    COMPONENT_GPU,
    COMPONENT_SERVER,
    COMPONENT_LINK,
    COMPONENT_LEAF,
    COMPONENT_JOB,
    COMPONENTS
};

/* How a job communicates (MODELS 3.9). kappa = communication / compute at the reference placement. */
struct profile {
    char id[LIMIT_NAME_BYTES];
    double kappa_one;           /* jobs of 2 and more GPUs whose reference is one server          */
    double kappa_many;          /* jobs whose reference is several servers                        */
    double hidden_frac;         /* w: part of compute time that can hide communication, 0 .. 1    */
    double size_bytes;          /* S of its all-reduce                                            */
    double spread;              /* sd / mean of kappa between jobs (Beta); 0 = all alike          */
    double state_bytes_per_gpu; /* what a checkpoint writes, per GPU of the job                   */
    double input_bytes_per_s; /* what each GPU of the job reads per second of compute; 0 = nothing to speak of */
    double uneven; /* work of its fullest member over the mean, 1 and more (0: none, as 1)          */
    bool prefetch; /* it is read ahead while the step goes on, else before each step      */
    struct train_job train;     /* steps worked out part by part, in place of kappa, hidden and size */
    enum mark mark;
    char source[256];
};

struct mix_entry {
    struct profile profile;
    double weight; /* share among the jobs of these sizes; 0: of jobs that name it only */
    uint32_t gpus_min,
        gpus_max; /* sizes it applies to                                            */
};

struct communication {
    enum allreduce_rule allreduce;
    enum comm_kind kind;
    double scale; /* multiplies kappa of every job; default 1                       */
    struct mix_entry mix[LIMIT_PROFILES];
    uint32_t mix_count; /* by_model_mix: the catalog's mix, and its other profiles behind; else 1 */
};

/* The members of a synchronous step differ (MODELS 3.8): each step of each takes a lognormal time of mean 1, and each server takes one
 * that stays the same through a run. */
enum noise_units { UNITS_GPUS, UNITS_SERVERS };
struct stragglers {
    double noise;          /* log-sd of a step's time; 0 = all are as fast                        */
    enum noise_units units; /* what differs by noise: each GPU, or each server as a whole          */
    double server_spread;  /* log-sd of what servers take for the same work; 0 = all are as fast   */
};

struct component_failures {
    enum law law;  /* of the time between faults of ONE component                    */
    double mean_s; /* mean time between faults of one component; > 0 unless LAW_NONE */
    double shape;  /* Weibull k, or log-sd of the lognormal; unused by exponential   */
    double repair_median_s,
        repair_p95_s; /* lognormal; both 0 = at once. Unused by COMPONENT_JOB  */
    uint32_t per_server_of; /* a rate of whole servers of so many GPUs that nobody split: holds on
                               servers of no other size. 0 = a rate of the component itself */
    char source[256];
};

/* Faults of links that leave them slow, not dead: their jobs go on, until somebody finds out. */
struct slow_link {
    double share;     /* of all faults of links, 0 to 1                                         */
    double factor;    /* what is left of the bandwidth                                          */
    int64_t found_ns; /* mean time until it is found (exponential); then it is repaired as others */
};

struct failures {
    char
        rates[LIMIT_NAME_BYTES]; /* catalog entry, "none", or "inline"                            */
    struct component_failures component[COMPONENTS];
    struct slow_link slow_link;
    double scale;         /* multiplies every rate                                         */
    double server_growth; /* part of a server's rate that grows with its GPUs, 0 .. 1; see
                                     failures_of_servers                                           */
    enum drain drain;
    int64_t detection_ns; /* fault to kill                                                 */
    int64_t restart_ns;   /* R: start-up and restore of a restarted attempt                */
    int64_t requeue_delay_ns;
    int64_t blast_horizon_ns; /* length of the pooled failure-only run; 0 = chosen by plan     */
};

struct checkpoint {
    enum checkpoint_policy policy;
    int64_t interval_ns;       /* fixed                                                         */
    double store_bytes_per_s;  /* what the store takes from one job                             */
    double server_bytes_per_s; /* what one server can write; 0 = its NICs                       */
    double bytes_per_gpu;      /* state; 0 = by the job's profile (size: by_class)              */
};

/* What all jobs read their input from and write their checkpoints to; bytes per second, 0 = without limit. */
struct storage {
    double read_bytes_per_s, write_bytes_per_s;
    double server_bytes_per_s; /* of one server, each way, over links of its own; 0 = over its compute NICs */
};

/* Layouts of one kind of server have one group; `server` is the type of the first group that has GPUs, `server_count`
 * the servers of all groups. Nodes are numbered through the groups in order. */
struct layout {
    char name[LIMIT_NAME_BYTES];
    struct server_type server;
    uint32_t server_count;
    struct server_group *groups; /* [group_count] owned by the scenario; NULL = one plain group        */
    uint32_t group_count;        /* 0 or 1 = all servers are `server`                              */
    uint32_t scheduler;          /* row in scenario->schedulers + 1; 0 = the scenario's own         */
    bool from_inventory;         /* read from a list of nodes that says nothing of links             */
    struct fabric fabric;
    struct storage storage;      /* what it does not say is the scenario's                          */
};

/* kind static: each team owns its part of the servers. */
struct static_team {
    char name[LIMIT_NAME_BYTES];
    double share;     /* of the servers, in proportion; > 0 unless nodes are written            */
    uint32_t servers; /* 0 = by share                                                           */
};

/* Moves of running jobs to other nodes, to free whole ones. */
struct job_moves {
    int64_t every_ns;  /* 0 = never                                                              */
    int64_t cost_ns;   /* what one move costs the moved job, on all its GPUs                     */
    uint32_t gpus_most; /* only jobs of at most so many GPUs; 0 = all that fit one node            */
    uint32_t moves_most; /* of one round; 0 = as many as help                                     */
};

/* What decides how many replicas are enough. Names as written, and as stored in table metric. */
enum until_metric {
    UNTIL_YIELD,
    UNTIL_GOODPUT,
    UNTIL_UTILIZATION,
    UNTIL_WAIT_MEAN,
    UNTIL_WAIT_P95,
    UNTIL_COMPLETION_MEAN,
    UNTIL_COMPLETION_P95,
    UNTIL_METRICS
};
extern const char *const until_metric_names[UNTIL_METRICS];

/* Replicas are added until the mean of a metric is known well enough on every layout (MODELS 6.7): looked
 * at after so many, then after each further so many, so that the number does not depend on workers. */
enum { UNTIL_FIRST = 10, UNTIL_STEP = 5 };

struct until {
    bool given; /* false: the number of replicas is fixed                                    */
    enum until_metric metric;
    double half_width_frac; /* gamma, of the mean, at 95 % confidence; > 0                   */
};

struct gate {
    char metric[LIMIT_NAME_BYTES], layout[LIMIT_NAME_BYTES];
    bool below;   /* true: value must be below limit, false: above                 */
    double limit; /* in the metric's own unit                                      */
};

struct scenario {
    char path[LIMIT_PATH_BYTES]; /* file it was read from                                         */
    char *text;                  /* as read, included files behind it, NUL-ended; owned           */
    uint64_t text_bytes;
    char *overrides; /* --set lines, NUL-ended, owned; "" when none                   */
    char *resolved;  /* every key, value and origin, one "path: value  # origin" a line; owned */

    char name[LIMIT_NAME_BYTES];
    char question[512];
    uint64_t seed; /* below 2^63                                                    */

    int64_t horizon_ns, warmup_ns /* or WARMUP_AUTO */, curve_bin_ns;
    int64_t follow_ns; /* how long the cohort is followed behind the horizon            */
    uint32_t replicas; /* of each layout; with until: at most                           */
    struct until until;
    enum resample resample;
    double fill_frac; /* of the GPUs of a layout; > 0; RESAMPLE_FILL only                      */

    char trace_path
        [LIMIT_PATH_BYTES]; /* relative to the scenario's folder resolved; "" = no trace */
    enum trace_format trace_format;
    bool drop_failed; /* jobs that the trace marks failed or cancelled are left out (MODELS 3.10) */
    char trace_zone[64];
    struct server_type
        recorded_server; /* where the durations were measured                       */
    uint32_t recorded_count;
    bool recorded_none; /* s(p_obs) = 1 for all (MODELS 3.10 "none")                     */
    bool kill_at_limit;
    double limit_factor; /* estimate = duration * this where the trace has no limit       */
    bool contains_startup, contains_checkpoint, contains_stalls;
    int64_t startup_ns; /* first start of a job                                          */
    enum shape shape;
    uint32_t
        slack[LIMIT_SLACKS]; /* each layout runs once per entry; SLACK_ANY = any              */
    uint32_t slack_count;
    struct communication communication;
    enum network_rule contention;

    struct jobs *jobs; /* `jobs:` written in the scenario instead of a trace; owned, NULL = none    */
    struct user_event *events; /* [event_count] by time; owned                                   */
    uint32_t event_count;

    /* `schedulers:`: instead of one, several are compared on each layout. Row i is a scenario of which only its name
     * and its scheduler count; owned. */
    struct scenario *schedulers;
    uint32_t scheduler_count;

    /* ---- the scheduler: from `kind` to before `failures`, scenario_under copies this as one ---- */
    enum scheduler_kind kind;
    struct slurm_spec slurm; /* filled when kind says so                                         */
    struct kube_spec kube;
    struct static_team *teams; /* [team_count] owned                                             */
    uint32_t team_count;
    struct job_moves moves;
    enum order order;
    int64_t las_thresholds_gpu_s[LIMIT_LAS_THRESHOLDS]; /* order las: ascending                     */
    uint32_t las_threshold_count;
    enum placement placement;
    bool loss; /* a job that does not fit at once is dropped                    */
    /* ---- end of the scheduler ---- */

    struct failures failures;
    struct checkpoint checkpoint;
    struct storage storage;
    struct stragglers stragglers;

    struct layout layouts[LIMIT_LAYOUTS];
    uint32_t layout_count;
    uint32_t baseline;    /* row in layouts                                                */
    double scale_to_load; /* 0 = as written; else plan_build sizes all layouts to it       */
    bool tornado;         /* run again with each assumption moved, to say what turns the verdict */
    uint32_t tornado_replicas; /* of each setting, at most `replicas`                           */
    struct gate gates[LIMIT_GATES];
    uint32_t gate_count;
    char detail[8]; /* none | first | all                                            */
};

void scenario_clear(struct scenario *scenario);

/* *out = the scenario with the scheduler of this layout; it borrows all that the scenario owns. */
void scenario_under(const struct scenario *scenario, const struct layout *layout,
                    struct scenario *out);

/* The kind of scheduler that a layout runs under. */
enum scheduler_kind scenario_kind(const struct scenario *scenario, const struct layout *layout);

/* GPUs of the servers that failure rates in use were published for. */
#define FAILURES_REFERENCE_GPUS 8

/* The failures as they are on servers of so many GPUs: with growth b the rate of one server is
 *
 *     rate * ((1 - b) + b * gpus / 8)
 *
 * since bigger boxes have more parts that can fail (MODELS 5.6: lam_srv0 + lam_srv1 g). */
struct failures failures_of_servers(const struct failures *failures, uint32_t gpus_per_server);

#endif
