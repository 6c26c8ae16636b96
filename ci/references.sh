#!/usr/bin/env bash
# Measures the runs of results/reference, and writes the table of results/reference/README.md: one row per folder, from
# its manifest and tables.
#   ci/references.sh                     print the table
#   ci/references.sh write               write it between the marks of results/reference/README.md
#   ci/references.sh plan [NAME]...      print how long the launches of each run took last time (s)
#   ci/references.sh measure [NAME]...   measure all runs or the named runs; keep those that succeeded, write the table and judge the
#                                        claims. The same command resumes an interrupted measurement
#   ci/references.sh keep [NAME]...      keep runs that are already measured, write the table and judge the claims
#   ci/references.sh draw [NAME]...      redraw figures and documents of kept runs, after a change of plots
#
# A NAME with a slash is a spec of the reports, as "kota/parts"; `reports` names all of them. Without NAME it measures the
# specs of configs/, which takes an hour. `OUT=results ci/references.sh keep reports` keeps the runs of `make reports`.
#
# BUILD is the build folder. Runs are written to OUT ($BUILD/references); FRESH=1 starts them again. Kept runs are in INTO
# (results/reference). For a trial, SET="measure.time.steps=2" INTO=/tmp/kept changes all specs, and QUICK=1 those of the
# reports; such runs are kept apart. Exit status 1: a run failed, or points that were kept before cannot run here. Then
# the kept run stays as it was, in the second case unless LESS=1.
set -eu
shopt -s inherit_errexit
# shellcheck source=ci/help.sh
. "$(dirname "$0")/help.sh"
# shellcheck source=ci/specs.sh
. "$(dirname "$0")/specs.sh"
answer_help "$@"
cd "$(dirname "$0")/.."
build=${BUILD:-build}
out=${OUT:-$build/references${SET:+.try}}
into=${INTO:-results/reference}
[ -z "${QUICK:-}${SET:-}" ] || [ "$into" != results/reference ] || {
    echo "references: runs with QUICK=1 or SET= cannot become references. Set INTO= to a folder for a trial" >&2
    exit 2
}

# Removes unfinished files when this shell ends, in any case.
stages=$(mktemp -d)
trap 'rm -rf "$stages"' EXIT

begin='<!-- ci/references.sh writes what follows -->'
end='<!-- until here -->'

# Reads a text of the manifest, which has one per line.
fact() { # folder, name
    sed -n "s/^ *\"$2\": \"\(.*\)\",\{0,1\}\$/\1/p" "$1/manifest.json" | head -n 1
}

# Prints the command; words with blanks are quoted.
command_of() {
    awk '/"command": \[/ { inside = 1; next }
        inside && /^ *\],?$/ { exit }
        inside { sub(/^ *"/, ""); sub(/",?$/, "")
                 printf "%s%s", n++ ? " " : "", /[ =].* / ? "\"" $0 "\"" : $0 }' "$1/manifest.json"
}

rows() { # folder, table
    if [ -f "$1/$2.csv" ]; then echo $(($(wc -l <"$1/$2.csv") - 1)); else echo -; fi
}

# Prints the number of rows as a link to them.
linked_rows() { # folder, table
    if [ -f "$1/$2.csv" ]; then echo "[$(rows "$1" "$2")](${1#results/reference/}/$2.csv)"; else echo -; fi
}

# Prints the title in the kept spec; sweeps of older builds have none.
title_of() { # folder
    local spec=$1/spec.yaml
    [ -f "$spec" ] || spec=configs/${1##*/}.yaml
    [ ! -f "$spec" ] || sed -n 's/^title: *"\{0,1\}\([^"]*\(\\"[^"]*\)*\)"\{0,1\}$/\1/p' "$spec" | sed 's/\\"/"/g; s/|/\\|/g; /^none$/d'
}

# Prints a column of the first launch that has it.
first_of() { # folder, column
    awk -F , -v wanted="$2" '{ gsub(/"[^"]*"/, "quoted") }
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == wanted) c = i; next }
        c && $c != "" { print $c; exit }' "$1/raw.csv"
}

