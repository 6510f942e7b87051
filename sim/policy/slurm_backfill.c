/* slurm_backfill.c - the backfill pass: lower jobs start now if they delay no reservation of a higher one.
 *
 * The steps are numbered as in SCHEDULING 2.3. A reservation takes whole nodes over whole slots, so a lower job passes
 * if its limit ends before each reservation on its nodes begins, or if it uses other nodes. */
#include "policy/slurm_state.h"

#include <string.h>

bool slurm_asks_always;

enum {
    TRIES_MOST = 10000
}; /* of one job: each moves on by a slot or more, so this is never reached in practice */

void slurm_backfill_begin(struct slurm *slurm, int64_t now_ns)
{
    slurm->sched_start_s = slurm_clock_s(slurm, now_ns);
    slots_begin(&slurm->slots, slurm->sched_start_s, slurm->spec->bf_window_ns / NS_PER_S);
    slurm->tested = 0;
    memset(slurm->tested_part, 0, slurm->spec->partition_count * sizeof *slurm->tested_part);
    memset(slurm->tested_user, 0, slurm->assoc.user_names * sizeof *slurm->tested_user);
    memset(slurm->tested_assoc, 0, slurm->assoc.count * sizeof *slurm->tested_assoc);
    slurm->cycle++;
    slurm_hopeless_forget(&slurm->hopeless);
    slurm->het_count = slurm->het_at = slurm->het_component = 0;
    slurm->changed = false;
    slurm_walk_begin(&slurm->walk, &slurm->queue);
}

bool slurm_backfill_init(struct slurm *slurm, struct arena *arena)
{
    slurm_hopeless_init(&slurm->hopeless, slurm->slots.steps_max, slurm->nodes.nodes);
    slurm->tested_part = ARENA_ARRAY(arena, uint32_t, slurm->spec->partition_count);
    slurm->tested_user = ARENA_ARRAY(arena, uint32_t, slurm->assoc.user_names);
    slurm->tested_assoc = ARENA_ARRAY(arena, uint32_t, slurm->assoc.count);
    return slurm->tested_part && slurm->tested_user && slurm->tested_assoc;
}

/* ---- step 1 ---------------------------------------------------------------------------------- */

/* One more job of this kind; whether it is one more than `most`, 0 = no bound. */
static bool one_too_many(uint32_t *tested, uint32_t most)
{
    return ++*tested > most && most > 0;
}

/* More jobs of its partition, user or association were looked at than a cycle may. */
static bool over_cycle(struct slurm *slurm, const struct policy_view *view,
                       const struct slurm_entry *entry)
{
    const struct slurm_spec *spec = slurm->spec;
    const struct slurm_owner owner = slurm_owner_of(slurm, view, entry->row);
    bool over = one_too_many(&slurm->tested_part[entry->partition], spec->bf_max_job_part);
    if (owner.user < slurm->assoc.user_names)
        over |= one_too_many(&slurm->tested_user[owner.user], spec->bf_max_job_user);
    if (owner.assoc < slurm->assoc.count)
        over |= one_too_many(&slurm->tested_assoc[owner.assoc], spec->bf_max_job_assoc);
    return over;
}

/* ---- step 3 ---------------------------------------------------------------------------------- */

/* Nodes of the partition that are up and free of reservations while the job would run. */
int64_t slurm_backfill_candidates(struct slurm *slurm, const struct policy_view *view,
                                  const struct slurm_entry *entry, int64_t at_s, int64_t limit_s)
{
    const uint64_t *nodes = slurm_partition_nodes(&slurm->nodes, entry->partition);
    for (uint32_t w = 0; w < slurm->nodes.words; w++)
        slurm->candidates[w] = nodes[w] & slurm->picture.usable[w];
    const char *reserved;
    const int64_t other_s = slurm_unreserved(slurm, view, entry, at_s, limit_s, &reserved);
    if (reserved) slurm->jobs[entry->live].reason = reserved;
    const int64_t later_s = slots_free(&slurm->slots, at_s, at_s + limit_s, slurm->candidates);
    return other_s < later_s ? other_s : later_s;
}

