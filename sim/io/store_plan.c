/* store_plan.c - what a result database says about its run before the first replica: who made it
 * from what, what was built, and what the result rests on. */
#include "io/store_internal.h"

#include "io/schema.h"
#include "ledger/results.h"
#include "spec/node_names.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const comm_names[] = {
    [COMM_NONE] = "none",
    [COMM_BY_SIZE] = "by_size",
    [COMM_BY_MODEL_MIX] = "by_model_mix",
    [COMM_PROFILE] = "profile",
};
static const char *const checkpoint_names[] = {
    [CHECKPOINT_NONE] = "none",
    [CHECKPOINT_FIXED] = "fixed",
    [CHECKPOINT_YOUNG] = "young",
    [CHECKPOINT_DALY] = "daly",
};

/* ---- meta ---- */

enum status store_meta(struct db *db, const char *key, const char *text)
{
    struct db_query *query;
    TRY(db_prepare(db, "INSERT OR REPLACE INTO meta(key, value) VALUES(?, ?)", &query));
    db_put_name(query, key);
    db_put_name(query, text);
    const enum status status = db_run(query);
    db_finish(query);
    return status;
}

__attribute__((format(printf, 3, 4))) static enum status meta(struct db *db, const char *key,
                                                              const char *format, ...)
{
    char text[LIMIT_PATH_BYTES + 64];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return store_meta(db, key, text);
}

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

/* Places of equal score are taken in an order that each replica draws, or drawn one by one (Kubernetes). */
static bool draws_places(const struct scenario *scheduler)
{
    return scheduler->kind == KIND_KUBERNETES ||
           ((scheduler->kind == KIND_PLAIN || scheduler->kind == KIND_STATIC) &&
            scheduler->placement != PLACE_PACK && scheduler->placement != PLACE_SPREAD);
}

/* What differs from replica to replica: "days" or "jobs", "faults", "profiles", "placement", "routing", "servers" with blanks
 * between them, or "none": then one replica is exact. */
static enum status write_chance(struct db *db, const struct plan *plan)
{
    const struct scenario *scenario = plan->scenario;
    const struct communication *communication = &scenario->communication;
    bool faults = false, profiles = false;
    uint32_t drawn = 0;
    for (int i = 0; i < COMPONENTS; i++)
        faults |= scenario->failures.component[i].law != LAW_NONE && scenario->failures.scale > 0;
    for (uint32_t i = 0; i < communication->mix_count; i++)
        if (plan->profile_used[i]) {
            profiles |= communication->mix[i].profile.spread > 0;
            drawn += communication->mix[i].weight > 0;
        }
    profiles |= plan->profiles_drawn && drawn > 1;
    profiles &= communication->kind != COMM_NONE;
    bool placement = draws_places(scenario);
    for (uint32_t i = 0; i < scenario->scheduler_count; i++)
        placement |= draws_places(&scenario->schedulers[i]);
    bool routing = false;
    for (uint32_t i = 0; i < scenario->layout_count; i++)
        routing |= scenario->layouts[i].fabric.routing == ROUTING_SAMPLED &&
                   communication->kind != COMM_NONE && scenario->contention != NETWORK_NONE;
    const char *chance[] = { scenario->resample == RESAMPLE_DAYS   ? " days"
                             : scenario->resample == RESAMPLE_FILL ? " jobs"
                                                                   : "",
                             faults ? " faults" : "",
                             profiles ? " profiles" : "",
                             placement ? " placement" : "",
                             routing ? " routing" : "",
                             scenario->stragglers.server_spread > 0 ? " servers" : "" };
    char text[64];
    snprintf(text, sizeof text, "%s%s%s%s%s%s", chance[0], chance[1], chance[2], chance[3],
             chance[4], chance[5]);
    return store_meta(db, "chance", text[0] != '\0' ? text + 1 : "none");
}

/* Whether jobs draw their profile from the mix, or each names its own. */
static enum status write_drawn(struct db *db, const struct plan *plan)
{
    return store_meta(db, "profiles_drawn", plan->profiles_drawn ? "1" : "0");
}

/* By which rule the trace's durations say what a job is in reference seconds (MODELS 3.10), the cluster they were measured
 * on, and what is in them. "recorded", where jobs have their nodes from the trace; "compact", the fewest servers; both; or
 * "none". */
