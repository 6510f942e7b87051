/* table_cells.c - see table_cells.h. */
#include "report/table_cells.h"

#include "report/prose.h"

#include <math.h>

double cell_largest(const struct comparison *c, const struct quantity *quantity)
{
    double largest = 0;
    for (uint32_t i = 0; quantity != NULL && i < c->layout_count; i++)
        if (quantity->cells[i].value.mean > largest) largest = quantity->cells[i].value.mean;
    return largest;
}

static struct cell_scale plain_scale(double largest, enum cell_kind kind)
{
    const double hours = largest / 3600;
    switch (kind) {
    case CELL_RATIO:
        return (struct cell_scale){ 1, 4, "", false };
    case CELL_PERCENT:
        return (struct cell_scale){ 100, 2, " %", false };
    case CELL_SMALL_PERCENT:
        return (struct cell_scale){ 100, 3, " %", false };
    case CELL_GPU_H:
    case CELL_COUNT:
        return (struct cell_scale){ 1, largest < 10000 ? 1 : 0, "", false };
    case CELL_TIME:
        break;
    }
    if (hours >= 2)
        return (struct cell_scale){ 1.0 / 3600, hours < 100 ? 2 : hours < 1000, " h", false };
    if (largest >= 120) return (struct cell_scale){ 1.0 / 60, 1, " min", false };
    return (struct cell_scale){ 1, 1, " s", false };
}

struct cell_scale cell_scale(const struct comparison *c, double largest, enum cell_kind kind)
{
    struct cell_scale scale = plain_scale(largest, kind);
    scale.exact = c->exact;
    return scale;
}

double cell_shown(double value, const struct cell_scale *scale)
{
    const double scaled = value * scale->factor;
    return fabs(scaled) < 0.5 * pow(10, -scale->decimals) ? 0 : scaled;
}

void cell_value(char *out, size_t out_bytes, const struct interval *value,
                const struct cell_scale *scale)
{
    if (value->n == 0)
        snprintf(out, out_bytes, "%12s", "none");
    else if (value->n == 1 || scale->exact)
        snprintf(out, out_bytes, "%12.*f", scale->decimals, cell_shown(value->mean, scale));
    else
        snprintf(out, out_bytes, "%12.*f ± %.*f", scale->decimals, cell_shown(value->mean, scale),
                 scale->decimals, cell_shown(value->half, scale));
}

void cell_difference(char *out, size_t out_bytes, const struct interval *d,
                     const struct cell_scale *scale, struct cell_room room)
{
    const int decimals = scale->decimals;
    const double mean = cell_shown(d->mean, scale);
    if (d->n == 0) {
        snprintf(out, out_bytes, "%*s", room.width, "no pair");
    } else if (d->n == 1 || scale->exact) {
        snprintf(out, out_bytes, "%+*.*f%s", room.width, decimals, mean,
                 isnan(d->half) ? " [1 pair]" : "");
    } else {
        snprintf(out, out_bytes, "%+*.*f [%+.*f, %+.*f]", room.width, decimals, mean, decimals,
                 cell_shown(d->mean - d->half, scale), decimals,
                 cell_shown(d->mean + d->half, scale));
        if (prose_columns(out) > room.columns)
            snprintf(out, out_bytes, "%+*.*f ± %.*f", room.width, decimals, mean, decimals,
                     cell_shown(d->half, scale));
    }
}

bool cell_is_compared(const struct comparison *c, uint32_t layout)
{
    return c->baseline[layout] != layout && c->baseline[layout] != LAYOUT_NONE;
}
