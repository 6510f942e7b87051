/* group.c - see group.h. */
#include "report/group.h"

#include "base/text.h"
#include "report/prose.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

uint32_t group_best(const struct comparison *c, int32_t slack)
{
    const struct quantity *yield = comparison_find(c, "yield", CLASS_NONE);
    uint32_t best = LAYOUT_NONE;
    for (uint32_t i = 0; yield != NULL && i < c->layout_count; i++) {
        const struct interval value = yield->cells[i].value;
        if (c->stored->layouts[i].slack != slack || value.n == 0) continue;
        const double most = best == LAYOUT_NONE ? value.mean : yield->cells[best].value.mean;
        const bool ties_first = value.mean == most && c->baseline[i] == i;
        if (best == LAYOUT_NONE || value.mean > most || ties_first) best = i;
    }
    return best;
}

/* The best first, then by yield; of equal yields, the order of the scenario. */
static bool comes_before(const struct group *group, uint32_t a, uint32_t b)
{
    const struct quantity *yield = comparison_find(group->c, "yield", CLASS_NONE);
    if (a == group->best || b == group->best) return a == group->best && b != group->best;
    const double on_a = yield != NULL ? yield->cells[a].value.mean : NAN;
    const double on_b = yield != NULL ? yield->cells[b].value.mean : NAN;
    if (isnan(on_a) || isnan(on_b)) return isnan(on_b) && (!isnan(on_a) || a < b);
    return on_a > on_b || (on_a == on_b && a < b);
}

static uint32_t rank_of(const struct group *group, uint32_t row)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < group->count; i++) rank += comes_before(group, group->rows[i], row);
    return rank;
}

struct group group_of(const struct comparison *c, int32_t slack, FILE *out)
{
    struct group group = { .c = c, .out = out, .slack = slack, .baseline = LAYOUT_NONE };
    for (uint32_t i = 0; i < c->layout_count; i++)
        if (c->stored->layouts[i].slack == slack) {
            group.rows[group.count++] = i;
            group.baseline = c->baseline[i];
        }
    group.best = group_best(c, slack);
    for (uint32_t i = 0; i < group.count && group.named_count < GROUP_NAMED; i++)
        if (rank_of(&group, group.rows[i]) < GROUP_NAMED)
            group.named[group.named_count++] = group.rows[i];
    return group;
}

const char *group_name(const struct group *group, uint32_t row, char out[LABEL_BYTES])
{
    const char *name = group->c->stored->layouts[row].name;
    return text_escape(name, strlen(name), out, LABEL_BYTES);
}

const char *group_replicas(const struct group *group, uint32_t n, char out[REPLICAS_BYTES])
{
    const uint32_t all = group->c->replica_count;
    if (n < all)
        snprintf(out, REPLICAS_BYTES, "%" PRIu32 " of %" PRIu32 " replicas", n, all);
    else
        snprintf(out, REPLICAS_BYTES, "%" PRIu32 " replica%s", n, n == 1 ? "" : "s");
    return out;
}

void group_list(const struct group *group, const uint32_t *rows, uint32_t count)
{
    char name[LABEL_BYTES];
    for (uint32_t i = 0; i < count; i++)
        fprintf(group->out, "%s%s", prose_join(i, count), group_name(group, rows[i], name));
}
