/* test_devices.c - GPUs given out in parts: what a node offers, which GPU a part comes from, and that the parts of a
 * GPU add up. The cuts are worked by hand from SCHEDULING 4 and MODELS 1.6. */
#include "base/diag.h"
#include "io/scenario_read.h"
#include "policy/devices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rows.h"

static const struct devices_picked no_parts;

/* Two nodes of two GPUs. */
struct box {
    struct arena *arena;
    struct cluster cluster;
    struct server_group group;
};

static void box_init(struct box *box, enum sharing sharing, uint32_t shares)
{
    memset(box, 0, sizeof *box);
    box->arena = arena_create(1u << 20);
    box->group = (struct server_group){
        .server = { .gpus = 2 }, .count = 2, .sharing = sharing, .shares_per_gpu = shares
    };
    assert_true(
        cluster_init(&box->cluster, box->arena,
                     (struct cluster_size){
                         .nodes = 2, .gpus_per_node = 2, .nodes_per_leaf = 2, .shared = true }));
}

static void box_clear(struct box *box)
{
    cluster_clear(&box->cluster);
    arena_destroy(box->arena);
}

static uint32_t take(struct box *box, const char *profile, struct part *part)
{
    static const struct demand no_host = { 0 };
    if (!devices_pick(&box->cluster, 0, &box->group, profile, UINT32_MAX, no_parts, part))
        return GRANT_NONE;
    const uint32_t grant = cluster_claim(&box->cluster, 7, part, 1, &no_host);
    cluster_check(&box->cluster);
    return grant;
}

/* Four replicas a GPU: 0 1 0 1 ..., eight in all, each a quarter. */
static void time_slices_spread(void **state)
{
    (void)state;
    struct box box;
    box_init(&box, SHARING_TIME_SLICE, 4);
    assert_int_equal(devices_free(&box.cluster, 0, &box.group, ""), 8);
    for (uint32_t i = 0; i < 8; i++) {
        struct part part;
        assert_true(take(&box, "", &part) != GRANT_NONE);
        assert_int_equal(part.mask, i % 2 ? 2 : 1);
        assert_int_equal(part.share_units, 252000);
        assert_int_equal(devices_free(&box.cluster, 0, &box.group, ""), 7 - i);
    }
    struct part part;
    assert_true(take(&box, "", &part) == GRANT_NONE);
    assert_int_equal(devices_free(&box.cluster, 1, &box.group, ""), 8);
    box_clear(&box);
}

/* Shards fill a GPU before the next is touched; one that is back is used again. */
static void shards_fill(void **state)
{
    (void)state;
    struct box box;
    box_init(&box, SHARING_SHARD, 3);
    uint32_t grants[6];
    for (uint32_t i = 0; i < 6; i++) {
        struct part part;
        grants[i] = take(&box, "", &part);
        assert_int_equal(part.mask, i < 3 ? 1 : 2);
    }
    cluster_release(&box.cluster, grants[1]);
    struct part part;
    assert_true(take(&box, "", &part) != GRANT_NONE);
    assert_int_equal(part.mask, 1);
    box_clear(&box);
}

/* A whole GPU that somebody holds offers nothing; picks count before they are claimed. */
static void whole_gpus_and_picks(void **state)
{
    (void)state;
    static const struct demand no_host = { 0 };
    struct box box;
    box_init(&box, SHARING_MPS, 2);
    const struct part whole = { .node = 0, .gpus = 1, .mask = 1 };
    assert_true(cluster_claim(&box.cluster, 3, &whole, 1, &no_host) != GRANT_NONE);
    assert_int_equal(devices_free(&box.cluster, 0, &box.group, ""), 2);
    struct part picked[3];
    assert_true(devices_pick(&box.cluster, 0, &box.group, "", UINT32_MAX, no_parts, &picked[0]));
    assert_true(devices_pick(&box.cluster, 0, &box.group, "", UINT32_MAX,
                             (struct devices_picked){ picked, 1 }, &picked[1]));
    assert_false(devices_pick(&box.cluster, 0, &box.group, "", UINT32_MAX,
                              (struct devices_picked){ picked, 2 }, &picked[2]));
    box_clear(&box);
}

/* ---- MIG through the scenario ---------------------------------------------------------------- */

/* The first layout's group of a scenario with this sharing; errors[0] is the first message. */
static bool read_group(const char *sharing, struct server_group *group, char errors[512])
{
    char path[] = "/tmp/gpuplan-devices-XXXXXX";
    const int handle = mkstemp(path);
    FILE *file = fdopen(handle, "w");
    fprintf(file,
            "gpuplan: 1\nname: cut\nworkload: {communication: none}\nfailures: none\n"
            "scheduler: {kind: kubernetes}\nlayouts:\n  - name: a\n    servers:\n"
            "      - {type: hgx-h100-8, count: 2, sharing: %s}\n"
            "    fabric: {type: two-tier, link: ib-ndr400, nics_per_gpu: 1}\n",
            sharing);
    fclose(file);
    struct diag *diag = diag_create();
    struct scenario *scenario = calloc(1, sizeof *scenario);
    const bool good = scenario_read(path, NULL, 0, scenario, diag) == STATUS_OK;
    if (good) *group = scenario->layouts[0].groups[0];
    FILE *out = fmemopen(errors, 512, "w");
    diag_print(diag, out);
    fclose(out);
    scenario_clear(scenario);
    free(scenario);
    diag_destroy(diag);
    remove(path);
    return good;
}

