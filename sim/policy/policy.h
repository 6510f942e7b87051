/* policy.h - a scheduling policy: proposes one start at a time and changes nothing.
 *
 * The cluster and the queue are const to it; it keeps a private memory. The handlers tell it what
 * happened (note), ask for one decision (next), apply it and ask again until there is none. */
#ifndef GPUPLAN_POLICY_POLICY_H
#define GPUPLAN_POLICY_POLICY_H

#include "cluster/cluster.h"
#include "cluster/running.h"
#include "cluster/waiting.h"
#include "spec/scenario.h"

#include <stdbool.h>
#include <stdint.h>

/* What every policy sees. */
struct policy_view {
    const struct cluster *cluster;
    const struct waiting *waiting;
    const struct running *running;
    const struct live_table *live;
    const struct demand *demands; /* [class_count]                                            */
    enum placement placement;
    uint64_t *blocked_at; /* [class_count] cluster->releases + 1 when the shape of the class
                           * fitted but no host did: holds until something is released     */
};

enum note_kind { NOTE_START, NOTE_END, NOTE_DROP, NOTE_NODES_CHANGED };

/* Something happened. For NOTE_START after the claim, for NOTE_END before the release; NOTE_DROP: a
 * waiting job leaves the queue without a start. */
struct note {
    enum note_kind kind;
    uint32_t live;
};

/* Start this job on these parts. */
struct decision {
    uint32_t live;
    const struct part *parts; /* borrowed until the next call */
    uint32_t part_count;
};

struct policy {
    const char *name, *help;
    size_t memory_bytes; /* of its private memory, zeroed before init                     */
    bool (*init)(void *memory, const struct policy_view *view, struct arena *arena);
    void (*note)(void *memory, const struct policy_view *view, struct note note);
    /* One decision, or false: nothing more can start now. `fresh_serial`: when not SERIAL_NONE,
     * nothing changed since the last pass but the arrival of jobs from this serial on. */
    bool (*next)(void *memory, const struct policy_view *view, int64_t now_ns,
                 uint32_t fresh_serial, struct decision *decision);
    /* A pass begins. */
    void (*begin)(void *memory);
};

extern const struct policy policy_fcfs, policy_easy;

/* The policy of an order. */
const struct policy *policy_of(enum order order);

#endif
