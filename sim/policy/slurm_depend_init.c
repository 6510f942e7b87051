/* slurm_depend_init.c - from words to tables: which rows the ids name, edges, groups of singletons. Linear in the jobs. */
#include "base/assert.h"
#include "policy/slurm_depend_tables.h"

#include <stdlib.h>
#include <string.h>

static const struct name no_name = { "", 0 };

/* The array with room for one more row, perhaps at another place; NULL when memory is out. */
static void *grown(void *rows, uint32_t count, uint32_t *capacity, size_t row_bytes)
{
    if (count < *capacity) return rows;
    const uint32_t larger = *capacity ? 2 * *capacity : 64;
    rows = realloc(rows, larger * row_bytes);
    if (rows) *capacity = larger;
    return rows;
}

static const char *text_of(const struct jobs *jobs, uint32_t text)
{
    return &jobs->text[text];
}

static struct name user_of(const struct jobs *jobs, uint32_t row)
{
    uint32_t text = jobs->words[row].user;
    if (text == TEXT_NONE && jobs->user) text = jobs->user[row];
    return name_of(text_of(jobs, text));
}

/* "ARRAY_*" names the same as "ARRAY". */
static struct name id_of(const struct depend_term *term)
{
    struct name id = { term->id, term->id_bytes };
    if (id.bytes > 2 && memcmp(&id.text[id.bytes - 2], "_*", 2) == 0) id.bytes -= 2;
    return id;
}

/* Pass 1: every id that is referred to gets a number; kinds of singletons get a group. */
static bool collect_words(struct slurm_depend *depend)
{
    const struct jobs *jobs = depend->jobs;
    for (uint32_t row = 0; row < jobs->count; row++) {
        if (jobs->words[row].dependency == TEXT_NONE) continue;
        struct depend_reader reader = { .text = text_of(jobs, jobs->words[row].dependency) };
        struct depend_term term;
        while (depend_next(&reader, &term)) {
            struct names *names = term.type == DEPEND_SINGLETON ? &depend->kinds : &depend->ids;
            const bool single = term.type == DEPEND_SINGLETON;
            const struct name first =
                single ? name_of(text_of(jobs, jobs->words[row].name)) : id_of(&term);
            const struct name second = single ? user_of(jobs, row) : no_name;
            if (names_add(names, first, second, names->count) == NAMES_NONE) return false;
        }
    }
    return true;
}

/* The id of the whole that a part's id "ARRAY_INDEX" or "HET+PLACE" begins with; of 0 bytes when it does not look so. */
static struct name whole_id(const struct jobs *jobs, uint32_t row)
{
    const struct name id = name_of(text_of(jobs, jobs->id[row]));
    const char mark = jobs->words[row].array_first_row <= row ? '_' : '+';
    for (uint32_t b = id.bytes; b-- > 1;)
        if (id.text[b] == mark) return (struct name){ id.text, b };
    return no_name;
}

static bool target_add(struct slurm_depend *depend, uint32_t *at, uint32_t tasks)
{
    if (*at == DEPEND_NONE) {
        struct slurm_depend_target *targets =
            grown(depend->targets, depend->target_count, &depend->target_capacity, sizeof *targets);
        if (!targets) return false;
        depend->targets = targets;
        *at = depend->target_count++;
        depend->targets[*at] = (struct slurm_depend_target){ .first_edge = DEPEND_NONE };
    }
    depend->targets[*at].tasks += tasks;
    return true;
}

/* Pass 2: targets of the ids. target_of_id[number]: of the job that has it, else of the array. An id that a job and an
 * array share names the job; of two jobs the first. */
static bool find_targets(struct slurm_depend *depend, uint32_t *target_of_id)
{
    const struct jobs *jobs = depend->jobs;
    for (uint32_t row = 0; row < jobs->count; row++) {
        const uint32_t own =
            names_find(&depend->ids, name_of(text_of(jobs, jobs->id[row])), no_name);
        if (own != NAMES_NONE && target_of_id[own] == DEPEND_NONE) {
            if (!target_add(depend, &depend->target_of[row], 1)) return false;
            target_of_id[own] = depend->target_of[row];
        }
    }
    for (uint32_t row = 0; row < jobs->count; row++) {
        const uint32_t first = slurm_whole_of(jobs, row);
        if (first == JOB_NONE) continue;
        const uint32_t whole = names_find(&depend->ids, whole_id(jobs, row), no_name);
        if (whole == NAMES_NONE) continue;
        uint32_t *at = &depend->whole_target_of[first];
        if (target_of_id[whole] != DEPEND_NONE && target_of_id[whole] != *at) continue;
        if (!target_add(depend, at, 1)) return false;
        target_of_id[whole] = *at;
    }
    return true;
}

