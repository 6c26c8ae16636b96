#!/usr/bin/env bash
# Tests replayed compute: a spec with real and replayed points, which tables and figures keep apart, and the messages before
# anything is calibrated.
# tier: rest
set -u
. bench/tests/lib/tap.sh

cat >"$tmp/both.yaml" <<'SPEC'
name: both
model: softmax_784
data: {set: digits, samples: 600}
train: {optimizer: sgd, lr: 0.1, global_batch: 32}
cases:
  - {label: computed, matrix: {ranks: [1, 2]}}
  - {label: let pass, compute: replay, matrix: {ranks: [1, 2, 4]}}
baseline: {ranks: 1, compute: real}
measure:
  time: {warmup_steps: 1, steps: 4, launches: 1..1}
  accuracy: {seeds: [1]}
figures: [time, breakdown, {kind: breakdown, name: calibrated, where: compute = calibrate}]
SPEC
run() { # arguments
    "$scalebench" run "$tmp/both.yaml" --out "$tmp/results" "$@"
}
latest=$tmp/results/both/latest

column() { # file, names...; prints values of the rows
    python3 -c '
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(" ".join(row[name] or "-" for name in sys.argv[2:]))' "$@"
}

rows_say_who_computed() {
    diff - <(column "$latest/summary.csv" ranks kind compute status flags | sed 's/ ci_not_met.*//; s/ busy.*//' | sort) <<'ROWS'
1 measured real ok
1 measured real ok
1 replayed replayed ok
2 measured real ok
2 measured real ok
2 measured real ok
2 replayed replayed ok
4 replayed replayed ok
ROWS
}

flags_say_so() {
    [ "$(column "$latest/summary.csv" compute flags | grep -c '^replayed .*\<replayed\>')" -eq 3 ] &&
        ! column "$latest/summary.csv" compute flags | grep '^real .*replayed'
}

# Only replayed rows state the precision of sleeps; at 0.05 GFLOP/s steps last at least 5 ms.
short_steps_are_doubted() {
    column "$latest/summary.csv" compute smallest_step_ms >"$tmp/doubts"
    [ "$(grep -c '^replayed [0-9]' "$tmp/doubts")" -eq 3 ] && [ "$(grep -c '^real -$' "$tmp/doubts")" -eq 5 ] || return 1
    "$scalebench" run "$tmp/both.yaml" --out "$tmp/slow" \
        --set "compute.rate=0.05 measure.accuracy.seeds=[] figures=[time]" || return 1
    column "$tmp/slow/both/latest/summary.csv" compute flags | grep '^replayed' >"$tmp/doubts"
    [ "$(wc -l <"$tmp/doubts")" -eq 3 ] && ! grep short_replay "$tmp/doubts"
}

# Replayed launches name their calibration launch; accuracy runs compute.
launches_say_whose_times_passed() {
    local point launch
    column "$latest/raw.csv" run compute calibration >"$tmp/raw"
    [ "$(grep -c '^time replayed ' "$tmp/raw")" -eq 3 ] || return 1
    ! grep '^accuracy replayed' "$tmp/raw" || return 1
    while IFS=/ read -r point launch; do
        [ -s "$latest/launches/$point/$launch/rank.0.times.json" ] || return 1
    done < <(awk '$2 == "replayed" { print $3 }' "$tmp/raw")
}

curves_hold_one_kind() {
    awk 'NR == FNR { kind[$1] = $2; next }
        { kinds[$1] = kinds[$1] == "" || kinds[$1] == kind[$2] ? kind[$2] : "both" }
        END { for (c in kinds) n[kinds[c]]++; exit !(!n["both"] && n["measured"] && n["replayed"]) }' \
        <(column "$latest/summary.csv" point kind) <(column "$latest/series_time.csv" curve point)
}

# A trainer that fails in points without communication.
failed_calibrations_are_named() {
    mkdir -p "$tmp/bin"
    cp "$scalebench" "$build/pin" "$tmp/bin"
    cp bench/tests/lib/fake_trainer.sh "$tmp/bin/train_cnn"
    SCALEBENCH_HOME=$PWD FAKE_FAIL=none expect 1 "compute: replay has no op times: no launch of its calibration (calibration ranks=2 batch_per_rank=16) has ended well" \
        "$tmp/bin/scalebench" run "$tmp/both.yaml" --out "$tmp/fails" --set "measure.accuracy.seeds=[]"
}

train() { # arguments
    "$mpiexec" -n 1 "$train_cnn" --model softmax_784 --data.set digits --data.samples 600 \
        --train.batch_per_rank 32 --measure.time.warmup_steps 1 --measure.time.steps 3 "$@"
}

times_are_written_and_passed() {
    mkdir -p "$tmp/record" "$tmp/replayed"
    train --run time --calibrate --record "$tmp/record" || return 1
    train --run time --calibration "$tmp/record" --record "$tmp/replayed" || return 1
    grep -q '"compute":"replayed"' "$tmp/replayed/rank.0.jsonl" &&
        grep -q '"weights_equal":null' "$tmp/replayed/rank.0.jsonl"
}

broken_times() {
    sed 's/"images":32/"images":"many"/' "$tmp/record/rank.0.times.json" >"$tmp/rank.0.times.json"
    expect 2 "rank.0.times.json: model, plan, optimizer, params, images or threads is missing or of another type" \
        train --run time --calibration "$tmp"
}

calibrations_are_drawn_on_demand() {
    ! column "$latest/series_breakdown.csv" label | grep calibration &&
        [ "$(column "$latest/series_breakdown.csv" label | wc -l)" -eq 5 ] &&
        [ "$(column "$latest/series_calibrated.csv" label | grep -c '^calibration')" -eq 3 ]
}

check "real and replayed points run in one campaign" run
check "rows say who computed, and that nothing is amiss" rows_say_who_computed
check "flags say so too" flags_say_so
check "steps too short for a sleep are doubted" short_steps_are_doubted
check "replayed launches name their calibration" launches_say_whose_times_passed
check "no curve is named after batches of calibrations" \
    sh -c "! grep -q _batch '$latest/series_time.csv'"
check "calibrations have bars where a figure asks for them" calibrations_are_drawn_on_demand
check "no curve joins measured and replayed points" curves_hold_one_kind
check "points fail whose calibration has failed, and say so" failed_calibrations_are_named
check "the trainer writes times, and lets them pass" times_are_written_and_passed
check "a calibration that is not there is an error" \
    expect 2 "/nowhere: rank.0.times.json not found. Run train_cnn with --run time, --calibrate and --record to write this file" \
    train --run time --calibration /nowhere
check "so is one that is broken" broken_times
check "so is one of another batch" \
    expect 2 "this rank has images per step = 16, but the times of ops were measured with 32" \
    train --run time --calibration "$tmp/record" --train.batch_per_rank 16
check "a rate needs none" train --run time --rate 40
check "training computes" expect 2 "--calibration: expected --run time, the only run that calibrates or replays" \
    train --calibration "$tmp/record"
finish
