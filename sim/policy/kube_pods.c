/* kube_pods.c - see kube_pods.h. */
#include "policy/kube_pods.h"

#include "base/assert.h"
#include "base/bits.h"
#include "policy/devices.h"
#include "policy/kube_words.h"

#include <string.h>

/* The resource of a MIG profile; a name that no node offers takes a place of its own, which none has. */
static uint32_t profile_resource(struct kube_shapes *shapes, const char *profile)
{
    for (uint32_t i = 0; i < shapes->profile_count; i++)
        if (!strcmp(shapes->profiles[i], profile)) return KUBE_EXTENDED + i;
    if (shapes->profile_count == KUBE_PROFILES) return KUBE_FRACTION - 1;
    shapes->profiles[shapes->profile_count] = profile;
    return KUBE_EXTENDED + shapes->profile_count++;
}

/* The even part of a node that so many of its GPUs have: of the node with the smallest one that holds them. */
static void share_of_nodes(const struct kube_shapes *shapes, struct kube_amounts *pod)
{
    int64_t cpu = INT64_MAX, memory = INT64_MAX;
    for (uint32_t g = 0; g < shapes->group_count; g++) {
        const struct kube_amounts *has = &shapes->groups[g].allocatable;
        if (has->of[KUBE_GPU] < pod->of[KUBE_GPU] || has->of[KUBE_GPU] == 0) continue;
        const int64_t group_cpu = has->of[KUBE_CPU] * pod->of[KUBE_GPU] / has->of[KUBE_GPU];
        const int64_t group_memory = has->of[KUBE_MEMORY] / has->of[KUBE_GPU] * pod->of[KUBE_GPU];
        if (group_cpu < cpu) cpu = group_cpu;
        if (group_memory < memory) memory = group_memory;
    }
    if (cpu == INT64_MAX) return;
    if (pod->of[KUBE_CPU] == 0) pod->of[KUBE_CPU] = cpu;
    if (pod->of[KUBE_MEMORY] == 0) pod->of[KUBE_MEMORY] = memory;
}

/* A pod's part of what the whole job asks for, in proportion to its GPUs, rounded up. */
static int64_t part_of(uint64_t all, uint64_t gpus, uint64_t of_gpus)
{
    return (int64_t)(of_gpus == 0 ? all : (all * gpus + of_gpus - 1) / of_gpus);
}

static struct kube_amounts plain_pod(const struct kube_shapes *shapes,
                                     const struct request *request, uint32_t gpus, uint32_t of_gpus)
{
    struct kube_amounts pod = { { [KUBE_GPU] = gpus, [KUBE_PODS] = 1 } };
    pod.of[KUBE_CPU] = part_of(UINT64_C(1000) * request->cores, gpus, of_gpus);
    pod.of[KUBE_MEMORY] = part_of(request->memory_bytes, gpus, of_gpus);
    if (gpus) share_of_nodes(shapes, &pod);
    return pod;
}

static void plain_pods(const struct kube_shapes *shapes, const struct request *request,
                       const struct demand *demand, struct kube_pods *pods)
{
    const uint32_t gpus = demand->nodes > 1 ? demand->held : demand->gpus;
    const uint32_t count = demand->nodes ? demand->nodes : 1;
    uint32_t big = demand->per_node, small = big;
    pods->count = count;
    pods->big_count = count;
    if (demand->even) {
        small = gpus / count;
        pods->big_count = gpus % count ? gpus % count : count;
        big = gpus % count ? small + 1 : small;
    } else if (big * count > gpus) {
        pods->big_count = count - 1;
        small = gpus - big * (count - 1);
    }
    pods->big = plain_pod(shapes, request, big, gpus);
    pods->small = plain_pod(shapes, request, small, gpus);
}

