#!/usr/bin/env bash
# Times every strategy of gradient synchronisation on RANKS ranks beside MPI_Allreduce: OUT/comm/comm.csv,
# the coefficients of the model of time: OUT/comm/link.csv, and curves over the size of gradients:
# OUT/comm/{latency,busbw}.{svg,png,pdf}. With --compare the two that it names: OUT/comm/compare.csv.
# Arguments are those of comm_sweep; BUILD is the build folder, OUT that of all results, MPIEXEC the
# launcher. Exit status 1: a sum or a count is wrong; 130: interrupted, an earlier table is left alone.
set -eu -o pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
folder=${OUT:-results}/comm
csv=$folder/comm.csv
link=(--link "$folder/link.csv.part")
[[ " $* " != *" --compare"* ]] || {
    csv=$folder/compare.csv
    link=()
}
mkdir -p "$folder"

# Hydra does not say that ranks were stopped: its exit status is 0 then.
stopped=0
stop() {
    stopped=1
    kill -TERM "$launch" 2>/dev/null || true
}
"${MPIEXEC:-mpiexec}" -n "${RANKS:-2}" "$build/comm_sweep" "${link[@]}" "$@" >"$csv.part" </dev/null &
launch=$!
trap stop INT TERM
status=0
wait "$launch" || status=$?
while kill -0 "$launch" 2>/dev/null; do
    status=0
    wait "$launch" || status=$?
done
trap - INT TERM
[ "$stopped" -eq 0 ] || exit 130
[ "$status" -le 1 ] || exit "$status"
mv "$csv.part" "$csv"
written=${csv##*/}
if [ "${#link[@]}" -gt 0 ]; then
    mv "$folder/link.csv.part" "$folder/link.csv"
    ci/comm_figures.sh "$folder"
    written="$written link.csv latency.svg busbw.svg"
fi
awk -f ci/comm_table.awk "$csv"
echo "$folder: $written"
exit "$status"
