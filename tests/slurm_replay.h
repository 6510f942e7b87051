/* slurm_replay.h - a recording run by the engine, and what came out beside what was recorded. Header only. */
#ifndef GPUPLAN_TESTS_SLURM_REPLAY_H
#define GPUPLAN_TESTS_SLURM_REPLAY_H

#include "fixture.h"
#include "handlers/transition.h"
#include "io/scenario_read.h"
#include "spec/node_names.h"
#include "tests/slurm_details.h"
#include "tests/slurm_scenario.h"

#include <inttypes.h>
#include <unistd.h>

enum { TOLERANCE_S = 3, REPLAY_NODES = 256, REPLAY_RUNS = 2048 };

/* One run of a job as the engine had it. */
struct replay_run {
    uint32_t serial, trace_row, run;
    int64_t start_ns, end_ns;
    const char *state;
    uint32_t node_count;
    struct {
        uint32_t node, mask;
    } nodes[REPLAY_NODES];
};

/* When the nodes of a run become free. */
enum replay_way {
    REPLAY_RUN_TIMES, /* after the time that its script sleeps                                  */
    REPLAY_ENDS,      /* a second after its recorded end                                       */
    REPLAY_STARTS,    /* the same, but in the second of its end where another run started there in it */
    REPLAY_WAYS
};

struct replay {
    struct recording *recording;
    struct scenario scenario;
    struct plan plan;
    struct import_report import;
    struct run_shared shared;
    struct arena *arena;
    struct replica_result result;
    struct replay_run *runs; /* [run_count] in order of start                                     */
    uint32_t run_count;
    struct details_seen seen;
    bool has_scenario;
    enum replay_way way;
};

/* What is wrong with a recorded run; "" = nothing. */
struct verdict {
    char wrong[512];
};

/* ---- names ----------------------------------------------------------------------------------- */

/* The name under which observed.csv has a row of the trace: a, a_3 of an array, x+1 of a heterogeneous job. */
static inline void replay_name(const struct jobs *jobs, uint32_t row, char *name, size_t size)
{
    const struct job_words *words = &jobs->words[row];
    const char *text = jobs->text + words->name;
    if (words->het_first_row != JOB_NONE)
        snprintf(name, size, "%s+%u", text, row - words->het_first_row);
    else if (words->array_first_row != JOB_NONE)
        snprintf(name, size, "%s_%u", text, words->array_index);
    else
        snprintf(name, size, "%s", text);
}

/* Several jobs may have one name: the k-th of the recording by id is the k-th row of the trace. */
static inline uint32_t replay_row(const struct jobs *jobs, const struct recording *recording,
                                  const struct recorded_run *run)
{
    uint32_t before = 0;
    const unsigned long id = strtoul(run->id, NULL, 10);
    for (uint32_t i = 0; i < recording->run_count; i++) {
        const struct recorded_run *other = &recording->runs[i];
        bool again = false;
        if (strcmp(other->job, run->job) != 0 || strtoul(other->id, NULL, 10) >= id) continue;
        for (uint32_t j = 0; j < i; j++)
            again |= !strcmp(recording->runs[j].id, other->id);
        before += !again;
    }
    for (uint32_t row = 0; row < jobs->count; row++) {
        char name[128];
        replay_name(jobs, row, name, sizeof name);
        if (!strcmp(name, run->job) && before-- == 0) return row;
    }
    return JOB_NONE;
}

/* ---- recorded ends --------------------------------------------------------------------------- */

static struct replay *replay_with_ends; /* the probe has no argument                            */

