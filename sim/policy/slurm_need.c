/* slurm_need.c - see slurm_need.h. */
#include "policy/slurm_need.h"

#include "base/assert.h"

#include <string.h>

enum { MIB_SHIFT = 20 };

/* ---- features -------------------------------------------------------------------------------- */

static bool list_has(const char *list, const char *name, size_t bytes)
{
    for (const char *at = list; *at;) {
        const size_t length = strcspn(at, ",");
        if (length == bytes && strncmp(at, name, bytes) == 0) return true;
        at += length + (at[length] == ',');
    }
    return false;
}

/* Names joined by & and |, read from left to right without precedence, as Slurm does. */
static bool features_match(const char *constraint, const char *features)
{
    bool match = true;
    char joint = '&';
    for (const char *at = constraint; *at;) {
        const size_t bytes = strcspn(at, "&|,");
        const bool has = list_has(features, at, bytes);
        match = joint == '|' ? match || has : match && has;
        joint = at[bytes] == '|' ? '|' : '&';
        at += bytes + (at[bytes] != '\0');
    }
    return match;
}

/* Whether each name is a feature of some node. */
static bool features_known(const char *constraint, const struct slurm_nodes *nodes)
{
    for (const char *at = constraint; *at;) {
        const size_t bytes = strcspn(at, "&|,");
        bool known = false;
        for (uint32_t k = 0; k < nodes->kind_count && !known; k++)
            known = list_has(nodes->kinds[k].features, at, bytes);
        if (!known) return false;
        at += bytes + (at[bytes] != '\0');
    }
    return true;
}

/* ---- kinds of nodes -------------------------------------------------------------------------- */

/* GPUs that each node of the job must have. */
static uint32_t gpus_least(const struct slurm_need *need)
{
    uint32_t least = need->gpus_per_node;
    if (need->gpus_per_task > least) least = need->gpus_per_task;
    return least ? least : need->gpus_per_job > 0;
}

static uint32_t cores_least(const struct slurm_need *need)
{
    const uint32_t tasks = need->tasks_per_node ? need->tasks_per_node : 1;
    const uint32_t of_tasks = tasks * need->cores_per_task;
    const uint32_t of_gpus = need->cores_per_gpu * gpus_least(need);
    return of_tasks > of_gpus ? of_tasks : of_gpus;
}

static uint64_t memory_least(const struct slurm_need *need)
{
    switch (need->memory) {
    case MEMORY_PER_NODE:
        return need->memory_mib;
    case MEMORY_PER_CORE:
        return need->memory_mib * cores_least(need);
    case MEMORY_PER_GPU:
        return need->memory_mib * gpus_least(need);
    case MEMORY_IGNORED:
    case MEMORY_WHOLE_NODE:
        break;
    }
    return 0;
}

/* Bits of a kind's GPUs that go by the name: a type of GPU, or the MIG profile that they are cut into. */
static uint64_t bits_called(const struct slurm_kind *kind, const char *gpu_type)
{
    if (!*gpu_type || strcmp(gpu_type, kind->gpu_type) == 0) return kind->gpu_mask;
    uint64_t bits = 0;
    for (uint32_t b = 0; kind->cut_count && b < kind->gpus; b++)
        if (strcmp(kind->cuts[b % kind->cut_count].profile, gpu_type) == 0)
            bits |= UINT64_C(1) << b;
    return bits;
}

