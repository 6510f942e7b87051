/* speed.c - see speed.h. */
#include "cluster/speed.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/philox.h"
#include "cluster/speed_site.h"
#include "cluster/train_pace.h"
#include "models/checkpoint.h"
#include "models/hardware.h"
#include "models/locality.h"
#include "models/straggler.h"

#include <math.h>
#include <string.h>

/* Share units of one GPU; the same number as the ledger's unit (asserted by the ledger's tests). */
static const double SHARE_ALL = 1008000.0;

enum { MEMO_ROWS = 4096 }; /* a power of two; a full memo is computed anew, never wrong */

/* The time of one collective on one placement, at kappa = 1 per second of it. */
struct collective_memo {
    uint32_t gpus; /* 0 = empty */
    uint32_t profile;
    struct speed_place place;
    struct collective_result time;
};

struct speed {
    const struct scenario *scenario;
    struct site here, recorded;
    struct train_paces *paces;                 /* NULL: no profile has a training plan */
    struct straggler_table noise, servers;     /* filled when steps, or servers, differ */
    struct collective_memo memo[2][MEMO_ROWS]; /* here, recorded */
};

struct speed *speed_create(const struct scenario *scenario, const struct variant *variant,
                           struct arena *arena)
{
    struct speed *speed = arena_take(arena, 1, sizeof *speed);
    if (!speed) return NULL;
    speed->scenario = scenario;
    speed->here = site_of_layout(scenario, variant);
    speed->recorded = site_recorded(scenario);
    if (scenario->stragglers.noise > 0)
        straggler_table_init(&speed->noise, scenario->stragglers.noise);
    if (scenario->stragglers.server_spread > 0)
        straggler_table_init(&speed->servers, scenario->stragglers.server_spread);
    for (uint32_t i = 0; i < scenario->communication.mix_count && !speed->paces; i++)
        if (scenario->communication.mix[i].profile.train.model.id[0] != '\0') {
            speed->paces = train_paces_create(arena);
            if (!speed->paces) return NULL;
        }
    return speed;
}

static bool same_place(struct speed_place a, struct speed_place b)
{
    return a.servers == b.servers && a.gpus_min == b.gpus_min && a.domains == b.domains &&
           a.domain_servers == b.domain_servers && a.domain_gpus == b.domain_gpus &&
           a.slice_units == b.slice_units && a.nics == b.nics && a.rail_nics == b.rail_nics &&
           a.spans_leaves == b.spans_leaves && a.spans_pods == b.spans_pods;
}

/* The memoised time; which = 0 here, 1 recorded. */
static struct collective_result collective(struct speed *speed, int which, uint8_t profile,
                                           uint32_t gpus, struct speed_place place)
{
    const uint64_t hash = mix64(
        ((uint64_t)profile << 56 | (uint64_t)gpus << 28 | place.servers) +
        (4 * (uint64_t)place.gpus_min + 2 * place.spans_pods + place.spans_leaves) *
            UINT64_C(0x9E3779B97F4A7C15) +
        ((uint64_t)place.domains << 24 ^ (uint64_t)place.domain_servers << 48 ^ place.domain_gpus) *
            UINT64_C(0xD1B54A32D192ED03) +
        ((uint64_t)place.slice_units << 32 | (uint64_t)place.nics << 16 | place.rail_nics) *
            UINT64_C(0x8CB92BA72F3D8DD7));
    struct collective_memo *row = &speed->memo[which][hash % MEMO_ROWS];
    if (row->gpus != gpus || row->profile != profile || !same_place(row->place, place)) {
        const struct collective_group group = site_group(place, gpus);
        const struct communication *communication = &speed->scenario->communication;
        const struct site *site = which ? &speed->recorded : &speed->here;
        const struct collective_hardware hardware = site_hardware(site, place);
        *row = (struct collective_memo){
            .gpus = gpus,
            .profile = profile,
            .place = place,
            .time = collective_time(&hardware, OP_ALL_REDUCE, &group,
                                    communication->mix[profile].profile.size_bytes,
                                    site_allowed(site, communication->allreduce)),
        };
    }
    return row->time;
}

