#!/usr/bin/env bash
# Compares the features that Horovod, DeepSpeed and PyTorch document with those of scalebench, and counts them beside the
# verdicts of Amundkar's "Overall Comparison".
#   ci/features.sh          print both tables
#   ci/features.sh write    write them between the marks of results/features.md
#   ci/features.sh check    name each feature whose proof is missing; exit status 1
#
# Tables, in FEATURES (results):
#   features.csv              one row per feature: its aspect (a row of published/amundkar_comparison.csv), the option
#                             that gives it here ("always": none needed) and its proofs, joined by "; ": column FILE.csv
#                             NAME, as `scalebench list columns` has it, or test SOURCE CASE, as `make test` runs it.
#                             Option and proofs are empty if scalebench lacks the feature
#   features_documented.csv   one row per feature and framework: its name there ("not found": its documentation does not
#                             mention it), and the page or line (that was searched)
#   features_frameworks.csv   one row per framework, in the order of the published columns: version and sources
# BUILD is the build folder.
set -eu
# shellcheck source=ci/help.sh
. "$(dirname "$0")/help.sh"
answer_help "$@"
cd "$(dirname "$0")/.."
scalebench=${BUILD:-build}/scalebench
features=${FEATURES:-results}
published=results/published/amundkar_comparison.csv
begin='<!-- ci/features.sh writes what follows -->'
end='<!-- until here -->'
missing='not found'

# Prints the rows of a table without header and remarks, cells separated by a character that no cell contains.
rows() { # file, "numbered" for the line of each as its last cell
    awk -v numbered="${2:-}" '/^#/ { next }
        header++ == 0 { next }
        {
            row = ""
            quoted = 0
            for (i = 1; i <= length($0); i++) {
                c = substr($0, i, 1)
                if (c == "\"") quoted = !quoted
                else row = row (c == "," && !quoted ? "\037" : c)
            }
            print row (numbered == "" ? "" : "\037" NR)
        }' "$1"
}

# ---- Tables ----

print_tables() {
    {
        rows "$features/features_frameworks.csv" | sed 's/^/framework\x1f/'
        rows "$features/features_documented.csv" | sed 's/^/documented\x1f/'
        rows "$published" | sed 's/^/published\x1f/'
        rows "$features/features.csv" numbered | sed 's/^/feature\x1f/'
    } | awk -F '\037' -v missing="$missing" '
        function code(text) { return text == "" ? "-" : text == "always" ? text : "`" text "`" }
        # Links to the counted rows.
        function share(aspect, of) {
            return "[" n[aspect, of] + 0 " of " n[aspect] + 0 "](features.csv#L" first[aspect] "-L" last[aspect] ")"
        }
        # Turns "column raw.csv state_mib; test path/mpi_zero1.c case" into links.
        function told(proof,   parts, words, i, count, text, name) {
            count = split(proof, parts, "; ")
            for (i = 1; i <= count; i++) {
                split(parts[i], words, " ")
                name = substr(parts[i], length(words[1] words[2]) + 3)
                text = text (i > 1 ? "; " : "") (words[1] == "column" ? "`" name "` of " words[2] : "[" name "](../" words[2] ")")
            }
            return count ? text : "-"
        }
        $1 == "framework" { id[++frameworks] = $2; title[frameworks] = $3 " " $4; name[frameworks] = $3; sources[$2] = $5 }
        $1 == "documented" && $4 != missing { entry[$2, $3] = "[" code($4) "](" sources[$3] $5 ")" }
        $1 == "published" { aspects++; aspect[aspects] = $2; for (i = 1; i <= 3; i++) verdict[aspects, i] = $(2 + i); doubt[aspects] = $8 }
        $1 == "feature" {
            if (!n[$2]++) first[$2] = $NF
            last[$2] = $NF
            if ($4 != "") n[$2, "here"]++
            line = "| " $2 " | " $3
            for (i = 1; i <= frameworks; i++) {
                if (($3, id[i]) in entry) n[$2, i]++
                line = line " | " (($3, id[i]) in entry ? entry[$3, id[i]] : missing)
            }
            lines[++features] = line " | " code($4) " | " told($5) " |"
        }
        END {
            head = "| as published"
            rule = "|---"
            for (i = 1; i <= frameworks; i++) { head = head " | " name[i]; rule = rule "|---" }
            head = head " | what speaks against it"
            rule = rule "|---"
            for (i = 1; i <= frameworks; i++) { head = head " | " name[i] " documents"; rule = rule "|---:" }
            print head " | is here |"
            print rule "|---:|"
            for (a = 1; a <= aspects; a++) {
                line = "| " aspect[a]
                for (i = 1; i <= frameworks; i++) line = line " | " verdict[a, i]
                line = line " | " (doubt[a] == "" ? "-" : doubt[a])
                for (i = 1; i <= frameworks; i++) line = line " | " share(aspect[a], i)
                print line " | " share(aspect[a], "here") " |"
            }
            head = "\n| aspect | feature"
            rule = "|---|---"
            for (i = 1; i <= frameworks; i++) { head = head " | " title[i]; rule = rule "|---" }
            print head " | here | proven by |"
            print rule "|---|---|"
            for (f = 1; f <= features; f++) print lines[f]
        }'
}

