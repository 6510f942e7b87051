/* scenario_slurm.c - the keys of `scheduler.slurm` that are lists of words: parameters, modes, flags, weights. */
#include "io/scenario_slurm.h"

#include "base/clock.h"
#include "base/text.h"
#include "io/scenario_lists.h"
#include "io/slurm_text.h"

#include <inttypes.h>
#include <string.h>

static struct slurm_spec *slurm_of(struct key_reader *reader)
{
    return &reading_of(reader)->scenario->slurm;
}

static void show_default(struct key_reader *reader, const struct key_found *found,
                         const char *value)
{
    key_show(reader, found_name(found), value, NULL, "default");
}

/* ---- SchedulerParameters ---- */
enum unit { UNIT_FLAG, UNIT_NO_EFFECT, UNIT_COUNT, UNIT_COUNT64, UNIT_S, UNIT_MIN };
/* An item of SchedulerParameters: its own unit, and the field. Ranges are those of slurm.conf(5). */
struct parameter {
    const char *name;
    enum unit unit;
    int64_t least, most;
    size_t offset;
};
#define FIELD(name) offsetof(struct slurm_spec, name)

static const struct parameter parameters[] = {
    { "assoc_limit_stop", UNIT_FLAG, 0, 0, FIELD(assoc_limit_stop) },
    { "batch_sched_delay", UNIT_S, 0, 0, FIELD(batch_sched_delay_ns) }, /* a pass follows at once */
    { "bf_busy_nodes", UNIT_FLAG, 0, 0, FIELD(bf_busy_nodes) },
    { "bf_continue", UNIT_FLAG, 0, 0, FIELD(bf_continue) },
    { "bf_interval", UNIT_S, 1, 10800, FIELD(bf_interval_ns) },
    { "bf_max_job_assoc", UNIT_COUNT, 0, 1000000, FIELD(bf_max_job_assoc) },
    { "bf_max_job_part", UNIT_COUNT, 0, 1000000, FIELD(bf_max_job_part) },
    { "bf_max_job_user", UNIT_COUNT, 0, 1000000, FIELD(bf_max_job_user) },
    { "bf_max_job_test", UNIT_COUNT, 1, 1000000, FIELD(bf_max_job_test) },
    { "bf_min_age_reserve", UNIT_S, 0, 2592000, FIELD(bf_min_age_reserve_ns) },
    { "bf_min_prio_reserve", UNIT_COUNT64, 0, UINT32_MAX, FIELD(bf_min_prio_reserve) },
    { "bf_resolution", UNIT_S, 1, 3600, FIELD(bf_resolution_ns) },
    { "bf_window", UNIT_MIN, 1, 43200, FIELD(bf_window_ns) },
    { "default_queue_depth", UNIT_COUNT, 0, 1000000, FIELD(default_queue_depth) },
    { "kill_invalid_depend", UNIT_NO_EFFECT, 0, 0, 0 }, /* since 21.08 of DependencyParameters */
    { "max_switch_wait", UNIT_S, 0, 31536000, FIELD(max_switch_wait_ns) },
    { "pack_serial_at_end", UNIT_FLAG, 0, 0, FIELD(pack_serial_at_end) },
    { "preempt_reorder_count", UNIT_COUNT, 1, 1000, FIELD(preempt_reorder_count) },
    { "preempt_youngest_first", UNIT_FLAG, 0, 0, FIELD(preempt_youngest_first) },
    { "sched_interval", UNIT_S, 1, 86400, FIELD(sched_interval_ns) },
};
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

