/* slurm_power.c - see slurm_power.h. */
#include "policy/slurm_power.h"

#include "base/assert.h"
#include "base/clock.h"

static void list_append(struct slurm_power *power, enum slurm_power_list list, uint32_t node)
{
    struct slurm_power_node *own = &power->nodes[node];
    ASSERT(own->list == LIST_NONE);
    own->list = (uint8_t)list;
    own->next = POWER_NONE;
    own->previous = power->last[list];
    if (own->previous == POWER_NONE)
        power->first[list] = node;
    else
        power->nodes[own->previous].next = node;
    power->last[list] = node;
}

static void list_remove(struct slurm_power *power, uint32_t node)
{
    struct slurm_power_node *own = &power->nodes[node];
    if (own->list == LIST_NONE) return;
    if (own->previous == POWER_NONE)
        power->first[own->list] = own->next;
    else
        power->nodes[own->previous].next = own->next;
    if (own->next == POWER_NONE)
        power->last[own->list] = own->previous;
    else
        power->nodes[own->next].previous = own->previous;
    own->list = LIST_NONE;
}

bool slurm_power_init(struct slurm_power *power, const struct slurm_spec *spec, uint32_t node_count,
                      struct arena *arena)
{
    *power = (struct slurm_power){ .spec = spec, .node_count = node_count };
    for (uint32_t list = 0; list < LISTS; list++)
        power->first[list] = power->last[list] = POWER_NONE;
    if (spec->suspend_time_ns == TIME_NEVER) return true;
    power->nodes = ARENA_ARRAY(arena, struct slurm_power_node, node_count);
    if (!power->nodes) return false;
    for (uint32_t node = 0; node < node_count; node++) {
        power->nodes[node].list = LIST_NONE;
        list_append(power, LIST_IDLE, node);
    }
    return true;
}

/* Time alone takes a node from going down to down, and from coming up to up. */
static void settle(struct slurm_power *power, uint32_t node, int64_t now_ns)
{
    struct slurm_power_node *own = &power->nodes[node];
    if (own->state == POWER_GOING_DOWN && now_ns >= own->until_ns) {
        list_remove(power, node);
        own->state = POWER_DOWN;
    }
    if (own->state == POWER_COMING_UP && now_ns >= own->until_ns) own->state = POWER_UP;
}

void slurm_power_busy(struct slurm_power *power, uint32_t node)
{
    if (power->nodes && power->nodes[node].list == LIST_IDLE) list_remove(power, node);
}

void slurm_power_idle(struct slurm_power *power, uint32_t node, int64_t now_ns)
{
    if (!power->nodes) return;
    struct slurm_power_node *own = &power->nodes[node];
    settle(power, node, now_ns);
    if (own->list != LIST_NONE || own->state == POWER_DOWN) return;
    own->idle_ns = now_ns;
    list_append(power, LIST_IDLE, node);
}

int64_t slurm_power_wake_ns(const struct slurm_power *power)
{
    const uint32_t node = power->first[LIST_IDLE];
    if (node == POWER_NONE) return TIME_NEVER;
    return time_add(power->nodes[node].idle_ns, power->spec->suspend_time_ns);
}

uint32_t slurm_power_next_down(struct slurm_power *power, int64_t now_ns)
{
    if (slurm_power_wake_ns(power) > now_ns) return POWER_NONE;
    const uint32_t node = power->first[LIST_IDLE];
    list_remove(power, node);
    power->nodes[node].state = POWER_GOING_DOWN;
    power->nodes[node].until_ns = time_add(now_ns, power->spec->suspend_ns);
    list_append(power, LIST_GOING, node);
    return node;
}

enum slurm_power_state slurm_power_state(const struct slurm_power *power, uint32_t node,
                                         int64_t now_ns)
{
    if (!power->nodes) return POWER_UP;
    const struct slurm_power_node *own = &power->nodes[node];
    if (own->state == POWER_GOING_DOWN && now_ns >= own->until_ns) return POWER_DOWN;
    if (own->state == POWER_COMING_UP && now_ns >= own->until_ns) return POWER_UP;
    return (enum slurm_power_state)own->state;
}

int64_t slurm_power_ready_ns(const struct slurm_power *power, uint32_t node, int64_t now_ns)
{
    switch (slurm_power_state(power, node, now_ns)) {
    case POWER_GOING_DOWN:
        return TIME_NEVER;
    case POWER_DOWN:
        return time_add(now_ns, power->spec->resume_ns);
    case POWER_COMING_UP:
        return power->nodes[node].until_ns;
    default:
        return now_ns;
    }
}

int64_t slurm_power_raise(struct slurm_power *power, uint32_t node, int64_t now_ns)
{
    const int64_t ready_ns = slurm_power_ready_ns(power, node, now_ns);
    ASSERT(ready_ns != TIME_NEVER);
    if (!power->nodes) return ready_ns;
    settle(power, node, now_ns);
    list_remove(power, node);
    struct slurm_power_node *own = &power->nodes[node];
    if (own->state == POWER_DOWN) {
        own->state = POWER_COMING_UP;
        own->until_ns = ready_ns;
        settle(power, node, now_ns);
    }
    return ready_ns;
}

int64_t slurm_power_asleep_ns(const struct slurm_power *power)
{
    const uint32_t node = power->first[LIST_GOING];
    return node == POWER_NONE ? TIME_NEVER : power->nodes[node].until_ns;
}

uint32_t slurm_power_next_asleep(struct slurm_power *power, int64_t now_ns)
{
    if (slurm_power_asleep_ns(power) > now_ns) return POWER_NONE;
    const uint32_t node = power->first[LIST_GOING];
    settle(power, node, now_ns);
    return node;
}
