/* plan_fabric.c - see plan_fabric.h. */
#include "campaign/plan_fabric.h"

#include "base/assert.h"
#include "models/hardware.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static uint64_t div_ceil(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

__attribute__((format(printf, 3, 4))) static bool
cannot(struct fabric_problem *problem, enum fabric_key key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    problem->key = key;
    vsnprintf(problem->text, sizeof problem->text, format, args);
    va_end(args);
    return false;
}

static bool has_rails(enum fabric_kind kind)
{
    return kind == FABRIC_RAIL || kind == FABRIC_RAIL_ONLY;
}

/* ---- leaves: what all kinds have in common ---- */

/* One switch of each rail holds all. */
static bool one_switch(const struct fabric *fabric, uint32_t servers, struct fabric_shape *shape)
{
    const uint64_t nics_per_rail = fabric->nics_per_server / shape->rails;
    if (servers * nics_per_rail > shape->radix) return false;
    shape->servers_per_leaf = servers;
    shape->units = shape->pods = shape->units_per_pod = 1;
    shape->leaves = shape->rails;
    shape->switches = shape->rails;
    shape->oversubscription = 1;
    return true;
}

/* Leaves of whole servers. */
static bool wire_leaves(const struct fabric *fabric, uint32_t servers, struct fabric_shape *shape,
                        struct fabric_problem *problem)
{
    const uint32_t radix = shape->radix, nics_per_rail = fabric->nics_per_server / shape->rails;
    const uint64_t ports = (uint64_t)servers * nics_per_rail;
    if (radix / (1 + fabric->oversubscription) < 1)
        return cannot(problem, FABRIC_KEY_OVERSUBSCRIPTION,
                      "oversubscription %g leaves none of the %u ports of a leaf to go up; at most "
                      "%u",
                      fabric->oversubscription, radix, radix - 1);
    const struct two_tier leaf = two_tier(ports, radix, fabric->oversubscription);
    if (leaf.down < nics_per_rail)
        return cannot(problem, FABRIC_KEY_NICS,
                      "a server has %u NICs on one leaf, but a leaf has only %" PRIu64
                      " of its %u ports down",
                      nics_per_rail, leaf.down, radix);
    const uint64_t per_leaf = leaf.down / nics_per_rail, units = div_ceil(servers, per_leaf);
    shape->servers_per_leaf = (uint32_t)per_leaf;
    shape->units = shape->units_per_pod = (uint32_t)units;
    shape->leaves = (uint32_t)(units * shape->rails);
    shape->pods = 1;
    shape->uplinks_per_leaf = (uint32_t)leaf.up;
    shape->oversubscription = (double)(per_leaf * nics_per_rail) / (double)leaf.up;
    return true;
}

/* ---- what stands above them ---- */

static bool wire_two_tiers(const struct fabric *fabric, struct fabric_shape *shape,
                           struct fabric_problem *problem)
{
    if (shape->units > shape->radix)
        return cannot(problem, FABRIC_KEY_TYPE,
                      "two tiers need %u leaves%s for %" PRIu64
                      " NIC ports, and a spine of %u ports reaches only %u: use three-tier, larger "
                      "switches, fewer NICs per GPU or more oversubscription",
                      shape->units, has_rails(fabric->kind) ? " a rail" : "",
                      (uint64_t)shape->servers * shape->nics_per_server, shape->radix,
                      shape->radix);
    const uint64_t trunks = (uint64_t)shape->units * shape->uplinks_per_leaf;
    shape->spines = (uint32_t)(div_ceil(trunks, shape->radix) * shape->rails);
    shape->trunks = trunks * shape->rails;
    return true;
}

/* Pods of R/2 leaves; half of the ports of a spine go up, and each core reaches every pod once. */
static bool wire_three_tiers(struct fabric_shape *shape, struct fabric_problem *problem)
{
    const uint32_t half = shape->radix / 2;
    if (shape->radix % 2)
        return cannot(problem, FABRIC_KEY_LINK,
                      "three tiers take switches with an even number of ports, got %u",
                      shape->radix);
    const uint64_t pods = div_ceil(shape->units, half);
    if (pods > shape->radix)
        return cannot(problem, FABRIC_KEY_TYPE,
                      "three tiers need %" PRIu64 " pods of %u leaves for %" PRIu64
                      " NIC ports, and a core of %u ports reaches only %u",
                      pods, half, (uint64_t)shape->servers * shape->nics_per_server, shape->radix,
                      shape->radix);
    const uint64_t leaf_trunks = (uint64_t)shape->units * shape->uplinks_per_leaf;
    const uint64_t spines = div_ceil(leaf_trunks, half);
    shape->units_per_pod = half;
    shape->pods = (uint32_t)pods;
    shape->spines = (uint32_t)spines;
    shape->uplinks_per_spine = half;
    shape->cores = (uint32_t)div_ceil(spines * half, shape->radix);
    shape->trunks = leaf_trunks + spines * half;
    return true;
}

