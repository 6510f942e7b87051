/* live.c - see live.h. */
#include "cluster/live.h"

#include "base/assert.h"

#include <stdlib.h>

static bool grow(struct live_table *live, uint32_t capacity)
{
    struct live_job *jobs = realloc(live->jobs, (size_t)capacity * sizeof *jobs);
    if (!jobs) return false;
    live->jobs = jobs;
    struct attempt *attempts = realloc(live->attempts, (size_t)capacity * sizeof *attempts);
    if (!attempts) return false;
    live->attempts = attempts;
    struct cycle *cycles = realloc(live->cycles, (size_t)capacity * sizeof *cycles);
    if (!cycles) return false;
    live->cycles = cycles;
    live->capacity = capacity;
    return true;
}

bool live_init(struct live_table *live, uint32_t capacity)
{
    *live = (struct live_table){ .first_free = LIVE_NONE, .past_free = PAST_NONE };
    return grow(live, capacity);
}

void live_clear(struct live_table *live)
{
    free(live->jobs);
    free(live->attempts);
    free(live->cycles);
    free(live->past);
    *live = (struct live_table){ .first_free = LIVE_NONE, .past_free = PAST_NONE };
}

uint32_t live_take(struct live_table *live)
{
    uint32_t row = live->first_free;
    if (row != LIVE_NONE) {
        live->first_free = live->jobs[row].place;
    } else {
        if (live->count == live->capacity && !grow(live, 2 * live->capacity)) return LIVE_NONE;
        row = live->count++;
    }
    live->jobs[row] = (struct live_job){ .state = LIVE_WAITING, .first_start_ns = TIME_NEVER };
    live->attempts[row] = (struct attempt){ .first_grant = GRANT_NONE };
    live->cycles[row] = (struct cycle){ .fault_ns = TIME_NEVER,
                                        .next_startup_ns = NEXT_STARTUP_USUAL,
                                        .first_past = PAST_NONE,
                                        .last_past = PAST_NONE };
    live->in_use++;
    return row;
}

void live_give(struct live_table *live, uint32_t row)
{
    ASSERT(live->jobs[row].state != LIVE_FREE);
    live->jobs[row].state = LIVE_FREE;
    live->jobs[row].place = live->first_free;
    live->first_free = row;
    live->in_use--;
}

static uint32_t take_past(struct live_table *live)
{
    if (live->past_free != PAST_NONE) {
        const uint32_t past = live->past_free;
        live->past_free = live->past[past].next;
        return past;
    }
    if (live->past_count == live->past_capacity) {
        const uint32_t capacity = live->past_capacity ? 2 * live->past_capacity : 64;
        struct past_tempo *grown = realloc(live->past, (size_t)capacity * sizeof *grown);
        if (!grown) return PAST_NONE;
        live->past = grown;
        live->past_capacity = capacity;
    }
    return live->past_count++;
}

int128 live_done_q30(const struct live_table *live, uint32_t row)
{
    const struct cycle *cycle = &live->cycles[row];
    if (cycle->last_past == PAST_NONE) return cycle->done_q30;
    const struct past_tempo *last = &live->past[cycle->last_past];
    return last->done_q30 + (int128)(cycle->tempo_ns - last->from_ns) * last->tempo.rate_q30;
}

bool live_keep_tempo(struct live_table *live, uint32_t row)
{
    struct cycle *cycle = &live->cycles[row];
    const int128 done_q30 = live_done_q30(live, row);
    const uint32_t past = take_past(live);
    if (past == PAST_NONE) return false;
    live->past[past] = (struct past_tempo){ .done_q30 = done_q30,
                                            .from_ns = cycle->tempo_ns,
                                            .tempo = live->attempts[row].tempo,
                                            .next = PAST_NONE };
    if (cycle->last_past == PAST_NONE)
        cycle->first_past = past;
    else
        live->past[cycle->last_past].next = past;
    cycle->last_past = past;
    return true;
}

void live_forget_first(struct live_table *live, uint32_t row)
{
    struct cycle *cycle = &live->cycles[row];
    const uint32_t past = cycle->first_past;
    ASSERT(past != PAST_NONE);
    cycle->first_past = live->past[past].next;
    if (cycle->first_past == PAST_NONE) cycle->last_past = PAST_NONE;
    live->past[past].next = live->past_free;
    live->past_free = past;
}

void live_forget_past(struct live_table *live, uint32_t row)
{
    while (live->cycles[row].first_past != PAST_NONE) live_forget_first(live, row);
}
