/* test_free_index.c - cluster/free_index and cluster/cluster: after each random change the index says
 * what a scan over all nodes says. */
#include "cluster/cluster.h"

#include "tests/near.h"
#include "tests/rows.h"

enum { CHANGES = 10000 };

/* Clusters with one leaf, whole leaves, a last leaf that is not full, one node a leaf. */
static const struct {
    uint32_t nodes, gpus, leaf;
} shapes[] = { { 64, 8, 64 },  { 96, 4, 16 }, { 101, 8, 16 }, { 70, 2, 1 },
               { 200, 1, 32 }, { 33, 32, 4 }, { 1, 8, 1 },    { 5000, 8, 32 } };

/* What is true, kept apart: free GPUs of a node, FREE_OUT when it takes no jobs. */
static void like_a_scan(const struct free_index *index, const int *is)
{
    uint64_t free_gpus = 0;
    uint32_t with_free[LIMIT_GPUS_PER_SERVER + 1] = { 0 };
    for (uint32_t node = 0; node < index->nodes; node++) {
        if (is[node] < 0) continue;
        with_free[is[node]]++;
        free_gpus += (uint64_t)is[node];
    }
    assert_int_equal(index->free_gpus, free_gpus);
    for (uint32_t f = 0; f <= index->gpus_per_node; f++) {
        assert_int_equal(index->with_free[f], with_free[f]);
        assert_int_equal(index->by_free[f].count, with_free[f]);
    }
}

/* Each set's members in order, and the leaves by wholly free nodes; the slow part of the scan. */
static void members_like_a_scan(const struct free_index *index, const int *is)
{
    uint32_t at[LIMIT_GPUS_PER_SERVER + 1];
    for (uint32_t f = 0; f <= index->gpus_per_node; f++) at[f] = bitset_next(&index->by_free[f], 0);
    for (uint32_t node = 0; node < index->nodes; node++) {
        if (is[node] < 0) continue;
        assert_int_equal(at[is[node]], node);
        at[is[node]] = bitset_next(&index->by_free[is[node]], node + 1);
    }
    for (uint32_t f = 0; f <= index->gpus_per_node; f++) assert_int_equal(at[f], BITSET_NONE);
    for (uint32_t leaf = 0; leaf < index->leaves; leaf++) {
        uint32_t whole = 0;
        for (uint32_t i = 0; i < index->nodes_per_leaf; i++) {
            const uint32_t node = leaf * index->nodes_per_leaf + i;
            whole += node < index->nodes && is[node] == (int)index->gpus_per_node;
        }
        assert_int_equal(index->whole_of_leaf[leaf], whole);
        for (uint32_t w = 0; w <= index->nodes_per_leaf; w++)
            assert_int_equal(bitset_has(&index->leaves_by_whole[w], leaf), w == whole);
    }
    for (uint32_t w = 0; w <= index->nodes_per_leaf; w++)
        assert_int_equal(bitset_has(&index->whole_counts, w), index->leaves_by_whole[w].count > 0);
}

static void random_changes(void **state)
{
    const uint64_t s = rows_number(state);
    struct arena *arena = arena_create(1u << 26);
    struct free_index index;
    assert_true(free_index_init(&index, arena, shapes[s].nodes, shapes[s].gpus, shapes[s].leaf));
    int *is = malloc(shapes[s].nodes * sizeof *is);
    for (uint32_t node = 0; node < shapes[s].nodes; node++) is[node] = FREE_OUT;
    const bool large = shapes[s].nodes > 1000;
    for (uint64_t i = 0; i < CHANGES; i++) {
        const uint32_t node = any_count(s, 3 * i, 0, shapes[s].nodes - 1);
        /* Out, whole and in between, each often. */
        const double u = any(s, 3 * i + 1);
        const int to = u < 0.1   ? FREE_OUT
                       : u < 0.5 ? (int)shapes[s].gpus
                                 : (int)any_count(s, 3 * i + 2, 0, shapes[s].gpus);
        free_index_change(&index, node, is[node], to);
        is[node] = to;
        if (!large || i % 64 == 0) like_a_scan(&index, is);
        if (!large || i % 512 == 0) members_like_a_scan(&index, is);
    }
    free(is);
    arena_destroy(arena);
}

/* ---- the cluster: claims, releases, broken GPUs, nodes out -------------------------------------- */

enum { NODES = 40, GPUS = 8, JOBS = 64, REASONS = 3 };

/* A second book of the cluster, by GPU. */
struct book {
    uint32_t holder[NODES][GPUS]; /* LIVE_NONE = nobody */
    bool broken[NODES][GPUS];
    uint32_t outs[NODES];
    uint32_t first_grant[JOBS];
};

static int free_of(const struct book *book, uint32_t node)
{
    int count = 0;
    for (int bit = 0; bit < GPUS; bit++)
        count += book->holder[node][bit] == LIVE_NONE && !book->broken[node][bit];
    return count;
}

