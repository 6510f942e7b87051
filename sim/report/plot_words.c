/* plot_words.c - see plot_words.h. */
#include "report/plot_words.h"

#include <math.h>
#include <string.h>

struct unit {
    double scale; /* multiplies the value */
    int decimals;
    const char *name;
};

/* The unit in which a duration reads best: three digits at most, as far as days allow. */
static struct unit duration_unit(double seconds)
{
    if (seconds == 0) return (struct unit){ 1, 0, " s" };
    if (seconds < 99.5) return (struct unit){ 1, seconds < 9.95 ? 1 : 0, " s" };
    if (seconds < 99.5 * 60) return (struct unit){ 1.0 / 60, seconds < 597 ? 1 : 0, " min" };
    if (seconds < 48 * 3600) return (struct unit){ 1.0 / 3600, seconds < 35820 ? 1 : 0, " h" };
    return (struct unit){ 1.0 / 86400, seconds < 859680 ? 1 : 0, " d" };
}

static struct unit unit_of(const struct measure *measure, double value)
{
    if (measure->duration) return duration_unit(fabs(value));
    return (struct unit){ measure->scale, measure->decimals, measure->scale == 100 ? " %" : "" };
}

/* What prints as -0 is 0. */
static double no_negative_zero(double value, int decimals)
{
    return fabs(value) < 0.5 * pow(10, -decimals) ? 0 : value;
}

struct estimate estimate_within(struct estimate value, double min, double max)
{
    value.lo = fmax(value.lo, min);
    value.hi = fmin(value.hi, max);
    return value;
}

void estimate_text(char *out, size_t out_bytes, const struct estimate *estimate,
                   const struct measure *measure)
{
    const struct estimate cut = measure->share ? estimate_within(*estimate, 0, 1) : *estimate;
    const struct estimate *value = &cut;
    /* An interval far wider than its mean sets the unit: 3 h [-5, 11], not 190 min [...]. */
    const struct unit unit = unit_of(measure, fmax(fabs(value->mean), fabs(value->hi) / 4));
    const double mean = no_negative_zero(value->mean * unit.scale, unit.decimals);
    const double lo = no_negative_zero(value->lo * unit.scale, unit.decimals);
    const double hi = no_negative_zero(value->hi * unit.scale, unit.decimals);
    if (value->count == 0)
        snprintf(out, out_bytes, "-");
    else if (value->count == 1)
        snprintf(out, out_bytes, "%.*f%s", unit.decimals, mean, unit.name);
    else
        snprintf(out, out_bytes, "%.*f%s [%.*f, %.*f]", unit.decimals, mean, unit.name,
                 unit.decimals, lo, unit.decimals, hi);
}

/* How far the best is ahead, counted positive, with one digit more than the values have. */
static void gap_text(char *out, size_t out_bytes, struct estimate gap, struct measure measure)
{
    char text[64];
    const char *unit = measure.scale == 100 ? " points" : "";
    if (gap.mean < 0) gap = (struct estimate){ -gap.mean, -gap.hi, -gap.lo, gap.count };
    if (measure.duration) {
        estimate_text(out, out_bytes, &gap, &measure);
        return;
    }
    gap.mean *= measure.scale; /* a difference of percentages is in points */
    gap.lo *= measure.scale;
    gap.hi *= measure.scale;
    measure.scale = 1;
    measure.share = false;
    measure.decimals++;
    estimate_text(text, sizeof text, &gap, &measure);
    snprintf(out, out_bytes, "%s%s", text, unit);
}

static void difference_note(struct frame *frame, const struct plot_data *data,
                            const struct ranking *ranking, const struct measure *measure)
{
    char value[64], gap[96];
    const char *best = data->layouts[ranking->best].name;
    const char *next = data->layouts[ranking->next].name;
    estimate_text(value, sizeof value, &ranking->value[ranking->next], measure);
    gap_text(gap, sizeof gap, ranking->difference, *measure);
    if (data->exact && ranking->difference.count > 0)
        frame_note(frame, "Next: %s, %s; difference %s, exactly: nothing is drawn by chance", next,
                   value, gap);
    else if (ranking->difference.count < 2)
        frame_note(frame, "Next: %s, %s; one pair of runs: no interval, so chance is not ruled out",
                   next, value);
    else if (ranking->clear)
        frame_note(frame, "Next: %s, %s; difference %s: more than chance", next, value, gap);
    else if (ranking->difference.lo > 0 || ranking->difference.hi < 0)
        frame_note(frame, "Next: %s, %s; difference %s; but another layout cannot be told from %s",
                   next, value, gap, best);
    else
        frame_note(frame, "Next: %s, %s; difference %s includes 0: cannot tell %s from %s", next,
                   value, gap, best, next);
}

/* Every layout that has a value has the same in the mean, to the last bit. */
static bool all_alike(const struct plot_data *data, const struct ranking *ranking)
{
    for (uint32_t l = 0; l < data->layout_count; l++)
        if (ranking->value[l].count > 0 &&
            ranking->value[l].mean != ranking->value[ranking->best].mean)
            return false;
    return ranking->next != ranking->best;
}

/* Whether a layout's value is the best's in all digits in which a difference would be printed. Where luck plays, only what is the
 * same to the last bit. */
