/* slurm_places.h - a small cluster for tests of Slurm's selector: jobs come and go on a picture, and each is placed
 * as "n0:0-2 n1:0" (node, and which GPUs). Header only. */
#ifndef GPUPLAN_TESTS_SLURM_PLACES_H
#define GPUPLAN_TESTS_SLURM_PLACES_H

#include "policy/slurm_select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_JOBS = 64, PLACE_TEXT = 512 };

struct placed_job {
    struct part parts[64];
    uint32_t count;
};

struct places {
    struct scenario scenario;
    struct variant variant;
    struct server_group groups[8];
    struct slurm_partition partition;
    struct slurm_switch switches[64];
    struct arena *arena;
    struct slurm_nodes nodes;
    struct slurm_picture picture;
    struct slurm_chooser *chooser;
    char text[1024]; /* of asks */
    uint32_t text_bytes;
    struct placed_job jobs[PLACE_JOBS];
};

/* Groups are added before places_open. Nodes have 2 sockets and 64000 MiB, as in the recordings. */
static inline struct server_group *places_group(struct places *places, const char *names,
                                                uint32_t count, uint32_t gpus, uint32_t cores)
{
    struct layout *layout = &places->scenario.layouts[0];
    struct server_group *group = &places->groups[layout->group_count++];
    *group = (struct server_group){ .count = count, .weight = 1, .sockets = 2 };
    group->server = (struct server_type){ .gpus = gpus,
                                          .cores = cores,
                                          .memory_bytes = UINT64_C(64000) << 20 };
    snprintf(group->names, sizeof group->names, "%s", names);
    places->variant.nodes += count;
    places->variant.servers += count;
    return group;
}

static inline struct places *places_new(enum slurm_compat compat)
{
    struct places *places = calloc(1, sizeof *places);
    slurm_defaults(&places->scenario.slurm);
    places->scenario.slurm.compat = compat;
    places->scenario.layouts[0].groups = places->groups;
    places->scenario.layout_count = 1;
    places->partition = (struct slurm_partition){ .nodes = "ALL", .up = true };
    places->text_bytes = 1;
    return places;
}

static inline void places_switch(struct places *places, const char *name, const char *nodes,
                                 const char *switches)
{
    struct slurm_switch *row = &places->switches[places->scenario.slurm.switch_count++];
    snprintf(row->name, sizeof row->name, "%s", name);
    snprintf(row->nodes, sizeof row->nodes, "%s", nodes);
    snprintf(row->switches, sizeof row->switches, "%s", switches);
}

static inline void places_open(struct places *places)
{
    struct slurm_spec *slurm = &places->scenario.slurm;
    slurm->partitions = &places->partition;
    slurm->partition_count = 1;
    slurm->switches = places->switches;
    places->arena = arena_create(UINT64_C(1) << 30);
    assert_true(slurm_nodes_init(&places->nodes, &places->scenario, &places->variant,
                                 places->arena));
    assert_true(slurm_picture_init(&places->picture, &places->nodes, places->arena));
    places->chooser = slurm_chooser_create(&places->nodes);
    assert_non_null(places->chooser);
}

static inline void places_close(struct places *places)
{
    slurm_chooser_destroy(places->chooser);
    slurm_picture_clear(&places->picture);
    arena_destroy(places->arena);
    free(places);
}

/* Keeps a text for an ask. */
static inline uint32_t places_text(struct places *places, const char *text)
{
    if (!text || !*text) return 0;
    const uint32_t at = places->text_bytes;
    snprintf(places->text + at, sizeof places->text - at, "%s", text);
    places->text_bytes += (uint32_t)strlen(text) + 1;
    return at;
}

static inline void show_parts(const struct places *places, const struct part *parts, uint32_t count,
                              char out[PLACE_TEXT])
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t p = 0; p < count; p++) {
        char name[LIMIT_NAME_BYTES];
        node_name(&places->scenario.layouts[0], parts[p].node, name);
        used += (size_t)snprintf(out + used, PLACE_TEXT - used, "%s%s", p ? " " : "", name);
        if (!parts[p].mask) continue;
        char mark = ':';
        for (uint32_t g = 0; g < 32; g++) {
            if (!(parts[p].mask >> g & 1)) continue;
            uint32_t last = g;
            while (last < 31 && parts[p].mask >> (last + 1) & 1) last++;
            used += last > g ? (size_t)snprintf(out + used, PLACE_TEXT - used, "%c%u-%u", mark, g, last)
                             : (size_t)snprintf(out + used, PLACE_TEXT - used, "%c%u", mark, g);
            mark = ',';
            g = last;
        }
    }
}

