/* test_hostlist.c - host lists: what they hold, what is refused, and names there and back.
 *
 * Wanted names are written out by hand in the way `scontrol show hostnames` prints them. */
#include "rows.h"

#include "spec/hostlist.h"
#include "spec/node_names.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* hosts: all names by blanks; why: a part of the reason when it is refused. */
struct list_case {
    const char *text, *hosts, *why;
};
static const struct list_case lists[] = {
    { "login", "login", NULL },
    { "n[0-3,7],c[00-02]", "n0 n1 n2 n3 n7 c00 c01 c02", NULL },
    { "n[08-11]", "n08 n09 n10 n11", NULL },
    { "n[8-11]", "n8 n9 n10 n11", NULL },
    { "gpu[001,010-011]-ib", "gpu001-ib gpu010-ib gpu011-ib", NULL },
    { "r[1-2]n[0-1]", "r1n0 r1n1 r2n0 r2n1", NULL },
    { "n[1-2]0", "n10 n20", NULL },
    { "n3,n1", "n3 n1", NULL },
    { "a[99-101]", "a99 a100 a101", NULL },
    { "", NULL, "empty" },
    { "n0,", NULL, "ends with a comma" },
    { ",n0", NULL, "empty name" },
    { "n0,,n1", NULL, "empty name" },
    { "n[0-3", NULL, "lacks a ']'" },
    { "n0-3]", NULL, "without a '['" },
    { "n[]", NULL, "needs numbers" },
    { "n[3-0]", NULL, "needs numbers" },
    { "n[0-3,]", NULL, "needs numbers" },
    { "n[a-c]", NULL, "needs numbers" },
    { "n[0-9999999999]", NULL, "needs numbers" },
    { "n[0-99999999]", NULL, "too many hosts" },
    { "n[0-9999]m[0-9999]", NULL, "too many hosts" },
    { "n[0-1] ,n4", NULL, "blank" },
    { "a[0-1]b[0-1]c[0-1]d[0-1]e[0-1]", NULL, "too many brackets" },
    { "a12345678901234567890123456789012345678901234567890123456789[10000-10001]", NULL,
      "too long" },
};

static void list_is_read(void **state)
{
    const struct list_case *want = *state;
    uint32_t count = 0;
    const char *const why = hostlist_check(want->text, &count);
    if (want->why) {
        assert_non_null(why);
        if (!strstr(why, want->why)) fail_msg("'%s' instead of '%s'", why, want->why);
        return;
    }
    assert_null(why);
    char got[512] = "";
    for (uint32_t i = 0; i < count; i++) {
        char name[LIMIT_NAME_BYTES];
        uint32_t place;
        assert_true(hostlist_name(want->text, i, name));
        assert_true(hostlist_find(want->text, name, &place));
        assert_int_equal(place, i);
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "", name);
    }
    assert_string_equal(got, want->hosts);
    char name[LIMIT_NAME_BYTES];
    assert_false(hostlist_name(want->text, count, name));
}

static void others_are_not_found(void **state)
{
    (void)state;
    uint32_t place;
    assert_false(hostlist_find("n[08-11]", "n8", &place));
    assert_false(hostlist_find("n[8-11]", "n08", &place));
    assert_false(hostlist_find("n[0-3]", "n4", &place));
    assert_false(hostlist_find("n[0-3]", "n", &place));
    assert_false(hostlist_find("n[0-3]", "n1x", &place));
    assert_false(hostlist_find("n[0-3]", "m1", &place));
}

/* Two named groups around one without names; the second is cut into two nodes a server. */
static void rows_of_a_layout(void **state)
{
    (void)state;
    struct server_group groups[3] = { { .count = 2, .names = "a[0-1]" },
                                      { .count = 2, .nodes_per_server = 2 },
                                      { .count = 3, .names = "z1,z[3-4]" } };
    const struct layout layout = { .name = "dense-8", .groups = groups, .group_count = 3 };
    static const char *const names[] = { "a0",        "a1", "dense-8-2", "dense-8-3", "dense-8-4",
                                         "dense-8-5", "z1", "z3",        "z4" };
    assert_int_equal(layout_nodes(&layout), COUNT(names));
    for (uint32_t node = 0; node < COUNT(names); node++) {
        char name[LIMIT_NAME_BYTES];
        node_name(&layout, node, name);
        assert_string_equal(name, names[node]);
        assert_int_equal(node_find(&layout, name), node);
        assert_int_equal(node_list_at(&layout, "ALL", node), node);
    }
    assert_int_equal(node_find(&layout, "dense-8-1"), NODE_NONE);
    assert_int_equal(node_find(&layout, "dense-8-02"), NODE_NONE);
    assert_int_equal(node_find(&layout, "dense-8-99"), NODE_NONE);
    assert_int_equal(node_find(&layout, "z2"), NODE_NONE);

    char name[LIMIT_NAME_BYTES];
    uint32_t count;
    assert_null(node_list_check(&layout, "ALL", &count, name));
    assert_int_equal(count, 9);
    assert_null(node_list_check(&layout, "z[3-4],dense-8-[2-3]", &count, name));
    assert_int_equal(count, 4);
    assert_int_equal(node_list_at(&layout, "z[3-4],dense-8-[2-3]", 2), 2);
    assert_non_null(node_list_check(&layout, "z[2-3]", &count, name));
    assert_string_equal(name, "z2");
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < COUNT(lists); i++)
        rows_add(&rows, list_is_read, &lists[i], "list '%.60s'", lists[i].text);
    rows_add(&rows, others_are_not_found, NULL, "names that are not in a list");
    rows_add(&rows, rows_of_a_layout, NULL, "names of the nodes of a layout");
    return rows_run("hostlist", &rows);
}
