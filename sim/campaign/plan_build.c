/* plan_build.c - see plan_build.h. */
#include "campaign/plan_build.h"

#include "base/clock.h"
#include "base/int128.h"
#include "base/text.h"
#include "campaign/plan_fabric.h"
#include "campaign/plan_kube.h"
#include "campaign/plan_models.h"
#include "campaign/plan_orders.h"
#include "campaign/tornado.h"
#include "cluster/request.h"
#include "cluster/speed.h"
#include "policy/policy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Reasons are with each number. */
static const double BLAST_INCIDENTS = 20000; /* the 95th percentile is then known to 1 %     */
static const double BLAST_YEARS_MAX = 200;   /* int64 ns reach 292 years        */
static const double S_PER_YEAR = 365.25 * 86400;
static const double WARMUP_LENGTHS = 2;       /* MODELS 6.4: twice the typical long job       */
static const int64_t WARMUP_PART_MAX = 3;     /* at most a third of the horizon               */
static const int64_t CURVE_BINS_MAX = 200000; /* 20 years of hours: more than anyone draws */
static const int64_t ALL_LENGTHS = 10;   /* one job after the other, ten times over            */
static const int64_t ALL_BINS = 1000000; /* 350 MB of curve                                    */
static const int64_t ALL_LEAST_NS = 365 * NS_PER_DAY;
static const int64_t LATEST_NS =
    150 * 365 * NS_PER_DAY; /* a start-up of a century more still fits */
static const uint64_t MEMORY_MAX_BYTES = UINT64_C(1)
                                         << 38; /* 256 GiB: no machine here has more   */
static const uint64_t JOB_BYTES = 96, GPU_BYTES = 64, NODE_BYTES = 192, CELL_BYTES = 24;

static struct place whole_file(const struct scenario *scenario)
{
    return (struct place){ .file = scenario->path };
}

/* Where the jobs come from: a log, or the scenario itself. */
static struct place jobs_file(const struct plan *plan)
{
    const struct scenario *scenario = plan->scenario;
    return (struct place){ .file =
                               scenario->trace_path[0] ? scenario->trace_path : scenario->path };
}

