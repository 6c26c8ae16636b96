#!/usr/bin/env bash
# Tests checkpoints: a run resumes from one, also if it was killed while writing it, and a campaign resumes a killed
# accuracy run.
# cores: 2
set -u
. bench/tests/lib/tap.sh

model=configs/models/softmax_784.yaml
file=$tmp/c.safetensors
small=(--model "$model" --data.set digits --data.samples 2000 --train.global_batch 100
    --train.optimizer adam --wait yield --checkpoint.path "$file")

train() { # ranks, options
    local ranks=$1
    shift
    "$mpiexec" -n "$ranks" "$train_cnn" "${small[@]}" "$@"
}

# Prints rank 0's hash of the weights after the last step.
last_hash() { # record folder
    grep '"type":"step"' "$1/rank.0.jsonl" | tail -n 1 | grep -o '"hash":"[0-9a-f]*"'
}

# Prints the lines of epochs and evaluations without times.
epochs() { # record folder
    grep -E '"type":"(epoch|eval)"' "$1/rank.0.jsonl" | sed -E 's/"seconds":[^,]*,//'
}

goes_on_as_if_it_had_never_stopped() {
    mkdir -p "$tmp/whole" "$tmp/first" "$tmp/second"
    train 2 --train.epochs 3 --record "$tmp/whole" || return 1
    train 2 --train.epochs 2 --checkpoint.every_steps 23 --record "$tmp/first" || return 1
    train 2 --train.epochs 3 --checkpoint.resume auto --record "$tmp/second" | tee "$tmp/log" || return 1
    grep -q "after 23 steps: epoch 2, step 3 of 20" "$tmp/log" || return 1
    grep -q '"type":"hello".*"resumed_steps":23' "$tmp/second/rank.1.jsonl" || return 1
    grep -q '"type":"end".*"steps":40.*"checkpoints":1' "$tmp/first/rank.0.jsonl" || return 1
    diff <(epochs "$tmp/whole" | cut -c1-60) <(epochs "$tmp/second" | cut -c1-60) || return 1
    [ "$(last_hash "$tmp/whole")" = "$(last_hash "$tmp/second")" ]
}

nothing_is_left_to_do() {
    rm -f "$file"
    train 1 --checkpoint.every_epochs 1 || return 1
    expect 0 "no epochs left to train: 1 of 1 are done" train 1 --checkpoint.resume auto \
        --predictions "$tmp/p.txt" && [ "$(sort -u "$tmp/p.txt" | wc -l)" -gt 5 ]
}

# After two epochs the weights are better than after the one epoch of a run.
fewer_epochs_are_refused() {
    train 1 --checkpoint.every_epochs 1 --checkpoint.resume auto --train.epochs 2 || return 1
    expect 2 "train.epochs: the checkpoint was written after 2 epochs and 0 steps, but this run has only 1 epochs. Use more epochs" \
        train 1 --checkpoint.resume auto || return 1
    ! grep "nothing is left" "$tmp/expect.log"
}

# The saved model is the trained one.
evaluates_what_was_saved() {
    rm -f "$file"
    train 2 --checkpoint.every_epochs 1 --predictions "$tmp/trained.txt" || return 1
    train 3 --run evaluate --checkpoint.start "$file" --seed 5 --predictions "$tmp/saved.txt" || return 1
    [ "$(wc -l <"$tmp/saved.txt")" -eq 10000 ] && cmp "$tmp/trained.txt" "$tmp/saved.txt"
}

# Checkpoints must not replace the weights from which each run starts.
keeps_the_start() {
    [ -e "$file" ] || train 1 --checkpoint.every_epochs 1 || return 1
    printf '%s\n' "name: start" "model: $model" "data: {set: digits}" "train: {global_batch: 64, epochs: 1}" \
        "measure: {time: {launches: 0}, accuracy: {seeds: [1]}}" "checkpoint: {start: $file, path: $file, every_epochs: 1}" >"$tmp/start.yaml"
    expect 2 "checkpoint.path is the file of checkpoint.start" "$scalebench" plan "$tmp/start.yaml"
}

