/* test_slurm_rules.c - what must hold wherever Slurm's selector puts a job, over random clusters and requests; and the
 * picture that it looks at: nothing is lost when jobs come, go and are undone. */
#include "near.h"
#include "rows.h"
#include "slurm_places.h"

enum { SEEDS = 150, NODES = 40, JOBS = 30 };

/* ---- random ---------------------------------------------------------------------------------- */

struct dice {
    uint64_t seed, next;
};
static uint32_t roll(struct dice *dice, uint32_t low, uint32_t high)
{
    return any_count(dice->seed, dice->next++, low, high);
}

/* Nodes of two kinds, 40 in all, in blocks and leaves of 8. */
static struct places *random_places(struct dice *dice, enum slurm_compat compat)
{
    struct places *places = places_new(compat);
    struct slurm_spec *slurm = &places->scenario.slurm;
    places_group(places, "a[00-23]", 24, 8, 32);
    struct server_group *other = places_group(places, "b[00-15]", 16, roll(dice, 0, 4), 16);
    other->weight = roll(dice, 1, 2);
    snprintf(other->features, sizeof other->features, "small");
    if (roll(dice, 0, 1)) {
        other->sharing = SHARING_SHARD;
        other->shares_per_gpu = 4;
    }
    for (uint32_t g = 0; g < 8 && roll(dice, 0, 1); g++) {
        places->groups[0].core_first[g] = g / 4 * 16;
        places->groups[0].core_last[g] = g / 4 * 16 + 15;
        for (uint32_t h = 0; h < 8; h++)
            places->groups[0].link_score[g][h] = (int16_t)(g == h ? 0 : g / 4 == h / 4 ? 4 : 1);
    }
    slurm->memory_counts = roll(dice, 0, 1);
    slurm->lln = roll(dice, 0, 5) == 0;
    slurm->bf_busy_nodes = roll(dice, 0, 5) == 0;
    slurm->pack_serial_at_end = roll(dice, 0, 3) == 0;
    slurm->topology = (enum slurm_topology)roll(dice, 0, 2);
    places->variant.fabric.servers_per_leaf = 8;
    places_open(places);
    return places;
}

static struct ask random_ask(struct dice *dice, struct places *places)
{
    struct ask ask = { .mem_mib = ASK_MEMORY_NONE,
                       .mem_per_cpu_mib = ASK_MEMORY_NONE,
                       .mem_per_gpu_mib = ASK_MEMORY_NONE,
                       .cpus_per_task = roll(dice, 0, 3) };
    if (roll(dice, 0, 1)) ask.nodes_min = ask.nodes_max = roll(dice, 1, 6);
    if (ask.nodes_min && roll(dice, 0, 3) == 0) ask.nodes_max = ask.nodes_min + roll(dice, 0, 3);
    if (roll(dice, 0, 2) == 0) ask.ntasks = (ask.nodes_min ? ask.nodes_min : 1) * roll(dice, 1, 3);
    switch (roll(dice, 0, 5)) {
    case 0:
        ask.gpus = roll(dice, 1, 20);
        break;
    case 1:
        ask.gpus_per_task = roll(dice, 1, 3);
        break;
    case 2:
        break;
    case 3:
        ask.shards_per_node = roll(dice, 1, 4);
        break;
    default:
        ask.gpus_per_node = roll(dice, 1, 8);
    }
    if (roll(dice, 0, 3) == 0 && !ask.cpus_per_task) ask.cpus_per_gpu = roll(dice, 1, 4);
    if (roll(dice, 0, 2)) ask.mem_mib = roll(dice, 0, 3) * UINT64_C(9000);
    ask.exclusive = roll(dice, 0, 7) == 0;
    ask.spread = roll(dice, 0, 9) == 0;
    if (roll(dice, 0, 5) == 0) ask.constraint = places_text(places, "small");
    if (roll(dice, 0, 7) == 0) ask.exclude = places_text(places, "a[00-03],b05");
    return ask;
}

/* ---- what must hold -------------------------------------------------------------------------- */

static uint32_t count_gpus(const struct part *parts, uint32_t count)
{
    uint32_t gpus = 0;
    for (uint32_t p = 0; p < count; p++)
        if (!parts[p].share_units) gpus += (uint32_t)bits_count(parts[p].mask);
    return gpus;
}

