#!/usr/bin/env bash
# The runner's promises, with a trainer that takes no time: what runs, what is kept, what is skipped, and
# that nothing is left when the runner, mpiexec or a rank is killed.
set -u
. bench/tests/lib/tap.sh

export SCALEBENCH_HOME=$PWD
bin=$tmp/bin out=$tmp/results
mkdir "$bin"
cp "$build/scalebench" "$build/pin" "$bin" || exit 1
cp bench/tests/lib/fake_trainer.sh "$bin/train_cnn"

cat >"$tmp/fake.yaml" <<END
name: fake
model: softmax_784
data: {set: digits}
train: {global_batch: 100}
matrix:
  sync.strategy: [none, allreduce]
place: {oversubscribe: allow}
measure:
  time: {warmup_steps: 1, steps: 1, launches: 3..4, precision: 100%}
  accuracy: {seeds: [5, 6]}
  limit: 1min
  retries: 0
figures: []
END

run() { # arguments
    "$bin/scalebench" run "$tmp/fake.yaml" --out "$out" "$@"
}

latest=$out/fake/latest

launches() { # that ended, of the latest run
    grep -c '"event":"done"' "$latest/journal.jsonl"
}

runs() {
    find "$out/fake" -mindepth 1 -maxdepth 1 -type d | wc -l
}

run_of_latest() {
    basename "$(readlink -f "$latest")"
}

# Two points, three timed launches and two seeds each: 10. A median of three times has no 95 %
# interval, so a fourth block is added: 12.
completes() {
    expect 0 "fake" run || return 1
    [ "$(launches)" -eq 12 ] && [ -s "$latest/summary.csv" ] && [ -s "$latest/raw.csv" ] &&
        [ -s "$latest/spec.yaml" ] && tail -n 1 "$latest/journal.jsonl" | grep -q finished
}

keeps_what_is_needed_to_repeat() {
    local launch
    for launch in "$latest"/launches/*/time-000; do
        grep -q -- "--record=.*/$(basename "$(dirname "$launch")")/time-000" \
            "$launch/command.txt" || return 1
        [ -e "$launch/log.txt" ] || return 1
    done
    grep -qE '"identity": "[0-9a-f]{64}"' "$latest/manifest.json" &&
        grep -qE '"usable_cores": [1-9]' "$latest/manifest.json"
}

runs_nothing_twice() {
    local before after
    before=$(cat "$latest/journal.jsonl")
    expect 0 "fake" run || return 1
    after=$(cat "$latest/journal.jsonl")
    [ "$before" = "$after" ] && [ "$(runs)" -eq 1 ]
}

# A host's name is no part of a campaign: jobs that are begun again land on other nodes.
goes_on_on_another_host() {
    local before
    before=$(cat "$latest/journal.jsonl")
    "${unshare[@]}" sh -c 'hostname elsewhere && exec "$@"' sh \
        "$bin/scalebench" run "$tmp/fake.yaml" --out "$out" || return 1
    [ "$before" = "$(cat "$latest/journal.jsonl")" ] && [ "$(runs)" -eq 1 ]
}

begins_anew_on_another_kind_of_machine() {
    expect 0 "fake" taskset -c "$(taskset -cp $$ | grep -o '[0-9]*$')" \
        "$bin/scalebench" run "$tmp/fake.yaml" --out "$tmp/elsewhere" || return 1
    expect 0 "the class of machine is not what it was in $tmp/elsewhere/fake/20" \
        "$bin/scalebench" run "$tmp/fake.yaml" --out "$tmp/elsewhere" || return 1
    [ "$(find "$tmp/elsewhere/fake" -mindepth 1 -maxdepth 1 -type d | wc -l)" -eq 2 ]
}

prints_the_table_again() {
    expect 0 "fake" "$bin/scalebench" table "$latest"
}

begins_anew_when_fresh() {
    expect 0 "fake" run --fresh && [ "$(runs)" -eq 2 ]
}

begins_anew_with_another_program() {
    echo "# changed" >>"$bin/train_cnn"
    expect 0 "the program train_cnn is not what it was in $out/fake/20" run && [ "$(runs)" -eq 3 ]
}