# Prints the processor, the kernels' instruction set and the caches of a core (L1 data, L2), or the clock if the machine
# does not report caches. Processors of one name differ in them.
processor() { # folder
    local isa caches mhz
    isa=$(sed -n 's/^ *"workload:isa[^"]*": "\([^"]*\)".*/\1/p' "$1/manifest.json" | head -n 1)
    caches=$(fact "$1" caches | awk 'NF > 2 { print $1 " + " $3 }')
    [ -n "$caches" ] || [ ! -f "$1/raw.csv" ] || mhz=$(first_of "$1" mhz | cut -d . -f 1)
    echo "$(fact "$1" cpu)${isa:+, $isa}${caches:+, $caches}${mhz:+, $mhz MHz}"
}

# Prints the data sets of its points: "mnist", "digits (generated)".
data_of() { # folder
    [ -f "$1/summary.csv" ] || { echo -; return; }
    awk -F , '{ gsub(/"[^"]*"/, "quoted") }
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { set = $column["dataset"]; if (set != "" && $column["data_source"] == "generated") set = set " (generated)" }
        set != "" && !(set in had) { had[set]; printf "%s%s", n++ ? ", " : "", set }
        END { print n ? "" : "-" }' "$1/summary.csv"
}

# Prints the row of a folder. A view links to the tables that it shares with its campaign.
row() { # folder
    local command revision of
    command=$(command_of "$1")
    revision=$(fact "$1" revision)
    [ -n "$command" ] || { echo "$1/manifest.json has no command" >&2; return 1; }
    command="\`$command\`"
    if [ -L "$1/manifest.json" ]; then
        of=$(readlink "$1/manifest.json")
        command="a view on \`$(basename "${of%/*}")\`"
    fi
    echo "| \`${1#results/reference/}\` | $(title_of "$1") | $(data_of "$1") | $command | $(linked_rows "$1" summary) | $(linked_rows "$1" raw) |" \
        "$(fact "$1" started | tr T ' ' | cut -c 1-16) | ${revision:--} | $(processor "$1") |"
}

table() {
    local folder
    echo "| folder | what it shows | data | command | points | launches | begun (UTC) | commit | processor |"
    echo "|---|---|---|---|---:|---:|---|---|---|"
    for folder in results/reference/*/; do
        row "${folder%/}" || return 1
    done
}

# Prints all names: first those on which others depend. Accuracy runs may use a busy machine.
list() {
    cat <<'LIST'
strong_scaling measure.time.launches=6..20
peer
peer_vgg
efficiency_vgg
efficiency measure.time.launches=12..12
overlap measure.time.launches=9..9
comm workload.options.turns=6
kernels workload.options.net=vgg11_bn workload.options.batch=64 workload.options.part=ops workload.options.isa=avx512,avx512_bf16
winograd
accuracy_lenet
accuracy
accuracy_vgg measure.accuracy.seeds=[1]
LIST
}

names() {
    list | cut -d ' ' -f 1
}

# Prints the options that the list has after a name.
options_of() { # name
    list | sed -n "s/^$1 //p"
}

reports() {
    (cd configs/reports && printf '%s\n' */*.yaml | sed 's/[.]yaml$//')
}

# Prints the folder: named after the campaign, a view after its spec.
folder_of() { # name
    case $1 in
    */*) if [ -n "$(viewed "$1")" ]; then echo "${1/\//_}"; else sed -n 's/^name: *//p' "configs/reports/$1.yaml"; fi ;;
    *) echo "$1" ;;
    esac
}

# Prints its spec and all specs of the same campaign.
family() { # name
    local base own
    base=$(viewed "$1")
    base=${base:-$1}
    for own in $(reports); do
        if [ "$own" = "$base" ] || [ "$(viewed "$own")" = "$base" ]; then echo "configs/reports/$own.yaml"; fi
    done
}

