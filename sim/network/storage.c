/* storage.c - see storage.h. */
#include "network/storage.h"

#include "base/assert.h"
#include "network/columns.h"
#include "network/flow_net.h"
#include "network/periodic.h"

#include <math.h>
#include <stdlib.h>

enum { LINK_ALL, LINK_SERVERS, FIRST_ROOM = 64 }; /* of both nets: all, then each server */
static const double GIVEN = 1 - 1e-9;             /* of what was asked for: all of it   */

struct entry {
    struct storage_job job;
    uint32_t read, write; /* flow, periodic row; STORAGE_NONE = none */
    uint32_t next_free;
};

struct storage_net {
    struct flow_net *reads;
    struct periodic *writes;
    bool per_server;
    struct entry *entries;        /* [room] */
    uint32_t *of_read, *of_write; /* [read_room], [write_room] rows of entries */
    uint32_t *rows;               /* [room] */
    struct row_set reached;
    struct flow_use *flows; /* [servers + 1] */
    struct link_use *uses;  /* [servers + 1] */
    uint32_t count, room, first_free, read_room, write_room;
};

static double limit(double bytes_per_s)
{
    return bytes_per_s > 0 ? bytes_per_s : INFINITY;
}

static bool add_links(struct storage_net *net, double read, double write, double server,
                      uint32_t servers)
{
    bool ok = flow_net_link(net->reads, limit(read)) == LINK_ALL &&
              periodic_link(net->writes, limit(write));
    for (uint32_t s = 0; ok && net->per_server && s < servers; s++)
        ok = flow_net_link(net->reads, server) == LINK_SERVERS + s &&
             periodic_link(net->writes, server);
    return ok;
}

struct storage_net *storage_net_create(double read_bytes_per_s, double write_bytes_per_s,
                                       double server_bytes_per_s, uint32_t servers)
{
    struct storage_net *net = calloc(1, sizeof *net);
    if (!net) return NULL;
    net->first_free = STORAGE_NONE;
    net->per_server = server_bytes_per_s > 0;
    net->reads = flow_net_create();
    net->writes = periodic_create();
    net->flows = calloc((size_t)servers + 1, sizeof *net->flows);
    net->uses = calloc((size_t)servers + 1, sizeof *net->uses);
    if (net->reads && net->writes && net->flows && net->uses &&
        add_links(net, read_bytes_per_s, write_bytes_per_s, server_bytes_per_s, servers))
        return net;
    storage_net_destroy(net);
    return NULL;
}

void storage_net_destroy(struct storage_net *net)
{
    if (!net) return;
    flow_net_destroy(net->reads);
    periodic_destroy(net->writes);
    row_set_clear(&net->reached);
    free(net->entries);
    free(net->of_read);
    free(net->of_write);
    free(net->rows);
    free(net->flows);
    free(net->uses);
    free(net);
}

/* ---- coming and going ------------------------------------------------------------------------ */

static uint32_t take_row(struct storage_net *net)
{
    if (net->first_free != STORAGE_NONE) {
        const uint32_t row = net->first_free;
        net->first_free = net->entries[row].next_free;
        return row;
    }
    if (net->count == net->room) {
        const uint32_t room = net->room ? 2 * net->room : FIRST_ROOM;
        bool ok = row_set_grow(&net->reached, room);
        net->entries = column_resize(net->entries, room, sizeof *net->entries, &ok);
        net->rows = column_resize(net->rows, room, sizeof *net->rows, &ok);
        if (!ok) return STORAGE_NONE;
        net->room = room;
    }
    return net->count++;
}

static bool set_row(uint32_t **rows, uint32_t *room, uint32_t at, uint32_t row)
{
    bool ok = true;
    if (at >= *room) {
        *rows = column_resize(*rows, 2 * at + FIRST_ROOM, sizeof **rows, &ok);
        if (ok) *room = 2 * at + FIRST_ROOM;
    }
    if (ok) (*rows)[at] = row;
    return ok;
}

static double asked(const struct storage_job *job)
{
    return job->prefetch ? job->read_bytes_per_s : INFINITY;
}

static bool add_read(struct storage_net *net, uint32_t row, const uint32_t *servers, uint32_t count)
{
    struct entry *entry = &net->entries[row];
    uint32_t uses = 0;
    net->flows[uses++] = (struct flow_use){ LINK_ALL, 1 };
    for (uint32_t s = 0; net->per_server && s < count; s++)
        net->flows[uses++] = (struct flow_use){ LINK_SERVERS + servers[s], 1.0 / count };
    entry->read = flow_net_add(net->reads, count, asked(&entry->job), net->flows, uses);
    return entry->read != FLOW_NONE && set_row(&net->of_read, &net->read_room, entry->read, row);
}

