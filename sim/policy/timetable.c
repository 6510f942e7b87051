/* timetable.c - see timetable.h: slices, and what changes them. The search is in timetable_find.c. */
#include "policy/timetable.h"

#include "base/assert.h"
#include "base/bits.h"

#include <string.h>

enum { FIRST_SLICES = 256, ROWS_AT_ONCE = 16 };

bool timetable_init(struct timetable *timetable, uint32_t nodes, uint32_t gpus_per_node,
                    struct arena *arena)
{
    uint32_t field_bits = 1;
    while (field_bits < gpus_per_node) field_bits *= 2;
    *timetable = (struct timetable){
        .nodes = nodes,
        .gpus_per_node = gpus_per_node,
        .field_bits = field_bits,
        .row_words = (uint32_t)(((uint64_t)nodes * field_bits + 63) / 64),
        .arena = arena,
    };
    timetable->touched_words = (timetable->row_words + 63) / 64;
    timetable->common = ARENA_ARRAY(arena, uint64_t, timetable->row_words);
    return timetable->common != NULL;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A column of twice the length; the old one stays with the arena, a quarter of all at most. */
static void *longer(struct timetable *timetable, const void *column, size_t item_bytes)
{
    void *grown = arena_take(timetable->arena, 2 * (size_t)timetable->capacity, item_bytes);
    if (!grown)
        timetable->out_of_memory = true;
    else if (timetable->count > 0)
        memcpy(grown, column, timetable->count * item_bytes);
    return grown;
}

static bool grow_slices(struct timetable *timetable)
{
    if (timetable->count < timetable->capacity) return true;
    if (timetable->capacity == 0) timetable->capacity = FIRST_SLICES / 2;
    int64_t *begin_ns = longer(timetable, timetable->begin_ns, sizeof *begin_ns);
    uint32_t *starts = longer(timetable, timetable->starts, sizeof *starts);
    uint32_t *ends = longer(timetable, timetable->ends, sizeof *ends);
    uint64_t **row = longer(timetable, timetable->row, sizeof *row);
    uint32_t *at_least[LIMIT_GPUS_PER_SERVER + 1];
    for (uint32_t f = 0; f <= timetable->gpus_per_node; f++)
        at_least[f] = longer(timetable, timetable->at_least[f], sizeof *at_least[f]);
    if (timetable->out_of_memory) return false;
    timetable->begin_ns = begin_ns;
    timetable->starts = starts;
    timetable->ends = ends;
    timetable->row = row;
    for (uint32_t f = 0; f <= timetable->gpus_per_node; f++) timetable->at_least[f] = at_least[f];
    timetable->capacity *= 2;
    return true;
}

/* Rows that are not in use are chained through their first word. */
static void give_row(struct timetable *timetable, uint64_t *row)
{
    memcpy(row, &timetable->spare, sizeof timetable->spare);
    timetable->spare = row;
}

static uint64_t *take_row(struct timetable *timetable)
{
    if (!timetable->spare) {
        const size_t words = (size_t)timetable->row_words + timetable->touched_words;
        uint64_t *rows = ARENA_ARRAY(timetable->arena, uint64_t, ROWS_AT_ONCE * words);
        if (!rows) {
            timetable->out_of_memory = true;
            return NULL;
        }
        for (size_t i = 0; i < ROWS_AT_ONCE; i++) give_row(timetable, rows + i * words);
    }
    uint64_t *row = timetable->spare;
    memcpy(&timetable->spare, row, sizeof timetable->spare);
    return row;
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* The slice that holds the time; the first one for all times before it. */
static uint32_t slice_at(const struct timetable *timetable, int64_t at_ns)
{
    uint32_t low = 0, high = timetable->count;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (timetable->begin_ns[middle] <= at_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#define MOVE(column, to, from, n) memmove(&(column)[to], &(column)[from], (n) * sizeof *(column))

static void move_slices(struct timetable *timetable, uint32_t to, uint32_t from)
{
    const uint32_t n = timetable->count - from;
    MOVE(timetable->begin_ns, to, from, n);
    MOVE(timetable->starts, to, from, n);
    MOVE(timetable->ends, to, from, n);
    MOVE(timetable->row, to, from, n);
    for (uint32_t f = 0; f <= timetable->gpus_per_node; f++)
        MOVE(timetable->at_least[f], to, from, n);
    timetable->count = to + n;
}

/* Cuts a slice in two; returns the second, which begins at at_ns with the same row. */
static uint32_t split(struct timetable *timetable, uint32_t slice, int64_t at_ns)
{
    uint64_t *row = take_row(timetable);
    if (!row || !grow_slices(timetable)) return slice;
    const uint32_t next = slice + 1;
    move_slices(timetable, next + 1, next);
    memcpy(row, timetable->row[slice], timetable->row_words * sizeof *row);
    memset(row + timetable->row_words, 0, timetable->touched_words * sizeof *row);
    timetable->begin_ns[next] = at_ns;
    timetable->starts[next] = timetable->ends[next] = 0;
    timetable->row[next] = row;
    for (uint32_t f = 0; f <= timetable->gpus_per_node; f++)
        timetable->at_least[f][next] = timetable->at_least[f][slice];
    return next;
}

/* The slice that begins at the time, cut if there was none; the first one for times before it, count
 * for times beyond the last begin. */
static uint32_t slice_from(struct timetable *timetable, int64_t at_ns, bool may_be_beyond)
{
    if (may_be_beyond && timetable_is_beyond(timetable, at_ns)) return timetable->count;
    const uint32_t slice = slice_at(timetable, at_ns);
    return at_ns <= timetable->begin_ns[slice] ? slice : split(timetable, slice, at_ns);
}

/* Drops slices [first, first + n). */
static void drop_slices(struct timetable *timetable, uint32_t first, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) give_row(timetable, timetable->row[first + i]);
    move_slices(timetable, first, first + n);
}

/* A slice where nobody starts or ends any more is joined to the one before, which has the same row. */
static void join(struct timetable *timetable, uint32_t slice)
{
    if (timetable->starts[slice] + timetable->ends[slice] == 0) drop_slices(timetable, slice, 1);
}

/* ---- GPUs of one slice ------------------------------------------------------------------------ */

static uint64_t ones(uint32_t count)
{
    return (UINT64_C(1) << count) - 1;
}

static void set_free(struct timetable *timetable, uint32_t slice, uint32_t node, uint32_t is)
{
    const uint64_t bit = (uint64_t)node * timetable->field_bits;
    uint64_t *word = &timetable->row[slice][bit / 64];
    const uint32_t shift = bit % 64;
    *word = (*word & ~(ones(timetable->field_bits) << shift)) | ones(is) << shift;
}

uint32_t timetable_free(const struct timetable *timetable, const uint64_t *row, uint32_t node)
{
    const uint64_t bit = (uint64_t)node * timetable->field_bits;
    return (uint32_t)bits_count(
        (uint32_t)(row[bit / 64] >> bit % 64 & ones(timetable->field_bits)));
}

/* One GPU a node is the common case of large pools, and single bits are quicker. */
static void change_bits(struct timetable *timetable, uint32_t slice, const struct part *parts,
                        uint32_t part_count, bool take)
{
    uint64_t *row = timetable->row[slice];
    for (uint32_t p = 0; p < part_count; p++)
        row[parts[p].node / 64] ^= UINT64_C(1) << parts[p].node % 64;
    const uint32_t by = take ? 0 - part_count : part_count;
    timetable->at_least[0][slice] += by;
    timetable->at_least[1][slice] += by;
}

static void change_slice(struct timetable *timetable, uint32_t slice, const struct part *parts,
                         uint32_t part_count, bool take)
{
    if (timetable->gpus_per_node == 1) {
        change_bits(timetable, slice, parts, part_count, take);
        return;
    }
    for (uint32_t p = 0; p < part_count; p++) {
        const uint32_t gpus = parts[p].gpus;
        const uint32_t was = timetable_free(timetable, timetable->row[slice], parts[p].node);
        ASSERT(take ? was >= gpus : was + gpus <= timetable->gpus_per_node);
        const uint32_t is = take ? was - gpus : was + gpus;
        set_free(timetable, slice, parts[p].node, is);
        timetable->at_least[0][slice] += is - was;
        for (uint32_t f = is + 1; f <= was; f++) timetable->at_least[f][slice]--;
        for (uint32_t f = was + 1; f <= is; f++) timetable->at_least[f][slice]++;
    }
}

/* Notes the words of the row in which a job that starts with the slice takes GPUs. */
static void touch(struct timetable *timetable, uint32_t slice, const struct part *parts,
                  uint32_t part_count)
{
    uint64_t *touched = timetable->row[slice] + timetable->row_words;
    for (uint32_t p = 0; p < part_count; p++) {
        const uint64_t word = (uint64_t)parts[p].node * timetable->field_bits / 64;
        touched[word / 64] |= UINT64_C(1) << word % 64;
    }
}

/* ---- what happens ---------------------------------------------------------------------------- */

void timetable_reset(struct timetable *timetable, const struct cluster *cluster, int64_t now_ns)
{
    if (timetable->count > 0) drop_slices(timetable, 0, timetable->count);
    uint64_t *row = take_row(timetable);
    if (!row || !grow_slices(timetable)) return;
    memset(row, 0, ((size_t)timetable->row_words + timetable->touched_words) * sizeof *row);
    timetable->count = 1;
    timetable->begin_ns[0] = now_ns;
    timetable->starts[0] = timetable->ends[0] = 0;
    timetable->row[0] = row;
    for (uint32_t f = 0; f <= timetable->gpus_per_node; f++) timetable->at_least[f][0] = 0;
    for (uint32_t node = 0; node < timetable->nodes; node++) {
        const int gpus = cluster_node_free(cluster, node);
        if (gpus <= 0) continue;
        set_free(timetable, 0, node, (uint32_t)gpus);
        timetable->at_least[0][0] += (uint32_t)gpus;
        for (int f = 1; f <= gpus; f++) timetable->at_least[f][0]++;
    }
}

void timetable_append_end(struct timetable *timetable, int64_t end_ns, const struct part *parts,
                          uint32_t part_count)
{
    const uint32_t last = timetable->count - 1;
    ASSERT(end_ns >= timetable->begin_ns[last]);
    const uint32_t slice =
        end_ns == timetable->begin_ns[last] ? last : split(timetable, last, end_ns);
    if (timetable->out_of_memory) return;
    change_slice(timetable, slice, parts, part_count, false);
    timetable->ends[slice]++;
}

void timetable_advance(struct timetable *timetable, int64_t now_ns)
{
    const uint32_t slice = slice_at(timetable, now_ns);
    if (slice > 0) drop_slices(timetable, 0, slice);
    timetable->begin_ns[0] = now_ns;
}

void timetable_hold(struct timetable *timetable, int64_t from_ns, int64_t to_ns,
                    const struct part *parts, uint32_t part_count)
{
    if (to_ns <= timetable->begin_ns[0]) return;
    const uint32_t first = slice_from(timetable, from_ns, false);
    const uint32_t end = slice_from(timetable, to_ns, true);
    if (timetable->out_of_memory) return;
    for (uint32_t s = first; s < end; s++) change_slice(timetable, s, parts, part_count, true);
    touch(timetable, first, parts, part_count);
    timetable->starts[first] += part_count;
    if (end < timetable->count) timetable->ends[end]++;
}

void timetable_give(struct timetable *timetable, int64_t from_ns, int64_t to_ns,
                    const struct part *parts, uint32_t part_count)
{
    if (to_ns <= timetable->begin_ns[0]) return;
    const bool beyond = timetable_is_beyond(timetable, to_ns);
    const uint32_t first = slice_at(timetable, from_ns);
    const uint32_t end = beyond ? timetable->count : slice_at(timetable, to_ns);
    ASSERT(first < end && (beyond || timetable->begin_ns[end] == to_ns));
    for (uint32_t s = first; s < end; s++) change_slice(timetable, s, parts, part_count, false);
    if (!beyond) {
        ASSERT(timetable->ends[end] > 0);
        timetable->ends[end]--;
        join(timetable, end);
    }
    if (first == 0) return;
    ASSERT(timetable->starts[first] >= part_count);
    timetable->starts[first] -= part_count;
    join(timetable, first);
}
