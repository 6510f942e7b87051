/* slurm_select.c - see slurm_select.h: which algorithm, how often, and the plain case of one node. */
#include "policy/slurm_select.h"

#include "policy/slurm_choose.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

static bool take_memory(struct slurm_chooser *chooser)
{
    const struct slurm_nodes *nodes = chooser->nodes;
    struct arena *arena = chooser->arena;
    const uint32_t count = nodes->nodes;
    const uint32_t units = nodes->switches.count + nodes->blocks.count + 1;
    uint64_t **const sets[] = { &chooser->map,   &chooser->fitting, &chooser->lighter,
                                &chooser->left,  &chooser->chosen,  &chooser->inside,
                                &chooser->spare, &chooser->picked };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (!(*sets[i] = ARENA_ARRAY(arena, uint64_t, nodes->words))) return false;
    chooser->offers = ARENA_ARRAY(arena, struct offer, count);
    chooser->runs = ARENA_ARRAY(arena, struct node_run, count + 1);
    chooser->rows = ARENA_ARRAY(arena, uint32_t, count);
    chooser->rows_spare = ARENA_ARRAY(arena, uint32_t, count);
    chooser->keys = ARENA_ARRAY(arena, uint64_t, count);
    chooser->counts = ARENA_ARRAY(arena, uint32_t, units);
    chooser->cores = ARENA_ARRAY(arena, uint32_t, units);
    chooser->dists = ARENA_ARRAY(arena, uint32_t, units);
    chooser->used = ARENA_ARRAY(arena, uint8_t, units);
    return chooser->offers && chooser->runs && chooser->rows && chooser->rows_spare &&
           chooser->keys && chooser->counts && chooser->cores && chooser->dists && chooser->used &&
           slurm_picture_init(&chooser->empty, nodes, arena);
}

struct slurm_chooser *slurm_chooser_create(const struct slurm_nodes *nodes)
{
    struct slurm_chooser *chooser = calloc(1, sizeof *chooser);
    if (!chooser) return NULL;
    chooser->nodes = nodes;
    chooser->arena = arena_create(UINT64_MAX);
    if (chooser->arena && take_memory(chooser)) return chooser;
    slurm_chooser_destroy(chooser);
    return NULL;
}

void slurm_chooser_destroy(struct slurm_chooser *chooser)
{
    if (!chooser) return;
    slurm_picture_clear(&chooser->empty);
    free(chooser->parts);
    arena_destroy(chooser->arena);
    free(chooser);
}

const struct part *slurm_parts(const struct slurm_chooser *chooser, uint32_t *count)
{
    *count = chooser->part_count;
    return chooser->parts;
}

