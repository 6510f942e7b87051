/* test_maxmin.c - models/maxmin: the certificate of max-min shares over random nets, and that it can fail. */
#include "models/maxmin.h"

#include "tests/near.h"

#include <math.h>

enum { LINKS = 8, FLOWS = 20, USES = 60 };

struct net {
    double capacity[LINKS], left[LINKS], load[LINKS], rate[FLOWS];
    struct maxmin_flow flows[FLOWS];
    struct maxmin_use uses[USES];
    uint8_t state[FLOWS];
    struct maxmin_net net;
    struct maxmin_scratch scratch;
};

/* Some links are dead, some flows capped, some use a link twice as much, some no link and a cap. */
static void random_net(struct net *all, uint64_t seed)
{
    for (uint64_t l = 0; l < LINKS; l++)
        all->capacity[l] = any_count(seed, l, 0, 9) == 0 ? 0 : any_scale(seed, 100 + l, 1, 1e3);
    uint32_t uses = 0;
    for (uint32_t f = 0; f < FLOWS; f++) {
        const uint32_t count = any_count(seed, 200 + f, 0, 3);
        const bool capped = count == 0 || any_count(seed, 300 + f, 0, 2) == 0;
        all->flows[f] =
            (struct maxmin_flow){ any_scale(seed, 400 + f, 0.1, 10),
                                  capped ? any_scale(seed, 500 + f, 1, 100) : INFINITY };
        for (uint32_t i = 0; i < count; i++)
            all->uses[uses++] =
                (struct maxmin_use){ f, any_count(seed, 600 + 3 * f + i, 0, LINKS - 1),
                                     any_scale(seed, 700 + 3 * f + i, 0.5, 2) };
    }
    all->net = (struct maxmin_net){ all->capacity, LINKS, all->flows, FLOWS, all->uses, uses };
    all->scratch = (struct maxmin_scratch){ all->left, all->load, all->state, NULL, NULL };
    maxmin_rates(&all->net, &all->scratch, all->rate);
}

static void shares_are_maxmin(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct net all;
        random_net(&all, seed);
        const double error = maxmin_error(&all.net, &all.scratch, all.rate);
        CHECK(error <= 1e-11, "seed %lu: off by %g", seed, error);
    }
}

/* Any other rates are told from them: one flow with 1 % less, or with 1 % more. */
static void other_rates_are_not(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct net all;
        random_net(&all, seed);
        const uint32_t flow = any_count(seed, 1, 0, FLOWS - 1);
        const double fair = all.rate[flow];
        if (!(fair > 0)) continue;
        all.rate[flow] = fair * 0.99;
        CHECK(maxmin_error(&all.net, &all.scratch, all.rate) > 1e-3, "seed %lu: less", seed);
        all.rate[flow] = fair * 1.01;
        CHECK(maxmin_error(&all.net, &all.scratch, all.rate) > 1e-6, "seed %lu: more", seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shares_are_maxmin),
                                        cmocka_unit_test(other_rates_are_not) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
