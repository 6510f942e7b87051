/* slurm_slots.c - see slurm_slots.h. */
#include "policy/slurm_slots.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, FIRST_ROWS = 64 };

/* ---- memory ---------------------------------------------------------------------------------- */

static bool grow(struct slots *slots)
{
    const uint32_t capacity = slots->row_capacity ? 2 * slots->row_capacity : FIRST_ROWS;
    uint64_t *pool =
        realloc(slots->pool, (size_t)capacity * 2 * slots->words * sizeof *slots->pool);
    if (!pool) return false;
    slots->pool = pool;
    slots->row_capacity = capacity;
    return true;
}

bool slots_init(struct slots *slots, struct slots_size size)
{
    *slots =
        (struct slots){ .step_s = size.step_s, .words = (size.nodes + WORD_BITS - 1) / WORD_BITS };
    const int64_t steps_max = size.window_s / size.step_s + 2;
    slots->leaves_max = 1;
    while (slots->leaves_max < steps_max) slots->leaves_max *= 2;
    slots->row_of = calloc((size_t)2 * slots->leaves_max, sizeof *slots->row_of);
    slots->ends = calloc(slots->leaves_max / WORD_BITS + 1, sizeof *slots->ends);
    slots->before = calloc(slots->words + 1, sizeof *slots->before);
    slots->after = calloc(slots->words + 1, sizeof *slots->after);
    slots->freed_of = calloc(slots->leaves_max + 1, sizeof *slots->freed_of);
    if (slots->row_of && slots->ends && slots->freed_of && slots->before && slots->after &&
        grow(slots))
        return true;
    slots_clear(slots);
    return false;
}

void slots_clear(struct slots *slots)
{
    free(slots->row_of);
    free(slots->ends);
    free(slots->freed_of);
    free(slots->freed);
    free(slots->pool);
    free(slots->before);
    free(slots->after);
    *slots = (struct slots){ 0 };
}

static int64_t floor_to(int64_t value_s, int64_t step_s)
{
    const int64_t rest = value_s % step_s;
    return value_s - (rest < 0 ? rest + step_s : rest);
}

void slots_begin(struct slots *slots, int64_t now_s, int64_t window_s)
{
    slots->begin_s = floor_to(now_s, slots->step_s);
    slots->end_s = floor_to(now_s + window_s, slots->step_s);
    slots->steps = (uint32_t)((slots->end_s - slots->begin_s) / slots->step_s);
    slots->leaves = 1;
    while (slots->leaves < slots->steps) slots->leaves *= 2;
    if (slots->rows > 1) {
        memset(slots->row_of, 0, (size_t)2 * slots->leaves_max * sizeof *slots->row_of);
        memset(slots->ends, 0, (slots->leaves_max / WORD_BITS + 1) * sizeof *slots->ends);
    }
    slots->rows = 1;
    slots->freed_rows = 0;
    memset(slots->pool, 0, (size_t)2 * slots->words * sizeof *slots->pool);
}

/* ---- the tree -------------------------------------------------------------------------------- */

static uint64_t *own_of(const struct slots *slots, uint32_t row)
{
    return slots->pool + (size_t)row * 2 * slots->words;
}

static uint64_t *any_of(const struct slots *slots, uint32_t row)
{
    return own_of(slots, row) + slots->words;
}

/* Four words a turn: this is where a pass spends its time. */
static void add(uint64_t *restrict into, const uint64_t *restrict from, uint32_t words)
{
    uint32_t w = 0;
    for (; w + 4 <= words; w += 4) {
        into[w] |= from[w];
        into[w + 1] |= from[w + 1];
        into[w + 2] |= from[w + 2];
        into[w + 3] |= from[w + 3];
    }
    for (; w < words; w++) into[w] |= from[w];
}

/* A row for the node of the tree; 0 when memory is out. */
static uint32_t row_make(struct slots *slots, uint32_t node)
{
    if (slots->row_of[node]) return slots->row_of[node];
    if (slots->rows == slots->row_capacity && !grow(slots)) return 0;
    memset(own_of(slots, slots->rows), 0, (size_t)2 * slots->words * sizeof *slots->pool);
    return slots->row_of[node] = slots->rows++;
}

