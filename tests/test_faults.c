/* test_faults.c - clocks of the components: laws, shared luck, and long runs with failures only
 * against renewal theory and availability (MODELS 5.1, 5.2, 5.5, 9.4). */
#include "fixture.h"

#include "base/exactmath.h"
#include "base/philox.h"
#include "handlers/faults.h"
#include "tests/near.h"
#include "tests/rows.h"

#define HOUR_S 3600.0

/* ---- laws ------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    struct component_failures law;
    double scale, want_mean_s, want_cv2;
} laws[] = {
    { "exponential", { .law = LAW_EXPONENTIAL, .mean_s = 7200 }, 1, 7200, 1 },
    { "exponential, three times the rate", { .law = LAW_EXPONENTIAL, .mean_s = 7200 }, 3, 2400, 1 },
    /* cv2 of Weibull: Gamma(1+2/k)/Gamma(1+1/k)^2 - 1; MODELS 5.2 prints 2.13869 for k = 0.7 */
    { "Weibull 0.7", { .law = LAW_WEIBULL, .mean_s = 5000, .shape = 0.7 }, 1, 5000, 2.13869 },
    { "Weibull 1 is exponential", { .law = LAW_WEIBULL, .mean_s = 5000, .shape = 1 }, 1, 5000, 1 },
    { "Weibull 2, half the rate",
      { .law = LAW_WEIBULL, .mean_s = 5000, .shape = 2 },
      0.5,
      10000,
      0.2732395447 }, /* 4/pi - 1 */
    { "lognormal 1.2",
      { .law = LAW_LOGNORMAL, .mean_s = 900, .shape = 1.2 },
      1,
      900,
      3.2206958170 }, /* exp(1.44) - 1 */
};

/* Mean and variation over the midpoints of a million equal shares of probability. */
static void law_has_its_mean(void **state)
{
    const uint64_t l = rows_number(state);
    enum { SHARES = 1000000 };
    double sum = 0, squares = 0, last = 0;
    for (int i = 0; i < SHARES; i++) {
        const double s = faults_draw_s(&laws[l].law, laws[l].scale, (i + 0.5) / SHARES);
        assert_true(s >= last); /* monotone: common numbers move together */
        last = s;
        sum += s;
        squares += s * s;
    }
    const double mean = sum / SHARES;
    CHECK_NEAR(mean, laws[l].want_mean_s, 2e-5);
    /* What lies beyond the last midpoint is missing from the variance. */
    CHECK_NEAR(squares / SHARES / (mean * mean) - 1, laws[l].want_cv2, 5e-3);
}

static void repair_quantiles(void **state)
{
    (void)state;
    enum { GPUS = 40000 };
    struct arena *arena = arena_create(1u << 26);
    struct failures failures = { .scale = 1 };
    failures.component[COMPONENT_GPU] = (struct component_failures){ .law = LAW_EXPONENTIAL,
                                                                     .mean_s = 1e6,
                                                                     .repair_median_s = 4 * HOUR_S,
                                                                     .repair_p95_s = 48 * HOUR_S };
    struct faults faults;
    assert_true(faults_init(&faults, &failures,
                            (struct faults_size){ .gpus = GPUS,
                                                  .servers = GPUS / 8,
                                                  .gpus_per_server = 8,
                                                  .seed = 5,
                                                  .until_ns = INT64_MAX },
                            arena));
    double below_median = 0, below_p95 = 0, sum_h = 0;
    for (uint32_t row = 0; row < GPUS; row++) {
        const double h = s_from_ns(faults_repair_ns(&faults, row)) / HOUR_S;
        below_median += h < 4;
        below_p95 += h < 48;
        sum_h += h;
    }
    /* three standard errors of a share; mean 12.5212 h (MODELS, FA-097) with cv2 = exp(1.51072^2) - 1 */
    assert_true(fabs(below_median / GPUS - 0.5) < 3 * sqrt(0.25 / GPUS));
    assert_true(fabs(below_p95 / GPUS - 0.95) < 3 * sqrt(0.05 * 0.95 / GPUS));
    assert_true(fabs(sum_h / GPUS - 12.5212) < 3 * 12.5212 * sqrt(8.80 / GPUS));
    faults_clear(&faults);
    arena_destroy(arena);
}

/* ---- failure-only runs ------------------------------------------------------------------------------ */

enum { ALL_GPUS = 192, LEAF_GPUS = 32 };

struct bare {
    enum component component;
    enum drain drain;
    uint32_t servers, gpus;
    struct component_failures law;
    double hours;
    uint64_t seed;
};

