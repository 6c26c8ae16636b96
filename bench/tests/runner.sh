#!/usr/bin/env bash
# Tests the runner with a trainer that takes no time: which launches run, are kept, retried or skipped.
# cores: 1
# seconds: 40
set -u
. bench/tests/lib/tap.sh
. bench/tests/lib/fake_campaign.sh

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

# A host's name is no part of a campaign: restarted jobs run on other nodes.
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
    expect 0 "the class of machine differs from $tmp/elsewhere/fake/20" \
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
    expect 0 "the program train_cnn differs from $out/fake/20" run && [ "$(runs)" -eq 3 ]
}

# Follows the advice of the message.
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

# Measured launches are kept; the table shows the requested points.
another=(--set "matrix.sync.strategy=[tree,ring]")

goes_on_with_another_spec() {
    expect 0 "kept, but not shown: 6 launches of 1 point that this spec does not contain" run "${another[@]}" || return 1
    [ "$(runs)" -eq 3 ] && [ "$(launches)" -eq 22 ] && [ "$(wc -l <"$latest/raw.csv")" -eq 17 ] &&
        grep -q 'sync.strategy: \[tree, ring\]' "$latest/spec.yaml" &&
        grep -q 'sync.strategy: \[tree, allreduce\]' "$latest/spec-001.yaml"
}

measures_damaged_records_again() {
    local record
    record=$latest/$(sed -n '2s/,.*//p' "$latest/raw.csv")/rank.0.jsonl
    echo nonsense >"$record"
    expect 0 "1 launch cannot be read and is retried" run "${another[@]}" &&
        [ "$(runs)" -eq 3 ] && [ "$(launches)" -eq 23 ]
}

goes_on_after_a_failing_point() {
    rm -rf "$out"
    FAKE_FAIL=allreduce expect 1 "failed: exit status 3 (in full above)" run &&
        [ "$(grep -c "no luck" "$tmp/expect.log")" -eq 1 ] && grep "failed: exit status 3: .*no luck" "$latest/summary.md" &&
        grep "no luck" "$latest/summary.csv" && [ "$(launches)" -eq 7 ] && # six of tree and the failed one
        FAKE_FAIL=allreduce expect 1 "failed: exit status 3 (in full above)" run && # retried
        [ "$(grep -c "no luck" "$tmp/expect.log")" -eq 1 ] &&
        expect 1 "failed: exit status 3: fake trainer: no luck" "$scalebench" table "$latest"
}

# Its missing launches are added to the blocks of the other point.
tries_a_failed_point_again() {
    expect 0 "1 launch failed before and is retried" run && [ "$(runs)" -eq 1 ] &&
        [ "$(launches)" -eq 14 ] && grep -q "^launches/.*no luck" "$latest/raw.csv"
}

# The third launch fails and is retried in its block.
tries_a_failed_launch_again() {
    rm -rf "$out"
    # shellcheck disable=SC2016 # expands in the trainer
    echo '[ -z "$dir" ] || [ "$(find "${dir%%/launches/*}/launches" -name "time-*" | wc -l)" -ne 3 ] || {
        echo "fake trainer: a hiccup" >&2; exit 1; }' >"$tmp/facts"
    FAKE_FACTS=$tmp/facts expect 0 "fake trainer: a hiccup: will be retried" run \
        --set measure.retries=1 || return 1
    [ "$(launches)" -eq 13 ] && grep -q "^launches/.*a hiccup" "$latest/raw.csv" &&
        [ "$(grep -c ',ok,' "$latest/summary.csv")" -eq 2 ] &&
        expect 0 "2: 2 done, 0 failed" "$scalebench" status "$latest"
}