/* GPU-seconds that a second of the trace asks for. */
static double offered_gpus(const struct jobs *jobs, uint32_t days)
{
    double gpu_s = 0;
    for (uint32_t row = 0; row < jobs->count; row++)
        gpu_s += jobs->gpus[row] * s_from_ns(jobs->duration_ns[row]);
    return days ? gpu_s / (days * 86400.0) : 0;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Equal GPUs on every layout, the fewest that keep the offered load at or below the wanted one. */
static uint64_t scaled_gpus(const struct scenario *scenario, double offered)
{
    uint64_t step = 1;
    for (uint32_t l = 0; l < scenario->layout_count; l++)
        step =
            step / gcd(step, scenario->layouts[l].server.gpus) * scenario->layouts[l].server.gpus;
    const double steps = ceil(offered / scenario->scale_to_load / (double)step);
    return steps < 1                           ? step
           : steps * (double)step > LIMIT_GPUS ? LIMIT_GPUS + 1
                                               : (uint64_t)steps * step;
}

/* The place of a key of a fabric: its value where it is written in the scenario's file. */
static struct place fabric_place(const struct scenario *scenario, const struct fabric *fabric,
                                 enum fabric_key key)
{
    if (fabric->at[key].width == 0) key = FABRIC_KEY_TYPE; /* or the fabric as a whole */
    const struct text_span at = fabric->at[key];
    if (at.width == 0) return whole_file(scenario);
    return place_in_text(scenario->path, scenario->text, scenario->text_bytes, at.offset, at.width);
}

static enum status size_fabric(const struct scenario *scenario, const struct layout *layout,
                               struct variant *variant, struct diag *diag)
{
    struct fabric_problem problem;
    if (plan_fabric(&layout->fabric, variant->servers, &variant->fabric, &problem))
        return STATUS_OK;
    return diag_error(diag, fabric_place(scenario, &layout->fabric, problem.key),
                      "layouts.%s.fabric.%s: %s", layout->name, fabric_key_names[problem.key],
                      problem.text);
}

/* Events of leaves that the layout does not have, or of which its routing cannot tell what they cost. */
static enum status check_uplinks(const struct scenario *scenario, const struct layout *layout,
                                 const struct variant *variant, struct diag *diag)
{
    const struct fabric_shape *shape = &variant->fabric;
    for (uint32_t i = 0; i < scenario->event_count; i++) {
        const struct user_event *event = &scenario->events[i];
        const uint32_t leaf =
            is_of_uplinks(event->action) ? leaf_of_target(event->target, layout->name) : LEAF_NONE;
        const char *name = user_action_names[event->action];
        if (leaf == LEAF_NONE) continue;
        if (shape->uplinks_per_leaf == 0)
            return diag_error(diag, whole_file(scenario),
                              "events: %s of '%s': the leaves of layout '%s' have no cables up",
                              name, event->target, layout->name);
        if (leaf >= shape->leaves)
            return diag_error(diag, whole_file(scenario),
                              "events: %s of '%s': layout '%s' has the leaves 0 to %u", name,
                              event->target, layout->name, shape->leaves - 1);
        if (layout->fabric.routing == ROUTING_EXPECTED)
            return diag_error(diag, whole_file(scenario),
                              "events: %s of '%s': routing: expected knows no slow leaf; write "
                              "sampled, even or adaptive",
                              name, event->target);
    }
    return STATUS_OK;
}

/* Rows that the layout can never hold. */
static void count_unserved(const struct scenario *scenario, const struct jobs *jobs,
                           struct variant *variant)
{
    for (uint32_t row = 0; row < jobs->count; row++) {
        const struct request request = request_of_row(jobs, row, scenario->shape);
        if (demand_on(scenario, variant, jobs, &request).ever) continue;
        variant->jobs_never_fit++;
        variant->unserved_gpu_s += jobs->gpus[row] * s_from_ns(jobs->duration_ns[row]);
    }
}

/* Nodes and GPUs of a layout of several groups of servers. */
static uint64_t count_groups(const struct layout *layout, struct variant *variant)
{
    uint64_t gpus = 0, nodes = 0, servers = 0;
    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct server_group *group = &layout->groups[g];
        const uint32_t parts = group->nodes_per_server ? group->nodes_per_server : 1;
        gpus += (uint64_t)group->count * group->server.gpus;
        nodes += (uint64_t)group->count * parts;
        servers += group->count;
        if (g == 0) variant->gpus_per_server = variant->gpus_per_node = 0;
        if (group->server.gpus > variant->gpus_per_server)
            variant->gpus_per_server = group->server.gpus;
        if (group->server.gpus / parts > variant->gpus_per_node)
            variant->gpus_per_node = group->server.gpus / parts;
    }
    variant->nodes = nodes < UINT32_MAX ? (uint32_t)nodes : UINT32_MAX;
    variant->servers = servers < UINT32_MAX ? (uint32_t)servers : UINT32_MAX;
    return gpus;
}

/* The layout's, and of what it does not say the scenario's. */
static struct storage storage_of(const struct storage *own, const struct storage *common)
{
    return (struct storage){
        .read_bytes_per_s =
            own->read_bytes_per_s > 0 ? own->read_bytes_per_s : common->read_bytes_per_s,
        .write_bytes_per_s =
            own->write_bytes_per_s > 0 ? own->write_bytes_per_s : common->write_bytes_per_s,
        .server_bytes_per_s =
            own->server_bytes_per_s > 0 ? own->server_bytes_per_s : common->server_bytes_per_s,
    };
}

static enum status add_variant(struct plan *plan, uint32_t layout_row, uint32_t slack,
                               double offered, struct diag *diag)
{
    const struct scenario *scenario = plan->scenario;
    const struct layout *layout = &scenario->layouts[layout_row];
    struct variant *variant = &plan->variants[plan->variant_count++];
    *variant = (struct variant){ .layout = layout_row,
                                 .slack = slack,
                                 .servers = layout->server_count,
                                 .gpus_per_server = layout->server.gpus,
                                 .nodes = layout->server_count,
                                 .gpus_per_node = layout->server.gpus,
                                 .storage = storage_of(&layout->storage, &scenario->storage) };
    uint64_t gpus = (uint64_t)layout->server_count * layout->server.gpus;
    if (scenario->scale_to_load > 0) {
        gpus = scaled_gpus(scenario, offered);
        variant->servers = variant->nodes = (uint32_t)(gpus / layout->server.gpus);
    } else if (layout->group_count > 0)
        gpus = count_groups(layout, variant);
    if (gpus > LIMIT_GPUS || gpus == 0)
        return diag_error(diag, whole_file(scenario),
                          "layout '%s' has %" PRIu64 " GPUs; legal are 1 to %d", layout->name, gpus,
                          LIMIT_GPUS);
    variant->gpus = (uint32_t)gpus;
    variant->offered_load =
        scenario->resample == RESAMPLE_FILL ? scenario->fill_frac : offered / (double)gpus;
    TRY(size_fabric(scenario, layout, variant, diag));
    TRY(check_uplinks(scenario, layout, variant, diag));
    count_unserved(scenario, plan->jobs, variant);
    return STATUS_OK;
}