/* A span of steps [first, behind) below a node of the tree that covers [left, left + width). */
struct span {
    uint32_t first, behind;
};

static bool take(struct slots *slots, struct span span, uint32_t node, uint32_t left,
                 uint32_t width, const uint64_t *nodes)
{
    if (span.behind <= left || left + width <= span.first) return true;
    const uint32_t row = row_make(slots, node);
    if (!row) return false;
    add(any_of(slots, row), nodes, slots->words);
    if (span.first <= left && left + width <= span.behind) {
        add(own_of(slots, row), nodes, slots->words);
        return true;
    }
    return take(slots, span, 2 * node, left, width / 2, nodes) &&
           take(slots, span, 2 * node + 1, left + width / 2, width / 2, nodes);
}

/* Adds to taken[] what is taken in some step of the span. */
static void taken_in(const struct slots *slots, struct span span, uint32_t node, uint32_t left,
                     uint32_t width, uint64_t *taken)
{
    if (span.behind <= left || left + width <= span.first) return;
    const uint32_t row = slots->row_of[node];
    if (!row) return;
    if (span.first <= left && left + width <= span.behind) {
        add(taken, any_of(slots, row), slots->words);
        return;
    }
    add(taken, own_of(slots, row), slots->words);
    taken_in(slots, span, 2 * node, left, width / 2, taken);
    taken_in(slots, span, 2 * node + 1, left + width / 2, width / 2, taken);
}

/* Steps that a slot of which touches [from_s, to_s): cut to the table. */
static struct span span_of(const struct slots *slots, int64_t from_s, int64_t to_s)
{
    struct span span = { 0 };
    if (to_s <= from_s || to_s <= slots->begin_s || from_s >= slots->end_s) return span;
    if (from_s > slots->begin_s) span.first = (uint32_t)((from_s - slots->begin_s) / slots->step_s);
    const int64_t last_s = to_s < slots->end_s ? to_s : slots->end_s;
    span.behind = (uint32_t)((last_s - slots->begin_s + slots->step_s - 1) / slots->step_s);
    return span;
}

/* ---- questions and reservations -------------------------------------------------------------- */

static uint32_t next_end(const struct slots *slots, uint32_t step)
{
    for (uint32_t word = step / WORD_BITS; word * WORD_BITS < slots->steps; word++) {
        uint64_t bits = slots->ends[word];
        if (word == step / WORD_BITS) bits &= ~UINT64_C(0) << (step % WORD_BITS);
        if (bits) return word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
    }
    return slots->steps;
}

/* The nodes that a step frees: taken in the step before and not in it. They are kept up to date by each reservation,
 * since a job that does not fit goes from one such step to the next. */
static uint64_t *freed_of(const struct slots *slots, uint32_t step)
{
    return slots->freed + (size_t)slots->freed_of[step] * slots->words;
}

/* An empty set for a step that has none yet. */
static bool freed_make(struct slots *slots, uint32_t step)
{
    if (slots->freed_rows == slots->freed_capacity) {
        const uint32_t capacity = slots->freed_capacity ? 2 * slots->freed_capacity : FIRST_ROWS;
        uint64_t *freed =
            realloc(slots->freed, (size_t)capacity * slots->words * sizeof *slots->freed);
        if (!freed) return false;
        slots->freed = freed;
        slots->freed_capacity = capacity;
    }
    slots->freed_of[step] = slots->freed_rows++;
    memset(freed_of(slots, step), 0, slots->words * sizeof *slots->freed);
    slots->ends[step / WORD_BITS] |= UINT64_C(1) << (step % WORD_BITS);
    return true;
}

/* Nodes that are taken all through the span are freed by no step in it any more. */
static void free_less(struct slots *slots, struct span span, const uint64_t *nodes)
{
    for (uint32_t step = next_end(slots, span.first); step < span.behind;
         step = next_end(slots, step + 1)) {
        uint64_t *freed = freed_of(slots, step), left = 0;
        for (uint32_t w = 0; w < slots->words; w++) left |= freed[w] &= ~nodes[w];
        if (!left) slots->ends[step / WORD_BITS] &= ~(UINT64_C(1) << (step % WORD_BITS));
    }
}

