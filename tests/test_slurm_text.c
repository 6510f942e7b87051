/* test_slurm_text.c - times, memory and resources as slurm.conf(5) and sacctmgr(1) say they are read. */
#include "io/slurm_text.h"

#include "base/clock.h"
#include "tests/rows.h"

#include <string.h>

#define S   NS_PER_S
#define NO  INT64_C(-1) /* refused */
#define GIB INT64_C(1024)

struct text_case {
    const char *text;
    int64_t want;
};

/* Forms of slurm.conf(5), MaxTime: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes,
 * days-hours:minutes:seconds. */
static const struct text_case minutes[] = {
    { "60", 3600 * S },
    { "0", 0 },
    { "90:30", (90 * 60 + 30) * S },
    { "1:00:00", 3600 * S },
    { "1-0", 86400 * S },
    { "2-12", 60 * 3600 * S },
    { "1-12:30", (36 * 3600 + 1800) * S },
    { "7-00:00:01", (7 * 86400 + 1) * S },
    { "90s", 90 * S },
    { "1h30m", 5400 * S },
    { "2d", 172800 * S },
    { "UNLIMITED", TIME_NEVER },
    { "infinite", TIME_NEVER },
    { "1:60:00", NO },
    { "1-24", NO },
    { "-5", NO },
    { "", NO },
    { "1:2:3:4", NO },
    { "1-", NO },
    { "soon", NO },
    { "5 minutes", NO },
    { "99999999999999999999", NO },
};

static const struct text_case seconds[] = {
    { "300", 300 * S },
    { "0", 0 },
    { "5m", 300 * S },
    { "-1", TIME_NEVER },
    { "INFINITE", TIME_NEVER },
    { "300.5", NO },
    { "-2", NO },
    { "99999999999999999", NO },
    { "", NO },
};

static const struct text_case memory[] = {
    { "64000", 64000 },
    { "64000M", 64000 },
    { "64G", 64 * GIB },
    { "1T", 1024 * GIB },
    { "0.5g", 512 },
    { "1K", 1 }, /* rounded up */
    { "64 GiB", 64 * GIB },
    { "1 GB", 954 }, /* 1e9 / 2^20 = 953.67 */
    { "0", 0 },
    { "64X", NO },
    { "64 G B", NO },
    { "-1", NO },
    { "G", NO },
};

static void check(const struct text_case *row,
                  bool (*read)(const char *, size_t, int64_t *, struct why *))
{
    int64_t value = 0;
    struct why why = { "" };
    const bool good = read(row->text, strlen(row->text), &value, &why);
    assert_int_equal(good, row->want != NO);
    if (good)
        assert_true(value == row->want);
    else
        assert_true(strlen(why.text) > 5);
}

static void check_minutes(void **state)
{
    check(*state, slurm_minutes);
}
static void check_seconds(void **state)
{
    check(*state, slurm_seconds);
}
static void check_memory(void **state)
{
    check(*state, slurm_mib);
}

static void resources(void **state)
{
    (void)state;
    struct tres_limit limit;
    struct why why;
    const char *text = "gres/gpu=8,cpu=64,mem=100G,node=2";
    assert_true(slurm_tres(text, strlen(text), &limit, &why));
    assert_true(limit.gpus == 8 && limit.cores == 64 && limit.memory_mib == 102400 &&
                limit.nodes == 2);
    text = "GRES/gpu=-1,mem=500";
    assert_true(slurm_tres(text, strlen(text), &limit, &why));
    assert_true(limit.gpus == LIMIT_UNSET && limit.cores == LIMIT_UNSET && limit.memory_mib == 500);
    assert_true(slurm_tres("", 0, &limit, &why));
    assert_true(limit.nodes == LIMIT_UNSET);
}

static void wrong_resources(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } wrong[] = {
        { "gpu=8", "did you mean 'gres/gpu'?" },
        { "cpus=8", "did you mean 'cpu'?" },
        { "cpu", "without '='" },
        { "gres/gpu:a100=4", "is not built" },
        { "billing=4", "is not built" },
        { "cpu=-2", "below 0" },
        { "cpu=1.5", "" },
        { "cpu=4,,mem=1G", "without '='" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tres_limit limit;
        struct why why = { "" };
        assert_false(slurm_tres(wrong[i].text, strlen(wrong[i].text), &limit, &why));
        if (strstr(why.text, wrong[i].why) == NULL) fail_msg("%s: %s", wrong[i].text, why.text);
    }
}

static void weights(void **state)
{
    (void)state;
    struct tres_weight weight;
    struct why why;
    const char *text = "CPU=1.5,Mem=0.25G,GRES/gpu=2.0";
    assert_true(slurm_weights(text, strlen(text), &weight, &why));
    assert_true(weight.cpu == 1.5 && weight.gpu == 2.0 && weight.mem_gib == 0.25 &&
                weight.node == 0);
    assert_true(slurm_weights("mem=2", 5, &weight, &why)); /* of one MiB */
    assert_true(weight.mem_gib == 2048);
    assert_false(slurm_weights("cpu=x", 5, &weight, &why));
}

#define ADD(test, cases)                                                                           \
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)                                      \
    rows_add(&rows, test, &cases[i], #cases " '%s'", cases[i].text)

int main(void)
{
    struct rows rows = { 0 };
    ADD(check_minutes, minutes);
    ADD(check_seconds, seconds);
    ADD(check_memory, memory);
    rows_add(&rows, resources, NULL, "resources");
    rows_add(&rows, wrong_resources, NULL, "wrong resources");
    rows_add(&rows, weights, NULL, "weights");
    return rows_run("slurm texts", &rows);
}
