/* test_scenario_jobs.c - `jobs[]` and `events[]`: lines of sbatch and pods become rows.
 *
 * Right values follow from sbatch(1) and the pod's spec. Wrong ones, with their messages, are in tests/bad. */
#include "tests/scenario_texts.h"

#include "base/clock.h"
#include "spec/jobs.h"

#define S   NS_PER_S
#define GIB (UINT64_C(1) << 30)
#define LAYOUT                                                                                     \
    "layouts:\n  - {name: lab, servers: {type: hgx-h100-8, count: 4, names: \"n[0-3]\"}, fabric: " \
    "{link: ib-ndr400}}\n"
#define SLURM                                                                                      \
    "gpuplan: 1\nname: jobs\nscheduler:\n  kind: slurm\n  slurm:\n    partitions:\n"               \
    "      - {name: gpu, Default: YES, MaxTime: 2:00:00, DefaultTime: 30}\n"                       \
    "      - {name: cpu, MaxTime: 60}\n      - {name: free}\n    qos: [{name: high}]\n" LAYOUT     \
    "jobs:\n"
#define PLAIN "gpuplan: 1\nname: jobs\n" LAYOUT "jobs:\n"
#define KUBE  "gpuplan: 1\nname: jobs\nscheduler: {kind: kubernetes}\n" LAYOUT "jobs:\n"

#define GANGS                                                                                      \
    "gpuplan: 1\nname: jobs\nscheduler: {kind: kubernetes, kubernetes: {gang: "                    \
    "coscheduling}}\n" LAYOUT "jobs:\n"

static const struct jobs *read_jobs_of(const char *head, const char *jobs)
{
    static char text[16384];
    snprintf(text, sizeof text, "%s%s", head, jobs);
    read_good(text);
    assert_non_null(scenario.jobs);
    return scenario.jobs;
}

static uint32_t row_of(const char *id)
{
    const struct jobs *jobs = scenario.jobs;
    for (uint32_t row = 0; row < jobs->count; row++)
        if (strcmp(jobs->text + jobs->id[row], id) == 0) return row;
    fail_msg("no job '%s'", id);
    return 0;
}

static const struct ask *ask_of(const char *id)
{
    const uint32_t ask = scenario.jobs->ask[row_of(id)];
    assert_true(ask < scenario.jobs->ask_count);
    return &scenario.jobs->asks[ask];
}

static const struct job_words *words_of(const char *id)
{
    return &scenario.jobs->words[row_of(id)];
}
static const char *text_at(uint32_t offset)
{
    return scenario.jobs->text + offset;
}

static void rows_are_in_submit_order(void **state)
{
    (void)state;
    const struct jobs *jobs = read_jobs_of(
        PLAIN,
        "  - {id: late, at: 1h, run: 90s, gpus: 8, user: ada}\n"
        "  - {at: 5s, run: 0s, gpus: 2, time: 1:00:00}\n"
        "  - {id: b, at: 5s, run: 10m, nodes: 2, gpus_per_node: 4, cpus_per_task: 3, mem: 10G}\n"
        "  - {id: cores, at: 6s, run: 1m, ntasks: 4, cpus_per_task: 2}\n");
    assert_int_equal(jobs->count, 4);
    assert_string_equal(text_at(jobs->id[0]), "2"); /* its place in the list */
    assert_string_equal(text_at(jobs->id[1]), "b");
    assert_string_equal(text_at(jobs->id[3]), "late");
    assert_true(jobs->submit_ns[0] == 5 * S); /* time 0 is where it is written */
    assert_true(jobs->submit_ns[3] == 3600 * S);
    assert_true(jobs->duration_ns[0] == 0 && jobs->limit_ns[0] == 3600 * S);
    assert_true(jobs->limit_ns[1] == JOB_NO_LIMIT);
    assert_int_equal(jobs->gpus[1], 8);
    assert_int_equal(jobs->nodes[1], 2);
    assert_int_equal(jobs->cores[1], 6); /* one task a node, of 3 cores */
    assert_true(jobs->memory_bytes[1] == 20 * GIB);
    assert_int_equal(jobs->gpus[2], 0);
    assert_int_equal(jobs->cores[2], 8);
    assert_int_equal(jobs->cores[0], 0); /* not asked */
    assert_true(jobs->ask == NULL || jobs->ask[0] == ASK_NONE);
    assert_string_equal(text_at(jobs->user[3]), "ada");
    assert_true(scenario.horizon_ns == HORIZON_ALL);
    resolved_has("jobs: 4 jobs in 4 rows  # ");
}

