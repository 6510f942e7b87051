/* job_spans.h - from the rows that a replica leaves behind to the spans of its jobs' waits; for tests, after cmocka. */
#ifndef TESTS_JOB_SPANS_H
#define TESTS_JOB_SPANS_H

#include "ledger/results.h"
#include "report/wait_spans.h"

#include <stdlib.h>
#include <string.h>

static inline struct told_rows causes_of_request(const struct replica_result *result, uint32_t request,
                                          struct told *rows)
{
    const struct cause_row *all = LOG_ITEMS(&result->causes, const struct cause_row);
    struct told_rows told = { .rows = rows };
    for (uint64_t i = 0; i < result->causes.count; i++)
        if (all[i].request == request)
            rows[told.count++] = (struct told){ all[i].from_ns, wait_cause_names[all[i].cause] };
    return told;
}

static inline struct told_rows words_of_job(const struct replica_result *result, uint32_t serial,
                                     struct told *rows)
{
    const struct word_row *all = LOG_ITEMS(&result->words, const struct word_row);
    struct told_rows told = { .rows = rows };
    for (uint64_t i = 0; i < result->words.count; i++)
        if (all[i].serial == serial)
            rows[told.count++] = (struct told){ all[i].from_ns, all[i].word };
    return told;
}

static inline void add_wait(struct log *waits, int64_t from_ns, int64_t to_ns, uint32_t behind)
{
    const struct wait wait = { from_ns, to_ns, behind };
    assert_true(from_ns <= to_ns);
    if (from_ns < to_ns) assert_true(log_append(waits, &wait));
}

/* The waits of a job from its attempts, which stand in order of their ends. */
static inline void waits_of_job(const struct replica_result *result, const struct job_row *job,
                         struct log *waits)
{
    const struct attempt_row *attempts = LOG_ITEMS(&result->attempts, const struct attempt_row);
    int64_t since_ns = job->submit_ns;
    uint32_t behind = 0;
    for (uint64_t i = 0; i < result->attempts.count; i++) {
        if (attempts[i].serial != job->serial) continue;
        assert_int_equal(attempts[i].attempt, behind);
        add_wait(waits, since_ns, attempts[i].start_ns, behind++);
        since_ns = attempts[i].end_ns;
    }
    const bool open = job->end == END_RUNNING || job->end == END_QUEUED;
    add_wait(waits, since_ns, open ? result->run_end_ns : job->end_ns, behind);
}

static inline void spans_of_job(const struct replica_result *result, const struct job_row *job,
                         struct log *waits, struct log *spans)
{
    struct told *causes = calloc(result->causes.count + 1, sizeof *causes);
    struct told *words = calloc(result->words.count + 1, sizeof *words);
    assert_true(causes && words);
    log_init(waits, sizeof(struct wait), 0);
    log_init(spans, sizeof(struct wait_span), 0);
    waits_of_job(result, job, waits);
    assert_true(wait_spans_cut(LOG_ITEMS(waits, struct wait), waits->count,
                               causes_of_request(result, job->request, causes),
                               words_of_job(result, job->serial, words), spans));
    free(causes);
    free(words);
}

/* The spans of one job sum to its waits, are told, and follow each other without a gap. */
static inline void spans_fill_the_wait(const struct replica_result *result, const struct job_row *job)
{
    struct log waits, spans;
    spans_of_job(result, job, &waits, &spans);
    const struct wait *wait = LOG_ITEMS(&waits, const struct wait);
    const struct wait_span *span = LOG_ITEMS(&spans, const struct wait_span);
    uint64_t s = 0;
    for (uint64_t w = 0; w < waits.count; w++) {
        int64_t at_ns = wait[w].from_ns;
        for (; s < spans.count && span[s].behind == wait[w].behind; s++) {
            assert_int_equal(span[s].from_ns, at_ns);
            assert_true(span[s].to_ns > at_ns);
            assert_string_not_equal(wait_kind(&span[s]), "unknown");
            at_ns = span[s].to_ns;
        }
        assert_int_equal(at_ns, wait[w].to_ns);
    }
    assert_int_equal(s, spans.count);
    log_clear(&waits);
    log_clear(&spans);
}

#endif