# Prints the seconds of its launches from raw.csv; for specs of the reports, the remaining time of the plan.
seconds() { # name
    case $1 in
    */*)
        "$build/scalebench" plan "configs/reports/$1.yaml" --out "$out" ${SET:+--set "$SET"} --format csv </dev/null |
            awk -F , '{ gsub(/"[^"]*"/, "quoted") }
                NR == 1 { for (i = 1; i <= NF; i++) if ($i == "left_s") c = i; next }
                { sum += $c } END { printf "%.0f\n", sum }'
        ;;
    *)
        [ -f "results/reference/$1/raw.csv" ] || return 0
        awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "wall_s") c = i; next }
            { gsub(/"[^"]*"/, "quoted"); sum += $c } END { printf "%.0f\n", sum }' "results/reference/$1/raw.csv"
        ;;
    esac
}

plan() { # names
    local name took sum=0
    for name; do
        took=$(set -o pipefail && seconds "$name")
        sum=$((sum + ${took:-0}))
        printf '%-16s %5s s\n' "$name" "${took:--}"
    done
    printf '%-16s %5s s\n' all "$sum"
}

measure() { # name
    local own=()
    if [[ $1 == */* ]]; then
        [ -z "${FRESH:-}" ] || [ -n "$(viewed "$1")" ] || rm -rf "${out:?}/$(folder_of "$1")${QUICK:+_quick}"
        PLAN="" REPORTS=$1 OUT=$out BUILD=$build ci/reports.sh
        return
    fi
    [ -z "${FRESH:-}" ] || rm -rf "${out:?}/$1"
    mapfile -t own < <(options_of "$1")
    [ -z "${SET:-}" ] || own=("$SET")
    "$build/scalebench" run "configs/$1.yaml" ${own[0]:+--set "${own[*]}"} --out "$out"
}

# Keeps a part of steps and samples, which would be hundreds of megabytes: timed launches, one per point and more up to a
# megabyte in all, or to six if a claim uses the table and so needs six launches; columns that specs, default figures or claims name; rank 0 alone if no figure shows other ranks.
narrow() { # name, its file
    local specs words room=1000000
    ! grep -q "of $(folder_of "$1")/$(basename "$2")" results/claims.yaml || room=6000000
    mapfile -t specs < <(family "$1")
    words=$(cat "${specs[@]}" results/claims.yaml bench/spec/figures/figures.def | grep -v '^ *#' | grep -o '[a-z_][a-z_0-9]*' |
        sort -u | tr '\n' ' ')
    LC_ALL=C awk -F , -v words="$words point label case launch run block timed rank epoch step" -v alone="$(shows_rank_0 "$1")" \
        -v room="$room" '
        BEGIN {
            n = split(words, word, " ")
            for (i = 1; i <= n; i++) wanted[word[i]] = 1
        }
        # Commas inside quotes do not separate cells.
        /"/ {
            n = split($0, part, "\"")
            for (i = 2; i <= n; i += 2) gsub(",", "\001", part[i])
            line = part[1]
            for (i = 2; i <= n; i++) line = line "\"" part[i]
            $0 = line
        }
        function shown(    line, i) {
            line = $kept[1]
            for (i = 2; i <= columns; i++) line = line "," $kept[i]
            gsub("\001", ",", line)
            return line
        }
        NR == 1 {
            for (i = 1; i <= NF; i++) {
                if ($i in wanted) kept[++columns] = i
                column[$i] = i
            }
            print shown()
            next
        }
        ("run" in column && $column["run"] == "accuracy") || $column["timed"] == 0 { next }
        alone && "rank" in column && $column["rank"] != 0 { next }
        {
            launch = $column["launch"]
            if (!(launch in number)) number[launch] = ++launches[$column["point"]]
            text[++lines] = shown()
            of[lines] = number[launch]
            bytes[number[launch]] += length(text[lines]) + 1
        }
        END {
            sum = bytes[last = 1]
            while (last + 1 in bytes && sum + bytes[last + 1] <= room) sum += bytes[++last]
            for (i = 1; i <= lines; i++) if (of[i] <= last) print text[i]
        }' "$2"
}

# Prints 1 if every figure of steps in the campaign's specs shows rank 0, else 0.
shows_rank_0() { # name
    local specs figures
    mapfile -t specs < <(family "$1")
    figures=$(cat "${specs[@]}" | grep -c 'file: steps' || true)
    if [ "$(cat "${specs[@]}" | grep -c 'where: rank = 0' || true)" -eq "$figures" ]; then echo 1; else echo 0; fi
}

# Tests whether a figure of the spec, of a view or a claim uses this table.
takes() { # name, table
    local specs=("configs/reports/$1.yaml")
    [ -n "$(viewed "$1")" ] || mapfile -t specs < <(family "$1")
    cat "${specs[@]}" | grep -Eq "(file|kind): $2\>" || grep -q "of $(folder_of "$1")/$2[.]csv" results/claims.yaml
}

