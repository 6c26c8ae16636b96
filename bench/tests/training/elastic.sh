#!/usr/bin/env bash
# Tests accuracy runs whose ranks change, by plan or because one died. They end with one rank's weights, columns show the
# cost, and an interrupted campaign resumes inside a segment.
# tier: rest
# cores: 2
set -u
. bench/tests/lib/tap.sh
export SCALEBENCH_HOME=$PWD

# Replaces the trainer by the one in double precision.
mkdir "$tmp/f64"
cp "$build/scalebench" "$build/pin" "$tmp/f64" && cp "${train_cnn}_f64" "$tmp/f64/train_cnn" || exit 1

column() { # name, table: a cell a line, without commas and quotation marks inside
    "$python" -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[2])): print(row[sys.argv[1]])' "$1" "$2"
}

# Two ranks cannot divide batches of 45 evenly; the last batch of 300 images has 30.
spec() { # name, further lines on standard input
    {
        echo "name: $1"
        cat - "$tmp/all.yaml"
    } >"$tmp/$1.yaml"
}
cat >"$tmp/all.yaml" <<END
model: lenet_21k
data: {set: digits, samples: 300}
place.oversubscribe: allow
measure: {time: {launches: 0}, accuracy: {seeds: [1]}}
figures: []
END

run() { # name, options
    "$scalebench" run "$tmp/$1.yaml" --out "$tmp/results" "${@:2}"
}

# --- Planned changes ------------------------------------------------------------------------------------

for optimizer in sgd adam; do
    spec "planned_$optimizer" <<END
train: {global_batch: 45, epochs: 3, optimizer: $optimizer, lr: 0.001, lr_schedule: cosine, lr_warmup_steps: 5}
checkpoint.every_epochs: 1
cases:
  - {label: alone}
  - {label: changing, ranks: 2, elastic: [{epoch: 0, ranks: 1}, {epoch: 1, ranks: 2}, {epoch: 2, ranks: 1}]}
END
done

# Sharded state, gradients and parameters are sharded again after planned changes and deaths.
spec planned_zero <<END
train: {global_batch: 45, epochs: 3, optimizer: adam, lr: 0.001}
checkpoint.every_epochs: 1
cases:
  - {label: alone}
  - label: changing
    ranks: 2
    elastic: [{epoch: 0, ranks: 1}, {epoch: 1, ranks: 2}, {epoch: 2, ranks: 1}]
    sync.zero_persist: 0
    matrix: {sync.zero: [1, 3]}
  - label: died
    ranks: 2
    sync.zero: 2
    checkpoint.every_steps: 3
    restart: {budget: 1, with: fewer}
    inject: {kind: kill, ranks: [1], steps: 11..11}
END

# Relative to the change by training, since initial weights alone would be equal.
equals_one_rank() { # name
    "$tmp/f64/scalebench" run "$tmp/$1.yaml" --out "$tmp/f64" || return
    "$python" - "$tmp/f64/$1/latest" <<'PY'
import array, csv, glob, json, struct, sys
def weights(point):
    path, = glob.glob(f"{sys.argv[1]}/launches/{point}/seed1.safetensors")
    data = open(path, "rb").read()
    length, = struct.unpack("<Q", data[:8])
    tensors = json.loads(data[8:8 + length])
    meta = tensors.pop("__metadata__")
    values = []
    for name in sorted(tensors):
        if not name.startswith("rank."):
            begin, end = tensors[name]["data_offsets"]
            assert tensors[name]["dtype"] == "F64", name
            values += array.array("d", data[8 + length + begin:8 + length + end])
    return meta, values
alone, *others = sorted(csv.DictReader(open(sys.argv[1] + "/summary.csv")), key=lambda row: row["case"] != "alone")
a, one = weights(alone["point"])
assert alone["case"] == "alone" and a["progress.steps_done"] == "21" and others, a["progress.steps_done"]
for row in others:
    b, changed = weights(row["point"])
    apart = sum((x - y) ** 2 for x, y in zip(one, changed)) ** 0.5 / sum(x * x for x in one) ** 0.5
    print(row["case"], row["sync_zero"], "relative distance", apart)
    assert b["progress.steps_done"] == "21" and len(one) == len(changed) > 21840 and 0 < apart < 1e-10
PY
}

