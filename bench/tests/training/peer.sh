#!/usr/bin/env bash
# Tests the PyTorch peer: from the same weights and batches its losses and weights equal train_cnn's for every strategy.
# Tests its records, a campaign that compares both, and one on a machine without PyTorch.
# tier: rest
# cores: 2
# seconds: 100
set -u
. bench/tests/lib/tap.sh

peer=$build/peer_torch
small=(--data.set digits --data.samples 2000 --train.batch_per_rank 50 --measure.check end
    --measure.time.warmup_steps 1)
softmax=(--model configs/models/softmax_784.yaml)
one_step=("${softmax[@]}" "${small[@]}" --run time --measure.time.steps 1)

# Every deterministic kind of layer; odd sizes, strides and padding.
cat >"$tmp/plain.yaml" <<'END'
name: plain
input: [1, 28, 28]
classes: 10
normalize: {mean: [0.1307], std: [0.3081]}
initializer: glorot
layers:
  - conv2d: {channels: 6, kernel: [5, 3], stride: [1, 2], pad: [2, 1]}
  - maxpool2d: {size: 3, stride: 2}
  - relu
  - conv2d: {channels: 9, kernel: 3}
  - relu
  - dense: {outputs: 30}
  - relu
  - dense: {outputs: 10}
END

# Average pooling whose padding counts.
cat >"$tmp/average.yaml" <<'END'
name: average
input: [3, 32, 32]
classes: 10
normalize: {mean: [0.5, 0.4, 0.6], std: [0.25, 0.3, 0.2]}
layers:
  - conv2d: {channels: 5, kernel: 4, stride: 2}
  - relu
  - avgpool2d: {size: 3, stride: 2, pad: 1}
  - conv2d: {channels: 7, kernel: 2}
  - relu
  - avgpool2d: {size: 2, stride: 2}
  - dense: {outputs: 10}
END

# Layers without bias and without kinks.
cat >"$tmp/biasless.yaml" <<'END'
name: biasless
input: [1, 28, 28]
classes: 10
normalize: {mean: [0.1307], std: [0.3081]}
layers:
  - conv2d: {channels: 6, kernel: 5, stride: 2, bias: false}
  - avgpool2d: {size: 2}
  - dense: {outputs: 40, bias: false}
  - dense: {outputs: 10}
END

# Prints the mean loss of every step over the records of all ranks.
losses() { # folder
    cat "$1"/rank.*.jsonl | tr -d ' ' | grep '"type":"step"' | sed -E \
        's/.*"step":([0-9]+).*/\1 &/; s/^([0-9]+) .*"samples":([0-9]+).*/\1 \2 &/; s/^([0-9]+ [0-9]+) .*"loss_sum":([0-9.e+-]+).*/\1 \2/' |
        awk '{ n[$1] += $2; sum[$1] += $3; if ($1 > last) last = $1 }
            END { for (i = 0; i <= last; i++) print sum[i] / n[i] }'
}

# Checks that both programs have the same losses: in the first step up to the rounding of one forward pass, later up to the
# rounding of a few steps.
same_losses() { # options
    losses_within 1e-4 1e-3 "$@"
}

losses_within() { # relative difference in the first step, later, options
    local first=$1 later=$2
    shift 2
    mkdir -p "$tmp/ours" "$tmp/theirs"
    "$mpiexec" -n 1 "$train_cnn" "${small[@]}" --run time "$@" --record "$tmp/ours" || return 1
    "$peer" "${small[@]}" --run time "$@" --record "$tmp/theirs" || return 1
    losses "$tmp/ours" >"$tmp/ours.txt"
    losses "$tmp/theirs" >"$tmp/theirs.txt"
    paste "$tmp/ours.txt" "$tmp/theirs.txt" | awk -v start="$first" -v later="$later" '
        function off(a, b) { return (a > b ? a - b : b - a) / a }
        { print; worst = off($1, $2) > worst ? off($1, $2) : worst }
        NR == 1 && off($1, $2) > start { bad = 1 }
        NR == 1 { first = $1 }
        END { print "worst", worst; exit bad || NR < 3 || worst > later || !($1 < first) }'
}

