#!/usr/bin/env bash
# Tests that measurements are kept: a spec that asks for more runs only what is missing, and a campaign that is killed at any
# moment, in any of its parts, loses nothing and counts nothing twice. The trainer takes no time.
# STORE_KILLS (50) is the number of kills; STORE_SEED=N repeats a failure, which prints its seed.
# cores: 1
# seconds: 50
set -u
. bench/tests/lib/tap.sh
. bench/tests/lib/fake_campaign.sh

kills=${STORE_KILLS:-50} seed=${STORE_SEED:-$$}
cat >"$tmp/fake.yaml" <<END
name: fake
model: softmax_784
data: {set: digits}
train: {global_batch: 100}
ranks: 2
matrix:
  sync.strategy: [tree, allreduce]
place: {oversubscribe: allow}
measure:
  time: {warmup_steps: 1, steps: 1, launches: 6..6, precision: 100%}
  limit: 1min
figures: []
END

journal=$latest/journal.jsonl

status() { # arguments
    "$bin/scalebench" status --out "$out" "$@"
}

# Prints counted rows of raw.csv as "label block"; no earlier field contains a comma.
counted() {
    awk -F, 'NR > 1 && $7 == "ok" {print $3, $5}' "$latest/raw.csv"
}

unshare=(unshare --uts)
"${unshare[@]}" true 2>/dev/null || unshare=(unshare --map-root-user --uts)

elsewhere() { # command; runs it with another host name
    "${unshare[@]}" sh -c 'hostname elsewhere && exec "$@"' sh "$@"
}

# --- Changed specs ----------------------------------------------------------------------------------

# No point of the spec is in the run, so another run begins and both are kept. Commands accept names of runs and campaigns,
# and specs.
other_options_begin_a_run() {
    local first second name command
    first=$(run_of_latest)
    expect 0 "(train.lr: 0.01 then, 0.5 now): a new run begins" run --set train.lr=0.5 || return 1
    second=$(run_of_latest)
    [ "$(runs)" -eq 2 ] && [ "$(counted | wc -l)" -eq 12 ] || return 1
    cp "$out/fake/$first/journal.jsonl" "$tmp/before"
    expect 0 "resuming" run && [ "$(run_of_latest)" = "$first" ] && cmp "$tmp/before" "$journal" &&
        [ "$(runs)" -eq 2 ] || return 1
    expect 0 "$first" "$bin/scalebench" compare fake --out "$out" && grep -F "$second" "$tmp/expect.log" &&
        grep -F "Matched by label, since train.lr (0.01, 0.5) differs: " "$tmp/expect.log" || return 1
    for name in fake "fake/$first" "$out/fake" "$out/fake/$first" "$tmp/fake.yaml"; do
        for command in table figures status; do
            "$bin/scalebench" "$command" "$name" --out "$out" || return 1
        done
    done
    rm -rf "$out/fake/$second"
}

completes() {
    expect 0 "fake" run && [ "$(counted | sort -u | wc -l)" -eq 12 ]
}

another_host_runs_nothing() {
    cp "$journal" "$tmp/before"
    expect 0 "fake" elsewhere "$bin/scalebench" run "$tmp/fake.yaml" --out "$out" || return 1
    cmp "$tmp/before" "$journal" && [ "$(runs)" -eq 1 ]
}

another_figure_runs_nothing() {
    cp "$journal" "$tmp/before"
    expect 0 "time" run --set "figures=[time]" && [ -s "$latest/time.svg" ] || return 1
    expect 0 "fake" run || return 1
    cmp "$tmp/before" "$journal" && [ "$(runs)" -eq 1 ]
}

# Prints lines of the journal beyond $tmp/before as "label block".
new_launches() {
    local point
    tail -n "+$(($(wc -l <"$tmp/before") + 1))" "$journal" |
        sed -n 's/.*"event":"running".*"point":"\([^"]*\)".*"block":\([0-9]*\).*/\1 \2/p' |
        while read -r point block; do
            echo "$(awk -F, -v point="$point" '$2 == point {print $3; exit}' "$latest/raw.csv") $block"
        done | sort
}

