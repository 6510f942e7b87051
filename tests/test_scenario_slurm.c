/* test_scenario_slurm.c - `scheduler.slurm`: slurm.conf in its own words and units.
 *
 * Right values are those that slurm.conf(5), sacctmgr(1) and topology.conf(5) give to the words. Wrong scenarios, with
 * their messages, are in tests/bad. */
#include "tests/scenario_texts.h"

#include "base/clock.h"

#define HEAD "gpuplan: 1\nname: slurm\nscheduler:\n  kind: slurm\n"
#define LAYOUT                                                                                     \
    "layouts:\n  - {name: lab, servers: {type: hgx-h100-8, count: 4, names: \"n[0-3]\"}, fabric: " \
    "{link: ib-ndr400}}\n"

static const struct slurm_spec *read_slurm(const char *keys)
{
    static char text[8192];
    snprintf(text, sizeof text, HEAD "  slurm:\n%s" LAYOUT, keys);
    read_good(text);
    return &scenario.slurm;
}

/* The table's defaults are those of slurm_defaults, field by field. */
static void defaults_are_those_of_the_spec(void **state)
{
    (void)state;
    struct slurm_spec want;
    slurm_defaults(&want);
    read_good(HEAD LAYOUT);
    struct slurm_spec got = scenario.slurm;
    assert_int_equal(got.partition_count, 1);
    assert_string_equal(got.partitions[0].name, "batch");
    assert_string_equal(got.partitions[0].nodes, "ALL");
    assert_true(got.partitions[0].is_default && got.partitions[0].up);
    assert_true(got.partitions[0].max_time_ns == TIME_NEVER);
    assert_int_equal(got.qos_count, 1);
    assert_string_equal(got.qos[0].name, "normal");
    assert_true(got.qos[0].grp.gpus == LIMIT_UNSET && got.qos[0].grp_jobs == LIMIT_UNSET);
    got.partitions = want.partitions;
    got.partition_count = want.partition_count;
    got.qos = want.qos;
    got.qos_count = want.qos_count;
    /* Byte by byte: both were zeroed as a whole before. */
    const unsigned char *a = (const unsigned char *)&got, *b = (const unsigned char *)&want;
    for (size_t i = 0; i < sizeof got; i++)
        if (a[i] != b[i]) fail_msg("byte %zu differs: %d, %d", i, a[i], b[i]);
}

static void scheduler_parameters(void **state)
{
    (void)state;
    const struct slurm_spec *slurm = read_slurm(
        "    SchedulerParameters: "
        "bf_interval=1,batch_sched_delay=0,sched_interval=2,kill_invalid_depend,"
        "bf_window=2880,bf_resolution=30,bf_max_job_test=2,bf_min_prio_reserve=4000000000,bf_"
        "continue\n"
        "    second_of_minute: 26\n    compat: 22.05\n    SchedulerType: sched/builtin\n");
    assert_true(slurm->bf_interval_ns == NS_PER_S); /* seconds */
    assert_true(slurm->sched_interval_ns == 2 * NS_PER_S);
    assert_true(slurm->batch_sched_delay_ns == 0);
    assert_true(slurm->bf_window_ns == 2 * NS_PER_DAY); /* minutes */
    assert_true(slurm->bf_resolution_ns == 30 * NS_PER_S);
    assert_int_equal(slurm->bf_max_job_test, 2);
    assert_true(slurm->bf_min_prio_reserve == 4000000000);
    assert_true(slurm->bf_continue && !slurm->bf_busy_nodes);
    /* As in recording s23, where the job stays: this item belongs to DependencyParameters. */
    assert_false(slurm->kill_invalid_depend);
    assert_int_equal(slurm->default_queue_depth, 100); /* not said */
    assert_true(slurm->clock_phase_ns == 26 * NS_PER_S);
    assert_int_equal(slurm->compat, COMPAT_22_05);
    assert_false(slurm->backfill);
}

