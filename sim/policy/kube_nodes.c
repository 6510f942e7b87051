/* kube_nodes.c - see kube_nodes.h. */
#include "policy/kube_nodes.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/philox.h"
#include "policy/devices.h"

#include <string.h>

static uint64_t key_hash(const struct kube_node_key *key)
{
    uint64_t hash = mix64(key->group | (uint64_t)key->cpu_free << 32);
    hash = mix64(hash ^ key->memory_free);
    hash = mix64(hash ^ key->gpus ^ (uint64_t)key->gpus_free << 16 ^ (uint64_t)key->pods << 32 ^
                 (uint64_t)key->is_out << 48);
    hash = mix64(hash ^ key->pods_without_cpu ^ (uint64_t)key->pods_without_memory << 16 ^
                 (uint64_t)key->kept_for << 32);
    for (uint32_t i = 0; i < KUBE_PROFILES && key->parts[i]; i++)
        hash = mix64(hash ^ key->parts_free[i]);
    for (uint32_t i = 0; i < KUBE_NODE_GPUS && key->open.left[i]; i++)
        hash = mix64(hash ^ key->open.left[i]);
    return mix64(hash ^ key->kept_gpus ^ (uint64_t)key->kept_pods << 16 ^
                 (uint64_t)key->kept_cpu << 32);
}

static bool key_equal(const struct kube_node_key *a, const struct kube_node_key *b)
{
    return a->group == b->group && a->cpu_free == b->cpu_free && a->memory_free == b->memory_free &&
           a->gpus == b->gpus && a->gpus_free == b->gpus_free && a->pods == b->pods &&
           a->pods_without_cpu == b->pods_without_cpu &&
           a->pods_without_memory == b->pods_without_memory && a->is_out == b->is_out &&
           a->kept_for == b->kept_for && a->kept_gpus == b->kept_gpus &&
           a->kept_pods == b->kept_pods && a->kept_cpu == b->kept_cpu &&
           a->kept_milli == b->kept_milli && a->kept_memory == b->kept_memory &&
           a->kept_priority == b->kept_priority && !memcmp(&a->open, &b->open, sizeof a->open) &&
           !memcmp(a->parts, b->parts, sizeof a->parts) &&
           !memcmp(a->parts_free, b->parts_free, sizeof a->parts_free);
}

static void fill_room(const struct kube_nodes *nodes, struct kube_node_class *class)
{
    const struct kube_node_key *key = &class->key;
    struct kube_room *room = &class->room;
    room->allocatable = nodes->shapes->groups[key->group].allocatable;
    room->allocatable.of[KUBE_GPU] = key->gpus;
    room->allocatable.of[KUBE_FRACTION] = kube_open_largest(&key->open, key->gpus_free);
    room->used =
        (struct kube_amounts){ { [KUBE_CPU] = room->allocatable.of[KUBE_CPU] - key->cpu_free,
                                 [KUBE_MEMORY] =
                                     room->allocatable.of[KUBE_MEMORY] - (int64_t)key->memory_free,
                                 [KUBE_GPU] = key->gpus - key->gpus_free,
                                 [KUBE_PODS] = key->pods } };
    for (uint32_t i = 0; i < nodes->shapes->profile_count; i++) {
        room->allocatable.of[KUBE_EXTENDED + i] = key->parts[i];
        room->used.of[KUBE_EXTENDED + i] = key->parts[i] - key->parts_free[i];
    }
    room->counted = room->used;
    room->counted.of[KUBE_CPU] += key->pods_without_cpu * (int64_t)KUBE_DEFAULT_CPU_MILLI;
    room->counted.of[KUBE_MEMORY] += key->pods_without_memory * KUBE_DEFAULT_MEMORY_BYTES;
    class->kept = (struct kube_amounts){ { [KUBE_CPU] = key->kept_cpu,
                                           [KUBE_MEMORY] = (int64_t)key->kept_memory,
                                           [KUBE_GPU] = key->kept_gpus,
                                           [KUBE_FRACTION] = key->kept_milli,
                                           [KUBE_PODS] = key->kept_pods } };
}

static uint32_t class_find(struct kube_nodes *nodes, const struct kube_node_key *key)
{
    uint32_t *cell = &nodes->cells[key_hash(key) & nodes->cell_mask];
    for (uint32_t c = *cell; c != KUBE_NO_CLASS; c = nodes->classes[c].next)
        if (key_equal(&nodes->classes[c].key, key)) return c;
    uint32_t row = nodes->free_class;
    if (row != KUBE_NO_CLASS)
        nodes->free_class = nodes->classes[row].next;
    else
        row = nodes->class_count++;
    struct kube_node_class *class = &nodes->classes[row];
    *class = (struct kube_node_class){ .key = *key, .next = *cell, .place = nodes->present_count };
    fill_room(nodes, class);
    *cell = row;
    nodes->present[nodes->present_count++] = row;
    return row;
}

