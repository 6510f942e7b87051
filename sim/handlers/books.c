/* books.c - see books.h. */
#include "handlers/books.h"

#include "base/assert.h"
#include "handlers/timing.h"
#include "ledger/split.h"

/* So many units in a cell: to be paid from, or into. */
struct purse {
    uint32_t cell;
    int64_t units;
};

/* Moves what the purses of `from` hold into those of `to`; both hold the same sum. */
static void pay(struct run *run, struct purse *from, size_t from_count, struct purse *to,
                size_t to_count, int64_t at_ns)
{
    size_t f = 0, t = 0;
    while (f < from_count && t < to_count) {
        if (from[f].units == 0) {
            f++;
            continue;
        }
        if (to[t].units == 0) {
            t++;
            continue;
        }
        const int64_t units = from[f].units < to[t].units ? from[f].units : to[t].units;
        ASSERT(units > 0);
        ledger_move(&run->ledger, from[f].cell, to[t].cell, units, at_ns);
        from[f].units -= units;
        to[t].units -= units;
    }
    for (; f < from_count; f++) ASSERT(from[f].units == 0);
    for (; t < to_count; t++) ASSERT(to[t].units == 0);
}

static uint32_t cell_of(const struct run *run, uint32_t live, enum account account)
{
    return ledger_cell(account, run->live.jobs[live].size_class);
}

int64_t books_held_units(const struct run *run, uint32_t live)
{
    const struct attempt *attempt = &run->live.attempts[live];
    return attempt->held * UNITS_PER_GPU + attempt->share_units;
}

int64_t books_asked_units(const struct run *run, uint32_t live)
{
    const struct demand *demand = demand_of_live(run, live);
    const int64_t held = books_held_units(run, live);
    const int64_t asked = demand->gpus * UNITS_PER_GPU + demand->share_units;
    return demand->flexible || asked > held ? held : asked;
}

uint32_t books_asked_gpus(const struct run *run, uint32_t live)
{
    const struct demand *demand = demand_of_live(run, live);
    const uint32_t held = run->live.attempts[live].held;
    return demand->flexible || demand->gpus > held ? held : demand->gpus;
}

static int64_t unused_units(const struct run *run, uint32_t live)
{
    return books_held_units(run, live) - books_asked_units(run, live);
}

static void levels_at(const struct run *run, uint32_t live, const struct tempo *tempo,
                      int64_t levels[ACC_HELD_END])
{
    const struct step_shares shares = { .intra = tempo->intra,
                                        .inter = tempo->inter,
                                        .contention = tempo->contention,
                                        .data = tempo->data,
                                        .straggler = tempo->straggler,
                                        .bubble = tempo->bubble,
                                        .checkpoint = tempo->checkpoint,
                                        .overhead_of_rest = run->overhead_of_rest };
    step_split(books_asked_units(run, live), books_held_units(run, live), &shares, levels);
}

void books_levels(const struct run *run, uint32_t live, int64_t levels[ACC_HELD_END])
{
    levels_at(run, live, &run->live.attempts[live].tempo, levels);
}

static struct stretch stretch_at(const struct run *run, uint32_t live, uint32_t past,
                                 int64_t since_ns)
{
    const struct cycle *cycle = &run->live.cycles[live];
    struct stretch stretch = { .from_ns = cycle->tempo_ns, .to_ns = run->now_ns, .past = past };
    const struct tempo *tempo = &run->live.attempts[live].tempo;
    if (past != PAST_NONE) {
        const struct past_tempo *row = &run->live.past[past];
        tempo = &row->tempo;
        stretch.from_ns = row->from_ns;
        stretch.to_ns =
            row->next != PAST_NONE ? run->live.past[row->next].from_ns : cycle->tempo_ns;
    }
    if (stretch.from_ns < since_ns) stretch.from_ns = since_ns;
    levels_at(run, live, tempo, stretch.levels);
    return stretch;
}

struct stretch books_stretch_first(const struct run *run, uint32_t live, int64_t since_ns)
{
    uint32_t past = run->live.cycles[live].first_past;
    struct stretch stretch = stretch_at(run, live, past, since_ns);
    while (stretch.past != PAST_NONE && stretch.to_ns <= since_ns)
        stretch = stretch_at(run, live, run->live.past[stretch.past].next, since_ns);
    return stretch;
}

