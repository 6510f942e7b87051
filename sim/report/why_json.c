/* why_json.c - the story of a job as JSON. */
#include "report/why_print.h"

#include "base/text.h"

#include <jansson.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Text that is not UTF-8 is shown escaped; NULL is null. */
static json_t *text_of(const char *text)
{
    if (text == NULL) return json_null();
    json_t *plain = json_string(text);
    if (plain != NULL) return plain;
    char safe[4096];
    return json_string(text_escape(text, strlen(text), safe, sizeof safe));
}

static json_t *time_of(int64_t at_ns)
{
    return at_ns < INT64_MAX ? json_integer(at_ns) : json_null();
}

/* An array of what `one` makes of each row; NULL when memory is out. */
static json_t *array_of(const struct why_story *story, uint64_t count,
                        json_t *(*one)(const struct why_story *story, uint64_t row))
{
    json_t *array = json_array();
    for (uint64_t i = 0; i < count; i++)
        if (json_array_append_new(array, one(story, i)) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

static json_t *span_of(const struct why_story *story, uint64_t row)
{
    const struct wait_span *span = &LOG_ITEMS(&story->spans, const struct wait_span)[row];
    return json_pack("{s:I, s:I, s:I, s:s, s:o, s:o, s:I}", "attempts_before",
                     (json_int_t)span->behind, "from_ns", (json_int_t)span->from_ns, "to_ns",
                     (json_int_t)span->to_ns, "waits_for", wait_kind(span), "cause",
                     text_of(span->cause), "word", text_of(span->word), "idle_gpus",
                     (json_int_t)story->idle_gpus[row]);
}

static json_t *kind_of(const struct why_story *story, uint64_t row)
{
    const struct kind_sum *kind = &story->kinds[row];
    return json_pack("{s:s, s:I, s:I}", "waits_for", kind->kind, "ns", (json_int_t)kind->length_ns,
                     "spans", (json_int_t)kind->spans);
}

static json_t *holder_of(const struct why_story *story, uint64_t row)
{
    const struct holder *holder = &LOG_ITEMS(&story->holders, const struct holder)[row];
    return json_pack("{s:o, s:I, s:I, s:I, s:o}", "id", text_of(holder->id), "serial",
                     (json_int_t)holder->serial, "gpus", (json_int_t)holder->gpus, "nodes",
                     (json_int_t)holder->nodes, "until_ns", time_of(holder->until_ns));
}

static json_t *fault_of(const struct why_story *story, uint64_t row)
{
    const struct detail_fault *fault = &LOG_ITEMS(&story->faults, const struct detail_fault)[row];
    return json_pack("{s:I, s:o, s:f, s:o}", "node", (json_int_t)fault->node, "component",
                     text_of(fault->component), "at_s", fault->at_s, "repaired_s",
                     isfinite(fault->repaired_s) ? json_real(fault->repaired_s) : json_null());
}

static json_t *attempt_of(const struct why_story *story, uint64_t row)
{
    const struct detail_attempt *attempt =
        &LOG_ITEMS(&story->attempts, const struct detail_attempt)[row];
    return json_pack("{s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "attempt",
                     (json_int_t)attempt->attempt, "start_ns", (json_int_t)attempt->start_ns,
                     "work_start_ns", (json_int_t)(attempt->start_ns + attempt->startup_ns),
                     "durable_ns", (json_int_t)attempt->durable_ns, "fault_ns",
                     time_of(attempt->fault_ns), "end_ns", (json_int_t)attempt->end_ns, "nodes",
                     (json_int_t)attempt->servers, "gpus", (json_int_t)attempt->gpus_held,
                     "outcome", text_of(attempt->outcome), "algorithm", text_of(attempt->algorithm),
                     "bottleneck", text_of(attempt->bottleneck));
}

static json_t *accounts_of(const struct why_story *story)
{
    json_t *object = json_object();
    for (int account = 0; account < ACCOUNTS; account++) {
        if (story->unit_ns[account] == 0) continue;
        const double gpu_s = (double)story->unit_ns[account] / ((double)UNITS_PER_GPU * 1e9);
        if (json_object_set_new(object, account_names[account], json_real(gpu_s)) == 0) continue;
        json_decref(object);
        return NULL;
    }
    return object;
}

/* What its longest span lacked when it began. */
static json_t *lack_of(const struct why_story *story)
{
    if (story->main_span == NULL) return json_null();
    return json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "waits_for",
                     wait_kind(story->main_span), "at_ns", (json_int_t)story->main_span->from_ns,
                     "nodes", (json_int_t)story->request.nodes, "gpus_per_node",
                     (json_int_t)story->request.gpus_per_node, "fits_ns", time_of(story->fits_ns),
                     "head", story->has_head ? text_of(story->head.id) : json_null(), "holders",
                     array_of(story, story->holders.count, holder_of), "faults",
                     array_of(story, story->faults.count, fault_of));
}

static json_t *job_of(const struct why_story *story)
{
    const struct detail_job *job = &story->job;
    return json_pack("{s:o, s:I, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:I, s:I, s:o}", "id",
                     text_of(job->id), "serial", (json_int_t)job->serial, "layout",
                     text_of(story->layout->name), "slack", (json_int_t)story->layout->slack,
                     "replica", (json_int_t)story->replica, "submit_ns", (json_int_t)job->submit_ns,
                     "first_start_ns", time_of(job->first_start_ns), "end_ns", time_of(job->end_ns),
                     "outcome", text_of(job->outcome), "reason", text_of(job->reason), "gpus",
                     (json_int_t)job->gpus, "wait_ns", (json_int_t)story->wait_ns, "waits_for",
                     array_of(story, story->kind_count, kind_of));
}

static json_t *elsewhere_of(const struct why_elsewhere *elsewhere, uint32_t count)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++) {
        json_t *row =
            json_pack("{s:o, s:I, s:o, s:b}", "layout", text_of(elsewhere[i].layout->name), "slack",
                      (json_int_t)elsewhere[i].layout->slack, "first_wait_ns",
                      elsewhere[i].wait_ns < 0 ? json_null() : json_integer(elsewhere[i].wait_ns),
                      "started", elsewhere[i].started);
        if (json_array_append_new(array, row) == 0) continue;
        json_decref(array);
        return NULL;
    }
    return array;
}

static enum status print(json_t *root, FILE *out, struct diag *diag)
{
    if (root == NULL) return diag_world(diag, "out of memory while writing JSON");
    char *text = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    if (text == NULL) return diag_world(diag, "the job cannot be written as JSON");
    fprintf(out, "%s\n", text);
    free(text);
    return STATUS_OK;
}

enum status why_json(const struct why_story *story, const struct why_elsewhere *elsewhere,
                     uint32_t count, FILE *out, struct diag *diag)
{
    json_t *root =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "job", job_of(story), "spans",
                  array_of(story, story->spans.count, span_of), "lacked", lack_of(story),
                  "attempts", array_of(story, story->attempts.count, attempt_of), "gpu_s",
                  accounts_of(story), "elsewhere", elsewhere_of(elsewhere, count));
    return print(root, out, diag);
}

enum status why_list_json(const struct why_story *stories, uint64_t count, FILE *out,
                          struct diag *diag)
{
    json_t *array = json_array();
    for (uint64_t i = 0; i < count; i++)
        if (json_array_append_new(array, job_of(&stories[i])) != 0) {
            json_decref(array);
            array = NULL;
            break;
        }
    return print(array, out, diag);
}
