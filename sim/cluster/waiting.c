/* waiting.c - see waiting.h. */
#include "cluster/waiting.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

static const int64_t NOT_WAITING = INT64_MAX;

bool waiting_init(struct waiting *waiting, uint32_t class_count, struct live_table *live)
{
    *waiting = (struct waiting){
        .classes = calloc(class_count ? class_count : 1, sizeof(struct waiting_class)),
        .heads = calloc(class_count ? class_count : 1, sizeof(struct waiting_head)),
        .class_count = class_count,
        .live = live,
    };
    return waiting->classes && waiting->heads;
}

void waiting_clear(struct waiting *waiting)
{
    for (uint32_t c = 0; waiting->classes && c < waiting->class_count; c++) {
        free(waiting->classes[c].serials);
        free(waiting->classes[c].lives);
        free(waiting->classes[c].tree);
    }
    free(waiting->classes);
    free(waiting->heads);
    *waiting = (struct waiting){ 0 };
}

static void tree_set(struct waiting_class *class, uint32_t place, int64_t limit_ns)
{
    uint32_t at = class->capacity + place;
    class->tree[at] = limit_ns;
    for (at /= 2; at > 0; at /= 2) {
        const int64_t left = class->tree[2 * at], right = class->tree[2 * at + 1];
        const int64_t least = left < right ? left : right;
        if (class->tree[at] == least) break;
        class->tree[at] = least;
    }
}

/* The first place at or behind `place` whose limit is at most limit_ns, or the capacity. */
static uint32_t tree_find(const struct waiting_class *class, uint32_t place, int64_t limit_ns)
{
    if (place >= class->size) return class->capacity;
    uint32_t at = class->capacity + place;
    while (class->tree[at] > limit_ns) {
        while (at & 1) at /= 2; /* a right child: its parent is done too */
        if (at == 0) return class->capacity;
        at++;
    }
    while (at < class->capacity) at = class->tree[2 * at] <= limit_ns ? 2 * at : 2 * at + 1;
    return at - class->capacity;
}

/* Drops the entries of ended jobs and, when that frees less than half, doubles. */
static bool make_room(struct waiting *waiting, struct waiting_class *class)
{
    const uint32_t kept = class->size - class->ended;
    uint32_t capacity = class->capacity ? class->capacity : 16;
    while (kept > capacity / 2) capacity *= 2;
    uint32_t *serials = malloc(capacity * sizeof *serials);
    uint32_t *lives = malloc(capacity * sizeof *lives);
    int64_t *tree = malloc(2 * (size_t)capacity * sizeof *tree);
    if (!serials || !lives || !tree) {
        free(serials);
        free(lives);
        free(tree);
        return false;
    }
    for (uint32_t i = 0; i < 2 * capacity; i++) tree[i] = NOT_WAITING;
    uint32_t size = 0;
    for (uint32_t i = 0; i < class->size; i++) {
        if (class->lives[i] == LIVE_NONE) continue;
        serials[size] = class->serials[i];
        lives[size] = class->lives[i];
        tree[capacity + size] = class->tree[class->capacity + i];
        waiting->live->jobs[lives[size]].place = size;
        size++;
    }
    for (uint32_t i = capacity - 1; i > 0; i--)
        tree[i] = tree[2 * i] < tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];
    free(class->serials);
    free(class->lives);
    free(class->tree);
    *class = (struct waiting_class){ .serials = serials,
                                     .lives = lives,
                                     .tree = tree,
                                     .size = size,
                                     .capacity = capacity,
                                     .waiting = class->waiting };
    return true;
}

