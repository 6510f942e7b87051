/* slurm_state.h - inside of the Slurm policy: what its parts share.
 *
 * slurm.c         when the passes run, what happened since, the policy's calls
 * slurm_jobs.c    what Slurm knows of each live job: need, limit, planned end, why it waits
 * slurm_gate.c    who is in the queue at all: holds, dependencies, begin times, refusals
 * slurm_books.c   who a job belongs to: limits, use, priorities
 * slurm_main.c    the main pass            slurm_backfill.c  the backfill pass
 * slurm_sleep.c   power saving: nodes that are put out, and jobs that wait for theirs to come up
 * slurm_ending.c  jobs that are stopped and not gone yet
 * slurm_evict.c   preemption: who goes, when, and who goes on
 * slurm_het.c     heterogeneous jobs: components that start together
 * slurm_ask.c     questions from outside: --test-only, squeue --start
 * slurm_future.c  when and where a job fits, now or after others have gone
 *
 * Times of the schedulers are whole seconds of the wall clock, as in slurmctld: the simulation's time plus the phase of
 * its start within a minute. */
#ifndef GPUPLAN_POLICY_SLURM_STATE_H
#define GPUPLAN_POLICY_SLURM_STATE_H

#include "base/clock.h"
#include "policy/policy.h"
#include "policy/slurm_assoc.h"
#include "policy/slurm_fairtree.h"
#include "policy/slurm_hopeless.h"
#include "policy/slurm_limits.h"
#include "policy/slurm_need.h"
#include "policy/slurm_nodes.h"
#include "policy/slurm_picture.h"
#include "policy/slurm_power.h"
#include "policy/slurm_preempt.h"
#include "policy/slurm_priority.h"
#include "policy/slurm_queue.h"
#include "policy/slurm_ready.h"
#include "policy/slurm_reserve.h"
#include "policy/slurm_select.h"
#include "policy/slurm_slots.h"
#include "policy/slurm_vacancy.h"

#define SECONDS_NEVER INT64_MAX
#define YEAR_S        INT64_C(31536000) /* what a job without a limit is planned as                      */

/* One live job, by live row. */
struct slurm_job {
    int64_t limit_s;       /* planned length                                                       */
    int64_t planned_end_s; /* while it runs                                                      */
    int64_t eligible_ns;   /* since when nothing but other jobs stood in its way                      */
    int64_t billing_micro; /* what it is booked with while it runs                                 */
    uint32_t basic;        /* priority/basic                                                       */
    const char *reason;    /* why it waits, as squeue says; NULL = not looked at yet                    */
    uint32_t partition;    /* where it runs                                                       */
    int64_t ready_ns;      /* it holds nodes that are up by then, and starts then; 0 = it does not       */
    int64_t own_s;         /* component of a heterogeneous job: when it could start by itself            */
    uint32_t own_cycle;    /* backfill cycle that says so                                             */
    int64_t suspended_ns;  /* since when it stands still                                           */
    int64_t gone_ns;       /* of a doomed job: when it is stopped                                   */
    int64_t again_ns;      /* of a doomed job: when it may start again                               */
    int64_t evicts_until_ns; /* those that it evicts are gone by then                               */
    enum decide doom;      /* what becomes of it                                                   */
    bool runs, held, doomed, suspended, in_reservation;
    bool again; /* it has run before, and was requeued                                       */
};

/* What a job that is not gone yet holds on one node. */
struct slurm_ending {
    struct part part;
    int64_t until_ns;
};

/* A decision that waits for its turn. */
struct slurm_act {
    enum decide what;
    uint32_t live;
    int64_t delay_ns;
};

/* The picture of the future, in which each node is as it will be in [from_s, behind_s). */
struct slurm_holds {
    int64_t from_s, behind_s; /* equal: it must be brought to any time                                */
};
struct slurm_going {
    int64_t end_s;
    uint32_t live, grant;
};
struct slurm_future {
    struct slurm_picture picture;
    struct slurm_holds *holds; /* [nodes]                                                          */
    struct slurm_going *going; /* [going_capacity] scratch, owned                                    */
    uint32_t going_capacity;
    uint64_t *set; /* [words] scratch                                                             */
};

