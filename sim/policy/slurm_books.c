/* slurm_books.c - who a job belongs to, and what follows: limits, past use, priority. See slurm_state.h. */
#include "policy/slurm_state.h"

#include "base/bits.h"

#include <string.h>

enum { MILLI = 1000, MIB_SHIFT = 20 };

bool slurm_books_init(struct slurm *slurm, const struct policy_view *view, struct arena *arena)
{
    const struct slurm_spec *spec = slurm->spec;
    slurm->priority_lowest = SLURM_BASIC_TOP;
    slurm->in_partition = ARENA_ARRAY(arena, struct slurm_tres, spec->partition_count);
    if (!slurm->in_partition) return false;
    for (uint32_t node = 0; node < slurm->nodes.nodes; node++) {
        const struct slurm_kind *kind = slurm_kind_of(&slurm->nodes, node);
        for (uint32_t p = 0; p <= spec->partition_count; p++) {
            const bool is_all = p == spec->partition_count;
            if (!is_all && !slurm_set_has(slurm_partition_nodes(&slurm->nodes, p), node)) continue;
            struct slurm_tres *sum = is_all ? &slurm->all : &slurm->in_partition[p];
            sum->nodes++;
            sum->cores += kind->cores;
            sum->gpus += kind->gpus;
            sum->memory_mib += kind->memory_mib;
        }
    }
    slurm->calc_ns = slurm_calc_next_ns(spec, 0);
    return slurm_assoc_init(&slurm->assoc, spec, view->jobs) &&
           slurm_limits_init(&slurm->limits, spec, &slurm->assoc) &&
           slurm_fairtree_init(&slurm->fair, &slurm->assoc);
}

void slurm_books_clear(struct slurm *slurm)
{
    slurm_fairtree_clear(&slurm->fair);
    slurm_limits_clear(&slurm->limits);
    slurm_assoc_clear(&slurm->assoc);
}

/* ---- who ------------------------------------------------------------------------------------- */

static uint32_t qos_named(const struct slurm_spec *spec, const char *name)
{
    for (uint32_t q = 0; q < spec->qos_count; q++)
        if (!strcmp(spec->qos[q].name, name)) return q;
    return SLURM_QOS_NONE;
}

struct slurm_owner slurm_owner_of(const struct slurm *slurm, const struct policy_view *view,
                                  uint32_t row)
{
    const struct slurm_who who = slurm->assoc.who[row];
    const char *qos = view->jobs->words ? view->jobs->text + view->jobs->words[row].qos : "";
    return (struct slurm_owner){ .assoc = who.assoc,
                                 .user = who.user,
                                 .qos = qos_named(slurm->spec, *qos ? qos : "normal") };
}

/* ---- limits and use -------------------------------------------------------------------------- */

static struct slurm_tres asked_of(const struct slurm_need *need)
{
    uint64_t gpus = need->gpus_per_job;
    if (need->gpus_per_node) gpus = (uint64_t)need->gpus_per_node * need->nodes_min;
    uint64_t memory_mib = 0;
    if (need->memory == MEMORY_PER_NODE) memory_mib = need->memory_mib * need->nodes_min;
    if (need->memory == MEMORY_PER_CORE) memory_mib = need->memory_mib * need->cores_min;
    if (need->memory == MEMORY_PER_GPU) memory_mib = need->memory_mib * gpus;
    return (struct slurm_tres){
        .nodes = need->nodes_min, .cores = need->cores_min, .gpus = gpus, .memory_mib = memory_mib
    };
}

struct slurm_amount slurm_books_asked(const struct slurm *slurm, uint32_t live,
                                      const struct slurm_need *need)
{
    const struct slurm_tres asked = asked_of(need);
    return (struct slurm_amount){ .of = { [RESOURCE_CPU] = (int64_t)asked.cores,
                                          [RESOURCE_MEM] = (int64_t)asked.memory_mib,
                                          [RESOURCE_NODE] = (int64_t)asked.nodes,
                                          [RESOURCE_GPU] = (int64_t)asked.gpus },
                                  .limit_ns = slurm->jobs[live].limit_s * NS_PER_S };
}

static void add_host(struct slurm_amount *amount, uint32_t gpus, uint32_t cores_milli,
                     uint64_t memory_bytes)
{
    amount->of[RESOURCE_NODE]++;
    amount->of[RESOURCE_GPU] += gpus;
    amount->of[RESOURCE_CPU] += cores_milli / MILLI;
    amount->of[RESOURCE_MEM] += (int64_t)(memory_bytes >> MIB_SHIFT);
}

const char *slurm_jobs_over(const struct slurm *slurm, const struct policy_view *view, uint32_t row)
{
    return slurm_limits_jobs(&slurm->limits, slurm_owner_of(slurm, view, row));
}

