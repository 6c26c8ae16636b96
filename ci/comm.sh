#!/usr/bin/env bash
# Times every strategy of gradient synchronisation on RANKS ranks beside MPI_Allreduce: OUT/comm/comm.csv,
# the coefficients of the model of time: OUT/comm/link.csv, the columns of both: OUT/comm/columns.csv, and
# curves over the size of gradients: OUT/comm/{latency,busbw}.{svg,png,pdf}. With --compare the two that it
# names: OUT/comm/compare.csv. OUT/comm/manifest.json, of a comparison compare.json, tells command, machine and commit. Arguments are those of comm_sweep; BUILD is the build folder, OUT that of all
# results, MPIEXEC the launcher. What is stopped goes on with the same command: sizes and networks that are whole wait in
# OUT/comm/*.kept; FRESH=1 starts anew. Exit status 1: a sum or a count is wrong; 130: interrupted, an
# earlier table is left alone.
set -eu -o pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
launcher=("${MPIEXEC:-mpiexec}" -n "${RANKS:-2}" "$build/comm_sweep")
[[ " $* " != *" --plan "* && " $* " != *" --help "* ]] || exec "${launcher[@]}" "$@"
folder=${OUT:-results}/comm
csv=$folder/comm.csv
manifest=$folder/manifest.json
own=(--link "$folder/link.csv.part")
[[ " $* " != *" --compare"* ]] || {
    csv=$folder/compare.csv
    manifest=$folder/compare.json
    own=()
}
kept=${csv%.csv}.kept
mkdir -p "$folder"
[ -z "${FRESH:-}" ] || rm -rf "$kept" "$manifest.part"

# shellcheck source=ci/manifest.sh
. ci/manifest.sh
[ -f "$manifest.part" ] || write_manifest make bench-comm "RANKS=${RANKS:-2}" "COMM=$*" >"$manifest.part"
# The launcher stands between the ranks and the terminal.
if [ -t 2 ]; then
    own+=(--terminal)
    COLUMNS=$(stty size <&2 | cut -d ' ' -f 2) && export COLUMNS
fi

# Hydra does not say that ranks were stopped: its exit status is 0 then.
stopped=0
stop() {
    stopped=1
    kill -TERM "$launch" 2>/dev/null || true
}
"${launcher[@]}" "$@" --keep "$kept" "${own[@]}" >"$csv.part" </dev/null &
launch=$!
trap stop INT TERM
status=0
wait "$launch" || status=$?
while kill -0 "$launch" 2>/dev/null; do
    status=0
    wait "$launch" || status=$?
done
trap - INT TERM
if [ "$stopped" -ne 0 ]; then
    rm -f "$csv.part"
    whole=$({ find "$kept" -name "flat-*.kept" -o -name "net-*.kept" || true; } 2>/dev/null | wc -l)
    [ "$whole" -gt 0 ] || rm -rf "$kept" "$manifest.part"
    echo "stopped; $whole sizes and networks are kept: the same command goes on, FRESH=1 starts anew" >&2
    exit 130
fi
# A command that is refused is not one that goes on.
[ "$status" -ne 2 ] || [ -d "$kept" ] || rm -f "$csv.part" "$manifest.part" "$folder/link.csv.part"
[ "$status" -le 1 ] || exit "$status"
mv "$csv.part" "$csv"
rm -rf "$kept"
mv "$manifest.part" "$manifest"
written=${csv##*/}
if [ "$written" = comm.csv ]; then
    mv "$folder/link.csv.part" "$folder/link.csv"
    "$build/scalebench" figures "$csv" >/dev/null || echo "$csv: not drawn" >&2
    written="$written link.csv latency.svg busbw.svg"
fi
"$build/comm_sweep" --columns >"$folder/columns.csv"
"$build/scalebench" table "$csv" || true
echo "$folder: $written columns.csv ${manifest##*/}"
exit "$status"
