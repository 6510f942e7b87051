/* slurm_vacancy.c - see slurm_vacancy.h. */
#include "policy/slurm_vacancy.h"

#include "base/bits.h"
#include "base/sort.h"
#include "policy/slurm_state.h"

#include <stdlib.h>
#include <string.h>

enum { MILLI = 1000, ENDS_MOST = 256, TABLE_ENDS = 0, EIGHT = 8 };
_Static_assert(VACANCY_MARKS == EIGHT * EIGHT, "mark_of() counts marks by eights");
#define EMPTY_NODE UINT32_MAX

/* ---- tables ---------------------------------------------------------------------------------- */

static uint32_t table_make(struct slurm_vacancy *ready, uint32_t gpus, uint32_t cores,
                           uint64_t kinds)
{
    if (ready->table_count == ready->table_capacity) {
        const uint32_t capacity = ready->table_capacity ? 2 * ready->table_capacity : 8;
        struct slurm_vacancy_table *tables = realloc(ready->tables, capacity * sizeof *tables);
        if (!tables) return VACANT_NONE;
        ready->tables = tables;
        ready->table_capacity = capacity;
    }
    struct slurm_vacancy_table *table = &ready->tables[ready->table_count];
    *table = (struct slurm_vacancy_table){ .gpus = gpus, .cores = cores, .kinds = kinds };
    table->ready_s = calloc(ready->nodes, sizeof *table->ready_s);
    table->version = calloc(ready->nodes, sizeof *table->version);
    table->order = calloc(ready->nodes, sizeof *table->order);
    table->before = calloc((size_t)VACANCY_MARKS * ready->words, sizeof *table->before);
    ready->table_count++;
    if (!table->ready_s || !table->version || !table->order || !table->before) return VACANT_NONE;
    return ready->table_count - 1;
}

bool slurm_vacancy_init(struct slurm_vacancy *ready, uint32_t nodes)
{
    *ready = (struct slurm_vacancy){ .nodes = nodes,
                                     .words = (nodes + 63) / 64,
                                     .stride = (nodes + VACANCY_MARKS - 1) / VACANCY_MARKS,
                                     .changes = 1 };
    ready->node_version = calloc(nodes, sizeof *ready->node_version);
    ready->keys = calloc(nodes, sizeof *ready->keys);
    ready->spare = calloc(nodes, sizeof *ready->spare);
    if (!ready->node_version || !ready->keys || !ready->spare) return false;
    for (uint32_t node = 0; node < nodes; node++) ready->node_version[node] = 1;
    return table_make(ready, 0, 0, ~UINT64_C(0)) == TABLE_ENDS;
}

void slurm_vacancy_clear(struct slurm_vacancy *ready)
{
    for (uint32_t t = 0; t < ready->table_count; t++) {
        free(ready->tables[t].ready_s);
        free(ready->tables[t].version);
        free(ready->tables[t].order);
        free(ready->tables[t].before);
    }
    free(ready->tables);
    free(ready->node_version);
    free(ready->keys);
    free(ready->spare);
    *ready = (struct slurm_vacancy){ 0 };
}

uint32_t slurm_vacancy_table_of(struct slurm_vacancy *ready, const struct slurm_need *need)
{
    uint32_t gpus = need->gpus_per_node;
    if (need->gpus_per_task > gpus) gpus = need->gpus_per_task;
    if (gpus == 0 && need->gpus_per_job > 0) gpus = 1;
    uint32_t cores = need->cores_per_task * (need->tasks_per_node ? need->tasks_per_node : 1);
    if (need->cores_per_gpu * gpus > cores) cores = need->cores_per_gpu * gpus;
    if (need->whole_nodes) cores = EMPTY_NODE;
    for (uint32_t t = 1; t < ready->table_count; t++) {
        const struct slurm_vacancy_table *table = &ready->tables[t];
        if (table->gpus == gpus && table->cores == cores && table->kinds == need->kinds) return t;
    }
    return table_make(ready, gpus, cores, need->kinds);
}

/* ---- one node -------------------------------------------------------------------------------- */

