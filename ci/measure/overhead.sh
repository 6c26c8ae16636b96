#!/usr/bin/env bash
# Measures the time that scalebench adds to a measurement. Prints CSV to standard output and one sentence per row to
# standard error:
#
#   launch   time of a campaign's launch minus the time of the same `mpiexec -n P train_cnn ...` typed by hand. The
#            difference is planning, binding, records, journal and clean-up. Both commands alternate: a launcher in
#            place of mpiexec first runs the command by hand, then the campaign's. The start of this launcher counts as
#            time of the campaign.
#   look     time of a launch with the checks before and after it (load of the processors, a fixed computation), over the
#            time of a launch without checks, minus 1. Launches alternate. The share is largest for short launches.
#   step     time of a step of lenet_21k with hashed weights and a record of every step, minus the time of a step
#            without. Launches of both alternate on the cores of the campaign. Both read clocks.
#   between  the part of `step` that is spent between timed steps. It lacks only the effect of hashing on the caches,
#            and is hardly disturbed by noise.
#   trace    time of a step with a timeline (measure.timeline) minus the time without. Launches alternate.
#   sample   time of a step with samples of the node (measure.resources) minus the time without. Launches alternate.
#            Samples are SAMPLES (20) times as frequent as every 200 ms, and the difference is divided by SAMPLES,
#            since the constant cost of one sample is too small to measure.
#
# Each row is a median over pairs, with an exact binomial interval of at least 95 %. PAIRS (12), LOOKS (60, pairs of
# `look`), STEPS (200), SAMPLED_STEPS (2000, of `sample`) and RANKS ("1 2") may be set; BUILD is the build folder.
# Exit status 1: the whole interval of a row misses its target.
set -eu -o pipefail
# shellcheck source=ci/help.sh
. "$(dirname "$0")/../help.sh"
take_no_arguments "$@"
cd "$(dirname "$0")/../.."
build=$(cd "${BUILD:-build}" && pwd)
pairs=${PAIRS:-12}
looks=${LOOKS:-60}
steps=${STEPS:-200}
sampled_steps=${SAMPLED_STEPS:-2000}
samples=${SAMPLES:-20}
launcher=${MPIEXEC:-$(command -v mpiexec.mpich || command -v mpiexec)}
# On a disk, not in memory, since the journal is synced.
work=$build/overhead
rm -rf "$work"
mkdir -p "$work"

cat >"$work/lenet.yaml" <<SPEC
name: overhead
model: lenet_21k
data: {set: digits, samples: 2000}
train: {optimizer: sgd, lr: 0.05, global_batch: 128}
measure:
  time: {warmup_steps: 1, steps: 1, launches: $((pairs + 1))..$((pairs + 1))}
  budget: 1h
figures: []
SPEC

# A launcher in place of mpiexec. Words up to `--` are the campaign's; the rest is the command that a user types, apart
# from the record. It forks only for the two launches.
cat >"$work/mpiexec" <<'WRAPPER'
#!/usr/bin/env bash
typed=(); own=(); seen=
for word; do
    case $word in
    --) seen=1; own+=("$word") ;;
    --record=* | --version-string=*) ;;
    *) if [ -n "$seen" ]; then typed+=("$word"); else own+=("$word"); fi ;;
    esac
done
[ -s "$OVERHEAD_WORK/command" ] || printf '%q ' "${own[@]}" "${typed[@]}" >"$OVERHEAD_WORK/command"
begin=$EPOCHREALTIME
"$OVERHEAD_LAUNCHER" -n "$OVERHEAD_RANKS" "${typed[@]}" >/dev/null || exit
echo "${begin/[.,]/} ${EPOCHREALTIME/[.,]/}" >>"$OVERHEAD_WORK/stamps"
exec "$OVERHEAD_LAUNCHER" "$@"
WRAPPER
chmod +x "$work/mpiexec"

