/* plot_data.h - what the plots show, read from a result database into plain numbers.
 *
 * One variant per layout name: its first slack rule. Replicas are numbered as in the database, so
 * that the same index on two layouts is a pair. NAN marks a value that a replica does not have. */
#ifndef GPUPLAN_REPORT_PLOT_DATA_H
#define GPUPLAN_REPORT_PLOT_DATA_H

#include "base/diag.h"
#include "base/limits.h"
#include "base/status.h"
#include "ledger/accounts.h"

#include <stdbool.h>
#include <stdint.h>

/* The accounts as drawn: small ones that answer the same question share a colour. */
enum share {
    SHARE_COMPUTE,
    SHARE_INTRA,
    SHARE_INTER,
    SHARE_CONTENTION,
    SHARE_DATA,
    SHARE_BUBBLE,
    SHARE_OVERHEAD,
    SHARE_CHECKPOINT,
    SHARE_STARTUP,
    SHARE_LOST,
    SHARE_UNUSED,
    SHARE_OTHER,
    SHARE_NO_DEMAND,
    SHARE_SHORT,
    SHARE_FRAGMENTED,
    SHARE_STARVED,
    SHARE_WITHHELD,
    SHARE_GONE,
    SHARES,
    SHARE_HELD_END = SHARE_NO_DEMAND, /* [0, SHARE_HELD_END) are held by a job   */
    SHARE_FREE_END = SHARE_GONE,      /* [SHARE_NO_DEMAND, SHARE_FREE_END) free  */
};
extern const uint8_t share_of_account[ACCOUNTS];

enum { PLOT_BINS_MAX = 180 }; /* bars of one panel: more than that is narrower than a line */
enum { PLOT_COMPONENTS = 5 }; /* gpu, server, link, leaf, job  */
enum wait_kind { WAIT_P50, WAIT_P95, WAIT_KINDS };

/* Incidents of the failure-only run of one kind that took the same number of GPUs. */
struct blast_row {
    uint8_t component;
    uint32_t gpus_removed; /* 0: it took none (one of several links, ...) */
    uint64_t incidents;
};

struct plot_layout {
    char name[4 * LIMIT_NAME_BYTES]; /* escaped: printable UTF-8 only                          */
    bool is_baseline;
    uint32_t servers, gpus_per_server, gpus;
    bool stuck;  /* jobs of it can never end: nothing is to come that would let them       */
    double need; /* what the jobs ask for at the layout's own speed / its GPUs, mean over replicas */
    double (*held)[CLASSES][SHARES]; /* [replicas] GPU-s in the window; CLASS_NONE = all jobs  */
    double (*capacity)[SHARES];      /* [replicas] GPU-s in the window by share, all classes   */
    bool *present;                   /* [replicas] the replica is in the database              */
    double (*wait)[CLASSES][WAIT_KINDS]; /* [replicas] seconds; CLASS_NONE = all jobs, see common */
    uint32_t replicas_present;
    double end_s;            /* of the window, the latest of all replicas              */
    double bin_s;            /* width of a bin; the last ends with the window          */
    uint32_t bin_count;      /* 0 .. PLOT_BINS_MAX                                     */
    double (*bins)[SHARES];  /* [bin_count] share of capacity, mean over replicas      */
    struct blast_row *blast; /* [blast_count] by component, then size                  */
    uint32_t blast_count;
    double blast_s; /* simulated length of the failure-only run; 0 = none     */
};

/* An assumption that was moved, with the yields of all jobs under it. */
struct plot_setting {
    char axis[64];  /* escaped                                                            */
    double factor;  /* what it was moved by                                               */
    double *yields; /* [layout_count][replicas]; NAN where that was not run               */
};

struct plot_data {
    char scenario[4 * LIMIT_NAME_BYTES]; /* escaped                                            */
    char notes[96]; /* ", slack 0 (...)", ", RUN NOT FINISHED", or ""         */
    struct plot_layout layouts[LIMIT_LAYOUTS];
    uint32_t layout_count;
    uint32_t replicas; /* length of the arrays: highest replica number + 1       */
    bool common; /* waits are of the jobs that every layout can hold             */
    bool exact; /* nothing is drawn by chance: one replica is the answer         */
    bool to_the_end; /* each window ends with the layout's last job                         */
    double window_start_s;
    struct plot_setting *settings; /* [setting_count]; row 0 is the scenario as written         */
    uint32_t setting_count;        /* 1 or 0: nothing was moved                                 */
    struct arena *arena; /* owns the arrays                                        */
};

/* End of a bin of the layout, in seconds since the first submission; it begins at bin * bin_s. */
double layout_bin_end_s(const struct plot_layout *layout, uint32_t bin);

/* Whether the layout needs more GPUs than it has: its queue then grows as long as the run lasts, so
 * that waits, and what lies free beside them, measure the horizon and not the layout. */
bool layout_saturated(const struct plot_layout *layout);

/* Reads everything the plots need. A database without layouts or replicas is allowed: the plots
 * then say that there is nothing. STATUS_INPUT when it is not such a database. */
enum status plot_data_read(const char *db_path, struct plot_data *data, struct diag *diag);
void plot_data_clear(struct plot_data *data);

/* The yields of one layout under a setting, [replicas]. */
const double *setting_yields(const struct plot_data *data, uint32_t setting, uint32_t layout);

/* A value with its interval over replicas. */
struct estimate {
    double mean, lo, hi;
    uint32_t count; /* replicas; 0: nothing known, 1: no interval (lo = hi = mean)         */
};

/* Mean and Student t interval of the values that are not NAN, at the given confidence. */
struct estimate estimate_of(const double *values, uint32_t count, double confidence);

/* Who is first on one measure, and whether that is more than chance: the interval of its paired
 * difference to each other layout must leave out 0, at the confidence with which the verdict of
 * compare.h tells layouts apart (conf_any: all pairs and headlines hold together at 95 %). */
struct ranking {
    uint32_t best, next; /* rows in layouts; next == best when there is only one    */
    struct estimate value[LIMIT_LAYOUTS]; /* 95 % each                                         */
    struct estimate difference; /* best - next, paired                                      */
    bool clear;
    bool known; /* at least one layout has a value                          */
};

/* values[layout_count][replicas] of the data. Where nothing is drawn by chance, any difference is clear. */
void ranking_make(struct ranking *ranking, const struct plot_data *data, const double *values,
                  bool higher_is_better);

#endif
