/* ledger.c - see ledger.h. */
#include "ledger/ledger.h"

#include "base/assert.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

bool ledger_init(struct ledger *ledger, int64_t capacity_units, int64_t bin_ns)
{
    *ledger = (struct ledger){ .bin_ns = bin_ns, .capacity_units = capacity_units };
    ledger->bin_capacity = 64;
    ledger->bins = calloc(ledger->bin_capacity, sizeof(struct ledger_bin *));
    if (!ledger->bins) return false;
    ledger->level[ledger_cell(ACC_NO_DEMAND, CLASS_NONE)] = capacity_units;
    return true;
}

void ledger_clear(struct ledger *ledger)
{
    for (uint32_t b = 0; ledger->bins && b < ledger->bin_capacity; b++) free(ledger->bins[b]);
    free(ledger->bins);
    *ledger = (struct ledger){ 0 };
}

static struct ledger_bin *bin_at(struct ledger *ledger, uint32_t bin)
{
    if (bin >= ledger->bin_capacity) {
        uint32_t capacity = ledger->bin_capacity;
        while (capacity <= bin) capacity *= 2;
        struct ledger_bin **bins = realloc(ledger->bins, capacity * sizeof *bins);
        if (!bins) return NULL;
        memset(&bins[ledger->bin_capacity], 0, (capacity - ledger->bin_capacity) * sizeof *bins);
        ledger->bins = bins;
        ledger->bin_capacity = capacity;
    }
    if (!ledger->bins[bin]) ledger->bins[bin] = calloc(1, sizeof(struct ledger_bin));
    return ledger->bins[bin];
}

static uint32_t bin_of(struct ledger *ledger, int64_t at_ns)
{
    const int64_t start = ledger->bin_now * ledger->bin_ns;
    if (at_ns < start || at_ns - start >= ledger->bin_ns) {
        ASSERT(at_ns / ledger->bin_ns < UINT32_MAX - 1);
        ledger->bin_now = (uint32_t)(at_ns / ledger->bin_ns);
    }
    return ledger->bin_now;
}

void ledger_move(struct ledger *ledger, uint32_t from, uint32_t to, int64_t units, int64_t at_ns)
{
    if (units == 0 || from == to) return;
    ASSERT(units > 0 && at_ns >= 0 && at_ns < TIME_NEVER);
    const uint32_t bin = bin_of(ledger, at_ns);
    struct ledger_bin *next = bin_at(ledger, bin + 1), *now = bin_at(ledger, bin);
    if (!now || !next) {
        ledger->out_of_memory = true;
        return;
    }
    const int64_t into_bin_ns = at_ns - (int64_t)bin * ledger->bin_ns;
    const int128 unit_ns = (int128)units * (ledger->bin_ns - into_bin_ns); /* no sum overflows */
#ifdef GPUPLAN_BREAK_LEDGER
    /* Test build only: one account forgets what it gives away, and the run must exit 3. */
    if (from != ledger_cell(ACC_COMPUTE, CLASS_1))
#endif
        now->part[from] -= unit_ns;
    now->part[to] += unit_ns;
    next->step[from] -= units;
    next->step[to] += units;
    ledger->level[from] -= units;
    ledger->level[to] += units;
}

/* Adds the integrals of one bin to the result. */
static void add_bin(struct replica_result *result, const int128 integral[LEDGER_CELLS],
                    uint32_t bin, bool in_window)
{
    for (uint32_t account = 0; account < ACCOUNTS; account++)
        for (uint32_t class = 0; class < CLASSES; class ++) {
            const int128 unit_ns = integral[ledger_cell(account, class)];
            result->bins[(uint64_t)bin * ACCOUNTS + account] += unit_ns;
            result->ledger_all[account][class] += unit_ns;
            if (in_window) result->ledger[account][class] += unit_ns;
        }
}

bool ledger_close(struct ledger *ledger, int64_t run_end_ns, struct replica_result *result)
{
    if (ledger->out_of_memory) return false;
    const uint32_t bins =
        (uint32_t)(run_end_ns / ledger->bin_ns + (run_end_ns % ledger->bin_ns != 0));
    result->bin_count = bins;
    result->bin_start_ns = calloc((size_t)bins + 1, sizeof *result->bin_start_ns);
    result->bins = calloc((size_t)bins * ACCOUNTS + 1, sizeof *result->bins);
    if (!result->bin_start_ns || !result->bins) return false;
    static const struct ledger_bin nothing;
    int64_t level[LEDGER_CELLS] = { [ACC_NO_DEMAND * CLASSES + CLASS_NONE] =
                                        ledger->capacity_units };
    int128 sum = 0;
    for (uint32_t b = 0; b < bins; b++) {
        const struct ledger_bin *bin =
            b < ledger->bin_capacity && ledger->bins[b] ? ledger->bins[b] : &nothing;
        const int64_t start = (int64_t)b * ledger->bin_ns, rest = run_end_ns - start;
        const int64_t cut = rest < ledger->bin_ns ? ledger->bin_ns - rest : 0; /* beyond the end */
        int128 integral[LEDGER_CELLS];
        for (uint32_t cell = 0; cell < LEDGER_CELLS; cell++) {
            level[cell] += bin->step[cell];
            integral[cell] = bin->part[cell] + (int128)level[cell] * ledger->bin_ns;
            if (cut) integral[cell] -= (int128)ledger->level[cell] * cut;
            sum += integral[cell];
        }
        result->bin_start_ns[b] = start;
        add_bin(result, integral, b,
                start >= result->window_start_ns && start < result->window_end_ns);
    }
    result->bin_start_ns[bins] = run_end_ns;
    result->closure_error = (int128)ledger->capacity_units * run_end_ns - sum;
    return true;
}
