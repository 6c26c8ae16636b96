#!/usr/bin/env bash
# Tests the trainer as a user calls it: with mpiexec, with wrong options, with a rank that stops.
# cores: 2
set -u
. bench/tests/lib/tap.sh

model=configs/models/softmax_784.yaml
small=(--model "$model" --data.set digits --data.samples 2000 --train.global_batch 100)

learns() {
    expect 0 "weights equal on all ranks" "$mpiexec" -n 2 "$train_cnn" "${small[@]}" \
        --train.epochs 3 --wait yield
}

records() {
    "$mpiexec" -n 3 "$train_cnn" "${small[@]}" --run time --measure.time.steps 5 \
        --measure.time.warmup_steps 2 --wait yield --record "$tmp" || return 1
    local rank
    for rank in 0 1 2; do
        [ "$(grep -c '"type":"step"' "$tmp/rank.$rank.jsonl")" -eq 7 ] || return 1
        tail -n 1 "$tmp/rank.$rank.jsonl" | grep -q '"type":"end"' || return 1
    done
}

# Nothing per step: no line, no hash, and no statement about weights that were not compared.
measures_nothing_but_time() {
    expect 0 "weights not compared" "$mpiexec" -n 2 "$train_cnn" "${small[@]}" --run time \
        --measure.time.steps 5 --measure.time.warmup_steps 2 --wait yield --record "$tmp" \
        --measure.check none --no-steps || return 1
    ! grep '"type":"step"' "$tmp/rank.0.jsonl" || return 1
    tail -n 1 "$tmp/rank.0.jsonl" | grep '"timed_steps":5,.*"check":"none","weights_equal":null'
}

# Memory of the process excludes records of steps, and freed memory that a sanitizer keeps.
records_take_no_memory() {
    local steps peak=0 before
    local -x ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=0:thread_local_quarantine_size_kb=0
    for steps in 20 20000; do
        "$train_cnn" "${small[@]}" --run time --measure.time.steps "$steps" --record "$tmp" || return 1
        before=$peak
        peak=$(tail -n 1 "$tmp/rank.0.jsonl" | grep -o '"rss_mib":[0-9]*' | cut -d: -f2)
    done
    [ "$(grep -c '"type":"step"' "$tmp/rank.0.jsonl")" -eq 20010 ] && echo "$before $peak MiB" &&
        [ $((peak - before)) -lt 5 ]
}

# The loop time covers the timed steps and the time between them.
loop_holds_the_window() {
    "$mpiexec" -n 1 "$train_cnn" "${small[@]}" --run time --measure.time.steps 5 \
        --record "$tmp" || return 1
    tail -n 1 "$tmp/rank.0.jsonl" | tr ',' '\n' | awk -F: '
        /"window_ns"/ { window = $2 }
        /"loop_ns"/ { loop = $2 }
        END { exit !(window > 0 && loop > window) }'
}

# The epoch's time excludes the time between its steps, mostly hashes.
epochs_hold_their_steps_alone() {
    "$train_cnn" --model keras_690k --data.set digits --data.samples 2000 --train.global_batch 100 \
        --train.epochs 1 --measure.check step --record "$tmp" || return 1
    sed 's/[,{}]/\n/g' "$tmp/rank.0.jsonl" | awk -F: '
        /"type"/ { epoch = /"epoch"/ }
        /"begin_ns"/ { begin = $2; if (end) between += begin - end }
        /"end_ns"/ { end = $2; steps += end - begin }
        epoch && /"seconds"/ { seconds = $2 }
        END { over = 1e9 * seconds - steps; print steps, between, over
              exit !(steps > 0 && over > -1e3 && over < between / 2) }'
}

# A stopped rank never arrives: the others must name it, and all must end.
names_the_stopped_rank() { # policy, ranks, options ...
    local wait=$1 ranks=$2 mark="deadline-$1-$$" pid victim
    shift 2
    rm -f "$tmp/stopped.log" # of the previous policy; the wait below would find its epoch
    "$mpiexec" -n "$ranks" "$train_cnn" "${small[@]}" --train.epochs 100000 --wait "$wait" \
        --sync.deadline 4s --version-string "$mark" "$@" >"$tmp/stopped.log" 2>&1 &
    pid=$!
    until_true grep -q epoch "$tmp/stopped.log" || return 1
    victim=$(process_of_rank "$mark" 1)
    kill -STOP "$victim"
    wait "$pid" && return 1
    cat "$tmp/stopped.log"
    grep -qE "(not arrived yet|silent): rank 1$" "$tmp/stopped.log" && gone "$mark"
}

