#!/usr/bin/env bash
# Whether `scalebench compare` calls a run and its repetition the same, and finds a slow-down, as CSV on standard
# output and a sentence a row on standard error:
#
#   repeated        points of a campaign and of another that is the same that are called same or undecided
#   repeated_floor  the same where no repetitions are known, with the floor that is taken then
#   slowed          points with a rank that sleeps for a tenth of a step that are called slower
#   slowed_floor    the same where no repetitions are known
#
# A point a strategy, at two ranks. The campaign runs 1 + REPETITIONS (10) times, then SLOWED (3) times with rank
# 1 asleep; launches and precision are the usual ones unless LAUNCHES (6..12) says otherwise. MODEL
# (keras_690k), BATCH (256) and STEPS (30) may be set, too; BUILD is the build folder. Some ten minutes. Exit
# status 1: less than 95 % of `repeated` or `repeated_floor`, or a slow-down that was not found.
set -eu -o pipefail
cd "$(dirname "$0")/.."
build=$(cd "${BUILD:-build}" && pwd)
repetitions=${REPETITIONS:-10}
slowed=${SLOWED:-3}
strategies="allreduce bucketed ring shm"
work=$build/compare
rm -rf "$work"
mkdir -p "$work"

# name, further words of each case ($strategy is its strategy)
write_spec() {
    cat <<SPEC
name: $1
model: ${MODEL:-keras_690k}
data: {set: digits, samples: 5000}
train: {optimizer: sgd, lr: 0.01, global_batch: ${BATCH:-256}}
ranks: 2
measure:
  time: {warmup_steps: 5, steps: ${STEPS:-30}, launches: ${LAUNCHES:-6..12}, precision: 5%}
  budget: 1h
figures: []
cases:
SPEC
    for strategy in $strategies; do
        echo "  - {label: $strategy, sync.strategy: $strategy$(case_options "$1" "$strategy")}"
    done
}

# A tenth of the step of the first campaign.
case_options() { # name, strategy
    [ "$1" = slowed ] || return 0
    awk -F, -v strategy="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR > 1 && $column["strategy"] == strategy {
            printf ", inject.kind: fixed, inject.ranks: [1], inject.sleep: %.6fms", $column["step_ms_median"] / 10
        }' "$work/results/repeated/latest/summary.csv"
}

run() { # name
    "$build/scalebench" run "$work/$1.yaml" --out "$work/results" --fresh >>"$work/log" 2>&1 || {
        tail -5 "$work/log" >&2
        return 1
    }
}

# Verdicts of all points, a word a line.
verdicts() { # reference, run, options
    local status=0
    "$build/scalebench" compare "$@" --format csv --output "$work/verdicts.csv" >&2 || status=$?
    [ "$status" -le 1 ] || return "$status"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
             NR > 1 { print $column["verdict"] == "" ? "none" : $column["verdict"] }' "$work/verdicts.csv"
}

missed=0
row() { # name, verdicts that count, the least share, file
    local n hits
    n=$(wc -l <"$4")
    hits=$(grep -cE "^($2)\$" "$4" || true)
    awk -v name="$1" -v n="$n" -v hits="$hits" -v least="$3" -v what="${2//|/ or }" 'BEGIN {
        share = n > 0 ? hits / n : 0
        printf "%s,%d,%d,%.4f,%s\n", name, n, hits, share, least
        printf "%s: %d of %d points are %s, %.1f %% (wanted: %g %%)\n", name, hits, n, what, 100 * share,
               100 * least >"/dev/stderr"
        exit share < least }' || missed=1
}

write_spec repeated >"$work/repeated.yaml"
for ((i = 0; i <= repetitions; i++)); do
    echo "campaign $((i + 1)) of $((1 + repetitions + slowed))" >&2
    run repeated
done
write_spec slowed >"$work/slowed.yaml"
for ((i = 0; i < slowed; i++)); do
    echo "campaign $((2 + repetitions + i)) of $((1 + repetitions + slowed))" >&2
    run slowed
done

runs=("$work"/results/repeated/2*)
slow=("$work"/results/slowed/2*)
: >"$work/repeated"; : >"$work/repeated_floor"; : >"$work/slowed"; : >"$work/slowed_floor"
for other in "${runs[@]:1}"; do
    verdicts "${runs[0]}" "$other" >>"$work/repeated"
    verdicts "${runs[0]}" "$other" --floor 3% >>"$work/repeated_floor"
done
for other in "${slow[@]}"; do
    verdicts "${runs[0]}" "$other" >>"$work/slowed"
    verdicts "${runs[0]}" "$other" --floor 3% >>"$work/slowed_floor"
done
echo "quantity,points,hits,share,wanted"
row repeated "same|undecided" 0.95 "$work/repeated"
row repeated_floor "same|undecided" 0.95 "$work/repeated_floor"
row slowed slower 1 "$work/slowed"
row slowed_floor slower 1 "$work/slowed_floor"
"$build/scalebench" compare "${runs[0]}" "${slow[0]}" >&2 || true
exit "$missed"
