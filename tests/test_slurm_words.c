/* test_slurm_words.c - what single words of a request or of slurm.conf do to the place of a job, worked out by hand, and
 * requests of traces that have no words. */
#include "rows.h"
#include "slurm_places.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* What s34 refuses at once in 22.05, and what s37 leaves in the queue for ever. */
static void what_can_never_be(void **state)
{
    (void)state;
    struct places *places = recorded_places(TYPED, COMPAT_22_05);
    struct ask ask = { NO_MEM, .ntasks = 1, .gpus_per_node = 8 };
    struct slurm_need need = places_need(places, &ask);
    assert_true(slurm_feasible_ever(places->chooser, &need));
    ask.gpu_type = places_text(places, "a100");
    need = places_need(places, &ask);
    assert_false(slurm_feasible_ever(places->chooser, &need));
    ask = (struct ask){ NO_MEM, NODES(5), .gpus_per_node = 1 };
    need = places_need(places, &ask);
    assert_false(slurm_feasible_ever(places->chooser, &need));
    static const struct ask beyond[] = {
        { NO_MEM, .ntasks = 65536, .cpus_per_task = 65536 }, /* 2^32 cores: 0 in 32 bits */
        { NO_MEM, .ntasks = UINT32_MAX },
        { NO_MEM, .ntasks = 65536, .gpus_per_task = 65537 },
        { NO_MEM, NODES(2), .ntasks_per_node = UINT32_MAX },
        { NO_MEM, .gpus = UINT32_MAX, .ntasks_per_gpu = 3 },
        { NO_MEM, NODES(UINT32_MAX), .cpus_per_task = 16 },
    };
    for (size_t i = 0; i < COUNT(beyond); i++) {
        need = places_need(places, &beyond[i]);
        assert_false(slurm_feasible_ever(places->chooser, &need));
    }
    ask = (struct ask){ NO_MEM, NODES(4), .cpus_per_task = 17 };
    need = places_need(places, &ask);
    assert_false(slurm_feasible_ever(places->chooser, &need));
    places_close(places);
    places = recorded_places(SHARDED, COMPAT_26_05);
    ask = (struct ask){ NO_MEM, .ntasks = 1, .shards_per_node = 6 };
    need = places_need(places, &ask);
    assert_true(slurm_feasible_ever(places->chooser, &need));
    places_close(places);
}

/* Cores free on the first three nodes 4, 16 and 16: from the left 2 nodes hold 20 tasks of the 30. Slurm then leaves
 * out the poorest node and tries again. */
static void without_the_poorest_node(void **state)
{
    struct places *places = recorded_places(DENSE, (enum slurm_compat)rows_number(state));
    const struct part busy[] = { { .node = 0, .cores_milli = 12000 },
                                 { .node = 3, .cores_milli = 16000 } };
    slurm_picture_take(&places->picture, busy, 2);
    const struct ask ask = { NO_MEM, NODES(2), .ntasks = 30 };
    const struct slurm_need need = places_need(places, &ask);
    char got[PLACE_TEXT];
    places_try(places, &need, (struct slurm_how){ 0 }, got);
    assert_string_equal(got, "n1 n2");
    places_close(places);
}

/* A node on which a job is still ending is left alone by the main pass, and comes last in backfill. */
static void nodes_with_an_ending_job(void **state)
{
    struct places *places = recorded_places(DENSE, (enum slurm_compat)rows_number(state));
    const struct ask ask = { NO_MEM, .ntasks = 1, .gpus_per_node = 8 };
    const struct slurm_need need = places_need(places, &ask);
    char got[PLACE_TEXT];
    places->picture.completing[0] = 1; /* n0 */
    places_try(places, &need, (struct slurm_how){ 0 }, got);
    assert_string_equal(got, "n1:0-7");
    places->picture.usable[0] = 1; /* n0 alone */
    assert_int_equal(places_try(places, &need, (struct slurm_how){ 0 }, got), SLURM_NOT_NOW);
    places_try(places, &need, (struct slurm_how){ .backfill = true }, got);
    assert_string_equal(got, "n0:0-7");
    places_close(places);
}

