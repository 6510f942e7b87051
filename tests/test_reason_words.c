/* test_reason_words.c - why jobs wait in the words of their policy: blocked, suspended, refused, told by `reason`. */
#include "fixture.h"

#include "tests/near.h"

#include "job_spans.h"

/* ---- what a policy says ------------------------------------------------------------------------------ */

/* First come, first served that talks: job-1 depends until 50 s, job-2 is kept out without a word and refused at 30 s, the job
 * that runs since 0 s stands still from 20 to 40 s, and whoever waits is told "Priority". */
struct talker {
    struct part part;
    int64_t now_ns;
};

static bool talker_init(void *memory, const struct policy_view *view, struct arena *arena)
{
    (void)memory;
    (void)view;
    (void)arena;
    return true;
}

static void talker_note(void *memory, const struct policy_view *view, struct note note)
{
    (void)memory;
    (void)view;
    (void)note;
}

static void talker_begin(void *memory)
{
    (void)memory;
}

static bool decide(struct talker *talker, const struct policy_view *view, uint32_t live,
                   struct decision *decision)
{
    const struct live_job *job = &view->live->jobs[live];
    const int64_t s = talker->now_ns / NS_PER_S;
    decision->live = live;
    if (job->row == 0 && job->state == LIVE_RUNNING && s == 20)
        decision->what = DECIDE_SUSPEND;
    else if (job->row == 0 && job->state == LIVE_SUSPENDED && s == 40)
        decision->what = DECIDE_RESUME;
    else if (job->row == 1 && job->state == LIVE_WAITING && s < 50) {
        decision->what = DECIDE_BLOCK;
        decision->reason = "Dependency";
    } else if (job->row == 1 && job->state == LIVE_BLOCKED && s >= 50)
        decision->what = DECIDE_ELIGIBLE;
    else if (job->row == 2 && job->state == LIVE_WAITING)
        decision->what = DECIDE_BLOCK;
    else if (job->row == 2 && job->state == LIVE_BLOCKED && s >= 30) {
        decision->what = DECIDE_REFUSE;
        decision->reason = "DependencyNeverSatisfied";
    } else if (job->state == LIVE_WAITING &&
               cluster_node_free(view->cluster, 0) >= (int)view->jobs->gpus[job->row]) {
        talker->part = (struct part){ .gpus = view->jobs->gpus[job->row] };
        decision->parts = &talker->part;
        decision->part_count = 1;
    } else
        return false;
    return true;
}

static bool talker_next(void *memory, const struct policy_view *view, int64_t now_ns,
                        uint32_t fresh_serial, struct decision *decision)
{
    (void)fresh_serial;
    struct talker *talker = memory;
    talker->now_ns = now_ns;
    for (uint32_t live = 0; live < view->live->count; live++) {
        *decision = (struct decision){ 0 };
        if (decide(talker, view, live, decision)) return true;
    }
    return false;
}

static int64_t talker_wake(void *memory, const struct policy_view *view, int64_t now_ns)
{
    (void)memory;
    (void)view;
    return (now_ns / NS_PER_S / 10 + 1) * 10 * NS_PER_S;
}

static const char *talker_reason(void *memory, const struct policy_view *view, uint32_t live)
{
    (void)memory;
    return view->live->jobs[live].row == 3 ? "Resources" : "Priority";
}

static const struct policy talker = {
    .name = "talker",
    .memory_bytes = sizeof(struct talker),
    .init = talker_init,
    .note = talker_note,
    .begin = talker_begin,
    .next = talker_next,
    .next_wake_ns = talker_wake,
    .reason = talker_reason,
};

static const struct {
    uint32_t row;
    int from_s, to_s;
    const char *kind, *word;
} words_wanted[] = {
    { 0, 20, 40, "suspended", "suspended" }, { 1, 10, 50, "dependency", "Dependency" },
    { 2, 11, 30, "hold", "blocked" },        { 3, 15, 120, "resources", "Resources" },
    { 4, 16, 125, "priority", "Priority" },
};

