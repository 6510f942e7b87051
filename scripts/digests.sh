#!/bin/sh
# digests.sh - same seed, same content: builds variants and compares the digests of their databases.
#
# Compilers and optimisation, workers, locale, time zone, FMA or not; all on scenarios/tiny.yaml and, for
# every kind of scheduler, on two days of scenarios/schedulers.yaml, for all that slows jobs tests/cases/all_at_once.yaml.
# The reference is $BUILD/gpuplan with -j1. Last line: N passed, N failed[, N skipped].
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
scenarios="scenarios/tiny.yaml scenarios/schedulers.yaml tests/cases/all_at_once.yaml"
work=build-digest
passed=0 failed=0 skipped=0

finish() {
    line="$passed passed, $failed failed"
    [ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
    echo "$line"
    [ "$failed" -eq 0 ]
    exit
}

fail() {
    failed=$((failed + 1))
    echo "FAILED $1: $2"
}

skip() {
    skipped=$((skipped + 1))
    echo "SKIPPED $1: $2"
}

# digest_of PROGRAM DB OPTION...: runs the scenarios into DB, one after the other, and prints their digests.
digest_of() {
    program=$1 db=$2
    shift 2
    for scenario in $scenarios; do
        rm -f "$db"
        case $scenario in
            */schedulers.yaml) short="--set time.horizon=2d --set replicas.count=2 --set failures.rates=llama3 --set failures.scale=20 --set failures.blast_horizon=30d" ;;
            *) short= ;;
        esac
        "$program" run "$scenario" -o "$db" $short "$@" >"$db.out" 2>"$db.err" </dev/null || return 1
        "$program" digest "$db" 2>>"$db.err" || return 1
    done
}

# compare NAME PROGRAM WORKERS [VARIABLE=VALUE]: one variant against the reference.
compare() {
    name=$1 program=$2 workers=$3 setting=${4:-GPUPLAN_DIGEST=plain}
    db=$work/$(printf '%s' "$name" | tr -c 'A-Za-z0-9\n' '_').db
    digest=$(
        export "$setting"
        digest_of "$program" "$db" -j "$workers"
    ) || digest=
    if [ -z "$digest" ]; then
        fail "$name" "the run failed: $(tail -n 1 "$db.err" 2>/dev/null)"
    elif [ "$digest" = "$reference" ]; then
        passed=$((passed + 1))
        echo "ok     $name"
    else
        fail "$name" "$digest, reference $reference"
    fi
}

# build NAME COMPILER OPTIONS: builds a variant into build-digest-NAME; prints its program.
build() {
    make -s -j"$(nproc)" BUILD="build-digest-$1" CC="$2" OPT="$3" "build-digest-$1/gpuplan" \
        >"$work/build-$1.log" 2>&1 </dev/null || return 1
    echo "./build-digest-$1/gpuplan"
}

mkdir -p "$work"
for scenario in $scenarios; do
    [ -e "$scenario" ] && continue
    fail "reference" "$scenario does not exist"
    finish
done
make -s -j"$(nproc)" BUILD="$BUILD" "$BUILD/gpuplan" </dev/null || { fail "build" "see above"; finish; }
main=$BUILD/gpuplan
if ! reference=$(digest_of "$main" "$work/reference.db" -j 1) || [ -z "$reference" ]; then
    fail "reference" "the run failed: $(tail -n 1 "$work/reference.db.err")"
    finish
fi
echo "digests" $reference

compare "the same again" "$main" 1
compare "two workers" "$main" 2
compare "time zone Asia/Kolkata" "$main" 1 TZ=Asia/Kolkata
compare "no FMA in the C library" "$main" 1 GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA

# The German locale writes a decimal comma. Made here when it is missing and we may.
if ! locale -a 2>/dev/null | grep -qiE '^de_DE\.utf-?8$' && [ "$(id -u)" -eq 0 ]; then
    localedef -i de_DE -f UTF-8 de_DE.UTF-8 >/dev/null 2>&1
fi
if locale -a 2>/dev/null | grep -qiE '^de_DE\.utf-?8$'; then
    compare "locale de_DE.UTF-8" "$main" 1 LC_ALL=de_DE.UTF-8
else
    skip "locale de_DE.UTF-8" "the locale is not installed and only root can make it"
fi

for variant in "O0 gcc -O0" "O3 gcc -O3 -march=native" "clang clang -O2"; do
    set -- $variant
    id=$1 compiler=$2
    shift 2
    if ! command -v "$compiler" >/dev/null 2>&1; then
        skip "$compiler $*" "$compiler is not installed"
    elif program=$(build "$id" "$compiler" "$*"); then
        compare "$compiler $*" "$program" 1
        compare "$compiler $*, two workers" "$program" 2
    else
        fail "$compiler $*" "does not build: $(grep -m 1 -E 'error' "$work/build-$id.log")"
    fi
done
finish
