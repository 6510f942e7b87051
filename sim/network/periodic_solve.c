/* periodic_solve.c - what each job waits, by the three estimates: see periodic.h. */
#include "network/periodic_parts.h"

#include <math.h>

enum { ROUNDS_MAX = 10000 };
static const double CONVERGED = 1e-12;

/* What a link must be asked for to slow anybody. */
static bool can_be_full(const struct periodic *net, uint32_t link)
{
    return (double)net->sums[link].asked >
           PERIODIC_FULL * PERIODIC_FINE * flow_net_capacity(net->upper, link);
}

/* A link can be full from now on, or no longer. */
static void turn_full(struct periodic *net, uint32_t link)
{
    const uint32_t *rows;
    const uint32_t count = flow_net_flows_of(net->upper, link, &rows);
    net->sums[link].full = !net->sums[link].full;
    for (uint32_t r = 0; r < count; r++) {
        struct periodic_entry *entry = &net->entries[rows[r]];
        uint32_t i = 0;
        while (entry->uses[i].link != link) i++;
        periodic_swap_part(entry, i);
    }
}

/* All jobs of a link, and the other links of theirs that can be full. */
static void reach(struct periodic *net, uint32_t link)
{
    uint32_t found = 0;
    net->path[found++] = link;
    net->sums[link].walk = net->walks;
    while (found > 0) {
        const uint32_t *rows;
        const uint32_t count = flow_net_flows_of(net->upper, net->path[--found], &rows);
        for (uint32_t r = 0; r < count; r++) {
            struct periodic_entry *entry = &net->entries[rows[r]];
            if (entry->walk == net->walks) continue;
            entry->walk = net->walks;
            row_set_add(&net->reached, rows[r]);
            for (uint32_t i = 0; i < entry->full; i++) {
                struct link_sum *sum = &net->sums[entry->uses[i].link];
                if (sum->walk == net->walks) continue;
                sum->walk = net->walks;
                net->path[found++] = entry->uses[i].link;
            }
        }
    }
}

/* Jobs that a change can concern: new ones, and those joined to a touched link that can be full, or could, by links that
 * can be. */
static uint32_t find_reached(struct periodic *net)
{
    net->walks++;
    for (uint32_t t = 0; t < net->touched_count; t++) {
        struct link_sum *sum = &net->sums[net->touched[t]];
        const bool was_full = sum->full;
        if (was_full != can_be_full(net, net->touched[t])) turn_full(net, net->touched[t]);
        sum->touched = was_full || sum->full; /* whether to walk from here */
    }
    for (uint32_t t = 0; t < net->touched_count; t++) {
        struct link_sum *sum = &net->sums[net->touched[t]];
        if (sum->touched && sum->walk != net->walks) reach(net, net->touched[t]);
        sum->touched = false;
    }
    net->touched_count = 0;
    uint32_t count = 0;
    const uint32_t all = row_set_take(&net->reached, net->rows);
    for (uint32_t r = 0; r < all; r++) /* a new one may have left again */
        if (flow_net_has(net->upper, net->rows[r])) net->rows[count++] = net->rows[r];
    return count;
}

static double on_link_s(const struct periodic *net, const struct link_use *use)
{
    return use->bytes * net->sums[use->link].s_per_byte;
}

/* Alone on it as it is, beside the streams of its own job. */
static double alone_on_link_s(const struct periodic *net, const struct periodic_entry *entry,
                              uint32_t i)
{
    const struct link_use *use = &entry->uses[i];
    if (!net->sums[use->link].streamed) return on_link_s(net, use);
    const double own = entry->streams ? entry->streams[i] : 0;
    return use->bytes / periodic_left(net->rest[use->link].capacity, own);
}

/* Bandwidth terms of a job alone on its links as they are: of a link that the job alone cannot fill nothing is asked. Those
 * that it can fill are among the full ones. */
static double own_s(const struct periodic *net, const struct periodic_entry *entry)
{
    double wire_s = periodic_least_s(&entry->job);
    for (uint32_t i = 0; i < entry->full; i++) {
        const double s = alone_on_link_s(net, entry, i);
        if (s > PERIODIC_FULL * wire_s) wire_s = s;
    }
    return wire_s;
}

