/* test_slurm_storm.c - everything of the Slurm policy at once in the real engine: arrays, dependencies, holds, begin times,
 * preemption by QOS or partition, limits, reservations, power saving, exit codes that requeue, faults and users. No answer is
 * known; what must hold does, after every instant: the books agree with who holds what, no array is over its throttle, no QOS
 * over its limit, nobody starts before what he waits for, and every job ends but those that may wait for ever. */
#include "fixture.h"

#include "tests/near.h"
#include "tests/rows.h"

#include "books_probe.h"

#define S NS_PER_S
enum { JOBS = 120, NODES = 6, EVENTS = 12, TEXT_BYTES = 1 << 14 };

static struct slurm_partition partitions[2];
static struct slurm_qos qos[3];
static struct slurm_association associations[2];
static struct slurm_reservation reservation;

static const struct tres_limit unlimited = { LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET };

static void set_lists(uint64_t seed)
{
    static const char *const partition_names[] = { "low", "high" }, *const qos_names[] = {
        "normal", "prod", "scavenger"
    };
    for (uint32_t p = 0; p < 2; p++) {
        partitions[p] = (struct slurm_partition){ .nodes = "ALL",
                                                  .max_time_ns = TIME_NEVER,
                                                  .priority_tier = 1 + 9 * p,
                                                  .priority_job_factor = 1,
                                                  .is_default = p == 0,
                                                  .up = true,
                                                  .oversubscribe_force = true,
                                                  .preempt_mode = PREEMPT_UNSET };
        snprintf(partitions[p].name, sizeof partitions[p].name, "%s", partition_names[p]);
    }
    for (uint32_t q = 0; q < 3; q++) {
        qos[q] = (struct slurm_qos){ .priority = 10 * q,
                                     .preempt_mode = PREEMPT_UNSET,
                                     .grp = unlimited,
                                     .max_per_job = unlimited,
                                     .max_per_user = unlimited,
                                     .grp_run_mins = unlimited,
                                     .grp_jobs = LIMIT_UNSET,
                                     .max_jobs_per_user = LIMIT_UNSET };
        snprintf(qos[q].name, sizeof qos[q].name, "%s", qos_names[q]);
    }
    snprintf(qos[1].preempt, sizeof qos[1].preempt, "scavenger");
    qos[1].grp.gpus = 24;
    qos[2].grace_time_ns = (int64_t)(seed % 3) * 5 * S;
    for (uint32_t a = 0; a < 2; a++) {
        associations[a] = (struct slurm_association){ .fairshare = 1 + a,
                                                      .grp = unlimited,
                                                      .max_per_job = unlimited,
                                                      .grp_run_mins = unlimited,
                                                      .grp_jobs = LIMIT_UNSET,
                                                      .max_jobs = LIMIT_UNSET };
        snprintf(associations[a].account, sizeof associations[a].account, "acct%u", a);
    }
    reservation = (struct slurm_reservation){ .name = "night",
                                              .nodes = "lab-[0-1]",
                                              .users = "u0",
                                              .start_ns = 200 * S,
                                              .end_ns = 400 * S,
                                              .maint = seed % 2 };
}

static void set_site(struct slurm_spec *slurm, uint64_t seed)
{
    slurm_defaults(slurm);
    slurm->bf_interval_ns = slurm->sched_interval_ns = S;
    slurm->batch_sched_delay_ns = 0;
    slurm->requeue_delay_ns = 7 * S;
    slurm->multifactor = seed % 2;
    slurm->weight_age = 100;
    slurm->weight_fairshare = 1000;
    slurm->weight_qos = 500;
    slurm->calc_period_ns = 60 * S;
    slurm->preempt_type = (enum preempt_type)(seed / 2 % 3);
    slurm->preempt_mode = seed / 6 % 3 == 0   ? PREEMPT_CANCEL
                          : seed / 6 % 3 == 1 ? PREEMPT_REQUEUE
                                              : PREEMPT_SUSPEND;
    slurm->kill_invalid_depend = seed % 5 == 0;
    slurm->enforce_limits = true;
    if (seed % 4 == 0) {
        slurm->suspend_time_ns = 120 * S;
        slurm->suspend_ns = 10 * S;
        slurm->resume_ns = 40 * S;
    }
    snprintf(slurm->requeue_exit, sizeof slurm->requeue_exit, "42");
    snprintf(slurm->requeue_exit_hold, sizeof slurm->requeue_exit_hold, "43");
    set_lists(seed);
    slurm->partitions = partitions;
    slurm->partition_count = 2;
    slurm->qos = qos;
    slurm->qos_count = 3;
    slurm->associations = associations;
    slurm->association_count = 2;
    slurm->reservations = &reservation;
    slurm->reservation_count = seed % 3 == 0;
}

