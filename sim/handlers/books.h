/* books.h - what the transitions write into the ledger for one attempt or node. */
#ifndef GPUPLAN_HANDLERS_BOOKS_H
#define GPUPLAN_HANDLERS_BOOKS_H

#include "handlers/run.h"
#include "ledger/causes.h"

#define CELL_FREE     ledger_cell(ACC_NO_DEMAND, CLASS_NONE)
#define CELL_DRAINING ledger_cell(ACC_DRAINING, CLASS_NONE)
#define CELL_DOWN     ledger_cell(ACC_DOWN, CLASS_NONE)

/* Level of each held account while the attempt works. */
void books_levels(const struct run *run, uint32_t live, int64_t levels[ACC_HELD_END]);

/* One of the tempos that a working attempt had; the last one ends at now. */
struct stretch {
    int64_t from_ns, to_ns;
    int64_t levels[ACC_HELD_END];
    uint32_t past; /* PAST_NONE: the one of now */
};

/* The first stretch, of those that are kept, that ends behind since_ns, cut to it; and the one that follows, false
 * behind the last. */
struct stretch books_stretch_first(const struct run *run, uint32_t live, int64_t since_ns);
bool books_stretch_next(const struct run *run, uint32_t live, struct stretch *stretch);

/* Free GPUs become start-up and, from work_start_ns on, the accounts of the step. */
void books_start(struct run *run, uint32_t live);

/* The attempt ends at now, having worked to the end: the last partial checkpoint cycle wrote no
 * checkpoint. Returns the units * ns moved from checkpoint to compute. Its GPUs end in to[]. */
int128 books_finish(struct run *run, uint32_t live);

/* Work behind durable_ns is lost, with the stalls inside it; from now on its GPUs are lost time.
 * During start-up nothing but the future is taken back. Returns the units * ns moved to lost. */
int128 books_lose(struct run *run, uint32_t live, int64_t durable_ns);

/* The attempt works at another tempo from now on, or from the end of its start-up; sets it. */
void books_tempo(struct run *run, uint32_t live, const struct tempo *tempo);

/* Units that an attempt holds; and those that it asked for, the rest is unused. */
int64_t books_held_units(const struct run *run, uint32_t live);
int64_t books_asked_units(const struct run *run, uint32_t live);
uint32_t books_asked_gpus(const struct run *run, uint32_t live); /* whole ones                   */

/* Free GPUs are held by a job that does not run: `units` more, from now on; and free again, before they
 * are counted as started. */
void books_claim(struct run *run, uint32_t live, int64_t units);
void books_unclaim(struct run *run, uint32_t live, int64_t units);

/* The attempt stands still from now on, what it did is kept; and goes on. */
void books_suspend(struct run *run, uint32_t live);
void books_resume(struct run *run, uint32_t live);

/* A job that stands still fails: its GPUs are lost time until that is noticed. */
void books_lose_suspended(struct run *run, uint32_t live);

/* Where GPUs that an attempt gives back go, in units. */
struct returned {
    int64_t free, draining, down;
};

/* GPUs of a finished attempt, or of a hung one (lost and unused), go where the nodes say. */
void books_return_working(struct run *run, uint32_t live, struct returned returned,
                          bool checkpoint_is_compute);
void books_return_lost(struct run *run, uint32_t live, struct returned returned);

/* GPUs of a job that does not run (account held) go where the nodes say. */
void books_return_claimed(struct run *run, uint32_t live, struct returned returned);

/* The attempt stops in its start-up and nothing is lost: what of the start-up lies ahead is taken back. */
void books_stop_startup(struct run *run, uint32_t live);
void books_return_startup(struct run *run, uint32_t live, struct returned returned);

/* The broken part of a hung attempt is now this much. */
void books_broken(struct run *run, uint32_t live, struct holding broken);

/* Idle GPUs of a node moved between free, draining and down. */
void books_idle(struct run *run, struct idle was, struct idle is);

/* The run ends while the attempt works. Returns the compute inside the window, units * ns, that is
 * behind durable_ns: at risk. */
int128 books_cut(struct run *run, uint32_t live, int64_t durable_ns);

/* Free GPUs stand in the accounts of their causes. */
void books_causes(struct run *run, const struct causes *causes);

#endif