enum slurm_stage { STAGE_BEFORE, STAGE_MAIN, STAGE_BACKFILL, STAGE_DONE };

/* Power saving. */
struct slurm_sleep {
    struct slurm_power power;
    uint64_t *out;          /* [words] nodes that this policy has put out; NULL = no power saving         */
    uint32_t moved;         /* node of the last such decision, until its note has come                  */
    struct part one;        /* of such a decision                                                  */
    struct running risings; /* jobs that hold nodes, by the time when these are up                      */
    struct part *parts;     /* [part_count] of the job that is being given nodes, owned                   */
    uint32_t part_count, part_capacity, at;
    uint32_t waking, claimed; /* this job; then the same until its claim is seen; LIVE_NONE = nobody       */
    int64_t ready_ns;
};

struct slurm {
    const struct slurm_spec *spec;
    struct arena *arena;
    struct slurm_nodes nodes;
    struct slurm_picture picture;
    struct slurm_future future;
    struct slurm_vacancy vacancy;
    struct slurm_chooser *chooser;
    struct slurm_queue queue;
    struct slurm_walk walk;
    struct slurm_need **needs; /* [class_count * partition_count] made when first used; NULL = not yet  */
    uint8_t *feasible;         /* [class_count * partition_count] 0 = not asked yet, 1 = no, 2 = yes   */
    struct slurm_job *jobs;    /* [job_capacity] by live row                                        */
    uint32_t job_capacity;
    struct slurm_assoc assoc;
    struct slurm_limits limits;
    struct slurm_fairtree fair;
    uint32_t priority_lowest;   /* of priority/basic                                              */
    struct slurm_tres all;      /* of the cluster                                                 */
    struct slurm_tres *in_partition; /* [partition_count]                                        */
    int64_t calc_ns;            /* when priorities are computed next                               */
    struct running ends;      /* running jobs by planned end, in ns of the wall clock                    */
    struct slots slots;
    struct slurm_hopeless hopeless;
    struct slurm_sleep sleep;
    struct slurm_reserve reserve;

    struct slurm_ready ready; /* who may be looked at                                            */
    int64_t boundary_ns;     /* when a reservation begins or ends next                              */
    int64_t last_ns;         /* of the last note                                                 */

    uint64_t *dirty; /* [words] nodes to be read again                                           */
    bool all_dirty;
    uint64_t *candidates, *chosen; /* [words]                                                    */

    /* When. */
    enum slurm_stage stage;
    bool event;        /* something happened that the main pass answers                              */
    bool changed;      /* something changed since the last backfill cycle                            */
    bool full_wanted;  /* the last main pass did not look at all jobs                                */
    bool acting;       /* the policy's own decisions are being applied                               */
    bool time_matters; /* a job waits for time to pass: the timers go on                             */

    /* Preemption. */
    struct slurm_preempt preempt;
    struct running kills;         /* doomed jobs by the time when they are gone                          */
    struct slurm_act *acts;       /* [act_count] to be done at once, from act_at on                      */
    uint32_t act_count, act_at, act_capacity;
    uint32_t *suspended;          /* [suspended_count] in order of time                                */
    uint32_t suspended_count, suspended_capacity;
    struct slurm_victim *victims; /* [victim_capacity]                                             */
    uint32_t victim_capacity;
    struct part *place;           /* [place_count] of the last trial                                   */
    uint32_t place_count;
    struct slurm_entry retry;     /* tried again when the acts are done                                 */
    bool has_retry;

    /* Jobs that are ending: ending_kept of ending_count; the others are of the job that ended last. */
    struct slurm_ending *endings;
    uint32_t ending_count, ending_kept, ending_capacity, ending_live;

    /* The main pass. */
    bool *failed;       /* [partition_count] none of its later jobs may start in this pass              */
    uint64_t *withheld; /* [words]                                                               */
    uint32_t depth_left;

    /* The backfill pass. */
    uint32_t tested, cycle;
    uint32_t *tested_part, *tested_user, *tested_assoc; /* [partitions, user names, associations] of this cycle */
    uint32_t *het;       /* [het_count] rows of first components whose time has come in this cycle          */
    uint32_t het_count, het_at, het_capacity;
    uint32_t het_component; /* of het[het_at]: components that have started                             */
    int64_t sched_start_s;
    bool out_of_memory;
};