static inline bool nodes_meet(const char *list, const char *other)
{
    uint32_t count = 0, place;
    char name[LIMIT_NAME_BYTES];
    if (hostlist_check(list, &count)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (hostlist_name(list, i, name) && hostlist_find(other, name, &place)) return true;
    return false;
}

/* The first run that starts on nodes of this one in the second of its end; run_count = there is none. */
static inline uint32_t replay_next_user(const struct recording *recording,
                                        const struct recorded_run *run)
{
    uint32_t i = 0;
    for (; i < recording->run_count; i++)
        if (recording->runs[i].start_s == run->end_s && &recording->runs[i] != run &&
            nodes_meet(recording->runs[i].nodes, run->nodes))
            break;
    return i;
}

/* Within a second nodes become free in the order of the runs that start on them. */
static inline int64_t replay_end_ns(const struct replay *replay, const struct recorded_run *run)
{
    const struct recording *recording = replay->recording;
    const uint32_t user =
        replay->way == REPLAY_STARTS ? replay_next_user(recording, run) : recording->run_count;
    if (user == recording->run_count) return (run->end_s + 1) * NS_PER_S;
    int64_t end_ns = run->end_s * NS_PER_S;
    for (uint32_t i = 0; i < recording->run_count; i++)
        if (recording->runs[i].end_s == run->end_s &&
            replay_next_user(recording, &recording->runs[i]) < user)
            end_ns += NS_PER_S / 100;
    return end_ns;
}

/* Moves the end of each attempt that has just started to the recorded one and a second. */
static inline void replay_set_ends(const struct run *run_const);

static inline void replay_probe(const struct run *run)
{
    struct replay *replay = replay_with_ends;
    if (replay->way != REPLAY_RUN_TIMES) replay_set_ends(run);
    details_ask(&replay->seen, replay->recording, run);
    details_listen(&replay->seen, run);
}

static inline void replay_set_ends(const struct run *run_const)
{
    struct run *run = (struct run *)(uintptr_t)run_const;
    struct replay *replay = replay_with_ends;
    for (uint32_t live = 0; live < run->live.count; live++) {
        const struct live_job *job = &run->live.jobs[live];
        if (job->state != LIVE_RUNNING || run->live.attempts[live].start_ns != run->now_ns) continue;
        char number[16];
        snprintf(number, sizeof number, "%u", job->attempts - 1);
        for (uint32_t i = 0; i < replay->recording->run_count; i++) {
            const struct recorded_run *want = &replay->recording->runs[i];
            if (strcmp(want->run, number) != 0 || want->end_s == SECOND_NONE) continue;
            if (replay_row(run->plan->jobs, replay->recording, want) != job->row) continue;
            const int64_t end_ns = replay_end_ns(replay, want);
            if (strcmp(want->state, "COMPLETED") != 0 && strcmp(want->state, "FAILED") != 0) continue;
            if (end_ns > run->now_ns)
                agenda_set(&run->agenda, live, end_ns, agenda_rank(EV_FINISH, run->serial++));
        }
    }
}

/* ---- run ------------------------------------------------------------------------------------- */

static inline const char *replay_state(const struct replay *replay, const struct attempt_row *row,
                                       uint32_t trace_row)
{
    const struct jobs *jobs = replay->scenario.jobs;
    switch (row->end) {
    case ATTEMPT_FINISHED:
        return (row->attempt ? jobs->words[trace_row].exit_code_again
                             : jobs->words[trace_row].exit_code)
                   ? "FAILED"
                   : "COMPLETED";
    case ATTEMPT_KILLED_LIMIT:
        return "TIMEOUT";
    case ATTEMPT_FAILED:
        return "NODE_FAIL";
    case ATTEMPT_PREEMPTED:
        return "PREEMPTED";
    case ATTEMPT_SUSPENDED:
        return "SUSPENDED";
    case ATTEMPT_CANCELLED:
        return "CANCELLED";
    default:
        return "RUNNING";
    }
}

/* The run of a job that was suspended last: the attempt behind it is its rest. */
static inline struct replay_run *replay_suspended(const struct replay *replay, uint32_t serial)
{
    for (uint32_t i = replay->run_count; i-- > 0;)
        if (replay->runs[i].serial == serial)
            return strcmp(replay->runs[i].state, "SUSPENDED") == 0 ? &replay->runs[i] : NULL;
    return NULL;
}

static inline uint32_t replay_runs_before(const struct replay *replay, uint32_t serial)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i + 1 < replay->run_count; i++) count += replay->runs[i].serial == serial;
    return count;
}

