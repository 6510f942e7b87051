/* plan_fabric.h - servers and a kind of network -> the switches that join them (MODELS 1.5). */
#ifndef GPUPLAN_CAMPAIGN_PLAN_FABRIC_H
#define GPUPLAN_CAMPAIGN_PLAN_FABRIC_H

#include "spec/hardware.h"

/* What cannot be wired, and the key that says so. */
struct fabric_problem {
    enum fabric_key key;
    char text[256];
};

/* Fills *shape for `servers` servers, 1 and more. False with *problem set when that cannot be wired: more leaves than a
 * spine has ports, more pods than a core, more NICs than a leaf has ports down; *shape is then untouched.
 *
 * A leaf has up = floor(R/(1+o)) ports up and the rest down, of which whole servers take as many as they can; it is so
 * wired even where fewer servers are left for the last one. */
bool plan_fabric(const struct fabric *fabric, uint32_t servers, struct fabric_shape *shape,
                 struct fabric_problem *problem);

#endif
