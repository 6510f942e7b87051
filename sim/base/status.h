/* status.h - what a call that can fail returns. The values are the program's exit codes (README). */
#ifndef GPUPLAN_BASE_STATUS_H
#define GPUPLAN_BASE_STATUS_H

enum status {
    STATUS_OK     = 0,
    STATUS_WORLD  = 1, /* disk full, file unreadable, child process failed      */
    STATUS_INPUT  = 2, /* the scenario, the trace or the command line is wrong   */
    STATUS_LEDGER = 3, /* a ledger does not close: our bug                       */
    STATUS_GATE   = 5, /* a gate of the scenario failed                          */
    STATUS_LIMIT  = 6, /* stopped at a limit; what is printed is partial         */
};

/* Passes a failure up unchanged. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const enum status try_status_ = (call);                                                    \
        if (try_status_ != STATUS_OK) return try_status_;                                          \
    } while (0)

#endif
