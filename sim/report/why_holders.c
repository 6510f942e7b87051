/* why_holders.c - whose GPUs a waiting job waited for. */
#include "report/why_story.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* Holdings on one node, earliest end first. */
enum { ON_NODE_MAX = 64 };
struct on_node {
    const struct detail_holding *row[ON_NODE_MAX];
    uint32_t count;
};

static uint32_t bits_of(uint32_t mask)
{
    uint32_t count = 0;
    for (; mask != 0; mask &= mask - 1) count++;
    return count;
}

/* GPUs of the node that the holdings from row `first` on do not hold. */
static uint32_t free_behind(const struct on_node *on, uint32_t first, uint32_t node_gpus)
{
    uint32_t mask = 0;
    for (uint32_t i = first; i < on->count; i++) mask |= on->row[i]->gpu_mask;
    const uint32_t held = bits_of(mask);
    return held < node_gpus ? node_gpus - held : 0;
}

static void collect(const struct soonest *soonest, uint32_t node, uint64_t *next,
                    struct on_node *on)
{
    on->count = 0;
    while (*next < soonest->holding_count && soonest->holdings[*next].server < node) ++*next;
    for (; *next < soonest->holding_count && soonest->holdings[*next].server == node; ++*next) {
        if (on->count == ON_NODE_MAX) continue;
        uint32_t at = on->count++;
        for (; at > 0 && on->row[at - 1]->until_ns > soonest->holdings[*next].until_ns; at--)
            on->row[at] = on->row[at - 1];
        on->row[at] = &soonest->holdings[*next];
    }
}

/* How many of the holdings must end before the node has what the request asks of one; count + 1 = never. */
static uint32_t ends_needed(const struct on_node *on, uint32_t node_gpus, uint32_t per_node)
{
    uint32_t ended = 0;
    while (ended <= on->count && free_behind(on, ended, node_gpus) < per_node) ended++;
    return ended;
}

/* When each node would fit the request. */
static void when_free(const struct soonest *soonest, uint64_t *free_at)
{
    uint64_t next = 0;
    struct on_node on;
    for (uint32_t node = 0; node < soonest->node_count; node++) {
        collect(soonest, node, &next, &on);
        const uint32_t ended =
            ends_needed(&on, soonest->node_gpus[node], soonest->request->gpus_per_node);
        free_at[node] = soonest->is_out[node] || ended > on.count ? INT64_MAX
                        : ended == 0                              ? (uint64_t)soonest->at_ns
                                     : (uint64_t)on.row[ended - 1]->until_ns;
    }
}

static bool add_holder(struct log *holders, const struct detail_holding *row)
{
    struct holder *known = LOG_ITEMS(holders, struct holder);
    for (uint64_t i = 0; i < holders->count; i++)
        if (known[i].serial == row->serial) {
            known[i].gpus += bits_of(row->gpu_mask);
            known[i].nodes++;
            return true;
        }
    const struct holder holder = { .serial = row->serial,
                                   .gpus = bits_of(row->gpu_mask),
                                   .nodes = 1,
                                   .until_ns = row->until_ns,
                                   .id = row->id };
    return log_append(holders, &holder);
}

static bool add_holders(const struct soonest *soonest, const uint8_t *is_picked,
                        struct log *holders)
{
    uint64_t next = 0;
    struct on_node on;
    for (uint32_t node = 0; node < soonest->node_count; node++) {
        collect(soonest, node, &next, &on);
        if (!is_picked[node]) continue;
        const uint32_t ended =
            ends_needed(&on, soonest->node_gpus[node], soonest->request->gpus_per_node);
        for (uint32_t i = 0; i < ended && i < on.count; i++)
            if (!add_holder(holders, on.row[i])) return false;
    }
    return true;
}

static bool most_gpus_first(struct log *holders)
{
    const uint32_t count = (uint32_t)holders->count;
    struct holder *sorted = malloc((count + 1) * sizeof *sorted);
    uint64_t *key = malloc((count + 1) * sizeof *key);
    uint32_t *order = malloc(2 * ((size_t)count + 1) * sizeof *order);
    const bool ok = sorted && key && order;
    for (uint32_t i = 0; ok && i < count; i++) {
        const struct holder *holder = &LOG_ITEMS(holders, struct holder)[i];
        key[i] = (uint64_t)(UINT32_MAX - holder->gpus) << 32 | holder->serial;
        order[i] = i;
    }
    if (ok) sort_rows(order, order + count + 1, count, key);
    for (uint32_t i = 0; ok && i < count; i++)
        sorted[i] = LOG_ITEMS(holders, struct holder)[order[i]];
    if (ok && count > 0) memcpy(holders->items, sorted, count * sizeof *sorted);
    free(sorted);
    free(key);
    free(order);
    return ok;
}

bool why_holders(const struct soonest *soonest, struct log *holders, int64_t *fits_ns)
{
    *fits_ns = INT64_MAX;
    const uint32_t nodes = soonest->node_count, wanted = soonest->request->nodes;
    if (soonest->request->gpus_per_node == 0 || wanted == 0 || wanted > nodes) return true;
    uint64_t *free_at = malloc(nodes * sizeof *free_at);
    uint32_t *order = malloc(2 * (size_t)nodes * sizeof *order);
    uint8_t *is_picked = calloc(nodes, 1);
    bool ok = free_at && order && is_picked;
    if (ok) {
        when_free(soonest, free_at);
        for (uint32_t node = 0; node < nodes; node++) order[node] = node;
        sort_rows(order, order + nodes, nodes, free_at);
        for (uint32_t i = 0; i < wanted && free_at[order[i]] < INT64_MAX; i++)
            is_picked[order[i]] = 1;
        *fits_ns = (int64_t)free_at[order[wanted - 1]];
        ok = add_holders(soonest, is_picked, holders) && most_gpus_first(holders);
    }
    free(free_at);
    free(order);
    free(is_picked);
    return ok;
}