/* Two cards cut into 3g.40gb, 2g.20gb and 2g.20gb (memory slices 4 to 7, 0 and 1, 2 and 3): gres of two types. Instances
 * go out card by card, each as a part of its own; the node's cores are with the first. */
static void mig_instances_are_typed_gpus(void **state)
{
    (void)state;
    struct places *places = places_new(COMPAT_26_05);
    struct server_group *group = places_group(places, "n[0-1]", 2, 2, 16);
    group->sharing = SHARING_MIG_MIXED;
    group->cut_count = 3;
    static const struct gpu_cut cuts[] = { { "3g.40gb", 504000, 4, 4 },
                                           { "2g.20gb", 252000, 0, 2 },
                                           { "2g.20gb", 252000, 2, 2 } };
    memcpy(group->cuts, cuts, sizeof cuts);
    places_open(places);
    struct ask ask = { NO_MEM, .ntasks = 1, .cpus_per_task = 2, .gpus_per_node = 3 };
    ask.gpu_type = places_text(places, "2g.20gb");
    struct slurm_need need = places_need(places, &ask);
    char got[PLACE_TEXT];
    uint32_t count;
    assert_int_equal(places_try(places, &need, (struct slurm_how){ 0 }, got), SLURM_PLACED);
    const struct part *parts = slurm_parts(places->chooser, &count);
    static const struct part want[] = {
        { .node = 0,
          .mask = 1,
          .share_units = 252000,
          .slice_first = 0,
          .slice_count = 2,
          .cores_milli = 2000 },
        { .node = 0, .mask = 1, .share_units = 252000, .slice_first = 2, .slice_count = 2 },
        { .node = 0, .mask = 2, .share_units = 252000, .slice_first = 0, .slice_count = 2 },
    };
    assert_int_equal(count, COUNT(want));
    for (uint32_t p = 0; p < count; p++) {
        assert_int_equal(parts[p].node, want[p].node);
        assert_int_equal(parts[p].mask, want[p].mask);
        assert_int_equal(parts[p].share_units, want[p].share_units);
        assert_int_equal(parts[p].slice_first, want[p].slice_first);
        assert_int_equal(parts[p].slice_count, want[p].slice_count);
        assert_int_equal(parts[p].cores_milli, want[p].cores_milli);
    }
    places_start(places, 0);
    /* One 2g is left on n0, so two of them go to n1; any two instances go to n0, of two types. */
    ask.gpus_per_node = 2;
    need = places_need(places, &ask);
    places_try(places, &need, (struct slurm_how){ 0 }, got);
    assert_string_equal(got, "n1:0 n1:0");
    ask.gpu_type = 0;
    need = places_need(places, &ask);
    places_try(places, &need, (struct slurm_how){ 0 }, got);
    assert_string_equal(got, "n0:0 n0:1");
    ask.gpu_type = places_text(places, "3g.40gb");
    ask.gpus_per_node = 3;
    need = places_need(places, &ask);
    assert_false(slurm_feasible_ever(places->chooser, &need));
    places_end(places, 0);
    assert_int_equal(places->picture.free_mask[0], 63);
    places_close(places);
}

/* All cores of socket 1 of n0 are busy, n1 is out. Four GPUs may then be taken from both sockets; with enforce-binding
 * only those of socket 0 count, and a job on GPUs of both sockets of n1 gets a core on each. */
