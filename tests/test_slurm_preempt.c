/* test_slurm_preempt.c - policy/slurm_preempt on small clusters: recordings s25 and s27, hand cases, and properties. */
#include "policy/slurm_preempt.h"

#include "base/clock.h"

#include "tests/near.h"
#include "tests/rows.h"
#include "tests/slurm_jobs.h"

#define S NS_PER_S
enum { NODES_MOST = 8, JOBS_MOST = 32 };

/* Nodes of so many GPUs and cores; a job holds the same on each of its nodes. */
struct held {
    uint32_t nodes; /* bits */
    uint32_t gpus, cores;
    bool gone; /* removed by the trial                                                          */
};
struct yard {
    uint32_t nodes, gpus, cores;
    struct held jobs[JOBS_MOST];
    uint32_t job_count;
    uint32_t want_nodes, want_gpus, want_cores; /* of the new job                                */
    bool suspend;                               /* removal frees cores only                      */
    uint32_t place;                             /* bits */
};

static bool node_is_free(const struct yard *yard, uint32_t node)
{
    uint32_t gpus = yard->gpus, cores = yard->cores;
    for (uint32_t j = 0; j < yard->job_count; j++) {
        const struct held *job = &yard->jobs[j];
        if (!(job->nodes >> node & 1)) continue;
        if (!job->gone || yard->suspend) gpus -= job->gpus;
        if (!job->gone) cores -= job->cores;
    }
    return gpus >= yard->want_gpus && cores >= yard->want_cores;
}

static void yard_reset(void *context)
{
    struct yard *yard = context;
    for (uint32_t j = 0; j < yard->job_count; j++) yard->jobs[j].gone = false;
}

static void yard_remove(void *context, uint32_t live)
{
    struct yard *yard = context;
    assert_false(yard->jobs[live].gone);
    yard->jobs[live].gone = true;
}

/* The first nodes that are free. */
static bool yard_fits(void *context)
{
    struct yard *yard = context;
    uint32_t place = 0, found = 0;
    for (uint32_t node = 0; node < yard->nodes && found < yard->want_nodes; node++)
        if (node_is_free(yard, node)) {
            place |= 1u << node;
            found++;
        }
    if (found < yard->want_nodes) return false;
    yard->place = place;
    return true;
}

static uint32_t bits(uint32_t set)
{
    uint32_t count = 0;
    for (; set; set &= set - 1) count++;
    return count;
}

static uint32_t yard_shares(void *context, uint32_t live)
{
    const struct yard *yard = context;
    return bits(yard->jobs[live].nodes & yard->place);
}

static bool yard_fits_there(void *context)
{
    const struct yard *yard = context;
    for (uint32_t node = 0; node < yard->nodes; node++)
        if (yard->place >> node & 1 && !node_is_free(yard, node)) return false;
    return true;
}

static struct slurm_trial trial_of(struct yard *yard)
{
    return (struct slurm_trial){ yard,      yard_reset,  yard_remove,
                                 yard_fits, yard_shares, yard_fits_there };
}

static const char *names_of(const struct slurm_victim *victims, uint32_t count)
{
    static char text[100];
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        at += (size_t)snprintf(&text[at], sizeof text - at, "%u ", victims[i].live);
    return text;
}

/* ---- the recordings ------------------------------------------------------------------------------ */

enum { NORMAL, SCAVENGER, PROD };

static struct slurm_partition partitions[2] = {
    { .priority_tier = 1, .preempt_mode = PREEMPT_UNSET },
    { .priority_tier = 10, .preempt_mode = PREEMPT_UNSET, .grace_time_ns = 5 * S },
};
static struct slurm_qos qos[3] = {
    { .name = "normal", .preempt_mode = PREEMPT_UNSET },
    { .name = "scavenger", .priority = 10, .preempt_mode = PREEMPT_REQUEUE },
    { .name = "prod", .priority = 100, .preempt = "scavenger", .preempt_mode = PREEMPT_UNSET },
};

static struct slurm_spec spec_s25(void)
{
    return (struct slurm_spec){ .preempt_type = PREEMPT_QOS,
                                .preempt_mode = PREEMPT_REQUEUE,
                                .preempt_reorder_count = 1,
                                .kill_wait_ns = 4 * S,
                                .requeue_delay_ns = 7 * S,
                                .qos = qos,
                                .qos_count = 3,
                                .partitions = partitions,
                                .partition_count = 2 };
}

/* Nodes of 8 GPUs: a on n0, b on n1, c and d halves of n2. Both H1 (a whole node, at 12 s) and H2 (2 GPUs, at 26 s)
 * evict a, the first submitted of equal candidates, although it is the youngest at 26 s. */