static void policies_have_words(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_init(&fixture, 5);
    fixture_job(&fixture, 0, 0, 100, 0, 1);
    fixture_job(&fixture, 1, 10, 5, 0, 1);
    fixture_job(&fixture, 2, 11, 5, 0, 1);
    fixture_job(&fixture, 3, 15, 5, 0, 2);
    fixture_job(&fixture, 4, 16, 5, 0, 2);
    fixture_layout(&fixture, "one", 1, 2);
    fixture_ready(&fixture);
    struct replica_result result;
    const struct run_request request = { .shared = &fixture.shared, .policy = &talker };
    assert_int_equal(run_replica(&request, &result), STATUS_OK);
    const struct job_row *jobs = LOG_ITEMS(&result.jobs, const struct job_row);
    assert_int_equal(result.jobs.count, 5);
    for (uint64_t j = 0; j < 5; j++) {
        struct log waits, spans;
        spans_fill_the_wait(&result, &jobs[j]);
        spans_of_job(&result, &jobs[j], &waits, &spans);
        const uint32_t row = jobs[j].trace_row;
        const struct wait_span *span = LOG_ITEMS(&spans, const struct wait_span);
        assert_int_equal(spans.count, 1);
        assert_int_equal(span->from_ns, words_wanted[row].from_s * NS_PER_S);
        assert_int_equal(span->to_ns, words_wanted[row].to_s * NS_PER_S);
        assert_string_equal(wait_kind(span), words_wanted[row].kind);
        assert_string_equal(span->word, words_wanted[row].word);
        if (row == 2) assert_string_equal(jobs[j].reason, "DependencyNeverSatisfied");
        log_clear(&waits);
        log_clear(&spans);
    }
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

/* ---- pure spans ------------------------------------------------------------------------------------ */

/* A word stands before the cause; under "Resources" the cause says which; what is told twice is one span. */
static void words_stand_before_causes(void **state)
{
    (void)state;
    static const struct told causes[] = { { 0, "fragmentation" },
                                          { 30, "resources" },
                                          { 60, "priority" } };
    static const struct told words[] = { { 5, "Dependency" },
                                         { 20, "Resources" },
                                         { 40, "Resources" },
                                         { 70, NULL },
                                         { 80, "QOSGrpGRES" } };
    static const struct wait waits[] = { { 5, 90, 0 }, { 95, 96, 1 } };
    static const struct {
        int64_t from_ns, to_ns;
        const char *kind;
    } want[] = { { 5, 20, "dependency" }, { 20, 30, "fragmentation" }, { 30, 60, "resources" },
                 { 60, 70, "priority" },  { 70, 80, "priority" },      { 80, 90, "limit" },
                 { 95, 96, "limit" } };
    struct log spans;
    log_init(&spans, sizeof(struct wait_span), 0);
    assert_true(wait_spans_cut(waits, 2, (struct told_rows){ causes, 3 },
                               (struct told_rows){ words, 5 }, &spans));
    assert_int_equal(spans.count, sizeof want / sizeof *want);
    const struct wait_span *span = LOG_ITEMS(&spans, const struct wait_span);
    for (uint64_t s = 0; s < spans.count; s++) {
        assert_int_equal(span[s].from_ns, want[s].from_ns);
        assert_int_equal(span[s].to_ns, want[s].to_ns);
        assert_string_equal(wait_kind(&span[s]), want[s].kind);
    }
    log_clear(&spans);
}

/* Words of both systems, as they come from the policies. */
/* Half a second of Priority between two equal words is none; a second of it, or another word, is. */
static void priority_between_passes(void **state)
{
    (void)state;
    const struct wait wait = { 0, 10 * NS_PER_S, 0 };
    static const struct told words[] = { { 0, "Resources" },
                                         { 2 * NS_PER_S, "Priority" },
                                         { 5 * NS_PER_S / 2, "Resources" },
                                         { 4 * NS_PER_S, "Priority" },
                                         { 5 * NS_PER_S, "Resources" },
                                         { 7 * NS_PER_S, "JobHeldUser" },
                                         { 15 * NS_PER_S / 2, "Resources" } };
    static const struct told causes[] = { { 0, "resources" } };
    static const int64_t ends_ds[] = { 40, 50, 70, 75, 100 };
    struct log spans;
    log_init(&spans, sizeof(struct wait_span), 0);
    assert_true(wait_spans_cut(&wait, 1, (struct told_rows){ causes, 1 },
                               (struct told_rows){ words, 7 }, &spans));
    assert_int_equal(spans.count, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(LOG_ITEMS(&spans, struct wait_span)[i].to_ns,
                         ends_ds[i] * (NS_PER_S / 10));
    log_clear(&spans);
}

static void words_have_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *word, *kind;
    } rows[] = {
        { NULL, "fragmentation" },
        { "Resources", "fragmentation" },
        { "Unschedulable", "fragmentation" },
        { "WaitingForPods", "fragmentation" },
        { "Priority", "priority" },
        { "DependencyNeverSatisfied", "dependency" },
        { "JobHeldUser", "hold" },
        { "Suspended", "hold" },
        { "suspended", "suspended" },
        { "JobArrayTaskLimit", "limit" },
        { "QOSMaxGRESPerUser", "limit" },
        { "AssocGrpCPURunMinutesLimit", "limit" },
        { "ReqNodeNotAvail, UnavailableNodes:n1", "down nodes" },
        { "ReqNodeNotAvail, May be reserved for other job", "reservation" },
        { "ReqNodeNotAvail, Reserved for maintenance", "reservation" },
        { "BeginTime", "begin time" },
        { "Reservation", "reservation" },
        { "Terminating", "restart" },
        { "a word that nobody knows", "policy" },
    };
    const struct wait_span contrary = { .cause = "policy", .word = "Resources" };
    assert_string_equal(wait_kind(&contrary), "resources");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct wait_span span = { .cause = "fragmentation", .word = rows[i].word };
        assert_string_equal(wait_kind(&span), rows[i].kind);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_have_words),
        cmocka_unit_test(words_stand_before_causes),
        cmocka_unit_test(words_have_kinds),
        cmocka_unit_test(priority_between_passes),
    };
    return cmocka_run_group_tests_name("reason words", tests, NULL, NULL);
}
