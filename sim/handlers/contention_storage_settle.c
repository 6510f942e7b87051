/* contention_storage_settle.c - what jobs get of the storage, and of links that they share with those who communicate
 * (MODELS 3.7, 4.4, 4.7).
 *
 * A stream is a flow, max-min fair by server, that asks for what keeps its job's pace; of each link it gets what the rows of the
 * net leave, and they what it leaves. Both depend on how fast the jobs work, which depends on both: within an instant they are
 * solved in turn, until what the one says of the other moves by less than the shares below. */
#include "handlers/books.h"
#include "handlers/contention_parts.h"

#include <math.h>

enum {
    ROUNDS_MAX = 32, /* of an instant; two or three are the rule     */
    STRAIGHT_MAX = 3 /* as often a pace is followed all the way      */
};
static const double STEP_MOVED = 0.01; /* of a step, and of what a stream asks for         */
static const double FINE_MOVED = 1e-7; /* the same, once it was followed in this instant   */
static const double LINK_MOVED = 1e-7; /* of a link, and of what a stream is given         */
static const double GIVEN = 1 - 1e-9;  /* of what was asked for: all of it                 */

static bool differ(double a, double b, double most)
{
    return fabs(a - b) > most * b;
}

/* Units of the GPUs of a job that wait for its input. */
static int64_t data_units(const struct run *run, uint32_t live)
{
    const int64_t share = run->live.attempts[live].tempo.data;
    return (int64_t)((int128)books_asked_units(run, live) * share / UNITS_PER_GPU);
}

/* What is told of the links of a row: those who write wait there for others, those who read for their input. */
static void tell_row(struct run *run, uint32_t live, enum traffic_kind kind)
{
    struct contention *contention = run->contention;
    const enum estimate used = contention->estimate;
    struct traffic part = contention->members[live].traffic[kind];
    const double asked = (double)books_asked_units(run, live);
    part.rate = periodic_rate(contention->net, part.row, used);
    part.fullest = periodic_fullest(contention->net, part.row);
    if (kind == TRAFFIC_WRITE) {
        part.waiting = used == ESTIMATES
                           ? 0
                           : (int64_t)(asked * periodic_share(contention->net, part.row, used));
    } else {
        const struct link_use *uses;
        const uint32_t count = periodic_uses(contention->net, part.row, &uses);
        double most = 0;
        part.waiting = data_units(run, live);
        for (uint32_t i = 0; part.fullest == PERIODIC_NONE && i < count; i++) {
            const double s = uses[i].bytes / periodic_capacity(contention->net, uses[i].link);
            if (s > most || (s == most && uses[i].link > part.fullest)) part.fullest = uses[i].link;
        }
    }
    contention_links_set(run, live, kind, &part);
}

/* The waits of rows that the net looked at, into the queries of their jobs. */
static void take_waits(struct run *run)
{
    struct contention *contention = run->contention;
    struct storing *storing = contention->storing;
    const uint32_t *rows;
    const uint32_t count = periodic_solve(contention->net, &rows);
    for (uint32_t r = 0; r < count; r++) {
        const uint32_t live = contention->live_of[rows[r]];
        struct member *member = &contention->members[live];
        const struct traffic *traffic = member->traffic;
        bool moved = false;
        if (rows[r] == traffic[TRAFFIC_COLLECTIVE].row) {
            moved = contention_take_wait(run, live);
        } else {
            const bool reads = rows[r] == traffic[TRAFFIC_READ].row;
            double *wait_s = reads ? &member->query.read_s : &member->query.write_wait_s;
            const struct periodic_wait *wait = periodic_wait(contention->net, rows[r]);
            double now_s = (reads ? member->wanted.read_alone_s : 0) + wait->own_s;
            if (contention->estimate != ESTIMATES) now_s += wait->others_s[contention->estimate];
            if (!(now_s < CONTENTION_WAIT_MOST_S)) now_s = CONTENTION_WAIT_MOST_S;
            moved = differ(*wait_s, now_s, CONTENTION_MOVED);
            if (moved) *wait_s = now_s;
            tell_row(run, live, reads ? TRAFFIC_READ : TRAFFIC_WRITE);
        }
        if (!moved) continue;
        row_set_add(&storing->looked, live);
        row_set_add(&storing->slowed, live);
    }
}

static bool is_there(const struct member *member)
{
    bool any = false;
    for (int kind = 0; kind < TRAFFICS; kind++) any |= member->traffic[kind].row != PERIODIC_NONE;
    return any;
}

/* The fullest link of a stream. */
static uint32_t fullest(const struct contention *contention, uint32_t stream)
{
    const struct flow_use *uses;
    const uint32_t count = flow_net_uses(contention->storing->streams, stream, &uses);
    uint32_t found = PERIODIC_NONE;
    double most = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct link_told *told = &contention->told[uses[i].link];
        const double all = (double)(told->carries + told->streams);
        const double load = all / periodic_capacity(contention->net, uses[i].link);
        if (load <= most) continue;
        most = load;
        found = uses[i].link;
    }
    return found;
}

