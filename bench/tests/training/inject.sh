#!/usr/bin/env bash
# Tests injected stragglers: the rank that sleeps waits least, and the others wait for it. Replayed calls show what overlap
# hid.
set -u
. bench/tests/lib/tap.sh

cat >"$tmp/inject.yaml" <<'SPEC'
name: inject
model: lenet_21k
data: {set: digits, samples: 300}
train: {global_batch: 60}
ranks: 3
sync: {strategy: bucketed, cap_mib: 0.02, overlap: poll_tiles}
inject: {kind: fixed, sleep: 200ms, ranks: [1]}
measure: {replay: 3, time: {warmup_steps: 1, steps: 4, launches: 1..1}}
place: {oversubscribe: allow}
figures: []
SPEC

runs() {
    "$scalebench" run "$tmp/inject.yaml" --out "$tmp/results"
}

# A third of the sleep, since one of three ranks sleeps.
others_wait() {
    "$python" - "$tmp"/results/inject/latest/summary.csv <<'PY'
import csv, sys
rows = {row["strategy"]: row for row in csv.DictReader(open(sys.argv[1]))}
row = rows["bucketed"]
print(row["rank_wait_ms"], row["inject_ms"], row["comm_replay_ms"], row["overlap_share"])
first, second, third = (float(x) for x in row["rank_wait_ms"].split("|"))
assert second < first and second < third
assert float(row["inject_ms"]) >= 66 and float(rows["none"]["inject_ms"]) >= 66
share = ((float(rows["none"]["step_ms_median"]) + float(row["comm_replay_ms"]) - float(row["step_ms_median"]))
         / float(row["comm_replay_ms"]))
assert abs(float(row["overlap_share"]) - share) <= 1e-6 * (1 + abs(share))
PY
}

check "a campaign with a straggler and replays" runs
if python=$(python_with csv); then
    check "the others wait for the rank that sleeps" others_wait
else
    lacks "the others wait for the rank that sleeps" python3
fi
# With one rank there is no rank 1, so no rank is late.
late_where_it_is_there() {
    cat >"$tmp/late.yaml" <<END
name: late
model: softmax_784
data: {set: digits}
train: {global_batch: 64}
inject: {kind: fixed, ranks: [1], sleep: 1ms}
matrix: {ranks: [1, 2]}
place: {oversubscribe: allow}
measure: {time: {warmup_steps: 1, steps: 2, launches: 1..1}}
figures: []
END
    expect 0 "late" "$scalebench" run "$tmp/late.yaml" --out "$tmp/late"
}

check "a rank that some points lack" late_where_it_is_there
check "a rank that is not there" expect 2 "inject.ranks: expected ranks 0..0 of this job, found 3" \
    "$mpiexec" -n 1 "$train_cnn" --model softmax_784 --data.set digits --inject.kind fixed --inject.ranks "[3]"
finish
