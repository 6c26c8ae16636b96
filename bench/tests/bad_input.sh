#!/usr/bin/env bash
# Every malformed file of the corpus, through the commands a user types: exit status 2, the place and the
# reason that its first line states; nothing runs.
set -u
. bench/tests/lib/tap.sh

reason() { # file
    sed -n '1s/^# expect: //p' "$1"
}

for file in bench/tests/bad/spec/*.yaml; do
    check "$(basename "$file")" expect 2 "$file:$(reason "$file")" "$scalebench" plan "$file"
done

for file in bench/tests/bad/models/*.yaml; do
    check "model $(basename "$file")" expect 2 "$file:$(reason "$file")" "$scalebench" model "$file"
done

# Data: a spec whose data cannot be read fails its points, and says why in the table and the CSV.
mkdir "$tmp/mnist"
for name in train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte \
    t10k-labels-idx1-ubyte; do
    printf '\0\0\10\11............' >"$tmp/mnist/$name"
done
cat >"$tmp/torn.yaml" <<SPEC
name: torn
model: softmax_784
data: {path: $tmp/mnist}
train: {global_batch: 100}
measure: {time: {launches: 1..1}}
SPEC
train() {
    "$mpiexec" -n 1 "$train_cnn" --model softmax_784 --train.global_batch 100 "$@"
}
check "trainer: wrong magic number" expect 2 "byte 0: magic number" train --data.path "$tmp/mnist"
check "trainer: folder that is not there" expect 2 "$tmp/none" train --data.path "$tmp/none"
check "campaign: unreadable data fail the point with the reason" expect 1 "magic number" \
    "$scalebench" run "$tmp/torn.yaml" --out "$tmp/results"
check "spec that is not there" expect 2 "nowhere.yaml" "$scalebench" run nowhere.yaml
check "unknown option in --set" expect 2 "SET:1:" "$scalebench" plan quick.yaml --set "train.lrr=1"
check "points that cannot run here" expect 3 "no point" "$scalebench" run quick.yaml \
    --set "matrix.ranks=[128] baseline={ranks: 128}" --out "$tmp/results"
finish
