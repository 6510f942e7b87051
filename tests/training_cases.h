/* training_cases.h - published cases about training steps, for oracle_cases.c: what the plans of the catalog give. */
#ifndef TESTS_TRAINING_CASES_H
#define TESTS_TRAINING_CASES_H

#include "tests/training_case.h"

static struct catalog *training_catalog; /* set before the first case */

static inline double plan_s(const char *what)
{
    return training_case(training_catalog, what).step_s;
}
static inline double plan_ms(const char *what)
{
    return 1e3 * plan_s(what);
}
static inline double plan_per_s(const char *what)
{
    return 1 / plan_s(what);
}
static inline double plan_mfu_percent(const char *what)
{
    return 100 * training_case(training_catalog, what).mfu;
}

/* "A | B": speed per GPU of plan A over that of B, in percent. */
static inline double plan_share_percent(const char *what)
{
    char first[256];
    const char *bar = strstr(what, " | ");
    snprintf(first, sizeof first, "%.*s", (int)(bar - what), what);
    const double gpus[] = { strtod(strstr(first, "gpus=") + 5, NULL),
                            strtod(strstr(bar, "gpus=") + 5, NULL) };
    const struct train_time a = training_case(training_catalog, first),
                            b = training_case(training_catalog, bar + 3);
    if (a.flops > 0) return 100 * a.flops_per_s_gpu / b.flops_per_s_gpu;
    return 100 * a.samples_per_s / gpus[0] / (b.samples_per_s / gpus[1]);
}

/* Plans, as in training_case.h; microbatches and chunks as in training_series.h. */
#define MEGATRON  "gpt-175b megatron-a100 dgx-a100 tp=8 pp=8 v=6 zero=1 recompute=selective "
#define MEGASCALE "gpt-175b megascale-a100 dgx-a100 tp=8 pp=8 v=6 "
#define TP2019    "megatron-2019-a100 dgx-a100 mb=8 batch=8 "
#define CORE      "megatron-core-h100 dgx-h100 "
#define LLAMA3    "405b llama3-h100 dgx-h100 tp=8 pp=16 v=4 batch=2048 "
#define BERT      "bert-large ddp-a100 dgx-a100 mb=256 batch=65536 "
#define VGG       "ddp-vgg16 - azure-nd96asr mb=0 batch=256 "
#define DDP_BERT  "ddp-bert - azure-nd96asr mb=0 batch=128 "

/* Why a case has no model. */
static const struct training_reason {
    const char *id, *why;
} training_reasons[] = {
    { "T17", "no batch, and compute of a P100 from memory only" },
    { "T18", "no batch and no plan" },
    { "T22", "no plan: MLPerf states GPUs and minutes" },
    { "T24", "neither the network nor the compute time of the spread jobs is stated" },
    { "T27", "microbatches and chunks of the two schedules are not stated: 1.28 needs a bubble of at least 28 %" },
};

static inline const char *training_reason(const char *id)
{
    for (size_t i = 0; i < sizeof training_reasons / sizeof *training_reasons; i++)
        if (strcmp(training_reasons[i].id, id) == 0) return training_reasons[i].why;
    return "";
}