/* Known items whose effect is missing. */
static const struct {
    const char *name, *missing;
} missing[] = {
    { "allow_zero_lic", "licences" },
    { "bf_hetjob_immediate", "other orders of heterogeneous jobs" },
    { "bf_hetjob_prio", "other orders of heterogeneous jobs" },
    { "bf_job_part_count_reserve", "a bound on reservations" },
    { "bf_licenses", "licences" },
    { "bf_max_job_array_resv", "a bound on reservations of arrays" },
    { "bf_max_job_start", "a bound on starts in a cycle" },
    { "bf_max_job_user_part", "a bound per user and partition" },
    { "bf_max_time", "the real time that a cycle takes" },
    { "bf_node_space_size", "a bound on the table of slots" },
    { "bf_one_resv_per_job", "jobs in several partitions" },
    { "bf_running_job_reserve", "reservations of running jobs" },
    { "bf_topopt_enable", "other topologies in backfill" },
    { "bf_topopt_iterations", "other topologies in backfill" },
    { "bf_window_linear", "windows that grow" },
    { "bf_yield_interval", "the real time that a cycle takes" },
    { "bf_yield_sleep", "the real time that a cycle takes" },
    { "defer", "passes that are put off" },
    { "defer_batch", "passes that are put off" },
    { "delay_boot", "nodes that are booted late" },
    { "extra_constraints", "extra constraints" },
    { "Ignore_NUMA", "sockets as Slurm sees them" },
    { "max_array_tasks", "limits on arrays" },
    { "max_depend_depth", "limits on dependencies" },
    { "max_rpc_cnt", "the load of the controller" },
    { "max_sched_time", "the real time that a pass takes" },
    { "partition_job_depth", "a bound per partition in a pass" },
    { "permit_job_expansion", "jobs that grow" },
    { "preempt_send_user_signal", "signals" },
    { "preempt_strict_order", "another order of victims" },
    { "reduce_completing_frag", "waiting for nodes that clean up" },
    { "sched_max_job_start", "a bound on starts in a pass" },
    { "sched_min_interval", "a pause between passes" },
    { "spec_cores_first", "specialised cores" },
    { "time_min_as_soft_limit", "least time limits" },
};
enum { MISSING = sizeof missing / sizeof *missing };

static void store(struct slurm_spec *slurm, const struct parameter *parameter, int64_t value)
{
    char *field = (char *)slurm + parameter->offset;
    const uint32_t narrow = (uint32_t)value;
    const int64_t wide = parameter->unit == UNIT_S     ? value * NS_PER_S
                         : parameter->unit == UNIT_MIN ? value * 60 * NS_PER_S
                                                       : value;
    if (parameter->unit == UNIT_NO_EFFECT) return;
    if (parameter->unit == UNIT_FLAG)
        *(bool *)field = true;
    else if (parameter->unit == UNIT_COUNT)
        memcpy(field, &narrow, sizeof narrow);
    else
        memcpy(field, &wide, sizeof wide);
}

static void unknown_parameter(struct key_reader *reader, const struct key_found *found,
                              const char *name)
{
    const char *names[PARAMETERS];
    for (size_t i = 0; i < MISSING; i++)
        if (strcmp(name, missing[i].name) == 0) {
            refuse_value(reader, found, "'%s' is not built yet (%s)", name, missing[i].missing);
            return;
        }
    for (size_t i = 0; i < PARAMETERS; i++) names[i] = parameters[i].name;
    const char *nearest = text_nearest(name, names, PARAMETERS);
    refuse_value(reader, found, "unknown item '%s'%s%s%s", name, nearest ? "; did you mean '" : "",
                 nearest ? nearest : "", nearest ? "'?" : ", as slurm.conf(5) lists them");
}

static void read_parameter(struct key_reader *reader, const struct key_found *found, char *item)
{
    static const char *const units[] = { "", "", "", "", " seconds", " minutes" };
    char *equals = strchr(item, '=');
    const struct parameter *parameter = parameters;
    if (equals != NULL) *equals = '\0';
    while (parameter < parameters + PARAMETERS && strcmp(item, parameter->name) != 0) parameter++;
    if (parameter == parameters + PARAMETERS) {
        unknown_parameter(reader, found, item);
        return;
    }
    const bool is_flag = parameter->unit <= UNIT_NO_EFFECT;
    if (is_flag != (equals == NULL)) {
        refuse_value(reader, found, is_flag ? "'%s' takes no value" : "'%s' needs a value", item);
        return;
    }
    int64_t value = 0;
    struct why why;
    if (!is_flag && (!quantity_count(equals + 1, strlen(equals + 1), &value, &why) ||
                     value < parameter->least || value > parameter->most)) {
        if (parameter->most == parameter->least)
            refuse_value(reader, found, "%s must be %" PRId64 ": others are not built yet", item,
                         parameter->least);
        else
            refuse_value(reader, found, "%s must be %" PRId64 " to %" PRId64 "%s, got '%s'", item,
                         parameter->least, parameter->most, units[parameter->unit], equals + 1);
        return;
    }
    store(slurm_of(reader), parameter, value);
}