# Own messages are counted: rank 0 sends two and receives two for each of two tensors.
counts_messages() {
    "$mpiexec" -n 3 "$train_cnn" "${small[@]}" --run time --measure.time.steps 5 --wait yield \
        --record "$tmp" --sync.strategy gather_scatter || return 1
    grep '"sync_variant":"linear"' "$tmp/rank.0.jsonl" &&
        tail -n 1 "$tmp/rank.0.jsonl" |
        grep '"bytes_wire":314000,"messages_wire":20,"wire_source":"counted"' &&
        tail -n 1 "$tmp/rank.2.jsonl" |
        grep '"bytes_wire":157000,"messages_wire":10,"wire_source":"counted"'
}

# Further sums: a norm of 8 bytes per step, which rank 2 of 3 sends once, and the statistics of eight batch norm layers, 5568
# bytes forward and backward.
counts_other_sums() {
    "$mpiexec" -n 3 "$train_cnn" "${small[@]}" --run time --measure.time.steps 5 --wait yield \
        --record "$tmp" --sync.strategy gather_scatter --train.clip_norm 1 || return 1
    tail -n 1 "$tmp/rank.2.jsonl" |
        grep '"bytes_wire":157040,"messages_wire":15,"wire_source":"counted"' || return 1
    "$mpiexec" -n 2 "$train_cnn" --model vgg_mini --data.set shapes --data.samples 64 --train.global_batch 4 \
        --train.batch_norm sync --run time --measure.time.steps 5 --wait yield --record "$tmp" || return 1
    tail -n 1 "$tmp/rank.0.jsonl" | grep '"calls":85,"bytes_payload":766920,' &&
        tail -n 1 "$tmp/rank.0.jsonl" | grep -v '"bytes_batch_norm":0'
}

# An asynchronous server finishes its own steps long before the others; its later answers are counted.
counts_late_answers() {
    local variant
    for variant in async "stale --sync.staleness 3"; do
        # shellcheck disable=SC2086
        "$mpiexec" -n 3 "$train_cnn" "${small[@]}" --run time --measure.time.steps 5 --measure.time.warmup_steps 2 \
            --wait yield --record "$tmp" --sync.strategy param_server --sync.variant $variant \
            --inject.kind fixed --inject.sleep 20ms --inject.ranks '[1]' || return 1
        tail -n 1 "$tmp/rank.0.jsonl" |
            grep '"calls":20,"bytes_payload":628000,"bytes_wire":314000,"messages_wire":10,"wire_source":"counted"' ||
            return 1
    done
}

# Replicas differ on purpose; the model made from them is compared.
compares_the_average() {
    expect 0 "weights equal on all ranks" "$mpiexec" -n 3 "$train_cnn" "${small[@]}" \
        --train.epochs 1 --wait yield --sync.strategy local_sgd --sync.period 7
}

dies_together() {
    local mark="dies-$$" pid victim
    "$mpiexec" -n 2 "$train_cnn" "${small[@]}" --train.epochs 100000 --wait yield \
        --version-string "$mark" >"$tmp/dies.log" 2>&1 &
    pid=$!
    until_true grep -q epoch "$tmp/dies.log" || return 1
    victim=$(process_of_rank "$mark" 1)
    kill -KILL "$victim"
    wait "$pid" && return 1
    gone "$mark"
}

speaks_once() {
    "$mpiexec" -n 3 "$train_cnn" --model no_such_net --train.global_batch 8 >"$tmp/once.log" 2>&1
    cat "$tmp/once.log"
    [ "$(grep -c no_such_net "$tmp/once.log")" -eq 1 ]
}

check "trains on two ranks" learns
identify() {
    "$train_cnn" --identify --model "$model" --data.set digits
}

