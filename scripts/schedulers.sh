#!/bin/sh
# schedulers.sh LOG [FIRST_DAY] - seven days of a Philly log under Slurm, Kubernetes three ways, EASY and no scheduler, on
# servers of eight and of four GPUs at an offered load of 0.8: one table, what was free and why, three long waits.
#
# scenarios/schedulers.yaml on another trace. LOG is a file of msr-fiddle's philly-traces as CSV (plain or .gz); FIRST_DAY
# is 2017-10-09 unless said. Kueue's quota is the cluster. Exit 1 when a ledger does not close.
set -u
log=${1:?usage: schedulers.sh LOG [FIRST_DAY]} first=${2:-2017-10-09}
case $log in
    /*) ;;
    *) log=$PWD/$log ;;
esac
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
work=$PWD/$BUILD/schedulers
mkdir -p "$work" || exit 1
last=$(date -u -d "$first + 6 days" +%F) || exit 1
{ gzip -dcf "$log" || exit 1; } | awk -F, -v first="$first" -v last="$last" '
    NR == 1 || (substr($1, 1, 10) >= first && substr($1, 1, 10) <= last)' >"$work/week.csv"
rm -f "$work/week.db"
# The size that load 0.8 asks for is known after a look: it is the quota of Kueue's queue.
gpus=$("$BUILD/gpuplan" check scenarios/schedulers.yaml --set workload.trace.file="$work/week.csv" \
    --set workload.trace.format=philly --set workload.trace.recorded_on=none --set layouts.scale_to_load=0.8 2>/dev/null |
    sed -n 's|.*dense8/slurm .* = \([0-9]*\) GPUs.*|\1|p' | head -n 1)
"$BUILD/gpuplan" run scenarios/schedulers.yaml -o "$work/week.db" \
    --set workload.trace.file="$work/week.csv" --set workload.trace.format=philly \
    --set workload.trace.recorded_on=none --set layouts.scale_to_load=0.8 \
    --set time.warmup=0s --set time.horizon=7d --set time.follow=7d \
    --set "schedulers.kueue.kubernetes.clusterQueues=[{name: all, resources: [{name: nvidia.com/gpu, nominalQuota: ${gpus:-576}}]}]" \
    >"$work/week.out" || exit 1
sed -n '/^At /,/^$/p; /^layout  /,/^$/p' "$work/week.out"
sqlite3 -header -column "$work/week.db" "
    SELECT layout, round(100 * sum(CASE name WHEN 'share_withheld' THEN mean END), 2) AS \"withheld %\",
           round(100 * sum(CASE name WHEN 'share_fragmented' THEN mean END), 2) AS \"fragmented %\",
           round(100 * sum(CASE name WHEN 'share_held' THEN mean END), 2) AS \"held by incomplete gangs %\"
      FROM verdict GROUP BY layout"
for layout in dense8/slurm dense8/default sparse4/kueue; do
    echo
    echo "== $layout: the longest waits"
    "$BUILD/gpuplan" why "$work/week.db" --longest 3 --layout "$layout"
    # Ids come again when the week is played again, serials do not.
    serial=$("$BUILD/gpuplan" why "$work/week.db" --longest 1 --layout "$layout" | awk 'NR == 2 { print $2 }')
    echo
    "$BUILD/gpuplan" why "$work/week.db" "$serial" --serial --layout "$layout"
done
open=$(sqlite3 "$work/week.db" "SELECT count(*) FROM closure WHERE difference_gpu_s <> 0")
echo
echo "$open ledgers do not close"
[ "$open" = 0 ]
