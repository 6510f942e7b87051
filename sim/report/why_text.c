/* why_text.c - the story of a job in sentences and tables. */
#include "report/why_print.h"

#include "base/clock.h"
#include "base/quantity.h"
#include "base/text.h"
#include "report/prose.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

char *why_time(int64_t at_ns, char out[WHY_TIME_BYTES])
{
    const int64_t s = at_ns / NS_PER_S;
    snprintf(out, WHY_TIME_BYTES, "%" PRId64 "d %02d:%02d:%02d", s / 86400, (int)(s / 3600 % 24),
             (int)(s / 60 % 60), (int)(s % 60));
    return out;
}

char *why_length(int64_t length_ns, char out[WHY_TIME_BYTES])
{
    const int64_t shown_ns =
        length_ns >= NS_PER_S ? (length_ns + NS_PER_S / 2) / NS_PER_S * NS_PER_S : length_ns;
    return show_duration(shown_ns, out);
}

static const char *safe_id(const char *id, char out[128])
{
    return text_escape(id, strlen(id), out, 128);
}

#define GIB (INT64_C(1) << 30)

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- sentences ---- */

struct sentences {
    char *text;
    size_t bytes;
    FILE *memory;
};

static bool sentences_begin(struct sentences *s)
{
    *s = (struct sentences){ 0 };
    s->memory = open_memstream(&s->text, &s->bytes);
    return s->memory != NULL;
}

static void sentences_end(struct sentences *s, FILE *out)
{
    fclose(s->memory);
    if (s->text != NULL) prose_wrap(out, s->text, PROSE_COLUMNS);
    free(s->text);
}

static void tell_shape(const struct why_story *story, FILE *out)
{
    const struct detail_request *request = &story->request;
    if (story->job.gpus == 0 && request->known && request->share_units > 0)
        fprintf(out, "%.3g of a GPU", (double)request->share_units / UNITS_PER_GPU);
    else if (story->job.gpus == 0)
        fputs("no whole GPU", out);
    else
        fprintf(out, "%" PRIu32 " GPU%s", story->job.gpus, plural(story->job.gpus));
    if (request->known && request->nodes > 1)
        fprintf(out, " as %" PRIu32 " nodes of %" PRIu32, request->nodes, request->gpus_per_node);
    if (request->cores > 0)
        fprintf(out, ", %" PRIu32 " core%s", request->cores, plural(request->cores));
    if (request->memory_bytes > 0) {
        char size[SHOW_BYTES];
        if (request->memory_bytes % GIB == 0)
            fprintf(out, ", %" PRId64 " GiB", request->memory_bytes / GIB);
        else
            fprintf(out, ", %s", show_size((double)request->memory_bytes, size));
    }
}

static void tell_kinds(const struct why_story *story, FILE *out)
{
    char length[WHY_TIME_BYTES];
    for (uint32_t i = 0; i < story->kind_count; i++)
        fprintf(out, "%s%s %s", i == 0 ? "" : ", ", story->kinds[i].kind,
                why_length(story->kinds[i].length_ns, length));
}

static void tell_wait(const struct why_story *story, FILE *out)
{
    char length[WHY_TIME_BYTES], reason[128];
    const struct detail_job *job = &story->job;
    if (strcmp(job->outcome, "rejected") == 0)
        fprintf(out, "It was rejected: %s.\n",
                safe_id(job->reason ? job->reason : "no reason is stored", reason));
    if (story->wait_ns == 0) {
        if (job->first_start_ns < INT64_MAX) fputs("It started at once and never waited.\n", out);
        return;
    }
    if (job->first_start_ns == INT64_MAX)
        fprintf(out, "It waited %s and never started", why_length(story->wait_ns, length));
    else {
        fprintf(out, "It waited %s for its first start", why_length(story->first_wait_ns, length));
        if (story->wait_ns > story->first_wait_ns)
            fprintf(out, " and %s after that",
                    why_length(story->wait_ns - story->first_wait_ns, length));
    }
    fprintf(out, ", in %" PRIu64 " span%s: ", story->spans.count, plural(story->spans.count));
    tell_kinds(story, out);
    fputs(".\n", out);
}

