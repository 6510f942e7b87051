/* training_series.h - what published training rows leave unsaid: which entry of the catalog a name means, and the plan
 * of the run where its source states it. First match wins; an empty text matches anything.
 *
 * Batches and accumulation of llm-foundry: scripts/train/benchmarking/README.md of mosaicml/llm-foundry. BERT: 65,536 sequences a
 * step, 256 a GPU and pass, NVIDIA/DeepLearningExamples (PyTorch BERT, table of several nodes). Megatron-LM 2019: 8 x 1,024 tokens. Interleaving
 * of the 175B runs: 6 (MegaScale, from memory); of Megatron-LM 2021 the fewest chunks that divide its layers (assumed: its schedule is
 * interleaved, its table does not say by how much). */
#ifndef TESTS_TRAINING_SERIES_H
#define TESTS_TRAINING_SERIES_H

#include "models/train_plan.h"

enum { AS_STACK = -1 };

struct training_series {
    const char *system, *model, *hardware; /* system and model whole, hardware in part */
    unsigned gpus;                         /* 0: any                                   */
    const char *entry, *server, *stack;    /* of the catalog; stack "": measured       */
    double microbatch, passes;             /* passes: microbatches of a GPU where the row has no batch; 0: it has one */
    unsigned interleave;
    int zero, recompute;                   /* AS_STACK: as the stack                   */
    bool counts_recomputed;                /* its TFLOP/s hold what is computed twice  */
};

#define FSDP_H100 "dgx-h100", "fsdp-h100"
#define FSDP_A100 "azure-nd96asr", "fsdp-a100"

