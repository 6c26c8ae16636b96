#!/usr/bin/env bash
# Tests measure.noise_scale: accuracy runs estimate the gradient noise scale, CSV files have it, and strategies that send or
# shard gradients differently find the same values. Also tests the recipe of configs/README.md.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh

cat >"$tmp/noise.yaml" <<'SPEC'
name: noise
model: lenet_21k
data: {set: digits, samples: 1000}
train: {global_batch: 96, lr: 0.05, epochs: 2}
place: {oversubscribe: allow}
cases:
  - {label: one rank, ranks: 1, sync.strategy: none}
  - {label: plain, ranks: 2, sync.strategy: allreduce}
  - {label: sharded, ranks: 2, sync: {strategy: allreduce, zero: 3, zero_persist: 0}}
  - {label: buckets, ranks: 2, sync: {strategy: bucketed, overlap: poll_layers}}
  - {label: alone, ranks: 2, sync: {strategy: local_sgd, period: 2}}
measure:
  time: {warmup_steps: 1, steps: 2, launches: 1..1}
  accuracy: {seeds: [1, 2]}
  noise_scale: true
figures: []
SPEC

runs() {
    "$scalebench" run "$tmp/noise.yaml" --out "$tmp/results"
}

columns_have_it() {
    python3 - "$tmp/results/noise/latest" <<'PY'
import csv, statistics, sys
def read(name):
    with open(f"{sys.argv[1]}/{name}.csv", newline="") as f:
        return list(csv.DictReader(f))
epochs, points = read("epochs"), {r["case"]: r for r in read("summary")}
def numbers(case, column):
    return [r[column] for r in epochs if r["case"] == case]
for case in ("one rank", "alone"):
    assert set(numbers(case, "noise_scale") + numbers(case, "grad_norm2")) == {""}, case
    assert points[case]["noise_scale"] == "", points[case]
plain = [r for r in epochs if r["case"] == "plain"]
assert len(plain) == 4
ratios = []
for seed in "12":
    own = [r for r in plain if r["seed"] == seed]
    for r in own:
        ratio = float(r["grad_variance"]) / float(r["grad_norm2"])
        assert r["noise_scale"] == "" if ratio < 0 else abs(float(r["noise_scale"]) / ratio - 1) < 1e-8, r
    ratios.append(sum(float(r["grad_variance"]) for r in own) / sum(float(r["grad_norm2"]) for r in own))
found = points["plain"]
assert all(0 < ratio < 1e6 for ratio in ratios), ratios
assert abs(float(found["noise_scale"]) / statistics.median(ratios) - 1) < 1e-8, found
assert abs(float(found["noise_scale_lo"]) / min(ratios) - 1) < 1e-8, found
assert abs(float(found["noise_scale_hi"]) / max(ratios) - 1) < 1e-8, found
for case in ("sharded", "buckets"): # weights are equal, sums of squares have another order
    for a, b in zip(numbers("plain", "grad_variance"), numbers(case, "grad_variance")):
        assert abs(float(a) / float(b) - 1) < 1e-5, (case, a, b)
PY
}

# The sum over ranks at the end of an epoch is not part of a step, so steps make as many calls as without it.
leaves_calls_unchanged() {
    local option
    for option in true false; do
        "$mpiexec" -n 2 "$train_cnn" --model lenet_21k --data.set digits --data.samples 200 --train.global_batch 50 \
            --train.epochs 2 --wait yield --record "$tmp" --measure.noise_scale "$option" || return 1
        grep -h '"type":"end"' "$tmp"/rank.*.jsonl | grep -o '"\(calls\|bytes_payload\|bytes_wire\)":[0-9]*' >"$tmp/$option"
        grep -q '"grad_norm2":-\?[0-9]' "$tmp/rank.0.jsonl" && echo known >>"$tmp/known.$option"
    done
    [ -s "$tmp/true" ] && cmp "$tmp/true" "$tmp/false" && [ -f "$tmp/known.true" ] && [ ! -f "$tmp/known.false" ]
}

refuses() {
    expect 2 "sync.strategy = gossip" "$mpiexec" -n 2 "$train_cnn" --model lenet_21k --data.set digits \
        --sync.strategy gossip --measure.noise_scale true || return 1
    expect 2 "only with --run accuracy" "$train_cnn" --model lenet_21k --data.set digits --run time --measure.noise_scale true ||
        return 1
    expect 2 "it needs measure.noise_scale" "$scalebench" plan quick --set 'checks=["noise_scale > 1"]'
}

recipe_runs() {
    local words
    read -ra words < <(grep -o 'build/scalebench run configs/examples/noise_scale[^`]*' configs/README.md)
    [ ${#words[@]} -gt 2 ] && "$scalebench" "${words[@]:1}" --out "$tmp/recipe" &&
        [ -s "$tmp/recipe/noise_scale/latest/line.svg" ]
}

check "a campaign estimates the noise scale" runs
if python_with csv >/dev/null; then
    check "columns have the estimates, where strategies sum exactly" columns_have_it
else
    lacks "columns have the estimates, where strategies sum exactly" python3
fi
check "calls and bytes of steps are unchanged" leaves_calls_unchanged
check "other strategies and timed runs are refused" refuses
check "the recipe of configs/README.md runs" recipe_runs
finish
