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
    *live = (struct live_table){ .first_free = LIVE_NONE };
    return grow(live, capacity);
}

void live_clear(struct live_table *live)
{
    free(live->jobs);
    free(live->attempts);
    free(live->cycles);
    *live = (struct live_table){ .first_free = LIVE_NONE };
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
    live->attempts[row] = (struct attempt){ .fault_ns = TIME_NEVER, .first_grant = GRANT_NONE };
    live->cycles[row] = (struct cycle){ .next_startup_ns = NEXT_STARTUP_USUAL };
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
