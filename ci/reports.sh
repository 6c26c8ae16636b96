#!/usr/bin/env bash
# Regenerates every figure and table of the reports: what each campaign is forecast to take, then the campaigns,
# the shortest first, those not yet known last. What is done is not run again: the same command goes on after an
# interruption, also days later.
#
# QUICK=1 runs the quick form of each spec, as <name>_quick: for a look at all in minutes, no results. REPORTS
# (all of configs/reports) may name some, as "kota/parts wang_yang/table2"; OUT (results) is the folder of all
# results, SET changes values of every spec, BUILD is the build folder. Exit status 1: a campaign failed; 130:
# interrupted.
set -eu -o pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}
out=${OUT:-results}
set=${SET:-}
[ -z "${QUICK:-}" ] || set="form=quick $set"
mapfile -t all < <(cd configs/reports && printf '%s\n' */*.yaml | sed 's/[.]yaml$//')
read -ra names <<<"${REPORTS:-${all[*]}}"

# Each of these is in the list.
for name in "${names[@]}"; do
    [ -e "configs/reports/$name.yaml" ] || {
        echo "reports.sh: REPORTS: there is no configs/reports/$name.yaml; there are: ${all[*]}" >&2
        exit 2
    }
done

# "SECONDS NAME WORDS": what `plan` forecasts; far above all others where nothing of it has been run.
forecast() { # name
    local log
    log=$("$build/scalebench" plan "configs/reports/$1.yaml" --out "$out" ${set:+--set "$set"} 2>&1 </dev/null) || {
        printf '%s\n' "$log" | tail -n 1 >&2
        return 1
    }
    printf '%s\n' "$log" | awk -v name="$1" '
        /timed launches?, .* accuracy runs?; budget/ { what = $0 }
        /^forecast: / {
            sub(/^forecast: /, "")
            words = $0
            unknown = /none|have not been run/
            seconds = 0
            for (i = 1; i < NF; i++) {
                if ($(i + 1) ~ /^d/) seconds += 86400 * $i
                else if ($(i + 1) ~ /^h/) seconds += 3600 * $i
                else if ($(i + 1) ~ /^min/) seconds += 60 * $i
                else if ($(i + 1) ~ /^s/) seconds += $i
                else break
                i++
            }
        }
        END { printf "%.1f %s %s; forecast: %s\n", seconds + (unknown ? 1e9 : 0), name, what, words }'
}

plans=$(for name in "${names[@]}"; do forecast "$name" || exit; done | LC_ALL=C sort -n) || exit 2
printf '%s\n' "$plans" | sed -E 's/^[^ ]+ ([^ ]+) /\1: /'
[ -z "${PLAN:-}" ] || exit 0

failed=()
skipped=()
done=0
mkdir -p "$out"
while read -r _ name _; do
    done=$((done + 1))
    echo "[$done/${#names[@]}] $name"
    status=0
    "$build/scalebench" run "configs/reports/$name.yaml" --out "$out" ${set:+--set "$set"} </dev/null || status=$?
    case $status in
    0) ;;
    3) skipped+=("$name") ;;
    130)
        echo "interrupted; the same command goes on" >&2
        exit 130
        ;;
    *) failed+=("$name") ;;
    esac
done <<<"$plans"
echo "$((${#names[@]} - ${#failed[@]} - ${#skipped[@]})) of ${#names[@]} figures and tables of the reports were regenerated in $SECONDS s"
[ ${#skipped[@]} -eq 0 ] || echo "cannot run here: ${skipped[*]}"
[ ${#failed[@]} -eq 0 ] || {
    echo "failed: ${failed[*]}" >&2
    exit 1
}
