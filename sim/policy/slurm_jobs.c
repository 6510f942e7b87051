/* slurm_jobs.c - what Slurm knows of each live job; see slurm_state.h. */
#include "policy/slurm_state.h"

#include <stdlib.h>
#include <string.h>

bool slurm_jobs_grow(struct slurm *slurm, uint32_t capacity)
{
    if (capacity <= slurm->job_capacity) return true;
    struct slurm_job *jobs = realloc(slurm->jobs, (size_t)capacity * sizeof *jobs);
    if (!jobs) return false;
    memset(jobs + slurm->job_capacity, 0, (capacity - slurm->job_capacity) * sizeof *jobs);
    slurm->jobs = jobs;
    slurm->job_capacity = capacity;
    return true;
}

static struct slurm_need *need_make(struct slurm *slurm, const struct policy_view *view,
                                    uint32_t class_, uint32_t partition)
{
    struct slurm_need *need = ARENA_ARRAY(slurm->arena, struct slurm_need, 1);
    const struct request *request = &view->requests->classes[class_];
    if (!need) return NULL;
    if (request->ask == ASK_NONE) {
        slurm_need_of_demand(need, &slurm->nodes, request, &view->demands[class_], partition);
        return need;
    }
    return slurm_need_of_ask(need, &slurm->nodes, &view->jobs->asks[request->ask], view->jobs->text,
                             partition, slurm->arena)
               ? need
               : NULL;
}

const struct slurm_need *slurm_need_in(struct slurm *slurm, const struct policy_view *view,
                                       uint32_t class_, uint32_t partition)
{
    struct slurm_need **need =
        &slurm->needs[(size_t)class_ * slurm->spec->partition_count + partition];
    if (!*need) *need = need_make(slurm, view, class_, partition);
    slurm->out_of_memory |= !*need;
    return *need;
}

const struct slurm_need *slurm_need_of(struct slurm *slurm, const struct policy_view *view,
                                       const struct slurm_entry *entry)
{
    return slurm_need_in(slurm, view, view->live->jobs[entry->live].request_class,
                         entry->partition);
}

bool slurm_is_feasible(struct slurm *slurm, const struct policy_view *view,
                       const struct slurm_entry *entry, const struct slurm_need *need)
{
    enum { UNKNOWN, NO, YES };
    const uint32_t class_ = view->live->jobs[entry->live].request_class;
    uint8_t *feasible =
        &slurm->feasible[(size_t)class_ * slurm->spec->partition_count + entry->partition];
    if (*feasible == UNKNOWN) *feasible = slurm_feasible_ever(slurm->chooser, need) ? YES : NO;
    return *feasible == YES;
}

/* A job without a limit gets its partition's, and one year where that is infinite; a job of a trace is believed to
 * take what the trace says it took, as often as the scenario says. */
int64_t slurm_limit_s(const struct slurm *slurm, const struct policy_view *view,
                      const struct slurm_entry *entry)
{
    const struct slurm_partition *partition = &slurm->spec->partitions[entry->partition];
    int64_t limit_ns = view->jobs->limit_ns[entry->row];
    if (limit_ns == JOB_NO_LIMIT && !view->jobs->words)
        limit_ns = ns_from_s(s_from_ns(view->jobs->duration_ns[entry->row]) *
                             view->scenario->limit_factor);
    if (limit_ns == JOB_NO_LIMIT)
        limit_ns = partition->default_time_ns ? partition->default_time_ns : partition->max_time_ns;
    if (limit_ns == TIME_NEVER) return YEAR_S;
    const int64_t limit_s = (limit_ns + NS_PER_S - 1) / NS_PER_S;
    return limit_s > 0 ? limit_s : 1;
}

const char *slurm_partition_shut(const struct slurm *slurm, const struct policy_view *view,
                                 const struct slurm_entry *entry)
{
    const struct slurm_partition *partition = &slurm->spec->partitions[entry->partition];
    const int64_t limit_ns = view->jobs->limit_ns[entry->row];
    if (!partition->up) return "PartitionDown";
    return limit_ns != JOB_NO_LIMIT && limit_ns > partition->max_time_ns ? "PartitionTimeLimit"
                                                                         : NULL;
}

/* ---- reservations ---------------------------------------------------------------------------- */

uint32_t slurm_reservation_of(const struct slurm *slurm, const struct policy_view *view,
                              uint32_t row, bool *admitted)
{
    const struct job_words *words = view->jobs->words ? &view->jobs->words[row] : NULL;
    *admitted = true;
    if (!words || words->reservation == TEXT_NONE) return RESERVATION_NONE;
    const char *text = view->jobs->text;
    const uint32_t found = slurm_reserve_find(&slurm->reserve, name_of(text + words->reservation));
    /* Without an account it is the user's first one, as everywhere else. */
    const uint32_t assoc = slurm->assoc.who[row].assoc;
    struct name account = name_of(text + words->account);
    if (account.bytes == 0 && assoc != ASSOC_NONE) account = slurm->assoc.rows[assoc].account;
    *admitted = found != RESERVATION_NONE &&
                slurm_reserve_admits(&slurm->reserve, found, name_of(text + words->user), account);
    return found;
}

