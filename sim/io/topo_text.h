/* topo_text.h - what `nvidia-smi topo -m` prints, read back.
 *
 * The table begins with the line that names GPU0 first and ends with the row of its last device. Lines in front of it (a
 * prompt, remarks) and behind it (the legend, names of NICs) are passed over. Cells are told apart by tabs or blanks, colour
 * codes of terminals are left out. A row is as long as the head, its own cell is X, and it is symmetric; what is not is
 * refused with its place. Behind the last device stand, in this order and each of them optional, the CPU and the NUMA affinity of a GPU;
 * further columns are not read.
 * Tests: tests/test_topo_text.c */
#ifndef GPUPLAN_IO_TOPO_TEXT_H
#define GPUPLAN_IO_TOPO_TEXT_H

#include "base/diag.h"
#include "spec/topo_matrix.h"

/* Reads a file ("-": standard input) into *matrix, and the tree that it is of into *tree. */
enum status topo_read(const char *path, struct topo_matrix *matrix, struct server_tree *tree,
                      struct diag *diag);

#endif
