/* collective_ask.h - what `gpuplan collective` is asked: operation, servers, group, sizes. */
#ifndef GPUPLAN_CLI_COLLECTIVE_ASK_H
#define GPUPLAN_CLI_COLLECTIVE_ASK_H

#include "cli/cli.h"
#include "io/catalog.h"
#include "models/collective_time.h"

struct collective_ask {
    enum collective_op op;
    struct server_type server;
    struct link_type link;         /* read when has_link                                         */
    bool has_link;
    struct collective_hardware hardware;
    struct collective_group group;
    char gpus_per_node[256];       /* as written: "8", or "4,6" for servers of their own             */
    const char *algorithm;         /* "auto", "ring", ...                                        */
    uint32_t allowed;
    double begin_bytes, end_bytes, factor;
};

extern const struct option_row collective_options[];

/* Reads the command line against the catalog; a group that cannot be, and an algorithm that the hardware lacks, are
 * refused with the reason. */
enum status collective_read(const struct cli *cli, struct catalog *catalog,
                            struct collective_ask *ask);

#endif