static void part_is_free(const struct places *places, const struct slurm_need *need,
                         const struct part *part, const struct part *before)
{
    const struct slurm_picture *picture = &places->picture;
    const struct slurm_kind *kind = slurm_kind_of(&places->nodes, part->node);
    assert_true(!before || before->node < part->node);
    assert_true(slurm_set_has(picture->usable, part->node));
    assert_true(need->kinds >> places->nodes.kind_of[part->node] & 1);
    if (need->allowed) assert_true(slurm_set_has(need->allowed, part->node));
    assert_true(part->cores_milli / 1000 <= picture->cores[part->node]);
    assert_true(part->cores_milli > 0);
    assert_true(part->memory_bytes >> 20 <= picture->memory_mib[part->node]);
    if (part->share_units) {
        const uint32_t gpu = (uint32_t)__builtin_ctz(part->mask);
        const uint32_t taken = picture->shards[part->node * places->nodes.gpus_most + gpu];
        assert_int_equal(bits_count(part->mask), 1);
        assert_true(taken + need->shards_per_node <= kind->shards_per_gpu);
        assert_true(taken > 0 || picture->free_mask[part->node] & part->mask);
    } else {
        assert_int_equal(part->mask & ~picture->free_mask[part->node], 0);
        assert_int_equal(part->gpus, bits_count(part->mask));
    }
    if (need->whole_nodes) {
        assert_int_equal(picture->jobs[part->node], 0);
        assert_int_equal(part->cores_milli, kind->cores * 1000);
        if (!need->shards_per_node) assert_int_equal(part->mask, kind->gpu_mask);
    }
    if (need->gpus_per_node && !need->whole_nodes)
        assert_int_equal(part->gpus, need->gpus_per_node);
}

static void place_is_right(struct places *places, const struct slurm_need *need)
{
    uint32_t count, cores = 0;
    const struct part *parts = slurm_parts(places->chooser, &count);
    assert_in_range(count, need->nodes_min, need->nodes_max);
    for (uint32_t p = 0; p < count; p++) {
        part_is_free(places, need, &parts[p], p ? &parts[p - 1] : NULL);
        cores += parts[p].cores_milli / 1000;
    }
    assert_true(cores >= need->cores_min);
    if (need->gpus_per_job && !need->whole_nodes)
        assert_int_equal(count_gpus(parts, count), need->gpus_per_job);
    if (need->gpus_per_job && need->whole_nodes)
        assert_true(count_gpus(parts, count) >= need->gpus_per_job);
}

/* Nodes that could take their part of a job that asks for the same on each of them. */
static uint32_t count_able(const struct places *places, const struct slurm_need *need)
{
    const struct slurm_picture *picture = &places->picture;
    uint32_t able = 0;
    for (uint32_t n = 0; n < places->nodes.nodes; n++) {
        const uint32_t gpus = (uint32_t)bits_count_64(picture->free_mask[n]);
        const uint32_t cores = need->cores_per_task > need->cores_per_gpu * need->gpus_per_node
                                   ? need->cores_per_task
                                   : need->cores_per_gpu * need->gpus_per_node;
        const bool memory =
            need->memory == MEMORY_IGNORED ||
            (need->memory == MEMORY_WHOLE_NODE
                 ? picture->memory_mib[n] == slurm_kind_of(&places->nodes, n)->memory_mib
                 : picture->memory_mib[n] >= need->memory_mib);
        able += gpus >= need->gpus_per_node && picture->cores[n] >= cores && memory &&
                (!need->allowed || slurm_set_has(need->allowed, n)) &&
                need->kinds >> places->nodes.kind_of[n] & 1;
    }
    return able;
}

/* N nodes with one task and g GPUs each and nothing else: it starts if, and only if, so many nodes are able to. */
static void twin_agrees(struct places *places, const struct slurm_need *need,
                        enum slurm_answer answer)
{
    const bool plain = need->gpus_per_node && !need->gpus_per_task && !need->whole_nodes &&
                       need->nodes_min == need->nodes_max && !need->spread &&
                       need->cores_min == need->nodes_min * need->cores_per_task &&
                       (need->tasks == 0 || need->tasks == need->nodes_min) &&
                       need->memory <= MEMORY_PER_NODE;
    if (!plain || (places->nodes.topology == TOPOLOGY_BLOCK && !need->one_node)) return;
    assert_int_equal(answer == SLURM_PLACED, count_able(places, need) >= need->nodes_min);
}

/* ---- a twin of consecutive sets, from the words of SCHEDULING 2.4 ------------------------------ */

struct run {
    uint32_t first, last, cores;
};

static uint32_t twin_avail(const struct places *places, const struct slurm_need *need,
                           uint32_t node)
{
    const uint32_t cores = places->picture.cores[node];
    return need->tasks ? need->cores_per_task : cores - cores % need->cores_per_task;
}

