/* verdict_service.c - the verdict's sentences about completion, waits and saturation. */
#include "report/verdict.h"

#include "report/prose.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- completion of large jobs ---- */

/* "31 % later on sparse2 [23, 39]". Nothing ends more than 100 % earlier, whatever the interval says. */
static void write_later(const struct group *group, uint32_t row, struct interval later)
{
    const double mean = 100 * fabs(later.mean), half = 100 * later.half;
    const char *word = later.mean < 0 ? "earlier" : "later";
    int decimals = prose_decimals(half, 0);
    char name[LABEL_BYTES];
    if (mean < 0.5) decimals = prose_decimals(mean, decimals); /* what is told does not read as 0 */
    group_name(group, row, name);
    if (group->c->exact)
        fprintf(group->out, "%.*f %% %s on %s", prose_decimals(mean, 1), mean, word, name);
    else
        fprintf(group->out, "%.*f %% %s on %s [%.*f, %.*f]", decimals, mean, word, name, decimals,
                mean - half, decimals, later.mean < 0 ? fmin(mean + half, 100) : mean + half);
}

/* "on sparse4 [5.9 % earlier to 0.3 % later]", with enough digits that neither end reads as 0. */
static void write_untold(const struct group *group, uint32_t row, struct interval later)
{
    const double low = 100 * (later.mean - later.half), high = 100 * (later.mean + later.half);
    char name[LABEL_BYTES], replicas[REPLICAS_BYTES];
    int decimals = prose_decimals(fmin(-low, high), 0);
    if (decimals > 2) decimals = 2;
    fprintf(group->out, "on %s ", group_name(group, row, name));
    /* Nothing ends more than 100 % earlier: an interval that says so holds no information. */
    if (isnan(later.half) || low < -100)
        fprintf(group->out, "[%s: %.1f %% %s]", group_replicas(group, later.n, replicas),
                100 * fabs(later.mean), later.mean < 0 ? "earlier" : "later");
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
    uint32_t same[GROUP_NAMED], same_count = 0, apart[GROUP_NAMED], apart_count = 0;
    for (uint32_t i = 0; i < laters->told_count; i++) {
        const uint32_t told = laters->told[i];
        if (laters->interval[told].mean == 0)
            same[same_count++] = laters->row[told];
        else
            apart[apart_count++] = told;
    }
    if (same_count > 0) fputs("at the same time on ", group->out);
    group_list(group, same, same_count);
    for (uint32_t i = 0; i < apart_count; i++) {
        const bool first_after = i == 0 && same_count > 0, last = i + 1 == apart_count;
        fputs(!first_after ? prose_join(i, apart_count) : last ? ", and " : ", ", group->out);
        write_later(group, laters->row[apart[i]], laters->interval[apart[i]]);
    }
    if (laters->untold_count == 0) return;
    if (laters->told_count > 0) fputs("; it cannot be told ", group->out);
    for (uint32_t i = 0; i < laters->untold_count; i++) {
        fputs(prose_join(i, laters->untold_count), group->out);
        write_untold(group, laters->row[laters->untold[i]], laters->interval[laters->untold[i]]);
    }
}

void verdict_completion(const struct group *group)
{
    const struct comparison *c = group->c;
    char name[LABEL_BYTES], replicas[REPLICAS_BYTES];
    if (group->baseline == LAYOUT_NONE || group->count == 1) return;
    if (comparison_saturated(c, group->baseline)) return;
    const struct laters laters = laters_of(group);
    if (laters.told_count + laters.untold_count == 0) {
        fprintf(group->out, " No pair finished %s%s.", comparison_large_words(c),
                c->common ? " that every layout can hold" : " on both layouts");
        return;
    }
    const char *held = c->common ? " that every layout can hold" : "";
    group_name(group, group->baseline, name);
    if (laters.told_count > 0)
        fprintf(group->out, " Compared with %s, %s%s finish %s", name, comparison_large_words(c),
                held, c->exact ? "exactly " : "");
    else
        fprintf(group->out, " Whether %s%s finish earlier or later than on %s cannot be told ",
                comparison_large_words(c), held, name);
    write_laters(group, &laters);
    if (laters.fewest < c->replica_count)
        fprintf(group->out, " (%s)", group_replicas(group, laters.fewest, replicas));
    fputc('.', group->out);
}

/* ---- waits ---- */

/* Unit in which a time reads best. */
struct time_unit {
    double s;
    const char *name;
};

static struct time_unit unit_of(double longest_s)
{
    if (longest_s >= 2 * 3600) return (struct time_unit){ 3600, "h" };
    if (longest_s >= 120) return (struct time_unit){ 60, "min" };
    return (struct time_unit){ 1, "s" };
}

