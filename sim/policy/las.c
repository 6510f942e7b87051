/* las.c - least attained service, discretized and two-dimensional (Tiresias, NSDI 2019): queues by service
 * held so far, the pool handed out again at every event (policy/handout.h).
 *
 * A job enters queue 0 and moves down one queue when the whole seconds that it has held its GPUs times
 * their number reach the threshold of its queue. At every submission, end and queue jump the pool goes to
 * queue 0, 1, ... in turn, inside a queue in list order. Then, inside each queue, jobs that wait go
 * behind those that run, otherwise keeping their order. It needs no estimate.
 *
 * The time of the next jump is ceil((threshold - seconds held) / GPUs) from now, as in the authors'
 * simulator: the threshold counts GPU-seconds, so for several GPUs it is later than the true
 * crossing, which any event before it notices (oracles/gpu). Jobs that move down at one event go behind
 * the others of their new queue in submit order. A job that was killed keeps its queue.
 * Tests: test_las.c, oracle_gpu.c */
#include "base/assert.h"
#include "base/sort.h"
#include "policy/handout.h"

#include <string.h>

enum { FIRST_JOBS = 1024 };

struct las_job {
    int64_t held_ns;  /* has held its GPUs so long, as of since_ns                                */
    int64_t since_ns; /* while it runs                                                            */
    bool runs;
};

struct las_queue {
    uint32_t *lives;
    uint32_t count, capacity;
};

struct las {
    struct handout handout;
    struct las_job *jobs; /* [capacity] by live row                                               */
    uint64_t *serial_of;  /* [capacity] sort keys                                                 */
    uint32_t capacity;
    struct las_queue queues[LIMIT_LAS_THRESHOLDS + 1];
    uint32_t queue_count;
    struct las_queue order, moved, spare; /* scratch                                              */
    struct arena *arena;
    bool open;
};

/* ---- memory ------------------------------------------------------------------------------------ */

static bool grow_queue(struct las *las, struct las_queue *queue, uint32_t count)
{
    if (count <= queue->capacity) return true;
    const uint32_t capacity = count < FIRST_JOBS ? FIRST_JOBS : 2 * count;
    uint32_t *lives = ARENA_ARRAY(las->arena, uint32_t, capacity);
    if (!lives) return false;
    if (queue->count > 0) memcpy(lives, queue->lives, queue->count * sizeof *lives);
    queue->lives = lives;
    queue->capacity = capacity;
    return true;
}

static bool grow(struct las *las, const struct policy_view *view)
{
    for (uint32_t q = 0; q < las->queue_count; q++)
        if (!grow_queue(las, &las->queues[q], view->live->in_use)) return false;
    if (!grow_queue(las, &las->order, view->live->in_use) ||
        !grow_queue(las, &las->moved, view->live->in_use) ||
        !grow_queue(las, &las->spare, view->live->in_use))
        return false;
    if (view->live->capacity <= las->capacity) return true;
    struct las_job *jobs = ARENA_ARRAY(las->arena, struct las_job, view->live->capacity);
    uint64_t *serial_of = ARENA_ARRAY(las->arena, uint64_t, view->live->capacity);
    if (!jobs || !serial_of) return false;
    if (las->capacity > 0) memcpy(jobs, las->jobs, las->capacity * sizeof *jobs);
    las->jobs = jobs;
    las->serial_of = serial_of;
    las->capacity = view->live->capacity;
    return true;
}

static bool las_init(void *memory, const struct policy_view *view, struct arena *arena)
{
    struct las *las = memory;
    las->arena = arena;
    las->queue_count = view->scenario->las_threshold_count + 1;
    return handout_init(&las->handout, view, arena) && grow(las, view);
}

/* ---- notes ------------------------------------------------------------------------------------- */

static void hold_until(struct las_job *job, int64_t at_ns)
{
    if (job->runs) job->held_ns += at_ns - job->since_ns;
    job->since_ns = at_ns;
}

static void forget(struct las *las, uint32_t live)
{
    for (uint32_t q = 0; q < las->queue_count; q++) {
        struct las_queue *queue = &las->queues[q];
        for (uint32_t i = 0; i < queue->count; i++) {
            if (queue->lives[i] != live) continue;
            queue->count--;
            memmove(queue->lives + i, queue->lives + i + 1,
                    (queue->count - i) * sizeof *queue->lives);
            return;
        }
    }
}

static void las_note(void *memory, const struct policy_view *view, struct note note)
{
    struct las *las = memory;
    if (!grow(las, view)) {
        *view->out_of_memory = true;
        return;
    }
    if (note.live == LIVE_NONE) return;
    struct las_job *job = &las->jobs[note.live];
    if (note.kind == NOTE_SUBMIT) {
        *job = (struct las_job){ 0 };
        las->queues[0].lives[las->queues[0].count++] = note.live;
    } else if (note.kind == NOTE_START) {
        job->since_ns = note.at_ns;
        job->runs = true;
    } else if (note.kind == NOTE_END) {
        hold_until(job, note.at_ns);
        job->runs = false;
    } else if (note.kind == NOTE_OVER || note.kind == NOTE_DROP)
        forget(las, note.live);
}