static bool twin_eligible(const struct places *places, const struct slurm_need *need, uint32_t node,
                          uint32_t weight_most)
{
    return slurm_kind_of(&places->nodes, node)->weight <= weight_most &&
           (uint32_t)bits_count_64(places->picture.free_mask[node]) >= need->gpus_per_node &&
           places->picture.cores[node] >= need->cores_per_task;
}

/* Splits the nodes that are left into runs of consecutive index and equal weight. */
static uint32_t twin_runs(const struct places *places, const struct slurm_need *need,
                          const bool *left, struct run *runs)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < NODES; n++) {
        if (!left[n]) continue;
        const bool joins = n > 0 && left[n - 1] && count > 0 &&
                           slurm_kind_of(&places->nodes, n)->weight ==
                               slurm_kind_of(&places->nodes, n - 1)->weight;
        if (!joins) runs[count++] = (struct run){ n, n, 0 };
        runs[count - 1].last = n;
        runs[count - 1].cores += twin_avail(places, need, n);
    }
    return count;
}

/* Lowest weight, sufficient before not, the smallest of sufficient ones, the largest of others, first. One thing is
 * not in SCHEDULING 2.4 but in all releases: a larger run that is not sufficient displaces a sufficient one before it. */
static const struct run *twin_best(const struct places *places, const struct run *runs,
                                   uint32_t count, int64_t nodes, int64_t cores)
{
    const struct run *best = NULL;
    bool best_enough = false;
    for (uint32_t r = 0; r < count; r++) {
        const struct run *run = &runs[r];
        const bool enough = run->last - run->first + 1 >= nodes && (int64_t)run->cores >= cores;
        const uint32_t weight = slurm_kind_of(&places->nodes, run->first)->weight;
        const uint32_t than = best ? slurm_kind_of(&places->nodes, best->first)->weight : 0;
        if (best && weight > than) continue;
        if (best && weight == than && enough && best_enough && run->cores >= best->cores) continue;
        if (best && weight == than && !enough && run->cores <= best->cores) continue;
        best = run;
        best_enough = enough;
    }
    return best;
}

/* Fills taken[]; false: too few nodes. */
static bool twin_choose(const struct places *places, const struct slurm_need *need,
                        uint32_t weight_most, bool *taken)
{
    bool left[NODES];
    uint32_t eligible = 0;
    int64_t nodes = need->nodes_min, cores = need->cores_min;
    memset(taken, 0, NODES * sizeof *taken);
    for (uint32_t n = 0; n < NODES; n++)
        eligible += left[n] = twin_eligible(places, need, n, weight_most);
    if (eligible < need->nodes_min) return false;
    while (nodes > 0) {
        struct run runs[NODES];
        const uint32_t count = twin_runs(places, need, left, runs);
        const struct run *run = twin_best(places, runs, count, nodes, cores);
        uint32_t first = run->first, last = run->last;
        for (uint32_t n = run->first; nodes == 1 && n <= run->last; n++)
            if (twin_avail(places, need, n) < twin_avail(places, need, first)) first = n;
        if (nodes == 1) last = first;
        for (uint32_t n = first; n <= last && nodes > 0; n++) {
            /* A node may bring the cores of several, but leaves one for each that follows. */
            int64_t used = twin_avail(places, need, n);
            if (used > cores - (nodes - 1)) used = cores - (nodes - 1);
            if (used < need->cores_per_task) used = need->cores_per_task;
            taken[n] = true;
            nodes--;
            cores -= used;
        }
        for (uint32_t n = run->first; n <= run->last; n++) left[n] = false;
    }
    return true;
}

/* N nodes, g GPUs on each, a task on each or nothing said: the same nodes as the twin's. */
static void runs_are_the_twins(void **state)
{
    struct dice dice = { rows_number(state), 3000 };
    struct places *places = places_new((enum slurm_compat)(dice.seed % 3));
    places_group(places, "a[00-23]", 24, 8, 32);
    places_group(places, "b[00-15]", 16, 4, 16)->weight = roll(&dice, 1, 2);
    places_open(places);
    for (uint32_t row = 0, i = 0; i < 2 * JOBS && row < PLACE_JOBS; i++) {
        struct ask ask = { .mem_mib = ASK_MEMORY_NONE, .mem_per_cpu_mib = ASK_MEMORY_NONE };
        ask.nodes_min = ask.nodes_max =
            roll(&dice, places->scenario.slurm.compat == COMPAT_26_05 ? 2 : 1, 7);
        ask.gpus_per_node = roll(&dice, 1, 8);
        ask.cpus_per_task = roll(&dice, 1, 5);
        if (roll(&dice, 0, 1)) ask.ntasks = ask.nodes_min;
        const struct slurm_need need = places_need(places, &ask);
        char text[PLACE_TEXT];
        bool taken[NODES] = { false };
        const bool placed =
            places_try(places, &need, (struct slurm_how){ 0 }, text) == SLURM_PLACED;
        const bool want = need.kinds && (twin_choose(places, &need, 1, taken) ||
                                         twin_choose(places, &need, 2, taken));
        assert_int_equal(placed, want);
        uint32_t count;
        const struct part *parts = slurm_parts(places->chooser, &count);
        for (uint32_t p = 0; p < count; p++)
            if (!taken[parts[p].node]) fail_msg("job %u: '%s' is not the twin's place", i, text);
        if (placed) places_start(places, row++);
        const uint32_t gone = roll(&dice, 0, JOBS);
        if (gone < row && places->jobs[gone].count) places_end(places, gone);
    }
    places_close(places);
}

