/* easy.c - EASY backfilling: the head of the queue has a reservation, later jobs may pass if they
 * do not delay it.
 *
 * A job passes when it fits now and either ends by the head's shadow time (by its estimate) or
 * leaves the head's fit at that time untouched. The queue is walked once a pass, in submit order;
 * what was passed over stays so until the next pass.
 * Source: Lifka 1995; the batch form of the rule (one decision round per instant). */
#include "policy/place.h"
#include "policy/policy.h"
#include "policy/shadow.h"

struct easy {
    struct shadow shadow;
    struct part *parts, *best_parts; /* [nodes] each                             */
    uint32_t walked;                 /* serial up to which this pass has looked  */
    bool passed;                     /* a job has passed the head in this pass   */
    bool look_again;                 /* ... in the last one: see easy_begin      */
};

static bool easy_init(void *memory, const struct policy_view *view, struct arena *arena)
{
    struct easy *easy = memory;
    easy->parts = ARENA_ARRAY(arena, struct part, view->cluster->nodes);
    easy->best_parts = ARENA_ARRAY(arena, struct part, view->cluster->nodes);
    easy->walked = SERIAL_NONE;
    return easy->parts && easy->best_parts &&
           shadow_init(&easy->shadow, view->cluster->nodes, arena);
}

static void easy_note(void *memory, const struct policy_view *view, struct note note)
{
    struct easy *easy = memory;
    if (note.kind == NOTE_START)
        shadow_start(&easy->shadow, view, note.live);
    else if (note.kind == NOTE_END)
        shadow_end(&easy->shadow, view, note.live);
    else if (note.kind == NOTE_DROP || note.kind == NOTE_NODES_CHANGED)
        shadow_drop(&easy->shadow);
}

/* On several GPUs a node a start can loosen a condition: it fills the node that an earlier job of
 * the queue would have been given, and the next best node is one that the head does not need. So
 * after a pass in which a job has passed the head, the next one looks at the whole queue. */
static void easy_begin(void *memory)
{
    struct easy *easy = memory;
    easy->walked = SERIAL_NONE;
    easy->look_again = easy->passed;
    easy->passed = false;
}

/* The first job behind the walk, in submit order, that may pass the head; its parts end up in
 * easy->best_parts. */
static bool find_backfill(struct easy *easy, const struct policy_view *view, int64_t now_ns,
                          struct decision *decision)
{
    const struct shadow *shadow = &easy->shadow;
    int64_t until_shadow_ns = INT64_MAX;
    if (shadow->reachable) until_shadow_ns = shadow->end_ns > now_ns ? shadow->end_ns - now_ns : 0;
    uint32_t best_serial = SERIAL_NONE;
    for (uint32_t h = 0; h < view->waiting->head_count; h++) {
        const struct waiting_head *head = &view->waiting->heads[h];
        if (head->gpus > view->cluster->index.free_gpus) break;
        uint32_t live = waiting_find(view->waiting, head->request_class, easy->walked, INT64_MAX);
        if (live == LIVE_NONE || view->live->jobs[live].serial >= best_serial) continue;
        const uint32_t count = place_class(view, head->request_class, easy->parts);
        if (count == 0) continue;
        if (!shadow_spares(shadow, view, easy->parts, count))
            live = waiting_find(view->waiting, head->request_class, easy->walked, until_shadow_ns);
        if (live == LIVE_NONE || view->live->jobs[live].serial >= best_serial) continue;
        best_serial = view->live->jobs[live].serial;
        struct part *parts = easy->parts;
        easy->parts = easy->best_parts;
        easy->best_parts = parts;
        *decision =
            (struct decision){ .live = live, .parts = easy->best_parts, .part_count = count };
    }
    return best_serial != SERIAL_NONE;
}

static bool easy_next(void *memory, const struct policy_view *view, int64_t now_ns,
                      uint32_t fresh_serial, struct decision *decision)
{
    struct easy *easy = memory;
    const struct waiting_head *head = waiting_first(view->waiting);
    if (!head) return false;
    if (easy->look_again) fresh_serial = SERIAL_NONE;
    const bool head_may_start = fresh_serial == SERIAL_NONE || head->serial >= fresh_serial;
    if (easy->walked == SERIAL_NONE && head_may_start) {
        const uint32_t count = place_class(view, head->request_class, easy->best_parts);
        if (count > 0) {
            *decision = (struct decision){ .live = head->live,
                                           .parts = easy->best_parts,
                                           .part_count = count };
            return true;
        }
    }
    if (view->cluster->index.free_gpus == 0 || view->waiting->jobs == 1) return false;
    shadow_of(&easy->shadow, view, head);
    if (easy->walked == SERIAL_NONE)
        easy->walked = head_may_start ? head->serial : fresh_serial - 1;
    if (!find_backfill(easy, view, now_ns, decision)) return false;
    easy->passed = true;
    easy->walked = view->live->jobs[decision->live].serial;
    return true;
}

const struct policy policy_easy = {
    .name = "easy",
    .help = "EASY backfilling: later jobs pass if they do not delay the head",
    .memory_bytes = sizeof(struct easy),
    .init = easy_init,
    .note = easy_note,
    .begin = easy_begin,
    .next = easy_next,
    .kept_by = KEPT_BY_RESERVATION,
};

const struct policy policy_easy_event = {
    .name = "easy_event",
    .help = "EASY backfilling, decided after every single event instead of once an instant",
    .memory_bytes = sizeof(struct easy),
    .init = easy_init,
    .note = easy_note,
    .begin = easy_begin,
    .next = easy_next,
    .after_each_event = true,
    .kept_by = KEPT_BY_RESERVATION,
};
