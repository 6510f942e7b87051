/* synth.h - one job of a synthetic GPU cluster at a time, from published statistics.
 *
 * The law, in the order of its draws (streams of MODELS 9, replica 0, entity = number of the job):
 *
 *   size      one of sizes[], by share                                     job.size
 *   run time  with short_share a short run, lognormal(short_median_s, short_sigma); else a long
 *             one, lognormal(median_s of the size, long_sigma); whole seconds, 1 .. longest_s
 *                                                                          job.runtime, 0 and 1
 *   submit    the inverse of the cumulative arrival rate: a Poisson process of hours that are busy, quiet (0-8 h) or between
 *             (8-9 h and 21-24 h), on weekdays and weekends, given how many come; day 0 is a Monday
 *                                                                          job.arrival
 *   user      one of users, the k-th with weight k^-user_skew              job.user
 *
 * Left out: users that prefer sizes, sessions of resubmitted jobs, growth, limits.
 *
 * Defaults and where they come from ("cut" = the logs of Philly and Microsoft ITP as the tests read
 * them, added up by awk; the summaries are those of InternLM/AcmeTrace and S-Lab HeliosArtifact):
 *   shares of sizes   mean 2.67 GPUs: between Philly (1.93) and Helios (3.72), Acme Seren 5.68. 70 % of
 *                     one GPU (ITP cut 88 %, Philly cut 95 %), powers of two to 64 (ITP cut 1 to 64)
 *   median_s          long runs of one GPU 1 h, so that their mean is 1.7 h with the short ones (Philly
 *                     cut 2.3 h, ITP cut 3.7 h); of 8 GPUs 8 h, mean 11.5 h (ITP cut 8.6 h, Philly cut 57 h); between
 *                     for 2 and 4; not longer beyond 8 (both cuts: flat)
 *   short runs        45 % (Philly: 39.5 % fail or are cancelled; Seren 50.4 %); median 120 s (over all
 *                     jobs Seren 122 s, Kalos 124 s, Helios 206 s)
 *   long_sigma 1.5    median of all jobs 870 s, mean 12,500 s (Philly 874 and 18,006, Helios 206 and 6,652)
 *   longest_s         7 days: assumed, a common limit
 *   weekend 0.6       Philly cut: Saturday and Sunday have 0.60 of a weekday's submissions
 *   night 0.4         assumed; the Philly cut is too bursty to read it off
 *   users 60, skew 1  assumed; the first three then have 39 % of the jobs
 * Jobs of 8 GPUs and more then hold 78 % of the GPU time (ITP cut 67 %, Philly cut 61 %), and a job asks
 * for 75,000 GPU-seconds on average (Philly 61,000, Helios 49,000).
 *
 * Pure functions: no clock, no files, the same bits everywhere.
 * Tests: tests/test_synth.c */
#ifndef GPUPLAN_MODELS_SYNTH_H
#define GPUPLAN_MODELS_SYNTH_H

#include <stdint.h>

enum { SYNTH_SIZES = 32, SYNTH_USERS = 1024, SYNTH_WEEK_HOURS = 168 };

struct synth_size {
    uint32_t gpus;     /* >= 1                                              */
    double share;      /* of jobs, > 0; shares need not add up to 1         */
    double median_s;   /* of its long runs, > 0                             */
};

struct synth {
    uint64_t seed;
    uint32_t days;     /* of submissions, >= 1                              */
    uint32_t gpus;     /* of the cluster that `load` refers to, >= 1        */
    double load;       /* GPU-seconds asked for per GPU-second there is, > 0 */
    struct synth_size sizes[SYNTH_SIZES];
    uint32_t size_count;
    double long_sigma, short_share, short_median_s, short_sigma;
    int64_t longest_s; /* >= 1                                              */
    double night, weekend; /* arrival rate relative to a busy hour, a weekday; > 0 */
    uint32_t users;    /* 1 .. SYNTH_USERS                                  */
    double user_skew;  /* >= 0                                              */
};

/* The defaults above: seed 1, 30 days, 256 GPUs, load 0.8. */
void synth_defaults(struct synth *synth);

/* Cumulative sums that jobs are drawn from. */
struct synth_law {
    const struct synth *synth; /* borrowed */
    double size_to[SYNTH_SIZES], user_to[SYNTH_USERS];
    double rate_to[SYNTH_WEEK_HOURS + 1]; /* busy hours before the hour of the week  */
    double rate_all;                      /* busy hours in all days                 */
    uint64_t key_size, key_runtime, key_arrival, key_user;
};

void synth_law_init(struct synth_law *law, const struct synth *synth);

struct synth_job {
    int64_t submit_s, duration_s;
    uint32_t gpus, user; /* user from 0 */
};

/* Job `number`, from 0. Jobs are independent; their submit times do not ascend. */
struct synth_job synth_job_at(const struct synth_law *law, uint32_t number);

/* GPU-seconds that the whole log must ask for: load * gpus * days. */
double synth_target_gpu_s(const struct synth *synth);

#endif
