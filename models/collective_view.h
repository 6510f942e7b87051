/* collective_view.h - what the parts of collective_time share; for these files alone. Each algorithm is one function that
 * says start-up, bytes over the narrowest wire, and which wire that is. */
#ifndef GPUPLAN_MODELS_COLLECTIVE_VIEW_H
#define GPUPLAN_MODELS_COLLECTIVE_VIEW_H

#include "models/collective.h"
#include "models/collective_time.h"

/* Time of one way to do it: the bytes on the narrowest wire; and start-up with, of a hierarchical form, what its phases
 * do not overlap. */
struct cost {
    double latency_s, wire_s;
    enum collective_bottleneck wire;
    enum collective_protocol protocol;
};

/* A bandwidth and what sets it. */
struct wire {
    double bytes_per_s;
    enum collective_bottleneck cause;
};

/* The group as the forms see it: an NVLink domain over several servers is one. */
struct view {
    const struct collective_hardware *hardware;
    enum collective_op op;
    uint32_t servers, gpus, gpus_min, gpus_most; /* gpus_most: on the fullest server, at most */
    uint32_t reference;                          /* GPUs that the lines were measured on      */
    double factor, size_bytes;                   /* f, S                                      */
    struct wire nics, uplinks;                   /* without uplinks; these alone              */
    struct wire network;                         /* W: the narrower one                       */
};

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}
static inline double larger(double a, double b)
{
    return a > b ? a : b;
}
static inline struct wire narrower(struct wire a, struct wire b)
{
    return b.bytes_per_s < a.bytes_per_s ? b : a;
}

/* ---- collective_inside.c ---- */

bool lines_measured(const struct collective_lines *lines);
uint32_t lines_count(const struct collective_lines *lines);
double view_latency(const struct view *view, double latency_s, uint32_t gpus);
double nvls_share(uint32_t gpus, uint32_t reference);
double view_passes(enum collective_op op);
struct wire view_inside(const struct view *view);
struct cost view_envelope(const struct view *view, const struct collective_lines *lines, bool scales,
                          struct wire wire, double share);
struct cost cost_ring_inside(const struct view *view);
struct cost cost_nvls_inside(const struct view *view);

/* ---- collective_between.c ---- */

uint32_t view_nics(const struct collective_hardware *hardware, uint32_t gpus);
struct wire view_network(const struct collective_hardware *hardware, uint32_t gpus_active);
bool view_is_staged(const struct collective_hardware *hardware);
struct wire view_staged(const struct view *view, uint32_t servers);
struct cost cost_ring_between(const struct view *view);
struct cost cost_tree_between(const struct view *view);
struct cost cost_hierarchical(const struct view *view, enum inter_algorithm inter);
struct cost cost_sharp(const struct view *view);

/* ---- collective_pairs.c ---- */

struct cost cost_all_to_all(const struct view *view);
struct cost cost_send_receive(const struct view *view);

#endif
