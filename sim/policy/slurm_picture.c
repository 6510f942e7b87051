/* slurm_picture.c - see slurm_picture.h. */
#include "policy/slurm_picture.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { UNDO_FIRST_ROWS = 256, MILLI = 1000, MIB_SHIFT = 20 };

/* Head of a row of undo; shards and sockets of the node follow it. */
struct undo_row {
    uint64_t memory_mib, free_mask;
    uint32_t node, cores, jobs, cores_bound;
};

/* ---- sockets --------------------------------------------------------------------------------- */

/* Takes up to `cores` cores from the sockets marked in `of`, each time from the fullest one; the first on a tie. */
static uint32_t take_evenly(uint32_t sockets, uint32_t of, uint32_t cores, uint16_t *free,
                            uint16_t *taken)
{
    while (cores > 0) {
        uint32_t fullest = SLURM_SOCKETS;
        for (uint32_t s = 0; s < sockets; s++)
            if (of >> s & 1 && free[s] && (fullest == SLURM_SOCKETS || free[s] > free[fullest]))
                fullest = s;
        if (fullest == SLURM_SOCKETS) break;
        free[fullest]--, taken[fullest]++, cores--;
    }
    return cores;
}

void slurm_sockets_take(const struct slurm_kind *kind, uint32_t gpu_mask, uint32_t cores,
                        uint16_t *free, uint16_t *taken)
{
    uint32_t near = 0;
    memset(taken, 0, kind->sockets * sizeof *taken);
    for (uint32_t s = 0; s < kind->sockets; s++)
        near |= (uint32_t)((gpu_mask & kind->gpus_of_socket[s]) != 0) << s;
    cores = take_evenly(kind->sockets, near, cores, free, taken);
    take_evenly(kind->sockets, ~near, cores, free, taken);
}

