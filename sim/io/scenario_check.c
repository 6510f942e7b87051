/* scenario_check.c - what several keys must satisfy together. Nothing is allocated before. */
#include "io/scenario_parts.h"

#include "base/quantity.h"
#include "io/scenario_jobs.h"
#include "io/scenario_kube.h"
#include "io/scenario_slurm.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BINS_MOST = 1000000 /* of the curves: 176 bytes each for every replica */ };

/* Memory of one replica grows by this with each GPU: its server's share of the tables, its fault
 * clock, its slot of the free index. Measured sizes are smaller; this is for refusing, not billing. */
enum { BYTES_PER_GPU = 256 };

/* The place of a key below the root: "time.warmup". The file as a whole when it is not written. */
static struct place place_of_key(const struct reading *reading, const char *map, const char *key)
{
    const struct yaml_node *node = yaml_child(reading->document.root, map);
    const struct yaml_node *child = node ? yaml_child(node, key) : NULL;
    if (child != NULL) return yaml_place(child);
    if (node != NULL) return yaml_key_place(node);
    return (struct place){ .file = reading->document.file };
}

static void check_time(struct reading *reading)
{
    const struct scenario *scenario = reading->scenario;
    struct diag *diag = reading->reader.diag;
    char bin[SHOW_BYTES], horizon[SHOW_BYTES];
    show_duration(scenario->curve_bin_ns, bin);
    const bool all = scenario->horizon_ns == HORIZON_ALL;
    if (scenario->warmup_ns != WARMUP_AUTO && scenario->warmup_ns % scenario->curve_bin_ns != 0)
        diag_error(diag, place_of_key(reading, "time", "warmup"),
                   "time.warmup must be a multiple of time.curve_bin, %s", bin);
    if (all) return;
    show_duration(scenario->horizon_ns, horizon);
    if (scenario->warmup_ns >= scenario->horizon_ns)
        diag_error(diag, place_of_key(reading, "time", "warmup"),
                   "time.warmup must be shorter than time.horizon, %s", horizon);
    if (scenario->curve_bin_ns > scenario->horizon_ns)
        diag_error(diag, place_of_key(reading, "time", "curve_bin"),
                   "time.curve_bin must not be longer than time.horizon, %s", horizon);
    const int64_t bins = scenario->horizon_ns / scenario->curve_bin_ns;
    if (bins > BINS_MOST)
        diag_error(diag, place_of_key(reading, "time", "curve_bin"),
                   "time.curve_bin %s makes %" PRId64 " bins of %s; at most %d", bin, bins, horizon,
                   BINS_MOST);
}

/* Whether each layout has a storage that says what it writes. */
static bool writes_are_told(const struct scenario *scenario)
{
    for (uint32_t i = 0; i < scenario->layout_count; i++)
        if (scenario->layouts[i].storage.write_bytes_per_s == 0 &&
            scenario->storage.write_bytes_per_s == 0)
            return false;
    return scenario->layout_count > 0;
}

static void check_checkpoint(struct reading *reading)
{
    const struct checkpoint *checkpoint = &reading->scenario->checkpoint;
    struct diag *diag = reading->reader.diag;
    const bool fixed = checkpoint->policy == CHECKPOINT_FIXED;
    if (fixed && checkpoint->interval_ns == 0)
        diag_error(diag, place_of_key(reading, "checkpoint", "policy"),
                   "checkpoint.policy fixed needs an interval");
    if (!fixed && checkpoint->interval_ns != 0)
        diag_error(diag, place_of_key(reading, "checkpoint", "interval"),
                   "checkpoint.interval belongs to policy fixed; the others compute theirs");
    if (checkpoint->policy != CHECKPOINT_NONE && checkpoint->store_bytes_per_s == 0 &&
        !writes_are_told(reading->scenario))
        diag_error(diag, place_of_key(reading, "checkpoint", "store"),
                   "checkpoint.store is missing: what the store takes from one job, as 40 GB/s; or "
                   "give storage.write, what it takes from all");
}

static const struct yaml_node *below(const struct yaml_node *map, const char *key)
{
    const struct yaml_node *child = map->kind == YAML_MAP ? yaml_child(map, key) : NULL;
    return child ? child : map;
}

