#!/usr/bin/env bash
# The runs of results/reference, and the table of results/README.md: a row a folder, from its manifest and
# its tables.
#   ci/references.sh                     prints the table
#   ci/references.sh write               puts it into results/README.md, between the lines that say so
#   ci/references.sh plan [NAME]...      seconds that the launches of each took when it was measured last
#   ci/references.sh measure [NAME]...   measures them, all or those of these names, then keeps what was whole,
#                                        writes the table and judges claims anew. What is stopped goes on with the same command
#   ci/references.sh keep [NAME]...      the last part alone
#
# BUILD is the build folder; runs go to OUT ($BUILD/references), FRESH=1 starts them anew; INTO
# (results/reference) is where they are kept. For a try SET="measure.time.steps=2" INTO=/tmp/kept: other
# options for all, runs beside the others. Exit status 1: a run failed, what was kept of it before is left alone.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build}
out=${OUT:-$build/references${SET:+.try}}
into=${INTO:-results/reference}

begin='<!-- ci/references.sh writes what follows -->'
end='<!-- until here -->'

# A text of the manifest, which has one a line.
fact() { # folder, name
    sed -n "s/^ *\"$2\": \"\(.*\)\",\{0,1\}\$/\1/p" "$1/manifest.json" | head -n 1
}

# The words of the command, those with blanks quoted.
command_of() {
    awk '/"command": \[/ { inside = 1; next }
        inside && /\]/ { exit }
        inside { sub(/^ *"/, ""); sub(/",?$/, "")
                 printf "%s%s", n++ ? " " : "", /[ =].* / ? "\"" $0 "\"" : $0 }' "$1/manifest.json"
}

rows() { # folder, table
    if [ -f "$1/$2.csv" ]; then echo $(($(wc -l <"$1/$2.csv") - 1)); else echo -; fi
}

row() {
    local command revision
    command=$(command_of "$1")
    revision=$(fact "$1" revision)
    [ -n "$command" ] || { echo "$1/manifest.json holds no command" >&2; return 1; }
    echo "| \`${1#results/}\` | \`$command\` | $(rows "$1" summary) | $(rows "$1" raw) |" \
        "$(fact "$1" started | tr T ' ' | cut -c 1-16) | ${revision:--} | $(fact "$1" cpu) |"
}

table() {
    local folder
    echo "| folder | command | points | launches | begun (UTC) | commit | processor |"
    echo "|---|---|---:|---:|---|---|---|"
    for folder in results/reference/*/; do
        row "${folder%/}"
    done
}

# Those that others wait for first; what trains to the end may be on a busy machine.
list() {
    cat <<'LIST'
strong_scaling measure.time.launches=6..20
peer measure.time.launches=12..12
peer_vgg
efficiency_vgg
efficiency measure.time.launches=12..12
overlap measure.time.launches=9..9
comm
winograd
accuracy_lenet
accuracy
accuracy_vgg measure.accuracy.seeds=[1]
LIST
}

names() {
    list | cut -d ' ' -f 1
}

# What its launches took, from raw.csv; of the sweep what it says itself.
seconds() { # name
    case $1 in
    comm)
        OUT=$out BUILD=$build ci/comm.sh --turns 6 --plan 2>&1 |
            sed -n "/sizes and networks/s/.*about \\([0-9]*\\) \\(s\\|min\\).*/\\1 \\2/p" |
            awk '{ print $2 == "min" ? 60 * $1 : $1 }'
        ;;
    *)
        awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "wall_s") c = i; next }
            { gsub(/"[^"]*"/, "quoted"); sum += $c } END { printf "%.0f\n", sum }' "results/reference/$1/raw.csv"
        ;;
    esac
}

plan() { # names
    local name took sum=0
    for name; do
        took=$(seconds "$name")
        sum=$((sum + ${took:-0}))
        printf '%-16s %5s s\n' "$name" "${took:--}"
    done
    printf '%-16s %5s s\n' all "$sum"
}

measure() { # name
    local own=()
    [ -z "${FRESH:-}" ] || rm -rf "${out:?}/$1"
    if [ "$1" = comm ]; then
        [ ! -f "$out/comm/comm.csv" ] || return 0
        OUT=$out BUILD=$build ci/comm.sh --turns 6
        return
    fi
    mapfile -t own < <(list | sed -n "s/^$1 //p")
    [ -z "${SET:-}" ] || own=("$SET")
    "$build/scalebench" run "configs/$1.yaml" ${own[0]:+--set "${own[*]}"} --out "$out"
}

# The tables, and the document and the figures that the program makes of them alone.
keep() { # name
    local from=$out/$1/latest to=$into/$1 stage figure
    [ "$1" != comm ] || from=$out/comm
    [ -f "$from/manifest.json" ] || { echo "$from: nothing was measured" >&2; return 1; }
    stage=$(mktemp -d)
    if [ "$1" = comm ]; then
        cp "$from"/{manifest.json,comm.csv,link.csv,latency.svg,busbw.svg} "$stage"
    else
        cp "$from"/{manifest.json,spec.yaml,summary.csv,raw.csv} "$stage"
        [ "$(rows "$from" epochs)" = 0 ] || [ ! -f "$from/epochs.csv" ] || cp "$from/epochs.csv" "$stage"
        "$build/scalebench" figures "$stage" >"$stage/drawn" 2>&1 || { cat "$stage/drawn" >&2; return 1; }
    fi
    mkdir -p "$to"
    rm -f "$to"/*
    for figure in "$stage"/*; do
        case $figure in
        *.png | *.pdf | */series_* | */dots_* | */drawn | */rules.csv | */columns.csv | */*.tex) ;;
        *) [ ! -f "$figure" ] || cp "$figure" "$to" ;;
        esac
    done
    rm -rf "$stage"
}

write_table() {
    local text
    text=$(table)
    awk -v begin="$begin" -v end="$end" -v text="$text" '
        $0 == begin { print; print text; skip = 1; next }
        $0 == end { skip = 0 }
        !skip { print }' results/README.md >results/README.md.new
    mv results/README.md.new results/README.md
}

# Nothing that is committed changes before all is measured: manifests tell of changed sources.
measure_all() { # names; whole: those that ended well
    local name failed
    for name; do
        failed=0
        measure "$name" || failed=$?
        [ "$failed" -lt 128 ] || exit "$failed"
        [ "$failed" -ne 0 ] || whole+=("$name")
        [ "$failed" -eq 0 ] || echo "references: $name failed, what was kept of it is left alone" >&2
    done
}

check_names() {
    local name
    for name; do
        names | grep -qxF -- "$name" || {
            echo "references: '$name' is unknown; known: $(names | tr '\n' ' ')" >&2
            exit 2
        }
    done
}

command=${1:-}
[ $# -eq 0 ] || shift
check_names "$@"
[ $# -gt 0 ] || mapfile -t all < <(names)
[ $# -gt 0 ] || set -- "${all[@]}"
status=0
case $command in
'') table ;;
write) write_table ;;
plan) plan "$@" ;;
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
        "$build/scalebench" claims results/claims.yaml --update >/dev/null # what changes it tells
    fi
    exit "$status"
    ;;
*)
    echo "usage: ci/references.sh [write | plan [NAME]... | measure [NAME]... | keep [NAME]...]" >&2
    exit 2
    ;;
esac