/* ---- queues ------------------------------------------------------------------------------------ */

static int64_t threshold_s(const struct policy_view *view, uint32_t queue)
{
    return view->scenario->las_thresholds_gpu_s[queue];
}

static uint32_t gpus_of(const struct policy_view *view, uint32_t live)
{
    return view->demands[view->live->jobs[live].request_class].gpus;
}

static bool moves_down(struct las *las, const struct policy_view *view, uint32_t queue,
                       uint32_t live, int64_t now_ns)
{
    struct las_job *job = &las->jobs[live];
    if (view->live->jobs[live].state != LIVE_RUNNING) return false;
    hold_until(job, now_ns);
    return job->held_ns / NS_PER_S * gpus_of(view, live) >= threshold_s(view, queue);
}

/* Jobs of a queue that have reached its threshold go to the end of the next one. */
static void move_down(struct las *las, const struct policy_view *view, uint32_t q, int64_t now_ns)
{
    struct las_queue *from = &las->queues[q], *to = &las->queues[q + 1];
    uint32_t kept = 0, moved = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        const uint32_t live = from->lives[i];
        if (!moves_down(las, view, q, live, now_ns)) {
            from->lives[kept++] = live;
            continue;
        }
        las->serial_of[live] = view->live->jobs[live].serial;
        las->moved.lives[moved++] = live;
    }
    from->count = kept;
    if (moved == 0) return;
    sort_rows(las->moved.lives, las->spare.lives, moved, las->serial_of);
    memcpy(to->lives + to->count, las->moved.lives, moved * sizeof *to->lives);
    to->count += moved;
}

/* All that run or wait, queue by queue. */
static uint32_t list_all(struct las *las, const struct policy_view *view)
{
    uint32_t count = 0;
    for (uint32_t q = 0; q < las->queue_count; q++)
        for (uint32_t i = 0; i < las->queues[q].count; i++) {
            const uint32_t live = las->queues[q].lives[i];
            const uint8_t state = view->live->jobs[live].state;
            if (state == LIVE_RUNNING || state == LIVE_WAITING) las->order.lives[count++] = live;
        }
    return count;
}

static void running_first(struct las *las, const struct policy_view *view)
{
    for (uint32_t q = 0; q < las->queue_count; q++) {
        struct las_queue *queue = &las->queues[q];
        uint32_t first = 0, behind = 0;
        for (uint32_t i = 0; i < queue->count; i++) {
            const uint32_t live = queue->lives[i];
            if (view->live->jobs[live].state == LIVE_WAITING)
                las->spare.lives[behind++] = live;
            else
                queue->lives[first++] = live;
        }
        memcpy(queue->lives + first, las->spare.lives, behind * sizeof *queue->lives);
    }
}

/* ---- the pass ---------------------------------------------------------------------------------- */

static void las_begin(void *memory)
{
    struct las *las = memory;
    las->open = false;
}

static bool las_next(void *memory, const struct policy_view *view, int64_t now_ns,
                     uint32_t fresh_serial, struct decision *decision)
{
    (void)fresh_serial;
    struct las *las = memory;
    if (*view->out_of_memory) return false;
    if (!las->open) {
        las->open = true;
        /* The lowest queue first: one step a job at one event. */
        for (uint32_t q = las->queue_count - 1; q-- > 0;) move_down(las, view, q, now_ns);
        if (view->waiting->jobs == 0) return false; /* all run */
        handout_make(&las->handout, view, las->order.lives, list_all(las, view));
    }
    if (!*view->out_of_memory && handout_next(&las->handout, view, decision)) return true;
    running_first(las, view);
    return false;
}

static int64_t las_next_wake_ns(void *memory, const struct policy_view *view, int64_t now_ns)
{
    struct las *las = memory;
    int64_t wake_ns = TIME_NEVER;
    for (uint32_t q = 0; q + 1 < las->queue_count; q++)
        for (uint32_t i = 0; i < las->queues[q].count; i++) {
            const uint32_t live = las->queues[q].lives[i], gpus = gpus_of(view, live);
            if (view->live->jobs[live].state != LIVE_RUNNING || gpus == 0) continue;
            hold_until(&las->jobs[live], now_ns);
            const int64_t left_s = threshold_s(view, q) - las->jobs[live].held_ns / NS_PER_S;
            const int64_t jump_s = left_s > 0 ? (left_s + gpus - 1) / gpus : 1;
            const int64_t jump_ns = time_add(now_ns, jump_s * NS_PER_S);
            if (jump_ns < wake_ns) wake_ns = jump_ns;
        }
    return wake_ns;
}

const struct policy policy_las = {
    .name = "las",
    .help = "least attained service in queues (Tiresias); jobs of lower queues are preempted at no "
            "cost",
    .memory_bytes = sizeof(struct las),
    .init = las_init,
    .note = las_note,
    .begin = las_begin,
    .next = las_next,
    .next_wake_ns = las_next_wake_ns,
    .kept_by = KEPT_BY_ORDER,
};
