/* test_slurm_select.c - where Slurm puts jobs, against recordings of two releases: each job in order of its start,
 * with the jobs that ran then on the picture.
 *
 * The wanted places, GPU by GPU, are those of oracles/slurm/{22.05.8,26.05.3}; names of the cases are theirs. */
#include "rows.h"
#include "slurm_places.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Jobs in order of start; a job ends before the first row that starts at or behind its end. old, new: places in
 * 22.05 and 26.05; new NULL = the same, "" = it does not start then. */
struct start {
    const char *name;
    int at_s, end_s;
    const char *old, *new;
    struct ask ask;
    const char *type, *constraint;
};

#define NO_MEM                                                                                     \
    .mem_mib = ASK_MEMORY_NONE, .mem_per_cpu_mib = ASK_MEMORY_NONE,                                \
    .mem_per_gpu_mib = ASK_MEMORY_NONE
#define NODES(n) .nodes_min = n, .nodes_max = n

/* clang-format off */
static const struct start s05[] = {
    { "a", 0, 30, "n0:0-2", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 3, .gpus_per_node = 3 }, NULL, NULL },
    { "b", 0, 30, "n0:3-4", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 2, .gpus_per_node = 2 }, NULL, NULL },
    { "c", 0, 8, "n1:0-4", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 5, .gpus_per_node = 5 }, NULL, NULL },
    { "d", 0, 30, "n2:0-3", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 4, .gpus_per_node = 4 }, NULL, NULL },
    { "e", 0, 30, "n0:5", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 1, .gpus_per_node = 1 }, NULL, NULL },
    { "f", 0, 30, "n3:0-7", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 8, .gpus_per_node = 8 }, NULL, NULL },
    { "g", 12, 32, "n0:6-7 n1:0-1", NULL, { NO_MEM, NODES(2), .ntasks = 2, .gpus_per_node = 2 }, NULL, NULL },
    { "h", 14, 19, "n1:2-7", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 6 }, NULL, NULL },
};

static const struct start s06_old[] = {
    { "a", 0, 30, "n0:0-2", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 3, .gpus_per_node = 3 }, NULL, NULL },
    { "b", 0, 30, "n1:0-1", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 2, .gpus_per_node = 2 }, NULL, NULL },
    { "c", 0, 8, "n2:0-4", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 5, .gpus_per_node = 5 }, NULL, NULL },
    { "d", 0, 30, "n3:0-3", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 4, .gpus_per_node = 4 }, NULL, NULL },
    { "e", 0, 30, "n1:2", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 1 }, NULL, NULL },
    { "f", 9, 39, "n2:0-7", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 8, .gpus_per_node = 8 }, NULL, NULL },
    { "g", 12, 32, "n0:3-4 n1:3-4", NULL, { NO_MEM, NODES(2), .ntasks = 2, .gpus_per_node = 2 }, NULL, NULL },
    { "h", 14, 19, "", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 6 }, NULL, NULL },
};

static const struct start s06_new[] = {
    { "a", 0, 30, "n0:0-2", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 3, .gpus_per_node = 3 }, NULL, NULL },
    { "b", 0, 30, "n0:3-4", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 2, .gpus_per_node = 2 }, NULL, NULL },
    { "c", 0, 8, "n1:0-4", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 5, .gpus_per_node = 5 }, NULL, NULL },
    { "d", 0, 30, "n2:0-3", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 4, .gpus_per_node = 4 }, NULL, NULL },
    { "e", 0, 30, "n0:5", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 1 }, NULL, NULL },
    { "f", 0, 30, "n3:0-7", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 8, .gpus_per_node = 8 }, NULL, NULL },
    { "g", 12, 32, "n1:0-1 n2:4-5", NULL, { NO_MEM, NODES(2), .ntasks = 2, .gpus_per_node = 2 }, NULL, NULL },
    { "h", 14, 19, "n1:2-7", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 6 }, NULL, NULL },
};