/* clang-format off */
static const struct training_series training_series[] = {
    { "Megatron-LM", "1.7B", "", 0, "gpt-1.7b", "dgx-a100", "megatron-a100", 1, 0, 1, AS_STACK, RECOMPUTE_FULL, true },
    { "Megatron-LM", "3.6B", "", 0, "gpt-3.6b", "dgx-a100", "megatron-a100", 1, 0, 1, AS_STACK, RECOMPUTE_FULL, true },
    { "Megatron-LM", "7.5B", "", 0, "gpt-7.5b", "dgx-a100", "megatron-a100", 1, 0, 1, AS_STACK, RECOMPUTE_FULL, true },
    { "Megatron-LM", "18B", "", 0, "gpt-18b", "dgx-a100", "megatron-a100", 1, 0, 1, AS_STACK, RECOMPUTE_FULL, true },
    { "Megatron-LM", "39B", "", 0, "gpt-39b", "dgx-a100", "megatron-a100", 1, 0, 1, AS_STACK, RECOMPUTE_FULL, true },
    { "Megatron-LM", "76B", "", 0, "gpt-76b", "dgx-a100", "megatron-a100", 1, 0, 3, AS_STACK, RECOMPUTE_FULL, true },
    { "Megatron-LM", "145B", "", 0, "gpt-145b", "dgx-a100", "megatron-a100", 1, 0, 2, AS_STACK, RECOMPUTE_FULL, true },
    { "Megatron-LM", "310B", "", 0, "gpt-310b", "dgx-a100", "megatron-a100", 1, 0, 2, AS_STACK, RECOMPUTE_FULL, true },
    { "Megatron-LM", "530B", "", 0, "gpt-530b", "dgx-a100", "megatron-a100", 1, 0, 3, AS_STACK, RECOMPUTE_FULL, true },
    { "Megatron-LM", "1T", "", 0, "gpt-1t", "dgx-a100", "megatron-a100", 1, 0, 2, AS_STACK, RECOMPUTE_FULL, true },
    { "Megatron-LM", "175B", "", 0, "gpt-175b", "dgx-a100", "megatron-a100", 1, 0, 6, 1, RECOMPUTE_SELECTIVE, false },
    { "MegaScale ablation", "baseline", "", 0, "gpt-175b", "dgx-a100", "megatron-a100", 1, 0, 6, 1, RECOMPUTE_SELECTIVE, false },
    { "MegaScale", "175B", "", 0, "gpt-175b", "dgx-a100", "megascale-a100", 1, 0, 6, AS_STACK, AS_STACK, false },
    { "Megatron-LM 2019", "", "DGX A100", 1, "megatron-1.2b", "dgx-a100", "megatron-2019-a100", 8, 1, 1, AS_STACK, AS_STACK, true },
    { "Megatron-LM 2019", "", "DGX A100", 2, "megatron-2.5b", "dgx-a100", "megatron-2019-a100", 8, 1, 1, AS_STACK, AS_STACK, true },
    { "Megatron-LM 2019", "", "DGX A100", 4, "megatron-4.2b", "dgx-a100", "megatron-2019-a100", 8, 1, 1, AS_STACK, AS_STACK, true },
    { "Megatron-LM 2019", "", "DGX A100", 8, "megatron-8.3b", "dgx-a100", "megatron-2019-a100", 8, 1, 1, AS_STACK, AS_STACK, true },
    { "Megatron-LM 2019", "", "DGX-2 V100", 1, "megatron-1.2b", "dgx-2", "megatron-2019-v100", 8, 1, 1, AS_STACK, AS_STACK, true },
    { "Megatron-LM 2019", "", "DGX-2 V100", 2, "megatron-2.5b", "dgx-2", "megatron-2019-v100", 8, 1, 1, AS_STACK, AS_STACK, true },
    { "Megatron-LM 2019", "", "DGX-2 V100", 4, "megatron-4.2b", "dgx-2", "megatron-2019-v100", 8, 1, 1, AS_STACK, AS_STACK, true },
    { "Megatron-LM 2019", "", "DGX-2 V100", 8, "megatron-8.3b", "dgx-2", "megatron-2019-v100", 8, 1, 1, AS_STACK, AS_STACK, true },
    { "Megatron-Core", "1.7B", "", 0, "core-1.7b", "dgx-h100", "megatron-core-h100", 1, 0, 1, AS_STACK, AS_STACK, false },
    { "Megatron-Core", "7.1B", "", 0, "core-7.1b", "dgx-h100", "megatron-core-h100", 1, 0, 1, AS_STACK, AS_STACK, false },
    { "Megatron-Core", "32B", "", 0, "core-32b", "dgx-h100", "megatron-core-h100", 1, 0, 1, AS_STACK, AS_STACK, false },
    { "Megatron-Core", "70B", "", 0, "core-70b", "dgx-h100", "megatron-core-h100", 1, 0, 1, AS_STACK, AS_STACK, false },
    { "Megatron-Core", "177B", "", 0, "core-177b", "dgx-h100", "megatron-core-h100", 1, 0, 1, AS_STACK, AS_STACK, false },
    { "Megatron-Core", "462B", "", 0, "core-462b", "dgx-h100", "megatron-core-h100", 1, 0, 1, AS_STACK, AS_STACK, false },
    { "Llama 3", "405B", "", 0, "405b", "dgx-h100", "llama3-h100", 1, 0, 4, AS_STACK, AS_STACK, false },
    { "llm-foundry FSDP", "70B", "H100", 0, "mpt-70b", FSDP_H100, 8, 1, 1, 3, RECOMPUTE_FULL, false },
    { "llm-foundry FSDP", "30B", "H100", 0, "mpt-30b", FSDP_H100, 8, 1, 1, 3, RECOMPUTE_FULL, false },
    { "llm-foundry FSDP", "13B", "H100", 0, "mpt-13b", FSDP_H100, 16, 1, 1, 3, RECOMPUTE_FULL, false },
    { "llm-foundry FSDP", "7B", "H100", 0, "mpt-7b", FSDP_H100, 6, 1, 1, 3, RECOMPUTE_SELECTIVE, false },
    { "llm-foundry FSDP", "3B", "H100", 0, "mpt-3b", FSDP_H100, 8, 1, 1, 2, RECOMPUTE_SELECTIVE, false },
    { "llm-foundry FSDP", "1B", "H100", 0, "mpt-1b", FSDP_H100, 12, 1, 1, 2, RECOMPUTE_SELECTIVE, false },
    { "llm-foundry FSDP", "70B", "A100-40", 64, "mpt-70b", FSDP_A100, 2, 1, 1, 3, RECOMPUTE_FULL, false },
    { "llm-foundry FSDP", "70B", "A100-40", 128, "mpt-70b", FSDP_A100, 4, 1, 1, 3, RECOMPUTE_FULL, false },
    { "llm-foundry FSDP", "7B", "A100-40", 8, "mpt-7b", FSDP_A100, 12, 4, 1, 3, RECOMPUTE_FULL, false },
    { "llm-foundry FSDP", "7B", "A100-40", 16, "mpt-7b", FSDP_A100, 16, 1, 1, 3, RECOMPUTE_FULL, false },
    { "llm-foundry FSDP", "7B", "A100-40", 0, "mpt-7b", FSDP_A100, 18, 1, 1, 3, RECOMPUTE_FULL, false },
    { "llm-foundry FSDP", "3B", "A100-40", 8, "mpt-3b", FSDP_A100, 5, 8, 1, 3, RECOMPUTE_SELECTIVE, false },
    { "llm-foundry FSDP", "3B", "A100-40", 16, "mpt-3b", FSDP_A100, 5, 1, 1, 3, RECOMPUTE_SELECTIVE, false },
    { "llm-foundry FSDP", "3B", "A100-40", 0, "mpt-3b", FSDP_A100, 6, 1, 1, 3, RECOMPUTE_SELECTIVE, false },
    { "llm-foundry FSDP", "1B", "A100-40", 8, "mpt-1b", FSDP_A100, 8, 8, 1, 3, RECOMPUTE_SELECTIVE, false },
    { "llm-foundry FSDP", "1B", "A100-40", 16, "mpt-1b", FSDP_A100, 8, 1, 1, 3, RECOMPUTE_SELECTIVE, false },
    { "llm-foundry FSDP", "1B", "A100-40", 0, "mpt-1b", FSDP_A100, 10, 1, 1, 3, RECOMPUTE_SELECTIVE, false },
    { "llm-foundry FSDP", "125M", "A100-40", 8, "mpt-125m", FSDP_A100, 26, 3, 1, 3, RECOMPUTE_SELECTIVE, false },
    { "llm-foundry FSDP", "125M", "A100-40", 0, "mpt-125m", FSDP_A100, 26, 1, 1, 3, RECOMPUTE_SELECTIVE, false },
    { "DDP BERT-Large seq128", "", "DGX A100", 8, "bert-large", "dgx-a100", "ddp-a100", 256, 32, 1, AS_STACK, AS_STACK, false },
    { "DDP BERT-Large seq128", "", "DGX A100", 16, "bert-large", "dgx-a100", "ddp-a100", 256, 16, 1, AS_STACK, AS_STACK, false },
    { "DDP BERT-Large seq128", "", "DGX A100", 32, "bert-large", "dgx-a100", "ddp-a100", 256, 8, 1, AS_STACK, AS_STACK, false },
    { "DDP BERT-Large seq128", "", "DGX A100", 64, "bert-large", "dgx-a100", "ddp-a100", 256, 4, 1, AS_STACK, AS_STACK, false },
    { "DDP BERT-Large seq128", "", "DGX A100", 128, "bert-large", "dgx-a100", "ddp-a100", 256, 2, 1, AS_STACK, AS_STACK, false },
    { "DDP BERT-Large seq128", "", "DGX A100", 256, "bert-large", "dgx-a100", "ddp-a100", 256, 1, 1, AS_STACK, AS_STACK, false },
    { "DDP strong scaling", "ResNet-50", "", 0, "ddp-resnet50", "azure-nd96asr", "", 0, 0, 1, AS_STACK, AS_STACK, false },
    { "DDP strong scaling", "VGG-16", "", 0, "ddp-vgg16", "azure-nd96asr", "", 0, 0, 1, AS_STACK, AS_STACK, false },
    { "DDP strong scaling", "BERT", "", 0, "ddp-bert", "azure-nd96asr", "", 0, 0, 1, AS_STACK, AS_STACK, false },
    { "DDP strong scaling", "GPT-2", "", 0, "ddp-gpt2", "azure-nd96asr", "", 0, 0, 1, AS_STACK, AS_STACK, false },
    { "DDP strong scaling", "Inception-3", "", 0, "ddp-inception3", "azure-nd96asr", "", 0, 0, 1, AS_STACK, AS_STACK, false },
    { "DDP strong scaling", "DeepSpeech2", "", 0, "ddp-deepspeech2", "azure-nd96asr", "", 0, 0, 1, AS_STACK, AS_STACK, false },
};
/* clang-format on */

#endif
