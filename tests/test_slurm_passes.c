/* test_slurm_passes.c - the two passes of Slurm by hand-made cases, one for each rule of SCHEDULING 2.3: a scenario of
 * a few jobs, read and run as any other; second and nodes of each start worked out in the comment above it. */
#include "fixture.h"
#include "io/scenario_read.h"
#include "spec/hostlist.h"
#include "spec/node_names.h"
#include "tests/rows.h"

#include <unistd.h>

enum { JOBS_MOST = 8 };

/* A start that is expected: within a second, since the two passes are half a second apart. */
struct start {
    const char *job;
    int64_t at_s;
    const char *nodes; /* first node of the job                                                  */
};

struct passes_case {
    const char *name, *slurm, *nodes, *jobs;
    struct start starts[JOBS_MOST];
};

#define TICKS "bf_interval=1,sched_interval=1"

static const struct passes_case cases[] = {
    /* a leaves 4 GPUs on both nodes. b needs a whole node: n0 is reserved for it, all of it, from 600 on. c would cross 600 and may
     * not share n0, where 4 GPUs stay free; d ends before. */
    { "a reservation takes whole nodes",
      "SchedulerParameters: '" TICKS "'",
      "n[0-1]",
      "- {id: a, run: 10m, time: 10m, nodes: 2, gpus_per_node: 4}\n"
      "- {id: b, run: 1m, time: 10m, nodes: 1, gpus_per_node: 8}\n"
      "- {id: c, run: 1m, time: 20m, nodes: 1, gpus_per_node: 1}\n"
      "- {id: d, run: 1m, time: 9m, nodes: 1, gpus_per_node: 1}\n",
      { { "a", 0, "n0" }, { "b", 600, "n0" }, { "c", 0, "n1" }, { "d", 0, "n0" } } },

    /* b wants both nodes when a's limit ends, at 120. Slots begin on whole minutes of the clock: at second 0 of a minute the
     * reservation begins at 120 and c (30 to 90) passes. */
    { "slots begin on the minute",
      "SchedulerParameters: '" TICKS "'",
      "n[0-1]",
      "- {id: a, run: 100s, time: 2m, nodes: 1, gpus_per_node: 8}\n"
      "- {id: b, run: 1m, time: 2m, nodes: 2, gpus_per_node: 8}\n"
      "- {id: c, run: 10s, time: 1m, nodes: 1, gpus_per_node: 8, at: 30s}\n",
      { { "a", 0, "n0" }, { "b", 100, "n0" }, { "c", 30, "n1" } } },

    /* The same when time 0 is second 50 of a minute: 120 is second 170 of the clock, its slot begins at 120, which is 70 here.
     * c would end at 90 and waits for b to end. */
    { "slots begin on the minute of the clock",
      "second_of_minute: 50\n    SchedulerParameters: '" TICKS "'",
      "n[0-1]",
      "- {id: a, run: 100s, time: 2m, nodes: 1, gpus_per_node: 8}\n"
      "- {id: b, run: 1m, time: 2m, nodes: 2, gpus_per_node: 8}\n"
      "- {id: c, run: 10s, time: 1m, nodes: 1, gpus_per_node: 8, at: 30s}\n",
      { { "a", 0, "n0" }, { "b", 100, "n0" }, { "c", 160, "n0" } } },

    /* n0 is silent from 60 to 120 s and answers again; an administrator resumes it at 900 s. Both jobs want it. */
    { "ReturnToService 0: a node that was down waits for its administrator",
      "ReturnToService: 0\n    SchedulerParameters: '" TICKS "'",
      "n[0-1]",
      "- {id: a, at: 200s, run: 1m, nodelist: n0, gpus_per_node: 8}\n"
      "- {id: b, at: 201s, run: 1m, nodelist: n1, gpus_per_node: 8}\n"
      "events:\n- {at: 60s, node_down: n0}\n- {at: 120s, node_up: n0}\n- {at: 900s, resume: n0}\n",
      { { "a", 900, "n0" }, { "b", 201, "n1" } } },
    { "ReturnToService 1: it returns by itself",
      "ReturnToService: 1\n    SchedulerParameters: '" TICKS "'",
      "n[0-1]",
      "- {id: a, at: 200s, run: 1m, nodelist: n0, gpus_per_node: 8}\n"
      "events:\n- {at: 60s, node_down: n0}\n- {at: 120s, node_up: n0}\n- {at: 900s, resume: n0}\n",
      { { "a", 200, "n0" } } },

    /* c could pass, but only the first of those who wait is looked at: it starts when b has started and left it the head. */
    { "bf_max_job_test",
      "SchedulerParameters: '" TICKS ",bf_max_job_test=1'",
      "n[0-1]",
      "- {id: a, run: 2m, time: 2m, nodes: 1, gpus_per_node: 8}\n"
      "- {id: b, run: 1m, time: 2m, nodes: 2, gpus_per_node: 8}\n"
      "- {id: c, run: 10s, time: 1m, nodes: 1, gpus_per_node: 8}\n",
      { { "a", 0, "n0" }, { "b", 120, "n0" }, { "c", 180, "n0" } } },

    /* Of each user one job is looked at: b and c are u's, d is v's and passes. */
    { "bf_max_job_user",
      "SchedulerParameters: '" TICKS ",bf_max_job_user=1'",
      "n[0-1]",
      "- {id: a, run: 2m, time: 2m, nodes: 1, gpus_per_node: 8, user: u}\n"
      "- {id: b, run: 1m, time: 2m, nodes: 2, gpus_per_node: 8, user: u}\n"
      "- {id: c, run: 10s, time: 1m, nodes: 1, gpus_per_node: 4, user: u}\n"
      "- {id: d, run: 10s, time: 1m, nodes: 1, gpus_per_node: 4, user: v}\n",
      { { "a", 0, "n0" }, { "b", 120, "n0" }, { "c", 180, "n0" }, { "d", 0, "n1" } } },

    /* m is of the reservation's account: it starts inside it only and is stopped at its end, 10 minutes before its own. n's
     * limit meets the reservation on n1, so it goes to n0 although m leaves 4 GPUs. */
    { "a reservation is kept and ends its jobs",
      "SchedulerParameters: '" TICKS "'\n    reservations:\n"
      "    - {name: course, nodes: n1, accounts: lab, start: 1m, duration: 10m}",
      "n[0-1]",
      "- {id: m, run: 20m, time: 30m, nodes: 1, gpus_per_node: 4, account: lab, reservation: "
      "course}\n"
      "- {id: n, run: 5m, time: 5m, nodes: 1, gpus_per_node: 8, at: 30s}\n"
      "- {id: o, run: 5m, time: 5m, nodes: 2, gpus_per_node: 8, at: 40s}\n",
      { { "m", 60, "n1" }, { "n", 30, "n0" }, { "o", 660, "n0" } } },

    /* Nobody passes under builtin, though c fits all the time. */
    { "nobody passes under builtin",
      "SchedulerType: sched/builtin\n    SchedulerParameters: '" TICKS "'",
      "n[0-1]",
      "- {id: a, run: 2m, time: 2m, nodes: 1, gpus_per_node: 8}\n"
      "- {id: b, run: 1m, time: 2m, nodes: 2, gpus_per_node: 8}\n"
      "- {id: c, run: 10s, time: 1m, nodes: 1, gpus_per_node: 8}\n",
      { { "a", 0, "n0" }, { "b", 120, "n0" }, { "c", 180, "n0" } } },

    /* b fails its partition: its nodes are kept from partition same too, where c would fit; d's partition has others. */
    { "a failed partition withholds its nodes",
      "SchedulerType: sched/builtin\n    SchedulerParameters: '" TICKS "'\n    partitions:\n"
      "    - {name: first, nodes: 'n[0-1]', Default: 'YES'}\n"
      "    - {name: same, nodes: 'n[0-1]'}\n"
      "    - {name: other, nodes: 'n[2]'}",
      "n[0-2]",
      "- {id: a, run: 2m, time: 2m, nodes: 1, gpus_per_node: 8}\n"
      "- {id: b, run: 1m, time: 2m, nodes: 2, gpus_per_node: 8}\n"
      "- {id: c, run: 10s, time: 1m, nodes: 1, gpus_per_node: 8, partition: same}\n"
      "- {id: d, run: 10s, time: 1m, nodes: 1, gpus_per_node: 8, partition: other}\n",
      { { "a", 0, "n0" }, { "b", 120, "n0" }, { "c", 180, "n0" }, { "d", 0, "n2" } } },

    /* b asks for more than its partition allows and waits for ever, in nobody's way. */
    { "MaxTime",
      "SchedulerParameters: '" TICKS "'\n    partitions:\n"
      "    - {name: short, nodes: ALL, Default: 'YES', MaxTime: 60}",
      "n[0-1]",
      "- {id: a, run: 2m, time: 2m, nodes: 1, gpus_per_node: 8}\n"
      "- {id: b, run: 1m, time: 2h, nodes: 1, gpus_per_node: 8}\n"
      "- {id: c, run: 1m, time: 1h, nodes: 1, gpus_per_node: 8, at: 1s}\n",
      { { "a", 0, "n0" }, { "c", 1, "n1" } } },

    /* x wants n0, which only a (no victim of its) could give: it blocks the partition in the main pass. y stands behind it, and
     * backfill lets it stop s on n1, told in second 10 and gone 4 s later. */
    { "backfill evicts too",
      "SchedulerParameters: '" TICKS "'\n    PreemptType: preempt/qos\n    PreemptMode: CANCEL\n"
      "    qos:\n    - {name: normal}\n    - {name: scavenger}\n"
      "    - {name: prod, Preempt: scavenger}",
      "n[0-1]",
      "- {id: a, run: 2m, time: 2m, nodes: 1, gpus_per_node: 8}\n"
      "- {id: s, run: 5m, time: 5m, nodes: 1, gpus_per_node: 8, qos: scavenger}\n"
      "- {id: x, run: 1m, time: 10m, nodes: 1, gpus_per_node: 8, qos: prod, exclude: n1, at: 10s}\n"
      "- {id: y, run: 1m, time: 1m, nodes: 1, gpus_per_node: 8, qos: prod, at: 10s}\n",
      { { "a", 0, "n0" }, { "s", 0, "n1" }, { "x", 120, "n0" }, { "y", 14, "n1" } } },

    /* A job that names its nodes keeps only these from others: c is behind b and starts on n1. */
    { "a node list withholds only its nodes",
      "SchedulerType: sched/builtin\n    SchedulerParameters: '" TICKS "'",
      "n[0-1]",
      "- {id: a, run: 2m, time: 2m, nodes: 1, gpus_per_node: 8}\n"
      "- {id: b, run: 1m, time: 2m, nodes: 1, gpus_per_node: 8, nodelist: n0}\n"
      "- {id: c, run: 10s, time: 1m, nodes: 1, gpus_per_node: 8}\n",
      { { "a", 0, "n0" }, { "b", 120, "n0" }, { "c", 0, "n1" } } },

    /* Both nodes are reserved for b from 300 to 360, so c (10 min) finds none before; behind `later`, 360, it does, and reserves
     * the first. d (1 min) still passes on n1. */
    { "behind the slot, not before",
      "SchedulerParameters: '" TICKS "'",
      "n[0-1]",
      "- {id: a, run: 5m, time: 5m, nodes: 1, gpus_per_node: 8}\n"
      "- {id: b, run: 1m, time: 1m, nodes: 2, gpus_per_node: 8}\n"
      "- {id: c, run: 10m, time: 10m, nodes: 1, gpus_per_node: 8}\n"
      "- {id: d, run: 1m, time: 1m, nodes: 1, gpus_per_node: 8}\n",
      { { "a", 0, "n0" }, { "b", 300, "n0" }, { "c", 360, "n0" }, { "d", 0, "n1" } } },

    /* u evicts s at 120 and starts when it is gone, 4 s later. Backfill, which comes each second, must not lend n1 until then
     * to l, although s had 57 minutes left of its limit: l goes behind u. */
    { "nobody slips in while victims leave",
      "SchedulerParameters: '" TICKS "'\n    PriorityType: priority/multifactor\n"
      "    PriorityWeightQOS: 1000\n    PreemptType: preempt/qos\n    PreemptMode: REQUEUE\n"
      "    qos:\n    - {name: normal, Priority: 1}\n    - {name: low}\n"
      "    - {name: urgent, Priority: 10, Preempt: [low]}",
      "n[0-1]",
      "- {id: s, run: 30m, time: 1h, nodes: 1, gpus_per_node: 8, qos: low}\n"
      "- {id: u, run: 1m, time: 2m, nodes: 2, gpus_per_node: 8, qos: urgent, at: 2m}\n"
      "- {id: l, run: 1m, time: 10m, nodes: 1, gpus_per_node: 8, at: 2m}\n",
      { { "s", 0, "n0" }, { "u", 124, "n0" }, { "l", 184, "n0" } } },

    /* m says no account: it is that of its user's first association, for reservations too. */
    { "the account of a reservation may be the user's first",
      "SchedulerParameters: '" TICKS "'\n    associations:\n    - {account: lab}\n"
      "    - {account: lab, user: ada}\n    reservations:\n"
      "    - {name: course, nodes: n1, accounts: lab, start: 1m, duration: 10m}",
      "n[0-1]",
      "- {id: m, run: 1m, time: 2m, nodes: 1, gpus_per_node: 4, user: ada, reservation: course}\n",
      { { "m", 60, "n1" } } },

    /* Timers as slurm.conf has them: b cannot pass in the main pass of second 0; backfill comes every 30 s. */
    { "the timers of slurm.conf",
      "SchedulerType: sched/backfill",
      "n[0-1]",
      "- {id: a, run: 9m, time: 10m, nodes: 1, gpus_per_node: 8}\n"
      "- {id: b, run: 1m, time: 10m, nodes: 2, gpus_per_node: 8, at: 1s}\n"
      "- {id: c, run: 1m, time: 1m, nodes: 1, gpus_per_node: 8, at: 2s}\n",
      { { "a", 0, "n0" }, { "b", 540, "n0" }, { "c", 30, "n1" } } },
};

