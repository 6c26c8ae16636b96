#!/usr/bin/env bash
# Tests that PyTorch, reading a checkpoint of train_cnn, predicts the same class for every test image: names, shapes,
# layouts, the order of flattening and every layer agree.
# tier: rest
# cores: 1
# seconds: 60
set -u
. bench/tests/lib/tap.sh

# Sends a command to a process that keeps PyTorch loaded and prints its answer.
ask() { # words
    local line
    printf '%q ' "$@" >&"${torch[1]}" && echo >&"${torch[1]}" || return 1
    while IFS= read -r line <&"${torch[0]}"; do
        [[ $line != "status "* ]] || return "${line#status }"
        echo "$line"
    done
    return 1
}

# Chooses real MNIST, else generated images: $set, $data.
find_data() {
    data=$SCALEBENCH_REAL_DATA/mnist
    ! compgen -G "$data/t10k-images-idx3*" >/dev/null || return 0
    set=idx data=$tmp/drawn
    mkdir -p "$data"
    ask draw "$data"
}

# Compares the predictions of the trainer and of PyTorch, both reading $2, for each test image; prints the predicted classes.
compare_predictions() { # model, file of weights
    local model=$1 file=$2
    "$mpiexec" -n 1 "$train_cnn" --model "$model" --data.set "$set" --data.path "$data" --run evaluate \
        --checkpoint.start "$file" --predictions "$tmp/$model.txt" || return 1
    ask compare "$model" "$file" "$data" "$tmp/$model.txt"
}

predicts_the_same() { # ranks, model, options
    local ranks=$1 model=$2
    shift 2
    "$mpiexec" -n "$ranks" "$train_cnn" --model "$model" --data.set "$set" --data.path "$data" \
        --train.global_batch 60 --wait yield --checkpoint.every_epochs 1 \
        --checkpoint.path "$tmp/$model" "$@" || return 1
    compare_predictions "$model" "$tmp/$model" >"$tmp/$model.log"
    local status=$?
    cat "$tmp/$model.log"
    # An untrained network could agree by predicting a single class.
    [ "$status" -eq 0 ] && grep -qE "classes \[$classes" "$tmp/$model.log"
}

takes_what_pytorch_trained() { # model, type of numbers and prefix of names (PyTorch's by default)
    ask train "$1" "$tmp/$1.torch" "$data" "${@:2}" || return 1
    compare_predictions "$1" "$tmp/$1.torch" >"$tmp/$1.log"
    local status=$?
    cat "$tmp/$1.log"
    [ "$status" -eq 0 ] && grep -qE 'classes \[[0-9], [0-9]' "$tmp/$1.log"
}

# Reads the copy of checkpoint.dtype with PyTorch and the trainer; its parameters equal the checkpoint's as PyTorch rounds
# them.
copies_for_pytorch() { # model, type
    predicts_the_same 1 "$1" --data.samples 600 --train.epochs 2 --train.lr 0.05 --train.momentum 0.5 \
        --checkpoint.dtype "$2" || return 1
    ask narrowed "$tmp/$1" "$tmp/$1.$2" "${2^^}" || return 1
    compare_predictions "$1" "$tmp/$1.$2"
}

# Tests the comparison itself: it finds one wrong prediction.
finds_a_difference() {
    awk 'NR == 7 { $1 = ($1 + 1) % 10 } { print }' "$tmp/lenet_21k.txt" >"$tmp/wrong.txt"
    expect 1 "1 told differently" ask compare lenet_21k \
        "$tmp/lenet_21k" "$data" "$tmp/wrong.txt"
}

if python=$(python_with torch); then
    coproc torch { exec "$python" bench/tests/lib/pytorch_net.py serve; }
    set=mnist
    find_data
    classes="0, 1, 2, 3, 4, 5, 6, 7, 8, 9\\]"
    check "lenet_21k makes the same predictions in PyTorch" predicts_the_same 1 lenet_21k \
        --data.samples 6000 --train.lr 0.05 --train.momentum 0.5
    check "keras_690k makes the same predictions in PyTorch" predicts_the_same 2 keras_690k \
        --data.samples 3000 --train.optimizer adam --train.lr 0.001
    check "a difference is found" finds_a_difference
    set=idx data=$tmp/grey
    mkdir "$data"
    ask draw "$data" 100 300
    for model in softmax_784 lenet_21k keras_690k keras_1200k; do
        check "$model is taken from PyTorch" takes_what_pytorch_trained "$model"
    done
    for type in F16 BF16 F64; do
        check "lenet_21k is taken from PyTorch in $type" takes_what_pytorch_trained lenet_21k "$type"
    done
    check "names of DDP and torch.compile are taken" takes_what_pytorch_trained lenet_21k F32 module._orig_mod.
    set=cifar10 data=$tmp/colours classes="[0-9], [0-9]"
    mkdir "$data"
    ask draw_colours "$data"
    for model in cifar_62k vgg_mini vgg11_bn; do
        check "$model is taken from PyTorch" takes_what_pytorch_trained "$model"
    done
    check "vgg_mini with running statistics is taken in BF16 with a prefix" \
        takes_what_pytorch_trained vgg_mini BF16 module.
    classes="[0-9]" # a single class suffices, since parameters are compared
    for type in bf16 f16; do
        check "a copy in $type equals PyTorch's conversion of the checkpoint" copies_for_pytorch vgg_mini "$type"
    done
    classes="[0-9], [0-9]"
    check "vgg_mini makes the same predictions in PyTorch" predicts_the_same 2 vgg_mini \
        --train.epochs 3 --train.lr 0.05 --train.momentum 0.9
    check "the checkpoint counts the batches" grep -qx "batches 51" "$tmp/vgg_mini.log"
    check "vgg11_bn makes the same predictions in PyTorch" predicts_the_same 1 vgg11_bn \
        --checkpoint.start "$tmp/vgg11_bn.torch" --data.samples 60 --train.lr 1e-4
    check "the count of batches continues from PyTorch's" grep -qx "batches 5" "$tmp/vgg11_bn.log"
else
    lacks "PyTorch predicts what the trainer predicts" torch
fi
finish
