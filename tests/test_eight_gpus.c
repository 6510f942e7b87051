/* test_eight_gpus.c - one job on eight GPUs: 1 server of 8, 2 of 4, 4 of 2, 8 of 1, alone.
 *
 * Bus bandwidths are those of MODELS 2.4; what the engine books as stalls, and how long the job takes,
 * is calculated again below from the formulas of MODELS 2.4, 2.5 and 3.9. */
#include "fixture.h"

#include "models/checkpoint.h"
#include "models/collective.h"
#include "tests/near.h"
#include "tests/rows.h"

static const uint32_t splits[][2] = { { 1, 8 }, { 2, 4 }, { 4, 2 }, { 8, 1 } }; /* servers, GPUs */
enum { SPLITS = sizeof splits / sizeof *splits };

static const double NIC = 48.5e9, NVLINK = 370.8e9, HOP_IN = 3.4e-6, HOP_OUT = 14e-6;

/* ---- bus bandwidth of the flat ring, rows CO-001 and CO-019..024 -------------------------------- */

static const struct {
    double time_us, busbw_gb;
} flat_rows[SPLITS] = {
    { 5115.15, 367.349 }, { 9754.62, 192.632 }, { 19482.8, 96.4464 }, { 38939.3, 48.2559 }
};

static struct collective_place place_of_split(uint64_t i)
{
    return (struct collective_place){ .servers = splits[i][0],
                                      .gpus = 8,
                                      .gpus_per_server = splits[i][1],
                                      .intra_bytes_per_s = NVLINK,
                                      .network_bytes_per_s = splits[i][1] * NIC,
                                      .intra_hop_s = HOP_IN,
                                      .network_hop_s = HOP_OUT,
                                      .chunks = COLLECTIVE_CHUNKS };
}

static void bus_bandwidth(void **state)
{
    const uint64_t i = rows_number(state);
    const struct collective_place place = place_of_split(i);
    const double size = 1073741824, time_s = flat_allreduce_s(&place, size);
    CHECK_NEAR(time_s * 1e6, flat_rows[i].time_us, 1e-5);
    CHECK_NEAR(bus_bytes_per_s(COLLECTIVE_ALLREDUCE, 8, size, time_s) / 1e9, flat_rows[i].busbw_gb,
               1e-5);
}

/* ---- the engine's books -------------------------------------------------------------------------- */

static double least(double a, double b)
{
    return a < b ? a : b;
}
static double most(double a, double b)
{
    return a > b ? a : b;
}

/* Fastest all-reduce of S bytes over N servers of g GPUs, n = N g = 8; network: bytes per second of
 * one server and seconds of a step. */
static double collective_s(enum allreduce_rule rule, uint32_t servers, uint32_t g, double size,
                           double network, double hop_out)
{
    const double N = servers, n = N * g;
    const double wire = N == 1 ? NVLINK : g == 1 ? network : least(NVLINK, network);
    const double flat =
        2 * (n - N) * HOP_IN + 2 * (N - 1) * hop_out + 2 * (n - 1) / n * size / wire;
    if (rule == RULE_FLAT_RING) return flat;
    if (N == 1) return flat; /* the hierarchical forms are the same inside one server */
    const double t_in = 2.0 * (g - 1) / g * size / NVLINK, lat_in = 2.0 * (g - 1) * HOP_IN;
    const double t_ring = 2 * (N - 1) / N * size / network;
    const double t_tree = (N == 2 ? 1.0 : 2.0) * size / network;
    const double depth = N == 2 ? 1 : N == 4 ? 2 : 3;
    const double ring =
        lat_in + 2 * (N - 1) * hop_out + most(t_in, t_ring) + least(t_in, t_ring) / 8;
    const double tree = lat_in + 2 * depth * hop_out + most(t_in, t_tree) + least(t_in, t_tree) / 8;
    return least(flat, least(ring, tree));
}

struct wanted {
    double slowdown, intra, inter; /* s(p); shares of the time */
};

/* kappa: communication over compute on the server of eight where the job was recorded; w: what
 * compute hides. */
