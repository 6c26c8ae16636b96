#!/usr/bin/env bash
# Measures every figure and table of the reports and of configs/reports/past. It first prints a forecast of the time of each campaign
# and in total. Then it runs the campaigns, the shortest first, those without a forecast last; views follow the spec of
# their campaign. Finished launches are not repeated: the same command resumes, also days later.
#
# A view writes its tables and figures into the run of its campaign, over those before. So each spec's are copied to
# OUT/reports/REPORT_FIGURE when it has run, without records; `figures`, `report` and ci/references.sh accept that folder.
#
# QUICK=1 runs the quick form of each spec, as NAME_quick: a trial in minutes, without results. REPORTS selects specs, as
# "kota/parts wang_yang/table2" (all of configs/reports). OUT (results) is the folder of all results, SET changes values
# of every spec, BUILD is the build folder; PLAN=1 runs nothing. Exit status 1: a campaign failed; 130: interrupted.
set -eu -o pipefail
# shellcheck source=ci/help.sh
. "$(dirname "$0")/help.sh"
# shellcheck source=ci/specs.sh
. "$(dirname "$0")/specs.sh"
take_no_arguments "$@"
cd "$(dirname "$0")/.."
build=${BUILD:-build}
out=${OUT:-results}
set=${SET:-}
[ -z "${QUICK:-}" ] || set="form=quick $set"
mapfile -t all < <(cd configs/reports && printf '%s\n' */*.yaml | sed 's/[.]yaml$//')
read -ra names <<<"${REPORTS:-${all[*]}}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Checks that REPORTS names known specs.
for name in "${names[@]}"; do
    [ -e "configs/reports/$name.yaml" ] || {
        echo "reports.sh: REPORTS: configs/reports/$name.yaml not found; known: ${all[*]}" >&2
        exit 2
    }
done

# Writes every plan as a table, report/figure.csv.
plan_all() {
    local name
    for name in "${names[@]}"; do
        mkdir -p "$scratch/${name%/*}"
        "$build/scalebench" plan "configs/reports/$name.yaml" --out "$out" ${set:+--set "$set"} --format csv \
            >"$scratch/$name.csv" 2>"$scratch/log" </dev/null || {
            tail -n 1 "$scratch/log" >&2
            return 1
        }
    done
}

# Prints lines to sort: seconds of the campaign, its name, whether it is a view, then the text about the spec. The last
# line is the total, in which launches that several specs share count once.
# shellcheck disable=SC2016 # awk's own
tell='
function duration(s) {
    s = int(s + 0.5)
    if (s < 60) return s " s"
    return s < 3600 ? int(s / 60) " min " s % 60 " s" : int(s / 3600) " h " int(s % 3600 / 60) " min"
}
function plural(n, one, several) { return n " " (n == 1 ? one : several) }
function forecast(least, most, left,    text) {
    text = "forecast: " duration(least)
    if (duration(most) != duration(least)) text = text ", at most " duration(most)
    return text (duration(left) == duration(least) ? "" : ", of which " duration(left) " are left")
}
function raise(seconds, key, value) { if (value > seconds[key]) seconds[key] = value }
function end_spec() {
    specs++
    raise(by_campaign, campaign, left + (unknown ? 1e9 : 0))
    sorted[specs] = campaign " " (index(views, " " name " ") > 0) " " name
    text[specs] = name ": " plural(points, "point", "points") (skipped ? ", " skipped " skipped" : "") ", " \
        plural(timed, "timed launch", "timed launches") ", " plural(accuracy, "accuracy run", "accuracy runs") "; " \
        forecast(least, most, left) (cut < 1 ? "" : "; measure.budget has no room for another " duration(cut)) \
        (rough ? "; of " rough " roughly" : "") (unknown ? "; of " unknown " unknown" : "")
}
FNR == 1 {
    if (NR > 1) end_spec()
    split("", column)
    for (i = 1; i <= NF; i++) column[$i] = i
    name = substr(FILENAME, length(folder) + 2)
    sub(/[.]csv$/, "", name)
    points = skipped = timed = accuracy = least = most = left = cut = rough = unknown = 0
    next
}
{
    gsub(/"[^"]*"/, "quoted")
    campaign = $column["campaign"]
    points++
    skipped += $column["status"] == "skipped"
    if ($column["status"] != "runs") next
    timed += $column["timed"]
    accuracy += $column["accuracy"]
    least += $column["least_s"]
    most += $column["most_s"]
    left += $column["left_s"]
    cut += $column["cut_s"]
    bases = $column["timed_basis"] " " $column["accuracy_basis"]
    unknown += bases ~ /unknown/
    rough += bases ~ /rough/ && bases !~ /unknown/
    key = campaign " " $column["point"]
    raise(least_of, key, $column["least_s"] + 0)
    raise(most_of, key, $column["most_s"] + 0)
    raise(left_of, key, $column["left_s"] + 0)
}
END {
    end_spec()
    for (i = 1; i <= specs; i++) {
        split(sorted[i], part, " ")
        printf "%.1f %s %s\n", by_campaign[part[1]], sorted[i], text[i]
    }
    least = most = left = 0
    for (key in least_of) least += least_of[key]
    for (key in most_of) most += most_of[key]
    for (key in left_of) left += left_of[key]
    printf "1e12 - - - all: %s; %s\n", plural(specs, "figure or table", "figures and tables"), forecast(least, most, left)
}'

# Copies tables, spec and the figures drawn by this run, and the model's coefficients in them, since make bench-comm may
# measure these again.
keep_apart() { # name, folder of the run
    local to=$out/reports/${1/\//_}${QUICK:+_quick} part
    rm -rf "$to"
    mkdir -p "$to"
    find "$2/" -maxdepth 1 -name '*.csv' ! -name 'series_*' ! -name 'dots_*' -exec cp -t "$to" {} +
    find "$2/" -maxdepth 1 -type f -newer "$scratch/begun" \
        \( -name '*.svg' -o -name '*.png' -o -name '*.txt' -o -name 'series_*.csv' -o -name 'dots_*.csv' \) -exec cp -t "$to" {} +
    [ ! -e "$out/comm/latest/link.csv" ] || cp "$out/comm/latest/link.csv" "$to"
    for part in spec.yaml manifest.json summary.md summary.tex models published; do
        [ ! -e "$2/$part" ] || cp -r "$2/$part" "$to"
    done
}

views=
for name in "${names[@]}"; do
    [ -z "$(viewed "$name")" ] || views+="$name "
done
plan_all || exit 2
tables=("${names[@]/#/$scratch/}")
plans=$(LC_ALL=C awk -F , -v folder="$scratch" -v views=" $views" "$tell" "${tables[@]/%/.csv}" |
    LC_ALL=C sort -k 1,1g -k 2,4)
printf '%s\n' "$plans" | cut -d ' ' -f 5-
[ -z "${PLAN:-}" ] || exit 0

failed=()
skipped=()
done=0
mkdir -p "$out"
while read -r _ campaign _ name _; do
    [ "$name" != - ] || break
    done=$((done + 1))
    echo "[$done/${#names[@]}] $name"
    status=0
    touch "$scratch/begun"
    "$build/scalebench" run "configs/reports/$name.yaml" --out "$out" ${set:+--set "$set"} </dev/null || status=$?
    case $status in
    0) keep_apart "$name" "$out/$campaign/latest" ;;
    3) skipped+=("$name") ;;
    129 | 130 | 131 | 143)
        echo "interrupted. Run the same command again to resume." >&2
        exit "$status"
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