static void options_of_sbatch(void **state)
{
    (void)state;
    read_jobs_of(
        SLURM,
        "  - {id: a, run: 1m, nodes: 2-4, gpus_per_node: \"h100:8\", exclusive: true, constraint: "
        "ib, time: 90m}\n"
        "  - {id: b, run: 1m, ntasks: 16, gpus: 4, ntasks_per_node: 8, mem: 0, qos: high, account: "
        "lab, user: ada}\n"
        "  - {id: c, run: 1m, ntasks: 4, gpus_per_task: 2, cpus_per_task: 3, mem_per_cpu: 2000, "
        "partition: cpu}\n"
        "  - {id: d, run: 1m, gres: \"gpu:a100:4\", nodelist: \"n[0-1]\", exclude: n3, switches: "
        "\"1@10\", nice: -90000}\n"
        "  - {id: e, run: 1m, gres: \"shard:6\", partition: free}\n"
        "  - {id: f, run: 1m, nodes: 1, gpus_per_node: 2, mem_per_gpu: 30G, segment: 2, "
        "spread_job: true}\n"
        "  - {id: g, run: 1m, gpus: 6, cpus_per_gpu: 4, ntasks_per_gpu: 2, partition: "
        "\"cpu,gpu\"}\n"
        "  - {id: h, run: 1m, begin: 10m, hold: true, requeue: false, exit_code: "
        "42,\n"
        "     dependency: \"afterok:a:b,afterany:c\", name: train, gres: \"gpu:1g.10gb:3\"}\n");
    const struct jobs *jobs = scenario.jobs;
    const struct ask *a = ask_of("a");
    assert_true(a->nodes_min == 2 && a->nodes_max == 4 && a->gpus_per_node == 8 && a->exclusive);
    assert_string_equal(text_at(a->gpu_type), "h100");
    assert_string_equal(text_at(a->constraint), "ib");
    assert_true(a->mem_mib == ASK_MEMORY_NONE && a->mem_per_gpu_mib == ASK_MEMORY_NONE);
    assert_int_equal(jobs->gpus[row_of("a")], 16);
    assert_true(jobs->limit_ns[row_of("a")] == 5400 * S);
    const struct ask *b = ask_of("b");
    assert_true(b->gpus == 4 && b->ntasks == 16 && b->ntasks_per_node == 8 && b->mem_mib == 0);
    assert_true(b->nodes_min == 0 && b->nodes_max == 0);
    assert_int_equal(jobs->gpus[row_of("b")], 4);
    assert_int_equal(jobs->cores[row_of("b")], 16);
    assert_true(jobs->limit_ns[row_of("b")] == 1800 * S); /* DefaultTime, in minutes */
    assert_string_equal(text_at(words_of("b")->qos), "high");
    assert_string_equal(text_at(words_of("b")->account), "lab");
    assert_string_equal(text_at(words_of("b")->user), "ada");
    assert_int_equal(jobs->gpus[row_of("c")], 8);
    assert_int_equal(jobs->cores[row_of("c")], 12);
    assert_true(jobs->memory_bytes[row_of("c")] == UINT64_C(24000) << 20);
    assert_true(jobs->limit_ns[row_of("c")] == 3600 * S); /* its MaxTime */
    const struct ask *d = ask_of("d");
    assert_true(d->gpus_per_node == 4 && d->switches == 1 && d->switch_wait_ns == 600 * S);
    assert_string_equal(text_at(d->gpu_type), "a100");
    assert_string_equal(text_at(d->nodelist), "n[0-1]");
    assert_string_equal(text_at(d->exclude), "n3");
    assert_int_equal(words_of("d")->nice, -90000);
    assert_int_equal(ask_of("e")->shards_per_node, 6);
    assert_int_equal(jobs->gpus[row_of("e")], 0);
    assert_true(jobs->limit_ns[row_of("e")] == JOB_NO_LIMIT);
    assert_true(ask_of("f")->segment == 2 && ask_of("f")->spread &&
                ask_of("f")->mem_per_gpu_mib == 30720);
    assert_int_equal(jobs->cores[row_of("g")], 24);
    assert_string_equal(text_at(words_of("g")->partition), "cpu,gpu");
    const struct job_words *h = words_of("h");
    assert_true(h->hold && h->requeue == 0 && h->exit_code == 42 && h->begin_ns == 600 * S);
    assert_string_equal(text_at(h->dependency), "afterok:a:b,afterany:c");
    assert_string_equal(text_at(h->name), "train");
    assert_string_equal(text_at(ask_of("h")->instance), "1g.10gb");
    assert_int_equal(jobs->gpus[row_of("h")], 0); /* parts of GPUs */
    assert_int_equal(words_of("a")->requeue, -1);
    assert_true(words_of("a")->array_first_row == JOB_NONE &&
                words_of("a")->het_first_row == JOB_NONE);
    assert_true(scenario.kill_at_limit);
}

