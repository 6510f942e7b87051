/* bench_jobs.c - jobs per CPU second of the simulation alone, trace in memory, one thread.
 *
 * usage: bench_jobs ORDER|kubernetes|slurm NODES GPUS_PER_NODE JOBS [LOAD]
 * The log is of the kind of oracles/sched: serial, power-of-two and other sizes up to 64, run
 * times of a two-part lognormal between seconds and a day, estimates 1 to 5 times the run time,
 * Poisson arrivals at the given offered load (0.9). Prints one line. */
#include "fixture.h"

#include "base/exactmath.h"
#include "base/philox.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <time.h>

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t resident_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static uint32_t size_of(double u)
{
    if (u < 0.35) return 1;
    if (u < 0.90) return 1u << (1 + (uint32_t)((u - 0.35) / 0.55 * 6));
    return 3 + (uint32_t)((u - 0.90) / 0.10 * 60);
}

static double run_time_s(double pick, double u)
{
    const double s = pick < 0.6 ? inv_lognormal(u, 5.0, 1.2) : inv_lognormal(u, 8.6, 0.9);
    return s < 1 ? 1 : s > 86400 ? 86400 : s;
}

static struct slurm_partition batch = { .name = "batch",
                                        .nodes = "ALL",
                                        .max_time_ns = TIME_NEVER,
                                        .priority_tier = 1,
                                        .priority_job_factor = 1,
                                        .preempt_mode = PREEMPT_UNSET,
                                        .is_default = true,
                                        .up = true };

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr,
                "usage: bench_jobs ORDER|kubernetes|slurm NODES GPUS_PER_NODE JOBS [LOAD]\n");
        return 2;
    }
    const uint32_t nodes = (uint32_t)strtoul(argv[2], NULL, 10);
    const uint32_t gpus = (uint32_t)strtoul(argv[3], NULL, 10);
    const uint32_t jobs = (uint32_t)strtoul(argv[4], NULL, 10);
    const double load = argc > 5 ? strtod(argv[5], NULL) : 0.9;
    struct fixture fixture;
    fixture_init(&fixture, jobs);
    int order = 0;
    while (order < ORDERS && strcmp(argv[1], order_names[order])) order++;
    if (!strcmp(argv[1], "kubernetes")) {
        fixture.scenario.kind = KIND_KUBERNETES;
        kube_defaults(&fixture.scenario.kube);
        fixture.scenario.kube.gang = GANG_COSCHEDULING;
        fixture.scenario.kube.profile.strategy = FIT_MOST_ALLOCATED;
        fixture.scenario.kube.profile.fit_weight[KUBE_GPU] = 5;
    } else if (!strcmp(argv[1], "slurm")) {
        fixture.scenario.kind = KIND_SLURM;
        slurm_defaults(&fixture.scenario.slurm);
        fixture.scenario.slurm.partitions = &batch;
        fixture.scenario.slurm.partition_count = 1;
    } else if (order == ORDERS)
        return 2;
    else
        fixture.scenario.order = (enum order)order;
    fixture.scenario.shape = gpus == 1 ? SHAPE_FREE : SHAPE_MODEL;
    snprintf(fixture.scenario.detail, sizeof fixture.scenario.detail, "none");
    fixture_layout(&fixture, "bench", nodes, gpus)->fabric.link.switch_ports =
        (uint64_t)nodes * gpus > 500000 ? 2048 : 1024; /* two tiers hold ports^2 / 2 */
    double gpu_s = 0;
    for (uint32_t row = 0; row < jobs; row++) {
        const struct draw draw = stream_draw(7, row, 0), more = stream_draw(7, row, 1);
        const uint32_t size = size_of(draw.u1);
        const double run_s = run_time_s(draw.u2, more.u1);
        fixture_job(&fixture, row, 0, run_s, run_s * (1 + 4 * more.u2), size);
        gpu_s += size * run_s;
    }
    const double gap_s = gpu_s / jobs / (load * nodes * gpus);
    double submit_s = 0;
    for (uint32_t row = 0; row < jobs; row++) {
        fixture.jobs.submit_ns[row] = ns_from_s(submit_s);
        submit_s += inv_exponential(stream_uniform(8, row, 0), gap_s);
    }
    fixture_ready(&fixture);
    const uint64_t before_bytes = resident_bytes();
    const double began_s = cpu_s();
    struct replica_result result;
    if (fixture_run(&fixture, 0, 0, &result) != STATUS_OK) return 1;
    const double took_s = cpu_s() - began_s;
    printf("%-12s %6u x %u GPUs %9u jobs  %8.3f s  %10.0f jobs/s  mean wait %9.1f s  %4.0f "
           "bytes/job\n",
           argv[1], nodes, gpus, jobs, took_s, jobs / took_s,
           fixture_metric(&result, "wait_s_mean", CLASS_NONE, -1),
           (double)(resident_bytes() - before_bytes) / jobs);
    replica_result_clear(&result);
    fixture_clear(&fixture);
    return 0;
}
