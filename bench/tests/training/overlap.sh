#!/usr/bin/env bash
# Tests sync.overlap: its thread has a core of its own, or the point is rejected with the reason; the record and the table
# state which of the two. Tests sync.check: ranks with different options are detected.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh

cat >"$tmp/overlap.yaml" <<'SPEC'
name: overlap
model: lenet_21k
data: {set: digits, samples: 500}
train: {global_batch: 250}
sync: {strategy: bucketed, cap_mib: 0.02, first_cap_mib: 0}
matrix:
  ranks: [2]
  sync.overlap: [none, poll_layers, poll_tiles, thread]
measure: {time: {warmup_steps: 1, steps: 3, launches: 1..1}}
place: {oversubscribe: allow}
figures: []
SPEC

# One core less than the threads and the thread of sync.overlap need.
refuses_a_thread_without_a_core() {
    local cores ranks
    cores=$(nproc)
    ranks=$((cores / 2 + 1))
    "$scalebench" plan "$tmp/overlap.yaml" \
        --set "matrix.sync.overlap=[thread] matrix.ranks=[$ranks] place.oversubscribe=refuse" >"$tmp/plan" 2>&1
    cat "$tmp/plan"
    grep -q "$ranks rank.* x 2 threads need $((2 * ranks)) cores.*sync.overlap = thread adds one thread to each rank" "$tmp/plan"
}

runs_every_kind() {
    "$scalebench" run "$tmp/overlap.yaml" --out "$tmp/results" >"$tmp/table" 2>&1 || { cat "$tmp/table"; return 1; }
    cat "$tmp/table"
    local kind
    for kind in poll_layers poll_tiles thread; do
        grep -q "bucketed ($kind)" "$tmp/table" || { echo "no row of $kind"; return 1; }
    done
}

# progress_ms has a value only if the compute thread makes progress.
records_say_what_was_done() {
    local rows
    rows=$("$python" - "$tmp"/results/overlap/latest/summary.csv <<'PY'
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    polled = float(row["progress_ms"]) > 0
    wanted = row["overlap"] in ("poll_layers", "poll_tiles")
    print(row["overlap"], row["status"], row["weights_equal"], "as it should" if polled == wanted else row["progress_ms"])
PY
    )
    echo "$rows"
    [ "$rows" = "none ok 1 as it should
poll_layers ok 1 as it should
poll_tiles ok 1 as it should
thread ok 1 as it should" ]
}

# The second rank gets another option. Without the check it would hang, or take a message for another one.
ends_where_ranks_disagree() { # strategy and options, option, its value on each rank, message
    local options=(--model lenet_21k --data.set digits --data.samples 300 --sync.check calls --wait yield)
    # shellcheck disable=SC2086 # options are several words
    "$mpiexec" -n 1 "$train_cnn" "${options[@]}" --sync.strategy $1 "$2" "$3" : \
        -n 1 "$train_cnn" "${options[@]}" --sync.strategy $1 "$2" "$4" >"$tmp/check" 2>&1
    local status=$?
    cat "$tmp/check"
    [ "$status" -eq 1 ] && grep -Eq "$5" "$tmp/check"
}

differs="collective [0-9]+ is not the same on all 2 ranks; rank 0: allreduce of [0-9]+ MPI_FLOAT"
check "a thread without a core is refused" refuses_a_thread_without_a_core
check "every kind of overlap runs" runs_every_kind
if python=$(python_with csv); then
    check "records name the overlap mode" records_say_what_was_done
else
    lacks "records name the overlap mode" python3
fi
check "ranks that disagree about buckets end the job" ends_where_ranks_disagree \
    "bucketed --sync.first_cap_mib 0" --sync.cap_mib 0.001 1 \
    "$differs \\(allreduce of a bucket\\); rank 1: allreduce of [0-9]+ MPI_FLOAT"
check "ranks that disagree about fused tensors end the job" ends_where_ranks_disagree \
    "fusion --sync.overlap poll_tiles" --sync.fusion_mib 0 128 \
    "$differs \\(allreduce of fused tensors\\); rank 1: allreduce of [0-9]+ MPI_FLOAT"
check "ranks that disagree about segments end the job" ends_where_ranks_disagree ring --sync.segment 1KiB 4KiB \
    "message 1 from rank (0 to rank 1 .*: rank 0 sends 1024 bytes \\(ring\\); rank 1 expects 4096|1 to rank 0 .*: rank 1 sends 4096 bytes \\(ring\\); rank 0 expects 1024) bytes \\(ring\\)"
check "ranks that disagree about servers end the job" ends_where_ranks_disagree param_server --sync.servers 1 2 \
    "message 1 from rank 1 to rank 0 .*: rank 1 sends [0-9]+ bytes \\(push.*\\); rank 0 expects [0-9]+ bytes \\(push"
finish
