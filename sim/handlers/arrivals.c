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

uint32_t arrivals_take(struct arrivals *arrivals)
{
    ASSERT(arrivals->at_ns != TIME_NEVER);
    const uint32_t row = arrivals->row++;
    find_next(arrivals);
    return row;
}