/* Where the class stands, or would stand, in the list of heads. */
static uint32_t head_place(const struct waiting *waiting, uint32_t gpus, uint32_t request_class)
{
    uint32_t low = 0, high = waiting->head_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const struct waiting_head *head = &waiting->heads[middle];
        if (head->gpus < gpus || (head->gpus == gpus && head->request_class < request_class))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void head_insert(struct waiting *waiting, uint32_t at, struct waiting_head head)
{
    memmove(&waiting->heads[at + 1], &waiting->heads[at], (waiting->head_count - at) * sizeof head);
    waiting->heads[at] = head;
    waiting->head_count++;
}

static void begin_waiting(struct waiting *waiting, uint32_t live, uint32_t gpus, int64_t limit_ns)
{
    const struct live_job *job = &waiting->live->jobs[live];
    struct waiting_class *class = &waiting->classes[job->request_class];
    tree_set(class, job->place, limit_ns < NOT_WAITING ? limit_ns : NOT_WAITING - 1);
    waiting->jobs++;
    waiting->gpus += gpus;
    const uint32_t at = head_place(waiting, gpus, job->request_class);
    if (class->waiting++ == 0)
        head_insert(waiting, at,
                    (struct waiting_head){ job->request_class, gpus, job->serial, live });
    else if (job->serial < waiting->heads[at].serial) {
        waiting->heads[at].serial = job->serial;
        waiting->heads[at].live = live;
    }
}

bool waiting_add(struct waiting *waiting, uint32_t live, uint32_t gpus, int64_t limit_ns)
{
    struct live_job *job = &waiting->live->jobs[live];
    struct waiting_class *class = &waiting->classes[job->request_class];
    if (class->size == class->capacity && !make_room(waiting, class)) return false;
    ASSERT(class->size == 0 || class->serials[class->size - 1] < job->serial);
    job->place = class->size++;
    class->serials[job->place] = job->serial;
    class->lives[job->place] = live;
    begin_waiting(waiting, live, gpus, limit_ns);
    return true;
}

void waiting_return(struct waiting *waiting, uint32_t live, uint32_t gpus, int64_t limit_ns)
{
    begin_waiting(waiting, live, gpus, limit_ns);
}

void waiting_start(struct waiting *waiting, uint32_t live, uint32_t gpus)
{
    const struct live_job *job = &waiting->live->jobs[live];
    struct waiting_class *class = &waiting->classes[job->request_class];
    ASSERT(class->lives[job->place] == live && class->waiting > 0);
    tree_set(class, job->place, NOT_WAITING);
    waiting->jobs--;
    waiting->gpus -= gpus;
    const uint32_t at = head_place(waiting, gpus, job->request_class);
    if (--class->waiting == 0) {
        waiting->head_count--;
        memmove(&waiting->heads[at], &waiting->heads[at + 1],
                (waiting->head_count - at) * sizeof *waiting->heads);
    } else if (waiting->heads[at].live == live) {
        const uint32_t place = tree_find(class, job->place + 1, NOT_WAITING - 1);
        waiting->heads[at].serial = class->serials[place];
        waiting->heads[at].live = class->lives[place];
    }
}

void waiting_end(struct waiting *waiting, uint32_t live)
{
    const struct live_job *job = &waiting->live->jobs[live];
    struct waiting_class *class = &waiting->classes[job->request_class];
    ASSERT(class->lives[job->place] == live);
    ASSERT(class->tree[class->capacity + job->place] == NOT_WAITING);
    class->lives[job->place] = LIVE_NONE;
    class->ended++;
}

const struct waiting_head *waiting_first(const struct waiting *waiting)
{
    const struct waiting_head *first = NULL;
    for (uint32_t h = 0; h < waiting->head_count; h++)
        if (!first || waiting->heads[h].serial < first->serial) first = &waiting->heads[h];
    return first;
}

uint32_t waiting_find(const struct waiting *waiting, uint32_t request_class, uint32_t behind,
                      int64_t limit_ns)
{
    const struct waiting_class *class = &waiting->classes[request_class];
    uint32_t low = 0, high = behind == SERIAL_NONE ? 0 : class->size;
    while (low < high) { /* the first place behind the serial */
        const uint32_t middle = (low + high) / 2;
        if (class->serials[middle] <= behind)
            low = middle + 1;
        else
            high = middle;
    }
    if (limit_ns >= NOT_WAITING) limit_ns = NOT_WAITING - 1;
    const uint32_t place = tree_find(class, low, limit_ns);
    return place < class->size ? class->lives[place] : LIVE_NONE;
}

uint32_t waiting_shortest(const struct waiting *waiting)
{
    uint32_t best = LIVE_NONE, best_serial = SERIAL_NONE;
    int64_t least_ns = NOT_WAITING;
    for (uint32_t h = 0; h < waiting->head_count; h++) {
        const uint32_t request_class = waiting->heads[h].request_class;
        const int64_t limit_ns = waiting->classes[request_class].tree[1];
        if (limit_ns > least_ns) continue;
        const uint32_t live = waiting_find(waiting, request_class, SERIAL_NONE, limit_ns);
        const uint32_t serial = waiting->live->jobs[live].serial;
        if (limit_ns == least_ns && serial > best_serial) continue;
        least_ns = limit_ns;
        best = live;
        best_serial = serial;
    }
    return best;
}
