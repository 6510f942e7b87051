/* scenario_lists.h - lists of maps and lists of words: what the readers of schedulers' keys share. */
#ifndef GPUPLAN_IO_SCENARIO_LISTS_H
#define GPUPLAN_IO_SCENARIO_LISTS_H

#include "io/scenario_parts.h"

/* A list of maps that becomes an array of structs. */
struct list_form {
    const char *prefix; /* of its rows in the table: "scheduler.slurm.qos[]."                    */
    const char *empty;  /* shown when it is left out                                             */
    size_t item_bytes;
    uint32_t items_most;
    /* What a row alone cannot say, or NULL. Called after each item without problems. */
    void (*check)(struct key_reader *reader, const struct yaml_node *node, void *item);
};

/* list_room: zeroed room for the items of the list and `spare` more, owned by the caller; NULL when there are none, or
 * after a problem. list_items: reads them there; *count is the number of items up to the one that is being read. */
void *list_room(struct key_reader *reader, const struct key_found *found,
                const struct list_form *form, uint32_t spare);
void list_items(struct key_reader *reader, const struct key_found *found,
                const struct list_form *form, void *items, uint32_t *count);

/* The next word of a text by commas, blanks around it left out; false behind the last. An empty one is "". */
bool list_word(const char **at, char *out, size_t out_bytes);

/* One row that is a text by commas or a list of texts, joined by commas; "" when left out, or after a problem. The
 * row needs no field. */
enum { LIST_BYTES = 1024 };
void read_word_list(struct key_reader *reader, const struct key_found *found, char out[LIST_BYTES]);

/* The last part of a row's path. */
const char *found_name(const struct key_found *found);

/* An error at the value of a row, behind its path: "scheduler.slurm.X: ...". */
void refuse_value(struct key_reader *reader, const struct key_found *found, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