# Copies the tables that a spec of the reports needs.
copy_tables() { # name, from, to
    local table
    cp "$2"/{manifest.json,spec.yaml,summary.csv,raw.csv} "$3" || return 1
    sed -i '/^x-folders:/d' "$3/spec.yaml" # folders of the machine
    [ ! -f "$2/link.csv" ] || cp "$2/link.csv" "$3" || return 1
    for table in epochs classes layers steps resources timeline; do
        case $(rows "$2" "$table") in - | 0) continue ;; esac
        [ "$table" = epochs ] || takes "$1" "$table" || continue
        case $table in
        steps | resources) narrow "$1" "$2/$table.csv" >"$3/$table.csv" || return 1 ;;
        *) cp "$2/$table.csv" "$3" || return 1 ;;
        esac
    done
}

# Adds the title of today's spec to a run of an older build, which wrote none.
give_title() { # name, folder
    local spec=configs/$1.yaml title
    [[ $1 != */* ]] || spec=configs/reports/$1.yaml
    ! grep -q '^title:' "$2/spec.yaml" || return 0
    title=$(sed -n 's/^title: *"\{0,1\}\([^"]*\)"\{0,1\}$/\1/p' "$spec")
    [ -z "$title" ] || sed -i "/^name:/a title: \"$title\"" "$2/spec.yaml"
}

# Gives a view the manifest of its campaign if both show the same run, before its documents are made.
share_manifest() { # name, folder
    local base
    [[ $1 == */* ]] && [ -n "$(viewed "$1")" ] || return 0
    base=$into/$(folder_of "$(viewed "$1")")/manifest.json
    [ ! -f "$base" ] || [ "$(fact "$2" started)" != "$(fact "${base%/*}" started)" ] || cp "$base" "$2"
}

# Replaces files of a view that equal its campaign's by links: tables, and the manifest if both show the same run.
link_alike() { # folder, that of the campaign
    local file
    for file in "$1"/*.csv "$1/manifest.json"; do
        ! cmp -s "$file" "$2/${file##*/}" || ln -sf "../${2##*/}/${file##*/}" "$file"
    done
}

# Copies linked files back into the views, which keep them until they are kept again.
detach_views() { # folder
    local link
    for link in "$into"/*/*; do
        [ ! -L "$link" ] || [ "${link%/*}" = "$1" ] || case $(readlink "$link") in
        "../${1##*/}/"*) cp --remove-destination "$(readlink -f "$link")" "$link" || return 1 ;;
        esac
    done
}

# Prints how many points with a kept result are skipped here; "" if none.
lost() { # folder, what was kept
    awk -F , '{ gsub(/"[^"]*"/, "quoted") }
        FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        FNR == NR { if ($column["status"] ~ /^(ok|unverified)$/) had[$column["point"]] = 1; next }
        $column["status"] == "skipped" && $column["point"] in had { n++ }
        END { if (n) print n }' "$2/summary.csv" "$1/summary.csv"
}

keeps_less() { # name, folder, what was kept
    local points
    [ -z "${LESS:-}" ] && [ -f "$2/summary.csv" ] && [ -f "$3/summary.csv" ] || return 1
    points=$(lost "$2" "$3")
    [ -n "$points" ] || return 1
    echo "references: $1: $3 has points that cannot run here: $points; $3 is left unchanged. Set LESS=1 to replace it" >&2
}

# Keeps tables, and the document and figures that scalebench makes from them.
keep() { # name
    local from=$out/$1/latest to stage figure table
    to=$into/$(folder_of "$1")
    case $1 in
    */*) from=$out/reports/${1/\//_}${QUICK:+_quick} ;;
    esac
    [ -f "$from/manifest.json" ] || { echo "$from: nothing was measured" >&2; return 1; }
    ! keeps_less "$1" "$from" "$to" || return 1
    stage=$(mktemp -d -p "$stages")
    case $1 in
    */*) copy_tables "$1" "$from" "$stage" || return 1 ;;
    *)
        cp "$from"/{manifest.json,spec.yaml,summary.csv,raw.csv} "$stage" || return 1
        [ "$(rows "$from" epochs)" = 0 ] || [ ! -f "$from/epochs.csv" ] || cp "$from/epochs.csv" "$stage" || return 1
        for table in comm link kernels limits; do
            [ ! -f "$from/$table.csv" ] || cp "$from/$table.csv" "$stage" || return 1
        done
        ;;
    esac
    share_manifest "$1" "$stage"
    give_title "$1" "$stage"
    "$build/scalebench" figures "$stage" >"$stage/drawn" 2>&1 || { cat "$stage/drawn" >&2; return 1; }
    rm -rf "$to.new"
    mkdir -p "$to.new" || return 1
    for figure in "$stage"/*; do
        case $figure in
        *.png | *.pdf | */series_* | */dots_* | */drawn | */rules.csv | */columns.csv | */*.tex) ;;
        *) [ ! -f "$figure" ] || cp "$figure" "$to.new" || return 1 ;;
        esac
    done
    rm -rf "$stage"
    detach_views "$to" || return 1
    rm -rf "$to"
    mv "$to.new" "$to" || return 1
    [[ $1 != */* ]] || [ -z "$(viewed "$1")" ] || link_alike "$to" "$into/$(folder_of "$(viewed "$1")")"
}