# Each run has its own retries: the second launch of a point fails, then the fifth, in another run.
counts_the_failures_of_this_run() {
    rm -rf "$out"
    # shellcheck disable=SC2016 # expands in the trainer
    echo '[ "$strategy" = tree ] || [ -z "$dir" ] || case $(find "${dir%/*}" -name "time-*" | wc -l) in
        2 | 6) echo "fake trainer: a hiccup" >&2; exit 1 ;;
    esac' >"$tmp/facts"
    local launches
    for launches in 3 6; do
        FAKE_FACTS=$tmp/facts expect 0 "fake trainer: a hiccup: will be retried" run \
            --set "measure.retries=1 measure.time.launches=$launches..$launches" || return 1
    done
    [ "$(grep -c '"status":"failed"' "$latest/journal.jsonl")" -eq 2 ] && [ "$(runs)" -eq 1 ] &&
        [ "$(grep -c ',ok,' "$latest/summary.csv")" -eq 2 ]
}

gives_up_what_fails_alike() {
    rm -rf "$out"
    # shellcheck disable=SC2016 # expands in the trainer
    echo '[ "$strategy" = tree ] || [ -z "$dir" ] || { echo "fake trainer: not again" >&2; exit 1; }' >"$tmp/facts"
    FAKE_FACTS=$tmp/facts expect 1 "as before: failed again, will not be retried" run \
        --set measure.retries=9 && [ "$(launches)" -eq 8 ]
}

# More launches add blocks over all points; another value of the matrix adds blocks of it and its baseline.
runs_what_a_grown_spec_lacks() {
    rm -rf "$out"
    expect 0 "fake" run --set "measure.time.launches=2..2 measure.accuracy.seeds=[]" || return 1
    expect 0 "fake" run --set "measure.time.launches=4..4 measure.accuracy.seeds=[]" || return 1
    [ "$(launches)" -eq 8 ] && [ "$(grep -c '"event":"block"' "$latest/journal.jsonl")" -eq 4 ] || return 1
    expect 0 "fake" run --set "measure.time.launches=4..4 measure.accuracy.seeds=[] matrix.ranks=[2,4]
        matrix.sync.strategy=[tree,allreduce,ring]" || return 1
    [ "$(runs)" -eq 1 ] && [ "$(launches)" -eq 28 ] && # 4 of each new point and of the baseline
        [ "$(grep -c '"event":"block"' "$latest/journal.jsonl")" -eq 8 ] &&
        [ "$(grep -c '"event":"finished"' "$latest/journal.jsonl")" -eq 3 ]
}

spends_no_more_than_the_budget() {
    rm -rf "$out"
    expect 0 "fake" run --set measure.budget=0s && [ "$(launches)" -eq 6 ] # one launch and two seeds each
}

# More cores than any machine that runs this test.
too_many="matrix.ranks=[1,10000] train.global_batch=10000 place.oversubscribe=refuse"

skips_aloud() {
    rm -rf "$out"
    expect 0 "ranks=10000 tree: skipped: 10000 ranks x 1 thread need 10000 cores" run \
        --set "$too_many" || return 1
    expect 0 "2 of 4 points skipped" run --set "$too_many"
}

# Asks the trainer, which knows its processor.
skips_what_the_processor_lacks() {
    cat >"$tmp/facts" <<'END'
[[ " $* " != *" --identify "*" --kernels.isa=avx512 "* ]] || { echo "this processor has no avx512"; exit 3; }
END
    FAKE_FACTS=$tmp/facts expect 0 "skipped: this processor has no avx512" run \
        --set "matrix.kernels.isa=[portable,avx512] measure.accuracy.seeds=[]" &&
        grep -q "2 of 4 points skipped" "$tmp/expect.log"
}

refuses_skips_when_strict() {
    rm -rf "$out"
    expect 3 "2 of 4 points cannot run here" run --strict --set "$too_many" && [ ! -e "$out" ]
}

refuses_when_nothing_can_run() {
    expect 3 "no point can run here" run --set nodes=2 && [ ! -e "$out" ] || return 1
    MPIEXEC=/no/such/mpiexec expect 3 "MPIEXEC='/no/such/mpiexec'" run && [ ! -e "$out" ]
}

plans_without_running() {
    expect 0 "--record=DIR --run=time" "$bin/scalebench" plan "$tmp/fake.yaml" --commands --out "$out" || return 1
    expect 0 "2 points, 0 skipped; 6 to 8 timed launches, 4 accuracy runs" \
        "$bin/scalebench" plan "$tmp/fake.yaml" --out "$out" && [ ! -e "$out" ]
}

