#!/usr/bin/env bash
# Checks that `scalebench compare` calls a campaign and its repetition the same, and finds a slow-down. Prints CSV to
# standard output and one sentence per row to standard error:
#
#   repeated        points of repeated campaigns with verdict same or undecided
#   slowed          points with verdict slower, in campaigns in which one rank sleeps for a tenth of each step
#   repeated_alone, slowed_alone   the counts of repeated and slowed if each side has a single campaign
#
# Each row appears twice for the time of a step: at the clock of the reference (the default of compare), and as measured.
#
# One point per strategy, on two ranks. The campaign runs 1 + REPETITIONS (10) times, and SLOWED (3) times with a
# sleeping rank 1 in between. Launches (6..20 per point) and precision (5 %) are the defaults of specs unless LAUNCHES is
# set. MODEL (keras_690k), BATCH (128), STEPS (20) and STRATEGIES may be set too; BUILD is the build folder. The first
# campaign is the reference. After MINUTES (9.5) no campaign begins: the rows then cover the campaigns so far, and the
# same command resumes, as after an interruption. Results are kept in $BUILD/compare/HASH, a hash of programs and
# spec; FRESH=1 starts again.
#
# Use an idle machine. Each campaign's line states how much of the processors others used.
#
# Exit status 1: at the reference's clock, less than 95 % of `repeated` or `repeated_alone`, or less than 90 % of
# `slowed` (floor.h explains the other rows); 4: campaigns are still missing.
set -eu -o pipefail
# shellcheck source=ci/help.sh
. "$(dirname "$0")/../help.sh"
take_no_arguments "$@"
cd "$(dirname "$0")/../.."
build=$(cd "${BUILD:-build}" && pwd)
repetitions=${REPETITIONS:-10}
slowed=${SLOWED:-3}
strategies=${STRATEGIES:-allreduce bucketed ring shm}
end=$(awk -v minutes="${MINUTES:-9.5}" -v now="$(date +%s)" 'BEGIN { printf "%d", now + 60 * minutes }')

# name, function that prints further keys of each case
write_spec() {
    local strategy
    cat <<SPEC
name: $1
model: ${MODEL:-keras_690k}
data: {set: digits, samples: 5000}
train: {optimizer: sgd, lr: 0.01, global_batch: ${BATCH:-128}}
ranks: 2
measure:
  time: {warmup_steps: 5, steps: ${STEPS:-20}${LAUNCHES:+, launches: $LAUNCHES}}
  budget: 1h
figures: []
cases:
SPEC
    for strategy in $strategies; do
        echo "  - {label: $strategy, sync.strategy: $strategy$("$2" "$strategy")}"
    done
}

asleep_never() { :; }

# Prints keys that make rank 1 sleep for a tenth of the first campaign's step.
asleep() { # strategy
    awk -F, -v strategy="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR > 1 && $column["strategy"] == strategy {
            printf ", inject.kind: fixed, inject.ranks: [1], inject.sleep: %.6fms", $column["step_ms_median"] / 10
        }' "$(first_of repeated)/summary.csv"
}

key=$({ write_spec repeated asleep_never && cat "$build"/{pin,train_cnn}; } | sha256sum)
work=$build/compare/${key:0:8}
[ -z "${FRESH:-}" ] || rm -rf "$work"
mkdir -p "$work/results" "$work/verdicts"
touch "$work/done"

# done: lines "kind name folder" of campaigns that have ended.
count_done() { grep -c "^$1 " "$work/done" || true; }
folders_of() { awk -v kind="$1" '$1 == kind { print $3 }' "$work/done"; }
first_of() { folders_of "$1" | head -1; }

# Resumes a run that an interruption left unfinished.
run() { # kind, name
    local fresh=--fresh latest=$work/results/$2/latest
    if [ -e "$latest" ] && ! grep -q " $(realpath "$latest")\$" "$work/done"; then fresh=; fi
    "$build/scalebench" run "$work/$2.yaml" --out "$work/results" $fresh >>"$work/log" 2>&1 || {
        local status=$?
        tail -5 "$work/log" >&2
        return "$status"
    }
    echo "$1 $2 $(realpath "$latest")" >>"$work/done"
}

# Prints the processor share that other programs used during a campaign.
foreign() { # folder
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        NR > 1 && $column["foreign_pct"] > most { most = $column["foreign_pct"] }
        END { printf "other programs used up to %.1f %% of its processors", most }' "$1/summary.csv"
}

