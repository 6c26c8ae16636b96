#!/usr/bin/env bash
# Tests a campaign as a user runs it: to its end, again, changed, interrupted, killed in several ways, resumed.
# tier: rest
# cores: 2
# seconds: 80
set -u
. bench/tests/lib/tap.sh

# Writes a spec of two points with many steps of a small network, so that launches are long enough to be killed in steps.
spec() { # file, name, timed steps, launches
    cat >"$1" <<SPEC
name: $2
scaling: strong
model: softmax_784
data: {set: digits, samples: 20000}
train: {optimizer: adam, lr: 1e-3, global_batch: 100}
matrix: {ranks: [1, 2]}
place: {oversubscribe: allow}
measure:
  time: {warmup_steps: 5, steps: $3, launches: $4..$4}
  accuracy: {seeds: [1]}
  budget: 10min
figures: [time, speedup, efficiency]
SPEC
}
spec "$tmp/small.yaml" small 20 2
# Launches last at least half a second, and each kill has finished launches before it.
spec "$tmp/long.yaml" long 8000 5

run() { # spec name, then options
    local name=$1
    shift
    "$scalebench" run "$tmp/$name.yaml" --out "$tmp/results" "$@"
}

# Starts a campaign with SIGINT enabled, as a terminal does; sets $runner.
in_background() { # spec name
    set -m
    "$scalebench" run "$tmp/$1.yaml" --out "$tmp/results" &
    runner=$!
    set +m
}

runs() {
    local folder count=0
    for folder in "$tmp/results/$1"/20*; do
        [ ! -d "$folder" ] || count=$((count + 1))
    done
    echo "$count"
}

completes() {
    expect 0 "results/small/latest" run small || return 1
    local file
    for file in summary.csv raw.csv spec.yaml manifest.json journal.jsonl time.svg time.png \
        speedup.svg speedup.png efficiency.svg efficiency.png; do
        [ -s "$tmp/results/small/latest/$file" ] || {
            echo "$file is missing"
            return 1
        }
    done
    [ "$(wc -l <"$tmp/results/small/latest/summary.csv")" -eq 3 ]
}

# Prints column $1 of the summary.
column() { # name
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { print $c }' "$tmp/results/small/latest/summary.csv"
}

columns_are_filled() {
    local name
    for name in step_ms_median step_ms_lo step_ms_hi images_per_s forward_ms backward_ms train_loss \
        test_acc_pct rss_mib user_s read_s; do
        [ "$(column "$name" | grep -cE '^[0-9.eE+-]+$')" -eq 2 ] || {
            echo "$name: $(column "$name")"
            return 1
        }
    done
    [ "$(column status | sort -u)" = ok ] && [ "$(column data_source | sort -u)" = generated ]
}

again_runs_nothing() {
    local before
    before=$(cat "$tmp/results/small/latest/journal.jsonl")
    run small || return 1
    [ "$before" = "$(cat "$tmp/results/small/latest/journal.jsonl")" ] && [ "$(runs small)" -eq 1 ]
}

fresh_starts_anew() {
    run small --fresh && [ "$(runs small)" -eq 2 ]
}

# Only a run of the same points is a repetition: not one of another batch.
other_points_repeat_nothing() {
    local out=$tmp/repetitions batch
    for batch in 100 100 200; do
        "$scalebench" run "$tmp/small.yaml" --fresh --out "$out" --set "train.global_batch=$batch matrix.ranks=[1]
            measure.time.launches=1..1 measure.accuracy.seeds=[] figures=[]" || return 1
    done
    "$scalebench" runs small --out "$out" >"$tmp/runs.txt" && cat "$tmp/runs.txt" &&
        [ "$(grep -c repeats "$tmp/runs.txt")" -eq 1 ] && sed -n 2p "$tmp/runs.txt" | grep -q repeats
}

changed_spec_goes_on() {
    run small --set "measure.budget=5min" && [ "$(runs small)" -eq 2 ]
}

# A changed binary: launches of two binaries must not be in one summary.
changed_binary_opens_a_new_run() {
    mkdir "$tmp/bin"
    cp "$build/scalebench" "$build/pin" "$build/train_cnn" "$tmp/bin"
    printf x >>"$tmp/bin/train_cnn"
    SCALEBENCH_HOME=$PWD "$tmp/bin/scalebench" run "$tmp/small.yaml" --out "$tmp/results" &&
        [ "$(runs small)" -eq 3 ]
}

# The kernels of its launches, as the trainer reports them.
identity() {
    "$train_cnn" --identify --model softmax_784 --data.set digits
}

# Kernels for another instruction set have other times: 10.3 ms per step instead of 1.5 ms.
other_instructions_open_a_new_run() {
    SCALEBENCH_ISA=portable run small && [ "$(runs small)" -eq 4 ] &&
        cut -d, -f2- "$tmp/results/small/latest/raw.csv" | grep -q ",portable,"
}

done_launches() {
    grep -c '"event":"done".*"status":"ok"' "$tmp/results/long/latest/journal.jsonl"
}

# Starts the long campaign in the background and waits until it has finished one launch and is inside the next; sets
# $runner. Fails if it ends before.
start() {
    in_background long >"$tmp/long.log" 2>&1
    until_true inside_a_launch_or_over && ! is_over
}

is_over() {
    ! kill -0 "$runner" 2>/dev/null
}

inside_a_launch_or_over() {
    inside_a_launch || is_over
}

inside_a_launch() {
    local now
    now=$(done_launches 2>/dev/null) || now=0
    [ "$now" -gt "${finished:-0}" ] && [ -n "$(processes_named train_cnn)" ]
}

