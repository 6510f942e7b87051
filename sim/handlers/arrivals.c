/* arrivals.c - see arrivals.h. */
#include "handlers/arrivals.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/philox.h"

bool day_table_build(struct day_table *table, const struct jobs *jobs, struct arena *arena)
{
    table->days = jobs->count ? (uint32_t)(jobs->submit_ns[jobs->count - 1] / NS_PER_DAY) + 1 : 0;
    table->first_row = ARENA_ARRAY(arena, uint32_t, (size_t)table->days + 1);
    if (!table->first_row) return false;
    uint32_t day = 0;
    for (uint32_t row = 0; row < jobs->count; row++)
        while (day < table->days && jobs->submit_ns[row] >= day * NS_PER_DAY)
            table->first_row[day++] = row;
    table->first_row[table->days] = jobs->count;
    return true;
}

/* The day of the trace that a simulated day plays. */
static int64_t source_of(const struct arrivals *arrivals, int64_t day)
{
    const int64_t days = arrivals->days->days;
    if (arrivals->resample == RESAMPLE_NONE) return day % days;
    const int64_t drawn = (int64_t)(stream_uniform(arrivals->key, (uint64_t)day, 0) * (double)days);
    return drawn < days ? drawn : days - 1;
}

static void open_day(struct arrivals *arrivals)
{
    arrivals->source = arrivals->once ? arrivals->day : source_of(arrivals, arrivals->day);
    arrivals->row = arrivals->days->first_row[arrivals->source];
    arrivals->row_end = arrivals->days->first_row[arrivals->source + 1];
}

/* Finds the next arrival, over empty days if need be. */
static void find_next(struct arrivals *arrivals)
{
    if (arrivals->order) {
        arrivals->at_ns = arrivals->row < arrivals->row_end ? arrivals->row * NS_PER_S : TIME_NEVER;
        if (arrivals->at_ns > arrivals->until_ns) arrivals->at_ns = TIME_NEVER;
        return;
    }
    while (arrivals->row == arrivals->row_end) {
        arrivals->day++;
        const bool over = arrivals->once ? arrivals->day >= arrivals->days->days
                                         : arrivals->day * NS_PER_DAY > arrivals->until_ns;
        if (over) {
            arrivals->at_ns = TIME_NEVER;
            return;
        }
        open_day(arrivals);
    }
    arrivals->at_ns =
        arrivals->jobs->submit_ns[arrivals->row] + (arrivals->day - arrivals->source) * NS_PER_DAY;
    if (arrivals->at_ns > arrivals->until_ns) arrivals->at_ns = TIME_NEVER;
}

void arrivals_init(struct arrivals *arrivals, const struct jobs *jobs, const struct day_table *days,
                   struct arrivals_options options)
{
    *arrivals = (struct arrivals){ .jobs = jobs,
                                   .days = days,
                                   .resample = options.resample,
                                   .once = options.once,
                                   .key = stream_key(options.seed, options.replica, "trace.days"),
                                   .until_ns = options.until_ns,
                                   .at_ns = TIME_NEVER };
    if (jobs == NULL || days->days == 0) return;
    open_day(arrivals);
    find_next(arrivals);
}

/* A number below `count`, by draw number `draw` of the stream. */
static uint32_t drawn_below(const struct arrivals *arrivals, uint64_t draw, uint32_t count)
{
    const uint32_t drawn = (uint32_t)(stream_uniform(arrivals->key, 0, draw) * count);
    return drawn < count ? drawn : count - 1;
}

static void shuffle(const struct arrivals *arrivals, uint32_t *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) rows[i] = i;
    for (uint32_t i = count; i-- > 1;) {
        const uint32_t k = drawn_below(arrivals, i, i + 1), was = rows[i];
        rows[i] = rows[k];
        rows[k] = was;
    }
}

/* How many arrivals there are before the one that would pass the target: rows[] of the trace in random
 * order, then drawn ones. With `order` they are written down. */
static uint32_t fill(const struct arrivals *arrivals, uint64_t target_milli, const uint32_t *rows,
                     uint32_t *order)
{
    const uint32_t count = arrivals->jobs->count;
    uint64_t milli = 0;
    for (uint32_t taken = 0; taken < UINT32_MAX; taken++) {
        if (taken == count && milli == 0) return taken; /* they will never fill anything */
        const uint32_t row = taken < count ? rows[taken] : drawn_below(arrivals, taken, count);
        milli += jobs_gpu_milli(arrivals->jobs, row);
        if (milli > target_milli) return taken;
        if (order) order[taken] = row;
    }
    return UINT32_MAX;
}

bool arrivals_fill(struct arrivals *arrivals, const struct jobs *jobs, uint64_t target_milli,
                   struct arrivals_options options, struct arena *arena)
{
    *arrivals = (struct arrivals){ .jobs = jobs,
                                   .resample = RESAMPLE_FILL,
                                   .key = stream_key(options.seed, options.replica, "trace.fill"),
                                   .until_ns = options.until_ns,
                                   .at_ns = TIME_NEVER };
    if (jobs == NULL || jobs->count == 0) return true;
    uint32_t *rows = ARENA_ARRAY(arena, uint32_t, jobs->count);
    if (!rows) return false;
    shuffle(arrivals, rows, jobs->count);
    arrivals->row_end = fill(arrivals, target_milli, rows, NULL);
    arrivals->order = ARENA_ARRAY(arena, uint32_t, arrivals->row_end);
    if (!arrivals->order) return false;
    fill(arrivals, target_milli, rows, arrivals->order);
    find_next(arrivals);
    return true;
}

uint32_t arrivals_take(struct arrivals *arrivals)
{
    ASSERT(arrivals->at_ns != TIME_NEVER);
    const uint32_t row = arrivals->row++;
    find_next(arrivals);
    return arrivals->order ? arrivals->order[row] : row;
}
