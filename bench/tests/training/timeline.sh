#!/usr/bin/env bash
# Tests the timeline of a step: rows for the activities of each rank, a file for chrome://tracing and Perfetto beside each
# launch, and a figure; none of them unless requested.
# tier: rest
# cores: 1
set -u
. bench/tests/lib/tap.sh

cat >"$tmp/timeline.yaml" <<'SPEC'
name: timeline
scaling: strong
model: lenet_21k
data: {set: digits, samples: 600}
train: {optimizer: adam, global_batch: 60}
ranks: 2
sync: {cap_mib: 0.02, first_cap_mib: 0, overlap: poll_tiles}
matrix: {sync.strategy: [bucketed, allreduce]}
inject: {kind: fixed, sleep: 20ms, ranks: [1]}
place: {oversubscribe: allow}
measure:
  time: {warmup_steps: 2, steps: 9, launches: 3..3}
  timeline: true
figures:
  - timeline
  - {kind: timeline, name: of_one, where: sync.strategy = allreduce, title: One step}
SPEC
latest=$tmp/results/timeline/latest

runs() {
    "$scalebench" run "$tmp/timeline.yaml" --out "$tmp/results" && [ -s "$latest/timeline.svg" ] &&
        [ -s "$latest/of_one.svg" ] && [ "$(find "$latest/" -name timeline.json | wc -l)" -eq 6 ]
}

# One rank sleeps, and one of both waits; on a busy machine it may be the sleeper.
rows_tell() {
    "$python" - "$latest" <<'PY'
import csv, sys
folder = sys.argv[1]
def read(name):
    with open(f"{folder}/{name}.csv", newline="") as f:
        return list(csv.DictReader(f))
rows, launches = read("timeline"), [r for r in read("raw") if r["run"] == "time"]
assert {r["launch"] for r in rows} == {r["launch"] for r in launches} and len(launches) == 6
for launch in launches:
    own = [r for r in rows if r["launch"] == launch["launch"]]
    assert {r["rank"] for r in own} == {"0", "1"}
    assert len({r["rank"] for r in own if r["phase"] == "wait"}) == 1
    for rank in "01":
        spans = [(r["phase"], float(r["begin_ms"]), float(r["end_ms"])) for r in own if r["rank"] == rank]
        (_, begin, end), = [s for s in spans if s[0] == "step"]
        assert all(e >= b and e <= end + 1e-6 for _, b, e in spans)
        assert sum(s[0] == "backward" for s in spans) > 2 and sum(s[0] == "optimizer" for s in spans) == 1
        flights = sum(s[0] == "flight" for s in spans)
        assert flights > 1 if "bucketed" in launch["label"] else flights == 0
        slept = sum(e - b for phase, b, e in spans if phase == "inject")
        assert slept >= 20 if rank == "1" else slept == 0
    names = {r["name"] for r in own if r["phase"] == "forward"}
    assert any(name.startswith("conv1 ") for name in names) and "loss" in names
    assert min(float(r["begin_ms"]) for r in own if r["phase"] == "step") == 0
PY
}

# Perfetto requires complete events with start and duration, and names of ranks.
traces_load() {
    "$python" - "$latest" <<'PY'
import glob, json, sys
paths = glob.glob(sys.argv[1] + "/**/timeline.json", recursive=True)
for path in paths:
    with open(path, encoding="utf-8") as f:
        trace = json.load(f)
    spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert {e["ph"] for e in trace["traceEvents"]} == {"X", "M"} and len(spans) > 10
    assert all(e["dur"] >= 0 and e["ts"] > -1e6 and e["name"] and e["cat"] for e in spans)
    names = [e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "process_name"]
    assert [n.split(" on ")[0] for n in names] == ["rank 0", "rank 1"]
    lanes = {}
    for e in sorted(spans, key=lambda e: (e["ts"], -e["dur"])):    # spans of a lane are nested or disjoint
        inside = lanes.setdefault((e["pid"], e["tid"]), [])
        while inside and inside[-1] <= e["ts"] + 1e-3:
            inside.pop()
        assert not inside or e["ts"] + e["dur"] <= inside[-1] + 1e-3, (path, e)
        inside.append(e["ts"] + e["dur"])
assert paths
PY
}

draws_the_median_launch() {
    "$python" - "$latest" <<'PY'
import csv, sys
folder = sys.argv[1]
with open(f"{folder}/timeline.csv", newline="") as f:
    rows = list(csv.DictReader(f))
with open(f"{folder}/series_of_one.csv", newline="") as f:
    drawn = list(csv.DictReader(f))
def length(launch):
    steps = [r for r in rows if r["launch"] == launch and r["phase"] == "step"]
    return max(float(r["end_ms"]) for r in steps) - min(float(r["begin_ms"]) for r in steps)
launches = sorted({r["launch"] for r in rows if "allreduce" in r["label"]}, key=length)
assert {r["launch"] for r in drawn} == {launches[1]}
assert len(drawn) == sum(r["launch"] == launches[1] for r in rows)
assert {r["place"] for r in drawn} == {"1", "2"}
PY
}

off_unless_asked() {
    expect 0 "timeline" "$scalebench" run "$tmp/timeline.yaml" --out "$tmp/off" \
        --set "measure.timeline=false figures=[time]" && [ ! -e "$tmp/off/timeline/latest/timeline.csv" ] &&
        [ -z "$(find "$tmp/off" -name timeline.json)" ] &&
        ! grep -q '"type":"span"' "$tmp"/off/timeline/latest/launches/*/*/rank.0.jsonl
}

check "a campaign with timelines" runs
if python=$(python_with csv); then
    check "rows have the times of each rank's activities" rows_tell
    check "traces have the fields that viewers need" traces_load
    check "the figure shows the median launch" draws_the_median_launch
else
    lacks "rows have the times of each rank's activities" python3
    lacks "traces have the fields that viewers need" python3
    lacks "the figure shows the median launch" python3
fi
check "nothing is recorded without measure.timeline" off_unless_asked
finish
