#!/usr/bin/env bash
# The kernels on 64-bit ARM, under qemu. In single precision their tests but random nets, which take
# minutes; in double precision, which is there for proofs and not for speed, those with finite
# differences that do not. `make check-arm64` runs the rest as well.
# tier: rest
# cores: 1
# seconds: 300
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

# The longest first: two run at a time.
names=(test_winograd test_layers_f64 test_layers test_homogeneity test_tune test_batchnorm_f64 test_net_f64)
for source in kernels/tests/test_*.c kernels/*/tests/test_*.c comm/cost/tests/test_*.c; do
    name=$(basename "$source" .c)
    [[ " ${names[*]} test_random_nets " == *" $name "* ]] || names+=("$name")
done
ci/arm64.sh run "${names[@]}"