static void kinds_for(struct slurm_need *need, const struct slurm_nodes *nodes,
                      const char *gpu_type, const char *constraint)
{
    bool any = false;
    need->kinds = 0;
    for (uint32_t k = 0; k < nodes->kind_count; k++) {
        const struct slurm_kind *kind = &nodes->kinds[k];
        const uint64_t bits = bits_called(kind, gpu_type);
        const bool gpus = (uint32_t)bits_count_64(bits) >= gpus_least(need) &&
                          (uint64_t)kind->shards_per_gpu * kind->cards >= need->shards_per_node &&
                          (!*gpu_type || bits);
        const bool host = kind->cores >= cores_least(need) &&
                          kind->memory_mib >= memory_least(need) &&
                          features_match(constraint, kind->features);
        any |= host;
        if (gpus && host) need->kinds |= UINT64_C(1) << k;
    }
    need->gpus_lack = need->kinds == 0 && any;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void memory_say(struct slurm_need *need, enum need_memory memory, uint64_t mib)
{
    need->memory = memory;
    need->memory_mib = mib;
}

static bool has_gpus(const struct slurm_need *need)
{
    return need->gpus_per_job || need->gpus_per_node || need->gpus_per_task;
}

/* The partition's defaults go before the cluster's; a default per GPU counts for jobs with GPUs only. */
static void memory_default(struct slurm_need *need, const struct slurm_spec *slurm)
{
    const struct slurm_partition *partition = &slurm->partitions[need->partition];
    const uint64_t per_gpu = partition->def_mem_per_gpu_mib ? partition->def_mem_per_gpu_mib
                                                            : slurm->def_mem_per_gpu_mib;
    const uint64_t per_core = partition->def_mem_per_cpu_mib ? partition->def_mem_per_cpu_mib
                                                             : slurm->def_mem_per_cpu_mib;
    const uint64_t per_node = partition->def_mem_per_node_mib ? partition->def_mem_per_node_mib
                                                              : slurm->def_mem_per_node_mib;
    memory_say(need, MEMORY_WHOLE_NODE, 0);
    if (per_gpu && has_gpus(need))
        memory_say(need, MEMORY_PER_GPU, per_gpu);
    else if (per_core)
        memory_say(need, MEMORY_PER_CORE, per_core);
    else if (per_node)
        memory_say(need, MEMORY_PER_NODE, per_node);
}

static bool said(uint64_t mib)
{
    return mib != ASK_MEMORY_NONE;
}

static void memory_of_ask(struct slurm_need *need, const struct slurm_spec *slurm,
                          const struct ask *ask)
{
    need->memory = MEMORY_IGNORED;
    if (!slurm->memory_counts) return;
    if (said(ask->mem_per_gpu_mib) && ask->mem_per_gpu_mib)
        memory_say(need, MEMORY_PER_GPU, ask->mem_per_gpu_mib);
    else if (said(ask->mem_per_cpu_mib) && ask->mem_per_cpu_mib)
        memory_say(need, MEMORY_PER_CORE, ask->mem_per_cpu_mib);
    else if (said(ask->mem_mib) && ask->mem_mib)
        memory_say(need, MEMORY_PER_NODE, ask->mem_mib);
    else if (said(ask->mem_mib))
        memory_say(need, MEMORY_WHOLE_NODE, 0);
    else
        memory_default(need, slurm);
}

/* ---- tasks and nodes ------------------------------------------------------------------------- */

static void tasks_of_ask(struct slurm_need *need, const struct ask *ask)
{
    need->tasks = ask->ntasks;
    need->tasks_per_node = ask->ntasks_per_node;
    need->tasks_per_gpu = ask->ntasks_per_gpu;
    need->cores_per_task = ask->cpus_per_task ? ask->cpus_per_task : 1;
    if (need->tasks_per_gpu && need->gpus_per_job && !need->tasks)
        need->tasks = need->tasks_per_gpu * need->gpus_per_job;
    if (need->tasks_per_node && !need->tasks && need->nodes_min)
        need->tasks = need->tasks_per_node * need->nodes_min;
    if (need->gpus_per_task && !need->tasks)
        need->tasks = need->gpus_per_job ? need->gpus_per_job / need->gpus_per_task
                      : need->nodes_min  ? need->nodes_min
                                         : 1;
    if (need->gpus_per_task && !need->gpus_per_job)
        need->gpus_per_job = need->gpus_per_task * need->tasks;
}

/* Slurm 26.05 takes the number of tasks for the most nodes where none are said; before, nothing is. */
static void nodes_of_ask(struct slurm_need *need, const struct slurm_nodes *nodes)
{
    const struct slurm_spec *slurm = nodes->slurm;
    const struct slurm_partition *partition = &slurm->partitions[need->partition];
    const bool range = need->nodes_max > 0;
    if (need->nodes_min == 0) need->nodes_min = 1;
    if (need->required_count > need->nodes_min) need->nodes_min = need->required_count;
    if (need->tasks && need->tasks_per_node) {
        const uint32_t full = (need->tasks + need->tasks_per_node - 1) / need->tasks_per_node;
        if (full > need->nodes_min) need->nodes_min = full;
    }
    if (!range && need->spread && need->tasks) /* --spread-job: as many nodes as tasks */
        need->nodes_max = need->tasks < nodes->nodes ? need->tasks : nodes->nodes;
    else if (!range)
        need->nodes_max =
            slurm->compat == COMPAT_26_05 && need->tasks ? need->tasks : NEED_ANY_NODES;
    if (!range && need->nodes_max < need->nodes_min) need->nodes_max = need->nodes_min;
    if (partition->max_nodes && need->nodes_max > partition->max_nodes)
        need->nodes_max = partition->max_nodes;
    need->nodes_wanted =
        (range || (need->spread && need->tasks)) && need->nodes_max > need->nodes_min
            ? need->nodes_max
            : need->nodes_min;
    const uint32_t tasks = need->tasks > need->nodes_min ? need->tasks : need->nodes_min;
    need->cores_min = tasks * need->cores_per_task;
    need->one_node = slurm->compat == COMPAT_26_05 && need->nodes_max == 1;
}

static uint64_t *take_set(const struct slurm_nodes *nodes, struct arena *arena)
{
    return ARENA_ARRAY(arena, uint64_t, nodes->words);
}

static bool lists_of_ask(struct slurm_need *need, const struct slurm_nodes *nodes,
                         const struct ask *ask, const char *text, struct arena *arena)
{
    if (ask->nodelist) {
        uint64_t *required = take_set(nodes, arena);
        if (!required) return false;
        slurm_set_add(nodes, text + ask->nodelist, required);
        need->required = required;
        need->required_count = slurm_set_count(required, nodes->words);
    }
    if (ask->exclude) {
        uint64_t *allowed = take_set(nodes, arena);
        if (!allowed) return false;
        slurm_set_add(nodes, text + ask->exclude, allowed);
        for (uint32_t w = 0; w < nodes->words; w++) allowed[w] = nodes->all[w] & ~allowed[w];
        need->allowed = allowed;
    }
    return true;
}

/* Only nodes that are cut into instances of several profiles have GPUs of several types. */
static bool gpu_bits_of(struct slurm_need *need, const struct slurm_nodes *nodes, const char *type,
                        struct arena *arena)
{
    bool cut = false;
    for (uint32_t k = 0; k < nodes->kind_count; k++) cut |= nodes->kinds[k].cut_count > 0;
    if (!*type || !cut) return true;
    uint64_t *bits = ARENA_ARRAY(arena, uint64_t, nodes->kind_count);
    if (!bits) return false;
    for (uint32_t k = 0; k < nodes->kind_count; k++) bits[k] = bits_called(&nodes->kinds[k], type);
    need->gpu_bits = bits;
    return true;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t cores_most(const struct slurm_nodes *nodes)
{
    uint64_t cores = 1;
    for (uint32_t k = 0; k < nodes->kind_count; k++)
        if (nodes->kinds[k].cores > cores) cores = nodes->kinds[k].cores;
    return cores;
}

/* Whether no number of cores is beyond what a node, or all nodes together, have. */
static bool are_cores_enough(const struct ask *ask, const struct slurm_nodes *nodes)
{
    const uint64_t cores = cores_most(nodes), all_cores = times(cores, nodes->nodes);
    const uint64_t per_task = ask->cpus_per_task ? ask->cpus_per_task : 1;
    const uint64_t per_node = times(ask->ntasks_per_node, per_task);
    const uint64_t most = all_cores < UINT32_MAX ? all_cores : UINT32_MAX;
    return per_task <= cores && per_node <= cores && ask->cpus_per_gpu <= cores &&
           times(ask->ntasks_per_gpu, per_task) <= cores && times(ask->ntasks, per_task) <= most &&
           times(times(ask->ntasks_per_gpu, ask->gpus), per_task) <= most &&
           times(per_node, ask->nodes_min) <= most;
}

/* Numbers that no node, or not all nodes together, could ever meet; behind this check products fit 32 bits. */
static bool is_beyond(const struct ask *ask, const struct slurm_nodes *nodes)
{
    const uint64_t gpus = nodes->gpus_most, all_gpus = times(gpus, nodes->nodes);
    return !are_cores_enough(ask, nodes) || ask->gpus_per_node > gpus ||
           ask->gpus_per_task > gpus || ask->gpus > all_gpus ||
           times(ask->gpus_per_task, ask->ntasks) > all_gpus;
}

bool slurm_need_of_ask(struct slurm_need *need, const struct slurm_nodes *nodes,
                       const struct ask *ask, const char *text, uint32_t partition,
                       struct arena *arena)
{
    const struct slurm_spec *slurm = nodes->slurm;
    const struct slurm_partition *in = &slurm->partitions[partition];
    *need = (struct slurm_need){
        .partition = partition,
        .nodes_min = ask->nodes_min,
        .nodes_max = ask->nodes_max,
        .gpus_per_job = ask->gpus,
        .gpus_per_node = ask->gpus_per_node,
        .gpus_per_task = ask->gpus_per_task,
        .shards_per_node = ask->shards_per_node,
        .cores_per_gpu = ask->cpus_per_gpu,
        .segment = ask->segment,
        .switches = ask->switches,
        .switch_wait_ns = ask->switch_wait_ns,
        .whole_nodes = ask->exclusive || in->exclusive,
        .spread = ask->spread,
        .bind = ask->enforce_binding,
        .lln = slurm->lln || in->lln,
    };
    if (need->switch_wait_ns == 0 || need->switch_wait_ns > slurm->max_switch_wait_ns)
        need->switch_wait_ns = slurm->max_switch_wait_ns;
    if (!lists_of_ask(need, nodes, ask, text, arena)) return false;
    if (ask->nodes_min > nodes->nodes || is_beyond(ask, nodes)) {
        const bool few_nodes =
            ask->nodes_min > nodes->nodes; /* the only thing that is wrong with it */
        *need = (struct slurm_need){ .partition = partition,
                                     .nodes_min = few_nodes ? ask->nodes_min : 1,
                                     .nodes_max = few_nodes ? ask->nodes_max : 1,
                                     .nodes_wanted = 1,
                                     .cores_per_task = 1,
                                     .cores_min = 1,
                                     .kinds = few_nodes,
                                     .gpus_lack = !few_nodes && are_cores_enough(ask, nodes) };
        return true;
    }
    tasks_of_ask(need, ask);
    if (!need->cores_per_gpu && !ask->cpus_per_task && has_gpus(need))
        need->cores_per_gpu = in->def_cpu_per_gpu ? in->def_cpu_per_gpu : slurm->def_cpu_per_gpu;
    nodes_of_ask(need, nodes);
    memory_of_ask(need, slurm, ask);
    const char *const type = text + (ask->gpu_type ? ask->gpu_type : ask->instance);
    kinds_for(need, nodes, type, text + ask->constraint);
    need->feature_unknown = !features_known(text + ask->constraint, nodes);
    return gpu_bits_of(need, nodes, type, arena);
}

/* ---- jobs of a trace ------------------------------------------------------------------------- */

/* The smallest share of a node that one of its GPUs stands for, over the kinds that have enough GPUs. */
static void share_of_gpu(const struct slurm_nodes *nodes, uint32_t gpus, uint32_t *cores,
                         uint64_t *memory_mib)
{
    *cores = UINT32_MAX;
    *memory_mib = UINT64_MAX;
    for (uint32_t k = 0; k < nodes->kind_count; k++) {
        const struct slurm_kind *kind = &nodes->kinds[k];
        if (kind->gpus < gpus || kind->gpus == 0) continue;
        if (kind->cores / kind->gpus < *cores) *cores = kind->cores / kind->gpus;
        if (kind->memory_mib / kind->gpus < *memory_mib)
            *memory_mib = kind->memory_mib / kind->gpus;
    }
    if (*cores == UINT32_MAX) *cores = 0, *memory_mib = 0;
}

static uint32_t div_up(uint32_t value, uint32_t by)
{
    return value / by + (value % by != 0);
}

/* Cores only. */
static void need_of_cores(struct slurm_need *need, const struct request *request)
{
    need->nodes_min = need->nodes_max = request->nodes ? request->nodes : 1;
    need->tasks = need->nodes_min;
    need->cores_per_task = request->cores ? div_up(request->cores, need->nodes_min) : 1;
    if (need->memory == MEMORY_IGNORED) return;
    const uint64_t mib = request->memory_bytes >> MIB_SHIFT;
    if (mib) memory_say(need, MEMORY_PER_NODE, mib / need->nodes_min);
}

static void need_of_gpus(struct slurm_need *need, const struct slurm_nodes *nodes,
                         const struct request *request, const struct demand *demand)
{
    uint32_t cores;
    uint64_t mib;
    share_of_gpu(nodes, demand->per_node, &cores, &mib);
    need->nodes_min = need->nodes_max = demand->nodes;
    need->cores_per_task = 1;
    if ((uint64_t)demand->nodes * demand->per_node == demand->held)
        need->gpus_per_node = demand->per_node;
    else
        need->gpus_per_job = demand->held;
    need->cores_per_gpu = request->cores ? div_up(request->cores, demand->held) : cores;
    if (request->cores && request->cores / demand->held <= cores && need->cores_per_gpu > cores)
        need->cores_per_gpu = cores; /* rounding up must not make it more than a node has */
    if (need->memory == MEMORY_IGNORED) return;
    if (request->memory_bytes) {
        mib = (request->memory_bytes >> MIB_SHIFT) / demand->held;
        memory_say(need, MEMORY_PER_GPU, mib ? mib : 1);
    } else {
        memory_default(need, nodes->slurm);
        if (need->memory == MEMORY_WHOLE_NODE) memory_say(need, MEMORY_PER_GPU, mib);
    }
}

void slurm_need_of_demand(struct slurm_need *need, const struct slurm_nodes *nodes,
                          const struct request *request, const struct demand *demand,
                          uint32_t partition)
{
    const struct slurm_spec *slurm = nodes->slurm;
    *need = (struct slurm_need){ .partition = partition,
                                 .memory = MEMORY_IGNORED,
                                 .lln = slurm->lln || slurm->partitions[partition].lln,
                                 .whole_nodes = slurm->partitions[partition].exclusive };
    if (slurm->memory_counts) memory_default(need, slurm);
    if (demand->gpus == 0)
        need_of_cores(need, request);
    else
        need_of_gpus(need, nodes, request, demand);
    nodes_of_ask(need, nodes);
    kinds_for(need, nodes, "", "");
}