static const struct start s08[] = {
    { "a", 0, 40, "n0:0-2", NULL, { NO_MEM, .ntasks = 1, .gpus = 3 }, NULL, NULL },
    { "b", 0, 10, "n1:0-5", NULL, { NO_MEM, .ntasks = 4, .gpus = 6 }, NULL, NULL },
    { "c", 0, 10, "n2:0-7", NULL, { NO_MEM, .ntasks = 2, .gpus_per_task = 4 }, NULL, NULL },
    { "d", 0, 10, "n0:3-7 n3:0-6", NULL, { NO_MEM, .gpus = 12 }, NULL, NULL },
    { "e", 11, 13, "n0:3-5 n1:0", NULL, { NO_MEM, NODES(2), .gpus = 4 }, NULL, NULL },
    { "f", 11, 21, "n1:1-4 n2:0", NULL, { NO_MEM, NODES(2), .ntasks = 2, .gpus = 5 }, NULL, NULL },
    { "h", 24, 34, "n1:0-5 n2:0-2", NULL, { NO_MEM, .ntasks = 3, .gpus_per_task = 3 }, NULL, NULL },
    { "i", 26, 31, "n3:0-7", NULL, { NO_MEM, .gpus = 8, .ntasks_per_gpu = 1 }, NULL, NULL },
    { "k", 26, 31, "n0:3", NULL, { NO_MEM, .ntasks = 1, .gpus = 1, .cpus_per_gpu = 4 }, NULL, NULL },
    { "l", 33, 38, "n0:3-7 n3:0-3", NULL, { NO_MEM, .nodes_min = 1, .nodes_max = 3, .gpus = 9 }, NULL, NULL },
};

/* The 20 GPUs of job g beside e and f. */
static const struct start s08_all_that_is_left[] = {
    { "a", 0, 40, "n0:0-2", NULL, { NO_MEM, .ntasks = 1, .gpus = 3 }, NULL, NULL },
    { "e", 11, 21, "n0:3-5 n1:0", NULL, { NO_MEM, NODES(2), .gpus = 4 }, NULL, NULL },
    { "f", 11, 21, "n1:1-4 n2:0", NULL, { NO_MEM, NODES(2), .ntasks = 2, .gpus = 5 }, NULL, NULL },
    { "g", 13, 23, "n0:6-7 n1:5-7 n2:1-7 n3:0-7", NULL, { NO_MEM, .gpus = 20 }, NULL, NULL },
};

static const struct start s10[] = {
    { "a", 0, 20, "n0:0-1", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 2 }, NULL, NULL },
    { "b", 0, 10, "n1:0-7", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 1, .exclusive = true }, NULL, NULL },
    { "c", 0, 20, "n0:2-3", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 2 }, NULL, NULL },
    { "d", 0, 8, "n2:0-7 n3:0-7", NULL, { NO_MEM, NODES(2), .ntasks = 2, .exclusive = true }, NULL, NULL },
    { "e", 0, 10, "n0:4-7", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 4 }, NULL, NULL },
    { "f at once", 1, 1, "", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 16 }, NULL, NULL },
    { "f", 9, 15, "n2", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 16 }, NULL, NULL },
    { "g", 9, 14, "n3:0-7", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 8, .exclusive = true }, NULL, NULL },
};

static const struct start s34_old[] = {
    { "a", 0, 10, "n2:0-1", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 2 }, "a100", NULL },
    { "b", 0, 10, "n3:0-3", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 4 }, NULL, NULL },
    { "c", 0, 10, "n0:0-3", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 4 }, "h100", NULL },
    { "d at once", 0, 0, "", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 4 }, NULL, "a100" },
    { "e", 0, 10, "n0:4-5 n1:0-1", NULL, { NO_MEM, NODES(2), .ntasks = 2, .gpus_per_node = 2 }, NULL, "h100&ib" },
    { "d", 10, 21, "n2:0-3", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 4 }, NULL, "a100" },
    { "g", 11, 16, "n0:0-7", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 8 }, "h100", NULL },
    { "h", 21, 26, "n0:0-3 n1:0-3 n2:0-3 n3:0-3", NULL, { NO_MEM, NODES(4), .ntasks = 4, .gpus_per_node = 4 }, NULL, NULL },
};

