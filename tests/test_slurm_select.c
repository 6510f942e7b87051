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

struct replay {
    const char *name;
    enum recorded_nodes build;
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
    struct places *places = recorded_places(replay->build, replay->compat);
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

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < COUNT(replays); i++)
        rows_add(&rows, recording_is_met, &replays[i], "recording %s", replays[i].name);
    return rows_run("slurm_select", &rows);
}
