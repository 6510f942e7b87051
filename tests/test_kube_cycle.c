/* test_kube_cycle.c - policy/kube_cycle against a scheduler that looks at each node by itself. */
#include "policy/kube_cycle.h"

#include "base/bits.h"
#include "tests/near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_MOST = 6, NODES_MOST = 260 };

/* A cluster of two groups with random pods, as the policy sees it. */
struct world {
    struct arena *arena;
    struct cluster cluster;
    struct scenario *scenario;
    struct layout layout;
    struct server_group groups[2];
    struct jobs jobs;
    struct ask asks[CLASSES_MOST];
    struct request requests[CLASSES_MOST];
    struct request_table table;
    struct demand demands[CLASSES_MOST];
    struct policy_view view;
    struct kube_shapes shapes;
    struct kube_nodes nodes;
    struct kube_cycle cycle;
};

static void any_group(struct server_group *group, uint64_t seed, uint32_t g)
{
    *group = (struct server_group){ .nodes_per_server = 1 };
    snprintf(group->labels, sizeof group->labels, "kind=%u", g);
    if (any(seed, 20 + g) < 0.4)
        snprintf(group->taints, sizeof group->taints, "spot:PreferNoSchedule");
    else if (any(seed, 20 + g) < 0.6)
        snprintf(group->taints, sizeof group->taints, "own:NoSchedule");
}

static void any_ask(struct world *world, uint64_t seed, uint32_t c)
{
    static const char texts[] = "\0kind=1\0spot\0own";
    world->jobs.text = (char *)(uintptr_t)texts;
    world->asks[c] =
        (struct ask){ .pods = 1,
                      .pod_gpus = any_count(seed, 30 + c, 0, 5),
                      .pod_cpu_milli = 1000 * any_count(seed, 40 + c, 0, 20),
                      .pod_memory_bytes = (uint64_t)any_count(seed, 50 + c, 0, 20) << 30,
                      .node_selector = any(seed, 60 + c) < 0.2 ? 1 : 0,
                      .tolerations = any(seed, 70 + c) < 0.3   ? 8
                                     : any(seed, 70 + c) < 0.6 ? 13
                                                               : 0 };
    world->requests[c] = (struct request){ .gpus = world->asks[c].pod_gpus, .ask = c };
}

static void any_profile(struct kube_profile *profile, uint64_t seed)
{
    struct kube_spec spec;
    kube_defaults(&spec);
    *profile = spec.profile;
    profile->strategy = (enum fit_strategy)any_count(seed, 80, 0, 2);
    profile->fit_weight[KUBE_GPU] = any_count(seed, 81, 0, 5);
    profile->balanced = (enum balanced_version)any_count(seed, 82, 0, 1);
    profile->balanced_resource[KUBE_GPU] = any(seed, 83) < 0.3;
    profile->shape_count = 2;
    profile->shape[1].utilization = 100;
    profile->shape[1].score = 10;
    profile->percentage_of_nodes_to_score = any(seed, 84) < 0.3 ? any_count(seed, 85, 1, 100) : 0;
}

static void any_claims(struct world *world, uint64_t seed)
{
    static const struct demand no_demand;
    struct cluster *cluster = &world->cluster;
    for (uint32_t i = 0; i < cluster->nodes * 3; i++) {
        const uint32_t node = any_count(seed, 1000 + 3 * i, 0, cluster->nodes - 1);
        const struct ask *ask = &world->asks[any_count(seed, 1001 + 3 * i, 0, CLASSES_MOST - 1)];
        if (cluster_node_free(cluster, node) < (int)ask->pod_gpus ||
            cluster->cores_milli_free[node] < ask->pod_cpu_milli ||
            cluster->memory_free[node] < ask->pod_memory_bytes)
            continue;
        const struct part part = { .node = node,
                                   .gpus = ask->pod_gpus,
                                   .cores_milli = ask->pod_cpu_milli,
                                   .memory_bytes = ask->pod_memory_bytes };
        cluster_claim(cluster, i, &part, 1, &no_demand);
        if (any(seed, 1002 + 3 * i) < 0.02) cluster_node_out(cluster, node);
    }
}

