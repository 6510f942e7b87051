/* checkpoint.h - cost of checkpoints, the best interval between them, work lost to failures
 * (MODELS 5.7 to 5.10).
 *
 * C: time a write blocks the job; M: mean time between failures of the job; tau: work between
 * writes; R: restart; D: down time before a restart. All in seconds. Pure functions. Tests:
 * tests/test_checkpoint.c, tests/cases/models/checkpoint.csv. */
#ifndef GPUPLAN_MODELS_CHECKPOINT_H
#define GPUPLAN_MODELS_CHECKPOINT_H

#include <stdint.h>

/* Bytes of a checkpoint: parameters times bytes of each; 14 = 16-bit weights, 32-bit master copy and the
 * two moments of Adam (5.7). */
#define CHECKPOINT_PARAMETER_BYTES 14.0
double checkpoint_bytes(double parameters, double parameter_bytes);

/* C = bytes / min(servers * server, store) (5.7); all > 0. */
double checkpoint_write_s(double size_bytes, double servers, double server_bytes_per_s,
                          double store_bytes_per_s);

/* tau = sqrt(2 C M): Young 1974. */
double young_interval_s(double write_s, double mtbf_s);

/* tau = sqrt(2 C M)(1 + sqrt(x)/3 + x/9) - C with x = C/(2 M); M when C >= 2 M: Daly 2006. */
double daly_interval_s(double write_s, double mtbf_s);

/* tau = M (1 + W0(-exp(-1 - C/M))): the exact minimum of checkpoint_wall_s. */
double optimal_interval_s(double write_s, double mtbf_s);

/* Expected wall time of `work` with exponential failures, also during writes and restarts (5.8;
 * Daly 2006): T = work/tau exp(R/M) (M + D)(exp((tau + C)/M) - 1) */
struct checkpoint_plan {
    double interval_s, write_s, restart_s, down_s, mtbf_s;
};
double checkpoint_wall_s(double work_s, const struct checkpoint_plan *plan);
double checkpoint_efficiency(const struct checkpoint_plan *plan); /* work over wall time */

/* Wall time lost by a failure that falls into an interval of length L = tau + C: mean and quantile
 * (5.8). mean = M - L/(exp(L/M) - 1),   quantile = -M log(1 - q (1 - exp(-L/M))) */
double lost_mean_s(double interval_s, double mtbf_s);
double lost_quantile_s(double interval_s, double mtbf_s, double q);

/* Two levels, peer memory and storage (5.9): tau_i = sqrt(2 C_i/lambda_i), waste = sum C_i/tau_i +
 * lambda_i(tau_i/2 + R_i). */
struct checkpoint_level {
    double rate_per_s, write_s, restart_s;
};
double level_interval_s(const struct checkpoint_level *level);
double level_waste_frac(const struct checkpoint_level *level);
double levels_waste_frac(const struct checkpoint_level *levels, uint32_t count); /* of all levels */

/* Expected share of productive time of a job on `nodes` nodes without queueing (5.10; Kokolis et
 * al. 2025), small losses only: (1 - nodes r (u0 + dt/2)) / (1 + w/dt) */
struct ettr_terms {
    double nodes, node_rate_per_s, restart_s, interval_s, write_s;
};
double ettr_expected(const struct ettr_terms *terms);
double nodes_mttf_s(const struct ettr_terms *terms); /* 1/(nodes r): between failures of the job */

#endif
