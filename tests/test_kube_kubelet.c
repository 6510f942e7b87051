/* test_kube_kubelet.c - the topology manager in a running cluster: which GPUs a pod gets, which pods are refused, when they are
 * made anew, and when their Job gives up. All nodes have 8 GPUs, 0 to 3 on socket 0 and 4 to 7 on socket 1. */
#include "kube_runs.h"

#include "near.h"
#include "rows.h"
#include "stored_run.h"

static struct server_group group;

static void sockets_fixture(struct fixture *fixture, uint32_t jobs, uint32_t nodes,
                            enum topology_manager policy)
{
    kube_fixture(fixture, jobs);
    struct layout *layout = fixture_layout(fixture, "node", nodes, 8);
    group = (struct server_group){
        .server = fixture_server(8), .count = nodes, .nodes_per_server = 1, .sockets = 2
    };
    layout->groups = &group;
    layout->group_count = 1;
    fixture->scenario.kube.topology_manager = policy;
}

/* GPUs of an attempt of the job on a node. */
static uint32_t mask_of(const struct replica_result *result, uint32_t row, uint32_t attempt)
{
    const struct allocation_row *rows = LOG_ITEMS(&result->allocations, struct allocation_row);
    const uint32_t serial = kube_row(result, row)->serial;
    uint32_t mask = 0;
    for (uint64_t i = 0; i < result->allocations.count; i++)
        if (rows[i].serial == serial && rows[i].attempt == attempt) mask |= rows[i].gpu_mask;
    return mask;
}

static uint32_t refused_of(const struct replica_result *result, uint32_t row)
{
    const struct attempt_row *rows = LOG_ITEMS(&result->attempts, struct attempt_row);
    const uint32_t serial = kube_row(result, row)->serial;
    uint32_t count = 0;
    for (uint64_t i = 0; i < result->attempts.count; i++) {
        if (rows[i].serial != serial || rows[i].end != ATTEMPT_REFUSED) continue;
        assert_int_equal(rows[i].start_ns, rows[i].end_ns);
        assert_int_equal(rows[i].gpus_held, 0);
        count++;
    }
    return count;
}

/* GPUs 0 and 1 are held to the end, 2 and 3 until 9 s, 4 and 5 until 27 s, so at 10 s each socket has two free. A pod of three
 * comes then. Restricted and single-numa-node refuse it at 10 s and, after 10 s of back-off, at 20 s; after 20 s more socket 1
 * is whole. best-effort takes the lowest three of both sockets, as the node without the manager does. */
static const struct {
    const char *name;
    enum topology_manager policy;
    double start_s;
    uint32_t refused, mask;
} policies[] = {
    { "none", TM_NONE, 10, 0, 0x4c },
    { "best-effort", TM_BEST_EFFORT, 10, 0, 0x4c },
    { "restricted", TM_RESTRICTED, 40, 2, 0x70 },
    { "single-numa-node", TM_SINGLE_NUMA_NODE, 40, 2, 0x70 },
};

static void three_of_two_and_two(struct fixture *fixture, enum topology_manager policy)
{
    sockets_fixture(fixture, 4, 1, policy);
    kube_job(fixture, 0, 0, 1000, 1, 2);
    kube_job(fixture, 1, 1, 8, 1, 2);
    kube_job(fixture, 2, 2, 25, 1, 2);
    kube_job(fixture, 3, 10, 100, 1, 3);
}

static void three_of_two_and_two_free(void **state)
{
    const size_t row = rows_number(state);
    struct fixture fixture;
    struct replica_result result;
    three_of_two_and_two(&fixture, policies[row].policy);
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 3), policies[row].start_s, 1e-9);
    assert_int_equal(refused_of(&result, 3), policies[row].refused);
    assert_int_equal(kube_row(&result, 3)->attempts, policies[row].refused + 1);
    assert_int_equal(mask_of(&result, 3, policies[row].refused), policies[row].mask);
    assert_int_equal(result.refusals, policies[row].refused);
    kube_done(&fixture, &result);
}

/* What `gpuplan why` and the views say of the 30 s. */
static void a_refusal_is_told(void **state)
{
    (void)state;
    struct stored_run run;
    three_of_two_and_two(&run.fixture, TM_RESTRICTED);
    store_run(&run);
    char *text = say(&run, "j3", (struct why_options){ 0 }, STATUS_OK);
    holds(text, "It waited 30s for its first start, in 2 spans: topology 30s.");
    holds(text, "topology (TopologyAffinityError)");
    holds(text, "      1  0d 00:00:10      0d 00:00:10      0s                1      0  refused\n");
    holds(text,
          "      3  0d 00:00:40      0d 00:02:20      1m40s             1      3  finished\n");
    free(text);
    assert_int_equal(number_of(&run,
                               "SELECT sum(to_ns - from_ns) FROM wait_span WHERE word = "
                               "'TopologyAffinityError' AND cause IS NULL",
                               -1),
                     30 * NS_PER_S);
    assert_int_equal(number_of(&run, "SELECT sum(to_ns - from_ns) FROM wait WHERE serial = 3", -1),
                     30 * NS_PER_S);
    assert_int_equal(
        number_of(&run, "SELECT CAST(value AS INTEGER) FROM metric WHERE name = 'pods_refused'",
                  -1),
        2);
    forget_run(&run);
}

