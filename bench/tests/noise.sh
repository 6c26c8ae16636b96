#!/usr/bin/env bash
# make bench-noise counts what it should, whatever is flagged on a machine that does other things.
set -u
. bench/tests/lib/tap.sh

# Status 1 is a launch that was flagged, or not, which says something of the machine.
prints_rows() {
    MODEL=softmax_784 STEPS=5 LAUNCHES=10 BUILD=$build ci/noise.sh >"$tmp/rows.csv" || [ $? -eq 1 ] || return 1
    cat "$tmp/rows.csv"
    [ "$(cut -d, -f1,2,5 "$tmp/rows.csv")" = "launches,n,wanted
hogged,2,all
between,18,few
alone,20,few" ] || return 1
    awk -F, 'NR > 1 && ($3 > $2 || $6 !~ /^(yes|no)$/) { print "bad row: " $0; bad = 1 } END { exit bad }' \
        "$tmp/rows.csv"
}

check "flagged launches as CSV" prints_rows
finish