# Draws the figures of kept runs again from their tables.
draw() { # name
    local kept stage figure
    kept=$into/$(folder_of "$1")
    [ -f "$kept/summary.csv" ] || return 0
    stage=$(mktemp -d -p "$stages")
    cp -RL "$kept/." "$stage" || return 1
    "$build/scalebench" figures "$stage" >"$stage/drawn" 2>&1 || { cat "$stage/drawn" >&2; return 1; }
    for figure in "$kept"/*.svg "$kept"/*.txt "$kept"/summary.md; do
        [ ! -f "$figure" ] || cp "$stage/${figure##*/}" "$figure" || return 1
    done
    [ ! -f "$stage/fits.csv" ] || cp "$stage/fits.csv" "$kept" || return 1
    rm -rf "$stage"
}

write_table() {
    local text
    text=$(table) || return 1
    BEGIN=$begin END=$end TEXT=$text awk '
        $0 == ENVIRON["BEGIN"] { print; print ENVIRON["TEXT"]; skip = 1; next }
        $0 == ENVIRON["END"] { skip = 0 }
        !skip { print }' results/reference/README.md >results/reference/README.md.new
    mv results/reference/README.md.new results/reference/README.md
}

# Changes committed files only when all is measured: manifests record changed sources.
measure_all() { # names; whole: those that ended well
    local name failed
    for name; do
        failed=0
        measure "$name" || failed=$?
        [ "$failed" -lt 128 ] || exit "$failed"
        [ "$failed" -ne 0 ] || whole+=("$name")
        [ "$failed" -eq 0 ] || echo "references: $name failed; its kept run is left unchanged" >&2
    done
}

check_names() {
    local name
    for name; do
        { names; reports; } | grep -qxF -- "$name" || {
            echo "references: '$name' is unknown; known: $({ names; echo reports; reports; } | tr '\n' ' ')" >&2
            exit 2
        }
    done
}

# Puts campaigns before their views.
in_order() { # names
    local name
    for name; do [[ $name == */* && -n "$(viewed "$name")" ]] || echo "$name"; done
    for name; do [[ $name == */* && -n "$(viewed "$name")" ]] && echo "$name"; done
    return 0
}

usage() {
    echo "usage: ci/references.sh [write | plan [NAME]... | measure [NAME]... | keep [NAME]... | draw [NAME]...]" >&2
    exit 2
}

command=${1:-}
[ $# -eq 0 ] || shift
[ "$command" != write ] || [ $# -eq 0 ] || usage
[ $# -gt 0 ] || mapfile -t asked < <(names && { [ "$command" != draw ] || reports; })
[ $# -eq 0 ] || mapfile -t asked < <(for name; do if [ "$name" = reports ]; then reports; else echo "$name"; fi; done)
check_names "${asked[@]}"
mapfile -t asked < <(in_order "${asked[@]}")
set -- "${asked[@]}"
status=0
case $command in
'') table ;;
write) write_table ;;
plan) plan "$@" ;;
draw)
    for name; do
        draw "$name" || status=1
    done
    exit "$status"
    ;;
measure | keep)
    trap 'exit 130' INT TERM
    whole=()
    if [ "$command" = keep ]; then whole=("$@"); else measure_all "$@"; fi
    [ ${#whole[@]} -eq $# ] || status=1
    for name in "${whole[@]}"; do
        keep "$name" || status=1
    done
    if [ "$into" = results/reference ]; then
        write_table
        "$build/scalebench" claims results/claims.yaml --update >/dev/null || status=1 # prints changed verdicts
    fi
    exit "$status"
    ;;
*) usage ;;
esac
