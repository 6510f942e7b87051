/* verdict.c - see verdict.h. Each function writes one sentence. */
#include "report/verdict.h"

#include "report/basis.h"
#include "report/moves_text.h"
#include "report/prose.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- yield ---- */

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
    for (uint32_t i = 0; i < group->named_count; i++)
        fprintf(group->out, "%s%" PRIu32 " GPUs on %s", prose_join(i, group->named_count),
                layouts[group->named[i]].gpus, group_name(group, group->named[i], name));
    fputs(", ", group->out);
}

/* How much less than the best; who cannot be told from it is said in front. */
static void write_less(const struct group *group, struct interval less)
{
    FILE *out = group->out;
    const int decimals = prose_decimals(less.half, 3);
    const double low = less.mean - less.half, high = less.mean + less.half;
    char replicas[REPLICAS_BYTES];
    if (less.n == 0)
        fputs(" [no pair: cannot tell]", out);
    else if (isnan(less.half) || low < -1 || high > 1) /* yields lie between 0 and 1 */
        fprintf(out, " [%s: cannot tell]", group_replicas(group, less.n, replicas));
    else if (less.mean == 0 && less.half == 0)
        fputs(" [exactly the same]", out);
    else if (group->c->exact)
        fprintf(out, " [%.*f less]", prose_decimals(less.mean, 3), less.mean);
    else if (interval_excludes_zero(less))
        fprintf(out, " [%.*f to %.*f less]", decimals, low, decimals, high);
    else
        fprintf(out, " [%.*f more to %.*f less]", decimals, fabs(low), decimals, high);
}

static struct interval less_than_best(const struct group *group, uint32_t row)
{
    const struct quantity *yield = comparison_find(group->c, "yield", CLASS_NONE);
    return comparison_pair(group->c, yield, group->best, row, group->c->conf_any).difference;
}

/* Who yields the most, as far as it can be told: the best alone, the best with those whose difference
 * to it holds 0, or nobody. Whether the best is named. */
static bool write_winner(const struct group *group)
{
    uint32_t near[LIMIT_LAYOUTS * LIMIT_SLACKS], count = 0;
    char name[LABEL_BYTES];
    bool same = true;
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t row = group->rows[i];
        const struct interval less = less_than_best(group, row);
        same &= less.mean == 0 && less.half == 0;
        if (row != group->best && !interval_excludes_zero(less)) near[count++] = row;
    }
    if (count + 1 == group->count) {
        fputs(same ? "all layouts yield the same" : "which layout yields the most cannot be told",
              group->out);
        return false;
    }
    fprintf(group->out, "%s yields the most", group_name(group, group->best, name));
    if (count > 0) fputs(", but cannot be told from ", group->out);
    group_list(group, near, count < GROUP_NAMED ? count : GROUP_NAMED);
    if (count > GROUP_NAMED) fputs(" and others", group->out);
    return true;
}

static void write_one_yield(const struct group *group)
{
    const struct interval value =
        comparison_find(group->c, "yield", CLASS_NONE)->cells[group->best].value;
    char name[LABEL_BYTES], replicas[REPLICAS_BYTES];
    fprintf(group->out, "%s does %.3f useful hours per held GPU-hour",
            group_name(group, group->best, name), value.mean);
    if (value.half > 0)
        fprintf(group->out, " [%.3f, %.3f].", value.mean - value.half, value.mean + value.half);
    else if (isnan(value.half))
        fprintf(group->out, " [%s: no interval].", group_replicas(group, value.n, replicas));
    else
        fputs(", exactly.", group->out);
}

/* A difference of shares that is less is the rounding of equal numbers, or does not matter. */
static const double LEAST_MORE = 0.5e-8;

/* Held hours may be useful and few: who does more useful work with what it has is said with the winner. Where all jobs are
 * played to their end all do the same work, and the share of capacity tells the time it took. */
static void write_goodput(const struct group *group)
{
    const struct quantity *goodput = comparison_find(group->c, "goodput", CLASS_NONE);
    const uint32_t best = group->best;
    struct interval more = { .mean = NAN, .half = NAN };
    uint32_t most = LAYOUT_NONE;
    char name[LABEL_BYTES];
    for (uint32_t i = 0; goodput != NULL && !group->c->to_the_end && i < group->count; i++) {
        const uint32_t row = group->rows[i];
        const struct interval apart =
            comparison_pair(group->c, goodput, row, best, group->c->conf_any).difference;
        if (row == best || !interval_excludes_zero(apart) || !(apart.mean > LEAST_MORE)) continue;
        if (most != LAYOUT_NONE && !(apart.mean > more.mean)) continue;
        most = row;
        more = apart;
    }
    if (most == LAYOUT_NONE) return;
    const double most_share = 100 * goodput->cells[most].value.mean,
                 best_share = 100 * goodput->cells[best].value.mean;
    const int decimals =
        prose_decimals_apart(most_share, best_share, prose_decimals(100 * more.half, 1));
    fprintf(group->out, ", but %s does more useful work: %.*f %% of its capacity against %.*f %%",
            group_name(group, most, name), decimals, most_share, decimals, best_share);
    if (!group->c->exact)
        fprintf(group->out, " [%.*f to %.*f points more]", decimals, 100 * (more.mean - more.half),
                decimals, 100 * (more.mean + more.half));
}