static void same(const struct cluster *cluster, const struct book *book)
{
    int is[NODES];
    cluster_check(cluster);
    for (uint32_t node = 0; node < NODES; node++) {
        const int count = free_of(book, node);
        is[node] = book->outs[node] ? FREE_OUT : count;
        assert_int_equal(cluster_node_free(cluster, node), is[node]);
        bool empty = true;
        uint32_t broken_idle = 0;
        for (int bit = 0; bit < GPUS; bit++) {
            assert_int_equal(cluster->holder[node * GPUS + (uint32_t)bit], book->holder[node][bit]);
            empty &= book->holder[node][bit] == LIVE_NONE;
            broken_idle += book->broken[node][bit] && book->holder[node][bit] == LIVE_NONE;
        }
        assert_int_equal(cluster_node_empty(cluster, node), empty);
        const struct idle idle = cluster_node_idle(cluster, node);
        assert_int_equal(idle.free, book->outs[node] ? 0 : count * CLUSTER_UNITS);
        assert_int_equal(idle.draining, book->outs[node] ? count * CLUSTER_UNITS : 0);
        assert_int_equal(idle.down, broken_idle * CLUSTER_UNITS);
    }
    like_a_scan(&cluster->index, is);
    members_like_a_scan(&cluster->index, is);
}

/* Claims GPUs on up to three nodes for a job; lowest free bits first. */
static void claim(struct cluster *cluster, struct book *book, uint32_t job, uint64_t seed,
                  uint64_t draw)
{
    static const struct demand no_host = { 0 };
    struct part parts[3];
    uint32_t count = 0;
    const uint32_t first = any_count(seed, draw, 0, NODES - 1);
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t node = (first + 7 * i) % NODES;
        const int most = book->outs[node] ? 0 : free_of(book, node);
        if (most == 0) continue;
        const uint32_t gpus = any_count(seed, draw + 1 + i, 1, (uint32_t)most);
        parts[count++] = (struct part){ .node = node, .gpus = gpus };
        uint32_t left = gpus;
        for (int bit = 0; bit < GPUS && left > 0; bit++) {
            if (book->holder[node][bit] != LIVE_NONE || book->broken[node][bit]) continue;
            book->holder[node][bit] = job;
            left--;
        }
    }
    if (count) book->first_grant[job] = cluster_claim(cluster, job, parts, count, &no_host);
}

static void release(struct cluster *cluster, struct book *book, uint32_t job)
{
    uint32_t broken = 0;
    for (uint32_t node = 0; node < NODES; node++)
        for (int bit = 0; bit < GPUS; bit++)
            broken += book->holder[node][bit] == job && book->broken[node][bit];
    assert_int_equal(cluster_broken(cluster, book->first_grant[job]).gpus, broken);
    cluster_release(cluster, book->first_grant[job]);
    book->first_grant[job] = GRANT_NONE;
    for (uint32_t node = 0; node < NODES; node++)
        for (int bit = 0; bit < GPUS; bit++)
            if (book->holder[node][bit] == job) book->holder[node][bit] = LIVE_NONE;
}

static void node_change(struct cluster *cluster, struct book *book, uint64_t seed, uint64_t draw)
{
    const uint32_t node = any_count(seed, draw, 0, NODES - 1);
    const uint32_t bit = any_count(seed, draw + 1, 0, GPUS - 1);
    const double u = any(seed, draw + 2);
    if (u < 0.5) {
        if (book->broken[node][bit])
            cluster_gpu_whole(cluster, node, 1u << bit);
        else
            cluster_gpu_broken(cluster, node, 1u << bit);
        book->broken[node][bit] = !book->broken[node][bit];
    } else if (u < 0.7 && book->outs[node] < REASONS) {
        cluster_node_out(cluster, node);
        book->outs[node]++;
    } else if (book->outs[node]) {
        cluster_node_back(cluster, node);
        book->outs[node]--;
    }
}

static void cluster_like_a_second_book(void **state)
{
    const uint64_t seed = rows_number(state);
    struct arena *arena = arena_create(1u << 24);
    struct cluster cluster;
    static struct book book;
    assert_true(cluster_init(
        &cluster, arena,
        (struct cluster_size){ .nodes = NODES, .gpus_per_node = GPUS, .nodes_per_leaf = 16 }));
    for (uint32_t node = 0; node < NODES; node++)
        for (int bit = 0; bit < GPUS; bit++) {
            book.holder[node][bit] = LIVE_NONE;
            book.broken[node][bit] = false;
        }
    for (uint32_t node = 0; node < NODES; node++) book.outs[node] = 0;
    for (uint32_t job = 0; job < JOBS; job++) book.first_grant[job] = GRANT_NONE;
    for (uint64_t i = 0; i < CHANGES; i++) {
        const uint32_t job = any_count(seed, 8 * i, 0, JOBS - 1);
        if (any(seed, 8 * i + 1) < 0.2)
            node_change(&cluster, &book, seed, 8 * i + 2);
        else if (book.first_grant[job] == GRANT_NONE)
            claim(&cluster, &book, job, seed, 8 * i + 2);
        else
            release(&cluster, &book, job);
        same(&cluster, &book);
    }
    cluster_clear(&cluster);
    arena_destroy(arena);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        rows_add(&rows, random_changes, (void *)s, "10,000 changes, %u nodes of %u, %u a leaf",
                 shapes[s].nodes, shapes[s].gpus, shapes[s].leaf);
    for (uintptr_t seed = 1; seed <= 3; seed++)
        rows_add(&rows, cluster_like_a_second_book, (void *)seed,
                 "10,000 claims, releases and faults, seed %u", (unsigned)seed);
    return rows_run("free_index", &rows);
}
