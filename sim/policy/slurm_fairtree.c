/* slurm_fairtree.c - see slurm_fairtree.h. */
#include "policy/slurm_fairtree.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/exactmath.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool slurm_fairtree_init(struct slurm_fairtree *fair, const struct slurm_assoc *tree)
{
    const size_t rows = (size_t)tree->count + 1;
    *fair = (struct slurm_fairtree){ .tree = tree };
    fair->rows = calloc(rows, sizeof *fair->rows);
    fair->order = malloc(rows * sizeof *fair->order);
    fair->spare = malloc(rows * sizeof *fair->spare);
    fair->children = malloc(rows * sizeof *fair->children);
    fair->stack = malloc(rows * sizeof *fair->stack);
    fair->key = malloc(rows * sizeof *fair->key);
    if (!fair->rows || !fair->order || !fair->spare || !fair->children || !fair->stack ||
        !fair->key)
        return false;
    slurm_fairtree_rank(fair);
    return true;
}

void slurm_fairtree_clear(struct slurm_fairtree *fair)
{
    free(fair->rows);
    free(fair->order);
    free(fair->spare);
    free(fair->children);
    free(fair->stack);
    free(fair->key);
    *fair = (struct slurm_fairtree){ 0 };
}

int64_t slurm_billing_micro(const struct slurm_spec *spec, uint64_t cores, uint64_t gpus,
                            uint64_t memory_mib)
{
    const double units = spec->billing_cpu * (double)cores + spec->billing_gpu * (double)gpus +
                         spec->billing_mem_gib * (double)memory_mib / 1024;
    if (!(units > 0)) return 0;
    return units < 9e12 ? (int64_t)(units * 1e6 + 0.5) : INT64_C(9000000000000000000);
}

/* Takes the running jobs' use up to now into `booked`. */
static void book_until(struct slurm_fairtree_row *row, int64_t now_ns)
{
    ASSERT(now_ns >= row->booked_ns);
    row->booked += (int128)row->rate_micro * (now_ns - row->booked_ns);
    row->booked_ns = now_ns;
}

void slurm_fairtree_book(struct slurm_fairtree *fair, uint32_t assoc, int64_t billing_micro,
                         int64_t now_ns)
{
    if (assoc == ASSOC_NONE) return;
    struct slurm_fairtree_row *row = &fair->rows[assoc];
    book_until(row, now_ns);
    row->rate_micro += billing_micro;
    ASSERT(row->rate_micro >= 0);
}

void slurm_fairtree_update(struct slurm_fairtree *fair, int64_t half_life_ns, int64_t now_ns)
{
    const double halves =
        half_life_ns > 0 ? (double)(now_ns - fair->updated_ns) / (double)half_life_ns : 0;
    const double kept = exact_pow(0.5, halves);
    for (uint32_t r = 0; r < fair->tree->count; r++) {
        struct slurm_fairtree_row *row = &fair->rows[r];
        if (!slurm_assoc_is_user(fair->tree, r)) continue;
        book_until(row, now_ns);
        row->usage = row->usage * kept + (double)row->booked / 1e15;
        row->booked = 0;
    }
    fair->updated_ns = now_ns;
    slurm_fairtree_rank(fair);
}

/* Use of accounts from that of their users. */
static void sum_up(struct slurm_fairtree *fair)
{
    const struct slurm_assoc *tree = fair->tree;
    for (uint32_t r = 0; r < tree->count; r++)
        if (!slurm_assoc_is_user(tree, r)) fair->rows[r].usage = 0;
    for (uint32_t i = 0; i < tree->count; i++) {
        const uint32_t row = tree->deepest_first[i], parent = tree->rows[row].parent;
        if (parent != ASSOC_NONE) fair->rows[parent].usage += fair->rows[row].usage;
    }
}

/* Sum of the shares of each account's children, in key[]. */
static void levels(struct slurm_fairtree *fair)
{
    const struct slurm_assoc *tree = fair->tree;
    memset(fair->key, 0, tree->count * sizeof *fair->key);
    for (uint32_t r = 1; r < tree->count; r++)
        fair->key[tree->rows[r].parent] += tree->rows[r].shares;
    for (uint32_t r = 1; r < tree->count; r++) {
        const uint32_t parent = tree->rows[r].parent;
        struct slurm_fairtree_row *row = &fair->rows[r];
        if (tree->rows[r].shares == 0)
            row->level_fs = 0;
        else if (row->usage > 0)
            row->level_fs = (double)tree->rows[r].shares / (double)fair->key[parent] /
                            (row->usage / fair->rows[parent].usage);
        else
            row->level_fs = HUGE_VAL;
    }
}

/* Numbers >= 0 in the order of their bits. */
static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Rows by parent; below one parent the highest level_fs first, users before accounts, then as written. */
static void sort_siblings(struct slurm_fairtree *fair)
{
    const struct slurm_assoc *tree = fair->tree;
    for (uint32_t r = 0; r < tree->count; r++) {
        fair->order[r] = r;
        fair->key[r] = slurm_assoc_is_user(tree, r) ? 0 : 1;
    }
    sort_rows(fair->order, fair->spare, tree->count, fair->key);
    for (uint32_t r = 0; r < tree->count; r++)
        fair->key[r] = UINT64_MAX - bits_of(fair->rows[r].level_fs);
    sort_rows(fair->order, fair->spare, tree->count, fair->key);
    for (uint32_t r = 0; r < tree->count; r++)
        fair->key[r] = tree->rows[r].parent == ASSOC_NONE ? 0 : tree->rows[r].parent + UINT64_C(1);
    sort_rows(fair->order, fair->spare, tree->count, fair->key);
    uint32_t at = 1; /* behind the root, which has no parent */
    for (uint32_t r = 0; r <= tree->count; r++) {
        while (at < tree->count && tree->rows[fair->order[at]].parent < r) at++;
        fair->children[r] = at;
    }
}

/* The walk. stack[] holds places in `order`: on each level the sibling that is looked at. */
static void walk(struct slurm_fairtree *fair)
{
    const struct slurm_assoc *tree = fair->tree;
    uint32_t rank = tree->users, unused = tree->users, depth = 0;
    bool tied_above = false;
    if (fair->children[0] == fair->children[1]) return;
    fair->stack[0] = fair->children[0];
    for (;;) {
        const uint32_t at = fair->stack[depth], row = fair->order[at];
        const uint32_t parent = tree->rows[row].parent;
        bool tied = tied_above;
        if (at > fair->children[parent])
            tied = fair->rows[fair->order[at - 1]].level_fs == fair->rows[row].level_fs;
        if (slurm_assoc_is_user(tree, row)) {
            if (!tied) rank = unused;
            fair->rows[row].factor = rank / (double)tree->users;
            unused--;
        } else if (fair->children[row] < fair->children[row + 1]) {
            tied_above = tied;
            fair->stack[++depth] = fair->children[row];
            continue;
        }
        while (fair->stack[depth] + 1 ==
               fair->children[tree->rows[fair->order[fair->stack[depth]]].parent + 1]) {
            if (depth == 0) return;
            depth--;
        }
        fair->stack[depth]++;
    }
}

void slurm_fairtree_rank(struct slurm_fairtree *fair)
{
    if (fair->tree->count == 0) return;
    sum_up(fair);
    levels(fair);
    sort_siblings(fair);
    walk(fair);
}
