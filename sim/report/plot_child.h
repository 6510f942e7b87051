/* plot_child.h - runs gnuplot on a script of ours and brings the picture back.
 *
 * gnuplot is started without a shell, in a private folder that holds nothing but the script and
 * its data, without the user's start-up files (P87). */
#ifndef GPUPLAN_REPORT_PLOT_CHILD_H
#define GPUPLAN_REPORT_PLOT_CHILD_H

#include "base/diag.h"
#include "base/status.h"

#include <stddef.h>

/* Makes a fresh private folder below $TMPDIR or /tmp. */
enum status plot_folder_make(char *folder, size_t folder_bytes, struct diag *diag);
/* Removes the folder with the plain files in it. */
void plot_folder_remove(const char *folder);

/* Runs `gnuplot script.gp` in the folder. STATUS_WORLD when gnuplot is not there or fails; what it
 * printed is shown then, and only then (P90). */
enum status plot_child_run(const char *folder, struct diag *diag);

/* The file `picture` of the folder; *bytes is owned by the caller (free). */
enum status plot_child_picture(const char *folder, char **bytes, size_t *count, struct diag *diag);

#endif
