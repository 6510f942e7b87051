/* test_slurm_no_kill.c - Slurm jobs with --no-kill whose nodes go down: what they go on with, how fast, until when, and what
 * that does to each account, worked out by hand.
 *
 * Nodes of 8 GPUs. Job a runs 1000 s on four of them: 60 s of start-up and 940 s of work, a checkpoint after each 100 s of wall time;
 * a restart takes 300 s. A node that goes down by hand is noticed at once. */
#include "rows.h"
#include "scenario_run.h"

#include "books_probe.h"

enum { JOBS_MOST = 2, OTHER = -2 };

struct end {
    const char *job;
    int64_t start_s, end_s, attempts;
};
struct no_kill_case {
    const char *name, *scheduler, *jobs;
    int64_t nodes;
    struct end ends[JOBS_MOST];
    int64_t compute_s, startup_s, lost_s,
        down_s; /* GPU-seconds; OTHER = not looked at               */
};

#define SLURM       "scheduler: {kind: slurm}\n"
#define CHECKPOINTS "checkpoint: {interval: 100s, size: 1 B, store: 1 EB/s}\n"
#define A           "- {id: a, run: 1000s, nodes: 4, gpus_per_node: 8, no_kill: true}\n"

static const struct no_kill_case cases[] = {
    /* At 500 s it has worked for 440, 400 are saved: 40 s of 32 GPUs are lost. 24 GPUs restart, and from 800 s on do the 540 s that
     * are left at 3/4: 720 s. Node 0 is down from 500 to 1520 s. 32 * 1520 = 30080 + 9120 + 1280 + 8160. */
    { "a node of four",
      SLURM CHECKPOINTS "events:\n- {at: 500s, node_down: lab-0}\n",
      A,
      4,
      { { "a", 0, 1520, 2 } },
      400 * 32 + 720 * 24,
      60 * 32 + 300 * 24,
      40 * 32,
      1020 * 8 },

    /* Without checkpoints all 440 s are lost, and 940 s at 3/4 take 1253.3 s. */
    { "nothing saved",
      SLURM "events:\n- {at: 500s, node_down: lab-0}\n",
      A,
      4,
      { { "a", 0, 2053, 2 } },
      940 * 32,
      60 * 32 + 300 * 24,
      440 * 32,
      OTHER },

    /* At 1030 s it has worked for 230 s more, 200 are saved, which is 150 s of work; the 390 s that are left take 780 s at 1/2. */
    { "one node after the other",
      SLURM CHECKPOINTS
      "events:\n- {at: 500s, node_down: lab-0}\n- {at: 1030s, node_down: lab-3}\n",
      A,
      4,
      { { "a", 0, 2110, 3 } },
      400 * 32 + 200 * 24 + 780 * 16,
      60 * 32 + 300 * 24 + 300 * 16,
      40 * 32 + 30 * 24,
      1610 * 8 + 1080 * 8 },

    /* The second goes down while it restarts: 100 s of that are start-up, then it begins anew. 540 s at 1/2 from 900 s on. */
    { "another node in the restart",
      SLURM CHECKPOINTS "events:\n- {at: 500s, node_down: lab-0}\n- {at: 600s, node_down: lab-1}\n",
      A,
      4,
      { { "a", 0, 1980, 3 } },
      400 * 32 + 1080 * 16,
      60 * 32 + 100 * 24 + 300 * 16,
      40 * 32,
      1480 * 8 + 1380 * 8 },

    /* Both at one instant are one loss: 540 s at 1/2. */
    { "two nodes at once",
      SLURM CHECKPOINTS "events:\n- {at: 500s, node_down: 'lab-[1-2]'}\n",
      A,
      4,
      { { "a", 0, 1880, 2 } },
      400 * 32 + 1080 * 16,
      60 * 32 + 300 * 16,
      40 * 32,
      2 * 1380 * 8 },

    /* A job that has no node left ends as any other: 121 s later (requeue_delay) it starts on the node that came back. */
    { "the last node",
      SLURM CHECKPOINTS "events:\n- {at: 500s, node_down: lab-0}\n- {at: 560s, resume: lab-0}\n",
      "- {id: a, run: 1000s, nodes: 1, gpus_per_node: 8, no_kill: true}\n",
      1,
      { { "a", 0, 500 + 121 + 300 + 540, 2 } },
      940 * 8,
      360 * 8,
      40 * 8,
      60 * 8 },
    { "all nodes at once",
      SLURM CHECKPOINTS
      "events:\n- {at: 500s, node_down: 'lab-[0-3]'}\n- {at: 560s, resume: 'lab-[0-3]'}\n",
      A,
      4,
      { { "a", 0, 500 + 121 + 300 + 540, 2 } },
      940 * 32,
      360 * 32,
      40 * 32,
      60 * 32 },

    /* The node that comes back is not a's any more: b, which waits since 510 s, gets it. */
    { "a node that comes back is free",
      SLURM CHECKPOINTS "events:\n- {at: 500s, node_down: lab-0}\n- {at: 700s, resume: lab-0}\n",
      A "- {id: b, at: 510s, run: 100s, nodes: 1, gpus_per_node: 8}\n",
      4,
      { { "a", 0, 1520, 2 }, { "b", 700, 800, 1 } },
      400 * 32 + 720 * 24 + 40 * 8,
      60 * 32 + 300 * 24 + 60 * 8,
      40 * 32,
      200 * 8 },

    /* Its limit runs on: it is killed at 1230 s, when 400 s at 3/4 are saved and 30 s are lost. */
    { "its limit runs on",
      "workload: {communication: none, kill_at_limit: true}\n" SLURM CHECKPOINTS
      "events:\n- {at: 500s, node_down: lab-0}\n",
      "- {id: a, run: 1000s, time: 1230s, nodes: 4, gpus_per_node: 8, no_kill: true}\n",
      4,
      { { "a", 0, 1230, 2 } },
      400 * 32 + 400 * 24,
      60 * 32 + 300 * 24,
      40 * 32 + 30 * 24,
      730 * 8 },

    /* A broken GPU is no node that went down: the job ends on all its nodes, and again on the fifth and three of them. */
    { "a GPU that breaks ends it",
      SLURM CHECKPOINTS "events:\n- {at: 500s, gpu_fail: 'lab-0:3'}\n",
      A,
      5,
      { { "a", 0, 500 + 121 + 300 + 540, 2 } },
      940 * 32,
      360 * 32,
      OTHER,
      OTHER },

    /* A node that is being drained stays the job's. */
    { "a node that is drained stays",
      SLURM CHECKPOINTS "events:\n- {at: 400s, drain: lab-1}\n- {at: 500s, node_down: lab-0}\n",
      A,
      4,
      { { "a", 0, 1520, 2 } },
      400 * 32 + 720 * 24,
      60 * 32 + 300 * 24,
      40 * 32,
      1020 * 8 },

    /* Whole nodes with 6 GPUs asked for on each: all 16 are its own, 8 of them are left, half the speed. */
    { "whole nodes",
      SLURM CHECKPOINTS "events:\n- {at: 500s, node_down: lab-1}\n",
      "- {id: a, run: 1000s, nodes: 2, gpus_per_node: 6, exclusive: true, no_kill: true}\n",
      2,
      { { "a", 0, 1880, 2 } },
      400 * 16 + 1080 * 8,
      60 * 16 + 300 * 8,
      40 * 16,
      1380 * 8 },

    /* Without GPUs its cores count: 4 of 8, without a checkpoint 940 s at 1/2 from 800 s on. */
    { "cores alone",
      SLURM "events:\n- {at: 500s, node_down: lab-1}\n",
      "- {id: a, run: 1000s, nodes: 2, ntasks_per_node: 4, no_kill: true}\n",
      2,
      { { "a", 0, 2680, 2 } },
      0,
      0,
      0,
      OTHER },

    /* The account may hold 32 GPUs, a holds them: b starts when a has lost 8 of them. */
    { "what it lost counts no more for limits",
      "scheduler:\n  kind: slurm\n  slurm:\n    AccountingStorageEnforce: limits\n    "
      "associations:\n"
      "    - {account: lab, GrpTRES: gres/gpu=32}\n    - {account: lab, user: ann}\n" CHECKPOINTS
      "events:\n- {at: 500s, node_down: lab-0}\n",
      "- {id: a, run: 1000s, nodes: 4, gpus_per_node: 8, no_kill: true, user: ann}\n"
      "- {id: b, at: 10s, run: 100s, nodes: 1, gpus_per_node: 8, user: ann}\n",
      5,
      { { "a", 0, 1520, 2 }, { "b", 500, 600, 1 } },
      400 * 32 + 720 * 24 + 40 * 8,
      60 * 32 + 300 * 24 + 60 * 8,
      40 * 32,
      OTHER },

    /* What goes on is the same run of its script, which ends with 1: b waits for ever, and with it the run for its end. */
    { "the same run of its script",
      SLURM CHECKPOINTS "events:\n- {at: 500s, node_down: lab-0}\n",
      "- {id: a, run: 1000s, nodes: 4, gpus_per_node: 8, no_kill: true, exit_code: 1, "
      "exit_code_again: 0}\n"
      "- {id: b, run: 100s, nodes: 1, gpus_per_node: 8, dependency: 'afterok:a'}\n",
      4,
      { { "a", 0, 1520, 2 }, { "b", NEVER, NEVER, 0 } },
      400 * 32 + 720 * 24,
      60 * 32 + 300 * 24,
      40 * 32,
      OTHER },

    /* no_kill: false is what a job without the word does. */
    { "no_kill false",
      SLURM CHECKPOINTS "events:\n- {at: 500s, node_down: lab-0}\n",
      "- {id: a, run: 1000s, nodes: 4, gpus_per_node: 8, no_kill: false}\n",
      5,
      { { "a", 0, 500 + 121 + 300 + 540, 2 } },
      940 * 32,
      360 * 32,
      40 * 32,
      OTHER },
};