# The identity before a campaign equals that in its records; another library changes it.
identifies_its_launches() {
    local told recorded pair preload="${LD_PRELOAD:-}"
    told=$(identify) || return 1
    recorded=$(head -n 1 "$tmp/rank.2.jsonl")
    while read -r pair; do
        grep -F "$pair" <<<"$recorded" || return 1
    done < <(grep -oE '"[a-z_]*":"[^"]*"' <<<"$told")
    [ "$(grep -o '":"' <<<"$told" | wc -l)" -eq 8 ] && [ "$(identify)" = "$told" ] || return 1
    echo 'int scalebench_test_nothing;' >"$tmp/other.c"
    ${CC:-cc} -shared -fPIC -o "$tmp/other.so" "$tmp/other.c" || return 1
    [ "$(LD_PRELOAD="$preload $tmp/other.so" identify)" != "$told" ]
}

check "every rank writes a whole record" records
check "the described plan equals the recorded plan" identifies_its_launches
check "a strategy's own messages are counted" counts_messages
check "sums besides the gradients are counted" counts_other_sums
check "answers of a server to late ranks are counted" counts_late_answers
check "the average of differing replicas is compared" compares_the_average
check "the cost of measuring can be left out" measures_nothing_but_time
check "records of many steps take no memory" records_take_no_memory
check "time between steps is recorded separately" loop_holds_the_window
check "an epoch's time leaves hashing out" epochs_hold_their_steps_alone
check "polling: a deadline names the rank that stopped" names_the_stopped_rank poll 2
check "blocking: a deadline names the rank that stopped" names_the_stopped_rank block 2
check "gathering: a deadline names the rank that stopped" names_the_stopped_rank yield 2 \
    --sync.strategy gather_scatter
check "pickling: a deadline names the rank that stopped" names_the_stopped_rank block 2 \
    --sync.strategy reduce_bcast --sync.variant pickled
check "in a ring of three: a deadline names the rank that stopped" names_the_stopped_rank yield 3 \
    --sync.strategy ring --sync.segment 4KiB
check "in shared memory: a deadline names the rank that stopped" names_the_stopped_rank block 2 \
    --sync.strategy shm
check "a step late: a deadline names the rank that stopped" names_the_stopped_rank block 2 \
    --sync.strategy delayed
check "averaging weights: a deadline names the rank that stopped" names_the_stopped_rank yield 3 \
    --sync.strategy local_sgd --sync.period 4
check "gossiping: a deadline names the rank that stopped" names_the_stopped_rank yield 3 \
    --sync.strategy gossip
check "combining: a deadline names the rank that stopped" names_the_stopped_rank block 2 \
    --sync.strategy adasum
check "pushing: a deadline names the rank that stopped" names_the_stopped_rank yield 3 \
    --sync.strategy param_server
check "ahead of it: a deadline names the rank that stopped" names_the_stopped_rank block 2 \
    --sync.strategy param_server --sync.variant stale --sync.staleness 2
check "a server: a deadline names the rank that stopped" names_the_stopped_rank block 2 \
    --sync.strategy param_server --sync.variant async --sync.servers 2
check "a worker alone: a deadline names the rank that stopped" names_the_stopped_rank yield 3 \
    --sync.strategy param_server --sync.variant async
check "more servers than ranks" expect 2 "sync.servers = 3 exceeds ranks = 2, but each server is a rank" \
    "$mpiexec" -n 2 "$train_cnn" "${small[@]}" --sync.strategy param_server --sync.servers 3
check "shared memory needs one node" expect 2 "all ranks on one node, found 1 of 2" \
    env MPIR_CVAR_NUM_CLIQUES=2 "$mpiexec" -n 2 "$train_cnn" "${small[@]}" --sync.strategy shm
check "a killed rank takes the job with it" dies_together
without_output() { # command
    "$@" >&-
}

to_a_full_one() { # command
    "$@" >/dev/full
}