static bool asked_pods(struct kube_shapes *shapes, const struct jobs *jobs, const struct ask *ask,
                       struct arena *arena, struct kube_pods *pods)
{
    pods->count = pods->big_count = ask->pods ? ask->pods : 1;
    pods->big = pods->small =
        (struct kube_amounts){ { [KUBE_CPU] = ask->pod_cpu_milli,
                                 [KUBE_MEMORY] = (int64_t)ask->pod_memory_bytes,
                                 [KUBE_GPU] = ask->pod_gpus,
                                 [KUBE_FRACTION] = ask->gpu_milli,
                                 [KUBE_PODS] = 1 } };
    shapes->some_fractions |= ask->gpu_milli > 0;
    if (ask->instance != TEXT_NONE) {
        const uint32_t resource = profile_resource(shapes, jobs->text + ask->instance);
        pods->big.of[resource] = ask->pod_gpus ? ask->pod_gpus : 1;
        pods->big.of[KUBE_GPU] = 0;
        pods->small = pods->big;
    }
    return kube_read_wish(jobs->text + ask->node_selector, jobs->text + ask->tolerations, arena,
                          &pods->wish);
}

/* How many pods of this size an empty node of the group runs. */
static int64_t pods_in(const struct kube_amounts *allocatable, const struct kube_amounts *pod)
{
    int64_t most = allocatable->of[KUBE_PODS];
    for (uint32_t r = 0; r < KUBE_AMOUNTS; r++)
        if (r != KUBE_FRACTION && pod->of[r] > 0 && allocatable->of[r] / pod->of[r] < most)
            most = allocatable->of[r] / pod->of[r];
    if (pod->of[KUBE_FRACTION] == 0) return most;
    const int64_t parts = allocatable->of[KUBE_GPU] * (KUBE_GPU_MILLI / pod->of[KUBE_FRACTION]);
    return parts < most ? parts : most;
}

/* The words of the scheduler for what most nodes object to; constant, since results keep them. */
static const char *reason_of(const struct kube_shapes *shapes, const struct kube_pods *pods)
{
    static const struct kube_amounts nothing;
    static const struct {
        enum kube_reject why;
        uint32_t resources;
        const char *words;
    } reasons[] = {
        { REJECT_RESOURCE, 1u << KUBE_GPU | 1u << KUBE_FRACTION,
          "0 nodes are available: Insufficient nvidia.com/gpu" },
        { REJECT_RESOURCE, (1u << KUBE_FRACTION) - (1u << KUBE_EXTENDED),
          "0 nodes are available: Insufficient nvidia.com/mig" },
        { REJECT_RESOURCE, 1u << KUBE_MEMORY, "0 nodes are available: Insufficient memory" },
        { REJECT_RESOURCE, 1u << KUBE_CPU, "0 nodes are available: Insufficient cpu" },
        { REJECT_TAINT, 0, "0 nodes are available: node(s) had untolerated taint(s)" },
        { REJECT_SELECTOR, 0,
          "0 nodes are available: node(s) didn't match Pod's node affinity/selector" },
        { REJECT_AFFINITY, 0,
          "0 nodes are available: node(s) didn't match Pod's node affinity/selector" },
    };
    enum { REASONS = sizeof reasons / sizeof *reasons };
    const char *words = "0 nodes are available: too few for all pods of the job";
    uint64_t most = 0;
    for (int i = 0; i < REASONS; i++) {
        uint64_t nodes = 0;
        for (uint32_t g = 0; g < shapes->group_count; g++) {
            const struct kube_group_facts *group = &shapes->groups[g];
            const struct kube_verdict verdict =
                kube_filter(&group->facts, &pods->wish, &group->allocatable, &nothing, &pods->big);
            const bool is =
                verdict.why == reasons[i].why &&
                (verdict.why != REJECT_RESOURCE || (verdict.short_amounts & reasons[i].resources));
            if (is) nodes += group->nodes;
        }
        if (nodes <= most) continue;
        most = nodes;
        words = reasons[i].words;
    }
    return words;
}