static void random_jobs_are_placed_right(void **state)
{
    struct dice dice = { rows_number(state), 0 };
    struct places *places = random_places(&dice, (enum slurm_compat)(dice.seed % 3));
    uint32_t started = 0, row = 0;
    for (uint32_t i = 0; i < JOBS; i++) {
        const struct ask ask = random_ask(&dice, places);
        const struct slurm_need need = places_need(places, &ask);
        char text[PLACE_TEXT];
        const struct slurm_how how = { .backfill = roll(&dice, 0, 1) };
        const enum slurm_answer answer = places_try(places, &need, how, text);
        twin_agrees(places, &need, answer);
        if (answer == SLURM_PLACED) {
            place_is_right(places, &need);
            assert_true(slurm_feasible_ever(places->chooser, &need));
            assert_int_equal(places_try(places, &need, how, text), SLURM_PLACED);
            places_start(places, row++);
            started++;
        }
        const uint32_t gone = roll(&dice, 0, 2 * JOBS);
        if (gone < row && places->jobs[gone].count) places_end(places, gone);
    }
    assert_true(started > 0);
    places_close(places);
}

/* ---- the picture ----------------------------------------------------------------------------- */

struct snapshot {
    uint64_t free_mask[NODES];
    uint32_t cores[NODES], jobs[NODES], bound[1];
    uint64_t memory_mib[NODES], with_gpus[9];
    uint16_t shards[NODES * 8], sockets[NODES * 2];
};

static void snapshot_take(struct snapshot *snapshot, const struct slurm_picture *picture)
{
    memset(snapshot, 0, sizeof *snapshot);
    for (uint32_t n = 0; n < NODES; n++) {
        snapshot->free_mask[n] = picture->free_mask[n];
        snapshot->cores[n] = picture->cores[n];
        snapshot->jobs[n] = picture->jobs[n];
        snapshot->memory_mib[n] = picture->memory_mib[n];
        for (uint32_t s = 0; picture->socket_cores && s < picture->nodes->sockets_most; s++)
            snapshot->sockets[2 * n + s] =
                picture->socket_cores[n * picture->nodes->sockets_most + s];
        for (uint32_t g = 0; picture->shards && g < picture->nodes->gpus_most; g++)
            snapshot->shards[8 * n + g] = picture->shards[n * picture->nodes->gpus_most + g];
        if (picture->cores[n] > snapshot->bound[0]) snapshot->bound[0] = picture->cores[n];
    }
    for (uint32_t g = 0; g <= picture->nodes->gpus_most; g++)
        snapshot->with_gpus[g] = slurm_picture_with_gpus(picture, g)[0];
}

/* The sets and bounds are what the columns say. */
static void picture_is_whole(const struct slurm_picture *picture)
{
    uint32_t most = 0;
    for (uint32_t n = 0; n < picture->nodes->nodes; n++) {
        const uint32_t free = (uint32_t)bits_count_64(picture->free_mask[n]);
        for (uint32_t g = 0; g <= picture->nodes->gpus_most; g++)
            assert_int_equal(slurm_set_has(slurm_picture_with_gpus(picture, g), n), free >= g);
        if (picture->cores[n] > most) most = picture->cores[n];
        if (!picture->socket_cores || !slurm_kind_of(picture->nodes, n)->near_cores) continue;
        uint32_t sum = 0;
        for (uint32_t s = 0; s < picture->nodes->sockets_most; s++)
            sum += picture->socket_cores[n * picture->nodes->sockets_most + s];
        assert_int_equal(sum, picture->cores[n]);
    }
    assert_int_equal(picture->cores_bound[0], most);
}

