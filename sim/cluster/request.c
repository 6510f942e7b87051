/* request.c - see request.h. */
#include "cluster/request.h"

#include "base/assert.h"
#include "base/philox.h"
#include "cluster/cluster.h"

#include <string.h>

static uint64_t request_hash(const struct request *request)
{
    uint64_t hash = mix64(request->gpus | (uint64_t)request->nodes << 32);
    hash = mix64(hash ^ request->cores ^ (uint64_t)request->shape << 32);
    hash = mix64(hash ^ request->ask ^ (uint64_t)request->share_units << 32);
    return mix64(hash ^ request->memory_bytes);
}

static bool request_equal(const struct request *a, const struct request *b)
{
    return a->gpus == b->gpus && a->nodes == b->nodes && a->cores == b->cores &&
           a->shape == b->shape && a->ask == b->ask && a->share_units == b->share_units &&
           a->memory_bytes == b->memory_bytes;
}

struct request request_of_row(const struct jobs *jobs, uint32_t row, enum shape shape)
{
    const uint32_t ask = jobs->ask ? jobs->ask[row] : ASK_NONE;
    uint32_t share_units = 0;
    if (ask != ASK_NONE && jobs->asks[ask].gpu_milli) {
        const uint32_t pods = jobs->asks[ask].pods ? jobs->asks[ask].pods : 1;
        share_units = pods * jobs->asks[ask].gpu_milli * (uint32_t)(CLUSTER_UNITS / 1000);
    }
    /* Who asks in a scheduler's words for nodes gets so many. */
    if (ask != ASK_NONE && jobs->nodes && jobs->nodes[row]) shape = SHAPE_RECORDED;
    return (struct request){
        .ask = ask,
        .share_units = share_units,
        .gpus = jobs->gpus[row],
        .nodes = shape == SHAPE_RECORDED && jobs->nodes ? jobs->nodes[row] : 0,
        .cores = jobs->cores ? jobs->cores[row] : 0,
        .shape = (uint8_t)shape,
        .memory_bytes = jobs->memory_bytes ? jobs->memory_bytes[row] : 0,
    };
}

/* Open addressing at load time only; the table holds class + 1, 0 = empty. Order of classes is the
 * order of rows, so it does not depend on the hash. */
bool request_table_build(struct request_table *table, const struct jobs *jobs, enum shape shape,
                         struct arena *arena)
{
    *table = (struct request_table){ .class_of_row = ARENA_ARRAY(arena, uint32_t, jobs->count) };
    uint32_t capacity = 1024;
    uint32_t *cells = ARENA_ARRAY(arena, uint32_t, capacity);
    table->classes = ARENA_ARRAY(arena, struct request, capacity / 2);
    if (!table->class_of_row || !cells || !table->classes) return false;
    for (uint32_t row = 0; row < jobs->count; row++) {
        const struct request request = request_of_row(jobs, row, shape);
        uint32_t at = (uint32_t)request_hash(&request) & (capacity - 1);
        while (cells[at] && !request_equal(&table->classes[cells[at] - 1], &request))
            at = (at + 1) & (capacity - 1);
        if (!cells[at]) {
            table->classes[table->class_count] = request;
            cells[at] = ++table->class_count;
        }
        table->class_of_row[row] = cells[at] - 1;
        if (table->class_count < capacity / 2) continue;
        /* Half full: a table of twice the size, filled again in the order of classes. */
        struct request *classes = ARENA_ARRAY(arena, struct request, capacity);
        cells = ARENA_ARRAY(arena, uint32_t, 2 * (size_t)capacity);
        if (!classes || !cells) return false;
        capacity *= 2;
        for (uint32_t c = 0; c < table->class_count; c++) {
            classes[c] = table->classes[c];
            uint32_t cell = (uint32_t)request_hash(&classes[c]) & (capacity - 1);
            while (cells[cell]) cell = (cell + 1) & (capacity - 1);
            cells[cell] = c + 1;
        }
        table->classes = classes;
    }
    return true;
}

static uint32_t div_ceil(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a + b - 1) / b);
}