# As the message says.
goes_on_with_the_old_program() {
    local with without
    with=$(run_of_latest)
    sed -i '$d' "$bin/train_cnn"
    expect 0 "fake" run || return 1
    without=$(run_of_latest)
    echo "# changed" >>"$bin/train_cnn"
    expect 0 "fake" run || return 1
    [ "$with" != "$without" ] && [ "$(run_of_latest)" = "$with" ] && [ "$(runs)" -eq 3 ] &&
        [ "$(launches)" -eq 12 ]
}

# What was measured stays; the table shows what is asked for.
goes_on_with_another_spec() {
    expect 0 "12 launches of 2 points that this spec does not ask for are kept" \
        run --set train.lr=0.5 || return 1
    [ "$(runs)" -eq 3 ] && [ "$(launches)" -eq 24 ] && [ "$(wc -l <"$latest/raw.csv")" -eq 13 ] &&
        grep -q '^train.lr: 0.5' "$latest/spec.yaml" && grep -q '^train.lr: 0.01' "$latest/spec-001.yaml"
}

measures_damaged_records_again() {
    local record
    record=$latest/$(sed -n '2s/,.*//p' "$latest/raw.csv")/rank.0.jsonl
    echo nonsense >"$record"
    expect 0 "1 launch cannot be read any more and is tried again" run --set train.lr=0.5 &&
        [ "$(runs)" -eq 3 ] && [ "$(launches)" -eq 25 ]
}

goes_on_after_a_failing_point() {
    rm -rf "$out"
    FAKE_FAIL=allreduce expect 1 "allreduce: failed: exit status 3: fake trainer: no luck" run &&
        [ "$(launches)" -eq 7 ] # six of none, the failed one
}

# Its places in the blocks of the other point are filled.
tries_a_failed_point_again() {
    expect 0 "1 launch failed before and is tried again" run && [ "$(runs)" -eq 1 ] &&
        [ "$(launches)" -eq 13 ] && grep -q "^launches/.*no luck" "$latest/raw.csv"
}

# The third launch of all fails, and is tried again in its block.
tries_a_failed_launch_again() {
    rm -rf "$out"
    # shellcheck disable=SC2016 # expands in the trainer
    echo '[ -z "$dir" ] || [ "$(find "${dir%%/launches/*}/launches" -name "time-*" | wc -l)" -ne 3 ] || {
        echo "fake trainer: a hiccup" >&2; exit 1; }' >"$tmp/facts"
    FAKE_FACTS=$tmp/facts expect 0 "fake trainer: a hiccup: it is tried again" run \
        --set measure.retries=1 || return 1
    [ "$(launches)" -eq 13 ] && grep -q "^launches/.*a hiccup" "$latest/raw.csv" &&
        [ "$(grep -c ',ok,' "$latest/summary.csv")" -eq 2 ]
}

gives_up_what_fails_alike() {
    rm -rf "$out"
    # shellcheck disable=SC2016 # expands in the trainer
    echo '[ "$strategy" = none ] || [ -z "$dir" ] || { echo "fake trainer: not again" >&2; exit 1; }' >"$tmp/facts"
    FAKE_FACTS=$tmp/facts expect 1 "not again: failed again, it is given up" run \
        --set measure.retries=9 && [ "$(launches)" -eq 8 ]
}

# More launches: blocks over all points; another value of the matrix: blocks of it and of its base.
runs_what_a_grown_spec_lacks() {
    rm -rf "$out"
    expect 0 "fake" run --set "measure.time.launches=2..2 measure.accuracy.seeds=[]" || return 1
    expect 0 "fake" run --set "measure.time.launches=4..4 measure.accuracy.seeds=[]" || return 1
    [ "$(launches)" -eq 8 ] && [ "$(grep -c '"event":"block"' "$latest/journal.jsonl")" -eq 4 ] || return 1
    expect 0 "fake" run --set "measure.time.launches=4..4 measure.accuracy.seeds=[] matrix.ranks=[1,2]
        matrix.sync.strategy=[none,allreduce,ring]" || return 1
    [ "$(runs)" -eq 1 ] && [ "$(launches)" -eq 28 ] && # 4 of each new point, and of the base of all
        [ "$(grep -c '"event":"block"' "$latest/journal.jsonl")" -eq 8 ] &&
        [ "$(grep -c '"event":"finished"' "$latest/journal.jsonl")" -eq 3 ]
}

