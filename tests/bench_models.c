/* bench_models.c - ns per call of the models that a run asks at every start of a job.
 *
 * usage: bench_models. One line per model: name, ns, and what it may take at most; exit 1 when one takes longer. The
 * bounds are ten times what a 2020s core needs, so that only a change of kind shows, such as a loop over GPUs. */
#include "models/collective.h"
#include "models/locality.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { CALLS = 4000000 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The i-th of many placements: sizes and shapes change, so that nothing is computed once only. */
static struct collective_place place_at(uint32_t i)
{
    const uint32_t servers = 1 + i % 64, per_server = 1u << i % 4;
    return (struct collective_place){ servers, servers * per_server, per_server,
                                      370.8e9, per_server * 48.5e9,  3.4e-6,
                                      14e-6,   COLLECTIVE_CHUNKS };
}

static double flat_ring(uint32_t i)
{
    const struct collective_place place = place_at(i);
    return allreduce_of(&place, 1e6 + i, 1u << ALLREDUCE_FLAT_RING).total_s;
}

static double fastest_form(uint32_t i)
{
    const struct collective_place place = place_at(i);
    return allreduce_best(&place, 1e6 + i).total_s;
}

static double slowdown(uint32_t i)
{
    return locality_slowdown(0.25, 0.3, 1 + i * 1e-6);
}

static double split(uint32_t i)
{
    return locality_split(0.25, 0.3, 2 + i * 1e-6, 1 + i * 1e-7).inter_frac;
}

int main(void)
{
    static const struct {
        const char *name;
        double (*call)(uint32_t i);
        double ns_max;
    } models[] = {
        { "allreduce_of, flat ring", flat_ring, 200 },
        { "allreduce_best", fastest_form, 600 },
        { "locality_slowdown", slowdown, 100 },
        { "locality_split", split, 150 },
    };
    int slow = 0;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        volatile double sink = 0;
        const double start_s = now_s();
        for (uint32_t i = 0; i < CALLS; i++) sink = sink + models[m].call(i);
        const double ns = (now_s() - start_s) / CALLS * 1e9;
        printf("%-26s %6.1f ns (at most %.0f)\n", models[m].name, ns, models[m].ns_max);
        slow |= ns > models[m].ns_max;
    }
    return slow;
}