/* The values of the others follow that of the best. */
static void write_yields(const struct group *group, bool best_named)
{
    const struct quantity *yield = comparison_find(group->c, "yield", CLASS_NONE);
    char name[LABEL_BYTES];
    fprintf(group->out, ": %s%.3f useful hours per held GPU-hour",
            group->c->exact ? "exactly " : "", yield->cells[group->best].value.mean);
    if (!best_named) fprintf(group->out, " on %s", group_name(group, group->best, name));
    uint32_t listed = 1;
    for (uint32_t i = 0; i < group->named_count; i++) {
        const uint32_t row = group->named[i];
        if (row == group->best) continue;
        fputs(prose_join(listed++, group->named_count), group->out);
        if (yield->cells[row].value.n > 0)
            fprintf(group->out, "%.3f on %s", yield->cells[row].value.mean,
                    group_name(group, row, name));
        else
            fprintf(group->out, "nothing known on %s", group_name(group, row, name));
        write_less(group, less_than_best(group, row));
    }
    const uint32_t others = group->count - group->named_count;
    if (others > 0)
        fprintf(group->out, "; %" PRIu32 " other%s, not named, yield%s no more", others,
                others == 1 ? "" : "s", others == 1 ? "s" : "");
    write_goodput(group);
    fputc('.', group->out);
}

static void write_yield(const struct group *group)
{
    if (group->best == LAYOUT_NONE && group->c->replica_count > 0)
        fputs("no job held a GPU inside the window: there is nothing to compare.", group->out);
    else if (group->best == LAYOUT_NONE)
        fputs("no replica is stored yet: there is nothing to compare.", group->out);
    else if (group->count == 1)
        write_one_yield(group);
    else
        write_yields(group, write_winner(group));
}

/* "dense8 yields 0.881, sparse4 0.876 [cannot tell] and sparse2 0.829": the best first. */
static void write_short(const struct group *group)
{
    if (group->best == LAYOUT_NONE) {
        fputs(group->c->replica_count > 0 ? "no job held a GPU." : "nothing is stored yet.",
              group->out);
        return;
    }
    const struct quantity *yield = comparison_find(group->c, "yield", CLASS_NONE);
    char name[LABEL_BYTES];
    uint32_t listed = 0;
    fprintf(group->out, "%s yields %.3f", group_name(group, group->best, name),
            yield->cells[group->best].value.mean);
    for (uint32_t i = 0; i < group->named_count; i++) {
        const uint32_t row = group->named[i];
        if (row == group->best) continue;
        const struct interval less = less_than_best(group, row);
        fprintf(group->out, "%s%s %.3f", prose_join(++listed, group->named_count),
                group_name(group, row, name), yield->cells[row].value.mean);
        if (!interval_excludes_zero(less))
            fputs(less.mean == 0 && less.half == 0 ? " [the same]" : " [cannot tell]", group->out);
    }
    fputc('.', group->out);
}

/* ---- what must be said beside it ---- */

static void write_hardware(const struct group *group)
{
    const struct stored_layout *layouts = group->c->stored->layouts;
    const struct stored_layout *first = &layouts[group->rows[0]];
    bool gpu = false, link = false, kind = false;
    for (uint32_t i = 1; i < group->count; i++) {
        gpu |= strcmp(layouts[group->rows[i]].gpu_type, first->gpu_type) != 0;
        link |= strcmp(layouts[group->rows[i]].link_type, first->link_type) != 0;
        kind |= strcmp(layouts[group->rows[i]].fabric_type, first->fabric_type) != 0;
    }
    const char *network = link ? "links" : kind ? "kinds of network" : NULL;
    if (gpu || network)
        fprintf(group->out,
                " The layouts differ in their %s%s%s, and the differences hold that too.",
                gpu ? "GPU models" : "", gpu && network ? " and " : "", network ? network : "");
}

static void write_hypothetical(const struct group *group)
{
    const struct stored_layout *layouts = group->c->stored->layouts;
    uint32_t rows[LIMIT_LAYOUTS * LIMIT_SLACKS], count = 0;
    for (uint32_t i = 0; i < group->count; i++)
        if (layouts[group->rows[i]].hypothetical) rows[count++] = group->rows[i];
    if (count == 0) return;
    fputs(count == 1 ? " The server of " : " The servers of ", group->out);
    group_list(group, rows, count);
    fputs(count == 1 ? " is hypothetical." : " are hypothetical.", group->out);
}

/* ---- all of it ---- */

static void write_other_slacks(const struct comparison *c, FILE *out)
{
    const struct stored_layout *layouts = c->stored->layouts;
    for (uint32_t i = 1; i < c->layout_count; i++) {
        bool seen = false;
        for (uint32_t j = 0; j < i; j++) seen |= layouts[j].slack == layouts[i].slack;
        if (seen) continue;
        const struct group group = group_of(c, layouts[i].slack, out);
        if (group.slack < 0)
            fputs(" With slack any ", out);
        else
            fprintf(out, " With slack %" PRId32 " ", group.slack);
        write_short(&group);
    }
}

void verdict_write(const struct comparison *c, const struct moves *moves, FILE *out)
{
    const struct group group = group_of(c, c->stored->layouts[0].slack, out);
    write_gpus(&group);
    write_yield(&group);
    if (group.best != LAYOUT_NONE) {
        verdict_completion(&group);
        verdict_waits(&group);
        verdict_saturation(&group);
        verdict_faults(&group);
    }
    verdict_unserved(&group);
    verdict_turned_away(&group);
    write_hardware(&group);
    write_hypothetical(&group);
    write_other_slacks(c, out);
    fputc('\n', out);
    if (group.count > 1 && group.best != LAYOUT_NONE) moves_sentences(moves, out);
    basis_write(c, out);
}
