/* test_teams.c - policy/teams: servers by largest remainder, and whose each job is. */
#include "policy/teams.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <inttypes.h>
#include <string.h>

/* 7 servers by 1 : 1 : 1 are 2.33 each: the first gets the seventh. 10 by 47 : 16 : 15.8 : 12 : 6.1 : 3.1 (thousands of
 * votes, the textbook's example) are 4.7, 1.6, 1.58, 1.2, 0.61, 0.31: 5 2 1 1 1 0. */
static const struct {
    const char *name;
    uint64_t weight[6];
    uint32_t count, servers, want[6];
} cases[] = {
    { "even", { 1, 1 }, 2, 4, { 2, 2 } },
    { "a tie goes to the first", { 1, 1, 1 }, 3, 7, { 3, 2, 2 } },
    { "the textbook's votes",
      { 47000, 16000, 15800, 12000, 6100, 3100 },
      6,
      10,
      { 5, 2, 1, 1, 1, 0 } },
    { "more teams than servers", { 5, 3, 2 }, 3, 1, { 1, 0, 0 } },
    { "nobody asks", { 0, 0 }, 2, 4, { 0, 0 } },
    { "one alone", { 0, 9 }, 2, 4, { 0, 4 } },
    { "large weights", { UINT64_MAX, UINT64_MAX }, 2, 3, { 2, 1 } },
};

static void by_hand(void **state)
{
    const uint64_t c = rows_number(state);
    uint32_t got[6];
    apportion(cases[c].weight, cases[c].count, cases[c].servers, got);
    for (uint32_t i = 0; i < cases[c].count; i++) assert_int_equal(got[i], cases[c].want[i]);
}

/* All servers are given out, and nobody is a whole server away from his share. */
static void quota_rule(void **state)
{
    const uint64_t seed = rows_number(state);
    uint64_t weight[20], total = 0;
    uint32_t got[20], sum = 0;
    const uint32_t count = any_count(seed, 1, 1, 20), servers = any_count(seed, 2, 1, 500);
    for (uint32_t i = 0; i < count; i++) total += weight[i] = any_count(seed, 10 + i, 0, 1000000);
    apportion(weight, count, servers, got);
    for (uint32_t i = 0; i < count; i++) {
        sum += got[i];
        CHECK(total == 0 || fabs(got[i] - (double)weight[i] * servers / (double)total) < 1,
              "team %u has %u", i, got[i]);
    }
    assert_int_equal(sum, total ? servers : 0);
}

/* Six jobs of three users; "b" asks for 300 GPU-seconds of 600, "a" for 200, "c" for 100; one job is nobody's. */
static struct jobs six_jobs(struct arena *arena)
{
    static char text[] = "\0a\0b\0c";
    struct jobs jobs = { .count = 6, .text = text };
    static const uint32_t users[] = { 3, 1, 3, 5, 0, 1 }, gpus[] = { 1, 1, 2, 4, 8, 1 };
    static const int64_t seconds[] = { 100, 150, 100, 25, 99, 50 };
    jobs.user = ARENA_ARRAY(arena, uint32_t, 6);
    jobs.gpus = ARENA_ARRAY(arena, uint32_t, 6);
    jobs.duration_ns = ARENA_ARRAY(arena, int64_t, 6);
    for (int i = 0; i < 6; i++) {
        jobs.user[i] = users[i];
        jobs.gpus[i] = gpus[i];
        jobs.duration_ns[i] = seconds[i] * 1000000000;
    }
    return jobs;
}

static void users_are_teams(void **state)
{
    (void)state;
    struct arena *arena = arena_create(1u << 24);
    const struct jobs jobs = six_jobs(arena);
    static struct scenario scenario;
    struct team_table table;
    assert_true(team_table_build(&table, &scenario, &jobs, 12, arena));
    assert_int_equal(table.count, 3); /* in the order of their names in the text: a, b, c */
    static const uint32_t servers[] = { 4, 6, 2 };
    static const uint16_t teams[] = { 1, 0, 1, 2, TEAM_NONE, 0 };
    for (int t = 0; t < 3; t++) assert_int_equal(table.servers[t], servers[t]);
    for (int i = 0; i < 6; i++) assert_int_equal(table.team_of_row[i], teams[i]);
    arena_destroy(arena);
}

static void teams_by_name(void **state)
{
    (void)state;
    struct arena *arena = arena_create(1u << 24);
    struct jobs jobs = six_jobs(arena);
    struct static_team teams[] = { { .name = "b", .share = 1 },
                                   { .name = "x", .share = 0.5 },
                                   { .name = "c", .share = 1.5 } };
    static struct scenario scenario;
    scenario.teams = teams;
    scenario.team_count = 3;
    struct team_table table;
    jobs.words = ARENA_ARRAY(arena, struct job_words, 6);
    jobs.words[1].team = 5; /* user a says that the job is c's */
    assert_true(team_table_build(&table, &scenario, &jobs, 12, arena));
    static const uint32_t by_share[] = { 4, 2, 6 };
    static const uint16_t want[] = { 0, 2, 0, 2, TEAM_NONE, TEAM_NONE };
    for (int t = 0; t < 3; t++) assert_int_equal(table.servers[t], by_share[t]);
    for (int i = 0; i < 6; i++) assert_int_equal(table.team_of_row[i], want[i]);
    for (int t = 0; t < 3; t++) teams[t].servers = (uint32_t)t + 1;
    assert_true(team_table_build(&table, &scenario, &jobs, 12, arena));
    for (uint32_t t = 0; t < 3; t++) assert_int_equal(table.servers[t], t + 1);
    arena_destroy(arena);
}

int main(void)
{
    static const struct CMUnitTest alone[] = { cmocka_unit_test(users_are_teams),
                                               cmocka_unit_test(teams_by_name) };
    struct rows rows = { 0 };
    for (uintptr_t c = 0; c < sizeof cases / sizeof *cases; c++)
        rows_add(&rows, by_hand, (void *)c, "%s", cases[c].name);
    for (uintptr_t seed = 1; seed <= 200; seed++)
        rows_add(&rows, quota_rule, (void *)seed, "quota rule, seed %zu", (size_t)seed);
    return cmocka_run_group_tests_name("teams", alone, NULL, NULL) + rows_run("apportion", &rows);
}
