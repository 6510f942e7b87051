/* keys.c - the rows, in the order in which `gpuplan check` prints them. */
#include "spec/keys.h"

#include "base/clock.h"
#include "base/text.h"
#include "spec/job_line.h"
#include "spec/scenario.h"
#include "spec/train.h"

#include <string.h>

#define CENTURY_NS                                                                                 \
    ((double)(36525 * NS_PER_DAY)) /* sums of durations stay far below the clock's end */
#define CENTURY_S (CENTURY_NS / 1e9)
#define SEED_MOST 9.2e18 /* below 2^63: SQLite's integers are signed (P92) */

/* A fault a minute of one component: faster ones would be events without progress (P45). */
#define MEAN_S_LEAST 60.0
#define MEAN_S_MOST  3.2e12 /* a thousand centuries: as good as never */

#define AT(kind, field)                                                                            \
    .offset = offsetof(struct kind, field), .bytes = sizeof(((struct kind *)0)->field)
#define REQUIRED           .fallback = NULL
#define RANGE(least, most) .min = (least), .max = (most)
#define PLAIN              (1u << KIND_PLAIN)
#define SLURM              (1u << KIND_SLURM)
#define KUBERNETES         (1u << KIND_KUBERNETES)
#define STATIC             (1u << KIND_STATIC)