static const char text_of_case[] =
    "gpuplan: 1\nname: passes\ntime: {horizon: all, warmup: 0s}\nseed: 1\n"
    "replicas: {count: 1, resample: none}\nworkload: {communication: none}\n"
    "failures: {rates: none}\ndetail: all\n"
    "scheduler:\n  kind: slurm\n  slurm:\n    %s\n"
    "layouts:\n- name: small\n  fabric: {type: two-tier, link: ib-ndr400, nics_per_gpu: 1}\n"
    "  servers: [{type: {like: hgx-h100-8}, count: %u, names: '%s'}]\n"
    "jobs:\n%s";

/* Second of a job's start and its first node. */
static void check_start(const struct scenario *scenario, const struct replica_result *result,
                        const struct start *start)
{
    const struct jobs *jobs = scenario->jobs;
    const struct attempt_row *rows = LOG_ITEMS(&result->attempts, struct attempt_row);
    const struct allocation_row *places = LOG_ITEMS(&result->allocations, struct allocation_row);
    for (uint64_t i = 0; i < result->attempts.count; i++) {
        char name[LIMIT_NAME_BYTES];
        if (strcmp(jobs->text + jobs->id[rows[i].serial], start->job) != 0) continue;
        if (rows[i].start_ns < start->at_s * NS_PER_S ||
            rows[i].start_ns > (start->at_s + 1) * NS_PER_S)
            fail_msg("%s starts at %.1f s, not %d", start->job, s_from_ns(rows[i].start_ns),
                     (int)start->at_s);
        uint64_t a = 0;
        while (places[a].serial != rows[i].serial) a++;
        node_name(&scenario->layouts[0], places[a].server, name);
        assert_string_equal(name, start->nodes);
        return;
    }
    fail_msg("%s never starts", start->job);
}