/* Interval tau and blocking write C of a job's checkpoints on a site; tau 0 = none. */
struct checkpoint_times {
    double interval_s, write_s, bytes;
};

static struct checkpoint_times checkpoint_of(const struct speed *speed, const struct site *site,
                                             const struct speed_query *query,
                                             struct speed_place place)
{
    const struct scenario *scenario = speed->scenario;
    const struct checkpoint *checkpoint = &scenario->checkpoint;
    if (checkpoint->policy == CHECKPOINT_NONE) return (struct checkpoint_times){ 0 };
    double per_gpu = checkpoint->bytes_per_gpu;
    if (per_gpu <= 0 && scenario->communication.mix_count > 0)
        per_gpu = scenario->communication.mix[query->profile].profile.state_bytes_per_gpu;
    const double server_bytes_per_s = checkpoint->server_bytes_per_s > 0
                                          ? checkpoint->server_bytes_per_s
                                          : site->links_per_server * site->nic_share_bytes_per_s;
    const double pipe = place.servers * server_bytes_per_s;
    const double all = site->write_bytes_per_s;
    double store = checkpoint->store_bytes_per_s;
    if (all > 0 && (store <= 0 || all < store)) store = all;
    const double bytes = per_gpu * query->gpus;
    const double write_s = bytes / (store > 0 && store < pipe ? store : pipe);
    double interval_s = s_from_ns(checkpoint->interval_ns);
    if (checkpoint->policy != CHECKPOINT_FIXED) {
        const double mttf_s =
            speed_job_mttf_s(scenario, query->gpus, place.servers, site->gpus_per_server,
                             site->links_per_server, site->servers_per_leaf, site->rails);
        if (!(mttf_s < HUGE_VAL) || write_s <= 0) return (struct checkpoint_times){ 0 };
        interval_s = checkpoint->policy == CHECKPOINT_YOUNG ? young_interval_s(write_s, mttf_s)
                                                            : daly_interval_s(write_s, mttf_s);
    }
    return (
        struct checkpoint_times){ .interval_s = interval_s, .write_s = write_s, .bytes = bytes };
}

/* Who communicates: GPUs, or MIG instances, which the job's GPUs do not count. */
static uint32_t members_of(const struct speed_query *query)
{
    const struct speed_place *place = &query->place;
    return place->slice_units > 0 && place->gpus > query->gpus ? place->gpus : query->gpus;
}

/* Of a whole GPU's speed, which kappa and plans speak of: an instance computes so much longer between two collectives. */
static double speed_frac(struct speed_place place)
{
    return place.slice_units > 0 ? place.slice_units / SHARE_ALL : 1;
}

/* Communication over compute of this job at its reference placement. */
static double kappa_of(const struct speed *speed, const struct speed_query *query)
{
    const struct communication *communication = &speed->scenario->communication;
    const struct profile *profile = &communication->mix[query->profile].profile;
    const bool one = site_islands(site_compact(&speed->recorded, members_of(query), 0)) == 1;
    return (one ? profile->kappa_one : profile->kappa_many) * query->kappa_luck *
           communication->scale * speed_frac(query->place);
}

/* What a unit of compute is made longer by: communication that stays exposed, of it what is not the others' doing, and of that
 * what an infinitely fast network would leave; bubbles of a pipeline. */
struct exposure {
    double all, own, intra, bubble;
};

