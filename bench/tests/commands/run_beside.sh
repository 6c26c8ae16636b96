#!/usr/bin/env bash
# Tests several runners at once, with a trainer that takes no time: a run has one runner, and on the same cores one runner
# waits for the other.
# tier: rest
# cores: 1
set -u
. bench/tests/lib/tap.sh
. bench/tests/lib/fake_campaign.sh

one_runner_at_a_time() {
    start_hanging || return 1
    expect 3 ": process $runner on $(hostname) since" run || return 1
    grep "another scalebench is running this campaign" "$tmp/expect.log" || return 1
    kill -KILL "$runner"
    gone "$out"
}

# Runners that start at the same time begin one run: one runs it, the others find it complete or are rejected.
begins_one_run() { # number of the run
    local i pids=() pid ok=0
    for ((i = 0; i < 12; i++)); do
        run --set "measure.time.launches=1..1 measure.accuracy.seeds=[] train.lr=0.$1$1" \
            >"$tmp/start.$i" 2>&1 &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid"
        case $? in
        0) ok=$((ok + 1)) ;;
        3) ;;
        *)
            cat "$tmp"/start.*
            return 1
            ;;
        esac
    done
    [ "$ok" -ge 1 ] && [ "$(runs)" -eq "$1" ] && [ "$(launches)" -eq 2 ]
}

begins_one_run_each_time() {
    rm -rf "$out"
    begins_one_run 1 && begins_one_run 2 && begins_one_run 3
}

# On file systems without locks between hosts, a changing file shows that a runner is alive.
knows_a_runner_of_another_host() {
    SLURM_JOB_ID=5 start_hanging || return 1
    local owner=$latest/runner beat=0 other status
    grep "^process $runner of job 5 on $(hostname) since 20" "$owner" || return 1
    kill -KILL "$runner"
    gone "$out" || return 1
    while sleep 0.5; do
        echo "process 7 of job 12 on elsewhere since today, sign of life $((beat++))" >"$tmp/owner"
        mv "$tmp/owner" "$owner"
    done &
    other=$!
    until_true grep elsewhere "$owner"
    expect 3 "another scalebench is running this campaign: process 7 of job 12 on elsewhere since today; submit behind it: sbatch --dependency=afterany:12 ..." \
        run
    status=$?
    kill "$other"
    wait "$other"
    return "$status"
}

goes_on_after_a_host_that_died() {
    expect 0 "process 7 of job 12 on elsewhere" run && [ "$(runs)" -eq 1 ] && [ ! -e "$latest/runner" ]
}

# A runner that was killed while it made its file has left it empty.
goes_on_after_an_empty_file() {
    : >"$latest/runner"
    expect 0 "this run belongs to an unknown process" run && [ "$(runs)" -eq 1 ] && [ ! -e "$latest/runner" ]
}

# A second runner waits until cores are free, so that it does not disturb measurements.
waits_for_the_cores() {
    start_hanging || return 1
    run --fresh >"$tmp/waiting.log" 2>&1 &
    local waiting=$! first=$runner
    until_true grep "is in use by process $first on $(hostname)" "$tmp/waiting.log" || return 1
    until_true grep "waiting until the other campaign ends (3[0-9] s so far). Stop one of the two campaigns, or start this campaign on other cores" "$tmp/waiting.log" || return 1
    [ ! -e "$latest/launches" ] && [ "$(runs)" -eq 2 ] || return 1
    kill -KILL "$first"
    wait "$waiting" || return 1
    grep "waiting until the other campaign ends" "$tmp/waiting.log" && [ "$(launches)" -eq 12 ] && gone "$out"
}

stops_waiting() { # signal, exit status
    start_hanging || return 1
    local first=$runner status
    rm -f "$tmp/waiting.log" # of the previous test; the wait below would find its line
    set -m
    "$bin/scalebench" run "$tmp/fake.yaml" --out "$out" --fresh >"$tmp/waiting.log" 2>&1 &
    runner=$!
    set +m
    until_true grep "waiting until the other campaign ends" "$tmp/waiting.log" || return 1
    kill "-$1" "$runner"
    wait "$runner"
    status=$?
    kill -KILL "$first"
    [ "$status" -eq "$2" ] && grep "run the same command again to resume" "$tmp/waiting.log" && gone "$out"
}

# Each runner has its own core, as jobs that share a node.
runs_beside_on_other_cores() {
    local all
    all=$(taskset -cp $$ | sed 's/.*: *//')
    rm -rf "$out"
    FAKE_HANG=allreduce taskset -c "${all%%[-,]*}" "$bin/scalebench" run "$tmp/fake.yaml" \
        --out "$out" >"$tmp/run.log" 2>&1 &
    runner=$!
    until_true hanging || return 1
    taskset -c "${all##*[-,]}" "$bin/scalebench" run "$tmp/fake.yaml" --out "$tmp/beside"
    local status=$?
    kill -KILL "$runner"
    gone "$out" && return "$status"
}

marks_launches_without_locks() {
    rm -rf "$out"
    SCALEBENCH_LOCKS=$tmp/no/such expect 0 "another campaign may measure on the same cores" run &&
        grep -q "^[^#]*shares_cores" "$latest/summary.csv" || return 1
    expect 0 "fake" run --fresh && ! grep -q shares_cores "$latest/summary.csv"
}

check "a second runner is refused" one_runner_at_a_time
check "several starts at once begin one run" begins_one_run_each_time
check "a runner on another host is known by its sign of life" knows_a_runner_of_another_host
check "one that died there is not waited for" goes_on_after_a_host_that_died
check "a run resumes if its runner left an empty file" goes_on_after_an_empty_file
check "a second campaign waits for the same cores" waits_for_the_cores
check "Ctrl-C ends the wait" stops_waiting INT 130
if [ "$(nproc)" -gt 1 ]; then
    check "campaigns run side by side on cores of their own" runs_beside_on_other_cores
else
    skip "campaigns run side by side on cores of their own" "one core only"
fi
check "launches on cores without locks are marked" marks_launches_without_locks
finish
