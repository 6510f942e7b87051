/* score.c - see score.h. */
#include "policy/score.h"

#include "base/assert.h"
#include "base/exactmath.h"

#include <math.h>

static uint32_t asked_milli(const struct score_ask *ask)
{
    return ask->gpus * SCORE_MILLI + ask->share_milli;
}

static uint32_t free_milli(const struct score_node *node)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < node->gpus; i++) sum += node->milli_free[i];
    return sum;
}

/* GPUs with at least so much free. */
static uint32_t gpus_with(const struct score_node *node, uint32_t milli)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->gpus; i++) count += node->milli_free[i] >= milli;
    return count;
}

uint32_t score_kind(const struct score_ask *ask)
{
    if (ask->share_milli) return 1;
    return ask->gpus ? UINT32_C(1) << (ask->gpus < 31 ? ask->gpus : 31) : 0;
}

bool score_fits(const struct score_node *node, const struct score_ask *ask)
{
    if (ask->cores_milli > node->cores_milli_free || ask->memory_bytes > node->memory_free)
        return false;
    if (ask->share_milli) return gpus_with(node, ask->share_milli) >= 1;
    return gpus_with(node, SCORE_MILLI) >= ask->gpus;
}

uint32_t score_best_fit(const struct score_node *node, const struct score_ask *ask,
                        struct score_scale scale)
{
    const uint64_t cores = scale.cores_milli ? scale.cores_milli : 1;
    const uint64_t gpus = scale.gpus ? (uint64_t)scale.gpus * SCORE_MILLI : 1;
    const uint64_t left = (node->cores_milli_free - ask->cores_milli) * gpus +
                          (free_milli(node) - asked_milli(ask)) * cores;
    return (uint32_t)((2 * cores * gpus - left) * SCORE_MOST / (2 * cores * gpus));
}

/* In double: the products of four quantities pass 64 bits. */
uint32_t score_dot_product(const struct score_node *node, const struct score_ask *ask,
                           struct score_scale scale)
{
    const double cores = scale.cores_milli ? scale.cores_milli : 1;
    const double gpus = scale.gpus ? scale.gpus * (double)SCORE_MILLI : 1;
    const double product = node->cores_milli_free / cores * (ask->cores_milli / cores) +
                           free_milli(node) / gpus * (asked_milli(ask) / gpus);
    return (uint32_t)floor(SCORE_MOST * (1.0 - product / 2.0));
}

uint32_t score_clustering(const struct score_node *node, const struct score_ask *ask,
                          struct score_scale scale)
{
    const uint32_t kind = score_kind(ask), quarter = SCORE_MOST / 4;
    if (kind == 0) return 0;
    const uint32_t most = scale.gpus * SCORE_MILLI;
    const uint32_t fullness = quarter * (most - free_milli(node)) / most;
    if (node->kinds & kind) return fullness + (node->kinds == kind ? 3 * quarter : 2 * quarter);
    return fullness + (node->kinds == 0 ? quarter : 0);
}

/* The hundredths that are free of the GPUs in use that a share may take: the fullest with room. A whole GPU never
 * goes on one in use. False: only untouched ones have room. */
static bool in_use_free(const struct score_node *node, const struct score_ask *ask,
                        uint32_t *hundredths)
{
    if (ask->share_milli == 0) return false;
    const uint32_t gpu = score_tightest_gpu(node, ask->share_milli);
    *hundredths = node->milli_free[gpu] * 100u / SCORE_MILLI;
    return node->milli_free[gpu] < SCORE_MILLI;
}

uint32_t score_packing(const struct score_node *node, const struct score_ask *ask)
{
    if (asked_milli(ask) == 0) return 0;
    const uint32_t third = SCORE_MOST / 3, half = SCORE_MOST / 2;
    if (gpus_with(node, SCORE_MILLI) == node->gpus)
        return third > 2 * node->gpus ? third - node->gpus : node->gpus;
    uint32_t hundredths;
    if (in_use_free(node, ask, &hundredths)) return SCORE_MOST - hundredths / 10;
    const uint32_t untouched = ask->share_milli ? 1 : ask->gpus;
    return half - untouched > third ? half - untouched : third;
}

/* ---- fragmentation ---------------------------------------------------------------------------- */

