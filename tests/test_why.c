/* test_why.c - gpuplan why: the stories that a database tells, against the engine's rows, the SQL view and a brute force. */
#include "stored_run.h"

#include "report/why_story.h"
#include "tests/near.h"
#include "tests/rows.h"

#include <inttypes.h>

enum { JOBS = 60, NODES = 12, GPUS = 4 };

/* ---- random runs with faults ------------------------------------------------------------------------ */

static struct component_failures law(double mean_s, double repair_s)
{
    return (struct component_failures){ .law = LAW_EXPONENTIAL,
                                        .mean_s = mean_s,
                                        .repair_median_s = repair_s,
                                        .repair_p95_s = repair_s };
}

static void draw_run(struct stored_run *run, uint64_t seed, bool hardware_fails)
{
    struct fixture *fixture = &run->fixture;
    fixture_init(fixture, JOBS);
    struct scenario *scenario = &fixture->scenario;
    scenario->order = seed % 2 ? ORDER_EASY : ORDER_FCFS;
    scenario->seed = seed;
    scenario->startup_ns = 2 * NS_PER_S;
    scenario->contains_startup = false;
    scenario->contains_checkpoint = false;
    scenario->checkpoint = (struct checkpoint){ .policy = CHECKPOINT_FIXED,
                                                .interval_ns = 9 * NS_PER_S,
                                                .store_bytes_per_s = 1e9,
                                                .bytes_per_gpu = 2e8 };
    if (hardware_fails) {
        scenario->failures.component[COMPONENT_SERVER] = law(900, 30);
        scenario->failures.component[COMPONENT_GPU] = law(4000, 50);
    }
    scenario->failures.component[COMPONENT_JOB] = law(200, 0);
    scenario->failures.requeue_delay_ns = (int64_t)(seed % 4) * 7 * NS_PER_S;
    scenario->failures.detection_ns = 3 * NS_PER_S;
    scenario->failures.restart_ns = 5 * NS_PER_S;
    fixture_layout(fixture, "sick", NODES, GPUS);
    int64_t submit_s = 0;
    for (uint32_t j = 0; j < JOBS; j++) {
        const uint64_t draw = 100 + 10 * j;
        if (j > 0 && any(seed, draw) < 0.7) submit_s += any_count(seed, draw + 1, 0, 12);
        const double u = any(seed, draw + 3);
        const uint32_t gpus = u < 0.35   ? 1
                              : u < 0.75 ? (uint32_t)any_count(seed, draw + 4, 1, GPUS)
                                         : (uint32_t)any_count(seed, draw + 4, 1, NODES * GPUS / 2);
        fixture_job(fixture, j, (double)submit_s, (double)any_count(seed, draw + 2, 1, 60), 0,
                    gpus);
    }
    name_jobs(fixture);
    store_run(run);
}

static struct store_detail *open_detail(const struct stored_run *run)
{
    struct store_detail *detail;
    assert_int_equal(store_detail_open(run->path, 0, 0, &detail, run->fixture.diag), STATUS_OK);
    return detail;
}

static struct stored_layout sick_layout = { .gpus = NODES * GPUS };

static void read_story(const struct stored_run *run, struct store_detail *detail, uint32_t serial,
                       struct why_story *story)
{
    const struct stored_replica replica = {
        .run_end_ns = number_of(run, "SELECT run_end_ns FROM replica WHERE replica = 0", -1)
    };
    struct log jobs;
    assert_int_equal(store_detail_by_serial(detail, serial, &jobs), STATUS_OK);
    assert_int_equal(jobs.count, 1);
    assert_int_equal(why_story_read(story, detail, &sick_layout, &replica,
                                    LOG_ITEMS(&jobs, const struct detail_job), run->fixture.diag),
                     STATUS_OK);
    log_clear(&jobs);
}

