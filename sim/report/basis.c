/* basis.c - see basis.h. */
#include "report/basis.h"

#include "base/quantity.h"
#include "base/text.h"
#include "report/prose.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WEEK_DAYS = 7 }; /* fewer do not hold one of each weekday                               */

static const char *meta_or(const struct comparison *c, const char *key, const char *fallback)
{
    const char *value = stored_meta(c->stored, key);
    return value != NULL ? value : fallback;
}

/* Whether meta key "chance" lists a source of luck. */
static bool varies(const struct comparison *c, const char *source)
{
    return strstr(meta_or(c, "chance", ""), source) != NULL;
}

/* Days are drawn from those of the log: of a short one, the same few again and again. */
static void write_few_days(const struct comparison *c, FILE *out)
{
    const char *text = meta_or(c, "trace_days", "");
    double days = NAN;
    struct why why;
    if (!varies(c, "days") || !quantity_number(text, strlen(text), &days, &why)) return;
    if (days == 1)
        fputs(", from only 1 day", out);
    else if (days < WEEK_DAYS)
        fprintf(out, ", from only %.0f different days", days);
}

static void write_luck(const struct comparison *c, FILE *out)
{
    const char *sources[7];
    uint32_t count = 0;
    if (varies(c, "days")) sources[count++] = "days";
    if (varies(c, "jobs")) sources[count++] = "the order of jobs";
    if (varies(c, "faults")) sources[count++] = "faults";
    if (varies(c, "profiles")) sources[count++] = "job profiles";
    if (varies(c, "placement")) sources[count++] = "places of equal score";
    if (varies(c, "routing")) sources[count++] = "paths of flows";
    if (varies(c, "servers")) sources[count++] = "the speed of servers";
    if (count > 0) fputs(" for luck in ", out);
    for (uint32_t i = 0; i < count; i++) fprintf(out, "%s%s", prose_join(i, count), sources[i]);
    write_few_days(c, out);
    fputs(count == 0 || varies(c, "days") ? ", without model error."
                                          : ", without other days or model error.",
          out);
}

/* Why there are so many replicas, when a rule decided. */
static void write_stop(const struct comparison *c, FILE *out)
{
    const char *metric = stored_meta(c->stored, "until_metric");
    const char *stop = stored_meta(c->stored, "replicas_stop");
    if (metric == NULL || stop == NULL) return;
    const char *text = meta_or(c, "until_half_width_frac", "");
    double half_width_frac = NAN;
    struct why why;
    quantity_number(text, strlen(text), &half_width_frac, &why);
    char label[LABEL_BYTES];
    text_escape(metric, strlen(metric), label, sizeof label);
    if (strcmp(stop, "half_width") == 0)
        fprintf(out, " Replicas were added until %s was known within %.3g %% on every layout.",
                label, 100 * half_width_frac);
    else
        fprintf(out, " Replicas ended at their maximum: %s is not known within %.3g %% everywhere.",
                label, 100 * half_width_frac);
}

static void write_errors(const struct comparison *c, FILE *out)
{
    if (!c->complete) fputs("The run is not complete: this is what it has stored so far. ", out);
    if (c->exact) {
        fputs("Nothing is drawn by chance: one replica is exact and needs no interval.", out);
        return;
    }
    if (c->replica_count <= 1) {
        fputs("1 replica: no interval exists, and no difference can be told from luck.", out);
        return;
    }
    fprintf(out, "Brackets: %s95 %% over %" PRIu32 " replicas",
            c->group_layouts > 1 ? "joint " : "", c->replica_count);
    write_luck(c, out);
    write_stop(c, out);
}

/* The assumptions about one subject. */
struct subject {
    const char *name;
    const struct stored_assumption *rows[LIMIT_PROFILES + LIMIT_LAYOUTS];
    uint32_t count;
};

static struct subject subject_of(const struct comparison *c, const char *name)
{
    const struct stored_assumption *rows =
        LOG_ITEMS(&c->stored->assumptions, const struct stored_assumption);
    struct subject subject = { .name = name };
    for (uint64_t i = 0; i < c->stored->assumptions.count; i++)
        if (strcmp(rows[i].subject, name) == 0 &&
            subject.count < sizeof subject.rows / sizeof *subject.rows)
            subject.rows[subject.count++] = &rows[i];
    return subject;
}

