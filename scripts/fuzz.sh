#!/bin/sh
# fuzz.sh - each fuzzer for SECONDS (60), with clang's libFuzzer, address and undefined-behaviour checks.
#
# Seeds are the project's own scenarios, wrong input and small logs; what was found before (tests/cases/fuzz)
# comes first. A find is written to $BUILD/fuzz/finds: shrink it, fix the cause, and put it into
# tests/cases/fuzz as NAME.KIND (KIND: scenario, json, csv, swf, flows, topo), where test_fuzz_cases replays it.
# Last line: N passed, N failed.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build-fuzz}
seconds=${FUZZ_SECONDS:-60}
if ! command -v clang >/dev/null 2>&1; then
    echo "SKIPPED fuzz: clang is not installed"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
make -s -j"$(nproc)" CC=clang SAN=1 SANITIZERS=fuzzer-no-link,address,undefined OPT=-O1 \
    BUILD="$BUILD" fuzzers || exit 1

passed=0 failed=0
# fuzz NAME SEED...: one fuzzer from its seeds.
fuzz() {
    name=$1
    shift
    seeds=$BUILD/fuzz/$name-seeds
    grown=$BUILD/fuzz/$name
    finds=$BUILD/fuzz/finds
    rm -rf "$seeds"
    mkdir -p "$seeds" "$grown" "$finds"
    cp -- "$@" tests/cases/fuzz/*."$name" "$seeds" 2>/dev/null
    if "$BUILD/tests/fuzz_$name" -max_total_time="$seconds" -max_len=8192 -timeout=10 \
        -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$finds/$name-" \
        "$grown" "$seeds" >"$BUILD/fuzz/$name.log" 2>&1; then
        passed=$((passed + 1))
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$BUILD/fuzz/$name.log")
        echo "ok     fuzz_$name: $runs runs in $seconds s"
    else
        failed=$((failed + 1))
        echo "FAILED fuzz_$name: see $BUILD/fuzz/$name.log"
        grep -E 'ERROR|SUMMARY|runtime error|assert|Test unit written' "$BUILD/fuzz/$name.log" | head -n 8
    fi
}

fuzz scenario scenarios/*.yaml tests/bad/*.yaml
fuzz json tests/bad/*.json
fuzz csv scenarios/*.csv tests/cases/fuzz/seed_*.csv
fuzz swf tests/cases/fuzz/seed_*.swf
fuzz flows scenarios/ring.flows tests/cases/fuzz/seed_*.flows
fuzz topo tests/cases/fuzz/seed_*.topo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
