/* verdict_service.c - the verdict's sentences about completion, saturation, unserved jobs and faults. */
#include "report/verdict.h"

#include "report/prose.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- completion of large jobs ---- */

/* "31 % later on sparse2 [23, 39]" */
static void write_later(const struct group *group, uint32_t row, struct interval later)
{
    const double mean = 100 * fabs(later.mean), half = 100 * later.half;
    const char *word = later.mean < 0 ? "earlier" : "later";
    const int decimals = prose_decimals(half, 0);
    char name[LABEL_BYTES];
    group_name(group, row, name);
    if (later.mean == 0)
        fprintf(group->out, "at the same time on %s", name);
    else if (group->c->exact)
        fprintf(group->out, "%.*f %% %s on %s", prose_decimals(mean, 1), mean, word, name);
    else
        fprintf(group->out, "%.*f %% %s on %s [%.*f, %.*f]", decimals, mean, word, name, decimals,
                mean - half, decimals, mean + half);
}

/* "on sparse4 [5.9 % earlier to 0.3 % later]", with enough digits that neither end reads as 0. */
static void write_untold(const struct group *group, uint32_t row, struct interval later)
{
    const double low = 100 * (later.mean - later.half), high = 100 * (later.mean + later.half);
    char name[LABEL_BYTES];
    int decimals = prose_decimals(fmin(-low, high), 0);
    if (decimals > 2) decimals = 2;
    fprintf(group->out, "on %s ", group_name(group, row, name));
    if (isnan(later.half))
        fprintf(group->out, "[1 replica: %.1f %% %s]", 100 * fabs(later.mean),
                later.mean < 0 ? "earlier" : "later");
    else
        fprintf(group->out, "[%.*f %% earlier to %.*f %% later]", decimals, -low, decimals, high);
}

/* The named layouts whose completion is compared with the baseline's. */
struct laters {
    struct interval interval[GROUP_NAMED];
    uint32_t row[GROUP_NAMED], told[GROUP_NAMED], told_count, untold[GROUP_NAMED], untold_count;
    uint32_t fewest; /* pairs */
};

static bool is_settled(struct interval later)
{
    return interval_excludes_zero(later) || (later.mean == 0 && later.half == 0);
}

static struct laters laters_of(const struct group *group)
{
    const struct comparison *c = group->c;
    struct laters laters = { .fewest = c->replica_count };
    for (uint32_t i = 0; i < group->named_count; i++) {
        const uint32_t row = group->named[i];
        if (row == group->baseline || comparison_saturated(c, row)) continue;
        const struct interval later = comparison_large(c, row, group->baseline, c->conf_difference);
        laters.row[i] = row;
        laters.interval[i] = later;
        if (later.n == 0) continue;
        if (later.n < laters.fewest) laters.fewest = later.n;
        if (is_settled(later))
            laters.told[laters.told_count++] = i;
        else
            laters.untold[laters.untold_count++] = i;
    }
    return laters;
}

static void write_laters(const struct group *group, const struct laters *laters)
{
    for (uint32_t i = 0; i < laters->told_count; i++) {
        fputs(prose_join(i, laters->told_count), group->out);
        write_later(group, laters->row[laters->told[i]], laters->interval[laters->told[i]]);
    }
    if (laters->untold_count == 0) return;
    fputs(laters->told_count > 0 ? "; it cannot be told "
                                 : "neither earlier nor later that can be told ",
          group->out);
    for (uint32_t i = 0; i < laters->untold_count; i++) {
        fputs(prose_join(i, laters->untold_count), group->out);
        write_untold(group, laters->row[laters->untold[i]], laters->interval[laters->untold[i]]);
    }
}

void verdict_completion(const struct group *group)
{
    const struct comparison *c = group->c;
    char name[LABEL_BYTES];
    if (group->baseline == LAYOUT_NONE || group->count == 1) return;
    if (comparison_saturated(c, group->baseline)) return;
    const struct laters laters = laters_of(group);
    if (laters.told_count + laters.untold_count == 0) {
        fprintf(group->out, " No pair finished %s%s.", comparison_large_words(c),
                c->common ? " that every layout can hold" : " on both layouts");
        return;
    }
    fprintf(group->out, " Compared with %s, %s%s finish %s",
            group_name(group, group->baseline, name), comparison_large_words(c),
            c->common ? " that every layout can hold" : "", c->exact ? "exactly " : "");
    write_laters(group, &laters);
    if (laters.fewest < c->replica_count)
        fprintf(group->out, " (%" PRIu32 " of %" PRIu32 " pairs)", laters.fewest, c->replica_count);
    fputc('.', group->out);
}

