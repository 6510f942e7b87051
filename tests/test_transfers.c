/* test_transfers.c - network/transfers: against the plain fluid model of models/maxmin over random nets, and by hand where
 * transfers wait for each other. */
#include "network/transfers.h"

#include "models/maxmin.h"
#include "tests/near.h"
#include "tests/rows.h"

enum { LINKS = 8, FLOWS = 24, USES = 72, SEEDS = 300 };

/* Starts and sizes of few values where `alike`, so that much happens at one instant. */
static void follows_the_plain_model(void **state)
{
    const uint64_t seed = (uint64_t)(uintptr_t)*state;
    const bool alike = seed % 2;
    double capacity[LINKS], left[LINKS], load[LINKS], bytes[FLOWS], rate[FLOWS], want[FLOWS];
    struct maxmin_flow flows[FLOWS];
    struct maxmin_use uses[USES];
    struct fluid fluids[FLOWS];
    uint8_t marks[FLOWS];
    uint32_t use_count = 0;
    struct flow_net *net = flow_net_create();
    struct transfers *transfers = transfers_create(net);
    for (uint32_t l = 0; l < LINKS; l++) {
        capacity[l] = alike ? 6.0 : any_scale(seed, l, 1, 100);
        if (seed % 10 == 9 && l == 0) capacity[l] = 0;
        flow_net_link(net, capacity[l]);
    }
    for (uint32_t f = 0; f < FLOWS; f++) {
        struct flow_use mine[3];
        const uint32_t count = any_count(seed, 50 + f, 1, 3);
        const uint32_t from = any_count(seed, 100 + f, 0, LINKS - 1);
        for (uint32_t i = 0; i < count; i++) {
            mine[i] = (struct flow_use){ (from + i) % LINKS,
                                         alike ? 1 : any_scale(seed, 800 + 3 * f + i, 0.5, 2) };
            uses[use_count++] = (struct maxmin_use){ f, mine[i].link, mine[i].per_unit };
        }
        const bool capped = any_count(seed, 150 + f, 0, 3) == 0;
        flows[f] = (struct maxmin_flow){ alike ? 1 : any_scale(seed, 200 + f, 0.3, 3),
                                         capped ? any_scale(seed, 250 + f, 0.5, 10) : INFINITY };
        fluids[f] = alike ? (struct fluid){ any_count(seed, 300 + f, 0, 3), 0,
                                            6.0 * any_count(seed, 350 + f, 0, 4) }
                          : (struct fluid){ any_between(seed, 300 + f, 0, 10),
                                            any_between(seed, 400 + f, 0, 2),
                                            any_scale(seed, 350 + f, 0.1, 100) };
        transfers_add(transfers,
                      &(struct transfer){ fluids[f].start_s, fluids[f].latency_s, fluids[f].size,
                                          flows[f].weight, flows[f].cap, mine, count });
    }
    const struct maxmin_net plain = { capacity, LINKS, flows, FLOWS, uses, use_count };
    struct maxmin_scratch scratch = { left, load, marks, bytes, rate };
    fluid_finish(&plain, fluids, &scratch, want);
    assert_true(transfers_run(transfers));
    for (uint32_t f = 0; f < FLOWS; f++) {
        const double got = transfers_finish_s(transfers, f);
        CHECK(got == want[f] || fabs(got - want[f]) <= 1e-9 * want[f],
              "transfer %u ends at %.17g, want %.17g", f, got, want[f]);
        CHECK(transfers_begin_s(transfers, f) == fluids[f].start_s, "transfer %u begins late", f);
    }
    transfers_destroy(transfers);
    flow_net_destroy(net);
}

/* One link of 10; each of 10 but for c, which has nothing to carry. a at 0: ends at 1. b after a, latency 0.5: first byte at
 * 1.5. c after a: at 1. d after b and c, not before 2, has start 3: begins at 3. e starts at 2, shares with b from then on:
 * b has 5 left, 5 each a second, ends at 3; e has 5 left then, d joins: e ends at 4, d at 4.5. f waits for g, g for f: never. */
