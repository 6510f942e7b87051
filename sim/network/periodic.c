/* periodic.c - see periodic.h. */
#include "network/periodic.h"

#include "base/assert.h"
#include "base/int128.h"
#include "network/columns.h"
#include "network/flow_net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MAX = 10000, FIRST_ROOM = 64 };
static const double CONVERGED = 1e-12;
static const double FINE = 1048576; /* of struct link_sum.asked */
static const double FULL =
    1 + 1e-9; /* what a link must be asked for, over its capacity, to slow anybody */

struct entry {
    struct periodic_job job;
    struct periodic_wait wait;
    struct link_use *uses; /* [use_room] owned, kept for the row's next job */
    uint32_t count, use_room;
    uint32_t full;       /* the first so many uses are of links with link_sum.full */
    double mean_s, duty; /* of the rounds of `mean` */
    uint32_t fullest;    /* link that made mean_s; PERIODIC_NONE: its own */
    uint32_t walk;       /* the last one that came by                     */
};

struct link_sum {
    int128
        asked; /* by its jobs when each communicates alone, in 1/FINE B/s: whole, so that no order matters */
    double meeting; /* sum of duty times flows                                      */
    double s_per_byte;
    double load;   /* by `mean`, bytes a second                                    */
    uint32_t walk; /* the last one that came by                                    */
    bool full;     /* it can be; as of the last solve                              */
    bool touched;  /* something on it changed since                                */
};

/* Two nets with the same links and jobs, in the same rows: of collectives and of steps. */
struct periodic {
    struct flow_net *upper, *lower;
    struct entry *entries;    /* [entry_room] by row                   */
    struct link_sum *sums;    /* [link_room]                           */
    uint32_t *touched, *path; /* [link_room] links; of a walk          */
    struct flow_use *scratch; /* [scratch_room]                        */
    uint32_t *rows;           /* [entry_room] what solve returns       */
    struct row_set reached;   /* rows to be looked at                  */
    uint32_t entry_room, links, link_room, scratch_room, touched_count, walks;
};

struct periodic *periodic_create(void)
{
    struct periodic *net = calloc(1, sizeof *net);
    if (!net) return NULL;
    net->upper = flow_net_create();
    net->lower = flow_net_create();
    if (net->upper && net->lower) return net;
    periodic_destroy(net);
    return NULL;
}

void periodic_destroy(struct periodic *net)
{
    if (!net) return;
    for (uint32_t row = 0; row < net->entry_room; row++) free(net->entries[row].uses);
    flow_net_destroy(net->upper);
    flow_net_destroy(net->lower);
    free(net->entries);
    row_set_clear(&net->reached);
    free(net->sums);
    free(net->touched);
    free(net->path);
    free(net->scratch);
    free(net->rows);
    free(net);
}

/* ---- what is there --------------------------------------------------------------------------- */

static bool grow_links(struct periodic *net)
{
    if (net->links < net->link_room) return true;
    const uint32_t room = net->link_room ? 2 * net->link_room : FIRST_ROOM;
    bool ok = true;
    net->sums = column_resize(net->sums, room, sizeof *net->sums, &ok);
    net->touched = column_resize(net->touched, room, sizeof *net->touched, &ok);
    net->path = column_resize(net->path, room, sizeof *net->path, &ok);
    if (ok) net->link_room = room;
    return ok;
}

bool periodic_link(struct periodic *net, double bytes_per_s)
{
    if (!grow_links(net)) return false;
    const uint32_t link = flow_net_link(net->upper, bytes_per_s);
    if (link == FLOW_NONE || flow_net_link(net->lower, bytes_per_s) != link) return false;
    ASSERT(link == net->links);
    net->sums[net->links++] = (struct link_sum){ .s_per_byte = 1 / bytes_per_s };
    return true;
}

static void touch(struct periodic *net, uint32_t link)
{
    if (!net->sums[link].touched) net->touched[net->touched_count++] = link;
    net->sums[link].touched = true;
}

void periodic_set_capacity(struct periodic *net, uint32_t link, double bytes_per_s)
{
    flow_net_set_capacity(net->upper, link, bytes_per_s);
    flow_net_set_capacity(net->lower, link, bytes_per_s);
    net->sums[link].s_per_byte = 1 / bytes_per_s;
    touch(net, link);
}

static double step_of(const struct periodic_job *job, double communicate_s)
{
    const double exposed = communicate_s - job->hidden_s;
    return job->compute_s + (exposed > 0 ? exposed : 0);
}

static bool grow_entries(struct periodic *net, uint32_t row)
{
    if (row < net->entry_room) return true;
    uint32_t room = net->entry_room ? net->entry_room : FIRST_ROOM;
    while (room <= row) room *= 2;
    bool ok = row_set_grow(&net->reached, room);
    net->entries = column_resize(net->entries, room, sizeof *net->entries, &ok);
    net->rows = column_resize(net->rows, room, sizeof *net->rows, &ok);
    if (!ok) return false;
    memset(net->entries + net->entry_room, 0, (room - net->entry_room) * sizeof *net->entries);
    net->entry_room = room;
    return true;
}

