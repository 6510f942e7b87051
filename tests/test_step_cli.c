/* test_step_cli.c - gpuplan step as its user meets it: what it prints, what it refuses and with which number. */
#include "cluster/train_of.h"
#include "io/catalog.h"
#include "tests/near.h"

#include <jansson.h>
#include <math.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define H100  "--server dgx-h100 "
#define MODEL H100 "--params 1e9 --layers 8 --hidden 2048 "
#define SMALL MODEL "--batch 64 "

static char shown[16384];

/* Runs the program; its exit code, and both streams in `shown`. */
static int step(const char *words)
{
    char line[1024];
    const char *build = getenv("BUILD");
    snprintf(line, sizeof line, "%s/gpuplan step %s 2>&1", build ? build : "build", words);
    FILE *out = popen(line, "r");
    assert_non_null(out);
    const size_t bytes = fread(shown, 1, sizeof shown - 1, out);
    shown[bytes] = '\0';
    return pclose(out) >> 8;
}

struct line_case {
    const char *name, *words;
    int want_exit;
    const char *want;
};
static const struct line_case lines[] = {
    /* 7 samples of 100 ms, and Adam: 28 B x 1e9 at 3.35 TB/s is 8.358 ms. */
    { "a measured model on one GPU", H100 "--gpus 1 --params 1e9 --sample-time 100ms --batch 7", 0,
      "\nstep                            708.358   100.0%\n" },
    { "where a plan sits", MODEL "--gpus 16 --tp 2 --pp 4 --interleave 2 --batch 8", 0,
      "16 h100-sxm on 2 servers: tp 2, dp 2, pp 4, ep 1; 4 microbatches of 1, 2 chunks a GPU\n" },
    /* Of 0.603, at a half width of 600: 4,096/4,696. */
    { "efficiency of a stack at a width",
      "--server dgx-a100 --gpus 8 --model gpt-7.5b --stack megatron-a100 --tp 4 --batch 8", 0,
      "kernels at 0.526 of 312 TFLOP/s\n" },
    { "an efficiency of one's own",
      "--server dgx-a100 --gpus 8 --model gpt-7.5b --stack megatron-a100 --eff 0.4 --tp 4 --batch "
      "8",
      0, "kernels at 0.400 of 312 TFLOP/s\n" },
    /* 2 B x 3.5e9 of weights and of gradients, 12 B of the optimizer. */
    { "parameters by their letter", H100 "--gpus 1 --params 3.5B --sample-time 100ms --batch 1", 0,
      "weights 7.0, gradients 7.0, optimizer 42.0," },
    { "a letter that is none", H100 "--gpus 1 --params 3.5X --sample-time 100ms --batch 1", 2,
      "step: cannot read --params '3.5X'" },
    { "groups that miss GPUs", SMALL "--gpus 16 --tp 2 --pp 2 --dp 3", 2,
      "step: tp x pp x dp = 12 must be the number of GPUs, 16\n" },
    { "a tensor group across servers, in part", SMALL "--gpus 24 --tp 3", 2,
      "step: tp 3 must divide the 8 GPUs of a server, or be a multiple of them\n" },
    { "a server and a half", SMALL "--gpus 12", 2, "step: 12 GPUs do not fill servers of 8\n" },
    { "a batch that leaves a rest", MODEL "--gpus 8 --batch 60 --microbatch 2", 2,
      "step: batch 60 must be a multiple of dp x microbatch = 16\n" },
    { "layers over stages", SMALL "--gpus 8 --pp 8 --interleave 2", 2,
      "step: 8 layers must be a multiple of pp x interleave = 16\n" },
    { "experts of a dense model", SMALL "--gpus 8 --ep 2", 2,
      "step: ep 2 of a model without experts: ep must be 1\n" },
    { "experts over a group", SMALL "--gpus 8 --experts 4 --active 6e8 --ep 8", 2,
      "step: 4 experts must be a multiple of ep = 8\n" },
    /* 70.6e9 x 16 B = 1129.6 GB of states; 34 x 8,192 x 8,192 x 80 B = 182.5 GB of activations. */
    { "too large", H100 "--gpus 8 --model 70b --batch 8", 2,
      "step: needs 1312.1 GB on each GPU, h100-sxm has 80: weights 141.2, gradients 141.2, "
      "optimizer 847.2, activations 182.5\n" },
    { "no server", "--gpus 8 --model 7b --batch 8", 2, "step: --server is missing" },
    { "no model", H100 "--gpus 8 --batch 8", 2, "step: --params is missing" },
    { "no layers", H100 "--gpus 8 --params 1e9 --batch 8", 2, "step: --layers is missing" },
    { "a typo in a server", "--server dgx-h10 --gpus 8 --model 7b --batch 8", 2,
      "step: no server 'dgx-h10'; did you mean 'dgx-h100'?\n" },
    { "a typo in a model", H100 "--gpus 8 --model 7bb --batch 8", 2,
      "step: no model '7bb'; did you mean '7b'?\n" },
    { "a stack of other GPUs", H100 "--gpus 8 --model 7b --stack fsdp-a100 --batch 8", 2,
      "step: stack 'fsdp-a100' was fitted on a100, the server has h100-sxm\n" },
    { "a measured model on other GPUs", H100 "--gpus 8 --model ddp-vgg16 --batch 8", 2,
      "step: 'ddp-vgg16' was measured on a100-40, the server has h100-sxm" },
    { "an efficiency above peak", SMALL "--gpus 8 --eff 1.2", 2,
      "step: --eff must be 0.001 to 1, got 1.2\n" },
    { "a word that is no recomputation", SMALL "--gpus 8 --recompute ful", 2,
      "step: --recompute must be none, selective or full, got 'ful'; did you mean 'full'?\n" },
    { "an overlap above all", SMALL "--gpus 8 --overlap tp=1.5", 2,
      "step: cannot read --overlap 'tp=1.5'" },
    /* 7 x 10 MB at 50 MB/s are 1.4 s, 691.642 ms longer than the step; at 1 GB/s the step is longer. */
    { "input that comes slowly",
      H100 "--gpus 1 --params 1e9 --sample-time 100ms --batch 7 --input 10MB --read 50MB/s", 0,
      "\nwaiting for input               691.642    49.4%\n" },
    { "input that comes in time",
      H100 "--gpus 1 --params 1e9 --sample-time 100ms --batch 7 --input 10MB --read 1GB/s", 0,
      "\nwaiting for input                 0.000     0.0%\n" },
    { "input from nowhere", SMALL "--gpus 8 --input 10MB", 2, "go together; one of them" },
    { "a storage that gives nothing", SMALL "--gpus 8 --input 10MB --read '0 B/s'", 2,
      "step: --read must be above 0" },
    { "buckets of shards", SMALL "--gpus 8 --zero 3 --buckets 4", 2,
      "step: --buckets: at stage 3 gradients go out layer by layer" },
    { "members faster than themselves", SMALL "--gpus 8 --uneven 0.9", 2,
      "step: --uneven must be 1 to 1000, got 0.9" },
    /* 12 x 32 x 4,096^2 = 6.44e9 */
    { "seven parameters", H100 "--gpus 8 --params 7 --layers 32 --hidden 4096 --batch 8", 2,
      "step: 7 parameters that a token visits, but 32 layers of width 4096 have about 12 layers "
      "hidden^2 = 6.44e+09: one of them is wrong\n" },
    { "a layer of width 1", H100 "--gpus 8 --params 1B --layers 1 --hidden 1 --batch 8", 2,
      "12 layers hidden^2 = 12: one of them is wrong\n" },
    { "experts without what a token visits",
      H100 "--gpus 64 --params 46.7B --layers 32 --hidden 4096 --batch 64 --zero 3", 0,
      "gpuplan: warning: step: 4.67e+10 parameters that a token visits, but 32 layers of width "
      "4096 have about 12 layers hidden^2 = 6.44e+09; --active is for models with experts\n" },
    { "causal attention of a stack",
      "--server dgx-a100 --gpus 8 --model gpt-7.5b --stack megatron-a100 --causal --tp 4 --batch 8",
      0, "gpuplan: warning: step: efficiencies of stacks were fitted with 12 l h s FLOPs" },
    { "a link that is no network", SMALL "--gpus 8 --link pcie5-x16", 2,
      "'pcie5-x16' cannot be simulated" },
};

