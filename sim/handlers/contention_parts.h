/* contention_parts.h - what the files of contention share; nothing else includes it. */
#ifndef GPUPLAN_HANDLERS_CONTENTION_PARTS_H
#define GPUPLAN_HANDLERS_CONTENTION_PARTS_H

#include "handlers/contention.h"
#include "network/columns.h"
#include "network/flow_net.h"
#include "network/periodic.h"
#include "network/storage.h"

/* What a job wants of the storage, as the links were told. */
struct wanted {
    double read_alone_s; /* the input of a second of compute, before each step              */
    double read_bytes;   /* of the same, read ahead                                         */
    double asked, given; /* of its stream, bytes a second; what its collective was told     */
    double awake_frac;   /* of the time: no checkpoint is written                           */
    double wall_s;       /* of a second of compute; 0 = not told yet                        */
    uint64_t instant;    /* when it was looked at last, and how often it was followed then  */
    uint32_t followed, servers;
};

/* What a job does on the links. The first three are rows of the net and never happen at once; a stream is a flow. */
enum traffic_kind { TRAFFIC_COLLECTIVE, TRAFFIC_WRITE, TRAFFIC_READ, TRAFFICS_OF_NET, TRAFFIC_STREAM = TRAFFICS_OF_NET, TRAFFICS };

struct traffic {
    uint32_t row;     /* PERIODIC_NONE: it does not */
    uint32_t fullest; /* link that is told of its waiting                                      */
    double rate;      /* operations a second, of a stream bytes, that its links are told of    */
    int64_t waiting;  /* units of its GPUs that wait there                                     */
};

struct member {
    struct traffic traffic[TRAFFICS];
    struct speed_query query; /* with the waits of its tempo of now */
    double alone_s, unit_s;   /* of a collective, of the compute of its step   */
    uint32_t epoch;             /* attempt that placed it where it is */
    int64_t waiting[ESTIMATES]; /* units of its GPUs that wait for others, by estimate */
    struct wanted wanted;
};

/* A link, for those who ask where it is tight. Sums are over the window, up to since_ns. */
struct link_told {
    int64_t carries; /* bytes a second, the mean over the steps of its jobs               */
    int64_t streams; /* beside them, of input that is read ahead                          */
    int64_t waiting; /* units of GPUs whose job waits for others here more than elsewhere */
    int64_t since_ns;
    int128 carried, waited; /* times ns */
};

struct storing {
    struct storage_links links;
    struct flow_net *streams;
    uint32_t *live_of;             /* [stream_room] by row of the streams                 */
    double *by_link;               /* [links] all 0 between calls                         */
    double *told;                  /* [links] streams that the net was told of            */
    uint32_t *moved_list, *list;   /* [links], [live_room]                                */
    struct row_set moved;          /* links that carry something else since               */
    struct row_set looked, slowed; /* live jobs: to be looked at; whose tempo may change */
    struct link_use *uses;         /* of a job                                          */
    struct flow_use *flows;
    uint32_t stream_room, live_room;
    uint64_t instant; /* a number for each */
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
    uint32_t links;
    struct link_told *told; /* [links] NULL without detail and storage */
    bool changed;
    struct storing *storing; /* NULL without limits of a storage */
    int64_t waiting[ESTIMATES]; /* of all */
    int64_t since_ns;
    int128 waited[ESTIMATES]; /* inside the window, up to since_ns */
};

/* Less than this part of a time or rate does not change a tempo (MODELS 4.6). */
#define CONTENTION_MOVED 1e-9

/* An operation over a dead link: the job stands still. */
#define CONTENTION_WAIT_MOST_S 1e9

/* Servers that the job holds GPUs of, ascending, each once, in contention->servers; those GPUs that it uses in ->masks. */
uint32_t contention_servers(const struct run *run, uint32_t live);

/* contention_crossings.c: false when memory is out; how often a job's `bytes` leave each of contention->servers[count], NULL when
 * once. */
bool contention_crossings_init(struct run *run);
const double *contention_crossings(struct run *run, uint32_t live, uint32_t count);

/* The job works as fast as its query says. */
void contention_retune(struct run *run, uint32_t live);

/* A row of the net is part of a live job; false when memory is out. */
bool contention_set_live_of(struct contention *contention, uint32_t row, uint32_t live);

/* The wait of a collective, as the net has it, goes into the query; whether it moved. */
bool contention_take_wait(struct run *run, uint32_t live);

/* Who waits is counted up to now. */
void contention_wait_until_now(struct run *run);

/* contention_links.c: links are told of a part of a job, at this rate and with so many units of GPUs that wait at a link; or no
 * longer. */
void contention_links_set(struct run *run, uint32_t live, enum traffic_kind kind,
                          const struct traffic *now);
void contention_links_drop(struct run *run, uint32_t live, enum traffic_kind kind);
void contention_links_finish(struct run *run);

/* contention_storage.c: false when memory is out; destroy takes NULL. A link of the net has another capacity. */
bool contention_storage_init(struct run *run);
void contention_storage_destroy(struct storing *storing);
void contention_storage_enter(struct run *run, uint32_t live);
void contention_storage_leave(struct run *run, uint32_t live);
void contention_storage_moved(struct contention *contention, uint32_t link);
void contention_storage_settle(struct run *run); /* contention_storage_settle.c */

/* The rows of a job pause for what else its step waits for, as its wanted.wall_s says. */
void contention_storage_pause(struct run *run, uint32_t live);

/* A stream of the job, for storing->flows[count], which are of one byte of the job; false when memory is out. */
bool contention_storage_stream(struct contention *contention, uint32_t live, uint32_t count,
                               uint32_t servers);
const struct storage_links *contention_storage_links(const struct contention *contention);
uint32_t contention_storage_uses(const struct contention *contention, uint32_t stream,
                                 const struct flow_use **uses);

#endif
