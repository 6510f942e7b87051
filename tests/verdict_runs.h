/* verdict_runs.h - the verdict of hand-made replicas. */
#ifndef GPUPLAN_TESTS_VERDICT_RUNS_H
#define GPUPLAN_TESTS_VERDICT_RUNS_H

#include "fixture_report.h"

enum { REPLICAS = 4 };

struct luck {
    double yield[LIMIT_LAYOUTS],
        wobble; /* wobble: what differs from replica to replica, and not alike */
    double completion_s
        [LIMIT_LAYOUTS]; /* 0 = no job of 16 GPUs and more                              */
    uint32_t blast_gpus[LIMIT_LAYOUTS]; /* of a failing server; 0 = no failure-only run               */
    uint32_t leaf_gpus[LIMIT_LAYOUTS];  /* of a leaf that fails beside three servers; 0 = none does   */
    double needs[LIMIT_LAYOUTS];   /* 0 = no effective load stored                                */
    double goodput[LIMIT_LAYOUTS], completion_wobble; /* 0 = none stored; up and down in turns    */
    double held[LIMIT_LAYOUTS];     /* of its capacity; 0 = none stored                           */
    double common_s[LIMIT_LAYOUTS]; /* completion over the common jobs of 64 and more; 0 = none   */
};

/* Stores `replicas` of each variant; row's layout gives its values. The verdict's text is the caller's to free. */
static inline char *verdict_of(struct fixture *f, const struct luck *luck, uint32_t replicas)
{
    struct store *store = open_store(f);
    for (uint32_t row = 0; row < f->plan.variant_count; row++) {
        const uint32_t layout = f->plan.variants[row].layout;
        for (uint32_t replica = 0; replica < replicas; replica++) {
            struct replica_result r = fixture_result(row, replica);
            const double sign = (replica + layout) % 2 ? 1 : -1;
            fixture_metric(&r, "yield", "1", CLASS_NONE, luck->yield[layout] + sign * luck->wobble);
            fixture_metric(&r, "share_lost", "1", CLASS_NONE, 0.0075 * (1 + layout));
            fixture_metric(&r, "share_down", "1", CLASS_NONE, 0.0025 * (1 + layout));
            if (luck->completion_s[layout] > 0) {
                fixture_metric(&r, "completion_s_mean", "s", CLASS_16_63,
                               luck->completion_s[layout] * (1 + sign * luck->completion_wobble));
                fixture_metric(&r, "jobs_done", "1", CLASS_16_63, 31);
            }
            if (luck->goodput[layout] > 0)
                fixture_metric(&r, "goodput", "1", CLASS_NONE, luck->goodput[layout]);
            if (luck->held[layout] > 0)
                fixture_metric(&r, "utilization", "1", CLASS_NONE, luck->held[layout]);
            if (luck->needs[layout] > 0)
                fixture_metric(&r, "effective_load", "1", CLASS_NONE, luck->needs[layout]);
            if (luck->common_s[layout] > 0) {
                fixture_metric(&r, "common_completion_s_mean", "s", CLASS_64_UP,
                               luck->common_s[layout]);
                fixture_metric(&r, "common_jobs", "1", CLASS_64_UP, 7);
            }
            fixture_store(store, &r, f->diag);
        }
        if (luck->blast_gpus[layout] > 0) {
            struct replica_result b = fixture_result(row, REPLICA_BLAST);
            for (uint32_t i = 0; i < (luck->leaf_gpus[layout] > 0 ? 3 : 1); i++)
                fixture_incident(&b, COMPONENT_SERVER, 5 + i, luck->blast_gpus[layout]);
            if (luck->leaf_gpus[layout] > 0)
                fixture_incident(&b, COMPONENT_LEAF, 9, luck->leaf_gpus[layout]);
            fixture_store(store, &b, f->diag);
        }
    }
    return finish_verdict(f, store);
}

static inline void holds(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) fail_msg("'%s'\nis not in\n%s", part, text);
}

static inline void lacks(const char *text, const char *part)
{
    if (strstr(text, part) != NULL) fail_msg("'%s'\nis in\n%s", part, text);
}

#endif
