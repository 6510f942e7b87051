/* test_fullest.c - the fullest of many cables: one leaf as in MODELS 4.5, several by their product, counted by hand. */
#include "tests/near.h"
#include "tests/rows.h"

#include "network/fullest.h"

static double mean_of(uint32_t cables, struct fullest_leaves one, struct fullest_leaves other,
                      double least)
{
    struct fullest fullest = { .cables = cables };
    const struct fullest_leaves kinds[2] = { one, other };
    double first, again;
    assert_true(fullest_mean(&fullest, kinds, 2, least, &first));
    assert_true(fullest_mean(&fullest, kinds, 2, least, &again));
    assert_true(first == again);
    fullest_clear(&fullest);
    return first;
}

static const struct fullest_leaves none = { 0, 0 };

/* ecmp_max, NW-049, 054, 056. */
static void one_leaf_is_that_of_the_models(void **state)
{
    (void)state;
    CHECK_NEAR(mean_of(8, (struct fullest_leaves){ 1, 8 }, none, 0), 2.59723, 1e-5);
    CHECK_NEAR(mean_of(16, none, (struct fullest_leaves){ 1, 4 }, 0), 1.34863, 1e-5);
    CHECK_NEAR(mean_of(8, (struct fullest_leaves){ 1, 64 }, none, 0), 12.2353, 1e-5);
}

/* Two flows on two cables meet half of the time: of three leaves none has two on a cable in 1/8 of all cases. A leaf of three
 * flows has at least two on one, and three in 1/4. */
static void many_leaves_by_hand(void **state)
{
    (void)state;
    const struct fullest_leaves two = { 3, 2 }, three = { 1, 3 };
    CHECK_NEAR(mean_of(2, two, none, 0), 1 + 7 / 8.0, 1e-14);
    CHECK_NEAR(mean_of(2, two, three, 0), 2 + 1 / 4.0, 1e-14);
    CHECK_NEAR(mean_of(2, two, none, 1.5), 1.5 / 8 + 2 * 7 / 8.0, 1e-14);
    CHECK_NEAR(mean_of(2, two, three, 2.25), 2.25 * 3 / 4 + 3 / 4.0, 1e-14);
    CHECK_NEAR(mean_of(2, two, none, 7.5), 7.5, 1e-14);
}

/* 4,096 flows on 2 cables: 2048 and the mean of half a binomial's deviation, sqrt(4096/(2 pi)); counted as 1,024 times four they
 * spread twice as far. */
static void more_than_are_counted_are_a_little_too_many(void **state)
{
    (void)state;
    const double spread = sqrt(4096 / (2 * 3.14159265358979));
    const double mean = mean_of(2, (struct fullest_leaves){ 1, 4096 }, none, 0);
    CHECK_NEAR(mean, 2048 + 2 * spread, 1e-3);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, one_leaf_is_that_of_the_models, NULL, "one leaf");
    rows_add(&rows, many_leaves_by_hand, NULL, "many leaves");
    rows_add(&rows, more_than_are_counted_are_a_little_too_many, NULL, "many flows");
    return rows_run("fullest", &rows);
}