static void tell_end(const struct why_story *story, FILE *out)
{
    char at[WHY_TIME_BYTES], outcome[128];
    const struct detail_job *job = &story->job;
    if (strcmp(job->outcome, "rejected") == 0) return;
    if (job->end_ns < INT64_MAX)
        fprintf(out, "It %s at %s", strcmp(job->outcome, "killed") == 0 ? "was killed" : "finished",
                why_time(job->end_ns, at));
    else
        fprintf(out, "It is %s when the run ends at %s", safe_id(job->outcome, outcome),
                why_time(story->run_end_ns, at));
    if (story->attempts.count > 1) fprintf(out, ", in its attempt %" PRIu64, story->attempts.count);
    fputs(".\n", out);
}

static void tell_elsewhere(const struct why_elsewhere *elsewhere, uint32_t count, FILE *out)
{
    char name[128], length[WHY_TIME_BYTES];
    for (uint32_t i = 0; i < count; i++) {
        fputs(i == 0 ? "Elsewhere: " : prose_join(i, count), out);
        if (elsewhere[i].wait_ns < 0)
            fprintf(out, "rejected on %s", safe_id(elsewhere[i].layout->name, name));
        else
            fprintf(out, "%s%s on %s", why_length(elsewhere[i].wait_ns, length),
                    elsewhere[i].started ? "" : " without a start",
                    safe_id(elsewhere[i].layout->name, name));
    }
    if (count > 0) fputs(".\n", out);
}

static void tell_head(const struct why_story *story, const struct why_elsewhere *elsewhere,
                      uint32_t count, FILE *out)
{
    char id[128], name[128], at[WHY_TIME_BYTES];
    struct sentences s;
    if (!sentences_begin(&s)) return;
    fprintf(s.memory, "Job %s on %s", safe_id(story->job.id, id),
            safe_id(story->layout->name, name));
    if (story->layout->slack != 0) {
        fputs(", slack ", s.memory);
        if (story->layout->slack < 0) fputs("any", s.memory);
        if (story->layout->slack > 0) fprintf(s.memory, "%" PRId32, story->layout->slack);
    }
    fprintf(s.memory, ", replica %" PRIu32 " (serial %" PRIu32 "): ", story->replica,
            story->job.serial);
    tell_shape(story, s.memory);
    fprintf(s.memory, ", submitted at %s.\n", why_time(story->job.submit_ns, at));
    tell_wait(story, s.memory);
    tell_end(story, s.memory);
    tell_elsewhere(elsewhere, count, s.memory);
    sentences_end(&s, out);
}

/* ---- spans ---- */

/* The length from which on spans are shown: at most WHY_SPANS_MAX of them. */
static int64_t shortest_shown(const struct log *spans)
{
    int64_t longest[WHY_SPANS_MAX + 1] = { 0 };
    for (uint64_t i = 0; i < spans->count; i++) {
        const struct wait_span *span = &LOG_ITEMS(spans, const struct wait_span)[i];
        const int64_t length_ns = span->to_ns - span->from_ns;
        uint32_t at = WHY_SPANS_MAX;
        if (length_ns <= longest[at]) continue;
        for (; at > 0 && longest[at - 1] < length_ns; at--) longest[at] = longest[at - 1];
        longest[at] = length_ns;
    }
    return longest[WHY_SPANS_MAX] + 1; /* the next one is left out */
}

