/* expected_mix.c - see expected_mix.h. */
#include "policy/expected_mix.h"

#include "base/philox.h"
#include "base/sort.h"

#include <stdlib.h>

enum { TYPICAL_PERCENT = 95 };

/* Classes that look alike to the measure of fragments are one kind. */
struct kinds {
    struct score_task *tasks; /* [count] in order of first appearance                            */
    uint64_t *key;
    uint32_t *order, *spare, *jobs_of_class;
    uint32_t count;
};

static struct score_task task_of(const struct demand *demand)
{
    return (struct score_task){
        .ask = { .gpus = demand->per_node,
                 .share_milli = demand->share_milli,
                 .cores_milli =
                     demand->part_cores_milli + demand->per_node * demand->cores_milli_per_gpu },
        .groups = demand->groups,
    };
}

static bool is_alike(const struct score_task *a, const struct score_task *b)
{
    return a->ask.gpus == b->ask.gpus && a->ask.share_milli == b->ask.share_milli &&
           a->ask.cores_milli == b->ask.cores_milli && a->groups == b->groups;
}

static uint64_t hash_of(const struct score_task *task)
{
    const uint64_t hash = mix64(task->ask.gpus | (uint64_t)task->ask.share_milli << 32);
    return mix64(mix64(hash ^ task->ask.cores_milli) ^ task->groups);
}

static bool kinds_take(struct kinds *kinds, uint32_t classes)
{
    kinds->tasks = calloc((size_t)classes + 1, sizeof *kinds->tasks);
    kinds->key = calloc((size_t)classes + 1, sizeof *kinds->key);
    kinds->order = calloc((size_t)classes + 1, sizeof *kinds->order);
    kinds->spare = calloc((size_t)classes + 1, sizeof *kinds->spare);
    kinds->jobs_of_class = calloc((size_t)classes + 1, sizeof *kinds->jobs_of_class);
    return kinds->tasks && kinds->key && kinds->order && kinds->spare && kinds->jobs_of_class;
}

static void kinds_clear(struct kinds *kinds)
{
    free(kinds->tasks);
    free(kinds->key);
    free(kinds->order);
    free(kinds->spare);
    free(kinds->jobs_of_class);
}

/* Alike classes stand together by hash; each class adds to the first of them, which the stable sort puts in
 * front. Then only those that have jobs are left. */
static void kinds_merge(struct kinds *kinds, const struct demand *demands, uint32_t classes)
{
    for (uint32_t c = 0; c < classes; c++) {
        kinds->tasks[c] = task_of(&demands[c]);
        kinds->key[c] = hash_of(&kinds->tasks[c]);
        kinds->order[c] = c;
    }
    sort_rows(kinds->order, kinds->spare, classes, kinds->key);
    uint32_t first = 0;
    for (uint32_t i = 0; i < classes; i++) {
        const uint32_t c = kinds->order[i];
        if (i == 0 || !is_alike(&kinds->tasks[first], &kinds->tasks[c])) first = c;
        kinds->tasks[first].count += kinds->jobs_of_class[c];
    }
    kinds->count = 0;
    for (uint32_t c = 0; c < classes; c++)
        if (kinds->tasks[c].count > 0) kinds->tasks[kinds->count++] = kinds->tasks[c];
}

/* The most frequent first, ties in order of appearance. */
static void kinds_rank(struct kinds *kinds)
{
    for (uint32_t k = 0; k < kinds->count; k++) {
        kinds->key[k] = UINT64_MAX - kinds->tasks[k].count;
        kinds->order[k] = k;
    }
    sort_rows(kinds->order, kinds->spare, kinds->count, kinds->key);
}

bool expected_mix_init(struct expected_mix *mix, const struct demand *demands,
                       const struct request_table *requests, uint32_t job_count)
{
    struct kinds kinds = { 0 };
    *mix = (struct expected_mix){ 0 };
    bool ok = kinds_take(&kinds, requests->class_count);
    mix->tasks = malloc(EXPECTED_TASKS_MOST * sizeof *mix->tasks);
    ok = ok && mix->tasks;
    if (ok) {
        for (uint32_t row = 0; row < job_count; row++)
            kinds.jobs_of_class[requests->class_of_row[row]]++;
        kinds_merge(&kinds, demands, requests->class_count);
        kinds_rank(&kinds);
        uint64_t weight = 0;
        uint32_t tasks = 0;
        for (uint32_t i = 0;
             i < kinds.count && weight * 100 < (uint64_t)job_count * TYPICAL_PERCENT &&
             tasks < EXPECTED_TASKS_MOST;
             i++) {
            const struct score_task *const task = &kinds.tasks[kinds.order[i]];
            weight += task->count;
            if (task->ask.gpus || task->ask.share_milli) mix->tasks[tasks++] = *task;
        }
        score_mix_init(&mix->mix, mix->tasks, tasks, weight ? weight : 1);
    }
    kinds_clear(&kinds);
    return ok;
}

void expected_mix_clear(struct expected_mix *mix)
{
    free(mix->tasks);
    *mix = (struct expected_mix){ 0 };
}
