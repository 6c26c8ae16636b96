#!/usr/bin/env bash
# Whether replayed compute is true: campaigns whose results go to standard output as CSV, a sentence each to
# standard error.
#
#   cell   a net and a strategy at 1 or 2 ranks, real and replayed launches in the same blocks: the step of
#          replayed launches over that of real ones, less 1; those whose real step is below 1 ms are left out
#   small  the same of steps below 1 ms, for information: where a sleep is too coarse
#   cells  how many cells of `cell` are within 5 %, of how many; the target is 90 %
#   many   8 ranks of keras_690k on the cores that there are: the step over the sum of what replayed compute
#          should take (as calibrated) and its communication measured alone (measure.replay), less 1; the
#          target is below 10 %
#
# LAUNCHES (6), STEPS (40), NETS, STRATEGIES and MANY (ranks of `many`, 8; 0: none) may be set; BUILD is the
# build folder. Exit status 1: a target is missed. Nothing else may run meanwhile.
set -eu -o pipefail
cd "$(dirname "$0")/.."
build=$(cd "${BUILD:-build}" && pwd)
launches=${LAUNCHES:-6}
steps=${STEPS:-40}
nets=${NETS:-softmax_784 lenet_21k keras_690k}
strategies=${STRATEGIES:-allreduce allreduce_layer bucketed ring tree gather_scatter}
many=${MANY:-8}
work=$build/replay
rm -rf "$work"
mkdir -p "$work"

list() { # words -> [a, b]
    local IFS=,
    echo "[$*]"
}

campaign() { # name, set
    "$build/scalebench" run "$work/$1.yaml" --out "$work/results" >"$work/$1.log" 2>&1 || {
        tail -n 20 "$work/$1.log" >&2
        exit 1
    }
}

body() { # name
    cat <<SPEC
name: $1
data: {set: digits, samples: 4096}
train: {optimizer: sgd, lr: 0.01, momentum: 0.9}
measure:
  time: {warmup_steps: 10, steps: $steps, launches: $launches..$launches}
  budget: 12h
figures: []
SPEC
}

# shellcheck disable=SC2086 # words
{
    body cells
    cat <<SPEC
train.global_batch: 128
matrix:
  model: $(list $nets)
  ranks: [1, 2]
  sync.strategy: $(list $strategies)
  compute: [real, replay]
SPEC
} >"$work/cells.yaml"
{
    body many
    cat <<SPEC
model: keras_690k
train.batch_per_rank: 64
ranks: $many
compute: replay
sync.strategy: allreduce
measure.replay: 20
SPEC
} >"$work/many.yaml"

# Rows by names of columns: median steps of both kinds beside each other.
cells() {
    python3 - "$work/results/cells/latest/summary.csv" <<'PY'
import csv
import sys

cells = {}
for row in csv.DictReader(open(sys.argv[1])):
    if row["strategy"] == "none" or row["status"] != "ok":
        continue
    key = row["model"], row["strategy"], row["ranks"]
    cells.setdefault(key, {})[row["compute"]] = float(row["step_ms_median"])
near = counted = 0
for key, times in sorted(cells.items()):
    if len(times) < 2:
        continue
    off = times["replayed"] / times["real"] - 1
    small = times["real"] < 1
    counted += not small
    near += not small and abs(off) <= 0.05
    what = "small" if small else "cell"
    print(f"{what},{' '.join(key)},{times['real']:.4g},{times['replayed']:.4g},{100 * off:.2f}")
share = 100 * near / counted if counted else 0
print(f"cells,within 5 %,{near},{counted},{share:.1f}")
met = counted and near >= 0.9 * counted
print(f"{near} of {counted} cells within 5 %, target 90 %: {'yes' if met else 'no'}", file=sys.stderr)
sys.exit(not met)
PY
}

# The calibrated steps are those of the launch that each record names.
many_ranks() {
    python3 - "$work/results/many/latest" <<'PY'
import csv
import json
import statistics
import sys

run = sys.argv[1]
off = []
for row in csv.DictReader(open(run + "/raw.csv")):
    if row["compute"] != "replayed" or not row["calibration"] or not row["comm_replay_ms"]:
        continue
    times = json.load(open(f"{run}/launches/{row['calibration']}/rank.0.times.json"))
    compute_ms = statistics.mean(sum(step) for step in times["steps_ns"]) / 1e6
    alone_ms = float(row["comm_replay_ms"])
    step_ms = float(row["step_ms"])
    off.append(100 * (step_ms / (compute_ms + alone_ms) - 1))
    print(f"many,{row['launch']},{compute_ms + alone_ms:.4g},{step_ms:.4g},{off[-1]:.2f}")
middle = statistics.median(off)
met = middle < 10
print(f"many ranks: {middle:.3g} % beyond compute and communication, target below 10: {'yes' if met else 'no'}", file=sys.stderr)
sys.exit(not met)
PY
}

echo what,of,expected_ms,step_ms,off_pct
failed=0
campaign cells
cells || failed=1
if [ "$many" -gt 0 ]; then
    campaign many
    many_ranks || failed=1
fi
exit $failed