void read_scheduler_parameters(struct key_reader *reader, const struct key_found *found)
{
    char list[LIST_BYTES], item[LIST_BYTES];
    if (found->node == NULL) show_default(reader, found, "\"\"");
    read_word_list(reader, found, list);
    for (const char *at = list; list_word(&at, item, sizeof item);)
        read_parameter(reader, found, item);
}

/* ---- lists of words, each with an effect ---- */

struct effect {
    const char *word;
    bool *flag; /* set when it stands; NULL = no effect, or its own                       */
    const char *missing; /* it is refused: what is missing                                       */
};

static void read_effects(struct key_reader *reader, const struct key_found *found,
                         const struct effect *effects, size_t count)
{
    char list[LIST_BYTES], word[LIST_BYTES];
    const char *names[16];
    read_word_list(reader, found, list);
    for (size_t i = 0; i < count; i++) names[i] = effects[i].word;
    for (const char *at = list; list_word(&at, word, sizeof word);) {
        size_t i = 0;
        while (i < count && strcmp(word, effects[i].word) != 0) i++;
        const char *nearest = i < count ? NULL : text_nearest(word, names, count);
        if (i == count)
            refuse_value(reader, found, "unknown '%s'%s%s%s", word,
                         nearest ? "; did you mean '" : "", nearest ? nearest : "",
                         nearest ? "'?" : ", as slurm.conf(5) lists them");
        else if (effects[i].missing)
            refuse_value(reader, found, "'%s' is not built yet (%s)", word, effects[i].missing);
        else if (effects[i].flag)
            *effects[i].flag = true;
    }
}
#define READ_EFFECTS(reader, found, effects)                                                       \
    read_effects(reader, found, effects, sizeof(effects) / sizeof *(effects))

void read_select_parameters(struct key_reader *reader, const struct key_found *found)
{
    struct slurm_spec *slurm = slurm_of(reader);
    const struct effect effects[] = {
        { "CR_Core", NULL, NULL },
        { "CR_CPU", NULL, NULL },
        { "CR_Core_Memory", &slurm->memory_counts, NULL },
        { "CR_CPU_Memory", &slurm->memory_counts, NULL },
        { "CR_LLN", &slurm->lln, NULL },
        { "CR_Socket", NULL, "whole sockets" },
        { "CR_Socket_Memory", NULL, "whole sockets" },
        { "CR_Memory", NULL, "memory without cores" },
        { "CR_Pack_Nodes", NULL, "packing of tasks" },
        { "CR_ONE_TASK_PER_CORE", NULL, "threads" },
        { "CR_CORE_DEFAULT_DIST_BLOCK", NULL, "the distribution of tasks over cores" },
        { "LL_SHARED_GRES", NULL, "least loaded GPUs" },
        { "MULTIPLE_SHARING_GRES_PJ", NULL, "shards of several GPUs" },
    };
    slurm->memory_counts = slurm->lln = false;
    if (found->node == NULL) show_default(reader, found, "CR_Core");
    READ_EFFECTS(reader, found, effects);
}