static inline int64_t slurm_clock_s(const struct slurm *slurm, int64_t now_ns)
{
    return (now_ns + slurm->spec->clock_phase_ns) / NS_PER_S;
}

/* ---- slurm_jobs.c ---- */

bool slurm_jobs_grow(struct slurm *slurm, uint32_t capacity);

/* What a request class, or an entry of the queue, needs in a partition; NULL: memory is out. */
const struct slurm_need *slurm_need_in(struct slurm *slurm, const struct policy_view *view,
                                       uint32_t class_, uint32_t partition);
const struct slurm_need *slurm_need_of(struct slurm *slurm, const struct policy_view *view,
                                       const struct slurm_entry *entry);

/* Why the partition takes no such job: it is down, or the job asks for more time than MaxTime. NULL = it does. */
const char *slurm_partition_shut(const struct slurm *slurm, const struct policy_view *view,
                                 const struct slurm_entry *entry);

/* Planned length of a job in a partition. */
int64_t slurm_limit_s(const struct slurm *slurm, const struct policy_view *view,
                      const struct slurm_entry *entry);

/* Whether the nodes of the partition, up and empty, could hold it. */
bool slurm_is_feasible(struct slurm *slurm, const struct policy_view *view,
                       const struct slurm_entry *entry, const struct slurm_need *need);

/* Takes out of the candidates the nodes that reservations keep from a job that would run from start_s on. Returns the
 * second from which a later start may find more; SECONDS_NEVER = none. *reason: NULL, or why. */
int64_t slurm_unreserved(struct slurm *slurm, const struct policy_view *view,
                         const struct slurm_entry *entry, int64_t start_s, int64_t limit_s,
                         const char **reason);

/* The reservation that a job names, or RESERVATION_NONE; *admitted: whether it may. */
uint32_t slurm_reservation_of(const struct slurm *slurm, const struct policy_view *view,
                              uint32_t row, bool *admitted);

/* The partitions that a job may go to, one by one. */
struct slurm_partitions {
    const char *at; /* rest of the list; NULL = the default one                                */
    bool done;
};
struct slurm_partitions slurm_partitions_of(const struct slurm *slurm,
                                            const struct policy_view *view, uint32_t row);
bool slurm_partitions_next(const struct slurm *slurm, struct slurm_partitions *list,
                           uint32_t *partition);

/* Enters a job that may start into the queue, once for each of its partitions. */
bool slurm_enqueue(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                   int64_t now_ns);

/* Nodes of a running job are to be read again. */
void slurm_dirty_job(struct slurm *slurm, const struct policy_view *view, uint32_t live);
void slurm_refresh(struct slurm *slurm, const struct policy_view *view);

/* ---- slurm_gate.c ---- */

/* Asked before each pass: takes jobs into the queue and out of it; true when it has a decision. */
bool slurm_gate_next(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                     struct decision *decision);

/* ---- slurm_requeue.c ---- */

/* What the current or last run of a job ends with. */
int32_t slurm_exit_code(const struct slurm *slurm, const struct policy_view *view, uint32_t live);

struct sequel slurm_sequel(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                           enum attempt_close how);
bool slurm_goes_on(const struct slurm *slurm, const struct policy_view *view, uint32_t live,
                   enum component component);
int64_t slurm_detection_ns(const struct slurm *slurm, const struct policy_view *view,
                           enum component component);

/* ---- slurm_books.c ---- */

bool slurm_books_init(struct slurm *slurm, const struct policy_view *view, struct arena *arena);
void slurm_books_clear(struct slurm *slurm);

struct slurm_owner slurm_owner_of(const struct slurm *slurm, const struct policy_view *view,
                                  uint32_t row);

/* Why no further job of this array, user, account or QOS may start; NULL = one may. */
const char *slurm_jobs_over(const struct slurm *slurm, const struct policy_view *view,
                            uint32_t row);

/* What a job asks for, before it has nodes. */
struct slurm_amount slurm_books_asked(const struct slurm *slurm, uint32_t live,
                                      const struct slurm_need *need);

