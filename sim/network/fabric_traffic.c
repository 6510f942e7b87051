/* fabric_traffic.c - uses of a job whose traffic has parts: rings, all-to-all and stages of groups; see fabric.h. */
#include "network/fabric_nics.h"
#include "network/fabric_parts.h"

#include "base/assert.h"
#include "base/philox.h"

#include <math.h>
#include <stddef.h>

/* A job, while its uses are counted. */
struct counted {
    struct fabric_net *net;
    const uint32_t *servers;
    uint32_t count;
    const struct fabric_job *job;
    double flows_per_byte;
    struct link_use *uses;
    uint32_t used;
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static uint32_t unit_of(const struct fabric_net *net, uint32_t server)
{
    return server / net->shape.servers_per_leaf;
}

static uint32_t pod_of(const struct fabric_net *net, uint32_t server)
{
    return unit_of(net, server) / net->shape.units_per_pod;
}

static struct traffic_way way_of(const struct counted *at, const struct traffic_part *part)
{
    return traffic_way_of(part, at->job->gpus, at->count, at->job->domains);
}

static void use(struct counted *at, uint32_t link, double bytes)
{
    if (!(bytes > 0)) return;
    at->uses[at->used++] = (struct link_use){ link, bytes, bytes * at->flows_per_byte };
}

static void use_both(struct counted *at, uint32_t link, double bytes)
{
    use(at, link, bytes);
    use(at, link + 1, bytes);
}

/* Bytes that leave the job's servers first .. end - 1, and enter them. */
static double leaving(const struct counted *at, uint32_t first, uint32_t end)
{
    double bytes = 0;
    if (end - first == at->count) return 0;
    for (uint32_t p = 0; p < at->job->part_count; p++) {
        const struct traffic_way way = way_of(at, &at->job->parts[p]);
        bytes += at->job->parts[p].bytes * traffic_leaving(&way, first, end);
    }
    return bytes;
}

static void use_servers(struct counted *at)
{
    for (uint32_t i = 0; i < at->count; i++) {
        double bytes = 0;
        for (uint32_t p = 0; p < at->job->part_count; p++) {
            const struct traffic_way way = way_of(at, &at->job->parts[p]);
            bytes += at->job->parts[p].bytes * traffic_out(&way, i);
        }
        if (at->job->crossings) bytes *= at->job->crossings[i];
        use_both(at, 2 * at->servers[i], bytes);
    }
}

/* Behind the last server that is in the same unit, or pod, as server i. */
static uint32_t end_of(const struct counted *at, uint32_t i,
                       uint32_t (*part_of)(const struct fabric_net *, uint32_t))
{
    const uint32_t part = part_of(at->net, at->servers[i]);
    while (i < at->count && part_of(at->net, at->servers[i]) == part) i++;
    return i;
}

static void use_units(struct counted *at)
{
    for (uint32_t i = 0, end; i < at->count; i = end) {
        end = end_of(at, i, unit_of);
        use_both(at, at->net->first_unit + 2 * unit_of(at->net, at->servers[i]),
                 leaving(at, i, end));
    }
}

static void use_pods(struct counted *at)
{
    for (uint32_t i = 0, end; i < at->count; i = end) {
        end = end_of(at, i, pod_of);
        use_both(at, at->net->first_pod + 2 * pod_of(at->net, at->servers[i]), leaving(at, i, end));
    }
}

/* From servers i .. i_end - 1 to servers j .. j_end - 1. */
static double between(const struct counted *at, uint32_t i, uint32_t i_end, uint32_t j,
                      uint32_t j_end)
{
    double bytes = 0;
    for (uint32_t p = 0; p < at->job->part_count; p++) {
        const struct traffic_way way = way_of(at, &at->job->parts[p]);
        for (uint32_t from = i; from < i_end; from++)
            bytes += at->job->parts[p].bytes * traffic_into(&way, from, j, j_end);
    }
    return bytes;
}

static void use_groups(struct counted *at)
{
    const uint32_t groups = at->net->shape.pods;
    for (uint32_t i = 0, i_end; i < at->count; i = i_end) {
        i_end = end_of(at, i, pod_of);
        const uint32_t from = at->net->first_group + pod_of(at->net, at->servers[i]) * groups;
        for (uint32_t j = 0, j_end; j < at->count; j = j_end) {
            j_end = end_of(at, j, pod_of);
            if (j == i) continue;
            use(at, from + pod_of(at->net, at->servers[j]), between(at, i, i_end, j, j_end));
        }
    }
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static struct cable_load *loads_of(const struct counted *at, uint32_t unit)
{
    return at->net->loads + 2 * (size_t)unit * at->net->cables;
}

/* Flows from one server to another, each over one cable that its NIC reaches. */
static void draw(const struct counted *at, uint32_t part, const struct nic_set *nics, uint32_t from,
                 uint32_t to, double bytes)
{
    const struct fabric_net *net = at->net;
    const struct fabric_job *job = at->job;
    const uint32_t uplinks = net->shape.uplinks_per_leaf, flows = job->nics * net->queue_pairs;
    struct cable_load *out = loads_of(at, unit_of(net, from)), *in = loads_of(at, unit_of(net, to));
    const uint64_t pair = mix64(mix64((uint64_t)from << 32 | to) + job->epoch);
    const uint64_t key = mix64(job->key + part + 1);
    for (uint32_t f = 0, nic = 0; f < flows; f++) {
        while (!nic_set_has(nics, nic)) nic++;
        const uint32_t rail = nic % net->shape.rails;
        nic += (f + 1) % net->queue_pairs == 0;
        const uint32_t any = (uint32_t)(stream_uniform(key, job->serial, pair + f) * uplinks);
        const uint32_t cable = rail * uplinks + (any < uplinks ? any : uplinks - 1);
        out[2 * cable].part_bytes += bytes / flows;
        in[2 * cable + 1].part_bytes += bytes / flows;
    }
}

static void draw_part(const struct counted *at, uint32_t p)
{
    const struct traffic_part *part = &at->job->parts[p];
    const struct traffic_way way = way_of(at, part);
    for (uint32_t i = 0; i < at->count; i++) {
        const uint32_t first = i - i % way.block, rest = at->count - first;
        const uint32_t end = first + (way.block < rest ? way.block : rest);
        const struct nic_set nics = fabric_nics(at->net, at->job, i);
        for (uint32_t j = first; j < end; j++) {
            if (unit_of(at->net, at->servers[i]) == unit_of(at->net, at->servers[j])) continue;
            const double share = traffic_into(&way, i, j, j + 1);
            if (share > 0) draw(at, p, &nics, at->servers[i], at->servers[j], part->bytes * share);
        }
    }
}

/* What a part has put on the cables of the job's units is put to the others; how much there is on the fullest. */
static double keep_part(const struct counted *at)
{
    double most = 0;
    for (uint32_t i = 0, end; i < at->count; i = end) {
        end = end_of(at, i, unit_of);
        struct cable_load *loads = loads_of(at, unit_of(at->net, at->servers[i]));
        for (uint32_t c = 0; c < 2 * at->net->cables; c++) {
            most = larger(most, loads[c].part_bytes);
            loads[c].bytes += loads[c].part_bytes;
            loads[c].part_bytes = 0;
        }
    }
    return most;
}

static void use_cables(struct counted *at)
{
    at->net->drawn_s = 0;
    for (uint32_t p = 0; p < at->job->part_count; p++) {
        draw_part(at, p);
        at->net->drawn_s += keep_part(at) / at->net->shape.trunk_bytes_per_s;
    }
    for (uint32_t i = 0, end; i < at->count; i = end) {
        end = end_of(at, i, unit_of);
        const uint32_t unit = unit_of(at->net, at->servers[i]);
        struct cable_load *loads = loads_of(at, unit);
        for (uint32_t c = 0; c < 2 * at->net->cables; c++) {
            use(at, at->net->first_unit + 2 * unit * at->net->cables + c, loads[c].bytes);
            loads[c].bytes = 0;
        }
    }
}

uint32_t fabric_traffic_uses(struct fabric_net *net, const uint32_t *servers, uint32_t count,
                             const struct fabric_job *job, struct link_use *uses)
{
    struct counted at = {
        .net = net, .servers = servers, .count = count, .job = job, .uses = uses
    };
    double all = 0;
    for (uint32_t p = 0; p < job->part_count; p++) all += job->parts[p].bytes;
    at.flows_per_byte = (double)job->nics * net->queue_pairs / all;
    ASSERT(all > 0);
    use_servers(&at);
    if (fabric_one_by_one(net))
        use_cables(&at);
    else if (net->shape.uplinks_per_leaf > 0)
        use_units(&at);
    if (fabric_has_pods(net)) use_pods(&at);
    if (fabric_has_groups(net)) use_groups(&at);
    return at.used;
}

/* So many more sums of so many flows; where there is no room for another kind, the last one is as full as the fullest. */
static uint32_t add_kind(struct fullest_leaves *kinds, uint32_t count, uint32_t leaves,
                         double flows)
{
    const uint32_t whole = (uint32_t)smaller(flows, UINT32_MAX);
    uint32_t k = 0;
    while (k < count && kinds[k].flows != whole) k++;
    if (k == FULLEST_KINDS) {
        k--;
        if (whole > kinds[k].flows) kinds[k].flows = whole;
    }
    if (k == count) kinds[count++] = (struct fullest_leaves){ 0, whole };
    kinds[k].leaves += leaves;
    return count;
}

/* Mean time of one part by `expected` routing, all of whose flows are as large. What enters a cable in all-to-all comes from several
 * leaves: another sum than any that leaves one. */
static bool expected_s(const struct counted *at, const struct traffic_part *part, double *part_s)
{
    const struct fabric_shape *shape = &at->net->shape;
    const struct traffic_way way = way_of(at, part);
    const double pair = traffic_pair(&way), pairs_each = at->net->queue_pairs;
    const struct rail_nics nics = fabric_rail_nics(at->net, at->job);
    struct fullest_leaves kinds[FULLEST_KINDS];
    uint32_t count = 0, end = end_of(at, 0, unit_of);
    const bool several = end < at->count && end_of(at, end, unit_of) < at->count;
    const uint32_t sums = several && part->pattern == TRAFFIC_ALL_TO_ALL ? 2 : 1;
    for (uint32_t i = 0; i < at->count; i = end) {
        end = end_of(at, i, unit_of);
        const double share = end - i < at->count ? traffic_leaving(&way, i, end) : 0;
        const double flows = ceil(share / pair - 1e-9) * pairs_each;
        if (share <= 0) continue;
        if (nics.others > 0)
            count = add_kind(kinds, count, sums * (shape->rails - nics.rails), flows * nics.others);
        count = add_kind(kinds, count, sums * nics.rails, flows * nics.most);
    }
    double mean = 0;
    const double flow_bytes = part->bytes * pair / (at->job->nics * pairs_each);
    if (count > 0 && !fullest_mean(&at->net->fullest, kinds, count, 0, &mean)) return false;
    *part_s = mean * flow_bytes / shape->trunk_bytes_per_s;
    return true;
}

bool fabric_traffic_routed_s(struct fabric_net *net, const uint32_t *servers, uint32_t count,
                             const struct fabric_job *job, double *routed_s)
{
    const struct counted at = { .net = net, .servers = servers, .count = count, .job = job };
    if (fabric_one_by_one(net)) *routed_s = net->drawn_s;
    if (net->routing != ROUTING_EXPECTED) return true;
    for (uint32_t p = 0; p < job->part_count; p++) {
        double part_s;
        if (!expected_s(&at, &job->parts[p], &part_s)) return false;
        *routed_s += part_s;
    }
    return true;
}