ends_a_launch_at_its_limit() {
    rm -rf "$out"
    FAKE_HANG=none expect 1 "none: timeout: not done within measure.limit (1 s)" run \
        --set measure.limit=1s && gone "$out"
}

spends_no_more_than_the_budget() {
    rm -rf "$out"
    expect 0 "fake" run --set measure.budget=0s && [ "$(launches)" -eq 6 ] # one each, two seeds each
}

# No machine that runs this test has so many cores.
too_many="matrix.ranks=[1,10000] train.global_batch=10000 place.oversubscribe=refuse"

skips_aloud() {
    rm -rf "$out"
    expect 0 "ranks=10000 none: skipped: 10000 ranks x 1 thread need 10000 cores" run \
        --set "$too_many" || return 1
    expect 0 "2 of 4 points skipped" run --set "$too_many"
}

refuses_skips_when_strict() {
    rm -rf "$out"
    expect 3 "2 of 4 points cannot run here" run --strict --set "$too_many" && [ ! -e "$out" ]
}

refuses_when_nothing_can_run() {
    expect 3 "no point can run here" run --set "nodes=2 ranks=2" && [ ! -e "$out" ] || return 1
    MPIEXEC=/no/such/mpiexec expect 3 "MPIEXEC='/no/such/mpiexec'" run && [ ! -e "$out" ]
}

plans_without_running() {
    expect 0 "--record=DIR --run=time" "$bin/scalebench" plan "$tmp/fake.yaml" --out "$out" || return 1
    expect 0 "2 points, 0 skipped; 6 to 8 timed launches, 4 accuracy runs" \
        "$bin/scalebench" plan "$tmp/fake.yaml" --out "$out" && [ ! -e "$out" ]
}

# Starts a campaign whose allreduce hangs; returns when two ranks of it do. Job control, or the shell
# would have it ignore Ctrl-C.
start_hanging() {
    rm -rf "$out"
    set -m
    FAKE_HANG=allreduce "$bin/scalebench" run "$tmp/fake.yaml" --out "$out" --set ranks=2 \
        >"$tmp/run.log" 2>&1 &
    runner=$!
    set +m
    until_true hanging
}

hanging() {
    compgen -G "$latest/launches/*/*/hangs.0" && compgen -G "$latest/launches/*/*/hangs.1"
}

# The same command completes and keeps what was done. `none` at 2 ranks has no accuracy runs: 4 + 4 + 2.
completes_later() {
    local before
    before=$(grep '"status":"ok"' "$latest/journal.jsonl")
    expect 0 "fake" run --set ranks=2 || return 1
    [ "$(runs)" -eq 1 ] || return 1
    [ "$(grep -c '"status":"ok"' "$latest/journal.jsonl")" -eq 10 ] || return 1
    grep '"status":"ok"' "$latest/journal.jsonl" | grep -qF "$before"
}

the_runner() {
    echo "$runner"
}

the_mpiexec() {
    pgrep -f "^[^ ]*mpiexec[^ ]* .*-n 2 .*$out"
}

a_rank() {
    pgrep -f "train_cnn .*$out" | head -n 1
}

# The runner may go on with the other points by itself: it is waited for first.
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
    grep "interrupted; the same command goes on" "$tmp/run.log" || return 1
    gone "$out" && completes_later
}

one_runner_at_a_time() {
    start_hanging || return 1
    expect 3 ": process $runner on $(hostname) since" run --set ranks=2 || return 1
    grep "another scalebench is running this campaign" "$tmp/expect.log" || return 1
    kill -KILL "$runner"
    gone "$out"
}

# Runs with a trainer that acts by the code in $1 from its third timed launch on.
run_changing() { # code, options
    local code=$1
    shift
    rm -rf "$out"
    # shellcheck disable=SC2016 # expands in the trainer
    echo '[ -z "$dir" ] || [ "$(find "${dir%%/launches/*}/launches" -name "time-*" | wc -l)" -lt 3 ] || '"$code" \
        >"$tmp/facts"
    FAKE_FACTS=$tmp/facts run "$@"
}

