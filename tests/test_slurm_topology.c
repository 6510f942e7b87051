/* test_slurm_topology.c - topology/tree and topology/block of Slurm's selector.
 *
 * s12, s46, s48: recordings of a real Slurm (oracles/slurm); the C cases are those of CASES.md in words, the places
 * worked out by hand from SCHEDULING 2.5 and 2.6. All jobs take whole nodes. */
#include "rows.h"
#include "slurm_places.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* want: node list; "" = it waits. */
struct start {
    const char *name;
    uint32_t nodes;
    int at_s, end_s;
    const char *want, *nodelist;
    uint32_t segment;
};

/* clang-format off */
static const struct start s12[] = {
    { "a", 1, 0, 60, "n00", NULL, 0 },
    { "b", 2, 0, 60, "n01 n02", NULL, 0 },
    { "c", 3, 0, 12, "n04 n05 n06", NULL, 0 },
    { "d", 4, 0, 12, "n08 n09 n10 n11", NULL, 0 },
    { "e", 2, 0, 30, "n12 n13", NULL, 0 },
    { "f", 4, 18, 26, "n04 n05 n06 n07", NULL, 0 },
    { "g", 5, 30, 38, "n03 n04 n05 n06 n07", NULL, 0 },
    { "h", 1, 42, 50, "n03", NULL, 0 },
    { "i", 6, 42, 48, "n08 n09 n10 n11 n12 n13", NULL, 0 },
};
static const struct start s46[] = {
    { "a", 1, 0, 45, "n00", NULL, 0 },
    { "b", 2, 0, 45, "n01 n02", NULL, 0 },
    { "c", 3, 0, 12, "n12 n13 n14", NULL, 0 },
    { "d", 4, 0, 20, "n08 n09 n10 n11", NULL, 0 },
    { "e", 2, 0, 30, "n04 n05", NULL, 0 },
    { "f at once", 5, 14, 14, "", NULL, 0 },
    { "f", 5, 20, 29, "n08 n12 n13 n14 n15", NULL, 0 },
    { "g at once", 8, 24, 24, "", NULL, 0 },
    { "g", 8, 29, 35, "n08 n09 n10 n11 n12 n13 n14 n15", NULL, 0 },
    { "h", 1, 34, 40, "n03", NULL, 0 },
    { "i", 3, 34, 40, "n04 n05 n06", NULL, 0 },
};
static const struct start s48[] = {
    { "a", 4, 0, 60, "n00 n01 n02 n03", "n[00-03]", 0 },
    { "b", 3, 0, 60, "n06 n07 n08", "n[06-08]", 0 },
    { "c", 5, 0, 60, "n12 n13 n14 n15 n16", "n[12-16]", 0 },
    { "d", 1, 4, 24, "n04", NULL, 0 },
    { "e", 2, 5, 25, "n09 n10", NULL, 0 },
    { "f", 3, 6, 26, "n18 n19 n20", NULL, 0 },
    { "g at once", 6, 7, 7, "", NULL, 0 },
    { "g", 6, 26, 37, "n18 n19 n20 n21 n22 n23", NULL, 0 },
    { "h at once", 7, 27, 27, "", NULL, 0 },
    { "h", 7, 37, 43, "n17 n18 n19 n20 n21 n22 n23", NULL, 0 },
};
/* C062: a job of 4 nodes belongs under one leaf, even where the first leaf has 3 free nodes. */
static const struct start c062[] = {
    { "one", 1, 0, 9, "n00", NULL, 0 },
    { "four", 4, 0, 9, "n04 n05 n06 n07", NULL, 0 },
    { "three", 3, 0, 9, "n01 n02 n03", NULL, 0 },
};
/* C063: leaves of 2 nodes: 4 workers on 2 leaves, though a leaf with one free node stands before them. */
static const struct start c063[] = {
    { "one", 1, 0, 9, "n0", NULL, 0 },
    { "four", 4, 0, 9, "n2 n3 n4 n5", NULL, 0 },
};
/* C070: 32 nodes over 18-node domains as 16 + 16, the later domain first. */
static const struct start c070[] = {
    { "job", 32, 0, 9, "n00 n01 n02 n03 n04 n05 n06 n07 n08 n09 n10 n11 n12 n13 n14 n15 "
                       "n18 n19 n20 n21 n22 n23 n24 n25 n26 n27 n28 n29 n30 n31 n32 n33", NULL, 16 },
};
/* C072: three blocks of 17, 36 nodes in segments of 12. */
static const struct start c072[] = {
    { "job", 36, 0, 9, "n00 n01 n02 n03 n04 n05 n06 n07 n08 n09 n10 n11 "
                       "n17 n18 n19 n20 n21 n22 n23 n24 n25 n26 n27 n28 "
                       "n34 n35 n36 n37 n38 n39 n40 n41 n42 n43 n44 n45", NULL, 12 },
    { "ten more", 10, 1, 9, "", NULL, 10 },
    { "ten as two", 10, 1, 9, "n29 n30 n31 n32 n33 n46 n47 n48 n49 n50", NULL, 5 },
};
/* clang-format on */