# Seeds change neither weights of a file nor the order of images that are not shuffled.
notes_equal_seeds() {
    [ -e "$file" ] || train 1 --checkpoint.every_epochs 1 || return 1
    printf '%s\n' "name: seeds" "model: $model" "data: {set: digits, samples: 640}" "train: {global_batch: 64, shuffle: false}" \
        "measure: {time: {launches: 0}, accuracy: {seeds: [1, 2]}}" "checkpoint.start: $file" >"$tmp/seeds.yaml"
    expect 0 "accuracy runs of all seeds are identical" "$scalebench" run "$tmp/seeds.yaml" --out "$tmp/seeds"
}

# The same tests for a network without biases.
goes_on_without_biases() {
    local tmp=$tmp/unbiased
    local file=$tmp/c.safetensors small=("${small[@]}")
    small[1]=$tmp/net.yaml small[-1]=$file
    mkdir "$tmp" || return 1
    cat >"$tmp/net.yaml" <<END
name: unbiased
input: [1, 28, 28]
classes: 10
layers:
  - conv2d: {channels: 4, kernel: 5, stride: 4, bias: false}
  - relu
  - dense: {outputs: 10, bias: false}
END
    goes_on_as_if_it_had_never_stopped && copies_do_not_hinder_resuming &&
        weights_of_other_precisions_start_a_run && evaluates_what_was_saved || return 1
    grep -aq '"conv2d1.weight"' "$file" && ! grep -aq '\.bias' "$file"
}

# With few images per step and a network of 8 MB, the run spends nearly all its time writing.
writing=(--model keras_690k --data.set digits --data.samples 200 --train.global_batch 4
    --train.optimizer adam --wait yield --train.epochs 2 --checkpoint.every_steps 1)

killed_over_writing_goes_on() {
    local mark="over-$$" pid victim
    "$mpiexec" -n 2 "$train_cnn" "${writing[@]}" --checkpoint.path "$tmp/big" \
        --version-string "$mark" >"$tmp/killed.log" 2>&1 &
    pid=$!
    until_true test -e "$tmp/big" || return 1
    victim=$(process_of_rank "$mark" 0)
    until_true test -e "$tmp/big.tmp" || return 1
    kill -KILL "$victim"
    wait "$pid" && return 1
    gone "$mark" || return 1
    ls -l "$tmp"
    expect 0 "resumed from $tmp/big" "$mpiexec" -n 2 "$train_cnn" "${writing[@]}" \
        --checkpoint.every_steps 0 --checkpoint.path "$tmp/big" --checkpoint.resume auto
}

# The checkpoint keeps every bit: a run that wrote copies resumes like one that did not. A copy can initialise a run, not
# resume one.
copies_do_not_hinder_resuming() {
    local copy=$tmp/c.bf16.safetensors
    rm -f "$file"
    mkdir -p "$tmp/narrow"
    train 2 --train.epochs 2 --checkpoint.every_steps 23 --checkpoint.dtype bf16 || return 1
    [ "$(stat -c %s "$copy")" -lt 17000 ] || return 1 # 7850 parameters of 2 bytes
    train 2 --train.epochs 3 --checkpoint.resume auto --record "$tmp/narrow" || return 1
    [ "$(last_hash "$tmp/whole")" = "$(last_hash "$tmp/narrow")" ] || return 1
    expect 0 "weights from $copy" train 2 --checkpoint.start "$copy" || return 1
    expect 2 "$copy: not a checkpoint of a run: " train 2 --checkpoint.resume "$copy"
}

# The double-precision trainer reads weights of single precision; the other way it reports rounding.
weights_of_other_precisions_start_a_run() {
    "$mpiexec" -n 1 "${train_cnn}_f64" "${small[@]}" --checkpoint.start "$file" --checkpoint.every_epochs 1 \
        --checkpoint.path "$tmp/wide" || return 1
    expect 0 "$tmp/wide: F64 tensors are rounded to F32" train 1 --checkpoint.start "$tmp/wide"
}

