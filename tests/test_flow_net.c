/* test_flow_net.c - network/flow_net: after each of many random changes its rates are those of models/maxmin, solved from
 * scratch, and meet the certificate of max-min shares. */
#include "network/flow_net.h"

#include "models/maxmin.h"
#include "tests/near.h"
#include "tests/rows.h"

#include <string.h>

enum { LINKS_MOST = 64, FLOWS_MOST = 160, USES_MOST = 12, CHANGES = 10000 };

/* A kind of net: how large, how alike, how its flows cross it. */
struct kind {
    const char *name;
    uint32_t links, flows, uses; /* flows at any time, about; links that a flow crosses, at most */
    bool alike; /* capacities, weights and coefficients all of few values: many ties */
    bool plain; /* each unit of a flow is one on each of its links */
    bool star;  /* a flow crosses one of the first half and one of the second */
};

static const struct kind kinds[] = {
    { "few links", .links = 6, .flows = 40, .uses = 4 },
    { "few links, ties", .links = 6, .flows = 40, .uses = 4, .alike = true },
    { "sparse", .links = 64, .flows = 40, .uses = 3 },
    { "sparse, ties", .links = 64, .flows = 50, .uses = 3, .alike = true },
    { "star", .links = 32, .flows = 120, .uses = 2, .star = true },
    { "star, ties", .links = 32, .flows = 120, .uses = 2, .star = true, .alike = true },
    { "star, plain", .links = 32, .flows = 120, .uses = 2, .star = true, .plain = true },
    { "paths, plain", .links = 40, .flows = 100, .uses = 5, .plain = true },
    { "paths, plain, ties", .links = 40, .flows = 100, .uses = 5, .plain = true, .alike = true },
    { "jobs on many links", .links = 48, .flows = 24, .uses = 12 },
    { "jobs on many links, ties", .links = 48, .flows = 24, .uses = 12, .alike = true },
};

/* What the net should hold, kept beside it. */
struct twin {
    const struct kind *kind;
    uint64_t seed, draws;
    struct flow_net *net;
    double capacity[LINKS_MOST];
    bool live[FLOWS_MOST];
    uint32_t live_count;
    struct maxmin_flow flows[FLOWS_MOST];
    struct flow_use uses[FLOWS_MOST][USES_MOST];
    uint32_t use_count[FLOWS_MOST];
    double told[FLOWS_MOST]; /* rate after the last solve */
};

static uint32_t draw_count(struct twin *twin, uint32_t low, uint32_t high)
{
    return any_count(twin->seed, twin->draws++, low, high);
}

static double draw_value(struct twin *twin, double low, double high)
{
    if (twin->kind->alike) return draw_count(twin, 1, 2);
    return any_scale(twin->seed, twin->draws++, low, high);
}

static double draw_capacity(struct twin *twin)
{
    if (draw_count(twin, 0, 19) == 0) return 0;
    if (draw_count(twin, 0, 19) == 0) return INFINITY;
    return 12 * draw_value(twin, 0.1, 100);
}

static void add_flow(struct twin *twin)
{
    const struct kind *kind = twin->kind;
    struct flow_use uses[USES_MOST];
    const uint32_t count = kind->star                     ? 2
                           : draw_count(twin, 0, 30) == 0 ? 0
                                                          : draw_count(twin, 1, kind->uses);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t half = kind->links / 2;
        uses[i].link = kind->star ? i * half + draw_count(twin, 0, half - 1)
                                  : draw_count(twin, 0, kind->links - 1);
        uses[i].per_unit = kind->plain                    ? 1
                           : draw_count(twin, 0, 20) == 0 ? 0
                                                          : draw_value(twin, 0.5, 4);
    }
    const double weight = draw_value(twin, 0.1, 10);
    const bool capped = count == 0 || draw_count(twin, 0, kind->plain ? 20 : 4) == 0;
    const double cap = !capped                       ? INFINITY
                       : draw_count(twin, 0, 9) == 0 ? 0
                                                     : draw_value(twin, 0.1, 10);
    const uint32_t flow = flow_net_add(twin->net, weight, cap, uses, count);
    CHECK(flow < FLOWS_MOST && !twin->live[flow], "row %u given twice", flow);
    twin->live[flow] = true;
    twin->live_count++;
    twin->flows[flow] = (struct maxmin_flow){ weight, cap };
    memcpy(twin->uses[flow], uses, count * sizeof *uses);
    twin->use_count[flow] = count;
    twin->told[flow] = 0;
}

