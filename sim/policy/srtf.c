/* srtf.c - shortest remaining time first, preemptive: at every event the pool is handed out again in order
 * of what the estimates leave (policy/handout.h).
 *
 * What is left of a running job is the time to its expected end, of a waiting one its estimate less what is
 * done. Equal ones: running before waiting, then in submit order. A job past its estimate has nothing
 * left, and runs on. */
#include "base/sort.h"
#include "policy/handout.h"

struct srtf {
    struct handout handout;
    uint32_t *waiting, *spare, *order; /* [capacity] */
    uint32_t capacity;
    uint64_t *key; /* [live_capacity] limits of waiting jobs                                     */
    uint32_t live_capacity;
    struct arena *arena;
    bool open;
};

static bool srtf_init(void *memory, const struct policy_view *view, struct arena *arena)
{
    struct srtf *srtf = memory;
    srtf->arena = arena;
    return handout_init(&srtf->handout, view, arena);
}

static void srtf_note(void *memory, const struct policy_view *view, struct note note)
{
    (void)memory;
    (void)view;
    (void)note;
}

static void srtf_begin(void *memory)
{
    struct srtf *srtf = memory;
    srtf->open = false;
}

static bool grow(struct srtf *srtf, const struct policy_view *view)
{
    if (view->live->capacity > srtf->live_capacity) {
        srtf->live_capacity = view->live->capacity;
        srtf->key = ARENA_ARRAY(srtf->arena, uint64_t, srtf->live_capacity);
    }
    if (view->live->in_use > srtf->capacity) {
        srtf->capacity = 2 * view->live->in_use;
        srtf->waiting = ARENA_ARRAY(srtf->arena, uint32_t, srtf->capacity);
        srtf->spare = ARENA_ARRAY(srtf->arena, uint32_t, srtf->capacity);
        srtf->order = ARENA_ARRAY(srtf->arena, uint32_t, srtf->capacity);
    }
    return srtf->key && srtf->waiting && srtf->spare && srtf->order;
}

/* Waiting jobs by limit, ties by serial. */
static uint32_t sort_waiting(struct srtf *srtf, const struct policy_view *view)
{
    const struct waiting *waiting = view->waiting;
    uint32_t count = 0;
    for (uint32_t h = 0; h < waiting->head_count; h++) {
        uint32_t serial = SERIAL_NONE, live;
        while ((live = waiting_find(waiting, waiting->heads[h].request_class, serial, INT64_MAX)) !=
               LIVE_NONE) {
            serial = view->live->jobs[live].serial;
            srtf->key[live] = serial;
            srtf->waiting[count++] = live;
        }
    }
    sort_rows(srtf->waiting, srtf->spare, count, srtf->key);
    for (uint32_t i = 0; i < count; i++)
        srtf->key[srtf->waiting[i]] = sort_key_int64(waiting_limit_ns(waiting, srtf->waiting[i]));
    sort_rows(srtf->waiting, srtf->spare, count, srtf->key); /* stable: ties stay by serial */
    return count;
}

/* Appends a running job; the list of them has equal ends in order of rows, which would be chance. */
static void add_running(struct srtf *srtf, const struct policy_view *view, uint32_t live,
                        uint32_t at)
{
    const struct live_table *jobs = view->live;
    for (; at > 0; at--) {
        const uint32_t before = srtf->order[at - 1];
        if (jobs->jobs[before].state != LIVE_RUNNING ||
            jobs->attempts[before].expected_end_ns != jobs->attempts[live].expected_end_ns ||
            jobs->jobs[before].serial < jobs->jobs[live].serial)
            break;
        srtf->order[at] = before;
    }
    srtf->order[at] = live;
}

/* Both lists are in order: running jobs by expected end, waiting ones by limit. */
static uint32_t merge(struct srtf *srtf, const struct policy_view *view, int64_t now_ns)
{
    const uint32_t waiting_count = sort_waiting(srtf, view);
    struct running_place place = { 0 };
    const struct running_entry *entry = running_at(view->running, place);
    uint32_t count = 0, w = 0;
    while (entry || w < waiting_count) {
        const int64_t limit_ns =
            w < waiting_count ? waiting_limit_ns(view->waiting, srtf->waiting[w]) : INT64_MAX;
        if (!entry || (w < waiting_count && limit_ns < entry->expected_end_ns - now_ns)) {
            srtf->order[count++] = srtf->waiting[w++];
            continue;
        }
        if (view->live->jobs[entry->live].state == LIVE_RUNNING)
            add_running(srtf, view, entry->live, count++);
        place = running_next(view->running, place);
        entry = running_at(view->running, place);
    }
    return count;
}

static bool srtf_next(void *memory, const struct policy_view *view, int64_t now_ns,
                      uint32_t fresh_serial, struct decision *decision)
{
    (void)fresh_serial;
    struct srtf *srtf = memory;
    if (!srtf->open) {
        if (view->waiting->jobs == 0) return false; /* all run */
        if (!grow(srtf, view)) {
            *view->out_of_memory = true;
            return false;
        }
        srtf->open = true;
        handout_make(&srtf->handout, view, srtf->order, merge(srtf, view, now_ns));
    }
    return !*view->out_of_memory && handout_next(&srtf->handout, view, decision);
}

const struct policy policy_srtf = {
    .name = "srtf",
    .help = "shortest remaining time first by estimate; longer jobs are preempted at no cost",
    .memory_bytes = sizeof(struct srtf),
    .init = srtf_init,
    .note = srtf_note,
    .begin = srtf_begin,
    .next = srtf_next,
    .kept_by = KEPT_BY_ORDER,
};