static const struct start s34_new[] = {
    { "a", 0, 10, "n2:0-1", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 2 }, "a100", NULL },
    { "b", 0, 10, "n0:0-3", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 4 }, NULL, NULL },
    { "c", 0, 10, "n0:4-7", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 4 }, "h100", NULL },
    { "d", 0, 10, "n3:0-3", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 4 }, NULL, "a100" },
    { "g", 0, 5, "n1:0-7", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 8 }, "h100", NULL },
    { "e", 10, 21, "n0:0-1 n1:0-1", NULL, { NO_MEM, NODES(2), .ntasks = 2, .gpus_per_node = 2 }, NULL, "h100&ib" },
    { "h", 10, 16, "n0:2-5 n1:2-5 n2:0-3 n3:0-3", NULL, { NO_MEM, NODES(4), .ntasks = 4, .gpus_per_node = 4 }, NULL, NULL },
};

static const struct start s35[] = {
    { "a", 0, 30, "n0:0", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 1 }, NULL, NULL },
    { "b", 1, 31, "n0:4-5", "n0:4,6", { NO_MEM, .ntasks = 1, .gpus_per_node = 2 }, NULL, NULL },
    { "c", 2, 32, "n0:1-2", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 2, .gpus_per_node = 2 }, NULL, NULL },
    { "d", 3, 11, "n1:0-3", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 4 }, NULL, NULL },
    { "e", 4, 12, "n1:4-7", NULL, { NO_MEM, .ntasks = 1, .cpus_per_task = 10, .gpus_per_node = 4 }, NULL, NULL },
    { "f", 14, 22, "n0:6-7", "n0:5,7", { NO_MEM, .ntasks = 2, .gpus_per_task = 1 }, NULL, NULL },
    { "g", 15, 23, "n1:0-2", "n1:0,2-3", { NO_MEM, .ntasks = 1, .gpus_per_node = 3 }, NULL, NULL },
};

static const struct start s37[] = {
    { "a", 0, 25, "n0:0", NULL, { NO_MEM, .ntasks = 1, .shards_per_node = 1 }, NULL, NULL },
    { "b", 1, 26, "n0:0", NULL, { NO_MEM, .ntasks = 1, .shards_per_node = 2 }, NULL, NULL },
    { "c", 2, 22, "n0:1-3", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 3 }, NULL, NULL },
    { "d", 3, 23, "n1:0", NULL, { NO_MEM, .ntasks = 1, .shards_per_node = 4 }, NULL, NULL },
    { "e at once", 4, 4, "", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 4 }, NULL, NULL },
    { "f", 5, 15, "n0:0", NULL, { NO_MEM, .ntasks = 1, .shards_per_node = 1 }, NULL, NULL },
    { "g", 6, 6, "", NULL, { NO_MEM, .ntasks = 1, .shards_per_node = 6 }, NULL, NULL },
    { "e", 24, 29, "n1:0-3", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 4 }, NULL, NULL },
    { "g alone", 40, 40, "", NULL, { NO_MEM, .ntasks = 1, .shards_per_node = 6 }, NULL, NULL },
};

#define MEM(mib)                                                                                   \
    .mem_mib = mib, .mem_per_cpu_mib = ASK_MEMORY_NONE, .mem_per_gpu_mib = ASK_MEMORY_NONE
#define MEM_GPU(mib)                                                                               \
    .mem_mib = ASK_MEMORY_NONE, .mem_per_cpu_mib = ASK_MEMORY_NONE, .mem_per_gpu_mib = mib