static void recording_s25(void **state)
{
    (void)state;
    const struct slurm_spec spec = spec_s25();
    struct slurm_preempt preempt = { 0 };
    struct yard yard = {
        .nodes = 3,
        .gpus = 8,
        .cores = 16,
        .jobs = { { 1, 8, 1, false }, { 2, 8, 1, false }, { 4, 4, 1, false }, { 4, 4, 1, false } },
        .job_count = 4,
        .want_nodes = 1,
        .want_cores = 1
    };
    const struct slurm_trial trial = trial_of(&yard);
    const struct slurm_side scavenger = { .qos = SCAVENGER }, prod = { .qos = PROD };
    struct slurm_victim victims[4];
    static const struct {
        uint32_t gpus;
        int64_t a_start_s;
    } jobs[] = { { 8, 0 }, { 2, 24 } };
    for (uint32_t h = 0; h < 2; h++) {
        const int64_t starts_s[] = { jobs[h].a_start_s, 2, 4, 6 };
        yard.want_gpus = jobs[h].gpus;
        yard_reset(&yard);
        assert_false(yard_fits(&yard));
        assert_true(slurm_preempt_may(&spec, prod, scavenger));
        slurm_preempt_begin(&preempt);
        for (uint32_t live = 0; live < 4; live++)
            assert_true(
                slurm_preempt_add(&preempt, &spec, live, live, scavenger, 1, starts_s[live] * S));
        const uint32_t count = slurm_preempt_choose(&preempt, &spec, &trial, victims);
        assert_string_equal(names_of(victims, count), "0 ");
        assert_int_equal(victims[0].mode, PREEMPT_REQUEUE);
    }
    const struct slurm_eviction times = slurm_preempt_times(&spec, scavenger, 12 * S);
    assert_true(times.stop_ns == 12 * S && times.gone_ns == 16 * S && times.again_ns == 23 * S);
    slurm_preempt_clear(&preempt);
}

/* Partitions low and high, SUSPEND: H takes the cores of a on n0; HG gets no GPUs, which suspended jobs keep. */
static void recording_s27(void **state)
{
    (void)state;
    struct slurm_spec spec = spec_s25();
    spec.preempt_type = PREEMPT_PARTITION_PRIO;
    spec.preempt_mode = PREEMPT_SUSPEND;
    const struct slurm_side low = { .qos = UINT32_MAX, .partition = 0 }, high = { UINT32_MAX, 1 };
    assert_true(slurm_preempt_may(&spec, high, low));
    assert_false(slurm_preempt_may(&spec, low, high));
    assert_false(slurm_preempt_may(&spec, low, low));
    struct slurm_preempt preempt = { 0 };
    struct slurm_victim victims[2];
    struct yard yard = { .nodes = 2,
                         .gpus = 8,
                         .cores = 16,
                         .jobs = { { 1, 0, 16, false }, { 2, 0, 16, false } },
                         .job_count = 2,
                         .want_nodes = 1,
                         .want_cores = 16,
                         .suspend = true };
    const struct slurm_trial trial = trial_of(&yard);
    slurm_preempt_begin(&preempt);
    for (uint32_t live = 0; live < 2; live++)
        assert_true(slurm_preempt_add(&preempt, &spec, live, live, low, 1, 0));
    uint32_t count = slurm_preempt_choose(&preempt, &spec, &trial, victims);
    assert_string_equal(names_of(victims, count), "0 ");
    assert_int_equal(victims[0].mode, PREEMPT_SUSPEND);
    for (uint32_t live = 0; live < 2; live++)
        yard.jobs[live] = (struct held){ 1u << live, 8, 1, false };
    yard.want_gpus = 8;
    yard.want_cores = 1;
    count = slurm_preempt_choose(&preempt, &spec, &trial, victims);
    assert_int_equal(count, 0);
    slurm_preempt_clear(&preempt);
}

/* ---- order and choice by hand -------------------------------------------------------------------- */

