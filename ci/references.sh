#!/usr/bin/env bash
# The table of results/README.md: a row a folder of results/reference, from its manifest and its tables.
#   ci/references.sh         prints it
#   ci/references.sh write   puts it into results/README.md, between the lines that say so
set -eu
cd "$(dirname "$0")/.."

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

case ${1:-} in
'') table ;;
write)
    text=$(table)
    awk -v begin="$begin" -v end="$end" -v text="$text" '
        $0 == begin { print; print text; skip = 1; next }
        $0 == end { skip = 0 }
        !skip { print }' results/README.md >results/README.md.new
    mv results/README.md.new results/README.md
    ;;
*)
    echo "usage: ci/references.sh [write]" >&2
    exit 2
    ;;
esac
