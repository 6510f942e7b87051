/* plot.h - pictures of a result database through gnuplot.
 *
 * Needs the program gnuplot in PATH (Debian: gnuplot-nox). Kinds and formats are bit sets made of
 * 1u << enum value. */
#ifndef GPUPLAN_REPORT_PLOT_H
#define GPUPLAN_REPORT_PLOT_H

#include "base/diag.h"
#include "report/plot_canvas.h"
#include "report/plot_data.h"

#include <stdio.h>

enum plot_kind {
    PLOT_UTILIZATION,
    PLOT_STALL,
    PLOT_BLAST,
    PLOT_WAIT,
    PLOT_FRAGMENTATION,
    PLOT_TORNADO,
    PLOT_KINDS
};
extern const char *const plot_kind_names[PLOT_KINDS + 1]; /* ends with NULL */
extern const char
    *const plot_format_names[PLOT_FORMATS + 1]; /* "svg", "png", "pdf", "term"; NULL */

/* Draws one picture into memory. columns: width of the terminal, for PLOT_TERM only, 0 = 100.
 * *bytes is owned by the caller (free). STATUS_WORLD when gnuplot is missing or fails. */
enum status plot_render(const struct plot_data *data, enum plot_kind kind, enum plot_format format,
                        uint32_t columns, char **bytes, size_t *count, struct diag *diag);

/* FOLDER/STEM-KIND.FORMAT for each kind and format, STEM being the database's file name without
 * ending, its odd characters replaced by '_' (P98). folder NULL: the database's path without
 * ending, with "-plots". The folder is made, its parents are not. A file is written beside its
 * name and renamed, so that none is ever half there. PLOT_TERM prints to `out` instead; the paths
 * of the files that were made are printed there, one a line. */
struct plot_request {
    const char *db_path, *folder;
    unsigned kinds, formats;
    uint32_t columns;
};
enum status plot_write(const struct plot_request *request, FILE *out, struct diag *diag);

/* A picture that is drawn by a function from something else than a database: the function writes the script and returns
 * false when that is lost. The file is written beside its name and renamed. */
typedef bool plot_drawing(struct canvas *canvas, const void *what);
enum status plot_file(plot_drawing *drawing, const void *what, enum plot_format format,
                      const char *path, struct diag *diag);

#endif