static void remove_flow(struct twin *twin)
{
    uint32_t flow = draw_count(twin, 0, FLOWS_MOST - 1);
    while (!twin->live[flow]) flow = (flow + 1) % FLOWS_MOST;
    flow_net_remove(twin->net, flow);
    twin->live[flow] = false;
    twin->live_count--;
}

static void change(struct twin *twin)
{
    const uint32_t what = draw_count(twin, 0, 9);
    if (what < 2) {
        const uint32_t link = draw_count(twin, 0, twin->kind->links - 1);
        twin->capacity[link] = draw_capacity(twin);
        flow_net_set_capacity(twin->net, link, twin->capacity[link]);
    } else if (twin->live_count < 2 ||
               draw_count(twin, 0, 2 * twin->kind->flows) > twin->live_count) {
        if (twin->live_count < FLOWS_MOST) add_flow(twin);
    } else {
        remove_flow(twin);
    }
}

/* The rates from scratch, and how far those of the net are from the certificate. */
static double solve_twin(const struct twin *twin, double *rate)
{
    static struct maxmin_use uses[FLOWS_MOST * USES_MOST];
    static double left[LINKS_MOST], load[LINKS_MOST], ours[FLOWS_MOST];
    static struct maxmin_flow flows[FLOWS_MOST];
    static uint8_t state[FLOWS_MOST];
    uint32_t count = 0;
    for (uint32_t f = 0; f < FLOWS_MOST; f++) {
        flows[f] = twin->live[f] ? twin->flows[f] : (struct maxmin_flow){ 1, 0 };
        ours[f] = twin->live[f] ? flow_net_rate(twin->net, f) : 0;
        for (uint32_t i = 0; twin->live[f] && i < twin->use_count[f]; i++)
            uses[count++] =
                (struct maxmin_use){ f, twin->uses[f][i].link, twin->uses[f][i].per_unit };
    }
    const struct maxmin_net net = { twin->capacity, twin->kind->links, flows, FLOWS_MOST, uses,
                                    count };
    struct maxmin_scratch scratch = { left, load, state, NULL, NULL };
    maxmin_rates(&net, &scratch, rate);
    return maxmin_error(&net, &scratch, ours);
}

static bool listed(const uint32_t *list, uint32_t count, uint32_t row)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == row) return true;
    return false;
}

static void check_changed(struct twin *twin, const uint32_t *changed, uint32_t count, uint32_t step)
{
    for (uint32_t i = 0; i < count; i++) {
        CHECK(twin->live[changed[i]], "change %u: flow %u is not there", step, changed[i]);
        CHECK(i == 0 || changed[i - 1] < changed[i], "change %u: not ascending", step);
    }
    for (uint32_t f = 0; f < FLOWS_MOST; f++) {
        if (!twin->live[f]) continue;
        const double rate = flow_net_rate(twin->net, f);
        CHECK(listed(changed, count, f) == (rate != twin->told[f]),
              "change %u: flow %u %.17g %.17g", step, f, rate, twin->told[f]);
        twin->told[f] = rate;
    }
}

static void follow(struct twin *twin)
{
    double want[FLOWS_MOST];
    for (uint32_t step = 0; step < CHANGES; step++) {
        for (uint32_t more = draw_count(twin, 0, 9) == 0 ? 5 : 1; more > 0; more--) change(twin);
        const uint32_t *changed, *reached;
        if (draw_count(twin, 0, 49) == 0) flow_net_forget(twin->net);
        const uint32_t count = flow_net_solve(twin->net, &changed);
        check_changed(twin, changed, count, step);
        const double error = solve_twin(twin, want);
        CHECK(error <= 1e-9, "change %u: the certificate is off by %g", step, error);
        for (uint32_t f = 0; f < FLOWS_MOST; f++) {
            if (!twin->live[f]) continue;
            const double got = flow_net_rate(twin->net, f);
            CHECK(got == want[f] || fabs(got - want[f]) <= 1e-9 * want[f],
                  "change %u: flow %u has %.17g, want %.17g", step, f, got, want[f]);
        }
        uint32_t moved[FLOWS_MOST];
        if (count > 0) memcpy(moved, changed, count * sizeof *moved);
        const uint32_t reach = flow_net_reached(twin->net, &reached);
        for (uint32_t i = 0; i < count; i++)
            CHECK(flow_net_rate(twin->net, moved[i]) >= twin->flows[moved[i]].cap * (1 - 1e-12) ||
                      listed(reached, reach, moved[i]),
                  "change %u: flow %u moved, not reached", step, moved[i]);
    }
}

