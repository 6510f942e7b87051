/* contention_storage.c - jobs that share the storage: input that comes too slowly, checkpoints that take longer, and what both
 * take of the NICs. */
#include "handlers/contention_parts.h"

#include "base/assert.h"

#include <math.h>
#include <stdlib.h>

bool contention_storage_init(struct run *run)
{
    struct contention *contention = run->contention;
    const struct storage *storage = &run->variant->storage;
    const uint32_t servers = run->variant->servers;
    const bool over_nics = storage->server_bytes_per_s <= 0;
    contention->storage = storage_net_create(
        storage->read_bytes_per_s, storage->write_bytes_per_s,
        over_nics ? speed_server_bytes_per_s(run->speed) : storage->server_bytes_per_s, servers);
    if (over_nics) contention->load = calloc(2 * (size_t)servers, sizeof *contention->load);
    return contention->storage && (contention->load || !over_nics);
}

static bool set_live_of(struct contention *contention, uint32_t row, uint32_t live)
{
    if (row >= contention->store_room) {
        const uint32_t room = 2 * row + 64;
        uint32_t *live_of = realloc(contention->live_of_store, room * sizeof *live_of);
        if (!live_of) return false;
        contention->live_of_store = live_of;
        contention->store_room = room;
    }
    contention->live_of_store[row] = live;
    return true;
}

void contention_storage_enter(struct run *run, uint32_t live)
{
    struct contention *contention = run->contention;
    struct member *member = &contention->members[live];
    struct speed_storage wants;
    if (!contention->storage || !speed_storage(run->speed, &member->query, &wants)) return;
    const uint32_t servers = contention_servers(run, live);
    if (servers == 0) return;
    const struct storage_job job = { .read_bytes_per_s = wants.read_bytes_per_s,
                                     .prefetch = wants.prefetch,
                                     .write_bytes = wants.write_bytes,
                                     .interval_s = wants.interval_s,
                                     .write_s = wants.write_s };
    ASSERT(member->store_row == STORAGE_NONE);
    member->store_row = storage_net_add(contention->storage, &job, contention->servers, servers);
    contention->store_changed = true;
    if (member->store_row == STORAGE_NONE || !set_live_of(contention, member->store_row, live))
        run->out_of_memory = true;
}

/* Its traffic, over all its servers, goes evenly over their NICs. */
static void set_load(struct run *run, uint32_t live, double out, double in)
{
    struct contention *contention = run->contention;
    struct member *member = &contention->members[live];
    if (!contention->load) return;
    const uint32_t servers = contention_servers(run, live);
    const int64_t is[2] = { (int64_t)(out / servers), (int64_t)(in / servers) };
    if (is[0] == member->load[0] && is[1] == member->load[1]) return;
    for (uint32_t s = 0; s < servers; s++) {
        const uint32_t server = contention->servers[s];
        for (int way = 0; way < 2; way++)
            contention->load[2 * server + way] += is[way] - member->load[way];
        if (contention->network) contention_set_server(contention, server);
    }
    member->load[0] = is[0];
    member->load[1] = is[1];
}

void contention_storage_leave(struct run *run, uint32_t live)
{
    struct contention *contention = run->contention;
    struct member *member = &contention->members[live];
    if (member->store_row == STORAGE_NONE) return;
    set_load(run, live, 0, 0);
    storage_net_remove(contention->storage, member->store_row);
    member->store_row = STORAGE_NONE;
    contention->store_changed = true;
}

static void look_again(struct run *run, uint32_t live)
{
    struct contention *contention = run->contention;
    struct member *member = &contention->members[live];
    struct speed_query *query = &member->query;
    const struct storage_net *storage = contention->storage;
    const double read = storage_net_read(storage, member->store_row);
    const double wait_s = storage_net_write_wait_s(storage, member->store_row);
    const double write_s = storage_net_write_s(storage, member->store_row);
    set_load(run, live, storage_net_mean_write(storage, member->store_row),
             storage_net_mean_read(storage, member->store_row));
    if (fabs(read - query->read_bytes_per_s) <= CONTENTION_MOVED * read &&
        fabs(wait_s - query->write_wait_s) <= CONTENTION_MOVED * (write_s + wait_s))
        return;
    query->read_bytes_per_s = read;
    query->write_wait_s = wait_s;
    contention_retune(run, live);
}

void contention_storage_settle(struct run *run)
{
    struct contention *contention = run->contention;
    if (!contention->store_changed) return;
    contention->store_changed = false;
    const uint32_t *rows;
    const uint32_t count = storage_net_solve(contention->storage, &rows);
    for (uint32_t r = 0; r < count; r++) look_again(run, contention->live_of_store[rows[r]]);
}
