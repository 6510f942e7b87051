/* serving.h - replicas that answer requests: lost servers, batches, language models (MODELS 8).
 *
 * Pure functions of SI quantities. Tests: tests/test_serving.c, tests/cases/models/serving.csv. */
#ifndef GPUPLAN_MODELS_SERVING_H
#define GPUPLAN_MODELS_SERVING_H

#include <stdint.h>

/* Share of requests answered within a limit when servers fail (8.2): slots = floor(g/r) a server, one central queue; load
 * beyond rho_max of what is up is shed and counts as missed. */
struct slo_layout {
    uint32_t servers, gpus_per_server, gpus_per_replica;
    double lambda, mu; /* arrivals per second; services per second of a slot */
    double limit_s;
    double server_up;  /* availability of a server */
    double load_max;   /* rho_max, in (0, 1)       */
};
double slo_with_servers_up(const struct slo_layout *layout, uint32_t up);
double slo_expected(const struct slo_layout *layout);

/* Largest batch whose iteration alpha + beta b stays within the limit, and its rate b/(alpha + beta b) (8.3). */
struct batch {
    double size_max, per_s;
};
struct batch batch_within(double alpha_s, double beta_s, double limit_s);

/* A dense language model on tp GPUs. */
struct language_model {
    double parameters, weight_bytes;    /* P; bytes per parameter                        */
    double tensor_parallel;             /* tp                                            */
    double peak_flops_per_s, efficiency;/* of one GPU                                    */
    double hbm_bytes_per_s, memory_efficiency;
    double kv_bytes_per_token;          /* 2 L kv_heads d_head bytes                     */
};
double prefill_s(const struct language_model *model, double tokens); /* 2 P tokens/(tp peak eff) */

/* Time per token of a batch: the larger of memory and compute, plus communication. */
struct decode_time {
    double total_s, memory_s, compute_s;
};
struct decode_time decode_s(const struct language_model *model, double batch, double context_tokens,
                            double communication_s);

/* 2 L kv_heads d_head bytes; and the tokens that fit beside the weights: floor((mem tp util - P bytes)/kv), at least 0. */
double kv_bytes(double layers, double kv_heads, double head_size, double element_bytes);
double kv_tokens(const struct language_model *model, double memory_bytes, double use_frac);

#endif
