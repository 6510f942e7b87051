/* store_curves.h - the big tables of a result database, row by row: ledger and curve.
 *
 * The caller adds up what it wants; nothing is kept. Rows are checked like those of store_read. */
#ifndef GPUPLAN_IO_STORE_CURVES_H
#define GPUPLAN_IO_STORE_CURVES_H

#include "base/diag.h"
#include "ledger/accounts.h"

#include <stdint.h>

/* GPU-seconds of one account and class inside the window of one replica. */
struct stored_ledger {
    uint32_t layout, replica; /* layout_id; replica >= 0: the failure-only run is left out */
    uint8_t account, class_;  /* enum account, enum size_class                             */
    double gpu_s;
};

/* GPU-seconds of one account inside one bin of the curve. */
struct stored_curve {
    uint32_t layout, replica;
    double bin_start_s, bin_end_s; /* relative to the first submission, start < end        */
    uint8_t account;
    double gpu_s;
};

typedef void store_ledger_visit(const struct stored_ledger *row, void *with);
typedef void store_curve_visit(const struct stored_curve *row, void *with);

/* STATUS_INPUT when the file is not such a database, STATUS_WORLD when it cannot be read. */
enum status store_each_ledger(const char *path, store_ledger_visit *visit, void *with,
                              struct diag *diag);
enum status store_each_curve(const char *path, store_curve_visit *visit, void *with,
                             struct diag *diag);

#endif
