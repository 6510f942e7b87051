/* bench_agenda.c - ns per event of the agenda beside a plain binary heap, same run, same numbers.
 *
 * The hold model: a queue of n events; each step takes the first and puts one back at a random
 * later time. Prints n, ns per step of both, their ratio. */
#include "base/philox.h"
#include "engine/agenda.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The plain heap: an array of (time, serial) pairs, no slots, no moves by key. */
struct plain {
    int64_t at_ns;
    uint64_t serial;
};

static int plain_before(const struct plain *a, const struct plain *b)
{
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->serial < b->serial);
}

static void plain_push(struct plain *heap, uint32_t *count, struct plain event)
{
    uint32_t at = (*count)++;
    for (; at > 0 && plain_before(&event, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = event;
}

static struct plain plain_pop(struct plain *heap, uint32_t *count)
{
    const struct plain first = heap[0], last = heap[--*count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= *count) break;
        if (child + 1 < *count && plain_before(&heap[child + 1], &heap[child])) child++;
        if (!plain_before(&heap[child], &last)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

enum { STEPS = 4000000, DELAYS = 1 << 16 };

int main(void)
{
    static int64_t delay_ns[DELAYS];
    for (uint32_t i = 0; i < DELAYS; i++)
        delay_ns[i] = (int64_t)(stream_draw(1, 2, i).x1 >> 40) + 1;
    printf("%10s %16s %16s %8s\n", "events", "agenda ns", "binary heap ns", "ratio");
    static const uint32_t sizes[] = { 10, 1000, 100000 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const uint32_t n = sizes[s];
        struct agenda agenda;
        struct plain *heap = malloc(((size_t)n + 1) * sizeof *heap);
        uint32_t count = 0;
        if (!heap || !agenda_init(&agenda, n)) return 1;
        uint64_t serial = 0, sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            agenda_set(&agenda, i, delay_ns[i % DELAYS], serial);
            plain_push(heap, &count, (struct plain){ delay_ns[i % DELAYS], serial++ });
        }
        double began_s = cpu_s();
        for (uint32_t i = 0; i < STEPS; i++) {
            const struct agenda_entry *first = agenda_first(&agenda);
            sum += first->slot;
            agenda_set(&agenda, first->slot, first->at_ns + delay_ns[i % DELAYS], serial++);
        }
        const double agenda_ns = (cpu_s() - began_s) * 1e9 / STEPS;
        began_s = cpu_s();
        for (uint32_t i = 0; i < STEPS; i++) {
            struct plain first = plain_pop(heap, &count);
            sum += first.serial;
            first.at_ns += delay_ns[i % DELAYS];
            first.serial = serial++;
            plain_push(heap, &count, first);
        }
        const double heap_ns = (cpu_s() - began_s) * 1e9 / STEPS;
        printf("%10" PRIu32 " %16.1f %16.1f %8.2f\n", n, agenda_ns, heap_ns, agenda_ns / heap_ns);
        if (sum == 0) return 1;
        agenda_clear(&agenda);
        free(heap);
    }
    return 0;
}
