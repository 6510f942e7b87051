#!/bin/sh
# validate.sh FOLDER - measured figures against the models, row by row, then a line per group, with the bounds wanted; a plot; then
# the published cases that a model alone answers, each passed, failed or not built.
#
# FOLDER holds collectives.csv, ring_ratio.csv, training.csv, validation.csv and fgd.csv; with ../traces/alibaba-openb-2023 beside it
# placements are run too. The plot is results/validate.svg. A failed case
# is a limit of the model and leaves the exit code alone.
set -u
folder=${1:?usage: validate.sh FOLDER}
case $folder in
    /*) ;;
    *) folder=$PWD/$folder ;;
esac
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
if [ ! -e "$folder/collectives.csv" ]; then
    echo "$folder/collectives.csv does not exist" >&2
    exit 2
fi
rows=$BUILD/validate.tsv
"$BUILD/tests/oracle_validate" "$folder" "$rows" || exit 1
if command -v gnuplot >/dev/null 2>&1; then
    mkdir -p results
    gnuplot -e "rows='$rows'; picture='results/validate.svg'" scripts/plots/validate.gp &&
        echo "plot: results/validate.svg"
else
    echo "gnuplot is not installed: no plot" >&2
fi
if [ -d "$folder/../traces/alibaba-openb-2023" ]; then
    echo "== placements on openb (S03)"
    BUILD=$BUILD sh scripts/fgd.sh "$folder/../traces" "$folder"
fi
echo "== training steps"
"$BUILD/tests/oracle_training" "$folder" || exit 1
if [ -d "$folder/../traces/gpu-throughputs" ]; then
    echo "== placements of jobs, and jobs that grow"
    "$BUILD/tests/oracle_placement" "$folder/../traces/gpu-throughputs" || exit 1
fi
echo "== published cases"
"$BUILD/tests/oracle_cases" "$folder"
