/* moves_to_free.c - see moves_to_free.h. */
#include "policy/moves_to_free.h"

#include "base/assert.h"
#include "base/philox.h"

#include <stdlib.h>
#include <string.h>

/* ---- moving ------------------------------------------------------------------------------------ */

static bool has_room(const struct defrag_node *node, const struct defrag_job *job)
{
    return node->usable && (node->groups & job->groups) && node->gpus_free >= job->gpus &&
           node->cores_milli_free >= job->cores_milli && node->memory_free >= job->memory_bytes;
}

static void put(struct defrag *defrag, struct defrag_job *job, uint32_t to)
{
    struct defrag_node *const from = &defrag->nodes[job->node], *const node = &defrag->nodes[to];
    from->gpus_free += job->gpus;
    from->cores_milli_free += job->cores_milli;
    from->memory_free += job->memory_bytes;
    node->gpus_free -= job->gpus;
    node->cores_milli_free -= job->cores_milli;
    node->memory_free -= job->memory_bytes;
    job->node = to;
}

static bool can_be_wanted(const struct defrag_node *node, struct defrag_goal goal)
{
    return node->usable && node->gpus >= goal.gpus;
}

/* ---- what a node needs ------------------------------------------------------------------------- */

/* The jobs that must leave a node at least: the largest ones that can, until enough is free. MOVES_NONE: all
 * of them are not enough. *gpus: what they hold. */
static uint32_t leave_least(const struct defrag *defrag, uint32_t node, struct defrag_goal goal,
                            uint32_t *gpus)
{
    uint32_t free = defrag->nodes[node].gpus_free, count = 0, last = UINT32_MAX, at = 0;
    *gpus = 0;
    while (free < goal.gpus) {
        /* The next largest; of equal ones each once, in order. */
        uint32_t best = defrag->job_count;
        for (uint32_t j = 0; j < defrag->job_count; j++) {
            const struct defrag_job *const job = &defrag->jobs[j];
            if (job->node != node || !job->may_move || job->gpus == 0 || job->gpus > last ||
                (job->gpus == last && j <= at))
                continue;
            if (best < defrag->job_count && job->gpus <= defrag->jobs[best].gpus) continue;
            best = j;
        }
        if (best == defrag->job_count) return MOVES_NONE;
        last = defrag->jobs[best].gpus;
        at = best;
        free += last;
        *gpus += last;
        count++;
    }
    return count;
}

/* Moves that are needed at least: of the nodes that can be wanted those that need fewest. MOVES_NONE: too
 * few nodes can. */
static uint32_t moves_least(const struct defrag *defrag, struct defrag_goal goal)
{
    uint32_t needs[DEFRAG_NODES], count = 0, gpus, sum = 0;
    for (uint32_t node = 0; node < defrag->node_count; node++) {
        if (!can_be_wanted(&defrag->nodes[node], goal)) continue;
        const uint32_t need = leave_least(defrag, node, goal, &gpus);
        if (need == MOVES_NONE) continue;
        uint32_t at = count++;
        for (; at > 0 && needs[at - 1] > need; at--) needs[at] = needs[at - 1];
        needs[at] = need;
    }
    if (count < goal.nodes) return MOVES_NONE;
    for (uint32_t i = 0; i < goal.nodes; i++) sum += needs[i];
    return sum;
}

/* ---- fewest moves ------------------------------------------------------------------------------ */

/* States that were searched in vain, by a hash of where all jobs are, and with how many moves left. */
enum { SEEN = 8192 /* more than twice the steps */ };
struct seen {
    uint64_t place; /* 0 = none */
    uint32_t left;
};

struct search {
    struct defrag *defrag;
    struct defrag_goal goal;
    struct defrag_move *moves;
    struct seen *seen; /* [SEEN] */
    uint64_t place;    /* of the state */
    uint32_t steps;
    bool cut; /* a state was left because of the moves alone: more of them may help */
};

static uint64_t place_of(uint32_t job, uint32_t node)
{
    return mix64(((uint64_t)job << 32 | node) + 1);
}

/* Whether the state was searched in vain with as many moves left; it is noted if not. */
static bool seen_before(struct search *search, uint32_t left)
{
    const uint64_t place = search->place ? search->place : 1;
    uint64_t at = place & (SEEN - 1);
    while (search->seen[at].place && search->seen[at].place != place) at = (at + 1) & (SEEN - 1);
    if (search->seen[at].place && search->seen[at].left >= left) return true;
    search->seen[at] = (struct seen){ place, left };
    return false;
}