static void set_duty(struct periodic *net, struct periodic_entry *entry)
{
    const double step_s = periodic_step_of(entry, entry->mean_s);
    const double was = entry->duty;
    entry->duty = step_s > entry->mean_s ? entry->mean_s / step_s : 1;
    if (entry->duty == was) return;
    for (uint32_t i = 0; i < entry->full; i++)
        net->sums[entry->uses[i].link].meeting += (entry->duty - was) * entry->uses[i].flows;
}

/* What the rows that an entry never meets bring to its links, each in a share of its step, or at once: all that they can. */
static void tell_own(struct periodic *net, const struct periodic_entry *entry, bool at_once)
{
    const struct periodic_entry *one = &net->entries[entry->next];
    for (; one != entry; one = &net->entries[one->next])
        for (uint32_t i = 0; i < one->full; i++)
            net->rest[one->uses[i].link].own += (at_once ? 1 : one->duty) * one->uses[i].flows;
}

static void forget_own(struct periodic *net, const struct periodic_entry *entry)
{
    const struct periodic_entry *one = &net->entries[entry->next];
    for (; one != entry; one = &net->entries[one->next])
        for (uint32_t i = 0; i < one->full; i++) net->rest[one->uses[i].link].own = 0;
}

static double mean_again_s(const struct periodic *net, struct periodic_entry *entry, bool excludes,
                           double own)
{
    entry->fullest = PERIODIC_NONE;
    double wire_s = own;
    for (uint32_t i = 0; i < entry->full; i++) {
        const struct link_use *use = &entry->uses[i];
        const double never = excludes ? net->rest[use->link].own : 0;
        const double others = (net->sums[use->link].meeting - never) / use->flows - entry->duty;
        const double s = on_link_s(net, use) * (1 + (others > 0 ? others : 0));
        if (s <= wire_s) continue;
        wire_s = s;
        entry->fullest = use->link;
    }
    return wire_s;
}

/* One round of random phases, each job with the others as they are by then; how much the communication of any of them
 * moved, relative. */
static double one_round(struct periodic *net, const uint32_t *rows, uint32_t count)
{
    double change = 0;
    for (uint32_t r = 0; r < count; r++) {
        struct periodic_entry *entry = &net->entries[rows[r]];
        if (entry->full == 0) continue;
        const bool excludes = entry->next != rows[r];
        if (excludes) tell_own(net, entry, false);
        const double next =
            mean_again_s(net, entry, excludes, entry->wait.own_s + entry->job.wire_s);
        if (excludes) forget_own(net, entry);
        const double moved = fabs(next - entry->mean_s);
        if (moved == 0) continue;
        if (moved > change * next) change = moved / next;
        entry->mean_s = next;
        set_duty(net, entry);
    }
    return change;
}

/* From alone upwards; monotone, so it converges. */
static void solve_mean(struct periodic *net, const uint32_t *rows, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++) {
        struct periodic_entry *entry = &net->entries[rows[r]];
        entry->mean_s = own_s(net, entry);
        entry->wait.own_s = entry->mean_s - entry->job.wire_s;
        entry->fullest = PERIODIC_NONE;
        entry->duty = 0;
        for (uint32_t i = 0; i < entry->full; i++) net->sums[entry->uses[i].link].meeting = 0;
    }
    for (uint32_t r = 0; r < count; r++) set_duty(net, &net->entries[rows[r]]);
    for (int round = 0; round < ROUNDS_MAX && one_round(net, rows, count) >= CONVERGED; round++) {
    }
}

/* Rounding of a rate says nothing. */
static double beyond(double total_s, double part_s)
{
    return total_s > PERIODIC_FULL * part_s ? total_s - part_s : 0;
}

/* With all other jobs on each link at all times, as in `upper`, but without the rows of its own job, which are flows there. */
static double crowded_s(struct periodic *net, const struct periodic_entry *entry, double own)
{
    double wire_s = own;
    tell_own(net, entry, true);
    for (uint32_t i = 0; i < entry->full; i++) {
        const struct link_use *use = &entry->uses[i];
        const struct link_rest *rest = &net->rest[use->link];
        const double others = ((double)rest->crowd / PERIODIC_FINE - rest->own) / use->flows - 1;
        const double s = on_link_s(net, use) * (1 + (others > 0 ? others : 0));
        if (s > wire_s) wire_s = s;
    }
    forget_own(net, entry);
    return wire_s;
}

