/* scenario_kube.h - readers of the rows of spec/keys_kube.h that are more than one value. */
#ifndef GPUPLAN_IO_SCENARIO_KUBE_H
#define GPUPLAN_IO_SCENARIO_KUBE_H

#include "io/keys_read.h"

struct reading;

void read_fit_resources(struct key_reader *reader, const struct key_found *found);
void read_balanced_resources(struct key_reader *reader, const struct key_found *found);
void read_binpack_resources(struct key_reader *reader, const struct key_found *found);
void read_shape(struct key_reader *reader, const struct key_found *found);
void read_cluster_queues(struct key_reader *reader, const struct key_found *found);
void read_quotas(struct key_reader *reader, const struct key_found *found);
void read_levels(struct key_reader *reader, const struct key_found *found);
void read_autoscaler(struct key_reader *reader, const struct key_found *found);
void read_autoscaler_groups(struct key_reader *reader, const struct key_found *found);
void read_teams(struct key_reader *reader, const struct key_found *found);
void read_defragmentation(struct key_reader *reader, const struct key_found *found);

/* Groups of the autoscaler are groups of every layout; teams fit the servers. */
void check_kube(struct reading *reading);

#endif
