/* test_wire.c - bytes of an all-reduce on the network against MODELS 2.11, and its bandwidth terms against its time. */
#include "tests/near.h"
#include "tests/rows.h"

#include "models/wire.h"

static const double S = 7.31e8, INSIDE = 370.8e9, NIC = 48.5e9;

static const struct {
    const char *name;
    uint32_t servers, gpus;
    enum allreduce_algorithm algorithm;
    double bytes; /* over S */
} cases[] = {
    { "flat ring, 4 x 8", 4, 32, ALLREDUCE_FLAT_RING, 2 * 31 / 32.0 },
    { "flat ring, 8 x 1", 8, 8, ALLREDUCE_FLAT_RING, 2 * 7 / 8.0 },
    { "hierarchical ring, 4 x 8", 4, 32, ALLREDUCE_HIER_RING, 2 * 3 / 4.0 },
    { "hierarchical tree, 3 x 4", 3, 12, ALLREDUCE_HIER_TREE, 1.5 },
    { "hierarchical tree, 16 x 2", 16, 32, ALLREDUCE_HIER_TREE, 2 },
    { "one server", 1, 8, ALLREDUCE_FLAT_RING, 0 },
};

static struct collective_place place_of(uint64_t row, double hop_s)
{
    const uint32_t g = cases[row].gpus / cases[row].servers;
    return (struct collective_place){ .servers = cases[row].servers,
                                      .gpus = cases[row].gpus,
                                      .gpus_per_server = g,
                                      .intra_bytes_per_s = INSIDE,
                                      .network_bytes_per_s = g * NIC,
                                      .intra_hop_s = hop_s,
                                      .network_hop_s = hop_s,
                                      .chunks = 1e15 };
}

static void bytes_are_those_of_the_table(void **state)
{
    const uint64_t row = rows_number(state);
    const struct collective_place place = place_of(row, 3e-6);
    CHECK_NEAR(allreduce_wire(&place, S, cases[row].algorithm).bytes, cases[row].bytes * S, 1e-12);
}

/* Without latency, and with the phases wholly overlapped, nothing but the bandwidth terms is left of the time. */
static void without_latency_the_wire_is_the_time(void **state)
{
    const uint64_t row = rows_number(state);
    const struct collective_place place = place_of(row, 0);
    if (place.servers == 1) return;
    const struct collective_choice choice = allreduce_of(&place, S, 1u << cases[row].algorithm);
    CHECK_NEAR(allreduce_wire(&place, S, cases[row].algorithm).alone_s, choice.total_s, 1e-9);
}

int main(void)
{
    struct rows rows = { 0 };
    for (uintptr_t row = 0; row < sizeof cases / sizeof *cases; row++) {
        rows_add(&rows, bytes_are_those_of_the_table, (void *)row, "bytes, %s", cases[row].name);
        rows_add(&rows, without_latency_the_wire_is_the_time, (void *)row, "time, %s",
                 cases[row].name);
    }
    return rows_run("wire", &rows);
}
