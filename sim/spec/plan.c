/* plan.c - names of the assumptions that a tornado moves. */
#include "spec/plan.h"

const char *const axis_names[AXES] = {
    [AXIS_NONE] = "none",         [AXIS_COMMUNICATION] = "communication",
    [AXIS_FAILURES] = "failures", [AXIS_SERVER_GROWTH] = "server_growth",
    [AXIS_NICS] = "nics",         [AXIS_LOAD] = "load",
};
