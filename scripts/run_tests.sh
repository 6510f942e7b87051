#!/bin/sh
# run_tests.sh - runs every test program of $BUILD/tests from the top of the repository.
#
# None stops the others; two run at a time. Counts come from cmocka's own lines; a program that
# crashes, hangs (300 s) or fails without naming a test counts as one failed test of its name.
# Logs stay in $BUILD/test-logs. Last line: N passed, N failed[, N skipped]. Exit 1 when any failed.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
logs=$BUILD/test-logs
rm -rf "$logs"
mkdir -p "$logs" || exit 1

ls "$BUILD"/tests/ 2>/dev/null | grep '^test_[a-z0-9_]*$' >"$logs/list"
if [ ! -s "$logs/list" ]; then
    echo "no test program in $BUILD/tests: run 'make tests' first"
    echo "0 passed, 1 failed"
    exit 1
fi

BUILD=$BUILD xargs -P 2 -I NAME sh -c '
    timeout 300 "$BUILD/tests/NAME" >"$BUILD/test-logs/NAME.out" 2>"$BUILD/test-logs/NAME.err" \
        </dev/null
    echo $? >"$BUILD/test-logs/NAME.rc"' <"$logs/list"

passed=0 failed=0 skipped=0
while read -r name; do
    out=$logs/$name.out err=$logs/$name.err
    status=$(cat "$logs/$name.rc" 2>/dev/null || echo 127)
    ok=$(grep -c '\[       OK \]' "$out")
    not=$(grep -c '\[  SKIPPED \]' "$out")
    # The list after "listed below" repeats the names, on stderr; stdout has each once.
    bad=$(grep -c '\[  FAILED  \]' "$out")
    note=
    if [ "$status" -ne 0 ] && { [ "$bad" -eq 0 ] || [ "$status" -ge 124 ]; }; then
        bad=$((bad + 1))
        last=$(sed -n 's/.*\[ RUN      \] //p' "$out" | tail -n 1)
        note="FAILED $name: ended with status $status in or after ${last:-its start}"
        [ "$status" -eq 124 ] && note="FAILED $name: still running after 300 s"
    fi
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + not))
    if [ "$bad" -eq 0 ]; then
        printf 'ok     %-28s %5d passed' "$name" "$ok"
        [ "$not" -eq 0 ] || printf ', %d skipped' "$not"
        printf '\n'
        [ "$ok" -gt 0 ] || [ "$not" -gt 0 ] || echo "       $name ran no test"
    else
        [ -z "$note" ] || echo "$note"
        sed -n "s/.*\[  FAILED  \] /FAILED $name: /p" "$out"
        grep -v -e '\[  [PFS][A-Z]* *\]' -e 'TEST(S)$' -e '^$' "$err" |
            head -n 40 | sed 's/^/       /'
    fi
done <"$logs/list"

line="$passed passed, $failed failed"
[ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" -eq 0 ]
