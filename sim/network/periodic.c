/* periodic.c - see periodic.h. Here what is there; periodic_solve.c: what it waits. */
#include "network/periodic_parts.h"

#include "base/assert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

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
    for (uint32_t row = 0; row < net->entry_room; row++) {
        free(net->entries[row].uses);
        free(net->entries[row].streams);
        free(net->entries[row].points);
    }
    flow_net_destroy(net->upper);
    flow_net_destroy(net->lower);
    free(net->entries);
    row_set_clear(&net->reached);
    free(net->sums);
    free(net->rest);
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
    net->rest = column_resize(net->rest, room, sizeof *net->rest, &ok);
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
    net->rest[net->links] = (struct link_rest){ .capacity = bytes_per_s };
    net->sums[net->links++] = (struct link_sum){ .s_per_byte = 1 / bytes_per_s };
    return true;
}

static void touch(struct periodic *net, uint32_t link)
{
    if (!net->sums[link].touched) net->touched[net->touched_count++] = link;
    net->sums[link].touched = true;
}

static void set_left(struct periodic *net, uint32_t link)
{
    const struct link_rest *rest = &net->rest[link];
    const double left = periodic_left(rest->capacity, rest->stream);
    net->sums[link].streamed = rest->stream > 0;
    net->sums[link].s_per_byte = 1 / left;
    flow_net_set_capacity(net->upper, link, left);
    flow_net_set_capacity(net->lower, link, left);
    touch(net, link);
}

void periodic_set_capacity(struct periodic *net, uint32_t link, double bytes_per_s)
{
    net->rest[link].capacity = bytes_per_s;
    set_left(net, link);
}

double periodic_capacity(const struct periodic *net, uint32_t link)
{
    return net->rest[link].capacity;
}

