/* flow_net_parts.h - what the files of the flow net share. Not for others. */
#ifndef GPUPLAN_NETWORK_FLOW_NET_PARTS_H
#define GPUPLAN_NETWORK_FLOW_NET_PARTS_H

#include "engine/agenda.h"
#include "network/columns.h"
#include "network/flow_net.h"

enum { ROOM_CLASSES = 32 };

enum link_state {
    LINK_SPARE = 1,  /* cannot bind, whatever its members do                      */
    LINK_QUEUED = 2, /* in the work                                               */
    LINK_LOOSE = 4,  /* spare and settled: its uses stand behind the tight ones */
};

enum { PEERS_MOST = 3 }; /* a flow up and down a tree of two levels crosses four links */

/* The other links of a member whose flow has no cap and puts the same load on each of 2 to 4 links; count is 0 for any other,
 * which is looked up. Kept beside the member: looking up costs a miss of the cache for each flow. */
struct net_peers {
    uint32_t link[PEERS_MOST]; /* behind count the last one again */
    uint32_t count;
};

/* The members of a link are the flows that use it; their columns are one block. */
struct net_link {
    double capacity;
    double weights;    /* sum of the members', to rounding: orders work only      */
    double most;       /* what they could ever carry at most, sum of those below the capacity */
    double *weight;    /* [room], an even number: load for a unit of level: per_unit times the flow's weight; the block, owned */
    double *member_most; /* [room] what it could ever carry here: its cap or another of its links stops it */
    uint32_t *flows;   /* [room] */
    struct net_peers *peers; /* [room] */
    uint32_t count, room;
    uint32_t wide; /* members whose most is not below the capacity */
    uint32_t mark; /* number of the last walk that found it */
    bool dirty;
};

struct net_flow {
    double weight;
    double cap_level;       /* cap / weight */
    double rate;            /* as told last */
    uint32_t first, count;  /* its uses; count is FLOW_NONE for a free row */
    uint32_t tight;         /* so many of them come first: of links that may hold it up */
    uint32_t room;          /* uses asked for when it was added: the size of its block */
    uint32_t next_free;
};

struct flow_net {
    struct net_link *links; /* [link_room] */
    uint8_t *state;         /* [link_room] of enum link_state, what is asked of a link most often */
    double *level;          /* [link_room] rate / weight at which the full link stops flows; INFINITY when it is not full */
    double *slack;          /* [link_room] load until a link that is not full has to be solved; kept while it is not */
    uint32_t link_count, link_room;
    struct net_flow *flows; /* [flow_room] */
    double *flow_level;     /* [flow_room] least of the flow's cap and links as levels; negative until it is known */
    uint32_t flow_rows, flow_room, free_flow;
    struct flow_use *uses; /* [use_room] blocks of 2^k, one for each flow; tight ones first    */
    uint32_t *place;       /* [use_room] member of the link that a use is; next block of a free one */
    uint32_t use_rows, use_room;
    uint32_t free_block[ROOM_CLASSES];
    double *limit;         /* [limit_room + 1] scratch: where the members of a link are stopped by others */
    uint32_t *moved;       /* [limit_room] scratch: members that a new level moves */
    uint32_t limit_room;
    struct agenda work;    /* links to solve, lowest level first */
    uint32_t *dirty;       /* [link_room] links that changed since the last solve */
    uint32_t dirty_count;
    uint32_t *roots; /* [link_room] those of them, at the last solve, that could bind before or after */
    uint32_t root_count;
    uint32_t *walk; /* [link_room] links that a walk has found and not left yet */
    uint32_t walks; /* so far                                                   */
    bool forget;       /* the next solve starts from nothing */
    bool from_nothing; /* all levels began as INFINITY: each link is filled once */
    struct row_set touched; /* flows whose rate may have changed since the last solve */
    struct row_set reached;
    uint32_t *list;         /* [flow_room] what solve and reached return              */
};

void flow_net_touch(struct flow_net *net, uint32_t link); /* the link is to be looked at */
void flow_net_loosen(struct flow_net *net, uint32_t link, bool loose); /* its uses change sides */

#endif
