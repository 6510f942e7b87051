/* test_nic_map.c - spec/nic_map: which NICs the GPUs of a server use, by hand (MODELS 1.4). */
#include "spec/nic_map.h"

#include "tests/near.h"
#include "tests/rows.h"

#include <stdio.h>
#include <string.h>

/* One NIC set a GPU, GPUs by commas; in_use: of the first 1, 2, ... GPUs. */
static const struct map_row {
    const char *name;
    uint32_t gpus, nics, sockets, switches;
    const char *of_gpus, *in_use;
    bool shared, even;
} rows[] = {
    { "a NIC for each GPU", 8, 8, 2, 8, "0,1,2,3,4,5,6,7", "1,2,3,4,5,6,7,8", false, true },
    { "the same without switches", 8, 8, 2, 0, "0,1,2,3,4,5,6,7", "1,2,3,4,5,6,7,8", false, true },
    { "p5en: two for each GPU", 8, 16, 2, 8, "0 1,2 3,4 5,6 7,8 9,10 11,12 13,14 15",
      "2,4,6,8,10,12,14,16", false, true },
    { "p4d: one for two GPUs", 8, 4, 2, 4, "0,0,1,1,2,2,3,3", "1,1,2,2,3,3,4,4", true, false },
    { "two of a socket for four GPUs", 8, 4, 2, 0, "0,1,0,1,2,3,2,3", "1,2,2,2,3,4,4,4", true,
      false },
    { "one NIC", 4, 1, 2, 1, "0,0,0,0", "1,1,1,1", true, false },
    { "two NICs of one GPU", 1, 2, 1, 1, "0 1", "2", false, true },
    { "the NIC between two parts is shared", 2, 3, 1, 1, "0 1,1 2", "2,3", true, false },
    { "gaudi2: three for eight", 8, 3, 2, 3, "0,0,0,1,1,1,2,2", "1,1,1,2,2,2,3,3", true, false },
};

static void show(const struct nic_map *map, uint32_t gpu, char *text, size_t bytes)
{
    text[0] = '\0';
    for (uint32_t nic = 0; nic < map->nics; nic++) {
        const size_t at = strlen(text);
        if (nic_set_has(&map->of_gpu[gpu], nic))
            snprintf(text + at, bytes - at, "%s%u", at ? " " : "", nic);
    }
}

static void check_row(const struct map_row *row, const struct server_tree *tree)
{
    struct nic_map map;
    char of_gpus[256] = "", in_use[256] = "", part[64];
    nic_map_init(&map, tree, row->gpus, row->nics);
    for (uint32_t gpu = 0; gpu < row->gpus; gpu++) {
        show(&map, gpu, part, sizeof part);
        const size_t at = strlen(of_gpus), in = strlen(in_use);
        snprintf(of_gpus + at, sizeof of_gpus - at, "%s%s", gpu ? "," : "", part);
        snprintf(in_use + in, sizeof in_use - in, "%s%u", gpu ? "," : "",
                 nic_map_first(&map, gpu + 1));
    }
    assert_string_equal(of_gpus, row->of_gpus);
    assert_string_equal(in_use, row->in_use);
    assert_int_equal(map.shared, row->shared);
    assert_int_equal(map.even, row->even);
}

static void plain_trees(void **state)
{
    const struct map_row *row = *state;
    struct server_tree tree;
    tree_plain(&tree, row->gpus, row->nics, row->sockets, row->switches);
    check_row(row, &tree);
}

/* GPU 0 has both NICs of its switch, GPU 1 that of its own, GPUs 2 and 3 none nearer than the socket's four. */
static void uneven_trees(void **state)
{
    (void)state;
    static const char *const texts[] = { "(GPU0 NIC0 NIC1) (GPU1 NIC2) NIC3", "(GPU2 NIC4) GPU3" };
    static const struct map_row row = { "uneven", 4, 5, 0, 0, "0 1,2,4,4", "2,3,4,4", true, false };
    struct server_tree tree;
    uint32_t text, at;
    char why[96];
    assert_true(tree_parse(&tree, 4, 5, texts, 2, &text, &at, why, sizeof why));
    check_row(&row, &tree);
}

/* Of a server whose inside is not known all NICs are equally near. */
static void nothing_known(void **state)
{
    (void)state;
    static const struct map_row row = { "unknown",         4,         8,     0,   0,
                                        "0 1,2 3,4 5,6 7", "2,4,6,8", false, true };
    static const struct server_tree none;
    check_row(&row, &none);
}

/* 512 NICs on 32 GPUs: 16 each, in eight words. */
static void the_most(void **state)
{
    (void)state;
    static const struct server_tree none;
    struct nic_map map;
    nic_map_init(&map, &none, 32, 512);
    for (uint32_t gpu = 0; gpu < 32; gpu++)
        for (uint32_t nic = 0; nic < 512; nic++)
            assert_int_equal(nic_set_has(&map.of_gpu[gpu], nic), nic / 16 == gpu);
    assert_int_equal(nic_map_first(&map, 32), 512);
    assert_int_equal(nic_map_count(&map, 0x80000001u), 32);
}

int main(void)
{
    struct rows tests = { 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        rows_add(&tests, plain_trees, &rows[i], "%s", rows[i].name);
    rows_add(&tests, uneven_trees, NULL, "uneven trees");
    rows_add(&tests, nothing_known, NULL, "nothing known");
    rows_add(&tests, the_most, NULL, "the most");
    return rows_run("nic_map", &tests);
}
