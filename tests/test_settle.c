/* test_settle.c - when the held GPUs of a stored run have settled, by MSER-5. */
#include "fixture_report.h"

#include "report/settle.h"

enum { BINS = 240 }; /* hours of ten days */

/* Share of the 16 GPUs that are held in a bin. */
typedef double curve(uint32_t bin);

static double level(uint32_t bin)
{
    return bin % 2 ? 0.51 : 0.49;
}

/* Rises for 40 hours. The marks of MSER-5 by hand: means of five are 0.498 or 0.502 on the level, so from batch 8 on
 * 40 x 4e-6 / 40^2 = 1.00e-7; from 9 on 39 x 4e-6 / 39^2 = 1.03e-7; from 7 on the mean 0.4625 of bins 35 to 39 adds
 * 0.0014: 9e-7. So 8 batches, 40 hours, are dropped. On the level alone none is. */
static double rising(uint32_t bin)
{
    return bin < 40 ? bin / 80.0 : level(bin);
}

static double never(uint32_t bin)
{
    return bin / 480.0;
}

static struct replica_result result_of(uint32_t layout, uint32_t replica, curve *held,
                                       int64_t warmup_h)
{
    struct replica_result r = fixture_result(layout, replica);
    r.window_start_ns = warmup_h * NS_PER_HOUR;
    r.bin_count = BINS;
    r.bin_start_ns = calloc(BINS + 1, sizeof *r.bin_start_ns);
    r.bins = calloc((size_t)BINS * ACCOUNTS, sizeof *r.bins);
    assert_true(r.bin_start_ns != NULL && r.bins != NULL);
    const int128 full = (int128)r.capacity_units * NS_PER_HOUR;
    for (uint32_t bin = 0; bin <= BINS; bin++) r.bin_start_ns[bin] = bin * NS_PER_HOUR;
    for (uint32_t bin = 0; bin < BINS; bin++) {
        int128 *accounts = r.bins + (size_t)bin * ACCOUNTS;
        accounts[ACC_COMPUTE] = (int128)((double)full * held(bin) / 2);
        accounts[ACC_LOST] = accounts[ACC_COMPUTE]; /* held too */
        accounts[ACC_NO_DEMAND] = full - 2 * accounts[ACC_COMPUTE];
    }
    return r;
}

static void read_settle(struct fixture *f, curve *held, int64_t warmup_h, enum resample resample,
                        struct settle *settle, char text[200])
{
    struct report report = { 0 };
    f->scenario.resample = resample;
    struct store *store = open_store(f);
    for (uint32_t layout = 0; layout < 2; layout++)
        for (uint32_t replica = 0; replica < 2; replica++) {
            struct replica_result r = result_of(layout, replica, layout ? level : held, warmup_h);
            fixture_store(store, &r, f->diag);
        }
    report_finish(f, store, &report);
    assert_int_equal(settle_read(&report.c, f->path, settle, f->diag), STATUS_OK);
    memset(text, 0, 200);
    FILE *out = fmemopen(text, 199, "w");
    settle_write(&report.c, settle, out);
    fclose(out);
    report_clear(&report);
}

static void a_late_level(void **state)
{
    struct settle settle;
    char text[200];
    read_settle(*state, rising, 24, RESAMPLE_DAYS, &settle, text);
    assert_true(settle.known && !settle.unsettled && settle.layout == 0);
    assert_true(settle.warmup_s == 24 * 3600.0 && settle.wanted_s == 40 * 3600.0);
    assert_non_null(strstr(text, "The window starts after 24 h. Held GPUs of "));
    assert_non_null(strstr(text, "try time.warmup: 40h."));
    read_settle(*state, rising, 48, RESAMPLE_DAYS, &settle, text);
    assert_true(settle.wanted_s == 40 * 3600.0);
    assert_string_equal(text, "The window starts after 48 h. Held GPUs have settled by then "
                              "(MSER-5: after 40 h).\n");
}

static void no_level(void **state)
{
    struct settle settle;
    char text[200];
    read_settle(*state, never, 24, RESAMPLE_DAYS, &settle, text);
    assert_true(settle.known && settle.unsettled && settle.layout == 0);
    assert_non_null(strstr(text, "find no level"));
}

static void level_from_the_start(void **state)
{
    struct settle settle;
    char text[200];
    read_settle(*state, level, 0, RESAMPLE_DAYS, &settle, text);
    assert_true(settle.known && !settle.unsettled && settle.wanted_s == 0);
}

/* A trace that is played once has a beginning and an end, and no level to find. */
static void played_once(void **state)
{
    struct settle settle;
    char text[200];
    read_settle(*state, rising, 24, RESAMPLE_NONE, &settle, text);
    assert_false(settle.known);
    assert_string_equal(text, "");
}

int main(void)
{
#define ROW(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        ROW(a_late_level),
        ROW(no_level),
        ROW(level_from_the_start),
        ROW(played_once),
    };
    return cmocka_run_group_tests_name("settle", tests, NULL, NULL);
}
