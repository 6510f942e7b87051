/* test_slurm_slots.c - the table of time slots against a list of slots with bitmaps, as Slurm keeps it. */
#include "base/philox.h"
#include "policy/slurm_slots.h"
#include "tests/rows.h"

#include <string.h>

enum { SLOTS_MAX = 2048, WORDS = 2 };

/* The twin: slots in order, each with the nodes that are not reserved. */
struct twin {
    uint32_t count;
    struct {
        int64_t begin_s, end_s;
        uint64_t free[WORDS];
    } slots[SLOTS_MAX];
};

static void twin_split(struct twin *twin, int64_t at_s)
{
    for (uint32_t i = 0; i < twin->count; i++) {
        if (at_s <= twin->slots[i].begin_s || at_s >= twin->slots[i].end_s) continue;
        memmove(&twin->slots[i + 1], &twin->slots[i], (twin->count - i) * sizeof *twin->slots);
        twin->count++;
        twin->slots[i].end_s = twin->slots[i + 1].begin_s = at_s;
        return;
    }
}

static void twin_reserve(struct twin *twin, int64_t from_s, int64_t to_s, const uint64_t *nodes)
{
    twin_split(twin, from_s);
    twin_split(twin, to_s);
    for (uint32_t i = 0; i < twin->count; i++)
        if (twin->slots[i].begin_s >= from_s && twin->slots[i].end_s <= to_s)
            for (int w = 0; w < WORDS; w++) twin->slots[i].free[w] &= ~nodes[w];
}

static int64_t twin_free(const struct twin *twin, int64_t from_s, int64_t to_s, uint64_t *nodes)
{
    int64_t later_s = SLOTS_NEVER;
    for (uint32_t i = 0; i < twin->count; i++) {
        if (twin->slots[i].end_s <= from_s) continue;
        if (twin->slots[i].begin_s <= to_s)
            for (int w = 0; w < WORDS; w++) nodes[w] &= twin->slots[i].free[w];
        if (later_s < SLOTS_NEVER || i + 1 == twin->count) continue;
        for (int w = 0; w < WORDS; w++)
            if (twin->slots[i + 1].free[w] & ~twin->slots[i].free[w])
                later_s = twin->slots[i].end_s;
    }
    return later_s;
}

static bool twin_overlap(const struct twin *twin, int64_t from_s, int64_t to_s,
                         const uint64_t *nodes)
{
    for (uint32_t i = 0; i < twin->count; i++)
        if (twin->slots[i].end_s > from_s && twin->slots[i].begin_s < to_s)
            for (int w = 0; w < WORDS; w++)
                if (nodes[w] & ~twin->slots[i].free[w]) return true;
    return false;
}

/* A draw below `below`; each call takes the next of the stream. */
static uint32_t draw(uint64_t key, uint32_t *serial, uint32_t below)
{
    return (uint32_t)(stream_uniform(key, (*serial)++, 0) * below);
}

static void like_a_list(void **state)
{
    const uint64_t seed = rows_number(state), key = stream_key(seed, 0, "slots");
    uint32_t serial = 0;
    const uint32_t nodes = 1 + draw(key, &serial, 100);
    const int64_t step_s = 1 + draw(key, &serial, 90),
                  window_s = step_s * (1 + draw(key, &serial, 200));
    struct slots slots;
    assert_true(slots_init(&slots, (struct slots_size){ nodes, window_s, step_s }));
    for (int table = 0; table < 3; table++) {
        const int64_t now_s = draw(key, &serial, 5000);
        slots_begin(&slots, now_s, window_s);
        struct twin twin = { .count = 1 };
        twin.slots[0].begin_s = now_s / step_s * step_s;
        twin.slots[0].end_s = (now_s + window_s) / step_s * step_s;
        memset(twin.slots[0].free, 0xff, sizeof twin.slots[0].free);
        for (int act = 0; act < 60; act++) {
            uint64_t set[WORDS] = { 0 };
            for (uint32_t n = 0; n < nodes; n++)
                if (draw(key, &serial, 4) == 0) set[n / 64] |= UINT64_C(1) << (n % 64);
            const int64_t from_s = now_s + draw(key, &serial, (uint32_t)window_s);
            const int64_t to_s = from_s + 1 + draw(key, &serial, (uint32_t)window_s);
            assert_int_equal(slots_overlap(&slots, from_s, to_s, set),
                             twin_overlap(&twin, from_s, to_s, set));
            uint64_t mine[WORDS], its[WORDS];
            memset(mine, 0xff, sizeof mine);
            memset(its, 0xff, sizeof its);
            assert_int_equal(slots_free(&slots, from_s, to_s, mine),
                             twin_free(&twin, from_s, to_s, its));
            for (uint32_t w = 0; w < slots.words; w++) assert_int_equal(mine[w], its[w]);
            if (act % 2) continue;
            const int64_t first_s = from_s / step_s * step_s;
            const int64_t behind_s = (to_s + step_s - 1) / step_s * step_s;
            assert_true(slots_reserve(&slots, first_s, behind_s, set));
            twin_reserve(&twin, first_s,
                         behind_s < twin.slots[twin.count - 1].end_s
                             ? behind_s
                             : twin.slots[twin.count - 1].end_s,
                         set);
        }
    }
    slots_clear(&slots);
}

/* SCHEDULING 2.3: slots of 60 s; a job of 60 s at 0:50 touches the slots up to and with the one that holds 1:50. */
static void touches_both_ends(void **state)
{
    (void)state;
    struct slots slots;
    const uint64_t node = 1;
    assert_true(slots_init(&slots, (struct slots_size){ 1, 86400, 60 }));
    slots_begin(&slots, 50, 86400);
    assert_int_equal(slots.begin_s, 0);
    assert_int_equal(slots.end_s, 86400);
    assert_true(slots_reserve(&slots, 120, 180, &node));
    uint64_t free = 1;
    assert_int_equal(slots_free(&slots, 50, 119, &free), 180);
    assert_int_equal(free, 1);
    assert_int_equal(slots_free(&slots, 50, 120, &free), 180); /* touching is enough */
    assert_int_equal(free, 0);
    free = 1;
    assert_int_equal(slots_free(&slots, 180, 240, &free), SLOTS_NEVER);
    assert_int_equal(free, 1);
    slots_clear(&slots);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, touches_both_ends, NULL, "touches both ends");
    for (uintptr_t seed = 1; seed <= 200; seed++)
        rows_add(&rows, like_a_list, (const void *)seed, "like a list, seed %u", (unsigned)seed);
    return rows_run("slurm_slots", &rows);
}
