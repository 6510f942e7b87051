/* slurm_text.h - times, memory and resources as slurm.conf and sacctmgr write them.
 *
 * Below `scheduler.slurm` a value means what it means in slurm.conf, bare numbers too: minutes in a time limit, seconds
 * in a timeout, MiB in memory, and K M G T are powers of 1024. The quantities of base/quantity.h are taken as well,
 * for those say their unit: 90s, 1h30m, 64 GB. All readers follow the rules of that header: bytes in, false and a
 * reason in `why` on failure.
 * Sources: slurm.conf(5), sacctmgr(1). Tests: tests/test_slurm_text.c */
#ifndef GPUPLAN_IO_SLURM_TEXT_H
#define GPUPLAN_IO_SLURM_TEXT_H

#include "base/quantity.h"
#include "spec/slurm.h"

/* 60, 60:30 (minutes:seconds), 1:00:00, 1-0, 1-12, 1-12:30, 1-12:30:00; UNLIMITED and INFINITE are TIME_NEVER. */
bool slurm_minutes(const char *text, size_t bytes, int64_t *out_ns, struct why *why);

/* 300; INFINITE and -1 are TIME_NEVER. */
bool slurm_seconds(const char *text, size_t bytes, int64_t *out_ns, struct why *why);

/* 64000, 64000M, 64G, 64 GB, 64 GiB; rounded up to whole MiB. */
bool slurm_mib(const char *text, size_t bytes, int64_t *out_mib, struct why *why);

/* "gres/gpu=8,cpu=64,mem=100G,node=2"; what is not named, or is -1, has no limit. */
bool slurm_tres(const char *text, size_t bytes, struct tres_limit *out, struct why *why);

/* "CPU=1.0,Mem=0.25G,GRES/gpu=2": weight of one core, one GPU, one node, and one GiB; 0 where not named. */
struct tres_weight {
    double cpu, gpu, node, mem_gib;
};
bool slurm_weights(const char *text, size_t bytes, struct tres_weight *out, struct why *why);

#endif