static enum status write_durations(struct db *db, const struct plan *plan)
{
    const struct scenario *scenario = plan->scenario;
    const struct jobs *jobs = plan->jobs;
    bool recorded = false, compact = false;
    for (uint32_t row = 0; row < jobs->count; row++) {
        const bool known = jobs->nodes != NULL && jobs->nodes[row] > 0;
        recorded |= jobs->gpus[row] > 1 && known;
        compact |= jobs->gpus[row] > 1 && !known;
    }
    const char *rule = scenario->recorded_none ? "none"
                       : !recorded             ? "compact"
                       : compact               ? "recorded compact"
                                               : "recorded";
    const char *contains[] = { scenario->contains_startup ? " startup" : "",
                               scenario->contains_checkpoint ? " checkpoint" : "",
                               scenario->contains_stalls ? " stalls" : "" };
    char text[64];
    snprintf(text, sizeof text, "%s%s%s", contains[0], contains[1], contains[2]);
    TRY(store_meta(db, "durations", rule));
    if (strcmp(plan->import->format, "swf") == 0)
        TRY(store_meta(db, "trace_failed", scenario->drop_failed ? "drop" : "keep"));
    TRY(store_meta(db, "durations_contain", text[0] != '\0' ? text + 1 : "nothing"));
    if (scenario->recorded_none) return STATUS_OK;
    TRY(store_meta(db, "recorded_on", scenario->recorded_server.id));
    return meta(db, "recorded_servers", "%" PRIu32, scenario->recorded_count);
}

static const char *const resample_names[] = { "none", "days", "fill" };

static enum status write_scenario(struct db *db, const struct scenario *scenario)
{
    TRY(store_meta(db, "name", scenario->name));
    TRY(store_meta(db, "question", scenario->question));
    TRY(store_meta(db, "scenario_path", scenario->path));
    TRY(store_meta(db, "scenario_text", or_empty(scenario->text)));
    TRY(store_meta(db, "overrides", or_empty(scenario->overrides)));
    TRY(store_meta(db, "resolved", or_empty(scenario->resolved)));
    TRY(meta(db, "seed", "%" PRIu64, scenario->seed)); /* as text: unsigned (P92) */
    TRY(store_meta(db, "resample", resample_names[scenario->resample]));
    TRY(store_meta(db, "detail", scenario->detail));
    TRY(store_meta(db, "order", order_names[scenario->order]));
    TRY(store_meta(db, "communication", comm_names[scenario->communication.kind]));
    TRY(meta(db, "communication_scale", "%.17g", scenario->communication.scale));
    TRY(store_meta(db, "failures", scenario->failures.rates));
    TRY(meta(db, "failures_scale", "%.17g", scenario->failures.scale));
    TRY(store_meta(db, "checkpoint", checkpoint_names[scenario->checkpoint.policy]));
    TRY(store_meta(db, "tornado", scenario->tornado ? "1" : "0"));
    return meta(db, "curve_bin_ns", "%" PRId64, scenario->curve_bin_ns);
}

/* Nothing is added to what a run of a fixed number says: its digest stays. */
static enum status write_until(struct db *db, const struct until *until)
{
    if (!until->given) return STATUS_OK;
    TRY(store_meta(db, "until_metric", until_metric_names[until->metric]));
    return meta(db, "until_half_width_frac", "%.17g", until->half_width_frac);
}

static enum status write_plan(struct db *db, const struct plan *plan)
{
    TRY(meta(db, "replicas", "%" PRIu32, plan->replicas));
    TRY(write_until(db, &plan->scenario->until));
    TRY(meta(db, "horizon_ns", "%" PRId64, plan->horizon_ns));
    TRY(meta(db, "warmup_ns", "%" PRId64, plan->warmup_ns));
    TRY(meta(db, "follow_ns", "%" PRId64, plan->follow_ns));
    TRY(meta(db, "trace_days", "%" PRIu32, plan->trace_days));
    TRY(meta(db, "trace_jobs", "%" PRIu32, plan->jobs != NULL ? plan->jobs->count : 0));
    TRY(write_drawn(db, plan));
    if (plan->jobs != NULL && !plan->jobs->timeless) TRY(write_durations(db, plan));
    const struct import_report *import = plan->import;
    if (import == NULL) return STATUS_OK;
    TRY(store_meta(db, "trace_path", import->source));
    TRY(store_meta(db, "trace_format", import->format));
    TRY(meta(db, "trace_digest", "%016" PRIx64, import->digest));
    TRY(meta(db, "trace_rows_read", "%" PRIu64, import->rows_read));
    TRY(meta(db, "trace_rows_imported", "%" PRIu64, import->imported));
    TRY(store_meta(db, "trace_origin", import->origin));
    TRY(store_meta(db, "trace_zone", import->zone));
    TRY(meta(db, "trace_span_s", "%.17g", import->span_s));
    return meta(db, "trace_gpu_s", "%.17g", import->gpu_s);
}