/* The view cuts where anything is told, told twice or not; joined, its rows are the story's spans. */
static void view_and_story_agree(void **state)
{
    struct stored_run run;
    draw_run(&run, rows_number(state), true);
    struct store_detail *detail = open_detail(&run);
    struct db *db;
    struct db_query *query;
    bool has_row;
    assert_int_equal(db_open(run.path, DB_READ, &db, run.fixture.diag), STATUS_OK);
    assert_int_equal(db_prepare(db,
                                "SELECT from_ns, to_ns, ifnull(word, cause), wait FROM wait_span"
                                " WHERE serial = ? ORDER BY from_ns",
                                &query),
                     STATUS_OK);
    for (uint32_t serial = 0; serial < JOBS; serial++) {
        struct why_story story;
        read_story(&run, detail, serial, &story);
        const struct wait_span *span = LOG_ITEMS(&story.spans, const struct wait_span);
        uint64_t s = 0;
        db_put_int(query, serial);
        int64_t sum_ns = 0;
        while (db_next(query, &has_row) == STATUS_OK && has_row) {
            const int64_t from_ns = db_take_int(query), to_ns = db_take_int(query);
            while (s < story.spans.count && span[s].to_ns <= from_ns) s++;
            assert_true(s < story.spans.count);
            assert_true(span[s].from_ns <= from_ns && to_ns <= span[s].to_ns);
            const char *told = db_take_text(query, NULL);
            assert_string_equal(told, span[s].word ? span[s].word : span[s].cause);
            assert_int_equal(db_take_int(query), span[s].behind);
            sum_ns += to_ns - from_ns;
        }
        assert_int_equal(sum_ns, story.wait_ns);
        int64_t kinds_ns = 0;
        for (uint32_t k = 0; k < story.kind_count; k++) kinds_ns += story.kinds[k].length_ns;
        assert_int_equal(kinds_ns, story.wait_ns);
        why_story_clear(&story);
    }
    db_finish(query);
    db_close(db);
    store_detail_close(detail);
    forget_run(&run);
}

/* Held accounts of all jobs sum to the ledger of the whole run, to the last unit; software alone fails: a second fault of
 * broken hardware within one detection is not in the row of an attempt. */
static void accounts_sum_to_the_ledger(void **state)
{
    struct stored_run run;
    draw_run(&run, rows_number(state), false);
    struct store_detail *detail = open_detail(&run);
    int128 sum[ACCOUNTS] = { 0 };
    for (uint32_t serial = 0; serial < JOBS; serial++) {
        struct why_story story;
        read_story(&run, detail, serial, &story);
        for (int account = 0; account < ACCOUNTS; account++) sum[account] += story.unit_ns[account];
        why_story_clear(&story);
    }
    for (int account = 0; account < ACC_HELD_END; account++) {
        char sql[160];
        snprintf(sql, sizeof sql, "SELECT sum(gpu_s) FROM ledger_run WHERE account = '%s'",
                 account_names[account]);
        int128 want = (int128)number_of(&run, sql, -1) * UNITS_PER_GPU * NS_PER_S;
        snprintf(sql, sizeof sql, "SELECT sum(gpu_rest) FROM ledger_run WHERE account = '%s'",
                 account_names[account]);
        want += number_of(&run, sql, -1);
        CHECK(sum[account] == want, "%s: %.9f GPU-s by jobs, %.9f in the ledger",
              account_names[account], (double)sum[account] / (1008000 * 1e9),
              (double)want / (1008000 * 1e9));
    }
    assert_true(sum[ACC_LOST] > 0 && sum[ACC_CHECKPOINT] > 0 && sum[ACC_STARTUP] > 0);
    store_detail_close(detail);
    forget_run(&run);
}

/* GPUs of the job that hold at at_ns, by the allocations and their attempts. */
static int64_t held_at(const struct stored_run *run, uint32_t serial, int64_t at_ns)
{
    char sql[400];
    snprintf(sql, sizeof sql,
             "WITH RECURSIVE bit(b) AS (SELECT 0 UNION ALL SELECT b + 1 FROM bit WHERE b < 31)"
             " SELECT ifnull(sum(gpu_mask >> b & 1), 0) FROM allocation l JOIN attempt a"
             " USING(layout_id, replica, serial, attempt) JOIN bit WHERE serial = %" PRIu32
             " AND start_ns <= %" PRId64 " AND end_ns > %" PRId64,
             serial, at_ns, at_ns);
    return number_of(run, sql, -1);
}