static const struct start s45[] = {
    { "a", 0, 12, "n0:0", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 1 }, NULL, NULL },
    { "b", 0, 12, "n0:1-2", NULL, { MEM(40000), .ntasks = 1, .gpus_per_node = 2 }, NULL, NULL },
    { "c", 0, 8, "n1:0-3", NULL, { NO_MEM, .ntasks = 1, .gpus_per_node = 4 }, NULL, NULL },
    { "d at once", 1, 1, "", NULL, { NO_MEM, .ntasks = 1 }, NULL, NULL },
    { "d", 9, 14, "n1", NULL, { NO_MEM, .ntasks = 1 }, NULL, NULL },
    { "e at once", 10, 10, "", NULL, { MEM(0), .ntasks = 1, .gpus_per_node = 1 }, NULL, NULL },
    { "e", 12, 16, "n0:0", NULL, { MEM(0), .ntasks = 1, .gpus_per_node = 1 }, NULL, NULL },
    { "f at once", 13, 13, "", NULL, { MEM_GPU(30000), .ntasks = 1, .gpus_per_node = 2 }, NULL, NULL },
    { "f", 14, 19, "n1:0-1", NULL, { MEM_GPU(30000), .ntasks = 1, .gpus_per_node = 2 }, NULL, NULL },
};
/* clang-format on */

/* What the nodes of a case are. */
enum build { DENSE, LLN, TYPED, LINKED, SHARDED, MEMORY };

