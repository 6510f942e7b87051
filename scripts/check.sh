#!/bin/sh
# check.sh - everything that must hold before a change lands, from a fresh clone, in one command.
#
# Packages (only what is missing), build, unit tests, lint, digests. --built: tests and lint of
# what is built already (make check). Last line: N passed, N failed[, N skipped] over all of it.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
export BUILD
passed=0 failed=0 skipped=0

finish() {
    line="$passed passed, $failed failed"
    [ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
    echo "$line"
    [ "$failed" -eq 0 ]
    exit
}

# part SECONDS SCRIPT: runs one part and adds its last line to the sums.
part() {
    echo "== ${2##*/}"
    mkdir -p "$BUILD"
    log=$BUILD/check-${2##*/}.log
    timeout "$1" sh "$2" </dev/null 2>&1 | tee "$log"
    counts=$(tail -n 1 "$log" |
        sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed\(, \([0-9]*\) skipped\)*$/\1 \2 \4/p')
    if [ -z "$counts" ]; then
        echo "FAILED ${2##*/}: ended without a count (limit $1 s)"
        counts="0 1"
    fi
    set -- $counts 0
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

if [ "${1:-}" != --built ]; then
    . scripts/packages.sh
    if ! packages_install "$packages_build $packages_run $packages_test" "$packages_tools"; then
        failed=1
        finish
    fi
    echo "== build"
    if ! make -j"$(nproc)" BUILD="$BUILD" all tests tools </dev/null; then
        echo "FAILED build"
        failed=1
        finish
    fi
    passed=1 # the build itself, without a warning
fi

part 600 scripts/run_tests.sh
part 60 scripts/broken_ledger.sh
part 60 scripts/schema_agree.sh
part 60 scripts/cli_docs.sh
part 150 scripts/lint.sh
[ "${1:-}" = --built ] || part 330 scripts/digests.sh
finish
