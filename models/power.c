/* power.c - closed forms of MODELS 7.1 to 7.7. */
#include "models/power.h"

#include "base/assert.h"
#include "base/exactmath.h"

#include <math.h>

static const double air_j_per_m3_k =
    1.2 * 1005.0; /* density times heat capacity of air near 20 C */

static double clamped(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static double cube_root(double x)
{
    return x > 0 ? exact_pow(x, 1.0 / 3.0) : 0.0;
}

double gpu_power_w(const struct gpu_power *gpu, double phi)
{
    return gpu->idle_w + (gpu->max_w - gpu->idle_w) * gpu->use_frac * phi * phi * phi;
}

double capped_phi(const struct gpu_power *gpu, double cap_w, double phi_min)
{
    const double dynamic_w = (gpu->max_w - gpu->idle_w) * gpu->use_frac;
    if (gpu->idle_w + dynamic_w <= cap_w) return 1.0;
    if (!(dynamic_w > 0)) return phi_min;
    return clamped(cube_root((cap_w - gpu->idle_w) / dynamic_w), phi_min, 1.0);
}

double clock_slowdown(double phi, double compute_bound_frac)
{
    ASSERT(phi > 0);
    return compute_bound_frac / phi + 1.0 - compute_bound_frac;
}

double server_power_w(const struct server_power *server)
{
    ASSERT(server->psu_efficiency > 0);
    const double parts =
        server->base_w + server->gpus * server->gpu_w + server->nics * server->nic_w;
    return (parts * (1.0 + server->fan_frac) + server->loss_w) / server->psu_efficiency;
}

double rack_phi(double static_w, double dynamic_w, double cap_w, double phi_min)
{
    if (static_w + dynamic_w <= cap_w) return 1.0;
    if (!(dynamic_w > 0)) return phi_min;
    return clamped(cube_root((cap_w - static_w) / dynamic_w), phi_min, 1.0);
}

static double steady_c(const struct thermal *thermal)
{
    return thermal->inlet_c + thermal->resistance_k_per_w * thermal->power_w;
}

double temperature_c(const struct thermal *thermal, double start_c, double t_s)
{
    ASSERT(thermal->tau_s > 0);
    const double steady = steady_c(thermal);
    return steady + (start_c - steady) * exact_exp(-t_s / thermal->tau_s);
}

double temperature_cross_s(const struct thermal *thermal, double start_c, double limit_c)
{
    const double steady = steady_c(thermal);
    if (start_c >= limit_c) return 0.0;
    if (!(steady > limit_c)) return INFINITY;
    return thermal->tau_s * exact_log((steady - start_c) / (steady - limit_c));
}

double thermal_phi(const struct gpu_power *gpu, double inlet_c, double resistance_k_per_w,
                   double slow_c, double phi_min)
{
    ASSERT(resistance_k_per_w > 0);
    return capped_phi(gpu, (slow_c - inlet_c) / resistance_k_per_w, phi_min);
}

double air_rise_k(double power_w, double flow_m3_per_s)
{
    ASSERT(flow_m3_per_s > 0);
    return power_w / (air_j_per_m3_k * flow_m3_per_s);
}

double room_warming_s(double heat_w, double cooling_w, double capacity_j_per_k, double rise_k)
{
    return heat_w > cooling_w ? capacity_j_per_k * rise_k / (heat_w - cooling_w) : INFINITY;
}

double facility_w(double it_w, double ups_efficiency, double cop, double misc_w)
{
    ASSERT(ups_efficiency > 0 && cop > 0);
    return it_w / ups_efficiency + it_w / cop + misc_w;
}
