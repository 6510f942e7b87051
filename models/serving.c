/* serving.c - closed forms of MODELS 8.2 and 8.3. */
#include "models/serving.h"

#include "base/assert.h"
#include "models/binomial.h"
#include "models/queueing.h"

#include <math.h>

double slo_with_servers_up(const struct slo_layout *layout, uint32_t up)
{
    ASSERT(layout->gpus_per_replica >= 1 && layout->lambda > 0);
    ASSERT(layout->load_max > 0 && layout->load_max < 1);
    const uint32_t slots = up * (layout->gpus_per_server / layout->gpus_per_replica);
    if (slots == 0) return 0.0;
    const double bearable = layout->load_max * slots * layout->mu;
    const double served = layout->lambda < bearable ? layout->lambda : bearable;
    const struct queue_tail tail = queue_mmc_tail(served, layout->mu, slots, layout->limit_s);
    return served / layout->lambda * (1.0 - tail.response);
}

double slo_expected(const struct slo_layout *layout)
{
    double expected = 0.0;
    for (uint32_t up = 0; up <= layout->servers; up++) {
        const double share = binomial_at_least(layout->servers, layout->server_up, up) -
                             binomial_at_least(layout->servers, layout->server_up, up + 1);
        expected += share * slo_with_servers_up(layout, up);
    }
    return expected;
}

struct batch batch_within(double alpha_s, double beta_s, double limit_s)
{
    ASSERT(alpha_s >= 0 && beta_s > 0);
    /* The margin forgives decimal input: (30 ms - 12 ms)/0.25 ms is 72. */
    const double size = floor((limit_s - alpha_s) / beta_s * (1.0 + 1e-12));
    if (!(size >= 1)) return (struct batch){ 0, 0 };
    return (struct batch){ size, size / (alpha_s + beta_s * size) };
}

static double tokens_s(const struct language_model *model, double tokens)
{
    return 2.0 * model->parameters * tokens /
           (model->tensor_parallel * model->peak_flops_per_s * model->efficiency);
}

double prefill_s(const struct language_model *model, double tokens)
{
    return tokens_s(model, tokens);
}

struct decode_time decode_s(const struct language_model *model, double batch, double context_tokens,
                            double communication_s)
{
    const double read_bytes = model->parameters * model->weight_bytes +
                              batch * context_tokens * model->kv_bytes_per_token;
    struct decode_time time;
    time.memory_s =
        read_bytes / (model->tensor_parallel * model->hbm_bytes_per_s * model->memory_efficiency);
    time.compute_s = tokens_s(model, batch);
    time.total_s =
        (time.memory_s > time.compute_s ? time.memory_s : time.compute_s) + communication_s;
    return time;
}

double kv_bytes(double layers, double kv_heads, double head_size, double element_bytes)
{
    return 2.0 * layers * kv_heads * head_size * element_bytes;
}

double kv_tokens(const struct language_model *model, double memory_bytes, double use_frac)
{
    ASSERT(model->kv_bytes_per_token > 0);
    const double room_bytes =
        memory_bytes * model->tensor_parallel * use_frac - model->parameters * model->weight_bytes;
    return room_bytes > 0 ? floor(room_bytes / model->kv_bytes_per_token) : 0.0;
}
