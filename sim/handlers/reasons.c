/* reasons.c - see reasons.h. */
#include "handlers/reasons.h"

#include "base/assert.h"
#include "base/bits.h"
#include "handlers/books.h"
#include "handlers/run.h"

#include <stdlib.h>
#include <string.h>

enum { CAUSE_NONE = UINT8_MAX, ROWS_A_PASS = 256 };

const char reasons_restart[] = "restart";
const char reasons_blocked[] = "blocked";
const char reasons_suspended[] = "suspended";

bool reasons_init(struct run *run)
{
    if (!run->keep_detail) return true;
    struct reasons *reasons = &run->reasons;
    const uint32_t classes = run->shared->requests.class_count;
    reasons->cause = ARENA_ARRAY(run->arena, uint8_t, classes);
    reasons->told = ARENA_ARRAY(run->arena, uint64_t, classes);
    reasons->judged_at = ARENA_ARRAY(run->arena, uint64_t, classes);
    reasons->sick = ARENA_ARRAY(run->arena, uint32_t, run->cluster.nodes);
    reasons->sick_stale = true;
    if (!reasons->cause || !reasons->told || !reasons->judged_at || !reasons->sick) return false;
    memset(reasons->cause, CAUSE_NONE, classes);
    return true;
}

void reasons_clear(struct reasons *reasons)
{
    free(reasons->words);
    *reasons = (struct reasons){ 0 };
}

static void append(struct run *run, struct log *log, const void *row)
{
    if (!log_append(log, row)) run->out_of_memory = true;
}

/* ---- what a request lacks -------------------------------------------------------------------- */

/* What a pass knows before it looks at a request. */
struct lookout {
    uint64_t free_gpus, out_gpus;
    enum wait_cause held_back; /* of a request that fits                                          */
    bool has_all;              /* with_all is made: only where a request does not fit             */
    uint32_t with_all[LIMIT_GPUS_PER_SERVER + 1]; /* nodes by free GPUs, were no node out         */
};

static struct lookout look_out(const struct run *run)
{
    const int64_t out_units = run->ledger.level[CELL_DRAINING] + run->ledger.level[CELL_DOWN];
    static const enum wait_cause held_back[] = {
        [KEPT_BY_POLICY] = WAIT_POLICY,
        [KEPT_BY_ORDER] = WAIT_PRIORITY,
        [KEPT_BY_RESERVATION] = WAIT_RESERVATION,
    };
    return (struct lookout){
        .free_gpus = run->cluster.index.free_gpus,
        .out_gpus = (uint64_t)(out_units / UNITS_PER_GPU),
        .held_back = held_back[run->policy->kept_by],
    };
}

static void list_sick(struct reasons *reasons, const struct cluster *cluster)
{
    reasons->sick_stale = false;
    reasons->sick_count = 0;
    for (uint32_t node = 0; node < cluster->nodes; node++)
        if (cluster->outs[node] || cluster->broken_mask[node])
            reasons->sick[reasons->sick_count++] = node;
}

static void count_all(struct reasons *reasons, const struct cluster *cluster,
                      struct lookout *lookout)
{
    lookout->has_all = true;
    memcpy(lookout->with_all, cluster->index.with_free, sizeof lookout->with_all);
    if (reasons->sick_stale) list_sick(reasons, cluster);
    for (uint32_t i = 0; i < reasons->sick_count; i++) {
        const uint32_t node = reasons->sick[i];
        const struct idle idle = cluster_node_idle(cluster, node);
        const int counted = cluster_node_free(cluster, node);
        if (counted != FREE_OUT) lookout->with_all[counted]--;
        lookout->with_all[(idle.free + idle.draining + idle.down) / CLUSTER_UNITS]++;
    }
}

/* Of a request that asks for no whole GPU: cores alone, or parts of one GPU. A part that is free somewhere but
 * not for this job lies beside parts of others. */
static enum wait_cause cause_of_part(const struct run *run, const struct lookout *lookout,
                                     const struct demand *demand, enum wait_cause fits)
{
    const uint64_t units =
        lookout->free_gpus * (uint64_t)CLUSTER_UNITS + run->cluster.share_free_units;
    if (demand->share_units == 0 || lookout->free_gpus > 0) return fits;
    return demand->share_units > units ? WAIT_RESOURCES : WAIT_FRAGMENTED;
}

