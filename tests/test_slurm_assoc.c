/* test_slurm_assoc.c - policy/slurm_assoc: the tree and the places of jobs in it. */
#include "policy/slurm_assoc.h"

#include "tests/near.h"
#include "tests/rows.h"
#include "tests/slurm_jobs.h"

static const struct job_line lines[] = {
    { .id = "1", .account = "vision", .user = "ada" },  { .id = "2", .user = "ben" },
    { .id = "3", .account = "speech", .user = "ada" },  { .id = "4", .account = "vision" },
    { .id = "5", .account = "nowhere", .user = "ada" }, { .id = "6" },
    { .id = "7", .account = "root", .user = "root" },   { .id = "8", .user = "ada" },
};
enum { LINES = sizeof lines / sizeof *lines };

struct tree {
    struct slurm_association written[8];
    struct slurm_spec spec;
    struct jobs jobs;
    struct slurm_assoc assoc;
};

static struct tree *tree_new(void)
{
    struct tree *tree = calloc(1, sizeof *tree);
    assert_non_null(tree);
    tree->written[0] = association("speech", "science", "", 30);
    tree->written[1] = association("science", "", "", 60);
    tree->written[2] = association("vision", "", "", 40);
    tree->written[3] = association("vision", "", "ada", 3);
    tree->written[4] = association("vision", "", "ben", 5);
    tree->written[5] = association("speech", "", "ben", 7);
    tree->written[4].priority = 30;
    tree->written[5].priority = 40;
    /* A ring: the one that would close it stays below root. */
    tree->written[6] = association("a", "b", "", 1);
    tree->written[7] = association("b", "a", "", 1);
    tree->spec = (struct slurm_spec){ .associations = tree->written, .association_count = 8 };
    tree->jobs = jobs_of_lines(lines, LINES);
    assert_true(slurm_assoc_init(&tree->assoc, &tree->spec, &tree->jobs));
    return tree;
}

static void tree_free(struct tree *tree)
{
    slurm_assoc_clear(&tree->assoc);
    jobs_free(&tree->jobs);
    free(tree);
}

/* Row of a pair, by looking at all of them. */
static uint32_t row_of(const struct slurm_assoc *assoc, const char *account, const char *user)
{
    for (uint32_t row = 0; row < assoc->count; row++)
        if (name_is(assoc->rows[row].account, account) && name_is(assoc->rows[row].user, user))
            return row;
    return ASSOC_NONE;
}

static void shape(void **state)
{
    (void)state;
    struct tree *tree = tree_new();
    const struct slurm_assoc *assoc = &tree->assoc;
    const uint32_t science = row_of(assoc, "science", ""), speech = row_of(assoc, "speech", "");
    assert_int_equal(row_of(assoc, "root", ""), ASSOC_ROOT);
    assert_int_equal(assoc->rows[speech].parent, science);
    assert_int_equal(assoc->rows[speech].depth, 2);
    assert_int_equal(assoc->rows[science].parent, ASSOC_ROOT);
    assert_int_equal(assoc->rows[row_of(assoc, "speech", "ben")].parent, speech);
    assert_int_equal(assoc->rows[row_of(assoc, "root", "root")].shares, 1);
    const uint32_t a = row_of(assoc, "a", ""), b = row_of(assoc, "b", "");
    assert_int_equal(assoc->rows[a].parent, b);
    assert_int_equal(assoc->rows[b].parent, ASSOC_ROOT);
    CHECK_NEAR(slurm_assoc_factor(assoc, row_of(assoc, "vision", "ben")), 0.75, 0);
    CHECK_NEAR(slurm_assoc_factor(assoc, row_of(assoc, "vision", "ada")), 0, 0);
    CHECK_NEAR(slurm_assoc_factor(assoc, ASSOC_NONE), 0, 0);
    /* root, ada and ben of vision, ben of speech; ada of speech and nobody of vision by their jobs */
    assert_int_equal(assoc->users, 6);
    for (uint32_t i = 1; i < assoc->count; i++)
        assert_true(assoc->rows[assoc->deepest_first[i - 1]].depth >=
                    assoc->rows[assoc->deepest_first[i]].depth);
    tree_free(tree);
}

static void places(void **state)
{
    (void)state;
    struct tree *tree = tree_new();
    const struct slurm_assoc *assoc = &tree->assoc;
    const uint32_t want[LINES] = {
        row_of(assoc, "vision", "ada"),
        row_of(assoc, "vision", "ben"),
        row_of(assoc, "speech", "ada"),
        row_of(assoc, "vision", "(nobody)"),
        ASSOC_NONE,
        ASSOC_NONE,
        row_of(assoc, "root", "root"),
        row_of(assoc, "vision", "ada"),
    };
    for (uint32_t row = 0; row < LINES; row++) assert_int_equal(assoc->who[row].assoc, want[row]);
    /* ada ben ada - ada - root ada */
    const uint32_t user[LINES] = { 0, 1, 0, 2, 0, 2, 3, 0 };
    for (uint32_t row = 0; row < LINES; row++) assert_int_equal(assoc->who[row].user, user[row]);
    assert_int_equal(assoc->user_names, 4);
    tree_free(tree);
}

static void nothing_written(void **state)
{
    (void)state;
    struct jobs jobs = jobs_of_lines(lines, LINES);
    const struct slurm_spec spec = { 0 };
    struct slurm_assoc assoc;
    assert_true(slurm_assoc_init(&assoc, &spec, &jobs));
    assert_int_equal(assoc.count, 0);
    for (uint32_t row = 0; row < LINES; row++) assert_int_equal(assoc.who[row].assoc, ASSOC_NONE);
    assert_int_equal(assoc.user_names, 4);
    slurm_assoc_clear(&assoc);
    jobs_free(&jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape),
        cmocka_unit_test(places),
        cmocka_unit_test(nothing_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