/* Whether an empty cluster runs all pods of the class at once. */
static const char *never_of(const struct kube_shapes *shapes, const struct kube_pods *pods,
                            const bool *facts_fit)
{
    int64_t places = 0, big_places = 0;
    for (uint32_t g = 0; g < shapes->group_count; g++) {
        const struct kube_group_facts *group = &shapes->groups[g];
        if (!facts_fit[g]) continue;
        big_places += group->nodes * pods_in(&group->allocatable, &pods->big);
        places += group->nodes * pods_in(&group->allocatable, &pods->small);
    }
    const bool all = places >= pods->count && big_places >= pods->big_count;
    return all ? NULL : reason_of(shapes, pods);
}

/* GPUs that are shared out are offered as parts. */
static void offer_parts(struct kube_shapes *shapes, const struct server_group *group,
                        struct kube_amounts *allocatable)
{
    if (!devices_cut(group)) return;
    const int64_t gpus = allocatable->of[KUBE_GPU];
    allocatable->of[KUBE_GPU] = gpus * devices_per_gpu(group, "");
    for (uint32_t c = 0; group->sharing == SHARING_MIG_MIXED && c < group->cut_count; c++) {
        const char *profile = group->cuts[c].profile;
        allocatable->of[profile_resource(shapes, profile)] = gpus * devices_per_gpu(group, profile);
    }
}

static bool knows_links(const struct server_group *group)
{
    for (int a = 0; a < 32; a++)
        for (int b = 0; b < a; b++)
            if (group->link_score[a][b]) return true;
    return false;
}

/* A layout without groups has the two sockets of the key's default. */
static struct kube_sockets sockets_of(const struct server_group *group, uint32_t gpus,
                                      uint32_t cores)
{
    struct kube_sockets sockets = { .count = group && group->sockets ? group->sockets : 2 };
    ASSERT(sockets.count <= KUBE_SOCKETS);
    const uint32_t per_socket = cores / sockets.count ? cores / sockets.count : 1;
    bool said = false;
    for (uint32_t g = 0; group && g < gpus; g++)
        said |= group->core_first[g] || group->core_last[g];
    for (uint32_t g = 0; g < gpus; g++) {
        uint32_t socket = said ? group->core_first[g] / per_socket : g * sockets.count / gpus;
        if (socket >= sockets.count) socket = sockets.count - 1;
        sockets.gpus[socket] |= UINT32_C(1) << g;
    }
    return sockets;
}

static bool init_sockets(struct kube_shapes *shapes, const struct policy_view *view,
                         struct arena *arena)
{
    shapes->topology_manager = view->scenario->kube.topology_manager;
    if (shapes->topology_manager == TM_NONE) return true;
    shapes->sockets = ARENA_ARRAY(arena, struct kube_sockets, shapes->group_count);
    for (uint32_t g = 0; shapes->sockets && g < shapes->group_count; g++) {
        const struct cluster_group *nodes = &view->cluster->groups[g];
        const struct server_group *group =
            view->layout->groups && g < view->layout->group_count ? &view->layout->groups[g] : NULL;
        shapes->sockets[g] = sockets_of(group, nodes->gpus, nodes->cores_milli / 1000);
    }
    return shapes->sockets != NULL;
}