# Two ranks that sum gradients have the losses and weights of one rank.
ranks_agree() {
    mkdir -p "$tmp/one" "$tmp/two"
    local options=("${softmax[@]}" --data.set digits --data.samples 2000 --train.global_batch 51
        --measure.time.steps 10 --run time --train.lr 0.1)
    "$peer" "${options[@]}" --record "$tmp/one" &&
        "$mpiexec" -n 2 "$peer" "${options[@]}" --record "$tmp/two" || return 1
    grep -h '"weights_equal": true' "$tmp"/two/rank.[01].jsonl || return 1
    losses "$tmp/one" >"$tmp/one.txt"
    losses "$tmp/two" | paste "$tmp/one.txt" - |
        awk '{ d = $1 - $2; print; if (d * d > 1e-8 * $1 * $1) bad = 1 } END { exit bad || NR != 20 }'
}

# Three ranks without exchange have two, two and one image of a batch, and none, one and one of the last. Each divides by a
# third of the batch, as in train_cnn.
apart_as_ours() {
    local options=("${softmax[@]}" --data.set digits --train.lr 0.05 --sync.strategy none) program
    for program in "$train_cnn" "$peer"; do
        mkdir -p "$tmp/apart.${program##*/}"
        "$mpiexec" -n 3 "$program" "${options[@]}" --data.samples 2000 --train.global_batch 5 --run time \
            --measure.time.steps 19 --wait yield --record "$tmp/apart.${program##*/}" || return 1
        losses "$tmp/apart.${program##*/}" >"$tmp/apart.${program##*/}.txt"
    done
    paste "$tmp"/apart.*.txt | awk '{ d = $1 - $2; print; if (!(d * d <= 1e-8 * $1 * $1)) bad = 1 }
        END { exit bad || NR < 19 }' || return 1
    expect 0 "epoch 1/1" "$mpiexec" -n 3 "$peer" "${options[@]}" --data.samples 8 --train.global_batch 6 &&
        ! grep -w nan "$tmp/expect.log"
}

# Compares weights after steps with batches that three ranks cannot divide evenly. Four steps of a network without kinks
# differ by rounding alone, at most 1e-4 of the change. For one step of a network with batch norm and local statistics, an
# activation that rounding moves across a kink changes it by up to 5e-3; other statistics, or a mean instead of a sum, by more
# than a tenth.
same_weights() { # ranks
    same_change "$1" 4 digits 1e-4 fp32 softmax_784 "$tmp/biasless.yaml" && same_change "$1" 1 shapes 5e-3 fp32 vgg_mini
}

# In bf16 PyTorch also rounds images, activations, their gradients and the gradients of weights. Each value passes at most ten
# roundings of 2^-9.
same_weights_in_bf16() { # ranks
    same_change "$1" 1 digits 2e-2 bf16 softmax_784 "$tmp/biasless.yaml"
}

