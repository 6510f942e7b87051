/* slurm_scenario.h - a recording of a real Slurm as a scenario of gpuplan, so that the reader of scenarios takes part in
 * the test. Header only.
 *
 * Every line of slurm.conf that the scheduler knows is copied as it stands; node lines become groups of servers, lines of
 * sacctmgr become qos and associations, scontrol commands become events. Ids of jobs are those of the recording. */
#ifndef GPUPLAN_TESTS_SLURM_SCENARIO_H
#define GPUPLAN_TESTS_SLURM_SCENARIO_H

#include "spec/hostlist.h"
#include "spec/keys.h"
#include "tests/slurm_lines.h"

#include <strings.h>

/* ---- slurm.conf ------------------------------------------------------------------------------ */

/* Whether scenarios have the line's word below scheduler.slurm; others say nothing about who starts when and where. */
static inline bool conf_is_known(const char *line, size_t bytes)
{
    for (size_t i = 0; i < key_count; i++) {
        const char *word = keys[i].path;
        if (keys[i].type == KEY_NOT_BUILT || !starts_with(word, "scheduler.slurm.")) continue;
        word += strlen("scheduler.slurm.");
        if (strlen(word) == bytes && !strncmp(word, line, bytes)) return true;
    }
    return false;
}

static inline void write_words(FILE *out, const char *line, const char *const *names, size_t count)
{
    char value[1024];
    for (size_t i = 0; i < count; i++)
        if (line_value(line, names[i], value, sizeof value))
            fprintf(out, ", %s: '%s'", names[i], value);
}

static inline void write_partition(FILE *out, const char *line)
{
    static const char *const names[] = { "Default",       "MaxTime",   "DefaultTime", "MaxNodes",
                                         "PriorityTier",  "PriorityJobFactor", "OverSubscribe", "LLN",
                                         "State",         "PreemptMode", "GraceTime", "DefMemPerGPU",
                                         "DefMemPerCPU",  "DefMemPerNode", "DefCpuPerGPU" };
    char name[128] = "", nodes[1024] = "ALL";
    line_value(line, "PartitionName", name, sizeof name);
    line_value(line, "Nodes", nodes, sizeof nodes);
    fprintf(out, "    - {name: %s, nodes: '%s'", name, nodes);
    write_words(out, line, names, sizeof names / sizeof *names);
    fprintf(out, "}\n");
}

/* ---- sacctmgr -------------------------------------------------------------------------------- */

/* The word behind "add qos", as name. */
static inline void word_behind(const char *line, const char *what, char *word, size_t size)
{
    const char *at = strstr(line, what);
    *word = 0;
    if (!at) return;
    at += strlen(what);
    at += strspn(at, " ");
    snprintf(word, size, "%.*s", (int)strcspn(at, " "), at);
}

/* sacctmgr writes names of options in any case. */
static inline bool option_value(const char *line, const char *key, char *value, size_t size)
{
    const size_t length = strlen(key);
    for (const char *at = line; *at; at++) {
        if ((at != line && at[-1] != ' ') || at[length] != '=' || strlen(at) <= length) continue;
        if (strncasecmp(at, key, length) != 0) continue;
        snprintf(value, size, "%.*s", (int)strcspn(at + length + 1, " "), at + length + 1);
        return true;
    }
    return false;
}

static inline void write_options(FILE *out, const char *line, const char *const *names, size_t count)
{
    char value[1024];
    for (size_t i = 0; i < count; i++) {
        if (strlen(line) < strlen(names[i])) continue;
        if (!option_value(line, names[i], value, sizeof value)) continue;
        const bool is_mode = strstr(names[i], "Mode") != NULL;
        for (char *at = value; is_mode && *at; at++) *at = (char)toupper((unsigned char)*at);
        fprintf(out, ", %s: '%s'", names[i], value);
    }
}