void read_priority_flags(struct key_reader *reader, const struct key_found *found)
{
    static const struct effect effects[] = {
        { "FAIR_TREE", NULL, NULL },
        { "CALCULATE_RUNNING", NULL, NULL },
        { "ACCRUE_ALWAYS", NULL, "age of jobs that cannot run" },
        { "DEPTH_OBLIVIOUS", NULL, "classic fair share" },
        { "NO_FAIR_TREE", NULL, "classic fair share" },
        { "INCR_ONLY", NULL, "priorities that only grow" },
        { "MAX_TRES", NULL, "billing by the largest resource" },
        { "NO_NORMAL_ALL", NULL, "factors above 1" },
        { "NO_NORMAL_ASSOC", NULL, "factors above 1" },
        { "NO_NORMAL_PART", NULL, "factors above 1" },
        { "NO_NORMAL_QOS", NULL, "factors above 1" },
        { "NO_NORMAL_TRES", NULL, "factors above 1" },
        { "SMALL_RELATIVE_TO_TIME", NULL, "size over time" },
    };
    if (found->node == NULL) show_default(reader, found, "FAIR_TREE");
    READ_EFFECTS(reader, found, effects);
}

void read_enforce(struct key_reader *reader, const struct key_found *found)
{
    struct slurm_spec *slurm = slurm_of(reader);
    const struct effect effects[] = {
        { "none", NULL, NULL },
        { "associations", NULL, NULL },
        { "qos", NULL, NULL },
        { "limits", &slurm->enforce_limits, NULL },
        { "safe", &slurm->safe, NULL },
        { "all", &slurm->enforce_limits, NULL },
        { "wckeys", NULL, "wckeys" },
        { "nojobs", NULL, "accounting" },
        { "nosteps", NULL, "accounting" },
    };
    slurm->enforce_limits = slurm->safe = false;
    if (found->node == NULL) show_default(reader, found, "none");
    READ_EFFECTS(reader, found, effects);
    if (slurm->safe) slurm->enforce_limits = true; /* as Slurm takes it */
}

void read_qos_flags(struct key_reader *reader, const struct key_found *found)
{
    struct slurm_qos *qos = found->target;
    const struct effect effects[] = {
        { "DenyOnLimit", &qos->deny_on_limit, NULL },
        { "NoReserve", &qos->no_reserve, NULL },
        { "EnforceUsageThreshold", NULL, "thresholds of usage" },
        { "NoDecay", NULL, "usage that does not decay" },
        { "OverPartQOS", NULL, "the QOS of a partition" },
        { "PartitionMaxNodes", NULL, "going over a partition's limits" },
        { "PartitionMinNodes", NULL, "going over a partition's limits" },
        { "PartitionTimeLimit", NULL, "going over a partition's limits" },
        { "RequiresReservation", NULL, "QOSes of reservations" },
        { "UsageFactorSafe", NULL, "usage of a QOS that counts more or less" },
    };
    if (found->node == NULL) show_default(reader, found, "\"\"");
    READ_EFFECTS(reader, found, effects);
}

void read_reservation_flags(struct key_reader *reader, const struct key_found *found)
{
    struct slurm_reservation *reservation = found->target;
    const struct effect effects[] = {
        { "MAINT", &reservation->maint, NULL },
        { "IGNORE_JOBS", &reservation->ignore_jobs, NULL },
        { "DAILY", NULL, "reservations that come again" },
        { "WEEKLY", NULL, "reservations that come again" },
        { "HOURLY", NULL, "reservations that come again" },
        { "FLEX", NULL, "jobs that reach beyond their reservation" },
        { "ANY_NODES", NULL, "reservations of any nodes" },
        { "MAGNETIC", NULL, "reservations that draw jobs" },
        { "PURGE_COMP", NULL, "reservations that end early" },
        { "REPLACE", NULL, "nodes that are replaced" },
        { "REPLACE_DOWN", NULL, "nodes that are replaced" },
        { "SPEC_NODES", NULL, "named nodes are always kept" },
        { "OVERLAP", NULL, "reservations that overlap" },
    };
    if (found->node == NULL) show_default(reader, found, "\"\"");
    READ_EFFECTS(reader, found, effects);
}

/* ---- modes ---- */