static struct exposure exposure_by_kappa(struct speed *speed, int which,
                                         const struct speed_query *query, struct speed_place place)
{
    const struct profile *profile = &speed->scenario->communication.mix[query->profile].profile;
    const uint32_t members = members_of(query);
    const struct speed_place reference = site_compact(&speed->recorded, members, 0);
    const double kappa = kappa_of(speed, query), hidden = profile->hidden_frac;
    const double unit_s = collective(speed, 1, query->profile, members, reference).total_s;
    const struct collective_result time =
        collective(speed, which, query->profile, place.gpus ? place.gpus : members, place);
    const double own_s = time.total_s + (which ? 0 : query->own_wait_s);
    const double now_s = own_s + (which ? 0 : query->others_wait_s);
    return (struct exposure){ .all = exposed_frac(kappa, now_s / unit_s, hidden),
                              .own = exposed_frac(kappa, own_s / unit_s, hidden),
                              .intra = exposed_frac(kappa, time.intra_s / unit_s, hidden) };
}

static double above(double a, double b)
{
    return a > b ? a - b : 0;
}

/* A job's training plan at a placement; under auto its collectives are those of `gpuplan step`. */
struct planned {
    struct train_case at;
    struct collective_hardware hardware;
    struct train_pace pace; /* on healthy links */
};

static struct planned planned(struct speed *speed, int which, const struct speed_query *query,
                              struct speed_place place)
{
    const struct communication *communication = &speed->scenario->communication;
    const struct site *site = which ? &speed->recorded : &speed->here;
    struct planned planned = {
        .hardware = site_hardware(site, place),
        .at = { .job = &communication->mix[query->profile].profile.train,
                .allowed = site_allowed(site, communication->allreduce),
                .traffic = query->kappa_luck * communication->scale * speed_frac(place),
                .site = site_group(place, place.gpus ? place.gpus : members_of(query)),
                .islands = site_islands(place),
                .kind = (uint32_t)(place.slice_units > 0) << 31 | place.nics << 16 |
                        place.rail_nics << 2 | (uint32_t)which << 1 | place.spans_pods },
    };
    planned.pace = train_pace_of(speed->paces, &planned.at, &planned.hardware, 1);
    return planned;
}

/* Seconds of a step that its bytes take between servers: when NICs and uplinks alone set their pace, and as they are; the
 * links slow a job when they take longer than that. */
struct on_links {
    double line_s, least_s;
};

static struct on_links on_links(const struct speed *speed, const struct planned *planned)
{
    const struct collective_group *site = &planned->at.site;
    const uint32_t all = speed->here.links_per_server;
    const struct collective_hardware *hardware = &planned->hardware;
    const double nics =
        hardware->nics_used[site->gpus_min < hardware->gpus ? site->gpus_min : hardware->gpus];
    /* Machines that share a NIC have their part of it in the plan already. */
    const double part = hardware->nic_bytes_per_s < speed->here.nic_bytes_per_s
                            ? hardware->nic_bytes_per_s / speed->here.nic_bytes_per_s
                            : 1;
    const double rate = speed_server_bytes_per_s(speed) * nics / all * part;
    const struct train_pace *pace = &planned->pace;
    const double servers =
        site->domains > 0 ? site->domain_servers : (double)site->servers / planned->at.islands;
    double line_s = pace->server_bytes / servers / rate;
    const double up_s = pace->leaf_bytes / hardware->uplinks_bytes_per_s;
    if (site->spans_leaves && up_s > line_s) line_s = up_s;
    const double pair_s =
        hardware->pair_bytes_per_s > 0 ? pace->pair_bytes / hardware->pair_bytes_per_s : 0;
    if (site->spans_leaves && pair_s > line_s) line_s = pair_s;
    if (line_s > planned->pace.network_s) line_s = planned->pace.network_s;
    /* Without GPUDirect the host may be slower than any NIC. */
    const bool host = !planned->hardware.gpudirect && planned->pace.wire_s > line_s;
    return (struct on_links){ line_s, host ? planned->pace.wire_s : line_s };
}

/* The same step when its bytes wait so long on the links: they get less of them, and the plan hides what it can. */
static struct train_pace planned_late(struct speed *speed, const struct planned *planned,
                                      double wait_s)
{
    if (!(wait_s > 0)) return planned->pace;
    const struct on_links on = on_links(speed, planned);
    return train_pace_of(speed->paces, &planned->at, &planned->hardware,
                         (on.least_s + wait_s) / on.line_s);
}

