/* campaign.c - see campaign.h. */
#include "campaign/campaign.h"

#include "base/int128.h"
#include "base/text.h"
#include "campaign/tornado.h"
#include "handlers/run.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { AHEAD_PER_WORKER = 2 }; /* results that may wait for an earlier one, per worker */
static const uint64_t SHARED_BUDGET_BYTES = UINT64_C(1) << 36;

struct task {
    uint32_t variant, replica, setting;
    bool had;     /* the sink has it from an earlier run                       */
    bool dropped; /* not needed after all: neither begun any more nor taken    */
    bool done;
    enum status status;
    struct replica_result result;
};

struct campaign {
    struct world *worlds[LIMIT_SETTINGS]; /* by setting */
    struct task *tasks;                   /* in the order of results */
    uint32_t task_count, next, taken, ahead;
    bool stopping;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void run_task(const struct campaign *campaign, struct task *task)
{
    const double began_s = seconds_now();
    const struct run_request request = { .shared = &campaign->worlds[task->setting]->shared,
                                         .variant = task->variant,
                                         .replica = task->replica };
    task->status = run_replica(&request, &task->result);
    task->result.setting = task->setting;
    task->result.seconds = seconds_now() - began_s;
}

static void *work(void *context)
{
    struct campaign *campaign = context;
    pthread_mutex_lock(&campaign->lock);
    for (;;) {
        while (!campaign->stopping && campaign->next < campaign->task_count &&
               campaign->next >= campaign->taken + campaign->ahead)
            pthread_cond_wait(&campaign->changed, &campaign->lock);
        if (campaign->stopping || campaign->next >= campaign->task_count) break;
        struct task *task = &campaign->tasks[campaign->next++];
        if (task->had || task->dropped) continue;
        pthread_mutex_unlock(&campaign->lock);
        run_task(campaign, task);
        pthread_mutex_lock(&campaign->lock);
        task->done = true;
        pthread_cond_broadcast(&campaign->changed);
    }
    pthread_mutex_unlock(&campaign->lock);
    return NULL;
}

static void add_task(struct campaign *campaign, const struct campaign_sink *sink, struct task task)
{
    task.had = sink->has && sink->has(sink->context, task.variant, task.replica, task.setting);
    campaign->tasks[campaign->task_count++] = task;
}

/* Blast runs first, then replica by replica, then the tornado's settings, each under the first slack
 * rule. */
static enum status list_tasks(struct campaign *campaign, const struct plan *plan,
                              const struct campaign_sink *sink)
{
    const uint64_t most = (uint64_t)plan->variant_count *
                          (1 + plan->replicas + plan->setting_count * plan->setting_replicas);
    campaign->tasks = calloc(most, sizeof *campaign->tasks);
    if (!campaign->tasks) return STATUS_WORLD;
    for (uint32_t v = 0; v < plan->variant_count; v++)
        if (plan->variants[v].blast_horizon_ns > 0)
            add_task(campaign, sink, (struct task){ .variant = v, .replica = REPLICA_BLAST });
    for (uint32_t r = 0; r < plan->replicas; r++)
        for (uint32_t v = 0; v < plan->variant_count; v++)
            add_task(campaign, sink, (struct task){ .variant = v, .replica = r });
    for (uint32_t s = 1; s < plan->setting_count; s++)
        for (uint32_t r = 0; r < plan->setting_replicas; r++)
            for (uint32_t v = 0; v < plan->variant_count; v++)
                if (plan->variants[v].slack == plan->variants[0].slack)
                    add_task(campaign, sink,
                             (struct task){ .variant = v, .replica = r, .setting = s });
    return STATUS_OK;
}

static enum status make_worlds(struct campaign *campaign, const struct run_shared *shared,
                               struct arena *arena)
{
    for (uint32_t s = 0; s < shared->plan->setting_count; s++) {
        campaign->worlds[s] = tornado_world(shared, s, arena);
        if (!campaign->worlds[s]) return STATUS_WORLD;
    }
    return STATUS_OK;
}

/* "replica 3", or what the failure-only run is called. */
static const char *run_name(const struct task *task, char out[32])
{
    if (task->replica == REPLICA_BLAST) return "failure-only run";
    snprintf(out, 32, "replica %" PRIu32, task->replica);
    return out;
}

static enum status explain(const struct task *task, const struct plan *plan, struct diag *diag)
{
    const char *layout = plan->scenario->layouts[plan->variants[task->variant].layout].name;
    char name[32];
    if (task->status == STATUS_LEDGER) {
        const int128 error = task->result.closure_error;
        diag_world(diag,
                   "the GPU-second ledger of layout '%s', %s does not close: %.0f units * ns "
                   "(%.9g GPU-seconds) are missing; this is a bug of gpuplan",
                   layout, run_name(task, name), (double)error,
                   (double)error / (double)UNITS_PER_GPU / 1e9);
        return STATUS_LEDGER;
    }
    return diag_world(diag, "layout '%s', %s: memory is out", layout, run_name(task, name));
}

static void warn_stopped(const struct task *task, const struct plan *plan, struct diag *diag)
{
    diag_warn(diag, (struct place){ .file = plan->scenario->path },
              "layout '%s', replica %d: jobs were left when the run was stopped after %.0f days; "
              "parts may fail faster than they can run; the results are partial",
              plan->scenario->layouts[plan->variants[task->variant].layout].name,
              (int)task->replica, (double)plan->all_end_ns / 86400e9);
}

static void warn_stuck(const struct task *task, const struct plan *plan, struct diag *diag)
{
    const struct replica_result *result = &task->result;
    const char *id = plan->jobs->id ? plan->jobs->text + plan->jobs->id[result->stuck_row] : "";
    char safe[LIMIT_NAME_BYTES];
    diag_warn(diag, (struct place){ .file = plan->scenario->path },
              "layout '%s', replica %d: %u job%s can never end, first '%s': after %.0f s no event, "
              "repair or end of another job is left to change that, and the window ends there",
              plan->scenario->layouts[plan->variants[task->variant].layout].name,
              (int)task->replica, result->jobs_stuck, result->jobs_stuck == 1 ? "" : "s",
              text_escape(id, strlen(id), safe, sizeof safe), (double)result->run_end_ns / 1e9);
}

/* Waits until a task is done and lets the workers move on; false when it is not needed. */
static bool await(struct campaign *campaign, const struct task *task)
{
    pthread_mutex_lock(&campaign->lock);
    while (!task->done && !task->had && !task->dropped)
        pthread_cond_wait(&campaign->changed, &campaign->lock);
    campaign->taken = (uint32_t)(task - campaign->tasks) + 1;
    pthread_cond_broadcast(&campaign->changed);
    pthread_mutex_unlock(&campaign->lock);
    return !task->had && !task->dropped;
}

static enum status take(struct task *task, const struct plan *plan,
                        const struct campaign_sink *sink, struct campaign_totals *totals,
                        struct diag *diag)
{
    const bool stopped = task->status == STATUS_LIMIT;
    if (stopped && !totals->stopped++) warn_stopped(task, plan, diag);
    if (task->result.jobs_stuck > 0 && !totals->stuck++) warn_stuck(task, plan, diag);
    const enum status status = task->status == STATUS_OK || stopped
                                   ? sink->take(sink->context, &task->result, diag)
                                   : explain(task, plan, diag);
    totals->replicas++;
    totals->events += task->result.events;
    totals->run_s += task->result.seconds;
    replica_result_clear(&task->result);
    return status;
}

/* Whether a task ends a set of replicas after which the sink is asked. */
static bool is_look(const struct task *task, const struct plan *plan)
{
    const uint32_t replicas = task->replica + 1;
    return plan->scenario->until.given && task->setting == 0 && task->replica != REPLICA_BLAST &&
           task->variant + 1 == plan->variant_count && replicas >= UNTIL_FIRST &&
           ((replicas - UNTIL_FIRST) % UNTIL_STEP == 0 || replicas == plan->replicas);
}

/* The replicas so far are enough: those behind are dropped, also what was run ahead. */
static void drop_rest(struct campaign *campaign, uint32_t replicas)
{
    pthread_mutex_lock(&campaign->lock);
    for (uint32_t t = 0; t < campaign->task_count; t++) {
        struct task *task = &campaign->tasks[t];
        if (task->setting == 0 && task->replica != REPLICA_BLAST && task->replica >= replicas)
            task->dropped = true;
    }
    pthread_cond_broadcast(&campaign->changed);
    pthread_mutex_unlock(&campaign->lock);
}

/* Hands results over in order, on the calling thread. */
static enum status collect(struct campaign *campaign, const struct plan *plan, bool progress,
                           const struct campaign_sink *sink, struct campaign_totals *totals,
                           struct diag *diag)
{
    enum status status = STATUS_OK;
    totals->replicas_each = plan->replicas;
    for (uint32_t t = 0; t < campaign->task_count && status == STATUS_OK; t++) {
        struct task *task = &campaign->tasks[t];
        if (await(campaign, task)) status = take(task, plan, sink, totals, diag);
        if (status == STATUS_OK && sink->enough && !totals->enough && is_look(task, plan) &&
            sink->enough(sink->context, task->replica + 1)) {
            totals->enough = true;
            totals->replicas_each = task->replica + 1;
            drop_rest(campaign, totals->replicas_each);
        }
        if (progress)
            fprintf(stderr, "\r%" PRIu32 " of %s%" PRIu32 " runs", t + 1,
                    plan->scenario->until.given ? "at most " : "", campaign->task_count);
    }
    if (progress) fprintf(stderr, "\r                                    \r");
    return status == STATUS_OK && totals->stopped ? STATUS_LIMIT : status;
}

enum status campaign_run(const struct plan *plan, uint32_t workers, bool progress,
                         const struct campaign_sink *sink, struct campaign_totals *totals,
                         struct diag *diag)
{
    *totals = (struct campaign_totals){ 0 };
    struct arena *arena = arena_create(SHARED_BUDGET_BYTES);
    struct run_shared shared;
    if (!arena || run_shared_init(&shared, plan, arena) != STATUS_OK) {
        arena_destroy(arena);
        return diag_world(diag, "memory is out while preparing %" PRIu32 " jobs",
                          plan->jobs->count);
    }
    struct campaign campaign = { .ahead = AHEAD_PER_WORKER * workers };
    pthread_t *threads = calloc(workers, sizeof *threads);
    enum status status = threads ? make_worlds(&campaign, &shared, arena) : STATUS_WORLD;
    if (status == STATUS_OK) status = list_tasks(&campaign, plan, sink);
    pthread_mutex_init(&campaign.lock, NULL);
    pthread_cond_init(&campaign.changed, NULL);
    uint32_t started = 0;
    while (status == STATUS_OK && started < workers &&
           pthread_create(&threads[started], NULL, work, &campaign) == 0)
        started++;
    if (status != STATUS_OK || started == 0)
        status = diag_world(diag, "no worker thread could be started");
    else
        status = collect(&campaign, plan, progress, sink, totals, diag);
    pthread_mutex_lock(&campaign.lock);
    campaign.stopping = true;
    pthread_cond_broadcast(&campaign.changed);
    pthread_mutex_unlock(&campaign.lock);
    for (uint32_t t = 0; t < started; t++) pthread_join(threads[t], NULL);
    for (uint32_t t = 0; campaign.tasks && t < campaign.task_count; t++)
        replica_result_clear(&campaign.tasks[t].result);
    pthread_cond_destroy(&campaign.changed);
    pthread_mutex_destroy(&campaign.lock);
    free(campaign.tasks);
    free(threads);
    arena_destroy(arena);
    return status;
}
