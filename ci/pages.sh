#!/usr/bin/env bash
# Writes the reference pages from the program's tables: configs/OPTIONS.md, results/COLUMNS.md, bench/runner/COMMANDS.md.
#
#   ci/pages.sh [write]    write the pages
#   ci/pages.sh check      name pages that are not current; exit status 1
#
# BUILD is the build folder.
set -eu -o pipefail
cd "$(dirname "$0")/.."
# shellcheck source=ci/help.sh
. ci/help.sh
answer_help "$@"
case ${1:-write} in
write | check) ;;
*)
    echo "pages.sh: '$1' is unknown; known: write check" >&2
    exit 2
    ;;
esac
scalebench=${BUILD:-build}/scalebench
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

indented() {
    sed 's/^/    /; s/ *$//'
}

# shellcheck disable=SC2016
options() {
    printf '# Options of a spec\n\nEvery key of a spec, as `scalebench explain KEY` prints it. `make pages` writes this page.\n'
    "$scalebench" explain | awk '/^[a-z]/ { print $1 }' | while IFS= read -r key; do
        printf '\n## %s\n\n' "$key"
        # A key can also be the name of a term or column, which has a heading of its own.
        "$scalebench" explain "$key" | awk -v key="$key" '/^[^ ]/ { if (inside) exit; inside = $0 == key; next } inside' | sed 's/^  //' | indented
    done
}

# shellcheck disable=SC2016
columns() {
    printf '# Columns of CSV files\n\nEvery column, as `scalebench list columns` prints them. `scalebench explain COLUMN` prints one. `make pages` writes this page.\n'
    "$scalebench" list columns | awk '
        /^[^ ]/ { file = $1; sub(/:$/, "", file); text = $0; sub(/^[^:]*: /, "", text)
                  printf "\n## %s\n\n%s.\n\n| column | type | unit | meaning |\n|---|---|---|---|\n", file, text; next }
        NF { rest = $0; sub(/^ +/, "", rest); name = rest; sub(/ .*/, "", name); sub(/^[^ ]+ +/, "", rest)
             type = rest; sub(/ .*/, "", type); rest = substr(rest, length(type) + 1); unit = ""
             rest = substr(rest, 7 - length(type))
             if (rest ~ /^[^ ]/) { unit = rest; sub(/ .*/, "", unit); sub(/^[^ ]+/, "", rest) }
             sub(/^ +/, "", rest); gsub(/\|/, "\\|", rest)
             printf "| `%s` | %s | %s | %s |\n", name, type, unit, rest }'
}

# shellcheck disable=SC2016
commands() {
    printf '# Commands\n\nEvery command, as `scalebench COMMAND --help` prints it. `make pages` writes this page.\n'
    "$scalebench" help | awk '/^  [a-z]/ && !/^   / && $1 != "help" { print $1 }' | while IFS= read -r command; do
        printf '\n## %s\n\n' "$command"
        COLUMNS=100 "$scalebench" "$command" --help | indented
    done
}

pages="configs/OPTIONS.md:options results/COLUMNS.md:columns bench/runner/COMMANDS.md:commands"
status=0
for page in $pages; do
    "${page#*:}" >"$made/page"
    if [ "${1:-write}" = write ]; then
        cp "$made/page" "${page%:*}"
    elif ! cmp -s "$made/page" "${page%:*}"; then
        echo "${page%:*}: not current. Run make pages." >&2
        status=1
    fi
done
exit $status