/* Counts of them by how well they are known; one word where all are known alike. */
static void write_marks(const struct subject *subject, FILE *out)
{
    static const struct {
        const char *mark, *word;
    } words[] = {
        { "confirmed", "published and confirmed" },
        { "published", "published" },
        { "derived", "derived" },
        { "memory", "from memory" },
        { "assumed", "assumed" },
        { "stated", "stated in the scenario" },
        { "hypothetical", "hypothetical" },
    };
    uint32_t listed = 0;
    for (size_t word = 0; word < sizeof words / sizeof *words; word++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < subject->count; i++)
            count += strcmp(subject->rows[i]->mark, words[word].mark) == 0;
        if (count == subject->count && count > 0)
            fprintf(out, "%s%s", listed++ > 0 ? ", " : "", words[word].word);
        else if (count > 0)
            fprintf(out, "%s%" PRIu32 " %s", listed++ > 0 ? ", " : "", count, words[word].word);
    }
    if (listed == 0) fputs("no entry", out);
}

static void write_names(const struct subject *subject, FILE *out)
{
    char text[LABEL_BYTES];
    for (uint32_t i = 0; i < subject->count; i++) {
        const char *name = subject->rows[i]->name;
        fprintf(out, "%s%s", prose_join(i, subject->count),
                text_escape(name, strlen(name), text, sizeof text));
    }
}

/* " times 3", or nothing when the numbers are taken as they are. */
static void write_scale(const struct comparison *c, FILE *out, const char *key)
{
    const char *text = meta_or(c, key, "1");
    double scale = NAN;
    struct why why;
    quantity_number(text, strlen(text), &scale, &why);
    if (scale != 1) fprintf(out, " times %.4g", scale);
}

/* Without rates only an event of the scenario breaks anything. */
static bool has_incidents(const struct comparison *c)
{
    const struct quantity *incidents = comparison_find(c, "incidents", CLASS_NONE);
    for (uint32_t layout = 0; incidents != NULL && layout < c->layout_count; layout++)
        if (incidents->cells[layout].value.mean > 0) return true;
    return false;
}

enum { PROFILES_NAMED = 5 }; /* more are counted */

/* Jobs that name their profile, or all have one: the profiles are told, and no mix is drawn. */
static bool are_profiles_named(const struct comparison *c, const struct subject *profiles)
{
    const char *kind = meta_or(c, "communication", "none");
    const bool one = strcmp(kind, "profile") == 0 && profiles->count == 1 &&
                     strcmp(profiles->rows[0]->name, "inline") != 0;
    const bool named =
        strcmp(kind, "by_model_mix") == 0 && strcmp(meta_or(c, "profiles_drawn", "1"), "0") == 0;
    return profiles->count > 0 && profiles->count <= PROFILES_NAMED && (one || named);
}

/* "communication of profile 7b-sharded (assumed; steps of framework fsdp-h100: derived)" */
static void write_communication(const struct comparison *c, FILE *out)
{
    char text[LABEL_BYTES];
    const char *kind = meta_or(c, "communication", "none");
    const struct subject profiles = subject_of(c, "communication");
    const struct subject frameworks = subject_of(c, "framework");
    if (strcmp(kind, "none") == 0) {
        fputs("jobs that do not communicate", out);
        return;
    }
    const bool named = are_profiles_named(c, &profiles);
    if (named) {
        fprintf(out, "communication of profile%s ", profiles.count > 1 ? "s" : "");
        write_names(&profiles, out);
    } else {
        fprintf(out, "communication %s", text_escape(kind, strlen(kind), text, sizeof text));
    }
    write_scale(c, out, "communication_scale");
    fputs(named ? " (" : " (profiles ", out);
    write_marks(&profiles, out);
    if (frameworks.count > 0) {
        fprintf(out, "; steps of framework%s ", frameworks.count > 1 ? "s" : "");
        write_names(&frameworks, out);
        fputs(", ", out);
        write_marks(&frameworks, out);
        fputs(" from published runs", out);
    }
    fputs(!named && strcmp(kind, "by_model_mix") == 0 ? "; mix assumed)" : ")", out);
}

static void write_failures(const struct comparison *c, FILE *out)
{
    char text[LABEL_BYTES];
    const char *failures = meta_or(c, "failures", "none");
    const struct subject rates = subject_of(c, "failures");
    if (strcmp(failures, "none") == 0) {
        fputs(has_incidents(c) ? " and hardware that breaks only as the events say"
                               : " and hardware that never fails",
              out);
        return;
    }
    fprintf(out, " and failure rates %s",
            text_escape(failures, strlen(failures), text, sizeof text));
    write_scale(c, out, "failures_scale");
    fputs(" (", out);
    write_marks(&rates, out);
    fputc(')', out);
}