static struct exposure exposure_by_plan(struct speed *speed, int which,
                                        const struct speed_query *query, struct speed_place place)
{
    const struct planned plan = planned(speed, which, query, place);
    const double own_s = which ? 0 : query->own_wait_s;
    const double others_s = which ? 0 : query->others_wait_s;
    const struct train_pace own = planned_late(speed, &plan, own_s);
    const struct train_pace all = others_s > 0 ? planned_late(speed, &plan, own_s + others_s) : own;
    const double unit_s = plan.pace.compute_s;
    const double more_s = all.intra_s + all.inter_s + all.bubble_s - own.bubble_s;
    return (struct exposure){ .all = more_s / unit_s,
                              .own = (own.intra_s + own.inter_s) / unit_s,
                              .intra = own.intra_s / unit_s,
                              .bubble = own.bubble_s / unit_s };
}

/* Whether jobs of this profile have a training plan. */
static bool has_plan(const struct speed *speed, const struct speed_query *query)
{
    return speed->scenario->communication.mix[query->profile].profile.train.model.id[0] != '\0';
}

/* What makes a unit of compute longer, each as a multiple of it, and the whole of it. */
struct pace {
    double slowdown, intra, inter, contention, data, straggler, bubble;
    double checkpoint_frac; /* of the whole */
    struct checkpoint_times checkpoint;
};

/* The profile whose input a job reads, NULL without one. */
static const struct profile *reader_of(const struct speed *speed, const struct speed_query *query)
{
    const struct communication *communication = &speed->scenario->communication;
    if (communication->mix_count == 0 || query->profile >= communication->mix_count) return NULL;
    const struct profile *profile = &communication->mix[query->profile].profile;
    return profile->input_bytes_per_s > 0 ? profile : NULL;
}

/* Slow input makes the step longer: what is read before it, or ahead where the step with its slowest member is shorter. */
static void wait_for_input(const struct speed *speed, const struct speed_query *query, bool ahead,
                           struct pace *pace)
{
    const struct profile *profile = reader_of(speed, query);
    if (!profile || query->read_s <= 0 || profile->prefetch != ahead) return;
    pace->data = ahead ? above(query->read_s, pace->slowdown) : query->read_s;
    pace->slowdown += pace->data;
}

/* What the slowest of its servers takes over their mean; that mean makes all of the step longer, or shorter. */
static double slowest_server(const struct speed *speed, struct speed_place place, struct pace *pace)
{
    if (place.server_time_most <= 0) return straggler_table_at(&speed->servers, place.servers);
    const double mean = place.server_time_mean;
    pace->intra *= mean;
    pace->inter *= mean;
    pace->contention *= mean;
    pace->data *= mean;
    pace->bubble *= mean;
    pace->slowdown *= mean;
    return place.server_time_most / mean;
}

/* All of the step is as long as its slowest member's (MODELS 3.8). */
static void wait_for_slowest(const struct speed *speed, const struct speed_query *query,
                             struct speed_place place, struct pace *pace)
{
    const struct stragglers *stragglers = &speed->scenario->stragglers;
    double factor = speed_profile_uneven(speed->scenario, query->profile, query->gpus);
    if (stragglers->noise > 0)
        factor *= straggler_table_at(
            &speed->noise, stragglers->units == UNITS_SERVERS ? place.servers : query->gpus);
    if (stragglers->server_spread > 0) factor *= slowest_server(speed, place, pace);
    if (factor <= 1) return;
    pace->straggler = pace->slowdown * (factor - 1);
    pace->slowdown += pace->straggler;
}

