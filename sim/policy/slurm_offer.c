/* slurm_offer.c - what a node can give to a job: cores, tasks and GPUs (see slurm_choose.h).
 *
 * Where GPUs have Cores=, cores and GPUs are counted by socket, the socket with most free cores first: sockets are
 * taken until there are GPUs enough, and the job's cores come from these. In the first pass no others may be used;
 * in the second they fill up what is missing. Nodes without Cores= have one pool of each. */
#include "policy/slurm_choose.h"

#include <string.h>

enum { RANK_WEIGHT_SHIFT = 16, RANK_GPUS_MOST = 255 };
#define RANK_COMPLETING UINT64_C(0x100)
#define RANK_ASLEEP     (UINT64_C(1) << 56)
#define TASKS_ANY       UINT32_MAX

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}
static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t cores_per_node_least(const struct slurm_need *need)
{
    return need->cores_per_task * most(need->tasks_per_node, 1);
}

static bool has_gpus(const struct slurm_need *need)
{
    return need->gpus_per_node || need->gpus_per_job || need->gpus_per_task;
}

/* ---- what there is --------------------------------------------------------------------------- */

/* Cores that jobs without GPUs can use: whole tasks only. */
static uint32_t cores_of_tasks(const struct slurm_need *need, uint32_t free)
{
    uint32_t tasks = free / need->cores_per_task;
    if (need->tasks_per_node && tasks < need->tasks_per_node) return 0;
    if (need->tasks_per_node && !need->whole_nodes) tasks = least(tasks, need->tasks_per_node);
    return tasks * need->cores_per_task;
}

/* Cuts the cores to those that there is memory for; 0: too little. */
static uint32_t cores_of_memory(const struct choice *choice, uint32_t node, uint32_t cores)
{
    const struct slurm_need *need = choice->need;
    const uint64_t free = choice->picture->memory_mib[node];
    switch (need->memory) {
    case MEMORY_WHOLE_NODE:
        return free == slurm_kind_of(choice->nodes, node)->memory_mib ? cores : 0;
    case MEMORY_PER_NODE:
        return free >= need->memory_mib ? cores : 0;
    case MEMORY_PER_CORE: {
        const uint64_t fit = free / need->memory_mib;
        if (fit >= cores) return cores;
        if (need->whole_nodes) return 0;
        cores = (uint32_t)fit - (uint32_t)fit % need->cores_per_task;
        return cores >= need->tasks_per_node ? cores : 0;
    }
    case MEMORY_IGNORED:
    case MEMORY_PER_GPU:
        break;
    }
    return cores;
}

/* Free GPUs of sockets that have a free core. */
static uint64_t bound_gpus(const struct choice *choice, uint32_t node)
{
    const struct slurm_kind *kind = slurm_kind_of(choice->nodes, node);
    uint64_t gpus = free_gpus(choice, node);
    for (uint32_t s = 0; kind->near_cores && s < kind->sockets; s++)
        if (!choice->picture->socket_cores[(size_t)node * choice->nodes->sockets_most + s])
            gpus &= ~(uint64_t)kind->gpus_of_socket[s];
    return gpus;
}

/* GPUs that are free, and the most that the job may want; false: too few. */
static bool count_gpus(const struct choice *choice, uint32_t node, struct offer *offer)
{
    const struct slurm_need *need = choice->need;
    uint32_t free =
        (uint32_t)bits_count_64(need->bind ? bound_gpus(choice, node) : free_gpus(choice, node));
    uint32_t cap = 0, min = need->whole_nodes ? free : most(need->gpus_per_node, 1);
    min = most(min, need->gpus_per_task * most(need->tasks_per_node, 1));
    if (!need->whole_nodes) cap = need->gpus_per_node ? need->gpus_per_node : need->gpus_per_job;
    if (need->memory == MEMORY_PER_GPU && need->memory_mib) {
        const uint64_t fit = choice->picture->memory_mib[node] / need->memory_mib;
        if (fit < free) free = (uint32_t)fit;
        if (!cap || fit < cap) cap = (uint32_t)fit;
        if (cap == 0) return false;
    }
    const uint32_t per_gpu =
        need->cores_per_gpu ? need->cores_per_gpu : need->tasks_per_gpu * need->cores_per_task;
    if (per_gpu) {
        const uint32_t fit = offer->cores / per_gpu;
        if (!cap || fit < cap) cap = fit;
        if (cap == 0) return false;
    }
    offer->gpus_free = free;
    offer->gpus_cap = cap;
    if (need->whole_nodes && min < need->gpus_per_node) return false;
    return free >= min && free > 0 && (!cap || cap >= min);
}

