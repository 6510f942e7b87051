/* test_arrivals.c - handlers/arrivals: days of a trace, played one after another. */
#include "handlers/arrivals.h"

#include "base/clock.h"
#include "base/philox.h"
#include "tests/near.h"
#include "tests/rows.h"

enum { ROWS = 200, DAYS = 7, EMPTY_DAY = 3 };

/* Rows on all days but one, in order; the first at 0. */
static struct jobs trace_of(struct arena *arena)
{
    struct jobs jobs = { .count = ROWS };
    jobs.submit_ns = ARENA_ARRAY(arena, int64_t, ROWS);
    for (uint32_t row = 0; row < ROWS; row++) {
        int64_t at = row * (DAYS * NS_PER_DAY / ROWS);
        if (at / NS_PER_DAY == EMPTY_DAY) at = (EMPTY_DAY + 1) * NS_PER_DAY; /* ties too */
        jobs.submit_ns[row] = at;
    }
    return jobs;
}

/* Arrivals one by one against the rule: simulated day d plays day source(d). */
static void same_arrivals(struct arrivals *arrivals, const struct jobs *jobs, uint64_t key,
                          enum resample resample, bool once, int64_t until_ns)
{
    for (int64_t day = 0; once ? day < DAYS : day * NS_PER_DAY <= until_ns; day++) {
        int64_t source = once ? day : day % DAYS;
        if (resample == RESAMPLE_DAYS)
            source = (int64_t)(stream_uniform(key, (uint64_t)day, 0) * DAYS);
        for (uint32_t row = 0; row < ROWS; row++) {
            if (jobs->submit_ns[row] / NS_PER_DAY != source) continue;
            const int64_t at = jobs->submit_ns[row] % NS_PER_DAY + day * NS_PER_DAY;
            if (at > until_ns) continue;
            assert_int_equal(arrivals->at_ns, at);
            assert_int_equal(arrivals_take(arrivals), row);
        }
    }
    assert_int_equal(arrivals->at_ns, TIME_NEVER);
}

static const struct {
    const char *name;
    enum resample resample;
    bool once;
    int64_t until_ns;
} cases[] = {
    { "once, to its end", RESAMPLE_NONE, true, TIME_NEVER },
    { "wrapped, 20 days and a half", RESAMPLE_NONE, false, 41 * NS_PER_DAY / 2 },
    { "wrapped, cut inside the first day", RESAMPLE_NONE, false, NS_PER_DAY / 3 },
    { "days drawn, 100 days", RESAMPLE_DAYS, false, 100 * NS_PER_DAY },
};

static void by_the_rule(void **state)
{
    const uint64_t c = rows_number(state);
    struct arena *arena = arena_create(1u << 20);
    const struct jobs jobs = trace_of(arena);
    struct day_table days;
    assert_true(day_table_build(&days, &jobs, arena));
    assert_int_equal(days.days, DAYS);
    for (uint32_t replica = 0; replica < 5; replica++) {
        struct arrivals arrivals;
        arrivals_init(&arrivals, &jobs, &days,
                      (struct arrivals_options){ .resample = cases[c].resample,
                                                 .seed = 42,
                                                 .replica = replica,
                                                 .until_ns = cases[c].until_ns,
                                                 .once = cases[c].once });
        same_arrivals(&arrivals, &jobs, stream_key(42, replica, "trace.days"), cases[c].resample,
                      cases[c].once, cases[c].until_ns);
    }
    arena_destroy(arena);
}

/* Over many simulated days each day of the trace is played equally often: chi-squared. */
static void days_are_drawn_evenly(void **state)
{
    (void)state;
    enum { SIMULATED = 70000 };
    const uint64_t key = stream_key(7, 3, "trace.days");
    double seen[DAYS] = { 0 }, chi2 = 0;
    for (uint64_t day = 0; day < SIMULATED; day++)
        seen[(int)(stream_uniform(key, day, 0) * DAYS)]++;
    for (int d = 0; d < DAYS; d++) chi2 += pow(seen[d] - SIMULATED / DAYS, 2) / (SIMULATED / DAYS);
    CHECK(chi2 < 22.5, "chi2 %g with 6 degrees of freedom: its 99.9 %% quantile is 22.5", chi2);
}

static void empty_trace(void **state)
{
    (void)state;
    struct arena *arena = arena_create(1u << 20);
    const struct jobs jobs = { 0 };
    struct day_table days;
    struct arrivals arrivals;
    assert_true(day_table_build(&days, &jobs, arena));
    arrivals_init(&arrivals, &jobs, &days, (struct arrivals_options){ .until_ns = NS_PER_DAY });
    assert_int_equal(arrivals.at_ns, TIME_NEVER);
    arrivals_init(&arrivals, NULL, &days, (struct arrivals_options){ .until_ns = NS_PER_DAY });
    assert_int_equal(arrivals.at_ns, TIME_NEVER);
    arena_destroy(arena);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t c = 0; c < sizeof cases / sizeof *cases; c++)
        rows_add(&rows, by_the_rule, (void *)c, "%s", cases[c].name);
    rows_add(&rows, days_are_drawn_evenly, NULL, "days are drawn evenly");
    rows_add(&rows, empty_trace, NULL, "no jobs, no arrivals");
    return rows_run("arrivals", &rows);
}
