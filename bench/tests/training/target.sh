#!/usr/bin/env bash
# Tests training to an accuracy: a run ends with the first epoch that reaches it, on all ranks, for every strategy, also when
# it resumes from a checkpoint. A campaign reports the cost, and which runs did not reach it.
# tier: rest
# cores: 1
set -u
. bench/tests/lib/tap.sh

small=(--model softmax_784 --data.set digits --data.samples 1000 --train.global_batch 100
    --train.optimizer adam --train.lr 0.0005 --train.epochs 9 --wait yield)

train() { # ranks, folder of the record, options
    local ranks=$1 record=$2
    shift 2
    mkdir -p "$record"
    "$mpiexec" -n "$ranks" "$train_cnn" "${small[@]}" --no-steps --record "$record" "$@"
}

# Checks a record: only its last evaluation reached the target, and all ranks made the same number of steps.
ended_at() { # folder, ranks, target
    local rank
    for ((rank = 0; rank < $2; rank++)); do
        grep '"type":"eval"' "$1/rank.$rank.jsonl" | sed -E 's/.*"test_acc_pct":([0-9.]+).*/\1/' |
            awk -v target="$3" '{ late += reached; reached = $1 >= target } END { exit late > 0 || !reached }' ||
            return 1
    done
    [ "$(grep -h '"type":"end"' "$1"/rank.*.jsonl | grep -o '"steps":[0-9]*' | sort -u | wc -l)" -eq 1 ]
}

# A target on the way: the accuracy after four of nine epochs.
find_target() {
    train 1 "$tmp/way" || return 1
    grep '"type":"eval"' "$tmp/way/rank.0.jsonl" | sed -n 4p | sed -E 's/.*"test_acc_pct":([0-9.]+).*/\1/' |
        xargs printf '%.2f' >"$tmp/target" && [ -s "$tmp/target" ]
}

ends_early() {
    expect 0 "test accuracy reached $target % after 4 epochs" train 1 "$tmp/one" --train.target_acc_pct "$target" &&
        ended_at "$tmp/one" 1 "$target" && [ "$(grep -c '"type":"epoch"' "$tmp/one/rank.0.jsonl")" -eq 4 ]
}

# Half of that for strategies whose sums differ in order, are local or are a step late.
every_strategy_ends() {
    local strategy half
    half=$(awk -v target="$target" 'BEGIN { print target / 2 }')
    while read -r strategy; do
        echo "$strategy"
        train 2 "$tmp/$strategy" --sync.strategy "$strategy" --train.target_acc_pct "$half" &&
            ended_at "$tmp/$strategy" 2 "$half" || return 1
    done < <("$scalebench" list strategies | awk '{ print $1 }')
}

more_ranks_end() {
    train 3 "$tmp/three" --train.target_acc_pct "$target" --train.epochs 20 && ended_at "$tmp/three" 3 "$target"
}

says_what_it_missed() {
    expect 0 "test accuracy did not reach train.target_acc_pct = 100 in 2 epochs" \
        train 2 "$tmp/missed" --train.target_acc_pct 100 --train.epochs 2
}

# Records reserve memory for coming epochs, not for all possible ones, which would be 24 GB here.
needs_room_for_its_epochs_alone() {
    (ulimit -v 16000000 && expect 0 "test accuracy reached 11 % after 1 epochs" train 1 "$tmp/long" --data.samples 60000 \
        --train.global_batch 6 --train.epochs 100000 --train.target_acc_pct 11)
}

# Interrupted in the second epoch, and again after the last.
goes_on_to_the_same_end() {
    local file=$tmp/c.safetensors
    train 1 "$tmp/first" --train.epochs 2 --checkpoint.path "$file" --checkpoint.every_steps 15 &&
        train 1 "$tmp/second" --checkpoint.path "$file" --checkpoint.resume auto --checkpoint.every_epochs 1 \
            --train.target_acc_pct "$target" | tee "$tmp/log" || return 1
    grep -q "resumed from .* after 15 steps" "$tmp/log" && grep -q "reached $target % after 4 epochs" "$tmp/log" &&
        ended_at "$tmp/second" 1 "$target" &&
        expect 0 "no epochs left to train: 4 of 9 are done" train 1 "$tmp/third" --checkpoint.path "$file" \
            --checkpoint.resume auto --train.target_acc_pct "$target"
}

# Trained to the end without a target, although it passed the accuracy.
names_the_epoch_that_was() {
    local file=$tmp/whole.safetensors
    train 1 "$tmp/whole" --checkpoint.path "$file" --checkpoint.every_epochs 1 &&
        expect 0 "reached $target % after 4 epochs" train 1 "$tmp/again" --checkpoint.path "$file" \
            --checkpoint.resume auto --train.target_acc_pct "$target"
}

campaign() { # target
    cat >"$tmp/campaign.yaml" <<END
name: target
scaling: strong
model: softmax_784
data: {set: digits, samples: 1000}
train: {optimizer: adam, lr: 5e-4, global_batch: 100, epochs: 9, target_acc_pct: $1}
matrix: {ranks: [1, 2]}
place: {oversubscribe: allow}
measure: {time: {launches: 0}, accuracy: {seeds: [1, 2]}}
figures:
  - {kind: line, name: effort, y: [to_target_s, to_target_epochs]}
END
    "$scalebench" run "$tmp/campaign.yaml" --out "$tmp/$2"
}

cells() { # columns; prints one line per point
    "$scalebench" table "$tmp/$1/target/latest" >/dev/null
    python3 - "$tmp/$1/target/latest/summary.csv" "${@:2}" <<'PY'
import csv, sys
with open(sys.argv[1], newline="") as f:
    for row in csv.DictReader(f):
        print("|".join(row[name] for name in sys.argv[2:]))
PY
}

tells_what_it_took() {
    campaign "$target" reached || return 1
    cells reached status to_target_epochs to_target_images to_target_s | tee "$tmp/cells"
    [ "$(grep -cE '^ok\|[0-9.]+\|[0-9]+\|[0-9.]+$' "$tmp/cells")" -eq 2 ] &&
        awk -F'|' '$3 != 1000 * $2 { exit 1 }' "$tmp/cells" &&
        [ "$(wc -l <"$tmp/reached/target/latest/series_effort.csv")" -eq 3 ]
}

names_who_missed_it() {
    campaign 100 missed
    [ $? -eq 1 ] || return 1
    cells missed status reason to_target_epochs | tee "$tmp/cells"
    [ "$(grep -cE '^unverified\|seed 1: test accuracy [0-9.]+ % after 9 epochs, below train.target_acc_pct = 100\|$' "$tmp/cells")" -eq 2 ]
}

check "a target on the way" find_target
target=$(cat "$tmp/target")
check "training ends with the epoch that reaches the target" ends_early
check "on more ranks" more_ranks_end
check "by every strategy" every_strategy_ends
check "a target that is not reached is reported" says_what_it_missed
if grep -q __asan_init "$train_cnn"; then
    skip "room for the epochs that come" "the sanitizer's own memory has no such bound"
else
    check "room for the epochs that come" needs_room_for_its_epochs_alone
fi
check "a resumed run ends where the other one does" goes_on_to_the_same_end
check "a resumed run that had reached the target reports the epoch" names_the_epoch_that_was
if python_with csv >/dev/null; then
    check "a campaign reports time and epochs to the target" tells_what_it_took
    check "and which seed did not reach it" names_who_missed_it
else
    lacks "a campaign reports time and epochs to the target" python3
    lacks "and which seed did not reach it" python3
fi
finish
