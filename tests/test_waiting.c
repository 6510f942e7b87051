/* test_waiting.c - cluster/waiting against a scan over all jobs. */
#include "cluster/waiting.h"

#include "tests/near.h"
#include "tests/rows.h"

enum { KINDS = 5, JOBS = 4000 };

static const uint32_t gpus_of[KINDS] = { 8, 1, 2, 64, 2 };

enum job_state { ABSENT, WAITS, RUNS };

struct model {
    uint64_t seed;
    uint32_t live[JOBS]; /* live row by serial */
    enum job_state state[JOBS];
    int64_t limit_ns[JOBS];
    uint32_t kind[JOBS];
    uint32_t count;
};

static uint32_t scan_find(const struct model *model, uint32_t kind, uint32_t behind,
                          int64_t limit_ns)
{
    for (uint32_t serial = behind == SERIAL_NONE ? 0 : behind + 1; serial < model->count; serial++)
        if (model->state[serial] == WAITS && model->kind[serial] == kind &&
            model->limit_ns[serial] <= limit_ns)
            return model->live[serial];
    return LIVE_NONE;
}

static void same(const struct model *model, const struct waiting *waiting, uint64_t draw)
{
    uint64_t jobs = 0, gpus = 0;
    uint32_t first = SERIAL_NONE, by_kind[KINDS] = { 0 };
    for (uint32_t serial = 0; serial < model->count; serial++) {
        if (model->state[serial] != WAITS) continue;
        if (first == SERIAL_NONE) first = serial;
        jobs++;
        gpus += gpus_of[model->kind[serial]];
        by_kind[model->kind[serial]]++;
    }
    assert_int_equal(waiting->jobs, jobs);
    assert_int_equal(waiting->gpus, gpus);
    const struct waiting_head *head = waiting_first(waiting);
    assert_int_equal(head ? head->serial : SERIAL_NONE, first);
    uint32_t kinds = 0;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        assert_int_equal(waiting->classes[kind].waiting, by_kind[kind]);
        kinds += by_kind[kind] > 0;
        const uint32_t behind = any(model->seed, draw) < 0.2
                                    ? SERIAL_NONE
                                    : any_count(model->seed, draw + kind, 0, JOBS);
        const int64_t limit_ns = any_count(model->seed, draw + 7 + kind, 0, 1000);
        assert_int_equal(waiting_find(waiting, kind, behind, limit_ns),
                         scan_find(model, kind, behind, limit_ns));
        assert_int_equal(waiting_find(waiting, kind, behind, INT64_MAX),
                         scan_find(model, kind, behind, INT64_MAX));
    }
    assert_int_equal(waiting->head_count, kinds);
    for (uint32_t h = 0; h < waiting->head_count; h++) {
        const struct waiting_head *at = &waiting->heads[h];
        assert_int_equal(at->live, scan_find(model, at->request_class, SERIAL_NONE, INT64_MAX));
        assert_int_equal(at->gpus, gpus_of[at->request_class]);
        if (h > 0) /* sorted by GPUs, then class */
            assert_true(at[-1].gpus < at->gpus ||
                        (at[-1].gpus == at->gpus && at[-1].request_class < at->request_class));
    }
}

static void arrive(struct model *model, struct waiting *waiting, struct live_table *live,
                   uint64_t draw)
{
    const uint32_t serial = model->count++, row = live_take(live);
    assert_true(row != LIVE_NONE);
    model->live[serial] = row;
    model->kind[serial] = any_count(model->seed, draw, 0, KINDS - 1);
    model->limit_ns[serial] =
        any(model->seed, draw + 1) < 0.05 ? INT64_MAX : any_count(model->seed, draw + 2, 0, 1000);
    model->state[serial] = WAITS;
    live->jobs[row].serial = serial;
    live->jobs[row].request_class = model->kind[serial];
    assert_true(waiting_add(waiting, row, gpus_of[model->kind[serial]], model->limit_ns[serial]));
}

/* Waits -> runs; runs -> ends, or waits again at its old place with another limit. */
static void advance(struct model *model, struct waiting *waiting, struct live_table *live,
                    uint32_t serial, uint64_t draw)
{
    const uint32_t row = model->live[serial], gpus = gpus_of[model->kind[serial]];
    if (model->state[serial] == WAITS) {
        waiting_start(waiting, row, gpus);
        model->state[serial] = RUNS;
    } else if (model->state[serial] == RUNS && any(model->seed, draw) < 0.3) {
        model->limit_ns[serial] = any_count(model->seed, draw + 1, 0, 1000);
        waiting_return(waiting, row, gpus, model->limit_ns[serial]);
        model->state[serial] = WAITS;
    } else if (model->state[serial] == RUNS) {
        waiting_end(waiting, row);
        live_give(live, row);
        model->state[serial] = ABSENT;
    }
}

static void like_a_scan(void **state)
{
    static struct model model;
    model = (struct model){ .seed = rows_number(state) };
    struct live_table live;
    struct waiting waiting;
    assert_true(live_init(&live, 16) && waiting_init(&waiting, KINDS, &live));
    for (uint64_t i = 0; i < 10000; i++) {
        const uint64_t draw = 64 * i;
        if (model.count < JOBS && (model.count == 0 || any(model.seed, draw) < 0.35))
            arrive(&model, &waiting, &live, draw + 1);
        else { /* mostly among the last ones, as in a queue that moves */
            const uint32_t back =
                any_count(model.seed, draw + 1, 0, model.count < 60 ? model.count - 1 : 59);
            const uint32_t serial = any(model.seed, draw + 2) < 0.8
                                        ? model.count - 1 - back
                                        : any_count(model.seed, draw + 3, 0, model.count - 1);
            advance(&model, &waiting, &live, serial, draw + 10);
        }
        if (i % 8 == 0 || i < 500) same(&model, &waiting, draw + 20);
    }
    waiting_clear(&waiting);
    live_clear(&live);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t seed = 1; seed <= 6; seed++)
        rows_add(&rows, like_a_scan, (void *)seed, "10,000 changes like a scan, seed %u",
                 (unsigned)seed);
    return rows_run("waiting", &rows);
}