/* Row of the task of an index in the array that begins at `first`: its tasks stand together, by index. */
static uint32_t task_of(const struct jobs *jobs, uint32_t first, uint32_t index)
{
    uint32_t low = first, high = jobs->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct job_words *words = &jobs->words[middle];
        if (words->array_first_row == first && words->array_index < index)
            low = middle + 1;
        else
            high = middle;
    }
    const bool there = low < jobs->count && jobs->words[low].array_first_row == first &&
                       jobs->words[low].array_index == index;
    return there ? low : JOB_NONE;
}

/* The target of a term of a row; aftercorr between two arrays is a matter of two tasks. */
static bool target_of_term(struct slurm_depend *depend, const struct depend_term *term,
                           uint32_t row, const uint32_t *target_of_id, uint32_t *target)
{
    const struct jobs *jobs = depend->jobs;
    *target = target_of_id[names_find(&depend->ids, id_of(term), no_name)];
    if (term->type != DEPEND_AFTER_CORR || *target == DEPEND_NONE) return true;
    if (jobs->words[row].array_first_row > row) return true;
    const uint32_t first = depend->targets[*target].started; /* held here while tables are built */
    if (first == DEPEND_NONE) return true;
    const uint32_t task = task_of(jobs, first, jobs->words[row].array_index);
    if (task == JOB_NONE) return true;
    if (depend->target_of[task] == DEPEND_NONE && !target_add(depend, &depend->target_of[task], 1))
        return false;
    *target = depend->target_of[task];
    return true;
}

static bool edge_add(struct slurm_depend *depend, uint32_t target, struct slurm_depend_edge edge)
{
    struct slurm_depend_edge *edges =
        grown(depend->edges, depend->edge_count, &depend->edge_capacity, sizeof *edges);
    if (!edges) return false;
    depend->edges = edges;
    edge.next = depend->targets[target].first_edge;
    depend->edges[depend->edge_count] = edge;
    depend->targets[target].first_edge = depend->edge_count++;
    return true;
}

/* The terms of one row. */
static bool dependent_add(struct slurm_depend *depend, uint32_t row, const uint32_t *target_of_id)
{
    const char *text = text_of(depend->jobs, depend->jobs->words[row].dependency);
    struct depend_reader reader = { .text = text };
    struct depend_term term;
    struct slurm_dependent dependent = { .row = row,
                                         .any = depend_is_any(text),
                                         .state = DEPENDS_WAITS };
    const uint32_t d = depend->dependent_count;
    while (depend_next(&reader, &term)) {
        dependent.terms++;
        if (term.type == DEPEND_SINGLETON) {
            if (dependent.singleton) dependent.terms--;
            dependent.singleton = true;
            continue;
        }
        uint32_t target;
        if (!target_of_term(depend, &term, row, target_of_id, &target)) return false;
        const struct slurm_depend_edge edge = { .dependent = d,
                                                .type = term.type,
                                                .delay_ns = term.delay_ns };
        if (target == DEPEND_NONE || target == depend->target_of[row])
            dependent.state = DEPENDS_INVALID; /* nobody, or the job itself */
        else if (!edge_add(depend, target, edge))
            return false;
    }
    if (reader.wrong) dependent.state = DEPENDS_INVALID;
    struct slurm_dependent *dependents =
        grown(depend->dependents, d, &depend->dependent_capacity, sizeof *dependents);
    if (!dependents) return false;
    depend->dependents = dependents;
    depend->dependents[depend->dependent_count++] = dependent;
    depend->dependent_of[row] = d;
    return true;
}

