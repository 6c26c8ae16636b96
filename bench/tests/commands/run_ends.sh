#!/usr/bin/env bash
# Tests campaigns that do not complete, with a trainer that takes no time: runner, mpiexec or a rank is killed, a signal
# arrives, data, programs or the folder change, a rank does not start. Nothing may be left, and the same command resumes.
# cores: 1
set -u
. bench/tests/lib/tap.sh
. bench/tests/lib/fake_campaign.sh

# Its reason is printed once.
ends_a_launch_at_its_limit() {
    rm -rf "$out"
    FAKE_HANG=tree expect 1 "timeout: the reason is above" run --set "measure.limit=1s matrix.sync.strategy=[tree]" && gone "$out" &&
        [ "$(grep -c "not done within measure.limit (1 s)" "$tmp/expect.log")" -eq 1 ] &&
        grep -q ": timeout; see the reason above" "$tmp/expect.log" &&
        expect 1 "timeout: not done within measure.limit (1 s)" "$bin/scalebench" table "$latest"
}

# A launcher starts no rank, like hydra's proxy when the user may start no more processes. The limit ends when all ranks
# have started.
ends_a_launch_that_does_not_start() {
    rm -rf "$out"
    cat >"$tmp/idle" <<'END'
#!/usr/bin/env bash
[[ " $* " != *" -n 2 "* ]] || { echo "fork: Resource temporarily unavailable" && exec sleep 300; }
exec "$REAL_MPIEXEC" "$@"
END
    chmod +x "$tmp/idle"
    REAL_MPIEXEC=$mpiexec MPIEXEC=$tmp/idle expect 1 "0 of 2 ranks started within measure.start_limit (1 s): fork: Resource temporarily unavailable. Allow the user more processes (ulimit -u), or raise the limit" \
        run --set measure.start_limit=1s && gone "$out" || return 1
    rm -rf "$out"
    FAKE_HANG=tree expect 1 ": not done within measure.limit (6 s): " run \
        --set "measure.start_limit=4s measure.limit=6s" && gone "$out"
}

the_runner() {
    echo "$runner"
}

the_mpiexec() {
    pgrep -f "^[^ ]*mpiexec[^ ]* .*-n 2 .*$out"
}

a_rank() {
    pgrep -f "^[^ ]*bash [^ ]*train_cnn .*$out" | head -n 1
}

# Waits for the runner first, which may continue with other points.
survives_death_of() { # victim
    start_hanging || return 1
    kill -KILL "$($1)" || return 1
    wait "$runner"
    cat "$tmp/run.log"
    gone "$out" && completes_later
}

stops_at() { # signal, exit status
    start_hanging || return 1
    kill "-$1" "$runner"
    wait "$runner"
    [ $? -eq "$2" ] || return 1
    grep "interrupted; run the same command again to resume" "$tmp/run.log" || return 1
    gone "$out" && completes_later
}

guard_has_ended() {
    ! pgrep -P "$runner" -r R,S,D >/dev/null # but for one that nobody has waited for
}

# A batch system signals mpiexec and the runner, which may see both at once if it was not running.
stops_where_a_launch_has_ended() {
    local begun
    start_hanging && kill -STOP "$runner" || return 1
    begun=$(grep -c '"event":"running"' "$latest/journal.jsonl")
    kill -KILL "$(the_mpiexec)" && until_true guard_has_ended || return 1
    kill -TERM "$runner" && kill -CONT "$runner"
    wait "$runner"
    [ $? -eq 143 ] && [ "$(grep -c '"event":"running"' "$latest/journal.jsonl")" -eq "$begun" ] &&
        ! grep '"status":"failed"' "$latest/journal.jsonl" && gone "$out" && completes_later
}

# Runs with a trainer that executes the code in $1 from its third timed launch on.
run_changing() { # code, options
    local code=$1
    shift
    rm -rf "$out"
    # shellcheck disable=SC2016 # expands in the trainer
    echo '[ -z "$dir" ] || [ "$(find "${dir%%/launches/*}/launches" -name "time-*" | wc -l)" -lt 3 ] || '"$code" \
        >"$tmp/facts"
    FAKE_FACTS=$tmp/facts run "$@"
}

# Tests the data source of launches.
data_are() { # source
    awk -F, -v source="$1" '
        { gsub(/"[^"]*"/, "quoted") }
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "data_source") column = i; next }
        $column == source { found = 1 }
        END { exit !(column && found) }' "$latest/raw.csv"
}

# The journal has two launches of it and no more; then the campaign resumes normally.
goes_on_when_put_back() {
    [ "$(grep -c '"status":"ok"' "$latest/journal.jsonl")" -eq "$1" ] || return 1
    expect 0 "fake" run && [ "$(runs)" -eq 1 ] && [ "$(launches)" -eq 12 ] &&
        ! data_are real
}

