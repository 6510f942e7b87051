#!/usr/bin/env python3
"""ledger_from_attempts.py DB - the ledger of held GPU-time, recomputed from the attempts.

Reads the tables attempt, allocation, incident, node and gpu of a result database and adds up, in
whole units * ns and by nothing of the simulator, what every held account of every class should
hold: from 0 to the end of the run (table ledger_run) and inside the window (table ledger). Only
replicas with detail of attempts can be recomputed. Prints "N accounts equal" and exits 0, or the
differences and exits 1.

An attempt that starts at s, works from w = s + startup on, is durable up to d, fails at f and ends
at e gives, with its levels (units of each account while it works):

    startup   asked GPUs   on [s, min(w, f or e))
    levels                 on [w, e)     when it finished or still runs at the end
                           on [w, d)     when it was killed or failed
    lost      asked GPUs   on [d, e)     when it was killed or failed: work rolled back, then waiting
    unused    held - asked on [s, e)

Where the levels changed on the way the table kept has the sums instead, by part of the run: before the window, inside, behind.
A normal end moves the checkpoints of the last, partial cycle to compute. While a failed attempt is
not yet detected, its broken GPUs are `down`, taken from lost first and then from unused; which of
its GPUs are broken when comes from the incidents of its GPUs and servers. Their times are stored
in seconds, which name the nanosecond up to 97 days. Parts of GPUs are taken as equally large: of a hung job with
unequally many pods on its GPUs, which no table tells, lost and down differ.
"""
import sqlite3
import sys
from collections import defaultdict
from fractions import Fraction

UNITS_PER_GPU = 1008000
NS_PER_S = 10**9
UNIT_NS_PER_GPU_S = UNITS_PER_GPU * NS_PER_S


def overlap(interval, window):
    return max(0, min(interval[1], window[1]) - max(interval[0], window[0]))


def ns(seconds):
    return None if seconds is None else int(Fraction(seconds) * NS_PER_S + Fraction(1, 2))


def levels_of(text):
    """ "compute=4032000 startup=12" """
    return {account: int(units) for account, units in (pair.split("=") for pair in text.split())}


