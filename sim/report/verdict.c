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
    const double low = less.mean - less.half, high = less.mean + less.half;
    int decimals = prose_decimals(less.half, 3);
    if (low > 0) decimals = prose_decimals(low, decimals); /* an end above 0 does not read as 0 */
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

static bool is_tie(struct interval less)
{
    return less.n > 0 && less.mean == 0 && less.half == 0;
}

/* Who was named as yielding the most. */
enum winner { WINNER_NONE, WINNER_ALL, WINNER_TIES, WINNER_BEST };

/* Who yields the most, as far as it can be told: the best alone, with those that yield exactly as much, or with those
 * whose difference to it holds 0; or nobody. */
static enum winner write_winner(const struct group *group)
{
    uint32_t near[LIMIT_LAYOUTS * LIMIT_SLACKS] = { group->best }, count = 1, ties = 1;
    char name[LABEL_BYTES];
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t row = group->rows[i];
        const struct interval less = less_than_best(group, row);
        if (row == group->best || interval_excludes_zero(less)) continue;
        near[count++] = row;
        ties += is_tie(less);
    }
    if (count == group->count) {
        fputs(ties == count ? "all layouts yield the same"
                            : "which layout yields the most cannot be told",
              group->out);
        return ties == count ? WINNER_ALL : WINNER_NONE;
    }
    const uint32_t listed = count < GROUP_NAMED ? count : GROUP_NAMED;
    if (ties == count && count > 1) {
        group_list(group, near, listed);
        fprintf(group->out, "%s yield the most, alike", count > listed ? " and others" : "");
        return WINNER_TIES;
    }
    fprintf(group->out, "%s yields the most", group_name(group, group->best, name));
    if (count > 1) fputs(", but cannot be told from ", group->out);
    group_list(group, near + 1, listed - 1);
    if (count > listed) fputs(" and others", group->out);
    return WINNER_BEST;
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

/* Named layouts but the best, by how their yields read beside its own. */
struct beside {
    uint32_t ties[GROUP_NAMED], tie_count;    /* exactly as much               */
    uint32_t alike[GROUP_NAMED], alike_count; /* the same digits               */
    uint32_t apart[GROUP_NAMED], apart_count;
};

static void yield_text(const struct group *group, uint32_t row, char out[32])
{
    snprintf(out, 32, "%.3f",
             comparison_find(group->c, "yield", CLASS_NONE)->cells[row].value.mean);
}

static struct beside beside_best(const struct group *group)
{
    struct beside beside = { .tie_count = 0 };
    char best[32], text[32];
    yield_text(group, group->best, best);
    for (uint32_t i = 0; i < group->named_count; i++) {
        const uint32_t row = group->named[i];
        yield_text(group, row, text);
        if (row == group->best)
            continue;
        else if (is_tie(less_than_best(group, row)))
            beside.ties[beside.tie_count++] = row;
        else if (strcmp(text, best) == 0)
            beside.alike[beside.alike_count++] = row;
        else
            beside.apart[beside.apart_count++] = row;
    }
    return beside;
}

/* "0.857 on leaves [0.059 to 0.076 less]" */
static void write_apart(const struct group *group, uint32_t row)
{
    char name[LABEL_BYTES], text[32];
    yield_text(group, row, text);
    if (comparison_find(group->c, "yield", CLASS_NONE)->cells[row].value.n > 0)
        fprintf(group->out, "%s on %s", text, group_name(group, row, name));
    else
        fprintf(group->out, "nothing known on %s", group_name(group, row, name));
    write_less(group, less_than_best(group, row));
}

/* The values of the others follow that of the best; no number is printed twice. */
static void write_yields(const struct group *group, enum winner winner)
{
    const struct beside beside = beside_best(group);
    char name[LABEL_BYTES], text[32];
    yield_text(group, group->best, text);
    fprintf(group->out, ": %s%s useful hours per held GPU-hour", group->c->exact ? "exactly " : "",
            text);
    if (winner == WINNER_NONE) fprintf(group->out, " on %s", group_name(group, group->best, name));
    if (beside.tie_count > 0 && (winner == WINNER_NONE || winner == WINNER_BEST)) {
        fputs(" (as on ", group->out);
        group_list(group, beside.ties, beside.tie_count);
        fputc(')', group->out);
    }
    for (uint32_t i = 0; i < beside.alike_count; i++) {
        const uint32_t row = beside.alike[i];
        fprintf(group->out, "%s%s",
                i == 0 ? ", about as much on " : prose_join(i, beside.alike_count),
                group_name(group, row, name));
        write_less(group, less_than_best(group, row));
    }
    for (uint32_t i = 0; i < beside.apart_count; i++) {
        const bool last = i + 1 == beside.apart_count;
        fputs(!last ? ", " : i == 0 && beside.alike_count > 0 ? ", and " : " and ", group->out);
        write_apart(group, beside.apart[i]);
    }
    const uint32_t unnamed = group->count - group->named_count;
    if (unnamed > 0 && winner != WINNER_ALL)
        fprintf(group->out, "; %" PRIu32 " other%s, not named, yield%s no more", unnamed,
                unnamed == 1 ? "" : "s", unnamed == 1 ? "s" : "");
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

/* GPU-hours that jobs held on a layout, mean over its replicas. */
static double held_hours(const struct group *group, uint32_t row)
{
    const struct quantity *share = comparison_find(group->c, "utilization", CLASS_NONE);
    const struct stored_replica *replicas =
        LOG_ITEMS(&group->c->stored->replicas, const struct stored_replica);
    double hours = 0, count = 0;
    for (uint64_t i = 0; i < group->c->stored->replicas.count; i++) {
        if (replicas[i].layout != row || replicas[i].replica < 0) continue;
        hours += (double)(replicas[i].window_end_ns - replicas[i].window_start_ns) / 3.6e12;
        count++;
    }
    if (share == NULL || count == 0) return 0;
    return share->cells[row].value.mean * group->c->stored->layouts[row].gpus * hours / count;
}

static bool shares_gpus(const struct stored *stored, const char *layout)
{
    const struct stored_assumption *rows =
        LOG_ITEMS(&stored->assumptions, const struct stored_assumption);
    for (uint64_t i = 0; i < stored->assumptions.count; i++)
        if (strcmp(rows[i].subject, "sharing") == 0 && strcmp(rows[i].name, layout) == 0)
            return true;
    return false;
}

static void write_shared(const struct group *group)
{
    uint32_t rows[LIMIT_LAYOUTS * LIMIT_SLACKS], count = 0;
    double hours = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t row = group->rows[i];
        if (!shares_gpus(group->c->stored, group->c->stored->layouts[row].name)) continue;
        rows[count++] = row;
        hours += held_hours(group, row);
    }
    if (count == 0) return;
    fputs(" Jobs that share a GPU on ", group->out);
    group_list(group, rows, count);
    fprintf(group->out, " do not slow each other here, which they do: %s shown too well",
            count == 1 ? "it is" : "these layouts are");
    if (hours > 0) fprintf(group->out, ", for at most %.0f GPU-hours of what they held", hours);
    fputc('.', group->out);
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
    verdict_stuck(&group);
    verdict_unserved(&group);
    verdict_turned_away(&group);
    write_hardware(&group);
    write_hypothetical(&group);
    write_shared(&group);
    write_other_slacks(c, out);
    fputc('\n', out);
    if (group.count > 1 && group.best != LAYOUT_NONE) moves_sentences(moves, out);
    basis_write(c, out);
}
