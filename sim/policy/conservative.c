/* conservative.c - conservative backfilling: every waiting job has a place in a plan, and may only move
 * to an earlier one.
 *
 * The rule. A new job is placed in the plan by first fit and starts if that is now. When a job has ended,
 * every waiting job in turn gives its place up and is placed again at once, while the places of the later
 * ones still stand. A place names nodes and a number of GPUs on each, the lowest-numbered nodes that
 * are free throughout; a job that starts is put by the scenario's placement among the nodes that are
 * free throughout its time. On nodes of one GPU below one leaf that is the same.
 * Source: Mu'alem and Feitelson 2001; the form of batsched's conservative_bf (oracles/sched, cons_set).
 *
 * What is not done again. Between two looks at a job, places are taken (never a reason to move) and
 * given back. A job can start earlier, or find lower nodes for the same start, only if its new time
 * overlaps a time in which something was given back since its last look. So every gift is logged by
 * its time; a job whose planned time lies before and behind all of them stays, one whose start is
 * behind them is only tried where they are, and then only if the counts of free GPUs allow a start.
 *
 * Without a waiting job there is no plan: running jobs only give GPUs back, so what is free now is
 * free throughout. The plan is built, from the running jobs, for the first job that has to wait, and
 * again when nodes fail or return, or a job that was killed waits again: then all places are taken anew in
 * order of the queue.
 *
 * A job that runs past its estimate is expected to run as long again as it has run so far. Leaves out:
 * cores and memory at a planned start (they are looked at when it comes); jobs without a GPU or with a
 * part of one, and placements other than pack and spread (campaign/plan_orders.h refuses them).
 * Tests: test_conservative.c, oracle_sched.c */
#include "base/assert.h"
#include "base/bits.h"
#include "policy/place.h"
#include "policy/plan_queue.h"
#include "policy/policy.h"
#include "policy/timetable.h"
#include "policy/what_if.h"

static const int64_t OVERRUN_LEAST_NS =
    1000000000; /* a job without an estimate still ends some time */

struct conservative {
    struct timetable plan;
    struct plan_queue queue;
    struct what_if what_if;
    uint64_t *loaded;       /* [plan.row_words] what what_if has free                             */
    struct part *parts;     /* [nodes]                                                            */
    bool planned;           /* the plan stands                                                    */
    bool stale;             /* ... but must be built anew                                         */
    bool ended;             /* a job has ended since the last pass                                */
    bool open;              /* a pass has begun                                                   */
    bool lowest_is_placing; /* the scenario's placement is the lowest nodes                       */
};

static bool conservative_init(void *memory, const struct policy_view *view, struct arena *arena)
{
    struct conservative *self = memory;
    const struct cluster *cluster = view->cluster;
    self->parts = ARENA_ARRAY(arena, struct part, cluster->nodes);
    self->lowest_is_placing =
        cluster->gpus_per_node == 1 && cluster->leaves == 1 && view->placement <= PLACE_SPREAD;
    if (!self->parts || !plan_queue_init(&self->queue, arena) ||
        !timetable_init(&self->plan, cluster->nodes, cluster->gpus_per_node, arena))
        return false;
    self->loaded = ARENA_ARRAY(arena, uint64_t, self->plan.row_words);
    return self->loaded && what_if_init(&self->what_if, cluster, arena);
}

/* ---- running jobs in the plan ----------------------------------------------------------------- */

/* Parts of a running job that it will give back, into self->parts. A node that is out takes no new
 * jobs; what returns there is not planned with. */
static uint32_t parts_of_running(struct conservative *self, const struct policy_view *view,
                                 uint32_t live)
{
    const struct cluster *cluster = view->cluster;
    uint32_t count = 0;
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = cluster->grants[row].next) {
        const struct grant *grant = &cluster->grants[row];
        const uint32_t mask = grant->mask & ~cluster->broken_mask[grant->node];
        if (cluster->outs[grant->node] || grant->share_units || !mask) continue;
        self->parts[count++] =
            (struct part){ .node = grant->node, .gpus = (uint32_t)bits_count(mask) };
    }
    return count;
}

/* A plan without a place: running jobs as they are expected to end. Those that run past their estimate
 * get another end, which the list of running jobs does not know. */
