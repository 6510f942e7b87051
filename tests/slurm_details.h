/* slurm_details.h - what details.yaml of a recording says beside the runs: refused jobs, sbatch --test-only, and the words for
 * jobs that wait. A part of slurm_replay.h. Header only.
 *
 * Of the words those are compared that do not depend on when squeue was asked: not Priority and Resources, which turn into each
 * other between two passes, nor those of the moment of submission. */
#ifndef GPUPLAN_TESTS_SLURM_DETAILS_H
#define GPUPLAN_TESTS_SLURM_DETAILS_H

#include "policy/slurm.h"
#include "spec/hostlist.h"
#include "tests/slurm_recording.h"

enum { DETAIL_TESTS = 16, DETAIL_WORDS = 4096 };

struct test_answer {
    int64_t start_s;
    char nodes[512]; /* names, each behind a blank                                               */
    const char *refused;
};

struct waiting_word {
    uint32_t row;
    const char *word;
};

struct details_seen {
    struct test_answer tests[DETAIL_TESTS]; /* by event of do: test_only, in order                  */
    struct waiting_word *words;             /* [word_count]                                       */
    uint32_t word_count;
};

static inline uint32_t row_named(const struct jobs *jobs, const char *name)
{
    for (uint32_t row = 0; row < jobs->count; row++)
        if (!strcmp(jobs->text + jobs->words[row].name, name)) return row;
    return JOB_NONE;
}

/* The answers of --test-only: what was asked at a second is asked of the last state before it. */
static inline void details_ask(struct details_seen *seen, const struct recording *recording,
                               const struct run *run)
{
    const struct yaml_node *events = yaml_child(recording->scenario.root, "events");
    uint32_t index = 0;
    for (const struct yaml_node *node = events ? events->first : NULL; node; node = node->next) {
        const char *what = yaml_text_of(node, "do"), *name = yaml_text_of(node, "name");
        char job[128];
        if (!what || strcmp(what, "test_only") != 0 || index == DETAIL_TESTS) continue;
        struct test_answer *answer = &seen->tests[index++];
        const int64_t at_ns = yaml_number_of(node, "at", 0) * NS_PER_S;
        snprintf(job, sizeof job, "test-%s", name ? name : "?");
        const uint32_t row = row_named(run->plan->jobs, job);
        if (run->now_ns > at_ns || row == JOB_NONE) continue;
        const struct slurm_test_only found =
            slurm_test_only(run->policy_memory, &run->view, row, at_ns);
        *answer = (struct test_answer){ .start_s = found.start_ns / NS_PER_S,
                                        .refused = found.refused };
        for (uint32_t p = 0; p < found.part_count; p++) {
            char text[LIMIT_NAME_BYTES];
            node_name(run->view.layout, found.parts[p].node, text);
            const size_t used = strlen(answer->nodes);
            snprintf(answer->nodes + used, sizeof answer->nodes - used, " %s", text);
        }
    }
}

static inline void details_listen(struct details_seen *seen, const struct run *run)
{
    for (uint32_t live = 0; live < run->live.count; live++) {
        const uint8_t state = run->live.jobs[live].state;
        if (state != LIVE_WAITING && state != LIVE_BLOCKED) continue;
        const char *word = run->policy->reason(run->policy_memory, &run->view, live);
        const uint32_t row = run->live.jobs[live].row;
        bool known = !word || seen->word_count == DETAIL_WORDS;
        for (uint32_t i = 0; i < seen->word_count; i++)
            known |= seen->words[i].row == row && !strcmp(seen->words[i].word, word ? word : "");
        if (!known) seen->words[seen->word_count++] = (struct waiting_word){ row, word };
    }
}

/* ---- compare --------------------------------------------------------------------------------- */

static inline bool word_is(const char *recorded, const char *ours)
{
    for (; *recorded && *ours; recorded++, ours++)
        if (*recorded != *ours && !(*recorded == '_' && *ours == ' ')) return false;
    return *recorded == *ours;
}

static inline bool depends_on_the_moment(const char *word)
{
    static const char *const words[] = { "None",      "PartitionDown",   "Priority",
                                         "Resources", "NonZeroExitCode", "BeginTime" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i], word)) return true;
    /* Which of the words for nodes that are not there is shown hangs on the pass that looked last. */
    return strstr(word, "Nodes_required") || strstr(word, "May_be_reserved") ||
           strstr(word, "UnavailableNodes");
}

struct tally {
    uint32_t good, bad;
};

static inline void tally_add(struct tally *tally, bool good, const char *what, const char *name,
                             const char *recorded)
{
    tally->good += good;
    tally->bad += !good;
    if (!good) printf("    %s %s: not as recorded, %s\n", what, name, recorded);
}

/* Second of the day in "... to start at 2026-11-30T03:26:55 ...". */
static inline int64_t second_of_day(const char *text)
{
    const char *at = strstr(text, "to start at ");
    unsigned hour, minute, second;
    if (!at || !(at = strchr(at, 'T')) ||
        sscanf(at + 1, "%2u:%2u:%2u", &hour, &minute, &second) != 3)
        return SECOND_NONE;
    return hour * 3600 + minute * 60 + second;
}