static bool is_wanted(const char *name, const char *const *only, size_t only_count)
{
    for (size_t i = 0; i < only_count; i++)
        if (!strcmp(name, only[i])) return true;
    return only_count == 0;
}

static enum status check_only(const struct scenario *scenario, const char *const *only,
                              size_t only_count, struct diag *diag)
{
    for (size_t i = 0; i < only_count; i++) {
        const char *names[LIMIT_LAYOUTS];
        bool known = false;
        for (uint32_t l = 0; l < scenario->layout_count; l++) {
            names[l] = scenario->layouts[l].name;
            known |= !strcmp(names[l], only[i]);
        }
        if (known) continue;
        const char *nearest = text_nearest(only[i], names, scenario->layout_count);
        return diag_usage(diag, "--layout: no layout '%s' in %s%s%s%s", only[i], scenario->path,
                          nearest ? "; did you mean '" : "", nearest ? nearest : "",
                          nearest ? "'?" : "");
    }
    return STATUS_OK;
}

/* Twice the GPU-time-weighted mean length of a job, at most a third of the horizon, in whole bins. */
static int64_t auto_warmup_ns(const struct plan *plan)
{
    const struct jobs *jobs = plan->jobs;
    double gpu_s = 0, gpu_s2 = 0;
    for (uint32_t row = 0; row < jobs->count; row++) {
        const double s = s_from_ns(jobs->duration_ns[row]);
        gpu_s += jobs->gpus[row] * s;
        gpu_s2 += jobs->gpus[row] * s * s;
    }
    if (gpu_s <= 0) return 0;
    int64_t warmup_ns = ns_from_s(WARMUP_LENGTHS * gpu_s2 / gpu_s);
    const int64_t most_ns = plan->horizon_ns / WARMUP_PART_MAX;
    if (warmup_ns > most_ns) warmup_ns = most_ns;
    const int64_t bin_ns = plan->scenario->curve_bin_ns;
    const int64_t bins = (warmup_ns + bin_ns - 1) / bin_ns;
    return bins * bin_ns < plan->horizon_ns ? bins * bin_ns : 0;
}

/* A generous end for a trace that is played to its end: parts that fail faster than a job can run
 * would keep it for ever. */
static int64_t all_end_ns(const struct plan *plan)
{
    const struct jobs *jobs = plan->jobs;
    int64_t sum_ns = 0;
    for (uint32_t row = 0; row < jobs->count; row++)
        sum_ns = time_add(sum_ns, time_add(jobs->duration_ns[row], plan->scenario->startup_ns));
    if (sum_ns < ALL_LEAST_NS) sum_ns = ALL_LEAST_NS;
    const int64_t most_ns = muldiv_floor(ALL_BINS, plan->scenario->curve_bin_ns, 1);
    int64_t end_ns = time_add(jobs->count ? jobs->submit_ns[jobs->count - 1] : 0,
                              muldiv_floor(sum_ns, ALL_LENGTHS, 1));
    if (end_ns > most_ns) end_ns = most_ns;
    return end_ns < LATEST_NS ? end_ns : LATEST_NS;
}

/* A curve of so many bins must reach the last submission: what comes later would be left out. */
static enum status check_all_end(const struct plan *plan, struct diag *diag)
{
    const struct jobs *jobs = plan->jobs;
    const int64_t last_ns = jobs->count ? jobs->submit_ns[jobs->count - 1] : 0;
    if (last_ns < plan->all_end_ns) return STATUS_OK;
    return diag_error(diag, whole_file(plan->scenario),
                      "time.horizon 'all': the trace is %.1f days long, but %" PRId64
                      " bins of time.curve_bin end after %.1f days; use a wider curve_bin",
                      s_from_ns(last_ns) / 86400, ALL_BINS, s_from_ns(plan->all_end_ns) / 86400);
}

/* A log of which no layout can hold a single job has nothing to say. */
static enum status check_some_fit(const struct plan *plan, struct diag *diag)
{
    for (uint32_t v = 0; v < plan->variant_count; v++)
        if (plan->variants[v].jobs_never_fit < plan->jobs->count) return STATUS_OK;
    if (plan->jobs->count == 0) return STATUS_OK;
    const struct jobs *jobs = plan->jobs;
    uint32_t least = 0;
    for (uint32_t row = 1; row < jobs->count; row++)
        if (jobs->gpus[row] < jobs->gpus[least]) least = row;
    return diag_error(diag, jobs_file(plan),
                      "no job of this log fits any layout: the smallest, '%s', asks for %u GPUs",
                      jobs->text + jobs->id[least], jobs->gpus[least]);
}