const char *slurm_books_over(const struct slurm *slurm, const struct policy_view *view,
                             uint32_t live, const struct part *parts, uint32_t count,
                             int64_t now_ns)
{
    struct slurm_amount amount = { .limit_ns = slurm->jobs[live].limit_s * NS_PER_S };
    for (uint32_t p = 0; p < count; p++)
        add_host(&amount, parts[p].share_units ? 0 : (uint32_t)bits_count(parts[p].mask),
                 parts[p].cores_milli, parts[p].memory_bytes);
    return slurm_limits_over(
        &slurm->limits, slurm_owner_of(slurm, view, view->live->jobs[live].row), &amount, now_ns);
}

void slurm_books_start(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                       int64_t limit_ns, int64_t now_ns)
{
    struct slurm_job *job = &slurm->jobs[live];
    struct slurm_amount amount = { .limit_ns = limit_ns };
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = view->cluster->grants[row].next) {
        const struct grant *grant = &view->cluster->grants[row];
        add_host(&amount, grant->share_units ? 0 : (uint32_t)bits_count(grant->mask),
                 grant->cores_milli, grant->memory_bytes);
    }
    const struct slurm_owner owner = slurm_owner_of(slurm, view, view->live->jobs[live].row);
    slurm->out_of_memory |= !slurm_limits_start(&slurm->limits, live, owner, &amount, now_ns);
    job->billing_micro =
        slurm_billing_micro(slurm->spec, (uint64_t)amount.of[RESOURCE_CPU],
                            (uint64_t)amount.of[RESOURCE_GPU], (uint64_t)amount.of[RESOURCE_MEM]);
    slurm_fairtree_book(&slurm->fair, owner.assoc, job->billing_micro, now_ns);
}

void slurm_books_end(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                     int64_t now_ns)
{
    struct slurm_job *job = &slurm->jobs[live];
    const struct slurm_owner owner = slurm_owner_of(slurm, view, view->live->jobs[live].row);
    slurm_limits_end(&slurm->limits, live);
    slurm_fairtree_book(&slurm->fair, owner.assoc, -job->billing_micro, now_ns);
    job->billing_micro = 0;
}

/* ---- priority -------------------------------------------------------------------------------- */

void slurm_rank(struct slurm *slurm, const struct policy_view *view, uint32_t live)
{
    const uint32_t row = view->live->jobs[live].row;
    slurm->jobs[live].basic = slurm_priority_basic(
        &slurm->priority_lowest, view->jobs->words ? view->jobs->words[row].nice : 0);
}

uint32_t slurm_priority_in(struct slurm *slurm, const struct policy_view *view,
                           const struct slurm_entry *entry, int64_t now_ns)
{
    const struct slurm_spec *spec = slurm->spec;
    const int32_t nice = view->jobs->words ? view->jobs->words[entry->row].nice : 0;
    struct slurm_job *job = &slurm->jobs[entry->live];
    if (!spec->multifactor) return job->basic;
    const struct slurm_need *need = slurm_need_of(slurm, view, entry);
    if (!need) return 1;
    const struct slurm_owner owner = slurm_owner_of(slurm, view, entry->row);
    const struct slurm_tres asked = asked_of(need);
    struct slurm_factors factors = {
        .age = slurm_age_factor(spec, job->eligible_ns, now_ns),
        .fairshare = slurm_fairtree_factor(&slurm->fair, owner.assoc),
        .size = slurm_size_factor(spec, asked, slurm->all),
        .partition = slurm_partition_factor(spec, entry->partition),
        .qos = slurm_qos_factor(spec, owner.qos),
        .assoc = slurm_assoc_factor(&slurm->assoc, owner.assoc),
    };
    slurm_tres_factors(&factors, asked, slurm->in_partition[entry->partition]);
    return slurm_priority(spec, &factors, nice);
}

struct rekey {
    struct slurm *slurm;
    const struct policy_view *view;
    int64_t now_ns;
};

static uint32_t priority_again(void *context, const struct slurm_entry *entry)
{
    const struct rekey *rekey = context;
    return slurm_priority_in(rekey->slurm, rekey->view, entry, rekey->now_ns);
}

void slurm_recompute(struct slurm *slurm, const struct policy_view *view, int64_t now_ns)
{
    if (!slurm->spec->multifactor || now_ns < slurm->calc_ns) return;
    struct rekey rekey = { slurm, view, now_ns };
    slurm_fairtree_update(&slurm->fair, slurm->spec->decay_half_life_ns, now_ns);
    slurm->out_of_memory |= !slurm_queue_rekey(&slurm->queue, priority_again, &rekey);
    slurm->calc_ns = slurm_calc_next_ns(slurm->spec, now_ns);
    slurm->changed = slurm->full_wanted = true;
}
