/* slurm_limits.c - see slurm_limits.h. */
#include "policy/slurm_limits.h"

#include "base/assert.h"
#include "base/clock.h"

#include <stdlib.h>

#define NS_PER_MINUTE (60 * NS_PER_S)

/* Reasons by limit and resource, in squeue's words, which are not regular. */
typedef const char *const reason_table[RESOURCES];
static reason_table qos_grp = { "QOSGrpCpuLimit", "QOSGrpMemLimit", "QOSGrpNodeLimit",
                                "QOSGrpGRES" };
static reason_table qos_run_mins = { "QOSGrpCPURunMinutesLimit", "QOSGrpMemoryRunMinutes",
                                     "QOSGrpNodeRunMinutes", "QOSGrpGRESRunMinutes" };
static reason_table qos_per_job = { "QOSMaxCpuPerJobLimit", "QOSMaxMemoryPerJob",
                                    "QOSMaxNodePerJobLimit", "QOSMaxGRESPerJob" };
static reason_table qos_per_user = { "QOSMaxCpuPerUserLimit", "QOSMaxMemoryPerUser",
                                     "QOSMaxNodePerUserLimit", "QOSMaxGRESPerUser" };
static reason_table assoc_grp = { "AssocGrpCpuLimit", "AssocGrpMemLimit", "AssocGrpNodeLimit",
                                  "AssocGrpGRES" };
static reason_table assoc_run_mins = { "AssocGrpCPURunMinutesLimit", "AssocGrpMemRunMinutes",
                                       "AssocGrpNodeRunMinutes", "AssocGrpGRESRunMinutes" };
static reason_table assoc_per_job = { "AssocMaxCpuPerJobLimit", "AssocMaxMemPerJob",
                                      "AssocMaxNodePerJobLimit", "AssocMaxGRESPerJob" };

static const struct tres_limit no_limit = { LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET, LIMIT_UNSET };

static int64_t limit_on(const struct tres_limit *limit, enum slurm_resource resource)
{
    switch (resource) {
    case RESOURCE_CPU:
        return limit->cores;
    case RESOURCE_MEM:
        return limit->memory_mib;
    case RESOURCE_NODE:
        return limit->nodes;
    default:
        return limit->gpus;
    }
}

/* The first resource that is over a limit, as its reason. used: NULL = of this job alone; instead: limits of the QOS,
 * which take the place of these. */
static const char *over(const struct tres_limit *limit, const struct tres_limit *instead,
                        const int64_t *used, const int64_t *asked, reason_table reasons)
{
    for (int r = 0; r < RESOURCES; r++) {
        const int64_t most = limit_on(limit, (enum slurm_resource)r);
        if (most == LIMIT_UNSET || asked[r] == 0) continue;
        if (limit_on(instead, (enum slurm_resource)r) != LIMIT_UNSET) continue;
        if ((used ? used[r] : 0) > most - asked[r]) return reasons[r];
    }
    return NULL;
}

/* Minutes that the job may take of each resource, and that running jobs may still take. */
static void asked_minutes(const struct slurm_amount *amount, int64_t minutes[RESOURCES])
{
    for (int r = 0; r < RESOURCES; r++)
        minutes[r] = muldiv_ceil(amount->of[r], amount->limit_ns, NS_PER_MINUTE);
}

static void used_minutes(const struct slurm_use *use, int64_t now_ns, int64_t minutes[RESOURCES])
{
    for (int r = 0; r < RESOURCES; r++) {
        const int128 left = (use->ends[r] - (int128)use->of[r] * now_ns) / NS_PER_MINUTE;
        minutes[r] = left < 0 ? 0 : left > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)left;
    }
}

static bool is_set(const struct tres_limit *limit)
{
    return limit->gpus != LIMIT_UNSET || limit->cores != LIMIT_UNSET ||
           limit->nodes != LIMIT_UNSET || limit->memory_mib != LIMIT_UNSET;
}

static int64_t own_or(int64_t own, int64_t inherited)
{
    return own == LIMIT_UNSET ? inherited : own;
}

