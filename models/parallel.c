/* parallel.c - closed forms of MODELS 3.2. */
#include "models/parallel.h"

#include "base/assert.h"

/* Per layer and microbatch: two forward and two backward, of all-reduces and of all-to-alls. */
static const double exchanges = 4.0;

double gradient_bytes(double parameters, double element_bytes, double tensor_parallel,
                      double pipeline_parallel)
{
    ASSERT(tensor_parallel >= 1 && pipeline_parallel >= 1);
    return element_bytes * parameters / (tensor_parallel * pipeline_parallel);
}

double zero_traffic_bytes(double size_bytes, double data_parallel, uint32_t stage)
{
    ASSERT(data_parallel >= 1 && stage <= 3);
    const double passes = stage == 3 ? 3.0 : 2.0;
    return passes * (data_parallel - 1.0) / data_parallel * size_bytes;
}

double tensor_parallel_s(const struct tensor_group *group)
{
    ASSERT(group->layers >= 0 && group->microbatches >= 0);
    return exchanges * group->layers * group->microbatches *
           ring_allreduce_s(group->gpus, group->size_bytes, group->hop_s,
                            group->bandwidth_bytes_per_s);
}

double boundary_bytes(double activation_bytes, double microbatches, double tensor_parallel,
                      bool scattered)
{
    ASSERT(tensor_parallel >= 1);
    return microbatches * activation_bytes / (scattered ? tensor_parallel : 1.0);
}

double expert_bytes(double activation_bytes, double experts_per_token)
{
    return experts_per_token * activation_bytes;
}

double expert_parallel_s(const struct collective_place *place, double layers, double microbatches,
                         double size_bytes, double message_s)
{
    ASSERT(layers >= 0 && microbatches >= 0);
    return exchanges * layers * microbatches * all_to_all_s(place, size_bytes, message_s);
}
