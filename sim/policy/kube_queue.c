/* kube_queue.c - see kube_queue.h. */
#include "policy/kube_queue.h"

#include "base/assert.h"
#include "base/clock.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* ---- heaps of jobs: pairing heaps, a child's `prev` is its elder sibling or, for the first, its parent ---- */

static bool is_before(const struct kube_order *a, const struct kube_order *b)
{
    if (a->submit_ns != b->submit_ns) return a->submit_ns < b->submit_ns;
    if (a->index != b->index) return a->index < b->index;
    return a->serial < b->serial;
}

static uint32_t heap_join(struct kube_entry *entries, uint32_t a, uint32_t b)
{
    if (a == NONE) return b;
    if (b == NONE) return a;
    if (is_before(&entries[b].order, &entries[a].order)) {
        const uint32_t other = a;
        a = b;
        b = other;
    }
    entries[b].next = entries[a].child;
    entries[b].prev = a;
    if (entries[a].child != NONE) entries[entries[a].child].prev = b;
    entries[a].child = b;
    return a;
}

/* Joins the children of a heap's top in pairs, then the pairs from the last to the first. */
static uint32_t heap_join_children(struct kube_entry *entries, uint32_t child)
{
    uint32_t pairs = NONE; /* linked by next, the last pair first */
    while (child != NONE) {
        const uint32_t other = entries[child].next;
        const uint32_t rest = other == NONE ? NONE : entries[other].next;
        entries[child].next = NONE;
        if (other != NONE) entries[other].next = NONE;
        const uint32_t pair = heap_join(entries, child, other);
        entries[pair].next = pairs;
        pairs = pair;
        child = rest;
    }
    uint32_t top = NONE;
    while (pairs != NONE) {
        const uint32_t rest = entries[pairs].next;
        entries[pairs].next = NONE;
        top = heap_join(entries, top, pairs);
        pairs = rest;
    }
    if (top != NONE) entries[top].prev = NONE;
    return top;
}

/* Takes one out of the heap with this top; returns the new top. */
static uint32_t heap_take(struct kube_entry *entries, uint32_t top, uint32_t live)
{
    struct kube_entry *entry = &entries[live];
    const uint32_t rest = heap_join_children(entries, entry->child);
    if (live == top) return rest;
    if (entries[entry->prev].child == live)
        entries[entry->prev].child = entry->next;
    else
        entries[entry->prev].next = entry->next;
    if (entry->next != NONE) entries[entry->next].prev = entry->prev;
    const uint32_t joined = heap_join(entries, top, rest);
    entries[joined].prev = NONE;
    return joined;
}

/* ---- lanes with ready jobs: an indexed binary heap ---- */

static uint32_t lane_first(const struct kube_queue *queue, const struct kube_lane *lane)
{
    uint32_t first = NONE;
    for (uint32_t level = 0; level <= queue->level_most; level++) {
        const uint32_t live = lane->ready[level];
        if (live != NONE &&
            (first == NONE || is_before(&queue->entries[live].order, &queue->entries[first].order)))
            first = live;
    }
    return first;
}

static bool lane_is_before(const struct kube_queue *queue, uint32_t a, uint32_t b)
{
    const struct kube_lane *one = &queue->lanes[a], *other = &queue->lanes[b];
    if (one->priority != other->priority) return one->priority > other->priority;
    return is_before(&queue->entries[lane_first(queue, one)].order,
                     &queue->entries[lane_first(queue, other)].order);
}

static void heap_put(struct kube_queue *queue, uint32_t place, uint32_t lane)
{
    queue->heap[place] = lane;
    queue->lanes[lane].heap_place = place;
}