static inline bool same_nodes(const char *text, const char *ours)
{
    char list[512] = "", name[LIMIT_NAME_BYTES], token[LIMIT_NAME_BYTES + 2];
    uint32_t count = 0, mine = 0;
    const char *at = strstr(text, "on nodes ");
    if (at) snprintf(list, sizeof list, "%.*s", (int)strcspn(at + 9, " "), at + 9);
    if (hostlist_check(list, &count)) return false;
    for (const char *blank = ours; (blank = strchr(blank, ' ')); blank++) mine++;
    for (uint32_t i = 0; i < count; i++) {
        hostlist_name(list, i, name);
        snprintf(token, sizeof token, " %s", name);
        if (!strstr(ours, token)) return false;
    }
    return mine == count;
}

/* t0 is the last second t0_second of a minute before the first answer. */
static inline void compare_tests(const struct recording *recording, const struct details_seen *seen,
                                 struct tally *tally)
{
    const struct yaml_node *captures = yaml_child(recording->details.root, "captures");
    const struct yaml_node *events = yaml_child(recording->scenario.root, "events");
    int64_t first_s = INT64_MAX, at_s = 0;
    for (const struct yaml_node *node = captures ? captures->first : NULL; node; node = node->next) {
        const int64_t second = second_of_day(node->text);
        if (second != SECOND_NONE && second < first_s) first_s = second;
    }
    uint32_t index = 0;
    for (const struct yaml_node *node = events ? events->first : NULL; node; node = node->next) {
        const char *what = yaml_text_of(node, "do"), *name = yaml_text_of(node, "name");
        if (!what || strcmp(what, "test_only") != 0 || index == DETAIL_TESTS || !captures) continue;
        const struct test_answer *answer = &seen->tests[index++];
        const char *text = yaml_text_of(captures, name);
        at_s = yaml_number_of(node, "at", 0);
        if (!text) continue;
        int64_t t0_s = (first_s - at_s) / 60 * 60 + recording->t0_second;
        if (t0_s > first_s - at_s) t0_s -= 60;
        const int64_t second = second_of_day(text);
        const bool good = second == SECOND_NONE
                              ? answer->refused && strstr(text, answer->refused)
                              : !answer->refused && answer->start_s - (second - t0_s) <= 1 &&
                                    (second - t0_s) - answer->start_s <= 1 &&
                                    same_nodes(text, answer->nodes);
        tally_add(tally, good, "test-only", name, text);
    }
}

static inline void compare_refused(const struct recording *recording, const struct jobs *jobs,
                                   const struct replica_result *result, struct tally *tally)
{
    const struct yaml_node *refused = yaml_child(recording->details.root, "refused");
    const struct job_row *rows = LOG_ITEMS(&result->jobs, struct job_row);
    for (const struct yaml_node *node = refused ? refused->first : NULL; node; node = node->next) {
        const uint32_t row = row_named(jobs, node->key);
        bool good = false;
        for (uint64_t i = 0; i < result->jobs.count; i++)
            good |= rows[i].trace_row == row && rows[i].end == END_REJECTED && rows[i].reason &&
                    strstr(node->text, rows[i].reason);
        tally_add(tally, good, "refused", node->key, node->text);
    }
}

static inline void compare_words(const struct recording *recording, const struct jobs *jobs,
                                 const struct replica_result *result,
                                 const struct details_seen *seen, struct tally *tally)
{
    const struct yaml_node *list = yaml_child(recording->details.root, "pending_reasons");
    const struct job_row *rows = LOG_ITEMS(&result->jobs, struct job_row);
    for (const struct yaml_node *node = list ? list->first : NULL; node; node = node->next) {
        const char *job = yaml_text_of(node, "job"), *word = yaml_text_of(node, "reason");
        if (!job || !word || depends_on_the_moment(word)) continue;
        bool good = false;
        for (uint32_t i = 0; i < seen->word_count; i++) {
            const struct job_words *words = &jobs->words[seen->words[i].row];
            const bool same = !strcmp(jobs->text + words->name, job) ||
                              !strcmp(jobs->text + jobs->id[seen->words[i].row], job);
            good |= same && word_is(word, seen->words[i].word);
        }
        /* A job that has started by then here waits for nothing. */
        const char *text = yaml_text_of(node, "first_seen_s");
        const double seen_s = text ? strtod(text, NULL) : 0;
        for (uint64_t i = 0; i < result->jobs.count; i++)
            good |= rows[i].first_start_ns <= ns_from_s(seen_s) &&
                    !strcmp(jobs->text + jobs->words[rows[i].trace_row].name, job);
        /* A dependency that can never be met ends the job with kill_invalid_depend. */
        for (uint64_t i = 0; i < result->jobs.count; i++)
            good |= rows[i].reason && word_is(word, rows[i].reason) &&
                    !strcmp(jobs->text + jobs->words[rows[i].trace_row].name, job);
        tally_add(tally, good, "reason of", job, word);
    }
}

#endif