static bool is_tie(const struct plot_data *data, const struct ranking *ranking, uint32_t l,
                   const struct measure *measure)
{
    const double lead = fabs(ranking->value[l].mean - ranking->value[ranking->best].mean);
    if (ranking->value[l].count == 0) return false;
    if (!data->exact || measure->duration) return lead == 0;
    return lead * measure->scale < 0.5 * pow(10, -(measure->decimals + 1));
}

/* "a, b and 2 more" */
static void ties_text(char *out, size_t out_bytes, const struct plot_data *data, const bool *ties,
                      uint32_t count)
{
    enum { NAMED = 3 }; /* so that names of any length fit a note */
    uint32_t listed = 0;
    out[0] = '\0';
    for (uint32_t l = 0; l < data->layout_count && listed < NAMED; l++) {
        if (!ties[l]) continue;
        const size_t used = strlen(out);
        const char *before = listed == 0                             ? ""
                             : listed + 1 == count && count <= NAMED ? " and "
                                                                     : ", ";
        snprintf(out + used, out_bytes - used, "%s%s", before, data->layouts[l].name);
        listed++;
    }
    const size_t used = strlen(out);
    if (count > listed) snprintf(out + used, out_bytes - used, " and %u more", count - listed);
}

/* Of layouts that share the first place; false when one has it alone. */
static bool ties_note(struct frame *frame, const struct plot_data *data,
                      const struct ranking *ranking, const struct measure *measure)
{
    bool ties[LIMIT_LAYOUTS];
    uint32_t count = 0, known = 0;
    char value[96], list[TEXT_LINE_BYTES];
    for (uint32_t l = 0; l < data->layout_count; l++) {
        known += ranking->value[l].count > 0;
        ties[l] = is_tie(data, ranking, l, measure);
        count += ties[l];
    }
    if (count < 2) return false;
    estimate_text(value, sizeof value, &ranking->value[ranking->best], measure);
    if (all_alike(data, ranking)) {
        frame_note(frame, "No difference: on every %slayout %s %s",
                   known < data->layout_count ? "ranked " : "", value, measure->noun);
        return true;
    }
    ties_text(list, sizeof list, data, ties, count);
    frame_note(frame, "No difference that shows: %s, %s %s", list, value, measure->noun);
    return true;
}

void finding_notes(struct frame *frame, const struct plot_data *data, const struct ranking *ranking,
                   const struct measure *measure)
{
    char value[96];
    if (!ranking->known || ties_note(frame, data, ranking, measure)) return;
    estimate_text(value, sizeof value, &ranking->value[ranking->best], measure);
    const char *word = ranking->next == ranking->best ? "Only value"
                       : ranking->clear               ? "Best"
                       : measure->higher_is_better    ? "Highest"
                                                      : "Lowest";
    frame_note(frame, "%s: %s, %s %s", word, data->layouts[ranking->best].name, value,
               measure->noun);
    if (ranking->next != ranking->best) difference_note(frame, data, ranking, measure);
}

void need_text(char *out, size_t out_bytes, const struct plot_layout *layout)
{
    if (layout->stuck)
        snprintf(out, out_bytes, "has jobs that can never end");
    else if (layout->need < 1.005)
        snprintf(out, out_bytes, "needs a little more than its GPUs");
    else if (layout->need >= 100) /* some job hardly moves */
        snprintf(out, out_bytes, "needs %.0f times its GPUs", layout->need);
    else
        snprintf(out, out_bytes, "needs %.2f of its GPUs", layout->need);
}

void saturated_note(struct frame *frame, const struct plot_data *data, const char *reason)
{
    enum { NAMED = 3 }; /* so that names of any length fit a note */
    char list[TEXT_LINE_BYTES] = "", need[48];
    uint32_t count = 0;
    for (uint32_t l = 0; l < data->layout_count; l++) {
        const struct plot_layout *layout = &data->layouts[l];
        if (!layout_saturated(layout) || ++count > NAMED) continue;
        const size_t used = strlen(list);
        need_text(need, sizeof need, layout);
        snprintf(list + used, sizeof list - used, "%s%s %s", count > 1 ? ", " : "", layout->name,
                 need);
    }
    if (count == 0) return;
    const size_t used = strlen(list);
    if (count > NAMED)
        snprintf(list + used, sizeof list - used, " and %u more likewise", count - NAMED);
    frame_note(frame, "Not ranked: %s; %s", list, reason);
}

void footer_make(struct frame *frame, const struct plot_data *data, const char *extra)
{
    char runs[256];
    if (data->replicas == 1)
        snprintf(runs, sizeof runs, "One replica: %s.",
                 data->exact ? "nothing is drawn by chance" : "there is no interval");
    else
        snprintf(runs, sizeof runs,
                 "Mean of %u replicas; in brackets the 95 %% interval (Student t); differences are"
                 " paired and hold together at 95 %%.",
                 data->replicas);
    snprintf(frame->footer, sizeof frame->footer, "%s %s%s%s.%s%s", runs,
             data->scenario[0] ? "Scenario " : "", data->scenario, data->notes, extra[0] ? " " : "",
             extra);
}

const char *class_title(enum size_class class_)
{
    static const char *const titles[CLASSES] = { "all jobs",  "1 GPU",      "2-7 GPUs",
                                                 "8-15 GPUs", "16-63 GPUs", "64 GPUs and more" };
    return titles[class_];
}