static void arrays_and_components(void **state)
{
    (void)state;
    const struct jobs *jobs = read_jobs_of(
        SLURM,
        "  - {id: late, at: 9s, run: 6s, gpus_per_node: 4, array: \"0-5:2,9%2\"}\n"
        "  - {id: x, at: 3s, run: 6s, time: 1m, het: [{partition: gpu, nodes: 2, gpus_per_node: "
        "8},\n"
        "       {partition: cpu, nodes: 1, ntasks: 8}], user: ada}\n"
        "  - {id: after, at: 2s, run: 1s, dependency: \"aftercorr:late\", gpus: 1}\n"
        "  - {id: any, at: 2s, run: 1s, dependency: \"afterok:late_9?singleton\", gpus: 1}\n");
    assert_int_equal(jobs->count, 4 + 2 + 2);
    const uint32_t first = row_of("late_0");
    assert_int_equal(row_of("late_9"), first + 3); /* by index, together */
    for (uint32_t row = first; row < first + 4; row++) {
        assert_int_equal(jobs->words[row].array_first_row, first);
        assert_int_equal(jobs->words[row].array_limit, 2);
        assert_int_equal(jobs->ask[row], jobs->ask[first]); /* equal requests share one */
    }
    assert_int_equal(words_of("late_4")->array_index, 4);
    assert_int_equal(words_of("late_9")->array_index, 9);
    const uint32_t x = row_of("x+0");
    assert_int_equal(row_of("x+1"), x + 1);
    assert_int_equal(jobs->words[x].het_first_row, x);
    assert_int_equal(jobs->words[x + 1].het_first_row, x);
    assert_int_equal(jobs->gpus[x], 16);
    assert_int_equal(jobs->gpus[x + 1], 0);
    assert_int_equal(jobs->cores[x + 1], 8);
    assert_string_equal(text_at(jobs->words[x + 1].partition), "cpu");
    assert_string_equal(text_at(jobs->words[x + 1].user), "ada"); /* of the whole job */
    assert_true(jobs->duration_ns[x + 1] == 6 * S && jobs->limit_ns[x + 1] == 60 * S);
}

static void pods(void **state)
{
    (void)state;
    read_jobs_of(GANGS,
                 "  - {id: a, run: 1m, pods: 4, resources: {cpu: 500m, memory: 8Gi, "
                 "nvidia.com/gpu: 2}, priority: -7, minMember: 3,\n"
                 "     nodeSelector: {zone: a, pool: gpu}, tolerations: "
                 "[\"gpu=yes:NoSchedule\", spot], preemptionPolicy: Never}\n"
                 "  - {id: b, run: 1m, resources: {nvidia.com/mig-2g.10gb: 1, cpu: 1}, "
                 "topology: unconstrained}\n"
                 "  - {id: c, run: 1m, gpu_milli: 460, resources: {cpu: 3}, movable: false}\n"
                 "  - {id: d, run: 1m, gpu_milli: 1000}\n");
    const struct jobs *jobs = scenario.jobs;
    const struct ask *a = ask_of("a");
    assert_true(a->pods == 4 && a->pod_gpus == 2 && a->pod_cpu_milli == 500 &&
                a->pod_memory_bytes == 8 * GIB);
    assert_string_equal(text_at(a->node_selector), "zone=a,pool=gpu");
    assert_string_equal(text_at(a->tolerations), "gpu=yes:NoSchedule,spot");
    assert_int_equal(jobs->gpus[row_of("a")], 8);
    assert_int_equal(jobs->cores[row_of("a")], 2);
    assert_true(jobs->memory_bytes[row_of("a")] == 32 * GIB);
    assert_true(words_of("a")->priority == -7 && words_of("a")->min_member == 3);
    assert_true(words_of("a")->may_not_preempt && !words_of("b")->may_not_preempt);
    assert_string_equal(text_at(ask_of("b")->instance), "2g.10gb");
    assert_true(ask_of("b")->pod_gpus == 1 && ask_of("b")->pods == 1 &&
                ask_of("b")->topology_unconstrained);
    assert_int_equal(jobs->gpus[row_of("b")], 0);
    assert_int_equal(ask_of("c")->gpu_milli, 460);
    assert_true(jobs_gpu_milli(jobs, row_of("c")) == 460);
    assert_true(words_of("c")->may_not_move);
    assert_true(ask_of("d")->gpu_milli == 0 && ask_of("d")->pod_gpus == 1); /* all of one */
    assert_int_equal(jobs->gpus[row_of("d")], 1);
}

