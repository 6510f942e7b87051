/* transition_tempo.c - a running attempt works faster or slower from now on, because others came or went.
 *
 * Progress is exact: each tempo is kept until the durable point behind it, since a fault can take back what was done
 * after that point, from the accounts in which it was done. */
#include "base/assert.h"
#include "handlers/kept.h"
#include "handlers/timing.h"
#include "handlers/transition.h"
#include "handlers/transition_parts.h"

/* What was done before the last durable point can no longer be lost: tempos that ended by then are forgotten, and their work
 * is no longer to be done. */
static void settle(struct run *run, uint32_t live)
{
    struct live_job *job = &run->live.jobs[live];
    struct cycle *cycle = &run->live.cycles[live];
    struct past_tempo *past = run->live.past;
    const int64_t durable_ns = timing_last_durable_ns(run, live);
    int128 done_q30 = 0;
    while (cycle->first_past != PAST_NONE) {
        const uint32_t next = past[cycle->first_past].next;
        if ((next != PAST_NONE ? past[next].from_ns : cycle->tempo_ns) > durable_ns) break;
        if (run->keep_detail) {
            const struct stretch stretch =
                books_stretch_first(run, live, run->live.attempts[live].work_start_ns);
            kept_add(run, live, &stretch);
        }
        done_q30 = next != PAST_NONE ? past[next].done_q30 : live_done_q30(&run->live, live);
        live_forget_first(&run->live, live);
    }
    if (done_q30 == 0) return;
    const int64_t done_ns = (int64_t)(done_q30 / RATE_ONE);
    job->work_ns -= done_ns;
    ASSERT(job->work_ns >= 0);
    cycle->done_q30 = (uint32_t)(done_q30 % RATE_ONE);
    for (uint32_t row = cycle->first_past; row != PAST_NONE; row = past[row].next)
        past[row].done_q30 -= (int128)done_ns * RATE_ONE;
}

void transition_tempo(struct run *run, uint32_t live, const struct tempo *tempo)
{
    ASSERT(run->live.jobs[live].state == LIVE_RUNNING && tempo->rate_q30 > 0);
    struct cycle *cycle = &run->live.cycles[live];
    if (run->now_ns > cycle->tempo_ns) {
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