static const char *const qos_options[] = { "Priority",       "Preempt",        "PreemptMode",
                                           "GraceTime",      "GrpTRES",        "MaxTRESPerJob",
                                           "MaxTRESPerUser", "GrpTRESRunMins", "GrpJobs",
                                           "MaxJobsPerUser", "Flags", "PreemptExemptTime" };
static const char *const assoc_options[] = { "fairshare", "GrpTRES", "MaxTRESPerJob",
                                             "GrpTRESRunMins", "GrpJobs", "MaxJobs" };

/* QOSes: what was added, and what a later "modify qos NAME set" put on it. */
static inline void write_qos(FILE *out, const struct yaml_node *list)
{
    bool any = false;
    for (const struct yaml_node *node = list ? list->first : NULL; node; node = node->next) {
        char name[128], modified[128];
        if (!starts_with(node->text, "add qos")) continue;
        word_behind(node->text, "add qos", name, sizeof name);
        if (!any) fprintf(out, "    qos:\n    - {name: normal}\n");
        any = true;
        fprintf(out, "    - {name: %s", name);
        write_options(out, node->text, qos_options, sizeof qos_options / sizeof *qos_options);
        for (const struct yaml_node *more = list->first; more; more = more->next) {
            if (!starts_with(more->text, "modify qos")) continue;
            word_behind(more->text, "modify qos", modified, sizeof modified);
            if (!strcmp(modified, name))
                write_options(out, more->text, qos_options,
                              sizeof qos_options / sizeof *qos_options);
        }
        fprintf(out, "}\n");
    }
}

static inline void write_associations(FILE *out, const struct yaml_node *list)
{
    bool any = false;
    for (const struct yaml_node *node = list ? list->first : NULL; node; node = node->next) {
        char account[128] = "", parent[128] = "", user[128] = "";
        const bool is_user = starts_with(node->text, "add user");
        if (!is_user && !starts_with(node->text, "add account")) continue;
        if (is_user) {
            word_behind(node->text, "add user", user, sizeof user);
            option_value(node->text, "account", account, sizeof account);
        } else
            word_behind(node->text, "add account", account, sizeof account);
        option_value(node->text, "parent", parent, sizeof parent);
        if (!any) fprintf(out, "    associations:\n");
        any = true;
        fprintf(out, "    - {account: %s", account);
        if (*user) fprintf(out, ", user: %s", user);
        if (*parent) fprintf(out, ", parent: %s", parent);
        write_options(out, node->text, assoc_options, sizeof assoc_options / sizeof *assoc_options);
        fprintf(out, "}\n");
    }
}

/* ---- topology.conf, reservations -------------------------------------------------------------- */

static inline void write_topology(FILE *out, const struct yaml_node *list)
{
    char name[128], value[1024], sizes[256] = "";
    if (!list) return;
    fprintf(out, "    topology:\n");
    for (const struct yaml_node *node = list->first; node; node = node->next) {
        const char *kind = starts_with(node->text, "SwitchName") ? "SwitchName" : "BlockName";
        if (line_value(node->text, "BlockSizes", sizes, sizeof sizes)) continue;
        if (!line_value(node->text, kind, name, sizeof name)) continue;
        fprintf(out, "    - {%s: %s", kind, name);
        if (line_value(node->text, "Nodes", value, sizeof value))
            fprintf(out, ", Nodes: '%s'", value);
        if (line_value(node->text, "Switches", value, sizeof value))
            fprintf(out, ", Switches: '%s'", value);
        fprintf(out, "}\n");
    }
    if (*sizes) fprintf(out, "    BlockSizes: '%s'\n", sizes);
}

/* 60, 60:30, 1:00:00, 1-12 in the words of sbatch, in seconds. */
static inline int64_t time_of_words(const char *text)
{
    int64_t days = 0, part[3] = { 0 };
    int parts = 0;
    const char *dash = strchr(text, '-');
    if (dash) days = strtoll(text, NULL, 10);
    for (const char *at = dash ? dash + 1 : text; parts < 3; at++) {
        char *end;
        part[parts++] = strtoll(at, &end, 10);
        at = end;
        if (*at != ':') break;
    }
    if (dash) return days * 86400 + part[0] * 3600 + part[1] * 60 + part[2];
    if (parts == 3) return part[0] * 3600 + part[1] * 60 + part[2];
    return part[0] * 60 + part[1];
}

