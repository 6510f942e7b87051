/* test_kube_text.c - quantities of Kubernetes (P75), by the rules of resource.Quantity. */
#include "io/kube_text.h"

#include "tests/rows.h"

#include <string.h>

#define NO INT64_C(-1) /* refused */

struct text_case {
    const char *text;
    int64_t want;
};

static const struct text_case cores[] = {
    { "500m", 500 }, { "0.5", 500 },    { "4", 4000 }, { "1e3", 1000000 },
    { "0.7", 700 },  { "0.1", 100 },    { "1m", 1 },   { "0.0001", 1 },
    { "0", 0 },      { "1k", 1000000 }, { "1K", NO },  { "-1", NO },
    { "4 ", NO },    { "four", NO },    { "m", NO },   { "2E", NO },
};

static const struct text_case bytes[] = {
    { "1024", 1024 },
    { "123Mi", INT64_C(123) << 20 },
    { "8Gi", INT64_C(8) << 30 },
    { "129M", 129000000 },
    { "1k", 1000 },
    { "1e9", 1000000000 },
    { "1.5Gi", INT64_C(3) << 29 },
    { "2T", INT64_C(2000000000000) },
    { "400m", NO }, /* 0.4 byte is surely a slip */
    { "1 Gi", NO },
    { "1gi", NO },
    { "1K", NO },
    { "1GB", NO },
    { "", NO },
};

static void check(const struct text_case *row,
                  bool (*read)(const char *, size_t, int64_t *, struct why *))
{
    int64_t value = 0;
    struct why why = { "" };
    assert_int_equal(read(row->text, strlen(row->text), &value, &why), row->want != NO);
    if (row->want != NO)
        assert_true(value == row->want);
    else
        assert_true(strlen(why.text) > 5);
}

static void check_cores(void **state)
{
    check(*state, kube_cpu);
}
static void check_bytes(void **state)
{
    check(*state, kube_bytes);
}

#define ADD(test, cases)                                                                           \
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)                                      \
    rows_add(&rows, test, &cases[i], "P75 " #cases " '%s'", cases[i].text)

int main(void)
{
    struct rows rows = { 0 };
    ADD(check_cores, cores);
    ADD(check_bytes, bytes);
    return rows_run("kubernetes texts", &rows);
}