/* What a stream is given; the collective of its job knows how much of its links that is. */
static bool set_stream(struct run *run, uint32_t live, double rate)
{
    struct contention *contention = run->contention;
    struct storing *storing = contention->storing;
    struct member *member = &contention->members[live];
    struct traffic part = member->traffic[TRAFFIC_STREAM];
    double read_s = rate < GIVEN * member->wanted.asked ? member->wanted.read_bytes / rate : 0;
    if (!(read_s < CONTENTION_WAIT_MOST_S)) read_s = CONTENTION_WAIT_MOST_S;
    part.rate = rate * member->wanted.awake_frac;
    contention_links_set(run, live, TRAFFIC_STREAM, &part);
    row_set_add(&storing->slowed, live);
    if (differ(read_s, member->query.read_s, CONTENTION_MOVED)) {
        member->query.read_s = read_s;
        row_set_add(&storing->looked, live);
    }
    const uint32_t collective = member->traffic[TRAFFIC_COLLECTIVE].row;
    if (collective == PERIODIC_NONE || !differ(rate, member->wanted.given, LINK_MOVED))
        return false;
    member->wanted.given = rate;
    const struct flow_use *uses;
    const uint32_t count = flow_net_uses(storing->streams, part.row, &uses);
    for (uint32_t i = 0; i < count; i++)
        storing->by_link[uses[i].link] = uses[i].per_unit * part.rate;
    if (!periodic_set_own_streams(contention->net, collective, storing->by_link))
        run->out_of_memory = true;
    for (uint32_t i = 0; i < count; i++) storing->by_link[uses[i].link] = 0;
    return true;
}

/* As if there were nobody else: what its links carry as they are, beside the rows of its own job. */
static double alone_rate(const struct contention *contention, uint32_t live)
{
    struct storing *storing = contention->storing;
    const struct member *member = &contention->members[live];
    const struct link_use *of_row[TRAFFICS_OF_NET];
    uint32_t counts[TRAFFICS_OF_NET] = { 0 };
    for (int kind = 0; kind < TRAFFICS_OF_NET; kind++) {
        const struct traffic *part = &member->traffic[kind];
        if (part->row == PERIODIC_NONE) continue;
        counts[kind] = periodic_uses(contention->net, part->row, &of_row[kind]);
        for (uint32_t i = 0; i < counts[kind]; i++)
            storing->by_link[of_row[kind][i].link] += of_row[kind][i].bytes * part->rate;
    }
    double rate = member->wanted.asked;
    const struct flow_use *uses;
    const uint32_t count =
        flow_net_uses(storing->streams, member->traffic[TRAFFIC_STREAM].row, &uses);
    for (uint32_t i = 0; i < count; i++) {
        const double capacity = periodic_capacity(contention->net, uses[i].link);
        const double left = periodic_left(capacity, storing->by_link[uses[i].link]);
        if (left / uses[i].per_unit < rate) rate = left / uses[i].per_unit;
    }
    for (int kind = 0; kind < TRAFFICS_OF_NET; kind++)
        for (uint32_t i = 0; i < counts[kind]; i++) storing->by_link[of_row[kind][i].link] = 0;
    return rate;
}

/* The nets follow the pace of a job once it has moved. True when the net of periodic jobs has to be solved again. */
static bool follow_pace(struct run *run, uint32_t live)
{
    struct contention *contention = run->contention;
    struct storing *storing = contention->storing;
    struct member *member = &contention->members[live];
    struct wanted *wanted = &member->wanted;
    const struct traffic *traffic = member->traffic;
    struct speed_storage wants;
    if (!is_there(member)) return false;
    speed_storage(run->speed, &member->query, &wants);
    wanted->awake_frac = 1 - wants.checkpoint_frac;
    if (wanted->instant != storing->instant) wanted->followed = 0;
    wanted->instant = storing->instant;
    const double most = wanted->followed ? FINE_MOVED : STEP_MOVED;
    const double asked = wants.read_bytes > 0 ? wants.read_bytes / wants.step_s : 0;
    if (traffic[TRAFFIC_STREAM].row != FLOW_NONE && differ(asked, wanted->asked, most)) {
        const struct flow_use *uses;
        const uint32_t count = flow_net_uses(storing->streams, traffic[TRAFFIC_STREAM].row, &uses);
        for (uint32_t i = 0; i < count; i++) storing->flows[i] = uses[i];
        contention_links_drop(run, live, TRAFFIC_STREAM);
        flow_net_remove(storing->streams, traffic[TRAFFIC_STREAM].row);
        wanted->asked = asked;
        if (!contention_storage_stream(contention, live, count, wanted->servers))
            run->out_of_memory = true;
    }
    bool again = traffic[TRAFFIC_STREAM].row != FLOW_NONE && contention->estimate == ESTIMATES &&
                 set_stream(run, live, alone_rate(contention, live));
    if (!differ(wants.wall_s, wanted->wall_s, most)) return again;
    /* Then half way: who slows down leaves more for himself, and would go back and forth. */
    wanted->wall_s =
        wanted->followed < STRAIGHT_MAX ? wants.wall_s : (wanted->wall_s + wants.wall_s) / 2;
    wanted->followed++;
    contention_storage_pause(run, live);
    return true;
}

