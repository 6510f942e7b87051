/* test_philox.c - base/philox: the known answers of Random123, SplitMix64 and FNV-1a, and what a
 * stream must be. */
#include "base/philox.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* kat_vectors of Random123, "philox4x32 10". */
static const struct known {
    const char *name;
    uint32_t ctr[4], key[2], want[4];
} known[] = {
    { "zeros", { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
    { "ones",
      { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
      { 0xffffffff, 0xffffffff },
      { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
    { "digits of pi",
      { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
      { 0xa4093822, 0x299f31d0 },
      { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
};

static void known_answer(void **state)
{
    const struct known *row = *state;
    uint32_t out[4];
    philox4x32_10(row->ctr, row->key, out);
    for (int i = 0; i < 4; i++) assert_int_equal(out[i], row->want[i]);
}

static void hashes(void **state)
{
    (void)state;
    /* The first three outputs of SplitMix64 from seed 0. */
    assert_true(mix64(UINT64_C(0x9E3779B97F4A7C15)) == UINT64_C(0xE220A8397B1DCDAF));
    assert_true(mix64(2 * UINT64_C(0x9E3779B97F4A7C15)) == UINT64_C(0x6E789E6AA1B965F4));
    assert_true(mix64(3 * UINT64_C(0x9E3779B97F4A7C15)) == UINT64_C(0x06C45D188009454F));
    /* From the published FNV test vectors: "", "a", "foobar". */
    assert_true(fnv1a64("") == UINT64_C(0xcbf29ce484222325));
    assert_true(fnv1a64("a") == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(fnv1a64("foobar") == UINT64_C(0x85944171f73967e8));
}

/* Mean 1/2 and variance 1/12 within 5 standard errors, for both uniforms; no correlation along
 * entities or draws. */
static void looks_uniform(void **state)
{
    (void)state;
    enum { N = 100000 };
    const uint64_t key = stream_key(42, 3, "fail.gpu");
    double sum1 = 0, sum2 = 0, square = 0, along_draws = 0, along_entities = 0;
    for (uint64_t i = 0; i < N; i++) {
        const struct draw d = stream_draw(key, 7, i);
        assert_true(d.u1 > 0 && d.u1 < 1 && d.u2 > 0 && d.u2 < 1);
        sum1 += d.u1 - 0.5;
        sum2 += d.u2 - 0.5;
        square += (d.u1 - 0.5) * (d.u1 - 0.5);
        along_draws += (d.u1 - 0.5) * (stream_uniform(key, 7, i + 1) - 0.5);
        along_entities += (stream_uniform(key, i, 0) - 0.5) * (stream_uniform(key, i + 1, 0) - 0.5);
    }
    const double deviation = sqrt(N / 12.0);
    assert_true(fabs(sum1) < 5 * deviation && fabs(sum2) < 5 * deviation);
    assert_true(fabs(square - N / 12.0) < 5 * sqrt(N / 180.0));
    assert_true(fabs(along_draws) < 5 * sqrt(N) / 12.0);
    assert_true(fabs(along_entities) < 5 * sqrt(N) / 12.0);
}

static void streams_differ(void **state)
{
    (void)state;
    const uint64_t key = stream_key(1, 0, "fail.gpu");
    assert_true(key != stream_key(2, 0, "fail.gpu") && key != stream_key(1, 1, "fail.gpu"));
    assert_true(key != stream_key(1, 0, "fail.server"));
    /* Entities and draws beyond 2^32 have counters of their own. */
    const uint64_t x = stream_draw(key, 1, 1).x1;
    assert_true(x != stream_draw(key, UINT64_C(1) << 32 | 1, 1).x1);
    assert_true(x != stream_draw(key, 1, UINT64_C(1) << 32 | 1).x1);
    assert_true(stream_uniform(key, 9, 4) == stream_draw(key, 9, 4).u1);
}

/* u is the middle of its cell: exact, so it can be turned back. */
static void uniform_is_exact(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        const struct draw d = stream_draw(3, 1, i);
        assert_true((uint64_t)(d.u1 * 0x1p52) == d.x1 >> 12);
        assert_true((uint64_t)(d.u1 * 0x1p53) % 2 == 1);
    }
}

int main(void)
{
    enum { ROWS = sizeof known / sizeof *known };
    struct CMUnitTest tests[ROWS + 4];
    size_t count = 0;
    for (; count < ROWS; count++)
        tests[count] = (struct CMUnitTest){ known[count].name, known_answer, NULL, NULL,
                                            (void *)&known[count] };
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(hashes);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(looks_uniform);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(streams_differ);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(uniform_is_exact);
    return _cmocka_run_group_tests("philox", tests, count, NULL, NULL);
}
