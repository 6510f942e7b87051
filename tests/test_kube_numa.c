/* test_kube_numa.c - policy/kube_numa: hints worked by hand from the rules of the kubelet, and against all sets of
 * sockets in another order. */
#include "policy/kube_numa.h"

#include "base/bits.h"

#include <string.h>

#include "rows.h"
#include "tests/near.h"

/* A device on socket s is one of all[s], free while free[s] of them are. admits: bit of each policy, as in enum
 * topology_manager; none and best-effort take everything. */
enum { NONE_BEST = 1 << TM_NONE | 1 << TM_BEST_EFFORT };
enum { TO_RESTRICTED = NONE_BEST | 1 << TM_RESTRICTED };
enum { ALL_POLICIES = TO_RESTRICTED | 1 << TM_SINGLE_NUMA_NODE };
static const struct {
    const char *name;
    uint32_t sockets, all[KUBE_SOCKETS], free[KUBE_SOCKETS], size, want;
    bool preferred;
    int admits;
} cases[] = {
    { "4 of an empty 2x4", 2, { 4, 4 }, { 4, 4 }, 4, 0x1, true, ALL_POLICIES },
    { "3 of 2x4, 2 free each", 2, { 4, 4 }, { 2, 2 }, 3, 0x3, false, NONE_BEST },
    { "2 of 2x4, 2 free each", 2, { 4, 4 }, { 2, 2 }, 2, 0x1, true, ALL_POLICIES },
    { "2 of 2x4, 1 and 3 free", 2, { 4, 4 }, { 1, 3 }, 2, 0x2, true, ALL_POLICIES },
    { "5 of 2x4 never fit one", 2, { 4, 4 }, { 4, 4 }, 5, 0x3, true, TO_RESTRICTED },
    { "8 of 2x4", 2, { 4, 4 }, { 4, 4 }, 8, 0x3, true, TO_RESTRICTED },
    { "a broken one counts as there", 2, { 4, 4 }, { 3, 2 }, 4, 0x3, false, NONE_BEST },
    { "4 of 2+6, 2 free each", 2, { 2, 6 }, { 2, 2 }, 4, 0x3, false, NONE_BEST },
    { "3 of 4x2", 4, { 2, 2, 2, 2 }, { 1, 1, 2, 2 }, 3, 0x5, true, TO_RESTRICTED },
    { "3 of 4x2, 1 free each", 4, { 2, 2, 2, 2 }, { 1, 1, 1, 1 }, 3, 0x7, false, NONE_BEST },
    { "8 of 1x8", 1, { 8 }, { 8 }, 8, 0x1, true, ALL_POLICIES },
    { "1 of 8x1",
      8,
      { 1, 1, 1, 1, 1, 1, 1, 1 },
      { 0, 0, 0, 0, 0, 0, 0, 1 },
      1,
      0x80,
      true,
      ALL_POLICIES },
    { "more than there are", 2, { 4, 4 }, { 4, 4 }, 9, 0x0, false, NONE_BEST },
};

static void a_hint(void **state)
{
    const size_t row = rows_number(state);
    struct kube_socket_counts counts;
    memcpy(counts.all, cases[row].all, sizeof counts.all);
    memcpy(counts.free, cases[row].free, sizeof counts.free);
    const struct kube_hint hint = kube_best_hint(&counts, cases[row].sockets, cases[row].size);
    assert_int_equal(hint.sockets, cases[row].want);
    assert_int_equal(hint.preferred, cases[row].preferred);
    for (int policy = TM_NONE; policy <= TM_SINGLE_NUMA_NODE; policy++)
        CHECK(kube_hint_admits((enum topology_manager)policy, hint) ==
                  (cases[row].admits >> policy & 1),
              "policy %d", policy);
}

/* The least number of sockets with so many devices, largest first: what a set of `least` sockets must reach. */
static uint32_t least_sockets(const uint32_t *counts, uint32_t sockets, uint32_t size)
{
    uint32_t sorted[KUBE_SOCKETS], sum = 0;
    memcpy(sorted, counts, sockets * sizeof *sorted);
    for (uint32_t taken = 0; taken < sockets; taken++) {
        for (uint32_t s = taken + 1; s < sockets; s++)
            if (sorted[s] > sorted[taken]) {
                const uint32_t more = sorted[s];
                sorted[s] = sorted[taken];
                sorted[taken] = more;
            }
        sum += sorted[taken];
        if (sum >= size) return taken + 1;
    }
    return 0;
}

/* The width of a hint is what the fullest sockets say; it is preferred when the empty node says the same. */
static void widths_follow_the_fullest_sockets(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct kube_socket_counts counts = { 0 };
        const uint32_t sockets = any_count(seed, 1, 1, KUBE_SOCKETS);
        uint32_t free_sum = 0;
        for (uint32_t s = 0; s < sockets; s++) {
            counts.all[s] = any_count(seed, 10 + s, 0, 8);
            counts.free[s] = any_count(seed, 20 + s, 0, counts.all[s]);
            free_sum += counts.free[s];
        }
        const uint32_t size = any_count(seed, 2, 1, 12);
        const struct kube_hint hint = kube_best_hint(&counts, sockets, size);
        const uint32_t width = least_sockets(counts.free, sockets, size);
        assert_int_equal(bits_count(hint.sockets), width);
        assert_int_equal(width == 0, free_sum < size);
        assert_int_equal(hint.preferred,
                         width && width == least_sockets(counts.all, sockets, size));
    }
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t row = 0; row < sizeof cases / sizeof *cases; row++)
        rows_add(&rows, a_hint, (void *)row, "%s", cases[row].name);
    rows_add(&rows, widths_follow_the_fullest_sockets, NULL, "widths follow the fullest sockets");
    return rows_run("kube_numa", &rows);
}
