/* settle.c - see settle.h. */
#include "report/settle.h"

#include "base/quantity.h"
#include "io/store_curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS_LEAST = 20, BINS_MOST = 1000000 };

/* Bins of the curve, all layouts; joined by `join` into points. */
struct curves {
    const struct comparison *comparison;
    double bin_s, end_s;
    uint32_t points;
    uint32_t join;
    double *held; /* [layout_count][points] GPU-seconds over all replicas, then shares */
};

static void add_bin(const struct stored_curve *row, void *with)
{
    const struct curves *curves = with;
    if (row->account >= ACC_HELD_END || row->layout >= curves->comparison->layout_count) return;
    if (row->bin_start_s < 0 || row->bin_start_s >= curves->end_s) return;
    const double point = floor(row->bin_start_s / curves->bin_s) / curves->join;
    if (point < curves->points)
        curves->held[(size_t)row->layout * curves->points + (uint32_t)point] += row->gpu_s;
}

/* Whole points up to the end of the window; none when the run has no such end. */
static bool size_curves(const struct comparison *c, struct curves *curves, struct settle *settle)
{
    const struct stored_replica *rows =
        LOG_ITEMS(&c->stored->replicas, const struct stored_replica);
    for (uint64_t i = 0; i < c->stored->replicas.count; i++)
        if (rows[i].replica >= 0) {
            settle->warmup_s = (double)rows[i].window_start_ns / 1e9;
            const double end_s = (double)rows[i].window_end_ns / 1e9;
            if (curves->end_s > 0 && curves->end_s != end_s) return false; /* horizon: all */
            curves->end_s = end_s;
        }
    const char *text = stored_meta(c->stored, "curve_bin_ns");
    const char *resample = stored_meta(c->stored, "resample");
    struct why why;
    if (text == NULL || resample == NULL || strcmp(resample, "days") != 0 ||
        !quantity_number(text, strlen(text), &curves->bin_s, &why))
        return false;
    curves->bin_s /= 1e9;
    const double bins = curves->bin_s > 0 ? floor(curves->end_s / curves->bin_s) : 0;
    if (!(bins >= BINS_LEAST && bins <= BINS_MOST)) return false;
    curves->join = (uint32_t)ceil(bins / SETTLE_POINTS);
    curves->points = (uint32_t)bins / curves->join;
    return true;
}

static void judge(const struct curves *curves, struct settle *settle)
{
    const double point_s = curves->bin_s * curves->join;
    const size_t most = curves->points / 5 / 2 * 5;
    for (uint32_t layout = 0; layout < curves->comparison->layout_count; layout++) {
        const size_t drop = mser5(curves->held + (size_t)layout * curves->points, curves->points);
        if ((double)drop * point_s > settle->wanted_s || layout == 0) {
            settle->wanted_s = (double)drop * point_s;
            settle->layout = layout;
        }
        settle->unsettled |= drop >= most;
    }
    settle->known = true;
}

enum status settle_read(const struct comparison *c, const char *db_path, struct settle *settle,
                        struct diag *diag)
{
    *settle = (struct settle){ 0 };
    struct curves curves = { .comparison = c };
    if (c->layout_count == 0 || !size_curves(c, &curves, settle)) return STATUS_OK;
    curves.held = calloc((size_t)c->layout_count * curves.points, sizeof *curves.held);
    if (curves.held == NULL) return diag_world(diag, "out of memory while reading the curves");
    const enum status status = store_each_curve(db_path, add_bin, &curves, diag);
    if (status == STATUS_OK) judge(&curves, settle);
    free(curves.held);
    return status;
}

void settle_write(const struct comparison *c, const struct settle *settle, FILE *out)
{
    if (!settle->known) return;
    char label[LABEL_BYTES];
    const double warmup_h = settle->warmup_s / 3600, wanted_h = settle->wanted_s / 3600;
    fprintf(out, "The window starts after %.4g h. ", warmup_h);
    if (settle->unsettled)
        fprintf(out, "Held GPUs of %s find no level (MSER-5): a longer horizon may tell.\n",
                comparison_label(c, settle->layout, label));
    else if (settle->wanted_s > settle->warmup_s)
        fprintf(out, "Held GPUs of %s settle later (MSER-5): try time.warmup: %.6gh.\n",
                comparison_label(c, settle->layout, label), wanted_h);
    else
        fprintf(out, "Held GPUs have settled by then (MSER-5: after %.4g h).\n", wanted_h);
}