static void line_is_answered(void **state)
{
    const struct line_case *row = *state;
    assert_int_equal(step(row->words), row->want_exit);
    if (strstr(shown, row->want) == NULL) fail_msg("lacks '%s': %s", row->want, shown);
}

static double real_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_real(value)) fail_msg("no number '%s'", name);
    return json_real_value(value);
}

/* The parts of a plan with all of them add up; MFU is what the FLOPs say: 6 1e9 x 64 x 2,048 tokens and attention
 * 12 x 8 x 2,048 x 2,048 a token over 16 x 989 TFLOP/s. */
static void parts_add_up(void **state)
{
    (void)state;
    static const char *const parts[] = { "compute_s", "stall_intra_s", "stall_inter_s",
                                         "bubble_s",  "data_s",        "optimizer_s",
                                         "fixed_s",   "straggler_s" };
    assert_int_equal(step(SMALL
                          "--gpus 16 --tp 2 --pp 2 --scatter --zero 1 --fixed 20ms --straggler "
                          "1.1 --json"),
                     0);
    json_t *root = json_loads(shown, 0, NULL);
    assert_non_null(root);
    double sum_s = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        CHECK(real_of(root, parts[i]) > 0 || strcmp(parts[i], "data_s") == 0, "%s is 0", parts[i]);
        sum_s += real_of(root, parts[i]);
    }
    CHECK_NEAR(sum_s, real_of(root, "step_s"), 1e-12);
    const double tokens = 64 * 2048, flops = tokens * (6e9 + 12.0 * 8 * 2048 * 2048);
    CHECK_NEAR(real_of(root, "mfu"), flops / 16 / 989e12 / sum_s, 1e-12);
    CHECK_NEAR(real_of(root, "tokens_per_s"), tokens / sum_s, 1e-12);
    json_decref(root);
}