# Whether a launch's data are from there.
data_are() { # source
    awk -F, -v source="$1" '
        { gsub(/"[^"]*"/, "quoted") }
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "data_source") column = i; next }
        $column == source { found = 1 }
        END { exit !(column && found) }' "$latest/raw.csv"
}

# Two launches of it, and no more, in the journal; then the campaign goes on as if nothing had been.
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

# Another trainer at its place, as `make` in another terminal puts it there.
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

# The same contents made anew are the same program.
programs_made_anew_do_not() {
    # shellcheck disable=SC2016 # expands in the trainer
    expect 0 "fake" run_changing 'touch "$0"'
}

# Somebody clears the results, or a file system goes away, while a launch runs.
ends_when_its_folder_vanishes() {
    start_hanging || return 1
    rm -rf "$out"
    wait "$runner"
    [ $? -eq 1 ] || return 1
    grep "fake/20.*/journal.jsonl: the folder of this run was removed" "$tmp/run.log" && gone "$out" &&
        [ ! -e "$out" ]
}

refuses_an_empty_folder() {
    expect 2 "--out '' (OUT= of make) names no folder" run --out "" || return 1
    expect 2 "--out '' (OUT= of make) names no folder" "$bin/scalebench" figures "$tmp/fake.yaml" --out ""
}

# Started at once they begin one run: one of them runs it, the others find it done or are refused.
begins_one_run() {
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
    [ "$ok" -ge 1 ] && [ "$(runs)" -eq 1 ] && [ "$(launches)" -eq $((2 * $1)) ]
}

begins_one_run_each_time() {
    rm -rf "$out"
    begins_one_run 1 && begins_one_run 2 && begins_one_run 3
}

# Where a file system does not hold locks between hosts, a runner's sign of life is a file that changes.
knows_a_runner_of_another_host() {
    start_hanging || return 1
    local owner=$latest/runner beat=0 other status
    grep "^process $runner on $(hostname) since 20" "$owner" || return 1
    kill -KILL "$runner"
    gone "$out" || return 1
    while sleep 0.5; do
        echo "process 7 on elsewhere since today, sign of life $((beat++))" >"$tmp/owner"
        mv "$tmp/owner" "$owner"
    done &
    other=$!
    until_true grep elsewhere "$owner"
    expect 3 "another scalebench is running this campaign" run --set ranks=2 &&
        grep "process 7 on elsewhere since today" "$tmp/expect.log"
    status=$?
    kill "$other"
    wait "$other"
    return "$status"
}

goes_on_after_a_host_that_died() {
    expect 0 "process 7 on elsewhere" run --set ranks=2 && [ "$(runs)" -eq 1 ] && [ ! -e "$latest/runner" ]
}

# What is started besides shall not disturb what is measured: it waits, and runs when cores are free.
waits_for_the_cores() {
    start_hanging || return 1
    run --fresh --set ranks=2 >"$tmp/waiting.log" 2>&1 &
    local waiting=$! first=$runner
    until_true grep "is in use by process $first on $(hostname)" "$tmp/waiting.log" || return 1
    sleep 1
    [ ! -e "$latest/launches" ] && [ "$(runs)" -eq 2 ] || return 1
    kill -KILL "$first"
    wait "$waiting" || return 1
    grep "waiting for its end" "$tmp/waiting.log" && [ "$(launches)" -eq 10 ] && gone "$out"
}

stops_waiting() { # signal, exit status
    start_hanging || return 1
    local first=$runner status
    rm -f "$tmp/waiting.log" # of the test before, where the wait below would find its line
    set -m
    "$bin/scalebench" run "$tmp/fake.yaml" --out "$out" --fresh --set ranks=2 >"$tmp/waiting.log" 2>&1 &
    runner=$!
    set +m
    until_true grep "waiting for its end" "$tmp/waiting.log" || return 1
    kill "-$1" "$runner"
    wait "$runner"
    status=$?
    kill -KILL "$first"
    [ "$status" -eq "$2" ] && grep "the same command goes on" "$tmp/waiting.log" && gone "$out"
}