static const struct {
    const char *sharing;
    uint32_t count;
    struct gpu_cut cuts[7];
} cuts[] = {
    /* 3g at memory slice 0 or 4; two of them take all eight slices and six of seven computes */
    { "{kind: mig_single, profile: 3g.40gb}",
      2,
      { { "3g.40gb", 432000, 0, 4 }, { "3g.40gb", 432000, 4, 4 } } },
    { "{kind: mig_single, profile: 1g.20gb}",
      4,
      { { "1g.20gb", 144000, 0, 2 },
        { "1g.20gb", 144000, 2, 2 },
        { "1g.20gb", 144000, 4, 2 },
        { "1g.20gb", 144000, 6, 2 } } },
    { "{kind: mig_single, profile: 7g.80gb}", 1, { { "7g.80gb", 1008000, 0, 8 } } },
    /* 3g 2g 1g 1g: with the 3g at 0 a 2g goes to 4, single ones to 6 and - slice 7 is no start of 1g - nowhere,
     * so the 3g must be at 4: 2g at 0, 1g at 2 and 3 (oracle m09) */
    { "{kind: mig_mixed, profile: [3g.40gb, 2g.20gb, 1g.10gb, 1g.10gb]}",
      4,
      { { "3g.40gb", 432000, 4, 4 },
        { "2g.20gb", 288000, 0, 2 },
        { "1g.10gb", 144000, 2, 1 },
        { "1g.10gb", 144000, 3, 1 } } },
};

static void cut_as_by_hand(void **state)
{
    const uint64_t c = rows_number(state);
    struct server_group group = { 0 };
    char errors[512] = "";
    if (!read_group(cuts[c].sharing, &group, errors)) fail_msg("%s", errors);
    assert_int_equal(group.cut_count, cuts[c].count);
    for (uint32_t i = 0; i < cuts[c].count; i++) {
        assert_string_equal(group.cuts[i].profile, cuts[c].cuts[i].profile);
        assert_int_equal(group.cuts[i].units, cuts[c].cuts[i].units);
        assert_int_equal(group.cuts[i].slice_first, cuts[c].cuts[i].slice_first);
        assert_int_equal(group.cuts[i].slice_count, cuts[c].cuts[i].slice_count);
    }
}

static const struct {
    const char *sharing, *says;
} wrong[] = {
    { "{kind: mig_single, profile: 3g.40bg}", "did you mean '3g.40gb'" },
    { "{kind: mig_mixed, profile: [3g.40gb, 3g.40gb, 1g.10gb]}", "do not fit one GPU" },
    { "{kind: mig_single, profile: [1g.10gb, 2g.20gb]}", "several are mig_mixed" },
    { "{kind: mig_single}", "which need it" },
};

static void refused_with_a_reason(void **state)
{
    const uint64_t w = rows_number(state);
    struct server_group group = { 0 };
    char errors[512] = "";
    assert_false(read_group(wrong[w].sharing, &group, errors));
    if (!strstr(errors, wrong[w].says)) fail_msg("%s", errors);
}

/* A mixed GPU gives each profile its own slices, the second GPU after the first. */
static void mixed_instances(void **state)
{
    (void)state;
    struct box box;
    struct server_group read = { 0 };
    char errors[512] = "";
    assert_true(read_group("{kind: mig_mixed, profile: [3g.40gb, 2g.20gb, 1g.10gb, 1g.10gb]}",
                           &read, errors));
    box_init(&box, SHARING_MIG_MIXED, 0);
    memcpy(box.group.cuts, read.cuts, sizeof read.cuts);
    box.group.cut_count = read.cut_count;
    assert_int_equal(devices_free(&box.cluster, 0, &box.group, "1g.10gb"), 4);
    assert_int_equal(devices_free(&box.cluster, 0, &box.group, "2g.20gb"), 2);
    assert_int_equal(devices_free(&box.cluster, 0, &box.group, ""), 0);
    struct part part;
    static const uint32_t masks[] = { 1, 1, 2, 2 };
    for (int i = 0; i < 4; i++) {
        assert_true(take(&box, "1g.10gb", &part) != GRANT_NONE);
        assert_int_equal(part.mask, masks[i]);
        assert_int_equal(part.slice_first, 2 + i % 2);
    }
    assert_true(take(&box, "1g.10gb", &part) == GRANT_NONE);
    assert_true(take(&box, "3g.40gb", &part) != GRANT_NONE);
    assert_int_equal(part.slice_first, 4);
    assert_int_equal(devices_free(&box.cluster, 0, &box.group, "3g.40gb"), 1);
    box_clear(&box);
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, time_slices_spread, NULL, "time slices go to the GPU with the fewest taken");
    rows_add(&rows, shards_fill, NULL, "shards fill a GPU before the next");
    rows_add(&rows, whole_gpus_and_picks, NULL, "whole GPUs offer nothing, picks count");
    rows_add(&rows, mixed_instances, NULL, "a mixed GPU gives each profile its own slices");
    for (uintptr_t c = 0; c < sizeof cuts / sizeof *cuts; c++)
        rows_add(&rows, cut_as_by_hand, (void *)c, "cut %s", cuts[c].sharing);
    for (uintptr_t w = 0; w < sizeof wrong / sizeof *wrong; w++)
        rows_add(&rows, refused_with_a_reason, (void *)w, "refused %s", wrong[w].sharing);
    return rows_run("devices", &rows);
}