/* Equal groups of leaves and spines; half of the ports of a spine go to other groups. */
static bool wire_dragonfly(const struct fabric *fabric, struct fabric_shape *shape,
                           struct fabric_problem *problem)
{
    const uint32_t half = shape->radix / 2;
    uint64_t groups = fabric->groups ? fabric->groups : div_ceil(shape->units, half);
    if (groups < 2) groups = 2;
    const uint64_t per_group = div_ceil(shape->units, groups);
    if (per_group > half)
        return cannot(
            problem, FABRIC_KEY_GROUPS,
            "%u leaves in %" PRIu64 " groups are %" PRIu64
            " a group, and a spine has %u of its %u ports for them: at least %" PRIu64 " groups",
            shape->units, groups, per_group, half, shape->radix, div_ceil(shape->units, half));
    if (div_ceil(shape->units, per_group) < groups)
        return cannot(problem, FABRIC_KEY_GROUPS,
                      "%u leaves cannot fill %" PRIu64 " equal groups: %" PRIu64 " of %" PRIu64
                      " are enough",
                      shape->units, groups, div_ceil(shape->units, per_group), per_group);
    const uint64_t spines = div_ceil(per_group * shape->uplinks_per_leaf, half);
    const uint64_t global_ports = spines * half;
    const uint64_t links =
        fabric->global_links ? fabric->global_links : global_ports / (groups - 1);
    if (links == 0 || links * (groups - 1) > global_ports)
        return cannot(problem, links ? FABRIC_KEY_GLOBAL_LINKS : FABRIC_KEY_GROUPS,
                      "%" PRIu64 " links to each of %" PRIu64 " other groups need %" PRIu64
                      " ports, and the %" PRIu64 " spines of a group have %" PRIu64,
                      links ? links : 1, groups - 1, (links ? links : 1) * (groups - 1), spines,
                      global_ports);
    shape->units_per_pod = (uint32_t)per_group;
    shape->pods = (uint32_t)groups;
    shape->spines = (uint32_t)(groups * spines);
    shape->uplinks_per_spine = (uint32_t)div_ceil(links * (groups - 1), spines);
    shape->global_links = (uint32_t)links;
    shape->trunks =
        (uint64_t)shape->units * shape->uplinks_per_leaf + groups * (groups - 1) / 2 * links;
    return true;
}

static bool wire(const struct fabric *fabric, uint32_t servers, struct fabric_shape *shape,
                 struct fabric_problem *problem)
{
    if (shape->rails == 0 || fabric->nics_per_server % shape->rails)
        return cannot(problem, FABRIC_KEY_RAILS, "%u NICs of a server cannot be shared by %u rails",
                      fabric->nics_per_server, shape->rails);
    if (one_switch(fabric, servers, shape)) return true;
    if (!wire_leaves(fabric, servers, shape, problem)) return false;
    bool good;
    if (fabric->kind == FABRIC_THREE_TIER)
        good = wire_three_tiers(shape, problem);
    else if (fabric->kind == FABRIC_DRAGONFLY)
        good = wire_dragonfly(fabric, shape, problem);
    else
        good = wire_two_tiers(fabric, shape, problem);
    shape->switches = (uint64_t)shape->leaves + shape->spines + shape->cores;
    return good;
}

bool plan_fabric(const struct fabric *fabric, uint32_t servers, struct fabric_shape *shape,
                 struct fabric_problem *problem)
{
    ASSERT(servers >= 1 && fabric->nics_per_server >= 1);
    struct fabric_shape wired = {
        .kind = fabric->kind,
        .servers = servers,
        .nics_per_server = fabric->nics_per_server,
        .rails = 1,
        .radix = fabric->link.switch_ports,
        .trunk_bytes_per_s = fabric->link.bytes_per_s,
    };
    if (has_rails(fabric->kind))
        wired.rails = fabric->rails ? fabric->rails : fabric->nics_per_server;
    if (!wire(fabric, servers, &wired, problem)) return false;
    *shape = wired;
    return true;
}
