/* slurm_recording.h - a recording of a real Slurm (oracles/slurm/RELEASE/SCENARIO): what was asked, what was
 * configured, and the runs that were observed. Header only; the caller reads, uses and clears it.
 *
 * Times are whole seconds after t0. */
#ifndef GPUPLAN_TESTS_SLURM_RECORDING_H
#define GPUPLAN_TESTS_SLURM_RECORDING_H

#include "io/csv.h"
#include "io/input.h"
#include "io/yaml.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NONE INT64_MIN

enum { RECORDED_RUNS = 1024, RECORDED_LINES = 256, RECORDED_LINE = 2048 };

/* One line of observed.csv. */
struct recorded_run {
    char job[64], id[32], run[8], state[24];
    char submit[16], start[16], end[16];
    char nodes[256], placement[1024], gpus[16], cpus[16];
    int64_t submit_s, start_s, end_s; /* SECOND_NONE = empty                                     */
};

struct recording {
    char folder[2048], name[128], release[32];
    struct diag *diag;
    struct yaml_document scenario, details;
    bool has_details;
    int64_t t0_second; /* of a minute                                                           */
    bool gate;
    struct recorded_run *runs; /* [run_count] in order of start                                  */
    uint32_t run_count;
    char (*lines)[RECORDED_LINE]; /* [line_count] of slurm.conf without comments                  */
    uint32_t line_count;
};

static inline const char *yaml_text_of(const struct yaml_node *map, const char *key)
{
    const struct yaml_node *node = map ? yaml_child(map, key) : NULL;
    return node && node->kind == YAML_SCALAR ? node->text : NULL;
}

static inline int64_t yaml_number_of(const struct yaml_node *map, const char *key, int64_t missing)
{
    const char *text = yaml_text_of(map, key);
    return text ? strtoll(text, NULL, 10) : missing;
}

static inline bool recording_line(const struct csv *csv, const uint32_t *columns,
                                  struct recorded_run *run)
{
    char *const texts[] = { run->job,   run->id,  run->run,       run->state, run->submit,
                            run->start, run->end, run->nodes,     run->gpus,  run->cpus,
                            run->placement };
    static const size_t sizes[] = {
        sizeof run->job, sizeof run->id,    sizeof run->run,  sizeof run->state, sizeof run->submit,
        sizeof run->start, sizeof run->end, sizeof run->nodes, sizeof run->gpus, sizeof run->cpus,
        sizeof run->placement
    };
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        const struct csv_field *field = &csv->fields[columns[t]];
        if (field->byte_count >= sizes[t]) return false;
        texts[t][csv_copy(field, texts[t])] = 0;
    }
    run->submit_s = *run->submit ? strtoll(run->submit, NULL, 10) : SECOND_NONE;
    run->start_s = *run->start ? strtoll(run->start, NULL, 10) : SECOND_NONE;
    run->end_s = *run->end ? strtoll(run->end, NULL, 10) : SECOND_NONE;
    return true;
}

static inline bool recording_runs(struct recording *recording)
{
    static const char *const names[] = { "job",   "job_id",     "run",        "state",
                                         "submit_s", "start_s", "end_s",      "nodes",
                                         "alloc_gpus", "alloc_cpus", "placement" };
    enum { COLUMNS = sizeof names / sizeof *names };
    char path[4096];
    uint32_t columns[COLUMNS];
    struct input input = { 0 };
    struct csv csv;
    bool found, good = true;
    snprintf(path, sizeof path, "%s/observed.csv", recording->folder);
    if (input_read(path, &input, recording->diag) != STATUS_OK) return false;
    good = csv_begin(&csv, path, input.bytes, input.byte_count, recording->diag) == STATUS_OK &&
           csv_next(&csv, &found) == STATUS_OK && found;
    for (int c = 0; good && c < COLUMNS; c++)
        good = (columns[c] = csv_column(&csv, names[c])) != UINT32_MAX;
    while (good && csv_next(&csv, &found) == STATUS_OK && found)
        good = recording->run_count < RECORDED_RUNS &&
               recording_line(&csv, columns, &recording->runs[recording->run_count++]);
    input_clear(&input);
    return good;
}

/* A configuration file's lines without comments; a file that is not there has none. */
static inline void recording_lines(struct recording *recording, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", recording->folder, name);
    FILE *file = fopen(path, "r");
    while (file && recording->line_count < RECORDED_LINES &&
           fgets(recording->lines[recording->line_count], RECORDED_LINE, file)) {
        char *line = recording->lines[recording->line_count];
        line[strcspn(line, "#\r\n")] = 0;
        if (*line) recording->line_count++;
    }
    if (file) fclose(file);
}

/* False when a file is missing or damaged; messages are in diag. */
static inline bool recording_read(struct recording *recording, const char *folder)
{
    char path[4096];
    memset(recording, 0, sizeof *recording);
    snprintf(recording->folder, sizeof recording->folder, "%s", folder);
    recording->diag = diag_create();
    recording->runs = calloc(RECORDED_RUNS, sizeof *recording->runs);
    recording->lines = calloc(RECORDED_LINES, sizeof *recording->lines);
    snprintf(path, sizeof path, "%s/scenario.yaml", folder);
    if (yaml_read_file(path, &recording->scenario, recording->diag) != STATUS_OK) return false;
    snprintf(path, sizeof path, "%s/details.yaml", folder);
    recording->has_details =
        yaml_read_file(path, &recording->details, recording->diag) == STATUS_OK;
    const struct yaml_node *root = recording->scenario.root;
    const char *name = yaml_text_of(root, "id"), *release = yaml_text_of(root, "slurm_version");
    const char *gate = yaml_text_of(root, "gate");
    snprintf(recording->name, sizeof recording->name, "%s", name ? name : "?");
    snprintf(recording->release, sizeof recording->release, "%s", release ? release : "?");
    recording->t0_second = yaml_number_of(root, "t0_second_of_minute", 0);
    recording->gate = gate && !strcmp(gate, "true");
    recording_lines(recording, "slurm.conf");
    return recording_runs(recording);
}

static inline void recording_clear(struct recording *recording)
{
    if (recording->scenario.arena) yaml_clear(&recording->scenario);
    if (recording->details.arena) yaml_clear(&recording->details);
    diag_destroy(recording->diag);
    free(recording->runs);
    free(recording->lines);
    memset(recording, 0, sizeof *recording);
}

/* The value of KEY=value in a line of words, up to the next blank; false when it is not there. */
static inline bool line_value(const char *line, const char *key, char *value, size_t size)
{
    const size_t length = strlen(key);
    for (const char *at = line; (at = strstr(at, key)); at += length) {
        if ((at != line && !isspace((unsigned char)at[-1])) || at[length] != '=') continue;
        at += length + 1;
        const size_t bytes = strcspn(at, " \t");
        snprintf(value, size, "%.*s", (int)bytes, at);
        return true;
    }
    return false;
}

/* The value of a line KEY=value of slurm.conf; false when there is none. */
static inline bool recording_conf(const struct recording *recording, const char *key, char *value,
                                  size_t size)
{
    const size_t length = strlen(key);
    for (uint32_t i = 0; i < recording->line_count; i++)
        if (!strncmp(recording->lines[i], key, length) && recording->lines[i][length] == '=') {
            snprintf(value, size, "%s", recording->lines[i] + length + 1);
            return true;
        }
    return false;
}

#endif