static struct wanted calculate(enum allreduce_rule rule, uint64_t split, double kappa,
                               double hidden, double size)
{
    const uint32_t servers = splits[split][0], g = splits[split][1];
    const double unit = collective_s(rule, 1, 8, size, NIC, HOP_OUT);
    const double all = collective_s(rule, servers, g, size, g * NIC, HOP_OUT);
    const double inside = servers == 1 ? all : collective_s(rule, servers, g, size, INFINITY, 0);
    const double exposed = most(0, kappa * all / unit - hidden);
    const double exposed_inside = most(0, kappa * inside / unit - hidden);
    return (struct wanted){ .slowdown = 1 + exposed,
                            .intra = exposed_inside / (1 + exposed),
                            .inter = (exposed - exposed_inside) / (1 + exposed) };
}

static const struct {
    double kappa, hidden, size;
} profiles[] = {
    { 0.10, 0.0, 1073741824 }, { 0.25, 0.0, 1073741824 }, { 0.25, 0.3, 1073741824 },
    { 0.50, 0.3, 7.31e8 },     { 0.37, 0.1, 2.5e5 },      { 0.80, 0.05, 4e3 },
    { 0.05, 0.6, 1e9 },        { 0.90, 0.9, 3e7 },
};

enum { PROFILES = sizeof profiles / sizeof *profiles };

/* units of an account of the job's class while it runs, over all eight GPUs */
static int64_t units_of(const struct replica_result *result, enum account account)
{
    const int128 integral = result->ledger_all[account][CLASS_8_15];
    assert_true(integral % result->run_end_ns == 0); /* one level from start to end */
    return (int64_t)(integral / result->run_end_ns);
}

