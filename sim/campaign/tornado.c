/* tornado.c - see tornado.h. */
#include "campaign/tornado.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/text.h"
#include "campaign/plan_fabric.h"

/* Factors: what the sources of these numbers differ by among each other (FIGURES: communication
 * and overlap within a factor of 2, failure rates of fleets within a factor of 3). */
static const struct setting known[] = {
    { AXIS_COMMUNICATION, 0.5 }, { AXIS_COMMUNICATION, 2 }, { AXIS_FAILURES, 1.0 / 3 },
    { AXIS_FAILURES, 3 },        { AXIS_SERVER_GROWTH, 1 }, { AXIS_NICS, 0.5 },
    { AXIS_LOAD, 0.9 },          { AXIS_LOAD, 1.1 },
};

static bool has_failures(const struct scenario *scenario)
{
    bool any = false;
    for (int kind = 0; kind < COMPONENTS; kind++)
        any |= scenario->failures.component[kind].law != LAW_NONE;
    return any && scenario->failures.scale > 0;
}

/* Whether a server can have half of its NICs: one stays one, and nodes of one server own those that break in equal parts. */
static bool can_be_halved(const struct scenario *scenario, const struct layout *layout)
{
    const uint32_t halved = layout->fabric.nics_per_server / 2;
    const uint32_t parts = layout->group_count == 1 && layout->groups[0].nodes_per_server > 1
                               ? layout->groups[0].nodes_per_server
                               : 1;
    const bool breaks = scenario->failures.component[COMPONENT_LINK].law != LAW_NONE;
    return halved > 0 && (!breaks || halved % parts == 0);
}

static bool has_spare_nics(const struct scenario *scenario)
{
    for (uint32_t l = 0; l < scenario->layout_count; l++)
        if (can_be_halved(scenario, &scenario->layouts[l])) return true;
    return false;
}

/* Whether moving this assumption can change anything here. */
static bool is_meant(const struct scenario *scenario, const struct setting *setting)
{
    const bool talks = scenario->communication.kind != COMM_NONE;
    switch (setting->axis) {
    case AXIS_COMMUNICATION:
        return talks;
    case AXIS_FAILURES:
        return has_failures(scenario);
    case AXIS_SERVER_GROWTH:
        return has_failures(scenario) && scenario->failures.server_growth < setting->value &&
               scenario->failures.component[COMPONENT_SERVER].law != LAW_NONE;
    case AXIS_NICS:
        return talks && has_spare_nics(scenario);
    default:
        return scenario->horizon_ns != HORIZON_ALL;
    }
}

void tornado_settings(struct plan *plan)
{
    const struct scenario *scenario = plan->scenario;
    plan->settings[0] = (struct setting){ AXIS_NONE, 1 };
    plan->setting_count = 1;
    /* Every replica of a move has its pair as written, so no more than are run in any case. */
    const uint32_t sure = scenario->until.given ? UNTIL_FIRST : plan->replicas;
    plan->setting_replicas = scenario->tornado_replicas < sure ? scenario->tornado_replicas : sure;
    if (!scenario->tornado || scenario->layout_count < 2) return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_meant(scenario, &known[i])) plan->settings[plan->setting_count++] = known[i];
}

/* Jobs whose run times, and limits, are longer by a factor ask for more by that factor. */
static bool stretch_jobs(struct world *world, double factor, struct arena *arena)
{
    struct jobs *jobs = &world->jobs;
    int64_t *duration_ns = ARENA_ARRAY(arena, int64_t, jobs->count);
    int64_t *limit_ns = ARENA_ARRAY(arena, int64_t, jobs->count);
    if (!duration_ns || !limit_ns) return false;
    for (uint32_t row = 0; row < jobs->count; row++) {
        duration_ns[row] = ns_from_s(s_from_ns(jobs->duration_ns[row]) * factor);
        limit_ns[row] = jobs->limit_ns[row] == JOB_NO_LIMIT
                            ? JOB_NO_LIMIT
                            : ns_from_s(s_from_ns(jobs->limit_ns[row]) * factor);
    }
    jobs->duration_ns = duration_ns;
    jobs->limit_ns = limit_ns;
    for (uint32_t v = 0; v < world->plan.variant_count; v++) {
        world->plan.variants[v].offered_load *= factor;
        world->plan.variants[v].unserved_gpu_s *= factor;
    }
    return true;
}

/* Fewer ports need fewer leaves; what could be wired before can be now, with the rails and groups that fit. */
static void halve_nics(struct world *world, double factor)
{
    for (uint32_t l = 0; l < world->scenario.layout_count; l++) {
        struct fabric *fabric = &world->scenario.layouts[l].fabric;
        if (!can_be_halved(&world->scenario, &world->scenario.layouts[l])) continue;
        fabric->nics_per_server = (uint32_t)(fabric->nics_per_server * factor);
        fabric->nics_per_gpu *= factor;
        fabric->rails = fabric->groups = fabric->global_links = 0;
    }
    for (uint32_t v = 0; v < world->plan.variant_count; v++) {
        struct variant *variant = &world->plan.variants[v];
        const struct fabric *fabric = &world->scenario.layouts[variant->layout].fabric;
        struct fabric_problem problem;
        const bool wired = plan_fabric(fabric, variant->servers, &variant->fabric, &problem);
        ASSERT(wired);
    }
}

struct world *tornado_world(const struct run_shared *shared, uint32_t row, struct arena *arena)
{
    struct world *world = arena_take(arena, 1, sizeof *world);
    if (!world) return NULL;
    const struct setting setting = shared->plan->settings[row];
    world->scenario = *shared->plan->scenario;
    if (row > 0) text_copy(world->scenario.detail, sizeof world->scenario.detail, "none", 4);
    world->plan = *shared->plan;
    world->jobs = *shared->plan->jobs;
    world->shared = *shared;
    world->plan.scenario = &world->scenario;
    world->plan.jobs = &world->jobs;
    world->shared.plan = &world->plan;
    switch (setting.axis) {
    case AXIS_COMMUNICATION:
        world->scenario.communication.scale *= setting.value;
        break;
    case AXIS_FAILURES:
        world->scenario.failures.scale *= setting.value;
        break;
    case AXIS_SERVER_GROWTH:
        world->scenario.failures.server_growth = setting.value;
        break;
    case AXIS_NICS:
        halve_nics(world, setting.value);
        break;
    case AXIS_LOAD:
        if (!stretch_jobs(world, setting.value, arena)) return NULL;
        break;
    default:
        break;
    }
    return world;
}
