#!/usr/bin/env bash
# Runs programs with several threads under the thread sanitizer: thread pool and networks on it, waiting with its
# watchdog, the thread of sync.overlap (also with ZeRO), the check of calls, clocks, replayed compute, 16-bit weights,
# pipeline stages, and the trainer with all of these. BUILD is a build folder made with SANITIZE=thread, MPIEXEC the
# launcher. Any finding is a failure.
set -u
# shellcheck source=ci/help.sh
. "$(dirname "$0")/help.sh"
take_no_arguments "$@"
build=${BUILD:-build/tsan}
mpiexec=${MPIEXEC:-mpiexec}
logs=$build/logs
mkdir -p "$logs"
export TSAN_OPTIONS="halt_on_error=0 exitcode=66 history_size=4"
# The transport's memory hooks conflict with the sanitizer's.
export UCX_MEM_EVENTS=n
export CMOCKA_MESSAGE_OUTPUT=TAP
failed=0

# Runs a command; fails unless it ends with this status, without findings, and its output matches the pattern.
run() { # name, exit status, pattern, command
    local name=$1 expected=$2 pattern=$3 log=$logs/$1.log status findings
    shift 3
    "$@" >"$log" 2>&1 </dev/null
    status=$?
    findings=$(grep -c "WARNING: ThreadSanitizer" "$log")
    if [ "$status" -eq "$expected" ] && [ "$findings" -eq 0 ] && grep -qE "$pattern" "$log"; then
        echo "ok     $name: $(grep -cE "$pattern" "$log") lines like \"$pattern\""
    else
        failed=1
        echo "FAILED $name: exit status $status for $expected, $findings findings, in $log:"
        grep -m 1 -A 40 -E "ThreadSanitizer|^not ok" "$log" || tail -n 20 "$log"
    fi
}

# Two ranks, each with two compute threads, a watchdog and the thread of sync.overlap.
train() {
    "$mpiexec" -n 2 "$build/train_cnn" --model lenet_21k --data.set digits --data.samples 64 \
        --train.global_batch 16 --place.threads_per_rank 2 --wait block "$@"
}

in_buckets() {
    train --sync.strategy bucketed --sync.cap_mib 0.02 --sync.first_cap_mib 0 "$@"
}

for program in test_base test_layers test_net test_batchnorm; do
    run "$program" 0 "^ok " "$build/tests/$program"
done
for program in mpi_overlap mpi_sync mpi_counts mpi_check mpi_clocks mpi_replay mpi_loss_scale mpi_precision \
    mpi_pipeline; do
    run "$program" 0 "^ok " "$mpiexec" -n 2 "$build/tests/$program"
done
run train 0 "epoch 1" in_buckets --sync.overlap thread
run train_calls_compared 0 "epoch 1" in_buckets --sync.check calls
run train_zero2 0 "epoch 1" train --sync.zero 2 --sync.cap_mib 0.02 --sync.overlap thread
run train_zero3 0 "epoch 1" train --sync.zero 3 --sync.cap_mib 0.02 --sync.zero_persist 1000 --sync.overlap thread
run train_stages 0 "epoch 1" train --parallel.pipeline 2 --train.accumulate 4
run train_bf16 0 "epoch 1" train --train.precision bf16
mkdir -p "$logs/record" "$logs/replayed"
run train_calibrates 0 "ms" in_buckets --run time --measure.time.steps 4 --calibrate --record "$logs/record"
for overlap in none poll_tiles; do
    run "train_replays_$overlap" 0 "ms" in_buckets --run time --measure.time.steps 4 --calibration "$logs/record" \
        --record "$logs/replayed" --sync.overlap "$overlap"
done
run watchdog 3 "not arrived yet: rank 1" in_buckets --sync.deadline 2s --inject.kind fixed --inject.sleep 60s \
    --inject.ranks "[1]" --inject.steps 2..2
exit "$failed"
