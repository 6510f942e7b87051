/* power.h - power, clocks, heat and energy (MODELS 7.1 to 7.7).
 *
 * Watts, degrees Celsius, seconds. phi is the clock over its maximum. Pure functions.
 * Tests: tests/test_power.c, tests/cases/models/power.csv. */
#ifndef GPUPLAN_MODELS_POWER_H
#define GPUPLAN_MODELS_POWER_H

#include <stddef.h>

struct gpu_power {
    double idle_w, max_w; /* at phi = 1, u = 0 and 1                 */
    double use_frac;      /* u: how busy, 0 .. 1                     */
};

/* P = idle + (max - idle) u phi^3 (7.1). */
double gpu_power_w(const struct gpu_power *gpu, double phi);

/* Highest phi in [phi_min, 1] that keeps the GPU under cap_w; phi_min when none does. */
double capped_phi(const struct gpu_power *gpu, double cap_w, double phi_min);

/* Slowdown of work of which a share beta follows the clock: beta/phi + 1 - beta. */
double clock_slowdown(double phi, double compute_bound_frac);

/* At the wall (7.2): ((base + gpus P_gpu + nics P_nic)(1 + fan) + loss)/psu_efficiency. */
struct server_power {
    double base_w, gpus, gpu_w, nics, nic_w, fan_frac, loss_w, psu_efficiency;
};
double server_power_w(const struct server_power *server);

/* One phi for all GPUs under a rack or PDU limit (7.3): 1 when static + dynamic fits, else cbrt((cap - static)/dynamic). */
double rack_phi(double static_w, double dynamic_w, double cap_w, double phi_min);

/* First-order temperature (7.4): T_ss = T_in + R P, T(t) = T_ss + (T0 - T_ss) exp(-t/tau). */
struct thermal {
    double inlet_c, resistance_k_per_w, power_w, tau_s;
};
double temperature_c(const struct thermal *thermal, double start_c, double t_s);
/* When it rises from start_c through limit_c; INFINITY when it never does, 0 when it is there. */
double temperature_cross_s(const struct thermal *thermal, double start_c, double limit_c);
/* Highest phi in [phi_min, 1] whose steady temperature stays at slow_c. */
double thermal_phi(const struct gpu_power *gpu, double inlet_c, double resistance_k_per_w,
                   double slow_c, double phi_min);

/* Rise of the air through a server (7.5): P/(1.2 * 1005 * flow), K. flow > 0. */
double air_rise_k(double power_w, double flow_m3_per_s);

/* Time until a room warms by rise_k when heat exceeds cooling (7.6); INFINITY when it does not. */
double room_warming_s(double heat_w, double cooling_w, double capacity_j_per_k, double rise_k);

/* Facility power (7.7): it/ups + it/cop + misc. PUE is that over it. */
double facility_w(double it_w, double ups_efficiency, double cop, double misc_w);

#endif