/* The same backwards: as the job would sit on an empty node, as far as there is room. */
static void sockets_give(const struct slurm_kind *kind, uint32_t gpu_mask, uint32_t cores,
                         uint16_t *free)
{
    const uint16_t per_socket = (uint16_t)(kind->cores / kind->sockets);
    uint16_t empty[SLURM_SOCKETS], taken[SLURM_SOCKETS];
    for (uint32_t s = 0; s < kind->sockets; s++) empty[s] = per_socket;
    slurm_sockets_take(kind, gpu_mask, cores, empty, taken);
    uint32_t rest = 0;
    for (uint32_t s = 0; s < kind->sockets; s++) {
        const uint16_t room = (uint16_t)(per_socket - free[s]);
        const uint16_t back = taken[s] < room ? taken[s] : room;
        free[s] = (uint16_t)(free[s] + back);
        rest += taken[s] - back;
    }
    for (uint32_t s = 0; s < kind->sockets; s++)
        while (rest > 0 && free[s] < per_socket) free[s]++, rest--;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint16_t *shards_of(const struct slurm_picture *picture, uint32_t node)
{
    return picture->shards + (size_t)node * picture->nodes->gpus_most;
}

static uint16_t *sockets_of(const struct slurm_picture *picture, uint32_t node)
{
    return picture->socket_cores + (size_t)node * picture->nodes->sockets_most;
}

/* Writes the free GPUs of a node, and in which sets it is with so many. */
static void set_free_mask(struct slurm_picture *picture, uint32_t node, uint64_t free_mask)
{
    const uint32_t was = (uint32_t)bits_count_64(picture->free_mask[node]);
    const uint32_t is = (uint32_t)bits_count_64(free_mask);
    const uint64_t bit = UINT64_C(1) << (node % 64);
    uint64_t *word = picture->with_gpus + node / 64;
    picture->free_mask[node] = free_mask;
    for (uint32_t g = was + 1; g <= is; g++) word[(size_t)g * picture->nodes->words] |= bit;
    for (uint32_t g = is + 1; g <= was; g++) word[(size_t)g * picture->nodes->words] &= ~bit;
}

/* Writes the free cores of a node; when it was the one with most of its word, the word is looked at again. */
static void set_cores(struct slurm_picture *picture, uint32_t node, uint32_t cores)
{
    uint32_t *bound = &picture->cores_bound[node / 64];
    const bool was_most = picture->cores[node] == *bound;
    picture->cores[node] = cores;
    if (cores >= *bound) {
        *bound = cores;
    } else if (was_most) {
        const uint32_t first = node / 64 * 64;
        *bound = 0;
        for (uint32_t n = first; n < first + 64 && n < picture->nodes->nodes; n++)
            if (picture->cores[n] > *bound) *bound = picture->cores[n];
    }
}

static void node_empty(struct slurm_picture *picture, uint32_t node)
{
    const struct slurm_kind *kind = slurm_kind_of(picture->nodes, node);
    set_free_mask(picture, node, picture->sound_mask[node]);
    set_cores(picture, node, kind->cores);
    picture->memory_mib[node] = kind->memory_mib;
    picture->jobs[node] = 0;
    if (picture->shards)
        memset(shards_of(picture, node), 0, picture->nodes->gpus_most * sizeof *picture->shards);
    for (uint32_t s = 0; picture->socket_cores && s < picture->nodes->sockets_most; s++)
        sockets_of(picture, node)[s] =
            (uint16_t)(s < kind->sockets ? kind->cores / kind->sockets : 0);
}

bool slurm_picture_init(struct slurm_picture *picture, const struct slurm_nodes *nodes,
                        struct arena *arena)
{
    const uint32_t count = nodes->nodes, words = nodes->words;
    *picture = (struct slurm_picture){ .nodes = nodes };
    picture->free_mask = ARENA_ARRAY(arena, uint64_t, count);
    picture->sound_mask = ARENA_ARRAY(arena, uint64_t, count);
    picture->cores = ARENA_ARRAY(arena, uint32_t, count);
    picture->memory_mib = ARENA_ARRAY(arena, uint64_t, count);
    picture->jobs = ARENA_ARRAY(arena, uint32_t, count);
    picture->usable = ARENA_ARRAY(arena, uint64_t, words);
    picture->completing = ARENA_ARRAY(arena, uint64_t, words);
    picture->asleep = ARENA_ARRAY(arena, uint64_t, words);
    picture->with_gpus = ARENA_ARRAY(arena, uint64_t, (size_t)(nodes->gpus_most + 1) * words);
    picture->cores_bound = ARENA_ARRAY(arena, uint32_t, words);
    picture->undo_bytes = sizeof(struct undo_row);
    if (nodes->sharded) {
        picture->shards = ARENA_ARRAY(arena, uint16_t, (size_t)count * nodes->gpus_most);
        picture->undo_bytes += nodes->gpus_most * sizeof *picture->shards;
    }
    if (nodes->sockets_most) {
        picture->socket_cores = ARENA_ARRAY(arena, uint16_t, (size_t)count * nodes->sockets_most);
        picture->undo_bytes += nodes->sockets_most * sizeof *picture->socket_cores;
    }
    picture->undo_bytes = (picture->undo_bytes + 7) / 8 * 8;
    if (!picture->free_mask || !picture->sound_mask || !picture->cores || !picture->memory_mib ||
        !picture->jobs || !picture->usable || !picture->completing || !picture->asleep ||
        !picture->with_gpus || !picture->cores_bound || (nodes->sharded && !picture->shards) ||
        (nodes->sockets_most && !picture->socket_cores))
        return false;
    memcpy(picture->usable, nodes->all, words * sizeof *picture->usable);
    memcpy(picture->with_gpus, nodes->all, words * sizeof *picture->with_gpus);
    for (uint32_t n = 0; n < count; n++) {
        picture->sound_mask[n] = slurm_kind_of(nodes, n)->gpu_mask;
        node_empty(picture, n);
    }
    return true;
}

void slurm_picture_clear(struct slurm_picture *picture)
{
    free(picture->undo);
    *picture = (struct slurm_picture){ 0 };
}

/* ---- undo ------------------------------------------------------------------------------------ */

static void remember(struct slurm_picture *picture, uint32_t node)
{
    if (picture->undo_rows == picture->undo_capacity) {
        const uint32_t capacity =
            picture->undo_capacity ? 2 * picture->undo_capacity : UNDO_FIRST_ROWS;
        uint8_t *undo = realloc(picture->undo, (size_t)capacity * picture->undo_bytes);
        if (!undo) {
            picture->failed = true;
            return;
        }
        picture->undo = undo;
        picture->undo_capacity = capacity;
    }
    uint8_t *at = picture->undo + (size_t)picture->undo_rows++ * picture->undo_bytes;
    const struct undo_row row = {
        picture->memory_mib[node], picture->free_mask[node], node,
        picture->cores[node],      picture->jobs[node],      picture->cores_bound[node / 64]
    };
    memcpy(at, &row, sizeof row);
    at += sizeof row;
    const size_t shard_bytes = picture->nodes->gpus_most * sizeof *picture->shards;
    if (picture->shards) memcpy(at, shards_of(picture, node), shard_bytes), at += shard_bytes;
    if (picture->socket_cores)
        memcpy(at, sockets_of(picture, node),
               picture->nodes->sockets_most * sizeof *picture->socket_cores);
}

void slurm_picture_undo(struct slurm_picture *picture, uint32_t mark)
{
    ASSERT(!picture->failed);
    while (picture->undo_rows > mark) {
        const uint8_t *at = picture->undo + (size_t)--picture->undo_rows * picture->undo_bytes;
        struct undo_row row;
        memcpy(&row, at, sizeof row);
        at += sizeof row;
        picture->memory_mib[row.node] = row.memory_mib;
        set_free_mask(picture, row.node, row.free_mask);
        picture->cores[row.node] = row.cores;
        picture->cores_bound[row.node / 64] = row.cores_bound; /* rows go back in order */
        picture->jobs[row.node] = row.jobs;
        const size_t shard_bytes = picture->nodes->gpus_most * sizeof *picture->shards;
        if (picture->shards)
            memcpy(shards_of(picture, row.node), at, shard_bytes), at += shard_bytes;
        if (picture->socket_cores)
            memcpy(sockets_of(picture, row.node), at,
                   picture->nodes->sockets_most * sizeof *picture->socket_cores);
    }
}

/* ---- from another picture -------------------------------------------------------------------- */

void slurm_picture_copy_node(struct slurm_picture *picture, const struct slurm_picture *from,
                             uint32_t node)
{
    picture->sound_mask[node] = from->sound_mask[node];
    set_free_mask(picture, node, from->free_mask[node]);
    set_cores(picture, node, from->cores[node]);
    picture->memory_mib[node] = from->memory_mib[node];
    picture->jobs[node] = from->jobs[node];
    if (picture->shards)
        memcpy(shards_of(picture, node), shards_of(from, node),
               picture->nodes->gpus_most * sizeof *picture->shards);
    if (picture->socket_cores)
        memcpy(sockets_of(picture, node), sockets_of(from, node),
               picture->nodes->sockets_most * sizeof *picture->socket_cores);
}

/* ---- jobs come and go ------------------------------------------------------------------------ */

static uint32_t shards_in(const struct slurm_kind *kind, uint32_t share_units)
{
    return (uint32_t)((uint64_t)share_units * kind->shards_per_gpu / SLURM_GPU_UNITS);
}

/* What a job holds on a node. */
struct hold {
    uint32_t node, mask, share_units, cores, slice_first;
    uint64_t memory_mib;
};

static struct hold hold_of_part(const struct part *part)
{
    return (struct hold){ part->node,        part->mask,
                          part->share_units, part->cores_milli / MILLI,
                          part->slice_first, part->memory_bytes >> MIB_SHIFT };
}

/* The bits of the GPUs, or of the instance, that a job holds. */
static uint64_t bits_of(const struct slurm_kind *kind, const struct hold *hold)
{
    if (!kind->cut_count || !hold->mask) return hold->mask;
    const uint32_t first = (uint32_t)__builtin_ctz(hold->mask) * kind->cut_count;
    for (uint32_t c = 0; c < kind->cut_count; c++)
        if (kind->cuts[c].slice_first == hold->slice_first) return UINT64_C(1) << (first + c);
    return 0;
}

static void add_job(struct slurm_picture *picture, const struct hold *hold)
{
    const uint32_t node = hold->node;
    const struct slurm_kind *kind = slurm_kind_of(picture->nodes, node);
    set_free_mask(picture, node, picture->free_mask[node] & ~bits_of(kind, hold));
    if (hold->share_units && picture->shards && kind->shards_per_gpu)
        shards_of(picture, node)[__builtin_ctz(hold->mask)] +=
            (uint16_t)shards_in(kind, hold->share_units);
    ASSERT(hold->cores <= picture->cores[node]);
    set_cores(picture, node, picture->cores[node] - hold->cores);
    picture->memory_mib[node] -=
        hold->memory_mib < picture->memory_mib[node] ? hold->memory_mib : picture->memory_mib[node];
    picture->jobs[node] += hold->cores > 0;
    if (picture->socket_cores && kind->near_cores) {
        uint16_t taken[SLURM_SOCKETS];
        slurm_sockets_take(kind, hold->mask, hold->cores, sockets_of(picture, node), taken);
    }
}

static void remove_job(struct slurm_picture *picture, const struct hold *hold)
{
    const uint32_t node = hold->node;
    const struct slurm_kind *kind = slurm_kind_of(picture->nodes, node);
    uint64_t bits = bits_of(kind, hold);
    if (hold->share_units && picture->shards && kind->shards_per_gpu) {
        uint16_t *taken = &shards_of(picture, node)[__builtin_ctz(hold->mask)];
        *taken = (uint16_t)(*taken - shards_in(kind, hold->share_units));
        if (*taken) bits = 0;
    }
    set_free_mask(picture, node, picture->free_mask[node] | (bits & picture->sound_mask[node]));
    set_cores(picture, node, picture->cores[node] + hold->cores);
    picture->memory_mib[node] += hold->memory_mib;
    ASSERT(picture->cores[node] <= kind->cores);
    ASSERT(picture->jobs[node] >= (hold->cores > 0));
    picture->jobs[node] -= hold->cores > 0;
    if (picture->socket_cores && kind->near_cores)
        sockets_give(kind, hold->mask, hold->cores, sockets_of(picture, node));
}

void slurm_picture_take(struct slurm_picture *picture, const struct part *parts, uint32_t count)
{
    for (uint32_t p = 0; p < count; p++) {
        const struct hold hold = hold_of_part(&parts[p]);
        remember(picture, hold.node);
        add_job(picture, &hold);
    }
}

void slurm_picture_give(struct slurm_picture *picture, const struct part *parts, uint32_t count)
{
    for (uint32_t p = 0; p < count; p++) {
        const struct hold hold = hold_of_part(&parts[p]);
        remember(picture, hold.node);
        remove_job(picture, &hold);
    }
}

void slurm_picture_give_grant(struct slurm_picture *picture, const struct grant *grant)
{
    const struct hold hold = { grant->node,        grant->mask,
                               grant->share_units, grant->cores_milli / MILLI,
                               grant->slice_first, grant->memory_bytes >> MIB_SHIFT };
    remember(picture, hold.node);
    remove_job(picture, &hold);
}

/* ---- from the cluster ------------------------------------------------------------------------ */

static void read_shards(struct slurm_picture *picture, const struct cluster *cluster, uint32_t node)
{
    const struct slurm_kind *kind = slurm_kind_of(picture->nodes, node);
    uint16_t *shards = shards_of(picture, node);
    for (uint32_t g = 0; g < kind->gpus; g++) {
        const size_t gpu = (size_t)node * cluster->gpus_per_node + g;
        const bool shared = cluster->share_free && cluster->holder[gpu] == LIVE_SHARED;
        shards[g] =
            shared ? (uint16_t)shards_in(kind, SLURM_GPU_UNITS - cluster->share_free[gpu]) : 0;
    }
}

/* Jobs of the node; their cores by socket in the order of the node's list. */
static void read_grants(struct slurm_picture *picture, const struct cluster *cluster, uint32_t node)
{
    const struct slurm_kind *kind = slurm_kind_of(picture->nodes, node);
    picture->jobs[node] = 0;
    if (!cluster->first_on_node) return;
    uint32_t left = kind->cores - picture->cores[node];
    for (uint32_t row = cluster->first_on_node[node]; row != GRANT_NONE;
         row = cluster->grants[row].next_on_node) {
        const struct grant *grant = &cluster->grants[row];
        picture->jobs[node] += grant->cores_milli >= MILLI;
        if (!picture->socket_cores || !kind->near_cores) continue;
        uint16_t taken[SLURM_SOCKETS];
        uint32_t cores = grant->cores_milli / MILLI;
        if (cores > left) cores = left; /* a suspended job has its GPUs only */
        slurm_sockets_take(kind, grant->mask, cores, sockets_of(picture, node), taken);
        left -= cores;
    }
}

static uint64_t bits_of_cards(const struct slurm_kind *kind, uint32_t cards)
{
    if (!kind->cut_count) return cards;
    uint64_t bits = 0;
    for (uint32_t c = 0; c < kind->cards; c++)
        if (cards >> c & 1) bits |= ((UINT64_C(1) << kind->cut_count) - 1) << (c * kind->cut_count);
    return bits;
}

/* Free instances of cards of which some are taken. */
static uint64_t read_instances(const struct slurm_picture *picture, const struct cluster *cluster,
                               uint32_t node)
{
    const struct slurm_kind *kind = slurm_kind_of(picture->nodes, node);
    uint64_t bits = 0;
    for (uint32_t card = 0; cluster->share_free && card < kind->cards; card++) {
        const size_t gpu = (size_t)node * cluster->gpus_per_node + card;
        if (cluster->holder[gpu] != LIVE_SHARED) continue;
        for (uint32_t c = 0; c < kind->cut_count; c++)
            if (!(cluster->slices_used[gpu] >> kind->cuts[c].slice_first & 1))
                bits |= UINT64_C(1) << (card * kind->cut_count + c);
    }
    return bits & picture->sound_mask[node];
}

void slurm_picture_read_node(struct slurm_picture *picture, const struct cluster *cluster,
                             uint32_t node)
{
    const uint64_t bit = UINT64_C(1) << (node % 64);
    const struct slurm_kind *kind = slurm_kind_of(picture->nodes, node);
    picture->sound_mask[node] =
        bits_of_cards(kind, cluster->full_mask[node] & ~cluster->broken_mask[node]);
    node_empty(picture, node);
    set_free_mask(picture, node,
                  bits_of_cards(kind, cluster->free_mask[node]) |
                      read_instances(picture, cluster, node));
    if (cluster->outs[node])
        picture->usable[node / 64] &= ~bit;
    else
        picture->usable[node / 64] |= bit;
    if (cluster->cores_milli_free) {
        set_cores(picture, node, cluster->cores_milli_free[node] / MILLI);
        picture->memory_mib[node] = cluster->memory_free[node] >> MIB_SHIFT;
    }
    if (picture->shards) read_shards(picture, cluster, node);
    read_grants(picture, cluster, node);
}

void slurm_picture_read(struct slurm_picture *picture, const struct cluster *cluster)
{
    ASSERT(cluster->nodes == picture->nodes->nodes);
    for (uint32_t n = 0; n < cluster->nodes; n++) slurm_picture_read_node(picture, cluster, n);
    slurm_picture_keep(picture);
}
