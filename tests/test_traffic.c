/* test_traffic.c - what leaves servers and leaves, against MODELS 2.11, by hand, and rank by rank. */
#include "tests/near.h"
#include "tests/rows.h"

#include "models/collective.h"
#include "models/traffic.h"

/* NW-040: s g S (n - s g)/n, over what one server sends, g S (n - g)/n; and NW-038 for a ring. */
static void leaves_are_those_of_the_models(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        const uint32_t servers = any_count(seed, 0, 2, 40), gpus = any_count(seed, 1, 1, 8);
        const uint32_t here = any_count(seed, 2, 1, servers - 1);
        const uint32_t first = any_count(seed, 3, 0, servers - here);
        const struct traffic_part all = { TRAFFIC_ALL_TO_ALL, servers * gpus, 1, 0, 1 };
        const struct traffic_part ring = { TRAFFIC_RING, servers * gpus, 1, 0, 1 };
        const struct traffic_way all_way = traffic_way_of(&all, servers * gpus, servers, servers);
        const struct traffic_way ring_way = traffic_way_of(&ring, servers * gpus, servers, servers);
        const double of_server = leaf_uplink_bytes(LEAF_ALL_TO_ALL, 7.31e8, servers, 1, gpus);
        const double of_leaf = leaf_uplink_bytes(LEAF_ALL_TO_ALL, 7.31e8, servers, here, gpus);
        CHECK_NEAR(traffic_leaving(&all_way, first, first + here) * of_server, of_leaf, 1e-12);
        assert_true(traffic_leaving(&ring_way, first, first + here) == 1);
        assert_true(traffic_leaving(&ring_way, 0, servers) == 0);
    }
}

/* Eight servers of eight, leaves of four: all-to-all over all 4 x 4/7. Of two stages four servers apart all four cross, each at
 * half of what one in the middle of more stages sends: four times a server's. Of four stages of two servers each two cross, half each
 * way; with a way back the outer ones too. */
