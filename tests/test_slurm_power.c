/* test_slurm_power.c - policy/slurm_power: a day of a node by hand, and random days against plain clocks. */
#include "policy/slurm_power.h"

#include "base/clock.h"

#include "tests/near.h"
#include "tests/rows.h"

#define S NS_PER_S

static const struct slurm_spec spec = { .suspend_time_ns = 600 * S,
                                        .suspend_ns = 30 * S,
                                        .resume_ns = 90 * S,
                                        .resume_timeout_ns = 300 * S };

/* Idle from 0: down at 600, there at 630; raised at 1000 it is up at 1090, works until 2000, goes down at 2600. */
static void by_hand(void **state)
{
    (void)state;
    struct arena *arena = arena_create(1 << 16);
    struct slurm_power power;
    assert_true(slurm_power_init(&power, &spec, 2, arena));
    slurm_power_busy(&power, 1);
    assert_true(slurm_power_wake_ns(&power) == 600 * S);
    assert_int_equal(slurm_power_next_down(&power, 599 * S), POWER_NONE);
    assert_int_equal(slurm_power_next_down(&power, 600 * S), 0);
    assert_int_equal(slurm_power_next_down(&power, 600 * S), POWER_NONE);
    assert_true(slurm_power_wake_ns(&power) == TIME_NEVER); /* node 1 works */
    assert_int_equal(slurm_power_state(&power, 0, 629 * S), POWER_GOING_DOWN);
    assert_true(slurm_power_ready_ns(&power, 0, 629 * S) == TIME_NEVER);
    assert_true(slurm_power_asleep_ns(&power) == 630 * S);
    assert_int_equal(slurm_power_next_asleep(&power, 629 * S), POWER_NONE);
    assert_int_equal(slurm_power_next_asleep(&power, 630 * S), 0);
    assert_true(slurm_power_asleep_ns(&power) == TIME_NEVER);
    assert_int_equal(slurm_power_state(&power, 0, 630 * S), POWER_DOWN);
    assert_true(slurm_power_ready_ns(&power, 0, 1000 * S) == 1090 * S);
    assert_true(slurm_power_ready_ns(&power, 1, 1000 * S) == 1000 * S);
    assert_true(slurm_power_raise(&power, 0, 1000 * S) == 1090 * S);
    assert_int_equal(slurm_power_state(&power, 0, 1050 * S), POWER_COMING_UP);
    /* A second job on the node that comes up waits for the same moment. */
    assert_true(slurm_power_raise(&power, 0, 1050 * S) == 1090 * S);
    assert_int_equal(slurm_power_state(&power, 0, 1090 * S), POWER_UP);
    /* Its job is cancelled before it is up: it is idle from then on. */
    slurm_power_idle(&power, 0, 1080 * S);
    assert_true(slurm_power_wake_ns(&power) == 1680 * S);
    slurm_power_busy(&power, 0);
    slurm_power_idle(&power, 0, 2000 * S);
    slurm_power_idle(&power, 0, 2300 * S); /* said twice: idle since the first */
    assert_true(slurm_power_wake_ns(&power) == 2600 * S);
    assert_int_equal(slurm_power_next_down(&power, 2600 * S), 0);
    arena_destroy(arena);
}

/* Without SuspendTime nothing ever happens. */
static void never(void **state)
{
    (void)state;
    const struct slurm_spec off = { .suspend_time_ns = TIME_NEVER };
    struct arena *arena = arena_create(1 << 16);
    struct slurm_power power;
    assert_true(slurm_power_init(&power, &off, 3, arena));
    slurm_power_idle(&power, 2, 5 * S);
    slurm_power_busy(&power, 2);
    assert_true(slurm_power_wake_ns(&power) == TIME_NEVER);
    assert_true(slurm_power_asleep_ns(&power) == TIME_NEVER);
    assert_int_equal(slurm_power_next_down(&power, TIME_NEVER - 1), POWER_NONE);
    assert_true(slurm_power_raise(&power, 1, 7 * S) == 7 * S);
    arena_destroy(arena);
}

/* The same with one clock for each node: since when idle, when down, when up. */
enum { NODES = 12 };
struct clocks {
    int64_t idle_ns, down_ns, up_ns; /* -1 = not */
    bool works;
};

static void random_days(void **state)
{
    const uint64_t seed = rows_number(state);
    struct arena *arena = arena_create(1 << 16);
    struct slurm_power power;
    assert_true(slurm_power_init(&power, &spec, NODES, arena));
    struct clocks nodes[NODES];
    for (uint32_t n = 0; n < NODES; n++) nodes[n] = (struct clocks){ 0, -1, -1, false };
    int64_t now_ns = 0;
    for (uint64_t step = 0; step < 3000; step++) {
        now_ns += any_count(seed, 3 * step, 0, 60) * S;
        for (uint32_t down; (down = slurm_power_next_down(&power, now_ns)) != POWER_NONE;) {
            struct clocks *node = &nodes[down];
            assert_true(!node->works && node->idle_ns >= 0);
            assert_true(now_ns >= node->idle_ns + 600 * S);
            *node = (struct clocks){ -1, now_ns + 30 * S, -1, false };
        }
        int64_t first_down_ns = TIME_NEVER, first_idle_ns = TIME_NEVER;
        for (uint32_t n = 0; n < NODES; n++) {
            const struct clocks *node = &nodes[n];
            assert_true(node->idle_ns < 0 || now_ns < node->idle_ns + 600 * S);
            if (node->idle_ns >= 0 && node->idle_ns + 600 * S < first_idle_ns)
                first_idle_ns = node->idle_ns + 600 * S;
            if (node->down_ns > now_ns && node->down_ns < first_down_ns)
                first_down_ns = node->down_ns;
        }
        assert_true(slurm_power_wake_ns(&power) == first_idle_ns);
        for (uint32_t n; (n = slurm_power_next_asleep(&power, now_ns)) != POWER_NONE;)
            assert_true(nodes[n].down_ns >= 0 && nodes[n].down_ns <= now_ns);
        assert_true(slurm_power_asleep_ns(&power) == first_down_ns);
        const uint32_t n = any_count(seed, 3 * step + 1, 0, NODES - 1);
        struct clocks *node = &nodes[n];
        const int64_t ready_ns = slurm_power_ready_ns(&power, n, now_ns);
        if (node->down_ns > now_ns)
            assert_true(ready_ns == TIME_NEVER);
        else if (node->down_ns >= 0)
            assert_true(ready_ns == now_ns + 90 * S);
        else
            assert_true(ready_ns == (node->up_ns > now_ns ? node->up_ns : now_ns));
        if (ready_ns == TIME_NEVER) continue;
        if (any(seed, 3 * step + 2) < 0.3) {
            assert_true(slurm_power_raise(&power, n, now_ns) == ready_ns);
            *node = (struct clocks){ -1, -1, ready_ns, true };
        } else if (node->works && node->up_ns <= now_ns) {
            slurm_power_idle(&power, n, now_ns);
            *node = (struct clocks){ now_ns, -1, -1, false };
        }
    }
    arena_destroy(arena);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, by_hand, NULL, "a day by hand");
    rows_add(&rows, never, NULL, "no power saving");
    for (uint64_t seed = 1; seed <= 20; seed++)
        rows_add(&rows, random_days, (void *)(uintptr_t)seed, "days %u", (unsigned)seed);
    return rows_run("slurm_power", &rows);
}
