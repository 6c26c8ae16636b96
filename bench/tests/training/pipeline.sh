#!/usr/bin/env bash
# Tests pipelines: they train to the same numbers, ranks check each other's calls, a dead or hanging rank is named, whole
# networks resume from their checkpoints, and a campaign shows how long stages wait.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh
. bench/tests/lib/parts.sh

train() { # ranks, options
    local ranks=$1
    shift
    "$mpiexec" -n "$ranks" "$train_cnn" --model lenet_21k --data.set digits --data.samples 400 --train.global_batch 50 \
        --train.accumulate 5 --train.optimizer adam --train.lr 0.001 --train.epochs 2 --wait yield "$@"
}

trains_to_the_same_numbers() {
    local schedule
    train 1 | numbers_of - >"$tmp/whole" && [ "$(wc -l <"$tmp/whole")" -eq 2 ] || return 1
    for schedule in gpipe 1f1b; do
        train 3 --parallel.pipeline 3 --parallel.schedule "$schedule" --sync.check calls >"$tmp/log" || return 1
        numbers_of "$tmp/log" | diff "$tmp/whole" - || return 1
    done
    train 2 --parallel.pipeline 2 --wait block >"$tmp/log" && numbers_of "$tmp/log" | diff "$tmp/whole" - &&
        grep -q "weights equal on all ranks" "$tmp/log"
}

replicas_of_stages_are_compared() {
    expect 0 "weights equal on all ranks" train 4 --parallel.pipeline 2 --sync.strategy bucketed &&
        expect 0 "weights differ first at step 1, rank 1" train 4 --parallel.pipeline 2 --sync.strategy none
}

# Tries up to three times: on a busy machine the report of a rank that the launcher killed can come first.
a_stage_that_dies_is_named() {
    names_the_dead || names_the_dead || names_the_dead
}

names_the_dead() {
    train 3 --parallel.pipeline 3 --record "$tmp" --train.epochs 1000 >"$tmp/log" 2>&1 &
    local job=$! pid=
    while kill -0 "$job" 2>/dev/null && ! grep -q "^epoch 2/" "$tmp/log"; do sleep 0.1; done
    pid=$(process_of_rank "--record $tmp( |\$)" 1 | head -n 1)
    kill -KILL "$pid"
    wait "$job"
    local status=$?
    cat "$tmp/log"
    [ "$status" -ne 0 ] && grep -q "train_cnn: rank 1 (process $pid on .*) was killed or has crashed" "$tmp/log"
}

# From two stages to one rank; from one rank to three.
checkpoints_are_whole() {
    local file=$tmp/c.safetensors
    train 1 --train.epochs 4 | numbers_of - | tail -n 2 >"$tmp/whole"
    train 2 --parallel.pipeline 2 --train.epochs 1 --checkpoint.path "$file" --checkpoint.every_epochs 1 &&
        train 1 --train.epochs 2 --checkpoint.path "$file" --checkpoint.resume auto --checkpoint.every_epochs 1 &&
        train 3 --train.epochs 4 --parallel.pipeline 3 --checkpoint.path "$file" --checkpoint.resume auto |
        tee "$tmp/log" && grep -q "resumed from .* after 16 steps" "$tmp/log" &&
        numbers_of "$tmp/log" | diff "$tmp/whole" -
}

campaign() {
    cat >"$tmp/stages.yaml" <<'SPEC'
name: stages
scaling: strong
model: lenet_21k
data: {set: digits, samples: 400}
train: {optimizer: adam, lr: 0.001, global_batch: 48, accumulate: 4, epochs: 1}
zip: {ranks: [1, 2], parallel.pipeline: [1, 2]}
place: {oversubscribe: allow}
measure:
  time: {warmup_steps: 1, steps: 5, launches: 2..2}
  accuracy: {seeds: [1]}
  timeline: true
figures:
  - timeline
  - {kind: line, name: bubble, y: bubble_pct}
SPEC
    "$scalebench" run "$tmp/stages.yaml" --out "$tmp/results" --set "$1"
}

# Stages of lenet_21k send forward the 320 numbers after the convolutions, or the 50 after the first dense layer, and as many
# back: 48 images, 4 bytes per number, mean of two ranks.
tells_what_stages_do() {
    expect 0 "Pipeline stages wait for each other during up to " campaign "compute=$1" && python3 - "$tmp/results/stages/latest" "$1" <<'PY'
import csv, sys
folder, compute = sys.argv[1:]
def read(name):
    with open(f"{folder}/{name}.csv", newline="") as f:
        return list(csv.DictReader(f))
launches = [r for r in read("raw") if r["run"] == "time" and r["compute"] == {"replay": "replayed"}.get(compute, compute)]
one, two = ([r for r in launches if r["ranks"] == n] for n in "12")
assert len(one) == len(two) == 2, launches
for r in one:
    assert r["bubble_pct"] == "" and r["stage_layers"] == "" and float(r["bytes_stages"]) == 0, r
    assert r["activations_kept"] == "1" and float(r["bubble_ms"]) == 0, r
for r in two:
    assert 0 < float(r["bubble_pct"]) < 100 and float(r["bubble_ms"]) > 0, r
    assert r["stage_layers"].count("|") == 1 and r["stage_layers"].startswith("conv1"), r
    assert float(r["bytes_stages"]) in (48 * 4 * 320, 48 * 4 * 50), r
    assert float(r["bytes_wire"]) == float(r["bytes_stages"]), r
    assert r["activations_kept"] == "2", r
spans = [s for s in read("timeline") if s["phase"] == "bubble"]
assert spans and all("of a stage" in s["name"] for s in spans), spans
accuracy = {p["ranks"]: p["test_acc_pct"] for p in read("summary") if p["test_acc_pct"]}
assert accuracy["1"] == accuracy["2"], accuracy
PY
}

check "stages train to the numbers of the whole net" trains_to_the_same_numbers
check "replicas of stages are compared, not stages" replicas_of_stages_are_compared
check "a stage that waits too long for another reports it" \
    a_hang_is_told backward ".* of a stage" train 2 --parallel.pipeline 2
check "a stage that dies is named" a_stage_that_dies_is_named
check "checkpoints of stages are whole" checkpoints_are_whole
check "a campaign reports the work of stages" tells_what_stages_do real
check "also where they let time pass" tells_what_stages_do replay
finish