/* OFF, CANCEL, REQUEUE, SUSPEND, GANG by commas; `gang` NULL: a row of a partition or QOS, which knows no GANG. */
static enum preempt_mode read_mode(struct key_reader *reader, const struct key_found *found,
                                   bool *gang)
{
    static const char *const words[] = { "OFF", "CANCEL", "REQUEUE", "SUSPEND", "GANG" };
    char list[LIST_BYTES], word[LIST_BYTES];
    enum preempt_mode mode = PREEMPT_UNSET;
    read_word_list(reader, found, list);
    for (const char *at = list; list_word(&at, word, sizeof word);) {
        size_t i = 0;
        while (i < 5 && strcmp(word, words[i]) != 0) i++;
        const char *nearest = i < 5 ? NULL : text_nearest(word, words, 5);
        if (i == 5)
            refuse_value(reader, found, "unknown '%s'%s%s%s", word,
                         nearest ? "; did you mean '" : "", nearest ? nearest : "",
                         nearest ? "'?" : "; OFF, CANCEL, REQUEUE or SUSPEND");
        else if (i == 4 && gang == NULL)
            refuse_value(reader, found, "GANG is said once, for the cluster");
        else if (i == 4)
            *gang = true;
        else if (mode != PREEMPT_UNSET)
            refuse_value(reader, found, "'%s' beside another mode", word);
        else
            mode = (enum preempt_mode)i;
    }
    return mode;
}

void read_preempt_mode(struct key_reader *reader, const struct key_found *found)
{
    struct slurm_spec *slurm = slurm_of(reader);
    if (found->node == NULL) show_default(reader, found, "OFF");
    slurm->gang = false;
    slurm->preempt_mode = read_mode(reader, found, &slurm->gang);
    if (slurm->preempt_mode == PREEMPT_UNSET) slurm->preempt_mode = PREEMPT_OFF;
    if (slurm->preempt_mode == PREEMPT_SUSPEND && !slurm->gang)
        refuse_value(reader, found, "SUSPEND needs GANG, which resumes the jobs: SUSPEND,GANG");
}

void read_partition_mode(struct key_reader *reader, const struct key_found *found)
{
    struct slurm_partition *partition = found->target;
    if (found->node == NULL) show_default(reader, found, "the cluster's");
    partition->preempt_mode = read_mode(reader, found, NULL);
}

void read_qos_mode(struct key_reader *reader, const struct key_found *found)
{
    struct slurm_qos *qos = found->target;
    if (found->node == NULL) show_default(reader, found, "the cluster's");
    qos->preempt_mode = read_mode(reader, found, NULL);
}

/* Position of the value among words, the default's when it is left out; -1 after a problem. */
static int one_of(struct key_reader *reader, const struct key_found *found,
                  const char *const *words, size_t count)
{
    if (found->node == NULL) {
        show_default(reader, found, words[0]);
        return 0;
    }
    if (found->node->kind != YAML_SCALAR) {
        key_wrong_kind(reader, found_name(found), found->node, "one value");
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(found->node->text, words[i]) == 0) {
            key_show(reader, found_name(found), words[i], found->node, NULL);
            return (int)i;
        }
    key_unknown_word(reader, found_name(found), found->node, words, count);
    return -1;
}

void read_topology_plugin(struct key_reader *reader, const struct key_found *found)
{
    static const char *const words[] = { "topology/flat", "topology/none", "topology/default",
                                         "topology/tree", "topology/block" };
    const int word = one_of(reader, found, words, 5);
    slurm_of(reader)->topology = word == 3   ? TOPOLOGY_TREE
                                 : word == 4 ? TOPOLOGY_BLOCK
                                             : TOPOLOGY_NONE;
}

void read_oversubscribe(struct key_reader *reader, const struct key_found *found)
{
    static const char *const words[] = { "NO", "EXCLUSIVE", "FORCE", "FORCE:1" };
    struct slurm_partition *partition = found->target;
    const bool is_text = found->node != NULL && found->node->kind == YAML_SCALAR;
    if (is_text && (strncmp(found->node->text, "YES", 3) == 0 ||
                    (strncmp(found->node->text, "FORCE:", 6) == 0 &&
                     strcmp(found->node->text, "FORCE:1") != 0))) {
        refuse_value(reader, found, "'%s' is not built yet (several jobs on one core)",
                     found->node->text);
        return;
    }
    const int word = one_of(reader, found, words, 4);
    partition->exclusive = word == 1;
    partition->oversubscribe_force = word > 1;
}

