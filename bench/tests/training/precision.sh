#!/usr/bin/env bash
# Tests mixed precision: 16 bits send half of the bytes, the loss scale is recorded, a step overflows on all ranks or on none;
# and the output of one run of the trainer.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh

cat >"$tmp/precision.yaml" <<'SPEC'
name: precision
model: lenet_21k
data: {set: digits, samples: 600}
train: {global_batch: 60, epochs: 4, lr: 0.05, momentum: 0.5, loss_scale_initial: 1073741824, loss_scale_hysteresis: 1}
ranks: 2
matrix: {train.precision: [fp32, bf16, fp16]}
baseline: {train.precision: fp32}
place: {oversubscribe: allow}
measure:
  time: {warmup_steps: 4, steps: 20, launches: 2..2}
  accuracy: {seeds: [1]}
  steps_csv: true
figures: [bars]
SPEC
latest=$tmp/results/precision/latest

runs() {
    "$scalebench" run "$tmp/precision.yaml" --out "$tmp/results"
}

columns_tell() {
    python3 - "$latest" <<'PY'
import csv, sys
folder = sys.argv[1]
def read(name):
    with open(f"{folder}/{name}.csv", newline="") as f:
        return list(csv.DictReader(f))
points = {r["train_precision"]: r for r in read("summary")}
assert list(points) == ["fp32", "bf16", "fp16"], points
assert all(r["status"] == "ok" for r in points.values()), points
sent = {p: float(r["bytes_wire"]) for p, r in points.items()}
assert sent["bf16"] == sent["fp32"] / 2 and sent["fp16"] == sent["bf16"] + 4, sent # and a flag of overflow
assert all(points[p]["skipped_steps"] == points[p]["end_loss_scale"] == "" for p in ("fp32", "bf16"))
base = points["fp32"]
assert base["base"] == base["bytes_ratio"] == base["speedup"] == "1", base
for p in ("bf16", "fp16"):
    r = points[p]
    assert (r["base_point"], r["speedup_pairs"]) == (base["point"], "2"), r
    assert abs(float(r["bytes_ratio"]) - sent[p] / sent["fp32"]) < 1e-8, r
    if r["oversubscribed"] == "0":
        assert 0 < float(r["speedup_lo"]) <= float(r["speedup"]) <= float(r["speedup_hi"]), r
steps = [r for r in read("steps") if r["point"] == points["fp16"]["point"] and r["launch"].endswith("time-000")]
assert len(steps) == 2 * 24
scales, skipped = [[[r[c] for r in steps if r["rank"] == rank] for rank in "01"] for c in ("loss_scale", "skipped")]
assert scales[0] == scales[1] and skipped[0] == skipped[1]
assert float(scales[0][0]) == 2 ** 30 and float(scales[0][-1]) < 2 ** 24
for now, then, lost in zip(scales[0], scales[0][1:], skipped[0]):
    assert float(then) == float(now) / (2 if lost == "1" else 1)
assert all(r["loss_scale"] == "" for r in read("steps") if r["point"] != points["fp16"]["point"])
epoch = [r for r in read("epochs") if r["point"] == points["fp16"]["point"]]
assert float(epoch[-1]["epoch_loss_scale"]) < 2 ** 30
PY
}

a_run_tells() {
    expect 0 "loss scale 4 at the end; 0 of 3 steps skipped" "$train_cnn" --model lenet_21k --data.set digits \
        --data.samples 600 --train.precision fp16 --train.loss_scale 4 --run time --measure.time.warmup_steps 1 \
        --measure.time.steps 2
}

# A compressor shares the name of a precision.
names_are_told_apart() {
    expect 0 "fp16, one of the precisions" "$scalebench" explain fp16 &&
        [ "$("$scalebench" explain fp16 | grep -c '^  source')" -eq 1 ]
}

check "fp32, bf16 and fp16 run" runs
check "the table compares precisions by time and bytes" expect 0 "Bytes per step relative to the base: 0.500 (" \
    "$scalebench" table "$latest"
check "a precision is no compressor" names_are_told_apart
if python_with csv >/dev/null; then
    check "columns have bytes, loss scales and skipped steps" columns_tell
else
    lacks "columns have bytes, loss scales and skipped steps" python3
fi
check "a run prints its loss scale" a_run_tells
check "a strategy that sends 32 bits" expect 2 "is not supported by strategy ring" \
    "$train_cnn" --model lenet_21k --train.precision bf16 --sync.strategy ring
check "times of fp32 do not stand for it" expect 2 "calibration and replay support fp32 only" \
    "$train_cnn" --model lenet_21k --train.precision bf16 --run time --rate 40
finish