/* ---- saturation ---- */

/* "0.80", or "0.80 and 1.12" when they differ at two decimals. */
static void write_loads(const struct group *group, const uint32_t *rows, uint32_t count,
                        const double *loads)
{
    bool equal = true;
    for (uint32_t i = 1; i < count; i++) equal &= fabs(loads[rows[i]] - loads[rows[0]]) < 0.005;
    const uint32_t shown = equal ? 1 : count;
    for (uint32_t i = 0; i < shown; i++)
        fprintf(group->out, "%s%.2f", prose_join(i, shown), loads[rows[i]]);
}

void verdict_saturation(const struct group *group)
{
    const struct comparison *c = group->c;
    uint32_t rows[LIMIT_LAYOUTS * LIMIT_SLACKS], count = 0;
    for (uint32_t i = 0; i < group->count; i++)
        if (comparison_saturated(c, group->rows[i])) rows[count++] = group->rows[i];
    if (count == 0) return;
    const bool one = count == 1;
    fputc(' ', group->out);
    group_list(group, rows, count);
    fputs(", offered ", group->out);
    write_loads(group, rows, count, c->load);
    fputs(one ? " of its GPUs, " : " of their GPUs, ", group->out);
    if (!isnan(c->needs[rows[0]])) {
        fputs(one ? "needs " : "need ", group->out);
        write_loads(group, rows, count, c->needs);
        fputs(one ? " at its own speed" : " at their own speed", group->out);
    } else {
        fputs(one ? "is saturated" : "are saturated", group->out);
    }
    fprintf(group->out, ": %s waits grow with the horizon and are not quoted.",
            one ? "its" : "their");
}

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
                " can never hold %" PRIu64 " job%s of the trace (%.1f GPU-hours): %s count%s "
                "against %s as unserved.",
                layout->jobs_never_fit, layout->jobs_never_fit == 1 ? "" : "s",
                layout->unserved_gpu_s / 3600, layout->jobs_never_fit == 1 ? "it" : "they",
                layout->jobs_never_fit == 1 ? "s" : "", count == 1 ? "it" : "them");
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
    fputs("; faults cost ", group->out);
    for (uint32_t i = 0; i < group->named_count; i++)
        fprintf(group->out, "%s%.*f", prose_join(i, group->named_count), largest < 0.001 ? 3 : 2,
                100 * comparison_lost_share(group->c, group->named[i]));
    fputs(" % of the hours", group->out);
}

void verdict_faults(const struct group *group)
{
    const struct blast *parts[GROUP_NAMED];
    const char *failures = stored_meta(group->c->stored, "failures");
    double most = 0;
    for (uint32_t i = 0; i < group->named_count; i++) {
        parts[i] = &group->c->blasts[group->named[i] * BLAST_ROWS + BLAST_PARTS];
        if (parts[i]->incidents > 0 && parts[i]->p50 > most) most = parts[i]->p50;
    }
    if (most == 0) {
        const bool none = failures != NULL && strcmp(failures, "none") == 0;
        if (!none) fputs(" No fault of hardware is simulated.", group->out);
        return;
    }
    if (group->count > 1) {
        fputs(" On ", group->out);
        group_list(group, group->named, group->named_count);
    }
    fputs(group->count > 1 ? " a hardware fault takes " : " A hardware fault takes ", group->out);
    for (uint32_t i = 0; i < group->named_count; i++)
        fprintf(group->out, "%s%.3g", prose_join(i, group->named_count),
                parts[i]->incidents > 0 ? parts[i]->p50 : 0.0);
    fprintf(group->out, " GPU%s (median)", most == 1 ? "" : "s");
    write_losses(group);
    fputc('.', group->out);
}
