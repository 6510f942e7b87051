/* plan_queue.c - see plan_queue.h. */
#include "policy/plan_queue.h"

#include "base/assert.h"
#include "base/sort.h"

#include <string.h>

static const struct gifts NO_GIFTS = { INT64_MAX, INT64_MIN };

enum { FIRST_JOBS = 1024, FIRST_GIFTS = 256 };

bool plan_queue_init(struct plan_queue *queue, struct arena *arena)
{
    *queue = (struct plan_queue){ .arena = arena, .last_serial = SERIAL_NONE, .in_walk = NO_GIFTS };
    running_init(&queue->later);
    return plan_queue_grow(queue, FIRST_JOBS);
}

void plan_queue_clear(struct plan_queue *queue)
{
    running_clear(&queue->later);
}

/* ---- memory: doubling from the arena ------------------------------------------------------------ */

static void *grown(struct plan_queue *queue, const void *column, size_t count, size_t capacity,
                   size_t item_bytes)
{
    void *longer = arena_take(queue->arena, capacity, item_bytes);
    if (!longer)
        queue->out_of_memory = true;
    else if (count > 0)
        memcpy(longer, column, count * item_bytes);
    return longer;
}

bool plan_queue_grow(struct plan_queue *queue, uint32_t live_capacity)
{
    if (live_capacity <= queue->capacity) return true;
    const uint32_t capacity =
        live_capacity > 2 * queue->capacity ? live_capacity : 2 * queue->capacity;
    struct planned *jobs = grown(queue, queue->jobs, queue->capacity, capacity, sizeof *jobs);
    uint64_t *serial_of = grown(queue, NULL, 0, capacity, sizeof *serial_of);
    if (queue->out_of_memory) return false;
    queue->jobs = jobs;
    queue->serial_of = serial_of;
    queue->capacity = capacity;
    return true;
}

static bool grow_list(struct plan_queue *queue, uint64_t count)
{
    if (count <= queue->list_capacity) return true;
    uint32_t capacity = queue->list_capacity ? queue->list_capacity : FIRST_JOBS;
    while (capacity < count) capacity *= 2;
    uint32_t *lives = grown(queue, queue->lives, queue->count, capacity, sizeof *lives);
    uint32_t *spare = grown(queue, NULL, 0, capacity, sizeof *spare);
    if (queue->out_of_memory) return false;
    queue->lives = lives;
    queue->spare = spare;
    queue->list_capacity = capacity;
    return true;
}

static bool grow_gifts(struct plan_queue *queue)
{
    if (queue->gift_count < queue->gift_capacity) return true;
    const uint32_t capacity = queue->gift_capacity ? 2 * queue->gift_capacity : FIRST_GIFTS;
    struct gifts *gifts = grown(queue, queue->gifts, queue->gift_count, capacity, sizeof *gifts);
    struct gifts *since = grown(queue, queue->since, queue->gift_count, capacity, sizeof *since);
    if (queue->out_of_memory) return false;
    queue->gifts = gifts;
    queue->since = since;
    queue->gift_capacity = capacity;
    return true;
}

/* Room for parts: powers of two, chained when free through their first bytes. */
static struct part *take_room(struct plan_queue *queue, uint32_t part_count, uint8_t *room_log2)
{
    uint8_t log2 = 0;
    while ((UINT32_C(1) << log2) < part_count) log2++;
    ASSERT(log2 < PLAN_ROOMS);
    *room_log2 = log2;
    struct part *room = queue->rooms[log2];
    if (room)
        memcpy(&queue->rooms[log2], (const void *)room, sizeof(struct part *));
    else
        room = ARENA_ARRAY(queue->arena, struct part, (size_t)1 << log2);
    if (!room) queue->out_of_memory = true;
    return room;
}

/* ---- the list ---------------------------------------------------------------------------------- */

/* Appends the jobs behind a serial, in submit order. */
static bool append_behind(struct plan_queue *queue, const struct waiting *waiting, uint32_t behind)
{
    if (!grow_list(queue, queue->count + waiting->jobs)) return false;
    const uint32_t before = queue->count;
    for (uint32_t h = 0; h < waiting->head_count; h++) {
        const uint32_t request_class = waiting->heads[h].request_class;
        uint32_t serial = behind, live;
        while ((live = waiting_find(waiting, request_class, serial, INT64_MAX)) != LIVE_NONE) {
            serial = waiting->live->jobs[live].serial;
            queue->serial_of[live] = serial;
            queue->lives[queue->count++] = live;
        }
    }
    sort_rows(queue->lives + before, queue->spare, queue->count - before, queue->serial_of);
    if (queue->count == before) return true;
    const uint32_t last = waiting->live->jobs[queue->lives[queue->count - 1]].serial;
    if (queue->last_serial == SERIAL_NONE || last > queue->last_serial) queue->last_serial = last;
    return true;
}

bool plan_queue_gather(struct plan_queue *queue, const struct waiting *waiting, bool all)
{
    queue->first_new = queue->count;
    if (!all && waiting->jobs > queue->count) append_behind(queue, waiting, queue->last_serial);
    if (!all && waiting->jobs == queue->count) return true;
    queue->count = queue->first_new = 0;
    append_behind(queue, waiting, SERIAL_NONE);
    return false;
}

bool plan_queue_lists(const struct plan_queue *queue, uint32_t live)
{
    return queue->jobs[live].is_listed;
}

/* ---- later ------------------------------------------------------------------------------------- */