refuses_an_empty_folder() {
    expect 2 "--out '' (OUT= of make) names no folder" run --out "" || return 1
    expect 2 "--out '' (OUT= of make) names no folder" "$bin/scalebench" figures "$tmp/fake.yaml" --out ""
}

refuses_places_of_no_use() {
    local of_folder="expected a path in a folder that exists and is writable"
    expect 2 "run: --out $tmp/fake.yaml: expected a folder of results, found a file" run --out "$tmp/fake.yaml" || return 1
    expect 2 "cannot create this folder: No such file or directory; $of_folder" run --out /proc/none || return 1
    expect 2 "$tmp: cannot be written: Is a directory; expected a file, not a folder" \
        "$bin/scalebench" compare strong_scaling strong_scaling --out "$out" --output "$tmp"
}

# The second run has the older time, as after a clock was set back or within one second.
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
    mkdir "$latest" # as after a copy that follows links
    expect 1 "latest: cannot update this link" run || return 1
    rmdir "$latest"
    ln -s of_one_that_was_killed "$out/fake/.latest"
    expect 0 "fake" run && [ -d "$latest/launches" ] && ! compgen -G "$out/fake/.latest*"
}

ends_with() { # exit status, command
    local want=$1
    shift
    "$@"
    [ $? -eq "$want" ]
}

without_output() { # command
    "$@" >&-
}

# Daemons and some batch systems start programs with closed descriptors: opened files must not become standard output.
runs_with_closed_descriptors() {
    rm -rf "$out"
    ends_with 1 run "$@" <&- >&- 2>&- || return 1
    expect 1 "scalebench: standard output cannot be written" without_output run "$@" || return 1
    run "$@" 2>&- || return 1
    expect 0 "fake" run || return 1
    [ "$(launches)" -eq 12 ] && ! grep -v '^{"event":"' "$latest/journal.jsonl"
}

# Daemons may start programs with SIGCHLD ignored. The git here always gives the same answer.
runs_where_children_are_ignored() {
    mkdir "$tmp/stub"
    printf '#!/bin/sh\necho abc1234\n' >"$tmp/stub/git"
    chmod +x "$tmp/stub/git"
    expect 0 "abc1234 clean" env --ignore-signal=CHLD PATH="$tmp/stub:$PATH" \
        "$bin/scalebench" run "$tmp/fake.yaml" --out "$tmp/ignored"
}

# With a limit of 1 KiB the spec of the run does not fit. The same command completes without the limit.
tells_of_files_too_large() {
    rm -rf "$out"
    expect 1 "cannot be written: File too large" bash -c "ulimit -f 1; $(declare -f run); bin='$bin' tmp='$tmp' out='$out'; run" ||
        return 1
    expect 0 "fake" run && [ "$(launches)" -eq 12 ]
}

# Folders have execute permission like programs.
refuses_a_folder_as_launcher() {
    expect 3 "MPIEXEC='$tmp' is not an executable program" env MPIEXEC="$tmp" \
        "$bin/scalebench" run "$tmp/fake.yaml" --out "$tmp/none"
}

# Ignored measurements are reported.
says_which_run_it_does_not_know() {
    local first
    rm -rf "$out"
    expect 0 "fake" run || return 1
    first=$(run_of_latest)
    : >"$latest/manifest.json"
    expect 0 "$out/fake/$first has a journal, but its manifest.json is missing or cannot be read" run || return 1
    [ "$(runs)" -eq 2 ] && [ "$(run_of_latest)" != "$first" ] || return 1
    expect 0 "fake" run && ! grep "has a journal" "$tmp/expect.log"
}