static void bound_gpus_need_cores_beside_them(void **state)
{
    struct places *places = recorded_places(LINKED, (enum slurm_compat)rows_number(state));
    const struct part busy[] = { { .node = 0, .gpus = 2, .mask = 3, .cores_milli = 1000 },
                                 { .node = 0, .gpus = 1, .mask = 128, .cores_milli = 8000 } };
    slurm_picture_take(&places->picture, busy, 2);
    places->picture.usable[0] = 1;
    struct ask ask = { NO_MEM, .ntasks = 1, .gpus_per_node = 4 };
    struct slurm_need need = places_need(places, &ask);
    char got[PLACE_TEXT];
    uint32_t count;
    places_try(places, &need, (struct slurm_how){ 0 }, got);
    assert_string_equal(got,
                        rows_number(state) == COMPAT_22_05 ? "n0:2-5" : "n0:2-4,6"); /* links */
    ask.enforce_binding = true;
    need = places_need(places, &ask);
    assert_int_equal(places_try(places, &need, (struct slurm_how){ 0 }, got), SLURM_NOT_NOW);
    ask.gpus_per_node = 2;
    need = places_need(places, &ask);
    places_try(places, &need, (struct slurm_how){ 0 }, got);
    assert_string_equal(got, "n0:2-3");
    places->picture.usable[0] = 2;
    ask.gpus_per_node = 8;
    need = places_need(places, &ask);
    places_try(places, &need, (struct slurm_how){ 0 }, got);
    assert_string_equal(got, "n1:0-7");
    assert_int_equal(slurm_parts(places->chooser, &count)->cores_milli, 2000);
    places_close(places);
}

/* --spread-job: as many nodes as tasks, a task on each, though one node would hold all. */
static void tasks_are_spread(void **state)
{
    struct places *places = recorded_places(DENSE, (enum slurm_compat)rows_number(state));
    struct ask ask = { NO_MEM, .ntasks = 3, .spread = true };
    struct slurm_need need = places_need(places, &ask);
    char got[PLACE_TEXT];
    places_try(places, &need, (struct slurm_how){ 0 }, got);
    assert_string_equal(got, "n0 n1 n2");
    ask.ntasks = 10; /* more tasks than nodes: dealt evenly, 3 3 2 2 */
    need = places_need(places, &ask);
    places_try(places, &need, (struct slurm_how){ 0 }, got);
    assert_string_equal(got, "n0 n1 n2 n3");
    uint32_t count;
    const struct part *parts = slurm_parts(places->chooser, &count);
    static const uint32_t cores[] = { 3, 3, 2, 2 };
    for (uint32_t p = 0; p < count; p++) assert_int_equal(parts[p].cores_milli, cores[p] * 1000);
    places_close(places);
}

/* Weights: a0 and a1 are lighter than b0 and b1. Two nodes come from the light ones, though b0 and b1 are the tighter
 * run; a range of 2 to 3 sees the heavier ones too, since only 2 light ones are there. */
static void light_nodes_come_first(void **state)
{
    struct places *places = places_new((enum slurm_compat)rows_number(state));
    places_group(places, "b[0-1]", 2, 8, 16)->weight = 5;
    places_group(places, "a[0-1]", 2, 8, 64)->weight = 1;
    places_open(places);
    struct ask ask = { NO_MEM, NODES(2), .gpus_per_node = 4 };
    struct slurm_need need = places_need(places, &ask);
    char got[PLACE_TEXT];
    places_try(places, &need, (struct slurm_how){ 0 }, got);
    assert_string_equal(got, "a0:0-3 a1:0-3");
    ask.nodes_max = 3;
    need = places_need(places, &ask);
    places_try(places, &need, (struct slurm_how){ 0 }, got);
    assert_string_equal(got, "b0:0-3 a0:0-3 a1:0-3");
    ask = (struct ask){ NO_MEM, .ntasks = 1, .gpus_per_node = 8 };
    need = places_need(places, &ask);
    places_try(places, &need, (struct slurm_how){ 0 }, got);
    assert_string_equal(got, "a0:0-7");
    places_close(places);
}

/* bf_busy_nodes fills nodes with jobs first, in backfill only; pack_serial_at_end starts from the last node. */
static void orders_by_words(void **state)
{
    (void)state;
    struct places *places = recorded_places(DENSE, COMPAT_22_05);
    const struct part busy = { .node = 2, .gpus = 1, .mask = 1, .cores_milli = 1000 };
    slurm_picture_take(&places->picture, &busy, 1);
    const struct ask two = { NO_MEM, .ntasks = 2, .cpus_per_task = 1 },
                     one = { NO_MEM, .ntasks = 1 };
    const struct slurm_need need = places_need(places, &two), serial = places_need(places, &one);
    char got[PLACE_TEXT];
    places->scenario.slurm.bf_busy_nodes = true;
    places_try(places, &need, (struct slurm_how){ .backfill = true }, got);
    assert_string_equal(got, "n2");
    places->scenario.slurm.bf_busy_nodes = false;
    places->scenario.slurm.pack_serial_at_end = true;
    places_try(places, &serial, (struct slurm_how){ 0 }, got);
    assert_string_equal(got, "n3");
    places_close(places);
}