/* Five GPUs are on both sockets always. single-numa-node fails the pods of the Job at 0, 10, 30, 70, 150, 310 and 630 s; the
 * seventh failure is beyond backoffLimit 6. */
static void five_never_fit_one_socket(void **state)
{
    (void)state;
    for (int single = 0; single < 2; single++) {
        struct fixture fixture;
        struct replica_result result;
        sockets_fixture(&fixture, 1, 1, single ? TM_SINGLE_NUMA_NODE : TM_RESTRICTED);
        kube_job(&fixture, 0, 0, 100, 1, 5);
        kube_run(&fixture, &result);
        assert_int_equal(refused_of(&result, 0), single ? 7 : 0);
        assert_int_equal(kube_row(&result, 0)->end, single ? END_REJECTED : END_FINISHED);
        CHECK_NEAR(kube_end_s(&result, 0), single ? 630 : 100, 1e-9);
        if (single)
            assert_string_equal(kube_row(&result, 0)->reason,
                                "BackoffLimitExceeded: its pods failed with TopologyAffinityError");
        kube_done(&fixture, &result);
    }
}

/* GPUs 0 and 1 are held until 25 s; a Job has two pods of three. One gets socket 1, the other is refused at 0 s and 10 s and
 * gets socket 0 at 30 s. Until then the Job holds three GPUs and does not run: 90 GPU-seconds. With a gang rule both pods are
 * bound together and the same happens; Volcano and KAI bind on whole seconds, as all times here are. */
static void the_other_pods_keep_what_they_have(void **state)
{
    struct fixture fixture;
    struct replica_result result;
    sockets_fixture(&fixture, 2, 1, TM_RESTRICTED);
    fixture.scenario.kube.gang = (enum kube_gang)rows_number(state);
    kube_job(&fixture, 0, 0, 25, 1, 2);
    kube_job(&fixture, 1, 0, 100, 2, 3);
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 1), 30, 1e-9);
    assert_int_equal(refused_of(&result, 1), 2);
    assert_int_equal(mask_of(&result, 1, 2), 0x77);
    CHECK_NEAR(kube_account_s(&result, ACC_HELD), 90, 1e-9);
    kube_done(&fixture, &result);
}

/* GPUs 0 and 1 are held until 110 s. Of a Job's two pods of three one has socket 1 from 0 s on, the other is refused. At 5 s a more
 * important pod of four evicts the first without grace and has socket 1 for 100 s from 6 s on, after its back-off of 1 s. The
 * Job makes both pods anew at 10 s; at 106 s it is as at 0 s, and 20 s later, its second failure, the other pod has
 * socket 0. Three GPUs were held for 5 s and for 20 s by a Job that did not run. */
static void a_pod_is_taken_while_another_is_awaited(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    sockets_fixture(&fixture, 3, 1, TM_RESTRICTED);
    fixture.scenario.kube.grace_ns = 0;
    kube_job(&fixture, 0, 0, 110, 1, 2);
    kube_job(&fixture, 1, 0, 100, 2, 3);
    kube_job(&fixture, 2, 5, 100, 1, 4);
    fixture.jobs.words[0].priority = fixture.jobs.words[2].priority = 10;
    kube_run(&fixture, &result);
    CHECK_NEAR(kube_start_s(&result, 2), 6, 1e-9);
    assert_int_equal(refused_of(&result, 1), 2);
    CHECK_NEAR(kube_start_s(&result, 1), 126, 1e-9);
    CHECK_NEAR(kube_account_s(&result, ACC_HELD), 3 * (5 + 20), 1e-9);
    kube_done(&fixture, &result);
}

/* Links between 0 and 4, 1 and 5, ... draw a pair over both sockets; aligned it is the best pair of one. */
static void links_count_inside_the_sockets(void **state)
{
    (void)state;
    for (int aligned = 0; aligned < 2; aligned++) {
        struct fixture fixture;
        struct replica_result result;
        sockets_fixture(&fixture, 1, 1, aligned ? TM_BEST_EFFORT : TM_NONE);
        for (int a = 0; a < 8; a++) group.link_score[a][(a + 4) % 8] = 8;
        group.link_score[1][3] = group.link_score[3][1] = 2;
        kube_job(&fixture, 0, 0, 100, 1, 2);
        kube_run(&fixture, &result);
        assert_int_equal(mask_of(&result, 0, 0), aligned ? 0xa : 0x11);
        kube_done(&fixture, &result);
    }
}