static uint64_t rank_of(const struct choice *choice, uint32_t node, const struct offer *offer)
{
    const struct slurm_picture *picture = choice->picture;
    uint64_t rank = (uint64_t)slurm_kind_of(choice->nodes, node)->weight << RANK_WEIGHT_SHIFT;
    if (!choice->how->future && slurm_set_has(picture->completing, node)) rank |= RANK_COMPLETING;
    if (slurm_set_has(picture->asleep, node)) rank |= RANK_ASLEEP;
    if (!has_gpus(choice->need)) return rank;
    /* On nodes with Cores= only GPUs of sockets with a free core count as near. */
    const uint32_t far =
        (uint32_t)bits_count_64(free_gpus(choice, node) & ~bound_gpus(choice, node));
    uint32_t near = offer->gpus_free - least(far, offer->gpus_free);
    if (choice->need->bind) near = offer->gpus_free;
    if (offer->gpus_cap) near = least(near, offer->gpus_cap);
    return rank | (RANK_GPUS_MOST - least(near, RANK_GPUS_MOST));
}

static bool make(const struct choice *choice, uint32_t node)
{
    const struct slurm_need *need = choice->need;
    const struct slurm_picture *picture = choice->picture;
    struct offer *offer = offer_of(choice, node);
    *offer = (struct offer){ .cores = picture->cores[node] };
    if (!(need->kinds >> choice->nodes->kind_of[node] & 1)) return false;
    if (need->whole_nodes && picture->jobs[node]) return false;
    if (!has_gpus(need)) offer->cores = cores_of_tasks(need, offer->cores);
    uint32_t at_least = cores_per_node_least(need);
    if (need->nodes_max == 1 && need->tasks) /* all tasks on it */
        at_least = most(at_least, need->tasks * need->cores_per_task);
    if (offer->cores < at_least) return false;
    if (has_gpus(need) && !count_gpus(choice, node, offer)) return false;
    if (need->shards_per_node && shard_pick(choice, node) == NODE_NONE) return false;
    offer->cores = cores_of_memory(choice, node, offer->cores);
    offer->rank = rank_of(choice, node, offer);
    return offer->cores > 0;
}

/* Nothing that make() looks at tells the nodes apart. */
static bool are_alike(const struct choice *choice, uint32_t a, uint32_t b)
{
    const struct slurm_picture *picture = choice->picture;
    return choice->nodes->kind_of[a] == choice->nodes->kind_of[b] &&
           picture->cores[a] == picture->cores[b] &&
           picture->memory_mib[a] == picture->memory_mib[b] &&
           bits_count_64(free_gpus(choice, a)) == bits_count_64(free_gpus(choice, b)) &&
           (picture->jobs[a] == 0) == (picture->jobs[b] == 0) &&
           slurm_set_has(picture->completing, a) == slurm_set_has(picture->completing, b) &&
           slurm_set_has(picture->asleep, a) == slurm_set_has(picture->asleep, b) &&
           !choice->need->shards_per_node && !slurm_kind_of(choice->nodes, a)->near_cores;
}