const uint64_t *slurm_chosen(const struct slurm_chooser *chooser)
{
    return chooser->chosen;
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* No node with fewer can serve the job. */
struct floor {
    uint32_t gpus, cores;
};

static struct floor floor_of(const struct slurm_need *need)
{
    struct floor floor = { need->gpus_per_node, need->cores_per_task };
    if (need->gpus_per_task > floor.gpus) floor.gpus = need->gpus_per_task;
    if (need->gpus_per_job && floor.gpus == 0) floor.gpus = 1;
    if (need->cores_per_gpu * floor.gpus > floor.cores)
        floor.cores = need->cores_per_gpu * floor.gpus;
    return floor;
}

/* Nodes that the job may use by the caller's, its own and their state's rules; sets chooser->map. */
static void find_candidates(struct choice *choice)
{
    const struct slurm_need *need = choice->need;
    const struct slurm_picture *picture = choice->picture;
    const struct floor floor = floor_of(need);
    const bool gpus_exist = floor.gpus <= choice->nodes->gpus_most;
    const uint64_t *enough = slurm_picture_with_gpus(picture, gpus_exist ? floor.gpus : 0);
    const bool skip_ending = !choice->how->backfill && !choice->how->future;
    for (uint32_t w = 0; w < choice->nodes->words; w++) {
        uint64_t nodes = choice->how->candidates[w] & picture->usable[w] & enough[w];
        if (need->allowed) nodes &= need->allowed[w];
        if (skip_ending) nodes &= ~picture->completing[w];
        if (!gpus_exist || picture->cores_bound[w] < floor.cores) nodes = 0;
        choice->chooser->map[w] = nodes;
    }
}

/* Of these, the ones that can give something; sets chooser->fitting, returns their number. */
static uint32_t find_fitting(struct choice *choice)
{
    struct slurm_chooser *chooser = choice->chooser;
    uint32_t count = 0;
    for (uint32_t w = 0; w < choice->nodes->words; w++) {
        chooser->fitting[w] = 0;
        for (uint64_t bits = chooser->map[w]; bits; bits &= bits - 1) {
            const uint32_t node = w * 64 + (uint32_t)__builtin_ctzll(bits);
            if (!offer_make(choice, node)) continue;
            set_put(chooser->fitting, node);
            count++;
        }
    }
    return count;
}

/* Weight and state as the plain order of nodes sees them: without the GPUs' part of the rank. */
static uint64_t plain_rank(const struct choice *choice, uint32_t node)
{
    const uint64_t asleep = slurm_set_has(choice->picture->asleep, node);
    const uint64_t ending =
        !choice->how->future && slurm_set_has(choice->picture->completing, node);
    return asleep << 33 | (uint64_t)slurm_kind_of(choice->nodes, node)->weight << 1 | ending;
}

static bool is_uniform(const struct choice *choice)
{
    if (!choice->nodes->one_weight) return false;
    for (uint32_t w = 0; w < choice->nodes->words; w++)
        if ((choice->picture->asleep[w] | choice->picture->completing[w]) & choice->chooser->map[w])
            return false;
    return true;
}

/* ---- the one-node rule of 26.05 -------------------------------------------------------------- */

static bool fits_alone(struct choice *choice, uint32_t node)
{
    if (!offer_make(choice, node)) return false;
    choice_begin(choice);
    offer_weigh(choice, node);
    if (offer_of(choice, node)->avail == 0 || !choice_take(choice, node)) return false;
    return choice->cores_left <= 0 && choice_gpus_reach(choice, 0);
}

static bool first_in_order(struct choice *choice)
{
    struct slurm_chooser *chooser = choice->chooser;
    if (is_uniform(choice)) {
        FOR_NODES(node, chooser->map, choice->nodes->words)
        if (fits_alone(choice, node)) return true;
        return false;
    }
    uint32_t count = 0;
    FOR_NODES(node, chooser->map, choice->nodes->words)
    {
        chooser->rows[count++] = node;
        chooser->keys[node] = plain_rank(choice, node);
    }
    sort_rows(chooser->rows, chooser->rows_spare, count, chooser->keys);
    for (uint32_t i = 0; i < count; i++)
        if (fits_alone(choice, chooser->rows[i])) return true;
    return false;
}

/* A second pass can bring something only where the first one asks for nearness or equal shares. */
static bool has_second_pass(const struct choice *choice)
{
    return choice->nodes->sockets_most > 0 || choice->need->gpus_per_job > 0;
}

static bool choose_one(struct choice *choice)
{
    const struct slurm_need *need = choice->need;
    for (uint32_t w = 0; need->required && w < choice->nodes->words; w++)
        choice->chooser->map[w] &= need->required[w];
    if (need->required_count > 1) return false;
    choice->nodes_min = choice->nodes_wanted = choice->nodes_max = 1;
    choice->first_pass = true;
    if (first_in_order(choice)) return true;
    choice->first_pass = false;
    return has_second_pass(choice) && first_in_order(choice);
}

/* ---- several nodes --------------------------------------------------------------------------- */

static bool choose(struct choice *choice)
{
    const struct slurm_need *need = choice->need;
    const struct slurm_spec *slurm = choice->nodes->slurm;
    if (slurm_set_count(choice->map, choice->nodes->words) < choice->nodes_min ||
        (need->required && !slurm_set_within(need->required, choice->map, choice->nodes->words))) {
        choice->retry = RETRY_STOP;
        return false;
    }
    if (need->spread) return choose_spread(choice);
    if (choice->how->backfill && slurm->bf_busy_nodes) return choose_busy_first(choice);
    if (need->lln) return choose_least_loaded(choice);
    if (slurm->pack_serial_at_end && need->cores_min == 1 && choice->nodes_wanted == 1)
        return choose_from_the_end(choice);
    if (choice->nodes->topology == TOPOLOGY_TREE) return choose_tree(choice);
    if (choice->nodes->topology == TOPOLOGY_BLOCK) return choose_block(choice);
    return choose_runs(choice);
}

/* Fitting nodes by what they have, cores times GPUs (before 26.05: their sum), least first, without required ones. */
static uint32_t sort_poorest(struct choice *choice)
{
    struct slurm_chooser *chooser = choice->chooser;
    const bool new = choice->nodes->slurm->compat == COMPAT_26_05;
    uint32_t count = 0;
    FOR_NODES(node, chooser->fitting, choice->nodes->words)
    {
        if (choice->need->required && slurm_set_has(choice->need->required, node)) continue;
        const struct offer *offer = offer_of(choice, node);
        chooser->rows[count++] = node;
        chooser->keys[node] = offer->cores;
        if (offer->gpus_free && new)
            chooser->keys[node] *= offer->gpus_free;
        else
            chooser->keys[node] += offer->gpus_free;
    }
    sort_rows(chooser->rows, chooser->rows_spare, count, chooser->keys);
    return count;
}

/* Takes the poorest node, before 26.05 all that are as poor, out of the try. False: there are no more. */
static bool drop_poorest(const struct choice *choice, uint32_t count, uint32_t *at, uint32_t *left)
{
    struct slurm_chooser *chooser = choice->chooser;
    const bool one = choice->nodes->slurm->compat == COMPAT_26_05;
    while (*at < count && !slurm_set_has(chooser->lighter, chooser->rows[*at])) ++*at;
    if (*at == count) return false;
    const uint64_t key = chooser->keys[chooser->rows[*at]];
    do {
        if (slurm_set_has(chooser->lighter, chooser->rows[*at])) {
            set_drop(chooser->lighter, chooser->rows[*at]);
            --*left;
        }
        ++*at;
    } while (!one && *at<count && * left> choice->nodes_min &&
             chooser->keys[chooser->rows[*at]] == key);
    return true;
}

static void load_map(struct choice *choice, const uint64_t *from)
{
    memcpy(choice->map, from, choice->nodes->words * sizeof *from);
}

/* Sum of the `most` largest of values[count]; the values are lost. */
static uint64_t sum_of_largest(struct slurm_chooser *chooser, uint32_t count, uint32_t most)
{
    uint64_t sum = 0;
    if (most < count) {
        for (uint32_t i = 0; i < count; i++) chooser->rows[i] = i;
        sort_rows(chooser->rows, chooser->rows_spare, count, chooser->keys);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (most < count && i < count - most) continue;
        sum += chooser->keys[most < count ? chooser->rows[i] : i];
    }
    return sum;
}

/* Enough nodes may still be too little: more tasks than nodes, or GPUs of the whole job. */
static bool sums_matter(const struct slurm_need *need)
{
    return need->gpus_per_job || need->cores_min > need->nodes_min * need->cores_per_task;
}

/* Whether the richest nodes of the try hold what the job asks for in sum. If not, no choice among them can: this
 * spares the search without the poorest, which is quadratic. */
static bool is_reachable(struct choice *choice)
{
    const struct slurm_need *need = choice->need;
    struct slurm_chooser *chooser = choice->chooser;
    uint32_t count = 0;
    FOR_NODES(node, chooser->lighter, choice->nodes->words)
    chooser->keys[count++] = offer_of(choice, node)->cores;
    if (sum_of_largest(chooser, count, need->nodes_max) < need->cores_min) return false;
    if (!need->gpus_per_job) return true;
    count = 0;
    FOR_NODES(node, chooser->lighter, choice->nodes->words)
    chooser->keys[count++] = offer_of(choice, node)->gpus_free;
    return sum_of_largest(chooser, count, need->nodes_max) >= need->gpus_per_job;
}

/* Among the nodes in `lighter`: first with GPUs near their cores, then without, and then, since the algorithms are
 * greedy, without the poorest nodes, one after the other. */
static bool choose_among(struct choice *choice)
{
    const struct slurm_need *need = choice->need;
    struct slurm_chooser *chooser = choice->chooser;
    const uint32_t words = choice->nodes->words;
    choice->nodes_max = need->nodes_max;
    if (need->tasks && !need->tasks_per_node && choice->nodes_max > need->tasks)
        choice->nodes_max = need->tasks > choice->nodes_min ? need->tasks : choice->nodes_min;
    if (sums_matter(need) && !is_reachable(choice)) return false;
    choice->first_pass = true;
    load_map(choice, chooser->lighter);
    if (choose(choice)) return true;
    choice->first_pass = false;
    if (choice->nodes->slurm->compat != COMPAT_22_05) choice->nodes_max = need->nodes_max;
    uint32_t left = slurm_set_count(chooser->lighter, words), poor_count = 0, poor = 0;
    for (;;) {
        load_map(choice, chooser->lighter);
        if (choose(choice)) return true;
        if (choice->retry == RETRY_STOP || left <= choice->nodes_min) return false;
        if (choice->retry == RETRY_WITHOUT) {
            for (uint32_t w = 0; w < words; w++) chooser->lighter[w] &= ~chooser->spare[w];
            left = slurm_set_count(chooser->lighter, words);
            continue;
        }
        if (poor_count == 0 && (poor_count = sort_poorest(choice)) == 0) return false;
        if (!drop_poorest(choice, poor_count, &poor, &left)) return false;
    }
}

/* The lowest weight and state at or above `from` among the fitting nodes; UINT64_MAX = none. */
static uint64_t weight_from(const struct choice *choice, uint64_t from)
{
    uint64_t lowest = UINT64_MAX;
    FOR_NODES(node, choice->chooser->fitting, choice->nodes->words)
    {
        const uint64_t weight = plain_rank(choice, node) >> 1;
        if (weight >= from && weight < lowest) lowest = weight;
    }
    return lowest;
}

/* Whether a request for a range of nodes had better see heavier nodes too: of the nodes that are up, free or not, too
 * few are as light, and there are others. */
static bool wants_heavier(const struct choice *choice, uint64_t weight)
{
    uint32_t light = 0, heavier = 0;
    if (choice->nodes_wanted <= choice->nodes_min) return false;
    FOR_NODES(node, choice->how->candidates, choice->nodes->words)
    {
        if (!slurm_set_has(choice->picture->usable, node)) continue;
        if (!(choice->need->kinds >> choice->nodes->kind_of[node] & 1)) continue;
        const bool is_light = plain_rank(choice, node) >> 1 <= weight;
        light += is_light;
        heavier += !is_light;
    }
    return light < choice->nodes_wanted && heavier > 0;
}

/* Nodes of the lowest weight alone, then with those of the next, and so on. */
static bool by_weight(struct choice *choice)
{
    struct slurm_chooser *chooser = choice->chooser;
    const uint32_t words = choice->nodes->words;
    for (uint64_t weight = weight_from(choice, 0); weight != UINT64_MAX;
         weight = weight_from(choice, weight + 1)) {
        uint32_t fit = 0;
        memset(chooser->lighter, 0, words * sizeof *chooser->lighter);
        FOR_NODES(node, chooser->fitting, words)
        if (plain_rank(choice, node) >> 1 <= weight) set_put(chooser->lighter, node), fit++;
        if (wants_heavier(choice, weight)) continue;
        if (fit >= choice->nodes_min && choose_among(choice)) return true;
    }
    return false;
}

static bool choose_several(struct choice *choice)
{
    struct slurm_chooser *chooser = choice->chooser;
    const uint32_t words = choice->nodes->words;
    choice->nodes_min = choice->need->nodes_min;
    choice->nodes_wanted = choice->need->nodes_wanted;
    if (find_fitting(choice) < choice->nodes_min) return false;
    if (is_uniform(choice)) {
        memcpy(chooser->lighter, chooser->fitting, words * sizeof *chooser->lighter);
        return choose_among(choice);
    }
    return by_weight(choice);
}

/* ---- public ---------------------------------------------------------------------------------- */

static bool is_possible(const struct slurm_nodes *nodes, const struct slurm_need *need)
{
    return need->kinds && need->nodes_min <= need->nodes_max && need->nodes_min <= nodes->nodes;
}

enum slurm_answer slurm_select(struct slurm_chooser *chooser, const struct slurm_picture *picture,
                               const struct slurm_need *need, const struct slurm_how *how)
{
    struct choice choice = { .chooser = chooser,
                             .nodes = chooser->nodes,
                             .picture = picture,
                             .need = need,
                             .how = how,
                             .map = chooser->left,
                             .chosen = chooser->chosen };
    chooser->part_count = 0;
    chooser->made = chooser->weighed = NODE_NONE;
    if (!is_possible(chooser->nodes, need)) return SLURM_NEVER;
    find_candidates(&choice);
    const bool found = need->one_node ? choose_one(&choice) : choose_several(&choice);
    if (found && (how->nodes_only || parts_fill(&choice))) return SLURM_PLACED;
    chooser->part_count = 0;
    if (choice.waits_for_switch) return SLURM_SWITCHES;
    if (!found && !need->one_node && chooser->nodes->topology != TOPOLOGY_NONE &&
        slurm_set_count(chooser->fitting, chooser->nodes->words) >= need->nodes_min)
        return SLURM_TOPOLOGY;
    return SLURM_NOT_NOW;
}

bool slurm_feasible_ever(struct slurm_chooser *chooser, const struct slurm_need *need)
{
    const struct slurm_how how = {
        .candidates = slurm_partition_nodes(chooser->nodes, need->partition),
        .waited_ns = INT64_MAX,
        .future = true,
    };
    /* Shards that only several GPUs together have pass here, as in Slurm, and never start. */
    struct slurm_need whole = *need;
    whole.shards_per_node = 0;
    return slurm_select(chooser, &chooser->empty, &whole, &how) == SLURM_PLACED;
}