/* GPUs belong to sockets as gpu_cores says: the even ones to cores 0 to 63. */
static void cores_say_the_socket(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    sockets_fixture(&fixture, 2, 1, TM_SINGLE_NUMA_NODE);
    for (uint32_t g = 0; g < 8; g++) {
        group.core_first[g] = g % 2 * 64;
        group.core_last[g] = g % 2 * 64 + 63;
    }
    kube_job(&fixture, 0, 0, 100, 1, 3);
    kube_job(&fixture, 1, 1, 100, 1, 3);
    kube_run(&fixture, &result);
    assert_int_equal(mask_of(&result, 0, 0), 0x15);
    assert_int_equal(mask_of(&result, 1, 0), 0x2a);
    kube_done(&fixture, &result);
}

/* Eight pods of one replica, four replicas a GPU: spread over all GPUs, or, since one socket is as good as two and narrower, over
 * the four of socket 0 under any policy but none. */
static void replicas_are_aligned_too(void **state)
{
    (void)state;
    for (int aligned = 0; aligned < 2; aligned++) {
        struct fixture fixture;
        struct replica_result result;
        sockets_fixture(&fixture, 8, 1, aligned ? TM_BEST_EFFORT : TM_NONE);
        group.sharing = SHARING_TIME_SLICE;
        group.shares_per_gpu = 4;
        for (uint32_t row = 0; row < 8; row++) kube_job(&fixture, row, row, 100, 1, 1);
        kube_run(&fixture, &result);
        uint32_t used = 0;
        for (uint32_t row = 0; row < 8; row++) used |= mask_of(&result, row, 0);
        assert_int_equal(used, aligned ? 0x0f : 0xff);
        kube_done(&fixture, &result);
    }
}

/* A job that is suspended while it waits for a new pod, and goes on later, begins with all its pods; the old back-off is
 * forgotten: of five free GPUs three are refused at 1 s, suspended at 5 s, resumed at 7 s, when the pod is refused again, then at 27 s it runs. */
static void a_suspended_job_forgets_the_back_off(void **state)
{
    (void)state;
    struct fixture fixture;
    struct replica_result result;
    sockets_fixture(&fixture, 3, 1, TM_RESTRICTED);
    kube_job(&fixture, 0, 0, 20, 1, 2);
    kube_job(&fixture, 1, 0, 20, 1, 3);
    kube_job(&fixture, 2, 1, 100, 1, 3);
    static struct user_event events[2];
    for (int on = 0; on < 2; on++) {
        events[on] = (struct user_event){ .at_ns = (on ? 7 : 5) * NS_PER_S,
                                          .action = on ? ACTION_RELEASE : ACTION_HOLD };
        snprintf(events[on].target, sizeof events[on].target, "j2");
    }
    fixture.scenario.events = events;
    fixture.scenario.event_count = 2;
    kube_run(&fixture, &result);
    assert_int_equal(refused_of(&result, 2), 2);
    CHECK_NEAR(kube_start_s(&result, 2), 27, 1e-9);
    kube_done(&fixture, &result);
}

int main(void)
{
    static const char *const gangs[] = { [GANG_NONE] = "none",
                                         [GANG_COSCHEDULING] = "coscheduling",
                                         [GANG_VOLCANO] = "volcano",
                                         [GANG_KUEUE] = "kueue",
                                         [GANG_KAI] = "kai" };
    struct rows rows = { 0 };
    for (uintptr_t row = 0; row < sizeof policies / sizeof *policies; row++)
        rows_add(&rows, three_of_two_and_two_free, (void *)row, "three of 2 + 2 free, %s",
                 policies[row].name);
    for (uintptr_t gang = GANG_NONE; gang <= GANG_KAI; gang++)
        if (gang != GANG_KUEUE)
            rows_add(&rows, the_other_pods_keep_what_they_have, (void *)gang,
                     "the other pods keep what they have, gang %s", gangs[gang]);
    rows_add(&rows, a_refusal_is_told, NULL, "a refusal is told");
    rows_add(&rows, five_never_fit_one_socket, NULL, "five never fit one socket");
    rows_add(&rows, a_pod_is_taken_while_another_is_awaited, NULL,
             "a pod is taken while another is awaited");
    rows_add(&rows, links_count_inside_the_sockets, NULL, "links count inside the sockets");
    rows_add(&rows, cores_say_the_socket, NULL, "cores say the socket");
    rows_add(&rows, replicas_are_aligned_too, NULL, "replicas are aligned too");
    rows_add(&rows, a_suspended_job_forgets_the_back_off, NULL,
             "a suspended job forgets the back-off");
    return rows_run("kube_kubelet", &rows);
}
