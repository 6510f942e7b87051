/* step_catalog.h - entries of the catalog -> a model, a plan and a machine of models/train_plan.
 *
 * All three take their place in structs that hold defaults already; an id that is not there is a usage error. */
#ifndef GPUPLAN_CLI_STEP_CATALOG_H
#define GPUPLAN_CLI_STEP_CATALOG_H

#include "io/catalog.h"
#include "models/train_plan.h"

struct step_inputs {
    struct train_model model;
    struct train_plan plan;
    struct train_machine machine;
    char gpu[LIMIT_NAME_BYTES]; /* id of the server's GPUs                                          */
    double bucket_bytes;        /* of gradients that go out together; 0 = all                       */
    double half_width;          /* of the stack; 0 = its efficiency holds for any width             */
};

/* A server type; link NULL: NICs as it has them; nics_per_gpu 0: as many as it has. The machine's gpus and efficiency stay. */
enum status step_take_server(struct catalog *catalog, const char *server, const char *link,
                             double nics_per_gpu, struct step_inputs *inputs, struct diag *diag);

/* How a framework trains on the server's GPUs, taken after it. */
enum status step_take_stack(struct catalog *catalog, const char *stack, struct step_inputs *inputs,
                            struct diag *diag);

/* What is trained: after server and stack. */
enum status step_take_model(struct catalog *catalog, const char *model, struct step_inputs *inputs,
                            struct diag *diag);

/* When all is taken: attention heads, parameters that a token visits, buckets of the gradients of one GPU, and the efficiency
 * at the model's width. */
void step_settle(struct step_inputs *inputs);

#endif
