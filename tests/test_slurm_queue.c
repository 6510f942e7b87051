/* test_slurm_queue.c - policy/slurm_queue against a list that is sorted anew each time, by Slurm's rules pair by pair. */
#include "policy/slurm_queue.h"

#include "tests/near.h"
#include "tests/rows.h"
#include "tests/slurm_jobs.h"

enum { JOBS = 1500, NORMAL = 0, PROD, SCAVENGER, QOS };

static struct slurm_partition partitions[3] = { { .priority_tier = 1 },
                                                { .priority_tier = 10 },
                                                { .priority_tier = 1 } };
static struct slurm_qos qos[QOS] = { { .name = "normal" },
                                     { .name = "prod", .preempt = "scavenger" },
                                     { .name = "scavenger" } };

static struct slurm_spec spec_of(enum preempt_type preempt)
{
    return (struct slurm_spec){ .partitions = partitions,
                                .partition_count = 3,
                                .qos = qos,
                                .qos_count = QOS,
                                .preempt_type = preempt };
}

/* The pairs of SCHEDULING.md 2.2, one after the other. */
static bool goes_before(enum preempt_type preempt, const struct slurm_queue_job *a,
                        const struct slurm_queue_job *b)
{
    const uint32_t tier_a = partitions[a->partition].priority_tier;
    const uint32_t tier_b = partitions[b->partition].priority_tier;
    if (preempt == PREEMPT_QOS) {
        if (a->qos == PROD && b->qos == SCAVENGER) return true;
        if (b->qos == PROD && a->qos == SCAVENGER) return false;
    }
    if (preempt == PREEMPT_PARTITION_PRIO && tier_a != tier_b) return tier_a > tier_b;
    if (a->reserved != b->reserved) return a->reserved;
    if (tier_a != tier_b) return tier_a > tier_b;
    if (a->priority != b->priority) return a->priority > b->priority;
    if (a->submit_ns != b->submit_ns) return a->submit_ns < b->submit_ns;
    if (a->row != b->row) return a->row < b->row;
    return a->listed < b->listed;
}

struct pair {
    struct slurm_spec spec;
    struct slurm_queue queue;
    struct slurm_walk walk;
    struct slurm_queue_job jobs[2 * JOBS]; /* the plain list */
    uint32_t count;
};

static struct pair *pair_new(enum preempt_type preempt)
{
    struct pair *pair = calloc(1, sizeof *pair);
    assert_non_null(pair);
    pair->spec = spec_of(preempt);
    assert_true(slurm_queue_init(&pair->queue, &pair->spec));
    assert_true(slurm_walk_init(&pair->walk, &pair->queue));
    return pair;
}

static void pair_free(struct pair *pair)
{
    slurm_walk_clear(&pair->walk);
    slurm_queue_clear(&pair->queue);
    free(pair);
}

static void pair_add(struct pair *pair, struct slurm_queue_job job)
{
    assert_true(slurm_queue_add(&pair->queue, job));
    pair->jobs[pair->count++] = job;
}

static void pair_remove(struct pair *pair, uint32_t live)
{
    slurm_queue_remove(&pair->queue, live);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pair->count; i++)
        if (pair->jobs[i].live != live) pair->jobs[kept++] = pair->jobs[i];
    pair->count = kept;
}

/* Where all pairs agree on one order, each entry goes before all entries behind it. */
static void same_order(struct pair *pair, uint32_t rows_most)
{
    const struct slurm_entry *entry;
    static struct slurm_queue_job met[2 * JOBS];
    uint32_t count = 0;
    slurm_walk_begin(&pair->walk, &pair->queue);
    while ((entry = slurm_walk_next(&pair->walk, &pair->queue))) {
        uint32_t at = 0;
        while (at < pair->count &&
               (pair->jobs[at].live != entry->live || pair->jobs[at].partition != entry->partition))
            at++;
        assert_in_range(at, 0, pair->count - 1);
        met[count++] = pair->jobs[at];
    }
    assert_int_equal(count, pair->count);
    assert_int_equal(slurm_queue_entries(&pair->queue), pair->count);
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count && b < a + rows_most; b++)
            assert_true(goes_before(pair->spec.preempt_type, &met[a], &met[b]));
}