static void plans_by_hand(void **state)
{
    (void)state;
    static const struct {
        struct traffic_part part;
        double server, leaf;
    } cases[] = {
        { { TRAFFIC_ALL_TO_ALL, 8, 8, 0, 1 }, 1, 16.0 / 7 },
        { { TRAFFIC_ALL_TO_ALL, 4, 8, 0, 1 }, 1, 0 },
        { { TRAFFIC_ALL_TO_ALL, 2, 32, 0, 1 }, 1, 4 },
        { { TRAFFIC_RING, 8, 8, 0, 1 }, 1, 1 },
        { { TRAFFIC_RING, 32, 2, 0, 1 }, 1, 1 },
        { { TRAFFIC_RING, 4, 16, 0, 1 }, 1, 2 },
        { { TRAFFIC_STAGES, 2, 32, 0, 1 }, 0.5, 2 },
        { { TRAFFIC_STAGES, 2, 32, 0.5, 1 }, 0.75, 3 },
        { { TRAFFIC_STAGES, 4, 16, 0, 1 }, 0.5, 1 },
        { { TRAFFIC_STAGES, 4, 16, 1, 1 }, 1, 2 },
        { { TRAFFIC_STAGES, 16, 4, 0, 1 }, 0.5, 0.5 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct traffic_way way = traffic_way_of(&cases[i].part, 64, 8, 8);
        CHECK(fabs(traffic_out(&way, 0) - cases[i].server) < 1e-14, "row %zu: server", i);
        const double leaf = traffic_fullest(&way, 4);
        CHECK(fabs(leaf - cases[i].leaf) < 1e-14, "row %zu: leaf %g, want %g", i, leaf,
              cases[i].leaf);
    }
}

/* Domains of two servers, leaves of four: a ring over domains leaves a leaf by both servers of its last domain; a server's all-to-all
 * goes to the six servers of other domains. */
static void domains_send_to_each_other_alone(void **state)
{
    (void)state;
    const struct traffic_part ring = { TRAFFIC_RING, 64, 1, 0, 1 };
    const struct traffic_part all = { TRAFFIC_ALL_TO_ALL, 64, 1, 0, 1 };
    const struct traffic_way ring_way = traffic_way_of(&ring, 64, 8, 4);
    const struct traffic_way all_way = traffic_way_of(&all, 64, 8, 4);
    assert_true(traffic_fullest(&ring_way, 4) == 2 && traffic_fullest(&ring_way, 2) == 2);
    assert_true(traffic_fullest(&ring_way, 1) == 1);
    CHECK_NEAR(traffic_fullest(&all_way, 4), 4 * 4 / 6.0, 1e-14);
    assert_true(traffic_into(&all_way, 0, 1, 2) == 0);
    CHECK_NEAR(traffic_into(&all_way, 0, 2, 3), 1 / 6.0, 1e-14);
}

/* Twelve servers, groups of three: all-to-all sends 9 x 1/11 between each two, a ring all of one server's to the next group alone. */
static void pairs_by_hand(void **state)
{
    (void)state;
    const struct traffic_part all = { TRAFFIC_ALL_TO_ALL, 96, 1, 0, 1 };
    const struct traffic_part ring = { TRAFFIC_RING, 96, 1, 0, 1 };
    const struct traffic_way all_way = traffic_way_of(&all, 96, 12, 12);
    const struct traffic_way ring_way = traffic_way_of(&ring, 96, 12, 12);
    CHECK_NEAR(traffic_fullest_pair(&all_way, 3), 9 / 11.0, 1e-14);
    assert_true(traffic_fullest_pair(&ring_way, 3) == 1);
    assert_true(traffic_fullest_pair(&ring_way, 12) == 0);
}

/* ---- rank by rank ---------------------------------------------------------------------------- */

/* What ranks send to ranks: [from] to the servers outside first .. end - 1, of rows of `g` ranks. */
static double sends(const struct traffic_part *part, uint32_t g, uint32_t first, uint32_t end)
{
    const uint32_t members = part->members, stride = part->stride, block = members * stride;
    double sum = 0;
    for (uint32_t r = first * g; r < end * g; r++) {
        const uint32_t base = r / block * block + r % stride, m = (r - base) / stride;
        for (uint32_t k = 0; k < members; k++) {
            const uint32_t to = (base + k * stride) / g;
            double share = 0;
            if (part->pattern == TRAFFIC_ALL_TO_ALL && k != m) share = 1;
            if (part->pattern == TRAFFIC_RING && k == (m + 1) % members) share = 1;
            if (part->pattern == TRAFFIC_STAGES) {
                if (k == (m + 1) % members) share += k > m ? 0.5 : 0.5 * part->back;
                if (m == (k + 1) % members) share += k < m ? 0.5 : 0.5 * part->back;
            }
            if (to < first || to >= end) sum += share;
        }
    }
    return sum;
}

static void ranks_say_the_same(void **state)
{
    const uint64_t seed = rows_number(state);
    const uint32_t g = 1u << any_count(seed, 0, 0, 3), servers = 2u << any_count(seed, 1, 0, 4);
    const uint32_t gpus = g * servers;
    uint32_t stride = 1u << any_count(seed, 2, 0, 8), members = 2u << any_count(seed, 3, 0, 7);
    while (stride * members > gpus) {
        if (members > 2)
            members /= 2;
        else
            stride /= 2;
    }
    if (stride * members <= g) return; /* inside a server */
    const struct traffic_part part = { (enum traffic_pattern)(seed % 3), members, stride,
                                       any(seed, 4), 1 };
    const struct traffic_way way = traffic_way_of(&part, gpus, servers, servers);
    /* A server in the middle, or any. */
    struct traffic_part middle = part;
    middle.back = 1;
    const double one = sends(&middle, g, 0, 1);
    for (uint32_t s = 0; s < servers; s++)
        CHECK_NEAR(traffic_out(&way, s), sends(&part, g, s, s + 1) / one, 1e-12);
    for (uint32_t draw = 10; draw < 30; draw++) {
        const uint32_t first = any_count(seed, 2 * draw, 0, servers - 1);
        const uint32_t end = any_count(seed, 2 * draw + 1, first + 1, servers);
        CHECK_NEAR(traffic_leaving(&way, first, end), sends(&part, g, first, end) / one, 1e-12);
    }
}

/* Any numbers: what leaves some servers enters the others, nothing is sent to oneself, and all of it is somewhere. */
static void odd_jobs_add_up(void **state)
{
    const uint64_t seed = rows_number(state);
    const uint32_t servers = any_count(seed, 0, 2, 30);
    const uint32_t gpus = servers * any_count(seed, 1, 1, 8) + any_count(seed, 2, 0, 7);
    const struct traffic_part part = { (enum traffic_pattern)(seed % 3), any_count(seed, 3, 2, 20),
                                       any_count(seed, 4, 1, gpus), any(seed, 5), 1 };
    const uint32_t domains = any_count(seed, 6, 1, servers);
    const struct traffic_way way = traffic_way_of(&part, gpus, servers, domains);
    for (uint32_t s = 0; s < servers; s++) {
        double sum = 0;
        for (uint32_t to = 0; to < servers; to++) sum += traffic_into(&way, s, to, to + 1);
        CHECK(fabs(sum - traffic_out(&way, s)) < 1e-12, "server %u", s);
        assert_true(sum < 1 + 1e-12 && traffic_into(&way, s, s, s + 1) == 0);
    }
    assert_true(traffic_leaving(&way, 0, servers) == 0);
    const uint32_t cut = any_count(seed, 7, 1, servers - 1);
    if (way.domain > 1) return; /* domains of unequal size send unequally */
    const double out = traffic_leaving(&way, 0, cut), in = traffic_leaving(&way, cut, servers);
    CHECK(fabs(out - in) < 1e-12, "%g out, %g in", out, in);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, leaves_are_those_of_the_models, NULL, "leaves");
    rows_add(&rows, plans_by_hand, NULL, "plans by hand");
    rows_add(&rows, domains_send_to_each_other_alone, NULL, "domains");
    rows_add(&rows, pairs_by_hand, NULL, "pairs");
    for (uintptr_t seed = 1; seed <= 300; seed++)
        rows_add(&rows, ranks_say_the_same, (void *)seed, "ranks, seed %u", (unsigned)seed);
    for (uintptr_t seed = 1; seed <= 300; seed++)
        rows_add(&rows, odd_jobs_add_up, (void *)seed, "odd, seed %u", (unsigned)seed);
    return rows_run("traffic", &rows);
}