static void run_bare(const struct bare *bare, struct replica_result *result)
{
    struct fixture fixture;
    fixture_init(&fixture, 0);
    fixture.scenario.seed = bare->seed;
    fixture.scenario.failures.drain = bare->drain;
    fixture.scenario.failures.component[bare->component] = bare->law;
    fixture.scenario.failures.blast_horizon_ns = ns_from_s(bare->hours * HOUR_S);
    struct layout *layout = fixture_layout(&fixture, "bare", bare->servers, bare->gpus);
    if (bare->servers * bare->gpus == ALL_GPUS)
        layout->fabric.link.switch_ports =
            2 * LEAF_GPUS; /* 32 GPUs, and their NICs, below a leaf */
    fixture_ready(&fixture);
    assert_int_equal(fixture_run(&fixture, 0, REPLICA_BLAST, result), STATUS_OK);
    fixture_clear(&fixture);
}

static const struct {
    const char *name;
    enum component component;
    enum drain drain;
} kinds[] = {
    { "gpu, server drained", COMPONENT_GPU, DRAIN_FINISH },
    { "gpu, server stopped", COMPONENT_GPU, DRAIN_NOW },
    { "gpu alone", COMPONENT_GPU, DRAIN_GPU },
    { "server", COMPONENT_SERVER, DRAIN_FINISH },
    { "link", COMPONENT_LINK, DRAIN_FINISH },
    { "leaf", COMPONENT_LEAF, DRAIN_FINISH },
};

enum { KINDS = sizeof kinds / sizeof *kinds };
static const uint32_t cuts[] = { 8, 4, 1 };

/* Each part lives m hours on average and is repaired for r; N parts over T hours fail N T/(m + r)
 * times, and so many of them are out a share r/(m + r) of the time, each with what it takes along. */
static void counts_and_availability(void **state)
{
    const uint64_t number = rows_number(state), k = number / 3;
    const uint32_t g = cuts[number % 3];
    const double m = kinds[k].component == COMPONENT_LEAF ? 200 : 3000; /* six leaves: often */
    const double sigma = log(12.0) / 1.6448536269514722, median = 4;
    const double r = median * exp(sigma * sigma / 2), r2 = r * r * exp(sigma * sigma);
    /* parts of the kind, and how many of them take the same GPUs out; GPUs taken out by one */
    const bool alone = kinds[k].drain == DRAIN_GPU;
    const uint32_t parts_of[COMPONENTS] = { ALL_GPUS, ALL_GPUS / g, ALL_GPUS, ALL_GPUS / LEAF_GPUS,
                                            0 };
    const uint32_t parts = parts_of[kinds[k].component];
    const uint32_t takes = kinds[k].component == COMPONENT_LEAF ? LEAF_GPUS : alone ? 1 : g;
    const uint32_t together =
        kinds[k].component == COMPONENT_GPU || kinds[k].component == COMPONENT_LINK ? takes : 1;
    const double hours = 1e4 * m / parts; /* some 10,000 faults */
    const struct bare bare = { .component = kinds[k].component,
                               .drain = kinds[k].drain,
                               .servers = ALL_GPUS / g,
                               .gpus = g,
                               .law = { .law = LAW_EXPONENTIAL,
                                        .mean_s = m * HOUR_S,
                                        .repair_median_s = median * HOUR_S,
                                        .repair_p95_s = 12 * median * HOUR_S },
                               .hours = hours,
                               .seed = 11 };
    struct replica_result result;
    run_bare(&bare, &result);
    const double faults = (double)result.incidents.count, want = parts * hours / (m + r);
    /* variance of a renewal count: cv2 of the cycle */
    const double cv2 = (m * m + r2 - r * r) / ((m + r) * (m + r));
    CHECK(fabs(faults - want) < 3 * sqrt(want * cv2), "%g faults, want %g +- %g", faults, want,
          sqrt(want * cv2));
    /* out unless all parts that take the same GPUs are whole */
    const double down = (double)result.ledger_all[ACC_DOWN][CLASS_NONE] / UNITS_PER_GPU / 3.6e12;
    const double out = 1 - pow(m / (m + r), together);
    const double want_down = ALL_GPUS * out * hours, error = takes * sqrt(want * r2);
    CHECK(fabs(down - want_down) < 3 * error, "%g GPU-hours down, want %g +- %g", down, want_down,
          error);
    /* MODELS 5.5 with one cause per part: A = 1/(1 + sum lambda r), the same while faults are rare */
    const double rare = ALL_GPUS * (1 - 1 / (1 + together * r / m)) * hours;
    CHECK(fabs(down - rare) < 3 * error, "%g GPU-hours down, A says %g +- %g", down, rare, error);
    assert_true(result.ledger_all[ACC_DRAINING][CLASS_NONE] == 0); /* nobody to wait for */
    const struct incident *incidents = LOG_ITEMS(&result.incidents, struct incident);
    for (uint64_t i = 0; i < result.incidents.count; i++) {
        assert_int_equal(incidents[i].component, kinds[k].component);
        assert_int_equal(incidents[i].jobs_hit, 0);
        if (together == 1) assert_int_equal(incidents[i].gpus_removed, takes);
        if (i > 0) assert_true(incidents[i].at_ns >= incidents[i - 1].at_ns);
    }
    replica_result_clear(&result);
}