static void plan_running(struct conservative *self, const struct policy_view *view, int64_t now_ns)
{
    timetable_reset(&self->plan, view->cluster, now_ns);
    struct running_place place = { 0 };
    const struct running_entry *entry;
    while ((entry = running_at(view->running, place)) && entry->expected_end_ns <= now_ns) {
        struct planned *job = &self->queue.jobs[entry->live];
        if (job->end_ns <= now_ns) {
            const int64_t ran_ns = now_ns - view->live->attempts[entry->live].start_ns;
            job->end_ns = time_add(now_ns, ran_ns > OVERRUN_LEAST_NS ? ran_ns : OVERRUN_LEAST_NS);
        }
        plan_queue_add_later(&self->queue, entry->live);
        place = running_next(view->running, place);
    }
}

/* Cuts the plan at the next end behind its last slice: of running jobs, and of those in later. */
static bool extend(struct conservative *self, const struct policy_view *view)
{
    struct timetable *plan = &self->plan;
    const int64_t last_ns = plan->begin_ns[plan->count - 1];
    struct running_place place = running_behind(view->running, last_ns);
    const struct running_entry *entry = running_at(view->running, place);
    const struct running_entry *other = plan_queue_later(&self->queue);
    if (!entry && !other) return false;
    int64_t end_ns = entry ? entry->expected_end_ns : INT64_MAX;
    if (other && other->expected_end_ns < end_ns) end_ns = other->expected_end_ns;
    if (end_ns == INT64_MAX) return false;
    while (entry && entry->expected_end_ns == end_ns) {
        const uint32_t count = parts_of_running(self, view, entry->live);
        timetable_append_end(plan, end_ns, self->parts, count);
        place = running_next(view->running, place);
        entry = running_at(view->running, place);
    }
    while ((other = plan_queue_later(&self->queue)) && other->expected_end_ns == end_ns) {
        const struct planned *job = &self->queue.jobs[other->live];
        const uint32_t count =
            job->is_placed ? job->part_count : parts_of_running(self, view, other->live);
        timetable_append_end(plan, end_ns, job->is_placed ? job->parts : self->parts, count);
        plan_queue_drop_later(&self->queue, other->live);
    }
    return !plan->out_of_memory;
}

/* First fit in the whole plan. */
static bool find(struct conservative *self, const struct policy_view *view,
                 const struct demand *demand, int64_t length_ns, uint32_t from, int64_t before_ns,
                 uint32_t *slice)
{
    struct timetable *plan = &self->plan;
    while (!timetable_find(plan, demand, length_ns, from, before_ns, slice)) {
        from = plan->count;
        if (!timetable_is_beyond(plan, before_ns) || !extend(self, view)) return false;
    }
    return true;
}

/* The place of a waiting job is held in the plan, or no longer. */
static void hold_place(struct conservative *self, uint32_t live)
{
    const struct planned *job = &self->queue.jobs[live];
    timetable_hold(&self->plan, job->start_ns, job->end_ns, job->parts, job->part_count);
    if (timetable_is_beyond(&self->plan, job->end_ns)) plan_queue_add_later(&self->queue, live);
}

static void give_place(struct conservative *self, uint32_t live)
{
    const struct planned *job = &self->queue.jobs[live];
    timetable_give(&self->plan, job->start_ns, job->end_ns, job->parts, job->part_count);
    plan_queue_drop_later(&self->queue, live);
}

/* Whether a running job is still there when the plan has it gone. */
static bool overran(const struct conservative *self, const struct policy_view *view, int64_t now_ns)
{
    struct running_place place = { 0 };
    const struct running_entry *entry;
    while ((entry = running_at(view->running, place)) && entry->expected_end_ns <= now_ns) {
        if (self->queue.jobs[entry->live].end_ns <= now_ns) return true;
        place = running_next(view->running, place);
    }
    return false;
}

/* Now is now_ns. A place that nobody came to take, because a job ran past its estimate, ends too. */
static void advance(struct conservative *self, const struct policy_view *view, int64_t now_ns)
{
    const struct running_entry *entry;
    while ((entry = plan_queue_later(&self->queue)) && entry->expected_end_ns <= now_ns)
        if (!extend(self, view)) return;
    timetable_advance(&self->plan, now_ns);
}

static bool is_out_of_memory(struct conservative *self, const struct policy_view *view)
{
    const bool out = !plan_queue_grow(&self->queue, view->live->capacity) ||
                     self->queue.out_of_memory || self->plan.out_of_memory;
    if (out) *view->out_of_memory = true;
    return out;
}

/* ---- notes ------------------------------------------------------------------------------------ */

