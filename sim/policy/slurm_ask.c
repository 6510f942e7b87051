/* slurm_ask.c - see slurm.h. */
#include "policy/slurm.h"

#include "policy/slurm_state.h"

static int64_t simulation_ns(const struct slurm *slurm, int64_t clock_s)
{
    return clock_s * NS_PER_S - slurm->spec->clock_phase_ns;
}

struct slurm_test_only slurm_test_only(void *memory, const struct policy_view *view, uint32_t row,
                                       int64_t now_ns)
{
    struct slurm *slurm = memory;
    struct slurm_test_only answer = { .refused = "Requested node configuration is not available",
                                      .start_ns = TIME_NEVER };
    struct slurm_partitions list = slurm_partitions_of(slurm, view, row);
    struct slurm_entry entry = { .row = row };
    slurm_refresh(slurm, view);
    while (slurm_partitions_next(slurm, &list, &entry.partition)) {
        const struct slurm_need *need =
            slurm_need_in(slurm, view, view->requests->class_of_row[row], entry.partition);
        if (!need || !slurm_feasible_ever(slurm->chooser, need)) continue;
        answer.refused = NULL;
        const int64_t now_s = slurm_clock_s(slurm, now_ns);
        const uint64_t *nodes = slurm_partition_nodes(&slurm->nodes, entry.partition);
        for (uint32_t w = 0; w < slurm->nodes.words; w++)
            slurm->candidates[w] = nodes[w] & slurm->picture.usable[w];
        const char *reserved;
        slurm_unreserved(slurm, view, &entry, now_s, slurm_limit_s(slurm, view, &entry), &reserved);
        const struct slurm_how how = { .candidates = slurm->candidates, .backfill = true };
        const uint32_t table = slurm_vacancy_table_of(&slurm->vacancy, need);
        if (table == VACANT_NONE) break;
        struct slurm_crowd crowd = { .candidates = slurm->candidates,
                                     .table = table,
                                     .nodes_min = need->nodes_min };
        crowd.ready_s = slurm_vacancy_at(slurm, view, table, slurm->candidates, need->nodes_min);
        const struct slurm_when when = slurm_when(slurm, view, need, &how, now_s, &crowd);
        if (when.answer != SLURM_PLACED) continue;
        answer.start_ns = simulation_ns(slurm, when.start_s);
        answer.parts = slurm_parts(slurm->chooser, &answer.part_count);
        return answer;
    }
    return answer;
}