/* "start-up, checkpoints and stalls in them" */
static void write_contents(const struct comparison *c, FILE *out)
{
    static const struct {
        const char *word, *said;
    } parts[] = { { "startup", "start-up" },
                  { "checkpoint", "checkpoints" },
                  { "stalls", "stalls" } };
    const char *contains = meta_or(c, "durations_contain", "nothing");
    const char *in[3] = { NULL }, *lacking[3] = { NULL };
    uint32_t in_count = 0, lacking_count = 0;
    for (size_t i = 0; i < 3; i++)
        if (strstr(contains, parts[i].word) != NULL)
            in[in_count++] = parts[i].said;
        else
            lacking[lacking_count++] = parts[i].said;
    for (uint32_t i = 0; i < in_count; i++)
        fprintf(out, "%s%s%s", i == 0 ? " with " : "", prose_join(i, in_count), in[i]);
    for (uint32_t i = 0; i < lacking_count; i++)
        fprintf(out, "%s%s%s",
                i > 0          ? ""
                : in_count > 0 ? ", without "
                               : " without ",
                prose_join(i, lacking_count), lacking[i]);
}

/* What became of jobs that failed or were cancelled, where the log says which. */
static void write_failed(const struct comparison *c, FILE *out)
{
    const char *failed = meta_or(c, "trace_failed", "");
    if (failed[0] != '\0')
        fprintf(out, " Jobs that the log marks failed or cancelled are %s (trace.failed).",
                strcmp(failed, "drop") == 0 ? "left out" : "kept with the time they took");
}

/* Which rule turns a recorded duration into work (MODELS 3.10); nothing in databases that do not say. */
static void write_durations(const struct comparison *c, FILE *out)
{
    char text[LABEL_BYTES];
    const char *rule = meta_or(c, "durations", "");
    const char *on = meta_or(c, "recorded_on", "");
    const char *servers = meta_or(c, "recorded_servers", "");
    if (rule[0] == '\0') return;
    if (strcmp(rule, "none") == 0) {
        const bool startup = strstr(meta_or(c, "durations_contain", ""), "startup") != NULL;
        const bool costs = strcmp(meta_or(c, "communication", "none"), "none") != 0;
        fprintf(out, " Durations are taken as work that nothing slowed (recorded_on none)%s%s.",
                startup ? ", with start-up in it" : "",
                costs ? ": an upper bound of what a layout costs" : "");
        return;
    }
    fprintf(out, " Durations are as recorded on %s%s%s,", strcmp(servers, "0") == 0 ? "" : servers,
            strcmp(servers, "0") == 0 ? "" : " ", text_escape(on, strlen(on), text, sizeof text));
    write_contents(c, out);
    fputs(strcmp(rule, "recorded") == 0  ? ", each job on the nodes of the log (recorded)."
          : strcmp(rule, "compact") == 0 ? ", each job on the fewest servers (compact)."
                                         : ", each job on the nodes of the log or, without any, on "
                                           "the fewest (recorded, compact).",
          out);
}

static void write_basis(const struct comparison *c, FILE *out)
{
    fputs("It rests on ", out);
    write_communication(c, out);
    write_failures(c, out);
    fputc('.', out);
    write_failed(c, out);
    write_durations(c, out);
}

/* "1 of 4 rows of the log was skipped (no GPUs)." */
static void write_skipped(const struct comparison *c, FILE *out)
{
    const struct stored_import *rows = LOG_ITEMS(&c->stored->imports, const struct stored_import);
    uint64_t read = 0, skipped = 0;
    uint32_t reasons = 0, listed = 0;
    char reason[4 * sizeof rows->reason];
    for (uint64_t i = 0; i < c->stored->imports.count; i++) {
        if (strcmp(rows[i].outcome, "read") == 0) read += rows[i].rows;
        if (strcmp(rows[i].outcome, "skipped") != 0) continue;
        skipped += rows[i].rows;
        reasons++;
    }
    if (skipped == 0) return;
    fprintf(out, " %" PRIu64 " of %" PRIu64 " rows of the log %s skipped (", skipped, read,
            skipped == 1 ? "was" : "were");
    for (uint64_t i = 0; i < c->stored->imports.count; i++) {
        if (strcmp(rows[i].outcome, "skipped") != 0) continue;
        if (reasons > 1) fprintf(out, "%s%" PRIu64 " ", listed > 0 ? ", " : "", rows[i].rows);
        fputs(text_escape(rows[i].reason, strlen(rows[i].reason), reason, sizeof reason), out);
        listed++;
    }
    fputs(").", out);
}

void basis_write(const struct comparison *c, FILE *out)
{
    write_errors(c, out);
    write_skipped(c, out);
    fputc(' ', out);
    write_basis(c, out);
    fputc('\n', out);
}
