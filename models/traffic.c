/* traffic.c - see traffic.h. */
#include "models/traffic.h"

#include "base/assert.h"

#include <stdbool.h>

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}
static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

struct traffic_way traffic_way_of(const struct traffic_part *part, uint32_t gpus, uint32_t servers,
                                  uint32_t domains)
{
    ASSERT(part->members >= 2 && part->stride >= 1 && servers >= 2 && servers <= gpus);
    ASSERT(domains >= 1 && domains <= servers);
    const uint64_t stride = ((uint64_t)part->stride * servers + gpus / 2) / gpus;
    const uint64_t ranks = (uint64_t)part->members * part->stride;
    const uint64_t block = (ranks * servers + gpus - 1) / gpus;
    const uint32_t domain = (servers + domains - 1) / domains;
    /* A ring, or a stage, that ends inside a domain goes on in the next one. */
    const uint32_t least = part->pattern == TRAFFIC_ALL_TO_ALL ? 1 : domain;
    return (struct traffic_way){ .pattern = part->pattern,
                                 .servers = servers,
                                 .domain = domain,
                                 .stride = larger(smaller((uint32_t)stride, servers), least),
                                 .block = block < servers ? larger((uint32_t)block, 1) : servers,
                                 .back = part->back };
}

/* Servers of a block, in rows. */
struct range {
    uint32_t first, end;
};

static struct range block_of(const struct traffic_way *way, uint32_t server)
{
    const uint32_t first = server - server % way->block;
    return (struct range){ first, first + smaller(way->block, way->servers - first) };
}

static struct range domain_of(const struct traffic_way *way, uint32_t server)
{
    const uint32_t first = server - server % way->domain;
    return (struct range){ first, first + smaller(way->domain, way->servers - first) };
}

static struct range both(struct range a, struct range b)
{
    const uint32_t first = larger(a.first, b.first);
    return (struct range){ first, larger(first, smaller(a.end, b.end)) };
}

static bool holds(struct range range, uint32_t server)
{
    return server >= range.first && server < range.end;
}

/* Servers of the group of `server` in a part of its block. */
static uint32_t members_in(const struct traffic_way *way, struct range block, uint32_t server,
                           struct range part)
{
    const struct range within = both(block, part);
    const uint32_t place = (server - block.first) % way->stride, first = block.first + place;
    if (within.end <= first) return 0;
    const uint32_t below =
        larger(within.first, first) - first; /* rows of the group's span before the part */
    return (within.end - first + way->stride - 1) / way->stride -
           (below + way->stride - 1) / way->stride;
}

static double to_all(const struct traffic_way *way, uint32_t server, struct range to)
{
    const struct range block = block_of(way, server), domain = domain_of(way, server);
    const uint32_t others =
        members_in(way, block, server, block) - members_in(way, block, server, domain);
    if (others == 0) return 0;
    const uint32_t there =
        members_in(way, block, server, to) - members_in(way, block, server, both(domain, to));
    return (double)there / others;
}

/* The one behind in the group, or the first one. */
static uint32_t next_of(const struct traffic_way *way, struct range block, uint32_t server)
{
    const uint32_t place = server - block.first;
    return place + way->stride < block.end - block.first ? server + way->stride
                                                         : block.first + place % way->stride;
}

/* The one before, or the last one. */
static uint32_t before_of(const struct traffic_way *way, struct range block, uint32_t server)
{
    const uint32_t place = server - block.first, count = block.end - block.first;
    return place >= way->stride ? server - way->stride
                                : server + (count - 1 - place) / way->stride * way->stride;
}

static double to_neighbours(const struct traffic_way *way, uint32_t server, struct range to)
{
    const struct range block = block_of(way, server);
    const uint32_t next = next_of(way, block, server), before = before_of(way, block, server);
    if (next == server) return 0;
    if (way->pattern == TRAFFIC_RING) return holds(to, next) ? 1 : 0;
    const double behind = next > server ? 1 : way->back, ahead = before < server ? 1 : way->back;
    return (holds(to, next) ? behind / 2 : 0) + (holds(to, before) ? ahead / 2 : 0);
}

double traffic_into(const struct traffic_way *way, uint32_t server, uint32_t first, uint32_t end)
{
    const struct range to = { first, end };
    ASSERT(server < way->servers && first <= end && end <= way->servers);
    return way->pattern == TRAFFIC_ALL_TO_ALL ? to_all(way, server, to)
                                              : to_neighbours(way, server, to);
}

double traffic_out(const struct traffic_way *way, uint32_t server)
{
    return traffic_into(way, server, 0, way->servers);
}

double traffic_pair(const struct traffic_way *way)
{
    if (way->pattern == TRAFFIC_RING) return 1;
    if (way->pattern == TRAFFIC_STAGES)
        return way->block / way->stride > 2 ? 0.5 : 0.5 + way->back / 2;
    const struct range block = { 0, way->block };
    const uint32_t others =
        members_in(way, block, 0, block) - members_in(way, block, 0, domain_of(way, 0));
    return others > 0 ? 1.0 / others : 1;
}

double traffic_leaving(const struct traffic_way *way, uint32_t first, uint32_t end)
{
    double share = 0;
    for (uint32_t server = first; server < end; server++)
        share += traffic_into(way, server, 0, first) + traffic_into(way, server, end, way->servers);
    return share;
}

double traffic_fullest(const struct traffic_way *way, uint32_t per_leaf)
{
    ASSERT(per_leaf >= 1);
    double most = 0;
    for (uint32_t first = 0; per_leaf < way->servers && first < way->servers; first += per_leaf) {
        const uint32_t end = first + smaller(per_leaf, way->servers - first);
        const double share = traffic_leaving(way, first, end);
        if (share > most) most = share;
    }
    return most;
}

double traffic_fullest_pair(const struct traffic_way *way, uint32_t per_group)
{
    ASSERT(per_group >= 1);
    const uint32_t all = way->servers;
    double most = 0;
    for (uint32_t first = 0; per_group < all && first < all; first += per_group)
        for (uint32_t to = 0; to < all; to += per_group) {
            const uint32_t end = first + smaller(per_group, all - first);
            const uint32_t to_end = to + smaller(per_group, all - to);
            double share = 0;
            for (uint32_t server = first; to != first && server < end; server++)
                share += traffic_into(way, server, to, to_end);
            if (share > most) most = share;
        }
    return most;
}