static uint32_t put(struct jobs *jobs, const char *text)
{
    const uint32_t at = (uint32_t)jobs->text_bytes;
    if (!*text) return TEXT_NONE;
    jobs->text_bytes += 1 + (uint64_t)sprintf(jobs->text + at, "%s", text);
    return at;
}

static void set_jobs(struct fixture *fixture, uint64_t seed)
{
    static const char *const qos_of[] = { "", "prod", "scavenger" };
    static const char *const types[] = { "after", "afterok", "afterany", "afternotok" };
    struct jobs *jobs = &fixture->jobs;
    jobs->text = ARENA_ARRAY(jobs->arena, char, TEXT_BYTES);
    jobs->words = ARENA_ARRAY(jobs->arena, struct job_words, JOBS);
    jobs->cores = ARENA_ARRAY(jobs->arena, uint32_t, JOBS);
    double at_s = 0;
    uint32_t array_left = 0, array_first = 0, array_limit = 0;
    for (uint32_t row = 0; row < JOBS; row++) {
        const uint64_t draw = 50 * row;
        char text[64] = "";
        const bool task = array_left > 0;
        if (!task) at_s += any_count(seed, draw, 0, 20);
        const double run_s = any_count(seed, draw + 1, 1, 120);
        const uint32_t gpus = any(seed, draw + 2) < 0.7 ? any_count(seed, draw + 3, 1, 8)
                                                        : 8 * any_count(seed, draw + 3, 1, 3);
        fixture_job(fixture, row, row == 0 ? 0 : at_s, run_s,
                    any(seed, draw + 4) < 0.5 ? 2 * run_s : 0, gpus);
        jobs->cores[row] = gpus * any_count(seed, draw + 22, 1, 12);
        struct job_words *words = &jobs->words[row];
        *words = (struct job_words){ .array_first_row = JOB_NONE,
                                     .het_first_row = JOB_NONE,
                                     .requeue = -1 };
        if (!task && row + 10 < JOBS && any(seed, draw + 5) < 0.1) {
            array_first = row;
            array_left = any_count(seed, draw + 6, 2, 9);
            array_limit = any_count(seed, draw + 7, 0, 3);
        }
        if (array_left > 0) {
            words->array_first_row = array_first;
            words->array_index = row - array_first;
            words->array_limit = array_limit;
            array_left--;
            snprintf(text, sizeof text, "j%u_%u", array_first, row - array_first);
        } else
            snprintf(text, sizeof text, "j%u", row);
        jobs->id[row] = put(jobs, text);
        snprintf(text, sizeof text, "n%u", any_count(seed, draw + 8, 0, 9));
        words->name = put(jobs, text);
        snprintf(text, sizeof text, "u%u", any_count(seed, draw + 9, 0, 2));
        words->user = put(jobs, text);
        snprintf(text, sizeof text, "acct%u", any_count(seed, draw + 10, 0, 1));
        words->account = put(jobs, text);
        words->qos = put(jobs, qos_of[any_count(seed, draw + 11, 0, 2)]);
        words->partition = put(jobs, any(seed, draw + 12) < 0.3   ? "high"
                                     : any(seed, draw + 12) < 0.4 ? "low,high"
                                                                  : "");
        if (any(seed, draw + 13) < 0.2 && row > 0 && !task &&
            jobs->words[0].array_first_row == JOB_NONE)
            snprintf(text, sizeof text, "%s:%s", types[any_count(seed, draw + 14, 0, 3)],
                     jobs->text + jobs->id[any_count(seed, draw + 15, 0, row - 1)]);
        else
            snprintf(text, sizeof text, "%s", any(seed, draw + 13) > 0.93 ? "singleton" : "");
        words->dependency = put(jobs, text);
        if (any(seed, draw + 16) < 0.05) words->begin_ns = any_count(seed, draw + 17, 1, 90) * S;
        words->hold = any(seed, draw + 18) < 0.04;
        words->no_kill = any(seed, draw + 23) < 0.3;
        words->exit_code =
            any(seed, draw + 19) < 0.1 ? (int32_t)any_count(seed, draw + 20, 41, 43) : 0;
        if (any(seed, draw + 21) < 0.1) words->requeue = 0;
    }
}

