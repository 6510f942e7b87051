/* on_user.c - see on_user.h. */
#include "handlers/on_user.h"

#include "base/assert.h"
#include "handlers/contention.h"
#include "handlers/on_fault.h"
#include "handlers/transition.h"
#include "spec/node_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Under ReturnToService 0 of Slurm a node that answers again stays down until an administrator resumes it. */
static bool returns(const struct run *run, enum user_action action)
{
    const struct scenario *scenario = run->scenario;
    return action == ACTION_RESUME || scenario->kind != KIND_SLURM ||
           scenario->slurm.return_to_service > 0;
}

static void act_on_node(struct run *run, enum user_action action, uint32_t node)
{
    switch (action) {
    case ACTION_NODE_DOWN:
        if (run->hand_down[node]) return;
        run->hand_down[node] = 1;
        fault_by_hand(run, node, run->cluster.full_mask[node], true);
        break;
    case ACTION_DRAIN:
        if (run->hand_drain[node]) return;
        run->hand_drain[node] = 1;
        transition_node(run, node, cluster_node_out);
        break;
    default:
        if (run->hand_down[node] && returns(run, action)) {
            run->hand_down[node] = 0;
            repair_by_hand(run, node, run->cluster.full_mask[node], true);
        }
        if (action == ACTION_RESUME && run->hand_drain[node]) {
            run->hand_drain[node] = 0;
            transition_node(run, node, cluster_node_back);
        }
        break;
    }
}

/* A list that this layout does not have whole is another layout's. */
static void act_on_nodes(struct run *run, const struct user_event *event)
{
    uint32_t count;
    char name[LIMIT_NAME_BYTES];
    if (node_list_check(run->view.layout, event->target, &count, name)) return;
    for (uint32_t i = 0; i < count; i++)
        act_on_node(run, event->action, node_list_at(run->view.layout, event->target, i));
}

/* NODE:INDEX; NODE_NONE on layouts without the node. */
static uint32_t part_of(const struct run *run, const struct user_event *event, uint32_t *index)
{
    char name[LIMIT_TARGET_BYTES];
    snprintf(name, sizeof name, "%s", event->target);
    char *colon = strrchr(name, ':');
    if (!colon) return NODE_NONE;
    *colon = 0;
    *index = (uint32_t)strtoul(colon + 1, NULL, 10);
    return node_find(run->view.layout, name);
}

static void act_on_nic(struct run *run, const struct user_event *event)
{
    uint32_t nic;
    const uint32_t node = part_of(run, event, &nic);
    if (node == NODE_NONE) return;
    const uint32_t server = node / (run->variant->nodes / run->variant->servers);
    if (event->action == ACTION_NIC_DEAD) {
        link_dead_by_hand(run, server, nic);
        return;
    }
    const double factor = event->action == ACTION_NIC_DEGRADE ? event->factor : 1;
    contention_set_nic(run, server, nic, factor);
    if (factor > 0) link_alive_by_hand(run, server, nic);
}

/* Other layouts go on without it. */
static void act_on_uplinks(struct run *run, const struct user_event *event)
{
    const struct layout *layout = &run->scenario->layouts[run->variant->layout];
    const uint32_t leaf = leaf_of_target(event->target, layout->name);
    if (leaf == LEAF_NONE) return;
    contention_set_leaf(run, leaf, event->action == ACTION_UPLINK_DEGRADE ? event->factor : 1);
}

static void act_on_gpu(struct run *run, const struct user_event *event)
{
    uint32_t bit;
    const uint32_t node = part_of(run, event, &bit);
    if (node == NODE_NONE || bit >= run->cluster.groups[run->cluster.group_of[node]].gpus) return;
    const uint32_t mask = 1u << bit;
    const bool is_broken = run->cluster.broken_mask[node] & mask;
    if (event->action == ACTION_GPU_FAIL && !is_broken) fault_by_hand(run, node, mask, false);
    if (event->action == ACTION_GPU_REPAIR && is_broken) repair_by_hand(run, node, mask, false);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* The target is a job's id, or the name of all jobs that are called so. */
static bool is_target(const struct run *run, uint32_t live, const char *target)
{
    const struct jobs *jobs = run->plan->jobs;
    const uint32_t row = run->live.jobs[live].row;
    if (jobs->id && !strcmp(jobs->text + jobs->id[row], target)) return true;
    return jobs->words && jobs->words[row].name != TEXT_NONE &&
           !strcmp(jobs->text + jobs->words[row].name, target);
}

static void tell_hold(struct run *run, uint32_t live, bool on)
{
    run->policy->note(
        run->policy_memory, &run->view,
        (struct note){ .kind = NOTE_HOLD, .at_ns = run->now_ns, .live = live, .on = on });
    run->plan_needed = true;
}

static void act_on_job(struct run *run, enum user_action action, uint32_t live)
{
    switch (action) {
    case ACTION_SCANCEL:
        transition_cancel(run, live);
        break;
    case ACTION_REQUEUE:
        transition_user_requeue(run, live);
        break;
    case ACTION_REQUEUE_HOLD:
        tell_hold(run, live, true);
        transition_user_requeue(run, live);
        break;
    default:
        tell_hold(run, live, action == ACTION_HOLD);
        break;
    }
}

static void act_on_jobs(struct run *run, const struct user_event *event)
{
    for (uint32_t live = 0; live < run->live.count; live++)
        if (run->live.jobs[live].state != LIVE_FREE && is_target(run, live, event->target))
            act_on_job(run, event->action, live);
    run->plan_needed = true;
}

void on_user(struct run *run, uint32_t row)
{
    const struct user_event *event = &run->scenario->events[row];
    run->next_user_event = row + 1;
    switch (event->action) {
    case ACTION_NODE_DOWN:
    case ACTION_NODE_UP:
    case ACTION_DRAIN:
    case ACTION_RESUME:
        act_on_nodes(run, event);
        break;
    case ACTION_NIC_DEGRADE:
    case ACTION_NIC_REPAIR:
    case ACTION_NIC_DEAD:
        act_on_nic(run, event);
        break;
    case ACTION_UPLINK_DEGRADE:
    case ACTION_UPLINK_REPAIR:
        act_on_uplinks(run, event);
        break;
    case ACTION_GPU_FAIL:
    case ACTION_GPU_REPAIR:
        act_on_gpu(run, event);
        break;
    default:
        act_on_jobs(run, event);
        break;
    }
}
