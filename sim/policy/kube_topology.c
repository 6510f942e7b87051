/* kube_topology.c - see kube_topology.h.
 *
 * First the domains at the level asked for, or above it, that hold all; then, level by level down to the hosts,
 * all children of what was chosen are looked at together. At each step the largest are taken first and the
 * last one is the tightest that still holds the rest: what is left whole elsewhere stays whole. */
#include "policy/kube_topology.h"

#include "base/assert.h"
#include "base/sort.h"

#include <stddef.h>

void topology_sum(struct topology_tree *tree)
{
    for (uint32_t level = tree->level_count - 1; level > 0; level--) {
        for (uint32_t d = 0; d < tree->domains[level - 1]; d++) tree->free[level - 1][d] = 0;
        for (uint32_t d = 0; d < tree->domains[level]; d++)
            tree->free[level - 1][tree->parent[level][d]] += tree->free[level][d];
    }
}

/* Puts rows[count] of a level in the order in which they are taken: largest first, or smallest first; by name
 * among equals. Domains without a place are left out. Returns how many remain. */
static uint32_t put_in_order(struct topology_tree *tree, uint32_t level, uint32_t count,
                             bool smallest_first)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (tree->free[level][tree->rows[i]]) tree->rows[kept++] = tree->rows[i];
    for (uint32_t d = 0; d < tree->domains[level]; d++) {
        const uint64_t places = tree->free[level][d];
        tree->key[d] = smallest_first ? places : UINT32_MAX - places;
    }
    sort_rows(tree->rows, tree->spare, kept, tree->key);
    return kept;
}

/* Of rows[count], largest first, the place of the smallest that holds `needed`; first by name. rows[0] holds it. */
static uint32_t tightest(const struct topology_tree *tree, uint32_t level, const uint32_t *rows,
                         uint32_t count, uint32_t needed)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count && tree->free[level][rows[i]] >= needed; i++)
        if (tree->free[level][rows[i]] < tree->free[level][rows[best]]) best = i;
    return best;
}

/* Takes from rows[count], in order, until `needed` pods have a place; chosen[] gets the domains. With best fit the
 * last is the tightest. Returns the number of domains, 0 when there is not enough. */
static uint32_t take(struct topology_tree *tree, uint32_t level, uint32_t count, uint32_t needed,
                     bool best_fit)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = tree->rows[i];
        const uint32_t places = tree->free[level][row];
        if (places >= needed) {
            if (best_fit)
                row = tree->rows[i + tightest(tree, level, tree->rows + i, count - i, needed)];
            tree->chosen[taken++] = row;
            return taken;
        }
        tree->chosen[taken++] = row;
        needed -= places;
    }
    return 0;
}

static uint32_t all_rows(struct topology_tree *tree, uint32_t level)
{
    for (uint32_t d = 0; d < tree->domains[level]; d++) tree->rows[d] = d;
    return tree->domains[level];
}

/* The domains that the search starts from; 0 = not admitted. *level becomes theirs. */
static uint32_t top_domains(struct topology_tree *tree, uint32_t count, enum topology_mode mode,
                            uint32_t *level)
{
    for (;; (*level)--) {
        const uint32_t rows = put_in_order(tree, *level, all_rows(tree, *level), false);
        if (rows && tree->free[*level][tree->rows[0]] >= count) {
            tree->chosen[0] = tree->rows[tightest(tree, *level, tree->rows, rows, count)];
            return 1;
        }
        if (mode == TOPOLOGY_REQUIRED) return 0;
        if (*level == 0) return take(tree, 0, rows, count, true);
    }
}

/* rows[] = the children of chosen[count]. */
static uint32_t children_of(struct topology_tree *tree, uint32_t level, uint32_t count)
{
    for (uint32_t d = 0; d < tree->domains[level]; d++) tree->key[d] = 0;
    for (uint32_t i = 0; i < count; i++) tree->key[tree->chosen[i]] = 1;
    uint32_t rows = 0;
    for (uint32_t d = 0; d < tree->domains[level + 1]; d++)
        if (tree->key[tree->parent[level + 1][d]]) tree->rows[rows++] = d;
    return rows;
}

static void give(struct topology_tree *tree, uint32_t chosen, uint32_t count, uint32_t *assigned)
{
    const uint32_t *free_places = tree->free[tree->level_count - 1];
    for (uint32_t i = 0; i < chosen; i++) {
        const uint32_t host = tree->chosen[i];
        const uint32_t pods = count < free_places[host] ? count : free_places[host];
        assigned[host] = pods;
        count -= pods;
    }
    ASSERT(count == 0);
}

/* The fullest host that holds all, else hosts from the fullest on. */
static uint32_t fullest_hosts(struct topology_tree *tree, uint32_t count)
{
    const uint32_t level = tree->level_count - 1;
    const uint32_t rows = put_in_order(tree, level, all_rows(tree, level), true);
    for (uint32_t i = 0; i < rows; i++)
        if (tree->free[level][tree->rows[i]] >= count) {
            tree->chosen[0] = tree->rows[i];
            return 1;
        }
    return take(tree, level, rows, count, false);
}

bool topology_assign(struct topology_tree *tree, uint32_t count, enum topology_mode mode,
                     uint32_t level, uint32_t *assigned)
{
    const uint32_t hosts = tree->level_count - 1;
    for (uint32_t d = 0; d < tree->domains[hosts]; d++) assigned[d] = 0;
    if (count == 0) return true;
    uint32_t chosen = 0;
    if (mode == TOPOLOGY_UNCONSTRAINED)
        chosen = fullest_hosts(tree, count);
    else {
        chosen = top_domains(tree, count, mode, &level);
        for (; chosen && level < hosts; level++) {
            const uint32_t rows =
                put_in_order(tree, level + 1, children_of(tree, level, chosen), false);
            chosen = take(tree, level + 1, rows, count, true);
        }
    }
    if (chosen) give(tree, chosen, count, assigned);
    return chosen > 0;
}