void periodic_set_stream(struct periodic *net, uint32_t link, double bytes_per_s)
{
    net->rest[link].stream = bytes_per_s;
    set_left(net, link);
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

/* Uses of links that can be full come first. */
static void sort_out_full(const struct periodic *net, struct periodic_entry *entry)
{
    entry->full = 0;
    for (uint32_t i = 0; i < entry->count; i++)
        if (net->sums[entry->uses[i].link].full) periodic_swap_part(entry, i);
}

static bool keep_curve(struct periodic_entry *entry, const struct step_curve *curve)
{
    entry->point_count = curve ? curve->count : 0;
    if (entry->point_count > entry->point_room) {
        struct step_point *kept = realloc(entry->points, entry->point_count * sizeof *kept);
        if (!kept) return false;
        entry->points = kept;
        entry->point_room = entry->point_count;
    }
    if (curve) memcpy(entry->points, curve->point, entry->point_count * sizeof *entry->points);
    return true;
}

static bool keep_entry(struct periodic *net, uint32_t row, const struct periodic_job *job,
                       const struct link_use *uses, uint32_t count)
{
    if (!grow_entries(net, row)) return false;
    struct periodic_entry *entry = &net->entries[row];
    if (!keep_curve(entry, job->curve)) return false;
    if (count > entry->use_room) {
        struct link_use *kept = realloc(entry->uses, count * sizeof *kept);
        if (!kept) return false;
        entry->uses = kept;
        entry->use_room = count;
    }
    if (count > 0) memcpy(entry->uses, uses, count * sizeof *uses);
    entry->count = count;
    entry->job = *job;
    entry->pause_s = 0;
    entry->next = row;
    free(entry->streams);
    entry->streams = NULL;
    entry->job.curve = NULL;
    sort_out_full(net, entry);
    entry->wait = (struct periodic_wait){ 0 };
    return true;
}

/* What a row asks of a link when it communicates alone. */
static int128 asked_by(const struct periodic_entry *entry, const struct link_use *use)
{
    return (int128)ceil(use->bytes / periodic_least_s(&entry->job) * PERIODIC_FINE);
}

/* A row comes (+1) or leaves (-1). */
static void ask_links(struct periodic *net, const struct periodic_entry *entry, int sign)
{
    for (uint32_t i = 0; i < entry->count; i++) {
        const struct link_use *one = &entry->uses[i];
        net->sums[one->link].asked += sign * asked_by(entry, one);
        net->rest[one->link].crowd += sign * (int64_t)ceil(one->flows * PERIODIC_FINE);
        touch(net, one->link);
    }
}

/* Of two rows that exclude each other a link is asked for the larger part: from now on (+1), or no longer (-1). */
static void ask_larger(struct periodic *net, const struct periodic_entry *a,
                       const struct periodic_entry *b, int sign)
{
    for (uint32_t i = 0; i < a->count; i++)
        net->rest[a->uses[i].link].asked_once = asked_by(a, &a->uses[i]);
    for (uint32_t i = 0; i < b->count; i++) {
        const int128 other = net->rest[b->uses[i].link].asked_once;
        const int128 asked = asked_by(b, &b->uses[i]);
        net->sums[b->uses[i].link].asked -= sign * (asked < other ? asked : other);
        touch(net, b->uses[i].link);
    }
    for (uint32_t i = 0; i < a->count; i++) net->rest[a->uses[i].link].asked_once = 0;
}

/* The same for a row and all that it never meets. */
static void ask_larger_of_all(struct periodic *net, const struct periodic_entry *entry, int sign)
{
    const struct periodic_entry *one = &net->entries[entry->next];
    for (; one != entry; one = &net->entries[one->next]) ask_larger(net, entry, one, sign);
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
    const double least_s = periodic_least_s(job);
    const uint32_t row =
        flow_net_add(net->upper, most > 0 ? 1 / most : 1, 1 / least_s, net->scratch, count);
    if (row == FLOW_NONE || !keep_entry(net, row, job, uses, count)) return PERIODIC_NONE;
    const double step_rate = 1 / periodic_step_of(&net->entries[row], least_s);
    const uint32_t same = flow_net_add(net->lower, step_rate, step_rate, net->scratch, count);
    if (same == FLOW_NONE) return PERIODIC_NONE;
    ASSERT(same == row);
    ask_links(net, &net->entries[row], +1);
    row_set_add(&net->reached, row);
    return row;
}

bool periodic_set_pause(struct periodic *net, uint32_t row, double pause_s)
{
    struct periodic_entry *entry = &net->entries[row];
    ASSERT(pause_s >= 0);
    if (!grow_scratch(net, entry->count)) return false;
    entry->pause_s = pause_s;
    for (uint32_t i = 0; i < entry->count; i++) {
        const struct link_use *use = &entry->uses[i];
        net->scratch[i] = (struct flow_use){ .link = use->link, .per_unit = use->bytes };
        touch(net, use->link);
    }
    const double step_rate = 1 / periodic_step_of(entry, periodic_least_s(&entry->job));
    flow_net_remove(net->lower, row);
    const uint32_t same =
        flow_net_add(net->lower, step_rate, step_rate, net->scratch, entry->count);
    if (same == FLOW_NONE) return false;
    ASSERT(same == row);
    row_set_add(&net->reached, row);
    return true;
}

void periodic_exclude(struct periodic *net, uint32_t row, uint32_t other)
{
    ASSERT(net->entries[row].next == row);
    net->entries[row].next = net->entries[other].next;
    net->entries[other].next = row;
    ask_larger_of_all(net, &net->entries[row], +1);
}

bool periodic_set_own_streams(struct periodic *net, uint32_t row, const double *by_link)
{
    struct periodic_entry *entry = &net->entries[row];
    if (!entry->streams) entry->streams = malloc(entry->use_room * sizeof *entry->streams);
    if (!entry->streams) return false;
    for (uint32_t i = 0; i < entry->count; i++) entry->streams[i] = by_link[entry->uses[i].link];
    row_set_add(&net->reached, row);
    return true;
}

void periodic_remove(struct periodic *net, uint32_t row)
{
    uint32_t before = row;
    ask_larger_of_all(net, &net->entries[row], -1);
    while (net->entries[before].next != row) before = net->entries[before].next;
    net->entries[before].next = net->entries[row].next;
    net->entries[row].next = row;
    ask_links(net, &net->entries[row], -1);
    flow_net_remove(net->upper, row);
    flow_net_remove(net->lower, row);
}

const struct periodic_wait *periodic_wait(const struct periodic *net, uint32_t row)
{
    return &net->entries[row].wait;
}

double periodic_share(const struct periodic *net, uint32_t row, enum estimate estimate)
{
    const struct periodic_entry *entry = &net->entries[row];
    const double alone_s = entry->job.wire_s + entry->wait.own_s;
    const double solo_s = periodic_step_of(entry, alone_s);
    const double step_s = periodic_step_of(entry, alone_s + entry->wait.others_s[estimate]);
    return step_s > solo_s ? 1 - solo_s / step_s : 0;
}

/* ---- links ----------------------------------------------------------------------------------- */

double periodic_busy_s(const struct periodic *net, uint32_t row, enum estimate estimate)
{
    const struct periodic_entry *entry = &net->entries[row];
    const double others_s = estimate == ESTIMATES ? 0 : entry->wait.others_s[estimate];
    return periodic_busy_of(entry, entry->job.wire_s + entry->wait.own_s + others_s);
}

double periodic_rate(const struct periodic *net, uint32_t row, enum estimate estimate)
{
    return 1 / (net->entries[row].pause_s + periodic_busy_s(net, row, estimate));
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