static void print_span(const struct why_story *story, uint64_t row, FILE *out)
{
    char from[WHY_TIME_BYTES], to[WHY_TIME_BYTES], length[WHY_TIME_BYTES], word[160];
    const struct wait_span *span = &LOG_ITEMS(&story->spans, const struct wait_span)[row];
    fprintf(out, "%-15s  %-15s  %-12s  %9" PRIu32 "  %s", why_time(span->from_ns, from),
            why_time(span->to_ns, to), why_length(span->to_ns - span->from_ns, length),
            story->idle_gpus[row], wait_kind(span));
    if (span->word != NULL && strcasecmp(span->word, wait_kind(span)) != 0)
        fprintf(out, " (%s)", text_escape(span->word, strlen(span->word), word, 28));
    fputc('\n', out);
}

static void print_spans(const struct why_story *story, FILE *out)
{
    if (story->spans.count == 0) return;
    fprintf(out, "\n%-15s  %-15s  %-12s  %9s  %s\n", "from", "to", "length", "GPUs idle",
            "waits for");
    const int64_t least_ns = shortest_shown(&story->spans);
    uint64_t left_out = 0;
    int64_t left_out_ns = 0;
    for (uint64_t i = 0; i < story->spans.count; i++) {
        const struct wait_span *span = &LOG_ITEMS(&story->spans, const struct wait_span)[i];
        if (span->to_ns - span->from_ns >= least_ns) {
            print_span(story, i, out);
            continue;
        }
        left_out++;
        left_out_ns += span->to_ns - span->from_ns;
    }
    char length[WHY_TIME_BYTES];
    if (left_out > 0)
        fprintf(out, "and %" PRIu64 " shorter span%s, %s together (--json has them all)\n",
                left_out, plural(left_out), why_length(left_out_ns, length));
}

/* ---- what it lacked ---- */

static void tell_faults(const struct why_story *story, FILE *out)
{
    const struct detail_fault *rows = LOG_ITEMS(&story->faults, const struct detail_fault);
    if (story->faults.count == 0) return;
    fprintf(out, "%" PRIu64 " fault%s of GPUs and servers %s not repaired then, on node",
            story->faults.count, plural(story->faults.count),
            story->faults.count == 1 ? "was" : "were");
    const uint64_t shown =
        story->faults.count < WHY_HOLDERS_MAX ? story->faults.count : WHY_HOLDERS_MAX;
    for (uint64_t i = 0; i < shown; i++)
        fprintf(out, "%s %" PRIu32, i > 0 ? "," : "", rows[i].node);
    fputs(shown < story->faults.count ? ", ...\n" : ".\n", out);
}

/* Why idle GPUs do not help: what binds is not the GPU. */
static const char *what_binds(const struct wait_span *span)
{
    const char *kind = wait_kind(span);
    if (strcmp(kind, "cores") == 0) return ", but not with the cores it needs beside them";
    if (strcmp(kind, "memory") == 0) return ", but not with the memory it needs beside them";
    if (strcmp(kind, "host") == 0)
        return ", but not with the cores and memory it needs beside them";
    if (span->word && strcmp(span->word, "TopologyAffinityError") == 0)
        return ", but not on as few sockets as hold it when the node is empty";
    return "";
}

/* A gang holds GPUs before it starts, so what is idle says nothing. */
static void tell_half_placed(const struct why_story *story, FILE *out)
{
    char from[WHY_TIME_BYTES], to[WHY_TIME_BYTES];
    fprintf(
        out,
        "From %s to %s it held GPUs for some of its pods, or was about to, while the others found "
        "no room.\n",
        why_time(story->main_span->from_ns, from), why_time(story->main_span->to_ns, to));
}

