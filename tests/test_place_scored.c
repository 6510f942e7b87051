/* test_place_scored.c - policy/place_scored: where a job goes is where a scan over all nodes, scored one by one, puts it. */
#include "policy/place_scored.h"

#include "base/bits.h"
#include "base/philox.h"
#include "policy/score.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <inttypes.h>
#include <string.h>

enum { NODES = 40, GPUS = 4, CLASSES = 12, KEY = 77 };

static const char *const placement_names[PLACEMENTS] = { "pack",    "spread",      "best_fit",
                                                         "random",  "dot_product", "clustering",
                                                         "packing", "fgd" };

/* A cluster of two kinds of nodes, and what jobs ask of it. */
struct scene {
    struct arena *arena;
    struct cluster cluster;
    struct demand demands[CLASSES];
    struct request_table requests;
    uint32_t class_of_row[CLASSES];
    struct jobs jobs;
    struct policy_view view;
    struct scorer *scorer;
    uint32_t rank[NODES];
};

/* One part on one node, or whole GPUs on several. */
static struct demand any_demand(uint64_t seed, uint64_t draw)
{
    struct demand demand = {
        .ever = true, .nodes = 1, .nodes_max = 1, .groups = UINT64_MAX, .by_part = true
    };
    const uint32_t pick = any_count(seed, draw, 0, 5);
    if (pick <= 1) demand.share_milli = any_count(seed, draw + 1, 1, 9) * 100;
    if (pick == 2) demand.gpus = demand.held = demand.per_node = any_count(seed, draw + 1, 1, GPUS);
    if (pick >= 4) { /* several nodes, the last part smaller */
        demand.nodes = demand.nodes_max = any_count(seed, draw + 2, 2, 4);
        demand.per_node = any_count(seed, draw + 3, 1, GPUS);
        demand.gpus = demand.held =
            demand.nodes * demand.per_node - any_count(seed, draw + 4, 0, demand.per_node - 1);
        demand.even = pick == 5;
        if (demand.even) demand.per_node = (demand.gpus + demand.nodes - 1) / demand.nodes;
    }
    demand.share_units = demand.share_milli * 1008;
    demand.part_cores_milli = any_count(seed, draw + 5, 0, 8) * 500;
    demand.part_memory_bytes = any_count(seed, draw + 6, 0, 20);
    if (any(seed, draw + 7) < 0.2) demand.groups = 1 + (any(seed, draw + 8) < 0.5);
    return demand;
}

static void scene_init(struct scene *scene, uint64_t seed, enum placement placement)
{
    memset(scene, 0, sizeof *scene);
    scene->arena = arena_create(1u << 24);
    const struct cluster_group groups[] = {
        { .nodes = NODES / 2, .gpus = GPUS, .cores_milli = 32000, .memory_bytes = 100 },
        { .nodes = NODES / 2, .gpus = 2, .cores_milli = 16000, .memory_bytes = 60 }
    };
    assert_true(cluster_init(&scene->cluster, scene->arena,
                             (struct cluster_size){ .nodes = NODES,
                                                    .gpus_per_node = GPUS,
                                                    .nodes_per_leaf = NODES,
                                                    .hosted = true,
                                                    .shared = true,
                                                    .watched = true,
                                                    .groups = groups,
                                                    .group_count = 2 }));
    for (uint32_t c = 0; c < CLASSES; c++) {
        scene->demands[c] = any_demand(seed, 1000 + 20 * c);
        scene->class_of_row[c] = c;
    }
    scene->requests =
        (struct request_table){ .class_count = CLASSES, .class_of_row = scene->class_of_row };
    scene->jobs.count = CLASSES;
    scene->view = (struct policy_view){ .cluster = &scene->cluster,
                                        .demands = scene->demands,
                                        .requests = &scene->requests,
                                        .jobs = &scene->jobs,
                                        .placement = placement,
                                        .key = KEY };
    scene->scorer = scorer_create(&scene->view);
    assert_non_null(scene->scorer);
    /* The order of equal scores: a shuffle by entity 0 of the stream; none for pack and spread. */
    for (uint32_t node = 0; node < NODES; node++) scene->rank[node] = node;
    for (uint32_t i = NODES; placement > PLACE_SPREAD && i-- > 1;) {
        const uint32_t k = (uint32_t)(stream_uniform(KEY, 0, i) * (i + 1)), was = scene->rank[i];
        scene->rank[i] = scene->rank[k];
        scene->rank[k] = was;
    }
}

