/* storage.h - jobs that read input from and write checkpoints to one storage (MODELS 3.7, 4.7).
 *
 * Links: all that the storage reads, all that it writes, and of each server what goes over links of its own each way. Reading
 * is a flow: max-min fair by server, at most what the job asks for. Writing is periodic: compute for the interval, then one
 * checkpoint, as the mean over random phases (network/periodic). A limit of 0 is none.
 * Tests: tests/test_storage_runs.c */
#ifndef GPUPLAN_NETWORK_STORAGE_H
#define GPUPLAN_NETWORK_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

#define STORAGE_NONE UINT32_MAX

struct storage_net;

/* NULL when memory is out; destroy takes NULL. */
struct storage_net *storage_net_create(double read_bytes_per_s, double write_bytes_per_s,
                                       double server_bytes_per_s, uint32_t servers);
void storage_net_destroy(struct storage_net *net);

struct storage_job {
    double read_bytes_per_s; /* what it takes to keep its pace; 0 = it reads nothing */
    bool prefetch;           /* it asks for no more; else, while it reads, for as much as there is */
    double write_bytes, interval_s, write_s; /* as of cluster/speed; interval 0 = it writes nothing */
};

/* A job on servers[count], different ones, count >= 1. Its row, or STORAGE_NONE when memory is out. */
uint32_t storage_net_add(struct storage_net *net, const struct storage_job *job,
                         const uint32_t *servers, uint32_t count);
void storage_net_remove(struct storage_net *net, uint32_t row);

/* Brings rates and waits up to date; returns the rows whose may have changed, borrowed until the next call. */
uint32_t storage_net_solve(struct storage_net *net, const uint32_t **rows);

/* What the job is given to read, bytes a second; 0 when it reads nothing or is given all that it asked for. */
double storage_net_read(const struct storage_net *net, uint32_t row);

/* How long a checkpoint takes alone, 0 when it writes none; and how much longer than that. */
double storage_net_write_s(const struct storage_net *net, uint32_t row);
double storage_net_write_wait_s(const struct storage_net *net, uint32_t row);

/* What the job reads and writes on average, bytes a second of all its servers. */
double storage_net_mean_read(const struct storage_net *net, uint32_t row);
double storage_net_mean_write(const struct storage_net *net, uint32_t row);

#endif
