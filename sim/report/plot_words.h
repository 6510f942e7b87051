/* plot_words.h - numbers and findings as a reader wants them: with unit, interval and doubt. */
#ifndef GPUPLAN_REPORT_PLOT_WORDS_H
#define GPUPLAN_REPORT_PLOT_WORDS_H

#include "report/plot_data.h"
#include "report/plot_frame.h"

/* How a measure is printed. A duration picks s, min, h or d by itself. */
struct measure {
    const char *noun; /* "useful hours per held GPU-hour"; behind the number             */
    double scale;     /* of the value: 100 for percent                                   */
    int decimals;
    bool duration; /* value is in seconds                                             */
    bool higher_is_better;
    bool share; /* of a whole: its interval is cut at 0 and 1                      */
};

/* With its interval cut to what is possible: a t interval does not know that shares end at 1. */
struct estimate estimate_within(struct estimate value, double min, double max);

/* "0.873 [0.868, 0.878]"; without brackets for one replica, "-" for none. */
void estimate_text(char *out, size_t out_bytes, const struct estimate *estimate,
                   const struct measure *measure);

/* The finding in two notes: who is first with value, unit and interval, and by how much. */
void finding_notes(struct frame *frame, const struct plot_data *data, const struct ranking *ranking,
                   const struct measure *measure);

/* "needs 1.12 of its GPUs" of a saturated layout. */
void need_text(char *out, size_t out_bytes, const struct plot_layout *layout);

/* Names the saturated layouts and says what follows: "Not ranked: sparse1 needs 1.12 of its GPUs;
 * <reason>". Nothing when there is none. */
void saturated_note(struct frame *frame, const struct plot_data *data, const char *reason);

/* "Mean of 20 replicas ..." and the scenario's name. `extra` ends it, "" for nothing. */
void footer_make(struct frame *frame, const struct plot_data *data, const char *extra);

/* "1 GPU", "2-7 GPUs", ..., "all jobs". */
const char *class_title(enum size_class class_);

#endif