static struct world *make_world(uint64_t seed)
{
    struct world *world = calloc(1, sizeof *world);
    world->arena = arena_create(UINT64_C(1) << 30);
    world->scenario = calloc(1, sizeof *world->scenario);
    any_profile(&world->scenario->kube.profile, seed);
    const uint32_t nodes = any_count(seed, 1, 2, NODES_MOST),
                   first = any_count(seed, 2, 1, nodes - 1);
    const struct cluster_group groups[] = {
        { .nodes = first, .gpus = 8, .cores_milli = 64000, .memory_bytes = UINT64_C(64) << 30 },
        { .nodes = nodes - first,
          .gpus = 4,
          .cores_milli = 48000,
          .memory_bytes = UINT64_C(96) << 30 }
    };
    assert_true(cluster_init(&world->cluster, world->arena,
                             (struct cluster_size){ .nodes = nodes,
                                                    .gpus_per_node = 8,
                                                    .nodes_per_leaf = nodes,
                                                    .hosted = true,
                                                    .groups = groups,
                                                    .group_count = 2 }));
    for (uint32_t g = 0; g < 2; g++) any_group(&world->groups[g], seed, g);
    for (uint32_t c = 0; c < CLASSES_MOST; c++) any_ask(world, seed, c);
    world->layout = (struct layout){ .groups = world->groups, .group_count = 2 };
    world->jobs.asks = world->asks;
    world->table =
        (struct request_table){ .classes = world->requests, .class_count = CLASSES_MOST };
    world->view = (struct policy_view){ .cluster = &world->cluster,
                                        .scenario = world->scenario,
                                        .layout = &world->layout,
                                        .jobs = &world->jobs,
                                        .requests = &world->table,
                                        .demands = world->demands,
                                        .key = seed };
    any_claims(world, seed);
    assert_true(
        kube_shapes_init(&world->shapes, &world->view, world->arena) &&
        kube_nodes_init(&world->nodes, &world->cluster, &world->shapes, world->arena) &&
        kube_cycle_init(&world->cycle, &world->view, &world->shapes, &world->nodes, world->arena));
    kube_nodes_refresh(&world->nodes);
    return world;
}

static void drop_world(struct world *world)
{
    cluster_clear(&world->cluster);
    arena_destroy(world->arena);
    free(world->scenario);
    free(world);
}

/* One node as kubelet and scheduler would add it up. */
static struct kube_room naive_room(const struct world *world, uint32_t node)
{
    const struct cluster *cluster = &world->cluster;
    struct kube_room room = { .allocatable =
                                  world->shapes.groups[cluster->group_of[node]].allocatable };
    for (uint32_t row = cluster->first_on_node[node]; row != GRANT_NONE;
         row = cluster->grants[row].next_on_node) {
        const struct grant *grant = &cluster->grants[row];
        const struct kube_amounts pod = { { grant->cores_milli, (int64_t)grant->memory_bytes,
                                            bits_count(grant->mask), 1 } };
        const struct kube_amounts counted = kube_counted(&pod);
        for (uint32_t r = 0; r < KUBE_AMOUNTS; r++) {
            room.used.of[r] += pod.of[r];
            room.counted.of[r] += counted.of[r];
        }
    }
    return room;
}

/* Walks from `start`, filters and scores node by node; marks the nodes that may be chosen. Returns how many were
 * looked at. */
static uint32_t naive_cycle(const struct world *world, uint32_t c, uint32_t start, bool *may)
{
    const uint32_t nodes = world->cluster.nodes;
    const uint32_t wanted =
        kube_nodes_to_find(nodes, world->scenario->kube.profile.percentage_of_nodes_to_score);
    const struct kube_wish *wish = &world->shapes.pods[c].wish;
    const struct kube_amounts *pod = &world->shapes.pods[c].big;
    static struct kube_points points[NODES_MOST];
    static bool feasible[NODES_MOST];
    struct kube_points most = { 0 };
    uint32_t found = 0, looked = 0;
    memset(may, 0, nodes * sizeof *may);
    memset(feasible, 0, sizeof feasible);
    for (; looked < nodes && found < wanted; looked++) {
        const uint32_t node = (start + looked) % nodes;
        const struct kube_facts *facts = &world->shapes.groups[world->cluster.group_of[node]].facts;
        const struct kube_room room = naive_room(world, node);
        if (world->cluster.outs[node] ||
            kube_filter(facts, wish, &room.allocatable, &room.used, pod).why != REJECT_NONE)
            continue;
        feasible[node] = true;
        found++;
        points[node] = kube_raw_points(&world->cycle.scoring, &room, facts, wish, pod);
        if (points[node].taint > most.taint) most.taint = points[node].taint;
        if (points[node].affinity > most.affinity) most.affinity = points[node].affinity;
    }
    int64_t best = INT64_MIN;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t node = 0; node < nodes; node++) {
            if (!feasible[node]) continue;
            const struct kube_points scaled = kube_scaled_points(points[node], most);
            const int64_t total = kube_total(&world->cycle.scoring.weights, &scaled);
            if (pass == 0 && total > best) best = total;
            if (pass == 1) may[node] = total == best;
        }
    return looked;
}

