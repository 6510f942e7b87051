/* until.c - see until.h. */
#include "cli/until.h"

#include "base/assert.h"
#include "report/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNTIL_CONFIDENCE 0.95

bool until_init(struct until_watch *watch, const struct plan *plan)
{
    *watch = (struct until_watch){ .plan = plan };
    if (!plan->scenario->until.given) return true;
    const size_t cells = (size_t)plan->variant_count * plan->replicas;
    watch->values = malloc(cells * sizeof *watch->values);
    if (watch->values == NULL) return false;
    for (size_t i = 0; i < cells; i++) watch->values[i] = NAN;
    return true;
}

void until_clear(struct until_watch *watch)
{
    free(watch->values);
    *watch = (struct until_watch){ 0 };
}

void until_note(struct until_watch *watch, uint32_t variant, uint32_t replica, double value)
{
    if (watch->values == NULL || replica == REPLICA_BLAST) return;
    ASSERT(variant < watch->plan->variant_count && replica < watch->plan->replicas);
    watch->values[(size_t)variant * watch->plan->replicas + replica] = value;
}

void until_take(struct until_watch *watch, const struct replica_result *result)
{
    if (watch->values == NULL || result->setting != 0) return;
    const char *name = until_metric_names[watch->plan->scenario->until.metric];
    const struct metric_row *rows = LOG_ITEMS(&result->metrics, const struct metric_row);
    for (uint64_t i = 0; i < result->metrics.count; i++)
        if (rows[i].class_ == CLASS_NONE && strcmp(rows[i].name, name) == 0)
            until_note(watch, result->layout_row, result->replica, rows[i].value);
}

/* The values that are there, in the order of the replicas. */
static uint32_t known_values(const double *values, uint32_t replicas, double *known)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < replicas; r++)
        if (!isnan(values[r])) known[count++] = values[r];
    return count;
}

bool until_enough(const struct until_watch *watch, uint32_t replicas)
{
    if (watch->values == NULL) return false;
    const struct plan *plan = watch->plan;
    ASSERT(replicas <= plan->replicas);
    double *known = malloc(replicas * sizeof *known);
    bool enough = known != NULL; /* out of memory: more replicas, never fewer */
    for (uint32_t v = 0; enough && v < plan->variant_count; v++) {
        const double *values = watch->values + (size_t)v * plan->replicas;
        const uint32_t count = known_values(values, replicas, known);
        enough = count > 0 && stop_rule(known, count, UNTIL_CONFIDENCE,
                                        plan->scenario->until.half_width_frac, UNTIL_FIRST)
                                  .stop;
    }
    free(known);
    return enough;
}