bool offer_make(const struct choice *choice, uint32_t node)
{
    struct slurm_chooser *chooser = choice->chooser;
    if (chooser->made != NODE_NONE && chooser->made != node &&
        are_alike(choice, node, chooser->made)) {
        *offer_of(choice, node) = *offer_of(choice, chooser->made);
        return chooser->made_usable;
    }
    chooser->made = node;
    return chooser->made_usable = make(choice, node);
}

/* ---- what counts now ------------------------------------------------------------------------- */

struct tasks {
    uint32_t min, max;
};

/* How many tasks the node must and may take, by cores alone. */
static struct tasks tasks_here(const struct choice *choice, uint32_t cores)
{
    const struct slurm_need *need = choice->need;
    const bool one_number = need->nodes_min == need->nodes_max;
    struct tasks tasks = { 1, TASKS_ANY };
    if (need->tasks_per_node)
        tasks = (struct tasks){ need->tasks_per_node, need->tasks_per_node };
    else if (need->tasks_per_gpu && one_number)
        tasks.min = tasks.max = need->tasks / need->nodes_min;
    else if (need->tasks_per_gpu)
        tasks = (struct tasks){ need->tasks_per_gpu, need->tasks };
    else if (need->nodes_max == 1 && need->tasks)
        tasks.min = tasks.max = need->tasks;
    else if (need->tasks == 1 || (need->tasks == need->nodes_min && one_number))
        tasks.max = 1;
    const uint32_t fit = cores / need->cores_per_task;
    if (fit < tasks.min)
        tasks.max = 0;
    else
        tasks.max = least(tasks.max, fit);
    if (need->tasks) tasks.max = least(tasks.max, need->tasks);
    return tasks;
}

/* Cores that go with each GPU; `soft`: a wish of the first pass, derived from equal shares. */
static uint32_t cores_with_gpu(const struct choice *choice)
{
    const struct slurm_need *need = choice->need;
    if (need->cores_per_gpu) return need->cores_per_gpu;
    if (need->tasks_per_gpu) return need->tasks_per_gpu * need->cores_per_task;
    if (!choice->first_pass || choice->nodes->slurm->compat == COMPAT_22_05) return 0;
    if (!need->tasks || !need->gpus_per_job) return 0;
    if (need->tasks >= need->gpus_per_job && need->tasks % need->gpus_per_job == 0)
        return need->tasks / need->gpus_per_job * need->cores_per_task;
    if (need->gpus_per_job % need->tasks) return 0;
    const uint32_t per_task = need->gpus_per_job / need->tasks;
    return need->cores_per_task % per_task ? 0 : need->cores_per_task / per_task;
}

/* The most GPUs that the job may take here, leaving one for each node still to come; 0 = no bound; false: the node
 * cannot serve a task. */
static bool gpus_most_here(const struct choice *choice, const struct offer *offer,
                           const struct tasks *tasks, uint32_t *bound)
{
    const struct slurm_need *need = choice->need;
    const bool leave = choice->nodes->slurm->compat != COMPAT_22_05;
    int64_t rest = 0;
    if (need->gpus_per_job && choice->gpus_taken < need->gpus_per_job) {
        rest = (int64_t)need->gpus_per_job - choice->gpus_taken;
        if (leave && choice->nodes_min_left > 1) rest -= choice->nodes_min_left - 1;
        if (rest <= 0) rest = 1;
    } else if (need->gpus_per_job && leave) {
        rest = need->gpus_per_node ? need->gpus_per_node : most(need->gpus_per_task, 1);
    }
    if (need->gpus_per_task && leave) {
        if ((int64_t)need->gpus_per_task * tasks->min > rest) return false;
        const int64_t of_tasks = (int64_t)need->gpus_per_task * tasks->max;
        if (of_tasks < rest) rest = of_tasks;
    }
    *bound = offer->gpus_cap;
    if (*bound && rest && rest < *bound) *bound = (uint32_t)rest;
    return !*bound || need->gpus_per_node <= *bound;
}