same_change() { # ranks, steps, images, how far off, precision, models
    local options=(--train.global_batch 50 --train.lr 0.05 --train.momentum 0.9 --train.precision "$5"
        --train.weight_decay 1e-3 --data.set "$3" --data.samples $(($2 * 50)))
    local model weights pairs=()
    for model in "${@:6}"; do
        weights=$tmp/${model##*/}.safetensors
        pairs+=("$model=$weights=$4")
        "$mpiexec" -n "$1" "$train_cnn" --model "$model" "${options[@]}" --wait yield \
            --checkpoint.every_epochs 1 --checkpoint.path "$weights" || return 1
    done
    "$mpiexec" -n "$1" "$python" bench/tests/lib/peer_weights.py "$build" "$2" "${pairs[@]}" -- "${options[@]}"
}

# After two epochs in bf16, both programs classify the test images equally well, within 1 %.
accurate_in_bf16() {
    local program
    for program in train_cnn peer_torch; do
        "$build/$program" "${softmax[@]}" --data.set digits --data.samples 5000 --train.batch_per_rank 50 --train.epochs 2 \
            --train.lr 0.05 --train.precision bf16 | tee "$tmp/$program.txt" || return 1
    done
    sed -nE 's/.*epoch 2.*test loss [0-9.]+  accuracy ([0-9.]+).*/\1/p' "$tmp/train_cnn.txt" "$tmp/peer_torch.txt" |
        awk '{ a[NR] = $1 } END { d = a[1] - a[2]; exit !(NR == 2 && a[1] > 50 && d * d <= 1) }'
}

# The plan skips bf16 points of PyTorch on processors without AVX-512, where one launch can take an hour.
skips_slow_bf16() {
    if grep -qw avx512bw /proc/cpuinfo; then
        expect 0 "torch" "$peer" --check "${softmax[@]}" --train.precision bf16
    else
        refuses "train.precision 'bf16' needs AVX-512" --train.precision bf16
    fi
}

# Prints numbers of the last line of rank 0's record.
last_line() { # folder, names
    python3 - "$@" <<'PY'
import json, sys
with open(sys.argv[1] + "/rank.0.jsonl", encoding="utf-8") as file:
    end = json.loads(file.readlines()[-1])
print(*(end[name] for name in sys.argv[2:]))
PY
}

# As many bytes and calls as train_cnn: a gather and a scatter replace two messages with each rank.
same_calls() {
    local strategy program
    for strategy in allreduce_layer "bucketed --sync.first_cap_mib 0.02 --sync.cap_mib 0.04" gather_scatter; do
        for program in "$train_cnn" "$peer"; do
            mkdir -p "$tmp/calls.${program##*/}"
            # shellcheck disable=SC2086 # with its options
            "$mpiexec" -n 3 "$program" --model lenet_21k "${small[@]}" --measure.time.steps 4 --run time --wait yield \
                --sync.strategy $strategy --record "$tmp/calls.${program##*/}" || return 1
        done
        { last_line "$tmp/calls.train_cnn" calls bytes_payload && last_line "$tmp/calls.peer_torch" calls bytes_payload
        } | paste -sd' ' | tee /dev/stderr |
            awk -v times="$([ "$strategy" = gather_scatter ] && echo 2 || echo 1)" \
                '{ exit !($3 > 0 && $1 == times * $3 && $2 == times * $4) }' || return 1
    done
}

# If PyTorch computes with train_cnn's BLIS, it uses the same kernel set; every copy of BLIS in the process prints its set.
# The user's choice has priority, here portable C, set number 25 in 0.9.
takes_the_kernel_set() {
    local ours
    ours=$("$mpiexec" -n 1 "$train_cnn" "${one_step[@]}" --record "$tmp" >&2 && blas_of_a_record) || return 1
    computes_with "${ours##* }" "$peer" "${one_step[@]}" --record "$tmp" || return 1
    blas_of_a_record
    # One line belongs to the program that makes the inputs.
    [ "$(grep -c "selecting sub-configuration" "$tmp/sets.log")" -gt 1 ] || return 0
    [[ $(blas_of_a_record) == *" + $ours" ]] &&
        computes_with generic env BLIS_ARCH_TYPE=25 "$peer" "${one_step[@]}" --record "$tmp" &&
        [[ $(blas_of_a_record) == *" generic" ]]
}

computes_with() { # kernel set, command
    BLIS_ARCH_DEBUG=1 "${@:2}" >"$tmp/sets.log" 2>&1 || { cat "$tmp/sets.log"; return 1; }
    grep "selecting sub-configuration" "$tmp/sets.log"
    ! grep "selecting sub-configuration" "$tmp/sets.log" | grep -v "'$1'"
}

blas_of_a_record() {
    grep -ohE '"blas": ?"[^"]*"' "$tmp/rank.0.jsonl" | cut -d'"' -f4
}

# Nothing of a launch is left after one rank is killed or stopped.
ends_with_a_rank() { # signal, text
    local mark=peer-$$.$RANDOM pid status
    mkdir -p "$tmp/$mark"
    "$mpiexec" -n 3 "$peer" "${softmax[@]}" "${small[@]}" --peer.layout contiguous --run time \
        --measure.time.steps 200000 --sync.deadline 10s --record "$tmp/$mark" >"$tmp/end.log" 2>&1 &
    pid=$!
    until_true have_met "$mark" || return 1
    kill "-$1" "$(rank_of_peer "$mark" 1)" || return 1
    wait "$pid"
    status=$?
    cat "$tmp/end.log"
    [ "$status" -ne 0 ] && grep -q "$2" "$tmp/end.log" && gone "$mark"
}

# A rank that has not connected yet lets the others wait without limit.
ends_with_a_rank_that_starts() {
    local mark=peer-$$.$RANDOM launch
    mkdir "$tmp/$mark"
    "$mpiexec" -n 3 "$peer" "${softmax[@]}" "${small[@]}" --run time --record "$tmp/$mark" >"$tmp/end.log" 2>&1 &
    launch=$!
    until_true imports_torch "$mark" 1 && kill -KILL "$(rank_of_peer "$mark" 1)" || return 1
    ! wait "$launch" && gone "$mark" && [ -z "$(find "$tmp/$mark" -type f -size +0)" ]
}

imports_torch() { # word of the command line, rank
    grep -q libtorch_cpu "/proc/$(rank_of_peer "$@")/maps"
}

# Unexpected errors end all ranks too: the record of this rank is a folder.
ends_with_an_error() {
    local mark=peer-$$.$RANDOM
    mkdir -p "$tmp/$mark/rank.1.jsonl"
    expect 1 "IsADirectoryError" "$mpiexec" -n 3 "$peer" "${softmax[@]}" "${small[@]}" --run time \
        --record "$tmp/$mark" && gone "$mark"
}

rank_of_peer() { # word of the command line, rank
    local pid
    for pid in $(processes "$1"); do
        tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "PMI_RANK=$2" &&
            [[ $(cat "/proc/$pid/comm") == python* ]] && echo "$pid" && return
    done
    return 1
}

# Records begin when ranks have connected.
have_met() { # mark
    [ "$(find "$tmp/$1" -name 'rank.*.jsonl' -size +0 | wc -l)" -eq 3 ] # empty until ranks are connected
}

# DistributedDataParallel uses a given cap for all buckets.
refuses_a_first_cap() {
    "$python" - "$build" <<'PY' | grep "sync.first_cap_mib 0.5 is not supported with sync.cap_mib 4 in torch"
import sys
from types import SimpleNamespace
sys.path.insert(0, sys.argv[1])
from torch_peer.failure import UNAVAILABLE, Failure
from torch_peer.sums import check_first_cap
older, newer = SimpleNamespace(), SimpleNamespace(bucket_bytes_cap_default=False)
check_first_cap(older, 0.5, 4)
check_first_cap(SimpleNamespace(bucket_bytes_cap_default=True), 1, 25)
check_first_cap(newer, 4, 4)
try:
    check_first_cap(newer, 0.5, 4)
except Failure as failure:
    assert failure.status == UNAVAILABLE
    print(failure.text)
PY
}

refuses_to_meet() {
    expect 3 "PMI_FD is not set. Use MPICH's mpiexec" env -u PMI_FD PMI_RANK=0 PMI_SIZE=2 "$peer" "${softmax[@]}" \
        "${small[@]}" --run time &&
        expect 1 "interface 'nowhere0' of $(uname -n) has no IPv4 address" env GLOO_SOCKET_IFNAME=nowhere0 \
            "$mpiexec" -n 2 "$peer" "${softmax[@]}" "${small[@]}" --run time
}

spec() { # name, peer.python
    cat >"$tmp/$1.yaml" <<END
name: $1
model: softmax_784
data: {set: digits, samples: 2000}
train: {optimizer: adam, lr: 1e-3, batch_per_rank: 100}
sync: {strategy: none}
matrix: {workload: [train_cnn, peer_torch]}
peer: {python: $2}
measure:
  time: {warmup_steps: 2, steps: 20, launches: 2..2}
  accuracy: {seeds: [1]}
figures: []
END
}

column() { # campaign, name
    awk -F, -v name="$2" '{ gsub(/"[^"]*"/, "quoted") } NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { print $c }' "$tmp/results/$1/latest/summary.csv"
}

compares() {
    spec both auto
    expect 0 "x the images/s of peer_torch (torch" "$scalebench" run "$tmp/both.yaml" \
        --out "$tmp/results" || return 1
    grep -q "Memory without libraries: .* MiB, the peer .*; of whole processes without the data: .* MiB, the peer .* (ratio .*)" "$tmp/expect.log" || return 1
    grep -q "Memory without libraries" "$tmp/results/both/latest/summary.md" || return 1
    column both status | grep -c '^ok$' | grep -qx 2 || return 1
    column both blas | grep -q torch || return 1
    column both test_acc_pct | awk '$1 < 50 { exit 1 }' || return 1
    # Memory of both without the data set; a framework needs more than a program.
    column both memory_mib | awk '{ m[NR] = $1 } END { exit !(NR == 2 && m[1] > 0 && m[2] > m[1]) }' || return 1
    # train_cnn has the 2,000 images of the spec and the test set, 9 MiB; PyTorch maps all.
    column both data_mib | awk '{ all = NR > 1 } $1 < (all ? 44 : 8) || $1 > (all ? 60 : 12) { print; exit 1 }' ||
        return 1
    column both peer_memory_ratio | head -n 1 | awk '{ exit !($1 > 0 && $1 < 1) }' || return 1
    column both savings | head -n 1 | grep -qx data_zeros || return 1
    column both peer_workload | grep -c '^peer_torch$' | grep -qx 1 || return 1
    # Twice the steps in the same time give a ratio of two.
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
        $(col["run"]) == "time" { ms[$(col["block"]), $(col["label"]) ~ /peer/] = $(col["step_ms"]) }
        END { print (ms[0, 1] / ms[0, 0] + ms[1, 1] / ms[1, 0]) / 2 }' \
        "$tmp/results/both/latest/raw.csv" >"$tmp/ratio.txt"
    column both peer_ratio | head -n 1 | paste - "$tmp/ratio.txt" |
        awk '{ print; exit !($1 > 0 && ($1 - $2) ^ 2 < 1e-6 * $2 ^ 2) }'
}

# A Python without torch.
without_torch() {
    printf '#!/bin/sh\necho False\n' >"$tmp/bare"
    chmod +x "$tmp/bare"
    spec bare "$tmp/bare"
    expect 0 "PyTorch is missing" "$scalebench" run "$tmp/bare.yaml" --out "$tmp/results" || return 1
    column bare status | tr '\n' ' ' | grep -qx 'ok skipped ' || return 1
    ! column bare peer_ratio | grep -q '[0-9]'
}

# A PyTorch that reports no gloo: points of several ranks are skipped in the plan.
without_gloo() {
    mkdir -p "$tmp/fake/torch"
    touch "$tmp/fake/torch/__init__.py"
    echo "__version__ = '0.0'" >"$tmp/fake/torch/version.py"
    printf 'def is_available():\n    return False\n' >"$tmp/fake/torch/distributed.py"
    printf '#!/bin/sh\nPYTHONPATH=%s exec %s "$@"\n' "$tmp/fake" "$(command -v python3)" >"$tmp/no_gloo"
    chmod +x "$tmp/no_gloo"
    expect 0 "torch 0.0 in $tmp/fake/torch" "$peer" --check "${softmax[@]}" --peer.python "$tmp/no_gloo" || return 1
    expect 2 "--check=two: expected a number of ranks" "$peer" --check=two "${softmax[@]}" || return 1
    expect 3 "has no gloo" "$peer" --check=2 "${softmax[@]}" --peer.python "$tmp/no_gloo" || return 1
    printf '%s\n' "name: no_gloo" "scaling: strong" "model: softmax_784" "data: {set: digits}" "train.global_batch: 100" \
        "workload: peer_torch" "peer.python: $tmp/no_gloo" "matrix: {ranks: [1, 2]}" >"$tmp/no_gloo.yaml"
    "$scalebench" plan "$tmp/no_gloo.yaml" --out "$tmp/results" --format csv >"$tmp/plan.csv" || return 1
    grep ",skipped," "$tmp/plan.csv" | grep "ranks=2" | grep "has no gloo" && grep ",runs," "$tmp/plan.csv" | grep "ranks=1"
}

refuses() { # text, options
    local text=$1
    shift
    expect 3 "$text" "$peer" --check "${softmax[@]}" "$@"
}

check "description is JSON" expect 0 '"workload": "peer_torch"' "$peer" --describe
leaves_no_record_of_a_refused_run() {
    mkdir "$tmp/refused"
    expect 2 "'nosuch' is unknown" "$peer" "${softmax[@]}" --model nosuch --record "$tmp/refused" && rmdir "$tmp/refused"
}
check "a refused run leaves no record" leaves_no_record_of_a_refused_run
check "an option that is wrong is named" expect 2 "train.lr" "$peer" "${softmax[@]}" --train.lr x
check "options of train_cnn alone are refused" expect 2 "--run accuracy and --run time" "$peer" "${softmax[@]}" \
    --run evaluate --checkpoint.start bench/tests/training/peer.sh
check "a Python that is not there is named" refuses "/no/python" --peer.python /no/python
check "without PyTorch its points are skipped" without_torch
check "without gloo those of several ranks are" without_gloo
if ! "$peer" --check "${softmax[@]}" >"$tmp/answer.txt" 2>&1; then
    sed 's/^/# /' "$tmp/answer.txt"
    lacks "the PyTorch peer" torch
    finish
fi
check "missing PyTorch modules are named" refuses "data.read 'scatter' is not supported; known: all" \
    --data.read scatter
check "softmax_784 with sgd" same_losses "${softmax[@]}" --train.lr 0.05 --train.momentum 0.9 \
    --train.weight_decay 0.001 --measure.time.steps 19
check "softmax_784 with adam, over epochs" same_losses "${softmax[@]}" --train.optimizer adam \
    --train.lr 1e-3 --measure.time.steps 59
for layout in contiguous channels_last; do
    check "a convolutional net, $layout" same_losses --model "$tmp/plain.yaml" --peer.layout "$layout" \
        --train.lr 0.05 --train.lr_warmup_steps 3 --measure.time.steps 9
done
# Augmented images are the same, since one program makes batches and crops.
check "average pooling and augmentation" same_losses --model "$tmp/average.yaml" --peer.layout contiguous --data.set shapes \
    --data.augment crop_flip --train.lr 0.05 --measure.time.steps 9
check "a convolutional net in bf16" losses_within 4e-3 2e-2 --model "$tmp/plain.yaml" --train.precision bf16 --train.lr 0.05 \
    --peer.layout contiguous --measure.time.steps 9
check "accuracy in bf16" accurate_in_bf16
check "bf16 without AVX-512 is skipped" skips_slow_bf16
check "bf16 in buckets is refused" refuses "Use sync.strategy allreduce" --train.precision bf16 --sync.strategy bucketed
check "products are computed with train_cnn's kernel set" takes_the_kernel_set
check "two ranks train as one" ranks_agree
check "ranks that train apart do as ours" apart_as_ours
python=$(python_with torch)
for ranks in 1 3; do
    check "weights agree with train_cnn for every strategy on $ranks" same_weights "$ranks"
    check "and in bf16 on $ranks" same_weights_in_bf16 "$ranks"
done
check "calls and their bytes are counted" same_calls
check "a rank that is killed ends its launch" ends_with_a_rank KILL .
check "a rank that is stopped does too, with a reason" ends_with_a_rank STOP "has lost another rank"
check "a rank killed while it starts ends the launch, too" ends_with_a_rank_that_starts
check "an error of one rank does too" ends_with_an_error
check "a first cap that PyTorch would pass over is refused" refuses_a_first_cap
check "ranks that cannot meet say why" refuses_to_meet
check "a campaign compares both" compares
finish
