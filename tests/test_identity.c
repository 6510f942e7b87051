/* test_identity.c - replayed on the layout where it was recorded, without faults, every job ends
 * after exactly its recorded duration: with communication, checkpoints and start-up inside it. */
#include "fixture.h"

#include "tests/near.h"
#include "tests/rows.h"

/* Sizes that fill servers of eight and such that do not. */
static const uint32_t sizes[] = { 1, 2, 3, 5, 7, 8, 9, 12, 13, 16, 17, 24, 31, 33, 64 };
enum { JOBS = 160, SIZES = sizeof sizes / sizeof *sizes, SERVERS = 20 };

enum comm { COMM_NOTHING, COMM_ONE_PROFILE, COMM_SPREAD, COMM_MIX, COMMS };
static const char *const comm_names[COMMS] = { "no communication", "one profile", "kappa spread",
                                               "mix of profiles" };

static const char *const policy_names[] = { "no checkpoints", "fixed", "Young", "Daly" };

struct setup {
    enum comm comm;
    enum checkpoint_policy policy;
    bool startup, windows, easy, recorded_nodes;
    enum shape shape; /* without recorded nodes */
};

static const struct profile heavy = { .kappa_one = 0.3,
                                      .kappa_many = 0.9,
                                      .hidden_frac = 0.1,
                                      .size_bytes = 3e8,
                                      .state_bytes_per_gpu = 7e10 },
                            light = { .kappa_one = 0.05,
                                      .kappa_many = 0.2,
                                      .hidden_frac = 0.3,
                                      .size_bytes = 5e6,
                                      .state_bytes_per_gpu = 2e9 };

static void set_communication(struct communication *communication, enum comm comm)
{
    if (comm == COMM_NOTHING) return;
    communication->kind = comm == COMM_MIX ? COMM_BY_MODEL_MIX : COMM_PROFILE;
    communication->mix_count = comm == COMM_MIX ? 2 : 1;
    communication->mix[0] = (struct mix_entry){ heavy, 1, 1, UINT32_MAX };
    communication->mix[1] = (struct mix_entry){ light, 3, 1, 20 };
    if (comm == COMM_SPREAD) communication->mix[0].profile.spread = 0.3;
}

static void set_scenario(struct scenario *scenario, const struct setup *setup)
{
    set_communication(&scenario->communication, setup->comm);
    scenario->order = setup->easy ? ORDER_EASY : ORDER_FCFS;
    scenario->recorded_server = fixture_server(8);
    scenario->recorded_count = SERVERS;
    scenario->startup_ns = setup->startup ? 90 * NS_PER_S : 0;
    scenario->checkpoint = (struct checkpoint){ .policy = setup->policy,
                                                .interval_ns = 1800 * NS_PER_S,
                                                .store_bytes_per_s = 3e9,
                                                .bytes_per_gpu = setup->comm ? 0 : 5e10 };
    /* Young and Daly ask for a mean time between failures; parts that live 46 days, each within some
     * 10 % of it, do not fail here. */
    scenario->failures.component[COMPONENT_GPU] =
        (struct component_failures){ .law = LAW_LOGNORMAL, .mean_s = 4e6, .shape = 0.1 };
    scenario->shape = setup->recorded_nodes ? SHAPE_RECORDED : setup->shape;
    if (!setup->windows) return;
    scenario->horizon_ns = 4 * NS_PER_DAY;
    scenario->warmup_ns = NS_PER_DAY;
    scenario->follow_ns = 20 * NS_PER_DAY;
    scenario->curve_bin_ns = NS_PER_DAY / 2;
    scenario->resample = RESAMPLE_DAYS;
}

static void set_trace(struct fixture *fixture, const struct setup *setup)
{
    if (setup->recorded_nodes)
        fixture->jobs.nodes = ARENA_ARRAY(fixture->jobs.arena, uint32_t, JOBS);
    for (uint32_t row = 0; row < JOBS; row++) {
        const uint32_t gpus = sizes[row % SIZES];
        /* Durations down to the nanosecond, some shorter than the start-up. */
        const double duration_s = any_scale(3, 2 * row, 20, 30000);
        fixture_job(fixture, row, row * 1500.0, duration_s, 0, gpus);
        if (!setup->recorded_nodes) continue;
        const uint32_t least = (gpus + 7) / 8;
        fixture->jobs.nodes[row] = any_count(3, 2 * row + 1, least, gpus < 10 ? gpus : 10);
    }
}

static void ends_as_recorded(void **state)
{
    const struct setup *setup = *state;
    struct fixture fixture;
    fixture_init(&fixture, JOBS);
    set_scenario(&fixture.scenario, setup);
    set_trace(&fixture, setup);
    fixture_layout(&fixture, "recorded", SERVERS, 8);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_int_equal(result.incidents.count, 0);
    const struct job_row *rows = LOG_ITEMS(&result.jobs, struct job_row);
    uint64_t finished = 0;
    for (uint64_t i = 0; i < result.jobs.count; i++) {
        if (rows[i].end != END_FINISHED) continue;
        finished++;
        const int64_t want_ns = fixture.jobs.duration_ns[rows[i].trace_row];
        CHECK(rows[i].end_ns - rows[i].first_start_ns == want_ns,
              "job %u of %u GPUs runs %.9f s, recorded %.9f s", rows[i].trace_row, rows[i].gpus,
              s_from_ns(rows[i].end_ns - rows[i].first_start_ns), s_from_ns(want_ns));
    }
    if (!setup->windows) assert_int_equal(finished, JOBS);
    assert_true(finished >= JOBS);
    if (setup->comm) assert_true(result.ledger[ACC_STALL_INTER][CLASS_16_63] > 0);
    if (setup->policy) assert_true(result.ledger[ACC_CHECKPOINT][CLASS_16_63] > 0);
    if (setup->startup) assert_true(result.ledger[ACC_STARTUP][CLASS_1] > 0);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    static struct setup setups[200];
    uint32_t count = 0;
    struct rows rows = { 0 };
    for (int comm = 0; comm < COMMS; comm++)
        for (int policy = CHECKPOINT_NONE; policy <= CHECKPOINT_DALY; policy++)
            for (int flags = 0; flags < 6; flags++) {
                struct setup *setup = &setups[count++];
                *setup = (struct setup){ .comm = (enum comm)comm,
                                         .policy = (enum checkpoint_policy)policy,
                                         .startup = flags % 2,
                                         .windows = flags / 2 == 1,
                                         .recorded_nodes = flags / 2 == 2,
                                         .easy = (comm + policy + flags) % 3 == 0 };
                rows_add(&rows, ends_as_recorded, setup, "%s, %s%s%s%s", comm_names[comm],
                         policy_names[policy], setup->startup ? ", start-up" : "",
                         setup->windows ? ", windows" : ", all",
                         setup->recorded_nodes ? ", nodes as recorded" : "");
            }
    /* Shapes that do not round up to whole servers: the last server of a job is filled less. */
    for (int comm = COMM_ONE_PROFILE; comm < COMMS; comm++)
        for (int shape = SHAPE_RECORDED; shape <= SHAPE_FREE; shape++) {
            struct setup *setup = &setups[count++];
            *setup = (struct setup){ .comm = (enum comm)comm,
                                     .policy = CHECKPOINT_FIXED,
                                     .startup = true,
                                     .easy = true,
                                     .shape = (enum shape)shape };
            rows_add(&rows, ends_as_recorded, setup, "%s, %s", comm_names[comm],
                     shape == SHAPE_FREE ? "any GPUs" : "as recorded, nodes unknown");
        }
    return rows_run("identity", &rows);
}