two_launches_more_are_two_blocks() {
    cp "$journal" "$tmp/before"
    expect 0 "fake" run --set measure.time.launches=8..8 || return 1
    new_launches
    [ "$(new_launches)" = "allreduce 6
allreduce 7
tree 6
tree 7" ] && [ "$(counted | sort -u | wc -l)" -eq 16 ]
}

another_seed_runs_itself() {
    expect 0 "fake" run --set "measure.accuracy.seeds=[5]" || return 1
    cp "$journal" "$tmp/before"
    expect 0 "fake" run --set "measure.accuracy.seeds=[4,5]" || return 1
    tail -n "+$(($(wc -l <"$tmp/before") + 1))" "$journal" >"$tmp/new"
    [ "$(grep -c '"running"' "$tmp/new")" -eq 2 ] && [ "$(grep -c '"running".*"seed":4' "$tmp/new")" -eq 2 ]
}

# Six launches of the new point, each in a block with its baseline; the third point does not run again.
another_value_runs_itself_and_its_base() {
    local new
    cp "$journal" "$tmp/before"
    expect 0 "fake" run --set "matrix.sync.strategy=[tree,allreduce,ring]" || return 1
    new=$(new_launches)
    echo "$new"
    ! grep allreduce <<<"$new" && [ "$(grep -c ring <<<"$new")" -eq 6 ] || return 1
    [ "$(sed -n 's/ring //p' <<<"$new")" = "$(sed -n 's/tree //p' <<<"$new")" ]
}

# The first spec again shows its own points.
less_is_kept_and_not_shown() {
    cp "$journal" "$tmp/before"
    expect 0 "launches of 1 point that this spec does not contain" run || return 1
    cmp "$tmp/before" "$journal" && ! grep ring "$latest/raw.csv" "$latest/summary.csv"
}

another_program_keeps_the_old_run() {
    local old
    old=$(readlink -f "$latest")
    cp "$journal" "$tmp/before"
    cp "$bin/train_cnn" "$tmp/train_cnn"
    echo "# changed" >>"$bin/train_cnn"
    expect 0 "the program train_cnn differs from $out/fake/${old##*/}" run || return 1
    mv "$tmp/train_cnn" "$bin/train_cnn"
    expect 0 "fake" run && [ "$(readlink -f "$latest")" = "$old" ] && cmp "$tmp/before" "$journal"
}

# The run is unchanged and shown.
runs_of_earlier_versions_are_shown() {
    local old
    old=$(readlink -f "$latest")
    mv "$out" "$tmp/now"
    mkdir -p "$out/fake"
    cp -r "$tmp/now/fake/${old##*/}" "$out/fake/"
    old=$out/fake/${old##*/}
    sed -i 's/"facts": /"programs": /' "$old/manifest.json"
    expect 0 "${old##*/} cannot be resumed, since early versions of scalebench did not record machine and programs" run || return 1
    [ "$(runs)" -eq 2 ] && cmp "$tmp/before" "$old/journal.jsonl" && ! cmp -s "$tmp/before" "$journal" &&
        expect 0 "allreduce" "$bin/scalebench" table "$old" && expect 0 "${old##*/}  finished" status fake
}

# A peer that reports the libraries in $tmp/foundations.
make_peer() {
    # shellcheck disable=SC2016 # expands in the peer
    sed -e '/--identify)/i\    --check|--check=*) exec cat "$FOUNDATIONS" ;;' -e 's/"workload":"train_cnn"/"workload":"peer_torch"/' \
        bench/tests/lib/fake_trainer.sh >"$bin/peer_torch"
    chmod +x "$bin/peer_torch"
    cp "$bin/peer_torch" "$bin/peer_inputs"
    export FOUNDATIONS=$tmp/foundations
    echo "torch 1" >"$FOUNDATIONS"
}

with_peer=(--set "matrix.workload=[train_cnn,peer_torch] matrix.sync.strategy=[allreduce]")

rows_that_count() { # program
    awk -F, -v program="$1" 'NR > 1 && $7 == "ok" && $3 ~ program' "$latest/raw.csv" | wc -l
}

# Its old launches no longer count. The trainer's do; six more pair with the new ones.
another_peer_runs_itself() {
    make_peer
    rm -rf "$out"
    expect 0 "fake" run "${with_peer[@]}" || return 1
    [ "$(rows_that_count train_cnn) $(rows_that_count peer_torch)" = "6 6" ] || return 1
    echo "torch 2" >"$FOUNDATIONS"
    expect 0 "'torch 1' then, 'torch 2' now. Earlier launches are kept, but are used only with the earlier one" \
        run "${with_peer[@]}" || return 1
    grep "6 launches of another version of the peer program are kept, but not shown" "$tmp/expect.log" || return 1
    [ "$(rows_that_count train_cnn) $(rows_that_count peer_torch)" = "12 6" ] && [ "$(runs)" -eq 1 ] || return 1
    expect 0 "6 launches of another version of the peer program" status fake && cp "$journal" "$tmp/before" &&
        expect 0 "fake" run "${with_peer[@]}" && cmp "$tmp/before" "$journal"
}

# The old launches count again.
the_old_peer_runs_nothing() {
    echo "torch 1" >"$FOUNDATIONS"
    expect 0 "'torch 2' then, 'torch 1' now" run "${with_peer[@]}" || return 1
    [ "$(rows_that_count train_cnn) $(rows_that_count peer_torch)" = "12 6" ] && [ "$(runs)" -eq 1 ] &&
        [ "$(grep -c '"running"' "$journal")" -eq 24 ]
}

# spec.yaml and the tables belong to one spec, also if it measures nothing.
nothing_measured_writes_all() {
    local nothing=(--set 'measure.time.launches=0..0 figures=[{kind: line, file: layers, y: params, x: layer, shape: bars}]')
    rm -rf "$out"
    expect 0 "2 of 2 points skipped" run "${nothing[@]}" || return 1
    nothing[1]+=" matrix.sync.strategy=[tree,allreduce,ring]"
    expect 0 "3 of 3 points skipped" run "${nothing[@]}" || return 1
    grep -q ring "$latest/spec.yaml" && grep -q ring "$latest/summary.csv" &&
        expect 0 "line.svg" "$bin/scalebench" figures "$latest"
}

tells_of_a_damaged_journal() {
    rm -rf "$out"
    expect 0 "fake" run && cp "$journal" "$tmp/before" || return 1
    printf '{"event":"running","laun' >>"$journal"
    expect 0 "fake" run && cmp "$tmp/before" "$journal" || return 1
    sed -i 5s/.*/garbage/ "$journal"
    expect 2 "journal.jsonl:5: not a line of a journal" run && expect 1 "journal.jsonl:5: not a line" status fake
}

# --- Watching a run ---------------------------------------------------------------------------------

slow() { # starts a runner and waits for a launch
    rm -rf "$out"
    FAKE_HANG=allreduce "$bin/scalebench" run "$tmp/fake.yaml" --out "$out" >"$tmp/run.log" 2>&1 &
    runner=$!
    until_true compgen -G "$latest/launches/*/*/hangs.0"
}

tells_what_runs() {
    slow || return 1
    expect 0 "running, started 20" status "$tmp/fake.yaml" || return 1
    grep "now  *allreduce  launch 1, for [0-9]* s; process $runner on $(hostname) since 20" \
        "$tmp/expect.log" && grep "points  *2: 0 done, 0 failed, 0 skipped, 2 pending" "$tmp/expect.log" || return 1
    status --json | grep -q '"label": "allreduce"' || return 1
    kill -KILL "$runner"
    gone "$out" && expect 0 "interrupted, started 20" status fake || return 1
    grep "1 interrupted; up to 1[12] pending\|1 interrupted; 1[12] pending" "$tmp/expect.log"
}

# Nothing of a larger spec is written while another runner has the run, here or on another host.
growing_is_refused_while_it_runs() {
    local before here there
    slow || return 1
    before=$(cd "$latest/" && cat spec.yaml manifest.json journal.jsonl)
    run --set measure.time.launches=8..8 >"$tmp/here" 2>&1 &
    here=$!
    elsewhere "$bin/scalebench" run "$tmp/fake.yaml" --out "$out" --set "measure.accuracy.seeds=[9]" >"$tmp/there" 2>&1 &
    there=$!
    wait "$here"
    [ $? -eq 3 ] || return 1
    wait "$there"
    [ $? -eq 3 ] || return 1
    cat "$tmp/here" "$tmp/there"
    grep -q "another scalebench is running this campaign: process $runner" "$tmp/here" || return 1
    grep -q "another scalebench is running this campaign: process $runner" "$tmp/there" || return 1
    [ "$before" = "$(cd "$latest/" && cat spec.yaml manifest.json journal.jsonl)" ] && [ "$(runs)" -eq 1 ] || return 1
    kill -KILL "$runner"
    gone "$out"
}

# --- Kills at random moments ------------------------------------------------------------------------

# Requests more launches of each point when all are done.
ask_for_more() {
    goal=$((goal + 20))
    many=(--set "measure.time.launches=$goal..$goal measure.accuracy.seeds=[1,2,3]")
}

begin_asking() {
    rm -rf "$out" "$tmp/lines"
    goal=0
    ask_for_more
}

launch_many() { # host name; runs in the background
    if [ "$1" = elsewhere ]; then
        "${unshare[@]}" sh -c 'hostname elsewhere && exec "$@"' sh \
            "$bin/scalebench" run "$tmp/fake.yaml" --out "$out" "${many[@]}" >>"$tmp/kills.log" 2>&1 &
    else
        "$bin/scalebench" run "$tmp/fake.yaml" --out "$out" "${many[@]}" >>"$tmp/kills.log" 2>&1 &
    fi
}

child() { # process; prints its last child
    [ -z "$1" ] || pgrep -n -P "$1"
}

victim() { # runner, part
    case $2 in
    runner) echo "$1" ;;
    guard) child "$1" ;;
    mpiexec) child "$(child "$1")" ;;
    rank) pgrep -n -f "train_cnn .*$out" ;;
    esac
}

