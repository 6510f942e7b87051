/* slurm_take.c - taking nodes one by one, and what is still needed after each (see slurm_choose.h). */
#include "policy/slurm_choose.h"

#include <string.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

uint32_t set_next(const uint64_t *set, uint32_t words, uint32_t node)
{
    uint32_t word = node / 64;
    if (word >= words) return NODE_NONE;
    uint64_t bits = set[word] & (UINT64_MAX << (node % 64));
    while (!bits) {
        if (++word == words) return NODE_NONE;
        bits = set[word];
    }
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* Cores that the GPUs of one node, and of the whole job, ask for. */
static int64_t cores_of_node_gpus(const struct slurm_need *need)
{
    const int64_t tasks = need->tasks_per_node ? need->tasks_per_node : 1;
    const int64_t gpus =
        need->gpus_per_node ? need->gpus_per_node : (int64_t)need->gpus_per_task * tasks;
    return need->cores_per_gpu * gpus;
}

static int64_t cores_of_node(const struct slurm_need *need)
{
    return (int64_t)need->cores_per_task * (need->tasks_per_node ? need->tasks_per_node : 1);
}

void choice_begin(struct choice *choice)
{
    const struct slurm_need *need = choice->need;
    memset(choice->chosen, 0, choice->nodes->words * sizeof *choice->chosen);
    choice->gpus_summed = need->gpus_per_job > 0;
    choice->gpus_taken = 0;
    choice->nodes_min_left = choice->nodes_min;
    choice->nodes_max_left = choice->nodes_max;
    choice->nodes_left = choice->gpus_summed ? least(choice->nodes_min, choice->nodes_wanted)
                                             : most(choice->nodes_min, choice->nodes_wanted);
    choice->cores_left = need->cores_min;
    choice->cores_most_left =
        most(most(need->cores_min, cores_of_node_gpus(need) * choice->nodes_left),
             (int64_t)need->cores_per_gpu * need->gpus_per_job);
    choice->tasks_left = choice->cores_most_left;
    if (need->cores_per_task > 1)
        choice->tasks_left = need->tasks_per_node
                                 ? (int64_t)need->tasks_per_node * choice->nodes_max
                                 : choice->cores_most_left / need->cores_per_task;
}

/* Counts the GPUs of a node into the sum of the job, and cuts its cores to what they need. False: no task of the
 * job can run there any more. */
static bool take_gpus(struct choice *choice, struct offer *offer)
{
    const struct slurm_need *need = choice->need;
    const int64_t later = most(choice->nodes_min_left - 1, 0);
    const int64_t cores_fit = offer->used / need->cores_per_task;
    int64_t tasks = most(least(choice->tasks_left - later, cores_fit), 1);
    if (tasks < offer->tasks && !need->gpus_per_node) {
        if (need->gpus_per_task)
            offer->gpus = (uint32_t)least(offer->gpus, tasks * need->gpus_per_task);
        else if (need->tasks_per_gpu)
            offer->gpus = (uint32_t)least(offer->gpus, tasks / need->tasks_per_gpu);
    }
    tasks = least(tasks, offer->tasks);
    const int64_t cores_least = most(tasks * need->cores_per_task, cores_of_node(need));
    if (tasks == 0 || offer->used < cores_least) return false;
    uint32_t gpus = offer->gpus;
    if (need->cores_per_gpu) gpus = (uint32_t)least(gpus, offer->used / need->cores_per_gpu);
    const uint32_t by_cores = gpus;
    uint32_t at_least = (uint32_t)most(need->gpus_per_node, 1);
    if (need->gpus_per_task || need->tasks_per_gpu) at_least = gpus;
    if (need->gpus_per_job > choice->gpus_taken)
        gpus = (uint32_t)least(need->gpus_per_job - choice->gpus_taken, gpus);
    gpus = (uint32_t)most(gpus, at_least);
    choice->gpus_taken += gpus;
    offer->gpus = gpus;
    const int64_t of_gpus = (int64_t)need->cores_per_gpu * by_cores;
    if (of_gpus && of_gpus < offer->used && of_gpus > cores_least) offer->used = (uint32_t)of_gpus;
    choice->tasks_left -= tasks;
    return true;
}

bool choice_take(struct choice *choice, uint32_t node)
{
    const struct slurm_need *need = choice->need;
    struct offer *offer = offer_of(choice, node);
    offer->used = offer->avail;
    const int64_t room = choice->cores_most_left - most(choice->nodes_min_left - 1, 0);
    if (!need->whole_nodes && offer->used > room) {
        const int64_t floor =
            most(most(cores_of_node(need), cores_of_node_gpus(need)), offer->cores_least);
        offer->used = (uint32_t)least(offer->used, most(room, floor));
    }
    if (choice->gpus_summed && !take_gpus(choice, offer)) return false;
    set_put(choice->chosen, node);
    choice->nodes_left--;
    choice->nodes_min_left--;
    choice->nodes_max_left--;
    choice->cores_left -= offer->used;
    choice->cores_most_left -= offer->used;
    return true;
}

bool choice_gpus_reach(const struct choice *choice, uint64_t gpus)
{
    return !choice->gpus_summed || choice->gpus_taken + gpus >= choice->need->gpus_per_job;
}

bool choice_done(const struct choice *choice)
{
    return choice->nodes_left <= 0 && choice->cores_left <= 0 && choice_gpus_reach(choice, 0);
}

bool choice_enough_nodes(const struct choice *choice, int64_t nodes)
{
    int64_t needed = choice->nodes_left;
    if (choice->nodes_wanted > choice->nodes_min && !choice->gpus_summed)
        needed += (int64_t)choice->nodes_min - choice->nodes_wanted;
    return nodes >= needed;
}

bool choice_take_required(struct choice *choice)
{
    const uint64_t *required = choice->need->required;
    if (!required) return true;
    if (choice->need->required_count > choice->nodes_max) return false;
    FOR_NODES(node, required, choice->nodes->words)
    {
        offer_weigh(choice, node);
        if (offer_of(choice, node)->avail == 0 || !choice_take(choice, node)) return false;
        set_drop(choice->map, node);
    }
    return true;
}