/* Limits of each row; those per job and per user come down from the accounts above. */
static void assoc_limits(struct slurm_limits *limits)
{
    const struct slurm_assoc *tree = limits->tree;
    for (uint32_t i = tree->count; i-- > 0;) {
        const uint32_t row = tree->deepest_first[i], line = tree->rows[row].spec;
        const uint32_t parent = tree->rows[row].parent;
        struct slurm_assoc_limits *own = &limits->of_assoc[row];
        *own =
            (struct slurm_assoc_limits){ no_limit, no_limit, no_limit, LIMIT_UNSET, LIMIT_UNSET };
        if (line != ASSOC_NONE) {
            const struct slurm_association *written = &limits->spec->associations[line];
            *own = (struct slurm_assoc_limits){ written->grp, written->grp_run_mins,
                                                written->max_per_job, written->grp_jobs,
                                                written->max_jobs };
        }
        if (parent == ASSOC_NONE) continue;
        const struct slurm_assoc_limits *above = &limits->of_assoc[parent];
        own->max_jobs = own_or(own->max_jobs, above->max_jobs);
        own->max_per_job = (struct tres_limit){
            .gpus = own_or(own->max_per_job.gpus, above->max_per_job.gpus),
            .cores = own_or(own->max_per_job.cores, above->max_per_job.cores),
            .nodes = own_or(own->max_per_job.nodes, above->max_per_job.nodes),
            .memory_mib = own_or(own->max_per_job.memory_mib, above->max_per_job.memory_mib),
        };
    }
}

bool slurm_limits_init(struct slurm_limits *limits, const struct slurm_spec *spec,
                       const struct slurm_assoc *tree)
{
    *limits = (struct slurm_limits){ .spec = spec, .tree = tree };
    const size_t users = (size_t)spec->qos_count * tree->user_names;
    limits->of_assoc = malloc((tree->count + 1) * sizeof *limits->of_assoc);
    limits->assoc_use = calloc(tree->count + 1u, sizeof *limits->assoc_use);
    limits->qos_use = calloc(spec->qos_count + 1u, sizeof *limits->qos_use);
    limits->user_use = calloc(users + 1, sizeof *limits->user_use);
    if (!limits->of_assoc || !limits->assoc_use || !limits->qos_use || !limits->user_use)
        return false;
    assoc_limits(limits);
    return true;
}

void slurm_limits_clear(struct slurm_limits *limits)
{
    free(limits->of_assoc);
    free(limits->assoc_use);
    free(limits->qos_use);
    free(limits->user_use);
    free(limits->charges);
    *limits = (struct slurm_limits){ 0 };
}

static const struct slurm_qos *qos_of(const struct slurm_limits *limits, struct slurm_owner owner)
{
    return owner.qos < limits->spec->qos_count ? &limits->spec->qos[owner.qos] : NULL;
}

static struct slurm_use *user_use(const struct slurm_limits *limits, struct slurm_owner owner)
{
    return &limits->user_use[(size_t)owner.qos * limits->tree->user_names + owner.user];
}

const char *slurm_limits_jobs(const struct slurm_limits *limits, struct slurm_owner owner)
{
    if (!limits->spec->enforce_limits) return NULL;
    const struct slurm_qos *qos = qos_of(limits, owner);
    if (qos && limits->qos_use[owner.qos].jobs >= qos->grp_jobs) return "QOSGrpJobsLimit";
    if (qos && user_use(limits, owner)->jobs >= qos->max_jobs_per_user)
        return "QOSMaxJobsPerUserLimit";
    const bool grp_by_qos = qos && qos->grp_jobs != LIMIT_UNSET;
    const bool max_by_qos = qos && qos->max_jobs_per_user != LIMIT_UNSET;
    for (uint32_t row = owner.assoc; row != ASSOC_NONE; row = limits->tree->rows[row].parent) {
        const struct slurm_assoc_limits *own = &limits->of_assoc[row];
        if (!grp_by_qos && limits->assoc_use[row].jobs >= own->grp_jobs) return "AssocGrpJobsLimit";
        if (!max_by_qos && row == owner.assoc && limits->assoc_use[row].jobs >= own->max_jobs)
            return "AssocMaxJobsLimit";
    }
    return NULL;
}

/* Limits of the QOS. `alone`: as if nothing ran. */
static const char *over_qos(const struct slurm_limits *limits, struct slurm_owner owner,
                            const struct slurm_amount *amount, int64_t now_ns, bool alone)
{
    const struct slurm_qos *qos = qos_of(limits, owner);
    if (!qos) return NULL;
    const struct slurm_use *use = &limits->qos_use[owner.qos];
    const char *reason = over(&qos->grp, &no_limit, alone ? NULL : use->of, amount->of, qos_grp);
    if (!reason && is_set(&qos->grp_run_mins)) {
        int64_t asked[RESOURCES], used[RESOURCES];
        asked_minutes(amount, asked);
        used_minutes(use, now_ns, used);
        reason = over(&qos->grp_run_mins, &no_limit, alone ? NULL : used, asked, qos_run_mins);
    }
    if (!reason) reason = over(&qos->max_per_job, &no_limit, NULL, amount->of, qos_per_job);
    if (!reason)
        reason = over(&qos->max_per_user, &no_limit, alone ? NULL : user_use(limits, owner)->of,
                      amount->of, qos_per_user);
    return reason;
}

