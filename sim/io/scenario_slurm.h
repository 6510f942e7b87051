/* scenario_slurm.h - readers of the rows of spec/keys_slurm.h that are more than one value. */
#ifndef GPUPLAN_IO_SCENARIO_SLURM_H
#define GPUPLAN_IO_SCENARIO_SLURM_H

#include "io/keys_read.h"

struct reading;

/* scenario_slurm.c: lists of words and weights. */
void read_scheduler_parameters(struct key_reader *reader, const struct key_found *found);
void read_select_parameters(struct key_reader *reader, const struct key_found *found);
void read_priority_flags(struct key_reader *reader, const struct key_found *found);
void read_priority_tres(struct key_reader *reader, const struct key_found *found);
void read_billing(struct key_reader *reader, const struct key_found *found);
void read_enforce(struct key_reader *reader, const struct key_found *found);
void read_preempt_mode(struct key_reader *reader, const struct key_found *found);
void read_partition_mode(struct key_reader *reader, const struct key_found *found);
void read_qos_mode(struct key_reader *reader, const struct key_found *found);
void read_qos_flags(struct key_reader *reader, const struct key_found *found);
void read_reservation_flags(struct key_reader *reader, const struct key_found *found);
void read_topology_plugin(struct key_reader *reader, const struct key_found *found);
void read_oversubscribe(struct key_reader *reader, const struct key_found *found);
void read_auth_info(struct key_reader *reader, const struct key_found *found);
void read_exit_codes(struct key_reader *reader, const struct key_found *found);

/* scenario_slurm_lists.c: partitions, QOSes, associations, reservations, topology.conf. */
void read_topology_lines(struct key_reader *reader, const struct key_found *found);
void read_block_sizes(struct key_reader *reader, const struct key_found *found);
void read_partitions(struct key_reader *reader, const struct key_found *found);
void read_default_partition(struct key_reader *reader, const struct key_found *found);
void read_qos(struct key_reader *reader, const struct key_found *found);
void read_associations(struct key_reader *reader, const struct key_found *found);
void read_reservations(struct key_reader *reader, const struct key_found *found);

/* scenario_slurm_check.c: names that must exist, on the layouts of the scenario. */
void check_slurm(struct reading *reading);

#endif
