/* verdict.c - see verdict.h. Each function writes one sentence. */
#include "report/verdict.h"

#include "base/text.h"
#include "report/basis.h"
#include "report/prose.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct group { /* the layouts of one slack                                    */
    const struct comparison *c;
    FILE *out;
    int32_t slack;
    uint32_t rows[LIMIT_LAYOUTS * LIMIT_SLACKS], count;
    uint32_t baseline; /* row of the comparison, or LAYOUT_NONE                       */
};

static struct group group_of(const struct comparison *c, int32_t slack, FILE *out)
{
    struct group group = { .c = c, .out = out, .slack = slack, .baseline = LAYOUT_NONE };
    for (uint32_t i = 0; i < c->layout_count; i++)
        if (c->stored->layouts[i].slack == slack) {
            group.rows[group.count++] = i;
            group.baseline = c->baseline[i];
        }
    return group;
}

static const char *name_of(const struct group *group, uint32_t row, char out[LABEL_BYTES])
{
    const char *name = group->c->stored->layouts[row].name;
    return text_escape(name, strlen(name), out, LABEL_BYTES);
}

static bool overloaded(const struct comparison *c, uint32_t row)
{
    return c->load[row] >= 1;
}

/* ---- yield ---- */

uint32_t verdict_best(const struct comparison *c, int32_t slack)
{
    const struct group group = group_of(c, slack, NULL);
    const struct quantity *yield = comparison_find(c, "yield", CLASS_NONE);
    uint32_t best = LAYOUT_NONE;
    if (yield == NULL) return best;
    if (group.baseline != LAYOUT_NONE && yield->cells[group.baseline].value.n > 0)
        best = group.baseline;
    for (uint32_t i = 0; i < group.count; i++) {
        const struct interval value = yield->cells[group.rows[i]].value;
        if (value.n > 0 && (best == LAYOUT_NONE || value.mean > yield->cells[best].value.mean))
            best = group.rows[i];
    }
    return best;
}

static void write_gpus(const struct group *group)
{
    const struct stored_layout *layouts = group->c->stored->layouts;
    char name[LABEL_BYTES];
    bool equal = true;
    for (uint32_t i = 0; i < group->count; i++)
        equal &= layouts[group->rows[i]].gpus == layouts[group->rows[0]].gpus;
    if (equal) {
        fprintf(group->out, "At %" PRIu32 " GPUs%s, ", layouts[group->rows[0]].gpus,
                group->count > 1 ? " each" : "");
        return;
    }
    fputs("With ", group->out);
    for (uint32_t i = 0; i < group->count; i++)
        fprintf(group->out, "%s%" PRIu32 " GPUs on %s", prose_join(i, group->count),
                layouts[group->rows[i]].gpus, name_of(group, group->rows[i], name));
    fputs(", ", group->out);
}

/* How much less than the best, as an interval that says whether it can be told. */
static void write_less(FILE *out, struct interval less)
{
    const int decimals = prose_decimals(less.half, 3);
    const double low = less.mean - less.half, high = less.mean + less.half;
    if (less.n == 0)
        fputs("[no pair: cannot tell]", out);
    else if (less.n == 1)
        fputs("[no interval (1 replica): cannot tell]", out);
    else if (less.mean == 0 && less.half == 0)
        fputs("[exactly the same]", out);
    else if (interval_excludes_zero(less))
        fprintf(out, "[%.*f to %.*f less]", decimals, low, decimals, high);
    else
        fprintf(out, "[cannot tell: from %.*f more to %.*f less]", decimals, fabs(low), decimals,
                high);
}

/* Who yields the most, as far as it can be told: the best alone, the best with those whose difference
 * to it holds 0, or nobody. */
static void write_winner(const struct group *group, const struct quantity *yield, uint32_t best)
{
    uint32_t near[LIMIT_LAYOUTS * LIMIT_SLACKS], count = 0;
    char name[LABEL_BYTES];
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t row = group->rows[i];
        if (row != best &&
            !interval_excludes_zero(
                comparison_pair(group->c, yield, best, row, group->c->conf_any).difference))
            near[count++] = row;
    }
    if (count + 1 == group->count) {
        fputs("which layout yields the most cannot be told", group->out);
        return;
    }
    fprintf(group->out, "%s yields the most", name_of(group, best, name));
    for (uint32_t i = 0; i < count; i++)
        fprintf(group->out, "%s%s", i == 0 ? ", but cannot be told from " : prose_join(i, count),
                name_of(group, near[i], name));
}

static void write_one_yield(const struct group *group, const struct quantity *yield, uint32_t row)
{
    const struct interval value = yield->cells[row].value;
    char name[LABEL_BYTES];
    fprintf(group->out, "a held GPU-hour does %.3f useful hours on %s", value.mean,
            name_of(group, row, name));
    if (value.n > 1)
        fprintf(group->out, " [%.3f, %.3f].", value.mean - value.half, value.mean + value.half);
    else
        fputs(" [no interval (1 replica)].", group->out);
}