static bool follow_paces(struct run *run)
{
    struct storing *storing = run->contention->storing;
    bool again = false;
    if (storing->live_room == 0) return false;
    const uint32_t count = row_set_take(&storing->looked, storing->list);
    for (uint32_t i = 0; i < count; i++) again |= follow_pace(run, storing->list[i]);
    return again;
}

/* Of links that carry something else now, the net is told of the streams. */
static bool tell_streams(struct contention *contention, uint32_t count)
{
    struct storing *storing = contention->storing;
    bool again = false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t link = storing->moved_list[i];
        const double now = (double)contention->told[link].streams, was = storing->told[link];
        const double most = LINK_MOVED * periodic_capacity(contention->net, link);
        if (now == was || (now > 0 && fabs(now - was) <= most)) continue;
        periodic_set_stream(contention->net, link, now);
        storing->told[link] = now;
        again = true;
    }
    return again;
}

/* Streams whose links are others now, when each job is alone. */
static bool flow_alone(struct run *run, uint32_t links)
{
    struct contention *contention = run->contention;
    struct storing *storing = contention->storing;
    bool again = false;
    for (uint32_t i = 0; i < links && storing->moved_list[i] < storing->links.first; i++) {
        const uint32_t *rows;
        const uint32_t count = flow_net_flows_of(storing->streams, storing->moved_list[i], &rows);
        for (uint32_t r = 0; r < count; r++) {
            const uint32_t live = storing->live_of[rows[r]];
            again |= set_stream(run, live, alone_rate(contention, live));
        }
    }
    return again;
}

/* All streams get what rows leave of the links. */
static bool flow_together(struct run *run, uint32_t links)
{
    struct contention *contention = run->contention;
    struct storing *storing = contention->storing;
    const uint32_t *rows;
    bool again = false;
    for (uint32_t i = 0; i < links; i++) {
        const uint32_t link = storing->moved_list[i];
        const double carries = (double)contention->told[link].carries;
        flow_net_set_capacity(storing->streams, link,
                              periodic_left(periodic_capacity(contention->net, link), carries));
    }
    const uint32_t count = flow_net_solve(storing->streams, &rows);
    for (uint32_t i = 0; i < count; i++)
        again |=
            set_stream(run, storing->live_of[rows[i]], flow_net_rate(storing->streams, rows[i]));
    return again;
}

/* True when the net of periodic jobs has to be solved again. */
static bool flow_streams(struct run *run)
{
    struct contention *contention = run->contention;
    struct storing *storing = contention->storing;
    uint32_t links = row_set_take(&storing->moved, storing->moved_list);
    bool again = tell_streams(contention, links);
    again |= contention->estimate == ESTIMATES ? flow_alone(run, links) : flow_together(run, links);
    links = row_set_take(&storing->moved, storing->moved_list);
    return tell_streams(contention, links) || again;
}

/* The tempo of a job, and where it waits for its input. */
static void set_tempo(struct run *run, uint32_t live)
{
    struct contention *contention = run->contention;
    struct member *member = &contention->members[live];
    if (!is_there(member)) return;
    contention_retune(run, live);
    if (!run->keep_detail) return;
    if (member->traffic[TRAFFIC_READ].row != PERIODIC_NONE) tell_row(run, live, TRAFFIC_READ);
    if (member->traffic[TRAFFIC_STREAM].row == FLOW_NONE) return;
    struct traffic part = member->traffic[TRAFFIC_STREAM];
    part.waiting = data_units(run, live);
    part.fullest = fullest(contention, part.row);
    contention_links_set(run, live, TRAFFIC_STREAM, &part);
}

void contention_storage_settle(struct run *run)
{
    struct storing *storing = run->contention->storing;
    bool again = true;
    storing->instant++;
    for (int round = 0; again && round < ROUNDS_MAX; round++) {
        take_waits(run);
        again = follow_paces(run);
        again = flow_streams(run) || again;
        again = follow_paces(run) || again;
    }
    const uint32_t count = storing->live_room ? row_set_take(&storing->slowed, storing->list) : 0;
    for (uint32_t i = 0; i < count; i++) set_tempo(run, storing->list[i]);
}
