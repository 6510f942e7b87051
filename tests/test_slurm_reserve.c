/* test_slurm_reserve.c - policy/slurm_reserve: recording s29, and cases by hand. */
#include "policy/slurm_reserve.h"

#include "base/clock.h"

#include "tests/near.h"
#include "tests/rows.h"
#include "tests/slurm_jobs.h"

#define S NS_PER_S

/* Four nodes n0 to n3, as in s29; one word of bits. */
struct site {
    struct slurm_reservation rows[3];
    struct slurm_spec spec;
    struct layout layout;
    struct server_group group;
    struct arena *arena;
    struct slurm_reserve reserve;
};

static void site_init(struct site *site, uint32_t count)
{
    site->spec = (struct slurm_spec){ .reservations = site->rows, .reservation_count = count };
    site->group = (struct server_group){ .count = 4, .names = "n[0-3]" };
    site->layout = (struct layout){
        .name = "cluster", .server_count = 4, .groups = &site->group, .group_count = 1
    };
    site->arena = arena_create(1 << 20);
    assert_true(slurm_reserve_init(&site->reserve, &site->spec, &site->layout, site->arena));
}

static void reason_is(const char *got, const char *want)
{
    CHECK(want ? got && strcmp(got, want) == 0 : !got, "%s, want %s", got ? got : "none",
          want ? want : "none");
}

/* Reservation maint over all nodes from 90 s to 150 s. Starts that were tried in s29, with limits in minutes: a at 3 s
 * and c at 4 and 10 s with 1 min, b at 3 s with 2 min, d at 5 s with 10 min, e at 40 s with 1 min. */
static const struct {
    const char *name;
    int64_t start_s, minutes;
    bool may;
} s29[] = {
    { "a", 3, 1, true },
    { "b", 3, 2, false },
    { "c", 10, 1, true },
    { "d", 5, 10, false },
    { "e", 40, 1, false },
    { "ends as it begins", 30, 1, true },
    { "one second more", 31, 1, false },
    { "b as it ends", 150, 2, true },
    { "inside", 149, 1, false },
};

static void recording_s29(void **state)
{
    const size_t row = (size_t)rows_number(state);
    struct site site = { .rows = { { .name = "maint",
                                     .nodes = "ALL",
                                     .users = "root",
                                     .start_ns = 90 * S,
                                     .end_ns = 150 * S,
                                     .maint = true } } };
    site_init(&site, 1);
    uint64_t nodes = 15;
    const char *reason;
    const struct slurm_stay stay = { RESERVATION_NONE, s29[row].start_s * S,
                                     (s29[row].start_s + 60 * s29[row].minutes) * S };
    const int64_t next_ns = slurm_reserve_limit(&site.reserve, stay, &nodes, &reason);
    assert_int_equal(nodes, s29[row].may ? 15 : 0);
    assert_true(next_ns == (s29[row].may ? TIME_NEVER : 150 * S));
    reason_is(reason, s29[row].may ? NULL : "ReqNodeNotAvail, Reserved for maintenance");
    arena_destroy(site.arena);
}

/* team on n1 and n2 from 100 to 200 s for ada and ben of vision; day on n2 and n3 from 150 to 400 s for anybody; night
 * of MAINT on n3 from 300 to 500 s. */
enum { TEAM, DAY, NIGHT, NO = -1 };