# File names are bytes; JSON can hold only UTF-8.
keeps_names_that_are_no_text() {
    local name=$tmp/$'r\xe9s'
    cp "$tmp/fake.yaml" "$name.yaml"
    expect 0 "fake" "$bin/scalebench" run "$name.yaml" --out "$name" || return 1
    [ "$(grep -cF 'r\\xe9s' "$name/fake/latest/manifest.json")" -eq 3 ] || return 1 # spec, and twice in the command
    echo "what: ever" >"$name/fake/latest/spec.yaml"
    expect 0 '"state": "unreadable"' "$bin/scalebench" status --json --out "$name"
}

# figures does not accept a campaign's name as a folder.
says_how_tables_come_back() {
    local folder
    rm -rf "$out"
    expect 0 "fake" run || return 1
    folder=$(readlink -f "$latest")
    rm "$latest/summary.csv"
    expect 2 "use \`scalebench figures $folder\` to write its tables" "$bin/scalebench" check fake "step_ms < 1000" --out "$out" &&
        "$bin/scalebench" figures "$folder" &&
        expect 0 "holds" "$bin/scalebench" check fake "step_ms < 1000" --out "$out"
}

# Hydra ends a launch without reading all output of ranks; without a wait it was lost in a third of all cases.
says_why_nothing_begins() {
    local i
    for ((i = 0; i < 20; i++)); do
        expect 2 "--cpus '0': expected an entry for node-local rank 1, found 1" "$mpiexec" -n 2 "$build/pin" --cpus 0 -- true || return 1
    done
}

check "a campaign completes" completes
check "a run stores everything needed to repeat it" keeps_what_is_needed_to_repeat
check "the same command runs nothing twice" runs_nothing_twice
unshare=(unshare --uts)
"${unshare[@]}" true 2>/dev/null || unshare=(unshare --map-root-user --uts)
if "${unshare[@]}" true 2>/dev/null; then
    check "a campaign resumes on another host of the same kind" goes_on_on_another_host
else
    skip "a campaign resumes on another host of the same kind" "may not set a host name, not even its own"
fi
if [ "$(nproc)" -gt 1 ]; then
    check "other cores begin a new run" begins_anew_on_another_kind_of_machine
else
    skip "other cores begin a new run" "one core only"
fi
check "table prints a run's table again" prints_the_table_again
check "--fresh begins a new run" begins_anew_when_fresh
check "another program begins a new run" begins_anew_with_another_program
check "the restored old program resumes its run" goes_on_with_the_old_program
check "another spec resumes the run" goes_on_with_another_spec
check "a launch whose records are damaged is retried" measures_damaged_records_again
check "a failing point does not stop the others" goes_on_after_a_failing_point
check "the same command retries a failed point" tries_a_failed_point_again
check "a failed launch is retried" tries_a_failed_launch_again
check "a failure that was made good counts in its own run alone" counts_the_failures_of_this_run
check "a point that fails alike from the first is given up" gives_up_what_fails_alike
check "a spec with more points runs only the missing ones" runs_what_a_grown_spec_lacks
check "the budget ends a campaign" spends_no_more_than_the_budget
check "points that cannot run are skipped aloud" skips_aloud
check "points whose instructions the processor lacks are skipped" skips_what_the_processor_lacks
check "--strict refuses skips" refuses_skips_when_strict
check "no run begins if no point can run" refuses_when_nothing_can_run
check "a rank that cannot start reports the reason at each launch" says_why_nothing_begins
check "plan runs nothing" plans_without_running
check "an empty folder for results is refused" refuses_an_empty_folder
check "a folder that cannot be written to is refused with the expected one" refuses_places_of_no_use
check "latest follows the runs, not the clock" latest_follows_the_runs
check "no temporary link is left" leaves_no_temporary_link
check "closed standard descriptors harm nothing" runs_with_closed_descriptors
check "a parent that ignores SIGCHLD harms nothing" runs_where_children_are_ignored
check "a limit of file sizes is reported" tells_of_files_too_large
check "a folder is no launcher" refuses_a_folder_as_launcher
check "a run whose manifest is damaged is named" says_which_run_it_does_not_know
check "names that are no UTF-8 are kept" keeps_names_that_are_no_text
check "a message names the command that restores tables" says_how_tables_come_back
finish