# Runs every program except scalebench (commands/each.sh) with --help, and one with results, without a valid output.
printing() {
    cat <<END
train_cnn --help
train_cnn ${small[*]} --run time --measure.time.steps 2 --measure.time.warmup_steps 1
kernel_sweep --help
kernel_sweep --model softmax_784 --repeats 1
comm_sweep --help
comm_sweep --gradients 4B --strategies allreduce --turns 1
pin --help
hello_ranks
doctor_ranks --help
peer_inputs peer_torch 0 1 --help
peer_inputs peer_torch 0 1 ${small[*]}
peer_torch --help
peer_onednn --help
END
}

needs_its_output() {
    local how line words
    diff <(find "$build" -maxdepth 1 -type f -executable -printf '%f\n' | grep -vxE 'scalebench|train_cnn_f64' | sort) \
        <(printing | cut -d' ' -f1 | sort -u) || return 1
    while read -r line; do
        read -r -a words <<<"$line"
        for how in without_output to_a_full_one; do
            expect 1 ": standard output cannot be written" "$how" "$build/${words[0]}" "${words[@]:1}" || return 1
        done
    done < <(printing)
}
check "an output that is closed or full is an error" needs_its_output

check "help needs no MPI" expect 0 "--train.lr" "$train_cnn" --help
check "description is JSON" expect 0 '"workload": "train_cnn"' "$train_cnn" --describe
# 20x20 of conv1's 26x26 outputs are read; conv2 and conv3 use Winograd's algorithm; fc3 is 3 x 2,000.
plan_is_described() {
    "$train_cnn" --model configs/models/keras_690k.yaml --describe-plan >"$tmp/plan.txt" || return 1
    cat "$tmp/plan.txt"
    grep -qE '^first_conv +conv1 relu1 maxpool2d1 +778752 +460800 +dead_outputs$' "$tmp/plan.txt" &&
        grep -qE '^winograd +conv2 relu2 maxpool2d2 +26763264 +3538944 +dead_outputs winograd$' "$tmp/plan.txt" &&
        grep -qE '^total +45609264 +9287472 +20.4 % done$' "$tmp/plan.txt" &&
        grep -q '^winograd: ' "$tmp/plan.txt"
}
check "a plan is described" plan_is_described
# Operations that round operands state it with their instruction set; a lower set rounds none.
bf16_plan_is_described() {
    local rounds='^vgg_mini, plan fast, (avx512|amx)_bf16: '
    "$train_cnn" --model vgg_mini --train.precision bf16 --describe-plan >"$tmp/plan16.txt" &&
        "$train_cnn" --model vgg_mini --train.precision bf16 --kernels.isa portable --describe-plan >"$tmp/plan.txt" || return 1
    cat "$tmp/plan16.txt" "$tmp/plan.txt"
    [ "$(grep -cE "$rounds" "$tmp/plan16.txt")" -eq "$(grep -cw avx512_bf16 <(sort -u /proc/cpuinfo | grep flags))" ] &&
        [ "$(grep -cE "$rounds" "$tmp/plan16.txt")" -eq "$(grep -c '^\(winograd\|direct\)_last_bf16 ' "$tmp/plan16.txt")" ] &&
        ! grep -q _bf16 "$tmp/plan.txt" && values_are bf16 "$tmp/plan16.txt" && values_are bf16 "$tmp/plan.txt"
}
values_are() { # type, plan
    grep -qE "^memory per image: .*; between convolutions, .*, outputs are $1\$" "$2"
}
# No products are rounded to fp16.
fp16_plan_is_described() {
    "$train_cnn" --model vgg_mini --train.precision fp16 --describe-plan >"$tmp/plan16.txt" || return 1
    cat "$tmp/plan16.txt"
    ! grep -q bf16 "$tmp/plan16.txt" && values_are fp16 "$tmp/plan16.txt"
}
check "a plan in bf16 is described" bf16_plan_is_described
check "a plan in fp16 is described" fp16_plan_is_described
check "the exact plan skips no work" expect 0 "100.0 % done" "$train_cnn" \
    --model configs/models/keras_690k.yaml --kernels.plan exact --describe-plan
