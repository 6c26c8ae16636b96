#!/usr/bin/env bash
# Whether disturbed launches are told: two campaigns of the same points, one left alone, one with a
# program that never rests (a hog) on a launch's first processor in one launch of ten. As CSV on standard
# output and a sentence a row on standard error: how many launches were flagged of those beside a hog, of
# those between them, and of those left alone; before that, which launches were flagged and by what.
#
# LAUNCHES (10) a point, of which there are two; STEPS (30) and MODEL (keras_690k) may be set; BUILD is the
# build folder. Exit status 1: a launch beside a hog was not flagged, or more than QUIET (0) per cent of
# the others. Both mean something on a machine without other load only.
set -eu -o pipefail
cd "$(dirname "$0")/.."
build=$(cd "${BUILD:-build}" && pwd)
launcher=${MPIEXEC:-$(command -v mpiexec.mpich || command -v mpiexec)}
work=$build/noise
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

# The hog is no child of a launch, whose own time it would count as; it is let go and stopped.
cpus=$(taskset -cp $$)
first=${cpus##*: }
taskset -c "${first%%[-,]*}" sh -c 'kill -STOP $$; while :; do :; done' &
hog=$!
trap 'kill -CONT "$hog"; kill "$hog"' EXIT

# Takes the place of mpiexec: beside the launches 4, 11, 28, 35, ... it lets the hog go.
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

# Lines "hogged flagged" of the campaign that was run with this hog, or 0 for none.
campaign() { # hog
    : >"$work/launches"
    NOISE_WORK=$work NOISE_LAUNCHER=$launcher NOISE_HOG=$1 MPIEXEC=$work/mpiexec "$build/scalebench" \
        run "$work/noise.yaml" --out "$work/results" --fresh >"$work/run.log" 2>&1 || {
        tail -n 20 "$work/run.log" >&2
        exit 1
    }
    awk 'NR == FNR { hogged[$1] = $2; next }
        FNR == 1 { FS = ","; $0 = $0; for (i = 1; i <= NF; i++) if ($i == "disturbed") c = i; next }
        { while (match($0, /"[^"]*"/)) { # commas of a cell
              cell = substr($0, RSTART + 1, RLENGTH - 2); gsub(/,/, ";", cell)
              $0 = substr($0, 1, RSTART - 1) cell substr($0, RSTART + RLENGTH) }
          print hogged[$1], ($c != "")
          if ($c != "") print "flagged  " $1 (hogged[$1] ? ", beside the hog: " : ": ") $c >"/dev/stderr" }' \
        "$work/launches" "$work/results/noise/latest/raw.csv"
}

count() { # what, file, hogged, wanted: all or few
    awk -v what="$1" -v hogged="$3" -v wanted="$4" -v quiet="${QUIET:-0}" '
        $1 == hogged { n++; flagged += $2 }
        END {
            pct = n ? 100 * flagged / n : 0
            met = (wanted == "all" ? flagged == n : pct <= quiet) ? "yes" : "no"
            printf "%s,%d,%d,%.4g,%s,%s\n", what, n, flagged, pct, wanted, met
            printf "%-8s %d of %d launches flagged (%.3g %%), %s wanted: %s\n", what, flagged, n, pct, wanted,
                met >"/dev/stderr"
        }' "$2"
}

campaign 0 >"$work/alone"
campaign "$hog" >"$work/hogged"
{
    echo "launches,n,flagged,flagged_pct,wanted,met"
    count hogged "$work/hogged" 1 all
    count between "$work/hogged" 0 few
    count alone "$work/alone" 0 few
} | tee "$work/noise.csv"
! grep -q ',no$' "$work/noise.csv"
