/* bench_network.c - what sharing the network costs a run: CPU seconds of the same jobs with and without it.
 *
 * usage: bench_network [JOBS]
 * 2,000 GPUs, two a server, four cables down for one up; jobs of 2 to 6 servers placed wide, so that about 300 run at any time and
 * nearly all of them are joined by full uplinks; then with as many up, where none can be full. Each job is two changes: 25,000
 * jobs by default. Prints a line for each. */
#include "fixture.h"

#include "base/exactmath.h"
#include "base/philox.h"

#include <inttypes.h>
#include <time.h>

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t samples, running;

static void count_running(const struct run *run)
{
    samples++;
    for (uint32_t b = 0; b < run->running.block_count; b++)
        running += run->running.blocks[b]->count;
}

static void build(struct fixture *fixture, uint32_t jobs, double oversubscription,
                  enum network_rule rule)
{
    fixture_init(fixture, jobs);
    struct scenario *scenario = &fixture->scenario;
    snprintf(scenario->detail, sizeof scenario->detail, "none");
    scenario->contention = rule;
    scenario->placement = PLACE_SPREAD;
    scenario->communication.kind = COMM_PROFILE;
    scenario->communication.mix_count = 1;
    scenario->communication.mix[0] = (struct mix_entry){ .profile = { .kappa_one = 0.25,
                                                                      .kappa_many = 0.25,
                                                                      .hidden_frac = 0.3,
                                                                      .size_bytes = 1e9,
                                                                      .spread = 0.3 },
                                                         .weight = 1,
                                                         .gpus_min = 1,
                                                         .gpus_max = UINT32_MAX };
    struct layout *layout = fixture_layout(fixture, "bench", 1000, 2);
    layout->fabric.link.switch_ports = 64;
    layout->fabric.oversubscription = oversubscription;
    for (uint32_t row = 0; row < jobs; row++) {
        const struct draw draw = stream_draw(7, row, 0);
        fixture_job(fixture, row, 36.0 * row, 600 + 21600 * draw.u1, 0,
                    2 * (2 + (uint32_t)(5 * draw.u2)));
    }
    fixture_ready(fixture);
}

static bool measure(uint32_t jobs, double oversubscription)
{
    static const enum network_rule rules[] = { NETWORK_NONE, NETWORK_ESTIMATE };
    double took_s[2], share = 0;
    for (int r = 0; r < 2; r++) {
        struct fixture fixture;
        build(&fixture, jobs, oversubscription, rules[r]);
        run_probe = count_running;
        samples = running = 0;
        struct replica_result result;
        const double began_s = cpu_s();
        if (fixture_run(&fixture, 0, 0, &result) != STATUS_OK) return false;
        took_s[r] = cpu_s() - began_s;
        share = fixture_metric(&result, "share_stall_contention", CLASS_NONE, 0);
        replica_result_clear(&result);
        fixture_clear(&fixture);
    }
    printf(
        "%u changes, %.0f:1, %.0f jobs at a time: %.2f s, without the network %.2f s; contention "
        "%.3f of all\n",
        2 * jobs, oversubscription, (double)running / (double)samples, took_s[1], took_s[0], share);
    return true;
}

int main(int argc, char **argv)
{
    const uint32_t jobs = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 25000;
    return measure(jobs, 4) && measure(jobs, 1) ? 0 : 1;
}
