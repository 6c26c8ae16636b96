#!/usr/bin/env bash
# Checks that disturbed launches are flagged. It runs two campaigns of the same points: one undisturbed, one with a busy
# program (a hog) on a launch's first processor in one launch of ten. Prints CSV to standard output and one sentence per
# row to standard error: flagged launches beside a hog, between hogs and undisturbed, with exact binomial intervals of
# 95 % (Clopper and Pearson). Before them it prints each flagged launch, its reason and the limit.
#
# With MINUTES it repeats undisturbed campaigns for that time. The rows then cover all of them, also one per reason. It
# prints progress after each campaign; an interruption ends with the rows so far.
#
# LAUNCHES (10) per point of two points, STEPS (30) and MODEL (keras_690k) may be set; BUILD is the build folder. Runs are
# kept in its noise/hog and noise/quiet until the next call. Use an idle machine. Exit status 1: a launch beside a hog was
# not flagged, or more than QUIET (0) per cent of the others were; 130: interrupted.
set -eu -o pipefail
# shellcheck source=ci/help.sh
. "$(dirname "$0")/../help.sh"
take_no_arguments "$@"
cd "$(dirname "$0")/../.."
build=$(cd "${BUILD:-build}" && pwd)
launcher=${MPIEXEC:-$(command -v mpiexec.mpich || command -v mpiexec)}
work=$build/noise/hog
[ -z "${MINUTES:-}" ] || work=$build/noise/quiet
rm -rf "$work"
mkdir -p "$work"

cat >"$work/noise.yaml" <<SPEC
name: noise
scaling: strong
model: ${MODEL:-keras_690k}
data: {set: digits, samples: 2000}
train: {global_batch: 128}
matrix: {ranks: [1, 2]}
place: {oversubscribe: allow}
measure:
  time: {warmup_steps: 2, steps: ${STEPS:-30}, launches: ${LAUNCHES:-10}..${LAUNCHES:-10}}
  budget: 4h
figures: []
SPEC