is_one_run() {
    [ "$(runs)" -eq 1 ]
}

# Checks that the complete lines of the journal are unchanged.
keeps_its_lines() {
    [ -e "$journal" ] || return 0
    [ ! -e "$tmp/lines" ] || cmp -n "$(stat -c %s "$tmp/lines")" "$tmp/lines" "$journal" || return 1
    sed -n '/}$/p' "$journal" >"$tmp/lines"
}

wait_quietly() { # processes
    wait "$@" 2>/dev/null
}

kill_once() { # number of earlier kills
    local parts=(runner runner mpiexec rank guard) part second='' where=here
    part=${parts[RANDOM % 5]}
    [ ! -e "$journal" ] || ! tail -n 1 "$journal" | grep -q finished || ask_for_more
    [ $(($1 % 25)) -ne 7 ] || where=elsewhere
    launch_many "$where"
    runner=$!
    if [ $(($1 % 5)) -eq 3 ]; then
        launch_many here
        second=$!
    fi
    sleep "0.$(printf %03d $((RANDOM % 500)))"
    kill -KILL "$(victim "$runner" "$part")" 2>/dev/null
    if [ "$part" != runner ]; then # it goes on: for a moment
        sleep "0.$(printf %03d $((RANDOM % 100)))"
        kill -KILL "$runner" 2>/dev/null
    fi
    wait_quietly "$runner"
    if [ -n "$second" ]; then
        sleep "0.$(printf %03d $((RANDOM % 300)))"
        kill -KILL "$second" 2>/dev/null
        wait_quietly "$second"
    fi
    gone "$out" && keeps_its_lines
}

