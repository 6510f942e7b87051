/* scenario_job_words.c - rows of `jobs[]` that are more than one value, and the names that a job uses. */
#include "io/scenario_jobs.h"

#include "base/quantity.h"
#include "base/text.h"
#include "io/kube_text.h"
#include "io/scenario_lists.h"
#include "spec/node_names.h"

#include <stdlib.h>
#include <string.h>

enum { TASKS_MOST = 4000001 /* MaxArraySize of slurm.conf(5) */, NAMES_SHOWN = 64 };

void read_job_requeue(struct key_reader *reader, const struct key_found *found)
{
    struct job_line *line = found->target;
    struct why why;
    bool requeue;
    line->requeue = -1;
    if (found->node == NULL) return;
    if (found->node->kind != YAML_SCALAR)
        key_wrong_kind(reader, "requeue", found->node, "true or false");
    else if (quantity_bool(found->node->text, found->node->text_bytes, &requeue, &why))
        line->requeue = requeue;
    else
        refuse_value(reader, found, "cannot read '%s': %s", found->node->text, why.text);
}

/* ---- pods ---- */

static bool read_resource(struct job_line *line, const struct yaml_node *node, struct why *why)
{
    static const char mig[] = "nvidia.com/mig-";
    struct ask *ask = &line->ask;
    int64_t value = 0;
    const char *key = node->key;
    if (strcmp(key, "cpu") == 0) {
        if (!kube_cpu(node->text, node->text_bytes, &value, why)) return false;
        ask->pod_cpu_milli = (uint32_t)value;
        return true;
    }
    if (strcmp(key, "memory") == 0) {
        if (!kube_bytes(node->text, node->text_bytes, &value, why)) return false;
        ask->pod_memory_bytes = (uint64_t)value;
        return true;
    }
    if (!quantity_count(node->text, node->text_bytes, &value, why)) return false;
    if (value < 0 || value > LIMIT_GPUS_PER_SERVER * 64) {
        snprintf(why->text, sizeof why->text, "write 0 to %d", LIMIT_GPUS_PER_SERVER * 64);
        return false;
    }
    ask->pod_gpus = (uint32_t)value;
    if (strncmp(key, mig, strlen(mig)) == 0)
        text_copy(line->instance, sizeof line->instance, key + strlen(mig),
                  strlen(key + strlen(mig)));
    return true;
}

void read_job_resources(struct key_reader *reader, const struct key_found *found)
{
    static const char *const names[] = { "cpu", "memory", "nvidia.com/gpu",
                                         "nvidia.com/mig-1g.10gb" };
    if (found->node == NULL) return;
    if (found->node->kind != YAML_MAP) {
        key_wrong_kind(reader, "resources", found->node,
                       "{cpu: 4, memory: 8Gi, nvidia.com/gpu: 1}");
        return;
    }
    bool has_gpus = false;
    for (const struct yaml_node *node = found->node->first; node; node = node->next) {
        struct why why;
        const bool is_gpu =
            strcmp(node->key, names[2]) == 0 || strncmp(node->key, "nvidia.com/mig-", 15) == 0;
        const bool known =
            is_gpu || strcmp(node->key, "cpu") == 0 || strcmp(node->key, "memory") == 0;
        const char *nearest = known ? NULL : text_nearest(node->key, names, 4);
        if (!known)
            diag_error(
                reader->diag, yaml_key_place(node), "%sresources: unknown '%s'%s%s%s", reader->path,
                node->key, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                nearest ? "'?" : "; known: cpu, memory, nvidia.com/gpu, nvidia.com/mig-PROFILE");
        else if (node->kind != YAML_SCALAR)
            key_wrong_kind(reader, node->key, node, "one value");
        else if (is_gpu && has_gpus)
            diag_error(reader->diag, yaml_key_place(node),
                       "%sresources: a pod with two kinds of GPUs is not built", reader->path);
        else if (!read_resource(found->target, node, &why))
            diag_error(reader->diag, yaml_place(node), "%sresources.%s: cannot read '%s': %s",
                       reader->path, node->key, node->text, why.text);
        has_gpus |= is_gpu;
    }
}

void read_job_topology(struct key_reader *reader, const struct key_found *found)
{
    struct job_line *line = found->target;
    if (found->node == NULL) return;
    if (found->node->kind == YAML_SCALAR && strcmp(found->node->text, "unconstrained") == 0) {
        line->ask.topology_unconstrained = true;
        return;
    }
    if (found->node->kind != YAML_MAP) {
        key_wrong_kind(reader, "topology", found->node,
                       "{required: LEVEL}, {preferred: LEVEL} or unconstrained");
        return;
    }
    const size_t length = key_enter(reader, "topology.");
    keys_read(reader, "jobs[].topology.", found->node, NULL, line);
    key_leave(reader, length);
}