void score_mix_init(struct score_mix *mix, const struct score_task *tasks, uint32_t task_count,
                    uint64_t weight)
{
    ASSERT(weight > 0);
    *mix = (struct score_mix){ .tasks = tasks, .task_count = task_count, .weight = weight };
    /* The logistic function turned round: score s needs a fall of log(s / (100 - s)). */
    for (int s = 1; s < SCORE_MOST; s++)
        mix->least_fall[s] =
            (int64_t)ceil(exact_log(s / (double)(SCORE_MOST - s)) * SCORE_MILLI * (double)weight);
}

int64_t score_fragment(const struct score_node *node, const struct score_mix *mix)
{
    const int64_t all = free_milli(node);
    if (all == 0) return 0;
    int64_t sum = 0;
    for (uint32_t t = 0; t < mix->task_count; t++) {
        const struct score_task *task = &mix->tasks[t];
        const uint32_t milli = task->ask.share_milli ? task->ask.share_milli : SCORE_MILLI;
        const uint32_t wanted = task->ask.share_milli ? 1 : task->ask.gpus;
        if (wanted == 0) continue;
        uint32_t with_room = 0;
        int64_t too_small = 0;
        for (uint32_t i = 0; i < node->gpus; i++) {
            const bool room = node->milli_free[i] >= milli;
            with_room += room;
            too_small += room ? 0 : node->milli_free[i];
        }
        const bool fits = with_room >= wanted && node->cores_milli_free >= task->ask.cores_milli &&
                          (task->groups >> node->group & 1);
        sum += (int64_t)task->count * (fits ? too_small : all);
    }
    return sum;
}

static uint32_t score_of_fall(const struct score_mix *mix, int64_t fall)
{
    uint32_t low = 0, high = SCORE_MOST; /* least_fall[low] <= fall < least_fall[high] */
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (mix->least_fall[middle] <= fall)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Takes the first untouched GPUs. */
static void take_whole(struct score_node *node, uint32_t gpus)
{
    for (uint32_t i = 0; i < node->gpus && gpus > 0; i++)
        if (node->milli_free[i] == SCORE_MILLI) {
            node->milli_free[i] = 0;
            gpus--;
        }
}

static bool seen_before(const struct score_node *node, uint32_t gpu)
{
    for (uint32_t i = 0; i < gpu; i++)
        if (node->milli_free[i] == node->milli_free[gpu]) return true;
    return false;
}

uint32_t score_fgd(const struct score_node *node, const struct score_ask *ask,
                   const struct score_mix *mix, int64_t fragment, uint32_t *gpu)
{
    struct score_node then = *node;
    then.cores_milli_free -= ask->cores_milli;
    if (ask->share_milli == 0) {
        take_whole(&then, ask->gpus);
        return score_of_fall(mix, fragment - score_fragment(&then, mix));
    }
    uint32_t best = 0;
    bool any = false;
    for (uint32_t i = 0; i < node->gpus; i++) {
        if (node->milli_free[i] < ask->share_milli || seen_before(node, i)) continue;
        then.milli_free[i] = (uint16_t)(node->milli_free[i] - ask->share_milli);
        const uint32_t score = score_of_fall(mix, fragment - score_fragment(&then, mix));
        then.milli_free[i] = node->milli_free[i];
        if (any && score <= best) continue;
        best = score;
        *gpu = i;
        any = true;
    }
    return best;
}

/* ---- the GPU of a share ----------------------------------------------------------------------- */

uint32_t score_tightest_gpu(const struct score_node *node, uint32_t share_milli)
{
    uint32_t best = node->gpus;
    for (uint32_t i = 0; i < node->gpus; i++)
        if (node->milli_free[i] >= share_milli &&
            (best == node->gpus || node->milli_free[i] < node->milli_free[best]))
            best = i;
    ASSERT(best < node->gpus);
    return best;
}

uint32_t score_any_gpu(const struct score_node *node, uint32_t share_milli, uint64_t nth)
{
    const uint32_t count = gpus_with(node, share_milli);
    ASSERT(count > 0);
    uint64_t left = nth % count;
    uint32_t i = 0;
    while (node->milli_free[i] < share_milli || left-- > 0) i++;
    return i;
}