static bool enough(const struct slurm *slurm, const struct slurm_need *need)
{
    if (need->required && !slurm_set_within(need->required, slurm->candidates, slurm->nodes.words))
        return false;
    return slurm_set_count(slurm->candidates, slurm->nodes.words) >= need->nodes_min;
}

/* ---- step 8 ---------------------------------------------------------------------------------- */

struct span_s {
    int64_t from_s, to_s;
};

/* The slots that a reservation takes. Releases up to 24.05 rounded its end down, to one slot at least. */
static struct span_s slots_of(const struct slurm *slurm, int64_t start_s, int64_t limit_s)
{
    const int64_t step_s = slurm->slots.step_s;
    struct span_s span = { .from_s = start_s / step_s * step_s };
    if (slurm->spec->compat == COMPAT_22_05) {
        span.to_s = (start_s + limit_s) / step_s * step_s;
        if (span.to_s <= span.from_s) span.to_s = span.from_s + step_s;
    } else
        span.to_s = (start_s + limit_s + step_s - 1) / step_s * step_s;
    return span;
}

/* Jobs that only start now and keep nothing for later. */
static bool reserves(const struct slurm *slurm, const struct policy_view *view,
                     const struct slurm_entry *entry, int64_t now_ns)
{
    const int64_t age_ns = now_ns - view->live->jobs[entry->live].submit_ns;
    const uint32_t qos = slurm_owner_of(slurm, view, entry->row).qos;
    if (qos != SLURM_QOS_NONE && slurm->spec->qos[qos].no_reserve) return false;
    return entry->priority >= slurm->spec->bf_min_prio_reserve &&
           age_ns >= slurm->spec->bf_min_age_reserve_ns;
}

/* ---- one job --------------------------------------------------------------------------------- */

/* A job over a limit does not start, and reserves nothing. */
static bool within_limits(struct slurm *slurm, const struct policy_view *view,
                          const struct slurm_entry *entry, int64_t now_ns)
{
    uint32_t count;
    const struct part *parts = slurm_parts(slurm->chooser, &count);
    const char *over = slurm_books_over(slurm, view, entry->live, parts, count, now_ns);
    if (over) slurm->jobs[entry->live].reason = over;
    return !over;
}

/* What is known of the job that is looked at. */
struct attempt_at {
    const struct slurm_entry *entry;
    const struct slurm_need *need;
    int64_t now_ns, limit_s, at_s, later_s;
    int64_t least_s; /* no start sooner; 0 = not known                                           */
    uint32_t table; /* of when nodes are ready for it                                             */
    bool reserves;  /* it may                                                                    */
    bool
        counts; /* too few ready candidates move it on, and never make Slurm give it up             */
};

/* Enough ready nodes are all that it needs, nobody else hears of its steps (slurm_het.c, slurm_evict.c), and every node of
 * the partition is ready one day: where some never are, as those of other kinds, Slurm may give up the job in a step at
 * which they stand among its candidates. */
static bool counts_only(struct slurm *slurm, const struct policy_view *view,
                        const struct attempt_at *try)
{
    if (slurm_asks_always || !slurm_is_plain(slurm, try->need) ||
        slurm->spec->reservation_count > 0 || slurm->spec->preempt_type != PREEMPT_NONE ||
        slurm_het_of(view, try->entry->row) != JOB_NONE)
        return false;
    const uint64_t *nodes = slurm_partition_nodes(&slurm->nodes, try->entry->partition);
    for (uint32_t w = 0; w < slurm->nodes.words; w++)
        slurm->candidates[w] = nodes[w] & slurm->picture.usable[w];
    return slurm_vacancy_all(slurm, view, try->table, slurm->candidates);
}

