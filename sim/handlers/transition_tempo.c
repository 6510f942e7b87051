/* transition_tempo.c - a running attempt works faster or slower from now on, because others came or went.
 *
 * Progress is exact: each tempo is kept until the durable point behind it, since a fault can take back what was done
 * after that point, from the accounts in which it was done. */
#include "base/assert.h"
#include "handlers/detail.h"
#include "handlers/timing.h"
#include "handlers/transition.h"
#include "handlers/transition_parts.h"

/* What was done before the last durable point can no longer be lost: tempos that ended by then are added up. */
static void settle(struct run *run, uint32_t live)
{
    struct live_job *job = &run->live.jobs[live];
    struct cycle *cycle = &run->live.cycles[live];
    const int64_t durable_ns = timing_last_durable_ns(run, live);
    while (cycle->first_past != PAST_NONE) {
        const struct past_tempo *past = &run->live.past[cycle->first_past];
        const int64_t to_ns =
            past->next != PAST_NONE ? run->live.past[past->next].from_ns : cycle->tempo_ns;
        if (to_ns > durable_ns) return;
        const int128 done =
            cycle->done_q30 + (int128)(to_ns - past->from_ns) * past->tempo.rate_q30;
        cycle->done_q30 = (uint32_t)(done % RATE_ONE);
        job->work_ns -= (int64_t)(done / RATE_ONE);
        ASSERT(job->work_ns >= 0);
        live_forget_first(&run->live, live);
    }
}

void transition_tempo(struct run *run, uint32_t live, const struct tempo *tempo)
{
    ASSERT(run->live.jobs[live].state == LIVE_RUNNING && tempo->rate_q30 > 0);
    struct cycle *cycle = &run->live.cycles[live];
    if (run->now_ns > cycle->tempo_ns) {
        detail_tempo(run, live);
        if (!live_keep_tempo(&run->live, live)) {
            run->out_of_memory = true;
            return;
        }
        cycle->tempo_ns = run->now_ns;
        settle(run, live);
    }
    books_tempo(run, live, tempo);
    transition_schedule(run, live);
}
