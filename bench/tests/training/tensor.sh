#!/usr/bin/env bash
# Tests sliced dense layers: they train to the same numbers, ranks check each other's calls, a hanging rank is named, other
# networks resume from their checkpoints, and a campaign shows memory and bytes of a slice.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh
. bench/tests/lib/parts.sh

train_by() { # program, ranks, options
    local program=$1 ranks=$2
    shift 2
    "$mpiexec" -n "$ranks" "$program" --model "${net:-lenet_21k}" --data.set digits --data.samples 400 --train.global_batch 50 \
        --train.accumulate 3 --train.optimizer adam --train.lr 0.001 --train.clip_norm 0.5 --train.epochs 2 --wait yield "$@"
}

train() { # ranks, options
    train_by "$train_cnn" "$@"
}

# In double precision, so that printed numbers show no rounding.
exactly() { # ranks, options
    train_by "${train_cnn}_f64" "$@" | numbers_of -
}

trains_to_the_same_numbers() {
    exactly 1 >"$tmp/whole" && [ "$(wc -l <"$tmp/whole")" -eq 2 ] || return 1
    exactly 3 --parallel.tensor 3 --sync.check calls | diff "$tmp/whole" - &&
        exactly 2 --parallel.tensor 2 --wait block | diff "$tmp/whole" - &&
        exactly 4 --parallel.tensor 2 --sync.strategy bucketed | diff "$tmp/whole" -
}

slices_and_replicas_are_compared() {
    expect 0 "weights equal on all ranks" train 3 --parallel.tensor 3 &&
        expect 0 "weights equal on all ranks" train 4 --parallel.tensor 2 --sync.strategy ring &&
        expect 0 "weights differ first at step 1, rank 2" train 4 --parallel.tensor 2 --train.clip_norm 0 \
            --sync.strategy none
}

refuses_what_it_cannot_cut() {
    expect 2 "parallel.tensor = 2, but ranks = 3 is not a multiple of it" train 3 --parallel.tensor 2 &&
        expect 2 "sync.compress: topk is not supported with parallel.tensor = 2" train 2 --parallel.tensor 2 --sync.compress topk
}

# From two slices to three.
checkpoints_are_whole() {
    local file=$tmp/c.safetensors
    exactly 2 --parallel.tensor 2 --train.epochs 1 --checkpoint.path "$file" --checkpoint.every_epochs 1 | wc -l | grep -qx 1 &&
        exactly 3 --parallel.tensor 3 --checkpoint.path "$file" --checkpoint.resume auto | diff <(tail -n 1 "$tmp/whole") -
}

# Layers without biases, also the copy in bf16.
checkpoints_without_biases_are_whole() {
    local tmp=$tmp/unbiased
    local net=$tmp/net.yaml
    mkdir "$tmp" || return 1
    cat >"$net" <<END
name: unbiased
input: [1, 28, 28]
classes: 10
layers:
  - dense: {outputs: 24, bias: false}
  - relu
  - dense: {outputs: 10, bias: false}
END
    local copying=(--checkpoint.every_epochs 1 --checkpoint.dtype bf16)
    exactly 1 --checkpoint.path "$tmp/d" "${copying[@]}" >"$tmp/whole" &&
        exactly 2 --parallel.tensor 2 --checkpoint.path "$tmp/e" "${copying[@]}" | diff "$tmp/whole" - &&
        cmp "$tmp/d.bf16" "$tmp/e.bf16" && checkpoints_are_whole && exactly 1 --checkpoint.start "$tmp/d.bf16" >"$tmp/started" &&
        ! diff "$tmp/whole" "$tmp/started" >/dev/null &&
        exactly 2 --parallel.tensor 2 --checkpoint.start "$tmp/d.bf16" | diff "$tmp/started" -
}

campaign() {
    cat >"$tmp/slices.yaml" <<'SPEC'
name: slices
scaling: strong
model: keras_1200k
data: {set: digits, samples: 64}
train: {optimizer: adam, lr: 0.001, global_batch: 8, accumulate: 2}
zip: {ranks: [1, 2], parallel.tensor: [1, 2]}
place: {oversubscribe: allow}
measure:
  time: {warmup_steps: 1, steps: 2, launches: 1..1}
  timeline: true
figures: [bars, timeline]
SPEC
    "$scalebench" plan "$tmp/slices.yaml" --out "$tmp/results" --format csv >"$tmp/plan.csv" &&
        "$scalebench" run "$tmp/slices.yaml" --out "$tmp/results"
}

# Of 1,199,882 parameters, two dense layers are sliced except the second one's bias. Two ranks exchange halves of their sums and
# receive the other half: once the 10 outputs and the 9216 inputs of 8 images.
tells_what_slices_do() {
    campaign && python3 - "$tmp/plan.csv" "$tmp/results/slices/latest" <<'PY'
import csv, os, sys
plan, folder = sys.argv[1:]
PAGE = os.sysconf("SC_PAGE_SIZE")
def read(name):
    with open(name, newline="") as f:
        return list(csv.DictReader(f))
N, CUT, MIB = 1199882, 9216 * 128 + 128 + 128 * 10, 2**20
points = {r["point"]: r for r in read(plan)}
rows = {r["ranks"]: r for r in read(f"{folder}/summary.csv")}
told = {ranks: points[r["point"]] for ranks, r in rows.items()}
for ranks, numbers in ("1", N), ("2", N - CUT // 2):
    for part, times in ("params_mib", 1), ("grads_mib", 1), ("state_mib", 2):
        expected = -(-4 * times * numbers // PAGE) * PAGE / MIB
        assert abs(float(told[ranks][part]) / expected - 1) < 1e-6, (ranks, part, told[ranks])
        assert abs(float(rows[ranks][part]) / expected - 1) < 0.05, (ranks, part, rows[ranks])
assert float(rows["1"]["bytes_tensor"]) == 0
assert float(rows["2"]["bytes_tensor"]) == float(rows["2"]["bytes_wire"]) == 8 * (9216 + 10) * 4, rows["2"]
assert rows["2"]["wire_source"].startswith("formula: "), rows["2"]["wire_source"]
spans = {s["name"] for s in read(f"{folder}/timeline.csv") if s["phase"] == "comm"}
assert {"outputs of slices", "gradients of slices"} <= spans, spans
PY
}

check "slices train to the numbers of the whole net" trains_to_the_same_numbers
check "slices are compared by their shared weights, replicas by all" slices_and_replicas_are_compared
check "a slice that waits too long for another reports it" \
    a_hang_is_told forward "gradients of slices" train 2 --parallel.tensor 2
check "checkpoints of slices are whole" checkpoints_are_whole
check "also without biases" checkpoints_without_biases_are_whole
check "options that do not work with slices are refused by name" refuses_what_it_cannot_cut
check "a campaign reports memory and bytes of slices" tells_what_slices_do
finish
