/* flow_net_parts.h - what the files of the flow net share. Not for others. */
#ifndef GPUPLAN_NETWORK_FLOW_NET_PARTS_H
#define GPUPLAN_NETWORK_FLOW_NET_PARTS_H

#include "network/flow_net.h"

enum { ROOM_CLASSES = 32 };

/* A flow as a link sees it: scanned whenever the link is solved. */
struct net_member {
    double weight; /* load on the link for a unit of level: per_unit times the flow's weight  */
    double limit;  /* level at which the flow's cap or another of its links stops it          */
};

struct net_link {
    double capacity;
    double level;               /* rate / weight at which the full link stops its flows; INFINITY when it is not full */
    struct net_member *members; /* [room], owned */
    uint32_t *flows;            /* [room] whose members they are, owned */
    uint32_t count, room;
    uint32_t mark; /* number of the last walk that found it */
    bool dirty;
};

struct net_flow {
    double weight;
    double cap_level;       /* cap / weight */
    double rate;            /* as told last */
    uint32_t first, count;  /* its uses; count is FLOW_NONE for a free row */
    uint32_t room;          /* uses asked for when it was added: the size of its block */
    uint32_t next_free;
};

/* A set of rows that is listed in ascending order: bits, and a bit for each word of bits. */
struct row_set {
    uint64_t *words, *summary;
    uint32_t rows; /* room */
};

struct flow_net {
    struct net_link *links; /* [link_room] */
    uint32_t link_count, link_room;
    struct net_flow *flows; /* [flow_room] */
    uint32_t flow_rows, flow_room, free_flow;
    struct flow_use *uses; /* [use_room] blocks of 2^k, one for each flow                      */
    uint32_t *place;       /* [use_room] member of the link that a use is; next block of a free one */
    uint32_t use_rows, use_room;
    uint32_t free_block[ROOM_CLASSES];
    uint32_t *dirty; /* [link_room] links to look at */
    uint32_t dirty_count;
    uint32_t *roots; /* [link_room] links that were dirty at the last solve */
    uint32_t root_count;
    uint32_t *walk; /* [link_room] links that a walk has found and not left yet */
    uint32_t walks; /* so far                                                   */
    struct row_set touched; /* flows whose rate may have changed since the last solve */
    struct row_set reached;
    uint32_t *list;         /* [flow_room] what solve and reached return              */
};

/* Room for rows 0 to rows - 1, empty where new. False when memory is out. */
bool row_set_grow(struct row_set *set, uint32_t rows);
void row_set_add(struct row_set *set, uint32_t row);
uint32_t row_set_take(struct row_set *set, uint32_t *list); /* lists the rows and empties the set */
void row_set_clear(struct row_set *set);                    /* frees */

void flow_net_touch(struct flow_net *net, uint32_t link); /* the link is to be looked at */

#endif
