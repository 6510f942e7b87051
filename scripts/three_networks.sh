#!/bin/sh
# three_networks.sh - dense_vs_sparse.yaml with a NIC for every GPU, one NIC for every server, and one 10 Gb/s Ethernet port for every
# server: the three verdicts in one table, and where the hours of each layout go. Runs in build/networks; 2 to 4 minutes.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
work=$PWD/$BUILD/networks
mkdir -p "$work" || exit 1

# scenario NAME COMMAND... - dense_vs_sparse on another network, as sed makes it.
scenario() {
    name=$1
    shift
    sed -e "s|^name: .*|name: $name|" -e "s|traces/|$PWD/scenarios/traces/|" -e 's|slack: \[0, any\] .*|slack: 0|' \
        -e 's|^baseline|verdict: {tornado: false}\nbaseline|' "$@" scenarios/dense_vs_sparse.yaml >"$work/$name.yaml"
    rm -f "$work/$name.db"
    "$BUILD/gpuplan" run "$work/$name.yaml" -o "$work/$name.db" >"$work/$name.txt" 2>"$work/$name.log" || {
        cat "$work/$name.log" >&2
        exit 1
    }
}

cat >"$work/one_each.sed" <<'SED'
s|\(name: dense8.*\)nics_per_gpu: 1|\1nics_per_gpu: 0.125|
s|\(name: sparse4.*\)nics_per_gpu: 1|\1nics_per_gpu: 0.25|
s|\(name: sparse2.*\)nics_per_gpu: 1|\1nics_per_gpu: 0.5|
SED
scenario nic_per_gpu
scenario nic_per_server -f "$work/one_each.sed"
scenario ten_gbe -f "$work/one_each.sed" -e 's|ib-ndr400|tcp-10|'

python3 scripts/three_networks.py "$BUILD/gpuplan" "$work/nic_per_gpu.db" "$work/nic_per_server.db" "$work/ten_gbe.db"
