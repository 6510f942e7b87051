#!/bin/sh
# bench.sh - the speed promises: the agenda, max-min rates, FCFS and EASY alone over jobs and nodes, then the whole
# program on a synthetic log of a large cluster.
#
# Of the whole program it prints seconds of import (trace info) and of the run with one worker, jobs
# per second, and the peak of memory per job where GNU time is installed. GPUS and DAYS change the size: the default,
# 10,000 GPUs and 100 days, is about a million jobs. Never part of the tests: machines differ.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
gpus=${GPUS:-10000} days=${DAYS:-100}
work=$BUILD/bench
mkdir -p "$work" || exit 1
program=$BUILD/gpuplan
trace=$work/gpus$gpus-days$days.csv

echo "== models that a run asks at every start of a job: ns per call"
"$BUILD/tests/bench_models" || exit 1

echo "== agenda: ns per event, beside a plain binary heap"
"$BUILD/tests/bench_agenda" || exit 1

echo "== jobs that share the network: 50,000 changes (<= 20 s)"
"$BUILD/tests/bench_network" || exit 1

echo "== max-min rates: flows drained, a ring all-reduce, one change among many, jobs on a cluster"
"$BUILD/tests/bench_flows" || exit 1

# The simulation alone, trace in memory, one thread: 8-GPU nodes in shape model, then one-GPU nodes
# in shape free.
echo "== simulation alone, offered load 0.9"
: >"$work/alone"
for order in fcfs easy; do
    for nodes in 128x8 1250x8 12500x8 1024x1 10000x1 100000x1; do
        for jobs in 10000 100000 1000000; do
            "$BUILD/tests/bench_jobs" "$order" "${nodes%x*}" "${nodes#*x}" "$jobs" |
                tee -a "$work/alone"
        done
    done
done
# Conservative backfilling: the whole plan of the queue is kept, so it is measured where queues are short and
# where they are not (<= 5 s for 1e5 jobs on 1,024 nodes, <= 30 s for 1e6 on 10,000 GPUs).
for size in "1024x1 100000" "1250x8 100000" "12500x8 100000" "1250x8 1000000" "10000x1 1000000"; do
    nodes=${size% *}
    "$BUILD/tests/bench_jobs" conservative "${nodes%x*}" "${nodes#*x}" "${size#* }" | tee -a "$work/alone"
done
# Slurm with the limits of slurm.conf: one backfill pass, and whole runs.
"$BUILD/tests/bench_slurm" || exit 1
for size in "1250x8 100000" "12500x8 100000" "1250x8 1000000"; do
    nodes=${size% *}
    "$BUILD/tests/bench_jobs" slurm "${nodes%x*}" "${nodes#*x}" "${size#* }" | tee -a "$work/alone"
done
# The others once each: sjf, and the preemptive ones, which hand out the whole pool at every event.
for order in sjf srtf las; do
    "$BUILD/tests/bench_jobs" "$order" 1250 8 100000
    "$BUILD/tests/bench_jobs" "$order" 10000 1 100000
done
# The Kubernetes scheduler with gangs, packing (<= 60 s for 1e6 jobs on 10,000 GPUs), and on many nodes.
for size in "1250x8 100000" "12500x8 100000" "1250x8 1000000" "10000x1 100000"; do
    nodes=${size% *}
    "$BUILD/tests/bench_jobs" kubernetes "${nodes%x*}" "${nodes#*x}" "${size#* }" | tee -a "$work/alone"
done
awk '
    { took[$1, $2, $4, $6] = $8 }
    function ratio(what, a, b) { printf "%-46s %6.2f\n", what, a / b }
    END {
        for (i = 1; i <= 2; i++) {
            order = i == 1 ? "fcfs" : "easy"
            ratio(order ": time(1e6) / time(1e5), 1,250 x 8 (<= 12)", took[order, 1250, 8, 1000000],
                  took[order, 1250, 8, 100000])
            ratio(order ": time(1e6) / time(1e5), 12,500 x 8 (<= 12)",
                  took[order, 12500, 8, 1000000], took[order, 12500, 8, 100000])
            ratio(order ": 12,500 against 128 nodes, 1e6 jobs (<= 1.5)",
                  took[order, 12500, 8, 1000000], took[order, 128, 8, 1000000])
        }
        split("conservative slurm kubernetes", orders, " ")
        for (i = 1; i <= 3; i++) {
            order = orders[i]
            ratio(order ": time(1e6) / time(1e5), 1,250 x 8", took[order, 1250, 8, 1000000],
                  took[order, 1250, 8, 100000])
            ratio(order ": 12,500 against 1,250 nodes, 1e5 jobs", took[order, 12500, 8, 100000],
                  took[order, 1250, 8, 100000])
        }
    }' "$work/alone"

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
[ -z "$timer" ] || awk -v jobs="$jobs" '{ printf "peak memory            %.0f MB, %.0f bytes per job\n",
    $1 / 1024, $1 * 1024 / jobs }' "$work/peak"