struct demand demand_of(const struct request *request, uint32_t gpus_per_node, uint32_t nodes,
                        uint32_t cores_per_node, uint64_t memory_bytes_per_node, uint32_t slack)
{
    const uint32_t g = gpus_per_node, n = request->gpus;
    struct demand demand = { .gpus = n,
                             .share_units = request->share_units,
                             .held = n,
                             .groups = UINT64_MAX,
                             .flexible = request->ask != ASK_NONE };
    if (request->shape == SHAPE_RECORDED && request->nodes) {
        demand.nodes = request->nodes;
        demand.per_node = div_ceil(n, request->nodes);
        demand.even = true;
    } else if (n <= g) {
        demand.nodes = 1;
        demand.per_node = n;
    } else {
        demand.nodes = div_ceil(n, g);
        demand.per_node = g;
        if (request->shape == SHAPE_MODEL) demand.held = demand.nodes * g;
    }
    if (request->shape == SHAPE_FREE || slack == SLACK_ANY)
        demand.nodes_max = n;
    else
        demand.nodes_max = n - demand.nodes > slack ? demand.nodes + slack : n;
    if (request->shape == SHAPE_RECORDED && request->nodes) demand.nodes_max = demand.nodes;
    if (demand.nodes_max > nodes) demand.nodes_max = nodes;
    if (demand.nodes_max < demand.nodes) demand.nodes_max = demand.nodes;

    demand.hosted = request->cores > 0 || request->memory_bytes > 0;
    if (n == 0) {
        /* Cores only, or a part of a GPU: on one node. */
        demand.by_part = true;
        demand.part_cores_milli = request->cores * 1000;
        demand.part_memory_bytes = request->memory_bytes;
        demand.ever =
            request->cores <= cores_per_node && request->memory_bytes <= memory_bytes_per_node;
        return demand;
    }
    demand.cores_milli_per_gpu = (uint32_t)(((uint64_t)request->cores * 1000 + n - 1) / n);
    demand.memory_bytes_per_gpu = (request->memory_bytes + n - 1) / n;
    demand.ever =
        demand.nodes <= nodes && demand.per_node <= g &&
        (uint64_t)demand.cores_milli_per_gpu * demand.per_node <= UINT64_C(1000) * cores_per_node &&
        demand.memory_bytes_per_gpu * demand.per_node <= memory_bytes_per_node;
    return demand;
}

/* ---- asks of plain policies ------------------------------------------------------------------ */

/* Whether a list of types, A|B, names this one; an empty list names all. */
static bool type_is_listed(const char *list, const char *type)
{
    if (list[0] == '\0') return true;
    const size_t bytes = strlen(type);
    for (const char *at = list; bytes > 0; at++) {
        const char *const end = at + strcspn(at, "|");
        if ((size_t)(end - at) == bytes && memcmp(at, type, bytes) == 0) return true;
        if (*end == '\0') return false;
        at = end;
    }
    return false;
}

static uint64_t groups_of_type(const struct layout *layout, const char *list)
{
    uint64_t groups = 0;
    if (layout->group_count == 0) return type_is_listed(list, layout->server.gpu) ? UINT64_MAX : 0;
    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct server_group *group = &layout->groups[g];
        const char *const type = group->gpu_type[0] ? group->gpu_type : group->server.gpu;
        if (type_is_listed(list, type)) groups |= UINT64_C(1) << g;
    }
    return groups;
}

/* A pod is a part; several pods are as many GPUs, each with its part of the pod's cores and memory. */
static void demand_ask(struct demand *demand, const struct layout *layout, const struct jobs *jobs,
                       const struct ask *ask)
{
    const char *const types = jobs->text + ask->gpu_type;
    if (types[0]) demand->groups = groups_of_type(layout, types);
    if (ask->pods > 1) {
        if (demand->gpus == 0 || ask->pod_gpus == 0) {
            demand->ever = false; /* no GPU to tell its parts apart by */
            return;
        }
        if (!demand->cores_milli_per_gpu)
            demand->cores_milli_per_gpu = div_ceil(ask->pod_cpu_milli, ask->pod_gpus);
        if (!demand->memory_bytes_per_gpu)
            demand->memory_bytes_per_gpu =
                (ask->pod_memory_bytes + ask->pod_gpus - 1) / ask->pod_gpus;
        demand->hosted |= demand->cores_milli_per_gpu || demand->memory_bytes_per_gpu;
    } else {
        demand->share_milli = ask->gpu_milli;
        if (ask->pod_cpu_milli) demand->part_cores_milli = ask->pod_cpu_milli;
        if (ask->pod_memory_bytes) demand->part_memory_bytes = ask->pod_memory_bytes;
    }
    demand->by_part = demand->gpus == 0 || demand->part_cores_milli || demand->part_memory_bytes ||
                      demand->groups != UINT64_MAX;
}