static void on_start(struct conservative *self, const struct policy_view *view, uint32_t live)
{
    const struct attempt *attempt = &view->live->attempts[live];
    struct planned *job = &self->queue.jobs[live];
    const int64_t planned_end_ns = job->end_ns;
    job->end_ns = attempt->expected_end_ns;
    if (!self->planned || self->stale) return;
    /* On these nodes it may be slower than it was planned: then it is in somebody's way. */
    if (attempt->expected_end_ns > planned_end_ns ||
        attempt->expected_end_ns <= attempt->start_ns) {
        self->stale = true;
        return;
    }
    const uint32_t count = parts_of_running(self, view, live);
    timetable_hold(&self->plan, attempt->start_ns, job->end_ns, self->parts, count);
}

static void on_end(struct conservative *self, const struct policy_view *view, uint32_t live)
{
    self->ended = true;
    if (!self->planned || self->stale) return;
    const int64_t end_ns = self->queue.jobs[live].end_ns;
    const uint32_t count = parts_of_running(self, view, live);
    timetable_give(&self->plan, INT64_MIN, end_ns, self->parts, count);
    plan_queue_drop_later(&self->queue, live);
    plan_queue_log(&self->queue, INT64_MIN, end_ns);
}

static void conservative_note(void *memory, const struct policy_view *view, struct note note)
{
    struct conservative *self = memory;
    if (is_out_of_memory(self, view)) return;
    if (note.kind == NOTE_START)
        on_start(self, view, note.live);
    else if (note.kind == NOTE_END)
        on_end(self, view, note.live);
    else if (note.kind == NOTE_OVER || note.kind == NOTE_DROP)
        self->stale |= plan_queue_lists(&self->queue, note.live);
    else if (note.kind != NOTE_SUBMIT)
        self->stale = true;
}

/* ---- the pass --------------------------------------------------------------------------------- */

static void conservative_clear(void *memory)
{
    struct conservative *self = memory;
    plan_queue_clear(&self->queue);
}

static void conservative_begin(void *memory)
{
    struct conservative *self = memory;
    self->open = false;
}

/* Who is to be looked at in this pass: all when something has ended, else the new ones. */
static void open_pass(struct conservative *self, const struct policy_view *view, int64_t now_ns)
{
    self->open = true;
    if (self->planned) {
        self->stale |= overran(self, view, now_ns);
        if (!self->stale) advance(self, view, now_ns);
    }
    if (!plan_queue_gather(&self->queue, view->waiting, self->stale)) self->stale = true;
    if (self->stale) {
        plan_queue_forget(&self->queue);
        self->planned = false;
        self->stale = false;
    }
    plan_queue_walk(&self->queue, self->ended || !self->planned);
    self->ended = false;
}

static void close_pass(struct conservative *self)
{
    plan_queue_close(&self->queue);
    if (self->queue.count > 0) return;
    self->planned = false;
    plan_queue_forget_later(&self->queue);
}

/* What the plan leaves free throughout, as a cluster. */
static void load_what_if(struct conservative *self, const struct policy_view *view)
{
    const struct timetable *plan = &self->plan;
    const bool masks_matter = view->placement > PLACE_SPREAD;
    what_if_refresh(&self->what_if, view->cluster);
    const uint32_t fields = 64 / plan->field_bits;
    for (uint32_t w = 0; w < plan->row_words; w++) {
        if (plan->common[w] == self->loaded[w] && !masks_matter) continue;
        self->loaded[w] = plan->common[w];
        for (uint32_t node = w * fields; node < (w + 1) * fields && node < plan->nodes; node++)
            what_if_set(&self->what_if, node, timetable_free(plan, plan->common, node),
                        view->cluster->free_mask[node]);
    }
}

/* The nodes of a job that can start now, by the scenario's placement; 0 when no host has the cores or
 * the memory. */
static uint32_t parts_now(struct conservative *self, const struct policy_view *view,
                          const struct demand *demand)
{
    const struct timetable *plan = &self->plan;
    if (self->lowest_is_placing && !demand->hosted)
        return timetable_choose(plan, demand, self->parts);
    load_what_if(self, view);
    return place_find(&self->what_if.cluster, demand, view->placement, self->parts);
}

/* First fit of a job that holds no place, starting before before_ns. True: it starts now, with the parts
 * in self->parts; else it has a place, or none when it found none. */
