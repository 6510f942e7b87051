/* verdict_faults.c - the verdict's sentences about jobs that are never served and about faults. */
#include "report/verdict.h"

#include "report/prose.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- jobs that a layout can never hold ---- */

static bool same_unserved(const struct stored_layout *a, const struct stored_layout *b)
{
    return a->jobs_never_fit == b->jobs_never_fit &&
           fabs(a->unserved_gpu_s - b->unserved_gpu_s) < 1;
}

/* Layouts with the same number share a sentence. */
void verdict_unserved(const struct group *group)
{
    const struct stored_layout *layouts = group->c->stored->layouts;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct stored_layout *layout = &layouts[group->rows[i]];
        uint32_t rows[LIMIT_LAYOUTS * LIMIT_SLACKS], count = 0;
        bool said = layout->jobs_never_fit == 0;
        for (uint32_t j = 0; j < i; j++) said |= same_unserved(layout, &layouts[group->rows[j]]);
        for (uint32_t j = i; !said && j < group->count; j++)
            if (same_unserved(layout, &layouts[group->rows[j]])) rows[count++] = group->rows[j];
        if (said) continue;
        fputc(' ', group->out);
        group_list(group, rows, count);
        fprintf(group->out,
                " can never hold %" PRIu64 " job%s (%.1f GPU-hours) of the trace: %s count%s "
                "against %s as unserved.",
                layout->jobs_never_fit, layout->jobs_never_fit == 1 ? "" : "s",
                layout->unserved_gpu_s / 3600, layout->jobs_never_fit == 1 ? "it" : "they",
                layout->jobs_never_fit == 1 ? "s" : "", count == 1 ? "it" : "them");
    }
}

static double mean_of(const struct comparison *c, const char *name, uint32_t layout)
{
    const struct quantity *quantity = comparison_find(c, name, CLASS_NONE);
    return quantity != NULL ? quantity->cells[layout].value.mean : NAN;
}

/* Jobs that the plan took and the scheduler did not: by its own rules no node, no queue or no quota holds them, or nobody waits. */
void verdict_turned_away(const struct group *group)
{
    char name[LABEL_BYTES];
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t row = group->rows[i];
        const double jobs = mean_of(group->c, "jobs_rejected", row);
        if (group->c->stored->layouts[row].jobs_never_fit > 0 || !(jobs > 0)) continue;
        fprintf(group->out,
                " On %s %.*f job%s (%.1f GPU-hours)%s turned away when submitted, which counts "
                "against it as unserved.",
                comparison_label(group->c, row, name), jobs == floor(jobs) ? 0 : 1, jobs,
                jobs == 1 ? "" : "s", mean_of(group->c, "unserved_gpu_h", row),
                jobs == 1 ? " is" : " are");
    }
}

/* ---- failures ---- */

static void write_losses(const struct group *group)
{
    double largest = 0;
    for (uint32_t i = 0; i < group->named_count; i++) {
        const double share = comparison_lost_share(group->c, group->named[i]);
        if (isnan(share)) return;
        if (share > largest) largest = share;
    }
    if (largest == 0) return;
    fputs("; lost work and repairs cost ", group->out);
    for (uint32_t i = 0; i < group->named_count; i++)
        fprintf(group->out, "%s%.*f", prose_join(i, group->named_count), largest < 0.001 ? 3 : 2,
                100 * comparison_lost_share(group->c, group->named[i]));
    fputs(" % of the hours", group->out);
}

/* Faults of hardware in the failure-only runs of the named layouts. */
struct faults {
    uint64_t took, took_none;
    bool spread; /* some layout's faults are not all of one size */
    double p50[GROUP_NAMED], mean[GROUP_NAMED],
        most[GROUP_NAMED]; /* GPUs that one takes; 0 without faults */
    double gpus_per_year[GROUP_NAMED];
};

static struct faults faults_of(const struct group *group)
{
    struct faults faults = { .took = 0 };
    for (uint32_t i = 0; i < group->named_count; i++) {
        const struct blast *part = &group->c->blasts[group->named[i] * BLAST_ROWS + BLAST_PARTS];
        faults.took += part->incidents;
        faults.took_none += part->took_none;
        if (part->incidents == 0) continue;
        faults.p50[i] = part->p50;
        faults.mean[i] = part->mean.mean;
        faults.most[i] = part->max;
        faults.gpus_per_year[i] = part->per_year * part->mean.mean;
        faults.spread |= part->mean.mean != part->max;
    }
    return faults;
}

static void number_text(double number, char out[32])
{
    snprintf(out, 32, number < 1000 ? "%.3g" : "%.0f", number);
}

/* "8.46, 12.7 and 12.9"; once when all read alike. */
static void write_numbers(const struct group *group, const double *numbers)
{
    char first[32], text[32];
    bool alike = true;
    number_text(numbers[0], first);
    for (uint32_t i = 1; i < group->named_count; i++) {
        number_text(numbers[i], text);
        alike &= strcmp(text, first) == 0;
    }
    const uint32_t count = alike ? 1 : group->named_count;
    for (uint32_t i = 0; i < count; i++) {
        number_text(numbers[i], text);
        fprintf(group->out, "%s%s", prose_join(i, count), text);
    }
}

/* A median of one server's GPUs hides the switch that takes hundreds: mean and largest are told, too. */
static void write_sizes(const struct group *group, const struct faults *faults)
{
    double largest = 0;
    for (uint32_t i = 0; i < group->named_count; i++) largest = fmax(largest, faults->most[i]);
    fputs(group->count > 1 ? " a hardware fault takes " : " A hardware fault takes ", group->out);
    write_numbers(group, faults->p50);
    fprintf(group->out, " GPU%s", largest == 1 ? "" : "s");
    if (faults->spread) {
        fputs(" (median), on average ", group->out);
        write_numbers(group, faults->mean);
        fputs(" and at most ", group->out);
        write_numbers(group, faults->most);
    }
    fputs("; all faults of a year take ", group->out);
    write_numbers(group, faults->gpus_per_year);
}

static void write_no_blast(const struct group *group, const struct faults *faults)
{
    const char *failures = stored_meta(group->c->stored, "failures");
    const bool off = failures != NULL && strcmp(failures, "none") == 0;
    if (faults->took_none > 0)
        fprintf(group->out, " None of %" PRIu64 " hardware faults took a GPU.", faults->took_none);
    else if (!off)
        fputs(" No fault of hardware is simulated.", group->out);
}

void verdict_faults(const struct group *group)
{
    const struct faults faults = faults_of(group);
    if (faults.took == 0) {
        write_no_blast(group, &faults);
        return;
    }
    if (group->count > 1) {
        fputs(" On ", group->out);
        group_list(group, group->named, group->named_count);
    }
    write_sizes(group, &faults);
    write_losses(group);
    fputc('.', group->out);
    if (faults.took_none > 0)
        fprintf(group->out,
                " Of %" PRIu64 " simulated faults %" PRIu64
                " are left out: what they hit was out of service already.",
                faults.took + faults.took_none, faults.took_none);
}
