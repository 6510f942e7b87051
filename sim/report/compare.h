/* compare.h - the layouts of one result database side by side: means over replicas, differences of
 * pairs to a baseline, blast radius. Numbers only; verdict, tables and JSON print them.
 *
 * A pair is the same replica on two layouts of the same slack (DESIGN 2). A quantity that some
 * replicas do not have (no job of that class) is averaged over those that have it, and the others
 * are counted. Missing numbers are NAN. */
#ifndef GPUPLAN_REPORT_COMPARE_H
#define GPUPLAN_REPORT_COMPARE_H

#include "base/diag.h"
#include "io/store_read.h"
#include "report/statistics.h"

#include <stdbool.h>
#include <stdint.h>

#define LAYOUT_NONE UINT32_MAX

enum {
    HEADLINES = 4,            /* quantities whose differences the verdict tells: yield, goodput, completion of large
                                 jobs, p95 wait of all jobs                                     */
    BLAST_PARTS = 5,          /* row of struct blast for all faults of hardware: every component but "job" */
    BLAST_ROWS,               /* rows 0 .. 4: stored_component_name                             */
    LABEL_BYTES = LIMIT_NAME_BYTES * 4 + 16,
};

/* One quantity on one layout. */
struct cell {
    struct interval value;    /* at `conf`                                                      */
    struct paired pair;       /* minus the baseline, at `conf_difference`                       */
    double relative;          /* mean difference / mean of the baseline, over the pairs; NAN when that is 0 */
    uint32_t missing;         /* replicas of the layout that do not have it                     */
};

struct quantity {
    char name[40], unit[8];
    uint8_t class_;           /* enum size_class; CLASS_NONE = all jobs                         */
    double *values;           /* [layout_count][replica_count], owned by the comparison         */
    struct cell *cells;       /* [layout_count]                                                 */
};

/* GPUs that one fault takes out of use, over the pooled failure-only run. A fault that takes none (its server was out
 * already) has no radius: it is counted beside the others. */
struct blast {
    uint32_t incidents;       /* that took at least one GPU                                     */
    uint32_t took_none;
    double years;             /* simulated; 0 = there was no such run                           */
    double per_year;          /* NAN without a run                                              */
    double p50, p95, max;     /* of gpus_removed; NAN without incidents                         */
    struct interval mean;     /* of gpus_removed, at `conf`; incidents taken as independent     */
    double half_difference;   /* half width of the same mean at `conf_difference`               */
};

struct comparison {
    const struct stored *stored;  /* borrowed until comparison_clear                            */
    uint32_t layout_count;    /* columns: layouts x slacks                                      */
    uint32_t replica_count;   /* replays of the layout that has most                            */
    uint32_t *replicas;       /* [layout_count] replays stored                                  */
    uint32_t *baseline;       /* [layout_count] its baseline of the same slack, or LAYOUT_NONE  */
    uint32_t *order;          /* [layout_count] rows for printing: one slack after the other           */
    double *load;             /* [layout_count] offered load: the larger of planned and measured; to the end: measured */
    double *needs;            /* [layout_count] comparison_needs, mean over replicas; NAN when it is not stored  */
    struct quantity *quantities;
    uint32_t quantity_count;
    struct blast *blasts;     /* [layout_count][BLAST_ROWS]                                     */
    uint32_t group_layouts;   /* layouts of one slack                                           */
    double conf;              /* of single values: 0.95                                         */
    double conf_difference;   /* of one difference to the baseline, so that all of one slack and all HEADLINES hold
                                 together with `conf`                                           */
    double conf_any;          /* the same for differences between any two layouts               */
    bool complete;            /* the run was finished                                           */
    bool exact;               /* nothing is drawn by chance: one replica is the answer, half widths are 0      */
    bool to_the_end;          /* the window of each layout ends with its last job (time.horizon: all)          */
    bool common;              /* some layout can never hold some jobs: waits and completion are compared over the
                                 jobs that every layout can hold                                */
    bool large;               /* some compared job has 16 GPUs and more; without one, completion is compared over all */
    uint32_t setting;         /* whose metrics these are: 0 = the scenario as written           */
};