/* Whether rows of other jobs are on the links that can be full. */
static bool meets_others(const struct periodic *net, uint32_t row)
{
    const struct periodic_entry *entry = &net->entries[row];
    for (uint32_t i = 0; i < entry->full; i++) {
        const uint32_t *rows;
        const uint32_t count = flow_net_flows_of(net->upper, entry->uses[i].link, &rows);
        for (uint32_t r = 0; r < count; r++) {
            uint32_t own = row;
            do own = net->entries[own].next;
            while (own != row && own != rows[r]);
            if (own != rows[r]) return true;
        }
    }
    return false;
}

static void tell_waits(struct periodic *net, uint32_t row)
{
    struct periodic_entry *entry = &net->entries[row];
    const struct periodic_job *job = &entry->job;
    struct periodic_wait *wait = &entry->wait;
    const double own = wait->own_s + job->wire_s, rate = flow_net_rate(net->upper, row);
    wait->others_s[ESTIMATE_UPPER] = rate > 0 ? beyond(1 / rate, own) : INFINITY;
    if (entry->next != row) {
        const double crowded = beyond(crowded_s(net, entry, own), own);
        if (crowded < wait->others_s[ESTIMATE_UPPER]) wait->others_s[ESTIMATE_UPPER] = crowded;
    }
    const double mean = beyond(entry->mean_s, own);
    wait->others_s[ESTIMATE_MEAN] =
        mean < wait->others_s[ESTIMATE_UPPER] ? mean : wait->others_s[ESTIMATE_UPPER];
    /* `lower` does not know that rows of one job exclude each other: who meets nobody waits for nobody. */
    if (entry->next != row && !meets_others(net, row)) {
        wait->others_s[ESTIMATE_LOWER] = 0;
        return;
    }
    /* The step says how long; so much more than alone the communication must have taken. */
    const double steps = flow_net_rate(net->lower, row);
    const double more = steps > 0 ? beyond(1 / steps, periodic_step_of(entry, own)) : INFINITY;
    wait->others_s[ESTIMATE_LOWER] =
        more > 0 ? (steps > 0 ? periodic_wire_of(entry, 1 / steps) - own : INFINITY) : 0;
}

/* Where `mean`, for some as much as `upper`, has more on a link than it carries, its jobs are at least as slow as with perfect
 * interleaving: that fits. */
static void keep_within_links(struct periodic *net, const uint32_t *rows, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++) {
        const struct periodic_entry *entry = &net->entries[rows[r]];
        for (uint32_t i = 0; i < entry->full; i++) net->sums[entry->uses[i].link].load = 0;
    }
    for (uint32_t r = 0; r < count; r++) {
        const struct periodic_entry *entry = &net->entries[rows[r]];
        const double rate = periodic_rate(net, rows[r], ESTIMATE_MEAN);
        for (uint32_t i = 0; i < entry->full; i++)
            net->sums[entry->uses[i].link].load += rate * entry->uses[i].bytes;
    }
    for (uint32_t r = 0; r < count; r++) {
        struct periodic_entry *entry = &net->entries[rows[r]];
        double *waits = entry->wait.others_s;
        bool over = false;
        for (uint32_t i = 0; i < entry->full; i++) {
            const uint32_t link = entry->uses[i].link;
            over |= net->sums[link].load > PERIODIC_FULL * flow_net_capacity(net->upper, link);
        }
        if (over && waits[ESTIMATE_LOWER] > waits[ESTIMATE_MEAN])
            waits[ESTIMATE_MEAN] = waits[ESTIMATE_LOWER];
    }
}

uint32_t periodic_solve(struct periodic *net, const uint32_t **rows)
{
    const uint32_t *ignored;
    flow_net_solve(net->upper, &ignored);
    /* Steps ask less of a link than communication, so whose rate moves here is reached over the same links. */
    flow_net_solve(net->lower, &ignored);
    const uint32_t count = find_reached(net);
    solve_mean(net, net->rows, count);
    for (uint32_t r = 0; r < count; r++) tell_waits(net, net->rows[r]);
    keep_within_links(net, net->rows, count);
    *rows = net->rows;
    return count;
}
