/* test_names.c - policy/names: words of lists, and the table against a plain list of pairs. */
#include "policy/names.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <string.h>

static const struct {
    const char *name, *list;
    uint32_t words;
    const char *last;
} lists[] = {
    { "one word", "batch", 1, "batch" },
    { "three", "batch,prod,urgent", 3, "urgent" },
    { "an empty word between", "a,,b", 3, "b" },
    { "a comma at the end", "a,", 1, "a" },
    { "nothing", "", 0, "" },
};

static void words(void **state)
{
    const size_t row = (size_t)rows_number(state);
    const char *list = lists[row].list;
    struct name word = name_of("");
    uint32_t count = 0;
    while (name_next(&list, ",", &word)) count++;
    assert_int_equal(count, lists[row].words);
    assert_true(name_is(word, lists[row].last));
}

/* Pairs out of few letters, so that ("ab", "c") and ("a", "bc") both come. */
static void like_a_list(void **state)
{
    const uint64_t seed = rows_number(state);
    enum { PAIRS = 600 };
    static char text[PAIRS][2][4];
    struct names names = { 0 };
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < PAIRS; i++) {
        for (uint32_t half = 0; half < 2; half++) {
            const uint32_t bytes = any_count(seed, 8 * i + half, 0, 3);
            memset(text[i][half], 0, 4);
            for (uint32_t b = 0; b < bytes; b++)
                text[i][half][b] = (char)any_count(seed, 8 * i + 2 + 3 * half + b, 'a', 'c');
        }
        uint32_t want = i;
        for (uint32_t k = 0; k < i && want == i; k++)
            if (!strcmp(text[k][0], text[i][0]) && !strcmp(text[k][1], text[i][1])) want = k;
        const struct name first = name_of(text[i][0]), second = name_of(text[i][1]);
        assert_int_equal(names_find(&names, first, second), want == i ? NAMES_NONE : want);
        assert_int_equal(names_add(&names, first, second, i), want);
        if (want == i) distinct++;
        assert_int_equal(names.count, distinct);
    }
    names_clear(&names);
    assert_int_equal(names_find(&names, name_of("a"), name_of("")), NAMES_NONE);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        rows_add(&rows, words, (void *)(uintptr_t)i, "words: %s", lists[i].name);
    for (uint64_t seed = 1; seed <= 20; seed++)
        rows_add(&rows, like_a_list, (void *)(uintptr_t)seed, "pairs, seed %u", (unsigned)seed);
    return rows_run("names", &rows);
}
