#!/bin/sh
# oracles.sh FOLDER - rows and schedules of other programs against ours: every part of FOLDER that a runner exists for.
#
# A part is a program $BUILD/tests/oracle_PART that is given FOLDER/PART and ends with "N passed, N failed". Last line: the
# sum over the parts, in the same form. Exit 1 when any failed.
set -u
folder=${1:?usage: oracles.sh FOLDER}
case $folder in
    /*) ;;
    *) folder=$PWD/$folder ;;
esac
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
parts="models sched gpu net kubernetes slurm"
passed=0 failed=0
log=$BUILD/oracles
mkdir -p "$log" || exit 1

for part in $parts; do
    runner=$BUILD/tests/oracle_$part
    if [ ! -x "$runner" ]; then
        echo "== $part: no $runner, not run"
        continue
    fi
    if [ ! -d "$folder/$part" ]; then
        echo "== $part: SKIPPED, $folder/$part is not there"
        continue
    fi
    echo "== $part"
    "$runner" "$folder/$part" >"$log/$part" 2>&1
    status=$?
    cat "$log/$part"
    last=$(tail -n 1 "$log/$part")
    case $last in
        [0-9]*' passed, '[0-9]*' failed'*)
            passed=$((passed + ${last%% *}))
            bad=${last#*, }
            failed=$((failed + ${bad%% *}))
            ;;
        *)
            echo "FAILED $part: ended with status $status and without a count"
            failed=$((failed + 1))
            ;;
    esac
done

if [ $((passed + failed)) -eq 0 ]; then
    echo "FAILED: nothing in $folder was run"
    failed=1
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
