/* kept.c - see kept.h. */
#include "handlers/kept.h"

#include "handlers/timing.h"

#include <stdlib.h>
#include <string.h>

static struct kept *kept_of(struct run *run, uint32_t live)
{
    if (live >= run->kept_room) {
        const uint32_t room = run->live.capacity;
        struct kept *kept = realloc(run->kept, room * sizeof *kept);
        if (!kept) {
            run->out_of_memory = true;
            return NULL;
        }
        memset(kept + run->kept_room, 0, (room - run->kept_room) * sizeof *kept);
        run->kept = kept;
        run->kept_room = room;
    }
    return &run->kept[live];
}

bool kept_any(const struct run *run, uint32_t live)
{
    return live < run->kept_room && run->kept[live].used;
}

/* The part of a stretch that lies in a part of the run, in ns. */
static int64_t inside_ns(const struct run *run, const struct stretch *stretch, int part)
{
    const int64_t edges[RUN_PARTS + 1] = { INT64_MIN, run->result->window_start_ns,
                                           run->result->window_end_ns, INT64_MAX };
    const int64_t from_ns = stretch->from_ns > edges[part] ? stretch->from_ns : edges[part];
    const int64_t to_ns = stretch->to_ns < edges[part + 1] ? stretch->to_ns : edges[part + 1];
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

void kept_add(struct run *run, uint32_t live, const struct stretch *stretch)
{
    struct kept *kept = run->keep_detail ? kept_of(run, live) : NULL;
    if (!kept) return;
    kept->used = true;
    for (int part = 0; part < RUN_PARTS; part++) {
        const int64_t ns = inside_ns(run, stretch, part);
        for (int account = 0; ns > 0 && account < ACC_HELD_END; account++)
            if (account != ACC_UNUSED)
                kept->unit_ns[part][account] += (int128)stretch->levels[account] * ns;
    }
}

void kept_rest(struct run *run, uint32_t live, int64_t stop_ns)
{
    const bool changed = run->live.cycles[live].first_past != PAST_NONE || kept_any(run, live);
    if (!run->keep_detail || !changed) return;
    struct stretch stretch = books_stretch_first(run, live, run->live.attempts[live].work_start_ns);
    do {
        if (stretch.to_ns > stop_ns) stretch.to_ns = stop_ns;
        kept_add(run, live, &stretch);
        if (stretch.to_ns == stop_ns) return;
    } while (books_stretch_next(run, live, &stretch));
}

void kept_fix(struct run *run, uint32_t live)
{
    if (!kept_any(run, live) || run->live.cycles[live].cycle_ns == 0) return;
    struct kept *kept = &run->kept[live];
    struct stretch stretch = books_stretch_first(run, live, timing_last_durable_ns(run, live));
    do
        for (int part = 0; part < RUN_PARTS; part++) {
            const int128 unit_ns =
                (int128)stretch.levels[ACC_CHECKPOINT] * inside_ns(run, &stretch, part);
            kept->unit_ns[part][ACC_CHECKPOINT] -= unit_ns;
            kept->unit_ns[part][ACC_COMPUTE] += unit_ns;
        }
    while (books_stretch_next(run, live, &stretch));
}

void kept_tell(struct run *run, uint32_t live)
{
    if (!kept_any(run, live)) return;
    const struct live_job *job = &run->live.jobs[live];
    struct kept *kept = &run->kept[live];
    for (int part = 0; part < RUN_PARTS; part++) {
        struct kept_row row = { .serial = job->serial,
                                .attempt = job->attempts - 1,
                                .part = (uint8_t)part };
        int128 sum = 0;
        for (int account = 0; account < ACC_HELD_END; account++)
            sum += row.unit_ns[account] = kept->unit_ns[part][account];
        /* One row at least says that the levels of the attempt do not tell. */
        if (sum == 0 && part != PART_WINDOW) continue;
        if (!log_append(&run->result->kept, &row)) run->out_of_memory = true;
    }
    *kept = (struct kept){ 0 };
}

void kept_clear(struct run *run)
{
    free(run->kept);
    run->kept = NULL;
    run->kept_room = 0;
}