static struct slurm_hopeless_at hopeless_at(const struct slurm *slurm, const struct attempt_at *try)
{
    return (struct slurm_hopeless_at){
        .kind = try->table * slurm->spec->partition_count + try->entry->partition,
        .step = slots_step(&slurm->slots, try->at_s),
    };
}

/* A start before enough nodes of the partition are ready cannot be, whatever is reserved: steps that end before are
 * passed over. */
static void skip_early(struct slurm *slurm, const struct policy_view *view, struct attempt_at *try)
{
    const int64_t ready_s =
        slurm_vacancy_at(slurm, view, try->table, slurm->candidates, try->need->nodes_min);
    if (ready_s == VACANT_NEVER) return;
    try->least_s = ready_s;
    if (ready_s > try->at_s) try->at_s = slots_last_freed(&slurm->slots, try->at_s, ready_s);
}

/* So are steps at which other jobs have shown that it cannot start (slurm_hopeless.h). */
static void skip_known(const struct slurm *slurm, struct attempt_at *try)
{
    const struct slots *slots = &slurm->slots;
    if (try->at_s >= slots->end_s) return;
    struct slurm_hopeless_at at = hopeless_at(slurm, try);
    const uint32_t first = at.step;
    for (;;) {
        const uint32_t until =
            slurm_hopeless_until(&slurm->hopeless, at, try->need->nodes_min, try->limit_s);
        const uint32_t freed = until > at.step ? slots_freed_by(slots, until) : 0;
        if (freed <= at.step) break;
        at.step = freed;
    }
    if (at.step > first) try->at_s = slots->begin_s + at.step * slots->step_s;
}

/* Too few of its candidates are ready when the step ends. What is said of a step holds from its beginning on. */
static void learn(struct slurm *slurm, const struct attempt_at *try, uint32_t ready)
{
    const struct slots *slots = &slurm->slots;
    if (try->at_s >= slots->end_s || try->later_s == SLOTS_NEVER) return;
    const bool from_its_begin =
        try->at_s == slurm->sched_start_s || (try->at_s - slots->begin_s) % slots->step_s == 0;
    if (!from_its_begin) return;
    struct slurm_hopeless_at at = hopeless_at(slurm, try);
    at.until = slots_step(slots, try->later_s);
    slurm->out_of_memory |= !slurm_hopeless_learn(&slurm->hopeless, at, ready, try->limit_s);
}

enum step { STEP_STARTS, STEP_ON, STEP_DONE };

/* Within the window, and its job may. */
static bool may_reserve(const struct slurm *slurm, const struct attempt_at *try, struct span_s span)
{
    const int64_t behind_s = slurm->sched_start_s + slurm->spec->bf_window_ns / NS_PER_S;
    return span.from_s <= behind_s && try->reserves;
}

/* A start that meets a reservation: the job goes on from there. */
static void meet(const struct slurm *slurm, struct attempt_at *try, int64_t start_s)
{
    try->at_s = start_s > try->at_s ? start_s : start_s + slurm->slots.step_s;
}

/* Steps 6 to 8 for a job that would start at start_s. */
static enum step place_at(struct slurm *slurm, const struct policy_view *view,
                          struct attempt_at *try, int64_t start_s, bool now)
{
    const struct slurm_entry *entry = try->entry;
    const uint32_t het = slurm_het_of(view, entry->row);
    const int64_t now_s = slurm->sched_start_s;
    struct slurm_job *job = &slurm->jobs[entry->live];
    if (het != JOB_NONE) start_s = slurm_het_start_s(slurm, view, entry->live, start_s);
    job->limit_s = try->limit_s;
    job->partition = entry->partition;
    if (start_s <= now_s && het != JOB_NONE) {
        slurm->out_of_memory |= !slurm_het_push(slurm, het);
        return STEP_DONE;
    }
    if (now && start_s <= now_s)
        return within_limits(slurm, view, entry, try->now_ns) ? STEP_STARTS : STEP_DONE;
    if (start_s > try->later_s) {
        try->at_s = try->later_s;
        return STEP_ON;
    }
    const struct span_s span = slots_of(slurm, start_s, try->limit_s);
    if (!may_reserve(slurm, try, span)) return STEP_DONE;
    const uint64_t *chosen = slurm_chosen(slurm->chooser);
    if (slots_overlap(&slurm->slots, span.from_s, span.to_s, chosen)) {
        meet(slurm, try, start_s);
        return STEP_ON;
    }
    slurm->out_of_memory |= !slots_reserve(&slurm->slots, span.from_s, span.to_s, chosen);
    return STEP_DONE;
}