# Checks that every point has each launch once, and the journal ends no launch twice.
counts_everything_once() {
    local label rows
    rows=$(awk -F, 'NR > 1 && $7 == "ok" {print $3, $4, $5, $6 * ($4 == "accuracy")}' "$latest/raw.csv")
    [ -z "$(sort <<<"$rows" | uniq -d)" ] || return 1
    for label in tree allreduce; do
        if [ "$(grep -c "^$label time" <<<"$rows")" -ne "$goal" ] || [ "$(grep -c "^$label accuracy" <<<"$rows")" -ne 3 ]; then
            echo "not $goal launches and 3 seeds of $label"
            return 1
        fi
    done
    [ "$(sed -n 's/.*"event":"done","launch":"\([^"]*\)".*/\1/p' "$journal" | sort | uniq -d | wc -l)" -eq 0 ]
}

tables() {
    (cd "$latest/" && sha256sum ./*.csv summary.md summary.tex)
}

# The same rows give the same analysis, byte for byte.
repeats_its_analysis() {
    local before
    before=$(tables)
    "$bin/scalebench" table "$latest" >"$tmp/table" || return 1
    "$bin/scalebench" figures "$latest" && [ "$(tables)" = "$before" ] || return 1
    rm "$latest"/*.csv
    run "${many[@]}" && [ "$(tables)" = "$before" ] || return 1
    "$bin/scalebench" table "$latest" | cmp - "$tmp/table"
}

# The same command completes an interrupted campaign.
completes_all() {
    { [ ! -e "$journal" ] || keeps_its_lines; } && run "${many[@]}" && keeps_its_lines && [ "$(runs)" -eq 1 ] &&
        counts_everything_once && repeats_its_analysis
}

survives_kills() {
    local i
    echo "seed $seed"
    RANDOM=$seed
    begin_asking
    : >"$tmp/kills.log"
    for ((i = 0; i < kills; i++)); do
        kill_once "$i" || {
            echo "kill $i"
            tail -n 20 "$tmp/kills.log"
            return 1
        }
    done
    completes_all
}

# A limit on file sizes that the journal reaches.
survives_a_limit_of_files() {
    begin_asking
    (
        trap '' XFSZ
        ulimit -f 4
        run "${many[@]}"
    )
    [ $? -eq 1 ] && gone "$out" && completes_all
}

# A full disk, then one with space.
survives_a_full_disk() {
    local status
    begin_asking
    mkdir -p "$out"
    mount -t tmpfs -o size=256k none "$out" || return 1
    run "${many[@]}"
    status=$?
    df "$out"
    [ "$status" -eq 1 ] && gone "$out" && mount -o remount,size=64m "$out" && completes_all
    status=$?
    cd / && umount "$out"
    return "$status"
}

if [ "${1:-}" = disk ]; then # in a mount namespace of its own
    survives_a_full_disk
    exit
fi

check "a campaign completes" completes
check "other options begin a run of their own" other_options_begin_a_run
if "${unshare[@]}" true 2>/dev/null; then
    check "another host name runs nothing" another_host_runs_nothing
else
    skip "another host name runs nothing" "may not set a host name, not even its own"
fi
check "another figure runs nothing" another_figure_runs_nothing
check "two launches more are two blocks" two_launches_more_are_two_blocks
if grep -q '"event":"block"' "$journal"; then
    check "another value runs itself and its base" another_value_runs_itself_and_its_base
else
    run --set "matrix.sync.strategy=[tree,allreduce,ring]" >/dev/null 2>&1
    skip "another value runs itself and its base" "this version writes no blocks"
fi
check "another seed runs itself" another_seed_runs_itself
check "less is kept and not shown" less_is_kept_and_not_shown
check "another program leaves the old run to go on with" another_program_keeps_the_old_run
check "runs of earlier versions are shown, not resumed" runs_of_earlier_versions_are_shown
check "another version of a peer runs itself, in the same run" another_peer_runs_itself
check "the old version back runs nothing" the_old_peer_runs_nothing
check "a spec that measures nothing rewrites spec and tables" nothing_measured_writes_all
check "a torn line is cut off, a damaged one is named" tells_of_a_damaged_journal
check "status reports running and interrupted campaigns" tells_what_runs
check "a larger spec is refused while its campaign runs" growing_is_refused_while_it_runs
check "killed $kills times, nothing is lost or counted twice" survives_kills
check "a limit of files" survives_a_limit_of_files
mount=(unshare --mount)
"${mount[@]}" mount -t tmpfs none "$tmp" 2>/dev/null || mount=(unshare --map-root-user --mount)
if "${mount[@]}" mount -t tmpfs none "$tmp" 2>/dev/null; then
    check "a full disk" "${mount[@]}" "$0" disk
else
    skip "a full disk" "may not mount one"
fi
finish