/* Without faults the soonest time is the first end at which enough nodes are free of those who held them. */
static void holders_match_the_allocations(void **state)
{
    struct stored_run run;
    draw_run(&run, rows_number(state), false);
    struct store_detail *detail = open_detail(&run);
    uint32_t told = 0;
    for (uint32_t serial = 0; serial < JOBS; serial++) {
        struct why_story story;
        read_story(&run, detail, serial, &story);
        const struct holder *holder = LOG_ITEMS(&story.holders, const struct holder);
        int64_t latest_ns = story.main_span ? story.main_span->from_ns : 0;
        for (uint64_t h = 0; h < story.holders.count; h++) {
            const int64_t held = held_at(&run, holder[h].serial, story.main_span->from_ns);
            assert_true(holder[h].gpus > 0 && holder[h].gpus <= held);
            assert_true(h == 0 || holder[h].gpus <= holder[h - 1].gpus);
            if (holder[h].until_ns > latest_ns) latest_ns = holder[h].until_ns;
            told++;
        }
        if (story.holders.count > 0) assert_int_equal(latest_ns, story.fits_ns);
        for (uint64_t s = 0; s < story.spans.count; s++) {
            char sql[200];
            const int64_t at_ns = LOG_ITEMS(&story.spans, const struct wait_span)[s].from_ns;
            snprintf(sql, sizeof sql,
                     "SELECT ifnull(sum(gpus_held), 0) FROM attempt WHERE start_ns <= %" PRId64
                     " AND end_ns > %" PRId64,
                     at_ns, at_ns);
            assert_int_equal(story.idle_gpus[s], NODES * GPUS - number_of(&run, sql, -1));
        }
        why_story_clear(&story);
    }
    assert_true(told > 0);
    store_detail_close(detail);
    forget_run(&run);
}

/* ---- who held it, against a brute force ---------------------------------------------------------------- */

/* The first time at which `nodes` nodes have per_node GPUs that no holding holds any more. */
static int64_t first_fit(const struct soonest *soonest)
{
    int64_t best_ns = INT64_MAX;
    for (uint64_t t = 0; t <= soonest->holding_count; t++) {
        const int64_t at_ns =
            t == soonest->holding_count ? soonest->at_ns : soonest->holdings[t].until_ns;
        uint32_t fits = 0;
        for (uint32_t node = 0; node < soonest->node_count; node++) {
            uint32_t mask = 0;
            for (uint64_t h = 0; h < soonest->holding_count; h++)
                if (soonest->holdings[h].server == node && soonest->holdings[h].until_ns > at_ns)
                    mask |= soonest->holdings[h].gpu_mask;
            const uint32_t held = (uint32_t)__builtin_popcount(mask);
            fits += !soonest->is_out[node] && held <= soonest->node_gpus[node] &&
                    soonest->node_gpus[node] - held >= soonest->request->gpus_per_node;
        }
        if (fits >= soonest->request->nodes && at_ns < best_ns) best_ns = at_ns;
    }
    return best_ns;
}

static void soonest_is_soonest(void **state)
{
    const uint64_t seed = rows_number(state);
    struct detail_holding holdings[64];
    uint32_t node_gpus[8];
    uint8_t is_out[8];
    uint64_t count = 0;
    for (uint32_t node = 0; node < 8; node++) {
        node_gpus[node] = any(seed, node) < 0.8 ? 4 : 2;
        is_out[node] = any(seed, 10 + node) < 0.15;
        for (uint32_t gpu = 0; gpu < node_gpus[node]; gpu++) {
            const uint64_t draw = 100 + 8 * node + gpu;
            if (any(seed, draw) < 0.3) continue;
            holdings[count++] = (struct detail_holding){
                .serial = (uint32_t)any_count(seed, 200 + draw, 0, 20),
                .server = node,
                .gpu_mask = 1u << gpu,
                .until_ns = 100 + any_count(seed, 300 + draw, 1, 9),
                .id = "x",
            };
        }
    }
    const struct detail_request request = { .nodes = (uint32_t)any_count(seed, 1000, 1, 5),
                                            .gpus_per_node =
                                                (uint32_t)any_count(seed, 1001, 1, 4) };
    const struct soonest soonest = { &request, node_gpus, is_out, 8, holdings, count, 100 };
    struct log holders;
    log_init(&holders, sizeof(struct holder), 0);
    int64_t fits_ns;
    assert_true(why_holders(&soonest, &holders, &fits_ns));
    assert_int_equal(fits_ns, first_fit(&soonest));
    log_clear(&holders);
}

/* ---- what people read ------------------------------------------------------------------------------------ */

/* Two nodes of 2 GPUs; A and B hold one GPU each until 100 and 90 s, C wants two on one node from 10 s on, D waits behind C;
 * E asks for more than there is. */
static void hand_run(struct stored_run *run)
{
    struct fixture *fixture = &run->fixture;
    fixture_init(fixture, 5);
    fixture->scenario.placement = PLACE_SPREAD;
    fixture_layout(fixture, "two", 2, 2);
    fixture_layout(fixture, "three", 3, 2);
    fixture_job(fixture, 0, 0, 100, 0, 1);
    fixture_job(fixture, 1, 0, 90, 0, 1);
    fixture_job(fixture, 2, 10, 50, 0, 2);
    fixture_job(fixture, 3, 20, 5, 0, 1);
    fixture_job(fixture, 4, 30, 5, 0, 7);
    name_jobs(fixture);
    store_run(run);
}

