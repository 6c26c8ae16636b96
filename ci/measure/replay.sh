#!/usr/bin/env bash
# Compares replayed compute with real compute. Prints CSV to standard output and one sentence per row to standard error:
#
#   cell   a network and a strategy on 1 or 2 ranks, real and replayed launches in the same blocks: the median step of
#          both, and the excess of replayed ones: the Hodges-Lehmann estimate of the blocks' ratios with its 95 %
#          interval. Only real steps of at least 1 ms
#   small  the same for steps below 1 ms, for information: sleeps are too coarse for them
#   cells  the number of cells within 5 %; the target is 90 % of them
#   many   8 ranks of keras_690k on the cores at hand: step / (compute + communication measured alone by
#          measure.replay) - 1; the target is below 10 %. Ranks wait for each other in each step, so compute is the
#          slowest rank's
#
# LAUNCHES (12), NETS (each with its steps per launch, as lenet_21k:300; a launch should last a second), STRATEGIES and
# MANY (ranks of `many`, 8; 0: none) may be set; BUILD is the build folder. Use an idle machine. Exit status 1: a target
# is missed.
set -eu -o pipefail
# shellcheck source=ci/help.sh
. "$(dirname "$0")/../help.sh"
take_no_arguments "$@"
cd "$(dirname "$0")/../.."
build=$(cd "${BUILD:-build}" && pwd)
launches=${LAUNCHES:-12}
nets=${NETS:-softmax_784:2000 lenet_21k:300 keras_690k:40}
strategies=${STRATEGIES:-allreduce allreduce_layer bucketed ring tree gather_scatter}
many=${MANY:-8}
work=$build/replay
rm -rf "$work"
mkdir -p "$work"

list() { # words -> [a, b]
    local IFS=,
    echo "[$*]"
}

campaign() { # name
    "$build/scalebench" run "$work/$1.yaml" --out "$work/results" >"$work/$1.log" 2>&1 || {
        tail -n 20 "$work/$1.log" >&2
        exit 1
    }
}

body() { # name, steps
    cat <<SPEC
name: $1
data: {set: digits, samples: 4096}
train: {optimizer: sgd, lr: 0.01, momentum: 0.9}
measure:
  time: {warmup_steps: 10, steps: $2, launches: $launches..$launches}
  budget: 12h
figures: []
SPEC
}

# shellcheck disable=SC2086 # words
cells() { # net, steps
    {
        body "$1" "$2"
        cat <<SPEC
model: $1
train.global_batch: 128
matrix:
  ranks: [1, 2]
  sync.strategy: $(list $strategies)
  compute: [real, replay]
SPEC
    } >"$work/$1.yaml"
    campaign "$1"
}

{
    body many 40
    cat <<SPEC
model: keras_690k
train.batch_per_rank: 64
ranks: $many
compute: replay
sync.strategy: allreduce
measure.replay: 20
SPEC
} >"$work/many.yaml"

# Pairs launches of a cell by block. The interval is that of signed ranks in their normal approximation, which is close
# for at least 6 pairs.
judge_cells() { # nets
    python3 - "$work/results" "$@" <<'PY'
import csv
import math
import statistics
import sys


def hodges_lehmann(x):
    means = sorted((a + b) / 2 for i, a in enumerate(x) for b in x[i:])
    n = len(x)
    cut = n * (n + 1) / 4 - 1.96 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    k = max(0, int(cut))
    return statistics.median(means), means[k], means[-1 - k]


near = counted = 0
for net in sys.argv[2:]:
    run = f"{sys.argv[1]}/{net}/latest"
    points = {row["point"]: row for row in csv.DictReader(open(run + "/summary.csv"))}
    cells = {}
    for row in csv.DictReader(open(run + "/raw.csv")):
        point = points.get(row["point"])
        if point is None or point["strategy"] == "none" or row["status"] != "ok":
            continue
        key = point["model"], point["strategy"], point["ranks"]
        kinds = cells.setdefault(key, {"real": {}, "replayed": {}})
        kinds[row["compute"]][row["block"]] = float(row["step_ms"])
    for key, times in sorted(cells.items()):
        real, replayed = times["real"], times["replayed"]
        logs = [math.log(replayed[b] / real[b]) for b in real if b in replayed]
        if not logs:
            continue
        off, low, high = (100 * (math.exp(x) - 1) for x in hodges_lehmann(logs))
        small = statistics.median(real.values()) < 1
        counted += not small
        near += not small and abs(off) <= 5
        print(f"{'small' if small else 'cell'},{' '.join(key)},{statistics.median(real.values()):.4g},"
              f"{statistics.median(replayed.values()):.4g},{off:.2f},{low:.2f},{high:.2f}")
share = 100 * near / counted if counted else 0
print(f"cells,within 5 %,{counted},{near},{share:.1f},,")
met = counted and near >= 0.9 * counted
print(f"{near} of {counted} cells within 5 %, target 90 %: {'yes' if met else 'no'}", file=sys.stderr)
sys.exit(not met)
PY
}

many_ranks() {
    python3 - "$work/results/many/latest" <<'PY'
import csv
import json
import statistics
import sys

run = sys.argv[1]
off = []


def replayed_ms(launch, rank):
    lines = map(json.loads, open(f"{run}/{launch}/rank.{rank}.jsonl"))
    return [x["replayed_ns"] / 1e6 for x in lines if x["type"] == "step" and x["timed"]]


points = {row["point"]: row for row in csv.DictReader(open(run + "/summary.csv"))}
for row in csv.DictReader(open(run + "/raw.csv")):
    point = points.get(row["point"])
    if point is None or point["strategy"] == "none" or row["compute"] != "replayed":
        continue
    ranks = [replayed_ms(row["launch"], rank) for rank in range(int(row["ranks"]))]
    compute_ms = statistics.mean(map(max, zip(*ranks)))
    alone_ms = float(row["comm_replay_ms"])
    step_ms = float(row["step_ms"])
    off.append(100 * (step_ms / (compute_ms + alone_ms) - 1))
    print(f"many,{compute_ms:.4g} + {alone_ms:.4g} ms,{compute_ms + alone_ms:.4g},{step_ms:.4g},{off[-1]:.2f},,")
middle = statistics.median(off)
met = middle < 10
print(f"many ranks: {middle:.3g} % beyond compute and communication, target below 10: {'yes' if met else 'no'}",
      file=sys.stderr)
sys.exit(not met)
PY
}

echo what,of,expected_ms,step_ms,off_pct,off_lo,off_hi
failed=0
names=()
for net in $nets; do
    cells "${net%:*}" "${net#*:}"
    names+=("${net%:*}")
done
if [ "${#names[@]}" -gt 0 ]; then
    judge_cells "${names[@]}" || failed=1
fi
if [ "$many" -gt 0 ]; then
    campaign many
    many_ranks || failed=1
fi
exit $failed