static void parts_of_gpus_under_plain(void **state)
{
    (void)state;
    read_jobs_of(PLAIN, "  - {id: a, run: 1m, gpu_milli: 500, gpu_type: \"V100M16|V100M32\", "
                        "resources: {cpu: 1500m}}\n"
                        "  - {id: b, run: 1m, gpu_milli: 1000}\n");
    assert_true(ask_of("a")->gpu_milli == 500 && ask_of("a")->pods == 1 &&
                ask_of("a")->pod_cpu_milli == 1500);
    assert_string_equal(text_at(ask_of("a")->gpu_type), "V100M16|V100M32");
    assert_int_equal(scenario.jobs->gpus[row_of("a")], 0);
    assert_int_equal(scenario.jobs->gpus[row_of("b")], 1);
}

/* A job in words of sbatch alone has no pods: Kubernetes cuts it up as it does with jobs of a log. */
static void several_schedulers(void **state)
{
    (void)state;
    static const char head[] =
        "gpuplan: 1\nname: jobs\nschedulers:\n  s: {kind: slurm, slurm: {partitions: [{name: b, "
        "MaxTime: 30}]}}\n  k: {kind: kubernetes}\n" LAYOUT "jobs:\n";
    read_jobs_of(
        head, "  - {id: a, run: 1m, nodes: 2, gpus_per_node: 8}\n"
              "  - {id: b, run: 1m, gpus: 8, pods: 2, resources: {cpu: 2, nvidia.com/gpu: 4}}\n");
    assert_int_equal(scenario.layout_count, 2);
    assert_true(ask_of("a")->pods == 0 && ask_of("a")->gpus_per_node == 8);
    assert_int_equal(scenario.jobs->gpus[row_of("a")], 16);
    assert_true(scenario.jobs->limit_ns[row_of("a")] ==
                1800 * S); /* MaxTime of the one that is Slurm */
    assert_true(ask_of("b")->pods == 2 && ask_of("b")->pod_gpus == 4 && ask_of("b")->gpus == 8);
    assert_int_equal(scenario.jobs->gpus[row_of("b")], 8);
    static char text[2048];
    snprintf(text, sizeof text, "%s  - {run: 1m, resources: {nvidia.com/gpu: 4}}\n", head);
    assert_int_equal(read_text(text), STATUS_INPUT);
    assert_non_null(strstr(said, "Slurm knows no pods"));
}

static void events_in_order(void **state)
{
    (void)state;
    read_jobs_of(
        SLURM,
        "  - {id: a, run: 9s, gpus: 1}\n  - {id: t, run: 9s, gpus: 1, array: 1-3, name: train}\n"
        "events:\n"
        "  - {at: 20s, resume: \"n[0-1]\"}\n  - {at: 8s, node_down: n2}\n"
        "  - {at: 8s, scancel: t}\n  - {at: 9s, gpu_fail: \"n1:7\"}\n  - {at: 9s, cordon: n3}\n"
        "  - {at: 10s, requeue: t_2}\n  - {at: 11s, hold: train}\n");
    static const struct user_event want[] = {
        { 8 * S, ACTION_NODE_DOWN, 0, "n2" },   { 8 * S, ACTION_SCANCEL, 0, "t_1" },
        { 8 * S, ACTION_SCANCEL, 0, "t_2" },    { 8 * S, ACTION_SCANCEL, 0, "t_3" },
        { 9 * S, ACTION_GPU_FAIL, 0, "n1:7" },  { 9 * S, ACTION_DRAIN, 0, "n3" },
        { 10 * S, ACTION_REQUEUE, 0, "t_2" },   { 11 * S, ACTION_HOLD, 0, "train" },
        { 20 * S, ACTION_RESUME, 0, "n[0-1]" },
    };
    assert_int_equal(scenario.event_count, 9);
    for (uint32_t i = 0; i < 9; i++) {
        assert_true(scenario.events[i].at_ns == want[i].at_ns);
        assert_int_equal(scenario.events[i].action, want[i].action);
        assert_string_equal(scenario.events[i].target, want[i].target);
    }
}

