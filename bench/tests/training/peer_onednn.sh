#!/usr/bin/env bash
# Tests the oneDNN peer: its losses equal train_cnn's step by step, in full precision and nearly in bf16, on one rank and on
# two. Tests its records, its refusals and a campaign that compares both.
# tier: rest
# cores: 2
# seconds: 60
set -u
. bench/tests/lib/tap.sh

peer=$build/peer_onednn
small=(--data.set digits --data.samples 2000 --train.batch_per_rank 50 --measure.time.warmup_steps 1 --run time)

# Odd sizes, strides and padding; average pooling whose padding counts; layers without bias; a first layer without weights.
cat >"$tmp/odd.yaml" <<'END'
name: odd
input: [1, 28, 28]
classes: 10
normalize: {mean: [0.1307], std: [0.3081]}
layers:
  - avgpool2d: {size: 2, stride: 1, pad: 1}
  - conv2d: {channels: 6, kernel: [5, 3], stride: [1, 2], pad: [2, 1]}
  - maxpool2d: {size: 3, stride: 2}
  - relu
  - conv2d: {channels: 9, kernel: 3, bias: false}
  - dropout2d: {rate: 0.2}
  - relu
  - dense: {outputs: 30, bias: false}
  - relu
  - dropout: {rate: 0.4}
  - dense: {outputs: 10}
END

losses() { # folder
    cat "$1"/rank.*.jsonl | tr -d ' ' | grep '"type":"step"' | sed -E \
        's/.*"step":([0-9]+).*/\1 &/; s/^([0-9]+) .*"loss_sum":([0-9.e+-]+).*/\1 \2/' |
        awk '{ sum[$1] += $2; if ($1 > last) last = $1 } END { for (i = 0; i <= last; i++) print sum[i] }'
}

# Trains alike in both programs and compares the losses of all steps. Later losses hold the gradients of earlier steps.
same_losses() { # ranks, largest relative difference, options
    local ranks=$1 most=$2 program
    shift 2
    for program in train_cnn peer_onednn; do
        rm -rf "${tmp:?}/$program"
        mkdir "$tmp/$program"
        "$mpiexec" -n "$ranks" "$build/$program" "${small[@]}" "$@" --record "$tmp/$program" || return 1
        losses "$tmp/$program" >"$tmp/$program.txt"
    done
    paste "$tmp/train_cnn.txt" "$tmp/peer_onednn.txt" | awk -v most="$most" '
        { print; d = ($1 > $2 ? $1 - $2 : $2 - $1) / $1; worst = d > worst ? d : worst }
        END { print "worst", worst; exit NR < 6 || !(worst <= most) }'
}

# Two ranks choose the same algorithms and layouts, and have equal weights after each step.
ranks_agree() {
    same_losses 2 5e-3 --model configs/models/vgg_mini.yaml --data.set shapes --train.lr 0.02 --measure.time.steps 6 \
        --measure.check step && grep -l '"weights_equal": *true' "$tmp"/peer_onednn/rank.1.jsonl
}

# Ranks with unequal numbers of images keep their weights in the same layout.
uneven_ranks_agree() {
    same_losses 3 1e-4 --model configs/models/keras_690k.yaml --train.batch_per_rank 0 --train.global_batch 40 \
        --wait yield --train.lr 0.02 --measure.time.steps 6
}

# Evaluates with other numbers of images than it trains with, and uses the running statistics.
evaluates() {
    local program
    for program in train_cnn peer_onednn; do
        "$build/$program" --model configs/models/vgg_mini.yaml --data.set shapes --data.samples 650 --train.batch_per_rank 64 \
            --train.epochs 2 --train.lr 0.01 >"$tmp/$program.txt" || return 1
        grep "epoch 2/2" "$tmp/$program.txt" || return 1
    done
    paste "$tmp/train_cnn.txt" "$tmp/peer_onednn.txt" | sed -nE 's/.*epoch 2.*test loss ([0-9.]+).*test loss ([0-9.]+).*/\1 \2/p' |
        awk '{ d = ($1 - $2) / $1; print d; seen = 1; if (d * d > 0.01) bad = 1 } END { exit bad || !seen }'
}

records_what_it_is() {
    mkdir -p "$tmp/record" && "$peer" "${small[@]}" --model configs/models/lenet_21k.yaml --measure.time.steps 1 \
        --record "$tmp/record" || return 1
    tr -d ' ' <"$tmp/record/rank.0.jsonl" | grep '"workload":"peer_onednn"' | grep '"blas":"oneDNN' |
        grep -E '"kernels_tuned":"conv1:(direct|winograd|auto)/'
}

