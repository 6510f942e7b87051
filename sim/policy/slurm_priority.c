/* slurm_priority.c - see slurm_priority.h. */
#include "policy/slurm_priority.h"

#include "base/clock.h"

static double ratio(double part, double whole)
{
    if (!(whole > 0)) return 0;
    return part < whole ? part / whole : 1;
}

double slurm_age_factor(const struct slurm_spec *spec, int64_t eligible_ns, int64_t now_ns)
{
    const int64_t waited_ns = now_ns > eligible_ns ? now_ns - eligible_ns : 0;
    return ratio((double)waited_ns, (double)spec->max_age_ns);
}

double slurm_size_factor(const struct slurm_spec *spec, struct slurm_tres asked,
                         struct slurm_tres cluster)
{
    const double nodes = ratio((double)asked.nodes, (double)cluster.nodes);
    const double cores = ratio((double)asked.cores, (double)cluster.cores);
    return spec->favor_small ? ((1 - nodes) + (1 - cores)) / 2 : (nodes + cores) / 2;
}

double slurm_partition_factor(const struct slurm_spec *spec, uint32_t partition)
{
    uint32_t most = 0;
    for (uint32_t p = 0; p < spec->partition_count; p++)
        if (spec->partitions[p].priority_job_factor > most)
            most = spec->partitions[p].priority_job_factor;
    return ratio(spec->partitions[partition].priority_job_factor, most);
}

double slurm_qos_factor(const struct slurm_spec *spec, uint32_t qos)
{
    if (qos >= spec->qos_count) return 0;
    uint32_t most = 0;
    for (uint32_t q = 0; q < spec->qos_count; q++)
        if (spec->qos[q].priority > most) most = spec->qos[q].priority;
    return ratio(spec->qos[qos].priority, most);
}

void slurm_tres_factors(struct slurm_factors *factors, struct slurm_tres asked,
                        struct slurm_tres partition)
{
    factors->tres_gpu = ratio((double)asked.gpus, (double)partition.gpus);
    factors->tres_cpu = ratio((double)asked.cores, (double)partition.cores);
    factors->tres_node = ratio((double)asked.nodes, (double)partition.nodes);
    factors->tres_mem = ratio((double)asked.memory_mib, (double)partition.memory_mib);
}

uint32_t slurm_priority(const struct slurm_spec *spec, const struct slurm_factors *factors,
                        int32_t nice)
{
    const double sum =
        spec->weight_age * factors->age + spec->weight_fairshare * factors->fairshare +
        spec->weight_job_size * factors->size + spec->weight_partition * factors->partition +
        spec->weight_qos * factors->qos + spec->weight_assoc * factors->assoc +
        spec->weight_tres_gpu * factors->tres_gpu + spec->weight_tres_cpu * factors->tres_cpu +
        spec->weight_tres_node * factors->tres_node + spec->weight_tres_mem * factors->tres_mem -
        (double)nice;
    if (!(sum >= 1)) return 1; /* 0 would mean held */
    return sum < 4294967295.0 ? (uint32_t)sum : UINT32_MAX;
}

uint32_t slurm_priority_basic(uint32_t *lowest, int32_t nice)
{
    if (*lowest > 1) --*lowest;
    const int64_t priority = (int64_t)*lowest - nice;
    if (priority < 1) return *lowest; /* slurmctld leaves a nice value out that is too large */
    return priority < UINT32_MAX ? (uint32_t)priority : UINT32_MAX;
}

int64_t slurm_calc_next_ns(const struct slurm_spec *spec, int64_t now_ns)
{
    const bool moves = spec->weight_age > 0 || spec->weight_fairshare > 0;
    if (!spec->multifactor || !moves || spec->calc_period_ns <= 0) return TIME_NEVER;
    const int64_t past = now_ns % spec->calc_period_ns;
    return time_add(now_ns - past, spec->calc_period_ns);
}
