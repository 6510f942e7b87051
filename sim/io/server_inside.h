/* server_inside.h - the keys of a server that say what hangs where, as a tree. */
#ifndef GPUPLAN_IO_SERVER_INSIDE_H
#define GPUPLAN_IO_SERVER_INSIDE_H

#include "io/keys_read.h"
#include "spec/hardware.h"

/* What must stand in the fields that keys_read leaves alone when nothing is written. */
void server_inside_init(struct server_type *server);

/* Fills the tree and the rates that follow from others; `entry` over `below` (or NULL) as in keys_read. */
void server_inside_read(struct key_reader *reader, const struct yaml_node *entry,
                        const struct yaml_node *below, struct server_type *server);

/* Puts a file's matrix in the tree's place; node is the value of `matrix`, path the file. */
void server_inside_matrix(struct key_reader *reader, const struct yaml_node *node, const char *path,
                          struct server_type *server);

#endif