enum build { TREE, PAIRS, BLOCKS_OF_4, BLOCKS_OF_6, BLOCKS_OF_18, BLOCKS_OF_17 };

static void add_blocks(struct places *places, uint32_t blocks, uint32_t nodes)
{
    for (uint32_t b = 0; b < blocks; b++) {
        char name[32], list[64];
        snprintf(name, sizeof name, "b%u", b);
        snprintf(list, sizeof list, "n[%02u-%02u]", b * nodes, (b + 1) * nodes - 1);
        places_switch(places, name, list, "");
    }
}

static struct places *build_places(enum build build, enum slurm_compat compat)
{
    static const struct {
        uint32_t blocks, nodes, gpus, sizes[4], size_count;
    } shapes[] = { [BLOCKS_OF_4] = { 4, 4, 4, { 4, 8, 16 }, 3 },
                   [BLOCKS_OF_6] = { 4, 6, 4, { 6, 12, 24 }, 3 },
                   [BLOCKS_OF_18] = { 2, 18, 4, { 18 }, 1 },
                   [BLOCKS_OF_17] = { 3, 17, 4, { 0 }, 0 } };
    struct places *places = places_new(compat);
    struct slurm_spec *slurm = &places->scenario.slurm;
    slurm->topology = build <= PAIRS ? TOPOLOGY_TREE : TOPOLOGY_BLOCK;
    if (build == TREE) {
        places_group(places, "n[00-15]", 16, 8, 16);
        places_switch(places, "leaf0", "n00,n01,n02,n03", "");
        places_switch(places, "leaf1", "n04,n05,n06,n07", "");
        places_switch(places, "leaf2", "n08,n09,n10,n11", "");
        places_switch(places, "leaf3", "n12,n13,n14,n15", "");
        places_switch(places, "spineA", "", "leaf[0-1]");
        places_switch(places, "spineB", "", "leaf[2-3]");
        places_switch(places, "core", "", "spineA,spineB");
    } else if (build == PAIRS) {
        places_group(places, "n[0-5]", 6, 8, 16);
        places_switch(places, "core", "",
                      "leaf[0-2]"); /* before its leaves: order must not matter */
        places_switch(places, "leaf0", "n[0-1]", "");
        places_switch(places, "leaf1", "n[2-3]", "");
        places_switch(places, "leaf2", "n[4-5]", "");
    } else {
        const uint32_t count = shapes[build].blocks * shapes[build].nodes;
        char names[64];
        snprintf(names, sizeof names, "n[00-%02u]", count - 1);
        places_group(places, names, count, shapes[build].gpus, 8);
        add_blocks(places, shapes[build].blocks, shapes[build].nodes);
        memcpy(slurm->block_sizes, shapes[build].sizes, sizeof shapes[build].sizes);
        slurm->block_size_count = shapes[build].size_count;
    }
    places_open(places);
    return places;
}