/* clang-format off */
#define TRAINING_CHECKS \
    { "T01", "163 TFLOP/s/GPU", plan_s,                                                                      \
      "gpt-1t megatron-a100 dgx-a100 gpus=3072 tp=8 pp=64 v=2 batch=3072", NEAR(102.6, 6) },                     \
    { "T03", "40.0", plan_s, MEGATRON "gpus=256 batch=768", NEAR(40.0, 6) },                                 \
    { "T03", "21.2", plan_s, MEGATRON "gpus=512 batch=768", NEAR(21.2, 6) },                                 \
    { "T03", "15.2", plan_s, MEGATRON "gpus=768 batch=768", NEAR(15.2, 6) },                                 \
    { "T03", "11.9", plan_s, MEGATRON "gpus=1024 batch=768", NEAR(11.9, 6) },                                \
    { "T05", "32.0 s", plan_s, MEGASCALE "gpus=256 batch=768", NEAR(32.0, 6) },                              \
    { "T05", "6.34 s", plan_s, MEGASCALE "gpus=12288 batch=6144", NEAR(6.34, 6) },                           \
    { "T08", "91.3", plan_share_percent,                                                                     \
      "megatron-2.5b " TP2019 "gpus=2 tp=2 | megatron-1.2b " TP2019 "gpus=1", WITHIN(91.3, 5) },             \
    { "T08", "83.2", plan_share_percent,                                                                     \
      "megatron-4.2b " TP2019 "gpus=4 tp=4 | megatron-1.2b " TP2019 "gpus=1", WITHIN(83.2, 5) },             \
    { "T08", "73.0", plan_share_percent,                                                                     \
      "megatron-8.3b " TP2019 "gpus=8 tp=8 | megatron-1.2b " TP2019 "gpus=1", WITHIN(73.0, 5) },             \
    { "T10", "41-49.5", plan_mfu_percent, "core-1.7b " CORE "gpus=48 batch=192", 41 - 4, 49.5 + 4 },         \
    { "T10", "last 46.5", plan_mfu_percent, "core-462b " CORE "gpus=6144 tp=8 pp=16 batch=3072",             \
      WITHIN(46.5, 4) },                                                                                     \
    { "T11", "-7 %", plan_share_percent, LLAMA3 "gpus=16384 | " LLAMA3 "gpus=8192", WITHIN(93, 3) },         \
    { "T13", "50.9", plan_mfu_percent,                                                                       \
      "mpt-7b fsdp-a100 azure-nd96asr recompute=full gpus=8 mb=12 batch=384", WITHIN(50.9, 2) },             \
    { "T13", "50.1", plan_mfu_percent,                                                                       \
      "mpt-7b fsdp-a100 azure-nd96asr recompute=full gpus=128 mb=18 batch=2304", WITHIN(50.1, 2) },          \
    { "T15", "101/", plan_share_percent, BERT "gpus=16 | " BERT "gpus=8", WITHIN(101, 3) },                  \
    { "T15", "/99/", plan_share_percent, BERT "gpus=32 | " BERT "gpus=8", WITHIN(99, 3) },                   \
    { "T15", "/98/", plan_share_percent, BERT "gpus=64 | " BERT "gpus=8", WITHIN(98, 3) },                   \
    { "T15", "/97/", plan_share_percent, BERT "gpus=128 | " BERT "gpus=8", WITHIN(97, 3) },                  \
    { "T15", "/95 %", plan_share_percent, BERT "gpus=256 | " BERT "gpus=8", WITHIN(95, 3) },                 \
    { "T19", "761/", plan_ms, VGG "gpus=1", NEAR(761, 4) },                                                  \
    { "T19", "/396/", plan_ms, VGG "gpus=2", NEAR(396, 4) },                                                 \
    { "T19", "/215/", plan_ms, VGG "gpus=4", NEAR(215, 4) },                                                 \
    { "T19", "/125/", plan_ms, VGG "gpus=8", NEAR(125, 4) },                                                 \
    { "T19", "/79/", plan_ms, VGG "gpus=16", NEAR(79, 4) },                                                  \
    { "T19", "/61/", plan_ms, VGG "gpus=32", NEAR(61, 4) },                                                  \
    { "T19", "/48 ms", plan_ms, VGG "gpus=64", NEAR(48, 4) },                                                \
    { "T21", "10.0", plan_per_s, DDP_BERT "gpus=8", NEAR(10.0, 10) },                                        \
    { "T21", "10.8", plan_per_s, DDP_BERT "gpus=16", NEAR(10.8, 10) },                                       \
    { "T21", "9.4", plan_per_s, DDP_BERT "gpus=64", NEAR(9.4, 10) }
/* clang-format on */

#endif
