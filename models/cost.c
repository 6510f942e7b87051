/* cost.c - MODELS 7.8. */
#include "models/cost.h"

#include "base/assert.h"
#include "base/exactmath.h"
#include "models/hardware.h"

static const double hours_per_year = 8760;

double capital_recovery_frac(double interest, double years)
{
    ASSERT(years > 0 && interest >= 0);
    if (interest == 0) return 1.0 / years;
    /* r/(1 - (1 + r)^-n): the same, without the two large powers */
    return -interest / exact_expm1(-years * exact_log1p(interest));
}

struct cost layout_cost(const struct cost_layout *layout)
{
    ASSERT(layout->gpus_per_server >= 1 && layout->gpus % layout->gpus_per_server == 0);
    ASSERT(layout->gpus >= 1 && layout->goodput_frac > 0);
    const uint64_t servers = layout->gpus / layout->gpus_per_server;
    const uint64_t ports = servers * layout->nics_per_server;
    const struct two_tier fabric = two_tier(ports, layout->switch_ports, layout->oversubscription);

    struct cost cost = { .switches = fabric.switches, .cables = ports + fabric.trunks };
    const double server_usd = layout->server_usd + layout->gpus_per_server * layout->gpu_usd +
                              layout->nics_per_server * layout->nic_usd;
    cost.purchase_usd = (double)servers * server_usd + (double)cost.switches * layout->switch_usd +
                        (double)cost.cables * layout->cable_usd;
    const double it_w = (double)servers * layout->server_w + layout->gpus * layout->gpu_w +
                        (double)cost.switches * layout->switch_w;
    const double capital = capital_recovery_frac(layout->interest, layout->years);
    cost.yearly_usd = cost.purchase_usd * (capital + layout->maintenance_frac) +
                      it_w / 1000 * hours_per_year * layout->pue * layout->usd_per_kwh;
    cost.useful_gpu_hour_usd =
        cost.yearly_usd / (layout->gpus * hours_per_year * layout->goodput_frac);
    return cost;
}
