#!/usr/bin/env bash
# Tests the kernels on 64-bit ARM in qemu, in single precision. `make check-arm64` also runs random networks, which take
# minutes, the statistics of base, which are plain C, and double precision. qemu cannot run test_gradients and test_kinks,
# which start a second program, nor test_bf16.
# tier: rest
# cores: 1
# seconds: 200
set -u
. bench/tests/lib/tap.sh

if [ "$(uname -m)" = aarch64 ]; then
    skip "the kernels' tests for 64-bit ARM" "this machine runs them as they are"
    finish
fi
if [ -n "$(ci/arm64.sh missing)" ]; then
    ci/arm64.sh missing | sed 's/^/# /'
    lacks "the kernels' tests for 64-bit ARM" arm64
    finish
fi

# Starts the longest first, since two run at a time.
names=(test_conv3x3 test_winograd test_layers test_tune)
for source in kernels/tests/test_*.c kernels/*/tests/test_*.c comm/cost/tests/test_*.c; do
    name=$(basename "$source" .c)
    [[ " ${names[*]} test_random_nets test_gradients test_kinks test_bf16 test_homogeneity test_two_samples " == *" $name "* ]] || names+=("$name")
done
ci/arm64.sh run "${names[@]}"