static struct pace pace_of(struct speed *speed, int which, const struct speed_query *query,
                           struct speed_place place)
{
    const struct site *site = which ? &speed->recorded : &speed->here;
    struct pace pace = { .slowdown = 1 + site->compute_frac };
    if (speed->scenario->communication.kind != COMM_NONE && members_of(query) > 1) {
        const struct exposure e = has_plan(speed, query)
                                      ? exposure_by_plan(speed, which, query, place)
                                      : exposure_by_kappa(speed, which, query, place);
        const double own = e.own < e.all ? e.own : e.all;
        pace.intra = e.intra < own ? e.intra : own;
        pace.inter = own - pace.intra;
        pace.contention = e.all - own;
        pace.bubble = e.bubble;
        pace.slowdown += e.all + e.bubble;
    }
    if (!which) wait_for_input(speed, query, false, &pace);
    wait_for_slowest(speed, query, place, &pace);
    if (!which) wait_for_input(speed, query, true, &pace);
    pace.checkpoint = checkpoint_of(speed, site, query, place);
    if (!which) pace.checkpoint.write_s += query->write_wait_s;
    if (pace.checkpoint.interval_s > 0) {
        const double cycle_s = pace.checkpoint.interval_s + pace.checkpoint.write_s;
        pace.checkpoint_frac = pace.checkpoint.write_s / cycle_s;
        pace.slowdown *= cycle_s / pace.checkpoint.interval_s;
    }
    return pace;
}

/* Where the job was recorded: on the nodes that the trace names, evenly filled; else on the fewest
 * servers, and filled as the shape places jobs there now, for a replay on the recorded layout must
 * give the recorded duration: evenly in whole servers, or all but the last one full. What ran on MIG
 * instances did so there too. */
static struct speed_place recorded_place(const struct speed *speed, const struct speed_query *query)
{
    const uint32_t members = members_of(query);
    struct speed_place place = site_compact(&speed->recorded, members, query->recorded_nodes);
    place.slice_units = query->place.slice_units;
    if (query->recorded_nodes == 0 && speed->scenario->shape != SHAPE_MODEL)
        place.gpus_min = members - (place.servers - 1) * speed->recorded.gpus_per_server;
    return place;
}

/* s(recorded): only what the recorded durations contain counts. */
static double recorded_slowdown(struct speed *speed, const struct speed_query *query)
{
    const struct scenario *scenario = speed->scenario;
    if (scenario->recorded_none) return 1;
    const struct pace pace = pace_of(speed, 1, query, recorded_place(speed, query));
    const double checkpoint = 1 / (1 - pace.checkpoint_frac);
    return (scenario->contains_stalls ? pace.slowdown / checkpoint : 1) *
           (scenario->contains_checkpoint ? checkpoint : 1);
}

/* In the ledger's units. */
static uint32_t share_of(double part, const struct pace *pace)
{
    return (uint32_t)(part / pace->slowdown * SHARE_ALL);
}

struct speed_answer speed_of(struct speed *speed, const struct speed_query *query)
{
    const struct pace pace = pace_of(speed, 0, query, query->place);
    const double left = query->left_q30 ? (double)query->left_q30 / RATE_ONE : 1;
    const double rate = left * recorded_slowdown(speed, query) / pace.slowdown;
    ASSERT(rate > 0);
    const double scaled = floor(rate * RATE_ONE + 0.5);
    return (struct speed_answer){
        .tempo = { .rate_q30 = scaled < 1              ? 1
                               : scaled > 4294967295.0 ? 4294967295u
                                                       : (uint32_t)scaled,
                   .straggler = share_of(pace.straggler, &pace),
                   .intra = share_of(pace.intra, &pace),
                   .inter = share_of(pace.inter, &pace),
                   .contention = share_of(pace.contention, &pace),
                   .data = share_of(pace.data, &pace),
                   .bubble = share_of(pace.bubble, &pace),
                   .checkpoint = (uint32_t)(pace.checkpoint_frac * SHARE_ALL) },
        .cycle_ns = pace.checkpoint.interval_s > 0
                        ? ns_from_s(pace.checkpoint.interval_s + pace.checkpoint.write_s)
                        : 0,
    };
}

