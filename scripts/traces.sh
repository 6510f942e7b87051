#!/bin/sh
# traces.sh FOLDER - real job logs: import each with its verdict, then replay it on two layouts.
#
# Every file below FOLDER is tried. What is no job log of a known form is counted, by the reason that
# gpuplan gives. A log passes when it is read, its rows add up and both replays close their ledgers.
# The cluster is sized to an offered load of 0.8; the same GPUs in servers of eight and of one.
# Last line: N passed, N failed, N skipped (no job log). Databases stay in $BUILD/traces.
set -u
folder=${1:?usage: traces.sh FOLDER}
case $folder in
    /*) ;;
    *) folder=$PWD/$folder ;;
esac
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
work=$BUILD/traces
mkdir -p "$work" || exit 1
if [ ! -d "$folder" ]; then
    echo "$folder does not exist" >&2
    exit 2
fi
passed=0 failed=0 skipped=0

# A list of jobs without times cannot be replayed: it fills the two layouts instead.
scenario_for() {
    time='{horizon: all, curve_bin: 6h}' replicas='{count: 1, resample: none}'
    size='scale_to_load: 0.8' count=1 communication=by_size plain='{}'
    if [ "$3" = fill ]; then
        time='{horizon: 2h, warmup: 1h, curve_bin: 1h}' replicas='{count: 1, resample: fill}'
        size='scale_to_load: none' count=8 communication=none plain='{order: fcfs, loss: true}'
    fi
    cat <<YAML
gpuplan: 1
name: replay
question: $1 in servers of eight and of one
time: $time
replicas: $replicas
workload:
  trace: {file: "$2", recorded_on: none}
  communication: $communication
scheduler: {kind: plain, plain: $plain}
failures: none
checkpoint: none
layouts:
  $size
  list:
    - {name: eights, servers: {type: hgx-h100-8, count: $count}, fabric: {link: ib-ndr400}}
    - {name: ones,   servers: {type: h100-sxm-1, count: $((8 * count))}, fabric: {link: ib-ndr400}}
YAML
}

find "$folder" -type f ! -name 'README*' | sort >"$work/files"
while read -r file; do
    name=${file#"$folder"/}
    base=$work/$(printf '%s' "$name" | tr -c 'A-Za-z0-9\n' '_')
    timeout 300 "$BUILD/gpuplan" trace info "$file" >"$base.info" 2>&1 </dev/null
    case $? in
        0) ;;
        2)
            skipped=$((skipped + 1))
            echo "skipped $name: $(sed -n 's/.*error: //p' "$base.info" | head -n 1 | cut -c1-70)"
            continue
            ;;
        *)
            failed=$((failed + 1))
            echo "FAILED $name: $(tail -n 1 "$base.info")"
            continue
            ;;
    esac
    echo "== $name"
    sed 's/^/   /' "$base.info"
    how=replay
    grep -q 'the list has no times' "$base.info" && how=fill
    scenario_for "$name" "$file" $how >"$base.yaml"
    if timeout 600 "$BUILD/gpuplan" run "$base.yaml" -o "$base.db" >"$base.out" 2>"$base.err" </dev/null; then
        sed 's/^/   /' "$base.out"
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $name: the replay: $(tail -n 1 "$base.err")"
    fi
done <"$work/files"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