struct replay {
    const char *name;
    enum build build;
    enum slurm_compat compat;
    const struct start *starts;
    size_t count;
};
#define REPLAY(id, build, compat, starts)                                                          \
    {                                                                                              \
        id, build, compat, starts, COUNT(starts)                                                   \
    }
static const struct replay replays[] = {
    REPLAY("s12 22.05", TREE, COMPAT_22_05, s12),
    REPLAY("s12 24.11", TREE, COMPAT_24_11, s12),
    REPLAY("s12 26.05", TREE, COMPAT_26_05, s12),
    REPLAY("s46 26.05", BLOCKS_OF_4, COMPAT_26_05, s46),
    REPLAY("s48 26.05", BLOCKS_OF_6, COMPAT_26_05, s48),
    REPLAY("C062 22.05", TREE, COMPAT_22_05, c062),
    REPLAY("C062 26.05", TREE, COMPAT_26_05, c062),
    REPLAY("C063 22.05", PAIRS, COMPAT_22_05, c063),
    REPLAY("C063 26.05", PAIRS, COMPAT_26_05, c063),
    REPLAY("C070 26.05", BLOCKS_OF_18, COMPAT_26_05, c070),
    REPLAY("C072 26.05", BLOCKS_OF_17, COMPAT_26_05, c072),
};

/* Node names only. */
static void without_gpus(char *text)
{
    char *to = text;
    for (const char *at = text; *at;) {
        while (*at && *at != ':' && *at != ' ') *to++ = *at++;
        while (*at && *at != ' ') at++;
        if (*at) *to++ = *at++;
    }
    *to = '\0';
}

static struct slurm_need need_of(struct places *places, const struct start *start)
{
    const struct ask ask = { NO_MEM,
                             .nodes_min = start->nodes,
                             .nodes_max = start->nodes,
                             .gpus_per_node = places->groups[0].server.gpus,
                             .segment = start->segment,
                             .nodelist = places_text(places, start->nodelist) };
    return places_need(places, &ask);
}

static void jobs_are_placed(void **state)
{
    const struct replay *replay = *state;
    struct places *places = build_places(replay->build, replay->compat);
    for (uint32_t i = 0; i < replay->count; i++) {
        const struct start *start = &replay->starts[i];
        for (uint32_t j = 0; j < i; j++)
            if (places->jobs[j].count && replay->starts[j].end_s <= start->at_s)
                places_end(places, j);
        const struct slurm_need need = need_of(places, start);
        char got[PLACE_TEXT];
        const enum slurm_answer answer = places_try(places, &need, (struct slurm_how){ 0 }, got);
        without_gpus(got);
        if (strcmp(got, start->want) != 0)
            fail_msg("job %s: '%s' (%d) instead of '%s'", start->name, got, (int)answer,
                     start->want);
        places_start(places, i);
    }
    places_close(places);
}

static void take_nodes(struct places *places, const uint32_t *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct part part = { .node = nodes[i], .gpus = 8, .mask = 255, .cores_milli = 8000 };
        slurm_picture_take(&places->picture, &part, 1);
    }
}

static void four_are_placed(struct places *places, const char *want)
{
    char got[PLACE_TEXT];
    const struct start four = { "four", 4, 0, 0, "", NULL, 0 };
    const struct slurm_need need = need_of(places, &four);
    assert_int_equal(places_try(places, &need, (struct slurm_how){ 0 }, got), SLURM_PLACED);
    without_gpus(got);
    assert_string_equal(got, want);
}

/* Free nodes per leaf 2, 2, 3, 1: the spines are equally tight (4 = 4), so the first leaf stays, and its sibling is
 * nearer than leaf 2. */
static void the_first_of_equal_spines(void **state)
{
    struct places *places = build_places(TREE, (enum slurm_compat)rows_number(state));
    static const uint32_t busy[] = { 0, 1, 4, 5, 8, 12, 13, 14 };
    take_nodes(places, busy, COUNT(busy));
    four_are_placed(places, "n02 n03 n06 n07");
    places_close(places);
}