static void changes_are_undone(void **state)
{
    struct dice dice = { rows_number(state), 1000 };
    struct places *places = random_places(&dice, COMPAT_26_05);
    struct snapshot *before = malloc(sizeof *before), *after = malloc(sizeof *after);
    uint32_t row = 0, mark = 0;
    for (uint32_t i = 0; i < JOBS; i++) {
        if (i == JOBS / 2) {
            mark = slurm_picture_mark(&places->picture);
            snapshot_take(before, &places->picture);
        }
        const struct ask ask = random_ask(&dice, places);
        const struct slurm_need need = places_need(places, &ask);
        char text[PLACE_TEXT];
        if (places_try(places, &need, (struct slurm_how){ 0 }, text) == SLURM_PLACED)
            places_start(places, row++);
        const uint32_t gone = roll(&dice, 0, JOBS);
        if (gone < row && places->jobs[gone].count) places_end(places, gone);
        picture_is_whole(&places->picture);
    }
    slurm_picture_undo(&places->picture, mark);
    snapshot_take(after, &places->picture);
    assert_memory_equal(before, after, sizeof *before);
    picture_is_whole(&places->picture);
    free(before);
    free(after);
    places_close(places);
}

/* A job comes to a cluster: the picture that reads it equals the picture that was told. */
static void the_cluster_is_read_as_it_is(void **state)
{
    struct dice dice = { rows_number(state), 2000 };
    struct places *places = random_places(&dice, COMPAT_26_05);
    struct cluster_group groups[2];
    for (uint32_t g = 0; g < 2; g++)
        groups[g] = (struct cluster_group){ .nodes = places->groups[g].count,
                                            .gpus = places->groups[g].server.gpus,
                                            .cores_milli = places->groups[g].server.cores * 1000,
                                            .memory_bytes = places->groups[g].server.memory_bytes };
    struct cluster cluster;
    assert_true(cluster_init(&cluster, places->arena,
                             (struct cluster_size){ .nodes = NODES,
                                                    .gpus_per_node = 8,
                                                    .nodes_per_leaf = 8,
                                                    .hosted = true,
                                                    .shared = true,
                                                    .groups = groups,
                                                    .group_count = 2 }));
    uint32_t first[JOBS] = { 0 }, row = 0;
    const struct demand demand = { 0 };
    for (uint32_t i = 0; i < JOBS; i++) {
        const struct ask ask = random_ask(&dice, places);
        const struct slurm_need need = places_need(places, &ask);
        char text[PLACE_TEXT];
        if (places_try(places, &need, (struct slurm_how){ 0 }, text) != SLURM_PLACED) continue;
        places_start(places, row);
        first[row] =
            cluster_claim(&cluster, row, places->jobs[row].parts, places->jobs[row].count, &demand);
        assert_int_not_equal(first[row], GRANT_NONE);
        if (++row < JOBS && row % 4 == 0) {
            places_end(places, row - 2);
            cluster_release(&cluster, first[row - 2]);
        }
    }
    struct slurm_picture read;
    assert_true(slurm_picture_init(&read, &places->nodes, places->arena));
    slurm_picture_read(&read, &cluster);
    picture_is_whole(&read);
    for (uint32_t n = 0; n < NODES; n++) {
        assert_int_equal(read.free_mask[n], places->picture.free_mask[n]);
        assert_int_equal(read.cores[n], places->picture.cores[n]);
        assert_int_equal(read.memory_mib[n], places->picture.memory_mib[n]);
        assert_int_equal(read.jobs[n], places->picture.jobs[n]);
        for (uint32_t g = 0; read.shards && g < places->nodes.gpus_most; g++)
            assert_int_equal(read.shards[n * places->nodes.gpus_most + g],
                             places->picture.shards[n * places->nodes.gpus_most + g]);
    }
    cluster_node_out(&cluster, 5);
    slurm_picture_read_node(&read, &cluster, 5);
    assert_false(slurm_set_has(read.usable, 5));
    slurm_picture_clear(&read);
    cluster_clear(&cluster);
    places_close(places);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t seed = 1; seed <= SEEDS; seed++)
        rows_add(&rows, random_jobs_are_placed_right, (const void *)seed, "places, seed %u",
                 (unsigned)seed);
    for (uintptr_t seed = 1; seed <= SEEDS; seed++)
        rows_add(&rows, runs_are_the_twins, (const void *)seed, "twin of runs, seed %u",
                 (unsigned)seed);
    for (uintptr_t seed = 1; seed <= SEEDS / 3; seed++) {
        rows_add(&rows, changes_are_undone, (const void *)seed, "undo, seed %u", (unsigned)seed);
        rows_add(&rows, the_cluster_is_read_as_it_is, (const void *)seed, "cluster, seed %u",
                 (unsigned)seed);
    }
    return rows_run("slurm_rules", &rows);
}
