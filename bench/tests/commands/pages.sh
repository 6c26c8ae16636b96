#!/usr/bin/env bash
# Tests the pages beside the code: their specs are planned, their commands run (campaigns in a short form, make as a dry
# run), and their links lead to files.
# cores: 2
set -u
. bench/tests/lib/tap.sh
. ci/files.sh

pages=$(source_files README.md '*/README.md' CONTRIBUTING.md ':!results/published')
export SCALEBENCH_OUT=$tmp/results
short="measure.time.launches=1..1 measure.time.steps=2"

# Writes the blocks of a page between ```LANGUAGE and ``` to $tmp/blocks/block.1, block.2 ...
blocks() { # page language
    rm -rf "$tmp/blocks" && mkdir "$tmp/blocks"
    awk -v start="\`\`\`$2" -v to="$tmp/blocks/block." \
        '$0 == start { inside = 1; n++; next } /^```/ { inside = 0 } inside { print >(to n) }' "$1"
}

specs_are_planned() { # page
    local block
    blocks "$1" yaml
    for block in "$tmp/blocks"/*; do
        [ -f "$block" ] || continue
        mv "$block" "$block.yaml"
        "$scalebench" plan "$block.yaml" >/dev/null || { cat "$block.yaml"; return 1; }
    done
}

# Runs a command in a folder of links to the checkout, so that outputs are separate. Runs make as a dry run.
mkdir "$tmp/checkout" && ln -s "$PWD"/* "$tmp/checkout"
do_line() { # words of a command line
    cd "$tmp/checkout" || return 1
    case $1 in
    make) make -n "${@:2}" >/dev/null ;;
    build/scalebench)
        if [ "$2" = run ]; then
            if grep -q "^ *accuracy:" "$3" 2>/dev/null; then
                "$scalebench" "${@:2}" --set "$short measure.accuracy.seeds=[]"
            else
                "$scalebench" "${@:2}" --set "$short"
            fi
        else
            "$scalebench" "${@:2}"
        fi
        ;;
    build/*) "$build/${1#build/}" "${@:2}" ;;
    *) false ;;
    esac >"$tmp/line.log" 2>&1 </dev/null || { echo "$*"; cat "$tmp/line.log"; return 1; }
}

commands_run() { # page
    local block line
    blocks "$1" sh
    for block in "$tmp/blocks"/*; do
        [ -f "$block" ] || continue
        while IFS= read -r line; do
            (eval "do_line ${line%%#*}") || return 1
        done <"$block"
    done
}

links_lead_somewhere() { # page
    local link
    grep -o '](\([^)]*\))' "$1" | sed 's/^](//; s/)$//; s/#.*//' | grep -v '^https\?:' | sort -u >"$tmp/links"
    while IFS= read -r link; do
        [ -z "$link" ] || [ -e "$(dirname "$1")/$link" ] || { echo "$1: link to $link not found"; return 1; }
    done <"$tmp/links"
}

for page in $pages; do
    check "$page: its specs are planned" specs_are_planned "$page"
    # Commands of the course build on one another; course.sh runs them.
    [ "$page" = configs/course/README.md ] || check "$page: its commands run" commands_run "$page"
    check "$page: its links lead somewhere" links_lead_somewhere "$page"
done

finish