/* Free nodes per leaf 1, 0, 3, 2: spine B holds the job. Leaf 2 gives 3, one is missing: leaf 3 is 2 hops away and
 * holds it, leaf 0 is 4 hops away and is tighter. 22.05 lets the tighter one win, later releases the nearer one. */
static void a_wide_job_across_two_spines(void **state)
{
    const enum slurm_compat compat = (enum slurm_compat)rows_number(state);
    struct places *places = build_places(TREE, compat);
    static const uint32_t busy[] = { 0, 1, 2, 4, 5, 6, 7, 8, 12, 13 };
    take_nodes(places, busy, COUNT(busy));
    four_are_placed(places, compat == COMPAT_22_05 ? "n03 n09 n10 n11" : "n09 n10 n11 n14");
    places_close(places);
}

/* --switches=1@60: five nodes need two leaves, so the job waits a minute, then takes them. */
static void switches_are_waited_for(void **state)
{
    struct places *places = build_places(TREE, (enum slurm_compat)rows_number(state));
    const struct ask ask = { NO_MEM,         .nodes_min = 5,
                             .nodes_max = 5, .gpus_per_node = 8,
                             .switches = 1,  .switch_wait_ns = INT64_C(60000000000) };
    const struct slurm_need need = places_need(places, &ask);
    char got[PLACE_TEXT];
    struct slurm_how how = { .waited_ns = INT64_C(59000000000) };
    assert_int_equal(places_try(places, &need, how, got), SLURM_SWITCHES);
    how.waited_ns = INT64_C(60000000000);
    assert_int_equal(places_try(places, &need, how, got), SLURM_PLACED);
    places_close(places);
}

/* C073: a node that powers down and returns is in its block again; 36 nodes need all three blocks meanwhile. */
static void a_node_that_returns(void **state)
{
    (void)state;
    struct places *places = build_places(BLOCKS_OF_17, COMPAT_26_05);
    const struct start job = { "job", 17, 0, 0, "", NULL, 0 };
    const struct slurm_need need = need_of(places, &job);
    char before[PLACE_TEXT], after[PLACE_TEXT];
    assert_int_equal(places_try(places, &need, (struct slurm_how){ 0 }, before), SLURM_PLACED);
    places->picture.usable[0] &= ~(UINT64_C(1) << 40);
    assert_int_equal(places_try(places, &need, (struct slurm_how){ 0 }, after), SLURM_PLACED);
    assert_string_not_equal(before, after);
    places->picture.usable[0] |= UINT64_C(1) << 40;
    assert_int_equal(places_try(places, &need, (struct slurm_how){ 0 }, after), SLURM_PLACED);
    assert_string_equal(before, after);
    places_close(places);
}

/* A segment that does not divide the job is refused. */
static void segments_that_do_not_divide(void **state)
{
    (void)state;
    struct places *places = build_places(BLOCKS_OF_17, COMPAT_26_05);
    const struct start job = { "job", 34, 0, 0, "", NULL, 12 };
    const struct slurm_need need = need_of(places, &job);
    assert_false(slurm_feasible_ever(places->chooser, &need));
    places_close(places);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < COUNT(replays); i++)
        rows_add(&rows, jobs_are_placed, &replays[i], "%s", replays[i].name);
    for (uintptr_t compat = COMPAT_22_05; compat <= COMPAT_26_05; compat++) {
        rows_add(&rows, the_first_of_equal_spines, (const void *)compat,
                 "first of equal spines, compat %u", (unsigned)compat);
        rows_add(&rows, a_wide_job_across_two_spines, (const void *)compat,
                 "wide job across two spines, compat %u", (unsigned)compat);
        rows_add(&rows, switches_are_waited_for, (const void *)compat, "--switches, compat %u",
                 (unsigned)compat);
    }
    rows_add(&rows, a_node_that_returns, NULL, "C073: a node that returns");
    rows_add(&rows, segments_that_do_not_divide, NULL, "segments that do not divide the job");
    return rows_run("slurm_topology", &rows);
}