static void stalls(void **state)
{
    const uint64_t number = rows_number(state), split = number % SPLITS;
    const uint64_t p = number / SPLITS % PROFILES;
    const enum allreduce_rule rule = number < SPLITS * PROFILES ? RULE_FLAT_RING : RULE_BEST;
    struct fixture fixture;
    fixture_init(&fixture, 1);
    struct communication *communication = &fixture.scenario.communication;
    communication->kind = COMM_PROFILE;
    communication->allreduce = rule;
    communication->mix_count = 1;
    communication->mix[0] = (struct mix_entry){ .profile = { .kappa_one = profiles[p].kappa,
                                                             .kappa_many = 0.7,
                                                             .hidden_frac = profiles[p].hidden,
                                                             .size_bytes = profiles[p].size },
                                                .weight = 1,
                                                .gpus_min = 1,
                                                .gpus_max = UINT32_MAX };
    fixture_layout(&fixture, "eight", splits[split][0], splits[split][1]);
    const double duration_s = 34567.89;
    fixture_job(&fixture, 0, 0, duration_s, 0, 8);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    const struct wanted here =
        calculate(rule, split, profiles[p].kappa, profiles[p].hidden, profiles[p].size);
    const struct wanted recorded =
        calculate(rule, 0, profiles[p].kappa, profiles[p].hidden, profiles[p].size);
    /* The rate is a multiple of 2^-30: half a step of it, and the tick of the clock. */
    const double want_s = duration_s * here.slowdown / recorded.slowdown;
    const double ratio = here.slowdown / recorded.slowdown;
    CHECK(fabs(s_from_ns(result.run_end_ns) - want_s) <= want_s * ratio * 0.5 / (1 << 30) + 1e-9,
          "ends at %.9f s, want %.9f", s_from_ns(result.run_end_ns), want_s);
    const int64_t intra = (int64_t)(here.intra * UNITS_PER_GPU) * 8;
    const int64_t inter = (int64_t)(here.inter * UNITS_PER_GPU) * 8;
    CHECK(llabs(units_of(&result, ACC_STALL_INTRA) - intra) <= 8, "intra %lld units, want %lld",
          (long long)units_of(&result, ACC_STALL_INTRA), (long long)intra);
    CHECK(llabs(units_of(&result, ACC_STALL_INTER) - inter) <= 8, "inter %lld units, want %lld",
          (long long)units_of(&result, ACC_STALL_INTER), (long long)inter);
    assert_int_equal(units_of(&result, ACC_COMPUTE), 8 * UNITS_PER_GPU -
                                                         units_of(&result, ACC_STALL_INTRA) -
                                                         units_of(&result, ACC_STALL_INTER));
    if (splits[split][0] == 1) assert_int_equal(units_of(&result, ACC_STALL_INTER), 0);
    if (splits[split][1] == 1) assert_int_equal(units_of(&result, ACC_STALL_INTRA), 0);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* An infinitely fast network, or no communication at all, leaves no stall between servers. */
static void limits(void **state)
{
    const bool free_network = rows_number(state);
    struct fixture fixture;
    fixture_init(&fixture, 1);
    struct communication *communication = &fixture.scenario.communication;
    communication->kind = COMM_PROFILE;
    communication->mix_count = 1;
    communication->scale = free_network ? 1 : 0;
    communication->mix[0].profile = (struct profile){ .kappa_one = 0.4, .size_bytes = 1e8 };
    communication->mix[0].weight = 1;
    communication->mix[0].gpus_max = UINT32_MAX;
    struct layout *layout = fixture_layout(&fixture, "four", 2, 4);
    if (free_network) {
        layout->fabric.link.bytes_per_s = layout->server.nic_bytes_per_s = 1e30;
        layout->server.gpu_pcie_bytes_per_s = 1e30;
        layout->fabric.link.hop_s = 0;
    }
    fixture_job(&fixture, 0, 0, 5000, 0, 8);
    fixture_ready(&fixture);
    struct replica_result result;
    assert_int_equal(fixture_run(&fixture, 0, 0, &result), STATUS_OK);
    assert_int_equal(units_of(&result, ACC_STALL_INTER), 0);
    if (!free_network) {
        assert_int_equal(units_of(&result, ACC_STALL_INTRA), 0);
        assert_int_equal(result.run_end_ns, 5000 * NS_PER_S);
    }
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* ---- CASES 5.5 ----------------------------------------------------------------------------------- */

static const struct {
    uint32_t gpus;
    double gb_per_s, want_ms;
} rings[] = { { 8, 450, 38.8888888889 }, { 16, 50, 375 }, { 64, 50, 393.75 } };

static void ring_of_10_gb(void **state)
{
    const uint64_t i = rows_number(state);
    CHECK_NEAR(1e3 * ring_allreduce_s(rings[i].gpus, 10e9, 0, rings[i].gb_per_s * 1e9),
               rings[i].want_ms, 1e-10);
}

static void checkpoint_of_a_minute(void **state)
{
    (void)state;
    const double interval_s = young_interval_s(60, 1.8 * 3600);
    assert_true(fabs(interval_s - 882) < 0.5); /* as printed: whole seconds */
    /* first order: writing 60/tau, and tau/2 lost each 1.8 h */
    assert_true(fabs(60 / interval_s + interval_s / 2 / (1.8 * 3600) - 0.136) < 0.0005);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t i = 0; i < SPLITS; i++)
        rows_add(&rows, bus_bandwidth, (void *)i, "flat ring on %ux%u: %g GB/s", splits[i][0],
                 splits[i][1], flat_rows[i].busbw_gb);
    for (uintptr_t number = 0; number < 2 * SPLITS * PROFILES; number++) {
        const uintptr_t i = number % SPLITS, p = number / SPLITS % PROFILES;
        rows_add(&rows, stalls, (void *)number, "stalls on %ux%u, kappa %g, w %g, %g bytes, %s",
                 splits[i][0], splits[i][1], profiles[p].kappa, profiles[p].hidden,
                 profiles[p].size, number < SPLITS * PROFILES ? "flat ring" : "fastest form");
    }
    rows_add(&rows, limits, (void *)1, "an endless network: no stall between servers");
    rows_add(&rows, limits, (void *)0, "communication scaled to nothing: no stall at all");
    for (uintptr_t i = 0; i < sizeof rings / sizeof *rings; i++)
        rows_add(&rows, ring_of_10_gb, (void *)i, "ring of 10 GB over %u GPUs: %g ms",
                 rings[i].gpus, rings[i].want_ms);
    rows_add(&rows, checkpoint_of_a_minute, NULL,
             "checkpoint of a minute, MTTF 1.8 h: 882 s, 13.6 %%");
    return rows_run("eight_gpus", &rows);
}