void read_job_tolerations(struct key_reader *reader, const struct key_found *found)
{
    static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute" };
    struct job_line *line = found->target;
    const uint64_t errors = diag_error_count(reader->diag);
    read_words(reader, found);
    if (found->node == NULL || diag_error_count(reader->diag) > errors) return;
    char word[LIMIT_TARGET_BYTES];
    for (const char *at = line->tolerations; list_word(&at, word, sizeof word);) {
        const char *colon = strrchr(word, ':');
        bool known = colon == NULL;
        for (size_t i = 0; colon && i < 3; i++) known |= strcmp(colon + 1, effects[i]) == 0;
        if (known && word[0] != '\0') continue;
        const char *nearest = colon ? text_nearest(colon + 1, effects, 3) : NULL;
        refuse_value(reader, found, "'%s' is no toleration; write key=value:%s", word,
                     nearest ? nearest : "NoSchedule");
    }
}

/* Components are read by the whole job, which knows what they share. */
void read_job_het(struct key_reader *reader, const struct key_found *found)
{
    const struct job_line *line = found->target;
    if (found->node == NULL || line->is_component) return;
    if (found->node->kind != YAML_LIST) {
        key_wrong_kind(reader, "het", found->node, "a list of components");
        return;
    }
    if (found->node->child_count < 2) refuse_value(reader, found, "one component is a plain job");
    for (const struct yaml_node *item = found->node->first; item; item = item->next)
        if (item->kind != YAML_MAP)
            key_wrong_kind(reader, "het", item, "a mapping for each component");
}

/* ---- arrays ---- */

/* FIRST, FIRST-LAST or FIRST-LAST:STEP; false when it is none of them. */
static bool index_range(const char *text, int64_t *first, int64_t *last, int64_t *step)
{
    struct why why;
    const size_t dash = strcspn(text, "-"), colon = strcspn(text, ":");
    *step = 1;
    if (!quantity_count(text, dash < colon ? dash : colon, first, &why)) return false;
    *last = *first;
    if (text[dash] == '-' && !quantity_count(text + dash + 1, colon - dash - 1, last, &why))
        return false;
    if (text[colon] == ':' &&
        (text[dash] != '-' ||
         !quantity_count(text + colon + 1, strlen(text + colon + 1), step, &why)))
        return false;
    return *first >= 0 && *first <= *last && *last < TASKS_MOST && *step >= 1;
}

static int by_index(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Two passes over the text: the first counts. */
static bool expand(const char *text, uint32_t *out, uint32_t *count)
{
    char item[LIMIT_TARGET_BYTES];
    int64_t first, last, step, sum = 0;
    for (const char *at = text; list_word(&at, item, sizeof item);) {
        if (!index_range(item, &first, &last, &step)) return false;
        for (int64_t index = first; out && index <= last; index += step)
            out[sum++] = (uint32_t)index;
        if (out == NULL) sum += (last - first) / step + 1;
        if (sum > TASKS_MOST) return false;
    }
    *count = (uint32_t)sum;
    return sum > 0;
}

uint32_t *job_array(struct job_reading *job, uint32_t *count, uint32_t *limit)
{
    char text[LIMIT_TARGET_BYTES];
    const char *percent = strchr(job->line.array, '%');
    const size_t bytes = percent ? (size_t)(percent - job->line.array) : strlen(job->line.array);
    int64_t most = 0;
    struct why why;
    *limit = 0;
    text_copy(text, sizeof text, job->line.array, bytes);
    const bool good_limit =
        percent == NULL || (quantity_count(percent + 1, strlen(percent + 1), &most, &why) &&
                            most >= 1 && most < TASKS_MOST);
    if (!good_limit || !expand(text, NULL, count)) {
        refuse_job(job, "array", "cannot read '%s': write 0-5, 1,3,7-9, 0-10:2 or 0-5%%2",
                   job->line.array);
        return NULL;
    }
    *limit = (uint32_t)most;
    uint32_t *indexes = malloc(*count * sizeof *indexes);
    if (indexes == NULL) {
        diag_world(job->reader->diag, "an array of %u tasks: out of memory", *count);
        return NULL;
    }
    expand(text, indexes, count);
    qsort(indexes, *count, sizeof *indexes, by_index);
    for (uint32_t i = 1; i < *count; i++)
        if (indexes[i] == indexes[i - 1]) {
            refuse_job(job, "array", "index %u stands twice", indexes[i]);
            free(indexes);
            return NULL;
        }
    return indexes;
}

/* ---- names ---- */

/* Whether `name` is among count names, `stride` bytes apart; if not it says so. */
static void check_name(struct job_reading *job, const char *key, const char *name,
                       const char *names, size_t stride, uint32_t count)
{
    const char *shown[NAMES_SHOWN];
    size_t shown_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *known = names + (size_t)i * stride;
        if (strcmp(known, name) == 0) return;
        if (shown_count < NAMES_SHOWN) shown[shown_count++] = known;
    }
    const char *nearest = text_nearest(name, shown, shown_count);
    refuse_job(job, key, "there is no '%s'%s%s%s", name, nearest ? "; did you mean '" : "",
               nearest ? nearest : "", nearest ? "'?" : "");
}