/* The binding dimension of a request whose GPUs are free: with enough of it alone, would nodes be found? Every node with
 * the GPUs is looked at, as the search did that found none. */
static enum wait_cause host_lack(const struct cluster *cluster, const struct demand *demand)
{
    const uint32_t gpus = demand->per_node;
    const uint64_t cores_milli = (uint64_t)gpus * demand->cores_milli_per_gpu,
                   memory_bytes = gpus * demand->memory_bytes_per_gpu;
    uint32_t with_cores = 0, with_memory = 0;
    if (!cluster->cores_milli_free || gpus == 0) return WAIT_HOST;
    for (uint32_t f = gpus; f <= cluster->gpus_per_node; f++) {
        const struct bitset *set = &cluster->index.by_free[f];
        for (uint32_t node = bitset_next(set, 0); node != BITSET_NONE;
             node = bitset_next(set, node + 1)) {
            with_cores += cores_milli <= cluster->cores_milli_free[node];
            with_memory += memory_bytes <= cluster->memory_free[node];
        }
    }
    const bool no_cores = with_cores < demand->nodes, no_memory = with_memory < demand->nodes;
    if (no_cores == no_memory) return WAIT_HOST;
    return no_cores ? WAIT_CORES : WAIT_MEMORY;
}

/* What its hosts lack is judged once until something is released, as blocked_at is. */
static enum wait_cause cause_of_starved(struct run *run, uint32_t request_class)
{
    const uint64_t blocked_at = run->view.blocked_at[request_class];
    const uint8_t last = run->reasons.cause[request_class];
    if (run->reasons.judged_at[request_class] == blocked_at && last >= WAIT_CORES &&
        last <= WAIT_HOST)
        return (enum wait_cause)last;
    run->reasons.judged_at[request_class] = blocked_at;
    return host_lack(&run->cluster, &run->demands[request_class]);
}

static enum wait_cause cause_of(struct run *run, struct lookout *lookout,
                                const struct waiting_head *head)
{
    const struct cluster *cluster = &run->cluster;
    const struct demand *demand = &run->demands[head->request_class];
    const bool is_starved = run->view.blocked_at[head->request_class] == cluster->releases + 1;
    const enum wait_cause fits =
        is_starved ? cause_of_starved(run, head->request_class) : lookout->held_back;
    if (demand->gpus == 0) return cause_of_part(run, lookout, demand, fits);
    if (head->gpus <= lookout->free_gpus &&
        demand_fits(demand, cluster->index.with_free, cluster->gpus_per_node))
        return fits;
    if (lookout->out_gpus > 0 && head->gpus <= lookout->free_gpus + lookout->out_gpus) {
        if (!lookout->has_all) count_all(&run->reasons, cluster, lookout);
        if (demand_fits(demand, lookout->with_all, cluster->gpus_per_node)) return WAIT_DOWN;
    }
    return head->gpus <= lookout->free_gpus ? WAIT_FRAGMENTED : WAIT_RESOURCES;
}

/* The first job that ever waits with this request. */
static void describe_request(struct run *run, uint32_t request_class)
{
    const struct demand *demand = &run->demands[request_class];
    const struct request *request = &run->shared->requests.classes[request_class];
    const struct request_row row = { .request = request_class,
                                     .gpus = demand->gpus,
                                     .share_units = demand->share_units,
                                     .held = demand->held,
                                     .nodes = demand->nodes,
                                     .per_node = demand->per_node,
                                     .nodes_max = demand->nodes_max,
                                     .cores = request->cores,
                                     .memory_bytes = request->memory_bytes };
    append(run, &run->result->requests, &row);
}