/* P46: refused before anything is allocated, with the estimate. */
static void check_size(struct reading *reading, uint32_t row)
{
    const struct layout *layout = &reading->scenario->layouts[row];
    uint64_t gpus = (uint64_t)layout->server_count * layout->server.gpus,
             nodes = layout->server_count;
    for (uint32_t i = 0; i < layout->group_count; i++) {
        const struct server_group *group = &layout->groups[i];
        if (i == 0) gpus = nodes = 0;
        gpus += (uint64_t)group->count * group->server.gpus;
        nodes += (uint64_t)group->count * group->nodes_per_server;
    }
    if (nodes > gpus) gpus = nodes; /* nodes without GPUs take as much */
    if (gpus <= LIMIT_GPUS) return;
    const struct yaml_node *servers = below(reading->layout_nodes[row], "servers");
    const double gib = (double)gpus * BYTES_PER_GPU / 1073741824.0;
    diag_error(reading->reader.diag, yaml_place(below(servers, "count")),
               "layouts.%s: %" PRIu64 " GPUs would need about %.0f GiB for each replica; at most "
               "%d GPUs",
               layout->name, gpus, ceil(gib), LIMIT_GPUS);
}

/* NICs of a server are whole ones. */
static void check_nics(struct reading *reading, uint32_t row)
{
    struct layout *layout = &reading->scenario->layouts[row];
    const double nics = layout->fabric.nics_per_gpu * layout->server.gpus;
    const double whole = floor(nics + 0.5);
    if (whole >= 1 && fabs(nics - whole) <= 1e-6) {
        layout->fabric.nics_per_server = (uint32_t)whole;
        return;
    }
    const struct yaml_node *fabric = below(reading->layout_nodes[row], "fabric");
    diag_error(
        reading->reader.diag, yaml_place(below(fabric, "nics_per_gpu")),
        "layouts.%s: %g NICs per GPU make %g NICs in a server of %u GPUs; it must be a whole "
        "number, 1 or more",
        layout->name, layout->fabric.nics_per_gpu, nics, layout->server.gpus);
}

/* Work is counted in seconds of one GPU model on one class of fabric. */
static void check_same(struct reading *reading, uint32_t row)
{
    const struct layout *first = &reading->scenario->layouts[0];
    const struct layout *layout = &reading->scenario->layouts[row];
    const struct yaml_node *servers = below(reading->layout_nodes[row], "servers");
    const struct yaml_node *fabric = below(reading->layout_nodes[row], "fabric");
    if (!reading->may_differ_gpu && strcmp(first->server.gpu, layout->server.gpu) != 0)
        diag_error(reading->reader.diag, yaml_place(below(servers, "type")),
                   "layouts.%s has GPU '%s', layouts.%s has '%s'; work is not comparable without "
                   "allow_different: [gpu]",
                   layout->name, layout->server.gpu, first->name, first->server.gpu);
    const bool same_link = strcmp(first->fabric.link.id, layout->fabric.link.id) == 0 &&
                           first->fabric.link.bytes_per_s == layout->fabric.link.bytes_per_s &&
                           first->fabric.link.hop_s == layout->fabric.link.hop_s;
    if (!reading->may_differ_fabric && !same_link)
        diag_error(reading->reader.diag, yaml_place(below(fabric, "link")),
                   "layouts.%s has link '%s', layouts.%s has '%s'; not comparable without "
                   "allow_different: [fabric]",
                   layout->name, layout->fabric.link.id, first->name, first->fabric.link.id);
}

/* A rate of whole servers of one size says nothing about servers of another (DESIGN, Replays without bias). */
static void check_rates_fit(struct reading *reading, uint32_t row)
{
    const struct failures *failures = &reading->scenario->failures;
    const struct layout *layout = &reading->scenario->layouts[row];
    for (int i = 0; i < COMPONENTS; i++) {
        const uint32_t size = failures->component[i].per_server_of;
        if (size == 0 || layout->server.gpus == 0 || size == layout->server.gpus) continue;
        diag_error(reading->reader.diag, place_of_key(reading, "failures", "rates"),
                   "failures.%s of '%s' is a rate of whole servers of %u GPUs, with all that is in "
                   "them; no split into "
                   "parts was published, so it says nothing about layouts.%s with %u a server: use "
                   "rates by "
                   "part, as llama3, or write failures.%s: {rate: ...} yourself",
                   component_keys[i], failures->rates, size, layout->name, layout->server.gpus,
                   component_keys[i]);
    }
}

/* Whether servers differ in what communication and failures depend on. */
bool is_mixed(const struct layout *layout)
{
    if (layout->from_inventory) return true; /* of links nothing is known */
    for (uint32_t i = 0; i < layout->group_count; i++) {
        const struct server_type *server = &layout->groups[i].server;
        if (strcmp(server->id, layout->server.id) != 0 || server->gpus != layout->server.gpus ||
            server->nics != layout->server.nics)
            return true;
    }
    return false;
}

static bool has_failures(const struct failures *failures)
{
    for (int i = 0; i < COMPONENTS; i++)
        if (failures->component[i].law != LAW_NONE) return true;
    return false;
}