/* A list of jobs without times has nothing to be replayed. */
static enum status check_replayable(const struct plan *plan, struct diag *diag)
{
    if (!plan->jobs->timeless || plan->scenario->resample == RESAMPLE_FILL) return STATUS_OK;
    return diag_error(diag, (struct place){ .file = plan->scenario->trace_path },
                      "the list has no times: it can only fill a cluster, replicas.resample: fill");
}

static enum status resolve_times(struct plan *plan, struct diag *diag)
{
    const struct scenario *scenario = plan->scenario;
    plan->horizon_ns = scenario->horizon_ns;
    plan->follow_ns = scenario->follow_ns;
    plan->warmup_ns = scenario->warmup_ns == WARMUP_AUTO ? 0 : scenario->warmup_ns;
    TRY(check_replayable(plan, diag));
    if (plan->jobs->once && scenario->resample == RESAMPLE_DAYS)
        return diag_error(diag, whole_file(scenario),
                          "a list of jobs is played once, with its dependencies and events: "
                          "replicas.resample must be 'none' or 'fill'");
    if (plan->horizon_ns == HORIZON_ALL) {
        plan->follow_ns = 0;
        plan->all_end_ns = all_end_ns(plan);
        if (scenario->resample != RESAMPLE_NONE)
            return diag_error(diag, whole_file(scenario),
                              "time.horizon 'all' plays the trace once: replicas.resample must be "
                              "'none'");
        return check_all_end(plan, diag);
    }
    if (plan->horizon_ns % scenario->curve_bin_ns)
        return diag_error(diag, whole_file(scenario),
                          "time.horizon must be a multiple of time.curve_bin: its end is the edge "
                          "of a bin");
    if (plan->horizon_ns > LATEST_NS - plan->follow_ns)
        return diag_error(diag, whole_file(scenario),
                          "time.horizon and time.follow together must not exceed 150 years");
    const int64_t bins = (plan->horizon_ns + plan->follow_ns) / scenario->curve_bin_ns;
    if (bins > CURVE_BINS_MAX)
        return diag_error(diag, whole_file(scenario),
                          "time.curve_bin cuts the run into %" PRId64 " bins; legal are %" PRId64
                          ": use a longer bin",
                          bins, CURVE_BINS_MAX);
    if (scenario->warmup_ns == WARMUP_AUTO) plan->warmup_ns = auto_warmup_ns(plan);
    if (plan->warmup_ns >= plan->horizon_ns)
        return diag_error(diag, whole_file(scenario), "time.warmup must end before time.horizon");
    return STATUS_OK;
}

double plan_fault_rate(const struct scenario *scenario, const struct variant *variant)
{
    const struct fabric *fabric = &scenario->layouts[variant->layout].fabric;
    const struct failures failures =
        failures_of_servers(&scenario->failures, variant->gpus_per_server);
    const double units[COMPONENTS] = { [COMPONENT_GPU] = variant->gpus,
                                       [COMPONENT_SERVER] = variant->servers,
                                       [COMPONENT_LINK] =
                                           (double)variant->servers * fabric->nics_per_server,
                                       [COMPONENT_LEAF] = variant->fabric.leaves };
    double rate = 0;
    for (int kind = 0; kind < COMPONENT_JOB; kind++)
        if (failures.component[kind].law != LAW_NONE)
            rate += units[kind] / failures.component[kind].mean_s;
    return rate * failures.scale;
}

/* Each variant's own, so that a layout alone is the same layout among others. */
static int64_t blast_horizon_ns(const struct scenario *scenario, const struct variant *variant)
{
    const double rate = plan_fault_rate(scenario, variant);
    if (!(rate > 0)) return 0;
    if (scenario->failures.blast_horizon_ns > 0) return scenario->failures.blast_horizon_ns;
    const double years = BLAST_INCIDENTS / rate / S_PER_YEAR;
    return ns_from_s((years > BLAST_YEARS_MAX ? BLAST_YEARS_MAX : years) * S_PER_YEAR);
}

/* Clocks that strike more often than once a minute would keep a run at one instant (P45). */
static enum status check_rates(const struct scenario *scenario, struct diag *diag)
{
    static const double MEAN_S_LEAST = 60;
    for (int kind = 0; kind < COMPONENTS; kind++) {
        const struct component_failures *component = &scenario->failures.component[kind];
        if (component->law == LAW_NONE ||
            !(component->mean_s < MEAN_S_LEAST * scenario->failures.scale))
            continue;
        return diag_error(diag, whole_file(scenario),
                          "failures.scale %g brings the mean time between faults of one component "
                          "to %.3g s; legal is a minute and more",
                          scenario->failures.scale, component->mean_s / scenario->failures.scale);
    }
    return STATUS_OK;
}

