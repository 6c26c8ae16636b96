#!/usr/bin/env bash
# Draws a random sample of the project's words for a reader who has not seen it:
#   ci/sample_words.sh comments|texts SEED [N]
# comments: each with the line of code below it. texts: descriptions of options, columns and commands, messages and
# sentences of pages, each alone. The same SEED draws the same sample of the same commit; N is 100.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=ci/help.sh
. ci/help.sh
# shellcheck source=ci/files.sh
. ci/files.sh
answer_help "$@"
[ $# -eq 2 ] || [ $# -eq 3 ] || { echo "usage: ci/sample_words.sh comments|texts SEED [N]" >&2; exit 2; }

# FILE:LINE, the comment and the code below it, on one line each.
# shellcheck disable=SC2016
comments() {
    source_files '*.c' '*.h' '*.def' | grep -v '/tests/' | xargs awk '
        function in_string(before) { return gsub(/"/, "", before) % 2 == 1 }
        function flush() { if (text != "" && text !~ /^----/) printf "%s  %s  ||  %s\n", place, text, code; text = code = "" }
        FNR == 1 { flush(); inside = 0 }
        !inside && match($0, /\/\*/) && !in_string(substr($0, 1, RSTART - 1)) {
            before = substr($0, 1, RSTART - 1)
            if (text != "") { code = before; flush() }
            place = FILENAME ":" FNR; inside = 1
            code = before ~ /[^ ]/ ? before : ""
            $0 = substr($0, RSTART + 2)
        }
        inside {
            line = $0; closes = match(line, /\*\//)
            if (closes) { line = substr(line, 1, RSTART - 1); inside = 0 }
            sub(/^ *\* ?/, "", line); gsub(/^ +| +$/, "", line)
            text = text (text == "" ? "" : " ") line
            if (closes && code ~ /[^ ]/) flush()
            next
        }
        text != "" && /[^ ]/ { code = $0; sub(/^ +/, "", code); flush() }
        END { flush() }'
}

# Messages as users see them: the place that the code prints in front, the format, then behind " | " the words that the
# code inserts. A format without words, such as "%s: %s", is no text.
# shellcheck disable=SC2016
messages() {
    source_files '*.c' | grep -v '/tests/' | xargs awk '
        function place(call,    part) {
            if (call ~ /^ mark_error/) return "FILE:LINE:COLUMN: "
            split(substr(call, 1, index(call, "\"")), part, ", *")
            if (call !~ /^ error_at/ || part[3] == "NULL") return ""
            return "FILE" (part[4] == "0" ? "" : ":LINE") (part[5] == "0" ? "" : ":COLUMN") ": "
        }
        function value(name) { return name in macros ? macros[name] : name }
        function show(call,    text, gap, literal, words) {
            text = ""
            words = place(call)
            while (match(call, /"([^"\\]|\\.)*"/)) {
                gap = substr(call, 1, RSTART - 1)
                literal = substr(call, RSTART + 1, RLENGTH - 2)
                call = substr(call, RSTART + RLENGTH)
                gsub(/[ \\]/, "", gap)
                gsub(/PRI[a-z0-9]+/, "u", gap)
                if (text == "" && literal !~ / /) continue
                if (text == "") { sub(/.*[^A-Z0-9_]/, "", gap); text = words value(gap) literal }
                else if (gap ~ /^[A-Za-z0-9_]*$/) text = text value(gap) literal
                else if (literal ~ /[a-z][a-z]/) text = text " | " literal
            }
            words = text
            gsub(/FILE|LINE|COLUMN|%[-+0-9.*]*(hh|h|ll|l|z|t|j)?[a-z]/, "", words)
            if (words ~ /[A-Za-z][a-z].* .*[a-z]/) print source "  message: " text
        }
        FNR == 1 { call = ""; split("", macros) }
        /^#define [A-Z_]+ +"/ { macros[$2] = substr($0, index($0, "\"") + 1, length($0) - index($0, "\"") - 1) }
        call == "" && match($0, /(error_set|error_at|mark_error|log_print)\(/) { source = FILENAME ":" FNR; $0 = substr($0, RSTART) }
        call != "" || /^(error_set|error_at|mark_error|log_print)\(/ {
            line = $0
            gsub(/^ +/, "", line)
            call = call " " line
            gsub(/"([^"\\]|\\.)*"/, "", line)
            if (line ~ /;/) { show(call); call = "" }
        }'
}

descriptions() {
    awk '/^## / { name = $2; next } name != "" && /^    / { sub(/^ +/, ""); print FILENAME "  " name ": " $0; name = "" }' configs/OPTIONS.md
    awk -F ' [|] ' '/^[|] `/ { sub(/^[|] /, "", $1); sub(/ [|]$/, "", $NF); print FILENAME "  " $1 " (" $3 "): " $4 }' results/COLUMNS.md
    awk '
        function flush() { if (text != "") print FILENAME "  " name ":" text; text = "" }
        /^## / { flush(); name = $2; next }
        /^    [^ ]/ && !/^    usage:/ { sub(/^ +/, ""); text = text " " $0; next }
        { flush() }
        END { flush() }' bench/runner/COMMANDS.md
}

# Prose without tables, code and headings.
sentences() {
    for page in README.md CHANGELOG.md CONTRIBUTING.md {bench,bench/collect,comm,configs,configs/sites,kernels,results}/README.md; do
        awk '/^```/ { code = !code; next } code || /^(    |\||#|!\[|<)/ { print ""; next } { print }' "$page" |
            sed 's/\](\([^)]*\))/]/g' |
            awk -v page="$page" 'BEGIN { RS = "" } { gsub(/\n/, " "); gsub(/[.!?] +/, "&\n"); n = split($0, s, "\n"); for (i = 1; i <= n; i++) if (s[i] ~ / /) print page "  " s[i] }'
    done
}

texts() {
    messages
    descriptions
    sentences
}

case $1 in
comments | texts) ;;
*) echo "sample_words: $1: expected comments or texts" >&2; exit 2 ;;
esac
"$1" | awk -v seed="$2" 'BEGIN { srand(seed) } { printf "%.9f\t%s\n", rand(), $0 }' | sort -n | cut -f 2- | head -n "${3:-100}" |
    nl -w 3 -s '. '