/* Nodes of one kind of server that have what a part asks for. */
static uint64_t nodes_that_hold(const struct server_type *server, uint32_t parts, uint64_t nodes,
                                const struct demand *demand)
{
    const uint32_t least_gpus = demand->share_milli ? 1 : demand->per_node;
    const uint64_t cores_milli =
        demand->part_cores_milli + (uint64_t)demand->per_node * demand->cores_milli_per_gpu;
    const uint64_t memory_bytes =
        demand->part_memory_bytes + demand->per_node * demand->memory_bytes_per_gpu;
    return server->gpus / parts >= least_gpus &&
                   UINT64_C(1000) * server->cores / parts >= cores_milli &&
                   server->memory_bytes / parts >= memory_bytes
               ? nodes
               : 0;
}

/* Whether enough nodes have the cores, memory and GPUs of one part. */
static bool layout_holds(const struct layout *layout, const struct variant *variant,
                         const struct demand *demand)
{
    uint64_t nodes = 0;
    if (layout->group_count <= 1) {
        const uint32_t parts = variant->nodes / variant->servers;
        nodes =
            demand->groups ? nodes_that_hold(&layout->server, parts, variant->nodes, demand) : 0;
    }
    for (uint32_t g = 0; layout->group_count > 1 && g < layout->group_count; g++) {
        const struct server_group *group = &layout->groups[g];
        const uint32_t parts = group->nodes_per_server ? group->nodes_per_server : 1;
        if (demand->groups >> g & 1)
            nodes += nodes_that_hold(&group->server, parts, (uint64_t)group->count * parts, demand);
    }
    return nodes >= demand->nodes || (demand->nodes_max > demand->nodes && !demand->by_part);
}

struct demand demand_on(const struct scenario *scenario, const struct variant *variant,
                        const struct jobs *jobs, const struct request *request)
{
    const struct layout *layout = &scenario->layouts[variant->layout];
    uint32_t cores = layout->server.cores;
    uint64_t memory_bytes = layout->server.memory_bytes;
    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct server_type *server = &layout->groups[g].server;
        if (server->cores > cores) cores = server->cores;
        if (server->memory_bytes > memory_bytes) memory_bytes = server->memory_bytes;
    }
    struct demand demand = demand_of(request, variant->gpus_per_node, variant->nodes, cores,
                                     memory_bytes, variant->slack);
    const enum scheduler_kind kind = scenario_kind(scenario, layout);
    const bool ruled = kind == KIND_SLURM || kind == KIND_KUBERNETES;
    if (!ruled && request->ask != ASK_NONE)
        demand_ask(&demand, layout, jobs, &jobs->asks[request->ask]);
    if ((layout->group_count > 1 || demand.by_part) && !layout_holds(layout, variant, &demand))
        demand.ever = false;
    if (!ruled) return demand;
    if (request->ask != ASK_NONE) demand.ever = true;
    demand.ruled = true;
    return demand;
}

bool demand_fits(const struct demand *demand, const uint32_t *with_free, uint32_t gpus_per_node)
{
    uint64_t enough = 0;
    for (uint32_t f = demand->per_node; f <= gpus_per_node; f++) enough += with_free[f];
    if (enough >= demand->nodes) return true;
    if (!demand_may_scatter(demand)) return false;
    /* The emptiest nodes hold the most: if they cannot, no others can. */
    uint64_t nodes_left = demand->nodes_max, gpus = 0;
    for (uint32_t f = gpus_per_node; f > 0 && nodes_left > 0; f--) {
        const uint64_t taken = with_free[f] < nodes_left ? with_free[f] : nodes_left;
        gpus += taken * f;
        nodes_left -= taken;
        if (gpus >= demand->gpus) return true;
    }
    return false;
}
