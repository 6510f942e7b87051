/* transition.c - see transition.h. */
#include "handlers/transition.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/philox.h"
#include "handlers/books.h"
#include "handlers/detail.h"
#include "handlers/on_event.h"
#include "handlers/timing.h"
#include "policy/place.h"

static void note(struct run *run, enum note_kind kind, uint32_t live)
{
    run->policy->note(run->policy_memory, &run->view, (struct note){ .kind = kind, .live = live });
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* The time since submission, seen to its end or censored. */
static struct job_time_of job_time_of(const struct run *run, const struct live_job *job,
                                      bool censored)
{
    return (struct job_time_of){ .size_class = job->size_class,
                                 .is_common = run->shared->is_common[job->request_class],
                                 .time = { run->now_ns - job->submit_ns, censored } };
}

/* What a kill cost until now: from it to the first new progress of the job, times its GPUs. Goes to
 * the incident; called when the job fails again or leaves, and when the run ends. */
static void settle_restart(struct run *run, uint32_t live)
{
    struct live_job *job = &run->live.jobs[live];
    if (job->incident == ROW_NONE || job->state == LIVE_HUNG) return;
    int64_t until_ns = run->now_ns;
    if (job->state == LIVE_RUNNING && run->live.attempts[live].work_start_ns < until_ns)
        until_ns = run->live.attempts[live].work_start_ns;
    struct incident *incident = &LOG_ITEMS(&run->result->incidents, struct incident)[job->incident];
    incident->restart_gpu_ns +=
        (int128)demand_of_live(run, live)->gpus * (until_ns - job->stopped_ns);
    job->incident = ROW_NONE;
}

static void job_over(struct run *run, uint32_t live, enum job_end end)
{
    struct live_job *job = &run->live.jobs[live];
    settle_restart(run, live);
    run->result->jobs_end[end]++;
    if (job->in_cohort) {
        run->cohort_open--;
        /* Killed at its limit is an end too: leaving such jobs out would flatter (MODELS 6.3). */
        run->stats.done[job->size_class]++;
        jobstats_completion(&run->stats, job_time_of(run, job, false));
    }
    detail_job(run, live, end);
    waiting_end(&run->waiting, live);
    live_give(&run->live, live);
}

static void reject(struct run *run, uint32_t live)
{
    const struct live_job *job = &run->live.jobs[live];
    const struct jobs *jobs = run->plan->jobs;
    settle_restart(run, live);
    run->result->jobs_end[END_REJECTED]++;
    if (job->in_cohort) {
        run->cohort_open--;
        run->stats.rejected[job->size_class]++;
        run->stats.unserved_gpu_ns += (int128)jobs->gpus[job->row] * jobs->duration_ns[job->row];
    }
    detail_job(run, live, END_REJECTED);
    live_give(&run->live, live);
}

/* The profile that the trace names, else one of the mix; and where in its spread the job lies. */
static void draw_profile(const struct run *run, struct live_job *job)
{
    const struct draw draw = stream_draw(run->key_profile, job->serial, 0);
    const uint8_t named =
        run->shared->profile_of_row ? run->shared->profile_of_row[job->row] : PROFILE_UNKNOWN;
    job->profile = named != PROFILE_UNKNOWN
                       ? named
                       : speed_profile(run->scenario, run->plan->jobs->gpus[job->row], draw.u1);
    job->kappa_row = (uint16_t)(draw.u2 * BETA_ROWS);
}

void transition_submit(struct run *run, uint32_t trace_row)
{
    const uint32_t live = live_take(&run->live);
    if (live == LIVE_NONE || !agenda_grow(&run->agenda, run->live.capacity)) {
        run->out_of_memory = true;
        return;
    }
    const struct jobs *jobs = run->plan->jobs;
    struct live_job *job = &run->live.jobs[live];
    job->submit_ns = run->now_ns;
    job->row = trace_row;
    job->serial = (uint32_t)run->result->jobs_submitted++;
    job->request_class = run->shared->requests.class_of_row[trace_row];
    job->incident = ROW_NONE;
    job->size_class = (uint8_t)class_of_gpus(jobs->gpus[trace_row]);
    job->in_cohort =
        run->now_ns >= run->result->window_start_ns && run->now_ns < run->result->window_end_ns;
    job->work_ns = jobs->duration_ns[trace_row] - timing_contained_startup_ns(run, job);
    draw_profile(run, job);
    if (job->in_cohort) {
        run->cohort_open++;
        run->stats.cohort[job->size_class]++;
        run->stats.offered_gpu_ns += (int128)jobs->gpus[trace_row] * jobs->duration_ns[trace_row];
    }
    if (!demand_of_live(run, live)->ever) {
        reject(run, live);
        return;
    }
    const uint32_t rate_q30 = timing_plain_rate_q30(run, live);
    const int64_t limit_ns = timing_estimate_ns(run, job, rate_q30);
    if (job->in_cohort)
        run->stats.asked_gpu_ns +=
            (int128)demand_of_live(run, live)->held *
            (timing_startup_ns(run, job) + muldiv_ceil(job->work_ns, RATE_ONE, rate_q30));
    if (!waiting_add(&run->waiting, live, jobs->gpus[trace_row], limit_ns)) {
        run->out_of_memory = true;
        return;
    }
    if (run->fresh_serial == SERIAL_NONE) run->fresh_serial = job->serial;
}

void transition_drop(struct run *run, uint32_t live)
{
    waiting_start(&run->waiting, live, demand_of_live(run, live)->gpus);
    waiting_end(&run->waiting, live);
    note(run, NOTE_DROP, live);
    reject(run, live);
}

/* ---- start ----------------------------------------------------------------------------------- */

static struct speed_place place_of(const struct run *run, const struct decision *decision,
                                   const struct demand *demand, uint32_t *held)
{
    uint32_t sum = 0, least = UINT32_MAX;
    bool spans_leaves = false;
    const uint32_t leaf = decision->parts[0].node / run->cluster.nodes_per_leaf;
    for (uint32_t p = 0; p < decision->part_count; p++) {
        sum += decision->parts[p].gpus;
        if (decision->parts[p].gpus < least) least = decision->parts[p].gpus;
        spans_leaves |= decision->parts[p].node / run->cluster.nodes_per_leaf != leaf;
    }
    *held = sum;
    if (sum > demand->gpus) least = demand->gpus / decision->part_count;
    return (struct speed_place){ .servers = decision->part_count,
                                 .gpus_min = least ? least : 1,
                                 .spans_leaves = spans_leaves };
}

/* The next thing that happens to an attempt: its end, its limit, or its software fails. */
static void schedule_attempt(struct run *run, uint32_t live)
{
    const struct live_job *job = &run->live.jobs[live];
    const struct attempt *attempt = &run->live.attempts[live];
    int64_t at_ns =
        time_add(attempt->work_start_ns, muldiv_ceil(job->work_ns, RATE_ONE, attempt->rate_q30));
    enum event_kind kind = EV_FINISH;
    if (run->scenario->kill_at_limit && attempt->expected_end_ns < at_ns &&
        run->plan->jobs->limit_ns[job->row] != JOB_NO_LIMIT) {
        at_ns = attempt->expected_end_ns;
        kind = EV_LIMIT;
    }
    const struct component_failures *software = &run->scenario->failures.component[COMPONENT_JOB];
    if (software->law != LAW_NONE && run->scenario->failures.scale > 0) {
        const double u = stream_uniform(run->key_crash, job->serial, job->attempts - 1);
        const int64_t life_ns =
            ns_from_s(faults_draw_s(software, run->scenario->failures.scale, u));
        const int64_t crash_ns = time_add(attempt->start_ns, life_ns);
        if (crash_ns < at_ns) {
            at_ns = crash_ns;
            kind = EV_CRASH;
        }
    }
    agenda_set(&run->agenda, live, at_ns, agenda_rank(kind, run->serial++));
}

void transition_start(struct run *run, const struct decision *decision)
{
    const uint32_t live = decision->live;
    struct live_job *job = &run->live.jobs[live];
    struct attempt *attempt = &run->live.attempts[live];
    const struct demand *demand = demand_of_live(run, live);
    ASSERT(job->state == LIVE_WAITING);
    const struct speed_place place = place_of(run, decision, demand, &attempt->held);
    const struct speed_answer speed = timing_speed(run, job, place);
    const int64_t startup_ns = timing_startup_ns(run, job);
    attempt->start_ns = run->now_ns;
    attempt->work_start_ns = time_add(run->now_ns, startup_ns);
    attempt->expected_end_ns = time_add(run->now_ns, timing_estimate_ns(run, job, speed.rate_q30));
    attempt->fault_ns = TIME_NEVER;
    attempt->rate_q30 = speed.rate_q30;
    attempt->share_intra = speed.intra;
    attempt->share_inter = speed.inter;
    attempt->share_checkpoint = speed.checkpoint;
    attempt->broken = 0;
    run->live.cycles[live].cycle_ns = speed.cycle_ns;

    attempt->first_grant =
        cluster_claim(&run->cluster, live, decision->parts, decision->part_count, demand);
    const struct running_entry entry = { attempt->expected_end_ns, live, attempt->held };
    if (attempt->first_grant == GRANT_NONE || !running_add(&run->running, entry)) {
        run->out_of_memory = true;
        return;
    }
    waiting_start(&run->waiting, live, demand->gpus);
    note(run, NOTE_START, live);
    books_start(run, live);
    if (job->first_start_ns == TIME_NEVER) {
        job->first_start_ns = run->now_ns;
        if (job->in_cohort) jobstats_wait(&run->stats, job_time_of(run, job, false));
    }
    job->state = LIVE_RUNNING;
    job->attempts++;
    schedule_attempt(run, live);
    detail_allocation(run, live);
}

/* ---- end ------------------------------------------------------------------------------------- */

/* The same where a node is broken or being emptied: its GPUs do not all become free. */
static struct returned give_back_sick(struct run *run, uint32_t live)
{
    struct cluster *cluster = &run->cluster;
    struct returned returned = { 0 };
    uint32_t sick = 0;
    for (uint32_t row = run->live.attempts[live].first_grant; row != GRANT_NONE;
         row = cluster->grants[row].next) {
        const struct grant *grant = &cluster->grants[row];
        if (!cluster->outs[grant->node] && !cluster->broken_mask[grant->node]) {
            returned.free += bits_count(grant->mask);
            continue;
        }
        const struct idle was = cluster_node_idle(cluster, grant->node);
        returned.free -= was.free;
        returned.draining -= was.draining;
        returned.down -= was.down;
        run->scratch_nodes[sick++] = grant->node;
    }
    cluster_release(cluster, run->live.attempts[live].first_grant, demand_of_live(run, live));
    for (uint32_t i = 0; i < sick; i++) {
        const struct idle is = cluster_node_idle(cluster, run->scratch_nodes[i]);
        returned.free += is.free;
        returned.draining += is.draining;
        returned.down += is.down;
    }
    for (uint32_t i = 0; i < sick; i++)
        if (cluster_node_empty(cluster, run->scratch_nodes[i]))
            on_node_emptied(run, run->scratch_nodes[i]);
    note(run, NOTE_NODES_CHANGED, live);
    return returned;
}

static bool all_healthy(const struct run *run, uint32_t live)
{
    for (uint32_t row = run->live.attempts[live].first_grant; row != GRANT_NONE;
         row = run->cluster.grants[row].next) {
        const uint32_t node = run->cluster.grants[row].node;
        if (run->cluster.outs[node] || run->cluster.broken_mask[node]) return false;
    }
    return true;
}

/* Gives the GPUs of an attempt back and says where they went. */
static struct returned give_back(struct run *run, uint32_t live)
{
    const struct attempt *attempt = &run->live.attempts[live];
    const struct running_entry entry = { attempt->expected_end_ns, live, attempt->held };
    struct returned returned = { .free = attempt->held };
    note(run, NOTE_END, live);
    running_remove(&run->running, entry);
    if (all_healthy(run, live))
        cluster_release(&run->cluster, attempt->first_grant, demand_of_live(run, live));
    else
        returned = give_back_sick(run, live);
    run->live.attempts[live].first_grant = GRANT_NONE;
    agenda_unset(&run->agenda, live);
    run->plan_needed = true;
    return returned;
}

void transition_finish(struct run *run, uint32_t live)
{
    ASSERT(run->live.jobs[live].state == LIVE_RUNNING);
    const int128 fix = books_finish(run, live);
    detail_attempt(run, live, ATTEMPT_FINISHED, run->now_ns, fix);
    const bool fixed = run->live.cycles[live].cycle_ns > 0;
    books_return_working(run, live, give_back(run, live), fixed);
    job_over(run, live, END_FINISHED);
}

void transition_kill_at_limit(struct run *run, uint32_t live)
{
    int64_t work_ns;
    const int64_t durable_ns = timing_durable_ns(run, live, &work_ns);
    books_lose(run, live, durable_ns);
    detail_attempt(run, live, ATTEMPT_KILLED_LIMIT, durable_ns, 0);
    books_return_lost(run, live, give_back(run, live));
    job_over(run, live, END_KILLED);
}

void transition_hang(struct run *run, uint32_t live, uint32_t incident_row, int64_t detection_ns)
{
    struct live_job *job = &run->live.jobs[live];
    struct attempt *attempt = &run->live.attempts[live];
    if (job->state != LIVE_RUNNING) return;
    settle_restart(run, live);
    int64_t work_ns;
    const int64_t durable_ns = timing_durable_ns(run, live, &work_ns);
    const int128 lost = books_lose(run, live, durable_ns);
    job->work_ns -= work_ns < job->work_ns ? work_ns : job->work_ns;
    job->state = LIVE_HUNG;
    job->incident = incident_row;
    attempt->fault_ns = run->now_ns;
    run->live.cycles[live].durable_ns = durable_ns;
    struct incident *incident = &LOG_ITEMS(&run->result->incidents, struct incident)[incident_row];
    incident->jobs_hit++;
    incident->gpus_stopped += demand_of_live(run, live)->gpus;
    incident->lost_gpu_ns += lost / UNITS_PER_GPU;
    agenda_set(&run->agenda, live, time_add(run->now_ns, detection_ns),
               agenda_rank(EV_DETECT, run->serial++));
}

/* GPUs of a hung attempt that wait for its detection, times how long it hangs: lost. Broken ones are
 * down, and those it did not ask for unused. */
static int128 hang_cost(const struct run *run, uint32_t live)
{
    const struct attempt *attempt = &run->live.attempts[live];
    const uint32_t asked = demand_of_live(run, live)->gpus;
    const uint32_t waiting = asked > attempt->broken ? asked - attempt->broken : 0;
    return (int128)waiting * (run->now_ns - attempt->fault_ns);
}

static void charge_hang(struct run *run, uint32_t live, int sign)
{
    const uint32_t row = run->live.jobs[live].incident;
    LOG_ITEMS(&run->result->incidents, struct incident)
    [row].lost_gpu_ns += sign * hang_cost(run, live);
}

void transition_refresh_broken(struct run *run, uint32_t live)
{
    struct attempt *attempt = &run->live.attempts[live];
    if (run->live.jobs[live].state != LIVE_HUNG) return;
    const uint32_t broken = cluster_broken_gpus(&run->cluster, attempt->first_grant);
    books_broken(run, live, (int64_t)broken - attempt->broken);
    /* The end of the hang is charged as if it had always been like now; what was before is added. */
    charge_hang(run, live, +1);
    attempt->broken = broken;
    charge_hang(run, live, -1);
}

void transition_detect(struct run *run, uint32_t live)
{
    struct live_job *job = &run->live.jobs[live];
    struct attempt *attempt = &run->live.attempts[live];
    ASSERT(job->state == LIVE_HUNG);
    charge_hang(run, live, +1);
    detail_attempt(run, live, ATTEMPT_FAILED, run->live.cycles[live].durable_ns, 0);
    struct returned returned = give_back(run, live);
    returned.down -= attempt->broken;
    books_return_lost(run, live, returned);
    attempt->broken = 0;
    job->stopped_ns = run->now_ns;
    if (job->attempts >= LIMIT_ATTEMPTS) {
        job_over(run, live, END_KILLED);
        return;
    }
    if (run->scenario->failures.requeue_delay_ns == 0) {
        transition_requeue(run, live);
        return;
    }
    job->state = LIVE_DELAYED;
    agenda_set(&run->agenda, live, time_add(run->now_ns, run->scenario->failures.requeue_delay_ns),
               agenda_rank(EV_REQUEUE, run->serial++));
}

void transition_requeue(struct run *run, uint32_t live)
{
    agenda_unset(&run->agenda, live);
    run->live.jobs[live].state = LIVE_WAITING;
    waiting_return(
        &run->waiting, live, demand_of_live(run, live)->gpus,
        timing_estimate_ns(run, &run->live.jobs[live], timing_plain_rate_q30(run, live)));
    run->plan_needed = true;
}

/* ---- nodes and causes ------------------------------------------------------------------------ */

void transition_node(struct run *run, uint32_t node,
                     void (*change)(struct cluster *cluster, uint32_t node))
{
    const struct idle was = cluster_node_idle(&run->cluster, node);
    change(&run->cluster, node);
    books_idle(run, was, cluster_node_idle(&run->cluster, node));
    note(run, NOTE_NODES_CHANGED, LIVE_NONE);
    run->plan_needed = true;
}

/* Looks for hosts of the classes that the policy passed over, so that the memo knows all that is
 * starved. Only traces with cores or memory need it. */
static void look_for_hosts(struct run *run)
{
    if (!run->scratch_parts) return;
    for (uint32_t h = 0; h < run->waiting.head_count; h++) {
        const struct waiting_head *head = &run->waiting.heads[h];
        if (head->gpus > run->cluster.index.free_gpus) break; /* heads stand in order of GPUs */
        if (run->demands[head->request_class].hosted)
            place_class(&run->view, head->request_class, run->scratch_parts);
    }
}

void transition_gpus(struct run *run, uint32_t node, uint32_t mask,
                     void (*change)(struct cluster *cluster, uint32_t node, uint32_t mask))
{
    const struct idle was = cluster_node_idle(&run->cluster, node);
    change(&run->cluster, node, mask);
    books_idle(run, was, cluster_node_idle(&run->cluster, node));
    note(run, NOTE_NODES_CHANGED, LIVE_NONE);
    run->plan_needed = true;
}

void transition_causes(struct run *run)
{
    if (run->waiting.jobs == 0 && !run->causes_set) return;
    look_for_hosts(run);
    const struct causes causes =
        causes_of(&run->cluster, &run->waiting, run->demands, run->view.blocked_at);
    books_causes(run, &causes);
    run->causes_set = causes.gpus[ACC_NO_DEMAND] != run->cluster.index.free_gpus;
}

/* ---- the end of the run ---------------------------------------------------------------------- */

static void cut_attempt(struct run *run, uint32_t live)
{
    int64_t work_ns;
    const bool working = run->live.jobs[live].state == LIVE_RUNNING;
    const int64_t durable_ns =
        working ? timing_durable_ns(run, live, &work_ns) : run->live.cycles[live].durable_ns;
    detail_attempt(run, live, ATTEMPT_CUT, durable_ns, 0);
    if (working)
        run->result->at_risk += books_cut(run, live, durable_ns);
    else
        charge_hang(run, live, +1);
}

void transition_cut(struct run *run)
{
    for (uint32_t live = 0; live < run->live.count; live++) {
        const struct live_job *job = &run->live.jobs[live];
        if (job->state == LIVE_FREE) continue;
        settle_restart(run, live);
        const bool holds = job->state == LIVE_RUNNING || job->state == LIVE_HUNG;
        if (holds) cut_attempt(run, live);
        const enum job_end end = holds ? END_RUNNING : END_QUEUED;
        run->result->jobs_end[end]++;
        if (job->in_cohort) {
            const struct job_time_of seen = job_time_of(run, job, true);
            if (job->first_start_ns == TIME_NEVER) jobstats_wait(&run->stats, seen);
            jobstats_completion(&run->stats, seen);
        }
        detail_job(run, live, end);
    }
}
