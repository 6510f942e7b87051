/* test_agenda.c - engine/agenda against a plain list that is searched from end to end. */
#include "engine/agenda.h"

#include "tests/near.h"
#include "tests/rows.h"

enum { SLOTS = 300, CHANGES = 10000 };

/* The list: one entry per slot, at_ns < 0 = none. */
struct listed {
    int64_t at_ns;
    uint64_t rank;
};

static int32_t first_of(const struct listed *list)
{
    int32_t first = -1;
    for (int32_t slot = 0; slot < SLOTS; slot++) {
        if (list[slot].at_ns < 0) continue;
        if (first < 0 || list[slot].at_ns < list[first].at_ns ||
            (list[slot].at_ns == list[first].at_ns && list[slot].rank < list[first].rank))
            first = slot;
    }
    return first;
}

static void same_first(const struct agenda *agenda, const struct listed *list)
{
    const int32_t want = first_of(list);
    const struct agenda_entry *first = agenda_first(agenda);
    if (want < 0) {
        assert_null(first);
        return;
    }
    assert_non_null(first);
    assert_int_equal(first->slot, want);
    assert_int_equal(first->at_ns, list[want].at_ns);
    assert_true(agenda_first_rank(agenda) == list[want].rank);
}

/* Times from a range of 50, so that many are equal and the rank decides. */
static void random_changes(void **state)
{
    const uint64_t seed = rows_number(state);
    struct agenda agenda;
    struct listed list[SLOTS];
    for (int slot = 0; slot < SLOTS; slot++) list[slot].at_ns = -1;
    assert_true(agenda_init(&agenda, 7)); /* grows below, as live rows do */
    uint32_t members = 0;
    for (uint64_t i = 0; i < CHANGES; i++) {
        const uint32_t slot = any_count(seed, 3 * i, 0, SLOTS - 1);
        assert_true(agenda_grow(&agenda, slot + 1));
        const double u = any(seed, 3 * i + 1);
        if (u < 0.2) { /* the first one happens */
            const int32_t first = first_of(list);
            if (first >= 0) {
                agenda_unset(&agenda, (uint32_t)first);
                list[first].at_ns = -1;
                members--;
            }
        } else if (u < 0.4) {
            agenda_unset(&agenda, slot);
            members -= list[slot].at_ns >= 0;
            list[slot].at_ns = -1;
        } else {
            const int64_t at_ns = any_count(seed, 3 * i + 2, 0, 49);
            members += list[slot].at_ns < 0;
            list[slot] = (struct listed){ at_ns, agenda_rank(any_count(seed, 3 * i + 2, 0, 7), i) };
            agenda_set(&agenda, slot, at_ns, list[slot].rank);
        }
        assert_int_equal(agenda.count, members);
        same_first(&agenda, list);
    }
    for (int32_t first; (first = first_of(list)) >= 0;) { /* all that is left, in order */
        same_first(&agenda, list);
        agenda_unset(&agenda, (uint32_t)first);
        list[first].at_ns = -1;
    }
    assert_null(agenda_first(&agenda));
    agenda_clear(&agenda);
}

static void rank_holds_kind_and_serial(void **state)
{
    (void)state;
    assert_true(agenda_rank(1, (UINT64_C(1) << 56) - 1) < agenda_rank(2, 0));
    assert_true(agenda_rank(5, 10) < agenda_rank(5, 11));
    assert_int_equal(agenda_kind(agenda_rank(7, 123456789)), 7);
}

static void far_times(void **state)
{
    (void)state;
    struct agenda agenda;
    assert_true(agenda_init(&agenda, 3));
    agenda_set(&agenda, 0, INT64_MAX, 1);
    agenda_set(&agenda, 1, INT64_MAX - 1, 9);
    agenda_set(&agenda, 2, 0, 5);
    assert_int_equal(agenda_first(&agenda)->slot, 2);
    agenda_set(&agenda, 2, INT64_MAX, 0); /* moved behind both by time, before slot 0 by rank */
    assert_int_equal(agenda_first(&agenda)->slot, 1);
    agenda_unset(&agenda, 1);
    agenda_unset(&agenda, 1); /* nothing happens */
    assert_int_equal(agenda_first(&agenda)->slot, 2);
    agenda_clear(&agenda);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, rank_holds_kind_and_serial, NULL, "rank: kind first, then serial");
    rows_add(&rows, far_times, NULL, "times up to the end of the clock");
    for (uintptr_t seed = 1; seed <= 10; seed++)
        rows_add(&rows, random_changes, (void *)seed, "10,000 changes like a list, seed %u",
                 (unsigned)seed);
    return rows_run("agenda", &rows);
}
