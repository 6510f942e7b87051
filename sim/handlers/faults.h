/* faults.h - clocks of the components: when each breaks, how long its repair takes.
 *
 * One clock per component, in calendar time, renewed by its repair only; never drawn again when a
 * job restarts. The k-th life of a component is draw k of its entity in stream "fail.KIND", its
 * k-th repair draw k in "repair.KIND" (MODELS 5.2, 9.4), so equal parts have equal luck in all
 * layouts: a GPU is known by its number 0 .. G-1, a server by its first GPU. */
#ifndef GPUPLAN_HANDLERS_FAULTS_H
#define GPUPLAN_HANDLERS_FAULTS_H

#include "base/arena.h"
#include "engine/agenda.h"
#include "spec/scenario.h"

#include <stdbool.h>
#include <stdint.h>

enum part_state {
    PART_OK,
    PART_WAITS, /* broken; its server is being emptied */
    PART_IN_REPAIR,
    PART_SLOW, /* a link that carries less until it is found and repaired */
};

/* Components of one kind stand together; a row of all is first[kind] + element. */
struct faults {
    uint32_t first[COMPONENTS]; /* COMPONENT_JOB has no rows                                 */
    uint32_t count[COMPONENTS];
    uint32_t total;
    uint8_t *state;            /* [total] enum part_state                                   */
    uint32_t *renewals;        /* [total] lives begun before this one                       */
    uint32_t *incident;        /* [total] of the open fault, or ROW_NONE                    */
    uint32_t first_gpu_stride; /* GPUs per server: a server's entity is element * this      */
    uint64_t fail_key[COMPONENTS], repair_key[COMPONENTS], slow_key;
    struct slow_link slow_link;
    struct component_failures law[COMPONENTS];
    double scale;
    int64_t until_ns;     /* clocks that strike behind it are not kept                 */
    struct agenda agenda; /* a slot per row                                            */
};

struct faults_size {
    uint32_t gpus, servers, gpus_per_server, links, leaves;
    uint64_t seed;
    uint32_t replica;
    int64_t until_ns;
};

/* Draws the first life of every component. False when memory is out. */
bool faults_init(struct faults *faults, const struct failures *failures, struct faults_size size,
                 struct arena *arena);
void faults_clear(struct faults *faults);

/* Kind and element of a row. */
enum component faults_kind(const struct faults *faults, uint32_t row);

/* Length of the row's current life, and of the repair that ends it. */
int64_t faults_life_ns(const struct faults *faults, uint32_t row);
int64_t faults_repair_ns(const struct faults *faults, uint32_t row);

/* The row is whole again: its next life begins at now_ns. */
void faults_renew(struct faults *faults, uint32_t row, int64_t now_ns);

/* Its repair begins and ends at the time returned. */
int64_t faults_start_repair(struct faults *faults, uint32_t row, int64_t now_ns);

/* Whether this fault of a link leaves it slow; if so until when, and it waits for that in state PART_SLOW. */
bool faults_is_slow(struct faults *faults, uint32_t row, int64_t now_ns);

/* A life of any law from one uniform number, in seconds (scale multiplies the rate). */
double faults_draw_s(const struct component_failures *law, double scale, double u);

#endif
