/* transition_faults.c - an attempt whose part failed: it hangs until that is noticed, then it is over; its job may go on with the
 * nodes that are left. */
#include "base/assert.h"
#include "handlers/contention.h"
#include "handlers/detail.h"
#include "handlers/kept.h"
#include "handlers/timing.h"
#include "handlers/transition.h"
#include "handlers/transition_parts.h"

/* Takes back what an attempt did since its last durable point; from now on its GPUs are lost time. */
static int128 lose_work(struct run *run, uint32_t live)
{
    struct live_job *job = &run->live.jobs[live];
    int64_t work_ns;
    const int64_t durable_ns = timing_durable_ns(run, live, &work_ns);
    const int128 lost = books_lose(run, live, durable_ns);
    job->work_ns -= work_ns < job->work_ns ? work_ns : job->work_ns;
    run->live.cycles[live].durable_ns = durable_ns;
    kept_rest(run, live, durable_ns);
    live_forget_past(&run->live, live);
    contention_leave(run, live);
    return lost;
}

/* Its last attempt was told when it was suspended: the hang is an attempt of its own, that did no work. */
static void hang_suspended(struct run *run, uint32_t live)
{
    struct attempt *attempt = &run->live.attempts[live];
    attempt->start_ns = attempt->work_start_ns = run->now_ns;
    run->live.cycles[live].durable_ns = run->now_ns;
    run->live.jobs[live].attempts++;
    reasons_word(run, live, NULL);
    detail_allocation(run, live);
}

void transition_hang(struct run *run, uint32_t live, uint32_t incident_row, int64_t detection_ns)
{
    struct live_job *job = &run->live.jobs[live];
    struct attempt *attempt = &run->live.attempts[live];
    if (job->state == LIVE_WAITING && attempt->first_grant != GRANT_NONE) {
        transition_drop_claims(run, live);
        return;
    }
    if (job->state != LIVE_RUNNING && job->state != LIVE_SUSPENDED) return;
    transition_settle_restart(run, live);
    int128 lost = 0;
    if (job->state == LIVE_RUNNING)
        lost = lose_work(run, live);
    else {
        cluster_forget_hosts(&run->cluster, attempt->first_grant);
        books_lose_suspended(run, live);
        hang_suspended(run, live);
    }
    job->state = LIVE_HUNG;
    job->incident = incident_row;
    run->live.cycles[live].fault_ns = run->now_ns;
    struct incident *incident = &LOG_ITEMS(&run->result->incidents, struct incident)[incident_row];
    incident->jobs_hit++;
    incident->gpus_stopped += books_asked_gpus(run, live);
    incident->lost_gpu_ns += lost / UNITS_PER_GPU;
    agenda_set(&run->agenda, live, time_add(run->now_ns, detection_ns),
               agenda_rank(EV_DETECT, run->serial++));
}

/* GPUs of a hung attempt that wait for its detection, times how long it hangs: lost. Broken ones are
 * down, and those it did not ask for unused. */
static int128 hang_cost(const struct run *run, uint32_t live)
{
    const struct attempt *attempt = &run->live.attempts[live];
    const uint32_t asked = books_asked_gpus(run, live);
    const uint32_t waiting = asked > attempt->broken ? asked - attempt->broken : 0;
    return (int128)waiting * (run->now_ns - run->live.cycles[live].fault_ns);
}

void transition_charge_hang(struct run *run, uint32_t live, int sign)
{
    const uint32_t row = run->live.jobs[live].incident;
    LOG_ITEMS(&run->result->incidents, struct incident)
    [row].lost_gpu_ns += sign * hang_cost(run, live);
}

void transition_refresh_broken(struct run *run, uint32_t live)
{
    struct attempt *attempt = &run->live.attempts[live];
    if (run->live.jobs[live].state != LIVE_HUNG) return;
    const struct holding broken = cluster_broken(&run->cluster, attempt->first_grant);
    books_broken(run, live, broken);
    /* The end of the hang is charged as if it had always been like now; what was before is added. */
    transition_charge_hang(run, live, +1);
    attempt->broken = broken.gpus;
    run->live.cycles[live].broken_share_units = broken.share_units;
    transition_charge_hang(run, live, -1);
}

/* ---- noticed --------------------------------------------------------------------------------- */

static bool is_lost(const struct cluster *cluster, const struct grant *grant)
{
    return cluster->downs[grant->node] || cluster->broken_mask[grant->node] & grant->mask;
}

/* How much of a kind a job holds: of GPUs in units; of a job without GPUs, cores. */
struct stake {
    int64_t units, cores_milli;
};

