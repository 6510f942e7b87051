/* bench_slurm.c - what one backfill pass of Slurm costs, with the limits of slurm.conf: 500 jobs looked at.
 *
 * usage: bench_slurm [NODES]    (1250 nodes of 8 GPUs)
 * All jobs come at once: a mix of sizes and run times as in bench_jobs, limits 1 to 5 times the run time. The cluster is
 * full, and while at least 500 jobs wait the time of each backfill instant is taken, the applying of its starts
 * included. Prints the median and the slowest of them in ms. */
#include "fixture.h"

#include "base/exactmath.h"
#include "base/philox.h"
#include "base/sort.h"

#include <inttypes.h>
#include <time.h>

enum { TICKS_MOST = 4096, WAITING_LEAST = 500 };

static int64_t last_ns, ticks_ns[TICKS_MOST];
static uint32_t tick_count;

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void probe(const struct run *run)
{
    static uint64_t waiting;
    const int64_t now_ns = cpu_ns();
    const bool tick = run->now_ns % (30 * NS_PER_S) == NS_PER_S / 2;
    if (tick && waiting >= WAITING_LEAST && tick_count < TICKS_MOST)
        ticks_ns[tick_count++] = now_ns - last_ns;
    waiting = run->waiting.jobs;
    last_ns = cpu_ns();
}

static struct slurm_partition batch = { .name = "batch",
                                        .nodes = "ALL",
                                        .max_time_ns = TIME_NEVER,
                                        .priority_tier = 1,
                                        .priority_job_factor = 1,
                                        .preempt_mode = PREEMPT_UNSET,
                                        .is_default = true,
                                        .up = true };

static uint32_t size_of(double u)
{
    if (u < 0.35) return 1;
    return u < 0.90 ? 1u << (1 + (uint32_t)((u - 0.35) / 0.55 * 6))
                    : 3 + (uint32_t)((u - 0.90) * 600);
}

int main(int argc, char **argv)
{
    const uint32_t nodes = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1250;
    const uint32_t jobs = 3 * nodes + WAITING_LEAST;
    struct fixture fixture;
    fixture_init(&fixture, jobs);
    fixture.scenario.kind = KIND_SLURM;
    slurm_defaults(&fixture.scenario.slurm);
    fixture.scenario.slurm.partitions = &batch;
    fixture.scenario.slurm.partition_count = 1;
    snprintf(fixture.scenario.detail, sizeof fixture.scenario.detail, "none");
    fixture_layout(&fixture, "bench", nodes, 8)->fabric.link.switch_ports = 1024;
    for (uint32_t row = 0; row < jobs; row++) {
        const struct draw draw = stream_draw(7, row, 0), more = stream_draw(7, row, 1);
        const double run_s =
            draw.u2 < 0.6 ? inv_lognormal(more.u1, 5.0, 1.2) : inv_lognormal(more.u1, 8.6, 0.9);
        fixture_job(&fixture, row, 0, run_s < 86400 ? run_s : 86400,
                    (run_s < 86400 ? run_s : 86400) * (1 + 4 * more.u2), size_of(draw.u1));
    }
    fixture_ready(&fixture);
    run_probe = probe;
    last_ns = cpu_ns();
    struct replica_result result;
    if (fixture_run(&fixture, 0, 0, &result) != STATUS_OK || tick_count == 0) return 1;
    static int64_t spare_ns[TICKS_MOST];
    sort_int64(ticks_ns, spare_ns, tick_count);
    printf(
        "slurm backfill %6u x 8 GPUs, >= %d waiting: %u passes, median %.2f ms, slowest %.2f ms\n",
        nodes, WAITING_LEAST, tick_count, (double)ticks_ns[tick_count / 2] / 1e6,
        (double)ticks_ns[tick_count - 1] / 1e6);
    replica_result_clear(&result);
    fixture_clear(&fixture);
    return 0;
}
