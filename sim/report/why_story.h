/* why_story.h - all that a database tells of one job: its waits and what they were for, who held what it needed, its
 * attempts, and where their GPU-time went. */
#ifndef GPUPLAN_REPORT_WHY_STORY_H
#define GPUPLAN_REPORT_WHY_STORY_H

#include "base/int128.h"
#include "io/store_detail.h"
#include "io/store_read.h"
#include "report/wait_spans.h"

/* A job that held GPUs on the nodes where the wait could have ended soonest. */
struct holder {
    uint32_t serial, gpus, nodes; /* what it held on those nodes                                */
    int64_t until_ns;             /* INT64_MAX: beyond the end of the run                       */
    const char *id;
};

/* What the wait comes to, longest first. */
enum { WAIT_KINDS_MAX = 32 };
struct kind_sum {
    const char *kind;
    int64_t length_ns;
    uint64_t spans;
};

struct why_story {
    struct store_detail *detail;
    const struct stored_layout *layout;
    uint32_t replica;
    int64_t run_end_ns;
    struct detail_job job;
    struct detail_request request;
    struct log attempts; /* struct detail_attempt                                              */
    struct log kept;     /* struct detail_kept                                                 */
    struct log waits;    /* struct wait                                                        */
    struct log spans;    /* struct wait_span                                                   */
    uint32_t *idle_gpus; /* [spans] held by no job when the span began, those out of service too */
    int64_t first_wait_ns, wait_ns; /* to the first start; all waits together                  */
    struct kind_sum kinds[WAIT_KINDS_MAX];
    uint32_t kind_count;

    /* The longest span of the first kind: what it lacked when it began. */
    const struct wait_span *main_span; /* NULL without a wait                                  */
    struct log holders;                /* struct holder, most GPUs first                       */
    int64_t fits_ns;    /* when those nodes were free, had nobody else started; INT64_MAX = not in this run */
    struct log faults;  /* struct detail_fault                                                 */
    bool has_head;      /* priority and reservation: who stood first in the queue              */
    struct detail_job head;

    int128 unit_ns[ACCOUNTS]; /* of its attempts: held accounts, and `down` of broken GPUs that it held */
};

/* Reads the story of a job. why_story_clear also after a failure. */
enum status why_story_read(struct why_story *story, struct store_detail *detail,
                           const struct stored_layout *layout, const struct stored_replica *replica,
                           const struct detail_job *job, struct diag *diag);
void why_story_clear(struct why_story *story);

/* Waits and spans alone: for lists of jobs. */
enum status why_story_waits(struct why_story *story, struct diag *diag);

/* The nodes that would have fitted the request soonest at at_ns, if nobody else had started (lower numbers first): appends
 * who held them and says when. Pure: holdings by server, is_out[node_count] nodes left aside. The plain shape
 * alone counts. False when memory is out. */
struct soonest {
    const struct detail_request *request;
    const uint32_t *node_gpus;
    const uint8_t *is_out;
    uint32_t node_count;
    const struct detail_holding *holdings;
    uint64_t holding_count;
    int64_t at_ns;
};
bool why_holders(const struct soonest *soonest, struct log *holders, int64_t *fits_ns);

/* Adds what one attempt held, by account; of what its job has kept, the attempt's own counts. */
void why_account(const struct detail_attempt *attempt, const struct log *kept,
                 int128 unit_ns[ACCOUNTS]);

#endif