static void write_yield(const struct group *group)
{
    const struct quantity *yield = comparison_find(group->c, "yield", CLASS_NONE);
    const uint32_t best = verdict_best(group->c, group->slack);
    char name[LABEL_BYTES];
    if (best == LAYOUT_NONE) {
        fputs("no replica is stored yet: there is nothing to compare.", group->out);
        return;
    }
    if (group->count == 1) {
        write_one_yield(group, yield, best);
        return;
    }
    write_winner(group, yield, best);
    fprintf(group->out, ": a held GPU-hour does %.3f useful hours on %s",
            yield->cells[best].value.mean, name_of(group, best, name));
    uint32_t listed = 1;
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t row = group->rows[i];
        if (row == best) continue;
        const struct interval less =
            comparison_pair(group->c, yield, best, row, group->c->conf_any).difference;
        fprintf(group->out, "%s%.3f on %s ", prose_join(listed++, group->count),
                yield->cells[row].value.mean, name_of(group, row, name));
        write_less(group->out, less);
    }
    fputc('.', group->out);
}

/* ---- completion of large jobs ---- */

/* Both ends in percent, low <= 0 <= high, with enough digits that neither reads as 0. */
static void write_untold(FILE *out, const char *name, double low, double high)
{
    int decimals = prose_decimals(fmin(-low, high), 0);
    if (decimals > 2) decimals = 2;
    fprintf(out,
            "neither earlier nor later that can be told on %s"
            " [from %.*f %% earlier to %.*f %% later]",
            name, decimals, -low, decimals, high);
}

static void write_later(FILE *out, const char *name, struct interval later)
{
    const double mean = 100 * later.mean, half = 100 * later.half;
    const int decimals = prose_decimals(half, 0);
    if (later.n < 2)
        fprintf(out, "%.1f %% %s on %s [no interval (1 replica): cannot tell]", fabs(mean),
                mean < 0 ? "earlier" : "later", name);
    else if (mean == 0 && half == 0)
        fprintf(out, "at exactly the same time on %s", name);
    else if (!interval_excludes_zero(later))
        write_untold(out, name, mean - half, mean + half);
    else if (mean > 0)
        fprintf(out, "%.*f %% later on %s [%.*f, %.*f]", decimals, mean, name, decimals,
                mean - half, decimals, mean + half);
    else
        fprintf(out, "%.*f %% earlier on %s [%.*f, %.*f]", decimals, -mean, name, decimals,
                -mean - half, decimals, -mean + half);
}

static void write_overload(const struct group *group)
{
    char name[LABEL_BYTES];
    uint32_t count = 0, listed = 0;
    for (uint32_t i = 0; i < group->count; i++) count += overloaded(group->c, group->rows[i]);
    if (count == 0) return;
    fputs(" The offered load is ", group->out);
    for (uint32_t i = 0; i < group->count; i++)
        if (overloaded(group->c, group->rows[i]))
            fprintf(group->out, "%s%.2f on %s", prose_join(listed++, count),
                    group->c->load[group->rows[i]], name_of(group, group->rows[i], name));
    fputs(": waits and completion there grow with the horizon and are not quoted.", group->out);
}

static void write_completion(const struct group *group)
{
    const uint32_t base = group->baseline;
    char name[LABEL_BYTES];
    uint32_t count = 0, listed = 0, fewest = group->c->replica_count;
    struct interval later[LIMIT_LAYOUTS * LIMIT_SLACKS];
    if (base == LAYOUT_NONE) return;
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t row = group->rows[i];
        later[i] = (struct interval){ 0 };
        if (row == base || overloaded(group->c, row) || overloaded(group->c, base)) continue;
        later[i] = comparison_large(group->c, row, base, group->c->conf_difference);
        if (later[i].n == 0) continue;
        count++;
        if (later[i].n < fewest) fewest = later[i].n;
    }
    if (count > 0) {
        fprintf(group->out, " Compared with %s, jobs of 16 GPUs and more finish ",
                name_of(group, base, name));
        for (uint32_t i = 0; i < group->count; i++) {
            if (later[i].n == 0) continue;
            fputs(prose_join(listed++, count), group->out);
            write_later(group->out, name_of(group, group->rows[i], name), later[i]);
        }
        if (fewest < group->c->replica_count)
            fprintf(group->out,
                    " (over %" PRIu32 " of %" PRIu32 " pairs; the others had no such job)", fewest,
                    group->c->replica_count);
        fputc('.', group->out);
    } else if (group->count > 1 && !overloaded(group->c, base)) {
        fputs(" No pair finished jobs of 16 GPUs and more on both layouts.", group->out);
    }
    write_overload(group);
}

/* ---- failures ---- */