/* "1.9 h longer on sparse4 [0.8, 2.9]" */
static void write_longer(const struct group *group, uint32_t row, struct interval longer,
                         struct time_unit unit)
{
    const double mean = fabs(longer.mean) / unit.s, half = longer.half / unit.s;
    const int decimals = prose_decimals(half > 0 ? half : mean, 1);
    char name[LABEL_BYTES];
    group_name(group, row, name);
    fprintf(group->out, "%.*f %s %s on %s", decimals, mean, unit.name,
            longer.mean > 0 ? "longer" : "shorter", name);
    if (!group->c->exact)
        fprintf(group->out, " [%.*f, %.*f]", decimals, mean - half, decimals, mean + half);
}

/* Differences to the baseline, those that can be told. */
static void write_longers(const struct group *group, const struct quantity *wait,
                          struct time_unit unit)
{
    uint32_t told[GROUP_NAMED], count = 0, compared = 0, same = 0;
    for (uint32_t i = 0; i < group->named_count; i++) {
        const uint32_t row = group->named[i];
        const struct interval longer = wait->cells[row].pair.difference;
        if (row == group->baseline || comparison_saturated(group->c, row) || longer.n == 0)
            continue;
        compared++;
        same += longer.mean == 0 && longer.half == 0;
        if (interval_excludes_zero(longer)) told[count++] = row;
    }
    if (compared > 0)
        fputs(count > 0          ? "; it is "
              : same == compared ? ", as on the others"
                                 : "; no difference to it can be told",
              group->out);
    for (uint32_t i = 0; i < count; i++) {
        fputs(prose_join(i, count), group->out);
        write_longer(group, told[i], wait->cells[told[i]].pair.difference, unit);
    }
}

/* The longest time of the sentence: the wait on the baseline, or how much longer or shorter it is on another. */
static double longest_told(const struct group *group, const struct quantity *wait, double value_s)
{
    double longest = value_s;
    for (uint32_t i = 0; i < group->named_count; i++) {
        const uint32_t row = group->named[i];
        const struct interval longer = wait->cells[row].pair.difference;
        if (row == group->baseline || group->baseline == LAYOUT_NONE || longer.n == 0 ||
            comparison_saturated(group->c, row) || !interval_excludes_zero(longer))
            continue;
        longest = fmax(longest, fabs(longer.mean));
    }
    return longest;
}

void verdict_waits(const struct group *group)
{
    const struct comparison *c = group->c;
    const struct quantity *wait = comparison_find_common(c, "wait_s_p95", CLASS_NONE);
    const uint32_t base = group->baseline != LAYOUT_NONE ? group->baseline : group->best;
    char name[LABEL_BYTES], replicas[REPLICAS_BYTES];
    if (wait == NULL || comparison_saturated(c, base) || wait->cells[base].value.n == 0) return;
    const struct interval value = wait->cells[base].value;
    const struct time_unit unit = unit_of(longest_told(group, wait, value.mean));
    fprintf(group->out, " The p95 wait of %s is %.1f %s",
            c->common ? "the jobs that every layout can hold" : "all jobs", value.mean / unit.s,
            unit.name);
    if (group->count > 1) fprintf(group->out, " on %s", group_name(group, base, name));
    if (value.n < c->replica_count)
        fprintf(group->out, " (%s)", group_replicas(group, value.n, replicas));
    if (group->baseline != LAYOUT_NONE) write_longers(group, wait, unit);
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

/* Whether GPUs that are out of service change what the layouts need. */
static bool are_some_out(const struct group *group, const uint32_t *rows, uint32_t count)
{
    const struct quantity *asked = comparison_find(group->c, "effective_load", CLASS_NONE);
    bool out = false;
    for (uint32_t i = 0; asked != NULL && i < count; i++)
        out |= group->c->needs[rows[i]] - asked->cells[rows[i]].value.mean >= 0.005;
    return out;
}

/* Jobs that nothing to come lets end: what they asked for says nothing of the layout. */
void verdict_stuck(const struct group *group)
{
    char name[LABEL_BYTES];
    for (uint32_t i = 0; i < group->count; i++) {
        const double jobs = comparison_stuck(group->c, group->rows[i]);
        if (!(jobs > 0)) continue;
        fprintf(group->out,
                " On %s %.*f job%s can never end: nothing is to come that would let %s go on, and "
                "its numbers are those up to then (gpuplan why tells what the jobs wait for).",
                comparison_label(group->c, group->rows[i], name), jobs == floor(jobs) ? 0 : 1, jobs,
                jobs == 1 ? "" : "s", jobs == 1 ? "it" : "them");
    }
}

void verdict_saturation(const struct group *group)
{
    const struct comparison *c = group->c;
    uint32_t rows[LIMIT_LAYOUTS * LIMIT_SLACKS], count = 0;
    for (uint32_t i = 0; i < group->count; i++)
        if (comparison_saturated(c, group->rows[i]) && !(comparison_stuck(c, group->rows[i]) > 0))
            rows[count++] = group->rows[i];
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
        fputs(are_some_out(group, rows, count) ? " of those in service" : "", group->out);
        fputs(one ? " at its own speed" : " at their own speed", group->out);
    } else {
        fputs(one ? "is saturated" : "are saturated", group->out);
    }
    fprintf(group->out, ": %s waits grow with the horizon and are not quoted.",
            one ? "its" : "their");
}
