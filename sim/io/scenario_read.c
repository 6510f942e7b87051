/* scenario_read.c - file, overrides and catalog -> struct scenario, in one order:
 * parse, graft the overrides, walk the table of keys, check what belongs together. */
#include "io/scenario_read.h"

#include "base/text.h"
#include "io/scenario_jobs.h"
#include "io/scenario_kube.h"
#include "io/scenario_parts.h"
#include "io/scenario_slurm.h"

#include <stdlib.h>
#include <string.h>

static const struct key_custom customs[] = {
    { "include", read_include },
    { "time.horizon", read_horizon },
    { "time.warmup", read_warmup },
    { "time.follow", read_follow },
    { "replicas.resample", read_resample },
    { "replicas.until", read_until },
    { "workload.trace.file", read_trace_file },
    { "workload.trace.recorded_on", read_recorded_on },
    { "workload.trace.recorded_on.server", read_recorded_server },
    { "workload.trace.contains", read_contains },
    { "workload.communication", read_communication },
    { "workload.communication.kind", read_communication_kind },
    { "workload.kill_at_limit", read_kill_at_limit },
    { "workload.slack", read_slack },
    { "scheduler.plain.las_thresholds", read_las_thresholds },
    { "scheduler.slurm.SchedulerParameters", read_scheduler_parameters },
    { "scheduler.slurm.SelectTypeParameters", read_select_parameters },
    { "scheduler.slurm.TopologyPlugin", read_topology_plugin },
    { "scheduler.slurm.topology", read_topology_lines },
    { "scheduler.slurm.BlockSizes", read_block_sizes },
    { "scheduler.slurm.PriorityWeightTRES", read_priority_tres },
    { "scheduler.slurm.PriorityFlags", read_priority_flags },
    { "scheduler.slurm.TRESBillingWeights", read_billing },
    { "scheduler.slurm.PreemptMode", read_preempt_mode },
    { "scheduler.slurm.RequeueExit", read_exit_codes },
    { "scheduler.slurm.RequeueExitHold", read_exit_codes },
    { "scheduler.slurm.AuthInfo", read_auth_info },
    { "scheduler.slurm.AccountingStorageEnforce", read_enforce },
    { "scheduler.slurm.partitions", read_partitions },
    { "scheduler.slurm.partitions[].Default", read_default_partition },
    { "scheduler.slurm.partitions[].OverSubscribe", read_oversubscribe },
    { "scheduler.slurm.partitions[].PreemptMode", read_partition_mode },
    { "scheduler.slurm.qos", read_qos },
    { "scheduler.slurm.qos[].Preempt", read_words },
    { "scheduler.slurm.qos[].PreemptMode", read_qos_mode },
    { "scheduler.slurm.qos[].Flags", read_qos_flags },
    { "scheduler.slurm.associations", read_associations },
    { "scheduler.slurm.reservations", read_reservations },
    { "scheduler.slurm.reservations[].users", read_words },
    { "scheduler.slurm.reservations[].accounts", read_words },
    { "scheduler.slurm.reservations[].flags", read_reservation_flags },
    { "scheduler.kubernetes.profile.NodeResourcesFit.scoringStrategy.resources",
      read_fit_resources },
    { "scheduler.kubernetes.profile.NodeResourcesFit.scoringStrategy.requestedToCapacityRatio."
      "shape",
      read_shape },
    { "scheduler.kubernetes.profile.NodeResourcesBalancedAllocation.resources",
      read_balanced_resources },
    { "scheduler.kubernetes.binpack.resources", read_binpack_resources },
    { "scheduler.kubernetes.clusterQueues", read_cluster_queues },
    { "scheduler.kubernetes.clusterQueues[].resources", read_quotas },
    { "scheduler.kubernetes.topology.levels", read_levels },
    { "scheduler.kubernetes.autoscaler", read_autoscaler },
    { "scheduler.kubernetes.autoscaler.groups", read_autoscaler_groups },
    { "scheduler.static.teams", read_teams },
    { "scheduler.defragmentation", read_defragmentation },
    { "failures.rates", read_rates },
    { "failures.gpu", read_component },
    { "failures.server", read_component },
    { "failures.link", read_component },
    { "failures.leaf", read_component },
    { "failures.job", read_component },
    { "checkpoint.policy", read_policy },
    { "schedulers", read_schedulers },
    { "layouts.list", read_layouts },
    { "layouts[].servers", read_servers },
    { "layouts[].servers.type", read_server_type },
    { "layouts[].servers.cores", read_group_cores },
    { "layouts[].servers.memory", read_group_memory },
    { "layouts[].servers.features", read_words },
    { "layouts[].servers.labels", read_words },
    { "layouts[].servers.taints", read_taints },
    { "layouts[].servers.sharing.profile", read_words },
    { "layouts[].servers.links", read_links },
    { "layouts[].servers.gpu_cores", read_gpu_cores },
    { "layouts[].fabric.link", read_link_type },
    { "layouts[].fabric.nics_per_gpu", read_nics_per_gpu },
    { "baseline", read_baseline },
    { "allow_different", read_allow_different },
    { "verdict.tornado", read_tornado },
    { "gates", read_gates },
    { "gates[].below", read_gate_limit },
    { "gates[].above", read_gate_limit },
    { "jobs", read_jobs },
    { "jobs[].requeue", read_job_requeue },
    { "jobs[].het", read_job_het },
    { "jobs[].resources", read_job_resources },
    { "jobs[].nodeSelector", read_words },
    { "jobs[].tolerations", read_job_tolerations },
    { "jobs[].topology", read_job_topology },
    { "events", read_events },
    { "events[].node_down", read_event_action },
    { "events[].node_up", read_event_action },
    { "events[].drain", read_event_action },
    { "events[].cordon", read_event_action },
    { "events[].resume", read_event_action },
    { "events[].uncordon", read_event_action },
    { "events[].nic_degrade", read_event_action },
    { "events[].nic_repair", read_event_action },
    { "events[].uplink_degrade", read_event_action },
    { "events[].uplink_repair", read_event_action },
    { "events[].gpu_fail", read_event_action },
    { "events[].gpu_repair", read_event_action },
    { "events[].scancel", read_event_action },
    { "events[].requeue", read_event_action },
    { "events[].requeue_hold", read_event_action },
    { "events[].hold", read_event_action },
    { "events[].release", read_event_action },
    { NULL, NULL },
};