# The middle segment begins where the first ended, and the time in between is reported.
tells_segments() {
    local results=$tmp/f64/planned_adam/latest
    cat "$results/segments.csv"
    [ "$(column ranks "$results/segments.csv" | xargs)" = "1 2 1" ] || return
    [ "$(column resumed_steps "$results/segments.csv" | xargs)" = "0 7 14" ] || return
    [ "$(column end "$results/segments.csv" | xargs)" = "done done done" ] || return
    [ "$(column lost_steps "$results/segments.csv" | xargs)" = "0 0" ] || return
    [ "$(column segment_ranks "$results/raw.csv" | xargs)" = "1|2|1" ] || return
    [ "$(column ranks "$results/epochs.csv" | xargs)" = "1 1 1 1 2 1" ] || return
    "$python" - "$results" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/segments.csv")))
raw = [row for row in csv.DictReader(open(sys.argv[1] + "/raw.csv")) if row["segment_ranks"]]
pauses = [float(row["pause_s"]) for row in rows if row["pause_s"]]
assert len(pauses) == 2 and all(0 < pause < float(raw[0]["wall_s"]) for pause in pauses), pauses
assert abs(float(raw[0]["change_s"]) - sum(pauses)) < 1e-6 * sum(pauses), raw[0]["change_s"]
assert float(raw[0]["recovery_s"]) == float(raw[0]["restarts"]) == float(raw[0]["lost_steps"]) == 0
PY
}

# With a batch per rank, two ranks make fewer steps at a higher learning rate.
spec scaled <<END
train: {batch_per_rank: 50, epochs: 3, lr: 0.01, lr_rule: linear}
data.shard: contiguous
ranks: 2
elastic: [{epoch: 0, ranks: 1}, {epoch: 1, ranks: 2}, {epoch: 2, ranks: 1}]
END
batch_and_rate_follow() {
    run scaled || return
    local epochs=$tmp/results/scaled/latest/epochs.csv
    cat "$epochs"
    [ "$(column global_batch "$epochs" | xargs)" = "50 100 50" ] || return
    [ "$(column lr "$epochs" | xargs)" = "0.01 0.02 0.01" ] || return
    [ "$(column steps_done "$tmp/results/scaled/latest/segments.csv" | xargs)" = "6 9 15" ]
}

# --- In 16 bits -----------------------------------------------------------------------------------------

# The initial scale is so high that all seven steps of the first epoch only halve it.
spec scale <<END
train: {global_batch: 45, epochs: 3, precision: fp16, loss_scale_initial: 4294967296, loss_scale_hysteresis: 1}
ranks: 2
checkpoint.every_epochs: 1
cases:
  - {label: whole}
  - {label: as many, elastic: [{epoch: 0, ranks: 2}, {epoch: 1, ranks: 2}]}
  - label: died
    checkpoint.every_steps: 3
    restart.budget: 1
    inject: {kind: kill, ranks: [1], steps: 11..11}
  - {label: changing, elastic: [{epoch: 0, ranks: 1}, {epoch: 1, ranks: 2}, {epoch: 2, ranks: 1}]}
END

# Equal bits with equal ranks. Other numbers of ranks round sums differently, but overflow in the same steps.
scale_goes_on() {
    expect 1 "whole: unverified: 14 of 21 steps skipped" run scale || return
    "$python" - "$tmp/results/scale/latest" <<'PY'
import csv, glob, json, struct, sys
def read(name):
    return list(csv.DictReader(open(f"{sys.argv[1]}/{name}.csv")))
def state(point):
    path, = glob.glob(f"{sys.argv[1]}/launches/{point}/seed1.safetensors")
    data = open(path, "rb").read()
    length, = struct.unpack("<Q", data[:8])
    meta = json.loads(data[8:8 + length])["__metadata__"]
    return {key: meta[key] for key in meta if key.startswith("loss_scale.")}, data[8 + length:]
points = {row["case"]: row for row in read("summary")}
scales = {case: [float(row["epoch_loss_scale"]) for row in read("epochs") if row["point"] == points[case]["point"]] for case in points}
print(scales)
whole, weights = state(points["whole"]["point"])
first, second, last = scales["whole"]
assert first == 2 ** 25 and last <= second < 2 ** 22 and 10 < int(whole["loss_scale.skipped"]) < 21, whole
for case in "as many", "died", "changing":
    scale, others = state(points[case]["point"])
    assert scales[case] == scales["whole"] and scale == whole, (case, scale, whole)
    assert (others == weights) == (case != "changing"), case
PY
}

