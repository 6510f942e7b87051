/* test_timeline.c - one fault at a known time, the whole of its consequences worked by hand.
 *
 * Two servers of four GPUs. Job A (3 GPUs, 20,000 s) and job B (1 GPU, 9,000 s) fill server 0, or
 * job C (8 GPUs, 20,000 s) both. Start-up 50 s, a checkpoint after every 1,000 s that blocks 10 s a
 * GPU, detection 60 s, restart 300 s, repair 2,000 s. The seed of a case is the first whose streams
 * (MODELS 9.4) put one fault of the wanted part between 2,000 and 8,000 s and no other before
 * 50,000 s. Accounts, incident and attempts are then written down in integers and must be equal. */
#include "fixture.h"

#include "base/exactmath.h"
#include "base/philox.h"
#include "tests/near.h"
#include "tests/rows.h"

enum { PER_SERVER = 4, GPUS_A = 3, GPUS_B = 1, GPUS_C = 8 };

static const int64_t DETECTION = 60 * NS_PER_S, RESTART = 300 * NS_PER_S, REPAIR = 2000 * NS_PER_S;
static const int64_t LENGTH_A = 20000 * NS_PER_S, LENGTH_B = 9000 * NS_PER_S,
                     LENGTH_C = 20000 * NS_PER_S;
static const int64_t EARLIEST = 2000 * NS_PER_S, LATEST = 8000 * NS_PER_S, QUIET = 50000 * NS_PER_S;

struct happening {
    enum component component;
    enum drain drain;
    uint32_t element; /* the part that fails            */
    bool wide;        /* job C instead of A and B       */
    int64_t startup_ns, delay_ns;
};

/* What must come out: GPU-time of each account in units * ns, the incident, the end of the run. */
struct wanted {
    int128 books[ACCOUNTS];
    struct incident incident;
    int64_t end_ns;
};

/* ---- by hand --------------------------------------------------------------------------------------- */

static void book(struct wanted *want, enum account account, int64_t gpus, int64_t from, int64_t to)
{
    want->books[account] += (int128)gpus * UNITS_PER_GPU * (to - from);
}

static int64_t cycle_of(int64_t gpus)
{
    return (1000 + 10 * gpus) * NS_PER_S;
}

/* Last durable point of work that began at `work`. */
static int64_t durable(int64_t work, int64_t at, int64_t gpus)
{
    return work + (at - work) / cycle_of(gpus) * cycle_of(gpus);
}

/* Work from a durable point to the next event; a job that ends writes no last checkpoint. */
static void work(struct wanted *want, int64_t gpus, int64_t from, int64_t to, bool ends)
{
    const int64_t share = 10 * gpus * UNITS_PER_GPU / (1000 + 10 * gpus); /* rounded down */
    const int64_t write_until = ends ? durable(from, to, gpus) : to;
    want->books[ACC_CHECKPOINT] += (int128)gpus * share * (write_until - from);
    want->books[ACC_COMPUTE] +=
        (int128)gpus * UNITS_PER_GPU * (to - from) - (int128)gpus * share * (write_until - from);
}

/* A job from its first start to the fault; returns its durable point. */
static int64_t first_attempt(struct wanted *want, int64_t gpus, int64_t startup, int64_t fault)
{
    if (fault < startup) { /* nothing is done yet: start-up is booked, the hang is lost */
        book(want, ACC_STARTUP, gpus, 0, fault);
        return fault;
    }
    const int64_t safe = durable(startup, fault, gpus);
    book(want, ACC_STARTUP, gpus, 0, startup);
    work(want, gpus, startup, safe, false);
    book(want, ACC_LOST, gpus, safe, fault);
    want->incident.lost_gpu_ns += gpus * (fault - safe);
    return safe;
}

/* The rest of a job, restarted at `at`; returns its end. */
static int64_t second_attempt(struct wanted *want, int64_t gpus, int64_t length, int64_t done,
                              int64_t killed, int64_t at)
{
    const int64_t end = at + RESTART + length - done;
    book(want, ACC_STARTUP, gpus, at, at + RESTART);
    work(want, gpus, at + RESTART, end, true);
    want->incident.restart_gpu_ns += gpus * (at + RESTART - killed);
    return end;
}

