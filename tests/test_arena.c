/* test_arena.c - zeroed, aligned, within the budget. */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static void items_are_zeroed_and_aligned(void **state)
{
    (void)state;
    struct arena *arena = arena_create(64 << 20);
    assert_non_null(arena);
    for (size_t i = 1; i < 2000; i += 7) {
        uint32_t *items = ARENA_ARRAY(arena, uint32_t, i);
        assert_non_null(items);
        assert_int_equal((uintptr_t)items % 64, 0);
        for (size_t k = 0; k < i; k++) assert_int_equal(items[k], 0);
        memset(items, 0xa5, i * sizeof *items); /* a neighbour written by this would not be zero */
    }
    arena_destroy(arena);
}

static void budget_is_kept(void **state)
{
    (void)state;
    struct arena *arena = arena_create(1024);
    assert_non_null(arena_take(arena, 10, 64));
    assert_int_equal(arena_used_bytes(arena), 640);
    assert_null(arena_take(arena, 385, 1));
    assert_int_equal(arena_used_bytes(arena), 640);
    assert_non_null(arena_take(arena, 384, 1));
    assert_null(arena_take(arena, 1, 1));
    arena_destroy(arena);
}

static void products_that_overflow_are_refused(void **state)
{
    (void)state;
    struct arena *arena = arena_create(UINT64_MAX);
    assert_null(arena_take(arena, SIZE_MAX / 2, 3));
    assert_null(arena_take(arena, SIZE_MAX, 1));
    arena_destroy(arena);
    arena_destroy(NULL);
}

static void no_items_are_allowed(void **state)
{
    (void)state;
    struct arena *arena = arena_create(0);
    assert_non_null(arena_take(arena, 0, 8));
    assert_null(arena_take(arena, 1, 8));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_zeroed_and_aligned),
        cmocka_unit_test(budget_is_kept),
        cmocka_unit_test(products_that_overflow_are_refused),
        cmocka_unit_test(no_items_are_allowed),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