/* Jobs are shared; each worker holds one replica's tables and bins, and some results wait. */
static uint64_t estimate_memory(const struct plan *plan, uint32_t workers)
{
    uint64_t largest = 0;
    for (uint32_t v = 0; v < plan->variant_count; v++) {
        const uint64_t bytes =
            plan->variants[v].gpus * GPU_BYTES + plan->variants[v].servers * NODE_BYTES;
        if (bytes > largest) largest = bytes;
    }
    const int64_t span_ns = plan->horizon_ns == HORIZON_ALL ? plan->trace_days * NS_PER_DAY
                                                            : plan->horizon_ns + plan->follow_ns;
    const uint64_t bins = (uint64_t)(span_ns / plan->scenario->curve_bin_ns) + 1;
    const uint64_t cells = 22 * 6;
    return plan->jobs->count * JOB_BYTES + plan->jobs->text_bytes +
           (uint64_t)workers *
               (largest + plan->jobs->count * JOB_BYTES + 4 * bins * cells * CELL_BYTES);
}

static enum status check_moves(const struct scenario *scenario, struct diag *diag)
{
    if (scenario->moves.every_ns == 0 ||
        (scenario->kind == KIND_PLAIN && policy_defragmenting(scenario->order)))
        return STATUS_OK;
    return diag_error(diag, whole_file(scenario),
                      "scheduler.defragmentation is built for scheduler.kind plain with order "
                      "fcfs, easy, easy_event, conservative or sjf");
}

/* Rules whose words are read and checked, and which are still to come. */
static enum status check_kinds(const struct scenario *scenario, const struct jobs *jobs,
                               struct diag *diag)
{
    TRY(check_moves(scenario, diag));
    if (scenario->kind == KIND_KUBERNETES)
        TRY(plan_check_kubernetes(scenario, scenario, jobs, diag));
    for (uint32_t i = 0; i < scenario->scheduler_count; i++)
        TRY(check_moves(&scenario->schedulers[i], diag));
    for (uint32_t i = 0; i < scenario->scheduler_count; i++)
        if (scenario->schedulers[i].kind == KIND_KUBERNETES)
            TRY(plan_check_kubernetes(&scenario->schedulers[i], scenario, jobs, diag));
    return STATUS_OK;
}

enum status plan_build(const struct scenario *scenario, const struct jobs *jobs,
                       const struct import_report *import, const char *const *only,
                       size_t only_count, uint32_t workers, struct plan *plan, struct diag *diag)
{
    *plan = (struct plan){
        .scenario = scenario, .jobs = jobs, .import = import, .replicas = scenario->replicas
    };
    if (jobs->count)
        plan->trace_days = (uint32_t)(jobs->submit_ns[jobs->count - 1] / NS_PER_DAY) + 1;
    else if (scenario->scale_to_load > 0)
        return diag_error(diag, whole_file(scenario),
                          "layouts.scale_to_load needs a trace with at least one job");
    TRY(check_kinds(scenario, jobs, diag));
    TRY(check_only(scenario, only, only_count, diag));
    const double offered = offered_gpus(jobs, plan->trace_days);
    for (uint32_t l = 0; l < scenario->layout_count; l++)
        for (uint32_t s = 0; s < scenario->slack_count; s++)
            if (is_wanted(scenario->layouts[l].name, only, only_count))
                TRY(add_variant(plan, l, scenario->slack[s], offered, diag));
    TRY(plan_check_orders(plan, diag));
    TRY(check_some_fit(plan, diag));
    TRY(resolve_times(plan, diag));
    TRY(check_rates(scenario, diag));
    TRY(plan_models(plan, jobs_file(plan), diag));
    for (uint32_t v = 0; v < plan->variant_count; v++)
        plan->variants[v].blast_horizon_ns = blast_horizon_ns(scenario, &plan->variants[v]);
    tornado_settings(plan);
    plan->memory_bytes = estimate_memory(plan, workers);
    if (plan->memory_bytes > MEMORY_MAX_BYTES)
        return diag_error(diag, whole_file(scenario),
                          "this run needs about %" PRIu64
                          " GiB of memory; at most 256 GiB are allowed",
                          plan->memory_bytes >> 30);
    return STATUS_OK;
}