static bool is_same_job(const struct defrag_job *a, const struct defrag_job *b)
{
    return a->node == b->node && a->gpus == b->gpus && a->cores_milli == b->cores_milli &&
           a->memory_bytes == b->memory_bytes && a->groups == b->groups;
}

static bool is_empty(const struct defrag *defrag, uint32_t node)
{
    for (uint32_t j = 0; j < defrag->job_count; j++)
        if (defrag->jobs[j].node == node) return false;
    return true;
}

/* An empty node like one before it: what one does the other does as well. */
static bool twin_before(const struct defrag *defrag, uint32_t node)
{
    const struct defrag_node *const is = &defrag->nodes[node];
    if (!is_empty(defrag, node)) return false;
    for (uint32_t other = 0; other < node; other++) {
        const struct defrag_node *const was = &defrag->nodes[other];
        if (was->usable && was->gpus == is->gpus && was->gpus_free == is->gpus_free &&
            was->cores_milli_free == is->cores_milli_free && was->memory_free == is->memory_free &&
            was->groups == is->groups && is_empty(defrag, other))
            return true;
    }
    return false;
}

static bool done_before(const struct defrag *defrag, uint32_t job)
{
    for (uint32_t j = 0; j < job; j++)
        if (defrag->jobs[j].may_move && is_same_job(&defrag->jobs[j], &defrag->jobs[job]))
            return true;
    return false;
}

/* Whether `left` more moves are enough; they are written from moves[depth] on. */
static bool deepen(struct search *search, uint32_t depth, uint32_t left)
{
    struct defrag *const defrag = search->defrag;
    const uint32_t least = moves_least(defrag, search->goal);
    if (least == 0) return true;
    if (least == MOVES_NONE) return false;
    search->cut |= least > left;
    if (least > left || search->steps >= DEFRAG_STEPS || seen_before(search, left)) return false;
    search->steps++;
    for (uint32_t j = 0; j < defrag->job_count; j++) {
        struct defrag_job *const job = &defrag->jobs[j];
        if (!job->may_move || (depth > 0 && search->moves[depth - 1].job == j) ||
            done_before(defrag, j))
            continue;
        const uint32_t from = job->node;
        for (uint32_t to = 0; to < defrag->node_count; to++) {
            if (to == from || !has_room(&defrag->nodes[to], job) || twin_before(defrag, to))
                continue;
            const uint64_t there = place_of(j, from) ^ place_of(j, to);
            put(defrag, job, to);
            search->place ^= there;
            search->moves[depth] = (struct defrag_move){ j, to };
            const bool found = deepen(search, depth + 1, left - 1);
            search->place ^= there;
            put(defrag, job, from);
            if (found) return true;
            if (search->steps >= DEFRAG_STEPS) return false;
        }
    }
    return false;
}

/* ---- a short list, not always the shortest ------------------------------------------------------ */

/* What each node needs, before anything is moved. */
struct need {
    uint32_t moves, gpus; /* MOVES_NONE: it cannot be wanted, or has been tried */
    uint8_t wanted;
};

/* Where the job leaves the least; a node that is wanted is not for it. */
static uint32_t tightest(const struct defrag *defrag, const struct defrag_job *job,
                         const struct need *needs)
{
    uint32_t best = defrag->node_count;
    for (uint32_t node = 0; node < defrag->node_count; node++) {
        if (needs[node].wanted || node == job->node || !has_room(&defrag->nodes[node], job))
            continue;
        if (best == defrag->node_count ||
            defrag->nodes[node].gpus_free < defrag->nodes[best].gpus_free)
            best = node;
    }
    return best;
}

/* The largest job that can leave, unless a smaller one is enough: then the smallest that is. */
static uint32_t next_to_leave(const struct defrag *defrag, uint32_t node, uint32_t missing)
{
    uint32_t best = defrag->job_count;
    for (uint32_t j = 0; j < defrag->job_count; j++) {
        const struct defrag_job *const job = &defrag->jobs[j];
        if (job->node != node || !job->may_move || job->gpus == 0) continue;
        if (best == defrag->job_count) {
            best = j;
            continue;
        }
        const uint32_t was = defrag->jobs[best].gpus;
        const bool was_enough = was >= missing, is_enough = job->gpus >= missing;
        if (is_enough ? !was_enough || job->gpus < was : !was_enough && job->gpus > was) best = j;
    }
    return best;
}

