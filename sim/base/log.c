/* log.c - grows by doubling, never past its cap. */
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_ITEMS_FIRST = 16 };

void log_init(struct log *log, uint32_t item_bytes, uint64_t cap)
{
    *log = (struct log){ .item_bytes = item_bytes, .cap = cap };
}

void log_clear(struct log *log)
{
    free(log->items);
    log->items = NULL;
    log->count = log->capacity = 0;
}

static bool log_grow(struct log *log)
{
    uint64_t capacity = log->capacity == 0 ? LOG_ITEMS_FIRST : log->capacity * 2;
    if (log->cap != 0 && capacity > log->cap) capacity = log->cap;
    size_t bytes;
    if (__builtin_mul_overflow(capacity, log->item_bytes, &bytes)) return false;
    void *items = realloc(log->items, bytes);
    if (items == NULL) return false;
    log->items = items;
    log->capacity = capacity;
    return true;
}

bool log_append(struct log *log, const void *item)
{
    if (log->cap != 0 && log->count >= log->cap) return false;
    if (log->count == log->capacity && !log_grow(log)) return false;
    memcpy((char *)log->items + log->count * log->item_bytes, item, log->item_bytes);
    log->count++;
    return true;
}
