#!/usr/bin/env bash
# Tests that training on real MNIST reaches the accuracies that the literature gives for these networks.
# tier: rest
# cores: 1
set -u
. bench/tests/lib/tap.sh

mnist=$SCALEBENCH_REAL_DATA/mnist

# Prints the test accuracy of the last epoch in hundredths of a per cent.
accuracy() {
    "$mpiexec" -n 1 "$train_cnn" --data.path "$mnist" "$@" | tee /dev/stderr |
        sed -nE 's/^epoch .*test loss .* accuracy ([0-9]+)\.([0-9]+) %.*/\1\2/p' | tail -n 1
}

# Takes the median of three seeds: rounding differs between instruction sets and moves a single run by some tenths.
reaches() { # hundredths of a per cent, options
    local wanted=$1 seed found
    shift
    found=$(for seed in 1 2 3; do
        accuracy "$@" --seed "$seed"
    done | sort -n | sed -n 2p)
    [ "$found" -ge "$wanted" ]
}

if compgen -G "$mnist/train-images*" >/dev/null; then
    check "keras_690k passes 97 % after one epoch" reaches 9700 --model keras_690k \
        --train.optimizer adam --train.lr 0.001 --train.global_batch 128
    check "softmax_784 passes 91 % after one epoch" reaches 9100 --model softmax_784 \
        --train.optimizer adam --train.lr 0.001 --train.global_batch 128
    check "lenet_21k passes 96 % after one epoch" reaches 9600 --model lenet_21k \
        --train.optimizer sgd --train.lr 0.05 --train.momentum 0.5 --train.global_batch 64
else
    skip "accuracy on real MNIST" "no MNIST in \$SCALEBENCH_DATA or ../shared/data"
fi
finish