/* Empties one node as far as is wanted; false: not possible so, and nothing is changed. */
static bool empty_node(struct defrag *defrag, uint32_t node, struct defrag_goal goal,
                       struct need *needs, struct defrag_move *moves, uint32_t *count)
{
    const uint32_t first = *count;
    needs[node].wanted = 1;
    while (defrag->nodes[node].gpus_free < goal.gpus) {
        const uint32_t j = next_to_leave(defrag, node, goal.gpus - defrag->nodes[node].gpus_free);
        const uint32_t to = j == defrag->job_count || *count == goal.moves_most
                                ? defrag->node_count
                                : tightest(defrag, &defrag->jobs[j], needs);
        if (to == defrag->node_count) {
            while (*count > first) put(defrag, &defrag->jobs[moves[--*count].job], node);
            needs[node].wanted = 0;
            return false;
        }
        put(defrag, &defrag->jobs[j], to);
        moves[(*count)++] = (struct defrag_move){ j, to };
    }
    return true;
}

/* The node that fewest jobs must leave, of these the one with the least to move. */
static uint32_t next_node(const struct need *needs, uint32_t node_count)
{
    uint32_t best = node_count;
    for (uint32_t node = 0; node < node_count; node++) {
        const struct need *const need = &needs[node];
        if (need->moves == MOVES_NONE) continue;
        if (best < node_count &&
            (need->moves > needs[best].moves ||
             (need->moves == needs[best].moves && need->gpus >= needs[best].gpus)))
            continue;
        best = node;
    }
    return best;
}

uint32_t moves_greedy(struct defrag *defrag, struct defrag_goal goal, struct defrag_move *moves)
{
    struct need *const needs = calloc((size_t)defrag->node_count + 1, sizeof *needs);
    uint32_t *const was = malloc(((size_t)defrag->job_count + 1) * sizeof *was);
    uint32_t count = 0, ready = 0;
    for (uint32_t n = 0; needs && n < defrag->node_count; n++)
        needs[n].moves = can_be_wanted(&defrag->nodes[n], goal)
                             ? leave_least(defrag, n, goal, &needs[n].gpus)
                             : MOVES_NONE;
    for (uint32_t j = 0; was && j < defrag->job_count; j++) was[j] = defrag->jobs[j].node;
    while (needs && was && ready < goal.nodes) {
        const uint32_t node = next_node(needs, defrag->node_count);
        if (node == defrag->node_count) break;
        needs[node].moves = MOVES_NONE;
        ready += empty_node(defrag, node, goal, needs, moves, &count);
    }
    for (uint32_t j = 0; was && j < defrag->job_count; j++)
        if (defrag->jobs[j].node != was[j]) put(defrag, &defrag->jobs[j], was[j]);
    free(needs);
    free(was);
    return ready >= goal.nodes ? count : MOVES_NONE;
}

/* Moves keep the sum of free GPUs: it must be enough. */
static bool enough_free(const struct defrag *defrag, struct defrag_goal goal)
{
    uint64_t free = 0;
    for (uint32_t n = 0; n < defrag->node_count; n++)
        if (defrag->nodes[n].usable) free += defrag->nodes[n].gpus_free;
    return free >= (uint64_t)goal.nodes * goal.gpus;
}

/* The shortest list; *exact is false when the search was given up. */
static uint32_t shortest(struct defrag *defrag, struct defrag_goal goal, struct defrag_move *moves,
                         bool *exact)
{
    const uint32_t least = moves_least(defrag, goal);
    if (least == MOVES_NONE || least > goal.moves_most) return MOVES_NONE;
    struct search search = { .defrag = defrag,
                             .goal = goal,
                             .moves = moves,
                             .seen = calloc(SEEN, sizeof *search.seen),
                             .cut = true };
    const uint32_t most = goal.moves_most < DEFRAG_MOVES ? goal.moves_most : DEFRAG_MOVES;
    uint32_t found = MOVES_NONE, count = least;
    for (; search.seen && found == MOVES_NONE && search.cut && count <= most; count++) {
        search.cut = false;
        if (deepen(&search, 0, count))
            found = count;
        else if (search.steps >= DEFRAG_STEPS)
            break;
    }
    *exact = search.seen && (found != MOVES_NONE || (search.steps < DEFRAG_STEPS &&
                                                     (!search.cut || most == goal.moves_most)));
    free(search.seen);
    return found;
}

uint32_t moves_to_free(struct defrag *defrag, struct defrag_goal goal, struct defrag_move *moves,
                       bool *exact)
{
    ASSERT(goal.gpus >= 1);
    *exact = true;
    if (goal.nodes == 0) return 0;
    if (!enough_free(defrag, goal)) return MOVES_NONE;
    uint32_t found = MOVES_NONE;
    if (defrag->node_count <= DEFRAG_NODES && defrag->job_count <= DEFRAG_JOBS)
        found = shortest(defrag, goal, moves, exact);
    else
        *exact = false;
    return found == MOVES_NONE && !*exact ? moves_greedy(defrag, goal, moves) : found;
}