/* GPUs that hang until the fault is detected: healthy ones are lost, broken ones down. */
static void hang(struct wanted *want, int64_t gpus, int64_t broken, int64_t fault)
{
    book(want, ACC_LOST, gpus - broken, fault, fault + DETECTION);
    book(want, ACC_DOWN, broken, fault, fault + DETECTION);
    want->incident.lost_gpu_ns += (gpus - broken) * DETECTION;
    want->incident.jobs_hit++;
    want->incident.gpus_stopped += (uint32_t)gpus;
}

static void uninterrupted(struct wanted *want, int64_t gpus, int64_t startup, int64_t length)
{
    book(want, ACC_STARTUP, gpus, 0, startup);
    work(want, gpus, startup, startup + length, true);
}

static void repaired(struct wanted *want, int64_t fault, int64_t repair_start, int64_t gpus)
{
    want->incident.repaired_ns = repair_start + REPAIR;
    want->incident.gpus_removed = (uint32_t)gpus;
    want->incident.down_gpu_ns = gpus * (repair_start + REPAIR - fault);
    book(want, ACC_DOWN, gpus, repair_start, repair_start + REPAIR);
}

/* A GPU of job A breaks; B finishes on the server first, then all four are out for the repair. */
static void gpu_finish(const struct happening *setting, int64_t fault, struct wanted *want)
{
    const int64_t startup = setting->startup_ns, found = fault + DETECTION;
    const int64_t end_b = startup + LENGTH_B;
    const int64_t safe = first_attempt(want, GPUS_A, startup, fault);
    hang(want, GPUS_A, 1, fault);
    uninterrupted(want, GPUS_B, startup, LENGTH_B);
    book(want, ACC_DOWN, 1, found, end_b);
    book(want, ACC_DRAINING, 2, found, end_b);
    repaired(want, fault, end_b, PER_SERVER);
    want->incident.gpus_broken = 1;
    const int64_t done = safe > startup ? safe - startup : 0;
    want->end_ns = second_attempt(want, GPUS_A, LENGTH_A, done, found, found + setting->delay_ns);
}

/* drain: now stops B too; both start again on server 1. */
static void gpu_now(const struct happening *setting, int64_t fault, struct wanted *want)
{
    const int64_t startup = setting->startup_ns, found = fault + DETECTION;
    const int64_t safe_a = first_attempt(want, GPUS_A, startup, fault);
    const int64_t safe_b = first_attempt(want, GPUS_B, startup, fault);
    hang(want, GPUS_A, 1, fault);
    hang(want, GPUS_B, 0, fault);
    repaired(want, fault, found, PER_SERVER);
    want->incident.gpus_broken = 1;
    want->end_ns = second_attempt(want, GPUS_A, LENGTH_A, safe_a - startup, found, found);
    second_attempt(want, GPUS_B, LENGTH_B, safe_b - startup, found, found);
}

/* drain: gpu takes out that one GPU; its repair begins with the fault. */
static void gpu_alone(const struct happening *setting, int64_t fault, struct wanted *want)
{
    const int64_t startup = setting->startup_ns, found = fault + DETECTION;
    const int64_t safe = first_attempt(want, GPUS_A, startup, fault);
    hang(want, GPUS_A, 1, fault);
    uninterrupted(want, GPUS_B, startup, LENGTH_B);
    repaired(want, fault, fault, 1);
    book(want, ACC_DOWN, -1, fault, found); /* the hang has booked it already */
    want->incident.gpus_broken = 1;
    want->end_ns = second_attempt(want, GPUS_A, LENGTH_A, safe - startup, found, found);
}