static void scene_clear(struct scene *scene)
{
    scorer_destroy(scene->scorer);
    cluster_clear(&scene->cluster);
    arena_destroy(scene->arena);
}

/* What is free on a node, from the cluster's tables. */
static struct score_node node_of(const struct scene *scene, uint32_t node)
{
    const struct cluster *const cluster = &scene->cluster;
    struct score_node is = { .gpus = node < NODES / 2 ? GPUS : 2,
                             .group = node >= NODES / 2,
                             .cores_milli_free = cluster->cores_milli_free[node],
                             .memory_free = cluster->memory_free[node] };
    for (uint32_t i = 0; i < is.gpus; i++) {
        const uint32_t holder = cluster->holder[node * GPUS + i];
        is.milli_free[i] = cluster->broken_mask[node] >> i & 1 ? 0
                           : holder == LIVE_NONE               ? 1000
                           : holder == LIVE_SHARED
                               ? (uint16_t)(cluster->share_free[node * GPUS + i] / 1008)
                               : 0;
    }
    for (uint32_t row = cluster->first_on_node[node];
         scene->view.placement == PLACE_CLUSTERING && row != GRANT_NONE;
         row = cluster->grants[row].next_on_node) {
        const struct grant *const grant = &cluster->grants[row];
        const struct score_ask ask = { .gpus = grant->share_units
                                                   ? 0
                                                   : (uint32_t)bits_count(grant->mask),
                                       .share_milli = grant->share_units / 1008 };
        is.kinds |= score_kind(&ask);
    }
    return is;
}

/* The mix of the twelve classes, each of one job: all but the last count, since 11 of 12 are below 95 % and 12 are not. */
static uint32_t mix_of(const struct scene *scene, struct score_task *tasks, struct score_mix *mix)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < CLASSES; c++) {
        const struct demand *const demand = &scene->demands[c];
        const struct score_task task = { .ask = { .gpus = demand->per_node,
                                                  .share_milli = demand->share_milli,
                                                  .cores_milli = demand->part_cores_milli },
                                         .groups = demand->groups,
                                         .count = 1 };
        if (task.ask.gpus || task.ask.share_milli) tasks[count++] = task;
    }
    score_mix_init(mix, tasks, count, CLASSES);
    return count;
}

static int64_t naive_score(const struct scene *scene, const struct score_node *node,
                           const struct score_ask *ask)
{
    static const struct score_scale scale = { .gpus = GPUS, .cores_milli = 32000 };
    struct score_task tasks[CLASSES];
    struct score_mix mix;
    uint32_t gpu;
    int64_t milli = 0;
    for (uint32_t i = 0; i < node->gpus; i++) milli += node->milli_free[i];
    switch (scene->view.placement) {
    case PLACE_PACK:
        return -milli;
    case PLACE_SPREAD:
        return milli;
    case PLACE_BEST_FIT:
        return score_best_fit(node, ask, scale);
    case PLACE_DOT_PRODUCT:
        return score_dot_product(node, ask, scale);
    case PLACE_CLUSTERING:
        return score_clustering(node, ask, scale);
    case PLACE_PACKING:
        return score_packing(node, ask);
    default:
        mix_of(scene, tasks, &mix);
        return score_fgd(node, ask, &mix, score_fragment(node, &mix), &gpu);
    }
}

static bool naive_fits(const struct scene *scene, const struct demand *demand, uint32_t node,
                       const struct score_ask *ask)
{
    const struct score_node is = node_of(scene, node);
    return !scene->cluster.outs[node] && (demand->groups >> is.group & 1) && score_fits(&is, ask);
}

