/* settle.h - whether the window starts late enough: MSER-5 on the curve of held GPUs (MODELS 6.4).
 *
 * The curve of a layout is the share of its GPUs that jobs hold, bin by bin from the first submission to the end of
 * the window, as the mean over replicas. Longer ones than SETTLE_POINTS are averaged first. Printed for a
 * reader who wonders about the warm-up; it changes nothing. Tests: tests/test_settle.c */
#ifndef GPUPLAN_REPORT_SETTLE_H
#define GPUPLAN_REPORT_SETTLE_H

#include "report/compare.h"

#include <stdio.h>

enum { SETTLE_POINTS = 2000 };

struct settle {
    double warmup_s;  /* where the window starts                                                */
    double wanted_s;  /* what MSER-5 drops, the largest over the layouts; 0 = nothing           */
    uint32_t layout;  /* whose that is                                                          */
    bool unsettled;   /* it drops as much as it ever does, half of the curve: no level is seen  */
    bool known;       /* false: no window with an end, or fewer than 20 bins before it          */
};

/* Reads table curve. Failures as those of store_each_curve. */
enum status settle_read(const struct comparison *comparison, const char *db_path,
                        struct settle *settle, struct diag *diag);

/* One sentence and a line's end; nothing when it is not known. */
void settle_write(const struct comparison *comparison, const struct settle *settle, FILE *out);

#endif