static bool plan_operation(struct speed *speed, const struct speed_query *query,
                           struct speed_operation *operation)
{
    const struct planned plan = planned(speed, 0, query, query->place);
    if (!(plan.pace.wire_s > 0)) return false;
    const struct on_links on = on_links(speed, &plan);
    *operation = (struct speed_operation){
        .compute_s = plan.pace.compute_s,
        .unit_s = plan.pace.compute_s,
        .curve = train_pace_curve(speed->paces, &plan.at, &plan.hardware, on.line_s, on.least_s),
        .alone_s = plan.pace.network_s,
        .wire_s = on.least_s,
    };
    site_send(operation, &query->place, query->gpus, plan.pace.traffic, plan.pace.traffic_count);
    return true;
}

bool speed_choice(struct speed *speed, const struct speed_query *query, struct speed_choice *choice)
{
    const uint32_t members = members_of(query);
    if (speed->scenario->communication.kind == COMM_NONE || members < 2 || has_plan(speed, query))
        return false;
    const struct collective_result time = collective(
        speed, 0, query->profile, query->place.gpus ? query->place.gpus : members, query->place);
    *choice = (struct speed_choice){ time.algorithm, time.bottleneck };
    return true;
}

bool speed_operation(struct speed *speed, const struct speed_query *query,
                     struct speed_operation *operation)
{
    const struct communication *communication = &speed->scenario->communication;
    const uint32_t members = members_of(query), islands = site_islands(query->place);
    if (communication->kind == COMM_NONE || members < 2 || islands < 2) return false;
    if (has_plan(speed, query)) return plan_operation(speed, query, operation);
    const double kappa = kappa_of(speed, query);
    if (!(kappa > 0)) return false;
    const struct speed_place reference = site_compact(&speed->recorded, members, 0);
    const double unit_s = collective(speed, 1, query->profile, members, reference).total_s;
    const struct collective_result time = collective(
        speed, 0, query->profile, query->place.gpus ? query->place.gpus : members, query->place);
    const double compute_s = unit_s / kappa;
    *operation = (struct speed_operation){
        .compute_s = compute_s,
        .unit_s = compute_s,
        .hidden_s = communication->mix[query->profile].profile.hidden_frac * compute_s,
        .alone_s = time.total_s,
        .wire_s = time.wire_s,
        .bytes = time.network_bytes * islands / query->place.servers,
    };
    return time.wire_s > 0 && unit_s > 0;
}

bool speed_storage(struct speed *speed, const struct speed_query *query,
                   struct speed_storage *storage)
{
    const struct profile *profile = reader_of(speed, query);
    const struct pace now = pace_of(speed, 0, query, query->place);
    *storage =
        (struct speed_storage){ .wall_s = now.slowdown, .checkpoint_frac = now.checkpoint_frac };
    if (profile) {
        struct speed_query fed = *query;
        fed.read_s = 0;
        const struct pace pace = query->read_s > 0 ? pace_of(speed, 0, &fed, query->place) : now;
        storage->step_s = pace.slowdown * (1 - pace.checkpoint_frac);
        storage->prefetch = profile->prefetch;
        storage->read_bytes = profile->input_bytes_per_s * query->gpus;
    }
    const struct checkpoint_times times = checkpoint_of(speed, &speed->here, query, query->place);
    if (times.interval_s > 0 && times.write_s > 0) {
        storage->write_bytes = times.bytes;
        storage->interval_s = times.interval_s;
        storage->write_s = times.write_s;
    }
    return storage->read_bytes > 0 || storage->write_bytes > 0;
}

double speed_server_bytes_per_s(const struct speed *speed)
{
    const struct site *site = &speed->here;
    const double slot = site->hardware.gpu_pcie_bytes_per_s;
    return site->links_per_server *
           (slot > 0 && slot < site->nic_bytes_per_s ? slot : site->nic_bytes_per_s);
}
