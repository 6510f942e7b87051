#!/bin/sh
# broken_ledger.sh - the books from outside: recomputed from the attempts, and broken on purpose.
#
# Runs of $BUILD/gpuplan, quiet and with so many faults that jobs hang while further parts break,
# must be recomputed exactly by ledger_from_attempts.py. A build in which one account forgets what it
# gives away (GPUPLAN_BREAK_LEDGER) must exit 3 and say so. Last line: N passed, N failed[, N skipped].
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
work=$BUILD/books
mkdir -p "$work" || exit 1
passed=0 failed=0 skipped=0

report() { # NAME STATUS DETAIL
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok     $1: $3"
    else
        failed=$((failed + 1))
        echo "FAILED $1: $3"
    fi
}

# recompute NAME OPTION...: a run of tiny.yaml, then the same sums from its attempts alone.
recompute() {
    name=$1
    shift
    rm -f "$work/run.db"
    "$BUILD/gpuplan" run scenarios/tiny.yaml -o "$work/run.db" --set detail=all "$@" \
        >"$work/run.out" 2>&1 </dev/null
    status=$?
    if [ "$status" -eq 0 ]; then
        python3 scripts/ledger_from_attempts.py "$work/run.db" >"$work/run.out" 2>&1
        status=$?
    fi
    report "$name" "$status" "$(tail -n 1 "$work/run.out")"
}

if command -v python3 >/dev/null 2>&1; then
    recompute "attempts give the ledger"
    recompute "attempts give the ledger, no faults" --set failures.scale=0
    recompute "attempts give the ledger, many faults" --set failures.scale=5000 --replicas 10
    recompute "attempts give the ledger, drain now, slow detection" --set failures.scale=3000 \
        --set failures.drain=now --set failures.detection=2h --replicas 10
    recompute "attempts give the ledger, drain gpu, slow detection" --set failures.scale=5000 \
        --set failures.drain=gpu --set failures.detection=3h --replicas 10
    recompute "attempts give the ledger, window inside the run" --set time.warmup=3h \
        --set failures.scale=2000
else
    skipped=$((skipped + 1))
    echo "SKIPPED attempts give the ledger: python3 is not installed"
fi

# The broken build: all objects of the whole one but the ledger's, which is compiled again.
rm -rf "$work/broken"
mkdir -p "$work/broken"
cp -Rp "$BUILD/sim" "$BUILD/models" "$work/broken/"
rm -f "$work/broken/sim/ledger/ledger.o"
if make BUILD="$work/broken" DEFS=-DGPUPLAN_BREAK_LEDGER all >"$work/make.out" 2>&1 </dev/null; then
    rm -f "$work/broken.db"
    "$work/broken/gpuplan" run scenarios/tiny.yaml -o "$work/broken.db" >"$work/broken.out" \
        2>"$work/broken.err" </dev/null
    status=$?
    [ "$status" -eq 3 ]
    report "a broken account exits 3" $? "exit $status, $(tail -n 1 "$work/broken.err")"
else
    report "a broken account exits 3" 1 "the build failed: $(tail -n 1 "$work/make.out")"
fi
rm -rf "$work/broken"

line="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" -eq 0 ]
