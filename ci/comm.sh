#!/usr/bin/env bash
# Times every strategy of gradient synchronisation on RANKS ranks beside MPI_Allreduce: OUT/comm/comm.csv,
# and the coefficients of the model of time: OUT/comm/link.csv.
# Arguments are those of comm_sweep; BUILD is the build folder, OUT that of all results, MPIEXEC the
# launcher. Exit status 1: a sum or a count is wrong; 130: interrupted, an earlier table is left alone.
set -eu -o pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
folder=${OUT:-results}/comm
csv=$folder/comm.csv
mkdir -p "$folder"

# Hydra does not say that ranks were stopped: its exit status is 0 then.
stopped=0
stop() {
    stopped=1
    kill -TERM "$launch" 2>/dev/null || true
}
"${MPIEXEC:-mpiexec}" -n "${RANKS:-2}" "$build/comm_sweep" --link "$folder/link.csv.part" "$@" \
    >"$csv.part" </dev/null &
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
mv "$folder/link.csv.part" "$folder/link.csv"

awk -F, '
    # Sources of counts are quoted and hold commas: they come after what is printed here.
    NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
    $(col["part"]) == "link" { next }
    { verdict = $(NF - 1) }
    verdict ~ /^wrong/ { bad++; print "WRONG: " $(col["model"]) " " $(col["bytes"]) " bytes, " \
        $(col["operation"]) " " $(col["variant"]) ": " verdict }
    {
        key = sprintf("%-14s %9d bytes", $(col["model"]), $(col["bytes"]))
        if (!(key in seen)) order[++n] = key
        seen[key] = 1
        if ($(col["operation"]) ~ /^MPI_/ && (!(key in raw) || $(col["latency_us"]) < raw[key])) {
            raw[key] = $(col["latency_us"])
            how[key] = $(col["algorithm"])
        }
    }
    verdict == "ok" && $(col["operation"]) !~ /^MPI_/ &&
        (!(key in best) || $(col["latency_us"]) < best[key]) {
        best[key] = $(col["latency_us"])
        words[key] = sprintf("%s%s, %.2f [%.2f, %.2f] x as fast", $(col["operation"]),
            $(col["variant"]) == "usual" ? "" : " " $(col["variant"]), $(col["ratio"]),
            $(col["ratio_lo"]), $(col["ratio_hi"]))
    }
    END {
        for (i = 1; i <= n; i++)
            printf "%s  MPI (%s) %.1f us  best %.1f us: %s\n", order[i], how[order[i]],
                raw[order[i]], best[order[i]], words[order[i]]
        print NR - 1 " rows, " bad + 0 " wrong"
    }' "$csv"
echo "$folder: comm.csv link.csv"
exit "$status"
