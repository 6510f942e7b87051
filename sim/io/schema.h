/* schema.h - the result database (DESIGN 9). Units are in column names; times are relative to the
 * first submission. Tables that users may grow columns on are read by name, never by position. */
#ifndef GPUPLAN_IO_SCHEMA_H
#define GPUPLAN_IO_SCHEMA_H

#define STORE_APPLICATION_ID 0x67707030 /* "gpp0" */
#define STORE_VERSION        2

static const char store_schema[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE import_report(source TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL,"
    "  rows INTEGER NOT NULL);" /* outcome: read, imported, skipped, repaired */
    /* What the result rests on: communication profiles, failure rates, hardware. mark: confirmed, derived,
     * memory, assumed, hypothetical (catalog); published, stated (failure rates). */
    "CREATE TABLE assumption(subject TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,"
    "  mark TEXT NOT NULL, source TEXT NOT NULL, PRIMARY KEY(subject, name)) WITHOUT ROWID;"
    /* Gates of the scenario; below = 1: the metric must be below bound, 0: above it. */
    "CREATE TABLE gate(gate INTEGER PRIMARY KEY, metric TEXT NOT NULL, layout TEXT NOT NULL,"
    "  below INTEGER NOT NULL, bound REAL NOT NULL);"
    /* One row per column of the comparison: a layout under one slack rule. slack -1 = any. */
    "CREATE TABLE layout(layout_id INTEGER PRIMARY KEY, name TEXT NOT NULL, slack INTEGER NOT NULL,"
    "  is_baseline INTEGER NOT NULL, server_type TEXT NOT NULL, hypothetical INTEGER NOT NULL,"
    "  servers INTEGER NOT NULL, gpus_per_server INTEGER NOT NULL, gpus INTEGER NOT NULL,"
    "  gpu_type TEXT NOT NULL, link_type TEXT NOT NULL, fabric_type TEXT NOT NULL,"
    "  nics_per_server INTEGER NOT NULL,"
    "  oversubscription REAL NOT NULL, servers_per_leaf INTEGER NOT NULL, leaves INTEGER NOT NULL,"
    "  spines INTEGER NOT NULL, trunks INTEGER NOT NULL, server_price_usd REAL,"
    "  offered_load REAL NOT NULL, jobs_never_fit INTEGER NOT NULL, unserved_gpu_s REAL NOT NULL);"
    "CREATE TABLE server(layout_id INTEGER NOT NULL, server INTEGER NOT NULL, leaf INTEGER NOT NULL,"
    "  PRIMARY KEY(layout_id, server)) WITHOUT ROWID;"
    "CREATE TABLE node(layout_id INTEGER NOT NULL, node INTEGER NOT NULL, server INTEGER NOT NULL,"
    "  gpus INTEGER NOT NULL, cores INTEGER NOT NULL, memory_bytes INTEGER NOT NULL,"
    "  PRIMARY KEY(layout_id, node)) WITHOUT ROWID;"
    "CREATE TABLE gpu(layout_id INTEGER NOT NULL, gpu INTEGER NOT NULL, node INTEGER NOT NULL,"
    "  PRIMARY KEY(layout_id, gpu)) WITHOUT ROWID;"
    /* kind: replay, blast (the pooled failure-only run; replica -1). seconds is volatile. */
    "CREATE TABLE replica(layout_id INTEGER NOT NULL, replica INTEGER NOT NULL, kind TEXT NOT NULL,"
    "  window_start_ns INTEGER NOT NULL, window_end_ns INTEGER NOT NULL, run_end_ns INTEGER NOT NULL,"
    "  jobs_submitted INTEGER NOT NULL, jobs_finished INTEGER NOT NULL, jobs_killed INTEGER NOT NULL,"
    "  jobs_rejected INTEGER NOT NULL, jobs_running INTEGER NOT NULL, jobs_queued INTEGER NOT NULL,"
    "  events INTEGER NOT NULL, seconds REAL NOT NULL, PRIMARY KEY(layout_id, replica)) WITHOUT ROWID;"
    /* Inside the window. Whole GPU-seconds, and the remainder in units * ns (1 GPU = 1,008,000 units):
     * gpu_s + gpu_rest / 1.008e15. All accounts and classes are rows, zeros too, so that means over
     * replicas are right. ledger_run is the same from 0 to run_end_ns. */
    "CREATE TABLE ledger(layout_id INTEGER NOT NULL, replica INTEGER NOT NULL, account TEXT NOT NULL,"
    "  class TEXT NOT NULL, gpu_s INTEGER NOT NULL, gpu_rest INTEGER NOT NULL,"
    "  PRIMARY KEY(layout_id, replica, account, class)) WITHOUT ROWID;"
    "CREATE TABLE ledger_run(layout_id INTEGER NOT NULL, replica INTEGER NOT NULL, account TEXT NOT NULL,"
    "  class TEXT NOT NULL, gpu_s INTEGER NOT NULL, gpu_rest INTEGER NOT NULL,"
    "  PRIMARY KEY(layout_id, replica, account, class)) WITHOUT ROWID;"
    /* An account that holds nothing in a bin has no row there (half of the file otherwise): a mean over
     * replicas is sum(gpu_s) / replicas, not avg(gpu_s). */
    "CREATE TABLE curve(layout_id INTEGER NOT NULL, replica INTEGER NOT NULL, bin_start_s REAL NOT NULL,"
    "  bin_end_s REAL NOT NULL, account TEXT NOT NULL, gpu_s REAL NOT NULL,"
    "  PRIMARY KEY(layout_id, replica, bin_start_s, account)) WITHOUT ROWID;"
    /* class: a size class, or 'none' for a number over all jobs (ledger: GPU-time that no job holds). */
    "CREATE TABLE metric(layout_id INTEGER NOT NULL, replica INTEGER NOT NULL, name TEXT NOT NULL,"
    "  class TEXT NOT NULL, unit TEXT NOT NULL, value REAL NOT NULL,"
    "  PRIMARY KEY(layout_id, replica, name, class)) WITHOUT ROWID;"
    /* Assumptions moved by themselves; setting 0, the scenario as written, has its rows in metric. */
    "CREATE TABLE setting(setting INTEGER PRIMARY KEY, axis TEXT NOT NULL, factor REAL NOT NULL);"
    "CREATE TABLE tornado(setting INTEGER NOT NULL, layout_id INTEGER NOT NULL, replica INTEGER NOT NULL,"
    "  name TEXT NOT NULL, class TEXT NOT NULL, unit TEXT NOT NULL, value REAL NOT NULL,"
    "  PRIMARY KEY(setting, layout_id, replica, name, class)) WITHOUT ROWID;"
    "CREATE TABLE incident(layout_id INTEGER NOT NULL, replica INTEGER NOT NULL, incident INTEGER NOT NULL,"
    "  at_s REAL NOT NULL, repaired_s REAL, component TEXT NOT NULL, element INTEGER NOT NULL,"
    "  gpus_broken INTEGER NOT NULL, gpus_removed INTEGER NOT NULL, gpus_stopped INTEGER NOT NULL,"
    "  jobs_hit INTEGER NOT NULL, lost_gpu_s REAL NOT NULL, restart_gpu_s REAL NOT NULL,"
    "  down_gpu_s REAL NOT NULL, PRIMARY KEY(layout_id, replica, incident)) WITHOUT ROWID;"
    /* Detail (replica 0 by default). Times in ns so that the ledger can be recomputed exactly. */
    "CREATE TABLE job(layout_id INTEGER NOT NULL, replica INTEGER NOT NULL, serial INTEGER NOT NULL,"
    "  id TEXT NOT NULL, trace_row INTEGER NOT NULL, submit_ns INTEGER NOT NULL,"
    "  first_start_ns INTEGER, end_ns INTEGER, gpus INTEGER NOT NULL, attempts INTEGER NOT NULL,"
    "  outcome TEXT NOT NULL, in_cohort INTEGER NOT NULL, request INTEGER NOT NULL,"
    "  reason TEXT," /* of a rejection */
    "  PRIMARY KEY(layout_id, replica, serial)) WITHOUT ROWID;"
    "CREATE TABLE attempt(layout_id INTEGER NOT NULL, replica INTEGER NOT NULL, serial INTEGER NOT NULL,"
    "  attempt INTEGER NOT NULL, start_ns INTEGER NOT NULL, startup_ns INTEGER NOT NULL,"
    "  durable_ns INTEGER NOT NULL, fault_ns INTEGER, end_ns INTEGER NOT NULL, outcome TEXT NOT NULL,"
    "  class TEXT NOT NULL, gpus_held INTEGER NOT NULL, gpus_asked INTEGER NOT NULL,"
    "  servers INTEGER NOT NULL, broken_gpus INTEGER NOT NULL, units TEXT NOT NULL," /* "account=units ..." */
    "  checkpoint_fix TEXT NOT NULL," /* decimal units * ns moved from checkpoint to compute at a normal end */
    "  algorithm TEXT, bottleneck TEXT," /* of its all-reduce where it started; NULL: it has none, or those of a training plan */
    "  PRIMARY KEY(layout_id, replica, serial, attempt)) WITHOUT ROWID;"
    /* An attempt whose levels changed while it worked, as others came and went: the GPU-time that was kept behind its
     * start-up, "account=units*ns ..."; part: 0 before the window, 1 inside, 2 behind. Its row of attempt has the last levels,
     * and checkpoint_fix is 0, as it is in here. */
    "CREATE TABLE kept(layout_id INTEGER NOT NULL, replica INTEGER NOT NULL, serial INTEGER NOT NULL,"
    "  attempt INTEGER NOT NULL, part INTEGER NOT NULL, unit_ns TEXT NOT NULL,"
    "  PRIMARY KEY(layout_id, replica, serial, attempt, part)) WITHOUT ROWID;"
    /* One direction of the cables between two places of the network, or between it and the storage, or all that the storage
     * reads, or writes, over the window; those that carried something. load: mean, of the capacity. contention_gpu_s: of jobs
     * that waited for others here more than elsewhere; of those who wait for input all of stall_data. */
    "CREATE TABLE link(layout_id INTEGER NOT NULL, replica INTEGER NOT NULL, link TEXT NOT NULL,"
    "  capacity_bytes_per_s REAL NOT NULL, load REAL NOT NULL, contention_gpu_s REAL NOT NULL,"
    "  PRIMARY KEY(layout_id, replica, link)) WITHOUT ROWID;"
    "CREATE TABLE allocation(layout_id INTEGER NOT NULL, replica INTEGER NOT NULL, serial INTEGER NOT NULL,"
    "  attempt INTEGER NOT NULL, server INTEGER NOT NULL, gpu_mask INTEGER NOT NULL,"
    "  PRIMARY KEY(layout_id, replica, serial, attempt, server)) WITHOUT ROWID;"
    /* Why jobs wait. A job waits from its submission to its first start, from the end of an attempt to the next start, and
     * when no start follows to the job's end or run_end_ns. Of an instant in a wait, the
     * last row of wait_word holds whose word is not NULL, else the last row of wait_cause of the job's request. request:
     * what such a job needs of this layout, gpus_per_node GPUs free on each of `nodes` nodes. */
    "CREATE TABLE request(layout_id INTEGER NOT NULL, replica INTEGER NOT NULL, request INTEGER NOT NULL,"
    "  gpus INTEGER NOT NULL, share_units INTEGER NOT NULL, held INTEGER NOT NULL,"
    "  nodes INTEGER NOT NULL, gpus_per_node INTEGER NOT NULL,"
    "  nodes_max INTEGER NOT NULL, cores INTEGER NOT NULL, memory_bytes INTEGER NOT NULL,"
    "  PRIMARY KEY(layout_id, replica, request)) WITHOUT ROWID;"
    "CREATE TABLE wait_cause(layout_id INTEGER NOT NULL, replica INTEGER NOT NULL, request INTEGER NOT NULL,"
    "  from_ns INTEGER NOT NULL, cause TEXT NOT NULL, free_gpus INTEGER NOT NULL, out_gpus INTEGER NOT NULL,"
    "  PRIMARY KEY(layout_id, replica, request, from_ns)) WITHOUT ROWID;"
    "CREATE TABLE wait_word(layout_id INTEGER NOT NULL, replica INTEGER NOT NULL, serial INTEGER NOT NULL,"
    "  from_ns INTEGER NOT NULL, word TEXT,"
    "  PRIMARY KEY(layout_id, replica, serial, from_ns)) WITHOUT ROWID;"
    /* Views for people: what metric and tornado call class 'none' is 'all' here, as in the report. */
    "CREATE VIEW utilization AS SELECT l.name AS layout, l.slack, c.replica, c.bin_start_s, c.account,"
    "  c.gpu_s / ((c.bin_end_s - c.bin_start_s) * l.gpus) AS share FROM curve c JOIN layout l USING(layout_id);"
    "CREATE VIEW wait_by_class AS SELECT l.name AS layout, l.slack,"
    "  CASE m.class WHEN 'none' THEN 'all' ELSE m.class END AS class,"
    "  avg(CASE m.name WHEN 'wait_s_p50' THEN m.value END) AS wait_s_p50,"
    "  avg(CASE m.name WHEN 'wait_s_p95' THEN m.value END) AS wait_s_p95"
    "  FROM metric m JOIN layout l USING(layout_id) WHERE m.name LIKE 'wait_s_p%' GROUP BY 1, 2, 3;"
    /* The fullest first. */
    "CREATE VIEW busiest_links AS SELECT l.name AS layout, l.slack, k.replica, k.link, k.load, k.contention_gpu_s"
    "  FROM link k JOIN layout l USING(layout_id) ORDER BY k.contention_gpu_s DESC, k.load DESC;"
    /* Over incidents that took a GPU; the others hit what was out of service already. */
    "CREATE VIEW blast_radius AS SELECT l.name AS layout, l.slack, i.component,"
    "  sum(i.gpus_removed > 0) AS incidents, sum(i.gpus_removed = 0) AS incidents_took_none,"
    "  avg(nullif(i.gpus_removed, 0)) AS gpus_removed_mean, max(i.gpus_removed) AS gpus_removed_max"
    "  FROM incident i JOIN layout l USING(layout_id) WHERE i.replica = -1 GROUP BY 1, 2, 3;"
    /* difference_gpu_s is 0 when every GPU-second of the window lies in one account; capacity is
     * that of its whole seconds. Seconds and rests are taken apart: their products pass 64 bits in
     * a run of centuries. */
    "CREATE VIEW closure AS SELECT r.layout_id, r.replica,"
    "  l.gpus * ((r.window_end_ns - r.window_start_ns) / 1000000000) AS capacity_gpu_s,"
    "  l.gpus * ((r.window_end_ns - r.window_start_ns) / 1000000000) - a.accounts_gpu_s"
    "  + (l.gpus * ((r.window_end_ns - r.window_start_ns) % 1000000000) * 1008000 - a.rest)"
    "    / 1008000000000000.0 AS difference_gpu_s"
    "  FROM replica r JOIN layout l USING(layout_id) JOIN (SELECT layout_id, replica,"
    "    sum(gpu_s) AS accounts_gpu_s, sum(gpu_rest) AS rest FROM ledger GROUP BY 1, 2) a"
    "    ON a.layout_id = r.layout_id AND a.replica = r.replica;"
    "CREATE VIEW verdict AS SELECT l.name AS layout, l.slack, m.name,"
    "  CASE m.class WHEN 'none' THEN 'all' ELSE m.class END AS class, m.unit,"
    "  avg(m.value) AS mean, count(*) AS replicas FROM metric m JOIN layout l USING(layout_id)"
    "  WHERE m.replica >= 0 GROUP BY 1, 2, 3, 4, 5;"
    /* Waits of the jobs of the detail, as [from_ns, to_ns). wait 0 is the one before attempt 0, wait n the one
     * behind attempt n - 1. A wait of no length has no row. An attempt that a node refused is no start. */
    "CREATE VIEW wait AS SELECT layout_id, replica, serial, request, wait, from_ns, to_ns FROM ("
    "  SELECT j.layout_id, j.replica, j.serial, j.request, 0 AS wait, j.submit_ns AS from_ns,"
    "    coalesce(f.start_ns, j.end_ns, r.run_end_ns) AS to_ns"
    "    FROM job j JOIN replica r USING(layout_id, replica)"
    "    LEFT JOIN attempt f ON f.layout_id = j.layout_id AND f.replica = j.replica AND f.serial = j.serial"
    "      AND f.attempt = 0"
    "  UNION ALL SELECT a.layout_id, a.replica, a.serial, j.request, a.attempt + 1, a.end_ns,"
    "    coalesce(b.start_ns, j.end_ns, r.run_end_ns) FROM attempt a"
    "    JOIN job j USING(layout_id, replica, serial) JOIN replica r USING(layout_id, replica)"
    "    LEFT JOIN attempt b ON b.layout_id = a.layout_id AND b.replica = a.replica AND b.serial = a.serial"
    "      AND b.attempt = a.attempt + 1) WHERE from_ns < to_ns;"
    /* Their spans: each wait is cut where what holds the job changes; the lengths sum to it exactly. cause NULL: a word
     * holds. */
    "CREATE VIEW wait_span AS WITH cut AS ("
    "  SELECT layout_id, replica, serial, request, wait, from_ns AS at_ns, to_ns FROM wait"
    "  UNION SELECT w.layout_id, w.replica, w.serial, w.request, w.wait, c.from_ns, w.to_ns FROM wait w"
    "    JOIN wait_cause c ON c.layout_id = w.layout_id AND c.replica = w.replica AND c.request = w.request"
    "      AND c.from_ns > w.from_ns AND c.from_ns < w.to_ns"
    "  UNION SELECT w.layout_id, w.replica, w.serial, w.request, w.wait, d.from_ns, w.to_ns FROM wait w"
    "    JOIN wait_word d ON d.layout_id = w.layout_id AND d.replica = w.replica AND d.serial = w.serial"
    "      AND d.from_ns > w.from_ns AND d.from_ns < w.to_ns),"
    " span AS (SELECT *, lead(at_ns, 1, to_ns) OVER (PARTITION BY layout_id, replica, serial, wait"
    "    ORDER BY at_ns) AS until_ns FROM cut),"
    " told AS (SELECT *, (SELECT d.word FROM wait_word d WHERE d.layout_id = s.layout_id"
    "      AND d.replica = s.replica AND d.serial = s.serial AND d.from_ns <= s.at_ns"
    "      ORDER BY d.from_ns DESC LIMIT 1) AS word FROM span s)"
    " SELECT layout_id, replica, serial, wait, at_ns AS from_ns, until_ns AS to_ns, word,"
    "  CASE WHEN word IS NULL THEN (SELECT c.cause FROM wait_cause c WHERE c.layout_id = t.layout_id"
    "    AND c.replica = t.replica AND c.request = t.request AND c.from_ns <= t.at_ns"
    "    ORDER BY c.from_ns DESC LIMIT 1) END AS cause FROM told t;";

#endif