/* All four are broken at once: no GPU of the hanging jobs is healthy. */
static void server(const struct happening *setting, int64_t fault, struct wanted *want)
{
    const int64_t startup = setting->startup_ns, found = fault + DETECTION;
    const int64_t safe_a = first_attempt(want, GPUS_A, startup, fault);
    const int64_t safe_b = first_attempt(want, GPUS_B, startup, fault);
    hang(want, GPUS_A, GPUS_A, fault);
    hang(want, GPUS_B, GPUS_B, fault);
    repaired(want, fault, fault, PER_SERVER);
    book(want, ACC_DOWN, -PER_SERVER, fault, found);
    want->incident.gpus_broken = PER_SERVER;
    want->end_ns = second_attempt(want, GPUS_A, LENGTH_A, safe_a - startup, found, found);
    second_attempt(want, GPUS_B, LENGTH_B, safe_b - startup, found, found);
}

/* Jobs inside the server do not use its NICs: both go on, the server drains and is never empty. */
static void link_inside(const struct happening *setting, int64_t fault, struct wanted *want)
{
    const int64_t startup = setting->startup_ns;
    uninterrupted(want, GPUS_A, startup, LENGTH_A);
    uninterrupted(want, GPUS_B, startup, LENGTH_B);
    want->end_ns = startup + LENGTH_A;
    book(want, ACC_DRAINING, 1, startup + LENGTH_B, want->end_ns);
    want->incident.repaired_ns = TIME_NEVER;
    want->incident.gpus_removed = PER_SERVER;
    want->incident.down_gpu_ns = PER_SERVER * (want->end_ns - fault);
}

/* C hangs, is found, waits for the repair of server 0. */
static void link_wide(const struct happening *setting, int64_t fault, struct wanted *want)
{
    const int64_t startup = setting->startup_ns, found = fault + DETECTION;
    const int64_t safe = first_attempt(want, GPUS_C, startup, fault);
    hang(want, GPUS_C, 0, fault);
    repaired(want, fault, found, PER_SERVER);
    want->end_ns = second_attempt(want, GPUS_C, LENGTH_C, safe - startup, found, found + REPAIR);
}

/* The same below a dead leaf, whose repair begins with the fault. */
static void leaf_wide(const struct happening *setting, int64_t fault, struct wanted *want)
{
    const int64_t startup = setting->startup_ns, found = fault + DETECTION;
    const int64_t safe = first_attempt(want, GPUS_C, startup, fault);
    hang(want, GPUS_C, 0, fault);
    repaired(want, fault, fault, PER_SERVER);
    book(want, ACC_DOWN, -PER_SERVER, fault, found); /* held by C until it is found */
    want->end_ns = second_attempt(want, GPUS_C, LENGTH_C, safe - startup, found, fault + REPAIR);
}

/* Jobs inside a server go on below a dead leaf; nobody new starts there until it is back, so the
 * GPU of B is down when B ends before. */
static void leaf_inside(const struct happening *setting, int64_t fault, struct wanted *want)
{
    const int64_t startup = setting->startup_ns, end_b = startup + LENGTH_B;
    if (end_b < fault + REPAIR) book(want, ACC_DOWN, 1, end_b, fault + REPAIR);
    uninterrupted(want, GPUS_A, startup, LENGTH_A);
    uninterrupted(want, GPUS_B, startup, LENGTH_B);
    want->end_ns = startup + LENGTH_A;
    want->incident.repaired_ns = fault + REPAIR;
    want->incident.gpus_removed = PER_SERVER;
    want->incident.down_gpu_ns = PER_SERVER * REPAIR;
}

/* Software: nothing is out, the job starts again at once. */
static void crash(const struct happening *setting, int64_t fault, struct wanted *want)
{
    const int64_t startup = setting->startup_ns;
    const int64_t safe = first_attempt(want, GPUS_A, startup, fault);
    uninterrupted(want, GPUS_B, startup, LENGTH_B);
    want->incident.jobs_hit = 1;
    want->incident.gpus_stopped = GPUS_A;
    want->incident.repaired_ns = fault;
    want->end_ns = second_attempt(want, GPUS_A, LENGTH_A, safe - startup, fault, fault);
}

/* ---- the search for the seed ----------------------------------------------------------------------- */

static const char *const purposes[COMPONENTS] = { "fail.gpu", "fail.server", "fail.link",
                                                  "fail.domain", "fail.job" };
static const uint32_t counts[COMPONENTS] = { 8, 2, 8, 2, 2 };
static const double MEAN_S = 60000;