/* ---- numbers in texts ---- */

/* The text of a row, or NULL when it is left out or no text. */
static const char *text_of(struct key_reader *reader, const struct key_found *found,
                           const char *fallback)
{
    if (found->node == NULL) {
        show_default(reader, found, fallback);
        return NULL;
    }
    if (found->node->kind != YAML_SCALAR) {
        key_wrong_kind(reader, found_name(found), found->node, "one value");
        return NULL;
    }
    key_show(reader, found_name(found), found->node->text, found->node, NULL);
    return found->node->text;
}

static bool weights(struct key_reader *reader, const struct key_found *found, const char *fallback,
                    struct tres_weight *out)
{
    const char *text = text_of(reader, found, fallback);
    struct why why;
    if (text == NULL) return false;
    if (slurm_weights(text, strlen(text), out, &why)) return true;
    refuse_value(reader, found, "cannot read '%s': %s", text, why.text);
    return false;
}

void read_priority_tres(struct key_reader *reader, const struct key_found *found)
{
    struct slurm_spec *slurm = slurm_of(reader);
    struct tres_weight weight;
    if (!weights(reader, found, "\"\"", &weight)) return;
    slurm->weight_tres_cpu = weight.cpu;
    slurm->weight_tres_gpu = weight.gpu;
    slurm->weight_tres_node = weight.node;
    slurm->weight_tres_mem =
        weight.mem_gib / 1024; /* a factor's weight knows no unit: as written */
}

void read_billing(struct key_reader *reader, const struct key_found *found)
{
    struct slurm_spec *slurm = slurm_of(reader);
    struct tres_weight weight;
    if (!weights(reader, found, "CPU=1", &weight)) return;
    if (weight.node > 0) refuse_value(reader, found, "nodes are not built: CPU, Mem and GRES/gpu");
    slurm->billing_cpu = weight.cpu;
    slurm->billing_gpu = weight.gpu;
    slurm->billing_mem_gib = weight.mem_gib;
}

void read_auth_info(struct key_reader *reader, const struct key_found *found)
{
    static const char key[] = "cred_expire=";
    const char *text = text_of(reader, found, "cred_expire=120");
    int64_t seconds = 0;
    struct why why;
    if (text == NULL) return;
    if (strncmp(text, key, strlen(key)) == 0 &&
        quantity_count(text + strlen(key), strlen(text) - strlen(key), &seconds, &why) &&
        seconds >= 5 && seconds <= 86400)
        slurm_of(reader)->requeue_delay_ns = (seconds + 1) * NS_PER_S;
    else
        refuse_value(reader, found, "'%s': only cred_expire=SECONDS, 5 to 86400, has an effect",
                     text);
}

/* "42,50-60" */
void read_exit_codes(struct key_reader *reader, const struct key_found *found)
{
    char *field = (char *)found->target + found->row->offset, item[LIMIT_TARGET_BYTES];
    const char *text = text_of(reader, found, "\"\"");
    if (text == NULL) return;
    if (!text_copy(field, found->row->bytes, text, strlen(text))) {
        refuse_value(reader, found, "longer than %zu bytes", found->row->bytes - 1);
        return;
    }
    for (const char *at = text; list_word(&at, item, sizeof item);) {
        int64_t first = 0, last = 0;
        struct why why;
        const size_t bytes = strcspn(item, "-");
        bool good = quantity_count(item, bytes, &first, &why);
        last = first;
        if (good && item[bytes] == '-')
            good = quantity_count(item + bytes + 1, strlen(item + bytes + 1), &last, &why);
        if (!good || first < 0 || last > 255 || first > last)
            refuse_value(reader, found, "'%s' is no exit code or range of them: 42,50-60", item);
    }
}
