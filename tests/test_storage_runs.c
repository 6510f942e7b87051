/* test_storage_runs.c - whole runs of jobs that read from and write to one storage, by hand (MODELS 3.7, 4.7). */
#include "fixture.h"

#include "tests/near.h"
#include "tests/rows.h"

static const double UNITS_S = 1008000.0 * 1e9; /* of a GPU-second */

/* Jobs of eight GPUs on two servers of eight that do not talk, and read 1 GB/s per GPU. */
static struct profile *readers(struct fixture *fixture, uint32_t jobs)
{
    fixture_init(fixture, jobs);
    fixture_layout(fixture, "hall", 2, 8);
    fixture->scenario.contention = NETWORK_ESTIMATE;
    struct communication *communication = &fixture->scenario.communication;
    communication->kind = COMM_PROFILE;
    communication->mix_count = 1;
    communication->mix[0] = (struct mix_entry){
        .profile = { .size_bytes = 1e9, .input_bytes_per_s = 1e9, .prefetch = true },
        .weight = 1,
        .gpus_min = 1,
        .gpus_max = UINT32_MAX
    };
    return &communication->mix[0].profile;
}

static void run_it(struct fixture *fixture, struct replica_result *result)
{
    fixture_ready(fixture);
    assert_int_equal(fixture_run(fixture, 0, 0, result), STATUS_OK);
    assert_true(result->closure_error == 0);
}

static double account_s(const struct replica_result *result, enum account account)
{
    int128 sum = 0;
    for (int class = 0; class < CLASSES; class ++) sum += result->ledger_all[account][class];
    return (double)sum / UNITS_S;
}

static double end_s(const struct replica_result *result, uint32_t job)
{
    return s_from_ns(LOG_ITEMS(&result->jobs, const struct job_row)[job].end_ns);
}

/* The storage reads 10 GB/s. One job wants 8 of them and waits for nothing; two get 5 each, and a step takes 8/5. The first
 * is alone for 1,000 s, so it is done at 1,000 + 9,000 8/5, when the other has 1,000 s of work left. */
