/* contention_parts.h - what the files of contention share; nothing else includes it. */
#ifndef GPUPLAN_HANDLERS_CONTENTION_PARTS_H
#define GPUPLAN_HANDLERS_CONTENTION_PARTS_H

#include "handlers/contention.h"
#include "network/periodic.h"
#include "network/storage.h"

struct member {
    uint32_t row;             /* PERIODIC_NONE: not on the network */
    struct speed_query query; /* with the waits of its tempo of now */
    double alone_s;
    uint32_t epoch;             /* attempt that placed it where it is */
    int64_t waiting[ESTIMATES]; /* units of its GPUs that wait for others, by estimate */
    double rate;      /* operations a second that its links are told of; 0 = none              */
    uint32_t fullest; /* link that is told of its waiting                                      */
    uint32_t store_row;         /* STORAGE_NONE: it wants nothing of the storage */
    int64_t load[2];            /* of each of its servers by its storage traffic, out and in, bytes a second */
};

/* A link, for those who ask where it is tight. Sums are over the window, up to since_ns. */
struct link_told {
    int64_t carries; /* bytes a second, the mean over the steps of its jobs               */
    int64_t waiting; /* units of GPUs whose job waits for others here more than elsewhere */
    int64_t since_ns;
    int128 carried, waited; /* times ns */
};

struct contention {
    struct agenda joins; /* a slot per live row: those in their start-up */
    bool network; /* jobs have collectives between servers */
    struct fabric_net fabric;
    struct periodic *net;
    enum estimate estimate; /* ESTIMATES: nobody waits for others */
    double *nic_factor;     /* [servers][nics_per_server]         */
    struct member *members; /* [member_room] by live row */
    uint32_t *live_of;      /* [live_room] by row of the net */
    uint32_t member_room, live_room;
    uint32_t *servers, *order, *spare; /* [servers] of a job */
    uint64_t *keys;                    /* [servers]          */
    uint64_t key_ecmp;
    uint32_t *mask_of, *masks; /* [servers] all 0 between calls: GPUs of a job by server; in the order of `servers` */
    double *crossings, *of_server; /* [servers] of a job; by server, all 0. NULL: each is left once */
    uint8_t *node_seen; /* [nodes] all 0 */
    struct link_use *uses;
    struct link_told *told; /* [links] NULL without detail */
    bool changed;
    struct storage_net *storage; /* NULL without limits           */
    uint32_t *live_of_store;     /* [store_room] by row of the storage */
    uint32_t store_room;
    bool store_changed;
    int64_t *load; /* [servers][2] storage traffic over compute NICs; NULL when it has links of its own */
    int64_t waiting[ESTIMATES]; /* of all */
    int64_t since_ns;
    int128 waited[ESTIMATES]; /* inside the window, up to since_ns */
};

/* Less than this part of a time or rate does not change a tempo (MODELS 4.6). */
#define CONTENTION_MOVED 1e-9

/* Servers that the job holds GPUs of, ascending, each once, in contention->servers; those GPUs that it uses in ->masks. */
uint32_t contention_servers(const struct run *run, uint32_t live);

/* contention_crossings.c: false when memory is out; how often a job's `bytes` leave each of contention->servers[count], NULL when
 * once. */
bool contention_crossings_init(struct run *run);
const double *contention_crossings(struct run *run, uint32_t live, uint32_t count);

/* The job works as fast as its query says. */
void contention_retune(struct run *run, uint32_t live);

/* What of a server's NICs is left to collectives. */
void contention_set_server(struct contention *contention, uint32_t server);

/* contention_links.c: what is told of links follows the rates and waits of a job; or it is gone. */
void contention_links_set(struct run *run, uint32_t live);
void contention_links_drop(struct run *run, uint32_t live);
void contention_links_finish(struct run *run);

/* contention_storage.c: false when memory is out. */
bool contention_storage_init(struct run *run);
void contention_storage_enter(struct run *run, uint32_t live);
void contention_storage_leave(struct run *run, uint32_t live);
void contention_storage_settle(struct run *run);

#endif
