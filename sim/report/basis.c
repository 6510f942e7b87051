/* basis.c - see basis.h. */
#include "report/basis.h"

#include "base/quantity.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *meta_or(const struct comparison *c, const char *key, const char *fallback)
{
    const char *value = stored_meta(c->stored, key);
    return value != NULL ? value : fallback;
}

static void write_errors(const struct comparison *c, FILE *out)
{
    const bool days = strcmp(meta_or(c, "resample", "none"), "days") == 0;
    const bool faults = strcmp(meta_or(c, "failures", "none"), "none") != 0;
    if (!c->complete) fputs("The run is not complete: this is what it has stored so far. ", out);
    if (c->replica_count <= 1) {
        fputs("1 replica: no interval exists, and no difference can be told from luck.", out);
        return;
    }
    fprintf(out, "Brackets hold 95 %% intervals over %" PRIu32 " replicas", c->replica_count);
    if (c->group_layouts > 1)
        fprintf(out, ", jointly for %" PRIu32 " layouts and %d headline quantities",
                c->group_layouts, HEADLINES);
    if (days && faults)
        fputs("; they cover both sources of luck, the days of the trace and the faults", out);
    else if (days)
        fputs("; they cover the days of the trace; no failures are simulated", out);
    else if (faults)
        fputs("; they cover the faults alone, since the trace's days are not resampled", out);
    else
        fputs("; neither the trace's days nor faults vary between them", out);
    fputs(", not what the model leaves out.", out);
}

/* Counts of the assumptions about one subject by how well they are known. */
static void write_marks(const struct comparison *c, FILE *out, const char *subject)
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
    const struct stored_assumption *rows =
        LOG_ITEMS(&c->stored->assumptions, const struct stored_assumption);
    uint32_t listed = 0;
    for (size_t word = 0; word < sizeof words / sizeof *words; word++) {
        uint32_t count = 0;
        for (uint64_t i = 0; i < c->stored->assumptions.count; i++)
            count += strcmp(rows[i].subject, subject) == 0 &&
                     strcmp(rows[i].mark, words[word].mark) == 0;
        if (count > 0)
            fprintf(out, "%s%" PRIu32 " %s", listed++ > 0 ? ", " : "", count, words[word].word);
    }
    if (listed == 0) fputs("no entry", out);
}

static double scale_of(const struct comparison *c, const char *key)
{
    const char *text = meta_or(c, key, "");
    double scale = NAN;
    struct why why;
    quantity_number(text, strlen(text), &scale, &why);
    return scale;
}

static void write_basis(const struct comparison *c, FILE *out)
{
    char text[LABEL_BYTES];
    const char *communication = meta_or(c, "communication", "none");
    const char *failures = meta_or(c, "failures", "none");
    fputs("It rests on ", out);
    if (strcmp(communication, "none") == 0) {
        fputs("jobs that do not communicate", out);
    } else {
        fprintf(out, "communication %s, scale %.4g (profiles: ",
                text_escape(communication, strlen(communication), text, sizeof text),
                scale_of(c, "communication_scale"));
        write_marks(c, out, "communication");
        fputs("; which job has which is assumed)", out);
    }
    if (strcmp(failures, "none") == 0) {
        fputs(" and on hardware that never fails", out);
    } else {
        fprintf(out, " and on failure rates %s, scale %.4g (",
                text_escape(failures, strlen(failures), text, sizeof text),
                scale_of(c, "failures_scale"));
        write_marks(c, out, "failures");
        fputc(')', out);
    }
    fputs(". How far these may move before the verdict turns has not been computed.", out);
}

void basis_write(const struct comparison *c, FILE *out)
{
    write_errors(c, out);
    fputc(' ', out);
    write_basis(c, out);
    fputc('\n', out);
}