int64_t slurm_unreserved(struct slurm *slurm, const struct policy_view *view,
                         const struct slurm_entry *entry, int64_t start_s, int64_t limit_s,
                         const char **reason)
{
    *reason = NULL;
    if (slurm->spec->reservation_count == 0) return SECONDS_NEVER;
    bool admitted;
    const int64_t phase_ns = slurm->spec->clock_phase_ns;
    const struct slurm_stay stay = {
        .reservation = slurm_reservation_of(slurm, view, entry->row, &admitted),
        .start_ns = start_s * NS_PER_S - phase_ns,
        .end_ns = (start_s + limit_s) * NS_PER_S - phase_ns,
    };
    const int64_t next_ns = slurm_reserve_limit(&slurm->reserve, stay, slurm->candidates, reason);
    if (next_ns == TIME_NEVER) return SECONDS_NEVER;
    return (next_ns + phase_ns + NS_PER_S - 1) / NS_PER_S;
}

/* ---- the queue ------------------------------------------------------------------------------- */

static uint32_t partition_named(const struct slurm_spec *spec, const char *name, size_t bytes)
{
    for (uint32_t p = 0; p < spec->partition_count; p++)
        if (strlen(spec->partitions[p].name) == bytes &&
            !memcmp(spec->partitions[p].name, name, bytes))
            return p;
    return UINT32_MAX;
}

static uint32_t default_partition(const struct slurm_spec *spec)
{
    for (uint32_t p = 0; p < spec->partition_count; p++)
        if (spec->partitions[p].is_default) return p;
    return 0;
}

static bool enqueue_in(struct slurm *slurm, const struct policy_view *view,
                       struct slurm_queue_job job, int64_t now_ns)
{
    const struct slurm_entry entry = { .live = job.live,
                                       .row = job.row,
                                       .partition = job.partition };
    job.priority = slurm_priority_in(slurm, view, &entry, now_ns);
    return slurm_queue_add(&slurm->queue, job);
}

struct slurm_partitions slurm_partitions_of(const struct slurm *slurm,
                                            const struct policy_view *view, uint32_t row)
{
    (void)slurm;
    const char *list = view->jobs->words ? view->jobs->text + view->jobs->words[row].partition : "";
    return (struct slurm_partitions){ .at = *list ? list : NULL };
}

bool slurm_partitions_next(const struct slurm *slurm, struct slurm_partitions *list,
                           uint32_t *partition)
{
    if (!list->at) {
        *partition = default_partition(slurm->spec);
        const bool first = !list->done;
        list->done = true;
        return first;
    }
    while (*list->at) {
        const size_t bytes = strcspn(list->at, ",");
        *partition = partition_named(slurm->spec, list->at, bytes);
        list->at += bytes;
        list->at += *list->at == ',';
        if (*partition != UINT32_MAX) return true;
    }
    return false;
}

bool slurm_enqueue(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                   int64_t now_ns)
{
    const struct live_job *job = &view->live->jobs[live];
    const struct job_words *words = view->jobs->words ? &view->jobs->words[job->row] : NULL;
    struct slurm_queue_job entry = { .live = live,
                                     .row = job->row,
                                     .qos = slurm_owner_of(slurm, view, job->row).qos,
                                     .reserved = words && words->reservation != TEXT_NONE,
                                     .submit_ns = job->submit_ns };
    struct slurm_partitions list = slurm_partitions_of(slurm, view, job->row);
    while (slurm_partitions_next(slurm, &list, &entry.partition)) {
        if (!enqueue_in(slurm, view, entry, now_ns)) return false;
        entry.listed++;
    }
    return true;
}

/* ---- the picture ----------------------------------------------------------------------------- */

void slurm_dirty_job(struct slurm *slurm, const struct policy_view *view, uint32_t live)
{
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = view->cluster->grants[row].next) {
        const uint32_t node = view->cluster->grants[row].node;
        slurm->dirty[node / 64] |= UINT64_C(1) << (node % 64);
    }
}

static void read_node(struct slurm *slurm, const struct policy_view *view, uint32_t node)
{
    slurm_future_forget(slurm, node);
    slurm_picture_read_node(&slurm->picture, view->cluster, node);
    slurm_sleep_seen(slurm, view, node);
    slurm_vacancy_changed(&slurm->vacancy, node);
}

void slurm_refresh(struct slurm *slurm, const struct policy_view *view)
{
    bool any = slurm->all_dirty;
    for (uint32_t w = 0; w < slurm->nodes.words && !any; w++) any = slurm->dirty[w] != 0;
    if (!any) return;
    if (slurm->all_dirty)
        memcpy(slurm->dirty, slurm->nodes.all, slurm->nodes.words * sizeof *slurm->dirty);
    for (uint32_t w = 0; w < slurm->nodes.words; w++)
        for (uint64_t bits = slurm->dirty[w]; bits; bits &= bits - 1)
            read_node(slurm, view, w * 64 + (uint32_t)__builtin_ctzll(bits));
    if (slurm->ending_kept > 0) slurm_ending_draw(slurm, slurm->dirty);
    memset(slurm->dirty, 0, slurm->nodes.words * sizeof *slurm->dirty);
    slurm->all_dirty = false;
}