/* Why a job may not start on these parts; NULL = it may. */
const char *slurm_books_over(const struct slurm *slurm, const struct policy_view *view,
                             uint32_t live, const struct part *parts, uint32_t count,
                             int64_t now_ns);

/* A job that has its nodes is charged, for so long at most; one that is about to give them back no longer. */
void slurm_books_start(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                       int64_t limit_ns, int64_t now_ns);
void slurm_books_end(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                     int64_t now_ns);

/* A job is submitted, or released from a hold: priority/basic ranks it behind all that were ranked before. */
void slurm_rank(struct slurm *slurm, const struct policy_view *view, uint32_t live);

/* The number that orders a waiting job in one partition. */
uint32_t slurm_priority_in(struct slurm *slurm, const struct policy_view *view,
                           const struct slurm_entry *entry, int64_t now_ns);

/* Computes use and all priorities anew when PriorityCalcPeriod is over. */
void slurm_recompute(struct slurm *slurm, const struct policy_view *view, int64_t now_ns);

/* ---- slurm_sleep.c ---- */

bool slurm_sleep_init(struct slurm *slurm, const struct policy_view *view, struct arena *arena);
void slurm_sleep_clear(struct slurm *slurm);

/* A node has been read into the picture: whether it idles, whether it may be chosen. */
void slurm_sleep_seen(struct slurm *slurm, const struct policy_view *view, uint32_t node);

/* Whether a note about nodes is of this file's own last decision. */
bool slurm_sleep_own_note(struct slurm *slurm);

/* Asked first at each call: true when it has a decision. */
bool slurm_sleep_next(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                      struct decision *decision);

/* Turns a start on nodes that sleep into its first step; false: memory is out. */
bool slurm_sleep_wrap(struct slurm *slurm, int64_t now_ns, struct decision *decision);

/* A job gives back what it claimed: it waits again, unless it is over. */
void slurm_sleep_dropped(struct slurm *slurm, uint32_t live);

int64_t slurm_sleep_wake_ns(const struct slurm *slurm);

/* ---- slurm.c ---- */

/* The job has its nodes and runs from start_ns on. */
void slurm_job_holds(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                     int64_t start_ns, int64_t now_ns);

/* ---- passes: one decision a call; false when the pass is over ---- */

bool slurm_main_retry(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                      struct decision *decision);
void slurm_main_begin(struct slurm *slurm, uint32_t depth);
bool slurm_main_next(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                     struct decision *decision);
/* Set by tests: no step is passed over and the selector is asked each time, as slurmctld does. */
extern bool slurm_asks_always;

bool slurm_backfill_init(struct slurm *slurm, struct arena *arena);
void slurm_backfill_begin(struct slurm *slurm, int64_t now_ns);
bool slurm_backfill_next(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                         struct decision *decision);

/* ---- slurm_ending.c ---- */

/* A job is about to give its nodes back; it is gone only at until_ns; it is gone at once. */
void slurm_ending_note(struct slurm *slurm, const struct policy_view *view, uint32_t live);
void slurm_ending_keep(struct slurm *slurm, uint32_t live, int64_t until_ns);
void slurm_ending_drop(struct slurm *slurm);

void slurm_ending_pass(struct slurm *slurm, int64_t now_ns);
void slurm_ending_draw(struct slurm *slurm, const uint64_t *done);
int64_t slurm_ending_wake_ns(const struct slurm *slurm);

/* ---- slurm_evict.c ---- */

void slurm_evict_init(struct slurm *slurm);
void slurm_evict_clear(struct slurm *slurm);

/* A doomed job ended by itself; a job runs in a reservation, and is stopped at its end. */
void slurm_evict_forget(struct slurm *slurm, uint32_t live);
void slurm_evict_with_reservation(struct slurm *slurm, const struct policy_view *view,
                                  uint32_t live);

struct slurm_side slurm_side_of(const struct slurm *slurm, const struct policy_view *view,
                                uint32_t live);

/* Dooms or suspends others for a job that does not fit. False: it evicts nobody; *over: since the job would be over
 * this limit on the place that they leave, else NULL. */
bool slurm_evict_for(struct slurm *slurm, const struct policy_view *view,
                     const struct slurm_entry *entry, const struct slurm_need *need,
                     const struct slurm_how *how, int64_t now_ns, const char **over);

