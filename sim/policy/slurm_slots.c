/* slurm_slots.c - see slurm_slots.h. */
#include "policy/slurm_slots.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, FIRST_ROWS = 64 };

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t *rows_make(const struct slots *slots, size_t rows)
{
    return calloc(rows * slots->words + 1, sizeof(uint64_t));
}

bool slots_init(struct slots *slots, struct slots_size size)
{
    *slots = (struct slots){ .step_s = size.step_s,
                             .words = (size.nodes + WORD_BITS - 1) / WORD_BITS,
                             .levels = 1 };
    slots->blocks_max = (uint32_t)((size.window_s / size.step_s + 1) / SLOTS_BLOCK) + 1;
    slots->steps_max = slots->blocks_max * SLOTS_BLOCK;
    while (UINT32_C(1) << slots->levels < slots->blocks_max) slots->levels++;
    slots->at = rows_make(slots, slots->steps_max);
    slots->head = rows_make(slots, slots->steps_max);
    slots->tail = rows_make(slots, slots->steps_max);
    slots->whole = rows_make(slots, slots->blocks_max);
    slots->some = rows_make(slots, (size_t)slots->levels * slots->blocks_max);
    slots->cut = calloc(slots->blocks_max, sizeof *slots->cut);
    slots->begins = calloc(slots->blocks_max, sizeof *slots->begins);
    slots->ends = calloc(slots->steps_max / WORD_BITS + 1, sizeof *slots->ends);
    slots->freed_of = calloc(slots->steps_max + 1, sizeof *slots->freed_of);
    slots->none = rows_make(slots, 1);
    slots->after = rows_make(slots, 1);
    slots->taken = calloc(slots->words + 1, sizeof *slots->taken);
    if (slots->at && slots->head && slots->tail && slots->whole && slots->some && slots->cut &&
        slots->begins && slots->ends && slots->freed_of && slots->none && slots->after &&
        slots->taken)
        return true;
    slots_clear(slots);
    return false;
}

void slots_clear(struct slots *slots)
{
    free(slots->at);
    free(slots->head);
    free(slots->tail);
    free(slots->whole);
    free(slots->some);
    free(slots->cut);
    free(slots->begins);
    free(slots->ends);
    free(slots->freed_of);
    free(slots->freed);
    free(slots->none);
    free(slots->after);
    free(slots->taken);
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
    if (!slots->empty) {
        const size_t bytes = (size_t)slots->blocks_max * slots->words * sizeof(uint64_t);
        memset(slots->whole, 0, bytes);
        memset(slots->some, 0, slots->levels * bytes);
        memset(slots->cut, 0, slots->blocks_max * sizeof *slots->cut);
        memset(slots->ends, 0, (slots->steps_max / WORD_BITS + 1) * sizeof *slots->ends);
    }
    slots->empty = true;
    slots->freed_rows = 0;
}

/* ---- rows of nodes --------------------------------------------------------------------------- */

/* A span of steps [first, behind). */
struct span {
    uint32_t first, behind;
};

static uint64_t *row_of(const struct slots *slots, uint64_t *rows, uint32_t row)
{
    return rows + (size_t)row * slots->words;
}

static uint64_t *some_of(const struct slots *slots, uint32_t level, uint32_t block)
{
    return row_of(slots, slots->some, level * slots->blocks_max + block);
}

/* What a reservation adds to rows: the words that are not empty, of most a few. */
struct taking {
    const uint64_t *nodes;
    const uint32_t *at; /* [count] these words                                                    */
    uint32_t count;
};

static struct taking taking_of(const struct slots *slots, const uint64_t *nodes)
{
    struct taking taking = { .nodes = nodes, .at = slots->taken };
    for (uint32_t w = 0; w < slots->words; w++)
        if (nodes[w]) slots->taken[taking.count++] = w;
    return taking;
}

/* Adds to `count` rows that follow each other. */
static void put(const struct slots *slots, uint64_t *rows, uint32_t count, struct taking taking)
{
    for (uint32_t i = 0; i < taking.count; i++) {
        uint64_t *word = rows + taking.at[i];
        const uint64_t nodes = taking.nodes[taking.at[i]];
        for (uint32_t row = 0; row < count; row++, word += slots->words) *word |= nodes;
    }
}

static void cut_block(struct slots *slots, uint32_t block)
{
    if (slots->cut[block]) return;
    const size_t bytes = (size_t)SLOTS_BLOCK * slots->words * sizeof(uint64_t);
    memset(row_of(slots, slots->at, block * SLOTS_BLOCK), 0, bytes);
    memset(row_of(slots, slots->head, block * SLOTS_BLOCK), 0, bytes);
    memset(row_of(slots, slots->tail, block * SLOTS_BLOCK), 0, bytes);
    slots->cut[block] = true;
    slots->begins[block] = 0;
}

