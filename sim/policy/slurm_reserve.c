/* slurm_reserve.c - see slurm_reserve.h. */
#include "policy/slurm_reserve.h"

#include "base/clock.h"
#include "spec/node_names.h"

#include <string.h>

static const char maintenance[] = "ReqNodeNotAvail, Reserved for maintenance";
static const char reserved[] = "ReqNodeNotAvail, May be reserved for other job";
static const char not_yet[] = "Reservation"; /* its own has not begun */
static const char expired[] = "InvalidReservation";

bool slurm_reserve_init(struct slurm_reserve *reserve, const struct slurm_spec *spec,
                        const struct layout *layout, struct arena *arena)
{
    *reserve = (struct slurm_reserve){ .spec = spec, .words = (layout_nodes(layout) + 63) / 64 };
    if (spec->reservation_count == 0) return true;
    reserve->nodes = ARENA_ARRAY(arena, uint64_t, (size_t)spec->reservation_count * reserve->words);
    if (!reserve->nodes) return false;
    for (uint32_t r = 0; r < spec->reservation_count; r++) {
        uint64_t *own = &reserve->nodes[(size_t)r * reserve->words];
        const char *list = spec->reservations[r].nodes;
        uint32_t count;
        char unknown[LIMIT_NAME_BYTES];
        if (node_list_check(layout, list, &count, unknown)) continue;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t node = node_list_at(layout, list, i);
            own[node / 64] |= UINT64_C(1) << (node % 64);
        }
    }
    return true;
}

uint32_t slurm_reserve_find(const struct slurm_reserve *reserve, struct name name)
{
    for (uint32_t r = 0; r < reserve->spec->reservation_count; r++)
        if (name_is(name, reserve->spec->reservations[r].name)) return r;
    return RESERVATION_NONE;
}

static bool listed(const char *list, struct name name)
{
    struct name word;
    while (name_next(&list, ", ", &word))
        if (word.bytes == name.bytes && memcmp(word.text, name.text, name.bytes) == 0) return true;
    return false;
}

bool slurm_reserve_admits(const struct slurm_reserve *reserve, uint32_t row, struct name user,
                          struct name account)
{
    const struct slurm_reservation *own = &reserve->spec->reservations[row];
    if (own->users[0] && !listed(own->users, user)) return false;
    return !own->accounts[0] || listed(own->accounts, account);
}

static int64_t sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Takes out the nodes of one reservation; false when there were none to take. */
static bool take_out(const struct slurm_reserve *reserve, uint32_t row, uint64_t *nodes)
{
    const uint64_t *own = &reserve->nodes[(size_t)row * reserve->words];
    uint64_t taken = 0;
    for (uint32_t w = 0; w < reserve->words; w++) {
        taken |= nodes[w] & own[w];
        nodes[w] &= ~own[w];
    }
    return taken != 0;
}

/* Nodes of its own reservation only; none before and behind its time. */
static int64_t keep_inside(const struct slurm_reserve *reserve, struct slurm_stay stay,
                           uint64_t *nodes, const char **reason)
{
    const struct slurm_reservation *own = &reserve->spec->reservations[stay.reservation];
    const uint64_t *inside = &reserve->nodes[(size_t)stay.reservation * reserve->words];
    if (stay.start_ns >= own->start_ns && stay.start_ns < own->end_ns) {
        for (uint32_t w = 0; w < reserve->words; w++) nodes[w] &= inside[w];
        return TIME_NEVER;
    }
    memset(nodes, 0, reserve->words * sizeof *nodes);
    *reason = stay.start_ns < own->start_ns ? not_yet : expired;
    return stay.start_ns < own->start_ns ? own->start_ns : TIME_NEVER;
}

/* Takes out the nodes of other reservations, with MAINT or without, that the stay meets. Returns the first end of
 * these. */
static int64_t keep_out(const struct slurm_reserve *reserve, struct slurm_stay stay, bool maint,
                        uint64_t *nodes, const char **reason)
{
    int64_t next_ns = TIME_NEVER;
    for (uint32_t r = 0; r < reserve->spec->reservation_count; r++) {
        const struct slurm_reservation *other = &reserve->spec->reservations[r];
        if (r == stay.reservation || other->maint != maint) continue;
        if (other->start_ns >= stay.end_ns || other->end_ns <= stay.start_ns) continue;
        if (!take_out(reserve, r, nodes)) continue;
        next_ns = sooner(next_ns, other->end_ns);
        if (!*reason) *reason = maint ? maintenance : reserved;
    }
    return next_ns;
}

int64_t slurm_reserve_limit(const struct slurm_reserve *reserve, struct slurm_stay stay,
                            uint64_t *nodes, const char **reason)
{
    const struct slurm_spec *spec = reserve->spec;
    int64_t next_ns = TIME_NEVER;
    *reason = NULL;
    const bool named = stay.reservation != RESERVATION_NONE;
    if (named) next_ns = keep_inside(reserve, stay, nodes, reason);
    if (named && (*reason || spec->reservations[stay.reservation].maint)) return next_ns;
    /* Maintenance first: where it shares nodes with others it is the reason. */
    next_ns = sooner(next_ns, keep_out(reserve, stay, true, nodes, reason));
    next_ns = sooner(next_ns, keep_out(reserve, stay, false, nodes, reason));
    return next_ns;
}

int64_t slurm_reserve_boundary_ns(const struct slurm_reserve *reserve, int64_t behind_ns)
{
    int64_t next_ns = TIME_NEVER;
    for (uint32_t r = 0; r < reserve->spec->reservation_count; r++) {
        const struct slurm_reservation *own = &reserve->spec->reservations[r];
        if (own->start_ns > behind_ns) next_ns = sooner(next_ns, own->start_ns);
        if (own->end_ns > behind_ns) next_ns = sooner(next_ns, own->end_ns);
    }
    return next_ns;
}
