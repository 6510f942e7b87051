/* plot_kinds.h - one function per picture: from data to a gnuplot script.
 *
 * Each returns false when the script or its data cannot be written. A picture without anything to
 * show says so in its place (P90). */
#ifndef GPUPLAN_REPORT_PLOT_KINDS_H
#define GPUPLAN_REPORT_PLOT_KINDS_H

#include "report/plot_canvas.h"
#include "report/plot_data.h"

/* Where do the GPU-hours go? The ledger's accounts over time, a panel per layout. */
bool plot_utilization_draw(struct canvas *canvas, const struct plot_data *data);

/* How much of a GPU-hour that a job holds is useful? Shares of held time by job size and layout. */
bool plot_stall_draw(struct canvas *canvas, const struct plot_data *data);

/* How many GPUs does one incident take? Rates of incidents that take at least x GPUs, and means
 * by component, from the failure-only run. */
bool plot_blast_draw(struct canvas *canvas, const struct plot_data *data);

/* How long do jobs wait? Median and 95th percentile by job size and layout. */
bool plot_wait_draw(struct canvas *canvas, const struct plot_data *data);

/* Why are GPUs free? Causes as shares of capacity, by layout. */
bool plot_fragmentation_draw(struct canvas *canvas, const struct plot_data *data);

/* Which assumption moves the verdict? Differences in yield to the baseline under moved assumptions. */
bool plot_tornado_draw(struct canvas *canvas, const struct plot_data *data);

/* A canvas that says why there is nothing else on it. */
bool plot_nothing_draw(struct canvas *canvas, const char *title, const char *reason);

/* A canvas that says that every layout with something to show is saturated, and what follows. */
bool plot_saturated_draw(struct canvas *canvas, const char *title, const struct plot_data *data,
                         const char *reason);

/* Fills and names of the shares, alike in all pictures. */
struct share_style {
    const char *name;
    struct fill fill;
};
extern const struct share_style share_styles[SHARES];

#endif
