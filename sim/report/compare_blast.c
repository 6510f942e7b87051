/* compare_blast.c - what one fault of hardware takes out of use, over the pooled failure-only runs. */
#include "report/compare_parts.h"

#include "base/clock.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void blast_from(const struct comparison *c, struct blast *blast, int64_t *sizes,
                       int64_t *spare, double *sorted, uint32_t count)
{
    blast->incidents = count;
    blast->per_year = blast->years > 0 ? count / blast->years : NAN;
    sort_int64(sizes, spare, count);
    for (uint32_t i = 0; i < count; i++) sorted[i] = (double)sizes[i];
    blast->p50 = count > 0 ? quantile7(sorted, count, 0.5) : NAN;
    blast->p95 = count > 0 ? quantile7(sorted, count, 0.95) : NAN;
    blast->max = count > 0 ? sorted[count - 1] : NAN;
    blast->mean = t_ci(sorted, count, c->conf);
    blast->half_difference = t_ci(sorted, count, c->conf_difference).half;
}

/* Whether an incident belongs to a row of the blast table. Job faults take no hardware. */
static bool is_of(const struct stored_blast *blast, uint32_t row)
{
    if (row < BLAST_PARTS) return blast->component == row;
    return strcmp(stored_component_name(blast->component), "job") != 0;
}

enum status comparison_fill_blasts(struct comparison *c, struct diag *diag)
{
    const struct stored_replica *runs =
        LOG_ITEMS(&c->stored->replicas, const struct stored_replica);
    const struct stored_blast *all = LOG_ITEMS(&c->stored->blasts, const struct stored_blast);
    const uint64_t count = c->stored->blasts.count;
    int64_t *sizes = calloc(count + 1, sizeof *sizes), *spare = calloc(count + 1, sizeof *spare);
    double *sorted = calloc(count + 1, sizeof *sorted);
    const bool fits = sizes != NULL && spare != NULL && sorted != NULL && count < UINT32_MAX;
    for (uint32_t layout = 0; fits && layout < c->layout_count; layout++) {
        double years = 0;
        for (uint64_t i = 0; i < c->stored->replicas.count; i++)
            if (runs[i].layout == layout && runs[i].replica < 0)
                years = (double)runs[i].run_end_ns / (365.0 * NS_PER_DAY);
        for (uint32_t row = 0; row < BLAST_ROWS; row++) {
            struct blast *blast = &c->blasts[layout * BLAST_ROWS + row];
            uint32_t n = 0;
            blast->years = years;
            for (uint64_t i = 0; i < count; i++) {
                if (all[i].layout != layout || !is_of(&all[i], row)) continue;
                if (all[i].gpus_removed > 0)
                    sizes[n++] = all[i].gpus_removed;
                else
                    blast->took_none++;
            }
            blast_from(c, blast, sizes, spare, sorted, n);
        }
    }
    free(sizes);
    free(spare);
    free(sorted);
    return fits ? STATUS_OK : diag_world(diag, "out of memory while counting faults");
}

/* Half widths of independent means add as squares: t of each side's own degrees of freedom (Cochran), not Welch's. */
struct interval comparison_blast_apart(const struct comparison *c, uint32_t layout, uint32_t row)
{
    const uint32_t base = c->baseline[layout];
    const struct interval none = { .mean = NAN, .half = NAN };
    if (base == LAYOUT_NONE || base == layout) return none;
    const struct blast *x = &c->blasts[layout * BLAST_ROWS + row];
    const struct blast *y = &c->blasts[base * BLAST_ROWS + row];
    if (x->mean.n == 0 || y->mean.n == 0) return none;
    return (struct interval){ .mean = x->mean.mean - y->mean.mean,
                              .half = hypot(x->half_difference, y->half_difference),
                              .n = x->mean.n < y->mean.n ? x->mean.n : y->mean.n };
}
