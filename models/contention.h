/* contention.h - jobs that share a link: estimates of their step times, and hash collisions on trunks (MODELS 4.4, 4.5).
 *
 * Pure functions. Tests: tests/test_contention.c, tests/cases/models/contention.csv. */
#ifndef GPUPLAN_MODELS_CONTENTION_H
#define GPUPLAN_MODELS_CONTENTION_H

#include <stdint.h>

/* A periodic job on the link: a step computes, then communicates, of which `hidden_s` can overlap. */
struct link_job {
    double compute_s, hidden_s;
    double step_bytes; /* on this link            */
    double flows;      /* parallel ones on it, > 0 */
};

/* A: all always communicate (upper). B: perfect interleaving (lower). C: random phases (mean), clamped to A. */
enum contention_model { CONTENTION_UPPER, CONTENTION_LOWER, CONTENTION_MEAN };

enum { CONTENTION_JOBS_MAX = 64, ECMP_FLOWS_MAX = 1024 };

/* Step time of each job, step_s[count], 1 <= count <= CONTENTION_JOBS_MAX. */
void contended_steps(enum contention_model model, double link_bytes_per_s, const struct link_job *jobs,
                     uint32_t count, double *step_s);

/* n equal flows over k equal trunks by a uniform hash (4.5). n, k >= 1. */
double ecmp_no_collision(uint32_t flows, uint32_t trunks); /* P(all on different trunks)     */
double ecmp_trunks_used(uint32_t flows, uint32_t trunks);  /* mean: k (1 - (1 - 1/k)^n)      */
double ecmp_at_most(uint32_t flows, uint32_t trunks, uint32_t load); /* P(none holds more); n <= 1024 */
double ecmp_max_load(uint32_t flows, uint32_t trunks);     /* mean of the fullest; n <= 1024 */
double ecmp_efficiency(uint32_t flows, uint32_t trunks);   /* ceil(n/k)/mean of the fullest  */

#endif