static bool init_groups(struct kube_shapes *shapes, const struct policy_view *view,
                        struct arena *arena)
{
    const struct cluster *cluster = view->cluster;
    shapes->group_count = cluster->group_count;
    if (view->layout->groups && view->layout->group_count >= cluster->group_count)
        shapes->devices = view->layout->groups;
    shapes->groups = ARENA_ARRAY(arena, struct kube_group_facts, shapes->group_count);
    shapes->links_known = ARENA_ARRAY(arena, bool, shapes->group_count);
    if (!shapes->groups || !shapes->links_known) return false;
    for (uint32_t g = 0; g < shapes->group_count; g++) {
        const struct cluster_group *group = &cluster->groups[g];
        struct kube_group_facts *facts = &shapes->groups[g];
        const bool told = view->layout->groups && g < view->layout->group_count;
        const char *labels = told ? view->layout->groups[g].labels : "";
        const char *taints = told ? view->layout->groups[g].taints : "";
        facts->nodes = group->nodes;
        facts->allocatable =
            (struct kube_amounts){ { [KUBE_CPU] = group->cores_milli,
                                     [KUBE_MEMORY] = (int64_t)group->memory_bytes,
                                     [KUBE_GPU] = group->gpus,
                                     [KUBE_FRACTION] = group->gpus ? KUBE_GPU_MILLI : 0,
                                     [KUBE_PODS] = KUBE_NODE_PODS } };
        if (!kube_read_facts(labels, taints, arena, &facts->facts)) return false;
        if (told) shapes->links_known[g] = knows_links(&view->layout->groups[g]);
        if (told) shapes->some_cut |= devices_cut(&view->layout->groups[g]);
        if (told) offer_parts(shapes, &view->layout->groups[g], &facts->allocatable);
    }
    return true;
}

const char *kube_part_profile(const struct kube_shapes *shapes, uint32_t group,
                              const struct kube_amounts *pod)
{
    if (!shapes->devices || !devices_cut(&shapes->devices[group])) return NULL;
    if (pod->of[KUBE_GPU]) return "";
    for (uint32_t i = 0; i < shapes->profile_count; i++)
        if (pod->of[KUBE_EXTENDED + i]) return shapes->profiles[i];
    return NULL;
}

/* More than one part of a shared GPU is never given to one pod, nor thousandths of it. */
static bool takes_one_part(const struct kube_shapes *shapes, uint32_t group,
                           const struct kube_amounts *pod)
{
    if (!shapes->devices || !devices_cut(&shapes->devices[group])) return true;
    int64_t parts = pod->of[KUBE_GPU];
    for (uint32_t r = KUBE_EXTENDED; r < KUBE_FRACTION; r++) parts += pod->of[r];
    return parts <= 1 && pod->of[KUBE_FRACTION] == 0;
}

/* Whether nothing but that keeps a pod from an empty node. */
static bool wants_two_parts(const struct kube_shapes *shapes, const struct kube_pods *pods)
{
    static const struct kube_amounts nothing;
    for (uint32_t g = 0; g < shapes->group_count; g++) {
        const struct kube_group_facts *group = &shapes->groups[g];
        if (pods->big.of[KUBE_FRACTION] == 0 && !takes_one_part(shapes, g, &pods->big) &&
            kube_filter(&group->facts, &pods->wish, &group->allocatable, &nothing, &pods->big)
                    .why == REJECT_NONE)
            return true;
    }
    return false;
}

struct kube_amounts kube_grant_amounts(const struct kube_shapes *shapes,
                                       const struct cluster *cluster, const struct grant *grant)
{
    struct kube_amounts amounts = { { [KUBE_CPU] = grant->cores_milli,
                                      [KUBE_MEMORY] = (int64_t)grant->memory_bytes,
                                      [KUBE_GPU] = bits_count(grant->mask),
                                      [KUBE_PODS] = 1 } };
    const struct server_group *group =
        shapes->devices ? &shapes->devices[cluster->group_of[grant->node]] : NULL;
    if (grant->share_units && (!group || !devices_cut(group))) {
        amounts.of[KUBE_GPU] = 0;
        amounts.of[KUBE_FRACTION] = grant->share_units / (CLUSTER_UNITS / KUBE_GPU_MILLI);
    }
    if (!group) return amounts;
    if (group->sharing != SHARING_MIG_MIXED || grant->share_units == 0) return amounts;
    amounts.of[KUBE_GPU] = 0;
    for (uint32_t c = 0; c < group->cut_count; c++) {
        if (group->cuts[c].slice_first != grant->slice_first) continue;
        for (uint32_t i = 0; i < shapes->profile_count; i++)
            if (!strcmp(shapes->profiles[i], group->cuts[c].profile))
                amounts.of[KUBE_EXTENDED + i] = 1;
    }
    return amounts;
}