# --- Deaths ---------------------------------------------------------------------------------------------

# In step 11 (7 per epoch), after the checkpoint of step 9.
spec killed <<END
train: {global_batch: 45, epochs: 3}
ranks: 2
checkpoint.every_steps: 3
restart: {budget: 2, with: fewer}
inject: {kind: kill, ranks: [0], steps: 11..11}
END
goes_on_with_one() {
    run killed || return
    local results=$tmp/results/killed/latest
    cat "$results/segments.csv"
    [ "$(column status "$results/raw.csv")" = ok ] || return
    [ "$(column end "$results/segments.csv" | xargs)" = "died done" ] || return
    [ "$(column ranks "$results/segments.csv" | xargs)" = "2 1" ] || return
    [ "$(column steps_done "$results/segments.csv" | xargs)" = "10 21" ] || return
    [ "$(column resumed_steps "$results/segments.csv" | xargs)" = "0 9" ] || return
    [ "$(column restarts "$results/raw.csv") $(column lost_steps "$results/raw.csv")" = "1 1" ] || return
    column reason "$results/segments.csv" | grep -q "rank 0 (process .*) was killed" || return
    [ -s "$results/launches/$(column point "$results/summary.csv")/seed1-000/attempt-00/log.txt" ] || return
    awk "BEGIN { exit !($(column recovery_s "$results/raw.csv") > 0) }"
}

# The others detect it by their deadline, in their own waits or inside the library.
goes_on_without_the_silent() {
    run killed --set "name=silent inject.kind=fixed inject.sleep=1h inject.ranks=[1] sync.deadline=6s" || return
    local results=$tmp/results/silent/latest
    cat "$results/segments.csv"
    [ "$(column end "$results/segments.csv" | xargs)" = "died done" ] || return
    column reason "$results/segments.csv" | grep -q "lasted longer than 6 s; .*rank 1$"
}

# Every trial dies until the budget is used up.
spend_budget() {
    expect 1 "restart.budget = 0 is spent" run killed --set "name=spent restart.budget=0 elastic=[{epoch: 0, ranks: 2}, {epoch: 1, ranks: 2}] measure.retries=0" || return
    grep -E "rank 0 \(process [0-9]+ on .*\) was killed or has crashed at 20..-..-..T..:..:..Z, after step 10; restart.budget" \
        "$tmp/expect.log" || return
    expect 1 "ranks left: 1, restart.min_ranks: 2" run killed --set "name=few restart.min_ranks=2 measure.retries=0"
}

# Two ranks are required, so the retry has two again.
retry_has_all_ranks() {
    run killed --set "name=regained restart.min_ranks=2" >"$tmp/regained.log" 2>&1 || return
    grep "ranks left: 1, restart.min_ranks: 2: the retry starts all 2 ranks" "$tmp/regained.log" || return
    [ "$(column ranks "$tmp/results/regained/latest/segments.csv" | xargs)" = "2 2" ]
}

today_is_as_before() {
    expect 1 "was killed or has crashed" run killed --set "name=before restart.budget=0 measure.retries=0" || return
    [ ! -e "$tmp/results/before/latest/segments.csv" ] || return
    ! compgen -G "$tmp/results/before/latest/launches/*/*.json"
}

in_place_is_probed() {
    expect 0 "MPIX_Comm_shrink" "$train_cnn" --probe-recovery || return
    expect 3 "restart.with = in_place is not supported ($(grep MPIX_Comm_shrink "$tmp/expect.log"))" run killed --set "name=place restart.with=in_place"
}

# --- Interruptions --------------------------------------------------------------------------------------