bool books_stretch_next(const struct run *run, uint32_t live, struct stretch *stretch)
{
    if (stretch->past == PAST_NONE) return false;
    *stretch = stretch_at(run, live, run->live.past[stretch->past].next, stretch->to_ns);
    return true;
}

/* Start-up turns into work, or back (when the attempt ends before): all accounts but unused. */
static void turn_startup(struct run *run, uint32_t live, bool back)
{
    int64_t levels[ACC_HELD_END];
    books_levels(run, live, levels);
    const int64_t at_ns = run->live.attempts[live].work_start_ns;
    const uint32_t startup = cell_of(run, live, ACC_STARTUP);
    for (uint32_t account = 0; account < ACC_HELD_END; account++) {
        if (account == ACC_UNUSED) continue;
        const uint32_t cell = cell_of(run, live, account);
        ledger_move(&run->ledger, back ? cell : startup, back ? startup : cell, levels[account],
                    at_ns);
    }
}

void books_start(struct run *run, uint32_t live)
{
    const struct attempt *attempt = &run->live.attempts[live];
    const uint32_t unused = cell_of(run, live, ACC_UNUSED);
    ledger_move(&run->ledger, CELL_FREE, unused, unused_units(run, live), run->now_ns);
    const uint32_t startup = cell_of(run, live, ACC_STARTUP);
    if (attempt->work_start_ns > run->now_ns) {
        ledger_move(&run->ledger, CELL_FREE, startup, books_asked_units(run, live), run->now_ns);
        turn_startup(run, live, false);
        return;
    }
    int64_t levels[ACC_HELD_END];
    books_levels(run, live, levels);
    for (uint32_t account = 0; account < ACC_HELD_END; account++)
        if (account != ACC_UNUSED)
            ledger_move(&run->ledger, CELL_FREE, cell_of(run, live, account), levels[account],
                        run->now_ns);
}

int128 books_finish(struct run *run, uint32_t live)
{
    if (run->live.cycles[live].cycle_ns == 0) return 0;
    const uint32_t checkpoint = cell_of(run, live, ACC_CHECKPOINT);
    const uint32_t compute = cell_of(run, live, ACC_COMPUTE);
    int128 moved = 0;
    struct stretch stretch = books_stretch_first(run, live, timing_last_durable_ns(run, live));
    do {
        const int64_t units = stretch.levels[ACC_CHECKPOINT];
        ledger_move(&run->ledger, checkpoint, compute, units, stretch.from_ns);
        if (stretch.past != PAST_NONE)
            ledger_move(&run->ledger, compute, checkpoint, units, stretch.to_ns);
        moved += (int128)units * (stretch.to_ns - stretch.from_ns);
    } while (books_stretch_next(run, live, &stretch));
    return moved;
}

int128 books_lose(struct run *run, uint32_t live, int64_t durable_ns)
{
    const uint32_t lost = cell_of(run, live, ACC_LOST);
    if (run->now_ns < run->live.attempts[live].work_start_ns) {
        turn_startup(run, live, true);
        ledger_move(&run->ledger, cell_of(run, live, ACC_STARTUP), lost,
                    books_asked_units(run, live), run->now_ns);
        return 0;
    }
    struct stretch stretch = books_stretch_first(run, live, durable_ns);
    do {
        for (uint32_t account = 0; account < ACC_HELD_END; account++) {
            if (account == ACC_UNUSED || account == ACC_LOST) continue;
            const uint32_t cell = cell_of(run, live, account);
            ledger_move(&run->ledger, cell, lost, stretch.levels[account], stretch.from_ns);
            if (stretch.past != PAST_NONE) /* from here on in the accounts of the next tempo */
                ledger_move(&run->ledger, lost, cell, stretch.levels[account], stretch.to_ns);
        }
    } while (books_stretch_next(run, live, &stretch));
    return (int128)books_asked_units(run, live) * (run->now_ns - durable_ns);
}

enum { RETURN_CELLS = 3 };

static void returned_purses(struct returned returned, struct purse to[RETURN_CELLS])
{
    to[0] = (struct purse){ CELL_FREE, returned.free };
    to[1] = (struct purse){ CELL_DRAINING, returned.draining };
    to[2] = (struct purse){ CELL_DOWN, returned.down };
}