/* Takes nodes over the steps of the span in one block. */
static void take_in_block(struct slots *slots, struct span span, uint32_t block,
                          struct taking taking)
{
    const uint32_t begin = block * SLOTS_BLOCK, end = begin + SLOTS_BLOCK;
    const uint32_t first = span.first > begin ? span.first : begin;
    const uint32_t behind = span.behind < end ? span.behind : end;
    if (behind - first == SLOTS_BLOCK) {
        put(slots, row_of(slots, slots->whole, block), 1, taking);
        return;
    }
    cut_block(slots, block);
    slots->begins[block] |= UINT32_C(1) << (first - begin);
    put(slots, row_of(slots, slots->head, first), end - first, taking);
    put(slots, row_of(slots, slots->tail, begin), behind - begin, taking);
    put(slots, row_of(slots, slots->at, first), behind - first, taking);
}

static void take(struct slots *slots, struct span span, struct taking taking)
{
    const uint32_t first = span.first / SLOTS_BLOCK, last = (span.behind - 1) / SLOTS_BLOCK;
    for (uint32_t block = first; block <= last; block++) take_in_block(slots, span, block, taking);
    /* Blocks between others are asked for, so the last one is never among them. */
    const uint32_t blocks = (slots->steps + SLOTS_BLOCK - 1) / SLOTS_BLOCK;
    for (uint32_t level = 0; UINT32_C(1) << level < blocks; level++) {
        const uint32_t size = UINT32_C(1) << level;
        const uint32_t from = first >= size ? first + 1 - size : 0;
        const uint32_t behind = last < blocks - size ? last + 1 : blocks - size;
        if (from < behind) put(slots, some_of(slots, level, from), behind - from, taking);
    }
    slots->empty = false;
}

/* The rows that together hold what is taken in some step of a span. */
struct rows {
    const uint64_t *at[SLOTS_BLOCK + 3]; /* [count] */
    uint32_t count;
};

static void add_row(const struct slots *slots, struct rows *rows, const uint64_t *all, uint32_t row)
{
    rows->at[rows->count++] = all + (size_t)row * slots->words;
}

/* A span within one block: its first step, or from a later one on; else each step at which something begins. */
static void add_in_block(const struct slots *slots, struct span span, struct rows *rows)
{
    const uint32_t block = span.first / SLOTS_BLOCK;
    add_row(slots, rows, slots->whole, block);
    if (!slots->cut[block]) return;
    if (span.first % SLOTS_BLOCK == 0)
        add_row(slots, rows, slots->head, span.behind - 1);
    else if (span.behind % SLOTS_BLOCK == 0)
        add_row(slots, rows, slots->tail, span.first);
    else {
        const uint32_t first = span.first % SLOTS_BLOCK, count = span.behind - span.first;
        const uint32_t inside = slots->begins[block] >> first & ((UINT32_C(1) << count) - 1);
        for (uint32_t bits = inside | 1; bits; bits &= bits - 1)
            add_row(slots, rows, slots->at, span.first + (uint32_t)__builtin_ctz(bits));
    }
}

static void rows_of(const struct slots *slots, struct span span, struct rows *rows)
{
    rows->count = 0;
    const uint32_t last_step = span.behind - 1;
    const uint32_t first = span.first / SLOTS_BLOCK, last = last_step / SLOTS_BLOCK;
    if (first == last) {
        add_in_block(slots, span, rows);
        return;
    }
    add_row(slots, rows, slots->whole, first);
    if (slots->cut[first]) add_row(slots, rows, slots->tail, span.first);
    if (last - first > 1) {
        const uint32_t level = 31 - (uint32_t)__builtin_clz(last - first - 1);
        const uint32_t base = level * slots->blocks_max;
        add_row(slots, rows, slots->some, base + first + 1);
        add_row(slots, rows, slots->some, base + last - (UINT32_C(1) << level));
    }
    if (slots->cut[last]) add_row(slots, rows, slots->head, last_step);
    add_row(slots, rows, slots->whole, last);
}

/* Three rows at a time, four words a turn: this is where a pass spends its time. */
static void drop(uint64_t *restrict nodes, const uint64_t *const *rows, uint32_t words)
{
    const uint64_t *restrict a = rows[0], *restrict b = rows[1], *restrict c = rows[2];
    for (; words >= 4; words -= 4, nodes += 4, a += 4, b += 4, c += 4)
        for (uint32_t i = 0; i < 4; i++) nodes[i] &= ~(a[i] | b[i] | c[i]);
    for (uint32_t i = 0; i < words; i++) nodes[i] &= ~(a[i] | b[i] | c[i]);
}