static const struct {
    const char *name;
    int own;
    int64_t start_s, end_s;
    uint64_t nodes;
    int64_t next_s; /* 0 = never */
    const char *reason;
} stays[] = {
    { "before all", NO, 0, 100, 15, 0, NULL },
    { "into team", NO, 0, 101, 9, 200, "ReqNodeNotAvail, May be reserved for other job" },
    { "into team and day", NO, 120, 160, 1, 200, "ReqNodeNotAvail, May be reserved for other job" },
    { "into day and night", NO, 200, 310, 3, 400, "ReqNodeNotAvail, Reserved for maintenance" },
    { "behind all", NO, 500, 900, 15, 0, NULL },
    { "team, too early", TEAM, 99, 110, 0, 100, "Reservation" },
    { "team", TEAM, 100, 150, 6, 0, NULL },
    { "team, n2 is kept by day", TEAM, 100, 151, 2, 400,
      "ReqNodeNotAvail, May be reserved for other job" },
    { "team, its limit is longer", TEAM, 199, 600, 2, 400,
      "ReqNodeNotAvail, May be reserved for other job" },
    { "team, too late", TEAM, 200, 210, 0, 0, "InvalidReservation" },
    { "day, n3 is kept by night", DAY, 210, 310, 4, 500,
      "ReqNodeNotAvail, Reserved for maintenance" },
    { "night is not kept out", NIGHT, 300, 400, 8, 0, NULL },
};

static void site_of_three(struct site *site)
{
    *site = (struct site){
        .rows = { { .name = "team",
                    .nodes = "n[1-2]",
                    .users = "ada,ben",
                    .accounts = "vision",
                    .start_ns = 100 * S,
                    .end_ns = 200 * S },
                  { .name = "day", .nodes = "n[2-3]", .start_ns = 150 * S, .end_ns = 400 * S },
                  { .name = "night",
                    .nodes = "n3",
                    .start_ns = 300 * S,
                    .end_ns = 500 * S,
                    .maint = true } }
    };
    site_init(site, 3);
}

static void three_at_once(void **state)
{
    const size_t row = (size_t)rows_number(state);
    struct site site;
    site_of_three(&site);
    uint64_t nodes = 15;
    const char *reason;
    const struct slurm_stay stay = { (uint32_t)stays[row].own, stays[row].start_s * S,
                                     stays[row].end_s * S };
    const int64_t next_ns = slurm_reserve_limit(&site.reserve, stay, &nodes, &reason);
    assert_int_equal(nodes, stays[row].nodes);
    assert_true(next_ns == (stays[row].next_s ? stays[row].next_s * S : TIME_NEVER));
    reason_is(reason, stays[row].reason);
    arena_destroy(site.arena);
}

static void names_and_boundaries(void **state)
{
    (void)state;
    struct site site;
    site_of_three(&site);
    const struct slurm_reserve *reserve = &site.reserve;
    assert_int_equal(slurm_reserve_find(reserve, name_of("day")), DAY);
    assert_int_equal(slurm_reserve_find(reserve, name_of("da")), RESERVATION_NONE);
    assert_true(slurm_reserve_admits(reserve, TEAM, name_of("ben"), name_of("vision")));
    assert_false(slurm_reserve_admits(reserve, TEAM, name_of("ben"), name_of("speech")));
    assert_false(slurm_reserve_admits(reserve, TEAM, name_of("cho"), name_of("vision")));
    assert_true(slurm_reserve_admits(reserve, DAY, name_of("cho"), name_of("")));
    static const int64_t boundaries_s[] = { 100, 150, 200, 300, 400, 500 };
    int64_t at_ns = 0;
    for (size_t i = 0; i < 6; i++) {
        at_ns = slurm_reserve_boundary_ns(reserve, at_ns);
        assert_true(at_ns == boundaries_s[i] * S);
    }
    assert_true(slurm_reserve_boundary_ns(reserve, at_ns) == TIME_NEVER);
    assert_true(slurm_reserve_end_ns(reserve, TEAM) == 200 * S);
    assert_true(slurm_reserve_end_ns(reserve, RESERVATION_NONE) == TIME_NEVER);
    arena_destroy(site.arena);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof s29 / sizeof *s29; i++)
        rows_add(&rows, recording_s29, (void *)(uintptr_t)i, "recording s29: %s", s29[i].name);
    for (size_t i = 0; i < sizeof stays / sizeof *stays; i++)
        rows_add(&rows, three_at_once, (void *)(uintptr_t)i, "%s", stays[i].name);
    rows_add(&rows, names_and_boundaries, NULL, "names and boundaries");
    return rows_run("slurm_reserve", &rows);
}