void books_return_working(struct run *run, uint32_t live, struct returned returned,
                          bool checkpoint_is_compute)
{
    int64_t levels[ACC_HELD_END];
    books_levels(run, live, levels);
    if (checkpoint_is_compute) {
        levels[ACC_COMPUTE] += levels[ACC_CHECKPOINT];
        levels[ACC_CHECKPOINT] = 0;
    }
    struct purse from[ACC_HELD_END], to[RETURN_CELLS];
    for (uint32_t account = 0; account < ACC_HELD_END; account++)
        from[account] = (struct purse){ cell_of(run, live, account), levels[account] };
    returned_purses(returned, to);
    pay(run, from, ACC_HELD_END, to, RETURN_CELLS, run->now_ns);
}

/* Broken parts are taken from lost first, then from unused; the rest is what is still held. */
static void hung_units(const struct run *run, uint32_t live, struct holding broken, int64_t *lost,
                       int64_t *unused)
{
    *lost = books_asked_units(run, live) - broken.gpus * UNITS_PER_GPU - broken.share_units;
    *unused = unused_units(run, live);
    if (*lost < 0) {
        *unused += *lost;
        *lost = 0;
    }
}

static struct holding broken_of(const struct run *run, uint32_t live)
{
    return (struct holding){ run->live.attempts[live].broken,
                             run->live.cycles[live].broken_share_units };
}

void books_return_lost(struct run *run, uint32_t live, struct returned returned)
{
    struct purse from[2] = { { cell_of(run, live, ACC_LOST), 0 },
                             { cell_of(run, live, ACC_UNUSED), 0 } };
    hung_units(run, live, broken_of(run, live), &from[0].units, &from[1].units);
    struct purse to[RETURN_CELLS];
    returned_purses(returned, to);
    pay(run, from, 2, to, RETURN_CELLS, run->now_ns);
}

void books_broken(struct run *run, uint32_t live, struct holding broken)
{
    int64_t lost_was, unused_was, lost_is, unused_is;
    hung_units(run, live, broken_of(run, live), &lost_was, &unused_was);
    hung_units(run, live, broken, &lost_is, &unused_is);
    const uint32_t lost = cell_of(run, live, ACC_LOST), unused = cell_of(run, live, ACC_UNUSED);
    if (lost_is + unused_is < lost_was + unused_was) {
        ledger_move(&run->ledger, lost, CELL_DOWN, lost_was - lost_is, run->now_ns);
        ledger_move(&run->ledger, unused, CELL_DOWN, unused_was - unused_is, run->now_ns);
    } else {
        ledger_move(&run->ledger, CELL_DOWN, lost, lost_is - lost_was, run->now_ns);
        ledger_move(&run->ledger, CELL_DOWN, unused, unused_is - unused_was, run->now_ns);
    }
}

void books_claim(struct run *run, uint32_t live, int64_t units)
{
    ledger_move(&run->ledger, CELL_FREE, cell_of(run, live, ACC_HELD), units, run->now_ns);
}

void books_unclaim(struct run *run, uint32_t live, int64_t units)
{
    ledger_move(&run->ledger, cell_of(run, live, ACC_HELD), CELL_FREE, units, run->now_ns);
}

void books_return_claimed(struct run *run, uint32_t live, struct returned returned)
{
    struct purse from = { cell_of(run, live, ACC_HELD), books_held_units(run, live) };
    struct purse to[RETURN_CELLS];
    returned_purses(returned, to);
    pay(run, &from, 1, to, RETURN_CELLS, run->now_ns);
}

/* All that an attempt holds moves between its accounts while it works and `held`. */
static void stand_still(struct run *run, uint32_t live, bool stops)
{
    const uint32_t held = cell_of(run, live, ACC_HELD);
    int64_t levels[ACC_HELD_END];
    books_levels(run, live, levels);
    for (uint32_t account = 0; account < ACC_HELD_END; account++) {
        const uint32_t cell = cell_of(run, live, account);
        ledger_move(&run->ledger, stops ? cell : held, stops ? held : cell, levels[account],
                    run->now_ns);
    }
}

void books_suspend(struct run *run, uint32_t live)
{
    if (run->now_ns >= run->live.attempts[live].work_start_ns) {
        stand_still(run, live, true);
        return;
    }
    const uint32_t held = cell_of(run, live, ACC_HELD);
    books_stop_startup(run, live);
    ledger_move(&run->ledger, cell_of(run, live, ACC_STARTUP), held, books_asked_units(run, live),
                run->now_ns);
    ledger_move(&run->ledger, cell_of(run, live, ACC_UNUSED), held, unused_units(run, live),
                run->now_ns);
}

void books_resume(struct run *run, uint32_t live)
{
    stand_still(run, live, false);
}