/* scontrol create reservation ... StartTime=@now+90@ Duration=00:01:00 */
static inline void write_reservations(FILE *out, const struct yaml_node *events)
{
    bool any = false;
    for (const struct yaml_node *node = events ? events->first : NULL; node; node = node->next) {
        const char *command = yaml_text_of(node, "cmd");
        char name[128] = "resv", value[256];
        if (!command || !starts_with(command, "create reservation")) continue;
        if (!any) fprintf(out, "    reservations:\n");
        any = true;
        line_value(command, "ReservationName", name, sizeof name);
        fprintf(out, "    - {name: %s", name);
        if (line_value(command, "Nodes", value, sizeof value)) fprintf(out, ", nodes: '%s'", value);
        if (line_value(command, "Users", value, sizeof value)) fprintf(out, ", users: '%s'", value);
        if (line_value(command, "Accounts", value, sizeof value))
            fprintf(out, ", accounts: '%s'", value);
        if (line_value(command, "Flags", value, sizeof value)) fprintf(out, ", flags: '%s'", value);
        if (line_value(command, "StartTime", value, sizeof value)) {
            const char *plus = strchr(value, '+');
            fprintf(out, ", start: %llds",
                    (long long)yaml_number_of(node, "at", 0) + (plus ? atoll(plus + 1) : 0));
        }
        if (line_value(command, "Duration", value, sizeof value))
            fprintf(out, ", duration: %llds", (long long)time_of_words(value));
        fprintf(out, "}\n");
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* The count of a gres of a node line: gpu:8, gpu:h100:8, shard:16. */
static inline unsigned gres_count(const char *gres, const char *kind, char *type, size_t size)
{
    *type = 0;
    for (const char *at = gres; *at; at += strspn(at, ",")) {
        const size_t bytes = strcspn(at, ",");
        char item[128];
        snprintf(item, sizeof item, "%.*s", (int)bytes, at);
        at += bytes;
        if (!starts_with(item, kind) || item[strlen(kind)] != ':') continue;
        const char *first = item + strlen(kind) + 1, *second = strchr(first, ':');
        if (second) snprintf(type, size, "%.*s", (int)(second - first), first);
        return (unsigned)strtoul(second ? second + 1 : first, NULL, 10);
    }
    return 0;
}

/* Links= and Cores= of gres.conf, one text a GPU, where each GPU has a line of its own. */
static inline void write_gres_lists(FILE *out, const struct yaml_node *group)
{
    static const struct {
        const char *word, *key;
    } lists[] = { { "Links", "links" }, { "Cores", "gpu_cores" } };
    const struct yaml_node *conf = group ? yaml_child(group, "gres_conf") : NULL;
    for (size_t l = 0; conf && l < 2; l++) {
        char value[512];
        bool any = false;
        for (const struct yaml_node *line = conf->first; line; line = line->next) {
            if (!line_value(line->text, lists[l].word, value, sizeof value)) continue;
            if (any)
                fprintf(out, ", '%s'", value);
            else
                fprintf(out, ", %s: ['%s'", lists[l].key, value);
            any = true;
        }
        if (any) fprintf(out, "]");
    }
}

/* The group of scenario.yaml that a node line of slurm.conf belongs to: they are in the same order. */
static inline const struct yaml_node *node_group(const struct recording *recording, unsigned index)
{
    const struct yaml_node *groups = yaml_child(recording->scenario.root, "node_groups");
    const struct yaml_node *group = groups ? groups->first : NULL;
    for (; group && index > 0; index--) group = group->next;
    return group;
}

static inline void write_nodes(FILE *out, const struct recording *recording)
{
    unsigned index = 0;
    fprintf(out, "layouts:\n- name: recorded\n  fabric: {type: two-tier, link: ib-ndr400, nics_per_gpu: 1}\n"
                 "  servers:\n");
    for (uint32_t i = 0; i < recording->line_count; i++) {
        const char *line = recording->lines[i];
        char names[512], gres[256] = "", value[256], type[64], unused[64];
        uint32_t count = 0;
        if (!starts_with(line, "NodeName=")) continue;
        line_value(line, "NodeName", names, sizeof names);
        hostlist_check(names, &count);
        line_value(line, "Gres", gres, sizeof gres);
        const unsigned gpus = gres_count(gres, "gpu", type, sizeof type);
        const unsigned shards = gres_count(gres, "shard", unused, sizeof unused);
        fprintf(out, "  - {count: %u, names: '%s'", count, names);
        if (gpus)
            fprintf(out, ", type: {like: hgx-h100-8, gpus: %u, nics: %u}", gpus, gpus);
        else
            fprintf(out, ", type: {gpus: 0}");
        if (line_value(line, "CPUs", value, sizeof value)) fprintf(out, ", cores: %s", value);
        if (line_value(line, "Sockets", value, sizeof value)) fprintf(out, ", sockets: %s", value);
        if (line_value(line, "RealMemory", value, sizeof value))
            fprintf(out, ", memory: %s MiB", value);
        if (line_value(line, "Weight", value, sizeof value)) fprintf(out, ", weight: %s", value);
        if (line_value(line, "Feature", value, sizeof value) ||
            line_value(line, "Features", value, sizeof value))
            fprintf(out, ", features: '%s'", value);
        if (*type) fprintf(out, ", gpu_type: %s", type);
        if (shards) fprintf(out, ", sharing: {kind: shard, per_gpu: %u}", shards / gpus);
        write_gres_lists(out, node_group(recording, index++));
        fprintf(out, "}\n");
    }
}

static inline void write_scheduler(FILE *out, const struct recording *recording)
{
    const struct yaml_node *root = recording->scenario.root;
    const bool old = starts_with(recording->release, "22.") || starts_with(recording->release, "23.");
    const bool middle = starts_with(recording->release, "24.") || starts_with(recording->release, "25.");
    fprintf(out, "scheduler:\n  kind: slurm\n  slurm:\n    compat: '%s'\n",
            old ? "22.05" : middle ? "24.11" : "26.05");
    fprintf(out, "    second_of_minute: %lld\n", (long long)recording->t0_second);
    for (uint32_t i = 0; i < recording->line_count; i++) {
        const char *line = recording->lines[i], *equals = strchr(line, '=');
        if (!equals || !conf_is_known(line, (size_t)(equals - line))) continue;
        fprintf(out, "    %.*s: '%s'\n", (int)(equals - line), line, equals + 1);
    }
    bool any = false;
    for (uint32_t i = 0; i < recording->line_count; i++) {
        if (!starts_with(recording->lines[i], "PartitionName=")) continue;
        if (!any) fprintf(out, "    partitions:\n");
        any = true;
        write_partition(out, recording->lines[i]);
    }
    write_topology(out, yaml_child(root, "topology_conf"));
    write_qos(out, yaml_child(root, "sacctmgr"));
    write_associations(out, yaml_child(root, "sacctmgr"));
    write_reservations(out, yaml_child(root, "events"));
}

static inline void write_scenario(FILE *out, const struct recording *recording)
{
    fprintf(out, "gpuplan: 1\nname: recorded\n"
                 "time: {horizon: all, warmup: 0s}\nseed: 1\n"
                 "replicas: {count: 1, resample: none}\n"
                 "workload: {communication: none}\n"
                 "failures: {rates: none}\ndetail: all\n");
    write_scheduler(out, recording);
    write_nodes(out, recording);
    write_jobs(out, recording);
    write_events(out, recording);
}

#endif