# Block 0 is 2 launches, then come 4 accuracy runs; the third timed launch differs.
data_that_change_stop_it() {
    expect 2 "data_source changed while the campaign ran: 'generated' before, 'real' in this launch" \
        run_changing 'source=real' || return 1
    goes_on_when_put_back 6 || return 1
    echo 'source=real' >"$tmp/facts"
    FAKE_FACTS=$tmp/facts expect 0 "fake" run && [ "$(runs)" -eq 2 ] &&
        data_are real && ! data_are generated && grep -q '"workload:data_source of train_cnn data.set=digits": "real"' "$latest/manifest.json"
}

# Replaces the trainer, as `make` in another terminal does.
programs_that_change_stop_it() {
    local status
    cp "$bin/train_cnn" "$tmp/train_cnn"
    # shellcheck disable=SC2016 # expands in the trainer
    expect 2 "train_cnn: changed while the campaign ran: its SHA-256 was" \
        run_changing 'echo "# another" >>"$0"' && grep -q '"program:train_cnn": "[0-9a-f]*"' "$latest/manifest.json"
    status=$?
    cp "$tmp/train_cnn" "$bin/train_cnn"
    [ "$status" -eq 0 ] && goes_on_when_put_back 6
}

# A rebuilt program with the same contents counts as the same.
programs_made_anew_do_not() {
    # shellcheck disable=SC2016 # expands in the trainer
    expect 0 "fake" run_changing 'touch "$0"'
}

# The results are deleted, or a file system disappears, during a launch.
ends_when_its_folder_vanishes() {
    start_hanging || return 1
    rm -rf "$out"
    wait "$runner"
    [ $? -eq 1 ] || return 1
    grep "fake/20.*/journal.jsonl: the journal or the folder of this run was removed" "$tmp/run.log" && gone "$out" &&
        [ ! -e "$out" ]
}

# The other rank would hang in MPI_Init; it is killed.
ends_with() { # exit status, command
    local want=$1
    shift
    "$@"
    [ $? -eq "$want" ]
}

# mpiexec may lose a rank's last output, so pin is called directly.
ends_with_a_rank_that_does_not_start() {
    local sweep=("$build/comm_sweep" --gradients 4KiB --strategies ring --turns 1)
    local start=(timeout -s KILL 60 "$mpiexec" -n 1 "$build/pin" --cpus '' "${sweep[@]}")
    MPI_LOCALRANKID=1 expect 2 "--cpus '': expected an entry for node-local rank 1, found 1" "$build/pin" --cpus '' "${sweep[@]}" &&
        MPI_LOCALRANKID=0 expect 127 "pin: cannot run $tmp/nowhere" "$build/pin" --cpus '' "$tmp/nowhere" &&
        ends_with 2 "${start[@]}" : -n 1 "$build/pin" --cpus '' "${sweep[@]}" &&
        ends_with 127 "${start[@]}" : -n 1 "$build/pin" --cpus '|' "$tmp/nowhere"
}

# Uses a fake ssh. Hydra waits for ever for an unreachable host; ranks of the other host wait in MPI_Init.
ends_with_a_host_that_is_not_reached() {
    printf '%s:1\n' here there >"$tmp/hosts"
    cat >"$tmp/not_ssh" <<'END'
#!/usr/bin/env bash
while [[ $1 == -* ]]; do shift; done
[ "$1" = here ] || { echo "ssh: connect to host $1: No route to host" >&2; exit 255; }
exec sh -c "exec ${*:2}"
END
    chmod +x "$tmp/not_ssh"
    rm -rf "$out"
    SCALEBENCH_HOSTS=$tmp/hosts SCALEBENCH_LAUNCHER=$tmp/not_ssh SCALEBENCH_HEAD=lo SCALEBENCH_NIC=lo \
        expect 1 "a process that the launcher started on a node ended (exit status 255), but the launcher did not end within 10 s: ssh: connect to host there: No route to host" \
        "$build/scalebench" run "$tmp/fake.yaml" --out "$out" --set "site=emulated nodes=2 \
            matrix.sync.strategy=[allreduce] measure.accuracy.seeds=[] measure.time.launches=1..1 measure.limit=10min" &&
        gone "$out"
}

check "a launch ends at its time limit" ends_a_launch_at_its_limit
check "a launch ends whose ranks do not start" ends_a_launch_that_does_not_start
check "SIGKILL of the runner" survives_death_of the_runner
check "SIGKILL of mpiexec" survives_death_of the_mpiexec
check "SIGKILL of a rank" survives_death_of a_rank
check "Ctrl-C" stops_at INT 130
check "SIGTERM" stops_at TERM 143
check "SIGTERM when a launch has just ended" stops_where_a_launch_has_ended
check "data that change stop the run" data_that_change_stop_it
check "programs that change stop the run" programs_that_change_stop_it
check "programs that are made anew do not" programs_made_anew_do_not
check "a results folder that vanishes ends the run" ends_when_its_folder_vanishes
check "a rank that pin cannot start ends the launch" ends_with_a_rank_that_does_not_start
check "a host that is not reached ends the launch" ends_with_a_host_that_is_not_reached
finish
