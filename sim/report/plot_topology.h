/* plot_topology.h - a picture of servers, leaves, spines and cores, a panel for each layout. */
#ifndef GPUPLAN_REPORT_PLOT_TOPOLOGY_H
#define GPUPLAN_REPORT_PLOT_TOPOLOGY_H

#include "base/diag.h"
#include "spec/fabric.h"

/* Borrowed while the picture is drawn. */
struct topology_panel {
    const char *name, *link; /* of the layout, of its links                                    */
    uint32_t gpus_per_server;
    const struct fabric_shape *shape;
};

struct topology_picture {
    const char *title; /* of the scenario                                              */
    const struct topology_panel *panels;
    uint32_t panel_count; /* 1 and more                                                   */
};

/* Draws into a file whose ending says how: .svg, .png, .pdf. Of large networks the first pods, leaves and spines stand for
 * all, and their numbers are told. */
enum status plot_topology_write(const struct topology_picture *picture, const char *path,
                                struct diag *diag);

#endif
