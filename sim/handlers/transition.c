/* transition.c - see transition.h. */
#include "handlers/transition.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/philox.h"
#include "handlers/contention.h"
#include "handlers/detail.h"
#include "handlers/span.h"
#include "handlers/timing.h"
#include "handlers/transition_parts.h"

void transition_note(struct run *run, enum note_kind kind, uint32_t live)
{
    if (kind == NOTE_NODES_CHANGED) run->reasons.sick_stale = true;
    run->policy->note(run->policy_memory, &run->view,
                      (struct note){ .kind = kind, .at_ns = run->now_ns, .live = live });
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
void transition_settle_restart(struct run *run, uint32_t live)
{
    struct live_job *job = &run->live.jobs[live];
    if (job->incident == ROW_NONE || job->state == LIVE_HUNG) return;
    const bool runs = job->state == LIVE_RUNNING;
    const int64_t work_ns = run->live.attempts[live].work_start_ns;
    const int64_t until_ns = runs && work_ns < run->now_ns ? work_ns : run->now_ns;
    const uint32_t gpus = runs ? books_asked_gpus(run, live) : demand_of_live(run, live)->gpus;
    struct incident *incident = &LOG_ITEMS(&run->result->incidents, struct incident)[job->incident];
    incident->restart_gpu_ns += (int128)gpus * (until_ns - job->stopped_ns);
    job->incident = ROW_NONE;
}

static void note_over(struct run *run, uint32_t live, enum job_end end)
{
    run->policy->note(
        run->policy_memory, &run->view,
        (struct note){
            .kind = NOTE_OVER, .at_ns = run->now_ns, .live = live, .end = (uint8_t)end });
}

/* Killed at its limit is an end too: leaving such jobs out would flatter (MODELS 6.3). What was cancelled, or failed
 * for good, was not completed: how long it would have taken is not known, but that it would have been longer. */
static void count_over(struct run *run, const struct live_job *job, bool completed)
{
    run->cohort_open--;
    if (completed) run->stats.done[job->size_class]++;
    if (job->first_start_ns == TIME_NEVER) jobstats_wait(&run->stats, job_time_of(run, job, true));
    jobstats_completion(&run->stats, job_time_of(run, job, !completed));
}

void transition_over(struct run *run, uint32_t live, enum job_end end, bool completed)
{
    struct live_job *job = &run->live.jobs[live];
    transition_settle_restart(run, live);
    run->result->jobs_end[end]++;
    if (job->in_cohort) count_over(run, job, completed);
    note_over(run, live, end);
    detail_job(run, live, end, NULL);
    waiting_end(&run->waiting, live);
    live_give(&run->live, live);
}

void transition_reject(struct run *run, uint32_t live, const char *reason)
{
    const struct live_job *job = &run->live.jobs[live];
    const struct jobs *jobs = run->plan->jobs;
    transition_settle_restart(run, live);
    run->result->jobs_end[END_REJECTED]++;
    if (job->in_cohort) {
        run->cohort_open--;
        run->stats.rejected[job->size_class]++;
        run->stats.unserved_gpu_ns += (int128)jobs->gpus[job->row] * jobs->duration_ns[job->row];
    }
    note_over(run, live, END_REJECTED);
    detail_job(run, live, END_REJECTED, reason);
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
    job->work_ns = run->scenario->resample == RESAMPLE_FILL
                       ? LIMIT_SPAN_S * NS_PER_S
                       : jobs->duration_ns[trace_row] - timing_contained_startup_ns(run, job);
    draw_profile(run, job);
    if (job->in_cohort) {
        run->cohort_open++;
        run->stats.cohort[job->size_class]++;
        run->stats.offered_gpu_ns += (int128)jobs->gpus[trace_row] * jobs->duration_ns[trace_row];
    }
    if (!demand_of_live(run, live)->ever) {
        transition_reject(run, live, reasons_never_fits(run, live));
        return;
    }
    const uint32_t rate_q30 = timing_plain_rate_q30(run, live);
    const int64_t limit_ns = timing_estimate_ns(run, live, rate_q30);
    if (job->in_cohort)
        run->stats.asked_gpu_ns +=
            (int128)demand_of_live(run, live)->held *
            time_add(timing_startup_ns(run, live), muldiv_ceil(job->work_ns, RATE_ONE, rate_q30));
    if (!waiting_add(&run->waiting, live, jobs->gpus[trace_row], limit_ns)) {
        run->out_of_memory = true;
        return;
    }
    if (run->fresh_serial == SERIAL_NONE) run->fresh_serial = job->serial;
    transition_note(run, NOTE_SUBMIT, live);
    reasons_waits(run, live);
}

void transition_drop(struct run *run, uint32_t live)
{
    waiting_start(&run->waiting, live, demand_of_live(run, live)->gpus);
    waiting_end(&run->waiting, live);
    transition_note(run, NOTE_DROP, live);
    transition_reject(run, live, "it did not fit at once");
}

/* ---- start ----------------------------------------------------------------------------------- */

static struct speed_place place_of(struct run *run, const struct decision *decision,
                                   const struct demand *demand, uint32_t held)
{
    uint32_t least = UINT32_MAX;
    struct span span = span_begin(run);
    for (uint32_t p = 0; p < decision->part_count; p++) {
        if (decision->parts[p].gpus < least) least = decision->parts[p].gpus;
        span_add(run, &span, decision->parts[p].node, decision->parts[p].gpus);
    }
    const bool idle = held > demand->gpus; /* it holds whole nodes and uses less */
    if (idle) least = demand->gpus / decision->part_count;
    struct speed_place place = { .servers = decision->part_count, .gpus_min = least ? least : 1 };
    span_into(run, &span, &place);
    if (idle) place.domain_gpus = place.gpus_min * place.domain_servers;
    span_nics(run, run->live.attempts[decision->live].first_grant,
              idle ? place.gpus_min : UINT32_MAX, &place);
    return place;
}

/* The mean size of the job's members when some are MIG instances. */
static uint32_t slice_units_of(const struct cluster *cluster, uint32_t first_grant)
{
    uint64_t units = 0, members = 0, slices = 0;
    for (uint32_t row = first_grant; row != GRANT_NONE; row = cluster->grants[row].next) {
        const struct grant *grant = &cluster->grants[row];
        const uint64_t whole = (uint64_t)bits_count(grant->mask);
        members += whole;
        units += grant->share_units > 0 ? grant->share_units : whole * UNITS_PER_GPU;
        slices += grant->slice_count > 0;
    }
    return slices > 0 ? (uint32_t)(units / members) : 0;
}

/* The same from all that a job holds, where several of its parts may be on one node. */
static struct speed_place place_of_grants(struct run *run, uint32_t first_grant)
{
    const struct cluster *cluster = &run->cluster;
    struct span span = span_begin(run);
    struct speed_place place = { .gpus_min = UINT32_MAX };
    for (uint32_t row = first_grant; row != GRANT_NONE; row = cluster->grants[row].next)
        run->node_gpus[cluster->grants[row].node] +=
            (uint16_t)bits_count(cluster->grants[row].mask);
    for (uint32_t row = first_grant; row != GRANT_NONE; row = cluster->grants[row].next) {
        const uint32_t node = cluster->grants[row].node, gpus = run->node_gpus[node];
        run->node_gpus[node] = 0;
        if (gpus == 0) continue; /* seen already, or cores only */
        span_add(run, &span, node, gpus);
        place.servers++;
        place.gpus += gpus;
        if (gpus < place.gpus_min) place.gpus_min = gpus;
    }
    if (place.servers == 0) return (struct speed_place){ .servers = 1, .gpus_min = 1 };
    span_into(run, &span, &place);
    span_nics(run, first_grant, UINT32_MAX, &place);
    place.slice_units = slice_units_of(cluster, first_grant);
    return place;
}

/* The next thing that happens to an attempt: its end, its limit, or its software fails. */
void transition_schedule(struct run *run, uint32_t live)
{
    const struct live_job *job = &run->live.jobs[live];
    const struct attempt *attempt = &run->live.attempts[live];
    int64_t at_ns = timing_end_ns(run, live);
    enum event_kind kind = EV_FINISH;
    if (run->scenario->kill_at_limit && attempt->expected_end_ns < at_ns &&
        run->plan->jobs->limit_ns[job->row] != JOB_NO_LIMIT) {
        at_ns = attempt->expected_end_ns; /* passed already when it hung meanwhile and goes on */
        if (at_ns < run->now_ns) at_ns = run->now_ns;
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

/* Takes the parts of a decision, behind what the job holds already. */
static bool claim_parts(struct run *run, const struct decision *decision)
{
    struct attempt *attempt = &run->live.attempts[decision->live];
    if (decision->part_count == 0) return true;
    const uint32_t first = cluster_claim(&run->cluster, decision->live, decision->parts,
                                         decision->part_count, demand_of_live(run, decision->live));
    if (first == GRANT_NONE) {
        run->out_of_memory = true;
        return false;
    }
    if (attempt->first_grant == GRANT_NONE) attempt->held = attempt->share_units = 0;
    for (uint32_t p = 0; p < decision->part_count; p++) {
        attempt->held += decision->parts[p].gpus;
        attempt->share_units += decision->parts[p].share_units;
    }
    uint32_t *at = &attempt->first_grant;
    while (*at != GRANT_NONE) at = &run->cluster.grants[*at].next;
    *at = first;
    return true;
}

void transition_claim(struct run *run, const struct decision *decision)
{
    const uint32_t live = decision->live;
    ASSERT(run->live.jobs[live].state == LIVE_WAITING);
    const bool holds = run->live.attempts[live].first_grant != GRANT_NONE;
    const int64_t was = holds ? books_held_units(run, live) : 0;
    if (!claim_parts(run, decision)) return;
    books_claim(run, live, books_held_units(run, live) - was);
}

/* Rate, shares and times of an attempt that begins now on what the job holds. */
static struct speed_query init_attempt(struct run *run, uint32_t live, struct speed_place place,
                                       uint32_t left_q30)
{
    const struct live_job *job = &run->live.jobs[live];
    struct attempt *attempt = &run->live.attempts[live];
    const struct speed_query query = timing_query(run, job, place, left_q30);
    const struct speed_answer speed = speed_of(run->speed, &query);
    attempt->start_ns = run->now_ns;
    attempt->work_start_ns = time_add(run->now_ns, timing_startup_ns(run, live));
    attempt->expected_end_ns =
        time_add(run->now_ns, timing_estimate_ns(run, live, speed.tempo.rate_q30));
    attempt->tempo = speed.tempo;
    attempt->broken = 0;
    run->live.cycles[live] = (struct cycle){ .fault_ns = TIME_NEVER,
                                             .tempo_ns = attempt->work_start_ns,
                                             .cycle_ns = speed.cycle_ns,
                                             .next_startup_ns = NEXT_STARTUP_USUAL,
                                             .first_past = PAST_NONE,
                                             .last_past = PAST_NONE,
                                             .left_q30 = left_q30 };
    return query;
}

/* What init_attempt has prepared. */
static void begin_attempt(struct run *run, uint32_t live, enum note_kind note,
                          const struct speed_query *query)
{
    struct live_job *job = &run->live.jobs[live];
    const struct attempt *attempt = &run->live.attempts[live];
    const struct running_entry entry = { attempt->expected_end_ns, live, attempt->held };
    if (!running_add(&run->running, entry)) {
        run->out_of_memory = true;
        return;
    }
    transition_note(run, note, live);
    books_start(run, live);
    job->state = LIVE_RUNNING;
    job->attempts++;
    transition_schedule(run, live);
    detail_allocation(run, live);
    detail_choice(run, live, query);
    contention_start(run, live, query);
}

void transition_start(struct run *run, const struct decision *decision)
{
    const uint32_t live = decision->live;
    struct live_job *job = &run->live.jobs[live];
    struct attempt *attempt = &run->live.attempts[live];
    const struct demand *demand = demand_of_live(run, live);
    ASSERT(job->state == LIVE_WAITING);
    const bool holds = attempt->first_grant != GRANT_NONE;
    if (holds) books_unclaim(run, live, books_held_units(run, live));
    if (!claim_parts(run, decision)) return;
    const struct speed_query query =
        init_attempt(run, live,
                     run->node_gpus ? place_of_grants(run, attempt->first_grant)
                                    : place_of(run, decision, demand, attempt->held),
                     0);
    waiting_start(&run->waiting, live, demand->gpus);
    begin_attempt(run, live, NOTE_START, &query);
    if (job->first_start_ns != TIME_NEVER) return;
    job->first_start_ns = run->now_ns;
    if (job->in_cohort) jobstats_wait(&run->stats, job_time_of(run, job, false));
}

void transition_go_on(struct run *run, uint32_t live, uint32_t left_q30)
{
    struct attempt *attempt = &run->live.attempts[live];
    const int64_t limit_ends_ns = attempt->expected_end_ns;
    const struct speed_query query =
        init_attempt(run, live, place_of_grants(run, attempt->first_grant), left_q30);
    attempt->expected_end_ns = limit_ends_ns;
    begin_attempt(run, live, NOTE_LOST_NODES, &query);
}

/* ---- end ------------------------------------------------------------------------------------- */

struct returned transition_give_back(struct run *run, uint32_t live)
{
    const struct attempt *attempt = &run->live.attempts[live];
    contention_leave(run, live);
    transition_note(run, NOTE_END, live);
    if (run->live.jobs[live].state != LIVE_WAITING) {
        const struct running_entry entry = { attempt->expected_end_ns, live, attempt->held };
        running_remove(&run->running, entry);
        agenda_unset(&run->agenda, live);
    }
    if (run->live.jobs[live].state == LIVE_SUSPENDED)
        cluster_forget_hosts(&run->cluster, attempt->first_grant);
    const struct returned returned = transition_release(run, live, attempt->first_grant);
    run->live.attempts[live].first_grant = GRANT_NONE;
    live_forget_past(&run->live, live);
    run->plan_needed = true;
    return returned;
}

void transition_finish(struct run *run, uint32_t live)
{
    ASSERT(run->live.jobs[live].state == LIVE_RUNNING);
    const int128 fix = books_finish(run, live);
    detail_attempt(run, live, ATTEMPT_FINISHED, run->now_ns, fix);
    const bool fixed = run->live.cycles[live].cycle_ns > 0;
    books_return_working(run, live, transition_give_back(run, live), fixed);
    transition_sequel(run, live, CLOSE_FINISHED, END_FINISHED);
}

void transition_kill_at_limit(struct run *run, uint32_t live)
{
    int64_t work_ns;
    const int64_t durable_ns = timing_durable_ns(run, live, &work_ns);
    books_lose(run, live, durable_ns);
    detail_attempt(run, live, ATTEMPT_KILLED_LIMIT, durable_ns, 0);
    books_return_lost(run, live, transition_give_back(run, live));
    transition_sequel(run, live, CLOSE_LIMIT, END_KILLED);
}

bool transition_sequel(struct run *run, uint32_t live, enum attempt_close how, enum job_end end)
{
    struct live_job *job = &run->live.jobs[live];
    const bool failed = how == CLOSE_NODE_FAIL || how == CLOSE_CRASH;
    const bool by_itself = how == CLOSE_FINISHED || how == CLOSE_LIMIT;
    struct sequel sequel = { .again = failed || how == CLOSE_REQUEUED,
                             .delay_ns = run->scenario->failures.requeue_delay_ns };
    if (run->policy->sequel)
        sequel = run->policy->sequel(run->policy_memory, &run->view, live, how);
    if (!sequel.again || job->attempts >= LIMIT_ATTEMPTS) {
        transition_over(run, live, end, by_itself);
        return false;
    }
    /* A run that ended by itself begins again from nothing. */
    if (by_itself)
        job->work_ns =
            run->plan->jobs->duration_ns[job->row] - timing_contained_startup_ns(run, job);
    transition_wait_again(run, live, sequel.delay_ns);
    return true;
}

void transition_wait_again(struct run *run, uint32_t live, int64_t delay_ns)
{
    if (delay_ns == 0) {
        transition_requeue(run, live);
        return;
    }
    run->live.jobs[live].state = LIVE_DELAYED;
    reasons_word(run, live, reasons_restart);
    agenda_set(&run->agenda, live, time_add(run->now_ns, delay_ns),
               agenda_rank(EV_REQUEUE, run->serial++));
}

void transition_requeue(struct run *run, uint32_t live)
{
    agenda_unset(&run->agenda, live);
    run->live.jobs[live].state = LIVE_WAITING;
    reasons_word(run, live, NULL);
    reasons_waits(run, live);
    waiting_return(&run->waiting, live, demand_of_live(run, live)->gpus,
                   timing_estimate_ns(run, live, timing_plain_rate_q30(run, live)));
    transition_note(run, NOTE_REQUEUE, live);
    run->plan_needed = true;
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
        transition_charge_hang(run, live, +1);
}

void transition_cut(struct run *run)
{
    for (uint32_t live = 0; live < run->live.count; live++) {
        const struct live_job *job = &run->live.jobs[live];
        if (job->state == LIVE_FREE) continue;
        transition_settle_restart(run, live);
        const bool holds =
            job->state == LIVE_RUNNING || job->state == LIVE_HUNG || job->state == LIVE_SUSPENDED;
        if (holds && job->state != LIVE_SUSPENDED) cut_attempt(run, live);
        const enum job_end end = holds ? END_RUNNING : END_QUEUED;
        run->result->jobs_end[end]++;
        if (job->in_cohort) {
            const struct job_time_of seen = job_time_of(run, job, true);
            if (job->first_start_ns == TIME_NEVER) jobstats_wait(&run->stats, seen);
            jobstats_completion(&run->stats, seen);
        }
        detail_job(run, live, end, NULL);
    }
}