static void check_account(const struct stored_run *run, const char *account, int64_t want_s)
{
    const int64_t is_s = account_s(run, account);
    if (want_s != OTHER && is_s != want_s)
        fail_msg("%s: %d GPU-s, not %d", account, (int)is_s, (int)want_s);
}

static void run_case(void **state)
{
    const struct no_kill_case *row = *state;
    struct stored_run run;
    char servers[64];
    snprintf(servers, sizeof servers, "  - {count: %d, type: dgx-h100}\n", (int)row->nodes);
    run_probe = books_probe;
    run_with(&run, strstr(row->scheduler, "workload:") ? "" : SCENARIO_WORKLOAD, row->scheduler,
             servers, row->jobs);
    run_probe = NULL;
    for (int i = 0; i < JOBS_MOST && row->ends[i].job; i++) {
        const struct end *want = &row->ends[i];
        const struct end is = { want->job, job_start_s(&run, want->job), job_end_s(&run, want->job),
                                job_number(&run, "attempts", want->job, NEVER) };
        if (is.start_s != want->start_s || is.end_s != want->end_s || is.attempts != want->attempts)
            fail_msg("%s runs from %d to %d s in %d attempts, not from %d to %d in %d", want->job,
                     (int)is.start_s, (int)is.end_s, (int)is.attempts, (int)want->start_s,
                     (int)want->end_s, (int)want->attempts);
    }
    check_account(&run, "compute", row->compute_s);
    check_account(&run, "startup", row->startup_s);
    check_account(&run, "lost", row->lost_s);
    check_account(&run, "down", row->down_s);
    scenario_forget(&run);
}

int main(void)
{
    struct rows rows = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        rows_add(&rows, run_case, &cases[i], "%s", cases[i].name);
    return rows_run("slurm_no_kill", &rows);
}