/* Others are stopped for it, as in the main pass, which does not reach a job behind a blocked one of its partition. Those
 * that would be suspended are left: the main pass alone gives their cores away in the same second. */
static bool evicts(struct slurm *slurm, const struct policy_view *view,
                   const struct attempt_at *try, const struct slurm_how *how)
{
    const char *over;
    if (slurm->spec->gang || slurm->spec->preempt_mode == PREEMPT_SUSPEND) return false;
    if (slurm_het_of(view, try->entry->row) != JOB_NONE) return false;
    return slurm_evict_for(slurm, view, try->entry, try->need, how, try->now_ns, &over);
}

/* Whether a job that cannot start now would meet a reservation of a higher job wherever it goes: fewer of the candidates
 * that are ready by then are free than it needs. Then it goes on from its start, and where it would go nobody asks. */
static bool collides(struct slurm *slurm, const struct policy_view *view, struct attempt_at *try,
                     struct slurm_crowd *crowd)
{
    int64_t until_s;
    int64_t start_s = slurm_when_expected(slurm, view, crowd, slurm->sched_start_s, &until_s);
    if (start_s == SECONDS_NEVER) return false;
    if (start_s < try->at_s) start_s = try->at_s;
    const struct span_s span = slots_of(slurm, start_s, try->limit_s);
    if (start_s > try->later_s || !may_reserve(slurm, try, span)) return false;
    memcpy(slurm->chosen, slurm->candidates, slurm->nodes.words * sizeof *slurm->chosen);
    slots_take_out(&slurm->slots, span.from_s, span.to_s, slurm->chosen);
    if (slurm_vacancy_count(slurm, view, try->table, slurm->chosen, until_s, crowd->nodes_min) >=
        crowd->nodes_min)
        return false;
    meet(slurm, try, start_s);
    return true;
}

static void find_ready(struct slurm *slurm, const struct policy_view *view,
                       struct slurm_crowd *crowd)
{
    crowd->ready_s =
        slurm_vacancy_at(slurm, view, crowd->table, crowd->candidates, crowd->nodes_min);
}

/* Counts that move a job on without a question to the selector; false = it must be asked. */
static bool moves_on(struct slurm *slurm, const struct policy_view *view, struct attempt_at *try,
                     struct slurm_crowd *crowd)
{
    const bool ends = try->later_s < SLOTS_NEVER;
    if (crowd->nodes_min == 1) find_ready(slurm, view, crowd);
    if (try->counts && ends) {
        const uint32_t ready = slurm_crowd_ready(slurm, view, crowd, try->later_s);
        const bool few = ready < crowd->nodes_min;
        if (few) learn(slurm, try, ready);
        if (few || slurm_when_is_behind(slurm, view, crowd, slurm->sched_start_s, try->later_s)) {
            try->at_s = try->later_s;
            return true;
        }
    }
    if (crowd->nodes_min != 1) find_ready(slurm, view, crowd);
    if (crowd->ready_s == VACANT_NEVER || !slurm_is_plain(slurm, try->need)) return false;
    if (crowd->ready_s > try->later_s) {
        try->at_s = try->later_s;
        return true;
    }
    return try->counts && crowd->ready_s > 0 && collides(slurm, view, try, crowd);
}

