/* teams.c - see teams.h. */
#include "policy/teams.h"

#include "base/assert.h"
#include "base/int128.h"
#include "base/sort.h"

#include <string.h>

enum { SHARE_PARTS = 1000000 /* shares are told apart to a millionth */ };

/* Who has the next server: the largest remainder that has not yet been rounded up. */
static uint32_t largest_left(const uint64_t *weight, const uint32_t *out, uint32_t count,
                             uint32_t servers, uint128 total)
{
    uint32_t best = count;
    uint128 best_rest = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint128 quota = (uint128)weight[i] * servers;
        if (out[i] > (uint32_t)(quota / total)) continue; /* rounded up already */
        const uint128 rest = quota % total;
        if (best < count && rest <= best_rest) continue;
        best = i;
        best_rest = rest;
    }
    return best;
}

void apportion(const uint64_t *weight, uint32_t count, uint32_t servers, uint32_t *out)
{
    uint128 total = 0;
    for (uint32_t i = 0; i < count; i++) total += weight[i];
    uint32_t left = servers;
    for (uint32_t i = 0; i < count; i++) {
        out[i] = total ? (uint32_t)((uint128)weight[i] * servers / total) : 0;
        left -= out[i];
    }
    for (; total && left > 0; left--) {
        const uint32_t next = largest_left(weight, out, count, servers, total);
        ASSERT(next < count);
        out[next]++;
    }
}

/* ---- names ------------------------------------------------------------------------------------- */

/* Offset of the name that says whose the job is; TEXT_NONE = nobody's. */
static uint32_t name_of(const struct jobs *jobs, uint32_t row)
{
    if (jobs->words && jobs->words[row].team) return jobs->words[row].team;
    if (jobs->words && jobs->words[row].user) return jobs->words[row].user;
    return jobs->user ? jobs->user[row] : TEXT_NONE;
}

static uint16_t team_called(const struct scenario *scenario, const char *name)
{
    for (uint32_t t = 0; t < scenario->team_count; t++)
        if (strcmp(scenario->teams[t].name, name) == 0) return (uint16_t)t;
    return TEAM_NONE;
}

bool team_owns_any(const struct scenario *scenario, const struct jobs *jobs)
{
    for (uint32_t row = 0; row < jobs->count; row++) {
        const uint32_t name = name_of(jobs, row);
        if (name == TEXT_NONE) continue;
        if (scenario->team_count == 0) return true;
        if (team_called(scenario, jobs->text + name) != TEAM_NONE) return true;
    }
    return false;
}

/* Teams of the scenario. Neighbouring jobs are often of one name, so the last one is remembered. */
static bool by_name(struct team_table *table, const struct scenario *scenario,
                    const struct jobs *jobs, uint32_t servers, struct arena *arena)
{
    table->count = scenario->team_count;
    table->servers = ARENA_ARRAY(arena, uint32_t, table->count);
    uint64_t *weight = ARENA_ARRAY(arena, uint64_t, table->count);
    if (!table->servers || !weight) return false;
    bool counted = false;
    for (uint32_t t = 0; t < table->count; t++) {
        counted |= scenario->teams[t].servers > 0;
        weight[t] = (uint64_t)(scenario->teams[t].share * SHARE_PARTS + 0.5);
    }
    apportion(weight, table->count, servers, table->servers);
    for (uint32_t t = 0; counted && t < table->count; t++)
        table->servers[t] = scenario->teams[t].servers;
    uint32_t last_name = TEXT_NONE;
    uint16_t last = TEAM_NONE;
    for (uint32_t row = 0; row < jobs->count; row++) {
        const uint32_t name = name_of(jobs, row);
        if (name != last_name) last = name ? team_called(scenario, jobs->text + name) : TEAM_NONE;
        last_name = name;
        table->team_of_row[row] = name ? last : TEAM_NONE;
    }
    return true;
}

/* Rows by name, so that each name's are together; names in the order of their first row. */
struct by_user {
    uint32_t *order, *spare, *first_row;
    uint64_t *key, *weight;
    int128
        *gpu_time; /* of each name; in thousandths of a GPU times ns                            */
    uint32_t names;
};

static bool by_user_take(struct by_user *by, uint32_t rows, struct arena *arena)
{
    by->order = ARENA_ARRAY(arena, uint32_t, rows);
    by->spare = ARENA_ARRAY(arena, uint32_t, rows);
    by->key = ARENA_ARRAY(arena, uint64_t, rows);
    by->first_row = ARENA_ARRAY(arena, uint32_t, TEAM_NONE);
    by->gpu_time = ARENA_ARRAY(arena, int128, TEAM_NONE);
    by->weight = ARENA_ARRAY(arena, uint64_t, TEAM_NONE);
    return by->order && by->spare && by->key && by->first_row && by->gpu_time && by->weight;
}

static bool by_user_group(struct by_user *by, struct team_table *table, const struct jobs *jobs)
{
    for (uint32_t row = 0; row < jobs->count; row++) {
        by->order[row] = row;
        by->key[row] = name_of(jobs, row);
    }
    sort_rows(by->order, by->spare, jobs->count, by->key);
    for (uint32_t i = 0; i < jobs->count; i++) {
        const uint32_t row = by->order[i];
        table->team_of_row[row] = TEAM_NONE;
        if (by->key[row] == TEXT_NONE) continue;
        if (i == 0 || by->key[by->order[i - 1]] != by->key[row]) {
            if (by->names == TEAM_NONE) return false;
            by->first_row[by->names++] = row;
        }
        table->team_of_row[row] = (uint16_t)(by->names - 1);
        by->gpu_time[by->names - 1] += (int128)jobs_gpu_milli(jobs, row) * jobs->duration_ns[row];
    }
    return true;
}

static bool by_user(struct team_table *table, const struct jobs *jobs, uint32_t servers,
                    struct arena *arena)
{
    struct by_user by = { 0 };
    if (!by_user_take(&by, jobs->count, arena) || !by_user_group(&by, table, jobs)) return false;
    table->count = by.names;
    table->servers = ARENA_ARRAY(arena, uint32_t, table->count);
    if (!table->servers) return false;
    /* Weights of 64 bits: all are halved until the largest one fits. */
    int128 most = 1;
    for (uint32_t t = 0; t < table->count; t++)
        if (by.gpu_time[t] > most) most = by.gpu_time[t];
    int shift = 0;
    while (most >> shift > INT64_MAX) shift++;
    for (uint32_t t = 0; t < table->count; t++) by.weight[t] = (uint64_t)(by.gpu_time[t] >> shift);
    apportion(by.weight, table->count, servers, table->servers);
    return true;
}

bool team_table_build(struct team_table *table, const struct scenario *scenario,
                      const struct jobs *jobs, uint32_t servers, struct arena *arena)
{
    *table = (struct team_table){ .team_of_row = ARENA_ARRAY(arena, uint16_t, jobs->count) };
    if (!table->team_of_row) return false;
    return scenario->team_count ? by_name(table, scenario, jobs, servers, arena)
                                : by_user(table, jobs, servers, arena);
}
