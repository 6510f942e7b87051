/* slurm_lines.h - jobs and events of a recording as lines of a scenario; a part of slurm_scenario.h. Header only. */
#ifndef GPUPLAN_TESTS_SLURM_LINES_H
#define GPUPLAN_TESTS_SLURM_LINES_H

#include "tests/slurm_recording.h"

static inline bool starts_with(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* sbatch's options that mean the same under the same name, `_` for `-`. */
static const char *const job_options[] = {
    "nodes",         "ntasks",       "ntasks_per_node", "cpus_per_task", "ntasks_per_gpu",
    "cpus_per_gpu",  "gpus",         "gpus_per_node",   "gpus_per_task", "gres",
    "mem",           "mem_per_cpu",  "mem_per_gpu",     "constraint",    "nodelist",
    "exclude",       "switches",     "segment",         "exclusive",     "spread_job",
    "gres_flags",    "user",         "account",         "qos",           "partition",
    "reservation",   "nice",         "hold",            "array",         "exit_code",
    "begin",         "no_kill"
};

/* The id of the recording's job: rows of observed.csv carry it; jobs that never ran are counted. */
struct job_ids {
    unsigned next;
};

/* Jobs that name another by @name@ get its id. */
static inline void write_dependency(FILE *out, const struct yaml_node *jobs, const char *text)
{
    fprintf(out, ", dependency: '");
    while (*text) {
        const char *end = *text == '@' ? strchr(text + 1, '@') : NULL;
        if (!end) {
            fputc(*text++, out);
            continue;
        }
        unsigned id = 0, found = 0;
        for (const struct yaml_node *job = jobs->first; job; job = job->next) {
            const char *name = yaml_text_of(job, "name");
            const struct yaml_node *het = yaml_child(job, "het");
            id++;
            if (name && strlen(name) == (size_t)(end - text - 1) &&
                !strncmp(name, text + 1, strlen(name)))
                found = id;
            if (het) id += het->child_count - 1;
        }
        fprintf(out, "%u", found);
        text = end + 1;
    }
    fprintf(out, "'");
}

/* Seconds that a job runs: as said, or the sleeps of its script. */
static inline int64_t job_run_s(const struct yaml_node *job)
{
    const char *script = yaml_text_of(job, "script");
    int64_t sum_s = 0;
    if (yaml_text_of(job, "run_s")) return yaml_number_of(job, "run_s", 0);
    for (const char *at = script; at && (at = strstr(at, "sleep ")); at += 6)
        sum_s += strtoll(at + 6, NULL, 10);
    return sum_s;
}

/* A script that ends well once it has been restarted: [ "$SLURM_RESTART_COUNT" -ge 1 ] && exit 0; exit 42. */
static inline void write_script(FILE *out, const struct yaml_node *job)
{
    const char *script = yaml_text_of(job, "script");
    long codes[8] = { 0 }, count = 0;
    if (!script || yaml_text_of(job, "exit_code")) return;
    for (const char *at = script; (at = strstr(at, "exit ")) && count < 8; at += 5)
        codes[count++] = strtol(at + 5, NULL, 10);
    if (count > 0) fprintf(out, ", exit_code: %ld", codes[count - 1]);
    if (count > 1 && strstr(script, "SLURM_RESTART_COUNT"))
        fprintf(out, ", exit_code_again: %ld", codes[0]);
}

static inline void write_job_options(FILE *out, const struct yaml_node *job)
{
    for (size_t o = 0; o < sizeof job_options / sizeof *job_options; o++) {
        const char *text = yaml_text_of(job, job_options[o]);
        if (!text) continue;
        if (!strcmp(job_options[o], "gres_flags")) { /* a key of its own in a scenario */
            if (strstr(text, "enforce-binding")) fprintf(out, ", enforce_binding: true");
            continue;
        }
        const bool plain = text[strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz")] == 0;
        fprintf(out, plain ? ", %s: %s" : ", %s: '%s'", job_options[o], text);
    }
}

static inline void write_job(FILE *out, const struct recording *recording,
                             const struct yaml_node *jobs, const struct yaml_node *job, unsigned id)
{
    const char *name = yaml_text_of(job, "name"), *requeue = yaml_text_of(job, "requeue");
    const char *dependency = yaml_text_of(job, "dependency");
    const int64_t time_min = yaml_number_of(job, "time_min", 0);
    (void)recording;
    fprintf(out, "- {id: '%u', name: '%s', at: %llds, run: %llds", id, name ? name : "?",
            (long long)yaml_number_of(job, "at", 0), (long long)job_run_s(job));
    if (time_min) fprintf(out, ", time: %lldm", (long long)time_min);
    if (requeue) fprintf(out, ", requeue: %s", requeue);
    write_script(out, job);
    if (dependency) write_dependency(out, jobs, dependency);
    write_job_options(out, job);
    const struct yaml_node *het = yaml_child(job, "het");
    if (het) {
        fprintf(out, ", het: [");
        for (const struct yaml_node *part = het->first; part; part = part->next) {
            fprintf(out, "%s{", part == het->first ? "" : ", ");
            bool any = false;
            for (const struct yaml_node *key = part->first; key; key = key->next) {
                fprintf(out, "%s%s: %s", any ? ", " : "", key->key, key->text);
                any = true;
            }
            fprintf(out, "}");
        }
        fprintf(out, "]");
    }
    fprintf(out, "}\n");
}

/* Jobs of sbatch --test-only are never submitted: they stand held at the end of all times. */
static inline void write_tests(FILE *out, const struct recording *recording)
{
    const struct yaml_node *events = yaml_child(recording->scenario.root, "events");
    for (const struct yaml_node *node = events ? events->first : NULL; node; node = node->next) {
        const char *what = yaml_text_of(node, "do"), *name = yaml_text_of(node, "name");
        const struct yaml_node *job = yaml_child(node, "job");
        if (!what || strcmp(what, "test_only") != 0 || !job) continue;
        const int64_t time_min = yaml_number_of(job, "time_min", 0);
        fprintf(out, "- {id: 'test-%s', name: 'test-%s', at: 100000s, run: 1s, hold: true",
                name ? name : "?", name ? name : "?");
        if (time_min) fprintf(out, ", time: %lldm", (long long)time_min);
        write_job_options(out, job);
        fprintf(out, "}\n");
    }
}

static inline void write_jobs(FILE *out, const struct recording *recording)
{
    const struct yaml_node *jobs = yaml_child(recording->scenario.root, "jobs");
    unsigned id = 1;
    fprintf(out, "jobs:\n");
    for (const struct yaml_node *job = jobs->first; job; job = job->next) {
        const struct yaml_node *het = yaml_child(job, "het");
        write_job(out, recording, jobs, job, id);
        id += het ? het->child_count : 1;
    }
    write_tests(out, recording);
}

/* ---- events ---------------------------------------------------------------------------------- */

static inline void event_line(FILE *out, bool *any, int64_t at_s, const char *action,
                              const char *target)
{
    if (!*any) fprintf(out, "events:\n");
    *any = true;
    fprintf(out, "- {at: %llds, %s: '%s'}\n", (long long)at_s, action, target);
}

/* "requeue @a@": the job's name without the marks. */
static inline void job_of_command(const char *command, char *name, size_t size)
{
    const char *at = strchr(command, '@'), *end = at ? strchr(at + 1, '@') : NULL;
    if (end)
        snprintf(name, size, "%.*s", (int)(end - at - 1), at + 1);
    else
        snprintf(name, size, "%s", strrchr(command, ' ') ? strrchr(command, ' ') + 1 : command);
}

static inline void write_events(FILE *out, const struct recording *recording)
{
    static const struct {
        const char *state, *action;
    } states[] = { { "DOWN", "node_down" }, { "DRAIN", "drain" }, { "RESUME", "resume" } };
    static const struct {
        const char *word, *action;
    } commands[] = { { "requeuehold ", "requeue_hold" }, { "requeue ", "requeue" },
                     { "hold ", "hold" },               { "release ", "release" } };
    const struct yaml_node *events = yaml_child(recording->scenario.root, "events");
    bool any = false;
    for (const struct yaml_node *node = events ? events->first : NULL; node; node = node->next) {
        const char *what = yaml_text_of(node, "do"), *command = yaml_text_of(node, "cmd");
        const int64_t at_s = yaml_number_of(node, "at", 0);
        char target[512], state[64];
        if (!what || !command) continue;
        if (!strcmp(what, "scancel")) {
            job_of_command(command, target, sizeof target);
            event_line(out, &any, at_s, "scancel", target);
        }
        if (strcmp(what, "scontrol") != 0) continue;
        for (size_t c = 0; c < sizeof commands / sizeof *commands; c++)
            if (starts_with(command, commands[c].word)) {
                job_of_command(command, target, sizeof target);
                event_line(out, &any, at_s, commands[c].action, target);
                break;
            }
        if (!line_value(command, "NodeName", target, sizeof target) ||
            !line_value(command, "State", state, sizeof state))
            continue;
        for (size_t c = 0; c < sizeof states / sizeof *states; c++)
            if (!strcmp(state, states[c].state))
                event_line(out, &any, at_s, states[c].action, target);
    }
}

#endif
