/* storage.c - see storage.h. */
#include "network/storage.h"

#include "base/assert.h"

#include <math.h>
#include <stdio.h>

void storage_links_init(struct storage_links *links, const struct storage *limits,
                        struct fabric_net *fabric)
{
    const uint32_t own = limits->server_bytes_per_s > 0 ? 2 * fabric->shape.servers : 0;
    *links = (struct storage_links){ .fabric = fabric,
                                     .limits = *limits,
                                     .first = fabric->links,
                                     .links = fabric->links + 2 + own };
}

double storage_links_capacity(const struct storage_links *links, uint32_t link)
{
    ASSERT(link >= links->first && link < links->links);
    const struct storage *limits = &links->limits;
    const double limit = link == links->first       ? limits->read_bytes_per_s
                         : link == links->first + 1 ? limits->write_bytes_per_s
                                                    : limits->server_bytes_per_s;
    return limit > 0 ? limit : INFINITY;
}

uint32_t storage_links_most_uses(const struct storage_links *links, uint32_t servers)
{
    return 1 + fabric_net_most_uses(links->fabric, servers);
}

uint32_t storage_links_uses(const struct storage_links *links, enum storage_way way, double bytes,
                            const uint32_t *servers, uint32_t count, struct link_use *uses)
{
    struct fabric_net *fabric = links->fabric;
    const bool over_nics = links->limits.server_bytes_per_s <= 0;
    const double flows =
        over_nics ? (double)fabric->shape.nics_per_server * fabric->queue_pairs : 1;
    const uint32_t in = way == STORAGE_READ;
    ASSERT(count >= 1);
    uses[0] = (struct link_use){ links->first + (in ? 0 : 1), bytes, flows * count };
    if (over_nics)
        return 1 + fabric_net_outside(fabric, servers, count, bytes / count, in, uses + 1);
    for (uint32_t i = 0; i < count; i++)
        uses[i + 1] =
            (struct link_use){ links->first + 2 + 2 * servers[i] + in, bytes / count, flows };
    return count + 1;
}

void storage_links_name(const struct storage_links *links, uint32_t link,
                        char text[LINK_NAME_BYTES])
{
    const uint32_t row = link - links->first;
    if (row < 2)
        snprintf(text, LINK_NAME_BYTES, "storage %s", row == 0 ? "read" : "write");
    else
        snprintf(text, LINK_NAME_BYTES, "server %u %s storage", (row - 2) / 2,
                 row % 2 ? "from" : "to");
}