static void tell_needed(const struct why_story *story, FILE *out)
{
    char at[WHY_TIME_BYTES], id[128];
    const struct detail_request *request = &story->request;
    const struct wait_span *span = story->main_span;
    fprintf(out, "When its longest span of %s", wait_kind(span));
    if (span->word != NULL && strcasecmp(span->word, wait_kind(span)) != 0)
        fprintf(out, " (%s)", safe_id(span->word, id));
    fprintf(out, " began, at %s, it needed ", why_time(span->from_ns, at));
    if (request->gpus_per_node == 0)
        tell_shape(story, out);
    else
        fprintf(out, "%" PRIu32 " node%s with %" PRIu32 " GPU%s free%s", request->nodes,
                plural(request->nodes), request->gpus_per_node, plural(request->gpus_per_node),
                request->nodes > 1 ? " on each" : "");
    if (story->job.gpus == 0)
        fputs(".\n", out); /* parts of GPUs lie in no row of held GPUs */
    else
        fprintf(out, "; %" PRIu32 " of %" PRIu32 " GPUs were idle%s.\n",
                story->idle_gpus[span - LOG_ITEMS(&story->spans, const struct wait_span)],
                story->layout->gpus, what_binds(span));
    if (story->has_head && story->head.serial != story->job.serial)
        fprintf(out, "Of all that waited, job %s (%" PRIu32 " GPUs, %s) was submitted first.\n",
                safe_id(story->head.id, id), story->head.gpus, why_time(story->head.submit_ns, at));
    tell_faults(story, out);
    if (story->holders.count == 0) return;
    if (story->fits_ns < INT64_MAX && story->fits_ns < story->run_end_ns)
        fprintf(out, "The nodes that fitted soonest were free at %s; until then they were held by",
                why_time(story->fits_ns, at));
    else
        fputs("The nodes nearest to fitting were held by", out);
    fputs("\n", out);
}

static void print_holders(const struct why_story *story, FILE *out)
{
    char id[128], at[WHY_TIME_BYTES];
    const struct holder *rows = LOG_ITEMS(&story->holders, const struct holder);
    if (story->holders.count == 0) return;
    fprintf(out, "  %-32s  %5s  %5s  %s\n", "job", "GPUs", "nodes", "until");
    uint64_t shown = 0;
    for (; shown < story->holders.count && shown < WHY_HOLDERS_MAX; shown++) {
        fputs("  ", out);
        prose_pad(out, safe_id(rows[shown].id, id), 32);
        fprintf(out, "  %5" PRIu32 "  %5" PRIu32 "  %s\n", rows[shown].gpus, rows[shown].nodes,
                rows[shown].until_ns < INT64_MAX ? why_time(rows[shown].until_ns, at)
                                                 : "the end of the run");
    }
    if (shown < story->holders.count)
        fprintf(out, "  and %" PRIu64 " more job%s\n", story->holders.count - shown,
                plural(story->holders.count - shown));
}

/* Whoever waits for a job, an hour or a hand would not start on an empty cluster either. */
static bool waits_for_room(const struct wait_span *span)
{
    static const char *const others[] = { "dependency", "begin time", "hold", "restart" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(wait_kind(span), others[i]) == 0) return false;
    return true;
}

static void print_lack(const struct why_story *story, FILE *out)
{
    struct sentences s;
    if (story->main_span == NULL || !waits_for_room(story->main_span)) return;
    if (!sentences_begin(&s)) return;
    if (story->main_span->word != NULL && strcmp(story->main_span->word, "WaitingForPods") == 0)
        tell_half_placed(story, s.memory);
    else
        tell_needed(story, s.memory);
    fputc('\n', out);
    sentences_end(&s, out);
    print_holders(story, out);
}

/* ---- after the start ---- */

static void print_attempts(const struct why_story *story, FILE *out)
{
    char from[WHY_TIME_BYTES], to[WHY_TIME_BYTES], length[WHY_TIME_BYTES], outcome[128];
    const struct detail_attempt *rows = LOG_ITEMS(&story->attempts, const struct detail_attempt);
    if (story->attempts.count == 0) return;
    fprintf(out, "\n%7s  %-15s  %-15s  %-12s  %5s  %5s  %s\n", "attempt", "from", "to", "length",
            "nodes", "GPUs", "ended");
    for (uint64_t i = 0; i < story->attempts.count; i++) {
        fprintf(out, "%7" PRIu32 "  %-15s  %-15s  %-12s  %5" PRIu32 "  %5" PRIu32 "  %s",
                rows[i].attempt + 1, why_time(rows[i].start_ns, from), why_time(rows[i].end_ns, to),
                why_length(rows[i].end_ns - rows[i].start_ns, length), rows[i].servers,
                rows[i].gpus_held, safe_id(rows[i].outcome, outcome));
        if (rows[i].fault_ns < INT64_MAX)
            fprintf(out, ", broken at %s", why_time(rows[i].fault_ns, from));
        fputc('\n', out);
    }
}

