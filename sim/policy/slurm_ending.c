/* slurm_ending.c - jobs that a user stops take a while to be gone: their nodes are COMPLETING until then. See
 * slurm_state.h.
 *
 * The engine gives the nodes back at once; the picture keeps what the job held until it is gone, so that nobody else is placed
 * there. A job that ends by itself is gone at once, as in the recordings; one that is preempted is stopped
 * by slurm_evict.c when it is gone. */
#include "policy/slurm_state.h"

#include <stdlib.h>

static bool part_push(struct slurm *slurm, struct slurm_ending ending)
{
    if (slurm->ending_count == slurm->ending_capacity) {
        const uint32_t capacity = slurm->ending_capacity ? 2 * slurm->ending_capacity : 32;
        struct slurm_ending *endings = realloc(slurm->endings, capacity * sizeof *endings);
        if (!endings) return false;
        slurm->endings = endings;
        slurm->ending_capacity = capacity;
    }
    slurm->endings[slurm->ending_count++] = ending;
    return true;
}

/* Parts of the job whose end was noted last stand behind those of the endings, and are thrown away if it was gone at
 * once. */
void slurm_ending_note(struct slurm *slurm, const struct policy_view *view, uint32_t live)
{
    slurm->ending_count = slurm->ending_kept;
    slurm->ending_live = live;
    if (slurm->jobs[live].suspended) return;
    for (uint32_t row = view->live->attempts[live].first_grant; row != GRANT_NONE;
         row = view->cluster->grants[row].next) {
        const struct grant *grant = &view->cluster->grants[row];
        const struct part part = {
            .node = grant->node,
            .mask = grant->mask,
            .gpus = 0,
            .share_units = grant->share_units,
            .cores_milli = grant->cores_milli,
            .slice_first = grant->slice_first,
            .slice_count = grant->slice_count,
            .memory_bytes = grant->memory_bytes,
        };
        slurm->out_of_memory |=
            !part_push(slurm, (struct slurm_ending){ .part = part, .until_ns = TIME_NEVER });
    }
}

void slurm_ending_keep(struct slurm *slurm, uint32_t live, int64_t until_ns)
{
    if (slurm->ending_live != live) return;
    for (uint32_t i = slurm->ending_kept; i < slurm->ending_count; i++)
        slurm->endings[i].until_ns = until_ns;
    slurm->ending_kept = slurm->ending_count;
    slurm->ending_live = LIVE_NONE;
}

void slurm_ending_drop(struct slurm *slurm)
{
    slurm->ending_count = slurm->ending_kept;
    slurm->ending_live = LIVE_NONE;
}

/* Nodes of jobs that are gone by now are read again. */
void slurm_ending_pass(struct slurm *slurm, int64_t now_ns)
{
    uint32_t kept = 0;
    slurm_ending_drop(slurm);
    for (uint32_t i = 0; i < slurm->ending_kept; i++) {
        const struct slurm_ending ending = slurm->endings[i];
        const uint64_t bit = UINT64_C(1) << (ending.part.node % 64);
        if (ending.until_ns > now_ns) {
            slurm->endings[kept++] = ending;
            continue;
        }
        slurm->dirty[ending.part.node / 64] |= bit;
        slurm->picture.completing[ending.part.node / 64] &= ~bit;
        slurm->event = slurm->changed = true;
    }
    slurm->ending_count = slurm->ending_kept = kept;
}

/* Puts them back into nodes that were just read; done[] says which. */
void slurm_ending_draw(struct slurm *slurm, const uint64_t *done)
{
    for (uint32_t i = 0; i < slurm->ending_kept; i++) {
        const struct part *part = &slurm->endings[i].part;
        if (!slurm_set_has(done, part->node)) continue;
        slurm_picture_take(&slurm->picture, part, 1);
        slurm->picture.completing[part->node / 64] |= UINT64_C(1) << (part->node % 64);
    }
    slurm_picture_keep(&slurm->picture);
}

int64_t slurm_ending_wake_ns(const struct slurm *slurm)
{
    int64_t wake_ns = TIME_NEVER;
    for (uint32_t i = 0; i < slurm->ending_kept; i++)
        if (slurm->endings[i].until_ns < wake_ns) wake_ns = slurm->endings[i].until_ns;
    return wake_ns;
}