# Turns lines "with without" into a row: both medians, the median difference in `unit`, its interval, the verdict on the
# target. Order statistics k and n + 1 - k of n differences enclose the median with probability 1 - 2 P(X < k), X
# binomial with n and 1/2.
summarise() { # what, ranks, unit, target in unit, share of the second column in % instead: 1 or 0
    awk -v what="$1" -v ranks="$2" -v unit="$3" -v target="$4" -v share="$5" '
        function sort(v, n,   i, j, x) {
            for (i = 2; i <= n; i++) {
                x = v[i]
                for (j = i - 1; j > 0 && v[j] > x; j--) v[j + 1] = v[j]
                v[j + 1] = x
            }
        }
        function median(v, n) { return (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2 }
        { n++; a[n] = $1; b[n] = $2; d[n] = share ? 100 * ($1 - $2) / (NF > 2 ? $3 : $2) : $1 - $2 }
        END {
            if (n < 6) { print "overhead: " n " pairs give no interval of 95 %" >"/dev/stderr"; exit 2 }
            sort(a, n); sort(b, n); sort(d, n)
            p = 0.5 ^ n; sum = 0
            for (k = 0; 2 * (sum + p) <= 0.05; k++) { sum += p; p *= (n - k) / (k + 1) }
            lo = d[k]; hi = d[n + 1 - k]
            met = hi < target ? "yes" : lo > target ? "no" : "undecided"
            printf "%s,%d,%.6g,%.6g,%.4g,%.4g,%.4g,%s,%.4g,%d,%g,%s\n", what, ranks, median(a, n), \
                median(b, n), median(d, n), lo, hi, unit, 100 * (1 - 2 * sum), n, target, met
            printf "%-7s at %d rank%s: %.3g %s [%.3g, %.3g], target below %g: %s\n", what, ranks, \
                ranks == 1 ? "" : "s", median(d, n), unit, lo, hi, target, met >"/dev/stderr"
        }'
}

# A campaign's launch lasts from the end of the launch by hand to the start of the next one.
launches() { # ranks
    rm -f "$work/command" "$work/stamps"
    OVERHEAD_WORK=$work OVERHEAD_LAUNCHER=$launcher OVERHEAD_RANKS=$1 MPIEXEC=$work/mpiexec \
        "$build/scalebench" run "$work/lenet.yaml" --out "$work/results" --fresh \
        --set "ranks=$1" >"$work/run.log" 2>&1 || {
        tail -n 20 "$work/run.log" >&2
        exit 1
    }
    awk 'NR > 1 { print ($1 - end) / 1000, hand } { hand = ($2 - $1) / 1000; end = $2 }' "$work/stamps" |
        summarise launch "$1" ms 50 0
}

looking() { # ranks
    local command
    eval "command=($(cat "$work/command"))"
    "$build/tests/speed_view" "$looks" "$1" "$launcher" "${command[@]}" >"$work/looks"
    summarise look "$1" % 5 1 <"$work/looks"
}

# Prints "loop window": microseconds per step of the slowest rank in the whole loop and in the timed part. `beside` has
# further options of pin.
beside=()
one_run() { # options
    local command words=() word
    rm -rf "$work/record"
    mkdir "$work/record"
    eval "command=($(cat "$work/command"))"
    for word in "${command[@]}"; do
        [ "$word" != -- ] || words+=("${beside[@]}")
        words+=("$word")
    done
    "$launcher" "${words[@]}" --measure.time.warmup_steps=20 --measure.time.steps="$steps" \
        --record="$work/record" "$@" >"$work/run.log" 2>&1 || {
        cat "$work/run.log" >&2
        exit 1
    }
    awk 'function field(name) {
            return match($0, "\"" name "\":[0-9]+") ? substr($0, RSTART + length(name) + 3, RLENGTH) + 0 : 0
        }
        /"type":"end"/ {
            steps = field("timed_steps")
            if (field("loop_ns") / steps > loop) { loop = field("loop_ns") / steps; window = field("window_ns") / steps }
        }
        END { print loop / 1000, window / 1000 }' "$work"/record/rank.*.jsonl
}

measuring() { # ranks
    local i
    : >"$work/pairs"
    for ((i = 0; i < pairs; i++)); do
        echo "$(one_run) $(one_run --measure.check=none --no-steps)" >>"$work/pairs"
    done
    awk '{ print $1, $3 }' "$work/pairs" | summarise step "$1" % 1 1
    awk '{ print $1 - $2, $3 - $4, $3 }' "$work/pairs" | summarise between "$1" % 1 1
}

tracing() { # ranks
    local i
    : >"$work/pairs"
    for ((i = 0; i < pairs; i++)); do
        echo "$(one_run --measure.timeline=true) $(one_run)" >>"$work/pairs"
    done
    awk '{ print $2, $4 }' "$work/pairs" | summarise trace "$1" % 1 1
}

sampled_run() {
    beside=(--sample "$(awk -v n="$samples" 'BEGIN { print 0.2 / n }')" --sample-to "$work/record")
    one_run
    [ -s "$work/record/node.0.jsonl" ] || {
        echo "overhead: pin took no samples" >&2
        exit 1
    }
}

sampling() { # ranks
    local i steps=$sampled_steps
    : >"$work/pairs"
    for ((i = 0; i < pairs; i++)); do
        echo "$(sampled_run) $(one_run)" >>"$work/pairs"
    done
    awk -v n="$samples" '{ print $4 + ($2 - $4) / n, $4 }' "$work/pairs" | summarise sample "$1" % 1 1
}

echo "what,ranks,with,without,cost,cost_lo,cost_hi,unit,confidence_pct,pairs,target,met"
for ranks in ${RANKS:-1 2}; do
    launches "$ranks"
    looking "$ranks"
    measuring "$ranks"
    tracing "$ranks"
    sampling "$ranks"
done | tee "$work/overhead.csv"
! grep -q ',no$' "$work/overhead.csv"