# Each inside a core of its own, as jobs that share a node are.
runs_beside_on_other_cores() {
    local all
    all=$(taskset -cp $$ | sed 's/.*: *//')
    rm -rf "$out"
    FAKE_HANG=allreduce taskset -c "${all%%[-,]*}" "$bin/scalebench" run "$tmp/fake.yaml" \
        --out "$out" --set ranks=2 >"$tmp/run.log" 2>&1 &
    runner=$!
    until_true hanging || return 1
    taskset -c "${all##*[-,]}" "$bin/scalebench" run "$tmp/fake.yaml" --out "$tmp/beside" --set ranks=2
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

# By the clock, the second run here is the older one: as where a clock was set back, or in one second.
latest_follows_the_runs() {
    local first second
    rm -rf "$out"
    expect 0 "fake" run || return 1
    first=$(run_of_latest)
    mv "$out/fake/$first" "$out/fake/2999${first#20??}"
    expect 0 "fake" run --fresh || return 1
    second=$(run_of_latest)
    expect 0 "fake" run || return 1
    [ "$(run_of_latest)" = "$second" ] && [ "$(runs)" -eq 2 ]
}

leaves_no_temporary_link() {
    rm "$latest"
    mkdir "$latest" # what a copy that follows links has made
    expect 1 "latest: cannot link the run" run || return 1
    rmdir "$latest"
    ln -s of_one_that_was_killed "$out/fake/.latest"
    expect 0 "fake" run && [ -d "$latest/launches" ] && ! compgen -G "$out/fake/.latest*"
}

# As daemons and some batch systems start programs: what is opened first must not become what is printed to.
runs_with_closed_descriptors() {
    rm -rf "$out"
    run "$@" <&- >&- 2>&- || return 1
    run "$@" >&- || return 1
    run "$@" 2>&- || return 1
    expect 0 "fake" run || return 1
    [ "$(launches)" -eq 12 ] && ! grep -v '^{"event":"' "$latest/journal.jsonl"
}

# --- A net of one's own ---------------------------------------------------------------------------

own=$tmp/own own_out=$tmp/own-results
own_net() { # outputs of the hidden layer
    printf 'name: mine\ninput: [1, 28, 28]\nclasses: 10\nlayers:\n  - dense: {outputs: %s}\n' "$1"
    printf '  - relu\n  - dense: {outputs: 10}\n'
}

own_run() { # arguments
    (cd "$tmp" && "$bin/scalebench" run "$own/own.yaml" --out "$own_out" "$@")
}

# Named beside the spec, run from elsewhere; the launches read the copy.
runs_a_net_beside_the_spec() {
    mkdir -p "$own/nets"
    own_net 20 >"$own/nets/net.yaml"
    printf 'ranks,seconds\n1,0.05\n' >"$own/theirs.csv"
    sed -e 's|^model:.*|model: nets/net.yaml|; s|^name:.*|name: own|; s|^figures:.*|figures: [time]|' \
        -e '$a published: {file: theirs.csv, values: [step_ms_median = seconds * 1000]}' \
        "$tmp/fake.yaml" >"$own/own.yaml"
    expect 0 "own" own_run || return 1
    local run
    run=$(cd "$own_out/own/latest" && pwd -P)
    cmp "$own/nets/net.yaml" "$run/models/net.yaml" && cmp "$own/theirs.csv" "$run/published/theirs.csv" &&
        grep -q '^model: "models/net.yaml"' "$run/spec.yaml" &&
        grep -q -- "--model=$run/models/net.yaml" "$run"/launches/*/time-000/command.txt
}

# The launches before keep the file that they ran with.
another_net_at_the_same_place_is_another_point() {
    local run
    own_net 30 >"$own/nets/net.yaml"
    expect 0 "launches of 2 points that this spec does not ask for are kept" own_run || return 1
    [ "$(find "$own_out/own" -mindepth 1 -maxdepth 1 -type d | wc -l)" -eq 1 ] || return 1
    run=$(cd "$own_out/own/latest" && pwd -P)
    cmp "$own/nets/net.yaml" "$run"/models/*/net.yaml && ! cmp -s "$own/nets/net.yaml" "$run/models/net.yaml" &&
        expect 0 "net " "$bin/scalebench" table "$run"
}

# Unpacked where nothing else is: redrawn, and run again.
an_unpacked_run_stands_for_itself() {
    local away=$tmp/away
    cp -r "$(cd "$own_out/own/latest" && pwd -P)" "$away" || return 1
    rm -rf "$own" "$own_out" "$away"/time.* "$away/summary.md"
    expect 0 "time.svg" "$bin/scalebench" figures "$away" || return 1
    grep -q "published step" "$away/summary.md" || return 1
    expect 0 "own" "$bin/scalebench" run "$away/spec.yaml" --out "$own_out" || return 1
    rm -rf "$away/launches" "$away"/time.*
    expect 0 "time.svg" "$bin/scalebench" figures "$away"
}

# --- As make hands it on --------------------------------------------------------------------------

by_make() { # arguments; what is built is there already
    env -u MAKEFLAGS make --no-print-directory MAKE=true BUILD="$bin" CONFIG="$tmp/fake.yaml" "$@"
}

refuses_what_lost_its_quotes() {
    local out=$tmp/lost
    expect 2 'quotes are missing: make bench SET="train.epochs=1 matrix.ranks=[1]"' \
        by_make bench OUT="$out" SET=train.epochs=1 'matrix.ranks=[1]' || return 1
    expect 2 'quotes are missing: make bench SET="ranks=1"' by_make bench OUT="$out" ranks=1 || return 1
    expect 2 'quotes are missing: make bench SET="matrix.ranks=[1, 2]"' \
        by_make bench OUT="$out" 'SET=matrix.ranks=[1,' '2]' && [ ! -e "$out" ]
}

takes_quotes_that_are_there() {
    local out="$tmp/it's"
    expect 0 "fake" by_make bench OUT="$out" SET="train.epochs=2 data.set='digits' matrix.ranks=[1]" &&
        grep -q '^train.epochs: 2' "$out/fake/latest/spec.yaml" &&
        grep -q '^data.set: digits' "$out/fake/latest/spec.yaml" || return 1
    expect 2 "'it's' is not a time" by_make bench OUT="$out" SET="measure.limit=it's"
}

refuses_a_test_that_is_none() {
    local name
    expect 2 "TEST=sumary is part of no test's name; nearest: " by_make test TEST=sumary || return 1
    for name in collect_summ "sync_f64 on 7 ranks" runner; do
        TEST=$name ci/run_tests.sh --check || return 1
    done
    expect 1 "0 passed, 0 failed, 0 skipped" env BUILD="$tmp/none" TEST=nothing ci/run_tests.sh
}

# The other rank would stay in MPI_Init, where it waits for all; it is killed if it does.
ends_with() { # exit status, command
    local want=$1
    shift
    "$@"
    [ $? -eq "$want" ]
}

# What a rank says last may be lost where mpiexec ends a launch: pin is heard by itself.
ends_with_a_rank_that_does_not_start() {
    local sweep=("$build/comm_sweep" --sizes 4KiB --models none --strategies ring --turns 1)
    local start=(timeout -s KILL 60 "$mpiexec" -n 1 "$build/pin" --cpus '' "${sweep[@]}")
    MPI_LOCALRANKID=1 expect 2 "node-local rank 1, but --cpus '' has 1" "$build/pin" --cpus '' "${sweep[@]}" &&
        MPI_LOCALRANKID=0 expect 127 "pin: cannot run $tmp/nowhere" "$build/pin" --cpus '' "$tmp/nowhere" &&
        ends_with 2 "${start[@]}" : -n 1 "$build/pin" --cpus '' "${sweep[@]}" &&
        ends_with 127 "${start[@]}" : -n 1 "$build/pin" --cpus '|' "$tmp/nowhere"
}

# By what stands for ssh. Hydra waits for ever for a host that ssh has not reached; ranks of the other wait in MPI_Init.
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
        expect 1 "the launcher did not end within 10 s of what it had started on a node (exit status 255): ssh: connect to host there: No route to host" \
        "$build/scalebench" run "$tmp/fake.yaml" --out "$out" --set "site=emulated nodes=2 ranks_per_node=1 \
            matrix.sync.strategy=[allreduce] measure.accuracy.seeds=[] measure.time.launches=1..1 measure.limit=10min" &&
        gone "$out"
}

