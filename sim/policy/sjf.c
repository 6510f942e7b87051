/* sjf.c - shortest job first: the waiting job with the least estimate starts when it fits, and nobody
 * passes it; ties in submit order. Nobody is preempted, so a long job starts when no shorter one
 * waits: under overload it may never. The estimate is the requested time, or the recorded one times the
 * scenario's factor, less what is done. */
#include "policy/place.h"
#include "policy/policy.h"

struct sjf {
    struct part *parts; /* [nodes] */
};

static bool sjf_init(void *memory, const struct policy_view *view, struct arena *arena)
{
    struct sjf *sjf = memory;
    sjf->parts = ARENA_ARRAY(arena, struct part, view->cluster->nodes);
    return sjf->parts != NULL;
}

static void sjf_note(void *memory, const struct policy_view *view, struct note note)
{
    (void)memory;
    (void)view;
    (void)note;
}

static void sjf_begin(void *memory)
{
    (void)memory;
}

static bool sjf_next(void *memory, const struct policy_view *view, int64_t now_ns,
                     uint32_t fresh_serial, struct decision *decision)
{
    (void)now_ns;
    struct sjf *sjf = memory;
    const uint32_t live = waiting_shortest(view->waiting);
    if (live == LIVE_NONE) return false;
    const struct live_job *job = &view->live->jobs[live];
    /* Only arrivals since the last pass: unless the shortest is one of them, it still waits. */
    if (fresh_serial != SERIAL_NONE && job->serial < fresh_serial) return false;
    const uint32_t count = place_class(view, job->request_class, sjf->parts);
    if (count == 0) return false;
    *decision = (struct decision){ .live = live, .parts = sjf->parts, .part_count = count };
    return true;
}

const struct policy policy_sjf = {
    .name = "sjf",
    .help = "shortest job first by estimate; nobody passes it, nobody is preempted",
    .memory_bytes = sizeof(struct sjf),
    .init = sjf_init,
    .note = sjf_note,
    .begin = sjf_begin,
    .next = sjf_next,
    .kept_by = KEPT_BY_ORDER,
};