static void people_read_why(void **state)
{
    (void)state;
    struct stored_run run;
    hand_run(&run);
    char *text = say(&run, "job-2", (struct why_options){ 0 }, STATUS_OK);
    holds(text, "Job job-2 on two, replica 0 (serial 2): 2 GPUs, submitted at 0d 00:00:10.\n");
    holds(text, "It waited 1m20s for its first start, in 1 span: fragmentation 1m20s.\n");
    holds(text, "It finished at 0d 00:02:20.\n");
    holds(text, "Elsewhere: 0s on three.\n");
    holds(text, "0d 00:00:10      0d 00:01:30      1m20s                 2  fragmentation\n");
    holds(text, "it needed 1 node with 2 GPUs free;");
    holds(text, "of 4 GPUs were idle.");
    holds(text, "were free at 0d 00:01:30");
    holds(text, "  job-1                                 1      1  0d 00:01:30\n");
    if (strstr(text, "job-0") != NULL) fail_msg("job-0 was not waited for:\n%s", text);
    free(text);
    text = say(&run, "job-3", (struct why_options){ 0 }, STATUS_OK);
    holds(text, "priority 1m10s");
    holds(text, "Of all that waited, job job-2 (2 GPUs, 0d 00:00:10) was submitted first.");
    free(text);
    text = say(&run, "0", (struct why_options){ .by_serial = true }, STATUS_OK);
    holds(text, "Job job-0");
    holds(text, "It started at once and never waited.\n");
    free(text);
    text = say(&run, "job-4", (struct why_options){ .layout = "three" }, STATUS_OK);
    holds(text, "It was rejected: more GPUs than the layout has.\n");
    free(text);
    text = say(&run, NULL, (struct why_options){ .longest = 2 }, STATUS_OK);
    holds(text, "job-2 ");
    holds(text, "job-3 ");
    free(text);
    forget_run(&run);
}

static void programs_read_why(void **state)
{
    (void)state;
    struct stored_run run;
    hand_run(&run);
    char *text = say(&run, "job-2", (struct why_options){ .json = true }, STATUS_OK);
    holds(text, "\"wait_ns\": 80000000000");
    holds(text, "\"waits_for\": \"fragmentation\"");
    holds(text, "\"fits_ns\": 90000000000");
    holds(text, "\"compute\": 100.0");
    free(text);
    forget_run(&run);
}

static void slips_are_told(void **state)
{
    (void)state;
    struct stored_run run;
    hand_run(&run);
    free(say(&run, "job-2", (struct why_options){ .layout = "tow" }, STATUS_INPUT));
    free(say(&run, "job-9", (struct why_options){ 0 }, STATUS_INPUT));
    free(say(&run, "job-2", (struct why_options){ .replica = 1 }, STATUS_INPUT));
    free(say(&run, "job-2", (struct why_options){ .slack = "7" }, STATUS_INPUT));
    free(say(&run, "x", (struct why_options){ .by_serial = true }, STATUS_INPUT));
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    diag_print(run.fixture.diag, out);
    fclose(out);
    holds(text, "no layout 'tow'");
    holds(text, "did you mean 'two'?");
    holds(text, "no job job-9 in replica 0 of two; --longest N lists some");
    holds(text, "has no replica 1 of two");
    holds(text, "that layout was not run with slack 7");
    holds(text, "with --serial JOB is a number, got 'x'");
    free(text);
    forget_run(&run);
}