static bool grow_scratch(struct periodic *net, uint32_t count)
{
    if (count <= net->scratch_room) return true;
    struct flow_use *scratch = realloc(net->scratch, 2 * (size_t)count * sizeof *scratch);
    if (!scratch) return false;
    net->scratch = scratch;
    net->scratch_room = 2 * count;
    return true;
}

/* Puts a use of one of the two parts of an entry, by whether its link can be full, into the other one. */
static void swap_part(struct entry *entry, uint32_t i)
{
    const bool was_full = i < entry->full;
    const uint32_t at = was_full ? --entry->full : entry->full++;
    const struct link_use use = entry->uses[i];
    entry->uses[i] = entry->uses[at];
    entry->uses[at] = use;
}

/* Uses of links that can be full come first. */
static void sort_out_full(const struct periodic *net, struct entry *entry)
{
    entry->full = 0;
    for (uint32_t i = 0; i < entry->count; i++)
        if (net->sums[entry->uses[i].link].full) swap_part(entry, i);
}

static bool keep_entry(struct periodic *net, uint32_t row, const struct periodic_job *job,
                       const struct link_use *uses, uint32_t count)
{
    if (!grow_entries(net, row)) return false;
    struct entry *entry = &net->entries[row];
    if (count > entry->use_room) {
        struct link_use *kept = realloc(entry->uses, count * sizeof *kept);
        if (!kept) return false;
        entry->uses = kept;
        entry->use_room = count;
    }
    if (count > 0) memcpy(entry->uses, uses, count * sizeof *uses);
    entry->count = count;
    entry->job = *job;
    sort_out_full(net, entry);
    entry->wait = (struct periodic_wait){ 0 };
    return true;
}

/* How fast a job communicates when it is alone on healthy links. */
static double least_s(const struct periodic_job *job)
{
    return job->routed_s > job->wire_s ? job->routed_s : job->wire_s;
}

/* A job comes (+1) or leaves (-1). */
static void ask_links(struct periodic *net, const struct entry *entry, int sign)
{
    for (uint32_t i = 0; i < entry->count; i++) {
        const struct link_use *one = &entry->uses[i];
        net->sums[one->link].asked += sign * (int128)ceil(one->bytes / least_s(&entry->job) * FINE);
        touch(net, one->link);
    }
}

uint32_t periodic_add(struct periodic *net, const struct periodic_job *job,
                      const struct link_use *uses, uint32_t count)
{
    ASSERT(job->wire_s > 0 && job->alone_s >= job->wire_s);
    ASSERT(job->compute_s > 0 && job->hidden_s >= 0 && job->hidden_s <= job->compute_s);
    if (!grow_scratch(net, count)) return PERIODIC_NONE;
    double most = 0; /* bytes a flow: equal fill means equal rates of flows (4.3) */
    for (uint32_t i = 0; i < count; i++) {
        ASSERT(uses[i].bytes > 0 && uses[i].flows > 0);
        net->scratch[i] = (struct flow_use){ .link = uses[i].link, .per_unit = uses[i].bytes };
        if (uses[i].bytes / uses[i].flows > most) most = uses[i].bytes / uses[i].flows;
    }
    const double step_rate = 1 / step_of(job, job->alone_s - job->wire_s + least_s(job));
    const uint32_t row =
        flow_net_add(net->upper, most > 0 ? 1 / most : 1, 1 / least_s(job), net->scratch, count);
    if (row == FLOW_NONE) return PERIODIC_NONE;
    const uint32_t same = flow_net_add(net->lower, step_rate, step_rate, net->scratch, count);
    if (same == FLOW_NONE || !keep_entry(net, row, job, uses, count)) return PERIODIC_NONE;
    ASSERT(same == row);
    ask_links(net, &net->entries[row], +1);
    row_set_add(&net->reached, row);
    return row;
}

void periodic_remove(struct periodic *net, uint32_t row)
{
    ask_links(net, &net->entries[row], -1);
    flow_net_remove(net->upper, row);
    flow_net_remove(net->lower, row);
}

/* ---- estimates ------------------------------------------------------------------------------- */

/* What a link must be asked for to slow anybody. */
static bool can_be_full(const struct periodic *net, uint32_t link)
{
    return (double)net->sums[link].asked > FULL * FINE * flow_net_capacity(net->upper, link);
}