void books_lose_suspended(struct run *run, uint32_t live)
{
    const uint32_t held = cell_of(run, live, ACC_HELD);
    ledger_move(&run->ledger, held, cell_of(run, live, ACC_LOST), books_asked_units(run, live),
                run->now_ns);
    ledger_move(&run->ledger, held, cell_of(run, live, ACC_UNUSED), unused_units(run, live),
                run->now_ns);
}

void books_stop_startup(struct run *run, uint32_t live)
{
    turn_startup(run, live, true);
}

void books_tempo(struct run *run, uint32_t live, const struct tempo *tempo)
{
    struct attempt *attempt = &run->live.attempts[live];
    const bool in_startup = run->now_ns < attempt->work_start_ns;
    if (in_startup) turn_startup(run, live, true);
    int64_t was[ACC_HELD_END], is[ACC_HELD_END];
    books_levels(run, live, was);
    attempt->tempo = *tempo;
    if (in_startup) {
        turn_startup(run, live, false);
        return;
    }
    books_levels(run, live, is);
    struct purse from[ACC_HELD_END], to[ACC_HELD_END];
    for (uint32_t account = 0; account < ACC_HELD_END; account++) {
        const int64_t more = is[account] - was[account];
        from[account] = (struct purse){ cell_of(run, live, account), more < 0 ? -more : 0 };
        to[account] = (struct purse){ cell_of(run, live, account), more > 0 ? more : 0 };
    }
    pay(run, from, ACC_HELD_END, to, ACC_HELD_END, run->now_ns);
}

void books_return_startup(struct run *run, uint32_t live, struct returned returned)
{
    struct purse from[2] = { { cell_of(run, live, ACC_STARTUP), books_asked_units(run, live) },
                             { cell_of(run, live, ACC_UNUSED), unused_units(run, live) } };
    struct purse to[RETURN_CELLS];
    returned_purses(returned, to);
    pay(run, from, 2, to, RETURN_CELLS, run->now_ns);
}

void books_idle(struct run *run, struct idle was, struct idle is)
{
    const struct {
        uint32_t cell;
        int64_t was, is;
    } cells[] = {
        { CELL_FREE, was.free, is.free },
        { CELL_DRAINING, was.draining, is.draining },
        { CELL_DOWN, was.down, is.down },
    };
    struct purse from[RETURN_CELLS], to[RETURN_CELLS];
    for (int i = 0; i < RETURN_CELLS; i++) {
        const int64_t more = cells[i].is - cells[i].was;
        from[i] = (struct purse){ cells[i].cell, more < 0 ? -more : 0 };
        to[i] = (struct purse){ cells[i].cell, more > 0 ? more : 0 };
    }
    pay(run, from, RETURN_CELLS, to, RETURN_CELLS, run->now_ns);
}

int128 books_cut(struct run *run, uint32_t live, int64_t durable_ns)
{
    if (run->now_ns < run->live.attempts[live].work_start_ns) {
        turn_startup(run, live, true);
        return 0;
    }
    const struct replica_result *result = run->result;
    int128 at_risk = 0;
    struct stretch stretch = books_stretch_first(run, live, durable_ns);
    do {
        const int64_t from_ns =
            stretch.from_ns > result->window_start_ns ? stretch.from_ns : result->window_start_ns;
        const int64_t to_ns =
            stretch.to_ns < result->window_end_ns ? stretch.to_ns : result->window_end_ns;
        if (to_ns > from_ns) at_risk += (int128)stretch.levels[ACC_COMPUTE] * (to_ns - from_ns);
    } while (books_stretch_next(run, live, &stretch));
    return at_risk;
}

void books_causes(struct run *run, const struct causes *causes)
{
    enum { FREE_ACCOUNTS = ACC_FREE_END - ACC_NO_DEMAND };
    struct purse from[FREE_ACCOUNTS], to[FREE_ACCOUNTS];
    for (int i = 0; i < FREE_ACCOUNTS; i++) {
        const enum account account = ACC_NO_DEMAND + i;
        const uint32_t cell = ledger_cell(account, CLASS_NONE);
        const int64_t more = (int64_t)causes->units[account] - run->ledger.level[cell];
        from[i] = (struct purse){ cell, more < 0 ? -more : 0 };
        to[i] = (struct purse){ cell, more > 0 ? more : 0 };
    }
    pay(run, from, FREE_ACCOUNTS, to, FREE_ACCOUNTS, run->now_ns);
}
