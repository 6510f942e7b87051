/* speed_site.h - the servers and network of a layout, or of the recording, as the models see them. Used by speed. */
#ifndef GPUPLAN_CLUSTER_SPEED_SITE_H
#define GPUPLAN_CLUSTER_SPEED_SITE_H

#include "cluster/speed.h"
#include "models/collective_time.h"
#include "models/hardware.h"

struct site {
    uint32_t gpus_per_server, links_per_server;
    uint32_t servers_per_leaf, servers_per_domain; /* nodes, where these share a server      */
    uint32_t rails; /* leaves that one server hangs on                                 */
    uint16_t rail_nics[LIMIT_GPUS_PER_SERVER + 1]; /* [g]: NICs in use by the first g GPUs, on the rail that has most */
    double nic_bytes_per_s;
    double nic_share_bytes_per_s; /* of one node, where nodes share a server            */
    double slices_bytes_per_s;    /* a ring of MIG instances                             */
    double compute_frac;          /* v: what virtual machines take longer               */
    double uplinks_bytes_per_s;   /* all uplinks of one leaf together, with rails of one unit */
    double write_bytes_per_s;     /* of its storage; 0 = without limit                     */
    enum topology topology;       /* what a path through several leaves crosses               */
    double switch_s;              /* each switch of it                                        */
    bool sharp;                   /* jobs let the switches of its fabric sum               */
    double pods_bytes_per_s;      /* between two groups of a dragonfly                     */
    struct collective_hardware hardware;
};


struct site site_of_layout(const struct scenario *scenario, const struct variant *variant);

/* The recorded cluster: its own servers and NICs; of its network nothing is known, so it is that
 * of the baseline, without a limit at its uplinks. It is the same for all layouts. */
struct site site_recorded(const struct scenario *scenario);

/* Algorithms that a rule allows, as collective_time reads them; `gpuplan collective` calls them ring, auto, hier, sharp. */
uint32_t site_allowed(const struct site *site, enum allreduce_rule rule);

/* What the collective takes for servers: NVLink domains, where servers share them (MODELS 1.8). */
uint32_t site_islands(struct speed_place place);

/* The members of a collective of all GPUs of a placement. */
struct collective_group site_group(struct speed_place place, uint32_t gpus);

/* The site's hardware for one placement. MIG instances have no peer access: they send through the host (MODELS 1.3a); left out:
 * that those of one GPU share its slot. Its network is bounded by the uplinks of the leaves of the emptiest island when the
 * job spans leaves, and by the cables between two groups of a dragonfly when it spans these: in leaf order its ring leaves a
 * leaf, and a group, once (MODELS 1.5 leaf_share, 2.11), parts of a plan as models/traffic says, over the rails of the
 * NICs in use, of which that with most NICs counts. Three tiers bound nothing more: what leaves a leaf finds as much
 * room above. Each switch of the longest path beyond the first takes its time in every step between servers (MODELS 1.5): one
 * on a leaf, three in a pod, five across pods, four across groups of a dragonfly; cables have no length. */
struct collective_hardware site_hardware(const struct site *site, struct speed_place place);

/* Fewest servers of the site that hold the job, evenly filled. */
struct speed_place site_compact(const struct site *site, uint32_t gpus, uint32_t nodes);

/* What a training plan sends, into the operation: bytes of a server are its part of what its NVLink domain sends. One ring of all
 * servers needs no parts. */
void site_send(struct speed_operation *operation, const struct speed_place *place, uint32_t gpus,
               const struct traffic_part *parts, uint32_t count);

#endif