spec interrupted <<END
train: {global_batch: 45, epochs: 60}
ranks: 2
checkpoint.every_steps: 10
elastic: [{epoch: 0, ranks: 2}, {epoch: 1, ranks: 1}, {epoch: 59, ranks: 2}]
restart: {budget: 1}
END
# Starts the campaign with SIGINT enabled, as a terminal does, and interrupts it in its second segment.
is_gone_on_with() {
    local status=0 runner launches="$tmp/results/interrupted/latest/launches/*"
    set -m
    "$scalebench" run "$tmp/interrupted.yaml" --out "$tmp/results" &
    runner=$!
    set +m
    until_true eval "grep -qs '^epoch 7/' $launches/seed1-000/log.txt" || status=1
    kill -INT "$runner"
    wait "$runner"
    [ $? -eq 130 ] && gone "$tmp/results/interrupted" && [ "$status" = 0 ] || return
    run interrupted || return
    local results=$tmp/results/interrupted/latest
    cat "$results/segments.csv"
    [ "$(column end "$results/segments.csv" | xargs)" = "done stopped done done" ] || return
    [ "$(column segment "$results/segments.csv" | xargs)" = "1 2 2 3" ] || return
    [ "$(column status "$results/raw.csv" | xargs)" = "interrupted ok" ] || return
    [ "$(column restarts "$results/raw.csv" | xargs)" = 0 ] || return
    [ "$(column epoch "$results/epochs.csv" | tail -n 1)" = 60 ] || return
    "$python" - "$results/segments.csv" "$results/raw.csv" <<'PY'
import csv, sys
rows, raw = (list(csv.DictReader(open(table))) for table in sys.argv[1:])
run_s = sum(float(row["wall_s"]) for row in rows)
assert run_s <= float(raw[1]["wall_s"]) and raw[1]["total_user_s"] == "", (run_s, raw[1])
assert 0 <= int(rows[2]["lost_steps"]) <= 10, rows[2]
assert int(rows[2]["resumed_steps"]) + int(rows[2]["lost_steps"]) == int(rows[1]["steps_done"]), rows
PY
}

# Damaged files: neither the launch nor the position to resume from is readable.
begins_anew_without_its_list() {
    local list
    list=$(compgen -G "$tmp/f64/planned_sgd/latest/launches/*/seed1.segments.json") || return
    echo '[{' >"$list"
    equals_one_rank planned_sgd >"$tmp/again.log" 2>&1 || {
        cat "$tmp/again.log"
        return 1
    }
    grep "the run starts again from its first segment" "$tmp/again.log" && [ -e "$list.damaged" ]
}

# --- The trainer alone ----------------------------------------------------------------------------------

refuses_until() {
    expect 2 "--until 0: expected a whole number from 1 to 100000" "$train_cnn" --model lenet_21k --until 0 || return
    expect 2 "--until 2: expected --run accuracy" "$train_cnn" --model lenet_21k --run time --until 2 || return
    expect 2 "--until 3 is beyond train.epochs = 2: expected at most 2" \
        "$train_cnn" --model lenet_21k --run accuracy --train.epochs 2 --until 3
}

if ! python=$(python_with csv); then
    lacks "elastic runs" python3
    finish
fi
check "planned changes from 1 to 2 to 1 rank train the weights of one rank with sgd" equals_one_rank planned_sgd
check "planned changes from 1 to 2 to 1 rank train the weights of one rank with adam" equals_one_rank planned_adam
check "segments, their ranks and the time of changes are recorded" tells_segments
check "ZeRO shards are redistributed by plan and after a death" equals_one_rank planned_zero
check "a loss scale is kept through segments and deaths" scale_goes_on
check "batch, rate and shards follow the ranks" batch_and_rate_follow
check "the remaining rank resumes from the last checkpoint" goes_on_with_one
check "the remaining rank continues without a silent rank" goes_on_without_the_silent
check "a spent budget or too few ranks are reported with the dead rank, its place and time" spend_budget
check "a retry has all ranks if too few are left" retry_has_all_ranks
check "without a budget a death fails the run" today_is_as_before
check "continuing in place is refused if the MPI library does not support it" in_place_is_probed
check "an interrupted campaign resumes inside a segment" is_gone_on_with
check "a run whose list of segments is damaged begins anew" begins_anew_without_its_list
check "the trainer refuses a wrong end of a segment" refuses_until
finish