static enum status write_meta(struct db *db, const struct plan *plan)
{
    struct tm utc;
    const time_t now = time(NULL);
    char created[32] = "";
    if (gmtime_r(&now, &utc) != NULL) strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    TRY(store_meta(db, "created", created));
    TRY(store_meta(db, "program", "gpuplan"));
    TRY(store_meta(db, "version", GPUPLAN_VERSION));
    TRY(meta(db, "store_version", "%d", STORE_VERSION));
    TRY(store_meta(db, "complete", "0"));
    TRY(write_scenario(db, plan->scenario));
    TRY(write_chance(db, plan));
    return write_plan(db, plan);
}

/* ---- import report ---- */

/* The file's name without its folder: where a trace lies is not part of the result. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static enum status write_import_row(struct db_query *query, const struct import_report *import,
                                    const char *outcome, const char *reason, uint64_t rows)
{
    db_put_name(query, base_name(import->source));
    db_put_name(query, outcome);
    db_put_name(query, reason);
    db_put_int(query, (int64_t)rows);
    return db_run(query);
}

static enum status write_import_rows(struct db_query *query, const struct plan *plan)
{
    const struct import_report *import = plan->import;
    if (import == NULL) return STATUS_OK;
    TRY(write_import_row(query, import, "read", "", import->rows_read));
    TRY(write_import_row(query, import, "imported", "", import->imported));
    for (uint32_t i = 0; i < import->skipped_count; i++)
        TRY(write_import_row(query, import, "skipped", import->skipped[i].reason,
                             import->skipped[i].rows));
    for (uint32_t i = 0; i < import->repaired_count; i++)
        TRY(write_import_row(query, import, "repaired", import->repaired[i].reason,
                             import->repaired[i].rows));
    return STATUS_OK;
}

/* ---- gates ---- */

static enum status write_gates(struct db_query *query, const struct plan *plan)
{
    const struct scenario *scenario = plan->scenario;
    for (uint32_t i = 0; i < scenario->gate_count; i++) {
        db_put_int(query, i);
        db_put_name(query, scenario->gates[i].metric);
        db_put_name(query, scenario->gates[i].layout);
        db_put_int(query, scenario->gates[i].below);
        db_put_double(query, scenario->gates[i].limit);
        TRY(db_run(query));
    }
    return STATUS_OK;
}

/* ---- layouts ---- */

static enum status write_settings(struct db_query *query, const struct plan *plan)
{
    for (uint32_t row = 0; row < plan->setting_count; row++) {
        db_put_int(query, row);
        db_put_name(query, axis_names[plan->settings[row].axis]);
        db_put_double(query, plan->settings[row].value);
        TRY(db_run(query));
    }
    return STATUS_OK;
}

static enum status write_layout(struct db_query *query, const struct plan *plan, uint32_t row)
{
    const struct variant *variant = &plan->variants[row];
    const struct layout *layout = &plan->scenario->layouts[variant->layout];
    db_put_int(query, row);
    db_put_name(query, layout->name);
    db_put_int(query, variant->slack == SLACK_ANY ? -1 : (int64_t)variant->slack);
    db_put_int(query, variant->layout == plan->scenario->baseline);
    db_put_name(query, layout->server.id);
    db_put_int(query, layout->server.mark == MARK_HYPOTHETICAL);
    db_put_int(query, variant->servers);
    db_put_int(query, variant->gpus_per_server);
    db_put_int(query, variant->gpus);
    db_put_name(query, layout->server.gpu);
    db_put_name(query, layout->fabric.link.id);
    db_put_name(query, fabric_kind_names[layout->fabric.kind]);
    db_put_int(query, layout->fabric.nics_per_server);
    db_put_double(query, layout->fabric.oversubscription);
    db_put_int(query, variant->fabric.servers_per_leaf);
    db_put_int(query, variant->fabric.leaves);
    db_put_int(query, variant->fabric.spines);
    db_put_int(query, variant->fabric.trunks);
    if (layout->server.price_usd > 0)
        db_put_double(query, layout->server.price_usd);
    else
        db_put_null(query); /* not stated */
    db_put_double(query, variant->offered_load);
    db_put_int(query, (int64_t)variant->jobs_never_fit);
    db_put_double(query, variant->unserved_gpu_s);
    return db_run(query);
}

static enum status write_layouts(struct db_query *query, const struct plan *plan)
{
    for (uint32_t row = 0; row < plan->variant_count; row++) TRY(write_layout(query, plan, row));
    return STATUS_OK;
}