static bool first_fit(struct conservative *self, const struct policy_view *view, uint32_t live,
                      int64_t length_ns, int64_t before_ns, uint32_t *part_count)
{
    const struct demand *demand = &view->demands[view->live->jobs[live].request_class];
    struct planned *job = &self->queue.jobs[live];
    uint32_t slice;
    if (!find(self, view, demand, length_ns, 0, before_ns, &slice)) return false;
    if (slice == 0) {
        *part_count = parts_now(self, view, demand);
        job->end_ns = time_add(self->plan.begin_ns[0], length_ns);
        if (*part_count > 0) return true;
        if (!find(self, view, demand, length_ns, 1, before_ns, &slice)) return false;
    }
    const uint32_t count = timetable_choose(&self->plan, demand, self->parts);
    const int64_t start_ns = self->plan.begin_ns[slice];
    if (!plan_queue_place(&self->queue, live, start_ns, time_add(start_ns, length_ns), self->parts,
                          count))
        return false;
    hold_place(self, live);
    return false;
}

/* A job that has a place gives it up and is placed again; see the top of the file for when that can
 * change nothing. */
static bool fit_again(struct conservative *self, const struct policy_view *view, uint32_t live,
                      int64_t length_ns, uint32_t *part_count)
{
    struct planned *job = &self->queue.jobs[live];
    const struct demand *demand = &view->demands[view->live->jobs[live].request_class];
    const struct gifts gifts = plan_queue_gifts(&self->queue, job->seen);
    const int64_t now_ns = self->plan.begin_ns[0];
    const bool due = job->start_ns <= now_ns;
    if (!due && (gifts.until_ns <= now_ns || gifts.from_ns >= job->end_ns)) return false;
    const bool all_of_it = due || gifts.until_ns > job->start_ns;
    int64_t before_ns = all_of_it ? job->start_ns + 1 : gifts.until_ns;
    if (due) before_ns = INT64_MAX;
    if (!all_of_it &&
        !timetable_may_start(&self->plan, demand, length_ns, before_ns, job->start_ns))
        return false;
    give_place(self, live);
    const struct planned was = *job;
    plan_queue_lift(&self->queue, live);
    const bool starts = first_fit(self, view, live, length_ns, before_ns, part_count);
    if (!starts && !job->is_placed) { /* nothing earlier */
        plan_queue_put_back(&self->queue, live, &was);
        hold_place(self, live);
        return false;
    }
    if (starts || !plan_queue_same_place(job, &was))
        plan_queue_log(&self->queue, was.start_ns, was.end_ns);
    plan_queue_release(&self->queue, &was);
    return starts;
}

/* True: the job starts now. */
static bool look_at(struct conservative *self, const struct policy_view *view, uint32_t live,
                    int64_t now_ns, uint32_t *part_count)
{
    const struct live_job *job = &view->live->jobs[live];
    if (!self->planned) {
        *part_count = place_class(view, job->request_class, self->parts);
        if (*part_count > 0) return true;
        plan_running(self, view, now_ns);
        self->planned = true;
    }
    const int64_t limit_ns = waiting_limit_ns(view->waiting, live);
    const int64_t length_ns = limit_ns > 0 ? limit_ns : 1;
    if (self->queue.jobs[live].is_placed) return fit_again(self, view, live, length_ns, part_count);
    return first_fit(self, view, live, length_ns, INT64_MAX, part_count);
}

static bool conservative_next(void *memory, const struct policy_view *view, int64_t now_ns,
                              uint32_t fresh_serial, struct decision *decision)
{
    (void)fresh_serial; /* the queue knows */
    struct conservative *self = memory;
    if (is_out_of_memory(self, view)) return false;
    if (!self->open || self->stale) open_pass(self, view, now_ns); /* stale: by the last start */
    uint32_t live, part_count = 0;
    while (!is_out_of_memory(self, view) && (live = plan_queue_next(&self->queue)) != LIVE_NONE) {
        if (!look_at(self, view, live, now_ns, &part_count)) {
            plan_queue_keep(&self->queue, live);
            continue;
        }
        *decision =
            (struct decision){ .live = live, .parts = self->parts, .part_count = part_count };
        return true;
    }
    if (!is_out_of_memory(self, view)) close_pass(self);
    return false;
}

const struct policy policy_conservative = {
    .name = "conservative",
    .help = "conservative backfilling: every waiting job has a place in the plan",
    .memory_bytes = sizeof(struct conservative),
    .init = conservative_init,
    .note = conservative_note,
    .begin = conservative_begin,
    .next = conservative_next,
    .clear = conservative_clear,
    .kept_by = KEPT_BY_RESERVATION,
};