# A launcher in place of mpiexec that starts the hog beside launches 4, 11, 28, 35, ...
cat >"$work/mpiexec" <<'WRAPPER'
#!/usr/bin/env bash
for word; do
    case $word in --record=*) record=${word#*=} ;; esac
done
n=$(wc -l <"$NOISE_WORK/launches")
[ "$NOISE_HOG" != 0 ] && [ $((n % 10)) -eq $(((7 * (n / 10) + 3) % 10)) ] || NOISE_HOG=0
echo "launches/${record##*/launches/} $((NOISE_HOG != 0))" >>"$NOISE_WORK/launches"
[ "$NOISE_HOG" != 0 ] || exec "$NOISE_LAUNCHER" "$@"
kill -CONT "$NOISE_HOG"
"$NOISE_LAUNCHER" "$@"
status=$?
kill -STOP "$NOISE_HOG"
exit "$status"
WRAPPER
chmod +x "$work/mpiexec"

# Runs a campaign with this hog; 0: none.
campaign() { # hog
    : >"$work/launches"
    NOISE_WORK=$work NOISE_LAUNCHER=$launcher NOISE_HOG=$1 MPIEXEC=$work/mpiexec "$build/scalebench" \
        run "$work/noise.yaml" --out "$work/results" --fresh >"$work/run.log" 2>&1
}

must() { # command
    "$@" || {
        tail -n 20 "$work/run.log" >&2
        exit 1
    }
}

# Prints "hogged reasons" for each launch of the latest campaign; "-" without reasons.
launches() {
    local run
    run=$(realpath "$work/results/noise/latest")
    awk -v run="${run##*/}" '
        NR == FNR { hogged[$1] = $2; next }
        FNR == 1 { FS = ","; $0 = $0; for (i = 1; i <= NF; i++) if ($i == "disturbed") c = i; next }
        {
            while (match($0, /"[^"]*"/)) { # commas inside cells
                cell = substr($0, RSTART + 1, RLENGTH - 2)
                gsub(/,/, ";", cell)
                $0 = substr($0, 1, RSTART - 1) cell substr($0, RSTART + RLENGTH)
            }
            n = split($c, told, "; ")
            reasons = n ? "" : "-"
            for (i = 1; i <= n; i++) reasons = reasons (i > 1 ? "," : "") substr(told[i], 1, index(told[i], " ") - 1)
            print hogged[$1] + 0, reasons
            if (n) print "flagged  " run "/" $1 (hogged[$1] ? ", beside the hog: " : ": ") $c >"/dev/stderr"
        }' "$work/launches" "$run/raw.csv"
}

# Prints a row of flagged launches, with or without a hog, and by one reason if it is named. At the limits of rate p,
# at least (at most) as many of n turn up with a probability of 2.5 %.
count() { # what, file, hogged, wanted: all, few or "", reason
    awk -v what="$1" -v hogged="$3" -v wanted="$4" -v reason="${5:-}" -v quiet="${QUIET:-0}" '
        function tail(n, k, p,   i, log_term, sum) { # P(B >= k), 0 < p < 1
            log_term = n * log(1 - p)
            for (i = 0; i <= n; i++) {
                if (i >= k) sum += exp(log_term)
                log_term += log((n - i) / (i + 1) + (i == n)) + log(p / (1 - p))
            }
            return sum
        }
        function rate(n, k, probability,   lo, hi, i) { # at which P(B >= k) is that
            hi = 1
            for (i = 0; i < 50; i++)
                if (tail(n, k, (lo + hi) / 2) < probability) lo = (lo + hi) / 2
                else hi = (lo + hi) / 2
            return (lo + hi) / 2
        }
        $1 == hogged { n++; flagged += reason == "" ? $2 != "-" : index("," $2 ",", "," reason ",") > 0 }
        END {
            pct = n ? 100 * flagged / n : 0
            lo = flagged > 0 ? 100 * rate(n, flagged, 0.025) : 0
            hi = flagged < n ? 100 * rate(n, flagged + 1, 0.975) : 100
            met = wanted == "" ? "" : (wanted == "all" ? flagged == n : pct <= quiet) ? "yes" : "no"
            printf "%s,%d,%d,%.4g,%.4g,%.4g,%s,%s\n", what, n, flagged, pct, lo, hi, wanted, met
            printf "%-8s %d of %d launches flagged%s: %.3g %% [%.3g, %.3g]%s\n", what, flagged, n,
                reason == "" ? "" : " by " reason, pct, lo, hi,
                wanted == "" ? "" : ", " wanted " wanted: " met >"/dev/stderr"
        }' "$2"
}

heading="launches,n,flagged,flagged_pct,lo_pct,hi_pct,wanted,met"

beside_a_hog() {
    # The hog is not a child of a launch, since its time would count as the launch's. It is stopped and continued.
    local cpus first
    cpus=$(taskset -cp $$)
    first=${cpus##*: }
    taskset -c "${first%%[-,]*}" sh -c 'kill -STOP $$; while :; do :; done' &
    hog=$!
    trap 'kill -CONT "$hog"; kill "$hog"' EXIT
    must campaign 0
    launches >"$work/alone"
    must campaign "$hog"
    launches >"$work/hogged"
    {
        echo "$heading"
        count hogged "$work/hogged" 1 all
        count between "$work/hogged" 0 few
        count alone "$work/alone" 0 few
    } | tee "$work/noise.csv"
}

# Makes the tables of an interrupted campaign from its launches; the first may be missing.
left_alone() {
    local begin=$SECONDS end interrupted='' before=''
    end=$(awk -v minutes="$MINUTES" -v now="$SECONDS" 'BEGIN { printf "%d", now + 60 * minutes }')
    : >"$work/quiet"
    trap 'interrupted=1' INT TERM
    while [ -z "$interrupted" ] && { [ "$SECONDS" -lt "$end" ] || [ ! -s "$work/quiet" ]; }; do
        campaign 0 || {
            [ -n "$interrupted" ] || must false
            [ "$(readlink "$work/results/noise/latest")" != "$before" ] || break
            "$build/scalebench" figures "$work/results/noise/latest" >>"$work/run.log" 2>&1 || break
        }
        before=$(readlink "$work/results/noise/latest")
        launches >>"$work/quiet"
        awk -v seconds=$((SECONDS - begin)) -v minutes="$MINUTES" '
            $2 != "-" { flagged++ }
            END { printf "%.1f of %g minutes: %d launches, %d flagged\n", seconds / 60, minutes, NR, flagged }' \
            "$work/quiet" >&2
    done
    trap - INT TERM
    {
        echo "$heading"
        count quiet "$work/quiet" 0 few
        awk '$2 != "-" { print $2 }' "$work/quiet" | tr ',' '\n' | sort -u | while read -r reason; do
            count "quiet_$reason" "$work/quiet" 0 "" "$reason"
        done
    } | tee "$work/noise.csv"
    [ -z "$interrupted" ] || exit 130
}

if [ -n "${MINUTES:-}" ]; then left_alone; else beside_a_hog; fi
! grep -q ',no$' "$work/noise.csv"
