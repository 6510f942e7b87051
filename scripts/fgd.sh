#!/bin/sh
# fgd.sh TRACES FIGURES - how full six placements make Alibaba's openb cluster, against what was published.
#
# TRACES holds alibaba-openb-2023/, FIGURES holds fgd.csv. Every list of pods that is there whole is tried, ten draws for
# each placement; about a second a placement. Last line: N passed, N failed.
set -u
traces=${1:?usage: fgd.sh TRACES FIGURES}
figures=${2:?usage: fgd.sh TRACES FIGURES}
traces=$(cd "$traces" && pwd) && figures=$(cd "$figures" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 1
exec "${BUILD:-build}/tests/oracle_fgd" "$traces" "$figures"