compares() { # programs
    cat >"$tmp/both.yaml" <<END
name: both
model: lenet_21k
data: {set: digits, samples: 2000}
train: {optimizer: adam, lr: 1e-3, batch_per_rank: 100}
sync: {strategy: none}
matrix: {workload: [$1]}
measure: {time: {warmup_steps: 2, steps: 5, launches: 2..2}}
figures: []
END
    expect 0 "x the images/s of peer_onednn (oneDNN" "$scalebench" run "$tmp/both.yaml" --out "$tmp/results"
}

# Each point has a ratio to both peers; columns peer_* are about the faster one.
compares_three() {
    rm -rf "$tmp/results"
    compares "train_cnn, peer_torch, peer_onednn" && grep "x the images/s of peer_torch (torch" "$tmp/expect.log" || return 1
    python3 - "$tmp/results/both/latest/summary.csv" <<'PY'
import csv, sys
with open(sys.argv[1], newline="") as file:
    rows = {row["workload"]: row for row in csv.DictReader(file)}
ours = rows["train_cnn"]
ratios = {"peer_torch": ours["torch_ratio"], "peer_onednn": ours["onednn_ratio"]}
fastest = min(ratios, key=lambda name: float(ratios[name]))
assert ours["peer_workload"] == fastest and ours["peer_ratio"] == ratios[fastest], (ours["peer_workload"], ratios)
assert ours["torch_pairs"] == ours["onednn_pairs"] == "2", ratios
assert not rows["peer_torch"]["onednn_ratio"]
PY
}

refuses() { # text, options
    local text=$1
    shift
    expect 3 "$text" "$peer" --check --model configs/models/softmax_784.yaml "$@" &&
        expect 3 "$text" "$peer" --model configs/models/softmax_784.yaml "$@"
}

check "description is JSON" expect 0 '"workload": "peer_onednn"' "$peer" --describe
if ! "$peer" --check --model configs/models/softmax_784.yaml >"$tmp/answer.txt"; then
    check "a missing library is named" grep "Use make deps-extra" "$tmp/answer.txt"
    lacks "the oneDNN peer" oneDNN
    finish
fi
check "the library and its instruction set are named" grep -E '^oneDNN [0-9.]+ [a-z]' "$tmp/answer.txt"
check "unsupported options are refused" refuses "train.accumulate '2' is not supported; use 1" --train.accumulate 2
check "a wrong value is named" expect 2 "train.lr" "$peer" --model softmax_784 --train.lr x
check "softmax_784 with adam" same_losses 1 1e-5 --model configs/models/softmax_784.yaml --train.optimizer adam \
    --train.lr 1e-3 --measure.time.steps 30
check "lenet_21k with dropout of channels" same_losses 1 1e-4 --model configs/models/lenet_21k.yaml --train.lr 0.05 \
    --measure.time.steps 20
check "a network of odd sizes" same_losses 1 1e-4 --model "$tmp/odd.yaml" --train.lr 0.05 --train.momentum 0.9 \
    --measure.time.steps 15
check "batch norm" same_losses 1 5e-3 --model configs/models/vgg_mini.yaml --data.set shapes --train.lr 0.02 \
    --measure.time.steps 8
if "$peer" --check --model softmax_784 --train.precision bf16 >"$tmp/bf16.txt"; then
    check "bf16 values" same_losses 1 2e-2 --model configs/models/lenet_21k.yaml --train.precision bf16 --train.lr 0.05 \
        --measure.time.steps 8
else
    check "bf16 without AVX-512 is refused" refuses "train.precision 'bf16' needs AVX-512" --train.precision bf16
    skip "bf16 values" "$(cat "$tmp/bf16.txt")"
fi
check "two ranks have equal weights" ranks_agree
check "three ranks with 14, 13 and 13 images" uneven_ranks_agree
check "accuracy runs" evaluates
check "records name library and algorithms" records_what_it_is
check "a campaign compares both" compares "train_cnn, peer_onednn"
if "$build/peer_torch" --check --model softmax_784 >"$tmp/answer.txt" 2>&1; then
    check "a campaign compares three programs" compares_three
else
    lacks "a campaign of three programs" torch
fi
finish