static void set_events(struct user_event events[EVENTS], uint64_t seed)
{
    static const enum user_action actions[] = { ACTION_SCANCEL,      ACTION_REQUEUE,
                                                ACTION_HOLD,         ACTION_RELEASE,
                                                ACTION_REQUEUE_HOLD, ACTION_NODE_DOWN,
                                                ACTION_DRAIN };
    int64_t at_ns = 0;
    for (uint32_t e = 0; e < EVENTS; e++) {
        at_ns += any_count(seed, 90000 + 5 * e, 1, 90) * S;
        const uint32_t which = any_count(seed, 90001 + 5 * e, 0, 6);
        events[e] = (struct user_event){ .at_ns = at_ns, .action = actions[which] };
        if (which < 5)
            snprintf(events[e].target, sizeof events[e].target, "n%u",
                     any_count(seed, 90002 + 5 * e, 0, 9));
        else
            snprintf(events[e].target, sizeof events[e].target, "lab-%u",
                     any_count(seed, 90002 + 5 * e, 0, NODES - 1));
        if (which < 5 || e + 1 == EVENTS) continue;
        events[e + 1] = events[e]; /* what went down comes back */
        events[++e].at_ns = at_ns += 40 * S;
        events[e].action = ACTION_RESUME;
    }
}

/* After each instant. */
static void check_rules(const struct run *run)
{
    books_probe(run);
    const struct jobs *jobs = run->plan->jobs;
    uint32_t running[JOBS] = { 0 }, prod_gpus = 0;
    for (uint32_t live = 0; live < run->live.count; live++) {
        const struct live_job *job = &run->live.jobs[live];
        if (job->state != LIVE_RUNNING && job->state != LIVE_SUSPENDED && job->state != LIVE_HUNG)
            continue;
        const struct job_words *words = &jobs->words[job->row];
        if (words->array_limit > 0) {
            running[words->array_first_row]++;
            assert_in_range(running[words->array_first_row], 1, words->array_limit);
        }
        if (!strcmp(jobs->text + words->qos, "prod")) prod_gpus += run->live.attempts[live].held;
        assert_true(run->live.attempts[live].start_ns >= job->submit_ns + words->begin_ns);
    }
    assert_in_range(prod_gpus, 0, 24);
}

static void storm(void **state)
{
    const uint64_t seed = rows_number(state);
    struct fixture fixture;
    struct replica_result result;
    struct user_event events[EVENTS];
    fixture_init(&fixture, JOBS);
    struct scenario *scenario = &fixture.scenario;
    snprintf(scenario->detail, sizeof scenario->detail, "all");
    fixture_layout(&fixture, "lab", NODES, 8);
    scenario->seed = seed;
    scenario->kind = KIND_SLURM;
    scenario->failures.restart_ns = 0;
    scenario->failures.detection_ns = 3 * S;
    if (seed % 3 == 1) { /* faults never end: the list is played in a circle for an hour */
        scenario->horizon_ns = scenario->curve_bin_ns = 3600 * S;
        scenario->failures.component[COMPONENT_SERVER] = (struct component_failures){
            .law = LAW_EXPONENTIAL, .mean_s = 3000, .repair_median_s = 30, .repair_p95_s = 50
        };
        scenario->failures.component[COMPONENT_JOB] =
            (struct component_failures){ .law = LAW_EXPONENTIAL, .mean_s = 2000 };
    }
    scenario->kill_at_limit = seed % 2;
    set_site(&scenario->slurm, seed);
    scenario->slurm.slurmd_timeout_ns = 20 * S;
    set_jobs(&fixture, seed);
    set_events(events, seed);
    scenario->events = events;
    scenario->event_count = EVENTS;
    fixture_ready(&fixture);
    run_probe = check_rules;
    const enum status status = fixture_run(&fixture, 0, 0, &result);
    run_probe = NULL;
    assert_true(status == STATUS_OK ||
                status == STATUS_LIMIT); /* jobs that wait for ever leave it unfinished */
    assert_true(result.closure_error == 0);
    replica_result_clear(&result);
    fixture_clear(&fixture);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uint64_t seed = 1; seed <= 150; seed++)
        rows_add(&rows, storm, (void *)(uintptr_t)seed, "storm %u", (unsigned)seed);
    return rows_run("slurm_storm", &rows);
}