/* One QOS each; all may be evicted. Nodes of 8 GPUs. */
static const struct {
    const char *name;
    uint32_t reorder_count;
    bool youngest;
    uint32_t want_nodes, want_gpus;
    struct {
        uint32_t priority, nodes, gpus; /* nodes: bits */
        int64_t start_s;
    } jobs[5];
    const char *victims;
} choices[] = {
    { "lowest QOS first",
      1,
      false,
      1,
      8,
      { { 30, 1, 8, 0 }, { 10, 2, 8, 0 }, { 20, 4, 8, 0 } },
      "1 " },
    { "fewest nodes first", 1, false, 1, 8, { { 10, 3, 8, 0 }, { 10, 4, 8, 0 } }, "1 " },
    { "youngest first",
      1,
      true,
      1,
      8,
      { { 10, 1, 8, 5 }, { 30, 2, 8, 9 }, { 10, 4, 8, 7 } },
      "1 " },
    /* 0 and 2 fill node 0; 1 fills node 1 alone. Removed 0, then 1: node 1 fits. Only 1 has to go. */
    { "who does not help is spared",
      1,
      false,
      1,
      8,
      { { 10, 1, 4, 0 }, { 20, 2, 8, 0 }, { 30, 1, 4, 0 } },
      "1 " },
    /* A whole node; 3 keeps a GPU of node 1. Removed 0, 1, 2: node 0 (of 0 and 2) fits. Then 2, 0 and again 0, 2: 1 is
     * spared. */
    { "two halves",
      1,
      false,
      1,
      8,
      { { 10, 1, 4, 0 }, { 20, 2, 7, 0 }, { 30, 1, 4, 0 }, { 90, 2, 1, 0 } },
      "0 2 " },
    { "two halves, one round",
      0,
      false,
      1,
      8,
      { { 10, 1, 4, 0 }, { 20, 2, 7, 0 }, { 30, 1, 4, 0 }, { 90, 2, 1, 0 } },
      "2 0 " },
    { "nothing fits", 1, false, 2, 8, { { 10, 1, 8, 0 } }, "" },
    /* Two nodes of four are wanted. 0 holds half of nodes 0 and 1, 1 and 4 the other halves, 2 all of node 2, 3 all of
     * node 3. Removed 0, 1, 2: nodes 0 and 2. In front 2, then 0, 1: the last is 1. In front 1, then 2, 0. */
    { "three for two nodes",
      1,
      false,
      2,
      8,
      { { 10, 3, 4, 0 }, { 20, 1, 4, 0 }, { 30, 4, 8, 0 }, { 40, 8, 8, 0 }, { 90, 2, 4, 0 } },
      "1 2 0 " },
};

static void choice(void **state)
{
    const size_t row = (size_t)rows_number(state);
    static struct slurm_qos kinds[6];
    struct slurm_spec spec = { .preempt_type = PREEMPT_QOS,
                               .preempt_mode = PREEMPT_CANCEL,
                               .preempt_reorder_count = choices[row].reorder_count,
                               .preempt_youngest_first = choices[row].youngest,
                               .qos = kinds,
                               .qos_count = 6 };
    struct yard yard = { .gpus = 8,
                         .cores = 16,
                         .want_nodes = choices[row].want_nodes,
                         .want_gpus = choices[row].want_gpus };
    struct slurm_preempt preempt = { 0 };
    slurm_preempt_begin(&preempt);
    for (uint32_t j = 0; j < 5 && choices[row].jobs[j].nodes; j++) {
        kinds[j] = (struct slurm_qos){ .priority = choices[row].jobs[j].priority,
                                       .preempt_mode = PREEMPT_UNSET };
        const uint32_t nodes = choices[row].jobs[j].nodes;
        yard.jobs[yard.job_count++] = (struct held){ nodes, choices[row].jobs[j].gpus, 1, false };
        while (nodes >> yard.nodes) yard.nodes++;
        assert_true(slurm_preempt_add(&preempt, &spec, j, j, (struct slurm_side){ .qos = j },
                                      bits(nodes), choices[row].jobs[j].start_s * S));
    }
    struct slurm_victim victims[5];
    const struct slurm_trial trial = trial_of(&yard);
    const uint32_t count = slurm_preempt_choose(&preempt, &spec, &trial, victims);
    assert_string_equal(names_of(victims, count), choices[row].victims);
    slurm_preempt_clear(&preempt);
}

static void modes_and_times(void **state)
{
    (void)state;
    struct slurm_spec spec = spec_s25();
    const struct slurm_side scavenger = { .qos = SCAVENGER },
                            prod = { .qos = PROD, .partition = 1 };
    assert_int_equal(slurm_preempt_mode(&spec, scavenger), PREEMPT_REQUEUE);
    assert_int_equal(slurm_preempt_mode(&spec, (struct slurm_side){ .qos = NORMAL }),
                     PREEMPT_REQUEUE);
    spec.preempt_mode = PREEMPT_CANCEL;
    assert_int_equal(slurm_preempt_mode(&spec, (struct slurm_side){ .qos = NORMAL }),
                     PREEMPT_CANCEL);
    assert_false(slurm_preempt_may(&spec, scavenger, prod));
    assert_false(slurm_preempt_may(&spec, prod, prod));
    assert_false(slurm_preempt_may(&spec, (struct slurm_side){ .qos = UINT32_MAX }, scavenger));
    assert_true(slurm_preempt_could(&spec, prod));
    assert_false(slurm_preempt_could(&spec, scavenger));
    assert_true(slurm_preempt_exempt_until_ns(&spec, scavenger, 3 * S) == 3 * S);
    spec.preempt_exempt_ns = 60 * S;
    assert_true(slurm_preempt_exempt_until_ns(&spec, scavenger, 3 * S) == 63 * S);
    struct slurm_qos own[3] = { qos[0], qos[1], qos[2] };
    own[SCAVENGER].preempt_exempt_ns = 10 * S;
    own[SCAVENGER].grace_time_ns = 20 * S;
    spec.qos = own;
    assert_true(slurm_preempt_exempt_until_ns(&spec, scavenger, 3 * S) == 13 * S);
    assert_true(slurm_preempt_times(&spec, scavenger, 0).stop_ns == 20 * S);
    assert_true(slurm_preempt_times(&spec, scavenger, 0).gone_ns == 24 * S);
    own[SCAVENGER].preempt_mode = PREEMPT_OFF;
    assert_false(slurm_preempt_may(&spec, prod, scavenger));
    spec.preempt_type = PREEMPT_NONE;
    assert_false(slurm_preempt_may(&spec, prod, scavenger));
    assert_false(slurm_preempt_could(&spec, prod));
}

