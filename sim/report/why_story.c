/* why_story.c - see why_story.h. */
#include "report/why_story.h"

#include <stdlib.h>
#include <string.h>

static enum status no_memory(struct diag *diag)
{
    return diag_world(diag, "out of memory while reading why a job waited");
}

static int64_t or_else(int64_t at_ns, int64_t else_ns)
{
    return at_ns < INT64_MAX ? at_ns : else_ns;
}

/* ---- waits ---- */

static bool add_wait(struct why_story *story, int64_t from_ns, int64_t to_ns, uint32_t behind)
{
    const struct wait wait = { from_ns, to_ns, behind };
    if (from_ns >= to_ns) return true;
    story->wait_ns += to_ns - from_ns;
    if (behind == 0) story->first_wait_ns += to_ns - from_ns;
    return log_append(&story->waits, &wait);
}

/* Before each attempt, and behind the last one when it waits again. One that its node refused is no start. */
static bool find_waits(struct why_story *story)
{
    const struct detail_attempt *rows = LOG_ITEMS(&story->attempts, const struct detail_attempt);
    int64_t since_ns = story->job.submit_ns;
    uint32_t behind = 0;
    for (uint32_t i = 0; i < story->attempts.count; i++) {
        if (!add_wait(story, since_ns, rows[i].start_ns, behind)) return false;
        since_ns = rows[i].end_ns;
        behind += strcmp(rows[i].outcome, "refused") != 0;
    }
    return add_wait(story, since_ns, or_else(story->job.end_ns, story->run_end_ns), behind);
}

static void add_kind(struct why_story *story, const struct wait_span *span)
{
    const char *kind = wait_kind(span);
    uint32_t row = 0;
    while (row < story->kind_count && strcmp(story->kinds[row].kind, kind) != 0) row++;
    if (row == WAIT_KINDS_MAX) return; /* there are fewer kinds */
    if (row == story->kind_count)
        story->kinds[story->kind_count++] = (struct kind_sum){ kind, 0, 0 };
    story->kinds[row].length_ns += span->to_ns - span->from_ns;
    story->kinds[row].spans++;
}

/* Longest first; equal ones stay in order of appearance. */
static void sort_kinds(struct why_story *story)
{
    for (uint32_t i = 1; i < story->kind_count; i++) {
        const struct kind_sum kind = story->kinds[i];
        uint32_t at = i;
        for (; at > 0 && story->kinds[at - 1].length_ns < kind.length_ns; at--)
            story->kinds[at] = story->kinds[at - 1];
        story->kinds[at] = kind;
    }
}

/* told_rows wants what detail_told is. */
_Static_assert(sizeof(struct told) == sizeof(struct detail_told), "rows of one form");

static struct told_rows rows_of(const struct log *told)
{
    return (struct told_rows){ LOG_ITEMS(told, const struct told), told->count };
}

static enum status cut_waits(struct why_story *story, struct diag *diag)
{
    struct log causes = { 0 }, words = { 0 };
    enum status status =
        store_detail_causes(story->detail, story->job.request, story->job.submit_ns,
                            or_else(story->job.end_ns, story->run_end_ns), &causes);
    if (status == STATUS_OK) status = store_detail_words(story->detail, story->job.serial, &words);
    if (status == STATUS_OK &&
        !wait_spans_cut(LOG_ITEMS(&story->waits, const struct wait), story->waits.count,
                        rows_of(&causes), rows_of(&words), &story->spans))
        status = no_memory(diag);
    log_clear(&causes);
    log_clear(&words);
    return status;
}

enum status why_story_waits(struct why_story *story, struct diag *diag)
{
    log_init(&story->waits, sizeof(struct wait), 0);
    log_init(&story->spans, sizeof(struct wait_span), 0);
    TRY(store_detail_attempts(story->detail, story->job.serial, &story->attempts));
    TRY(store_detail_kept(story->detail, story->job.serial, &story->kept));
    if (!find_waits(story)) return no_memory(diag);
    TRY(cut_waits(story, diag));
    const struct wait_span *spans = LOG_ITEMS(&story->spans, const struct wait_span);
    for (uint64_t i = 0; i < story->spans.count; i++) add_kind(story, &spans[i]);
    sort_kinds(story);
    for (uint64_t i = 0; i < story->spans.count; i++) {
        if (strcmp(wait_kind(&spans[i]), story->kinds[0].kind) != 0) continue;
        if (story->main_span == NULL ||
            spans[i].to_ns - spans[i].from_ns > story->main_span->to_ns - story->main_span->from_ns)
            story->main_span = &spans[i];
    }
    return STATUS_OK;
}

/* ---- idle GPUs ---- */

