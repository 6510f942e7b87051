#!/usr/bin/env python3
"""three_networks.py GPUPLAN DB... - one table of the layouts of several runs: what a held hour yields, against the baseline of its
run, and the stalls that take the rest. Shares of held GPU-hours; means over replicas."""
import sqlite3
import subprocess
import sys

STALLS = ["stall_intra", "stall_inter", "stall_contention"]


def metric(db, layout, name, size="none"):
    row = db.execute(
        "SELECT avg(value) FROM metric WHERE layout_id=? AND name=? AND class=? AND replica>=0", (layout, name, size)).fetchone()
    return row[0] if row[0] is not None else float("nan")


def told(gpuplan, path):
    """The first two sentences of the verdict."""
    text = subprocess.run([gpuplan, "compare", path], capture_output=True, text=True, check=True).stdout
    paragraphs = text.split("\n\n")
    words = " ".join(paragraphs[1].split())
    return ". ".join(words.split(". ")[:2]) + "."


def main():
    gpuplan, paths = sys.argv[1], sys.argv[2:]
    print(f"{'network':<16}{'layout':<10}{'NICs':>5}{'yield':>8}{'of dense8':>11}{'held %':>8}"
          f"{'intra %':>9}{'inter %':>9}{'others %':>9}{'rest %':>8}{'needs':>7}")
    verdicts, why = [], []
    for path in paths:
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        name = db.execute("SELECT value FROM meta WHERE key='name'").fetchone()[0]
        base = None
        for layout, label, nics in db.execute("SELECT layout_id, name, nics_per_server FROM layout ORDER BY layout_id").fetchall():
            use, held = metric(db, layout, "yield"), metric(db, layout, "utilization")
            base = use if base is None else base
            stalls = [metric(db, layout, f"share_{s}") / held for s in STALLS]
            rest = 1 - use - sum(stalls)
            print(f"{name:<16}{label:<10}{nics:>5}{use:>8.3f}{use / base:>11.3f}{100 * held:>8.1f}"
                  + "".join(f"{100 * s:>9.2f}" for s in stalls)
                  + f"{100 * rest:>8.2f}{metric(db, layout, 'effective_load'):>7.2f}")
            waits = stalls[1] + stalls[2]
            if use == base:
                first_waits = waits
            last = (label, base - use, waits - first_waits)
        verdicts.append((name, told(gpuplan, path)))
        why.append(f"{name}: dense8 leads {last[0]} by {last[1]:.3f} of a held hour; {last[0]} waits {last[2]:.3f} more for the network.")
        db.close()
    print("\nyield: compute of held GPU-hours; intra, inter, others: waiting inside servers, for the network alone, for other jobs on it;"
          "\nrest: start-up, checkpoints, lost work. needs: load at the layout's own speed; above 1 it never catches up.")
    print("\nWhy they differ:", *why, sep="\n  ")
    for name, text in verdicts:
        print(f"\n{name}: {text}")


if __name__ == "__main__":
    main()