/* Random yards: the job fits in the place of its victims; each of them is on the place; there are none only if it does
 * not fit even without all candidates. Suspended ones give back cores only. */
static void random_yard(void **state)
{
    const uint64_t seed = rows_number(state);
    static struct slurm_qos kinds[4] = { { .priority = 1, .preempt_mode = PREEMPT_UNSET },
                                         { .priority = 2, .preempt_mode = PREEMPT_UNSET },
                                         { .priority = 2, .preempt_mode = PREEMPT_UNSET },
                                         { .priority = 9, .preempt_mode = PREEMPT_UNSET } };
    const bool by_partition = seed % 3 == 0;
    struct slurm_spec spec = { .preempt_type = by_partition ? PREEMPT_PARTITION_PRIO : PREEMPT_QOS,
                               .preempt_mode = seed % 3 == 1 ? PREEMPT_CANCEL : PREEMPT_SUSPEND,
                               .preempt_reorder_count = any_count(seed, 1, 0, 3),
                               .qos = kinds,
                               .qos_count = 4,
                               .partitions = partitions,
                               .partition_count = 2 };
    struct yard yard = { .nodes = any_count(seed, 2, 1, NODES_MOST),
                         .gpus = 8,
                         .cores = 16,
                         .suspend = spec.preempt_mode == PREEMPT_SUSPEND };
    struct slurm_preempt preempt = { 0 };
    slurm_preempt_begin(&preempt);
    yard.want_gpus = 0; /* while jobs are put down: each must fit */
    for (uint32_t j = 0; j < JOBS_MOST; j++) {
        struct held job = { 0, any_count(seed, 10 * j + 10, 0, 4),
                            any_count(seed, 10 * j + 11, 1, 8), false };
        yard.want_gpus = job.gpus;
        yard.want_cores = job.cores;
        yard.want_nodes = any_count(seed, 10 * j + 12, 1, yard.nodes < 3 ? yard.nodes : 3);
        if (!yard_fits(&yard)) continue;
        job.nodes = yard.place;
        const uint32_t live = yard.job_count;
        yard.jobs[yard.job_count++] = job;
        const struct slurm_side side = { .qos = any_count(seed, 10 * j + 13, 0, 3) };
        if (any(seed, 10 * j + 14) < 0.8)
            assert_true(slurm_preempt_add(&preempt, &spec, live, j, side, bits(job.nodes), 0));
    }
    yard.want_gpus = any_count(seed, 3, 0, 8);
    yard.want_cores = any_count(seed, 4, 1, 16);
    yard.want_nodes = any_count(seed, 5, 1, yard.nodes);
    if (!yard_fits(&yard) && preempt.count > 0) {
        struct slurm_victim victims[JOBS_MOST];
        const struct slurm_trial trial = trial_of(&yard);
        const uint32_t count = slurm_preempt_choose(&preempt, &spec, &trial, victims);
        const uint32_t place = yard.place;
        yard_reset(&yard);
        for (uint32_t i = 0; i < (count > 0 ? count : preempt.count); i++)
            yard_remove(&yard, count > 0 ? victims[i].live : preempt.candidates[i].live);
        if (count == 0)
            assert_false(yard_fits(&yard));
        else {
            yard.place = place;
            assert_true(yard_fits_there(&yard));
            for (uint32_t i = 0; i < count; i++)
                assert_true(yard.jobs[victims[i].live].nodes & place);
        }
    }
    slurm_preempt_clear(&preempt);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, recording_s25, NULL, "recording s25");
    rows_add(&rows, recording_s27, NULL, "recording s27");
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        rows_add(&rows, choice, (void *)(uintptr_t)i, "%s", choices[i].name);
    rows_add(&rows, modes_and_times, NULL, "modes and times");
    for (uint64_t seed = 1; seed <= 300; seed++)
        rows_add(&rows, random_yard, (void *)(uintptr_t)seed, "yard %u", (unsigned)seed);
    return rows_run("slurm_preempt", &rows);
}
