/* contention_links.c - what each link carried, and who waited there: kept with the detail of a replica. */
#include "handlers/contention_parts.h"

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
        told->carried += (int128)told->carries * (to_ns - from_ns);
        told->waited += (int128)told->waiting * (to_ns - from_ns);
    }
    told->since_ns = run->now_ns;
    return told;
}

/* What a member has told its links, added or taken back: the same whole numbers both times. */
static void tell(struct run *run, const struct member *member, int sign)
{
    const struct contention *contention = run->contention;
    if (member->rate == 0) return;
    const struct link_use *uses;
    const uint32_t count = periodic_uses(contention->net, member->row, &uses);
    for (uint32_t i = 0; i < count; i++)
        told_at(run, uses[i].link)->carries += sign * (int64_t)(uses[i].bytes * member->rate);
    if (member->fullest != PERIODIC_NONE)
        told_at(run, member->fullest)->waiting += sign * member->waiting[contention->estimate];
}

void contention_links_set(struct run *run, uint32_t live)
{
    const struct contention *contention = run->contention;
    struct member *member = &contention->members[live];
    if (!contention->told) return;
    member->rate = periodic_rate(contention->net, member->row, contention->estimate);
    member->fullest = periodic_fullest(contention->net, member->row);
    tell(run, member, +1);
}

void contention_links_drop(struct run *run, uint32_t live)
{
    struct member *member = &run->contention->members[live];
    if (!run->contention->told) return;
    tell(run, member, -1);
    member->rate = 0;
}

void contention_links_finish(struct run *run)
{
    struct contention *contention = run->contention;
    const struct replica_result *result = run->result;
    const double window_ns = (double)(result->window_end_ns - result->window_start_ns);
    for (uint32_t link = 0; contention->told && link < contention->fabric.links; link++) {
        const struct link_told *told = told_at(run, link);
        if (told->carried == 0 || window_ns <= 0) continue;
        struct link_row row = { .capacity_bytes_per_s =
                                    fabric_net_capacity(&contention->fabric, link) };
        fabric_net_name(&contention->fabric, link, row.name);
        row.load = (double)told->carried / window_ns / row.capacity_bytes_per_s;
        row.contention_gpu_s = (double)told->waited / UNITS_PER_GPU / 1e9;
        if (!log_append(&run->result->links, &row)) run->out_of_memory = true;
    }
}