/* The first span that begins at or behind at_ns. */
static uint64_t first_span(const struct log *spans, int64_t at_ns)
{
    uint64_t low = 0, high = spans->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (LOG_ITEMS(spans, const struct wait_span)[middle].from_ns < at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Held GPUs as differences from span to span, summed up. */
static enum status count_idle(struct why_story *story, struct diag *diag)
{
    const uint64_t count = story->spans.count;
    int64_t *more = calloc(count + 1, sizeof *more);
    story->idle_gpus = calloc(count + 1, sizeof *story->idle_gpus);
    struct log held = { 0 };
    enum status status = more && story->idle_gpus ? STATUS_OK : no_memory(diag);
    if (status == STATUS_OK && count > 0) {
        const struct wait_span *spans = LOG_ITEMS(&story->spans, const struct wait_span);
        status = store_detail_held(story->detail, spans[0].from_ns, spans[count - 1].to_ns, &held);
    }
    const struct detail_held *rows = LOG_ITEMS(&held, const struct detail_held);
    for (uint64_t i = 0; status == STATUS_OK && i < held.count; i++) {
        more[first_span(&story->spans, rows[i].from_ns)] += rows[i].gpus;
        more[first_span(&story->spans, rows[i].to_ns)] -= rows[i].gpus;
    }
    int64_t sum = 0;
    for (uint64_t i = 0; status == STATUS_OK && i < count; i++) {
        sum += more[i];
        if (sum >= 0 && sum <= story->layout->gpus)
            story->idle_gpus[i] = story->layout->gpus - (uint32_t)sum;
    }
    log_clear(&held);
    free(more);
    return status;
}

/* ---- who held what it needed ---- */

static bool is_one_of(const char *word, const char *const *words)
{
    if (word == NULL) return false;
    while (*words != NULL && strcmp(*words, word) != 0) words++;
    return *words != NULL;
}

static enum status find_soonest(struct why_story *story, const struct log *nodes, uint8_t *is_out,
                                const struct log *holdings, struct diag *diag)
{
    const struct detail_fault *faults = LOG_ITEMS(&story->faults, const struct detail_fault);
    for (uint64_t i = 0; i < story->faults.count; i++)
        if (faults[i].node < nodes->count) is_out[faults[i].node] = 1;
    const struct soonest soonest = {
        .request = &story->request,
        .node_gpus = LOG_ITEMS(nodes, const uint32_t),
        .is_out = is_out,
        .node_count = (uint32_t)nodes->count,
        .holdings = LOG_ITEMS(holdings, const struct detail_holding),
        .holding_count = holdings->count,
        .at_ns = story->main_span->from_ns,
    };
    return why_holders(&soonest, &story->holders, &story->fits_ns) ? STATUS_OK : no_memory(diag);
}

static enum status read_holders(struct why_story *story, struct diag *diag)
{
    static const char *const lacking[] = { "resources", "fragmentation", "down nodes", "topology",
                                           "cores",     "memory",        "host",       NULL };
    static const char *const queued[] = { "priority", "reservation", NULL };
    log_init(&story->holders, sizeof(struct holder), 0);
    story->fits_ns = INT64_MAX;
    if (story->main_span == NULL) return STATUS_OK;
    const int64_t at_ns = story->main_span->from_ns;
    TRY(store_detail_faults(story->detail, at_ns, &story->faults));
    /* A scheduler with words of its own orders its queue by its own rules. */
    if (is_one_of(story->main_span->cause, queued) && story->main_span->word == NULL)
        TRY(store_detail_head(story->detail, at_ns, &story->head, &story->has_head));
    if (!is_one_of(wait_kind(story->main_span), lacking) &&
        !is_one_of(story->main_span->cause, lacking))
        return STATUS_OK;
    struct log nodes = { 0 }, holdings = { 0 };
    enum status status = store_detail_nodes(story->detail, &nodes);
    if (status == STATUS_OK) status = store_detail_holdings(story->detail, at_ns, &holdings);
    uint8_t *is_out = calloc(nodes.count + 1, 1);
    if (status == STATUS_OK)
        status = is_out ? find_soonest(story, &nodes, is_out, &holdings, diag) : no_memory(diag);
    free(is_out);
    log_clear(&nodes);
    log_clear(&holdings);
    return status;
}

/* ---- all of it ---- */

/* A suspended attempt keeps its GPUs until the next one begins, or the job is over. */
static void sum_accounts(struct why_story *story)
{
    const struct detail_attempt *rows = LOG_ITEMS(&story->attempts, const struct detail_attempt);
    for (uint64_t i = 0; i < story->attempts.count; i++) {
        why_account(&rows[i], &story->kept, story->unit_ns);
        if (strcmp(rows[i].outcome, "suspended") != 0) continue;
        const int64_t until_ns = i + 1 < story->attempts.count
                                     ? rows[i + 1].start_ns
                                     : or_else(story->job.end_ns, story->run_end_ns);
        for (int account = 0; account < ACC_HELD_END; account++)
            story->unit_ns[ACC_HELD] +=
                (int128)rows[i].units[account] * (until_ns - rows[i].end_ns);
    }
}

enum status why_story_read(struct why_story *story, struct store_detail *detail,
                           const struct stored_layout *layout, const struct stored_replica *replica,
                           const struct detail_job *job, struct diag *diag)
{
    *story = (struct why_story){ .detail = detail,
                                 .layout = layout,
                                 .replica = (uint32_t)replica->replica,
                                 .run_end_ns = replica->run_end_ns,
                                 .job = *job };
    TRY(why_story_waits(story, diag));
    TRY(store_detail_request(detail, job->request, &story->request));
    TRY(count_idle(story, diag));
    TRY(read_holders(story, diag));
    sum_accounts(story);
    return STATUS_OK;
}

void why_story_clear(struct why_story *story)
{
    log_clear(&story->attempts);
    log_clear(&story->kept);
    log_clear(&story->waits);
    log_clear(&story->spans);
    log_clear(&story->holders);
    log_clear(&story->faults);
    free(story->idle_gpus);
    *story = (struct why_story){ 0 };
}