static struct stake stake_of(const struct cluster *cluster, uint32_t first_grant)
{
    const struct holding held = cluster_held(cluster, first_grant);
    struct stake stake = { .units = held.gpus * UNITS_PER_GPU + held.share_units };
    for (uint32_t row = first_grant; row != GRANT_NONE; row = cluster->grants[row].next)
        stake.cores_milli += cluster->grants[row].cores_milli;
    return stake;
}

static uint32_t part_left(const struct run *run, uint32_t live, struct stake was, struct stake is)
{
    const uint32_t left_q30 = run->live.cycles[live].left_q30;
    const int64_t whole = was.units > 0 ? was.units : was.cores_milli;
    const int64_t left = was.units > 0 ? is.units : is.cores_milli;
    if (whole == 0) return left_q30;
    const int64_t part_q30 = muldiv_floor(left, left_q30 ? left_q30 : RATE_ONE, whole);
    return part_q30 > 0 ? (uint32_t)part_q30 : 1;
}

/* Takes the grants on nodes that are lost out of a job's list; returns them. */
static uint32_t split_lost(struct run *run, uint32_t live)
{
    struct grant *grants = run->cluster.grants;
    uint32_t lost = GRANT_NONE, *last = &lost;
    for (uint32_t *at = &run->live.attempts[live].first_grant; *at != GRANT_NONE;) {
        const uint32_t row = *at;
        if (!is_lost(&run->cluster, &grants[row])) {
            at = &grants[row].next;
            continue;
        }
        *at = grants[row].next;
        grants[row].next = GRANT_NONE;
        *last = row;
        last = &grants[row].next;
    }
    return lost;
}

static bool has_node_left(const struct run *run, uint32_t live)
{
    const struct grant *grants = run->cluster.grants;
    for (uint32_t row = run->live.attempts[live].first_grant; row != GRANT_NONE;
         row = grants[row].next)
        if (!is_lost(&run->cluster, &grants[row])) return true;
    return false;
}

static bool goes_on(const struct run *run, uint32_t live, enum component component)
{
    const struct live_job *job = &run->live.jobs[live];
    return run->policy->goes_on && !job->cancelled && job->attempts < LIMIT_ATTEMPTS &&
           run->policy->goes_on(run->policy_memory, &run->view, live, component) &&
           has_node_left(run, live);
}

/* In the books the hung attempt gives everything back, and the next one takes what is kept. */
static void lose_nodes(struct run *run, uint32_t live)
{
    struct attempt *attempt = &run->live.attempts[live];
    struct cycle *cycle = &run->live.cycles[live];
    const struct stake was = stake_of(&run->cluster, attempt->first_grant);
    running_remove(&run->running,
                   (struct running_entry){ attempt->expected_end_ns, live, attempt->held });
    struct returned returned = transition_release(run, live, split_lost(run, live));
    const struct stake is = stake_of(&run->cluster, attempt->first_grant);
    returned.free += is.units;
    returned.down -= attempt->broken * UNITS_PER_GPU + cycle->broken_share_units;
    books_return_lost(run, live, returned);
    const struct holding held = cluster_held(&run->cluster, attempt->first_grant);
    attempt->held = held.gpus;
    attempt->share_units = held.share_units;
    run->live.jobs[live].stopped_ns = run->now_ns;
    transition_go_on(run, live, part_left(run, live, was, is));
    run->plan_needed = true;
}

void transition_detect(struct run *run, uint32_t live)
{
    struct live_job *job = &run->live.jobs[live];
    struct attempt *attempt = &run->live.attempts[live];
    ASSERT(job->state == LIVE_HUNG);
    const struct incident *incidents = LOG_ITEMS(&run->result->incidents, struct incident);
    const enum component component = incidents[job->incident].component;
    transition_charge_hang(run, live, +1);
    detail_attempt(run, live, ATTEMPT_FAILED, run->live.cycles[live].durable_ns, 0);
    if (goes_on(run, live, component)) {
        lose_nodes(run, live);
        return;
    }
    struct returned returned = transition_give_back(run, live);
    returned.down -= attempt->broken * UNITS_PER_GPU + run->live.cycles[live].broken_share_units;
    books_return_lost(run, live, returned);
    attempt->broken = 0;
    run->live.cycles[live].broken_share_units = 0;
    job->stopped_ns = run->now_ns;
    if (job->cancelled)
        transition_over(run, live, END_KILLED, false);
    else
        transition_sequel(run, live, component == COMPONENT_JOB ? CLOSE_CRASH : CLOSE_NODE_FAIL,
                          END_KILLED);
}
