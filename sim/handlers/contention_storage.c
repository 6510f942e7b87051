/* contention_storage.c - jobs that want something of the storage come and go; see contention_storage_settle.c for what they get.
 *
 * Checkpoints, and input that is read before each step, are rows of the same net as collectives: those of one job exclude each
 * other. Input that is read ahead is a stream. */
#include "handlers/contention_parts.h"

#include "network/columns.h"

#include <stdlib.h>

const struct storage_links *contention_storage_links(const struct contention *contention)
{
    return contention->storing ? &contention->storing->links : NULL;
}

uint32_t contention_storage_uses(const struct contention *contention, uint32_t stream,
                                 const struct flow_use **uses)
{
    return flow_net_uses(contention->storing->streams, stream, uses);
}

void contention_storage_moved(struct contention *contention, uint32_t link)
{
    if (contention->storing) row_set_add(&contention->storing->moved, link);
}

static bool add_links(struct contention *contention, struct storing *storing)
{
    for (uint32_t link = 0; link < storing->links.links; link++) {
        if (link >= storing->links.first &&
            !periodic_link(contention->net, storage_links_capacity(&storing->links, link)))
            return false;
        if (flow_net_link(storing->streams, periodic_capacity(contention->net, link)) != link)
            return false;
    }
    return true;
}

bool contention_storage_init(struct run *run)
{
    struct contention *contention = run->contention;
    struct storing *storing = calloc(1, sizeof *storing);
    if (!storing) return false;
    contention->storing = storing;
    storage_links_init(&storing->links, &run->variant->storage, &contention->fabric);
    contention->links = storing->links.links;
    const uint32_t uses = storage_links_most_uses(&storing->links, run->variant->servers);
    storing->streams = flow_net_create();
    storing->by_link = calloc(contention->links, sizeof *storing->by_link);
    storing->told = calloc(contention->links, sizeof *storing->told);
    storing->moved_list = calloc(contention->links, sizeof *storing->moved_list);
    storing->uses = calloc(uses, sizeof *storing->uses);
    storing->flows = calloc(uses, sizeof *storing->flows);
    return storing->streams && storing->by_link && storing->told && storing->moved_list &&
           storing->uses && storing->flows && row_set_grow(&storing->moved, contention->links) &&
           add_links(contention, storing);
}

void contention_storage_destroy(struct storing *storing)
{
    if (!storing) return;
    flow_net_destroy(storing->streams);
    row_set_clear(&storing->moved);
    row_set_clear(&storing->looked);
    row_set_clear(&storing->slowed);
    free(storing->live_of);
    free(storing->by_link);
    free(storing->told);
    free(storing->moved_list);
    free(storing->list);
    free(storing->uses);
    free(storing->flows);
    free(storing);
}

/* ---- coming and going ------------------------------------------------------------------------ */

static bool grow_lives(struct storing *storing, uint32_t room)
{
    if (room <= storing->live_room) return true;
    bool ok = row_set_grow(&storing->looked, room) && row_set_grow(&storing->slowed, room);
    storing->list = column_resize(storing->list, room, sizeof *storing->list, &ok);
    if (ok) storing->live_room = room;
    return ok;
}

static bool set_live_of(struct storing *storing, uint32_t row, uint32_t live)
{
    bool ok = true;
    if (row >= storing->stream_room) {
        const uint32_t room = 2 * row + 64;
        storing->live_of = column_resize(storing->live_of, room, sizeof *storing->live_of, &ok);
        if (ok) storing->stream_room = room;
    }
    if (ok) storing->live_of[row] = live;
    return ok;
}

/* A row of the net: what storing->uses[count] say, after compute_s each time. */
static bool add_row(struct contention *contention, uint32_t live, enum traffic_kind kind,
                    double compute_s, double alone_s, uint32_t count)
{
    struct traffic *traffic = contention->members[live].traffic;
    const struct periodic_job job = { .compute_s = compute_s,
                                      .alone_s = alone_s,
                                      .wire_s = alone_s };
    const uint32_t row = periodic_add(contention->net, &job, contention->storing->uses, count);
    if (row == PERIODIC_NONE || !contention_set_live_of(contention, row, live)) return false;
    for (int other = 0; other < TRAFFICS_OF_NET; other++)
        if (traffic[other].row != PERIODIC_NONE) {
            periodic_exclude(contention->net, row, traffic[other].row);
            break;
        }
    traffic[kind].row = row;
    return true;
}

