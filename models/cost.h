/* cost.h - what a layout costs to buy and to run (MODELS 7.8). US dollars; prices come from outside.
 *
 * Tests: tests/test_power.c, tests/cases/models/power.csv. */
#ifndef GPUPLAN_MODELS_COST_H
#define GPUPLAN_MODELS_COST_H

#include <stdint.h>

/* Share of a sum that is paid each year for it to be paid back with interest: r(1 + r)^n/((1 + r)^n - 1), 1/n at r = 0. */
double capital_recovery_frac(double interest, double years);

struct cost_layout {
    uint32_t gpus, gpus_per_server, nics_per_server; /* gpus a multiple of gpus_per_server */
    uint32_t switch_ports;
    double oversubscription;
    double server_usd, gpu_usd, nic_usd, switch_usd, cable_usd; /* server_usd without GPUs and NICs */
    double server_w, gpu_w, switch_w;
    double pue, usd_per_kwh;
    double maintenance_frac; /* of the purchase, per year             */
    double interest, years;
    double goodput_frac;     /* useful over all GPU-hours, > 0        */
};

struct cost {
    uint64_t switches, cables;
    double purchase_usd, yearly_usd;
    double useful_gpu_hour_usd; /* yearly/(gpus * 8760 * goodput) */
};

/* Two-tier fabric of 1.5; cables = NIC ports + trunks. */
struct cost layout_cost(const struct cost_layout *layout);

#endif