static uint32_t moved_priority(void *context, const struct slurm_entry *entry)
{
    const uint64_t seed = *(const uint64_t *)context;
    return any_count(seed + 77, entry->live, 1, 4) * 100 + (entry->partition == 1 ? 7 : 0);
}

/* Random adds, removals and new priorities; priorities, submit times and QOSes out of few values. Three QOSes of
 * which one may evict another can go in circles by priority: normal has the extreme priorities there. */
static struct slurm_queue_job any_job(uint64_t seed, uint32_t live, enum preempt_type preempt)
{
    struct slurm_queue_job job = {
        .live = live,
        .row = live,
        .qos = any_count(seed, 10 * live, PROD, SCAVENGER),
        .partition = any_count(seed, 10 * live + 1, 0, 1),
        .priority = any_count(seed, 10 * live + 2, 1, 4) * 100,
        .reserved = any(seed, 10 * live + 3) < 0.1,
        .submit_ns = any_count(seed, 10 * live + 4, 0, 20),
    };
    if (preempt != PREEMPT_QOS && any(seed, 10 * live + 5) < 0.3) job.qos = SLURM_QOS_NONE;
    return job;
}

static void like_a_list(void **state)
{
    const uint64_t seed = rows_number(state);
    const enum preempt_type preempt = (enum preempt_type)(seed % 3);
    struct pair *pair = pair_new(preempt);
    for (uint32_t live = 0; live < JOBS; live++) {
        struct slurm_queue_job job = any_job(seed, live, preempt);
        pair_add(pair, job);
        if (job.partition == 0 && any(seed, 10 * live + 6) < 0.2) {
            job.partition = 2;
            job.listed = 1;
            pair_add(pair, job);
        }
        if (any(seed, 10 * live + 7) < 0.4)
            pair_remove(pair, any_count(seed, 10 * live + 8, 0, live));
    }
    same_order(pair, UINT32_MAX);
    uint64_t context = seed;
    assert_true(slurm_queue_rekey(&pair->queue, moved_priority, &context));
    for (uint32_t i = 0; i < pair->count; i++) {
        const struct slurm_entry entry = { .live = pair->jobs[i].live,
                                           .partition = pair->jobs[i].partition };
        pair->jobs[i].priority = moved_priority(&context, &entry);
    }
    same_order(pair, UINT32_MAX);
    for (uint32_t live = 0; live < JOBS; live += 3) pair_remove(pair, live);
    same_order(pair, UINT32_MAX);
    for (uint32_t live = 0; live < JOBS; live++) pair_remove(pair, live);
    same_order(pair, UINT32_MAX);
    pair_free(pair);
}

/* A job may start during a walk: it leaves, and the walk goes on behind it; a job that comes in front is not met. */
static void walk_and_change(void **state)
{
    (void)state;
    struct pair *pair = pair_new(PREEMPT_NONE);
    for (uint32_t live = 0; live < 1000; live++)
        pair_add(pair,
                 (struct slurm_queue_job){ .live = live, .row = live, .priority = 5000 - live });
    slurm_walk_begin(&pair->walk, &pair->queue);
    for (uint32_t live = 0; live < 1000; live++) {
        const struct slurm_entry *entry = slurm_walk_next(&pair->walk, &pair->queue);
        assert_non_null(entry);
        assert_int_equal(entry->live, live);
        if (live % 2) slurm_queue_remove(&pair->queue, live);
        if (live % 100 == 0)
            assert_true(slurm_queue_add(
                &pair->queue,
                (struct slurm_queue_job){ .live = 2000 + live, .row = live, .priority = 9000 }));
    }
    assert_null(slurm_walk_next(&pair->walk, &pair->queue));
    pair_free(pair);
}

/* Normal may neither evict nor be evicted: its place among the others is by priority, but never one that puts a
 * scavenger before a prod. */