static void drop_taken(const struct slots *slots, struct span span, uint64_t *nodes)
{
    struct rows rows;
    rows_of(slots, span, &rows);
    while (rows.count % 3) rows.at[rows.count++] = slots->none;
    for (uint32_t r = 0; r < rows.count; r += 3) drop(nodes, rows.at + r, slots->words);
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
static void free_less(struct slots *slots, struct span span, struct taking taking)
{
    for (uint32_t step = next_end(slots, span.first); step < span.behind;
         step = next_end(slots, step + 1)) {
        uint64_t *freed = freed_of(slots, step), both = 0, left = 0;
        for (uint32_t i = 0; i < taking.count; i++) {
            const uint32_t w = taking.at[i];
            both |= freed[w] & taking.nodes[w];
            freed[w] &= ~taking.nodes[w];
        }
        if (!both) continue;
        for (uint32_t w = 0; w < slots->words; w++) left |= freed[w];
        if (!left) slots->ends[step / WORD_BITS] &= ~(UINT64_C(1) << (step % WORD_BITS));
    }
}

/* The step behind them frees those that are not taken in it. */
static bool free_more(struct slots *slots, uint32_t step, const uint64_t *nodes)
{
    uint64_t any = 0;
    memcpy(slots->after, nodes, slots->words * sizeof *slots->after);
    drop_taken(slots, (struct span){ step, step + 1 }, slots->after);
    for (uint32_t w = 0; w < slots->words; w++) any |= slots->after[w];
    if (!any) return true;
    const bool is_end = slots->ends[step / WORD_BITS] >> (step % WORD_BITS) & 1;
    if (!is_end && !freed_make(slots, step)) return false;
    uint64_t *freed = freed_of(slots, step);
    for (uint32_t w = 0; w < slots->words; w++) freed[w] |= slots->after[w];
    return true;
}

uint32_t slots_freed_by(const struct slots *slots, uint32_t step)
{
    if (step >= slots->steps) step = slots->steps - 1;
    for (uint32_t word = step / WORD_BITS + 1; word-- > 0;) {
        uint64_t bits = slots->ends[word];
        if (word == step / WORD_BITS) bits &= ~UINT64_C(0) >> (WORD_BITS - 1 - step % WORD_BITS);
        if (bits) return word * WORD_BITS + (WORD_BITS - 1) - (uint32_t)__builtin_clzll(bits);
    }
    return 0;
}

int64_t slots_last_freed(const struct slots *slots, int64_t from_s, int64_t to_s)
{
    if (slots->empty || to_s <= slots->begin_s + slots->step_s) return from_s;
    if (to_s > slots->end_s) to_s = slots->end_s;
    const int64_t before_s = to_s - 1 - slots->begin_s;
    const uint32_t step = slots_freed_by(slots, (uint32_t)(before_s / slots->step_s));
    const int64_t at_s = slots->begin_s + step * slots->step_s;
    return step > 0 && at_s > from_s ? at_s : from_s;
}

int64_t slots_later(const struct slots *slots, int64_t from_s)
{
    if (slots->empty || from_s >= slots->end_s) return SLOTS_NEVER;
    const uint32_t step =
        next_end(slots, (from_s > slots->begin_s ? slots_step(slots, from_s) : 0) + 1);
    return step < slots->steps ? slots->begin_s + step * slots->step_s : SLOTS_NEVER;
}

void slots_take_out(const struct slots *slots, int64_t from_s, int64_t to_s, uint64_t *nodes)
{
    const struct span span = span_of(slots, from_s, to_s);
    if (!slots->empty && span.first < span.behind) drop_taken(slots, span, nodes);
}

int64_t slots_free(const struct slots *slots, int64_t from_s, int64_t to_s, uint64_t *nodes)
{
    if (slots->empty || from_s >= slots->end_s) return SLOTS_NEVER;
    slots_take_out(slots, from_s, to_s < slots->end_s ? to_s + 1 : slots->end_s, nodes);
    return slots_later(slots, from_s);
}

bool slots_overlap(const struct slots *slots, int64_t from_s, int64_t to_s, const uint64_t *nodes)
{
    memcpy(slots->after, nodes, slots->words * sizeof *slots->after);
    slots_take_out(slots, from_s, to_s, slots->after);
    return memcmp(slots->after, nodes, slots->words * sizeof *slots->after) != 0;
}

bool slots_reserve(struct slots *slots, int64_t from_s, int64_t to_s, const uint64_t *nodes)
{
    const struct span span = span_of(slots, from_s, to_s);
    if (span.behind <= span.first) return true;
    const struct taking taking = taking_of(slots, nodes);
    free_less(slots, span, taking);
    if (span.behind < slots->steps && !free_more(slots, span.behind, nodes)) return false;
    take(slots, span, taking);
    return true;
}