/* A clock is renewed by its repair only, so a Weibull law of decreasing hazard gives T/mu +
 * (cv2 - 1)/2 renewals (MODELS 5.2: 79.5693 with k 0.7, eta 1,000 h, T 100,000 h), not T/mu. */
static void weibull_renewals(void **state)
{
    (void)state;
    enum { GPUS = 4000 };
    const struct bare bare = {
        .component = COMPONENT_GPU,
        .drain = DRAIN_GPU,
        .servers = GPUS / 8,
        .gpus = 8,
        .law = { .law = LAW_WEIBULL, .mean_s = 1265.8235 * HOUR_S, .shape = 0.7 },
        .hours = 100000,
        .seed = 3
    };
    struct replica_result result;
    run_bare(&bare, &result);
    const double renewals = (double)result.incidents.count / GPUS;
    const double error = sqrt(2.13869 * 79.0 / GPUS);
    CHECK(fabs(renewals - 79.5693) < 3 * error, "%g renewals, want 79.5693 +- %g", renewals, error);
    CHECK(renewals - 79.0 > 2 * error, "%g renewals: as many as without memory", renewals);
    replica_result_clear(&result);
}

/* ---- shared luck ------------------------------------------------------------------------------------- */

/* The k-th fault of GPU i falls on the same nanosecond whatever server it sits in; that of a server
 * is that of the server with the same first GPU. */
static void same_luck(void **state)
{
    const uint64_t number = rows_number(state);
    const enum component component = number % 2 ? COMPONENT_SERVER : COMPONENT_GPU;
    const uint32_t g = cuts[1 + number / 2];
    struct bare bare = { .component = component,
                         .drain = DRAIN_FINISH,
                         .servers = 24,
                         .gpus = 8,
                         .law = { .law = LAW_WEIBULL,
                                  .mean_s = 900 * HOUR_S,
                                  .shape = 0.8,
                                  .repair_median_s = 2 * HOUR_S,
                                  .repair_p95_s = 20 * HOUR_S },
                         .hours = 60000,
                         .seed = 8 };
    struct replica_result dense, sparse;
    run_bare(&bare, &dense);
    bare.servers = ALL_GPUS / g;
    bare.gpus = g;
    run_bare(&bare, &sparse);
    const struct incident *a = LOG_ITEMS(&dense.incidents, struct incident);
    const struct incident *b = LOG_ITEMS(&sparse.incidents, struct incident);
    const uint32_t ratio = component == COMPONENT_SERVER ? 8 / g : 1;
    uint64_t j = 0;
    for (uint64_t i = 0; i < dense.incidents.count; i++, j++) {
        while (j < sparse.incidents.count && b[j].element % ratio) j++; /* servers without a twin */
        assert_true(j < sparse.incidents.count);
        assert_int_equal(a[i].at_ns, b[j].at_ns);
        assert_int_equal(a[i].element * ratio, b[j].element);
        assert_int_equal(a[i].repaired_ns, b[j].repaired_ns);
    }
    assert_true(dense.incidents.count > 1000);
    while (j < sparse.incidents.count && b[j].element % ratio) j++;
    assert_int_equal(j, sparse.incidents.count);
    replica_result_clear(&dense);
    replica_result_clear(&sparse);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t l = 0; l < sizeof laws / sizeof *laws; l++)
        rows_add(&rows, law_has_its_mean, (void *)l, "mean and cv: %s", laws[l].name);
    rows_add(&rows, repair_quantiles, NULL, "repairs: median 4 h, p95 48 h, mean 12.5 h");
    for (uintptr_t k = 0; k < KINDS; k++)
        for (uintptr_t c = 0; c < 3; c++)
            rows_add(&rows, counts_and_availability, (void *)(k * 3 + c),
                     "faults and down time, servers of %u: %s", cuts[c], kinds[k].name);
    rows_add(&rows, weibull_renewals, NULL, "renewals of a Weibull clock");
    for (uintptr_t i = 0; i < 4; i++)
        rows_add(&rows, same_luck, (void *)i, "same luck of %s in servers of 8 and %u",
                 i % 2 ? "servers" : "GPUs", cuts[1 + i / 2]);
    return rows_run("faults", &rows);
}