/* The next of the acts that were decided; of the doomed whose time has come, and the suspended that can go on. */
bool slurm_evict_act(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                     struct decision *decision);
bool slurm_evict_next(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                      struct decision *decision);
int64_t slurm_evict_wake_ns(const struct slurm *slurm);

/* ---- slurm_het.c ---- */

/* The first row of the heterogeneous job that a row is a component of, or JOB_NONE. */
static inline uint32_t slurm_het_of(const struct policy_view *view, uint32_t row)
{
    return view->jobs->words ? view->jobs->words[row].het_first_row : JOB_NONE;
}

/* A component could start at start_s by itself: when all of them can, as far as is known. */
int64_t slurm_het_start_s(struct slurm *slurm, const struct policy_view *view, uint32_t live,
                          int64_t start_s);

/* A component could start now together with the others: the job is tried when the walk is over. */
bool slurm_het_push(struct slurm *slurm, uint32_t first_row);
bool slurm_het_next(struct slurm *slurm, const struct policy_view *view, int64_t now_ns,
                    struct decision *decision);

/* ---- slurm_backfill.c ---- */

/* The candidates of an entry that would run from at_s on; the next time at which there may be more. */
int64_t slurm_backfill_candidates(struct slurm *slurm, const struct policy_view *view,
                                  const struct slurm_entry *entry, int64_t at_s, int64_t limit_s);

/* ---- slurm_future.c ---- */

bool slurm_future_init(struct slurm *slurm, struct arena *arena);
void slurm_future_clear(struct slurm *slurm);
bool slurm_is_plain(const struct slurm *slurm, const struct slurm_need *need);
/* The node has changed, or when jobs on it end; the same for all nodes of a job. */
void slurm_future_forget(struct slurm *slurm, uint32_t node);
void slurm_future_forget_job(struct slurm *slurm, const struct policy_view *view, uint32_t live);

/* Where a job would go on candidates[words], and when (SCHEDULING 2.3, step 5). */
struct slurm_when {
    enum slurm_answer answer; /* SLURM_PLACED, or why not even when all others have gone               */
    bool now;                 /* else at start_s, the expected end of the last job that had to go        */
    int64_t start_s;
};

/* Candidates, of which a job takes nodes_min. */
struct slurm_crowd {
    const uint64_t *candidates; /* [words]                                                       */
    uint32_t table, nodes_min;  /* table: of when they are ready                                   */
    int64_t ready_s;            /* nodes_min of them are ready (slurm_vacancy_at)                   */
    int64_t least_s;            /* no nodes_min of any candidates are ready before; 0 = not known     */
    bool nodes_only; /* slurm_chosen is enough of a start in the future: a plain request, no node with Cores=  */
    int64_t base_s;             /* from where windows of ends are counted; 0 = not asked yet          */
    int64_t until_s, end_s;     /* the last end by until_s, of which was asked last; 0 = not asked yet       */
};

/* How many of them are ready by until_s, as slurm_vacancy_count; of one node that is known from ready_s, which must be set. */
uint32_t slurm_crowd_ready(struct slurm *slurm, const struct policy_view *view,
                           const struct slurm_crowd *crowd, int64_t until_s);

/* True: the start of a plain request that cannot start now lies behind later_s. False: it may, or not.
 * Step 5 takes the first window by whose end enough candidates are ready. When they are not by the last window that ends
 * by later_s, it takes a later one, and starts no sooner than the last end on candidates within the next one. */
bool slurm_when_is_behind(struct slurm *slurm, const struct policy_view *view,
                          struct slurm_crowd *crowd, int64_t now_s, int64_t later_s);

/* The start of a plain request that cannot start now, and *until_s, by which those have gone that the selector would do
 * without. SECONDS_NEVER = it never starts on them. */
int64_t slurm_when_expected(struct slurm *slurm, const struct policy_view *view,
                            struct slurm_crowd *crowd, int64_t now_s, int64_t *until_s);

struct slurm_when slurm_when(struct slurm *slurm, const struct policy_view *view,
                             const struct slurm_need *need, const struct slurm_how *how,
                             int64_t now_s, struct slurm_crowd *crowd);

#endif