/* Life `number` of a part: draw `number` of its entity; a server's entity is its first GPU. */
static int64_t life_of(uint64_t seed, enum component component, uint32_t element, uint64_t number)
{
    const uint64_t key = stream_key(seed, 0, purposes[component]);
    const uint64_t entity = component == COMPONENT_SERVER ? element * PER_SERVER : element;
    return ns_from_s(inv_exponential(stream_uniform(key, entity, number), MEAN_S));
}

static bool seed_fits(uint64_t seed, const struct happening *setting)
{
    const enum component component = setting->component;
    const int64_t life = life_of(seed, component, setting->element, 0);
    if (life < EARLIEST || life > LATEST) return false;
    if (life_of(seed, component, setting->element, 1) < QUIET) return false;
    for (uint32_t element = 0; element < counts[component]; element++)
        if (element != setting->element && life_of(seed, component, element, 0) < QUIET)
            return false;
    return true;
}

/* ---- the engine ------------------------------------------------------------------------------------- */

static void set_scenario(struct scenario *scenario, const struct happening *setting, uint64_t seed)
{
    scenario->seed = seed;
    scenario->recorded_server = fixture_server(PER_SERVER);
    scenario->recorded_count = 2;
    scenario->curve_bin_ns = 777 * NS_PER_S;
    scenario->startup_ns = setting->startup_ns;
    scenario->contains_startup = false;
    scenario->checkpoint = (struct checkpoint){ .policy = CHECKPOINT_FIXED,
                                                .interval_ns = 1000 * NS_PER_S,
                                                .store_bytes_per_s = 1e9,
                                                .bytes_per_gpu = 1e10 };
    struct failures *failures = &scenario->failures;
    failures->drain = setting->drain;
    failures->detection_ns = DETECTION;
    failures->restart_ns = RESTART;
    failures->requeue_delay_ns = setting->delay_ns;
    failures->component[setting->component] =
        (struct component_failures){ .law = LAW_EXPONENTIAL,
                                     .mean_s = MEAN_S,
                                     .repair_median_s = s_from_ns(REPAIR),
                                     .repair_p95_s = s_from_ns(REPAIR) };
}

static void run_engine(const struct happening *setting, uint64_t seed,
                       struct replica_result *result)
{
    struct fixture fixture;
    fixture_init(&fixture, setting->wide ? 1 : 2);
    set_scenario(&fixture.scenario, setting, seed);
    struct layout *layout = fixture_layout(&fixture, "two", 2, PER_SERVER);
    layout->fabric.link.switch_ports = 7; /* 4 down, 3 up: a leaf for each server */
    if (setting->wide)
        fixture_job(&fixture, 0, 0, s_from_ns(LENGTH_C), 0, GPUS_C);
    else {
        fixture_job(&fixture, 0, 0, s_from_ns(LENGTH_A), 0, GPUS_A);
        fixture_job(&fixture, 1, 0, s_from_ns(LENGTH_B), 0, GPUS_B);
    }
    fixture_ready(&fixture);
    assert_int_equal(fixture.plan.variants[0].fabric.leaves, 2);
    assert_int_equal(fixture_run(&fixture, 0, 0, result), STATUS_OK);
    fixture_clear(&fixture);
}

static void same_incident(const struct incident *is, const struct incident *want)
{
    assert_int_equal(is->at_ns, want->at_ns);
    assert_int_equal(is->repaired_ns, want->repaired_ns);
    assert_int_equal(is->component, want->component);
    assert_int_equal(is->element, want->element);
    assert_int_equal(is->gpus_broken, want->gpus_broken);
    assert_int_equal(is->gpus_removed, want->gpus_removed);
    assert_int_equal(is->gpus_stopped, want->gpus_stopped);
    assert_int_equal(is->jobs_hit, want->jobs_hit);
    assert_int_equal(is->lost_gpu_ns, want->lost_gpu_ns);
    assert_int_equal(is->restart_gpu_ns, want->restart_gpu_ns);
    assert_int_equal(is->down_gpu_ns, want->down_gpu_ns);
}