static void print_accounts(const struct why_story *story, FILE *out)
{
    double gpu_h[ACCOUNTS], sum = 0;
    for (int account = 0; account < ACCOUNTS; account++) {
        gpu_h[account] = (double)story->unit_ns[account] / ((double)UNITS_PER_GPU * 3600e9);
        sum += gpu_h[account];
    }
    if (!(sum > 0)) return;
    fprintf(out, "\n%-18s  %14s  %7s\n", "GPU-time", "GPU-h", "share");
    for (int account = 0; account < ACCOUNTS; account++)
        if (story->unit_ns[account] != 0)
            fprintf(out, "%-18s  %14.3f  %5.1f %%\n", account_names[account], gpu_h[account],
                    100 * gpu_h[account] / sum);
    fprintf(out, "%-18s  %14.3f\n", "all", sum);
}

/* "all-reduce from attempt 1 on: ring, bound by nic"; attempts of the same say it once. */
static void print_choices(const struct why_story *story, FILE *out)
{
    const struct detail_attempt *rows = LOG_ITEMS(&story->attempts, const struct detail_attempt);
    char algorithm[128], bottleneck[128];
    const char *gap = "\n";
    for (uint64_t i = 0; i < story->attempts.count; i++) {
        if (rows[i].algorithm == NULL || rows[i].bottleneck == NULL) continue;
        if (i > 0 && rows[i - 1].algorithm && rows[i - 1].bottleneck &&
            strcmp(rows[i].algorithm, rows[i - 1].algorithm) == 0 &&
            strcmp(rows[i].bottleneck, rows[i - 1].bottleneck) == 0)
            continue;
        fprintf(out, "%sall-reduce from attempt %" PRIu32 " on: %s, bound by %s\n", gap,
                rows[i].attempt + 1, safe_id(rows[i].algorithm, algorithm),
                safe_id(rows[i].bottleneck, bottleneck));
        gap = "";
    }
}

void why_text(const struct why_story *story, const struct why_elsewhere *elsewhere, uint32_t count,
              FILE *out)
{
    tell_head(story, elsewhere, count, out);
    print_spans(story, out);
    print_lack(story, out);
    print_attempts(story, out);
    print_choices(story, out);
    print_accounts(story, out);
}

/* ---- lists ---- */

static void print_line(const struct why_story *story, FILE *out)
{
    char id[128], outcome[128], at[WHY_TIME_BYTES], length[WHY_TIME_BYTES];
    prose_pad(out, safe_id(story->job.id, id), 24);
    fprintf(out, "  %7" PRIu32 "  %5" PRIu32 "  %-15s  %-12s ", story->job.serial, story->job.gpus,
            why_time(story->job.submit_ns, at), why_length(story->first_wait_ns, length));
    if (story->kind_count == 0) fprintf(out, " %s", safe_id(story->job.outcome, outcome));
    for (uint32_t i = 0; i < story->kind_count && i < 2; i++)
        fprintf(out, "%s %s %.0f %%", i > 0 ? "," : "", story->kinds[i].kind,
                100.0 * (double)story->kinds[i].length_ns / (double)story->wait_ns);
    fputc('\n', out);
}

void why_list_text(const struct why_story *stories, uint64_t count, FILE *out)
{
    fprintf(out, "%-24s  %7s  %5s  %-15s  %-12s  %s\n", "job", "serial", "GPUs", "submitted",
            "first wait", "waits for");
    for (uint64_t i = 0; i < count; i++) print_line(&stories[i], out);
}