static void check_nodes(struct job_reading *job, const char *key, const char *list)
{
    const struct scenario *scenario = reading_of(job->reader)->scenario;
    for (uint32_t i = 0; list[0] && i < scenario->layout_count; i++) {
        char node[LIMIT_NAME_BYTES];
        uint32_t count;
        const char *why = node_list_check(&scenario->layouts[i], list, &count, node);
        if (why == NULL) continue;
        if (node[0])
            refuse_job(job, key, "layouts.%s has no node '%s'", scenario->layouts[i].name, node);
        else
            refuse_job(job, key, "'%s' as a host list %s", list, why);
        return;
    }
}

/* A partition for jobs that name none. */
static void check_default_partition(struct job_reading *job, const struct slurm_spec *slurm)
{
    for (uint32_t i = 0; i < slurm->partition_count; i++)
        if (slurm->partitions[i].is_default) return;
    refuse_job(job, "partition", "it names none, and no partition has Default: YES");
}

static void check_slurm_names(struct job_reading *job, const struct slurm_spec *slurm)
{
    const struct job_line *line = &job->line;
    char word[LIMIT_TARGET_BYTES];
    if (line->partition[0] == '\0') check_default_partition(job, slurm);
    for (const char *at = line->partition; list_word(&at, word, sizeof word);)
        check_name(job, "partition", word, slurm->partitions[0].name, sizeof *slurm->partitions,
                   slurm->partition_count);
    if (line->qos[0])
        check_name(job, "qos", line->qos, slurm->qos[0].name, sizeof *slurm->qos, slurm->qos_count);
    if (line->account[0] && slurm->association_count > 0)
        check_name(job, "account", line->account, slurm->associations[0].account,
                   sizeof *slurm->associations, slurm->association_count);
    if (line->reservation[0])
        check_name(job, "reservation", line->reservation,
                   slurm->reservation_count ? slurm->reservations[0].name : "",
                   sizeof *slurm->reservations, slurm->reservation_count);
    if (strpbrk(line->constraint, "*[]"))
        refuse_job(job, "constraint",
                   "'%s': counts and matching lists are not built; features "
                   "joined by & or | are",
                   line->constraint);
    check_nodes(job, "nodelist", line->nodelist);
    check_nodes(job, "exclude", line->exclude);
}

static bool has_queues(enum kube_gang gang)
{
    return gang == GANG_KUEUE || gang == GANG_VOLCANO || gang == GANG_KAI;
}

/* Words that none of the schedulers looks at: each belongs to some of the gang rules. */
static void check_gang_words(struct job_reading *job)
{
    const struct scenario *scenario = reading_of(job->reader)->scenario, *scheduler;
    const struct job_line *line = &job->line;
    bool any = false, queues = false, members = false;
    for (uint32_t i = 0; (scheduler = scheduler_at(scenario, i)) != NULL; i++) {
        if (scheduler->kind != KIND_KUBERNETES) continue;
        const enum kube_gang gang = scheduler->kube.gang;
        any = true;
        queues |= has_queues(gang);
        members |= gang != GANG_NONE && gang != GANG_KUEUE;
    }
    if (any && !queues && (line->topology_required[0] || line->topology_preferred[0]))
        refuse_job(job, "topology", "it is for gang kueue, volcano and kai");
    if (any && !queues && line->queue[0])
        refuse_job(job, "queue", "it is for gang kueue, volcano and kai");
    if (any && !members && line->min_member > 0)
        refuse_job(job, "minMember", "it is for gang coscheduling, volcano and kai");
}

static void check_kube_names(struct job_reading *job, const struct kube_spec *kube)
{
    const struct job_line *line = &job->line;
    const char *const levels[] = { line->topology_required, line->topology_preferred };
    for (size_t i = 0; i < 2; i++)
        if (levels[i][0] && has_queues(kube->gang))
            check_name(job, "topology", levels[i], kube->levels[0], sizeof kube->levels[0],
                       kube->level_count);
    if (line->queue[0] && kube->queue_count > 0)
        check_name(job, "queue", line->queue, kube->queues[0].name, sizeof *kube->queues,
                   kube->queue_count);
    if (line->min_member > (line->ask.pods ? line->ask.pods : 1))
        refuse_job(job, "minMember", "%u of %u pods", line->min_member, line->ask.pods);
}

void check_job_names(struct job_reading *job)
{
    const struct scenario *scenario = reading_of(job->reader)->scenario, *scheduler;
    const char *team = job->line.team[0] ? job->line.team : job->line.user;
    const uint64_t errors = diag_error_count(job->reader->diag);
    check_gang_words(job);
    for (uint32_t i = 0; (scheduler = scheduler_at(scenario, i)) != NULL; i++) {
        if (diag_error_count(job->reader->diag) > errors) return;
        if (scheduler->kind == KIND_SLURM && scheduler->slurm.partition_count > 0)
            check_slurm_names(job, &scheduler->slurm);
        if (scheduler->kind == KIND_KUBERNETES) check_kube_names(job, &scheduler->kube);
        if (scheduler->kind == KIND_STATIC && scheduler->team_count > 0)
            check_name(job, job->line.team[0] ? "team" : "user", team, scheduler->teams[0].name,
                       sizeof *scheduler->teams, scheduler->team_count);
    }
}
