/* train_plan.c - which plans divide, and where their groups sit. */
#include "models/train_plan.h"

#include "base/assert.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const char *const recompute_names[RECOMPUTES] = { "none", "selective", "full" };

struct train_plan train_plan_plain(void)
{
    return (struct train_plan){
        .tensor = 1,
        .pipeline = 1,
        .data = 1,
        .expert = 1,
        .interleave = 1,
        .batch = 1,
        .microbatch = 1,
        .element_bytes = 2,
        .gradient_bytes = 2,
        .buckets = 1,
        .traffic = 1,
        .slowest_factor = 1,
        .noise_factor = 1,
        .uneven_factor = 1,
    };
}

double train_shape_ratio(const struct train_model *model)
{
    ASSERT(model->hidden > 0);
    return model->active_parameters / (12 * model->layers * model->hidden * model->hidden);
}

double train_microbatches(const struct train_plan *plan)
{
    return plan->batch / ((double)plan->data * plan->microbatch);
}

static bool divides(double part, double whole)
{
    const double quotient = whole / part;
    return quotient >= 1 && quotient == floor(quotient);
}

static bool nests(double a, double b)
{
    return divides(a, b) || divides(b, a);
}

static uint32_t gpus_of_server(const struct train_machine *machine)
{
    return machine->gpus_per_server ? machine->gpus_per_server : machine->fabric.gpus;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Ranks of one data group on one server. */
static uint32_t data_ranks(const struct train_plan *plan, const struct train_machine *machine)
{
    const uint32_t ranks = gpus_of_server(machine) / plan->tensor;
    return ranks > 0 ? ranks : 1;
}

struct train_fault_at train_plan_check(const struct train_model *model,
                                       const struct train_plan *plan,
                                       const struct train_machine *machine)
{
    const double world = (double)plan->tensor * plan->pipeline * plan->data;
    const double gpus = machine->gpus, server = gpus_of_server(machine);
    const double ranks = data_ranks(plan, machine), v = plan->interleave, ep = plan->expert;
    const struct {
        enum train_fault fault;
        bool holds;
        double value, of;
    } rules[] = {
        { TRAIN_GPUS, world == gpus, world, gpus },
        { TRAIN_SERVERS, gpus <= server || divides(server, gpus), gpus, server },
        { TRAIN_TENSOR, gpus <= server || nests(plan->tensor, server), plan->tensor, server },
        { TRAIN_BATCH, divides(plan->data * plan->microbatch, plan->batch), plan->batch,
          plan->data * plan->microbatch },
        { TRAIN_CHUNKS, v == 1 || plan->pipeline > 1, v, plan->pipeline },
        { TRAIN_LAYERS, divides(plan->pipeline * v, model->layers), model->layers,
          plan->pipeline * v },
        { TRAIN_ROUNDS, v == 1 || divides(plan->pipeline, train_microbatches(plan)),
          train_microbatches(plan), plan->pipeline },
        { TRAIN_DENSE, ep == 1 || model->expert_layers > 0, ep, 1 },
        { TRAIN_EXPERTS, ep == 1 || divides(ep, model->experts), model->experts, ep },
        { TRAIN_EXPERT_GROUP, divides(ep, plan->data), plan->data, ep },
        { TRAIN_EXPERT_SPREAD, gpus <= server || nests(ep, ranks), ep, ranks },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (!rules[i].holds)
            return (struct train_fault_at){ rules[i].fault, rules[i].value, rules[i].of };
    return (struct train_fault_at){ TRAIN_FITS, 0, 0 };
}

/* One of `sharing` groups on the same servers, with its part of the NICs in use there; one GPU of it never has more than by
 * itself. NICs that do not divide become one of the same rate. */
static struct collective_hardware share_of(const struct train_machine *machine, uint32_t sharing)
{
    const struct collective_hardware *all = &machine->fabric;
    const uint32_t used = all->nics_used[smaller(gpus_of_server(machine), all->gpus)];
    const uint32_t nics = used > 0 ? used : all->nics;
    struct collective_hardware share = *all;
    const double rate = nics * all->nic_bytes_per_s / sharing;
    share.nics = nics % sharing == 0 ? nics / sharing : 1;
    share.nic_bytes_per_s = rate / share.nics;
    memset(share.nics_used, 0, sizeof share.nics_used);
    if (used > 0) share.nics_used[1] = smaller(share.nics, all->nics_used[1]);
    share.host_memory_bytes_per_s /= sharing;
    share.uplinks_bytes_per_s /= sharing;
    share.pair_bytes_per_s /= sharing;
    return share;
}

struct train_group train_group_of(const struct train_machine *machine, uint32_t members,
                                  uint32_t stride)
{
    ASSERT(members >= 1 && stride >= 1);
    const uint32_t server = gpus_of_server(machine);
    const uint32_t sharing = stride < server ? stride : server; /* groups on one server */
    uint32_t here = server / sharing;
    if (here > members) here = members;
    const uint32_t servers = (members + here - 1) / here, rest = members % here;
    const bool everywhere = rest == 0 && servers * server == machine->gpus;
    return (struct train_group){
        .hardware = share_of(machine, sharing),
        .members = { .servers = servers,
                     .gpus = members,
                     .gpus_min = servers > 1 && rest > 0 ? rest : here,
                     .spans_leaves = servers > 1 && machine->spans_leaves,
                     .domains = everywhere ? machine->domains : 0,
                     .domain_servers = machine->domain_servers,
                     .domain_gpus = here * machine->domain_servers },
        .sharing = sharing,
    };
}