static void write_losses(const struct group *group)
{
    double largest = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        const double share = comparison_lost_share(group->c, group->rows[i]);
        if (isnan(share)) return;
        if (share > largest) largest = share;
    }
    fputs(group->count > 1 ? "; the layouts lose " : "; the layout loses ", group->out);
    for (uint32_t i = 0; i < group->count; i++)
        fprintf(group->out, "%s%.*f", prose_join(i, group->count), largest < 0.001 ? 3 : 2,
                100 * comparison_lost_share(group->c, group->rows[i]));
    fputs(" % of their hours to rolled-back work, broken and draining GPUs", group->out);
}

static void write_blast(const struct group *group)
{
    char name[LABEL_BYTES];
    uint32_t count = 0, listed = 0;
    for (uint32_t i = 0; i < group->count; i++)
        count += group->c->blasts[group->rows[i] * BLAST_ROWS + BLAST_PARTS].incidents > 0;
    if (count == 0) {
        fputs(" No fault of hardware is simulated.", group->out);
        return;
    }
    fputs(" A fault of hardware takes ", group->out);
    for (uint32_t i = 0; i < group->count; i++) {
        const struct blast *blast = &group->c->blasts[group->rows[i] * BLAST_ROWS + BLAST_PARTS];
        if (blast->incidents == 0) continue;
        fprintf(group->out, "%s%.3g GPU%s on %s", prose_join(listed++, count), blast->p50,
                blast->p50 == 1 ? "" : "s", name_of(group, group->rows[i], name));
    }
    fputs(" (median)", group->out);
    write_losses(group);
    fputc('.', group->out);
}

/* ---- what must be said beside it ---- */

static void write_unserved(const struct group *group)
{
    char name[LABEL_BYTES];
    for (uint32_t i = 0; i < group->count; i++) {
        const struct stored_layout *layout = &group->c->stored->layouts[group->rows[i]];
        if (layout->jobs_never_fit == 0) continue;
        fprintf(group->out,
                " %s can never hold %" PRIu64 " jobs of the trace (%.1f GPU-hours): they count"
                " against it as unserved.",
                name_of(group, group->rows[i], name), layout->jobs_never_fit,
                layout->unserved_gpu_s / 3600);
    }
}

static void write_hardware(const struct group *group)
{
    const struct stored_layout *layouts = group->c->stored->layouts;
    const struct stored_layout *first = &layouts[group->rows[0]];
    bool gpu = false, link = false;
    for (uint32_t i = 1; i < group->count; i++) {
        gpu |= strcmp(layouts[group->rows[i]].gpu_type, first->gpu_type) != 0;
        link |= strcmp(layouts[group->rows[i]].link_type, first->link_type) != 0;
    }
    if (gpu || link)
        fprintf(group->out, " The layouts differ in their %s, and the differences hold that too.",
                gpu && link ? "GPU models and links"
                : gpu       ? "GPU models"
                            : "links");
}

static void write_hypothetical(const struct group *group)
{
    const struct stored_layout *layouts = group->c->stored->layouts;
    char name[LABEL_BYTES];
    uint32_t count = 0, listed = 0;
    for (uint32_t i = 0; i < group->count; i++) count += layouts[group->rows[i]].hypothetical;
    if (count == 0) return;
    fputs(count == 1 ? " The server of " : " The servers of ", group->out);
    for (uint32_t i = 0; i < group->count; i++)
        if (layouts[group->rows[i]].hypothetical)
            fprintf(group->out, "%s%s", prose_join(listed++, count),
                    name_of(group, group->rows[i], name));
    fputs(count == 1 ? " is hypothetical: nobody sells it."
                     : " are hypothetical: nobody sells them.",
          group->out);
}

/* ---- all of it ---- */

static void write_other_slacks(const struct comparison *c, FILE *out)
{
    const struct stored_layout *layouts = c->stored->layouts;
    for (uint32_t i = 1; i < c->layout_count; i++) {
        bool seen = false;
        for (uint32_t j = 0; j < i; j++) seen |= layouts[j].slack == layouts[i].slack;
        if (seen) continue;
        struct group group = group_of(c, layouts[i].slack, out);
        if (group.slack < 0)
            fputs("With slack any (a job takes any servers rather than wait): ", out);
        else
            fprintf(out, "With slack %" PRId32 " (up to so many servers more rather than wait): ",
                    group.slack);
        write_yield(&group);
        fputc('\n', out);
    }
}

void verdict_write(const struct comparison *c, FILE *out)
{
    const struct group group = group_of(c, c->stored->layouts[0].slack, out);
    write_gpus(&group);
    write_yield(&group);
    if (verdict_best(c, group.slack) != LAYOUT_NONE) {
        write_completion(&group);
        write_blast(&group);
    }
    write_unserved(&group);
    write_hardware(&group);
    write_hypothetical(&group);
    fputc('\n', out);
    write_other_slacks(c, out);
    basis_write(c, out);
}