/* Cores and GPUs by socket. */
struct pools {
    uint32_t sockets,
        wanted; /* wanted: a bit a socket whose GPUs the job uses                       */
    uint16_t cores[SLURM_SOCKETS];
    uint32_t gpus[SLURM_SOCKETS];
    uint32_t cores_total, gpus_total;
};

static void pools_read(const struct choice *choice, uint32_t node, const struct offer *offer,
                       struct pools *pools)
{
    const struct slurm_kind *kind = slurm_kind_of(choice->nodes, node);
    if (!kind->near_cores) {
        *pools = (struct pools){ .sockets = 1, .wanted = 1 };
        pools->cores[0] = (uint16_t)least(offer->cores, UINT16_MAX);
        pools->cores_total = offer->cores;
        pools->gpus_total = pools->gpus[0] = offer->gpus_free;
        return;
    }
    *pools = (struct pools){ .sockets = kind->sockets };
    const uint16_t *free =
        choice->picture->socket_cores + (size_t)node * choice->nodes->sockets_most;
    for (uint32_t s = 0; s < kind->sockets; s++) {
        pools->cores[s] = free[s];
        pools->cores_total += free[s];
        pools->gpus[s] =
            (uint32_t)bits_count_64(choice->picture->free_mask[node] & kind->gpus_of_socket[s]);
    }
}