class Replica:
    """The attempts of one replica of one layout, as intervals of accounts."""

    def __init__(self, db, layout_id, replica):
        self.db, self.key = db, (layout_id, replica)
        self.intervals = []  # (account, class, units, start, end)
        self.outs = self.read_outs()
        self.gpus = defaultdict(list)  # of each node, in order
        for node, gpu in db.execute(
                "SELECT node, gpu FROM gpu WHERE layout_id = ? ORDER BY gpu", self.key[:1]):
            self.gpus[node].append(gpu)
        self.kept = self.read_kept()
        self.sums_kept = []  # (account, class, part, units * ns)

    def read_kept(self):
        """Sums of attempts that were slowed or sped up, by part of the run."""
        kept = defaultdict(list)
        for serial, attempt, part, sums in self.db.execute(
                "SELECT serial, attempt, part, unit_ns FROM kept"
                " WHERE layout_id = ? AND replica = ?", self.key):
            kept[serial, attempt].append((part, levels_of(sums)))
        return kept

    def read_outs(self):
        """Intervals in which a GPU is broken, alone or with its server."""
        outs = defaultdict(list)
        for at_s, repaired_s, component, element in self.db.execute(
                "SELECT at_s, repaired_s, component, element FROM incident"
                " WHERE layout_id = ? AND replica = ? AND component IN ('gpu', 'server')", self.key):
            out = (ns(at_s), ns(repaired_s) if repaired_s is not None else 2**63)
            of = "gpu" if component == "gpu" else "server"
            for gpu, in self.db.execute(
                    "SELECT gpu FROM gpu JOIN node USING(layout_id, node)"
                    f" WHERE layout_id = ? AND {of} = ?", (self.key[0], element)):
                outs[gpu].append(out)
        return outs

    def add(self, account, class_, units, start, end):
        if units and end > start:
            self.intervals.append((account, class_, units, start, end))

    def attempt(self, row):
        serial, number, start, startup, durable, fault, end, outcome, class_, levels, fix = row
        work = start + startup
        failed = fault is not None
        rolled_back = failed or outcome in ("killed_limit", "preempted", "cancelled")
        stop = durable if rolled_back else end
        unused_units = levels.get("unused", 0)
        asked_units = sum(levels.values()) - unused_units
        self.add("startup", class_, asked_units, start, min(work, fault if failed else end))
        kept = self.kept.get((serial, number))
        for part, sums in kept or []:
            self.sums_kept += [(account, class_, part, unit_ns) for account, unit_ns in sums.items()]
        for account, units in levels.items():
            if account != "unused" and not kept:
                self.add(account, class_, units, work, stop)
        if fix:
            partial, rest = divmod(fix, levels["checkpoint"])
            assert rest == 0, f"attempt {serial}.{number}: the correction is no whole interval"
            self.add("compute", class_, levels["checkpoint"], end - partial, end)
            self.add("checkpoint", class_, -levels["checkpoint"], end - partial, end)
        if rolled_back:
            self.add("lost", class_, asked_units, durable, end)
        self.add("unused", class_, unused_units, start, end)
        if failed:
            self.broken(serial, number, class_, asked_units, unused_units, fault, end)

    def broken(self, serial, number, class_, asked_units, unused_units, fault, end):
        """Takes the broken GPUs of a hung attempt out of lost and unused."""
        outs = []
        for node, mask in self.db.execute(
                "SELECT server, gpu_mask FROM allocation WHERE layout_id = ? AND replica = ?"
                " AND serial = ? AND attempt = ?", (*self.key, serial, number)):
            for bit, gpu in enumerate(self.gpus[node]):
                if mask >> bit & 1:
                    outs.append(self.outs[gpu])
        each = min(UNITS_PER_GPU, (asked_units + unused_units) // len(outs))
        edges = {fault, end}
        for gpu in outs:
            edges.update(t for out in gpu for t in out if fault < t < end)
        edges = sorted(edges)
        for a, b in zip(edges, edges[1:]):
            units = each * sum(any(f <= a and b <= t for f, t in gpu) for gpu in outs)
            from_lost = min(units, asked_units)
            self.add("lost", class_, -from_lost, a, b)
            self.add("unused", class_, -(units - from_lost), a, b)

    def read_attempts(self):
        count = 0
        for *row, levels, fix in self.db.execute(
                "SELECT serial, attempt, start_ns, startup_ns, durable_ns, fault_ns, end_ns,"
                " outcome, class, units, checkpoint_fix FROM attempt"
                " WHERE layout_id = ? AND replica = ?", self.key):
            self.attempt((*row, levels_of(levels), int(fix)))
            count += 1
        return count

    def sums(self, window, parts):
        sums = defaultdict(int)
        for account, class_, part, unit_ns in self.sums_kept:
            if part in parts:
                sums[account, class_] += unit_ns
        for account, class_, units, start, end in self.intervals:
            sums[account, class_] += units * overlap((start, end), window)
        return sums


def compare(db, replica, table, window, held):
    """Differences between the recomputed sums and one table; (equal, different)."""
    sums, equal, different = replica.sums(window, (1,) if table == "ledger" else (0, 1, 2)), 0, 0
    for account, class_, gpu_s, rest in db.execute(
            f"SELECT account, class, gpu_s, gpu_rest FROM {table}"
            " WHERE layout_id = ? AND replica = ?", replica.key):
        if account not in held:
            continue
        stored, computed = gpu_s * UNIT_NS_PER_GPU_S + rest, sums.pop((account, class_), 0)
        if stored == computed:
            equal += 1
        else:
            different += 1
            print(f"layout {replica.key[0]} replica {replica.key[1]} {table} {account} {class_}:"
                  f" stored {stored}, attempts give {computed}")
    for (account, class_), computed in sums.items():
        if computed:
            different += 1
            print(f"{table}: attempts give {computed} for {account} {class_}, which has no row")
    return equal, different


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: ledger_from_attempts.py DB")
    db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    gone = {"held", "no_demand", "short", "fragmented", "starved", "withheld", "draining", "down"}
    held = {name for name, in db.execute("SELECT DISTINCT account FROM ledger")} - gone
    equal = different = attempts = replicas = 0
    for layout_id, number, start, end, run_end in db.execute(
            "SELECT r.layout_id, r.replica, r.window_start_ns, r.window_end_ns, r.run_end_ns"
            " FROM replica r WHERE EXISTS (SELECT 1 FROM attempt a WHERE a.layout_id = r.layout_id"
            " AND a.replica = r.replica) ORDER BY 1, 2").fetchall():
        replica = Replica(db, layout_id, number)
        attempts += replica.read_attempts()
        replicas += 1
        for table, window in (("ledger", (start, end)), ("ledger_run", (0, run_end))):
            same, other = compare(db, replica, table, window, held)
            equal, different = equal + same, different + other
    if not replicas:
        print("no replica of this database has detail: nothing to compare")
        sys.exit(1)
    print(f"{attempts} attempts of {replicas} replicas")
    print(f"{equal} accounts equal" + (f", {different} differ" if different else ""))
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