copies_that_cannot_be_written_are_found_first() {
    mkdir "$tmp/d.f16.safetensors" || return 1
    expect 2 "checkpoint.dtype: $tmp/d.f16.safetensors cannot be written: expected a regular file, found a folder" train 1 \
        --checkpoint.every_epochs 1 --checkpoint.path "$tmp/d.safetensors" --checkpoint.dtype f16 || return 1
    ! grep "^epoch" "$tmp/expect.log"
}

# Web pages, zip archives and Git LFS pointers instead of weights.
other_files_are_named() {
    printf '<!DOCTYPE html><html>404</html>' >"$tmp/page"
    printf 'PK\3\4\0\0\10\10\0\0\0\0' >"$tmp/net.pt"
    printf 'version https://git-lfs.github.com/spec/v1\n' >"$tmp/pointer"
    expect 2 "$tmp/page: begins with '<!DOCTYPE html' like a web page; expected safetensors" \
        train 2 --checkpoint.start "$tmp/page" &&
        expect 2 "$tmp/net.pt: begins with 'PK' like a zip archive" train 2 --checkpoint.start "$tmp/net.pt" &&
        grep "safetensors.torch.save_file" "$tmp/expect.log" &&
        expect 2 "Run git lfs pull" train 2 --checkpoint.start "$tmp/pointer"
}

cut_files_are_refused() {
    head -c 9000 "$file" >"$tmp/cut"
    expect 2 "$tmp/cut: offset 9000: the file ends; expected tensor 'fc.weight'" \
        train 2 --checkpoint.resume "$tmp/cut" || return 1
    [ "$(grep -c "the file ends" "$tmp/expect.log")" -eq 1 ]
}

other_precision_is_refused() {
    expect 2 "tensor 'fc.weight' is F32 [10,784]; this model expects F64 [10,784] in an f64 build" \
        "$mpiexec" -n 1 "${train_cnn}_f64" "${small[@]}" --checkpoint.resume "$file"
}

cat >"$tmp/campaign.yaml" <<END
name: killed
scaling: strong
model: softmax_784
data: {set: digits, samples: 2000}
train: {optimizer: adam, global_batch: 100, epochs: 4000}
checkpoint: {every_epochs: 1, resume: auto}
measure: {time: {launches: 0..0}, accuracy: {seeds: [3]}}
figures: []
END

# Starts the campaign with SIGINT enabled, as a terminal does, and interrupts it when the file has the line: 4000 epochs
# would take minutes.
interrupt_at() { # line, file
    set -m
    "$scalebench" run "$tmp/campaign.yaml" --out "$tmp/results" &
    local runner=$! status=0
    set +m
    until_true eval "grep -qs '$1' $2" || status=1
    kill -INT "$runner"
    wait "$runner"
    gone "$tmp/results/killed" && return "$status"
}

campaign_goes_on() {
    local launches="$tmp/results/killed/latest/launches/*"
    interrupt_at "^epoch 3/" "$launches/seed3-000/log.txt" &&
        interrupt_at "^resumed from .*seed3.safetensors after" "$launches/seed3-001/log.txt"
}