/* The lines of --set, one a line. NULL when memory is out. */
static char *join_lines(const char *const *lines, size_t count)
{
    size_t bytes = 1, used = 0;
    for (size_t i = 0; i < count; i++) bytes += strlen(lines[i]) + 1;
    char *joined = calloc(bytes, 1);
    for (size_t i = 0; joined != NULL && i < count; i++) {
        const size_t length = strlen(lines[i]);
        memcpy(joined + used, lines[i], length);
        used += length;
        joined[used++] = '\n';
    }
    return joined;
}

enum { HEADER_BYTES = 24 /* "\n--- # included: \n" */ };

/* The text as read; included files follow as further documents, in the order of reading. */
static enum status keep_texts(struct reading *reading, const char *const *sets)
{
    struct scenario *scenario = reading->scenario;
    const struct yaml_document *document = &reading->document;
    const char *slash = strrchr(scenario->path, '/');
    const size_t folder_bytes = slash ? (size_t)(slash - scenario->path + 1) : 0;
    size_t bytes = document->text_bytes;
    for (const struct include_file *file = reading->includes; file; file = file->next)
        bytes += strlen(file->path) + file->document.text_bytes + HEADER_BYTES;
    scenario->text = calloc(bytes + 1, 1);
    scenario->overrides = join_lines(sets, reading->set_count);
    if (scenario->text == NULL || scenario->overrides == NULL)
        return diag_world(reading->reader.diag, "%s: out of memory", document->file);
    memcpy(scenario->text, document->text, document->text_bytes);
    size_t used = document->text_bytes;
    for (const struct include_file *file = reading->includes; file; file = file->next) {
        used += (size_t)snprintf(scenario->text + used, bytes + 1 - used, "\n--- # included: %s\n",
                                 file->path + folder_bytes);
        memcpy(scenario->text + used, file->document.text, file->document.text_bytes);
        used += file->document.text_bytes;
    }
    scenario->text_bytes = used;
    return STATUS_OK;
}