static struct score_ask part_ask(const struct demand *demand, uint32_t gpus)
{
    return (struct score_ask){ gpus, demand->share_milli, demand->part_cores_milli,
                               demand->part_memory_bytes };
}

/* The best node that is not used; NODES = none. */
static uint32_t naive_node(const struct scene *scene, const struct demand *demand,
                           const struct score_ask *ask, const bool *used)
{
    uint32_t best = NODES;
    int64_t best_score = 0;
    for (uint32_t node = 0; node < NODES; node++) {
        if (used[node] || !naive_fits(scene, demand, node, ask)) continue;
        const struct score_node is = node_of(scene, node);
        const int64_t score = naive_score(scene, &is, ask);
        if (best == NODES || score > best_score ||
            (score == best_score && scene->rank[node] < scene->rank[best])) {
            best = node;
            best_score = score;
        }
    }
    return best;
}

/* The part's GPU takes the share, and is the one that the placement's rule names. */
static void right_gpu(const struct scene *scene, const struct demand *demand,
                      const struct part *part)
{
    const struct score_node is = node_of(scene, part->node);
    const struct score_ask ask = part_ask(demand, 0);
    struct score_task tasks[CLASSES];
    struct score_mix mix;
    uint32_t gpu = 0;
    assert_int_equal(part->share_units, demand->share_milli * 1008);
    assert_int_equal(bits_count(part->mask), 1);
    while (!(part->mask >> gpu & 1)) gpu++;
    assert_true(is.milli_free[gpu] >= demand->share_milli);
    uint32_t want = score_tightest_gpu(&is, demand->share_milli);
    if (scene->view.placement == PLACE_RANDOM) return;
    if (scene->view.placement == PLACE_FGD) {
        mix_of(scene, tasks, &mix);
        score_fgd(&is, &ask, &mix, score_fragment(&is, &mix), &want);
    }
    if (scene->view.placement == PLACE_SPREAD)
        for (uint32_t i = want = 0; i < is.gpus; i++)
            if (is.milli_free[i] > is.milli_free[want]) want = i;
    assert_int_equal(gpu, want);
}

/* Sizes of the parts, the largest first. */
static uint32_t part_gpus(const struct demand *demand, uint32_t part)
{
    if (demand->even) return demand->gpus / demand->nodes + (part < demand->gpus % demand->nodes);
    const uint32_t before = part * demand->per_node;
    const uint32_t left = demand->gpus > before ? demand->gpus - before : 0;
    return left < demand->per_node ? left : demand->per_node;
}

static void same_place(struct scene *scene, const struct demand *demand, struct part *parts,
                       uint32_t *count)
{
    bool used[NODES] = { false };
    *count = scorer_place(scene->scorer, &scene->cluster, demand, parts);
    assert_false(scorer_failed(scene->scorer));
    for (uint32_t p = 0; p < demand->nodes; p++) {
        const struct score_ask ask = part_ask(demand, part_gpus(demand, p));
        const uint32_t want = naive_node(scene, demand, &ask, used);
        if (*count == 0 && want == NODES) return;
        if (*count > 0) {
            assert_int_equal(*count, demand->nodes);
            assert_int_equal(parts[p].gpus, ask.gpus);
            assert_int_equal(parts[p].cores_milli, ask.cores_milli);
            if (scene->view.placement == PLACE_RANDOM)
                assert_true(!used[parts[p].node] && naive_fits(scene, demand, parts[p].node, &ask));
            else
                assert_int_equal(parts[p].node, want);
            if (demand->share_milli) right_gpu(scene, demand, &parts[p]);
        }
        used[*count ? parts[p].node : want] = true;
    }
    assert_true(*count > 0);
}

