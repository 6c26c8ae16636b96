#!/usr/bin/env bash
# Compares a step's gradient, tensor by tensor, with PyTorch's: equal in double; in float, with the exact plan, the error is
# at most twice PyTorch's. kernels/net/tests/gradients.csv has gradients of one PyTorch, for machines without it.
# tier: rest
# cores: 1
# seconds: 60
set -u
. bench/tests/lib/tap.sh

compare() { # plan, nets
    "$python" bench/tests/lib/pytorch_gradients.py compare "$build/tests" "$@"
}

# Tests the comparison itself: it finds an error above a bound. The error of Winograd's algorithm relative to PyTorch's
# depends on the library that PyTorch chooses for the processor.
finds_a_difference() {
    BOUND=0.1 expect 1 "vgg_mini, fast" compare fast vgg_mini
}

if python=$(python_with torch); then
    check "exact gradients of small nets are as near as PyTorch's" compare exact softmax_784 \
        keras_690k lenet_21k cifar_62k keras_1200k vgg_mini
    check "gradients of vgg11_bn are right" compare exact vgg11_bn
    check "a gradient that is further off is found" finds_a_difference
else
    lacks "exact gradients are as near as PyTorch's" torch
fi
finish