static void same_books(const struct replica_result *result, const struct wanted *want)
{
    int128 free_is = 0, free_want = (int128)2 * PER_SERVER * UNITS_PER_GPU * want->end_ns;
    assert_int_equal(result->run_end_ns, want->end_ns);
    for (uint32_t account = 0; account < ACCOUNTS; account++) {
        int128 is = 0;
        for (int class = 0; class < CLASSES; class ++) is += result->ledger_all[account][class];
        if (account >= ACC_NO_DEMAND && account < ACC_FREE_END) {
            free_is += is;
            continue;
        }
        free_want -= want->books[account];
        CHECK(is == want->books[account], "%s: %.9f GPU-seconds, want %.9f", account_names[account],
              (double)is / 1e9 / UNITS_PER_GPU, (double)want->books[account] / 1e9 / UNITS_PER_GPU);
    }
    assert_true(free_is == free_want);
}

struct timeline_case {
    const char *name;
    struct happening setting;
    void (*expect)(const struct happening *setting, int64_t fault, struct wanted *want);
};

static void by_hand(void **state)
{
    const struct timeline_case *one = *state;
    uint64_t seed = 1;
    while (!seed_fits(seed, &one->setting)) seed++;
    const int64_t fault = life_of(seed, one->setting.component, one->setting.element, 0);
    struct wanted want = { .incident = { .at_ns = fault,
                                         .component = (uint8_t)one->setting.component,
                                         .element = one->setting.element } };
    one->expect(&one->setting, fault, &want);
    struct replica_result result;
    run_engine(&one->setting, seed, &result);
    assert_int_equal(result.incidents.count, 1);
    same_incident(LOG_ITEMS(&result.incidents, struct incident), &want.incident);
    same_books(&result, &want);
    replica_result_clear(&result);
}

#define USUAL .startup_ns = 50 * NS_PER_S

static const struct timeline_case cases[] = {
    { "gpu, drain finish: B ends first, then four GPUs are out",
      { COMPONENT_GPU, DRAIN_FINISH, .element = 1, USUAL },
      gpu_finish },
    { "gpu, drain finish, requeue after two minutes",
      { COMPONENT_GPU, DRAIN_FINISH, .element = 1, USUAL, .delay_ns = 120 * NS_PER_S },
      gpu_finish },
    { "gpu, drain finish, while A still starts",
      { COMPONENT_GPU, DRAIN_FINISH, .element = 2, .startup_ns = 8500 * NS_PER_S },
      gpu_finish },
    { "gpu, drain now: B is stopped too",
      { COMPONENT_GPU, DRAIN_NOW, .element = 0, USUAL },
      gpu_now },
    { "gpu, drain gpu: one GPU is out",
      { COMPONENT_GPU, DRAIN_GPU, .element = 1, USUAL },
      gpu_alone },
    { "server: four GPUs break at once",
      { COMPONENT_SERVER, DRAIN_FINISH, .element = 0, USUAL },
      server },
    { "server, drain gpu: no difference",
      { COMPONENT_SERVER, DRAIN_GPU, .element = 0, USUAL },
      server },
    { "link: jobs inside the server go on",
      { COMPONENT_LINK, DRAIN_FINISH, .element = 1, USUAL },
      link_inside },
    { "link: a job over both servers stops",
      { COMPONENT_LINK, DRAIN_FINISH, .element = 2, .wide = true, USUAL },
      link_wide },
    { "link, drain gpu: the server is drained all the same",
      { COMPONENT_LINK, DRAIN_GPU, .element = 2, .wide = true, USUAL },
      link_wide },
    { "leaf: a job over both servers stops",
      { COMPONENT_LEAF, DRAIN_FINISH, .element = 0, .wide = true, USUAL },
      leaf_wide },
    { "leaf: jobs inside the server go on",
      { COMPONENT_LEAF, DRAIN_FINISH, .element = 0, USUAL },
      leaf_inside },
    { "software: A starts again at once",
      { COMPONENT_JOB, DRAIN_FINISH, .element = 0, USUAL },
      crash },
};

int main(void)
{
    struct rows rows = { 0 };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        rows_add(&rows, by_hand, &cases[c], "%s", cases[c].name);
    return rows_run("timeline", &rows);
}