/* Jobs of a trace without words, on nodes of 8 GPUs, 16 cores and 64000 MiB: a GPU stands for 2 cores and 8000 MiB. */
struct traced {
    const char *name;
    struct request request;
    struct demand demand;
    uint64_t def_mem_per_gpu_mib;
    const char *want;
    uint32_t cores_first; /* of the first node */
    uint64_t mib_first;
};
/* clang-format off */
static const struct traced traced[] = {
    { "part of a node", { .gpus = 4 }, { .gpus = 4, .held = 4, .nodes = 1, .per_node = 4 }, 0, "n0:0-3", 8, 32000 },
    { "whole nodes", { .gpus = 16 }, { .gpus = 16, .held = 16, .nodes = 2, .per_node = 8 }, 0, "n0:0-7 n1:0-7", 16, 64000 },
    { "the last node takes fewer", { .gpus = 12 }, { .gpus = 12, .held = 12, .nodes = 2, .per_node = 8 }, 0, "n0:0-7 n1:0-3", 16, 64000 },
    { "a default per GPU", { .gpus = 4 }, { .gpus = 4, .held = 4, .nodes = 1, .per_node = 4 }, 7000, "n0:0-3", 8, 28000 },
    { "cores and memory of the trace", { .gpus = 4, .cores = 6, .memory_bytes = UINT64_C(4000) << 20 },
      { .gpus = 4, .held = 4, .nodes = 1, .per_node = 4 }, 7000, "n0:0-3", 8, 4000 },
    { "cores only", { .cores = 3, .memory_bytes = UINT64_C(100) << 20 }, { .nodes = 0 }, 0, "n0", 3, 100 },
};
/* clang-format on */

static void trace_jobs_get_their_share(void **state)
{
    const struct traced *job = *state;
    struct places *places = places_new(COMPAT_26_05);
    places_group(places, "n[0-3]", 4, 8, 16);
    places->scenario.slurm.memory_counts = true;
    places->scenario.slurm.def_mem_per_gpu_mib = job->def_mem_per_gpu_mib;
    places_open(places);
    struct slurm_need need;
    slurm_need_of_demand(&need, &places->nodes, &job->request, &job->demand, 0);
    char got[PLACE_TEXT];
    uint32_t count;
    places_try(places, &need, (struct slurm_how){ 0 }, got);
    assert_string_equal(got, job->want);
    const struct part *parts = slurm_parts(places->chooser, &count);
    assert_int_equal(parts[0].cores_milli, job->cores_first * 1000);
    assert_int_equal(parts[0].memory_bytes >> 20, job->mib_first);
    places_close(places);
}

int main(void)
{
    struct rows rows = { 0 };
    static const struct {
        const char *name;
        void (*test)(void **state);
    } each[] = { { "without the poorest node", without_the_poorest_node },
                 { "nodes with an ending job", nodes_with_an_ending_job },
                 { "enforce-binding", bound_gpus_need_cores_beside_them },
                 { "--spread-job", tasks_are_spread },
                 { "weights", light_nodes_come_first } };
    for (size_t i = 0; i < COUNT(each); i++)
        for (uintptr_t compat = COMPAT_22_05; compat <= COMPAT_26_05; compat++)
            rows_add(&rows, each[i].test, (const void *)compat, "%s, compat %u", each[i].name,
                     (unsigned)compat);
    rows_add(&rows, orders_by_words, NULL, "bf_busy_nodes, pack_serial_at_end");
    for (size_t i = 0; i < COUNT(traced); i++)
        rows_add(&rows, trace_jobs_get_their_share, &traced[i], "trace: %s", traced[i].name);
    rows_add(&rows, mig_instances_are_typed_gpus, NULL, "MIG instances are typed GPUs");
    rows_add(&rows, what_can_never_be, NULL, "what no configured node could meet");
    return rows_run("slurm_words", &rows);
}
