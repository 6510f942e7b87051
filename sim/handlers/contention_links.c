/* contention_links.c - what each link carried, and who waited there: for the detail of a replica, and for what the storage may
 * take of a link. */
#include "handlers/contention_parts.h"

#include <math.h>
#include <string.h>

/* Adds up what was until now. */
static struct link_told *told_at(struct run *run, uint32_t link)
{
    struct link_told *told = &run->contention->told[link];
    const struct replica_result *result = run->result;
    const int64_t from_ns =
        told->since_ns > result->window_start_ns ? told->since_ns : result->window_start_ns;
    const int64_t to_ns = run->now_ns < result->window_end_ns ? run->now_ns : result->window_end_ns;
    if (to_ns > from_ns) {
        told->carried += (int128)(told->carries + told->streams) * (to_ns - from_ns);
        told->waited += (int128)told->waiting * (to_ns - from_ns);
    }
    told->since_ns = run->now_ns;
    return told;
}

/* What a part has told its links, added or taken back: the same whole numbers both times. */
static void tell(struct run *run, const struct traffic *part, enum traffic_kind kind, int sign)
{
    struct contention *contention = run->contention;
    const struct link_use *uses;
    const struct flow_use *flows;
    if (part->rate == 0) return;
    if (kind == TRAFFIC_STREAM) {
        const uint32_t count = contention_storage_uses(contention, part->row, &flows);
        for (uint32_t i = 0; i < count; i++) {
            told_at(run, flows[i].link)->streams +=
                sign * (int64_t)(flows[i].per_unit * part->rate);
            contention_storage_moved(contention, flows[i].link);
        }
    } else {
        const uint32_t count = periodic_uses(contention->net, part->row, &uses);
        for (uint32_t i = 0; i < count; i++) {
            told_at(run, uses[i].link)->carries += sign * (int64_t)(uses[i].bytes * part->rate);
            contention_storage_moved(contention, uses[i].link);
        }
    }
    if (part->fullest != PERIODIC_NONE)
        told_at(run, part->fullest)->waiting += sign * part->waiting;
}

void contention_links_set(struct run *run, uint32_t live, enum traffic_kind kind,
                          const struct traffic *now)
{
    struct traffic *part = &run->contention->members[live].traffic[kind];
    if (!run->contention->told) return;
    if (part->rate == now->rate && part->fullest == now->fullest && part->waiting == now->waiting)
        return;
    tell(run, part, kind, -1);
    *part = *now;
    tell(run, part, kind, +1);
}

void contention_links_drop(struct run *run, uint32_t live, enum traffic_kind kind)
{
    struct traffic *part = &run->contention->members[live].traffic[kind];
    if (!run->contention->told) return;
    tell(run, part, kind, -1);
    part->rate = 0;
}

void contention_links_finish(struct run *run)
{
    struct contention *contention = run->contention;
    const struct replica_result *result = run->result;
    const struct storage_links *storage = contention_storage_links(contention);
    const double window_ns = (double)(result->window_end_ns - result->window_start_ns);
    if (!run->keep_detail) return;
    for (uint32_t link = 0; contention->told && link < contention->links; link++) {
        const struct link_told *told = told_at(run, link);
        const bool fabric = link < contention->fabric.links;
        struct link_row row = { .capacity_bytes_per_s =
                                    fabric ? fabric_net_capacity(&contention->fabric, link)
                                           : storage_links_capacity(storage, link) };
        if (told->carried == 0 || window_ns <= 0 || !(row.capacity_bytes_per_s < INFINITY))
            continue;
        if (fabric)
            fabric_net_name(&contention->fabric, link, row.name);
        else
            storage_links_name(storage, link, row.name);
        row.load = (double)told->carried / window_ns / row.capacity_bytes_per_s;
        row.contention_gpu_s = (double)told->waited / UNITS_PER_GPU / 1e9;
        if (!log_append(&run->result->links, &row)) run->out_of_memory = true;
    }
}