static void priority_and_preemption(void **state)
{
    (void)state;
    const struct slurm_spec *slurm = read_slurm(
        "    PriorityType: priority/multifactor\n    PriorityWeightAge: 100\n    "
        "PriorityWeightQOS: 5000\n"
        "    PriorityWeightTRES: gres/gpu=1000,cpu=2,mem=5\n    PriorityMaxAge: 1-0\n"
        "    PriorityDecayHalfLife: 0\n    PriorityCalcPeriod: 1\n    PriorityFavorSmall: YES\n"
        "    PriorityFlags: CALCULATE_RUNNING\n    TRESBillingWeights: "
        "CPU=0.5,Mem=0.25G,GRES/gpu=2.0\n"
        "    PreemptType: preempt/qos\n    PreemptMode: SUSPEND,GANG\n    PreemptExemptTime: 10\n"
        "    DependencyParameters: kill_invalid_depend\n    JobRequeue: 0\n    RequeueExit: 42\n   "
        " RequeueExitHold: 50-60,7\n    AuthInfo: "
        "cred_expire=30\n"
        "    SlurmdTimeout: 20\n    ReturnToService: 2\n    SuspendTime: 600\n    ResumeTimeout: "
        "120\n    power_up: 90s\n"
        "    AccountingStorageEnforce: [associations, safe]\n");
    assert_true(slurm->multifactor && slurm->favor_small);
    assert_true(slurm->weight_age == 100 && slurm->weight_qos == 5000);
    assert_true(slurm->weight_tres_gpu == 1000 && slurm->weight_tres_cpu == 2 &&
                slurm->weight_tres_mem == 5);
    assert_true(slurm->max_age_ns == NS_PER_DAY);
    assert_true(slurm->decay_half_life_ns == 0);
    assert_true(slurm->calc_period_ns == 60 * NS_PER_S); /* minutes */
    assert_true(slurm->billing_cpu == 0.5 && slurm->billing_gpu == 2 &&
                slurm->billing_mem_gib == 0.25);
    assert_int_equal(slurm->preempt_type, PREEMPT_QOS);
    assert_int_equal(slurm->preempt_mode, PREEMPT_SUSPEND);
    assert_true(slurm->gang);
    assert_true(slurm->preempt_exempt_ns == 600 * NS_PER_S);
    assert_true(slurm->kill_invalid_depend);
    assert_false(slurm->job_requeue);
    assert_string_equal(slurm->requeue_exit, "42");
    assert_string_equal(slurm->requeue_exit_hold, "50-60,7");
    assert_true(slurm->requeue_delay_ns == 31 * NS_PER_S); /* one more than cred_expire */
    assert_true(slurm->slurmd_timeout_ns == 20 * NS_PER_S);
    assert_int_equal(slurm->return_to_service, 2);
    assert_true(slurm->suspend_time_ns == 600 * NS_PER_S && slurm->resume_ns == 90 * NS_PER_S);
    assert_true(slurm->safe && slurm->enforce_limits); /* safe implies limits */
}

static void partitions_and_qos(void **state)
{
    (void)state;
    const struct slurm_spec *slurm =
        read_slurm("    SelectTypeParameters: CR_Core_Memory,CR_LLN\n    DefMemPerGPU: 30000\n    "
                   "DefMemPerCPU: 2G\n"
                   "    partitions:\n"
                   "      - {name: low, OverSubscribe: \"FORCE:1\", PriorityTier: 1, Default: YES, "
                   "MaxTime: INFINITE}\n"
                   "      - {name: high, nodes: \"n[0-1]\", PriorityTier: 10, MaxTime: 1-0, "
                   "DefaultTime: 30, State: DOWN,\n"
                   "         PreemptMode: REQUEUE, GraceTime: 30, LLN: YES, MaxNodes: 2, "
                   "DefMemPerNode: 1000}\n"
                   "      - {name: whole, OverSubscribe: EXCLUSIVE}\n"
                   "    qos:\n"
                   "      - {name: prod, Priority: 10, Preempt: [normal, scavenger], GrpTRES: "
                   "\"gres/gpu=20\",\n"
                   "         Flags: [DenyOnLimit, NoReserve], MaxTRESPerJob: \"cpu=64,mem=100G\", "
                   "GrpJobs: 3}\n"
                   "      - {name: scavenger, PreemptMode: CANCEL, MaxJobsPerUser: 0, "
                   "GrpTRESRunMins: \"gres/gpu=600\"}\n");
    assert_true(slurm->memory_counts && slurm->lln);
    assert_true(slurm->def_mem_per_gpu_mib == 30000 && slurm->def_mem_per_cpu_mib == 2048);
    assert_int_equal(slurm->partition_count, 3);
    const struct slurm_partition *low = &slurm->partitions[0], *high = &slurm->partitions[1];
    assert_true(low->is_default && low->oversubscribe_force && !low->exclusive && low->up);
    assert_true(low->max_time_ns == TIME_NEVER && low->default_time_ns == 0);
    assert_int_equal(low->preempt_mode, PREEMPT_UNSET);
    assert_false(high->is_default || high->up);
    assert_true(high->max_time_ns == NS_PER_DAY && high->default_time_ns == 1800 * NS_PER_S);
    assert_int_equal(high->priority_tier, 10);
    assert_int_equal(high->max_nodes, 2);
    assert_int_equal(high->preempt_mode, PREEMPT_REQUEUE);
    assert_true(high->grace_time_ns == 30 * NS_PER_S && high->lln &&
                high->def_mem_per_node_mib == 1000);
    assert_true(slurm->partitions[2].exclusive);
    assert_int_equal(slurm->qos_count, 3); /* normal is always there */
    const struct slurm_qos *prod = &slurm->qos[0], *scavenger = &slurm->qos[1];
    assert_string_equal(prod->preempt, "normal,scavenger");
    assert_true(prod->grp.gpus == 20 && prod->grp.cores == LIMIT_UNSET && prod->grp_jobs == 3);
    assert_true(prod->max_per_job.cores == 64 && prod->max_per_job.memory_mib == 102400);
    assert_true(prod->deny_on_limit && prod->no_reserve);
    assert_int_equal(scavenger->preempt_mode, PREEMPT_CANCEL);
    assert_true(scavenger->max_jobs_per_user == 0 && scavenger->grp_run_mins.gpus == 600);
    assert_string_equal(slurm->qos[2].name, "normal");
}