/* A link can be full from now on, or no longer. */
static void turn_full(struct periodic *net, uint32_t link)
{
    const uint32_t *rows;
    const uint32_t count = flow_net_flows_of(net->upper, link, &rows);
    net->sums[link].full = !net->sums[link].full;
    for (uint32_t r = 0; r < count; r++) {
        struct entry *entry = &net->entries[rows[r]];
        uint32_t i = 0;
        while (entry->uses[i].link != link) i++;
        swap_part(entry, i);
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
            struct entry *entry = &net->entries[rows[r]];
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

/* Bandwidth terms of a job alone on its links as they are: of a link that the job alone cannot fill nothing is asked. Those
 * that it can fill are among the full ones. */
static double own_s(const struct periodic *net, const struct entry *entry)
{
    double wire_s = least_s(&entry->job);
    for (uint32_t i = 0; i < entry->full; i++) {
        const double s = on_link_s(net, &entry->uses[i]);
        if (s > FULL * wire_s) wire_s = s;
    }
    return wire_s;
}

static void set_duty(struct periodic *net, struct entry *entry)
{
    const struct periodic_job *job = &entry->job;
    const double step_s = step_of(job, job->alone_s - job->wire_s + entry->mean_s);
    const double was = entry->duty;
    entry->duty = step_s > entry->mean_s ? entry->mean_s / step_s : 1;
    if (entry->duty == was) return;
    for (uint32_t i = 0; i < entry->full; i++)
        net->sums[entry->uses[i].link].meeting += (entry->duty - was) * entry->uses[i].flows;
}

static double mean_again_s(const struct periodic *net, struct entry *entry, double own)
{
    entry->fullest = PERIODIC_NONE;
    double wire_s = own;
    for (uint32_t i = 0; i < entry->full; i++) {
        const struct link_use *use = &entry->uses[i];
        const double others = net->sums[use->link].meeting / use->flows - entry->duty;
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
        struct entry *entry = &net->entries[rows[r]];
        if (entry->full == 0) continue;
        const double next = mean_again_s(net, entry, entry->wait.own_s + entry->job.wire_s);
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
        struct entry *entry = &net->entries[rows[r]];
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
    return total_s > FULL * part_s ? total_s - part_s : 0;
}

static void tell_waits(struct periodic *net, uint32_t row)
{
    struct entry *entry = &net->entries[row];
    const struct periodic_job *job = &entry->job;
    struct periodic_wait *wait = &entry->wait;
    const double own = wait->own_s + job->wire_s, rate = flow_net_rate(net->upper, row);
    wait->others_s[ESTIMATE_UPPER] = rate > 0 ? beyond(1 / rate, own) : INFINITY;
    const double mean = beyond(entry->mean_s, own);
    wait->others_s[ESTIMATE_MEAN] =
        mean < wait->others_s[ESTIMATE_UPPER] ? mean : wait->others_s[ESTIMATE_UPPER];
    /* The step says how long; so much more than alone the communication must have taken. */
    const double alone_s = job->alone_s + wait->own_s, steps = flow_net_rate(net->lower, row);
    const double more = steps > 0 ? beyond(1 / steps, step_of(job, alone_s)) : INFINITY;
    const double slack = alone_s < job->hidden_s ? job->hidden_s - alone_s : 0;
    wait->others_s[ESTIMATE_LOWER] = more > 0 ? more + slack : 0;
}

/* Where `mean`, for some as much as `upper`, has more on a link than it carries, its jobs are at least as slow as with perfect
 * interleaving: that fits. */
static void keep_within_links(struct periodic *net, const uint32_t *rows, uint32_t count)
{
    for (uint32_t r = 0; r < count; r++) {
        const struct entry *entry = &net->entries[rows[r]];
        for (uint32_t i = 0; i < entry->full; i++) net->sums[entry->uses[i].link].load = 0;
    }
    for (uint32_t r = 0; r < count; r++) {
        const struct entry *entry = &net->entries[rows[r]];
        const double rate = periodic_rate(net, rows[r], ESTIMATE_MEAN);
        for (uint32_t i = 0; i < entry->full; i++)
            net->sums[entry->uses[i].link].load += rate * entry->uses[i].bytes;
    }
    for (uint32_t r = 0; r < count; r++) {
        struct entry *entry = &net->entries[rows[r]];
        double *waits = entry->wait.others_s;
        bool over = false;
        for (uint32_t i = 0; i < entry->full; i++) {
            const uint32_t link = entry->uses[i].link;
            over |= net->sums[link].load > FULL * flow_net_capacity(net->upper, link);
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

const struct periodic_wait *periodic_wait(const struct periodic *net, uint32_t row)
{
    return &net->entries[row].wait;
}

double periodic_share(const struct periodic *net, uint32_t row, enum estimate estimate)
{
    const struct entry *entry = &net->entries[row];
    const double alone_s = entry->job.alone_s + entry->wait.own_s;
    const double solo_s = step_of(&entry->job, alone_s);
    const double step_s = step_of(&entry->job, alone_s + entry->wait.others_s[estimate]);
    return step_s > solo_s ? 1 - solo_s / step_s : 0;
}

/* ---- links ----------------------------------------------------------------------------------- */

double periodic_rate(const struct periodic *net, uint32_t row, enum estimate estimate)
{
    const struct entry *entry = &net->entries[row];
    const double wait_s = entry->wait.own_s + entry->wait.others_s[estimate];
    return 1 / step_of(&entry->job, entry->job.alone_s + wait_s);
}

uint32_t periodic_fullest(const struct periodic *net, uint32_t row)
{
    return net->entries[row].fullest;
}

uint32_t periodic_uses(const struct periodic *net, uint32_t row, const struct link_use **uses)
{
    *uses = net->entries[row].uses;
    return net->entries[row].count;
}