/* Sockets by free cores, most first, then by index. */
static void by_cores(const struct pools *pools, uint32_t *order)
{
    for (uint32_t i = 0; i < pools->sockets; i++) {
        uint32_t at = i;
        for (; at > 0 && pools->cores[order[at - 1]] < pools->cores[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* Chooses the sockets: from the one with most free cores on until there are GPUs enough. */
static void pools_choose(const struct choice *choice, struct pools *pools, uint32_t bound,
                         uint32_t cores_min, uint32_t per_gpu)
{
    const bool strict = choice->first_pass || choice->need->bind;
    const bool old = choice->nodes->slurm->compat == COMPAT_22_05;
    uint32_t order[SLURM_SOCKETS], total = pools->cores_total;
    bool enough = false;
    by_cores(pools, order);
    pools->cores_total = pools->gpus_total = 0;
    for (uint32_t i = 0; i < pools->sockets; i++) {
        const uint32_t s = order[i];
        uint32_t gpus = pools->gpus[s];
        if (strict && per_gpu) gpus = least(gpus, pools->cores[s] / per_gpu);
        if (gpus == 0 && choice->first_pass && total > cores_min) {
            const uint32_t drop = least(total - cores_min, pools->cores[s]);
            pools->cores[s] = (uint16_t)(pools->cores[s] - drop);
            total -= drop;
        }
        pools->cores_total += pools->cores[s];
        if (strict && pools->cores[s] == 0) continue;
        pools->gpus_total += gpus;
        if (!enough && (gpus || old)) pools->wanted |= UINT32_C(1) << s;
        enough |= bound && pools->gpus_total >= bound;
    }
}

/* No cores of other sockets. */
static void pools_confine(struct pools *pools)
{
    for (uint32_t s = 0; s < pools->sockets; s++)
        if (!(pools->wanted >> s & 1)) {
            pools->cores_total -= pools->cores[s];
            pools->cores[s] = 0;
        }
}

/* Gives cores back until `keep` are left: first those of sockets whose GPUs are not used, then evenly. */
static void pools_trim(struct pools *pools, uint32_t keep)
{
    for (uint32_t s = 0; s < pools->sockets && pools->cores_total > keep; s++) {
        if (pools->wanted >> s & 1) continue;
        const uint32_t drop = least(pools->cores_total - keep, pools->cores[s]);
        pools->cores[s] = (uint16_t)(pools->cores[s] - drop);
        pools->cores_total -= drop;
    }
    while (pools->cores_total > keep) {
        uint32_t fullest = pools->sockets;
        for (uint32_t s = 0; s < pools->sockets; s++)
            if (pools->wanted >> s & 1 && pools->cores[s] &&
                (fullest == pools->sockets || pools->cores[s] > pools->cores[fullest]))
                fullest = s;
        if (fullest == pools->sockets) break;
        pools->cores[fullest]--, pools->cores_total--;
    }
}

/* Cuts tasks and GPUs to each other; false: no task is left. */
static bool match_tasks(const struct choice *choice, struct tasks *tasks, uint32_t *gpus,
                        uint32_t per_gpu)
{
    const struct slurm_need *need = choice->need;
    if (*gpus == 0 || need->gpus_per_node > *gpus || need->gpus_per_task > *gpus) return false;
    if (per_gpu && choice->nodes->slurm->compat != COMPAT_22_05) {
        const uint32_t cores = per_gpu * *gpus;
        tasks->max = cores < tasks->min * need->cores_per_task || cores < cores_per_node_least(need)
                         ? tasks->min
                         : least(tasks->max, cores / need->cores_per_task);
    }
    if (need->gpus_per_task) {
        tasks->max = least(tasks->max, *gpus / need->gpus_per_task);
        if (!need->gpus_per_node) *gpus = least(*gpus, tasks->max * need->gpus_per_task);
    }
    if (need->tasks_per_gpu) {
        *gpus = need->gpus_per_node ? *gpus : least(*gpus, tasks->max / need->tasks_per_gpu);
        tasks->max = least(tasks->max, *gpus * need->tasks_per_gpu);
    }
    tasks->max -= tasks->max % tasks->min;
    return tasks->max > 0;
}

/* Cores that the tasks and GPUs want; tasks that have no cores are dropped. */
static uint32_t cores_wanted(const struct choice *choice, struct tasks *tasks, uint32_t *gpus,
                             uint32_t per_gpu, uint32_t cores)
{
    const struct slurm_need *need = choice->need;
    while (tasks->max >= tasks->min && tasks->max * need->cores_per_task > cores) {
        tasks->max--;
        if (need->gpus_per_node) continue;
        if (need->gpus_per_task) *gpus = least(*gpus, tasks->max * need->gpus_per_task);
        if (need->tasks_per_gpu) *gpus = least(*gpus, tasks->max / need->tasks_per_gpu);
    }
    uint32_t wanted = tasks->max * need->cores_per_task;
    if (!per_gpu) return wanted;
    const uint32_t count = need->gpus_per_node   ? need->gpus_per_node
                           : need->gpus_per_task ? need->gpus_per_task * tasks->max
                                                 : most(*gpus, 1);
    tasks->max = least(tasks->max, count * per_gpu);
    return most(wanted, count * per_gpu);
}

/* With GPUs. Returns the cores that count; 0 = the node cannot be used. */
static uint32_t weigh_gpus(const struct choice *choice, uint32_t node, struct offer *offer,
                           struct tasks tasks, struct pools *pools)
{
    const struct slurm_need *need = choice->need;
    const bool old = choice->nodes->slurm->compat == COMPAT_22_05;
    const bool near = slurm_kind_of(choice->nodes, node)->near_cores;
    uint32_t bound, avail = offer->cores;
    const uint32_t per_gpu = cores_with_gpu(choice);
    if (tasks.max == 0 || !gpus_most_here(choice, offer, &tasks, &bound)) return 0;
    pools_read(choice, node, offer, pools);
    if (near)
        pools_choose(choice, pools, bound ? bound : need->gpus_per_node,
                     most(tasks.min, 1) * need->cores_per_task, per_gpu);
    avail = least(avail, pools->cores_total);
    uint32_t gpus = pools->gpus_total;
    if (per_gpu) bound = bound ? least(bound, avail / per_gpu) : avail / per_gpu;
    if (per_gpu || (bound && !old)) gpus = least(gpus, bound);
    if (need->gpus_per_node && !old) gpus = least(gpus, need->gpus_per_node);
    if (!match_tasks(choice, &tasks, &gpus, per_gpu)) return 0;
    if (near && (choice->first_pass || need->bind)) {
        pools_confine(pools);
        avail = least(avail, pools->cores_total);
    }
    uint32_t wanted = cores_wanted(choice, &tasks, &gpus, per_gpu, pools->cores_total);
    if (near && need->bind) {
        wanted = most(wanted, (uint32_t)bits_count(pools->wanted)); /* a core on each socket */
        offer->cores_least = wanted;
    }
    if (tasks.max < tasks.min || wanted > pools->cores_total) return 0;
    pools_trim(pools, wanted);
    avail = least(avail, pools->cores_total);
    offer->gpus = old ? offer->gpus_free : least(gpus, offer->gpus_free);
    if (per_gpu) {
        offer->gpus = least(offer->gpus, avail / per_gpu);
        if (need->gpus_per_node > offer->gpus || need->gpus_per_task > offer->gpus) return 0;
    }
    offer->tasks = tasks.max;
    if (need->cores_per_gpu) return avail;
    return least(avail, most(tasks.max * need->cores_per_task, offer->cores_least));
}

static void weigh(const struct choice *choice, uint32_t node)
{
    struct offer *offer = offer_of(choice, node);
    const struct tasks tasks = tasks_here(choice, offer->cores);
    struct pools pools;
    offer->tasks = tasks.max;
    if (choice->need->shards_per_node)
        offer->avail = least(offer->cores, tasks.max * choice->need->cores_per_task);
    else if (has_gpus(choice->need))
        offer->avail = weigh_gpus(choice, node, offer, tasks, &pools);
    else
        offer->avail = tasks.max ? offer->cores : 0;
}

void offer_weigh(const struct choice *choice, uint32_t node)
{
    struct slurm_chooser *chooser = choice->chooser;
    struct offer *offer = offer_of(choice, node);
    const struct offer *like =
        chooser->weighed == NODE_NONE ? NULL : offer_of(choice, chooser->weighed);
    if (like && like != offer && chooser->weighed_first_pass == choice->first_pass &&
        chooser->weighed_nodes_left == choice->nodes_min_left &&
        chooser->weighed_gpus == choice->gpus_taken && like->cores == offer->cores &&
        like->gpus_free == offer->gpus_free && like->gpus_cap == offer->gpus_cap &&
        !slurm_kind_of(choice->nodes, node)->near_cores &&
        !slurm_kind_of(choice->nodes, chooser->weighed)->near_cores) {
        offer->avail = like->avail;
        offer->gpus = like->gpus;
        offer->tasks = like->tasks;
        return;
    }
    weigh(choice, node);
    chooser->weighed = node;
    chooser->weighed_first_pass = choice->first_pass;
    chooser->weighed_nodes_left = choice->nodes_min_left;
    chooser->weighed_gpus = choice->gpus_taken;
}

void offer_sockets(const struct choice *choice, uint32_t node, uint32_t gpus, uint32_t used,
                   uint16_t *taken)
{
    const struct slurm_kind *kind = slurm_kind_of(choice->nodes, node);
    struct offer offer = *offer_of(choice, node);
    struct pools pools = { 0 };
    offer.gpus_cap = gpus;
    struct choice alone = *choice;
    alone.gpus_taken = 0;
    alone.nodes_min_left = 1;
    if (!has_gpus(choice->need) ||
        !weigh_gpus(&alone, node, &offer, tasks_here(choice, offer.cores), &pools)) {
        uint16_t free[SLURM_SOCKETS];
        memcpy(free, choice->picture->socket_cores + (size_t)node * choice->nodes->sockets_most,
               kind->sockets * sizeof *free);
        slurm_sockets_take(kind, 0, used, free, taken);
        return;
    }
    pools_trim(&pools, used);
    memcpy(taken, pools.cores, kind->sockets * sizeof *taken);
}