static enum status write_servers(struct db_query *query, const struct plan *plan)
{
    for (uint32_t row = 0; row < plan->variant_count; row++) {
        const struct variant *variant = &plan->variants[row];
        for (uint32_t server = 0; server < variant->servers; server++) {
            db_put_int(query, row);
            db_put_int(query, server);
            db_put_int(query, variant->fabric.servers_per_leaf > 0
                                  ? server / variant->fabric.servers_per_leaf
                                  : 0);
            TRY(db_run(query));
        }
    }
    return STATUS_OK;
}

struct node_shape {
    uint32_t server, gpus, cores;
    uint64_t memory_bytes;
};

/* A server's nodes own its GPUs, cores and memory in equal parts; groups of servers follow each other. */
static struct node_shape shape_of_node(const struct plan *plan, const struct variant *variant,
                                       uint32_t node)
{
    const struct layout *layout = &plan->scenario->layouts[variant->layout];
    const struct server_type *type = &layout->server;
    uint32_t servers = 0, nodes = 0, parts = variant->nodes / variant->servers;
    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct server_group *group = &layout->groups[g];
        type = &group->server;
        if (layout->group_count == 1) break; /* of any number */
        parts = group_nodes(group) / group->count;
        if (node < nodes + group_nodes(group)) break;
        servers += group->count;
        nodes += group_nodes(group);
    }
    return (struct node_shape){ .server = servers + (node - nodes) / parts,
                                .gpus = type->gpus / parts,
                                .cores = type->cores / parts,
                                .memory_bytes = type->memory_bytes / parts };
}

static enum status write_nodes(struct db_query *query, const struct plan *plan)
{
    for (uint32_t row = 0; row < plan->variant_count; row++) {
        const struct variant *variant = &plan->variants[row];
        for (uint32_t node = 0; node < variant->nodes; node++) {
            const struct node_shape shape = shape_of_node(plan, variant, node);
            db_put_int(query, row);
            db_put_int(query, node);
            db_put_int(query, shape.server);
            db_put_int(query, shape.gpus);
            db_put_int(query, shape.cores);
            db_put_int(query, (int64_t)shape.memory_bytes);
            TRY(db_run(query));
        }
    }
    return STATUS_OK;
}

/* Numbered as incidents name them: as many a node as the largest has. */
static enum status write_gpus(struct db_query *query, const struct plan *plan)
{
    for (uint32_t row = 0; row < plan->variant_count; row++) {
        const struct variant *variant = &plan->variants[row];
        for (uint32_t node = 0; node < variant->nodes; node++) {
            const uint32_t gpus = shape_of_node(plan, variant, node).gpus;
            for (uint32_t gpu = 0; gpu < gpus; gpu++) {
                db_put_int(query, row);
                db_put_int(query, (int64_t)node * variant->gpus_per_node + gpu);
                db_put_int(query, node);
                TRY(db_run(query));
            }
        }
    }
    return STATUS_OK;
}

/* ---- all of it ---- */

static const struct {
    const char *sql;
    enum status (*fill)(struct db_query *query, const struct plan *plan);
} tables[] = {
    { "INSERT INTO import_report(source, outcome, reason, rows) VALUES(?,?,?,?)",
      write_import_rows },
    /* Layouts share server and link types: the first row of a type stands. */
    { "INSERT OR IGNORE INTO assumption(subject, name, value, mark, source) VALUES(?,?,?,?,?)",
      store_assumptions },
    { "INSERT INTO gate(gate, metric, layout, below, bound) VALUES(?,?,?,?,?)", write_gates },
    { "INSERT INTO setting(setting, axis, factor) VALUES(?,?,?)", write_settings },
    { "INSERT INTO layout(layout_id, name, slack, is_baseline, server_type, hypothetical,"
      " servers, gpus_per_server, gpus, gpu_type, link_type, fabric_type, nics_per_server, "
      "oversubscription,"
      " servers_per_leaf, leaves, spines, trunks, server_price_usd, offered_load,"
      " jobs_never_fit, unserved_gpu_s) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
      write_layouts },
    { "INSERT INTO server(layout_id, server, leaf) VALUES(?,?,?)", write_servers },
    { "INSERT INTO node(layout_id, node, server, gpus, cores, memory_bytes) VALUES(?,?,?,?,?,?)",
      write_nodes },
    { "INSERT INTO gpu(layout_id, gpu, node) VALUES(?,?,?)", write_gpus },
};

enum status store_plan(struct db *db, const struct plan *plan)
{
    TRY(write_meta(db, plan));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct db_query *query;
        TRY(db_prepare(db, tables[i].sql, &query));
        const enum status status = tables[i].fill(query, plan);
        db_finish(query);
        TRY(status);
    }
    return STATUS_OK;
}