static void two_readers_share(void **state)
{
    (void)state;
    struct fixture fixture;
    readers(&fixture, 2);
    fixture.scenario.storage.read_bytes_per_s = 10e9;
    fixture_job(&fixture, 0, 0, 10000, 0, 8);
    fixture_job(&fixture, 1, 1000, 10000, 0, 8);
    struct replica_result result;
    run_it(&fixture, &result);
    CHECK_NEAR(end_s(&result, 0), 1000 + 9000 * 1.6, 1e-8);
    CHECK_NEAR(end_s(&result, 1), 1000 + 9000 * 1.6 + 1000, 1e-8);
    CHECK_NEAR(account_s(&result, ACC_STALL_DATA), 16 * 9000 * 0.6, 1e-6);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

static const struct {
    const char *name;
    double read, server, step; /* step: of a job alone, for a second of compute */
    bool prefetch;
} alone[] = {
    { "no limit", 0, 0, 1, true },
    { "enough", 8.1e9, 0, 1, true },
    { "half of it", 4e9, 0, 2, true },
    { "before each step", 10e9, 0, 1.8, false },
    { "no limit, before each step", 0, 0, 1, false },
    { "a server is slower than the storage", 40e9, 5e9, 1.6, true },
    { "over its NICs, 8 times 48.5", 0, 388e9, 1 + 8 / 388.0, false },
};

static void one_reader_alone(void **state)
{
    const uint64_t row = rows_number(state);
    struct fixture fixture;
    readers(&fixture, 1)->prefetch = alone[row].prefetch;
    fixture.scenario.storage.read_bytes_per_s = alone[row].read;
    fixture.scenario.storage.server_bytes_per_s = alone[row].server;
    fixture_job(&fixture, 0, 0, 10000, 0, 8);
    struct replica_result result;
    run_it(&fixture, &result);
    CHECK_NEAR(end_s(&result, 0), 10000 * alone[row].step, 1e-8);
    const double stall_s = 8 * 10000 * (alone[row].step - 1);
    /* Shares are whole millionths of a GPU. */
    CHECK(fabs(account_s(&result, ACC_STALL_DATA) - stall_s) <= 1e-6 * 8 * end_s(&result, 0),
          "stall_data %g s, want %g", account_s(&result, ACC_STALL_DATA), stall_s);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Checkpoints of 1 TB every 1,000 s over 10 GB/s: 100 s alone. Two jobs meet at random: t = 100 (1 + t/(1000 + t)). */
static void two_writers_share(void **state)
{
    const bool both = rows_number(state) == 1, own = rows_number(state) == 2;
    struct fixture fixture;
    readers(&fixture, 2)->input_bytes_per_s = 0;
    struct scenario *scenario = &fixture.scenario;
    scenario->contains_checkpoint = false;
    scenario->checkpoint = (struct checkpoint){ .policy = CHECKPOINT_FIXED,
                                                .interval_ns = 1000 * NS_PER_S,
                                                .bytes_per_gpu = 1e12 / 8 };
    struct storage *storage = own ? &scenario->layouts[0].storage : &scenario->storage;
    storage->write_bytes_per_s = 10e9;
    fixture_job(&fixture, 0, 0, 100000, 0, 8);
    fixture_job(&fixture, 1, both ? 0 : 150000, 100000, 0, 8);
    struct replica_result result;
    run_it(&fixture, &result);
    /* t^2 + 800 t = 100,000: one unknown more than alone. */
    const double t = both ? -400 + sqrt(400 * 400 + 100000) : 100;
    CHECK_NEAR(end_s(&result, 0), 100000 * (1000 + t) / 1000, 1e-6);
    assert_true(account_s(&result, ACC_STALL_DATA) == 0);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* 16 GPUs on two servers read 5 GB/s each over the NICs that their ring uses: what is left of 388 GB/s a server is below
 * the 370.8 of NVLink, and the ring goes at that. */
static void input_takes_from_the_ring(void **state)
{
    (void)state;
    static const double S = 1e9, KAPPA = 0.5, HOP_IN = 3.4e-6, HOP_OUT = 14e-6;
    struct fixture fixture;
    struct profile *profile = readers(&fixture, 1);
    profile->kappa_one = profile->kappa_many = KAPPA;
    profile->input_bytes_per_s = 5e9;
    fixture.scenario.storage.read_bytes_per_s = 1e12;
    fixture_job(&fixture, 0, 0, 10000, 0, 16);
    struct replica_result result;
    run_it(&fixture, &result);
    const double bytes = 2 * 15 / 16.0 * S, latency_s = 2 * 14 * HOP_IN + 2 * HOP_OUT;
    const double alone_s = latency_s + bytes / 370.8e9, compute_s = alone_s / KAPPA;
    const double reads = 8 * 5e9 / (1 + KAPPA); /* a server, at the pace of the job alone */
    const double slow_s = latency_s + bytes / (388e9 - reads);
    CHECK_NEAR(end_s(&result, 0), 10000 * (compute_s + slow_s) / (compute_s + alone_s), 1e-8);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* Members of a step that differ ask for less a second; a storage that gives a thousandth less than that costs a thousandth. */
static void slow_members_ask_for_less(void **state)
{
    (void)state;
    double ends[2];
    for (int i = 0; i < 2; i++) {
        struct fixture fixture;
        readers(&fixture, 1);
        fixture.scenario.stragglers.noise = 0.1;
        fixture.scenario.contains_stalls = false;
        fixture.scenario.storage.read_bytes_per_s = i ? 0.999 * 8e9 * 10000 / ends[0] : 1e12;
        fixture_job(&fixture, 0, 0, 10000, 0, 8);
        struct replica_result result;
        run_it(&fixture, &result);
        ends[i] = end_s(&result, 0);
        replica_result_clear(&result);
        fixture_clear(&fixture);
    }
    assert_true(ends[0] > 11000);
    CHECK_NEAR(ends[1], ends[0] / 0.999, 1e-6);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, two_readers_share, NULL, "two readers");
    for (uintptr_t row = 0; row < sizeof alone / sizeof *alone; row++)
        rows_add(&rows, one_reader_alone, (void *)row, "%s", alone[row].name);
    rows_add(&rows, two_writers_share, (void *)0, "a writer alone");
    rows_add(&rows, two_writers_share, (void *)1, "two writers");
    rows_add(&rows, two_writers_share, (void *)2, "a writer alone, on the layout's own storage");
    rows_add(&rows, input_takes_from_the_ring, NULL, "input and ring");
    rows_add(&rows, slow_members_ask_for_less, NULL, "slow members");
    return rows_run("storage_runs", &rows);
}