static inline void replay_collect(struct replay *replay)
{
    const struct attempt_row *rows = LOG_ITEMS(&replay->result.attempts, struct attempt_row);
    const struct job_row *jobs = LOG_ITEMS(&replay->result.jobs, struct job_row);
    const struct allocation_row *places =
        LOG_ITEMS(&replay->result.allocations, struct allocation_row);
    replay->runs = calloc(REPLAY_RUNS, sizeof *replay->runs);
    for (uint64_t i = 0; i < replay->result.attempts.count && replay->run_count < REPLAY_RUNS; i++) {
        struct replay_run *before = replay_suspended(replay, rows[i].serial);
        struct replay_run *run = before ? before : &replay->runs[replay->run_count++];
        if (before) {
            run->end_ns = rows[i].end_ns;
            run->state = replay_state(replay, &rows[i], run->trace_row);
            continue;
        }
        run->serial = rows[i].serial;
        run->trace_row = rows[i].serial; /* the trace is played once */
        for (uint64_t j = 0; j < replay->result.jobs.count; j++)
            if (jobs[j].serial == rows[i].serial) run->trace_row = jobs[j].trace_row;
        run->run = replay_runs_before(replay, rows[i].serial);
        run->start_ns = rows[i].start_ns;
        run->end_ns = rows[i].end_ns;
        run->state = replay_state(replay, &rows[i], run->trace_row);
        for (uint64_t a = 0; a < replay->result.allocations.count; a++)
            if (places[a].serial == rows[i].serial && places[a].attempt == rows[i].attempt &&
                run->node_count < REPLAY_NODES) {
                run->nodes[run->node_count].node = places[a].server;
                run->nodes[run->node_count++].mask = places[a].gpu_mask;
            }
    }
}

static inline bool replay_read(struct replay *replay)
{
    char path[] = "/tmp/gpuplan-recording-XXXXXX.yaml";
    const int descriptor = mkstemps(path, 5);
    FILE *out = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (!out) return false;
    write_scenario(out, replay->recording);
    fclose(out);
    replay->has_scenario = true;
    const enum status status =
        scenario_read(path, NULL, 0, &replay->scenario, replay->recording->diag);
    unlink(path);
    return status == STATUS_OK;
}

static inline bool replay_run(struct replay *replay, struct recording *recording,
                              enum replay_way way)
{
    memset(replay, 0, sizeof *replay);
    replay->recording = recording;
    replay->way = way;
    replay->arena = arena_create(UINT64_C(1) << 36);
    bool good = replay_read(replay) && replay->scenario.jobs &&
                plan_build(&replay->scenario, replay->scenario.jobs, &replay->import, NULL, 0, 1,
                           &replay->plan, recording->diag) == STATUS_OK &&
                run_shared_init(&replay->shared, &replay->plan, replay->arena) == STATUS_OK;
    if (!good) {
        diag_print(recording->diag, stdout);
        return false;
    }
    replay_with_ends = replay;
    replay->seen.words = calloc(DETAIL_WORDS, sizeof *replay->seen.words);
    run_probe = replay_probe;
    const struct run_request request = { .shared = &replay->shared };
    const enum status status = run_replica(&request, &replay->result);
    run_probe = NULL;
    if (status != STATUS_OK && status != STATUS_LIMIT) {
        printf("the run failed with status %d\n", status);
        return false;
    }
    replay_collect(replay);
    return true;
}

static inline void replay_clear(struct replay *replay)
{
    replica_result_clear(&replay->result);
    if (replay->has_scenario) scenario_clear(&replay->scenario);
    arena_destroy(replay->arena);
    free(replay->runs);
    free(replay->seen.words);
}

/* ---- compare --------------------------------------------------------------------------------- */

/* GPU indexes of one node in a placement: n1:cpus=8:gpu:2(IDX:3,7), nodes in ranges, parts by ';'. */
static inline bool placement_mask(const char *placement, const char *node, uint32_t *mask)
{
    while (*placement) {
        char item[1024], *colon, *index;
        const size_t bytes = strcspn(placement, ";");
        uint32_t place;
        snprintf(item, sizeof item, "%.*s", (int)bytes, placement);
        placement += bytes + (placement[bytes] == ';');
        if (!(colon = strchr(item, ':'))) continue;
        *colon++ = 0;
        if (!hostlist_find(item, node, &place)) continue;
        *mask = 0;
        for (index = colon; (index = strstr(index, "(IDX:")); index++)
            for (char *at = index + 5; *at && *at != ')'; at += *at == ',') {
                char *end;
                const unsigned long first = strtoul(at, &end, 10);
                unsigned long last = first;
                if (end == at) break;
                if (*end == '-') last = strtoul(end + 1, &end, 10);
                for (unsigned long bit = first; bit <= last && bit < 32; bit++) *mask |= 1u << bit;
                at = end;
            }
        return true;
    }
    return false;
}

static inline const struct replay_run *replay_find(const struct replay *replay, uint32_t row,
                                                   unsigned run)
{
    for (uint32_t i = 0; i < replay->run_count; i++)
        if (replay->runs[i].trace_row == row && replay->runs[i].run == run) return &replay->runs[i];
    return NULL;
}