/* The step behind them frees those that are not taken in it. */
static bool free_more(struct slots *slots, uint32_t step, const uint64_t *nodes)
{
    memset(slots->after, 0, slots->words * sizeof *slots->after);
    taken_in(slots, (struct span){ step, step + 1 }, 1, 0, slots->leaves, slots->after);
    uint64_t any = 0;
    for (uint32_t w = 0; w < slots->words; w++) any |= nodes[w] & ~slots->after[w];
    if (!any) return true;
    const bool is_end = slots->ends[step / WORD_BITS] >> (step % WORD_BITS) & 1;
    if (!is_end && !freed_make(slots, step)) return false;
    uint64_t *freed = freed_of(slots, step);
    for (uint32_t w = 0; w < slots->words; w++) freed[w] |= nodes[w] & ~slots->after[w];
    return true;
}

static uint32_t previous_end(const struct slots *slots, uint32_t step)
{
    for (uint32_t word = step / WORD_BITS + 1; word-- > 0;) {
        uint64_t bits = slots->ends[word];
        if (word == step / WORD_BITS) bits &= ~UINT64_C(0) >> (WORD_BITS - 1 - step % WORD_BITS);
        if (bits) return word * WORD_BITS + (WORD_BITS - 1) - (uint32_t)__builtin_clzll(bits);
    }
    return 0;
}

int64_t slots_last_freed(const struct slots *slots, int64_t from_s, int64_t to_s)
{
    if (slots->rows <= 1 || to_s <= slots->begin_s + slots->step_s) return from_s;
    if (to_s > slots->end_s) to_s = slots->end_s;
    const int64_t before_s = to_s - 1 - slots->begin_s;
    const uint32_t step = previous_end(slots, (uint32_t)(before_s / slots->step_s));
    const int64_t at_s = slots->begin_s + step * slots->step_s;
    return step > 0 && at_s > from_s ? at_s : from_s;
}

int64_t slots_later(const struct slots *slots, int64_t from_s)
{
    if (slots->rows <= 1 || from_s >= slots->end_s) return SLOTS_NEVER;
    const uint32_t step =
        next_end(slots, (from_s > slots->begin_s ? slots_step(slots, from_s) : 0) + 1);
    return step < slots->steps ? slots->begin_s + step * slots->step_s : SLOTS_NEVER;
}

void slots_take_out(const struct slots *slots, int64_t from_s, int64_t to_s, uint64_t *nodes)
{
    const struct span span = span_of(slots, from_s, to_s);
    if (slots->rows <= 1 || span.behind <= span.first) return;
    memset(slots->before, 0, slots->words * sizeof *slots->before);
    taken_in(slots, span, 1, 0, slots->leaves, slots->before);
    for (uint32_t w = 0; w < slots->words; w++) nodes[w] &= ~slots->before[w];
}

int64_t slots_free(const struct slots *slots, int64_t from_s, int64_t to_s, uint64_t *nodes)
{
    if (slots->rows <= 1 || from_s >= slots->end_s) return SLOTS_NEVER;
    slots_take_out(slots, from_s, to_s < slots->end_s ? to_s + 1 : slots->end_s, nodes);
    return slots_later(slots, from_s);
}

bool slots_overlap(const struct slots *slots, int64_t from_s, int64_t to_s, const uint64_t *nodes)
{
    const struct span span = span_of(slots, from_s, to_s);
    if (slots->rows <= 1 || span.behind <= span.first) return false;
    memset(slots->before, 0, slots->words * sizeof *slots->before);
    taken_in(slots, span, 1, 0, slots->leaves, slots->before);
    for (uint32_t w = 0; w < slots->words; w++)
        if (slots->before[w] & nodes[w]) return true;
    return false;
}

bool slots_reserve(struct slots *slots, int64_t from_s, int64_t to_s, const uint64_t *nodes)
{
    const struct span span = span_of(slots, from_s, to_s);
    if (span.behind <= span.first) return true;
    free_less(slots, span, nodes);
    if (span.behind < slots->steps && !free_more(slots, span.behind, nodes)) return false;
    return take(slots, span, 1, 0, slots->leaves, nodes);
}