/* Half of the NICs: what waits for the network waits longer, the rest stays. */
static void fewer_nics_wait_longer(void **state)
{
    (void)state;
    double waits_s[2], compute_s[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(step(i ? SMALL "--gpus 16 --overlap 0 --nics-per-gpu 0.5 --json"
                                : SMALL "--gpus 16 --overlap 0 --json"),
                         0);
        json_t *root = json_loads(shown, 0, NULL);
        assert_non_null(root);
        waits_s[i] = real_of(root, "stall_inter_s");
        compute_s[i] = real_of(root, "compute_s");
        json_decref(root);
    }
    CHECK(waits_s[1] > 1.5 * waits_s[0], "%g and %g s", waits_s[0], waits_s[1]);
    CHECK_NEAR(compute_s[1], compute_s[0], 1e-15);
}

/* One number of what the program prints as JSON. */
static double number_of(const char *words, const char *name)
{
    assert_int_equal(step(words), 0);
    json_t *root = json_loads(shown, 0, NULL);
    assert_non_null(root);
    const double value = real_of(root, name);
    json_decref(root);
    return value;
}

/* MODELS 3.8: of two members with a spread of 0.3 the slower takes 2 Phi(0.3/sqrt 2) = 1.16799 of the mean (JS-037); a fuller
 * and a slower member multiply. */
static void slow_members_multiply(void **state)
{
    (void)state;
    const char *words = SMALL "--gpus 2 --noise 0.3 --uneven 1.25 --straggler 1.1 --json";
    const double slow_s = number_of(words, "straggler_s"), step_s = number_of(words, "step_s");
    const double noise = 1 + erf(0.3 / 2); /* 2 Phi(x) = 1 + erf(x/sqrt 2) */
    CHECK_NEAR(noise, 1.168, 5e-6);
    CHECK_NEAR(step_s / (step_s - slow_s), noise * 1.25 * 1.1, 1e-8);
}

/* Attention of 6 l h s a token instead of 12, and a third of it again; l h s = 8 x 2,048 x 2,048. */
static void causal_attention_is_half(void **state)
{
    (void)state;
    const double all_s = number_of(SMALL "--gpus 2 --json", "compute_s");
    const double half_s = number_of(SMALL "--gpus 2 --causal --json", "compute_s");
    CHECK_NEAR(half_s / all_s, (6e9 + 8 * 33554432.0) / (6e9 + 16 * 33554432.0), 1e-12);
}

/* One bucket waits for the whole backward pass: nothing of it is hidden (JS-008). */
static void one_bucket_is_all_exposed(void **state)
{
    (void)state;
    const double one_s = number_of(SMALL "--gpus 16 --buckets 1 --json", "gradient_s");
    const double open_s = number_of(SMALL "--gpus 16 --buckets 1 --overlap 0 --json", "gradient_s");
    CHECK_NEAR(one_s, open_s, 1e-15);
    CHECK(number_of(SMALL "--gpus 16 --buckets 8 --json", "gradient_s") < 0.5 * one_s, "%g", one_s);
}

/* Of every transformer of the catalog a token visits 0.98 (405b, whose embedding and head count as blocks) to 2.0
 * times 12 l h^2 (Mixtral, two of eight experts). */
static void shapes_of_the_catalog_are_plain(void **state)
{
    (void)state;
    static struct catalog catalog;
    struct diag *diag = diag_create();
    assert_int_equal(catalog_open(&catalog, diag), STATUS_OK);
    int seen = 0;
    for (const struct yaml_node *entry = catalog_first(&catalog, CATALOG_MODELS, diag);
         entry != NULL; entry = entry->next) {
        struct key_reader reader = { .diag = diag };
        struct model_shape shape;
        catalog_read_model(&reader, entry, &shape);
        const struct train_model model = train_model_of(&shape);
        if (model.hidden <= 0) continue;
        const double ratio = train_shape_ratio(&model);
        CHECK(ratio >= 0.98 && ratio <= 2.01, "%s %g", shape.id, ratio);
        seen++;
    }
    CHECK(seen > 25, "%d", seen);
    assert_int_equal(diag_status(diag), STATUS_OK);
    catalog_close(&catalog);
    diag_destroy(diag);
}

int main(void)
{
    enum { LINES = sizeof lines / sizeof *lines };
    struct CMUnitTest tests[LINES + 6] = { cmocka_unit_test(parts_add_up),
                                           cmocka_unit_test(fewer_nics_wait_longer),
                                           cmocka_unit_test(slow_members_multiply),
                                           cmocka_unit_test(causal_attention_is_half),
                                           cmocka_unit_test(one_bucket_is_all_exposed),
                                           cmocka_unit_test(shapes_of_the_catalog_are_plain) };
    for (size_t i = 0; i < LINES; i++)
        tests[i + 6] = (struct CMUnitTest){ lines[i].name, line_is_answered, NULL, NULL,
                                            (void *)(uintptr_t)&lines[i] };
    return cmocka_run_group_tests_name("step_cli", tests, NULL, NULL);
}