static void same_as_node_by_node(void **state)
{
    (void)state;
    static bool may[NODES_MOST];
    uint32_t sampled = 0, ties = 0, none = 0;
    for (uint64_t seed = 1; seed <= 250; seed++) {
        struct world *world = make_world(seed);
        const uint32_t nodes = world->cluster.nodes;
        for (uint32_t i = 0; i < 30; i++) {
            const uint32_t c = any_count(seed, 5000 + i, 0, CLASSES_MOST - 1),
                           start = world->cycle.start;
            const uint32_t looked = naive_cycle(world, c, start, may);
            uint32_t best_nodes = 0;
            for (uint32_t node = 0; node < nodes; node++) best_nodes += may[node];
            const struct kube_candidate candidate = {
                .request_class = c, .live = LIVE_NONE - 1, .serial = i, .draw = seed
            };
            const uint32_t node = kube_cycle_node(&world->cycle, &candidate);
            if (best_nodes == 0) {
                CHECK(node == KUBE_NO_PLACE, "seed %lu: a node where none is feasible", seed);
                none++;
                continue;
            }
            CHECK(node != KUBE_NO_PLACE && may[node],
                  "seed %lu, pod %u: node %u is not one of the best", seed, i, node);
            CHECK(world->cycle.start == (start + looked) % nodes, "seed %lu: the next start", seed);
            sampled += looked < nodes;
            ties += best_nodes > 1;
            static const struct demand no_demand;
            const struct kube_amounts *pod = &world->shapes.pods[c].big;
            const struct part part = { .node = node,
                                       .gpus = (uint32_t)pod->of[KUBE_GPU],
                                       .cores_milli = (uint32_t)pod->of[KUBE_CPU],
                                       .memory_bytes = (uint64_t)pod->of[KUBE_MEMORY] };
            cluster_claim(&world->cluster, i, &part, 1, &no_demand);
            kube_nodes_touch(&world->nodes, node);
            kube_nodes_refresh(&world->nodes);
        }
        drop_world(world);
    }
    CHECK(sampled > 200 && ties > 200 && none > 100, "%u sampled, %u ties, %u without a node",
          sampled, ties, none);
}

/* 20 equal nodes, 4000 draws: each is taken about 200 times. Chi squared of 19 degrees is below 50 but once in 6000. */
static void ties_are_drawn_evenly(void **state)
{
    (void)state;
    struct world *world = make_world(3);
    struct cluster cluster;
    assert_true(cluster_init(&cluster, world->arena,
                             (struct cluster_size){ .nodes = 20,
                                                    .gpus_per_node = 8,
                                                    .nodes_per_leaf = 20,
                                                    .hosted = true,
                                                    .cores_per_node = 64,
                                                    .memory_bytes_per_node = UINT64_C(64) << 30 }));
    world->view.cluster = &cluster;
    world->layout.group_count = 0;
    assert_true(
        kube_shapes_init(&world->shapes, &world->view, world->arena) &&
        kube_nodes_init(&world->nodes, &cluster, &world->shapes, world->arena) &&
        kube_cycle_init(&world->cycle, &world->view, &world->shapes, &world->nodes, world->arena));
    kube_nodes_refresh(&world->nodes);
    uint32_t times[20] = { 0 }, c = 0;
    while (world->asks[c].node_selector) c++;
    for (uint32_t i = 0; i < 4000; i++) {
        const struct kube_candidate candidate = { .request_class = c,
                                                  .live = LIVE_NONE - 1,
                                                  .serial = i };
        times[kube_cycle_node(&world->cycle, &candidate)]++;
    }
    double chi = 0;
    for (int node = 0; node < 20; node++)
        chi += (times[node] - 200.0) * (times[node] - 200.0) / 200;
    CHECK(chi < 50, "chi squared %g", chi);
    cluster_clear(&cluster);
    drop_world(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_node_by_node),
        cmocka_unit_test(ties_are_drawn_evenly),
    };
    return cmocka_run_group_tests_name("kube_cycle", tests, NULL, NULL);
}
