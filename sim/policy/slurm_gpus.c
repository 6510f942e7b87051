/* slurm_gpus.c - which GPUs of a node a job gets.
 *
 * Without Cores= the lowest free ones. With Cores= those of sockets where the job has cores come first. With Links=
 * too, the recordings of the two releases differ: in 22.05 the next GPU is one that is best linked to those chosen; in
 * 26.05 the list of GPUs is sorted by links upwards, so that the next one is the least linked behind the first place
 * of the list. --gpus looks for the best linked pair in both. */
#include "policy/slurm_choose.h"

#include <string.h>

enum { GPUS = LIMIT_GPUS_PER_SERVER, LINK_STEPS = 4 };

struct pick {
    const struct slurm_kind *kind;
    uint32_t sockets, gpus, free, chosen, needed;
    uint32_t order[GPUS];
    int32_t links[GPUS];
    bool linked;
};

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t pool(const struct pick *pick, uint32_t socket)
{
    return pick->kind->gpus_of_socket[socket];
}

static void add_links(struct pick *pick, uint32_t gpu)
{
    for (uint32_t g = 0; g < pick->gpus; g++)
        if (g != gpu && pick->free >> g & 1) pick->links[g] += pick->kind->link_score[gpu][g];
}

static void choose(struct pick *pick, uint32_t gpu)
{
    pick->chosen |= UINT32_C(1) << gpu;
    pick->needed--;
}

/* ---- compat 24.11 and 26.05 ------------------------------------------------------------------ */

/* By links to what is chosen, fewest first; equal ones keep their order. */
static void sort_by_links(struct pick *pick)
{
    for (uint32_t i = 1; i < pick->gpus; i++) {
        const uint32_t gpu = pick->order[i];
        uint32_t at = i;
        for (; at > 0 && pick->links[pick->order[at - 1]] > pick->links[gpu]; at--)
            pick->order[at] = pick->order[at - 1];
        pick->order[at] = gpu;
    }
}

/* Takes up to `count` free GPUs of a pool. After each the list is sorted again and looked through from its second
 * place on. */
static void take_new(struct pick *pick, uint32_t of, uint32_t count)
{
    for (uint32_t i = 0; i < pick->gpus && count > 0 && pick->needed > 0; i++) {
        const uint32_t gpu = pick->linked ? pick->order[i] : i;
        if (!(of & pick->free & ~pick->chosen & UINT32_C(1) << gpu)) continue;
        choose(pick, gpu);
        count--;
        if (!pick->linked) continue;
        add_links(pick, gpu);
        sort_by_links(pick);
        i = 0;
    }
}

/* wanted[sockets]: how many from each socket first. */
static void pick_new(struct pick *pick, const uint16_t *cores, const uint32_t *wanted, bool bind)
{
    for (uint32_t s = 0; s < pick->sockets; s++)
        if (cores[s]) take_new(pick, pool(pick, s), wanted[s]);
    for (uint32_t s = 0; s < pick->sockets; s++)
        if (cores[s]) take_new(pick, pool(pick, s), pick->needed);
    for (uint32_t s = 0; s < pick->sockets && !bind; s++)
        take_new(pick, pool(pick, s), pick->needed);
}

/* ---- compat 22.05 ---------------------------------------------------------------------------- */

/* Brings the links down to a few steps; returns the highest. */
static int32_t scale_links(struct pick *pick)
{
    int32_t best = 0;
    for (uint32_t g = 0; g < pick->gpus; g++)
        if (pick->links[g] > best) best = pick->links[g];
    if (best <= LINK_STEPS) return best;
    const int32_t by = (best + LINK_STEPS - 1) / LINK_STEPS;
    best = 0;
    for (uint32_t g = 0; g < pick->gpus; g++) {
        pick->links[g] /= by;
        if (pick->links[g] > best) best = pick->links[g];
    }
    return best;
}

static void take_old(struct pick *pick, uint32_t of, int32_t links_least, uint32_t count)
{
    for (uint32_t g = 0; g < pick->gpus && count > 0 && pick->needed > 0; g++) {
        if (!(of & pick->free & ~pick->chosen & UINT32_C(1) << g)) continue;
        if (pick->linked && pick->links[g] < links_least) continue;
        choose(pick, g);
        count--;
    }
}

/* Step by step from the best linked down, from the marked sockets. */
static void take_linked(struct pick *pick, uint32_t best, uint32_t sockets)
{
    for (int32_t links = (int32_t)best; links >= 0 && pick->needed > 0; links--) {
        for (uint32_t s = 0; s < pick->sockets; s++)
            if (sockets >> s & 1) take_old(pick, pool(pick, s), links, pick->needed);
    }
}

static void take_first(struct pick *pick, uint32_t of, uint32_t count)
{
    const uint32_t before = pick->chosen;
    take_old(pick, of, INT32_MIN, count);
    for (uint32_t g = 0; g < pick->gpus && pick->linked; g++)
        if ((pick->chosen & ~before) >> g & 1) add_links(pick, g);
}