# Rejected before the first epoch; the file is kept.
replaces_files_only() {
    local kind
    mkdir "$tmp/kinds" "$tmp/kinds/folder" && mkfifo "$tmp/kinds/FIFO" || return 1
    mknod "$tmp/kinds/device" c 1 7 || rm -f "$tmp/kinds/device"
    for kind in "$tmp"/kinds/*; do
        stat -c "%n %F" "$tmp"/kinds/* >"$tmp/kinds.before"
        expect 2 "checkpoint.path: $kind cannot be written: expected a regular file, found a ${kind##*/}" \
            train 2 --checkpoint.every_epochs 1 --checkpoint.path "$kind" || return 1
        stat -c "%n %F" "$tmp"/kinds/* | cmp - "$tmp/kinds.before" || return 1
        ! grep "^epoch" "$tmp/expect.log" || return 1
    done
}

# Writes to an existing file, and to a new one.
writes_through_links() {
    mkdir -p "$tmp/far" && touch "$tmp/far/old" && ln -s far/old "$tmp/old" && ln -s "$tmp/far/new" "$tmp/new" || return 1
    local name
    for name in old new; do
        train 2 --checkpoint.every_epochs 1 --checkpoint.path "$tmp/$name" || return 1
        [ -L "$tmp/$name" ] && [ -s "$tmp/far/$name" ] && [ ! -e "$tmp/$name.tmp" ] || return 1
        expect 0 "no epochs left to train" train 1 --checkpoint.path "$tmp/$name" --checkpoint.resume auto ||
            return 1
    done
}

# `timeout` ends a hanging command.
waits_for_no_fifo() {
    mkfifo "$tmp/fifo" && mkdir "$tmp/data" && mkfifo "$tmp/data/train-images-idx3-ubyte" || return 1
    touch "$tmp/data/train-labels-idx1-ubyte" "$tmp"/data/t10k-{images-idx3,labels-idx1}-ubyte
    local refused="expected a regular file, found a FIFO"
    expect 2 "$tmp/fifo: cannot be opened: $refused" timeout 60 "$mpiexec" -n 2 "$train_cnn" "${small[@]}" \
        --checkpoint.resume "$tmp/fifo" &&
        expect 2 "train-images-idx3-ubyte: cannot be opened: $refused" timeout 60 "$mpiexec" -n 1 \
            "$train_cnn" --model "$model" --train.global_batch 100 --data.path "$tmp/data" &&
        expect 2 "$tmp/fifo:1:1: " timeout 60 "$scalebench" plan "$tmp/fifo" &&
        expect 2 "$tmp/fifo cannot be written" timeout 60 "$mpiexec" -n 1 "$train_cnn" "${small[@]}" \
            --predictions "$tmp/fifo"
}

check "a resumed run equals one that never stopped" goes_on_as_if_it_had_never_stopped
check "checkpoints do not replace the weights of the start" keeps_the_start
check "seeds that change nothing are noted" notes_equal_seeds
check "copies in 16 bits leave the checkpoint whole" copies_do_not_hinder_resuming
check "weights of other precisions start a run" weights_of_other_precisions_start_a_run
check "a copy that cannot be written is found first" copies_that_cannot_be_written_are_found_first
check "files of other kinds are named" other_files_are_named
check "a run that was at its end has nothing left to do" nothing_is_left_to_do
check "a run of fewer epochs than its checkpoint is refused" fewer_epochs_are_refused
check "a saved model makes the predictions of the trained model" evaluates_what_was_saved
check "so does a net without biases" goes_on_without_biases
check "a run killed while it writes a checkpoint resumes" killed_over_writing_goes_on
check "a cut file is refused once, with its place" cut_files_are_refused
check "numbers of the other precision are refused" other_precision_is_refused
check "a killed campaign resumes inside its accuracy run" campaign_goes_on
check "without a checkpoint auto begins anew" expect 0 "checkpoint $tmp/none not found: starting from the first step" \
    train 1 --checkpoint.path "$tmp/none" --checkpoint.resume auto
check "a named checkpoint that does not exist is refused" expect 2 "$tmp/none: cannot be opened: No such file" \
    train 2 --checkpoint.resume "$tmp/none"
check "a checkpoint replaces files only" replaces_files_only
check "a checkpoint is written through links" writes_through_links
check "nobody waits for a FIFO" waits_for_no_fifo
check "a spec may come through a pipe" expect 0 "ranks=2 allreduce" "$scalebench" plan <(cat configs/quick.yaml)
check "another seed is refused" expect 2 "seed: the checkpoint has '1', this run '2'" \
    train 2 --checkpoint.resume "$file" --seed 2
check "another number of ranks is reported" expect 0 "of allreduce on 2 ranks, this run uses allreduce on 3" \
    train 3 --checkpoint.resume "$file" --train.epochs 2
check "evaluation asks for weights" expect 2 "--checkpoint.start is missing" train 1 --run evaluate
check "a timed run predicts nothing" expect 2 "--run time does not evaluate" \
    train 1 --run time --predictions "$tmp/p.txt"
finish