/* clang-format off */
const struct key_row keys[] = {
    /* ---- the scenario ---- */
    { "gpuplan", KEY_COUNT, RANGE(1, 1), REQUIRED, .help = "version of this file's form: 1" },
    { "include", KEY_CUSTOM, .fallback = "=none", .form = "path | [path]", .help = "files below this folder whose keys are defaults: FILE or [FILE, ...]; later ones and this file win" },
    { "name", KEY_NAME, AT(scenario, name), REQUIRED, .help = "names the result file" },
    { "question", KEY_TEXT, .fallback = "", AT(scenario, question), .help = "what the comparison is to answer" },
    { "seed", KEY_COUNT, RANGE(0, SEED_MOST), .fallback = "1", AT(scenario, seed), .help = "all random draws follow from it" },
    { "detail", KEY_WORD, .fallback = "first", .words = "none|first|all", AT(scenario, detail), .help = "replicas whose jobs are stored one by one" },

    { "time", KEY_MAP, .fallback = "=", .help = "how long, and what is counted" },
    { "time.horizon", KEY_DURATION, RANGE(NS_PER_S, CENTURY_NS), .fallback = "=30d, or all with a list of jobs", .word = "all", .word_value = HORIZON_ALL, AT(scenario, horizon_ns), .help = "end of the window that is counted; all: until every job of the trace has ended" },
    { "time.warmup", KEY_DURATION, RANGE(0, CENTURY_NS), .fallback = "=auto, or 0s with a list of jobs or when the horizon is all", .word = "auto", .word_value = WARMUP_AUTO, AT(scenario, warmup_ns), .help = "start of the window; a multiple of curve_bin" },
    { "time.curve_bin", KEY_DURATION, RANGE(NS_PER_S, CENTURY_NS), .fallback = "1h", AT(scenario, curve_bin_ns), .help = "width of a bin of the curves over time" },
    { "time.follow", KEY_DURATION, RANGE(0, CENTURY_NS), .fallback = "=50% of the horizon, or 0s when it is all", AT(scenario, follow_ns), .help = "how long jobs of the window are followed behind its end" },

    { "replicas", KEY_MAP, .fallback = "=", .short_key = "count", .help = "runs of each layout with draws of their own" },
    { "replicas.count", KEY_COUNT, RANGE(1, LIMIT_REPLICAS), .fallback = "20", .twin = "until", AT(scenario, replicas), .help = "number of replicas" },
    { "replicas.resample", KEY_CHOICE, .fallback = "=days, or none with a list of jobs or when the horizon is all", .words = "none|days|fill", AT(scenario, resample), .help = "what else replicas draw anew. days: the trace, by blocks of days; fill: the jobs, one a second in random order until they ask for the share `fill` of the GPUs, and none ends" },
    { "replicas.fill", KEY_NUMBER, RANGE(0.01, 10), .fallback = "1.3", AT(scenario, fill_frac), .help = "resample: fill: GPUs asked for over GPUs there are" },
    { "replicas.until", KEY_CUSTOM, .fallback = "=none", .twin = "count", .form = "{replicas.until}", .help = "{metric, half_width, max}: add replicas until the mean is known that well on every layout" },
    { "replicas.until.metric", KEY_CHOICE, .fallback = "yield", .words = "yield|goodput|utilization|wait_s_mean|wait_s_p95|completion_s_mean|completion_s_p95", AT(scenario, until.metric), .help = "whose mean over the replicas of each layout is looked at" },
    { "replicas.until.half_width", KEY_SHARE, RANGE(1e-4, 1), .fallback = "5%", AT(scenario, until.half_width_frac), .help = "half width of the mean's 95% interval to reach, as a share of the mean" },
    { "replicas.until.max", KEY_COUNT, RANGE(UNTIL_FIRST, LIMIT_REPLICAS), .fallback = "200", AT(scenario, replicas), .help = "replicas after which it ends anyway" },

    { "workload", KEY_MAP, .fallback = "=", .help = "the jobs" },
    { "workload.trace", KEY_MAP, .fallback = "=", .help = "a job log" },
    { "workload.trace.file", KEY_CUSTOM, .fallback = "=none", .form = "path", .help = "path, relative to the scenario's folder" },
    { "workload.trace.format", KEY_CHOICE, .fallback = "auto", .words = "auto|gpuplan|swf|itp|philly|openb", AT(scenario, trace_format), .help = "form of the log; auto: by content" },
    { "workload.trace.zone", KEY_TEXT, .fallback = "", AT(scenario, trace_zone), .help = "time zone of wall-clock columns without offset, as Europe/Berlin" },
    { "workload.trace.failed", KEY_CHOICE, .fallback = "keep", .words = "keep|drop", AT(scenario, drop_failed), .help = "jobs that the log marks failed or cancelled, with the time they took: they are kept or left out; of logs with a state, as SWF" },
    { "workload.trace.recorded_on", KEY_CUSTOM, .fallback = "=none", .form = "'none' | {workload.trace.recorded_on}", .needed_with = "file", .help = "{server: TYPE, count: N} where the durations were measured, or none" },
    { "workload.trace.recorded_on.server", KEY_CUSTOM, REQUIRED, .short_key = "like", .form = "name | {server}", .help = "an entry of catalog servers.yaml, or its keys written inline" },
    { "workload.trace.recorded_on.count", KEY_COUNT, RANGE(1, LIMIT_GPUS), REQUIRED, AT(scenario, recorded_count), .help = "servers of the recorded cluster" },
    { "workload.trace.contains", KEY_CUSTOM, .fallback = "=[startup, checkpoint, stalls]", .form = "['startup' | 'checkpoint' | 'stalls']!", .help = "what the recorded durations contain besides compute" },
    { "workload.communication", KEY_CUSTOM, .fallback = "=by_model_mix", .short_key = "kind", .form = "name | {workload.communication} | {profile + workload.communication - kind}", .help = "none, by_size, by_model_mix, a profile, {kind, scale}, or a profile's numbers" },
    { "workload.communication.kind", KEY_CUSTOM, .fallback = "=by_model_mix", .form = "name", .help = "none, by_size, by_model_mix, or an entry of catalog profiles.yaml" },
    { "workload.communication.allreduce", KEY_CHOICE, .fallback = "auto", .words = "flat_ring|best|hier_ring|hier_tree|auto|sharp", AT(scenario, communication.allreduce), .help = "the all-reduce of a job; auto: the fastest that NCCL chooses from, as measured: rings, trees, sums in the NVSwitch, and in the switches of a fabric whose link says sharp: true in the layout; best: of these and the hierarchical forms; sharp: in the switches, wherever they can" },
    { "workload.communication.scale", KEY_NUMBER, RANGE(0, 1000), .fallback = "1", AT(scenario, communication.scale), .help = "multiplies every kappa" },
    { "workload.stragglers", KEY_MAP, .fallback = "=", .short_key = "noise", .help = "steps as long as their slowest member's, by noise or by slow servers" },
    { "workload.stragglers.noise", KEY_NUMBER, RANGE(0, 1), .fallback = "0", AT(scenario, stragglers.noise), .help = "log-sd of the time of one member's step; 0.04 is usual, 0.5 is seen on shared GPUs" },
    { "workload.stragglers.servers", KEY_NUMBER, RANGE(0, 1), .fallback = "0", AT(scenario, stragglers.server_spread), .help = "log-sd of the time that each server takes for the same work, of mean 1, drawn once a replica" },
    { "workload.stragglers.units", KEY_CHOICE, .fallback = "gpus", .words = "gpus|servers", AT(scenario, stragglers.units), .help = "what differs by noise: each GPU by itself, or servers, then a job on fewer servers waits less" },
    { "workload.shape", KEY_CHOICE, .fallback = "model", .kinds = PLAIN | STATIC, .words = "model|recorded|free", AT(scenario, shape), .help = "how many servers a job takes" },
    { "workload.slack", KEY_CUSTOM, .fallback = "=0", .kinds = PLAIN | STATIC, RANGE(0, LIMIT_GPUS), .form = "count | 'any' | [count | 'any']+!", .items_most = LIMIT_SLACKS, .help = "servers more than needed that a job may start on: a count, any, or a list" },
    { "workload.kill_at_limit", KEY_BOOL, .fallback = "=false, or true for a list of jobs under Slurm", AT(scenario, kill_at_limit), .help = "jobs end at their requested time" },
    { "workload.limit_factor", KEY_NUMBER, RANGE(1, 1000), .fallback = "1.5", AT(scenario, limit_factor), .help = "estimate = duration times this, where the trace has no limit" },
    { "workload.startup", KEY_DURATION, RANGE(0, CENTURY_NS), .fallback = "60s", AT(scenario, startup_ns), .help = "time from the first start of a job to its first step" },
    { "workload.growth", KEY_NOT_BUILT, .help = "growth of the demand" },

    { "network", KEY_MAP, .fallback = "=", .help = "how jobs share the networks of the layouts" },
    { "network.contention", KEY_CHOICE, .fallback = "estimate", .words = "none|estimate|upper|lower|!steps", AT(scenario, contention), .help = "how jobs on common links slow each other. estimate: they communicate at random times; upper: all the time; lower: never at once if it can be avoided; none: each as if alone" },

    { "schedulers", KEY_CUSTOM, .fallback = "=none", .twin = "scheduler", .form = "<{scheduler}>", .help = "several schedulers by name; every layout runs under each, as LAYOUT/NAME" },
    { "scheduler", KEY_MAP, .fallback = "=", .twin = "schedulers", .help = "who starts when and where" },
    { "scheduler.kind", KEY_CHOICE, .fallback = "plain", .words = "plain|slurm|kubernetes|static", AT(scenario, kind), .help = "family of schedulers; keys of another one are refused" },
    { "scheduler.plain", KEY_MAP, .fallback = "=", .kinds = PLAIN, .help = "textbook policies" },
    { "scheduler.plain.order", KEY_CHOICE, .fallback = "easy", .words = "fcfs|easy|easy_event|sjf|conservative|las|srtf", AT(scenario, order), .help = "order of starts" },
    { "scheduler.plain.placement", KEY_CHOICE, .fallback = "pack", .words = "pack|spread|best_fit|random|dot_product|clustering|packing|fgd", AT(scenario, placement), .help = "choice of servers" },
    { "scheduler.plain.las_thresholds", KEY_CUSTOM, .fallback = "=[3250, 7200]", RANGE(1, 1e12), .form = "[count]+", .items_most = LIMIT_LAS_THRESHOLDS, .help = "order las: GPU-seconds of service at which a job moves to the next queue, rising" },
    { "scheduler.plain.loss", KEY_BOOL, .fallback = "false", AT(scenario, loss), .help = "a job that does not fit at once is dropped" },
#include "spec/keys_slurm.h"
#include "spec/keys_kube.h"

    { "failures", KEY_MAP, .fallback = "=", .short_key = "rates", .help = "what breaks; each component by its own key" },
    { "failures.rates", KEY_CUSTOM, .fallback = "=none", .form = "name", .help = "an entry of catalog failures.yaml, or none" },
    { "failures.scale", KEY_NUMBER, RANGE(0, 1e6), .fallback = "1", AT(scenario, failures.scale), .help = "multiplies every rate" },
    { "failures.drain", KEY_CHOICE, .fallback = "finish", .words = "finish|now|gpu", AT(scenario, failures.drain), .help = "what the other jobs of a broken server do: they finish, are killed, or stay" },
    { "failures.detection", KEY_DURATION, RANGE(0, CENTURY_NS), .fallback = "60s", AT(scenario, failures.detection_ns), .help = "time from the fault to the kill of its jobs" },
    { "failures.restart", KEY_DURATION, RANGE(0, CENTURY_NS), .fallback = "5m", AT(scenario, failures.restart_ns), .help = "start-up and restore of a restarted job" },
    { "failures.requeue_delay", KEY_DURATION, RANGE(0, CENTURY_NS), .fallback = "0s", AT(scenario, failures.requeue_delay_ns), .help = "time from the kill of a job to its return to the queue" },
    { "failures.blast_horizon", KEY_DURATION, RANGE(0, CENTURY_NS), .fallback = "auto", .word = "auto", .word_value = 0, AT(scenario, failures.blast_horizon_ns), .help = "length of the failure-only run" },
    { "failures.server_growth", KEY_SHARE, RANGE(0, 1), .fallback = "0", AT(scenario, failures.server_growth), .help = "part of a server's rate that grows with its GPUs; 8 GPUs = the rate as given" },
    { "failures.gpu", KEY_CUSTOM, .fallback = "=none", .form = "'none' | {component}", .help = "faults of one GPU" },
    { "failures.server", KEY_CUSTOM, .fallback = "=none", .form = "'none' | {component}", .help = "faults of one server, its GPUs apart" },
    { "failures.link", KEY_CUSTOM, .fallback = "=none", .form = "'none' | {component}", .help = "faults of one NIC with its cable and port" },
    { "failures.slow_link", KEY_MAP, .fallback = "=", .help = "faults of links that leave them slow, not dead: jobs go on" },
    { "failures.slow_link.share", KEY_SHARE, RANGE(0, 1), .fallback = "0", AT(scenario, failures.slow_link.share), .help = "share of the faults of failures.link that leave the link slow" },
    { "failures.slow_link.factor", KEY_SHARE, RANGE(0, 1), .fallback = "50%", AT(scenario, failures.slow_link.factor), .help = "part of a slow link's bandwidth that is left" },
    { "failures.slow_link.found", KEY_DURATION, RANGE(0, CENTURY_NS), .fallback = "12h", AT(scenario, failures.slow_link.found_ns), .help = "mean time until a slow link is found; then the repair of failures.link begins" },
    { "failures.leaf", KEY_CUSTOM, .fallback = "=none", .form = "'none' | {component}", .help = "faults of one leaf switch" },
    { "failures.job", KEY_CUSTOM, .fallback = "=none", .form = "'none' | {component}", .help = "faults of one running job's software" },

    { "checkpoint", KEY_MAP, .fallback = "=", .short_key = "policy", .help = "how jobs save their state" },
    { "checkpoint.policy", KEY_CHOICE, .fallback = "=fixed with an interval, else none", .words = "none|fixed|young|daly", AT(scenario, checkpoint.policy), .help = "when a checkpoint is written" },
    { "checkpoint.interval", KEY_DURATION, RANGE(NS_PER_S, CENTURY_NS), .fallback = "=none", AT(scenario, checkpoint.interval_ns), .help = "compute time between two checkpoints, for policy fixed" },
    { "checkpoint.size", KEY_SIZE, RANGE(1, 1e15), .fallback = "by_class", .word = "by_class", .word_value = 0, AT(scenario, checkpoint.bytes_per_gpu), .help = "bytes per GPU of the job; by_class: of its profile" },
    { "checkpoint.store", KEY_BANDWIDTH, RANGE(1, 1e18), .fallback = "=none", AT(scenario, checkpoint.store_bytes_per_s), .help = "what the store takes from one job; storage.write says what it takes from all" },
    { "checkpoint.per_server", KEY_BANDWIDTH, RANGE(1, 1e18), .fallback = "nics", .word = "nics", .word_value = 0, AT(scenario, checkpoint.server_bytes_per_s), .help = "what one server can write; nics: as its NICs" },
    { "storage", KEY_MAP, .fallback = "=", .help = "what all jobs of a layout read their input from and write their checkpoints to" },
    { "storage.read", KEY_BANDWIDTH, RANGE(1, 1e18), .fallback = "=without limit", AT(scenario, storage.read_bytes_per_s), .help = "what all jobs together can read; one direction, beside the other" },
    { "storage.write", KEY_BANDWIDTH, RANGE(1, 1e18), .fallback = "=without limit", AT(scenario, storage.write_bytes_per_s), .help = "what all jobs together can write; one direction, beside the other" },
    { "storage.per_server", KEY_BANDWIDTH, RANGE(1, 1e18), .fallback = "nics", .word = "nics", .word_value = 0, AT(scenario, storage.server_bytes_per_s), .help = "what one server can read or write, one direction, over links of its own; nics: over its compute NICs and the uplinks behind them, which collectives use too" },

    { "layouts", KEY_MAP, REQUIRED, .short_key = "list", .help = "the ways to build the cluster" },
    { "layouts.scale_to_load", KEY_NUMBER, RANGE(0.01, 10), .fallback = "none", .word = "none", .word_value = 0, AT(scenario, scale_to_load), .help = "sizes all layouts to this offered load" },
    { "layouts.list", KEY_CUSTOM, REQUIRED, .form = "[{layouts[]}]+", .items_most = LIMIT_LAYOUTS, .help = "one map a layout" },
    { "layouts[].name", KEY_NAME, REQUIRED, AT(layout, name), .help = "heads a column of the comparison" },
    { "layouts[].servers", KEY_CUSTOM, REQUIRED, .form = "path | {layouts[].servers} | [{layouts[].servers}]+", .items_most = LIMIT_SERVER_GROUPS, .help = "what it is built of: {type, count}, or a list of such groups; nodes are numbered through them. Or a CSV of nodes, sn,cpu_milli,memory_mib,gpu,model, one group for each kind" },
    { "layouts[].servers.type", KEY_CUSTOM, REQUIRED, .short_key = "like", .form = "name | {server}", .help = "an entry of catalog servers.yaml, or its keys written inline" },
    { "layouts[].servers.count", KEY_COUNT, RANGE(1, 4294967295.0), REQUIRED, AT(server_group, count), .help = "number of servers" },
    { "layouts[].servers.cores", KEY_COUNT, RANGE(1, 65536), .fallback = "=as the server type has", AT(server_group, server.cores), .help = "CPU cores of one server that jobs can ask for" },
    { "layouts[].servers.memory", KEY_BYTES, RANGE(1, 1e15), .fallback = "=as the server type has", AT(server_group, server.memory_bytes), .help = "memory of one server that jobs can ask for" },
    { "layouts[].servers.sockets", KEY_COUNT, RANGE(1, 64), .fallback = "2", AT(server_group, sockets), .help = "cores are split evenly over them, and GPUs in order where gpu_cores does not say which" },
    { "layouts[].servers.nodes_per_server", KEY_COUNT, RANGE(1, LIMIT_GPUS_PER_SERVER), .fallback = "1", AT(server_group, nodes_per_server), .help = "virtual machines that own its GPUs in equal parts and fail together" },
    { "layouts[].servers.vm", KEY_MAP, .fallback = "=", .help = "what these virtual machines lose; needs nodes_per_server above 1" },
    { "layouts[].servers.vm.nvlink", KEY_CHOICE, .fallback = "kept", .words = "kept|split|off", AT(server_group, vm.nvlink), .help = "kept: as the server has it; split: links between GPUs of one machine only; off: PCIe" },
    { "layouts[].servers.vm.shared_nvlink", KEY_BOOL, .fallback = "false", AT(server_group, vm.shared_nvlink), .help = "the machines of one server reach each other by NVLink, not by NICs" },
    { "layouts[].servers.vm.p2p_max_class", KEY_CHOICE, .fallback = "PHB", .words = "LOC|NVL|C2C|PIX|PXB|PHB|SYS", AT(server_group, vm.p2p_max), .help = "farthest PCIe path with peer access inside a machine" },
    { "layouts[].servers.vm.compute_overhead", KEY_SHARE, RANGE(0, 1), .fallback = "2%", AT(server_group, vm.compute_overhead_frac), .help = "how much longer the same computation takes in a virtual machine (assumed)" },
    { "layouts[].servers.vm.staged_overhead", KEY_SHARE, RANGE(0, 1), .fallback = "5%", AT(server_group, vm.staged_overhead_frac), .help = "how much longer traffic takes that is copied through the host memory of a virtual machine (assumed)" },
    { "layouts[].servers.name", KEY_TEXT, .fallback = "", .kinds = KUBERNETES, AT(server_group, name), .help = "what the autoscaler calls the group" },
    { "layouts[].servers.names", KEY_TEXT, .fallback = "", AT(server_group, names), .help = "names of its nodes, as n[00-15]; left out: NAME-0, NAME-1, ... of the layout" },
    { "layouts[].servers.gpu_type", KEY_TEXT, .fallback = "", AT(server_group, gpu_type), .help = "what jobs call its GPUs; left out: as the server type has" },
    { "layouts[].servers.features", KEY_CUSTOM, .fallback = "=none", .form = "name | [name]", AT(server_group, features), .kinds = SLURM, .help = "what jobs can ask for with constraint: ib,h100" },
    { "layouts[].servers.weight", KEY_COUNT, RANGE(1, 4294967280.0), .fallback = "1", AT(server_group, weight), .kinds = SLURM, .help = "nodes of a lower weight are taken first" },
    { "layouts[].servers.labels", KEY_CUSTOM, .fallback = "=none", .form = "name | [name] | map", AT(server_group, labels), .kinds = KUBERNETES, .help = "{key: value}, or key=value by commas" },
    { "layouts[].servers.taints", KEY_CUSTOM, .fallback = "=none", .form = "name | [name]", AT(server_group, taints), .kinds = KUBERNETES, .help = "key=value:NoSchedule, PreferNoSchedule or NoExecute" },
    { "layouts[].servers.sharing", KEY_MAP, .fallback = "=", .short_key = "kind", .help = "how each of its GPUs is shared out" },
    { "layouts[].servers.sharing.kind", KEY_CHOICE, .fallback = "none", .words = "none|shard|time_slice|mps|mig_single|mig_mixed|share", AT(server_group, sharing), .help = "shard: Slurm; time_slice, mps: Kubernetes; mig_single, mig_mixed: cut into instances; share: thousandths" },
    { "layouts[].servers.sharing.per_gpu", KEY_COUNT, RANGE(1, 1024), .fallback = "=none", AT(server_group, shares_per_gpu), .help = "shards or replicas of one GPU" },
    { "layouts[].servers.sharing.profile", KEY_CUSTOM, .fallback = "=none", .form = "name | [name]", .items_most = LIMIT_GPU_CUTS, AT(server_group, mig), .help = "mig_single: the MIG profile that each GPU is cut into, as 1g.10gb; mig_mixed: all instances of one GPU, as [3g.40gb, 2g.20gb, 1g.10gb]" },
    { "layouts[].servers.links", KEY_CUSTOM, .fallback = "=none", .form = "[name]+", .items_most = LIMIT_GPUS_PER_SERVER, .help = "Links= of gres.conf, one text a GPU: \"-1,4,2,2\"" },
    { "layouts[].servers.gpu_cores", KEY_CUSTOM, .fallback = "=none", .form = "[name]+", .items_most = LIMIT_GPUS_PER_SERVER, .help = "Cores= of gres.conf, one range a GPU: 0-7" },
    { "layouts[].fabric", KEY_MAP, REQUIRED, .help = "the network that connects the servers" },
    { "layouts[].fabric.type", KEY_CHOICE, .fallback = "two-tier", .words = "two-tier|three-tier|rail|rail-only|dragonfly+", AT(layout, fabric.kind), .help = "how its switches are wired; one switch (of each rail) is the small case of all; rail: NIC r of every server on rail r; rail-only: nothing joins the rails" },
    { "layouts[].fabric.link", KEY_CUSTOM, REQUIRED, .short_key = "like", .form = "name | {link}", .help = "an entry of catalog links.yaml, or its keys written inline" },
    { "layouts[].fabric.nics_per_gpu", KEY_NUMBER, RANGE(1.0 / LIMIT_GPUS_PER_SERVER, 16), .fallback = "=as the server type has", AT(layout, fabric.nics_per_gpu), .help = "NICs of a server over its GPUs" },
    { "layouts[].fabric.oversubscription", KEY_NUMBER, RANGE(1, 1000), .fallback = "1", AT(layout, fabric.oversubscription), .help = "down : up at the leaf; 1 = non-blocking" },
    { "layouts[].fabric.routing", KEY_CHOICE, .fallback = "even", .words = "even|sampled|expected|adaptive", AT(layout, fabric.routing), .help = "how flows share the uplinks of a leaf. even: without loss, as a scheduler of packets does at its best; sampled: each flow on one cable by hash (ECMP), drawn at each start; expected: the mean of that; adaptive: evenly at 95%" },
    { "layouts[].fabric.queue_pairs", KEY_COUNT, RANGE(1, 64), .fallback = "1", AT(layout, fabric.queue_pairs), .help = "flows of each NIC of a job that are hashed by themselves" },
    { "layouts[].fabric.rails", KEY_COUNT, RANGE(1, 512), .fallback = "=one for each NIC of a server", AT(layout, fabric.rails), .help = "rail, rail-only: NIC r of a server is on rail r mod rails" },
    { "layouts[].fabric.groups", KEY_COUNT, RANGE(2, 4096), .fallback = "=as few as hold the leaves", AT(layout, fabric.groups), .help = "dragonfly+: equal groups of leaves and spines" },
    { "layouts[].fabric.global_links", KEY_COUNT, RANGE(1, 1e6), .fallback = "=as many as the spines have ports for", AT(layout, fabric.global_links), .help = "dragonfly+: cables between each two groups" },
    { "layouts[].storage", KEY_MAP, .fallback = "=", .help = "the layout's storage, where it is not that of the scenario" },
    { "layouts[].storage.read", KEY_BANDWIDTH, RANGE(1, 1e18), .fallback = "=storage.read", AT(layout, storage.read_bytes_per_s), .help = "what all jobs together can read, one direction" },
    { "layouts[].storage.write", KEY_BANDWIDTH, RANGE(1, 1e18), .fallback = "=storage.write", AT(layout, storage.write_bytes_per_s), .help = "what all jobs together can write, one direction" },
    { "layouts[].storage.per_server", KEY_BANDWIDTH, RANGE(1, 1e18), .fallback = "=storage.per_server", AT(layout, storage.server_bytes_per_s), .help = "what one server can read or write, one direction, over links of its own" },
    { "baseline", KEY_CUSTOM, .fallback = "=the first layout", .form = "name", .help = "the layout that others are compared with" },
    { "allow_different", KEY_CUSTOM, .fallback = "=[]", .form = "['gpu' | 'fabric']", .help = "[gpu, fabric]: what layouts may differ in" },

    { "verdict", KEY_MAP, .fallback = "=", .help = "what the verdict is tried against" },
    { "verdict.tornado", KEY_BOOL, .fallback = "=true, or false where servers of several types are mixed", AT(scenario, tornado), .help = "run again with each assumption moved, to say what turns the verdict" },
    { "verdict.tornado_replicas", KEY_COUNT, RANGE(1, LIMIT_REPLICAS), .fallback = "20", AT(scenario, tornado_replicas), .help = "replicas of each moved assumption, at most those of the scenario" },
    { "gates", KEY_CUSTOM, .fallback = "=none", .form = "[{gates[]}]", .items_most = LIMIT_GATES, .help = "limits that make compare exit 5" },
    { "gates[].metric", KEY_NAME, REQUIRED, AT(gate, metric), .help = "name of a metric" },
    { "gates[].layout", KEY_NAME, REQUIRED, AT(gate, layout), .help = "name of a layout" },
    { "gates[].below", KEY_CUSTOM, .fallback = "=none", .twin = "above", .form = "number | share | duration", .twin_needed = true, .help = "the value must be below this: 4h, 50% or a number" },
    { "gates[].above", KEY_CUSTOM, .fallback = "=none", .twin = "below", .form = "number | share | duration", .twin_needed = true, .help = "the value must be above this" },

    { "sweep", KEY_NOT_BUILT, .help = "axes of a sweep" },
#include "spec/keys_jobs.h"

    /* ---- a server type ---- */
    { "server.id", KEY_NAME, .fallback = "inline", AT(server_type, id), .help = "name in the catalog" },
    { "server.like", KEY_CUSTOM, .fallback = "=none", .form = "name", .help = "inline: takes what is not written from this entry of the catalog" },
    { "server.gpu", KEY_NAME, REQUIRED, .unless_zero = "gpus", AT(server_type, gpu), .help = "GPU model; layouts with different ones are not comparable" },
    { "server.gpus", KEY_COUNT, RANGE(0, LIMIT_GPUS_PER_SERVER), REQUIRED, AT(server_type, gpus), .help = "GPUs of one server; 0: cores and memory only" },
    { "server.nics", KEY_COUNT, RANGE(1, 512), REQUIRED, .unless_zero = "gpus", AT(server_type, nics), .help = "compute NICs of one server" },
    { "server.nic", KEY_BANDWIDTH, RANGE(1, 1e15), REQUIRED, .unless_zero = "gpus", AT(server_type, nic_bytes_per_s), .help = "rate of one NIC, effective, one direction; a layout takes that of its fabric.link instead" },
    { "server.scaleup", KEY_BANDWIDTH, RANGE(1, 1e15), .fallback = "=what its links give a ring", AT(server_type, scaleup_bytes_per_s), .help = "bus bandwidth of a ring inside the server" },
    { "server.gpu_pcie", KEY_BANDWIDTH, RANGE(1, 1e15), .fallback = "48 GB/s", AT(server_type, gpu_pcie_bytes_per_s), .help = "what one GPU can send, one direction" },
    { "server.host_memory", KEY_BANDWIDTH, RANGE(1, 1e15), .fallback = "300 GB/s", AT(server_type, host_memory_bytes_per_s), .help = "what the host's memory copies; matters without gpudirect" },
    { "server.scaleup_hop", KEY_SECONDS, RANGE(0, 1), .fallback = "3.4us", AT(server_type, scaleup_hop_s), .help = "start-up of one collective step inside the server" },
    { "server.gpudirect", KEY_BOOL, .fallback = "true", AT(server_type, gpudirect), .help = "NICs reach GPU memory without the host" },
    { "server.sockets", KEY_COUNT, RANGE(1, 16), .fallback = "=1 with at most two GPUs, else 2", AT(server_type, sockets), .help = "CPU sockets; GPUs and NICs are spread over them evenly and in order" },
    { "server.pcie_switches", KEY_COUNT, RANGE(0, 64), .fallback = "=as many as NICs, at most as GPUs", AT(server_type, pcie_switches), .help = "PCIe switches, spread over the sockets, with GPUs and NICs in order; 0: each on a root port of its own" },
    { "server.pcie", KEY_CUSTOM, .fallback = "=the plain tree of sockets and pcie_switches", .form = "[name]+", .items_most = 16, .help = "a text for each socket instead: \"(GPU0 GPU1 NIC0) ((GPU2 NIC1) (GPU3 NIC2)) GPU4\"; brackets are PCIe switches" },
    { "server.matrix", KEY_CUSTOM, .fallback = "=none", .form = "path", .help = "a file with the output of nvidia-smi topo -m instead: PCIe and NVLinks are as it says" },
    { "server.pcie_uplink", KEY_BANDWIDTH, RANGE(1, 1e15), .fallback = "=as gpu_pcie", AT(server_type, uplink_bytes_per_s), .help = "rate from a PCIe switch to its socket, one direction" },
    { "server.socket_link", KEY_BANDWIDTH, RANGE(1, 1e15), .fallback = "22 GB/s", AT(server_type, socket_link_bytes_per_s), .help = "rate of the link between sockets, one direction" },
    { "server.c2c", KEY_BANDWIDTH, RANGE(0, 1e15), .fallback = "0 GB/s", AT(server_type, c2c_bytes_per_s), .help = "chip-to-chip link of a GPU and its CPU, one direction; 0 = none" },
    { "server.nvlink", KEY_CUSTOM, .fallback = "=switch", .form = "name | [name]+", .items_most = LIMIT_GPUS_PER_SERVER, .help = "none, switch, mesh (all pairs), pairs (bridges), cube-mesh (DGX-1), or a text for each GPU with its links to all: \"0,2,1\"" },
    { "server.nvlink_links", KEY_COUNT, RANGE(1, 64), .fallback = "1", AT(server_type, nvlinks), .help = "NVLinks of one GPU; 1 = one bundle" },
    { "server.nvlink_rate", KEY_BANDWIDTH, RANGE(1, 1e15), .fallback = "=scaleup over nvlink_links", AT(server_type, nvlink_bytes_per_s), .help = "rate of one NVLink, effective, one direction" },
    { "server.nvlink_domain", KEY_COUNT, RANGE(1, 1024), .fallback = "1", AT(server_type, domain_servers), .help = "servers in a row whose GPUs are one NVLink domain, as 18 trays of an NVL72" },
    { "server.p2p_max_class", KEY_CHOICE, .fallback = "SYS", .words = "LOC|NVL|C2C|PIX|PXB|PHB|SYS", AT(server_type, p2p_max), .help = "farthest path with peer access; farther ones are copied through host memory; LOC: all" },
    { "server.gdr_max_class", KEY_CHOICE, .fallback = "PXB", .words = "LOC|NVL|C2C|PIX|PXB|PHB|SYS", AT(server_type, gdr_max), .help = "farthest path of a GPU to its nearest NIC with GPUDirect, where there is gpudirect at all" },
    { "server.cores", KEY_COUNT, RANGE(1, 65536), .fallback = "128", AT(server_type, cores), .help = "CPU cores that jobs can ask for" },
    { "server.memory", KEY_BYTES, RANGE(1, 1e15), .fallback = "2 TB", AT(server_type, memory_bytes), .help = "memory that jobs can ask for" },
    { "server.idle", KEY_POWER, RANGE(0, 1e6), .fallback = "0 W", AT(server_type, idle_w), .help = "power of an idle server at the wall; 0 W = not stated" },
    { "server.max", KEY_POWER, RANGE(0, 1e6), .fallback = "0 W", AT(server_type, max_w), .help = "most power of a server at the wall; 0 W = not stated" },
    { "server.price_usd", KEY_NUMBER, RANGE(0, 1e9), .fallback = "0", AT(server_type, price_usd), .help = "price of a server with its NICs; 0 = not stated" },
    { "server.mark", KEY_CHOICE, .fallback = "assumed", .words = "confirmed|derived|memory|assumed|hypothetical", AT(server_type, mark), .help = "how well its numbers are known" },
    { "server.source", KEY_TEXT, .fallback = "", AT(server_type, source), .help = "where its numbers come from" },
    { "server.refused", KEY_CUSTOM, .fallback = "=none", .help = "why it cannot be simulated, and what to use" },
    { "server.notes", KEY_CUSTOM, .fallback = "=none", .help = "facts that are not simulated; marks and sources of single fields" },
    { "server.notes.marks", KEY_CUSTOM, .fallback = "=none", .help = "{field: mark} where it is not that of the row" },
    { "server.notes.sources", KEY_CUSTOM, .fallback = "=none", .help = "{field: source} where it is not that of the row" },
    { "server.notes.sockets", KEY_COUNT, RANGE(1, 64), .fallback = "=none", .help = "CPU sockets" },
    { "server.notes.nic_nominal", KEY_BANDWIDTH, RANGE(1, 1e15), .fallback = "=none", .help = "line rate of one NIC, one direction" },
    { "server.notes.network", KEY_BANDWIDTH, RANGE(1, 1e15), .fallback = "=none", .help = "line rate of all its NICs, one direction" },
    { "server.notes.scaleup_kind", KEY_TEXT, .fallback = "=none", .help = "what connects its GPUs" },
    { "server.notes.pcie", KEY_TEXT, .fallback = "=none", .help = "PCIe layout" },
    { "server.notes.typical", KEY_POWER, RANGE(0, 1e6), .fallback = "=none", .help = "power at the wall, under heavy load" },
    { "server.notes.rack_units", KEY_COUNT, RANGE(1, 64), .fallback = "=none", .help = "height" },
    { "server.notes.domain_gpus", KEY_COUNT, RANGE(1, 4096), .fallback = "=none", .help = "GPUs of the NVLink domain it belongs to" },
    { "server.notes.fitted_to", KEY_TEXT, .fallback = "=none", .help = "the measured collective that its scaleup is taken from" },
    { "server.notes.rack_gpus", KEY_COUNT, RANGE(1, 4096), .fallback = "=none", .help = "GPUs of one rack" },
    { "server.notes.rack_nics", KEY_COUNT, RANGE(1, 4096), .fallback = "=none", .help = "NICs of one rack" },
    { "server.notes.rack_servers", KEY_COUNT, RANGE(1, 4096), .fallback = "=none", .help = "servers (trays) of one rack" },
    { "server.notes.rack_max", KEY_POWER, RANGE(0, 1e7), .fallback = "=none", .help = "power of one rack" },

    /* ---- a link type ---- */
    { "link.id", KEY_NAME, .fallback = "inline", AT(link_type, id), .help = "name in the catalog" },
    { "link.like", KEY_CUSTOM, .fallback = "=none", .form = "name", .help = "inline: takes what is not written from this entry of the catalog" },
    { "link.rate", KEY_BANDWIDTH, RANGE(1, 1e15), REQUIRED, AT(link_type, bytes_per_s), .help = "effective payload of a port, one direction" },
    { "link.hop", KEY_SECONDS, RANGE(0, 1), .fallback = "14us", AT(link_type, hop_s), .help = "start-up of one collective step across the network" },
    { "link.tree_hop", KEY_SECONDS, RANGE(0, 1), .fallback = "0s", AT(link_type, tree_hop_s), .help = "start-up of one level of a tree of servers; 0s = no trees" },
    { "link.switch_latency", KEY_SECONDS, RANGE(0, 1), .fallback = "0.23us", AT(link_type, switch_s), .help = "delay of one switch, port to port; hop and tree_hop are over one, each further switch of a path adds this" },
    { "link.sharp", KEY_BOOL, .fallback = "false", AT(link_type, sharp), .help = "whether its switches can sum (SHARP); true written in a layout: jobs let them, under allreduce auto and best" },
    { "link.switch_ports", KEY_COUNT, RANGE(2, 4096), .fallback = "64", AT(link_type, switch_ports), .help = "ports of one switch" },
    { "link.mark", KEY_CHOICE, .fallback = "assumed", .words = "confirmed|derived|memory|assumed|hypothetical", AT(link_type, mark), .help = "how well its numbers are known" },
    { "link.source", KEY_TEXT, .fallback = "", AT(link_type, source), .help = "where its numbers come from" },
    { "link.refused", KEY_CUSTOM, .fallback = "=none", .help = "why it cannot be simulated, and what to use" },
    { "link.notes", KEY_CUSTOM, .fallback = "=none", .help = "facts that are not simulated; marks and sources of single fields" },
    { "link.notes.marks", KEY_CUSTOM, .fallback = "=none", .help = "{field: mark} where it is not that of the row" },
    { "link.notes.sources", KEY_CUSTOM, .fallback = "=none", .help = "{field: source} where it is not that of the row" },
    { "link.notes.nominal", KEY_BANDWIDTH, RANGE(1, 1e15), .fallback = "=none", .help = "line rate of one port, one direction" },
    { "link.notes.payload", KEY_SHARE, RANGE(0, 1), .fallback = "=none", .help = "part of the line rate that tests accept" },
    { "link.notes.latency", KEY_SECONDS, RANGE(0, 1), .fallback = "=none", .help = "latency of one switch, slot or virtual network, one way" },
    { "link.notes.switch", KEY_TEXT, .fallback = "=none", .help = "a switch it is built with" },
    { "link.notes.switch_power", KEY_POWER, RANGE(0, 1e6), .fallback = "=none", .help = "power of the switch that it is built with" },

    /* ---- faults of ONE component of its kind ---- */
    { "component.law", KEY_CHOICE, .fallback = "exponential", .words = "none|exponential|weibull|lognormal", AT(component_failures, law), .help = "law of the time between two faults of one component" },
    { "component.rate", KEY_PER_TIME, RANGE(MEAN_S_LEAST, MEAN_S_MOST), .fallback = "=none", .twin = "mtbf", AT(component_failures, mean_s), .help = "faults of ONE component per time, as 3e-4/day" },
    { "component.mtbf", KEY_SECONDS, RANGE(MEAN_S_LEAST, MEAN_S_MOST), .fallback = "=none", .twin = "rate", AT(component_failures, mean_s), .help = "mean time between faults of ONE component, as 50000h" },
    { "component.shape", KEY_NUMBER, RANGE(0.05, 50), .fallback = "=none", AT(component_failures, shape), .help = "Weibull: its shape; lognormal: sd of the logarithm" },
    { "component.repair_median", KEY_SECONDS, RANGE(0, CENTURY_S), .fallback = "0s", AT(component_failures, repair_median_s), .help = "median of the repair time, lognormal; 0s = at once" },
    { "component.repair_p95", KEY_SECONDS, RANGE(0, CENTURY_S), .fallback = "=the median", AT(component_failures, repair_p95_s), .help = "repair time that 95 of 100 repairs are shorter than" },
    { "component.source", KEY_TEXT, .fallback = "", AT(component_failures, source), .help = "where its numbers come from" },
    { "component.per_server_of", KEY_COUNT, RANGE(1, LIMIT_GPUS_PER_SERVER), .fallback = "=any", AT(component_failures, per_server_of), .help = "a rate of whole servers of so many GPUs: refused on others" },
    { "component.mark", KEY_CUSTOM, .fallback = "=none", .help = "how well its rate is known" },
    { "component.notes", KEY_CUSTOM, .fallback = "=none", .help = "facts that are not simulated; marks and sources of single fields" },
    { "component.notes.marks", KEY_CUSTOM, .fallback = "=none", .help = "{field: mark} where it is not that of the row" },
    { "component.notes.sources", KEY_CUSTOM, .fallback = "=none", .help = "{field: source} where it is not that of the row" },

    { "failure.id", KEY_NAME, REQUIRED, .help = "name in the catalog" },
    { "failure.gpu", KEY_CUSTOM, .fallback = "=none", .help = "faults of one GPU" },
    { "failure.server", KEY_CUSTOM, .fallback = "=none", .help = "faults of one server" },
    { "failure.link", KEY_CUSTOM, .fallback = "=none", .help = "faults of one NIC with its cable and port" },
    { "failure.leaf", KEY_CUSTOM, .fallback = "=none", .help = "faults of one leaf switch" },
    { "failure.job", KEY_CUSTOM, .fallback = "=none", .help = "faults of one running job's software" },

    /* ---- how a job communicates ---- */
    { "profile.id", KEY_NAME, .fallback = "inline", AT(profile, id), .help = "name in the catalog" },
    { "profile.kappa_one", KEY_NUMBER, RANGE(0, 1000), .fallback = "=none", .twin = "train", .twin_needed = true, AT(profile, kappa_one), .help = "communication / compute of a job whose reference is one server" },
    { "profile.kappa_many", KEY_NUMBER, RANGE(0, 1000), .fallback = "=none", .needed_with = "kappa_one", AT(profile, kappa_many), .help = "communication / compute of a job whose reference is several servers" },
    { "profile.hidden", KEY_SHARE, RANGE(0, 1), .fallback = "0.3", AT(profile, hidden_frac), .help = "part of the compute time that can hide communication" },
    { "profile.size", KEY_SIZE, RANGE(1, 1e15), .fallback = "1 GB", AT(profile, size_bytes), .help = "bytes of one all-reduce" },
    { "profile.train", KEY_CUSTOM, .fallback = "=none", .form = "{train}", .twin = "kappa_one", .twin_needed = true, .help = "steps worked out by a training plan, in place of kappa, hidden and size" },
    { "profile.spread", KEY_NUMBER, RANGE(0, 10), .fallback = "0", AT(profile, spread), .help = "sd / mean of kappa between jobs; 0 = all alike" },
    { "profile.state_per_gpu", KEY_SIZE, RANGE(0, 1e15), .fallback = "875 MB", AT(profile, state_bytes_per_gpu), .help = "what a checkpoint writes, per GPU" },
    { "profile.input_rate", KEY_BANDWIDTH, RANGE(0, 1e15), .fallback = "0 B/s", AT(profile, input_bytes_per_s), .help = "input that each GPU reads per second of its compute; one direction" },
    { "profile.prefetch", KEY_BOOL, .fallback = "true", AT(profile, prefetch), .help = "input is read ahead while the step goes on, else before each step" },
    { "profile.uneven", KEY_NUMBER, RANGE(1, 100), .fallback = "1", AT(profile, uneven), .help = "work of the fullest member of a job over the mean, by experts or lengths of samples; all wait for it" },
    { "profile.mark", KEY_CHOICE, .fallback = "assumed", .words = "confirmed|derived|memory|assumed|hypothetical", AT(profile, mark), .help = "how well its numbers are known" },
    { "profile.source", KEY_TEXT, .fallback = "", AT(profile, source), .help = "where its numbers come from" },
    { "profile.notes", KEY_CUSTOM, .fallback = "=none", .help = "facts that are not simulated; marks and sources of single fields" },
    { "profile.notes.marks", KEY_CUSTOM, .fallback = "=none", .help = "{field: mark} where it is not that of the row" },
    { "profile.notes.sources", KEY_CUSTOM, .fallback = "=none", .help = "{field: source} where it is not that of the row" },

    { "mix.profile", KEY_CUSTOM, REQUIRED, .form = "name", .help = "an entry of profiles" },
    { "mix.weight", KEY_NUMBER, RANGE(1e-9, 1e9), REQUIRED, AT(mix_entry, weight), .help = "relative, among the entries that admit the size" },
    { "mix.gpus_min", KEY_COUNT, RANGE(1, LIMIT_GPUS), .fallback = "1", AT(mix_entry, gpus_min), .help = "smallest job" },
    { "mix.gpus_max", KEY_COUNT, RANGE(1, LIMIT_GPUS), .fallback = "4194304", AT(mix_entry, gpus_max), .help = "largest job" },

    /* ---- what is known and not simulated: checked, shown by `gpuplan catalog`, stored nowhere ---- */
#include "spec/keys_train.h"
    { "gpu.id", KEY_NAME, REQUIRED, .help = "name in the catalog" },
    { "gpu.form", KEY_TEXT, REQUIRED, .help = "module or card" },
    { "gpu.memory", KEY_SIZE, RANGE(1, 1e15), REQUIRED, AT(gpu_type, memory_bytes), .help = "memory of one GPU" },
    { "gpu.memory_rate", KEY_BANDWIDTH, RANGE(1, 1e15), REQUIRED, AT(gpu_type, memory_bytes_per_s), .help = "bandwidth of its memory" },
    { "gpu.peak_bf16_tflops", KEY_NUMBER, RANGE(0.001, 1e6), REQUIRED, AT(gpu_type, peak_tflops), .help = "dense peak in bf16, else fp16" },
    { "gpu.gemm_tflops", KEY_NUMBER, RANGE(0.001, 1e6), .fallback = "=none", .help = "fastest matrix product measured in bf16" },
    { "gpu.max", KEY_POWER, RANGE(1, 1e5), REQUIRED, .help = "rated power" },
    { "gpu.idle", KEY_POWER, RANGE(0, 1e5), .fallback = "=none", .help = "power without work" },
    { "gpu.scaleup_kind", KEY_TEXT, REQUIRED, .help = "link to its peers" },
    { "gpu.scaleup_rate", KEY_BANDWIDTH, RANGE(0, 1e15), REQUIRED, .help = "line rate to its peers, both directions (half of it in one direction); 0 = none" },
    { "gpu.pcie_generation", KEY_COUNT, RANGE(1, 9), REQUIRED, .help = "PCIe generation of its x16 slot" },
    { "gpu.mig_max", KEY_COUNT, RANGE(0, 64), REQUIRED, .help = "parts it can be split into; 0 = none" },
    { "gpu.mig_kind", KEY_TEXT, .fallback = "=none", .help = "kind of these parts when not MIG" },
    { "gpu.mark", KEY_CHOICE, REQUIRED, .words = "confirmed|derived|memory|assumed|hypothetical", .help = "how well its numbers are known" },
    { "gpu.source", KEY_TEXT, REQUIRED, .help = "where its numbers come from" },
    { "gpu.notes", KEY_CUSTOM, .fallback = "=none", .help = "facts that are not simulated; marks and sources of single fields" },
    { "gpu.notes.marks", KEY_CUSTOM, .fallback = "=none", .help = "{field: mark} where it is not that of the row" },
    { "gpu.notes.sources", KEY_CUSTOM, .fallback = "=none", .help = "{field: source} where it is not that of the row" },

    { "mig.id", KEY_NAME, REQUIRED, .help = "name in the catalog" },
    { "mig.gpu", KEY_NAME, REQUIRED, .help = "family of GPUs" },
    { "mig.profile", KEY_NAME, REQUIRED, .help = "name of the instance, as its maker calls it" },
    { "mig.compute_slices", KEY_COUNT, RANGE(1, 7), REQUIRED, .help = "compute slices of an instance, of the GPU's 7" },
    { "mig.memory_slices", KEY_COUNT, RANGE(1, 8), REQUIRED, .help = "memory slices of an instance, of the GPU's 8" },
    { "mig.starts", KEY_TEXT, REQUIRED, .help = "memory slices where an instance may start" },
    { "mig.max_instances", KEY_COUNT, RANGE(1, 7), REQUIRED, .help = "most instances on one GPU" },
    { "mig.memory", KEY_SIZE, RANGE(1, 1e15), REQUIRED, .help = "memory of one instance" },
    { "mig.sm", KEY_COUNT, RANGE(1, 1024), .fallback = "=none", .help = "streaming multiprocessors" },
    { "mig.mark", KEY_CHOICE, REQUIRED, .words = "confirmed|derived|memory|assumed|hypothetical", .help = "how well its numbers are known" },
    { "mig.source", KEY_TEXT, REQUIRED, .help = "where its numbers come from" },
    { "mig.notes", KEY_CUSTOM, .fallback = "=none", .help = "facts that are not simulated; marks and sources of single fields" },
    { "mig.notes.marks", KEY_CUSTOM, .fallback = "=none", .help = "{field: mark} where it is not that of the row" },
    { "mig.notes.sources", KEY_CUSTOM, .fallback = "=none", .help = "{field: source} where it is not that of the row" },

    { "collective.id", KEY_NAME, REQUIRED, AT(server_fit, id), .help = "name in the catalog" },
    { "collective.servers", KEY_TEXT, REQUIRED, .help = "ids of the server types that it holds for, by blanks" },
    { "collective.gpus", KEY_COUNT, RANGE(1, 4096), REQUIRED, AT(server_fit, gpus), .help = "GPUs of the group that its lines were measured on" },
    { "collective.all_reduce", KEY_TEXT, .fallback = "", .help = "ring in one server: latency and bus bandwidth of up to three protocols, slowest first: 35us 38 GB/s, 65us 151 GB/s" },
    { "collective.all_gather", KEY_TEXT, .fallback = "", .help = "all-gather, reduce-scatter, broadcast and reduce in one server: latency and bus bandwidth of up to three protocols, slowest first" },
    { "collective.alltoall", KEY_TEXT, .fallback = "", .help = "all-to-all in one server: latency and bus bandwidth of up to three protocols, slowest first" },
    { "collective.nvls", KEY_TEXT, .fallback = "", .help = "all-reduce summed in the NVSwitch: latency and bus bandwidth of up to three protocols, slowest first; left out: it cannot" },
    { "collective.ring", KEY_TEXT, .fallback = "", .help = "bus bandwidth of a ring through fewer GPUs: 2:208 GB/s, 3:20 GB/s; others as scaleup" },
    { "collective.domain_servers", KEY_COUNT, RANGE(1, 4096), .fallback = "1", AT(server_fit, domain_servers), .help = "servers that share one NVLink domain" },
    { "collective.domain_rate", KEY_BANDWIDTH, RANGE(1, 1e15), .fallback = "=what the NICs carry", AT(server_fit, domain_bytes_per_s), .help = "bus bandwidth between domains" },
    { "collective.over", KEY_NAME, .fallback = "=none of the catalog", AT(server_fit, over), .help = "link of the network measured: layouts on it, or on one like it with its hops, take what follows" },
    { "collective.network_hop", KEY_SECONDS, RANGE(0, 1), .fallback = "14us", AT(server_fit, network_hop_s), .help = "one step of a ring between servers, on the network measured" },
    { "collective.tree_hop", KEY_SECONDS, RANGE(0, 1), .fallback = "0s", AT(server_fit, tree_hop_s), .help = "one level of a tree between servers, there; 0s = no trees" },
    { "collective.tree_small", KEY_TEXT, .fallback = "", .help = "small messages over the tree: latency of a level and bus bandwidth" },
    { "collective.two_servers", KEY_TEXT, .fallback = "", .help = "all-reduce of two whole servers where a tree beats their NICs: latency and bus bandwidth" },
    { "collective.sharp", KEY_BOOL, .fallback = "false", AT(server_fit, sharp), .help = "the switches there can sum" },
    { "collective.staged", KEY_BANDWIDTH, RANGE(1, 1e15), .fallback = "=NICs shared out by GPU", AT(server_fit, staged_bytes_per_s), .help = "without gpudirect: what a GPU alone on its server gets between three or more servers, one direction" },
    { "collective.mark", KEY_CHOICE, REQUIRED, .words = "confirmed|derived|memory|assumed|hypothetical", .help = "how well its numbers are known" },
    { "collective.source", KEY_TEXT, REQUIRED, .help = "where its numbers come from" },
    { "collective.notes", KEY_CUSTOM, .fallback = "=none", .help = "marks and sources of single fields" },
    { "collective.notes.fitted_to", KEY_TEXT, .fallback = "=none", .help = "the measured collectives that its numbers are taken from: B001-B020 B036" },
    { "collective.notes.marks", KEY_CUSTOM, .fallback = "=none", .help = "{field: mark} where it is not that of the row" },
    { "collective.notes.sources", KEY_CUSTOM, .fallback = "=none", .help = "{field: source} where it is not that of the row" },

    { "price.id", KEY_NAME, REQUIRED, .help = "name in the catalog" },
    { "price.item", KEY_TEXT, REQUIRED, .help = "what is paid for" },
    { "price.value", KEY_NUMBER, RANGE(0, 1e12), .fallback = "=none", .help = "one number" },
    { "price.least", KEY_NUMBER, RANGE(0, 1e12), .fallback = "=none", .help = "lower end of a band" },
    { "price.most", KEY_NUMBER, RANGE(0, 1e12), .fallback = "=none", .help = "upper end of a band" },
    { "price.unit", KEY_TEXT, REQUIRED, .help = "unit of value, least and most" },
    { "price.date", KEY_TEXT, REQUIRED, .help = "year, or year and month" },
    { "price.kind", KEY_TEXT, REQUIRED, .help = "quote, list, street, estimate" },
    { "price.mark", KEY_CHOICE, REQUIRED, .words = "confirmed|derived|memory|assumed|hypothetical", .help = "how well its numbers are known" },
    { "price.source", KEY_TEXT, REQUIRED, .help = "where its numbers come from" },
    { "price.notes", KEY_CUSTOM, .fallback = "=none", .help = "facts that are not simulated; marks and sources of single fields" },
    { "price.notes.marks", KEY_CUSTOM, .fallback = "=none", .help = "{field: mark} where it is not that of the row" },
    { "price.notes.sources", KEY_CUSTOM, .fallback = "=none", .help = "{field: source} where it is not that of the row" },

    { "figure.id", KEY_NAME, REQUIRED, .help = "name in the catalog" },
    { "figure.quantity", KEY_TEXT, REQUIRED, .help = "what was counted or measured" },
    { "figure.value", KEY_TEXT, REQUIRED, .help = "the number as published" },
    { "figure.unit", KEY_TEXT, .fallback = "=none", .help = "unit of the value" },
    { "figure.population", KEY_TEXT, .fallback = "=none", .help = "where it was counted" },
    { "figure.mark", KEY_CHOICE, REQUIRED, .words = "confirmed|derived|memory|assumed|hypothetical", .help = "how well its numbers are known" },
    { "figure.source", KEY_TEXT, REQUIRED, .help = "where its numbers come from" },
    { "figure.notes", KEY_CUSTOM, .fallback = "=none", .help = "facts that are not simulated; marks and sources of single fields" },
    { "figure.notes.marks", KEY_CUSTOM, .fallback = "=none", .help = "{field: mark} where it is not that of the row" },
    { "figure.notes.sources", KEY_CUSTOM, .fallback = "=none", .help = "{field: source} where it is not that of the row" },
};
/* clang-format on */

const size_t key_count = sizeof keys / sizeof *keys;

const struct key_row *key_find(const char *path)
{
    for (size_t i = 0; i < key_count; i++)
        if (strcmp(keys[i].path, path) == 0) return &keys[i];
    return NULL;
}

const char *key_below(const struct key_row *row, const char *prefix)
{
    const size_t bytes = strlen(prefix);
    if (strncmp(row->path, prefix, bytes) != 0) return NULL;
    const char *name = row->path + bytes;
    return strpbrk(name, ".[") ? NULL : name;
}

bool key_word(const char *words, size_t n, char *out, size_t out_bytes, bool *built)
{
    for (; n > 0; n--) {
        words = strchr(words, '|');
        if (words == NULL) return false;
        words++;
    }
    *built = *words != '!';
    if (!*built) words++;
    return text_copy(out, out_bytes, words, strcspn(words, "|"));
}
