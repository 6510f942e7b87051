/* test_depend.c - spec/depend: the words of --dependency, right ones and wrong ones. */
#include "spec/depend.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <string.h>

/* Terms as "TYPE-NUMBER ID DELAY_MIN;". */
static const struct {
    const char *text, *terms;
    bool any;
    const char *wrong;
} lists[] = {
    { "", "", false, NULL },
    { "afterok:12", "1 12 0;", false, NULL },
    { "afterok:12:13,afterany:14", "1 12 0;1 13 0;3 14 0;", false, NULL },
    { "afterok:1?afternotok:2", "1 1 0;2 2 0;", true, NULL },
    { "after:7+90:8", "0 7 90;0 8 0;", false, NULL },
    { "singleton", "5  0;", false, NULL },
    { "afterok:a,singleton", "1 a 0;5  0;", false, NULL },
    { "AfterOK:5", "1 5 0;", false, NULL },
    { "12,13", "3 12 0;3 13 0;", false, NULL },
    { "aftercorr:31,afterburstbuffer:4_7", "4 31 0;3 4_7 0;", false, NULL },
    { "afterok:2+1", "1 2+1 0;", false, NULL },
    { "afterok:train-7", "1 train-7 0;", false, NULL },
    { "afterok", "", false, "names no job behind a type" },
    { "afterok:", "", false, "has an empty id" },
    { "afterok:1:", "1 1 0;", false, "has an empty id" },
    { "before:1", "", false, "has an unknown type" },
    { "afterok:1,after:2?after:3", "1 1 0;0 2 0;", false, "mixes ',' and '?'" },
    { "after:3+0", "", false, "waits for 0 minutes" },
    { "singleton:3", "", false, "names a job behind singleton" },
    { "afterok:1,", "1 1 0;", false, "has an empty id" },
    { ",afterok:1", "", false, "has an empty id" },
};

static void list(void **state)
{
    const size_t row = (size_t)rows_number(state);
    struct depend_reader reader = { .text = lists[row].text };
    struct depend_term term;
    char got[200] = "", one[80];
    while (depend_next(&reader, &term)) {
        snprintf(one, sizeof one, "%d %.*s %d;", (int)term.type, (int)term.id_bytes, term.id,
                 (int)(term.delay_ns / 60000000000));
        strcat(got, one);
    }
    assert_string_equal(got, lists[row].terms);
    if (lists[row].wrong)
        assert_string_equal(reader.wrong, lists[row].wrong);
    else
        assert_null(reader.wrong);
    assert_int_equal(depend_is_any(lists[row].text), lists[row].any);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        rows_add(&rows, list, (void *)(uintptr_t)i, "\"%s\"", lists[i].text);
    return rows_run("depend", &rows);
}