static void pick_old(struct pick *pick, const uint16_t *cores, const uint32_t *wanted)
{
    uint32_t used = 0;
    for (uint32_t s = 0; s < pick->sockets; s++) used |= (uint32_t)(cores[s] > 0) << s;
    for (uint32_t s = 0; s < pick->sockets; s++)
        if (used >> s & 1) take_first(pick, pool(pick, s), wanted ? wanted[s] : 1);
    const uint32_t best = pick->linked ? (uint32_t)scale_links(pick) : 0;
    if (!wanted) take_linked(pick, best, used);
    take_linked(pick, best, wanted ? UINT32_MAX : ~used);
}

/* ---- --gpus ---------------------------------------------------------------------------------- */

/* All free GPUs near the job's cores, without those that are worst linked to the one that has the best link. */
static bool pick_linked_pair(struct pick *pick, const uint16_t *cores)
{
    uint32_t near = 0;
    for (uint32_t s = 0; s < pick->sockets; s++)
        if (cores[s]) near |= pool(pick, s) & pick->free;
    uint32_t count = (uint32_t)bits_count(near), best = GPUS;
    if (count < pick->needed) return false;
    int32_t best_score = -1;
    for (uint32_t a = 0; a < pick->gpus; a++)
        for (uint32_t b = a + 1; b < pick->gpus; b++)
            if (near >> a & 1 && near >> b & 1 && pick->kind->link_score[a][b] > best_score) {
                best_score = pick->kind->link_score[a][b];
                best = a;
            }
    if (best == GPUS) return false;
    for (; count > pick->needed; count--) {
        uint32_t worst = GPUS;
        for (uint32_t g = 0; g < pick->gpus; g++)
            if (near >> g & 1 && g != best &&
                (worst == GPUS ||
                 pick->kind->link_score[best][g] < pick->kind->link_score[best][worst]))
                worst = g;
        near &= ~(UINT32_C(1) << worst);
    }
    pick->chosen = near;
    return true;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* From each socket as its part of the job's cores, or of its tasks. */
static void wanted_of(const struct choice *choice, const struct pick *pick, const uint16_t *cores,
                      uint32_t *wanted)
{
    const struct slurm_need *need = choice->need;
    const bool by_tasks = need->gpus_per_task && !need->gpus_per_node;
    uint32_t total = 0;
    for (uint32_t s = 0; s < pick->sockets; s++) total += cores[s];
    for (uint32_t s = 0; s < pick->sockets; s++) {
        const uint32_t tasks = (cores[s] + need->cores_per_task - 1) / need->cores_per_task;
        wanted[s] = by_tasks ? tasks * need->gpus_per_task
                    : total  ? (uint32_t)((uint64_t)cores[s] * pick->needed / total)
                             : 0;
    }
}

static uint64_t lowest(uint64_t free, uint32_t count)
{
    uint64_t rest = free;
    while (count-- > 0 && rest) rest &= rest - 1;
    return free & ~rest;
}

uint64_t gpus_pick(const struct choice *choice, uint32_t node, uint32_t count,
                   const uint16_t *cores)
{
    if (choice->need->whole_nodes) return choice->picture->free_mask[node];
    if (!slurm_kind_of(choice->nodes, node)->near_cores)
        return lowest(free_gpus(choice, node), count);
    const struct slurm_kind *kind = slurm_kind_of(choice->nodes, node);
    const bool old = choice->nodes->slurm->compat == COMPAT_22_05;
    const bool by_tasks = choice->need->gpus_per_task && !choice->need->gpus_per_node;
    const bool by_job = choice->need->gpus_per_job && !by_tasks && !choice->need->gpus_per_node;
    struct pick pick = { .kind = kind,
                         .sockets = kind->sockets,
                         .gpus = kind->gpus,
                         .free = (uint32_t)choice->picture->free_mask[node],
                         .needed = least(count, kind->gpus),
                         .linked = kind->linked };
    uint32_t wanted[SLURM_SOCKETS];
    for (uint32_t g = 0; g < pick.gpus; g++) pick.order[g] = g;
    if (by_job && pick.linked && count > 1 && pick_linked_pair(&pick, cores)) return pick.chosen;
    if (by_job) pick.linked = false;
    wanted_of(choice, &pick, cores, wanted);
    if (old)
        pick_old(&pick, cores, by_tasks ? wanted : NULL);
    else
        pick_new(&pick, cores, wanted, choice->need->bind);
    return pick.chosen;
}

uint32_t shard_pick(const struct choice *choice, uint32_t node)
{
    const struct slurm_kind *kind = slurm_kind_of(choice->nodes, node);
    const struct slurm_picture *picture = choice->picture;
    if (!picture->shards || !kind->shards_per_gpu) return NODE_NONE;
    const uint16_t *taken = picture->shards + (size_t)node * choice->nodes->gpus_most;
    for (uint32_t g = 0; g < kind->cards; g++) {
        const bool whole = picture->free_mask[node] >> g & 1;
        const bool shared = taken[g] > 0 && picture->sound_mask[node] >> g & 1;
        if ((whole || shared) && taken[g] + choice->need->shards_per_node <= kind->shards_per_gpu)
            return g;
    }
    return NODE_NONE;
}
