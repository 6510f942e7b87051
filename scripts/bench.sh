#!/bin/sh
# bench.sh - the speed promises: a synthetic month of a large cluster, imported and replayed under EASY.
#
# Prints jobs, seconds of import (trace info) and of the whole run with one worker, jobs per second
# and the peak of memory where GNU time is installed. GPUS and DAYS change the size:
# the default, 10,000 GPUs and 100 days, is about a million jobs.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
gpus=${GPUS:-10000} days=${DAYS:-100}
work=$BUILD/bench
mkdir -p "$work" || exit 1
program=./$BUILD/gpuplan
trace=$work/gpus$gpus-days$days.csv

for bench in "$BUILD"/tests/bench_*; do
    case $bench in *.d) continue ;; esac
    [ ! -x "$bench" ] || { echo "== ${bench##*/}"; "$bench" || exit 1; }
done

if [ ! -e "$trace" ]; then
    echo "== making $gpus GPUs, $days days"
    "$program" trace synth --seed 1 --gpus "$gpus" --days "$days" --load 0.8 -o "$trace.part" || exit 1
    mv "$trace.part" "$trace"
fi
cat >"$work/bench.yaml" <<YAML
gpuplan: 1
name: bench
question: how fast is one replay
time: {horizon: all, curve_bin: 24h}
replicas: {count: 1, resample: none}
detail: none
workload:
  trace: {file: "$PWD/$trace", format: gpuplan, recorded_on: {server: dgx-h100, count: $((gpus / 8))}}
  communication: by_size
scheduler: {plain: {order: easy, placement: pack}}
failures: none
checkpoint: none
layouts:
  - {name: dense8, servers: {type: hgx-h100-8, count: $((gpus / 8))}, fabric: {link: {rate: 48.5 GB/s, switch_ports: 256}}}
YAML

# seconds_of COMMAND...: runs it and prints the seconds it took.
seconds_of() {
    from=$(date +%s.%N)
    "$@" >"$work/out" 2>"$work/err" </dev/null || { tail -n 3 "$work/err" >&2; return 1; }
    echo "$from $(date +%s.%N)" | awk '{ printf "%.2f\n", $2 - $1 }'
}

jobs=$(grep -vc '^#' "$trace")
jobs=$((jobs - 1))
echo "== $jobs jobs on $gpus GPUs"
info=$(seconds_of "$program" trace info "$trace") || exit 1
echo "import alone           $info s"
timer=
[ -x /usr/bin/time ] && timer="/usr/bin/time -f %M -o $work/peak"
run=$(seconds_of $timer "$program" run "$work/bench.yaml" -j 1 -o "$work/bench.db") || exit 1
echo "whole run, one worker  $run s"
awk -v jobs="$jobs" -v run="$run" 'BEGIN { printf "jobs per second        %.0f\n", jobs / run }'
[ -z "$timer" ] || awk '{ printf "peak memory            %.0f MB\n", $1 / 1024 }' "$work/peak"
