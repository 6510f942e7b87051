/* test_kube_queue.c - policy/kube_queue against a list of jobs that is searched from end to end. */
#include "policy/kube_queue.h"

#include "base/clock.h"
#include "tests/near.h"

enum { JOBS = 60, STEPS = 400, CLASSES = 3 };

/* A job of the naive queue. Level 0 has never failed. */
struct naive_job {
    struct kube_sort sort;
    struct kube_order order;
    int64_t ready_ns;
    uint64_t failed_at; /* releases + 1 */
    uint32_t level;
    bool queued, ready;
};

struct naive {
    struct naive_job jobs[JOBS];
    uint64_t lane_failed_at[CLASSES][3][2]; /* class, priority, alone */
};

static uint64_t *lane_of(struct naive *naive, const struct kube_sort *sort)
{
    return &naive->lane_failed_at[sort->request_class][sort->priority][sort->alone];
}

static bool hopeless(struct naive *naive, const struct naive_job *job, uint64_t releases)
{
    return (job->sort.alone ? job->failed_at : *lane_of(naive, &job->sort)) == releases + 1;
}

static bool goes_before(const struct naive_job *a, const struct naive_job *b)
{
    if (a->sort.priority != b->sort.priority) return a->sort.priority > b->sort.priority;
    if (a->order.submit_ns != b->order.submit_ns) return a->order.submit_ns < b->order.submit_ns;
    if (a->order.index != b->order.index) return a->order.index < b->order.index;
    return a->order.serial < b->order.serial;
}

static uint32_t naive_first(const struct naive *naive)
{
    uint32_t best = LIVE_NONE;
    for (uint32_t i = 0; i < JOBS; i++)
        if (naive->jobs[i].queued && naive->jobs[i].ready &&
            (best == LIVE_NONE || goes_before(&naive->jobs[i], &naive->jobs[best])))
            best = i;
    return best;
}

static void naive_wake(struct naive *naive, int64_t now_ns, uint64_t releases)
{
    for (uint32_t i = 0; i < JOBS; i++) {
        struct naive_job *job = &naive->jobs[i];
        if (job->queued && !job->ready && job->ready_ns <= now_ns &&
            !hopeless(naive, job, releases))
            job->ready = true;
    }
}

/* 1, 2, 4, 8, 10, 10, ... seconds. */
static void naive_fail(struct naive *naive, uint32_t live, int64_t now_ns, uint64_t releases)
{
    static const int64_t wait_s[] = { 1, 2, 4, 8, 10 };
    const struct kube_sort sort = naive->jobs[live].sort;
    *lane_of(naive, &sort) = releases + 1;
    for (uint32_t i = 0; i < JOBS; i++) {
        struct naive_job *job = &naive->jobs[i];
        const bool like = job->sort.request_class == sort.request_class &&
                          job->sort.priority == sort.priority && job->sort.alone == sort.alone;
        if (!job->queued || !job->ready || !like || (sort.alone && i != live)) continue;
        job->ready = false;
        job->ready_ns = now_ns + wait_s[job->level] * NS_PER_S;
        job->failed_at = releases + 1;
        if (job->level < 4) job->level++;
    }
}

static int64_t naive_due_ns(struct naive *naive, uint64_t releases)
{
    int64_t due_ns = TIME_NEVER;
    for (uint32_t i = 0; i < JOBS; i++) {
        const struct naive_job *job = &naive->jobs[i];
        if (job->queued && !job->ready && job->ready_ns < due_ns && !hopeless(naive, job, releases))
            due_ns = job->ready_ns;
    }
    return due_ns;
}

static void add_any(struct naive *naive, struct kube_queue *queue, uint32_t live, uint64_t seed,
                    uint32_t step)
{
    struct naive_job *job = &naive->jobs[live];
    if (job->queued) return;
    *job = (struct naive_job){ .sort = { .request_class =
                                             any_count(seed, 10 * step + 2, 0, CLASSES - 1),
                                         .priority = (int32_t)any_count(seed, 10 * step + 3, 0, 2),
                                         .alone = any(seed, 10 * step + 4) < 0.3 },
                               .order = { any_count(seed, 10 * step + 5, 0, 9),
                                          any_count(seed, 10 * step + 6, 0, 2), step },
                               .queued = true,
                               .ready = true };
    kube_queue_add(queue, live, job->sort, job->order);
}

static void same_as_a_list(void **state)
{
    (void)state;
    uint64_t fails = 0, woken = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        static struct naive naive;
        naive = (struct naive){ 0 };
        struct kube_queue queue;
        assert_true(kube_queue_init(&queue, CLASSES, NS_PER_S, 10 * NS_PER_S));
        int64_t now_ns = 0;
        uint64_t releases = 0;
        for (uint32_t step = 1; step < STEPS; step++) {
            const double what = any(seed, 10 * step);
            const uint32_t live = any_count(seed, 10 * step + 1, 0, JOBS - 1);
            if (what < 0.3)
                add_any(&naive, &queue, live, seed, step);
            else if (what < 0.4) {
                kube_queue_remove(&queue, live);
                naive.jobs[live].queued = false;
            } else if (what < 0.5)
                now_ns += any_count(seed, 10 * step + 7, 1, 3000) * (NS_PER_S / 1000);
            else if (what < 0.6)
                releases++;
            else if (what < 0.75) {
                const uint32_t before = kube_queue_first(&queue);
                kube_queue_wake(&queue, now_ns, releases);
                naive_wake(&naive, now_ns, releases);
                woken += before == LIVE_NONE && kube_queue_first(&queue) != LIVE_NONE;
            } else if (naive_first(&naive) != LIVE_NONE) {
                const uint32_t first = naive_first(&naive);
                CHECK(kube_queue_first(&queue) == first, "seed %lu step %u: another first job",
                      seed, step);
                kube_queue_fail(&queue, first, now_ns, releases);
                naive_fail(&naive, first, now_ns, releases);
                fails++;
            }
            CHECK(kube_queue_first(&queue) == naive_first(&naive), "seed %lu step %u: first", seed,
                  step);
            CHECK(kube_queue_due_ns(&queue, releases) == naive_due_ns(&naive, releases),
                  "seed %lu step %u: due", seed, step);
            CHECK(kube_queue_has(&queue, live) == naive.jobs[live].queued, "seed %lu step %u: has",
                  seed, step);
        }
        kube_queue_clear(&queue);
    }
    CHECK(fails > 5000 && woken > 100, "%lu fails, %lu woken", fails, woken);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_as_a_list) };
    return cmocka_run_group_tests_name("kube_queue", tests, NULL, NULL);
}