static struct places *build_places(enum build build, enum slurm_compat compat)
{
    static const int16_t links[8][8] = {
        { 0, 4, 2, 2, 1, 1, 1, 1 }, { 4, 0, 2, 2, 1, 1, 1, 1 }, { 2, 2, 0, 4, 1, 1, 1, 1 },
        { 2, 2, 4, 0, 1, 1, 1, 1 }, { 1, 1, 1, 1, 0, 4, 2, 2 }, { 1, 1, 1, 1, 4, 0, 2, 2 },
        { 1, 1, 1, 1, 2, 2, 0, 4 }, { 1, 1, 1, 1, 2, 2, 4, 0 },
    };
    struct places *places = places_new(compat);
    struct slurm_spec *slurm = &places->scenario.slurm;
    if (build == TYPED) {
        struct server_group *h100 = places_group(places, "n[0-1]", 2, 8, 16);
        struct server_group *a100 = places_group(places, "n[2-3]", 2, 4, 16);
        snprintf(h100->gpu_type, sizeof h100->gpu_type, "h100");
        snprintf(h100->features, sizeof h100->features, "h100,ib");
        snprintf(a100->gpu_type, sizeof a100->gpu_type, "a100");
        snprintf(a100->features, sizeof a100->features, "a100");
    } else if (build == LINKED) {
        struct server_group *group = places_group(places, "n[0-1]", 2, 8, 16);
        for (uint32_t g = 0; g < 8; g++) {
            group->core_first[g] = g / 4 * 8;
            group->core_last[g] = g / 4 * 8 + 7;
            memcpy(group->link_score[g], links[g], sizeof links[g]);
        }
    } else if (build == SHARDED) {
        struct server_group *group = places_group(places, "n[0-1]", 2, 4, 16);
        group->sharing = SHARING_SHARD;
        group->shares_per_gpu = 4;
    } else if (build == MEMORY) {
        places_group(places, "n[0-1]", 2, 8, 16);
        slurm->memory_counts = true;
        slurm->def_mem_per_gpu_mib = 7000;
    } else {
        places_group(places, "n[0-3]", 4, 8, 16);
        slurm->lln = build == LLN;
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
    REPLAY("s05 22.05", DENSE, COMPAT_22_05, s05),
    REPLAY("s05 26.05", DENSE, COMPAT_26_05, s05),
    REPLAY("s06 22.05", LLN, COMPAT_22_05, s06_old),
    REPLAY("s06 26.05", LLN, COMPAT_26_05, s06_new),
    REPLAY("s08 22.05", DENSE, COMPAT_22_05, s08),
    REPLAY("s08 26.05", DENSE, COMPAT_26_05, s08),
    REPLAY("s08 22.05, all that is left", DENSE, COMPAT_22_05, s08_all_that_is_left),
    REPLAY("s08 26.05, all that is left", DENSE, COMPAT_26_05, s08_all_that_is_left),
    REPLAY("s10 22.05", DENSE, COMPAT_22_05, s10),
    REPLAY("s10 26.05", DENSE, COMPAT_26_05, s10),
    REPLAY("s34 22.05", TYPED, COMPAT_22_05, s34_old),
    REPLAY("s34 26.05", TYPED, COMPAT_26_05, s34_new),
    REPLAY("s35 22.05", LINKED, COMPAT_22_05, s35),
    REPLAY("s35 26.05", LINKED, COMPAT_26_05, s35),
    REPLAY("s37 26.05", SHARDED, COMPAT_26_05, s37),
    REPLAY("s45 22.05", MEMORY, COMPAT_22_05, s45),
    REPLAY("s45 26.05", MEMORY, COMPAT_26_05, s45),
};

static void recording_is_met(void **state)
{
    const struct replay *replay = *state;
    struct places *places = build_places(replay->build, replay->compat);
    for (uint32_t i = 0; i < replay->count; i++) {
        const struct start *start = &replay->starts[i];
        for (uint32_t j = 0; j < i; j++)
            if (places->jobs[j].count && replay->starts[j].end_s <= start->at_s)
                places_end(places, j);
        struct ask ask = start->ask;
        ask.gpu_type = places_text(places, start->type);
        ask.constraint = places_text(places, start->constraint);
        const struct slurm_need need = places_need(places, &ask);
        const bool old = replay->compat == COMPAT_22_05;
        const char *const want = old || !start->new ? start->old : start->new;
        char got[PLACE_TEXT];
        const enum slurm_answer answer = places_try(places, &need, (struct slurm_how){ 0 }, got);
        if (strcmp(got, want) != 0)
            fail_msg("job %s: '%s' (%d) instead of '%s'", start->name, got, (int)answer, want);
        places_start(places, i);
    }
    places_close(places);
}

/* What s34 refuses at once in 22.05, and what s37 leaves in the queue for ever. */
static void what_can_never_be(void **state)
{
    (void)state;
    struct places *places = build_places(TYPED, COMPAT_22_05);
    struct ask ask = { NO_MEM, .ntasks = 1, .gpus_per_node = 8 };
    struct slurm_need need = places_need(places, &ask);
    assert_true(slurm_feasible_ever(places->chooser, &need));
    ask.gpu_type = places_text(places, "a100");
    need = places_need(places, &ask);
    assert_false(slurm_feasible_ever(places->chooser, &need));
    ask = (struct ask){ NO_MEM, NODES(5), .gpus_per_node = 1 };
    need = places_need(places, &ask);
    assert_false(slurm_feasible_ever(places->chooser, &need));
    ask = (struct ask){ NO_MEM, NODES(4), .cpus_per_task = 17 };
    need = places_need(places, &ask);
    assert_false(slurm_feasible_ever(places->chooser, &need));
    places_close(places);
    places = build_places(SHARDED, COMPAT_26_05);
    ask = (struct ask){ NO_MEM, .ntasks = 1, .shards_per_node = 6 };
    need = places_need(places, &ask);
    assert_true(slurm_feasible_ever(places->chooser, &need));
    places_close(places);
}

/* Cores free on the first three nodes 4, 16 and 16: from the left 2 nodes hold 20 tasks of the 30. Slurm then leaves
 * out the poorest node and tries again. */
static void without_the_poorest_node(void **state)
{
    struct places *places = build_places(DENSE, (enum slurm_compat)rows_number(state));
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
    struct places *places = build_places(DENSE, (enum slurm_compat)rows_number(state));
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
    for (size_t i = 0; i < COUNT(replays); i++)
        rows_add(&rows, recording_is_met, &replays[i], "recording %s", replays[i].name);
    for (uintptr_t compat = COMPAT_22_05; compat <= COMPAT_26_05; compat++) {
        rows_add(&rows, without_the_poorest_node, (const void *)compat,
                 "without the poorest node, compat %u", (unsigned)compat);
        rows_add(&rows, nodes_with_an_ending_job, (const void *)compat,
                 "nodes with an ending job, compat %u", (unsigned)compat);
    }
    for (size_t i = 0; i < COUNT(traced); i++)
        rows_add(&rows, trace_jobs_get_their_share, &traced[i], "trace: %s", traced[i].name);
    rows_add(&rows, mig_instances_are_typed_gpus, NULL, "MIG instances are typed GPUs");
    rows_add(&rows, what_can_never_be, NULL, "what no configured node could meet");
    return rows_run("slurm_select", &rows);
}
