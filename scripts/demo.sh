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
"./$BUILD/gpuplan" run "$scenario" -o "$db" -j "$(nproc)" </dev/null
echo
echo "plots:"
"./$BUILD/gpuplan" plot "$db"
echo
echo "The verdict above: ./$BUILD/gpuplan compare $db"
echo "The database:      sqlite3 $db .tables"
