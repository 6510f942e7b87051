/* log.h - an append-only list of equal items that grows in the heap, with a cap.
 *
 * Rows are named by index; a row's address changes when the log grows. */
#ifndef GPUPLAN_BASE_LOG_H
#define GPUPLAN_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log {
    void *items; /* owned until log_clear */
    uint64_t count, capacity, cap;
    uint32_t item_bytes;
};

/* cap: most items ever; 0 = limited by memory only. */
void log_init(struct log *log, uint32_t item_bytes, uint64_t cap);
void log_clear(struct log *log);

/* Appends a copy of *item; false at the cap or when memory is out. */
bool log_append(struct log *log, const void *item);

#define LOG_ITEMS(log, type) ((type *)(log)->items)

#endif