/* Moves the lane at a place to where it belongs. */
static void heap_settle(struct kube_queue *queue, uint32_t place)
{
    const uint32_t lane = queue->heap[place];
    while (place > 0 && lane_is_before(queue, lane, queue->heap[(place - 1) / 2])) {
        heap_put(queue, place, queue->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= queue->heap_count) break;
        if (child + 1 < queue->heap_count &&
            lane_is_before(queue, queue->heap[child + 1], queue->heap[child]))
            child++;
        if (!lane_is_before(queue, queue->heap[child], lane)) break;
        heap_put(queue, place, queue->heap[child]);
        place = child;
    }
    heap_put(queue, place, lane);
}

/* Brings the lane's place up to date after its ready jobs changed. */
static void lane_changed(struct kube_queue *queue, uint32_t row)
{
    struct kube_lane *lane = &queue->lanes[row];
    const bool ready = lane_first(queue, lane) != NONE;
    if (!ready && lane->heap_place == NONE) return;
    if (ready && lane->heap_place == NONE) {
        lane->heap_place = queue->heap_count++;
        queue->heap[lane->heap_place] = row;
    }
    if (ready) {
        heap_settle(queue, lane->heap_place);
        return;
    }
    const uint32_t place = lane->heap_place, last = queue->heap[--queue->heap_count];
    lane->heap_place = NONE;
    if (last == row) return;
    heap_put(queue, place, last);
    heap_settle(queue, place);
}

/* ---- memory ---- */

static bool grow(void *rows, uint32_t *capacity, uint32_t wanted, size_t bytes)
{
    if (wanted <= *capacity) return true;
    uint32_t more = *capacity ? *capacity : 64;
    while (more < wanted) more *= 2;
    void **at = rows;
    void *grown = realloc(*at, more * bytes);
    if (!grown) return false;
    *at = grown;
    *capacity = more;
    return true;
}

static uint32_t lane_find(struct kube_queue *queue, struct kube_sort sort)
{
    for (uint32_t row = queue->first_lane[sort.request_class]; row != NONE;
         row = queue->lanes[row].next) {
        const struct kube_lane *lane = &queue->lanes[row];
        if (lane->priority == sort.priority && lane->queue == sort.queue &&
            lane->alone == sort.alone)
            return row;
    }
    const uint32_t row = queue->lane_count, was = queue->lane_capacity;
    if (!grow(&queue->lanes, &queue->lane_capacity, row + 1, sizeof *queue->lanes)) return NONE;
    if (queue->lane_capacity != was) {
        uint32_t *heap = realloc(queue->heap, queue->lane_capacity * sizeof *heap);
        if (heap) queue->heap = heap;
        uint32_t *waiting = realloc(queue->waiting, queue->lane_capacity * sizeof *waiting);
        if (waiting) queue->waiting = waiting;
        if (!heap || !waiting) return NONE;
    }
    queue->lane_count++;
    struct kube_lane *lane = &queue->lanes[row];
    *lane = (struct kube_lane){ .request_class = sort.request_class,
                                .queue = sort.queue,
                                .priority = sort.priority,
                                .alone = sort.alone,
                                .next = queue->first_lane[sort.request_class],
                                .heap_place = NONE,
                                .first_batch = NONE,
                                .waiting_place = NONE };
    for (uint32_t level = 0; level < KUBE_LEVELS; level++) lane->ready[level] = NONE;
    queue->first_lane[sort.request_class] = row;
    return row;
}

bool kube_queue_init(struct kube_queue *queue, uint32_t class_count, int64_t backoff_first_ns,
                     int64_t backoff_most_ns)
{
    *queue = (struct kube_queue){ .backoff_first_ns = backoff_first_ns,
                                  .backoff_most_ns = backoff_most_ns,
                                  .free_batch = NONE,
                                  .first_lane = malloc((class_count + 1) * sizeof(uint32_t)) };
    if (!queue->first_lane) return false;
    for (uint32_t c = 0; c < class_count; c++) queue->first_lane[c] = NONE;
    while (queue->level_most + 1 < KUBE_LEVELS && backoff_first_ns > 0 &&
           backoff_first_ns << queue->level_most < backoff_most_ns)
        queue->level_most++;
    return true;
}