static void note_causes(struct run *run)
{
    struct lookout lookout = look_out(run);
    for (uint32_t h = 0; h < run->waiting.head_count; h++) {
        const struct waiting_head *head = &run->waiting.heads[h];
        uint8_t *last = &run->reasons.cause[head->request_class];
        const enum wait_cause cause = cause_of(run, &lookout, head);
        if (*last == (uint8_t)cause) continue;
        const bool is_first = *last == CAUSE_NONE;
        if (is_first) describe_request(run, head->request_class);
        *last = (uint8_t)cause;
        const struct cause_row row = { .from_ns = run->now_ns,
                                       .request = head->request_class,
                                       .free_gpus = (uint32_t)lookout.free_gpus,
                                       .out_gpus = (uint32_t)lookout.out_gpus,
                                       .cause = (uint8_t)cause };
        /* A job of no length makes a second pass at its instant: what that pass leaves is what counts. */
        struct log *causes = &run->result->causes;
        const uint64_t told = run->reasons.told[row.request];
        if (!is_first && LOG_ITEMS(causes, struct cause_row)[told].from_ns == run->now_ns) {
            LOG_ITEMS(causes, struct cause_row)[told] = row;
            continue;
        }
        run->reasons.told[row.request] = causes->count;
        append(run, causes, &row);
    }
}

const char *reasons_never_fits(const struct run *run, uint32_t live)
{
    const struct demand *demand = &run->demands[run->live.jobs[live].request_class];
    if (demand->gpus > run->cluster.gpus) return "more GPUs than the layout has";
    if (demand->per_node > run->cluster.gpus_per_node) return "more GPUs in one node than any has";
    if (demand->nodes > run->cluster.nodes) return "more nodes than the layout has";
    return "no node has these GPUs with the cores and memory beside them";
}

/* ---- what holds one job ---------------------------------------------------------------------- */

static bool grow_words(struct run *run)
{
    struct reasons *reasons = &run->reasons;
    if (reasons->word_capacity >= run->live.capacity) return true;
    const uint32_t capacity = run->live.capacity;
    struct job_word *words = realloc(reasons->words, capacity * sizeof *words);
    if (!words) {
        run->out_of_memory = true;
        return false;
    }
    memset(words + reasons->word_capacity, 0, (capacity - reasons->word_capacity) * sizeof *words);
    reasons->words = words;
    reasons->word_capacity = capacity;
    return true;
}

void reasons_word(struct run *run, uint32_t live, const char *word)
{
    if (!run->keep_detail || !grow_words(run)) return;
    struct job_word *last = &run->reasons.words[live];
    const uint32_t serial = run->live.jobs[live].serial;
    if (last->serial != serial) *last = (struct job_word){ .serial = serial };
    if (last->word == word || (last->word && word && !strcmp(last->word, word))) return;
    last->word = word;
    const struct word_row row = { .from_ns = run->now_ns, .serial = serial, .word = word };
    append(run, &run->result->words, &row);
}

void reasons_waits(struct run *run, uint32_t live)
{
    struct reasons *reasons = &run->reasons;
    if (!run->keep_detail || !run->policy->reason || reasons->fresh_count == WORDS_A_PASS) return;
    reasons->fresh[reasons->fresh_count++] = live;
}

static void ask_for(struct run *run, uint32_t live)
{
    if (run->live.jobs[live].state != LIVE_WAITING) return;
    reasons_word(run, live, run->policy->reason(run->policy_memory, &run->view, live));
}

/* Those that are new, and the next few waiting jobs in turn. */
static void ask_policy(struct run *run)
{
    struct reasons *reasons = &run->reasons;
    const uint32_t count = run->live.count;
    for (uint32_t i = 0; i < reasons->fresh_count; i++) ask_for(run, reasons->fresh[i]);
    reasons->fresh_count = 0;
    for (uint32_t rows = 0, asked = 0; rows < count && rows < ROWS_A_PASS && asked < WORDS_A_PASS;
         rows++) {
        if (reasons->next_asked >= count) reasons->next_asked = 0;
        const uint32_t live = reasons->next_asked++;
        if (run->live.jobs[live].state != LIVE_WAITING) continue;
        ask_for(run, live);
        asked++;
    }
}

void reasons_after_pass(struct run *run)
{
    if (!run->keep_detail || run->out_of_memory) return;
    if (run->waiting.jobs > 0) note_causes(run);
    if (run->policy->reason) ask_policy(run);
}