static void rates_follow_changes(void **state)
{
    static struct twin twin;
    const struct kind *kind = *state;
    twin = (struct twin){ .kind = kind, .seed = 7 + (uint64_t)(kind - kinds) };
    twin.net = flow_net_create();
    for (uint32_t l = 0; l < kind->links; l++) {
        twin.capacity[l] = draw_capacity(&twin);
        CHECK(flow_net_link(twin.net, twin.capacity[l]) == l, "links are numbered");
    }
    follow(&twin);
    flow_net_destroy(twin.net);
}

/* Two flows of one link and one of another, by hand: L1 = 10, L2 = 4: a crosses both. */
static void rows_by_hand(void **state)
{
    (void)state;
    struct flow_net *net = flow_net_create();
    const uint32_t one = flow_net_link(net, 10), two = flow_net_link(net, 4);
    const struct flow_use both[] = { { two, 1 }, { one, 1 }, { two, 1 } };
    const uint32_t a = flow_net_add(net, 1, INFINITY, both + 1, 2);
    const uint32_t b = flow_net_add(net, 1, INFINITY, both + 1, 1);
    const uint32_t c = flow_net_add(net, 1, INFINITY, both, 1);
    const uint32_t *rows;
    assert_int_equal(flow_net_solve(net, &rows), 3);
    CHECK_NEAR(flow_net_rate(net, a), 2, 1e-12);
    CHECK_NEAR(flow_net_rate(net, b), 8, 1e-12);
    CHECK_NEAR(flow_net_rate(net, c), 2, 1e-12);
    assert_int_equal(flow_net_solve(net, &rows), 0);

    const struct flow_use *uses;
    assert_int_equal(flow_net_uses(net, a, &uses), 2);
    CHECK(uses[0].link + uses[1].link == one + two && uses[0].link != uses[1].link,
          "each link once");
    assert_int_equal(flow_net_flows_of(net, two, &rows), 2);
    CHECK(listed(rows, 2, a) && listed(rows, 2, c), "the flows of a link");

    flow_net_remove(net, c);
    assert_int_equal(flow_net_solve(net, &rows), 2);
    CHECK_NEAR(flow_net_rate(net, a), 4, 1e-12);
    CHECK_NEAR(flow_net_rate(net, b), 6, 1e-12);
    const uint32_t d = flow_net_add(net, 1, INFINITY, both, 3); /* L2 twice, L1 once */
    assert_int_equal(d, c);
    flow_net_solve(net, &rows);
    CHECK_NEAR(flow_net_rate(net, d), 4.0 / 3, 1e-12);
    flow_net_destroy(net);
}

/* A row that is removed and given again before a solve: its rate is that of the new flow, told when it has one. */
static void row_given_again_between_solves(void **state)
{
    (void)state;
    struct flow_net *net = flow_net_create();
    const struct flow_use use = { flow_net_link(net, 10), 1 };
    const uint32_t *rows, first = flow_net_add(net, 1, INFINITY, &use, 1);
    assert_int_equal(flow_net_solve(net, &rows), 1);
    flow_net_remove(net, first);
    assert_int_equal(flow_net_add(net, 1, INFINITY, &use, 1), first);
    assert_int_equal(flow_net_solve(net, &rows), 1);
    CHECK_NEAR(flow_net_rate(net, first), 10, 1e-12);
    flow_net_destroy(net);
}

/* Two hosts send over one uplink. At 20 it carries all that their links of 10 let through: it cannot bind, and what one does
 * never reaches the other. At 19 it can: 9.5 each. At 20 again, with a third host, 20 / 3 each. */
static void links_that_cannot_bind_connect_nothing(void **state)
{
    (void)state;
    struct flow_net *net = flow_net_create();
    const uint32_t uplink = flow_net_link(net, 20);
    uint32_t flows[3];
    const uint32_t *rows;
    for (uint32_t i = 0; i < 2; i++) {
        const struct flow_use uses[] = { { uplink, 1 }, { flow_net_link(net, 10), 1 } };
        flows[i] = flow_net_add(net, 1, INFINITY, uses, 2);
        assert_int_equal(flow_net_solve(net, &rows), 1);
        assert_int_equal(flow_net_reached(net, &rows), 1);
        assert_int_equal(rows[0], flows[i]);
        CHECK_NEAR(flow_net_rate(net, flows[i]), 10, 1e-12);
    }
    flow_net_set_capacity(net, uplink, 19);
    assert_int_equal(flow_net_solve(net, &rows), 2);
    assert_int_equal(flow_net_reached(net, &rows), 2);
    CHECK_NEAR(flow_net_rate(net, flows[1]), 9.5, 1e-12);
    flow_net_set_capacity(net, uplink, 20);
    const struct flow_use uses[] = { { uplink, 1 }, { flow_net_link(net, 10), 1 } };
    flows[2] = flow_net_add(net, 1, INFINITY, uses, 2);
    assert_int_equal(flow_net_solve(net, &rows), 3);
    assert_int_equal(flow_net_reached(net, &rows), 3);
    CHECK_NEAR(flow_net_rate(net, flows[0]), 20.0 / 3, 1e-12);
    flow_net_remove(net, flows[2]);
    assert_int_equal(flow_net_solve(net, &rows), 2);
    assert_int_equal(flow_net_reached(net, &rows), 2); /* it could bind before */
    CHECK_NEAR(flow_net_rate(net, flows[0]), 10, 1e-12);
    flow_net_destroy(net);
}