/* Pass 3, from the last row to the first: an edge goes in front, so edges of a target end up in order of the trace. */
static bool add_dependents(struct slurm_depend *depend, const uint32_t *target_of_id)
{
    const struct jobs *jobs = depend->jobs;
    for (uint32_t t = 0; t < depend->target_count; t++) depend->targets[t].started = DEPEND_NONE;
    for (uint32_t row = 0; row < jobs->count; row++)
        if (depend->whole_target_of[row] != DEPEND_NONE)
            depend->targets[depend->whole_target_of[row]].started = row;
    for (uint32_t row = jobs->count; row-- > 0;)
        if (jobs->words[row].dependency != TEXT_NONE && !dependent_add(depend, row, target_of_id))
            return false;
    for (uint32_t t = 0; t < depend->target_count; t++) depend->targets[t].started = 0;
    depend->changed_capacity = depend->dependent_count;
    depend->changed = malloc((depend->dependent_count + 1u) * sizeof *depend->changed);
    return depend->changed != NULL;
}

/* Pass 4: rows of each kind of singletons. */
static bool add_groups(struct slurm_depend *depend)
{
    const struct jobs *jobs = depend->jobs;
    depend->group_count = depend->kinds.count;
    depend->groups = calloc(depend->group_count + 1u, sizeof *depend->groups);
    if (!depend->groups) return false;
    uint32_t members = 0;
    for (uint32_t row = 0; depend->group_count > 0 && row < jobs->count; row++) {
        const struct name name = name_of(text_of(jobs, jobs->words[row].name));
        const uint32_t group = names_find(&depend->kinds, name, user_of(jobs, row));
        depend->group_of[row] = group == NAMES_NONE ? DEPEND_NONE : group;
        if (group == NAMES_NONE) continue;
        depend->groups[group].end++;
        members++;
    }
    depend->singleton_rows = malloc((members + 1u) * sizeof *depend->singleton_rows);
    if (!depend->singleton_rows) return false;
    for (uint32_t g = 0, begin = 0; g < depend->group_count; g++) {
        const uint32_t count = depend->groups[g].end;
        depend->groups[g] =
            (struct slurm_singletons){ .begin = begin, .end = begin, .open = begin };
        begin += count;
    }
    for (uint32_t row = 0; members > 0 && row < jobs->count; row++)
        if (depend->group_of[row] != DEPEND_NONE)
            depend->singleton_rows[depend->groups[depend->group_of[row]].end++] = row;
    return true;
}

static uint32_t *column(uint32_t count)
{
    uint32_t *rows = malloc((count + 1u) * sizeof *rows);
    if (rows) memset(rows, 0xff, (count + 1u) * sizeof *rows);
    return rows;
}

bool slurm_depend_init(struct slurm_depend *depend, const struct jobs *jobs)
{
    *depend = (struct slurm_depend){ .jobs = jobs };
    if (!jobs->words || !collect_words(depend)) return !jobs->words;
    if (depend->ids.count == 0 && depend->kinds.count == 0) {
        uint32_t row = 0;
        while (row < jobs->count && jobs->words[row].dependency == TEXT_NONE) row++;
        if (row == jobs->count) return true;
    }
    depend->job_count = jobs->count;
    depend->dependent_of = column(jobs->count);
    depend->target_of = column(jobs->count);
    depend->whole_target_of = column(jobs->count);
    depend->group_of = column(jobs->count);
    depend->phase = calloc(jobs->count + 1u, sizeof *depend->phase);
    uint32_t *target_of_id = column(depend->ids.count);
    const bool ok = depend->dependent_of && depend->target_of && depend->whole_target_of &&
                    depend->group_of && depend->phase && target_of_id &&
                    find_targets(depend, target_of_id) && add_dependents(depend, target_of_id) &&
                    add_groups(depend);
    free(target_of_id);
    names_clear(&depend->ids);
    names_clear(&depend->kinds);
    return ok;
}

void slurm_depend_clear(struct slurm_depend *depend)
{
    names_clear(&depend->ids);
    names_clear(&depend->kinds);
    free(depend->dependents);
    free(depend->edges);
    free(depend->targets);
    free(depend->groups);
    free(depend->dependent_of);
    free(depend->target_of);
    free(depend->whole_target_of);
    free(depend->group_of);
    free(depend->singleton_rows);
    free(depend->phase);
    free(depend->changed);
    *depend = (struct slurm_depend){ 0 };
}