static enum status graft(struct reading *reading, const char *const *sets)
{
    struct diag *diag = reading->reader.diag;
    if (reading->set_count == 0) return STATUS_OK;
    reading->sets = calloc(reading->set_count, sizeof *reading->sets);
    if (reading->sets == NULL) return diag_world(diag, "--set: out of memory");
    enum status first = STATUS_OK;
    for (size_t i = 0; i < reading->set_count; i++) {
        const enum status status = scenario_set(reading, sets[i], &reading->sets[i]);
        if (first == STATUS_OK) first = status;
    }
    return first;
}

/* Walks the table; the lines it writes become the resolved scenario. */
static enum status walk_keys(struct reading *reading)
{
    struct scenario *scenario = reading->scenario;
    struct key_reader *reader = &reading->reader;
    const uint64_t errors = diag_error_count(reader->diag);
    size_t resolved_bytes = 0;
    reader->resolved = open_memstream(&scenario->resolved, &resolved_bytes);
    if (reader->resolved == NULL)
        return diag_world(reader->diag, "%s: out of memory", scenario->path);
    slurm_defaults(&scenario->slurm);
    kube_defaults(&scenario->kube);
    scenario->slack_count = 1; /* where no row reads it: 0 servers more                     */
    reader->kinds = chosen_kinds(reading->document.root);
    keys_read(reader, "", reading->document.root, NULL, scenario);
    const bool failed = ferror(reader->resolved) != 0;
    if (fclose(reader->resolved) != 0 || failed)
        return diag_world(reader->diag, "%s: out of memory", scenario->path);
    if (diag_error_count(reader->diag) > errors) return diag_status(reader->diag);
    /* kappa belongs to a reference placement (MODELS 3.9). Where nothing says what the durations
     * were measured on, that is a server of the baseline. */
    if (scenario->recorded_none)
        scenario->recorded_server = scenario->layouts[scenario->baseline].server;
    check_scenario(reading);
    return diag_error_count(reader->diag) > errors ? diag_status(reader->diag) : STATUS_OK;
}

static enum status read_all(struct reading *reading, const char *path, const char *const *sets)
{
    struct diag *diag = reading->reader.diag;
    if (!text_copy(reading->scenario->path, LIMIT_PATH_BYTES, path, strlen(path)))
        return diag_usage(diag, "a path longer than %d bytes", LIMIT_PATH_BYTES - 1);
    TRY(yaml_read_file(path, &reading->document, diag));
    TRY(yaml_require_map(&reading->document, diag));
    TRY(scenario_include(reading));
    TRY(keep_texts(reading, sets));
    TRY(graft(reading, sets));
    TRY(catalog_open(&reading->catalog, diag));
    return walk_keys(reading);
}

enum status scenario_read(const char *path, const char *const *sets, size_t set_count,
                          struct scenario *scenario, struct diag *diag)
{
    *scenario = (struct scenario){ 0 };
    struct reading *reading = calloc(1, sizeof *reading);
    if (reading == NULL) return diag_world(diag, "%s: out of memory", path);
    reading->scenario = scenario;
    reading->set_count = set_count;
    reading->reader.diag = diag;
    reading->reader.customs = customs;
    reading->reader.context = reading;
    const enum status status = read_all(reading, path, sets);
    catalog_close(&reading->catalog);
    for (size_t i = 0; reading->sets && i < set_count; i++) yaml_clear(&reading->sets[i]);
    free(reading->sets);
    yaml_clear(&reading->document);
    scenario_include_clear(reading);
    free(reading);
    return status;
}
