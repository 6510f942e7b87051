/* storage.h - the links of one storage, and what reading and writing puts on them (MODELS 4.7).
 *
 * They are rows behind those of a fabric:
 *
 *     storage read, write             first, first + 1: of all jobs together
 *     server s to, from the storage   first + 2 + 2 s, first + 3 + 2 s; only when servers have links of their own for it
 *
 * Without such links the traffic goes over the fabric, from and to a place behind its spines (fabric_net_outside).
 * Tests: tests/test_storage.c */
#ifndef GPUPLAN_NETWORK_STORAGE_H
#define GPUPLAN_NETWORK_STORAGE_H

#include "network/fabric.h"
#include "spec/scenario.h"

enum storage_way { STORAGE_READ, STORAGE_WRITE };

struct storage_links {
    struct fabric_net *fabric; /* borrowed */
    struct storage limits;           /* 0 = none; of servers: over the NICs */
    uint32_t first, links;           /* rows first to links - 1 */
};

void storage_links_init(struct storage_links *links, const struct storage *limits,
                        struct fabric_net *fabric);

/* Bytes a second of a link from `first` on; INFINITY without a limit. */
double storage_links_capacity(const struct storage_links *links, uint32_t link);

/* Most uses of a job on `servers` servers. */
uint32_t storage_links_most_uses(const struct storage_links *links, uint32_t servers);

/* What bytes of a job on servers[count], different ones in ascending order, put on the links, the same of each server.
 * uses[storage_links_most_uses]; returns their number. */
uint32_t storage_links_uses(const struct storage_links *links, enum storage_way way, double bytes,
                            const uint32_t *servers, uint32_t count, struct link_use *uses);

/* "storage read", "server 12 to storage". */
void storage_links_name(const struct storage_links *links, uint32_t link,
                        char text[LINK_NAME_BYTES]);

#endif