void kube_queue_clear(struct kube_queue *queue)
{
    free(queue->entries);
    free(queue->lanes);
    free(queue->first_lane);
    free(queue->batches);
    free(queue->heap);
    free(queue->waiting);
    *queue = (struct kube_queue){ 0 };
}

/* ---- batches ---- */

static uint32_t batch_take(struct kube_queue *queue)
{
    const uint32_t row = queue->free_batch;
    if (row != NONE) {
        queue->free_batch = queue->batches[row].next;
        return row;
    }
    if (!grow(&queue->batches, &queue->batch_capacity, queue->batch_count + 1,
              sizeof *queue->batches)) {
        queue->out_of_memory = true;
        return NONE;
    }
    return queue->batch_count++;
}

static void lane_waits(struct kube_queue *queue, uint32_t row, bool waits)
{
    struct kube_lane *lane = &queue->lanes[row];
    if (waits == (lane->waiting_place != NONE)) return;
    if (waits) {
        lane->waiting_place = queue->waiting_count;
        queue->waiting[queue->waiting_count++] = row;
        return;
    }
    const uint32_t last = queue->waiting[--queue->waiting_count];
    queue->waiting[lane->waiting_place] = last;
    queue->lanes[last].waiting_place = lane->waiting_place;
    lane->waiting_place = NONE;
}

/* Sets a heap of jobs of one level aside; they have failed once more. */
static void set_aside(struct kube_queue *queue, uint32_t row, uint32_t root, uint8_t level,
                      int64_t now_ns, uint64_t failed_at)
{
    struct kube_lane *lane = &queue->lanes[row];
    int64_t wait_ns = queue->backoff_first_ns << level;
    if (wait_ns > queue->backoff_most_ns) wait_ns = queue->backoff_most_ns;
    const int64_t ready_ns = time_add(now_ns, wait_ns);
    const uint8_t next_level = level < queue->level_most ? level + 1 : level;
    for (uint32_t b = lane->first_batch; b != NONE; b = queue->batches[b].next) {
        struct kube_aside *batch = &queue->batches[b];
        if (batch->level != next_level || batch->ready_ns != ready_ns ||
            batch->failed_at != failed_at)
            continue;
        batch->root = heap_join(queue->entries, batch->root, root);
        return;
    }
    const uint32_t b = batch_take(queue);
    if (b == NONE) return;
    queue->batches[b] = (struct kube_aside){ .ready_ns = ready_ns,
                                             .failed_at = failed_at,
                                             .root = root,
                                             .next = lane->first_batch,
                                             .level = next_level };
    lane->first_batch = b;
    lane_waits(queue, row, true);
}

/* ---- the queue ---- */

bool kube_queue_has(const struct kube_queue *queue, uint32_t live)
{
    return live < queue->entry_capacity && queue->entries[live].queued;
}

void kube_queue_add(struct kube_queue *queue, uint32_t live, struct kube_sort sort,
                    struct kube_order order)
{
    const uint32_t was = queue->entry_capacity, lane = lane_find(queue, sort);
    if (lane == NONE ||
        !grow(&queue->entries, &queue->entry_capacity, live + 1, sizeof *queue->entries)) {
        queue->out_of_memory = true;
        return;
    }
    for (uint32_t i = was; i < queue->entry_capacity; i++)
        queue->entries[i] = (struct kube_entry){ 0 };
    ASSERT(!queue->entries[live].queued);
    queue->entries[live] = (struct kube_entry){
        .order = order, .child = NONE, .next = NONE, .prev = NONE, .lane = lane, .queued = true
    };
    queue->jobs++;
    uint32_t *root = &queue->lanes[lane].ready[0];
    *root = heap_join(queue->entries, *root, live);
    lane_changed(queue, lane);
}

static void drop_batch(struct kube_queue *queue, uint32_t *at)
{
    const uint32_t row = *at;
    *at = queue->batches[row].next;
    queue->batches[row].next = queue->free_batch;
    queue->free_batch = row;
}

