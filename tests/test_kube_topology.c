/* test_kube_topology.c - policy/kube_topology: reports of C054 to C070 by hand, and what must hold for any tree. */
#include "policy/kube_topology.h"

#include "tests/near.h"

#include <string.h>

enum { HOSTS = 1024 };

struct grown {
    struct topology_tree tree;
    uint32_t parent[3][HOSTS], places[3][HOSTS];
    uint32_t rows[HOSTS], chosen[HOSTS], spare[HOSTS], assigned[HOSTS];
    uint64_t key[HOSTS];
};

/* Blocks of `racks` racks of `hosts` hosts; the hosts' places are for the caller to fill. */
static void grow(struct grown *grown, uint32_t blocks, uint32_t racks, uint32_t hosts)
{
    memset(grown, 0, sizeof *grown);
    struct topology_tree *tree = &grown->tree;
    tree->level_count = 3;
    tree->domains[0] = blocks;
    tree->domains[1] = blocks * racks;
    tree->domains[2] = blocks * racks * hosts;
    assert_true(tree->domains[2] <= HOSTS);
    for (uint32_t r = 0; r < tree->domains[1]; r++) grown->parent[1][r] = r / racks;
    for (uint32_t h = 0; h < tree->domains[2]; h++) grown->parent[2][h] = h / hosts;
    for (uint32_t level = 0; level < 3; level++) {
        tree->parent[level] = grown->parent[level];
        tree->free[level] = grown->places[level];
    }
    tree->rows = grown->rows;
    tree->chosen = grown->chosen;
    tree->spare = grown->spare;
    tree->key = grown->key;
}

static void fill(struct grown *grown, uint32_t places)
{
    for (uint32_t h = 0; h < grown->tree.domains[2]; h++) grown->places[2][h] = places;
    topology_sum(&grown->tree);
}

static uint32_t racks_used(const struct grown *grown)
{
    bool used[HOSTS] = { false };
    uint32_t count = 0;
    for (uint32_t h = 0; h < grown->tree.domains[2]; h++)
        if (grown->assigned[h]) used[grown->parent[2][h]] = true;
    for (uint32_t r = 0; r < grown->tree.domains[1]; r++) count += used[r];
    return count;
}

/* C058: a job of 2 on hosts with 4 and 2 free takes the 2. */
static void c058_the_tight_host(void **state)
{
    (void)state;
    static struct grown grown;
    grow(&grown, 1, 1, 2);
    grown.places[2][0] = 4;
    grown.places[2][1] = 2;
    topology_sum(&grown.tree);
    assert_true(topology_assign(&grown.tree, 2, TOPOLOGY_REQUIRED, 2, grown.assigned));
    assert_int_equal(grown.assigned[1], 2);
}

/* C060: 33 racks of 18 hosts of 4 GPUs. A job of one GPU each, placed one by one, fills one rack after the other. */
static void c060_small_jobs_fill_few_racks(void **state)
{
    (void)state;
    static struct grown grown;
    grow(&grown, 1, 33, 18);
    fill(&grown, 4);
    for (uint32_t job = 0; job < 100; job++) {
        assert_true(topology_assign(&grown.tree, 1, TOPOLOGY_REQUIRED, 1, grown.assigned));
        for (uint32_t h = 0; h < grown.tree.domains[2]; h++)
            grown.places[2][h] -= grown.assigned[h];
        topology_sum(&grown.tree);
    }
    uint32_t whole = 0;
    for (uint32_t r = 0; r < 33; r++) whole += grown.places[1][r] == 18 * 4;
    assert_int_equal(whole, 31); /* 100 GPUs: one rack of 72 and a part of the next */
}

/* C062, C063: leaves of 2 hosts; 4 workers take two leaves, 2 and 2, not 2, 1 and 1. */
static void c063_two_leaves_not_three(void **state)
{
    (void)state;
    static struct grown grown;
    grow(&grown, 1, 4, 2);
    fill(&grown, 1);
    assert_true(topology_assign(&grown.tree, 4, TOPOLOGY_PREFERRED, 1, grown.assigned));
    assert_int_equal(racks_used(&grown), 2);
}

/* C069: the fuller clique could not hold the gang: the one that holds it is taken. */
static void c069_the_domain_must_hold_all(void **state)
{
    (void)state;
    static struct grown grown;
    grow(&grown, 1, 2, 4);
    fill(&grown, 1);
    grown.places[2][0] = 0; /* rack 0 holds 3, rack 1 holds 4 */
    topology_sum(&grown.tree);
    assert_true(topology_assign(&grown.tree, 4, TOPOLOGY_REQUIRED, 1, grown.assigned));
    for (uint32_t h = 4; h < 8; h++) assert_int_equal(grown.assigned[h], 1);
    assert_false(topology_assign(&grown.tree, 5, TOPOLOGY_REQUIRED, 1, grown.assigned));
    assert_int_equal(racks_used(&grown), 0);
}

/* Any tree: nobody gets more than is free, all or nothing, one domain where one is required, and a request is admitted
 * exactly when a domain of its level, or the whole tree, holds it. */
static void any_tree(void **state)
{
    (void)state;
    static struct grown grown;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        grow(&grown, any_count(seed, 0, 1, 3), any_count(seed, 1, 1, 4), any_count(seed, 2, 1, 5));
        uint32_t total = 0, widest = 0;
        for (uint32_t h = 0; h < grown.tree.domains[2]; h++)
            total += grown.places[2][h] = any_count(seed, 100 + h, 0, 4);
        topology_sum(&grown.tree);
        const uint32_t level = any_count(seed, 3, 0, 2), count = any_count(seed, 4, 1, total + 2);
        const enum topology_mode mode = (enum topology_mode)any_count(seed, 5, 0, 2);
        for (uint32_t d = 0; d < grown.tree.domains[level]; d++)
            if (grown.places[level][d] > widest) widest = grown.places[level][d];
        const bool admitted = topology_assign(&grown.tree, count, mode, level, grown.assigned);
        CHECK(admitted == (count <= (mode == TOPOLOGY_REQUIRED ? widest : total)),
              "seed %lu: %u of %u, mode %d: %d", seed, count, total, mode, admitted);
        uint32_t sum = 0, domains = 0, last = UINT32_MAX;
        for (uint32_t h = 0; h < grown.tree.domains[2]; h++) {
            CHECK(grown.assigned[h] <= grown.places[2][h], "seed %lu: host %u", seed, h);
            sum += grown.assigned[h];
            uint32_t domain = h;
            for (uint32_t up = 2; up > level; up--) domain = grown.parent[up][domain];
            if (grown.assigned[h] && domain != last) domains++, last = domain;
        }
        CHECK(sum == (admitted ? count : 0), "seed %lu: %u pods", seed, sum);
        if (admitted && mode == TOPOLOGY_REQUIRED)
            CHECK(domains == 1, "seed %lu: %u domains", seed, domains);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c058_the_tight_host),
        cmocka_unit_test(c060_small_jobs_fill_few_racks),
        cmocka_unit_test(c063_two_leaves_not_three),
        cmocka_unit_test(c069_the_domain_must_hold_all),
        cmocka_unit_test(any_tree),
    };
    return cmocka_run_group_tests_name("kube_topology", tests, NULL, NULL);
}