static bool add_write(struct storage_net *net, uint32_t row, const uint32_t *servers,
                      uint32_t count)
{
    struct entry *entry = &net->entries[row];
    const double bytes = entry->job.write_bytes;
    uint32_t uses = 0;
    net->uses[uses++] = (struct link_use){ LINK_ALL, bytes, count };
    for (uint32_t s = 0; net->per_server && s < count; s++)
        net->uses[uses++] = (struct link_use){ LINK_SERVERS + servers[s], bytes / count, 1 };
    const struct periodic_job job = { .compute_s = entry->job.interval_s,
                                      .alone_s = entry->job.write_s,
                                      .wire_s = entry->job.write_s };
    entry->write = periodic_add(net->writes, &job, net->uses, uses);
    return entry->write != PERIODIC_NONE &&
           set_row(&net->of_write, &net->write_room, entry->write, row);
}

uint32_t storage_net_add(struct storage_net *net, const struct storage_job *job,
                         const uint32_t *servers, uint32_t count)
{
    ASSERT(count >= 1);
    const uint32_t row = take_row(net);
    if (row == STORAGE_NONE) return row;
    net->entries[row] = (struct entry){ .job = *job, .read = STORAGE_NONE, .write = STORAGE_NONE };
    if (job->read_bytes_per_s > 0 && !add_read(net, row, servers, count)) return STORAGE_NONE;
    if (job->interval_s > 0 && !add_write(net, row, servers, count)) return STORAGE_NONE;
    row_set_add(&net->reached, row);
    return row;
}

void storage_net_remove(struct storage_net *net, uint32_t row)
{
    struct entry *entry = &net->entries[row];
    if (entry->read != STORAGE_NONE) flow_net_remove(net->reads, entry->read);
    if (entry->write != STORAGE_NONE) periodic_remove(net->writes, entry->write);
    *entry = (struct entry){ .read = STORAGE_NONE, .write = STORAGE_NONE };
    entry->next_free = net->first_free;
    net->first_free = row;
}

/* ---- answers --------------------------------------------------------------------------------- */

uint32_t storage_net_solve(struct storage_net *net, const uint32_t **rows)
{
    const uint32_t *found;
    uint32_t count = flow_net_solve(net->reads, &found);
    for (uint32_t i = 0; i < count; i++) row_set_add(&net->reached, net->of_read[found[i]]);
    count = periodic_solve(net->writes, &found);
    for (uint32_t i = 0; i < count; i++) row_set_add(&net->reached, net->of_write[found[i]]);
    const uint32_t all = net->room ? row_set_take(&net->reached, net->rows) : 0;
    uint32_t there = 0;
    for (uint32_t i = 0; i < all; i++) { /* a new one may have left again */
        const struct entry *entry = &net->entries[net->rows[i]];
        if (entry->read != STORAGE_NONE || entry->write != STORAGE_NONE)
            net->rows[there++] = net->rows[i];
    }
    *rows = net->rows;
    return there;
}

double storage_net_read(const struct storage_net *net, uint32_t row)
{
    const struct entry *entry = &net->entries[row];
    if (entry->read == STORAGE_NONE) return 0;
    const double rate = flow_net_rate(net->reads, entry->read);
    return rate < GIVEN * asked(&entry->job) ? rate : 0;
}

double storage_net_write_s(const struct storage_net *net, uint32_t row)
{
    return net->entries[row].write == STORAGE_NONE ? 0 : net->entries[row].job.write_s;
}

double storage_net_write_wait_s(const struct storage_net *net, uint32_t row)
{
    const struct entry *entry = &net->entries[row];
    if (entry->write == STORAGE_NONE) return 0;
    const struct periodic_wait *wait = periodic_wait(net->writes, entry->write);
    return wait->own_s + wait->others_s[ESTIMATE_MEAN];
}

double storage_net_mean_read(const struct storage_net *net, uint32_t row)
{
    const struct entry *entry = &net->entries[row];
    if (entry->read == STORAGE_NONE) return 0;
    const double rate = flow_net_rate(net->reads, entry->read);
    return rate < entry->job.read_bytes_per_s ? rate : entry->job.read_bytes_per_s;
}

double storage_net_mean_write(const struct storage_net *net, uint32_t row)
{
    const struct entry *entry = &net->entries[row];
    if (entry->write == STORAGE_NONE) return 0;
    const double write_s = entry->job.write_s + storage_net_write_wait_s(net, row);
    return entry->job.write_bytes / (entry->job.interval_s + write_s);
}
