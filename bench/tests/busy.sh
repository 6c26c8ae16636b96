#!/usr/bin/env bash
# Tests that a campaign on a busy machine continues, and reports the load before and after.
# tier: rest
# cores: 2
# seconds: 10
set -u
. bench/tests/lib/tap.sh
. bench/tests/lib/hogs.sh

cat >"$tmp/busy.yaml" <<END
name: busy
scaling: strong
model: softmax_784
data: {set: digits, samples: 2000}
train: {global_batch: 100}
matrix: {ranks: [1, 2]}
place: {oversubscribe: allow}
measure: {time: {warmup_steps: 2, steps: 3000, launches: 2..2}}
figures: []
END

column() { # file, name
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { print $c }' "$tmp/results/busy/latest/$1.csv"
}

says_so() {
    start_hogs
    expect 0 "this machine is busy: other processes use" "$scalebench" run "$tmp/busy.yaml" --out "$tmp/results"
    local status=$?
    end_hogs
    [ "$status" -eq 0 ] || return 1
    column raw foreign_pct
    column raw foreign_pct | awk '!($1 > 10 && $1 <= 100) { exit 1 }' || return 1
    column raw disturbed | grep -c "foreign [0-9.]* % (limit [0-9.]*)" | grep -qx 4 || return 1
    column summary flags | grep -c busy | grep -qx 2 || return 1
    grep -c "(busy: other programs used [0-9]* % of its cores)" "$tmp/expect.log" | grep -qx 2 || return 1
    grep -F "not explained: other programs used the cores" "$tmp/expect.log"
}

# make bench-noise counts launches correctly, whatever a busy machine flags.
# Status 1 depends on the machine: a launch was flagged or not.
prints_rows() {
    MODEL=softmax_784 STEPS=5 LAUNCHES=10 BUILD=$build ci/measure/noise.sh >"$tmp/rows.csv" || [ $? -eq 1 ] || return 1
    cat "$tmp/rows.csv"
    [ "$(cut -d, -f1,2,7 "$tmp/rows.csv")" = "launches,n,wanted
hogged,2,all
between,18,few
alone,20,few" ] || return 1
    awk -F, 'BEGIN { limits[0] = "0,84.19"; limits[1] = "1.258,98.74"; limits[2] = "15.81,100" }
        NR > 1 && ($5 > $4 || $4 > $6 || $3 > $2 || $8 !~ /^(yes|no)$/ ||
            ($2 == 2 && $5 "," $6 != limits[$3])) { print "bad row: " $0; bad = 1 } END { exit bad }' "$tmp/rows.csv"
}

# The first row counts all launches, the others one reason each.
left_alone() { # launches
    cat "$tmp/rows.csv"
    awk -F, -v n="$1" 'NR == 2 && $1 == "quiet" && $2 >= n && $7 == "few" { found = 1; flagged = $3 }
        NR > 2 && ($1 !~ /^quiet_(foreign|steal|work|faults|switches)$/ || !$3 || $3 > flagged || $7 $8 != "") {
            print "bad row: " $0; bad = 1
        } END { exit bad || !found }' "$tmp/rows.csv"
}

ends_in_time() {
    MINUTES=0.001 MODEL=softmax_784 STEPS=5 LAUNCHES=2 BUILD=$build ci/measure/noise.sh >"$tmp/rows.csv" || [ $? -eq 1 ] || return 1
    left_alone 4
}

# Bash handles a signal when the running campaign has ended.
tells_what_it_has() {
    MINUTES=60 MODEL=softmax_784 STEPS=5 LAUNCHES=2 BUILD=$build ci/measure/noise.sh >"$tmp/rows.csv" 2>"$tmp/told" &
    local pid=$!
    while kill -0 "$pid" && ! grep -q " of 60 minutes: 8 launches" "$tmp/told"; do sleep 0.1; done
    kill -TERM "$pid"
    local status=0
    wait "$pid" || status=$?
    cat "$tmp/told"
    [ "$status" -eq 130 ] && left_alone 8
}

check "other programs on the processors are reported" says_so
check "flagged launches as CSV" prints_rows
check "campaigns without a hog for a time" ends_in_time
check "interrupted, the rows so far" tells_what_it_has
finish
