/* wait_spans.c - see wait_spans.h. */
#include "report/wait_spans.h"

#include "base/clock.h"

#include <string.h>

/* The last row at or before at_ns, or NULL. */
static const struct told *told_at(struct told_rows told, int64_t at_ns)
{
    uint64_t low = 0, high = told.count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (told.rows[middle].from_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &told.rows[low - 1] : NULL;
}

/* When something is told next behind at_ns, at most end_ns. */
static int64_t next_told(struct told_rows told, int64_t at_ns, int64_t end_ns)
{
    const struct told *last = told_at(told, at_ns);
    const uint64_t next = last ? (uint64_t)(last - told.rows) + 1 : 0;
    if (next == told.count || told.rows[next].from_ns >= end_ns) return end_ns;
    return told.rows[next].from_ns;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool goes_on(const struct wait_span *last, const struct wait_span *span)
{
    return same(wait_kind(last), wait_kind(span)) && same(last->word, span->word);
}

/* Lengthens the last span when this one goes on with it. Slurm's main pass says Priority, and backfill half a second later
 * what it said before: that is the order of its passes, not a reason. The view wait_span has such rows. */
static bool keep(struct log *spans, const struct wait_span *span, bool is_first)
{
    struct wait_span *last =
        is_first ? NULL : &LOG_ITEMS(spans, struct wait_span)[spans->count - 1];
    if (last && goes_on(last, span)) {
        last->to_ns = span->to_ns;
        return true;
    }
    if (last && same(last->word, "Priority") && last->to_ns - last->from_ns < NS_PER_S &&
        spans->count > 1 && last[-1].behind == span->behind && goes_on(&last[-1], span)) {
        last[-1].to_ns = span->to_ns;
        spans->count--;
        return true;
    }
    return log_append(spans, span);
}

bool wait_spans_cut(const struct wait *waits, uint64_t wait_count, struct told_rows causes,
                    struct told_rows words, struct log *spans)
{
    for (uint64_t i = 0; i < wait_count; i++)
        for (int64_t at_ns = waits[i].from_ns; at_ns < waits[i].to_ns;) {
            const struct told *cause = told_at(causes, at_ns), *word = told_at(words, at_ns);
            struct wait_span span = { .from_ns = at_ns,
                                      .to_ns = next_told(causes, at_ns, waits[i].to_ns),
                                      .behind = waits[i].behind,
                                      .cause = cause ? cause->text : NULL,
                                      .word = word ? word->text : NULL };
            /* While it may not start, what its request waits for is told by others, if at all. */
            if (same(span.word, "restart")) span.cause = NULL;
            const int64_t word_until_ns = next_told(words, at_ns, waits[i].to_ns);
            if (word_until_ns < span.to_ns) span.to_ns = word_until_ns;
            if (!keep(spans, &span, at_ns == waits[i].from_ns)) return false;
            at_ns = span.to_ns;
        }
    return true;
}

/* Beginnings of the words of Slurm and Kubernetes; "" as kind: the cause of the request says more. */
static const struct {
    const char *word, *kind;
} kinds[] = {
    { "restart", "restart" },
    { "suspended", "suspended" },
    { "blocked", "hold" },
    { "Resources", "" },
    { "Unschedulable", "" },
    { "Insufficient", "" },
    { "WaitingForPods", "" }, /* a gang that holds a part of what it needs */
    { "Preempting", "" },     /* its victims have not left yet */
    { "Terminating", "restart" },
    { "Priority", "priority" },
    { "Dependency", "dependency" },
    { "BeginTime", "begin time" },
    { "JobHeld", "hold" },
    { "SchedulingGated", "hold" },
    { "Suspended", "hold" },
    { "JobArrayTaskLimit", "limit" },
    { "QOS", "limit" },
    { "Assoc", "limit" },
    { "PartitionTimeLimit", "limit" },
    { "PartitionNodeLimit", "limit" },
    { "Quota", "limit" },
    { "ReqNodeNotAvail, May be reserved", "reservation" },
    { "ReqNodeNotAvail, Reserved", "reservation" },
    { "ReqNodeNotAvail", "down nodes" },
    { "PartitionDown", "down nodes" },
    { "NodeDown", "down nodes" },
    { "Nodes required", "down nodes" },
    { "Reservation", "reservation" },
    { "InvalidReservation", "reservation" },
    { "Topology", "topology" },
};

/* Causes as the engine names them; a text of another kind comes from a damaged file and is never shown. */
static const char *const causes_known[] = { "resources", "down nodes",  "fragmentation",
                                            "cores",     "memory",      "host",
                                            "priority",  "reservation", "policy" };

static const char *cause_known(const char *cause)
{
    for (size_t i = 0; cause && i < sizeof causes_known / sizeof *causes_known; i++)
        if (strcmp(cause, causes_known[i]) == 0) return causes_known[i];
    return "unknown";
}

const char *wait_kind(const struct wait_span *span)
{
    const char *cause = cause_known(span->cause);
    if (!span->word) return cause;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(span->word, kinds[i].word, strlen(kinds[i].word)) == 0)
            return kinds[i].kind[0] != '\0'       ? kinds[i].kind
                   : strcmp(cause, "policy") == 0 ? "resources" /* what it says itself, then */
                                                  : cause;
    return "policy";
}