/* A file from anywhere: times out of order and numbers that are none are refused, never added up. */
static void damaged_rows_are_refused(void **state)
{
    (void)state;
    static const char *const damages[] = {
        "UPDATE job SET submit_ns = -9223372036854775807 WHERE serial = 2",
        "UPDATE job SET end_ns = 1 WHERE serial = 2",
        "UPDATE job SET outcome = x'00' WHERE serial = 2",
        "UPDATE attempt SET start_ns = -5 WHERE serial = 2",
        "UPDATE attempt SET end_ns = 3 WHERE serial = 2",
        "UPDATE attempt SET startup_ns = 9223372036854775807 WHERE serial = 2",
        "UPDATE attempt SET units = 'compute=' WHERE serial = 2",
        "UPDATE attempt SET units = 'sleep=5' WHERE serial = 2",
        "UPDATE attempt SET checkpoint_fix = '12x' WHERE serial = 2",
        "UPDATE node SET gpus = 4000000000",
        "INSERT INTO attempt SELECT layout_id, replica, serial, 1, start_ns, startup_ns, "
        "durable_ns,"
        " fault_ns, end_ns, outcome, class, gpus_held, gpus_asked, servers, broken_gpus, units,"
        " checkpoint_fix, algorithm, bottleneck FROM attempt WHERE serial = 2",
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct stored_run run;
        struct db *db;
        hand_run(&run);
        assert_int_equal(db_open(run.path, DB_APPEND, &db, run.fixture.diag), STATUS_OK);
        assert_int_equal(db_exec(db, damages[i]), STATUS_OK);
        assert_int_equal(db_close(db), STATUS_OK);
        free(say(&run, "2", (struct why_options){ .by_serial = true }, STATUS_INPUT));
        forget_run(&run);
    }
}

/* No text of a file reaches the terminal as it is (P95); all of it stays JSON. */
static void hostile_texts_are_shown_safely(void **state)
{
    (void)state;
    struct stored_run run;
    struct db *db;
    hand_run(&run);
    assert_int_equal(db_open(run.path, DB_APPEND, &db, run.fixture.diag), STATUS_OK);
    assert_int_equal(db_exec(db,
                             "UPDATE job SET id = 'red' || char(27) || '[31m', outcome = char(7),"
                             " reason = char(27); UPDATE attempt SET outcome = char(27);"
                             "UPDATE wait_cause SET cause = char(27); INSERT INTO wait_word"
                             " VALUES(0, 0, 2, 12000000000, 'a' || char(8238) || char(27));"
                             "UPDATE job SET outcome = 'rejected' WHERE serial = 4"),
                     STATUS_OK);
    assert_int_equal(db_close(db), STATUS_OK);
    static const char *const serials[] = { "2", "3", "4", NULL };
    for (size_t i = 0; i < sizeof serials / sizeof *serials; i++)
        for (int json = 0; json < 2; json++) {
            const struct why_options options = { .by_serial = true,
                                                 .json = json,
                                                 .longest = serials[i] ? 0 : 5 };
            char *text = say(&run, serials[i], options, STATUS_OK);
            for (const char *c = text; *c != '\0'; c++)
                if ((unsigned char)*c < 0x20 && *c != '\n') fail_msg("control character %d", *c);
            if (!json && strstr(text, "\xe2\x80\xae"))
                fail_msg("it turns the text around:\n%s", text);
            free(text);
        }
    forget_run(&run);
}

/* Detail that was not kept is asked for in words. */
static void no_detail_is_told(void **state)
{
    (void)state;
    struct stored_run run;
    fixture_init(&run.fixture, 1);
    snprintf(run.fixture.scenario.detail, sizeof run.fixture.scenario.detail, "none");
    fixture_layout(&run.fixture, "two", 2, 2);
    fixture_job(&run.fixture, 0, 0, 100, 0, 1);
    name_jobs(&run.fixture);
    store_run(&run);
    free(say(&run, "job-0", (struct why_options){ 0 }, STATUS_INPUT));
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    diag_print(run.fixture.diag, out);
    fclose(out);
    holds(text, "without detail of its jobs (detail: none); run again with detail: first");
    free(text);
    forget_run(&run);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, people_read_why, NULL, "people read why");
    rows_add(&rows, programs_read_why, NULL, "programs read why");
    rows_add(&rows, slips_are_told, NULL, "slips are told");
    rows_add(&rows, hostile_texts_are_shown_safely, NULL, "hostile texts are shown safely");
    rows_add(&rows, damaged_rows_are_refused, NULL, "damaged rows are refused");
    rows_add(&rows, no_detail_is_told, NULL, "no detail is told");
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const void *number = (const void *)(uintptr_t)seed;
        rows_add(&rows, view_and_story_agree, number, "view and story agree, seed %d", (int)seed);
        rows_add(&rows, accounts_sum_to_the_ledger, number, "accounts sum to the ledger, seed %d",
                 (int)seed);
        rows_add(&rows, holders_match_the_allocations, number,
                 "holders match the allocations, seed %d", (int)seed);
    }
    for (uint64_t seed = 1; seed <= 500; seed++)
        rows_add(&rows, soonest_is_soonest, (const void *)(uintptr_t)seed,
                 "the soonest nodes are soonest, seed %d", (int)seed);
    return rows_run("why", &rows);
}