write_tables() {
    local text
    text=$(print_tables)
    FEATURES_TEXT=$text awk -v begin="$begin" -v end="$end" '
        $0 == begin { print; print ENVIRON["FEATURES_TEXT"]; skip = 1; next }
        $0 == end { skip = 0 }
        !skip { print }' "$features/features.md" >"$features/features.md.new"
    mv "$features/features.md.new" "$features/features.md"
}

# ---- Proofs ----

wrong=0
refuse() { # what is wrong
    echo "$features: $1" >&2
    wrong=1
}

has_line() { # text, line
    grep -qxF -- "$2" <<<"$1"
}

# Finds a case in the source that registers it.
has_case() { # source, case
    case $1 in
    *.c) grep -Eq "(cmocka_unit_test|TEST[A-Z_]*)\($2\)" "$1" ;;
    *) grep -qF -- "check \"$2\"" "$1" ;;
    esac
}

check_proof() { # feature, proof
    local kind of name
    read -r kind of name <<<"$2"
    case $kind in
    column) has_line "$columns" "$of $name" || refuse "$1: $of has no column '$name'" ;;
    test)
        if ! has_line "$sources" "$of"; then
            refuse "$1: 'make test' does not run '$of'"
        elif ! has_case "$of" "$name"; then
            refuse "$1: $of has no case '$name'"
        fi
        ;;
    *) refuse "$1: '$kind' is not supported: expected column or test" ;;
    esac
}

# Plans a small spec with the option. Points that this machine cannot run are skipped.
check_option() { # feature, settings
    local status=0
    "$scalebench" plan "$spec" --set "$2" >"$spec.log" 2>&1 </dev/null || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || refuse "$1: '$2' is refused: $(tail -n 1 "$spec.log")"
}

check_feature() { # aspect, feature, here, proof
    local proof
    has_line "$(rows "$published" | cut -d $'\037' -f 1)" "$1" || refuse "$2: '$1' is no row of $published"
    [ -n "$3" ] || [ -z "$4" ] || refuse "$2: scalebench lacks it, but it has proofs"
    [ -z "$3" ] || [ -n "$4" ] || refuse "$2: proof missing"
    [ -z "$3" ] || [ "$3" = always ] || check_option "$2" "$3"
    [ -n "$4" ] || return 0
    while read -r proof; do
        check_proof "$2" "$proof"
    done <<<"${4//; /$'\n'}"
}

# A source is a path below the address of a fixed version. The content of the page is not checked.
check_documented() { # feature, framework, entry, source
    has_line "$known_features" "$1" || refuse "$1: documented of $2, but no row of features.csv"
    has_line "$known_frameworks" "$2" || refuse "$1: '$2' is no row of features_frameworks.csv"
    [ -n "$3" ] || refuse "$1: expected its name in $2, or $missing"
    [[ $4 =~ ^[A-Za-z0-9][A-Za-z0-9._/#-]*$ ]] || refuse "$1: '$4' is not a source of $2: expected a path, with or without #place"
}

check_framework() { # id, name, version, sources
    local feature
    [[ $4 == https://*"$3"*/ ]] || refuse "$2: '$4' is not an address of version $3"
    while read -r feature; do
        [ "$(grep -cxF -- "$feature"$'\037'"$1" <<<"$looked_up")" -eq 1 ] || refuse "$feature: expected one row of $1, with the finding or '$missing'"
    done <<<"$known_features"
}

check() {
    local aspect feature here proof framework entry name version source
    spec=$(mktemp)
    trap 'rm -f "$spec" "$spec.log"' EXIT
    cat >"$spec" <<'SPEC'
name: features
model: lenet_21k
data: {set: digits, samples: 64}
train: {global_batch: 32}
ranks: 2
place.oversubscribe: allow
measure: {time: {launches: 1..1}, accuracy: {seeds: [1]}}
figures: []
SPEC
    columns=$("$scalebench" list columns | awk '/^[a-z_]+[.]csv:/ { sub(/:.*/, ""); file = $0 } /^  / { print file, $1 }')
    sources=$(ci/run_tests.sh --sources)
    known_features=$(rows "$features/features.csv" | cut -d $'\037' -f 2)
    looked_up=$(rows "$features/features_documented.csv" | cut -d $'\037' -f 1,2)
    known_frameworks=$(rows "$features/features_frameworks.csv" | cut -d $'\037' -f 1)
    [ "$(grep -v '^#' "$published" | head -n 1 | cut -d , -f 2-4)" = "$(tr '\n' , <<<"$known_frameworks" | sed 's/,$//')" ] ||
        refuse "features_frameworks.csv has other rows than $published columns"
    [ -z "$(sort <<<"$known_features" | uniq -d)" ] || refuse "feature listed twice: $(sort <<<"$known_features" | uniq -d)"
    while IFS=$'\037' read -r aspect feature here proof; do
        check_feature "$aspect" "$feature" "$here" "$proof"
    done < <(rows "$features/features.csv")
    while IFS=$'\037' read -r feature framework entry source; do
        check_documented "$feature" "$framework" "$entry" "$source"
    done < <(rows "$features/features_documented.csv")
    while IFS=$'\037' read -r framework name version source; do
        check_framework "$framework" "$name" "$version" "$source"
    done < <(rows "$features/features_frameworks.csv")
    return "$wrong"
}

case $* in
'') print_tables ;;
write) write_tables ;;
check) check ;;
*)
    echo "usage: ci/features.sh [write | check]" >&2
    exit 2
    ;;
esac
