#!/usr/bin/env bash
# Tests that diverged training counts as a result: it is recorded and reported with its step, but in no ratio or median.
# cores: 2
set -u
. bench/tests/lib/tap.sh

wild=(--model lenet_21k --data.set digits --data.samples 2000 --train.batch_per_rank 50
    --train.lr 1000 --train.momentum 0.9)

spec() { # name, bound of accuracy
    cat >"$tmp/$1.yaml" <<SPEC
name: $1
model: lenet_21k
data: {set: digits, samples: 2000}
train: {batch_per_rank: 50, momentum: 0.9, epochs: 2}
matrix: {train.lr: [0.01, 1000]}
measure:
  time: {warmup_steps: 2, steps: 10, launches: 2..4}
  accuracy: {seeds: [1]$2}
figures: [bars, epochs]
bars: test_acc_pct
SPEC
}
spec free ''
spec bound ', test_acc_pct: ">= 11"'

latest=$tmp/results/free/latest

column() { # file, name
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { print $c }' "$latest/$1.csv" | paste -sd ' '
}

records_what_diverges() {
    expect 0 "training diverged: loss is nan at step" "$train_cnn" "${wild[@]}" --run time \
        --measure.time.steps 5 --record "$tmp" || return 1
    grep '"type":"step"' "$tmp/rank.0.jsonl" | tail -n 1 | grep '"loss_sum":"nan"' &&
        grep '"type":"end".*"diverged_step":[0-9]*,"diverged":"loss is nan"' "$tmp/rank.0.jsonl"
}

# If fp16 overflowed, the message gives that as the reason.
keeps_the_count_of_infinities() {
    "$mpiexec" -n 2 "$train_cnn" "${wild[@]}" --sync.compress fp16 --run time --wait yield \
        --measure.time.steps 5 --record "$tmp" || return 1
    grep '"type":"end".*"infinite":[1-9]' "$tmp/rank.1.jsonl"
}

# The reported step is that of an uninterrupted run.
resumes_what_diverges() {
    local options=("${wild[@]}" --checkpoint.every_steps 15 --checkpoint.path "$tmp/wild.safetensors" --record "$tmp")
    "$train_cnn" "${options[@]}" --train.epochs 1 || return 1
    diverged_step >"$tmp/first"
    expect 0 "epoch 2/2  train loss nan" "$train_cnn" "${options[@]}" --train.epochs 2 \
        --checkpoint.resume auto || return 1
    diverged_step | diff "$tmp/first" -
}

diverged_step() {
    grep -oE '"diverged_step":[0-9]+' "$tmp/rank.0.jsonl"
}

# Timed launches of a diverged point are not repeated: 4 of the other point and one.
campaign_tells() {
    expect 0 "1 of 2 points diverged" "$scalebench" run "$tmp/free.yaml" --out "$tmp/results" || return 1
    grep -F "lr=1000: diverged: loss is nan at step" "$tmp/expect.log" || return 1
    [ "$(column summary status)" = "ok diverged" ] || return 1
    column raw status
    column raw status | tr ' ' '\n' | sort | uniq -c | tr -s ' \n' ' ' | grep -x ' 2 diverged 5 ok ' || return 1
    grep -c ',NaN,' "$latest/epochs.csv" && [ -s "$latest/epochs.svg" ]
}

goes_on_with_nothing() {
    local before
    before=$(cat "$latest/journal.jsonl")
    "$scalebench" run "$tmp/free.yaml" --out "$tmp/results" || return 1
    [ "$before" = "$(cat "$latest/journal.jsonl")" ]
}

loads_in_pandas() {
    "$(python_with pandas)" - "$latest" <<'END'
import sys, pandas
for name in ("epochs", "raw"):
    table = pandas.read_csv(f"{sys.argv[1]}/{name}.csv")
    assert pandas.api.types.is_float_dtype(table.train_loss), name
    diverged = table[table.status == "diverged"]
    assert len(diverged) and diverged.train_loss.isna().any(), name
END
}

# shellcheck disable=SC2016 # R's own dollars
loads_in_r() {
    Rscript -e 'for (f in c("epochs", "raw")) {' \
        -e 't <- read.csv(file.path(commandArgs(TRUE), paste0(f, ".csv")))' \
        -e 'stopifnot(is.numeric(t$train_loss), any(is.nan(t$train_loss[t$status == "diverged"]))) }' \
        "$latest"
}

peer_tells_too() {
    mkdir -p "$tmp/peer"
    "$build/peer_torch" "${wild[@]}" --run time --measure.time.steps 5 --measure.check end \
        --record "$tmp/peer" || return 1
    grep '"type": "end".*"diverged_step": [0-9]*, "diverged": "loss is \(nan\|infinite\)"' \
        "$tmp/peer/rank.0.jsonl" && grep '"loss_sum": "nan"' "$tmp/peer/rank.0.jsonl"
}

check "a run that diverges is recorded" records_what_diverges
check "overflows of fp16 are counted" keeps_the_count_of_infinities
check "a diverged run can resume from its checkpoint" resumes_what_diverges
check "a campaign reports diverged runs and continues" campaign_tells
check "the same command runs nothing again" goes_on_with_nothing
check "divergence fails a run with an accuracy bound" expect 1 "error: lr=1000: diverged: loss is nan" "$scalebench" run \
    "$tmp/bound.yaml" --out "$tmp/results"
if python_with pandas >/dev/null; then
    check "pandas reads values that are not numbers" loads_in_pandas
else
    lacks "pandas reads values that are not numbers" pandas
fi
if command -v Rscript >/dev/null; then
    check "R reads values that are not numbers" loads_in_r
else
    lacks "R reads values that are not numbers" R
fi
if "$build/peer_torch" --check "${wild[@]}" >"$tmp/answer.txt" 2>&1; then
    check "the PyTorch peer reports divergence, too" peer_tells_too
else
    lacks "the PyTorch peer reports divergence, too" torch
fi
finish