/* Steps 3 to 8 from try->at_s on. */
static enum step step_from(struct slurm *slurm, const struct policy_view *view,
                           struct attempt_at *try)
{
    const struct slurm_need *need = try->need;
    const struct slurm_how how = { .candidates = slurm->candidates,
                                   .waited_ns =
                                       try->now_ns - view->live->jobs[try->entry->live].submit_ns,
                                   .backfill = true };
    struct slurm_crowd crowd = { .candidates = slurm->candidates,
                                 .table = try->table,
                                 .nodes_min = need->nodes_min,
                                 .least_s = try->least_s,
                                 .nodes_only = try->counts && slurm->nodes.sockets_most == 0 };
    if (try->counts) skip_known(slurm, try);
    try->later_s = slurm_backfill_candidates(slurm, view, try->entry, try->at_s, try->limit_s);
    const bool ends = try->later_s < SLOTS_NEVER;
    /* Where ready candidates are counted, that is enough. */
    if (!(try->counts && ends) && !enough(slurm, need)) {
        if (!ends) return STEP_DONE;
        try->at_s = try->later_s;
        return STEP_ON;
    }
    if (!slurm_asks_always && moves_on(slurm, view, try, &crowd)) return STEP_ON;
    struct slurm_when when = slurm_when(slurm, view, need, &how, slurm->sched_start_s, &crowd);
    if (!when.now && try->at_s == slurm->sched_start_s &&
        slurm->spec->preempt_type != PREEMPT_NONE) {
        if (evicts(slurm, view, try, &how)) return STEP_DONE;
        when = slurm_when(slurm, view, need, &how, slurm->sched_start_s, &crowd);
    }
    if (when.answer == SLURM_SWITCHES) slurm->time_matters = true;
    if (when.answer != SLURM_PLACED) return STEP_DONE;
    return place_at(slurm, view, try, when.start_s > try->at_s ? when.start_s : try->at_s,
                    when.now);
}

/* Steps 1 to 8; true when the job starts now, on slurm_parts. */
static bool try_entry(struct slurm *slurm, const struct policy_view *view,
                      const struct slurm_entry *entry, int64_t now_ns)
{
    const char *shut = slurm_partition_shut(slurm, view, entry);
    const char *over = shut ? shut : slurm_jobs_over(slurm, view, entry->row);
    if (over) {
        slurm->jobs[entry->live].reason = over;
        return false;
    }
    struct attempt_at try = { .entry = entry,
                              .need = slurm_need_of(slurm, view, entry),
                              .now_ns = now_ns,
                              .limit_s = slurm_limit_s(slurm, view, entry),
                              .at_s = slurm->sched_start_s,
                              .reserves = reserves(slurm, view, entry, now_ns) };
    if (!try.need) return false;
    try.table = slurm_vacancy_table_of(&slurm->vacancy, try.need);
    if (try.table == VACANT_NONE) {
        slurm->out_of_memory = true;
        return false;
    }
    try.counts = counts_only(slurm, view, &try);
    if (try.counts) skip_early(slurm, view, &try);
    enum step step = STEP_ON;
    for (int tries = 0; step == STEP_ON && tries < TRIES_MOST; tries++)
        step = step_from(slurm, view, &try);
    return step == STEP_STARTS;
}

bool slurm_backfill_next(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                         struct decision *decision)
{
    const struct slurm_entry *entry;
    while (slurm->tested < slurm->spec->bf_max_job_test &&
           (entry = slurm_walk_next(&slurm->walk, &slurm->queue))) {
        slurm->tested++;
        if (over_cycle(slurm, view, entry) || !try_entry(slurm, view, entry, now_ns)) continue;
        *decision = (struct decision){ .what = DECIDE_START, .live = entry->live };
        decision->parts = slurm_parts(slurm->chooser, &decision->part_count);
        return true;
    }
    return slurm_het_next(slurm, view, now_ns, decision);
}