static void run_case(void **state)
{
    const struct passes_case *row = *state;
    char path[] = "/tmp/gpuplan-passes-XXXXXX.yaml";
    uint32_t nodes = 0;
    assert_null(hostlist_check(row->nodes, &nodes));
    FILE *out = fdopen(mkstemps(path, 5), "w");
    fprintf(out, text_of_case, row->slurm, nodes, row->nodes, row->jobs);
    fclose(out);
    struct scenario scenario;
    struct plan plan;
    struct run_shared shared;
    struct replica_result result;
    const struct import_report import = { 0 };
    struct diag *diag = diag_create();
    struct arena *arena = arena_create(UINT64_C(1) << 36);
    if (scenario_read(path, NULL, 0, &scenario, diag) != STATUS_OK ||
        plan_build(&scenario, scenario.jobs, &import, NULL, 0, 1, &plan, diag) != STATUS_OK) {
        diag_print(diag, stdout);
        fail();
    }
    unlink(path);
    assert_int_equal(run_shared_init(&shared, &plan, arena), STATUS_OK);
    const enum status status = run_replica(&(struct run_request){ .shared = &shared }, &result);
    assert_true(status == STATUS_OK || status == STATUS_LIMIT); /* a job may wait for ever */
    for (int i = 0; i < JOBS_MOST && row->starts[i].job; i++)
        check_start(&scenario, &result, &row->starts[i]);
    replica_result_clear(&result);
    arena_destroy(arena);
    scenario_clear(&scenario);
    diag_destroy(diag);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        rows_add(&rows, run_case, &cases[i], "%s", cases[i].name);
    return rows_run("slurm_passes", &rows);
}