void kube_queue_remove(struct kube_queue *queue, uint32_t live)
{
    if (!kube_queue_has(queue, live)) return;
    struct kube_entry *entries = queue->entries;
    uint32_t top = live;
    while (entries[top].prev != NONE) top = entries[top].prev;
    const uint32_t row = entries[live].lane, rest = heap_take(entries, top, live);
    struct kube_lane *lane = &queue->lanes[row];
    entries[live].queued = false;
    queue->jobs--;
    for (uint32_t level = 0; level <= queue->level_most; level++) {
        if (lane->ready[level] != top) continue;
        lane->ready[level] = rest;
        lane_changed(queue, row);
        return;
    }
    uint32_t *at = &lane->first_batch;
    while (queue->batches[*at].root != top) at = &queue->batches[*at].next;
    queue->batches[*at].root = rest;
    if (rest != NONE) return;
    drop_batch(queue, at);
    lane_waits(queue, row, lane->first_batch != NONE);
}

/* Nothing was released since the batch failed, or since a later try of its lane did. */
static bool is_hopeless(const struct kube_lane *lane, const struct kube_aside *batch,
                        uint64_t releases)
{
    return (lane->alone ? batch->failed_at : lane->failed_at) == releases + 1;
}

static void wake_lane(struct kube_queue *queue, uint32_t row, int64_t now_ns, uint64_t releases)
{
    struct kube_lane *lane = &queue->lanes[row];
    bool changed = false;
    for (uint32_t *at = &lane->first_batch; *at != NONE;) {
        struct kube_aside *batch = &queue->batches[*at];
        if (batch->ready_ns > now_ns || is_hopeless(lane, batch, releases)) {
            at = &batch->next;
            continue;
        }
        uint32_t *root = &lane->ready[batch->level];
        *root = heap_join(queue->entries, *root, batch->root);
        drop_batch(queue, at);
        changed = true;
    }
    if (changed) lane_changed(queue, row);
}

void kube_queue_wake(struct kube_queue *queue, int64_t now_ns, uint64_t releases)
{
    for (uint32_t i = queue->waiting_count; i > 0; i--) {
        const uint32_t row = queue->waiting[i - 1];
        wake_lane(queue, row, now_ns, releases);
        lane_waits(queue, row, queue->lanes[row].first_batch != NONE);
    }
}

uint32_t kube_queue_first(const struct kube_queue *queue)
{
    if (queue->heap_count == 0) return LIVE_NONE;
    return lane_first(queue, &queue->lanes[queue->heap[0]]);
}

void kube_queue_fail(struct kube_queue *queue, uint32_t live, int64_t now_ns, uint64_t releases)
{
    const uint32_t row = queue->entries[live].lane;
    struct kube_lane *lane = &queue->lanes[row];
    lane->failed_at = releases + 1;
    for (uint8_t level = 0; level <= queue->level_most; level++) {
        uint32_t root = lane->ready[level];
        if (root == NONE || (lane->alone && root != live)) continue;
        lane->ready[level] = NONE;
        if (lane->alone) {
            lane->ready[level] = heap_take(queue->entries, root, live);
            queue->entries[live].child = queue->entries[live].next = NONE;
            queue->entries[live].prev = NONE;
        }
        set_aside(queue, row, root, level, now_ns, releases + 1);
        if (lane->alone) break;
    }
    lane_changed(queue, row);
}

int64_t kube_queue_due_ns(const struct kube_queue *queue, uint64_t releases)
{
    int64_t due_ns = TIME_NEVER;
    for (uint32_t i = 0; i < queue->waiting_count; i++) {
        const struct kube_lane *lane = &queue->lanes[queue->waiting[i]];
        for (uint32_t b = lane->first_batch; b != NONE; b = queue->batches[b].next) {
            const struct kube_aside *batch = &queue->batches[b];
            if (batch->ready_ns < due_ns && !is_hopeless(lane, batch, releases))
                due_ns = batch->ready_ns;
        }
    }
    return due_ns;
}
