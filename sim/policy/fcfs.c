/* fcfs.c - first come, first served: the head of the queue starts when it fits; nobody passes it. */
#include "policy/kubernetes.h"
#include "policy/place.h"
#include "policy/policy.h"

struct fcfs {
    struct part *parts; /* [nodes] */
};

static bool fcfs_init(void *memory, const struct policy_view *view, struct arena *arena)
{
    struct fcfs *fcfs = memory;
    fcfs->parts = ARENA_ARRAY(arena, struct part, view->cluster->nodes);
    return fcfs->parts != NULL;
}

static void fcfs_note(void *memory, const struct policy_view *view, struct note note)
{
    (void)memory;
    (void)view;
    (void)note;
}

static void fcfs_begin(void *memory)
{
    (void)memory;
}

static bool fcfs_next(void *memory, const struct policy_view *view, int64_t now_ns,
                      uint32_t fresh_serial, struct decision *decision)
{
    (void)now_ns;
    struct fcfs *fcfs = memory;
    const struct waiting_head *head = waiting_first(view->waiting);
    if (!head) return false;
    /* Only arrivals since the last pass: unless the head is one of them, it still waits. */
    if (fresh_serial != SERIAL_NONE && head->serial < fresh_serial) return false;
    const uint32_t count = place_class(view, head->request_class, fcfs->parts);
    if (count == 0) return false;
    *decision = (struct decision){ .live = head->live, .parts = fcfs->parts, .part_count = count };
    return true;
}

const struct policy policy_fcfs = {
    .name = "fcfs",
    .help = "first come, first served; nobody passes the head of the queue",
    .memory_bytes = sizeof(struct fcfs),
    .init = fcfs_init,
    .note = fcfs_note,
    .begin = fcfs_begin,
    .next = fcfs_next,
    .kept_by = KEPT_BY_ORDER,
};

const struct policy *policy_plain(enum order order)
{
    static const struct policy *const by_order[ORDERS] = {
        [ORDER_FCFS] = &policy_fcfs,
        [ORDER_EASY] = &policy_easy,
        [ORDER_EASY_EVENT] = &policy_easy_event,
        [ORDER_SJF] = &policy_sjf,
        [ORDER_SRTF] = &policy_srtf,
        [ORDER_LAS] = &policy_las,
        [ORDER_CONSERVATIVE] = &policy_conservative,
    };
    return by_order[order];
}

const struct policy *policy_of(const struct scenario *scenario)
{
    if (scenario->kind == KIND_KUBERNETES) return &policy_kubernetes;
    if (scenario->kind == KIND_SLURM) return &policy_slurm;
    if (scenario->kind == KIND_STATIC) return &policy_static;
    if (scenario->moves.every_ns > 0) return policy_defragmenting(scenario->order);
    return policy_plain(scenario->order);
}
