#!/bin/sh
# demo.sh - from a fresh clone to a verdict and its plots: packages, build, run, compare, plot.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
scenario=scenarios/dense_vs_sparse.yaml
db=results/dense_vs_sparse.db

. scripts/packages.sh
packages_install "$packages_build $packages_run" ""
make -j"$(nproc)" BUILD="$BUILD" all
mkdir -p results
"$BUILD/gpuplan" run "$scenario" --brief -o "$db" -j "$(nproc)" </dev/null
echo
"$BUILD/gpuplan" plot "$db"
echo
echo "all tables: $BUILD/gpuplan compare $db"