# Convolutions and dense layers have a choice each; the exact plan has no Winograd.
tuned_plan_is_described() {
    "$train_cnn" --model configs/models/keras_690k.yaml --train.batch_per_rank 8 --kernels.tune start \
        "$@" --describe-plan >"$tmp/tuned.txt" || return 1
    cat "$tmp/tuned.txt"
    grep -qE '^tuned on this machine for a batch of 8: conv1:[a-z_0-9]+ conv2:[a-z_0-9]+ conv3:[a-z_0-9]+ fc1:[a-z_0-9]+ fc2:[a-z_0-9]+ fc3:[a-z_0-9]+$' "$tmp/tuned.txt"
}
tuned_exact_plan_is_exact() {
    tuned_plan_is_described --kernels.plan exact && ! grep -q winograd "$tmp/tuned.txt"
}
# Both ranks record the same choice, and the weights are equal.
tuning_is_recorded() {
    mkdir "$tmp/tuned"
    "$mpiexec" -n 2 "$train_cnn" "${small[@]}" --train.epochs 1 --wait yield --kernels.tune start \
        --record "$tmp/tuned" >"$tmp/out.txt" &&
        grep -q "weights equal" "$tmp/out.txt" &&
        [ "$(cat "$tmp"/tuned/rank.*.jsonl | grep -o '"kernels_tuned": *"[^"]*"' | sort -u | tee /dev/stderr |
            grep -c ':[a-z_0-9]*"$')" -eq 1 ]
}
check "a tuned plan is described" tuned_plan_is_described
check "a tuned exact plan is exact" tuned_exact_plan_is_exact
check "tuning is recorded, the same on all ranks" tuning_is_recorded
check "tuning is not anything" expect 2 "kernels.tune: 'begin' is unknown; known: fixed start" \
    "$train_cnn" "${small[@]}" --kernels.tune begin
# Twelve rows of twenty with three classes; the network has five outputs.
own_images() {
    local folder=$tmp/own/images part n i labels
    mkdir -p "$folder"
    for part in "train 120" "t10k 60"; do
        n=${part#* } part=${part% *} labels=
        for ((i = 0; i < n; i++)); do
            labels+=\\$((i % 3))
        done
        {
            printf '\0\0\10\3\0\0\0%b\0\0\0\14\0\0\0\24' "\\0$(printf %o "$n")"
            yes 'a grey row of images' | head -c $((n * 240))
        } >"$folder/$part-images-idx3-ubyte"
        {
            printf '\0\0\10\1\0\0\0%b' "\\0$(printf %o "$n")"
            printf %b "$labels"
        } >"$folder/$part-labels-idx1-ubyte"
    done
    printf 'name: own\ninput: [1, 12, 20]\nclasses: 5\nlayers: [dense: {outputs: 5}]\n' >"$tmp/own/net.yaml"
    cat >"$tmp/own/spec.yaml" <<END
name: own
model: net.yaml
data: {set: idx, name: greys, path: $folder}
train: {global_batch: 40}
measure: {time: {warmup_steps: 1, steps: 2, launches: 1..1}, accuracy: {seeds: [1]}}
figures: []
END
    expect 0 "own  net 1,205 params | greys own" "$scalebench" run "$tmp/own/spec.yaml" --out "$tmp/own" || return 1
    grep '^own,.*,greys,own,' "$tmp/own/own/latest/summary.csv" || return 1
    expect 0 "skipped: model softmax_784 expects images of 1x28x28, but data set greys has images of 1x12x20" \
        "$scalebench" plan "$tmp/own/spec.yaml" --set "model=configs/models/softmax_784.yaml" || return 1
    expect 2 "data.samples = 200, but greys has 120 images to train on: expected 1..120, or 0 for all" \
        "$scalebench" plan "$tmp/own/spec.yaml" --set data.samples=200 || return 1
    expect 2 "data.samples = 200, but images has 120 images to train on" "$train_cnn" --model "$tmp/own/net.yaml" \
        --data.set idx --data.path "$folder" --train.global_batch 40 --data.samples 200 || return 1
    printf '\7' | dd of="$folder/t10k-labels-idx1-ubyte" bs=1 seek=67 conv=notrunc status=none || return 1
    local label="t10k-labels-idx1-ubyte: image 59 has label 7, but model own has 5 classes: expected labels 0..4"
    expect 2 "$tmp/own/spec.yaml:3:37: data.path: $label" "$scalebench" plan "$tmp/own/spec.yaml" &&
        expect 2 "$label" "$train_cnn" --model "$tmp/own/net.yaml" --data.set idx --data.path "$folder" --train.global_batch 40 ||
        return 1
    expect 2 "these files are not the files of MNIST" "$scalebench" run "$tmp/own/spec.yaml" --out "$tmp/own" \
        --set "data.set=mnist data.name=auto model=configs/models/softmax_784.yaml"
}

check "images of one's own" own_images

# Images as numpy.save writes them, labels as int64, train to the same digits.
own_arrays() {
    local folder=$tmp/own/images options=(--model "$tmp/own/net.yaml" --train.global_batch 40) form
    mkdir "$tmp/own/arrays"
    python3 - "$folder" "$tmp/own/arrays" <<'PY' || return 1
import struct, sys
def save(name, descr, shape, data):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head = head.ljust(128 - 10 - 1) + b"\n"
    with open(f"{sys.argv[2]}/{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data)
def read(name, header):
    with open(f"{sys.argv[1]}/{name}", "rb") as file:
        return file.read()[header:]
for part, name, n in ("train", "train", 120), ("t10k", "test", 60):
    save(name + "-images", "|u1", (n, 12, 20), read(part + "-images-idx3-ubyte", 16))
    labels = read(part + "-labels-idx1-ubyte", 8)
    save(name + "-labels", "<i8", (n,), struct.pack(f"<{n}q", *(min(label, 4) for label in labels)))
PY
    printf '\4' | dd of="$folder/t10k-labels-idx1-ubyte" bs=1 seek=67 conv=notrunc status=none || return 1
    for form in "idx $folder" "npy $tmp/own/arrays"; do
        "$train_cnn" "${options[@]}" --data.set "${form% *}" --data.path "${form#* }" >"$tmp/own/${form% *}.txt" 2>&1 || {
            cat "$tmp/own/${form% *}.txt"
            return 1
        }
        grep -o 'train loss .* test loss [0-9.]*' "$tmp/own/${form% *}.txt" >"$tmp/own/${form% *}.loss" || return 1
    done
    diff "$tmp/own/idx.loss" "$tmp/own/npy.loss"
}
check "they train alike as arrays of NumPy" own_arrays

# Colour images by numpy.save: four forms of one set, and two that are rejected.
saves_arrays() { # python, folder
    printf 'name: own\ninput: [3, 6, 8]\nclasses: 5\nlayers: [dense: {outputs: 5}]\n' >"$2/net.yaml"
    "$1" - "$2" <<'PY'
import os, sys, numpy
random = numpy.random.default_rng(1)
for part, n in ("train", 120), ("test", 60):
    x = random.integers(0, 256, (n, 3, 6, 8), dtype=numpy.uint8)
    y = random.integers(0, 5, n)
    last = x.transpose(0, 2, 3, 1)
    for form, images, labels in (
        ("planes", x, y.astype(numpy.uint8)), ("pixels", last, y), ("swapped", x, y.astype(">i4")),
        ("strided", numpy.repeat(x, 2, axis=0)[::2], y.astype(numpy.uint16)),
        ("fortran", numpy.asfortranarray(x), y), ("floats", (x / 255).astype(numpy.float32), y)):
        folder = os.path.join(sys.argv[1], form)
        os.makedirs(folder, exist_ok=True)
        numpy.save(os.path.join(folder, part + "-images.npy"), images)
        numpy.save(os.path.join(folder, part + "-labels.npy"), labels)
PY
}

trains_on() { # folder of arrays
    "$train_cnn" --model "$tmp/numpy/net.yaml" --train.global_batch 40 --data.set npy --data.path "$tmp/numpy/$1"
}

arrays_of_numpy() { # python
    local form
    mkdir "$tmp/numpy" && saves_arrays "$1" "$tmp/numpy" || return 1
    for form in planes pixels swapped strided; do
        expect 0 "test loss" trains_on "$form" || return 1
        grep -o 'train loss .* test loss [0-9.]*' "$tmp/expect.log" >"$tmp/numpy/$form.loss" &&
            diff "$tmp/numpy/planes.loss" "$tmp/numpy/$form.loss" || return 1
    done
    expect 2 "train-images.npy: expected C order, found Fortran order" trains_on fortran &&
        expect 2 "train-images.npy: found dtype '<f4' (floating point), expected uint8" trains_on floats &&
        grep -F "(x * 255).astype('uint8') if x is from 0 to 1" "$tmp/expect.log"
}
if python=$(python_with numpy); then
    check "arrays of numpy.save in colour train alike" arrays_of_numpy "$python"
else
    lacks "arrays of numpy.save in colour train alike" numpy
fi
check "a plan is one of a model" expect 2 "--model is missing" "$train_cnn" --describe-plan
finds_a_net_from_any_folder() {
    (cd "$tmp" && env -u SCALEBENCH_HOME "$train_cnn" --model lenet_21k --train.global_batch 8 --describe-plan)
}
check "a network is found from any folder" finds_a_net_from_any_folder
check "a model that is not there has no plan" expect 2 "no_such_net" "$train_cnn" --model no_such_net --describe-plan
check "model is asked for" expect 2 "--model is missing" "$train_cnn"
check "unknown option" expect 2 "--bogus" "$train_cnn" --bogus
check "an unknown option names the nearest" expect 2 "value is missing; nearest '--train.lr'; see --help" "$train_cnn" --lr=1
check "a timeline is of a record alone" expect 2 "train_cnn: --measure.timeline has no effect without --record" \
    "$train_cnn" --model "$model" --run time --measure.timeline true
check "replayed communication is of a record alone" expect 2 "train_cnn: --measure.replay has no effect without --record" \
    "$train_cnn" --model "$model" --run time --measure.replay 5
check "one dash is one too few" expect 2 "train_cnn: -train.lr: unknown option; write --train.lr" "$train_cnn" -train.lr 0.1
check "a checkpoint that is not there is named with its option" \
    expect 2 "--checkpoint.resume $tmp/none: cannot be opened: No such file or directory; expected a safetensors file, 'auto' or 'no'" \
    "$train_cnn" --model "$model" --checkpoint.resume "$tmp/none"
check "steps are left out of a record alone" expect 2 "train_cnn: --no-steps has no effect without --record" \
    "$train_cnn" --model "$model" --no-steps
check "one description at a time" expect 2 "expected only one of --describe" "$train_cnn" --describe --identify
check "messages name an option as it was typed" expect 2 "train_cnn: --rate: 'abc' is not a number" "$train_cnn" --model "$model" --rate abc
check "unknown strategy names the nearest" expect 2 "allreduce" \
    "$train_cnn" --model "$model" --sync.strategy=allreduec
check "variant of another strategy" expect 2 "known: usual plain pickled" \
    "$train_cnn" --model "$model" --sync.strategy reduce_bcast --sync.variant linear
check "word that is no option" expect 2 "'extra' is not an option" "$train_cnn" --model "$model" extra
check "an error is printed once" speaks_once
check "two batch sizes" expect 2 "train.batch_per_rank = 8 times train.accumulate = 1 times ranks = 1 is 8 images, but train.global_batch = 100" \
    "$train_cnn" "${small[@]}" --train.batch_per_rank 8
check "batch larger than the data" expect 2 "train.global_batch = 5000: expected at most" \
    "$mpiexec" -n 1 "$train_cnn" "${small[@]}" --train.global_batch 5000
check "a batch without an image for each rank" \
    expect 2 "train.global_batch = 2: expected at least one image for each of 3 ranks, 3 in all" \
    "$mpiexec" -n 3 "$train_cnn" "${small[@]}" --train.global_batch 2
cores=$(nproc)
check "more threads than cores are named" \
    expect 0 "warning: place.threads_per_rank: $((cores + 1)) threads of rank 0 share $cores core" \
    "$train_cnn" "${small[@]}" --run time --measure.time.steps 2 --place.threads_per_rank $((cores + 1))
check "a rate of nothing" expect 2 "--rate 0: expected 0.001..1000000 GFLOP/s" \
    "$train_cnn" "${small[@]}" --run time --rate 0
check "folder without data" expect 2 "$tmp" \
    "$mpiexec" -n 2 "$train_cnn" --model "$model" --data.path "$tmp" --train.global_batch 8
finish