/* Whether the window of each layout ends with its last job (time.horizon: all). */
bool stored_plays_to_the_end(const struct stored *stored);

/* Builds the comparison. `baseline` names the baseline layout, NULL = the scenario's; an unknown name is a usage
 * error. Cleared by comparison_clear, also after a failure. */
enum status comparison_build(const struct stored *stored, const char *baseline,
                             struct comparison *comparison, struct diag *diag);
void comparison_clear(struct comparison *comparison);

/* Mean of a row of the blast table minus that of the layout's baseline, at `conf_difference`. The two runs are taken as
 * independent, so the interval is rather too wide where they share luck. n = 0 without a baseline or without incidents
 * on both, else the smaller number of incidents; half is NAN when that is 1. */
struct interval comparison_blast_apart(const struct comparison *comparison, uint32_t layout,
                                       uint32_t row);

/* The same layouts and baseline under a moved assumption (stored->settings): quantities of table tornado, no blast
 * radius. `base` is borrowed while the call lasts. */
enum status comparison_build_moved(const struct comparison *base, uint32_t setting,
                                   struct comparison *moved, struct diag *diag);

/* The quantity, or NULL when no replica has it. */
const struct quantity *comparison_find(const struct comparison *comparison, const char *name,
                                       uint8_t class_);

/* Values of the quantity on one layout, [replica_count], NAN where a replica has none. */
const double *comparison_values(const struct comparison *comparison,
                                const struct quantity *quantity, uint32_t layout);

/* The quantity over the jobs that layouts are compared by: "common_" NAME when some layout cannot hold some jobs, else
 * NAME. NULL when no replica has it. */
const struct quantity *comparison_find_common(const struct comparison *comparison,
                                              const char *name, uint8_t class_);

/* What the jobs ask of the layout in one replica at its own speed and rounding, over the GPUs that are in service:
 * effective_load / (1 - share_down - share_draining). NAN when it is not stored. */
double comparison_needs(const struct comparison *comparison, uint32_t layout, uint32_t replica);

/* Jobs left, on average, that nothing to come lets end, where the window ends with the last job (time.horizon: all). */
double comparison_stuck(const struct comparison *comparison, uint32_t layout);

/* Whether the layout is asked for more than it has in service, so that waits grow with the horizon, or has jobs that
 * never end: waits are not quoted. */
bool comparison_saturated(const struct comparison *comparison, uint32_t layout);

/* An interval of x against y that needs no luck to be known: nothing is drawn by chance, or both are built alike
 * and do not differ. Its half width becomes 0. */
struct interval comparison_settle(const struct comparison *comparison, uint32_t x, uint32_t y,
                                  struct interval interval);

/* Differences x - y of two layouts over the replicas that both have. Swapping x and y negates. */
struct paired comparison_pair(const struct comparison *comparison, const struct quantity *quantity,
                              uint32_t x, uint32_t y, double conf);

/* Completion of jobs of 16 GPUs and more on x, relative to y, of one replica: (mean on x) / (mean on y) - 1, the classes
 * joined by their numbers of jobs; over the jobs that every layout can hold; over all sizes where no job is that large.
 * NAN without such jobs. */
double comparison_later(const struct comparison *comparison, uint32_t x, uint32_t y,
                        uint32_t replica);

/* "jobs of 16 GPUs and more", or "jobs" where none is that large. */
const char *comparison_large_words(const struct comparison *comparison);

/* Its interval over pairs; n = 0 when no pair has such jobs. */
struct interval comparison_large(const struct comparison *comparison, uint32_t x, uint32_t y,
                                 double conf);

/* Share of the layout's capacity that rolled-back work, broken and draining GPUs take, the mean over replicas; NAN
 * when it is not stored. */
double comparison_lost_share(const struct comparison *comparison, uint32_t layout);

/* "dense8", or "dense8/any" when the layout runs under several slacks; made safe for a terminal. */
const char *comparison_label(const struct comparison *comparison, uint32_t layout,
                             char out[LABEL_BYTES]);

#endif
