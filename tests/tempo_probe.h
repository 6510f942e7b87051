/* tempo_probe.h - jobs of a run change their tempo at random after every instant, and each has done the work that its tempos
 * add up to. Header only; include it behind cmocka.h and books_probe.h. */
#ifndef GPUPLAN_TESTS_TEMPO_PROBE_H
#define GPUPLAN_TESTS_TEMPO_PROBE_H

#include "base/philox.h"
#include "handlers/transition.h"

/* What the probe knows of an attempt by itself. */
struct work_told {
    uint32_t serial, attempts;
    int64_t work_ns; /* to do when it began            */
    uint128 done_q30;
    uint32_t rate_q30; /* since the last instant       */
};
enum { TOLD_MOST = 4096 };
static struct work_told told[TOLD_MOST];
static int64_t told_ns; /* of the last instant          */
static uint64_t tempo_draws, tempos_set, settled, by_network;

static inline double tempo_draw(const struct run *run)
{
    return stream_uniform(run->view.key, 2, tempo_draws++);
}

static inline void check_work(const struct run *run, uint32_t live)
{
    const struct live_job *job = &run->live.jobs[live];
    const struct attempt *attempt = &run->live.attempts[live];
    assert_true(live < TOLD_MOST);
    struct work_told *is = &told[live];
    if (is->serial != job->serial + 1 || is->attempts != job->attempts)
        *is = (struct work_told){ job->serial + 1, job->attempts, job->work_ns, 0, 0 };
    const int64_t from_ns = told_ns > attempt->work_start_ns ? told_ns : attempt->work_start_ns;
    if (run->now_ns > from_ns) is->done_q30 += (uint128)(run->now_ns - from_ns) * is->rate_q30;
    assert_true(job->work_ns - timing_done_ns(run, live, run->now_ns) ==
                is->work_ns - (int64_t)(is->done_q30 / RATE_ONE));
    settled += job->work_ns < is->work_ns;
    is->rate_q30 = attempt->tempo.rate_q30;
}

/* Any job that runs, at any speed, with any shares, unless the network sets them. */
static inline void change_tempo(struct run *run, uint32_t live)
{
    if (run->contention) by_network += run->live.attempts[live].tempo.contention > 0;
    if (run->contention || tempo_draw(run) < 0.7) return;
    const double all = UNITS_PER_GPU / 5.0;
    const struct tempo tempo = { .rate_q30 = 1 + (uint32_t)(tempo_draw(run) * 2 * RATE_ONE),
                                 .intra = (uint32_t)(tempo_draw(run) * all),
                                 .inter = (uint32_t)(tempo_draw(run) * all),
                                 .contention = (uint32_t)(tempo_draw(run) * all),
                                 .data = (uint32_t)(tempo_draw(run) * all),
                                 .checkpoint = (uint32_t)(tempo_draw(run) * all) };
    transition_tempo(run, live, &tempo);
    told[live].rate_q30 = tempo.rate_q30;
    tempos_set++;
}

static inline void change_tempos(const struct run *seen)
{
    struct run *run = (struct run *)(uintptr_t)seen; /* what the network does at this point */
    for (uint32_t live = 0; live < run->live.count; live++) {
        if (run->live.jobs[live].state != LIVE_RUNNING) continue;
        check_work(run, live);
        change_tempo(run, live);
    }
    told_ns = run->now_ns;
    books_probe(run);
}

#endif
