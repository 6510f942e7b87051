/* test_log.c - what goes in comes out, up to the cap. */
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct item {
    uint64_t number;
    uint32_t twice;
};

static void items_keep_order(void **state)
{
    (void)state;
    struct log log;
    log_init(&log, sizeof(struct item), 0);
    for (uint32_t i = 0; i < 10007; i++)
        assert_true(log_append(&log, &(struct item){ .number = i, .twice = 2 * i }));
    assert_int_equal(log.count, 10007);
    for (uint32_t i = 0; i < 10007; i++) {
        assert_int_equal(LOG_ITEMS(&log, struct item)[i].number, i);
        assert_int_equal(LOG_ITEMS(&log, struct item)[i].twice, 2 * i);
    }
    log_clear(&log);
    assert_int_equal(log.count, 0);
    assert_true(log_append(&log, &(struct item){ .number = 5 })); /* usable again */
    log_clear(&log);
    log_clear(&log);
}

static void cap_is_kept(void **state)
{
    (void)state;
    struct log log;
    log_init(&log, sizeof(uint32_t), 19); /* between two doublings */
    for (uint32_t i = 0; i < 19; i++) assert_true(log_append(&log, &i));
    for (uint32_t i = 0; i < 3; i++) assert_false(log_append(&log, &i));
    assert_int_equal(log.count, 19);
    assert_int_equal(LOG_ITEMS(&log, uint32_t)[18], 18);
    log_clear(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_keep_order),
        cmocka_unit_test(cap_is_kept),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
