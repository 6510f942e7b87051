/* locality.c - closed forms of MODELS 3.9 and 3.10. */
#include "models/locality.h"

#include "base/assert.h"

double exposed_frac(double kappa, double time_ratio, double hidden_frac)
{
    ASSERT(kappa >= 0 && time_ratio >= 0 && hidden_frac >= 0);
    const double exposed = kappa * time_ratio - hidden_frac;
    return exposed > 0.0 ? exposed : 0.0;
}

double locality_slowdown(double kappa, double hidden_frac, double time_ratio)
{
    return (1.0 + exposed_frac(kappa, time_ratio, hidden_frac)) /
           (1.0 + exposed_frac(kappa, 1.0, hidden_frac));
}

struct locality_split locality_split(double kappa, double hidden_frac, double time_ratio,
                                     double intra_ratio)
{
    ASSERT(intra_ratio <= time_ratio);
    const double exposed = exposed_frac(kappa, time_ratio, hidden_frac);
    const double intra = exposed_frac(kappa, intra_ratio, hidden_frac);
    const double step = 1.0 + exposed;
    return (struct locality_split){
        .slowdown = step / (1.0 + exposed_frac(kappa, 1.0, hidden_frac)),
        .compute_frac = 1.0 / step,
        .intra_frac = intra / step,
        .inter_frac = (exposed - intra) / step,
    };
}

double rescale_s(double duration_s, double slowdown_old, double slowdown_new)
{
    ASSERT(slowdown_old > 0 && slowdown_new > 0);
    return duration_s * slowdown_new / slowdown_old;
}