static void class_leave(struct kube_nodes *nodes, uint32_t row)
{
    struct kube_node_class *class = &nodes->classes[row];
    ASSERT(class->nodes > 0);
    if (--class->nodes > 0) return;
    uint32_t *at = &nodes->cells[key_hash(&class->key) & nodes->cell_mask];
    while (*at != row) at = &nodes->classes[*at].next;
    *at = class->next;
    const uint32_t last = nodes->present[--nodes->present_count];
    nodes->present[class->place] = last;
    nodes->classes[last].place = class->place;
    class->next = nodes->free_class;
    nodes->free_class = row;
}

/* The new class first, so that a class that stays is never empty in between. */
static void set_class(struct kube_nodes *nodes, uint32_t node, const struct kube_node_key *key)
{
    const uint32_t was = nodes->class_of[node];
    const uint32_t is = class_find(nodes, key);
    nodes->classes[is].nodes++;
    nodes->class_of[node] = is;
    if (was != KUBE_NO_CLASS) class_leave(nodes, was);
}

/* The parts of GPUs that are shared out; broken GPUs offer none. */
static void read_parts(const struct kube_nodes *nodes, uint32_t node, struct kube_node_key *key)
{
    const struct kube_shapes *shapes = nodes->shapes;
    if (!shapes->devices || !devices_cut(&shapes->devices[key->group])) return;
    const struct server_group *group = &shapes->devices[key->group];
    const uint16_t gpus = key->gpus;
    key->gpus = (uint16_t)(gpus * devices_per_gpu(group, ""));
    key->gpus_free = (uint16_t)devices_free(nodes->cluster, node, group, "");
    for (uint32_t i = 0; group->sharing == SHARING_MIG_MIXED && i < shapes->profile_count; i++) {
        key->parts[i] = (uint16_t)(gpus * devices_per_gpu(group, shapes->profiles[i]));
        key->parts_free[i] =
            (uint16_t)devices_free(nodes->cluster, node, group, shapes->profiles[i]);
    }
}

/* What is left of GPUs in thousandths; broken ones offer none. */
static void read_open(const struct kube_nodes *nodes, uint32_t node, struct kube_node_key *key)
{
    const struct cluster *cluster = nodes->cluster;
    const struct kube_shapes *shapes = nodes->shapes;
    if (!shapes->some_fractions || (shapes->devices && devices_cut(&shapes->devices[key->group])))
        return;
    const uint32_t *holder = &cluster->holder[(uint64_t)node * cluster->gpus_per_node];
    const uint32_t *left = &cluster->share_free[(uint64_t)node * cluster->gpus_per_node];
    for (uint32_t bit = 0; bit < cluster->gpus_per_node; bit++)
        if (holder[bit] == LIVE_SHARED && !(cluster->broken_mask[node] >> bit & 1))
            kube_open_add(&key->open, left[bit] / (uint32_t)(CLUSTER_UNITS / KUBE_GPU_MILLI));
}

/* GPUs that are given out in shares are in use, and broken ones do not exist. */
static struct kube_node_key read_key(const struct kube_nodes *nodes, uint32_t node)
{
    const struct cluster *cluster = nodes->cluster;
    const uint32_t whole = cluster->full_mask[node] & ~cluster->broken_mask[node];
    const struct kube_kept *kept = &nodes->kept[node];
    struct kube_node_key key = {
        .group = cluster->group_of[node],
        .cpu_free = cluster->cores_milli_free[node],
        .memory_free = cluster->memory_free[node],
        .gpus = (uint16_t)bits_count(whole),
        .gpus_free = (uint16_t)bits_count(cluster->free_mask[node] & whole),
        .is_out = cluster->outs[node] > 0,
        .kept_for = LIVE_NONE,
    };
    read_parts(nodes, node, &key);
    read_open(nodes, node, &key);
    if (kept->live != LIVE_NONE) {
        key.kept_for = kept->live;
        key.kept_priority = kept->priority;
        key.kept_gpus = (uint16_t)kept->amounts.of[KUBE_GPU];
        key.kept_pods = (uint16_t)kept->amounts.of[KUBE_PODS];
        key.kept_milli = (uint32_t)kept->amounts.of[KUBE_FRACTION];
        key.kept_cpu = (uint32_t)kept->amounts.of[KUBE_CPU];
        key.kept_memory = (uint64_t)kept->amounts.of[KUBE_MEMORY];
    }
    for (uint32_t row = cluster->first_on_node[node]; row != GRANT_NONE;
         row = cluster->grants[row].next_on_node) {
        key.pods++;
        key.pods_without_cpu += cluster->grants[row].cores_milli == 0;
        key.pods_without_memory += cluster->grants[row].memory_bytes == 0;
    }
    return key;
}