/* Limits of one row of the tree. */
static const char *over_row(const struct slurm_limits *limits, const struct slurm_qos *qos,
                            uint32_t row, const struct slurm_amount *amount, int64_t now_ns,
                            bool alone)
{
    const struct slurm_assoc_limits *own = &limits->of_assoc[row];
    const struct slurm_use *use = &limits->assoc_use[row];
    const char *reason =
        over(&own->grp, qos ? &qos->grp : &no_limit, alone ? NULL : use->of, amount->of, assoc_grp);
    if (!reason && is_set(&own->grp_run_mins)) {
        int64_t asked[RESOURCES], used[RESOURCES];
        asked_minutes(amount, asked);
        used_minutes(use, now_ns, used);
        reason = over(&own->grp_run_mins, qos ? &qos->grp_run_mins : &no_limit, alone ? NULL : used,
                      asked, assoc_run_mins);
    }
    return reason;
}

static const char *over_all(const struct slurm_limits *limits, struct slurm_owner owner,
                            const struct slurm_amount *amount, int64_t now_ns, bool alone)
{
    const char *reason = over_qos(limits, owner, amount, now_ns, alone);
    const struct slurm_qos *qos = qos_of(limits, owner);
    for (uint32_t row = owner.assoc; !reason && row != ASSOC_NONE;
         row = limits->tree->rows[row].parent) {
        reason = over_row(limits, qos, row, amount, now_ns, alone);
        if (!reason && row == owner.assoc)
            reason = over(&limits->of_assoc[row].max_per_job, qos ? &qos->max_per_job : &no_limit,
                          NULL, amount->of, assoc_per_job);
    }
    return reason;
}

const char *slurm_limits_refuse(const struct slurm_limits *limits, struct slurm_owner owner,
                                const struct slurm_amount *amount)
{
    const struct slurm_qos *qos = qos_of(limits, owner);
    if (!limits->spec->enforce_limits || !qos || !qos->deny_on_limit) return NULL;
    return over_all(limits, owner, amount, 0, true);
}

const char *slurm_limits_over(const struct slurm_limits *limits, struct slurm_owner owner,
                              const struct slurm_amount *amount, int64_t now_ns)
{
    if (!limits->spec->enforce_limits) return NULL;
    return over_all(limits, owner, amount, now_ns, false);
}

static bool charge_room(struct slurm_limits *limits, uint32_t live)
{
    if (live < limits->charge_capacity) return true;
    uint32_t capacity = limits->charge_capacity ? limits->charge_capacity : 64;
    while (capacity <= live) capacity *= 2;
    struct slurm_charge *charges = realloc(limits->charges, capacity * sizeof *charges);
    if (!charges) return false;
    for (uint32_t i = limits->charge_capacity; i < capacity; i++) charges[i].charged = false;
    limits->charges = charges;
    limits->charge_capacity = capacity;
    return true;
}

static void use_add(struct slurm_use *use, const struct slurm_charge *charge, int sign)
{
    use->jobs += sign;
    ASSERT(use->jobs >= 0);
    for (int r = 0; r < RESOURCES; r++) {
        use->of[r] += sign * charge->amount.of[r];
        use->ends[r] += (int128)(sign * charge->amount.of[r]) * charge->end_ns;
    }
}

static void charge_apply(struct slurm_limits *limits, const struct slurm_charge *charge, int sign)
{
    const struct slurm_owner owner = charge->owner;
    if (qos_of(limits, owner)) {
        use_add(&limits->qos_use[owner.qos], charge, sign);
        use_add(user_use(limits, owner), charge, sign);
    }
    for (uint32_t row = owner.assoc; row != ASSOC_NONE; row = limits->tree->rows[row].parent)
        use_add(&limits->assoc_use[row], charge, sign);
}

bool slurm_limits_start(struct slurm_limits *limits, uint32_t live, struct slurm_owner owner,
                        const struct slurm_amount *amount, int64_t now_ns)
{
    if (!charge_room(limits, live)) return false;
    struct slurm_charge *charge = &limits->charges[live];
    ASSERT(!charge->charged);
    *charge = (struct slurm_charge){ .owner = owner,
                                     .amount = *amount,
                                     .end_ns = time_add(now_ns, amount->limit_ns),
                                     .charged = true };
    charge_apply(limits, charge, 1);
    return true;
}

void slurm_limits_end(struct slurm_limits *limits, uint32_t live)
{
    if (live >= limits->charge_capacity || !limits->charges[live].charged) return;
    charge_apply(limits, &limits->charges[live], -1);
    limits->charges[live].charged = false;
}