static const struct {
    const char *name;
    uint32_t normal, prod, scavenger; /* priorities */
    uint32_t want[3];                 /* QOSes in order */
} three[] = {
    { "normal first", 100, 50, 75, { NORMAL, PROD, SCAVENGER } },
    { "normal between", 60, 90, 50, { PROD, NORMAL, SCAVENGER } },
    { "normal last", 10, 50, 75, { PROD, SCAVENGER, NORMAL } },
};

static void three_kinds(void **state)
{
    const size_t row = (size_t)rows_number(state);
    struct pair *pair = pair_new(PREEMPT_QOS);
    const uint32_t priority[] = { three[row].normal, three[row].prod, three[row].scavenger };
    for (uint32_t q = 0; q < QOS; q++)
        pair_add(pair, (struct slurm_queue_job){
                           .live = q, .row = q, .qos = q, .priority = priority[q] });
    slurm_walk_begin(&pair->walk, &pair->queue);
    for (uint32_t i = 0; i < QOS; i++)
        assert_int_equal(slurm_walk_next(&pair->walk, &pair->queue)->live, three[row].want[i]);
    pair_free(pair);
}

/* Recording s31: PriorityTier goes before priority; f is sent to batch and prod. Tried first: c, d, f (prod), then a,
 * b, e, f of batch. */
static void recording_s31(void **state)
{
    (void)state;
    struct pair *pair = pair_new(PREEMPT_NONE);
    enum { A, B, C, D, E, F };
    const uint32_t partition[] = { 0, 0, 1, 1, 0, 0 };
    for (uint32_t job = A; job <= F; job++)
        pair_add(pair,
                 (struct slurm_queue_job){
                     .live = job, .row = job, .partition = partition[job], .priority = 100 - job });
    pair_add(pair, (struct slurm_queue_job){
                       .live = F, .row = F, .partition = 1, .listed = 1, .priority = 100 - F });
    const uint32_t want[] = { C, D, F, A, B, E, F };
    slurm_walk_begin(&pair->walk, &pair->queue);
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(slurm_walk_next(&pair->walk, &pair->queue)->live, want[i]);
    pair_remove(pair, F);
    assert_int_equal(slurm_queue_entries(&pair->queue), 5);
    pair_free(pair);
}

/* QOSes that list each other, or in a ring, still give every job once. */
static void circles(void **state)
{
    (void)state;
    struct slurm_qos ring[3] = { { .name = "a", .preempt = "b" },
                                 { .name = "b", .preempt = "c" },
                                 { .name = "c", .preempt = "a" } };
    struct slurm_spec spec = spec_of(PREEMPT_QOS);
    spec.qos = ring;
    struct slurm_queue queue;
    struct slurm_walk walk;
    assert_true(slurm_queue_init(&queue, &spec));
    assert_true(slurm_walk_init(&walk, &queue));
    for (uint32_t i = 0; i < 3; i++)
        assert_true(slurm_queue_add(
            &queue, (struct slurm_queue_job){ .live = i, .row = i, .qos = i, .priority = 10 + i }));
    slurm_walk_begin(&walk, &queue);
    /* In the ring the best goes first; then a evicts b. */
    assert_int_equal(slurm_walk_next(&walk, &queue)->live, 2);
    assert_int_equal(slurm_walk_next(&walk, &queue)->live, 0);
    assert_int_equal(slurm_walk_next(&walk, &queue)->live, 1);
    assert_null(slurm_walk_next(&walk, &queue));
    slurm_walk_clear(&walk);
    slurm_queue_clear(&queue);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uint64_t seed = 1; seed <= 12; seed++)
        rows_add(&rows, like_a_list, (void *)(uintptr_t)seed, "queue %u", (unsigned)seed);
    rows_add(&rows, walk_and_change, NULL, "a walk while jobs start");
    for (size_t i = 0; i < sizeof three / sizeof *three; i++)
        rows_add(&rows, three_kinds, (void *)(uintptr_t)i, "%s", three[i].name);
    rows_add(&rows, recording_s31, NULL, "recording s31");
    rows_add(&rows, circles, NULL, "QOSes in a ring");
    return rows_run("slurm_queue", &rows);
}