/* Link a = 10 has five flows, one of which shares link b = 4.4 with another: 2 each on a, and 2.4 for the other. A flow of weight
 * 1e16 that came to a and went must leave nothing behind: 5 + 1e16 - 1e16 is 4 in doubles, as if b were full first. */
static void a_weight_that_went_leaves_nothing(void **state)
{
    (void)state;
    struct flow_net *net = flow_net_create();
    const uint32_t a = flow_net_link(net, 10), b = flow_net_link(net, 4.4);
    const struct flow_use both[] = { { a, 1 }, { b, 1 } };
    const uint32_t *changed;
    for (uint32_t i = 0; i < 5; i++) flow_net_add(net, 1, INFINITY, both, i == 0 ? 2 : 1);
    const uint32_t other = flow_net_add(net, 1, INFINITY, both + 1, 1);
    const uint32_t huge = flow_net_add(net, 1e16, INFINITY, both, 1);
    flow_net_solve(net, &changed);
    flow_net_remove(net, huge);
    for (uint32_t i = 0; i < 2; i++) {
        if (i == 1) flow_net_forget(net);
        flow_net_solve(net, &changed);
        CHECK_NEAR(flow_net_rate(net, 0), 2, 1e-12);
        CHECK_NEAR(flow_net_rate(net, other), 2.4, 1e-12);
    }
    flow_net_destroy(net);
}

/* The same flows added forward, backward and forward again: rates agree to 1e-9, and the first and last to the bit. */
static void order_does_not_matter(void **state)
{
    (void)state;
    enum { LINKS = 30, FLOWS = 100, NETS = 3 };
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct flow_net *nets[NETS];
        uint32_t rows[NETS][FLOWS];
        const uint32_t *changed;
        for (uint32_t n = 0; n < NETS; n++) {
            nets[n] = flow_net_create();
            for (uint32_t l = 0; l < LINKS; l++) flow_net_link(nets[n], any_scale(seed, l, 1, 100));
            for (uint32_t i = 0; i < FLOWS; i++) {
                const uint32_t f = n == 1 ? FLOWS - 1 - i : i;
                struct flow_use uses[3];
                for (uint32_t u = 0; u < 3; u++)
                    uses[n == 1 ? 2 - u : u] =
                        (struct flow_use){ any_count(seed, 1000 + 3 * f + u, 0, LINKS - 1),
                                           any_scale(seed, 2000 + 3 * f + u, 0.5, 2) };
                rows[n][f] =
                    flow_net_add(nets[n], any_scale(seed, 100 + f, 0.5, 2), INFINITY, uses, 3);
                if (any_count(seed, 400 + f, 0, 3) == 0) flow_net_solve(nets[n], &changed);
            }
            flow_net_solve(nets[n], &changed);
        }
        for (uint32_t f = 0; f < FLOWS; f++) {
            const double rate = flow_net_rate(nets[0], rows[0][f]);
            CHECK_NEAR(flow_net_rate(nets[1], rows[1][f]), rate, 1e-9);
            CHECK(flow_net_rate(nets[2], rows[2][f]) == rate, "seed %lu: flow %u differs", seed, f);
        }
        for (uint32_t n = 0; n < NETS; n++) flow_net_destroy(nets[n]);
    }
}

int main(void)
{
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct CMUnitTest tests[KINDS + 5] = { cmocka_unit_test(a_weight_that_went_leaves_nothing),
                                           cmocka_unit_test(links_that_cannot_bind_connect_nothing),
                                           cmocka_unit_test(order_does_not_matter),
                                           cmocka_unit_test(rows_by_hand),
                                           cmocka_unit_test(row_given_again_between_solves) };
    for (size_t i = 0; i < KINDS; i++)
        tests[5 + i] = (struct CMUnitTest){ kinds[i].name, rates_follow_changes, NULL, NULL,
                                            (void *)(uintptr_t)&kinds[i] };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