static void topology_and_people(void **state)
{
    (void)state;
    const struct slurm_spec *slurm = read_slurm(
        "    TopologyPlugin: topology/tree\n    topology:\n"
        "      - {SwitchName: leaf0, Nodes: \"n[0-1]\"}\n      - {SwitchName: leaf1, Nodes: "
        "\"n2,n3\"}\n"
        "      - {SwitchName: core, Switches: \"leaf[0-1]\"}\n"
        "    associations:\n      - {account: lab, fairshare: 3, GrpTRES: \"gres/gpu=20\"}\n"
        "      - {account: vision, parent: lab}\n      - {account: vision, user: ada, MaxJobs: 4}\n"
        "    reservations:\n"
        "      - {name: night, nodes: \"n[0-1]\", flags: MAINT, start: 90s, duration: 1h}\n"
        "      - {name: days, users: [ada, ben], duration: UNLIMITED, flags: IGNORE_JOBS}\n");
    assert_int_equal(slurm->topology, TOPOLOGY_TREE);
    assert_int_equal(slurm->switch_count, 3);
    assert_string_equal(slurm->switches[1].name, "leaf1");
    assert_string_equal(slurm->switches[1].nodes, "n2,n3");
    assert_string_equal(slurm->switches[2].switches, "leaf[0-1]");
    assert_int_equal(slurm->association_count, 3);
    assert_int_equal(slurm->associations[0].fairshare, 3);
    assert_true(slurm->associations[0].grp.gpus == 20);
    assert_string_equal(slurm->associations[1].parent, "lab");
    assert_string_equal(slurm->associations[2].user, "ada");
    assert_true(slurm->associations[2].max_jobs == 4 &&
                slurm->associations[2].grp_jobs == LIMIT_UNSET);
    assert_int_equal(slurm->reservation_count, 2);
    assert_true(slurm->reservations[0].maint && slurm->reservations[0].start_ns == 90 * NS_PER_S);
    assert_true(slurm->reservations[0].end_ns == 3690 * NS_PER_S);
    assert_true(slurm->reservations[1].end_ns == TIME_NEVER && slurm->reservations[1].ignore_jobs);
    assert_string_equal(slurm->reservations[1].users, "ada,ben");
}

static void blocks(void **state)
{
    (void)state;
    const struct slurm_spec *slurm = read_slurm(
        "    TopologyPlugin: topology/block\n    BlockSizes: 2,4\n    topology:\n"
        "      - {BlockName: b0, Nodes: \"n[0-1]\"}\n      - {BlockName: b1, Nodes: \"n[2-3]\"}\n");
    assert_int_equal(slurm->topology, TOPOLOGY_BLOCK);
    assert_int_equal(slurm->block_size_count, 2);
    assert_int_equal(slurm->block_sizes[1], 4);
    read_slurm("    TopologyPlugin: topology/block\n    BlockSizes: [3, 6, 12]\n");
    assert_int_equal(scenario.slurm.block_sizes[2], 12);
}

static void resolved_words(void **state)
{
    (void)state;
    read_slurm("    PriorityMaxAge: 1-0\n    qos: [{name: a}]\n");
    resolved_has("scheduler.slurm.PriorityMaxAge: 1-0  # ");
    resolved_has("scheduler.slurm.qos[0].GrpJobs: UNLIMITED  # default\n");
    resolved_has("scheduler.slurm.partitions: one partition 'batch' over ALL nodes  # default\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_spec),
        cmocka_unit_test(scheduler_parameters),
        cmocka_unit_test(priority_and_preemption),
        cmocka_unit_test(partitions_and_qos),
        cmocka_unit_test(topology_and_people),
        cmocka_unit_test(blocks),
        cmocka_unit_test(resolved_words),
    };
    const int failed = cmocka_run_group_tests_name("scenario, slurm", tests, NULL, NULL);
    scenario_clear(&scenario);
    return failed;
}