/* Input before each step takes as long, alone on healthy links, as its slowest one. */
static bool add_read(struct contention *contention, uint32_t live, uint32_t count)
{
    const struct storing *storing = contention->storing;
    struct wanted *wanted = &contention->members[live].wanted;
    wanted->read_alone_s = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t link = storing->uses[i].link;
        const double capacity = link < storing->links.first
                                    ? fabric_net_capacity(&contention->fabric, link)
                                    : storage_links_capacity(&storing->links, link);
        const double s = storing->uses[i].bytes / capacity;
        if (s > wanted->read_alone_s) wanted->read_alone_s = s;
    }
    return add_row(contention, live, TRAFFIC_READ, 1, wanted->read_alone_s, count);
}

bool contention_storage_stream(struct contention *contention, uint32_t live, uint32_t count,
                               uint32_t servers)
{
    struct storing *storing = contention->storing;
    struct member *member = &contention->members[live];
    const uint32_t row =
        flow_net_add(storing->streams, servers, member->wanted.asked, storing->flows, count);
    member->traffic[TRAFFIC_STREAM].row = row;
    member->wanted.servers = servers;
    return row != FLOW_NONE && set_live_of(storing, row, live);
}

static bool enter(struct contention *contention, uint32_t live, const struct speed_storage *wants,
                  uint32_t servers)
{
    struct storing *storing = contention->storing;
    const uint32_t *list = contention->servers;
    if (wants->interval_s > 0) {
        const uint32_t count = storage_links_uses(&storing->links, STORAGE_WRITE,
                                                  wants->write_bytes, list, servers, storing->uses);
        if (!add_row(contention, live, TRAFFIC_WRITE, wants->interval_s, wants->write_s, count))
            return false;
    }
    if (wants->read_bytes <= 0) return true;
    const double bytes = wants->prefetch ? 1 : wants->read_bytes;
    const uint32_t count =
        storage_links_uses(&storing->links, STORAGE_READ, bytes, list, servers, storing->uses);
    if (!wants->prefetch) return add_read(contention, live, count);
    for (uint32_t i = 0; i < count; i++)
        storing->flows[i] = (struct flow_use){ storing->uses[i].link, storing->uses[i].bytes };
    contention->members[live].wanted.read_bytes = wants->read_bytes;
    contention->members[live].wanted.asked = wants->read_bytes / wants->step_s;
    return contention_storage_stream(contention, live, count, servers);
}

static bool set_pause(struct contention *contention, uint32_t row, double wall_s)
{
    if (row == PERIODIC_NONE) return true;
    const double pause_s = wall_s - periodic_busy_s(contention->net, row, contention->estimate);
    return periodic_set_pause(contention->net, row, pause_s > 0 ? pause_s : 0);
}

void contention_storage_pause(struct run *run, uint32_t live)
{
    struct contention *contention = run->contention;
    const struct member *member = &contention->members[live];
    const struct traffic *traffic = member->traffic;
    const double wall_s = member->wanted.wall_s;
    if (!set_pause(contention, traffic[TRAFFIC_COLLECTIVE].row, member->unit_s * wall_s) ||
        !set_pause(contention, traffic[TRAFFIC_READ].row, wall_s))
        run->out_of_memory = true;
}

/* At the pace that it has alone. */
void contention_storage_enter(struct run *run, uint32_t live)
{
    struct contention *contention = run->contention;
    struct storing *storing = contention->storing;
    struct member *member = &contention->members[live];
    struct wanted *wanted = &member->wanted;
    struct speed_query alone = member->query;
    struct speed_storage wants;
    if (!storing) return;
    alone.own_wait_s = alone.others_wait_s = alone.read_s = alone.write_wait_s = 0;
    const bool any = speed_storage(run->speed, &alone, &wants);
    const uint32_t servers = contention_servers(run, live);
    *wanted = (struct wanted){ 0 };
    if (servers == 0 || !grow_lives(storing, contention->member_room) ||
        (any && !enter(contention, live, &wants, servers))) {
        run->out_of_memory = servers > 0;
        return;
    }
    if (!any && member->traffic[TRAFFIC_COLLECTIVE].row == PERIODIC_NONE) return;
    alone.read_s = wanted->read_alone_s;
    if (alone.read_s > 0) speed_storage(run->speed, &alone, &wants);
    wanted->wall_s = wants.wall_s;
    contention_storage_pause(run, live);
    row_set_add(&storing->looked, live);
    contention->changed = true;
}

void contention_storage_leave(struct run *run, uint32_t live)
{
    struct contention *contention = run->contention;
    struct member *member = &contention->members[live];
    for (int kind = TRAFFIC_WRITE; contention->storing && kind < TRAFFICS; kind++) {
        struct traffic *part = &member->traffic[kind];
        if (part->row == PERIODIC_NONE) continue;
        contention_links_drop(run, live, kind);
        if (kind == TRAFFIC_STREAM)
            flow_net_remove(contention->storing->streams, part->row);
        else
            periodic_remove(contention->net, part->row);
        part->row = PERIODIC_NONE;
        contention->changed = true;
    }
}
