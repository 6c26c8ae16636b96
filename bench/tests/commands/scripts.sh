#!/usr/bin/env bash
# Tests the scripts of ci/: --help prints their head, and they reject unknown arguments before they do anything.
# cores: 1
set -u
. bench/tests/lib/tap.sh

# Scripts without #! are sourced by others. data.sh prints its own text.
scripts=()
for script in ci/*.sh ci/measure/*.sh; do
    [ "$(head -c 2 "$script")" != '#!' ] || scripts+=("$script")
done
export OUT=$tmp/out INTO=$tmp/kept BUILD=$build MPIEXEC=$mpiexec

# --help prints the whole comment, also from another folder.
tells() { # script, folder
    (cd "$2" && bash "$OLDPWD/$1" --help) >"$tmp/help" || return
    case $1 in
    ci/data.sh) grep -q "^usage: ci/data.sh" "$tmp/help" ;;
    *) diff "$tmp/help" <(sed -n '2,/^[^#]/s/^#\( \|$\)//p' "$1") ;;
    esac
}

refuses() { # script
    local status=0
    "$1" --nonsense >"$tmp/log" 2>&1 </dev/null || status=$?
    cat "$tmp/log"
    [ "$status" -eq 2 ] && grep -qE -- "--nonsense|usage:|'--nonsense'" "$tmp/log" &&
        [ -z "$(find "$tmp/out" "$tmp/kept" -type f 2>/dev/null)" ]
}

for script in "${scripts[@]}"; do
    check "$script --help" tells "$script" "$tmp"
    check "$script --nonsense" refuses "$script"
done
check "one argument too many" expect 2 "usage: ci/bundle.sh [BUILD_FOLDER]" ci/bundle.sh "$tmp" more
check "another kind of packages too many" expect 2 "usage: deps.sh" ci/deps.sh core extra
# Numbers keep decimal points in a locale with decimal commas.
counts_with_points() {
    diff <(LC_ALL=C ci/references.sh plan strong_scaling peer) \
        <(LC_ALL=de_DE.UTF-8 LOCPATH="$tmp/locales" ci/references.sh plan strong_scaling peer)
}
mkdir "$tmp/locales"
if localedef -i de_DE -f UTF-8 "$tmp/locales/de_DE.UTF-8" >/dev/null 2>&1 &&
    [ "$(LC_ALL=de_DE.UTF-8 LOCPATH="$tmp/locales" locale decimal_point)" = , ]; then
    check "numbers have points in every locale" counts_with_points
else
    skip "numbers have points in every locale" "no localedef, or no de_DE to make"
fi
# Its tables are missing.
keeps_nothing_on_its_way() {
    mkdir -p "$tmp/out/strong_scaling/latest" "$tmp/on_its_way"
    echo "{}" >"$tmp/out/strong_scaling/latest/manifest.json"
    expect 1 "summary.csv" env TMPDIR="$tmp/on_its_way" ci/references.sh keep strong_scaling &&
        [ -z "$(ls "$tmp/on_its_way")" ]
}
check "output that cannot be kept leaves no files" keeps_nothing_on_its_way
# Claims use resources.csv of kota_parts, so six launches of each point are kept. A launch of all points has 0.86 MB.
keeps_launches_that_claims_use() {
    local run=$tmp/out/reports/kota_parts
    mkdir -p "$tmp/out/reports" "$tmp/kept"
    cp -r results/reference/kota_parts "$run" || return 1
    awk -F , 'NR == 1 { print; next } { for (k = 0; k < 8; k++) { line = $0; sub(/time-00[01]/, "time-00" k, line); print line } }' \
        results/reference/kota_parts/resources.csv >"$run/resources.csv" &&
        ci/references.sh keep kota/parts || return 1
    [ "$(grep -o 'launches/595955a08f80/time-00.' "$tmp/kept/kota_parts/resources.csv" | sort -u | wc -l)" -ge 6 ] &&
        [ "$(wc -c <"$tmp/kept/kota_parts/resources.csv")" -lt 6000000 ]
}
check "launches that claims use are kept" keeps_launches_that_claims_use
check "a list that has no names" expect 2 "usage: ci/references.sh" ci/references.sh write peer
finish
