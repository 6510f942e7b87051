/* fabric.c - see fabric.h. */
#include "network/fabric.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

static bool has_pods(const struct fabric_shape *shape)
{
    return shape->kind == FABRIC_THREE_TIER && shape->pods > 1;
}

static bool has_groups(const struct fabric_shape *shape)
{
    return shape->kind == FABRIC_DRAGONFLY && shape->pods > 1;
}

bool fabric_net_init(struct fabric_net *net, const struct fabric_shape *shape,
                     double server_bytes_per_s)
{
    *net = (struct fabric_net){ .shape = *shape, .server_bytes_per_s = server_bytes_per_s };
    net->first_unit = 2 * shape->servers;
    net->first_pod = net->first_unit + (shape->uplinks_per_leaf > 0 ? 2 * shape->units : 0);
    net->first_group = net->first_pod + (has_pods(shape) ? 2 * shape->pods : 0);
    net->links = net->first_group + (has_groups(shape) ? shape->pods * shape->pods : 0);
    net->unit_count = calloc(shape->units + 1, sizeof *net->unit_count);
    net->pod_count = calloc(shape->pods + 1, sizeof *net->pod_count);
    return net->unit_count && net->pod_count;
}

void fabric_net_clear(struct fabric_net *net)
{
    free(net->unit_count);
    free(net->pod_count);
    *net = (struct fabric_net){ 0 };
}

double fabric_net_capacity(const struct fabric_net *net, uint32_t link)
{
    const struct fabric_shape *shape = &net->shape;
    const double trunk = shape->trunk_bytes_per_s;
    ASSERT(link < net->links);
    if (link < net->first_unit) return net->server_bytes_per_s;
    if (link < net->first_pod) return (double)shape->rails * shape->uplinks_per_leaf * trunk;
    if (link < net->first_group)
        return (double)shape->spines / shape->pods * shape->uplinks_per_spine * trunk;
    return shape->global_links * trunk;
}

uint32_t fabric_net_most_uses(const struct fabric_net *net, uint32_t servers)
{
    const uint32_t units = servers < net->shape.units ? servers : net->shape.units;
    const uint32_t pods = servers < net->shape.pods ? servers : net->shape.pods;
    return 2 * (servers + units + pods);
}

struct use_list {
    struct link_use *uses;
    uint32_t count;
    double bytes, flows;
};

static void use(struct use_list *list, uint32_t link)
{
    list->uses[list->count++] =
        (struct link_use){ .link = link, .bytes = list->bytes, .flows = list->flows };
}

static void use_both(struct use_list *list, uint32_t link)
{
    use(list, link);
    use(list, link + 1);
}

/* From each group to the next one of the ring, and from the last to the first. */
static void use_groups(const struct fabric_net *net, const uint32_t *servers, uint32_t count,
                       struct use_list *list)
{
    const uint32_t per_group = net->shape.servers_per_leaf * net->shape.units_per_pod;
    const uint32_t groups = net->shape.pods, first = servers[0] / per_group;
    uint32_t last = first;
    for (uint32_t i = 1; i <= count; i++) {
        const uint32_t group = i < count ? servers[i] / per_group : first;
        if (group != last) use(list, net->first_group + last * groups + group);
        last = group;
    }
}

/* A leaf, or pod, that holds some of the servers and not all is left once and entered once. */
static void use_shared(uint32_t *held, uint32_t part, uint32_t count, uint32_t link,
                       struct use_list *list)
{
    if (held[part] > 0 && held[part] < count) use_both(list, link);
    held[part] = 0;
}

uint32_t fabric_net_uses(struct fabric_net *net, const uint32_t *servers, uint32_t count,
                         double bytes, double flows, struct link_use *uses)
{
    const struct fabric_shape *shape = &net->shape;
    struct use_list list = { .uses = uses, .bytes = bytes, .flows = flows };
    if (count < 2) return 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t unit = servers[i] / shape->servers_per_leaf;
        ASSERT(servers[i] < shape->servers && (i == 0 || servers[i] > servers[i - 1]));
        use_both(&list, 2 * servers[i]);
        net->unit_count[unit]++;
        net->pod_count[unit / shape->units_per_pod]++;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t unit = servers[i] / shape->servers_per_leaf;
        const uint32_t pod = unit / shape->units_per_pod;
        if (shape->uplinks_per_leaf > 0)
            use_shared(net->unit_count, unit, count, net->first_unit + 2 * unit, &list);
        if (has_pods(shape))
            use_shared(net->pod_count, pod, count, net->first_pod + 2 * pod, &list);
        net->unit_count[unit] = net->pod_count[pod] = 0;
    }
    if (has_groups(shape)) use_groups(net, servers, count, &list);
    return list.count;
}

void fabric_net_name(const struct fabric_net *net, uint32_t link, char text[32])
{
    static const char *const way[] = { "out", "in" };
    const struct {
        const char *what;
        uint32_t first;
    } kinds[] = { { "pod", net->first_pod }, { "leaf", net->first_unit }, { "server", 0 } };
    ASSERT(link < net->links);
    if (link >= net->first_group) {
        const uint32_t pair = link - net->first_group;
        snprintf(text, 32, "group %u to %u", pair / net->shape.pods, pair % net->shape.pods);
        return;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (link < kinds[i].first) continue;
        const uint32_t row = link - kinds[i].first;
        snprintf(text, 32, "%s %u %s", kinds[i].what, row / 2, way[row % 2]);
        return;
    }
}