/* What the end of a job on the node brings. */
struct end {
    int64_t end_s;
    uint32_t mask, cores;
};

/* Jobs of a node in order of their ends. More than fit count as gone with the last one: that can only be too early. */
static uint32_t ends_on(const struct slurm *slurm, const struct policy_view *view, uint32_t node,
                        struct end *ends)
{
    const struct cluster *cluster = view->cluster;
    uint32_t count = 0;
    if (!cluster->first_on_node) return 0;
    for (uint32_t row = cluster->first_on_node[node]; row != GRANT_NONE;
         row = cluster->grants[row].next_on_node) {
        const struct grant *grant = &cluster->grants[row];
        struct end end = { .end_s = slurm->jobs[grant->live].planned_end_s,
                           .mask = grant->mask,
                           .cores = grant->cores_milli / MILLI };
        if (end.end_s < 1) end.end_s = 1;
        if (count == ENDS_MOST) {
            ends[count - 1].mask |= end.mask;
            ends[count - 1].cores += end.cores;
            continue;
        }
        uint32_t at = count++;
        for (; at > 0 && ends[at - 1].end_s > end.end_s; at--) ends[at] = ends[at - 1];
        ends[at] = end;
    }
    return count;
}

static int64_t ready_of(const struct slurm *slurm, const struct policy_view *view,
                        const struct slurm_vacancy_table *table, uint32_t node)
{
    const struct slurm_picture *picture = &slurm->picture;
    struct end ends[ENDS_MOST];
    if (!(table->kinds >> slurm->nodes.kind_of[node] & 1)) return VACANT_NEVER;
    const uint32_t count = ends_on(slurm, view, node, ends);
    if (table == &slurm->vacancy.tables[TABLE_ENDS]) return count ? ends[0].end_s : VACANT_NEVER;
    const bool empty = table->cores == EMPTY_NODE;
    const uint32_t cores = empty ? 1 : table->cores;
    if ((uint32_t)bits_count(picture->free_mask[node]) >= table->gpus &&
        picture->cores[node] >= cores && (!empty || picture->jobs[node] == 0))
        return 0;
    /* A job that is not gone yet (slurm_ending.c) is no job of the cluster any more. */
    const bool ending = slurm_set_has(picture->completing, node);
    uint32_t mask = ending ? view->cluster->free_mask[node] : picture->free_mask[node];
    uint32_t free = ending ? view->cluster->cores_milli_free[node] / MILLI : picture->cores[node];
    int64_t at_s = 1;
    for (uint32_t e = 0;; e++) {
        const bool holds = (uint32_t)bits_count(mask & picture->sound_mask[node]) >= table->gpus &&
                           free >= cores && (!empty || e == count);
        if (holds) return at_s;
        if (e == count) return VACANT_NEVER;
        mask |= ends[e].mask;
        free += ends[e].cores;
        at_s = ends[e].end_s;
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

static void sort_all(struct slurm_vacancy *ready, struct slurm_vacancy_table *table)
{
    for (uint32_t node = 0; node < ready->nodes; node++) {
        table->order[node] = node;
        ready->keys[node] = sort_key_int64(table->ready_s[node]);
    }
    sort_rows(table->order, ready->spare, ready->nodes, ready->keys);
}

static void set_marks(const struct slurm_vacancy *ready, struct slurm_vacancy_table *table)
{
    const uint32_t words = ready->words;
    memset(table->before, 0, words * sizeof *table->before);
    for (uint32_t mark = 0; mark < VACANCY_MARKS; mark++) {
        const uint32_t first = mark * ready->stride, behind = first + ready->stride;
        uint64_t *before = table->before + (size_t)mark * words;
        table->mark_s[mark] =
            first < ready->nodes ? table->ready_s[table->order[first]] : VACANT_NEVER;
        if (mark + 1 == VACANCY_MARKS) break;
        memcpy(before + words, before, words * sizeof *before);
        for (uint32_t i = first; i < behind && i < ready->nodes; i++)
            before[words + table->order[i] / 64] |= UINT64_C(1) << (table->order[i] % 64);
    }
}

/* The first place in [low, high) of the order that (at_s, node) does not stand behind; high = there is none. */
static uint32_t place_of(const struct slurm_vacancy_table *table, uint32_t low, uint32_t high,
                         int64_t at_s, uint32_t node)
{
    while (low < high) {
        const uint32_t middle = (low + high) / 2, other = table->order[middle];
        const int64_t other_s = table->ready_s[other];
        if (other_s < at_s || (other_s == at_s && other < node))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void flip(uint64_t *set, uint32_t node)
{
    set[node / 64] ^= UINT64_C(1) << (node % 64);
}

/* A node gets another time, and moves in the order; a mark between its places sees it go by, and its neighbour come back. */
static void move_node(const struct slurm_vacancy *ready, struct slurm_vacancy_table *table,
                      uint32_t node, int64_t at_s)
{
    const int64_t was_s = table->ready_s[node];
    const uint32_t from = place_of(table, 0, ready->nodes, was_s, node);
    uint32_t *order = table->order, to;
    if (at_s > was_s) {
        to = place_of(table, from + 1, ready->nodes, at_s, node) - 1;
        memmove(&order[from], &order[from + 1], (to - from) * sizeof *order);
    } else {
        to = place_of(table, 0, from, at_s, node);
        memmove(&order[to + 1], &order[to], (from - to) * sizeof *order);
    }
    order[to] = node;
    table->ready_s[node] = at_s;
    const uint32_t low = from < to ? from : to, high = from < to ? to : from;
    for (uint32_t mark = (low + ready->stride - 1) / ready->stride;
         mark < VACANCY_MARKS && mark * ready->stride <= high; mark++) {
        const uint32_t first = mark * ready->stride;
        uint64_t *before = table->before + (size_t)mark * ready->words;
        table->mark_s[mark] = table->ready_s[order[first]];
        if (first == low) continue;
        flip(before, node);
        flip(before, order[from < to ? first - 1 : first]);
    }
}

static void read_all(struct slurm *slurm, const struct policy_view *view,
                     struct slurm_vacancy_table *table)
{
    struct slurm_vacancy *ready = &slurm->vacancy;
    for (uint32_t node = 0; node < ready->nodes; node++)
        if (table->version[node] != ready->node_version[node])
            table->ready_s[node] = ready_of(slurm, view, table, node);
    memcpy(table->version, ready->node_version, ready->nodes * sizeof *table->version);
    sort_all(ready, table);
    set_marks(ready, table);
}

static void bring_up_to_date(struct slurm *slurm, const struct policy_view *view,
                             struct slurm_vacancy_table *table)
{
    struct slurm_vacancy *ready = &slurm->vacancy;
    if (table->changes == ready->changes) return;
    if (table->changes == 0 || ready->changes - table->changes > VACANCY_RECENT)
        read_all(slurm, view, table);
    else
        for (uint32_t change = table->changes; change != ready->changes; change++) {
            const uint32_t node = ready->recent[change % VACANCY_RECENT];
            if (table->version[node] == ready->node_version[node]) continue;
            table->version[node] = ready->node_version[node];
            const int64_t at_s = ready_of(slurm, view, table, node);
            if (at_s != table->ready_s[node]) move_node(ready, table, node, at_s);
        }
    table->changes = ready->changes;
}

/* ---- questions ------------------------------------------------------------------------------- */

static bool have_common(const uint64_t *set, const uint64_t *other, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (set[w] & other[w]) return true;
    return false;
}

/* The last mark before which none of some nodes stands: in steps that double, then in halves. */
static uint32_t mark_before_all(const struct slurm_vacancy *ready,
                                const struct slurm_vacancy_table *table, const uint64_t *nodes)
{
    uint32_t mark = 0, behind = 1;
    while (behind < VACANCY_MARKS &&
           !have_common(nodes, table->before + (size_t)behind * ready->words, ready->words)) {
        mark = behind;
        behind *= 2;
    }
    if (behind > VACANCY_MARKS) behind = VACANCY_MARKS;
    while (behind - mark > 1) {
        const uint32_t middle = (mark + behind) / 2;
        if (have_common(nodes, table->before + (size_t)middle * ready->words, ready->words))
            behind = middle;
        else
            mark = middle;
    }
    return mark;
}

int64_t slurm_vacancy_at(struct slurm *slurm, const struct policy_view *view, uint32_t row,
                         const uint64_t *nodes, uint32_t count)
{
    const struct slurm_vacancy *ready = &slurm->vacancy;
    struct slurm_vacancy_table *table = &slurm->vacancy.tables[row];
    bring_up_to_date(slurm, view, table);
    const uint32_t mark = count == 1 ? mark_before_all(ready, table, nodes) : 0;
    for (uint32_t i = mark * ready->stride; i < ready->nodes; i++) {
        const uint32_t node = table->order[i];
        if (slurm_set_has(nodes, node) && count-- <= 1) return table->ready_s[node];
    }
    return VACANT_NEVER;
}

/* The last mark at which all nodes before it are ready: by eights, then one by one; without branches. */
static uint32_t mark_of(const struct slurm_vacancy_table *table, int64_t until_s)
{
    const int64_t *mark_s = table->mark_s;
    uint32_t mark = 0, more = 0;
    for (uint32_t i = 1; i < EIGHT; i++) mark += mark_s[EIGHT * i] <= until_s;
    for (uint32_t i = 1; i < EIGHT; i++) more += mark_s[EIGHT * mark + i] <= until_s;
    return EIGHT * mark + more;
}

uint32_t slurm_vacancy_count(struct slurm *slurm, const struct policy_view *view, uint32_t row,
                             const uint64_t *nodes, int64_t until_s, uint32_t most)
{
    const struct slurm_vacancy *ready = &slurm->vacancy;
    struct slurm_vacancy_table *table = &slurm->vacancy.tables[row];
    bring_up_to_date(slurm, view, table);
    const uint32_t mark = mark_of(table, until_s);
    uint32_t count =
        slurm_set_common(nodes, table->before + (size_t)mark * ready->words, ready->words);
    for (uint32_t i = mark * ready->stride; i < ready->nodes && count < most; i++) {
        const uint32_t node = table->order[i];
        if (table->ready_s[node] > until_s) break;
        count += slurm_set_has(nodes, node);
    }
    return count;
}

bool slurm_vacancy_all(struct slurm *slurm, const struct policy_view *view, uint32_t row,
                       const uint64_t *nodes)
{
    struct slurm_vacancy_table *table = &slurm->vacancy.tables[row];
    bring_up_to_date(slurm, view, table);
    for (uint32_t i = slurm->vacancy.nodes; i-- > 0;) {
        const uint32_t node = table->order[i];
        if (table->ready_s[node] != VACANT_NEVER) return true;
        if (slurm_set_has(nodes, node)) return false;
    }
    return true;
}

void slurm_vacancy_ready(struct slurm *slurm, const struct policy_view *view, uint32_t row,
                         const uint64_t *nodes, int64_t until_s, uint64_t *ready_nodes)
{
    const struct slurm_vacancy *ready = &slurm->vacancy;
    struct slurm_vacancy_table *table = &slurm->vacancy.tables[row];
    bring_up_to_date(slurm, view, table);
    const uint32_t mark = mark_of(table, until_s);
    const uint64_t *before = table->before + (size_t)mark * ready->words;
    for (uint32_t w = 0; w < ready->words; w++) ready_nodes[w] = nodes[w] & before[w];
    for (uint32_t i = mark * ready->stride; i < ready->nodes; i++) {
        const uint32_t node = table->order[i];
        if (table->ready_s[node] > until_s) break;
        ready_nodes[node / 64] |= nodes[node / 64] & UINT64_C(1) << (node % 64);
    }
}

int64_t slurm_vacancy_first_end(struct slurm *slurm, const struct policy_view *view,
                                const uint64_t *nodes)
{
    return slurm_vacancy_at(slurm, view, TABLE_ENDS, nodes, 1);
}