/* Jobs come and go, nodes and GPUs fail; every search is compared. */
static void like_a_scan(void **state)
{
    enum { HELD = 64, STEPS = 400 };
    const uint64_t number = rows_number(state), seed = number / PLACEMENTS;
    static struct scene scene;
    uint32_t held[HELD], held_count = 0;
    scene_init(&scene, seed, (enum placement)(number % PLACEMENTS));
    for (uint64_t step = 0; step < STEPS; step++) {
        struct part parts[NODES];
        uint32_t count;
        const struct demand *const demand =
            &scene.demands[any_count(seed, 5 * step, 0, CLASSES - 1)];
        same_place(&scene, demand, parts, &count);
        if (count && held_count < HELD) {
            held[held_count] = cluster_claim(&scene.cluster, (uint32_t)step, parts, count, demand);
            assert_true(held[held_count++] != GRANT_NONE);
        }
        const double u = any(seed, 5 * step + 1);
        const uint32_t node = any_count(seed, 5 * step + 2, 0, NODES - 1);
        if (held_count > 0 && (u < 0.3 || held_count == HELD)) {
            const uint32_t k = any_count(seed, 5 * step + 3, 0, held_count - 1);
            cluster_release(&scene.cluster, held[k]);
            held[k] = held[--held_count];
        }
        if (u > 0.9 && scene.cluster.outs[node] == 0) cluster_node_out(&scene.cluster, node);
        if (u > 0.8 && u < 0.9 && scene.cluster.outs[node]) cluster_node_back(&scene.cluster, node);
        if (u > 0.75 && u < 0.8) cluster_gpu_broken(&scene.cluster, node, 1);
        if (u > 0.7 && u < 0.75 && scene.cluster.broken_mask[node])
            cluster_gpu_whole(&scene.cluster, node, 1);
    }
    scene_clear(&scene);
}

/* Under random every node that fits is as likely: 4000 draws over 40 nodes, each within 5 standard deviations. */
static void random_is_even(void **state)
{
    (void)state;
    enum { DRAWS = 4000 };
    static struct scene scene;
    uint32_t count[NODES] = { 0 };
    scene_init(&scene, 1, PLACE_RANDOM);
    const struct demand one = {
        .ever = true, .gpus = 1, .held = 1, .per_node = 1, .nodes = 1, .groups = UINT64_MAX
    };
    struct part part;
    /* Some nodes are half full: they are in another state, and as likely. */
    for (uint32_t node = 0; node < NODES; node += 3) {
        const struct part half = { .node = node, .gpus = 1 };
        assert_true(cluster_claim(&scene.cluster, node, &half, 1, &one) != GRANT_NONE);
    }
    for (uint32_t i = 0; i < DRAWS; i++) {
        assert_int_equal(scorer_place(scene.scorer, &scene.cluster, &one, &part), 1);
        count[part.node]++;
    }
    const double mean = (double)DRAWS / NODES;
    for (uint32_t node = 0; node < NODES; node++)
        CHECK(fabs(count[node] - mean) < 5 * sqrt(mean), "node %u was drawn %u times", node,
              count[node]);
    scene_clear(&scene);
}

static void who_is_wanted(void **state)
{
    (void)state;
    const struct demand whole = { .gpus = 1 }, share = { .share_milli = 500, .by_part = true };
    assert_false(scorer_wanted(PLACE_PACK, &whole, 1));
    assert_true(scorer_wanted(PLACE_PACK, &share, 1));
    assert_true(scorer_wanted(PLACE_FGD, &whole, 1));
}

int main(void)
{
    static const struct CMUnitTest alone[] = { cmocka_unit_test(random_is_even),
                                               cmocka_unit_test(who_is_wanted) };
    struct rows rows = { 0 };
    for (uint64_t seed = 1; seed <= 15; seed++)
        for (uint64_t p = 0; p < PLACEMENTS; p++)
            rows_add(&rows, like_a_scan, (const void *)(uintptr_t)(seed * PLACEMENTS + p),
                     "%s like a scan, seed %" PRIu64, placement_names[p], seed);
    return cmocka_run_group_tests_name("place_scored", alone, NULL, NULL) +
           rows_run("place_scored over seeds", &rows);
}