const struct running_entry *plan_queue_later(const struct plan_queue *queue)
{
    return running_at(&queue->later, (struct running_place){ 0 });
}

void plan_queue_add_later(struct plan_queue *queue, uint32_t live)
{
    struct planned *job = &queue->jobs[live];
    ASSERT(!job->is_later);
    job->is_later = running_add(&queue->later, (struct running_entry){ job->end_ns, live, 0 });
    if (!job->is_later) queue->out_of_memory = true;
}

void plan_queue_drop_later(struct plan_queue *queue, uint32_t live)
{
    struct planned *job = &queue->jobs[live];
    if (!job->is_later) return;
    running_remove(&queue->later, (struct running_entry){ job->end_ns, live, 0 });
    job->is_later = false;
}

void plan_queue_forget_later(struct plan_queue *queue)
{
    const struct running_entry *entry;
    while ((entry = plan_queue_later(queue))) plan_queue_drop_later(queue, entry->live);
}

void plan_queue_forget(struct plan_queue *queue)
{
    for (uint32_t live = 0; live < queue->capacity; live++) {
        queue->jobs[live].is_listed = false;
        if (!queue->jobs[live].is_placed) continue;
        plan_queue_release(queue, &queue->jobs[live]);
        queue->jobs[live].is_placed = false;
    }
    plan_queue_forget_later(queue);
    queue->first_gift += queue->gift_count;
    queue->gift_count = 0;
}

/* ---- gifts ------------------------------------------------------------------------------------- */

static struct gifts joined(struct gifts a, struct gifts b)
{
    return (struct gifts){ a.from_ns < b.from_ns ? a.from_ns : b.from_ns,
                           a.until_ns > b.until_ns ? a.until_ns : b.until_ns };
}

void plan_queue_log(struct plan_queue *queue, int64_t from_ns, int64_t until_ns)
{
    if (!grow_gifts(queue)) return;
    const struct gifts gift = { from_ns, until_ns };
    queue->gifts[queue->gift_count++] = gift;
    queue->in_walk = joined(queue->in_walk, gift);
}

struct gifts plan_queue_gifts(const struct plan_queue *queue, uint64_t seen)
{
    ASSERT(seen >= queue->first_gift);
    const uint64_t at = seen - queue->first_gift;
    return at < queue->gifts_before ? joined(queue->since[at], queue->in_walk) : queue->in_walk;
}

/* ---- the walk ---------------------------------------------------------------------------------- */

void plan_queue_walk(struct plan_queue *queue, bool all)
{
    queue->cursor = queue->kept = all ? 0 : queue->first_new;
    queue->in_walk = NO_GIFTS;
    queue->gifts_before = queue->gift_count;
    struct gifts since = NO_GIFTS;
    for (uint32_t i = queue->gift_count; i-- > 0;)
        queue->since[i] = since = joined(since, queue->gifts[i]);
}

uint32_t plan_queue_next(struct plan_queue *queue)
{
    if (queue->cursor == queue->count) return LIVE_NONE;
    const uint32_t live = queue->lives[queue->cursor++];
    queue->jobs[live].is_listed = false;
    return live;
}

void plan_queue_keep(struct plan_queue *queue, uint32_t live)
{
    queue->jobs[live].seen = queue->first_gift + queue->gift_count;
    queue->jobs[live].is_listed = true;
    queue->lives[queue->kept++] = live;
}

/* Gifts that the first job knows are known to all: it is always looked at first. */
void plan_queue_close(struct plan_queue *queue)
{
    ASSERT(queue->cursor == queue->count);
    queue->count = queue->cursor = queue->kept;
    const uint64_t all = queue->first_gift + queue->gift_count;
    const uint64_t known = queue->count > 0 ? queue->jobs[queue->lives[0]].seen : all;
    const uint32_t left = (uint32_t)(all - known);
    if (left > 0)
        memmove(queue->gifts, queue->gifts + (queue->gift_count - left),
                left * sizeof *queue->gifts);
    queue->first_gift = known;
    queue->gift_count = left;
}

/* ---- places ------------------------------------------------------------------------------------ */

bool plan_queue_place(struct plan_queue *queue, uint32_t live, int64_t start_ns, int64_t end_ns,
                      const struct part *parts, uint32_t part_count)
{
    struct planned *job = &queue->jobs[live];
    ASSERT(!job->is_placed);
    job->parts = take_room(queue, part_count, &job->parts_log2);
    if (!job->parts) return false;
    memcpy(job->parts, parts, part_count * sizeof *parts);
    job->start_ns = start_ns;
    job->end_ns = end_ns;
    job->part_count = part_count;
    job->is_placed = true;
    return true;
}

void plan_queue_lift(struct plan_queue *queue, uint32_t live)
{
    queue->jobs[live].is_placed = false;
}

void plan_queue_put_back(struct plan_queue *queue, uint32_t live, const struct planned *was)
{
    queue->jobs[live] = *was;
}

void plan_queue_release(struct plan_queue *queue, const struct planned *was)
{
    memcpy(was->parts, &queue->rooms[was->parts_log2], sizeof queue->rooms[0]);
    queue->rooms[was->parts_log2] = was->parts;
}

bool plan_queue_same_place(const struct planned *a, const struct planned *b)
{
    if (a->start_ns != b->start_ns || a->part_count != b->part_count) return false;
    for (uint32_t p = 0; p < a->part_count; p++)
        if (a->parts[p].node != b->parts[p].node || a->parts[p].gpus != b->parts[p].gpus)
            return false;
    return true;
}
