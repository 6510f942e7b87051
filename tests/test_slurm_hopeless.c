/* test_slurm_hopeless.c - what is known to fail does fail: against a count of nodes, one by one, in random tables whose
 * reservations grow and whose nodes get ready later; and by hand. */
#include "base/philox.h"
#include "policy/slurm_hopeless.h"
#include "tests/rows.h"

#include <string.h>

enum { NODES = 40, STEPS = 60, ACTS = 3000 };

static struct {
    bool taken[NODES][STEPS];
    uint32_t ready[NODES]; /* step */
} world;

static uint32_t draw(uint64_t key, uint32_t *serial, uint32_t below)
{
    return (uint32_t)(stream_uniform(key, (*serial)++, 0) * below);
}

/* The next step that frees a node. */
static uint32_t later(uint32_t step)
{
    for (uint32_t s = step + 1; s < STEPS; s++)
        for (uint32_t n = 0; n < NODES; n++)
            if (world.taken[n][s - 1] && !world.taken[n][s]) return s;
    return UINT32_MAX;
}

/* Nodes that are free from `step` to `step + limit` and ready by `until`. */
static uint32_t count(uint32_t step, uint32_t limit, uint32_t until)
{
    uint32_t found = 0;
    for (uint32_t n = 0; n < NODES; n++) {
        bool is_free = world.ready[n] <= until;
        for (uint32_t s = step; s <= step + limit && s < STEPS; s++) is_free &= !world.taken[n][s];
        found += is_free;
    }
    return found;
}

static bool knows(const struct slurm_hopeless *hopeless, struct slurm_hopeless_at at,
                  uint32_t nodes, int64_t limit_s)
{
    return slurm_hopeless_until(hopeless, at, nodes, limit_s) >= at.until;
}

static void known_is_true(void **state)
{
    const uint64_t seed = rows_number(state), key = stream_key(seed, 0, "hopeless");
    uint32_t serial = 0, known = 0;
    struct slurm_hopeless hopeless;
    slurm_hopeless_init(&hopeless, STEPS, NODES);
    for (int cycle = 0; cycle < 3; cycle++) {
        slurm_hopeless_forget(&hopeless);
        memset(&world, 0, sizeof world);
        for (uint32_t n = 0; n < NODES; n++) world.ready[n] = draw(key, &serial, STEPS);
        for (int act = 0; act < ACTS; act++) {
            const uint32_t node = draw(key, &serial, NODES), what = draw(key, &serial, 12),
                           first = draw(key, &serial, STEPS), many = 1 + draw(key, &serial, NODES);
            if (what == 0)
                for (uint32_t s = first; s < STEPS && s < first + many / 2; s++)
                    world.taken[node][s] = true;
            if (what == 1) world.ready[node] += draw(key, &serial, 5);
            if (what < 2) continue;
            const uint32_t limit = 1 + draw(key, &serial, STEPS / 3), until = later(first);
            const struct slurm_hopeless_at at = { draw(key, &serial, 2), first, until };
            if (until == UINT32_MAX) continue;
            const uint32_t ready = count(first, limit, until);
            if (knows(&hopeless, at, many, limit)) {
                assert_true(ready < many);
                known++;
            } else if (ready < many)
                assert_true(slurm_hopeless_learn(&hopeless, at, ready, limit));
        }
    }
    assert_true(known > 100);
    slurm_hopeless_clear(&hopeless);
}

/* Two candidates were ready by step 9: then no job of 3 nodes, or more, and of 100 s or more starts at step 5. */
static void by_hand(void **state)
{
    (void)state;
    struct slurm_hopeless hopeless;
    slurm_hopeless_init(&hopeless, STEPS, 100);
    const struct slurm_hopeless_at at = { .kind = 1, .step = 5, .until = 9 };
    assert_true(slurm_hopeless_learn(&hopeless, at, 2, 100));
    assert_true(knows(&hopeless, at, 3, 100));
    assert_true(knows(&hopeless, at, 100, 5000));
    assert_false(knows(&hopeless, at, 2, 100));
    assert_false(knows(&hopeless, at, 3, 99));
    struct slurm_hopeless_at other = at;
    other.until = 8; /* the step ends sooner now */
    assert_true(knows(&hopeless, other, 3, 100));
    other.until = 10;
    assert_false(knows(&hopeless, other, 3, 100));
    other = at, other.step = 6;
    assert_false(knows(&hopeless, other, 3, 100));
    other = at, other.kind = 0;
    assert_false(knows(&hopeless, other, 3, 100));
    /* 13 ready: 14 and 15 share a size with 12, of which nothing is known. */
    assert_true(slurm_hopeless_learn(&hopeless, at, 13, 50));
    assert_false(knows(&hopeless, at, 15, 50));
    assert_true(knows(&hopeless, at, 16, 50));
    slurm_hopeless_forget(&hopeless);
    assert_false(knows(&hopeless, at, 3, 100));
    slurm_hopeless_clear(&hopeless);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, by_hand, NULL, "by hand");
    for (uintptr_t seed = 1; seed <= 50; seed++)
        rows_add(&rows, known_is_true, (const void *)seed, "known is true, seed %u",
                 (unsigned)seed);
    return rows_run("slurm_hopeless", &rows);
}