processes_named() { # program name
    for pid in $(processes "$tmp/results/long"); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$1" ] || echo "$pid"
    done
}

survives() { # victim, signal
    local victims
    finished=$(done_launches 2>/dev/null) || finished=0
    start || {
        cat "$tmp/long.log"
        return 1
    }
    case $1 in
    runner) victims=$runner ;;
    mpiexec) victims=$(processes_named "$(basename "$mpiexec")") ;;
    rank) victims=$(processes_named train_cnn | tail -n 1) ;;
    esac
    # shellcheck disable=SC2086 # numbers
    kill "-$2" $victims || return 1
    if [ "$1" = runner ]; then
        wait "$runner"
        [ "$?" -eq $((128 + $(kill -l "$2"))) ] || return 1
    else
        kill -INT "$runner"
        wait "$runner"
    fi
    gone "$tmp/results/long"
}

kept() {
    [ "$(done_launches)" -gt "$finished" ] && [ "$(runs long)" -eq 1 ]
}

# Finished launches still count, and the campaign succeeds.
completes_after_all_that() {
    local before
    before=$(grep -o '"event":"done".*' "$tmp/results/long/latest/journal.jsonl")
    run long || return 1
    grep -qF "$before" "$tmp/results/long/latest/journal.jsonl" &&
        grep -q '"event":"finished"' "$tmp/results/long/latest/journal.jsonl"
}

second_runner_is_refused() {
    spec "$tmp/both.yaml" both 300000 4
    in_background both >"$tmp/first.log" 2>&1
    until_true test -s "$tmp/results/both/latest/journal.jsonl"
    expect 3 "another" run both
    local status=$?
    kill -INT "$runner"
    wait "$runner"
    return "$status"
}

# Runs a launch of two ranks without enough memory; prints its reason in the summary.
reason() { # option of the spec, then a command that limits memory
    local strategy=$1
    shift
    cat >"$tmp/large.yaml" <<SPEC
name: large
model: vgg11_bn
ranks: 2
data: {set: shapes, samples: 2000}
train: {global_batch: 800}
sync: {strategy: $strategy}
place: {oversubscribe: allow}
measure: {time: {warmup_steps: 1, steps: 1, launches: 1..1}}
figures: []
SPEC
    expect 1 "failed" "$@" "$scalebench" run "$tmp/large.yaml" --fresh --out "$tmp/results" || return 1
    sed -n 's/.*"event":"done".*"reason":"\([^"]*\)".*/\1/p' "$tmp/results/large/latest/journal.jsonl"
}

says_what_memory_is_missing() {
    reason allreduce bash -c 'ulimit -v 400000; exec "$@"' bash >"$tmp/reason" && cat "$tmp/reason" &&
        grep -xE "exit status 1: train_cnn: net 'vgg11_bn': no memory for [0-9]+ MiB .*" "$tmp/reason"
}

with_shared_memory() { # size, command that makes a mount namespace...
    local size=$1
    shift
    # shellcheck disable=SC2016 # expands in the other shell
    inside=("$@" sh -c 'mount -t tmpfs -o size="$0" tmpfs /dev/shm && exec "$@"' "$size")
}

# The shared memory of a strategy, and of MPICH at its start.
says_that_shared_memory_is_small() { # command that makes a mount namespace
    local inside number='[0-9]+\.[0-9]' rest='\. Enlarge it with `mount .*'
    with_shared_memory 24m "$@"
    reason shm "${inside[@]}" >"$tmp/reason" && cat "$tmp/reason" && grep -qE \
        "strategy shm needs $number MiB of shared memory, but /dev/shm has $number of 24\.0 MiB left$rest" \
        "$tmp/reason" || return 1
    [ -z "${UCX_TLS:-}" ] || return 0
    with_shared_memory 1m "$@"
    reason allreduce "${inside[@]}" >"$tmp/reason" && cat "$tmp/reason" && grep -qE \
        "starting MPI on 2 ranks needs $number MiB of shared memory, but /dev/shm has 1\.0 of 1\.0" "$tmp/reason"
}

check "a campaign completes" completes
check "columns are filled" columns_are_filled
check "the same command again runs nothing" again_runs_nothing
check "--fresh starts anew" fresh_starts_anew
check "a run of other points is no repetition" other_points_repeat_nothing
check "a changed spec resumes the run" changed_spec_goes_on
check "a changed binary opens a new run" changed_binary_opens_a_new_run
if [ "$(identity)" != "$(SCALEBENCH_ISA=portable identity)" ]; then
    check "another instruction set opens a new run" other_instructions_open_a_new_run
else
    skip "another instruction set opens a new run" "this processor has the portable one only"
fi
check "SIGKILL of the runner leaves nothing behind" survives runner KILL
check "and loses nothing" kept
check "SIGINT ends a campaign cleanly" survives runner INT
check "SIGTERM ends a campaign cleanly" survives runner TERM
check "SIGKILL of mpiexec leaves nothing behind" survives mpiexec KILL
check "SIGKILL of a rank leaves nothing behind" survives rank KILL
check "the same command completes the campaign" completes_after_all_that
check "a second runner on the same run is refused" second_runner_is_refused
check "memory that is missing is the reason" says_what_memory_is_missing
if unshare -m true 2>/dev/null; then
    check "so is shared memory that is too small" says_that_shared_memory_is_small unshare -m
elif unshare -Urm true 2>/dev/null; then
    check "so is shared memory that is too small" says_that_shared_memory_is_small unshare -Urm
else
    skip "so is shared memory that is too small" "no mount namespace here"
fi
finish