bool kube_nodes_init(struct kube_nodes *nodes, const struct cluster *cluster,
                     const struct kube_shapes *shapes, struct arena *arena)
{
    const uint32_t count = cluster->nodes, capacity = count + 1;
    uint32_t cells = 64;
    while (cells < 2 * capacity) cells *= 2;
    *nodes = (struct kube_nodes){
        .cluster = cluster,
        .shapes = shapes,
        .class_of = ARENA_ARRAY(arena, uint32_t, count),
        .classes = ARENA_ARRAY(arena, struct kube_node_class, capacity),
        .present = ARENA_ARRAY(arena, uint32_t, capacity),
        .cells = ARENA_ARRAY(arena, uint32_t, cells),
        .dirty = ARENA_ARRAY(arena, uint32_t, count),
        .is_dirty = ARENA_ARRAY(arena, bool, count),
        .kept = ARENA_ARRAY(arena, struct kube_kept, count),
        .cell_mask = cells - 1,
        .free_class = KUBE_NO_CLASS,
        .all_dirty = true,
    };
    if (!nodes->class_of || !nodes->classes || !nodes->present || !nodes->cells || !nodes->dirty ||
        !nodes->is_dirty || !nodes->kept)
        return false;
    for (uint32_t i = 0; i < cells; i++) nodes->cells[i] = KUBE_NO_CLASS;
    for (uint32_t node = 0; node < count; node++) {
        nodes->class_of[node] = KUBE_NO_CLASS;
        nodes->kept[node].live = LIVE_NONE;
    }
    return true;
}

void kube_nodes_touch(struct kube_nodes *nodes, uint32_t node)
{
    if (nodes->is_dirty[node]) return;
    nodes->is_dirty[node] = true;
    nodes->dirty[nodes->dirty_count++] = node;
}

void kube_nodes_touch_job(struct kube_nodes *nodes, uint32_t first_grant)
{
    const struct grant *grants = nodes->cluster->grants;
    for (uint32_t row = first_grant; row != GRANT_NONE; row = grants[row].next)
        kube_nodes_touch(nodes, grants[row].node);
}

void kube_nodes_touch_all(struct kube_nodes *nodes)
{
    nodes->all_dirty = true;
}

static void refresh_node(struct kube_nodes *nodes, uint32_t node)
{
    const struct kube_node_key key = read_key(nodes, node);
    set_class(nodes, node, &key);
}

void kube_nodes_refresh(struct kube_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->dirty_count; i++) {
        if (!nodes->all_dirty) refresh_node(nodes, nodes->dirty[i]);
        nodes->is_dirty[nodes->dirty[i]] = false;
    }
    nodes->dirty_count = 0;
    for (uint32_t node = 0; nodes->all_dirty && node < nodes->cluster->nodes; node++)
        refresh_node(nodes, node);
    nodes->all_dirty = false;
}

void kube_nodes_take(struct kube_nodes *nodes, uint32_t node, const struct kube_amounts *pod)
{
    struct kube_node_key key = nodes->classes[nodes->class_of[node]].key;
    key.cpu_free -= (uint32_t)pod->of[KUBE_CPU];
    key.memory_free -= (uint64_t)pod->of[KUBE_MEMORY];
    key.gpus_free = (uint16_t)(key.gpus_free - pod->of[KUBE_GPU]);
    for (uint32_t i = 0; i < nodes->shapes->profile_count; i++)
        key.parts_free[i] = (uint16_t)(key.parts_free[i] - pod->of[KUBE_EXTENDED + i]);
    const uint32_t milli = (uint32_t)pod->of[KUBE_FRACTION];
    const bool has_room = milli == 0 || kube_open_take(&key.open, &key.gpus_free, milli);
    ASSERT(has_room);
    key.pods++;
    key.pods_without_cpu += pod->of[KUBE_CPU] == 0;
    key.pods_without_memory += pod->of[KUBE_MEMORY] == 0;
    set_class(nodes, node, &key);
}

void kube_nodes_keep(struct kube_nodes *nodes, uint32_t node, uint32_t live, int32_t priority,
                     const struct kube_amounts *pod)
{
    struct kube_kept *kept = &nodes->kept[node];
    if (kept->live != live) *kept = (struct kube_kept){ .live = live, .priority = priority };
    for (uint32_t r = 0; r < KUBE_AMOUNTS; r++) kept->amounts.of[r] += pod->of[r];
    kube_nodes_touch(nodes, node);
}

void kube_nodes_unkeep(struct kube_nodes *nodes, uint32_t node, uint32_t live,
                       const struct kube_amounts *pod)
{
    struct kube_kept *kept = &nodes->kept[node];
    if (kept->live != live) return;
    for (uint32_t r = 0; r < KUBE_AMOUNTS; r++) kept->amounts.of[r] -= pod->of[r];
    if (kept->amounts.of[KUBE_PODS] <= 0) kept->live = LIVE_NONE;
    kube_nodes_touch(nodes, node);
}

void kube_nodes_unkeep_all(struct kube_nodes *nodes, uint32_t node, uint32_t live)
{
    if (nodes->kept[node].live != live) return;
    nodes->kept[node].live = LIVE_NONE;
    kube_nodes_touch(nodes, node);
}