/* The answer, and where, in the need's partition. */
static inline enum slurm_answer places_try(struct places *places, const struct slurm_need *need,
                                           struct slurm_how how, char out[PLACE_TEXT])
{
    if (!how.candidates) how.candidates = slurm_partition_nodes(&places->nodes, 0);
    const enum slurm_answer answer =
        slurm_select(places->chooser, &places->picture, need, &how);
    uint32_t count;
    const struct part *parts = slurm_parts(places->chooser, &count);
    show_parts(places, parts, count, out);
    return answer;
}

static inline struct slurm_need places_need(struct places *places, const struct ask *ask)
{
    struct slurm_need need;
    assert_true(slurm_need_of_ask(&need, &places->nodes, ask, places->text, 0, places->arena));
    return need;
}

/* Puts what was chosen last on the picture as job `row`; takes it away again. */
static inline void places_start(struct places *places, uint32_t row)
{
    struct placed_job *job = &places->jobs[row];
    const struct part *parts = slurm_parts(places->chooser, &job->count);
    memcpy(job->parts, parts, job->count * sizeof *parts);
    slurm_picture_take(&places->picture, job->parts, job->count);
}

static inline void places_end(struct places *places, uint32_t row)
{
    slurm_picture_give(&places->picture, places->jobs[row].parts, places->jobs[row].count);
    places->jobs[row].count = 0;
}

/* ---- the nodes of the recordings ------------------------------------------------------------- */

enum recorded_nodes { DENSE, LLN, TYPED, LINKED, SHARDED, MEMORY };

static inline struct places *recorded_places(enum recorded_nodes build, enum slurm_compat compat)
{
    static const int16_t links[8][8] = {
        { 0, 4, 2, 2, 1, 1, 1, 1 }, { 4, 0, 2, 2, 1, 1, 1, 1 }, { 2, 2, 0, 4, 1, 1, 1, 1 },
        { 2, 2, 4, 0, 1, 1, 1, 1 }, { 1, 1, 1, 1, 0, 4, 2, 2 }, { 1, 1, 1, 1, 4, 0, 2, 2 },
        { 1, 1, 1, 1, 2, 2, 0, 4 }, { 1, 1, 1, 1, 2, 2, 4, 0 },
    };
    struct places *places = places_new(compat);
    struct slurm_spec *slurm = &places->scenario.slurm;
    if (build == TYPED) {
        struct server_group *h100 = places_group(places, "n[0-1]", 2, 8, 16);
        struct server_group *a100 = places_group(places, "n[2-3]", 2, 4, 16);
        snprintf(h100->gpu_type, sizeof h100->gpu_type, "h100");
        snprintf(h100->features, sizeof h100->features, "h100,ib");
        snprintf(a100->gpu_type, sizeof a100->gpu_type, "a100");
        snprintf(a100->features, sizeof a100->features, "a100");
    } else if (build == LINKED) {
        struct server_group *group = places_group(places, "n[0-1]", 2, 8, 16);
        for (uint32_t g = 0; g < 8; g++) {
            group->core_first[g] = g / 4 * 8;
            group->core_last[g] = g / 4 * 8 + 7;
            memcpy(group->link_score[g], links[g], sizeof links[g]);
        }
    } else if (build == SHARDED) {
        struct server_group *group = places_group(places, "n[0-1]", 2, 4, 16);
        group->sharing = SHARING_SHARD;
        group->shares_per_gpu = 4;
    } else if (build == MEMORY) {
        places_group(places, "n[0-1]", 2, 8, 16);
        slurm->memory_counts = true;
        slurm->def_mem_per_gpu_mib = 7000;
    } else {
        places_group(places, "n[0-3]", 4, 8, 16);
        slurm->lln = build == LLN;
    }
    places_open(places);
    return places;
}

/* Words of an ask in tables. */
#define NO_MEM                                                                                     \
    .mem_mib = ASK_MEMORY_NONE, .mem_per_cpu_mib = ASK_MEMORY_NONE,                                \
    .mem_per_gpu_mib = ASK_MEMORY_NONE
#define NODES(n) .nodes_min = n, .nodes_max = n

#endif