/* Textbook queues know no held jobs; where one of several schedulers is one, nobody is left to guess. */
static void holds_under_plain_are_refused(void **state)
{
    (void)state;
    static const char *const actions[] = { "hold", "release", "requeue_hold" };
    static const char *const heads[] = {
        PLAIN,
        "gpuplan: 1\nname: jobs\nschedulers:\n  s: {kind: slurm}\n  p: {kind: plain}\n" LAYOUT
        "jobs:\n",
    };
    for (int h = 0; h < 2; h++)
        for (int a = 0; a < 3; a++) {
            static char text[2048];
            snprintf(text, sizeof text,
                     "%s  - {id: a, run: 9s, gpus: 1}\nevents: [{at: 8s, %s: a}]\n", heads[h],
                     actions[a]);
            assert_int_equal(read_text(text), STATUS_INPUT);
            assert_non_null(strstr(said, "is built for scheduler.kind slurm and kubernetes"));
        }
}

/* Textbook policies give out whole GPUs and thousandths: an instance would have been no GPU at all. */
static void instances_under_plain_are_refused(void **state)
{
    (void)state;
    assert_int_equal(
        read_text(PLAIN "  - {run: 1m, resources: {nvidia.com/mig-1g.10gb: 1, cpu: 1}}\n"),
        STATUS_INPUT);
    assert_non_null(strstr(said, "instances of MIG are for scheduler.kind slurm and kubernetes"));
    assert_int_equal(
        read_text("gpuplan: 1\nname: jobs\nlayouts:\n  - name: n\n    fabric: {link: ib-ndr400}\n"
                  "    servers: {type: hgx-h100-8, count: 1, sharing: {kind: mig_single, profile: "
                  "1g.10gb}}\njobs:\n  - {run: 1m, gpus: 1}\n"),
        STATUS_INPUT);
    assert_non_null(strstr(said, "this kind is for scheduler.kind slurm and kubernetes"));
}

/* minMember is no word of the default scheduler and of Kueue; queues and levels are words of those that have queues. Where
 * one of several schedulers knows a word, the others do without. */
static void words_of_gangs(void **state)
{
    (void)state;
    static const struct {
        const char *head, *word, *message;
    } refused[] = {
        { KUBE, "minMember: 1", "minMember: it is for gang coscheduling, volcano and kai" },
        { KUBE, "queue: q", "queue: it is for gang kueue, volcano and kai" },
        { KUBE, "topology: {required: rack}", "topology: it is for gang kueue, volcano and kai" },
    };
    static char text[2048];
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        snprintf(text, sizeof text, "%s  - {run: 1m, pods: 2, resources: {cpu: 1}, %s}\n",
                 refused[i].head, refused[i].word);
        assert_int_equal(read_text(text), STATUS_INPUT);
        assert_non_null(strstr(said, refused[i].message));
    }
    read_jobs_of(
        "gpuplan: 1\nname: jobs\nschedulers:\n  d: {kind: kubernetes}\n  v: {kind: kubernetes, "
        "kubernetes: {gang: volcano, clusterQueues: [{name: q}], topology: [{name: "
        "rack}]}}\n" LAYOUT "jobs:\n",
        "  - {run: 1m, pods: 2, resources: {cpu: 1}, queue: q, minMember: 1, topology: "
        "{required: rack}}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_in_submit_order),
        cmocka_unit_test(options_of_sbatch),
        cmocka_unit_test(arrays_and_components),
        cmocka_unit_test(pods),
        cmocka_unit_test(parts_of_gpus_under_plain),
        cmocka_unit_test(events_in_order),
        cmocka_unit_test(several_schedulers),
        cmocka_unit_test(holds_under_plain_are_refused),
        cmocka_unit_test(instances_under_plain_are_refused),
        cmocka_unit_test(words_of_gangs),
    };
    const int failed = cmocka_run_group_tests_name("scenario, jobs", tests, NULL, NULL);
    scenario_clear(&scenario);
    return failed;
}