/* Servers of several types share a queue and a set of nodes; step times, wiring and failure rates are those of one
 * type, so with more of them such scenarios say that they do without. */
static void check_mixed(struct reading *reading, uint32_t row)
{
    const struct scenario *scenario = reading->scenario;
    const struct layout *layout = &scenario->layouts[row];
    struct diag *diag = reading->reader.diag;
    const struct place at = yaml_place(below(reading->layout_nodes[row], "servers"));
    if (scenario->scale_to_load > 0 &&
        (layout->group_count > 1 || (layout->group_count == 1 && layout->groups[0].names[0])))
        diag_error(diag, at,
                   "layouts.%s: layouts.scale_to_load sizes layouts of one group without names",
                   layout->name);
    if (!is_mixed(layout)) return;
    if (scenario->communication.kind != COMM_NONE)
        diag_error(
            diag, at,
            "layouts.%s has servers of several types; how jobs communicate across them is not "
            "built yet: write workload.communication: none",
            layout->name);
    if (has_failures(&scenario->failures))
        diag_error(diag, at,
                   "layouts.%s has servers of several types; their failures are not built yet: "
                   "write failures: none",
                   layout->name);
    if (scenario->tornado)
        diag_error(diag, at,
                   "layouts.%s has servers of several types; moved assumptions are not built yet "
                   "for them: write verdict.tornado: false",
                   layout->name);
    for (uint32_t i = 0; i < layout->group_count; i++) {
        const struct server_type *server = &layout->groups[i].server;
        if (server->gpus == 0 || reading->may_differ_gpu ||
            strcmp(server->gpu, layout->server.gpu) == 0)
            continue;
        diag_error(diag, at,
                   "layouts.%s has GPUs '%s' and '%s'; a second of one is counted as a second of "
                   "the other only with allow_different: [gpu]",
                   layout->name, layout->server.gpu, server->gpu);
        return;
    }
}

/* Nodes of one server own its NICs in equal parts: else a broken one would be of several nodes. */
static void check_shared_nics(struct reading *reading, uint32_t row)
{
    const struct scenario *scenario = reading->scenario;
    const struct layout *layout = &scenario->layouts[row];
    const uint32_t parts = layout->group_count == 1 ? layout->groups[0].nodes_per_server : 1;
    if (parts <= 1 || layout->fabric.nics_per_server % parts == 0 ||
        scenario->failures.component[COMPONENT_LINK].law == LAW_NONE)
        return;
    diag_error(
        reading->reader.diag, yaml_place(below(reading->layout_nodes[row], "servers")),
        "layouts.%s: %u nodes share %u NICs of a server; failures.link of shared NICs are not "
        "built: write failures.link: none",
        layout->name, parts, layout->fabric.nics_per_server);
}

/* Holds are words of Slurm, and suspend of Kubernetes; the textbook queues have no place for such a job. */
static void check_holds(struct reading *reading)
{
    const struct scenario *scenario = reading->scenario, *scheduler;
    for (uint32_t i = 0; (scheduler = scheduler_at(scenario, i)) != NULL; i++) {
        if (scheduler->kind != KIND_PLAIN && scheduler->kind != KIND_STATIC) continue;
        for (uint32_t e = 0; e < scenario->event_count; e++) {
            const enum user_action action = scenario->events[e].action;
            if (action != ACTION_HOLD && action != ACTION_RELEASE && action != ACTION_REQUEUE_HOLD)
                continue;
            const struct yaml_node *events = yaml_child(reading->document.root, "events");
            diag_error(reading->reader.diag,
                       events ? yaml_place(events) : place_of_key(reading, "events", ""),
                       "events: %s is built for scheduler.kind slurm and kubernetes",
                       user_action_names[action]);
            return;
        }
    }
}

/* Slow links are some of the faults of links. */
static void check_slow_links(struct reading *reading)
{
    const struct failures *failures = &reading->scenario->failures;
    if (failures->slow_link.share > 0 && failures->component[COMPONENT_LINK].law == LAW_NONE)
        diag_warn(reading->reader.diag, place_of_key(reading, "failures", "slow_link"),
                  "failures.slow_link has no effect: links have no faults (failures.link)");
}

void check_scenario(struct reading *reading)
{
    check_time(reading);
    check_slow_links(reading);
    check_checkpoint(reading);
    for (uint32_t row = 0; row < reading->scenario->layout_count; row++) {
        check_size(reading, row);
        check_nics(reading, row);
        check_fabric(reading, row);
        check_same(reading, row);
        check_rates_fit(reading, row);
        check_mixed(reading, row);
        check_shared_nics(reading, row);
    }
    check_holds(reading);
    check_job_models(reading);
    check_slurm(reading);
    check_kube(reading);
}