campaign() { # kind, name, function
    local begin=$SECONDS
    write_spec "$2" "$3" >"$work/$2.yaml"
    printf 'campaign %d of %d (%s)' "$((1 + $(wc -l <"$work/done")))" "$((1 + repetitions + slowed))" "$2" >&2
    run "$1" "$2" || {
        echo >&2
        return 1
    }
    echo ": $((SECONDS - begin)) s, $(foreign "$(tail -1 "$work/done" | cut -d' ' -f3)")" >&2
}

# Places slow campaigns between repetitions, each with its own name, so that none repeats another.
next_campaign() {
    local r s
    r=$(count_done repeated)
    s=$(count_done slowed)
    if [ "$r" -gt 0 ] && [ "$s" -lt "$slowed" ] && [ $(((r - 1) * (slowed + 1))) -ge $(((s + 1) * repetitions)) ]; then
        campaign slowed "slowed$((s + 1))" asleep
    elif [ "$r" -le "$repetitions" ]; then
        campaign repeated repeated asleep_never
    else
        campaign slowed "slowed$((s + 1))" asleep
    fi
}

missing() { [ "$(wc -l <"$work/done")" -lt $((1 + repetitions + slowed)) ]; }

while missing && [ "$(date +%s)" -lt "$end" ]; do
    next_campaign
done

# Copies a run to a folder without repetitions.
alone() { # folder
    local copy
    copy=$work/alone/$(basename "$(dirname "$1")")-$(basename "$1")/run
    mkdir -p "$copy"
    cp "$1"/{summary.csv,raw.csv,spec.yaml,manifest.json} "$copy"
    echo "$copy"
}

# Prints the verdicts of all points, one word per line; keeps the table.
verdicts() { # row, number, reference, run
    local status=0 table=$work/verdicts/$told-$1-$2.csv
    "$build/scalebench" compare "$3" "$4" "${how[@]}" --format csv --output "$table" >&2 || status=$?
    [ "$status" -le 1 ] || return "$status"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
             NR > 1 { print $column["verdict"] == "" ? "none" : $column["verdict"] }' "$table"
}

failed=0
row() { # name, verdicts that count, the least share
    local n hits
    n=$(wc -l <"$work/$1")
    [ "$n" -gt 0 ] || return 0
    hits=$(grep -cE "^($2)\$" "$work/$1" || true)
    awk -v name="$told,$1" -v n="$n" -v hits="$hits" -v least="$3" -v what="${2//|/ or }" 'BEGIN {
        share = hits / n
        printf "%s,%d,%d,%.4f,%s\n", name, n, hits, share, least == "" ? 0 : least
        sub(",", " ", name)
        printf "%s: %d of %d points are %s, %.1f %% (wanted: %g %%)\n", name, hits, n, what, 100 * share,
               100 * least >"/dev/stderr"
        exit share < least + 0 }' | tee -a "$work/rates.csv" || failed=1
}

words() { # kind: files of verdicts for rows `kind` and `kind_alone`
    local folder i=0 first
    first=$(first_of repeated)
    : >"$work/$1"
    : >"$work/$1_alone"
    for folder in $(folders_of "$1"); do
        [ "$folder" != "$first" ] || continue
        i=$((i + 1))
        verdicts "$1" "$i" "$first" "$folder" >>"$work/$1"
        verdicts "$1_alone" "$i" "$(alone "$first")" "$(alone "$folder")" >>"$work/$1_alone"
    done
}

echo "told,row,points,hits,share,wanted" | tee "$work/rates.csv"
for told in as_measured at_clock; do
    if [ "$told" = at_clock ]; then how=() strict=yes; else how=(--as-measured) strict=; fi
    words repeated
    words slowed
    row repeated "same|undecided" "${strict:+0.95}"
    row repeated_alone "same|undecided" "${strict:+0.95}"
    row slowed slower "${strict:+0.9}"
    row slowed_alone slower ""
    if [ -s "$work/slowed" ]; then
        "$build/scalebench" compare "$(first_of repeated)" "$(first_of slowed)" "${how[@]}" >&2 || true
    fi
done
if missing; then
    echo "$(wc -l <"$work/done") of $((1 + repetitions + slowed)) campaigns. Run the same command again to resume." >&2
    exit 4
fi
exit "$failed"