bool kube_shapes_init(struct kube_shapes *shapes, const struct policy_view *view,
                      struct arena *arena)
{
    const uint32_t classes = view->requests->class_count;
    if (!init_groups(shapes, view, arena) || !init_sockets(shapes, view, arena)) return false;
    const size_t cells = (size_t)classes * shapes->group_count;
    shapes->pods = ARENA_ARRAY(arena, struct kube_pods, classes);
    shapes->facts_fit = ARENA_ARRAY(arena, bool, cells);
    shapes->raw_taints = ARENA_ARRAY(arena, int64_t, cells);
    shapes->raw_affinity = ARENA_ARRAY(arena, int64_t, cells);
    if (!shapes->pods || !shapes->facts_fit || !shapes->raw_taints || !shapes->raw_affinity)
        return false;
    for (uint32_t c = 0; c < classes; c++) {
        const struct request *request = &view->requests->classes[c];
        struct kube_pods *pods = &shapes->pods[c];
        const struct ask *ask =
            request->ask != ASK_NONE && view->jobs->asks ? &view->jobs->asks[request->ask] : NULL;
        const bool in_pods = ask && (ask->pods || ask->pod_gpus || ask->gpu_milli ||
                                     ask->pod_cpu_milli || ask->instance != TEXT_NONE);
        if (!in_pods) plain_pods(shapes, request, &view->demands[c], pods);
        if (in_pods && !asked_pods(shapes, view->jobs, ask, arena, pods)) return false;
        for (uint32_t g = 0; g < shapes->group_count; g++) {
            const struct kube_facts *facts = &shapes->groups[g].facts;
            const size_t cell = (size_t)c * shapes->group_count + g;
            shapes->facts_fit[cell] = kube_filter_facts(facts, &pods->wish).why == REJECT_NONE &&
                                      takes_one_part(shapes, g, &pods->big);
            shapes->raw_taints[cell] = kube_raw_taints(facts, &pods->wish);
            shapes->raw_affinity[cell] = kube_raw_affinity(facts, &pods->wish);
        }
        pods->never = never_of(shapes, pods, shapes->facts_fit + (size_t)c * shapes->group_count);
        if (pods->never && wants_two_parts(shapes, pods))
            pods->never = "UnexpectedAdmissionError: more than one part of a shared GPU "
                          "(failRequestsGreaterThanOne)";
    }
    return true;
}

struct kube_bill kube_bill_of(const struct kube_pods *pods)
{
    struct kube_bill bill;
    for (int r = 0; r < KUBE_RESOURCES; r++)
        bill.of[r] =
            pods->big_count * pods->big.of[r] + (pods->count - pods->big_count) * pods->small.of[r];
    return bill;
}

static const char *text_of(const struct policy_view *view, uint32_t offset)
{
    return view->jobs->text ? view->jobs->text + offset : "";
}

static uint32_t queue_named(const struct kube_spec *spec, const char *name)
{
    for (uint32_t q = 0; q < spec->queue_count; q++)
        if (!strcmp(spec->queues[q].name, name)) return q;
    return LIVE_NONE;
}

uint32_t kube_queue_named(const struct policy_view *view, uint32_t live)
{
    const struct kube_spec *spec = &view->scenario->kube;
    const uint32_t row = view->live->jobs[live].row;
    const struct job_words *words = view->jobs->words ? &view->jobs->words[row] : NULL;
    if (words && words->queue != TEXT_NONE) return queue_named(spec, text_of(view, words->queue));
    uint32_t queue = LIVE_NONE;
    if (words && words->user != TEXT_NONE) queue = queue_named(spec, text_of(view, words->user));
    if (queue == LIVE_NONE && view->jobs->user && view->jobs->user[row] != TEXT_NONE)
        queue = queue_named(spec, text_of(view, view->jobs->user[row]));
    if (queue == LIVE_NONE) queue = queue_named(spec, "default");
    return queue == LIVE_NONE ? 0 : queue;
}
