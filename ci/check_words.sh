#!/usr/bin/env bash
# Checks how the project's words read, as far as a machine can: `ci/check_words.sh` prints each limit that is exceeded and fails.
# Limits only fall. A sentence that passes can still read badly.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=ci/help.sh
. ci/help.sh
# shellcheck source=ci/files.sh
. ci/files.sh
take_no_arguments "$@"
failed=0

# Pages: no sentence above 30 words; README at most 150 lines and 17 words a sentence.
# shellcheck disable=SC2016
sentences() { # page: words of each sentence and its text, tables, headings and code left out
    awk '/^```/ { code = !code; print ""; next }
        code || /^(    |\||#|!\[)/ { print ""; next }
        /^ *(- |[0-9]+\. )/ { print "" }
        { print }' "$1" |
        sed -e 's/\](\([^)]*\))/]/g' -e 's/`[^`]*`/X/g' |
        awk 'BEGIN { RS = "" } { gsub(/\n/, " "); gsub(/[.!?:]+ +/, "&\n"); print }' |
        awk '{ n = 0; for (i = 1; i <= NF; i++) if ($i ~ /[A-Za-z0-9]/) n++; if (n) print n, $0 }'
}

at_most() { # what, value, limit
    awk -v value="$2" -v limit="$3" 'BEGIN { exit !(value > limit) }' || return 0
    echo "$1: found $2, expected at most $3" >&2
    failed=1
}

for page in README.md {bench,bench/collect,comm,configs,configs/{course,reports,sites},kernels,results,results/reference}/README.md; do
    long=$(sentences "$page" | awk '$1 > 30')
    [ -z "$long" ] || { printf '%s: a sentence above 30 words: %s\n' "$page" "$long" >&2; failed=1; }
done
at_most "README.md: lines" "$(wc -l <README.md)" 150
at_most "README.md: words a sentence" "$(sentences README.md | awk '{ s += $1 } END { printf "%.1f", s / NR }')" 17

# Comments: some words per 10,000. The goals are those of projects that read well: 25, 6, 4 and 2.
comments=$(mktemp)
trap 'rm -f "$comments"' EXIT
source_files '*.c' '*.h' '*.def' | xargs cat | awk '
    /\/\*/ { inside = 1 }
    inside || /\/\// { text = $0; if (!inside) sub(/.*\/\//, "", text); sub(/.*\/\*/, "", text); sub(/\*\/.*/, "", text); print text }
    /\*\// { inside = 0 }' >"$comments"
words=$(wc -w <"$comments")
per_10000() { # pattern
    awk -v n="$(tr '\n' ' ' <"$comments" | grep -oiwE "$1" | wc -l)" -v words="$words" 'BEGIN { printf "%.1f", n * 1e4 / words }'
}
while read -r limit pattern; do
    at_most "comments: '$pattern' per 10,000 words" "$(per_10000 "$pattern")" "$limit"
done <<'END'
25 what
6 tells?|told
4 that of|those of
2 stands
END

# Texts of tables that people see: first words that need a neighbour.
at_most "tables: texts that begin with 'the same', 'it', 'those' or 'likewise'" \
    "$(source_files '*.def' | xargs grep -ohE '"(the same|it|those|likewise)[ ,:"]' | wc -l)" 0

exit $failed