static void transfers_wait(void **state)
{
    (void)state;
    struct flow_net *net = flow_net_create();
    struct transfers *transfers = transfers_create(net);
    const struct flow_use use = { flow_net_link(net, 10), 1 };
    const struct transfer asked[] = {
        { 0, 0, 10, 1, INFINITY, &use, 1 }, { 0, 0.5, 10, 1, INFINITY, &use, 1 },
        { 0, 0, 0, 1, INFINITY, &use, 1 },  { 3, 0, 10, 1, INFINITY, &use, 1 },
        { 2, 0, 10, 1, INFINITY, &use, 1 }, { 0, 0, 10, 1, INFINITY, &use, 1 },
        { 0, 0, 10, 1, INFINITY, &use, 1 },
    };
    enum { A, B, C, D, E, F, G, COUNT };
    for (uint32_t t = 0; t < COUNT; t++) transfers_add(transfers, &asked[t]);
    transfers_after(transfers, B, A);
    transfers_after(transfers, C, A);
    transfers_after(transfers, D, B);
    transfers_after(transfers, D, C);
    transfers_after(transfers, F, G);
    transfers_after(transfers, G, F);
    assert_true(transfers_run(transfers));
    const double begin[COUNT] = { 0, 1, 1, 3, 2, INFINITY, INFINITY };
    const double finish[COUNT] = { 1, 3, 1, 4.5, 4, INFINITY, INFINITY };
    for (uint32_t t = 0; t < COUNT; t++) {
        CHECK(transfers_begin_s(transfers, t) == begin[t], "%c begins at %g", 'a' + (int)t,
              transfers_begin_s(transfers, t));
        CHECK(transfers_finish_s(transfers, t) == finish[t], "%c ends at %g", 'a' + (int)t,
              transfers_finish_s(transfers, t));
    }
    transfers_destroy(transfers);
    flow_net_destroy(net);
}

/* A ring of 8 in 14 steps, all alike: every step is one instant, and each flow alone on its two links. */
static void a_ring_is_solved_once_a_step(void **state)
{
    (void)state;
    enum { HOSTS = 8, STEPS = 14 };
    struct flow_net *net = flow_net_create();
    struct transfers *transfers = transfers_create(net);
    for (uint32_t l = 0; l < 2 * HOSTS; l++) flow_net_link(net, 3);
    for (uint32_t t = 0; t < HOSTS * STEPS; t++) {
        const uint32_t rank = t % HOSTS, before = (rank + HOSTS - 1) % HOSTS;
        const struct flow_use uses[] = { { rank, 1 }, { HOSTS + (rank + 1) % HOSTS, 1 } };
        transfers_add(transfers, &(struct transfer){ 0, 0, 0.7, 1, INFINITY, uses, 2 });
        if (t < HOSTS) continue;
        transfers_after(transfers, t, t - HOSTS);
        transfers_after(transfers, t, t - HOSTS - rank + before);
    }
    assert_true(transfers_run(transfers));
    for (uint32_t t = 0; t < HOSTS * STEPS; t++)
        CHECK_NEAR(transfers_finish_s(transfers, t), (t / HOSTS + 1) * 0.7 / 3, 1e-12);
    assert_int_equal(transfers_cost(transfers).instants, STEPS + 1);
    transfers_destroy(transfers);
    flow_net_destroy(net);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, transfers_wait, NULL, "transfers wait");
    rows_add(&rows, a_ring_is_solved_once_a_step, NULL, "a ring is solved once a step");
    for (uintptr_t seed = 1; seed <= SEEDS; seed++)
        rows_add(&rows, follows_the_plain_model, (const void *)seed, "seed %lu",
                 (unsigned long)seed);
    return rows_run("transfers", &rows);
}