static inline void say(struct verdict *verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void say(struct verdict *verdict, const char *format, ...)
{
    const size_t used = strlen(verdict->wrong);
    va_list args;
    va_start(args, format);
    vsnprintf(verdict->wrong + used, sizeof verdict->wrong - used, format, args);
    va_end(args);
}

static inline void compare_nodes(const struct replay *replay, const struct recorded_run *want,
                                 const struct replay_run *got, struct verdict *verdict)
{
    const struct layout *layout = &replay->scenario.layouts[0];
    uint32_t wanted = 0;
    bool same = true, same_gpus = true;
    const bool none = strcmp(want->nodes, "None assigned") == 0 || !*want->nodes;
    if (!none) hostlist_check(want->nodes, &wanted);
    for (uint32_t n = 0; n < got->node_count; n++) {
        char name[LIMIT_NAME_BYTES];
        uint32_t place, mask = 0;
        node_name(layout, got->nodes[n].node, name);
        same &= !none && hostlist_find(want->nodes, name, &place);
        if (same && strstr(want->placement, "(IDX:") &&
            placement_mask(want->placement, name, &mask))
            same_gpus &= mask == got->nodes[n].mask;
    }
    if (same && wanted == got->node_count && same_gpus) return;
    say(verdict, same && wanted == got->node_count ? "GPUs:" : "nodes:");
    for (uint32_t n = 0; n < got->node_count; n++) {
        char name[LIMIT_NAME_BYTES];
        node_name(layout, got->nodes[n].node, name);
        say(verdict, " %s/%x", name, got->nodes[n].mask);
    }
    say(verdict, "; ");
}

static inline void compare_states(const struct recorded_run *want, const struct replay_run *got,
                                  struct verdict *verdict)
{
    if (!strncmp(want->state, got->state, strlen(got->state))) return;
    if (want->end_s == SECOND_NONE && !strcmp(want->state, "RUNNING")) return;
    /* A run that its exit code or a user sends back is REQUEUED in accounting. */
    if (!strcmp(want->state, "REQUEUED") &&
        (!strcmp(got->state, "FAILED") || !strcmp(got->state, "PREEMPTED")))
        return;
    say(verdict, "state %s; ", got->state);
}

/* Starts that the recording tells apart by more than a second come in its order. */
static inline void compare_order(const struct replay *replay, uint32_t index,
                                 const struct replay_run **runs, struct verdict *verdict)
{
    const struct recording *recording = replay->recording;
    for (uint32_t i = 0; i < recording->run_count; i++) {
        if (!runs[i] || !runs[index] || recording->runs[i].start_s == SECOND_NONE) continue;
        if (recording->runs[i].start_s + 1 < recording->runs[index].start_s &&
            runs[i]->start_ns > runs[index]->start_ns) {
            say(verdict, "before %s; ", recording->runs[i].job);
            return;
        }
    }
}

static inline void replay_compare(const struct replay *replay, struct verdict *verdicts)
{
    const struct recording *recording = replay->recording;
    const struct jobs *jobs = replay->scenario.jobs;
    const struct replay_run **runs = calloc(recording->run_count + 1, sizeof *runs);
    memset(verdicts, 0, recording->run_count * sizeof *verdicts);
    for (uint32_t i = 0; i < recording->run_count; i++) {
        const struct recorded_run *want = &recording->runs[i];
        const uint32_t row = replay_row(jobs, recording, want);
        runs[i] = replay_find(replay, row, (unsigned)strtoul(want->run, NULL, 10));
        if (row == JOB_NONE) say(&verdicts[i], "no such job; ");
        const bool refused = !strcmp(want->nodes, "None assigned");
        if (want->start_s == SECOND_NONE || refused) {
            if (runs[i]) say(&verdicts[i], "started; ");
            runs[i] = NULL;
            continue;
        }
        if (!runs[i]) {
            say(&verdicts[i], "never started; ");
            continue;
        }
        const int64_t late_ns = runs[i]->start_ns - want->start_s * NS_PER_S;
        if (late_ns > TOLERANCE_S * NS_PER_S || late_ns < -TOLERANCE_S * NS_PER_S)
            say(&verdicts[i], "start %.1f; ", s_from_ns(runs[i]->start_ns));
        compare_nodes(replay, want, runs[i], &verdicts[i]);
        compare_states(want, runs[i], &verdicts[i]);
    }
    for (uint32_t i = 0; i < recording->run_count; i++)
        compare_order(replay, i, runs, &verdicts[i]);
    free(runs);
}

#endif
