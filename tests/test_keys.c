/* test_keys.c - the table of keys holds together: names, types, sizes, words, defaults. */
#include "spec/keys.h"

#include "spec/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

enum { ROWS_MOST = 1024 };

static bool is_number(enum key_type type)
{
    return type >= KEY_COUNT && type <= KEY_CONF_MIB;
}

/* Bytes that the reader writes for a type; 0 = any. */
static size_t stored_bytes(enum key_type type)
{
    if (type == KEY_CHOICE) return sizeof(enum order);
    if (type == KEY_BOOL) return sizeof(bool);
    return is_number(type) && type != KEY_COUNT ? 8 : 0;
}

/* A text that stands alone, as behind "'KEY' is missing: ", does not go on with the row above or the name of its key. */
static void check_help(const char *help)
{
    static const char *const starts[] = { "the same", "of ",  "that ", "they ",    "and ",
                                          "at ",      "for ", "from ", "likewise " };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(help, starts[i], strlen(starts[i])) == 0) fail_msg("'%s'", help);
}

static void check_row(void **state)
{
    const struct key_row *row = *state;
    assert_ptr_equal(key_find(row->path), row); /* found, and the first of its name */
    assert_non_null(row->help);
    assert_true(strlen(row->help) > 3);
    check_help(row->help);
    const bool is_flag = row->type == KEY_CHOICE && row->bytes == sizeof(bool);
    if (row->bytes != 0 && stored_bytes(row->type) != 0 && !is_flag)
        assert_int_equal(row->bytes, stored_bytes(row->type));
    if (row->type == KEY_COUNT && row->bytes == 4) assert_true(row->max > 0 && row->max < 4.3e9);
    if (row->type == KEY_CHOICE || row->type == KEY_WORD) assert_non_null(row->words);
    assert_true(row->min <= row->max);
    if (row->twin != NULL) {
        char path[128];
        const char *dot = strrchr(row->path, '.');
        const int map_bytes = dot ? (int)(dot - row->path) + 1 : 0;
        snprintf(path, sizeof path, "%.*s%s", map_bytes, row->path, row->twin);
        assert_non_null(key_find(path));
        assert_string_equal(key_find(path)->twin, row->path + map_bytes);
    }
    if (row->type == KEY_MAP && row->short_key != NULL) {
        char path[128];
        snprintf(path, sizeof path, "%s.%s", row->path, row->short_key);
        assert_non_null(key_find(path));
    }
}

static void parents_come_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < key_count; i++) {
        char parent[128];
        snprintf(parent, sizeof parent, "%s", keys[i].path);
        char *dot = strrchr(parent, '.');
        if (dot == NULL || strchr(parent, '[')) continue;
        *dot = '\0';
        const struct key_row *row = key_find(parent);
        if (row == NULL) continue; /* a group of its own: server, link, component, profile, mix */
        assert_true(row < &keys[i]);
        assert_true(row->type == KEY_MAP || row->type == KEY_CUSTOM);
    }
}

/* The stored number of a choice is its position: the words must follow the enums. */
static void words_follow_enums(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int value;
        const char *word;
    } rows[] = {
        { "workload.trace.format", TRACE_PHILLY, "philly" },
        { "workload.trace.format", TRACE_SWF, "swf" },
        { "workload.shape", SHAPE_FREE, "free" },
        { "workload.shape", SHAPE_RECORDED, "recorded" },
        { "replicas.resample", RESAMPLE_DAYS, "days" },
        { "scheduler.plain.order", ORDER_EASY, "easy" },
        { "scheduler.plain.placement", PLACE_SPREAD, "spread" },
        { "scheduler.kind", KIND_SLURM, "slurm" },
        { "scheduler.kind", KIND_STATIC, "static" },
        { "scheduler.slurm.compat", COMPAT_26_05, "26.05" },
        { "scheduler.slurm.PreemptType", PREEMPT_PARTITION_PRIO, "preempt/partition_prio" },
        { "layouts[].servers.sharing.kind", SHARING_MIG_MIXED, "mig_mixed" },
        { "layouts[].servers.sharing.kind", SHARING_SHARE, "share" },
        { "failures.drain", DRAIN_GPU, "gpu" },
        { "failures.drain", DRAIN_NOW, "now" },
        { "component.law", LAW_LOGNORMAL, "lognormal" },
        { "component.law", LAW_EXPONENTIAL, "exponential" },
        { "checkpoint.policy", CHECKPOINT_DALY, "daly" },
        { "checkpoint.policy", CHECKPOINT_FIXED, "fixed" },
        { "server.mark", MARK_HYPOTHETICAL, "hypothetical" },
        { "link.mark", MARK_DERIVED, "derived" },
        { "profile.mark", MARK_MEMORY, "memory" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char word[32];
        bool built;
        assert_true(key_word(key_find(rows[i].path)->words, (size_t)rows[i].value, word,
                             sizeof word, &built));
        assert_string_equal(word, rows[i].word);
        assert_true(built);
    }
}

static void words_are_taken_apart(void **state)
{
    (void)state;
    char word[8];
    bool built;
    assert_true(key_word("a|!bc|d", 0, word, sizeof word, &built) && built);
    assert_string_equal(word, "a");
    assert_true(key_word("a|!bc|d", 1, word, sizeof word, &built) && !built);
    assert_string_equal(word, "bc");
    assert_true(key_word("a|!bc|d", 2, word, sizeof word, &built) && built);
    assert_false(key_word("a|!bc|d", 3, word, sizeof word, &built));
}

static void rows_below_a_prefix(void **state)
{
    (void)state;
    assert_string_equal(key_below(key_find("time.horizon"), "time."), "horizon");
    assert_null(key_below(key_find("time.horizon"), ""));
    assert_string_equal(key_below(key_find("time"), ""), "time");
    assert_null(key_below(key_find("layouts[].name"), "layouts."));
    assert_string_equal(key_below(key_find("layouts[].name"), "layouts[]."), "name");
    assert_null(key_find("time.horizo"));
}

int main(void)
{
    struct CMUnitTest tests[ROWS_MOST];
    static char names[ROWS_MOST][96];
    size_t count = 0;
    for (; count < key_count && count < ROWS_MOST; count++) {
        snprintf(names[count], sizeof names[count], "row %s", keys[count].path);
        tests[count] = (struct CMUnitTest){ names[count], check_row, NULL, NULL,
                                            (void *)(uintptr_t)&keys[count] };
    }
    const struct CMUnitTest more[] = {
        cmocka_unit_test(parents_come_first),
        cmocka_unit_test(words_follow_enums),
        cmocka_unit_test(words_are_taken_apart),
        cmocka_unit_test(rows_below_a_prefix),
    };
    const int failed = _cmocka_run_group_tests("keys", tests, count, NULL, NULL);
    return failed + cmocka_run_group_tests_name("keys, the table", more, NULL, NULL);
}