check "a campaign completes" completes
check "a run keeps what is needed to repeat it" keeps_what_is_needed_to_repeat
check "the same command runs nothing twice" runs_nothing_twice
unshare=(unshare --uts)
"${unshare[@]}" true 2>/dev/null || unshare=(unshare --map-root-user --uts)
if "${unshare[@]}" true 2>/dev/null; then
    check "a campaign goes on on another host of the same kind" goes_on_on_another_host
else
    skip "a campaign goes on on another host of the same kind" "may not set a host name, not even its own"
fi
if [ "$(nproc)" -gt 1 ]; then
    check "other cores begin a new run" begins_anew_on_another_kind_of_machine
else
    skip "other cores begin a new run" "one core only"
fi
check "table prints a run's table again" prints_the_table_again
check "--fresh begins a new run" begins_anew_when_fresh
check "another program begins a new run" begins_anew_with_another_program
check "the old program put back goes on with its run" goes_on_with_the_old_program
check "another spec goes on with the run" goes_on_with_another_spec
check "make refuses options that lost their quotes" refuses_what_lost_its_quotes
check "make takes quotes in SET and OUT" takes_quotes_that_are_there
check "make test refuses a name that no test has" refuses_a_test_that_is_none
check "a net beside its spec is found, and kept by the run" runs_a_net_beside_the_spec
check "another net at the same path is another point" another_net_at_the_same_place_is_another_point
check "an unpacked run is redrawn and run again" an_unpacked_run_stands_for_itself
check "a launch whose records are damaged is measured again" measures_damaged_records_again
check "a failing point does not stop the others" goes_on_after_a_failing_point
check "the same command tries a failed point again" tries_a_failed_point_again
check "a failed launch is tried again" tries_a_failed_launch_again
check "a point that fails alike from the first is given up" gives_up_what_fails_alike
check "a grown spec runs what it lacks" runs_what_a_grown_spec_lacks
check "a launch ends at its time limit" ends_a_launch_at_its_limit
check "the budget ends a campaign" spends_no_more_than_the_budget
check "points that cannot run are skipped aloud" skips_aloud
check "--strict refuses skips" refuses_skips_when_strict
check "nothing is begun when no point can run" refuses_when_nothing_can_run
check "plan runs nothing" plans_without_running
check "SIGKILL of the runner" survives_death_of the_runner
check "SIGKILL of mpiexec" survives_death_of the_mpiexec
check "SIGKILL of a rank" survives_death_of a_rank
check "Ctrl-C" stops_at INT 130
check "SIGTERM" stops_at TERM 143
check "a second runner is refused" one_runner_at_a_time
check "data that change stop the run" data_that_change_stop_it
check "programs that change stop the run" programs_that_change_stop_it
check "programs that are made anew do not" programs_made_anew_do_not
check "a results folder that vanishes ends the run" ends_when_its_folder_vanishes
check "an empty folder for results is refused" refuses_an_empty_folder
check "several starts at once begin one run" begins_one_run_each_time
check "a runner on another host is known by its sign of life" knows_a_runner_of_another_host
check "one that died there is not waited for" goes_on_after_a_host_that_died
check "a second campaign waits for the same cores" waits_for_the_cores
check "Ctrl-C ends the wait" stops_waiting INT 130
if [ "$(nproc)" -gt 1 ]; then
    check "campaigns run side by side on cores of their own" runs_beside_on_other_cores
else
    skip "campaigns run side by side on cores of their own" "one core only"
fi
check "launches on cores without locks are marked" marks_launches_without_locks
check "latest follows the runs, not the clock" latest_follows_the_runs
check "no temporary link is left" leaves_no_temporary_link
check "a rank that pin cannot start ends the launch" ends_with_a_rank_that_does_not_start
check "a host that is not reached ends the launch" ends_with_a_host_that_is_not_reached
check "closed standard descriptors harm nothing" runs_with_closed_descriptors
finish
