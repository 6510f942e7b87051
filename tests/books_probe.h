/* books_probe.h - what must hold after every instant of a run: the books restated from who holds what now (MODELS
 * 11.1, 11.3). Header only; include it behind cmocka.h. */
#ifndef GPUPLAN_TESTS_BOOKS_PROBE_H
#define GPUPLAN_TESTS_BOOKS_PROBE_H

#include "handlers/books.h"
#include "handlers/timing.h"

#include <string.h>

/* Units that a job holds, added up from its grants. */
static inline int64_t probe_units(const struct run *run, uint32_t live)
{
    const struct holding held = cluster_held(&run->cluster, run->live.attempts[live].first_grant);
    return held.gpus * UNITS_PER_GPU + held.share_units;
}

/* Of a hung job: what is broken is down, the rest of what was asked for is lost. */
static inline void probe_hung(const struct run *run, uint32_t live, int64_t level[LEDGER_CELLS])
{
    const struct attempt *attempt = &run->live.attempts[live];
    const struct demand *demand = demand_of_live(run, live);
    const struct holding broken = cluster_broken(&run->cluster, attempt->first_grant);
    assert_int_equal(broken.gpus, attempt->broken);
    assert_int_equal(broken.share_units, run->live.cycles[live].broken_share_units);
    const int64_t held = probe_units(run, live);
    const int64_t out = broken.gpus * UNITS_PER_GPU + broken.share_units;
    const int64_t asked =
        demand->flexible ? held : demand->gpus * UNITS_PER_GPU + demand->share_units;
    int64_t lost = asked - out, unused = held - asked;
    if (lost < 0) {
        unused += lost;
        lost = 0;
    }
    const uint8_t size_class = run->live.jobs[live].size_class;
    level[ledger_cell(ACC_LOST, size_class)] += lost;
    level[ledger_cell(ACC_UNUSED, size_class)] += unused;
    level[CELL_DOWN] += out;
}

/* The level of each cell that the live jobs and idle GPUs add up to. */
static inline void probe_expected(const struct run *run, int64_t level[LEDGER_CELLS])
{
    memset(level, 0, LEDGER_CELLS * sizeof *level);
    for (uint32_t node = 0; node < run->cluster.nodes; node++) {
        const struct idle idle = cluster_node_idle(&run->cluster, node);
        level[CELL_FREE] += idle.free;
        level[CELL_DRAINING] += idle.draining;
        level[CELL_DOWN] += idle.down;
    }
    for (uint32_t live = 0; live < run->live.count; live++) {
        const struct live_job *job = &run->live.jobs[live];
        int64_t levels[ACC_HELD_END], sum = 0;
        if (job->state == LIVE_RUNNING) {
            books_levels(run, live, levels);
            for (uint32_t account = 0; account < ACC_HELD_END; account++) {
                level[ledger_cell(account, job->size_class)] += levels[account];
                sum += levels[account];
            }
            assert_int_equal(sum, probe_units(run, live));
        } else if (job->state == LIVE_HUNG)
            probe_hung(run, live, level);
        else if (job->state != LIVE_FREE)
            level[ledger_cell(ACC_HELD, job->size_class)] += probe_units(run, live);
    }
}

static inline void probe_levels(const struct run *run)
{
    int64_t want[LEDGER_CELLS], free_is = 0;
    probe_expected(run, want);
    for (uint32_t cell = 0; cell < LEDGER_CELLS; cell++) {
        const uint32_t account = cell / CLASSES;
        const int64_t is = run->ledger.level[cell];
        assert_true(is >= 0);
        if (account >= ACC_NO_DEMAND && account < ACC_FREE_END)
            free_is += is;
        else
            assert_int_equal(is, want[cell]);
    }
    assert_int_equal(free_is, want[CELL_FREE]);
}

static inline void probe_live(const struct run *run)
{
    uint64_t waiting = 0, waiting_gpus = 0, running = 0;
    for (uint32_t live = 0; live < run->live.count; live++) {
        const struct live_job *job = &run->live.jobs[live];
        if (job->state == LIVE_WAITING) {
            waiting++;
            waiting_gpus += demand_of_live(run, live)->gpus;
        }
        running += job->state == LIVE_RUNNING || job->state == LIVE_HUNG ||
                   job->state == LIVE_SUSPENDED;
        if (job->state != LIVE_FREE) assert_true(job->work_ns >= 0);
    }
    assert_int_equal(waiting, run->waiting.jobs);
    assert_int_equal(waiting_gpus, run->waiting.gpus);
    for (uint32_t b = 0; b < run->running.block_count; b++)
        running -= run->running.blocks[b]->count;
    assert_int_equal(running, 0);
}

static inline void books_probe(const struct run *run)
{
    cluster_check(&run->cluster);
    probe_levels(run);
    probe_live(run);
}

#endif
